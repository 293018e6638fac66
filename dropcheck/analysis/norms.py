"""Upper bounds of the norms of a quantity, (E|x|^p)^(1/p), from its expression.

The bounds for a function follow from its majorant in the vocabulary, those for a draw from the
entry of its law. Here they are combined, from the draws up to a quantity. Every bound is computed
once for each quantity and order. No bound is below the truth for the draws in which all quantities
are defined; a bound that no rule gives is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from dropcheck.analysis.bounds import (
    OUTWARD,
    Hulls,
    held_by,
    hull_of,
    hull_of_fixed,
)
from dropcheck.analysis.law_bounds import (
    AffineDraw,
    Alignment,
    Described,
    alignment_of,
    centred_axes,
    disjoint,
    draw_log_moment,
    draw_mean,
    draw_norm,
    draw_spread,
    factors,
    grouped,
    inverse_of_line,
    line_of,
    signed_axes,
    weights_of_squares,
)
from dropcheck.analysis.letters import ITSELF, lettered
from dropcheck.analysis.ring import NormalForms, Polynomial, Space, Tensor, fixed_index
from dropcheck.analysis.single_draw import Found, Integrals, is_function_of_one_draw
from dropcheck.language.graph import (
    NO_DRAWS,
    Kind,
    Value,
    computed,
    constant_beside,
    in_order,
    number,
    thawed,
)
from dropcheck.vocabulary.distribution import Values
from dropcheck.vocabulary.functions.algebra import PolynomialError
from dropcheck.vocabulary.functions.elementwise import ADD, EXP, MULTIPLY, SUBTRACT
from dropcheck.vocabulary.majorants.powers import (
    log_size_by_powers,
    norm_by_exponentials,
)
from dropcheck.vocabulary.majorants.rule import (
    INF,
    NONE,
    Applied,
    Argument,
    ArgumentPower,
    away,
    centring,
    highest,
    log_of,
    nearest_zero,
    raised,
    size,
    spread_within,
    summed,
    times,
)
from dropcheck.vocabulary.shapes import Shape

# ---- exponents -----------------------------------------------------------------------------------
#
# Quantities as sums of quadratics in independent quantities, for bounds of their exponentials.
#
# In exp(z²/2 - (z - 4)²/2) the squares cancel, and the exponent is a line in z, whose exponential
# the law knows. The exponentials of the single squares have no useful bounds.


# The most elements of a sum with weights, which has a part for each element.
MOST_ELEMENTS = 64


@dataclass(frozen=True, slots=True)
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
        if c > 0:
            return INF
        # where the square is subtracted, the quadratic has a maximum
        return alone * min(x.log_moment(b), b * b / (-4 * c) if c else INF)


@dataclass(frozen=True, slots=True)
class Straight:
    """A sum of quadratics in quantities that share no draw, plus a number."""

    parts: tuple[Quadratic, ...]
    shift: float


class Exponents:
    """The quantities of a case as such sums, computed when they are needed."""

    def __init__(self) -> None:
        self.space = Space()
        self._values: list[Value] = []
        self._reading = NormalForms(self)
        self._known: dict[int, Straight | None] = {}

    def draw(self, value: Value) -> Polynomial:
        """A letter, by its number; the square of a truth is itself, that of a sign is 1."""
        number = len(self._values)
        self._values.append(value)
        letter = lettered(self.space, value.shape, number)
        if value.binary:
            letter.binary = True
            self.space.squares[number] = (1.0, 0.0)
        elif value.law is not None and value.law.values is Values.SIGNS:
            self.space.squares[number] = (0.0, 1.0)
        return letter

    other = draw

    def below(self, _value: Value) -> Value | None:
        """None: a function of a draw is a letter."""
        return None

    def carried(self, _value: Value, found: Polynomial) -> Polynomial:
        """The polynomial itself."""
        return found

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


_ExponentPart = TypeVar("_ExponentPart", bound=Described)


def joined(
    parts: list[tuple[_ExponentPart, float]],
    shape: Shape,
    quantity: Callable[[Value], _ExponentPart],
) -> list[tuple[_ExponentPart, float]]:
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


# ---- norms ---------------------------------------------------------------------------------------


# The highest order of a bound, and the most bounds that are computed.
HIGHEST_NORM, MOST_BOUNDS = 64.0, 60_000
# More steps above the draws than this mean that a quantity is the state of a loop: it is not
# integrated, and `norm_by_exponentials` may bound it.
MOST_DEPTH = 64
# For functions of more arguments than this, the bounds of all arguments are computed first.
_MANY = 4


class Norms:
    """The bounds of a case's quantities, computed when they are needed.

    Args:
        integrate: Whether norms of functions of one draw are also computed as integrals.
        found: Integrals that are known already.
    """

    def __init__(self, integrate: bool = True, found: Found | None = None) -> None:
        self._quantities: dict[int, NormedValue] = {}
        self.bounds = 0  # the number of bounds computed so far
        self.hulls = Hulls()
        self.exponents = Exponents()
        # for the tails of integrals, bounds by the rules only
        self._integrals = Integrals(Norms(integrate=False).norm, found) if integrate else None

    def norm(self, value: Value, p: float) -> float:
        """A bound of (E|x|^p)^(1/p) for p >= 1, of the element with the largest norm.

        It is infinite if no rule gives one.
        """
        return self.ask(value, lambda quantity: quantity.norm(p))

    def centred_norm(self, value: Value, centre: float, p: float) -> float:
        """A bound of (E|x - centre|^p)^(1/p), of the element with the largest norm."""

        def about(quantity: NormedValue) -> float:
            bound = away(quantity.hull, centre)
            if quantity.random:
                # the error of a difference of two rounded numbers
                rounding = 1e-15 * max(size(quantity.mean), abs(centre))
                by_mean = away(quantity.mean, centre) + rounding + quantity.spread(p)
                bound = min(bound, quantity.norm(p) + abs(centre), by_mean)
            return bound

        of_one_draw = self.quantity(value).of_one_draw
        if self._integrals and p <= HIGHEST_NORM and of_one_draw:
            integral = self._integrals.norm(value, p, centre)
            if integral < INF:
                return integral
        return self.ask(value, about)

    def ask(self, value: Value, bound: Callable[[NormedValue], float]) -> float:
        """The bound, after all bounds that it needs; without recursion, as models may be deep."""
        quantity = self.quantity(value)
        while True:
            try:
                return bound(quantity)
            except _NotYet as first:
                stack = list(first.wanted)
            while stack:
                wanted = stack[-1]
                try:
                    self._compute(*wanted)
                    stack.pop()
                except _NotYet as more:
                    stack += more.wanted

    def quantity(self, value: Value) -> NormedValue:
        """What is known of a value without an order; bounds of some order are known by `ask`."""
        known = self._quantities
        if id(value) not in known:
            for one in in_order([value], lambda v: [w for w in v.inputs if id(w) not in known]):
                if id(one) not in known:
                    below = [known[id(other)] for other in one.inputs]
                    known[id(one)] = NormedValue(one, below, self)
        return known[id(value)]

    def _compute(self, quantity: NormedValue, kind: str, order: float) -> None:
        if (kind, order) in quantity.known:
            return
        highest = math.inf if kind == "log_moment" else HIGHEST_NORM
        exhausted = abs(order) > highest or self.bounds > MOST_BOUNDS
        if not exhausted and len(quantity.below) > _MANY:
            wanted = [(one, kind, order) for one in quantity.below if one.random]
            wanted = [each for each in wanted if each[1:] not in each[0].known]
            if wanted:
                raise _NotYet(wanted)
        found = INF if exhausted else self._integral(quantity, kind, order)
        with np.errstate(all="ignore"):
            if found < INF:
                within = found if kind == "spread" else min(found, size(quantity.hull))
                spread = found if kind == "spread" else times(centring(order), within)
                quantity.known[kind, order] = (within, spread)
            else:
                quantity.known[kind, order] = _WORK[kind](quantity, order, exhausted)
        self.bounds += 1

    def _integral(self, quantity: NormedValue, kind: str, p: float) -> float:
        """The norm or the spread of a function of one draw as an integral; else infinite."""
        if self._integrals is None or kind not in ("sizes", "spread") or not quantity.of_one_draw:
            return INF
        found = self._integrals.norm if kind == "sizes" else self._integrals.spread
        return found(quantity.value, p)


_Wanted = tuple["NormedValue", str, float]


class _NotYet(Exception):  # noqa: N818 - it is no error
    """Names the bounds that have to be computed before the wanted one."""

    def __init__(self, wanted: Sequence[_Wanted]) -> None:
        self.wanted = wanted


class NormedValue:
    """A value of a graph, as an argument of the rules."""

    def __init__(self, value: Value, below: Sequence[NormedValue], norms: Norms) -> None:
        self.value, self.below, self.shape, self.random = value, below, value.shape, value.random
        self.weights_of_squares, self.drawn = partial(weights_of_squares, self), norms.quantity
        self.fixed = None if value.random or value.constant is None else number(value.constant)
        self.norms = norms
        self.known: dict[tuple[str, float], tuple[float, float]] = {}
        self._parts: Sequence[Sequence[ArgumentPower]] | None = None
        self.majorant = value.function.growth if value.kind == Kind.COMPUTED else NONE
        self.even_share = self.majorant.even_share
        self.depth: int = 1 + max((one.depth for one in below), default=0)
        self.of_one_draw = self.depth <= MOST_DEPTH and is_function_of_one_draw(value)
        self.use = Applied(
            arguments=below,
            options={name: thawed(option) for name, option in value.options},
            shape=value.shape,
            independent=disjoint([one.sources for one in value.inputs]),
            same=len(below) == 2 and below[0] is below[1],
            parts=self.parts,
        )
        self.hull = self.mean = hull_of_fixed(value)
        self.alignment: Alignment = ()
        self.apart: frozenset[int] = frozenset()
        self.centred: frozenset[int] = frozenset()
        self.signed: frozenset[int] = frozenset()
        self.line: AffineDraw | None = None
        self.terms = below if value.computed_by(ADD, SUBTRACT) else (self,)
        self.held_by = lambda other: held_by(value, other.value)
        if value.random:
            self._describe()

    def _describe(self) -> None:
        value, below = self.value, self.below
        self.hull = hull_of(value, [one.hull for one in below])
        mean = draw_mean(value, below) if value.kind == Kind.DRAW else self.majorant.mean(self.use)
        self.mean = self.hull.common(mean)
        self.alignment = alignment_of(value, [one.alignment for one in below])
        self.apart = frozenset(at for at, one in enumerate(self.alignment) if one is not None)
        self.centred = centred_axes(self)
        self.signed = signed_axes(self)
        self.line = line_of(value, [one.line for one in below])

    def norm(self, p: float) -> float:
        """A bound of (E|x|^p)^(1/p); for orders below 1 that of order 1, or that of a product."""
        if not self.random:
            return size(self.hull)
        bound = self._bound("sizes", max(p, 1.0))[0]
        return self._of_independent_factors(p) if bound == INF and p < 1 else bound

    def _of_independent_factors(self, p: float) -> float:
        """The norm of a product of powers that share no draw, of any order above 0."""
        parts = self.parts()
        if any(len(group) > 1 or group[0][0] is self for group in parts):
            return INF
        norms = (
            raised(one.norm(p * power), power)
            if power > 0
            else raised(one.inverse(-p * power), -power)
            for ((one, power),) in parts
        )
        return _outward(times(1.0, *norms))

    def spread(self, p: float) -> float:
        """A bound of the norm of the distance from the mean."""
        kind, place = ("spread", 0) if self.of_one_draw else ("sizes", 1)
        return self._bound(kind, max(p, 1.0))[place] if self.random else 0.0

    def log_moment(self, t: float) -> float:
        """A bound of log E exp(t · x)."""
        if t == 0:
            return 0.0
        return self._bound("log_moment", t)[0] if self.random else highest(self.hull, t)

    def inverse(self, r: float, point: float = 0.0) -> float:
        """A bound of (E|x - point|^-r)^(1/r); for a point other than 0 only known for lines."""
        if point:
            return INF if self.line is None else inverse_of_line(self.line.less(point), r)
        if self.random:
            return self._bound("inverse", r)[0]
        nearest = 0.0 if self.fixed is None else float(np.abs(self.fixed).min(initial=INF))
        return 1 / nearest if nearest else INF

    def log_size(self, p: float) -> float:
        """A bound of the norm of log|x|."""
        return self._bound("log_size", max(p, 1.0))[0] if self.random else log_of(self.fixed)

    @property
    def density(self) -> float:
        """A bound of the density of each element."""
        return INF if self.line is None else self.line.greatest_density()

    def _bound(self, kind: str, order: float) -> tuple[float, float]:
        """A bound that has been computed.

        Raises:
            _NotYet: It has not been computed yet.
        """
        bound = self.known.get((kind, order))
        if bound is None:
            raise _NotYet([(self, kind, order)])
        return bound

    def parts(self) -> Sequence[Sequence[ArgumentPower]]:
        """The value as a product of powers, in groups that share no draw."""
        if self._parts is None:
            parts = joined(factors(self), self.shape, self.norms.quantity)
            groups = grouped(parts, lambda part: part[0].value.sources)
            self._parts = groups
        return self._parts


# ---- bounds, by order ---------------------------------------------------------------------------


def _sizes(quantity: NormedValue, p: float, exhausted: bool) -> tuple[float, float]:
    """The norm and the spread; each also bounds the other."""
    value, hull, mean = quantity.value, quantity.hull, quantity.mean
    norm = spread = INF
    if not exhausted:
        if value.kind == Kind.DRAW:
            norm = draw_norm(value, quantity.below, p)
            spread = draw_spread(value, p)
        else:
            norm = quantity.majorant.norm(quantity.use, p)
            spread = quantity.majorant.spread(quantity.use, p)
            if quantity.depth > MOST_DEPTH and quantity.majorant.holds_back:
                norm = min(norm, norm_by_exponentials(quantity, p))
    norm = min(_outward(norm), size(hull))
    spread = min(
        _outward(spread), _outward(times(centring(p), norm)), _outward(spread_within(hull, p))
    )
    if mean.low == mean.high:
        spread = min(spread, _outward(norm + abs(mean.low)))
    return min(norm, _outward(size(mean) + spread)), spread


def _log_moment(quantity: NormedValue, t: float, exhausted: bool) -> tuple[float, float]:
    bound = INF
    if not exhausted:
        if quantity.value.kind == Kind.DRAW:
            bound = draw_log_moment(quantity.value, quantity.below, t)
        else:
            whole = quantity.use.independent and not quantity.value.function.picks
            line = None if whole else quantity.norms.exponents.straight(quantity.value)
            if line is not None:
                known = quantity.norms.quantity
                bound = t * line.shift + summed(p.log_moment(known(p.of), t) for p in line.parts)
            if bound == INF:
                bound = quantity.majorant.log_moment(quantity.use, t)
    bound += OUTWARD * max(1.0, abs(bound)) if abs(bound) < INF else 0.0
    return min(bound, highest(quantity.hull, t)), 0.0


def _inverse(quantity: NormedValue, r: float, exhausted: bool) -> tuple[float, float]:
    bound = INF
    if not exhausted and quantity.line is not None:
        bound = inverse_of_line(quantity.line, r)
    elif not exhausted and quantity.value.kind == Kind.COMPUTED:
        bound = quantity.majorant.inverse(quantity.use, r)
    nearest = nearest_zero(quantity.hull)
    return min(_outward(bound), _outward(1 / nearest) if nearest else INF), 0.0


def _log_size(quantity: NormedValue, p: float, exhausted: bool) -> tuple[float, float]:
    bound = INF if exhausted else quantity.majorant.log_size(quantity.use, p)
    if bound == INF and not exhausted:
        bound = log_size_by_powers(quantity, p)
    return _outward(bound), 0.0


_WORK = {
    "sizes": _sizes,
    "spread": lambda *asked: _sizes(*asked)[::-1],
    "log_moment": _log_moment,
    "inverse": _inverse,
    "log_size": _log_size,
}


def _outward(bound: float) -> float:
    return bound * (1 + OUTWARD)
