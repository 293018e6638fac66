"""The format of claims files, version 1: kinds of values, and one table of keys.

Each row of the table holds all facts about one key. The reader with its errors, the JSON Schema,
and the page of the documentation that lists the keys are made from this table. A wrong value is
reported and read as None; a file with any reported problem is refused.
"""

from __future__ import annotations

import keyword
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from dropcheck.claims import values
from dropcheck.claims.models import MODEL_NAME
from dropcheck.claims.registry import MOST_CASES, MOST_STATEMENTS, SourceText, Tolerance, truth_id
from dropcheck.claims.values import (
    LITERAL,
    LONGEST_NAME,
    RangeError,
    WrittenNumber,
    count_values,
    format_value,
    name_problem,
    parse_number,
    percentage,
    read_values,
)
from dropcheck.claims.yaml_places import (
    Broken,
    Entry,
    LineColumn,
    Listing,
    Problems,
    Scalar,
    Tree,
    YamlNode,
    shown,
    source_text,
)
from dropcheck.errors import nearest, suggestion
from dropcheck.results import ParameterValue, Vector

FORMAT = 1
SCHEMA_FILE = "claims.schema.json"
"""The name of the schema file, which the first line of a claims file refers to."""
SCHEMA_TITLE = "A claims file of dropcheck"
MOST_CASES_IN_ALL = 1_000_000  # in a file: their names alone take a gigabyte

Schema = dict[str, Any]


# ---- kinds of values -----------------------------------------------------------------------------

_YEAR = re.compile(r"[1-9]\d{3}")

LARGEST_NUMBER = 1.7976931348623157e308  # the largest float64; `.inf` is larger
MAPPING = "a mapping of names to values"
NOT_EMPTY = "leave it out, or put something in"


@dataclass(frozen=True, slots=True)
class KeyKind:
    """A kind of value.

    `read` returns the value or raises a `WrongError`. Errors inside a list or a mapping are
    reported instead.
    """

    holds: str  # its name in messages and documentation: "a number greater than 0"
    schema: Schema
    read: Callable[[Field], Any]


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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


# ---- tables of keys ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its meaning, the kind of its value, and its default."""

    name: str
    kind: KeyKind
    description: str
    examples: tuple[Any, ...]
    default: Any = None
    required: str | None = None  # what to write if it is missing; None for an optional key
    unless: str | None = None  # a key that can replace a required one

    @property
    def schema(self) -> Schema:
        """The JSON Schema of the key's value."""
        inner = self.kind.schema
        if "$ref" in inner:
            return inner
        default = {"default": self.default} if isinstance(self.default, str | float) else {}
        return {"description": self.description, **inner, **default, "examples": [*self.examples]}


@dataclass(frozen=True, slots=True)
class ExclusiveKeys:
    """Two keys of which at most one may be given, and what to do if both are."""

    one: str
    other: str
    hint: str


@dataclass(frozen=True, slots=True)
class KeyTable:
    """A mapping of known keys: the file, a document, the defaults, a claim, or a statement."""

    name: str
    description: str
    keys: tuple[Key, ...]
    apart: tuple[ExclusiveKeys, ...] = ()
    check: Callable[[Tree, Problems], None] | None = None  # for rules on several keys
    misplaced: Mapping[str, str] | None = None  # keys of another table, and what to do with them
    examples: tuple[Any, ...] = ()
    hint: str | None = None  # what to write if the value is not a mapping

    @property
    def kind(self) -> KeyKind:
        """The kind of value that such a mapping is."""
        return KeyKind(MAPPING, {"$ref": f"#/definitions/{self.name}"}, self.read)

    @property
    def definition(self) -> Schema:
        """The JSON Schema of such a mapping."""
        required = [key.name for key in self.keys if key.required and key.unless is None]
        alternatives = [(key.name, key.unless) for key in self.keys if key.required and key.unless]
        in_place = [{"required": [name]} for pair in alternatives for name in pair]
        apart = [{"required": [pair.one, pair.other]} for pair in self.apart]
        return {
            "description": self.description,
            "type": "object",
            "properties": {key.name: key.schema for key in self.keys},
            "additionalProperties": False,
            **({"required": required} if required else {}),
            **({"anyOf": in_place} if in_place else {}),
            **({"not": apart[0] if len(apart) == 1 else {"anyOf": apart}} if apart else {}),
            **({"examples": [*self.examples]} if self.examples else {}),
        }

    def read(self, field: Field) -> dict[str, Any]:
        """The values of the given keys, by name."""
        node = field.node
        if not isinstance(node, Tree):
            raise field.wrong_kind(MAPPING, self.hint)
        known = {key.name: key for key in self.keys}
        values: dict[str, Any] = {}
        self._check_names(node, field)
        for name, entry in node.entries.items():
            key = known.get(name)
            if key is not None:
                values[name] = read(key.kind, field.under(entry, repr(name)), key.required)
        for pair in self.apart:
            if pair.one in values and pair.other in values:
                later = max(node.entries[name].key_start for name in (pair.one, pair.other))
                message = f"{field.name} gives both {pair.one!r} and {pair.other!r}"
                field.report.add(later, message, pair.hint)
        if self.check is not None:
            self.check(node, field.report)
        return values

    def _check_names(self, tree: Tree, field: Field) -> None:
        """Report unknown keys, and required keys that are missing.

        The value of a misspelled key is stored under the right key too, so that errors in it are
        also found.
        """
        names = [key.name for key in self.keys]
        meant = set()
        for name in [one for one in tree.entries if one not in names]:
            near = nearest(name, names)
            meant.add(near)
            hint = (self.misplaced or {}).get(name, "the keys here are " + ", ".join(names))
            if name not in (self.misplaced or {}) and not name.replace("-", "_").isidentifier():
                hint = "in braces a comma ends a text: put one that has commas in quotes"
            hint = f"did you mean {near!r}?" if near is not None else hint
            at = tree.entries[name].key_start
            field.report.add(at, f"{field.name} has no key {name!r}", hint)
            if near is not None:
                value = tree.entries[name].node
                tree.entries.setdefault(near, Entry(value.start, value))
        at = field.key_start or tree.start
        for key in self.keys:
            # the hint at a misspelled key covers this
            given = {key.name, key.unless} & {*tree.entries, *meant}
            if key.required and not given:
                field.report.add(at, f"{field.name} lacks {key.name!r}", key.required)


