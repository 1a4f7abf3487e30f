"""fairseq-interactive with every method: buffers, pipes, constraints; memory that stays flat."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from commands import fairseq
from methods import READERS
from parsing_stand_in import write_config
from prepared_corpus import TEST_SENTENCES
from programs import System, each_system, untrained

from syntax_nmt.errors import UserError

pytestmark = pytest.mark.dear

QUICK = ("phrase_transformer+parsed",)
SEARCH = ("--beam", "4", "--max-len-b", "16")

system = each_system(QUICK)


@pytest.fixture(scope="module")
def typed(system, inputs, text, prepared):
    """The test set, typed."""
    return system.type(*SEARCH, *inputs, *text, "--input", prepared.corpus / "test.src")


@pytest.mark.parametrize(
    "flags",
    [
        ("--buffer-size", "7", "--batch-size", "3"),
        ("--buffer-size", "50", "--batch-size", "8"),
        ("--buffer-size", "50", "--max-tokens", "90"),
    ],
)
def test_buffers_change_nothing(system, inputs, text, prepared, typed, flags):
    path = prepared.corpus / "test.src"
    printed = system.type(*SEARCH, *inputs, *text, *flags, "--input", path)
    assert printed.order == list(range(TEST_SENTENCES))
    assert printed.best == typed.best
    assert printed.one("D") == typed.one("D")


def test_as_from_a_test_set(system, inputs, text, typed):
    method = System("", system.data, system.path)  # parses, instead of loading annotation files
    assert method.generate(*SEARCH, *inputs).best == typed.best


@pytest.fixture(scope="module")
def constrained(prepared, tmp_path_factory):
    """Test sentences, each with two words that its reference holds; the fifth has none."""
    sources, targets = (
        (prepared.corpus / f"test.{side}").read_text(encoding="utf-8").splitlines()
        for side in ("src", "tgt")
    )
    wanted = [[] if n == 4 else line.split()[:2][::-1] for n, line in enumerate(targets)]
    path = tmp_path_factory.mktemp("constraints") / "typed"
    lines = ("\t".join([source, *words]) for source, words in zip(sources, wanted))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path, wanted


@pytest.mark.parametrize("kind", ["ordered", "unordered"])
def test_constraints_are_met(system, inputs, text, constrained, typed, kind):
    """Of untrained models, which need room.

    fairseq fails (`40 < 40`), with its own models too, if at the limit no hypothesis of a sentence
    has met all constraints while fewer than the beam have ended before.
    """
    path, wanted = constrained
    flags = ("--constraints", kind, "--buffer-size", "9", "--batch-size", "4", "--beam", "8")
    printed = system.type("--max-len-b", "200", *inputs, *text, *flags, "--input", path)
    assert printed.order == list(range(TEST_SENTENCES))
    for n, words in enumerate(wanted):
        pieces = [fields[-1] for fields in printed.fields("C").get(n, [])]
        assert [piece.replace(" ", "").lstrip("▁") for piece in pieces] == words
        found = [f" {printed.best[n]} ".find(f" {piece} ") for piece in pieces]
        assert min(found, default=0) >= 0, (pieces, printed.best[n])
        rest = f" {printed.best[n]} "
        for piece in pieces if kind == "ordered" else ():  # later ones may be there before, too
            _, met, rest = rest.partition(f" {piece} ")
            assert met, (pieces, printed.best[n])
            rest = f" {rest}"


def test_a_carriage_return_ends_no_line(system, inputs, text, typed, prepared, tmp_path):
    """What comes after it would be the translation of another line."""
    lines = (prepared.corpus / "test.src").read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].replace(" ", "\r", 1)
    (tmp_path / "typed").write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8"))
    assert system.type(*SEARCH, *inputs, *text, "--input", tmp_path / "typed").best == typed.best


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, r"typed: cannot be read \(No such file"), (b"a\n\xff\n", "line 2 .* not UTF-8")],
)
def test_a_file_that_is_no_text_is_named(system, inputs, text, tmp_path, content, message):
    if content is not None:
        (tmp_path / "typed").write_bytes(content)
    with pytest.raises((UserError, SystemExit), match=message):
        system.type(*inputs, *text, "--input", tmp_path / "typed")


@pytest.mark.parametrize("method", ["rnn_search_cgru"])
def test_a_pipe_is_answered_line_by_line(make_system, text, prepared, method):
    """Each line before the next one is there."""
    system = make_system(method)
    lines = (prepared.corpus / "test.src").read_text(encoding="utf-8").splitlines()[:3]
    command = fairseq("interactive", prepared.data, "--path", system.path, *SEARCH, *text)
    with subprocess.Popen(
        [sys.executable, "-u", "-m", *map(str, command)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, bufsize=1,
    ) as process:  # fmt: skip
        answers = []
        for line in lines:
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            while not (answer := process.stdout.readline()).startswith(("P-", "")[:1]):
                assert answer, "the program stopped"
                if answer.startswith("H-"):
                    answers.append(answer.rstrip("\n").split("\t")[2])
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    path = prepared.corpus / "test.src"
    expected = system.type(*SEARCH, *text, "--input", path).best
    assert answers == [expected[n] for n in range(len(lines))]


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


@pytest.mark.slow
@pytest.mark.parametrize("method", ["syntax_transformer", *READERS])
def test_memory_is_flat(prepared, tmp_path, method, capsys):
    """Over a hundred thousand lines."""
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
