"""Functions as polynomials in their arguments: sums, products and truths.

A rule takes the operands in order and the options by name, as a kernel does. It uses only the
operations of `Algebraic`, and so works in every algebra that has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any, Protocol

import numpy as np

from dropcheck.vocabulary.shapes import Shape, flag, normalise_axes


class PolynomialError(ValueError):
    """A quantity is no polynomial in its arguments, or a polynomial that is too large."""


class TooLargeError(PolynomialError):
    """A quantity is a polynomial, but takes too much work."""


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

    def magnitude(self) -> Any:
        """The size of each element; x and -x have the same magnitude."""


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


# ---- with sizes ---------------------------------------------------------------------------------


def larger(a: Algebraic, *more: Algebraic) -> Any:
    """The largest of all, two by two, as (a + b + |a - b|) / 2."""
    for b in more:
        a = (a + b + (a - b).magnitude()) * 0.5
    return a


def smaller(a: Algebraic, *more: Algebraic) -> Any:
    """The smallest of all, two by two, as (a + b - |a - b|) / 2."""
    for b in more:
        a = (a + b - (a - b).magnitude()) * 0.5
    return a


def positive_part(x: Algebraic) -> Any:
    """The positive part max(x, 0) as (x + |x|) / 2."""
    return (x + x.magnitude()) * 0.5


def bent(x: Algebraic, slope: Algebraic) -> Any:
    """The function that is x above 0 and slope · x below."""
    positive = positive_part(x)
    return positive + (x - positive) * slope


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
