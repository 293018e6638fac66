"""Statements about laws as text: read, written out again, and refused with what to write."""

from __future__ import annotations

import pytest

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import SourceText
from dropcheck.language.check import check_registry
from dropcheck.language.compile import lower_case, parse_claim
from dropcheck.language.graph import LawClaim, Relation, pairs
from dropcheck.language.parser import parse_statement
from dropcheck.language.printing import unparse_statement

MODEL = "x ~ normal(0, 1)\ny ~ normal(0, 1)\nw ~ normal(0, 1)[3]\nv ~ normal(0, 1)[2, 3]"


def file_of(claim: str, more: str = "") -> str:
    lines = "".join(f"      {line}\n" for line in MODEL.split("\n"))
    head = "dropcheck: 1\nclaims:\n  c:\n    title: t\n    model: |\n"
    return f"{head}{lines}    claim: '{claim}'\n{more}"


def read(claim: str, **parameters: float) -> LawClaim:
    (one,) = read_text(file_of(claim)).claims.values()
    law = lower_case(parse_claim(one), parameters).law
    assert law is not None
    return law


def refused(claim: str, more: str = "") -> tuple[str, str | None, int | None]:
    (problem,) = check_registry(read_text(file_of(claim, more))).problems
    assert problem.location is not None
    return problem.message, problem.hint, problem.location.column


@pytest.mark.parametrize(
    "text",
    [
        "y ~ normal(0, 1)",
        "x + y ~ normal(0, sqrt(2))",
        "x < 0 ~ bernoulli(0.5)",
        "x ~ y",
        "x if x > 0 else y ~ y",
        "independent(x, y)",
        "independent(w, over=[0])",
    ],
)
def test_what_is_written_out_is_read_back(text: str) -> None:
    statement = parse_statement(SourceText.plain(text))
    assert statement.about_laws
    assert unparse_statement(statement) == text
    assert parse_statement(SourceText.plain(unparse_statement(statement))) == statement


def test_other_statements_are_not_about_laws() -> None:
    assert not parse_statement(SourceText.plain("E(x) == 0")).about_laws


def test_a_statement_may_run_over_lines() -> None:
    statement = parse_statement(SourceText.plain("(x +\n y) ~ normal(\n 0, 1)  # a law"))
    assert unparse_statement(statement) == "x + y ~ normal(0, 1)"


def test_what_is_claimed_is_known_before_any_draw() -> None:
    law = read("w ~ normal(1 + 1, 3)")
    assert (law.relation, law.arguments, law.entries) == (Relation.FOLLOWS, (2.0, 3.0), 3)
    assert read("x ~ y").relation is Relation.ALIKE
    assert read("x ~ categorical([0.5, 0.5])").arguments == ((0.5, 0.5),)


def test_pairs_are_those_that_differ_along_the_axes() -> None:
    assert pairs(read("independent(x, y)")) == ((0, 1),)
    assert pairs(read("independent(x, w)")) == ((0, 1), (0, 2), (0, 3))
    assert len(pairs(read("independent(w, over=[0])"))) == 3
    assert len(pairs(read("independent(v, over=[0])"))) == 9
    assert len(pairs(read("independent(v, over=[1])"))) == 12
    assert len(pairs(read("independent(v, over=[0, 1])"))) == 15
    assert pairs(read("independent(v, over=[-1])")) == pairs(read("independent(v, over=[1])"))


@pytest.mark.parametrize(
    ("claim", "message", "hint", "column"),
    [
        ("normal(0,1) ~ x", "a law stands left", "x ~ normal(0, 1)", 13),
        ("x ~ normal", "needs its arguments", "normal(mean, sd)", 17),
        ("x ~ norml(0,1)", "not a law", "normal", 17),
        ("x ~ 3", "a number, not a law", "normal(0, 1)", 17),
        ("x ~ normal(y, 1)", "is random", "(y - m) / s", 24),
        ("w ~ normal([0,1,2],1)", "one law", "x / s", 24),
        ("x ~ y ~ w", "one '~'", "one claim for each", 19),
        ("E(x ~ y) == 1", "within brackets", "nothing around it", 17),
        ("x ~", "nothing stands right", "y ~ normal(0, 1)", 15),
        ("~ normal(0,1)", "nothing stands left", "y ~ normal(0, 1)", 13),
        ("x ~ w", "shapes [] and [3]", "x[0]", 15),
        ("E(x) ~ normal(0,1)", "an operator on the law", "'=='", 13),
        ("x ~ dirichlet([1, 2])", "law of vectors", "entries", 17),
        ("x ~ normal(0, 1)[3]", "no shape", "normal(0, 1)", 17),
        ("x ~ normal(0, -1)", "sd >= 0", "normal(mean, sd)", 27),
        ("independent(x)", "at least two", "over=[0]", 13),
        ("independent(x, ovr=[0])", "no argument 'ovr'", "independent(x, y)", 32),
        ("independent(x, y, over=[0])", "one quantity", "over=[0]", 36),
        ("independent(w, over=[1])", "names axes", "[0]", 33),
        ("P(independent(x, y)) == 1", "by itself", "independent(x, y)", 15),
    ],
)
def test_a_misuse_is_refused_at_its_place(claim: str, message: str, hint: str, column: int) -> None:
    said, advice, at = refused(claim)
    assert message in said
    assert hint in (advice or "")
    assert at == column


def test_too_many_entries_are_refused_before_any_draw() -> None:
    text = file_of("u ~ normal(0, 1)").replace("x ~ normal(0, 1)\n", "u ~ normal(0, 1)[300]\n", 1)
    messages = [problem.message for problem in check_registry(read_text(text)).problems]
    assert any("at most 64" in message for message in messages)


@pytest.mark.parametrize("claim", ["independent(x, x)", "independent(x, y)", "x ~ y"])
def test_one_quantity_under_two_names_is_refused(claim: str) -> None:
    text = "dropcheck: 1\nclaims:\n  c:\n    title: T\n    model: |\n      x ~ normal(0, 1)\n"
    found = check_registry(read_text(f"{text}      y = x\n    claim: '{claim}'\n")).problems
    assert ["one" in problem.message for problem in found] == [True]
