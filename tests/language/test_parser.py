"""Text to nodes: every construct of the language."""

from __future__ import annotations

import sys

import pytest

from dropcheck.claims.registry import SourceText
from dropcheck.language.parser import (
    parse_expression,
    parse_model,
    parse_statement,
)
from dropcheck.language.syntax import (
    ArrayLiteral,
    Binary,
    Call,
    Compare,
    Conditional,
    Logic,
    Member,
    ModelLine,
    Name,
    Negative,
    Node,
    Not,
    Number,
    Position,
    Slice,
    Subscript,
    Transpose,
    children,
)

HERE = Position(SourceText.plain(""), 0, 0)


def number(value: float) -> Number:
    return Number(HERE, value)


def name(text: str) -> Name:
    return Name(HERE, text)


def binary(operator: str, left: Node, right: Node) -> Binary:
    return Binary(HERE, operator, left, right)


def call(function: str, *arguments: Node, **keywords: Node) -> Call:
    return Call(HERE, function, arguments, tuple(keywords.items()))


def compare(first: Node, *rest: tuple[str, Node]) -> Compare:
    return Compare(HERE, tuple(sign for sign, _ in rest), (first, *(node for _, node in rest)))


def subscript(base: Node, *index: Node) -> Subscript:
    return Subscript(HERE, base, index)


def between(start: Node | None = None, stop: Node | None = None, step: Node | None = None) -> Slice:
    return Slice(HERE, start, stop, step)


a, b, c, x = map(name, "abcx")
one, two, three = map(number, (1.0, 2.0, 3.0))

READ: dict[str, Node] = {
    # numbers and names
    "1": one,
    "1.": one,
    ".5": number(0.5),
    "1e-3": number(0.001),
    "1_000": number(1000.0),
    "0x10": number(16.0),
    "1e308": number(1e308),
    "x": x,
    "_x1": name("_x1"),
    "π": name("π"),
    "ｘ": x,  # Python's grammar reads full-width letters as plain ones
    "x̄": name("x̄"),
    # arithmetic, with Python's precedence
    "a + b - c": binary("-", binary("+", a, b), c),
    "a - (b - c)": binary("-", a, binary("-", b, c)),
    "a + b * c": binary("+", a, binary("*", b, c)),
    "a / b // c % a @ b": binary("@", binary("%", binary("//", binary("/", a, b), c), a), b),
    "a ** b ** c": binary("**", a, binary("**", b, c)),
    "-a ** b": Negative(HERE, binary("**", a, b)),
    "a ** -b": binary("**", a, Negative(HERE, b)),
    "--1": Negative(HERE, Negative(HERE, one)),
    "+1": one,
    "a <- b": compare(a, ("<", Negative(HERE, b))),
    # comparisons and truths
    "a == b": compare(a, ("==", b)),
    "a < b <= c != a": compare(a, ("<", b), ("<=", c), ("!=", a)),
    "(a < b) < c": compare(compare(a, ("<", b)), ("<", c)),
    "a and b or not c": Logic(HERE, "or", (Logic(HERE, "and", (a, b)), Not(HERE, c))),
    "a and b and c": Logic(HERE, "and", (a, b, c)),
    "not a == b": Not(HERE, compare(a, ("==", b))),
    "a in {b, 1}": Member(HERE, a, (b, one)),
    "a not in {b}": Not(HERE, Member(HERE, a, (b,))),
    "a and b in {c}": Logic(HERE, "and", (a, Member(HERE, b, (c,)))),
    "a if b else c": Conditional(HERE, a, b, c),
    "a if b else c if a else b": Conditional(HERE, a, b, Conditional(HERE, c, a, b)),
    # lists and indexing
    "[1, x]": ArrayLiteral(HERE, (one, x)),
    "[1,]": ArrayLiteral(HERE, (one,)),
    "[[1, 2], [3, x]]": ArrayLiteral(
        HERE, (ArrayLiteral(HERE, (one, two)), ArrayLiteral(HERE, (three, x)))
    ),
    "x[1]": subscript(x, one),
    "x[-1, 2]": subscript(x, Negative(HERE, one), two),
    "x[(1, 2)]": subscript(x, one, two),
    "x[1:2:3]": subscript(x, between(one, two, three)),
    "x[:, ::2]": subscript(x, between(), between(step=two)),
    "x[1][2]": subscript(subscript(x, one), two),
    "x.T": Transpose(HERE, x),
    "x.T.T[1]": subscript(Transpose(HERE, Transpose(HERE, x)), one),
    "a @ b.T": binary("@", a, Transpose(HERE, b)),
    # calls
    "f()": call("f"),
    "f(1, x,)": call("f", one, x),
    "E(x, given=a == b)": call("E", x, given=compare(a, ("==", b))),
    "f(not a)": call("f", Not(HERE, a)),
    "lambda_(1)": call("lambda_", one),
    # lines and comments
    "  a + b  # c": binary("+", a, b),
    "a\n+ b": binary("+", a, b),
    "(a  # one\n # two\n + b)": binary("+", a, b),
    "a\r\n+ b\r\n": binary("+", a, b),
    "\ta +\tb": binary("+", a, b),
    # nothing is worked out, so nothing can hang
    "9**9**9": binary("**", number(9.0), binary("**", number(9.0), number(9.0))),
}


