"""The workflow of a snapshot: plans the runs that are missing, has Snakemake do them, in stages.

First the runs by which settings and systems are chosen, then the first seed of every system, then the second,
and so on, so that a table that was stopped has as many rows as can be. The tables are made of the
records that there are, whatever is still missing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from experiments.corpus import DONE
from experiments.measured_table import MeasuredTable
from experiments.runs import Run, Runs
from experiments.table_config import Family, read_table
from experiments.table_files import write_table
from syntax_nmt.cli import main as syntax_nmt_command
from syntax_nmt.data.text_files import write_bytes_atomically
from syntax_nmt.errors import UserError, one_line_errors

_SNAKEFILE = Path(__file__).with_name("Snakefile")
# Names say what is done, and files are whole or not there: neither times nor marks of Snakemake
# are asked. Two starts at once are told apart by the runs' own locks.
_SNAKEMAKE = ["--nolock", "--ignore-incomplete", "--rerun-triggers", "mtime", "--keep-going"]
_SNAKEMAKE += ["--scheduler", "greedy", "--quiet", "host", "reason"]


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="run.py",
        description="Makes or resumes tables of experiments; run.py installs a snapshot first.",
        epilog="What follows -- goes to Snakemake: -- --executor slurm --jobs 20",
    )
    add = parser.add_argument
    add("tables", nargs="+", type=Path, metavar="TABLE.yaml")
    add("--data", type=Path, metavar="DIR", help="folder of the corpora that the YAMLs name")
    add("--stanza", type=Path, metavar="DIR", help="Stanza's models for English")
    add("--cores", type=int, default=1, metavar="N", help="runs at a time (default: 1)")
    add("--device", choices=("cpu", "cuda"), default="cpu", help="to train on (default: cpu)")
    add("--only", nargs="+", metavar="SYSTEM", help="these systems; others stay as they are")
    add("--seeds", type=int, metavar="N", help="the first N of the declared seeds")
    add("--dry-run", action="store_true", help="say what is missing, and do nothing")
    add("--tables-only", action="store_true", help="make the tables of the records there are")
    add("--folder", type=Path, required=True, help="for data, runs, snapshots and report pages")
    add("--results", type=Path, required=True, help="for records and tables")
    add("--commit", required=True, help="that is run (default: HEAD)")
    add("snakemake", nargs="*", help=argparse.SUPPRESS)
    own, rest = sys.argv[1:], []
    if "--" in own:
        place = own.index("--")
        own, rest = own[:place], own[place + 1 :]
    args = parser.parse_args(own)
    args.snakemake = rest
    return args


class Workflow:
    """The runs of all tables, and how they are done.

    Args:
        args: of the command line.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.tables = [
            Runs(
                read_table(path),
                args.data and args.data.resolve(),
                args.stanza and args.stanza.resolve(),
                args.results / path.stem,
            )
            for path in args.tables
        ]

    def stages(self) -> Iterator[list[tuple[Runs, Run]]]:
        """The runs of each stage; those that something is chosen by come first."""
        for choosing in (Runs.trials, Runs.candidates):
            yield [
                (runs, run)
                for runs in self.tables
                for run in choosing(runs)
                if self._asked(runs, run)
            ]
        rows = [
            [(runs, run) for run in row.runs[: self.args.seeds]]
            for runs in self.tables
            for row in runs.rows()
            if self.args.only is None or row.system.name in self.args.only
        ]
        for stage in zip_longest(*rows):
            yield [run for run in stage if run is not None]

    def _asked(self, runs: Runs, run: Run) -> bool:
        """Whether a system that is asked for is chosen by this run."""
        only, wanted = self.args.only, set()
        for family in runs.table.families:
            for system in family.systems:
                if only is None or system.name in only:
                    wanted |= {system.like, *system.best_of}
                    wanted |= {family.system(name).like for name in system.best_of}
        return run.name.split(".")[1] in wanted

    def run_stage(self, stage: Sequence[tuple[Runs, Run]]) -> bool:
        """Has Snakemake make what is missing, data included; whether all of it is there now.

        Args:
            stage: its runs.
        """
        missing = [(runs, run) for runs, run in stage if runs.record(run) is None]
        folder = self.args.folder
        data = {plan["key"]: plan for runs in self.tables for plan in runs.data.values()}
        unprepared = [key for key in data if not (folder / "data" / key / DONE).is_file()]
        if not missing and not unprepared:
            return True
        for key, plan in data.items():
            _write_json(folder / "data" / key / "data.json", plan)
        targets = {}
        for runs, run in missing:
            family, system, seed = run.name.split(".")
            planned = {"key": run.key, "family": family, "system": system, "seed": int(seed)}
            _write_json(folder / "runs" / run.key / "run.json", {**planned, "plan": run.plan})
            targets[str(runs.record_file(run))] = run.plan["data"]
        plan_file = folder / f"plan-{os.getpid()}.json"
        fields = ("commit", "device")
        _write_json(
            plan_file,
            {
                **{name: getattr(self.args, name) for name in fields},
                "folder": str(folder),
                "results": str(self.args.results),
                "data": list(data),
                "runs": targets,
            },
        )
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(_SNAKEFILE)]
        command += ["--directory", str(folder), "--cores", str(self.args.cores), *_SNAKEMAKE]
        command += ["--config", f"plan={plan_file}", *self.args.snakemake]
        try:
            return (
                subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}).returncode == 0
            )
        finally:
            plan_file.unlink()

    def say_what_is_missing(self) -> None:
        """A line for each system of each table."""
        for runs in self.tables:
            print(f"{runs.table.name}: {runs.table.title}")
            trials = list(runs.trials())
            if trials:
                done = sum(runs.record(run) is not None for run in trials)
                print(f"  settings tried: {done} of {len(trials)}")
            for row in runs.rows():
                done = sum(runs.record(run) is not None for run in row.runs)
                unknown = " (not chosen yet)" if row.setting is None else ""
                name = f"{row.family.name}.{row.system.name}"
                print(f"  {name}: {done} of {len(row.system.seeds)} seeds{unknown}")

    def write_tables(self) -> None:
        """Tables into the results, report pages into the folder."""
        for runs in self.tables:
            table = MeasuredTable(runs, self.args.folder)
            write_table(table.figures(), runs.results)
            print(f"{runs.results / 'table.md'}")
            for family in runs.table.families:
                self._write_report(table, family)
            known = [
                *runs.trials(),
                *runs.candidates(),
                *(r for row in runs.rows() for r in row.runs),
            ]
            keys = {run.key for run in known}
            others = [
                p for p in runs.results.glob("*.*.*.*.json") if p.stem.split(".")[-1] not in keys
            ]
            if others:
                print(f"note: {len(others)} records of other options, data or seeds are left aside")

    def _write_report(self, table: MeasuredTable, family: Family) -> None:
        rows = [row for row in table.rows if row.family is family and table.done(row)]
        tests = table.runs.data[family.name]["tests"] if rows else []
        for place, test in enumerate(tests):
            reference, source = table.test_files(family, place)
            evaluation = table.table.evaluation
            page = self.args.folder / "reports" / f"{table.table.name}.{family.name}.{test}.html"
            page.parent.mkdir(parents=True, exist_ok=True)
            command = ["report", "--reference", str(reference), "--source", str(source)]
            command += ["--metrics", *evaluation["metrics"], "--tests", "randomisation"]
            command += ["--bins", ",".join(map(str, evaluation["bins"])), "--output", str(page)]
            command += ["--title", f"{table.table.title}: {test}"]
            if evaluation["tokenize"]:
                command += ["--tokenize", evaluation["tokenize"]]
            for row in rows:
                runs = [run for run, _ in table.done(row)]
                for option, kind in (("--system", test), ("--log", "log")):
                    files = [str(table.output_file(run, kind)) for run in runs]
                    command += [option, row.system.label, *files]
            syntax_nmt_command(command)


def _write_json(path: Path, content: object) -> None:
    write_bytes_atomically(path, json.dumps(content, indent=1, ensure_ascii=False).encode())


def main() -> None:
    """Does what the command line asks for; the exit status is 0 if nothing failed."""
    args = arguments()
    with one_line_errors("experiments"):
        workflow = Workflow(args)
        if args.dry_run:
            workflow.say_what_is_missing()
            return
        # All stages are gone through: a failed run does not keep others from being done.
        whole = args.tables_only or all([workflow.run_stage(stage) for stage in workflow.stages()])
        workflow.write_tables()
        if not whole:
            raise UserError("some runs failed: see above; the same command tries them again")


if __name__ == "__main__":
    main()
