"""The comparisons of a table: on other sentences, with other seeds, and with translations cut.

A table declares what decides (`decided_by`): `both`, where approximate randomisation says that
these models differ on other sentences, and Welch's t-test that the methods differ with other
training seeds; or `blocks`, the t-test of differences within seeds, to whose variance all systems
of a family contribute.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from operator import itemgetter
from typing import Any

import numpy as np

from experiments.table_config import Comparison
from syntax_nmt.scoring.translations.block_test import SeedBlocks
from syntax_nmt.scoring.translations.comparison import (
    RANDOMISATION,
    SEEDS,
    SignificanceTests,
    comparison_figures,
)
from syntax_nmt.scoring.translations.holm import holm
from syntax_nmt.scoring.translations.lengths import USUAL
from syntax_nmt.scoring.translations.metrics import MetricSet
from syntax_nmt.scoring.translations.resampling import RESAMPLES, SEED
from syntax_nmt.scoring.translations.test_set import TestSet
from syntax_nmt.scoring.translations.text_tables import is_significant

TESTS = ("randomisation", "seeds", "blocks")
DECIDING = {"both": ("randomisation", "seeds"), "blocks": ("blocks",)}
# Holm's adjustment multiplies the smallest p that there can be, 1 in TRIALS + 1. A trial takes as
# long as there are runs.
TRIALS, FEWER_TRIALS, MANY_RUNS = 100_000, 25_000, 6
_ENOUGH = 400  # trials beyond the difference; p is then known to a twentieth of itself
_SIGNIFICANCE = SignificanceTests((RANDOMISATION, SEEDS), RESAMPLES, TRIALS, SEED, _ENOUGH)
_OF_MANY_RUNS = replace(_SIGNIFICANCE, trials=FEWER_TRIALS)

GAINS, LOSES, NOT_SHOWN, FEW_SEEDS = "gains", "loses", "not shown", "too few seeds"
NOT_DECLARED = "not declared"


def compare(
    metrics: MetricSet,
    test_set: TestSet,
    pairs: Sequence[Comparison],
    seeds: Mapping[str, Sequence[int]],
) -> dict[str, Any]:
    """The comparisons that both systems have translations for, and what their cut changes.

    Args:
        metrics: those that are tested.
        seeds: of the runs of each system, by its name.
        test_set: the translations of a family's systems; its source in words, or in pieces that
            are known as such.
        pairs: declared ones, of this family.

    Returns:
        `pairs`: for each comparison `scores`, by metric, with difference and tests. Where
        translations are longer than :data:`USUAL` also `cut`, as `scores`, of translations cut
        there. `longer`: by system how many are, of each run, and the scores of its runs when they
        are cut; absent where none is.
    """
    names = {system.name for system in test_set.systems}
    pairs = [pair for pair in pairs if {pair.system, pair.against} <= names]
    figures: dict[str, Any] = {"pairs": [_described(pair) for pair in pairs]}
    _add_tests(
        figures["pairs"],
        "scores",
        metrics,
        test_set,
        metrics.statistics(test_set.systems, test_set.references),
        seeds,
    )
    longer = USUAL.figures(test_set)["systems"]
    if any(sum(system["runs"]) for system in longer):
        cut = USUAL.cut_test_set(test_set)
        statistics = metrics.statistics(cut.systems, cut.references)
        changed = {system["name"] for system in longer if sum(system["runs"])}
        affected = [
            pair for pair in figures["pairs"] if {pair["system"], pair["against"]} & changed
        ]
        _add_tests(affected, "cut", metrics, cut, statistics, seeds)
        figures["longer"] = {
            system["name"]: {"runs": system["runs"], "scores": metrics.run_scores(of_system)}
            for system, of_system in zip(longer, statistics)
        }
    return figures


def _described(pair: Comparison) -> dict[str, Any]:
    described = {name: value for name, value in asdict(pair).items() if name != "family"}
    if not pair.claim:
        del described["claim"]
    return described


def _add_tests(
    pairs: Sequence[dict[str, Any]],
    kind: str,
    metrics: MetricSet,
    test_set: TestSet,
    statistics: Sequence[Sequence[np.ndarray]],
    seeds: Mapping[str, Sequence[int]],
) -> None:
    """Adds to each pair, as `kind`, its difference and tests by metric."""
    systems = {pair[0].name: pair for pair in zip(test_set.systems, statistics)}
    scores = {name: metrics.run_scores(of_system) for name, (_, of_system) in systems.items()}
    places = {name: place for place, name in enumerate(scores)}
    blocks = {
        metric: SeedBlocks([dict(zip(seeds[name], scores[name][metric])) for name in scores])
        for metric in metrics.names
    }
    for pair in pairs:
        chosen, of_chosen = zip(*(systems[pair[name]] for name in ("against", "system")))
        tests = _OF_MANY_RUNS if sum(map(len, of_chosen)) > MANY_RUNS else _SIGNIFICANCE
        both = replace(test_set, systems=chosen)
        both_places = places[pair["against"]], places[pair["system"]]
        _, system = comparison_figures(metrics, both, of_chosen, tests)["systems"]
        pair[kind] = {
            metric: {
                "difference": item["difference"],
                **{test: item[test] for test in DECIDING["both"]},
                "blocks": blocks[metric].test(*both_places).figures(),
            }
            for metric, item in system["scores"].items()
        }


def adjust(tests: Iterable[Mapping[str, Any]]) -> None:
    """Adds Holm's adjustment for each metric and test: `p_holm` over a claim's comparisons,
    `p_holm_table` over all of the table.

    Two comparisons of the same runs, such as of a system and of the choice of it, count once. A
    comparison that a test says nothing of, for want of seeds, does not count.

    Args:
        tests: figures of the test sets, a family each, with `test`, `pairs` and `keys`.
    """
    compared: dict[tuple[str, ...], dict[tuple[str, ...], list[dict[str, Any]]]] = {}
    for test in tests:
        for pair in filter(itemgetter("is_tested"), test["pairs"]):
            keys = (*test["keys"][pair["system"]], "against", *test["keys"][pair["against"]])
            for place, item in _tested(pair):
                claim = ("p_holm", test["test"], pair.get("claim", ""), *place)
                for group in (claim, ("p_holm_table", test["test"], *place)):
                    compared.setdefault(group, {}).setdefault(keys, []).append(item)
    for (name, *_), groups in compared.items():
        adjusted = holm([items[0]["p_value"] for items in groups.values()])
        for items, p_value in zip(groups.values(), adjusted):
            for item in items:
                item[name] = p_value


def _tested(pair: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str, str], dict[str, Any]]]:
    """What has a p-value: whole or cut, by which metric, by which test."""
    for kind in ("scores", "cut"):
        for metric, item in pair.get(kind, {}).items():
            for test in TESTS:
                if test in item and item[test]["p_value"] is not None:
                    yield (kind, metric, test), item[test]


def verdict(item: Mapping[str, Any], higher_is_better: bool, decided_by: str = "both") -> str:
    """What the deciding tests agree on, after Holm's adjustment over a claim.

    Args:
        item: the difference in one metric, with its tests.
        decided_by: one of :data:`DECIDING`.
    """
    deciding = [item[test] for test in DECIDING[decided_by]]
    if "p_holm" not in item["randomisation"]:
        return NOT_DECLARED
    if any(found["p_value"] is None for found in deciding):
        return FEW_SEEDS
    if not all(is_significant({"p_value": found["p_holm"]}) for found in deciding):
        return NOT_SHOWN
    return GAINS if (item["difference"] > 0) is higher_is_better else LOSES
