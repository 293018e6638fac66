"""Bounds of E|x|^-r for a line x = a · draw + b of one draw, from the probability near 0.

With F(d) = P(|x| <= d), E|x|^-r is the integral of r d^(-r - 1) F(d) over d > 0. F rises, and is
known from the law. On a grid of d, its value at the upper end of each cell is used. Below the grid,
F falls as a power of d that the law states (`near_ends`). If F follows this power at the lowest
points of the grid, twice the power is used below it.

For a sum of squares of linear forms in several draws, see `sums_of_squares`: as many of the forms
count as are independent, one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dropcheck.analysis.moments.independence import Described
from dropcheck.analysis.moments.law_bounds import AffineDraw
from dropcheck.language.graph import Kind, Value, computed_from, ordered, random_inputs
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.functions.elementwise import DIVIDE
from dropcheck.vocabulary.majorants.sums_of_squares import MOST_WEIGHTS, weights_of_sample

# Points of the grid for each factor of 2; the probability at which it begins, and the largest one
# at which it may begin. At an end of the support it may begin at the lower probabilities, if F does
# not follow its power before: F keeps its digits there.
_FINENESS = 8
_LOWEST, _LOW_ENOUGH = 1e-7, 1e-3
_LOWER = (1e-15, 1e-30, 1e-60, 1e-120)
# A distance from a number that is a smaller share of it has lost half of its digits.
_DIGITS = 1e-8
# Linear forms with a smaller share of the largest one count as dependent on those before.
_LEAST_SHARE = 1e-7
# The largest factor between F and its power at the lowest points, and between the density and its
# mean there.
_NEARLY = 1.2


def inverse_of_line(line: AffineDraw, r: float) -> float:
    """A bound of (E|x|^-r)^(1/r) for r > 0; infinite if none is known."""
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
        # at most up to the distance that contains half of the probability
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
        bound = total ** (1 / r) / abs(line.factor)
    return bound if math.isfinite(bound) and total > 0 else math.inf


def _near(line: AffineDraw, zero: float, distance: Array) -> Array:
    """An upper bound of the probability that the draw is within a distance of the point `zero`."""
    law, arguments = line.law, line.arguments
    low, high = law.support(*arguments)
    if zero <= low:
        return np.asarray(law.cdf(zero + distance, *arguments))
    if zero >= high:
        return np.asarray(law.survival(zero - distance, *arguments))
    above = law.cdf(zero + distance, *arguments)
    return np.asarray(above - law.cdf(zero - distance, *arguments) + 1e-15)


def _lowest(line: AffineDraw, zero: float, probability: float) -> float:
    """A distance from the point `zero` with about this probability, if that can be computed."""
    law, arguments = line.law, line.arguments
    low, high = law.support(*arguments)
    if zero <= low:
        distance = float(law.quantile(probability, *arguments)) - zero
    elif zero >= high:
        distance = zero - float(law.upper_quantile(probability, *arguments))
    else:
        # halve a distance with a larger probability
        distance = float(law.quantile(0.75, *arguments)) - float(law.quantile(0.25, *arguments))
        while distance > 0 and _near(line, zero, np.array(distance)) > probability * 1e3:
            distance /= 2
    return max(distance, _DIGITS * abs(zero), 1e-280)


def _follows(line: AffineDraw, zero: float, lowest: float, powers: tuple[float, float]) -> bool:
    """Whether F follows its power of the distance near the lowest point.

    If the first power is infinite, whether F falls at least as fast as the second power.
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


# ---- sums of squares ----------------------------------------------------------------------------


def weights_of_squares(x: Described, axes: Sequence[int], *, centred: bool) -> list[float]:
    """Weights w with Σ x² >= Σ w u² over some axes; with `centred`, for x minus its mean there.

    Each u has a density of at most 1 given those before it. There are no weights unless x is a
    linear image of draws with known densities.

    Let y = L x + c with independent x, in units in which their densities are at most 1. Then
    Q R = L has |y|² >= |R x + Q'c|², where row i of R involves only x_i and those after it (Golub
    and Van Loan 2013, "Matrix Computations", section 5.4.2, with column pivoting).
    """
    if x.apart.issuperset(axes) and x.density < math.inf:
        return weights_of_sample(math.prod(x.shape[at] for at in axes), x.density, centred=centred)
    whole = len(axes) == len(x.shape)
    image = _linear_image(x.value, lambda draw: x.drawn(draw).density) if whole else None
    if image is None:
        return []
    left = image - image.mean(axis=0) if centred else image
    weights: list[float] = []
    sizes = np.square(left).sum(axis=0)
    first = float(sizes.max(initial=0.0))
    while len(weights) < min(image.shape) and sizes.max() > _LEAST_SHARE * first:
        unit = left[:, int(sizes.argmax())] / math.sqrt(sizes.max())
        weights.append(float(sizes.max()) * (1 - _LEAST_SHARE))
        left = left - np.outer(unit, unit @ left)
        sizes = np.square(left).sum(axis=0)
    return weights


def _linear_image(value: Value, density: Callable[[Value], float]) -> Array | None:
    """The matrix L of y = L x + c, [elements, drawn numbers]; None if it is not known."""
    steps = ordered([value])
    drawn = [one for one in steps if one.kind == Kind.DRAW]
    densities = [density(one) for one in drawn]
    lengths = [math.prod(one.shape) for one in drawn]
    count = sum(lengths)
    small = all(math.prod(one.shape) <= MOST_WEIGHTS for one in steps) and count <= MOST_WEIGHTS
    known = all(0 < one < math.inf for one in densities)
    if not (small and known and all(map(_is_linear, steps))):
        return None
    units = np.eye(count, count + 1) / np.repeat(densities, lengths)[:, np.newaxis]
    rows = iter(np.split(units, np.cumsum(lengths)[:-1]))
    results: dict[int, Array] = {}
    for one in steps:
        if one.kind == Kind.DRAW:
            results[id(one)] = next(rows).reshape(*one.shape, count + 1)
            continue
        results[id(one)] = np.asarray(computed_from(one, results))
    images = results[id(value)].reshape(-1, count + 1)
    return images[:, :-1] - images[:, -1:]


def _is_linear(value: Value) -> bool:
    """Whether a value is a draw with fixed arguments, or linear in its random inputs."""
    random = random_inputs(value)
    if value.kind == Kind.DRAW:
        return not random and value.law is not None and value.law.own_axes is None
    if value.kind != Kind.COMPUTED or any(one.postponed for one in value.inputs):
        return False
    function = value.function
    if function.bilinear or function is DIVIDE:
        return len(random) == 1 and (function.bilinear or random[0] is value.inputs[0])
    return function.additive or function.moves
