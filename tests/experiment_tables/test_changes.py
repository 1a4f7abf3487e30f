"""How much more a system loses from one test set to another: against loops, under the null
hypothesis, in a table's pages and in its picture.
"""

import statistics

import numpy as np
import pytest

pytest.importorskip("jsonschema", reason="the extra `experiments` is not installed")
from declared import declaration, runs_of, write_record, write_test_set, write_translations
from scipy import stats
from translations import noisy, sentences

from experiments.changes import add_changes
from experiments.comparisons import adjust
from experiments.gains_picture import claims_of, draw_claims
from experiments.measured_table import measure
from experiments.table_files import write_table
from experiments.table_results import (
    FEW_SEEDS,
    LOSES_LESS,
    LOSES_MORE,
    NOT_DECLARED,
    NOT_SHOWN,
    ChangeDifference,
    ComparedPair,
    FamilyResult,
    PairDifference,
    RowResult,
    RunFacts,
    TableResampledTest,
    TableResult,
    TableSeedTest,
)
from syntax_nmt.scoring.scores import CorpusScore
from syntax_nmt.scoring.translations.block_test import SeedBlocks
from syntax_nmt.scoring.translations.metrics import MetricDescription
from syntax_nmt.scoring.translations.significance import holm

TESTS = ("test", "left_out")


def table_of(scores, pairs, family="a"):
    """A table with these scores: by test set, system and seed; pairs with their claims."""
    rows = []
    for name, of_system in scores["test"].items():
        facts = [RunFacts(f"{name}{seed}", seed, *"cdef", 1, {}) for seed in of_system]
        done = list(of_system)
        known = [None] * 6
        rows.append(RowResult(family, name, name, False, done, done, [], "", "", *known, {}, facts))
    tests = [
        FamilyResult(
            test,
            family,
            100,
            {"BLEU": MetricDescription("", True, 0)},
            {name: [f"{name}{seed}" for seed in each] for name, each in of_test.items()},
            {
                name: {"BLEU": CorpusScore(0.0, None, None, list(each.values()))}
                for name, each in of_test.items()
            },
            [],
            [compared(*pair) for pair in pairs],
        )
        for test, of_test in scores.items()
    ]
    return TableResult(
        table="t", title="", primary="bleu", choice="", rows=rows, tests=tests, trials=[]
    )


def compared(claim, system, against):
    """A comparison whose scores tell nothing."""
    of_seeds = TableSeedTest((3, 3), None, None, None, None)
    scores = {"BLEU": PairDifference(1.0, TableResampledTest(0.5, 0.0), of_seeds, of_seeds)}
    return ComparedPair(system, against, "", False, True, claim, scores=scores)


def drawn(random, systems, seeds, *, more_lost=()):
    """Scores on both test sets, with what all systems share by seed and set; all lose the same, but
    for what some lose more."""
    found = {}
    for test, level in zip(TESTS, (50.0, 30.0)):
        shared = random.normal(size=seeds)
        found[test] = {
            name: {
                seed: float(level + 3 * place + shared[seed] + 0.5 * random.normal())
                for seed in range(seeds)
            }
            for place, name in enumerate(systems)
        }
    for name, lost in more_lost:
        found["left_out"][name] = {s: score - lost for s, score in found["left_out"][name].items()}
    return found


PAIRS = [("heads", "h", "stock"), ("heads", "h", "chain"), ("phrases", "p", "stock")]
SYSTEMS = ("stock", "h", "chain", "p")


