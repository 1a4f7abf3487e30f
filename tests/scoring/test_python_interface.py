"""`score` and `compare` from Python give the figures of the commands, to the last digit."""

import json
import re

import jsonschema
import pytest
from commands import REPOSITORY
from translations import figures, noisy, sentences, write
from word_buckets import write_conllu

from syntax_nmt import scoring
from syntax_nmt.errors import UserError

REFERENCE = sentences(120)
SOURCE = [" ".join("s" for _ in line.split()) for line in REFERENCE]
FEW = scoring.SignificanceTests(resamples=40, trials=30)
SYSTEMS = {"base": ("base1", "base2", "base3"), "ours": ("ours1", "ours2", "ours3")}


@pytest.fixture
def files(tmp_path):
    """Three runs of two systems, references, a source, training text and sentence scores."""
    write(tmp_path / "ref", REFERENCE)
    write(tmp_path / "ref2", noisy(REFERENCE, 9, 0.1))
    write(tmp_path / "src", SOURCE)
    write(tmp_path / "train", REFERENCE[:70])
    for name, of_runs in SYSTEMS.items():
        for seed, run in enumerate(of_runs):
            write(tmp_path / run, noisy(REFERENCE, seed, 0.3 if name == "base" else 0.2))
            write(tmp_path / f"{run}.comet", [f"{(seed + i) % 7 / 7}" for i in range(120)])
    return tmp_path


@pytest.fixture
def test_set(files):
    systems = {name: [str(files / run) for run in runs] for name, runs in SYSTEMS.items()}
    return scoring.TestSet.read(systems, [str(files / "ref")], str(files / "src"))


def command(capsys, files, name, *options):
    """The figures of a command on the same files."""
    systems = [
        part
        for system, runs in SYSTEMS.items()
        for part in ("--system", system, *(files / run for run in runs))
    ]
    given = ["--reference", files / "ref", *options]
    if name == "score" or "--cut" in options:
        given += ["--source", files / "src"]
    return figures(capsys, name, *systems, *given)


def same(found, expected):
    """As JSON, which has no tuples."""
    assert json.loads(json.dumps(found.to_json())) == expected
    assert type(found).from_json(expected) == found
    jsonschema.validate(expected, found.schema())


METRICS = [
    ({}, []),
    ({"names": ["bleu", "char-bleu"]}, ["--metrics", "bleu", "char-bleu"]),
    ({"tokenize": "none"}, ["--tokenize", "none"]),
    ({"lowercase": True}, ["--lowercase"]),
    ({"brevity": "shortest"}, ["--brevity", "shortest"]),
    ({"chrf_word_order": 2}, ["--chrf-word-order", 2]),
]


@pytest.mark.parametrize(("settings", "options"), METRICS)
def test_metrics(files, test_set, capsys, settings, options):
    names = settings.pop("names", ["bleu", "chrf"])
    metrics = scoring.MetricSet(names, scoring.MetricSettings(**settings))
    given = ["--metrics", *names, *options] if "--metrics" not in options else options
    same(scoring.score(test_set, metrics), command(capsys, files, "score", *given))
    few = ["--resamples", 40, "--trials", 30]
    expected = command(capsys, files, "compare", *given, *few)
    same(scoring.compare(test_set, metrics, FEW), expected)


SCORES = [
    ({"bins": scoring.LengthBins((3, 6), upper_inclusive=True)},
     ["--bins", "3,6", "--upper-inclusive"]),
    ({"confidence": scoring.Confidence(40, 3)},
     ["--confidence", "--confidence-n", 40, "--seed", 3]),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "options"), SCORES)
def test_scores(files, test_set, capsys, settings, options):
    found = scoring.score(test_set, scoring.MetricSet(["bleu"]), **settings)
    same(found, command(capsys, files, "score", "--metrics", "bleu", *options))


def test_words_by_bucket(files, test_set, capsys):
    words = scoring.WordSettings(
        by=["frequency", "seen"], training_text=str(files / "train"), least_words=5
    )
    options = ["--words-by", "frequency", "seen", "--training-text", files / "train"]
    options += ["--least-words", 5, "--metrics", "bleu"]
    bleu = scoring.MetricSet(["bleu"])
    same(scoring.score(test_set, bleu, words=words), command(capsys, files, "score", *options))
    few = ["--resamples", 40, "--trials", 30]
    found = scoring.compare(test_set, bleu, FEW, words=words)
    same(found, command(capsys, files, "compare", *options, *few))


