"""Upper bounds of how large a random quantity is, by one walk over its expression.

Of a quantity u that an expression gives, the walk bounds

* its size of order p, (E|u|^p)^(1/|p|), where p may be negative, as a division needs it;
* its spread of order p >= 1, the size of u - E u;
* its log-moment, log E exp(t u), which the exponential function needs;
* its log-size, the size of log|u|.

Of an array, the largest bound of an element counts. A draw is bounded by its law, and a function of
one draw is integrated (`analysis.single_draw`). For others, each function has rules; a function of
one number has none of its own: how steep it is follows from its kernel. Each rule is an inequality
that holds for all laws, so no bound is below the truth, for the draws in which all is defined. A
bound that no rule gives is infinite.

Sources: Hardy, Littlewood and Pólya, Inequalities (1952), for Hölder's (thm 189), Minkowski's (thm
198) and Lyapunov's (thm 192) inequality. For sums of terms D_i of mean 0 given those before:

* p >= 2: ||Σ D_i||_p² <= (p - 1) Σ ||D_i||_p² (Rio 2009, "Moment inequalities for sums of
  dependent random variables under projective conditions", J. Theor. Probab. 22, thm 2.1);
* 1 <= p <= 2: E|Σ D_i|^p <= 2^(2 - p) Σ E|D_i|^p (von Bahr and Esseen 1965, "Inequalities for the
  r-th absolute moment of a sum of random variables, 1 <= r <= 2", Ann. Math. Statist. 36);
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dropcheck.analysis.bounds import (
    LOGARITHMS,
    OUTWARD,
    AffineDraw,
    by_law,
    disjoint,
    draw_mean,
    fixed_arguments,
    grouped,
    inverse_of_line,
    inverse_of_sums,
    is_apart,
    line_of,
)
from dropcheck.analysis.single_draw import Found, Integrals, draw_below
from dropcheck.analysis.support import Support, assumed_by, hull_of
from dropcheck.known.enclosure import Enclosure, Near
from dropcheck.language.graph import Kind, Value, bound, in_order, number, ordered, thawed
from dropcheck.language.lowering.builder import GraphBuilder
from dropcheck.language.lowering.model import StandIn
from dropcheck.vocabulary.domains import EVERYWHERE, Hull
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions import operation
from dropcheck.vocabulary.functions.truths import CONDITIONAL, WHERE
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.shapes import broadcast, normalise_axes

INF = math.inf
ZERO = Hull(0.0, 0.0)

# ---- arithmetic of bounds ------------------------------------------------------------------------
#
# They may be infinite, and do not underflow to 0.


# stands for a bound that underflows
_TINY = 1e-300
# the rounding error of a sum of means, as a share of them: a thousand times that of float64
_ROUNDING = 1e-13


def times(*factors: float) -> float:
    """The product; 0 if a factor is 0, even if another is infinite."""
    if 0.0 in factors:
        return 0.0
    return max(math.prod(factors), _TINY)


def raised(base: float, exponent: float) -> float:
    """A base that is not negative, to an exponent above 0."""
    if base == 0:
        return 0.0
    try:
        return max(math.pow(base, exponent), _TINY)
    except OverflowError:
        return INF


def exponential(x: float) -> float:
    """The exponential function."""
    return INF if x > 709 else max(math.exp(x), _TINY)


def log_sum(exponents: Iterable[float]) -> float:
    """The logarithm of a sum of exponentials."""
    return float(np.logaddexp.reduce(list(exponents)))


def combined(sizes: Iterable[float], p: float) -> float:
    """(Σ size^p)^(1/p): a bound of the norm of the largest of quantities with these norms."""
    sizes = list(sizes)
    largest = max(sizes, default=0.0)
    if largest in (0.0, INF):
        return largest
    return times(largest, raised(math.fsum(raised(one / largest, p) for one in sizes), 1 / p))


def centring(p: float) -> float:
    """A factor c with ||x - E x||_p <= c ||x||_p.

    The map x ↦ x - E x has the norm 1 on L², and at most 2 on L¹ and L^∞. Between them, by the
    theorem of Riesz and Thorin (Thorin 1948), its norm is at most 2^|1 - 2/p|.
    """
    return float(2 ** abs(1 - 2 / p))


def slack(p: float) -> float:
    """A factor s with ||f(x) - E f(x)||_p <= s ||x - E x||_p for all f with |f'| <= 1.

    With x' independent of x and with the same law, the left side is at most ||f(x) - f(x')||_p <=
    ||x - x'||_p <= 2 ||x - E x||_p; for p = 2 the variance is half of E(f(x) - f(x'))².
    """
    return 1.0 if p == 2 else 2.0


def largest_size(hull: Hull) -> float:
    """The largest size of a number in a hull."""
    return max(abs(hull.low), abs(hull.high))


def highest(hull: Hull, t: float) -> float:
    """The largest of t times the numbers of a hull."""
    return max(0.0 if end == 0 else t * end for end in (hull.low, hull.high))


def nearest_zero(hull: Hull) -> float:
    """The least size of a number in a hull."""
    return max(hull.low, -hull.high, 0.0)


def _outward(bound: float) -> float:
    return bound * (1 + OUTWARD)


# ---- the walk ------------------------------------------------------------------------------------


# The highest order of a bound, and the most bounds that are computed.
HIGHEST_NORM, MOST_BOUNDS = 64.0, 60_000
# More steps above the draws than this mean that a quantity is the state of a loop: it is not
# integrated, and `_by_exponentials` may bound it.
MOST_DEPTH = 64
# Branches of a choice of no more steps are bounded by what its condition says.
MOST_GUARDED = 16
_HELD_BACK = {"maximum", "minimum", "clip", "relu"}


class Norms:
    """The bounds of a case's quantities, computed when they are needed.

    With `integrate`, norms of functions of one draw are also computed as integrals, of which some
    may be `found` already.
    """

    def __init__(self, integrate: bool = True, found: Found | None = None) -> None:
        self._quantities: dict[int, Quantity] = {}
        self.bounds = 0  # the number of bounds computed so far
        self.support = Support()
        self._graph = GraphBuilder(memory=None)  # of what functions are made of
        self._held: dict[tuple[int, int, bool], Value] = {}
        # for the tails of integrals, bounds by the rules only
        self._integrals = Integrals(Norms(integrate=False).norm, found) if integrate else None

    def norm(self, value: Value, p: float) -> float:
        """A bound of (E|x|^p)^(1/|p|), of the element for which it is largest.

        It is infinite if no rule gives one.
        """
        return self.ask(value, lambda quantity: quantity.size(p))

    def centred_norm(self, value: Value, centre: float, p: float) -> float:
        """A bound of (E|x - centre|^p)^(1/p) for p >= 1, as for `norm`."""

        def about(quantity: Quantity) -> float:
            bound = _farthest(quantity.hull, centre)
            if quantity.random:
                # the error of a difference of two rounded numbers
                rounding = 1e-15 * max(largest_size(quantity.mean), abs(centre))
                by_mean = _farthest(quantity.mean, centre) + rounding + quantity.spread(p)
                bound = min(bound, quantity.size(p) + abs(centre), by_mean)
            return bound

        if self._integrals and p <= HIGHEST_NORM and self.quantity(value).of_one_draw:
            integral = self._integrals.norm(value, p, centre)
            if integral < INF:
                return integral
        return self.ask(value, about)

    def ask(self, value: Value, bound: Callable[[Quantity], float]) -> float:
        """The bound, after all bounds that it needs; without recursion, as models may be deep."""
        quantity = self.quantity(value)
        while True:
            try:
                return bound(quantity)
            except _NotYet as first:
                stack = [first.args]
            while stack:
                try:
                    self._compute(*stack[-1])
                    stack.pop()
                except _NotYet as more:
                    stack.append(more.args)

    def quantity(self, value: Value) -> Quantity:
        """What is known of a value without an order; bounds of some order are known by `ask`."""
        known = self._quantities
        if id(value) not in known:
            for one in in_order([value], lambda v: [w for w in v.inputs if id(w) not in known]):
                if id(one) not in known:
                    below = [known[id(other)] for other in one.inputs]
                    known[id(one)] = Quantity(one, below, self.support.hull(one))
                    made = _MADE_OF.get(one.operation) if one.random else None
                    if made is not None:
                        inputs = (StandIn(other, self._graph, one.at) for other in one.inputs)
                        known[id(one)].made_of = self.quantity(made(*inputs).value)
                    if one.computed_by(WHERE, CONDITIONAL) and below[0].depth <= MOST_GUARDED:
                        condition, *branches = one.inputs
                        held = zip(branches, (True, False), strict=True)
                        guarded = (self.held(u, condition, holds) for u, holds in held)
                        known[id(one)].held = [*map(self.quantity, guarded)]
        return known[id(value)]

    def held(self, value: Value, condition: Value, holds: bool) -> Value:
        """A quantity that is the same in draws in which a condition holds, or does not hold.

        What the condition says of other quantities is true of this one in all draws: these are
        clipped. So its norm bounds that of the product with the condition.
        """
        key = id(value), id(condition), holds
        if key not in self._held:
            self._held[key] = self._held_by(value, condition, holds)
        return self._held[key]

    def _held_by(self, value: Value, condition: Value, holds: bool) -> Value:
        said, walked = assumed_by([(condition, holds)]), ordered([value])
        by_element = all(one.kind != Kind.COMPUTED or one.function.by_element for one in walked)
        if not (said and (by_element or not condition.shape)):
            return value
        made: dict[int, Value] = {}
        for one in walked:
            inputs = tuple(made.get(id(below), below) for below in one.inputs)
            own = one if inputs == one.inputs else replace(one, inputs=inputs)
            if id(one) in said:
                hull = self.support.known(one).and_also(said[id(one)]).hull
                for end, name in ((hull.low, "maximum"), (hull.high, "minimum")):
                    if math.isfinite(end):
                        ends = own, self._graph.number(end, one.at)
                        own = self._graph.elementwise(operation(name), ends, one.at)
            made[id(one)] = own
        return made.get(id(value), value)

    def _compute(self, quantity: Quantity, kind: str, order: float) -> None:
        highest = INF if kind == "log_moment" else HIGHEST_NORM
        exhausted = abs(order) > highest or self.bounds > MOST_BOUNDS
        with np.errstate(all="ignore"):
            found = INF
            if not exhausted and self._integrals and quantity.of_one_draw and order >= 1:
                if kind == "size":
                    found = self._integrals.norm(quantity.value, order)
                elif kind == "spread":
                    found = self._integrals.spread(quantity.value, order)
            if found == INF and not exhausted:
                found = _BY_RULES[kind](quantity, order)
        quantity.known[kind, order] = _within(quantity, kind, order, found)
        self.bounds += 1


class _NotYet(Exception):  # noqa: N818 - it is no error
    """Names the bound that has to be computed before the wanted one: quantity, kind and order."""


class Quantity:
    """A value of a graph, and what is known of it.

    All its values lie in `hull`, the means of all elements in `mean`. `fixed` is its array, draws
    last, if it is fixed. `apart` says whether its elements are independent of one another within a
    draw. `independent` says that no two arguments share a draw, `same` that both are one
    quantity. `line` is the quantity as a line in one draw. `made_of` is it by other functions,
    `held` are the branches of a choice, bounded by what its condition says.
    """

    def __init__(self, value: Value, below: Sequence[Quantity], hull: Hull) -> None:
        self.value, self.below, self.shape, self.random = value, below, value.shape, value.random
        self.known: dict[tuple[str, float], float] = {}
        self.fixed = None if value.random or value.constant is None else number(value.constant)
        self.depth: int = 1 + max((one.depth for one in below), default=0)
        self.independent = disjoint([one.sources for one in value.inputs])
        self.same = len(below) == 2 and below[0] is below[1]
        self.options = {name: thawed(option) for name, option in value.options}
        self.hull = self.mean = hull
        self.apart = False
        self.line: AffineDraw | None = None
        self.made_of: Quantity | None = None
        self.held: Sequence[Quantity] = ()
        self.rules = rules_of(value.function) if value.kind == Kind.COMPUTED else Rules()
        self._parts: list[list[Factor]] | None = None
        if value.random:
            self.mean = self.hull.common(_mean_of(self))
            self.apart = is_apart(value, [one.apart for one in below])
            self.line = line_of(value, [one.line for one in below])
        shallow = self.depth <= MOST_DEPTH and self.line is None  # of a line the law knows it
        self.of_one_draw = shallow and draw_below(value) is not None

    def size(self, p: float) -> float:
        """A bound of (E|x|^p)^(1/|p|); for orders between 0 and 1 that of order 1 serves, too."""
        if not self.random:
            nearest = 0.0 if self.fixed is None else float(np.abs(self.fixed).min(initial=INF))
            if p < 0:
                return 1 / nearest if nearest else INF
            return largest_size(self.hull)
        if p < 0:
            return self._bound("size", p)
        bound = self._bound("size", max(p, 1.0))
        return self._bound("size", p) if bound == INF and self.rules.of_any_order else bound

    def spread(self, p: float) -> float:
        """A bound of the norm of the distance from the mean."""
        return self._bound("spread", max(p, 1.0)) if self.random else 0.0

    def log_moment(self, t: float) -> float:
        """A bound of log E exp(t · x)."""
        if t == 0:
            return 0.0
        return self._bound("log_moment", t) if self.random else highest(self.hull, t)

    def log_size(self, p: float) -> float:
        """A bound of the norm of log|x|."""
        if self.random:
            return self._bound("log_size", max(p, 1.0))
        if self.fixed is None:
            return INF
        return float(np.abs(np.log(np.abs(self.fixed))).max(initial=0.0))

    def _bound(self, kind: str, order: float) -> float:
        """A bound that has been computed.

        Raises:
            _NotYet: It has not been computed yet.
        """
        bound = self.known.get((kind, order))
        if bound is None:
            raise _NotYet(self, kind, order)
        return bound

    @property
    def parts(self) -> list[list[Factor]]:
        """Its size as a product of powers of other quantities, in groups that share no draw."""
        if self._parts is None:
            self._parts = grouped(_factors(self), lambda part: part[0].value.sources)
        return self._parts

    def axes(self) -> tuple[int, ...]:
        """The axes of the first argument that the function works along."""
        return normalise_axes(self.options.get("axis"), self.below[0].shape)

    def count(self) -> int:
        """The number of elements of the first argument along these axes."""
        shape = self.below[0].shape
        return math.prod(shape[axis] for axis in self.axes())


Factor = tuple[Quantity, float]
"""A quantity and its exponent."""


def _farthest(hull: Hull, centre: float) -> float:
    return max(abs(hull.low - centre), abs(hull.high - centre))


def _within(quantity: Quantity, kind: str, order: float, bound: float) -> float:
    """A bound, or a better one that follows from where the values lie."""
    hull = quantity.hull
    if kind == "log_moment":
        bound += OUTWARD * max(1.0, abs(bound)) if abs(bound) < INF else 0.0
        return min(bound, highest(hull, order))
    bound = _outward(bound)
    if kind == "size" and order > 0:
        return min(bound, largest_size(hull))
    nearest = nearest_zero(hull)
    return min(bound, _outward(1 / nearest)) if kind == "size" and nearest else bound


def _size(quantity: Quantity, p: float) -> float:
    if p < 0 and quantity.line is not None:
        return inverse_of_line(quantity.line, -p)
    if quantity.value.kind == Kind.DRAW:
        return _draw_size(quantity, p) if p >= 1 else INF
    if p < 1:
        return quantity.rules.size(quantity, p) if p < 0 or quantity.rules.of_any_order else INF
    bound = quantity.rules.size(quantity, p)
    if quantity.depth > MOST_DEPTH and quantity.value.operation in _HELD_BACK:
        bound = min(bound, _by_exponentials(quantity, p))
    if quantity.mean.bounded:
        bound = min(bound, _added(largest_size(quantity.mean), quantity.spread(p), p))
    return bound


def _draw_size(quantity: Quantity, p: float) -> float:
    law, below = quantity.value.law, quantity.below
    if law is None or fixed_arguments(quantity.value) is not None:
        return by_law(quantity.value, Law.norm, p)
    return law.random_norm(p, lambda i, q: below[i].size(q), lambda i: below[i].hull)


def _spread(quantity: Quantity, p: float) -> float:
    if quantity.value.kind == Kind.DRAW:
        bound = by_law(quantity.value, Law.spread, p)
        norm = _draw_size(quantity, p)
    else:
        bound = quantity.rules.spread(quantity, p)
        norm = quantity.rules.size(quantity, p)
    bound = min(bound, times(centring(p), norm))
    if quantity.mean.low == quantity.mean.high:
        bound = min(bound, norm + abs(quantity.mean.low))
    return bound


def _log_moment(quantity: Quantity, t: float) -> float:
    if quantity.value.kind == Kind.DRAW:
        return by_law(quantity.value, Law.log_mgf, t)
    line = _line_in(quantity)
    if line is not None:
        of, slope, shift = line
        return t * shift + of.log_moment(t * slope)
    return quantity.rules.log_moment(quantity, t)


def _log_size(quantity: Quantity, p: float) -> float:
    """By the factors of a product, by a rule, or by powers."""
    factors = [part for group in quantity.parts for part in group]
    if [(quantity, 1.0)] != factors:
        return math.fsum(times(abs(power), one.log_size(p)) for one, power in factors)
    by_rule = quantity.rules.log_size(quantity, p)
    if by_rule < INF:
        return by_rule
    unit = quantity.size(1.0)
    return abs(math.log(unit)) + _log_about(quantity, unit, p) if 0 < unit < INF else INF


def _log_about(x: Quantity, unit: float, p: float) -> float:
    """A bound of ||log|x / c| ||_p for the number c = unit.

    For each s > 0, s |log(x / c)| <= exp(s |log(x / c)|) / e, and this exponential is at most
    (x / c)^s + (c / x)^s.
    """
    bound = INF
    for s in (1.0, 1 / p, 0.5 / p, 0.05 / p):
        if s * p < 0.5 and bound < INF:
            break  # a smaller s gives a worse bound
        above = raised(x.size(s * p) / unit, s)
        below = raised(times(x.size(-s * p), unit), s)
        bound = min(bound, (above + below) / (math.e * s))
    return bound


_BY_RULES = {
    "size": _size,
    "spread": _spread,
    "log_moment": _log_moment,
    "log_size": _log_size,
}


def _mean_of(quantity: Quantity) -> Hull:
    """Where the means of all elements lie: where the function is linear, it takes means to means.

    Of several terms the rounding errors remain where they cancel.
    """
    value, below = quantity.value, quantity.below
    if value.kind == Kind.DRAW:
        return draw_mean(value)
    function, divides = value.function, value.operation == "/"
    product = quantity.independent and (function.does == "multiplies" or divides)
    if not (product or function.additive or function.moves):
        return EVERYWHERE
    means = [one.hull if divides and at else one.mean for at, one in enumerate(below)]
    hull = hull_of(value, means)
    sizes = [largest_size(one) for one in means if one != ZERO] if function.additive else []
    rounding = _ROUNDING * math.fsum(sizes) if len(sizes) > 1 and max(sizes) < INF else 0.0
    return Hull(hull.low - rounding, hull.high + rounding)


# ---- rules ---------------------------------------------------------------------------------------


Rule = Callable[[Quantity, float], float]


def _unknown(_use: Quantity, _order: float) -> float:
    return INF


@dataclass(frozen=True, slots=True)
class Rules:
    """The bounds of a function's result, by an order and by the bounds of its arguments.

    A size may be asked for with a negative order, and with one between 0 and 1 only if it is
    `of_any_order`.
    """

    size: Rule = _unknown
    spread: Rule = _unknown
    log_moment: Rule = _unknown
    log_size: Rule = _unknown
    of_any_order: bool = False


# ---- sums ----------------------------------------------------------------------------------------


NormBound = Callable[[float], float]
"""Takes an order, and returns a bound of the norm of this order."""


def _of_mean_0(parts: Sequence[tuple[float, NormBound]], p: float) -> float:
    """The norm of a sum of terms, each of the mean 0 given those before it, or independent.

    `parts` are the numbers of terms with alike norms, and the norms.
    """

    def sum_of(k: float, q: float) -> float:
        return sum(times(count, raised(norm(q), k)) for count, norm in parts)

    bound = sum_of(1.0, p)
    if p <= 2:
        by_order = raised(2 ** (2 - p) * sum_of(p, p), 1 / p)
        return min(bound, by_order, raised(sum_of(2.0, 2.0), 0.5))
    return min(bound, times(math.sqrt(p - 1), raised(sum_of(2.0, p), 0.5)))


def _added(first: float, second: float, p: float) -> float:
    """The norm of a sum of two parts, the second of which has the mean 0 given the first (Rio)."""
    by_squares = combined((first, math.sqrt(p - 1) * second), 2.0) if p >= 2 else INF
    return min(first + second, by_squares)


def _sum_spread(use: Quantity, p: float) -> float:
    a, b = use.below
    if use.same:
        return times(2.0 if use.value.operation == "+" else 0.0, a.spread(p))
    if use.independent:
        return _of_mean_0([(1, a.spread), (1, b.spread)], p)
    return a.spread(p) + b.spread(p)


def _sum_size(use: Quantity, p: float) -> float:
    a, b = use.below
    if p < 0:  # if neither part is negative, at most that of either part
        if _rest_of_share(use) and b.hull.low == 0:  # its hull does not keep it away from 0
            return b.size(p)
        positive = use.value.operation == "+" and min(a.hull.low, b.hull.low) >= 0
        bound = min(a.size(p), b.size(p)) if positive else INF
        apart = use.below if use.independent else ()
        return min([bound, *(inverse_of_sums(one.line, -p) for one in apart)])
    if use.same:
        return times(2.0 if use.value.operation == "+" else 0.0, a.size(p))
    bound = a.size(p) + b.size(p)
    if use.independent and ZERO in (a.mean, b.mean):
        one, other = (a, b) if b.mean == ZERO else (b, a)
        bound = min(bound, _added(one.size(p), other.size(p), p))
    return bound


def _sum_log_size(use: Quantity, p: float) -> float:
    """If neither part is negative, log(a + b) lies between log a and log b, or log 2 above."""
    a, b = use.below
    if _rest_of_share(use):
        return _share_log_size(b, p)
    if use.value.operation != "+" or min(a.hull.low, b.hull.low) < 0:
        return INF
    return math.log(2.0) + combined([a.log_size(p), b.log_size(p)], p)


def _sum_log_moment(use: Quantity, t: float) -> float:
    """The sum for independent parts; else by the hull of a part, or by Cauchy-Schwarz.

    The state of a loop is asked last, and not at all where the other part has no bound.
    """
    sign = 1.0 if use.value.operation == "+" else -1.0
    parts = zip(use.below, (t, sign * t), strict=True)
    (x, s), (y, r) = sorted(parts, key=lambda part: part[0].depth)
    if use.independent:
        return x.log_moment(s) + y.log_moment(r)
    ways = [(1.0, highest(x.hull, s)), (2.0, x.log_moment(2 * s) / 2)]
    bounds = [own + y.log_moment(order * r) / order for order, own in ways if own < INF]
    return min([*bounds, x.log_moment(s) + highest(y.hull, r)])


def _apart_and_others(use: Quantity) -> tuple[int, int]:
    """How many elements of the argument are independent along the axes, and the others' number."""
    return (use.count(), 1) if use.below[0].apart else (1, use.count())


