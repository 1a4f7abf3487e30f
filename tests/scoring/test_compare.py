"""`syntax-nmt compare` against sacrebleu's own program."""

import re

import pytest
from commands import succeed
from translations import figures, noisy, refused, sentences, write

from syntax_nmt.cli import main

REFERENCE = sentences(120)
OUTPUTS = {
    "base": noisy(REFERENCE, 2, 0.30),
    "ours": noisy(REFERENCE, 3, 0.28),
    "worse": noisy(REFERENCE, 4, 0.45),
}


@pytest.fixture
def files(tmp_path):
    write(tmp_path / "ref", REFERENCE)
    for name, lines in OUTPUTS.items():
        write(tmp_path / name, lines)
    return tmp_path


@pytest.mark.parametrize(
    ("flags", "test", "metrics"),
    [
        (("--paired-bs", "--paired-bs-n", 300), "bootstrap", ("bleu", "chrf", "ter")),
        # TER has ties, which sacrebleu does not count.
        (("--paired-ar", "--paired-ar-n", 300), "randomisation", ("bleu", "chrf")),
    ],
)
def test_figures_of_sacrebleus_own_program(files, capsys, flags, test, metrics):
    outputs = [files / name for name in OUTPUTS]
    options = ("-m", *metrics)
    done = succeed(
        "sacrebleu", files / "ref", "-i", *outputs, *options, *flags, "-f", "text", "-w", 4
    )
    found = figures(
        capsys, "compare", *outputs, "-r", files / "ref", *options, "--tests", test,
        "--resamples" if test == "bootstrap" else "--trials", 300,
    )  # fmt: skip
    items = [item for system in found["systems"] for item in system["scores"].values()]
    p_values = [f"{item[test]['p_value']:.4f}" for item in items[len(metrics) :]]
    assert len(set(p_values)) > 2
    assert p_values == re.findall(r"p = (\d\.\d+)\)", done.stdout)
    for item in items:
        assert f"{item['score']:.4f}" in done.stdout
    if test == "bootstrap":
        intervals = re.findall(r"\((\S+) ± (\S+)\)", done.stdout)
        assert len(intervals) == len(items)
        for item, (mean, half_width) in zip(items, intervals):
            assert item["interval"]["mean"] == pytest.approx(float(mean), abs=2e-4)
            assert item["interval"]["half_width"] == pytest.approx(float(half_width), abs=2e-4)
    for metric in found["metrics"].values():
        assert metric["signature"] in done.stdout


def test_all_tests_of_a_clear_and_of_an_unclear_difference(files, capsys):
    found = figures(
        capsys, "compare", *(files / name for name in OUTPUTS), "-r", files / "ref",
        "--resamples", 200, "--trials", 200,
    )  # fmt: skip
    _, ours, worse = found["systems"]
    for name, metric in found["metrics"].items():
        sign = 1 if metric["higher_is_better"] else -1
        assert (name == "TER") == (sign == -1)
        assert "bs:200|ar:200|seed:12345" in metric["signature"]
        item = worse["scores"][name]
        assert sign * item["difference"] < 0
        for test in ("bootstrap", "randomisation", "sign_test"):
            assert item[test]["p_value"] < 0.05
        signs = item["sign_test"]
        assert signs["worse"] > signs["better"]
        assert signs["worse"] + signs["better"] + signs["equal"] == 120
    assert ours["scores"]["TER"]["randomisation"]["p_value"] > 0.05


def test_one_sentence(tmp_path, capsys):
    write(tmp_path / "ref", ["a b c d e"])
    write(tmp_path / "one", ["a b c d"])
    write(tmp_path / "two", [""])
    arguments = ["compare", tmp_path / "one", tmp_path / "two", "-r", tmp_path / "ref"]
    found = figures(capsys, *arguments, "--resamples", 9, "--trials", 9)
    signs = found["systems"][1]["scores"]["BLEU"]["sign_test"]
    assert signs == {"better": 0, "worse": 1, "equal": 0, "p_value": 1}
    main([*map(str, arguments), "--trials", "9", "--resamples", "9"])
    assert "on 1 sentences the p-values of resampling mean little" in capsys.readouterr().err


def test_one_system_is_refused(files):
    assert refused("compare", files / "base", "-r", files / "ref").startswith("one system: ")


def test_the_table(files, capsys):
    arguments = ["compare", files / "base", files / "worse", "-r", files / "ref", "-m", "bleu"]
    main([*map(str, arguments), "--trials", "99", "--resamples", "99"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "120 sentences; Δ: difference from base; * marks p < 0.05"
    row = next(line for line in lines if line.startswith("worse")).split()
    assert row[4:8] == ["≤", "0.010*", "≤", "0.010*"]
    assert row[-5].endswith("*")
    assert row[-4:-1] == ["needs", "3", "seeds"]
    assert sum(map(int, row[-1].split("/"))) == 120
    assert max(map(len, lines)) <= 100


def test_a_lower_ter_is_better(files, capsys):
    arguments = ["compare", files / "worse", files / "base", "-r", files / "ref", "-m", "ter"]
    main([*map(str, arguments), "--tests", "sign"])
    lines = capsys.readouterr().out.splitlines()
    head = next(line for line in lines if line.startswith("TER"))
    assert head.split()[-1] == "better/worse/equal"
    counts = next(line for line in lines if line.startswith("base")).split()[-1].split("/")
    better, worse, _ = map(int, counts)
    assert better > worse
    assert any(line.startswith("better/worse/equal: what the system's") for line in lines)
