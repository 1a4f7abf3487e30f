"""The content of a data-bin folder, from its file names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt.data.annotation import BINARISED_KINDS
from syntax_nmt.data.data_bin import no_data_bin

_USUAL_SPLITS = ("train", "valid", "test")
_ANNOTATION = re.compile(rf"\.({'|'.join(kind.name for kind in BINARISED_KINDS)})$")


@dataclass(frozen=True)
class TextName:
    """One language of one split: `train.de-en.de`.

    Attributes:
        split: `train`, `train1`, `valid`, …
        pair: `de-en`, source first; `de-None` where there is no target.
        language: `de`.
    """

    split: str
    pair: str
    language: str

    def __str__(self) -> str:
        return f"{self.split}.{self.pair}.{self.language}"

    @classmethod
    def parse(cls, name: str) -> TextName | None:
        """The text that fairseq's files of this name hold; None where it is no such name.

        Args:
            name: without `.bin` or `.idx`.
        """
        split, _, rest = name.partition(".")
        pair, _, language = rest.rpartition(".")
        fits = pair.startswith(f"{language}-") or pair.endswith(f"-{language}")
        return cls(split, pair, language) if split and language and fits else None

    @property
    def is_source(self) -> bool:
        """Whether it is the first of the pair."""
        return self.pair.startswith(f"{self.language}-")

    def order(self) -> tuple[object, ...]:
        """Sorts training before validation and test data, and sources before targets."""
        kind = self.split.rstrip("0123456789")
        rank = _USUAL_SPLITS.index(kind) if kind in _USUAL_SPLITS else len(_USUAL_SPLITS)
        number = int(self.split[len(kind) :] or 0)
        return rank, kind, number, self.pair, not self.is_source, self.language


@dataclass(frozen=True)
class DataFolder:
    """The names found in a data-bin folder.

    Attributes:
        path: the folder.
        texts: fairseq's texts, in the order of :meth:`TextName.order`.
        annotation: names of annotation files on disk (`train.de-en.de.heads`), in order.
    """

    path: Path
    texts: tuple[TextName, ...]
    annotation: tuple[str, ...]


def find_data(path: str | Path) -> DataFolder:
    """Lists a data-bin folder; opens no file.

    Raises:
        UserError: there is no such folder, or fairseq-preprocess has not written to it.
    """
    path = Path(path)
    stems = {file.stem for file in path.glob("*") if file.suffix in (".bin", ".idx")}
    annotation = {stem for stem in stems if _ANNOTATION.search(stem)}
    parsed = (TextName.parse(stem) for stem in stems - annotation)
    texts = sorted((text for text in parsed if text is not None), key=TextName.order)
    if not texts:
        raise no_data_bin(path, "SPLIT.SRC-TGT.LANGUAGE.bin and .idx")
    return DataFolder(path, tuple(texts), tuple(sorted(annotation)))
