"""One entry for each law of the language: a few facts, from which all else follows.

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache, wraps
from typing import Any, TypeAlias

import numpy as np

from dropcheck.vocabulary import moments, special
from dropcheck.vocabulary.domains import LARGEST_COUNT, Condition, Hull, LawParameter, Role
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.shapes import Shape

Arguments = Sequence[Array]
Generator: TypeAlias = "np.random.Generator"  # numpy imports it when it is first used
Size = tuple[int, ...]
"""The shape of an array of draws: the shape of one draw, then the number of draws."""

Norms = Callable[[int, float], float]
OfLine = Callable[[moments.Line], Sequence[float]]
Pair = Callable[..., Any] | tuple[Callable[..., Any], Callable[..., Any]]
"""Functions of the lower and of the upper tail; one alone if both tails of z are alike about 0."""

MOST_POINTS = 4096  # the most values of a discrete law that are listed one by one
FEW = 64  # up to so many sets of arguments, norms are worked out for each
MOST_SUMMED = 2**16  # the most values that are summed over
# The probability that may be left out in each tail: no run is that long.
LEFT_OUT = 5e-31
# The largest distance of a draw from 0, in units of its scale: of the 53 binary digits of float64,
# 12 are then left for the scale.
FARTHEST_OUT = 2.0**40
# The relative rounding error of a probability. A level within it counts as reached, so that
# quantiles at the probabilities of a discrete law are found.
ROUNDING = 4 * float(np.finfo(np.float64).eps)
# Rough nanoseconds to draw one number (measured): of the quicker laws, and of others.
QUICK = {"normal": 9.0, "laplace": 6.0, "exponential": 5.0, "discrete_uniform": 5.0}
QUICK |= {"uniform": 2.5, "bernoulli": 1.0, "rademacher": 1.0}
DRAWN_IN = 40.0


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


@dataclass(frozen=True, slots=True)
class Vector:
    """What stands for the probabilities of a law of vectors.

    Its elements may be put in another order with those of the arguments.
    """

    # takes the shapes of the arguments, and the values of fixed ones (else None); returns the last
    # axes of one value
    axes: Callable[[tuple[Shape, ...], tuple[Any, ...]], Shape]
    # the law of each element, and its arguments
    elements: Callable[..., tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Nearly:
    """Quantiles that may be wrong far out in a tail, as some of scipy's are."""

    pair: Pair


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Law:
    """One distribution of the language: what is known of it, and how it is drawn.

    Its functions take all arguments in the order of the parameters: as plain numbers, or as arrays
    that broadcast; lists and matrices always as arrays. Those of z take those of parameters without
    a role, and a draw is loc + scale · z.
    """

    names: tuple[str, ...]  # its name, and its names in papers and in other libraries
    # a line for the page on the language; after a semicolon, what may surprise
    summary: str
    parameters: tuple[LawParameter, ...]

    values: Values = Values.NUMBERS
    # The least interval that holds its values, ends included. One pair if it is the same for all
    # arguments. A continuous law whose ends meet is a constant.
    ends: tuple[float, float] | Callable[..., tuple[Any, Any]]
    # E|x|^r is finite for r below this number, and infinite from it on, unless the law is a
    # constant; a single number if it is the same for all arguments
    moments: float | Callable[..., Any] = math.inf

    # P(z <= x) and P(z > x), each to its last digits, however small. They are asked for x between
    # the ends, and for whole x where the values are whole. Without them they are sums of the
    # probabilities of a discrete law of few values, or integrals of the density, which is then
    # smooth and bounded between two finite ends.
    chances: Pair | Vector | None = None
    # The least x with P(z <= x) >= u, and the least x with P(z > x) <= v; without them, or from
    # nearly right ones, they are found by a search.
    quantiles: Pair | Nearly | None = None
    # the logarithm of the density, or of the probability of a discrete law: takes x before the
    # arguments; x lies between the ends (for laws of vectors: anywhere)
    log_density_inside: Callable[..., Any]
    # The method of numpy's generator that draws z. Or a function that takes a generator and a
    # `Size` before the arguments, which are in their domains; it returns draws of the law as
    # numbers or truths of any type, which depend only on the generator's state. Without it, draws
    # are quantiles of uniform numbers.
    sampler: str | Callable[..., Any] | None = None

    @property
    def name(self) -> str:
        """Its name in the language."""
        return self.names[0]

    @property
    def aliases(self) -> tuple[str, ...]:
        """Its names in papers and in other libraries."""
        return self.names[1:]

    @property
    def note(self) -> str:
        """What may surprise those who know it from another library."""
        return self.summary.partition("; ")[2]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What must hold between its arguments, besides their domains."""
        return tuple(one for parameter in self.parameters for one in parameter.conditions)

    @property
    def own_axes(self) -> Callable[[tuple[Shape, ...], tuple[Any, ...]], Shape] | None:
        """Of laws of vectors: the last axes of one value, from the shapes and the fixed values."""
        return self.chances.axes if isinstance(self.chances, Vector) else None

    @property
    def discrete(self) -> bool:
        """Whether single values have a probability above 0."""
        return self.values is not Values.NUMBERS

    @property
    def of_lists(self) -> bool:
        """Whether an argument is a list or a matrix."""
        return any(parameter.axes for parameter in self.parameters)

    @property
    def symmetric(self) -> bool:
        """Whether it is symmetric about its mean (or its median) for all arguments."""
        return not self.discrete and callable(self.chances)

    @remembered
    def constant(self, *values: Any) -> float | None:
        """The only value of the law with these arguments; None if it has several."""
        low, high = self.ends_at(self._arrays(values))
        return float(np.asarray(low).item()) if np.all(np.equal(low, high)) else None

    @remembered
    def support(self, *values: Any) -> tuple[float, float]:
        """The least interval, ends included, that holds all values of the law."""
        low, high = self.ends_at(self._arrays(values))
        return (float(np.asarray(low).item()), float(np.asarray(high).item()))

    def ends_at(self, arguments: Arguments) -> tuple[Any, Any]:
        """The two ends, which meet where the law is a constant; arguments have an axis of draws."""
        with np.errstate(all="ignore"):
            ends = self.ends(*arguments) if callable(self.ends) else self.ends
            if self.units is None:
                return ends
            loc, scale, _ = self._line(arguments)
            low, high = (np.where(np.equal(scale, 0), loc, end) for end in ends)
            return low, high

    def ends_between(self, boxes: Sequence[tuple[float, float]]) -> tuple[float, float]:
        """An interval that holds all values where each argument lies between two numbers.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> LAWS["binomial"].ends_between([(2.0, 9.0), (0.0, 0.5)])
        (0.0, 9.0)
        """
        if self.of_lists or not callable(self.ends):
            return (-math.inf, math.inf) if callable(self.ends) else self.ends
        with np.errstate(all="ignore"):
            found = [self.ends(*map(np.float64, corner)) for corner in itertools.product(*boxes)]
        return float(min(low for low, _ in found)), float(max(high for _, high in found))

    def moment_order(self, *values: Any) -> float:
        """The order below which all moments exist, and from which on none exists."""
        if self.constant(*values) is not None:
            return math.inf
        return float(self._order(values))

    @property
    def units(self) -> tuple[float | None, ...] | None:
        """The arguments for which loc is 0 and the scale 1.

        None stands for an argument without a role; None for all if a draw with random arguments is
        no line.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> LAWS["normal"].units, LAWS["gamma"].units, LAWS["poisson"].units
        ((0.0, 1.0), (None, 1.0), None)
        """
        units = tuple(None if one.role is None else one.role.unit for one in self.parameters)
        return units if any(unit is not None for unit in units) else None

    def as_line(self, *arguments: Any) -> tuple[Any, Any, tuple[Any, ...]] | None:
        """Loc, scale and the arguments of z, where a draw is loc + scale · z; None if it is not.

        z is a draw of the same law. Its arguments are fixed numbers, and those arguments of this
        draw that have no role. So this also holds for random arguments, with z independent of them,
        if the others are fixed. Arguments may be of any type that has + and - with its own kind and
        with numbers, and * with numbers.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> LAWS["normal"].as_line(5.0, 2.0), LAWS["uniform"].as_line(-1.0, 3.0)
        ((5.0, 2.0, (0.0, 1.0)), (-1.0, 4.0, (0.0, 1.0)))
        >>> LAWS["gamma"].as_line(0.5, 2.0), LAWS["poisson"].as_line(3.0)
        ((0.0, 2.0, (0.5, 1.0)), None)
        """
        if self.units is None:
            return None
        loc, scale, _ = self._line(arguments)
        pairs = zip(arguments, self.units, strict=True)
        return loc, scale, tuple(given if unit is None else unit for given, unit in pairs)

    @property
    def signature(self) -> str:
        """The law as a call: `normal(mean, sd)`, `categorical([p…])`."""
        names = (f"[{one.name}…]" if one.axes == 1 else one.name for one in self.parameters)
        return f"{self.name}({', '.join(names)})"

    def draw_cost(self, shape: Shape) -> float:
        """Rough nanoseconds to draw an array of this shape."""
        count = math.prod(shape)
        if not any(parameter.axes == 2 for parameter in self.parameters):
            return count * QUICK.get(self.name, DRAWN_IN)
        # a decomposition and a product; from side 64 on LAPACK works in faster blocks
        side = float(shape[-1])
        return count * (DRAWN_IN + side) + side**3 * (0.4 if side >= 64 else 1.0)

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
        if draws_first and shape and not (self.own_axes or self.of_lists):
            turned = [_draws_first(one, 1 + len(shape)) for one in arguments]
            drawn = self.sample(generator, turned, (draws, *shape[:-1]), shape[-1])
            return drawn.transpose(*range(1, drawn.ndim), 0)
        size, dtype = (*shape, draws), bool if self.values is Values.TRUTHS else np.float64
        if 0 in size:
            return np.zeros(size, dtype=dtype)
        with np.errstate(all="ignore"):
            out = np.asarray(self._drawn(generator, size, arguments), dtype=dtype)
            if self.discrete or self.own_axes:
                return out
            return moved_between(out, *self._limits(*map(plain_argument, arguments)))

    @remembered
    def _limits(self, *arguments: Any) -> tuple[Any, Any]:
        """The ends of draws, as `limits` has them."""
        return limits(*self.ends_at([np.asarray(one, np.float64) for one in arguments]))

    def _drawn(self, generator: Generator, size: Size, arguments: Arguments) -> Array:
        if self.sampler is None:
            drawn: Array = self.quantile(uniforms(generator, size), *arguments)
            return drawn
        if callable(self.sampler):
            return np.asarray(self.sampler(generator, size, *arguments))
        loc, scale, own = self._placed(*map(plain_argument, arguments))
        return scaled(np.asarray(getattr(generator, self.sampler)(*own, size=size)), loc, scale)

    @remembered
    def _placed(self, *arguments: Any) -> tuple[Any, Any, list[Any]]:
        """Loc, scale and the arguments of z, as numpy's samplers take them."""
        given = zip(self.parameters, map(np.asarray, arguments), strict=True)
        own = [plain_argument(x, one.domain.whole) for one, x in given if one.role is None]
        return *self._line(arguments)[:2], own

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
            low, high = self.ends_at(arguments)
            if not self.discrete and np.any(np.equal(low, high)):
                raise ValueError(f"{self.name!r} with no spread is a constant, and has no density")
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

    def points(
        self, *values: Any, at_most: int = MOST_POINTS, left_out: float = LEFT_OUT
    ) -> tuple[Array, Array, tuple[float, float]] | None:
        """The values of a discrete law, their probabilities, and those of others below and above.

        The arguments are fixed; the values are in rising order, and each has a probability above 0.
        If there are more than `at_most`, or infinitely many, those far out are left out, with up to
        `left_out` in each tail. None if more than `at_most` values are left, if the law is not
        discrete, and for laws of vectors.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> LAWS["binomial"].points(2.0, 0.5)
        (array([0., 1., 2.]), array([0.25, 0.5 , 0.25]), (0.0, 0.0))
        """
        if not self.discrete or self.own_axes is not None:
            return None
        constant = self.constant(*values)
        if constant is not None:
            return np.array([constant]), np.ones(1), (0.0, 0.0)
        if self.values is Values.LISTED:
            points = np.unique(np.asarray(values[0], dtype=np.float64))
            edges = np.concatenate([[-math.inf], points])
        else:
            low, high = self.support(*values)
            if not high - low < min(at_most, MOST_POINTS):
                low = float(self.quantile(left_out, *values))
                high = float(self.upper_quantile(left_out, *values))
            if not (0 <= high - low < at_most and max(-low, high) < LARGEST_COUNT):
                return None
            edges = np.arange(low - 1.0, high + 1.0)
        if len(edges) > at_most + 1:
            return None
        below, above = self.cdf(edges, *values), self.survival(edges, *values)
        # differences from the nearer tail keep their digits: there a value is about as likely as
        # all values beyond it together
        chances = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
        some = chances > 0
        return edges[1:][some], chances[some], (float(below[0]), float(above[-1]))

    def random_norm(self, p: float, norm: Norms, hull: Callable[[int], Hull]) -> float:
        """A bound of (E|x|^p)^(1/p) for random arguments; infinite if none is known.

        E|x|^p is the mean, over the arguments, of its value for fixed arguments. Where these are
        bounded, it is at most the greatest of those values. Where x = loc + scale · z, with z
        independent of loc and scale, its norm is at most the sum of the norms of loc and of scale
        times that of z (Minkowski). Where x is like a sum of so many draws as an argument says, its
        moments are polynomials in this argument.

        Args:
            p: At least 1.
            norm: Takes the number of an argument and an order q >= 1, and returns a bound of
                (E|argument|^q)^(1/q); for a list, the greatest bound of its elements.
            hull: Takes the number of an argument, and returns an interval that holds its values.
        """
        places = range(len(self.parameters))
        hulls, roles = [hull(i) for i in places], [one.role for one in self.parameters]
        with np.errstate(all="ignore"):
            if self.values is Values.LISTED:  # a draw is one of the list
                return norm(0, p)
            if self.of_lists:
                return math.inf
            adding = [i for i in places if self.parameters[i].adds]
            found = [self._norm_of_ends(p, norm), self._norm_of_line(p, roles, hulls, norm)]
            found += [self._norm_of_sum(p, i, hulls, norm) for i in adding]
        return min((one for one in found if not math.isnan(one)), default=math.inf)

    def _norm_of_ends(self, p: float, norm: Norms) -> float:
        """Where each end is an argument or a number: E max(|a|, |b|)^p <= E|a|^p + E|b|^p.

        Which it is, is told by two sets of arguments.
        """
        sets = (2.0, 3.5, 5.25, 7.0), (7.0, 5.25, 3.5, 2.0)
        arguments, count = [*zip(*sets, strict=True)], len(self.parameters)
        ends = (self.ends(*one[:count]) if callable(self.ends) else self.ends for one in sets)
        sizes = [0.0]
        for pair in zip(*ends, strict=True):
            number = abs(pair[0]) if pair[0] == pair[1] else math.inf
            sizes.append(norm(arguments.index(pair), p) if pair in arguments else number)
        most = max(sizes)
        return most * math.pow(sum((one / (most or 1.0)) ** p for one in sizes), 1.0 / p)

    def _norm_of_line(
        self, p: float, roles: list[Role | None], hulls: list[Hull], norm: Norms
    ) -> float:
        given = zip(roles, hulls, strict=True)
        ends = [box if role is None else Hull(role.unit, role.unit) for role, box in given]
        # E|x|^p is monotone or convex in each argument, but for some laws between two ends
        between = len(roles) > 2 if callable(self.ends) else Hull(*self.ends).bounded
        if (between and not self.discrete) or not all(one.bounded for one in ends):
            return math.inf
        # hulls are a little wider than the domains in which the formulas hold
        pairs = zip(self.parameters, ends, strict=True)
        corners = [{*parameter.domain.within(box.low, box.high)} for parameter, box in pairs]
        of_z = max(float(self.norm(p, *corner)) for corner in itertools.product(*corners))
        if not any(one is not None and one.of_scale for one in roles):
            return of_z
        parts = [(i, one) for i, one in enumerate(roles) if one is not None]
        return sum((abs(one.of_loc) + abs(one.of_scale) * of_z) * norm(i, p) for i, one in parts)

    def _norm_of_sum(self, p: float, place: int, hulls: list[Hull], norm: Norms) -> float:
        """Where the cumulants are proportional to an argument, and the others are fixed.

        E x^k given this argument a is then a polynomial in a, and an order between whole ones has
        at most the norm of the next one.
        """
        order = math.ceil(p)
        others = [one for i, one in enumerate(hulls) if i != place]
        if order > moments.HIGHEST_ORDER or any(one.low != one.high for one in others):
            return math.inf
        unit = [1.0 if i == place else one.low for i, one in enumerate(hulls)]
        known = [self.moment(1, *unit), *(self.cumulant(k, *unit) for k in range(2, order + 1))]
        sizes = [abs(float(value)) + float(error) for value, error in known]
        parts = moments.in_powers(sizes)
        total = sum(part * norm(place, m) ** m for m, part in enumerate(parts) if m)
        return math.pow(total * (1.0 + 1e-9), 1.0 / order)

    @remembered
    def moment(self, order: int, *arguments: Any) -> tuple[Any, Any]:
        """The mean for order 1, else E (x - E x)^order, of orders up to 8; and its error.

        It may be infinite; it is NaN if it does not exist or is not known. The second number is a
        bound of the error of the first.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["gamma"].moment(1, 3.0, 0.5)[0]), float(LAWS["normal"].moment(4, 1, 2)[0])
        (1.5, 48.0)
        >>> float(LAWS["pareto"].moment(1, 0.8, 1.0)[0])
        inf
        """
        value, error = self._each(arguments, lambda row: row.moment(order))
        return value, error

    @remembered
    def cumulant(self, order: int, *arguments: Any) -> tuple[Any, Any]:
        """The cumulant of an order from 2 to 8, and a bound of its error; as `moment`.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["poisson"].cumulant(4, 0.5)[0]), float(LAWS["normal"].cumulant(4, 0, 1)[0])
        (0.5, 0.0)
        """
        value, error = self._each(arguments, lambda row: row.cumulant(order))
        return value, error

    @remembered
    def norm(self, p: float, *arguments: Any) -> Any:
        """(E|x|^p)^(1/p) for real p >= 1: a bound that is hardly above it.

        It is infinite where the moment does not exist, and where none is known.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> f"{LAWS['rademacher'].norm(1.5):.9f}", float(LAWS["cauchy"].norm(1, 0.0, 1.0))
        ('1.000000000', inf)
        """
        return self._each(arguments, lambda row: [row.norm(p)])[0]

    @remembered
    def spread(self, p: float, *arguments: Any) -> Any:
        """The same of x - E x."""
        return self._each(arguments, lambda row: [row.spread(p)])[0]

    @remembered
    def log_mgf(self, t: float, *arguments: Any) -> Any:
        """Log E exp(t x): a bound that is hardly above it; infinite if none is known.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> f"{LAWS['normal'].log_mgf(2.0, 0.0, 1.0):.9f}", float(LAWS["exponential"].log_mgf(2, 1))
        ('2.000000000', inf)
        """
        return self._each(arguments, lambda row: [row.log_mgf(t)], side=t)[0]

    # ---- the shape of its density ----------------------------------------------------------------

    def rarest(self, *arguments: Any) -> Any:
        """The least probability of a value of a list, or of all counts but the commonest one.

        A sample may miss it. NaN where there is none, and where arguments are NaN.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["bernoulli"].rarest(0.25)), float(LAWS["normal"].rarest(0.0, 1.0))
        (0.25, nan)
        """
        listed = self.of_lists and self.own_axes is None

        return self._each(
            arguments, lambda row: [row.rarest(listed) if self.discrete else math.nan]
        )[0]

    # ---- probabilities ---------------------------------------------------------------------------

    def cdf(self, x: Any, *arguments: Any) -> Any:
        """P(X <= x); None if it is not known, and for laws of vectors.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["normal"].cdf(3.0, 3.0, 2.0)), float(LAWS["bernoulli"].cdf(0.5, 0.25))
        (0.5, 0.75)
        """
        return self._chance(0, x, arguments)

    def survival(self, x: Any, *arguments: Any) -> Any:
        """P(X > x) with all its digits, however small it is; None as for `cdf`.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> round(-math.log(LAWS["exponential"].survival(600.0, 1.0)), 9)
        600.0
        """
        return self._chance(1, x, arguments)

    def quantile(self, u: Any, *arguments: Any) -> Any:
        """The least x with P(X <= x) >= u; for u = 0 the low end of the law. None as for `cdf`.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["uniform"].quantile(0.25, 0, 4)), float(LAWS["poisson"].quantile(0.5, 3))
        (1.0, 3.0)
        """
        return self._level(0, u, arguments)

    def upper_quantile(self, v: Any, *arguments: Any) -> Any:
        """The least x with P(X > x) <= v, for v down to 1e-300; None as for `cdf`.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> round(float(LAWS["normal"].upper_quantile(1e-300, 0.0, 1.0)), 6)
        37.047096
        """
        return self._level(1, v, arguments)

    # ---- within ----------------------------------------------------------------------------------

    def _line(self, arguments: Sequence[Any]) -> tuple[Any, Any, list[Any]]:
        """Loc, scale and the arguments of z without a role."""
        pairs = [*zip(self.parameters, arguments, strict=True)]
        roles = [(one.role, given) for one, given in pairs if one.role is not None]
        loc = sum((given * role.of_loc for role, given in roles if role.of_loc), 0.0)
        widths = [given * role.of_scale for role, given in roles if role.of_scale]
        own = [given for one, given in pairs if one.role is None]
        return loc, sum(widths, 0.0) if widths else 1.0, own

    def chance_of_z(self, side: int, x: Any, own: Sequence[Any]) -> Any:
        """P(z <= x) or P(z > x), if the side is 0 or 1."""
        pair = self.chances
        if pair is None:
            axes = [one.axes for one in self.parameters if one.role is None]
            return special.by_rows(lambda x, row: _table(self, row).chance(side, x), x, own, axes)
        if isinstance(pair, tuple):
            return pair[side](x, *own)
        assert callable(pair)
        return pair((-x - 1.0 if self.discrete else -x) if side else x, *own)

    def quantile_of_z(self, side: int, level: Any, own: Sequence[Any]) -> Any:
        """The quantile of z as its facts say, for a level of the lower or of the upper tail."""
        pair = self.quantiles.pair if isinstance(self.quantiles, Nearly) else self.quantiles
        if isinstance(pair, tuple):
            return pair[side](level, *own)
        assert pair is not None
        return (-1.0 if side else 1.0) * pair(level, *own)

    def _each(self, arguments: Sequence[Any], of: OfLine, side: float = 0.0) -> list[Any]:
        """The results of a function for each set of arguments; `side` is the sign for `rate`."""
        with np.errstate(all="ignore"):
            flat = self._flat(arguments)
            if isinstance(self.chances, Vector):
                law, *each = self.chances.elements(*flat)
                found_of_each: list[Any] = law._each(each, of, side)
                return found_of_each
            loc, scale, own = self.as_line(*flat) or (0.0, 1.0, flat)
            rate = self.rate(math.copysign(1.0, side), arguments) if side else 0.0
            numbers = [loc, scale, self._order(arguments), *self._end_arrays(arguments), rate]
            axes = [0] * len(numbers) + [parameter.axes for parameter in self.parameters]
            lead, rows, places = special.rows_of([*numbers, *own], axes)
            found = []
            for row in rows:
                draw, given = moments.Line(*row[: len(numbers)]), row[len(numbers) :]
                rule, known = None, None
                varies = draw.low != draw.high and draw.scale < math.inf
                if varies and not any(np.isnan(one).any() for one in given):
                    rule, known = _known(self, draw.order, given)
                found.append(of(replace(draw, few=len(rows) <= FEW, rule=rule, known=known)))
            table = np.array(found, dtype=np.float64)[places]
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

    def _chance(self, side: int, x: Any, arguments: Sequence[Any]) -> Any:
        if self.own_axes is not None:
            return None
        least, most = float(side), 1.0 - side
        with np.errstate(all="ignore"):
            loc, scale, own = self._line(self._flat(arguments))
            low, high = self._end_arrays(arguments)
            x = np.asarray(x, dtype=np.float64)
            whole = self.discrete and self.values is not Values.LISTED
            z = ((np.floor(x) if whole else x) - loc) / np.where(scale > 0, scale, 1.0)
            values = self.chance_of_z(side, z, own)
            values = np.where(scale == 0, np.where(x >= loc, most, least), values)
            outside = x < low if self.discrete else x <= low
            values = np.where(x >= high, most, np.where(outside, least, values))
            return np.where(np.isnan(x), np.nan, values)[()]

    def _level(self, side: int, level: Any, arguments: Sequence[Any]) -> Any:
        if self.own_axes is not None:
            return None
        with np.errstate(all="ignore"):
            low, high = self._end_arrays(arguments)
            first, last = (high, low) if side else (low, high)
            level = np.asarray(level, dtype=np.float64)
            if self.quantiles is None or isinstance(self.quantiles, Nearly):
                values = self._searched(side, level, self._flat(arguments), low, high)
            else:
                loc, scale, own = self._line(self._flat(arguments))
                values = loc + scale * self.quantile_of_z(side, level, own)
                values = np.where(scale == 0, loc, values)
            values = np.minimum(np.maximum(values, low), high)
            values = np.where(level == 0, first, np.where(level == 1, last, values))
            return np.where((level >= 0) & (level <= 1), values, np.nan)[()]

    def _searched(
        self, side: int, level: Array, arguments: Sequence[Any], low: Any, high: Any
    ) -> Array:
        """A quantile where there is no formula, from the probabilities."""
        loc, scale, own = self._line(arguments)
        if self.discrete:
            near = level * (1.0 + ROUNDING if side else 1.0 - ROUNDING)
            if self.chances is None:
                axes = [one.axes for one in self.parameters]
                return special.by_rows(
                    lambda level, row: _table(self, row).quantile(side, level), near, own, axes
                )
            reached = np.less_equal if side else np.greater_equal
            low, high, near = np.broadcast_arrays(low, high, near)
            return np.asarray(
                special.least_whole(
                    lambda x: reached(self.chance_of_z(side, x, own), near), low, high
                )
            )
        start: Any = np.nan
        if isinstance(self.quantiles, Nearly):  # from the nearer tail
            near, far = (
                self.quantile_of_z(one, at, own)
                for one, at in ((side, level), (1 - side, 1.0 - level))
            )
            start = loc + scale * np.where(level > 0.5, far, near)
            start = np.where(np.isfinite(start), start, high if side else low)
        whole = np.broadcast_arrays(level, low, high, start, *arguments)
        flat = [one.ravel() for one in whole]
        fixed = all(np.size(one) == 1 for one in arguments)
        given = arguments if fixed else flat[4:]

        def chance(x: Array, at: Array) -> Any:
            loc, scale, own = self._line(given if fixed else [one[at] for one in given])
            return self.chance_of_z(side, (x - loc) / scale, own)

        def density(x: Array, at: Array) -> Any:
            own = given if fixed else [one[at] for one in given]
            return np.exp(self.log_density_inside(x, *own))

        found = special.where_reached(
            chance, density, flat[0], (flat[1], flat[2]), flat[3], falls=bool(side)
        )
        found[np.abs(found) < np.finfo(np.float64).tiny] = 0.0  # it has too few digits
        return found.reshape(whole[0].shape)

    def _end_arrays(self, arguments: Sequence[Any]) -> tuple[Any, Any]:
        """The two ends, without an axis of draws."""
        low, high = self.ends_at(self._arrays(arguments))
        return (low[..., 0], high[..., 0]) if self.of_lists else (low, high)

    def _flat(self, values: Sequence[Any]) -> list[Any]:
        """Fixed arguments as float64 numbers and arrays, whose arithmetic knows infinity."""
        return [np.asarray(value, dtype=np.float64)[()] for value in values]

    def _arrays(self, values: Sequence[Any]) -> list[Any]:
        """The same with an axis of draws behind lists and matrices."""
        return [
            value[..., np.newaxis] if parameter.axes else value
            for parameter, value in zip(self.parameters, self._flat(values), strict=True)
        ]


