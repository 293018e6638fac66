"""The steps from one drawn number to the quantities that are functions of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dropcheck.analysis.bounds import hull_of, hull_of_fixed
from dropcheck.analysis.on_paper import EXACT, Rounded, near_jumps, value_on_paper
from dropcheck.array_types import Floats
from dropcheck.language.graph import Kind, Value, in_order, kernel_of, number, random_inputs
from dropcheck.records import record
from dropcheck.vocabulary.function import Array, KernelError
from dropcheck.vocabulary.functions.elementwise import DIVIDE, MULTIPLY
from dropcheck.vocabulary.hulls import Hull
from dropcheck.vocabulary.smoothness.ranges import Ranges, fixed

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


@record
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
