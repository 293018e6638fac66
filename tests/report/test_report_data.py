"""Reports of other kinds: numbers, JSON, problems, cards and lists."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from report_cases import PASSED, run_of

from dropcheck.claims.registry import Claim, Document, Registry, SourceText
from dropcheck.errors import Location, Problem
from dropcheck.judging.case import prepare
from dropcheck.report import numbers, words
from dropcheck.report.json_report import check_json, errors_json, run_json
from dropcheck.report.screen import Terminal, problems_text
from dropcheck.report.terminal.claim_cards import (
    CheckedFile,
    check_line,
    claim_cards,
    claims_table,
    resolution_text,
)
from dropcheck.results import Passage, Region

# numbers


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ((509.11, 514.57), "[509.1, 514.6]"),
        ((0.49996, 0.50009), "[0.49996, 0.50009]"),
        ((-2e-9, 3e-9), "[-2.0e-9, 3.0e-9]"),
        ((1.23456e9, 1.23466e9), "[1.23456e9, 1.23466e9]"),
        ((0.93, None), "[0.930, inf)"),
        ((None, 0.97), "(-inf, 0.970]"),
        ((4.0, 4.0), "[4, 4]"),
        (None, "-"),
    ],
)
def test_an_interval_has_the_digits_that_its_width_supports(
    ends: tuple[float | None, float | None] | None, shown: str
) -> None:
    known = [end for end in ends or () if end is not None]
    assert (
        numbers.interval(ends, sum(known) / len(known) + 0.01 if len(known) == 1 else None) == shown
    )


def test_the_digits_shown_tell_the_ends_of_any_interval_apart() -> None:
    rng = np.random.default_rng(1)  # no false alarm: a rule of arithmetic, not of chance
    for middle, asked in zip(
        rng.normal(size=2000) * 10.0 ** rng.integers(-12, 12, 2000),
        10.0 ** rng.uniform(-9, 3, 2000),
        strict=True,
    ):
        width = max(asked, abs(middle) * 1e-11)  # a float holds no more
        low, high = numbers.measured([middle - width / 2, middle + width / 2], width)
        assert float(low) < float(high)
        assert float(low) == pytest.approx(middle - width / 2, abs=0.051 * width)


def test_a_number_that_is_not_finite_never_stops_a_report() -> None:
    assert numbers.exact(math.nan) == numbers.exact(None) == "-"
    assert numbers.measured([math.inf, math.nan, 1.0], 0.1) == ("inf", "-", "1.00")


@pytest.mark.parametrize(
    ("region", "shown"),
    [
        (Region(512.0, 512.0), "512"),
        (Region(low=0.9, low_open=True), "> 0.9"),
        (Region(low=0.9), ">= 0.9"),
        (Region(high=2.0), "<= 2"),
        (Region(high=2.0, high_open=True), "< 2"),
        (Region(0.405, 0.415), "0.405 … 0.415"),
        (None, "-"),
    ],
)
def test_what_is_claimed_is_shown_with_its_relation(region: Region | None, shown: str) -> None:
    assert words.claimed(replace(PASSED, region=region)) == shown


@pytest.mark.parametrize(
    ("region", "shown"),
    [
        (Region(7.0400001, 7.0400001), "7.04"),
        (Region(1 / 120, 1 / 119), "0.008333 … 0.008403"),
        (Region(1 / 3, 1 / 3 + 1e-6), "0.333333 … 0.333334"),
        (Region(high=1234.56789), "<= 1235"),
    ],
)
def test_a_claimed_value_is_not_as_rough_as_a_rough_estimate(region: Region, shown: str) -> None:
    rough = replace(PASSED, region=region, estimate=30.0, interval=(-1e3, 1e3))
    assert words.claimed(rough) == shown


# JSON


def test_the_json_of_a_run_is_exactly_this() -> None:
    assert json.loads(run_json(run_of(PASSED))) == {
        "schema": 1,
        "version": "0.1.0",
        "registry": "claims.yaml",
        "seed": 0,
        "alpha": 1e-06,
        "seconds": 0.94,
        "interrupted": False,
        "summary": {
            "cases": 1,
            "passed": 1,
            "failed": 0,
            "undecided": 0,
            "errors": 0,
            "asymptotic": 0,
            "draws": 262144,
        },
        "documents": [],
        "conformance": None,
        "cases": [
            {
                "claim": "qk-variance",
                "parameters": {"dk": 512},
                "title": "The dot product of a query and a key has variance d_k",
                "statement": "Var(q @ k) == dk",
                "document": "scaling-post",
                "section": "Similar Scaling",
                "sources": [{"document": "scaling-post", "section": "Similar Scaling"}],
                "written": None,
                "rounding": None,
                "edge": None,
                "tags": ["attention"],
                "claimed": 512.0,
                "estimate": 511.83,
                "interval": [509.11, 514.57],
                "confidence": 0.999999991,
                "scale": 512.0,
                "resolution": 0.01,
                "draws": 262144,
                "blocks": 256,
                "calls": None,
                "seconds": 0.01,
                "guarantee": "moments",
                "verdict": "verified",
                "expect": "verified",
                "result": "pass",
                "reason": None,
                "location": {"file": "claims.yaml", "line": 18, "column": None},
                "repeat": "dropcheck run qk-variance --dk 512 --seed 0",
                "standard_error": 0.45,
                "sides": None,
                "relations": [],
                "within": 5.12,
                "exact": None,
                "confirmed": None,
                "sampling": "plain",
                "more_draws": None,
                "more_seconds": None,
                "warnings": [],
                "quantity": "left side",
                "expression": "Var(q @ k)",
                "entry": None,
                "region": {"low": 512.0, "high": 512.0, "low_open": False, "high_open": False},
                "sharpness": {
                    "asked": 5.12,
                    "widening": 5.12,
                    "absolute": False,
                    "narrowed": False,
                },
                "method": "block means",
                "reason_code": None,
                "column": None,
                "dtype": None,
                "of": None,
                "details": {},
            }
        ],
        "warnings": [],
    }


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def test_json_holds_no_nan_no_infinity_and_no_numpy() -> None:
    odd = replace(
        PASSED,
        estimate=math.nan,
        interval=(-math.inf, np.float64(2.0)),
        region=Region(-math.inf, math.inf),
        scale=np.float64(math.nan),
        title="lone \ud800 and ünïcode",
    )
    text = run_json(run_of(odd))
    assert text.isascii()
    case = json.loads(text, parse_constant=_refuse)["cases"][0]
    assert case["estimate"] is None
    assert case["interval"] == [None, 2.0]
    assert case["claimed"] is None
    assert case["scale"] is None
    with pytest.raises(AssertionError):  # and the check itself can fail
        json.loads(json.dumps(math.nan), parse_constant=_refuse)


def test_the_json_of_errors() -> None:
    located = Problem("'b' is unknown", Location("claims.yaml", 12, 9, "b"), "did you mean 'a'?")
    assert json.loads(errors_json([located, Problem("no")])) == {
        "schema": 1,
        "errors": [
            {
                "file": "claims.yaml",
                "line": 12,
                "column": 9,
                "message": "'b' is unknown",
                "hint": "did you mean 'a'?",
            },
            {"file": None, "line": None, "column": None, "message": "no", "hint": None},
        ],
    }


# problems


def test_a_problem_shows_its_line_and_points_at_the_column() -> None:
    problem = Problem(
        "'bernouli' is no distribution",
        Location("claims.yaml", 12, 9, "    y ~ bernouli(p)"),
        "did you mean 'bernoulli'?",
    )
    assert problems_text([problem], Terminal()) == (
        "claims.yaml:12:9: 'bernouli' is no distribution\n"
        "    y ~ bernouli(p)\n"
        "        ^\n"
        "    hint: did you mean 'bernoulli'?\n"
        "1 error\n"
    )


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


# registries


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


def test_a_card_shows_a_claim_in_full() -> None:
    card = claim_cards([CLAIM], REGISTRY, {"qk-variance": "dropcheck run qk"}, Terminal())
    assert card == (
        "qk-variance\n"
        "  title       Variance of q·k [/x]\n"
        "  claim       Var(q @ k) == dk\n"
        "  model       q ~ normal(0, 1)[dk]\n"
        "              k ~ normal(0, 1)[dk]\n"
        "  parameters  dk = 16, 512\n"
        "              law = normal(0, 1)\n"
        "  cases       2\n"
        "  requires    dk >= 1\n"
        "  expect      verified\n"
        "  resolution  0.01 of |dk|\n"
        "  exact       16 at dk = 16, law = normal(0, 1)\n"
        "              512 at dk = 512, law = normal(0, 1)\n"
        "  guarantee   exact: the model gives the value, and draws confirm it\n"
        "  document    A post, 2024-02-13 (post)\n"
        "  section     Attention\n"
        "  tags        attention, scaling\n"
        "  note        a sum of dk products\n"
        "  where       claims.yaml:18\n"
        "  example     dropcheck run qk\n"
    )


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
        ("E(x) == 0", None, "0.01 of the size of what is estimated"),
        (
            "E(x) == E(y)",
            None,
            "0.01 of the larger of E(x) and E(y), or of the size of what is estimated where that "
            "hides both",
        ),
        ("P(x < 0) == 0.3", None, "0.01 of 0.3"),
        ("P(x < 0) == 0.7", None, "0.01 of the smaller of the claimed probability and 1 minus it"),
        ("E(x) == -0.5", None, "0.01 of 0.5"),
        ("1 == E(x)", None, "0.01 of 1"),
        ("E(x) == a", None, "0.01 of |a|, or of the size of what is estimated where that is 0"),
        ("1 <= E(x) <= 2", None, "0.01 of the larger of |1| and |2|"),
        # both ends are 0: the scale is the size of the middle
        ("0 <= E(y**2) - 1 <= 0", None, "0.01 of the size of what is estimated"),
        ("E(x) == 1 - 1", None, "0.01 of the size of what is estimated"),
        (
            "E(x) <= E(y) <= E(z)",
            None,
            "0.01 of the largest of E(x), E(y) and E(z), or of the size of what is estimated where "
            "that hides them",
        ),
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


@pytest.mark.parametrize("width", [None, 30, 40, 80, 160])
def test_a_list_loses_no_id_and_no_title(width: int | None) -> None:
    long = replace(CLAIM, id="a-claim-with-an-id-of-some-length", title="Many words " * 12)
    text = claims_table([CLAIM, long], REGISTRY, Terminal(width))
    assert "".join(long.id.split()) in "".join(text.split())
    assert text.count("Many") == 12
    assert "[/x]" in text
    assert "2 claims, 4 cases, claims.yaml" in text


@pytest.mark.parametrize("width", [None, 30, 50, 80, 160])
def test_a_list_marks_what_is_expected_to_be_refuted(width: int | None) -> None:
    true = replace(CLAIM, id="true", title="T", expect="verified")
    false = replace(true, id="false", expect="refuted")
    marked = claims_table([true, false], REGISTRY, Terminal(width))
    assert marked.split().count("expect") == marked.split().count("refuted") == 1
    assert marked.index("refuted") > marked.index("false")
    assert "verified" not in marked
    assert "expect" not in claims_table([true, true], REGISTRY, Terminal(width))


def test_a_check_in_a_line_and_as_data() -> None:
    bad = CheckedFile("b.yaml", None, None, (Problem("no"), Problem("nor that")), (Problem("n"),))
    assert check_line(bad) == "b.yaml: 2 errors, 1 note"
    assert check_line(CheckedFile("a.yaml", 1, 2, (), ())) == "a.yaml: 1 claim, 2 cases, no errors"
    data = json.loads(check_json([bad]))
    assert [one["message"] for one in data["errors"]] == ["no", "nor that"]
    assert data["files"] == [{"file": "b.yaml", "claims": None, "cases": None}]
