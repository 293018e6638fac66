"""The polynomials that stand for draws.

For expectations, a draw is its mean plus its deviation from it; a value that is neither a
polynomial nor a function of one draw is unknown. For identities, a draw is a letter, and so is
every value that is no polynomial.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from dropcheck.analysis.moments.cell_means import Norm
from dropcheck.analysis.moments.draw_steps import Steps, draw_below
from dropcheck.analysis.moments.law_bounds import fixed_arguments
from dropcheck.analysis.moments.single_draw import MOST_INTEGRALS, Found, KnownMeans
from dropcheck.analysis.on_paper import alike
from dropcheck.analysis.polynomials.expectation import Carried, MomentSource, drawn_in, expected
from dropcheck.analysis.polynomials.normal_form import NormalForms
from dropcheck.analysis.polynomials.polynomial import Polynomial
from dropcheck.analysis.polynomials.sources import (
    ITSELF,
    DrawnElements,
    ProductOfElements,
)
from dropcheck.analysis.polynomials.term_space import MOST_WORK, Space, substituted
from dropcheck.analysis.polynomials.terms import Atom, Monomial, fixed_index
from dropcheck.language.drawn_from import Sources
from dropcheck.language.graph import Kind, Value
from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.function import Function, PolynomialRule
from dropcheck.vocabulary.functions.algebra import PolynomialError
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.shapes import Shape

# The most work of an analysis that goes through a recurrence step by step.
MOST_WORK_BY_STEPS = 25_000
_TWO_VALUES = {Values.TRUTHS: (0.0, 1.0), Values.SIGNS: (-1.0, 1.0)}


def lettered(space: Space, shape: Shape, draw: int, function: int = ITSELF) -> Polynomial:
    """A polynomial with a single atom: each element is a function of the draw's element there."""
    axes = tuple(space.label(length) if length != 1 else None for length in shape)
    indices = tuple(fixed_index(0) if label is None else label for label in axes)
    term = Monomial(1.0, 1.0, (), (Atom(draw, 0, ((function, 1),), indices),))
    return Polynomial(space, shape, axes, [term])


def _number_or_array(array: Any) -> Any:
    if array is None:
        raise PolynomialError
    return float(array) if np.shape(array) == () else array


class Identities:
    """Letters for identities: an identity between polynomials in letters holds in every draw."""

    def __init__(self) -> None:
        self.space = Space()
        self.space.magnitude = self._magnitude
        self._count = 0
        self._axes: dict[tuple[int, int], int] = {}  # an index for each axis and length
        self._magnitudes: dict[Any, int] = {}

    def draw(self, value: Value) -> Polynomial:
        """A letter; the square of a truth is itself, that of a sign is 1."""
        letter = lettered(self.space, value.shape, self._count)
        if value.binary:
            letter.binary = True
            self.space.squares[self._count] = (1.0, 0.0)
        elif value.law is not None and value.law.values is Values.SIGNS:
            self.space.squares[self._count] = (0.0, 1.0)
        self._count += 1
        return letter

    other = draw

    def below(self, _value: Value) -> Value | None:
        """None: a function of a draw is a letter."""
        return None

    def opened(self, function: Function) -> PolynomialRule | None:
        """The rule with sizes: the larger of two by their sum and the size of their difference."""
        return function.with_sizes

    def carried(self, _value: Value, found: Polynomial) -> Polynomial:
        """The polynomial itself."""
        return found

    def _magnitude(self, quantity: Polynomial) -> Polynomial:
        """A letter for the size of a quantity: the same for x and -x."""
        if quantity.vanishes:
            return quantity
        lengths = enumerate(quantity.shape)
        own = [self._axis(at, length) if length != 1 else None for at, length in lengths]
        pairs = zip(quantity.axes, own, strict=True)
        mapping = {old: new for old, new in pairs if old is not None and new is not None}
        moved = [substituted(self.space, term, mapping) for term in quantity.terms]
        terms = self.space.collected(moved, frozenset(mapping.values()))
        terms.sort(key=lambda term: (term.tensors, term.atoms, term.linked))
        sign = math.copysign(1.0, terms[0].coefficient)
        parts = ((sign * one.coefficient, one.tensors, one.atoms, one.linked) for one in terms)
        key = (quantity.shape, tuple(parts))
        letter = self._magnitudes.setdefault(key, self._count)
        if letter == self._count:
            self._count += 1
        return lettered(self.space, quantity.shape, letter)

    def _axis(self, at: int, length: int) -> int:
        if (at, length) not in self._axes:
            self._axes[at, length] = self.space.label(length)
        return self._axes[at, length]


