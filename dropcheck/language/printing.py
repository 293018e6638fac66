"""Nodes to text: what the parser reads back as the same nodes, with no bracket too many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum

from dropcheck.language.syntax import (
    Array,
    Binary,
    Call,
    Compare,
    Conditional,
    Logic,
    ModelLine,
    Name,
    Negative,
    Node,
    Not,
    Number,
    Slice,
    Statement,
    Subscript,
    Transpose,
)


class Level(IntEnum):
    """How tightly each form binds, as in Python's grammar: the loosest first."""

    CONDITIONAL = 0
    OR = 1
    AND = 2
    NOT = 3
    COMPARE = 4
    SUM = 5
    PRODUCT = 6
    SIGN = 7
    POWER = 8
    ATOM = 9


_BINARY = {
    "+": Level.SUM,
    "-": Level.SUM,
    "*": Level.PRODUCT,
    "/": Level.PRODUCT,
    "//": Level.PRODUCT,
    "%": Level.PRODUCT,
    "@": Level.PRODUCT,
}
# Floats up to here are written as whole numbers where they are whole: each has its own text.
_LARGEST_WHOLE = 1e16


def unparse(node: Node) -> str:
    """The text of an expression; `parse_expression` of it gives equal nodes.

    >>> from dropcheck.claims.registry import SourceText
    >>> from dropcheck.language.parser import parse_expression
    >>> unparse(parse_expression(SourceText.plain("-(x)**2*((a + b)-1.50)")))
    '-x**2 * (a + b - 1.5)'
    """
    return _written(node)[0]


def unparse_statement(statement: Statement) -> str:
    """The text of a claim's statement."""
    return _chain(statement.operators, statement.operands)


def unparse_model(lines: Sequence[ModelLine]) -> str:
    """The text of a model, a line each."""
    return "\n".join(_line(line) for line in lines)


def _line(line: ModelLine) -> str:
    names = ", ".join(name.name for name in line.names)
    return f"{names} {'~' if line.drawn else '='} {unparse(line.right)}"


def _within(node: Node, least: int) -> str:
    """The text of a node where only forms that bind at least so tightly can stand."""
    text, level = _written(node)
    return text if level >= least else f"({text})"


def _written(node: Node) -> tuple[str, int]:
    match node:
        case Number(value=value):
            return number_text(value), Level.SIGN if math.copysign(1.0, value) < 0 else Level.ATOM
        case Name(name=name):
            return name, Level.ATOM
        case Call(name=name, arguments=arguments, keywords=keywords):
            parts = [unparse(argument) for argument in arguments]
            parts += [f"{keyword}={unparse(value)}" for keyword, value in keywords]
            return f"{name}({', '.join(parts)})", Level.ATOM
        case Negative(operand=operand):
            return f"-{_within(operand, Level.SIGN)}", Level.SIGN
        case Binary(operator="**", left=left, right=right):
            # a power binds tighter than a sign on its left, looser than one on its right
            return f"{_within(left, Level.ATOM)}**{_within(right, Level.SIGN)}", Level.POWER
        case Binary(operator=operator, left=left, right=right):
            level = _BINARY[operator]
            return f"{_within(left, level)} {operator} {_within(right, level + 1)}", level
        case Compare(operators=operators, operands=operands):
            return _chain(operators, operands), Level.COMPARE
        case Logic(operator=operator, operands=operands):
            level = Level.AND if operator == "and" else Level.OR
            parts = [_within(operand, level + 1) for operand in operands]
            return f" {operator} ".join(parts), level
        case Not(operand=operand):
            return f"not {_within(operand, Level.NOT)}", Level.NOT
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            first, asked = _within(then, Level.OR), _within(condition, Level.OR)
            return f"{first} if {asked} else {unparse(otherwise)}", Level.CONDITIONAL
        case Array(items=items):
            return f"[{', '.join(unparse(item) for item in items)}]", Level.ATOM
        case Subscript(base=base, index=index):
            return f"{_base(base)}[{', '.join(_index(entry) for entry in index)}]", Level.ATOM
        case Transpose(base=base):
            return f"{_base(base)}.T", Level.ATOM
        case _:
            raise TypeError(f"no expression: {node!r}")


def _base(node: Node) -> str:
    # `2.T` would be read as the number `2.` and a name
    return f"({unparse(node)})" if isinstance(node, Number) else _within(node, Level.ATOM)


def _chain(operators: Sequence[str], operands: Sequence[Node]) -> str:
    first, *rest = (_within(operand, Level.SUM) for operand in operands)
    links = (f" {operator} {text}" for operator, text in zip(operators, rest, strict=True))
    return first + "".join(links)


def _index(node: Node) -> str:
    if not isinstance(node, Slice):
        return unparse(node)
    start, stop, step = (
        "" if end is None else unparse(end) for end in (node.start, node.stop, node.step)
    )
    return f"{start}:{stop}" + (f":{step}" if step else "")


def number_text(value: float) -> str:
    """The shortest text that reads back as the same float64.

    >>> number_text(2.0), number_text(0.1), number_text(1e-9)
    ('2', '0.1', '1e-9')
    """
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"  # the constant of that name
    if value == int(value) and abs(value) < _LARGEST_WHOLE:
        return ("-" if math.copysign(1.0, value) < 0 else "") + str(abs(int(value)))
    mantissa, separator, exponent = repr(value).partition("e")
    return f"{mantissa}e{int(exponent)}" if separator else mantissa
