"""Sentences with marks where words are cut: written as words, pieces and annotation files."""

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path

from fairseq import options
from fairseq_cli import preprocess

from syntax_nmt.data.conllu import format_conllu, format_no_parse

CUTS = {
    "subword-nmt": lambda text: text.replace("@", "@@ "),
    "sentencepiece": lambda text: " ".join("▁" + w for w in text.split()).replace("@", " "),
    "none": lambda text: text.replace("@", ""),
}
ALL = ("heads", "phrases", "chunks")


def words_of(text: str) -> list[str]:
    """The words of a sentence."""
    return text.replace("@", "").split()


def write_texts(
    folder: Path,
    split: str,
    sentences: Sequence[tuple],
    scheme: str = "subword-nmt",
    kinds: Sequence[str] = ALL,
) -> None:
    """Texts in `tok` and `bpe`, annotation of German heads and phrases and of English chunks.

    Args:
        folder: where the two folders are.
        split: the name of the files.
        sentences: of each the words (`@`: cut here), heads, bracketing and the tags of its chunks.
        scheme: how pieces are marked.
        kinds: of the annotation files.
    """
    texts = [words_of(text) for text, *_ in sentences]
    blocks = [
        format_no_parse(words) if heads is None else format_conllu(words, heads)
        for words, (_, heads, *_) in zip(texts, sentences)
    ]
    annotation = {
        "heads": (f"{split}.de.conllu", "".join(blocks)),
        "phrases": (f"{split}.de.trees", "".join(f"{tree}\n" for _, _, tree, _ in sentences)),
        "chunks": (f"{split}.en.chunks", "".join(f"{tags}\n" for *_, tags in sentences)),
    }
    files = {f"tok/{annotation[kind][0]}": annotation[kind][1] for kind in kinds}
    for lang in ("de", "en"):
        files[f"tok/{split}.{lang}"] = "".join(" ".join(words) + "\n" for words in texts)
        pieces = "".join(f"{CUTS[scheme](text)}\n" for text, *_ in sentences)
        files[f"bpe/{split}.{lang}"] = pieces
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def run_preprocess(folder: Path, *more: str, **prefixes: Path | str) -> Path:
    """Runs fairseq-preprocess; gives the data-bin folder."""
    databin = folder / "data-bin"
    arguments = ["-s", "de", "-t", "en", "--destdir", str(databin), "--workers", "1", *more]
    arguments += [f"--{option}={prefix}" for option, prefix in prefixes.items()]
    with contextlib.redirect_stdout(io.StringIO()):
        preprocess.main(options.get_preprocessing_parser().parse_args(arguments))
    return databin
