"""Gains and p in the README and the notes are those of the tables."""

import json
import re

import pytest
from commands import REPOSITORY

EXPERIMENTS = REPOSITORY / "examples" / "experiments"
TENTH, WHOLE, RIVALS = "multi30k_tenth", "multi30k_en_de", "multi30k_tenth_rivals"
DECISIVE, COVERAGE = "multi30k_tenth_decisive", "builtin_coverage"
VARIATIONAL, CONSTITUENTS = "builtin_variational", "builtin_constituents"

LATENT, WIDER = "latent phrases", "control: RNNsearch\\* with a wider encoder"
HEADS = "dependency heads (+CSH +PSH)"
ALL_THREE = "heads, phrases and latent phrases with MSE"
DENSE = "control: the same stack of GRUs without relation layers"
STEP, BOUNDARIES = "bi-scale, context at every word", "bi-scale, context at boundaries"
PREFERRED = "latent phrases, the constraint that validation prefers (rank, mean of pairs)"
COMBINED = "**Multi30k German→English**"


def figures_of(table: str) -> list[dict]:
    """The tests of a table."""
    path = EXPERIMENTS / "results" / table / "table.json"
    return json.loads(path.read_text("utf-8"))["tests"]


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def is_said(p_value: float, said: str) -> bool:
    """Whether a page's p is that of a table: rounded, or `< 0.001`."""
    if said == "< 0.001":
        return p_value < 0.001
    return f"{p_value:.{len(said.partition('.')[2])}f}" == said


@pytest.mark.parametrize(
    ("table", "marker", "which", "rows"),
    [
        (
            "multi30k_tenth",
            "## A tenth",
            0,
            {
                "latent phrases, MSE": ("latent-mse", "stock"),
                "control: decay": ("decay", "stock"),
                "control: ALiBi": ("alibi", "stock"),
                "control: T5": ("t5", "stock"),
                "phrases": ("phrase", "stock"),
                "dependency heads": ("dependency", "stock"),
                "PASCAL": ("pascal", "stock"),
                "relation network": ("relation", "cgru"),
                "bi-scale decoder": ("bi-scale-step", "cgru"),
            },
        ),
        (
            "multi30k_quarter",
            "## A quarter",
            0,
            {
                "dependency heads": ("dependency", "stock"),
                "latent phrases (MSE, as validation prefers)": ("latent", "stock"),
            },
        ),
        (
            "multi30k_en_de",
            "## Transformers on the whole",
            0,
            {
                HEADS: ("dependency", "stock"),
                "control: heads of other sentences": ("dependency-borrowed", "stock"),
                "control: each word's head is the previous word": ("dependency-chain", "stock"),
                "phrases": ("phrase", "stock"),
                PREFERRED: ("latent", "stock"),
                "control: decay": ("decay", "stock"),
                "control: T5": ("t5", "stock"),
                ALL_THREE: ("all", "stock"),
            },
        ),
        (
            "multi30k_de_en",
            "## RNNs on the whole",
            0,
            {
                "relation network": ("relation", "cgru"),
                WIDER: ("cgru-wide", "cgru"),
                DENSE: ("dense", "cgru"),
                STEP: ("bi-scale-step", "cgru"),
                BOUNDARIES: ("bi-scale", "cgru"),
            },
        ),
        (
            "builtin",
            "## The built-in corpus",
            0,
            {
                HEADS: ("csh-psh", "stock"),
                "phrases": ("phrase", "stock"),
                PREFERRED: ("lpsi-best", "stock"),
                ALL_THREE: ("all", "stock"),
                "relation network": ("relation", "cgru"),
                STEP: ("bi-scale-step", "dl4mt"),
            },
        ),
        (
            "builtin_longer",
            "tables/builtin_longer.yaml",
            0,
            {
                "control: Transformer with a wider FFN": ("stock-wide", "stock"),
                HEADS: ("csh-psh", "stock"),
                "phrases": ("phrase", "stock"),
                "latent phrases, rank, mean of pairs": ("latent", "stock"),
                "relation network": ("relation", "cgru"),
                DENSE: ("dense", "cgru"),
                STEP: ("bi-scale-step", "dl4mt"),
                BOUNDARIES: ("bi-scale", "dl4mt"),
            },
        ),
        (
            "builtin_combined",
            "## Methods together",
            0,
            {
                "best method: latent phrases": ("best-single", "none"),
                "best pair: supervised heads and latent phrases": ("best-pair", "none"),
                "all five": ("all-five", "none"),
            },
        ),
        (
            "multi30k_de_en_combined",
            COMBINED,
            0,
            {LATENT: ("latent", "none"), "all five": ("all-five", "none")},
        ),
        (
            "multi30k_tenth_combined",
            COMBINED,
            1,
            {LATENT: ("latent", "none"), "all five": ("all-five", "none")},
        ),
    ],
)
def test_p_of_the_notes_are_those_of_the_table(table, marker, which, rows):
    """Of the first table below the marker; `which` of equal columns."""
    pairs = {
        (pair["system"], pair["against"]): pair["scores"]["BLEU"]
        for test in figures_of(table)
        for pair in test["pairs"]
        if pair["is_tested"]
    }
    below = (EXPERIMENTS / "NOTES.md").read_text("utf-8").partition(marker)[2]
    header, _, *said = re.search(r"^(\|.*\n)+", below, re.M)[0].splitlines()
    columns = {name: cells(header).index(name) for name in cells(header)}
    if which:
        columns = {
            name: len(cells(header)) - 1 - cells(header)[::-1].index(name) for name in columns
        }
    sentences = {"p sentences", "p over sentences", "p (Holm)"}
    of_row = {cells(row)[0]: cells(row) for row in said}
    # No other row has a p.
    place = columns[next(iter(sentences & columns.keys()))]
    assert {
        name for name, row in of_row.items() if row[place] not in ("", "not declared")
    } == rows.keys()
    for name, pair in rows.items():
        row, found = of_row[name], pairs[pair]
        for column, index in columns.items():
            if column in sentences:
                assert is_said(found["randomisation"]["p_holm"], row[index]), (name, row[index])
            elif column in ("p seeds", "p over seeds"):
                assert is_said(found["seeds"]["p_holm"], row[index]), (name, row[index])
            elif column == "difference":
                assert row[index] == f"{found['difference']:+.1f}".replace("-", "−"), name


