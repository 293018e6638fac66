"""What pydantic finds wrong with a claims file, in our own words and at its place in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from dropcheck.claims.nodes import Broken, Entry, Listing, Node, Scalar, Tree, shown
from dropcheck.claims.schema import ClaimModel, DefaultsModel, DocumentModel, FileModel, Model
from dropcheck.claims.source import Position, Source
from dropcheck.claims.values import ACCEPTED, format_value, parse_number, percentage
from dropcheck.errors import Problem, nearest

_LEVELS: dict[str, type[Model]] = {
    "documents": DocumentModel,
    "defaults": DefaultsModel,
    "claims": ClaimModel,
}

# What a key must hold, for the messages; other keys are named by the type that they lack.
_EXPECTED = {
    "resolution": "a number greater than 0",
    "within": "a number greater than 0",
    "tolerance": "a share greater than 0 and less than 1",
    "expect": "'verified' or 'refuted'",
    "claim": "a statement as text",
    "model": "lines of text",
}
_BY_TYPE = {
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "a mapping of names to values",
    "model_type": "a mapping of names to values",
    "value_type": "a number or a law",
}
_MISSING = {
    "title": "write what it says in one sentence, 'title: …'",
    "claim": "write the statement, such as 'claim: Var(q @ k) == dk'",
    "claims": "begin a line with 'claims:', and indent the claims under it",
}


def problems(error: ValidationError, root: Tree, source: Source) -> Iterator[Problem]:
    """Each thing that pydantic found, where it stands and in our words."""
    found = error.errors(include_url=False, include_input=False)
    slips: dict[tuple[int | str, ...], list[str]] = {}  # level → its unknown keys
    for one in found:
        if one["type"] == "extra_forbidden":
            slips.setdefault(tuple(one["loc"][:-1]), []).append(str(one["loc"][-1]))
    for one in found:
        loc = tuple(one["loc"])
        if one["type"] == "extra_forbidden":
            yield _unknown(loc, root, source)
        elif one["type"] == "missing":
            unknown = slips.get(loc[:-1], ())[:100]  # more is no slip of the pen
            mistyped = any(nearest(name, _known(loc)) == loc[-1] for name in unknown)
            if not mistyped:  # the unknown key's hint says it
                yield _missing(loc, root, source)
        else:
            position, node, name = _walk(loc, root)
            if not isinstance(node, Broken):
                message, hint = _wrong(one, node, name)
                yield source.problem(position, message, hint)


def _known(loc: Sequence[int | str]) -> list[str]:
    """The keys of the level that a key at `loc` stands on."""
    model = FileModel if len(loc) == 1 else _LEVELS[str(loc[0])]
    return list(model.model_fields)


def _level(loc: Sequence[int | str]) -> str:
    """The level that a key at `loc` stands on, as a message names it."""
    if len(loc) == 1:
        return "the file"
    return "'defaults'" if loc[0] == "defaults" else f"{str(loc[0])[:-1]} {loc[1]!r}"


def _unknown(loc: tuple[int | str, ...], root: Tree, source: Source) -> Problem:
    name, known = str(loc[-1]), _known(loc)
    near = nearest(name, known)
    if near is not None:
        hint = f"did you mean {near!r}?"
    elif loc[0] == "defaults" and name in ClaimModel.model_fields:
        hint = "it belongs to each claim: give it there"
    elif len(loc) == 1 and name in ClaimModel.model_fields:
        hint = "it is a key of a claim: indent it under the claim's id"
    else:
        hint = "the keys here are " + ", ".join(known)
    position = _walk(loc, root, key=True)[0]
    return source.problem(position, f"{_level(loc)} has no key {name!r}", hint)


def _missing(loc: tuple[int | str, ...], root: Tree, source: Source) -> Problem:
    name = str(loc[-1])
    position = _walk(loc[:-1], root, key=True)[0]
    return source.problem(position, f"{_level(loc)} lacks {name!r}", _MISSING.get(name))


def _walk(
    loc: tuple[int | str, ...], root: Tree, *, key: bool = False
) -> tuple[Position, Node, str]:
    """Where `loc` leads: the place of its value (of its key for an unknown or `key`), and a name.

    A step that the file does not have is skipped: one number may stand for a list of one.
    """
    node: Node = root
    entry: Entry | None = None
    name = "the file"
    for place, step in enumerate(loc):
        if isinstance(node, Tree) and step in node.entries:
            entry = node.entries[str(step)]
            node, name = entry.node, repr(step)
            if place == 1 and loc[0] in ("claims", "documents"):
                name = f"{str(loc[0])[:-1]} {name}"
        elif isinstance(node, Listing) and isinstance(step, int):
            node, name, entry = node.items[step], f"an item of {name}", None
    absent = isinstance(node, Scalar) and node.value is None
    if entry is not None and (key or absent or isinstance(node, Tree | Listing)):
        return entry.key_start, node, name
    return node.start, node, name


def _wrong(one: Any, node: Node, name: str) -> tuple[str, str | None]:
    kind, bare = one["type"], name.rsplit(" ", 1)[-1].strip("'")
    if kind == "predicate":
        return f"{name} {one['ctx']['says']}", one["ctx"]["hint"]
    if isinstance(node, Scalar) and node.value is None:
        return f"{name} has no value", "leave it out, or give it one"
    if kind == "too_short":
        return f"{name} is empty", _if_empty(bare)
    expected = _EXPECTED.get(bare) or _BY_TYPE.get(kind) or "something else"
    return f"{name} must be {expected}, and is {shown(node)}", _mend(kind, bare, node)


def _of_a_share(bare: str, number: float | None) -> str | None:
    """What to write for a percentage, where one stands in place of a number."""
    if number is None:
        return None
    if bare == "within":  # what it is a share of is nowhere said
        return (
            f"it is absolute; for a share of the scale write 'resolution: {format_value(number)}'"
        )
    return f"write {format_value(number)}"


def _if_empty(bare: str) -> str:
    return "write at least one claim" if bare == "claims" else "leave it out, or put something in"


def _mend(kind: str, bare: str, node: Node) -> str | None:
    """What to write in place of a value of a wrong type."""
    if bare == "claims" and isinstance(node, Listing):
        return "claims have ids: in place of '- title: …' write 'my-claim:', and indent its keys"
    if kind == "dict_type" and bare == "cases":
        return "a case names its parameters: '- {p: 0.1, n: 10}'"
    if kind == "value_type":
        inner = isinstance(node, Listing | Tree)
        return "a list of values stands under 'parameters', one level deep" if inner else ACCEPTED
    if kind == "literal_error" and isinstance(node, Scalar):
        near = nearest(node.text, ("verified", "refuted"))
        return f"did you mean {near!r}?" if near else None
    if bare == "tolerance" and kind == "less_than":
        return "0.05 is 'within 5%'"
    if kind == "list_type" and isinstance(node, Scalar):
        return f"write [{node.text[:40]}]"
    if bare == "claim":
        return "a claim states something, such as 'claim: E(x) == 3'"
    if kind == "string_type" and isinstance(node, Scalar):
        return f"put it in quotes: '{node.text[:40]}'"
    if kind == "float_type" and isinstance(node, Scalar):
        try:
            return f"write {format_value(parse_number(node.text))}, without quotes"
        except ValueError:
            return _of_a_share(bare, percentage(node.text))
    return None
