"""Functions as polynomials in their arguments: sums, products, and linear maps along an axis.

A rule takes the operands in order and the options by name, as a kernel does, and makes the result
from the few operations of `Algebraic`. So it holds for every algebra that has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any, Protocol

import numpy as np

from dropcheck.vocabulary.shapes import Shape, flag, normalise_axes, normalise_axis, sizes


class PolynomialError(ValueError):
    """A quantity is no polynomial in its arguments, or one that is too large to be worked with."""


class Algebraic(Protocol):
    """A quantity in an algebra; `shape` is that of one draw.

    Arithmetic is element by element, with numpy's rule for shapes; numbers and fixed arrays serve
    as the other operand. Every method raises `PolynomialError` where the result is none.
    """

    @property
    def shape(self) -> Shape:
        """The shape of one draw."""

    @property
    def fixed(self) -> Any:
        """The array of a quantity that is fixed, without an axis of draws; None of others."""

    @property
    def vanishes(self) -> bool:
        """Whether it is known to be 0, up to rounding."""

    def __add__(self, other: Any) -> Any:
        """The sum."""

    def __sub__(self, other: Any) -> Any:
        """The difference."""

    def __mul__(self, other: Any) -> Any:
        """The product."""

    def __truediv__(self, other: Any) -> Any:
        """The quotient by what is fixed."""

    def total(self, axes: tuple[int, ...], keepdims: bool) -> Any:
        """The sum of the elements along some axes."""

    def product(self, axes: tuple[int, ...], keepdims: bool) -> Any:
        """The product of the elements along some axes."""

    def widened(self, place: int) -> Any:
        """The same with a new axis of length 1 before the one at this place."""

    def swapped(self) -> Any:
        """The same with its last two axes in the other order."""

    def picked(self, axis: int, place: int) -> Any:
        """What stands at one place of an axis, without that axis."""

    def mapped(self, axis: int, length: int, matrix: Callable[[], Any]) -> Any:
        """The matrix [length, length of the axis] times each line along an axis."""

    def truth(self) -> Any:
        """The same, of a quantity that is 1 or 0."""


# ---- reductions ---------------------------------------------------------------------------------


def total(x: Algebraic, *, axis: Any = None, keepdims: float = 0) -> Any:
    """The sum along axes."""
    return x.total(normalise_axes(axis, x.shape), flag(keepdims, "keepdims"))


def _count(x: Algebraic, axis: Any) -> int:
    return math.prod(x.shape[at] for at in normalise_axes(axis, x.shape))


def mean(x: Algebraic, *, axis: Any = None, keepdims: float = 0) -> Any:
    """The mean along axes."""
    return total(x, axis=axis, keepdims=keepdims) / float(_count(x, axis))


def variance(x: Algebraic, *, ddof: float = 0, axis: Any = None, keepdims: float = 0) -> Any:
    """Squared distances from the mean, over n − ddof."""
    degrees = _count(x, axis) - ddof
    if degrees <= 0:
        raise PolynomialError
    off = x - mean(x, axis=axis, keepdims=1)
    return total(off * off, axis=axis, keepdims=keepdims) / float(degrees)


def squared_norm(
    x: Algebraic,
    *,
    ord: float = 2,  # noqa: A002 — the option's name in the language
    axis: Any = None,
    keepdims: float = 0,
) -> Any:
    """The square of the Euclidean norm."""
    if ord != 2:
        raise PolynomialError
    return total(x * x, axis=axis, keepdims=keepdims)


def product(x: Algebraic, *, axis: Any = None, keepdims: float = 0) -> Any:
    """The product along axes."""
    return x.product(normalise_axes(axis, x.shape), flag(keepdims, "keepdims"))


# ---- products of vectors and of matrices --------------------------------------------------------


def dot(a: Algebraic, b: Algebraic, *, axis: Any = None, keepdims: float = 0) -> Any:
    """The sum of products along axes."""
    return total(a * b, axis=axis, keepdims=keepdims)


def outer(a: Algebraic, b: Algebraic) -> Any:
    """All products over the last axes."""
    return a.widened(len(a.shape)) * b.widened(len(b.shape) - 1)


def matmul(a: Algebraic, b: Algebraic) -> Any:
    """The product of matrices; a vector is a row on the left and a column on the right."""
    inner = -1
    if len(b.shape) > 1:
        inner = -2
        a = a.widened(len(a.shape))
        if len(a.shape) > 2:
            b = b.widened(len(b.shape) - 2)
    return total(a * b, axis=inner)


def trace(x: Algebraic) -> Any:
    """The sum of the diagonal."""
    return total(x * _identity(x.shape[-1]), axis=(-2.0, -1.0))


def diagonal(x: Algebraic) -> Any:
    """The matrix with this diagonal, or a matrix's diagonal."""
    if len(x.shape) == 1:
        return x.widened(1) * _identity(x.shape[0])
    rows, columns = x.shape[-2:]
    if rows != columns:
        raise PolynomialError
    return total(x * _identity(rows), axis=-1)


LEAST_TOLERANCE = 1e-10  # rounding stays far below it
LARGEST_SIDE = 1000  # of a fixed matrix that is made for a linear map


