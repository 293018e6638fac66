"""Bounds of E|x|^-r where x is a line of one draw: how much probability lies near 0.

With F(d) = P(|x| <= d), E|x|^-r is the integral of r d^(-r - 1) F(d) over d > 0. F rises, and is
known from the law: on a grid of d it is set to its value at the upper end of each cell. Below the
grid F falls as a power of d that the law states (`near_ends`): there it is set to twice what the
power makes of its value at the lowest point, where it has been seen to follow that power.
"""

from __future__ import annotations

import math

import numpy as np

from dropcheck.analysis.existence import Line
from dropcheck.vocabulary.function import Array

# Points of the grid in a factor of 2, and probabilities between which it begins. At the end of a
# support it begins lower where F does not follow its power yet: F keeps its digits there.
_FINENESS = 8
_LOWEST, _LOW_ENOUGH = 1e-7, 1e-3
_LOWER = (1e-15, 1e-30, 1e-60, 1e-120)
# Nearer to a number than this share of it, the distance has lost half of its digits.
_DIGITS = 1e-8
# How far from its power F may be at the lowest point, and how far from its mean the density.
_NEARLY = 1.2


def inverse_of_line(line: Line, r: float) -> float:
    """A bound of (E|x|^-r)^(1/r), of r > 0; infinite where none is known."""
    power = line.near_zero()
    if power is None or power <= r or line.law.cdf(0.0, *line.arguments) is None:
        return math.inf
    zero = -line.shift / line.factor
    with np.errstate(all="ignore"):
        fall = power if power < math.inf else r + 1
        low, high = line.law.support(*line.arguments)
        for probability in (_LOWEST,) if low < zero < high else (_LOWEST, *_LOWER):
            lowest = _lowest(line, zero, probability)
            chance = float(_near(line, zero, np.array(lowest)))
            known = 0 < chance <= _LOW_ENOUGH
            if known and _follows(line, zero, lowest, (power, fall)):
                break
        else:
            return math.inf
        # up to where half of the probability is near, at most
        steps = np.arange(_FINENESS * 2000)
        grid = lowest * 2.0 ** (steps / _FINENESS)
        near = _near(line, zero, grid)
        last = min(int(np.searchsorted(near, 0.5)) + 1, grid.size)
        grid, near = grid[:last], near[:last]
        sizes = grid**-r
        cells = float(np.sum(near[1:] * (sizes[:-1] - sizes[1:])))
        # below, 2 F(lowest) (d / lowest)^k
        below = 2 * chance * sizes[0] * r / (fall - r)
        total = (cells + below + float(sizes[-1])) * (1 + 1e-9)
        found = total ** (1 / r) / abs(line.factor)
    return found if math.isfinite(found) and total > 0 else math.inf


def _near(line: Line, zero: float, distance: Array) -> Array:
    """The probability that the draw is at most so far from a point; a shade too large."""
    law, arguments = line.law, line.arguments
    low, high = law.support(*arguments)
    if zero <= low:
        return np.asarray(law.cdf(zero + distance, *arguments))
    if zero >= high:
        return np.asarray(law.survival(zero - distance, *arguments))
    above = law.cdf(zero + distance, *arguments)
    return np.asarray(above - law.cdf(zero - distance, *arguments) + 1e-15)


def _lowest(line: Line, zero: float, probability: float) -> float:
    """A distance with about such a probability, where so small a one can be told."""
    law, arguments = line.law, line.arguments
    low, high = law.support(*arguments)
    if zero <= low:
        found = float(law.quantile(probability, *arguments)) - zero
    elif zero >= high:
        found = zero - float(law.upper_quantile(probability, *arguments))
    else:
        # from a distance that holds more, by halves
        found = float(law.quantile(0.75, *arguments)) - float(law.quantile(0.25, *arguments))
        while found > 0 and _near(line, zero, np.array(found)) > probability * 1e3:
            found /= 2
    return max(found, _DIGITS * abs(zero), 1e-280)


def _follows(line: Line, zero: float, lowest: float, powers: tuple[float, float]) -> bool:
    """Whether F goes with its power of the distance around the lowest point.

    Where it falls faster than any power, and ever faster, whether it does with the second one.
    """
    law, arguments, (power, fall) = line.law, line.arguments, powers
    distances = lowest * np.array([1.0, 2.0, 4.0])
    near = _near(line, zero, distances)
    rises = near[1:] / near[:-1]
    if power == math.inf:
        return bool(rises[0] >= 2.0**fall)
    if not (np.abs(np.log(rises) - power * math.log(2.0)) <= math.log(_NEARLY)).all():
        return False
    low, high = law.support(*arguments)
    if not low < zero < high:
        return True
    points = zero + lowest * np.linspace(-1.0, 1.0, 33)
    density = law.density([np.array([one]) for one in arguments], points)
    return bool(density.max() <= _NEARLY * near[0] / (2 * lowest))
