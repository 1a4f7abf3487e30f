"""Files that are whole or not there, and places that cannot be written to."""

from __future__ import annotations

import errno
import tempfile

import pytest

from syntax_nmt.data.text_files import check_writable, write_atomically, write_bytes_atomically
from syntax_nmt.errors import UserError


def test_bytes_are_whole_and_nothing_else_stays(tmp_path):
    for content in (b"\x00\r\n\xff", b"other"):
        write_bytes_atomically(tmp_path / "new" / "model", content)
        assert (tmp_path / "new" / "model").read_bytes() == content
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["model"]


def test_below_a_file_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("text")
    path = tmp_path / "file" / "x"
    with pytest.raises(UserError, match=r"file/x: cannot be written \(.+\): check the folder"):
        write_bytes_atomically(path, b"")
    with (
        pytest.raises(UserError, match=r"file/x: cannot be written \(.+\): check the folder"),
        write_atomically(path),
    ):
        pass
    with pytest.raises(UserError, match=r"file/x: cannot be written \(.+\): check the folder"):
        check_writable(path)
    assert (tmp_path / "file").read_text() == "text"


def test_a_place_that_can_be_written_stays_as_it_is(tmp_path):
    check_writable(tmp_path / "new" / "x")
    assert list((tmp_path / "new").iterdir()) == []
    with pytest.raises(UserError, match=r"new: cannot be written \(it is a folder\)"):
        check_writable(tmp_path / "new")


def test_a_file_system_that_is_read_only(tmp_path, monkeypatch):
    def refuse(**options):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(UserError, match=r"x: cannot be written \(Read-only file system\)"):
        check_writable(tmp_path / "x")
