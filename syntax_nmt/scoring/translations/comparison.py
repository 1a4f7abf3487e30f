"""The output of `syntax-nmt compare`: figures for JSON, and tables."""

# The figures; ? = where there is one. `cut` and `words_by` are of scoring.evaluation.
#   sentences, references: [name], baseline: name
#   metrics: {metric: {signature, higher_is_better, more_digits}}
#   systems, the baseline first: [{name, files: [path], balanced_trees?: [percent], scores}]
#     scores: {metric: {score, spread, runs: [score], interval?: {mean, low, high, half_width},
#       and of all but the baseline: difference,
#       bootstrap?, randomisation?: {p_value, floor, p_holm?},
#       sign_test?: {p_value, better, worse, equal, p_holm?},
#       seeds?: {p_value, degrees, low, high, seeds: [baseline's, system's], p_holm?},
#       blocks?: {p_value, degrees, low, high, seeds: [that both have], p_holm?}}}
#   cut?: of LengthLimit.figures; words_by?: of compare_words

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import mean
from typing import Any

import numpy as np

from syntax_nmt.data.text_columns import NO_FIGURE
from syntax_nmt.reporting.findings import Findings, Table
from syntax_nmt.scoring.translations.block_test import SeedBlocks
from syntax_nmt.scoring.translations.corpus_measures import CorpusMeasures
from syntax_nmt.scoring.translations.holm import holm
from syntax_nmt.scoring.translations.lengths import longer_text
from syntax_nmt.scoring.translations.linearised_output import balanced_notes
from syntax_nmt.scoring.translations.metrics import MetricSet
from syntax_nmt.scoring.translations.resampling import (
    RESAMPLES,
    SEED,
    TRIALS,
    bootstrap_p_value,
    bootstrap_scores,
    interval,
    randomisation_p_values,
)
from syntax_nmt.scoring.translations.seed_tests import FEWEST, seed_test, spread
from syntax_nmt.scoring.translations.sign_test import collins_sign_test
from syntax_nmt.scoring.translations.test_set import System, TestSet
from syntax_nmt.scoring.translations.text_tables import (
    SIGNIFICANT,
    interval_text,
    marked_p,
    metric_name,
    score_cell,
    signature_lines,
    signed,
)

# As `--tests` names them. In figures their keys are the same, except `sign_test` for `sign`.
USUAL_TESTS = ("bootstrap", "randomisation", "sign", "seeds")
BOOTSTRAP, RANDOMISATION, SIGN, SEEDS = USUAL_TESTS
BLOCKS = "blocks"
TESTS = (*USUAL_TESTS, BLOCKS)
# Column heads of tests in tables, and their meaning.
TEST_COLUMNS = {
    "bootstrap": ("p boot", "paired bootstrap"),
    "randomisation": ("p rand", "approximate randomisation"),
    "sign_test": ("p sign", "sign test of Collins et al."),
    "seeds": ("p seeds", f"Welch's t over training seeds, {FEWEST} or more of both"),
    "blocks": ("p blocks", f"moderated t with seeds as blocks, {FEWEST} or more of both"),
}
_OVER_SEEDS = ("seeds", "blocks")
INTERVAL = "95 %"
_LEAST_BLEU = 2  # below, a translation shares no sentence structure with its reference
_SIGNS = "better/worse/equal"


@dataclass(frozen=True)
class SignificanceTests:
    """The tests of differences, and their parameters.

    Attributes:
        names: some of :data:`TESTS`.
        resamples: of the bootstrap, and of the interval over seeds and sentences.
        trials: of approximate randomisation, at most.
        seed: of both.
        enough: as of :func:`randomisation_p_values`.
    """

    names: tuple[str, ...] = USUAL_TESTS
    resamples: int = RESAMPLES
    trials: int = TRIALS
    seed: int = SEED
    enough: int | None = None

    def signature(self) -> dict[str, object]:
        """The parameters of the p-values, under sacrebleu's names."""
        found: dict[str, object] = {}
        if self.draws_sentences:
            found["bs"] = self.resamples
        if RANDOMISATION in self.names:
            found["ar"] = self.trials
        return {**found, "seed": self.seed} if found else {}

    @property
    def draws_sentences(self) -> bool:
        """Whether a test needs scores on resampled test sets."""
        return BOOTSTRAP in self.names or SEEDS in self.names


