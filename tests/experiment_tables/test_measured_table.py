"""Figures of a table against computations of their own, and the files that show them."""

import json
import re
import statistics

import numpy as np
import pytest

pytest.importorskip("jsonschema", reason="the extra `experiments` is not installed")
from declared import declaration, runs_of, write_record, write_test_set, write_translations
from sacrebleu.metrics import BLEU
from scipy import stats
from translations import noisy, sentences, write

from experiments.comparisons import adjust
from experiments.gains_picture import gains_of
from experiments.measured_table import measure
from experiments.table_files import write_table
from experiments.table_results import (
    FEW_SEEDS,
    GAINS,
    LOSES,
    NOT_DECLARED,
    NOT_SHOWN,
    ComparedPair,
    FamilyResult,
    PairDifference,
    TableResampledTest,
    TableSeedTest,
)
from syntax_nmt.errors import UserError
from syntax_nmt.preparation.executor import ordered_map
from syntax_nmt.scoring.translations.block_test import SeedBlocks

REFERENCE = sentences(40, seed=1)
OUTPUTS = {
    "stock": [noisy(REFERENCE, seed, 0.30) for seed in (1, 2)],
    "heads": [noisy(REFERENCE, seed, 0.20) for seed in (3, 4)],
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Two systems with both seeds, one that has not run; two commits."""
    folder = tmp_path_factory.mktemp("table")
    runs = runs_of(folder, declaration())
    write_test_set(runs, folder, REFERENCE)
    for row in runs.rows():
        for place, lines in enumerate(OUTPUTS.get(row.system.name, [])):
            commit = ("a" if row.system.name == "stock" else "b") * 40
            nll = 4.0 + place / 4
            write_record(runs, row.runs[place], lines, commit=commit, validation_nll=nll)
    found = measure(runs, folder)
    write_table(found, folder / "results", ["tex", "tsv"])
    return folder / "results", found.to_json()


@pytest.fixture
def runs(tmp_path):
    """Runs with their test set and without records."""
    runs = runs_of(tmp_path, declaration())
    write_test_set(runs, tmp_path, REFERENCE)
    return runs


@pytest.mark.dear
def test_processes_measure_the_same(runs, tmp_path):
    for row in runs.rows():
        for run, lines in zip(row.runs, OUTPUTS.get(row.system.name, [])):
            write_record(runs, run, lines)
    with ordered_map(2) as test_map:
        found = measure(runs, tmp_path, test_map)
    assert found.tests[0].pairs
    assert found.to_json() == measure(runs, tmp_path).to_json()


def bleu(lines, reference=REFERENCE):
    return BLEU(tokenize="none", force=True).corpus_score(lines, [reference]).score


def test_means_differences_and_p_values(table):
    _, figures = table
    (test,) = figures["tests"]
    scores = {name: found["BLEU"] for name, found in test["scores"].items()}
    for name, outputs in OUTPUTS.items():
        found = [bleu(lines) for lines in outputs]
        assert scores[name]["runs"] == pytest.approx(found)
        assert scores[name]["score"] == pytest.approx(statistics.mean(found))
        assert scores[name]["spread"] == pytest.approx(statistics.stdev(found))
    (pair,) = test["pairs"]
    assert (pair["system"], pair["against"]) == ("heads", "stock")
    found = pair["scores"]["BLEU"]
    difference = scores["heads"]["score"] - scores["stock"]["score"]
    assert found["difference"] == pytest.approx(difference)
    assert 0 < found["randomisation"]["p_value"] < 1
    assert found["randomisation"]["p_holm"] == found["randomisation"]["p_value"]  # one comparison
    assert found["seeds"] == {
        "seeds": [2, 2], "p_value": None, "degrees": None, "low": None, "high": None
    }  # fmt: skip
    assert "longer" not in test


def test_few_runs_have_the_most_trials(tmp_path):
    """The smallest p that there can be."""
    reference, runs = REFERENCE[:10], runs_of(tmp_path, declaration())
    write_test_set(runs, tmp_path, reference)
    lines = {"stock": noisy(reference, 1, 0.9), "heads": reference}
    for row in runs.rows():
        for run in row.runs if row.system.name in lines else ():
            write_record(runs, run, lines[row.system.name])
    ((pair,),) = (test.pairs for test in measure(runs, tmp_path).tests)
    assert pair.scores["BLEU"].randomisation.p_value == pytest.approx(1 / 100_001)


def test_tests_over_seeds_of_which_a_system_lacks_one(tmp_path):
    runs = runs_of(tmp_path, {**declaration(), "seeds": [1, 2, 3, 4]})
    write_test_set(runs, tmp_path, REFERENCE)
    scores = {}
    for place, (row, share) in enumerate(zip(runs.rows(), (0.30, 0.25, 0.28))):
        for run in row.runs:
            seed = run.plan["seed"]
            if (row.system.name, seed) != ("heads", 2):
                lines = noisy(REFERENCE, 600 + 10 * place + seed, share)
                write_record(runs, run, lines)
                scores.setdefault(row.system.name, {})[seed] = bleu(lines)
    blocks = SeedBlocks([scores[name] for name in ("stock", "heads", "phrases")])
    (test,) = measure(runs, tmp_path).tests
    assert [pair.system for pair in test.pairs] == ["heads", "phrases"]
    for place, pair in enumerate(test.pairs, start=1):
        found = pair.scores["BLEU"]
        sides = [list(scores[name].values()) for name in (pair.system, "stock")]
        welch = stats.ttest_ind(*sides, equal_var=False)
        assert found.seeds.p_value == pytest.approx(welch.pvalue)
        assert found.seeds.low < found.difference < found.seeds.high
        wanted, given = vars(blocks.test(0, place)), vars(found.blocks)
        assert given["seeds"] == (len(sides[0]),)
        assert given["degrees"] == 5 > len(sides[0]) - 1  # the other systems say something, too
        for name in ("p_value", "degrees", "low", "high"):
            assert given[name] == pytest.approx(wanted[name])
        assert 0 < given["p_value"] < 1


def test_translations_that_run_away_are_counted_and_cut(runs, tmp_path):
    away = [f"{OUTPUTS['heads'][0][0]}{' tree' * 90}", *OUTPUTS["heads"][0][1:]]
    limit = int(1.5 * len(REFERENCE[0].split()) + 5)
    cut = [" ".join(away[0].split()[:limit]), *away[1:]]
    for row, outputs in zip(runs.rows(), (OUTPUTS["stock"], [away, OUTPUTS["heads"][1]])):
        for run, lines in zip(row.runs, outputs):
            write_record(runs, run, lines)
    found = measure(runs, tmp_path)
    figures = found.to_json()
    (test,) = figures["tests"]
    assert test["longer"]["heads"]["runs"] == [1, 0]
    expected = [bleu(cut), bleu(OUTPUTS["heads"][1])]
    assert test["longer"]["heads"]["scores"]["BLEU"] == pytest.approx(expected)
    whole, shorter = (test["pairs"][0][kind]["BLEU"]["difference"] for kind in ("scores", "cut"))
    assert shorter - whole == pytest.approx((bleu(cut) - bleu(away)) / 2)
    write_table(found, tmp_path)
    text = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "Comparisons: test, translations cut" in text
    assert "| 1, 0 " in text


def test_by_length(table):
    _, figures = table
    (test,) = figures["tests"]
    short = [i for i, line in enumerate(REFERENCE) if len(line.split()) < 5]
    group = test["by_length"][0]
    assert (group["label"], group["sentences"]) == ("<5", len(short))
    found = [
        bleu([lines[i] for i in short], [REFERENCE[i] for i in short]) for lines in OUTPUTS["heads"]
    ]
    assert group["scores"]["BLEU"]["heads"]["score"] == pytest.approx(statistics.mean(found))


def test_a_second_test_set_has_its_own_source(tmp_path):
    declared = declaration()
    declared["data"]["demo"] = "--split depth"
    runs = runs_of(tmp_path, declared)
    left_out = sentences(25, seed=8)
    write_test_set(runs, tmp_path, REFERENCE)
    write_test_set(runs, tmp_path, left_out, "left_out", "test1")
    outputs = [noisy(left_out, seed, 0.2) for seed in (1, 2)]
    baseline = next(runs.rows())
    for run, *lines in zip(baseline.runs, OUTPUTS["stock"], outputs):
        write_record(runs, run, lines[0])
        write_translations(runs, run, lines[1], "left_out")
    first, second = measure(runs, tmp_path).tests
    assert [(test.test, test.sentences) for test in (first, second)] == [
        ("test", 40),
        ("left_out", 25),
    ]
    assert second.scores["stock"]["BLEU"].runs == pytest.approx(
        [bleu(lines, left_out) for lines in outputs]
    )
    assert second.by_length[0].sentences == sum(len(line.split()) < 5 for line in left_out)
    write_test_set(runs, tmp_path, left_out[1:], "unused", "test1")
    with pytest.raises(UserError, match=r"test1\.src has 24 sentences, left_out\.tgt 25: give par"):
        measure(runs, tmp_path)


def difference_of(randomisation=1.0, seeds=None, blocks=None):
    """A difference with these p-values."""
    of_seeds = [TableSeedTest((3, 3), p, None, None, None) for p in (seeds, blocks)]
    return PairDifference(1.0, TableResampledTest(randomisation, 0.0), *of_seeds)


def compared(system, against, found, claim=None, is_tested=True):
    scores = {"BLEU": found}
    return ComparedPair(system, against, "", False, is_tested, claim, scores=scores)


def family_of(pairs, keys=None, test="news", family="a"):
    names = {name for pair in pairs for name in (pair.system, pair.against)}
    keys = keys or {name: [name] for name in names}
    return FamilyResult(test, family, 0, {}, keys, {}, [], pairs)


def adjusted(pairs, test, name="p_holm"):
    return [getattr(pair.scores["BLEU"].tests()[test], name) for pair in pairs]


def test_holm_is_over_all_families_of_a_test_and_metric():
    def test(name, family, **p_values):
        pairs = [
            compared(
                system,
                "stock",
                difference_of(p, None if p == 0.03 else p),
                is_tested=system != "only_shown",
            )
            for system, p in p_values.items()
        ]
        keys = {system: [system.partition("_")[0], family] for system in [*p_values, "stock"]}
        return family_of(pairs, keys, name, family)

    tests = [
        test("news", "a", x=0.01, y=0.04, x_chosen=0.01),  # runs that two rows have count once
        test("news", "b", z=0.03, x=0.01),  # another family has another baseline
        test("docs", "a", x=0.04, only_shown=0.01),
    ]
    adjust(tests)
    pairs = [pair for each in tests for pair in each.pairs]
    news = map(pytest.approx, (0.04, 0.06, 0.04, 0.06, 0.04))
    assert adjusted(pairs, "randomisation") == [*news, 0.04, None]
    few = map(pytest.approx, (0.03, 0.04, 0.03))  # z has too few seeds, and does not count
    assert adjusted(pairs, "seeds") == [*few, None, pytest.approx(0.03), 0.04, None]


def test_holm_is_within_a_claim():
    p_values = {("heads", "h"): 0.02, ("heads", "other"): 0.04, ("phrases", "p"): 0.03}
    pairs = [
        compared(system, "stock", difference_of(p, p), claim)
        for (claim, system), p in p_values.items()
    ]
    adjust([family_of(pairs)])
    assert adjusted(pairs, "randomisation") == pytest.approx([0.04, 0.04, 0.03])


def test_all_comparisons_of_a_claim_count_among_those_of_cut_translations():
    """Also those without long translations: else a comparison that is shown of none would be shown
    of the one that a cut changes."""
    pairs = [
        compared(system, "stock", difference_of(p, p)) for system, p in (("a", 0.03), ("b", 0.02))
    ]
    pairs[0].cut = {"BLEU": difference_of(0.03, 0.03)}
    other = compared("a", "stock", difference_of(0.03, 0.03))
    adjust([family_of(pairs), family_of([other], test="docs")])
    assert pairs[0].cut["BLEU"].randomisation.p_holm == pytest.approx(0.04)
    assert pairs[1].cut is None
    assert adjusted(pairs, "randomisation") == pytest.approx([0.04, 0.04])
    assert adjusted([other], "randomisation") == pytest.approx([0.03])


def test_claims_are_calibrated_under_the_null():
    """500 tables of five seeds without any difference: a claim's comparisons share runs, and one of
    them is significant in 5 % of the tables at most."""
    random, draws = np.random.default_rng(5), 500
    wrong = {"heads": 0, "phrases": 0}
    for _ in range(draws):
        runs = {name: random.normal(size=5) for name in ("stock", "h", "other", "chain", "p")}
        pairs = []
        for claim, system, against in (
            *(("heads", "h", name) for name in ("stock", "other", "chain")),
            *(("phrases", "p", name) for name in ("stock", "other")),
        ):
            p = float(stats.ttest_ind(runs[system], runs[against], equal_var=False).pvalue)
            pairs.append(compared(system, against, difference_of(p, p), claim))
        adjust([family_of(pairs)])
        for claim in wrong:
            found = adjusted([pair for pair in pairs if pair.claim == claim], "seeds")
            wrong[claim] += min(found) < 0.05
    assert max(wrong.values()) <= 0.05 * draws + 2 * (0.05 * 0.95 * draws) ** 0.5
    assert min(wrong.values()) > 0


@pytest.mark.parametrize(
    ("sentences", "seeds", "expected"),
    [
        (0.01, 0.04, GAINS),
        (0.01, 0.06, NOT_SHOWN),
        (0.06, 0.01, NOT_SHOWN),
        (0.01, None, FEW_SEEDS),
    ],
)
def test_a_verdict_needs_both_tests(sentences, seeds, expected):
    found = difference_of(sentences, seeds)
    for test in found.tests().values():
        test.p_holm = test.p_value
    assert found.verdict(higher_is_better=True) == expected
    opposite = LOSES if expected == GAINS else expected
    assert found.verdict(higher_is_better=False) == opposite


@pytest.mark.parametrize(
    ("blocks", "expected"), [(0.04, GAINS), (0.06, NOT_SHOWN), (None, FEW_SEEDS)]
)
def test_a_table_may_declare_what_decides(blocks, expected):
    found = difference_of(0.5, 0.5, blocks)
    for test in found.tests().values():
        test.p_holm = test.p_value
    assert found.verdict(higher_is_better=True, decided_by="blocks") == expected
    assert found.verdict(higher_is_better=True) == NOT_SHOWN


def test_what_was_not_declared_has_no_verdict():
    assert difference_of(0.01, 0.01).verdict(higher_is_better=True) == NOT_DECLARED


def test_holm_over_the_table_stands_beside_that_over_claims():
    pairs = [
        compared(system, "stock", difference_of(blocks=p_value), claim=system)
        for system, p_value in (("a", 0.02), ("b", 0.04))
    ]
    adjust([family_of(pairs)])
    assert adjusted(pairs, "blocks") == [0.02, 0.04]
    assert adjusted(pairs, "blocks", "p_holm_table") == [0.04, 0.04]


def test_markdown_and_json(table):
    folder, figures = table
    assert json.loads((folder / "table.json").read_text(encoding="utf-8")) == figures
    text = (folder / "table.md").read_text(encoding="utf-8")
    lines = text.splitlines()
    cells = {line.split("|")[1].strip(): line for line in reversed(lines) if line.startswith("| ")}
    scored = [line for line in lines if "(baseline)" in line and " ± " in line]
    assert len(scored) == 1
    assert "not run" in cells["phrases"]
    assert "0 of 2" in cells["phrases"]
    assert "38.6" in cells["heads"]
    heads = "“heads”, seeds 1–2"
    assert f"runs differ in commit: {'a' * 40} (most); {'b' * 40} ({heads})" in text
    assert "4.125 ± 0.177" in text  # validation nll
    assert "test, 40 sentences" in text


def test_other_forms_have_the_same_rows(table):
    folder, _ = table
    columns = (folder / "table.tsv").read_text(encoding="utf-8")
    latex = (folder / "table.tex").read_text(encoding="utf-8")
    assert r"\toprule" in latex
    for name in ("heads", "phrases"):
        assert f"\n{name}\t" in columns
        assert re.search(rf"(?m)^ *{name} *&", latex)


def test_fewer_seeds_than_declared(runs, tmp_path):
    rows = list(runs.rows())
    write_record(runs, rows[1].runs[1], OUTPUTS["heads"][0])  # not even the baseline
    found = measure(runs, tmp_path)
    figures = found.to_json()
    write_table(found, tmp_path)
    text = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "Fewer seeds than declared: “heads”." in text
    assert "1 of 2" in text
    assert figures["tests"][0]["scores"]["heads"]["BLEU"]["spread"] is None
    assert list(gains_of(found)) == []


def test_a_comparison_without_the_baseline_is_in_the_picture(tmp_path):
    """As after `run.py --only heads phrases` of a table that has not begun."""
    declared = declaration()
    declared["comparisons"] = [{"system": "heads", "against": "phrases", "method": "heads"}]
    runs = runs_of(tmp_path, declared)
    write_test_set(runs, tmp_path, REFERENCE)
    for row, outputs in zip(list(runs.rows())[1:], OUTPUTS.values()):
        for run, lines in zip(row.runs, outputs):
            write_record(runs, run, lines)
    found = measure(runs, tmp_path)
    (gain,) = gains_of(found)
    assert (gain.method, gain.corpus) == ("heads", found.tests[0].corpus)


def test_a_row_of_which_a_run_diverged_has_no_scores(runs, tmp_path):
    for row in runs.rows():
        for run, lines in zip(row.runs, OUTPUTS.get(row.system.name, [])):
            write_record(runs, run, lines)
    heads = list(runs.rows())[1].runs[1]
    write_record(runs, heads, validation_nll=None, seconds=None, figures={})
    runs.records.file(heads.name, heads.key).with_suffix(".test.gz").unlink()
    found = measure(runs, tmp_path)
    figures = found.to_json()
    write_table(found, tmp_path)
    lines = (tmp_path / "table.md").read_text(encoding="utf-8").splitlines()
    scored = [line for line in lines if "| 2 " in line and "BLEU" not in line]
    assert "±" in scored[0]
    assert [cell.strip() for cell in scored[1].split("|")[2:5]] == ["2", "diverged: 1 of 2", "–"]
    assert set(figures["tests"][0]["scores"]) == {"stock"}


def test_characters_that_tables_are_made_of(tmp_path):
    declared = declaration()
    family = declared["families"]["transformer"]
    family["systems"]["heads"]["label"] = "p(a|b) --x"
    family["grid"] = {"--lr": [1]}
    runs = runs_of(tmp_path, declared)
    for run in runs.trials():
        write_record(runs, run, REFERENCE)
    write_test_set(runs, tmp_path, REFERENCE)
    write_table(measure(runs, tmp_path), tmp_path)
    rows = (tmp_path / "table.md").read_text(encoding="utf-8").splitlines()
    (head,) = (line for line in rows if line.startswith("| system") and "BLEU" in line)
    assert "--lr 1" in next(line for line in rows if line.startswith("| transformer.stock.1"))
    for line in rows:
        if line.startswith(r"| p(a\|b) --x") and "1 of 2" in line:
            assert line.count("|") == head.count("|") + 1
            break
    else:
        pytest.fail("no such row")


def test_nothing_has_run(tmp_path):
    runs = runs_of(tmp_path, declaration())
    write_table(measure(runs, tmp_path), tmp_path)
    assert (tmp_path / "table.md").read_text(encoding="utf-8").count("not run") == 3


def test_words_by_bucket(tmp_path):
    """Each comparison has the figures of `compare --words-by`, and a table under its labels."""
    declared = declaration()
    declared["evaluation"]["words_by"] = ["seen"]
    runs = runs_of(tmp_path, declared)
    write_test_set(runs, tmp_path, REFERENCE)
    (data,) = {plan["key"] for plan in runs.data.values()}
    training = tmp_path / "data" / data / "corpus" / "train.tgt"
    write(training, [line.partition("Hund")[0] for line in REFERENCE])
    for row in runs.rows():
        for place, lines in enumerate(OUTPUTS.get(row.system.name, [])):
            write_record(runs, row.runs[place], lines)
    found = measure(runs, tmp_path)
    figures = found.to_json()
    (pair,) = (pair for test in figures["tests"] for pair in test["pairs"])
    (table,) = pair["words_by"]
    seen = table["buckets"][0]
    words = {
        word for line in training.read_text(encoding="utf-8").splitlines() for word in line.split()
    }
    count = sum(word in words for line in REFERENCE for word in line.split())
    assert (seen["bucket"], seen["words"]) == ("seen", count)
    assert [system["name"] for system in seen["systems"]] == ["Transformer", "heads"]
    assert seen["systems"][1]["difference"] > 0
    write_table(found, tmp_path / "results")
    text = (tmp_path / "results" / "table.md").read_text(encoding="utf-8")
    assert "**test: F1 of words by seen; p after Holm's adjustment over 1 bucket**" in text
