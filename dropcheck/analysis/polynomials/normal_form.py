"""A quantity of the graph as a polynomial, function by function as the vocabulary says.

Two readings share the walk: for expectations a draw is its mean and what it is off by, and all that
is no polynomial is unknown; for identities a draw, and whatever is no polynomial, is a letter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from dropcheck.analysis.moments.draw_steps import Steps, draw_below
from dropcheck.analysis.polynomials.expectation import Source, expected
from dropcheck.analysis.polynomials.polynomial import Polynomial
from dropcheck.analysis.polynomials.sources import (
    ITSELF,
    Bounds,
    DrawnElements,
    ProductOfElements,
    with_loss,
)
from dropcheck.analysis.polynomials.term_space import Space
from dropcheck.analysis.polynomials.terms import Atom, Term, fixed_index
from dropcheck.language.graph import Kind, Value, in_order, number, thawed
from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.functions.algebra import PolynomialError
from dropcheck.vocabulary.functions.elementwise import MULTIPLY, POWER
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.shapes import Shape, ShapeError

_TWO_VALUES = {Values.TRUTHS: (0.0, 1.0), Values.SIGNS: (-1.0, 1.0)}
# values that are walked through, and elements of the arrays that are worked out in it
MOST_VALUES = 20_000


class Letters(Protocol):
    """What stands for a draw, and for what is no polynomial in the values below it."""

    space: Space

    def draw(self, value: Value) -> Polynomial:
        """A draw.

        Raises:
            PolynomialError: where nothing is known of it.
        """

    def below(self, value: Value) -> Value | None:
        """The draw that a value is a function of, where that is of use; None where it is not."""

    def other(self, value: Value) -> Polynomial:
        """A value that is no polynomial.

        Raises:
            PolynomialError: where nothing is known of it.
        """


class Reading:
    """The polynomials of a graph's values, each worked out once."""

    def __init__(self, letters: Letters) -> None:
        self.letters = letters
        self._known: dict[int, Polynomial | None] = {}
        self._plain: dict[int, bool] = {}
        self._kept: list[Value] = []  # so that no id is given anew

    def polynomial(self, value: Value) -> Polynomial:
        """A value as a polynomial.

        Raises:
            PolynomialError: where it is none, or one that is too large.
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
        """Find out which of the values below are polynomials in draws throughout."""
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
        if function.polynomial is None or (function.divides and value.inputs[1].random):
            return False
        if function is POWER and not _is_whole(value.inputs[1].known):
            return False
        return all(self._plain.get(id(one), True) for one in value.inputs)

    def _of_one_draw(self, value: Value) -> Value | None:
        """The draw that a value is a function of, where it is no polynomial in it."""
        return None if self._plain[id(value)] else self.letters.below(value)

    def _needed(self, value: Value) -> Sequence[Value]:
        if not value.random or id(value) in self._known:
            return ()
        if value.kind != Kind.DRAW:
            draw = self._of_one_draw(value)
            if draw is not None:
                return (draw,)
            squared = _square_root(value)
            if squared is not None:
                value = squared[0]
            elif value.function.polynomial is None:
                return ()
        return [one for one in value.inputs if one.random]

    def _read(self, value: Value) -> Polynomial:
        if not value.random:
            if value.constant is None:
                raise PolynomialError
            return Polynomial.constant(self.letters.space, number(value.constant)[..., 0])
        if value.kind == Kind.DRAW:
            return self.letters.draw(value)
        if self._of_one_draw(value) is None:
            try:
                return self._by_rule(value)
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


def _is_whole(exponent: object) -> bool:
    return isinstance(exponent, float) and exponent.is_integer() and 0 <= exponent <= 8


def _square_root(value: Value) -> tuple[Value, int] | None:
    """What an even power is of, and half of it, where the square of that is a polynomial."""
    base, *others = value.inputs
    if base.kind != Kind.COMPUTED or not base.random or base.function.square is None:
        return None
    if value.function is MULTIPLY and others[0] is base:
        return base, 1
    if value.function is POWER and _is_whole(others[0].known):
        power = float(others[0].known)  # type: ignore[arg-type]  # it is a number
        return (base, int(power) // 2) if power and power % 2 == 0 else None
    return None


def lettered(space: Space, shape: Shape, draw: int, function: int = ITSELF) -> Polynomial:
    """A polynomial that is an atom: a function of one element of a draw for each of its own."""
    space.draw_shapes[draw] = shape
    axes = tuple(space.label(length) if length != 1 else None for length in shape)
    indices = tuple(fixed_index(0) if label is None else label for label in axes)
    term = Term(1.0, 1.0, (), (Atom(draw, 0, ((function, 1),), indices),))
    return Polynomial(space, shape, axes, [term])


def _fixed(value: Value) -> Any:
    """A fixed quantity as a number or an array, without an axis of draws.

    Raises:
        PolynomialError: of one that is not known.
    """
    return _number_or_array(None if value.constant is None else number(value.constant)[..., 0])


def _number_or_array(array: Any) -> Any:
    if array is None:
        raise PolynomialError
    return float(array) if np.shape(array) == () else array


class Identities:
    """Letters for identities: what holds of them holds draw by draw."""

    def __init__(self) -> None:
        self.space = Space()
        self._count = 0

    def draw(self, value: Value) -> Polynomial:
        """A letter; the square of a truth is itself, and that of a sign is 1."""
        found = lettered(self.space, value.shape, self._count)
        if value.binary:
            found.binary = True
            self.space.squares[self._count] = (1.0, 0.0)
        elif value.law is not None and value.law.values is Values.SIGNS:
            self.space.squares[self._count] = (0.0, 1.0)
        self._count += 1
        return found

    other = draw

    def below(self, _value: Value) -> Value | None:
        """None is of use: a function is a letter as it is."""
        return None


class Centred:
    """Letters for expectations: a draw is its mean and what it is off by.

    `groups` has the group of each draw by its name; all are in one where there are none.
    """

    def __init__(
        self, groups: Mapping[str, int] | None = None, bounds: Bounds | None = None
    ) -> None:
        self.space = Space(self._product)
        self.sources: dict[int, Source] = {}
        self.reading = Reading(self)
        self._groups = groups
        self._bounds = bounds
        self._draws: dict[int, int] = {}  # the number of a draw, by the id of its value

    def group(self, names: frozenset[str]) -> int:
        """The group that draws are in.

        Raises:
            PolynomialError: where they are in several.
        """
        if self._groups is None:
            return 0
        found = {self._groups[name] for name in names if name in self._groups}
        if len(found) != 1:
            raise PolynomialError
        return found.pop()

    def draw(self, value: Value) -> Polynomial:
        """The mean of a draw, and what it is off by; of a random line a · z + b, those of z."""
        law = value.law
        if law is None or law.own_axes is not None:
            raise PolynomialError
        if not any(argument.random for argument in value.inputs):
            arguments = [_fixed(argument) for argument in value.inputs]
            return self._elements(value, law, arguments)
        given = [self.reading.polynomial(argument) for argument in value.inputs]
        try:
            line = law.as_line(*given)
        except TypeError:  # its formula asks for more than a polynomial can
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
        names = frozenset({value.name}) & value.sources if value.name else value.sources
        source = DrawnElements(law, arguments, value.shape, self.group(names or value.sources))
        draw = len(self.sources)
        self.sources[draw] = source
        if not any(argument.random for argument in value.inputs):
            source.draw_of_functions = value
            self._draws[id(value)] = draw
        if isinstance(source.mean, float) and law.values in _TWO_VALUES:
            low, high = (end - source.mean for end in _TWO_VALUES[law.values])
            self.space.squares[draw] = (low + high, -low * high)
        found = lettered(self.space, value.shape, draw) + source.mean
        found.binary = law.values is Values.TRUTHS
        return found

    def below(self, value: Value) -> Value | None:
        """The draw that a value is a function of."""
        found = draw_below(value)
        return found if found is not None and found.kind == Kind.DRAW else None

    def other(self, value: Value) -> Polynomial:
        """A function of one draw, as its mean and what it is off by."""
        below = self.below(value)
        draw = None if below is None else self._draws.get(id(below))
        if below is None or draw is None:
            raise PolynomialError
        source = self.sources[draw]
        if not isinstance(source, DrawnElements):
            raise PolynomialError
        if draw in self.space.squares:
            return self._of_two_values(value, below)
        function, mean = source.added(value, self._bounds)
        centre, loss = with_loss(mean)
        found = lettered(self.space, value.shape, draw, function)
        found = found.with_number(centre, loss)
        found.binary = value.truth
        return found

    def _of_two_values(self, value: Value, draw: Value) -> Polynomial:
        """Any function of a draw of two values, which is a line through its values there."""
        ends = (0.0, 0.0) if draw.law is None else _TWO_VALUES[draw.law.values]
        with np.errstate(all="ignore"):
            first, last = Steps.to([value], draw).evaluated(np.array(ends))[0].tolist()
        if not (math.isfinite(first) and math.isfinite(last)):
            raise PolynomialError
        slope = (last - first) / (ends[1] - ends[0])
        found: Polynomial = (self.reading.polynomial(draw) + -ends[0]) * slope + first
        found.binary = value.truth
        return found

    def _product(self, quantity: Polynomial, axes: tuple[int, ...], keepdims: bool) -> Polynomial:
        """The product of independent elements along some axes, as a draw of its own."""
        if len(axes) > 1 or len(quantity.shape) != 1 or keepdims:
            raise PolynomialError
        (label,) = quantity.axes
        draws = {atom.draw for term in quantity.terms for atom in term.atoms}
        if label is None or not draws or any(self.sources[one].below for one in draws):
            raise PolynomialError
        for term in quantity.terms:
            # each element is made of its own elements of the draws, and of no others
            if any(atom.indices != (label,) for atom in term.atoms) or term.labels - {label}:
                raise PolynomialError
        raw = [1.0, *self._raw_moments(quantity, label)]
        groups = {self.sources[one].group for one in draws}
        if len(groups) > 1:
            raise PolynomialError
        source = ProductOfElements(raw, quantity.shape[0], groups.pop(), frozenset(draws))
        draw = len(self.sources)
        self.sources[draw] = source
        return lettered(self.space, (), draw) + source.mean

    def _raw_moments(self, quantity: Polynomial, label: int) -> list[Any]:
        """E g^k of the elements g, for k = 1, 2, … as far as they are known."""
        found: list[Any] = []
        power = quantity
        free = frozenset({label})
        while len(found) < 8:
            try:
                terms = expected(self.space, power.terms, self.sources, free)
                total: Any = 0.0
                for term in terms:
                    array: Any = 1.0
                    for tensor in term.tensors:
                        if tensor[1] != (label,):
                            raise PolynomialError
                        array = array * self.space.array_of(tensor)
                    total = total + term.coefficient * array
                found.append(total if isinstance(total, float) else np.asarray(total))
                power = power * quantity
            except PolynomialError:
                break
        return found
