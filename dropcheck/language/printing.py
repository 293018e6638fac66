"""Prints syntax trees as text that parses to the same tree, with the brackets that are needed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import IntEnum

from dropcheck.language import syntax
from dropcheck.language.syntax import (
    Loop,
    Model,
    ModelLine,
    Node,
    Statement,
    always,
    of_every_draw,
)
from dropcheck.vocabulary.operators import FOLLOWS

# The precedence of each form, as in Python's grammar, the loosest first.
Level = IntEnum("Level", "CONDITIONAL OR AND NOT COMPARE SUM PRODUCT SIGN POWER ATOM")
# Of each operator: its precedence, and the least precedence of its left and right operand.
_LEVELS = {
    "or": (Level.OR, Level.AND, Level.AND),
    "and": (Level.AND, Level.NOT, Level.NOT),
    **dict.fromkeys(("+", "-"), (Level.SUM, Level.SUM, Level.PRODUCT)),
    **dict.fromkeys(("*", "/", "//", "%", "@"), (Level.PRODUCT, Level.PRODUCT, Level.SIGN)),
    # a power binds tighter than a sign on its left, and looser than one on its right
    "**": (Level.POWER, Level.ATOM, Level.SIGN),
}
# Whole floats below this are written as integers: below it, every integer is exact.
_LARGEST_WHOLE = 1e16


def unparse(node: Node) -> str:
    """The text of an expression; `parse_expression` reads it as an equal tree.

    >>> from dropcheck.claims.registry import SourceText
    >>> from dropcheck.language.parser import parse_expression
    >>> unparse(parse_expression(SourceText.plain("-(x)**2*((a + b)-1.50)")))
    '-x**2 * (a + b - 1.5)'
    """
    return _TextWriter().text(node)


def unparse_statement(statement: Statement) -> str:
    """The text of a claim's statement."""
    return _TextWriter().statement(statement)


def unparse_model(model: Model, blanks: str = "") -> str:
    """The text of a model, one line for each; the lines of a loop's body are indented."""
    return "\n".join(blanks + _part(part, blanks) for part in model)


def _part(part: ModelLine | Loop, blanks: str) -> str:
    if isinstance(part, Loop):
        over = ", ".join(map(unparse, part.over))
        body = unparse_model(part.body, f"{blanks}    ")
        return f"for {part.name.name} in range({over}):\n{body}"
    names = ", ".join(name.name for name in part.names)
    return f"{names} {'~' if part.drawn else '='} {unparse(part.right)}"


class _TextWriter:
    """Writes trees as text."""

    def text(self, node: Node) -> str:
        return self.written(node)[0]

    def within(self, node: Node, least: int) -> str:
        """The text of a node, in brackets if its precedence is below `least`."""
        text, level = self.written(node)
        return text if level >= least else f"({text})"

    def statement(self, statement: Statement) -> str:
        """A claim's statement; a membership is written without `P(…) == 1` around it."""
        match statement.operands:
            case (syntax.Call(arguments=(event,)), _) if of_every_draw(event):
                if statement == always(event):
                    return self.text(event)
        if statement.about_laws:  # every form has a higher precedence than this operator
            return f" {FOLLOWS} ".join(map(self.text, statement.operands))
        return self.chain(statement.operators, statement.operands)

    def chain(self, operators: Sequence[str], operands: Sequence[Node]) -> str:
        """Comparisons one after another."""
        first, *rest = (self.within(operand, Level.SUM) for operand in operands)
        links = zip(operators, rest, strict=True)
        return first + "".join(f" {operator} {text}" for operator, text in links)

    def listed(self, nodes: Iterable[Node]) -> str:
        return ", ".join(self.text(node) for node in nodes)

    def written(self, node: Node) -> tuple[str, int]:
        """The text of a node, and its precedence."""
        match node:
            case syntax.Number(value=value):
                return self.number(value)
            case syntax.Name(name=name):
                return name, Level.ATOM
            case syntax.Call():
                return self.call(node)
            case syntax.Negative(operand=operand):
                return f"-{self.within(operand, Level.SIGN)}", Level.SIGN
            case syntax.Binary():
                return self.binary(node)
            case syntax.Compare(operators=operators, operands=operands):
                return self.chain(operators, operands), Level.COMPARE
            case syntax.Logic(operator=operator, operands=operands):
                level, least, _ = _LEVELS[operator]
                parts = [self.within(operand, least) for operand in operands]
                return f" {operator} ".join(parts), level
            case syntax.Not(operand=operand):
                return f"not {self.within(operand, Level.NOT)}", Level.NOT
            case syntax.Member(item=item, options=options):
                text = f"{self.within(item, Level.SUM)} in {{{self.listed(options)}}}"
                return text, Level.COMPARE
            case syntax.Conditional(condition=condition, then=then, otherwise=otherwise):
                taken, asked = self.within(then, Level.OR), self.within(condition, Level.OR)
                return f"{taken} if {asked} else {self.text(otherwise)}", Level.CONDITIONAL
            case syntax.ArrayLiteral(items=items):
                return f"[{self.listed(items)}]", Level.ATOM
            case syntax.Subscript(base=base, index=index):
                entries = ", ".join(self.index(entry) for entry in index)
                return f"{self.base(base)}[{entries}]", Level.ATOM
            case syntax.Transpose(base=base):
                return f"{self.base(base)}.T", Level.ATOM
            case _:
                raise TypeError(f"no expression: {node!r}")

    def index(self, node: Node) -> str:
        """An entry of an index: a number, a list, a slice, `None` or `...`."""
        if isinstance(node, syntax.NewAxis):
            return "None"
        if isinstance(node, syntax.Rest):
            return "..."
        if not isinstance(node, syntax.Slice):
            return self.text(node)
        ends = ["" if end is None else self.text(end) for end in (node.start, node.stop)]
        return ":".join([*ends, *([self.text(node.step)] if node.step else [])])

    def sides(self, node: syntax.Binary) -> tuple[str, str]:
        """The operands of a node, in brackets where they need them."""
        _, left, right = _LEVELS[node.operator]
        return self.within(node.left, left), self.within(node.right, right)

    def number(self, value: float) -> tuple[str, int]:
        return number_text(value), Level.SIGN if math.copysign(1.0, value) < 0 else Level.ATOM

    def call(self, node: syntax.Call) -> tuple[str, int]:
        parts = [self.text(argument) for argument in node.arguments]
        parts += [f"{keyword}={self.text(value)}" for keyword, value in node.keywords]
        return f"{node.name}({', '.join(parts)})", Level.ATOM

    def binary(self, node: syntax.Binary) -> tuple[str, int]:
        sign = node.operator if node.operator == "**" else f" {node.operator} "
        return sign.join(self.sides(node)), _LEVELS[node.operator][0]

    def base(self, node: Node) -> str:
        """The text of the operand of an index or a transpose."""
        if isinstance(node, syntax.Number):  # `2.T` would be read as the number `2.` and a name
            return f"({self.text(node)})"
        return self.within(node, Level.ATOM)


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
