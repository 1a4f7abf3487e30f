"""Loops of tests, which say nothing where there is nothing to go through."""

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def some(found: Iterable[T]) -> list[T]:
    """What there is; a test fails where there is nothing."""
    listed = list(found)
    assert listed, "nothing to look at"
    return listed
