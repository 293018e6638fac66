"""Polynomials in the draws of a model, whose terms are sums over indices of arrays.

A term is a coefficient times fixed arrays times atoms, with an index for each of their axes, as in
Σ_k W[i, k] x[k] y[j]². An index that stands for an axis of the quantity is free; every other index
is summed over. So a sum over a million elements is a single term. Terms that are equal up to the
names of summed indices are brought to one form, and added up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dropcheck.analysis.polynomials.term_space import (
    LARGEST_ARRAY,
    Space,
    substituted,
)
from dropcheck.analysis.polynomials.terms import Monomial, fixed_index
from dropcheck.array_types import Floats
from dropcheck.vocabulary.functions.algebra import PolynomialError
from dropcheck.vocabulary.functions.linear_maps import regrouped
from dropcheck.vocabulary.shapes import Shape, ShapeError, broadcast

MOST_TERMS = 400
LARGEST_EXPONENT = 8
# a product of at most this many elements is multiplied out; a longer one is an atom of its own
WRITTEN_OUT = 3


class Polynomial:
    """A quantity as a polynomial; `axes` has the free index of each axis, None for a length of 1.

    It is an `Algebraic` of the vocabulary, so that the rules there work on it.
    """

    def __init__(
        self,
        space: Space,
        shape: Shape,
        axes: tuple[int | None, ...],
        terms: Iterable[Monomial],
        *,
        fixed: Floats | None = None,
        binary: bool = False,
    ) -> None:
        self.space = space
        self.shape = shape
        self.axes = axes
        self.terms = space.collected(terms, self.free)
        self.fixed = fixed
        self.binary = binary
        if len(self.terms) > MOST_TERMS:
            raise PolynomialError

    @property
    def free(self) -> frozenset[int]:
        """The free indices."""
        return frozenset(label for label in self.axes if label is not None)

    @property
    def vanishes(self) -> bool:
        """Whether it is 0, up to rounding."""
        return not self.terms

    @classmethod
    def constant(cls, space: Space, array: Any) -> Polynomial:
        """A fixed array, without an axis of draws.

        Raises:
            PolynomialError: it is not finite, or too large.
        """
        values = np.asarray(array, dtype=np.float64)
        axes = tuple(space.label(length) if length != 1 else None for length in values.shape)
        low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
        if not (math.isfinite(low) and math.isfinite(high)):
            raise PolynomialError
        if low == high:
            terms: list[Monomial] = [Monomial(low, 1.0, (), ())] if low else []
        elif values.size > LARGEST_ARRAY:
            raise PolynomialError
        else:
            labels = tuple(label for label in axes if label is not None)
            squeezed = values.reshape(tuple(length for length in values.shape if length != 1))
            terms = [Monomial(1.0, 1.0, ((space.array(squeezed), labels),), ())]
        return cls(space, values.shape, axes, terms, fixed=values)

    def _operand(self, other: Any) -> Polynomial:
        return other if isinstance(other, Polynomial) else Polynomial.constant(self.space, other)

    # ---- arithmetic ----------------------------------------------------------------------------

    def _aligned(self, other: Polynomial) -> tuple[Shape, tuple[int | None, ...], list[Monomial]]:
        """The common shape and axes, and the terms of the other with free indices as here."""
        try:
            shape = broadcast([self.shape, other.shape])
        except ShapeError as error:
            raise PolynomialError from error
        rank = len(shape)
        own = (None,) * (rank - len(self.axes)) + self.axes
        theirs = (None,) * (rank - len(other.axes)) + other.axes
        mapping: dict[int, int] = {}
        axes: list[int | None] = []
        for mine, label in zip(own, theirs, strict=True):
            if label is not None:
                # a new index, if this polynomial has it on another axis, as in x[:, None] * x
                kept = self.space.label(self.space.sizes[label]) if label in self.free else label
                mapping[label] = mine if mine is not None else kept
                axes.append(mapping[label])
            else:
                axes.append(mine)
        if all(old == new for old, new in mapping.items()):
            return shape, tuple(axes), list(other.terms)
        return shape, tuple(axes), [substituted(self.space, t, mapping) for t in other.terms]

    def __add__(self, other: Any) -> Polynomial:
        """The sum."""
        right = self._operand(other)
        shape, axes, terms = self._aligned(right)
        return Polynomial(self.space, shape, axes, [*self.terms, *terms])

    def __sub__(self, other: Any) -> Polynomial:
        """The difference."""
        return self + self._operand(other) * -1.0

    __radd__ = __add__

    def __rsub__(self, other: Any) -> Polynomial:
        """The difference of a fixed array and this polynomial."""
        difference: Polynomial = self * -1.0 + other
        return difference

    def __neg__(self) -> Polynomial:
        """Minus this polynomial."""
        return self * -1.0

    def __mul__(self, other: Any) -> Polynomial:
        """The product."""
        if isinstance(other, float):
            terms = [term.times(other) for term in self.terms] if other else []
            if not math.isfinite(other):
                raise PolynomialError
            return Polynomial(self.space, self.shape, self.axes, terms)
        right = self._operand(other)
        if right is self and self.binary:
            return self
        shape, axes, theirs = self._aligned(right)
        free = frozenset(label for label in axes if label is not None)
        self.space.spend(len(self.terms) * len(theirs))
        terms = [self.space.product(own, term, free) for own in self.terms for term in theirs]
        binary = self.binary and right.binary
        return Polynomial(self.space, shape, axes, terms, binary=binary)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Polynomial:
        """The quotient; the divisor must be fixed."""
        divisor = self._operand(other).fixed
        if divisor is None or not divisor.all():
            raise PolynomialError
        if divisor.shape == ():
            return self * (1.0 / float(divisor))
        return self * Polynomial.constant(self.space, 1.0 / divisor)

    def __pow__(self, other: Any) -> Polynomial:
        """A whole power."""
        exponent = self._operand(other).fixed
        if exponent is None or exponent.shape != ():
            raise PolynomialError
        power = float(exponent)
        if not (power.is_integer() and 0 <= power <= LARGEST_EXPONENT):
            raise PolynomialError
        return self.raised(int(power))

    def raised(self, power: int) -> Polynomial:
        """A whole power."""
        if power == 0:
            return Polynomial.constant(self.space, np.ones(self.shape))
        result: Polynomial | None = None
        square = self
        while True:
            if power & 1:
                result = square if result is None else result * square
            power >>= 1
            if not power:
                return result if result is not None else self
            square = square * square

    def with_number(self, number: float, loss: float) -> Polynomial:
        """The sum with a number; `loss` is the growth of its rounding error."""
        return self._with(self.axes, self.shape, [*self.terms, Monomial(number, loss, (), ())])

    def truth(self) -> Polynomial:
        """The polynomial itself, which must be 1 or 0; for a fixed one, whether it is not 0."""
        if self.binary:
            return self
        if self.fixed is None:
            raise PolynomialError
        return Polynomial.constant(self.space, (self.fixed != 0).astype(np.float64))

    def magnitude(self) -> Polynomial:
        """The size as a letter, if there are letters for sizes."""
        if self.fixed is not None:
            return Polynomial.constant(self.space, np.abs(self.fixed))
        if self.space.magnitude is None:
            raise PolynomialError
        size: Polynomial = self.space.magnitude(self)
        return size

    # ---- axes ----------------------------------------------------------------------------------

    def _with(
        self, axes: Sequence[int | None], shape: Shape, terms: Iterable[Monomial]
    ) -> Polynomial:
        return Polynomial(self.space, shape, tuple(axes), terms, binary=self.binary)

    def _other_axes(self, gone: Sequence[int], keepdims: bool) -> tuple[list[int | None], Shape]:
        """The axes and the shape without some axes, or with a length of 1 in their place."""
        kept = [
            (None, 1) if at in gone else pair
            for at, pair in enumerate(zip(self.axes, self.shape, strict=True))
            if keepdims or at not in gone
        ]
        return [label for label, _ in kept], tuple(length for _, length in kept)

    def total(self, axes: tuple[int, ...], keepdims: bool = False) -> Polynomial:
        """The sum of the elements along some axes."""
        left, shape = self._other_axes(axes, keepdims)
        gone = {label for at in axes if (label := self.axes[at]) is not None}
        empty = any(self.shape[at] == 0 for at in axes)
        terms = []
        for term in () if empty else self.terms:
            # a term that does not vary along an axis is multiplied by the length of the axis
            missing = gone - term.labels
            terms.append(term.times(float(math.prod(self.space.sizes[one] for one in missing))))
        return Polynomial(self.space, shape, tuple(left), terms)

    def widened(self, place: int) -> Polynomial:
        """The polynomial with a new axis of length 1."""
        axes = (*self.axes[:place], None, *self.axes[place:])
        return self._with(axes, (*self.shape[:place], 1, *self.shape[place:]), self.terms)

    def permuted(self, order: Sequence[int]) -> Polynomial:
        """The polynomial with its axes in another order."""
        shape = tuple(self.shape[axis] for axis in order)
        return self._with([self.axes[axis] for axis in order], shape, self.terms)

    def reshaped(self, shape: Shape) -> Polynomial:
        """The elements in their order, in another shape.

        Axes that are joined or split are summed with an array that is 1 where old and new indices
        mean the same element.
        """
        axes: list[int | None] = []
        terms: list[Monomial] = list(self.terms)
        for own, made in regrouped(self.shape, shape):
            old = [self.axes[at] for at in own if self.axes[at] is not None]
            if len(own) == len(made) == 1 or not old:
                axes += [*old] or [None] * len(made)
                continue
            count = math.prod(self.shape[at] for at in own)
            if count * count > LARGEST_ARRAY or not count:
                raise PolynomialError
            new = [self.space.label(shape[at]) if shape[at] > 1 else None for at in made]
            axes += new
            labels = [label for label in [*new, *old] if label is not None]
            joined = np.eye(count).reshape([self.space.sizes[label] for label in labels])
            terms = [self._through(term, joined, labels, old) for term in terms]
        return self._with(axes, shape, terms)

    def _through(
        self, term: Monomial, joined: Floats, labels: Sequence[int], old: Sequence[int | None]
    ) -> Monomial:
        """A term times an array of new and old indices, summed over the old ones in the term."""
        here = [label for label in old if label in term.labels]
        if not here:
            return term  # it varies along none of these axes
        gone = tuple(at for at, label in enumerate(labels) if label in old and label not in here)
        kept = tuple(label for at, label in enumerate(labels) if at not in gone)
        tensor = (self.space.array(np.ascontiguousarray(joined.sum(axis=gone))), kept)
        return term.with_tensors((*term.tensors, tensor))

    def picked(self, axis: int, place: int) -> Polynomial:
        """The slice at one place of an axis, without that axis."""
        label = self.axes[axis]
        axes, shape = self._other_axes((axis,), keepdims=False)
        terms: Iterable[Monomial] = self.terms
        if label is not None:
            mapping = {label: fixed_index(place)}
            terms = [substituted(self.space, term, mapping) for term in self.terms]
        return self._with(axes, shape, terms)

    def mapped(self, axis: int, length: int, matrix: Callable[[], Any]) -> Polynomial:
        """The matrix [length, length of the axis] times each line along an axis."""
        own = self.shape[axis]
        if length * own > LARGEST_ARRAY or not length or not own:
            raise PolynomialError
        shape = (*self.shape[:axis], length, *self.shape[axis + 1 :])
        new = self.space.label(length) if length > 1 else None
        axes = (*self.axes[:axis], new, *self.axes[axis + 1 :])
        rows = np.asarray(matrix(), dtype=np.float64)
        old = self.axes[axis]
        labels = tuple(label for label in (new, old) if label is not None)
        array = rows.reshape(tuple(self.space.sizes[label] for label in labels))
        # for terms that do not vary along the axis
        alike = (array, labels) if old is None else (array.sum(axis=-1), labels[:-1])
        terms = []
        for term in self.terms:
            factor, of = (array, labels) if old in term.labels else alike
            if of:
                tensor = (self.space.array(factor), of)
                terms.append(term.with_tensors((*term.tensors, tensor)))
            else:
                terms.append(term.times(float(factor)))
        return Polynomial(self.space, shape, axes, terms)

    def product(self, axes: tuple[int, ...], keepdims: bool = False) -> Polynomial:
        """The product of the elements along some axes."""
        if math.prod(self.shape[at] for at in axes) > WRITTEN_OUT:
            whole_product: Polynomial = self.space.product_over(self, axes, keepdims)
            return whole_product
        result = self
        for at in axes:
            if self.shape[at] == 0:
                raise PolynomialError
            picks = [result.picked(at, place) for place in range(self.shape[at])]
            whole = picks[0]
            for one in picks[1:]:
                whole = whole * one
            result = whole.widened(at)
        left, shape = result._other_axes(axes, keepdims)
        return result._with(left, shape, result.terms)


def mean_of_elements(quantity: Polynomial) -> Polynomial:
    """The mean over all elements of a draw: one number."""
    count = math.prod(quantity.shape)
    whole = quantity.total(tuple(range(len(quantity.shape))))
    return whole if count == 1 else whole * (1.0 / count)


def contracted(space: Space, term: Monomial) -> float:
    """A term without atoms, summed over all its indices.

    Raises:
        PolynomialError: it is too much work.
    """
    if not term.tensors:
        return term.coefficient
    left = space.simplified(term)
    if left.tensors:
        raise PolynomialError
    return left.coefficient


def value_of(space: Space, terms: Iterable[Monomial]) -> tuple[float, float]:
    """The sum of terms without atoms, all indices summed over, and the sum of their sizes."""
    total = size = 0.0
    for term in terms:
        value = contracted(space, term)
        total += value
        size += abs(value) * term.loss
    return total, size
