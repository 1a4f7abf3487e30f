"""What dependency and constituency trees share: a corpus of them, and a report about it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from syntax_nmt.data.text_columns import share_text
from syntax_nmt.reporting.findings import Findings
from syntax_nmt.reporting.result import Result

SentenceT = TypeVar("SentenceT", bound=Any)  # has a `tree`, None where there is none


@dataclass
class TreeCorpus(Generic[SentenceT]):
    """Sentences whose trees are made while one runs through them.

    Attributes:
        sentences: how many there are.
        trees: makes their trees anew, in order.
        unknown_tokens: sentences whose words are not sure, as they have unknown subwords.
        balanced: in percent, how many lines of a model that writes trees are whole ones; None =
            trees are not written as text.
        why_none: why sentences have no tree, for a note.
    """

    sentences: int
    trees: Callable[[], Iterator[SentenceT]]
    unknown_tokens: int = field(default=0, kw_only=True)
    balanced: float | None = field(default=None, kw_only=True)
    why_none: str = field(default="empty or too long", kw_only=True)

    def __len__(self) -> int:
        return self.sentences

    def __iter__(self) -> Iterator[SentenceT]:
        return self.trees()

    def notes(self) -> Iterator[str]:
        """What to say of balanced trees, and of words that are not sure, if there are any."""
        if self.balanced is not None:
            yield f"balanced trees {share_text(self.balanced / 100)}"
        if self.unknown_tokens:
            yield (
                f"{self.unknown_tokens} with unknown subwords, whose words may be split wrongly: "
                "give --segmented"
            )


@dataclass(kw_only=True)
class TreeFigures(Result):
    """The result of `syntax-nmt trees` without gold.

    Attributes:
        sentences: of the corpus.
        sentences_without_tree: whose gold counts as not found.
        balanced_trees: as of :class:`TreeCorpus`, `balanced`.
    """

    sentences: int
    sentences_without_tree: int
    balanced_trees: float | None = None


class TreeReport(ABC, Generic[SentenceT]):
    """Collects the trees of a corpus as they come; what is not scored or drawn is not kept.

    Args:
        drawn: the sentences to draw, counted from 1.
    """

    def __init__(self, drawn: Collection[int]) -> None:
        self.drawn = drawn
        self.sentences = 0
        self.without_tree = 0
        self._drawings: list[tuple[int, SentenceT]] = []

    def add(self, sentence: SentenceT) -> None:
        """Takes the next sentence."""
        self._score(sentence)
        self.sentences += 1
        self.without_tree += sentence.tree is None
        if self.sentences in self.drawn:
            self._drawings.append((self.sentences, sentence))

    def drawings(self, colour: bool) -> str:
        """The chosen trees, one below the other.

        Args:
            colour: mark in red as well.
        """
        return "\n".join(self._drawing(*item, colour) for item in self._drawings)

    def tree_figures(self, balanced: float | None) -> TreeFigures:
        """What is known without gold."""
        return TreeFigures(
            sentences=self.sentences,
            sentences_without_tree=self.without_tree,
            balanced_trees=balanced,
        )

    @abstractmethod
    def report(self) -> tuple[TreeFigures, Findings]:
        """The figures; and for readers tables, and what they leave out."""

    @abstractmethod
    def _score(self, sentence: SentenceT) -> None:
        """Counts the next sentence; :attr:`sentences` come before it."""

    @abstractmethod
    def _drawing(self, number: int, sentence: SentenceT, colour: bool) -> str:
        """A tree as text, with what is wrong in it marked."""