def test_against_loops():
    """A seed that one system lacks does not count in its comparisons; Holm is within a claim."""
    scores = drawn(np.random.default_rng(1), SYSTEMS, 5, more_lost=[("stock", 3.0)])
    for of_test in scores.values():
        del of_test["chain"][1]
    table = table_of(scores, PAIRS)
    add_changes(table, *TESTS)
    adjust(table.tests)
    first, last = table.tests
    assert first.changed is None
    assert {pair.change for pair in first.pairs} == {None}
    assert last.changed.from_ == "test"
    changes = {}
    for name in SYSTEMS:
        changes[name] = {
            seed: scores["left_out"][name][seed] - before
            for seed, before in scores["test"][name].items()
        }
        of_runs = list(changes[name].values())
        found = last.changed.systems[name]
        assert found.runs == pytest.approx(of_runs)
        assert found.score == pytest.approx(statistics.mean(of_runs))
        assert found.spread == pytest.approx(statistics.stdev(of_runs))
    blocks, p_values = SeedBlocks([changes[name] for name in SYSTEMS]), []
    for pair, (_, system, against) in zip(last.pairs, PAIRS):
        seeds = [seed for seed in range(5) if seed != 1 or "chain" not in (system, against)]
        each = []
        for seed in seeds:
            lost = scores["test"][system][seed] - scores["left_out"][system][seed]
            other = scores["test"][against][seed] - scores["left_out"][against][seed]
            each.append(other - lost)
        assert pair.change.difference == pytest.approx(statistics.mean(each))
        wanted = blocks.test(SYSTEMS.index(against), SYSTEMS.index(system))
        found = pair.change.blocks
        assert found.seeds == (len(seeds),)
        assert (found.p_value, found.low) == (wanted.p_value, wanted.low)
        p_values.append(found.p_value)
    adjusted = [pair.change.blocks.p_holm for pair in last.pairs]
    assert adjusted == [*holm(p_values[:2]), p_values[2]]
    assert [pair.change.blocks.p_holm_table for pair in last.pairs] == holm(p_values)
    verdicts = [pair.change.verdict(True, True) for pair in last.pairs]
    assert verdicts == [LOSES_LESS, NOT_SHOWN, LOSES_LESS]


def test_of_two_systems_it_is_the_paired_t_test():
    scores = drawn(np.random.default_rng(2), ("stock", "h"), 5)
    table = table_of(scores, PAIRS[:1])
    add_changes(table, *TESTS)
    changes = [list(table.tests[1].changed.systems[name].runs) for name in ("stock", "h")]
    (pair,) = table.tests[1].pairs
    assert pair.change.blocks.p_value == pytest.approx(stats.ttest_rel(*changes).pvalue)


def test_null():
    """All systems lose the same: of a claim's comparisons one is found in 5 % of the tables at
    most; scores, which differ, are not what is tested."""
    random, draws = np.random.default_rng(3), 600
    wrong, single = {"heads": 0, "phrases": 0}, []
    for _ in range(draws):
        table = table_of(drawn(random, SYSTEMS, 5), PAIRS)
        add_changes(table, *TESTS)
        adjust(table.tests)
        pairs = table.tests[1].pairs
        single += [pair.change.blocks.p_value < 0.05 for pair in pairs]
        for claim in wrong:
            adjusted = [pair.change.blocks.p_holm for pair in pairs if pair.claim == claim]
            wrong[claim] += min(adjusted) < 0.05
    shares = {claim: f"{count / draws:.1%}" for claim, count in wrong.items()}
    print(f"one test {np.mean(single):.1%}; a claim {shares}")
    assert 0.025 < np.mean(single) < 0.065
    assert max(wrong.values()) <= 0.05 * draws + 2 * (0.05 * 0.95 * draws) ** 0.5


def difference_of(difference, p_holm, p_value=0.01):
    return ChangeDifference(
        difference, TableSeedTest((3,), p_value, 4.0, None, None, p_holm=p_holm)
    )


@pytest.mark.parametrize(
    ("found", "higher_is_better", "expected"),
    [
        (difference_of(2.0, 0.01), True, LOSES_LESS),
        (difference_of(2.0, 0.01), False, LOSES_MORE),
        (difference_of(-2.0, 0.01), True, LOSES_MORE),
        (difference_of(2.0, 0.06), True, NOT_SHOWN),
        (difference_of(2.0, None, None), True, FEW_SEEDS),
        (difference_of(None, None, None), True, FEW_SEEDS),
    ],
)
def test_verdicts(found, higher_is_better, expected):
    assert found.verdict(True, higher_is_better) == expected
    assert found.verdict(False, higher_is_better) == NOT_DECLARED


