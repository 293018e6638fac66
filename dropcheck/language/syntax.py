"""Syntax trees: what a text says, before its names are resolved; and the text of a tree.

Two nodes are equal if they say the same, wherever they are.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from inspect import Parameter, Signature
from types import EllipsisType
from typing import Any

from dropcheck.claims.registry import SourceText
from dropcheck.claims.values import format_value
from dropcheck.errors import About, DropcheckError, Location, Problem, suggestion
from dropcheck.vocabulary.function import TRAIN, slot_and_mode
from dropcheck.vocabulary.operators import FOLLOWS, PROBABILITY


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text: line and column, both from 0."""

    source: SourceText
    line: int
    column: int

    @property
    def location(self) -> Location:
        """The same place in the file."""
        return self.source.locate(self.line, self.column)

    def error(
        self, message: str, hint: str | None = None, about: About = About.TEXT
    ) -> DropcheckError:
        """An error that points here."""
        return DropcheckError(Problem(message, self.location, hint, about))


@dataclass(frozen=True, slots=True)
class Node:
    """An expression; `at` is the place where it begins, or of its operator."""

    at: Position = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A number; `text` is how it is written, where it is."""

    value: float
    text: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A bare name: a constant, a parameter or a line of the model."""

    name: str


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`name(arguments, keyword=argument)`: a function, an operator or a law."""

    name: str
    arguments: tuple[Node, ...]
    keywords: tuple[tuple[str, Node], ...] = ()


@dataclass(frozen=True, slots=True)
class Negative(Node):
    """`-operand`."""

    operand: Node


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """`left operator right`, with one of + - * / // % ** @."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """`a < b <= c`: true if each pair of neighbours compares so."""

    operators: tuple[str, ...]
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Logic(Node):
    """`a and b and c`, or the same with `or`."""

    operator: str
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not(Node):
    """`not operand`."""

    operand: Node


@dataclass(frozen=True, slots=True)
class Member(Node):
    """`item in {a, b, c}`."""

    item: Node
    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    """`then if condition else otherwise`."""

    then: Node
    condition: Node
    otherwise: Node


@dataclass(frozen=True, slots=True)
class ArrayLiteral(Node):
    """`[a, b, c]`."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Slice(Node):
    """`start:stop:step` in a subscript; an omitted part is None."""

    start: Node | None
    stop: Node | None
    step: Node | None


@dataclass(frozen=True, slots=True)
class Axes(Node):
    """`None` in a subscript, a new axis, or `...`, all axes without an entry of their own."""

    sign: EllipsisType | None


@dataclass(frozen=True, slots=True)
class Subscript(Node):
    """`base[index, …]`."""

    base: Node
    index: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Transpose(Node):
    """`base.T`."""

    base: Node


@dataclass(frozen=True, slots=True)
class ModelLine:
    """One line of a model: names, and the law that they follow or the expression they equal."""

    names: tuple[Name, ...]
    drawn: bool  # whether the line has `~`
    right: Node


@dataclass(frozen=True, slots=True)
class Loop:
    """`for name in range(…):` with its body, which is carried out once for each number."""

    at: Position = field(compare=False, repr=False)
    name: Name
    over: tuple[Node, ...]  # the arguments of `range`
    body: Model


BINARY_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.MatMult: "@",
}  # fmt: skip
COMPARISON_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
"""The signs of operations and of comparisons, by Python's own nodes."""
ROUNDED = "~="
"""Says of a side that it is equal to a number to the digits in which that is written."""
Model = tuple[ModelLine | Loop, ...]
"""The lines of a model in order; the lines of a loop are within the loop."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim's statement: `operands[0] operators[0] operands[1] …`, with one or two operators.

    Without operators, it is the call `independent(…)`.
    """

    at: Position = field(compare=False, repr=False)
    operators: tuple[str, ...]
    operands: tuple[Node, ...]

    @property
    def about_laws(self) -> bool:
        """Whether it is about laws of random quantities, and not a comparison of numbers."""
        return self.operators in ((), (FOLLOWS,))

    @property
    def certain(self) -> bool:
        """Whether it says that an event has probability 1 or 0, in every element of an array."""
        match self.operands:
            case (Call(name=name), Number(value=0 | 1)) | (Number(value=0 | 1), Call(name=name)):
                return name == PROBABILITY and self.operators == ("==",)
        return False


def unsigned(node: Node) -> Node:
    """The node without a sign before it."""
    return node.operand if isinstance(node, Negative) else node


def of_every_draw(node: Node) -> bool:
    """Whether an event is a statement by itself: that it is certain.

    This holds for `x in {a, b}`, and for equations with an evaluation or a gradient of a slot.
    """
    if isinstance(node, Compare) and node.operators == ("==",):
        return any(
            isinstance(one, Call) and slot_and_mode(one.name)[1] != TRAIN for one in node.operands
        )
    return isinstance(node, Member)


def always(event: Node) -> Statement:
    """The statement that an event is certain."""
    probability = Call(event.at, PROBABILITY, (event,))
    return Statement(event.at, ("==",), (probability, Number(event.at, 1.0)))


def lines_of(model: Model) -> Iterator[ModelLine]:
    """Every line of a model in order, lines of loops included."""
    for part in model:
        if isinstance(part, Loop):
            yield from lines_of(part.body)
        else:
            yield part


def expressions_of(model: Model) -> list[Node]:
    """Every expression of a model: what is right of a sign, and what loops go through."""
    over = [node for loop in loops_of(model) for node in loop.over]
    return [*(line.right for line in lines_of(model)), *over]


def loops_of(model: Model) -> Iterator[Loop]:
    """Every loop of a model, outer loops before inner ones."""
    for part in model:
        if isinstance(part, Loop):
            yield part
            yield from loops_of(part.body)


