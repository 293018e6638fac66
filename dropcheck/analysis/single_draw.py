"""Expectations of functions of one draw, each with a bound of its error.

The values of a discrete draw are enumerated. The values of a continuous draw are cut into cells,
and the mean on each cell is computed by a Gauss rule. Its error is known in advance, from bounds of
the function at complex values of the draw (`vocabulary.smoothness`):

* Let g be analytic in the ellipse with foci at the ends of a cell whose axes add up to ρ times the
  width of the cell, and there at most M away from the middle of its values. Then some polynomial of
  degree m is at most 2 M / ((ρ - 1) ρ^m) away from g on the cell (Trefethen 2013, "Approximation
  theory and approximation practice", theorem 8.2). The rule is exact for this polynomial times the
  polynomial that is close to the density.
* If no such M is known, or the bound is worse, the part of the cell is bounded by the smallest and
  the largest value of g on it, times its probability.

Cells are cut until the sum of all bounds is small. So no kink and no spike between the points of a
rule is missed: where g is not known to be smooth, its whole range counts as error. The parts beyond
the outermost cells, or at a pole, are bounded by Hölder's inequality,
E|g| 1_A <= ‖g‖_r P(A)^(1 - 1/r).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dropcheck.analysis.bounds import OUTWARD, hull_of, hull_of_fixed
from dropcheck.analysis.on_paper import EXACT, Rounded, near_jumps, value_on_paper
from dropcheck.array_types import Floats, Truths
from dropcheck.language.graph import (
    Kind,
    Plain,
    Value,
    fixed_array,
    in_order,
    kernel_of,
    number,
    random_inputs,
)
from dropcheck.vocabulary.function import Array, KernelError
from dropcheck.vocabulary.functions.elementwise import DIVIDE, MULTIPLY
from dropcheck.vocabulary.hulls import Hull
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.majorants.rule import summed
from dropcheck.vocabulary.smoothness import (
    Ranges,
    absolute,
    fixed,
    multiply,
    real_power,
    subtract,
    whole_power,
)

# ---- cells ---------------------------------------------------------------------------------------
#
# The values of a continuous law cut into cells, with a Gauss rule for expectations on each cell.
#
# In a cell the density is close to a polynomial; its Legendre series tells how close. A Gauss rule
#  of
# n points is exact up to degree 2n - 1. The degrees that the density's polynomial does not need are
# left for the function that is averaged (Davis and Rabinowitz 1984, "Methods of numerical
# integration", section 2.7).


POINTS = 24
# the degree of the polynomial that stands for a density, and the degree left for the function
DENSITY_DEGREE = 12
FUNCTION_DEGREE = 2 * POINTS - 1 - DENSITY_DEGREE
# The first cells end at the quantiles of these levels, on either side. Beyond the last level lies
# the tail.
LEVELS = (0.5, 0.1, 1e-2, 1e-4, 1e-7, 1e-12, 1e-20, 1e-35, 1e-60, 1e-100, 1e-170, 1e-300)
# The relative error of a distribution function.
DISTRIBUTION_ERROR = 1e-13
# A cell whose ends have one sign, and a larger ratio than this, is cut in equal ratios.
FAR_APART = 8.0
# Cells with a smaller relative width are not cut.
LEAST_WIDTH = 4e-15
# Cells with a smaller probability are not used to measure the error of the density.
LEAST_TELLING = 1e-5


def _legendre() -> tuple[Floats, Floats, Floats]:
    """Points and weights of the Gauss rule, and the matrix from values to Legendre coefficients."""
    points, weights = np.polynomial.legendre.leggauss(POINTS)
    values = np.polynomial.legendre.legvander(points, POINTS - 1)
    degrees = np.arange(POINTS)
    return points, weights, values.T * weights * (degrees[:, None] + 0.5)


_PLACES, _WEIGHTS, _SERIES = _legendre()


@dataclass(frozen=True, slots=True)
class Cells:
    """Intervals of the values of one draw.

    The probability of each lies between `least` and `most`. `points` and `weights`, [cells,
    POINTS], are a rule for expectations on each cell. `stray` bounds the integral of the absolute
    difference between the density and the polynomial that the weights stand for; it is infinite
    where the rule must not be used. `doubt` is a further error, which smaller cells do not reduce.
    """

    low: Floats
    high: Floats
    least: Floats
    most: Floats
    points: Floats
    weights: Floats
    stray: Floats
    doubt: Floats


@dataclass(frozen=True, slots=True)
class CutLaw:
    """A continuous law with fixed arguments, to be cut into cells.

    `first` are the first cells; `tails` are the intervals beyond them: start, end, probability.
    `density_error` is the relative error of the density, measured by the distribution function.
    """

    law: Law
    arguments: tuple[Plain, ...]
    first: Cells
    tails: tuple[tuple[float, float, float], ...]
    density_error: float

    def cells(self, low: Floats, high: Floats) -> Cells:
        """The cells with these ends. The caller silences numpy's warnings."""
        return _cells(self.law, self.arguments, low, high, self.density_error)


