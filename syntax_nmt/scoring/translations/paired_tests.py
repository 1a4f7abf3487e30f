"""Tests whether systems differ from the first one, the baseline, by more than chance."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from syntax_nmt.errors import UserError
from syntax_nmt.scoring.translations.block_test import SeedBlocks
from syntax_nmt.scoring.translations.corpus_measures import CorpusMeasures
from syntax_nmt.scoring.translations.evaluation_set import System
from syntax_nmt.scoring.translations.resampling import (
    RESAMPLES,
    SEED,
    TRIALS,
    bootstrap_p_value,
    bootstrap_scores,
    draws_of_scores,
    interval,
    randomisation_p_values,
    refuse_few_resamples,
)
from syntax_nmt.scoring.translations.results import TEST_COLUMNS, ComparedScore
from syntax_nmt.scoring.translations.seed_tests import mean_and_spread, seed_test
from syntax_nmt.scoring.translations.significance import ResampledTest, adjust_tests

# As `--tests` names them. Fields of results have the same names, except `sign_test` for `sign`.
USUAL_TESTS = ("bootstrap", "randomisation", "sign", "seeds")
BOOTSTRAP, RANDOMISATION, SIGN, SEEDS = USUAL_TESTS
BLOCKS = "blocks"
TESTS = (*USUAL_TESTS, BLOCKS)

Statistics = Sequence[Sequence[np.ndarray]]
"""The statistics of sentences, by system and run (sentences × statistics)."""
ComparedScores = dict[str, ComparedScore]
"""Of a system, by measure."""


@dataclass(frozen=True)
class SignificanceTests:
    """The tests of differences, and their parameters.

    Attributes:
        names: some of :data:`TESTS`.
        resamples: of the bootstrap, and of the interval over seeds and sentences.
        trials: of approximate randomisation, at most.
        seed: of both.
        enough: as of :func:`randomisation_p_values`.

    Raises:
        UserError: too few resamples.
    """

    names: tuple[str, ...] = USUAL_TESTS
    resamples: int = RESAMPLES
    trials: int = TRIALS
    seed: int = SEED
    enough: int | None = None

    def __post_init__(self) -> None:
        refuse_few_resamples(self.resamples)

    def signature(self, of_groups: bool = False) -> dict[str, object]:
        """The parameters of the p-values, under sacrebleu's names.

        Args:
            of_groups: interactions of groups are tested as well, whose intervals draw sentences.
        """
        found: dict[str, object] = {}
        if self.draws_sentences or of_groups:
            found["bs"] = self.resamples
        if RANDOMISATION in self.names:
            found["ar"] = self.trials
        return {**found, "seed": self.seed} if found else {}

    @property
    def draws_sentences(self) -> bool:
        """Whether a test needs scores on resampled test sets."""
        return BOOTSTRAP in self.names or SEEDS in self.names


def refuse_unpaired_blocks(tests: SignificanceTests, systems: Sequence[System]) -> None:
    """Refuses seeds as blocks of systems whose runs cannot be of the same seeds.

    Raises:
        UserError: there are different numbers of runs.
    """
    if BLOCKS not in tests.names:
        return
    for system in systems[1:]:
        counts = len(systems[0].runs), len(system.runs)
        if counts[0] != counts[1]:
            raise UserError(
                f"blocks: {systems[0].name} has {counts[0]} runs, {system.name} {counts[1]}: give "
                "all systems the runs of the same seeds, in their order, or leave the test out"
            )


def differences(measures: CorpusMeasures, statistics: Statistics) -> list[ComparedScores]:
    """The scores of each system by measure, and their differences from the first system's."""
    found = [
        {name: _score(of_runs) for name, of_runs in measures.run_scores(of_system).items()}
        for of_system in statistics
    ]
    for scores in found[1:]:
        for name, score in scores.items():
            first = found[0][name].score
            if score.score is not None and first is not None:
                score.difference = score.score - first
    return found


def _score(of_runs: list[float]) -> ComparedScore:
    score, of_spread = mean_and_spread(of_runs)
    return ComparedScore(score, of_spread, [] if score is None else of_runs)


def tested_differences(
    measures: CorpusMeasures, statistics: Statistics, tests: SignificanceTests
) -> list[ComparedScores]:
    """The same with the tests of each difference, and intervals; none where a score is missing.

    Collins' sign test is not among them: it is of a whole corpus and its metrics.
    """
    systems = differences(measures, statistics)
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
    return systems


def adjust(scores: Iterable[ComparedScore]) -> None:
    """Adds Holm's p to the tests of several differences, for each kind of test."""
    made = [score.tests() for score in scores]
    for name in TEST_COLUMNS:
        adjust_tests(tests[name] for tests in made if name in tests)


def _add_bootstrap(systems: Sequence[ComparedScores], drawn: Sequence[np.ndarray]) -> None:
    """Adds p-values, and intervals of scores.

    Args:
        drawn: of each system, mean scores of its runs on resampled test sets (resamples × metrics).
    """
    for scores, found in zip(systems, drawn):
        for i, score in enumerate(scores.values()):
            if score.score is not None:
                score.interval = interval(found[:, i])
            if score.difference is not None:
                first, own = draws_of_scores(drawn[0][:, i : i + 1], found[:, i : i + 1])
                p_value = bootstrap_p_value(first, own, score.difference)
                score.bootstrap = ResampledTest(p_value, 1 / (len(own) + 1))


def _add_seeds(systems: Sequence[ComparedScores], drawn: Sequence[np.ndarray]) -> None:
    """Adds p-values over seeds, and intervals of differences.

    Args:
        drawn: of each system, scores on resampled test sets (resamples × runs × metrics).
    """
    for scores, of_system in zip(systems[1:], drawn[1:]):
        for i, (name, score) in enumerate(scores.items()):
            if score.difference is not None:
                score.seeds = seed_test(
                    systems[0][name].runs, score.runs, drawn[0][:, :, i], of_system[:, :, i]
                )


def _add_blocks(systems: Sequence[ComparedScores]) -> None:
    """Adds p-values over seeds that are blocks: runs at the same place have the same seed."""
    for name in systems[0]:
        blocks = SeedBlocks([dict(enumerate(scores[name].runs)) for scores in systems])
        for place, scores in enumerate(systems[1:], start=1):
            if scores[name].difference is not None:
                scores[name].blocks = blocks.test(0, place)


def _add_randomisation(
    measures: CorpusMeasures,
    systems: Sequence[ComparedScores],
    statistics: Statistics,
    tests: SignificanceTests,
) -> None:
    for scores, of_system in zip(systems[1:], statistics[1:]):
        found = randomisation_p_values(
            statistics[0],
            of_system,
            measures.score_rows,
            tests.trials,
            tests.seed,
            tests.enough,
        )
        for score, p_value in zip(scores.values(), found.tolist()):
            if score.difference is not None:
                score.randomisation = ResampledTest(p_value, 1 / (tests.trials + 1))
