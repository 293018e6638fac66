"""Polynomials in the draws of a model, whose terms are sums over indices of arrays.

A term is a coefficient times fixed arrays times atoms, with an index for each of their axes, as in
Σ_k W[i, k] x[k] y[j]². An index that stands for an axis of the quantity is free; every other index
is summed over. So a sum over a million elements is a single term. Terms that are equal up to the
names of summed indices are brought to one form, and added up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial, reduce
from itertools import permutations
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dropcheck.array_types import Floats
from dropcheck.vocabulary.function import Origin, origin
from dropcheck.vocabulary.shapes import Shape, ShapeError, broadcast, normalise_axes


class PolynomialError(ValueError):
    """A quantity is no polynomial in its arguments, or a polynomial that is too large."""


# ---- terms ---------------------------------------------------------------------------------------
#
# The terms of a polynomial: coefficient · fixed arrays · atoms, with summed indices.
#
# An index is a number from 0 on, whose range the `Space` knows. The negative number −1 − k stands
# for the fixed place k.


FunctionPowers = tuple[tuple[int, int], ...]
"""Functions of one draw, by number, each with its exponent."""
ITSELF = 0
"""The number of the draw among its functions."""

EPSILON = float(np.finfo(np.float64).eps)
# a sum that is smaller than this, relative to its parts, is only rounding
SUM_ROUNDING = 8 * EPSILON

# numbers below it have fewer digits
TINY = float(np.finfo(np.float64).tiny)


def product_of(first: float, second: float) -> float:
    """The product of two numbers, which is 0 only if one of them is 0.

    Raises:
        PolynomialError: it underflows.

    >>> product_of(2.0, 0.0), product_of(1e-100, 1e-200)
    (0.0, 1e-300)
    """
    product = first * second
    if abs(product) < TINY and first and second:
        raise PolynomialError
    return product


class Atom(NamedTuple):
    """A product of powers of functions of one draw, at the element with these indices.

    `side` is 0 or 1: it tells the two factors of a covariance apart.
    """

    draw: int
    side: int
    powers: FunctionPowers
    indices: tuple[int, ...]


Tensor = tuple[int, tuple[int, ...]]
"""The number of a fixed array in the space, and the index of each of its axes."""


class Monomial(NamedTuple):
    """coefficient · Π array · Π atom; `loss` is the factor by which rounding errors have grown."""

    coefficient: float
    loss: float
    tensors: tuple[Tensor, ...]
    atoms: tuple[Atom, ...]
    linked: int = 0  # the groups of draws that link the two factors of a covariance, as bits

    @property
    def labels(self) -> set[int]:
        """All indices in the term that are no fixed places."""
        indices: set[int] = set()
        for atom in self.atoms:
            indices.update(atom[3])
        for _, labels in self.tensors:
            indices.update(labels)
        return {label for label in indices if label >= 0}

    def times(self, factor: float) -> Monomial:
        """The term times a number."""
        coefficient = product_of(self.coefficient, factor)
        return Monomial(coefficient, self.loss, self.tensors, self.atoms, self.linked)

    def with_atoms(self, atoms: tuple[Atom, ...]) -> Monomial:
        """The term with other atoms."""
        return Monomial(self.coefficient, self.loss, self.tensors, atoms, self.linked)


def fixed_index(place: int) -> int:
    """The index that stands for one fixed place."""
    return -1 - place


def merged(atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """The atoms, with those of one element joined into one."""
    if len(atoms) < 2:
        return atoms
    joined: dict[tuple[int, int, tuple[int, ...]], FunctionPowers] = {}
    for draw, side, powers, indices in atoms:
        key = (draw, side, indices)
        before = joined.get(key)
        joined[key] = powers if before is None else multiplied((before, powers))
    return tuple([Atom(d, s, powers, i) for (d, s, i), powers in joined.items()])


def multiplied(block: Iterable[FunctionPowers]) -> FunctionPowers:
    """The exponents of the product of several atoms."""
    exponents: dict[int, int] = {}
    for powers in block:
        for function, power in powers:
            exponents[function] = exponents.get(function, 0) + power
    return tuple(sorted(exponents.items()))


# ---- term space ----------------------------------------------------------------------------------
#
# What the polynomials of one analysis share: indices, arrays, and the normal form of their terms.
#
# Summed indices of one range have the same numbers in all terms, in an order that depends on the
# places where they stand. So most equal terms have the same form, and are added up.


LARGEST_ARRAY = 1_000_000  # the most entries of a fixed array
LARGEST_SUM = 10_000_000  # the most products in a sum over indices
MOST_INDICES = 24  # the most indices of one range in one term
MOST_WORK = 2_000  # the most steps of an analysis: products and sums of terms
MOST_LOSS = 1e7  # the largest growth of rounding errors: beyond it most digits are lost
SHARE_OF_TERM = 0.05  # the cost of the normal form of a term, in steps


class Space:
    """The indices and arrays that the polynomials of one analysis share, and the work so far."""

    def __init__(
        self, product_over: Callable[[Any, tuple[int, ...], bool], Any], most_work: float
    ) -> None:
        self.sizes: list[int] = []
        # for draws with two values: the square as a multiple of the draw plus a number
        self.squares: dict[int, tuple[float, float]] = {}
        # the product of many elements along some axes, as an atom of its own
        self.product_over = product_over
        self._numbered: dict[tuple[int, int], int] = {}
        self._ordinals: dict[int, int] = {}
        self._arrays: list[Floats] = []
        self._array_numbers: dict[Any, int] = {}
        self.work = 0.0
        self._most_work = most_work

    def spend(self, steps: float) -> None:
        """Count steps.

        Raises:
            PolynomialError: there are too many.
        """
        self.work += steps
        if self.work > self._most_work:
            raise PolynomialError

    # ---- indices and arrays --------------------------------------------------------------------

    def label(self, size: int) -> int:
        """A new index with this range."""
        self.sizes.append(size)
        return len(self.sizes) - 1

    def numbered(self, size: int, ordinal: int) -> int:
        """The summed index of this range and number, the same for all terms."""
        if ordinal >= 2 * MOST_INDICES:
            raise PolynomialError
        index = self._numbered.get((size, ordinal))
        if index is None:
            index = self._numbered[size, ordinal] = self.label(size)
            self._ordinals[index] = ordinal
        return index

    def array(self, array: Floats) -> int:
        """The number of an array; small arrays with equal entries have one number."""
        key: Any = (array.shape, array.tobytes()) if array.size <= 64 else id(array)
        number = self._array_numbers.get(key)
        if number is None:
            number = self._array_numbers[key] = len(self._arrays)
            self._arrays.append(array)
        return number

    def array_of(self, tensor: Tensor) -> Floats:
        """The array of a number."""
        return self._arrays[tensor[0]]

    def tensor(self, array: Floats, indices: Sequence[int]) -> tuple[float, tuple[Tensor, ...]]:
        """An array with these indices, which may be fixed or equal, as a factor and arrays.

        The index of an axis of length 1 is ignored.
        """
        places: list[Any] = []
        moved: list[int] = []
        for index, length in zip(indices, array.shape, strict=True):
            places.append(0 if length == 1 else slice(None) if index >= 0 else -1 - index)
            if length != 1 and index >= 0:
                moved.append(index)
        array = array[tuple(places)]
        if len(set(moved)) < len(moved):
            letters = {label: place for place, label in enumerate(dict.fromkeys(moved))}
            operands: list[Any] = [array, [letters[label] for label in moved], [*letters.values()]]
            array = np.einsum(*operands)
            moved = list(letters)
        if not moved:
            return float(array), ()
        return 1.0, ((self.array(np.ascontiguousarray(array)), tuple(moved)),)

    # ---- sums and products ---------------------------------------------------------------------

    def product(self, one: Monomial, other: Monomial, free: frozenset[int]) -> Monomial:
        """The product of two terms, whose summed indices are kept separate."""
        if not (one.labels - free).isdisjoint(other.labels):
            other = self.apart(other, free)
        return Monomial(
            product_of(one.coefficient, other.coefficient),
            one.loss + other.loss,
            one.tensors + other.tensors,
            one.atoms + other.atoms,
            one.linked | other.linked,
        )

    def apart(self, term: Monomial, free: frozenset[int]) -> Monomial:
        """A term with summed indices that are different from those of any term in normal form."""
        shift = {
            label: self.numbered(self.sizes[label], self._ordinals[label] + MOST_INDICES)
            for label in term.labels - free
        }
        return substituted(self, term, shift) if shift else term

    def collected(
        self, terms: Iterable[Monomial], free: frozenset[int], *, exactly: bool = False
    ) -> list[Monomial]:
        """The terms in normal form, with equal terms added up.

        A sum that is only rounding is left out, unless `exactly` is set: then it stands for the
        digits that may have been lost.
        """
        sums: dict[Any, Monomial] = {}
        terms = list(terms)
        self.spend(len(terms) * SHARE_OF_TERM)
        reduced = [one for term in terms if term.coefficient for one in self._reduced(term, free)]
        for term in reduced:
            if not math.isfinite(term.coefficient) or (not exactly and term.loss > MOST_LOSS):
                raise PolynomialError
            usual = self._usual(term, free)
            # the entries of a single array can be added up, so they are not part of the key
            single = len(usual.tensors) == 1
            tensors: Any = usual.tensors[0][1] if single else usual.tensors
            key = (single, tensors, usual.atoms, usual.linked)
            before = sums.get(key)
            sums[key] = usual if before is None else self._sum(before, usual, single, exactly)
        return [term for term in sums.values() if term.coefficient]

    def _sum(self, one: Monomial, other: Monomial, single: bool, exactly: bool) -> Monomial:
        if not one.coefficient or not other.coefficient:
            return other if other.coefficient else one
        sizes = [abs(one.coefficient), abs(other.coefficient)]
        if single and one.tensors != other.tensors:
            first, second = (self.array_of(term.tensors[0]) for term in (one, other))
            total = one.coefficient * first + other.coefficient * second
            sizes[0] *= float(np.abs(first).max())
            sizes[1] *= float(np.abs(second).max())
            size, coefficient = float(np.abs(total).max()), 1.0
            tensors: tuple[Tensor, ...] = ((self.array(total), one.tensors[0][1]),)
        else:
            coefficient, tensors = one.coefficient + other.coefficient, one.tensors
            size = abs(coefficient)
        parts = sizes[0] * one.loss + sizes[1] * other.loss
        if not exactly and size <= SUM_ROUNDING * sum(sizes):
            return Monomial(0.0, 1.0, tensors, one.atoms, one.linked)
        if not size:  # the possible rounding error stands for a sum of 0
            coefficient = size = EPSILON * parts
            tensors = one.tensors
        if not size:  # arrays of zeros
            return Monomial(0.0, 1.0, tensors, one.atoms, one.linked)
        return Monomial(coefficient, max(1.0, parts / size), tensors, one.atoms, one.linked)

    # ---- the normal form -----------------------------------------------------------------------

    def _usual(self, term: Monomial, free: frozenset[int]) -> Monomial:
        if not term.tensors and not term.labels:
            if len(term.atoms) < 2:
                return term
            return term.with_atoms(tuple(sorted(term.atoms)))
        atoms, tensors = term.atoms, term.tensors
        if tensors:
            term = self.simplified(term, free)
            tensors = term.tensors
        order = self._order(tensors, atoms, free)
        if any(old != new for old, new in order.items()):
            tensors = tuple(
                (number, tuple([order.get(label, label) for label in labels]))
                for number, labels in tensors
            )
            atoms = tuple(
                [
                    Atom(draw, side, powers, tuple([order.get(i, i) for i in indices]))
                    for draw, side, powers, indices in atoms
                ]
            )
        if len(tensors) == 1:
            tensors = (self._sorted(tensors[0]),)
        tensors, atoms = tuple(sorted(tensors)), tuple(sorted(atoms))
        return Monomial(term.coefficient, term.loss, tensors, atoms, term.linked)

    def _sorted(self, tensor: Tensor) -> Tensor:
        """The array transposed so that its indices are in ascending order."""
        number, labels = tensor
        if len(labels) < 2:
            return tensor
        places = sorted(range(len(labels)), key=lambda at: labels[at])
        if places == list(range(len(labels))):
            return tensor
        array = np.ascontiguousarray(self._arrays[number].transpose(places))
        return self.array(array), tuple(labels[at] for at in places)

    def _reduced(self, term: Monomial, free: frozenset[int]) -> list[Monomial]:
        """A term with atoms of one element joined, and without powers of draws with two values."""
        atoms = merged(term.atoms)
        if not any(atom.draw in self.squares and atom.powers != ((0, 1),) for atom in atoms):
            return [term if len(atoms) == len(term.atoms) else term.with_atoms(atoms)]
        found = [term.with_atoms(())]
        for atom in atoms:
            square = self.squares.get(atom.draw)
            ((function, power), *others) = atom.powers
            if square is None or function or others or power == 1:
                found = [one.with_atoms((*one.atoms, atom)) for one in found]
                continue
            factor, summand = 1.0, 0.0  # of x as a multiple of x plus a number
            for _ in range(power - 1):
                factor, summand = factor * square[0] + summand, factor * square[1]
            plain = Atom(atom.draw, atom.side, ((function, 1),), atom.indices)
            with_it = [one.with_atoms((*one.atoms, plain)).times(factor) for one in found]
            found = [one for one in with_it if factor] + [
                one.times(summand) for one in found if summand
            ]
        labels = term.labels - free
        return [self.without(one, labels) for one in found]

    def without(self, term: Monomial, labels: Collection[int]) -> Monomial:
        """A term times the ranges of the summed indices that it no longer contains."""
        if not labels:
            return term
        kept = term.labels
        lost = [self.sizes[one] for one in labels if one not in kept]
        return term.times(float(math.prod(lost))) if lost else term

    def simplified(self, term: Monomial, free: frozenset[int] = frozenset()) -> Monomial:
        """A term in which sums over arrays only are computed, and arrays are joined if possible."""
        kept = set(free)
        for atom in term.atoms:
            kept.update(atom.indices)
        tensors = list(term.tensors)
        while True:
            alone = {label for _, labels in tensors for label in labels} - kept
            done = True
            for label in sorted(alone, key=lambda one: (self.sizes[one], one)):
                own = [tensor for tensor in tensors if label in tensor[1]]
                united = {one for _, labels in own for one in labels}
                if math.prod(self.sizes[one] for one in united) > LARGEST_SUM:
                    continue
                left = tuple(sorted(united - {label}))
                if math.prod(self.sizes[one] for one in left) > LARGEST_ARRAY:
                    continue
                tensors = [tensor for tensor in tensors if label not in tensor[1]]
                tensors.append((self.array(self._einsum(own, left)), left))
                done = False
                break
            if done:
                break
        tensors = self._joined_arrays(tensors)
        coefficient = term.coefficient
        for tensor in tensors:
            if not tensor[1]:
                coefficient = product_of(coefficient, float(self.array_of(tensor)))
        left_over = tuple(tensor for tensor in tensors if tensor[1])
        return Monomial(coefficient, term.loss, left_over, term.atoms, term.linked)

    def _joined_arrays(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Arrays with those multiplied together whose indices are among those of another."""
        found: list[Tensor] = []
        for tensor in sorted(tensors, key=lambda one: -len(one[1])):
            labels = set(tensor[1])
            for at, (own, wider) in enumerate(found):
                if labels <= set(wider):
                    whole = self._einsum([(own, wider), tensor], wider)
                    found[at] = (self.array(whole), wider)
                    break
            else:
                found.append(tensor)
        return found

    def _einsum(self, tensors: Sequence[Tensor], left: Sequence[int]) -> Floats:
        if len(tensors) == 1 and not left:
            return np.asarray(self._arrays[tensors[0][0]].sum())
        letters: dict[int, int] = {}
        operands: list[Any] = []
        for tensor in tensors:
            places = [letters.setdefault(label, len(letters)) for label in tensor[1]]
            operands += [self.array_of(tensor), places]
        self.spend(1 + math.prod(self.sizes[label] for label in letters) // 20_000)
        return np.asarray(np.einsum(*operands, [letters[label] for label in left]))

    def _order(
        self, tensors: tuple[Tensor, ...], atoms: tuple[Atom, ...], free: frozenset[int]
    ) -> dict[int, int]:
        """The numbers of the summed indices in the normal form: in the order of their factors.

        Two equal terms may get different forms; then they stay apart.
        """
        factors: list[tuple[Any, tuple[int, ...]]] = [(atom[:3], atom.indices) for atom in atoms]
        single = len(tensors) == 1
        factors += [((-1, 0 if single else number, ()), labels) for number, labels in tensors]
        summed = {i for _, labels in factors for i in labels if i >= 0 and i not in free}
        if not summed:
            return {}
        if len(summed) == 1:
            (only,) = summed
            return {only: self.numbered(self.sizes[only], 0)}
        factors.sort(key=lambda one: (one[0], [i if i not in summed else 1 << 60 for i in one[1]]))
        first: dict[int, int] = {}
        counts: dict[int, int] = {}
        for _, labels in factors:
            for label in labels:
                if label in summed and label not in first:
                    size = self.sizes[label]
                    counts[size] = counts.get(size, -1) + 1
                    if counts[size] >= MOST_INDICES:
                        raise PolynomialError
                    first[label] = self.numbered(size, counts[size])
        return first


def substituted(space: Space, term: Monomial, mapping: Mapping[int, int]) -> Monomial:
    """A term with some indices replaced by fixed places, or by other indices of the same range."""
    atoms = tuple(
        [
            Atom(draw, side, powers, tuple([mapping.get(i, i) for i in indices]))
            for draw, side, powers, indices in term.atoms
        ]
    )
    if not term.tensors:
        return term._replace(atoms=atoms)
    coefficient = term.coefficient
    tensors: list[Tensor] = []
    for place, labels in term.tensors:
        if not any(label in mapping for label in labels):
            tensors.append((place, labels))
            continue
        moved = tuple(mapping.get(label, label) for label in labels)
        if min(moved) >= 0 and len(set(moved)) == len(moved):
            tensors.append((place, moved))
            continue
        factor, own = space.tensor(space.array_of((place, labels)), moved)
        coefficient = product_of(coefficient, factor)
        tensors += own
    return term._replace(coefficient=coefficient, tensors=tuple(tensors), atoms=atoms)


# ---- polynomial ----------------------------------------------------------------------------------


MOST_TERMS = 400
LARGEST_EXPONENT = 8
# a product of at most this many elements is multiplied out; a longer one is an atom of its own
WRITTEN_OUT = 3
LARGEST_WRITTEN_OUT = 4  # the most rows of a determinant that is written out
LARGEST_KEPT, MOST_KEPT = 4096, 1000  # the most elements of arrays whose moves are kept, and moves
LARGEST_SIDE = 1000  # the largest side of a fixed matrix that is made for a running sum
LARGEST_CONDITION = 1e4  # the largest condition number of a matrix whose inverse is used


# where elements come from, and what is between them, by the function and the shapes
_MOVES: dict[tuple[Hashable, ...], tuple[dict[int, Origin], Floats]] = {}


class Polynomial(NDArrayOperatorsMixin):
    """A quantity as a polynomial; `axes` has the free index of each axis, None for a length of 1.

    It stands for an array of one draw: the last axis is that of draws, and has length 1. The
    kernels of the vocabulary work on it, if they use no more than numpy's functions listed below;
    for all others it raises `PolynomialError`.
    """

    dtype = np.dtype(np.float64)
    size = 0  # it holds no numbers that a kernel could look at

    def __init__(
        self,
        space: Space,
        axes: Sequence[int | None],
        shape: Shape,
        terms: Iterable[Monomial],
        *,
        fixed: Floats | None = None,
        binary: bool = False,
    ) -> None:
        self.space = space
        self.shape = shape
        self.axes = tuple(axes)
        self.terms = space.collected(terms, self.free)
        self.fixed = fixed
        self.binary = binary
        self.denied: Polynomial | None = None  # the truth whose denial this is
        if len(self.terms) > MOST_TERMS:
            raise PolynomialError

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def free(self) -> frozenset[int]:
        """The free indices."""
        return frozenset(label for label in self.axes if label is not None)

    @classmethod
    def constant(cls, space: Space, array: Any) -> Polynomial:
        """A fixed array.

        Raises:
            PolynomialError: it is not finite, or too large.
        """
        values = np.asarray(array)
        if values.dtype == np.object_:
            raise PolynomialError
        values = values.astype(np.float64, copy=False)
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
        return cls(space, axes, values.shape, terms, fixed=values)

    def _operand(self, other: Any) -> Polynomial:
        return other if isinstance(other, Polynomial) else Polynomial.constant(self.space, other)

    # ---- numpy's functions ---------------------------------------------------------------------

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        rule = _UFUNCS.get((ufunc.__name__, method))
        if rule is None:
            raise PolynomialError
        result = rule(*inputs, **options)
        if out is not None and isinstance(result, Polynomial):  # as `out=` changes an array
            vars(out[0]).update(vars(result))
        return result

    def __array_function__(self, function: Any, _types: Any, given: Any, options: Any) -> Any:
        rule = _FUNCTIONS.get(function)
        if rule is None:
            raise PolynomialError
        return rule(*given, **options)

    # ---- arithmetic ----------------------------------------------------------------------------

    def _aligned(self, other: Polynomial) -> tuple[tuple[int | None, ...], Shape, list[Monomial]]:
        """The common axes and shape, and the terms of the other with free indices as here."""
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
            return tuple(axes), shape, list(other.terms)
        return tuple(axes), shape, [substituted(self.space, t, mapping) for t in other.terms]

    def plus(self, other: Any) -> Polynomial:
        """The sum."""
        axes, shape, terms = self._aligned(self._operand(other))
        return Polynomial(self.space, axes, shape, [*self.terms, *terms])

    def times(self, other: Any) -> Polynomial:
        """The product."""
        if isinstance(other, float):
            if not math.isfinite(other):
                raise PolynomialError
            terms = [term.times(other) for term in self.terms] if other else []
            return Polynomial(self.space, self.axes, self.shape, terms)
        right = self._operand(other)
        if right is self and self.binary:
            return self
        axes, shape, theirs = self._aligned(right)
        free = frozenset(label for label in axes if label is not None)
        self.space.spend(len(self.terms) * len(theirs))
        terms = [self.space.product(own, term, free) for own in self.terms for term in theirs]
        return Polynomial(self.space, axes, shape, terms, binary=self.binary and right.binary)

    def raised(self, power: int) -> Polynomial:
        """A whole power."""
        if power == 0:
            return Polynomial.constant(self.space, np.ones(self.shape))
        result: Polynomial | None = None
        square = self
        while True:
            if power & 1:
                result = square if result is None else result.times(square)
            power >>= 1
            if not power:
                return result if result is not None else self
            square = square.times(square)

    def with_number(self, number: float, loss: float) -> Polynomial:
        """The sum with a number; `loss` is the growth of its rounding error."""
        terms = [*self.terms, Monomial(number, loss, (), ())]
        return Polynomial(self.space, self.axes, self.shape, terms, binary=self.binary)

    def truth(self) -> Polynomial:
        """The polynomial itself, which must be 1 or 0; for a fixed one, whether it is not 0."""
        if self.binary:
            return self
        if self.fixed is None:
            raise PolynomialError
        return Polynomial.constant(self.space, self.fixed != 0)

    # ---- axes ----------------------------------------------------------------------------------

    def moved(self, kernel: Callable[..., Any], *key: Hashable) -> Polynomial:
        """The elements as a function moves them; `key` tells it from others."""
        return moved(kernel, [self], key)

    def __getitem__(self, key: Any) -> Polynomial:
        """Elements by fixed indices."""
        parts = key if isinstance(key, tuple) else (key,)
        plain = all(isinstance(one, int | slice | EllipsisType | None) for one in parts)
        return self.moved(lambda x: x[key], "item", repr(key) if plain else object())

    def reshape(self, *shape: int) -> Polynomial:
        """The elements in their order, in another shape."""
        return self.moved(lambda x: x.reshape(*shape), "reshape", shape)

    def sum(self, axis: Any = None, keepdims: bool = False) -> Polynomial:
        """The sum of the elements along some axes."""
        axes = self._named(axis)
        sides = zip(self.axes, self.shape, strict=True)
        kept = [
            (None, 1) if at in axes else side
            for at, side in enumerate(sides)
            if keepdims or at not in axes
        ]
        gone = {label for at in axes if (label := self.axes[at]) is not None}
        terms = []
        for term in self.terms if all(self.shape[at] for at in axes) else ():
            # a term that does not vary along an axis is multiplied by the length of the axis
            missing = gone - term.labels
            terms.append(term.times(float(math.prod(self.space.sizes[one] for one in missing))))
        return Polynomial(
            self.space, [label for label, _ in kept], tuple(n for _, n in kept), terms
        )

    def _named(self, axis: Any) -> tuple[int, ...]:
        return tuple(range(self.ndim)) if axis is None else normalise_axes(axis, self.shape)

    def product(self, axis: Any = None, keepdims: bool = False) -> Polynomial:
        """The product of the elements along some axes."""
        axes = self._named(axis)
        if math.prod(self.shape[at] for at in axes) > WRITTEN_OUT:
            whole: Polynomial = self.space.product_over(self, axes, keepdims)
            return whole
        result = self
        for at in axes:
            if self.shape[at] == 0:
                raise PolynomialError
            before = (slice(None),) * at
            slices = [result[(*before, slice(k, k + 1))] for k in range(self.shape[at])]
            result = reduce(Polynomial.times, slices)
        return result if keepdims else result.moved(lambda x: np.squeeze(x, axes), np.squeeze, axes)


class Root:
    """A number whose square is a polynomial to a power: its even powers are polynomials."""

    dtype = np.dtype(np.float64)

    def __init__(self, base: Polynomial, power: int) -> None:
        self.base, self.power = base, power  # the square of the root is base**power
        self.shape = base.shape

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **_options: Any) -> Any:
        squared = ufunc is np.square or (ufunc is np.multiply and inputs[0] is inputs[1])
        if method != "__call__" or not (squared or (ufunc is np.power and inputs[0] is self)):
            raise PolynomialError
        half = 1 if squared else _exponent(inputs[1] / 2.0)
        return self.base.raised(self.power * half)


