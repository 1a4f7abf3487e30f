"""How often a model prefers the reference of a contrastive pair: by distance, by category."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from syntax_nmt.scoring.accuracy import Accuracy
from syntax_nmt.scoring.contrast.contrastive_pairs import ContrastivePair

DEFAULT_BINS = (0, 1, 2, 3, 4, 6, 8, 11, 15)


@dataclass(frozen=True)
class PairScores:
    """A model's scores of the two translations of a pair: sums of natural log-probabilities.

    Attributes:
        correct: of the reference.
        incorrect: of the translation with an error.
    """

    correct: float
    incorrect: float

    @property
    def right(self) -> bool:
        """Whether the reference scores higher. A tie is wrong."""
        return self.correct > self.incorrect

    @property
    def tie(self) -> bool:
        """Whether both score the same, such as where they are the same tokens to the model."""
        return self.correct == self.incorrect


@dataclass(frozen=True, order=True)
class DistanceBin:
    """Distances that are counted together.

    Attributes:
        least: the smallest of them, in words.
        most: the largest; None = no limit.
    """

    least: int
    most: int | None

    def __str__(self) -> str:
        if self.most is None:
            return f"≥{self.least}"
        return str(self.least) if self.most == self.least else f"{self.least}–{self.most}"


@dataclass(frozen=True)
class ContrastAccuracy:
    """The figures of one model.

    Attributes:
        overall: of all pairs.
        by_distance: of the pairs with a distance, in the order of the distances.
        by_category: of the pairs with a category, in alphabetical order.
        ties: pairs whose two scores are the same; they count as wrong.
        too_long: pairs excluded, because the model has no positions for them.
    """

    overall: Accuracy
    by_distance: dict[DistanceBin, Accuracy]
    by_category: dict[str, Accuracy]
    ties: int
    too_long: int


def distance_bins(least: Sequence[int]) -> list[DistanceBin]:
    """Bins without gaps that begin with 0 and have no end.

    Args:
        least: the smallest distance of each, rising; 0 is added where it is not the first.
    """
    starts = list(least) if least and least[0] == 0 else [0, *least]
    ends = [start - 1 for start in starts[1:]]
    return [DistanceBin(start, end) for start, end in zip(starts, [*ends, None])]


def contrast_accuracy(
    pairs: Sequence[ContrastivePair],
    scores: Sequence[PairScores | None],
    bins: Sequence[DistanceBin],
) -> ContrastAccuracy:
    """Counts the pairs whose reference scores higher.

    Args:
        scores: of each pair; None = too long for the model, left out.
        bins: of distances, from 0 upwards without gaps. Bins without pairs are omitted.

    Raises:
        ValueError: another number of scores than of pairs.
    """
    both = zip(pairs, scores, strict=True)
    scored = [(pair, score) for pair, score in both if score is not None]
    starts = [each.least for each in bins]

    def bin_of(pair: ContrastivePair) -> DistanceBin | None:
        return None if pair.distance is None else bins[bisect_right(starts, pair.distance) - 1]

    by_distance = _counted(scored, bin_of)
    by_category = _counted(scored, lambda pair: pair.category)
    return ContrastAccuracy(
        overall=Accuracy(sum(score.right for _, score in scored), len(scored)),
        by_distance={each: by_distance[each] for each in bins if each in by_distance},
        by_category={name: by_category[name] for name in sorted(by_category)},
        ties=sum(score.tie for _, score in scored),
        too_long=len(pairs) - len(scored),
    )


def _counted(
    scored: Sequence[tuple[ContrastivePair, PairScores]],
    group_of: Callable[[ContrastivePair], Hashable | None],
) -> dict:
    """The accuracy of each group of pairs; pairs without a group are in none."""
    decisions: dict[Hashable, list[bool]] = {}
    for pair, score in scored:
        group = group_of(pair)
        if group is not None:
            decisions.setdefault(group, []).append(score.right)
    return {group: Accuracy(sum(right), len(right)) for group, right in decisions.items()}