def mapping_at(tree: Tree, key: str) -> Mapping[str, Entry]:
    """The entries of the mapping under a key; empty if there is no mapping."""
    entry = tree.entries.get(key)
    return entry.node.entries if entry is not None and isinstance(entry.node, Tree) else {}


def items_at(tree: Tree, key: str) -> Sequence[YamlNode]:
    """The items of the list under a key; empty if there is no list."""
    entry = tree.entries.get(key)
    return entry.node.items if entry is not None and isinstance(entry.node, Listing) else ()


# ---- names of claims and models ------------------------------------------------------------------


def _id_problem(name: str) -> tuple[str, str | None] | None:
    if name == "all":
        message = f"a claim cannot be called {name!r}: 'run {name}' means every claim"
        return message, "give it another id"
    return _part_problem(name)


def _part_problem(name: str) -> tuple[str, str | None] | None:
    if re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
        return None
    fixed = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    hint = f"call it {fixed!r}" if fixed not in ("", "all") else None
    return f"{name!r} is not a claim id: ids are lower-case letters, digits and hyphens", hint


_ID_SCHEMA = {
    "pattern": r"^[a-z0-9][a-z0-9-]*$",
    "not": {"const": "all"},  # `run all` means every claim
    "patternErrorMessage": "ids are lower-case letters, digits and hyphens",
}
_IDS = Names(_ID_SCHEMA, _id_problem)
_PARTS = Names({key: _ID_SCHEMA[key] for key in _ID_SCHEMA if key != "not"}, _part_problem)


def _model_name_problem(name: str) -> tuple[str, str | None] | None:
    if re.fullmatch(MODEL_NAME, name):
        return None
    fixed = re.sub(r"[^\w-]+", "-", name).strip("-")
    hint = f"call it {fixed!r}" if re.fullmatch(MODEL_NAME, fixed) else None
    return f"{name!r} is not a model's name: it is letters, digits, '_' and hyphens", hint


_MODEL_NAMES = Names(
    {
        "pattern": r"^[^\x00-@\[-^`{-\x7f][^\x00-,./:-@\[-^`{-\x7f]*$",
        "patternErrorMessage": "a model's name is letters, digits, '_' and hyphens",
    },
    _model_name_problem,
)


# ---- parameters and cases ------------------------------------------------------------------------


def _read_value(field: Field) -> ParameterValue:
    """A parameter's value in the registry: a finite float, a vector, or the text of a law."""
    if isinstance(field.node, Listing):
        return _read_vector(field)
    values = _read_values(field)
    if len(values) > 1:
        says = "is a range, which has several values"
        raise WrongError(says, "a range belongs under 'parameters'; a case has one value of each")
    return values[0]


def _read_values(field: Field) -> tuple[ParameterValue, ...]:
    """The values that one scalar stands for: those of a range, or a single value."""
    node, holds = field.node, values.KINDS_OF_VALUE
    if not isinstance(node, Scalar):
        raise field.wrong_kind(holds)
    value = node.value
    if isinstance(value, bool):
        raise WrongError(f"must be {holds}, and is a truth value", "write 1 or 0")
    if isinstance(value, int | float):
        if math.isfinite(value):
            if value and "." in node.text and LITERAL.fullmatch(node.text.lstrip("-+")):
                return (WrittenNumber(node.text),)
            return (float(value) + 0.0,)  # turns -0.0 into 0.0, so that both are one case
        raise WrongError("must be a finite number", values.ACCEPTED)
    try:
        return read_values(node.text)
    except ValueError as error:
        says = f"must be {holds}, and {values.shortened(node.text)!r} {error}"
        hint = error.hint if isinstance(error, RangeError) else None
        raise WrongError(says, hint or values.value_hint(node.text, error)) from None


