"""Cards and lists of claims, checks, and problems with their carets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dropcheck.claims.registry import Claim, Document, Registry, SourceText
from dropcheck.errors import Location, Problem
from dropcheck.judging.case import Finding, prepare
from dropcheck.report.cards import (
    claim_cards,
    exact_text,
    resolution_text,
)
from dropcheck.report.screen import Terminal, problems_text
from dropcheck.results import Exact, Method, Passage, Quantity, Resolution, Verdict

# ---- problems ------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", [1, 5, 57, 250, 499, 500, 501, 900])
@pytest.mark.parametrize("width", [None, 40, 80])
def test_a_long_line_is_shown_around_its_column(column: int, width: int | None) -> None:
    text = "".join(chr(ord("a") + n % 26) for n in range(500))
    problem = Problem("wrong", Location("f", 1, column, text))
    _, shown, caret, _ = problems_text([problem], Terminal(width)).splitlines()
    assert max(len(shown), len(caret)) <= (width or 104) + 1
    assert caret.strip() == "^"
    at = caret.index("^")
    if column <= 500:
        assert shown[at] == text[column - 1]
    else:
        assert at == len(shown)


def test_the_caret_stands_below_wide_characters_too() -> None:
    problem = Problem("wrong", Location("f", 1, 4, "维度 x"))
    _, _, caret, _ = problems_text([problem], Terminal()).splitlines()
    assert caret == "    " + " " * 5 + "^"


def test_problems_without_a_place_and_many_of_them() -> None:
    assert problems_text([Problem("no")], Terminal()) == "error: no\n"
    text = problems_text([Problem("no")] * 300, Terminal())
    assert text.endswith("and 100 more\n300 errors\n")


def test_a_message_is_wrapped_between_words_and_not_in_what_is_copied() -> None:
    hint = "name a file: --file FILE; to begin with one: dropcheck init claims.yaml"
    problem = Problem("there is no claims.yaml here, nor any other", hint=hint)
    assert problems_text([problem], Terminal(30)) == (
        "error: there is no claims.yaml\n"
        "    here, nor any other\n"
        "hint: name a file:\n"
        "      --file FILE; to begin\n"
        "      with one:\n"
        "      dropcheck init claims.yaml\n"
    )
    assert len(problems_text([problem], Terminal()).splitlines()) == 2  # in a pipe


# ---- claims --------------------------------------------------------------------------------------


CLAIM = Claim(
    id="qk-variance",
    title="Variance of q·k [/x]",
    statement=SourceText.plain("Var(q @ k) == dk"),
    model=SourceText.plain("q ~ normal(0, 1)[dk]\nk ~ normal(0, 1)[dk]\n"),
    parameters={"dk": (16.0, 512.0), "law": ("normal(0, 1)",)},
    cases=None,
    requires=(SourceText.plain("dk >= 1"),),
    expect="verified",
    tolerance=None,
    resolution=0.01,
    within=None,
    sources=(Passage("post", "Attention"),),
    says=None,
    note="a sum of dk products",
    truth=None,
    tags=("attention", "scaling"),
    location=Location("claims.yaml", 18),
    parameter_locations={},
)
REGISTRY = Registry("claims.yaml", {"post": Document("post", "A post", "2024-02-13")}, {})


def test_a_card_breaks_lines_so_that_code_can_be_told_apart() -> None:
    model = SourceText.plain("x ~ normal(0, 1)\ny = where(x > 0, x, 0) + where(x > 1, 1, 0) * 2")
    statement = SourceText.plain("E(y) == 1")
    claim = replace(CLAIM, statement=statement, model=model, note="many words of a note " * 8)
    examples = {"qk-variance": "dropcheck run qk"}
    narrow = claim_cards([claim], REGISTRY, examples, Terminal(40)).splitlines()
    assert max(map(len, narrow)) <= 40
    at = narrow.index("  model       x ~ normal(0, 1)")
    assert narrow[at + 1 : at + 3] == [
        "              y = where(x > 0, x, 0) +",
        "                  where(x > 1, 1, 0) * 2",
    ]
    wide = claim_cards([claim], REGISTRY, examples, Terminal(160))
    assert "              y = where(x > 0, x, 0) + where(x > 1, 1, 0) * 2" in wide.splitlines()
    assert max(map(len, wide.splitlines())) <= 14 + 90
    assert " ".join(wide.split()).count("many words of a note") == 8


@pytest.mark.parametrize(
    ("statement", "within", "shown"),
    [
        ("E(x) == 0.5", None, "0.01 of 0.5"),
        ("E(x) == 0", None, "0.01 of the size of what is compared"),
        ("E(x) == E(y)", None, "0.01 of the size of what is compared"),
        ("P(x < 0) == 0.3", None, "0.01 of 0.3"),
        ("P(x < 0) == 0.7", None, "0.01 of 0.3"),
        ("E(x) == -0.5", None, "0.01 of 0.5"),
        ("1 == E(x)", None, "0.01 of 1"),
        ("E(x) == a", None, "0.01 of the size of what is compared"),
        ("1 <= E(x) <= 2", None, "0.01 of 2"),
        # both ends are 0: the scale is the size of the middle
        ("0 <= E(y**2) - 1 <= 0", None, "0.01 of the size of what is compared"),
        ("E(x) == 1 - 1", None, "0.01 of the size of what is compared"),
        ("E(x) <= E(y) <= E(z)", None, "0.01 of the size of what is compared"),
        ("E(x) == 0.5", 0.002, "0.002, absolute"),
        # what has no scale
        ("P(x**2 >= 0) == 1", None, "±0.0001: violations rarer than that"),
        ("P(x**2 >= 0) == 1", 1e-5, "±1e-05: violations rarer than that"),
        ("a == a", None, "±0: nothing is random, and what is not equal differs"),
    ],
)
def test_a_card_says_which_scale_is_used(statement: str, within: float | None, shown: str) -> None:
    model = SourceText.plain("x ~ normal(0, 1)\ny ~ normal(0, 1)\nz ~ normal(0, 1)")
    claim = replace(
        CLAIM,
        statement=SourceText.plain(statement),
        within=within,
        model=model,
        parameters={"a": (0.0, 1.0)},
        requires=(),
    )
    cases = [prepare(case) for case in claim.expand()]
    assert resolution_text(claim, cases) == shown


# ---- a claim's card ------------------------------------------------------------------------------

FOUND = Finding(verdict=Verdict.VERIFIED, method=Method.EXACT_VALUE)


def known(value: float, quantity: Quantity = Quantity.LEFT) -> Finding:
    return replace(FOUND, exact=Exact(value), quantity=quantity)


def test_a_card_shows_one_value_where_all_cases_have_it() -> None:
    assert exact_text([({"dk": 1.0}, known(1.0)), ({"dk": 2.0}, known(1.0))]) == "1"
    difference = known(0.0, Quantity.LEFT_MINUS_RIGHT)
    assert exact_text([({}, difference)]) == "left side minus right side: 0"
    assert exact_text([({}, None)]) == exact_text([]) == ""


def test_a_card_shows_the_values_of_the_cases_that_have_one() -> None:
    cases = [({"dk": 1.0}, known(1.0)), ({"dk": 2.0}, None), ({"dk": 4.0}, known(4.0))]
    assert exact_text(cases) == "1 at dk = 1\n4 at dk = 4"
    cases = [({"dk": dk}, known(dk, Quantity.LEFT_MINUS_RIGHT)) for dk in (1.0, 2.0)]
    assert exact_text(cases) == "left side minus right side:\n1 at dk = 1\n2 at dk = 2"
    many = [({"dk": float(dk)}, known(float(dk))) for dk in range(20)]
    assert exact_text(many).splitlines()[-2:] == ["7 at dk = 7", "and 12 more"]


def test_a_card_shows_no_value_that_has_no_digits() -> None:
    lost = replace(FOUND, exact=Exact(1.6e-9, 1.4e-4), sharpness=Resolution(5e-13, 5e-13))
    assert exact_text([({}, lost)]) == ""
