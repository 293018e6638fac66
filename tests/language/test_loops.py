"""Loops of a model: the same as their lines written out, and every misuse refused at its place."""

from __future__ import annotations

import numpy as np
import pytest
from lowered import expressed, lowered, lowering

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import SourceText
from dropcheck.errors import Problem
from dropcheck.language.check import check_registry
from dropcheck.language.graph import Value
from dropcheck.language.lowering import model as loops
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
    "collected": (AR1, "path", "a, b, c ~ normal(0, 1); d = 0.9 * a + b; y = [a, d, 0.9 * d + c]",
        "y"),
    "one of the collected": (AR1, "path[-2]", "a, b, c ~ normal(0, 1)", "0.9 * a + b"),
    "drawn": ("x = 2\nfor t in range(2):\n  x ~ normal(x, t + 1)", "x",
        "a ~ normal(2, 1); b ~ normal(a, 2)", "b"),
    "drawn twice at a step": ("x = 2\nfor t in range(1):\n  x ~ normal(x, 1)\n  x ~ normal(x, 1)",
        "x", "a ~ normal(2, 1); b ~ normal(a, 1)", "b"),
    "drawn under one name in two loops": (
        "x = 2\nfor t in range(1):\n  x ~ normal(x, 1)\nfor t in range(1):\n  x ~ normal(x, 1)",
        "x", "a ~ normal(2, 1); b ~ normal(a, 1)", "b"),
    "several names": ("x = 0\nfor t in range(2):\n  u, v ~ uniform(0, 1)\n  x = x + u * v", "x",
        "a, b, c, d ~ uniform(0, 1)", "a * b + c * d"),
    "several assignments": ("x = 1\nfor t in range(2):\n  x = 3 * x\n  x = x + t", "x", "",
        "3 * 3 + 1"),
    "the old value under a new name": (
        "a = 1\nb = 1\nfor n in range(5):\n  c = a + b\n  a = b\n  b = c", "c", "",
        "[2, 3, 5, 8, 13]"),
    "nested, collected": ("for i in range(2):\n  for j in range(3):\n    y = 10 * i + j", "y", "",
        "[[0, 1, 2], [10, 11, 12]]"),
    "nested, one of the collected": (
        "for i in range(2):\n  for j in range(3):\n    y = 10 * i + j", "y[1, 2]", "", "12"),
    "nested, the inner one collected within": (
        "for i in range(2):\n  for j in range(3):\n    y = 10 * i + j\n  z = sum(y)", "z", "",
        "[3, 33]"),
    "nested, carried through": ("s = 0\nfor i in range(3):\n  for j in range(i):\n    s = s + 1",
        "s", "", "3"),
    "an index": ("w ~ normal(0, 1)[3]\nx = 0\nfor t in range(3):\n  x = 0.5 * x + w[t]", "x",
        "w ~ normal(0, 1)[3]", "0.5 * (0.5 * w[0] + w[1]) + w[2]"),
    "a start": ("x = 0\nfor t in range(2, 5):\n  x = x + t", "x", "", "9"),
    "a step": ("x = 0\nfor t in range(5, 0, -2):\n  x = 10 * x + t", "x", "", "531"),
    "a case that is known": ("x = 1\nfor t in range(3):\n  x = x / t if t > 0 else 8", "x", "",
        "4"),
    "a fixed list": ("for t in range(3):\n  y = t**2", "y", "", "[0, 1, 4]"),
    "no step": ("x = 7\nfor t in range(T - 3):\n  x = x + 1", "x", "", "7"),
    "one step": ("for t in range(1):\n  y = 5", "y", "", "[5]"),
    "a number that becomes an array": (
        "x = 0\nfor t in range(2):\n  w ~ normal(0, 1)[2]\n  x = x + w", "x",
        "a, b ~ normal(0, 1)[2]", "a + b"),
    "the number of the step again": (
        "x = 0\nfor t in range(2):\n  x = x + t\nfor t in range(3):\n  x = x + t", "x", "", "4"),
    "a constant's name": ("x = 0\nfor t in range(2):\n  e ~ normal(0, 1)\n  x = x + e", "x",
        "a, b ~ normal(0, 1)", "a + b"),
    "a body over several rows": (
        "x = 0\nfor t in range(2,\n 4):\n  x = (x +\nt)  # indented as it likes\n\n  # a comment",
        "x", "", "5"),
}  # fmt: skip


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


def test_a_name_that_begins_like_a_loop_is_a_name() -> None:
    assert len(parse_model(SourceText.plain("form ~ normal(0, 1)\nforward = form + 1"))) == 2
