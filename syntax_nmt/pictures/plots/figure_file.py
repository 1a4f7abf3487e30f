"""A figure as a file, or as SVG text for a page; the same figure is the same bytes every time."""

import hashlib
import io
import re
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.text import Text

from syntax_nmt.data.text_files import write_bytes_atomically
from syntax_nmt.pictures.plots.fonts import BASE_FAMILY, unshown_characters
from syntax_nmt.pictures.plots.picture_format import picture_format
from syntax_nmt.pictures.plots.style import picture_style

_MARGIN = 0.06  # inches
_DOTS_PER_INCH = 150  # of a PNG
# What would change from day to day, or with matplotlib's version, stays out of the files.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
_FAMILY = f"'{BASE_FAMILY}'".encode()
# Characters that XML 1.0 does not have, and those that move the text around them: controls, line
# ends other than \n, marks that override the direction of writing, U+FFFE and U+FFFF.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff]")
# Where readers prefer dark pages, dark becomes light and hues stay. In a page that contains the
# element, it is not the root.
_DARK = b"""
@media (prefers-color-scheme: dark) { svg:root { filter: invert(0.92) hue-rotate(180deg) } }"""
_TAG = re.compile(rb"<[^>]+>")  # words stand between tags, and may look like anything
_ID = re.compile(rb'\bid="([^"]+)"')
_REFERENCE = re.compile(rb'(?<=url\(#)[^)]+|(?<=href="#)[^"]+')


def save_figure(figure: Figure, path: str | Path) -> None:
    """Writes a figure; the file gets its name when it is complete.

    Args:
        figure: as the modules of this folder draw them; its label becomes the title.
        path: ends in .svg, .png or .pdf.

    Raises:
        UserError: the name ends otherwise, or the file cannot be written.
    """
    form = picture_format(path)
    content = _rendered(figure, form)
    if form == "svg":
        content = content.replace(b"</style>", _DARK + b"</style>", 1)
    write_bytes_atomically(Path(path), content)


def svg_text(figure: Figure, mark: str = "") -> str:
    """A figure as an `<svg>` element of a page, whose ground shows through.

    Letters are text: they can be searched and copied. Ids that nothing refers to are
    left out, and the others are those of this figure alone.

    Args:
        figure: as the modules of this folder draw them; its label becomes the title.
        mark: begins its ids; without one it is made of the content.
    """
    content = _rendered(figure, "svg", transparent=True)
    content = content[content.index(b"<svg ") :].strip()
    used = {name for tag in _TAG.findall(content) for name in _REFERENCE.findall(tag)}
    own = (mark or hashlib.sha256(content).hexdigest()[:10]).encode()

    def own_id(match: re.Match[bytes]) -> bytes:
        return b'id="%s-%s"' % (own, match[1]) if match[1] in used else b""

    def own_ids(tag: re.Match[bytes]) -> bytes:
        named = _ID.sub(own_id, tag[0])
        return _REFERENCE.sub(lambda match: b"%s-%s" % (own, match[0]), named)

    return _TAG.sub(own_ids, content).decode("utf-8")


def unshown(figure: Figure) -> str:
    """The letters of a figure that no installed font has, each once; they are shown as boxes.

    Args:
        figure: as the modules of this folder draw them.
    """
    return unshown_characters(_texts(figure))


def _texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text)]


def _rendered(figure: Figure, form: str, transparent: bool = False) -> bytes:
    stream = io.BytesIO()
    metadata = dict(_METADATA[form])
    if figure.get_label():
        metadata["Title"] = str(figure.get_label())
    with picture_style(_texts(figure)):
        figure.savefig(
            stream,
            format=form,
            dpi=_DOTS_PER_INCH,
            bbox_inches="tight",
            pad_inches=_MARGIN,
            metadata=metadata,
            transparent=transparent,
        )
    content = stream.getvalue()
    if form != "svg":
        return content
    # Verdana is as wide as the font that was measured.
    families = _FAMILY + b", Verdana, sans-serif"
    content = _TAG.sub(lambda tag: tag[0].replace(_FAMILY, families), content)
    return without_controls(content.decode()).encode()


def without_controls(text: str) -> str:
    """The text of a picture or page, with U+FFFD for characters that would disturb it."""
    return _CONTROLS.sub("\ufffd", text)
