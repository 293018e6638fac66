"""Parses texts to syntax trees: expressions, lines of a model, statements.

Python's own parser reads the text, and `conversion` turns its tree into ours.
"""

from __future__ import annotations

import ast
import keyword
import math
import re
import unicodedata
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from dropcheck.claims.registry import SourceText
from dropcheck.claims.values import LITERAL, LONGEST_NAME, TOO_SMALL, vanishes
from dropcheck.errors import MOST_PROBLEMS, DropcheckError, Problem, at_most
from dropcheck.language import syntax
from dropcheck.language.hints import (
    COMPLEX,
    LIKELY,
    LINES,
    NO_COMPREHENSION,
    NO_FUNCTIONS,
    ODD_SIGNS,
    attribute_hint,
    likely,
)
from dropcheck.language.syntax import (
    BINARY_SIGNS,
    COMPARISON_SIGNS,
    ROUNDED,
    Call,
    Compare,
    Logic,
    Loop,
    Model,
    ModelLine,
    Name,
    Node,
    Number,
    Position,
    Statement,
    always,
    of_every_draw,
    unsigned,
    walk,
)
from dropcheck.vocabulary import function as slot_calls
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import EXAMPLES, FOLLOWS, INDEPENDENT, OPERATORS

# ---- text checks ---------------------------------------------------------------------------------
#
# Checks of a text before Python's grammar reads it, and clear messages for what that refuses.
#
# Before: comments, brackets, characters, lines that continue. This also refuses what could exhaust
# the parser, and what it would report at the wrong place. After: a syntax error becomes a message
# about the likely mistake.


# Limits of a text: far above what anybody writes, far below what could exhaust the parser.
LONGEST_EXPRESSION = 20_000  # characters
LONGEST_MODEL = 400_000
DEEPEST_BRACKETS = 60
DEEPEST_LOOPS = 8  # loops within one another

_CLOSES = {")": "(", "]": "[", "}": "{"}
_BRACKET = re.compile(r"[()\[\]{}]")
_PLAIN = re.compile(r"[\w \t+\-*/%@<>=~.,:()\[\]{}]*", re.ASCII)
_ODD = re.compile(rf"\+/?-|~=|\.\.|\w{{{LONGEST_NAME + 1}}}")


def without_comments(text: str) -> list[str]:
    r"""The lines of a text without their comments.

    >>> without_comments("a + 1  # one more\r\nb")
    ['a + 1  ', 'b']
    """
    return [line.split("#", 1)[0].removesuffix("\r") for line in text.split("\n")]


def check_brackets(source: SourceText, lines: list[str], longest: int) -> None:
    """Refuse brackets that do not match or are nested too deeply, and texts that are too long.

    `lines` are all lines of the source, without comments.

    Raises:
        DropcheckError: at the first such bracket.
    """
    if sum(map(len, lines)) > longest:
        raise Position(source, 0, 0).error(
            f"this text is longer than {longest:,} characters",
            "put what repeats in an array: a shape in brackets draws many values on one line",
        )
    open_brackets: list[tuple[str, Position]] = []
    for number, line in enumerate(lines):
        for found in _BRACKET.finditer(line):
            character, at = found.group(), Position(source, number, found.start())
            if character not in _CLOSES:
                open_brackets.append((character, at))
                if len(open_brackets) > DEEPEST_BRACKETS:
                    message = f"brackets are nested deeper than {DEEPEST_BRACKETS} levels"
                    raise at.error(message, "name a part of it on a line of the model")
                continue
            if not open_brackets or open_brackets.pop()[0] != _CLOSES[character]:
                message = f"{character!r} closes no bracket that is open here"
                raise at.error(message, "brackets close in the order in which they were opened")
    if open_brackets:
        opened, at = open_brackets[-1]
        raise at.error(f"{opened!r} is never closed", "close it")


