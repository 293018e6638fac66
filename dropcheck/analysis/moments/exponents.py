"""Quantities as lines of others that share no draw, as the exponential function asks for.

In exp(z²/2 - (z - 4)²/2) the squares cancel: the exponent is a line of z, of which the law says
all, while no exponential of either square has a bound that is of use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dropcheck.analysis.polynomials.letters import Identities
from dropcheck.analysis.polynomials.normal_form import Reading
from dropcheck.analysis.polynomials.polynomial import Polynomial
from dropcheck.analysis.polynomials.sources import ITSELF
from dropcheck.language.drawn_from import NO_DRAWS
from dropcheck.language.graph import Kind, Value
from dropcheck.vocabulary.function import Function, PolynomialRule
from dropcheck.vocabulary.functions.algebra import PolynomialError


@dataclass(frozen=True, slots=True)
class Straight:
    """Σ factor · quantity + shift, of quantities that share no draw."""

    parts: tuple[tuple[float, Value], ...]
    shift: float


class Exponents(Identities):
    """The quantities of a case as such lines, each worked out where it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._values: list[Value] = []
        self._reading = Reading(self)
        self._known: dict[int, Straight | None] = {}

    def draw(self, value: Value) -> Polynomial:
        """A letter, by its number."""
        self._values.append(value)
        return super().draw(value)

    other = draw

    def opened(self, _function: Function) -> PolynomialRule | None:
        """None: each letter is a quantity of the graph, and the size of a difference is none."""
        return None

    def straight(self, value: Value) -> Straight | None:
        """A quantity as such a line; None where it is none, or no simpler than it stands."""
        if id(value) not in self._known:
            self._known[id(value)] = self._worked_out(value)
        return self._known[id(value)]

    def _worked_out(self, value: Value) -> Straight | None:
        if value.kind != Kind.COMPUTED or value.function.polynomial is None:
            return None
        try:
            found = self._line(self._reading.polynomial(value))
        except PolynomialError:
            return None
        return None if any(one is value for _, one in found.parts) else found

    def _line(self, polynomial: Polynomial) -> Straight:
        """The terms of a polynomial, each a number times one element of a letter.

        Raises:
            PolynomialError: they are not, or two of them share a draw.
        """
        parts: list[tuple[float, Value]] = []
        shift, sources = 0.0, NO_DRAWS
        for coefficient, _, tensors, atoms, _ in polynomial.terms:
            if not atoms and not tensors:
                shift += coefficient
                continue
            if tensors or len(atoms) != 1 or atoms[0].powers != ((ITSELF, 1),):
                raise PolynomialError
            letter = self._values[atoms[0].draw]
            summed = {one for one in atoms[0].indices if one >= 0} - polynomial.free
            if summed or not sources.isdisjoint(letter.sources):
                raise PolynomialError
            sources |= letter.sources
            parts.append((coefficient, letter))
        if not math.isfinite(shift):
            raise PolynomialError
        return Straight(tuple(parts), shift)
