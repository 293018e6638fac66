"""Polynomials in the draws of a model, whose terms are sums over indices of arrays.

A term is a coefficient times fixed arrays times atoms, with an index for each of their axes, as in
Σ_k W[i, k] x[k] y[j]². An index that stands for an axis of the quantity is free; every other index
is summed over. So a sum over a million elements is a single term. Terms that are equal up to the
names of summed indices are brought to one form, and added up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.language.graph import (
    Kind,
    Value,
    computed,
    constant_beside,
    in_order,
    number,
    random_inputs,
    thawed,
)
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions.algebra import PolynomialError, regrouped
from dropcheck.vocabulary.functions.elementwise import DIVIDE, MULTIPLY, POWER
from dropcheck.vocabulary.shapes import Shape, ShapeError, broadcast

# ---- terms ---------------------------------------------------------------------------------------
#
# The terms of a polynomial: coefficient · fixed arrays · atoms, with summed indices.
#
# An index is a number from 0 on, whose range the `Space` knows. The negative number −1 − k stands
# for the fixed place k.


FunctionPowers = tuple[tuple[int, int], ...]
"""Functions of one draw, by number, each with its exponent."""

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

    def with_tensors(self, tensors: tuple[Tensor, ...]) -> Monomial:
        """The term with other arrays."""
        return Monomial(self.coefficient, self.loss, tensors, self.atoms, self.linked)

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


def power_of_two_values(power: int, factor: float, summand: float) -> tuple[float, float]:
    """A power of x as a multiple of x plus a number, for an x with x² = factor · x + summand."""
    multiple, number = 1.0, 0.0
    for _ in range(power - 1):
        multiple, number = multiple * factor + number, multiple * summand
    return multiple, number


# ---- an order of the summed indices --------------------------------------------------------------


FactorLabels = Sequence[tuple[Hashable, tuple[int, ...]]]
"""The factors of a term: what each one is apart from its indices, and its indices."""


def ordered_indices(factors: FactorLabels, ranges: Mapping[int, int]) -> list[int]:
    """The summed indices in an order that depends only on the places where they stand.

    It is found by colour refinement, as in tests of graph isomorphism (Weisfeiler and Leman 1968).
    If that leaves a choice, two equal terms may get different orders. `ranges` has the range of
    each index.

    >>> ordered_indices([("W", (0, 1)), ("x", (1,)), ("y", (0,))], {0: 5, 1: 3})
    [1, 0]
    """
    colours = {index: hash((1, length)) for index, length in ranges.items()}
    while True:
        colours = _refined(factors, colours)
        # nothing distinguishes these indices: the one with the smallest number comes first
        tied = next((a for a, b in pairwise(sorted(colours.values())) if a == b), None)
        if tied is None:
            return sorted(colours, key=lambda index: (ranges[index], colours[index]))
        chosen = min(index for index in colours if colours[index] == tied)
        colours[chosen] = hash((tied, 2))


def _refined(factors: FactorLabels, colours: dict[int, int]) -> dict[int, int]:
    """Colours that distinguish indices in different places, refined until nothing changes."""
    distinct = 0
    while distinct < (now := len(set(colours.values()))):
        distinct = now
        places: dict[int, list[int]] = {index: [] for index in colours}
        for head, indices in factors:
            shade = hash((head, tuple([colours.get(index, index) for index in indices])))
            for place, index in enumerate(indices):
                if index in places:
                    places[index].append(hash((shade, place)))
        colours = {
            index: hash((colour, tuple(sorted(places[index])))) for index, colour in colours.items()
        }
    return colours


# ---- term space ----------------------------------------------------------------------------------
#
# What the polynomials of one analysis share: indices, arrays, and the normal form of their terms.
#
# Summed indices of one range have the same numbers in all terms, in an order that depends on the
# places where they stand. So equal terms have the same form, and are added up.


LARGEST_ARRAY = 1_000_000  # the most entries of a fixed array
LARGEST_SUM = 10_000_000  # the most products in a sum over indices
MOST_INDICES = 24  # the most indices of one range in one term
MOST_WORK = 2_000  # the most steps of an analysis: products and sums of terms
MOST_LOSS = 1e7  # the largest growth of rounding errors: beyond it most digits are lost
SHARE_OF_TERM = 0.05  # the cost of the normal form of a term, in steps

ProductOver = Callable[[Any, tuple[int, ...], bool], Any]


class Space:
    """The indices and arrays that the polynomials of one analysis share, and the work so far."""

    def __init__(
        self, product_over: ProductOver | None = None, most_work: float = MOST_WORK
    ) -> None:
        self.sizes: list[int] = []
        # for draws with two values: the square as a multiple of the draw plus a number
        self.squares: dict[int, tuple[float, float]] = {}
        self._product_over = product_over
        self._numbered: dict[tuple[int, int], int] = {}
        self._ordinals: dict[int, int] = {}
        self._arrays: list[Floats] = []
        self._array_numbers: dict[Any, int] = {}
        self._orders: dict[Any, dict[int, int]] = {}
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

    def product_over(self, quantity: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
        """The product of many elements along some axes, as an atom of its own.

        Raises:
            PolynomialError: it cannot be one.
        """
        if self._product_over is None:
            raise PolynomialError
        return self._product_over(quantity, axes, keepdims)

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
            factor, summand = power_of_two_values(power, *square)
            plain = Atom(atom.draw, atom.side, ((function, 1),), atom.indices)
            with_it = [one.with_atoms((*one.atoms, plain)).times(factor) for one in found]
            found = [one for one in with_it if factor] + [
                one.times(summand) for one in found if summand
            ]
        labels = term.labels - free
        return [self.without(one, labels) for one in found]

    def without(self, term: Monomial, labels: Iterable[int]) -> Monomial:
        """A term times the ranges of the summed indices that it no longer contains."""
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
        """The numbers of the summed indices in the normal form."""
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
        raw = tuple([(head, tuple([first.get(i, i) for i in labels])) for head, labels in factors])
        order = self._orders.get(raw)
        if order is None:
            self.spend(1)
            ranks = ordered_indices(raw, {own: self.sizes[own] for own in first.values()})
            order = self._orders[raw] = self._numbers(ranks)
        return {label: order[number] for label, number in first.items()}

    def _numbers(self, ranks: Sequence[int]) -> dict[int, int]:
        """The indices, numbered in this order within each range."""
        order: dict[int, int] = {}
        counts: dict[int, int] = {}
        for label in ranks:
            size = self.sizes[label]
            counts[size] = counts.get(size, -1) + 1
            order[label] = self.numbered(size, counts[size])
        return order


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


# ---- normal form ---------------------------------------------------------------------------------
#
# A quantity of the graph as a polynomial, by the rules of the functions in the vocabulary.


# the most values in a graph
MOST_VALUES = 20_000


class Letters(Protocol):
    """The polynomials that stand for draws, and for values that are no polynomials in others."""

    space: Space

    def draw(self, value: Value) -> Polynomial:
        """The polynomial for a draw.

        Raises:
            PolynomialError: nothing is known of the draw.
        """

    def below(self, value: Value) -> Value | None:
        """The draw of which a value is a function, if the letters use that; else None."""

    def carried(self, value: Value, found: Polynomial) -> Polynomial:
        """The polynomial for a value that is `found`: this polynomial, or a letter for it."""

    def other(self, value: Value) -> Polynomial:
        """The polynomial for a value that is no polynomial in others.

        Raises:
            PolynomialError: nothing is known of the value.
        """


class NormalForms:
    """The polynomials of a graph's values, each computed once."""

    def __init__(self, letters: Letters) -> None:
        self.letters = letters
        self._known: dict[int, Polynomial | None] = {}
        self._plain: dict[int, bool] = {}
        self._kept: list[Value] = []  # keeps the values alive, so that no id is used again

    def polynomial(self, value: Value) -> Polynomial:
        """A value as a polynomial.

        Raises:
            PolynomialError: it is no polynomial, or too large.
        """
        if id(value) not in self._known:
            self._look_through(value)
            for below in in_order([value], self._needed):
                if id(below) not in self._known:
                    self._kept.append(below)
                    try:
                        self._known[id(below)] = self._read(below)
                    except (PolynomialError, ShapeError):
                        self._known[id(below)] = None
        found = self._known[id(value)]
        if found is None:
            raise PolynomialError
        return found

    def _look_through(self, value: Value) -> None:
        """Find out which of the values below are polynomials in draws."""
        for below in in_order([value], self._unseen):
            self._plain[id(below)] = not below.random or self._is_plain(below)
            self._kept.append(below)
        if len(self._plain) > MOST_VALUES:
            raise PolynomialError

    def _unseen(self, value: Value) -> Sequence[Value]:
        return [one for one in value.inputs if one.random and id(one) not in self._plain]

    def _is_plain(self, value: Value) -> bool:
        if value.kind == Kind.DRAW:
            return True
        squared = _square_root(value)
        if squared is not None:
            return all(self._plain.get(id(one), True) for one in squared[0].inputs)
        function = value.function
        if function.polynomial is None or _compares(function):
            return False
        if function.divides and value.inputs[1].random:
            return False
        if function is POWER and not _is_whole(value.inputs[1].known):
            return False
        return all(self._plain.get(id(one), True) for one in value.inputs)

    def _of_one_draw(self, value: Value) -> Value | None:
        """The draw of which a value is a function, if it is no polynomial in draws."""
        return None if self._plain[id(value)] else self.letters.below(value)

    def _needed(self, value: Value) -> Sequence[Value]:
        if not value.random or id(value) in self._known:
            return ()
        if value.kind == Kind.DRAW:
            if value.law is None:  # code draws it, and nothing is known of it
                return ()
        else:
            draw = self._of_one_draw(value)
            if draw is not None and not _compares(value.function):
                return (draw,)
            squared = _square_root(value)
            if squared is not None:
                value = squared[0]
            elif value.function.polynomial is None:
                return ()
        return random_inputs(value)

    def _read(self, value: Value) -> Polynomial:
        if not value.random:
            if value.constant is None:
                raise PolynomialError
            return Polynomial.constant(self.letters.space, number(value.constant)[..., 0])
        if value.kind == Kind.DRAW:
            return self.letters.draw(value)
        if self._of_one_draw(value) is None or _compares(value.function):
            try:
                return self.letters.carried(value, self._by_rule(value))
            except (PolynomialError, ShapeError):
                pass
        return self.letters.other(value)

    def _by_rule(self, value: Value) -> Polynomial:
        squared = _square_root(value)
        rule = value.function.polynomial
        made_of = value
        power = 1
        if squared is not None:
            made_of, power = squared
            rule = made_of.function.square
        if rule is None:
            raise PolynomialError
        if made_of.function is DIVIDE and made_of.inputs[1].random:
            return self._quotient(value)
        operands = [self.polynomial(below) for below in made_of.inputs]
        options = {name: thawed(option) for name, option in made_of.options}
        found = rule(*operands, **options)
        if not isinstance(found, Polynomial) or found.shape != value.shape:
            raise PolynomialError
        if power > 1:
            found = found.raised(power)
        if value.truth:
            found.binary = True
        return found

    def _quotient(self, value: Value) -> Polynomial:
        """A quotient as its numerator times a letter: the reciprocal of a function of one draw."""
        numerator, below = value.inputs
        inverse = computed(DIVIDE, constant_beside(below, 1.0), below, like=below)
        self._kept.append(inverse)
        found = self.polynomial(numerator) * self.letters.other(inverse)
        if not isinstance(found, Polynomial) or found.shape != value.shape:
            raise PolynomialError
        return found


def _compares(function: Function) -> bool:
    """Whether it is a truth about numbers: a polynomial only if it always or never holds."""
    return function.truth and not function.takes_truth


def _is_whole(exponent: object) -> bool:
    return isinstance(exponent, float) and exponent.is_integer() and 0 <= exponent <= 8


def _square_root(value: Value) -> tuple[Value, int] | None:
    """The base of an even power whose square has a polynomial rule, and half the exponent."""
    base, *others = value.inputs
    if base.kind != Kind.COMPUTED or not base.random or base.function.square is None:
        return None
    if value.function is MULTIPLY and others[0] is base:
        return base, 1
    if value.function is POWER and _is_whole(others[0].known):
        power = float(others[0].known)  # type: ignore[arg-type]  # a whole number, as asked above
        return (base, int(power) // 2) if power and power % 2 == 0 else None
    return None
