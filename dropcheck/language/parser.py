"""Text to nodes. Python's own grammar reads the text; what we do not know by name is refused.

Nothing of the text is ever run: `ast.parse` only reads, and each kind of Python node that the
language has is turned into a node of our own. Every other kind is an error that says what to
write instead.
"""

from __future__ import annotations

import ast
import re
import warnings

from dropcheck.claims.registry import SourceText
from dropcheck.errors import DropcheckError, Problem
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
    Position,
    Slice,
    Statement,
    Subscript,
    Transpose,
)

# Bounds on one expression: far above what anybody writes, far below what could exhaust the reader.
LONGEST_EXPRESSION = 20_000  # characters
DEEPEST_BRACKETS = 60
DEEPEST_NODES = 150  # levels of nodes; keeps every walk over them well inside Python's recursion

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_OTHER_OPERATORS = {
    ast.BitXor: ("'^' is not a power", "write '**' for a power"),
    ast.BitAnd: ("'&' is not part of the language", "write 'and'"),
    ast.BitOr: ("'|' is not part of the language", "write 'or', and abs(x) for a magnitude"),
    ast.LShift: ("'<<' is not part of the language", "write '* 2**n'"),
    ast.RShift: ("'>>' is not part of the language", "write '// 2**n'"),
}
# What people type from a paper or a keyboard with mathematics on it.
_SYMBOLS = {
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "×": "*",
    "·": "*",
    "÷": "/",
    "−": "-",
    "²": "**2",
    "³": "**3",
    "√": "sqrt(…)",
    "∞": "inf",
    "∼": "~",
    "…": "the numbers themselves",
    "“": "no quotes",
    "”": "no quotes",
    "∧": "and",
    "∨": "or",
    "¬": "not",
    "∑": "sum(…)",
    "Σ(": "sum(…)",
    "ᵀ": ".T",
    "⊤": ".T",
}


def parse_expression(source: SourceText) -> Node:
    """The expression that the whole text is.

    Raises:
        DropcheckError: with the place of the first thing that is not of the language.

    >>> parse_expression(SourceText.plain("2 * x"))
    Binary(operator='*', left=Number(value=2.0), right=Name(name='x'))
    """
    lines = _without_comments(source.text.split("\n"))
    _check_brackets(source, lines)
    return _parse_lines(source, 0, lines)


def parse_model(source: SourceText) -> tuple[ModelLine, ...]:
    r"""The lines of a model, in order.

    Raises:
        DropcheckError: with every line that cannot be read.

    >>> [line.drawn for line in parse_model(SourceText.plain("x ~ normal(0, 1)\ny = x + 1"))]
    [True, False]
    """
    lines = _without_comments(source.text.split("\n"))
    _check_brackets(source, lines)
    problems: list[Problem] = []
    found: list[ModelLine] = []
    for first, group in _logical_lines(lines):
        try:
            found.append(_parse_model_line(source, first, group))
        except DropcheckError as error:
            problems.extend(error.problems)
    if problems:
        raise DropcheckError(problems)
    return tuple(found)


def parse_statement(source: SourceText) -> Statement:
    """A claim's statement: `L == R`, an inequality, or a range.

    Raises:
        DropcheckError: where the text is no such statement; the hint says how to write it.

    >>> parse_statement(SourceText.plain("E(x) == 1")).operators
    ('==',)
    """
    node = parse_expression(source)
    if isinstance(node, Logic) and node.operator == "and":
        raise node.at.error(
            "a claim states one thing, and this joins several with 'and'",
            "write one claim for each, or P(… and …) == 1",
        )
    if not isinstance(node, Compare):
        raise node.at.error(
            "a claim compares two sides, and this is one side alone",
            "write 'L == R', an inequality such as 'L <= R', or a range 'a <= L <= b'",
        )
    operators = node.operators
    if "!=" in operators:
        raise node.at.error(
            "'!=' cannot be verified by sampling: any two numbers may differ by less than is seen",
            "claim an inequality, '<' or '>', or 'L == R' with 'expect: refuted'",
        )
    rising = all(operator in ("<", "<=") for operator in operators)
    falling = all(operator in (">", ">=") for operator in operators)
    if len(operators) == 2 and not (rising or falling):
        raise node.at.error(
            "a range needs two signs of the same direction",
            "write 'a <= L <= b'",
        )
    if len(operators) > 2:
        raise node.at.error(
            "a claim has one or two signs of comparison, and this has more",
            "write 'L == R' or 'a <= L <= b', and one claim for each",
        )
    return Statement(node.at, operators, node.operands)


