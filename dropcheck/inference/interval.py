"""An interval for a smooth function of averages, from sums of independent blocks.

With m the averages over all blocks and θ = g(m), the error of θ is split as Taylor's theorem does:

* first order: ∇g · (m − E m), a mean of independent block influences. Student's quantile over the
  blocks' own standard error, with the shift that skewness asks for (Hall 1983, "Inverting an
  Edgeworth expansion", Annals of Statistics 11, eq. 2.3 with the polynomial of the studentised
  mean: P(T ≤ x) = Φ(x) + n^(-1/2) γ (2x² + 1)/6 φ(x) + O(1/n)); the shift is only ever used to
  widen.
* second order: ½ (m − E m)' H (m − E m), bounded over the ellipsoid that holds m at a confidence
  of its own. It is what remains where the first order vanishes, as for the variance of a fair
  two-point variable. Its sign is + about m and − about E m. The gradient is known at m, while the
  theory has it at E m. So the bound is added on both sides.

The limit theorem's conditions are checked on the blocks: what the next terms of the expansion
would do at the quantile in use must be small, or the interval is not used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.inference.covariance import principal_axes
from dropcheck.reasons import Explanation, Reason
from dropcheck.records import record
from dropcheck.vocabulary import special

Theta = Callable[[Floats], Floats]
"""The quantity as a function of averages: [terms, points] to [points]."""

FEWEST_BLOCKS = 64
EPSILON = 2.0**-52
# Share of the error that pays for the ellipsoid of the second-order term; the interval's width
# hardly feels it, for it enters through a logarithm.
SECOND_ORDER_SHARE = 0.1
# The most that the neglected terms of the expansion may add to the log of the tail's probability.
MOST_NEGLECTED = 1.0
# The same over the quantile's fourth power, for an average whose part in the quantity cancels: a
# law without a mean comes to about 1 however many blocks there are, one with a variance to 0.
MOST_SHARE = 1 / 32
# An average that moves the quantity by less than this share of its standard error does not count.
NO_SLOPE = 1e-6
# A sample without any variation is taken for a constant once draws that differ are known to be
# rarer than this: the bound that claims of certainty use.
RAREST_SEEN = 1e-4


@record
class Interval:
    """An estimate with an interval that holds the truth at the confidence asked for.

    `unmet` says which condition of the limit theorem the sample does not meet yet: the interval
    must then not be used to decide. It is None where all are met. `settles` is how many draws a
    sample of this shape needs to meet them.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    unmet: Explanation | None = None
    second_order: float = 0.0  # what the second-order term adds to the half-width
    settles: float = 0.0

    @property
    def reason(self) -> Reason | None:
        """Which condition is not met, without its numbers."""
        return None if self.unmet is None else self.unmet.reason

    @property
    def half_width(self) -> float:
        """The larger distance from the estimate to an end."""
        return max(self.high - self.estimate, self.estimate - self.low)