def moved(kernel: Callable[..., Any], arguments: Sequence[Any], key: Hashable) -> Polynomial:
    """The result of a function that moves the elements of polynomials, or puts 0 between them.

    Args:
        kernel: the function.
        arguments: polynomials, or fixed arrays, such as indices; at least one polynomial.
        key: what tells the function from others.
    """
    known = all(isinstance(one, Polynomial) for one in arguments)
    keys = key, *(one.shape for one in arguments)
    if not known or keys not in _MOVES:
        stands = [
            np.broadcast_to(0.0, one.shape) if isinstance(one, Polynomial) else one
            for one in arguments
        ]
        places = [at for at, one in enumerate(arguments) if isinstance(one, Polynomial)]
        found = {at: origin(kernel, stands, at) for at in places}, kernel(*stands)
        if known and sum(map(math.prod, keys[1:])) <= LARGEST_KEPT:
            if len(_MOVES) >= MOST_KEPT:
                _MOVES.clear()
            _MOVES[keys] = found
    else:
        found = _MOVES[keys]
    origins, fixed = found
    whole = reduce(Polynomial.plus, (_taken(arguments[at], one) for at, one in origins.items()))
    return whole.plus(fixed) if fixed.any() else whole


def _taken(argument: Polynomial, found: Origin) -> Polynomial:
    """The elements that come from one argument, and 0 elsewhere."""
    space = argument.space
    axes: list[int | None] = [None] * len(found.shape)
    places: dict[int, int] = {}
    chosen: list[tuple[int, tuple[int, ...], Any]] = []
    for label, (to, which) in zip(argument.axes, found.axes, strict=True):
        if label is None:
            continue
        size = space.sizes[label]
        if not to:
            places[label] = fixed_index(int(which))
        elif len(to) == 1 and np.array_equal(which, np.arange(size)):
            if axes[to[0]] is None:
                axes[to[0]] = label
            places[label] = axes[to[0]]  # type: ignore[assignment]  # it was just set
        else:
            chosen.append((label, to, which))
    for at, length in enumerate(found.shape):
        if axes[at] is None and length > 1:
            axes[at] = space.label(length)
    terms: list[Monomial] = list(argument.terms)
    if any(old != new for old, new in places.items()):
        terms = [substituted(space, term, places) for term in terms]
    for label, to, which in chosen:
        if which.size * space.sizes[label] > LARGEST_ARRAY:
            raise PolynomialError
        array = np.equal.outer(which, np.arange(space.sizes[label])) * 1.0
        labels = tuple(axes[at] for at in to)
        tensor: Any = (space.array(array), (*labels, label))
        terms = [
            term._replace(tensors=(*term.tensors, tensor)) if label in term.labels else term
            for term in terms
        ]
    result = Polynomial(space, axes, found.shape, terms, binary=argument.binary)
    return result if found.kept.all() else result.times(found.kept)


