"""Interrupted copies of checkpoints are completed from what they were copied from, or refused."""

import errno
import os
import shutil
import threading
from pathlib import Path

import pytest
import torch

from syntax_nmt.checkpoints import resumed
from syntax_nmt.checkpoints.resumed import finish_interrupted_copy, is_whole
from syntax_nmt.errors import UserError


def write(path, seed, age, **format_):
    """A checkpoint so many seconds old; gives its content."""
    weights = torch.randn(1000, generator=torch.Generator().manual_seed(seed))
    torch.save({"model": {"w": weights}}, path, **format_)
    os.utime(path, (10_000 - age, 10_000 - age))
    return path.read_bytes()


@pytest.fixture
def folder(tmp_path):
    """What --keep-interval-updates leaves, and a file of the user's own."""
    write(tmp_path / "checkpoint_1_8.pt", 8, age=2)
    write(tmp_path / "checkpoint_1_9.pt", 9, age=1)
    write(tmp_path / "averaged.pt", 3, age=0)
    (tmp_path / "checkpoint_1_10.pt.tmp").write_bytes(b"PK")
    return tmp_path


@pytest.mark.parametrize("bytes_", [0, 1, 4, 100, 2000, -1])
def test_completed_from_the_newest_that_it_begins(folder, bytes_, caplog):
    newest = (folder / "checkpoint_1_9.pt").read_bytes()
    last = folder / "checkpoint_last.pt"
    last.write_bytes(newest[:bytes_])
    assert not is_whole(last)
    finish_interrupted_copy(last)
    assert last.read_bytes() == newest
    assert "completed from checkpoint_1_9.pt" in caplog.text
    assert len(list(folder.iterdir())) == 5, "nothing is left over"


def test_completed_from_an_older_one(folder):
    """Where the newest does not continue it."""
    older = (folder / "checkpoint_1_8.pt").read_bytes()
    last = folder / "checkpoint_last.pt"
    last.write_bytes(older[:-1])
    finish_interrupted_copy(last)
    assert last.read_bytes() == older


def test_the_beginning_of_none(folder):
    last = folder / "checkpoint_last.pt"
    last.write_bytes((folder / "averaged.pt").read_bytes()[:-1])
    with pytest.raises(UserError) as refused:
        finish_interrupted_copy(last)
    assert f"{last}: incomplete" in str(refused.value)
    assert f"--restore-file {folder / 'checkpoint_1_9.pt'}" in str(refused.value)


def test_no_other_checkpoint(tmp_path):
    last = tmp_path / "checkpoint_last.pt"
    last.write_bytes(write(last, 1, age=0)[:-1])
    with pytest.raises(UserError, match=r"incomplete .* remove it"):
        finish_interrupted_copy(last)


def test_no_worker_waits_where_there_is_no_other_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr(resumed, "get_global_rank", lambda: 1)
    last = tmp_path / "checkpoint_last.pt"
    last.write_bytes(write(last, 1, age=0)[:-1])
    with pytest.raises(UserError, match=r"incomplete .* remove it"):
        finish_interrupted_copy(last)


def test_other_workers_wait_for_the_first(folder, monkeypatch):
    monkeypatch.setattr(resumed, "get_global_rank", lambda: 1)
    newest = (folder / "checkpoint_1_9.pt").read_bytes()
    last = folder / "checkpoint_last.pt"
    last.write_bytes(newest[:100])
    unfinished = folder / "checkpoint_last.pt.1.tmp"  # which the first one writes
    unfinished.write_bytes(newest)
    first = threading.Timer(0.5, unfinished.replace, [last])
    first.start()
    finish_interrupted_copy(last)
    assert last.read_bytes() == newest
    first.join()


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "old format"])
def test_a_whole_one_is_left_alone(folder, zipped):
    last = folder / "checkpoint_last.pt"
    content = write(last, 5, age=5, _use_new_zipfile_serialization=zipped)
    assert is_whole(last)
    finish_interrupted_copy(last)
    assert last.read_bytes() == content


def test_no_room(folder, monkeypatch):
    """Nothing is left over, and what a killed completion left goes away."""
    newest = folder / "checkpoint_1_9.pt"
    last = folder / "checkpoint_last.pt"
    last.write_bytes(newest.read_bytes()[:-1])
    (folder / "checkpoint_last.pt.4711.tmp").write_bytes(b"PK")

    def copy(source, destination):
        Path(destination).write_bytes(b"PK")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfile", copy)
    with pytest.raises(UserError, match=r"No space left .*--restore-file .*checkpoint_1_9\.pt"):
        finish_interrupted_copy(last)
    assert not list(folder.glob("checkpoint_last.pt.*"))
