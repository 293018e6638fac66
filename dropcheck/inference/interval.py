"""An interval for a smooth function of averages, from sums of independent blocks.

With m the averages over all blocks and θ = g(m), the error of θ is split as Taylor's theorem does:

* first order: ∇g · (m − E m), a mean of independent block influences. Student's quantile over the
  blocks' own standard error, with the shift that skewness asks for (Hall 1983, "Inverting an
  Edgeworth expansion", Annals of Statistics 11, eq. 2.3 with the polynomial of the studentised
  mean: P(T ≤ x) = Φ(x) + n^(-1/2) γ (2x² + 1)/6 φ(x) + O(1/n)); the shift is only ever used to
  widen.
* second order: ½ (m − E m)' H (m − E m), bounded over the ellipsoid that holds m at a confidence
  of its own. It is what remains where the first order vanishes, as for the variance of a fair
  two-point variable. Its sign is + about m and − about E m, and the gradient is known at m but has
  its law at E m: so it is allowed for on both sides.

The limit theorem's conditions are checked on the blocks: what the next terms of the expansion
would do at the quantile in use must be small, or the interval is not used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]
Theta = Callable[[Floats], Floats]
"""Averages [terms, points] to the quantity at each point [points]."""

FEWEST_BLOCKS = 64
# Share of the error that pays for the ellipsoid of the second-order term; the interval's width
# hardly feels it, for it enters through a logarithm.
SECOND_ORDER_SHARE = 0.1
# What the neglected terms of the expansion may add to the logarithm of the tail's probability.
MOST_NEGLECTED = 1.0
TOO_SKEW = "the averages are still too skew for the normal limit"
# A sample without any variation is taken for a constant once draws that differ are known to be
# rarer than this: the bound that claims of certainty use.
RAREST_SEEN = 1e-4


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with an interval that holds the truth at the confidence asked for.

    `unmet` says which condition of the limit theorem the sample does not meet yet; the interval
    must then not be used to decide. None where all are met. `settles` is how many draws a sample of
    this shape takes to meet them.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    unmet: str | None = None
    second_order: float = 0.0  # what the second-order term adds to the half-width
    settles: float = 0.0

    @property
    def half_width(self) -> float:
        """The larger distance from the estimate to an end."""
        return max(self.high - self.estimate, self.estimate - self.low)


def estimate_interval(
    sums: Floats, block_values: int, theta: Theta, alpha: float, draws: int | None = None
) -> Interval:
    """The interval for θ at confidence 1 − alpha.

    Args:
        sums: sums of the integrands in each block, [blocks, terms], all finite.
        block_values: values of each quantity in one block.
        theta: the quantity as a function of the averages; NaN where it is undefined.
        alpha: the chance, in both tails together, with which the interval may miss.
        draws: the independent draws behind all sums, where that is not one a value.

    >>> rng = np.random.default_rng(0)
    >>> sums = rng.normal(3, 1, (400, 50)).sum(axis=1, keepdims=True)
    >>> found = estimate_interval(sums, 50, lambda means: means[0], 1e-3)
    >>> found.low < 3 < found.high, found.unmet
    (True, None)
    """
    blocks = len(sums)
    draws = blocks * block_values if draws is None else draws
    averages = sums / block_values
    mean = averages.mean(axis=0)
    centre = float(theta(mean[:, np.newaxis])[0])
    if not math.isfinite(centre):
        return Interval(math.nan, math.nan, math.nan, math.nan, "it is undefined at the averages")
    if blocks < FEWEST_BLOCKS:
        return Interval(centre, -math.inf, math.inf, math.nan, f"{blocks} blocks are too few")
    axes, whitened = _principal_axes(averages - mean)
    rank = axes.shape[1]
    if rank == 0:
        return _constant(centre, draws, alpha)
    first = (1 - SECOND_ORDER_SHARE) * alpha
    quantile = -float(special.stdtrit(blocks - 1, first / 2))
    radius = _radius(rank, blocks, SECOND_ORDER_SHARE * alpha)

    def at(steps: Floats) -> Floats:
        return theta(mean[:, np.newaxis] + axes @ steps.T)

    unit = np.eye(rank)
    small = at(np.concatenate([0.5 * unit, -0.5 * unit]))
    gradient = small[:rank] - small[rank:]  # a central difference over one standard error
    error = math.hypot(*gradient)  # squares of 1e-200 or 1e200 are 0 or infinite
    remainder = _second_order(at, centre, gradient, rank, radius)
    if remainder is None or not math.isfinite(error):
        return Interval(
            centre, -math.inf, math.inf, error, "it is not defined wherever the averages may lie"
        )
    if error == 0 and remainder == 0:
        return _constant(centre, draws, alpha)
    skewness, excess = _shape(whitened @ (gradient / error)) if error > 0 else (0.0, 0.0)
    shift = skewness * (2 * quantile**2 + 1) / (6 * math.sqrt(blocks))
    return Interval(
        centre,
        centre - error * (quantile + max(-shift, 0.0)) - remainder,
        centre + error * (quantile + max(shift, 0.0)) + remainder,
        error,
        _unmet(skewness, excess, blocks, quantile),
        remainder,
        draws * _neglected(skewness, excess, blocks, quantile) / MOST_NEGLECTED,
    )


def _constant(centre: float, draws: int, alpha: float) -> Interval:
    """A sample in which nothing varies: the point, once that is known to be no accident.

    If a share ε of the draws differed, all of n draws would agree with chance (1 − ε)^n, so that
    ε ≤ ln(1/α)/n (the "rule of three": Hanley and Lippman-Hand 1983).
    """
    needed = math.log(1 / alpha) / RAREST_SEEN
    unmet = None if draws >= needed else f"no draw differs yet, and {needed:,.0f} are needed"
    return Interval(centre, centre, centre, 0.0, unmet)


def _principal_axes(deviations: Floats) -> tuple[Floats, Floats]:
    """Axes of one standard error of the averages, [terms, rank], and the blocks along them.

    Directions in which the averages do not vary are left out.
    """
    blocks, terms = deviations.shape
    largest = np.abs(deviations).max(axis=0)  # squared only once they are near 1
    varied = np.flatnonzero(largest > 0)
    if not len(varied):
        return np.zeros((terms, 0)), np.zeros((blocks, 0))
    scaled = deviations[:, varied] / largest[varied]
    relative = np.sqrt((scaled**2).sum(axis=0) / (blocks - 1))
    scaled /= relative
    spread = largest[varied] * relative
    # not from scaled' scaled: its rounding would hide what two almost equal averages differ by
    left, values, right = np.linalg.svd(scaled, full_matrices=False)
    kept = values > 1e-9 * values[0]  # rounding leaves a direction of no variance at 1e-14
    whitened = left[:, kept] * math.sqrt(blocks - 1)
    errors = values[kept] / math.sqrt((blocks - 1) * blocks)
    axes = np.zeros((terms, int(kept.sum())))
    axes[varied] = spread[:, np.newaxis] * right[kept].T * errors
    return axes, whitened


def _radius(rank: int, blocks: int, alpha: float) -> float:
    """The ellipsoid's radius in standard errors: Hotelling's T² (1931) at confidence 1 − alpha.

    The upper quantile of F is that of a beta variable, whose complement scipy keeps exact in the
    far tail.
    """
    if blocks <= rank + 1:
        return math.inf
    x = float(special.betainccinv(rank / 2, (blocks - rank) / 2, alpha))
    return math.sqrt((blocks - 1) * x / (1 - x)) if x < 1 else math.inf


def _second_order(
    at: Callable[[Floats], Floats], centre: float, gradient: Floats, rank: int, radius: float
) -> float | None:
    """The most that ½ z'Hz is over the ellipsoid, either way, and what is left beyond it.

    H comes from second differences as wide as the ellipsoid itself, so that it also sees a kink
    or a bend of higher order; what a step along the gradient still shows is added.
    None where the quantity is undefined somewhere in the ellipsoid.
    """
    if not math.isfinite(radius):
        return None
    unit = np.eye(rank)
    pairs = [(j, k) for j in range(rank) for k in range(j)]
    diagonals = [(unit[j] + unit[k]) / math.sqrt(2) for j, k in pairs]
    norm = math.hypot(*gradient)
    ahead = gradient / norm if norm > 0 else unit[0]
    directions = np.array([*unit, *diagonals, ahead]) * radius
    corners = unit * radius * math.sqrt(rank)
    values = at(np.concatenate([directions, -directions, corners, -corners]))
    if not np.isfinite(values).all():
        return None
    count = len(directions)
    plus, minus = values[:count], values[count : 2 * count]
    curvature = (plus + minus - 2 * centre) / radius**2
    # differences of rounded numbers are no curvature
    noise = 8 * np.finfo(float).eps * abs(centre) / radius**2
    curvature[np.abs(curvature) <= noise] = 0.0
    hessian = np.diag(curvature[:rank])
    for (j, k), along in zip(pairs, curvature[rank:], strict=False):
        hessian[j, k] = hessian[k, j] = along - (hessian[j, j] + hessian[k, k]) / 2
    steepest = float(np.abs(np.linalg.eigvalsh(hessian)).max())
    odd = abs(float(plus[-1] - minus[-1]) / 2 - norm * radius)
    even = abs(float(curvature[-1] - ahead @ hessian @ ahead)) * radius**2 / 2
    left = odd + even if odd + even > 8 * np.finfo(float).eps * abs(centre) else 0.0
    return radius**2 / 2 * steepest + left


def _shape(influence: Floats) -> tuple[float, float]:
    """Skewness and excess kurtosis of the blocks' influences."""
    centred = influence - influence.mean()
    spread = float(np.sqrt((centred**2).mean()))
    if not spread > 0:
        return 0.0, 0.0
    scaled = centred / spread
    return float((scaled**3).mean()), float((scaled**4).mean()) - 3.0