def estimate_interval(
    sums: Floats,
    block_values: int,
    theta: Theta,
    alpha: float,
    draws: int | None = None,
    columns: Sequence[int] | None = None,
) -> Interval:
    """The interval for θ at confidence 1 − alpha.

    Args:
        sums: sums of the integrands in each block, [blocks, terms], all finite.
        block_values: values of each quantity in one block.
        theta: the quantity as a function of the averages; NaN where it is undefined.
        alpha: the chance, in both tails together, with which the interval may miss.
        draws: the independent draws behind all sums, where a value is not a draw of its own.
        columns: the averages that the quantity is made of; all of them by default.

    >>> rng = np.random.default_rng(0)
    >>> sums = rng.normal(3, 1, (400, 50)).sum(axis=1, keepdims=True)
    >>> interval = estimate_interval(sums, 50, lambda means: means[0], 1e-3)
    >>> interval.low < 3 < interval.high, interval.unmet
    (True, None)
    """
    blocks = len(sums)
    draws = blocks * block_values if draws is None else draws
    # column by column: sums over the blocks then run along the memory
    averages = np.asfortranarray(sums) / block_values
    mean = np.add.reduce(averages, axis=0) / blocks
    middle = mean[:, np.newaxis]
    deviations = averages - mean
    axes = principal_axes(deviations) if blocks >= FEWEST_BLOCKS else None
    if axes is None or axes.rank == 0:
        centre = float(theta(middle)[0])
        if not math.isfinite(centre):
            return _undefined()
        if axes is None:
            why = Reason.TOO_FEW_BLOCKS.explain(blocks=blocks, needed=FEWEST_BLOCKS)
            return Interval(centre, -math.inf, math.inf, math.nan, unmet=why)
        return _constant(centre, draws, alpha)
    rank = axes.rank
    radius = _radius(rank, blocks, SECOND_ORDER_SHARE * alpha)

    def at(steps: Floats) -> list[float]:
        moved: list[float] = theta(middle + axes.steps @ steps).tolist()
        return moved

    values = at(_places(rank, radius)) if math.isfinite(radius) else []
    defined = bool(values) and all(map(math.isfinite, values))
    if not defined:  # it may be defined nearer to the averages
        centre = float(theta(middle)[0])
        if not math.isfinite(centre):
            return _undefined()
        values = [centre, *at(_places(rank, 0.0)[:, : 1 + 2 * rank])[1:]]
    centre = values[0]
    # a central difference over one standard error
    gradient = [values[1 + axis] - values[1 + rank + axis] for axis in range(rank)]
    error = math.hypot(*gradient)  # squares of 1e-200 or 1e200 are 0 or infinite
    quantile = student_quantile(alpha, blocks)
    skewness = excess = 0.0
    weights = np.zeros(len(mean))
    if 0 < error < math.inf:
        weights = axes.whitening @ [slope / error for slope in gradient]
        skewness, excess = _shape(deviations @ weights)
    kept = slice(None) if columns is None else columns
    parts = _unsettled(deviations[:, kept], weights[kept], quantile)
    neglected = _neglected(skewness, excess, blocks, quantile) / MOST_NEGLECTED
    settles = draws * max(neglected, parts if parts > 1 else 0.0)
    remainder = _second_order(at, values, gradient, rank, radius) if defined else None
    if remainder is None or not math.isfinite(error):
        why = Reason.UNDEFINED_NEARBY.explain()
        return Interval(centre, -math.inf, math.inf, error, unmet=why, settles=settles)
    if error == 0 and remainder == 0:
        point = _constant(centre, draws, alpha)
        if parts > 1:
            point = replace(point, unmet=Reason.HEAVY_PART.explain(), settles=settles)
        return point
    shift = skewness * (2 * quantile**2 + 1) / (6 * math.sqrt(blocks))
    unmet = None
    if not neglected <= 1:  # what is not a number is not small
        unmet = _unmet(skewness, excess, blocks)
    elif parts > 1:
        unmet = Reason.HEAVY_PART.explain()
    return Interval(
        estimate=centre,
        low=centre - error * (quantile + max(-shift, 0.0)) - remainder,
        high=centre + error * (quantile + max(shift, 0.0)) + remainder,
        standard_error=error,
        unmet=unmet,
        second_order=remainder,
        settles=settles,
    )


def _unsettled(deviations: Floats, weights: Floats, quantile: float) -> float:
    """The distance of the averages from the conditions of the limit theorem; up to 1 they are met.

    The first order looks at the influence alone. Where the part of an average cancels in it, as in
    E(1/u + u) − E(1/u), or vanishes on a plateau, as in maximum(E(1/u), 50), the influence does not
    show that the average does not exist. So every average must be seen to have a mean. One without
    any influence must meet the full condition, because the ellipsoid rests on it.

    Args:
        deviations: of each block from the mean of all, [blocks, terms].
        weights: what a deviation adds to the influence, [terms].
        quantile: standard errors on each side.
    """
    blocks = len(deviations)
    if len(weights) == 1 and weights[0]:
        return 0.0  # the influence itself
    largest = np.maximum.reduce(np.abs(deviations), axis=0)
    # squares of 1e200 are infinite; a row for each term
    scaled = (deviations / (largest + (largest == 0))).T
    squares = scaled * scaled
    powers = (np.vecdot(scaled, scaled), np.vecdot(squares, scaled), np.vecdot(squares, squares))
    most = 0.0
    columns = zip(*(array.tolist() for array in (weights, largest, *powers)), strict=True)
    for weight, unit, second, third, fourth in columns:
        spread = second / blocks
        if spread > 0:
            skewness = third / blocks / spread**1.5
            excess = fourth / blocks / spread**2 - 3.0
            share = _neglected(skewness, excess, blocks, 1.0)
            allowed = MOST_SHARE
            if abs(weight) * unit * math.sqrt(spread) <= NO_SLOPE:
                allowed = min(MOST_SHARE, MOST_NEGLECTED / quantile**4)
            most = max(most, share / allowed)
    return most


def _undefined() -> Interval:
    unmet = Reason.UNDEFINED_AT_AVERAGES.explain()
    return Interval(math.nan, math.nan, math.nan, math.nan, unmet=unmet)


def draws_that_agree(alpha: float) -> float:
    """How many draws must agree before that is no accident.

    If a share ε of the draws differed, all of n draws would agree with chance (1 − ε)^n, so that
    ε ≤ ln(1/α)/n (the "rule of three": Hanley and Lippman-Hand 1983).

    >>> round(draws_that_agree(0.05))
    29957
    """
    return math.log(1 / alpha) / RAREST_SEEN


def never_differed(draws: int, alpha: float) -> Explanation | None:
    """Why it is too early to decide by draws that all agree; None where it is not."""
    needed = draws_that_agree(alpha)
    return None if draws >= needed else Reason.NO_DIFFERENCE_YET.explain(needed=needed)