def _share(use: Quantity) -> float:
    return 1 / max(use.count(), 1) if use.value.operation == "mean" else 1.0


def _total_size(use: Quantity, p: float) -> float:
    if p < 0:
        x = use.below[0]
        near = _near_0(x, use.count(), -p, 1.0) if x.hull.low >= 0 else INF
        near = min(near, inverse_of_sums(x.line, -p)) if x.apart and use.count() else near
        return times(1 / _share(use), near)
    return times(_share(use), use.count(), use.below[0].size(p))


def _total_spread(use: Quantity, p: float) -> float:
    apart, others = _apart_and_others(use)
    return times(_share(use), others, _of_mean_0([(apart, use.below[0].spread)], p))


def _total_log_moment(use: Quantity, t: float) -> float:
    """The sum for independent elements; for n others at most that of n times one (Hölder).

    Running sums of k elements have bounds that are convex in k: the first or the last is largest.
    """
    x, (apart, others) = use.below[0], _apart_and_others(use)
    if not use.count():
        return 0.0
    whole = apart * x.log_moment(t * _share(use) * others)
    return max(x.log_moment(t), whole) if use.value.operation == "cumsum" else whole


def _near_0(x: Quantity, count: int, r: float, power: float) -> float:
    """A bound of (E(Σ|x|^k)^-r)^(1/r) over so many elements, for the power k, 1 or 2.

    A sum is at least n times the geometric mean of its terms (AM-GM). So for independent y,
    E(Σ y)^-r <= n^-r Π E y^(-r/n), and the bound of a larger order is one of a smaller order.
    """
    bound = raised(x.size(-r * power), power) if count else INF
    if not x.apart or not count:
        return bound
    root = x if power == 2 else _root(x)
    if root is not None:
        bound = min(bound, raised(inverse_of_sums(root.line, 2 * r, count), 2.0))
    order = r * power / count
    each = min(x.size(-one) for one in {order, max(order, 0.25), max(order, 0.5)})
    return min(bound, raised(each, power) / count)