def _without_comments(lines: list[str]) -> list[str]:
    return [line.split("#", 1)[0] for line in lines]


def _check_brackets(source: SourceText, lines: list[str]) -> None:
    """Refuse what could overwhelm Python's parser, and name an unbalanced bracket's own place."""
    if sum(map(len, lines)) > LONGEST_EXPRESSION:
        raise Position(source, 0, 0).error(
            f"this text is longer than {LONGEST_EXPRESSION:,} characters",
            "split it over lines of the model",
        )
    open_brackets: list[tuple[str, int, int]] = []
    pairs = {")": "(", "]": "[", "}": "{"}
    for number, line in enumerate(lines):
        for column, character in enumerate(line):
            if character in _SYMBOLS:
                raise Position(source, number, column).error(
                    f"{character!r} is not part of the language", f"write {_SYMBOLS[character]}"
                )
            if character in "'\"":
                raise Position(source, number, column).error(
                    "the language has no strings",
                    "names and numbers need no quotes; a law is written without them in a model",
                )
            if character in "([{":
                open_brackets.append((character, number, column))
                if len(open_brackets) > DEEPEST_BRACKETS:
                    raise Position(source, number, column).error(
                        f"brackets are nested deeper than {DEEPEST_BRACKETS} levels",
                        "name a part of it on a line of the model",
                    )
            elif character in ")]}":
                if not open_brackets:
                    raise Position(source, number, column).error(
                        f"{character!r} closes a bracket that was never opened", "take it out"
                    )
                opened, line_, column_ = open_brackets.pop()
                if opened != pairs[character]:
                    raise Position(source, number, column).error(
                        f"{character!r} closes {opened!r} of column {column_ + 1}"
                        if line_ == number
                        else f"{character!r} closes {opened!r} of an earlier line",
                        "brackets close in the order in which they were opened",
                    )
    if open_brackets:
        opened, number, column = open_brackets[-1]
        raise Position(source, number, column).error(f"{opened!r} is never closed", "close it")


def _logical_lines(lines: list[str]) -> list[tuple[int, list[str]]]:
    """Lines joined while a bracket is open: (number of the first, its lines)."""
    groups: list[tuple[int, list[str]]] = []
    depth = 0
    for number, line in enumerate(lines):
        if depth:
            groups[-1][1].append(line)
        elif line.strip():
            groups.append((number, [line]))
        depth += sum(line.count(b) for b in "([{") - sum(line.count(b) for b in ")]}")
    return groups


_MODEL_SIGN = re.compile(r"~|(?<![=!<>])=(?!=)|:=|<-")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")


def _parse_model_line(source: SourceText, first: int, group: list[str]) -> ModelLine:
    here = Position(source, first, len(group[0]) - len(group[0].lstrip()))
    sign = _MODEL_SIGN.search(group[0])
    opened = min((i for i in map(group[0].find, "([{") if i >= 0), default=len(group[0]))
    if sign is None or sign.start() > opened:
        raise here.error(
            "a line of a model reads 'name ~ law' or 'name = expression'",
            "'~' draws from a law, '=' gives a name to an expression",
        )
    if sign.group() not in ("~", "="):
        raise Position(source, first, sign.start()).error(
            f"{sign.group()!r} is not part of the language",
            "write '~' to draw from a law, '=' to name an expression",
        )
    drawn = sign.group() == "~"
    names = []
    column = 0
    for part in group[0][: sign.start()].split(","):
        name = part.strip()
        at = Position(source, first, column + len(part) - len(part.lstrip()))
        if not _IDENTIFIER.fullmatch(name):
            raise at.error(
                f"{name!r} cannot be a name" if name else "a name is missing here",
                "a name has letters, digits and underscores, and starts with a letter",
            )
        names.append(Name(at, name))
        column += len(part) + 1
    if not drawn and len(names) > 1:
        raise here.error(
            "'=' names one expression, and this has several names", "write a line for each"
        )
    # Blank out what stands left, so that columns stay those of the file.
    right = [" " * sign.end() + group[0][sign.end() :], *group[1:]]
    if not any(line.strip() for line in right):
        raise Position(source, first, sign.end()).error(
            f"nothing stands right of {sign.group()!r}",
            "write a law such as normal(0, 1)" if drawn else "write an expression",
        )
    return ModelLine(tuple(names), drawn, _parse_lines(source, first, right))


