"""Records that are packed say what they said as files."""

import json
import lzma

import pytest

pytest.importorskip("jsonschema", reason="the extra `experiments` is not installed")
from declared import declaration, runs_of, write_record, write_test_set
from translations import noisy, sentences

from experiments.measured_table import measure
from experiments.runs import needed, recorded
from experiments.table_files import write_table

REFERENCE = sentences(20, seed=1)


@pytest.fixture
def runs(tmp_path):
    runs = runs_of(tmp_path, declaration())
    write_test_set(runs, tmp_path, REFERENCE)
    for seed, run in enumerate(run for row in runs.rows() for run in row.runs):
        write_record(runs, run, noisy(REFERENCE, seed, 0.2))
    return runs


def table_of(folder):
    """A table's files, as a start of its own makes them."""
    runs = runs_of(folder, declaration())
    write_table(measure(runs, folder), folder)
    return {
        file.name: file.read_bytes() for file in folder.glob("table.*") if "yaml" not in file.name
    }


def test_packed_records_make_the_same_table(runs, tmp_path):
    before = table_of(tmp_path)
    runs.records.pack([run.key for run in recorded(runs)])
    assert [file.name for file in (tmp_path / "results").iterdir()] == ["records.jsonl.xz"]
    assert table_of(tmp_path) == before
    there = runs_of(tmp_path, declaration())
    assert {run.key for run in needed(there)} <= there.records.keys()


def test_only_a_newline_ends_a_line(runs):
    """A translation may hold what Python, too, takes for the end of one."""
    run, *_ = recorded(runs)
    odd = ["one\u2028two", "three\x85", "", "four\x0bfive\x1c"]
    write_record(runs, run, odd)
    assert runs.records.lines(run.key, "test") == odd
    runs.records.pack([])
    assert runs.records.lines(run.key, "test") == odd


def test_records_are_packed_again_with_those_that_came_later(runs, tmp_path):
    keys = [run.key for run in recorded(runs)]
    later = runs.records.file("", keys[-1])
    content = {file: file.read_bytes() for file in later.parent.glob(f"{later.stem}.*")}
    for file in content:
        file.unlink()
    runs.records.pack(keys)
    before = table_of(tmp_path)
    for file, found in content.items():
        file.write_bytes(found)
    assert table_of(tmp_path) != before
    runs.records.pack(keys)
    assert runs.records.keys() == set(keys)


def test_a_record_of_no_row_is_kept_and_marked(runs, tmp_path):
    run, *others = recorded(runs)
    runs.records.pack([other.key for other in others])
    lines = lzma.decompress((tmp_path / "results" / "records.jsonl.xz").read_bytes()).splitlines()
    entries = {entry["record"]["key"]: entry["in_table"] for entry in map(json.loads, lines)}
    assert entries == {run.key: False, **{other.key: True for other in others}}
