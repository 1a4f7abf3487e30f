"""`syntax-nmt prepare` with words as tokens: a side's N most frequent ones, the others unknown."""

import shlex
from collections import Counter
from pathlib import Path

import pytest
from fairseq.data import Dictionary, data_utils
from translations import write

from syntax_nmt import FOLDER
from syntax_nmt.cli import main
from syntax_nmt.data.conllu import format_conllu
from syntax_nmt.data.prepared_text import TextSegmentation, read_segmentation, write_segmentation
from syntax_nmt.data.ragged import RaggedArray
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.training_commands import next_commands
from syntax_nmt.preparation.training_data import TrainingData

pytestmark = pytest.mark.dear

SPLITS = ("train", "valid", "test")
MARKED = [f"the w{i % 7} sees a w{i % 3} under w{i} ." for i in range(1, 60)]
MARKED.append("pieces@@ of subword@@ nmt end like this@@ .")


def write_raw(folder: Path) -> Path:
    """Text and dependency trees of its source, chains from right to left."""
    folder.mkdir()
    sentences = [line.split() for line in MARKED]
    trees = [format_conllu(words, [*range(1, len(words)), len(words) - 1]) for words in sentences]
    for split in SPLITS:
        write(folder / f"{split}.en", MARKED)
        write(folder / f"{split}.de", [" ".join(reversed(words)) for words in sentences])
        (folder / f"{split}.en.conllu").write_text("".join(trees), encoding="utf-8")
    return folder


def prepare(raw: Path, folder: Path, *more: str) -> None:
    arguments = ["prepare", "--source-lang", "en", "--target-lang", "de", "--no-parse"]
    arguments += [f"--{split}pref={raw}/{split}" for split in SPLITS]
    arguments += ["--source-tokenizer", "none", "--target-tokenizer", "none", "--vocab-size", "60"]
    main([*arguments, "--destdir", str(folder), *more])


def words_of(folder: Path, split: str, lang: str) -> tuple[Dictionary, list[list[str]]]:
    data = folder / "data-bin"
    dictionary = Dictionary.load(str(data / f"dict.{lang}.txt"))
    rows = data_utils.load_indexed_dataset(f"{data}/{split}.en-de.{lang}", dictionary)
    return dictionary, [[dictionary[token] for token in row[:-1]] for row in rows]


def commands(folder: Path) -> list[list[str]]:
    """Those that `syntax-nmt options --training` prints."""
    said = next_commands(TrainingData.of(folder), FOLDER)
    lines = said.replace(" \\\n", " ").splitlines()
    return [shlex.split(line) for line in lines if line.startswith("  fairseq-")]


def test_words_that_are_symbols_of_fairseq_are_unknown(tmp_path, capsys):
    """`</s>` in the middle of a sentence ends it for a model. Trees keep the word."""
    raw = write_raw(tmp_path / "raw")
    for path in (raw / "train.en", raw / "train.en.conllu"):
        path.write_text(path.read_text().replace("sees", "</s>").replace("w2", "<pad>"))
    prepare(raw, tmp_path, "--source-words", "12", "--target-words", "9")
    _, rows = words_of(tmp_path, "train", "en")
    symbols = [row.count(each) for row in rows for each in ("</s>", "<pad>", "<s>")]
    assert sum(symbols) == 0
    text = (tmp_path / "words/train.en").read_text().split()
    number = text.count("</s>") + text.count("<pad>")
    said = f"train.en: {number} words that fairseq takes for its own symbols (<s>, <pad>, </s>)"
    assert said in capsys.readouterr().err
    heads = RaggedArray.open(tmp_path / "data-bin" / "train.en-de.en.heads")
    assert [len(heads[index]) for index in range(len(rows))] == list(map(len, rows))


def test_both_sides(tmp_path):
    prepare(write_raw(tmp_path / "raw"), tmp_path, "--source-words", "12", "--target-words", "9")
    assert not list(tmp_path.glob("sentencepiece*"))
    for lang, size in (("en", 12), ("de", 9)):
        text = (tmp_path / "words" / f"train.{lang}").read_text(encoding="utf-8")
        counts = Counter(text.split())
        dictionary, rows = words_of(tmp_path, "test", lang)
        kept = {word for word in dictionary.symbols if not word.startswith("madeupword")}
        kept -= {"<s>", "<pad>", "</s>", "<unk>"}
        assert len(kept) == size
        least = min(counts[word] for word in kept)
        assert all(count <= least for word, count in counts.items() if word not in kept)
        for line, row in zip(text.splitlines(), rows):
            assert row == [word if word in kept else "<unk>" for word in line.split()]
        assert any("<unk>" in row for row in rows)
    heads = RaggedArray.open(tmp_path / "data-bin" / "test.en-de.en.heads")
    for index, line in enumerate(MARKED):  # a head a word, whatever is unknown
        count = len(line.split())
        assert heads[index].tolist() == [*range(1, count), count - 1]
    train, *_, translate = commands(tmp_path)
    assert "--share-all-embeddings" not in train
    assert translate[0] == "fairseq-interactive"
    assert "--bpe" not in translate


@pytest.mark.parametrize("side", ["source", "target"])
def test_one_side(tmp_path, side):
    """The other one has pieces of a model of its own; words may look like pieces."""
    prepare(write_raw(tmp_path / "raw"), tmp_path, f"--{side}-words", "9")
    cut, whole = ("de", "en") if side == "source" else ("en", "de")
    assert [path.name for path in tmp_path.glob("*.model")] == [f"sentencepiece.{cut}.model"]
    for lang, marked in ((cut, True), (whole, False)):
        text = (tmp_path / "pieces" / f"test.{lang}").read_text(encoding="utf-8")
        assert ("▁" in text) == marked
    assert len(words_of(tmp_path, "test", whole)[0]) < 20
    if side == "source":
        heads = RaggedArray.open(tmp_path / "data-bin" / "train.en-de.en.heads")
        count = len(MARKED[-1].split())
        assert heads[len(MARKED) - 1].tolist() == [*range(1, count), count - 1]
    *_, translate = commands(tmp_path)
    assert translate[0] == "fairseq-generate"  # typed text cannot be cut on one side alone
    assert ("--bpe" in translate) == (side == "source")
    assert translate[translate.index("--gen-subset") + 1] == "test"
    assert translate[translate.index("--tokenizer") + 1] == "syntax_words"


def test_a_segmentation_that_cannot_be_used_is_one_line(tmp_path):
    """Or was never made, as older versions named one for words, too."""
    path = tmp_path / "sentencepiece.en.model"
    path.touch()
    write_segmentation(tmp_path, {"en": TextSegmentation("none", path)})
    assert read_segmentation(tmp_path) == {"en": TextSegmentation("none", path)}
    path.unlink()
    with pytest.raises(UserError, match=r"segmentation.json: names .*en.model', .*prepare` line"):
        read_segmentation(tmp_path)
    path = tmp_path / "segmentation.json"
    path.write_text("[" * 100_000)
    with pytest.raises(UserError, match=r"segmentation.json: cannot be read"):
        read_segmentation(tmp_path)