def _root(x: Quantity) -> Quantity | None:
    """What a quantity is the square of; None if it is no square."""
    if x.value.kind != Kind.COMPUTED or x.value.operation not in ("*", "**"):
        return None
    square = x.same if x.value.operation == "*" else x.below[1].value.known == 2
    return x.below[0] if square else None


def _differences(use: Quantity, p: float) -> float:
    return 2 * use.below[0].size(p) if p > 0 else INF


# ---- sums of products ----------------------------------------------------------------------------


def _products_size(use: Quantity, p: float) -> float:
    """The number of terms times the norm of a product; less for independent ones of mean 0."""
    a, b = use.below
    if p < 0:  # of a vector with itself
        return _near_0(a, use.count(), -p, 2.0) if use.same and len(a.shape) == 1 else INF
    if use.value.operation == "matmul":
        count, apart = a.shape[-1], [a.apart, b.apart]
    else:
        common = broadcast((a.shape, b.shape))
        count = math.prod(common[at] for at in normalise_axes(use.options.get("axis"), common))
        apart = [one.apart and one.shape == common for one in (a, b)]
    if not use.independent:
        return times(count, a.size(2 * p), b.size(2 * p))

    def each(q: float) -> float:
        return times(a.size(q), b.size(q))

    centred = any(alone and one.mean == ZERO for one, alone in zip((a, b), apart, strict=True))
    return _of_mean_0([(count, each)], p) if centred else times(count, each(p))


