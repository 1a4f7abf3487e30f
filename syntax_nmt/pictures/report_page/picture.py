"""A picture in the page: SVG with a description."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from itertools import count
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_TITLE = re.compile(r"\s*<title>.*?</title>", re.DOTALL)
_WIDTH = re.compile(r'\bwidth="([0-9.]+)pt"')
_LEAST = 0.8  # curves on narrow screens; smaller ones scroll


@dataclass(frozen=True)
class Picture:
    """A picture and its words.

    Attributes:
        svg: an element of the page.
        caption: below the picture.
    """

    svg: Markup
    caption: str


class Pictures:
    """Makes figures into pictures whose ids differ, even those of the same figure twice."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self.unshown: set[str] = set()

    def notes(self) -> list[str]:
        """Notes for the user about the pictures so far."""
        from syntax_nmt.pictures.plots.fonts import advice

        return [advice("".join(sorted(self.unshown)))] if self.unshown else []

    def add(self, figure: Figure, caption: str, description: str) -> Picture:
        """A picture for the page.

        Args:
            caption: below the picture.
            description: what it shows, for those who do not see it.
        """
        from syntax_nmt.pictures.plots.figure_file import svg_text, unshown

        self.unshown.update(unshown(figure))
        text = svg_text(figure, f"p{next(self._numbers)}")
        text = _TITLE.sub("", _METADATA.sub("", text), count=1)
        width = _WIDTH.search(text)
        least = f"--least: {_LEAST * float(width[1]):.0f}pt" if width else ""
        label = f'<svg role="img" aria-label="{escape(description)}" style="{least}" '
        return Picture(Markup(text.replace("<svg ", label, 1)), caption)
