"""Averages of which the model bounds no moments: block means and the limit theorem.

Values that no draw showed may carry an average, and no theorem rules that out. So this is for code
under test, of which no model says anything, and for mathematics where a user accepts it. What can
be known all the same is looked at: whether a few blocks carry an average, whether the rarest
outcome that the model knows was waited for, and whether averages that never varied would change
the quantity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dropcheck.analysis.exact import Integrand, exact_means
from dropcheck.array_types import Floats
from dropcheck.inference.intervals import FEWEST_BLOCKS, RAREST_SEEN, Interval, Sample
from dropcheck.inference.region import Comparison, decide
from dropcheck.language.graph import Kind, Value, operators, ordered
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Verdict
from dropcheck.simulation import Compiled
from dropcheck.vocabulary.functions.arrays import ONE_HOT
from dropcheck.vocabulary.special import student_quantile

# ---- the interval --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSpread:
    """The spread of an average by its sample alone; `guess` is the variance of a draw in a pilot.

    The interval is Student's, with the shift that skewness asks for (Hall 1983, "Inverting an
    Edgeworth expansion", Annals of Statistics 11, eq. 2.3 with the polynomial of the studentised
    mean: P(T ≤ x) = Φ(x) + n^(-1/2) γ (2x² + 1)/6 φ(x) + O(1/n)); the shift only ever widens it.
    """

    guess: float

    def interval(self, sample: Sample, alpha: float) -> tuple[float, float]:
        """The interval of the mean at confidence 1 - alpha."""
        values, blocks = sample.rows, len(sample.rows)
        if blocks < 2:
            return -math.inf, math.inf
        mean, quantile = float(values.mean()), student_quantile(max(blocks - 1, 1), alpha)
        error = deviation(values - mean) / math.sqrt(blocks - 1)
        skewness, _ = shape(values - mean)
        shift = skewness * (2 * quantile**2 + 1) / (6 * math.sqrt(blocks))
        low = mean - error * (quantile + max(-shift, 0.0))
        return low, mean + error * (quantile + max(shift, 0.0))

    def half_width(self, rows: int, draws: int, alpha: float) -> float:
        """The half-width to be expected of the interval from so many blocks of so many draws."""
        return student_quantile(max(rows - 1, 1), alpha) * self.standard_error(rows * draws)

    def standard_error(self, draws: int) -> float:
        """The standard error of the mean of so many draws, as it is guessed."""
        return math.sqrt(self.guess / draws)


# ---- what the blocks show ------------------------------------------------------------------------


# The most that the neglected terms of the expansion may add to the log of the tail's probability.
MOST_NEGLECTED = 1.0
# The same over the quantile's fourth power, for an average whose part in the quantity cancels: a
# law without a mean comes to about 1 however many blocks there are, one with a variance to 0.
MOST_SHARE = 1 / 32
# An average that moves the quantity by less than this share of its standard error does not count.
NO_SLOPE = 1e-6
# Where a sample would need more than so many times its own draws to settle, a few draws carry it:
# the shape of a larger one is not known, nor whether there is a mean at all.
MOST_EXTRAPOLATED = 32
# A value that is the same in all draws refutes only claims that are off by more than this share of
# it: the default resolution at which it is verified.
CLEARLY_OFF = 0.01


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Which condition of the limit theorem a sample does not meet, and the draws that it takes."""

    unmet: Explanation | None = None
    settles: float = 0.0


def shortfall(
    rows: Floats,
    weights: Floats,
    columns: Sequence[int],
    draws: int,
    alpha: float,
    rounding: float = 0.0,
    *,
    alike: bool = False,
) -> Shortfall:
    """What averages of blocks lack for the limit theorem.

    The first order looks at the influence alone. Where the part of an average cancels in it, as in
    E(1/u + u) − E(1/u), or vanishes on a plateau, as in maximum(E(1/u), 50), the influence does not
    show that the average does not exist. So every average must be seen to have a mean. One without
    any influence must meet the full condition, because the second order rests on it.

    Args:
        rows: averages of blocks, [blocks, terms].
        weights: the combination along which the quantity changes, [terms].
        columns: the averages that it is made of.
        draws: the independent draws of all blocks.
        alpha: the error rate of the look.
        rounding: what varies by no more is constant.
        alike: whether the quantity is the same at the averages of all blocks.
    """
    blocks = len(rows)
    if blocks < FEWEST_BLOCKS:
        return Shortfall(Reason.TOO_FEW_BLOCKS.explain(blocks=blocks, needed=FEWEST_BLOCKS))
    quantile = student_quantile(max(blocks - 1, 1), alpha)
    centred = rows - rows.mean(axis=0)
    influence = centred @ weights
    if alike:
        needed = draws_that_agree(alpha)
        found = Shortfall()
        if draws < needed:
            found = Shortfall(Reason.NO_DIFFERENCE_YET.explain(needed=needed), needed)
    else:
        skewness, excess = shape(influence)
        own = neglected(skewness, excess, blocks, quantile) / MOST_NEGLECTED
        found = Shortfall(settles=draws * own if own > 1 else 0.0)
        if not own <= 1:  # what is not a number is not small
            found = replace(found, unmet=_why(skewness, excess, blocks))
    for column in columns:
        part, weight = centred[:, column], abs(float(weights[column]))
        if 0 < weight * float(np.abs(part).max()) <= rounding or (weight and len(columns) == 1):
            continue  # it is constant, or the influence itself
        allowed = MOST_SHARE
        if weight * deviation(part) <= NO_SLOPE * deviation(influence):
            allowed = min(MOST_SHARE, MOST_NEGLECTED / quantile**4)
        own = neglected(*shape(part), blocks, 1.0) / allowed
        if own > 1:
            why = found.unmet or Reason.HEAVY_PART.explain()
            found = Shortfall(why, max(found.settles, draws * own))
    return found