class Centred:
    """Letters for expectations: a draw is its mean plus its deviation from it.

    `groups` has the group of each draw by its name; None means that all are in one group. `carried`
    has the ids of values that are letters of their own; the expectation over them is taken after
    that over all later draws.
    """

    def __init__(
        self,
        groups: Mapping[str, int] | None = None,
        bounds: Norm | None = None,
        found: Found | None = None,
        carried: Collection[int] = (),
    ) -> None:
        self.space = Space(self._product, MOST_WORK_BY_STEPS if carried else MOST_WORK)
        self._carried = carried
        self.sources: dict[int, MomentSource] = {}
        self.reading = NormalForms(self)
        self._groups = groups
        self._bounds = bounds
        self._means = KnownMeans(MOST_INTEGRALS, found)
        self._draws: dict[int, int] = {}  # the number of a draw, by the id of its value

    def group(self, names: Sources) -> int:
        """The group of some draws.

        Raises:
            PolynomialError: they are in several groups.
        """
        if self._groups is None:
            return 0
        found = {self._groups[name] for name in names if name in self._groups}
        if len(found) != 1:
            raise PolynomialError
        return found.pop()

    def draw(self, value: Value) -> Polynomial:
        """A draw as its mean plus its deviation; with random arguments, as loc + scale · z."""
        law = value.law
        if law is None or law.own_axes is not None:
            raise PolynomialError
        arguments = fixed_arguments(value)
        if arguments is not None:
            return self._elements(value, law, arguments)
        given = [self.reading.polynomial(argument) for argument in value.inputs]
        try:
            line = law.as_line(*given)
        except TypeError:  # its formula needs an operation that polynomials do not have
            line = None
        if line is None:
            raise PolynomialError
        loc, scale, own = line
        arguments = [
            _number_or_array(one.fixed if isinstance(one, Polynomial) else one) for one in own
        ]
        found = self._elements(value, law, arguments) * scale + loc
        if not isinstance(found, Polynomial) or found.shape != value.shape:
            raise PolynomialError
        return found

    def _elements(self, value: Value, law: Law, arguments: Sequence[Any]) -> Polynomial:
        names = Sources([value.name]) & value.sources if value.name else value.sources
        known = not any(argument.random for argument in value.inputs)
        source = DrawnElements(
            law,
            arguments,
            value.shape,
            self.group(names or value.sources),
            self._means,
            self._bounds,
            value if known else None,
        )
        draw = len(self.sources)
        self.sources[draw] = source
        if known:
            self._draws[id(value)] = draw
        if isinstance(source.mean, float) and law.values in _TWO_VALUES:
            low, high = (end - source.mean for end in _TWO_VALUES[law.values])
            self.space.squares[draw] = (low + high, -low * high)
        found = lettered(self.space, value.shape, draw)
        mean = source.mean
        if isinstance(mean, float) and source.loss > 1.0:  # the mean is known as an integral
            found = found.with_number(mean, source.loss)
        else:
            found = found + mean
        found.binary = law.values is Values.TRUTHS
        return found

    def opened(self, _function: Function) -> PolynomialRule | None:
        """None: sizes are no letters here."""
        return None

    def below(self, value: Value) -> Value | None:
        """The draw of which a value is a function."""
        found = draw_below(value)
        return found if found is not None and found.kind == Kind.DRAW else None

    def carried(self, value: Value, found: Polynomial) -> Polynomial:
        """A letter for a value that is to be carried; an atom or a truth is left as it is."""
        single = len(found.terms) == 1 and len(found.terms[0].atoms) == 1
        if id(value) not in self._carried or not found.terms or single or found.binary:
            return found
        below = frozenset(one for term in found.terms for one in drawn_in(term, self.sources))
        draw = len(self.sources)
        self.sources[draw] = Carried(found.terms, found.axes, below)
        return lettered(self.space, found.shape, draw)

    def other(self, value: Value) -> Polynomial:
        """A function of one draw as its mean plus its deviation."""
        below = self.below(value)
        draw = None if below is None else self._draws.get(id(below))
        if below is None or draw is None:
            raise PolynomialError
        source = self.sources[draw]
        if not isinstance(source, DrawnElements):
            raise PolynomialError
        if draw in self.space.squares:
            return self._of_two_values(value, below)
        function, centre, loss = source.added(value)
        found = lettered(self.space, value.shape, draw, function)
        found = found.with_number(centre, loss)
        found.binary = value.truth
        return found

    def _of_two_values(self, value: Value, draw: Value) -> Polynomial:
        """A function of a draw with two values: the line through the function's two values."""
        ends = (0.0, 0.0) if draw.law is None else _TWO_VALUES[draw.law.values]
        with np.errstate(all="ignore"):
            (computed,), (paper,) = Steps.to([value], draw).listed(np.array(ends))
        if not (np.isfinite(computed).all() and alike(computed, paper)):
            raise PolynomialError  # rounding decides one of the values
        first, last = computed.tolist()
        slope = (last - first) / (ends[1] - ends[0])
        line: Polynomial = (self.reading.polynomial(draw) + -ends[0]) * slope + first
        line.binary = value.truth
        return line

    def _product(self, quantity: Polynomial, axes: tuple[int, ...], keepdims: bool) -> Polynomial:
        """The product of independent elements along some axes, as a draw of its own."""
        if len(axes) > 1 or len(quantity.shape) != 1 or keepdims:
            raise PolynomialError
        (label,) = quantity.axes
        draws = {atom.draw for term in quantity.terms for atom in term.atoms}
        if label is None or not draws or any(self.sources[one].below for one in draws):
            raise PolynomialError
        for term in quantity.terms:
            # each element may depend only on the elements of draws at its own index
            if any(atom.indices != (label,) for atom in term.atoms) or term.labels - {label}:
                raise PolynomialError
        raw = self._raw_moments(quantity, label)
        groups = {self.sources[one].group for one in draws}
        if len(groups) > 1:
            raise PolynomialError
        source = ProductOfElements(raw, quantity.shape[0], groups.pop(), frozenset(draws))
        draw = len(self.sources)
        self.sources[draw] = source
        return lettered(self.space, (), draw).with_number(source.mean, source.loss)

    def _raw_moments(self, quantity: Polynomial, label: int) -> list[tuple[Any, Any]]:
        """E g^k of the elements g for k = 1, 2, … as far as they are known, each with its loss."""
        moments: list[tuple[Any, Any]] = []
        power = quantity
        free = frozenset({label})
        while len(moments) < 8:
            try:
                terms = expected(self.space, power.terms, self.sources, free)
                total: Any = 0.0
                size: Any = 0.0
                for term in terms:
                    array: Any = 1.0
                    for tensor in term.tensors:
                        if tensor[1] != (label,):
                            raise PolynomialError
                        array = array * self.space.array_of(tensor)
                    total = total + term.coefficient * array
                    size = size + np.abs(term.coefficient * array) * term.loss
                with np.errstate(all="ignore"):
                    loss = np.where(size > 0, size / np.abs(total), 0.0)
                one = isinstance(total, float)
                moments.append((total, float(loss)) if one else (np.asarray(total), loss))
                power = power * quantity
            except PolynomialError:
                break
        return moments