def lettered(space: Space, shape: Shape, draw: int, function: int = ITSELF) -> Polynomial:
    """A polynomial with a single atom: each element is a function of the draw's element there.

    `shape` is that of one draw.
    """
    axes = [space.label(length) if length != 1 else None for length in shape]
    indices = tuple(fixed_index(0) if label is None else label for label in axes)
    term = Monomial(1.0, 1.0, (), (Atom(draw, 0, ((function, 1),), indices),))
    return Polynomial(space, [*axes, None], (*shape, 1), [term])


# ---- numpy's functions of polynomials ------------------------------------------------------------


def _polynomials(*given: Any) -> list[Polynomial]:
    space = next(one.space for one in given if isinstance(one, Polynomial))
    return [
        one if isinstance(one, Polynomial) else Polynomial.constant(space, one) for one in given
    ]


def _difference(a: Any, b: Any) -> Polynomial:
    first, second = _polynomials(a, b)
    return first.plus(second.times(-1.0))


def _product(a: Any, b: Any) -> Polynomial:
    first, second = _polynomials(a, b)
    return first.times(second)


def _quotient(a: Any, b: Any) -> Polynomial:
    if isinstance(b, Polynomial) or not np.all(b):
        raise PolynomialError
    return _product(a, 1.0 / np.asarray(b, dtype=np.float64))


