"""Searches: `p: any in 0..1` stands for all numbers between, some of which are tried.

A search is stored as the text of a parameter's value, in one spelling. This module has the
arithmetic of which numbers are tried, and which of two is simpler.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache

from dropcheck.claims.several import value_ranges
from dropcheck.claims.several.value_ranges import Range, RangeError, is_range, read_ends, read_range
from dropcheck.claims.values import format_value, parse_value
from dropcheck.records import record
from dropcheck.results import ParameterValue

WRITTEN = "write any in 0..1, or any in 16..1024 by x2"
DIGITS = 4  # significant digits of a number that is tried, so that messages can quote it
MOST_CORNERS = 16  # four parameters
# The share of a range at which a claim is checked before any search. At most round numbers,
# different formulas may agree.
_MIDDLE = 0.37
# One value in three is between a hundredth and all of the range away from the lower end, uniform in
# its logarithm, and one in three from the upper end. Still nearer, probabilities are too small to
# be seen at a relative resolution; the ends themselves are corners.
_NEAR = 2.0

_SEARCH = re.compile(r"\s*any\s+in\s+(.*)", re.DOTALL)
_BEGINS = re.compile(r"\s*any\b")
# The ends in other notations: `any in [0, 1]`, `any from 0 to 1`, `any 0..1`.
_OTHER_ENDS = (  # compiled only when it is used, which is seldom
    rf"\s*any(?:\s+(?:in|of|from|between))?\s*[\[(]?\s*(?P<low>{value_ranges.NUMBER})"
    rf"\s*(?:,|\.\.\.?|-|to|and)\s*(?P<high>{value_ranges.NUMBER})\s*[\])]?\s*"
)


@record
class Search:
    """The numbers that may be tried: those from `low` to `high`, or those of a range."""

    low: float
    high: float
    steps: tuple[float, ...] = ()  # the values of a range; empty if any number may be tried
    in_integers: bool = False  # whether only whole numbers may be tried

    @property
    def whole(self) -> bool:
        """Whether whole numbers may be meant: both ends are whole, and some lie between."""
        ends = self.low % 1 == 0 and self.high % 1 == 0
        return not self.steps and ends and self.high - self.low >= 2

    def in_whole_numbers(self) -> Search:
        """The same search, of whole numbers only."""
        return Search(self.low, self.high, in_integers=True)

    @property
    def count(self) -> int | None:
        """How many numbers there are; None if they are not countable."""
        if self.in_integers:
            return int(min(self.high - self.low, 2.0**53)) + 1
        return len(self.steps) or None

    def near(self, value: float) -> float:
        """The number to try near a value: the nearest one, with few digits."""
        if self.steps:
            return min(self.steps, key=lambda step: abs(step - value))
        shown = float(round(value)) if self.in_integers else float(f"{value:.{DIGITS}g}")
        return min(max(shown, self.low), self.high)

    def at(self, place: float, way: float) -> float:
        """A number to try, from two shares between 0 and 1.

        `way` chooses among an even distribution and those towards one end; `place` is the share
        within it.

        >>> Search(0.0, 2.0).at(0.5, 0.0), Search(0.0, 2.0).at(0.5, 0.5), Search(0.0, 2.0).at(1, 1)
        (1.0, 0.2, 1.98)
        """
        if self.steps:
            return self.steps[min(int(place * len(self.steps)), len(self.steps) - 1)]
        width = self.high - self.low
        if way < 1 / 3:
            return self.near(self.low + width * place)
        close = width * 10 ** (-_NEAR * place)
        return self.near(self.low + close if way < 2 / 3 else self.high - close)


def is_search(value: ParameterValue) -> bool:
    """Whether a parameter's value is a search.

    >>> is_search("any in 0..1"), is_search("normal(0, 1)"), is_search(0.5)
    (True, False, False)
    """
    return isinstance(value, str) and _BEGINS.match(value) is not None


@lru_cache(maxsize=1000)
def read_search(text: str) -> Search:
    """Read a search.

    Raises:
        RangeError: a predicate that the caller completes, with a hint.
    """
    try:
        return _search(_range_of(text))
    except RangeError as error:
        if error.meant is not None:
            raise RangeError(str(error), f"write any in {error.meant}") from None
        hint = WRITTEN if error.hint == value_ranges.WRITTEN else error.hint
        raise RangeError(str(error), hint) from None


def one_spelling(text: str) -> str:
    """The text of a search in one spelling.

    Raises:
        RangeError: as in `read_search`.

    >>> one_spelling("any  in 0 .. 1"), one_spelling("any in 16..1024 by x 2")
    ('any in 0..1', 'any in 16..1024 by x2')
    """
    read_search(text)
    low, high, step = _parts(_range_of(text))
    return f"any in {low}..{high}{step}"


def _range_of(text: str) -> str:
    found = _SEARCH.fullmatch(text)
    if found is None or ".." not in found[1]:
        ends = re.fullmatch(_OTHER_ENDS, text)
        meant = None if ends is None else f"{ends['low']}..{ends['high']}"
        raise RangeError("is not a search", WRITTEN, meant=meant)
    return found[1]


def _search(text: str) -> Search:
    if re.search(r"\sby\s", text):
        steps = read_range(text).values()
        return Search(steps[0], steps[-1], steps)
    low, high = map(float, read_ends(text))
    if math.isinf(high - low):
        raise RangeError("is wider than numbers are large", "write a narrower range")
    return Search(low + 0.0, high + 0.0)


def _parts(text: str) -> tuple[str, str, str]:
    if re.search(r"\sby\s", text):
        parsed: Range = read_range(text)
        step = f" by {'x' if parsed.times else ''}{_short(parsed.step)}"
        return _short(parsed.low), _short(parsed.high), step
    low, high = read_ends(text)
    return _short(low), _short(high), ""


def _short(number: Decimal) -> str:
    return format_value(float(number) + 0.0)


# ---- several parameters at once ------------------------------------------------------------------

Searches = Mapping[str, Search]
SearchPoint = Mapping[str, float]


def searched_in(parameters: Mapping[str, ParameterValue]) -> dict[str, Search]:
    """The parameters of a case that are searched."""
    return {
        name: read_search(value)
        for name, value in parameters.items()
        if isinstance(value, str) and is_search(value)
    }


def corners(searches: Searches) -> Iterator[SearchPoint]:
    """The points at which every parameter is at an end, at most `MOST_CORNERS`.

    >>> [*corners({"p": Search(0.0, 1.0)})]
    [{'p': 0.0}, {'p': 1.0}]
    """
    ends = ((one.low, one.high) for one in searches.values())
    for values in itertools.islice(itertools.product(*ends), MOST_CORNERS):
        yield dict(zip(searches, values, strict=True))


def spread(searches: Searches, most: int) -> Iterator[SearchPoint]:
    """Points that fill the space evenly; the first ones are not round numbers.

    Additive recurrence in d dimensions by powers of the root of x^(d + 1) = x + 1, the golden ratio
    for d = 1 (M. Roberts, The unreasonable effectiveness of quasirandom sequences, 2018).

    >>> [point["p"] for point in spread({"p": Search(0.0, 1.0)}, 3)]
    [0.37, 0.988, 0.6061]
    """
    golden = 2.0
    for _ in range(60):
        golden = (1 + golden) ** (1 / (len(searches) + 1))
    for index in range(most):
        point = {}
        for place, (name, search) in enumerate(searches.items(), start=1):
            share = (_MIDDLE + index * golden**-place) % 1
            point[name] = search.at(share, 0.0)
        yield point


def every_point(searches: Searches, most: int) -> tuple[SearchPoint, ...] | None:
    """All points, the simplest first; None if there are more than `most` or uncountably many."""
    total = 1
    for one in searches.values():
        total *= one.count or most + 1
        if total > most:
            return None
    lists = (
        one.steps or tuple(one.low + step for step in range(one.count or 0))
        for one in searches.values()
    )
    points = (dict(zip(searches, values, strict=True)) for values in itertools.product(*lists))
    return tuple(sorted(points, key=lambda point: sorted(map(complexity, point.values()))[::-1]))


# ---- which of two values is simpler --------------------------------------------------------------


def complexity(value: float) -> tuple[int, float, bool]:
    """A key that sorts simple numbers first: few decimals, then small, then not negative.

    >>> sorted([0.25, -1.0, 10.0, 0.5, 1.0, 0.0, 0.1], key=complexity)
    [0.0, 1.0, -1.0, 10.0, 0.1, 0.5, 0.25]
    """
    return _decimals(value), abs(value), value < 0


def _decimals(value: float) -> int:
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def simpler(search: Search, value: float) -> tuple[float, ...]:
    """The numbers of a search that are simpler than `value`, the simplest first.

    The candidates are round numbers, the ends, and neighbours with fewer decimals.

    >>> simpler(Search(0.0, 1.0), 0.37)
    (0.0, 1.0, 0.2, 0.3, 0.4)
    """
    if search.steps:
        candidates: set[float] = set(search.steps)
    else:
        candidates = {0.0, 1.0, -1.0, search.low, search.high}
        for digits in range(_decimals(value)):
            unit = Decimal(1).scaleb(-digits)
            down = Decimal(repr(value)) // unit * unit
            candidates |= {float(down + step * unit) + 0.0 for step in (-1, 0, 1)}
    within = {
        one for one in candidates if search.low <= one <= search.high and search.near(one) == one
    }
    below = (one for one in within if complexity(one) < complexity(value))
    return tuple(sorted(below, key=complexity))


def between(near: float, far: float) -> float | None:
    """A number half-way from `near` to `far`, with the decimals of `far`; None if there is none.

    >>> between(0.0, 0.8), between(0.0, 0.1), between(3.0, 10.0), between(3.0, 4.0)
    (0.4, None, 6.0, None)
    """
    unit = _unit(far)
    low, high = Decimal(repr(near)), Decimal(repr(far))
    steps = int(((high - low) / unit) / 2)  # towards 0: never the far end itself
    middle = float(low + steps * unit) + 0.0 if steps else near
    return middle if middle not in (near, far) else None


def beside(value: float, far: float) -> float:
    """The next number on the way to `far`, with the decimals of `far`.

    >>> beside(0.4, 0.8), beside(3.0, -2.0)
    (0.5, 2.0)
    """
    step = _unit(far) if far > value else -_unit(far)
    return float(Decimal(repr(value)) + step) + 0.0


def _unit(value: float) -> Decimal:
    return Decimal(1).scaleb(-_decimals(value))


# ---- the values that one text stands for ---------------------------------------------------------


def read_values(text: str) -> tuple[ParameterValue, ...]:
    """The values that a text stands for: those of a range, or a single one.

    Raises:
        ValueError: a predicate that the caller completes; a `RangeError` has a hint.

    >>> read_values("0.5"), read_values("1..3 by 1"), read_values("any in 0 .. 1")
    ((0.5,), (1.0, 2.0, 3.0), ('any in 0..1',))
    """
    if is_search(text):
        return (one_spelling(text),)
    return read_range(text).values() if is_range(text) else (parse_value(text),)


def read_value(text: str) -> ParameterValue:
    """The single value that a text stands for.

    Raises:
        ValueError: as in `read_values`, and for a range.
    """
    values = read_values(text)
    if len(values) > 1:
        raise RangeError("is a range, which has several values", "give one of them")
    return values[0]


def count_values(text: str) -> int:
    """How many values a text stands for; 1 if it cannot be read."""
    try:
        return read_range(text).count if is_range(text) and not is_search(text) else 1
    except RangeError:
        return 1
