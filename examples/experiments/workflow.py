"""The workflow of a snapshot: plans the runs that are missing, has Snakemake do them, in stages.

First come the runs by which settings and systems are chosen, then the first seed of every system,
then the second, and so on, so that a table that was stopped has as many rows as can be. The tables
are made of the records that there are, whatever is still missing.
"""

import argparse
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from statistics import mean

from experiments.corpus import DONE
from experiments.measured_table import FamilyTest, family_tests, measure
from experiments.programs import write_json
from experiments.runs import Row, Run, Runs, recorded, scored_data
from experiments.table_config import read_table
from experiments.table_files import FORMS, write_table
from syntax_nmt.arguments import positive_int
from syntax_nmt.cli import main as syntax_nmt_command
from syntax_nmt.errors import UserError, one_line_errors
from syntax_nmt.preparation.executor import OrderedMap, ordered_map
from syntax_nmt.scoring.translations.evaluation_set import Text
from syntax_nmt.scoring.translations.metrics import MetricSet, MetricSettings

_SNAKEFILE = Path(__file__).with_name("Snakefile")
# Names say what is done, and files are whole or not there: neither times nor Snakemake's own marks
# are asked. Two starts at once are kept apart by the locks of runs.
_SNAKEMAKE = ["--nolock", "--ignore-incomplete", "--rerun-triggers", "mtime", "--keep-going"]
_SNAKEMAKE += ["--scheduler", "greedy"]

Stage = Sequence[tuple[Runs, Run]]


