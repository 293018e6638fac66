"""What a law of the language is: all that is known of one distribution, in one entry.

Arrays have the axis of draws last, of length 1 where nothing is random. A parameter that is a list
has its own axis just before that of draws, a matrix has two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeAlias

import numpy as np

from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.shapes import Shape

Arguments = Sequence[Array]
Generator: TypeAlias = "np.random.Generator"  # numpy imports it when it is first used
Size = tuple[int, ...]
"""The shape of an array of draws: the shape of one draw, then the number of draws."""

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

    def describe(self, name: str) -> str:
        """The domain as a reader would write it: `0 <= p <= 1`, `df > 0`, `n >= 0, whole`."""
        low = "" if self.low == -math.inf else f"{self.low:g} {'<' if self.low_open else '<='} "
        high = "" if self.high == math.inf else f" {'<' if self.high_open else '<='} {self.high:g}"
        text = f"{low}{name}{high}" if low or high else f"{name} finite"
        if low and not high:
            text = f"{name} {'>' if self.low_open else '>='} {self.low:g}"
        return text + (", whole" if self.whole else "")


FINITE = Domain()
ANY = Domain(low_open=False, high_open=False)  # infinite too: the ends of a truncation
PROBABILITY = Domain(0.0, 1.0, low_open=False, high_open=False)
POSITIVE_PROBABILITY = Domain(0.0, 1.0, high_open=False)
NOT_NEGATIVE = Domain(0.0, low_open=False)
POSITIVE = Domain(0.0)
WHOLE = Domain(-LARGEST_COUNT, LARGEST_COUNT, low_open=False, high_open=False, whole=True)
COUNT = Domain(0.0, LARGEST_COUNT, low_open=False, high_open=False, whole=True)


@dataclass(frozen=True, slots=True)
class LawParameter:
    """One parameter of a law; `axes` is its own rank: 0 a number, 1 a list, 2 a matrix."""

    name: str
    domain: Domain
    axes: int = 0


LOW = LawParameter("low", FINITE)
HIGH = LawParameter("high", FINITE)


Condition = tuple[str, Callable[..., Any]]
"""What must hold between the parameters of a law: a sentence, and a function that says where it
does, of all arguments in order, as arrays that broadcast."""


class Values(Enum):
    """What sort of numbers a law gives."""

    NUMBERS = "any number between two ends"
    WHOLE = "whole numbers"
    LISTED = "numbers of a list"
    TRUTHS = "1 or 0, kept as true or false"
    SIGNS = "1 or -1"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Law:
    """One distribution of the language.

    Its functions take all arguments of the law, in the order of its parameters: as plain numbers,
    or as arrays that broadcast; lists and matrices always as arrays.
    """

    name: str
    summary: str  # a line for the page on the language
    parameters: tuple[LawParameter, ...]
    conditions: tuple[Condition, ...] = ()  # between parameters, such as low <= high
    # a sentence on what else is wrong with arrays of arguments, each in its domain; None if nothing
    check: Callable[..., str | None] | None = None
    # the last axes of one value of a law of vectors, from the shapes of the arguments and from
    # their values where fixed (None where not)
    own_axes: Callable[[tuple[Shape, ...], tuple[Any, ...]], Shape] | None = None

    values: Values
    # the least interval, ends included, of its values where it is not degenerate: one pair where
    # that is the same for all arguments, which then holds the degenerate values too
    ends: tuple[float, float] | Callable[..., tuple[Any, Any]]
    # where the law is a constant, and which one; None: where its two ends meet
    degenerate: Callable[..., tuple[Any, Any]] | None

    # E|x|^r is finite for r below this, and infinite from here on: one number where it is the same
    # for all arguments; asked where the law is not degenerate
    moments: float | Callable[..., float]
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
    nanoseconds: float | Callable[[Shape], float]  # for one number, or for a draw of a shape

    elsewhere: tuple[str, ...] = ()  # what it is called in papers and in other libraries
    note: str = ""  # what may surprise those who know it from elsewhere

    @property
    def signature(self) -> str:
        """The law as a call: `normal(mean, sd)`, `categorical([p…])`."""
        names = (f"[{one.name}…]" if one.axes == 1 else one.name for one in self.parameters)
        return f"{self.name}({', '.join(names)})"

    @property
    def discrete(self) -> bool:
        """Whether single values have a probability."""
        return self.values is not Values.NUMBERS

    @property
    def restricted(self) -> bool:
        """Whether its arguments must fit one another, beyond being in their domains."""
        return bool(self.conditions) or self.check is not None

    def constant(self, *values: Any) -> float | None:
        """The one value of the law with such fixed arguments; None where it is not degenerate.

        Lists and matrices are nested tuples here, as for all functions that take `values`.
        """
        with np.errstate(all="ignore"):
            where, value = self._constants(self._arrays(values))
        return _number(value) if np.all(where) else None

    def support(self, *values: Any) -> tuple[float, float]:
        """The least interval, ends included, that holds all values of the law."""
        value = self.constant(*values)
        if value is not None:
            return (value, value)
        low, high = self._ends(self._arrays(values))
        return (_number(low), _number(high))

    def moment_order(self, *values: Any) -> float:
        """The order below which all moments exist, and from which on none does."""
        if self.constant(*values) is not None:
            return math.inf
        return float(self.moments(*values) if callable(self.moments) else self.moments)

    def draw_cost(self, shape: Shape) -> float:
        """Rough nanoseconds to draw an array of this shape."""
        if callable(self.nanoseconds):
            return self.nanoseconds(shape)
        return math.prod(shape) * self.nanoseconds

    def sample(self, generator: Generator, arguments: Arguments, shape: Shape, draws: int) -> Array:
        """Independent draws of the law; the state of the generator alone decides them.

        The arguments are in order, in their domains (see `argument_problem`), as float64 arrays
        that broadcast against the result without the law's own axes. The result has the shape
        `shape + (draws,)`, the law's own axes included: bool where it gives truths, else float64.
        """
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
            return np.where(np.isnan(x), np.nan, np.where(inside, values, -np.inf))

    def density(self, arguments: Arguments, x: Array) -> Array:
        """The density, or the probability where the law is discrete: exp of `log_density`."""
        with np.errstate(all="ignore"):
            return np.asarray(np.exp(self.log_density(arguments, x)))

    def _ends(self, arguments: Sequence[Any]) -> tuple[Any, Any]:
        return self.ends(*arguments) if callable(self.ends) else self.ends

    def _constants(self, arguments: Sequence[Any]) -> tuple[Any, Any]:
        if self.degenerate is not None:
            return self.degenerate(*arguments)
        low, high = self._ends(arguments)
        return np.equal(low, high), low

    def _arrays(self, values: tuple[Any, ...]) -> list[Any]:
        """Fixed arguments, lists and matrices among them as arrays."""
        return [
            np.asarray(value, dtype=np.float64)[..., np.newaxis] if parameter.axes else value
            for parameter, value in zip(self.parameters, values, strict=True)
        ]


def _number(value: Any) -> float:
    return float(np.asarray(value).item())


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


def domain_problem(parameter: LawParameter, value: float) -> str | None:
    """What keeps one number from being a value of the parameter, or None.

    >>> domain_problem(LawParameter("p", PROBABILITY), 1.2)
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
        # "n >= 0, and is inf" would puzzle: infinity is what is wrong with it
        rule = "be finite"
    else:
        # the limit of exact counting is news only to a value beyond it
        within = math.inf if limits.high == LARGEST_COUNT >= value else limits.high
        rule = f"satisfy {replace(limits, high=within).describe(name)}"
    return f"{name} must {rule}, and {is_or_holds} {plain(value)}"


def plain(value: float) -> str:
    """A number as people write it, all its digits kept.

    >>> plain(3.0), plain(0.1), plain(1e300)
    ('3', '0.1', '1e+300')
    """
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
