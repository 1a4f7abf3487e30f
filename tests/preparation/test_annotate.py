"""Annotation in parts: every line has its entry, and nothing that happens to a run is lost."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import CancelledError, Future
from pathlib import Path
from types import SimpleNamespace

import pytest
import stand_in
from commands import kill_all, started
from stand_in import StandIn
from translations import write

from syntax_nmt.cli import main
from syntax_nmt.errors import UserError
from syntax_nmt.preparation import executor
from syntax_nmt.preparation.annotators.annotate import Resources, annotate_file
from syntax_nmt.preparation.annotators.parts import PartFolder
from syntax_nmt.preparation.annotators.shard import Shard, find_shard

PARTS = Resources(part_size=50)


def array(*values: str, **more: str) -> dict[str, str]:
    """Of Slurm: number, first, last and count of the tasks of an array."""
    names = (f"SLURM_ARRAY_TASK_{name}" for name in ("ID", "MIN", "MAX", "COUNT"))
    return {**dict(zip(names, values)), **more}


RESUBMITTED = array(*"7372")  # the last of `sbatch --array=3,7`


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    """1,020 lines of any length, some empty, some too long, some that fail."""
    rng = random.Random(1)
    words = [[f"w{rng.randrange(99)}" for _ in range(rng.randrange(60))] for _ in range(999)]
    lines = [*map(" ".join, words), *["boom now"] * 20, ""]
    rng.shuffle(lines)
    return write(tmp_path_factory.mktemp("text") / "text.en", lines)


@pytest.fixture(scope="module")
def whole(text) -> bytes:
    """What an uninterrupted run writes."""
    output = text.with_name("whole")
    annotate_file(text, output, StandIn(), PARTS)
    return output.read_bytes()


def annotate_shard(text: Path, output: Path, index: int, count: int, **options) -> Counter[str]:
    """Annotates one of several shards; the options are those of the annotator."""
    resources = Resources(part_size=50, shard=Shard(index, count))
    return annotate_file(text, output, StandIn(**options), resources)


def merge(text: Path, output: Path) -> None:
    main(["merge", "--input", str(text), "--output", str(output)])


def test_one_entry_a_line(text, whole, tmp_path):
    counts = annotate_file(text, tmp_path / "out", StandIn(), PARTS)
    lines = text.read_text().split("\n")[:-1]
    entries = (tmp_path / "out").read_text().split("\n")[:-1]
    assert len(lines) == len(entries) == counts["lines"] == 1020
    for line, entry in zip(lines, entries):
        words = line.split()
        given = 0 < len(words) <= 50 and "boom" not in words
        assert entry == ("(X " + " ".join(f"(W {word})" for word in words) + ")" if given else "()")
    kinds = ("annotated", "empty", "too long", "failed")
    assert counts["failed"] == 20
    assert sum(counts[kind] for kind in kinds) == 1020
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_text_without_any_annotation_has_all_counts(tmp_path):
    """What was annotated is on record as 0; that it was annotated is known by it."""
    text = write(tmp_path / "text.en", ["", "word " * 51])
    counts = annotate_file(text, tmp_path / "out", StandIn(), PARTS)
    assert dict(counts) == {"lines": 2, "annotated": 0, "empty": 1, "too long": 1}


@pytest.mark.dear
@pytest.mark.parametrize("resources", [Resources(), Resources(2, part_size=7), Resources(3)])
def test_workers_and_parts_do_not_show(text, whole, tmp_path, resources):
    annotate_file(text, tmp_path / "out", StandIn(), resources)
    assert (tmp_path / "out").read_bytes() == whole


def test_shards_are_merged(text, whole, tmp_path, capsys):
    output = tmp_path / "out"
    for index in (2, 0):
        annotate_shard(text, output, index, 3)
    with pytest.raises(
        SystemExit, match=r"000001.part: not there or damaged: .* cover 50 of 1,020"
    ):
        merge(text, output)
    assert not output.exists()
    assert annotate_shard(text, output, 1, 3)["lines"] == 350
    merge(text, output)
    assert output.read_bytes() == whole
    assert "1,020 lines" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    with pytest.raises(SystemExit, match=r"out.parts: not there: give the --input and --output"):
        merge(text, output)


@pytest.mark.parametrize(
    ("environment", "options", "expected"),
    [
        ({}, (None, None), (0, 1)),
        ({"RANK": "3", "WORLD_SIZE": "4"}, (None, None), (3, 4)),
        ({"RANK": "3", "WORLD_SIZE": "4"}, (1, None), (0, 1)),
        ({"RANK": "3", "WORLD_SIZE": "4"}, (5, 2), (2, 5)),
        ({"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}, (None, None), (1, 2)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "2"}, (None, None), (0, 1)),
        (array(*"2034", SLURM_PROCID="1", SLURM_STEP_NUM_TASKS="3"), (None, None), (7, 12)),
        (RESUBMITTED, (8, None), (7, 8)),
    ],
)
def test_the_shard_is_what_torchrun_or_slurm_say(environment, options, expected):
    shard = find_shard(*options, environment)
    assert (shard.index, shard.count) == expected


@pytest.mark.parametrize(
    ("options", "environment", "message"),
    [
        ((4, None), {}, "--num-shards 4: give --shard-id, too"),
        ((4, 4), {}, "shard 4 of 4: shards are counted from 0 to 3"),
        ((None, 0), {}, "--shard-id 0: give --num-shards, too"),
        ((None, None), RESUBMITTED, r"array of 2 tasks from 3 to 7 .*: give --num-shards"),
    ],
)
def test_shards_that_cannot_be(options, environment, message):
    with pytest.raises(UserError, match=message):
        find_shard(*options, environment)


def test_a_damaged_part_is_refused_and_done_again(text, whole, tmp_path):
    output = tmp_path / "out"
    for index in (0, 1):
        annotate_shard(text, output, index, 2)
    part = tmp_path / "out.parts" / "000003.part"
    content = bytearray(part.read_bytes())
    content[-20] ^= 1
    part.write_bytes(content)
    with pytest.raises(SystemExit, match=r"000003.part: damaged \(checksum .* recorded\): run the"):
        merge(text, output)
    assert not output.exists()
    assert annotate_file(text, output, StandIn(), PARTS)["reused"] == 970
    assert output.read_bytes() == whole


def test_parts_of_other_options_are_neither_thrown_away_nor_merged(text, tmp_path):
    output, elsewhere = tmp_path / "out", tmp_path / "other"
    annotate_shard(text, output, 0, 2)
    annotate_shard(text, elsewhere, 1, 2, max_words=9)
    shard = Resources(part_size=50, shard=Shard(1, 2))
    for annotator, resources in ((StandIn(max_words=9), shard), (StandIn(), Resources())):
        with pytest.raises(UserError, match=r"out.parts: 11 finished parts were made with other"):
            annotate_file(text, output, annotator, resources)
    for part in (tmp_path / "other.parts").iterdir():
        part.rename(tmp_path / "out.parts" / part.name)
    with pytest.raises(SystemExit, match=r"000001.part: lines 51 .* other models or options"):
        merge(text, output)
    assert len(list((tmp_path / "out.parts").iterdir())) == 21


def test_parts_of_another_text_are_neither_merged_nor_reused(text, whole, tmp_path):
    output, other = tmp_path / "out", tmp_path / "other.en"
    other.write_text(text.read_text().replace("w3", "w4", 1))
    for index in (0, 1):
        annotate_shard(other, output, index, 2)
    with pytest.raises(SystemExit, match=r"lines 1 to 50 of .*text.en: made from another text"):
        merge(text, output)
    (tmp_path / "out.parts" / "000001.part").write_text('{"key": ')  # as a kill leaves it
    assert annotate_file(text, output, StandIn(), PARTS)["reused"] == 1020 - 2 * 50
    assert output.read_bytes() == whole


def test_parts_left_from_a_longer_text_do_no_harm(text, whole, tmp_path):
    longer = tmp_path / "longer.en"
    longer.write_text(text.read_text() * 2)
    last = Resources(part_size=50, shard=Shard(40, 41))
    annotate_file(longer, tmp_path / "out", StandIn(), last)
    longer.unlink()
    assert (tmp_path / "out.parts" / "000040.part").is_file()
    annotate_file(text, tmp_path / "out", StandIn(), PARTS)
    assert (tmp_path / "out").read_bytes() == whole
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_input_is_never_the_output(text, tmp_path):
    copy = tmp_path / "copy"
    copy.write_bytes(text.read_bytes())
    with pytest.raises(UserError, match="copy: is the input as well, and would be lost"):
        annotate_file(copy, tmp_path / "x" / ".." / "copy", StandIn())
    with pytest.raises(UserError, match=r"out.gz: written uncompressed: give a name without .gz"):
        annotate_file(copy, tmp_path / "out.gz", StandIn())
    assert copy.read_bytes() == text.read_bytes()


def test_a_link_stays_and_its_target_is_written(text, whole, tmp_path):
    """The parts lie beside the target, which may be on another disk."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to("disk/out")
    for index in (0, 1):
        annotate_shard(text, tmp_path / "link", index, 2)
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["out.parts"]
    merge(text, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "disk" / "out").read_bytes() == whole
    assert len(list(tmp_path.rglob("*"))) == 3