def _read_vector(field: Field, depth: int = 0) -> Vector:
    """A list of numbers as a vector; a list of such lists as a matrix."""
    assert isinstance(field.node, Listing)
    entries: list[float | Vector] = []
    for node in field.node.items:
        within = Field(node, f"an entry of {field.name}", field.report)
        if isinstance(node, Listing) and depth < 2:
            entries.append(_read_vector(within, depth + 1))
            continue
        value = read(_ENTRY, within)
        entries.append(value if isinstance(value, float) else 0.0)  # the error is reported
    try:
        return values.as_vector(entries)
    except ValueError as error:
        raise WrongError(str(error)) from None


def _read_entry(field: Field) -> float:
    value = _read_values(field) if isinstance(field.node, Scalar) else ()
    if len(value) != 1 or not isinstance(value[0], float):
        raise field.wrong_kind("a number", "a vector holds numbers: [0.5, -1, 3]")
    return value[0]


def _read_item(field: Field) -> tuple[ParameterValue, ...]:
    return (_read_vector(field),) if isinstance(field.node, Listing) else _read_values(field)


def _read_grid(field: Field) -> tuple[ParameterValue, ...]:
    """The values of a parameter; a repeated value is an error."""
    node = field.node
    if not isinstance(node, Listing):
        return _read_values(field)
    if not node.items:
        field.refuse("is empty", NOT_EMPTY)
    name = f"an item of {field.name}"
    items = (read(_ITEM, Field(one, name, field.report)) for one in node.items)
    grid = [value for item in items for value in item or ()]
    for value, count in Counter(grid).items():
        if count > 1:
            hint = "every value of a grid is a case of its own: take one out"
            field.refuse(f"holds {values.format_value(value)} twice", hint)
    return tuple(grid)


_EITHER: Schema = {"anyOf": [{"$ref": "#/definitions/value"}, {"$ref": "#/definitions/vector"}]}
VALUE = KeyKind(values.KINDS_OF_VALUE, _EITHER, _read_value)
_ITEM = KeyKind(values.KINDS_OF_VALUE, {}, _read_item)
_ENTRY = KeyKind("a number", {}, _read_entry)
VALUE_IN_FULL = (
    "a number such as 512, 1e6 or 1/3, a list of numbers as a vector, or a law as text, such as "
    "normal(0, 1)"
)
# Arithmetic on literals; the same in brackets, as a vector; a range; a call, as a law.
_DIGITS = r"[0-9a-fA-FxXoO_.+\-*/%()\s]+"
_NUMBER = rf"(?=[^0-9]*[0-9])(?!.*\.\.){_DIGITS}"
_VECTOR = r"\s*\[[0-9a-fA-FxXoO_.+\-*/%()\s,\[\]]+\]\s*"
_RANGE = rf"{_DIGITS}\.\.{_DIGITS}\sby\s{_DIGITS}"
_LAW = r"\s*[^\W\d]\w*\s*\([\s\S]*\)\s*"
_FORMATS = "|".join(values.NUMBER_FORMATS)
_NUMBERS: Schema = {
    "type": ["number", "string"],
    "minimum": -LARGEST_NUMBER,
    "maximum": LARGEST_NUMBER,
}
VALUE_DEFINITION: Schema = {
    "description": f"A parameter's value: {VALUE_IN_FULL}.",
    **_NUMBERS,
    "pattern": f"^(?:{_NUMBER}|{_VECTOR}|{_RANGE}|{_LAW}|{_FORMATS})$",
    "patternErrorMessage": f"write {VALUE_IN_FULL}",
    "examples": [512, "1/3", "normal(0, 1)"],
}
_ENTRY_SCHEMA: Schema = {**_NUMBERS, "pattern": f"^{_NUMBER}$"}
_ENTRIES: Schema = {"type": "array", "minItems": 1, "maxItems": values.MOST_ENTRIES}
VECTOR_DEFINITION: Schema = {
    "description": "A vector, or a matrix as the list of its rows.",
    **_ENTRIES,
    "items": {"anyOf": [_ENTRY_SCHEMA, {**_ENTRIES, "items": _ENTRY_SCHEMA}]},
    "examples": [[0.5, -1, 3]],
}
GRID = KeyKind(
    f"{values.KINDS_OF_VALUE}, a range, or a list of these",
    {
        "anyOf": [
            {"$ref": "#/definitions/value"},
            {"type": "array", "items": VALUE.schema, "minItems": 1, "uniqueItems": True},
        ]
    },
    _read_grid,
)


def _parameter_problem(name: str) -> tuple[str, str | None] | None:
    problem = name_problem(name)
    if problem is None:
        return None
    other = re.sub(r"\W+", "_", unicodedata.normalize("NFKC", name)).strip("_")
    other += "_" if keyword.iskeyword(other) else ""
    hint = f"call it {other!r}" if name_problem(other) is None else None
    return f"{name[:41]!r} {problem}", hint


