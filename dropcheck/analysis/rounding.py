"""The one rule of rounding: what is computed once more, with each result moved, counts for both.

A draw, or an outcome of a table, is computed a second time, and each result is moved to the next
float64, up or down (Monte Carlo arithmetic: Parker 1997, "Monte Carlo Arithmetic", UCLA technical
report CSD-970002; Vignes 1993, Mathematics and Computers in Simulation 35, 233-261). How far the
end moves shows how far rounding may have moved it.

- A result that is exact is not moved. Sums, products and quotients are tested: their rounding error
  is itself a number of float64 (Dekker 1971, Numerische Mathematik 18, 224-242; Knuth, The Art of
  Computer Programming 2, 4.2.2, theorem B). Other functions that are rational are exact if they
  take and give short numbers: whole numbers, halves and quarters, for example.
- The same operation of the same numbers is rounded alike, so it is moved alike: `m * x / q` at
  m = 1 and `x / q` stay equal. Numbers of few decimals are moved alike wherever they stand.
- Results that are 0 or infinite by underflow or overflow are moved to a number beside.
- A comparison whose sides are no farther apart than eight times their movement is turned round. The
  arguments of `floor` and of other functions that jump are moved about by eight times theirs.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dropcheck.array_types import Truths
from dropcheck.language.graph import Kind, Value, kernel_of, number
from dropcheck.vocabulary.function import Array, Function
from dropcheck.vocabulary.functions import OF_LAWS
from dropcheck.vocabulary.functions.truths import COMPARISONS

ALLOWED = 8.0
"""How many times the observed movement is allowed, since few computations are observed."""
TURNS = 8
"""How often the outcomes of discrete draws are computed once more."""

# The functions that return an argument, or an element of it; the ones that jump; and those that
# give short numbers for short ones only where these are exact. Any other result is moved.
_COPIES = {
    "abs", "negative", "clip", "minimum", "maximum", "relu", "max", "min", "sort", "cummax",
    "where", "conditional", "tril", "triu", "diag", "take", "isfinite", "isnan", "isinf", "is true",
    "and", "or", "not", "any", "all", "first", "size", "shape",
}  # fmt: skip
_JUMPS = {
    "floor", "ceil", "round", "sign", "//", "%", "argmax", "argmin", "argsort", "isclose",
    "one_hot", "bincount", "float16", "bfloat16", "float32", "float64",
}  # fmt: skip
_SUMS = {"sum", "mean", "cumsum", "diff", "trace"}
_PRODUCTS = {"prod", "cumprod", "dot", "matmul", "outer", "kron", "norm"}
_SHORT = _SUMS | _PRODUCTS | {
    "var", "std", "leaky_relu", "median", "quantile", "full", "comb", "factorial", "cbrt", "log2",
    "log10",
}  # fmt: skip
_TRUTHS = {"where", "conditional", "and", "or", "not", "any", "all", "first", "is true"}

LARGEST = float(np.finfo(np.float64).max)
_LEAST = float(np.finfo(np.float64).smallest_normal)
# Products below this may have rounding errors below the smallest number.
_TINY = 1e-290
# Dekker's factor: it splits a number into two of half as many digits.
_SPLIT = 2.0**27 + 1.0
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
        self.again = False  # whether inexact numbers that come again meet a jump: ties may be rare

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
        return self._beside(array, False, self._index ^ _mixed(each + np.uint64(place << 20)))

    def result(
        self,
        function: Function,
        work: Callable[[list[Array]], Array],
        inputs: Sequence[Array],
        moved: Sequence[Array],
        result: Array,
    ) -> Array:
        """The moved result of a function: `result` itself if it is exact and so are the inputs.

        Args:
            function: the function.
            work: computes it.
            inputs: its arguments, as computed.
            moved: the same, moved.
            result: its result, as computed.
        """
        name, same = function.name, all(map(_is, inputs, moved))
        if same and (result.dtype == np.bool_ or _passes_on(function) or name in _JUMPS):
            return result
        try:
            if name in COMPARISONS:
                return self._turned(result, work(list(moved)), *map(number, (*inputs, *moved)))
            if name in _JUMPS or _counts(name, result):
                about = [self._about(*pair) for pair in zip(inputs, moved, strict=True)]
                return self._remainder(inputs, moved, work(about)) if name == "%" else work(about)
            if name in _TRUTHS:
                moved = [
                    self._or_zero(*pair) if at == 0 or name in {"and", "or"} else pair[1]
                    for at, pair in enumerate(zip(inputs, moved, strict=True))
                ]
            other = result if same else work(list(moved))
        except ValueError:  # an index is no longer whole, or a number is outside the domain
            return result
        if _passes_on(function) or other.dtype == np.bool_:
            return other
        moved = list(map(number, moved))
        exact, decimal = _exact_in(function, work, moved, other)
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
                kept = exact if decimal is None else exact | decimal
                other = np.where(kept, other, work(beside))
        by = by + _bits(other)
        if name == "logsumexp":  # it computes with numbers of size 1
            other = other + np.where(self._chosen(by), 2.0**-52, -(2.0**-52))
        if decimal is not None:
            by = np.where(decimal, _bits(other), by)
        return self._beside(other, exact, self._random(by))

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
        self.again |= _come_again(apart, off)
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
        self.again |= _come_again(array, error)
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

    for value in values:
        array = array_of(value)
        made = all(id(one) in known for one in value.inputs if one.random)
        if value.kind == Kind.COMPUTED and value.inputs and made:
            inputs, moved = [[*map(one, value.inputs)] for one in (array_of, moved_of)]
            array = again.result(value.function, worker(value), inputs, moved, array)
        elif value.random:
            array = again.given(array)
        known[id(value)] = array
    return known


def fixed_again(value: Value, again: Moved, known: dict[int, Array]) -> Array:
    """The moved array of a fixed value, from those of its inputs; `known` has those so far."""
    if id(value) not in known:
        array = value.constant
        if value.kind == Kind.COMPUTED and value.inputs and array.size <= _MOST_FIXED:
            inputs = [below.constant for below in value.inputs]
            moved = [fixed_again(below, again, known) for below in value.inputs]
            array = again.result(value.function, worker(value), inputs, moved, array)
        else:
            array = again.given(array)
        known[id(value)] = array
    return known[id(value)]


def worker(value: Value) -> Callable[[list[Array]], Array]:
    """The function that computes a value from arrays."""
    kernel, truths = kernel_of(value), value.function.takes_truth

    def work(inputs: list[Array]) -> Array:
        return kernel(*(inputs if truths else map(number, inputs)))

    return work


def may_turn(values: Sequence[Value]) -> bool:
    """Whether one of some values is computed by a function that jumps."""
    return any(
        one.kind == Kind.COMPUTED and (one.operation in COMPARISONS or one.operation in _JUMPS)
        for one in values
    )


def turns(values: Sequence[Value]) -> bool:
    """Whether rounding may decide a fixed value that is computed by a function that jumps."""
    again, known = Moved(0, TURNS), dict[int, Array]()
    fixed = [one for one in values if one.constant is not None]
    if not may_turn(fixed):
        return False
    with np.errstate(all="ignore"):
        return not all(
            np.allclose(number(fixed_again(one, again, known)), number(one.constant), 1e-9, 0.0)
            for one in fixed
            if may_turn([one])
        )


def _is(one: Array, other: Array) -> bool:
    return one is other


@lru_cache(maxsize=1024)
def _passes_on(function: Function) -> bool:
    """Whether each element of the result is one of an argument's, up to its sign."""
    return function.name in _COPIES or function.rearranges or function.does == "joins"


