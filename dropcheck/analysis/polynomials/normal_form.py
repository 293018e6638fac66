"""A quantity of the graph as a polynomial, by the rules of the functions in the vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dropcheck.analysis.polynomials.polynomial import Polynomial
from dropcheck.analysis.polynomials.term_space import Space
from dropcheck.language.graph import Kind, Value, in_order, number, random_inputs, thawed
from dropcheck.vocabulary.function import Function, PolynomialRule
from dropcheck.vocabulary.functions.algebra import PolynomialError
from dropcheck.vocabulary.functions.elementwise import MULTIPLY, POWER
from dropcheck.vocabulary.shapes import ShapeError

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

    def opened(self, function: Function) -> PolynomialRule | None:
        """The rule of a function that is a polynomial in its arguments and in letters for sizes."""

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
            elif (value.function.polynomial or self.letters.opened(value.function)) is None:
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
        rule = value.function.polynomial or self.letters.opened(value.function)
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
