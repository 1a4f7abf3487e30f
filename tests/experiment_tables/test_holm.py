"""Holm's adjustment against its definition, and under the null."""

import numpy as np
import pytest

pytest.importorskip("jsonschema", reason="the extra `experiments` is not installed")
from experiments.holm import holm


def by_definition(p_values):
    """Of each hypothesis: the least level α at which the step-down procedure rejects it."""
    levels = sorted({min(1.0, p * k) for p in p_values for k in range(1, len(p_values) + 1)})
    return [
        next((a for a in levels if place in rejected(p_values, a)), 1.0)
        for place in range(len(p_values))
    ]


def rejected(p_values, level):
    found = set()
    for step, place in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[place] * (len(p_values) - step) > level:
            break
        found.add(place)
    return found


@pytest.mark.parametrize("count", range(1, 8))
def test_against_the_definition(count):
    rng = np.random.default_rng(count)
    for _ in range(20):
        p_values = rng.random(count).round(2).tolist()  # ties, too
        assert holm(p_values) == pytest.approx(by_definition(p_values), abs=1e-12)


def test_known_values():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