def arguments() -> argparse.Namespace:
    """The command line; what follows `--` is Snakemake's."""
    parser = argparse.ArgumentParser(
        prog="run.py",
        usage="run.py TABLE.yaml … [OPTION …] [-- OPTION OF SNAKEMAKE …]",
        description="Makes or resumes tables of experiments.",
        epilog="What follows -- goes to Snakemake, such as -- --executor slurm --jobs 20",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("tables", nargs="+", type=Path, metavar="TABLE.yaml")
    add("--data", type=Path, metavar="DIR", help="folder of the corpora that the YAMLs name")
    add("--stanza", type=Path, metavar="DIR", help="folder of Stanza's models")
    add("--cores", type=positive_int, default=1, metavar="N", help="processes at once (default: 1)")
    add("--device", choices=("cpu", "cuda"), default="cpu", help="to train on (default: cpu)")
    add("--only", nargs="+", metavar="SYSTEM", help="these systems; others stay as they are")
    add("--seeds", type=positive_int, metavar="N", help="the first N of the declared seeds")
    add("--dry-run", action="store_true", help="say what is missing, and do nothing")
    add("--tables-only", action="store_true", help="make the tables of the records there are")
    packed = "put the records of each table into one file; later ones stand beside it"
    add("--pack", action="store_true", help=packed)
    more = "write each table in this form, too"
    add("--also", nargs="+", choices=FORMS, default=[], help=more)
    add("--commit", required=True, help="what is run, out of git (default: HEAD)")
    add("--folder", type=Path, required=True, help="for all but results (outputs/experiments)")
    add("--results", type=Path, required=True, help="for records and tables (beside run.py)")
    place = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    args = parser.parse_args(sys.argv[1:place])
    for name in ("data", "stanza", "folder", "results"):
        setattr(args, name, getattr(args, name) and getattr(args, name).resolve())
    args.snakemake = sys.argv[place + 1 :]
    return args


class Workflow:
    """The runs of all tables, and how they are done."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        tables = [read_table(path) for path in args.tables]
        for table, path in zip(tables, args.tables):
            if [each.name for each in tables].count(table.name) > 1:
                raise UserError(f"{path}: two tables are called {table.name}: rename one")
        known = {name for table in tables for family in table.families for name in family.systems}
        unknown = sorted(set(args.only or ()) - known)
        if unknown:
            names = ", ".join(table.name for table in tables)
            raise UserError(f"--only {unknown[0]}: no system of that name in {names}")
        for table in tables:  # before long work, whether a tokeniser is installed
            MetricSet(table.evaluation["metrics"], MetricSettings(table.evaluation["tokenize"]))
        self.tables = [
            Runs(table, args.data, args.stanza, args.results / table.name) for table in tables
        ]

    def stages(self) -> Iterator[Stage]:
        """The runs of each stage; later ones are known only when earlier ones are done."""
        for choosing in (Runs.trials, Runs.candidates):
            yield [
                (runs, run)
                for runs in self.tables
                for run in choosing(runs)
                if self._decides(runs, run)
            ]
        rows = [
            [(runs, run) for run in row.runs[: self.args.seeds]]
            for runs in self.tables
            for row in self._asked(runs)
        ]
        for stage in zip_longest(*rows):
            yield [run for run in stage if run is not None]

    def _asked(self, runs: Runs) -> Iterator[Row]:
        """The rows of a table that `--only` leaves."""
        only = self.args.only
        return (row for row in runs.rows() if only is None or row.system.name in only)

    def _decides(self, runs: Runs, run: Run) -> bool:
        """Whether something about a system that is asked for is chosen by this run."""
        family, name, _ = run.name.split(".")
        systems = next(each.systems for each in runs.table.families if each.name == family)
        asked = systems.keys() if self.args.only is None else systems.keys() & self.args.only
        asked = {*asked, *(name for system in asked for name in systems[system].best_of)}
        return name in asked | {systems[system].like for system in asked}

    def run_stage(self, stage: Stage) -> bool:
        """Prepares the data and does the runs that are missing; whether all succeeded."""
        folder = self.args.folder
        missing: dict[tuple[str, str], Run] = {}
        times: dict[tuple[str, str], float | None] = {}
        for runs, run in stage:  # two systems of a table may be the same run
            name = runs.table.name, run.key
            if name not in missing and runs.record(run) is None:
                missing[name], times[name] = run, runs.seconds(run)
        wanted = [plan for run in missing.values() for plan in run.data]
        # What has run, or will have, is scored against the references, whatever is asked for now.
        for runs in self.tables:
            to_do = [run for (table, _), run in missing.items() if table == runs.table.name]
            wanted += scored_data(runs, to_do)
        plans = {plan["key"]: plan for plan in wanted}
        unprepared = [plan for key, plan in plans.items() if not self._is_prepared(key)]
        for plan in unprepared:
            write_json(folder / "data" / plan["key"] / "data.json", plan)
        for run in missing.values():
            planned = {"name": run.name, "key": run.key, "seed": run.plan["seed"], "plan": run.plan}
            write_json(folder / "runs" / run.key / "run.json", planned)
        # One after the other: when a job ends that was the only one ready to start, Snakemake 9.15
        # gives back a core that it did not take, and --cores grows. Of jobs that wait for no other
        # the last alone is such a one.
        # The data of controls are made of others, and come after them.
        whole = True
        for is_control in (False, True):
            keys = [plan["key"] for plan in unprepared if ("control" in plan) is is_control]
            whole &= not keys or self._snakemake(keys, [])
        for runs in self.tables:
            runs.refuse_other_data(folder / "data")
        ready = [
            f"{table}/{run.name}.{key}.json"
            for (table, key), run in missing.items()
            if self._is_prepared(run.plan["data"])
        ]
        if missing:
            number = f"{len(missing)} run{'s' * (len(missing) > 1)}"
            print(f"{number} to do{self._expected(list(times.values()))}", flush=True)
        whole &= not ready or self._snakemake([], ready)
        return whole and len(ready) == len(missing)

    def _expected(self, seconds: Sequence[float | None]) -> str:
        """How long some runs take together, as far as earlier ones tell."""
        known = [each for each in seconds if each is not None]
        if not known:
            return ""
        minutes = mean(known) * len(seconds) / min(self.args.cores, len(seconds)) / 60
        rounded = max(1, round(minutes))
        return f", about {rounded:,} minute{'s' * (rounded > 1)}"

    @property
    def log(self) -> Path:
        """What Snakemake says."""
        return Path(self.args.folder / "snakemake.log")

    def _is_prepared(self, key: str) -> bool:
        return (self.args.folder / "data" / key / DONE).is_file()

    def _snakemake(self, data: Sequence[str], records: Sequence[str]) -> bool:
        """Has Snakemake make what is missing; whether all succeeded.

        Args:
            data: keys of the data to prepare.
            records: of the runs to do, below the results.
        """
        folder = self.args.folder
        names = ("folder", "results", "device", "commit")
        fixed = {"python": sys.executable, **{n: str(getattr(self.args, n)) for n in names}}
        plan_folder = Path(tempfile.mkdtemp(prefix="plan-", dir=folder))
        plan_file = plan_folder / "plan.json"
        write_json(plan_file, {**fixed, "data": data, "runs": records})
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(_SNAKEFILE), *_SNAKEMAKE]
        command += ["--directory", str(folder), "--cores", str(self.args.cores)]
        command += ["--config", f"plan={plan_file}", *self.args.snakemake]
        # Snakemake writes to stderr; what jobs say, errors too, comes by stdout.
        with self.log.open("ab") as log:
            process = subprocess.Popen(command, stderr=log, process_group=0)
        try:
            return process.wait() == 0
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGTERM)  # Snakemake, its jobs, and their programs
            process.wait()
            raise
        finally:
            shutil.rmtree(plan_folder)

    def say_what_is_missing(self) -> None:
        """A line for each system of each table."""
        for runs in self.tables:
            print(f"{runs.table.name}: {runs.table.title}")
            trials = [runs.record(run) is not None for run in runs.trials()]
            if trials:
                print(f"  settings tried: {sum(trials)} of {len(trials)}")
            for row in self._asked(runs):
                finished = [runs.record(run) is not None for run in row.runs[: self.args.seeds]]
                declared = row.system.seeds[: self.args.seeds]
                count = f"{sum(finished)} of {len(declared)} seeds"
                unknown = " (not chosen yet)" if row.trained is None or not row.runs else ""
                missing = [run for run, done in zip(row.runs, finished) if not done]
                time = self._expected([runs.seconds(run) for run in missing]) if missing else ""
                print(f"  {row.family.name}.{row.system.name}: {count}{unknown}{time}")

    def write_tables(self) -> None:
        """Tables and pictures into the results, report pages into the folder; none of what has not
        begun."""
        from experiments.gains_picture import draw_gains  # loads matplotlib

        with ordered_map(self.args.cores) as test_map:
            for runs in self.tables:
                self._write_table(runs, test_map)
        picture = draw_gains(self.args.results)
        if picture is not None:
            print(picture)

    def _write_table(self, runs: Runs, test_map: OrderedMap) -> None:
        from experiments.gains_picture import draw_claims

        found = recorded(runs)
        keys = {run.key for run in found}
        if self.args.pack and keys:
            runs.records.pack(keys)
        if not keys:
            print(f"{runs.table.name}: nothing of it has run, and no table is written")
        elif not all(self._is_prepared(plan["key"]) for plan in scored_data(runs)):
            print(f"{runs.table.name}: its data are not prepared here, and its table stays")
        else:
            folder = self.args.folder
            runs.refuse_other_data(folder / "data")
            write_table(measure(runs, folder, test_map), runs.records.folder, self.args.also)
            print(runs.records.folder / "table.md")
            draw_claims(runs.records.folder / "table.json")
            (folder / "reports").mkdir(exist_ok=True)
            list(test_map(partial(_write_report, folder), family_tests(runs, folder)))
        others = runs.records.keys() - keys
        if others:
            print(f"note: {len(others)} records of other options, data or seeds are left aside")


def _write_report(folder: Path, test: FamilyTest) -> None:
    table, evaluation = test.runs.table, test.runs.table.evaluation
    page = folder / "reports" / f"{table.name}.{test.family.name}.{test.name}.html"
    command = ["report", "--reference", str(test.reference), "--source", str(test.source)]
    command += ["--metrics", *evaluation["metrics"], "--tests", "randomisation"]
    command += ["--tokenize", evaluation["tokenize"], "--output", str(page)]
    command += ["--bins", ",".join(map(str, evaluation["bins"]))]
    command += ["--title", f"{table.title}: {test.name}"]
    with tempfile.TemporaryDirectory(dir=folder) as texts:
        for row in test.rows:
            for option, kind in (("--system", ""), ("--log", "log")):
                files = [_written(text, Path(texts)) for text in test.texts(row, kind)]
                command += [option, row.system.label, *files]
        syntax_nmt_command(command)


def _written(text: Text, folder: Path) -> str:
    """The name of a file that holds a text."""
    file = folder / text.name
    file.write_text("".join(f"{line}\n" for line in text.sentences), encoding="utf-8")
    return str(file)


def main() -> None:
    """Does what the command line asks for; the exit status is 0 if nothing failed."""
    args = arguments()
    logging.getLogger().setLevel(logging.WARNING)  # what fairseq loads puts all logging on DEBUG
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # `kill` ends it as Ctrl-C does
    os.environ["OMP_NUM_THREADS"] = "1"  # of the runs, and of processes that make tables
    with one_line_errors("experiments"):
        try:
            _do(args)
        except KeyboardInterrupt:
            raise UserError("interrupted: the same command resumes") from None


def _do(args: argparse.Namespace) -> None:
    workflow = Workflow(args)
    if args.dry_run:
        workflow.say_what_is_missing()
        return
    # A run that failed keeps no later stage from being done.
    stages: Iterator[Stage] = iter([[]]) if args.tables_only else workflow.stages()
    try:
        whole = all([workflow.run_stage(stage) for stage in stages])
    finally:  # also where it is interrupted
        workflow.write_tables()
    if not whole:
        raise UserError(
            f"some runs failed: see above and {workflow.log}; the same command tries them again"
        )


if __name__ == "__main__":
    main()
