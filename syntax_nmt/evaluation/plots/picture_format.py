"""Which kind of file a picture's name asks for. Needs no matplotlib."""

from __future__ import annotations

from pathlib import Path

from syntax_nmt.errors import UserError

FORMATS = ("svg", "png", "pdf")


def picture_format(path: str | Path) -> str:
    """One of :data:`FORMATS`, after the end of a file's name.

    Args:
        path: the file.

    Raises:
        UserError: the name ends otherwise.
    """
    suffix = Path(path).suffix
    if suffix[1:].lower() not in FORMATS:
        raise UserError(
            f"{path}: {suffix or 'a name without an end'} is no format of pictures here: give a "
            f"file that ends in .svg, .png or .pdf"
        )
    return suffix[1:].lower()
