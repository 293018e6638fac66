"""Prints syntax trees: as text that parses to the same tree, and as LaTeX.

Both writers use one table of precedences, so that they write only the brackets that are needed. In
LaTeX, they write no `*`, no `|`, and no backslash before a punctuation mark: GitHub's Markdown
would interpret these before it sees the mathematics.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum

from dropcheck.language import syntax
from dropcheck.language.lowering.axes import axes_of
from dropcheck.language.syntax import (
    Loop,
    Model,
    ModelLine,
    Node,
    Statement,
    always,
    lines_of,
    of_every_draw,
)
from dropcheck.vocabulary.constants import CONSTANTS
from dropcheck.vocabulary.functions import FUNCTIONS, SIGNS
from dropcheck.vocabulary.latex_words import GREEK, MEAN_NAME
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


def statement_latex(statement: Statement, axes: Mapping[str, int] | None = None) -> str:
    r"""A statement as LaTeX; `axes` are the numbers of axes of the names, where known.

    >>> from dropcheck.claims.registry import SourceText
    >>> from dropcheck.language.parser import parse_statement
    >>> statement_latex(parse_statement(SourceText.plain("Var(q @ k) == n**2")), {"q": 1, "k": 1})
    '\\operatorname{Var}(q^{\\top} k) = n^{2}'
    """
    return _LatexWriter(axes or {}).statement(statement)


def vectors(model: Model) -> dict[str, int]:
    """The names that clearly are vectors, each with its number of axes, 1."""
    return {name.name: 1 for line in lines_of(model) if _is_vector(line) for name in line.names}


def _is_vector(line: ModelLine) -> bool:
    match line.right:
        case syntax.Subscript(index=index):
            return line.drawn and len(index) == 1
        case syntax.ArrayLiteral(items=items):
            return not any(isinstance(item, syntax.ArrayLiteral) for item in items)
        case syntax.Call(name=name):
            return name in FUNCTIONS and FUNCTIONS[name].vector
        case _:
            return False


class _TextWriter:
    """Writes trees as text. The LaTeX writer overrides what it writes otherwise."""

    least_denied: int = Level.NOT  # the least precedence of the operand of `not`
    new_axis, rest = "None", "..."

    def text(self, node: Node) -> str:
        return self.written(node)[0]

    def within(self, node: Node, least: int) -> str:
        """The text of a node, in brackets if its precedence is below `least`."""
        text, level = self.written(node)
        return text if level >= least else self.bracketed(text)

    def statement(self, statement: Statement) -> str:
        """A claim's statement; a membership is written without `P(…) == 1` around it."""
        match statement.operands:
            case (syntax.Call(arguments=(event,)), _) if of_every_draw(event):
                if statement == always(event):
                    return self.text(event)
        if statement.about_laws:  # every form has a higher precedence than this operator
            return f" {self.sign(FOLLOWS)} ".join(map(self.text, statement.operands))
        return self.chain(statement.operators, statement.operands)

    def chain(self, operators: Sequence[str], operands: Sequence[Node]) -> str:
        """Comparisons one after another."""
        first, *rest = (self.within(operand, Level.SUM) for operand in operands)
        links = zip(operators, rest, strict=True)
        return first + "".join(f" {self.sign(operator)} {text}" for operator, text in links)

    def listed(self, nodes: Iterable[Node]) -> str:
        return ", ".join(self.text(node) for node in nodes)

    def written(self, node: Node) -> tuple[str, int]:
        """The text of a node, and its precedence."""
        match node:
            case syntax.Number(value=value):
                return self.number(value)
            case syntax.Name(name=name):
                return self.name(name), Level.ATOM
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
                return f" {self.sign(operator)} ".join(parts), level
            case syntax.Not(operand=operand):
                return f"{self.sign('not')} {self.within(operand, self.least_denied)}", Level.NOT
            case syntax.Member(item=item, options=options):
                braces = self.braces(self.listed(options))
                return f"{self.within(item, Level.SUM)} {self.sign('in')} {braces}", Level.COMPARE
            case syntax.Conditional(condition=condition, then=then, otherwise=otherwise):
                taken, asked = self.within(then, Level.OR), self.within(condition, Level.OR)
                return self.conditional(taken, asked, self.text(otherwise)), Level.CONDITIONAL
            case syntax.ArrayLiteral(items=items):
                return self.array(self.listed(items)), Level.ATOM
            case syntax.Subscript(base=base, index=index):
                entries = ", ".join(self.index(entry) for entry in index)
                return self.subscript(self.base(base), entries), Level.ATOM
            case syntax.Transpose(base=base):
                return self.transpose(self.base(base))
            case _:
                raise TypeError(f"no expression: {node!r}")

    def index(self, node: Node) -> str:
        """An entry of an index: a number, a list, a slice, `None` or `...`."""
        if isinstance(node, syntax.NewAxis):
            return self.new_axis
        if isinstance(node, syntax.Rest):
            return self.rest
        if not isinstance(node, syntax.Slice):
            return self.text(node)
        ends = ["" if end is None else self.text(end) for end in (node.start, node.stop)]
        return ":".join([*ends, *([self.text(node.step)] if node.step else [])])

    def sides(self, node: syntax.Binary) -> tuple[str, str]:
        """The operands of a node, in brackets where they need them."""
        _, left, right = _LEVELS[node.operator]
        return self.within(node.left, left), self.within(node.right, right)

    def bracketed(self, text: str) -> str:
        return f"({text})"

    def sign(self, operator: str) -> str:
        return operator

    def name(self, name: str) -> str:
        return name

    def number(self, value: float) -> tuple[str, int]:
        return number_text(value), Level.SIGN if math.copysign(1.0, value) < 0 else Level.ATOM

    def call(self, node: syntax.Call) -> tuple[str, int]:
        parts = [self.text(argument) for argument in node.arguments]
        parts += [f"{keyword}={self.text(value)}" for keyword, value in node.keywords]
        return f"{node.name}({', '.join(parts)})", Level.ATOM

    def binary(self, node: syntax.Binary) -> tuple[str, int]:
        sign = node.operator if node.operator == "**" else f" {node.operator} "
        return sign.join(self.sides(node)), _LEVELS[node.operator][0]

    def conditional(self, then: str, condition: str, otherwise: str) -> str:
        return f"{then} if {condition} else {otherwise}"

    def array(self, items: str) -> str:
        return f"[{items}]"

    def braces(self, items: str) -> str:
        return f"{{{items}}}"

    def subscript(self, base: str, index: str) -> str:
        return f"{base}[{index}]"

    def transpose(self, base: str) -> tuple[str, int]:
        return f"{base}.T", Level.ATOM

    def base(self, node: Node) -> str:
        """The text of the operand of an index or a transpose."""
        if isinstance(node, syntax.Number):  # `2.T` would be read as the number `2.` and a name
            return f"({self.text(node)})"
        return self.within(node, Level.ATOM)


