"""What a YAML file holds, as nodes that know their place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dropcheck.claims.source import Position
from dropcheck.records import dataclass


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value: as written, as YAML reads it, and where (`start` to `end`).

    `style` is the character that opens it (`'`, `"`, `|`, `>`), or "" for a plain one.
    """

    text: str
    value: str | int | float | bool | None
    start: Position
    end: Position
    style: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A YAML sequence."""

    items: tuple[Node, ...]
    start: Position


@dataclass(frozen=True, slots=True)
class Entry:
    """A value in a mapping, and where its key stands."""

    key_start: Position
    node: Node


@dataclass(frozen=True, slots=True)
class Tree:
    """A YAML mapping; keys are kept as written, so that `no` and `1` are names like others."""

    entries: Mapping[str, Entry]
    start: Position


@dataclass(frozen=True, slots=True)
class Broken:
    """What could not be read and has been reported; nothing more is said of it."""

    start: Position


Node = Scalar | Listing | Tree | Broken


def plain(node: Node) -> Any:
    """The node as plain Python data; a broken one is None."""
    match node:
        case Scalar():
            return node.value
        case Listing():
            return [plain(item) for item in node.items]
        case Tree():
            return {key: plain(entry.node) for key, entry in node.entries.items()}
        case Broken():
            return None


def shown(node: Node) -> str:
    """The node as a message names it: `'banana'`, `3`, `empty`, `a list`."""
    match node:
        case Scalar(value=str()):
            text = " ".join(node.text.split())
            return repr(text if len(text) <= 40 else text[:39] + "…")
        case Scalar():
            return "empty" if node.value is None else node.text[:40]
        case Listing():
            return "a list"
        case Tree():
            return "a mapping"
        case Broken():
            return "unreadable"
