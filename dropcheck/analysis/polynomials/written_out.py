"""Moments of polynomials in a few random numbers, with all of their monomials written out.

A monomial is a whole number: its digits are the powers of the numbers, each with a base of its own,
so that a product is a sum. All covariances of all monomials are one matrix, a product over the
random numbers, as these are independent; what links the two sides is split off number by number,
so that nothing cancels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from dropcheck.analysis.polynomials.expectation import Number, Source, refuse_shared
from dropcheck.analysis.polynomials.polynomial import Polynomial
from dropcheck.analysis.polynomials.term_space import MOST_LOSS, Space
from dropcheck.analysis.polynomials.terms import (
    ROUNDING,
    SMALLEST,
    Floats,
    Powers,
    Term,
    power_of_two_values,
)
from dropcheck.records import dataclass
from dropcheck.vocabulary.functions.algebra import PolynomialError

Keys = npt.NDArray[np.int64]

MOST_CELLS = 4_000  # monomials while a polynomial is written out, before equal ones are one
MOST_MONOMIALS = 300  # of all integrands together: their covariances are a matrix
LARGEST_KEY = 2**62
BASE, BASE_OF_TWO_VALUES = 9, 3  # powers up to 8; the square of a draw of two values is linear


@dataclass(frozen=True, slots=True, eq=False)
class Digit:
    """One function of one element of a draw; `place` is what its first power adds to a key."""

    draw: int
    element: int
    function: int
    place: int
    base: int
    square: tuple[float, float] | None

    def of(self, keys: Keys) -> Keys:
        """Its powers in some monomials."""
        found: Keys = keys // self.place % self.base
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Monomials:
    """A sum of coefficient · monomial; `sizes` bound what rounding is relative to."""

    keys: Keys
    coefficients: Floats
    sizes: Floats


class Numbers:
    """The random numbers that some polynomials are made of."""

    def __init__(
        self, space: Space, sources: Mapping[int, Source], quantities: Iterable[Polynomial]
    ) -> None:
        self._space = space
        self._sources = sources
        degrees: dict[tuple[int, int], int] = {}
        cells = 0
        for term, free in ((term, each.free) for each in quantities for term in each.terms):
            cells += math.prod(space.sizes[label] for label in term.labels | free)
            if cells > MOST_CELLS:
                raise PolynomialError
            own: dict[tuple[int, int], int] = {}
            for atom in term.atoms:
                for function, power in atom.powers:
                    # atoms may stand for one element at some values of their indices
                    own[atom.draw, function] = own.get((atom.draw, function), 0) + power
            for name, degree in own.items():
                degrees[name] = max(degree, degrees.get(name, 0))
        self._strides: dict[int, tuple[int, ...]] = {}
        self._places: dict[tuple[int, int], Keys] = {}
        self.digits: list[Digit] = []
        place = 1
        for (draw, function), degree in sorted(degrees.items()):
            shape = space.draw_shapes[draw]
            self._strides[draw] = tuple(math.prod(shape[at + 1 :]) for at in range(len(shape)))
            square = None if function else space.squares.get(draw)
            base = BASE if square is None else max(degree + 1, BASE_OF_TWO_VALUES)
            if degree >= base:
                raise PolynomialError
            first = len(self.digits)
            for element in range(math.prod(shape)):
                self.digits.append(
                    Digit(
                        draw=draw,
                        element=element,
                        function=function,
                        place=place,
                        base=base,
                        square=square,
                    )
                )
                place *= base
                if place > LARGEST_KEY:
                    raise PolynomialError
            own_places = [digit.place for digit in self.digits[first:]]
            self._places[draw, function] = np.array(own_places, dtype=np.int64)

    def written(self, quantity: Polynomial) -> list[Monomials]:
        """A quantity as sums of monomials, one for each of its elements."""
        free = [label for label in quantity.axes if label is not None]
        count = math.prod(quantity.shape)
        parts = [self._cells(term, free) for term in quantity.terms]
        found = []
        for element in range(count):
            keys = [key[element].ravel() for key, _, _ in parts]
            values = [value[element].ravel() for _, value, _ in parts]
            sizes = [np.abs(value[element].ravel()) * loss for _, value, loss in parts]
            empty = not parts
            found.append(
                self._collected(
                    np.zeros(0, dtype=np.int64) if empty else np.concatenate(keys),
                    np.zeros(0) if empty else np.concatenate(values),
                    np.zeros(0) if empty else np.concatenate(sizes),
                )
            )
        return found

    def _cells(self, term: Term, free: Sequence[int]) -> tuple[Keys, Floats, float]:
        """The keys and the coefficients of a term at all values of its indices: [elements, …]."""
        labels = [*free, *sorted(term.labels - set(free))]
        axis = {label: at for at, label in enumerate(labels)}
        sizes = [self._space.sizes[label] for label in labels]

        def along(values: npt.NDArray[np.int64], label: int) -> Keys:
            shape = [1] * len(labels)
            shape[axis[label]] = -1
            return values.reshape(shape)

        keys: Keys = np.zeros(sizes, dtype=np.int64)
        for atom in term.atoms:
            flat: Keys = np.zeros([1] * len(labels), dtype=np.int64)
            for index, stride in zip(atom.indices, self._strides[atom.draw], strict=True):
                if index < 0:
                    flat = flat + (-1 - index) * stride
                else:
                    flat = flat + along(np.arange(self._space.sizes[index]) * stride, index)
            for function, power in atom.powers:
                keys = keys + self._places[atom.draw, function][flat] * power
        values: Floats = np.full(sizes, term.coefficient)
        for tensor in term.tensors:
            array = self._space.array_of(tensor)
            order = sorted(range(len(tensor[1])), key=lambda at: axis[tensor[1][at]])
            shape = [1] * len(labels)
            for label, length in zip(tensor[1], array.shape, strict=True):
                shape[axis[label]] = length
            values = values * array.transpose(order).reshape(shape)
        rows = math.prod(self._space.sizes[label] for label in free)
        loss = term.loss
        return keys.reshape(rows, -1), values.reshape(rows, -1), loss

    def _collected(self, keys: Keys, values: Floats, sizes: Floats) -> Monomials:
        """Equal monomials as one, and squares of draws of two values as what they are."""
        for digit in self.digits:
            if digit.square is None:
                continue
            powers = digit.of(keys)
            for power in range(2, int(powers.max(initial=0)) + 1):
                here = powers == power
                if not here.any():
                    continue
                factor, summand = power_of_two_values(power, *digit.square)
                once = np.where(here, keys - (power - 1) * digit.place, keys)
                keys = np.concatenate([once, keys[here] - power * digit.place])
                sizes = np.concatenate(
                    [np.where(here, sizes * abs(factor), sizes), sizes[here] * abs(summand)]
                )
                values = np.concatenate(
                    [np.where(here, values * factor, values), values[here] * summand]
                )
                powers = digit.of(keys)
        parts = np.abs(values)
        if len(keys) > 1:
            keys, places = np.unique(keys, return_inverse=True)
            values = np.bincount(places, values, len(keys)).astype(np.float64)
            sizes = np.bincount(places, sizes, len(keys)).astype(np.float64)
            parts = np.bincount(places, parts, len(keys)).astype(np.float64)
        if not np.isfinite(sizes).all() or (sizes > MOST_LOSS * parts).any():
            raise PolynomialError
        kept = np.abs(values) > ROUNDING * parts
        return Monomials(keys[kept], values[kept], sizes[kept])

    def number(self, number: float) -> Monomials:
        """A number as a sum of one monomial, of no power."""
        return Monomials(np.zeros(1, dtype=np.int64), np.array([number]), np.array([abs(number)]))

    def plus(self, one: Monomials, number: float) -> Monomials:
        """The sum with a number."""
        return self._collected(
            np.append(one.keys, 0),
            np.append(one.coefficients, number),
            np.append(one.sizes, abs(number)),
        )

    def product(self, one: Monomials, other: Monomials) -> Monomials:
        """The product of two sums."""
        if len(one.keys) * len(other.keys) > 4 * MOST_CELLS:
            raise PolynomialError
        for digit in self.digits:
            if digit.square is None:
                top = sum(int(digit.of(each.keys).max(initial=0)) for each in (one, other))
                if top >= digit.base:
                    raise PolynomialError
        coefficients = np.multiply.outer(one.coefficients, other.coefficients).ravel()
        _refuse_lost(coefficients)
        return self._collected(
            np.add.outer(one.keys, other.keys).ravel(),
            coefficients,
            np.multiply.outer(one.sizes, other.sizes).ravel(),
        )

    def mean(self, several: Sequence[Monomials]) -> Monomials:
        """The mean of some sums."""
        if len(several) == 1:
            return several[0]
        share = 1 / len(several)
        return self._collected(
            np.concatenate([one.keys for one in several]),
            np.concatenate([one.coefficients for one in several]) * share,
            np.concatenate([one.sizes for one in several]) * share,
        )

    # ---- expectations --------------------------------------------------------------------------

    def moments(
        self, integrands: Sequence[Monomials]
    ) -> tuple[Floats, Floats, dict[int, tuple[Floats, Floats]]]:
        """Means with the sizes that rounding is relative to, and covariances by what links them."""
        keys = np.unique(np.concatenate([one.keys for one in integrands]))
        if len(keys) > MOST_MONOMIALS:
            raise PolynomialError
        weights = np.zeros((len(integrands), len(keys)))
        sizes = np.zeros_like(weights)
        for row, one in enumerate(integrands):
            places = np.searchsorted(keys, one.keys)
            weights[row, places] = one.coefficients
            sizes[row, places] = one.sizes
        elements: dict[tuple[int, int], list[Digit]] = {}
        for digit in self.digits:
            if digit.of(keys).any():
                elements.setdefault((digit.draw, digit.element), []).append(digit)
        refuse_shared({draw: self._sources[draw] for draw, _ in elements})
        means, nowhere = np.ones(len(keys)), np.zeros(len(keys), dtype=np.bool_)
        varied = nowhere.copy()
        groups: dict[int, _Pairs] = {}
        for (draw, element), digits in elements.items():
            source = self._sources[draw]
            single, joint, loss = _of_element(
                source, element, digits, keys, self._space.draw_shapes[draw]
            )
            means, nowhere = means * single, nowhere | (single == 0)
            varied |= joint.diagonal() > 0
            pairs = groups.get(source.group)
            if pairs is None:
                pairs = groups[source.group] = _Pairs(len(keys))
            pairs.multiply(single, joint, loss)
        _refuse_lost(means[~nowhere])
        _refuse_lost((weights * means)[(weights != 0) & ~nowhere])
        found = weights @ means, sizes @ np.abs(means)
        parts: dict[int, tuple[Floats, Floats]] = {}
        variances = np.zeros(len(keys))
        names = sorted(groups)
        for count in range(1, len(names) + 1):
            for linked in combinations(names, count):
                matrix: Floats = np.ones((len(keys), len(keys)))
                bound = matrix
                for group in names:
                    pairs = groups[group]
                    matrix = matrix * (pairs.linked if group in linked else pairs.apart)
                    bound = bound * (pairs.linked_size if group in linked else np.abs(pairs.apart))
                variances += matrix.diagonal()
                if bound.any():
                    parts[sum(1 << group for group in linked)] = (
                        weights @ matrix @ weights.T,
                        sizes @ bound @ sizes.T,
                    )
        _refuse_lost(variances[varied])
        return *found, parts


def _refuse_lost(products: Floats) -> None:
    """See that no product of numbers that are not 0 is too small for float64.

    Raises:
        PolynomialError: where one is.
    """
    if (np.abs(products) < SMALLEST).any():
        raise PolynomialError


class _Pairs:
    """Expectations of products of two monomials over the draws of one group.

    `apart` is the product of the two expectations, `linked` what the draws in common add to it.
    """

    def __init__(self, count: int) -> None:
        self.apart = np.ones((count, count))
        self.linked = np.zeros((count, count))
        self.linked_size = np.zeros((count, count))

    def multiply(self, single: Floats, joint: Floats, joint_size: Floats) -> None:
        """Take one more random number in."""
        apart = np.multiply.outer(single, single)
        self.linked = self.linked * (apart + joint) + self.apart * joint
        size = np.abs(apart)
        self.linked_size = self.linked_size * (size + joint_size) + np.abs(self.apart) * joint_size
        self.apart = self.apart * apart


def _of_element(
    source: Source, element: int, digits: Sequence[Digit], keys: Keys, shape: Sequence[int]
) -> tuple[Floats, Floats, Floats]:
    """Of one random number: its expectation in each monomial, and its covariances in pairs.

    The last are followed by the sizes that their rounding is relative to.
    """
    powers = np.stack([digit.of(keys) for digit in digits])
    codes, places = np.unique(powers, axis=1, return_inverse=True)
    places = places.ravel()
    blocks: list[Powers] = [
        tuple(
            (digit.function, int(power))
            for digit, power in zip(digits, column, strict=True)
            if power
        )
        for column in codes.T
    ]
    count = len(blocks)
    single, joint, size = np.ones(count), np.zeros((count, count)), np.zeros((count, count))
    for i, one in enumerate(blocks):
        if not one:
            continue
        single[i] = _at(source.cumulant((one,))[0], element, shape)
        for j in range(i, count):
            if blocks[j]:
                value, loss = source.cumulant(tuple(sorted((one, blocks[j]))))
                joint[i, j] = joint[j, i] = _at(value, element, shape)
                size[i, j] = size[j, i] = abs(joint[i, j]) * loss
    pick = np.ix_(places, places)
    return single[places], joint[pick], size[pick]


def _at(value: Number, element: int, shape: Sequence[int]) -> float:
    """What an array that broadcasts to a shape has at one element."""
    if isinstance(value, float):
        return value
    return float(np.broadcast_to(value, shape).ravel()[element])
