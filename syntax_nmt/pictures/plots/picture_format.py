"""The kind of file that a picture's name asks for, and its width. Needs no matplotlib."""

from pathlib import Path

from syntax_nmt.errors import UserError

FORMATS = ("svg", "png", "pdf")
TEXT_WIDTH = 16.0  # cm; of an A4 page
_POINTS = 72 / 2.54  # of a centimetre


def picture_format(path: str | Path) -> str:
    """One of :data:`FORMATS`, after the end of a file's name.

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


def points(centimetres: str) -> float:
    """A width in points.

    Raises:
        ValueError: it is no width above 0.
    """
    value = float(centimetres)
    if not value > 0:
        raise ValueError(f"{centimetres} is no width above 0")
    return value * _POINTS