def comparison_figures(
    metrics: MetricSet,
    test_set: TestSet,
    statistics: Sequence[Sequence[np.ndarray]],
    tests: SignificanceTests,
) -> dict[str, Any]:
    """All figures, as objects that JSON knows.

    Args:
        test_set: the texts; the first system is the baseline.
        statistics: of sentences, by system and run (sentences × statistics).
    """
    systems = scored_systems(metrics, test_set.systems, statistics)
    add_tests(metrics, systems, statistics, tests)
    _adjust(systems[1:])
    return {
        "sentences": test_set.sentences,
        "references": [reference.name for reference in test_set.references],
        "baseline": systems[0]["name"],
        "metrics": metrics.figures(**tests.signature()),
        "systems": systems,
    }


def scored_systems(
    measures: CorpusMeasures, systems: Sequence[System], statistics: Sequence[Sequence[np.ndarray]]
) -> list[dict[str, Any]]:
    """The scores of each system by measure, and their differences from the first system's.

    Args:
        statistics: of sentences, by system and run (sentences × statistics).
    """
    found: list[dict[str, Any]] = []
    for system, of_system in zip(systems, statistics):
        scores = {
            name: {"score": mean(of_runs), "spread": spread(of_runs), "runs": of_runs}
            for name, of_runs in measures.run_scores(of_system).items()
        }
        found.append(system.figures(scores))
    for other in found[1:]:
        for name, item in other["scores"].items():
            item["difference"] = item["score"] - found[0]["scores"][name]["score"]
    return found


def add_tests(
    measures: CorpusMeasures,
    systems: Sequence[dict[str, Any]],
    statistics: Sequence[Sequence[np.ndarray]],
    tests: SignificanceTests,
) -> None:
    """Adds the tests of each difference, and intervals.

    Args:
        systems: as :func:`scored_systems` gives them.
        statistics: of sentences, by system and run (sentences × statistics).
    """
    if tests.draws_sentences:
        drawn = [
            bootstrap_scores(of_system, measures.score_rows, tests.resamples, tests.seed)
            for of_system in statistics
        ]
        if BOOTSTRAP in tests.names:
            _add_bootstrap(systems, [of_system.mean(axis=1) for of_system in drawn])
        if SEEDS in tests.names:
            _add_seeds(systems, drawn)
    if BLOCKS in tests.names:
        _add_blocks(systems)
    if RANDOMISATION in tests.names:
        _add_randomisation(measures, systems, statistics, tests)
    if SIGN in tests.names:
        _add_sign_test(measures, systems, statistics)


def _adjust(systems: Sequence[dict[str, Any]]) -> None:
    """Adds `p_holm` if several systems are compared: adjusted over them, by metric and test."""
    if len(systems) < 2:
        return
    for name, scores in systems[0]["scores"].items():
        for test in (test for test in TEST_COLUMNS if test in scores):
            items = [system["scores"][name][test] for system in systems]
            known = [item for item in items if item["p_value"] is not None]
            for item, p_value in zip(known, holm([item["p_value"] for item in known])):
                item["p_holm"] = p_value


def _add_bootstrap(systems: Sequence[dict[str, Any]], drawn: Sequence[np.ndarray]) -> None:
    """Adds p-values, and intervals of scores.

    Args:
        drawn: of each system, mean scores of its runs on resampled test sets (resamples × metrics).
    """
    for system, found in zip(systems, drawn):
        for i, item in enumerate(system["scores"].values()):
            item["interval"] = interval(found[:, i])
            if system is not systems[0]:
                p_value = bootstrap_p_value(drawn[0][:, i], found[:, i], item["difference"])
                floor = 1 / (len(found) + 1)
                item["bootstrap"] = {"p_value": p_value, "floor": floor}


def _add_seeds(systems: Sequence[dict[str, Any]], drawn: Sequence[np.ndarray]) -> None:
    """Adds p-values over seeds, and intervals of differences.

    Args:
        drawn: of each system, scores on resampled test sets (resamples × runs × metrics).
    """
    for system, of_system in zip(systems[1:], drawn[1:]):
        for i, (name, item) in enumerate(system["scores"].items()):
            baseline = systems[0]["scores"][name]["runs"]
            found = seed_test(baseline, item["runs"], drawn[0][:, :, i], of_system[:, :, i])
            item["seeds"] = {**asdict(found), "seeds": list(found.seeds)}


def _add_blocks(systems: Sequence[dict[str, Any]]) -> None:
    """Adds p-values over seeds that are blocks: runs at the same place have the same seed."""
    for name in systems[0]["scores"]:
        runs = [dict(enumerate(system["scores"][name]["runs"])) for system in systems]
        blocks = SeedBlocks(runs)
        for place, system in enumerate(systems[1:], start=1):
            system["scores"][name]["blocks"] = blocks.test(0, place).figures()


