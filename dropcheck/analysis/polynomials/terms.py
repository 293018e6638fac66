"""The terms of a polynomial: coefficient · fixed arrays · atoms, with summed indices.

An index is a number from 0 on, whose range the `Space` knows. The negative number −1 − k stands for
the fixed place k.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dropcheck.vocabulary.functions.algebra import PolynomialError

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