def check_signs(source: SourceText, first: int, lines: list[str]) -> None:
    """Refuse characters that the language lacks; `first` is the number of the first line.

    Raises:
        DropcheckError: at the first such character.
    """
    for number, line in enumerate(lines, first):
        if _PLAIN.fullmatch(line) and not _ODD.search(line):
            continue
        error = likely(ODD_SIGNS, source, number, line, LONGEST_MODEL)
        if error is not None:
            raise error
        for column, character in enumerate(line):
            if character.isascii() and (character.isprintable() or character == "\t"):
                continue
            if not f"a{character}".isidentifier():
                message = f"{character!r} is not part of the language"
                hint = "names are letters, digits and '_'; signs are those of Python's arithmetic"
                if not character.isprintable():
                    message = f"an invisible character stands here (U+{ord(character):04X})"
                    hint = "delete it, and type a space if one is meant"
                raise Position(source, number, column).error(message, hint)


def logical_lines(lines: list[str]) -> list[tuple[int, list[str]]]:
    """Lines joined while a bracket is open: (number of the first line, the lines).

    >>> logical_lines(["a = [1,", "2]", "", "b = 3"])
    [(0, ['a = [1,', '2]']), (3, ['b = 3'])]
    """
    groups: list[tuple[int, list[str]]] = []
    depth = 0
    for number, line in enumerate(lines):
        if depth:
            groups[-1][1].append(line)
        elif line.strip():
            groups.append((number, [line]))
        depth += sum(line.count(b) for b in "([{") - sum(line.count(b) for b in ")]}")
    return groups


def syntax_error(source: SourceText, lines: list[str], error: SyntaxError) -> DropcheckError:
    """Python's syntax error as an error of ours, at its place; the text has a line before these."""
    line = (error.lineno or 2) - 2
    column = (error.offset or 1) - 1
    if line >= len(lines):  # the text ends too early
        line, column = len(lines) - 1, len(lines[-1].rstrip())
    line = max(line, 0)
    at = Position(source, line, min(max(column, 0), len(lines[line])))
    detail = error.msg or ""
    if "positional argument follows" in detail:
        return at.error(
            "an argument by position stands after one by name", "write those by name last"
        )
    if "digits" in detail:  # of a whole number with thousands of them
        return at.error("this number is too large for a float64", "the largest is about 1.8e308")
    if "'else'" in detail:
        return at.error("'if' lacks its 'else'", "write 'a if condition else b'")
    known = likely(LIKELY, source, line, lines[line])
    if known is not None:
        return known
    message = "this cannot be read as an expression"
    hint = "the language has Python's arithmetic, comparisons and calls"
    if "comma" in detail:
        message += ": an operator or a comma is missing"
        hint = f"write ',' between arguments, an operator between numbers; {hint}"
    return at.error(message, hint)


# ---- conversion ----------------------------------------------------------------------------------
#
# Convert Python's syntax tree to ours, by an allow-list of node kinds.
#
# Nothing in the text is ever run: `ast.parse` only reads. A kind of Python node that the language
# lacks is an error that says what to write instead.


DEEPEST_NODES = 150  # keeps every recursion over the nodes far below Python's limit

_COMPREHENSION = ("a comprehension is not part of the language", NO_COMPREHENSION)
_USUAL = "it has arithmetic, comparisons, lists, indexing and calls of its vocabulary"
_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.LShift: ("'<<' is not part of the language", "write '* 2**n'"),
    ast.RShift: ("'>>' is not part of the language", "write '// 2**n'"),
    ast.Is: ("'is' is not part of the language", "compare with '=='"),
    ast.IsNot: ("'is' is not part of the language", "compare with '=='"),
    ast.Invert: ("'~' draws, and stands only after the names of a model's line",
                 "write 'not' for negation"),
    ast.Lambda: ("'lambda' is not part of the language", NO_FUNCTIONS),
    **dict.fromkeys((ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp), _COMPREHENSION),
    ast.Set: ("a set in braces by itself is not part of the language", "write a list as [a, b]"),
    ast.Dict: ("a dictionary is not part of the language", _USUAL),
    ast.NamedExpr: ("':=' is not part of the language", _USUAL),
    ast.Starred: ("'*' before a name is not part of the language", "write out the arguments"),
}  # fmt: skip
"""What Python has and the language lacks."""


