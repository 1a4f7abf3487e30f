"""Annotation that lies beside the raw text, taken along when it fits the words."""

from __future__ import annotations

import shutil
from pathlib import Path

from syntax_nmt.data.side_text import in_step, side_entries
from syntax_nmt.data.sides.kind import SideKind
from syntax_nmt.data.text_files import (
    NEWLINE_ONLY,
    find_text,
    open_text,
    read_lines,
    write_atomically,
)
from syntax_nmt.data.text_match import OtherTextError


def find_side_file(raw_prefix: str, lang: str, kind: SideKind) -> Path | None:
    """The annotation beside a raw text, `PREFIX.LANG.ENDING` with or without `.gz`.

    Args:
        raw_prefix: path of the raw text up to the language.
        lang: language code.
        kind: of the annotation.
    """
    return find_text(f"{raw_prefix}.{lang}.{kind.ending}")


def check_side_file(side: Path, kind: SideKind, words: Path) -> None:
    """Checks that an annotation has one entry a line of a text and that the words are the same.

    All of the file is read before other words are reported, so that what is malformed is an error
    wherever it stands.

    Args:
        side: the annotation.
        kind: of the annotation.
        words: the text.

    Raises:
        UserError: an entry is malformed, or there are too many or too few.
        OtherTextError: the annotation is in order, but of other words; names the first such line.
    """
    other: OtherTextError | None = None
    streams = {
        str(side): side_entries(side, kind),
        str(words): read_lines(words, NEWLINE_ONLY),
    }
    for number, ((place, entry), text) in in_step(streams):
        try:
            kind.annotation(entry, text.split(), place, f"{words}:{number}")
        except OtherTextError as error:
            other = other or error
    if other is not None:
        raise other


def copy_side_file(side: Path, destination: Path) -> None:
    """Copies an annotation, decompressed.

    Args:
        side: the file, plain or `.gz`.
        destination: the new file, there only once it is whole.
    """
    with open_text(side, newline="") as source, write_atomically(destination) as out:
        shutil.copyfileobj(source, out)