def _exponent(power: Any) -> int:
    """A whole exponent.

    Raises:
        PolynomialError: it is none, or a large one.
    """
    number = np.asarray(power)
    if number.dtype == np.object_ or number.size != 1:
        raise PolynomialError
    found = float(number.reshape(()))
    if not (found.is_integer() and 0 <= found <= LARGEST_EXPONENT):
        raise PolynomialError
    return int(found)


def _power(base: Any, power: Any) -> Polynomial:
    if not isinstance(base, Polynomial):
        raise PolynomialError
    return base.raised(_exponent(power))


def _chosen(c: Any, a: Any, b: Any) -> Polynomial:
    """The value a where c holds, else b."""
    condition, first, second = _polynomials(c, a, b)
    return second.plus(condition.truth().times(first.plus(second.times(-1.0))))


def _denial(x: Polynomial) -> Polynomial:
    """1 where a truth does not hold, else 0."""
    if x.denied is not None:
        return x.denied
    result = x.truth().times(-1.0).plus(1.0)
    result.binary, result.denied = True, x.truth()
    return result


def _both(a: Any, b: Any) -> Polynomial:
    first, second = _polynomials(a, b)
    return first.truth().times(second.truth())


def _either(a: Any, b: Any) -> Polynomial:
    first, second = _polynomials(a, b)
    return _denial(_both(_denial(first), _denial(second)))