@lru_cache(maxsize=4096)
def _known(
    law: Law, order: float, own: tuple[Any, ...]
) -> tuple[moments.Rule | None, moments.Moments | None]:
    """The rule and the moments of z; None if it has too many values."""
    given = [*zip(own, law.parameters, strict=True)]
    if law.discrete:
        found = law.points(*own, at_most=MOST_SUMMED, left_out=moments.LEAST)
        if found is not None and len(found[0]):
            return moments.moments_by(moments.by_values(*found), order)
    if law.discrete or law.chances is None:
        table = _table(law, tuple(one for one, of in given if of.role is None))
        if table is None:
            return None, None
        x, weights = table.x.ravel(), table.weights.ravel()
        rule = moments.by_values(x, weights, rounding=moments.ROUNDING, off=4.0 * table.off)
        return moments.moments_by(rule, order)
    knots = [float(one) for one, of in given if of.knot]
    return moments.moments_by(
        moments.by_quantiles(
            lambda u: law.quantile(u, *own),
            lambda v: law.upper_quantile(v, *own),
            float(law.cdf(knots[0], *own)) if knots else 0.5,
        ),
        order,
    )


@lru_cache(maxsize=64)
def _table(law: Law, own: tuple[Any, ...]) -> Any:
    """What z is drawn from by its density or probabilities; of arguments without a role."""
    others = iter(own)  # besides the arguments for which loc is 0 and the scale 1
    given = [one.role.unit if one.role else next(others) for one in law.parameters]
    numbers = law._arrays(given) if law.of_lists else law._flat(given)

    def log_density(x: Array) -> Array:
        return np.asarray(law.log_density_inside(x, *numbers)) + 0.0 * x

    low, high = law.support(*given)
    if not law.discrete:
        return moments.by_density(log_density, low, high)
    if law.values is Values.LISTED:
        return moments.by_probabilities(log_density, np.unique(np.asarray(own[0], np.float64)))
    if law.chances is None:
        return moments.by_probabilities(log_density, np.arange(low, high + 1.0))
    if not high - low < MOST_SUMMED:
        low = float(law.quantile(moments.LEAST, *given))
        high = float(law.upper_quantile(moments.LEAST, *given))
    if not (high - low >= 0 and max(-low, high) < LARGEST_COUNT):  # of no such arguments
        return None
    return moments.by_density(log_density, low, high + 1.0, whole=True)