# ---- products of powers --------------------------------------------------------------------------


# The most factors into which a product is opened, and the most products that are opened.
MOST_PARTS, MOST_OPENED = 32, 256
_POWERS = {
    "*": (1.0, 1.0), "/": (1.0, -1.0), "outer": (1.0, 1.0), "kron": (1.0, 1.0),
    "negative": (1.0,), "abs": (1.0,), "sqrt": (1 / 2,), "cbrt": (1 / 3,),
}  # fmt: skip
"""The functions whose size is a product of these powers of the sizes of their arguments."""


def _powers(use: Quantity) -> tuple[float, ...]:
    """The exponents of the arguments; none if the quantity is no product of powers."""
    if not use.random or use.value.kind != Kind.COMPUTED:
        return ()
    if use.value.operation != "**":
        return _POWERS.get(use.value.operation, ())
    power = use.below[1].hull
    known = use.below[1].fixed is not None and power.low == power.high
    return (power.low,) if known and power.low and power.bounded else ()


def _factors(quantity: Quantity) -> list[Factor]:
    """The size of a quantity as a product of powers of others, if these are few.

    Equal factors are joined if they are single numbers, or if their exponents have one sign. They
    may be different elements of one array, as in an outer product: Hölder's inequality holds all
    the same.
    """
    parts: dict[tuple[int, bool], Factor] = {}
    stack, opened = [(quantity, 1.0)], 0
    while stack:
        one, power = stack.pop()
        powers = _powers(one)
        few = len(parts) + len(stack) + len(powers) <= MOST_PARTS
        if powers and few and opened < MOST_OPENED:
            opened += 1  # a square of a square of … has few factors, and many products to open
            stack += [(x, power * own) for x, own in zip(one.below, powers, strict=False)]
            continue
        key = (id(one), power > 0 or (one.shape == () and not one.value.binary))
        joined = parts.get(key, (one, 0.0))[1] + power
        # all powers of 1 and 0 are equal
        parts[key] = (one, 1.0 if one.value.binary and power > 0 else joined)
    return [part for part in parts.values() if part[1]]


