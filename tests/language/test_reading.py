"""Text to nodes and back, and any text at all: it is read, judged or refused in good time.

What an expression says is held against numpy in test_expressions; what is said of slips is in
`contract/refused.yaml`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dropcheck.claims.reader import read_registry, read_text
from dropcheck.claims.registry import SourceText
from dropcheck.claims.values import LONGEST_NAME
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language import syntax
from dropcheck.language.check import check_registry
from dropcheck.language.compile import parse_claim
from dropcheck.language.parser import (
    DEEPEST_BRACKETS,
    DEEPEST_NODES,
    LONGEST_EXPRESSION,
    parse_expression,
    parse_model,
    parse_statement,
)
from dropcheck.language.syntax import Binary, Name, Node, Number, Position, children
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.laws import LAWS

TESTS = Path(__file__).parents[1]
AT = Position(SourceText.plain(""), 0, 0)


def read(text: str) -> Node:
    return parse_expression(SourceText.plain(text))


# ---- and back ------------------------------------------------------------------------------------


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
    assert read(syntax.unparse(node)) == node


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("((a))+((b*c))", "a + b * c"), ("-(x)**2", "-x**2"), ("(a*b)/c", "a * b / c"),
        ("a*(b/c)", "a * (b / c)"), ("x [ : ,1 : ]", "x[:, 1:]"), ("010.50", "10.5"),
        ("P(y==0, given = m==0)", "P(y == 0, given=m == 0)"), ("x[(1, 2)]", "x[1, 2]"),
        ("(a  # one\n # two\n + b)", "a + b"), ("a\r\n+ b\r\n", "a + b"), ("[1,]", "[1]"),
        ("a <- b", "a < -b"), ("lambda_(1)", "lambda_(1)"), ("x̄ + π", "x̄ + π"),
        # Python's reader warns of numbers that run into a word, and here a warning is an error
        ("1or 2", "1 or 2"), ("1.or 2", "1 or 2"), (".5or x", "0.5 or x"), ("0x1or x", "1 or x"),
        ("1_0if 1else 2", "10 if 1 else 2"), ("x[1]if 1else 2", "x[1] if 1 else 2"),
    ],
)  # fmt: skip
def test_no_bracket_or_digit_too_many(written: str, shown: str) -> None:
    assert syntax.unparse(read(written)) == shown


@pytest.mark.parametrize("value", [-1.5, -2.0])
def test_negative_number_is_bracketed_where_it_must_be(value: float) -> None:
    # the parser makes none, but a rewrite may; `-2**2` would be another number
    assert syntax.unparse(Binary(AT, "**", Number(AT, value), Number(AT, 2.0))).startswith("(-")


@given(st.floats(min_value=0, allow_nan=False, allow_infinity=False))
def test_any_number_reads_back_as_itself(value: float) -> None:
    assert read(syntax.unparse(Number(AT, value))) == Number(AT, value)


@pytest.mark.parametrize(
    "text",
    [
        "x + y ~ normal(0, sqrt(2))", "x < 0 ~ bernoulli(0.5)", "x if x > 0 else y ~ y",
        "independent(w, over=[0])", "grad(f)(x, p) == y / x", "f.eval(x) == x + 1",
        "1 <= E(x) < 2", "E(x) == (1 < 2)", "E(x) == (a if b else c)", "(a and b) == E(x)",
    ],
)  # fmt: skip
def test_statements_read_back_as_themselves(text: str) -> None:
    statement = parse_statement(SourceText.plain(text))
    assert statement.about_laws is ("~" in text or "independent" in text)
    assert syntax.unparse_statement(statement) == text


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        ("", ""), ("# only a comment\n\n", ""), ("x~f(1)[a]  # drawn", "x ~ f(1)[a]"),
        ("a,b ~ f()", "a, b ~ f()"), ("x = a==b", "x = a == b"), ("x = f(a=1)", "x = f(a=1)"),
        ("  x = 1\n\tb = 2\r\nc = 3", "x = 1\nb = 2\nc = 3"),
        ("x = [1,  # (\n  2]\nb = (\n3\n)", "x = [1, 2]\nb = 3"),
        ("ﬁ = 1", "fi = 1"),  # the form in which an expression would read it
        ("form ~ f()\nforward = form", "form ~ f()\nforward = form"),  # no loops
        ("for t in range(2,\n 4):\n  x = (x +\nt)  # so\n\n  # a comment",
         "for t in range(2, 4):\n    x = x + t"),
        ("for i in range(2):\n for j in range(3):\n  y ~ f(i, j)",
         "for i in range(2):\n    for j in range(3):\n        y ~ f(i, j)"),
    ],
)  # fmt: skip
def test_models_are_written_as_they_are_read(model: str, shown: str) -> None:
    parsed = parse_model(SourceText.plain(model))
    assert syntax.unparse_model(parsed) == shown
    assert parse_model(SourceText.plain(shown)) == parsed


@pytest.mark.parametrize("file", ["../claims.yaml", "judging/ordinary.yaml"])
def test_every_claim_reads_back_as_itself(file: str) -> None:
    for claim in read_registry(TESTS / file).claims.values():
        parsed = parse_claim(claim)
        statement = syntax.unparse_statement(parsed.statement)
        assert parse_statement(SourceText.plain(statement)) == parsed.statement
        assert parse_model(SourceText.plain(syntax.unparse_model(parsed.model))) == parsed.model


def test_positions_point_at_the_text() -> None:
    def walk(node: Node) -> list[Node]:
        return [node, *(below for child in children(node) for below in walk(child))]

    text = "é + f(bb, [1, cc])[dd] if not ee else ff.T"
    names = [one for one in walk(read(text)) if isinstance(one, Name)]
    assert sorted(one.name for one in names) == ["bb", "cc", "dd", "ee", "ff", "é"]
    for one in names:
        assert text[one.at.column :].startswith(one.name)


def test_reading_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setitem(sys.modules, "os", None)
    monkeypatch.setattr("builtins.eval", lambda *_: seen.append("eval"))
    monkeypatch.setattr("builtins.exec", lambda *_: seen.append("exec"))
    assert isinstance(read("__import__(os) + eval(x) + open(x)"), Binary)
    assert seen == []


# ---- too much, and anything ----------------------------------------------------------------------

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
    (problem,) = caught.value.problems
    assert any(word in problem.message for word in ("deep", "long"))
    assert problem.hint
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


PIECES = st.sampled_from(
    [
        *("x", "E", "1", "2.5", "(", ")", "[", "]", "{", "}", ",", ":", ".", ".T", " ", "\n", "#"),
        *("+", "-", "*", "**", "/", "//", "%", "@", "==", "=", "<", ">=", "!", "~", "&", "^", "\\"),
        *(" and ", " or ", " not ", " if ", " else ", " in ", "lambda ", "yield ", "await "),
        *("'", '"', "f'", "é", "²", "\t", "\r", "\x00", "\u2028", "\ud800", "1e9", "0", "_", "…"),
    ]
)


@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join)))
@settings(max_examples=150)
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


# ---- any claim -----------------------------------------------------------------------------------

SECONDS = 5.0  # each takes a tenth of one; what hangs takes for ever
WORDS = st.sampled_from(
    [
        *("x", "y", "n", "p", "E", "Var", "P", "Cov", "normal", "bernoulli", "poisson", "choice"),
        *("(", ")", "[", "]", ", ", " ~ ", " = ", " == ", " < ", " + ", " * ", " / ", "**", " @ "),
        *("0", "1", "2", "-1", "0.5", "1e9", "1e300", "inf", "sum", "mean", "max", "where", "log"),
        *(".T", "given=", "axis=", " if ", " else ", " and ", "not ", "take", "ones", "arange"),
        *("'", '"', "#", "é", "²", ";", "  ", "eye", "inv", "solve", "[0]", "[3]", "[1:]", "(x)"),
    ]
)
SCRAPS = st.lists(WORDS, min_size=1, max_size=10).map("".join)

# what can be read, and now and then makes sense
MODEL = "x ~ normal(0, 1)\nv ~ normal(p, 1)[3]\nm ~ normal(0, 1)[3, 3]\nn ~ poisson(2)\nb = v > 0\n"
LEAVES = st.sampled_from(
    ["x", "v", "m", "n", "b", "p", "0", "2", "-1", "0.5", "inf", "1e9", "[x, 1]"]
)
EXTRAS = st.sampled_from(["", "", "", "", ", axis=0", ", keepdims=1", ", axis=[0, 1]", ", axis=p"])


def some(below: st.SearchStrategy[str], least: int, most: int) -> st.SearchStrategy[str]:
    return st.lists(below, min_size=least, max_size=most).map(", ".join)


def a_call(below: st.SearchStrategy[str], name: str) -> st.SearchStrategy[str]:
    """A call with as many arguments as the function needs."""
    needed = sum(parameter.required for parameter in FUNCTIONS[name].parameters)
    written = some(below, needed, needed)
    return st.tuples(written, EXTRAS).map(lambda t: f"{name}({t[0]}{t[1] if t[0] else ''})")


def a_law(below: st.SearchStrategy[str], name: str) -> st.SearchStrategy[str]:
    """A law with arguments of the kinds that it needs: numbers, lists, matrices."""
    kinds = {
        0: below,
        1: st.one_of(some(below, 1, 3).map(lambda text: f"[{text}]"), st.just("[p, 1 - p]")),
        2: st.sampled_from(["eye(2)", "[[1, p], [p, 1]]", "m", "m @ m.T", "eye(3)"]),
    }
    return st.tuples(*(kinds[parameter.axes] for parameter in LAWS[name].parameters)).map(
        lambda arguments: f"{name}({', '.join(arguments)})"
    )


def grown(below: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    signs = st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "@", "<", "==", " and ", " or "])
    index = st.sampled_from(["0", "-1", "1:", "::2", "p", "0, 1", "7", "x"])
    return st.one_of(
        st.tuples(below, signs, below).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
        st.sampled_from(sorted(FUNCTIONS)).flatmap(lambda name: a_call(below, name)),
        st.sampled_from(sorted(FUNCTIONS)).flatmap(lambda name: a_call(below, name)),
        st.tuples(below, below, below).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.tuples(below, index).map(lambda t: f"({t[0]})[{t[1]}]"),
        st.tuples(
            st.sampled_from(sorted(LAWS)).flatmap(lambda name: a_law(below, name)), below
        ).map(lambda t: f"logdensity({t[0]}, {t[1]})"),
        some(below, 1, 3).map(lambda text: f"[{text}]"),
        st.just("m.T"),
    )


EXPRESSIONS = st.recursive(LEAVES, grown, max_leaves=4)
LINES = st.one_of(
    EXPRESSIONS.map(lambda text: f"y = {text}"),
    st.tuples(
        st.sampled_from(sorted(LAWS)).flatmap(lambda name: a_law(EXPRESSIONS, name)),
        st.sampled_from(["", "", "[3]", "[p]", "[2, 3]", "[1e9]"]),
    ).map(lambda t: f"y ~ {t[0]}{t[1]}"),
)
QUANTITIES = st.one_of(st.just("y"), EXPRESSIONS)
STATEMENTS = st.one_of(
    st.tuples(
        st.sampled_from(["E", "E", "P", "Var", "Std", "Skew", "Kurt"]),
        QUANTITIES,
        st.sampled_from(["", "", ", given=x > 0", ", given=v", ", given=y"]),
        st.sampled_from(["== 0", "== 1", "< 2", ">= p", "== p + 1", "== E(x)"]),
    ).map(lambda t: f"{t[0]}({t[1]}{t[2]}) {t[3]}"),
    st.tuples(QUANTITIES, QUANTITIES).map(lambda t: f"0 <= Cov({t[0]}, {t[1]}) <= Var(x)"),
)
MANY = settings(
    max_examples=80,
    suppress_health_check=[HealthCheck.too_slow],
)


@given(LINES, STATEMENTS, st.sampled_from([0.5, 0.0, 1.0, 3.0, -1.0, 1e9]))
@MANY
def test_any_claim_is_judged_or_refused(line: str, statement: str, p: float) -> None:
    assert_judged(line, statement, p)


@given(EXPRESSIONS.filter(lambda text: "+-" not in text))  # it is refused: papers mean ± by it
@settings(max_examples=150)
def test_any_expression_reads_back_as_itself(text: str) -> None:
    node = read(text)
    assert read(syntax.unparse(node)) == node


@given(SCRAPS, SCRAPS)
@MANY
def test_any_scraps_are_judged_or_refused(line: str, statement: str) -> None:
    assert_judged(line, statement, 0.5)


def assert_judged(line: str, statement: str, p: float) -> None:
    """A claim is judged, or refused with problems, and neither takes long."""
    started = time.process_time()
    problems = judged(file_of(MODEL + line, statement, p))
    assert problems is None or (problems and all(problem.message for problem in problems))
    assert time.process_time() - started < SECONDS


def file_of(model: str, statement: str, p: float) -> str:
    lines = "".join(f"      {one}\n" for one in model.splitlines())
    return (
        f"dropcheck: 1\nclaims:\n  c:\n    title: T\n    parameters: {{p: {p}}}\n"
        f"    model: |\n{lines}    claim: |\n      {statement}\n"
    )


def judged(text: str) -> tuple[Problem, ...] | None:
    """The problems of a file, found by reading, by a check or by a run; None where it has none."""
    try:
        registry = read_text(text)
        told = check_registry(registry)
        if told.problems:
            return told.problems
        limits = Settings(max_draws=500, time_limit=1.0, threads=1, max_memory=2**26)
        assert len(list(verify_cases(registry.expand(), limits, registry))) == 1
    except DropcheckError as error:
        return error.problems
    return None
