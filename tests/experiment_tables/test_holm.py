"""Holm's adjustment, by hand."""

import pytest

pytest.importorskip("jsonschema", reason="the extra `experiments` is not installed")
from experiments.holm import holm


def test_known_values():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
