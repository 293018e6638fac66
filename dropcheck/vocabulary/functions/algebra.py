"""Functions as polynomials in their arguments: sums, products and truths.

A rule takes the operands in order and the options by name, as a kernel does. It uses only the
operations of `Algebraic`, and so works in every algebra that has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import permutations
from operator import add
from typing import Any, Protocol

import numpy as np

from dropcheck.vocabulary.function import Kernel, PolynomialRule
from dropcheck.vocabulary.shapes import (
    Shape,
    flag,
    normalise_axes,
    normalise_axis,
    sizes,
    whole,
)


class PolynomialError(ValueError):
    """A quantity is no polynomial in its arguments, or a polynomial that is too large."""


class Algebraic(Protocol):
    """A quantity in an algebra.

    Arithmetic is element by element, with numpy's rule for shapes; the other operand may be a
    number or a fixed array. Every method raises `PolynomialError` if the result is no polynomial.
    """

    @property
    def shape(self) -> Shape:
        """The shape of one draw."""

    @property
    def fixed(self) -> Any:
        """The array of a fixed quantity, without an axis of draws; None if it is random."""

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
        """The quotient; the divisor must be fixed."""

    def total(self, axes: tuple[int, ...], keepdims: bool) -> Any:
        """The sum of the elements along some axes."""

    def product(self, axes: tuple[int, ...], keepdims: bool) -> Any:
        """The product of the elements along some axes."""

    def widened(self, place: int) -> Any:
        """The quantity with a new axis of length 1 before the axis at this place."""

    def permuted(self, order: Sequence[int]) -> Any:
        """The quantity with its axes in another order."""

    def reshaped(self, shape: Shape) -> Any:
        """The elements in their order, in another shape."""

    def picked(self, axis: int, place: int) -> Any:
        """The slice at one place of an axis, without that axis."""

    def mapped(self, axis: int, length: int, matrix: Callable[[], Any]) -> Any:
        """A matrix [length, length of the axis] times each line along an axis."""

    def truth(self) -> Any:
        """The quantity itself, which must be 1 or 0."""


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
    deviations = x - mean(x, axis=axis, keepdims=1)
    return total(deviations * deviations, axis=axis, keepdims=keepdims) / float(degrees)


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
    side = x.shape[-1]
    if side > LARGEST_SIDE:
        raise PolynomialError
    return total(x * np.eye(side), axis=(-2.0, -1.0))


LARGEST_WRITTEN_OUT = 4  # the most rows of a determinant that is written out in full


def determinant(x: Algebraic) -> Any:
    """The sum over all permutations of products of elements, each with its sign (Leibniz)."""
    side = x.shape[-1]
    if not 0 < side <= LARGEST_WRITTEN_OUT:
        raise PolynomialError
    last = len(x.shape) - 1
    result: Any = None
    for order in permutations(range(side)):
        term: Any = None
        for row, column in enumerate(order):
            element = x.picked(last, column).picked(last - 1, row)
            term = element if term is None else term * element
        turned = sum(order[i] > order[j] for i in range(side) for j in range(i + 1, side)) % 2
        signed = term * -1.0 if turned else term
        result = signed if result is None else result + signed
    return result


LEAST_TOLERANCE = 1e-10  # rounding errors stay far below it
LARGEST_SIDE = 1000  # the largest side of a fixed matrix that is made for a linear map


# ---- truths -------------------------------------------------------------------------------------


def choice(c: Algebraic, a: Algebraic, b: Algebraic) -> Any:
    """The value a where c holds, else b."""
    return b + c.truth() * (a - b)


def denial(a: Algebraic) -> Any:
    """1 where a is 0, else 0."""
    return a.truth() * -1.0 + 1.0


def conjunction(a: Algebraic, b: Algebraic) -> Any:
    """1 where both are true."""
    return a.truth() * b.truth()


def disjunction(a: Algebraic, b: Algebraic) -> Any:
    """1 where at least one is true."""
    return denial(a) * denial(b) * -1.0 + 1.0


def every(x: Algebraic, *, axis: Any = None, keepdims: float = 0) -> Any:
    """1 where all elements along axes are true."""
    return product(x.truth(), axis=axis, keepdims=keepdims)


def some(x: Algebraic, *, axis: Any = None, keepdims: float = 0) -> Any:
    """1 where at least one element along axes is true."""
    return product(denial(x), axis=axis, keepdims=keepdims) * -1.0 + 1.0


def compared(a: Algebraic, b: Algebraic, *, alike: float) -> Any:
    """The comparison of a quantity with itself, whose result is `alike`.

    Two different polynomials are not compared, even if they are equal: rounding may decide.
    """
    if a is not b:
        raise PolynomialError
    return a * 0.0 + alike


def near(a: Algebraic, b: Algebraic, *, rtol: float = 0.0, atol: float = 0.0) -> Any:
    """1 for two quantities that are the same polynomial, up to rounding."""
    difference = a - b
    if not difference.vanishes or max(rtol, atol) < LEAST_TOLERANCE:
        raise PolynomialError
    return difference * 0.0 + 1.0


# ---- linear maps ---------------------------------------------------------------------------------
#
# Functions that move elements, or add them up along an axis, as polynomials in the elements.


LARGEST_CONDITION = 1e4  # the largest condition number of a matrix whose inverse is used


# ---- along an axis ------------------------------------------------------------------------------


def summing(kernel: Kernel) -> PolynomialRule:
    """The rule of a kernel that adds up elements along an axis: its matrix, from unit vectors."""

    def rule(x: Algebraic, *, axis: Any = None) -> Any:
        at = normalise_axis(-1 if axis is None else axis, x.shape)
        if x.shape[at] > LARGEST_SIDE:
            raise PolynomialError
        matrix = kernel(np.eye(x.shape[at]), axis=0)
        return x.mapped(at, len(matrix), lambda: matrix)

    return rule


def picking(kernel: Kernel) -> PolynomialRule:
    """The rule of a kernel that picks elements along axes, which it applies to their indices."""

    def rule(x: Algebraic, *, axis: Any = None, **options: Any) -> Any:
        for at in normalise_axes(axis, x.shape):
            places = np.arange(x.shape[at])[:, np.newaxis]
            x = _selected(x, at, kernel(places, axis=0, **options)[:, 0].tolist())
        return x

    return rule


def solved(a: Algebraic, b: Algebraic) -> Any:
    """The x with a @ x == b, for a fixed matrix that is far from singular."""
    if a.fixed is None or len(a.shape) > 2 or np.linalg.cond(a.fixed) > LARGEST_CONDITION:
        raise PolynomialError
    inverse = np.linalg.inv(a.fixed)
    return b.mapped(max(len(b.shape) - 2, 0), a.shape[-1], lambda: inverse)


# ---- elements by their places -------------------------------------------------------------------


def subscript(x: Algebraic, *, index: Sequence[int | slice | None]) -> Any:
    """Elements by fixed indices."""
    axis = 0
    for entry in index:
        if entry is None:
            x = x.widened(axis)
            axis += 1
            continue
        length = x.shape[axis]
        if not isinstance(entry, slice):
            x = x.picked(axis, entry % length)
            continue
        places = range(*entry.indices(length))
        x = _selected(x, axis, places)
        axis += 1
    return x


def _selected(x: Algebraic, axis: int, places: Sequence[int]) -> Any:
    """The slices at some places of an axis, in this order."""
    length = x.shape[axis]
    if list(places) == list(range(length)):
        return x
    if len(places) == 1:
        return x.picked(axis, places[0]).widened(axis)
    return x.mapped(axis, len(places), lambda: np.equal.outer(places, range(length)) * 1.0)


def chosen(x: Algebraic, *, axis: float, places: Sequence[int]) -> Any:
    """Elements by several fixed indices."""
    return _selected(x, normalise_axis(axis, x.shape), places)


def take(x: Algebraic, i: Algebraic) -> Any:
    """Elements of a vector, or rows of a matrix, by fixed indices."""
    if i.fixed is None or len(i.shape) > 1:
        raise PolynomialError
    places = (np.asarray(i.fixed).astype(int) % x.shape[0]).tolist()
    return _selected(x, 0, places) if isinstance(places, list) else x.picked(0, places)


def _placed(x: Algebraic, axis: int, length: int, first: int) -> Any:
    """The elements of x from place `first` on, in an axis of this length, and zeros elsewhere."""
    own = x.shape[axis]
    return x.mapped(axis, length, lambda: np.eye(length, own, -first))


def tile(x: Algebraic, *, n: Any) -> Any:
    """The array repeated along its last axes."""
    times = sizes(n, "n")
    while len(x.shape) < len(times):
        x = x.widened(0)
    for at, factor in enumerate(times, len(x.shape) - len(times)):
        x = _selected(x, at, [*range(x.shape[at])] * factor)
    return x


# ---- shapes -------------------------------------------------------------------------------------


def regrouped(shape: Shape, new: Shape) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The axes of two shapes with the same number of elements, in groups of equal products.

    >>> regrouped((2, 6, 5), (2, 3, 2, 5))
    [((0,), (0,)), ((1,), (1, 2)), ((2,), (3,))]
    """
    if 0 in shape:
        return [(tuple(range(len(shape))), tuple(range(len(new))))]
    groups: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    at = to = 0
    while at < len(shape) or to < len(new):
        own, made = [at], [to]
        if at == len(shape) or (to < len(new) and new[to] == 1 != shape[at]):
            own = []
        elif to == len(new) or shape[at] == 1 != new[to]:
            made = []
        else:
            left, right = shape[at], new[to]
            while left != right:
                if left < right:
                    own.append(own[-1] + 1)
                    left *= shape[own[-1]]
                else:
                    made.append(made[-1] + 1)
                    right *= new[made[-1]]
        at, to = at + len(own), to + len(made)
        groups.append((tuple(own), tuple(made)))
    return groups


