"""A table as its YAML declares it, and since when; `table.schema.yaml` says what may be there."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain, pairwise, product
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from sacrebleu.metrics import BLEU

from experiments.corpus import declared_tests
from syntax_nmt.errors import UserError

_SCHEMA = Path(__file__).with_name("table.schema.yaml")


@dataclass(frozen=True)
class DeclaredSystem:
    """A row of a table; texts of options are as on a command line.

    Attributes:
        name: within its family.
        label: what tables call it.
        like: the system whose setting from the grid this one takes; itself = it is tuned.
        seeds: declared.
        figures: further figures by name: a command, and where its JSON has the value.
        best_of: the systems of which it is the best by validation, instead of options of its own.
        options: of fairseq-train, beside the family's.
        generate: of fairseq-generate, beside the evaluation's.
        prepare: of `syntax-nmt prepare`, beside those of its family's data.
        control: what its annotation is, as the schema says; empty = that of the data.
        published: what its paper says.
    """

    name: str
    label: str
    like: str
    seeds: tuple[int, ...]
    figures: Mapping[str, Mapping[str, str]]
    best_of: tuple[str, ...]
    options: str = ""
    generate: str = ""
    prepare: str = ""
    control: str = ""
    published: str = ""


@dataclass(frozen=True)
class Family:
    """Systems that are compared with one baseline, which stands first."""

    name: str
    data: Mapping[str, Any]
    training: str
    grid: Mapping[str, list[str]]
    systems: Mapping[str, DeclaredSystem]

    @property
    def baseline(self) -> str:
        """The name of the first system."""
        return next(iter(self.systems))

    def settings(self) -> Iterator[str]:
        """The points of the grid, as options; one without any where there is no grid."""
        for values in product(*self.grid.values()):
            yield " ".join(chain(*zip(self.grid, map(str, values))))


@dataclass(frozen=True)
class Comparison:
    """Two systems of a family, by name, whose difference is tested.

    Attributes:
        method: what the picture of all gains calls it; empty = it is not shown there.
        is_control: the system has all of the method but the structure.
        is_tested: it was declared before the runs, and counts in Holm's adjustment.
        claim: the comparisons that Holm's adjustment is over, together with this one; empty = all
            that name none.
        declared: the day on which the YAML first had it; empty = it is in no commit.
    """

    family: str
    system: str
    against: str
    method: str = ""
    is_control: bool = False
    is_tested: bool = True
    claim: str = ""
    declared: str = ""


@dataclass(frozen=True)
class Table:
    """One YAML; `name` is that of the file, without its ending.

    Attributes:
        decided_by: the test that a claim rests on: `both` or `blocks`.
        comparisons: that are declared, or every system with its family's baseline.
    """

    name: str
    title: str
    primary: str
    choice: str
    evaluation: Mapping[str, Any]
    families: tuple[Family, ...]
    decided_by: str = "both"
    comparisons: tuple[Comparison, ...] = ()


def read_table(path: Path) -> Table:
    """Reads and checks a YAML.

    Raises:
        UserError: it is not as the schema says, or names a system or a figure that it lacks.
    """
    try:
        declared = yaml.load(path.read_text(encoding="utf-8"), _UniqueKeys)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None
    schema = yaml.safe_load(_SCHEMA.read_text(encoding="utf-8"))
    wrong = best_match(Draft202012Validator(schema).iter_errors(declared))
    if wrong is not None:
        where = ".".join(map(str, wrong.path)) or "table"
        raise UserError(f"{path}: {where}: {wrong.message}{_meant(wrong)}")
    if declared["primary"] not in declared["evaluation"]["metrics"]:
        raise UserError(f"{path}: primary: {declared['primary']} is not among evaluation.metrics")
    families = tuple(
        _family(f"{path}: families.{name}", name, family, declared)
        for name, family in declared["families"].items()
    )
    _check_evaluation(f"{path}: evaluation", declared["evaluation"], families)
    texts = {field: declared[field] for field in ("title", "primary", "choice", "evaluation")}
    dates = declared_dates(path, by_default="comparisons" not in declared)
    comparisons = tuple(
        _comparison(f"{path}: comparisons.{place}", pair, families, dates)
        for place, pair in enumerate(_compared(declared))
    )
    texts["decided_by"] = declared.get("decided_by", "both")
    return Table(name=path.stem, families=families, comparisons=comparisons, **texts)


def _meant(wrong: ValidationError) -> str:
    """What a misspelled key was to be; empty if none is like it."""
    known = wrong.schema.get("properties", {}) if isinstance(wrong.schema, Mapping) else {}
    if isinstance(wrong.instance, Mapping):
        for key in map(str, wrong.instance):
            close = get_close_matches(key, known, n=1)
            if close and key not in known:
                return f": {key}: did you mean {close[0]}?"
    return ""


def _check_evaluation(
    where: str, evaluation: Mapping[str, Any], families: Sequence[Family]
) -> None:
    """Refuses what would fail, or give wrong figures, after all trainings.

    Raises:
        UserError: bins do not ascend, sacrebleu has no such tokeniser, a family no such test set.
    """
    bins, tokenize = evaluation["bins"], evaluation["tokenize"]
    if any(low >= high for low, high in pairwise(bins)):
        raise UserError(f"{where}.bins: {bins} does not ascend: give each length once, in order")
    if tokenize not in BLEU.TOKENIZERS:
        known = ", ".join(BLEU.TOKENIZERS)
        raise UserError(f"{where}.tokenize: {tokenize} is none of sacrebleu's: give one of {known}")
    named = list(evaluation.get("change", {}).values())
    for family in families:
        tests = declared_tests(family.data)
        for test in (test for test in named if test not in tests):
            raise UserError(
                f"{where}.change: {family.name} has no test set {test}: give two of "
                f"{', '.join(tests)}"
            )
    if named and len(set(named)) < 2:
        raise UserError(f"{where}.change: from {named[0]} to itself: give two test sets")


def _compared(declared: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The comparisons of a YAML, or every system with its family's baseline."""
    if "comparisons" in declared:
        return declared["comparisons"]
    families = [family["systems"] for family in declared["families"].values()]
    labels = [[each.get("label", name) for name, each in family.items()] for family in families]
    return [{"system": other, "against": base} for base, *others in labels for other in others]


