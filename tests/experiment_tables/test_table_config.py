"""YAMLs of tables: wrong ones are refused in one line that says where; since when a comparison is
declared; every row is a command line that fairseq takes, and a model that it builds.
"""

from pathlib import Path

import pytest
import yaml

pytest.importorskip("jsonschema", reason="the extra `experiments` is not installed")
import subprocess

from commands import REPOSITORY
from declared import declaration
from fairseq import options, tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf

from experiments.programs import fill
from experiments.table_config import Comparison, declared_dates, read_table
from syntax_nmt.errors import UserError

TABLES = sorted((REPOSITORY / "examples/experiments/tables").glob("*.yaml"))


def change(keys, value):
    declared = inside = declaration()
    for key in keys[:-1]:
        inside = inside[key]
    inside[keys[-1]] = value
    return declared


SYSTEMS = ("families", "transformer", "systems")
WRONG = [
    (("seeds",), [1, 1], "seeds: [1, 1] has non-unique elements"),
    (("primary",), "ribes", "primary: ribes is not among evaluation.metrics"),
    (("evaluation", "bins"), [30, 15], "evaluation.bins: [30, 15] does not ascend: give each len"),
    (("evaluation", "bins"), [15, 30, 20], "evaluation.bins: [15, 30, 20] does not ascend"),
    (("evaluation", "bins"), [15, 15], "evaluation.bins: [15, 15] does not ascend"),
    (
        ("evaluation", "tokenize"),
        "13b",
        "evaluation.tokenize: 13b is none of sacrebleu's: give one of none, zh, 13a",
    ),
    (
        ("evaluation", "change"),
        {"from": "test", "to": "left_out"},
        "evaluation.change: transformer has no test set left_out: give two of test",
    ),
    (
        ("evaluation", "change"),
        {"from": "test", "to": "test"},
        "evaluation.change: from test to itself: give two test sets",
    ),
    ((*SYSTEMS, "stock", "optoins"), "", "systems.stock: Additional properties are not allowed"),
    ((*SYSTEMS, "stock", "figures"), ["LAS"], "stock: figures: LAS is not defined under figures"),
    ((*SYSTEMS, "stock", "like"), "none", "stock: none is no system of the family"),
    ((*SYSTEMS, "stock", "best_of"), ["heads", "phrases"], "systems.stock: "),
    ((*SYSTEMS, "a.b"), {"options": ""}, "'a.b' does not match"),
    (("families", "transformer", "grid"), {"lr": [1]}, "'lr' does not match"),
    (("data", "tests"), {"train": "x"}, "data.tests"),
    (("data", "tests"), {"a,b": "x"}, "'a,b' does not match"),
    (
        (*SYSTEMS, "best"),
        {"best_of": ["heads", "phrases"], "figures": ["UAS"]},
        "systems.best: False schema does not allow ['UAS']",
    ),
    (
        (*SYSTEMS, "best"),
        {"best_of": ["heads", "phrases"], "prepare": "--features upos"},
        "systems.best: False schema does not allow '--features upos'",
    ),
    ((*SYSTEMS, "best"), {"best_of": ["heads", "best"]}, "best: best is no system of the family"),
    ((*SYSTEMS, "heads", "label"), "Transformer", "two systems are called Transformer"),
    ((*SYSTEMS, "heads", "label"), "-x", "heads.label: '-x' does not match"),
    (("data", "every"), 2, "transformer: data: demo and every: give the built-in corpus, or text"),
    (
        ("families", "transformer", "data"),
        {"train": "x"},
        "data: demo and train: give the built-in",
    ),
    (("data",), {"source": "a", "target": "b", "prepare": ""}, "data: no train, and no demo: give"),
    (
        (*SYSTEMS,),
        {name: {"options": "", "like": like} for name, like in ("ab", "bc", "cc")},
        "systems.a: like: b has no grid of its own: give c",
    ),
    (
        ("comparisons",),
        [{"system": "heads", "against": "stock"}],
        "comparisons.0: 0 families have systems with the labels heads and stock: give two labels",
    ),
]


@pytest.fixture
def table(tmp_path):
    """Gives the table of a declaration."""

    def read(declared):
        path = tmp_path / "table.yaml"
        path.write_text(yaml.safe_dump(declared), encoding="utf-8")
        return read_table(path)

    return read


@pytest.mark.parametrize(("keys", "value", "message"), WRONG)
def test_what_is_wrong_is_named(table, tmp_path, keys, value, message):
    with pytest.raises(UserError) as refused:
        table(change(keys, value))
    assert message in str(refused.value)
    assert f"{tmp_path}/table.yaml" in str(refused.value)


def test_seeds_are_whole_numbers(table):
    """A run's name ends in its seed; to JSON's schema 1.0 is an integer."""
    stock = table(change(("seeds",), [1.0])).families[0].systems["stock"]
    assert list(map(repr, stock.seeds)) == ["1"]


