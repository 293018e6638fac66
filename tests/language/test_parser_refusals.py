"""What the parser refuses: where, what is said of it, and in good time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dropcheck.claims.registry import SourceText
from dropcheck.claims.values import LONGEST_NAME
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.parser import (
    DEEPEST_BRACKETS,
    DEEPEST_NODES,
    LONGEST_EXPRESSION,
    LONGEST_MODEL,
    parse_expression,
    parse_model,
    parse_statement,
)

# text: (line, column from 1, part of the message, part of the hint)
Refused = dict[str, tuple[int, int, str, str]]

REFUSED: Refused = {
    # the rest of Python
    "2 * " + "x" * 201: (1, 5, "at most 200 characters", "shorter"),
    "x.real": (1, 2, "'.real' is not part", "keep both parts"),
    "x.sorted": (1, 2, "'.sorted' is not part", "sorted(x)"),
    "x.flatten()": (1, 2, "'.flatten(…)' is not part", "write reshape(x, -1)"),
    "a + x.__class__": (1, 6, "'.__class__' is not part", "'.T' is the only one"),
    "x.sum()": (1, 2, "'.sum(…)' is not part", "sum(x)"),
    "x.tofile(1)": (1, 2, "'.tofile(…)' is not part", "by name"),
    "x.T()": (1, 2, "'.T(…)' is not part", "by name"),
    "g(a)(b)": (1, 1, "only a name can be called", "'*'"),
    "2(x)": (1, 1, "only a name can be called", "write '*'"),
    "'a'": (1, 1, "no strings", "without them"),
    '1 + "a"': (1, 5, "no strings", "without them"),
    "f'{x}'": (1, 2, "no strings", "without them"),
    "`x`": (1, 1, "no strings", "without them"),
    "lambda x: x": (1, 1, "'lambda' is not part", "write the formula out"),
    "(lambda x: x)(1)": (1, 2, "'lambda' is not part", "write the formula out"),
    "1 + lambda x: x": (1, 5, "'lambda' is not part", "write the formula out"),
    "[x for x in a]": (1, 1, "a comprehension is not part", "for t in range(T):"),
    "f(x for x in a)": (1, 2, "a comprehension is not part", "for t in range(T):"),
    "{x for x in a}": (1, 1, "a comprehension is not part", "for t in range(T):"),
    "{1: 2}": (1, 1, "a dictionary is not part", "arithmetic"),
    "{1}": (1, 1, "a set in braces by itself is not part", "arithmetic"),
    "(x := 3)": (1, 2, "':=' is not part", "arithmetic"),
    "await x": (1, 1, "'await' is not part", "arithmetic"),
    "yield x": (1, 1, "'yield' is not part", "arithmetic"),
    "f(*a)": (1, 3, "'*' before an argument", "write out"),
    "f(b, **a)": (1, 8, "'**' before an argument", "write out"),
    "x[*a]": (1, 3, "'*' before a name", "arithmetic"),
    "f(a=1, a=2)": (1, 10, "'a' of f is given twice", "take one"),
    "f(a=1, 2)": (1, 9, "by position stands after one by name", "last"),
    "a in b": (1, 6, "right of 'in' stands a set", "x in {0, 1}"),
    "a in [1, 2]": (1, 6, "right of 'in' stands a set", "x in {0, 1}"),
    "a in {}": (1, 6, "a set needs at least one entry", "x in {0, 1}"),
    "a in {1} == b": (1, 1, "'in' cannot be part of a chain", "by 'and'"),
    "a is not b": (1, 1, "'is' is not part", "'=='"),
    "(1, 2)": (1, 1, "a comma stands", "[a, b]"),
    "1,000": (1, 1, "a comma stands", "without commas"),
    "True": (1, 1, "True is not part", "write 1"),
    "a + False": (1, 5, "False is not part", "write 0"),
    "None": (1, 1, "None is not part", "a number"),
    "...": (1, 1, "'...' is not part", "a number"),
    "x[None:]": (1, 3, "None is not part", "a number"),
    "2j": (1, 1, "complex numbers are not part", "cos(t) and sin(t)"),
    "exp(1j * t)": (1, 5, "complex numbers are not part", "cos(t) and sin(t)"),
    "1 + 2i": (1, 6, "complex numbers are not part", "write 2 * i"),
    "∂x": (1, 1, "'∂' is not part", "a quotient of differences"),
    "x'": (1, 2, "a prime is not part", "write A.T"),
    "norm(x, 'fro')": (1, 9, "no strings", "norm(x, ord=2"),
    "load('x.csv')": (1, 1, "'load' is not a function", "a model reads no files"),
    "2 * load('x.csv')": (1, 5, "'load' is not a function", "a model reads no files"),
    "import os": (1, 1, "'import' is a word of Python", "import_"),
    "1 / lambda": (1, 5, "'lambda' is a word of Python", "lambda_"),
    # other signs
    "a ^ b": (1, 3, "'^' is not part", "'**'"),
    "a & b": (1, 3, "'&' is not part", "'and'"),
    "E(x | y)": (1, 5, "'|' is not part", "given=event"),
    "a << b": (1, 3, "'<<' is not part", "2**n"),
    "(a) >> b": (1, 5, "'>>' is not part", "2**n"),
    "~a": (1, 1, "'~' draws", "'not'"),
    "E(x) ~ 3": (1, 6, "'~' draws", "on a line of the model"),
    "n!": (1, 2, "'!' is not part", "factorial(n)"),
    "a ? b : c": (1, 3, "'?' is not part", "a if c else b"),
    "$x$": (1, 1, "'$' is not part", ""),
    "Cov(x; y)": (1, 6, "';' is not part", "a line of its own"),
    "\\frac{a}{b}": (1, 1, "'\\frac' is a command of LaTeX", "(a + b) / c"),
    "x ≤ 3": (1, 3, "'≤' is not part", "write <="),
    "a−b": (1, 2, "'−' is not part", "write -"),
    "x²": (1, 2, "'²' is not part", "**2"),
    "x₁": (1, 2, "'₁' is not part", "names are letters"),
    "E(x) ≈ 1": (1, 6, "'≈' is not part", "tolerance"),
    "1 ± 0.1": (1, 3, "'±' is not part", "tolerance"),
    "‖x‖": (1, 1, "'‖' is not part", "norm(x)"),
    "€": (1, 1, "'€' is not part", "names are letters"),
    "a\x00b": (1, 2, "invisible character stands here (U+0000)", "delete it"),
    "a\u00a0+ b": (1, 2, "invisible character stands here (U+00A0)", "a space"),
    "\ufeffa": (1, 1, "invisible character stands here (U+FEFF)", "delete it"),
    "x\u200b": (1, 2, "invisible character stands here (U+200B)", "delete it"),
    # slips
    "x = 3": (1, 3, "'=' does not compare", "'=='"),
    "a => b": (1, 3, "'=>' does not compare", "'>='"),
    "a =< b": (1, 3, "'=<' does not compare", "'<='"),
    "a <> b": (1, 3, "'<>' does not compare", "'!='"),
    "2x": (1, 1, "a number and a name stand side by side", "2 * x"),
    "a + 2 x": (1, 5, "a number and a name stand side by side", "2 * x"),
    "1e5x": (1, 1, "a number and a name stand side by side", "2 * x"),
    "E(x) == 5%": (1, 10, "'%' is the remainder", "0.05"),
    "010": (1, 1, "a number starts with 0", "without"),
    "a b": (1, 1, "an operator or a comma is missing", "arithmetic"),
    "f(a,, b)": (1, 5, "cannot be read", "arithmetic"),
    "1 +": (1, 4, "cannot be read", "arithmetic"),
    "* 1": (1, 1, "cannot be read", "arithmetic"),
    "a if b": (1, 1, "'if' lacks its 'else'", "else b"),
    "x[]": (1, 1, "an index is missing", "x[0]"),
    "[]": (1, 1, "at least one entry", "[1, 2]"),
    "": (1, 1, "an expression is missing", "write one"),
    "  # nothing": (1, 1, "an expression is missing", "write one"),
    # numbers beyond float64
    "0.0 + 2e-400": (1, 7, "too small", "write 0"),
    "1e400": (1, 1, "too large for a float64", "1.8e308"),
    "9" * 400: (1, 1, "too large for a float64", "1.8e308"),
    "1 + " + "9" * 5000: (1, 5, "too large for a float64", "1.8e308"),
    # brackets
    "(a": (1, 1, "'(' is never closed", "close it"),
    "f(a[1)": (1, 6, "')' closes '[' of column 4", "in the order"),
    "(a\n]": (2, 1, "']' closes '(' of line 1", "in the order"),
    "a)": (1, 2, "')' closes a bracket that was never opened", "take it out"),
    "(((((": (1, 5, "'(' is never closed", "close it"),
    # columns count characters, lines count from the first
    "é + é.y": (1, 6, "'.y' is not part", "y(x)"),
    "𝐱𝐱 + 'a'": (1, 6, "no strings", ""),
    "\ta.y": (1, 3, "'.y' is not part", ""),
    "(a +\r\n  é.y)": (2, 4, "'.y' is not part", ""),
    "(a  # (\n + b.c)": (2, 5, "'.c' is not part", ""),
}


def refusal(problems: tuple[Problem, ...]) -> tuple[int | None, int | None, str, str]:
    (problem,) = problems
    assert problem.location is not None
    return problem.location.line, problem.location.column, problem.message, problem.hint or ""


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: repr(text[:30]))
def test_refuses(text: str) -> None:
    with pytest.raises(DropcheckError) as caught:
        parse_expression(SourceText.plain(text))
    line, column, message, hint = refusal(caught.value.problems)
    expected = REFUSED[text]
    assert (line, column) == expected[:2], message
    assert expected[2] in message
    assert expected[3] in hint
    assert "sys." not in message  # no advice of Python's own


TOO_MUCH = {
    "10,000 terms": "1" + " + 1" * 5_000,
    "a long chain of powers": "1" + "**1" * 5_000,
    "5,000 minus signs": "-" * 5_000 + "1",
    "3,000 denials": "not " * 3_000 + "1",
    "20,000 characters": "x" * (LONGEST_EXPRESSION + 1),
    "brackets": "(" * (DEEPEST_BRACKETS + 1) + "1" + ")" * (DEEPEST_BRACKETS + 1),
    "open brackets": "[" * 15_000,
    "transposes": "a" + ".T" * 5_000,
    "indices": "a" + "[0]" * 5_000,
    "branches": "1" + " if 1 else 1" * 1_500,
    "one level too many": "1" + " + 1" * DEEPEST_NODES,
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_refuses_what_could_overwhelm(what: str) -> None:
    started = time.process_time()
    with pytest.raises(DropcheckError) as caught:
        parse_expression(SourceText.plain(TOO_MUCH[what]))
    _, _, message, hint = refusal(caught.value.problems)
    assert any(word in message for word in ("deep", "long"))
    assert hint
    assert time.process_time() - started < 1  # each takes some 10 ms


@pytest.mark.parametrize(
    "text",
    [
        "1" + " + 1" * (DEEPEST_NODES - 2),
        "(" * DEEPEST_BRACKETS + "1" + ")" * DEEPEST_BRACKETS,
        "[" + "1, " * 6_000 + "1]",
        "x < " * 4_000 + "x",
        "x" * LONGEST_NAME + " " * (LONGEST_EXPRESSION - LONGEST_NAME),
    ],
    ids=lambda text: repr(text[:20]),
)
def test_reads_what_is_just_within_bounds(text: str) -> None:
    parse_expression(SourceText.plain(text))


# -- lines of a model ------------------------------------------------------------------------------


MODELS_REFUSED: Refused = {
    "x": (1, 1, "a line of a model reads", "'~' draws"),
    "x == 3": (1, 1, "a line of a model reads", "'~' draws"),
    "x[5] ~ normal(0, 1)": (1, 1, "a line of a model reads", "law: x ~ normal(0, 1)[5]"),
    "x <= 3": (1, 1, "a line of a model reads", "'~' draws"),
    "f(a=1)": (1, 1, "a line of a model reads", "'~' draws"),
    "x[0] = 3": (1, 2, "an element of an array", "write x = …"),
    "import os": (1, 1, "'import' does not begin a line", "the vocabulary is there"),
    "f(x) = x**2": (1, 1, "'f' cannot be defined", "write the formula out"),
    "def f(x): x": (1, 1, "'def' does not begin a line", "write the formula out"),
    "f = lambda x: x": (1, 5, "'lambda' is not part", "write the formula out"),
    "u, s, v = svd(A)": (1, 1, "several names", "svdvals(x)"),
    "x =": (1, 4, "nothing stands right of '='", "an expression"),
    "x ~  # f(1)": (1, 4, "nothing stands right of '~'", "normal(0, 1)"),
    "= 3": (1, 1, "a name is missing", "letters"),
    "x, ~ f(1)": (1, 4, "a name is missing", "letters"),
    "1x = 3": (1, 1, "'1x' cannot be a name", "letters"),
    "x y = 3": (1, 1, "'x y' cannot be a name", "letters"),
    "x += 1": (1, 3, "'+=' is not part", "write x = x + …"),
    "a, lambda ~ f(1)": (1, 4, "'lambda' is a word of Python", "lambda_"),
    "a, b = 3": (1, 1, "several names", "a line for each"),
    "x := 3": (1, 3, "':=' is not part", "'='"),
    "x <- f(1)": (1, 3, "'<-' is not part", "'~'"),
    "x = 3 = 4": (1, 7, "'=' does not compare", "'=='"),
    "x ~ a ~ b": (1, 7, "'~' draws", ""),
    "x = 1; y = 2": (1, 6, "';' is not part", "a line of its own"),
    "x ∼ f(1)": (1, 3, "'∼' is not part", "write ~"),
    "a = 1\nx = (1": (2, 5, "'(' is never closed", "close it"),
    "a = 1\nx = 1)": (2, 6, "')' closes a bracket", "take it out"),
    "é = (\n1\n+\né.y)": (4, 2, "'.y' is not part", ""),
    "x = " + "1 + " * 6_000 + "1": (1, 1, "longer than 20,000 characters", "a line of the model"),
    "x = 1\n" * (LONGEST_MODEL // 5 + 1): (1, 1, "longer than 400,000 characters", "in an array"),
}


@pytest.mark.parametrize("text", MODELS_REFUSED, ids=lambda text: repr(text[:30]))
def test_refuses_in_models(text: str) -> None:
    with pytest.raises(DropcheckError) as caught:
        parse_model(SourceText.plain(text))
    row, column, message, hint = refusal(caught.value.problems)
    expected = MODELS_REFUSED[text]
    assert (row, column) == expected[:2], message
    assert expected[2] in message
    assert expected[3] in hint


def test_every_line_in_error_is_told() -> None:
    with pytest.raises(DropcheckError) as caught:
        parse_model(SourceText.plain("x ~ f('a')\ny = 1\nz\nw = 2 ^ 3"))
    places = [problem.location and problem.location.line for problem in caught.value.problems]
    assert places == [1, 3, 4]


# -- statements ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("E(x)", "one side alone", "L == R"),
        ("not E(x) == 1", "one side alone", "L == R"),
        ("-(a == b)", "one side alone", "L == R"),
        ("a == b or b == c", "one side alone", "claim its probability: P("),
        ("a == b and b == c", "states one thing", "P(… and …) == 1"),
        ("a != b", "'!=' cannot be verified", "expect: refuted"),
        ("a == b == c", "two signs of the same direction", "a <= L <= b"),
        ("a < b > c", "two signs of the same direction", "a <= L <= b"),
        ("a < b == c", "two signs of the same direction", "a <= L <= b"),
        ("a < b < c < a", "one or two signs", "one claim for each"),
        ("E(x) = 1", "'=' does not compare", "'=='"),
    ],
)
def test_refuses_statements(text: str, message: str, hint: str) -> None:
    with pytest.raises(DropcheckError) as caught:
        parse_statement(SourceText.plain(text))
    _, _, told, advice = refusal(caught.value.problems)
    assert message in told
    assert hint in advice


# -- properties ------------------------------------------------------------------------------------


PIECES = st.sampled_from(
    [
        *("x", "E", "1", "2.5", "(", ")", "[", "]", "{", "}", ",", ":", ".", ".T", " ", "\n", "#"),
        *("+", "-", "*", "**", "/", "//", "%", "@", "==", "=", "<", ">=", "!", "~", "&", "^", "\\"),
        *(" and ", " or ", " not ", " if ", " else ", " in ", "lambda ", "yield ", "await "),
        *("'", '"', "f'", "é", "²", "\t", "\r", "\x00", "\u2028", "\ud800", "1e9", "0", "_", "…"),
    ]
)


@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join)))
@settings(max_examples=250)
def test_any_text_is_read_or_refused_at_a_place(text: str) -> None:
    for parse in (parse_expression, parse_model, parse_statement):
        try:
            parse(SourceText.plain(text))
        except DropcheckError as error:
            for problem in error.problems:
                assert problem.location is not None
                lines = text.split("\n")
                assert problem.location.line is not None
                assert 1 <= problem.location.line <= len(lines)
                assert problem.location.column is not None
                assert 1 <= problem.location.column <= len(lines[problem.location.line - 1]) + 1
                assert problem.message


def test_give_and_take_is_no_sum() -> None:
    with pytest.raises(DropcheckError) as caught:
        parse_statement(SourceText.plain("E(x) == 0 +- 0.1"))
    (problem,) = caught.value.problems
    assert problem.message == "'+-' is not part of the language"
    assert "within" in (problem.hint or "")
