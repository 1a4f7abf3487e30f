"""The slopes of ALiBi (Press, Smith and Lewis, 2022, section 3)."""

import math


def alibi_slopes(num_heads: int) -> list[float]:
    """m_h: `2^(−8h/H)` for H a power of two, h = 1 … H.

    Another H takes those of the power of two below it, then every other one of the next power, as
    in the released code.
    """
    power = 2 ** int(math.log2(num_heads))
    slopes = [2.0 ** (-8 * h / power) for h in range(1, power + 1)]
    finer = [2.0 ** (-4 * h / power) for h in range(1, 2 * power, 2)]
    return slopes + finer[: num_heads - power]