class _LatexWriter(_TextWriter):
    """Writes nodes as LaTeX, knowing the axes of names; elements count from 1 there."""

    least_denied = Level.SUM
    new_axis, rest = r"\mathrm{new}", r"\dots"

    def __init__(self, axes: Mapping[str, int]) -> None:
        self.axes = axes

    def bracketed(self, text: str) -> str:
        tall = r"\frac" in text or r"\binom" in text
        return rf"\left( {text} \right)" if tall else f"({text})"

    def sign(self, operator: str) -> str:
        named = {"not": r"\lnot", "in": r"\in", FOLLOWS: r"\sim"}
        return named.get(operator) or str(SIGNS[operator].latex)

    def name(self, name: str) -> str:
        return _latex_name(name)

    def number(self, value: float) -> tuple[str, int]:
        text, level = super().number(value)
        if "inf" in text:
            return text.replace("inf", CONSTANTS["inf"].latex), level
        mantissa, separator, exponent = text.partition("e")
        if not separator:
            return text, level
        power = f"10^{{{int(exponent)}}}"
        if mantissa in ("1", "-1"):
            return mantissa.replace("1", power), min(level, Level.POWER)
        return rf"{mantissa} \times {power}", Level.PRODUCT

    def call(self, node: syntax.Call) -> tuple[str, int]:
        name, arguments = node.name, node.arguments
        pieces = FUNCTIONS[name].latex if name in FUNCTIONS else ""
        if isinstance(pieces, tuple) and len(arguments) == len(pieces) - 1 and not node.keywords:
            if not pieces[0]:  # nothing before the argument encloses it
                return f"{self.within(arguments[0], Level.ATOM)}{pieces[1]}", Level.POWER
            between = zip(map(self.text, arguments), pieces[1:], strict=True)
            return pieces[0] + "".join(text + piece for text, piece in between), Level.ATOM
        inner = [self.text(argument) for argument in arguments]
        given = ""
        for keyword, value in node.keywords:
            if keyword == "given":
                given = rf" \mid {self.text(value)}"
            else:
                inner.append(f"{_latex_name(keyword)} = {self.text(value)}")
        return f"{_latex_function(name)}{self.bracketed(', '.join(inner) + given)}", Level.ATOM

    def binary(self, node: syntax.Binary) -> tuple[str, int]:
        left, right, level = node.left, node.right, _LEVELS[node.operator][0]
        if node.operator == "**":
            return f"{self.base(left)}^{{{self.text(right)}}}", level
        if node.operator in ("/", "//"):
            fraction = rf"\frac{{{self.text(left)}}}{{{self.text(right)}}}"
            rounded = rf"\left\lfloor {fraction} \right\rfloor"
            return (fraction, Level.SIGN) if node.operator == "/" else (rounded, Level.ATOM)
        first, second = self.sides(node)
        lettered = second[:1].isalpha() or second[:1] == "\\"
        match node.operator:
            case "@" if isinstance(left, syntax.Name) and self.axes.get(left.name) == 1:
                return rf"{self.base(left)}^{{\top}} {second}", level  # a row vector
            case "@":
                return rf"{first} \thinspace {second}", level
            case "*" if isinstance(left, syntax.Number) and lettered:
                return f"{first} {second}", level  # a number before a letter: 2 x
            case "*" if axes_of(left, self.axes) and axes_of(right, self.axes):
                return rf"{first} \odot {second}", level
            case "*":
                return rf"{first} \cdot {second}", level
            case "%":
                return rf"{first} \bmod {second}", level
            case sign:
                return f"{first} {sign} {second}", level

    def conditional(self, then: str, condition: str, otherwise: str) -> str:
        return rf"{then} \text{{ if }} {condition} \text{{ else }} {otherwise}"

    def array(self, items: str) -> str:
        return rf"\lbrack {items} \rbrack"

    def braces(self, items: str) -> str:
        return rf"\lbrace {items} \rbrace"

    def subscript(self, base: str, index: str) -> str:
        return f"{base}_{{{index}}}"

    def index(self, node: Node) -> str:
        match node:
            case syntax.Number(value=value) if value >= 0:
                return self.text(syntax.Number(node.at, value + 1))
            case syntax.Binary(operator="-", left=left, right=syntax.Number(value=1.0)):
                return self.text(left)
            case syntax.Slice(start=syntax.Number() as start) if start.value >= 0:
                first = syntax.Number(start.at, start.value + 1)  # the last element is included
                return super().index(syntax.Slice(node.at, first, node.stop, node.step))
            case syntax.Number() | syntax.Negative() | syntax.Slice():
                return super().index(node)
            case syntax.NewAxis() | syntax.Rest() | syntax.ArrayLiteral():
                return super().index(node)
        return self.text(syntax.Binary(node.at, "+", node, syntax.Number(node.at, 1.0)))

    def transpose(self, base: str) -> tuple[str, int]:
        return rf"{base}^{{\top}}", Level.POWER

    def base(self, node: Node) -> str:
        """The text of the operand of an index or a power; braces enclose another such operand."""
        text = self.within(node, Level.ATOM)
        match node:
            case syntax.Call(name=name, arguments=(syntax.Binary(), *_)) if name == MEAN_NAME:
                text = self.bracketed(text)  # many papers write E(x - y)^2 for the mean square
        bears = ("_" in text or "^" in text) and not text.endswith(")")
        return f"{{{text}}}" if bears else text


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


