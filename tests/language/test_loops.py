"""Loops of a model: the same as their lines written out, and every misuse refused at its place."""

from __future__ import annotations

import numpy as np
import pytest
from lowered import expressed, lowered, lowering

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import SourceText
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.check import check_registry
from dropcheck.language.graph import Value
from dropcheck.language.lowering import loops
from dropcheck.language.parser import parse_model
from dropcheck.language.printing import unparse_model
from dropcheck.simulation.compile import ProgramBuilder
from dropcheck.simulation.program import Program
from dropcheck.simulation.streams import stream


def program(value: Value) -> tuple[Program, int]:
    builder = ProgramBuilder()
    register = builder.register(value)
    builder.term(((register, 1),), None)
    return builder.build(), register


def draws(model: str, expression: str, **parameters: float) -> np.ndarray:
    """Some draws of an expression, [..., draws]."""
    value = lowered(model, expression, parameters)
    if not value.random:
        return np.asarray(value.constant)
    built, register = program(value)
    array = built.registers(stream(0, "loops", 0, 0), 64)[register]
    assert array is not None
    return array.astype(float)


AR1 = """\
x = 0
for t in range(T):
    w ~ normal(0, 1)
    x = 0.9 * x + w
    path = x
"""

# a loop, an expression of it, and a model without loops of the same draws in the same order
WRITTEN_OUT = {
    "carried": (AR1, "x", "a, b, c ~ normal(0, 1); y = 0.9 * (0.9 * a + b) + c", "y"),
    "collected": (
        AR1,
        "path",
        "a, b, c ~ normal(0, 1); d = 0.9 * a + b; y = [a, d, 0.9 * d + c]",
        "y",
    ),
    "one of the collected": (AR1, "path[-2]", "a, b, c ~ normal(0, 1)", "0.9 * a + b"),
    "drawn": (
        "x = 2\nfor t in range(2):\n  x ~ normal(x, t + 1)",
        "x",
        "a ~ normal(2, 1); b ~ normal(a, 2)",
        "b",
    ),
    "drawn twice at a step": (
        "x = 2\nfor t in range(1):\n  x ~ normal(x, 1)\n  x ~ normal(x, 1)",
        "x",
        "a ~ normal(2, 1); b ~ normal(a, 1)",
        "b",
    ),
    "drawn under one name in two loops": (
        "x = 2\nfor t in range(1):\n  x ~ normal(x, 1)\nfor t in range(1):\n  x ~ normal(x, 1)",
        "x",
        "a ~ normal(2, 1); b ~ normal(a, 1)",
        "b",
    ),
    "several names": (
        "x = 0\nfor t in range(2):\n  u, v ~ uniform(0, 1)\n  x = x + u * v",
        "x",
        "a, b, c, d ~ uniform(0, 1)",
        "a * b + c * d",
    ),
    "several assignments": (
        "x = 1\nfor t in range(2):\n  x = 3 * x\n  x = x + t",
        "x",
        "",
        "3 * 3 + 1",
    ),
    "the old value under a new name": (
        "a = 1\nb = 1\nfor n in range(5):\n  c = a + b\n  a = b\n  b = c",
        "c",
        "",
        "[2, 3, 5, 8, 13]",
    ),
    "nested, collected": (
        "for i in range(2):\n  for j in range(3):\n    y = 10 * i + j",
        "y",
        "",
        "[[0, 1, 2], [10, 11, 12]]",
    ),
    "nested, one of the collected": (
        "for i in range(2):\n  for j in range(3):\n    y = 10 * i + j",
        "y[1, 2]",
        "",
        "12",
    ),
    "nested, the inner one collected within": (
        "for i in range(2):\n  for j in range(3):\n    y = 10 * i + j\n  z = sum(y)",
        "z",
        "",
        "[3, 33]",
    ),
    "nested, carried through": (
        "s = 0\nfor i in range(3):\n  for j in range(i):\n    s = s + 1",
        "s",
        "",
        "3",
    ),
    "an index": (
        "w ~ normal(0, 1)[3]\nx = 0\nfor t in range(3):\n  x = 0.5 * x + w[t]",
        "x",
        "w ~ normal(0, 1)[3]",
        "0.5 * (0.5 * w[0] + w[1]) + w[2]",
    ),
    "a start": ("x = 0\nfor t in range(2, 5):\n  x = x + t", "x", "", "9"),
    "a step": ("x = 0\nfor t in range(5, 0, -2):\n  x = 10 * x + t", "x", "", "531"),
    "a case that is known": (
        "x = 1\nfor t in range(3):\n  x = x / t if t > 0 else 8",
        "x",
        "",
        "4",
    ),
    "a fixed list": ("for t in range(3):\n  y = t**2", "y", "", "[0, 1, 4]"),
    "no step": ("x = 7\nfor t in range(T - 3):\n  x = x + 1", "x", "", "7"),
    "one step": ("for t in range(1):\n  y = 5", "y", "", "[5]"),
    "a number that becomes an array": (
        "x = 0\nfor t in range(2):\n  w ~ normal(0, 1)[2]\n  x = x + w",
        "x",
        "a, b ~ normal(0, 1)[2]",
        "a + b",
    ),
    "the number of the step again": (
        "x = 0\nfor t in range(2):\n  x = x + t\nfor t in range(3):\n  x = x + t",
        "x",
        "",
        "4",
    ),
    "a constant's name": (
        "x = 0\nfor t in range(2):\n  e ~ normal(0, 1)\n  x = x + e",
        "x",
        "a, b ~ normal(0, 1)",
        "a + b",
    ),
    "a body over several rows": (
        "x = 0\nfor t in range(2,\n 4):\n  x = (x +\nt)  # indented as it likes\n\n  # a comment",
        "x",
        "",
        "5",
    ),
}


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_a_loop_is_its_lines_written_out(name: str) -> None:
    model, expression, plain, same = WRITTEN_OUT[name]
    expected = draws(plain, same, T=3)
    found = draws(model, expression, T=3)
    assert found.shape == expected.shape
    assert np.array_equal(found, expected)


