"""The answers of trained systems to the page and to programs."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from syntax_nmt.backbone.structures import CHUNKED, DEPENDENCIES
from syntax_nmt.data.annotation import COLUMNS
from syntax_nmt.data.typed_words import typed_words
from syntax_nmt.errors import UserError
from syntax_nmt.inference.model import LoadedModel
from syntax_nmt.inference.results import ScoredTranslation
from syntax_nmt.pictures.plots.chunk_strips import draw_chunks
from syntax_nmt.pictures.plots.figure_file import svg_text
from syntax_nmt.pictures.report_page.structure_pictures import DRAWN
from syntax_nmt.reporting.result import Result
from syntax_nmt.scoring.chunks.chunk_report import bracketed
from syntax_nmt.task.hypothesis_factors import WORDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class WordValues(Result):
    """Values of the words of a sentence, such as tags that a model reads or predicts.

    Attributes:
        names: of the values.
        words: each word, and its values in the order of the names.
    """

    title: str
    names: list[str]
    words: list[list[str]]


@dataclass(frozen=True)
class TranslatedSentence(Result):
    """A sentence and its translation.

    Attributes:
        factors: of the translation's words, as predicted; None if the model has no target factors.
    """

    source: str
    translation: str
    factors: WordValues | None = None


@dataclass(frozen=True)
class Translations(Result):
    """Translations of a system, with the seconds that they took."""

    system: str
    sentences: list[TranslatedSentence]
    seconds: float

    def __add__(self, later: "Translations") -> "Translations":
        seconds = round(self.seconds + later.seconds, 3)
        return Translations(self.system, [*self.sentences, *later.sentences], seconds)


@dataclass(frozen=True)
class DrawnStructure(Result):
    """A structure of a sentence.

    Attributes:
        text: says what it is.
        svg: its drawing; None where a sentence has more than 100 words, whose drawing would take
            many seconds and gigabytes.
    """

    title: str
    text: str
    svg: str | None


@dataclass(frozen=True)
class AttendedWords(Result):
    """Attention to the words of a sentence.

    Attributes:
        source: its words.
        target: those of its translation.
        weights: of each word of the target, those of the source.
    """

    source: list[str]
    target: list[str]
    weights: list[list[float]]


@dataclass(frozen=True)
class SentenceStructures(Result):
    """What a system reads and finds of a sentence and its translation.

    Attributes:
        features: of the source's words, as the model reads them; None if it reads none.
        attention: None if there are no words on a side.
    """

    system: str
    structures: list[DrawnStructure]
    features: WordValues | None
    attention: AttendedWords | None


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

    def translate(self, sentences: Sequence[str]) -> Translations:
        """Translations, with the seconds that they took.

        Args:
            sentences: raw text.

        Raises:
            UserError: a sentence is too long, or the model lacks an input.
        """
        start = time.perf_counter()
        found = self.model.nbest(list(sentences), self.beam)
        pairs = [_translated(source, best) for source, (best, *_) in zip(sentences, found)]
        return Translations(self.name, pairs, round(time.perf_counter() - start, 3))

    def structures(self, source: str, translation: str) -> SentenceStructures:
        """The structures of one sentence and its translation; their words are as in the texts.

        Args:
            source: raw text.
            translation: raw text; with another one it is that one's structures.

        Raises:
            UserError: a text is too long, or the model lacks an input.
        """
        attention, found = None, []
        if source and translation:
            attention = self._attention(source, translation)
            found = [each for each in self._structures(source, translation) if each]
        return SentenceStructures(self.name, found, self._features(source), attention)

    def _attention(self, source: str, translation: str) -> AttendedWords | None:
        attended = self.model.attention(source, translation)
        if attended is None:
            raise UserError(
                "the sentence or its translation has more tokens than the model takes: shorten it"
            )
        if not attended.weights.size:  # of characters that the segmentation leaves out
            return None
        return AttendedWords(
            list(typed_words(attended.source, source)),
            list(typed_words(attended.target, translation)),
            attended.weights.round(3).tolist(),
        )

    def _structures(self, source: str, translation: str) -> Iterator[DrawnStructure | None]:
        """What the model reads, then what it finds; None where there is no tree."""
        for kind in self.model.reads:
            yield _drawn_tree(f"{kind}, as parsed", kind, self.model.parses(source, kind), source)
        for kind in self.model.structures:
            if kind == CHUNKED:
                yield self._drawn_chunks(source, translation)
            else:
                yield _drawn_tree(kind, kind, self.model.trees(source, kind), source)

    def _features(self, source: str) -> WordValues | None:
        names = self.model.features
        tree = self.model.parses(source, DEPENDENCIES) if names and source else None
        if tree is None:
            return None
        columns = [column for column in COLUMNS if column.name in names]
        values = {column.name: column.values(tree) for column in columns}
        return _word_values("features as parsed", tree.words, values, source)

    def _drawn_chunks(self, source: str, translation: str) -> DrawnStructure | None:
        chunked = self.model.chunks(source, translation)
        if chunked is None:
            return None
        words = typed_words(chunked.words, translation)
        draw = partial(draw_chunks, words, {self.name: chunked.chunks})
        return _drawn(CHUNKED, bracketed(chunked.chunks, words), draw, len(words))


_MOST_WORDS = 100  # of a sentence that is drawn
_KINDS: Mapping[str, Any] = {kind.title: kind for kind in DRAWN}


def _translated(source: str, best: ScoredTranslation) -> TranslatedSentence:
    values = dict(best.factors)
    forms = values.pop(WORDS, ())
    factors = _word_values("factors as predicted", forms, values, best.text) if values else None
    return TranslatedSentence(source, best.text, factors)


def _word_values(
    title: str, words: Sequence[str], values: Mapping[str, Sequence[str]], typed: str
) -> WordValues:
    """Columns of values, with the words as they stand in the text."""
    rows = zip(typed_words(words, typed), *values.values())
    return WordValues(title, list(values), list(map(list, rows)))


def _drawn_tree(title: str, kind: str, tree: Any, source: str) -> DrawnStructure | None:
    if tree is None:
        return None
    tree = replace(tree, words=typed_words(tree.words, source))
    draw = partial(_KINDS[kind].draw, tree, None)
    return _drawn(title, _KINDS[kind].text(tree), draw, len(tree.words))


def _drawn(title: str, text: str, draw: "Callable[[], Figure]", words: int) -> DrawnStructure:
    return DrawnStructure(title, text, svg_text(draw()) if words <= _MOST_WORDS else None)
