"""Small test sets for the commands that score translations, and those commands; what their tests
are given where there is no difference."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from nonempty import some

from syntax_nmt.cli import main
from syntax_nmt.scoring.translations.evaluation_set import System, Text
from syntax_nmt.scoring.translations.metrics import MetricSet

WORDS = [
    *("der", "die", "das", "Hund", "Katze", "Haus", "rennt", "schläft", "im", "am", "Tag"),
    *(".", ",", "Straße", "über"),
]


def sentences(count: int, seed: int = 1) -> list[str]:
    """Random sentences of 1 to 25 words."""
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(1, 25))) for _ in range(count)]


def noisy(lines: list[str], seed: int, share: float) -> list[str]:
    """The sentences with a share of the words replaced."""
    rng = random.Random(seed)
    return [
        " ".join(rng.choice(WORDS) if rng.random() < share else word for word in line.split())
        for line in lines
    ]


def write(path: Path, lines: list[str]) -> Path:
    """A plain text."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def generated(hypotheses, references, sources, seed: int = 1) -> list[str]:
    """The lines of fairseq-generate, sentences in random order."""
    order = list(range(len(hypotheses)))
    random.Random(seed).shuffle(order)
    lines = ["INFO:fairseq_cli.generate:loading model(s)"]
    for i in order:
        lines += [f"S-{i}\t{sources[i]}", f"T-{i}\t{references[i]}"]
        lines += [f"H-{i}\t-0.5\t▁{hypotheses[i]}", f"D-{i}\t-0.5\t{hypotheses[i]}"]
        lines += [f"P-{i}\t-0.5 -0.5"]
    return [*lines, "Generate test with beam=5: BLEU4 = 1.00"]


def run_statistics(metrics: MetricSet, runs: list, references: list) -> list[np.ndarray]:
    """Of each run: sentences × statistics."""
    system = System("system", tuple(Text("run", tuple(run)) for run in runs))
    (found,) = metrics.statistics([system], [Text("reference", tuple(ref)) for ref in references])
    return found


def handed_out(pool: np.ndarray, draws: int) -> Iterator[list[np.ndarray]]:
    """For each draw the runs with the translations of each sentence handed out anew.

    Args:
        pool: runs × sentences × statistics.
    """
    rng = np.random.default_rng(1)
    runs, count = pool.shape[:2]
    for _ in range(draws):
        order = np.argsort(rng.random((count, runs)), axis=1).T
        yield [pool[place, np.arange(count)] for place in order]


def distance_from_uniform(p_values: Sequence[float]) -> float:
    """Kolmogorov–Smirnov's D."""
    ordered, steps = np.sort(p_values), np.arange(len(p_values) + 1) / len(p_values)
    return max((steps[1:] - ordered).max(), (ordered - steps[:-1]).max())


def row_of(text: str, name: str) -> list[str]:
    """The figures of a row of a table."""
    row = next(line for line in text.splitlines() if line.startswith(f"{name}  "))
    return row.removeprefix(name).split()


def figures(capsys, *arguments) -> dict:
    """What a command writes to `--json -`."""
    capsys.readouterr()
    main([*map(str, arguments), "--json", "-"])
    return json.loads(capsys.readouterr().out)


def assert_holm(tests: Sequence[dict]) -> None:
    """p of several tests is multiplied by the number of those left, and never below the one
    before."""
    least = 0.0
    for rank, test in enumerate(some(sorted(tests, key=lambda each: each["p_value"]))):
        least = max(least, min(1, test["p_value"] * (len(tests) - rank)))
        assert test["p_holm"] == pytest.approx(least)


def refused(*arguments) -> str:
    """The error of a command that must refuse."""
    with pytest.raises(SystemExit) as caught:
        main([*map(str, arguments)])
    message = str(caught.value)
    assert message.startswith("syntax-nmt: error: ")
    assert "\n" not in message
    return message.removeprefix("syntax-nmt: error: ")
