"""Intervals for a probability that hold for any number of draws."""

from __future__ import annotations

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
    """A bound that the probability lies below with at least 1 − alpha: one-sided."""
    return clopper_pearson(successes, trials, 2 * alpha)[1]