def _product_size(use: Quantity, p: float) -> float:
    """The product of the norms of independent parts, otherwise by Hölder's inequality.

    An argument may have a bound though the parts that it is opened into have none.
    """
    side = 1.0 if p > 0 else -1.0
    groups = [[(one, side * power) for one, power in group] for group in use.parts]
    bound = times(1.0, *(_of_group(group, abs(p)) for group in groups))
    whole = [(x, side * power) for x, power in zip(use.below, _powers(use), strict=False)]
    if bound < INF or not any(_largest(part) < INF for part in whole):
        return bound
    return _of_group(whole, abs(p))


def _of_group(group: Sequence[Factor], p: float) -> float:
    """By Hölder's inequality with exponents in proportion to the powers, whose sum is K.

    Each factor contributes its norm of order p · K, or its largest size if it is bounded.
    """
    bound = _by_hoelder(group, p)
    bounded = [part for part in group if _largest(part) < INF]
    if len(group) > 1 and bounded:
        others = [part for part in group if _largest(part) == INF]
        bound = min(bound, times(*map(_largest, bounded), _by_hoelder(others, p)))
    return bound


def _by_hoelder(group: Sequence[Factor], p: float) -> float:
    degree = math.fsum(abs(power) for part, power in group if part.fixed is None)
    sizes = (
        raised(one.size(math.copysign(p * (degree or 1.0), power)), abs(power))
        for one, power in group
    )
    return times(1.0, *sizes)


def _largest(part: Factor) -> float:
    one, power = part
    if power > 0:
        return raised(largest_size(one.hull), power)
    nearest = nearest_zero(one.hull)
    return raised(1 / nearest, -power) if nearest else INF


def _product_log_moment(use: Quantity, t: float) -> float:
    """By the hull of either factor, or of the reciprocal of the divisor."""
    x, y = use.below
    if use.value.operation == "*":
        return min(_with_factor(x, y.hull, use, t), _with_factor(y, x.hull, use, t))
    hull = Hull(1 / y.hull.high, 1 / y.hull.low) if nearest_zero(y.hull) else EVERYWHERE
    return _with_factor(x, hull, use, t)


def _with_factor(x: Quantity, factor: Hull, use: Quantity, t: float) -> float:
    """A bound of log E exp(t · factor · x), for a factor in a hull.

    It is convex in the factor: for an independent factor it is largest at an end of the hull. For
    any other factor c, exp(t c x) is at most the sum of its values at both ends.
    """
    if not factor.bounded:
        return INF
    ends = [x.log_moment(t * end) if end else 0.0 for end in {factor.low, factor.high}]
    return max(ends) if use.independent else log_sum(ends)


def _power_size(use: Quantity, p: float) -> float:
    """As a product, or of a fixed base c, ||c^u||_p as the size of exp(u log c)."""
    if _powers(use):
        return _product_size(use, p)
    base, exponent = use.below
    if base.fixed is None or base.hull.low <= 0:
        return INF
    rates = {p * math.log(base.hull.low), p * math.log(base.hull.high)}
    return exponential(max(map(exponent.log_moment, rates)) / abs(p))


def _all_product_size(use: Quantity, p: float) -> float:
    """The power of one norm for independent elements, otherwise by Hölder's inequality."""
    (x, *_), (_, together), count = use.below, _apart_and_others(use), use.count()
    if not count:
        return 1.0
    one = x.size(p * together)
    bound = raised(one, float(count))
    return max(bound, one) if use.value.operation == "cumprod" else bound


# ---- exponentials and logarithms -----------------------------------------------------------------


# The rates t of exp(t x) that are tried; they suit quantities of sizes around 1.
RATES = tuple(3.0**k for k in range(-4, 2))
# the steps of a sum or a product that are looked through
_MOST_STEPS = 8


