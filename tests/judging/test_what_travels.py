"""What was decided travels with the result, and reports read it there."""

from __future__ import annotations

import math

import pytest
from report_cases import run_of
from trials import OPEN, VERIFIED, N, entry, judged, registry_of, tried

from dropcheck.reasons import Reason
from dropcheck.report import words
from dropcheck.report.screen import Terminal
from dropcheck.report.table import run_report
from dropcheck.results import Method, Quantity, Region, Resolution
from dropcheck.settings import Settings


@pytest.mark.parametrize(
    ("claim", "quantity", "expression", "region"),
    [
        ("E(x) < 2", Quantity.LEFT, "E(x)", Region(high=2.0, high_open=True)),
        ("2 >= E(x)", Quantity.RIGHT, "E(x)", Region(high=2.0)),
        ("-1 < E(x) <= 1", Quantity.MIDDLE, "E(x)", Region(-1.0, 1.0, low_open=True)),
        (
            "E(x) <= E(x**2) + 1",
            Quantity.LEFT_MINUS_RIGHT,
            "E(x) - (E(x**2) + 1)",
            Region(high=0.0),
        ),
        ("E(log(x)) == 2", Quantity.LEFT, "E(log(x))", Region(2.0, 2.0)),  # undefined
    ],
)
def test_a_result_says_what_was_judged_and_where_it_must_lie(
    claim: str, quantity: Quantity, expression: str, region: Region
) -> None:
    found = judged(N, claim)
    assert (found.quantity, found.expression, found.region) == (quantity, expression, region)


def test_a_range_between_estimates_says_which_end_was_open_to_doubt() -> None:
    found = judged(N, "E(x) + 0.98 <= E(x**2) <= E(x) + 1.02", "within: 0.05")
    assert found.verdict is VERIFIED
    assert found.quantity is Quantity.MIDDLE_MINUS_LEFT
    assert found.expression == "E(x**2) - (E(x) + 0.98)"
    assert found.region == Region(low=0.0)
    assert words.claimed(found).split()[1::2] == ["<=", "<="]
    assert found.sides is not None
    assert found.sides == pytest.approx((0.98, 1.0, 1.02), abs=0.1)
    assert words.estimated(found).startswith("diff 0.0")
    high = judged(N, "E(x) + 0.5 <= E(x**2) <= E(x) + 0.9")
    assert high.quantity is Quantity.MIDDLE_MINUS_RIGHT
    assert "  quantity    middle minus right side\n" in run_report(run_of(high), Terminal())


@pytest.mark.parametrize(
    ("model", "claim", "method", "sharpness"),
    [
        (N, "P(x < 100) == 1", Method.CERTAINTY, Resolution(1e-4, 1e-4, absolute=True)),
        (N, "2 * P(x > 0) == 1", Method.PROPORTION, Resolution(0.01, 0.01)),
        (N, "E(x) == 1", Method.BLOCK_MEANS, Resolution(0.01, 0.01)),
        (N, "-0.01 < E(x) <= 0.01", Method.BLOCK_MEANS, Resolution(1e-4, 1e-4)),
        (N, "0.5 <= E(x**2) <= 1.5", Method.BLOCK_MEANS, Resolution(0.015, 0.015)),
        ("u ~ uniform(0, 1)", "E(u) == 0.5", Method.BLOCK_MEANS, Resolution(0.005, 0.005)),
        ("x = 2", "E(x) == 2", Method.ARITHMETIC, Resolution(0.02, 0.0)),
    ],
)
def test_a_result_says_how_it_was_judged_and_how_sharply(
    model: str, claim: str, method: Method, sharpness: Resolution
) -> None:
    found = judged(model, claim, most=200_000)
    assert (found.method, found.sharpness) == (method, sharpness)