def _add_randomisation(
    measures: CorpusMeasures,
    systems: Sequence[dict[str, Any]],
    statistics: Sequence[Sequence[np.ndarray]],
    tests: SignificanceTests,
) -> None:
    for system, of_system in zip(systems[1:], statistics[1:]):
        found = randomisation_p_values(
            statistics[0],
            of_system,
            measures.score_rows,
            tests.trials,
            tests.seed,
            tests.enough,
        )
        for item, p_value in zip(system["scores"].values(), found.tolist()):
            item["randomisation"] = {"p_value": p_value, "floor": 1 / (tests.trials + 1)}


def _add_sign_test(
    measures: CorpusMeasures,
    systems: Sequence[dict[str, Any]],
    statistics: Sequence[Sequence[np.ndarray]],
) -> None:
    for system, of_system in zip(systems[1:], statistics[1:]):
        for name, item in system["scores"].items():
            columns = measures.columns(name)
            found = collins_sign_test(
                [run[:, columns] for run in statistics[0]],
                [run[:, columns] for run in of_system],
                partial(measures.score, name),
                measures.higher_is_better(name),
            )
            item["sign_test"] = {**asdict(found), "p_value": found.p_value}


def comparison_findings(figures: dict[str, Any], digits: int) -> Findings:
    """A table for each metric, and the signatures.

    Args:
        figures: as :func:`comparison_figures` gives them.
        digits: after the point of scores.
    """
    heading = (
        f"{figures['sentences']} sentences; Δ: difference from {figures['baseline']}; "
        f"* marks p < {SIGNIFICANT}"
    )
    tables = [_table(figures, name, digits) for name in figures["metrics"]]
    return Findings(figures, tables, heading, _notes(figures))


def _notes(figures: dict[str, Any]) -> list[str]:
    """What the columns are, a line for sentences and one for seeds, and the signatures."""
    bleu = "BLEU" in figures["metrics"]
    there = figures["systems"][1]["scores"][next(iter(figures["metrics"]))]
    legend = {
        column: f"{short}: {what}"
        for column, (short, what) in TEST_COLUMNS.items()
        if column in there
    }
    over_seeds = [legend.pop(test) for test in _OVER_SEEDS if test in legend]
    if _has_intervals(figures):
        over_seeds.append(f"{INTERVAL}: interval of Δ over seeds and sentences")
    items = [item for system in figures["systems"] for item in system["scores"].values()]
    of_scores = ["±: half of the 95 % bootstrap interval"] * any("interval" in i for i in items)
    of_scores += ["sd: standard deviation over runs"] * any(i["spread"] is not None for i in items)
    notes = ["; ".join(each) for each in (of_scores, legend.values(), over_seeds)]
    if "sign_test" in there:
        notes.append(
            f"{_SIGNS}: what the system's translation of a sentence makes the baseline's score"
        )
    if len(figures["systems"]) > 2:
        others = len(figures["systems"]) - 1
        notes.append(f"in brackets and for *: p after Holm's adjustment over the {others} systems")
    of_bleu = [system["scores"]["BLEU"]["score"] for system in figures["systems"] if bleu]
    if of_bleu and max(of_bleu) < _LEAST_BLEU:
        notes.append(f"all systems are below {_LEAST_BLEU} BLEU, where differences say little")
    if "cut" in figures:
        notes.append(f"cut: {longer_text(figures['cut'])}")
    notes += balanced_notes(figures["systems"])
    return [*(note for note in notes if note), *signature_lines(figures)]


def _table(figures: dict[str, Any], name: str, digits: int) -> Table:
    systems = figures["systems"]
    digits += figures["metrics"][name]["more_digits"]
    columns = [column for column in TEST_COLUMNS if column in systems[1]["scores"][name]]
    head = [metric_name(figures, name), "score", "Δ"]
    head += [TEST_COLUMNS[column][0] for column in columns]
    intervals = _has_intervals(figures)
    if intervals:
        head.append(INTERVAL)
    if "sign_test" in columns:
        head.append(_SIGNS)
    rows = []
    for system in systems:
        item = system["scores"][name]
        row = [system["name"], score_cell(item, digits)]
        row.append(signed(item["difference"], digits) if "difference" in item else NO_FIGURE)
        row += [marked_p(item[column]) if column in item else "" for column in columns]
        if intervals and "seeds" in item:
            row.append(interval_text(item["seeds"], digits))
        if "sign_test" in item:
            signs = item["sign_test"]
            row.append(f"{signs['better']}/{signs['worse']}/{signs['equal']}")
        rows.append([*row, *[""] * (len(head) - len(row))])
    return Table(head, rows)


def _has_intervals(figures: dict[str, Any]) -> bool:
    items = [item for system in figures["systems"] for item in system["scores"].values()]
    return any(item["seeds"]["low"] is not None for item in items if "seeds" in item)
