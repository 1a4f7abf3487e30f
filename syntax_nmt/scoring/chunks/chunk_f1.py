"""Chunk F1 as conlleval, the scorer of CoNLL-2000, computes it.

A predicted chunk is correct when a gold chunk has its type, its first and its last word (Tjong Kim
Sang and Buchholz 2000, section 3). Words outside chunks count only in the accuracy of tags.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Union

from syntax_nmt.data.chunks import OUTSIDE, Chunk, chunks_of_tags, iob2_tags
from syntax_nmt.data.text_columns import decimal_text
from syntax_nmt.reporting.findings import Table
from syntax_nmt.reporting.result import Result
from syntax_nmt.scoring.accuracy import PrecisionRecall, percent

# A sentence: its chunks, or one tag a word.
Chunked = Union[Sequence[Chunk], Sequence[str]]


@dataclass(frozen=True)
class PhraseScore(PrecisionRecall):
    """Numbers of chunks and of correct chunks; shares in percent, 0 without chunks.

    Attributes:
        gold: chunks of the reference.
        predicted: chunks of the hypothesis.
        correct: chunks of both.
    """

    gold: int
    predicted: int
    correct: int
    of_nothing: ClassVar[float] = 0.0


@dataclass
class PhraseFigures(Result):
    """A score as results have it: shares in percent, and the counts of a :class:`PhraseScore`."""

    f1: float
    precision: float
    recall: float
    correct: int
    predicted: int
    gold: int

    @classmethod
    def of(cls, score: PhraseScore) -> "PhraseFigures":
        """The figures of a score."""
        shares = score.f1, score.precision, score.recall
        return cls(*shares, score.correct, score.predicted, score.gold)


@dataclass
class TagFigures(Result):
    """The accuracy of tags, in percent; words with the tag of the reference, and all words."""

    accuracy: float
    correct: int
    total: int


@dataclass
class ChunkF1(PhraseFigures):
    """The score of all types together.

    Attributes:
        tags: accuracy of tags.
        types: the score of each type, by name.
    """

    tags: TagFigures
    types: dict[str, PhraseFigures]


@dataclass(frozen=True)
class ChunkScores:
    """Counts over a corpus.

    Attributes:
        words: of the corpus.
        correct_tags: words with the tag of the reference.
        types: the score of each type of chunk, by name.
    """

    words: int
    correct_tags: int
    types: Mapping[str, PhraseScore]

    @property
    def overall(self) -> PhraseScore:
        """All types together, micro-averaged."""
        scores = self.types.values()
        return PhraseScore(
            sum(score.gold for score in scores),
            sum(score.predicted for score in scores),
            sum(score.correct for score in scores),
        )

    @property
    def accuracy(self) -> float:
        """Share of words with the right tag, in percent."""
        return percent(self.correct_tags, self.words, of_nothing=0.0)

    def figures(self) -> "ChunkF1":
        """The scores of all types and of each, and the accuracy of tags."""
        types = {name: PhraseFigures.of(score) for name, score in sorted(self.types.items())}
        tags = TagFigures(self.accuracy, self.correct_tags, self.words)
        return ChunkF1(**vars(PhraseFigures.of(self.overall)), tags=tags, types=types)

    def table(self) -> Table:
        """A row for each type, then one for all together."""
        head = ["type", "precision", "recall", "F1", "gold", "predicted", "correct"]
        rows = [_row(name, score) for name, score in sorted(self.types.items())]
        title = f"accuracy of tags {self.accuracy:.2f} ({self.correct_tags} of {self.words})"
        return Table(head, [*rows, _row("all", self.overall)], title)


def chunk_f1(gold: Iterable[Chunked], predicted: Iterable[Chunked]) -> ChunkScores:
    """Scores the chunks of a corpus.

    Args:
        gold: one sentence after the other, each as chunks or as tags in any scheme that
            :func:`~syntax_nmt.data.chunks.chunks_of_tags` reads.
        predicted: likewise, over the same words. For the accuracy of tags, tags in another scheme
            than that of `gold` count as wrong; chunks count as IOB2.

    Raises:
        ValueError: another number of sentences, or of words in one.
    """
    in_gold, in_predicted, in_both = (Counter[str]() for _ in range(3))
    words = correct_tags = 0
    for one, other in zip(gold, predicted, strict=True):
        gold_tags, predicted_tags = _tags(one), _tags(other)
        words += len(gold_tags)
        correct_tags += sum(a == b for a, b in zip(gold_tags, predicted_tags, strict=True))
        gold_chunks, predicted_chunks = _chunks(gold_tags), _chunks(predicted_tags)
        in_gold.update(chunk.tag for chunk in gold_chunks)
        in_predicted.update(chunk.tag for chunk in predicted_chunks)
        in_both.update(chunk.tag for chunk in gold_chunks & predicted_chunks)
    types = {
        name: PhraseScore(in_gold[name], in_predicted[name], in_both[name])
        for name in in_gold | in_predicted
    }
    return ChunkScores(words, correct_tags, types)


def _tags(sentence: Chunked) -> Sequence[str]:
    if sentence and isinstance(sentence[0], Chunk):
        return iob2_tags(sentence)  # type: ignore[arg-type]
    return sentence  # type: ignore[return-value]


def _chunks(tags: Sequence[str]) -> set[Chunk]:
    return {chunk for chunk in chunks_of_tags(tags) if chunk.tag != OUTSIDE}


def _row(name: str, score: PhraseScore) -> list[str]:
    shares = [decimal_text(share) for share in (score.precision, score.recall, score.f1)]
    return [name, *shares, str(score.gold), str(score.predicted), str(score.correct)]
