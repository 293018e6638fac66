"""The values that the parameters of laws may take."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dropcheck.records import record

LARGEST_COUNT = 2.0**53  # beyond it float64 no longer tells whole numbers apart


@record
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


@record
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
