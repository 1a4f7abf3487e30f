"""Forest plots: of all gains, method by corpus, with the controls in grey beside each and the mean
over corpora; and of the claims of one table."""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.pooled import FEWEST, pooled_mean
from experiments.table_results import (
    GAINS,
    LOSES,
    LOSES_LESS,
    LOSES_MORE,
    ComparedPair,
    FamilyResult,
    TableResult,
)
from syntax_nmt.pictures.plots.figure_file import save_figure
from syntax_nmt.pictures.plots.style import (
    FONT_SIZE,
    axes_in_points,
    figure_in_points,
    picture_style,
    text_width,
)
from syntax_nmt.scoring.translations.seed_tests import variance_of_mean
from syntax_nmt.scoring.translations.significance import FEWEST as FEWEST_SEEDS
from syntax_nmt.scoring.translations.significance import SeedTest

_WIDTH, _ROW, _GAP = 300.0, 13.0, 18.0  # points: of the axis, of a row, between methods
_INDENT = 12.0  # of a corpus; a control's is twice as much
_METHOD, _CONTROL = "black", "0.55"
_METRIC = "bleu"  # of all gains
_GAINS = "difference to the baseline, BLEU; bars: 95 % over seeds and sentences"
_CLAIMS = "difference in {}; bars: 95 % with seeds as blocks\nblack: shown after Holm's adjustment"
_CHANGES = "\nA → B: difference of the changes from test set A to B"


@dataclass(frozen=True)
class Gain:
    """A row: a method, or a control of it, against the baseline; on one corpus, or the mean.

    Attributes:
        method: under which the row stands.
        label: the corpus, or what the control is.
        low: of the interval; None = too few seeds.
        is_shown: whether a claim's test finds it; what is not shown is grey.
        corpus: what stands for the training text; tables of one corpus count once in the mean, and
            those of an unknown one (empty) not at all.
        variance: of the difference over training seeds; None = too few.
    """

    method: str
    label: str
    is_control: bool
    difference: float
    low: float | None
    high: float | None
    is_mean: bool = False
    is_shown: bool = True
    corpus: str = ""
    variance: float | None = None


def draw_gains(results: Path) -> Path | None:
    """Draws `gains.svg` out of the `table.json` of all tables of a folder whose figure is BLEU.

    Returns:
        the file; None if no table has a method with a comparison.
    """
    gains: list[Gain] = []
    for file in sorted(results.glob("*/table.json")):
        table = TableResult.read(file)
        if table.primary == _METRIC:
            gains += gains_of(table)
        elif any(pair.method for test in table.tests for pair in test.pairs):
            print(f"{file}: its figure is {table.primary}: gains.svg, in BLEU, leaves it out")
    if not gains:
        return None
    picture = results / "gains.svg"
    figure = forest_plot(with_means(gains), _GAINS)
    figure.set_label("Gains of the methods, beside their controls")
    save_figure(figure, picture)
    return picture


def draw_claims(file: Path) -> Path | None:
    """Draws `claims.svg` beside the `table.json` of a table that seeds as blocks decide.

    Returns:
        the file; None if another test decides, or no claim has been tested.
    """
    table = TableResult.read(file)
    claims = list(claims_of(table)) if table.decided_by == "blocks" else []
    if not claims:
        return None
    picture = file.with_name("claims.svg")
    label = _CLAIMS.format(table.primary_of(table.tests[0]))
    label += _CHANGES * any(test.changed for test in table.tests)
    figure = forest_plot(claims, label)
    figure.set_label(table.title)
    save_figure(figure, picture)
    return picture


def claims_of(table: TableResult) -> Iterator[Gain]:
    """The declared comparisons of a table on its first test set, under the system of each; then
    those of changes from one test set to another, where it has them."""
    for test in table.tests:
        labels, metric = table.labels(test.family), table.primary_of(test)
        better = test.metrics[metric].higher_is_better
        for pair in (pair for pair in test.pairs if pair.is_tested):
            system, against = labels[pair.system], labels[pair.against]
            over = f"over {against.removeprefix(f'{system}, ')}"
            found, change = pair.scores[metric], pair.change
            if found.blocks is not None and test.test == table.tests[0].test:
                is_shown = found.verdict(better, table.decided_by) in (GAINS, LOSES)
                yield _claim(system, over, found.difference, found.blocks, is_shown)
            if test.changed is not None and change is not None and change.difference is not None:
                is_shown = change.verdict(True, better) in (LOSES_LESS, LOSES_MORE)
                over += f", {test.changed.from_} → {test.test}"
                yield _claim(system, over, change.difference, change.blocks, is_shown)


