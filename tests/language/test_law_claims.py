"""Statements about laws as text: read, written out again, and refused with what to write."""

from __future__ import annotations

import pytest

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import SourceText
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