_LETTERS_DIGITS = re.compile(r"([^\W\d_]+)(\d+)")


def _latex_name(name: str) -> str:
    r"""A name: Greek letters as symbols, digits and parts after `_` as subscripts.

    >>> print(*(_latex_name(name) for name in ("x", "mu", "x1", "keep_prob", "dk")))
    x \mu x_{1} \mathit{keep}_{\mathit{prob}} \mathit{dk}
    """
    if name in CONSTANTS:
        return CONSTANTS[name].latex
    head, *below = [part for part in name.split("_") if part] or [name]
    digits = _LETTERS_DIGITS.fullmatch(head)
    if digits is not None:
        head, below = digits.group(1), [digits.group(2), *below]
    parts = ", ".join(_latex_word(part) for part in below)
    return f"{_latex_word(head)}_{{{parts}}}" if parts else _latex_word(head)


def _latex_word(word: str) -> str:
    if word in GREEK:
        return f"\\{word}"
    if len(word) == 1 or word.isdecimal():
        return word
    return rf"\mathit{{{word}}}"


def _latex_function(name: str) -> str:
    command = FUNCTIONS[name].latex if name in FUNCTIONS else ""
    if command and isinstance(command, str):
        return command
    head, *below = [part for part in name.split("_") if part] or [name]
    parts = ", ".join(rf"\mathrm{{{part}}}" for part in below)
    return rf"\operatorname{{{head}}}" + (f"_{{{parts}}}" if parts else "")
