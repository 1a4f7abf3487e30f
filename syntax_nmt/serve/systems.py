"""The results of trained systems for the page, as plain values."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from syntax_nmt.backbone.structures import CHUNKED, DEPENDENCIES
from syntax_nmt.data.annotation import COLUMNS
from syntax_nmt.data.typed_words import typed_words
from syntax_nmt.inference.model import LoadedModel
from syntax_nmt.pictures.plots.chunk_strips import draw_chunks
from syntax_nmt.pictures.plots.figure_file import svg_text
from syntax_nmt.pictures.report_page.structure_pictures import DRAWN
from syntax_nmt.scoring.chunks.chunk_report import bracketed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class ServedSystem:
    """A trained system.

    Attributes:
        name: that the page shows.
        model: the checkpoint with its segmentation.
        beam: number of hypotheses in the search.
    """

    name: str
    model: LoadedModel
    beam: int

    def translate(self, sentences: Sequence[str]) -> dict[str, Any]:
        """Translations, with the seconds that they took.

        Args:
            sentences: raw text.

        Raises:
            UserError: a sentence is too long, or the model lacks an input.
        """
        start = time.perf_counter()
        translations = self.model.translate(list(sentences), self.beam)
        return {
            "system": self.name,
            "sentences": [
                {"source": source, "translation": translation}
                for source, translation in zip(sentences, translations)
            ],
            "seconds": round(time.perf_counter() - start, 3),
        }

    def structures(self, source: str, translation: str) -> dict[str, Any]:
        """The structures of one sentence and its translation; their words are as in the texts.

        Args:
            source: raw text.
            translation: raw text; with another one it is that one's structures.

        Returns:
            `structures`: title, text and SVG of each, the SVG None where a sentence has more than
            100 words, whose drawing would take many seconds and gigabytes; `attention`: words of
            both sides and the weights, target × source, or None.

        Raises:
            UserError: the model lacks an input.
        """
        drawn = self._structures(source, translation) if source and translation else ()
        attended = self.model.attention(source, translation) if source and translation else None
        return {
            "system": self.name,
            "structures": [structure for structure in drawn if structure is not None],
            "attention": attended
            and {
                "source": typed_words(attended.source, source),
                "target": typed_words(attended.target, translation),
                "weights": attended.weights.round(3).tolist(),
            },
        }

    def _structures(self, source: str, translation: str) -> Iterator[dict[str, Any] | None]:
        """What the model reads, then what it finds; None where there is no tree."""
        for kind in self.model.reads:
            yield _drawn_tree(f"{kind}, as parsed", kind, self.model.parses(source, kind), source)
        if self.model.features:
            yield _features(self.model.features, self.model.parses(source, DEPENDENCIES), source)
        for kind in self.model.structures:
            if kind == CHUNKED:
                yield self._drawn_chunks(source, translation)
            else:
                yield _drawn_tree(kind, kind, self.model.trees(source, kind), source)

    def _drawn_chunks(self, source: str, translation: str) -> dict[str, Any] | None:
        chunked = self.model.chunks(source, translation)
        if chunked is None:
            return None
        words = typed_words(chunked.words, translation)
        draw = partial(draw_chunks, words, {self.name: chunked.chunks})
        return _drawn(CHUNKED, bracketed(chunked.chunks, words), draw, len(words))


_MOST_WORDS = 100  # of a sentence that is drawn
_KINDS: Mapping[str, Any] = {kind.title: kind for kind in DRAWN}


def _features(names: Sequence[str], tree: Any, source: str) -> dict[str, Any] | None:
    """The words of a parse, and what the model reads of each, as text."""
    if tree is None:
        return None
    columns = [column.values(tree) for column in COLUMNS if column.name in names]
    rows = zip(typed_words(tree.words, source), *columns)
    text = ", ".join(f"{word}: {' '.join(values)}" for word, *values in rows)
    return {"title": f"features as parsed: {' '.join(names)}", "text": text, "svg": None}


def _drawn_tree(title: str, kind: str, tree: Any, source: str) -> dict[str, Any] | None:
    if tree is None:
        return None
    tree = replace(tree, words=typed_words(tree.words, source))
    draw = partial(_KINDS[kind].draw, tree, None)
    return _drawn(title, _KINDS[kind].text(tree), draw, len(tree.words))


def _drawn(title: str, text: str, draw: "Callable[[], Figure]", words: int) -> dict[str, Any]:
    return {"title": title, "text": text, "svg": svg_text(draw()) if words <= _MOST_WORDS else None}