def test_steps_draw_anew() -> None:
    drawn = draws("for t in range(3):\n  w ~ normal(0, 1)", "w")
    assert len(np.unique(drawn)) == 3 * 64


def test_every_step_has_a_source_of_its_own() -> None:
    value = lowered(AR1, "x", {"T": 4})
    assert len(value.sources) == 4


def test_only_what_is_used_is_kept() -> None:
    few, _ = program(lowered(AR1, "x", {"T": 400}))
    many, _ = program(lowered(AR1, "sum(path)", {"T": 400}))
    assert few.span_draws > 50 * many.span_draws


def test_of_one_step_no_array_is_made() -> None:
    scope = lowering(AR1, {"T": 400})
    assert expressed(scope, "path[-1]") is expressed(scope, "x")
    assert expressed(scope, "path[3]").sources == {f"w[{t}]" for t in range(4)}


def test_the_cost_is_that_of_the_steps() -> None:
    one, hundred = (program(lowered(AR1, "x", {"T": t}))[0].cost for t in (10, 1000))
    assert hundred == pytest.approx(100 * one, rel=0.05)


# ---- what is refused ----------------------------------------------------------------------------


def told(model: str, claim: str = "1 == 1") -> list[Problem]:
    text = "dropcheck: 1\nclaims:\n  c:\n    title: T\n    parameters: {T: [3]}\n    model: |\n"
    text += "".join(f"      {line}\n" for line in model.split("\n"))
    return list(check_registry(read_text(text + f"    claim: {claim}\n", "c.yaml")).problems)


