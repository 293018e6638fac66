"""One entry for each law of the language, with everything that the program knows about it.

The last axis of an array is the axis of draws; its length is 1 where nothing is random. A parameter
that is a list has one axis of its own just before the axis of draws, a matrix has two.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np

from dropcheck.vocabulary.defined_where import GENERIC, NEVER, SURE, Known
from dropcheck.vocabulary.distribution import (
    LARGEST_COUNT,
    ArgumentHull,
    ArgumentNorm,
    Distribution,
    Values,
    domain_problem,
    norm_of_random_draw,
    plain,
)
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.hulls import EVERYWHERE, Hull, proper, union
from dropcheck.vocabulary.shapes import Shape

Arguments = Sequence[Array]
Generator: TypeAlias = "np.random.Generator"  # numpy imports it when it is first used
Size = tuple[int, ...]
"""The shape of an array of draws: the shape of one draw, then the number of draws."""

Condition = tuple[str, Callable[..., Any]]
"""What must hold between the parameters of a law: a sentence, and a function that takes all
arguments in order, as arrays that broadcast, and returns where it holds."""

MOST_POINTS = 4096  # the most values of a discrete law that are listed one by one
EXACT_INTEGERS = 2.0**53  # above it float64 does not have every whole number
LEFT_OUT = 5e-31  # the probability that may be left out in each tail: no run is that long
# The largest distance of a draw from 0, in units of its scale: of the 53 binary digits of float64,
# 12 are then left for the scale.
FARTHEST_OUT = 2.0**40


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Law(Distribution):
    """One distribution of the language, and how it is drawn.

    Its functions take all arguments in the order of the parameters: as plain numbers, or as arrays
    that broadcast; lists and matrices always as arrays.
    """

    name: str
    summary: str  # a line for the page on the language
    conditions: tuple[Condition, ...] = ()  # between parameters, such as low <= high
    # takes arrays of arguments, each in its domain; returns a sentence on what else is wrong with
    # them, or None
    check: Callable[..., str | None] | None = None
    # The powers of ε with which P(|x - end| < ε) falls, at the low and at the high end (infinite
    # where there is no end). Only for a law with a positive density everywhere between its ends;
    # None: not known.
    near_ends: Callable[..., tuple[float, float]] | None
    # The probabilities of single outcomes that a sample may miss, None where there are no such
    # outcomes. An argument that is not fixed is NaN.
    rare: Callable[..., Any] | None

    # takes a generator and a `Size` before the arguments, which are in their domains; returns an
    # array of numbers or truths of any type, which depends only on the generator's state
    sampler: Callable[..., Any]
    # the logarithm of the density, or of the probability of a discrete law: takes x before the
    # arguments; x lies between the ends (for laws of vectors: anywhere)
    log_density_inside: Callable[..., Any]
    # whether the law is symmetric about its mean (or its median, if it has no mean) for all
    # arguments
    symmetric: bool = False
    # The place where the density of a continuous law is greatest, if it rises up to there and falls
    # after. Takes fixed arguments, and returns NaN for those with another density; None: not known.
    mode: Callable[..., Any] | None = None
    nanoseconds: float | Callable[[Shape], float]  # for one number, or for a draw of a shape

    aliases: tuple[str, ...] = ()  # its names in papers and in other libraries
    note: str = ""  # what may surprise those who know it from another library
    noted: str = ""  # the parameter that the note is about, if it is read alike where it is 1

    @property
    def signature(self) -> str:
        """The law as a call: `normal(mean, sd)`, `categorical([p…])`."""
        names = (f"[{one.name}…]" if one.axes == 1 else one.name for one in self.parameters)
        return f"{self.name}({', '.join(names)})"

    @property
    def restricted(self) -> bool:
        """Whether its arguments must fit one another, besides being in their domains."""
        return bool(self.conditions) or self.check is not None

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
            if not self.discrete and np.any(self._constants(arguments)[0]):
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
            return None if points.size > at_most else (points, *self._chances(points, values))
        low, high = self.support(*values)
        if not high - low < at_most:
            low = float(self.quantile(LEFT_OUT, *values))
            high = float(self.upper_quantile(LEFT_OUT, *values))
        if not (high - low < at_most and max(-low, high) < EXACT_INTEGERS):
            return None
        points = np.arange(low, high + 1.0)
        chances, rest = self._chances(points, values)
        return points[chances > 0], chances[chances > 0], rest

    def _chances(self, points: Array, values: tuple[Any, ...]) -> tuple[Array, float]:
        """The probabilities of neighbouring points, and the probability of all other values.

        They are differences of the distribution function, taken from the nearer tail. These keep
        their digits: in a tail, a value is about as likely as all values beyond it together.
        """
        before = -np.inf if self.values is Values.LISTED else points[0] - 1.0
        edges = np.concatenate([[before], points])
        below, above = self.cdf(edges, *values), self.survival(edges, *values)
        chances = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
        return chances, float(below[0] + above[-1])

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
        problem = next(filter(None, problems), None)
        return problem if problem or law.check is None else law.check(*arguments)


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
                for _, where in law.conditions
                if not np.all(where(*(np.array([end]) for end in corner)))
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
    if law.degenerate is None and callable(law.ends):
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
