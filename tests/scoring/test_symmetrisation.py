"""Symmetrisation: small alignments by hand, random ones against Moses' algorithm told otherwise."""

import pytest

from syntax_nmt.scoring.alignments.alignment import Alignment
from syntax_nmt.scoring.alignments.symmetrisation import METHODS, symmetrise


def links(text) -> Alignment:
    return frozenset(tuple(map(int, link.split("-"))) for link in text.split())


# Intersection 0-0, 2-2. Beside 0-0: 1-0 and 0-1; beside 2-2 nothing; apart: 4-4, and 4-2.
FORWARD = links("0-0 1-0 2-2 4-4")
REVERSE = links("0-0 0-1 2-2 4-2")


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("intersection", "0-0 2-2"),
        ("union", "0-0 1-0 0-1 2-2 4-4 4-2"),
        ("grow-diag", "0-0 1-0 0-1 2-2"),
        ("grow-diag-final", "0-0 1-0 0-1 2-2 4-4"),
        ("grow-diag-final-and", "0-0 1-0 0-1 2-2 4-4"),
    ],
)
def test_by_hand(method, expected):
    assert symmetrise(FORWARD, REVERSE, method) == links(expected)


def test_final_links_take_words_from_one_another():
    # Those of forward come first; the other has one open word left, for -and one too few.
    one, other = links("0-0 4-4"), links("0-0 4-2")
    assert symmetrise(one, other, "grow-diag-final") == links("0-0 4-2 4-4")
    assert symmetrise(one, other, "grow-diag-final-and") == links("0-0 4-4")
    assert symmetrise(other, one, "grow-diag-final-and") == links("0-0 4-2")
    # Within a direction those of the first target words come first.
    forward = links("0-0 4-2 4-4")
    assert symmetrise(forward, links("0-0"), "grow-diag-final-and") == links("0-0 4-2")


def test_a_diagonal_neighbour_grows():
    assert symmetrise(links("0-0 1-1"), links("0-0"), "grow-diag") == links("0-0 1-1")
    assert symmetrise(links("0-0 2-1"), links("0-0"), "grow-diag") == links("0-0")


def test_strict_needs_both_words_open():
    forward, reverse = links("0-0 1-0 1-1"), links("0-0 1-1")
    assert symmetrise(forward, reverse, "grow-diag") == links("0-0 1-1")
    forward, reverse = links("0-0 1-0"), links("0-0 1-1")
    assert symmetrise(forward, reverse, "grow-diag") == links("0-0 1-0 1-1")
    assert symmetrise(forward, reverse, "grow-diag", strict=True) == links("0-0 1-1")


def test_what_is_added_takes_part_in_the_same_scan():
    # The chain 0-0, 1-1, 2-2 grows in one scan; backwards it takes one scan a link.
    chain = links("0-0 1-1 2-2 3-3")
    assert symmetrise(chain, links("0-0"), "grow-diag") == chain
    assert symmetrise(chain, links("3-3"), "grow-diag") == chain


def test_nothing_to_grow_from():
    assert symmetrise(links("0-0"), links("1-1"), "grow-diag") == frozenset()
    assert symmetrise(links("0-0"), links("1-0"), "grow-diag-final") == links("0-0 1-0")
    for method in METHODS:
        assert symmetrise(frozenset(), frozenset(), method) == frozenset()


# What the C++ of Moses' `symal` gives (-alignment=grow -diagonal=yes; -final, -both). Links of each
# target word come from one direction, those of each source word from the other. One pass over all
# that is left, instead of one a direction, gives other links.
SYMAL = [
    (
        ("0-1 0-2 1-0 1-6 3-7 4-4 5-3", "0-1 1-4 2-7 4-1 5-6"),
        "1-0 0-1 0-2",
        "1-0 0-1 0-2 5-3 4-4 1-6 2-7 3-7",
        "1-0 0-1 0-2 5-3 4-4 3-7",
    ),
    (
        ("0-4 1-5 2-7 2-8 3-0 3-2 4-3", "0-0 1-5 2-2 3-0 4-8"),
        "3-0 0-4 1-5",
        "3-0 3-2 4-3 0-4 1-5 2-7 2-8",
        "3-0 4-3 0-4 1-5 2-7",
    ),
    (
        ("2-5 4-2 4-3 4-4 5-0 6-1", "0-5 2-3 3-0 4-0 5-0 6-5 7-0 8-3"),
        "3-0 4-0 5-0 7-0 6-1",
        "3-0 4-0 5-0 7-0 6-1 4-2 4-3 8-3 4-4 0-5 2-5",
        "3-0 4-0 5-0 7-0 6-1 8-3 2-5",
    ),
]


@pytest.mark.parametrize(("given", "grown", "final", "final_and"), SYMAL)
def test_output_of_moses_symal(given, grown, final, final_and):
    both = [links(text) for text in given]
    assert symmetrise(*both, "grow-diag") == links(grown)
    assert symmetrise(*both, "grow-diag-final") == links(final)
    assert symmetrise(*both, "grow-diag-final-and") == links(final_and)
