"""What pages say of the experiments stands in the tables."""

import json
import re

import pytest
from commands import REPOSITORY

from experiments.gains_picture import claims_of, draw_gains, gains_of, with_means
from experiments.table_results import TableResult
from syntax_nmt.errors import UserError
from syntax_nmt.scoring.translations.block_test import SeedBlocks
from syntax_nmt.scoring.translations.significance import SeedTest, holm

EXPERIMENTS = REPOSITORY / "examples" / "experiments"
PAGES = [
    EXPERIMENTS / "GAINS.md",
    EXPERIMENTS / "NOTES.md",
    *sorted(REPOSITORY.glob("examples/*/README.md")),
]
RIVALS, COVERAGE = "multi30k_tenth_rivals", "builtin_coverage"
DECISIVE = "multi30k_tenth_decisive"
VARIATIONAL, CONSTITUENTS = "builtin_variational", "builtin_constituents"
GENERALISATION = "builtin_generalisation"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.parent.name)
def test_means_over_seeds_are_those_of_a_table(page):
    tables = "".join(path.read_text("utf-8") for path in EXPERIMENTS.glob("results/*/table.md"))
    said = re.findall(r"\d+\.\d ± \d+\.\d", page.read_text("utf-8"))
    assert [figure for figure in said if figure not in tables] == []


def test_the_readme_says_what_each_file_does():
    said = (EXPERIMENTS / "README.md").read_text("utf-8").partition("## How it is made")[2]
    files = [path.name for path in EXPERIMENTS.glob("*.py") if path.name != "__init__.py"]
    assert [name for name in files if f"`{name}`" not in said] == []


def test_the_readme_says_of_each_table_whether_it_has_run():
    said = (EXPERIMENTS / "README.md").read_text("utf-8")
    found = re.findall(r"^\| (.*) \| \[(\w+)\]\(tables/\2\.yaml\) \|", said, re.M)
    rows = {table: about for about, table in found}
    assert rows.keys() == {path.stem for path in EXPERIMENTS.glob("tables/*.yaml")}
    run = {path.parent.name for path in EXPERIMENTS.glob("results/*/table.json")} | {"toy"}
    assert {table for table, about in rows.items() if "not yet run" not in about} == run


def test_what_has_not_run_is_listed():
    run = {path.parent.name for path in EXPERIMENTS.glob("results/*/table.json")} | {"toy"}
    said = (EXPERIMENTS / "GAINS.md").read_text("utf-8").partition("## What has not run")[2]
    missing = {path.stem for path in EXPERIMENTS.glob("tables/*.yaml")} - run
    assert [name for name in sorted(missing) if f"tables/{name}.yaml" not in said] == []


def block_tests(table: str, family: str, metric: str) -> dict[tuple[str, str], SeedTest]:
    """The tests with seeds as blocks of a table's comparisons, on its first test set, by system and
    baseline.
    """
    figures = json.loads((EXPERIMENTS / "results" / table / "table.json").read_text("utf-8"))
    rows = {row["system"]: row for row in figures["rows"] if row["family"] == family}
    test = next(test for test in figures["tests"] if test["family"] == family)
    scores = []
    for name in test["scores"]:
        row, seeds = rows[name], [run["seed"] for run in rows[name]["runs"]]
        of_metric = row["validation_nll"] if metric == "nll" else test["scores"][name][metric]
        scores.append(dict(zip(seeds, of_metric["runs"])))
    blocks, names = SeedBlocks(scores), list(test["scores"])
    pairs = [(p["system"], p["against"]) for p in test["pairs"] if p["is_tested"]]
    return {pair: blocks.test(names.index(pair[1]), names.index(pair[0])) for pair in pairs}