def _draws_first(argument: Array, axes: int) -> Array:
    """An array [… , draws] as [draws, …] with this number of axes; a single number unchanged."""
    if argument.size == 1:
        return argument
    lacking = (1,) * (axes - argument.ndim)
    return np.moveaxis(argument.reshape(*lacking, *argument.shape), -1, 0)


def plain_argument(argument: Array, whole: bool = False) -> Any:
    """An argument for numpy's generators: a number if it has one element; counts as integers.

    >>> plain_argument(np.array([[2.0]]), whole=True), plain_argument(np.array([1.0, 2.0]))
    (2, array([1., 2.]))
    """
    typed = argument.astype(np.int64) if whole else argument
    return typed.item() if typed.size == 1 else typed


def uniforms(generator: Generator, size: Size) -> Array:
    """Uniform numbers strictly between 0 and 1: numpy's are multiples of 2**-53, 0 included."""
    out = generator.random(size)
    return np.maximum(out, 2.0**-54, out=out)


def scaled(out: Array, loc: Any, scale: Any) -> Array:
    """`loc + scale * out`, computed in place."""
    if not (isinstance(scale, float) and scale == 1.0):
        out *= scale
    if not (isinstance(loc, float) and loc == 0.0):
        out += loc
    return out


def limits(low: Any, high: Any) -> tuple[Any, Any]:
    """The least and the greatest number between two ends; None where there is no end.

    Where `low == high` they are this number.
    """
    roomy = np.less(low, high)
    least = np.where(roomy, np.nextafter(low, np.inf), low)
    most = np.where(roomy, np.nextafter(high, -np.inf), high)
    return (
        plain_argument(least) if np.any(np.greater(low, -math.inf)) else None,
        plain_argument(most) if np.any(np.less(high, math.inf)) else None,
    )


