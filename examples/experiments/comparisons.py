"""The comparisons of a table: on other sentences, with other seeds, and with translations cut.

A table declares what decides (`decided_by`): `both`, where approximate randomisation says that
these models differ on other sentences, and Welch's t-test that the methods differ with other
training seeds; or `blocks`, the t-test of differences within seeds, whose variance is moderated by
that of all systems of a family, or a pair's own where it is larger.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict
from math import inf

from experiments.table_config import Comparison
from experiments.table_results import (
    ComparedPair,
    FamilyResult,
    LongRuns,
    PairDifference,
    TableResampledTest,
    TableSeedTest,
    TableTest,
)
from syntax_nmt.scoring.translations.block_test import SeedBlocks
from syntax_nmt.scoring.translations.evaluation_set import TestSet
from syntax_nmt.scoring.translations.lengths import USUAL
from syntax_nmt.scoring.translations.metrics import MetricSet
from syntax_nmt.scoring.translations.paired_tests import (
    RANDOMISATION,
    SEEDS,
    SignificanceTests,
    Statistics,
    tested_differences,
)
from syntax_nmt.scoring.translations.resampling import RESAMPLES, SEED
from syntax_nmt.scoring.translations.significance import holm

# How many trials up to how many runs of both systems. Holm's adjustment multiplies the smallest p
# that there can be, 1 in the trials + 1; a trial takes as long as there are runs and sentences.
TRIALS: Mapping[float, int] = {6: 100_000, 12: 25_000, inf: 5_000}
_ENOUGH = 400  # trials beyond the difference; p is then known to a twentieth of itself


def compare(
    metrics: MetricSet,
    test_set: TestSet,
    pairs: Sequence[Comparison],
    seeds: Mapping[str, Sequence[int]],
) -> tuple[list[ComparedPair], dict[str, LongRuns] | None]:
    """The comparisons that both systems have translations for, and what their cut changes.

    Args:
        metrics: those that are tested.
        seeds: of the runs of each system, by its name.
        test_set: the translations of a family's systems; its source in words, or in pieces that
            are known as such.
        pairs: declared ones, of this family.

    Returns:
        the comparisons, with `cut` where translations are longer than :data:`USUAL`; and by system
        how many are; None where none is.
    """
    names = {system.name for system in test_set.systems}
    found = [_described(pair) for pair in pairs if {pair.system, pair.against} <= names]
    statistics = metrics.statistics(test_set.systems, test_set.references)
    for pair in found:
        pair.scores = _differences(pair, metrics, test_set, statistics, seeds)
    exceeded = USUAL.exceeded(test_set)
    longer = {} if exceeded is None else {each.name: each.runs for each in exceeded.systems}
    changed = {name for name, runs in longer.items() if sum(runs)}
    if not changed:
        return found, None
    cut = USUAL.cut_test_set(test_set)
    statistics = metrics.statistics(cut.systems, cut.references)
    for pair in found:
        if {pair.system, pair.against} & changed:
            pair.cut = _differences(pair, metrics, cut, statistics, seeds)
    of_systems = zip(longer.items(), statistics)
    return found, {
        name: LongRuns(runs, metrics.run_scores(of_system))
        for (name, runs), of_system in of_systems
    }


def _described(pair: Comparison) -> ComparedPair:
    described = {name: value for name, value in asdict(pair).items() if name != "family"}
    return ComparedPair(**described | {"claim": pair.claim or None, "scores": {}})


def _differences(
    pair: ComparedPair,
    metrics: MetricSet,
    test_set: TestSet,
    statistics: Statistics,
    seeds: Mapping[str, Sequence[int]],
) -> dict[str, PairDifference]:
    """The difference of a pair and its tests, by metric."""
    names = [system.name for system in test_set.systems]
    places = names.index(pair.against), names.index(pair.system)
    chosen = [statistics[place] for place in places]
    runs = sum(map(len, chosen))
    trials = next(trials for most, trials in TRIALS.items() if runs <= most)
    tests = SignificanceTests((RANDOMISATION, SEEDS), RESAMPLES, trials, SEED, _ENOUGH)
    scores = [metrics.run_scores(of_system) for of_system in statistics]
    found = {}
    for metric, score in tested_differences(metrics, chosen, tests)[1].items():
        assert score.difference is not None
        assert score.randomisation is not None
        assert score.seeds is not None
        blocks = SeedBlocks([dict(zip(seeds[n], each[metric])) for n, each in zip(names, scores)])
        found[metric] = PairDifference(
            score.difference,
            TableResampledTest(**vars(score.randomisation)),
            TableSeedTest(**vars(score.seeds)),
            TableSeedTest(**vars(blocks.test(*places))),
        )
    return found


def adjust(tests: Iterable[FamilyResult]) -> None:
    """Adds Holm's adjustment for each test set, metric and test: `p_holm` over a claim's
    comparisons, `p_holm_table` over all of the table.

    Two comparisons of the same runs, such as of a system and of the choice of it, count once. A
    comparison that a test says nothing of, for want of seeds, does not count. Among those of cut
    translations all count: where no translation is too long, the cut changes nothing.
    """
    tests = list(tests)
    with_cut = {family.test for family in tests if any(pair.cut for pair in family.pairs)}
    compared: dict[tuple[str, ...], dict[tuple[str, ...], list[TableTest]]] = {}
    for family in tests:
        for pair in (pair for pair in family.pairs if pair.is_tested):
            keys = (*family.keys[pair.system], "against", *family.keys[pair.against])
            for place, test in _tested(pair, family.test in with_cut):
                claim = ("p_holm", family.test, pair.claim or "", *place)
                for group in (claim, ("p_holm_table", family.test, *place)):
                    compared.setdefault(group, {}).setdefault(keys, []).append(test)
    for (name, *_), groups in compared.items():
        adjusted = holm([items[0].p_value or 0.0 for items in groups.values()])
        for items, p_value in zip(groups.values(), adjusted):
            for item in items:
                setattr(item, name, p_value)


def _tested(pair: ComparedPair, with_cut: bool) -> Iterator[tuple[tuple[str, str, str], TableTest]]:
    """What has a p-value: whole, cut or their change, by which metric, by which test.

    Args:
        with_cut: a comparison on the test set has cut translations.
    """
    kinds = dict(pair.kinds())
    if with_cut and pair.cut is None:
        kinds["cut"] = deepcopy(pair.scores)
    for kind, of_kind in kinds.items():
        for metric, difference in of_kind.items():
            for name, test in difference.tests().items():
                if test.p_value is not None:
                    yield (kind, metric, name), test
    if pair.change is not None and pair.change.blocks.p_value is not None:
        yield ("change", "", "blocks"), pair.change.blocks
