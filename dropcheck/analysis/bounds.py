"""Bounds without a walk: of sums and quotients, and by the laws of draws."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, TypeVar

import numpy as np

from dropcheck.known.cells import cut_law
from dropcheck.language.graph import (
    Kind,
    Sources,
    Value,
    joined_sources,
    ordered,
    sum_of,
    thawed,
)
from dropcheck.vocabulary.domains import EVERYWHERE, Hull
from dropcheck.vocabulary.function import EVERY_AXIS
from dropcheck.vocabulary.functions.arrays import SUBSCRIPT
from dropcheck.vocabulary.functions.elementwise import (
    ADD,
    MULTIPLY,
    POWER,
    SQRT,
    SUBTRACT,
)
from dropcheck.vocabulary.functions.linear_algebra import DOT, MATMUL
from dropcheck.vocabulary.functions.reductions import MEAN, NORM, STD, SUM, VAR
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.shapes import normalise_axes

LOGARITHMS = {"log": 1.0, "log2": 1 / math.log(2.0), "log10": 1 / math.log(10.0)}
"""The factors of the natural logarithm."""
OUTWARD = 1e-12
"""Bounds are moved outward by this share, more than rounding in their arithmetic changes them."""

# ---- sums ----------------------------------------------------------------------------------------


def summed(numbers: Iterable[float]) -> float:
    """The sum, rounded once; infinite or NaN where math.fsum raises an error."""
    numbers = list(numbers)
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):
        return sum(numbers)


# ---- shares --------------------------------------------------------------------------------------
#
# Bounds of quotients whose two sides are unbounded: x / (x + y), x / norm(x), a standard score.
#
# In every draw, the denominator is at least a share of the numerator's size:
#
# * a / (a + b) lies in [0, 1] where a and b are not negative; so does an element's share of a sum;
# * |x_i| <= ||x||_p; and |x · y| <= ||x||_2 ||y||_2 (Cauchy and Schwarz);
# * |x_i - mean| <= sqrt((n - 1) / n) ||x - mean|| (Samuelson 1968, "How deviant can you be?").


MOST_STEPS = 16  # the most steps and terms of an expression that are looked through on either side
QUOTIENT_ROUNDING = 1e-12  # the share by which rounding may put a quotient beyond its bound

Lowest = Callable[[Value], float]
"""Takes a quantity, and returns a lower bound of its values."""


@dataclass(frozen=True, slots=True)
class Length:
    """The norm of an array along `axes`; if `centred`, of the array minus its mean."""

    array: Value
    axes: tuple[int, ...]
    keepdims: bool
    centred: bool = False

    @classmethod
    def of(cls, value: Value, array: Value, centred: bool = False) -> Length:
        """The length of an array that a reduction of it is made of."""
        options = dict(value.options)
        axes = normalise_axes(options.get("axis"), array.shape)
        return cls(array, axes, bool(options.get("keepdims", 0.0)), centred)

    @property
    def whole(self) -> bool:
        """Whether it is the norm of all elements of a draw."""
        return len(self.axes) == len(self.array.shape)

    @property
    def count(self) -> int:
        """The number of elements along the axes."""
        return math.prod(self.array.shape[axis] for axis in self.axes)

    def is_of(self, value: Value) -> bool:
        """Whether it is the length of this value: of an array, or of its distance from its mean."""
        if not self.centred:
            return value is self.array
        if not (value.computed_by(SUBTRACT) and value.inputs[0] is self.array):
            return False
        mean = value.inputs[1]
        if not (mean.computed_by(MEAN) and mean.inputs[0] is self.array):
            return False
        other = Length.of(mean, self.array)
        return other.axes == self.axes and (self.whole or other.keepdims)

    def bound(self, value: Value) -> float | None:
        """A bound of the value where the length is 1; None if it is no element of the array."""
        for _ in range(MOST_STEPS):
            if self.is_of(value) and (self.whole or self.keepdims):
                return math.sqrt((self.count - 1) / self.count) if self.centred else 1.0
            if not self.whole or value.kind != Kind.COMPUTED or not value.function.rearranges:
                return None
            value = value.inputs[0]
        return None


def quotient_hull(value: Value, lowest: Lowest) -> Hull:
    """The hull of a quotient, from what its two sides have in common."""
    top, bottom = value.inputs
    if not (top.random and bottom.random):
        return EVERYWHERE
    give = 1 + QUOTIENT_ROUNDING
    if _is_share(top, bottom, lowest):
        return Hull(0.0, give)
    (top, above), (bottom, below) = _without_factor(top), _largest_term(bottom, lowest)
    bound: float | None = None
    if bottom.computed_by(MULTIPLY) and top.computed_by(MATMUL, DOT):
        lengths = [_length(one, lowest) for one in bottom.inputs]
        if _is_inner(top, [one and one[1] for one in lengths]):
            bound = 1 / math.prod(one[0] for one in lengths if one)
    else:
        length = _length(bottom, lowest)
        element = None if length is None else length[1].bound(top)
        bound = None if length is None or element is None else element / length[0]
    if bound is None or not below > 0:
        return EVERYWHERE
    most = abs(above) * bound / below * give
    return Hull(-most, most) if math.isfinite(most) else EVERYWHERE


def _is_share(top: Value, bottom: Value, lowest: Lowest) -> bool:
    """Whether top is one of the terms of bottom, and no term is negative."""
    if bottom.computed_by(SUM):
        terms = Length.of(bottom, bottom.inputs[0])
        return terms.bound(top) is not None and lowest(terms.array) >= 0
    others: list[Value] = []
    stack = [bottom]
    while stack and len(others) <= MOST_STEPS:
        one = stack.pop()
        if one.computed_by(ADD):
            stack += one.inputs
        else:
            others.append(one)
    inside = top in others and top.shape == bottom.shape and not stack
    return inside and all(lowest(one) >= 0 for one in others)


def _is_inner(product: Value, lengths: Sequence[Length | None]) -> bool:
    """Whether a product is that of two vectors with these lengths."""
    one, other = product.inputs
    vectors = one.shape == other.shape and len(one.shape) == 1
    return vectors and any(
        all(
            length is not None and length.is_of(of)
            for length, of in zip(lengths, pair, strict=True)
        )
        for pair in ((one, other), (other, one))
    )


def _length(value: Value, lowest: Lowest) -> tuple[float, Length] | None:
    """A factor above 0 and a length, whose product a quantity is at least as large as."""
    value, factor = _largest_term(value, lowest)
    if not factor > 0:
        return None
    if value.computed_by(NORM):  # of orders up to 2, which are no smaller than that of order 2
        long = 1 <= float(dict(value.options).get("ord", 2.0)) <= 2
        return (factor, Length.of(value, value.inputs[0])) if long else None
    root = value.computed_by(SQRT) or (value.computed_by(POWER) and value.inputs[1].known == 0.5)
    if not (root or value.computed_by(STD)):
        return None
    squares = _squares(value.inputs[0] if root else value, lowest)
    return squares and (factor * math.sqrt(squares[0]), squares[1])


def _squares(value: Value, lowest: Lowest) -> tuple[float, Length] | None:
    """The same with the square of the length; of a deviation, for the square of the quantity."""
    value, factor = _largest_term(value, lowest)
    if not factor > 0 or value.kind != Kind.COMPUTED:
        return None
    function, (array, *_), share = value.function, value.inputs, 1.0
    if function in (STD, VAR):
        length = Length.of(value, array, centred=True)
        share = length.count - float(dict(value.options).get("ddof", 0.0))
    elif function in (SUM, MEAN) and array.computed_by(MULTIPLY, POWER):
        array, again = array.inputs
        if not (again is array or (value.inputs[0].function is POWER and again.known == 2)):
            return None
        length = Length.of(value, array)
        share = length.count if function is MEAN else 1.0
    elif function in (MATMUL, DOT) and value.inputs[1] is array and len(array.shape) == 1:
        length = Length(array, (0,), keepdims=False)
    else:
        return None
    return (factor / share, length) if share > 0 else None


def _largest_term(value: Value, lowest: Lowest) -> tuple[Value, float]:
    """A quantity and a factor above 0 whose product is at most a sum; the factor is 0 if unknown.

    Terms that are not negative are left out.
    """
    scale = 1.0
    for _ in range(MOST_STEPS):
        value, factor = _without_factor(value)
        scale *= factor
        if not value.computed_by(ADD):
            break
        for one, other in (value.inputs, value.inputs[::-1]):
            if scale > 0 and one.random and one.shape == value.shape and lowest(other) >= 0:
                value = one
                break
        else:
            return value, 0.0
    return value, scale


def _without_factor(value: Value) -> tuple[Value, float]:
    """A quantity without its fixed factors and divisors, and the product of these."""
    factor = 1.0
    for _ in range(MOST_STEPS):
        parts, shift = sum_of(value)
        if len(parts) != 1 or shift:
            break
        ((own, value),) = parts
        factor *= own
    return value, factor


# ---- lines of one draw ---------------------------------------------------------------------------
#
# A line a·x + b of a single draw x has the law of x, moved and scaled.


# If 0 is nearer to an end of the support than this, rounding may decide on which side it lies.
_ROUNDING = 1e-9
# An error of a mean that is a smaller share of the spread counts as rounding.
_MEAN_ROUNDING = 1e-12

_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class AffineDraw:
    """The line factor · draw + shift of a draw with fixed arguments; the factor is not 0.

    `largest` is the largest shift in the computation, in the unit of the draw: rounding errors are
    relative to it.
    """

    law: Law
    arguments: tuple[float, ...]
    factor: float = 1.0
    shift: float = 0.0
    largest: float = 0.0


def line_of(value: Value, below: list[AffineDraw | None]) -> AffineDraw | None:
    """A random quantity as a line of one draw, from its inputs as lines; None if it is none."""
    if value.kind == Kind.DRAW:
        known = tuple(argument.known for argument in value.inputs)
        numbers = tuple(one for one in known if isinstance(one, float))
        if value.law is None or len(numbers) < len(known):
            return None
        return AffineDraw(law=value.law, arguments=numbers)
    if value.function.rearranges:  # elements of an array of draws have one law
        return below[0]
    parts, shift = sum_of(value)
    lines = {id(one): line for one, line in zip(value.inputs, below, strict=True)}
    return _moved(lines.get(id(parts[0][1])), parts[0][0], shift) if len(parts) == 1 else None


def _moved(line: AffineDraw | None, factor: float, shift: float) -> AffineDraw | None:
    if line is None:
        return None
    stretched, moved = line.factor * factor, line.shift * factor + shift
    if not (stretched and math.isfinite(stretched) and math.isfinite(moved)):
        return None
    largest = max(line.largest, abs(shift / stretched), abs(moved / stretched))
    return replace(line, factor=stretched, shift=moved, largest=largest)


# ---- bounds by a law -----------------------------------------------------------------------------


def fixed_arguments(value: Value) -> list[Any] | None:
    """The arguments of a draw as numbers and arrays without an axis of draws; None if not fixed."""
    if any(one.constant is None for one in value.inputs):
        return None
    arrays = (np.asarray(one.constant, dtype=np.float64)[..., 0] for one in value.inputs)
    return [float(one) if one.ndim == 0 else one for one in arrays]


def by_law(value: Value, bound: Callable[..., Any], order: float) -> float:
    """A bound of a draw with fixed arguments, by a method of its law; of its elements the largest.

    It is infinite if none is known.
    """
    known = fixed_arguments(value)
    if value.law is None or known is None:
        return math.inf
    array = np.asarray(bound(value.law, order, *known), dtype=np.float64)
    return math.inf if not array.size or np.isnan(array).any() else float(array.max())


def draw_mean(value: Value) -> Hull:
    """Where the means of all elements of a draw with fixed arguments lie."""
    law, known = value.law, fixed_arguments(value)
    if law is None or known is None:
        return EVERYWHERE
    means, errors = law.moment(1, *known)
    if not np.size(means) or np.isnan(means).any():
        return EVERYWHERE
    errors = np.where(errors <= _MEAN_ROUNDING * law.spread(1.0, *known), 0.0, errors)
    return Hull(float(np.min(means - errors)), float(np.max(means + errors)))


# ---- independence --------------------------------------------------------------------------------


def is_apart(value: Value, below: Sequence[bool]) -> bool:
    """Whether the elements of a random value are independent of one another, within one draw.

    So are those of an array of draws, and what is computed from such arrays element by element, or
    from other elements for each element.

    `below` says whether that is so of its inputs.
    """
    drawn = [(one, own) for one, own in zip(value.inputs, below, strict=True) if one.random]
    law = value.law
    if value.kind == Kind.DRAW:
        single = law is not None and value.name is not None and law.own_axes is None
        if not single or (drawn and law is not None and law.of_lists):
            return False
    elif not value.function.by_element:
        reduced = EVERY_AXIS in value.function.parameters and len(drawn) == 1
        levels = np.ndim(dict(value.options).get("u", 0.0))
        return reduced and drawn[0][1] and not levels and len(value.shape) < len(drawn[0][0].shape)
    return all(own and one.shape == value.shape for one, own in drawn)


def drawn_apart(roots: Mapping[int, Value]) -> dict[int, Value]:
    """The same values, where a draw of which only single parts are used is a draw for each part.

    So a loop that takes `z[t]` in each step is known as one that draws z in each step.
    """
    walked = ordered(roots.values())
    places: defaultdict[int, set[tuple[int, ...]]] = defaultdict(set)  # () stands for all of it
    for value in walked:
        for below in value.inputs:
            places[id(below)].add(_place(value))
    for root in roots.values():
        places[id(root)].add(())
    made: dict[int, Value] = {}
    parts: dict[tuple[int, tuple[int, ...]], Value] = {}  # v[1] and v[-1] may be one draw
    for value in walked:
        inputs = [made.get(id(one), one) for one in value.inputs]
        place = _place(value)
        if place and {*map(len, places[id(value.inputs[0])])} == {len(place)}:
            (draw,), name = inputs, f"{inputs[0].name}{[*place]}"
            sources = Sources([name]) | joined_sources(draw.inputs)
            part = replace(draw, shape=value.shape, name=name, sources=sources)
            made[id(value)] = parts.setdefault((id(value.inputs[0]), place), part)
        elif inputs != [*value.inputs]:
            made[id(value)] = replace(value, inputs=(*inputs,), sources=joined_sources(inputs))
    return {register: made.get(id(value), value) for register, value in roots.items()}


def _place(value: Value) -> tuple[int, ...]:
    """The place of a part `z[i, j]` along the first axes of a draw of alike parts; else ()."""
    draw = value.inputs[0] if value.computed_by(SUBSCRIPT) else None
    law = None if draw is None or draw.name is None else draw.law
    if draw is None or law is None or law.own_axes is not None:
        return ()
    index = thawed(dict(value.options)["index"])
    first = [*takewhile(lambda one: isinstance(one, int), index)]
    ranks = [parameter.axes for parameter in law.parameters]
    alike = [len(one.shape) for one in draw.inputs] == ranks
    if not alike or any(one != slice(None) for one in index[len(first) :]):
        return ()
    return tuple(at % length for at, length in zip(first, draw.shape, strict=False))


def grouped(parts: Sequence[_Part], sources: Callable[[_Part], Sources]) -> list[list[_Part]]:
    """The parts in groups that share no draw."""
    groups: list[tuple[Sources, list[_Part]]] = []
    for part in parts:
        joined, members = sources(part), [part]
        apart: list[tuple[Sources, list[_Part]]] = []
        for group in groups:
            if group[0].isdisjoint(joined):
                apart.append(group)
            else:
                joined, members = joined | group[0], [*group[1], *members]
        groups = [*apart, (joined, members)]
    return [members for _, members in groups]


def disjoint(sources: Sequence[Sources]) -> bool:
    """Whether at most two quantities share no draw; False for more quantities."""
    return len(sources) < 2 or (len(sources) == 2 and sources[0].isdisjoint(sources[1]))


# ---- negative moments ----------------------------------------------------------------------------


# How many chances are looked at for each factor of 2, and down to which powers of it: further where
# much is left out.
_FINENESS, _OCTAVES, _MUCH = 4, (40, 990), 0.01
# A distance from a number that is a smaller share of it has lost half of its digits.
_DIGITS = 1e-8
# The largest power of 1 / p with which d^-r may grow, and by how much that may change.
_MOST_GROWTH, _STEADY = 0.98, 0.01
_FEWEST = 16  # the fewest chances


def inverse_of_line(line: AffineDraw, r: float) -> float:
    """A bound of (E|x|^-r)^(1/r) of a line x of one draw, for r > 0; infinite if none is known.

    On either side of the place where x is 0, let the draw be nearer than d(p) with the chance p. As
    d rises, ∫ d(p)^-r dp is at most a sum over cells of p, with d at the lower end of each. Where d
    has lost its digits the parts are continued as they fall, and twice that is used.
    """
    law, zero = line.law, -line.shift / line.factor
    low, high = law.support(*line.arguments)
    rounding = _ROUNDING * max(abs(zero), line.largest)
    beside = any(end != zero and abs(zero - end) <= rounding for end in (low, high))
    if law.discrete or beside or low == high or not low <= zero <= high:
        return math.inf
    if r >= 1 and low < zero < high:
        return math.inf
    with np.errstate(all="ignore"):
        chances = [float(one(zero, *line.arguments)) for one in (law.cdf, law.survival)]
        sides = zip(chances, (-1.0, 1.0), strict=True)
        total = math.fsum(_on_side(line, zero, chances, r, *side) for side in sides if side[0])
        bound = (total * (1 + _ROUNDING)) ** (1 / r) / abs(line.factor)
    return bound if math.isfinite(bound) and total > 0 else math.inf


def inverse_of_sums(line: AffineDraw | None, r: float, n: int = 1) -> float:
    """A bound of (E‖x + y‖^-r)^(1/r) of n independent lines x of one draw, for any y apart from x.

    Given y, E‖x + y‖^-r is largest for the law of x that is uniform in a ball around -y, with the
    highest density h^n of x: it is at most n / (n - r) (h V^(1/n))^r for r < n, with V the volume
    of the unit ball, and infinite else. Beyond the outermost cells the density of a law falls.

    >>> from dropcheck.vocabulary.laws import LAWS
    >>> normal = AffineDraw(law=LAWS["normal"], arguments=(0.0, 1.0))
    >>> alone = math.gamma(0.25) ** 2 / math.sqrt(2) / math.pi
    >>> alone < inverse_of_sums(normal, 0.5) < 1.1 * alone, inverse_of_sums(normal, 1.0)
    (True, inf)
    >>> 0.5 < inverse_of_sums(normal, 2.0, n=4) ** 2 < 0.5 * 1.5  # 1 / chi_square(4)
    True
    """
    if line is None or line.law.discrete or not r < n:
        return math.inf
    varies = line.law.constant(*line.arguments) is None
    cut = cut_law(line.law, line.arguments) if varies else None
    if cut is None:
        return math.inf
    height = float(cut.first.density.high.max()) / abs(line.factor)
    ball = math.log(math.pi) / 2 - math.lgamma(n / 2 + 1) / n  # log V^(1/n)
    return height * math.exp(ball - math.log1p(-r / n) / r) * (1 + _ROUNDING)


def _on_side(
    line: AffineDraw, zero: float, chances: Sequence[float], r: float, chance: float, side: float
) -> float:
    """A bound of ∫ d(p)^-r dp on the side of higher draws if it is 1, of lower ones if -1."""
    law, arguments = line.law, line.arguments
    # what is computed from a loc, or from the other end, has no more digits than these
    line_of_law = law.as_line(*arguments)
    ends = [0.0 if line_of_law is None else line_of_law[0], *law.support(*arguments)]
    size = max(abs(one) for one in (zero, *ends) if math.isfinite(one))
    total = left = math.inf
    for octaves in _OCTAVES:
        p = chance * np.exp2(-np.arange(_FINENESS * octaves) / _FINENESS)
        below, above = chances[0] + side * p, chances[1] - side * p
        lower, places = below < 0.5, np.zeros(len(p))
        places[lower] = law.quantile(np.maximum(below[lower], 0.0), *arguments)
        places[~lower] = law.upper_quantile(np.maximum(above[~lower], 0.0), *arguments)
        distances = np.abs(places - zero)
        known = (distances > max(_DIGITS * size, 1e-280)) & (p > _DIGITS * min(chances))
        last = len(p) if known.all() else int(np.argmin(known))
        if last < _FEWEST:
            return math.inf
        sizes, p = distances[:last] ** -r, p[:last]
        growth = -np.diff(np.log(sizes[-3:])) / np.diff(np.log(p[-3:]))
        falls = growth[1] <= min(_MOST_GROWTH, growth[0] + _STEADY)
        total = float((-np.diff(p) * sizes[1:]).sum())
        left = 2 * float(p[-1] * sizes[-1]) / (1 - float(growth[1])) if falls else math.inf
        if left <= _MUCH * total or not known.all():
            break
    return total + left
