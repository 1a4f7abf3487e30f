"""A figure as a file, or as SVG text for a page; the same figure is the same bytes every time."""

from __future__ import annotations

import hashlib
import io
import re
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from syntax_nmt.data.text_files import write_bytes_atomically
from syntax_nmt.pictures.plots.fonts import BASE_FAMILY, unshown_characters
from syntax_nmt.pictures.plots.picture_format import (
    DOTS_PER_INCH,
    DRAWN_FONT_SIZE,
    PictureSize,
    picture_format,
)
from syntax_nmt.pictures.plots.style import POINTS, picture_style

_MARGIN = 0.06  # inches


# What would change from day to day, or with matplotlib's version, stays out of the files.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


_SVG_SIDE = re.compile(rb'\b(width|height)="([0-9.]+)pt"')


_FAMILY = f"'{BASE_FAMILY}'".encode()


# Characters of UTF-8 that XML 1.0 does not have: controls, U+FFFE and U+FFFF.
_NOT_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")


_TAG = re.compile(rb"<[^>]+>")  # words stand between tags, and may look like anything


_ID = re.compile(rb'\bid="([^"]+)"')


_REFERENCE = re.compile(rb'(?<=url\(#)[^)]+|(?<=href="#)[^"]+')


_PAGE = re.compile(rb"(\d+) 0 obj\n(<<[^>]*/Type /Page\b[^>]*>>)\nendobj")


_BOX = re.compile(rb"/MediaBox \[ ([^\]]*)\]")


_CONTENTS = re.compile(rb"/Contents (\d+ 0 R)")


_TRAILER = re.compile(rb"trailer\n<<(.*?)>>\s*startxref\s+(\d+)\s+%%EOF\s*$", re.DOTALL)


_SIZE = re.compile(rb"/Size (\d+)")


def save_figure(figure: Figure, path: str | Path, size: PictureSize | None = None) -> float:
    """Writes a figure; the file takes its name when all of it is there.

    Args:
        figure: as the modules of this folder draw them; its label becomes the title.
        path: ends in .svg, .png or .pdf.
        size: how large it is; None = as it was drawn.

    Returns:
        the size of its words, in points.

    Raises:
        UserError: the name ends otherwise, or the file cannot be written.
    """
    size = size or PictureSize()
    form = picture_format(path)
    factor = size.factor(_drawn_width(figure))
    content = _rendered(figure, form, size.dpi * (factor if form == "png" else 1))
    if factor != 1 and form == "svg":
        content = _SVG_SIDE.sub(lambda m: b'%s="%.4fpt"' % (m[1], factor * float(m[2])), content, 2)
    if factor != 1 and form == "pdf":
        content = scaled_pdf(content, factor)
    write_bytes_atomically(Path(path), content)
    return factor * DRAWN_FONT_SIZE


def svg_text(figure: Figure) -> str:
    """A figure as an `<svg>` element to stand in a page, beside others.

    Letters are text: they can be searched and copied. Ids that nothing refers to are
    left out, and the others are those of this figure alone.

    Args:
        figure: as the modules of this folder draw them; its label becomes the title.
    """
    content = _rendered(figure, "svg")
    content = content[content.index(b"<svg ") :].strip()
    used = {name for tag in _TAG.findall(content) for name in _REFERENCE.findall(tag)}
    mark = hashlib.sha256(content).hexdigest()[:10].encode()

    def own_id(match: re.Match[bytes]) -> bytes:
        return b'id="%s-%s"' % (mark, match[1]) if match[1] in used else b""

    def own_ids(tag: re.Match[bytes]) -> bytes:
        named = _ID.sub(own_id, tag[0])
        return _REFERENCE.sub(lambda match: b"%s-%s" % (mark, match[0]), named)

    return _TAG.sub(own_ids, content).decode("utf-8")


def unshown(figure: Figure) -> str:
    """The letters of a figure that no installed font has, each once; boxes stand for them.

    Args:
        figure: as the modules of this folder draw them.
    """
    return unshown_characters(_texts(figure))


def _texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text)]


def _drawn_width(figure: Figure) -> float:
    """With what reaches over the edges, in points."""
    with picture_style(_texts(figure)):
        box = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
        return (box.width + 2 * _MARGIN) * POINTS


def _rendered(figure: Figure, form: str, dpi: float = DOTS_PER_INCH) -> bytes:
    stream = io.BytesIO()
    metadata = dict(_METADATA[form])
    if figure.get_label():
        metadata["Title"] = str(figure.get_label())
    with picture_style(_texts(figure)):
        figure.savefig(
            stream,
            format=form,
            dpi=dpi,
            bbox_inches="tight",
            pad_inches=_MARGIN,
            metadata=metadata,
        )
    content = stream.getvalue()
    if form != "svg":
        return content
    # Verdana is as wide as the font that was measured.
    families = _FAMILY + b", Verdana, sans-serif"
    content = _TAG.sub(lambda tag: tag[0].replace(_FAMILY, families), content)
    return _NOT_XML.sub("\ufffd".encode(), content)


def scaled_pdf(content: bytes, factor: float) -> bytes:
    """The same page at another size.

    Args:
        content: of a file that matplotlib wrote.
        factor: of width and height.

    Raises:
        ValueError: matplotlib writes its files otherwise than is known here.
    """
    page, trailer = _PAGE.search(content), _TRAILER.search(content)
    size = _SIZE.search(trailer[1]) if trailer else None
    if page is None or trailer is None or size is None:
        raise ValueError("no page of matplotlib's")
    box = _BOX.search(page[2])
    if box is None:
        raise ValueError("a page without a size")
    sides = b" ".join(b"%.4f" % (factor * float(side)) for side in box[1].split())
    number = int(size[1])  # of the new object
    changed = _BOX.sub(lambda _: b"/MediaBox [ %s ]" % sides, page[2])
    changed = _CONTENTS.sub(rb"/Contents [ %d 0 R \1 ]" % number, changed)
    matrix = b"%.6f 0 0 %.6f 0 0 cm" % (factor, factor)
    objects = {
        int(page[1]): changed,
        number: b"<< /Length %d >>\nstream\n%s\nendstream" % (len(matrix), matrix),
    }
    table = b"xref\n"
    for key, item in objects.items():
        table += b"%d 1\n%010d 00000 n \n" % (key, len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (key, item)
    entries = _SIZE.sub(b"/Size %d" % (number + 1), trailer[1])
    return content + table + b"trailer\n<<%s/Prev %s >>\nstartxref\n%d\n%%%%EOF\n" % (
        entries, trailer[2], len(content),
    )  # fmt: skip
