"""The output of `syntax-nmt contrast`: how often models prefer the reference of a pair."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.reporting.findings import Findings, Table
from syntax_nmt.scoring.accuracy import CONFIDENCE, Accuracy, accuracy_figures
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

    return ContrastAccuracy(
        overall=Accuracy(sum(score.right for _, score in scored), len(scored)),
        by_distance=_counted(scored, bin_of),
        by_category=_counted(scored, lambda pair: pair.category),
        ties=sum(score.tie for _, score in scored),
        too_long=len(pairs) - len(scored),
    )


def _counted(
    scored: Sequence[tuple[ContrastivePair, PairScores]],
    group_of: Callable[[ContrastivePair], Any],
) -> dict[Any, Accuracy]:
    """The accuracy of each group of pairs, in order; pairs without a group are in none."""
    decisions: dict[Any, list[bool]] = {}
    for pair, score in scored:
        group = group_of(pair)
        if group is not None:
            decisions.setdefault(group, []).append(score.right)
    return {
        each: Accuracy(sum(decisions[each]), len(decisions[each])) for each in sorted(decisions)
    }


_HEADER = ("model", "pair", "category", "distance", "correct", "incorrect", "right")


@dataclass(frozen=True)
class ScoredModel:
    """A model and its scores.

    Attributes:
        name: in tables.
        path: the checkpoint.
        scores: of each pair; None = too long for the model.
    """

    name: str
    path: str
    scores: list[PairScores | None]


def contrast_findings(
    pairs: Sequence[ContrastivePair], models: Sequence[ScoredModel], bins: Sequence[DistanceBin]
) -> Findings:
    """The figures of several models: a row for each group of pairs, a column for each model.

    Args:
        models: with one score a pair.
    """
    found = [contrast_accuracy(pairs, model.scores, bins) for model in models]
    rows = [["all pairs", *(_cell(figures.overall) for figures in found)]]
    distances = [figures.by_distance for figures in found]
    rows += [[f"distance {key}", *cells] for key, cells in _cells_of_groups(distances)]
    categories = [figures.by_category for figures in found]
    rows += [[str(key), *cells] for key, cells in _cells_of_groups(categories)]
    table = Table(["pairs", *(model.name for model in models)], rows)
    content = {
        "pairs": len(pairs),
        "confidence": CONFIDENCE,
        "models": [_figures(*pair) for pair in zip(models, found)],
    }
    notes = [note for pair in zip(models, found) for note in _notes(*pair)]
    return Findings(content, [table], notes=[*notes, *_LEGEND])


def pair_lines(pairs: Sequence[ContrastivePair], models: Sequence[ScoredModel]) -> Iterator[str]:
    """Tab-separated scores of each pair by each model, empty where there is none."""
    yield "\t".join(_HEADER) + "\n"
    for model in models:
        for number, (pair, score) in enumerate(zip(pairs, model.scores), start=1):
            distance = "" if pair.distance is None else str(pair.distance)
            values = ["", "", ""]
            if score is not None:
                sums = [f"{value:.6f}" for value in (score.correct, score.incorrect)]
                values = [*sums, str(int(score.right))]
            row = [model.name, str(number), pair.category or "", distance, *values]
            yield "\t".join(" ".join(cell.split()) for cell in row) + "\n"


def _figures(model: ScoredModel, figures: ContrastAccuracy) -> dict[str, Any]:
    return {
        "name": model.name,
        "path": model.path,
        **accuracy_figures(figures.overall),
        "ties": figures.ties,
        "pairs_too_long": figures.too_long,
        "by_distance": [
            {"distance": str(each), **asdict(each), **accuracy_figures(part)}
            for each, part in figures.by_distance.items()
        ],
        "by_category": [
            {"category": category, **accuracy_figures(part)}
            for category, part in figures.by_category.items()
        ],
    }


_LEGEND = (
    "accuracy in %, [95 % interval, Wilson], pairs right/all",
    "right = the reference's sum of log-probabilities is higher, a tie is wrong",
)


def _cells_of_groups(models: Sequence[dict[Any, Accuracy]]) -> Iterator[tuple[Any, list[str]]]:
    """Each group that any model has, and a cell a model."""
    for key in sorted({key for groups in models for key in groups}):
        yield key, [_cell(groups.get(key)) for groups in models]


def _cell(accuracy: Accuracy | None) -> str:
    if accuracy is None or not accuracy.total:
        return NO_FIGURE
    low, high = accuracy.interval
    counts = f"{accuracy.correct}/{accuracy.total}"
    return f"{accuracy.percent:.1f} [{low:.1f}, {high:.1f}] {counts}"


def _notes(model: ScoredModel, figures: ContrastAccuracy) -> Iterator[str]:
    if figures.ties:
        cause = "such as pairs that differ in unknown pieces alone"
        yield f"{model.name}: {figures.ties} ties, {cause}"
    if figures.too_long:
        yield f"{model.name}: {figures.too_long} pairs left out, too long for the model"