def test_pipes_are_refused(text, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UserError, match="pipe: is read more than once: give a file, not a pipe"):
        annotate_file(pipe, tmp_path / "out", StandIn())
    with pytest.raises(UserError, match="pipe: finished parts are kept beside it: give a file"):
        annotate_file(text, pipe, StandIn())
    assert [path.is_fifo() for path in tmp_path.iterdir()] == [True]


def test_one_run_at_a_time_on_one_output(text, whole, tmp_path):
    output = tmp_path / "out"
    with PartFolder(output).held(shared=True):  # a shard is at work
        annotate_shard(text, output, 0, 2)
        with pytest.raises(UserError, match=r"out.parts: another run is at work on this output"):
            annotate_file(text, output, StandIn(), PARTS)
        with pytest.raises(SystemExit, match="another run is at work"):
            merge(text, output)
    assert annotate_file(text, output, StandIn(), PARTS)["reused"] == 520
    assert output.read_bytes() == whole


def test_an_empty_text(tmp_path):
    (tmp_path / "text").write_text("")
    assert annotate_file(tmp_path / "text", tmp_path / "out", StandIn())["lines"] == 0
    assert (tmp_path / "out").read_text() == ""


def test_an_interrupted_merge_loses_nothing(text, whole, tmp_path, monkeypatch):
    output = tmp_path / "out"
    replace = os.replace

    def interrupted(source, destination):
        if Path(destination) == output:
            raise KeyboardInterrupt
        replace(source, destination)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        annotate_file(text, output, StandIn(), PARTS)
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["out.parts"]
    merge(text, output)
    assert output.read_bytes() == whole


