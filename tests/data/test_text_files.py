"""Files that are whole or not there, and places that cannot be written to."""

import errno
import gzip
import os
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from syntax_nmt.data.text_files import (
    check_writable,
    read_lines,
    write_atomically,
    write_bytes_atomically,
)
from syntax_nmt.errors import UserError


def test_bytes_are_whole_and_nothing_else_stays(tmp_path):
    for content in (b"\x00\r\n\xff", b"other"):
        write_bytes_atomically(tmp_path / "new" / "model", content)
        assert (tmp_path / "new" / "model").read_bytes() == content
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["model"]


def test_below_a_file_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("text")
    path, said = tmp_path / "file" / "x", r"file/x: cannot be written \(.+\): check the folder"
    with pytest.raises(UserError, match=said):
        write_bytes_atomically(path, b"")
    with pytest.raises(UserError, match=said), write_atomically(path):
        pass
    with pytest.raises(UserError, match=said):
        check_writable(path)
    assert (tmp_path / "file").read_text() == "text"


def test_a_place_that_can_be_written_stays_as_it_is(tmp_path):
    check_writable(tmp_path / "new" / "deep" / "x")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UserError, match=r"cannot be written \(it is a folder\)"):
        check_writable(tmp_path)


def test_a_file_system_that_is_read_only(tmp_path, monkeypatch):
    def refuse(**options):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(UserError, match=r"x: cannot be written \(Read-only file system\)"):
        check_writable(tmp_path / "x")


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_its_target_is_written(tmp_path, there):
    target, link = tmp_path / "elsewhere" / "target", tmp_path / "link"
    target.parent.mkdir()
    if there:
        target.write_text("before")
    link.symlink_to(target)
    check_writable(link)
    write_bytes_atomically(link, b"after")
    assert link.is_symlink()
    assert target.read_bytes() == b"after"
    assert [path.name for path in target.parent.iterdir()] == ["target"]


def test_an_error_leaves_the_target_of_a_link(tmp_path):
    (tmp_path / "target").write_text("before")
    (tmp_path / "link").symlink_to("target")
    with pytest.raises(ZeroDivisionError), write_atomically(tmp_path / "link") as out:
        out.writelines("half" * (9999 // left) for left in (1, 0))
    assert (tmp_path / "target").read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "target"]


def test_a_pipe_gets_the_text_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_writable(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_text)
        with write_atomically(pipe) as out:
            out.write("all of it\n")
        assert read.result(timeout=60) == "all of it\n"
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_device_stays(tmp_path):
    null = tmp_path / "null"
    try:
        os.mknod(null, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        null.write_text("")
    except OSError as error:
        pytest.skip(f"a device cannot be made here ({error})")
    check_writable(null, null)  # nothing can be lost of it
    write_bytes_atomically(null, b"gone")
    assert null.is_char_device()
    assert null.read_bytes() == b""


PRINTS = """
from pathlib import Path
from syntax_nmt.data.text_files import check_writable, write_atomically
print("before")
check_writable(Path("/dev/stdout"))
with write_atomically(Path("/dev/stdout")) as out:
    out.write("written\\n")
print("after")
"""


@pytest.mark.parametrize("mode", ["w", "a", None])
def test_stdout_by_its_name_keeps_what_else_is_printed(tmp_path, mode):
    """Wherever it goes: a pipe, or a file, from its beginning or at its end."""
    file = tmp_path / "file"
    file.write_text("first\n")
    command = [sys.executable, "-c", PRINTS]
    if mode is None:
        said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    else:
        with open(file, mode) as stream:
            subprocess.run(command, stdout=stream, check=True)
        said = file.read_text()
    assert said == "first\n" * (mode == "a") + "before\nwritten\nafter\n"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("\ufeffdas\nHaus\n", ["das", "Haus"]),
        (
            "das\rHaus\r\n\r\r\nist\u2028klein\n\rund",
            ["das\rHaus", "\r", "ist\u2028klein", "\rund"],
        ),
    ],
)
def test_neither_a_byte_order_mark_nor_the_end_of_a_line(tmp_path, ending, text, lines):
    """The first is no text, and a carriage return alone ends no line."""
    path = tmp_path / f"a{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending else text.encode())
    assert list(read_lines(path)) == lines
