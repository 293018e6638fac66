"""One entry for each law of the language, with everything that the program knows about it.

In `Law.sample` and `Law.log_density`, the last axis of an array is the axis of draws; its length is
1 where nothing is random. A parameter that is a list has one axis of its own just before the axis
of draws, a matrix has two. For moments, probabilities and quantiles, arguments are fixed and have
no axis of draws: they are numbers, or arrays that broadcast, with one entry for each element; lists
and matrices are nested tuples, or arrays with their own axes last. Results broadcast as the
arguments do; the axis of a law of vectors is last.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cache, lru_cache, wraps
from typing import Any, TypeAlias, TypeVar

import numpy as np

from dropcheck.vocabulary import moments
from dropcheck.vocabulary.defined_where import GENERIC, NEVER, SURE, Known
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.hulls import EVERYWHERE, Hull, proper, union
from dropcheck.vocabulary.shapes import Shape

Arguments = Sequence[Array]
Generator: TypeAlias = "np.random.Generator"  # numpy imports it when it is first used
Size = tuple[int, ...]
"""The shape of an array of draws: the shape of one draw, then the number of draws."""

Condition = tuple[str, Callable[..., Any]] | Callable[..., str | None]
"""What must hold between the parameters of a law: a sentence, and a function that takes all
arguments in order, as arrays that broadcast, and returns where it holds. Or a function that takes
such arrays, each in its domain, and returns a sentence on what is wrong with them, or None."""

MOST_POINTS = 4096  # the most values of a discrete law that are listed one by one
EXACT_INTEGERS = 2.0**53  # above it float64 does not have every whole number
NEARLY_POWER = 1e-3  # the share by which a power of the distance from an end may be off
FEW = 64  # up to so many sets of arguments, norms are worked out for each
MOST_SUMMED = 2**18  # the most values that are summed over
# The probability that may be left out in each tail: no run is that long.
LEFT_OUT = np.float64(5e-31)
# The largest distance of a draw from 0, in units of its scale: of the 53 binary digits of float64,
# 12 are then left for the scale.
FARTHEST_OUT = 2.0**40


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


# ---- standard ------------------------------------------------------------------------------------
#
# The law of z, where a draw is loc + scale · z.


ArgumentNorm = Callable[[int, float], float]
"""Takes the number of an argument and an order q, and returns a bound of (E|argument|^q)^(1/q),
which is infinite if none is known."""

ArgumentHull = Callable[[int], Hull]
"""Takes the number of an argument, and returns an interval that holds all its values."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Standard:
    """The probabilities and the quantiles of z, where a draw is loc + scale · z.

    The functions take the shapes of z: the arguments of its law besides loc and scale. These are
    numbers, or arrays that broadcast, and so are the results. `Law.line` computes loc, scale and
    the shapes from the arguments of a law; several laws may share one standard law.
    """

    # P(z <= x), P(z > x), the least x with P(z <= x) >= u, and the least x with P(z > x) <= v: each
    # to its last digits, however small. They take x, u or v before the shapes.
    cdf: Callable[..., Any]
    survival: Callable[..., Any]
    quantile: Callable[..., Any]
    upper_quantile: Callable[..., Any]
    quantile_cost: float = 60.0  # rough nanoseconds of a quantile
    # the level u at which the quantile is not smooth, if there is one
    middle: Callable[..., Any] | None = None
    # the cumulants of orders 0 to 8 of a law that may have too many values to sum over
    cumulants: Callable[..., Sequence[Any]] | None = None
    # points and weights for its expectations on a last axis, in place of those by quantiles
    points: Callable[..., tuple[Array, Array]] | None = None


@dataclass(frozen=True, slots=True)
class _Row:
    """What is known of a law with one set of arguments."""

    constant: float  # NaN where it is none
    loc: float
    scale: float
    order: float
    low: float
    high: float
    rate: float
    few: bool = True  # whether there are few such rows
    rule: moments.Rule | None = None
    known: moments.Moments | None = None


@lru_cache(maxsize=4096)
def _known(
    standard: Standard, discrete: bool, order: float, shapes: tuple[Any, ...]
) -> tuple[moments.Rule | None, moments.Moments | None]:
    """The rule and the moments of a standard law; None if it has too many values."""
    arrays = [np.asarray(one, dtype=np.float64)[()] for one in shapes]
    if standard.points is not None:
        values, weights = standard.points(*arrays)
        rule = moments.by_values(values, weights, exact=discrete)
    elif discrete:
        least = np.float64(moments.LEAST)
        ends = standard.quantile(least, *arrays), standard.upper_quantile(least, *arrays)
        closed = moments.by_cumulants(standard.cumulants(*arrays)) if standard.cumulants else None
        if not ends[1] - ends[0] < MOST_SUMMED:
            return None, closed
        edges = np.arange(ends[0] - 1.0, ends[1] + 1.0)
        below, above = standard.cdf(edges, *arrays), standard.survival(edges, *arrays)
        chances, outside = differences(below, above)
        if not chances.max(initial=0.0) > 0:  # it does not take these arguments
            return None, None
        rule = moments.by_values(edges[1:][chances > 0], chances[chances > 0], outside)
        if closed is not None:  # cumulants that follow from moments have fewer digits
            found = moments.moments_by(rule, order)[1]
            cumulants, off = closed.cumulants, closed.cumulants_off
            return rule, replace(found, cumulants=cumulants, cumulants_off=off)
    else:
        middle = 0.5 if standard.middle is None else float(standard.middle(*arrays))
        rule = moments.by_quantiles(
            lambda u: standard.quantile(u, *arrays),
            lambda v: standard.upper_quantile(v, *arrays),
            middle,
            order,
        )
    return moments.moments_by(rule, order)