def moved_between(out: Array, least: Any, most: Any) -> Array:
    """Move draws that rounding or underflow put on an end, or beyond it, inside; in place."""
    if least is not None:
        np.maximum(out, least, out=out)
    if most is not None:
        np.minimum(out, most, out=out)
    return out


# [256, 8]: the eight bits of each byte, as 1 and -1
SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1.0


def log_gammas(generator: Generator, size: Size, shape: Array) -> Array:
    """Logarithms of standard gamma numbers, also where these underflow.

    G(a) has the law of G(a + 1) * U**(1 / a) (Marsaglia and Tsang 2000, section 6).
    """
    out = np.log(generator.standard_gamma(plain_argument(shape + 1.0), size))
    out -= np.maximum(generator.standard_exponential(size), math.ulp(0.0)) / shape
    return out


def random_words(generator: Generator, count: int) -> Array:
    """At least `count` random bytes as 64-bit words, the same bytes on every machine."""
    words = generator.bit_generator.random_raw(-(-count // 8))
    return words.astype("<u8", copy=False)


def signs(generator: Generator, size: Size) -> Array:
    """1 or -1 with equal probabilities, from one random bit each."""
    count = math.prod(size)
    eighths = -(-count // 8)
    octets = random_words(generator, eighths).view(np.uint8)[:eighths]
    return SIGNS.take(octets, axis=0).reshape(-1)[:count].reshape(size)


def digits_problem(law: Law, arguments: Arguments) -> str | None:
    """A sentence if draws of a continuous law lie too far from 0 to differ in float64; else None.

    The arguments are fixed, in order, as for `Law.sample`, and in their domains.

    >>> from dropcheck.vocabulary.laws import LAWS
    >>> digits_problem(LAWS["normal"], [np.array([1e16]), np.array([1.0])])
    'draws around 1e+16 are multiples of 2 in float64, which is too coarse for a scale of 1'
    """
    if law.discrete or law.own_axes is not None:
        return None
    with np.errstate(all="ignore"):
        low, high = law.ends_at(arguments)
        line = law.as_line(*arguments) or (low, high - low)
        loc, scale = np.broadcast_arrays(*line[:2])
        far = (np.abs(loc) > FARTHEST_OUT * scale) & (scale > 0)
    if not far.any():
        return None
    around, width = float(loc[far][0]), float(scale[far][0])
    return (
        f"draws around {around:.6g} are multiples of {math.ulp(around):.6g} in float64, which is "
        f"too coarse for a scale of {width:.6g}"
    )