@pytest.mark.parametrize("text", READ)
def test_reads(text: str) -> None:
    assert parse_expression(SourceText.plain(text)) == READ[text]


# -- lines of a model ------------------------------------------------------------------------------


def line(names: str, drawn: bool, right: Node) -> ModelLine:
    return ModelLine(tuple(name(one) for one in names.split()), drawn, right)


MODELS: dict[str, tuple[ModelLine, ...]] = {
    "": (),
    "# only a comment\n\n": (),
    "x ~ f(1)": (line("x", True, call("f", one)),),
    "x~f(1)[a]  # drawn": (line("x", True, subscript(call("f", one), a)),),
    "a, b ~ f()": (line("a b", True, call("f")),),
    "x = a == b": (line("x", False, compare(a, ("==", b))),),
    "x = f(a=1)": (line("x", False, call("f", a=one)),),
    "x = a >= b": (line("x", False, compare(a, (">=", b))),),
    "  x = 1\n\tb = 2\r\nc = 3": (
        line("x", False, one),
        line("b", False, two),
        line("c", False, three),
    ),
    "x = [1,  # (\n  2]\nb = (\n3\n)": (
        line("x", False, ArrayLiteral(HERE, (one, two))),
        line("b", False, three),
    ),
    "ﬁ = 1": (line("fi", False, one),),  # the form in which an expression would read it
}


@pytest.mark.parametrize("text", MODELS)
def test_reads_models(text: str) -> None:
    assert parse_model(SourceText.plain(text)) == MODELS[text]


# -- statements ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "operators"),
    [
        ("E(x) == 1", ["=="]),
        ("E(x) < 1", ["<"]),
        ("E(x) >= 1", [">="]),
        ("1 <= E(x) < 2", ["<=", "<"]),
        ("2 > E(x) >= 1", [">", ">="]),
        ("(E(x) == 1)", ["=="]),
        ("E(x) == (1 < 2)", ["=="]),
        ("P(a == b) == 1", ["=="]),
    ],
)
def test_reads_statements(text: str, operators: list[str]) -> None:
    statement = parse_statement(SourceText.plain(text))
    assert list(statement.operators) == operators
    assert len(statement.operands) == len(operators) + 1


# -- properties ------------------------------------------------------------------------------------


def walk(node: Node) -> list[Node]:
    return [node, *(below for child in children(node) for below in walk(child))]


def test_positions_point_at_the_text() -> None:
    text = "é + f(bb, [1, cc])[dd] if not ee else ff.T"
    names = [one for one in walk(parse_expression(SourceText.plain(text))) if isinstance(one, Name)]
    assert sorted(one.name for one in names) == ["bb", "cc", "dd", "ee", "ff", "é"]
    for one in names:
        assert text[one.at.column :].startswith(one.name)


def test_reading_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setitem(sys.modules, "os", None)
    monkeypatch.setattr("builtins.eval", lambda *_: seen.append("eval"))
    monkeypatch.setattr("builtins.exec", lambda *_: seen.append("exec"))
    node = parse_expression(SourceText.plain("__import__(os) + eval(x) + open(x)"))
    assert isinstance(node, Binary)
    assert seen == []


@pytest.mark.parametrize(
    ("run_on", "apart"),
    [
        ("1or 2", "1 or 2"),
        ("1.or 2", "1. or 2"),
        (".5or x", ".5 or x"),
        ("1_0if 1else 2", "1_0 if 1 else 2"),
        ("0x1or x", "0x1 or x"),
        ("x[1]if 1else 2", "x[1] if 1 else 2"),
    ],
)
def test_a_number_that_runs_into_a_word_is_read_without_a_warning(run_on: str, apart: str) -> None:
    # Python's reader warns of these, and here a warning is an error
    assert parse_expression(SourceText.plain(run_on)) == parse_expression(SourceText.plain(apart))