def _constant(centre: float, draws: int, alpha: float) -> Interval:
    """The interval of a sample in which nothing varies: a point, once that is no accident."""
    unmet = never_differed(draws, alpha)
    settles = 0.0 if unmet is None else draws_that_agree(alpha)
    return Interval(centre, centre, centre, 0.0, unmet=unmet, settles=settles)


@lru_cache(maxsize=4096)
def student_quantile(alpha: float, blocks: int) -> float:
    """Standard errors on each side of an interval from block means at confidence 1 − alpha."""
    return -float(special.stdtrit(blocks - 1, (1 - SECOND_ORDER_SHARE) * alpha / 2))


@lru_cache(maxsize=4096)
def _radius(rank: int, blocks: int, alpha: float) -> float:
    """The ellipsoid's radius in standard errors: Hotelling's T² (1931) at confidence 1 − alpha.

    The upper quantile of F is that of a beta variable, whose complement scipy keeps exact in the
    far tail.
    """
    if blocks <= rank + 1:
        return math.inf
    x = float(special.betainccinv(rank / 2, (blocks - rank) / 2, alpha))
    return math.sqrt((blocks - 1) * x / (1 - x)) if x < 1 else math.inf


def _pairs(rank: int) -> list[tuple[int, int]]:
    return [(j, k) for j in range(rank) for k in range(j)]


@lru_cache(maxsize=8)
def _places(rank: int, radius: float) -> Floats:
    """The points at which the quantity is evaluated, in steps along the axes: [rank, points].

    These are the averages themselves, half a standard error to each side of them along each axis,
    and points at the radius: along every axis and between every two, in both directions, and the
    corners.
    """
    unit = np.eye(rank)
    between = [(unit[j] + unit[k]) / math.sqrt(2) for j, k in _pairs(rank)]
    ahead = radius * np.array([*unit, *between])
    corners = radius * math.sqrt(rank) * unit
    near = [0 * unit[:1], 0.5 * unit, -0.5 * unit]
    return np.concatenate([*near, ahead, -ahead, corners, -corners]).T


def _second_order(
    at: Callable[[Floats], list[float]],
    values: list[float],
    gradient: list[float],
    rank: int,
    radius: float,
) -> float | None:
    """A bound of |½ z'Hz| over the ellipsoid, plus what a step along the gradient shows beyond it.

    H comes from second differences as wide as the ellipsoid itself, so that it also sees a kink
    or a bend of higher order. None where the quantity is undefined along the gradient. `values`
    are those at `_places`.
    """
    centre, far = values[0], values[1 + 2 * rank :]
    count = rank * (rank + 1) // 2
    norm = math.hypot(*gradient)
    ahead = [slope / norm for slope in gradient] if norm > 0 else [1.0] + [0.0] * (rank - 1)
    forward, backward = at(radius * np.outer(ahead, (1.0, -1.0)))
    if not (math.isfinite(forward) and math.isfinite(backward)):
        return None
    # differences of rounded numbers are no curvature
    noise = 8 * EPSILON * abs(centre) / radius**2

    def curvature(plus: float, minus: float) -> float:
        second = (plus + minus - 2 * centre) / radius**2
        return 0.0 if abs(second) <= noise else second

    curved = [curvature(far[place], far[count + place]) for place in range(count)]
    hessian = np.diag(curved[:rank])
    for (j, k), between in zip(_pairs(rank), curved[rank:], strict=True):
        hessian[j, k] = hessian[k, j] = between - (curved[j] + curved[k]) / 2
    along = float(np.asarray(ahead) @ hessian @ ahead)
    odd = abs((forward - backward) / 2 - norm * radius)
    even = abs(curvature(forward, backward) - along) * radius**2 / 2
    left = odd + even if odd + even > 8 * EPSILON * abs(centre) else 0.0
    steepest = float(np.abs(np.linalg.eigvalsh(hessian)).max())
    return radius**2 / 2 * steepest + left


def _shape(influence: Floats) -> tuple[float, float]:
    """Skewness and excess kurtosis of the blocks' influences."""
    blocks = len(influence)
    centred = influence - np.add.reduce(influence) / blocks
    second = float(centred.dot(centred)) / blocks  # an operator costs twice a method's price
    if not second > 0:
        return 0.0, 0.0
    squares = centred * centred
    third, fourth = float(squares.dot(centred)) / blocks, float(squares.dot(squares)) / blocks
    return third / second**1.5, fourth / second**2 - 3.0


def _neglected(skewness: float, excess: float, blocks: int, quantile: float) -> float:
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


def _unmet(skewness: float, excess: float, blocks: int) -> Explanation:
    """Which condition of the limit theorem fails, once it is known that one does."""
    skew, tail = _beyond_chance(skewness, excess, blocks)
    if tail > 5 and tail / 4 > skew**2 / 2:
        return Reason.HEAVY_SUM.explain()
    return Reason.TOO_SKEWED.explain()