def _identity(side: int) -> Any:
    if side > LARGEST_SIDE:
        raise PolynomialError
    return np.eye(side)


# ---- linear maps along an axis ------------------------------------------------------------------


def cumulative(x: Algebraic, *, axis: Any = None) -> Any:
    """Running sums."""
    at = normalise_axis(-1 if axis is None else axis, x.shape)
    length = x.shape[at]
    return x.mapped(at, length, lambda: np.tri(length))


def differences(x: Algebraic, *, axis: Any = None) -> Any:
    """Differences of neighbours."""
    at = normalise_axis(-1 if axis is None else axis, x.shape)
    length = x.shape[at]
    return x.mapped(
        at, length - 1, lambda: np.eye(length - 1, length, 1) - np.eye(length - 1, length)
    )


def subscript(x: Algebraic, *, index: Sequence[int | slice]) -> Any:
    """Elements by fixed indices."""
    axis = 0
    for entry in index:
        length = x.shape[axis]
        if not isinstance(entry, slice):
            x = x.picked(axis, entry % length)
            continue
        places = range(*entry.indices(length))
        x = _selected(x, axis, places)
        axis += 1
    return x


def _selected(x: Algebraic, axis: int, places: Sequence[int]) -> Any:
    length = x.shape[axis]
    if list(places) == list(range(length)):
        return x
    if len(places) == 1:
        return x.picked(axis, places[0]).widened(axis)
    return x.mapped(axis, len(places), lambda: np.equal.outer(places, range(length)) * 1.0)


def take(x: Algebraic, i: Algebraic) -> Any:
    """Elements of a vector, or rows of a matrix, by fixed indices."""
    if i.fixed is None or len(i.shape) > 1:
        raise PolynomialError
    places = (np.asarray(i.fixed).astype(int) % x.shape[0]).tolist()
    return _selected(x, 0, places) if isinstance(places, list) else x.picked(0, places)


def _placed(x: Algebraic, axis: int, length: int, first: int) -> Any:
    """Zeros along an axis, and the elements of x from one place on."""
    own = x.shape[axis]
    return x.mapped(axis, length, lambda: np.eye(length, own, -first))


def concat(*parts: Algebraic, axis: float = -1) -> Any:
    """One after the other; a single number counts as a list of one."""
    lists = [part if part.shape else part.widened(0) for part in parts]
    at = normalise_axis(axis, lists[0].shape)
    length = sum(part.shape[at] for part in lists)
    firsts = [sum(part.shape[at] for part in lists[:before]) for before in range(len(lists))]
    placed = [_placed(part, at, length, first) for part, first in zip(lists, firsts, strict=True)]
    return reduce(add, placed)


def stack(*parts: Algebraic, axis: float = -1) -> Any:
    """Side by side along a new axis."""
    at = normalise_axis(axis, (*parts[0].shape, len(parts)))
    length = len(parts)
    placed = [_placed(part.widened(at), at, length, place) for place, part in enumerate(parts)]
    return reduce(add, placed)


def array(*parts: Algebraic) -> Any:
    """Behind a new first axis."""
    return stack(*parts, axis=0)


def full(v: Algebraic, *, shape: Any) -> Any:
    """The quantity stretched to a shape."""
    return v * np.broadcast_to(1.0, sizes(shape))


# ---- truths -------------------------------------------------------------------------------------


def choice(c: Algebraic, a: Algebraic, b: Algebraic) -> Any:
    """Value a where c holds, else b."""
    return b + c.truth() * (a - b)


def denial(a: Algebraic) -> Any:
    """1 where a is 0."""
    return a.truth() * -1.0 + 1.0


def conjunction(a: Algebraic, b: Algebraic) -> Any:
    """Both."""
    return a.truth() * b.truth()


def disjunction(a: Algebraic, b: Algebraic) -> Any:
    """Either."""
    return denial(a) * denial(b) * -1.0 + 1.0


def every(x: Algebraic, *, axis: Any = None, keepdims: float = 0) -> Any:
    """All elements."""
    return product(x.truth(), axis=axis, keepdims=keepdims)


def some(x: Algebraic, *, axis: Any = None, keepdims: float = 0) -> Any:
    """Any element."""
    return product(denial(x), axis=axis, keepdims=keepdims) * -1.0 + 1.0


def compared(a: Algebraic, b: Algebraic, *, alike: float) -> Any:
    """A comparison of a quantity with itself; two that are alike may differ by rounding."""
    if a is not b:
        raise PolynomialError
    return a * 0.0 + alike


def near(a: Algebraic, b: Algebraic, *, rtol: float = 0.0, atol: float = 0.0) -> Any:
    """Whether two quantities are the same up to rounding, where they are the same polynomial."""
    difference = a - b
    if not difference.vanishes or max(rtol, atol) < LEAST_TOLERANCE:
        raise PolynomialError
    return difference * 0.0 + 1.0


# ---- squares of what is no polynomial -----------------------------------------------------------


def itself(x: Algebraic) -> Any:
    """The square of a square root."""
    return x


def squared(x: Algebraic) -> Any:
    """The square of a size."""
    return x * x