def _exponential_size(use: Quantity, p: float) -> float:
    return exponential(use.below[0].log_moment(p) / abs(p))


def _logarithm_size(use: Quantity, p: float) -> float:
    """For an order below 0, by |log x| >= 1 - x where x is at most 1."""
    x, factor = use.below[0], LOGARITHMS[use.value.operation]
    if p > 0:
        return factor * x.log_size(p)
    if x.line is None or x.hull.high > 1:
        return INF
    return inverse_of_line(replace(x.line, shift=x.line.shift - 1), -p) / factor


def _logarithm_log_moment(use: Quantity, t: float) -> float:
    """Exp(t log x) is a power of x."""
    rate = t * LOGARITHMS[use.value.operation]
    bound = use.below[0].size(rate)
    return abs(rate) * math.log(bound) if bound > 0 else -INF


_SHARES = {"sigmoid": (1.0, 0.0), "Phi": (math.sqrt(2.0 / math.pi), 0.5)}
"""Distribution functions F with F(-x) = 1 - F(x): the a and b of -log F(x) <= log 2 + a |x| + b x².

Of a normal law: phi(t) / Phi(-t) rises from a with a slope below 1 (Sampford 1953, "Some
inequalities on Mill's ratio and related functions", Ann. Math. Statist. 24).
"""


def _rest_of_share(use: Quantity) -> bool:
    """Whether it is 1 - F(x), for which the bounds of F(x) near 0 hold too."""
    a, b = use.below
    share = b.value.kind == Kind.COMPUTED and b.value.operation in _SHARES
    return share and use.value.operation == "-" and a.hull == Hull(1.0, 1.0)


def _share_size(use: Quantity, p: float) -> float:
    """By 1 / F(x) <= 2 exp(a |x|) where b is 0."""
    a, b = _SHARES[use.value.operation]
    if p > 0 or b:
        return _by_slope_size(use, p)
    x = use.below[0]
    return 2 * exponential(log_sum([x.log_moment(p * a), x.log_moment(-p * a)]) / -p)


def _share_log_size(use: Quantity, p: float) -> float:
    (a, b), x = _SHARES[use.value.operation], use.below[0]
    square = times(b, raised(x.size(2 * p), 2.0)) if b else 0.0
    return math.log(2.0) + a * x.size(p) + square


def _softmax_log_size(use: Quantity, p: float) -> float:
    """The logarithm is x_i - log Σ exp(x_j), between 0 and -log n - 2 max |x|."""
    count = use.count()
    return math.log(count) + 2 * _of_largest(count, use.below[0].size, p)


def _by_exponentials(x: Quantity, p: float) -> float:
    """A bound of the norm of a quantity that is never below 0, or never above 0.

    For x >= 0, x^p is at most (p / (e t))^p exp(t x), as x^p exp(-t x) is largest at x = p / t. For
    a walk that is kept above 0 and drifts towards it, E exp(t x) does not grow from step to step
    (Lundberg's inequality; Kingman 1964 for queues), where bounds by the norms of the steps do.
    """
    side = 1.0 if x.hull.low >= 0 else -1.0 if x.hull.high <= 0 else 0.0
    if not side:
        return INF
    return min(p / (math.e * t) * exponential(x.log_moment(side * t) / p) for t in RATES)


def _line_in(quantity: Quantity) -> tuple[Quantity, float, float] | None:
    """A quantity as slope · x + shift, where squares cancel: x, slope and shift; else None.

    In exp(z²/2 - (z - 4)²/2) the exponent is a line in z, whose exponential the law knows. The
    exponentials of the single squares have no useful bounds.
    """
    if quantity.value.operation not in ("+", "-") or quantity.independent:
        return None
    polynomial = _polynomial(quantity, _MOST_STEPS)
    shift = polynomial.pop((), 0.0)
    (letters, slope), *others = [*polynomial.items(), ((), 0.0)]
    known = len(letters) == 1 and len(others) == 1 and math.isfinite(slope + shift)
    return (letters[0], slope, shift) if known and letters[0] is not quantity else None


_Polynomial = dict[tuple[Quantity, ...], float]
"""Coefficients by the letters of a product, in order."""


def _polynomial(one: Quantity, steps: int) -> _Polynomial:
    """A quantity as a polynomial in others, element by element; those without draws are numbers."""
    if one.fixed is not None and one.hull.low == one.hull.high:
        return {(): one.hull.low}
    operation = one.value.operation if steps and one.value.kind == Kind.COMPUTED else ""
    arguments = one.below
    if operation == "**" and one.below[1].value.known == 2:
        operation, arguments = "*", (one.below[0], one.below[0])
    if operation not in ("+", "-", "*", "/", "negative"):
        return {(one,): 1.0}
    parts = [_polynomial(below, steps - 1) for below in arguments]
    if operation == "/":
        divisor = parts[1].get((), 0.0) if {*parts[1]} == {()} else 0.0
        return {key: own / divisor for key, own in parts[0].items()} if divisor else {(one,): 1.0}
    total: _Polynomial = {}
    if operation == "*":
        for key, own in parts[0].items():
            for other, factor in parts[1].items():
                both = tuple(sorted((*key, *other), key=id))
                total[both] = total.get(both, 0.0) + own * factor
    else:
        signs = {"+": (1.0, 1.0), "-": (1.0, -1.0), "negative": (-1.0,)}[operation]
        for sign, part in zip(signs, parts, strict=True):
            for key, own in part.items():
                total[key] = total.get(key, 0.0) + sign * own
    if len(total) > _MOST_STEPS or any(one.shape != x.shape for key in total for x in key):
        return {(one,): 1.0}
    return {key: own for key, own in total.items() if own}


# ---- functions of one number ---------------------------------------------------------------------


# The ends of the cells on which the slope is bounded, and how far from them.
_EDGES = np.array([0.0, *(2.0 ** (k / 8) for k in range(-48, 81)), INF])
_EDGES = np.unique([*-_EDGES, *_EDGES])
_OFF = 1e-3


Ends = tuple[float, float]
Options = tuple[tuple[str, Any], ...]


