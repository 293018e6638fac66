"""Quantities as sums of quadratics in independent quantities, for bounds of their exponentials.

In exp(z²/2 - (z - 4)²/2) the squares cancel, and the exponent is a line in z, whose exponential the
law knows. The exponentials of the single squares have no useful bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from dropcheck.analysis.moments.independence import Described
from dropcheck.analysis.polynomials.letters import Identities
from dropcheck.analysis.polynomials.normal_form import NormalForms
from dropcheck.analysis.polynomials.polynomial import Polynomial
from dropcheck.analysis.polynomials.sources import ITSELF
from dropcheck.analysis.polynomials.terms import Tensor, fixed_index
from dropcheck.language.drawn_from import NO_DRAWS
from dropcheck.language.graph import Kind, Value, computed, constant_beside
from dropcheck.records import record
from dropcheck.vocabulary.function import Function, PolynomialRule
from dropcheck.vocabulary.functions.algebra import PolynomialError
from dropcheck.vocabulary.functions.elementwise import ADD, EXP, MULTIPLY
from dropcheck.vocabulary.majorants.bounds_arithmetic import INF, summed, times
from dropcheck.vocabulary.majorants.powers import log_moment_of_quadratic
from dropcheck.vocabulary.majorants.rule import Argument
from dropcheck.vocabulary.shapes import Shape

# The most elements of a sum with weights, which has a part for each element.
MOST_ELEMENTS = 64


@record
class Quadratic:
    """The sum of linear · x + square · x² over the axes `summed` of a quantity x."""

    of: Value
    linear: float
    square: float
    summed: tuple[int, ...] = ()

    def log_moment(self, x: Argument, t: float) -> float:
        """A bound of log E exp(t · q) for this quadratic q, from what is known of its quantity x.

        For n independent elements it is n times that of one; for others at most that of n times
        one element (Hölder's inequality).
        """
        n = math.prod(x.shape[axis] for axis in self.summed)
        alone, within = (n, 1) if x.apart.issuperset(self.summed) else (1, n)
        b, c = t * within * self.linear, t * within * self.square
        return alone * (log_moment_of_quadratic(x, b, c) if c else x.log_moment(b))


@record
class Straight:
    """A sum of quadratics in quantities that share no draw, plus a number."""

    parts: tuple[Quadratic, ...]
    shift: float


def proxy_of(line: Straight | None, proxy: Callable[[Value], float]) -> float:
    """The variance proxy of a sum of linear parts: independent parts add up."""
    if line is None or any(one.square or one.summed for one in line.parts):
        return INF
    return summed(times(one.linear**2, proxy(one.of)) for one in line.parts)


class Exponents(Identities):
    """The quantities of a case as such sums, computed when they are needed."""

    def __init__(self) -> None:
        super().__init__()
        self._values: list[Value] = []
        self._reading = NormalForms(self)
        self._known: dict[int, Straight | None] = {}

    def draw(self, value: Value) -> Polynomial:
        """A letter, by its number."""
        self._values.append(value)
        return super().draw(value)

    other = draw

    def opened(self, _function: Function) -> PolynomialRule | None:
        """None: letters must be quantities of the graph, and sizes are none."""
        return None

    def straight(self, value: Value) -> Straight | None:
        """A quantity as such a sum; None if it is none, or no simpler than the quantity itself."""
        if id(value) not in self._known:
            self._known[id(value)] = self._computed(value)
        return self._known[id(value)]

    def _computed(self, value: Value) -> Straight | None:
        if value.kind != Kind.COMPUTED or value.function.polynomial is None:
            return None
        try:
            found = self._line(self._reading.polynomial(value))
        except PolynomialError:
            return None
        return None if any(one.of is value for one in found.parts) else found

    def _line(self, polynomial: Polynomial) -> Straight:
        """A polynomial whose terms are multiples of one letter's element or its square.

        Raises:
            PolynomialError: it has other terms, or two letters share a draw.
        """
        found: dict[tuple[int, tuple[int, ...]], list[float]] = {}
        shift = 0.0
        for coefficient, _, tensors, atoms, _ in polynomial.terms:
            if not atoms and not tensors:
                shift += coefficient
                continue
            if len(tensors) > 1 or len(atoms) != 1 or len(atoms[0].powers) != 1:
                raise PolynomialError
            ((function, power),) = atoms[0].powers
            if function != ITSELF or power not in (1, 2):
                raise PolynomialError
            for indices, weight in self._elements(tensors, atoms[0].indices, polynomial):
                both = found.setdefault((atoms[0].draw, indices), [0.0, 0.0])
                both[power - 1] += coefficient * weight
        if not math.isfinite(shift):
            raise PolynomialError
        sources, parts = NO_DRAWS, []
        before: int | None = None
        for (draw, indices), (linear, square) in sorted(found.items()):
            letter = self._values[draw]
            places = [one for one in indices if one >= 0]
            other = draw == before and not places and _is_sample(letter)  # element of the same draw
            if len(set(places)) < len(places) or not (other or sources.isdisjoint(letter.sources)):
                raise PolynomialError
            before = None if places else draw
            sources |= letter.sources
            over = (one >= 0 and one not in polynomial.free for one in indices)
            summed = tuple(axis for axis, each in enumerate(over) if each)
            parts.append(Quadratic(letter, linear, square, summed))
        return Straight(tuple(parts), shift)

    def _elements(
        self, tensors: tuple[Tensor, ...], indices: tuple[int, ...], whole: Polynomial
    ) -> list[tuple[tuple[int, ...], float]]:
        """The elements of a letter in a term, by their indices, each with its weight.

        Without weights this is one element, whose indices may be summed over.

        Raises:
            PolynomialError: the weights are not along one axis, or there are too many.
        """
        if not tensors:
            return [(indices, 1.0)]
        ((_, (label, *others)),) = tensors
        weights = self.space.array_of(tensors[0])
        if others or label in whole.free or label not in indices or weights.size > MOST_ELEMENTS:
            raise PolynomialError
        return [
            (tuple(fixed_index(at) if one == label else one for one in indices), float(weight))
            for at, weight in enumerate(weights)
        ]


def _is_sample(value: Value) -> bool:
    """Whether the elements of a quantity are independent draws."""
    fixed = value.kind == Kind.DRAW and not any(one.random for one in value.inputs)
    return fixed and value.law is not None and value.law.own_axes is None


_Part = TypeVar("_Part", bound=Described)


def joined(
    parts: list[tuple[_Part, float]], shape: Shape, quantity: Callable[[Value], _Part]
) -> list[tuple[_Part, float]]:
    """A product of powers with all elementwise exponentials joined into one.

    exp(u)^a exp(v)^b is exp(a u + b v), in which common terms of u and v cancel, as in a ratio of
    densities.
    """
    exponentials = [one for one in parts if _is_exponential(one[0].value, shape)]
    if len(exponentials) < 2:
        return parts
    exponent: Value | None = None
    for part, power in exponentials:
        own = part.value.inputs[0]
        term = computed(MULTIPLY, constant_beside(own, power), own, like=own)
        large = own if exponent is None or len(own.shape) > len(exponent.shape) else exponent
        exponent = term if exponent is None else computed(ADD, exponent, term, like=large)
    assert exponent is not None
    whole = quantity(computed(EXP, exponent, like=exponent))
    return [(whole, 1.0), *(one for one in parts if one not in exponentials)]


def _is_exponential(value: Value, shape: Shape) -> bool:
    return value.random and value.computed_by(EXP) and value.shape in ((), shape)