def test_a_worker_that_dies_costs_only_its_part(text, tmp_path):
    lines = text.read_text().split("\n")
    lines[700] = "deadly"
    changed, output = tmp_path / "text.en", tmp_path / "out"
    changed.write_text("\n".join(lines))
    with pytest.raises(UserError, match=r"a worker process died.* fewer processes; .* is kept"):
        annotate_file(changed, output, StandIn(dies_at="deadly"), Resources(2, part_size=50))
    assert not output.exists()
    kept = len(list((tmp_path / "out.parts").iterdir()))
    counts = annotate_file(changed, output, StandIn(), PARTS)
    assert counts["reused"] == 50 * kept >= 50 * 8
    assert counts["lines"] == 1020


@pytest.mark.dear
def test_workers_end_with_a_parent_that_is_killed(text, tmp_path):
    job = started(stand_in.__file__, text, tmp_path / "out", "2", "5", "0.2")
    parts = tmp_path / "out.parts"
    while not list(parts.glob("*.part")):
        assert job.poll() is None
        time.sleep(0.01)
    workers = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
    assert len(workers) >= 2
    job.kill()
    job.wait()
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def kill_once(arguments: list[str], seconds: float) -> None:
    """Runs the stand-in in a process group of its own and kills it at work."""
    job = started(stand_in.__file__, *arguments)
    parts = Path(arguments[1] + ".parts")
    deadline = time.monotonic() + 300  # a busy machine takes long to start
    before = len(list(parts.glob("*.part")))
    while job.poll() is None and len(list(parts.glob("*.part"))) == before:  # not yet at work
        assert time.monotonic() < deadline
        time.sleep(0.002)
    time.sleep(seconds)
    assert job.poll() is None
    kill_all(job, parts)


