"""Trainings that a table consists of, each known by the key of all that its figures depend on."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.corpus import key_of, plan_data
from experiments.table_config import Family, System, Table


@dataclass(frozen=True)
class Run:
    """A training of a system, with what is measured after it.

    Attributes:
        name: family, system and seed, with dots between.
        key: of `plan`.
        plan: everything that a job needs to know, apart from the places of files.
    """

    name: str
    key: str
    plan: Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        family: of the system.
        system: as it is declared.
        trained: the same, or the one that was chosen for it; None = there is no choice yet.
        setting: point of the grid, as options; None = there is no choice yet.
        runs: of the declared seeds; none before there is a choice.
    """

    family: Family
    system: System
    trained: System | None
    setting: tuple[str, ...] | None
    runs: tuple[Run, ...]


class Runs:
    """The runs of a table, and which of them are done.

    Args:
        table: the table.
        root: of the texts; None = not given.
        stanza: of the parser's models; None = not given.
        results: folder of the records.
    """

    def __init__(self, table: Table, root: Path | None, stanza: Path | None, results: Path) -> None:
        self.table = table
        self.results = results
        self.data = {family.name: plan_data(family.data, root, stanza) for family in table.families}

    def run(self, family: Family, system: System, setting: Sequence[str], seed: int) -> Run:
        """One training.

        Args:
            family: of the system.
            system: to train.
            setting: options chosen from the grid.
            seed: of the training.
        """
        evaluation = self.table.evaluation
        plan = {
            "data": self.data[family.name]["key"],
            "options": shlex.join([*family.training, *setting, *system.options]),
            "seed": seed,
            "average": evaluation["average"],
            "generate": shlex.join([*evaluation["generate"], *system.generate]),
            "figures": system.figures,
        }
        return Run(f"{family.name}.{system.name}.{seed}", key_of(plan), plan)

    def trials(self) -> Iterator[Run]:
        """The runs that something is chosen by, each with its system's first seed."""
        for family in self.table.families:
            for system in family.systems:
                for setting in family.settings() if family.grid and system.is_tuned else ():
                    yield self.run(family, system, setting, system.seeds[0])

    def candidates(self) -> Iterator[Run]:
        """The runs that systems are chosen by, once settings have been."""
        for family in self.table.families:
            for name in dict.fromkeys(name for system in family.systems for name in system.best_of):
                setting = self.setting(family, family.system(name))
                if setting is not None:
                    yield self.run(
                        family, family.system(name), setting, family.system(name).seeds[0]
                    )

    def rows(self) -> Iterator[Row]:
        """The rows of the table, with their runs as far as choices have been made."""
        for family in self.table.families:
            for system in family.systems:
                trained = self.trained_as(family, system)
                setting = None if trained is None else self.setting(family, trained)
                runs: tuple[Run, ...] = ()
                if trained is not None and setting is not None:
                    runs = tuple(self.run(family, trained, setting, seed) for seed in system.seeds)
                yield Row(family, system, trained, setting, runs)

    def trained_as(self, family: Family, system: System) -> System | None:
        """The system itself, or the one that was chosen for it; None = there is no choice yet.

        Args:
            family: of the system.
            system: of a row.
        """
        if not system.best_of:
            return system
        candidates = [family.system(name) for name in system.best_of]
        settings = [self.setting(family, candidate) for candidate in candidates]
        runs = [
            None if setting is None else self.run(family, candidate, setting, candidate.seeds[0])
            for candidate, setting in zip(candidates, settings)
        ]
        best = self._best(runs)
        return None if best is None else candidates[best]

    def setting(self, family: Family, system: System) -> tuple[str, ...] | None:
        """The point of the grid that a system is trained with; None = there is no choice yet.

        Args:
            family: with the grid.
            system: of the family; another may be tuned in its place.
        """
        if not family.grid:
            return ()
        tuned, settings = family.system(system.like), list(family.settings())
        seed = tuned.seeds[0]
        best = self._best([self.run(family, tuned, setting, seed) for setting in settings])
        return None if best is None else settings[best]

    def _best(self, runs: Sequence[Run | None]) -> int | None:
        """Which run has the least validation nll, the first of equals; None = some are not done."""
        records = [None if run is None else self.record(run) for run in runs]
        losses = [record["validation_nll"] for record in records if record is not None]
        return losses.index(min(losses)) if len(losses) == len(runs) else None

    def record(self, run: Run) -> dict[str, Any] | None:
        """What came out of a run, under whichever name; None = it is not done.

        Args:
            run: of this table.
        """
        file = self.record_file(run)
        return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None

    def record_file(self, run: Run) -> Path:
        """The record of a run; another name with the same key is that of the same training.

        Args:
            run: of this table.
        """
        found = sorted(self.results.glob(f"*.{run.key}.json"))
        return found[0] if found else self.results / f"{run.name}.{run.key}.json"