@lru_cache(maxsize=1024)
def steepness(
    name: str, options: Options, arguments: tuple[Ends | None, ...], low: float, high: float
) -> float:
    """A bound of the slope of a function of one number between two ends; infinite at a jump.

    By the enclosure of the kernel on closed cells, on each of which the function is analytic.

    Args:
        name: of the function.
        options: of its use, as in a graph.
        arguments: the ends of fixed arguments, and None in the place of the number.
        low: the lower end.
        high: the upper end.

    >>> steepness("tanh", (), (None,), -math.inf, math.inf) < 1.01
    True
    >>> steepness("floor", (), (None,), 0.0, 3.0)
    inf
    """
    edges = np.unique(np.clip(_EDGES, low, high))
    if len(edges) < 2:
        return 0.0
    start, end = edges[:-1], edges[1:]
    zero = np.zeros_like(start)
    inputs: list[Any] = [
        np.array([ends[0]])
        if ends is not None and ends[0] == ends[1]
        else Enclosure(start, end, Near(zero + _OFF, zero))
        if ends is None
        else Enclosure(zero + ends[0], zero + ends[1], Near(zero, zero))
        for ends in arguments
    ]
    try:
        with np.errstate(all="ignore"):
            found: Any = bound(operation(name), options)(*inputs)
    except (TypeError, AttributeError):
        return INF
    if not isinstance(found, Enclosure) or found.near is None:
        return INF
    slope = float(np.max(found.near.off)) / _OFF * (1 + 1e-9)
    return INF if math.isnan(slope) else slope


def _steepness(use: Quantity) -> tuple[Quantity, float] | None:
    """The one random argument of a function of numbers, and the bound of its slope there."""
    random = [one for one in use.below if one.random]
    if len(random) != 1:
        return None
    (x,) = random
    arguments = tuple(None if one is x else (one.hull.low, one.hull.high) for one in use.below)
    return x, steepness(use.value.operation, use.value.options, arguments, x.hull.low, x.hull.high)


def _growth(use: Quantity) -> tuple[Quantity, float, float] | None:
    """The x, a and b with |f(x)| <= a + b |x|; None if none are known.

    By |f(x)| <= |f(c)| + slope · |x - c|, for the number c of the hull that is nearest to 0.
    """
    found = _steepness(use)
    if found is None or found[1] == INF:
        return None
    x, slope = found
    c = x.hull.nearest(0.0)
    inputs = [np.array([c]) if one is x else one.fixed for one in use.below]
    kernel = use.value.function.kernel
    at_c = float(np.max(np.abs(kernel(*inputs, **use.options))))
    return x, at_c + times(slope, abs(c)), slope


def _by_slope_size(use: Quantity, p: float) -> float:
    found = _growth(use) if p >= 1 else None
    return INF if found is None else found[1] + times(found[2], found[0].size(p))


def _by_slope_log_moment(use: Quantity, t: float) -> float:
    """exp(t f) is at most exp(|t| a) · (exp(t b x) + exp(-t b x))."""
    found = _growth(use)
    if found is None:
        return INF
    x, a, b = found
    return abs(t) * a + log_sum([x.log_moment(t * b), x.log_moment(-t * b)])


def _by_slope_spread(use: Quantity, p: float) -> float:
    found = _steepness(use)
    return INF if found is None else times(slack(p), found[1], found[0].spread(p))


# What functions are made of that are steep somewhere: what is known of others is known of them.
_MADE_OF: dict[str, Callable[..., Any]] = {
    "expm1": lambda x: np.exp(x) - 1.0,
    "log1p": lambda x: np.log(1.0 + x),
    "xlogy": lambda x, y: x * np.log(y),
    "logit": lambda x: np.log(x) - np.log(1.0 - x),
    "sinh": lambda x: (np.exp(x) - np.exp(-x)) / 2.0,
    "cosh": lambda x: (np.exp(x) + np.exp(-x)) / 2.0,
    "arctanh": lambda x: (np.log(1.0 + x) - np.log(1.0 - x)) / 2.0,
}


def _made_of(kind: str, by_slope: Rule) -> Rule:
    def bound(use: Quantity, order: float) -> float:
        own: float = getattr(use.made_of, kind)(order)
        return min(own, by_slope(use, order))

    return bound


def _log_gamma_size(use: Quantity, p: float) -> float:
    """By log Γ(x) = log Γ(1 + x) - log x, and |log Γ(1 + x)| <= x + x² of x >= 0."""
    x = use.below[0]
    if p < 0 or x.hull.low < 0:
        return INF
    return x.log_size(p) + x.size(p) + raised(x.size(2 * p), 2.0)


# ---- picking -------------------------------------------------------------------------------------


def _of_largest(count: int, each: NormBound, p: float) -> float:
    """The norm of the largest of `count` sizes: E max^q <= count · E|x|^q, for any q >= p."""
    bound, order = INF, p
    while order <= HIGHEST_NORM:
        bound = min(bound, times(raised(float(count), 1 / order), each(order)))
        order *= 2
    return bound


def _picked(first: int) -> Rules:
    """Of one of the arguments from `first` on, element by element: E|f|^p is at most Σ E|u|^p."""

    def size(use: Quantity, p: float) -> float:
        bound = combined((one.size(p) for one in use.below[first:]), abs(p))
        held = use.held if bound == INF else ()
        return combined((one.size(p) for one in held), abs(p)) if held else bound

    def log_moment(use: Quantity, t: float) -> float:
        return log_sum(one.log_moment(t) for one in use.below[first:])

    return Rules(size, log_moment=log_moment, of_any_order=True)


def _moved(gaps: bool = False) -> Rules:
    """Of elements in another place; with gaps, there may be zeros between them."""

    def size(use: Quantity, p: float) -> float:
        return INF if gaps and p < 0 else max(one.size(p) for one in use.below)

    def spread(use: Quantity, p: float) -> float:
        return max(one.spread(p) for one in use.below)

    def log_moment(use: Quantity, t: float) -> float:
        largest = max(one.log_moment(t) for one in use.below)
        return max(largest, 0.0) if gaps else largest

    def log_size(use: Quantity, p: float) -> float:
        return INF if gaps else max(one.log_size(p) for one in use.below)

    return Rules(size, spread, log_moment, log_size, of_any_order=True)


def _taken(kind: str) -> Rule:
    """An independent index makes a mixture of the elements; for any other, all of them count."""

    def size(use: Quantity, p: float) -> float:
        x = use.below[0]
        count = 1.0 if use.independent else float(max(x.shape[0], 1))
        return times(raised(count, 1 / abs(p)), getattr(x, kind)(p))

    return size


def _taken_spread(use: Quantity, p: float) -> float:
    x, index = use.below
    still = index.fixed is not None or (use.independent and x.mean.low == x.mean.high)
    return x.spread(p) if still else INF


def _ranked_size(use: Quantity, p: float) -> float:
    """Of one of the elements, or of a number between two of them."""
    x, count = use.below[0], use.count()
    if p < 0:
        inside = use.value.operation in ("max", "min", "sort", "cummax")
        return times(raised(float(count), -1 / p), x.size(p)) if inside else INF
    bound = _of_largest(count, x.size, p)
    if x.mean.low == x.mean.high:
        bound = min(bound, largest_size(x.mean) + _of_largest(count, x.spread, p))
    return bound + (math.log(max(count, 1)) if use.value.operation == "logsumexp" else 0.0)