def _exact_in(
    function: Function, work: Callable[[list[Array]], Array], inputs: list[Array], result: Array
) -> tuple[Truths, Truths | None]:
    """Where a result is exact, and where it is a number of few decimals from short numbers."""
    name = function.name
    exact = np.zeros(1, dtype=np.bool_)
    for array in inputs:
        if array.shape == result.shape or function.by_element:
            exact = exact | np.isinf(array)
    if name in ("+", "-"):
        a, b = inputs[0], inputs[1] if name == "+" else -inputs[1]
        rounded = result - a
        return exact | ((a - (result - rounded)) + (b - rounded) == 0), None
    if name == "*":
        a, b = inputs
        exact = exact | (a == 0) | (b == 0) | (np.abs(a) == 1) | (np.abs(b) == 1)
        return exact | _is_product(a, b, result), None
    if name == "sqrt":
        return exact | (inputs[0] == 0) | _is_product(result, result, inputs[0]), None
    if name == "**":
        a, b = inputs
        whole = (a == np.rint(a)) & (b == np.rint(b)) & (b >= 0) & (np.abs(result) < 2.0**53)
        exact = exact | (b == 0) | (b == 1) | (a == 1) | (a == 0) | whole
        return exact | (b == 2) & _is_product(a, a, result), None
    if name == "/":
        a, b = inputs
        exact = exact | (a == 0) | (b == 0) | (np.abs(b) == 1) | _is_product(result, b, a)
        short = _short(a, 2.0**12) & _short(b, 2.0**12)
    elif name in _SHORT:
        short = np.ones(1, dtype=np.bool_)
        for array in inputs:
            own = _short(array, 2.0**32) if name in _SUMS else _whole(array, 2.0**12)
            short = short & (own if function.by_element else own.reshape(-1, own.shape[-1]).all(0))
        exact = exact | short & _short(result, 2.0**42)
        if name in _SUMS | _PRODUCTS and (result == 0).any():  # a sum of zeros alone
            exact = exact | (work([(array != 0).astype(np.float64) for array in inputs]) == 0)
    else:
        for array in inputs if function.by_element else ():
            exact = exact | (array == 0) & (_short(result, 2.0**20) | np.isinf(result))
        return np.broadcast_to(exact, result.shape), None
    decimal = None
    if name in ("/", "mean"):
        decimal = np.rint(result * _DECIMALS) / _DECIMALS == result
        decimal = decimal & short & (np.abs(result) < _MOST_DECIMAL)
    return np.broadcast_to(exact, result.shape), decimal


