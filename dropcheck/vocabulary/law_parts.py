"""What the entries of `laws` are made of: domains, conditions between parameters, a builder."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dropcheck.records import dataclass
from dropcheck.vocabulary.entries import Domain, Law, LawParameter, Shape

LARGEST_COUNT = 2.0**53  # beyond it float64 no longer tells whole numbers apart
PROBABILITY_SUM_TOLERANCE = 1e-9

FINITE = Domain()
ANY = Domain(low_open=False, high_open=False)  # infinite too: the ends of a truncation
PROBABILITY = Domain(0.0, 1.0, low_open=False, high_open=False)
POSITIVE_PROBABILITY = Domain(0.0, 1.0, high_open=False)
NOT_NEGATIVE = Domain(0.0, low_open=False)
POSITIVE = Domain(0.0)
WHOLE = Domain(-LARGEST_COUNT, LARGEST_COUNT, low_open=False, high_open=False, whole=True)
COUNT = Domain(0.0, LARGEST_COUNT, low_open=False, high_open=False, whole=True)

Number = float
Numbers = tuple[float, ...]
Matrix = tuple[Numbers, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold between the parameters of a law.

    `holds` takes all arguments in order, as plain numbers or as numpy arrays that broadcast: it
    is made of comparisons, `&` and `|` alone, so that it serves both. `parameter` is the one to
    name where it is broken.
    """

    text: str
    parameter: str
    holds: Callable[..., Any]


def nothing(*_: Any) -> None:
    """The constant of a law that is never degenerate."""


def all_orders(*_: Any) -> float:
    """The moments of a law that has them all."""
    return math.inf


def whole_line(*_: Any) -> tuple[float, float]:
    """The support of a law that can take any value."""
    return (-math.inf, math.inf)


def positive_half_line(*_: Any) -> tuple[float, float]:
    """The support of a law of positive numbers."""
    return (0.0, math.inf)


def unit_interval(*_: Any) -> tuple[float, float]:
    """The support of a law of shares."""
    return (0.0, 1.0)


def at_zero(scale_index: int, value_index: int | None = None) -> Callable[..., float | None]:
    """The constant of a law that collapses where the argument at `scale_index` is 0.

    It collapses to the argument at `value_index`, or to 0 where that is None.
    """

    def constant(*values: float) -> float | None:
        if values[scale_index] != 0:
            return None
        return 0.0 if value_index is None else float(values[value_index])

    return constant


def law(
    name: str,
    summary: str,
    *parameters: LawParameter,
    hull: Callable[..., tuple[float, float]],
    discrete: bool = False,
    constant: Callable[..., float | None] = nothing,
    moments: Callable[..., float] = all_orders,
    conditions: tuple[Condition, ...] = (),
    joint: Callable[..., str | None] | None = None,
    own_axes: Callable[[tuple[Shape, ...], tuple[Any, ...]], Shape] | None = None,
) -> Law:
    """A law whose support and moments take its degenerate cases into account.

    `hull` and `moments` are asked only where `constant` says that the law is not degenerate.
    """

    def support(*values: Any) -> tuple[float, float]:
        value = constant(*values)
        return hull(*values) if value is None else (value, value)

    def orders(*values: Any) -> float:
        return moments(*values) if constant(*values) is None else math.inf

    if conditions:
        CONDITIONS[name] = conditions
        names = tuple(parameter.name for parameter in parameters)

        def joint(*values: Any) -> str | None:
            return broken(conditions, names, values)

    return Law(name, parameters, summary, discrete, support, orders, constant, joint, own_axes)


CONDITIONS: dict[str, tuple[Condition, ...]] = {}
"""The conditions of each law whose arguments are numbers, for checking whole arrays of them."""


def broken(
    conditions: tuple[Condition, ...], names: tuple[str, ...], values: tuple[Any, ...]
) -> str | None:
    """The message of the first condition that plain values break."""
    for condition in conditions:
        if not condition.holds(*values):
            given = ", ".join(
                f"{name} = {plain(value)}" for name, value in zip(names, values, strict=True)
            )
            return f"{condition.text}, and it does not hold for {given}"
    return None


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
    limits = Domain(domain.low, domain.high, domain.low_open, domain.high_open)
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
