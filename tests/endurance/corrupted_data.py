"""What of a data-bin folder and of text files is damaged, and who reads it."""

import gzip
import re
import shutil
from pathlib import Path

import numpy as np
import torch
from corruption_attempts import FORGIVEN, OTHER, WRONG, Subject
from corruptions import Workspace
from fairseq.data import Dictionary
from fairseq.data.indexed_dataset import MMapIndexedDatasetBuilder
from nltk import Tree
from prepared_corpus import task_of

from syntax_nmt.data.annotation import CHUNKS, COLUMNS, HEADS, PHRASES, TEXT_KINDS
from syntax_nmt.data.character_alignment import same_spelling
from syntax_nmt.data.sentence_projection import AnnotatedText, read_part
from syntax_nmt.data.subwords import detect_scheme
from syntax_nmt.data.text_files import read_lines
from syntax_nmt.data.word_annotation import AnnotationFit, WordAnnotation
from syntax_nmt.preparation.binarizing import binarize

SPLITS = ("train", "valid", "test")
FEATURES = ",".join(column.name for column in COLUMNS)
ENDING_OF = {"src.conllu": HEADS, "src.trees": PHRASES, "tgt.chunks": CHUNKS}


def data_subjects(prepared, folder: Path) -> list[Subject]:
    """The files of a data-bin folder, with and without annotation."""
    other = other_data(prepared, folder / "other") / "data-bin"
    space = Workspace(prepared.data, folder / "data-bin")
    names = sorted(path.name for path in prepared.data.iterdir())

    def split_files(*endings: str) -> list[str]:
        return [
            name for name in names if name.startswith(("valid", "test")) and name.endswith(endings)
        ]

    def same_kind(name: str) -> list[str]:
        return [one for one in names if one != name and one.endswith(name[-4:])]

    def foreign(name: str) -> list[Path]:
        # The other folder's trees are on the source alone.
        return [other / name] if (other / name).exists() else []

    text = split_files(".src.bin", ".src.idx", ".tgt.bin", ".tgt.idx")
    annotation = [name for name in split_files(".bin", ".idx") if name not in text]
    dictionaries = ["dict.src.txt", "dict.tgt.txt"]
    chosen = {
        "annotation .bin .idx": annotation,
        "text .bin .idx": text,
        "syntax.json": ["syntax.json"],
        "dict.chunks.txt": ["dict.chunks.txt"],
        "dict.COLUMN.txt": [column.labels_file for column in COLUMNS],
        "dict.LANG.txt": dictionaries,
    }
    subjects = [
        Subject(kind, space, lambda name: loaded(space, name), files, same_kind, foreign)
        for kind, files in chosen.items()
    ]
    # Without annotation there are no checksums: what fits together must be believed.
    alone = Subject(
        "text alone",
        space,
        lambda name: loaded(space, name, load=False),
        text + dictionaries,
        same_kind,
        foreign,
        allowed=lambda name: OTHER,
    )
    return [*subjects, alone]


def loaded(space: Workspace, name: str, load: bool = True) -> list:
    """Everything a training would read of the split that a file belongs to."""
    loads = {kind.option: load for kind in TEXT_KINDS}
    loads["load_features"] = FEATURES if load else None
    task = task_of(space.folder, "src", "tgt", **loads)
    split = "test" if name.startswith("test") else "valid"
    task.load_dataset(split)
    dataset = task.datasets[split]
    batch = dataset.collater([dataset[index] for index in range(len(dataset))])
    found = {**batch, **batch["net_input"]}
    values = [
        (key, value.tolist()) for key, value in sorted(found.items()) if torch.is_tensor(value)
    ]
    tags = [each.labels for each in dataset.annotations] if load else ()
    return [*values, tags, task.src_dict.symbols, task.tgt_dict.symbols]


def other_data(prepared, folder: Path) -> Path:
    """Data of the same shape: each sentence backwards, with other trees and chunks."""
    for part in ("words", "pieces", "data-bin"):
        (folder / part).mkdir(parents=True)
    for lang in ("src", "tgt"):
        shutil.copy(prepared.data / f"dict.{lang}.txt", folder / "data-bin")
        dictionary = Dictionary.load(str(prepared.data / f"dict.{lang}.txt"))
        for split in SPLITS:
            _write_backwards(prepared, folder, split, lang, dictionary)
    prefixes = {f"{split}pref": str(folder / "pieces" / split) for split in SPLITS}
    binarize(
        "src", "tgt", folder / "data-bin",
        words=folder / "words", report=lambda line: None, features=FEATURES, **prefixes,
    )  # fmt: skip
    return folder


def _write_backwards(prepared, folder: Path, split: str, lang: str, dictionary) -> None:
    words = (prepared.folder / "words" / f"{split}.{lang}").read_text().splitlines()
    words = [line.split()[::-1] for line in words]
    lines = (prepared.folder / "pieces" / f"{split}.{lang}").read_text().splitlines()
    lines = [" ".join(re.findall(r"▁[^▁]+", line)[::-1]).replace("  ", " ") for line in lines]
    (folder / "pieces" / f"{split}.{lang}").write_text("\n".join(lines) + "\n")
    (folder / "words" / f"{split}.{lang}").write_text("\n".join(map(" ".join, words)) + "\n")
    prefix = folder / "data-bin" / f"{split}.src-tgt.{lang}"
    builder = MMapIndexedDatasetBuilder(f"{prefix}.bin", dtype=np.uint16)
    for line in lines:
        builder.add_item(dictionary.encode_line(line, add_if_not_exist=False))
    builder.finalize(f"{prefix}.idx")
    beside = folder / "words" / f"{split}.{lang}"
    if lang == "tgt":
        chunks = "".join(" ".join(["B-NP"] + ["I-NP"] * (len(line) - 1)) + "\n" for line in words)
        Path(f"{beside}.chunks").write_text(chunks)
        return
    trees = ("(S " + " ".join(f"(W {word})" for word in line) + ")\n" for line in words)
    Path(f"{beside}.trees").write_text("".join(trees))
    blocks = (
        "".join(f"{i}\t{word}\tA\tA\tA\tA\t{i - 1}\tA\t_\t_\n" for i, word in enumerate(line, 1))
        for line in words
    )
    Path(f"{beside}.conllu").write_text("\n".join(blocks) + "\n")