PARAMETERS = Names(
    {
        # A letter or '_', then also digits. All characters beyond ASCII are allowed, since editors
        # differ in which of them their regular expressions take for letters.
        "pattern": r"^[^\x00-@\[-^`{-\x7f][^\x00-/:-@\[-^`{-\x7f]*$",
        "not": {"enum": sorted(keyword.kwlist)},
        "maxLength": LONGEST_NAME,
        "patternErrorMessage": "names are letters, digits and '_', with no digit first",
    },
    _parameter_problem,
)


_CASE_HINT = "a case names its parameters: '- {p: 0.1, n: 10}'"
_CASE = named(VALUE, hint=_CASE_HINT, if_empty=NOT_EMPTY)


def _read_cases(field: Field) -> tuple[dict[str, ParameterValue], ...]:
    """The listed cases, which are distinct and give values to the same parameters."""
    node = field.node
    if not isinstance(node, Listing):
        raise field.wrong_kind("a list", _CASE_HINT)
    if not node.items:
        field.refuse("is empty", NOT_EMPTY)
    cases = tuple(case or {} for case in field.read_items(_CASE))
    trees = [one for one in node.items if isinstance(one, Tree)]
    places = {name: one.key_start for tree in reversed(trees) for name, one in tree.entries.items()}
    for name, place in places.items():
        if (wrong := _parameter_problem(name)) is not None:
            field.report.add(place, *wrong)
    _check_same_names(trees, field.report)
    first: dict[frozenset[tuple[str, ParameterValue]], int] = {}
    for index, case in enumerate(cases, start=1):
        complete = case and None not in case.values()
        earlier = first.setdefault(frozenset(case.items()), index) if complete else index
        if earlier != index:
            says = f"lists one case twice: items {earlier} and {index} are alike"
            field.refuse(says, "take one of the two out")
    return cases


def _check_same_names(cases: Sequence[Tree], report: Problems) -> None:
    counts = Counter(name for case in cases for name in case.entries)
    for case in cases:
        if len(case.entries) in (0, len(counts)):  # an empty one is reported as empty
            continue
        lacking = list(islice((name for name in counts if name not in case.entries), 6))
        given = ", ".join(map(repr, lacking[:5])) + (", …" if len(lacking) > 5 else "")
        message = f"this case gives no value for {given}, which another case has"
        slips = (nearest(name, lacking) for name in case.entries if counts[name] == 1)
        near = next((name for name in slips if name is not None), None)
        hint = f"did you mean {near!r}?" if near else "every case names the same parameters"
        report.add(case.start, message, hint)


_CASE_SCHEMA = {
    "description": "A case: a value for each parameter.",
    **_CASE.schema,
    "propertyNames": PARAMETERS.schema,
}
CASES = KeyKind(
    "a list of cases, each a mapping of parameters to values",
    {"type": "array", "minItems": 1, "uniqueItems": True, "items": _CASE_SCHEMA},
    _read_cases,
)


def _check_cases(tree: Tree, report: Problems) -> None:
    """Report parameters under both 'parameters' and 'cases', and too many statements or cases."""
    grid, rows = mapping_at(tree, "parameters"), _rows(tree)
    places = {name: entry for row in reversed(rows) for name, entry in row.entries.items()}
    for name in grid.keys() & places.keys():
        line = report.source.line_of(grid[name].key_start)
        message = f"{name!r} is given under 'cases' and under 'parameters' ({line})"
        report.add(places[name].key_start, message, "keep one of the two")
    stated = len(mapping_at(tree, "claims"))
    if stated > MOST_STATEMENTS:
        message = (
            f"there are {stated:,} statements, and the most of one claim is {MOST_STATEMENTS:,}"
        )
        hint = "make several claims of it: they may share its model by a name under 'models'"
        report.add(tree.entries["claims"].key_start, message, hint)
    count = _count_cases(tree)
    if count > MOST_CASES:
        sizes = [len(rows), *(_length(entry.node) for entry in grid.values())]
        factors = " × ".join(str(size) for size in sizes if size > 1)
        message = f"the grid has {count:,} cases ({factors}), and the most is {MOST_CASES:,}"
        hint = "use fewer values of each, or list the points that matter under 'cases'"
        report.add(tree.entries["parameters" if grid else "cases"].key_start, message, hint)


def _rows(tree: Tree) -> list[Tree]:
    return [item for item in items_at(tree, "cases") if isinstance(item, Tree)]


def _count_cases(tree: Tree) -> int:
    """How many cases a claim has; none of them is made."""
    sizes = (_length(entry.node) for entry in mapping_at(tree, "parameters").values())
    return math.prod(sizes) * max(len(_rows(tree)), 1)


def _length(node: YamlNode) -> int:
    """How many values a grid has, at least 1."""
    if isinstance(node, Listing):
        return max(1, sum(1 if isinstance(one, Listing) else _length(one) for one in node.items))
    return count_values(node.text) if isinstance(node, Scalar) else 1


# ---- slots, passages and tolerances --------------------------------------------------------------

