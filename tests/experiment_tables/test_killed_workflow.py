"""The toy table from the command line: killed at random moments and started again, the same."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("snakemake", reason="the extra `experiments` is not installed")
from commands import REPOSITORY, started

EXPERIMENTS = REPOSITORY / "examples" / "experiments"
TOY = EXPERIMENTS / "tables" / "toy.yaml"
KILLS = 10
# What differs from one machine and start to the next.
PASSING = ("seconds", "tokens_per_second")

pytestmark = [
    pytest.mark.dear,
    pytest.mark.skipif(
        shutil.which("git") is None or not (REPOSITORY / ".git").exists(),
        reason="a snapshot of a commit needs git and a repository",
    ),
]


@cache
def head():
    """The commit of all starts, whatever is committed meanwhile."""
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def command(folder, *options):
    given = [TOY, "--folder", folder / "work", "--results", folder / "results", "--cores", "2"]
    given += ["--commit", head()]
    return [str(EXPERIMENTS / "run.py"), *map(str, given), *options]


def finished(folder, *options):
    given = [sys.executable, *command(folder, *options)]
    return subprocess.run(given, capture_output=True, text=True, check=False)


def run(folder, *options):
    done = finished(folder, *options)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def killed_after(folder, seconds):
    """Starts the workflow and kills it with all that it started; whether it was still at work."""
    process = started(*command(folder))
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        for member in session(process.pid):
            os.kill(member, signal.SIGKILL)
        process.wait()
        return True
    return False


def session(leader):
    """The processes that one has started, whatever their groups."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(ProcessLookupError):
            if os.getsid(int(folder.name)) == leader:
                found.append(int(folder.name))
    return found


def lasting_figures(folder):
    figures = json.loads((folder / "results" / "toy" / "table.json").read_text(encoding="utf-8"))
    for row in figures["rows"]:
        for name in PASSING:
            row.pop(name)
    return figures


@pytest.mark.slow
def test_killed_at_ten_moments_and_started_again(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    started = os.times().elapsed
    run(whole)
    needed = os.times().elapsed - started
    expected = lasting_figures(whole)
    assert all(row["seeds_done"] == [1, 2] for row in expected["rows"])
    assert expected["rows"][1]["figures"]["UAS"]["score"] > 0
    assert not list((whole / "work" / "runs").rglob("*.pt"))  # checkpoints are gone

    rng = random.Random(1)
    kills = sum(killed_after(broken, rng.uniform(0.02, 0.12) * needed) for _ in range(KILLS))
    assert kills == KILLS
    run(broken)
    assert lasting_figures(broken) == expected
    assert "preparing" not in run(broken)  # nothing is left to do
    for file in (whole / "results" / "toy").glob("*.test.gz"):
        assert file.read_bytes() == (broken / "results" / "toy" / file.name).read_bytes()


@pytest.mark.slow
def test_a_signal_ends_all_that_was_started(tmp_path):
    process = started(*command(tmp_path), stderr=subprocess.PIPE)
    while not list((tmp_path / "work" / "runs").glob("*/train.log")):
        assert process.poll() is None
        time.sleep(1)
    process.terminate()
    said = process.communicate()[1]
    assert process.returncode == 1
    assert "experiments: error: interrupted: the same command resumes" in said
    for _ in range(30):  # a training ends its loaders' processes
        if not session(process.pid):
            break
        time.sleep(1)
    assert session(process.pid) == []


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory):
    return tmp_path_factory.mktemp("snapshots")


def test_what_is_missing_is_said(snapshots):
    said = run(snapshots, "--dry-run")
    assert "settings tried: 0 of 4" in said
    assert "transformer.dependency: 0 of 2 seeds (not chosen yet)" in said
    assert not (snapshots / "results").exists()
    assert not (snapshots / "work" / "runs").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--commit", "no-such-commit"), "experiments: error: git "),
        (("--only", "stok"), "experiments: error: --only stok: no system of that name in toy"),
    ],
)
def test_what_is_refused(snapshots, options, message):
    done = finished(snapshots, *options)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
