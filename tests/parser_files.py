"""What the tests of this folder parse with: a text in pieces, data-bin folders, checkpoints."""

from dataclasses import dataclass
from pathlib import Path

from fairseq import options
from fairseq_cli import preprocess

# `▁` opens a word; an empty line, one of a single word, and lengths out of order.
PIECES = [
    "▁the ▁gar dener ▁sees ▁old ▁hou ses ▁.",
    "▁gar dens",
    "",
    "▁we ▁see ▁the ▁gar den ▁of ▁the ▁old ▁hou se ▁in ▁the ▁gar den ▁.",
    "▁see",
    "▁old ▁hou ses ▁see ▁we ▁.",
    "▁the ▁the ▁the",
]
TARGETS = [*PIECES[3:], *PIECES[:3]]
WORDS, TARGET_WORDS = (
    [line.replace(" ", "").replace("▁", " ").split() for line in text] for text in (PIECES, TARGETS)
)


@dataclass
class Parser:
    """A data-bin folder, the text it was made from, and a model."""

    data: Path
    pieces: Path
    checkpoint: Path
    stock: Path


def binarise(folder: Path, train: list[str], test: list[str]) -> Path:
    """Runs fairseq-preprocess; both sides are the same text."""
    for language in ("src", "tgt"):
        for split, lines in (("train", train), ("test", test)):
            text = "".join(f"{line}\n" for line in lines)
            (folder / f"{split}.{language}").write_text(text, encoding="utf-8")
    parser = options.get_preprocessing_parser()
    arguments = ["-s", "src", "-t", "tgt", "--destdir", str(folder / "data-bin")]
    for split in ("train", "test"):
        arguments += [f"--{split}pref", str(folder / split)]
    preprocess.main(parser.parse_args(arguments))
    return folder / "data-bin"