# a model, the line and the column, what is said, what to do
REFUSED = {
    "for t in range(3)\n  x = 1": (1, 18, "a loop's first line ends in ':'", "for t in range(3):"),
    "for t in range(3):": (1, 1, "this loop has no body", "indent at least one line"),
    "for t in range(3):\nx = 1": (1, 1, "this loop has no body", "indent at least one line"),
    "for t in range(3): x = 1": (1, 19, "the body of a loop stands below", "on a line of its own"),
    "for t in range(3):\n  x = 1\n    y = 2": (3, 5, "indented more", "alike"),
    "for t in range(3):\n    x = 1\n  y = 2": (3, 3, "indented less", "alike"),
    "for t in range(3):\n  x = 1\n\ty = 2": (3, 2, "tabs and blanks", "blanks alone"),
    "for t in [1, 2]:\n  x = t": (1, 10, "goes through range(…)", "x[t] is element t"),
    "for i, x in range(3):\n  y = x": (1, 8, "counts with one name", "x[t] is element t"),
    "for t of range(3):\n  x = t": (1, 1, "reads 'for t in range(T):'", "for t in range(T):"),
    "for t in :\n  x = t": (1, 10, "what the loop goes through is missing", "range(T)"),
    "for t in range():\n  x = t": (1, 10, "one to three numbers", "range(start, stop)"),
    "for t in range(2.5):\n  x = t": (1, 16, "this is 2.5", "floor"),
    "for t in range([1, 2]):\n  x = t": (1, 16, "this is an array", "range(size(x))"),
    "for t in range(0, 3, 0):\n  x = t": (1, 22, "cannot be 0", "range(start, stop)"),
    "n ~ poisson(3)\nfor t in range(n):\n  x = t": (2, 16, "this is random", "where(t < n"),
    "for t in range(1e9):\n  x = t": (1, 1, "2,000,000,000 names", "fewer steps"),
    "for t in range(inf):\n  x = t": (1, 16, "this is inf", "floor"),
    "for i in range(1e5):\n  for j in range(1e5):\n    x = 1": (2, 3, "are allowed", "fewer steps"),
    "for t in range(3):\n  x = x + 1": (2, 7, "'x' has no value at the first step", "x = 0"),
    "for t in range(3):\n  y = x\n  x = 1": (2, 7, "'x' has no value at the first", "x = 0"),
    "for t in range(3):\n  y = e\n  e ~ normal(0, 1)": (2, 7, "'e' has no value", "draw it"),
    "for t in range(3):\n  T = T - 1": (2, 3, "a parameter, and a loop cannot", "y = T"),
    "for t in range(3):\n  t = 1": (2, 3, "counts the steps", "another name"),
    "for T in range(3):\n  x = 1": (1, 5, "'T' is already defined by a parameter", "another"),
    "for t in range(3):\n  y = 1\n  y = 2": (3, 3, "'y' is already defined", "another name"),
    "x = [1]\nfor t in range(3):\n  x = concat(x, [t])": (3, 3, "[2] after it", "keeps its shape"),
    "x = [1, 2]\nfor t in range(3):\n  x = sum(x)": (3, 3, "a single number after", "keeps"),
    "for t in range(3):\n  x = 1 / (2 - t)": None,
    "for t in range(3):\n  w ~ normal(0, 2 - t)\n  v ~ normal(0, 1 - t)": (
        3, 17, "is -1 (at t = 2) (c with T = 3)", "normal(mean, sd)",
    ),
    "for t in range(3):\n  while t > 1:\n    y = 2": (2, 3, "'while' does not begin", "where"),
    "for t in range(3):\n  if t > 1:\n    y = 2": (2, 3, "'if' does not begin", "a if c else b"),
    "x = 1\nfor t in range(3):\n  x = x + 1\n  break": (4, 3, "'break' does not", "first(event)"),
    "x = 1\nfor t in range(3):\n  x += 1": (3, 5, "'+=' is not part", "write x = x + …"),
    "x = ones(3)\nfor t in range(3):\n  x[t] = 1": (3, 4, "an element", "write x = …"),
    "x = 1\nw ~ normal(0, 1)\nx = 0.9 * x + w": (3, 1, "already defined", "for t in range(T):"),
    "w ~ normal(0, 1)\nx = 0.9 * x + w": (2, 1, "is defined by itself", "x = 0, and below it for"),
    "x ~ normal(x, 1)": (1, 1, "'x' is defined by itself", "for t in range(T):"),
    "x = ones(3)\nx[2] = 0.9 * x[1]": (2, 2, "an element of an array", "in a loop, write x ="),
    "x = 1\nx = 2": (2, 1, "already defined", "choose another name"),
    "e = 1": None,
    "x = e\ne ~ normal(0, 1)": (2, 1, "'e' is a constant", "eps"),
}  # fmt: skip