LINE = text(tidy=lambda written: " ".join(written.split()))
PASSAGE = KeyTable(
    "passage",
    description="A passage that a claim comes from.",
    keys=(
        Key("document", text(), description="One of the keys under `documents`.",
            examples=("notes",), required="name it, 'document: …'"),
        Key("section", LINE, description="Where in the document it stands.",
            examples=("Scaling",)),
    ),
    hint="write '- {document: …, section: …}'",
)  # fmt: skip


OF_ELEMENTS = "independent"
_SLOT_HINT = "a slot has a name: write 'dropout:', and indent its keys under it"
_TAKES_HINT = "a slot takes names: [x, p]"


def _read_taken(field: Field) -> str:
    name = text().read(field)
    assert isinstance(name, str)
    problem = PARAMETERS.problem(name)
    if problem is not None:
        field.report.add(field.node.start, *problem)
    return name


_TAKEN = KeyKind("a name", {"type": "string", **PARAMETERS.schema}, _read_taken)


def _check_slot(tree: Tree, report: Problems) -> None:
    """Report keys that exclude each other, missing keys, and repeated names."""
    entries = tree.entries
    if "law" in entries:
        for key in ("gives", "gradient", "evaluation"):
            if key in entries:
                message = f"a slot that is drawn from a law has no {key!r}"
                hint = "keep 'law', or 'model' and 'gives'"
                report.add(entries[key].key_start, message, hint)
    elif "gives" not in entries:
        message = "a slot says what it gives"
        report.add(tree.start, message, "write 'gives: y', or 'law: normal(0, 1)' of a sampler")
    taken = [one.text for one in items_at(tree, "takes") if isinstance(one, Scalar)]
    for name in dict.fromkeys(taken):
        if taken.count(name) > 1:
            report.add(entries["takes"].key_start, f"{name!r} is taken twice", "name each once")


SLOT = KeyTable(
    "slot",
    description="A name to which code may be bound outside of the file, and the mathematics that "
    "is used if no code is bound.",
    keys=(
        Key("title", LINE,
            description="What it is, in a few words.", examples=("Inverted dropout",)),
        Key("takes", items(_TAKEN, "a list of names"), examples=(["x", "p"],), required=_TAKES_HINT,
            description="Its arguments, in order. A sampler's code also gets `size` after these."),
        Key("model", expression("lines of text"),
            description="Its mathematics, line by line, as a function of its arguments.",
            examples=("m ~ bernoulli(1 - p)[shape(x)]\ny = m * x / (1 - p)\n",)),
        Key("gives", expression(), description="Its result: a name of its model, or an "
            "expression.", examples=("y",)),
        Key("law", expression(),
            description="For a sampler, in place of `gives`: the law of its numbers. A model "
            "draws from such a slot: `y ~ name(a, b)[n]`.", examples=("uniform(a, b)",)),
        Key("gradient", expression(), description="The gradient of the sum of its results with "
            "respect to its first argument, for `grad(name)(…)`.", examples=("m / (1 - p)",)),
        Key("evaluation", expression(), description="Its result in evaluation, not in training, "
            "for `name.eval(…)`.", examples=("x",)),
        Key("elements", word(OF_ELEMENTS), description="The draws of one call are independent of "
            "each other; a claim may check this.", examples=(OF_ELEMENTS,)),
    ),
    check=_check_slot,
    hint=_SLOT_HINT,
)  # fmt: skip


ABSOLUTE = "{absolute: 0.05}"
_ABOVE = f"a number of its own is 'tolerance: {ABSOLUTE}'"

_SHARE = number(
    f"a share greater than 0 and less than 1, or {ABSOLUTE}",
    below=1,
    if_larger=f"0.05 is 'within 5%'; {_ABOVE}",
)

TOLERANCE_LEVEL = KeyTable(
    "tolerance",
    description="A tolerance that is no share of what is claimed.",
    keys=(
        Key("absolute", number(), examples=(0.05,),
            description="Part of the claim: `L == R` give or take this number.",
            required=f"write 'tolerance: {ABSOLUTE}'"),
    ),
)  # fmt: skip


def _read_tolerance(field: Field) -> Tolerance:
    if isinstance(field.node, Tree):
        return Tolerance(TOLERANCE_LEVEL.kind.read(field).get("absolute"), absolute=True)
    return Tolerance(_SHARE.read(field))


TOLERANCE = KeyKind(
    _SHARE.holds, {"anyOf": [_SHARE.schema, TOLERANCE_LEVEL.kind.schema]}, _read_tolerance
)


# ---- references, and the whole file --------------------------------------------------------------


def _check_documents(root: Tree, report: Problems) -> None:
    """Report unknown documents, and a section that may be of several documents."""
    documents = mapping_at(root, "documents")
    defaults = root.entries.get("defaults")
    if defaults is not None and isinstance(defaults.node, Tree):
        _check_documents_of(defaults.node, documents, report)
    for claim in _trees(mapping_at(root, "claims")):
        _check_documents_of(claim, documents, report)
        for statement in _trees(mapping_at(claim, "claims")):
            _check_documents_of(statement, documents, report)
            section = statement.entries.get("section")
            several = len(items_at(claim, "sources")) > 1 and "document" not in statement.entries
            if section is not None and several:
                message = "it is not known which document this section is in"
                report.add(section.key_start, message, "name it, 'document: …'")


