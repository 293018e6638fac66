"""Kinds of values: their name in messages, their JSON Schema, and how they are read.

A wrong value is reported and read as None; a file with any reported problem is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from dropcheck.claims.nodes import (
    Broken,
    Entry,
    Listing,
    Scalar,
    Tree,
    YamlNode,
    shown,
    source_text,
)
from dropcheck.claims.registry import SourceText
from dropcheck.claims.source import LineColumn, Problems
from dropcheck.claims.values import format_value, parse_number, percentage
from dropcheck.errors import suggestion
from dropcheck.records import record

Schema = dict[str, Any]

_YEAR = re.compile(r"[1-9]\d{3}")

LARGEST_NUMBER = 1.7976931348623157e308  # the largest float64; `.inf` is larger
MAPPING = "a mapping of names to values"
NOT_EMPTY = "leave it out, or put something in"


@record
class KeyKind:
    """A kind of value.

    `read` returns the value or raises a `WrongError`. Errors inside a list or a mapping are
    reported instead.
    """

    holds: str  # its name in messages and documentation: "a number greater than 0"
    schema: Schema
    read: Callable[[Field], Any]


@record
class Field:
    """A value in a file, its name in messages, and the place of its key."""

    node: YamlNode
    name: str
    report: Problems
    key_start: LineColumn | None = None

    def under(self, entry: Entry, name: str) -> Field:
        """The field of a value in this mapping."""
        return Field(entry.node, name, self.report, entry.key_start)

    def read_items(self, item: KeyKind) -> tuple[Any, ...]:
        """The values of the items of this list."""
        assert isinstance(self.node, Listing)
        name = f"an item of {self.name}"
        return tuple(read(item, Field(one, name, self.report)) for one in self.node.items)

    def refuse(self, says: str, hint: str | None = None) -> None:
        """Report an error in the value; `says` continues the field's name."""
        node = self.node
        long_or_absent = not isinstance(node, Scalar) or node.value is None
        at = self.key_start if long_or_absent and self.key_start is not None else node.start
        self.report.add(at, f"{self.name} {says}", hint)

    def wrong_kind(self, holds: str, hint: str | None = None) -> WrongError:
        """The error for a value that is not what `holds` says."""
        return WrongError(f"must be {holds}, and is {shown(self.node)}", hint)


class WrongError(Exception):
    """A wrong value: what the message says after the field's name, and a hint."""

    def __init__(self, says: str, hint: str | None = None) -> None:
        super().__init__(says)
        self.says, self.hint = says, hint


def read(kind: KeyKind, field: Field, if_absent: str | None = None) -> Any:
    """The value of a field; None if it is wrong, which is reported."""
    node = field.node
    if isinstance(node, Broken):  # reported already
        return None
    if isinstance(node, Scalar) and node.value is None:
        field.refuse("has no value", if_absent or "leave it out, or give it one")
        return None
    try:
        return kind.read(field)
    except WrongError as wrong:
        field.refuse(wrong.says, wrong.hint)
        return None


# ---- single values -------------------------------------------------------------------------------


def text(holds: str = "text", hint: str | None = None, tidy: Callable[[str], str] = str) -> KeyKind:
    """Text that is not blank, changed by `tidy`. `hint` replaces the advice to quote a number."""

    def read_text(field: Field) -> str:
        node = field.node
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            quoted = f"put it in quotes: '{node.text[:40]}'" if isinstance(node, Scalar) else None
            raise field.wrong_kind(holds, hint or quoted)
        if not node.value.strip():
            raise WrongError("must not be empty")
        return tidy(node.value)

    schema = {"type": "string", "pattern": r"\S", "patternErrorMessage": "this must not be empty"}
    return KeyKind(holds, schema, read_text)


def date() -> KeyKind:
    """Text, or a bare year, which YAML reads as a number."""
    plain = text()

    def read_date(field: Field) -> str:
        node = field.node
        if isinstance(node, Scalar) and isinstance(node.value, int) and _YEAR.fullmatch(node.text):
            return node.text
        written: str = plain.read(field)
        return " ".join(written.split())

    year = {"type": "integer", "minimum": 1000, "maximum": 9999}
    return KeyKind("text", {"anyOf": [plain.schema, year]}, read_date)


def expression(holds: str = "text", hint: str | None = None) -> KeyKind:
    """Text in the language: it is parsed later, and keeps its places in the file."""
    plain = text(holds, hint)

    def read_expression(field: Field) -> SourceText:
        plain.read(field)
        assert isinstance(field.node, Scalar)
        return source_text(field.node, field.report.source)

    return KeyKind(holds, plain.schema, read_expression)


def number(
    holds: str = "a number greater than 0",
    below: float = math.inf,
    if_larger: str | None = None,
    of_percentage: str = "write {}",
) -> KeyKind:
    """A number between 0 and `below`, both excluded.

    `if_larger` is the hint for a number that is not below, `of_percentage` the one for `2%`.
    """

    def read_number(field: Field) -> float:
        value = field.node.value if isinstance(field.node, Scalar) else None
        if isinstance(value, str):
            raise field.wrong_kind(holds, in_place_of(value))
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise field.wrong_kind(holds)
        if not 0 < value < below:
            raise field.wrong_kind(holds, if_larger if value >= below else None)
        return float(value)

    def in_place_of(written: str) -> str | None:
        try:
            return f"write {format_value(parse_number(written))}, without quotes"
        except ValueError:
            share = percentage(written)
        return None if share is None else of_percentage.format(format_value(share))

    most = {"exclusiveMaximum": below} if below < math.inf else {"maximum": LARGEST_NUMBER}
    return KeyKind(holds, {"type": "number", "exclusiveMinimum": 0, **most}, read_number)


