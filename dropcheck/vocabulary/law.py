"""What a law of the language is: all that is known of one distribution, in one entry.

Arrays have the axis of draws last, of length 1 where nothing is random. A parameter that is a list
has its own axis just before that of draws, a matrix has two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, TypeAlias, TypeVar

import numpy as np

from dropcheck.records import record
from dropcheck.vocabulary.distributions.distribution import Distribution, Values
from dropcheck.vocabulary.distributions.domains import domain_problem, plain
from dropcheck.vocabulary.distributions.random_arguments import norm_of_random_draw
from dropcheck.vocabulary.distributions.standard import ArgumentHull, ArgumentNorm
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.shapes import Shape

Arguments = Sequence[Array]
Generator: TypeAlias = "np.random.Generator"  # numpy imports it when it is first used
Size = tuple[int, ...]
"""The shape of an array of draws: the shape of one draw, then the number of draws."""

Condition = tuple[str, Callable[..., Any]]
"""What must hold between the parameters of a law: a sentence, and a function that says where it
does, of all arguments in order, as arrays that broadcast."""

MOST_POINTS = 4096  # values of a discrete law that are gone through one by one
EXACT_INTEGERS = 2.0**53  # from here on float64 has not every whole number
LEFT_OUT = 5e-31  # the probability that may be left out on either side: no run meets it
# A draw has 53 binary digits: so far out, in units of its scale, 12 of them are left for the scale.
FARTHEST_OUT = 2.0**40


@record(kw_only=True, eq=False)
class Law(Distribution):
    """One distribution of the language, and how it is drawn.

    The functions given to it take all arguments, in the order of its parameters: as plain numbers,
    or as arrays that broadcast; lists and matrices always as arrays.
    """

    name: str
    summary: str  # a line for the page on the language
    conditions: tuple[Condition, ...] = ()  # between parameters, such as low <= high
    # a sentence on what else is wrong with arrays of arguments, each in its domain; None if nothing
    check: Callable[..., str | None] | None = None
    # the powers with which P(|x - end| < ε) falls in ε, at the low and at the high end (infinite
    # where there is no end), of a law with a positive density everywhere between; None: not known
    near_ends: Callable[..., tuple[float, float]] | None
    # the rates with which P(x < -t) and P(x > t) fall as an exponential of t, where there is no end
    # on that side: infinite where they fall faster than any, 0 where slower; None: not known
    tails: Callable[..., tuple[float, float]] | None
    # chances of single outcomes that a sample may miss, None where there are none; an argument that
    # is not fixed is NaN
    rare: Callable[..., Any] | None

    # takes a generator and a `Size` before the arguments, in their domains; the generator's state
    # alone decides the result: an array of any type of number, or of truths
    sampler: Callable[..., Any]
    # the logarithm of the density, or of the probability of a discrete law: takes x before the
    # arguments, and is asked where x lies between the ends (of vectors: anywhere)
    log_density_inside: Callable[..., Any]
    # whether the law lies alike on both sides of its mean or, where it has none, of its median,
    # whatever the arguments are
    symmetric: bool = False
    # centre, unit and top, where the log density is top - ((x - centre) / unit)² / 2 at every x;
    # takes the arguments, fixed ones
    parabola: Callable[..., tuple[Any, Any, Any]] | None = None
    # where the density of a continuous law is greatest, which rises up to there and falls after:
    # takes the arguments, fixed ones, and is NaN where they make it do otherwise; None: not known
    mode: Callable[..., Any] | None = None
    nanoseconds: float | Callable[[Shape], float]  # for one number, or for a draw of a shape
    # of vectors: the law of one element, and its arguments from fixed ones, each for all elements
    element: tuple[Law, Callable[..., tuple[Any, ...]]] | None = None

    aliases: tuple[str, ...] = ()  # what it is called in papers and in other libraries
    note: str = ""  # what may surprise those who know it from elsewhere

    @property
    def signature(self) -> str:
        """The law as a call: `normal(mean, sd)`, `categorical([p…])`."""
        names = (f"[{one.name}…]" if one.axes == 1 else one.name for one in self.parameters)
        return f"{self.name}({', '.join(names)})"

    @property
    def restricted(self) -> bool:
        """Whether its arguments must fit one another, beyond being in their domains."""
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
        """Independent draws of the law; the state of the generator alone decides them.

        The arguments are in order, in their domains (see `argument_problem`), as float64 arrays
        that broadcast against the result without the law's own axes. The result has the shape
        `shape + (draws,)`, the law's own axes included: bool where it gives truths, else float64.
        With `draws_first`, draws come first in memory where elements are drawn one by one: others.
        """
        one_by_one = self.own_axes is None and not any(one.axes for one in self.parameters)
        if draws_first and shape and one_by_one:
            turned = [_draws_first(one, 1 + len(shape)) for one in arguments]
            found = self.sample(generator, turned, (draws, *shape[:-1]), shape[-1])
            return found.transpose(*range(1, found.ndim), 0)
        size, dtype = (*shape, draws), bool if self.values is Values.TRUTHS else np.float64
        if 0 in size:
            return np.zeros(size, dtype=dtype)
        with np.errstate(all="ignore"):
            return np.asarray(self.sampler(generator, size, *arguments), dtype=dtype)

    def log_density(self, arguments: Arguments, x: Array) -> Array:
        """Logarithm of the density, or of the probability where the law is discrete.

        `x` broadcasts against the arguments; a law of vectors reads a value on the axis before that
        of draws. The result has the shape that x and the arguments broadcast to, without the law's
        own axis: -inf outside the support and between the points of a discrete law, NaN where x is.

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
            # outside, any point of the support serves: what is found there is not used
            anywhere = np.where(np.isfinite(low), low, 0.0)
            values = self.log_density_inside(np.where(inside, x, anywhere), *arguments)
            if not self.discrete:
                # far out, where the density is less than any float, its terms may be inf - inf
                known = np.equal(sum(np.isnan(one) for one in arguments), 0)
                values = np.where(np.isnan(values) & known, -np.inf, values)
            return np.where(np.isnan(x), np.nan, np.where(inside, values, -np.inf))

    def density(self, arguments: Arguments, x: Array) -> Array:
        """The density, or the probability where the law is discrete: exp of `log_density`."""
        with np.errstate(all="ignore"):
            return np.asarray(np.exp(self.log_density(arguments, x)))

    def points(self, *values: Any, at_most: int = MOST_POINTS) -> tuple[Array, Array, float] | None:
        """The values of a discrete law with fixed arguments, their probabilities, and the rest.

        Values rise, and each has a probability. Where there are more than `at_most`, or infinitely
        many, those far out are left out: the rest is their probability, at most 1e-30, and 0 where
        there are none. None where more than `at_most` values are left, of a law that is not
        discrete, and of vectors.

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
            found = np.unique(np.asarray(values[0], dtype=np.float64))
            return None if found.size > at_most else (found, *self._chances(found, values))
        low, high = self.support(*values)
        if not high - low < at_most:
            low = float(self.quantile(LEFT_OUT, *values))
            high = float(self.upper_quantile(LEFT_OUT, *values))
        if not (high - low < at_most and max(-low, high) < EXACT_INTEGERS):
            return None
        found = np.arange(low, high + 1.0)
        chances, rest = self._chances(found, values)
        return found[chances > 0], chances[chances > 0], rest

    def _chances(self, found: Array, values: tuple[Any, ...]) -> tuple[Array, float]:
        """The probabilities of rising values that are next to each other, and that of all others.

        Differences of the distribution function, each from the nearer end: they keep their digits,
        as far from the middle a value is about as likely as all that lie beyond it.
        """
        before = -np.inf if self.values is Values.LISTED else found[0] - 1.0
        edges = np.concatenate([[before], found])
        below, above = self.cdf(edges, *values), self.survival(edges, *values)
        chances = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
        return chances, float(below[0] + above[-1])

    def random_norm(self, p: float, norm: ArgumentNorm, hull: ArgumentHull) -> float:
        """A bound of (E|x|^p)^(1/p) where arguments are random; infinite where none is known.

        E|x|^p is the mean over the arguments of what it is for fixed ones, which is at most its
        greatest value where they are bounded; and loc + scale · z, z independent of loc and scale,
        has at most the norm of loc and the product of the norms of scale and z.

        Args:
            p: At least 1.
            norm: A bound of (E|argument|^q)^(1/q), of the number of an argument and q >= 1; of
                lists, the greatest of their elements.
            hull: What holds the values of an argument, fixed ones too.
        """
        with np.errstate(all="ignore"):
            return norm_of_random_draw(self, p, norm, hull)


def _draws_first(argument: Array, axes: int) -> Array:
    """[…, draws] as [draws, …], of so many axes; one number as it is."""
    if argument.size == 1:
        return argument
    lacking = (1,) * (axes - argument.ndim)
    return np.moveaxis(argument.reshape(*lacking, *argument.shape), -1, 0)


DerivedLaw = TypeVar("DerivedLaw", bound=Law)


def derived(kind: type[DerivedLaw], law: Law, **changes: Any) -> DerivedLaw:
    """A law made from another: what is not changed it has from that."""
    return kind(**{**{one.name: getattr(law, one.name) for one in fields(Law)}, **changes})


def argument_problem(law: Law, arguments: Arguments) -> str | None:
    """A sentence on the first of some arguments that the law does not take; None if there is none.

    The arguments are in order, draws last, as for `Law.sample`.

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
    """A sentence where draws of a continuous law lie too far out for float64 to tell them apart.

    The arguments are fixed ones, in order, as for `Law.sample`, and in their domains.

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
    # a condition need not look at every argument, and those may have more elements
    shape = np.broadcast_shapes(holds.shape, *(argument.shape for argument in arguments))
    first = np.unravel_index(int(np.argmin(np.broadcast_to(holds, shape))), shape)
    given = ", ".join(
        f"{parameter.name} = {plain(np.broadcast_to(argument, shape)[first])}"
        for parameter, argument in zip(law.parameters, arguments, strict=True)
    )
    return f"{text}, and it does not hold for {given}"
