"""The output of `syntax-nmt contrast`: a table of models, JSON, and each pair's scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.reporting.findings import Findings, Table
from syntax_nmt.scoring.accuracy import CONFIDENCE, Accuracy, accuracy_figures
from syntax_nmt.scoring.contrast.contrast_accuracy import (
    ContrastAccuracy,
    DistanceBin,
    PairScores,
    contrast_accuracy,
)
from syntax_nmt.scoring.contrast.contrastive_pairs import ContrastivePair

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


class ContrastReport:
    """The figures of several models on the same pairs.

    Args:
        models: with one score a pair.
    """

    def __init__(
        self,
        pairs: Sequence[ContrastivePair],
        models: Sequence[ScoredModel],
        bins: Sequence[DistanceBin],
    ) -> None:
        self.pairs = pairs
        self.models = models
        self.figures = [contrast_accuracy(pairs, model.scores, bins) for model in models]

    def findings(self) -> Findings:
        """One row a group of pairs, one column a model: accuracy, interval, counts."""
        rows = [["all pairs", *(_cell(figures.overall) for figures in self.figures)]]
        distances = [figures.by_distance for figures in self.figures]
        categories = [figures.by_category for figures in self.figures]
        rows += [[f"distance {key}", *cells] for key, cells in _cells_of_groups(distances)]
        rows += [[str(key), *cells] for key, cells in _cells_of_groups(categories)]
        notes = [note for pair in zip(self.models, self.figures) for note in _notes(*pair)]
        table = Table(["pairs", *(model.name for model in self.models)], rows)
        return Findings(self._json(), [table], notes=[*notes, *_LEGEND])

    def _json(self) -> dict[str, Any]:
        models = [
            {
                "name": model.name,
                "path": model.path,
                **accuracy_figures(figures.overall),
                "ties": figures.ties,
                "pairs_too_long": figures.too_long,
                "by_distance": [
                    {
                        "distance": str(each),
                        "least": each.least,
                        "most": each.most,
                        **accuracy_figures(part),
                    }
                    for each, part in figures.by_distance.items()
                ],
                "by_category": [
                    {"category": category, **accuracy_figures(part)}
                    for category, part in figures.by_category.items()
                ],
            }
            for model, figures in zip(self.models, self.figures)
        ]
        return {"pairs": len(self.pairs), "confidence": CONFIDENCE, "models": models}

    def tsv(self) -> Iterator[str]:
        """Lines of each model's scores of each pair, counted from 1, empty where there is none."""
        yield "\t".join(_HEADER) + "\n"
        for model in self.models:
            for number, (pair, score) in enumerate(zip(self.pairs, model.scores), start=1):
                distance = "" if pair.distance is None else str(pair.distance)
                values = ["", "", ""]
                if score is not None:
                    sums = [f"{value:.6f}" for value in (score.correct, score.incorrect)]
                    values = [*sums, str(int(score.right))]
                row = [model.name, str(number), pair.category or "", distance, *values]
                yield "\t".join(" ".join(cell.split()) for cell in row) + "\n"


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
