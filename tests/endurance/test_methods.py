"""Endurance is tested for every registered architecture."""

from methods import BASES, METHODS


def test_every_architecture_is_among_the_methods():
    assert {method.partition("+")[0] for method in METHODS} == BASES
