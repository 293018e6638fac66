"""Expectations of functions of one draw, each with a bound of its error.

The values of a discrete draw are enumerated. The values of a continuous draw are cut into cells
(`known.cells`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from dropcheck.analysis.bounds import OUTWARD, summed
from dropcheck.analysis.rounding import TURNS, computed_again, may_turn
from dropcheck.array_types import Floats
from dropcheck.known import cells
from dropcheck.known.cells import UNKNOWN, Estimate
from dropcheck.known.enclosure import Enclosure, Near, applied, enclosed
from dropcheck.language.graph import (
    Kind,
    Plain,
    Value,
    in_order,
    kernel_of,
    number,
    random_inputs,
)
from dropcheck.vocabulary.function import Array, KernelError
from dropcheck.vocabulary.law import Law

# ---- draw steps ----------------------------------------------------------------------------------
#
# The steps from one drawn number to the quantities that are functions of it.


# The most steps of a function of one draw, and the most elements of a value among them.
MOST_STEPS = 100
MOST_ELEMENTS = 64


def draw_below(value: Value) -> Value | None:
    """The drawn number of which a quantity is a function; everything else in it is fixed.

    It is a draw of one number, or one element of an array of draws. If a function is applied to an
    array of independent draws element by element, it is the array: each element is the same
    function of the draw at its index. None if a quantity is no such function, or if the law's
    arguments are no fixed numbers.
    """
    if not value.random or len(value.sources) != 1 or value.estimated:
        return None
    draw: Value | None = None
    seen: set[int] = set()
    stack = [value]
    while stack:
        one = stack.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if len(seen) > MOST_STEPS:
            return None
        if one.kind == Kind.DRAW or (one.kind == Kind.COMPUTED and _is_view_of_draw(one)):
            if draw is not None and draw is not one:
                return None
            draw = one
        else:
            stack += random_inputs(one)
    return draw if draw is not None and _fits(value, draw) else None


def _is_view_of_draw(value: Value) -> bool:
    while value.kind == Kind.COMPUTED and value.function.rearranges:
        value = value.inputs[0]
    return value.kind == Kind.DRAW


def law_of(draw: Value) -> Value:
    """The draw itself, from a result of `draw_below`, which may be an element of it."""
    while draw.kind == Kind.COMPUTED:
        draw = draw.inputs[0]
    return draw


def _fits(value: Value, draw: Value) -> bool:
    """Whether the law has fixed arguments, and each element of the value depends on one number."""
    origin = law_of(draw)
    if origin.law is None or origin.law.own_axes is not None:
        return False
    if not all(
        argument.known is not None and len(argument.shape) == parameter.axes
        for argument, parameter in zip(origin.inputs, origin.law.parameters, strict=True)
    ):
        return False
    if value.shape != draw.shape:
        return False
    if draw.shape == ():
        return all(math.prod(one.shape) <= MOST_ELEMENTS for one in _between(value, draw))
    return all(
        one.shape == draw.shape and one.function.by_element and _same_for_all(one)
        for one in _between(value, draw)
    )


def _same_for_all(value: Value) -> bool:
    """Whether each fixed input is one number for all elements."""
    constants = [below.constant for below in value.inputs if not below.random]
    return all(one.size and bool((one == one.flat[0]).all()) for one in constants)


def _between(value: Value, draw: Value) -> list[Value]:
    """The values computed between the draw and the quantity, in order."""
    return [one for one in _ordered([value], draw) if one is not draw]


def _ordered(values: Sequence[Value], draw: Value) -> list[Value]:
    return in_order(values, lambda one: () if one is draw else random_inputs(one))


@dataclass(frozen=True, slots=True)
class Steps:
    """The values that are computed from a draw to get some quantities."""

    draw: Value
    values: tuple[Value, ...]
    computed: tuple[Value, ...]

    @classmethod
    def to(cls, values: Sequence[Value], draw: Value) -> Steps:
        """The steps from a draw to some quantities."""
        computed = tuple(one for one in _ordered(values, draw) if one is not draw)
        return cls(draw, tuple(values), computed)

    @property
    def written(self) -> tuple[object, ...]:
        """A key of the computation, without the draw: equal for equal steps from another draw."""
        places = {id(self.draw): 0}
        written: list[object] = [self.draw.shape == ()]
        for place, value in enumerate(self.computed, 1):
            places[id(value)] = place
            inputs = tuple(
                places[id(below)] if below.random else _written(self._constant(below))
                for below in value.inputs
            )
            shape = value.shape if self.draw.shape == () else None
            written.append((value.operation, value.options, shape, inputs))
        return *written, tuple(places[id(value)] for value in self.values)

    def evaluated(self, points: Floats) -> list[Floats]:
        """The quantities at values of the draw, each [points].

        They are NaN if a function does not take a value: the error is reported when it is drawn.
        """
        return self._quantities(self._computed(points), points)

    def again(self, points: Floats) -> Iterator[list[Floats]]:
        """The quantities at values of a discrete draw, moved as rounding may move them."""
        results = self._computed(points)
        if not results or not may_turn(self.computed):
            return

        def array_of(value: Value) -> Array:
            return results[id(value)] if value.random else self._constant(value)

        for seed in range(TURNS):
            moved = computed_again((self.draw, *self.computed), array_of, seed, len(points))
            yield self._quantities(moved, points)

    def _quantities(self, results: Mapping[int, Array], points: Floats) -> list[Floats]:
        unknown = np.full(points.shape, np.nan)
        arrays = [number(results.get(id(value), unknown)) for value in self.values]
        return [np.broadcast_to(one, points.shape) for one in arrays]

    def _computed(self, points: Floats) -> dict[int, Array]:
        """All values by id, at values of the draw; empty if a function does not take a value."""
        results: dict[int, Array] = {id(self.draw): points}
        for value in self.computed:
            inputs = [
                results[id(below)] if below.random else self._constant(below)
                for below in value.inputs
            ]
            try:
                results[id(value)] = kernel_of(value)(*inputs)
            except KernelError:
                return {}
        return results

    def _constant(self, value: Value) -> Array:
        """A fixed array; if it has the same number for all elements of the draw, this number."""
        array: Array = value.constant
        return array.reshape(-1)[:1] if self.draw.shape else array

    def enclosed(self, draw: Enclosure) -> list[Enclosure]:
        """The quantities, from the enclosure of the draw."""
        found: dict[int, Enclosure] = {id(self.draw): draw}
        for value in self.computed:
            inputs = [
                found[id(below)] if below.random else self._constant(below)
                for below in value.inputs
            ]
            try:
                found[id(value)] = applied(value.function, kernel_of(value), inputs)
            except KernelError:  # it does not take a value somewhere on a cell
                unknown = np.full((*value.shape, draw.shape[-1]), np.inf)
                found[id(value)] = Enclosure(-unknown, unknown, Near(unknown, unknown))
        return [found[id(value)] for value in self.values]


def _written(array: Array) -> tuple[object, ...]:
    return array.dtype.str, array.shape, array.tobytes()


# ---- integrals -----------------------------------------------------------------------------------


Norm = Callable[[Value, float], float]
"""Takes a quantity and an order p; returns an upper bound of (E|quantity|^p)^(1/p), which is
infinite if none is known."""

# The most values of a discrete law that are enumerated.
MOST_POINTS = 2**15
# The relative error of the probability of a value.
CHANCE_ERROR = 1e-12
# A function of more steps counts as several integrals.
FEW_STEPS = 8
# The most integrals in one case, as each takes milliseconds.
MOST_INTEGRALS = 64


@dataclass(frozen=True, slots=True)
class SingleDrawIntegrand:
    """The product of |φ - centre|^power over functions φ of one draw; with signs if `signed`.

    `bound` gives bounds of norms, which the tails of unbounded functions need.
    """

    steps: Steps
    powers: tuple[float, ...]
    centres: tuple[float, ...]
    signed: bool
    bound: Norm | None

    def evaluated(self, points: Floats) -> Floats:
        """Its values at these values of the draw."""
        return self._product(self.steps.evaluated(points))

    def turned(self, points: Floats, values: Floats) -> Floats:
        """How far rounding may move its values at values of a discrete draw."""
        changes = np.zeros(points.shape)
        for moved in self.steps.again(points):
            changes = np.fmax(changes, np.abs(self._product(moved) - values))
        return changes

    def _product(self, factors: Sequence[Floats]) -> Floats:
        product = np.ones(1)
        for values, power, centre in zip(factors, self.powers, self.centres, strict=True):
            moved = values - centre if centre else values
            product = product * (moved if self.signed else np.abs(moved)) ** power
        return product

    def enclosed(self, draw: Enclosure) -> Enclosure:
        """Its enclosure, from that of the draw."""
        product: Any = enclosed(np.ones(draw.shape), draw)
        factors = zip(self.steps.enclosed(draw), self.powers, self.centres, strict=True)
        for at, (factor, power, centre) in enumerate(factors):
            moved: Any = factor - centre if centre else factor
            raised = (moved if self.signed else np.absolute(moved)) ** power
            product = product * raised if at else raised
        return cast("Enclosure", product)

    def norm(self, order: float) -> float:
        """A bound of its norm of this order, by Hölder and Minkowski."""
        if self.bound is None:
            return math.inf
        order *= math.fsum(self.powers)
        with np.errstate(all="ignore"):
            sizes = np.array([self.bound(value, order) for value in self.steps.values])
            return float(np.prod((sizes + np.abs(self.centres)) ** self.powers))


Found = dict[tuple[object, ...], Estimate]
"""Expectations, by the law, its arguments and the steps of the function."""


class Integrals:
    """Expectations over one draw, each computed once.

    The steps of a loop need the same expectations again and again: the same function of draws of
    one law has one expectation. At most `most` different integrals are computed, which take a few
    milliseconds each; one of many steps counts as several.

    Args:
        norm: gives bounds of norms by other means, which the tails of unbounded functions need.
        found: expectations that are known already; new ones are added.
        most: how many integrals are computed at most.
    """

    def __init__(
        self, norm: Norm | None = None, found: Found | None = None, most: int = MOST_INTEGRALS
    ) -> None:
        self._norm, self._left = norm, most
        self._found: Found = {} if found is None else found

    def moment(
        self,
        functions: Sequence[Value],
        powers: Sequence[float],
        centres: Sequence[float],
        signed: bool = True,
    ) -> Estimate:
        """E Π (φ_k(x) - c_k)^(p_k) of functions φ_k of one draw x; unknown for several draws.

        Args:
            functions: quantities with the same draw below them, see `draw_below`.
            powers: exponents from 0 on, whole ones if signed.
            centres: the numbers that are subtracted from the functions.
            signed: False for the sizes of the differences.
        """
        draw = draw_below(functions[0])
        if draw is None or any(draw_below(one) is not draw for one in functions):
            return UNKNOWN
        kept = [at for at, power in enumerate(powers) if power]
        integrand = SingleDrawIntegrand(
            Steps.to([functions[at] for at in kept], draw),
            tuple(float(powers[at]) for at in kept),
            tuple(centres[at] for at in kept),
            signed,
            self._norm,
        )
        single, steps = drawn_number(draw), integrand.steps
        how = integrand.powers, integrand.centres, signed, self._norm is None
        key = (*single, *steps.written, how)
        if key not in self._found:
            if self._left <= 0:
                return UNKNOWN
            self._left -= 1 + len(steps.computed) // FEW_STEPS
            self._found[key] = mean_over(*single, integrand)
        return self._found[key]

    def norm(self, value: Value, p: float, centre: float = 0.0) -> float:
        """A bound of (E|φ(x) - centre|^p)^(1/p) of a function of one draw; infinite if unknown."""
        if not 1 <= p < math.inf:
            return math.inf
        found = self.moment([value], [p], [centre], signed=False)
        most = found.value + found.error
        return math.inf if math.isnan(most) else max(most, 0.0) ** (1 / p) * (1 + OUTWARD)

    def spread(self, value: Value, p: float) -> float:
        """The same of φ(x) - E φ(x)."""
        mean = self.moment([value], [1], [0.0])
        if not math.isfinite(mean.error):
            return math.inf
        return self.norm(value, p, mean.value) + mean.error


def drawn_number(draw: Value) -> tuple[Law, tuple[Plain, ...]]:
    """The law of a result of `draw_below`, and its arguments, which are fixed numbers."""
    origin = law_of(draw)
    assert origin.law is not None
    known = [argument.known for argument in origin.inputs]
    return origin.law, tuple(one for one in known if one is not None)


def mean_over(law: Law, arguments: tuple[Plain, ...], integrand: SingleDrawIntegrand) -> Estimate:
    """The expectation of a function of a draw."""
    with np.errstate(all="ignore"):
        constant = law.constant(*arguments)
        if constant is not None:
            return _enumerated(integrand, np.array([constant]), np.ones(1))
        if not law.discrete:
            return cells.mean(law, arguments, integrand)
        points = law.points(*arguments, at_most=MOST_POINTS)
        if points is None:
            return UNKNOWN
        values, chances, outside = points
        listed = _enumerated(integrand, values, chances)
        low, high = law.support(*arguments)
        tail = (np.array([one]) for one in (low, high, sum(outside)))
        beyond = float(cells.tail_errors(integrand, *tail).sum()) if any(outside) else 0.0
        return replace(listed, error=listed.error + beyond)


def _enumerated(integrand: SingleDrawIntegrand, values: Floats, chances: Floats) -> Estimate:
    """The expectation of a function of a draw with few values."""
    computed = integrand.evaluated(values)
    zero = np.zeros(len(values))
    rounding = integrand.enclosed(Enclosure(values, values, Near(zero, zero))).smooth.error
    rounding = np.where(np.isfinite(rounding), rounding, 1e-12 * np.abs(computed))
    possible = chances > 0
    error = np.where(possible, chances * (rounding + integrand.turned(values, computed)), 0.0)
    terms = np.where(possible, chances * computed, 0.0)
    size, rounded = float(np.abs(terms).sum()), float(error.sum())
    if not math.isfinite(size + rounded):
        return UNKNOWN
    return Estimate(summed(terms), (rounded + CHANCE_ERROR * size) * (1 + 1e-9))


def diverges(value: Value, order: float) -> bool:
    """Whether E|φ(x)|^order of a function of a continuous draw is infinite (`known.cells`)."""
    draw = draw_below(value)
    if draw is None:
        return False
    law, arguments = drawn_number(draw)
    if law.discrete or law.constant(*arguments) is not None:
        return False
    integrand = SingleDrawIntegrand(Steps.to([value], draw), (order,), (0.0,), False, None)
    return cells.diverges(law, arguments, integrand)
