"""What `score` and `compare` find of a system by a metric, and its cell in a table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.reporting.result import Result
from syntax_nmt.scoring.translations.linearised_output import balanced_note
from syntax_nmt.scoring.translations.metrics import MetricDescription
from syntax_nmt.scoring.translations.resampling import Interval
from syntax_nmt.scoring.translations.sign_test import SignTest
from syntax_nmt.scoring.translations.significance import (
    FEWEST,
    DifferenceTest,
    ResampledTest,
    SeedTest,
)

TEST_COLUMNS = {
    "bootstrap": ("p boot", "paired bootstrap"),
    "randomisation": ("p rand", "approximate randomisation"),
    "sign_test": ("p sign", "sign test of Collins et al."),
    "seeds": ("p seeds", f"Welch's t over training seeds, {FEWEST} or more of both"),
    "blocks": ("p blocks", f"moderated t with seeds as blocks, {FEWEST} or more of both"),
}
"""The tests of a difference, as its fields are named: their columns in tables, and the meaning."""
INTERVAL = "95 %"
"""The column of intervals of differences."""


Metrics = Mapping[str, MetricDescription]


def column_of(metrics: Metrics, name: str) -> str:
    """A metric in the head of a table: an arrow says where less is better."""
    return name if metrics[name].higher_is_better else f"{name} ↓"


def signature_lines(metrics: Metrics) -> list[str]:
    """A line for each metric: its name and signature."""
    return [f"{name}: {metric.signature}" for name, metric in metrics.items()]


@dataclass
class Score(Result):
    """A score of a system, the mean over its runs.

    Attributes:
        score: None where there is nothing to score.
        spread: standard deviation over runs; None of a single one.
        interval: of the mean over test sets; None where none was asked for.
    """

    score: float | None
    spread: float | None
    interval: Interval | None


@dataclass
class ComparedScore(Result):
    """A score of a system, its difference from the baseline's, and the tests of the difference.

    Attributes:
        score: the mean over runs; None where there is nothing to score.
        spread: standard deviation over runs; None of a single one.
        runs: the score of each; none where there is nothing to score.
        difference: from the baseline; None of the baseline itself, and where one has no score.
        interval: of the mean over test sets; None without the bootstrap.
        bootstrap: a test over sentences; None where it was not asked for, as are all tests.
        seeds: Welch's test over training seeds.
        blocks: the same with seeds as blocks.
        randomisation: a test over sentences.
        sign_test: of Collins et al.
    """

    score: float | None
    spread: float | None
    runs: list[float]
    difference: float | None = None
    interval: Interval | None = None
    bootstrap: ResampledTest | None = None
    seeds: SeedTest | None = None
    blocks: SeedTest | None = None
    randomisation: ResampledTest | None = None
    sign_test: SignTest | None = None

    def tests(self) -> dict[str, DifferenceTest]:
        """Those that were made, in the order of tables."""
        found = {name: getattr(self, name) for name in TEST_COLUMNS}
        return {name: test for name, test in found.items() if test is not None}

    @property
    def over_seeds(self) -> SeedTest | None:
        """The test whose interval of the difference is shown: Welch's, or else that of blocks."""
        return self.blocks if self.seeds is None else self.seeds


@dataclass
class ScoredSystem(Result):
    """A system and its scores; subclasses say which.

    Attributes:
        name: in tables.
        files: the translations of each run.
        balanced_trees: in percent, how many lines of each run are whole trees; None of systems
            that write no trees.
    """

    name: str
    files: list[str]
    scores: Mapping[str, Score] | Mapping[str, ComparedScore]
    balanced_trees: list[float] | None = None


def balanced_notes(systems: Sequence[ScoredSystem]) -> Iterator[str]:
    """A line for each system that writes trees."""
    for system in systems:
        if system.balanced_trees:
            yield balanced_note(system.name, system.balanced_trees)


def score_cell(score: Score | ComparedScore, digits: int) -> str:
    """A score with what is known about its certainty: `35.9 ±1.2 sd 0.3`.

    Args:
        digits: after the point.
    """
    if score.score is None:
        return NO_FIGURE
    cell = f"{score.score:.{digits}f}"
    if score.interval is not None:
        cell += f" ±{score.interval.half_width:.{digits}f}"
    if score.spread is not None:
        cell += f" sd {score.spread:.{digits}f}"
    return cell


def have_intervals(scores: Iterable[ComparedScore]) -> bool:
    """Whether a test over seeds gave an interval of a difference."""
    made = (score.over_seeds for score in scores)
    return any(test is not None and test.low is not None for test in made)


def difference_cells(
    names: Sequence[str], pairs: Sequence[tuple[ComparedScore, ComparedScore]], digits: int
) -> list[list[str]]:
    """Columns of a table whose p-values are adjusted over its rows: both scores, Δ, Holm's p.

    Args:
        names: of the baseline and of a system.
        pairs: for each row the score of the baseline and that of the system.
        digits: after the point.

    Returns:
        The head, then the rows.
    """
    made = {test for _, score in pairs for test in score.tests()}
    tests = [test for test in TEST_COLUMNS if test in made]
    lines = [[*names, "Δ", *(TEST_COLUMNS[test][0] for test in tests)]]
    for baseline, score in pairs:
        scores = [
            NO_FIGURE if each.score is None else f"{each.score:.{digits}f}"
            for each in (baseline, score)
        ]
        found = score.tests()
        p_values = [found[t].marked_p_holm() if t in found else NO_FIGURE for t in tests]
        lines.append([*scores, difference_text(score, digits), *p_values])
    return lines


def difference_text(score: ComparedScore, digits: int) -> str:
    """The difference from the baseline.

    Args:
        digits: after the point.
    """
    return NO_FIGURE if score.difference is None else signed(score.difference, digits)


def interval_text(test: SeedTest, digits: int) -> str:
    """The interval of a difference: `+0.3 to +2.1`.

    Args:
        digits: after the point.
    """
    if test.low is None or test.high is None:
        return NO_FIGURE
    return f"{signed(test.low, digits)} to {signed(test.high, digits)}"


def signed(value: float, digits: int) -> str:
    """A difference with its sign; none where it rounds to 0.

    Args:
        digits: after the point.
    """
    text = f"{value:+.{digits}f}"
    return text if float(text) else text[1:]
