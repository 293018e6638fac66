"""Verdicts on claims whose draws are averaged over all combinations.

False alarms, over fresh seeds: wrong verdicts are counted at 1e-6 a test (see `trials`).
"""

from __future__ import annotations

import pytest
from trials import alarm, judged, repeated

from dropcheck.results import Verdict
from dropcheck.settings import Settings


@pytest.mark.parametrize("seed", [42, 132, 188])
@pytest.mark.parametrize("plain", [False, True])
def test_an_average_that_cancels_over_all_combinations_must_exist(seed: int, plain: bool) -> None:
    """E(m x) / E(x) is the mean of m over all combinations, whatever x is; E(1/u) is infinite."""
    model = "u ~ uniform(0, 1); m ~ bernoulli(0.5); x = 1/u"
    claim, keys = "E(m * x) / E(x) == 0.5", "resolution: 0.1"
    found = judged(model, claim, keys, seed=seed, most=1_000_000, plain=plain)
    assert found.verdict is Verdict.UNDECIDED


def test_a_ratio_whose_averages_exist_is_still_verified() -> None:
    model = "u ~ uniform(1, 2); m ~ bernoulli(0.5); x = 1/u"
    found = judged(model, "E(m * x) / E(x) == 0.5")
    assert found.verdict is Verdict.VERIFIED
    assert found.sampling.startswith("crossed")


@pytest.mark.parametrize("seed", range(3))
def test_noise_that_draws_share_is_not_lost(seed: int) -> None:
    """E(a b) is averaged draw by draw, for it has no first order; E(a (b + 0.25)) would not be."""
    model, claim = "a, b ~ normal(0, 1)", "E(a * b) == E(a * (b + 0.25))"
    crossed, plain = (judged(model, claim, seed=seed, plain=one) for one in (False, True))
    assert crossed.draws <= 3 * plain.draws


def test_a_verdict_that_is_undecided_says_how_draws_were_combined_too() -> None:
    model = "x ~ normal(1, 1); m ~ bernoulli(0.5); y = m * x"
    found = judged(model, "Var(y) == 0.75", most=2_000)
    assert found.verdict is Verdict.UNDECIDED
    assert found.sampling.startswith("crossed")


def test_groups_that_meet_are_told_and_no_others() -> None:
    model = "x, w, c ~ normal(1, 1); y = x * w"
    assert judged(model, "Std(y) / Std(c) == sqrt(3)").sampling.count("×") == 1


def test_an_undefined_draw_is_found_where_it_lies() -> None:
    model = "x ~ normal(1, 1); w ~ uniform(0, 1); y = x * sqrt(w - 1e-3)"
    with_it, without = (judged(model, "Var(y) == 1", plain=one) for one in (False, True))
    assert with_it.explanation == without.explanation
    assert "undefined" in str(with_it.explanation)


def test_a_division_by_a_draw_that_may_be_zero_is_undefined() -> None:
    found = judged("x ~ normal(1, 1); n ~ poisson(3); y = x / n", "Var(y) == 1")
    assert "undefined" in str(found.explanation)


def test_a_verdict_says_how_draws_were_combined_and_can_do_without() -> None:
    claim = "Std(y) / Std(x) == sqrt(2)"
    model = "x ~ normal(0, 1); m ~ bernoulli(0.5); y = m * x / 0.5"
    crossed, plain = (judged(model, claim, plain=one) for one in (False, True))
    assert crossed.sampling.startswith("crossed ")
    assert plain.sampling == "plain"
    assert crossed.verdict is plain.verdict is Verdict.VERIFIED
    assert crossed.draws < plain.draws / 2


def test_where_the_first_order_cancels_crossing_is_known_to_save_draws() -> None:
    """Cov of independent draws: over all combinations it is a product of two normals.

    The limit theorem had no use for its first order, which is 0. The variance of the product is
    what the model says it to be, and falls with the pairs.
    """
    model = "x ~ normal(1, 2); w ~ exponential(2)"
    found = judged(model, "E(x * w) == E(x) * E(w)")
    assert found.verdict is Verdict.VERIFIED
    assert found.sampling.startswith("crossed")
    plain = judged(model, "E(x * w) == E(x) * E(w)", plain=True)
    assert plain.verdict is Verdict.VERIFIED
    assert found.draws <= plain.draws / 10


@pytest.mark.parametrize(
    ("model", "claim", "keys"),
    [
        ("x ~ normal(0, 1); m ~ bernoulli(0.3); y = m * x", "Var(y) == 0.3 * {}", ""),
        ("a, b, c ~ normal(0, 1); y = a * b * c", "Var(y) == {}", ""),
        (
            "x ~ laplace(0, 1); w ~ lognormal(0, 0.5); y = x * w",
            "Std(y) == sqrt(2 * exp(0.5)) * {}",
            "",
        ),
        ("x ~ normal(0, 1)[4]; m ~ bernoulli(0.5)[4]; y = m * x", "E(y**2) == 0.5 * {}", ""),
        (
            "x ~ normal(0.5, 1); w ~ normal(0.5, 1); y = x * w",
            "E(y) == 0.25 + {} - 1",
            "within: 0.1",
        ),
    ],
)
@pytest.mark.parametrize("wrong", [Verdict.REFUTED, Verdict.VERIFIED])
def test_the_promise_is_kept(model: str, claim: str, keys: str, wrong: Verdict) -> None:
    """A true claim, and one that is false by more than its resolution."""
    factor = "1" if wrong is Verdict.REFUTED else "1.101"
    keys = keys or "resolution: 0.1"
    settings = Settings(alpha=0.01, threads=1)
    found = repeated(model, claim.format(factor), range(50), settings, keys)
    assert all(result.sampling.startswith("crossed") for result in found[:5])
    assert not alarm(sum(result.verdict is wrong for result in found), len(found), 0.01)
    decided = sum(result.verdict is not Verdict.UNDECIDED for result in found)
    assert decided > 45


@pytest.mark.parametrize("seed", [3, 28])
@pytest.mark.parametrize(
    ("model", "claim", "false"),
    [
        ("x, w ~ uniform(0, 1)", "Cov(x * w, x) == {} * E(w) * Var(x)", 1.1),
        ("x, w ~ exponential(1)", "E(x * w) == {} * E(x) * E(w)", 1.1),
        ("x, w, v ~ uniform(0, 1)", "E(x * w * v) == {} * E(x) * E(w) * E(v)", 1.2),
    ],
)
def test_a_first_order_that_vanishes_leaves_a_quantity_that_is_enclosed(
    model: str, claim: str, false: float, seed: int
) -> None:
    found = judged(model, claim.format(1), seed=seed, most=400_000)
    assert found.verdict is Verdict.VERIFIED
    assert found.confirmed
    assert judged(model, claim.format(false), seed=seed, most=400_000).verdict is Verdict.REFUTED
