"""A file without errors, read without pydantic, whose import takes longer than all the reading.

What is read here is what the schema would read, to the last bit; whatever is out of the ordinary
is left to the schema, which says what is wrong with it. A test holds the two together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from dropcheck.claims.values import parse_value

if TYPE_CHECKING:
    from dropcheck.claims.registry import Value
    from dropcheck.claims.schema import FileModel


class _UnusualError(ValueError):
    """Something to leave to the schema."""


def read_quickly(data: Mapping[str, Any]) -> FileModel | None:
    """What the schema's `FileModel` holds for a file, by the same names; None leaves it to that.

    >>> read_quickly({"claims": {"one": {"title": "One", "claim": "1 == 1"}}}).claims["one"].claim
    '1 == 1'
    >>> read_quickly({"claims": {"one": {"title": "One", "claim": 1}}}) is None
    True
    """
    try:
        read = _keys(data, _FILE, _NO_FILE, ("claims",))
    except (ValueError, OverflowError):
        return None
    return cast("FileModel", read) if read.claims else None


def _keys(
    data: Any,
    readers: Mapping[str, Callable[[Any], Any]],
    absent: Mapping[str, Any],
    needed: tuple[str, ...] = (),
) -> SimpleNamespace:
    """The known keys of a mapping, each read in its way, and what stands for those not there."""
    if not isinstance(data, dict) or not all(key in data for key in needed):
        raise _UnusualError
    found = dict(absent)
    for key, value in data.items():
        reader = readers.get(key)
        if reader is None:
            raise _UnusualError
        found[key] = reader(value)
    return SimpleNamespace(**found)


def _named(reader: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    def read(data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise _UnusualError
        return {name: reader(value) for name, value in data.items()}

    return read


def _text(data: Any) -> str:
    if not isinstance(data, str) or not data.strip():
        raise _UnusualError
    return data


def _line(data: Any) -> str:
    return " ".join(_text(data).split())


def _items(data: Any, reader: Callable[[Any], Any]) -> list[Any]:
    if not isinstance(data, list):
        raise _UnusualError
    return [reader(item) for item in data]


def _lines(data: Any) -> list[str]:
    return _items(data, _line)


def _texts(data: Any) -> list[str]:
    return _items([data] if isinstance(data, str) else data, _text)


def _is_number(data: Any) -> bool:
    return type(data) in (int, float)  # a truth value is an int to Python, and none here


def _value(data: Any) -> Value:
    if isinstance(data, str):
        return parse_value(data)
    if not _is_number(data) or not math.isfinite(data):
        raise _UnusualError
    return float(data) + 0.0


def _grid(data: Any) -> list[Value]:
    values = _items([data] if isinstance(data, str) or _is_number(data) else data, _value)
    if not values or len(set(values)) < len(values):
        raise _UnusualError
    return values


def _rows(data: Any) -> list[dict[str, Value]]:
    rows = _items(data, _named(_value))
    distinct = {frozenset(row.items()) for row in rows}
    if not all(rows) or not rows or len(distinct) < len(rows):
        raise _UnusualError
    return rows


def _positive(data: Any) -> float:
    if not _is_number(data) or not 0 < data < math.inf:
        raise _UnusualError
    return float(data)


def _share(data: Any) -> float:
    if not _is_number(data) or not 0 < data < 1:
        raise _UnusualError
    return float(data)


def _expected(data: Any) -> str:
    if data not in ("verified", "refuted"):
        raise _UnusualError
    return cast("str", data)


def _document(data: Any) -> SimpleNamespace:
    return _keys(data, _DOCUMENT, _NO_DOCUMENT, ("title",))


def _claim(data: Any) -> SimpleNamespace:
    return _keys(data, _CLAIM, _NO_CLAIM, ("title", "claim"))


def _defaults(data: Any) -> SimpleNamespace:
    return _keys(data, _DEFAULTS, _NO_DEFAULTS)


_DOCUMENT = {"title": _line, "date": _line, "url": _line}
_NO_DOCUMENT = {"date": None, "url": None}
_DEFAULTS = {
    "resolution": _positive,
    "within": _positive,
    "expect": _expected,
    "document": _text,
    "section": _line,
    "tags": _lines,
}
_NO_DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(_DEFAULTS),
    "resolution": 0.01,
    "expect": "verified",
    "tags": [],
}
_CLAIM = {
    **_DEFAULTS,
    "title": _line,
    "claim": _text,
    "model": _text,
    "parameters": _named(_grid),
    "cases": _rows,
    "requires": _texts,
    "tolerance": _share,
    "note": _text,
}
_NO_CLAIM: dict[str, Any] = {**dict.fromkeys(_CLAIM), "parameters": {}, "requires": []}
_FILE: dict[str, Callable[[Any], Any]] = {
    "dropcheck": lambda number: number,  # the reader has looked at it
    "documents": _named(_document),
    "defaults": _defaults,
    "claims": _named(_claim),
}
_NO_FILE: dict[str, Any] = {
    "documents": {},
    "defaults": SimpleNamespace(**_NO_DEFAULTS),
}
