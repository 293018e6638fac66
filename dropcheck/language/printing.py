"""Prints syntax trees as text that parses to the same tree, by Python's own writer."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable

from dropcheck.claims.values import format_value
from dropcheck.language import syntax
from dropcheck.language.syntax import BINARY_SIGNS, COMPARISON_SIGNS, Loop, Model, Node, Statement
from dropcheck.vocabulary.operators import FOLLOWS

# Whole floats below this are written as integers: below it, every integer is exact.
_LARGEST_WHOLE = 1e16
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d*)?(?:e[-+]?\d+)?")
_BINARY = {sign: kind for kind, sign in BINARY_SIGNS.items()}
_COMPARISONS = {sign: kind for kind, sign in COMPARISON_SIGNS.items()}


def unparse(node: Node) -> str:
    """The text of an expression; `parse_expression` reads it as an equal tree.

    >>> from dropcheck.claims.registry import SourceText
    >>> from dropcheck.language.parser import parse_expression
    >>> unparse(parse_expression(SourceText.plain("-(x)**2*((a + b)-1.50)")))
    '-x**2 * (a + b - 1.5)'
    """
    text = ast.unparse(_python(node)).replace(" ** ", "**")
    return _NUMBER.sub(lambda found: format_value(float(found.group())), text)


def unparse_statement(statement: Statement) -> str:
    """The text of a claim's statement; a membership is written without `P(…) == 1` around it."""
    match statement.operands:
        case (syntax.Call(arguments=(event,)), _) if syntax.of_every_draw(
            event
        ) and statement == syntax.always(event):
            return unparse(event)
    first, *rest = map(unparse if statement.about_laws else side_text, statement.operands)
    links = zip(statement.operators, rest, strict=True)
    return first + "".join(f" {operator} {text}" for operator, text in links)


def unparse_model(model: Model, blanks: str = "") -> str:
    """The text of a model, one line for each; the lines of a loop's body are indented."""
    lines: list[str] = []
    for part in model:
        if isinstance(part, Loop):
            over = ", ".join(map(unparse, part.over))
            lines.append(f"{blanks}for {part.name.name} in range({over}):")
            lines.append(unparse_model(part.body, f"{blanks}    "))
        else:
            names = ", ".join(name.name for name in part.names)
            lines.append(f"{blanks}{names} {FOLLOWS if part.drawn else '='} {unparse(part.right)}")
    return "\n".join(lines)


def side_text(node: Node) -> str:
    """The text of a side of a comparison."""
    looser = syntax.Compare | syntax.Logic | syntax.Not | syntax.Member | syntax.Conditional
    return f"({unparse(node)})" if isinstance(node, looser) else unparse(node)


def _python(node: Node | None) -> ast.expr:
    """The node as Python's own."""
    match node:
        case syntax.Number(value=value):
            whole = abs(value) < _LARGEST_WHOLE and value == int(value)
            own = ast.Constant(abs(int(value)) if whole else abs(value))
            return own if math.copysign(1.0, value) > 0 else ast.UnaryOp(ast.USub(), own)
        case syntax.Name(name=name):
            return ast.Name(name)
        case syntax.Call(name=name, arguments=arguments, keywords=keywords):
            named = [ast.keyword(key, _python(value)) for key, value in keywords]
            return ast.Call(ast.Name(name), _all(arguments), named)
        case syntax.Negative(operand=operand):
            return ast.UnaryOp(ast.USub(), _python(operand))
        case syntax.Binary(operator=sign, left=left, right=right):
            return ast.BinOp(_python(left), _BINARY[sign](), _python(right))
        case syntax.Compare(operators=signs, operands=operands):
            first, *rest = _all(operands)
            return ast.Compare(first, [_COMPARISONS[sign]() for sign in signs], rest)
        case syntax.Logic(operator=word, operands=operands):
            return ast.BoolOp(ast.And() if word == "and" else ast.Or(), _all(operands))
        case syntax.Not(operand=operand):
            return ast.UnaryOp(ast.Not(), _python(operand))
        case syntax.Member(item=item, options=options):
            return ast.Compare(_python(item), [ast.In()], [ast.Set(_all(options))])
        case syntax.Conditional(then=then, condition=condition, otherwise=otherwise):
            return ast.IfExp(_python(condition), _python(then), _python(otherwise))
        case syntax.ArrayLiteral(items=items):
            return ast.List(_all(items))
        case syntax.Subscript(base=base, index=index):
            entries = _all(index)
            return ast.Subscript(
                _python(base), entries[0] if len(entries) == 1 else ast.Tuple(entries)
            )
        case syntax.Slice(start=start, stop=stop, step=step):
            ends = [None if end is None else _python(end) for end in (start, stop, step)]
            return ast.Slice(*ends)
        case syntax.Transpose(base=base):
            return ast.Attribute(_python(base), "T")
        case _:
            assert isinstance(node, syntax.Axes)
            return ast.Constant(node.sign)


def _all(nodes: Iterable[Node]) -> list[ast.expr]:
    return list(map(_python, nodes))