def _check_documents_of(tree: Tree, documents: Mapping[str, Entry], report: Problems) -> None:
    for named in (tree, *(one for one in items_at(tree, "sources") if isinstance(one, Tree))):
        entry = named.entries.get("document")
        if entry is None or not isinstance(entry.node, Scalar):
            continue
        name = entry.node.value
        if not isinstance(name, str) or not name.strip() or name in documents:
            continue
        hint = suggestion(name, documents)
        if hint is None:
            names = "the documents are " + ", ".join(list(documents)[:10])
            hint = names if documents else "list it under 'documents', with its title"
        report.add(entry.node.start, f"there is no document {name!r}", hint)


def _check_truths(root: Tree, report: Problems) -> None:
    """Report a 'truth' that is not a claim or is false, and one that a true claim names."""
    usual = _expects(root.entries["defaults"].node) if "defaults" in root.entries else None
    expected: dict[str, str] = {}
    named: list[tuple[str, str | None, Scalar]] = []
    for name, entry, family in _statements(root):
        node = entry.node
        own = node.entries if isinstance(node, Tree) else {}
        above = None if family is None else _expects(mapping_at(root, "claims")[family].node)
        expected[name] = _expects(node) or above or usual or "verified"
        truth = own["truth"].node if "truth" in own else None
        if isinstance(truth, Scalar) and isinstance(truth.value, str) and truth.value.strip():
            named.append((name, family, truth))
    for name, family, truth in named:
        meant = truth_id(str(truth.value), family, expected)
        if expected[name] == "verified":
            message = "'truth' belongs to a claim that is false"
            report.add(truth.start, message, "add 'expect: refuted', or take 'truth' out")
        elif meant not in expected:
            inside = [one for one in expected if one.startswith(f"{meant}.")]
            listed = "name one of its statements: " + ", ".join(inside[:5])
            names = _truth_names(family, expected)
            hint = listed if inside else suggestion(str(truth.value), names)
            report.add(truth.start, f"there is no claim {truth.value!r}", hint)
        elif expected[meant] == "refuted":
            report.add(truth.start, f"{meant} is false itself", "name the claim that holds")


def _truth_names(family: str | None, known: Mapping[str, object]) -> list[str]:
    beside = [one.partition(".")[2] for one in known if one.startswith(f"{family}.")]
    return [*beside, *known]


def _statements(root: Tree) -> Iterator[tuple[str, Entry, str | None]]:
    """Each claim's id and entry, and the id of the claim that it is a statement of."""
    for name, entry in mapping_at(root, "claims").items():
        several = mapping_at(entry.node, "claims") if isinstance(entry.node, Tree) else {}
        if several:
            yield from ((f"{name}.{one}", inner, name) for one, inner in several.items())
        else:
            yield name, entry, None


def _expects(node: object) -> str | None:
    """The value of 'expect' in a mapping; None if it has none."""
    entry = node.entries.get("expect") if isinstance(node, Tree) else None
    if entry is None:
        return None
    value = entry.node.value if isinstance(entry.node, Scalar) else None
    return value if value in ("verified", "refuted") else "what cannot be read"


def _trees(entries: Mapping[str, Entry]) -> Iterator[Tree]:
    return (entry.node for entry in entries.values() if isinstance(entry.node, Tree))


def _check_file(root: Tree, report: Problems) -> None:
    """Report references to nothing, and more cases than a file may have."""
    claims = [entry.node for entry in mapping_at(root, "claims").values()]
    _check_documents(root, report)
    _check_truths(root, report)
    counts = [
        _count_cases(node) * max(1, len(mapping_at(node, "claims")))
        for node in claims
        if isinstance(node, Tree)
    ]
    count = sum(counts)
    if count > MOST_CASES_IN_ALL and max(counts) <= MOST_CASES:  # or it has been reported
        message = f"the file has {count:,} cases, and the most is {MOST_CASES_IN_ALL:,}"
        report.add(root.entries["claims"].key_start, message, "split it into several")


# ---- the table -----------------------------------------------------------------------------------

_MODEL = expression("lines of text",
    hint="write 'model: |', and below it, indented, a line a name: x ~ normal(0, 1)")  # fmt: skip
_WAYS = ExclusiveKeys("resolution", "within",
    "keep one: 'resolution' is relative to the claim's scale, 'within' is absolute")  # fmt: skip
_PLACES = tuple(
    ExclusiveKeys("sources", name, "list them all under 'sources'")
    for name in ("document", "section")
)
_EACH = tuple(
    ExclusiveKeys("claims", name, "give it to each of the 'claims' that it concerns")
    for name in ("claim", "tolerance", "truth")
)
_ID_HINT = "a claim has an id: write 'my-claim:', and indent 'title: …' and 'claim: …' under it"

