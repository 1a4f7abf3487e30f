"""Scores of sentences out of files, compared with the same tests as any metric."""

import random
import statistics

import pytest
from translations import figures, noisy, refused, sentences, write

from syntax_nmt.cli import main

COUNT = 80
REFERENCE = sentences(COUNT)


def quality(seed, mean):
    rng = random.Random(seed)
    return [rng.gauss(mean, 0.1) for _ in range(COUNT)]


@pytest.fixture
def files(tmp_path):
    write(tmp_path / "ref", REFERENCE)
    for name, seed in (("a", 1), ("b", 2)):
        write(tmp_path / name, noisy(REFERENCE, seed, 0.3))
        write(tmp_path / f"{name}.scores", [str(value) for value in quality(seed, 0.7 + seed / 10)])
    return tmp_path


def compared(capsys, files, a, b, *options):
    return figures(
        capsys, "compare", files / "a", files / "b", "-r", files / "ref", "-m", "bleu",
        "--resamples", 100, "--trials", 100, "--sentence-scores", "a", files / a,
        "--sentence-scores", "b", files / b, *options,
    )  # fmt: skip


def test_means_differences_and_tests(files, capsys):
    found = compared(capsys, files, "a.scores", "b.scores")
    first, second = (system["scores"]["sentence score"] for system in found["systems"])
    means = [statistics.mean(quality(seed, 0.7 + seed / 10)) for seed in (1, 2)]
    assert (first["score"], second["score"]) == pytest.approx(means)
    assert second["difference"] == pytest.approx(means[1] - means[0])
    for test in ("bootstrap", "randomisation", "sign_test"):
        assert second[test]["p_value"] < 0.05
    better = sum(y > x for x, y in zip(quality(1, 0.7 + 0.1), quality(2, 0.7 + 0.2)))
    assert second["sign_test"]["better"] == better
    assert found["metrics"]["sentence score"]["higher_is_better"]
    lower = compared(capsys, files, "a.scores", "b.scores", "--sentence-lower")
    signs = lower["systems"][1]["scores"]["sentence score"]["sign_test"]
    assert signs["worse"] == better


def test_what_comet_prints(files, capsys):
    scores = enumerate(quality(2, 0.7 + 0.2))
    lines = [f"b\tSegment {number}\tscore: {value}" for number, value in scores]
    write(files / "comet", [*lines, "b\tscore: 0.9"])
    expected = compared(capsys, files, "a.scores", "b.scores", "--sentence-metric", "COMET")
    assert expected == compared(capsys, files, "a.scores", "comet", "--sentence-metric", "COMET")
    message = refused(
        *("score", files / "a", files / "b", "-r", files / "ref"),
        *("--sentence-scores", "a", files / "a.scores", "--sentence-scores", "b", files / "comet"),
    )
    assert "sentence scores: sentence score and COMET" in message


def test_runs_are_averaged_and_small_scores_have_digits(files, capsys):
    main([*map(str, [
        "score", "--system", "x", files / "a", files / "b", "-r", files / "ref", "-m", "bleu",
        "--sentence-scores", "x", files / "a.scores", files / "b.scores", "--format", "tsv",
    ])])  # fmt: skip
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines() if "\t" in line]
    mean = statistics.mean(quality(1, 0.7 + 0.1) + quality(2, 0.7 + 0.2))
    assert rows[0][-1] == "sentence score"
    assert rows[1][-1].startswith(f"{mean:.3f} sd ")


def test_refusals(files):
    def message(*options):
        return refused("score", files / "a", "-r", files / "ref", *options)

    write(files / "short", ["1"])
    write(files / "odd", ["1"] * (COUNT - 1) + ["nan"])
    named = ["--sentence-scores", "a"]
    assert "short has 1 scores" in message(*named, files / "short")
    assert f"odd:{COUNT}: 'nan' is no score" in message(*named, files / "odd")
    assert "ref:1: '" in message(*named, files / "ref")
    assert "no system has this name" in message("--sentence-scores", "z", files / "short")
    assert "2 files for 1 runs" in message(*named, files / "a.scores", files / "b.scores")
    named = [*named, files / "a.scores", "--sentence-metric", "chrF2"]
    assert "chrF2 is computed here, too" in message(*named)
    main([*map(str, ["score", files / "a", "-r", files / "ref", "-m", "bleu", *named])])