@pytest.mark.parametrize(
    ("table", "family", "metric", "pair", "comparisons", "said"),
    [
        (COVERAGE, "rnn", "nll", ("coverage", "cgru"), 3, "(−0.040 bits, p 0.009)"),
        (COVERAGE, "rnn", "BLEU", ("coverage", "cgru"), 3, "p 0.197 with seeds as blocks"),
        (DECISIVE, "transformer", "BLEU", ("features", "stock"), 5, "(+0.5, 0.2 to 0.8, p 0.004)"),
        (DECISIVE, "transformer", "BLEU", ("features", "features-dummy"), 5, "(+0.6, p 0.001)"),
        (DECISIVE, "transformer", "chrF2", ("features", "features-dummy"), 5, "(+0.7, p 0.002)"),
        (DECISIVE, "transformer", "chrF2", ("gcn", "stock"), 5, "chrF (−1.3, p 0.002)"),
        (DECISIVE, "transformer", "nll", ("gcn", "stock"), 5, "(−0.053 bits, p 0.001)"),
        (DECISIVE, "transformer", "BLEU", ("gcn", "gcn-borrowed"), 5, "(+1.9, p 0.004)"),
        (DECISIVE, "transformer", "nll", ("features", "stock"), 5, "(−0.045 bits, p 0.0001)"),
        (
            DECISIVE,
            "transformer",
            "nll",
            ("features", "features-dummy"),
            5,
            "(−0.030 bits, p 0.006)",
        ),
        (RIVALS, "transformer", "BLEU", ("features", "features-dummy"), 3, "BLEU +0.7, p 0.134"),
        (
            RIVALS,
            "transformer",
            "chrF2",
            ("features", "features-dummy"),
            3,
            "(chrF +1.3, p 0.0004;",
        ),
        (
            RIVALS,
            "transformer",
            "BLEU",
            ("features", "features-subword"),
            3,
            "(BLEU +0.8, p 0.018)",
        ),
        (RIVALS, "transformer", "nll", ("gcn", "gcn-borrowed"), 2, "(−0.053 bits, p 0.005)"),
        (RIVALS, "transformer", "BLEU", ("mixed", "stock"), 1, "BLEU +0.7, p 0.028"),
        (RIVALS, "rnn", "BLEU", ("tree2seq", "cgru"), 2, "BLEU −3.2, p 0.012"),
        (
            VARIATIONAL,
            "rnn",
            "BLEU",
            ("variational", "cgru"),
            3,
            "(−1.1, −3.5 to +1.2, p 0.471 with",
        ),
        (
            CONSTITUENTS,
            "transformer",
            "BLEU",
            ("structural", "stock"),
            5,
            "(+0.7, −4.7 to +6.1, p 0.906 with",
        ),
        (CONSTITUENTS, "transformer", "BLEU", ("structural", "distances"), 5, "(−3.2, p 0.007)"),
        (
            CONSTITUENTS,
            "transformer",
            "nll",
            ("constituents", "stock"),
            5,
            "(+0.039 bits, p 0.024)",
        ),
    ],
)
def test_seeds_as_blocks_are_those_of_the_table(table, family, metric, pair, comparisons, said):
    """After Holm's adjustment within a claim, or over the comparisons of the family."""
    assert " ".join(said.split()) in " ".join((EXPERIMENTS / "GAINS.md").read_text("utf-8").split())
    found = block_tests(table, family, metric)
    if comparisons == len(found):
        group = found
    else:
        group = {each: found[each] for each in found if each[0] == pair[0]}
    assert len(group) == comparisons
    adjusted = dict(zip(group, holm([each.p_value for each in group.values()])))
    p_value, decimals = re.search(r"p (0\.(\d+))", said).groups()
    assert f"{adjusted[pair]:.{len(decimals)}f}" == p_value
    difference = re.search(r"([+−]\d\.(\d+))", said)
    if difference:
        middle = (found[pair].low + found[pair].high) / 2
        shown = f"{middle:+.{len(difference[2])}f}".replace("-", "−")
        assert shown == difference[1]


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (("t5", "stock"), "(5.9 BLEU less than the Transformer, p below 0.001)"),
        (("latent", "stock"), "(5.1 BLEU less, p below 0.001)"),
        (("heads", "stock"), "(2.8 BLEU less, p below 0.001;"),
        (("gcn", "stock"), "3.0 BLEU less, p 0.034;"),
        (("heads-parsed", "stock"), "2.5 BLEU less, p below 0.001)"),
        (("heads", "heads-chain"), "(1.1 BLEU more, p 0.039)"),
        (("tree-distance", "stock"), "(3.4 BLEU more, p below 0.001;"),
        (("tree-distance", "tree-distance-borrowed"), "(7.3 BLEU less, p below 0.001)"),
        (("tree-distance", "tree-distance-chain"), "(3.3 BLEU more, p below 0.001)"),
        (("multitask", "stock"), "3.6 BLEU more, p 0.003)"),
        (("coverage", "coverage-balanced"), "(2.4 BLEU less, p 0.005)"),
        (("coverage", "coverage-borrowed"), "(2.0 BLEU less, p 0.012)"),
    ],
)
def test_changes_outside_the_split_are_those_of_the_table(pair, said):
    assert said in " ".join((EXPERIMENTS / "GAINS.md").read_text("utf-8").split())
    table = TableResult.read(EXPERIMENTS / "results" / GENERALISATION / "table.json")
    pairs = {(each.system, each.against): each for test in table.tests for each in test.pairs}
    change = pairs[pair].change  # of the last test set
    shown = f"{abs(change.difference):.1f} BLEU {'less' if change.difference > 0 else 'more'}"
    assert shown in said
    p_value = change.blocks.p_holm
    assert (f"p {p_value:.3f}" if p_value >= 0.001 else "p below 0.001") in said


