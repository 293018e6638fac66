"""Replace independent draws by one or two numbers, if only their sum or sum of squares is used.

If only the sum of independent draws is used, and it has a known law (`laws/laws_of_sums`), the sum
is drawn. For n normal draws x, Σx and Σ(x - mean)² are independent, and the second is sd² times a
chi-square variable with n - 1 degrees of freedom (Cochran 1934; Basu 1955, "On statistics
independent of a complete sufficient statistic"). If only these two are used, they are drawn:
Σ(a x + b)² is n mean(a x + b)² + a² Σ(x - mean)². If only Σ(a x)² is used and the means are 0, one
number with n degrees of freedom is enough; with means mu_i, Σx² is (√Σmu² + sd g)² plus the second
number. All this also holds given random arguments of the draws.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dropcheck.analysis.support import may_be_undefined, support
from dropcheck.language.graph import (
    Kind,
    Sources,
    Value,
    computed,
    constant_beside,
    in_order,
    joined_sources,
    kernel_of,
)
from dropcheck.vocabulary.function import Array, axes_of
from dropcheck.vocabulary.functions.elementwise import (
    ADD,
    DIVIDE,
    MULTIPLY,
    NEGATIVE,
    POWER,
    SQRT,
    SUBTRACT,
)
from dropcheck.vocabulary.functions.linear_algebra import DOT, MATMUL
from dropcheck.vocabulary.functions.reductions import MEAN, NORM, STD, SUM, VAR
from dropcheck.vocabulary.law import Domain, Law, argument_problem
from dropcheck.vocabulary.laws.continuous import CHI_SQUARE, NORMAL
from dropcheck.vocabulary.laws.derived import SUMS, can_be_ranked, ranked
from dropcheck.vocabulary.shapes import Shape

# ---- exchanges -----------------------------------------------------------------------------------
#
# Replace values of a graph by others.


def varying(operands: Sequence[Value]) -> list[Value]:
    """All values below some operands, with inputs first; inputs of fixed values are left out."""
    return in_order(operands, lambda value: value.inputs if value.random or value.estimated else ())


def takers_of(values: Sequence[Value], operands: Sequence[Value]) -> Counter[int]:
    """How often each value is used, by its id."""
    takers = Counter(map(id, operands))
    for value in values:
        takers.update(map(id, value.inputs))
    return takers


def made_of(value: Value, inputs: tuple[Value, ...]) -> Value:
    """A value with other inputs, and the sources of these; an operator keeps its sources."""
    if all(one is other for one, other in zip(inputs, value.inputs, strict=False)):
        return value
    sources = value.sources
    if value.kind == Kind.COMPUTED:
        sources = joined_sources(inputs)
    elif value.kind == Kind.DRAW:
        sources = own_names(value) | joined_sources(inputs)
    return dataclasses.replace(value, inputs=inputs, sources=sources)


def own_names(draw: Value) -> Sources:
    """The names among the sources of a draw that do not come from its arguments."""
    given = joined_sources(draw.inputs)
    return Sources(name for name in draw.sources if name not in given)


def exchanged(
    values: Sequence[Value],
    stands: Mapping[int, Value],
    made: Callable[[Value, tuple[Value, ...]], Value] = made_of,
) -> Callable[[Value], Value]:
    """A function from each of some values to the value that replaces it.

    Args:
        values: the values, with inputs first.
        stands: replacements for a few values, by their ids. Values made of these are made again.
        made: makes a value with other inputs.
    """
    replaced: dict[int, Value] = {}

    def new_below(value: Value) -> Sequence[Value]:
        return () if id(value) in replaced else value.inputs

    for value in values:
        stand = stands.get(id(value), value)
        for one in [value] if stand is value else in_order([stand], new_below):
            if id(one) not in replaced:
                replaced[id(one)] = made(one, tuple(replaced.get(id(v), v) for v in one.inputs))
        replaced[id(value)] = replaced[id(stand)]
    return lambda value: replaced.get(id(value), value)


# ---- sums of draws -------------------------------------------------------------------------------


FAR_OFF = 100.0
"""With a mean that is more standard deviations from 0, draws are not replaced: squares of the mean
would lose the digits of the squared deviations."""
_REDUCTIONS = (SUM, MEAN, VAR, STD, NORM, MATMUL, DOT)
_SCALED, _MOVED = (MULTIPLY, DIVIDE, NEGATIVE), (ADD, SUBTRACT)


@dataclass(slots=True, eq=False)
class _Sample:
    """An array of draws, and how it is used."""

    draw: Value
    # the axes of each sum; draws can be replaced only if all sums have the same axes
    over: set[tuple[int, ...]] = field(default_factory=set)
    lines: list[Value] = field(default_factory=list)  # linear functions a x + b of the draws
    beside: list[Value] = field(default_factory=list)  # the a and b of these
    plain: bool = True  # whether only Σ(a x)² is used

    def has_other_use(self) -> None:
        """Note a use that is no sum, so that the draws are not replaced."""
        self.over.update([(), (0,)])

    @property
    def axes(self) -> tuple[int, ...]:
        (axes,) = self.over
        return axes

    @property
    def count(self) -> int:
        return math.prod(self.draw.shape[at] for at in self.axes)

    @property
    def shape(self) -> Shape:
        return tuple(size for at, size in enumerate(self.draw.shape) if at not in self.axes)

    def level(self, value: Value) -> Value | None:
        """A value without these axes, if it is the same along them; None if it varies."""
        own = [at + len(value.shape) - len(self.draw.shape) for at in self.axes]
        own = [at for at in own if at >= 0]
        array, shape = value.constant, tuple(np.delete(value.shape, own).tolist())
        if not own:
            return value
        if array is not None:
            first = array[tuple(slice(1 if at in own else None) for at in range(array.ndim))]
            if not (first == array).all():
                return None
            return constant_beside(value, first.squeeze(tuple(own)))
        if not value.random or any(value.shape[at] != 1 for at in own):
            return None
        found = computed(SUM, value, like=value, shape=shape)
        return dataclasses.replace(found, options=(("axis", tuple(own)),))


def with_sums(
    values: Sequence[Value], operands: Sequence[Value]
) -> Callable[[Value], Value] | None:
    """Replacements with sums drawn in place of the draws; None if there are no such draws."""
    if not any(one.law in SUMS and one.shape for one in values):
        return None
    sums = _Sums(values, operands)
    return sums.all_of(values) if sums.samples else None


class _Sums:
    """The arrays of draws of a graph, and the values that replace their sums."""

    def __init__(self, values: Sequence[Value], operands: Sequence[Value]) -> None:
        self._of: dict[int, _Sample] = {}  # by the ids of draws, lines of draws, and their squares
        self._squares: set[int] = set()
        self._centred: set[int] = set()  # lines minus their own mean
        for value in values:
            below = [one for one in value.inputs if id(one) in self._of]
            if below and not self._is_known(value, below[0]):
                for one in below:
                    self._of[id(one)].has_other_use()
            if value.kind == Kind.DRAW and value.law in SUMS and value.shape:
                self._of[id(value)] = _Sample(value)
        for value in operands:
            if id(value) in self._of:
                self._of[id(value)].has_other_use()
        samples = {id(one): one for one in self._of.values()}
        self.samples = {key for key, one in samples.items() if _holds(one)}
        self._stands: dict[int, Value] = {}
        self._parts: dict[int, tuple[Value | None, Value]] = {}  # sums, and squares of deviations

    def _is_known(self, value: Value, one: Value) -> bool:
        """Whether a value uses a line of draws, or its square, in one of the ways above."""
        if value.kind != Kind.COMPUTED:
            return False
        if value.function in _REDUCTIONS:
            return self._is_sum(value, one)
        sample, others = self._of[id(one)], [other for other in value.inputs if other is not one]
        if value.shape != sample.draw.shape or any(id(other) in self._of for other in others):
            return False
        self._of[id(value)] = sample
        by_itself = value.function is MULTIPLY and not others
        if by_itself or (value.function is POWER and value.inputs[1].known == 2.0):
            self._squares.add(id(value))
            return value.inputs[0] is one and self._has_known_squares(one)
        return id(one) not in self._squares and self._is_line(value, one, others)

    def _is_sum(self, value: Value, one: Value) -> bool:
        """Whether it is a sum or a mean of a line, or of squares with a known law."""
        sample, function, options = self._of[id(one)], value.function, dict(value.options)
        shape, line = sample.draw.shape, id(one) not in self._squares
        axes = axes_of(np.broadcast_to(0.0, (*shape, 1)), options.get("axis"))
        sample.over.add(axes)
        if options.get("keepdims"):
            return False
        if function in (SUM, MEAN):
            sample.plain &= not line
            return not (line and id(one) in self._centred)
        if function in (VAR, STD):
            sample.plain = False
        elif function in (MATMUL, DOT) and not (value.inputs == (one, one) and len(shape) == 1):
            return False
        length = math.prod(shape[at] for at in axes)
        euclidean = options.get("ord", 2.0) == 2.0 and options.get("ddof", 0.0) < length
        return euclidean and self._has_known_squares(one)

    def _has_known_squares(self, one: Value) -> bool:
        return self._of[id(one)].draw.law is NORMAL and id(one) not in self._squares

    def _is_line(self, value: Value, one: Value, others: Sequence[Value]) -> bool:
        """Whether it is a linear function of a line, or a line minus its own mean."""
        sample, function, first = self._of[id(one)], value.function, value.inputs[0] is one
        assert sample.draw.law is not None
        scaled = function in _SCALED
        if not (scaled or function in _MOVED) or sample.draw.law.discrete:
            return False
        if len(others) + 1 != len(value.inputs) or (function is DIVIDE and not first):
            return False
        if function is SUBTRACT and first and len(sample.draw.shape) == 1:
            (mean,) = others
            if mean.computed_by(MEAN) and mean.inputs[0] is one:
                self._centred.add(id(value))
                sample.plain = False
                return True
        if id(one) in self._centred:
            self._centred.add(id(value))
        sample.plain &= scaled
        sample.lines.append(value)
        sample.beside += others
        return scaled or id(one) not in self._centred

    def all_of(self, values: Sequence[Value]) -> Callable[[Value], Value]:
        """A function from each value of the graph to the value that replaces it."""
        for value in values:
            sample = self._of.get(id(value))
            if sample is not None and id(sample) in self.samples:
                self._parts[id(value)] = self._part(value, sample)
            elif value.inputs and id(value.inputs[0]) in self._parts:
                self._stands[id(value)] = self._end(value, self._of[id(value.inputs[0])])
            else:
                self._stands[id(value)] = made_of(value, tuple(map(self._replaced, value.inputs)))
        return self._replaced

    def _replaced(self, value: Value) -> Value:
        return self._stands.get(id(value), value)

    def _part(self, value: Value, sample: _Sample) -> tuple[Value | None, Value]:
        """The sum of a line of draws, or None if it is 0, and the sum of its squared deviations.

        For the square of a line, both are those of the line.
        """
        if value is sample.draw:
            return self._drawn(sample)
        one = next(one for one in value.inputs if id(one) in self._parts)
        total, squares = self._parts[id(one)]
        function = value.function
        if id(value) in self._squares or (function is NEGATIVE and total is None):
            return total, squares
        if id(value) in self._centred and id(one) not in self._centred:
            return None, squares
        other = next((b for b in value.inputs if b is not one), None)
        if other is not None:
            level = sample.level(self._replaced(other))
            assert level is not None
            if function in _MOVED:
                other = _times(level, sample.count)
            else:
                other = level
                squares = computed(function, squares, _raised(other), like=squares)
        if total is not None:
            inputs = tuple(total if each is one else other or each for each in value.inputs)
            total = dataclasses.replace(made_of(value, inputs), shape=sample.shape, name=None)
        return total, squares

    def _end(self, value: Value, sample: _Sample) -> Value:
        """The value that replaces a sum over the draws."""
        (one, *_), function, count = value.inputs, value.function, sample.count
        total, squares = self._parts[id(one)]
        if function in (SUM, MEAN) and id(one) not in self._squares:
            assert total is not None
            result = total
        elif function in (VAR, STD) or total is None:
            result = squares
        else:
            mean = computed(DIVIDE, _raised(total), constant_beside(total, count), like=total)
            result = computed(ADD, mean, squares, like=total)
        divisor = {MEAN: count, VAR: count, STD: count}.get(function, 1.0)
        divisor -= float(dict(value.options).get("ddof", 0.0))
        if divisor != 1.0:
            result = computed(DIVIDE, result, constant_beside(result, divisor), like=result)
        return computed(SQRT, result, like=result) if function in (STD, NORM) else result

    def _drawn(self, sample: _Sample) -> tuple[Value | None, Value]:
        """The sum of the draws, and for normal draws the sum of their squared deviations."""
        draw, count = sample.draw, sample.count
        assert draw.law is not None
        given = [self._replaced(one) for one in draw.inputs]
        arguments = [sample.level(one) for one in given]
        degrees, square = count - 1.0, draw
        if draw.law is NORMAL:
            mean, spread = arguments
            assert spread is not None
            if sample.plain and given[0].constant is not None:
                each = np.broadcast_to(given[0].constant, (*draw.shape, 1))
                length = np.sqrt(np.square(each).mean(sample.axes))
                mean = constant_beside(given[0], length)
                degrees += not length.any()
            name = f"deviations of {draw.name}"
            arguments = [mean, spread]
            square = _draw(sample, CHI_SQUARE, [constant_beside(draw, degrees)], name)
            square = computed(MULTIPLY, _raised(spread), square, like=square)
            if degrees == count:
                return None, square
        summed = SUMS[draw.law]
        of_sum = [
            constant_beside(draw, one * by) if isinstance(one, float) else _times(one, by)
            for one, by in summed.arguments(count, *arguments)
        ]
        total = _draw(sample, summed.law, of_sum, draw.name)
        if summed.unit != 1.0:
            total = computed(MULTIPLY, total, constant_beside(total, summed.unit), like=total)
        if summed.start:
            start = constant_beside(total, summed.start * count)
            total = computed(ADD, total, start, like=total)
        return total, square


def _has_square(spread: Value) -> bool:
    """Whether the squares of fixed numbers neither underflow nor overflow; True if not fixed."""
    size = np.zeros(1) if spread.constant is None else spread.constant
    with np.errstate(all="ignore"):
        return np.allclose(np.sqrt(np.square(size)), size, rtol=1e-9, atol=0.0)


def _holds(sample: _Sample) -> bool:
    """Whether all sums have the same axes, and the law of such a sum is known."""
    draw = sample.draw
    assert draw.law is not None
    if len(sample.over) != 1 or sample.count < 2:
        return False
    arguments = [sample.level(one) for one in draw.inputs]
    if draw.law is NORMAL and sample.plain and draw.inputs[0].constant is not None:
        arguments[0] = constant_beside(draw, 0.0)
    if None in arguments or None in map(sample.level, sample.beside):
        return False
    if draw.law is NORMAL and not _has_square(draw.inputs[1]):
        return False
    # all this is wrong for infinite numbers
    asked = [*sample.lines, *draw.inputs]
    if may_be_undefined([(one, None) for one in asked]) is not None:
        return False
    if any(one.estimated for one in (*sample.beside, *draw.inputs)):
        return False
    if draw.law is NORMAL and _is_far(*(one.constant for one in draw.inputs)):
        return False
    random = any(one.constant is None for one in draw.inputs)
    if not random:
        summed = SUMS[draw.law]
        of_sum = summed.arguments(sample.count, *(one.constant for one in arguments if one))
        return argument_problem(summed.law, [np.asarray(one) * by for one, by in of_sum]) is None
    # a draw with an argument that its law does not take must stay, so that the error is reported
    pairs = zip(draw.law.parameters, draw.inputs, strict=True)
    return not draw.law.conditions and all(_is_taken(one.domain, value) for one, value in pairs)


def _is_far(mean: Any, spread: Any) -> bool:
    """Whether a mean is so large that its square would lose the digits of squared deviations."""
    return mean is not None and spread is not None and bool((np.abs(mean) > FAR_OFF * spread).any())


def _is_taken(domain: Domain, value: Value) -> bool:
    """Whether all values of an argument are in its domain."""
    hull = support(value)
    ends = hull.low >= domain.low and (hull.high <= domain.high or hull.high == math.inf)
    return value.constant is not None or (ends and not domain.whole)


def _draw(sample: _Sample, law: Law, arguments: Sequence[Value], name: str | None) -> Value:
    return dataclasses.replace(
        sample.draw,
        operation=law.name,
        law=law,
        inputs=tuple(arguments),
        shape=sample.shape,
        name=name,
        sources=Sources([name or ""]) | joined_sources(arguments),
    )


def _times(value: Value, by: float) -> Value:
    if value.constant is not None:
        return constant_beside(value, value.constant * by)
    return computed(MULTIPLY, value, constant_beside(value, by), like=value) if by != 1 else value


def _raised(value: Value) -> Value:
    if value.constant is not None:
        return constant_beside(value, np.square(value.constant))
    return computed(POWER, value, constant_beside(value, 2.0), like=value)


# ---- ranks ---------------------------------------------------------------------------------------
#
# Replace independent draws by one number, if only the element of one rank is used.
#
# If `max(x)`, `sort(x)[k]` or the like is the only use of independent draws of one continuous law,
# one number is drawn from the law of that order statistic (`ranked_law`). Its moments,
# probabilities and quantiles are then known, as for any draw.


# The most elements of an array that is replaced.
MOST_ELEMENTS = 2**18


def with_ranks(
    values: Sequence[Value], operands: Sequence[Value]
) -> Callable[[Value], Value] | None:
    """Replacements with one element drawn by its rank; None if there is no such array."""
    if not any(one.kind == Kind.COMPUTED and one.function.by_rank for one in values):
        return None
    takers = takers_of(values, operands)
    taker_of = {id(below): one for one in values for below in one.inputs}
    stands = dict[int, Value]()
    for value in values:
        pair = _element(value, takers, taker_of) if _is_sample(value) else None
        if pair is not None:
            stands[id(pair[0])] = pair[1]
    return exchanged(values, stands) if stands else None


def _is_sample(value: Value) -> bool:
    """Whether a value is an array of independent draws from one law with known order statistics."""
    if value.kind != Kind.DRAW or not value.shape or value.law is None:
        return False
    numbers = [one.known for one in value.inputs]
    known = tuple(one for one in numbers if isinstance(one, float))
    return len(known) == len(numbers) and can_be_ranked(value.law, known)


def _element(
    draw: Value, takers: dict[int, int], taker_of: dict[int, Value]
) -> tuple[Value, Value] | None:
    """The value that takes one rank of each line of a draw, and the draw that replaces it.

    None if the draw has other uses. To find the rank and the lines, the same functions are applied
    to arrays of ranks and of line numbers.
    """
    value, ranks, rows, count = draw, np.zeros(0), np.zeros(0), 0
    while takers[id(value)] == 1 and id(value) in taker_of:
        value = taker_of[id(value)]
        if value.kind != Kind.COMPUTED or not (value.function.by_rank or value.function.rearranges):
            return None
        if value.function.by_rank:
            if count or not 1 < np.prod(draw.shape) <= MOST_ELEMENTS or value.inputs[0] is not draw:
                return None
            axes = axes_of(np.empty((*draw.shape, 1)), dict(value.options).get("axis"))
            ranks, rows, count = _in_order(draw.shape, axes)
        elif not count:
            return None
        kernel = kernel_of(value)
        ranks, rows = kernel(ranks), kernel(rows)
        rank = float(ranks.flat[0]) if ranks.size else 0.5
        if rank == round(rank) and (ranks == rank).all() and np.unique(rows).size == rows.size:
            assert draw.law is not None
            law = ranked(draw.law, round(rank), count)
            return value, dataclasses.replace(draw, shape=value.shape, law=law)
    return None


def _in_order(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[Array, Array, int]:
    """Ranks 0, 1, … along some axes, the number of each element's line, and the lines' length."""
    lengths = [shape[at] for at in axes]
    others = [at for at in range(len(shape)) if at not in axes]
    count = int(np.prod(lengths))
    places = np.arange(count, dtype=float).reshape(*lengths, *[1] * len(others), 1)
    numbers = np.arange(np.prod(shape) / count).reshape(
        *[1] * len(lengths), *(shape[at] for at in others), 1
    )
    back = [*np.argsort([*axes, *others]), len(shape)]
    ranks, rows = (np.broadcast_to(one.transpose(back), (*shape, 1)) for one in (places, numbers))
    return ranks, rows, count
