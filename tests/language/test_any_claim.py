"""Any claim at all is judged or refused, and neither takes long."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.check import check_registry
from dropcheck.results import Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.laws import LAWS

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
    max_examples=250,
    suppress_health_check=[HealthCheck.too_slow],
)


@given(LINES, STATEMENTS, st.sampled_from([0.5, 0.0, 1.0, 3.0, -1.0, 1e9]))
@MANY
def test_any_claim_is_judged_or_refused(line: str, statement: str, p: float) -> None:
    assert_judged(line, statement, p)


@pytest.mark.parametrize(
    ("line", "statement", "verdict"),
    [
        # found by the test above: fixed quantities where random ones are usual
        ("y = [p]", "E(y) == 0.5", Verdict.VERIFIED),
        ("y = [p, 1]", "E(x) < E(y)", Verdict.VERIFIED),
        ("y = p > 0", "P(y, given=x > 0) == 1", Verdict.VERIFIED),
        ("y = p > 0", "P(y, given=x > 0) == 0", Verdict.REFUTED),
        ("y = ones(2)", "0.9 <= P(y) <= 1", Verdict.VERIFIED),
    ],
)
def test_what_once_broke(line: str, statement: str, verdict: Verdict) -> None:
    registry = read_text(file_of(f"x ~ normal(0, 1)\n{line}", statement, 0.5))
    (result,) = verify_cases(registry.expand(), Settings(), registry)
    assert result.verdict is verdict


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