def deviation(centred: Floats) -> float:
    """The root of the mean square of deviations; squares of 1e200 are infinite."""
    largest = float(np.abs(centred).max(initial=0.0))
    if not 0 < largest < math.inf:
        return largest
    return largest * math.sqrt(float(np.mean((centred / largest) ** 2)))


def shape(centred: Floats) -> tuple[float, float]:
    """Skewness and excess kurtosis of deviations from their mean."""
    largest = float(np.abs(centred).max(initial=0.0))
    if not 0 < largest < math.inf:
        return 0.0, 0.0
    scaled = centred / largest  # squares of 1e200 are infinite
    second, third, fourth = (float((scaled**power).mean()) for power in (2, 3, 4))
    return third / second**1.5, fourth / second**2 - 3.0


def neglected(skewness: float, excess: float, blocks: int, quantile: float) -> float:
    """How much the neglected terms of the expansion may add to the log of the tail's probability.

    Beyond the shift for skewness, the expansion of the log tail probability goes on with terms of
    the order of x⁴ γ²/n and x⁴ κ/n (Petrov 1975, "Sums of Independent Random Variables", VIII.2,
    the Cramér series). Only the parts of the sample's γ and κ beyond three standard errors, which
    are √(6/n) and √(24/n), count.
    """
    skew, tail = _beyond_chance(skewness, excess, blocks)
    return quantile**4 * (skew**2 + tail / 4) / blocks


def _beyond_chance(skewness: float, excess: float, blocks: int) -> tuple[float, float]:
    return (
        max(abs(skewness) - 3 * math.sqrt(6 / blocks), 0.0),
        max(abs(excess) - 3 * math.sqrt(24 / blocks), 0.0),
    )


def _why(skewness: float, excess: float, blocks: int) -> Explanation:
    """Which condition of the limit theorem fails, once it is known that one does."""
    skew, tail = _beyond_chance(skewness, excess, blocks)
    heavy = tail > 5 and tail / 4 > skew**2 / 2
    return (Reason.HEAVY_SUM if heavy else Reason.TOO_SKEWED).explain()


def draws_that_agree(alpha: float) -> float:
    """How many draws must agree before that is no accident.

    If a share ε of the draws differed, all of n draws would agree with chance (1 − ε)^n, so that
    ε ≤ ln(1/α)/n (the "rule of three": Hanley and Lippman-Hand 1983).

    >>> round(draws_that_agree(0.05))
    29957
    """
    return math.log(1 / alpha) / RAREST_SEEN


def of_alike(
    interval: Interval,
    verdict: Verdict,
    comparison: Comparison,
    averages: Floats,
    widen: float,
    rounding: float,
) -> tuple[Interval, Verdict]:
    """A verdict on a quantity that does not vary, left open where it may all the same.

    The draws show nothing of averages that never varied: it must not be made of them. What is too
    rare to be seen may make a small difference, by which nothing is refuted.

    Args:
        interval: of the quantity, a point.
        verdict: by the interval.
        comparison: the quantity and its region.
        averages: those that it is made of, in each block: [blocks, averages].
        widen: the widening of the region.
        rounding: what rounding may do to the quantity.
    """
    unseen = bool((averages == averages[0]).all(axis=0).any())
    if verdict is Verdict.REFUTED:
        near = max(widen, CLEARLY_OFF * abs(interval.estimate))
        ends = interval.low - near, interval.high + near
        unseen |= decide(*ends, comparison.region, 0.0, rounding) is not Verdict.REFUTED
    if not unseen:
        return interval, verdict
    why = Reason.ALL_ALIKE.explain(value=interval.estimate)
    return replace(interval, unmet=why), Verdict.UNDECIDED


# ---- what the model says to be rare --------------------------------------------------------------


# An outcome that is seen so often shows in the sample's own spread and skewness.
RARE_SIGHTINGS = 64
# Conditions whose chances are worked out: more take too long.
MOST_CONDITIONS = 512
# A chance below this is no more than the rounding of the numbers that it is computed from.
IMPOSSIBLE = 1e-12


def conditions_of(compiled: Compiled) -> list[Value]:
    """The conditions, such as `u < 1e-6`, that the quantities of a statement are made with."""
    every = operators(compiled.functional.operands)
    quantities = [below for one in every for below in one.inputs]
    return [
        value
        for value in ordered(quantities)
        if value.random
        and value.kind == Kind.COMPUTED
        and (value.binary or value.function is ONE_HOT)
    ]


def draws_to_see(compiled: Compiled) -> float:
    """Draws in which the rarest outcome with a known chance is expected once.

    Such outcomes are those of conditions, and values that a law declares to be rare.
    """
    rarest = compiled.program.rarest
    for condition in conditions_of(compiled):
        known = exact_means([Integrand(factors=((condition, 1),))])
        if known is not None:
            chance, error = float(known[0][0]), float(known[1][0])
            chance = min(chance, 1 - chance)
            if chance > max(error, IMPOSSIBLE):
                rarest = max(rarest, 1 / chance)
    return rarest


def once_expected(found: Shortfall, draws: int, rarest: float) -> Shortfall:
    """What is lacking, also where the rarest known outcome is not yet expected often enough."""
    if found.unmet is not None or not rarest or draws >= RARE_SIGHTINGS * rarest:
        return found
    unmet = Reason.RARE_OUTCOME_EXPECTED.explain(
        expected=draws / rarest, draws=draws, needed=RARE_SIGHTINGS
    )
    return Shortfall(unmet, RARE_SIGHTINGS * rarest)