def word(*words: str) -> KeyKind:
    """One of a few words."""
    holds = " or ".join(map(repr, words))

    def read_word(field: Field) -> str:
        node = field.node
        if isinstance(node, Scalar) and node.value in words:
            return node.text
        hint = suggestion(node.text, words) if isinstance(node, Scalar) else None
        raise field.wrong_kind(holds, hint)

    return KeyKind(holds, {"enum": list(words)}, read_word)


def truth() -> KeyKind:
    """`true` or `false`."""

    def read_truth(field: Field) -> bool:
        if isinstance(field.node, Scalar) and isinstance(field.node.value, bool):
            return field.node.value
        raise field.wrong_kind("true or false")

    return KeyKind("true or false", {"type": "boolean"}, read_truth)


def format_number(only: int) -> KeyKind:
    """The version of the format; only one is known."""

    def read_format(field: Field) -> int:
        node = field.node
        if isinstance(node, Scalar) and type(node.value) is int and node.value == only:
            return only
        says = f"is the number of the format, {only}, and is {shown(node)}"
        raise WrongError(says, f"write 'dropcheck: {only}'")

    return KeyKind(str(only), {"type": "integer", "const": only}, read_format)


# ---- lists and mappings --------------------------------------------------------------------------


def items(
    item: KeyKind,
    holds: str,
    item_is: str | None = None,
    *,
    or_one: bool = False,
    if_other: str | None = None,
) -> KeyKind:
    """A list of values of one kind; with `or_one`, a single value may replace the list.

    `item_is` describes an item in the JSON Schema; `if_other` is the hint if it is not a list.
    """
    described = {"description": item_is, **item.schema} if item_is else item.schema
    schema: Schema = {"type": "array", "items": described}

    def read_items(field: Field) -> tuple[Any, ...]:
        node = field.node
        if isinstance(node, Scalar) and or_one:
            return (item.read(field),)
        if not isinstance(node, Listing):
            if isinstance(node, Scalar) and item.holds != MAPPING:
                raise field.wrong_kind(holds, f"write [{node.text[:40]}]")
            raise field.wrong_kind(holds, if_other)
        return field.read_items(item)

    return KeyKind(holds, {"anyOf": [described, schema]} if or_one else schema, read_items)


@record
class Names:
    """Allowed names: their JSON Schema, and the message and hint for a name that is not allowed."""

    schema: Schema
    problem: Callable[[str], tuple[str, str | None] | None]  # name → message and hint


def _is_absent(entry: Entry) -> bool:
    return isinstance(entry.node, Scalar) and entry.node.value is None


def _surplus(text: str) -> int:
    """How many more brackets a text opens than it closes.

    >>> _surplus("range(0"), _surplus("1)"), _surplus("[1, 2]")
    (1, -1, 0)
    """
    return sum((one in "([") - (one in ")]") for one in text)


def named(
    item: KeyKind,
    names: Names | None = None,
    what: str = "",
    hint: str | None = None,
    *,
    if_empty: str | None = None,
    item_is: str | None = None,
) -> KeyKind:
    """A mapping of any names to values of one kind, `item`.

    Messages call a value by `what` and its name ("claim 'a'"). `hint` is for a value that is not a
    mapping, `if_empty` for an empty mapping (None if it may be empty), and `item_is` describes a
    value in the JSON Schema.
    """

    def read_named(field: Field) -> dict[str, Any]:
        node = field.node
        if not isinstance(node, Tree):
            raise field.wrong_kind(MAPPING, hint)
        if if_empty is not None and not node.entries:
            field.refuse("is empty", if_empty)
        values = {}
        opened = 0  # brackets of a value that a comma has ended
        following = [*node.entries.items()][1:]
        for at, (name, entry) in enumerate(node.entries.items()):
            if opened > 0 and _is_absent(entry):
                opened += _surplus(name)
                continue
            opened = _surplus(entry.node.text) if isinstance(entry.node, Scalar) else 0
            if opened > 0 and following[at:] and _is_absent(following[at][1]):
                after, then = following[at]
                says = f"the comma before {after!r} ends a value: between braces every comma does"
                field.report.add(then.key_start, says, "quote what holds the comma")
                continue
            if names is not None and (wrong := names.problem(name)) is not None:
                field.report.add(entry.key_start, *wrong)
            values[name] = read(item, field.under(entry, f"{what}{name!r}"))
        return values

    schema: Schema = {"type": "object"}
    schema |= {"minProperties": 1} if if_empty is not None else {}
    schema |= {"propertyNames": names.schema} if names is not None else {}
    described = {"description": item_is} if item_is else {}
    schema["additionalProperties"] = described | item.schema
    return KeyKind(MAPPING, schema, read_named)
