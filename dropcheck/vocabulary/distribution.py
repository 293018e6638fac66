"""The mathematics of a distribution: its support, its moments, its distribution function.

Arguments are fixed here. They are numbers, or arrays that broadcast, with one entry for each
element; lists and matrices are nested tuples, or arrays with their own axes last. Results broadcast
as the arguments do; the axis of a law of vectors is last. There is no axis of draws.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, lru_cache, wraps
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyval

from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.hulls import Hull
from dropcheck.vocabulary.shapes import Shape

# ---- domains -------------------------------------------------------------------------------------
#
# The values that the parameters of laws may take.


LARGEST_COUNT = 2.0**53  # beyond it float64 no longer tells whole numbers apart


@dataclass(frozen=True, slots=True)
class Domain:
    """The values that a parameter of a law may take."""

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = True
    high_open: bool = True
    whole: bool = False

    def holds(self, value: Any) -> Any:
        """Whether a number, or each number of an array, lies in the domain; NaN never does."""
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= self.high
        return above & below & (value == np.floor(value)) if self.whole else above & below

    def within(self, low: float, high: float) -> tuple[float, float]:
        """The least and the greatest value of the domain between two numbers.

        If there is none, the two numbers themselves.

        >>> COUNT.within(-1e-12, 2.9), COUNT.within(0.3, 0.4)
        ((0.0, 2.0), (0.3, 0.4))
        """
        least, most = max(low, self.low), min(high, self.high)
        if self.whole:
            least, most = float(np.ceil(least)), float(np.floor(most))
        return (least, most) if least <= most else (low, high)

    def describe(self, name: str) -> str:
        """The domain in words for messages: `0 <= p <= 1`, `df > 0`, `n >= 0, whole`."""
        low = "" if self.low == -math.inf else f"{self.low:g} {'<' if self.low_open else '<='} "
        high = "" if self.high == math.inf else f" {'<' if self.high_open else '<='} {self.high:g}"
        text = f"{low}{name}{high}" if low or high else f"{name} finite"
        if low and not high:
            text = f"{name} {'>' if self.low_open else '>='} {self.low:g}"
        return text + (", whole" if self.whole else "")


FINITE = Domain()
ANY_NUMBER = Domain(low_open=False, high_open=False)  # with infinity, for ends of a truncation
PROBABILITIES = Domain(0.0, 1.0, low_open=False, high_open=False)
POSITIVE_PROBABILITY = Domain(0.0, 1.0, high_open=False)
NOT_NEGATIVE = Domain(0.0, low_open=False)
POSITIVE = Domain(0.0)
ANGLE = Domain(-1e6, 1e6)  # in a larger angle, too few digits are left for the part of a turn
WHOLE = Domain(-LARGEST_COUNT, LARGEST_COUNT, low_open=False, high_open=False, whole=True)
COUNT = Domain(0.0, LARGEST_COUNT, low_open=False, high_open=False, whole=True)


@dataclass(frozen=True, slots=True)
class LawParameter:
    """One parameter of a law; `axes` is 0 for a number, 1 for a list, 2 for a matrix."""

    name: str
    domain: Domain
    axes: int = 0


LOW = LawParameter("low", FINITE)
HIGH = LawParameter("high", FINITE)


def domain_problem(parameter: LawParameter, value: float) -> str | None:
    """A sentence if a number is not in the domain of a parameter, else None.

    >>> domain_problem(LawParameter("p", PROBABILITIES), 1.2)
    'p must satisfy 0 <= p <= 1, and is 1.2'
    >>> domain_problem(LawParameter("n", COUNT), 2.5)
    'n must be a whole number, and is 2.5'
    """
    domain, name = parameter.domain, parameter.name
    if domain.holds(value):
        return None
    is_or_holds = "is" if parameter.axes == 0 else "holds"
    limits = replace(domain, whole=False)
    if limits.holds(value):
        rule = "be a whole number"
    elif math.isnan(value) and limits.holds(math.inf):
        rule = "be a number"
    elif limits == FINITE or math.isinf(value):
        # "n >= 0, and is inf" would puzzle a reader: infinity is the error
        rule = "be finite"
    else:
        # the limit of exact counting is named only to a value beyond it
        within = math.inf if limits.high == LARGEST_COUNT >= value else limits.high
        rule = f"satisfy {replace(limits, high=within).describe(name)}"
    return f"{name} must {rule}, and {is_or_holds} {plain(value)}"


def plain(value: float) -> str:
    """A number as people write it, with all its digits.

    >>> plain(3.0), plain(0.1), plain(1e300)
    ('3', '0.1', '1e+300')
    """
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


# ---- moment lists --------------------------------------------------------------------------------
#
# Lists of the moments of one law, and how one kind of moment gives another.
#
# A list has an entry for each order from 0 to 8: order 8 is needed for the variance of a fourth
# power. An entry is a number, or an array with one number for each element; all entries broadcast.


HIGHEST_ORDER = 8
MomentList = Sequence[Any]


def central_from_cumulants(cumulants: MomentList) -> MomentList:
    """E(x - E x)^k of each order k (Smith 1995, The American Statistician 49, equation 3).

    The first two entries of `cumulants` are not read.

    >>> central_from_cumulants([0.0, 5.0, 1.0, 0.0, 0.0])
    [1.0, 0.0, 1.0, 0.0, 3.0]
    """
    central: list[Any] = [1.0, 0.0]
    for order in range(2, len(cumulants)):
        terms = (
            math.comb(order - 1, part - 1) * cumulants[part] * central[order - part]
            for part in range(2, order + 1)
        )
        central.append(sum(terms, 0.0))
    return central


def cumulants_from_central(mean: Any, central: MomentList) -> MomentList:
    """The cumulants of a law with this mean, by the equation of `central_from_cumulants`.

    >>> cumulants_from_central(5.0, [1.0, 0.0, 1.0, 0.0, 3.0])
    [0.0, 5.0, 1.0, 0.0, 0.0]
    """
    cumulants: list[Any] = [0.0, mean]
    for order in range(2, len(central)):
        terms = (
            math.comb(order - 1, part - 1) * cumulants[part] * central[order - part]
            for part in range(2, order - 1)
        )
        cumulants.append(central[order] - sum(terms, 0.0))
    return cumulants


def raw_from_central(mean: Any, central: MomentList) -> MomentList:
    """E x^k of each order k, for a law with this mean.

    >>> raw_from_central(1.0, [1.0, 0.0, 1.0, 0.0, 3.0])
    [1.0, 1.0, 2.0, 4.0, 10.0]
    """
    powers: list[Any] = [1.0]
    while len(powers) < len(central):
        powers.append(powers[-1] * mean)
    return [
        sum((math.comb(k, j) * powers[k - j] * central[j] for j in range(k + 1)), 0.0)
        for k in range(len(central))
    ]


def pearson(square: Any, slope: Any, level: Any) -> MomentList:
    """The central moments of a law of Pearson's system.

    With y = x - E x, such a law has E(y g(y)) = E((level + slope y + square y²) g'(y)) for smooth
    g: its Stein kernel is of degree 2 (Afendras, Papadatos and Papathanasiou 2011, Bernoulli 17,
    theorem 2.1). With g(y) = y^k this is a recursion, whose terms are all of one sign.

    >>> pearson(0.0, 0.0, 1.0)  # a standard normal law
    [1.0, 0.0, 1.0, 0.0, 3.0, 0.0, 15.0, 0.0, 105.0]
    """
    central: list[Any] = [1.0, 0.0]
    for k in range(1, HIGHEST_ORDER):
        central.append(k * (slope * central[k] + level * central[k - 1]) / (1.0 - k * square))
    return central


@cache
def _partition_polynomials() -> tuple[tuple[float, ...], ...]:
    """For each order k, the coefficients of κ_k as a polynomial in the odds, constant first."""
    rows: list[list[float]] = [[0.0], [0.0, 1.0]]
    while len(rows) <= HIGHEST_ORDER:
        slopes = [power * factor for power, factor in enumerate(rows[-1])][1:]
        # odds (1 + odds) times the derivative
        rows.append([0.0] + [a + b for a, b in zip([*slopes, 0.0], [0.0, *slopes], strict=True)])
    return tuple(map(tuple, rows))


def of_trials(odds: Any) -> MomentList:
    """The cumulants of the number of failures before a success, whose mean is `odds`.

    κ_(k+1) = odds (1 + odds) dκ_k / d odds, with all terms of one sign (Johnson, Kemp and Kotz
    2005, section 5.3). For odds = -p they are minus the cumulants of a Bernoulli variable (section
    3.2).
    """
    return [
        sum((factor * odds**power for power, factor in enumerate(polynomial) if factor), 0.0)
        for polynomial in _partition_polynomials()
    ]


# A lognormal variable x of mean 1 and variance u has E x^j = (1 + u)^(j (j - 1) / 2). So in
# E(x - 1)^k the coefficient of u^m is the number of graphs with k labelled points and m edges in
# which every point has an edge; in the cumulant it is the number of those that are connected. No
# coefficient is negative, so that nothing cancels.
_EDGES = math.comb(HIGHEST_ORDER, 2)


@cache
def _graphs() -> tuple[Array, Array]:
    """The numbers of graphs without a lone point, and of connected graphs: [points, edges]."""
    every = [
        [math.comb(math.comb(k, 2), edges) for edges in range(_EDGES + 1)]
        for k in range(HIGHEST_ORDER + 1)
    ]
    none_alone = [
        [
            sum((-1) ** (k - j) * math.comb(k, j) * every[j][edges] for j in range(k + 1))
            for edges in range(_EDGES + 1)
        ]
        for k in range(HIGHEST_ORDER + 1)
    ]
    connected = [[0] * (_EDGES + 1)]
    for k in range(1, HIGHEST_ORDER + 1):
        row = list(every[k])
        for j in range(1, k):  # less those in which the first point is connected to j - 1 others
            for a, b in itertools.product(range(_EDGES + 1), repeat=2):
                if a + b <= _EDGES:
                    row[a + b] -= math.comb(k - 1, j - 1) * connected[j][a] * every[k - j][b]
        connected.append(row)
    return np.array(none_alone, dtype=float), np.array(connected, dtype=float)


def log_normal_central(variance: Any) -> MomentList:
    """The central moments of a lognormal variable of mean 1, by sums in which nothing cancels."""
    return [polyval(variance, row) for row in _graphs()[0]]


def log_normal_cumulants(variance: Any) -> MomentList:
    """The cumulants of a lognormal variable of mean 1; entries 0 and 1 must not be read."""
    return [polyval(variance, row) for row in _graphs()[1]]


@cache
def log_stirling(order: int) -> tuple[float, ...]:
    """Logarithms of the Stirling numbers of the second kind S(order, j), for j from 1 to order.

    >>> [round(math.exp(one)) for one in log_stirling(4)]
    [1, 7, 6, 1]
    """
    row = [1]
    for size in range(2, order + 1):
        row = [j * a + b for j, a, b in zip(range(1, size + 1), [*row, 0], [0, *row], strict=True)]
    return tuple(math.log(one) for one in row)


def log_raw_of_counts(order: int, log_factorial_moment: Callable[[int], Any]) -> Any:
    """Log E x^order of a whole number x >= 0, from log E x (x - 1) … (x - j + 1) for each j.

    x^k is the sum over j of S(k, j) x (x - 1) … (x - j + 1) (Johnson, Kemp and Kotz 2005, section
    1.1.3). No term is negative.
    """
    total: Any = -math.inf
    for j, log_factor in enumerate(log_stirling(order), start=1):
        total = np.logaddexp(total, log_factor + log_factorial_moment(j))
    return total


def norm_between(p: float, lower: tuple[float, Any], upper: tuple[float, Any]) -> Any:
    """A bound of (E|x|^p)^(1/p) from two pairs (q, log E|x|^q), with p between both orders q.

    log E|x|^p is convex in p (Lyapunov 1901), and so lies below the line between the two.
    """
    share = (p - lower[0]) / (upper[0] - lower[0])
    logarithm = (1.0 - share) * lower[1] + share * upper[1]
    # a moment of 0 means x = 0
    return np.where(np.equal(upper[1], -math.inf), 0.0, np.exp(logarithm / p))


def norm_by_whole_orders(p: float, log_moment: Callable[[int], Any]) -> Any:
    """(E|x|^p)^(1/p) from log E|x|^k for whole k; a bound if p is not whole."""
    below, above = math.floor(p), math.ceil(p)
    if below == above:
        return np.exp(log_moment(below) / p)
    return norm_between(p, (below, log_moment(below)), (above, log_moment(above)))


def count_norm(p: float, log_factorial_moment: Callable[[int], Any]) -> Any:
    """(E x^p)^(1/p) of a whole number x >= 0; a bound if p is not whole."""
    return norm_by_whole_orders(p, lambda k: log_raw_of_counts(k, log_factorial_moment))


# ---- standard ------------------------------------------------------------------------------------
#
# The moments and the distribution function of a law in standard units.


ArgumentNorm = Callable[[int, float], float]
"""Takes the number of an argument and an order q, and returns a bound of (E|argument|^q)^(1/q),
which is infinite if none is known."""

ArgumentHull = Callable[[int], Hull]
"""Takes the number of an argument, and returns an interval that holds all its values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    """What is known of the law of z, where a draw is loc + scale · z.

    The functions take the shapes of z: the arguments of its law besides loc and scale. These are
    numbers, or arrays that broadcast, and so are the results. `Law.line` computes loc, scale and
    the shapes from the arguments of a law; several laws may share one standard law.
    """

    mean: Callable[..., Any]
    # Lists of orders 0 to 8. At least one of the two is given: the one with a formula that does not
    # cancel. Entries of orders 0 and 1, and of moments that do not exist, are not read.
    central: Callable[..., MomentList] | None = None
    cumulants: Callable[..., MomentList] | None = None
    # (E|z|^p)^(1/p), or a bound of it: takes p >= 1 before the shapes, for p at which that moment
    # exists
    norm: Callable[..., Any] | None = None
    # log E exp(t z), or a bound of it, possibly infinite: takes t before the shapes
    log_mgf: Callable[..., Any] | None = None

    # P(z <= x), P(z > x), the least x with P(z <= x) >= u, and the least x with P(z > x) <= v: each
    # to its last digits, however small. They take x, u or v before the shapes.
    cdf: Callable[..., Any] | None = None
    survival: Callable[..., Any] | None = None
    quantile: Callable[..., Any] | None = None
    upper_quantile: Callable[..., Any] | None = None
    quantile_cost: float = 60.0  # rough nanoseconds of a quantile

    def central_moments(self, *shapes: Any) -> MomentList:
        """E(z - E z)^k of each order k from 0 to 8."""
        if self.central is not None:
            return [1.0, 0.0, *self.central(*shapes)[2:]]
        assert self.cumulants is not None
        return central_from_cumulants(self.cumulants(*shapes))

    def cumulant_list(self, *shapes: Any) -> MomentList:
        """The cumulants of each order from 0 to 8."""
        mean = self.mean(*shapes)
        if self.cumulants is not None:
            return [0.0, mean, *self.cumulants(*shapes)[2:]]
        return cumulants_from_central(mean, self.central_moments(*shapes))

    def norm_by_moments(self, p: float, move: Any, shapes: Any, one_signed: Any, below: Any) -> Any:
        """A bound of (E|move + z|^p)^(1/p) by moments of whole orders; infinite for p above 8.

        `one_signed` says where move + z has one sign, so that its odd moments are those of its
        size. Only moments of orders below `below` exist: results of formulas for others are wrong.
        """
        if p > HIGHEST_ORDER:
            return np.inf
        formulas = raw_from_central(move + self.mean(*shapes), self.central_moments(*shapes))
        raw = [np.where(order < below, one, np.inf) for order, one in enumerate(formulas)]
        by_all = np.where(one_signed, _between(p, raw, 1), np.inf)
        return np.fmin(by_all, _between(p, raw, 2))


def _between(p: float, raw: MomentList, step: int) -> Any:
    """A bound of (E|x|^p)^(1/p) by the moments beside p of the orders 0, step, 2 step, …."""
    below = int(p // step) * step
    if below == p:
        return np.abs(raw[below]) ** (1 / p)
    above = below + step
    lower, upper = (np.log(np.abs(np.asarray(raw[order], dtype=float))) for order in (below, above))
    return norm_between(p, (below, lower), (above, upper))


# ---- distribution --------------------------------------------------------------------------------


def remembered(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method with a cache for arguments that are numbers; for arrays it is computed each time."""
    cached = lru_cache(maxsize=4096)(method)

    @wraps(method)
    def cached_or_computed(*arguments: Any) -> Any:
        try:
            return cached(*arguments)
        except TypeError:  # arrays cannot be hashed
            return method(*arguments)

    return cached_or_computed


class Values(Enum):
    """What sort of numbers a law gives."""

    NUMBERS = "any number between two ends"
    WHOLE = "whole numbers"
    LISTED = "numbers of a list"
    TRUTHS = "1 or 0, kept as true or false"
    SIGNS = "1 or -1"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distribution:
    """What is known of a distribution before any draw."""

    parameters: tuple[LawParameter, ...]
    # of laws of vectors: takes the shapes of the arguments, and the values of fixed ones (else
    # None); returns the last axes of one value
    own_axes: Callable[[tuple[Shape, ...], tuple[Any, ...]], Shape] | None = None
    # of laws of vectors: whether the same elements of the arguments' lists in another order give
    # the same elements of the value in that order
    in_any_order: bool = False

    values: Values
    # The least interval that holds its values, ends included, where the law is no constant. One
    # pair if it is the same for all arguments; it then holds the constants too.
    ends: tuple[float, float] | Callable[..., tuple[Any, Any]]
    # where the law is a constant, and this constant; None: it is one where its two ends meet
    degenerate: Callable[..., tuple[Any, Any]] | None
    # E|x|^r is finite for r below this number, and infinite from it on, unless the law is a
    # constant; a single number if it is the same for all arguments
    moments: float | Callable[..., Any]

    # Its moments and its distribution function; None: not known, so that no quantity made of a draw
    # has a bound. A draw is loc + scale · z, with z of the standard law. `line` returns loc and
    # scale (made by + and - of arguments, and * with numbers only), then the shapes of z; None
    # stands for 0, 1 and all arguments. For laws of vectors, these are those of each element.
    standard: Standard | None = None
    line: Callable[..., tuple[Any, ...]] | None = None
    # The arguments for which x = loc + scale · z, where z has this law with these arguments; None
    # in place of an argument that is a shape.
    standard_arguments: tuple[float | None, ...] | None = None
    # a bound of (E|x|^p)^(1/p) for random arguments, from bounds of the arguments
    norm_of_random: Callable[[float, ArgumentNorm, ArgumentHull], float] | None = None
    # whether E|x|^p is monotone or convex in each argument: its maximum over arguments that vary
    # between bounds is then at a corner
    greatest_at_corners: bool = True
    # for laws of vectors: the covariances of the elements, on two axes
    covariances: Callable[..., Any] | None = None

    @property
    def discrete(self) -> bool:
        """Whether single values have a probability above 0."""
        return self.values is not Values.NUMBERS

    @remembered
    def constant(self, *values: Any) -> float | None:
        """The only value of the law with these arguments; None if it has several."""
        with np.errstate(all="ignore"):
            where, value = self._constants(self._arrays(values))
        return _number(value) if np.all(where) else None

    @remembered
    def support(self, *values: Any) -> tuple[float, float]:
        """The least interval, ends included, that holds all values of the law."""
        value = self.constant(*values)
        if value is not None:
            return (value, value)
        low, high = self._ends(self._arrays(values))
        return (_number(low), _number(high))

    def ends_of_all(self, arguments: Sequence[Any]) -> tuple[float, float]:
        """The least interval that holds all values with any of these arguments, given as arrays.

        The ends are NaN where one of the arguments has none.
        """
        with np.errstate(all="ignore"):
            low, high = self._ends([np.asarray(one, dtype=np.float64) for one in arguments])
        return float(np.min(low)), float(np.max(high))

    def moment_order(self, *values: Any) -> float:
        """The order below which all moments exist, and from which on none exists."""
        if self.constant(*values) is not None:
            return math.inf
        return float(self._order(values))

    def as_line(self, *arguments: Any) -> tuple[Any, Any, tuple[Any, ...]] | None:
        """Loc, scale and the arguments of z, where a draw is loc + scale · z; None if it is not.

        z is a draw of the same law. Its arguments are fixed numbers, and those arguments of this
        draw that are shapes. So this also holds for random arguments, with z independent of them,
        if the shapes are fixed. Arguments may be of any type that has + and - with its own kind and
        with numbers, and * with numbers.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> LAWS["normal"].as_line(5.0, 2.0), LAWS["uniform"].as_line(-1.0, 3.0)
        ((5.0, 2.0, (0.0, 1.0)), (-1.0, 4.0, (0.0, 1.0)))
        >>> LAWS["gamma"].as_line(0.5, 2.0), LAWS["poisson"].as_line(3.0)
        ((0.0, 2.0, (0.5, 1.0)), None)
        """
        if self.standard_arguments is None or self.line is None:
            return None
        pairs = zip(arguments, self.standard_arguments, strict=True)
        own = tuple(given if unit is None else unit for given, unit in pairs)
        loc, scale, *_ = self.line(*arguments)
        own_loc, own_scale, *_ = self.line(*own)
        if own_scale != 1.0:
            scale = scale * (1.0 / own_scale)
        if own_loc != 0.0:
            loc = loc - scale * own_loc
        return loc, scale, own

    @remembered
    def mean(self, *arguments: Any) -> Any:
        """E x, which may be infinite; NaN if it does not exist or is not known.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["gamma"].mean(3.0, 0.5)), float(LAWS["pareto"].mean(0.8, 1.0))
        (1.5, inf)
        """
        if self.standard is None:
            return math.nan
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            mean = loc + scale * self.standard.mean(*shapes)
            mean = np.where(scale == 0, loc, self._existing(1, mean, scale, arguments))
            return _plain(mean + self._zeros(loc, scale, shapes))

    @remembered
    def central(self, order: int, *arguments: Any) -> Any:
        """E (x - E x)^order for orders 0 to 8; it may be infinite or NaN, as the mean.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["normal"].central(4, 1.0, 2.0)), float(LAWS["bernoulli"].central(2, 0.5))
        (48.0, 0.25)
        """
        if self.standard is None:
            return math.nan
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            moment = scale**order * self.standard.central_moments(*shapes)[order]
            existing = self._existing(order, moment, scale, arguments)
            existing = np.where(scale == 0, float(order == 0), existing)
            return _plain(existing + self._zeros(loc, scale, shapes))

    @remembered
    def cumulants(self, *arguments: Any) -> tuple[Any, ...]:
        """The cumulants of the orders 0 to 8; one that does not exist is not finite.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> [float(one) for one in LAWS["poisson"].cumulants(0.5)[:4]]
        [0.0, 0.5, 0.5, 0.5]
        """
        if self.standard is None:
            return (math.nan,) * (HIGHEST_ORDER + 1)
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            zeros = self._zeros(loc, scale, shapes)
            cumulants = [_plain(zeros), self.mean(*arguments)]
            for order, one in enumerate(self.standard.cumulant_list(*shapes)[2:], start=2):
                existing = self._existing(order, scale**order * one, scale, arguments)
                cumulants.append(_plain(np.where(scale == 0, 0.0, existing) + zeros))
            return tuple(cumulants)

    @remembered
    def norm(self, p: float, *arguments: Any) -> Any:
        """(E|x|^p)^(1/p) for real p >= 1, or an upper bound of it; both may be infinite.

        Exact if the law has a formula and loc is 0, and for p = 2, 4, 6 and 8.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["rademacher"].norm(1.5)), float(LAWS["cauchy"].norm(1, 0.0, 1.0))
        (1.0, inf)
        """
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            low, high = self._end_arrays(arguments)
            bound = np.maximum(np.abs(low), np.abs(high))
            order = self._order(arguments)
            if self.standard is not None:
                if self.standard.norm is not None:  # Minkowski's inequality
                    closed = np.abs(loc) + scale * self.standard.norm(p, *shapes)
                    bound = np.fmin(bound, closed)
                one_signed = (np.asarray(low) >= 0) | (np.asarray(high) <= 0)
                unit = np.where(scale > 0, scale, 1.0)
                by_moments = self.standard.norm_by_moments(p, loc / unit, shapes, one_signed, order)
                bound = np.fmin(bound, unit * by_moments)
            bound = np.where(p < order, bound, np.inf)
            bound = np.where(scale == 0, np.abs(loc), bound)
            return _plain(np.where(np.isnan(bound), np.inf, bound))

    @remembered
    def log_mgf(self, t: Any, *arguments: Any) -> Any:
        """Log E exp(t x), or an upper bound of it; both may be infinite.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["normal"].log_mgf(2.0, 0.0, 1.0)), float(LAWS["exponential"].log_mgf(2, 1))
        (2.0, inf)
        """
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            low, high = self._end_arrays(arguments)
            bound = np.maximum(_times(t, low), _times(t, high))
            if self.standard is not None:
                # the exponential lies below its chord (Hoeffding 1963, equation 4.1)
                share = (self.mean(*arguments) - low) / (high - low)
                chord = np.logaddexp(np.log1p(-share) + t * low, np.log(share) + t * high)
                bound = np.fmin(bound, chord)
                if self.standard.log_mgf is not None:
                    own = t * loc + self.standard.log_mgf(t * scale, *shapes)
                    bound = np.fmin(bound, np.where(np.isnan(own), np.inf, own))
            bound = np.where(scale == 0, _times(t, loc), bound)
            return _plain(np.where(np.equal(t, 0), 0.0, np.where(np.isnan(bound), np.inf, bound)))

    def cdf(self, x: Any, *arguments: Any) -> Any:
        """P(X <= x); None if it is not known, and for laws of vectors.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["normal"].cdf(3.0, 3.0, 2.0)), float(LAWS["bernoulli"].cdf(0.5, 0.25))
        (0.5, 0.75)
        """
        return self._tail(x, arguments, "cdf")

    def survival(self, x: Any, *arguments: Any) -> Any:
        """P(X > x) with all its digits, however small it is; None as for `cdf`.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> round(-math.log(LAWS["exponential"].survival(600.0, 1.0)), 9)
        600.0
        """
        return self._tail(x, arguments, "survival")

    def quantile(self, u: Any, *arguments: Any) -> Any:
        """The least x with P(X <= x) >= u; for u = 0 the low end of the law. None as for `cdf`.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["uniform"].quantile(0.25, 0, 4)), float(LAWS["poisson"].quantile(0.5, 3))
        (1.0, 3.0)
        """
        return self._inverse(u, arguments, "quantile")

    def upper_quantile(self, v: Any, *arguments: Any) -> Any:
        """The least x with P(X > x) <= v, for v down to 1e-300; None as for `cdf`.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> round(float(LAWS["normal"].upper_quantile(1e-300, 0.0, 1.0)), 6)
        37.047096
        """
        return self._inverse(v, arguments, "upper_quantile")

    @property
    def has_quantiles(self) -> bool:
        """Whether the quantiles are known for all arguments; False for laws of lists or vectors."""
        standard, axes = self.standard, any(parameter.axes for parameter in self.parameters)
        return (
            standard is not None
            and None not in (standard.quantile, standard.upper_quantile)
            and self.own_axes is None
            and not axes
        )

    def covariance(self, *arguments: Any) -> Any:
        """The covariances of the elements of a vector, on two axes; None if they are not known."""
        if self.covariances is None:
            return None
        with np.errstate(all="ignore"):
            return self.covariances(*self._flat(arguments))

    # ---- within ----------------------------------------------------------------------------------

    def _units(self, arguments: Sequence[Any]) -> tuple[Any, Any, Sequence[Any]]:
        """Loc, scale and the shapes of the standard law."""
        flat = self._flat(arguments)
        if self.line is None:
            return 0.0, 1.0, flat
        loc, scale, *shapes = self.line(*flat)
        return loc, scale, shapes

    def _zeros(self, loc: Any, scale: Any, shapes: Sequence[Any]) -> Any:
        """A 0 for each element: added to one number for all elements, it gives an array."""
        if self.line is None:  # the shapes are the arguments, which may be lists
            lists = zip(shapes, self.parameters, strict=True)
            shapes = [np.empty(np.shape(one)[: np.ndim(one) - own.axes]) for one, own in lists]
        return np.zeros(np.broadcast_shapes(np.shape(loc), np.shape(scale), *map(np.shape, shapes)))

    def _existing(self, order: int, moment: Any, scale: Any, arguments: Sequence[Any]) -> Any:
        """The moments where they exist; infinity or NaN elsewhere."""
        moment = np.where(np.isfinite(scale), moment, np.nan)
        if not callable(self.moments) and self.moments == math.inf:
            return moment
        exists = order < self._order(arguments)
        low, _ = self._end_arrays(arguments)
        missing = np.inf if order % 2 == 0 else np.where(np.isfinite(low), np.inf, np.nan)
        return np.where(exists, moment, missing)

    def _order(self, arguments: Sequence[Any]) -> Any:
        return self.moments(*self._flat(arguments)) if callable(self.moments) else self.moments

    def _tail(self, x: Any, arguments: Sequence[Any], name: str) -> Any:
        function = None if self.standard is None else getattr(self.standard, name)
        if self.own_axes is not None or function is None:
            return None
        below, above = (0.0, 1.0) if name == "cdf" else (1.0, 0.0)
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            low, high = self._end_arrays(arguments)
            x = np.asarray(x, dtype=np.float64)
            values = function((x - loc) / np.where(scale > 0, scale, 1.0), *shapes)
            values = np.where(scale == 0, np.where(x >= loc, above, below), values)
            values = np.where(x < low, below, np.where(x >= high, above, values))
            return _plain(np.where(np.isnan(x), np.nan, values))

    def _inverse(self, level: Any, arguments: Sequence[Any], name: str) -> Any:
        function = None if self.standard is None else getattr(self.standard, name)
        if self.own_axes is not None or function is None:
            return None
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            low, high = self._end_arrays(arguments)
            first, last = (low, high) if name == "quantile" else (high, low)
            level = np.asarray(level, dtype=np.float64)
            values = np.minimum(np.maximum(loc + scale * function(level, *shapes), low), high)
            values = np.where(scale == 0, loc, values)
            values = np.where(level == 0, first, np.where(level == 1, last, values))
            return _plain(np.where((level >= 0) & (level <= 1), values, np.nan))

    def _ends(self, arguments: Sequence[Any]) -> tuple[Any, Any]:
        return self.ends(*arguments) if callable(self.ends) else self.ends

    def _constants(self, arguments: Sequence[Any]) -> tuple[Any, Any]:
        if self.degenerate is not None:
            return self.degenerate(*arguments)
        low, high = self._ends(arguments)
        return np.equal(low, high), low

    def _end_arrays(self, arguments: Sequence[Any]) -> tuple[Any, Any]:
        """The two ends, without an axis of draws."""
        arrays = self._arrays(arguments)
        low, high = self._ends(arrays)
        if self.own_axes is not None:  # the same for all elements of a vector
            return np.asarray(low)[..., np.newaxis], np.asarray(high)[..., np.newaxis]
        still, value = self._constants(arrays)
        low, high = np.where(still, value, low), np.where(still, value, high)
        if any(parameter.axes for parameter in self.parameters):
            return low[..., 0], high[..., 0]
        return low, high

    def _flat(self, values: Sequence[Any]) -> list[Any]:
        """Fixed arguments as float64 numbers and arrays, whose arithmetic knows infinity."""
        return [np.asarray(value, dtype=np.float64)[()] for value in values]

    def _arrays(self, values: Sequence[Any]) -> list[Any]:
        """The same with an axis of draws behind lists and matrices."""
        return [
            value[..., np.newaxis] if parameter.axes else value
            for parameter, value in zip(self.parameters, self._flat(values), strict=True)
        ]


def _number(value: Any) -> float:
    return float(np.asarray(value).item())


def _plain(value: Any) -> Any:
    """An array without axes as a number."""
    return np.asarray(value)[()]


def _times(t: Any, end: Any) -> Any:
    """The product t · end of a number and an end that may be infinite; 0 where t is 0."""
    return np.where(np.equal(t, 0), 0.0, np.multiply(t, end))


# ---- random arguments ----------------------------------------------------------------------------
#
# Bounds of the norms of a draw whose arguments are random.


def norm_of_random_draw(
    law: Distribution, p: float, norm: ArgumentNorm, hull: ArgumentHull
) -> float:
    """The least of the bounds that `Law.random_norm` describes."""
    bounds = [math.inf if callable(law.ends) else max(map(abs, law.ends))]
    if law.norm_of_random is not None:
        bounds.append(float(law.norm_of_random(p, norm, hull)))
    if not any(parameter.axes for parameter in law.parameters):
        bounds.append(_of_line(law, p, norm, hull))
        if law.greatest_at_corners:
            bounds.append(_at_corners(law, p, [hull(i) for i in range(len(law.parameters))]))
    return min(bound for bound in bounds if not math.isnan(bound))


def _at_corners(law: Distribution, p: float, hulls: Sequence[Hull]) -> float:
    if not all(one.bounded for one in hulls):
        return math.inf
    # hulls are a little wider than the domains in which the formulas hold
    pairs = zip(law.parameters, hulls, strict=True)
    ends = [parameter.domain.within(one.low, one.high) for parameter, one in pairs]
    return max(float(law.norm(p, *corner)) for corner in itertools.product(*map(set, ends)))


def _of_line(law: Distribution, p: float, norm: ArgumentNorm, hull: ArgumentHull) -> float:
    """Of x = loc + scale · z, by Minkowski's inequality, as z is independent of loc and scale."""
    if law.standard_arguments is None:
        return math.inf
    units = law.standard_arguments
    of_z = _at_corners(
        law, p, [hull(i) if unit is None else Hull(unit, unit) for i, unit in enumerate(units)]
    )
    total = 0.0
    for i, unit in enumerate(units):
        # loc and scale are linear in the arguments: their factors are the values at unit vectors
        line = law.as_line(*(float(i == place) for place in range(len(units))))
        if unit is not None and line is not None:
            loc, scale, _ = line
            total += (abs(loc) + abs(scale) * of_z) * norm(i, p)
    return total


def counted_at_most(
    p: float, largest: float, norm_of_rate: Callable[[float], float], trials: float = math.inf
) -> float:
    """A bound of (E x^p)^(1/p) for a Poisson or binomial count x with a random rate.

    Given the arguments, E x (x - 1) … (x - j + 1) is rate^j for a Poisson law, at most that for a
    binomial law with the rate n p, and 0 for j above n.

    Args:
        p: At least 1.
        largest: A bound of x.
        norm_of_rate: Takes a whole j from 1 on, and returns (E rate^j)^(1/j) or a bound of it.
        trials: The largest number of trials.
    """

    def log_factorial_moment(j: int) -> float:
        rate = norm_of_rate(j)
        return -math.inf if rate == 0 or j > trials else j * math.log(rate)

    return min(largest, float(count_norm(p, log_factorial_moment)))