@pytest.mark.parametrize("model", REFUSED)
def test_what_is_refused(model: str) -> None:
    problems = told(model)
    expected = REFUSED[model]
    if expected is None:
        assert problems == []
        return
    (problem,) = problems
    line, column, message, hint = expected
    assert problem.location is not None
    assert (problem.location.line, problem.location.column) == (line + 6, column + 6)
    assert message in problem.message
    assert hint in (problem.hint or "")


@pytest.mark.parametrize(
    ("model", "claim", "message"),
    [
        ("for t in range(0):\n  y = 1", "E(sum(y)) == 0", "made in a loop that takes no step"),
        (
            "for t in range(1, 3):\n  x = ones(t)",
            "E(sum(x)) == 0",
            "'x' is [1] at one step and [2] at another",
        ),
        ("for t in range(3):\n  y = 1", "E(t) == 0", "'t' is not defined"),
        ("for t in range(3):\n  y = z", "E(sum(y)) == 0", "'z' is not defined"),
    ],
)
def test_what_is_refused_after_a_loop(model: str, claim: str, message: str) -> None:
    (problem,) = told(model, claim)
    assert message in problem.message


def test_all_lines_of_a_body_are_checked_at_once() -> None:
    problems = told("for t in range(3):\n  y = aa\n  z = bb\nw = cc")
    assert [p.message.split()[0] for p in problems] == ["'aa'", "'bb'", "'cc'"]


def test_loops_are_nested_no_deeper_than_a_bound() -> None:
    model = "".join(f"{' ' * depth}for t{depth} in range(1):\n" for depth in range(40))
    problems = told(model + " " * 40 + "x = 1")
    assert "deeper than 8 levels" in problems[0].message


def test_the_bound_holds_over_all_loops_of_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "MOST_LOOPED", 1000)
    loop = "for t in range(100):\n  y{} = 1 + t"
    assert told(loop.format(1) + "\n" + loop.format(2)) == []
    (problem,) = told("\n".join(loop.format(number) for number in range(3)))
    assert "come to 1,200 names" in problem.message


def test_a_note_of_a_body_is_given_once() -> None:
    text = (
        "dropcheck: 1\nclaims:\n  c:\n    title: T\n    model: |\n      x = 0\n      for t in "
        "range(9):\n        x ~ normal(x, 2**2)\n    claim: E(x) == 0\n"
    )
    (note,) = check_registry(read_text(text)).notes
    assert "a square" in note.message


# ---- text ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [m for m, _, p, _ in WRITTEN_OUT.values() if p != m])
def test_a_model_is_written_as_it_is_read(model: str) -> None:
    read = parse_model(SourceText.plain(model))
    assert parse_model(SourceText.plain(unparse_model(read))) == read


def test_blanks_outside_of_loops_say_nothing() -> None:
    read = parse_model(SourceText.plain("  x = 1\n y = 2\n      z = 3"))
    assert read == parse_model(SourceText.plain("x = 1\ny = 2\nz = 3"))


def test_a_loop_that_cannot_be_read_names_its_lines() -> None:
    with pytest.raises(DropcheckError) as caught:
        parse_model(SourceText.plain("for t in range(3)\n  x = 1 +\ny = )"))
    assert len(caught.value.problems) == 1  # brackets come first
    with pytest.raises(DropcheckError) as caught:
        parse_model(SourceText.plain("for t in range(3)\n  x = 1 +\ny = 2 *"))
    assert len(caught.value.problems) == 3


def test_a_line_that_cannot_be_read_leaves_the_others_defined() -> None:
    (problem,) = told("y ~ normal(0, 1)\nz = y + 1\nx = 2 *", "E(z) == 1")
    assert "cannot be read" in problem.message
