"""A figure as a file, or as SVG text for a page; the same figure is the same bytes every time."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.text import Text

from syntax_nmt.data.text_files import write_bytes_atomically
from syntax_nmt.evaluation.plots.fonts import unshown_characters
from syntax_nmt.evaluation.plots.picture_format import picture_format
from syntax_nmt.evaluation.plots.style import picture_style

DOTS_PER_INCH = 150
_MARGIN = 0.06  # inches

# What would change from day to day, or with matplotlib's version, stays out of the files.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
_ID = re.compile(r'\bid="([^"]+)"')
_REFERENCE = re.compile(r'(?<=url\(#)[^)]+|(?<=href="#)[^"]+')


def save_figure(figure: Figure, path: str | Path) -> None:
    """Writes a figure; the file takes its name when all of it is there.

    Args:
        figure: as the modules of this folder draw them; its label becomes the title.
        path: ends in .svg, .png or .pdf.

    Raises:
        UserError: the name ends otherwise, or the file cannot be written.
    """
    write_bytes_atomically(Path(path), _rendered(figure, picture_format(path)))


def svg_text(figure: Figure) -> str:
    """A figure as an `<svg>` element to stand in a page, beside others.

    Letters are outlines, so that they show without their fonts. Ids that nothing refers to are
    left out, and the others are those of this figure alone.

    Args:
        figure: as the modules of this folder draw them; its label becomes the title.
    """
    text = _rendered(figure, "svg").decode("utf-8")
    text = text[text.index("<svg ") :].strip()
    used = set(_REFERENCE.findall(text))
    mark = hashlib.sha256(text.encode()).hexdigest()[:10]

    def own_id(match: re.Match[str]) -> str:
        return f'id="{mark}-{match[1]}"' if match[1] in used else ""

    text = _ID.sub(own_id, text)
    return _REFERENCE.sub(lambda match: f"{mark}-{match[0]}", text)


def unshown(figure: Figure) -> str:
    """The letters of a figure that no installed font has, each once; boxes stand for them.

    Args:
        figure: as the modules of this folder draw them.
    """
    return unshown_characters(_texts(figure))


def _texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text)]


def _rendered(figure: Figure, form: str) -> bytes:
    stream = io.BytesIO()
    metadata = dict(_METADATA[form])
    if figure.get_label():
        metadata["Title"] = str(figure.get_label())
    with picture_style(_texts(figure)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .*missing from font")
        figure.savefig(
            stream,
            format=form,
            dpi=DOTS_PER_INCH,
            bbox_inches="tight",
            pad_inches=_MARGIN,
            metadata=metadata,
        )
    return stream.getvalue()
