"""A hundred thousand lines through fairseq-interactive, whose memory stays as it is."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from commands import fairseq
from methods import READERS
from parsing_stand_in import write_config
from programs import untrained

pytestmark = pytest.mark.slow

LINES = 100_000
MEASURED = (1_000, 10_000, 50_000, 99_000)
GROWTH = 24  # MiB over the second half: allocators round; what fairseq would keep is more than 40
# glibc raises this limit as it goes, and then keeps freed tensors of changing sizes in pieces: up
# to 100 MiB with tree coverage, which is nothing that the program keeps.
ALLOCATION = {"MALLOC_MMAP_THRESHOLD_": "65536"}
USER_DIR = Path(__file__).parent / "parsed_by_stand_in"
TESTS = USER_DIR.parents[1]  # which have the stand-in


def resident(pid: int) -> float:
    """The memory that a process holds, in MiB."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        (line,) = (line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def write_lines(path: Path, words: list[str]) -> Path:
    """Lines of one to ten pieces; hardly two are the same."""
    draw = random.Random(5)
    with open(path, "w", encoding="utf-8") as out:
        for _ in range(LINES):
            out.write(" ".join(draw.choices(words, k=draw.randint(1, 10))) + "\n")
    return path


def program(prepared, path, *arguments) -> list[str]:
    """fairseq-interactive with a user directory that has the stand-in for the parser, too."""
    command = fairseq("interactive", prepared.data, "--path", path, *arguments)
    given = [str(part) for part in command]
    given[given.index("--user-dir") + 1] = str(USER_DIR)
    return [sys.executable, "-m", *given]


@pytest.mark.parametrize("method", ["syntax_transformer", *READERS])
def test_memory_is_flat(prepared, tmp_path, method, capsys):
    system = untrained(prepared.data, method, tmp_path)
    lines = (prepared.data / "dict.src.txt").read_text(encoding="utf-8").splitlines()
    typed = write_lines(tmp_path / "typed", [line.split()[0] for line in lines[:300]])
    flags = ["--buffer-size", "500", "--max-tokens", "6000", "--beam", "1", "--max-len-b", "1"]
    if system.inputs:
        flags += write_config(tmp_path)
    measured, numbers, said = {}, [], tmp_path / "stderr"
    with said.open("w", encoding="utf-8") as errors, subprocess.Popen(
        program(prepared, system.path, *flags, "--input", str(typed)),
        stdout=subprocess.PIPE, stderr=errors, text=True,
        env={**os.environ, **ALLOCATION, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(TESTS)},
    ) as process:  # fmt: skip
        for line in process.stdout:
            if line.startswith("H-"):
                numbers.append(int(line[2 : line.index("\t")]))
                if len(numbers) in MEASURED:
                    measured[len(numbers)] = resident(process.pid)
        assert process.wait() == 0, said.read_text(encoding="utf-8")[-2000:]
    with capsys.disabled():
        print(f"\n{method}: MiB after lines: {measured}")
    assert numbers == list(range(LINES))
    # By then the parsers remember as many sentences as they ever do.
    assert measured[MEASURED[-1]] - measured[MEASURED[-2]] < GROWTH
