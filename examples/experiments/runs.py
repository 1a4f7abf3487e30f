"""The trainings of a table, each known by the key of all that its figures depend on."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from experiments.corpus import DONE, key_of, plan_control, plan_data
from experiments.records import Records
from experiments.table_config import DeclaredSystem, Family, Table
from syntax_nmt.errors import UserError


@dataclass(frozen=True)
class Run:
    """A training, and what is measured after it.

    Attributes:
        name: family, system and seed, with dots between.
        key: of the plan.
        plan: all that a job needs to know but the places of files.
        setting: point of the grid, as options.
        data: plans of the data to prepare, in this order: the family's, whose texts it translates,
            and the control's that is made of them, if it is trained on one.
    """

    name: str
    key: str
    plan: Mapping[str, Any]
    setting: str
    data: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        family: of the system.
        system: as it is declared.
        trained: the same, or the one that was chosen for it; None = there is no choice yet.
        setting: point of the grid, as options; None = there is no choice yet.
        runs: one a declared seed, once there are choices.
    """

    family: Family
    system: DeclaredSystem
    trained: DeclaredSystem | None = None
    setting: str | None = None
    runs: tuple[Run, ...] = ()


class Runs:
    """The runs of a table, and which of them have a record in the folder of results.

    Args:
        root: of the texts; None = not given.
        stanza: of the parser's models; None = not given.
    """

    def __init__(self, table: Table, root: Path | None, stanza: Path | None, results: Path) -> None:
        self.table, self.records = table, Records(results)
        self.data = {
            (family.name, system.prepare): plan_data(_prepared_by(family, system), root, stanza)
            for family in table.families
            for system in family.systems.values()
        }

    def test_data(self, family: Family) -> Mapping[str, Any]:
        """The plan of the data whose test sets a family's systems are scored on: its baseline's."""
        return self.data[family.name, family.systems[family.baseline].prepare]

    def trials(self) -> Iterator[Run]:
        """The runs that settings are chosen by: the grid, with each tuned system's first seed."""
        for family in self.table.families:
            for system in family.systems.values() if family.grid else ():
                if system.like == system.name and not system.best_of:
                    yield from (self._first(family, system, one) for one in family.settings())

    def candidates(self) -> Iterator[Run]:
        """The runs that systems are chosen by, as far as settings have been chosen."""
        for family in self.table.families:
            for name in dict.fromkeys(n for s in family.systems.values() for n in s.best_of):
                setting = self._setting(family, family.systems[name])
                if setting is not None:
                    yield self._first(family, family.systems[name], setting)

    def rows(self) -> Iterator[Row]:
        """The rows, with their runs as far as choices have been made."""
        for family in self.table.families:
            for system in family.systems.values():
                trained = self._trained(family, system)
                setting = None if trained is None else self._setting(family, trained)
                if trained is None or setting is None:
                    yield Row(family, system)
                    continue
                runs = (self._run(family, trained, setting, seed) for seed in system.seeds)
                yield Row(family, system, trained, setting, tuple(runs))

    def record(self, run: Run) -> dict[str, Any] | None:
        """What came out of a run; None = it is not done.

        Raises:
            UserError: its record is damaged, or another's.
        """
        found = self.records.find(run.key)
        if found is not None and (not isinstance(found, dict) or found.get("key") != run.key):
            file = self.records.file(run.name, run.key)
            raise UserError(f"{file}: is not the record of {run.name}: remove it")
        return found

    def refuse_other_data(self, folder: Path) -> None:
        """Refuses prepared data that are not those of a recorded run with the same options.

        Another version of SentencePiece or Stanza can prepare other files, whose runs would stand
        in one table.

        Args:
            folder: of all prepared data, by key.

        Raises:
            UserError: the checksums differ.
        """
        for run in recorded(self):
            done = folder / run.plan["data"] / DONE
            record = self.record(run)
            if record is None or not done.is_file():
                continue
            here, there = json.loads(done.read_text("utf-8"))["checksum"], record["data_checksum"]
            if here != there:
                versions = ", ".join(map(" ".join, record["versions"].items()))
                raise UserError(
                    f"{done.parent}: the same options prepared other files here (checksum {here}) "
                    f"than {run.name} was trained on ({there}): install the versions of its record "
                    f"({versions}) and remove this folder, or remove the table's records"
                )

    def seconds(self, run: Run) -> float | None:
        """How long a run trains: as others of its system, or else of its family; None = unknown."""
        name = run.name.rpartition(".")[0]
        for prefix in (f"{name}.", f"{name.partition('.')[0]}."):
            took = [record["seconds"] for record in self.records.named(prefix)]
            known = [seconds for seconds in took if seconds is not None]
            if known:
                return mean(known)
        return None

    def _run(self, family: Family, system: DeclaredSystem, setting: str, seed: int) -> Run:
        evaluation = self.table.evaluation
        data = [self.data[family.name, system.prepare]]
        if system.control:
            data.append(plan_control(data[0], system.control, seed))
        plan = {
            "data": data[-1]["key"],
            "options": _joined(family.training, setting, system.options),
            "seed": seed,
            "average": evaluation["average"],
            "generate": _joined(evaluation["generate"], system.generate),
            "figures": system.figures,
        }
        return Run(f"{family.name}.{system.name}.{seed}", key_of(plan), plan, setting, tuple(data))

    def _first(self, family: Family, system: DeclaredSystem, setting: str) -> Run:
        return self._run(family, system, setting, system.seeds[0])

    def _trained(self, family: Family, system: DeclaredSystem) -> DeclaredSystem | None:
        if not system.best_of:
            return system
        systems = [family.systems[name] for name in system.best_of]
        settings = [self._setting(family, candidate) for candidate in systems]
        runs = [
            None if setting is None else self._first(family, candidate, setting)
            for candidate, setting in zip(systems, settings)
        ]
        best = self._best(runs)
        return None if best is None else systems[best]

    def _setting(self, family: Family, system: DeclaredSystem) -> str | None:
        settings = list(family.settings())
        if not family.grid:
            return settings[0]
        tuned = family.systems[system.like]
        best = self._best([self._first(family, tuned, setting) for setting in settings])
        return None if best is None else settings[best]

    def _best(self, runs: Sequence[Run | None]) -> int | None:
        """The place of the least validation nll, the first of equals; None = some are not done."""
        records = [None if run is None else self.record(run) for run in runs]
        known = [record for record in records if record is not None]
        if len(known) < len(runs):
            return None
        losses = [math.inf if has_diverged(each) else each["validation_nll"] for each in known]
        return losses.index(min(losses))


def has_diverged(record: Mapping[str, Any]) -> bool:
    """Whether the training ended without a model that gives numbers."""
    return record["validation_nll"] is None


def recorded(runs: Runs) -> list[Run]:
    """The runs of a table that are done: of rows, and those that something was chosen by."""
    there = runs.records.keys()
    return [run for run in needed(runs) if run.key in there]


def scored_data(runs: Runs, planned: Iterable[Run] = ()) -> list[Mapping[str, Any]]:
    """The plans of the data whose references runs are scored against.

    Args:
        planned: runs beside those that are done.
    """
    families = {run.name.partition(".")[0] for run in (*recorded(runs), *planned)}
    return [runs.test_data(each) for each in runs.table.families if each.name in families]


def needed(runs: Runs) -> list[Run]:
    """The runs that a table stands on, as far as choices have been made."""
    rows = (run for row in runs.rows() for run in row.runs)
    return [*runs.trials(), *runs.candidates(), *rows]


def _prepared_by(family: Family, system: DeclaredSystem) -> Mapping[str, Any]:
    if not system.prepare:
        return family.data
    return {**family.data, "prepare": _joined(family.data["prepare"], system.prepare)}


def _joined(*options: str) -> str:
    return " ".join(" ".join(options).split())
