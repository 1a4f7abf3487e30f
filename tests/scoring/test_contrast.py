"""Contrastive pairs read and counted by hand; Wilson's interval against scipy and Newcombe."""

import gzip
import json
import math

import pytest

from syntax_nmt.errors import UserError
from syntax_nmt.scoring.accuracy import Accuracy
from syntax_nmt.scoring.contrast.contrast_report import (
    DistanceBin,
    PairScores,
    contrast_accuracy,
    distance_bins,
)
from syntax_nmt.scoring.contrast.contrastive_pairs import (
    ContrastivePair,
    read_json_pairs,
    read_parallel_pairs,
)

# The example of Lingeval97's own README, its types and distances as printed there.
SENTENCE = {
    "source": "Prague Stock Market falls",
    "reference": "Die Prager Börse stürzt.",
    "origin": "newstest2009.1",
    "errors": [
        {"type": "np_agreement", "contrastive": "Der Prager", "distance": 2, "frequency": 2020},
        {"type": "polarity_particle_nicht_ins", "contrastive": "Die nicht"},
        {"type": "subj_verb_agreement", "contrastive": "stürzen", "distance": "1"},
    ],
}


def pair(distance=None, category=None):
    return ContrastivePair("s", "c", "i", distance, category)


RIGHT, WRONG, TIE = PairScores(-1.0, -2.0), PairScores(-2.0, -1.0), PairScores(-2.0, -2.0)


def test_counts_by_hand():
    pairs = [pair(0, "a"), pair(5, "b"), pair(4, "a"), pair(None, "b"), pair(100), pair(3, "c")]
    scores = [RIGHT, WRONG, RIGHT, RIGHT, TIE, None]
    figures = contrast_accuracy(pairs, scores, distance_bins([0, 1, 4, 6]))
    assert figures.overall == Accuracy(3, 5)
    assert {str(each): part for each, part in figures.by_distance.items()} == {
        "0": Accuracy(1, 1),
        "4–5": Accuracy(1, 2),
        "≥6": Accuracy(0, 1),
    }
    assert figures.by_category == {"a": Accuracy(2, 2), "b": Accuracy(1, 2)}
    assert list(figures.by_category) == ["a", "b"]
    assert (figures.ties, figures.too_long) == (1, 1)


def test_scores_and_pairs_are_parallel():
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        contrast_accuracy([pair(), pair()], [RIGHT], distance_bins([0]))


def test_bins_cover_every_distance():
    assert distance_bins([2, 5]) == [DistanceBin(0, 1), DistanceBin(2, 4), DistanceBin(5, None)]
    assert [str(each) for each in distance_bins([0, 1, 3])] == ["0", "1–2", "≥3"]
    assert distance_bins([0]) == [DistanceBin(0, None)]


def test_wilson_is_that_of_newcombe():
    # Newcombe (1998), Table I, method 3: 81/263, 15/148, 0/20, 1/29.
    published = {(81, 263): (25.53, 36.62), (15, 148): (6.24, 16.05)}
    published.update({(0, 20): (0.0, 16.11), (1, 29): (0.61, 17.18)})
    for counts, ends in published.items():
        assert Accuracy(*counts).interval == pytest.approx(ends, abs=0.005)


@pytest.mark.parametrize("total", [*range(1, 501), 6701, 97_000, 10**6])
def test_ends_are_exact_where_all_or_none_are_right(total):
    none, all_right = Accuracy(0, total), Accuracy(total, total)
    assert (none.interval[0], all_right.interval[1]) == (0, 100)
    for each in (none, all_right, Accuracy(total // 2, total)):
        assert each.interval[0] <= each.percent <= each.interval[1]


def test_nothing_counted():
    assert math.isnan(Accuracy(0, 0).percent)
    assert Accuracy(0, 0).interval == (0, 100)


def write(folder, **files):
    paths = {name: folder / name for name in files}
    for name, text in files.items():
        paths[name].write_text(text, encoding="utf-8")
    return paths


def test_parallel_files(tmp_path):
    # A carriage return or another separator inside a raw line ends no line.
    files = write(tmp_path, source="a\x85b\nc\rd\n", correct="x\n\n", incorrect="y\nz\n")
    files |= write(tmp_path, distance="3\n\n")
    assert read_parallel_pairs(*files.values()) == [
        ContrastivePair("a\x85b", "x", "y", 3),
        ContrastivePair("c\rd", "", "z", None),
    ]


def test_parallel_files_that_are_not(tmp_path):
    files = write(tmp_path, source="a\nb\n", correct="x\ny\n", incorrect="y\n", distance="1\n-2\n")
    source, correct, incorrect, distance = files.values()
    with pytest.raises(UserError, match=r"incorrect has 1 lines, .*source 2: give parallel files"):
        read_parallel_pairs(source, correct, incorrect)
    with pytest.raises(UserError, match=r"distance:2: the distance '-2' is no whole number"):
        read_parallel_pairs(source, correct, correct, distance)


def test_lingeval(tmp_path):
    path = tmp_path / "pairs.json.gz"
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        json.dump([SENTENCE, {**SENTENCE, "errors": []}], stream)
    pairs = read_json_pairs(path)
    assert [(each.category, each.distance) for each in pairs] == [
        ("np_agreement", 2),
        ("polarity_particle_nicht_ins", None),
        ("subj_verb_agreement", 1),
    ]
    assert {each.correct for each in pairs} == {"Die Prager Börse stürzt."}
    assert pairs[2].incorrect == "stürzen"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[\n{"source": 1,}]', r"pairs.json:2: is not JSON"),
        pytest.param("[" * 200_000, r"pairs.json:1: is not JSON \(nested", id="deep"),
        ("{}", "is no list of sentences"),
        ("[3]", "sentence 1: has no list 'errors'"),
        ('[{"source": "a", "reference": "b", "errors": [{}]}]', "error 1: has no text 'contrast"),
        ('[{"source": "a", "errors": []}]', "sentence 1: has no text 'reference'"),
        (
            '[{"source": "a", "reference": "b", "errors": '
            '[{"contrastive": "c", "distance": 1.5}]}]',
            "sentence 1, error 1: the distance '1.5' is no whole number",
        ),
    ],
)
def test_json_of_another_form(tmp_path, text, message):
    path = tmp_path / "pairs.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_json_pairs(path)