def test_what_is_shown_outside_the_split():
    """Heads and distances in the tree lose more than over chains; distances and coverage less than
    over other trees."""
    table = TableResult.read(EXPERIMENTS / "results" / GENERALISATION / "table.json")
    changed = [pair for test in table.tests for pair in test.pairs if pair.change is not None]
    controls = ("-chain", "-borrowed", "-balanced")
    structured = [each for each in changed if each.against.endswith(controls)]
    assert len(structured) == 8
    shown = {
        each.against: each.change.difference > 0
        for each in structured
        if each.change.blocks.p_holm < 0.05
    }
    assert shown == {
        **{"heads-chain": False, "tree-distance-chain": False, "tree-distance-borrowed": True},
        **{"coverage-balanced": True, "coverage-borrowed": True},
    }


def test_differences_on_long_sentences_are_those_of_the_table():
    table = TableResult.read(EXPERIMENTS / "results" / "docs_en_de_controls" / "table.json")
    page = (EXPERIMENTS / "GAINS.md").read_text("utf-8")
    labels = table.labels("transformer")
    found = {labels[pair.system]: pair for pair in table.tests[0].pairs if pair.against == "stock"}
    assert len(found) == 4
    for label, pair in found.items():
        difference = f"{pair.scores['BLEU'].difference:+.1f}"
        assert re.search(rf"\| {label} \| [^|]* \| {re.escape(difference)} \|", page)


def test_means_over_corpora_are_those_of_the_tables():
    files = sorted((EXPERIMENTS / "results").glob("*/table.json"))
    gains = [gain for file in files for gain in gains_of(TableResult.read(file))]
    means = [gain for gain in with_means(gains) if gain.is_mean]
    assert [mean.label for mean in means] == [f"mean over {n} corpora" for n in (4, 3, 4, 3, 3)]
    page = " ".join((EXPERIMENTS / "GAINS.md").read_text("utf-8").split())
    for mean in means:
        numbers = f"{mean.difference:.2f}, {mean.low:.2f} to {mean.high:.2f}".replace("-", "−")
        assert f"{mean.method} {numbers}" in page


def test_a_table_without_comparisons_is_refused(tmp_path):
    """One of an older form would vanish from the picture of gains and from its means."""
    figures = json.loads((EXPERIMENTS / "results" / DECISIVE / "table.json").read_text("utf-8"))
    del figures["tests"][0]["pairs"]
    file = tmp_path / "old" / "table.json"
    file.parent.mkdir()
    file.write_text(json.dumps(figures), "utf-8")
    with pytest.raises(UserError) as error:
        draw_gains(tmp_path)
    assert str(error.value) == (
        f"{file}: not the figures of `run.py` (tests: has no pairs): write it again with "
        "`run.py tables/old.yaml --tables-only`"
    )


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            COVERAGE,
            [
                ("tree coverage", "over RNNsearch*", False),
                ("tree coverage", "over balanced trees", True),
                ("tree coverage", "over other trees", True),
            ],
        ),
        (
            DECISIVE,
            [
                ("graph convolution", "over Transformer", False),
                ("graph convolution", "over other trees", True),
                ("graph convolution", "over chains", False),
                ("features", "over Transformer", True),
                ("features", "over one value", True),
            ],
        ),
    ],
)
def test_the_picture_of_claims_has_those_of_the_table(table, expected):
    file = EXPERIMENTS / "results" / table / "table.json"
    claims = list(claims_of(TableResult.read(file)))
    assert [(claim.method, claim.label, claim.is_shown) for claim in claims] == expected
    assert all(claim.low < claim.difference < claim.high for claim in claims)