@pytest.mark.parametrize("claim", ["1 > 1", "0.1 + 0.2 > 0.3", "1 < E(2 + 0 * x) < 2"])
def test_an_estimate_at_an_end_that_is_excluded_is_not_as_claimed(claim: str) -> None:
    found = judged(N, claim)
    assert words.distance(found) == "none: the estimate is at the end, which the claim excludes"


def test_a_result_says_whether_a_narrow_region_narrowed_its_resolution() -> None:
    found = judged(N, "0.9 <= E(x**2) <= 1.1").sharpness
    assert found is not None
    assert found.narrowed
    assert found.widening == pytest.approx(0.01)


def test_a_multiple_of_a_probability_is_no_certainty() -> None:
    found = judged(N, "2 * P(x > 0) == 1")
    assert words.resolution(found) == "0.01 of 1: ±0.01"


@pytest.mark.parametrize(
    ("claim", "reason", "reading"),
    [
        ("E(x) == 0", Reason.NO_MOMENT, "no draw was made: by its law, the quantity has no mean"),
        (
            "Var(x) == 1",
            Reason.NO_MOMENT,
            "no draw was made: by its law, the quantity has no variance",
        ),
    ],
)
def test_a_law_without_the_moment_is_told_so_not_that_a_sample_does_not_settle(
    claim: str, reason: Reason, reading: str
) -> None:
    law = "cauchy(0, 1)" if claim.startswith("E") else "student_t(1.5)"
    found = judged(f"x ~ {law}", claim)
    assert (found.verdict, found.draws, found.method) == (OPEN, 0, None)
    assert found.reason is reason
    assert words.reading(found) == f"{reading}; claim a probability in its place"


DETAILS: dict[Reason, dict[str, float | str]] = {
    Reason.AGAINST_EVIDENCE: {"low": 0.9, "high": 1.1, "seen_low": 0.98, "seen_high": 0.99},
    Reason.NEARLY_TRUE: {"share": "0.9"},
    Reason.NO_MOMENT: {"operator": "E", "order": 1, "moment": "mean"},
    Reason.NO_VARIANCE_OF_ESTIMATE: {"operator": "E", "order": 1.5, "needed": 2},
    Reason.TOO_MANY_CONDITIONS: {"conditions": 513, "most": 512},
    Reason.SELDOM_UNDEFINED: {"step": "sqrt", "chance": 1e-12},
    Reason.MAY_BE_UNDEFINED: {"step": "sqrt"},
    Reason.MAY_BE_INFINITE: {"step": "first", "hint": "write minimum(first(…), T)"},
    Reason.LOST_DIGITS: {"room": 16.0, "where": "in the model"},
    Reason.UNDEFINED_DRAWS: {"undefined": 5, "draws": 10, "percent": 50.0, "first": 1},
    Reason.CONDITION_NEVER_TRUE: {"draws": 8192},
    Reason.NOT_NUMBERS: {"undefined": 5, "draws": 10, "first": ", the first with x = 1"},
    Reason.CODE_COUNTEREXAMPLES: {"violations": 5, "draws": 10, "first": ", the first with x = 1"},
    Reason.TOO_FEW_BLOCKS: {"blocks": 63, "needed": 64},
    Reason.NO_DIFFERENCE_YET: {"needed": 138155.1},
    Reason.HIDDEN_VALUES: {
        "value": 5e6,
        "chance": 2e-6,
        "draws": 4_000_000,
        "quantity": "E(x)",
        "low": 0.8,
        "high": 1,
    },
    Reason.ALL_ALIKE: {"value": 1.0},
    Reason.RARE_OUTCOME_EXPECTED: {"expected": 0.5, "draws": 100, "needed": 64},
    Reason.LIMIT_THEOREM: {"verdict": "verified"},
    Reason.LAW_HOLDS: {"within": 0.01},
    Reason.ONE_LAW: {"within": 0.01},
    Reason.INDEPENDENT_ON_CELLS: {"within": 0.01, "what": "x and y in 16×16 cells"},
    Reason.LAW_SHAPE: {"cells": 8, "power": 9.0},
    Reason.LAW_IMPOSSIBLE: {"count": 9, "draws": 100},
    Reason.LAWS_DIFFER: {"cells": 8, "power": 9.0},
    Reason.DEPENDENT: {"cells": 64, "power": 9.0, "what": "x and y"},
    Reason.NEVER_VARIES: {"what": "y[0]", "draws": 1024},
    Reason.CELLS_TOO_WIDE: {"chance": 0.5},
    Reason.COUNTEREXAMPLES: {"violations": 1234, "draws": 20_000},
    Reason.ONE_COUNTEREXAMPLE: {"draws": 20_000},
    Reason.CODE_FAILED: {"error": "a call failed", "hint": "mend it"},
}


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_a_sentence_of_its_own(reason: Reason) -> None:
    told = reason.explain(**DETAILS.get(reason, {}))
    assert "{" not in f"{told} {told.reading}"
    assert len({one.sentence for one in Reason}) == len(Reason)