def _claim(system: str, over: str, difference: float, blocks: SeedTest, is_shown: bool) -> Gain:
    return Gain(system, over, False, difference, blocks.low, blocks.high, is_shown=is_shown)


def gains_of(table: TableResult) -> Iterator[Gain]:
    """The rows of a table, in the order of its comparisons."""
    for test in table.tests:
        several = len({each.test for each in table.tests}) > 1
        corpus = f"{table.title}: {test.test}" if several else table.title
        labels, metric = table.labels(test.family), table.primary_of(test)
        for pair in test.pairs:
            if pair.method:
                found = pair.scores[metric]
                label = labels[pair.system].removeprefix("control, ")
                yield Gain(
                    pair.method,
                    label if pair.is_control else corpus,
                    pair.is_control,
                    found.difference,
                    found.seeds.low,
                    found.seeds.high,
                    corpus=test.corpus or "",
                    variance=_variance(test, pair, metric),
                )


def _variance(test: FamilyResult, pair: ComparedPair, metric: str) -> float | None:
    """Of the difference of two means over seeds."""
    runs = [test.scores[name][metric].runs for name in (pair.system, pair.against)]
    return None if min(map(len, runs)) < FEWEST_SEEDS else sum(map(variance_of_mean, runs))


def with_means(gains: Sequence[Gain]) -> list[Gain]:
    """The same with a last row for each method that enough corpora have seeds for: the mean of
    random effects (:mod:`experiments.pooled`).

    A corpus whose seeds all score the same has no weight in it, and is left out.
    """
    found: list[Gain] = []
    for method in dict.fromkeys(gain.method for gain in gains):
        rows = [gain for gain in gains if gain.method == method]
        found += rows
        corpora: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            if row.corpus and not row.is_control and row.variance:
                corpora.setdefault(row.corpus, []).append((row.difference, row.variance))
        if len(corpora) >= FEWEST:
            # Tables of one corpus tell little more than one of them.
            known = [[statistics.mean(side) for side in zip(*each)] for each in corpora.values()]
            mean = pooled_mean(*zip(*known))
            label = f"mean over {len(known)} corpora"
            found.append(Gain(method, label, False, mean.mean, mean.low, mean.high, is_mean=True))
    return found


def forest_plot(gains: Sequence[Gain], label: str) -> Figure:
    """Methods one below the other; in each a black row a corpus, its controls in grey below it.

    Args:
        label: what the axis and its bars show.
    """
    methods = list(dict.fromkeys(gain.method for gain in gains))
    with picture_style([gain.label for gain in gains]) as families:
        texts = [text for gain in gains for text in (gain.method, gain.label)]
        widest = max(text_width(text, FONT_SIZE, families) for text in texts)
        longest = widest + 3 * _INDENT
        height = len(gains) * _ROW + len(methods) * (_GAP + _ROW)
        figure = figure_in_points(longest + _WIDTH, height)
        axes = axes_in_points(figure, longest, 0, _WIDTH, height)
        axes.set_ylim(height, 0)
        y = 0.0
        for method in methods:
            y += _GAP
            axes.text(-longest / _WIDTH, y, method, weight="bold", va="center", **_beside(axes))
            for gain in (each for each in gains if each.method == method):
                y += _ROW
                _draw_row(axes, gain, y, -longest / _WIDTH)
            y += _ROW
        axes.axvline(0, color="0.3", linewidth=0.6)
        axes.grid(axis="x", color="0.88", linewidth=0.5)
        axes.set_axisbelow(True)
        axes.set_yticks([])
        axes.set_xlabel(label)
        for edge in ("left", "top", "right"):
            axes.spines[edge].set_visible(False)
    return figure


def _draw_row(axes: Axes, gain: Gain, y: float, left: float) -> None:
    colour = _CONTROL if gain.is_control or not gain.is_shown else _METHOD
    place = left + (2 if gain.is_control else 1) * _INDENT / _WIDTH
    axes.text(place, y, gain.label, color=colour, va="center", **_beside(axes))
    if gain.low is not None and gain.high is not None:
        axes.plot([gain.low, gain.high], [y, y], color=colour, linewidth=1.2)
    marker: dict[str, Any] = {"marker": "o" if gain.is_control else "s", "markersize": 4.5}
    if gain.low is None:
        marker["markerfacecolor"] = "white"
    if gain.is_mean:
        marker |= {"marker": "D", "markersize": 6.0}
    axes.plot([gain.difference], [y], color=colour, linestyle="", **marker)


def _beside(axes: Axes) -> dict[str, Any]:
    """Places a text by the width of the axes and the figures of its rows."""
    return {"transform": axes.get_yaxis_transform(), "clip_on": False}
