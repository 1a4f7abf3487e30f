"""Files of a data folder that hold or promise other than this package writes: one line each."""

import json
import os
import tracemalloc

import numpy as np
import pytest

from syntax_nmt.data.manifest import read_manifest
from syntax_nmt.data.ragged import _HEADER, MAGIC, count_rows, open_indexed
from syntax_nmt.data.text_files import named_file, write_atomically
from syntax_nmt.errors import UserError
from syntax_nmt.parsing.config import ParserConfig
from syntax_nmt.preparation.steps import Steps, recorded_steps

STEP = {"key": "k", "files": {"a": "0"}, "report": {}}


@pytest.mark.parametrize(
    "step",
    [[], {}, "text", {**STEP, "key": 1}, {**STEP, "files": ["a"]}, {**STEP, "files": {"a": []}},
     {**STEP, "report": None}, {"files": {}, "report": {}}],
    ids=repr,
)  # fmt: skip
def test_a_record_of_no_steps_is_damaged(tmp_path, step):
    record = tmp_path / "prepare.json"
    record.write_text(json.dumps({"words": step}))
    assert recorded_steps(record) is None
    notes: list[str] = []
    steps = Steps(record, notes.append)
    assert notes == [f"{record}: damaged: its steps are done again"]
    assert steps.report("words") is None


def test_a_record_is_no_pipe(tmp_path):
    os.mkfifo(tmp_path / "prepare.json")
    with pytest.raises(UserError, match="not a pipe"):
        Steps(tmp_path / "prepare.json", print)


def test_a_step_has_made_no_file_elsewhere(tmp_path):
    """Whose checksum would be computed, and which would count as its result."""
    (tmp_path / "elsewhere").write_text("")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    record = tmp_path / "folder" / "prepare.json"
    record.parent.mkdir()
    (record.parent / "here").write_text("")
    for name, there in (("here", True), ("../elsewhere", False), (f"{tmp_path}/elsewhere", False)):
        record.write_text(json.dumps({"words": {**STEP, "files": {name: empty}}}))
        assert (Steps(record, print).report("words") is not None) == there


@pytest.mark.parametrize("name", ["..", "a/../../b", "/etc/passwd", "", "x" * 5000, 1, None, "a\0"])
def test_names_of_no_file_in_the_folder(tmp_path, name):
    with pytest.raises(UserError, match="names "):
        named_file(tmp_path, name)


@pytest.mark.parametrize("crc32", [[], {}, None, 7])
def test_a_checksum_that_is_no_text(tmp_path, crc32):
    print_of = {"bytes": 1, "crc32": "00000000"}
    entry = {"sentences": 1, "annotated": 1, "source": "a", "source_text": print_of}
    files = {"train.heads": {**entry, "files": {"a.bin": {**print_of, "crc32": crc32}}}}
    (tmp_path / "syntax.json").write_text(json.dumps({"version": 1, "files": files}))
    with pytest.raises(UserError, match="where a checksum belongs"):
        read_manifest(tmp_path)


def test_a_folder_of_models_with_a_name_that_none_has(tmp_path):
    path = tmp_path / "parser.json"
    path.write_text(json.dumps({"lang": "en", "subwords": "none", "stanza_dir": "x" * 5000}))
    with pytest.raises(UserError, match=r"stanza_dir .*: no such folder"):
        ParserConfig.read(path).models("dependencies")


def test_an_output_that_is_a_loop_of_links(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with (
        pytest.raises(UserError, match="a: cannot be written"),
        write_atomically(tmp_path / "a") as stream,
    ):
        stream.write("text")


ROWS = 1 << 24  # 200 MB of index, of which the disk holds nothing


@pytest.fixture
def promise(tmp_path):
    """An index of very many rows beside an empty file of numbers."""
    with (tmp_path / "text.idx").open("wb") as stream:
        stream.write(_HEADER.pack(MAGIC, 1, 4, ROWS))
    os.truncate(tmp_path / "text.idx", _HEADER.size + ROWS * 12)
    (tmp_path / "text.bin").touch()
    return tmp_path / "text"


def test_an_index_that_promises_too_much(promise):
    """It costs nothing."""
    tracemalloc.start()
    with pytest.raises(ValueError, match=rf"text\.bin: damaged \(0 numbers .* {ROWS} rows\)"):
        open_indexed(promise, shortest=1)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_an_index_of_annotation_that_promises_too_much(promise, tmp_path):
    from test_binarised_annotation import NAME, open_kind, write_all

    folder = tmp_path / "data"
    folder.mkdir()
    write_all(folder)
    for end in ("idx", "bin"):
        os.replace(f"{promise}.{end}", folder / f"{NAME}.heads.{end}")
    assert count_rows(folder / f"{NAME}.heads") == ROWS
    tracemalloc.start()
    with pytest.raises(UserError, match=rf"heads: {ROWS} sentences, the dataset has 3"):
        open_kind(folder, checksums=False)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_an_index_has_rows_without_numbers(tmp_path):
    """Annotation files have such, sentences not."""
    (tmp_path / "a.idx").write_bytes(
        _HEADER.pack(MAGIC, 1, 4, 1) + np.zeros(1, np.int32).tobytes() + np.zeros(1).tobytes()
    )
    (tmp_path / "a.bin").touch()
    assert open_indexed(tmp_path / "a").sizes.tolist() == [0]
