"""Which kind of file a picture's name asks for, and how large it is. Needs no matplotlib."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from syntax_nmt.arguments import positive_int
from syntax_nmt.errors import UserError

FORMATS = ("svg", "png", "pdf")
DRAWN_FONT_SIZE = 9.0  # points
DOTS_PER_INCH = 150
_TEXT_WIDTH = 16.0  # cm; of an A4 page
_POINTS = 72 / 2.54  # of a centimetre


@dataclass(frozen=True)
class PictureSize:
    """How large a picture is.

    Attributes:
        width: the most that it may have, in cm; None = whatever it needs, though trees and curves
            are laid out for the text of an A4 page.
        font_size: of its words, in points; smaller where `width` asks for it.
        dpi: dots per inch, of a PNG.
    """

    width: float | None = None
    font_size: float = DRAWN_FONT_SIZE
    dpi: int = DOTS_PER_INCH

    @property
    def room(self) -> float:
        """The width to lay out for, in points of a picture whose words have their usual size."""
        return (self.width or _TEXT_WIDTH) * _POINTS * DRAWN_FONT_SIZE / self.font_size

    def factor(self, width: float) -> float:
        """What a picture must be enlarged by.

        Args:
            width: as it was drawn, in points.
        """
        factor = self.font_size / DRAWN_FONT_SIZE
        return factor if self.width is None else min(factor, self.width * _POINTS / width)


def add_size_arguments(group: argparse._ArgumentGroup) -> None:
    """Adds the size."""
    add = group.add_argument
    add(
        "--width",
        type=_positive,
        metavar="CM",
        help="at most so wide, such as 7.7 for a column of the ACL: trees go down the page, "
        "letters get smaller where nothing else helps (default: as wide as it needs to be)",
    )
    add(
        "--font-size",
        type=_positive,
        default=DRAWN_FONT_SIZE,
        metavar="POINTS",
        help="size of words (default: %(default)g)",
    )
    add(
        "--dpi",
        type=positive_int,
        default=DOTS_PER_INCH,
        metavar="N",
        help="dots per inch of a PNG (default: %(default)s)",
    )


def picture_size(args: argparse.Namespace) -> PictureSize:
    """The size that a command line asks for."""
    return PictureSize(args.width, args.font_size, args.dpi)


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


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is no size above 0")
    return value
