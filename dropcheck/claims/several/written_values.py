"""What one entry for a parameter stands for: a value, the values of a range, or a search."""

from __future__ import annotations

from dropcheck.claims.several.searches import is_search, one_spelling
from dropcheck.claims.several.value_ranges import RangeError, is_range, read_range
from dropcheck.claims.values import parse_value
from dropcheck.results import Value


def read_values(text: str) -> tuple[Value, ...]:
    """The values that a text stands for: those of a range, or one.

    Raises:
        ValueError: a predicate that the caller completes; a `RangeError` says what to do.

    >>> read_values("0.5"), read_values("1..3 by 1"), read_values("any in 0 .. 1")
    ((0.5,), (1.0, 2.0, 3.0), ('any in 0..1',))
    """
    if is_search(text):
        return (one_spelling(text),)
    return read_range(text).values() if is_range(text) else (parse_value(text),)


def read_value(text: str) -> Value:
    """The one value that a text stands for.

    Raises:
        ValueError: as `read_values`, and for a range.
    """
    values = read_values(text)
    if len(values) > 1:
        raise RangeError("is a range, which has several values", "give one of them")
    return values[0]


def count_values(text: str) -> int:
    """How many values a text stands for: those of a range, else 1; 1 where it cannot be read."""
    try:
        return read_range(text).count if is_range(text) and not is_search(text) else 1
    except RangeError:
        return 1
