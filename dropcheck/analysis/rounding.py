"""The one rule of rounding: what is computed once more, with each result moved, counts for both.

A draw, or an outcome of a table, is computed a second time, and each result is moved to the next
float64, up or down (Monte Carlo arithmetic: Parker 1997, "Monte Carlo Arithmetic", UCLA technical
report CSD-970002; Vignes 1993, Mathematics and Computers in Simulation 35, 233-261). How far the
end moves shows how far rounding may have moved it.

- A result that is exact is not moved. The rounding error of a sum is itself a number of float64
  (Knuth, The Art of Computer Programming 2, 4.2.2, theorem B). Other results are exact if they are
  short and come from short numbers, such as whole numbers, halves and quarters, and if they change
  where the numbers do.
- The same operation of the same numbers is rounded alike, so it is moved alike: `m * x / q` at
  m = 1 and `x / q` stay equal. Numbers of few decimals are moved alike wherever they stand.
- Results that are 0 or infinite by underflow or overflow are moved to a number beside.
- A comparison whose sides are no farther apart than eight times their movement is turned round. The
  arguments of `floor` and of other functions that jump are moved about by eight times theirs.

Which functions jump, and which return an element of an argument as it is, is seen in numbers made
at random: a function needs no entry here.
"""

from __future__ import annotations

import math
import operator
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dropcheck.array_types import Truths
from dropcheck.language.graph import Kind, Value, bound, kernel_of, number
from dropcheck.vocabulary.function import Array, Kernel
from dropcheck.vocabulary.functions import OF_LAWS, operation
from dropcheck.vocabulary.functions.truths import COMPARISONS
from dropcheck.vocabulary.shapes import Shape

ALLOWED = 8.0
"""How many times the observed movement is allowed, since few computations are observed."""
TURNS = 8
"""How often the outcomes of discrete draws are computed once more."""

LARGEST = float(np.finfo(np.float64).max)
_LEAST = float(np.finfo(np.float64).smallest_normal)
# The bits of a float64 that are all 0 in normal powers of 2 (IEEE 754), among others.
_FRACTION = 2**52 - 1
# An argument of a law that is moved by more than this share of the largest is another argument.
_HARDLY, _TINY = 1e-12, 1e-300
# Numbers are short if they are multiples of 1/64 up to here: products of two are exact.
_SHORT, _SHORT_RESULT = 2.0**20, 2.0**32
# A function that ends up flat for arguments that are moved by this share has no digits left.
_FELT = 2.0**-20
# Numbers with as many fixed values, or more, are moved alike in all draws.
_MOST_FIXED = 2**16
_DECIMALS, _MOST_DECIMAL = 1e6, 1e3

Bits = npt.NDArray[np.uint64]
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


