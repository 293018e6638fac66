"""Printed figures near an edge of their rounding, in words, and what to print instead."""

from __future__ import annotations

import math

from dropcheck.report import numbers
from dropcheck.results import Edge, Written

# A value is at most half a unit away from an edge: beyond half of that it is not near.
_FAR = 0.25


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
