"""Repetitions within sentences against counting by hand, and what `syntax-nmt score` says."""

from __future__ import annotations

import random

import pytest
from translations import figures, write

from syntax_nmt.cli import main
from syntax_nmt.scoring.translations.repeated_ngrams import ORDERS, repetition


def by_hand(sentences, order):
    """An n-gram is repeated if the same one begins further left in its sentence."""
    total = repeated = 0
    for tokens in sentences:
        for start in range(len(tokens) - order + 1):
            ngram = tokens[start : start + order]
            total += 1
            repeated += any(tokens[i : i + order] == ngram for i in range(start))
    return total, repeated


@pytest.mark.parametrize("order", ORDERS)
def test_equals_counting_by_hand(order):
    dice = random.Random(order)
    for length in range(12):
        sentences = [[dice.choice("abc") for _ in range(length)] for _ in range(20)]
        found = repetition(sentences, order)
        assert (found.ngrams, found.repeated) == by_hand(sentences, order)


@pytest.fixture
def files(tmp_path):
    """Two seeds of a system, one of which says everything twice, and a reference."""
    write(tmp_path / "ref", ["the old garden grows .", "We see the House."])
    write(tmp_path / "once", ["the old garden grows .", "We see the house."])
    write(tmp_path / "twice", ["the old garden the old garden grows .", "We see We see the house."])
    return tmp_path


def test_what_score_says(files, capsys):
    command = ["score", "--system", "ours", files / "once", files / "twice"]
    command += ["--reference", files / "ref", "--repeated-ngrams", "--metrics", "bleu"]
    found = figures(capsys, *command)["repetition"]
    once, twice = found["systems"][0]["runs"]
    assert [item["repeated"] for item in once] == [0, 0, 0, 0]
    assert [(item["ngrams"], item["repeated"]) for item in twice] == [
        (15, 5), (13, 3), (11, 1), (9, 0)
    ]  # fmt: skip
    assert twice[1]["percent"] == pytest.approx(300 / 13)
    assert [item["ngrams"] for item in found["references"][0]["runs"][0]] == [10, 8, 6, 4]
    main([*map(str, command)])
    table = capsys.readouterr().out
    assert "% of n-grams that repeat" in table
    (row,) = (line for line in table.splitlines() if line.startswith("ours") and "16.67" in line)
    assert row.split() == ["ours", "16.67", "11.54", "4.55", "0.00"]


def test_only_where_asked_for(files, capsys):
    assert "repetition" not in figures(
        capsys, "score", files / "once", "--reference", files / "ref", "--metrics", "bleu"
    )