def text_subjects(prepared, folder: Path) -> list[Subject]:
    """Annotation files in text form, compared with their corpus as `syntax-nmt binarize` does."""
    pristine = folder / "pristine"
    pristine.mkdir(parents=True)
    for split in SPLITS:
        for lang in ("src", "tgt"):
            text = f"{split}.{lang}"
            shutil.copy(prepared.folder / "pieces" / text, pristine / f"{text}.p")
            shutil.copy(prepared.folder / "words" / text, pristine / text)
        for ending in ENDING_OF:
            content = (prepared.folder / "words" / f"{split}.{ending}").read_bytes()
            (pristine / f"{split}.{ending}").write_bytes(content)
            if ending == "src.conllu":
                (pristine / f"{split}.{ending}.gz").write_bytes(gzip.compress(content, mtime=0))
    space = Workspace(pristine, folder / "words")

    def projected(name: str) -> list:
        if name.endswith((".src", ".p")):
            return [projected(f"{name.removesuffix('.p')}.conllu")]
        ending = name.partition(".")[2].removesuffix(".gz")
        lang = ending.partition(".")[0]
        text = f"{name.partition('.')[0]}.{lang}"
        source = AnnotatedText(
            WordAnnotation(space / name, ENDING_OF[ending]),
            (ENDING_OF[ending],),
            space / f"{text}.p",
            space / text,
            detect_scheme(read_lines(space / f"{text}.p")),
            prepared.data / f"{name.partition('.')[0]}.src-tgt.{lang}",
            lang,
        )
        fit = AnnotationFit()
        rows = []
        for taken in source.ranges(len(source.binarised().sizes), 500):
            found = source.project(folder, taken)
            fit.merge(found.fit)
            blocks = read_part(found.parts[0].file)
            rows += [(sizes.tolist(), values.tolist()) for sizes, values in blocks]
            rows.append(found.parts[0].labels)
        if fit.mismatched:  # nothing is written then
            raise fit.refusal("or give --on-mismatch skip")
        return rows

    def allowed(name: str) -> str:
        return same_words(space, name)

    def subject(kind: str, *endings: str) -> Subject:
        files = [f"{split}.{ending}" for split in SPLITS for ending in endings]
        return Subject(
            kind,
            space,
            projected,
            files,
            lambda name: [one for one in sorted(p.name for p in pristine.iterdir()) if one != name],
            allowed=allowed,
            has_lines=True,
        )

    return [
        subject("CoNLL-U", "src.conllu"),
        subject("CoNLL-U .gz", "src.conllu.gz"),
        subject("trees in text", "src.trees"),
        subject("chunks in text", "tgt.chunks"),
        subject("words, subwords", "src", "src.p"),
    ]


def same_words(space: Workspace, name: str) -> str:
    """Whether an annotation file has the words of its text, found out without our readers."""
    if name.endswith((".src", ".p")):
        return WRONG
    text = ".".join(name.split(".")[:2])
    corpus = [line.split() for line in (space / text).read_text("utf-8").splitlines()]
    content = (space / name).read_bytes()
    content = gzip.decompress(content) if name.endswith(".gz") else content
    lines = re.split(r"\r?\n", content.decode("utf-8").removesuffix("\n"))
    if name.endswith(".chunks"):  # has no words
        counts = [len(line.split()) for line in lines]
        fits = all(tags in (0, len(words)) for tags, words in zip(counts, corpus))
        return OTHER if fits and len(counts) == len(corpus) else WRONG
    annotated = words_of_trees(lines) if name.endswith(".trees") else words_of_conllu(lines)
    if len(annotated) != len(corpus):
        return WRONG
    pairs = [(words, line) for words, line in zip(annotated, corpus) if words]
    if any(len(words) != len(line) for words, line in pairs):
        # Words cut otherwise are carried over by their letters and digits, which are all there.
        return FORGIVEN if all(letters(words) == letters(line) for words, line in pairs) else WRONG
    same = [sum(same_spelling(*words) for words in zip(*pair)) for pair in pairs]
    if all(count == len(words) for count, (words, _) in zip(same, pairs)):
        return OTHER
    half = all(2 * count >= len(words) for count, (words, _) in zip(same, pairs))
    return FORGIVEN if half else WRONG


def letters(words: list[str]) -> str:
    """The letters and digits of a sentence."""
    return "".join(filter(str.isalnum, "".join(words)))


def words_of_trees(lines: list[str]) -> list[list[str]]:
    """Words by line, as nltk reads them; none where there is no tree."""
    return [[] if line.split() == ["()"] else Tree.fromstring(line).leaves() for line in lines]


def words_of_conllu(lines: list[str]) -> list[list[str]]:
    """Words by block; none where it says so."""
    blocks = re.split(r"\n\s*\n", "\n".join(lines).strip("\n"))
    return [
        [] if re.search(r"(?m)^#\s*parse", block) else re.findall(r"(?m)^\d+\t(.*?)\t", block)
        for block in blocks
    ]