class Converter:
    """Converts the expressions of one text."""

    def __init__(
        self, source: SourceText, lines: list[str], first: int = -1, blanks: int = 0
    ) -> None:
        self.source = source
        self.lines = lines
        self.first = first  # where the parsed text begins, whose first line lacks so many blanks
        self.blanks = blanks
        self.depth = 0

    def position(self, node: ast.expr) -> Position:
        """Where a node begins."""
        return self._place(node.lineno, node.col_offset)

    def _end(self, node: ast.expr) -> Position:
        """Where the operator stands that follows a node."""
        at = self._place(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        following = self.lines[at.line][at.column :]
        blank = len(following) - len(following.lstrip(" )"))
        return Position(self.source, at.line, at.column + blank)

    def _place(self, lineno: int, offset: int) -> Position:
        line = min(max(self.first + lineno - 1, 0), len(self.lines) - 1)
        # Python counts columns in bytes of UTF-8, and we count characters.
        before = self.lines[line].encode(errors="replace")[: offset + self.blanks * (lineno == 1)]
        return Position(self.source, line, len(before.decode(errors="ignore")))

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
            case ast.UnaryOp(op=op):
                raise at.error(*_REFUSED[type(op)])
            case ast.BinOp(left=left, op=op, right=right):
                if type(op) not in BINARY_SIGNS:
                    raise self._end(left).error(*_REFUSED[type(op)])
                sides = self.convert(left), self.convert(right)
                return syntax.Binary(at, BINARY_SIGNS[type(op)], *sides)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                if any(isinstance(sign, ast.In | ast.NotIn) for sign in ops):
                    return self._member(at, node)
                for sign in ops:
                    if type(sign) not in COMPARISON_SIGNS:
                        raise at.error(*_REFUSED[type(sign)])
                operators = tuple(COMPARISON_SIGNS[type(sign)] for sign in ops)
                return syntax.Compare(at, operators, self._all([left, *comparators]))
            case ast.BoolOp(op=op, values=values):
                operator = "and" if isinstance(op, ast.And) else "or"
                return syntax.Logic(at, operator, self._all(values))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return syntax.Conditional(at, *self._all([body, test, orelse]))
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
                raise self._attribute(base, attribute, f"'.{attribute}'")
            case ast.Tuple(elts=items):
                comma = self._end(items[0]) if items else at
                raise comma.error(
                    "a comma stands where one expression is expected",
                    "write a list as [a, b], one line for each law, a shape as normal(0, 1)[2, 3], "
                    "and a number such as 1,000 without commas",
                )
            case _:
                usual = f"{type(node).__name__} is not part of the language", _USUAL
                raise at.error(*_REFUSED.get(type(node), usual))

    def _member(self, at: Position, node: ast.Compare) -> Node:
        """`item in {a, b}`, and `item not in {a, b}`."""
        if len(node.ops) > 1:
            raise at.error(
                "'in' cannot be part of a chain of comparisons", "join them by 'and', in brackets"
            )
        (options,) = node.comparators
        if not isinstance(options, ast.Set):
            raise self.position(options).error(
                "right of 'in' stands a set of numbers in braces",
                "write for example x in {0, 1}; for a range 0 <= x <= 1, and for an array all(…)",
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
        number = float(value) if abs(value) < 2**1024 - 2**970 else math.inf
        if math.isinf(number):
            raise at.error(
                "this number is too large for a float64",
                "the largest is about 1.8e308; infinity is inf",
            )
        if isinstance(value, int):
            return syntax.Number(at, number, str(value))
        written = LITERAL.match(self.lines[at.line][at.column :])
        if written is None:
            return syntax.Number(at, number)
        if number == 0 and vanishes(written.group()):
            raise at.error(f"this number {TOO_SMALL}", "write 0, or what is meant")
        return syntax.Number(at, number, written.group())

    def _called(self, at: Position, function: ast.expr) -> str:
        """The name of the function that is called."""
        match function:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=ast.Name(id=slot), attr=slot_calls.EVAL):
                return slot + slot_calls.EVALUATED
            case ast.Call(func=ast.Name(id=slot_calls.GRAD), args=[ast.Name(id=slot)], keywords=[]):
                return f"{slot_calls.GRAD}({slot})"
            case ast.Attribute(value=base, attr=name):
                raise self._attribute(base, name, f"'.{name}(…)'")
            case ast.Call(func=ast.Name(id=name)) if name in LAWS:
                hint = f"the shape of a draw stands in square brackets: write {name}(…)[n]"
                raise at.error("only a name can be called", hint)
        raise at.error("only a name can be called", "write '*' between a number and a bracket")

    def _attribute(self, base: ast.expr, name: str, written: str) -> DropcheckError:
        """The error for `base.name` and `base.name(…)`."""
        owner = getattr(base, "attr", getattr(base, "id", ""))
        at = self._end(base)
        hint = attribute_hint(name, owner, FOLLOWS in self.lines[at.line])
        return at.error(f"{written} is not part of the language", hint)

    def _call(self, at: Position, node: ast.Call) -> Node:
        called = self._called(at, node.func)
        keywords: dict[str, Node] = {}
        for named in node.keywords:
            if named.arg is None:
                raise self.position(named.value).error(
                    "'**' before an argument is not part of the language", "write out the arguments"
                )
            if named.arg in keywords:
                raise self.position(named.value).error(
                    f"{named.arg!r} of {called} is given twice", "take one of them out"
                )
            keywords[named.arg] = self.convert(named.value)
        return syntax.Call(at, called, self._all(node.args), tuple(keywords.items()))

    def _index(self, node: ast.expr) -> Node:
        if isinstance(node, ast.Slice):
            bounds = (node.lower, node.upper, node.step)
            ends = [None if end is None else self.convert(end) for end in bounds]
            start = Position(self.source, 0, 0)
            return syntax.Slice(next((end.at for end in ends if end is not None), start), *ends)
        if isinstance(node, ast.Constant) and node.value in (None, ...):
            return syntax.Axes(self.position(node), node.value)
        return self.convert(node)


# ---- parser --------------------------------------------------------------------------------------

# Texts that several claims share are one object, and parsed once.
_once = lru_cache(maxsize=4096)
_Read = TypeVar("_Read")


@_once
def parse_expression(source: SourceText) -> Node:
    """The syntax tree of a text that is one expression.

    Raises:
        DropcheckError: at the first thing that is not part of the language.

    >>> parse_expression(SourceText.plain("2 * x"))
    Binary(operator='*', left=Number(value=2.0), right=Name(name='x'))
    """
    lines = without_comments(source.text)
    check_brackets(source, lines, LONGEST_EXPRESSION)
    check_signs(source, 0, lines)
    return _parse_lines(source, lines)


def parse_model(source: SourceText) -> Model:
    r"""The lines of a model in order; the lines of a loop are within the loop.

    Raises:
        DropcheckError: the problems of all lines that cannot be parsed.

    >>> [line.drawn for line in parse_model(SourceText.plain("x ~ normal(0, 1)\ny = x + 1"))]
    [True, False]
    """
    found, unread = model_lines(source)
    if unread:
        raise DropcheckError(at_most(problem for one in unread for problem in one.problems))
    return found


@dataclass(frozen=True, slots=True)
class UnreadLine:
    """A line of a model that cannot be parsed, and why."""

    text: str
    problems: tuple[Problem, ...]


@_once
def model_lines(source: SourceText) -> tuple[Model, tuple[UnreadLine, ...]]:
    """The lines of a model that can be parsed, and those that cannot.

    If the first line of a loop cannot be parsed, the lines of its body are treated as outside it.
    """
    lines = without_comments(source.text)
    try:
        check_brackets(source, lines, LONGEST_MODEL)
    except DropcheckError as error:  # then it is not known where a line ends
        return (), (UnreadLine(source.text, error.problems),)
    reader = _ModelReader(source, lines)
    return reader.body(), tuple(reader.unread)


class _ModelReader:
    """Reads a model line by line, as Python with `=` for `~`.

    Lines that cannot be read go to `unread`. A loop's body are the lines below its first line that
    are indented further, all by the same blanks. Outside of loops, indentation means nothing.
    """

    def __init__(self, source: SourceText, lines: list[str]) -> None:
        self.source, self.lines = source, lines
        self.left = deque(logical_lines(lines))
        self.unread: list[UnreadLine] = []
        self.depth = 0  # of loops

    def body(self, outer: str | None = None) -> Model:
        """The lines of the model, or of a loop before whose first line these blanks stand."""
        parts: list[ModelLine | Loop] = []
        inner: str | None = None
        after = ""  # the line above
        while self.left and len(self.unread) < MOST_PROBLEMS:
            first, rows = self.left[0]
            blanks = rows[0][: len(rows[0]) - len(rows[0].lstrip())]
            if outer is not None and len(blanks) <= len(outer):
                break
            self.left.popleft()
            inner = blanks if inner is None else inner
            # a line such as `if x > 1:` has an error of its own
            alike = outer is None or (blanks == inner and blanks.startswith(outer))
            if not alike and not after.endswith(":"):
                error = Position(self.source, first, len(blanks)).error(
                    "this line is not indented as the loop's first one is",
                    "indent all lines of a body alike, by blanks alone",
                )
                self.unread.append(UnreadLine("", error.problems))
            after = rows[-1].rstrip()
            if _LOOP.match(rows[0]):
                parts += self._loop(first, rows, blanks)
                after = ""
            elif (line := self._read(first, rows, self._line)) is not None:
                parts.append(line)
        return tuple(parts)

    def _read(
        self, first: int, rows: list[str], read: Callable[[int, list[str]], _Read]
    ) -> _Read | None:
        try:
            return read(first, rows)
        except DropcheckError as error:
            self.unread.append(UnreadLine("\n".join(rows), error.problems))
        return None

    def _statement(self, text: str) -> ast.stmt | None:
        """Python's statement in the text of a line; None where its grammar refuses it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are about Python code
            try:
                (statement,) = ast.parse(text.lstrip()).body
            except (SyntaxError, RecursionError, MemoryError, ValueError):
                return None
        return statement

    def _line(self, first: int, rows: list[str]) -> ModelLine:
        text = "\n".join(rows)
        if len(text) > LONGEST_EXPRESSION:
            raise Position(self.source, first, 0).error(
                f"this expression is longer than {LONGEST_EXPRESSION:,} characters",
                "name a part of it on a line of the model",
            )
        check_signs(self.source, first, rows)
        sign = _sign_of_line(rows[0])
        drawn = sign is not None and sign.group() == FOLLOWS
        if sign is not None and drawn:
            text = f"{text[: sign.start()]}={text[sign.end() :]}"
        converter = Converter(self.source, self.lines, first, len(text) - len(text.lstrip()))
        match self._statement(text):
            case ast.Assign(targets=[target], value=value):
                listed = target.elts if isinstance(target, ast.Tuple) else [target]
                alone = listed[-1].end_col_offset == target.end_col_offset  # no bracket or comma
                names = tuple(
                    Name(converter.position(one), one.id)
                    for one in listed
                    if alone and isinstance(one, ast.Name)
                )
                if len(names) == len(listed) and (drawn or len(names) == 1):
                    return ModelLine(names, drawn, converter.convert(value))
        raise _refused_line(self.source, first, rows)

    def _loop(self, first: int, rows: list[str], blanks: str) -> Model:
        """A loop; nothing if its first line cannot be read: its body alone means something else."""
        at = Position(self.source, first, len(blanks))
        header = self._read(first, rows, self._header)
        if self.depth >= DEEPEST_LOOPS:
            message = f"loops stand within one another deeper than {DEEPEST_LOOPS} levels"
            error = at.error(message, "draw arrays in place of inner loops")
            self.unread.append(UnreadLine("", error.problems))
            self.left.clear()
            return ()
        below = list(self.left)
        self.depth += 1
        body = self.body(blanks)
        self.depth -= 1
        del below[len(below) - len(self.left) :]
        if not below and rows[-1].rstrip().endswith(":"):
            hint = "indent at least one line below it, under 'model: |'"
            self.unread.append(UnreadLine("", at.error("this loop has no body", hint).problems))
        if header is None:  # whatever its body defines is defined
            text = "\n".join(row for _, rows in below for row in rows)
            self.unread.append(UnreadLine(text, ()))
            return ()
        return (Loop(at, *header, body),)

    def _header(self, first: int, rows: list[str]) -> tuple[Name, tuple[Node, ...]]:
        """The name that a loop counts with, and the numbers that bound it."""
        text = "\n".join(rows)
        at = Position(self.source, first, len(text) - len(text.lstrip()))
        headed = _HEADER.match(rows[0])
        if headed:  # else more is wrong with it than its signs
            check_signs(self.source, first, rows)
        converter = Converter(self.source, self.lines, first, at.column)
        match self._statement(f"{text} pass"):
            case ast.For(
                target=ast.Name(id=name) as target,
                iter=ast.Call(func=ast.Name(id="range"), keywords=[], args=[_, *_] as over),
                body=[ast.Pass()],
            ) if len(over) <= 3:
                numbers = tuple(map(converter.convert, over))
                return Name(converter.position(target), name), numbers
        column = headed.end() if headed else at.column  # what it goes through is most often wrong
        message = "a loop's first line reads 'for t in range(T):', and ends with the colon"
        raise Position(self.source, first, column).error(message, _HOW)


_ONE_EACH = (
    "write one claim for each; those of one model stand under 'claims' in place of 'claim', each "
    "with a name"
)
_COMPARES = re.compile(r"[=<>~]")


@_once
def parse_statement(source: SourceText) -> Statement:
    """A claim's statement: `L == R`, an inequality, a range, `x in {a, b}`, or one about laws.

    Raises:
        DropcheckError: it is not such a statement; the hint says how to write it.

    >>> parse_statement(SourceText.plain("E(x) == 1")).operators
    ('==',)
    >>> parse_statement(SourceText.plain("y ~ normal(0, 1)")).operators
    ('~',)
    """
    rounded = ROUNDED in source.text
    if rounded:  # of one length, so that places stay as they are
        source = replace(source, text=source.text.replace(ROUNDED, "=="))
    follows = _law_statement(source)
    if follows is not None:
        return follows
    try:
        node = parse_expression(source)
    except DropcheckError:
        second = _second_statement(source.text)
        if second is None:
            raise
        at = Position(source, *second)
        raise at.error("a second statement begins here", _ONE_EACH) from None
    if rounded:
        return _rounded(node)
    if isinstance(node, Call) and node.name == INDEPENDENT:
        return Statement(node.at, (), (node,))
    if isinstance(node, Logic) and any(
        isinstance(one, Call) and one.name in OPERATORS for one in walk(node)
    ):
        raise node.at.error(
            f"a claim states one thing, and this joins several with {node.operator!r}", _ONE_EACH
        )
    if of_every_draw(node):
        return always(node)
    if not isinstance(node, Compare):
        hint = "write 'L == R', an inequality such as 'L <= R', or a range 'a <= L <= b'"
        if isinstance(node, syntax.Not):
            hint = "write it without 'not', and 'expect: refuted' on a line below"
        called = FUNCTIONS.get(node.name) if isinstance(node, Call) else None
        if isinstance(node, Logic) or (called is not None and called.truth):
            hint = f"claim its probability: P({' '.join(source.text.split())}) == 1"
        raise node.at.error("a claim compares two sides, and this is one side alone", hint)
    signs = {*node.operators}
    one_way = signs <= {"<", "<="} or signs <= {">", ">="}
    for wrong, message, hint in (
        ("!=" in signs,
         "'!=' cannot be verified by sampling: any two numbers may differ by less than is seen",
         "claim an inequality, '<' or '>', or 'L == R' with 'expect: refuted'"),
        (len(node.operators) == 2 and not one_way,
         "a range needs two signs of the same direction",
         "write 'a <= L <= b', or one claim for each comparison"),
        (len(node.operators) > 2,
         "a claim has one or two signs of comparison, and this has more",
         "write 'L == R' or 'a <= L <= b', and one claim for each"),
    ):  # fmt: skip
        if wrong:
            raise node.at.error(message, hint)
    return Statement(node.at, node.operators, node.operands)


def _second_statement(text: str) -> tuple[int, int] | None:
    """Line and column of a second comparison, after a comma, a semicolon or an end of line."""
    starts = [0, *(place + 1 for _, place in _outside_brackets([text], ",;\n"))]
    parts = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    if len(parts) < 2 or not all(map(_COMPARES.search, filter(str.strip, parts))):
        return None
    place = starts[1] + len(parts[1]) - len(parts[1].lstrip())
    return text.count("\n", 0, place), place - text.rfind("\n", 0, place) - 1


def _rounded(node: Node) -> Statement:
    """The statement `L ~= 0.41`."""
    operands = node.operands if isinstance(node, Compare) and node.operators == ("==",) else ()
    if not any(isinstance(one, Number | Name) for one in map(unsigned, operands)):
        raise node.at.error(
            f"{ROUNDED!r} stands once, between a side and the digits of a number",
            f"write the number out, as in L {ROUNDED} 0.41, or '=='",
        )
    return Statement(node.at, (ROUNDED,), operands)


def _law_statement(source: SourceText) -> Statement | None:
    """`y ~ law` or `x ~ y`; None for a statement without `~`."""
    lines = without_comments(source.text)
    place = next(_outside_brackets(lines, FOLLOWS), None)
    if place is None:
        return None
    check_brackets(source, lines, LONGEST_EXPRESSION)
    check_signs(source, 0, lines)
    row, column = place
    at = Position(source, row, column)
    # Replace the other side by blanks, so that columns stay those of the file.
    left = [*lines[:row], lines[row][:column]]
    right = [""] * row + [" " * (column + 1) + lines[row][column + 1 :], *lines[row + 1 :]]
    for side, words in ((left, "left"), (right, "right")):
        if not any(map(str.strip, side)):
            raise at.error(
                f"nothing stands {words} of {FOLLOWS!r}", f"write for example {EXAMPLES}"
            )
    operands = (_parse_lines(source, left), _parse_lines(source, right))
    return Statement(at, (FOLLOWS,), operands)


# ---- lines that are refused ----------------------------------------------------------------------

_LINE = "a line of a model reads 'name ~ law' or 'name = expression'"
_NAME = (
    "a name has letters, digits and underscores, starts with a letter, and stands alone; of many "
    "draw an array: x ~ normal(0, 1)[5]"
)
_HOW = (
    "write for t in range(T): for 0, …, T - 1, or range(1, n + 1) for 1, …, n, and the lines of "
    "the body below it, indented; x[t] is element t of an array"
)

_LOOP = re.compile(r"\s*for(?!\w)")
_HEADER = re.compile(r"\s*for(?!\w).*?(?<!\w)in(?!\w)\s*")
_MODEL_SIGN = re.compile(r"~|(?<![=!<>])=(?!=)|:=|<-")


def _sign_of_line(row: str) -> re.Match[str] | None:
    """The sign of a model's line; None if there is none before the first bracket."""
    sign = _MODEL_SIGN.search(row)
    bracket = _BRACKET.search(row)
    return None if sign is None or (bracket and bracket.start() < sign.start()) else sign


def _refused_line(source: SourceText, first: int, rows: list[str]) -> DropcheckError:
    """The error for a line of a model that neither draws nor names an expression."""
    row = rows[0]
    here = Position(source, first, len(row) - len(row.lstrip()))
    known = likely(LINES, source, first, row)
    if known is not None:
        return known
    sign = _sign_of_line(row)
    if sign is None:
        hint = "'~' draws from a law, '=' gives a name to an expression"
        return here.error(_LINE, hint)
    drawn = sign.group() == FOLLOWS
    wrong = _wrong_name(row[: sign.start()], Position(source, first, 0))
    if wrong is not None:
        return wrong
    if not drawn and "," in row[: sign.start()]:
        message = "'=' names one expression, and this has several names"
        return here.error(
            message, "write a line for each: x, y ~ law draws each, and x[0], x[1] are elements"
        )
    # Replace the left side by blanks, so that columns stay those of the file.
    right = [" " * sign.end() + row[sign.end() :], *rows[1:]]
    if not any(line.strip() for line in right):
        hint = "write a law such as normal(0, 1)" if drawn else "write an expression"
        message = f"nothing stands right of {sign.group()!r}"
        return Position(source, first, sign.end()).error(message, hint)
    second = _second_definition(row, sign.end())
    if second is not None:
        return Position(source, first, second).error(
            "a second definition begins on this line",
            "write each on a line of its own, under 'model: |'; 'model: >' folds lines into one",
        )
    try:
        _parse_lines(source, [""] * first + right)
    except DropcheckError as error:
        return error
    return here.error(_LINE)


def _outside_brackets(rows: list[str], signs: str) -> Iterator[tuple[int, int]]:
    """Row and column of each of these signs that stands outside of brackets."""
    depth = 0
    for row, text in enumerate(rows):
        for column, character in enumerate(text):
            depth += (character in "([{") - (character in ")]}")
            if depth == 0 and character in signs:
                yield row, column


def _wrong_name(text: str, begins: Position) -> DropcheckError | None:
    """The error for the first of some texts between commas that cannot be a name."""
    column = begins.column
    for part in text.split(","):
        name = unicodedata.normalize("NFKC", part.strip())
        at = replace(begins, column=column + len(part) - len(part.lstrip()))
        column += len(part) + 1
        if keyword.iskeyword(name):
            message = f"{name!r} is a word of Python's grammar, and cannot be a name"
            return at.error(message, f"choose another name, such as {name}_")
        if not name.isidentifier():
            message = f"{name!r} cannot be a name" if name else "a name is missing here"
            return at.error(message, _NAME)
    return None


# A name with a sign that defines it, after something that can end an expression.
_SECOND = re.compile(r"((?<!\w)\w+|[)\]])(?:\s+|\s*,\s*)([^\W\d]\w*)\s*(?:~|(?<![=!<>])=(?!=))")


def _second_definition(line: str, start: int) -> int | None:
    """The column, right of `start`, where a second definition begins, outside all brackets."""
    again = re.compile(r"\s*(?!\d)\w+\s*=(?![=>])").match(line, start)
    if again is not None:  # x = y = 3
        return again.end() - len(again.group().lstrip())
    outside = {column for _, column in _outside_brackets([line[start:]], line)}
    for found in _SECOND.finditer(line, start):
        words = keyword.iskeyword(found[1]) or keyword.iskeyword(found[2])
        if found.start(2) - start in outside and not words:
            return found.start(2)
    return None


def _parse_lines(source: SourceText, lines: list[str]) -> Node:
    """Parse lines that hold one expression; those before it may be blank."""
    if not any(map(str.strip, lines)):
        raise Position(source, 0, 0).error("an expression is missing here", "write one")
    # In brackets, an expression may run over several lines.
    text = "\n".join(("(", *lines, ")"))
    try:
        with warnings.catch_warnings():  # of digits that run into a word, as in 1or 2
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise syntax_error(source, lines, error) from None
    except (RecursionError, MemoryError, ValueError):
        first = next(row for row, line in enumerate(lines) if line.strip())
        raise Position(source, first, 0).error(
            "this expression is too long or too deeply nested to read",
            "name a part of it on a line of the model",
        ) from None
    return Converter(source, lines).convert(tree.body)
