"""The output of `syntax-nmt contrast`: how often models prefer the reference of a pair."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.reporting.findings import Findings, Table
from syntax_nmt.reporting.result import CommandResult
from syntax_nmt.scoring.accuracy import CONFIDENCE, Accuracy, AccuracyFigures
from syntax_nmt.scoring.contrast.contrastive_pairs import ContrastivePair


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


@dataclass(kw_only=True)
class DistanceAccuracy(AccuracyFigures):
    """Accuracy on the pairs of some distances, with their bin and its name."""

    distance: str
    least: int
    most: int | None


@dataclass(kw_only=True)
class CategoryAccuracy(AccuracyFigures):
    """Accuracy on the pairs of a category."""

    category: str


@dataclass(kw_only=True)
class ModelAccuracy(AccuracyFigures):
    """How often a model prefers the reference.

    Attributes:
        path: of its checkpoint.
        ties: pairs whose two scores are the same; they count as wrong.
        pairs_too_long: pairs left out, because the model has no positions for them.
        by_distance: of the pairs with a distance, from short to long.
        by_category: of the pairs with a category, in alphabetical order.
    """

    name: str
    path: str
    ties: int
    pairs_too_long: int
    by_distance: list[DistanceAccuracy]
    by_category: list[CategoryAccuracy]

    def notes(self) -> Iterator[str]:
        """What the table omits."""
        if self.ties:
            cause = "such as pairs that differ in unknown pieces alone"
            yield f"{self.name}: {self.ties} ties, {cause}"
        if self.pairs_too_long:
            yield f"{self.name}: {self.pairs_too_long} pairs left out, too long for the model"


@dataclass
class Contrast(CommandResult):
    """The result of `syntax-nmt contrast`.

    Attributes:
        pairs: how many there are.
        confidence: of the intervals.
        models: in the order of the command.
    """

    pairs: int
    confidence: float
    models: list[ModelAccuracy]

    def findings(self, digits: int = 1) -> Findings:
        """A row for each group of pairs, a column for each model."""
        rows = [["all pairs", *(model.cell for model in self.models)]]
        distances = [
            {(part.least, part.distance): part.cell for part in model.by_distance}
            for model in self.models
        ]
        rows += _rows(distances, lambda key: f"distance {key[1]}")
        categories = [
            {part.category: part.cell for part in model.by_category} for model in self.models
        ]
        rows += _rows(categories, str)
        table = Table(["pairs", *(model.name for model in self.models)], rows)
        notes = [note for model in self.models for note in model.notes()]
        return Findings([table], notes=[*notes, *_LEGEND])


def contrast(
    pairs: Sequence[ContrastivePair], models: Sequence[ScoredModel], bins: Sequence[DistanceBin]
) -> Contrast:
    """The accuracy of several models.

    Args:
        models: with one score a pair.
    """
    return Contrast(len(pairs), CONFIDENCE, [_figures(pairs, model, bins) for model in models])


def pair_table(pairs: Sequence[ContrastivePair], models: Sequence[ScoredModel]) -> Table:
    """The scores of each pair by each model, empty where there is none."""
    rows = []
    for model in models:
        for number, (pair, score) in enumerate(zip(pairs, model.scores), start=1):
            distance = "" if pair.distance is None else str(pair.distance)
            values = ["", "", ""]
            if score is not None:
                sums = [f"{value:.6f}" for value in (score.correct, score.incorrect)]
                values = [*sums, str(int(score.right))]
            rows.append([model.name, str(number), pair.category or "", distance, *values])
    return Table(_HEADER, [[" ".join(cell.split()) for cell in row] for row in rows])


def _figures(
    pairs: Sequence[ContrastivePair], model: ScoredModel, bins: Sequence[DistanceBin]
) -> ModelAccuracy:
    found = contrast_accuracy(pairs, model.scores, bins)
    return ModelAccuracy(
        name=model.name,
        path=model.path,
        **_accuracy(found.overall),
        ties=found.ties,
        pairs_too_long=found.too_long,
        by_distance=[
            DistanceAccuracy(distance=str(each), **asdict(each), **_accuracy(part))
            for each, part in found.by_distance.items()
        ],
        by_category=[
            CategoryAccuracy(category=category, **_accuracy(part))
            for category, part in found.by_category.items()
        ],
    )


def _accuracy(counted: Accuracy) -> dict[str, Any]:
    return vars(AccuracyFigures.of(counted))


_LEGEND = (
    "accuracy in %, [95 % interval, Wilson], pairs right/all",
    "right = the reference's sum of log-probabilities is higher, a tie is wrong",
)


def _rows(models: Sequence[dict[Any, str]], named: Callable[[Any], str]) -> list[list[str]]:
    """A row for each group that any model has, with a cell a model."""
    keys = sorted({key for cells in models for key in cells})
    return [[named(key), *(cells.get(key, NO_FIGURE) for cells in models)] for key in keys]