def kron(a: Algebraic, b: Algebraic) -> Any:
    """Every element of a times the whole of b."""
    rank = max(len(a.shape), len(b.shape))
    while len(a.shape) < rank:
        a = a.widened(0)
    while len(b.shape) < rank:
        b = b.widened(0)
    shape = tuple(one * other for one, other in zip(a.shape, b.shape, strict=True))
    for place in range(rank):
        a, b = a.widened(2 * place + 1), b.widened(2 * place)
    return (a * b).reshaped(shape)


# ---- zeros between ------------------------------------------------------------------------------


def masked(kernel: Kernel) -> PolynomialRule:
    """The rule of a kernel that puts 0 in fixed places: a product with its result for ones."""

    def rule(x: Algebraic, **options: Any) -> Any:
        if max(x.shape[-2:]) > LARGEST_SIDE:
            raise PolynomialError
        return x * kernel(np.ones((*x.shape[-2:], 1)), **options)[..., 0]

    return rule


def diagonal(x: Algebraic, *, k: float = 0) -> Any:
    """The matrix with the vector x as its k-th diagonal, or the k-th diagonal of a matrix."""
    above = whole(k, "k")
    side = (x.shape[0] if len(x.shape) == 1 else max(x.shape[-2:])) + abs(above)
    if side > LARGEST_SIDE:
        raise PolynomialError
    if len(x.shape) == 1:
        return _placed(x, 0, side, max(-above, 0)).widened(1) * np.eye(side, side, above)
    rows, columns = x.shape[-2:]
    first, lines = max(-above, 0), min(rows - max(-above, 0), columns - max(above, 0))
    if lines <= 0:
        raise PolynomialError
    on = total(x * np.eye(rows, columns, above), axis=-1)
    return _selected(on, len(on.shape) - 1, range(first, first + lines))


# ---- one of several -----------------------------------------------------------------------------


def concat(*parts: Algebraic, axis: float = -1) -> Any:
    """The arrays one after the other; a single number counts as a list of one."""
    lists = [part if part.shape else part.widened(0) for part in parts]
    at = normalise_axis(axis, lists[0].shape)
    length = sum(part.shape[at] for part in lists)
    firsts = [sum(part.shape[at] for part in lists[:before]) for before in range(len(lists))]
    placed = [_placed(part, at, length, first) for part, first in zip(lists, firsts, strict=True)]
    return reduce(add, placed)


def stack(*parts: Algebraic, axis: float = -1) -> Any:
    """The arrays side by side along a new axis."""
    at = normalise_axis(axis, (*parts[0].shape, len(parts)))
    length = len(parts)
    placed = [_placed(part.widened(at), at, length, place) for place, part in enumerate(parts)]
    return reduce(add, placed)