def children(node: Node) -> list[Node]:
    """The nodes directly below a node, in the order of the text."""
    below: list[Node] = []
    for key in node.__slots__:
        _collect(getattr(node, key), below)
    return below


def _collect(value: object, below: list[Node]) -> None:
    if isinstance(value, Node):
        below.append(value)
    elif isinstance(value, tuple):
        for one in value:
            _collect(one, below)


def walk(*nodes: Node, without: Container[str] = ()) -> Iterator[Node]:
    """Some nodes and all nodes below them, each before its children, in the order of the text.

    Calls of names in `without` are left out, with all below them.
    """
    stack = list(reversed(nodes))
    while stack:
        node = stack.pop()
        if isinstance(node, Call) and node.name in without:
            continue
        yield node
        stack.extend(reversed(children(node)))


def rebuilt(node: Node, below: Sequence[Node]) -> Node:
    """The node with other children, in the order of `children`.

    >>> at = Position(SourceText.plain("a - b"), 0, 2)
    >>> node = Binary(at, "-", Name(at, "a"), Name(at, "b"))
    >>> rebuilt(node, children(node)) == node
    True
    """
    left = iter(below)

    def renewed(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(renewed, value))
        return next(left) if isinstance(value, Node) else value

    return replace(node, **{key: renewed(getattr(node, key)) for key in node.__slots__})


def bind(
    node: Call,
    names: Sequence[str],
    needed: int,
    written: Callable[[], str],
    more: str | None = None,
) -> dict[str, Any]:
    """Arguments by name, as Python binds them; the first `needed` of `names` are required.

    With `more`, so many stand by position, and under this name all others that do.
    `written` gives the signature of the call for a message; it is called only if there is one.

    Raises:
        DropcheckError: there are too many arguments, or some are missing, unknown or repeated.
    """
    if more is None and needed <= len(node.arguments) <= len(names) and not node.keywords:
        return dict(zip(names, node.arguments, strict=False))
    kinds: list[Any] = [Parameter.POSITIONAL_OR_KEYWORD] * len(names)
    if more is not None:
        kinds[needed:] = [Parameter.KEYWORD_ONLY] * (len(names) - needed)
    parameters = [
        Parameter(name, kind, default=Parameter.empty if place < needed else None)
        for place, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    if more is not None:
        parameters.insert(needed, Parameter(more, Parameter.VAR_POSITIONAL))
    try:
        return Signature(parameters).bind(*node.arguments, **dict(node.keywords)).arguments
    except TypeError as error:
        first = names[: len(node.arguments)]
        at = next((value.at for name, value in node.keywords if name in first), node.at)
        unknown = next((name for name, _ in node.keywords if name not in names), None)
        hint = unknown and suggestion(unknown, names)
        message = f"got an unexpected keyword argument {unknown!r}" if unknown else str(error)
        raise at.error(f"{node.name}: {message}", hint or f"write {written()}") from None


def names_in(*nodes: Node) -> set[str]:
    """The names in expressions."""
    return {one.name for one in walk(*nodes) if isinstance(one, Name)}


# ---- text of a tree ------------------------------------------------------------------------------
#
# It parses to the same tree; Python's own writer makes it.


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
        case (Call(arguments=(event,)), _) if of_every_draw(event) and statement == always(event):
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
    looser = Compare | Logic | Not | Member | Conditional
    return f"({unparse(node)})" if isinstance(node, looser) else unparse(node)


def _python(node: Node | None) -> ast.expr:
    """The node as Python's own."""
    match node:
        case Number(value=value):
            whole = abs(value) < _LARGEST_WHOLE and value == int(value)
            own = ast.Constant(abs(int(value)) if whole else abs(value))
            return own if math.copysign(1.0, value) > 0 else ast.UnaryOp(ast.USub(), own)
        case Name(name=name):
            return ast.Name(name)
        case Call(name=name, arguments=arguments, keywords=keywords):
            named = [ast.keyword(key, _python(value)) for key, value in keywords]
            return ast.Call(ast.Name(name), _all(arguments), named)
        case Negative(operand=operand):
            return ast.UnaryOp(ast.USub(), _python(operand))
        case Binary(operator=sign, left=left, right=right):
            return ast.BinOp(_python(left), _BINARY[sign](), _python(right))
        case Compare(operators=signs, operands=operands):
            first, *rest = _all(operands)
            return ast.Compare(first, [_COMPARISONS[sign]() for sign in signs], rest)
        case Logic(operator=word, operands=operands):
            return ast.BoolOp(ast.And() if word == "and" else ast.Or(), _all(operands))
        case Not(operand=operand):
            return ast.UnaryOp(ast.Not(), _python(operand))
        case Member(item=item, options=options):
            return ast.Compare(_python(item), [ast.In()], [ast.Set(_all(options))])
        case Conditional(then=then, condition=condition, otherwise=otherwise):
            return ast.IfExp(_python(condition), _python(then), _python(otherwise))
        case ArrayLiteral(items=items):
            return ast.List(_all(items))
        case Subscript(base=base, index=index):
            entries = _all(index)
            return ast.Subscript(
                _python(base), entries[0] if len(entries) == 1 else ast.Tuple(entries)
            )
        case Slice(start=start, stop=stop, step=step):
            ends = [None if end is None else _python(end) for end in (start, stop, step)]
            return ast.Slice(*ends)
        case Transpose(base=base):
            return ast.Attribute(_python(base), "T")
        case _:
            assert isinstance(node, Axes)
            return ast.Constant(node.sign)


def _all(nodes: Iterable[Node]) -> list[ast.expr]:
    return list(map(_python, nodes))
