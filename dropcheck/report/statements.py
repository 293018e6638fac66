"""A statement's text, taken apart just far enough to show its sides and its relation."""

from __future__ import annotations

import re

_OPERATOR = re.compile(r"(?<![\w.])(?:E|Var|Std|Cov|Corr|P|Skew|Kurt)\s*\(")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_RELATION = re.compile(r"==|!=|<=|>=|<|>")


def split_statement(statement: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The sides of a statement and the relations between them, outside all brackets.

    >>> split_statement("P(x > 3) >= 0.9")
    (('P(x > 3)', '0.9'), ('>=',))
    >>> split_statement("0.4 <= E(x) <= 0.5")
    (('0.4', 'E(x)', '0.5'), ('<=', '<='))
    """
    statement = re.sub(r"#[^\n]*", "", statement)
    sides: list[str] = []
    relations: list[str] = []
    depth = start = at = 0
    while at < len(statement):
        depth += (statement[at] in "([") - (statement[at] in ")]")
        found = _RELATION.match(statement, at) if depth == 0 else None
        if found:
            sides.append(statement[start:at].strip())
            relations.append(found.group())
            start = at = found.end()
        else:
            at += 1
    return (*sides, statement[start:].strip()), tuple(relations)


def relation(statement: str) -> str:
    """The relation of what is estimated to what is claimed; `==` where there are not two sides.

    >>> relation("E(x) < 2"), relation("2 < E(x)")
    ('<', '>')
    """
    sides, relations = split_statement(statement)
    if len(relations) != 1:
        return "=="
    mirrored = _OPERATOR.search(sides[1]) and not _OPERATOR.search(sides[0])
    return _MIRRORED.get(relations[0], relations[0]) if mirrored else relations[0]


def compares_estimates(statement: str) -> bool:
    """Whether both sides are estimated, so that their difference is what is measured.

    >>> compares_estimates("E(y) == E(x)"), compares_estimates("E(y) == 0")
    (True, False)
    """
    sides, relations = split_statement(statement)
    return len(relations) == 1 and all(_OPERATOR.search(side) for side in sides)
