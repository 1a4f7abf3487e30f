"""Holm's adjustment by hand, and what it promises."""

import numpy as np
import pytest

from syntax_nmt.scoring.translations.holm import holm


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_under_the_null_one_table_in_twenty_has_a_false_finding():
    rng = np.random.default_rng(1)
    found = np.mean([min(holm(rng.random(8).tolist())) <= 0.05 for _ in range(4000)])
    assert 0.038 < found < 0.062