@pytest.mark.parametrize(
    ("region", "relation"),
    [
        (Region(1.0, 1.0), "=="),
        (Region(low=1.0), ">="),
        (Region(low=1.0, low_open=True), ">"),
        (Region(-math.inf, 1.0), "<="),
        (Region(high=1.0, high_open=True), "<"),
        (Region(1.0, 2.0), None),
    ],
)
def test_a_region_knows_its_relation(region: Region, relation: str | None) -> None:
    assert region.relation == relation


@pytest.mark.parametrize(
    ("claim", "within"),
    [
        ("E(x**2) == 1", 0.01),
        ("E(x**2) <= 1.002", 0.01),  # the interval reaches beyond it
        ("E(x**2) <= 5", 0.0),  # it lies below 5
        ("E(x**2) < 5", 0.0),
        ("0.9 <= E(x**2) <= 1.1", 0.0),
        ("1 <= E(x**2) <= 1.2", 0.01),  # a tenth of the half-width
        ("P(x > 0) == 1/2", 0.005),
        ("P(x < 100) == 1", 1e-4),
        ("1 + 1 == 2", 0.0),
        ("E(x**2) == 3", None),
        ("E(x**2) < 0.5", None),
    ],
)
def test_a_verified_verdict_says_how_far_off_the_quantity_may_be(
    claim: str, within: float | None
) -> None:
    found = judged(N, claim)
    assert (found.verdict is VERIFIED) is (within is not None)
    assert found.within == (None if within is None else pytest.approx(within, rel=0.05))


@pytest.mark.parametrize("claim", ["P(v > 6) == 1e-7", "E(where(u > 5, 1000, 0)) == 0.001"])
def test_no_value_is_feared_that_the_model_excludes(claim: str) -> None:
    found = judged(
        "x, z ~ normal(0, 1); u = x + sin(z * x); w ~ normal(0, 1)[3]; v = w + sin(z * w)",
        claim,
        most=100_000,
    )
    assert found.explanation is not None
    if claim.startswith("P"):  # of an event draws show all the values that there are
        assert found.reason is Reason.TOO_WIDE
    else:
        assert found.reason is Reason.HIDDEN_VALUES
        assert found.explanation.details["value"] == pytest.approx(1000)


def test_what_was_not_looked_at_rests_on_nothing() -> None:
    registry = registry_of(entry("claim", "x, y, z ~ normal(0, 1)", "E(sin(exp(x + y * z))) == 0"))
    (by_value,) = tried(registry, Settings(exact=True, threads=1))
    assert by_value.reason is Reason.NOT_KNOWN_EXACTLY
    assert by_value.guarantee is None
    assert judged("x ~ cauchy(0, 1)", "E(x) == 0").guarantee is None
    assert judged("x ~ student_t(3)", "E(x * cos(x)) == 1", most=1000).guarantee is not None
