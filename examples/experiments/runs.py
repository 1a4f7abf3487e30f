"""Trainings that a table consists of, each known by the key of all that its figures depend on."""

from __future__ import annotations

import json
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

    @property
    def record(self) -> str:
        """The name of the file with what came out."""
        return f"{self.name}.{self.key}.json"


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        family: of the system.
        system: declared.
        setting: options chosen from the grid; None = not all of the grid has run.
        runs: of the declared seeds; none before there is a choice.
    """

    family: Family
    system: System
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
            "options": [*family.training, *setting, *system.options],
            "seed": seed,
            "average": evaluation["average"],
            "generate": [*evaluation["generate"], *system.generate],
            "figures": system.figures,
        }
        return Run(f"{family.name}.{system.name}.{seed}", key_of(plan), plan)

    def grid(self) -> Iterator[Run]:
        """The runs that settings are chosen by, with each system's first seed."""
        for family in self.table.families:
            for system in family.systems if family.grid else ():
                if system.like == system.name:
                    for setting in family.settings():
                        yield self.run(family, system, setting, system.seeds[0])

    def rows(self) -> Iterator[Row]:
        """The rows of the table, with their runs as far as settings have been chosen."""
        for family in self.table.families:
            by_name = {system.name: system for system in family.systems}
            for system in family.systems:
                setting = self.choice(family, by_name[system.like])
                seeds = () if setting is None else system.seeds
                runs = tuple(self.run(family, system, setting or (), seed) for seed in seeds)
                yield Row(family, system, setting, runs)

    def choice(self, family: Family, system: System) -> tuple[str, ...] | None:
        """The setting of the grid with the best validation nll, the first of equals.

        Args:
            family: with the grid.
            system: that was trained with each setting.
        """
        found = []
        for setting in family.settings():
            if not family.grid:
                return setting
            record = self.record(self.run(family, system, setting, system.seeds[0]))
            if record is None:
                return None
            found.append((record["validation_nll"], len(found), setting))
        return min(found)[2]

    def record(self, run: Run) -> dict[str, Any] | None:
        """What came out of a run; None = it is not done.

        Args:
            run: of this table.
        """
        file = self.results / run.record
        if not file.is_file():
            return None
        return json.loads(file.read_text(encoding="utf-8"))
