"""Convert Python's syntax tree to ours, by an allow-list of node kinds.

Nothing in the text is ever run: `ast.parse` only reads. A kind of Python node that the language
lacks is an error that says what to write instead.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from dropcheck.claims.registry import SourceText
from dropcheck.claims.values import LITERAL, TOO_SMALL, vanishes
from dropcheck.language import syntax
from dropcheck.language.suggestions import NO_FUNCTIONS, attribute_hint
from dropcheck.language.syntax import Node, Position
from dropcheck.language.text_checks import NO_COMPREHENSION
from dropcheck.vocabulary import slot_calls
from dropcheck.vocabulary.functions.other_words import COMPLEX
from dropcheck.vocabulary.laws import LAWS

DEEPEST_NODES = 150  # keeps every recursion over the nodes far below Python's limit

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.MatMult: "@",
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_SHIFTS = {
    ast.LShift: ("'<<' is not part of the language", "write '* 2**n'"),
    ast.RShift: ("'>>' is not part of the language", "write '// 2**n'"),
}


class Converter:
    """Converts the expressions of one text."""

    def __init__(self, source: SourceText, first: int, lines: list[str]) -> None:
        self.source = source
        self.first = first
        self.lines = lines
        self.depth = 0

    def position(self, node: ast.expr) -> Position:
        """Where a node begins."""
        return self._place(node.lineno, node.col_offset)

    def _end(self, node: ast.expr) -> Position:
        """Where the operator stands that follows a node."""
        at = self._place(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        following = self.lines[at.line - self.first][at.column :]
        blank = len(following) - len(following.lstrip(" )"))
        return Position(self.source, at.line, at.column + blank)

    def _place(self, lineno: int, offset: int) -> Position:
        line = min(max(lineno - 2, 0), len(self.lines) - 1)
        text = self.lines[line]
        # Python counts columns in bytes of UTF-8, and we count characters.
        if text.isascii() and offset <= len(text):
            return Position(self.source, self.first + line, offset)
        prefix = text.encode()[:offset]
        return Position(self.source, self.first + line, len(prefix.decode(errors="ignore")))

    def convert(self, node: ast.expr) -> Node:
        """Convert one node.

        Raises:
            DropcheckError: the language has no such node.
        """
        self.depth += 1
        if self.depth > DEEPEST_NODES:
            raise self.position(node).error(
                f"this expression is nested deeper than {DEEPEST_NODES} levels",
                "name a part of it on a line of the model",
            )
        try:
            return self._convert(node)
        finally:
            self.depth -= 1

    def _all(self, nodes: Sequence[ast.expr]) -> tuple[Node, ...]:
        return tuple(self.convert(node) for node in nodes)

    def _convert(self, node: ast.expr) -> Node:
        at = self.position(node)
        match node:
            case ast.Constant(value=value):
                return self._constant(at, value)
            case ast.Name(id=name):
                return syntax.Name(at, name)
            case ast.Call():
                return self._call(at, node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return syntax.Negative(at, self.convert(operand))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.convert(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return syntax.Not(at, self.convert(operand))
            case ast.UnaryOp():
                raise at.error(
                    "'~' draws, and stands only after the names of a model's line",
                    "write 'not' for negation",
                )
            case ast.BinOp(left=left, op=op, right=right):
                if type(op) in _BINARY:
                    sides = self.convert(left), self.convert(right)
                    return syntax.Binary(at, _BINARY[type(op)], *sides)
                message, hint = _SHIFTS[type(op)]
                raise self._end(left).error(message, hint)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                if any(isinstance(sign, ast.In | ast.NotIn) for sign in ops):
                    return self._member(at, node)
                if any(type(sign) not in _COMPARE for sign in ops):
                    raise at.error("'is' is not part of the language", "compare with '=='")
                operators = tuple(_COMPARE[type(sign)] for sign in ops)
                return syntax.Compare(at, operators, self._all([left, *comparators]))
            case ast.BoolOp(op=op, values=values):
                operator = "and" if isinstance(op, ast.And) else "or"
                return syntax.Logic(at, operator, self._all(values))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return syntax.Conditional(at, *self._all([test, body, orelse]))
            case ast.List(elts=items):
                if not items:
                    raise at.error("a list needs at least one entry", "write for example [1, 2]")
                return syntax.ArrayLiteral(at, self._all(items))
            case ast.Subscript(value=base, slice=index):
                entries = index.elts if isinstance(index, ast.Tuple) else [index]
                if not entries:
                    raise at.error("an index is missing between the brackets", "write x[0]")
                array = self.convert(base)
                return syntax.Subscript(at, array, tuple(self._index(entry) for entry in entries))
            case ast.Attribute(value=base, attr="T"):
                return syntax.Transpose(at, self.convert(base))
            case ast.Attribute(value=base, attr=attribute):
                raise self._end(base).error(
                    f"'.{attribute}' is not part of the language",
                    f"'.T' is the only one; {attribute_hint(attribute)}",
                )
            case ast.Lambda():
                raise at.error("'lambda' is not part of the language", NO_FUNCTIONS)
            case ast.Tuple():
                raise at.error(
                    "a comma stands where one expression is expected",
                    "write a list as [a, b], and a number such as 1,000 without commas",
                )
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                raise at.error("a comprehension is not part of the language", NO_COMPREHENSION)
            case _:
                raise at.error(
                    f"{_kind(node)} is not part of the language",
                    "it has arithmetic, comparisons, lists, indexing and calls of its vocabulary",
                )

    def _member(self, at: Position, node: ast.Compare) -> Node:
        """`item in {a, b}`, and `item not in {a, b}`."""
        if len(node.ops) > 1:
            raise at.error(
                "'in' cannot be part of a chain of comparisons", "join them by 'and', in brackets"
            )
        (options,) = node.comparators
        if not isinstance(options, ast.Set):
            hint = "write for example x in {0, 1}"
            if isinstance(options, ast.Dict):
                raise self.position(options).error("a set needs at least one entry", hint)
            raise self.position(options).error(
                "right of 'in' stands a set of numbers in braces",
                f"{hint}; for a range write 0 <= x <= 1, and for an array all(…)",
            )
        member = syntax.Member(at, self.convert(node.left), self._all(options.elts))
        return member if isinstance(node.ops[0], ast.In) else syntax.Not(at, member)

    def _constant(self, at: Position, value: object) -> Node:
        if isinstance(value, bool):
            raise at.error(f"{value} is not part of the language", f"write {value:d}")
        if value is None or value is Ellipsis:
            shown = "None" if value is None else "'...'"
            raise at.error(f"{shown} is not part of the language", "write a number or a name")
        if not isinstance(value, int | float):
            raise at.error("complex numbers are not part of the language", COMPLEX)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isinf(number):
            raise at.error(
                "this number is too large for a float64",
                "the largest is about 1.8e308; infinity is inf",
            )
        if number == 0 and isinstance(value, float):
            written = LITERAL.match(at.source.text.split("\n")[at.line][at.column :])
            if written is not None and vanishes(written.group()):
                raise at.error(f"this number {TOO_SMALL}", "write 0, or what is meant")
        return syntax.Number(at, number)

    def _called(self, at: Position, function: ast.expr) -> str:
        """The name of the function that is called.

        Raises:
            DropcheckError: a call of something other than a name.
        """
        match function:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=ast.Name(id=slot), attr=slot_calls.EVAL):
                return slot_calls.evaluation_of(slot)
            case ast.Call(func=ast.Name(id=slot_calls.GRAD), args=[ast.Name(id=slot)], keywords=[]):
                return slot_calls.gradient_of(slot)
            case ast.Attribute(value=base, attr=name):
                raise self._end(base).error(
                    f"'.{name}(…)' is not part of the language",
                    attribute_hint(name, getattr(base, "attr", getattr(base, "id", ""))),
                )
            case ast.Call(func=ast.Name(id=name)) if name in LAWS:
                hint = f"the shape of a draw stands in square brackets: write {name}(…)[n]"
                raise at.error("only a name can be called", hint)
            case ast.Lambda():
                self.convert(function)
        raise at.error("only a name can be called", "write '*' between a number and a bracket")

    def _call(self, at: Position, node: ast.Call) -> Node:
        called = self._called(at, node.func)
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                raise self.position(argument).error(
                    "'*' before an argument is not part of the language", "write out the arguments"
                )
        keywords: dict[str, Node] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.position(keyword.value).error(
                    "'**' before an argument is not part of the language", "write out the arguments"
                )
            if keyword.arg in keywords:
                raise self.position(keyword.value).error(
                    f"{keyword.arg!r} of {called} is given twice", "take one of them out"
                )
            keywords[keyword.arg] = self.convert(keyword.value)
        return syntax.Call(at, called, self._all(node.args), tuple(keywords.items()))

    def _index(self, node: ast.expr) -> Node:
        if isinstance(node, ast.Slice):
            bounds = (node.lower, node.upper, node.step)
            ends = [None if end is None else self.convert(end) for end in bounds]
            start = Position(self.source, self.first, 0)
            return syntax.Slice(next((end.at for end in ends if end is not None), start), *ends)
        if isinstance(node, ast.Constant) and node.value is None:
            return syntax.NewAxis(self.position(node))
        if isinstance(node, ast.Constant) and node.value is Ellipsis:
            return syntax.Rest(self.position(node))
        return self.convert(node)


def _kind(node: ast.expr) -> str:
    names = {
        ast.Dict: "a dictionary", ast.Set: "a set in braces by itself",
        ast.NamedExpr: "':='", ast.Await: "'await'", ast.Yield: "'yield'",
        ast.JoinedStr: "a string", ast.Starred: "'*' before a name",
    }  # fmt: skip
    return names.get(type(node), type(node).__name__)