def _any(x: Polynomial, axis: Any = None, keepdims: bool = False) -> Polynomial:
    none = _denial(x).product(axis, keepdims)
    none.binary = True
    return _denial(none)


def _compared(ufunc: np.ufunc, a: Any, b: Any) -> Polynomial:
    """The comparison of a quantity with itself, or whether a truth is not 0.

    Two different polynomials are not compared, even if they are equal: rounding may decide.
    """
    if a is b:
        return Polynomial.constant(a.space, ufunc(np.zeros(a.shape), 0.0))
    if ufunc is not np.not_equal or not isinstance(a, Polynomial) or np.any(b):
        raise PolynomialError
    return a.truth()


def _contracted(subscripts: str, *operands: Any) -> Polynomial:
    """The einsum of numpy."""
    before, after = subscripts.replace("...", "").split("->")
    named = before.split(",")
    letters = "".join(dict.fromkeys(one for one in before if one.isalpha() and one not in after))
    letters += after

    def spread(operand: Polynomial, own: str) -> Polynomial:
        kept = "".join(one for one in letters if one in own)
        shown = tuple(slice(None) if one in own else None for one in letters)
        return operand.moved(
            lambda x: np.einsum(f"...{own}->...{kept}", x)[(..., *shown)], own, kept, repr(shown)
        )

    spreads = [spread(*pair) for pair in zip(_polynomials(*operands), named, strict=True)]
    summed = tuple(range(-len(letters), -len(after)))
    return reduce(Polynomial.times, spreads).sum(summed)


