"""Words of the language that stand as strings in source text."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

from sources import PACKAGE


def words_in(source: str, words: Collection[str]) -> Iterator[tuple[int, str]]:
    """The line and the word of every string that is one of some words.

    Docstrings and the parts of formatted text are messages, and do not count.
    """
    return ((line, text) for line, text in _strings(source) if text in words)


@cache
def _strings(source: str) -> tuple[tuple[int, str], ...]:
    tree = ast.parse(source)
    messages = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr | ast.JoinedStr | ast.FormattedValue)
        for part in (node.values if isinstance(node, ast.JoinedStr) else (node.value,))
    }
    return tuple(
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in messages
    )


def modules() -> dict[Path, str]:
    """Every module outside the vocabulary, and its room."""
    rooms = {path: path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py")}
    return {path: room for path, room in rooms.items() if room != "vocabulary"}


def let_pass_for_nothing(allowed: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The words that a rule allows in a room, of those that no module of the room has."""
    left = {room: set(words) for room, words in allowed.items()}
    for path, room in modules().items():
        left.get(room, set()).difference_update(
            {word for _, word in words_in(path.read_text(), allowed.get(room, set()))}
        )
    return {room: words for room, words in left.items() if words}