def _comparison(
    where: str,
    pair: Mapping[str, Any],
    families: Sequence[Family],
    dates: Mapping[tuple[str, str], str],
) -> Comparison:
    found, system, against = [], pair["system"], pair["against"]
    more = {
        "method": pair.get("method", ""),
        "is_control": pair.get("control", False),
        "is_tested": not pair.get("only_shown", False),
        "claim": pair.get("claim", ""),
        "declared": "" if pair.get("only_shown") else dates.get((system, against), ""),
    }
    for family in families:
        names = {each.label: each.name for each in family.systems.values()}
        if system in names and against in names:
            found.append(Comparison(family.name, names[system], names[against], **more))
    if len(found) != 1 or system == against:
        raise UserError(
            f"{where}: {len(found)} families have systems with the labels {system} and {against}: "
            "give two labels of one family"
        )
    return found[0]


def _family(where: str, name: str, family: dict[str, Any], declared: dict[str, Any]) -> Family:
    data = {**declared["data"], **family.get("data", {})}
    _check_data(f"{where}: data", data)
    systems = {
        system: _system(f"{where}.systems.{system}", system, family["systems"], declared)
        for system in family["systems"]
    }
    labels = [system.label for system in systems.values()]
    for label in labels:
        if labels.count(label) > 1:
            raise UserError(
                f"{where}: two systems are called {label}: give each a label of its own"
            )
    return Family(name, data, family["training"], family.get("grid", {}), systems)


def _check_data(where: str, data: Mapping[str, Any]) -> None:
    """Refuses data that are neither the built-in corpus nor text, or both."""
    needed = ("train", "valid", "tests")
    of_text = [key for key in (*needed, "every", "longest", "max_words", "files") if key in data]
    if "demo" in data and of_text:
        raise UserError(f"{where}: demo and {of_text[0]}: give the built-in corpus, or text")
    for key in needed if "demo" not in data else ():
        if key not in data:
            raise UserError(f"{where}: no {key}, and no demo: give the built-in corpus, or text")


def _system(
    where: str, name: str, systems: dict[str, Any], declared: dict[str, Any]
) -> DeclaredSystem:
    given = {"label": name, "like": name, "seeds": declared["seeds"], **systems[name]}
    best_of, figures = given.get("best_of", ()), given.get("figures", ())
    for other in {*best_of, *({given["like"]} - {name})}:
        if "best_of" in systems.get(other, {"best_of": None}):
            raise UserError(f"{where}: {other} is no system of the family with options of its own")
    tuned = systems.get(given["like"], {}).get("like", given["like"])
    if tuned != given["like"]:
        raise UserError(f"{where}: like: {given['like']} has no grid of its own: give {tuned}")
    known = declared.get("figures", {})
    unknown = [figure for figure in figures if figure not in known]
    if unknown:
        raise UserError(f"{where}: figures: {unknown[0]} is not defined under figures")
    collected = {
        "seeds": tuple(map(int, given["seeds"])),  # JSON's 1.0 is an integer, too
        "best_of": tuple(best_of),
        "figures": {figure: known[figure] for figure in figures},
    }
    return DeclaredSystem(**{**given, **collected, "name": name})


def declared_dates(table: Path, by_default: bool = False) -> dict[tuple[str, str], str]:
    """The day on which each comparison was first tested for, by system and baseline: the history of
    a YAML.

    Args:
        table: a YAML in a git checkout; nothing is known of another.
        by_default: a version without comparisons tests every system against its baseline; of a YAML
            that names its comparisons, only versions that name them count.
    """
    dates: dict[tuple[str, str], str] = {}
    for day, text in _versions(table):
        try:
            version = yaml.safe_load(text)
            compared = _compared(version) if by_default else version.get("comparisons", ())
            pairs = [
                (pair["system"], pair["against"]) for pair in compared if not pair.get("only_shown")
            ]
        except (yaml.YAMLError, AttributeError, TypeError, KeyError, ValueError):
            continue  # an unfinished version
        for pair in pairs:
            dates.setdefault(pair, day)
    return dates


def _versions(table: Path) -> Iterator[tuple[str, str]]:
    """The committed contents of a file, the oldest first, each with its day."""
    history = _git(table.parent, "log", "--reverse", "--format=%H %as", "--", table.name)
    for line in (history or "").splitlines():
        commit, day = line.split()
        text = _git(table.parent, "show", f"{commit}:./{table.name}")
        if text is not None:
            yield day, text


def _git(folder: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


class _UniqueKeys(yaml.SafeLoader):
    """Refuses a key that is there twice, where PyYAML drops the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        """As PyYAML's; `<<` may be there several times."""
        keys = [key.value for key, _ in node.value if not key.tag.endswith(":merge")]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.MarkedYAMLError(problem=f"{key} twice", problem_mark=node.start_mark)
        return super().construct_mapping(node, deep)
