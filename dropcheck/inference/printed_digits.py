"""Printed figures near an edge of their rounding: how near, and which digits to print instead.

A figure is claimed to within half a unit of its last digit, and a range is verified beyond its ends
by a tenth of its half-width at most (`region.widening`). So a value in the middle takes an interval
of about half a unit to be verified. A value at the edge takes one of a twentieth of that, with
hundreds of times the draws, and a value just beyond the edge takes still more.
"""

from __future__ import annotations

from decimal import Decimal

from dropcheck.results import Edge, Exact, Region, Verdict, Written

# How far a range is widened, a tenth of half a unit: there the draws grow without bound.
NEAR = Decimal("0.05")
# An interval that is nearer to one edge than this reaches neither the middle of the range nor the
# other edge: if it is still undecided, that is because of this edge.
SEEN = Decimal("0.5")
# Digits fewer, and digits more, that may be printed.
FEWER = (1, 2)
MORE = (1, 2, 3)


def near_edge(written: Written, low: Decimal, high: Decimal, most: Decimal = NEAR) -> Edge | None:
    """What to print instead of a figure whose value lies near an edge of its rounding.

    Args:
        written: a figure that is claimed by its rounding.
        low: the least that its value may be.
        high: the most.
        most: units of the last printed digit; the edge is near where all between `low` and `high`
            is so near to one of the two.

    Returns:
        None where it is not near.

    >>> from dropcheck.errors import Location
    >>> figure = Written(text="0.946", start=Location(""), end=Location(""), rounded=True,
    ...                  digits=Decimal("0.946"), unit=Decimal("0.001"))
    >>> near_edge(figure, Decimal("0.94551"), Decimal("0.94551")).instead
    (Decimal('0.95'), Decimal('0.9455'))
    """
    digits, unit = written.digits, written.unit
    if not written.rounded or digits is None or unit is None:
        return None
    away = min(
        max(abs(low - edge), abs(high - edge)) / unit
        for edge in (digits - unit / 2, digits + unit / 2)
    )
    if away > most:
        return None
    # "100" is not read as a number of one digit, nor "90%"
    coarsest = max(unit, Decimal("0.01") if written.percent else Decimal(1))
    units = (unit.scaleb(more) for more in FEWER)
    fewer = (_printed(low, high, one) for one in units if one <= min(coarsest, abs(digits)))
    finer = (_printed(low, high, unit.scaleb(-more)) for more in MORE)
    firsts = (next((one for one in each if one is not None), None) for each in (fewer, finer))
    return Edge(away=float(away), instead=tuple(one for one in firsts if one is not None))


def _printed(low: Decimal, high: Decimal, unit: Decimal) -> Decimal | None:
    """A value between two ends in such units; None where it is 0, or near an edge again."""
    middle = ((low + high) / 2 / unit).to_integral_value() * unit
    inside = all(abs(end - middle) <= (Decimal("0.5") - NEAR) * unit for end in (low, high))
    return middle if middle and inside else None


def edge_of(
    written: Written | None,
    region: Region | None,
    verdict: Verdict,
    exact: Exact | None,
    interval: tuple[float, float] | None,
) -> Edge | None:
    """What keeps an undecided case open, where that is the edge of a figure's rounding."""
    if written is None or region is None or verdict is not Verdict.INCONCLUSIVE:
        return None
    if not claims_rounding(written, region):
        return None
    if exact is not None:
        return edge_of_exact(written, exact)
    if interval is None or not all(map(_plain, interval)):
        return None
    low, high = map(Decimal, interval)
    return near_edge(written, low, high, SEEN)


def edge_of_exact(written: Written, exact: Exact) -> Edge | None:
    """What to print instead, where the model gives the value."""
    if not (_plain(exact.value) and _plain(exact.error)):
        return None
    value, error = Decimal(exact.value), Decimal(exact.error)
    return near_edge(written, value - error, value + error)


def claims_rounding(written: Written, region: Region) -> bool:
    """Whether a region is that of a figure's rounding: a changed statement has another."""
    if not written.rounded or written.digits is None or written.unit is None:
        return False
    half = written.unit / 2
    ends = float(written.digits - half), float(written.digits + half)
    return ends == (region.low, region.high)


def _plain(value: float) -> bool:
    return abs(value) < 1e300  # neither infinite nor NaN
