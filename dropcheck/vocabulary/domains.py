"""Sets of numbers: hulls of values; and the parameters of laws, what they may be and are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dropcheck.vocabulary.function import Array

# ---- hulls ---------------------------------------------------------------------------------------
#
# Intervals that hold all values of a function, from the hulls of its arguments.
#
# A hull is closed and never too small. It may be too large if a quantity stands in an expression
# more than once (Moore 1966, "Interval Analysis", the dependency problem). Unbounded ends are
# infinite.


@dataclass(frozen=True, slots=True)
class Hull:
    """A closed interval that holds every value."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """The distance between the ends."""
        return self.high - self.low

    @property
    def bounded(self) -> bool:
        """Whether both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def nearest(self, number: float) -> float:
        """The number of the hull that is nearest to a number."""
        return min(max(number, self.low), self.high)  # NaN stays

    def common(self, other: Hull) -> Hull:
        """The intersection; this hull, if rounding made the intersection empty."""
        low, high = max(other.low, self.low), min(other.high, self.high)
        return Hull(low, high) if low <= high else self


EVERYWHERE = Hull(-math.inf, math.inf)
UNIT = Hull(0.0, 1.0)


def proper(hull: Hull) -> Hull:
    """The hull itself, or all numbers if an end is NaN or the ends are not in order."""
    return hull if hull.low <= hull.high else EVERYWHERE


LARGEST_COUNT = 2.0**53  # beyond it float64 no longer tells whole numbers apart

Condition = tuple[str, Callable[..., Any]] | Callable[..., str | None]
"""What must hold between the parameters of a law: a sentence, and a function that takes all
arguments in order, as arrays that broadcast, and returns where it holds. Or a function that takes
such arrays, each in its domain, and returns a sentence on what is wrong with them, or None."""


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
NOT_NEGATIVE = Domain(0.0, low_open=False)
POSITIVE = Domain(0.0)
ANGLE = Domain(-1e6, 1e6)  # in a larger angle, too few digits are left for the part of a turn
WHOLE = Domain(-LARGEST_COUNT, LARGEST_COUNT, low_open=False, high_open=False, whole=True)
COUNT = Domain(0.0, LARGEST_COUNT, low_open=False, high_open=False, whole=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """What a parameter is where a draw is loc + scale · z, and its value for z itself."""

    unit: float
    of_loc: float = 0.0  # loc is the sum of the arguments, each times its factor
    of_scale: float = 0.0  # the same of the scale, which is 1 if no argument has a part in it


LOC, SCALE = Role(unit=0.0, of_loc=1.0), Role(unit=1.0, of_scale=1.0)


@dataclass(frozen=True, slots=True)
class LawParameter:
    """One parameter of a law; `axes` is 0 for a number, 1 for a list, 2 for a matrix.

    A draw is loc + scale · z, where z depends on those parameters that have no role. `conditions`
    are what must hold between this parameter and those before it.
    """

    name: str
    domain: Domain
    axes: int = 0
    role: Role | None = None
    conditions: tuple[Condition, ...] = ()
    # whether a draw, of a law of numbers from 0 on, is the sum of draws for numbers that sum to it
    adds: bool = False
    knot: bool = False  # whether the density has a kink there


LOW = LawParameter("low", FINITE, role=Role(unit=0.0, of_loc=1.0, of_scale=-1.0))


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


def argument_problem(parameters: Sequence[LawParameter], arguments: Sequence[Array]) -> str | None:
    """A sentence on the first argument that does not fit the parameters of a law, or None.

    The arguments are in order, with draws last, as for `Law.sample`.

    >>> argument_problem([LawParameter("p", PROBABILITIES)], [np.array([0.5, 1.5])])
    'p must satisfy 0 <= p <= 1, and is 1.5'
    """
    with np.errstate(all="ignore"):
        for parameter, argument in zip(parameters, arguments, strict=True):
            outside = ~parameter.domain.holds(argument)
            if outside.any():
                return domain_problem(parameter, float(argument[outside][0]))
            if parameter.axes and (argument.ndim <= parameter.axes or not argument.size):
                kind = "list" if parameter.axes == 1 else "matrix"
                return f"{parameter.name} must be a {kind} of numbers that is not empty"
        conditions = [condition for parameter in parameters for condition in parameter.conditions]
        problems = (_condition_problem(one, parameters, arguments) for one in conditions)
        return next(filter(None, problems), None)


def _condition_problem(
    condition: Condition, parameters: Sequence[LawParameter], arguments: Sequence[Array]
) -> str | None:
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
        for parameter, argument in zip(parameters, arguments, strict=True)
    )
    return f"{text}, and it does not hold for {given}"
