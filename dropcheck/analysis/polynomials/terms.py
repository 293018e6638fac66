"""The terms of a polynomial: coefficient · fixed arrays · atoms, with indices that are summed.

An index is a number from 0 on, whose range the `Space` knows; a fixed place k stands as −1 − k.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dropcheck.vocabulary.functions.algebra import PolynomialError

FunctionPowers = tuple[tuple[int, int], ...]
"""Functions of one draw, by number, and the powers that they are raised to."""

EPSILON = float(np.finfo(np.float64).eps)
# a sum that is smaller, relative to its parts, is rounding
SUM_ROUNDING = 8 * EPSILON


# below it digits are lost, and then all is 0
TINY = float(np.finfo(np.float64).tiny)


def product_of(first: float, second: float) -> float:
    """The product of two numbers, which is 0 only where one of them is.

    Raises:
        PolynomialError: it is too small for float64.

    >>> product_of(2.0, 0.0), product_of(1e-100, 1e-200)
    (0.0, 1e-300)
    """
    found = first * second
    if abs(found) < TINY and first and second:
        raise PolynomialError
    return found


class Atom(NamedTuple):
    """A product of powers of functions of one draw, at the element that the indices say.

    `side` tells the two factors of a covariance apart; it is 0 for what belongs to both or neither.
    """

    draw: int
    side: int
    powers: FunctionPowers
    indices: tuple[int, ...]


Tensor = tuple[int, tuple[int, ...]]
"""A fixed array, by its number in the space, and the index of each of its axes."""


class Monomial(NamedTuple):
    """coefficient · Π array · Π atom; `loss` is how many times its rounding error has grown."""

    coefficient: float
    loss: float
    tensors: tuple[Tensor, ...]
    atoms: tuple[Atom, ...]
    linked: int = 0  # the groups of draws that join the two factors of a covariance, as bits

    @property
    def labels(self) -> set[int]:
        """Every index in it that is no fixed place."""
        found: set[int] = set()
        for atom in self.atoms:
            found.update(atom[3])
        for _, labels in self.tensors:
            found.update(labels)
        return {label for label in found if label >= 0}

    def times(self, factor: float) -> Monomial:
        """The term times a number."""
        coefficient = product_of(self.coefficient, factor)
        return Monomial(coefficient, self.loss, self.tensors, self.atoms, self.linked)

    def with_tensors(self, tensors: tuple[Tensor, ...]) -> Monomial:
        """The same with other arrays."""
        return Monomial(self.coefficient, self.loss, tensors, self.atoms, self.linked)

    def with_atoms(self, atoms: tuple[Atom, ...]) -> Monomial:
        """The same with other atoms."""
        return Monomial(self.coefficient, self.loss, self.tensors, atoms, self.linked)


def fixed_index(place: int) -> int:
    """An index that stands for one place."""
    return -1 - place


def merged(atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """Atoms of one element as one atom, with all their powers."""
    if len(atoms) < 2:
        return atoms
    found: dict[tuple[int, int, tuple[int, ...]], FunctionPowers] = {}
    for draw, side, powers, indices in atoms:
        key = (draw, side, indices)
        before = found.get(key)
        found[key] = powers if before is None else multiplied((before, powers))
    return tuple([Atom(d, s, powers, i) for (d, s, i), powers in found.items()])


def multiplied(block: Iterable[FunctionPowers]) -> FunctionPowers:
    """The powers of a product."""
    found: dict[int, int] = {}
    for powers in block:
        for function, power in powers:
            found[function] = found.get(function, 0) + power
    return tuple(sorted(found.items()))


def power_of_two_values(power: int, factor: float, summand: float) -> tuple[float, float]:
    """The power of x as a multiple of x plus a number, where x² = factor · x + summand."""
    multiple, number = 1.0, 0.0
    for _ in range(power - 1):
        multiple, number = multiple * factor + number, multiple * summand
    return multiple, number


# ---- an order of the summed indices --------------------------------------------------------------


FactorLabels = Sequence[tuple[Hashable, tuple[int, ...]]]
"""What the factors of a term are, but for their indices, and these."""


def ordered_indices(factors: FactorLabels, ranges: Mapping[int, int]) -> list[int]:
    """The summed indices in an order that follows from where they stand.

    By refinement of what tells them apart, as in tests of the isomorphism of graphs (Weisfeiler and
    Leman 1968). Where it leaves a choice, two terms that say the same may get different orders.
    `ranges` has the indices, and how far each of them goes.

    >>> ordered_indices([("W", (0, 1)), ("x", (1,)), ("y", (0,))], {0: 5, 1: 3})
    [1, 0]
    """
    colours = {index: hash((1, length)) for index, length in ranges.items()}
    while True:
        colours = _refined(factors, colours)
        # what nothing tells apart: any one of them comes first
        tied = next((a for a, b in pairwise(sorted(colours.values())) if a == b), None)
        if tied is None:
            return sorted(colours, key=lambda index: (ranges[index], colours[index]))
        chosen = min(index for index in colours if colours[index] == tied)
        colours[chosen] = hash((tied, 2))


def _refined(factors: FactorLabels, colours: dict[int, int]) -> dict[int, int]:
    """Colours that tell apart what stands in different places, until they tell no more."""
    told_apart = 0
    while told_apart < (now := len(set(colours.values()))):
        told_apart = now
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