def _parse_lines(source: SourceText, first: int, lines: list[str]) -> Node:
    """Parse lines that hold one expression, `first` being the number of the first."""
    # An opening bracket on a line of its own lets the expression run over lines as it likes.
    text = "(\n" + "\n".join(lines) + "\n)"
    if not text[2:-2].strip():
        raise Position(source, first, 0).error("an expression is missing here", "write one")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's advice about 3(x) is not ours
            tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise _syntax_error(source, first, lines, error) from None
    except (RecursionError, MemoryError, ValueError):
        raise Position(source, first, 0).error(
            "this expression is too long or too deeply nested to read",
            "name a part of it on a line of the model",
        ) from None
    return _Converter(source, first, lines).convert(tree.body)


def _syntax_error(
    source: SourceText, first: int, lines: list[str], error: SyntaxError
) -> DropcheckError:
    line = min(max((error.lineno or 2) - 2, 0), len(lines) - 1)
    column = min(max((error.offset or 1) - 1, 0), len(lines[line]))
    at = Position(source, first + line, column)
    text = lines[line]
    lone_equals = _MODEL_SIGN.search(text)
    if re.search(r"(?<![\w.])\d+(?:\.\d+)?[^\W\d_eE]", text):
        return at.error(
            "a number and a name stand side by side", "write '*' between them: 2 * x, not 2x"
        )
    if lone_equals and lone_equals.group() == "=":
        return Position(source, first + line, lone_equals.start()).error(
            "'=' does not compare", "write '==' for equality"
        )
    if "~" in text:
        return at.error("'~' draws, and stands only after the names of a model's line")
    detail = (error.msg or "").split(".")[0]
    plain = {"invalid syntax": "this cannot be read as an expression"}
    message = plain.get(detail, f"this cannot be read as an expression ({detail})")
    if "comma" in detail:
        message = "this cannot be read as an expression: an operator or a comma is missing"
    return at.error(message, "the language has Python's arithmetic, comparisons and calls")


