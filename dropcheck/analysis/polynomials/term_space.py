"""What the polynomials of one analysis share: indices, arrays, and the normal form of their terms.

Summed indices of one range have the same numbers in all terms, in an order that depends on the
places where they stand. So equal terms have the same form, and are added up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dropcheck.analysis.polynomials.terms import (
    EPSILON,
    SUM_ROUNDING,
    Atom,
    Monomial,
    Tensor,
    merged,
    ordered_indices,
    power_of_two_values,
    product_of,
)
from dropcheck.array_types import Floats
from dropcheck.vocabulary.functions.algebra import PolynomialError, TooLargeError

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
        self.magnitude: Callable[[Any], Any] | None = None  # makes the size of a quantity a letter
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
            TooLargeError: there are too many.
        """
        self.work += steps
        if self.work > self._most_work:
            raise TooLargeError

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
            for at, (number, wider) in enumerate(found):
                if labels <= set(wider):
                    whole = self._einsum([(number, wider), tensor], wider)
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
    for number, labels in term.tensors:
        if not any(label in mapping for label in labels):
            tensors.append((number, labels))
            continue
        moved = tuple(mapping.get(label, label) for label in labels)
        if min(moved) >= 0 and len(set(moved)) == len(moved):
            tensors.append((number, moved))
            continue
        factor, own = space.tensor(space.array_of((number, labels)), moved)
        coefficient = product_of(coefficient, factor)
        tensors += own
    return term._replace(coefficient=coefficient, tensors=tuple(tensors), atoms=atoms)
