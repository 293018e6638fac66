"""Nodes to text and back: the parser reads what is written as the same nodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dropcheck.claims.reader import read_registry
from dropcheck.claims.registry import SourceText
from dropcheck.language.compile import parse_claim
from dropcheck.language.parser import parse_expression, parse_model, parse_statement
from dropcheck.language.printing import (
    number_text,
    unparse,
    unparse_model,
    unparse_statement,
)
from dropcheck.language.syntax import (
    ArrayLiteral,
    Binary,
    Call,
    Compare,
    Conditional,
    Logic,
    Member,
    Name,
    Negative,
    NewAxis,
    Node,
    Not,
    Number,
    Position,
    Rest,
    Slice,
    Subscript,
    Transpose,
)

HERE = Path(__file__).parent
AT = Position(SourceText.plain(""), 0, 0)


def read(text: str) -> Node:
    return parse_expression(SourceText.plain(text))


@pytest.mark.parametrize(
    "text",
    [
        "a - b - c", "a - (b - c)", "a / b / c", "a / (b * c)", "(a + b) * c", "-x**2", "(-x)**2",
        "2**-x", "(a**b)**c", "a**b**c", "-(a + b)", "-(-x)", "--x", "-a * b", "-(a * b)", "a @ -b",
        "a < b <= c", "(a < b) < c", "a + (b < c)", "not a == b", "(not a) == b", "not (a and b)",
        "a and (b or c)", "a and b or c", "(a and b) and c", "a + b in {0, c / (1 - d)}",
        "(a in {b}) in {c}", "not a in {b}", "a < (b in {c})", "a in {b if c else d, (a < b)}",
        "a and (b and c)", "a if b else c if d else f", "(a if b else c) if d else f",
        "a if (b if c else d) else f", "(a if b else c) + d", "[a if b else c, [1, 2.5]]",
        "f(a, g(b), k=c if d else f)", "x[0, -1, 1:3, ::2, :]", "x[:, None][..., 0][[0, 2]]",
        "x[None, a > b, ..., [[0, 1], [2, 3]], None]", "(a @ b)[0]", "(a + b).T", "a.T[0].T",
        "(2)[0]", "x[a if b else c]", "1e-3 + 1e300 + 0.1",
    ],
)  # fmt: skip
def test_text_reads_back_as_the_same_nodes(text: str) -> None:
    node = read(text)
    assert read(unparse(node)) == node


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("((a))+((b*c))", "a + b * c"),
        ("-(x)**2", "-x**2"),
        ("(a*b)/c", "a * b / c"),
        ("a*(b/c)", "a * (b / c)"),
        ("x [ : ,1 : ]", "x[:, 1:]"),
        ("010.50", "10.5"),
        ("P(y==0, given = m==0)", "P(y == 0, given=m == 0)"),
    ],
)
def test_no_bracket_or_digit_too_many(written: str, shown: str) -> None:
    assert unparse(read(written)) == shown


@pytest.mark.parametrize("value", [-1.5, -2.0])
def test_negative_number_is_bracketed_where_it_must_be(value: float) -> None:
    # the parser makes none, but a rewrite may; `-2**2` would be another number
    node = Binary(AT, "**", Number(AT, value), Number(AT, 2.0))
    assert unparse(node).startswith("(-")


NAMES = st.sampled_from(["a", "b", "x", "rho", "d_k"])
NUMBERS = st.floats(min_value=0, allow_nan=False, allow_infinity=False)


def _with_parts(part: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    parts = st.lists(part, min_size=2, max_size=3).map(tuple)
    end = st.none() | part
    places = st.builds(NewAxis, st.just(AT)) | st.builds(Rest, st.just(AT))
    index = st.lists(
        part | st.builds(Slice, st.just(AT), end, end, end) | places, min_size=1, max_size=3
    )
    signs = st.lists(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), min_size=1, max_size=2)
    keywords = st.lists(st.tuples(st.sampled_from(["k", "axis"]), part), max_size=2)
    return st.one_of(
        st.builds(Negative, st.just(AT), part),
        st.builds(Not, st.just(AT), part),
        st.builds(
            Binary,
            st.just(AT),
            st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "@"]),
            part,
            part,
        ),
        st.builds(
            lambda operators, operands: Compare(
                AT, tuple(operators), tuple(operands[: len(operators) + 1])
            ),
            signs,
            st.lists(part, min_size=3, max_size=3),
        ),
        st.builds(Logic, st.just(AT), st.sampled_from(["and", "or"]), parts),
        st.builds(Conditional, st.just(AT), part, part, part),
        st.builds(Member, st.just(AT), part, parts),
        st.builds(ArrayLiteral, st.just(AT), parts),
        st.builds(lambda base, entries: Subscript(AT, base, tuple(entries)), part, index),
        st.builds(Transpose, st.just(AT), part),
        st.builds(
            lambda name, arguments, named: Call(AT, name, arguments, tuple(dict(named).items())),
            NAMES,
            parts,
            keywords,
        ),
    )


LEAVES = st.builds(Name, st.just(AT), NAMES) | st.builds(Number, st.just(AT), NUMBERS)
NODES = st.recursive(LEAVES, _with_parts, max_leaves=10)


@given(NODES)
@settings(max_examples=200)
def test_any_nodes_read_back_as_themselves(node: Node) -> None:
    assert read(unparse(node)) == node


@given(NUMBERS)
def test_any_number_reads_back_as_itself(value: float) -> None:
    assert read(number_text(value)) == Number(AT, value)


@pytest.mark.parametrize(
    "file", [HERE.parents[1] / "claims.yaml", HERE.parent / "judging" / "ordinary.yaml"]
)
def test_every_claim_reads_back_as_itself(file: Path) -> None:
    for claim in read_registry(file).claims.values():
        parsed = parse_claim(claim)
        statement = unparse_statement(parsed.statement)
        assert parse_statement(SourceText.plain(statement)) == parsed.statement
        assert parse_model(SourceText.plain(unparse_model(parsed.model))) == parsed.model