@lru_cache(maxsize=64)
def cut_law(law: Law, arguments: tuple[Plain, ...]) -> CutLaw | None:
    """The first cells of a continuous law that is no constant; None if no quantiles are known."""
    with np.errstate(all="ignore"):
        low, high = law.support(*arguments)
        levels = np.array(LEVELS)
        lower = law.quantile(levels[::-1], *arguments)
        upper = law.upper_quantile(levels[1:], *arguments)
        if lower is None or upper is None:
            return None
        ends = [*lower, *upper]
        edges = np.unique([low, high, *(end for end in ends if low <= end <= high)])
        edges = edges[np.isfinite(edges)]
        tails = [
            (-np.inf, float(edges[0]), _chance(law.cdf, edges[0], arguments)),
            (float(edges[-1]), np.inf, _chance(law.survival, edges[-1], arguments)),
        ]
        open_ended = (low == -np.inf, high == np.inf)
        first = _cells(law, arguments, edges[:-1], edges[1:], 1e-3)
        total = first.weights.sum(axis=1)
        telling = (first.stray < 1e-9 * total) & (first.least > LEAST_TELLING)
        wrong = np.where(telling, np.abs(total / first.most - 1), 0.0)
        error = float(wrong.max(initial=0.0)) + DISTRIBUTION_ERROR
        return CutLaw(
            law=law,
            arguments=arguments,
            first=_cells(law, arguments, edges[:-1], edges[1:], error),
            tails=tuple(tail for tail, one in zip(tails, open_ended, strict=True) if one),
            density_error=error,
        )


def _chance(probability: Callable[..., Any], end: float, arguments: tuple[Plain, ...]) -> float:
    """A bound of the probability of a tail, which may underflow."""
    return max(float(probability(float(end), *arguments)) * 1.01, 1e-300)


def _cells(
    law: Law, arguments: tuple[Plain, ...], low: Floats, high: Floats, density_error: float
) -> Cells:
    least, most = _chances(law, arguments, low, high)
    half = high / 2 - low / 2
    points = np.clip((low + half)[:, None] + half[:, None] * _PLACES, low[:, None], high[:, None])
    density = law.density([fixed_array(one) for one in arguments], points.ravel())
    density = density.reshape(points.shape)
    series = np.abs(density @ _SERIES.T)[:, DENSITY_DEGREE + 1 :].sum(axis=1)
    # times the width; twice, for the law and for the rule; twice again for higher degrees
    stray = 8 * half * series
    weights = density * (half[:, None] * _WEIGHTS)
    total = weights.sum(axis=1)
    # rounding moves the points: relative to the width this is much in a narrow cell far from 0
    moved = 2.0**-53 * (1 + np.maximum(np.abs(low), np.abs(high)) / half)
    noise = np.minimum(stray, 32 * POINTS * half * moved * density.max(axis=1))
    stray = stray - noise
    doubt = density_error * total + noise
    # both say what the probability is; where they disagree there is a kink between the points
    lowest = np.maximum(least, total - stray - doubt)
    highest = np.minimum(most, total + stray + doubt)
    good = np.isfinite(stray) & (half > 0) & (lowest <= highest)
    return Cells(
        low=low,
        high=high,
        least=np.where(good, lowest, least),
        most=np.where(good, highest, most),
        points=points,
        weights=np.where(good[:, None], weights, (least / POINTS)[:, None]),
        stray=np.where(good, stray, np.inf),
        doubt=np.where(good, doubt, np.inf),
    )