def _running_sum(x: Polynomial, axis: int) -> Polynomial:
    side = x.shape[axis]
    if side > LARGEST_SIDE:
        raise PolynomialError
    last = _axes_moved(x, axis, -1)
    return _axes_moved(_contracted("...ij,...j->...i", np.tri(side), last), -1, axis)


def _axes_moved(x: Polynomial, *axes: Any) -> Polynomial:
    return x.moved(lambda y: np.moveaxis(y, *axes), np.moveaxis, repr(axes))


def _differences(x: Polynomial, axis: int) -> Polynomial:
    before = (slice(None),) * axis
    return _difference(x[(*before, slice(1, None))], x[(*before, slice(-1))])


def _determinant(x: Polynomial) -> Polynomial:
    """The sum over all permutations of products of elements, each with its sign (Leibniz)."""
    side = x.shape[-1]
    if not 0 < side <= LARGEST_WRITTEN_OUT:
        raise PolynomialError
    terms = []
    for order in permutations(range(side)):
        turned = sum(order[i] > order[j] for i in range(side) for j in range(i + 1, side)) % 2
        elements = [x[..., row, column] for row, column in enumerate(order)]
        terms.append(reduce(Polynomial.times, elements).times(-1.0 if turned else 1.0))
    return reduce(Polynomial.plus, terms)


