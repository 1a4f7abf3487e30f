"""The content of a data-bin folder, from its file names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt.data.annotation import BINARISED_KINDS
from syntax_nmt.data.data_bin import no_data_bin
from syntax_nmt.data.data_bin_names import TextName

_ANNOTATION = re.compile(rf"\.({'|'.join(kind.name for kind in BINARISED_KINDS)})$")


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
