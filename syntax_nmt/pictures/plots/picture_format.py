"""The kind of file that a picture's name asks for, and its width. Needs no matplotlib."""

import argparse
from pathlib import Path

from syntax_nmt.errors import UserError

FORMATS = ("svg", "png", "pdf")
_TEXT_WIDTH = 16.0  # cm; of an A4 page
_POINTS = 72 / 2.54  # of a centimetre


def add_width_argument(group: argparse._ArgumentGroup) -> None:
    """Adds the width that trees and curves are laid out for, as `room` in points."""
    group.add_argument(
        "--width",
        type=_points,
        default=_TEXT_WIDTH * _POINTS,
        dest="room",
        metavar="CM",
        help="lay trees and curves out for so much room, such as 7.7 for a column of the ACL: "
        f"wider trees go down the page (default: {_TEXT_WIDTH:g}, the text of an A4 page)",
    )


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


def _points(centimetres: str) -> float:
    value = float(centimetres)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{centimetres} is no width above 0")
    return value * _POINTS
