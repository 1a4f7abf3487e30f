"""The folders of one training text: fairseq reads `data1:data2` by turns, an epoch each."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from syntax_nmt.data.annotation.kind import AnnotationKind
from syntax_nmt.data.prepared_text import shard_folders
from syntax_nmt.data.text_files import checksum
from syntax_nmt.errors import UserError


def check_same_dictionaries(folders: Sequence[Path], languages: Sequence[str]) -> None:
    """fairseq reads those of the first folder, and uses them for the ids of the others.

    Raises:
        UserError: another folder has another dictionary, or does not exist.
    """
    first, *others = folders
    for other in others:
        if not other.is_dir():
            raise UserError(
                f"{other}: no such folder; give data-bin folders with {os.pathsep} between them"
            )
        for name in (f"dict.{language}.txt" for language in languages):
            if (other / name).is_file() and checksum(other / name) != checksum(first / name):
                raise UserError(
                    f"{other / name}: another dictionary than {first / name}, by which its text "
                    "would be read: make it with fairseq-preprocess --srcdict and --tgtdict of "
                    f"{first}"
                )


def check_same_labels(folders: Sequence[Path], kinds: Iterable[AnnotationKind]) -> None:
    """A model is built for those of the first folder, and reads the others only in later epochs.

    Raises:
        UserError: another folder has other labels, or none.
    """
    for name in filter(None, (kind.labels_file for kind in kinds)):
        first, *others = (folder / name for folder in folders)
        for other in others if first.is_file() else ():
            if not other.is_file() or checksum(other) != checksum(first):
                wrong = "other labels than" if other.is_file() else "not there, unlike"
                prepared = other.parent.parent
                mend = (
                    f"`syntax-nmt binarize --labels {first.parent}` makes those of {other.parent}"
                )
                if prepared in shard_folders(prepared.parent):
                    mend = "run the line of `prepare --append` that made it again"
                raise UserError(f"{other}: {wrong} {first}: {mend}")
