"""Intervals that hold for any number of draws: of a probability, and of a bounded mean."""

from __future__ import annotations

import math

from dropcheck.inference.interval import Interval
from dropcheck.vocabulary import special


def clopper_pearson(successes: int, trials: int, alpha: float) -> tuple[float, float]:
    """An interval that holds the probability with at least 1 − alpha, whatever it is.

    Clopper and Pearson (1934), "The use of confidence or fiducial limits illustrated in the case
    of the binomial", Biometrika 26: the tail probabilities alpha/2 are inverted through the beta
    distribution.

    >>> low, high = clopper_pearson(0, 100, 0.05)
    >>> low, round(high, 6)
    (0.0, 0.036217)
    """
    if trials <= 0:
        return 0.0, 1.0
    low, high = 0.0, 1.0
    if successes > 0:
        low = float(special.betaincinv(successes, trials - successes + 1, alpha / 2))
    if successes < trials:
        high = float(special.betainccinv(successes + 1, trials - successes, alpha / 2))
    return low, high


def upper_bound(successes: int, trials: int, alpha: float) -> float:
    """One-sided: the probability lies below with at least 1 − alpha."""
    if trials <= 0 or successes >= trials:
        return 1.0
    return float(special.betainccinv(successes + 1, trials - successes, alpha))


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
        estimate=estimate,
        low=estimate - first - second,
        high=estimate + first + second,
        standard_error=math.sqrt(variance / draws),
        second_order=second,
    )


def bernstein_quantile(alpha: float) -> float:
    """Standard errors that the interval's first part has on each side: sqrt(2 ln(4/alpha))."""
    return math.sqrt(2 * math.log(4 / alpha))
