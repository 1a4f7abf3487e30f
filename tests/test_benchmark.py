"""The benchmark's commands on the smallest sizes: what they count and write, not how fast."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest
from commands import REPOSITORY

from syntax_nmt.methods.method import RNN
from syntax_nmt.models.presets import LINES

pytestmark = pytest.mark.dear

BENCHMARK = REPOSITORY / "examples" / "benchmark"
TINY = ("--size", "tiny", "--vocabulary", "100", "--length", "6", "--sentences", "4")


def run(*arguments, **environment):
    command = [sys.executable, BENCHMARK / "speed.py", *TINY, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def succeed(*arguments):
    done = run(*arguments)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_operations_of_one_method(tmp_path):
    """A model with all features off does what the stock one does; pads are no part of its loss."""
    figures = tmp_path / "figures.json"
    given = ("--arch", "syntax_transformer", "phrase_transformer", "--count", "--json", figures)
    table = succeed(*given, "--works", "training", "beam5")
    assert "| `phrase_transformer` |" in table
    written = json.loads(figures.read_text(encoding="utf-8"))
    assert written["settings"]["vocabulary"] == 100
    for work in ("training", "beam5"):
        counted = written["comparisons"]["transformer"][work]
        stock = counted["transformer"]["operations"]
        assert 0.9 * stock < counted["syntax_transformer"]["operations"] <= stock
        assert counted["phrase_transformer"]["operations"] > 1.2 * stock


# At most so many times the kernels of another system, in an update and in a search.
KERNELS = {
    "lstm": {"rnn_search_cgru": (0.84, 1.0), "rnn_search": (0.84, 1.0)},
    "rnn_search_cgru": {"bi_scale_rnn": (1.5, 1.54), "tree_coverage_rnn": (1.61, 1.46)},
    "syntax_transformer": {"phrase_transformer": (2.15, 1.3)},
}


@pytest.mark.parametrize("stock", KERNELS)
def test_kernels(tmp_path, stock):
    """On a GPU, small kernels take the time of their launches."""
    figures = tmp_path / "figures.json"
    sizes = ("--size", "small", "--vocabulary", 500, "--length", 25, "--sentences", 8)
    given = ("--arch", *KERNELS[stock], "--against", stock)
    if stock == "lstm":  # the group makes it bidirectional
        given = ("--compare", stock)
    counting = ("--count", "--batches", 1, "--works", "training", "beam5", "--json", figures)
    succeed(*given, *counting, *sizes)
    counted = json.loads(figures.read_text(encoding="utf-8"))["comparisons"][stock]
    for name, limits in KERNELS[stock].items():
        for work, limit in zip(("training", "beam5"), limits):
            of_both = [counted[work][each]["kernels"] for each in (name, stock)]
            assert of_both[0] <= limit * of_both[1], (work, of_both)


def test_every_rnn_is_built_narrow(tmp_path):
    """With its own further sizes, and no RNN with those of another method."""
    figures = tmp_path / "figures.json"
    succeed("--compare", "rnn", "--count", "--works", "training", "--json", figures)
    comparison = json.loads(figures.read_text(encoding="utf-8"))["comparisons"]["rnn"]["training"]
    assert {line.arch for line in LINES if line.family == RNN} == comparison.keys()
    parameters = {name: each["parameters"] for name, each in comparison.items()}
    plain = parameters.pop("rnn_search")
    assert plain == min(plain, *parameters.values())


PEERS = ("--compare", "peers", "--repeats", 1, "--batches", 1, "--works", "training", "beam5")


@pytest.mark.parametrize("package", ["transformers", "joeynmt"])
def test_peers_do_the_work_of_the_transformer(tmp_path, package):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    figures = tmp_path / "figures.json"
    succeed(*PEERS, "--count", "--json", figures)
    name = {"transformers": "marian"}.get(package, package)
    measured = json.loads(figures.read_text(encoding="utf-8"))["comparisons"]["peers"]["training"]
    stock = measured["transformer"]
    assert measured[name]["parameters"] == pytest.approx(stock["parameters"], rel=0.02)
    assert measured[name]["operations"] == pytest.approx(stock["operations"], rel=0.15)


def test_peers_that_are_not_installed_are_left_out(tmp_path):
    for package in ("transformers", "joeynmt"):
        (tmp_path / f"{package}.py").write_text("raise ImportError('none here')\n")
    done = run(*PEERS, PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr[-2000:]
    assert "marian is left out: none here" in done.stderr
    assert "joeynmt is left out: none here" in done.stderr
    assert "| `syntax_transformer` |" in done.stdout
    assert "marian" not in done.stdout


def test_batches_of_a_data_folder(prepared):
    """Of changing shapes, with all annotation; and fairseq-train itself, of which the log says."""
    systems = ("--arch", "transformer", "dependency_transformer", "--max-tokens", 300)
    for more in (("--passes", 2), ("--program",)):
        command = [BENCHMARK / "varied.py", prepared.data, *TINY, *systems, "--batches", 3, *more]
        done = subprocess.run(
            [sys.executable, *map(str, command)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        *_, stock, ours = done.stdout.splitlines()
        assert stock.startswith("| `transformer` |")
        assert ours.startswith("| `dependency_transformer` |")


@pytest.mark.slow
def test_times_and_memory(tmp_path):
    figures = tmp_path / "figures.json"
    given = ("--arch", "rnn_search", "--against", "rnn_search_cgru", "--repeats", 2)
    succeed(*given, "--works", "training", "--memory", "--json", figures)
    written = json.loads(figures.read_text(encoding="utf-8"))
    measured = written["comparisons"]["rnn_search_cgru"]["training"]
    assert measured["rnn_search_cgru"]["relative_time_range"] == [1, 1]
    for system in measured.values():
        assert len(system["seconds"]) == 2
        assert system["per_second"] > 0
        assert system["peak_memory"] > 0


@pytest.mark.slow
def test_every_method_is_compared(tmp_path):
    figures = tmp_path / "figures.json"
    succeed("--repeats", 1, "--batches", 1, "--json", figures)
    written = json.loads(figures.read_text(encoding="utf-8"))
    measured = {name for each in written["comparisons"].values() for name in each["training"]}
    assert {"phrase_transformer", "relation_rnn", "bi_scale_rnn", "lstm"} <= measured


REFUSED = [
    ("speed.py --arch transformer", "--arch and --against are the same"),
    (
        "speed.py --arch rnn_serch",
        "--arch rnn_serch: no such architecture: did you mean rnn_search",
    ),
    ("speed.py --against rnn_search", "add --arch"),
    ("speed.py --arch rnn_search --compare rnn", "give one of them"),
    ("varied.py data-bin --program --passes 2", "omit --passes, --dtype"),
    ("varied.py data-bin --workers 2", "add --program"),
    ("parsers.py words.conllu --lang en", "give --stanza-dir, --udpipe or --spacy"),
    ("parsers.py words.conllu --lang en --udpipe none", "words.conllu: "),
]


@pytest.mark.parametrize(("command", "message"), REFUSED)
def test_what_cannot_be_measured_is_refused_in_a_line(command, message, tmp_path):
    program, *given = command.split()
    done = subprocess.run(
        [sys.executable, BENCHMARK / program, *given],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode != 0
    assert message in done.stderr.splitlines()[-1]