def _solved(a: Any, b: Polynomial) -> Polynomial:
    """The x with a @ x == b, for fixed matrices that are far from singular."""
    if isinstance(a, Polynomial) or np.linalg.cond(a).max() > LARGEST_CONDITION:
        raise PolynomialError
    return _contracted("...ij,...jk->...ik", np.linalg.inv(a), b)


def _root_of(power: int) -> Callable[[Polynomial], Root]:
    return lambda x: Root(x, power)


COMPARING = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
_UFUNCS: dict[tuple[str, str], Callable[..., Any]] = {
    ("add", "__call__"): lambda a, b: Polynomial.plus(*_polynomials(a, b)),
    ("subtract", "__call__"): _difference,
    ("multiply", "__call__"): _product,
    ("divide", "__call__"): _quotient,
    ("negative", "__call__"): lambda x: x.times(-1.0),
    ("square", "__call__"): lambda x: x.times(x),
    ("power", "__call__"): _power,
    ("sqrt", "__call__"): _root_of(1),
    ("absolute", "__call__"): _root_of(2),
    ("matmul", "__call__"): lambda a, b: _contracted("...ij,...jk->...ik", a, b),
    ("add", "accumulate"): _running_sum,
    ("logical_and", "__call__"): _both,
    ("logical_or", "__call__"): _either,
    ("invert", "__call__"): _denial,
    **{(one.__name__, "__call__"): partial(_compared, one) for one in COMPARING},
    ("isfinite", "__call__"): lambda _: True,
}
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: Polynomial.sum,
    np.prod: Polynomial.product,
    np.any: _any,
    np.where: _chosen,
    np.einsum: _contracted,
    np.diff: _differences,
    np.moveaxis: _axes_moved,
    np.squeeze: lambda x, axis: x.moved(lambda y: np.squeeze(y, axis), np.squeeze, repr(axis)),
    np.linalg.det: _determinant,
    np.linalg.solve: _solved,
}


def mean_of_elements(quantity: Polynomial) -> Polynomial:
    """The mean over all elements of a draw: one number."""
    count = math.prod(quantity.shape)
    whole = quantity.sum()
    return whole if count == 1 else whole.times(1.0 / count)


def value_of(space: Space, terms: Iterable[Monomial]) -> tuple[float, float]:
    """The sum of terms without atoms, all indices summed over, and the sum of their sizes.

    Raises:
        PolynomialError: it is too much work.
    """
    total = size = 0.0
    for term in terms:
        left = space.simplified(term) if term.tensors else term
        if left.tensors:
            raise PolynomialError
        total += left.coefficient
        size += abs(left.coefficient) * term.loss
    return total, size