def test_systems_without_a_common_seed():
    scores = drawn(np.random.default_rng(4), ("stock", "h"), 4)
    for of_test in scores.values():
        of_test["stock"] = {seed: of_test["stock"][seed] for seed in (0, 1)}
        of_test["h"] = {seed: of_test["h"][seed] for seed in (2, 3)}
    table = table_of(scores, PAIRS[:1])
    add_changes(table, *TESTS)
    adjust(table.tests)
    (pair,) = table.tests[1].pairs
    assert (pair.change.difference, pair.change.blocks.seeds) == (None, (0,))
    assert table.tests[1].changed.systems["h"].spread is not None


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A table of a generalisation split, measured and written, without and with changes."""
    declared = {**declaration(), "decided_by": "blocks", "seeds": [1, 2, 3]}
    declared["data"]["demo"] = "--split depth"
    results = []
    for change in ({}, {"change": {"from": "test", "to": "left_out"}}):
        folder = tmp_path_factory.mktemp("table")
        declared["evaluation"] |= change
        runs = runs_of(folder, declared)
        texts = {"test": sentences(30, seed=1), "left_out": sentences(20, seed=8)}
        for place, (name, lines) in enumerate(texts.items()):
            write_test_set(runs, folder, lines, name, f"test{place or ''}")
        for row, shares in zip(runs.rows(), ((0.2, 0.6), (0.25, 0.3))):
            for run in row.runs:
                seed = 10 * run.plan["seed"]
                outputs = [noisy(*each) for each in zip(texts.values(), (seed, seed + 1), shares)]
                write_record(runs, run, outputs[0])
                write_translations(runs, run, outputs[1], "left_out")
        found = measure(runs, folder)
        write_table(found, folder)
        results.append((folder, found, [run.key for row in runs.rows() for run in row.runs]))
    return results


def test_it_changes_no_run_and_no_other_figure(written):
    (_, without, keys), (_, with_changes, same_keys) = written
    assert keys == same_keys
    figures = with_changes.to_json()
    changed = figures["tests"][1]
    assert changed.pop("changed")["from"] == "test"
    for pair in changed["pairs"]:
        del pair["change"]
    assert figures == without.to_json()


def test_tables_and_json(written):
    (plain, _, _), (folder, found, _) = written
    assert TableResult.read(folder / "table.json").to_json() == found.to_json()
    text = (folder / "table.md").read_text("utf-8")
    assert "**Change of BLEU from test to left_out**" in text
    compared = text.partition("**Comparisons of changes of BLEU from test to left_out**")[2]
    row = next(line for line in compared.splitlines() if line.startswith("| heads"))
    (pair,) = found.tests[1].pairs
    p_value = pair.change.blocks.p_text()
    assert [cell.strip() for cell in row.split("|")[1:3]] == ["heads", "Transformer"]
    assert f"| {pair.change.difference:+.1f} " in row
    assert f"| {p_value} " in row
    assert f"| {LOSES_LESS} |" in row
    for change in found.tests[1].changed.systems.values():
        shown = f"{change.score:+.1f} ± {change.spread:.1f}".replace("-", "−")
        assert f"| {shown} " in text
    without = (plain / "table.md").read_text("utf-8")
    assert "hange" not in without
    assert "Both of Holm's adjustments are over the comparisons of one test set." in without


def test_the_picture_of_claims_has_changes(written):
    folder, found, _ = written[1]
    first, change = claims_of(found)
    assert (first.method, first.label) == ("heads", "over Transformer")
    assert (change.method, change.label) == ("heads", "over Transformer, test → left_out")
    assert change.is_shown
    assert change.difference == found.tests[1].pairs[0].change.difference
    assert draw_claims(folder / "table.json") == folder / "claims.svg"
    assert len(list(claims_of(written[0][1]))) == 1
