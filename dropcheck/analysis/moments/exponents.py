"""Quantities as quadratics of others that share no draw, as the exponential function asks for.

In exp(z²/2 - (z - 4)²/2) the squares cancel: the exponent is a line of z, of which the law says
all, while no exponential of either square has a bound that is of use.
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

# Of sums with weights, one part for each element: so many at most.
MOST_ELEMENTS = 64


@record
class Quadratic:
    """linear · x + square · x² of the elements of a quantity, summed over some of its axes."""

    of: Value
    linear: float
    square: float
    summed: tuple[int, ...] = ()

    def log_moment(self, x: Argument, t: float) -> float:
        """A bound of log E exp(t · itself), given what is known of the quantity.

        Of n independent elements it is n times that of one; of others at most that of n times one
        (Hölder's inequality).
        """
        n = math.prod(x.shape[axis] for axis in self.summed)
        alone, within = (n, 1) if x.apart.issuperset(self.summed) else (1, n)
        b, c = t * within * self.linear, t * within * self.square
        return alone * (log_moment_of_quadratic(x, b, c) if c else x.log_moment(b))


@record
class Straight:
    """Σ of quadratics + shift, of quantities that share no draw."""

    parts: tuple[Quadratic, ...]
    shift: float


def proxy_of(line: Straight | None, proxy: Callable[[Value], float]) -> float:
    """The variance proxy of a sum: that of parts that share no draw adds up."""
    if line is None or any(one.square or one.summed for one in line.parts):
        return INF
    return summed(times(one.linear**2, proxy(one.of)) for one in line.parts)


class Exponents(Identities):
    """The quantities of a case as such sums, each worked out where it is asked for."""

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
        """None: each letter is a quantity of the graph, and the size of a difference is none."""
        return None

    def straight(self, value: Value) -> Straight | None:
        """A quantity as such a sum; None where it is none, or no simpler than it stands."""
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
        return None if any(one.of is value for one in found.parts) else found

    def _line(self, polynomial: Polynomial) -> Straight:
        """The terms of a polynomial, each a number times one element of a letter or its square.

        Raises:
            PolynomialError: they are not, or two of them share a draw.
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
        """An element as it stands; of a sum with weights each by itself, with its own.

        Raises:
            PolynomialError: the weights are not along one axis, or are too many.
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
    """Whether the elements of a quantity are draws that know nothing of each other."""
    fixed = value.kind == Kind.DRAW and not any(one.random for one in value.inputs)
    return fixed and value.law is not None and value.law.own_axes is None


_Part = TypeVar("_Part", bound=Described)


def joined(
    parts: list[tuple[_Part, float]], shape: Shape, quantity: Callable[[Value], _Part]
) -> list[tuple[_Part, float]]:
    """A product of powers with its exponentials as one, where they meet element by element.

    As a ratio of densities: exp(u)^a exp(v)^b is exp(a u + b v), in which what is in both cancels.
    """
    found = [one for one in parts if _is_exponential(one[0].value, shape)]
    if len(found) < 2:
        return parts
    exponent: Value | None = None
    for part, power in found:
        own = part.value.inputs[0]
        term = computed(MULTIPLY, constant_beside(own, power), own, like=own)
        large = own if exponent is None or len(own.shape) > len(exponent.shape) else exponent
        exponent = term if exponent is None else computed(ADD, exponent, term, like=large)
    assert exponent is not None
    whole = quantity(computed(EXP, exponent, like=exponent))
    return [(whole, 1.0), *(one for one in parts if one not in found)]


def _is_exponential(value: Value, shape: Shape) -> bool:
    own = value.kind == Kind.COMPUTED and value.random and value.function is EXP
    return own and value.shape in ((), shape)
