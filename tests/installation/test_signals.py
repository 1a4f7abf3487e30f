"""Ctrl-C and SIGTERM: one line, a status that is not 0, and whether the same line resumes."""

import signal
import subprocess
import time

import pytest
from commands import started

pytestmark = pytest.mark.dear


def stopped(tmp_path, number, *arguments):
    """What a command writes to stderr that is sent a signal once it has begun to work."""
    process = started(
        *("-m", "syntax_nmt.cli", *arguments),
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        # What a shell starts in the background ignores Ctrl-C, and so do its children.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    waited = time.monotonic() + 120
    while not any(tmp_path.glob("made*/*")) and process.poll() is None:
        assert time.monotonic() < waited
        time.sleep(0.02)
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1, errors
    assert "Traceback" not in errors
    return errors.splitlines()[-1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ends_in_one_line(tmp_path, number):
    line = stopped(tmp_path, number, "demo", "made", "--train", "200000")
    assert line == "syntax-nmt: error: interrupted"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_resumes_says_so(tmp_path, number):
    for side in ("en", "de"):
        text = "".join(f"this is line {line}\n" for line in range(90_000))
        (tmp_path / f"raw.{side}").write_text(text, encoding="utf-8")
    command = ["prepare", "--source-lang", "en", "--target-lang", "de", "--no-parse"]
    command += ["--trainpref", "raw", "--destdir", "made"]
    line = stopped(tmp_path, number, *command)
    assert line == "syntax-nmt: error: interrupted: run the same command again; it resumes"
