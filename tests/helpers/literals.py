"""Words of the language that stand as strings in source text."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator


def words_in(source: str, words: Collection[str]) -> Iterator[tuple[int, str]]:
    """The line and the word of every string that is one of some words.

    Docstrings and the parts of formatted text are messages, and do not count.
    """
    tree = ast.parse(source)
    messages = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr | ast.JoinedStr | ast.FormattedValue)
        for part in (node.values if isinstance(node, ast.JoinedStr) else (node.value,))
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in messages:
            continue
        if isinstance(node.value, str) and node.value in words:
            yield node.lineno, node.value
