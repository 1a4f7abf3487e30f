"""Endurance is tested for every registered architecture."""

from methods import BASES, METHODS


def test_every_architecture_is_among_the_methods():
    found = {method.partition("+")[0] for method in METHODS}
    assert found == BASES, (
        f"METHODS in tests/methods.py needs the training options of {sorted(BASES - found)}, and "
        f"is to forget {sorted(found - BASES)}"
    )