@pytest.mark.parametrize(
    ("arch", "said", "table", "systems"),
    [
        ("dependency_transformer", "−0.1", TENTH, ["dependency"]),
        (
            "dependency_transformer",
            "+1.3 (chains +0.5, other trees +0.3)",
            WHOLE,
            ["dependency", "dependency-chain", "dependency-borrowed"],
        ),
        ("lisa_transformer", "+0.1 (other trees −0.1)", RIVALS, ["lisa", "lisa-borrowed"]),
        ("phrase_transformer", "+0.4", TENTH, ["phrase"]),
        ("phrase_transformer", "−0.3 (wider FFN 0.0, one seed)", WHOLE, ["phrase", "stock-wide"]),
        (
            "latent_phrase_transformer",
            "**+1.6** (decay **+1.0**)",
            TENTH,
            ["latent-mse", "decay"],
        ),
        ("latent_phrase_transformer", "trained again +1.4 (+1.4)", RIVALS, ["latent-mse", "decay"]),
        ("latent_phrase_transformer", "+1.1 (decay +0.9)", WHOLE, ["latent", "decay"]),
        ("pascal_transformer", "+0.5 (other trees +0.1)", TENTH, ["pascal", "pascal-borrowed"]),
        ("pascal_transformer", "again +0.1 (0.0)", RIVALS, ["pascal", "pascal-borrowed"]),
        (
            "tree_distance_transformer",
            "+0.2 (chains +0.6)",
            RIVALS,
            ["tree-distance", "tree-distance-chain"],
        ),
        (
            "structural_transformer",
            "+0.7 (chains +2.8)",
            CONSTITUENTS,
            ["structural", "structural-chain"],
        ),
        (
            "constituent_transformer",
            "−0.3 (other trees −0.2)",
            CONSTITUENTS,
            ["constituents", "constituents-borrowed"],
        ),
        (
            "tree_reg_transformer",
            "−0.4 (balanced trees −0.7)",
            CONSTITUENTS,
            ["regularized", "regularized-balanced"],
        ),
        (
            "feature_transformer",
            "**+0.5**, thirteen seeds (one value −0.1)",
            DECISIVE,
            ["features", "features-dummy"],
        ),
        (
            "gcn_transformer",
            "0.0, thirteen seeds (chains 0.0, other trees −1.9)",
            DECISIVE,
            ["gcn", "gcn-chain", "gcn-borrowed"],
        ),
        ("gcn_rnn", "+0.4 (other trees −1.2)", RIVALS, ["gcn", "gcn-borrowed"]),
        ("tree_order_rnn", "−1.2 (chains +0.3)", RIVALS, ["orders", "orders-chain"]),
        (
            "tree2seq_rnn",
            "−3.2 (balanced trees −2.8)",
            RIVALS,
            ["tree2seq", "tree2seq-balanced"],
        ),
        (
            "tree_coverage_rnn",
            "with coverage −0.5 (other trees −1.4)",
            RIVALS,
            ["coverage", "coverage-borrowed"],
        ),
        (
            "tree_coverage_rnn",
            "+1.1 (balanced trees −1.8, other trees −2.2)",
            COVERAGE,
            ["coverage", "coverage-balanced", "coverage-borrowed"],
        ),
        ("relation_rnn", "+3.7 (its size +2.6)", TENTH, ["relation", "cgru-wide"]),
        ("relation_rnn", "en→de −0.4", RIVALS, ["relation"]),
        ("relation_rnn", "+0.2 (its size +0.5)", "multi30k_de_en", ["relation", "cgru-wide"]),
        (
            "bi_scale_rnn",
            "−2.2 (other chunks −3.4)",
            TENTH,
            ["bi-scale-step", "bi-scale-borrowed"],
        ),
        ("variational_rnn", "−1.1 (no noise −0.3)", VARIATIONAL, ["variational", "mean"]),
    ],
)
def test_gains_in_the_readme_are_those_of_the_table(arch, said, table, systems):
    """On the first test set, over the first system of the family; bold if both tests show it."""
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    row = next(row for row in readme.splitlines() if row.startswith("| [") and f"`{arch}`" in row)
    assert said in row
    family = "rnn" if arch.endswith("_rnn") else "transformer"
    tests = figures_of(table)
    test = next(test for test in tests if test["family"] == family)
    scores, first = test["scores"], next(iter(test["scores"]))
    baseline = scores[first]["BLEU"]["score"]
    gains = [scores[system]["BLEU"]["score"] - baseline for system in systems]
    shown = [f"{gain:+.1f}".replace("-", "−") for gain in gains]
    found = re.findall(r"(?<![\d.])[+−]?\d\.\d", said)
    assert [re.sub("[+−]0[.]0", "0.0", each) for each in shown] == found
    bold = [
        f"**{gain}**"
        for system, gain in zip(systems, shown)
        for pair in test["pairs"]
        if (pair["system"], pair["against"], pair["is_tested"]) == (system, first, True)
        if all(pair["scores"]["BLEU"][name]["p_holm"] < 0.05 for name in ("randomisation", "seeds"))
    ]
    assert re.findall(r"\*\*.*?\*\*", said) == bold
    assert f"**{said}" not in row
