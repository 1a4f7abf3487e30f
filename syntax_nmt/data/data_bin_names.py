"""What may be in the names of a data-bin folder, and the formats of its texts.

fairseq makes paths of languages and splits, and its reader of FASTA files hands a path to a shell.
Languages, splits and formats come from checkpoints, command lines and the names of files; so each
is held to a list of what is allowed.
"""

import re
from collections.abc import Iterable
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


def format_of(folder: str | Path) -> str | None:
    """The `--dataset-impl` that reads a folder: `raw` for plain text; None = fairseq tells by each
    file.

    Args:
        folder: a data-bin folder.
    """
    names = [path.name for path in Path(folder).glob("*.*-*.*")]
    texts = any(not name.startswith("dict.") for name in names)
    return "raw" if texts and not any(name.endswith(".idx") for name in names) else None
