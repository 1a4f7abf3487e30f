"""A table as its YAML declares it: data, systems, seeds, evaluation."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from syntax_nmt.errors import UserError

_SCHEMA = Path(__file__).with_name("table.schema.yaml")
_METRIC_DEFAULTS = {"tokenize": None, "bins": [15, 30, 45], "lengths": "pieces", "average": 0}


@dataclass(frozen=True)
class System:
    """A row.

    Attributes:
        name: within its family.
        label: in tables.
        options: of fairseq-train, beside the family's.
        generate: of fairseq-generate, beside the evaluation's.
        seeds: declared.
        like: the system of the family whose setting from the grid this one takes.
        best_of: the systems of which it is the best by validation, instead of options of its own.
        figures: further figures, by name; each a command and where its JSON has the value.
        published: what the paper says.
    """

    name: str
    label: str
    options: tuple[str, ...]
    generate: tuple[str, ...]
    seeds: tuple[int, ...]
    like: str
    best_of: tuple[str, ...]
    figures: Mapping[str, Mapping[str, str]]
    published: str

    @property
    def is_tuned(self) -> bool:
        """Whether it is trained with every point of the grid."""
        return self.like == self.name and not self.best_of


@dataclass(frozen=True)
class Family:
    """Systems that are compared with one baseline.

    Attributes:
        name: within the table.
        baseline: name of the first system.
        data: of :mod:`experiments.corpus`.
        training: options of fairseq-train.
        grid: values by option; empty = nothing to choose.
        systems: the baseline first.
    """

    name: str
    baseline: str
    data: Mapping[str, Any]
    training: tuple[str, ...]
    grid: Mapping[str, tuple[str, ...]]
    systems: tuple[System, ...]

    def system(self, name: str) -> System:
        """One of its systems.

        Args:
            name: of it.
        """
        return next(system for system in self.systems if system.name == name)

    def settings(self) -> Iterator[tuple[str, ...]]:
        """The points of the grid, as options; one without options where there is no grid."""
        for values in itertools.product(*self.grid.values()):
            yield tuple(itertools.chain(*zip(self.grid, values)))


@dataclass(frozen=True)
class Table:
    """One YAML.

    Attributes:
        name: of the file, without its ending.
        title: in words.
        primary: the metric that the table is about.
        evaluation: metrics, tokenisation, bins of lengths, what is evaluated and how.
        families: in their order.
    """

    name: str
    title: str
    primary: str
    evaluation: Mapping[str, Any]
    families: tuple[Family, ...]


def read_table(path: Path) -> Table:
    """Reads and checks a YAML.

    Args:
        path: the file.

    Raises:
        UserError: it is not as `table.schema.yaml` says, or names what it does not define.
    """
    try:
        declared = yaml.load(path.read_text(encoding="utf-8"), _UniqueKeys)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path}: no YAML: {error}") from None
    schema = yaml.safe_load(_SCHEMA.read_text(encoding="utf-8"))
    wrong = best_match(Draft202012Validator(schema).iter_errors(declared))
    if wrong is not None:
        raise UserError(f"{path}: {'.'.join(map(str, wrong.path)) or 'table'}: {wrong.message}")
    if declared["primary"] not in declared["evaluation"]["metrics"]:
        raise UserError(f"{path}: primary: {declared['primary']} is not among evaluation.metrics")
    evaluation = {**_METRIC_DEFAULTS, **declared["evaluation"]}
    evaluation["generate"] = shlex.split(evaluation["generate"])
    families = tuple(
        _family(f"{path}: families.{name}", name, family, declared)
        for name, family in declared["families"].items()
    )
    return Table(path.stem, declared["title"], declared["primary"], evaluation, families)


def _family(where: str, name: str, family: dict[str, Any], declared: dict[str, Any]) -> Family:
    if family["baseline"] not in family["systems"]:
        raise UserError(f"{where}: the baseline {family['baseline']} is none of its systems")
    data = {**declared["data"], **family.get("data", {})}
    if ("demo" in data) == ("train" in data):
        raise UserError(f"{where}: data: give either demo, or train, valid and tests")
    if "train" in data and not {"valid", "tests"} <= data.keys():
        raise UserError(f"{where}: data: train is given without valid and tests")
    systems = [
        _system(f"{where}.systems.{system}", system, family["systems"], declared)
        for system in family["systems"]
    ]
    systems.sort(key=lambda system: system.name != family["baseline"])
    grid = {option: tuple(map(str, v)) for option, v in family.get("grid", {}).items()}
    training = tuple(shlex.split(family["training"]))
    return Family(name, family["baseline"], data, training, grid, tuple(systems))


def _system(where: str, name: str, systems: dict[str, Any], declared: dict[str, Any]) -> System:
    given = systems[name]
    best_of, like = given.get("best_of", ()), given.get("like", name)
    for other in (*best_of, like):
        if other not in systems or (other != name and {"best_of", "like"} & systems[other].keys()):
            raise UserError(
                f"{where}: {other} is no system of the family with a setting of its own"
            )
    if bool(best_of) == ("options" in given):
        raise UserError(f"{where}: give either options, or best_of")
    known = declared.get("figures", {})
    unknown = [figure for figure in given.get("figures", ()) if figure not in known]
    if unknown:
        raise UserError(f"{where}: figures: {unknown[0]} is not defined under figures")
    return System(
        name=name,
        label=given.get("label", name),
        options=tuple(shlex.split(given.get("options", ""))),
        generate=tuple(shlex.split(given.get("generate", ""))),
        seeds=tuple(given.get("seeds", declared["seeds"])),
        like=like,
        best_of=tuple(best_of),
        figures={figure: known[figure] for figure in given.get("figures", ())},
        published=given.get("published", ""),
    )


class _UniqueKeys(yaml.SafeLoader):
    """A second system of the same name would silently take the place of the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        """Refuses a key that is there twice.

        Args:
            node: of the YAML.
            deep: as PyYAML has it.
        """
        keys = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{key} is there twice", node.start_mark
                )
        return super().construct_mapping(node, deep)
