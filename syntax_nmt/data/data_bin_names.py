"""The names of a data-bin folder, what may be in them and what they tell; the formats of its texts.

fairseq makes paths of languages and splits, and its reader of FASTA files hands a path to a shell.
Languages, splits and formats come from checkpoints, command lines and the names of files; so each
is held to a list of what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntax_nmt.errors import UserError

FORMATS = ("mmap", "cached", "lazy", "raw")
"""What fairseq's `--dataset-impl` may be: its formats of tokens, and text."""

_NAME = re.compile(r"\w[\w.-]*")
_ALLOWED = "letters, digits, _, - and ., the first neither - nor ."


def is_name(text: str) -> bool:
    """Whether text may be a language or a split."""
    return _NAME.fullmatch(text) is not None


def are_names(text: str) -> bool:
    """Whether text is a list of names, separated by commas, as fairseq has lists of splits."""
    return all(map(is_name, text.split(",")))


def is_training(split: str) -> bool:
    """Whether models are trained on a split: train, train1, …"""
    return split.startswith("train")


def check_name(name: str, what: str) -> None:
    """Refuses a language or a split that is no plain name.

    Args:
        what: where it comes from, for the message.

    Raises:
        UserError: it has other characters.
    """
    if not is_name(name):
        raise UserError(f"{what} {name[:80]!r} is no plain name: give one of {_ALLOWED}")


def plain_name(text: str) -> str:
    """The text itself.

    Raises:
        ValueError: it is no plain name.
    """
    if not is_name(text):
        raise ValueError(f"{text!r} is no plain name: give one of {_ALLOWED}")
    return text


def check_format(name: Any, what: str) -> None:
    """Refuses a format of texts that is not on the list.

    Args:
        name: of fairseq, such as `mmap`, or its choice of that name; None = as the files are.
        what: where it comes from, for the message.

    Raises:
        UserError: it is another one.
    """
    if name is not None and str(name) not in FORMATS:
        raise UserError(
            f"{what} {str(name)[:80]}: texts of this format are not read: give one of "
            f"{', '.join(FORMATS)}"
        )


def check_folders(folders: Iterable[str | Path]) -> None:
    """Refuses folders with FASTA files, for which fairseq starts a shell.

    Args:
        folders: data-bin folders.

    Raises:
        UserError: names the first such file.
    """
    for folder in map(Path, folders):
        found = next(folder.glob("*.fasta"), None)
        if found is not None:
            raise UserError(
                f"{found}: fairseq reads this format by a shell, which could run code: give a "
                "data-bin folder that fairseq-preprocess wrote"
            )


_USUAL_SPLITS = ("train", "valid", "test")
_TEXT = re.compile(
    r"(?P<split>[^.]+)\.(?:"
    r"(?P<source>.+)-(?P<other_target>.+)\.(?P=source)|"
    r"(?P<other_source>.+)-(?P<target>.+)\.(?P=target))"
)


@dataclass(frozen=True)
class TextName:
    """One language of one split: `train.de-en.de`.

    Attributes:
        split: `train`, `train1`, `valid`, …
        languages: `de` and `en`, source first; `de` and `None` where there is no target. They may
            have hyphens and dots of their own: `pt-BR`.
        language: `de`.
    """

    split: str
    languages: tuple[str, str]
    language: str

    def __str__(self) -> str:
        return f"{self.split}.{self.pair}.{self.language}"

    @classmethod
    def parse(cls, name: str) -> TextName | None:
        """The text that fairseq's files of this name hold; None where it is no such name.

        Args:
            name: without `.bin` or `.idx`.
        """
        found = _TEXT.fullmatch(name)
        if found is None:
            return None
        split, source, other_target, other_source, target = found.groups()
        if source:
            return cls(split, (source, other_target), source)
        return cls(split, (other_source, target), target)

    @property
    def pair(self) -> str:
        """`de-en`."""
        return "-".join(self.languages)

    def order(self) -> tuple[object, ...]:
        """Sorts training before validation and test data, and sources before targets."""
        kind = self.split.rstrip("0123456789")
        rank = _USUAL_SPLITS.index(kind) if kind in _USUAL_SPLITS else len(_USUAL_SPLITS)
        number = int(self.split[len(kind) :] or 0)
        return rank, kind, number, self.pair, self.language != self.languages[0], self.language


def language_pairs(folder: str | Path) -> list[tuple[str, str]]:
    """Source and target of the texts in a folder, each pair once, the training text's first.

    fairseq's own function takes the first hyphen for that between both, also that of `pt-BR`.

    Args:
        folder: a data-bin folder.
    """
    names = {path.name.removesuffix(".idx") for path in Path(folder).glob("*.*-*.*")}
    texts = sorted(filter(None, map(TextName.parse, names)), key=TextName.order)
    return list(dict.fromkeys(text.languages for text in texts))


def format_of(folder: str | Path) -> str | None:
    """The `--dataset-impl` that reads a folder: `raw` for plain text; None = fairseq tells by each
    file.

    Args:
        folder: a data-bin folder.
    """
    names = [path.name for path in Path(folder).glob("*.*-*.*")]
    texts = any(not name.startswith("dict.") for name in names)
    return "raw" if texts and not any(name.endswith(".idx") for name in names) else None
