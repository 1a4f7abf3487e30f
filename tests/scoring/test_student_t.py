"""Student's t against tables, closed forms and numerical integration."""

import math

import pytest

from syntax_nmt.scoring.translations.seed_tests import quantile_95, two_sided_p_value


# Columns of the tables in every textbook: two-sided 5 %, 1 % and 0.1 %.
@pytest.mark.parametrize(
    ("degrees", "quantiles"),
    [
        (1, (12.706, 63.657, 636.619)),
        (2, (4.303, 9.925, 31.599)),
        (4, (2.776, 4.604, 8.610)),
        (14, (2.145, 2.977, 4.140)),
        (30, (2.042, 2.750, 3.646)),
        (120, (1.980, 2.617, 3.373)),
        (math.inf, (1.960, 2.576, 3.291)),
    ],
)
def test_tables(degrees, quantiles):
    assert quantile_95(degrees) == pytest.approx(quantiles[0], abs=6e-4)
    for t, p_value in zip(quantiles, (0.05, 0.01, 0.001)):
        assert two_sided_p_value(t, degrees) == pytest.approx(p_value, rel=2e-3)


@pytest.mark.parametrize("t", [0.0, 1e-5, 0.3, -1.7, 4.2, 900.0])
def test_closed_forms_of_one_and_two_degrees(t):
    assert two_sided_p_value(t, 1) == pytest.approx(1 - 2 / math.pi * math.atan(abs(t)), rel=1e-9)
    inside = abs(t) / math.sqrt(2 + t * t)
    assert two_sided_p_value(t, 2) == pytest.approx(1 - inside, rel=1e-9)