# Keys that 'defaults' may have: how claims are judged, and where they come from.
_SHARED = (
    Key("expect", word("verified", "refuted"), default="verified", examples=("refuted",),
        description="The verdict with which the claim passes; a claim that is known to be false "
        "expects `refuted`."),
    Key("resolution", number(), default=0.01, examples=(0.01, 0.001),
        description="How small an error must be found, relative to the claim's scale; give this "
        "or `within`."),
    Key("within",
        number(of_percentage="it is absolute; for a share of the scale write 'resolution: {}'"),
        description="The same as an absolute number; give this or `resolution`.",
        examples=(0.005,)),
    Key("document", text(), examples=("notes",),
        description="Where the claim comes from: one of the keys under `documents`."),
    Key("section", LINE, description="Where in the document it stands.", examples=("Scaling",)),
    Key("tags", items(LINE, "a list", "A tag."), default=(), examples=(["attention", "scaling"],),
        description="Words that select claims: `dropcheck run --tag WORD`."),
)  # fmt: skip

# Keys that each statement of a claim may have; a claim with one statement has them too.
_STATED = (
    Key("tolerance", TOLERANCE,
        description="Part of the claim: in `L == R`, `L` may be off by this share of `R`, or, with "
        "`{absolute: 0.05}`, by this number.", examples=(0.005, {"absolute": 0.05})),
    Key("asymptotic", truth(), default=False, examples=(True,),
        description="Whether the limit theorem judges the claim where the model does not bound "
        "what is averaged; otherwise it is then undecided."),
    Key("says", text(tidy=str.strip), description="What the document says, in its own words.",
        examples=("The variance grows with the number of terms.",)),
    Key("note", text(tidy=str.strip), description="Why the claim holds, or why it fails.",
        examples=("The mask is 0 or 1, so its square is itself.",)),
    Key("truth", text(),
        description="For a claim that expects `refuted`: the id of the claim that says what is "
        "true instead; for one of several statements, the name of that statement.",
        examples=("variance",)),
    Key("sources", items(PASSAGE.kind, "a list of mappings",
                         if_other=PASSAGE.hint), default=(),
        description="The passages that the claim comes from, in place of `document` and `section`, "
        "if there are several.", examples=([{"document": "notes", "section": "Scaling"}],)),
)  # fmt: skip
_CLAIM_TEXT = expression("a statement as text",
    hint="a claim states something, such as 'claim: E(x) == 3'; several statements of one model "
    "stand under 'claims', a name for each")  # fmt: skip

STATEMENT = KeyTable(
    "statement",
    description="One of several statements of the same model.",
    keys=(
        Key("claim", _CLAIM_TEXT, description="The statement, as in a claim that has one.",
            examples=("Std(y) == Std(x)",),
            required="write the statement, such as 'claim: E(y) == E(x)'"),
        Key("title", LINE, description="What it says, in one sentence; if left out, the title "
            "of the whole claim, with the statement's name.",
            examples=("The deviation is kept too",)),
        *_STATED,
        *_SHARED,
    ),
    apart=(_WAYS, *_PLACES),
    misplaced=dict.fromkeys(
        ("model", "parameters", "cases", "requires"),
        "the statements of a claim share it: give it to the claim",
    ),
)  # fmt: skip


def _read_statement(field: Field) -> dict[str, Any] | None:
    if isinstance(field.node, Tree):
        return STATEMENT.read(field)
    return {"claim": read(_CLAIM_TEXT, field)}


_STATEMENT = KeyKind(
    "a statement as text, or a mapping",
    {"anyOf": [_CLAIM_TEXT.schema, STATEMENT.kind.schema]},
    _read_statement,
)

