"""An interval for a mean of independent bounded quantities, valid for any number of draws."""

from __future__ import annotations

import math

from dropcheck.inference.interval import Interval


def empirical_bernstein(
    total: float, squares: float, draws: int, width: float, origin: float, alpha: float
) -> Interval:
    """The interval for the mean of quantities that lie in a known interval of some width.

    Maurer and Pontil (2009), "Empirical Bernstein bounds and sample variance penalization",
    Theorem 4: for independent values in an interval of width w, with probability at least 1 − δ

        E X ≤ X̄ + sqrt(2 V ln(2/δ) / n) + 7 w ln(2/δ) / (3 (n − 1)),

    V being the unbiased sample variance. It is used on both sides with δ = alpha/2. Nothing is
    assumed beyond the bounds: it holds for any n and any law.

    Args:
        total: sum of X − origin.
        squares: sum of (X − origin)².
        draws: how many, at least 2.
        width: w.
        origin: any number near the mean, against cancellation.
        alpha: the chance, in both tails together, with which the interval may miss.

    >>> found = empirical_bernstein(50.0, 50.0, 100, 1.0, 0.0, 0.05)
    >>> round(found.low, 3), round(found.high, 3)
    (0.248, 0.752)
    """
    if draws < 2:
        return Interval(total / max(draws, 1) + origin, -math.inf, math.inf, math.nan)
    mean = total / draws
    variance = max((squares - draws * mean**2) / (draws - 1), 0.0)
    log = math.log(4 / alpha)
    first = math.sqrt(2 * variance * log / draws)
    second = 7 * width * log / (3 * (draws - 1))
    estimate = mean + origin
    return Interval(
        estimate,
        estimate - first - second,
        estimate + first + second,
        math.sqrt(variance / draws),
        second_order=second,
    )


def bernstein_quantile(alpha: float) -> float:
    """Standard errors that the interval's first part has on each side: sqrt(2 ln(4/alpha))."""
    return math.sqrt(2 * math.log(4 / alpha))
