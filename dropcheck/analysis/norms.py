"""Upper bounds of the norms of a quantity, (E|x|^p)^(1/p), from its expression.

The bounds for a function follow from its majorant in the vocabulary, those for a draw from the
entry of its law. Here they are combined, from the draws up to a quantity. Every bound is computed
once for each quantity and order. No bound is below the truth for the draws in which all quantities
are defined; a bound that no rule gives is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from dropcheck.analysis.bounds import held_by
from dropcheck.analysis.law_bounds import (
    AffineDraw,
    Alignment,
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
from dropcheck.analysis.letters import NormalForms
from dropcheck.analysis.ring import ITSELF, Polynomial, PolynomialError, Space, lettered
from dropcheck.analysis.single_draw import Found, Integrals, is_function_of_one_draw
from dropcheck.analysis.support import OUTWARD, Support
from dropcheck.language.graph import (
    Kind,
    Value,
    in_order,
    number,
    thawed,
)
from dropcheck.vocabulary.functions.elementwise import ADD, SUBTRACT
from dropcheck.vocabulary.majorants.powers import (
    log_size_by_powers,
    norm_by_exponentials,
)
from dropcheck.vocabulary.majorants.rule import (
    INF,
    NONE,
    Applied,
    ArgumentPower,
    away,
    centring,
    highest,
    log_of,
    nearest_zero,
    raised,
    size,
    spread_within,
    times,
)

# ---- exponents -----------------------------------------------------------------------------------
#
# Quantities as lines in another quantity, for bounds of their exponentials.
#
# In exp(z²/2 - (z - 4)²/2) the squares cancel, and the exponent is a line in z, whose exponential
# the law knows. The exponentials of the single squares have no useful bounds.


class Exponents:
    """The quantities of a case as polynomials in one letter, computed when they are needed."""

    def __init__(self) -> None:
        self.space = Space()
        self._values: list[Value] = []
        self._reading = NormalForms(self)

    def draw(self, value: Value) -> Polynomial:
        """A letter, by its number."""
        self._values.append(value)
        return lettered(self.space, value.shape, len(self._values) - 1)

    other = draw

    def below(self, _value: Value) -> Value | None:
        """None: a function of a draw is a letter."""
        return None

    def carried(self, _value: Value, found: Polynomial) -> Polynomial:
        """The polynomial itself."""
        return found

    def line(self, value: Value) -> tuple[Value, float, float] | None:
        """Each element as slope · x + shift, with x, slope and shift; None if it is no such line.

        x may be another element of a quantity in each.
        """
        if value.kind != Kind.COMPUTED:
            return None
        try:
            found = self._reading.polynomial(value)
        except PolynomialError:
            return None
        slope, shift, elements = 0.0, 0.0, set[tuple[int, tuple[int, ...]]]()
        for coefficient, _, tensors, atoms, _ in found.terms:
            if not atoms and not tensors:
                shift += coefficient
                continue
            if tensors or len(atoms) > 1 or atoms[0].powers != ((ITSELF, 1),):
                return None
            if any(one >= 0 and one not in found.free for one in atoms[0].indices):
                return None  # it is summed over
            elements.add((atoms[0].draw, atoms[0].indices))
            slope += coefficient
        if len(elements) != 1 or not math.isfinite(slope + shift):
            return None
        ((letter, _),) = elements
        of = self._values[letter]
        return None if of is value else (of, slope, shift)


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
        self.support = Support()
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
        self.hull = self.mean = norms.support.hull(value)
        self.alignment: Alignment = ()
        self.apart: frozenset[int] = frozenset()
        self.centred: frozenset[int] = frozenset()
        self.signed: frozenset[int] = frozenset()
        self.line: AffineDraw | None = None
        self.terms = below if value.computed_by(ADD, SUBTRACT) else (self,)
        self.held_by = lambda other: held_by(
            value, other.value, lambda one: norms.support.hull(one).low
        )
        if value.random:
            self._describe()

    def _describe(self) -> None:
        value, below = self.value, self.below
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
            groups = grouped(factors(self), lambda part: part[0].value.sources)
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
            line = None if whole else quantity.norms.exponents.line(quantity.value)
            if line is not None:
                of, slope, shift = line
                bound = t * shift + quantity.norms.quantity(of).log_moment(t * slope)
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