def test_an_empty_value_is_kept_and_an_empty_place_is_not():
    assert fill("--replace-unk '' {device} --x {data}", {"device": "", "data": "d"}) == [
        *("--replace-unk", "", "--x", "d")
    ]


@pytest.mark.parametrize(
    ("keys", "wrong", "right"),
    [
        (("families", "transformer"), "system", "systems"),
        ((*SYSTEMS, "stock"), "optoins", "options"),
    ],
)
def test_what_was_meant_is_said(table, keys, wrong, right):
    declared = place = declaration()
    for key in keys:
        place = place[key]
    place[wrong] = place.pop(right, "")
    with pytest.raises(UserError, match=rf": {wrong}: did you mean {right}\?$"):
        table(declared)


def test_comparisons_are_by_labels_within_a_family(table):
    declared = change(("comparisons",), [{"system": "heads", "against": "Transformer"}])
    declared["families"]["other"] = {
        "training": "",
        "systems": {"base": {"options": "", "label": "heads"}, "more": {"options": ""}},
    }
    assert table(declared).comparisons == (Comparison("transformer", "heads", "stock"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [("a: 1\na: 2\n", "a twice"), ("a: [", "cannot be read"), ("- a\n", "is not of type 'object'")],
)
def test_what_is_no_table(tmp_path, text, message):
    path = tmp_path / "table.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_table(path)
    with pytest.raises(UserError, match="cannot be read"):
        read_table(tmp_path / "absent.yaml")


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_the_tables_are_well_formed(path):
    table = read_table(Path(path))
    assert table.families
    assert all(len(family.systems) > 1 for family in table.families)


def commit(folder, day, *pairs):
    commit_table(
        folder, day, {"comparisons": [{"system": a, "against": b, **more} for a, b, more in pairs]}
    )


def commit_table(folder, day, table):
    (folder / "table.yaml").write_text(yaml.safe_dump(table, sort_keys=False))
    for command in (["add", "table.yaml"], ["commit", "-m", day, "--date", f"{day}T12:00:00"]):
        who = ["-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", *who, *command], cwd=folder, check=True, capture_output=True)


def test_the_first_version_that_tests_it_counts(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    a, b, shown = ("a", "x", {}), ("b", "x", {}), ("b", "x", {"only_shown": True})
    commit(tmp_path, "2026-01-01", a, shown)
    commit(tmp_path, "2026-01-03", a, b)
    commit(tmp_path, "2026-01-05", b)
    dates = declared_dates(tmp_path / "table.yaml")
    assert dates == {("a", "x"): "2026-01-01", ("b", "x"): "2026-01-03"}


def test_without_comparisons_the_first_version_with_both_systems_counts(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    declared = change((*SYSTEMS, "more"), {"options": ""})
    earlier = declaration()
    commit_table(tmp_path, "2026-01-01", {"families": {"transformer": {"systems": {}}}})
    commit_table(tmp_path, "2026-01-02", earlier)
    commit_table(tmp_path, "2026-01-04", declared)
    found = {pair.system: pair.declared for pair in read_table(tmp_path / "table.yaml").comparisons}
    assert found == {
        name: "2026-01-04" if name == "more" else "2026-01-02"
        for name in declared["families"]["transformer"]["systems"]
        if name != "stock"
    }
    declared["comparisons"] = [{"system": "more", "against": "Transformer"}]
    commit_table(tmp_path, "2026-01-06", declared)
    (pair,) = read_table(tmp_path / "table.yaml").comparisons
    assert pair.declared == "2026-01-06"


def test_a_table_that_is_in_no_checkout(tmp_path):
    (tmp_path / "table.yaml").write_text("comparisons: []")
    assert declared_dates(tmp_path / "table.yaml") == {}


@pytest.fixture(scope="module")
def parameters(prepared):
    """Of a command line's model; its criterion is built, too."""

    def count(text):
        given = ["--source-lang", "src", "--target-lang", "tgt", "--save-dir", "none"]
        given = [str(prepared.data), *given, *fill(text, {})]
        parser = options.get_training_parser()
        config = convert_namespace_to_omegaconf(options.parse_args_and_arch(parser, given))
        task = tasks.setup_task(config.task)
        model = task.build_model(config.model)
        task.build_criterion(config.criterion)
        return sum(parameter.numel() for parameter in model.parameters())

    return count


# One without --slow: its models are tiny.
@pytest.mark.dear
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=() if path.stem == "builtin" else pytest.mark.slow)
        for path in TABLES
    ],
)
def test_rows_are_models(parameters, path):
    counted = {}
    for family in read_table(path).families:
        points = list(family.settings())
        for name, system in family.systems.items():
            if not system.best_of:
                command = f"{family.training} {points[-1]} {system.options}"
                counted[name] = parameters(command)
    # Controls have as many parameters as what they stand against, within 1 %, whatever the words.
    for control, method in (("stock-wide", "phrase"), ("cgru-wide", "relation")):
        if control in counted:
            assert counted[control] == pytest.approx(counted[method], rel=0.01)