@pytest.mark.dear
@pytest.mark.parametrize("kills", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_killed_at_random_moments(text, whole, tmp_path, kills):
    rng = random.Random(kills)
    output = tmp_path / "out"
    arguments = [str(text), str(output), "2", "5", "0.05"]  # 204 parts, 5 seconds
    for _ in range(kills):
        kill_once(arguments, rng.uniform(0, 0.3))
        assert not output.exists()
    counts = annotate_file(text, output, StandIn(), Resources(part_size=5))
    assert 0 < counts["reused"] < 1020
    assert output.read_bytes() == whole
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.dear
def test_a_full_disk_is_one_line_and_nothing_is_lost(text, whole, small_disk):
    disk = small_disk("256k")
    output = disk / "out"
    with pytest.raises(UserError, match=r"cannot be written \(No space left on device\)"):
        annotate_file(text, output, StandIn(), PARTS)
    assert not output.exists()
    subprocess.run(["mount", "-o", "remount,size=16m", str(disk)], check=True)
    counts = annotate_file(text, output, StandIn(), PARTS)
    assert counts["reused"] > 0
    assert output.read_bytes() == whole
    assert [path.name for path in disk.iterdir()] == ["out"]


CLUSTER = """
import time
from distributed import LocalCluster

if __name__ == "__main__":
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    cluster = LocalCluster(host="127.0.0.1", **options)
    print(cluster.scheduler_address, flush=True)
    time.sleep(300)
"""


@pytest.fixture
def cluster(tmp_path_factory):
    """A Dask cluster of two worker processes on this machine: its own process, and its address."""
    pytest.importorskip("distributed")
    script = tmp_path_factory.mktemp("cluster") / "cluster.py"
    script.write_text(CLUSTER)
    paths = (str(Path(stand_in.__file__).parent), os.environ.get("PYTHONPATH", ""))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    process = started(script, stdout=subprocess.PIPE, env=environment)
    yield process, process.stdout.readline().strip()
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_a_cluster_gives_the_same_bytes(text, whole, tmp_path, cluster):
    resources = Resources(dask_scheduler=cluster[1], part_size=50)
    counts = annotate_file(text, tmp_path / "out", StandIn(), resources)
    assert counts["lines"] == 1020
    assert (tmp_path / "out").read_bytes() == whole


@pytest.mark.dear
def test_a_cluster_that_is_killed_is_one_line(text, tmp_path, cluster):
    process, address = cluster

    def kill_at_work():
        while process.poll() is None and not list((tmp_path / "out.parts").glob("*.part")):
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)

    threading.Thread(target=kill_at_work, daemon=True).start()
    resources = Resources(dask_scheduler=address, part_size=1)
    with pytest.raises(UserError, match=r"the cluster went away: .* what is finished is kept"):
        annotate_file(text, tmp_path / "out", StandIn(seconds=0.5), resources)


@pytest.mark.parametrize("status", ["connecting", "closed"])
def test_a_call_of_a_client_without_a_scheduler_is_not_waited_for(monkeypatch, status):
    """As one that comes while Dask's client cancels those that it knows of."""
    monkeypatch.setattr(executor, "_SECONDS_TO_ANSWER", 0.01)
    with pytest.raises(CancelledError):
        executor._wait_while_open(SimpleNamespace(status=status), Future())


def test_a_call_is_waited_for_while_the_scheduler_is_there(monkeypatch):
    monkeypatch.setattr(executor, "_SECONDS_TO_ANSWER", 0.01)
    call = Future()
    threading.Timer(0.2, call.set_result, ["result"]).start()
    assert executor._wait_while_open(SimpleNamespace(status="running"), call) == "result"
    failed = Future()
    failed.set_exception(TimeoutError("the call's own"))
    with pytest.raises(TimeoutError, match="the call's own"):
        executor._wait_while_open(SimpleNamespace(status="running"), failed)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_text(tmp_path):
    """A hundred times as many lines, no more memory."""
    peak = {}
    for lines in (10_000, 1_000_000):
        text = tmp_path / f"{lines}.txt"
        with open(text, "w") as stream:
            stream.writelines(f"{'word ' * (number % 30)}\n" for number in range(lines))
        measured = (
            "import resource, sys, stand_in; stand_in.main(); "
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        done = subprocess.run(
            [sys.executable, "-c", measured, text, tmp_path / "out", "1", "2000", "0"],
            cwd=Path(stand_in.__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
        peak[lines] = int(done.stdout)
        with open(tmp_path / "out") as stream:
            assert sum(1 for _ in stream) == lines
    assert peak[1_000_000] < 1.03 * peak[10_000]