def differences(below: Array, above: Array) -> tuple[Array, tuple[float, float]]:
    """The probabilities between neighbouring edges, and those outside, below and above.

    They are differences of the distribution function, taken from the nearer tail. These keep their
    digits: in a tail, a value is about as likely as all values beyond it together.
    """
    chances = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
    return chances, (float(below[0]), float(above[-1]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Law:
    """One distribution of the language: what is known of it, and how it is drawn.

    Its functions take all arguments in the order of the parameters: as plain numbers, or as arrays
    that broadcast; lists and matrices always as arrays.
    """

    name: str
    summary: str  # a line for the page on the language
    parameters: tuple[LawParameter, ...]
    # Of laws of vectors, whose elements may be put in another order with those of the arguments.
    # Takes the shapes of the arguments, and the values of fixed ones (else None); returns the last
    # axes of one value.
    own_axes: Callable[[tuple[Shape, ...], tuple[Any, ...]], Shape] | None = None
    # of laws of vectors: the law of each element, and its arguments
    elements: Callable[..., tuple[Any, ...]] | None = None

    values: Values
    # The least interval that holds its values, ends included, where the law is no constant. One
    # pair if it is the same for all arguments; it then holds the constants too.
    ends: tuple[float, float] | Callable[..., tuple[Any, Any]]
    # where the law is a constant, and this constant, besides where its two ends meet, and where its
    # scale is 0
    degenerate: Callable[..., tuple[Any, Any]] | None = None
    # E|x|^r is finite for r below this number, and infinite from it on, unless the law is a
    # constant; a single number if it is the same for all arguments
    moments: float | Callable[..., Any]

    # Its probabilities and quantiles; None: not known, so that no quantity made of a draw has a
    # bound. A draw is loc + scale · z, with z of the standard law. `line` returns loc and scale
    # (made by + and - of arguments, and * with numbers only), then the shapes of z; None stands for
    # 0, 1 and all arguments.
    standard: Standard | None = None
    line: Callable[..., tuple[Any, ...]] | None = None
    # a bound of (E|x|^p)^(1/p) for random arguments, from bounds of the arguments
    norm_of_random: Callable[[float, ArgumentNorm, ArgumentHull], float] | None = None
    conditions: tuple[Condition, ...] = ()

    # takes a generator and a `Size` before the arguments, which are in their domains; returns an
    # array of numbers or truths of any type, which depends only on the generator's state
    sampler: Callable[..., Any]
    # the logarithm of the density, or of the probability of a discrete law: takes x before the
    # arguments; x lies between the ends (for laws of vectors: anywhere)
    log_density_inside: Callable[..., Any]
    # whether the law is symmetric about its mean (or its median, if it has no mean) for all
    # arguments
    symmetric: bool = False
    nanoseconds: float | Callable[[Shape], float]  # for one number, or for a draw of a shape

    aliases: tuple[str, ...] = ()  # its names in papers and in other libraries
    note: str = ""  # what may surprise those who know it from another library
    noted: str = ""  # the parameter that the note is about, if it is read alike where it is 1

    @property
    def discrete(self) -> bool:
        """Whether single values have a probability above 0."""
        return self.values is not Values.NUMBERS

    @remembered
    def constant(self, *values: Any) -> float | None:
        """The only value of the law with these arguments; None if it has several."""
        with np.errstate(all="ignore"):
            where, value = self.constants(self._arrays(values))
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

    @property
    def units(self) -> tuple[float | None, ...] | None:
        """The arguments for which loc is 0, and the scale that of the standard law.

        None stands for an argument that is a shape; None for all if a draw with random arguments
        is no line.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> LAWS["normal"].units, LAWS["gamma"].units, LAWS["poisson"].units
        ((0.0, 1.0), (None, 1.0), None)
        """
        return _units_of(self)

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
        units = self.units
        if units is None or self.line is None:
            return None
        pairs = zip(arguments, units, strict=True)
        own = tuple(given if unit is None else unit for given, unit in pairs)
        loc, scale, *_ = self.line(*arguments)
        own_loc, own_scale, *_ = self.line(*own)
        if own_scale != 1.0:
            scale = scale * (1.0 / own_scale)
        if own_loc != 0.0:
            loc = loc - scale * own_loc
        return loc, scale, own

    @property
    def signature(self) -> str:
        """The law as a call: `normal(mean, sd)`, `categorical([p…])`."""
        names = (f"[{one.name}…]" if one.axes == 1 else one.name for one in self.parameters)
        return f"{self.name}({', '.join(names)})"

    @property
    def restricted(self) -> bool:
        """Whether its arguments must fit one another, besides being in their domains."""
        return bool(self.conditions)

    def draw_cost(self, shape: Shape) -> float:
        """Rough nanoseconds to draw an array of this shape."""
        if callable(self.nanoseconds):
            return self.nanoseconds(shape)
        return math.prod(shape) * self.nanoseconds

    def sample(
        self,
        generator: Generator,
        arguments: Arguments,
        shape: Shape,
        draws: int,
        draws_first: bool = False,
    ) -> Array:
        """Independent draws of the law; they depend only on the state of the generator.

        The arguments are in order, in their domains (see `argument_problem`), as float64 arrays
        that broadcast against the result without the law's own axes. The result has the shape
        `shape + (draws,)`, the law's own axes included: bool where it gives truths, else float64.
        With `draws_first`, elements that are drawn one by one lie in memory with the axis of draws
        first; the numbers drawn are then different ones.
        """
        one_by_one = self.own_axes is None and not any(one.axes for one in self.parameters)
        if draws_first and shape and one_by_one:
            turned = [_draws_first(one, 1 + len(shape)) for one in arguments]
            drawn = self.sample(generator, turned, (draws, *shape[:-1]), shape[-1])
            return drawn.transpose(*range(1, drawn.ndim), 0)
        size, dtype = (*shape, draws), bool if self.values is Values.TRUTHS else np.float64
        if 0 in size:
            return np.zeros(size, dtype=dtype)
        with np.errstate(all="ignore"):
            return np.asarray(self.sampler(generator, size, *arguments), dtype=dtype)

    def log_density(self, arguments: Arguments, x: Array) -> Array:
        """Logarithm of the density, or of the probability where the law is discrete.

        `x` broadcasts against the arguments; for a law of vectors, the elements of one value lie on
        the axis before the axis of draws. The result has the shape that x and the arguments
        broadcast to, without the law's own axis. It is -inf outside the support and between the
        points of a discrete law, and NaN where x is NaN.

        Raises:
            ValueError: A continuous law is a constant, which has no density.
        """
        x = np.asarray(x, dtype=np.float64)
        with np.errstate(all="ignore"):
            if self.own_axes is not None:
                values = self.log_density_inside(x, *arguments)
                return np.where(np.isnan(x).any(axis=-2), np.nan, values)
            if not self.discrete and np.any(self.constants(arguments)[0]):
                raise ValueError(f"{self.name!r} with no spread is a constant, and has no density")
            low, high = self._ends(arguments)
            # an infinite x has no density, even where the support has no end
            inside = (x >= low) & (x <= high) & np.isfinite(x)
            if self.discrete and self.values is not Values.LISTED:
                inside &= x == np.floor(x)
            # outside the support its low end stands for x: the result there is not used
            anywhere = np.where(np.isfinite(low), low, 0.0)
            values = self.log_density_inside(np.where(inside, x, anywhere), *arguments)
            if not self.discrete:
                # far out, where the density is below the smallest float, its terms may be inf - inf
                known = np.equal(sum(np.isnan(one) for one in arguments), 0)
                values = np.where(np.isnan(values) & known, -np.inf, values)
            return np.where(np.isnan(x), np.nan, np.where(inside, values, -np.inf))

    def density(self, arguments: Arguments, x: Array) -> Array:
        """The density, or the probability where the law is discrete: exp of `log_density`."""
        with np.errstate(all="ignore"):
            return np.asarray(np.exp(self.log_density(arguments, x)))

    def points(self, *values: Any, at_most: int = MOST_POINTS) -> tuple[Array, Array, float] | None:
        """The values of a discrete law, their probabilities, and the probability of all others.

        The arguments are fixed; the values are in rising order, and each has a probability above 0.
        If there are more than `at_most`, or infinitely many, those far out in the tails are left
        out: their probability, at most 1e-30, is the third number. None if more than `at_most`
        values are left, if the law is not discrete, and for laws of vectors.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> LAWS["binomial"].points(2.0, 0.5)
        (array([0., 1., 2.]), array([0.25, 0.5 , 0.25]), 0.0)
        """
        if not self.discrete or self.own_axes is not None or self.standard is None:
            return None
        constant = self.constant(*values)
        if constant is not None:
            return np.array([constant]), np.ones(1), 0.0
        if self.values is Values.LISTED:
            points = np.unique(np.asarray(values[0], dtype=np.float64))
            return None if points.size > at_most else self._listed(points, -math.inf, values)
        low, high = self.support(*values)
        if not high - low < at_most:
            low = float(self.quantile(LEFT_OUT, *values))
            high = float(self.upper_quantile(LEFT_OUT, *values))
        if not (high - low < at_most and max(-low, high) < EXACT_INTEGERS):
            return None
        return self._listed(np.arange(low, high + 1.0), low - 1.0, values)

    def _listed(
        self, points: Array, before: float, values: Sequence[Any]
    ) -> tuple[Array, Array, float]:
        edges = np.concatenate([[before], points])
        chances, rest = differences(self.cdf(edges, *values), self.survival(edges, *values))
        return points[chances > 0], chances[chances > 0], sum(rest)

    def random_norm(self, p: float, norm: ArgumentNorm, hull: ArgumentHull) -> float:
        """A bound of (E|x|^p)^(1/p) for random arguments; infinite if none is known.

        E|x|^p is the mean, over the arguments, of its value for fixed arguments. Where these are
        bounded, it is at most the greatest of those values. And where x = loc + scale · z, with z
        independent of loc and scale, its norm is at most the norm of loc plus the product of the
        norms of scale and z.

        Args:
            p: At least 1.
            norm: Takes the number of an argument and an order q >= 1, and returns a bound of
                (E|argument|^q)^(1/q); for a list, the greatest bound of its elements.
            hull: Takes the number of an argument, and returns an interval that holds its values.
        """
        with np.errstate(all="ignore"):
            return norm_of_random_draw(self, p, norm, hull)

    @remembered
    def moment(self, order: int, *arguments: Any) -> tuple[Any, Any]:
        """The mean for order 1, else E (x - E x)^order, of orders up to 8; and its error.

        It may be infinite; it is NaN if it does not exist or is not known. The second number is a
        bound of the error of the first.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["gamma"].moment(1, 3.0, 0.5)[0]), float(LAWS["normal"].moment(4, 1, 2)[0])
        (1.5, 48.0)
        """

        def of(row: _Row) -> tuple[float, float]:
            if not math.isnan(row.constant):
                return (row.constant if order == 1 else float(order == 0)), 0.0
            if not order < row.order:
                both_sides = order % 2 and not math.isfinite(row.low)
                return (math.nan if both_sides else math.inf), 0.0
            if row.known is None:
                return math.nan, math.inf
            if order == 1:
                return row.loc + row.scale * row.known.mean, row.scale * row.known.mean_off
            unit = np.float64(row.scale) ** order
            return unit * row.known.central[order], unit * row.known.central_off[order]

        value, error = self._each(arguments, of)
        return value, error

    @remembered
    def cumulant(self, order: int, *arguments: Any) -> tuple[Any, Any]:
        """The cumulant of an order from 2 to 8, and a bound of its error; as `moment`.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["poisson"].cumulant(4, 0.5)[0]), float(LAWS["normal"].cumulant(4, 0, 1)[0])
        (0.5, 0.0)
        """

        def of(row: _Row) -> tuple[float, float]:
            if not math.isnan(row.constant):
                return 0.0, 0.0
            if row.known is None or not order < row.order:
                return math.nan, math.inf
            unit = np.float64(row.scale) ** order
            return unit * row.known.cumulants[order], unit * row.known.cumulants_off[order]

        value, error = self._each(arguments, of)
        return value, error

    def mean(self, *arguments: Any) -> Any:
        """E x, which may be infinite; NaN if it does not exist or is not known.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["gamma"].mean(3.0, 0.5)), float(LAWS["pareto"].mean(0.8, 1.0))
        (1.5, inf)
        """
        return self.moment(1, *arguments)[0]

    def central(self, order: int, *arguments: Any) -> Any:
        """E (x - E x)^order for an order from 2 to 8; it may be infinite or NaN, as the mean.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["normal"].central(4, 1.0, 2.0)), float(LAWS["bernoulli"].central(2, 0.5))
        (48.0, 0.25)
        """
        return self.moment(order, *arguments)[0]

    @remembered
    def norm(self, p: float, *arguments: Any) -> Any:
        """(E|x|^p)^(1/p) for real p >= 1: a bound that is hardly above it.

        It is infinite where the moment does not exist, and where none is known.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> f"{LAWS['rademacher'].norm(1.5):.9f}", float(LAWS["cauchy"].norm(1, 0.0, 1.0))
        ('1.000000000', inf)
        """

        def of(row: _Row) -> list[float]:
            if not math.isnan(row.constant):
                return [abs(row.constant)]
            if not p < row.order:
                return [math.inf]
            bound = max(abs(row.low), abs(row.high))
            if row.rule is not None and row.few:
                own = row.scale * moments.norm_by(row.rule, p, row.loc / row.scale)
            elif row.rule is not None:  # Minkowski's inequality, quick for many
                own = abs(row.loc) + row.scale * moments.norm_by(row.rule, p, 0.0)
            elif row.known is not None:  # Minkowski's inequality, about the mean
                own = abs(row.loc + row.scale * row.known.mean) + row.scale * row.known.spread(p)
            else:
                own = math.inf
            return [min(bound, own)]

        return self._each(arguments, of)[0]

    @remembered
    def spread(self, p: float, *arguments: Any) -> Any:
        """The same of x - E x."""

        def of(row: _Row) -> list[float]:
            if not math.isnan(row.constant):
                return [0.0]
            if not p < row.order:
                return [math.inf]
            if row.known is None:
                return [row.high - row.low]
            own = row.known.spread(p)
            if row.rule is not None:
                own = moments.norm_by(row.rule, p, -row.known.mean) + row.known.mean_off
            return [min(row.high - row.low, row.scale * own)]

        return self._each(arguments, of)[0]

    @remembered
    def log_mgf(self, t: float, *arguments: Any) -> Any:
        """Log E exp(t x): a bound that is hardly above it; infinite if none is known.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> f"{LAWS['normal'].log_mgf(2.0, 0.0, 1.0):.9f}", float(LAWS["exponential"].log_mgf(2, 1))
        ('2.000000000', inf)
        """

        def of(row: _Row) -> list[float]:
            if t == 0 or not math.isnan(row.constant):
                return [t * row.constant if t else 0.0]
            bound = t * (row.high if t > 0 else row.low)
            if row.rule is None:
                return [bound]
            own = moments.log_mgf_by(row.rule, t * row.scale, row.rate * row.scale)
            return [min(bound, t * row.loc + own)]

        return self._each(arguments, of, side=t)[0]

    # ---- the shape of its density ----------------------------------------------------------------

    def rarest(self, *arguments: Any) -> Any:
        """The least probability of a value of a list, or of all counts but the commonest one.

        A sample may miss it. NaN where there is none, and where arguments are NaN.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["bernoulli"].rarest(0.25)), float(LAWS["normal"].rarest(0.0, 1.0))
        (0.25, nan)
        """
        listed = any(parameter.axes for parameter in self.parameters) and self.elements is None

        def of(row: _Row) -> list[float]:
            if row.rule is None or not self.discrete:
                return [math.nan]
            chances = np.sort(row.rule.weights[row.rule.weights > 0])
            return [float(chances[0] if listed else chances[:-1].sum())]

        return self._each(arguments, of)[0]

    @remembered
    def near_ends(self, *arguments: Any) -> tuple[float, float] | None:
        """The powers of ε with which P(|x - end| < ε) falls at both ends; None if they are unknown.

        Infinite where there is no end, and where it falls faster than powers. They are rounded
        down, as negative moments exist below them. The arguments are numbers.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> [round(power, 2) for power in LAWS["beta"].near_ends(0.5, 3.0)]
        [0.5, 3.0]
        """
        if self.discrete or self.own_axes is not None or self.constant(*arguments) is not None:
            return None
        at_low, at_high = (self.near_end(side, arguments) for side in (1.0, -1.0))
        return None if at_low is None or at_high is None else (at_low, at_high)

    def near_end(self, side: float, arguments: Sequence[Any]) -> float | None:
        """The power at the low end if the side is 1, at the high one if it is -1."""
        low, high = self.support(*arguments)
        end = low if side > 0 else high
        if math.isinf(end):
            return math.inf
        with np.errstate(all="ignore"):
            width = abs(float(self.quantile(0.5, *arguments)) - end)
            steps = width * (
                1e-100 ** np.arange(1.0, 4.0) if end == 0 else 2.0 ** -np.arange(16, 31, 7)
            )
            x = end + side * steps
            logs = self.log_density_inside(x, *self._flat(arguments)) + 0.0 * x
            powers = 1.0 + np.diff(logs) / np.diff(np.log(np.abs(x - end)))
        if powers[1] > 1.2 * powers[0] > 12.0 or np.isneginf(logs[-1]):
            return math.inf
        if not abs(powers[1] - powers[0]) < NEARLY_POWER * powers[1]:
            return None
        return float(powers[1] * (1.0 - NEARLY_POWER))

    @remembered
    def mode(self, *arguments: Any) -> float:
        """Where the density of a continuous law is greatest, if it rises to there and falls after.

        NaN for another one. It is looked for between many quantiles. The arguments are numbers.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> round(LAWS["gamma"].mode(3.0, 2.0), 6), LAWS["beta"].mode(0.5, 0.5)
        (4.0, nan)
        """
        if self.discrete or not self.has_quantiles or self.constant(*arguments) is not None:
            return math.nan
        flat = self._flat(arguments)
        with np.errstate(all="ignore"):
            levels = np.concatenate([10.0 ** -np.arange(300, 2, -2.0), np.linspace(0.01, 0.5, 100)])
            ends: tuple[Any, ...] = (
                self.quantile(levels, *arguments),
                self.upper_quantile(levels[::-1], *arguments),
            )
            low, high = self.support(*arguments)
            if math.isfinite(high - low):  # it may rise again where nearly nothing is drawn
                ends = (*ends, np.linspace(low, high, 1000))
            x = np.unique(np.concatenate([*ends, [low, high]]))
            x = x[np.isfinite(x)]
            logs = np.asarray(self.log_density_inside(x, *flat)) + np.zeros(len(x))
            top = int(np.nanargmax(logs))
            rises = np.diff(logs) * np.where(np.arange(len(x) - 1) < top, 1.0, -1.0)
            if (rises < -1e-9 * np.maximum(1.0, np.abs(logs[1:]))).any():
                return math.nan
            low, high = x[max(top - 1, 0)], x[min(top + 1, len(x) - 1)]
            for _ in range(16):  # a finer grid about the greatest
                x = np.linspace(low, high, 17)
                logs = np.asarray(self.log_density_inside(x, *flat)) + np.zeros(len(x))
                top = int(np.nanargmax(logs))
                low, high = x[max(top - 1, 0)], x[min(top + 1, 16)]
        return float(x[top])

    # ---- probabilities ---------------------------------------------------------------------------

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

    # ---- within ----------------------------------------------------------------------------------

    def _units(self, arguments: Sequence[Any]) -> tuple[Any, Any, Sequence[Any]]:
        """Loc, scale and the shapes of the standard law."""
        flat = self._flat(arguments)
        if self.line is None:
            return 0.0, 1.0, flat
        loc, scale, *shapes = self.line(*flat)
        return loc, scale, shapes

    def _each(
        self, arguments: Sequence[Any], of: Callable[[_Row], Sequence[float]], side: float = 0.0
    ) -> list[Any]:
        """The results of a function for each set of arguments; `side` is the sign for `rate`."""
        with np.errstate(all="ignore"):
            if self.elements is not None:
                law, *each = self.elements(*self._flat(arguments))
                found_of_each: list[Any] = law._each(each, of, side)
                return found_of_each
            loc, scale, shapes = self._units(arguments)
            still, value = self.constants(self._arrays(arguments))
            if any(parameter.axes for parameter in self.parameters):
                still, value = np.asarray(still)[..., 0], np.asarray(value)[..., 0]
            numbers = [np.where(still, value, np.nan), loc, scale, self._order(arguments)]
            numbers += [
                *self._end_arrays(arguments),
                self.rate(math.copysign(1.0, side), arguments) if side else 0.0,
            ]
            lists = [0] * len(shapes)
            if self.line is None:
                lists = [parameter.axes for parameter in self.parameters]
            columns = [np.asarray(one, dtype=np.float64) for one in (*numbers, *shapes)]
            axes = [0] * len(numbers) + lists
            leads = [one.shape[: one.ndim - many] for one, many in zip(columns, axes, strict=True)]
            lead = np.broadcast_shapes(*leads)
            flat = [
                np.broadcast_to(one, lead + one.shape[len(first) :])
                .reshape(-1, *one.shape[len(first) :])
                .tolist()
                for one, first in zip(columns, leads, strict=True)
            ]
            few = len(flat[0]) <= FEW
            found: dict[str, Sequence[float]] = {}
            keys = []
            given = zip(*flat[len(numbers) :], strict=True) if shapes else itertools.repeat(())
            for one, own in zip(zip(*flat[: len(numbers)], strict=True), given, strict=False):
                keys.append(repr((one, own)))
                if keys[-1] not in found:
                    row = replace(_Row(*one), few=few)
                    varies = math.isnan(row.constant) and row.scale < math.inf
                    if self.standard is not None and varies and not np.isnan(own).any():
                        plain_own = tuple(tuple(x) if isinstance(x, list) else x for x in own)
                        rule, known = _known(self.standard, self.discrete, row.order, plain_own)
                        row = replace(row, rule=rule, known=known)
                    found[keys[-1]] = of(row)
            table = np.array([found[key] for key in keys], dtype=np.float64)
            return [column.reshape(lead)[()] for column in table.T]

    def rate(self, side: float, arguments: Sequence[Any]) -> Any:
        """The t from which on E exp(side · t · x) is infinite, by how fast the log density falls.

        0 if it is not known.
        """
        with np.errstate(all="ignore"):
            end = self._end_arrays(arguments)[side > 0]
            if np.isfinite(end).all():
                return math.inf
            flat = self._flat(arguments)
            near, far = (-self.log_density_inside(side * x, *flat) / x for x in (1e100, 1e200))
            falls = np.where((far > near * (1.0 + 4e-15)) | np.isinf(near), math.inf, 0.0)
            falls = np.where(np.abs(far - near) <= 4e-15 * near, far, falls)
            falls = np.where(np.less(self._order(arguments), math.inf), 0.0, falls)
            return np.where(np.isfinite(end), math.inf, falls)

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

    def constants(self, arguments: Sequence[Any]) -> tuple[Any, Any]:
        """Where the law is a constant, and this constant; arguments have an axis of draws."""
        low, high = self._ends(arguments)
        still, value = np.equal(low, high), low
        if self.line is not None:
            loc, scale, *_ = self.line(*arguments)
            still, value = still | np.equal(scale, 0), np.where(np.equal(scale, 0), loc, value)
        if self.degenerate is not None:
            more, constant = self.degenerate(*arguments)
            still, value = still | more, np.where(more, constant, value)
        return still, value

    def _end_arrays(self, arguments: Sequence[Any]) -> tuple[Any, Any]:
        """The two ends, without an axis of draws."""
        arrays = self._arrays(arguments)
        low, high = self._ends(arrays)
        still, value = self.constants(arrays)
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


@cache
def _units_of(law: Law) -> tuple[float | None, ...] | None:
    if law.line is None or any(parameter.axes for parameter in law.parameters):
        return None
    at = [2.0 + place for place in range(len(law.parameters))]
    loc, _, *shapes = law.line(*at)
    units: list[float | None] = []
    for place, value in enumerate(at):
        moved = law.line(*at[:place], value + 0.5, *at[place + 1 :])
        units.append(None if moved[2:] != tuple(shapes) else float(moved[0] == loc))
    return tuple(units) if any(unit is not None for unit in units) else None


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


def norm_of_random_draw(law: Law, p: float, norm: ArgumentNorm, hull: ArgumentHull) -> float:
    """The least of the bounds that `Law.random_norm` describes."""
    bounds = [math.inf if callable(law.ends) else max(map(abs, law.ends))]
    if law.norm_of_random is not None:
        bounds.append(float(law.norm_of_random(p, norm, hull)))
    if not any(parameter.axes for parameter in law.parameters):
        bounds.append(_of_line(law, p, norm, hull))
        # E|x|^p is monotone or convex in each argument, but for some laws between two ends
        between = len(law.parameters) > 2 if callable(law.ends) else bounds[0] < math.inf
        if law.discrete or not between:
            bounds.append(_at_corners(law, p, [hull(i) for i in range(len(law.parameters))]))
    return min(bound for bound in bounds if not math.isnan(bound))


def _at_corners(law: Law, p: float, hulls: Sequence[Hull]) -> float:
    if not all(one.bounded for one in hulls):
        return math.inf
    # hulls are a little wider than the domains in which the formulas hold
    pairs = zip(law.parameters, hulls, strict=True)
    ends = [parameter.domain.within(one.low, one.high) for parameter, one in pairs]
    return max(float(law.norm(p, *corner)) for corner in itertools.product(*map(set, ends)))


def _of_line(law: Law, p: float, norm: ArgumentNorm, hull: ArgumentHull) -> float:
    """Of x = loc + scale · z, by Minkowski's inequality, as z is independent of loc and scale."""
    if law.units is None:
        return math.inf
    units = law.units
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

    def log_moment(order: int) -> float:
        """Log E x^order, as x^k is the sum over j of S(k, j) x (x - 1) … (x - j + 1)."""
        total = -math.inf
        for j, ways in enumerate(stirling(order), start=1):
            rate = norm_of_rate(j)
            if rate > 0 and j <= trials:
                total = float(np.logaddexp(total, math.log(ways) + j * math.log(rate)))
        return total

    below, above = math.floor(p), math.ceil(p)
    share = p - below  # log E|x|^p is convex in p (Lyapunov 1901)
    logarithm = (
        log_moment(above)
        if share == 0 or log_moment(above) == -math.inf
        else ((1.0 - share) * log_moment(below) + share * log_moment(above))
    )
    return min(largest, math.exp(logarithm / p) if logarithm < 700.0 * p else math.inf)


def stirling(order: int) -> list[int]:
    """The Stirling numbers of the second kind S(order, j), for j from 1 on (JKK 2005, 1.1.3)."""
    row = [1]
    for size in range(2, order + 1):
        row = [j * a + b for j, a, b in zip(range(1, size + 1), [*row, 0], [0, *row], strict=True)]
    return row


def _draws_first(argument: Array, axes: int) -> Array:
    """An array [… , draws] as [draws, …] with this number of axes; a single number unchanged."""
    if argument.size == 1:
        return argument
    lacking = (1,) * (axes - argument.ndim)
    return np.moveaxis(argument.reshape(*lacking, *argument.shape), -1, 0)


DerivedLaw = TypeVar("DerivedLaw", bound=Law)


def derived(kind: type[DerivedLaw], law: Law, **changes: Any) -> DerivedLaw:
    """A copy of a law, of another class and with some fields changed."""
    return kind(**{**{one.name: getattr(law, one.name) for one in fields(Law)}, **changes})


def argument_problem(law: Law, arguments: Arguments) -> str | None:
    """A sentence on the first argument that the law does not take; None if it takes all.

    The arguments are in order, with draws last, as for `Law.sample`.

    >>> from dropcheck.vocabulary.laws import LAWS
    >>> argument_problem(LAWS["bernoulli"], [np.array([0.5, 1.5])])
    'p must satisfy 0 <= p <= 1, and is 1.5'
    """
    with np.errstate(all="ignore"):
        for parameter, argument in zip(law.parameters, arguments, strict=True):
            outside = ~parameter.domain.holds(argument)
            if outside.any():
                return domain_problem(parameter, float(argument[outside][0]))
            if parameter.axes and (argument.ndim <= parameter.axes or not argument.size):
                kind = "list" if parameter.axes == 1 else "matrix"
                return f"{parameter.name} must be a {kind} of numbers that is not empty"
        problems = (_condition_problem(law, condition, arguments) for condition in law.conditions)
        return next(filter(None, problems), None)


def digits_problem(law: Law, arguments: Arguments) -> str | None:
    """A sentence if draws of a continuous law lie too far from 0 to differ in float64; else None.

    The arguments are fixed, in order, as for `Law.sample`, and in their domains.

    >>> from dropcheck.vocabulary.laws import LAWS
    >>> digits_problem(LAWS["normal"], [np.array([1e16]), np.array([1.0])])
    'draws around 1e+16 are multiples of 2 in float64, which is too coarse for a scale of 1'
    """
    if law.discrete or law.line is None:
        return None
    with np.errstate(all="ignore"):
        loc, scale = np.broadcast_arrays(*law.line(*arguments)[:2])
        far = (np.abs(loc) > FARTHEST_OUT * scale) & (scale > 0)
    if not far.any():
        return None
    around, width = float(loc[far][0]), float(scale[far][0])
    return (
        f"draws around {around:.6g} are multiples of {math.ulp(around):.6g} in float64, which is "
        f"too coarse for a scale of {width:.6g}"
    )


def _condition_problem(law: Law, condition: Condition, arguments: Arguments) -> str | None:
    if callable(condition):
        return condition(*arguments)
    text, where = condition
    holds = np.asarray(where(*arguments))
    if holds.all():
        return None
    # a condition need not use every argument, and unused ones may have more elements
    shape = np.broadcast_shapes(holds.shape, *(argument.shape for argument in arguments))
    first = np.unravel_index(int(np.argmin(np.broadcast_to(holds, shape))), shape)
    given = ", ".join(
        f"{parameter.name} = {plain(np.broadcast_to(argument, shape)[first])}"
        for parameter, argument in zip(law.parameters, arguments, strict=True)
    )
    return f"{text}, and it does not hold for {given}"


# ---- law known -----------------------------------------------------------------------------------
#
# What is known of a draw with random arguments, from what is known of the arguments.


# The most corners of the box of possible arguments that are tried.
MOST_CORNERS = 64
# Stands for an infinite end.
FAR = 1e150


def ends_of(law: Law, arguments: Sequence[Known]) -> Hull:
    """An interval that holds all values of a draw.

    The ends of a law are monotone in each argument, so that the corners of the arguments suffice.
    """
    if not callable(law.ends):
        return Hull(*law.ends)
    with np.errstate(all="ignore"):
        ends = [law.ends(*corner) for corner in _corners(law, arguments)]
    hulls = [proper(Hull(float(low), float(high))) for low, high in ends]
    return union(hulls) if hulls else EVERYWHERE


def _corners(law: Law, arguments: Sequence[Known]) -> Iterator[tuple[float, ...]]:
    """The corners of the arguments; none if some are lists, or if there are too many corners."""
    choices = [sorted({one.hull.low, one.hull.high}) for one in arguments]
    few = math.prod(map(len, choices)) <= MOST_CORNERS
    if few and not any(parameter.axes for parameter in law.parameters):
        yield from itertools.product(*choices)


def arguments_fit(law: Law, arguments: Sequence[Known], apart: bool) -> int:
    """How sure it is that a law takes its arguments.

    Args:
        law: the law.
        arguments: what is known of each argument.
        apart: whether no two of them depend on the same draw. Only then are the conditions between
            arguments tried at their ends: the ends of x and of x + 1 say nothing of
            `uniform(x, x + 1)`.
    """
    answers = [SURE]
    for parameter, known in zip(law.parameters, arguments, strict=True):
        domain = parameter.domain
        # the bound of counts, 2**53, is far above any draw, and counts as no bound
        low, high = (
            math.copysign(math.inf, end) if abs(end) == LARGEST_COUNT else end
            for end in (domain.low, domain.high)
        )
        answers.append(known.inside(low, high))
        answers += [
            known.never(end)
            for end, is_open in ((low, domain.low_open), (high, domain.high_open))
            if is_open and math.isfinite(end)
        ]
        if domain.whole and not known.whole:
            answers.append(NEVER)
    if law.conditions and apart:
        far = [one if one.hull.low == one.hull.high else _within_reach(one) for one in arguments]
        with np.errstate(all="ignore"):
            answers += [
                NEVER
                for corner in _corners(law, far)
                for condition in law.conditions
                if not callable(condition)
                and not np.all(condition[1](*(np.array([end]) for end in corner)))
            ]
    return min(answers)


def _within_reach(known: Known) -> Known:
    """The same with finite ends: a difference of infinities says nothing."""
    low, high = (min(max(end, -FAR), FAR) for end in (known.hull.low, known.hull.high))
    return replace(known, hull=Hull(low, high))


def has_density(law: Law, arguments: Sequence[Known]) -> bool:
    """Whether a draw of a continuous law with random arguments has a density."""
    if all(one.smooth for one in arguments):
        return True
    if callable(law.ends) and ends_of(law, arguments).bounded:
        return False  # its two ends may be equal, and the draw a constant
    closed = (
        known
        for parameter, known in zip(law.parameters, arguments, strict=True)
        if parameter.domain.low == 0 and not parameter.domain.low_open
    )
    return all(known.nonzero for known in closed)


def inside_support(law: Law, arguments: Sequence[Known], x: Known) -> int:
    """How sure it is that the density of a law is above 0 and finite at x."""
    if law.own_axes is not None:
        return GENERIC if not law.discrete else NEVER
    ends = ends_of(law, arguments)
    if any(one.hull.width for one in arguments) and callable(law.ends):
        return NEVER
    if law.discrete:
        listed = law.values in (Values.LISTED, Values.SIGNS)
        inside = x.inside(ends.low, ends.high) if x.whole and not listed else NEVER
    else:
        inside = x.inside(ends.low, ends.high, open_ends=True)
    return min(inside, arguments_fit(law, arguments, apart=True))
