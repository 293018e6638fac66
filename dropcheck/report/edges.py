"""Printed figures near an edge of their rounding, in words, and what to print instead."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

from dropcheck.report import numbers
from dropcheck.results import CaseResult, Edge, Verdict, Written

# A value is at most half a unit away from an edge: beyond half of that it is not near.
_FAR = 0.25
# This close to the edge between two figures, in units of the last digit, none is named: values are
# float64, and the edge belongs to both figures.
_NEAREST = Decimal("1e-6")


def where(edge: Edge) -> str:
    """How near the edge is.

    >>> where(Edge(away=0.0081, instead=())), where(Edge(away=0.0, instead=()))
    ('within 0.01 of a unit of the edge of its rounding', 'at the edge of its rounding')
    >>> where(Edge(away=0.49, instead=()))
    'draws leave both sides of an edge of its rounding possible'
    """
    if edge.away > _FAR:
        return "draws leave both sides of an edge of its rounding possible"
    if edge.away < 1e-9:  # within the rounding of float64
        return "at the edge of its rounding"
    away = math.ceil(100 * edge.away - 1e-6) / 100  # rounding must not reach the next hundredth
    return f"within {away:g} of a unit of the edge of its rounding"


def remedy(edge: Edge, written: Written) -> str:
    """Which digits to print, in the form that the figure has: `print 41% or 41.42%`."""
    if not edge.instead:
        return "print more digits"
    shown = (
        f"{numbers.printed(one.scaleb(2))}%" if written.percent else numbers.printed(one)
        for one in edge.instead
    )
    return f"print {' or '.join(shown)}"


def advice(edge: Edge, written: Written) -> str:
    """`within 0.01 of a unit of the edge of its rounding: print 0.95 or 0.9455`."""
    return f"{where(edge)}: {remedy(edge, written)}"


def instead(case: CaseResult) -> str | None:
    """The digits to write in place of a refuted figure; None where no interval settles them all."""
    written = case.written
    if case.verdict is not Verdict.REFUTED or written is None or not written.rounded:
        return None
    ends = case.interval
    if case.exact is not None:
        ends = case.exact.value - case.exact.error, case.exact.value + case.exact.error
    if written.unit is None or ends is None or None in ends:
        return None
    digits = settled((float(ends[0] or 0.0), float(ends[1] or 0.0)), written.unit)
    if digits is None:
        return None
    return f"{numbers.printed(digits.scaleb(2))}%" if written.percent else numbers.printed(digits)


def settled(interval: tuple[float, float], unit: Decimal) -> Decimal | None:
    """The number to which both ends of an interval round; None if they round to different ones.

    >>> settled((0.4496, 0.4504), Decimal("0.01")), settled((0.4449, 0.4504), Decimal("0.01"))
    (Decimal('0.45'), None)
    >>> settled((0.125, 0.125), Decimal("0.01")) is None
    True
    """
    with localcontext() as context:
        context.prec = 400  # a float64 has 309 digits before the point
        digits = (Decimal(interval[0]) / unit).to_integral_value(ROUND_HALF_EVEN) * unit
        near = unit * (Decimal("0.5") - _NEAREST)
        return digits if all(abs(Decimal(end) - digits) < near for end in interval) else None