class _Converter:
    """Python's tree to ours, by an allow-list of node kinds."""

    def __init__(self, source: SourceText, first: int, lines: list[str]) -> None:
        self.source = source
        self.first = first
        self.lines = lines
        self.depth = 0

    def position(self, node: ast.expr) -> Position:
        line = min(max(node.lineno - 2, 0), len(self.lines) - 1)
        # Python counts columns in bytes of UTF-8; people count characters.
        prefix = self.lines[line].encode()[: node.col_offset]
        return Position(self.source, self.first + line, len(prefix.decode(errors="ignore")))

    def convert(self, node: ast.expr) -> Node:
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

    def _convert(self, node: ast.expr) -> Node:
        at = self.position(node)
        match node:
            case ast.Constant(value=value):
                return self._constant(at, value)
            case ast.Name(id=name):
                return Name(at, name)
            case ast.Call():
                return self._call(at, node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Negative(at, self.convert(operand))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.convert(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Not(at, self.convert(operand))
            case ast.BinOp(left=left, op=op, right=right):
                if type(op) in _BINARY:
                    return Binary(at, _BINARY[type(op)], self.convert(left), self.convert(right))
                message, hint = _OTHER_OPERATORS[type(op)]
                raise at.error(message, hint)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                if any(type(sign) not in _COMPARE for sign in ops):
                    raise at.error(
                        "'in' and 'is' are not part of the language",
                        "compare with '==', and join comparisons with 'or'",
                    )
                operators = tuple(_COMPARE[type(sign)] for sign in ops)
                return Compare(
                    at, operators, tuple(self.convert(operand) for operand in (left, *comparators))
                )
            case ast.BoolOp(op=op, values=values):
                operator = "and" if isinstance(op, ast.And) else "or"
                return Logic(at, operator, tuple(self.convert(value) for value in values))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return Conditional(at, self.convert(test), self.convert(body), self.convert(orelse))
            case ast.List(elts=items):
                if not items:
                    raise at.error("a list needs at least one entry", "write for example [1, 2]")
                return Array(at, tuple(self.convert(item) for item in items))
            case ast.Subscript(value=base, slice=index):
                entries = index.elts if isinstance(index, ast.Tuple) else [index]
                if not entries:
                    raise at.error("an index is missing between the brackets", "write x[0]")
                return Subscript(
                    at, self.convert(base), tuple(self._index(entry) for entry in entries)
                )
            case ast.Attribute(value=base, attr="T"):
                return Transpose(at, self.convert(base))
            case ast.Attribute(attr=attribute):
                raise at.error(
                    f"'.{attribute}' is not part of the language",
                    f"'.T' is the only one; functions are called by name: {attribute}(x)",
                )
            case ast.Tuple():
                raise at.error(
                    "a comma stands where one expression is expected", "write a list: [a, b]"
                )
            case _:
                raise at.error(
                    f"{_kind(node)} is not part of the language",
                    "it has arithmetic, comparisons, lists, indexing and calls of its vocabulary",
                )

    def _constant(self, at: Position, value: object) -> Node:
        if isinstance(value, bool) or value is None or value is Ellipsis:
            words = {True: "write 1", False: "write 0"}
            hint = words.get(value) if isinstance(value, bool) else None
            raise at.error(f"{value} is not part of the language", hint)
        if isinstance(value, complex) or not isinstance(value, int | float):
            raise at.error("only real numbers are part of the language")
        try:
            return Number(at, float(value))
        except OverflowError:
            raise at.error(
                "this number is too large for a float64", "the largest is about 1.8e308"
            ) from None

    def _call(self, at: Position, node: ast.Call) -> Node:
        if isinstance(node.func, ast.Attribute):
            raise at.error(
                f"'.{node.func.attr}(…)' is not part of the language",
                f"functions are called by name: {node.func.attr}(x)",
            )
        if not isinstance(node.func, ast.Name):
            raise at.error("only a name can be called", "write '*' between a number and a bracket")
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                raise self.position(argument).error("'*' before an argument is not in the language")
        keywords: dict[str, Node] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise at.error("'**' before an argument is not part of the language")
            keywords[keyword.arg] = self.convert(keyword.value)
        arguments = tuple(self.convert(argument) for argument in node.args)
        return Call(at, node.func.id, arguments, tuple(keywords.items()))

    def _index(self, node: ast.expr) -> Node:
        if isinstance(node, ast.Slice):
            ends = (None if end is None else self.convert(end) for end in _slice_ends(node))
            start, stop, step = ends
            place = next((end for end in (start, stop, step) if end is not None), None)
            at = place.at if place is not None else Position(self.source, self.first, 0)
            return Slice(at, start, stop, step)
        return self.convert(node)


def _slice_ends(node: ast.Slice) -> tuple[ast.expr | None, ast.expr | None, ast.expr | None]:
    return node.lower, node.upper, node.step


def _kind(node: ast.expr) -> str:
    names = {
        ast.Lambda: "'lambda'",
        ast.ListComp: "a comprehension",
        ast.SetComp: "a comprehension",
        ast.DictComp: "a comprehension",
        ast.GeneratorExp: "a comprehension",
        ast.Dict: "a dictionary",
        ast.Set: "a set in braces",
        ast.NamedExpr: "':='",
        ast.Await: "'await'",
        ast.Yield: "'yield'",
        ast.JoinedStr: "a string",
        ast.UnaryOp: "'~' inside an expression",
        ast.Starred: "'*' before a name",
    }
    return names.get(type(node), type(node).__name__)