def _chances(
    law: Law, arguments: tuple[Plain, ...], low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Bounds of the probability of each cell, from the nearer tail."""
    ends = np.stack([low, high])
    below = np.asarray(law.cdf(ends, *arguments), dtype=np.float64)
    above = np.asarray(law.survival(ends, *arguments), dtype=np.float64)
    nearer = below[0] <= above[1]
    difference = np.where(nearer, below[1] - below[0], above[0] - above[1])
    error = DISTRIBUTION_ERROR * np.where(nearer, below[1], above[0]) + 1e-300
    return np.maximum(difference - error, 0.0), np.maximum(difference, 0.0) + error


def can_be_split(low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Whether cells are wide enough to be cut further: float64 has enough numbers in them."""
    wide: NDArray[np.bool_] = high - low > LEAST_WIDTH * np.maximum(np.abs(low), np.abs(high))
    return wide


def split(low: Floats, high: Floats, pieces: int) -> Floats:
    """The ends of the pieces of each cell, [cells, pieces + 1]; some pieces may be empty."""
    share = np.arange(pieces + 1) / pieces
    edges = low[:, None] + (high - low)[:, None] * share
    positive, negative = (low > 0) & (high > FAR_APART * low), (high < 0) & (low < FAR_APART * high)
    far = positive | negative
    if far.any():
        start, stop = np.log(np.abs(low[far]))[:, None], np.log(np.abs(high[far]))[:, None]
        edges[far] = np.sign(low[far])[:, None] * np.exp(start + (stop - start) * share)
    edges[:, 0], edges[:, -1] = low, high
    return edges


def between(edges: Floats) -> tuple[Floats, Floats]:
    """The ends of the pieces that `split` makes, without empty pieces."""
    low, high = edges[:, :-1].ravel(), edges[:, 1:].ravel()
    wide = low < high
    return low[wide], high[wide]


# ---- draw steps ----------------------------------------------------------------------------------
#
# The steps from one drawn number to the quantities that are functions of it.


# The most steps of a function of one draw, and the most elements of a value among them.
MOST_STEPS = 100
MOST_ELEMENTS = 64
# The relative error of a function in float64; scipy.special has the largest ones.
FUNCTION_ROUNDING = 8 * 2.0**-53


def draw_below(value: Value) -> Value | None:
    """The drawn number of which a quantity is a function; everything else in it is fixed.

    It is a draw of one number, or one element of an array of draws. If a function is applied to an
    array of independent draws element by element, it is the array: each element is the same
    function of the draw at its index. None if a quantity is no such function, or if the law's
    arguments are no fixed numbers.
    """
    if not value.random or len(value.sources) != 1 or value.estimated:
        return None
    draw: Value | None = None
    seen: set[int] = set()
    stack = [value]
    while stack:
        one = stack.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if len(seen) > MOST_STEPS:
            return None
        if one.kind == Kind.DRAW or (one.kind == Kind.COMPUTED and _is_view_of_draw(one)):
            if draw is not None and draw is not one:
                return None
            draw = one
        elif one.kind != Kind.COMPUTED:
            return None
        else:
            stack += random_inputs(one)
            if any(below.postponed for below in one.inputs):
                return None
    return draw if draw is not None and _fits(value, draw) else None


def is_function_of_one_draw(value: Value) -> bool:
    """Whether a quantity is a function of one draw, but no line: lines are known from the law."""
    if not value.random or len(value.sources) != 1:
        return False
    one = value
    while one.kind == Kind.COMPUTED:
        drawn = random_inputs(one)
        straight = (
            one.function.additive or one.function.rearranges or one.function in (MULTIPLY, DIVIDE)
        )
        if len(drawn) != 1 or not straight:
            return draw_below(value) is not None
        one = drawn[0]
    return False


def _is_view_of_draw(value: Value) -> bool:
    while value.kind == Kind.COMPUTED and value.function.rearranges:
        value = value.inputs[0]
    return value.kind == Kind.DRAW


def law_of(draw: Value) -> Value:
    """The draw itself, from a result of `draw_below`, which may be an element of it."""
    while draw.kind == Kind.COMPUTED:
        draw = draw.inputs[0]
    return draw


def _fits(value: Value, draw: Value) -> bool:
    """Whether the law has fixed arguments, and each element of the value depends on one number."""
    origin = law_of(draw)
    if origin.law is None or origin.law.own_axes is not None:
        return False
    if not all(
        argument.known is not None and len(argument.shape) == parameter.axes
        for argument, parameter in zip(origin.inputs, origin.law.parameters, strict=True)
    ):
        return False
    if value.shape != draw.shape:
        return False
    if draw.shape == ():
        return all(math.prod(one.shape) <= MOST_ELEMENTS for one in _between(value, draw))
    return all(
        one.shape == draw.shape and one.function.by_element and _same_for_all(one)
        for one in _between(value, draw)
    )


def _same_for_all(value: Value) -> bool:
    """Whether each fixed input is one number for all elements."""
    constants = [below.constant for below in value.inputs if not below.random]
    return all(one.size and bool((one == one.flat[0]).all()) for one in constants)


def _between(value: Value, draw: Value) -> list[Value]:
    """The values computed between the draw and the quantity, in order."""
    return [one for one in _ordered([value], draw) if one is not draw]


def _ordered(values: Sequence[Value], draw: Value) -> list[Value]:
    return in_order(values, lambda one: () if one is draw else random_inputs(one))


@dataclass(frozen=True, slots=True)
class Steps:
    """The values that are computed from a draw to get some quantities."""

    draw: Value
    values: tuple[Value, ...]
    computed: tuple[Value, ...]

    @classmethod
    def to(cls, values: Sequence[Value], draw: Value) -> Steps:
        """The steps from a draw to some quantities."""
        computed = tuple(one for one in _ordered(values, draw) if one is not draw)
        return cls(draw, tuple(values), computed)

    @property
    def written(self) -> tuple[object, ...]:
        """A key of the computation, without the draw: equal for equal steps from another draw."""
        places = {id(self.draw): 0}
        written: list[object] = [self.draw.shape == ()]
        for place, value in enumerate(self.computed, 1):
            places[id(value)] = place
            inputs = tuple(
                places[id(below)] if below.random else self._written_number(below)
                for below in value.inputs
            )
            shape = value.shape if self.draw.shape == () else None
            written.append((value.operation, value.options, shape, inputs))
        return *written, tuple(places[id(value)] for value in self.values)

    def _written_number(self, value: Value) -> tuple[object, ...]:
        array = self._constant(value)
        return array.dtype.str, array.shape, array.tobytes()

    @property
    def ruled(self) -> bool:
        """Whether every step has a rule for its ranges."""
        return all(self._has_rule(value) for value in self.computed)

    def _has_rule(self, value: Value) -> bool:
        return (
            value.function.ranges is not None
            and all(one.shape == self.draw.shape for one in (value, *value.inputs) if one.random)
            and _same_for_all(value)
        )

    def evaluated(self, points: Floats) -> list[Floats]:
        """The quantities at values of the draw, each [points].

        They are NaN if a function does not take a value: the error is reported when it is drawn.
        """
        return self._quantities(self._computed(points), points)

    def listed(self, points: Floats) -> tuple[list[Floats], list[Floats]]:
        """The quantities at values of a discrete draw: in float64, and in exact arithmetic."""
        results = self._computed(points)
        quantities = self._quantities(results, points)
        known = {id(self.draw): Rounded(points, EXACT)}

        def array_of(value: Value) -> Array:
            return results[id(value)] if value.random else self._constant(value)

        if not results or not any(near_jumps((self.draw, *self.computed), array_of)):
            return quantities, quantities
        try:
            for below in (below for value in self.computed for below in value.inputs):
                if not below.random:
                    fixed = value_on_paper(below, known)
                    known[id(below)] = Rounded(*map(self._one_of, (fixed.value, fixed.error)))
            paper = {id(value): value_on_paper(value, known).value for value in self.values}
        except KernelError:
            paper = {}
        return quantities, self._quantities(paper, points)

    def _quantities(self, results: Mapping[int, Array], points: Floats) -> list[Floats]:
        unknown = np.full(points.shape, np.nan)
        arrays = [number(results.get(id(value), unknown)) for value in self.values]
        return [np.broadcast_to(one, points.shape) for one in arrays]

    def _computed(self, points: Floats) -> dict[int, Array]:
        """All values by id, at values of the draw; empty if a function does not take a value."""
        results: dict[int, Array] = {id(self.draw): points}
        for value in self.computed:
            inputs = [
                results[id(below)] if below.random else self._constant(below)
                for below in value.inputs
            ]
            if not value.function.takes_truth:
                inputs = [number(array) for array in inputs]
            try:
                results[id(value)] = kernel_of(value)(*inputs)
            except KernelError:
                return {}
        return results

    def _constant(self, value: Value) -> Array:
        return self._one_of(value.constant)

    def _one_of(self, array: Array) -> Array:
        """An array, or if it has the same number for all elements of the draw, this number."""
        return array.reshape(-1)[:1] if self.draw.shape else array

    def ranges(self, of_draw: Ranges) -> list[Ranges]:
        """The ranges of the quantities, from the ranges of the draw."""
        ranges: dict[int, Ranges] = {id(self.draw): of_draw}
        for value in self.computed:
            ranges[id(value)] = _outward(self._ranges_of(value, ranges, len(of_draw.low)), value)
        return [ranges[id(value)] for value in self.values]

    def _ranges_of(self, value: Value, ranges: dict[int, Ranges], cells: int) -> Ranges:
        rule = value.function.ranges
        if rule is None or not self._has_rule(value):
            return _by_hulls(value, ranges, cells)
        below = [
            ranges[id(one)] if one.random else fixed(float(one.constant.flat[0]), cells)
            for one in value.inputs
        ]
        same = len(value.inputs) == 2 and value.inputs[0] is value.inputs[1]
        return rule(below, kernel_of(value), same)


def _by_hulls(value: Value, known: dict[int, Ranges], cells: int) -> Ranges:
    """The ranges by the function's bounds, cell by cell; they are nowhere known to be smooth."""
    hulls = []
    for cell in range(cells):
        below = []
        for one in value.inputs:
            ranges = known.get(id(one))
            below.append(
                hull_of_fixed(one)
                if ranges is None
                else Hull(float(ranges.low[cell]), float(ranges.high[cell]))
            )
        hulls.append(hull_of(value, below))
    low, high = np.array([one.low for one in hulls]), np.array([one.high for one in hulls])
    unknown = np.full((2, cells), np.inf)
    unknown[:, low == high] = 0.0
    return Ranges(low, high, unknown)


def _outward(ranges: Ranges, value: Value) -> Ranges:
    """The ranges widened by rounding, with infinity in place of NaN."""
    low, high, off = ranges.low, ranges.high, ranges.off
    if np.isnan(low + high).any() or np.isnan(off).any():
        low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
        off = np.where(np.isnan(off), np.inf, off)
    if value.function.truth:
        return Ranges(low, high, off)
    size = np.maximum(-low, high)
    give = np.where(size < np.inf, FUNCTION_ROUNDING * size, 0.0)
    return Ranges(low - give, high + give, off + give)


# ---- cell means ----------------------------------------------------------------------------------
#
# The part of each cell of a draw in the mean of a function of the draw, and its error.


Norm = Callable[[Value, float], float]
"""Takes a quantity and an order p; returns an upper bound of (E|quantity|^p)^(1/p), which is
infinite if none is known."""

# The sum of the half axes of the ellipse around a cell, in halves of its width: large enough that a
# polynomial of degree 35 is right to 1e-14, small enough that most functions are analytic there
# after a few cuts.
ELLIPSE = 2.5
# The largest distance of the ellipse from the cell, in halves of the cell's width.
ELLIPSE_REACH = (ELLIPSE - 1 / ELLIPSE) / 2
POLYNOMIAL_ERROR = 2 / ((ELLIPSE - 1) * ELLIPSE**FUNCTION_DEGREE)
# A cell with a smaller probability is not cut further, even if the function is unbounded on it.
LEAST_UNBOUNDED = 1e-60


@dataclass(frozen=True, slots=True)
class SingleDrawIntegrand:
    """The product of |φ - centre|^power over functions φ of one draw; with signs if `signed`."""

    steps: Steps
    powers: tuple[float, ...]
    centres: tuple[float, ...]
    signed: bool

    def evaluated(self, points: Floats) -> Floats:
        """Its values at these values of the draw."""
        return self._product(self.steps.evaluated(points))

    def listed(self, points: Floats) -> tuple[Floats, Floats]:
        """Its values at values of a discrete draw: in float64, and in exact arithmetic."""
        computed, paper = self.steps.listed(points)
        return self._product(computed), self._product(paper)

    def _product(self, factors: Sequence[Floats]) -> Floats:
        product = np.ones(1)
        for values, power, centre in zip(factors, self.powers, self.centres, strict=True):
            moved = values - centre if centre else values
            product = product * (moved if self.signed else np.abs(moved)) ** power
        return product

    def ranges(self, of_draw: Ranges) -> Ranges:
        """Its ranges, from the ranges of the draw."""
        cells = len(of_draw.low)
        product: Ranges | None = None
        for ranges, power, centre in zip(
            self.steps.ranges(of_draw), self.powers, self.centres, strict=True
        ):
            one = ranges
            if centre:
                one = subtract((ranges, fixed(centre, cells)), np.subtract, False)
                rounding = FUNCTION_ROUNDING * one.size
                one = Ranges(one.low, one.high, one.off + rounding)
            if power % 2 and not self.signed:
                one = absolute((one,), np.abs, False)
            one = whole_power(one, int(power)) if power % 1 == 0 else real_power(one, power)
            product = one if product is None else multiply((product, one), np.multiply, False)
        return fixed(1.0, cells) if product is None else product

    def norm(self, order: float, norm: Norm) -> float:
        """A bound of its norm of this order."""
        factors = zip(self.steps.values, self.powers, self.centres, strict=True)
        return norm_of_product(list(factors), order, norm)


def norm_of_product(
    factors: Sequence[tuple[Value, float, float]], order: float, norm: Norm
) -> float:
    """A bound of the norm of Π |x - c|^k over triples (x, k, c), by Hölder and Minkowski."""
    total = math.fsum(power for _, power, _ in factors)
    bound = 1.0
    for value, power, centre in factors:
        try:
            bound *= (norm(value, order * total) + abs(centre)) ** power
        except OverflowError:
            return math.inf
    return bound


@dataclass(frozen=True, slots=True)
class CellMeans:
    """The parts of cells in an expectation of g: values, and bounds of their errors.

    Smaller cells would reduce `errors`, but not the further error `floor`. `sizes` are estimates of
    the parts in the mean of |g|. `smooth` says where the Gauss rule is used.
    """

    low: Floats
    high: Floats
    values: Floats
    errors: Floats
    floor: Floats
    sizes: Floats
    smooth: Truths
    splittable: Truths
    chances: Floats

    @property
    def hopeless(self) -> bool:
        """Whether cutting is useless: no cell has a bound, or one that cannot be cut has none."""
        unbounded = np.isinf(self.errors)
        return bool((unbounded & self.stuck).any() or unbounded.all())

    @property
    def stuck(self) -> Truths:
        """Which cells are so narrow or unlikely that they are not cut for want of a bound."""
        return ~self.splittable | (self.chances < LEAST_UNBOUNDED)

    def ends(self, chosen: Truths) -> tuple[Floats, Floats]:
        """The ends of some cells."""
        return self.low[chosen], self.high[chosen]

    def taken(self, chosen: NDArray[np.bool_ | np.intp]) -> CellMeans:
        """The parts of some of the cells."""
        return CellMeans(**{name: getattr(self, name)[chosen] for name in _NAMES})

    def joined(self, other: CellMeans) -> CellMeans:
        """The cells of both."""
        return CellMeans(
            **{name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in _NAMES}
        )


def near_cells(low: Floats, high: Floats) -> Ranges:
    """The ranges of the draw itself on cells, and in the ellipses around them."""
    size = np.maximum(np.abs(low), np.abs(high))
    reach = ELLIPSE_REACH * (high / 2 - low / 2)
    return Ranges(low, high, np.stack([reach, FUNCTION_ROUNDING * size]))


def means_of(integrand: SingleDrawIntegrand, cells: Cells) -> CellMeans:
    """The part of each cell in the mean of an integrand."""
    ranges = integrand.ranges(near_cells(cells.low, cells.high))
    values = integrand.evaluated(cells.points.ravel()).reshape(cells.points.shape)

    # a positive value contributes least with the least probability, a negative one with the most
    lowest = ranges.low * np.where(ranges.low > 0, cells.least, cells.most)
    highest = ranges.high * np.where(ranges.high > 0, cells.most, cells.least)
    by_rule = (cells.weights * values).sum(axis=1)
    sizes = np.abs(cells.weights * values).sum(axis=1)
    clipped = np.clip(by_rule, lowest, highest)
    by_hull = np.maximum(highest - clipped, clipped - lowest)
    by_hull = np.where(np.isnan(by_hull), np.inf, by_hull)

    away = (ranges.high - ranges.low) / 2 + ranges.off[0]
    smooth_error = 2 * POLYNOMIAL_ERROR * away * cells.most + cells.stray * ranges.size
    smooth_floor = (
        ranges.off[1] * cells.most + cells.doubt * ranges.size + 16 * FUNCTION_ROUNDING * sizes
    )
    smooth_error = np.where(np.isnan(smooth_error), np.inf, smooth_error)
    smooth_floor = np.where(np.isnan(smooth_floor), np.inf, smooth_floor)
    smooth = smooth_error + smooth_floor < by_hull
    undefined = np.isnan(by_rule) & (cells.most > 0)
    values_of_cells = np.where(np.isfinite(clipped), clipped, 0.0)
    errors = np.where(smooth, smooth_error, by_hull)
    return CellMeans(
        low=cells.low,
        high=cells.high,
        values=values_of_cells,
        errors=np.where(undefined, np.inf, errors),
        floor=np.where(smooth, smooth_floor, 0.0),
        sizes=np.where(np.isfinite(sizes), sizes, 0.0),
        smooth=np.isfinite(smooth_error),
        splittable=can_be_split(cells.low, cells.high),
        chances=cells.most,
    )


_NAMES = tuple(field.name for field in fields(CellMeans))


# ---- single draw ---------------------------------------------------------------------------------


# Cutting ends when the error is this share of E|g|, or with this many cells or rounds.
TOLERANCE = 1e-10
MOST_CELLS = 4000
# fewer cells if a step has no rule for ranges, so that bounds are computed cell by cell
MOST_CELLS_BY_HULLS = 400
MOST_ROUNDS = 30
# The most values of a discrete law that are enumerated.
MOST_POINTS = 2**15
# The number of pieces of a cell on which the function is smooth, and of one where it may not be.
SMOOTH_PIECES, ROUGH_PIECES = 4, 16
# The most cuts to locate a kink, and the largest share of pieces that may then contain kinks.
MOST_CUTS, MOST_SHARE = 12, 0.3
# The relative error of the probability of a value.
CHANCE_ERROR = 1e-12
# A function of more steps counts as several integrals.
FEW_STEPS = 8
# The most integrals in one case, as each takes milliseconds.
MOST_INTEGRALS = 64
# Orders for Hölder's inequality in the tails.
TAIL_ORDERS = (8.0, 4.0, 2.0, 1.5, 1.25, 1.1, 1.02)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number that is at most `error` away from `value`; an infinite error means: not known."""

    value: float
    error: float


UNKNOWN = Estimate(math.nan, math.inf)

Found = dict[tuple[object, ...], Estimate]
"""Expectations, by the law, its arguments and the steps of the function."""


class KnownMeans:
    """Expectations over one draw, each computed once.

    The steps of a loop need the same expectations again and again: the same function of draws of
    one law has one expectation. At most `most` different integrals are computed, which take a few
    milliseconds each; one of many steps counts as several.

    Args:
        most: how many integrals are computed at most.
        found: expectations that are known already; new ones are added.
    """

    def __init__(self, most: int, found: Found | None = None) -> None:
        self._left = most
        self._found: Found = {} if found is None else found

    def mean(self, draw: Value, integrand: SingleDrawIntegrand, norm: Norm | None) -> Estimate:
        """The expectation of a function of a draw; unknown if too many were computed."""
        single = SingleDraw.of(draw)
        how = integrand.powers, integrand.centres, integrand.signed, norm is None
        key = (single.law, single.arguments, *integrand.steps.written, how)
        if key not in self._found:
            if self._left <= 0:
                return UNKNOWN
            self._left -= 1 + len(integrand.steps.computed) // FEW_STEPS
            self._found[key] = single.mean(integrand, norm)
        return self._found[key]


@dataclass(frozen=True, slots=True)
class SingleDraw:
    """A single drawn number whose law has fixed numbers as arguments."""

    law: Law
    arguments: tuple[Plain, ...]

    @classmethod
    def of(cls, draw: Value) -> SingleDraw:
        """From a result of `draw_below`."""
        origin = law_of(draw)
        assert origin.law is not None
        known = [argument.known for argument in origin.inputs]
        return cls(origin.law, tuple(one for one in known if one is not None))

    @property
    def points(self) -> tuple[Floats, Floats, float] | None:
        """As `Law.points`; None if there are too many."""
        if not self.law.discrete:
            return None
        return self.law.points(*self.arguments, at_most=MOST_POINTS)

    def mean(self, integrand: SingleDrawIntegrand, norm: Norm | None) -> Estimate:
        """The expectation of a function of the draw."""
        with np.errstate(all="ignore"):
            constant = self.law.constant(*self.arguments)
            if constant is not None:
                return _enumerated(integrand, np.array([constant]), np.ones(1))
            if self.law.discrete:
                return self._of_points(integrand, norm)
            return self._of_cells(integrand, norm)

    def _of_points(self, integrand: SingleDrawIntegrand, norm: Norm | None) -> Estimate:
        points = self.points
        if points is None:
            return UNKNOWN
        values, chances, rest = points
        listed = _enumerated(integrand, values, chances)
        tail = (*self.law.support(*self.arguments), rest)
        beyond = self._tail_error(integrand, norm, tail) if rest > 0 else 0.0
        return replace(listed, error=listed.error + beyond)

    def _of_cells(self, integrand: SingleDrawIntegrand, norm: Norm | None) -> Estimate:
        start = cut_law(self.law, self.arguments)
        if start is None:
            return UNKNOWN
        beyond = summed(self._tail_error(integrand, norm, tail) for tail in start.tails)
        means = self._at_poles(means_of(integrand, start.first), integrand, norm)
        most_cells = MOST_CELLS if integrand.steps.ruled else MOST_CELLS_BY_HULLS
        for _ in range(MOST_ROUNDS):
            if not math.isfinite(beyond) or means.hopeless:
                return UNKNOWN
            chosen = _worst(means, most_cells)
            if not chosen.any():
                break
            rough = chosen & ~means.smooth
            low, high = between(split(*means.ends(chosen & means.smooth), SMOOTH_PIECES))
            if rough.any():
                room = most_cells - len(means.values)
                ends = _located(integrand, means.taken(rough), _allowed(means) / 8, room)
                low, high = np.append(low, ends[0]), np.append(high, ends[1])
            finer = self._at_poles(means_of(integrand, start.cells(low, high)), integrand, norm)
            means = means.taken(~chosen).joined(finer)
        error = float(means.errors.sum() + means.floor.sum()) + beyond
        return Estimate(float(means.values.sum()), error) if math.isfinite(error) else UNKNOWN

    def _at_poles(
        self, means: CellMeans, integrand: SingleDrawIntegrand, norm: Norm | None
    ) -> CellMeans:
        """The parts of cells, with those of unlikely unbounded cells, as at a pole, set to 0.

        Their errors are bounded as those of tails.
        """
        for at in np.flatnonzero(np.isinf(means.errors) & means.stuck):
            tail = (float(means.low[at]), float(means.high[at]), float(means.chances[at]))
            means.values[at], means.errors[at] = 0.0, self._tail_error(integrand, norm, tail)
            if not math.isfinite(means.errors[at]):
                break
        return means

    def _tail_error(
        self, integrand: SingleDrawIntegrand, norm: Norm | None, tail: tuple[float, float, float]
    ) -> float:
        """A bound of E|g| 1_A for a tail A."""
        low, high, chance = tail
        unknown = np.array([[math.inf], [math.inf]])
        hull = integrand.ranges(Ranges(np.array([low]), np.array([high]), unknown))
        best = float(hull.size[0]) * chance
        best = math.inf if math.isnan(best) else best
        if norm is not None and best > 0:
            best = min(
                best,
                *(integrand.norm(order, norm) * chance ** (1 - 1 / order) for order in TAIL_ORDERS),
            )
        return best


def _located(
    integrand: SingleDrawIntegrand, cells: CellMeans, allowed: float, room: int
) -> tuple[Floats, Floats]:
    """The ends of smaller cells in place of some that are not smooth: narrow ones around kinks.

    Pieces that are not smooth are cut again until they no longer matter. The pieces between them
    are joined again, as the function is smooth between two kinks.
    """
    cells = cells.taken(np.argsort(cells.low))
    low, high = cells.low, cells.high
    density = cells.chances / (high - low)
    edges = [low, high]
    count = 0
    for _ in range(MOST_CUTS):
        pieces = split(low, high, ROUGH_PIECES)
        first, last = pieces[:, :-1], pieces[:, 1:]
        ranges = integrand.ranges(near_cells(first.ravel(), last.ravel()))
        rough = np.isinf(ranges.off[0]).reshape(first.shape) & (first < last)
        # if no piece is rough, or many are, no kink has been located
        share = rough.mean(axis=1)
        plain = (share == 0) | (share > MOST_SHARE)
        edges.append(pieces[plain].ravel())
        rough &= ~plain[:, None]
        edges += [first[rough], last[rough]]
        matter = (ranges.high - ranges.low).reshape(first.shape) * (last - first) * density[:, None]
        going_on = rough & ~(matter <= allowed) & can_be_split(first, last)
        density = np.broadcast_to(density[:, None], first.shape)[going_on]
        low, high = first[going_on], last[going_on]
        count += pieces[plain].size + 2 * np.count_nonzero(rough)
        if not low.size or count + low.size > room:
            break
    ends = np.unique(np.concatenate(edges))
    low, high = ends[:-1], ends[1:]
    whole = np.maximum(np.searchsorted(cells.low, low, side="right") - 1, 0)
    inside = (low >= cells.low[whole]) & (high <= cells.high[whole])
    return low[inside], high[inside]


def _allowed(means: CellMeans) -> float:
    """The sum of errors that is small enough."""
    return TOLERANCE * float(means.sizes.sum())


def _worst(means: CellMeans, most_cells: int) -> Truths:
    """The cells to be cut: without their errors the sum would be small; none if it is small now."""
    room = most_cells - len(means.values)
    allowed = _allowed(means)
    chosen = np.zeros(len(means.values), dtype=bool)
    can = means.splittable & (means.errors > 0.01 * means.floor)
    if room < ROUGH_PIECES or float(means.errors.sum()) <= allowed:
        return chosen
    errors = np.where(can, means.errors, 0.0)
    order = np.argsort(-errors, kind="stable")
    ordered = errors[order]
    left = np.cumsum(ordered[::-1])[::-1]  # the error if all cells before had none
    needed = (left > allowed / 4) & (ordered > 0)
    cost = np.cumsum(np.where(means.smooth[order], SMOOTH_PIECES, ROUGH_PIECES) - 1)
    chosen[order] = needed & (cost <= room)
    return chosen


def _enumerated(integrand: SingleDrawIntegrand, values: Floats, chances: Floats) -> Estimate:
    """The expectation of a function of a draw with few values.

    If rounding decides at a value, the result is the middle of float64 and exact arithmetic.
    """
    computed, paper = integrand.listed(values)
    zero = np.zeros(len(values))
    rounding = integrand.ranges(Ranges(values, values, np.stack([zero, zero]))).off[1]
    rounding = np.where(np.isfinite(rounding), rounding, 1e-12 * np.abs(computed))
    possible = chances > 0
    error = np.where(possible, chances * (rounding + np.abs(paper - computed) / 2), 0.0)
    terms = np.where(possible, chances * (computed + paper) / 2, 0.0)
    size, rounded = float(np.abs(terms).sum()), float(error.sum())
    if not math.isfinite(size + rounded):
        return UNKNOWN
    return Estimate(summed(terms), (rounded + CHANCE_ERROR * size) * (1 + 1e-9))


def joint_moment(
    functions: Sequence[Value],
    powers: Sequence[int],
    centres: Sequence[float],
    norm: Norm | None = None,
    means: KnownMeans | None = None,
) -> Estimate:
    """E Π (φ_k(x) - c_k)^(p_k) of functions φ_k of one draw x, with a bound of the error.

    Args:
        functions: quantities with the same draw below them, see `draw_below`.
        powers: whole exponents from 0 on.
        centres: the numbers that are subtracted from the functions.
        norm: gives bounds of norms, which the tails of unbounded functions need.
        means: the cache, if many expectations are needed.
    """
    draw = draw_below(functions[0])
    if draw is None or any(draw_below(one) is not draw for one in functions):
        return UNKNOWN
    kept = [at for at, power in enumerate(powers) if power]
    integrand = SingleDrawIntegrand(
        Steps.to([functions[at] for at in kept], draw),
        tuple(float(powers[at]) for at in kept),
        tuple(centres[at] for at in kept),
        True,
    )
    return (means or KnownMeans(1)).mean(draw, integrand, norm)


def expectation(
    value: Value, norm: Norm | None = None, means: KnownMeans | None = None
) -> Estimate:
    """E φ(x) of a function of one draw, with a bound of the error."""
    return joint_moment([value], [1], [0.0], norm, means)


def norm_of(
    value: Value,
    p: float,
    norm: Norm | None = None,
    centre: float = 0.0,
    means: KnownMeans | None = None,
) -> float:
    """An upper bound of (E|φ(x) - centre|^p)^(1/p) for a function of one draw and p >= 1."""
    draw = draw_below(value)
    if draw is None or not 1 <= p < math.inf:
        return math.inf
    integrand = SingleDrawIntegrand(Steps.to([value], draw), (float(p),), (centre,), False)
    found = (means or KnownMeans(1)).mean(draw, integrand, norm)
    most = found.value + found.error
    return math.inf if math.isnan(most) else max(most, 0.0) ** (1 / p)


class Integrals:
    """The integrals of a case.

    Args:
        norm: gives bounds of norms by other means, for the tails.
        found: integrals that are known already.
    """

    def __init__(self, norm: Norm, found: Found | None = None) -> None:
        self._norm = norm
        self._means = KnownMeans(MOST_INTEGRALS, found)

    def norm(self, value: Value, p: float, centre: float = 0.0) -> float:
        """A bound of (E|x - centre|^p)^(1/p) for a function of one draw; infinite if unknown."""
        return norm_of(value, p, self._norm, centre, self._means) * (1 + OUTWARD)

    def spread(self, value: Value, p: float) -> float:
        """A bound of (E|x - E x|^p)^(1/p) for a function of one draw; infinite if unknown."""
        mean = expectation(value, self._norm, self._means)
        if not math.isfinite(mean.error):
            return math.inf
        return self.norm(value, p, mean.value) + mean.error