CLAIM = KeyTable(
    "claim",
    description="A claim: a title, a statement, and the model that the statement is about.",
    keys=(
        Key("title", LINE, description="What the claim says, in one sentence.",
            examples=("The mean of dropout's output is its input's",),
            required="write what it says in one sentence, 'title: …'"),
        Key("claim", _CLAIM_TEXT,
            description="The statement: `L == R`, an inequality, a range `a <= L <= b`, or one "
            "about laws: `y ~ normal(0, 1)`, `x ~ y`, `independent(x, y)`. Elsewhere random names "
            "stand inside an operator, such as `E(…)`, `Var(…)` or `P(…)`.",
            examples=("Var(q @ k) == dk", "0.405 <= Std(y) / Std(x) - 1 <= 0.415",
                      "P(y == 0, given=x > 0) <= p"),
            required="write the statement, such as 'claim: Var(q @ k) == dk'", unless="claims"),
        Key("claims",
            named(_STATEMENT, _PARTS, what="statement ", if_empty="write at least one statement",
                  hint="write 'name: statement' on a line for each"),
            description="In place of `claim`, several statements that share their draws: a name "
            "for each, with its text or a mapping of its keys.",
            examples=({"mean": "E(y) == E(x)", "sd": {"claim": "Std(y) == Std(x)",
                                                     "expect": "refuted"}},)),
        Key("model", _MODEL,
            description="The draws and computations, line by line: `name ~ law` draws, "
            "`name = expression` computes, and brackets after a law are the shape of one draw; "
            "the name of a shared model stands for its lines. Needed if anything in the claim "
            "is random.",
            examples=("q ~ normal(0, 1)[dk]\nk ~ normal(0, 1)[dk]\n",)),
        Key("parameters",
            named(GRID, PARAMETERS, hint="write 'name: value'",
                  item_is="A value, or a list of values: one case for each."),
            description=f"A value for each name: {VALUE_IN_FULL}. A list, or a range such as "
            "`0.1..0.9 by 0.1` or `16..1024 by x2`, makes one case for each value, and several are "
            "crossed. A list in a list is a vector: `[[0.5, -1, 3]]`.", default={},
            examples=({"dk": [16, 64, 256]}, {"p": 0.5, "law": ["normal(0, 1)", "rademacher()"]})),
        Key("cases", CASES,
            description="The cases one by one, in place of crossed lists: each gives a value to "
            "the same parameters.",
            examples=([{"p": 0.1, "n": 10}, {"p": 0.5, "n": 40}],)),
        Key("requires",
            items(expression(), "a condition as text, or a list of conditions", "A condition.",
                  or_one=True),
            description="A condition on the parameters, or a list of conditions; a case that "
            "breaks one is an error.", default=(),
            examples=("0 <= p < 1", ["0 <= p < 1", "n >= 1"])),
        *_STATED,
        *_SHARED,
    ),
    apart=(_WAYS, *_PLACES, *_EACH), check=_check_cases, hint=_ID_HINT,
)  # fmt: skip
_CLAIM_KEYS = [key.name for key in CLAIM.keys if key.name != "claims"]

DEFAULTS = KeyTable(
    "defaults",
    description="Values for every claim that does not have its own.",
    keys=_SHARED,
    apart=(_WAYS,),
    misplaced=dict.fromkeys(_CLAIM_KEYS, "it belongs to each claim: give it there"),
    examples=({"resolution": 0.01},),
)

DOCUMENT = KeyTable(
    "document",
    description="A document that claims come from.",
    keys=(
        Key("title", LINE, description="The title of the document.",
            examples=("Notes on attention",), required="write its title, 'title: …'"),
        Key("date", date(), description="When it was written, in any form.",
            examples=("2024-02-13",)),
        Key("url", LINE, description="Where it is found.",
            examples=("https://example.org/notes",)),
    ),
)  # fmt: skip

FILE = KeyTable(
    "file",
    description="Mathematical claims, each of which dropcheck checks by simulation.",
    keys=(
        Key("dropcheck", format_number(FORMAT), description="The version of the format.",
            examples=(FORMAT,),
            required=f"make 'dropcheck: {FORMAT}' its first line: the number of the format"),
        Key("documents",
            named(DOCUMENT.kind, what="document ",
                  hint="write 'key:', and indent its title under it"),
            description="The documents that claims come from, each with a key.",
            examples=({"notes": {"title": "Notes on attention", "date": "2024-02-13"}},)),
        Key("models",
            named(_MODEL, _MODEL_NAMES, hint="write 'name: |', and indent its lines under it"),
            description="Models that several claims share: a name, and lines as under `model`. "
            "A model may name those above it.",
            examples=({"dropout": "x ~ normal(0, 1)\nm ~ bernoulli(1 - p)\n"},)),
        Key("slots",
            named(SLOT.kind, PARAMETERS, what="slot ",
                  hint="write 'name:', and indent its keys under it"),
            description="Names to which the person who runs the file may bind code, each with the "
            "mathematics that is used if no code is bound. The file itself names no code.",
            examples=({"scaled": {"takes": ["x", "c"], "gives": "c * x"}},)),
        Key("defaults", DEFAULTS.kind, description=DEFAULTS.description,
            examples=DEFAULTS.examples),
        Key("claims",
            named(CLAIM.kind, _IDS, what="claim ", if_empty="write at least one claim",
                  hint=_ID_HINT),
            description="The claims, each with a key of lower-case letters, digits and hyphens.",
            examples=({"mean-kept": {"title": "A fair coin", "claim": "P(x == 1) == 0.5"}},),
            required="begin a line with 'claims:', and indent the claims under it"),
    ),
    check=_check_file,
    misplaced=dict.fromkeys(_CLAIM_KEYS, "it is a key of a claim: indent it under the claim's id"),
)  # fmt: skip
LEVELS = (
    FILE, DOCUMENT, SLOT, DEFAULTS, CLAIM, STATEMENT, PASSAGE, TOLERANCE_LEVEL,
)  # fmt: skip


def claims_schema() -> Schema:
    """The JSON Schema (draft-07) of a claims file, for editors and other tools.

    It describes the form of a file. Errors that only the language knows (undefined names, unknown
    laws) are left to `check`.

    >>> claims_schema()["required"]
    ['dropcheck', 'claims']
    """
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"{SCHEMA_TITLE}, format {FORMAT}",
        **FILE.definition,
        "definitions": {
            **{one.name: one.definition for one in LEVELS[1:]},
            "value": VALUE_DEFINITION,
            "vector": VECTOR_DEFINITION,
        },
    }
