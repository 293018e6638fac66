"""The smallest discrepancy that a number of draws can see: the third part of every check.

The convention is that of TensorFlow Probability's `statistical_testing.py` (there for means of
bounded variables, `min_discrepancy_of_true_means_detectable_by_dkwm`): with a chance of false
alarm α and a chance of a false pass β, both given, the smallest discrepancy is the one from which
on a false claim is refuted with probability at least 1 − β. It is not the half-width of the
interval, at which a claim so far off would be refuted about every second time.
"""

from __future__ import annotations

import math

from dropcheck.vocabulary import special


def of_average(
    error: float, second_order: float, quantile: float, false_pass: float, growth: float
) -> float:
    """The smallest error that an interval for an average would almost surely show.

    The interval is a quantile times the standard error, plus a second-order part. The estimate errs
    towards the claim by z(β) standard errors at most, and by the second-order part once more; the
    interval must miss the claim even so.

    Args:
        error: the standard error after so many draws as were made.
        second_order: the second-order part of the half-width after as many.
        quantile: standard errors on each side of the interval.
        false_pass: β.
        growth: how many times as many draws there will be.

    >>> round(of_average(0.01, 0.0, 3.0, 0.16, 4.0), 4)
    0.02
    """
    normal = -float(special.ndtri(false_pass))
    return (quantile + normal) * error / math.sqrt(growth) + 2 * second_order / growth


def of_probability(
    low: float, high: float, trials: int, alpha: float, false_pass: float
) -> float | None:
    """The smallest error that the exact interval of a probability would almost surely show.

    The probability is claimed to lie in [low, high]. A true probability p' > high is refuted by at
    least k successes, where k is the smallest number for which the interval's lower end exceeds
    `high`. This happens with probability 1 − β where I(p'; k, n − k + 1) = 1 − β. The other side is
    the mirror image. The result is the larger error of the two sides, or of the one that there is.

    >>> round(of_probability(0.5, 0.5, 10_000, 1e-6, 1e-6), 3)
    0.048
    >>> of_probability(0.5, 0.5, 10, 1e-6, 1e-6) is None
    True
    """
    both = [_above(edge, trials, alpha, false_pass) for edge in (high, 1 - low)]
    return max((seen for seen in both if seen is not None), default=None)


def _above(edge: float, trials: int, alpha: float, false_pass: float) -> float | None:
    if not 0 <= edge < 1 or trials < 1:
        return None
    # the fewest successes whose interval lies above the edge
    few, enough = 0, trials + 1
    while enough - few > 1:
        middle = (few + enough) // 2
        if special.betaincinv(middle, trials - middle + 1, alpha / 2) > edge:
            enough = middle
        else:
            few = middle
    if enough > trials:
        return None
    seen = float(special.betainccinv(enough, trials - enough + 1, false_pass))
    return seen - edge if seen < 1 else None


def of_certainty(trials: int, false_pass: float) -> float | None:
    """The chance of a violation that is seen at least once in n trials: (1 − ε)^n = β.

    >>> round(of_certainty(100_000, 1e-6), 6)
    0.000138
    """
    return -math.expm1(math.log(false_pass) / trials) if trials > 0 else None
