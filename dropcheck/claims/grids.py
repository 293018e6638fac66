"""The parameters of a claim: their names, their values, and the cases that they make."""

from __future__ import annotations

import keyword
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice

from dropcheck.claims import values
from dropcheck.claims.kinds import (
    LARGEST_NUMBER,
    NOT_EMPTY,
    Field,
    KeyKind,
    Names,
    Schema,
    WrongError,
    named,
    read,
)
from dropcheck.claims.nodes import Entry, Listing, Scalar, Tree, YamlNode
from dropcheck.claims.registry import MOST_CASES, MOST_STATEMENTS
from dropcheck.claims.source import Problems
from dropcheck.claims.values import (
    LONGEST_NAME,
    RangeError,
    count_values,
    name_problem,
    read_values,
)
from dropcheck.errors import nearest
from dropcheck.results import ParameterValue, Vector


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


# ---- checks of several keys together -------------------------------------------------------------


def check_claim(tree: Tree, report: Problems) -> None:
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
    count = count_cases(tree)
    if count > MOST_CASES:
        sizes = [len(rows), *(_length(entry.node) for entry in grid.values())]
        factors = " × ".join(str(size) for size in sizes if size > 1)
        message = f"the grid has {count:,} cases ({factors}), and the most is {MOST_CASES:,}"
        hint = "use fewer values of each, or list the points that matter under 'cases'"
        report.add(tree.entries["parameters" if grid else "cases"].key_start, message, hint)


def mapping_at(tree: Tree, key: str) -> Mapping[str, Entry]:
    """The entries of the mapping under a key; empty if there is no mapping."""
    entry = tree.entries.get(key)
    return entry.node.entries if entry is not None and isinstance(entry.node, Tree) else {}


def items_at(tree: Tree, key: str) -> Sequence[YamlNode]:
    """The items of the list under a key; empty if there is no list."""
    entry = tree.entries.get(key)
    return entry.node.items if entry is not None and isinstance(entry.node, Listing) else ()


def _rows(tree: Tree) -> list[Tree]:
    return [item for item in items_at(tree, "cases") if isinstance(item, Tree)]


def count_cases(tree: Tree) -> int:
    """How many cases a claim has; none of them is made."""
    sizes = (_length(entry.node) for entry in mapping_at(tree, "parameters").values())
    return math.prod(sizes) * max(len(_rows(tree)), 1)


def _length(node: YamlNode) -> int:
    """How many values a grid has, at least 1."""
    if isinstance(node, Listing):
        return max(1, sum(1 if isinstance(one, Listing) else _length(one) for one in node.items))
    return count_values(node.text) if isinstance(node, Scalar) else 1