class Moved:
    """One computation in which each result is moved; `draws` are computed, the last axis.

    Args:
        seed: another seed moves in another way.
        draws: how many.
        surely: whether all truths that rounding may decide are turned, or each at random.
    """

    def __init__(self, seed: int, draws: int, *, surely: bool = True) -> None:
        index = np.arange(draws, dtype=np.uint64) + np.uint64(seed << 32)
        self._index = _mixed(index * _FIRST)
        self.surely = surely

    def given(self, array: Array) -> Array:
        """Numbers of a text, or of a law with listed values: decimals are moved."""
        if array.dtype == np.bool_:
            return array
        exact = (array * 1024.0 == np.rint(array * 1024.0)) & (np.abs(array) < 2.0**53)
        exact |= ~np.isfinite(array)
        return array if exact.all() else self._beside(array, exact, self._random(_bits(array)))

    def drawn(self, array: Array, place: int) -> Array:
        """Draws of a continuous law; `place` tells one law's draws from another's."""
        count = array.size // max(array.shape[-1], 1)
        each = np.arange(count, dtype=np.uint64).reshape(*array.shape[:-1], 1)
        own = (each + np.uint64(place << 20)) * _FIRST
        return self._beside(array, False, _mixed(self._index + own))

    def result(
        self, value: Value, inputs: Sequence[Array], moved: Sequence[Array], result: Array
    ) -> Array:
        """The moved result of a function: `result` itself if it is exact and so are the inputs."""
        function, name, work = value.function, value.operation, kernel_of(value)
        manner = manner_of(name, value.options, tuple(one.shape[:-1] for one in inputs))
        same = all(map(operator.is_, inputs, moved))
        if same and (result.dtype == np.bool_ or manner.passes_on or manner.jumps):
            return result
        try:
            if name in COMPARISONS:
                return self._turned(result, work(*moved), *map(number, (*inputs, *moved)))
            if manner.jumps or name == "%":
                about = [self._about(*pair) for pair in zip(inputs, moved, strict=True)]
                return self._remainder(inputs, moved, work(*about)) if name == "%" else work(*about)
            if function.takes_truth and function.by_element and len(function.parameters) > 1:
                moved = [self._or_zero(inputs[0], moved[0]), *moved[1:]]
            other = result if same else work(*moved)
        except ValueError:  # an index is no longer whole, or a number is outside the domain
            return result
        if manner.passes_on or other.dtype == np.bool_:
            return other
        moved = list(map(number, moved))
        exact, decimal = _exact_in(value, work, moved, other, manner)
        if exact.all():
            return other
        by: Bits = np.full(1, zlib.crc32(name.encode()), dtype=np.uint64)
        for array in moved:
            own = _bits(array)
            by = by + (own if function.by_element else _summed(own))
        # one that computes with elements may lose their digits
        if not function.by_element and name not in OF_LAWS:
            beside = [self._beside(one, False, self._random(by + _bits(one))) for one in moved]
            with suppress(ValueError):
                other = np.where(exact | decimal, other, work(*beside))
        by = by + _bits(other)
        if name == "logsumexp":  # it computes with numbers of size 1
            other = other + np.where(self._chosen(by), 2.0**-52, -(2.0**-52))
        return self._beside(other, exact, self._random(np.where(decimal, _bits(other), by)))

    def _beside(self, array: Array, exact: Truths | bool, bits: Bits) -> Array:
        """The numbers beside those of an array, away from 0 or towards it by their first bits.

        The number beside another has the next bit pattern (IEEE 754). 0 becomes the smallest
        number or the next, and what overflows one of two near the largest.
        """
        step = (bits >> np.uint64(63)).astype(np.int64) * 2 - 1
        size = np.abs(array)
        if not size.min(initial=1.0) > 0.0 or not size.max(initial=1.0) < np.inf:
            step = np.where(size == 0, (step + 3) // 2, step)
            step = np.where(size == np.inf, (step - 5) // 2, step)
            exact = exact | np.isnan(array)
        step = np.where(exact, 0, step)
        moved = np.ascontiguousarray(np.broadcast_to(array, step.shape)).view(np.int64) + step
        return np.asarray(moved.view(np.float64))

    def _random(self, by: Bits) -> Bits:
        fixed = by.shape[-1] == 1 and by.size * len(self._index) > _MOST_FIXED
        return _mixed(by + (self._index[:1] if fixed else self._index))

    def _chosen(self, by: Bits) -> Truths:
        return np.asarray(self._random(by) >> np.uint64(63) != 0)

    def _turned(self, result: Array, other: Array, *sides: Array) -> Array:
        """A comparison, turned round where rounding may decide it.

        `other` is that of the moved sides, which come after the sides as computed. It holds for
        sides that are 0 or next to it, which keep their sign.
        """
        a, b, c, d = (np.clip(one, -LARGEST, LARGEST) for one in sides)
        apart, off = np.abs(a - b), np.abs((c - a) - (d - b))
        error = ALLOWED * off
        if (apart <= error.max(axis=-1, keepdims=True)).any():  # chance makes it small in some
            size = np.maximum(np.abs(a), np.abs(b))
            usual = size * np.median(error / size, axis=-1, keepdims=True)
            usual = np.minimum(usual, np.median(error, axis=-1, keepdims=True))
            error = np.where(off > 0, np.fmax(error, usual), 0.0)
        near = (off > 0) & (apart <= error) | (np.isnan(off) & ~np.isnan(apart))
        near = near & ((np.abs(a) >= _LEAST) | (np.abs(b) >= _LEAST) | (other != result))
        if not near.any():
            return result
        if not self.surely:
            near = near & self._chosen(_bits(a) + _bits(b))
        turned = np.where(np.isnan(number(result)), np.nan, 1.0 - number(result))
        other = np.where(near, turned, number(result))
        return other != 0 if result.dtype == np.bool_ else other

    def _about(self, array: Array, moved: Array) -> Array:
        """A number about the moved one, within what is allowed; 0 where that may be."""
        if array is moved or array.dtype == np.bool_:
            return moved
        error = ALLOWED * np.abs(moved - array)
        error = np.where(np.isfinite(error), error, 0.0)
        about = moved + self._share(_bits(array)) * error
        return self._or_zero(array, np.where(error > 0, about, moved))

    def _remainder(self, inputs: Sequence[Array], moved: Sequence[Array], other: Array) -> Array:
        """A remainder: any, where its dividend may be moved by a period or more."""
        (a, b), (c, d) = map(number, inputs), map(number, moved)
        vague = ALLOWED * (np.abs(c - a) + np.abs(a / b) * np.abs(d - b)) >= np.abs(b)
        return np.where(vague, b * np.abs(self._share(_bits(c))), other)

    def _share(self, by: Bits) -> Array:
        """Numbers from -1 to 1."""
        return np.asarray((self._random(by * _SECOND) >> np.uint64(11)) * 2.0**-52 - 1.0)

    def _or_zero(self, array: Array, moved: Array) -> Array:
        if array is moved or array.dtype == np.bool_:
            return moved
        off = np.abs(number(moved) - array)
        zero = (off > 0) & (np.abs(array) <= ALLOWED * off) & self._chosen(_bits(array) * _FIRST)
        return np.where(zero, 0.0, moved)


def computed_again(
    values: Sequence[Value], array_of: Callable[[Value], Array], seed: int, draws: int
) -> dict[int, Array]:
    """The moved arrays of some values by id, in order, from those as computed.

    What is made of random values that are not among them is given, as draws are. A fixed value may
    be given as one number in place of an array of equal ones.
    """
    again, known = Moved(seed, draws, surely=seed % 2 == 0), dict[int, Array]()
    fixed: dict[int, Array] = {}

    def moved_of(value: Value) -> Array:
        if id(value) in known or value.random:
            return known[id(value)]
        moved, array = fixed_again(value, again, fixed), array_of(value)
        return moved if moved.ndim == array.ndim else moved.reshape(-1, moved.shape[-1])[0]

    for place, value in enumerate(values):
        array = array_of(value)
        made = all(id(one) in known for one in value.inputs if one.random)
        if value.kind == Kind.COMPUTED and value.inputs and made:
            inputs, moved = [[*map(one, value.inputs)] for one in (array_of, moved_of)]
            array = again.result(value, inputs, moved, array)
        elif value.kind == Kind.DRAW and value.law is not None:
            off = [_differ(*(one(x) for one in (array_of, moved_of))) for x in value.inputs if made]
            own = again.given(array) if value.law.discrete else again.drawn(array, place)
            array = _unknown(own, off)
        elif value.random and value.call is None:
            array = again.given(array)
        known[id(value)] = array
    return known


def _differ(array: Array, moved: Array) -> Truths:
    """In which draws an argument of a law is moved by more than what is rounded: [draws]."""
    array, moved = number(array), number(moved)
    size = np.abs(array).max(initial=0.0, where=np.isfinite(array))
    same = np.isclose(array, moved, 0.0, _HARDLY * size + _TINY, equal_nan=True)
    return np.asarray(~same.reshape(-1, same.shape[-1]).all(axis=0))


def _unknown(draws: Array, differ: Sequence[Truths]) -> Array:
    """Draws that are turned, or infinite, where an argument of their law is another."""
    if not any(one.any() for one in differ):
        return draws
    other = ~draws if draws.dtype == np.bool_ else np.inf
    return np.where(np.logical_or.reduce(np.broadcast_arrays(*differ)), other, draws)


def fixed_again(value: Value, again: Moved, known: dict[int, Array]) -> Array:
    """The moved array of a fixed value, from those of its inputs; `known` has those so far."""
    if id(value) not in known:
        array = value.constant
        if value.kind == Kind.COMPUTED and value.inputs and array.size <= _MOST_FIXED:
            inputs = [below.constant for below in value.inputs]
            moved = [fixed_again(below, again, known) for below in value.inputs]
            array = again.result(value, inputs, moved, array)
        else:
            array = again.given(array)
        known[id(value)] = array
    return known[id(value)]


def may_turn(values: Sequence[Value]) -> bool:
    """Whether one of some values is computed by a function that jumps."""
    return any(
        one.kind == Kind.COMPUTED
        and (
            one.operation in COMPARISONS
            or one.operation == "%"
            or manner_of(one.operation, one.options, tuple(x.shape for x in one.inputs)).jumps
        )
        for one in values
    )


class Manner(NamedTuple):
    """What a function does to numbers.

    It `passes_on` elements of its arguments, but for their signs. It `jumps` if its result stays
    the same, or is another, where the arguments change a little. It gives `whole` numbers for whole
    numbers.
    """

    passes_on: bool = False
    jumps: bool = False
    whole: bool = False


@lru_cache(maxsize=4096)
def manner_of(name: str, options: tuple[tuple[str, Any], ...], shapes: tuple[Shape, ...]) -> Manner:
    """What a function does, as seen in a few numbers made at random."""
    function, rng = operation(name), np.random.default_rng(0)
    if function.does == "takes":
        return Manner(passes_on=True)
    sizes = [() if function.by_element else shape for shape in shapes]
    draws = max(1, 64 // max(1, *map(math.prod, sizes)))
    kernel = bound(function, options)
    numbers = [rng.uniform(0.5, 3.0, (*one, draws)) * rng.choice([-1, 1], draws) for one in sizes]
    few = [5040.0 * rng.integers(-3, 4, one.shape) for one in numbers]

    def gives_whole(given: Sequence[Array]) -> bool:
        with suppress(ValueError):
            return not function.by_element and all((np.rint(x := kernel(*given)) == x).flat)
        return False

    with np.errstate(all="ignore"):
        try:
            found, near = (
                kernel(*given) for given in (numbers, [x * (1 + 2**-45) for x in numbers])
            )
        except ValueError:  # it takes whole numbers alone, as indices are
            return Manner(whole=gives_whole([np.zeros_like(one) for one in few]))
        whole = gives_whole(few)
    if not np.isfinite(found).any():
        return Manner()
    known = np.concatenate([[0.0], *(np.abs(one).ravel() for one in numbers)])
    passed = np.isin(np.abs(found[np.isfinite(found)]), known).all()
    return Manner(bool(passed), np.array_equal(found, near, equal_nan=True), whole)


def _exact_in(
    value: Value,
    work: Kernel,
    inputs: list[Array],
    result: Array,
    manner: Manner,
) -> tuple[Truths, Truths]:
    """Where a result is exact, and where it is a number of few decimals from short numbers."""
    name, by_element = value.operation, value.function.by_element
    exact, short = np.zeros(1, dtype=np.bool_), np.ones(1, dtype=np.bool_)
    decimal = np.zeros_like(result, dtype=np.bool_)
    for array in inputs:
        if array.shape == result.shape or by_element:
            exact = exact | np.isinf(array)
    if name in ("+", "-"):
        a, b = inputs[0], inputs[1] if name == "+" else -inputs[1]
        rounded = result - a
        return exact | ((a - (result - rounded)) + (b - rounded) == 0), decimal
    for array in inputs:
        own = _short(array, _SHORT)
        short = short & (own if by_element else own.reshape(-1, own.shape[-1]).all(0))
    if name in ("*", "/"):
        a, b = inputs
        even = _is_power(b) | (_is_power(a) & (name == "*"))
        even = even & (np.abs(result) > _LEAST) & np.isfinite(result)
        exact = exact | (a == 0) | (b == 0) | even
    elif name == "**":
        a, b = inputs
        exact = exact | (b == 0) | (b == 1) | (a == 1) | (a == 0)
    if name in ("*", "**"):  # whole numbers, which are exact up to 2^53
        whole = (a == np.rint(a)) & (b == np.rint(b)) & (b >= 0 if name == "**" else True)
        exact = exact | (whole & (np.abs(result) < 2.0**53))
    if name in ("/", "mean"):
        decimal = np.rint(result * _DECIMALS) / _DECIMALS == result
        decimal = decimal & short & (np.abs(result) < _MOST_DECIMAL)
    short = short & _short(result, _SHORT_RESULT)
    if by_element:
        for at, array in enumerate(inputs) if short.any() else ():
            other = [*inputs[:at], array + _FELT * (1 + np.abs(array)), *inputs[at + 1 :]]
            short = short & (work(*other) != result)
    else:
        short = short & manner.whole
        if (result == 0).any():  # a sum of zeros alone
            exact = exact | (work(*((array != 0).astype(np.float64) for array in inputs)) == 0)
    return np.broadcast_to(exact | short, result.shape), decimal


def _short(array: Array, most: float) -> Truths:
    """Where numbers are multiples of 1/64, and small enough for exact results."""
    whole = array * 64.0
    return np.asarray((whole == np.rint(whole)) & (np.abs(array) <= most))


def _is_power(array: Array) -> Truths:
    """Where numbers are powers of 2, or such powers with a minus sign."""
    return np.asarray((array.view(np.int64) & _FRACTION == 0) & (np.abs(array) >= _LEAST))


def _summed(bits: Bits) -> Bits:
    """The bits of a draw's elements together: [draws]."""
    return np.asarray(bits.reshape(-1, bits.shape[-1]).sum(axis=0, dtype=np.uint64))


def _bits(array: Array) -> Bits:
    sizes: Bits = np.abs(number(array)).view(np.uint64)
    mixed = sizes * _FIRST
    return mixed ^ (mixed >> np.uint64(32))


def _mixed(bits: Bits) -> Bits:
    """Bits that look random (the finaliser of Steele et al. 2014, SplitMix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * _SECOND
    return bits ^ (bits >> np.uint64(31))
