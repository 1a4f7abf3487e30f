"""Student's t distribution with any number of degrees of freedom."""

from __future__ import annotations

import math

_LARGEST = 1e6  # degrees of freedom; with more it is the normal distribution within 1e-6
_TINY = 1e-300


def two_sided_p_value(t: float, degrees: float) -> float:
    """How probable |T| ≥ |t| is (Abramowitz and Stegun, 1964, equation 26.7.1).

    Args:
        degrees: of freedom, above 0; need not be whole, may be infinite.
    """
    degrees = min(degrees, _LARGEST)
    square = t * t
    return _incomplete_beta(
        degrees / (degrees + square), square / (degrees + square), degrees / 2, 0.5
    )


def quantile_95(degrees: float) -> float:
    """The t that |T| exceeds with a probability of 5 %: half of the 95 % interval.

    Args:
        degrees: of freedom, at least 1; need not be whole, may be infinite.
    """
    low, high = 0.0, 16.0  # 12.7 with one degree
    while high - low > 1e-12:
        middle = (low + high) / 2
        if two_sided_p_value(middle, degrees) > 0.05:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """I_x(a, b), the regularised incomplete beta function, with rest = 1 − x.

    By its continued fraction (NIST Handbook of Mathematical Functions, 8.17.22), which converges
    fast where x is below the mean of the distribution; elsewhere I_x(a, b) = 1 − I_rest(b, a).
    """
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(rest, x, b, a)
    if x == 0:
        return 0.0
    log_factor = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    log_factor += a * math.log(x) + b * math.log(rest)
    # Lentz's algorithm: the fraction is the product of c·d over its terms.
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction, m, factor = d, 0, 0.0
    while abs(factor - 1) > 1e-15 and m < 10_000:
        m += 1
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            c = 1 + term / c or _TINY
            d = 1 / (1 + term * d or _TINY)
            factor = c * d
            fraction *= factor
    return math.exp(log_factor) * fraction / a