def _neglected(skewness: float, excess: float, blocks: int, quantile: float) -> float:
    """What the neglected terms of the expansion may add to the log of the tail's probability.

    Beyond the shift for skewness, the expansion of the log tail probability goes on with terms of
    the order of x⁴ γ²/n and x⁴ κ/n (Petrov 1975, "Sums of Independent Random Variables", VIII.2,
    the Cramér series). Only what exceeds three standard errors of the sample's own γ (6/n) and κ
    (24/n) is held against it.
    """
    skew, tail = _beyond_chance(skewness, excess, blocks)
    return quantile**4 * (skew**2 + tail / 4) / blocks


def _beyond_chance(skewness: float, excess: float, blocks: int) -> tuple[float, float]:
    return (
        max(abs(skewness) - 3 * math.sqrt(6 / blocks), 0.0),
        max(abs(excess) - 3 * math.sqrt(24 / blocks), 0.0),
    )


def _unmet(skewness: float, excess: float, blocks: int, quantile: float) -> str | None:
    """Which condition of the limit theorem fails, if any."""
    if _neglected(skewness, excess, blocks, quantile) <= MOST_NEGLECTED:
        return None
    skew, tail = _beyond_chance(skewness, excess, blocks)
    if tail > 5 and tail / 4 > skew**2 / 2:
        return "a few draws carry the sum (heavy tails)"
    return TOO_SKEW