def _counts(name: str, result: Array) -> bool:
    """Whether a result may be a norm of order 0, which counts."""
    return name == "norm" and bool((result == np.rint(result)).all())


def _whole(array: Array, most: float) -> Truths:
    return np.asarray((array == np.rint(array)) & (np.abs(array) <= most))


def _short(array: Array, most: float) -> Truths:
    """Where numbers are multiples of 1/64, and small enough for exact results."""
    return _whole(array * 64.0, 64.0 * most)


def _is_product(a: Array, b: Array, product: Array) -> Truths:
    """Where a number is the exact product of two (Dekker 1971, equation 5.14)."""
    first, second = _halves(a), _halves(b)
    error = first[0] * second[0] - product
    error = error + first[0] * second[1] + first[1] * second[0] + first[1] * second[1]
    return np.asarray((error == 0) & (a * b == product) & (np.abs(product) > _TINY))


def _come_again(array: Array, error: Array) -> bool:
    """Whether numbers that rounding may move come again, as those of a discrete draw do."""
    shape = np.broadcast_shapes(array.shape, error.shape)
    some, off = (np.broadcast_to(one, shape).reshape(-1, shape[-1])[0] for one in (array, error))
    some = some[off > 0][:256]
    return bool(some.size > 1 and np.unique(some).size < some.size / 2)


def _summed(bits: Bits) -> Bits:
    """The bits of a draw's elements together: [draws]."""
    return np.asarray(bits.reshape(-1, bits.shape[-1]).sum(axis=0, dtype=np.uint64))


def _halves(array: Array) -> tuple[Array, Array]:
    large = _SPLIT * array
    high = large - (large - array)
    return high, array - high


def _bits(array: Array) -> Bits:
    sizes: Bits = np.abs(number(array)).view(np.uint64)
    mixed = sizes * _FIRST
    return mixed ^ (mixed >> np.uint64(32))


def _mixed(bits: Bits) -> Bits:
    """Bits that look random (the finaliser of Steele et al. 2014, SplitMix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * _SECOND
    return bits ^ (bits >> np.uint64(31))
