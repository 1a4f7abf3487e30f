"""A file of a data folder is read once a node, and again when it is another."""

import json
import multiprocessing
import os
import shutil
import time
from unittest import mock

import pytest

from syntax_nmt.data import checked_files
from syntax_nmt.data.checked_files import NAME, checked_fingerprint
from syntax_nmt.data.manifest import Fingerprint


@pytest.fixture
def file(tmp_path):
    """Written some time ago."""
    path = tmp_path / "train.bin"
    path.write_bytes(b"content")
    (tmp_path / "syntax.json").touch()
    return path


@pytest.fixture(autouse=True)
def no_waiting():
    """Files count as settled at once."""
    with mock.patch.object(checked_files, "_RECENT", -1):
        yield


def reads(path):
    """How often a file is read for its fingerprint."""
    with mock.patch.object(Fingerprint, "of", side_effect=Fingerprint.of) as of:
        assert checked_fingerprint(path) == Fingerprint.of.side_effect(path)
    return of.call_count


def test_read_once(file):
    assert [reads(file), reads(file), reads(file)] == [1, 0, 0]


def test_who_may_read_the_manifest_may_read_the_record(file):
    (file.parent / "syntax.json").chmod(0o664)
    reads(file)
    assert (file.parent / NAME).stat().st_mode & 0o777 == 0o664


def test_read_again_when_it_was_written_again(file):
    """With its size, and with its time, too, as a program may set it."""
    reads(file)
    times = file.stat()
    file.write_bytes(b"CONTENT")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert [reads(file), reads(file)] == [1, 0]


def test_a_copy_is_read(file, tmp_path):
    """Its record says what another file was."""
    reads(file)
    copy = shutil.copytree(tmp_path, tmp_path.with_name("copy"))
    assert (copy / NAME).is_file()
    assert reads(copy / file.name) == 1


def test_what_was_just_written_is_not_on_record(file):
    with mock.patch.object(checked_files, "_RECENT", 60e9):
        assert [reads(file), reads(file)] == [1, 1]


DAMAGED = ["", "{", "[]", '{"train.bin": 1}', '{"train.bin": [1]}', "[" * 9999]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_record_is_none(file, tmp_path, content):
    (tmp_path / NAME).write_text(content)
    assert [reads(file), reads(file)] == [1, 0]
    assert list(json.loads((tmp_path / NAME).read_text())) == ["train.bin"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME, "syntax.json", "train.bin"]


def test_a_record_that_is_a_link_is_replaced(file, tmp_path, tmp_path_factory):
    """The folder may be somebody else's."""
    other = tmp_path_factory.mktemp("home") / "file"
    other.write_text("mine")
    (tmp_path / NAME).symlink_to(other)
    assert [reads(file), reads(file)] == [1, 0]
    assert other.read_text() == "mine"


def test_a_folder_that_cannot_be_written(file, tmp_path):
    with mock.patch.object(os, "access", return_value=False):
        assert [reads(file), reads(file)] == [1, 1]
    assert not (tmp_path / NAME).exists()


def test_what_is_not_there(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        checked_fingerprint(tmp_path / "gone")


def slow(path, folder):
    """Reads as on a slow disk, and leaves a mark."""
    of = Fingerprint.of

    def read(path):
        (folder / f"read{os.getpid()}").touch()
        time.sleep(0.5)
        return of(path)

    with (
        mock.patch.object(Fingerprint, "of", side_effect=read),
        mock.patch.object(checked_files, "_RECENT", -1),
    ):
        assert checked_fingerprint(path).bytes == 7


def test_ranks_wait_for_the_one_that_reads(file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("marks")
    context = multiprocessing.get_context("fork")
    ranks = [context.Process(target=slow, args=(file, folder)) for _ in range(4)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
        assert rank.exitcode == 0
    assert len(list(folder.iterdir())) == 1
