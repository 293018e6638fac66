"""New figures for stale ones: the number that an interval determines, and how it is written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

from dropcheck.claims.yaml_places import BYTE_ORDER_MARK, LINE_END
from dropcheck.documents.marks import FIGURE, GROUP, MINUS, is_power
from dropcheck.documents.notebook_source import place_in_file
from dropcheck.errors import Location
from dropcheck.records import record
from dropcheck.results import Written

_FIGURE = re.compile(rf"(?P<sign>[{MINUS}])?{FIGURE}")
_GROUP = re.compile(GROUP)
# This close to the edge between two figures, in units of the last digit, none is chosen: values
# are float64, and the edge belongs to both figures.
_NEAREST = Decimal("1e-6")


@record
class UnfitError(Exception):
    """Why a figure cannot be rewritten, as a clause."""

    why: str


@record
class NewFigure:
    """A new text for a figure."""

    written: Written
    digits: Decimal
    text: str


@record
class Left:
    """A figure that failed and is left as it is, and why."""

    location: Location
    figure: str  # as printed; empty if the mark is about none
    claim: str
    why: str


def settled(interval: tuple[float | None, float | None], unit: Decimal) -> Decimal | None:
    """The number to which both ends of an interval round; None if they round to different ones.

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
    """A value rounded to a multiple of `unit`.

    >>> rounded(0.4142, Decimal("0.01")), rounded(-1234.5, Decimal("1"))
    (Decimal('0.41'), Decimal('-1234'))
    """
    with localcontext() as context:
        context.prec = 400  # a float64 has 309 digits before the point
        return (Decimal(value) / unit).to_integral_value(ROUND_HALF_EVEN) * unit


def new_figure(written: Written, digits: Decimal) -> NewFigure:
    r"""A figure in its old style: sign, separators, exponent and percent sign as before.

    Args:
        written: the old figure.
        digits: the new number, a multiple of its unit.

    Raises:
        UnfitError: the new number does not fit the style.
    """
    found = _FIGURE.fullmatch(written.text)
    if found is None or not found["number"] or written.digits is None or written.unit is None:
        raise UnfitError("it is not printed as a plain number")
    if is_power(found):
        raise UnfitError("it is a power of ten alone")
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
        whole = f"{int(whole):,}".replace(",", group.group())
    if number.startswith(".") and whole == "0":
        whole = ""
    point = f".{decimals}" if decimals else ""
    text = f"{found['sign'] or ''}{whole}{point}{written.text[found.end('number') :]}"
    return NewFigure(written, digits, text)


# ---- the bytes of a document ---------------------------------------------------------------------


def edited(data: bytes, figures: Iterable[NewFigure]) -> bytes:
    """The bytes of a document with new figures; everything else is kept.

    Args:
        data: the bytes that were read, in UTF-8.
        figures: the new figures; `stands` is true of each.
    """
    text = data.decode("utf-8")
    changes = []
    for figure in figures:
        span = _span(text, figure.written)
        assert span is not None
        changes.append((*span, _spelled(figure.text, figure.written.start)))
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(changes):
        parts += [text[at:start], new]
        at = end
    return "".join((*parts, text[at:])).encode("utf-8")


def stands(data: bytes, written: Written) -> bool:
    """Whether a figure is in the file character by character, without entities or escapes."""
    return _span(data.decode("utf-8"), written) is not None


def _span(text: str, written: Written) -> tuple[int, int] | None:
    """Where a figure begins and ends in the text of a file; None if it is spelled otherwise."""
    spelled = _spelled(written.text, written.start)
    at = _offset(text, written.start)
    if at is None or not text.startswith(spelled, at):
        return None
    return at, at + len(spelled)


def _spelled(text: str, place: Location) -> str:
    """A text as the file spells it: in a notebook, as part of a JSON string."""
    return text if place.cell is None else json.dumps(text, ensure_ascii=False)[1:-1]


def _offset(text: str, place: Location) -> int | None:
    """The index of a place in the text of a file; places do not count a byte order mark."""
    assert place.line is not None
    assert place.column is not None
    skipped = len(text) - len(text.removeprefix(BYTE_ORDER_MARK))
    if place.cell is not None:
        at = place_in_file(text[skipped:], place.cell.number, place.line, place.column)
        return None if at is None else skipped + at
    starts = [skipped, *(found.end() for found in LINE_END.finditer(text))]
    return starts[place.line - 1] + place.column - 1
