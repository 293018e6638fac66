"""New figures in place of stale ones: which number an interval settles, and how it is printed."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

from dropcheck.documents.figures import FIGURE, GROUP, MINUS
from dropcheck.errors import Location
from dropcheck.records import dataclass
from dropcheck.results import Written

_FIGURE = re.compile(rf"(?P<sign>[{MINUS}])?{FIGURE}")
_GROUP = re.compile(GROUP)
# So near to the edge between two figures, in units of the last digit, none is taken: values are
# float64, and the edge belongs to both.
_NEAREST = Decimal("1e-6")


@dataclass(frozen=True, slots=True)
class UnfitError(Exception):
    """Why a figure cannot be written anew: a clause."""

    why: str


@dataclass(frozen=True, slots=True)
class Mend:
    """A new text in place of a figure."""

    written: Written
    digits: Decimal
    text: str


@dataclass(frozen=True, slots=True)
class Left:
    """What did not pass and is left as it is, and why."""

    location: Location
    figure: str  # as it is printed; empty where the mark speaks of none
    claim: str
    why: str


def settled(interval: tuple[float | None, float | None], unit: Decimal) -> Decimal | None:
    """The number that both ends of an interval are rounded to; None where there is no such.

    >>> settled((0.4496, 0.4504), Decimal("0.01")), settled((0.4449, 0.4504), Decimal("0.01"))
    (Decimal('0.45'), None)
    >>> settled((0.125, 0.125), Decimal("0.01")) is None
    True
    """
    low, high = interval
    if low is None or high is None:
        return None
    digits = rounded(low, unit)
    near = unit * (Decimal("0.5") - _NEAREST)
    return digits if all(abs(Decimal(end) - digits) < near for end in (low, high)) else None


def rounded(value: float, unit: Decimal) -> Decimal:
    """A value to a multiple of a unit.

    >>> rounded(0.4142, Decimal("0.01")), rounded(-1234.5, Decimal("1"))
    (Decimal('0.41'), Decimal('-1234'))
    """
    with localcontext() as context:
        context.prec = 400  # a float64 has 309 digits before the point
        return (Decimal(value) / unit).to_integral_value(ROUND_HALF_EVEN) * unit


def mend_of(written: Written, digits: Decimal) -> Mend:
    r"""A figure as it is to be printed: sign, separators, exponent and percent as before.

    Args:
        written: the figure that stands there.
        digits: the new number, a multiple of its unit.

    Raises:
        UnfitError: it cannot be printed in the same style.
    """
    found = _FIGURE.fullmatch(written.text)
    if found is None or not found["number"] or written.digits is None or written.unit is None:
        raise UnfitError("it is not printed as a plain number")
    number = found["number"]
    places = len(number.partition(".")[2])
    power = written.unit.adjusted() + places
    old, new = (abs(value).scaleb(-power) for value in (written.digits, digits))
    if (found["sign"] is not None) != (digits < 0):
        raise UnfitError("its sign would change")
    with_power = any(found[name] for name in ("e", "power", "raised"))
    if with_power and 1 <= old < 10 and not 1 <= new < 10:
        raise UnfitError("it would need another power of ten")
    whole, _, decimals = f"{new:.{places}f}".partition(".")
    group = _GROUP.search(number)
    if group is not None:
        whole = _grouped(whole, group.group())
    if number.startswith(".") and whole == "0":
        whole = ""
    point = f".{decimals}" if decimals else ""
    text = f"{found['sign'] or ''}{whole}{point}{written.text[found.end('number') :]}"
    return Mend(written, digits, text)


def _grouped(whole: str, separator: str) -> str:
    """The digits of a whole number in groups of three.

    >>> _grouped("1234567", ","), _grouped("123", ",")
    ('1,234,567', '123')
    """
    first = len(whole) % 3 or 3
    rest = (whole[at : at + 3] for at in range(first, len(whole), 3))
    return separator.join((whole[:first], *rest))