# ---- lengths, and matrices -----------------------------------------------------------------------


def _length_size(use: Quantity, p: float) -> float:
    """For order o, at most n^(1/o) times the norm of one element of order max(p, o)."""
    x, count, order = use.below[0], use.count(), float(use.options.get("ord", 2.0))
    if p < 0:
        return raised(_near_0(x, count, -p / 2, 2.0), 0.5) if order == 2 else INF
    if not 1 <= order < INF:
        return _of_largest(count, x.size, p) if order == INF else INF
    # it is at most the sum of the sizes, too
    root = times(raised(float(count), 1 / order), x.size(max(p, order)))
    return min(root, times(count, x.size(p)))


def _deviation_size(use: Quantity, p: float) -> float:
    """Of Σ (x - mean)² / (n - ddof) or its root; with the mean it is least.

    ||Σ (x - c)²||_q is at most n ||x - c||_2q²; the order 2q is at least 2. For p < 0, the length
    of x - mean is that of a vector of n - 1 dimensions, with a density of at most √n h^(n - 1): one
    factor of the density of x is integrated along (1, …, 1) / √n.
    """
    x, count, power = use.below[0], use.count(), 1.0 if use.value.operation == "var" else 0.5
    left, dims = count - float(use.options.get("ddof", 0.0)), count - 1
    if left <= 0:
        return INF
    if p < 0:
        inverse = inverse_of_sums(x.line, -2 * p * power, dims) if x.apart and dims else INF
        return raised(left * raised(count, 1 / dims) * inverse**2, power) if dims else INF
    order = max(2 * p * power, 2.0)
    about = x.mean.width / 2 + x.spread(order) if x.mean.bounded else INF
    square = times(count / left, raised(min(x.size(order), about), 2.0))
    return raised(square, power)


def _eigenvalue_size(use: Quantity, p: float) -> float:
    """None is above the root of the sum of all squares (Frobenius)."""
    x = use.below[0]
    return times(math.sqrt(x.shape[-1] * x.shape[-2]), x.size(max(p, 2.0))) if p > 0 else INF


# ---- the table -----------------------------------------------------------------------------------


_SUM = Rules(_sum_size, _sum_spread, _sum_log_moment, _sum_log_size)
_SHARE = Rules(_share_size, _by_slope_spread, log_size=_share_log_size)
_TOTAL = Rules(_total_size, _total_spread, _total_log_moment)
_RANKED = Rules(_ranked_size)
_WHOLE = Rules(
    lambda use, p: 1.0 + use.below[0].size(p) if p > 0 else INF,
    log_moment=lambda use, t: abs(t) + use.below[0].log_moment(t),
)
_SMALLER, _CHOSEN, _GAPS = _picked(0), _picked(1), _moved(gaps=True)
_MOVED, _EIGENVALUES, _DEVIATION = _moved(), Rules(_eigenvalue_size), Rules(_deviation_size)
_BY_SLOPE = Rules(_by_slope_size, _by_slope_spread, _by_slope_log_moment)
_MADE = Rules(
    _made_of("size", _by_slope_size),
    _made_of("spread", _by_slope_spread),
    _made_of("log_moment", _by_slope_log_moment),
    _made_of("log_size", _unknown),
    of_any_order=True,
)
_product = partial(Rules, _product_size, of_any_order=True)
_PRODUCTS = Rules(_products_size)
_ALL_PRODUCT = Rules(_all_product_size)
_LOGARITHM = Rules(_logarithm_size, _by_slope_spread, _logarithm_log_moment)

_RULES = {
    "+": _SUM, "-": _SUM, "sum": _TOTAL, "mean": _TOTAL,
    "cumsum": Rules(lambda use, p: _total_size(use, p) if p > 0 else INF, _total_spread,
                    _total_log_moment),
    "trace": Rules(lambda use, p: use.below[0].shape[-1] * use.below[0].size(p) if p > 0 else INF),
    "diff": Rules(_differences, lambda use, p: 2 * use.below[0].spread(p)),
    "*": _product(_by_slope_spread, _product_log_moment),
    "/": _product(_by_slope_spread, _product_log_moment),
    "negative": _product(lambda use, p: use.below[0].spread(p),
                         lambda use, t: use.below[0].log_moment(-t)),
    "abs": _product(_by_slope_spread, _by_slope_log_moment), "sqrt": _product(_by_slope_spread),
    "cbrt": _product(_by_slope_spread), "outer": _product(), "kron": _product(),
    "**": Rules(_power_size, _by_slope_spread, of_any_order=True),
    "prod": _ALL_PRODUCT, "cumprod": _ALL_PRODUCT, "matmul": _PRODUCTS, "dot": _PRODUCTS,
    "exp": Rules(_exponential_size, _by_slope_spread, of_any_order=True,
                 log_size=lambda use, p: use.below[0].size(p)),
    "sigmoid": _SHARE, "Phi": _SHARE, "softmax": Rules(log_size=_softmax_log_size),
    "log": _LOGARITHM, "log2": _LOGARITHM, "log10": _LOGARITHM,
    **dict.fromkeys(_MADE_OF, _MADE), "lgamma": Rules(_log_gamma_size),
    "arcsinh": Rules(lambda use, p: use.below[0].size(p) if p > 0 else INF),
    "floor": _WHOLE, "ceil": _WHOLE, "round": _WHOLE,
    "minimum": _SMALLER, "maximum": _SMALLER, "clip": _SMALLER,
    "relu": Rules(_by_slope_size, _by_slope_spread,  # it is one of x and 0
                  lambda use, t: log_sum([0.0, use.below[0].log_moment(t)])),
    "conditional": _CHOSEN, "where": _CHOSEN, "take": Rules(
        _taken("size"), _taken_spread, log_size=_taken("log_size")),
    "tril": _GAPS, "triu": _GAPS, "diag": _GAPS, "full": _MOVED,
    "logsumexp": _RANKED, "cummax": _RANKED,
    "norm": Rules(_length_size), "var": _DEVIATION, "std": _DEVIATION,
    "eigvalsh": _EIGENVALUES, "svdvals": _EIGENVALUES,
}  # fmt: skip


def rules_of(function: Function) -> Rules:
    """The rules of a function."""
    known = _RULES.get(function.name)
    if known is not None:
        return known
    if function.rearranges or function.does == "joins":
        return _MOVED
    if function.does == "ranks":
        return _RANKED
    return _BY_SLOPE if function.by_element and not function.truth else Rules()
