import argparse

import pytest

from syntax_nmt.arguments import ascending_numbers
from syntax_nmt.scoring.translations.lengths import LengthBins


def by_definition(bins, length):
    """The label of the group that a length falls into, by the groups' own bounds."""
    found = [
        label
        for label, (low, high) in zip(bins.labels, bins.bounds())
        if low <= length and (high is None or length <= high)
    ]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("bins", "labels"),
    [
        (LengthBins(), ("<15", "15–29", "30–44", "≥45")),
        (LengthBins((10, 20, 30), upper_inclusive=True), ("≤10", "11–20", "21–30", ">30")),
        (LengthBins((1, 2, 4)), ("<1", "1", "2–3", "≥4")),
        (LengthBins((1, 2, 4), upper_inclusive=True), ("≤1", "2", "3–4", ">4")),
        (LengthBins((7,)), ("<7", "≥7")),
    ],
)
def test_labels_bounds_and_members_agree(bins, labels):
    assert bins.labels == labels
    lengths = [44, 0, 1, 2, 3, 4, 7, 9, 10, 11, 14, 15, 16, 20, 21, 29, 30, 31, 45, 100]
    members = bins.members(lengths)
    for label, positions in zip(labels, members):
        assert [by_definition(bins, lengths[i]) for i in positions] == [label] * len(positions)
    assert sorted(int(i) for group in members for i in group) == list(range(len(lengths)))


def test_edges_as_typed():
    assert ascending_numbers("10, 20,30", least=1) == (10, 20, 30)


@pytest.mark.parametrize("text", ["", "10,", "a", "20,10", "10,10", "0,5", "-1", "1.5", "१"])
def test_other_edges_are_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="ascending whole numbers"):
        ascending_numbers(text, least=1)
