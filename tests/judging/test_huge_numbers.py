"""Moments beyond the largest float64 are judged as what they are: without a bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from trials import REFUTED, VERIFIED, judged

from dropcheck.analysis.bounds import summed
from dropcheck.claims.reader import read_text
from dropcheck.reasons import Reason
from dropcheck.results import Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.vocabulary.law import _known
from dropcheck.vocabulary.laws import LAWS


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("x ~ normal(1e200, 1e190)", "Kurt(x) == 3"), ("x ~ poisson(1e15)", "E(x**8) == 1"),
        ("x ~ geometric(1e-9)", "Corr(x, x**3) == 0.5"), ("x ~ gamma(1e-7, 1e7)", "E(x**8) == 1"),
        ("x ~ choice([[1, -1], [3, 5]])", "E(exp(x)) == 2"),
        ("x ~ normal(0, 1e150)", "Var(x) == 1e300"), ("x ~ normal(1e200, 1e190)", "E(x) == 2e200"),
        ("x, z ~ normal(1e200, 1e190)", "Cov(x, z - x) == 1"),
    ],
)  # fmt: skip
def test_no_overflow_ends_a_run(model: str, claim: str) -> None:
    assert judged(model, claim, most=20_000).verdict != VERIFIED


@pytest.mark.parametrize("claim", ["E(x**8) == 1", "Var(x) == 1"])
@pytest.mark.parametrize(
    "law",
    [
        "poisson(1e15)", "poisson(1e12)", "binomial(1e15, 0.5)", "binomial(1e15, 1e-14)",
        "negative_binomial(1e11, 0.5)", "negative_binomial(0.5, 1e-11)", "geometric(1e-12)",
        "von_mises(0, 1e300)",
    ],
)  # fmt: skip
def test_a_law_of_huge_numbers_takes_few_pieces(law: str, claim: str) -> None:
    assert judged(f"x ~ {law}", claim, most=20_000).verdict != VERIFIED


@np.errstate(all="ignore")
def test_the_pieces_of_a_law_are_limited() -> None:
    assert _known(LAWS["poisson"], math.inf, (1e15,)) == (None, None)
    for rate in (1e6, 1e8, 1e10, 1e12, 1e14):
        rule, known = _known(LAWS["poisson"], math.inf, (rate,))
        assert rule is not None
        assert known is not None
        assert abs(known.central[2] - rate) <= known.central_off[2]
        assert abs(known.mean - rate) <= known.mean_off


def test_numbers_whose_squares_overflow_are_worked_with() -> None:
    assert summed([1e308, 1e308]) == math.inf
    assert math.isnan(summed([math.inf, -math.inf]))


@pytest.mark.parametrize("claim", ["Kurt(x) == 3", "Skew(x) == 0", "Std(x) == 1e160"])
def test_powers_that_overflow_leave_a_case_undecided_and_end_no_run(claim: str) -> None:
    text = (
        "dropcheck: 1\nclaims:\n"
        "  huge: {title: T, model: 'x ~ normal(0, 1e160)', claim: '%s'}\n"
        "  fine: {title: T, model: 'x ~ normal(0, 1)', claim: E(x) == 0}\n"
    )
    registry = read_text(text % claim)
    huge, fine = verify_cases(registry.expand(), Settings(), registry)
    assert (huge.verdict, huge.reason) == (Verdict.UNDECIDED, Reason.POWERS_OVERFLOW)
    assert fine.verdict is Verdict.VERIFIED


# ---- numbers that are too small for float64 ------------------------------------------------------

SMALL = "x ~ exponential(1)"


@pytest.mark.parametrize(
    ("claim", "false"),
    [
        ("E(x) * 1e-200 * 1e-200 > 0", "E(x) * 1e-200 * 1e-200 == 0"),
        ("exp(-1000 * E(x)) > 0", "exp(-1000 * E(x)) == 0"),
        ("sqrt(E(x) * 5e-324 / 7) * 1e300 > 0", "sqrt(E(x) * 5e-324 / 7) * 1e300 == 0"),
    ],
)
def test_what_underflows_is_not_taken_for_0(claim: str, false: str) -> None:
    assert judged(SMALL, claim, most=20_000).verdict is not REFUTED
    assert judged(SMALL, false, most=20_000).verdict is not VERIFIED


def test_what_underflows_and_is_raised_again_is_no_internal_error() -> None:
    claim = "sqrt(E(abs(x)) * 5e-324) * 1e300 == 1e-300"
    found = judged("x ~ bernoulli(0.5)", claim, most=20_000)
    assert found.verdict is not VERIFIED
    assert judged("x ~ bernoulli(5e-324)", "P(x == 1) <= 0.001").verdict is VERIFIED


def test_a_number_that_is_small_has_its_digits() -> None:
    coin = "x ~ bernoulli(0.5)"  # 2^-50 is 8.9e-16
    assert judged(coin, "P(x)**50 > 0").verdict is VERIFIED
    assert judged(coin, "P(x)**50 <= 1e-18").verdict is REFUTED
    assert judged(coin, "E(x + 0.1) - E(x) - 0.1 > 0", most=20_000).verdict is not VERIFIED


@pytest.mark.parametrize(
    ("model", "claim", "true", "false"),
    [
        ("x = 1e-30", "E(x)**2", "1e-60", "2e-60"),
        ("x = 1e-6", "E(x)**3", "1e-18", "2e-18"),
        ("x ~ poisson(0)", "P(x == 0) * 1e-7 * 1e-7", "1e-14", "2e-14"),
    ],
)
def test_a_number_that_is_small_has_its_digits_where_nothing_is_random(
    model: str, claim: str, true: str, false: str
) -> None:
    assert judged(model, f"{claim} == {true}").verdict is VERIFIED
    assert judged(model, f"{claim} == {false}").verdict is REFUTED
