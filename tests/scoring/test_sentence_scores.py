"""Scores of sentences out of files, compared with the same tests as any metric."""

import json
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


def test_what_comet_writes(files, capsys):
    a, b = quality(1, 0.7 + 0.1), quality(2, 0.7 + 0.2)
    content = {
        "runs/a": [{"src": "x", "mt": "y", "COMET": value} for value in a],
        str(files / "b"): [{"COMET": value, "errors": []} for value in b],
    }
    (files / "comet.json").write_text(json.dumps(content, indent=4), encoding="utf-8")
    lines = [f"b\tSegment {number}\tscore: {value}" for number, value in enumerate(b)]
    write(files / "comet.txt", [*lines, "b\tscore: 0.9"])
    expected = compared(capsys, files, "a.scores", "b.scores", "--sentence-metric", "COMET")
    assert expected == compared(capsys, files, "comet.json", "comet.json")
    assert expected == compared(capsys, files, "comet.json", "comet.txt")


def test_files_of_one_name_in_two_folders(files, capsys, monkeypatch):
    """As runs of several seeds have them; a third folder's could be either's."""
    monkeypatch.chdir(files)
    content = {}
    for place, seed in enumerate(("s1", "s2")):
        (files / seed).mkdir()
        (files / seed / "out").write_bytes((files / "ab"[place]).read_bytes())
        content[f"{seed}/out"] = [{"COMET": score} for score in quality(place + 1, 0.7)]
    (files / "both.json").write_text(json.dumps(content), encoding="utf-8")
    options = ["-r", "ref", "-m", "bleu", "--format", "tsv"]
    systems = ["--system", "x", "s1/out", "--system", "y", "s2/out"]
    given = ["--sentence-scores", "x", "both.json", "--sentence-scores", "y", "both.json"]
    main(["score", *systems, *given, *options])
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines() if "\t" in line]
    means = [statistics.mean(quality(seed, 0.7)) for seed in (1, 2)]
    assert [row[-1] for row in rows[1:]] == [f"{mean:.3f}" for mean in means]
    (files / "s3").mkdir()
    (files / "s3" / "out").write_bytes((files / "a").read_bytes())
    assert "has scores of s1/out, s2/out, not of s3/out" in refused(
        *("score", "--system", "x", "s3/out", "--sentence-scores", "x", "both.json", *options)
    )


def test_a_file_that_was_renamed_since_is_named(files, capsys):
    content = {"old": [{"COMET": value} for value in quality(1, 0.7 + 0.1)]}
    (files / "comet.json").write_text(json.dumps(content), encoding="utf-8")
    options = ("-r", files / "ref", "-m", "bleu", "--sentence-scores", "a", files / "comet.json")
    main([*map(str, ("score", files / "a", *options))])
    printed = capsys.readouterr()
    assert "has scores of old, taken for those of" in printed.err
    assert "COMET" in printed.out


def test_runs_are_averaged_and_small_scores_have_digits(files, capsys):
    from syntax_nmt.cli import main

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
    write(files / "gap", ["0.1", "", "", "x"])
    (files / "deep.json").write_text("[" * 200_000, encoding="utf-8")
    (files / "other.json").write_text('{"x": [], "y": []}', encoding="utf-8")
    (files / "empty.json").write_text('[{"src": "x"}]', encoding="utf-8")
    named = ["--sentence-scores", "a"]
    assert "short has 1 scores" in message(*named, files / "short")
    assert f"odd:{COUNT}: 'nan' is no score" in message(*named, files / "odd")
    assert "gap:4: 'x' is no score" in message(*named, files / "gap")
    assert "deep.json:1: is not JSON (nested" in message(*named, files / "deep.json")
    assert "has scores of x, y, not of" in message(*named, files / "other.json")
    assert "have no COMET or score" in message(*named, files / "empty.json")
    assert "no system has this name" in message("--sentence-scores", "z", files / "short")
    assert "2 files for 1 runs" in message(*named, files / "a.scores", files / "b.scores")
    assert "is computed here" in message(*named, files / "a.scores", "--sentence-metric", "BLEU")
    assert "add it" in message("--sentence-metric", "COMET")
