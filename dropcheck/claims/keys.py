"""Tables of keys: what each key means, what its value may be, and which keys exclude each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dropcheck.claims.kinds import MAPPING, Field, KeyKind, Schema, read
from dropcheck.claims.nodes import Entry, Tree
from dropcheck.claims.source import Problems
from dropcheck.errors import nearest
from dropcheck.records import record


@record
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


@record
class ExclusiveKeys:
    """Two keys of which at most one may be given, and what to do if both are."""

    one: str
    other: str
    hint: str


@record
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
