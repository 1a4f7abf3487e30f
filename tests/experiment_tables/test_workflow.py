"""The workflow itself, with jobs that only say when they begin and end."""

import os
from argparse import Namespace

import pytest
import yaml
from declared import declaration, runs_of, write_record

pytest.importorskip("snakemake", reason="the extra `experiments` is not installed")
from experiments.records import Records
from experiments.workflow import Workflow
from syntax_nmt.errors import UserError

pytestmark = pytest.mark.dear

JOB = """
import pathlib, sys, time
log, output = pathlib.Path({log!r}), pathlib.Path(sys.argv[{place}])
with log.open("a") as out: out.write("{name} begins\\n")
time.sleep(0.7)
with log.open("a") as out: out.write("{name} ends\\n")
output.parent.mkdir(parents=True, exist_ok=True)
if {works}: (output / "done.json" if output.is_dir() else output).write_text('{{"checksum": "d"}}')
"""


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Makes all runs of tables; the result, and what the jobs said."""

    def made(cores, data_works=True, names=("table",), all_runs=True, declared=None, system=""):
        package = tmp_path / "jobs" / "experiments"
        package.mkdir(parents=True)
        log = tmp_path / "log"
        log.touch()
        for name, place, works in (("corpus", 1, data_works), ("training", 3, True)):
            code = JOB.format(log=str(log), name=name, place=place, works=works)
            (package / f"{name}.py").write_text(code, encoding="utf-8")
        (package / "__init__.py").touch()
        monkeypatch.setenv("PYTHONPATH", str(package.parent), prepend=os.pathsep)
        tables = [tmp_path / f"{name}.yaml" for name in names]
        for table in tables:
            table.write_text(
                yaml.safe_dump(declared or declaration(), sort_keys=False), encoding="utf-8"
            )
        workflow = Workflow(
            Namespace(
                **{"tables": tables, "data": None, "stanza": None, "only": None, "seeds": None},
                **{"cores": cores, "device": "cpu", "commit": "c", "snakemake": []},
                pack=False,
                **{"folder": tmp_path / "work", "results": tmp_path / "results"},
            )
        )
        rows = [(runs, row) for runs in workflow.tables for row in runs.rows()]
        stage = [
            (runs, run) for runs, row in rows for run in row.runs if system in ("", row.system.name)
        ]
        whole = workflow.run_stage(stage if all_runs else [])
        if not all_runs:
            workflow.write_tables()
        return whole, log.read_text("utf-8").splitlines()

    return made


@pytest.mark.parametrize("cores", [1, 2])
def test_no_more_jobs_at_a_time_than_cores(make, cores):
    whole, said = make(cores)
    assert whole
    assert said[:2] == ["corpus begins", "corpus ends"]
    assert said.count("training ends") == 6
    running = [0]
    for line in said:
        running.append(running[-1] + (1 if line.endswith("begins") else -1))
    assert max(running) == cores


def test_what_snakemake_says_is_in_a_log(make, tmp_path, capfd):
    make(1)
    said, errors = capfd.readouterr()
    assert said == "6 runs to do\n"
    assert errors == ""
    assert "Job stats" in (tmp_path / "work/snakemake.log").read_text("utf-8")


def test_runs_that_two_tables_share_are_recorded_in_both(make, tmp_path):
    whole, said = make(2, names=("one", "other"))
    assert whole
    assert said.count("training ends") == 12
    one, other = (
        {path.name for path in (tmp_path / f"results/{n}").iterdir()} for n in ("one", "other")
    )
    assert len(one) == 6
    assert one == other


def test_systems_that_are_the_same_are_trained_once(make, tmp_path):
    declared = declaration()
    systems = declared["families"]["transformer"]["systems"]
    systems["phrases"]["options"] = systems["stock"]["options"]
    whole, said = make(2, declared=declared, names=("my table (1)",))
    assert whole
    assert said.count("training ends") == 4
    assert len(list((tmp_path / "results" / "my table (1)").iterdir())) == 4


def test_the_data_of_a_control_come_after_those_it_is_made_of(make):
    declared = declaration()
    systems = declared["families"]["transformer"]["systems"]
    declared["families"]["transformer"]["systems"] = {
        name: {**system, "control": "borrowed"} for name, system in systems.items()
    }
    whole, said = make(2, declared=declared)
    assert whole
    assert said[:3] == ["corpus begins", "corpus ends", "corpus begins"]
    assert said.count("corpus ends") == 3
    assert said.count("training ends") == 6


def test_the_data_of_references_come_with_those_of_a_system(make, tmp_path):
    """A system that prepares more is scored against the references of its family's baseline."""
    declared = declaration()
    systems = declared["families"]["transformer"]["systems"]
    systems["features"] = {"options": "--arch f", "prepare": "--features upos"}
    whole, said = make(1, declared=declared, system="features")
    assert whole
    assert said.count("corpus ends") == 2
    assert said.count("training ends") == 2


def test_tables_of_one_name_are_refused(make, tmp_path):
    (tmp_path / "other").mkdir()
    with pytest.raises(UserError, match="two tables are called table"):
        make(1, names=("table", "other/table"))


def test_without_the_data_a_table_stays(make, tmp_path, capfd):
    runs = runs_of(tmp_path, declaration())
    folder = tmp_path / "results" / "table"
    folder.parent.mkdir()
    runs.records = Records(folder)
    write_record(runs, next(iter(runs.rows())).runs[0])
    (folder / "table.md").write_text("of before")
    make(1, all_runs=False, data_works=False)
    assert (folder / "table.md").read_text() == "of before"
    assert "its data are not prepared here, and its table stays" in capfd.readouterr().out


def test_other_data_than_those_of_the_records_are_refused(make, tmp_path):
    """Before the first training: its row would stand beside rows of other data."""
    runs = runs_of(tmp_path, declaration())
    runs.records = Records(tmp_path / "results" / "table")
    runs.records.folder.parent.mkdir()
    write_record(runs, next(iter(runs.rows())).runs[0], data_checksum="other")
    said = r"checksum d\) than transformer\.stock\.1 was trained on \(other\): .*torch 2\.13\.0"
    with pytest.raises(UserError, match=said):
        make(1)
    assert (tmp_path / "log").read_text("utf-8") == "corpus begins\ncorpus ends\n"


def test_without_data_no_runs(make):
    whole, said = make(1, data_works=False)
    assert not whole
    assert said == ["corpus begins", "corpus ends"]


def test_where_nothing_has_run_tables_prepare_and_replace_nothing(make, tmp_path, capfd):
    """As with `--tables-only` and other data than those of the records."""
    table = tmp_path / "results" / "table" / "table.md"
    table.parent.mkdir(parents=True)
    table.write_text("of other data")
    assert make(1, all_runs=False) == (True, [])
    assert table.read_text() == "of other data"
    assert "nothing of it has run" in capfd.readouterr().out