COMPARISONS = [
    (scoring.SignificanceTests(("sign",), seed=5), {}, ["--tests", "sign", "--seed", 5]),
    (scoring.SignificanceTests(("seeds", "bootstrap"), resamples=41, seed=7), {},
     ["--tests", "seeds", "bootstrap", "--resamples", 41, "--seed", 7]),
    (FEW, {"cut": scoring.LengthLimit.of("0.5,2")},
     ["--cut", "0.5,2", "--resamples", 40, "--trials", 30]),
]  # fmt: skip


@pytest.mark.parametrize(("tests", "settings", "options"), COMPARISONS)
def test_comparisons(files, test_set, capsys, tests, settings, options):
    found = scoring.compare(test_set, scoring.MetricSet(["bleu"]), tests, **settings)
    same(found, command(capsys, files, "compare", "--metrics", "bleu", *options))


def test_sentence_scores(files, test_set, capsys):
    given = {name: [str(files / f"{run}.comet") for run in runs] for name, runs in SYSTEMS.items()}
    scores = scoring.SentenceScores.read(given, test_set, "COMET", lower_is_better=True)
    found = scoring.compare(test_set, scoring.MetricSet(["bleu"], given=scores), FEW)
    options = ["--metrics", "bleu", "--sentence-metric", "COMET", "--sentence-lower"]
    for name, paths in given.items():
        options += ["--sentence-scores", name, *paths]
    few = ["--resamples", 40, "--trials", 30]
    same(found, command(capsys, files, "compare", *options, *few))


def test_texts(files, test_set, capsys):
    """Tables have the asked number of digits, and several references count."""
    systems = {"ours": [str(files / "ours1")]}
    two = scoring.TestSet.read(systems, [str(files / "ref"), str(files / "ref2")])
    found = scoring.score(two, scoring.MetricSet(["bleu"]))
    options = ["--reference", files / "ref", files / "ref2", "--metrics", "bleu", "--width", 4]
    same(found, figures(capsys, "score", "--system", "ours", files / "ours1", *options))
    assert f"{found.systems[0].scores['BLEU'].score:.4f}" in found.text(digits=4)


def test_refusals(files, test_set):
    alone = scoring.TestSet(test_set.systems[:1], test_set.references, None)
    with pytest.raises(UserError, match="one system"):
        scoring.compare(alone)
    nothing = scoring.TestSet((), test_set.references, None)
    with pytest.raises(UserError, match="no system: give the baseline first"):
        scoring.compare(nothing)
    no_source = scoring.TestSet(test_set.systems, test_set.references, None)
    with pytest.raises(UserError, match="no lengths are known"):
        scoring.compare(no_source, cut=scoring.LengthLimit.of("1,1"))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        scoring.nothing  # noqa: B018


def test_the_example_of_the_page(tmp_path, monkeypatch, capsys):
    page = (REPOSITORY / "docs/python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    (code,) = (block for block in blocks if "compare(" in block)
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "test.de", REFERENCE)
    (tmp_path / "pieces").mkdir()
    write(tmp_path / "pieces/test.en", SOURCE)
    for name, share in (("baseline", 0.4), ("ours", 0.2)):
        for seed in (1, 2, 3):
            write(tmp_path / f"{name}.{seed}.gen", noisy(REFERENCE, seed, share))
    write_conllu(tmp_path / "test.en.conllu", REFERENCE)
    lengths = [len(line.split()) for line in REFERENCE]
    write(tmp_path / "test.en-de", [" ".join(f"{i}-{i}" for i in range(n)) for n in lengths])
    exec(code, {})
    printed = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in printed[-6:]]
    assert [row[0] for row in rows] == ["1", "2", "3–4", "5–7", "≥8", "root"]
    assert all(float(row[2]) > 0 for row in rows)
    assert float(printed[-7].split()[0]) > 0
