"""What a sample does not show of a quantity, though a law or the claim itself tells of it.

Each claim here is false, or about what does not exist, and looks right in nearly every sample.
"""

from __future__ import annotations

import math

import pytest
from trials import OPEN, REFUTED, VERIFIED, judged, verdicts

from dropcheck.inference import interval
from dropcheck.judging import look, unseen
from dropcheck.simulation import assemble

MOST = 400_000
SEEDS = range(2)

# what the laws say of 1 / u does not pass through a maximum, though it changes nothing
RECIPROCAL = "u ~ uniform(0, 1); x = maximum(1 / u, 0)"
HEAVY_PARTS = [
    (f"{RECIPROCAL}; y ~ normal(50, 1)", "maximum(E(x), E(y)) == 50"),
    ("w ~ exponential(0.99); x = maximum(exp(w), 0)", "maximum(E(x), 50) == 50"),
    ("x ~ lognormal(0, 5)", "sign(E(x) - 200000) == -1"),
    (RECIPROCAL, "E(x + u) - E(x) == 0.5"),
    (RECIPROCAL, "E(x + u) == E(x) + 0.5"),
    (RECIPROCAL, "E(2 * x) == 2 * E(x)"),
]


@pytest.mark.parametrize(("model", "claim"), HEAVY_PARTS)
def test_parts_that_cancel_or_vanish_are_looked_at(model: str, claim: str) -> None:
    assert VERIFIED not in verdicts(model, claim, SEEDS, 1e-6, MOST)


@pytest.mark.parametrize(("model", "claim"), [*HEAVY_PARTS[:2], *HEAVY_PARTS[3:5]])
def test_by_the_influence_alone_they_are_verified(
    model: str, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interval, "_unsettled", lambda *_: 0.0)
    assert VERIFIED in verdicts(model, claim, range(4), 1e-6, MOST)


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("x ~ normal(1, 1)", "maximum(E(x), 0) == 1"),
        ("x ~ exponential(1)", "E(2 * x) == 2 * E(x)"),
        ("x ~ exponential(1)", "Std(2 * x) == 2 * Std(x)"),
        ("x ~ lognormal(0, 1); z ~ normal(0, 1)", "E(x + z) - E(x) <= 0.1"),
        ("x ~ student_t(5); y ~ normal(0, 1)", "Corr(x, y) == 0"),
    ],
)
def test_parts_that_settle_keep_nothing_from_being_verified(model: str, claim: str) -> None:
    assert verdicts(model, claim, [0], 1e-6) == [VERIFIED]


STANDARDISED = "x ~ normal(0, 1)[5]; z = (x - mean(x)) / std(x)"
IDENTITIES = [
    (STANDARDISED, "Var(z) == 1"),
    ("x ~ normal(0, 1)[2]; z = (x - mean(x)) / std(x)", "E(z) == 0"),
    (STANDARDISED, "Std(3 * z) == 3"),
    ("A ~ normal(0, 1)[3, 3]", "E((inv(A) @ A)[0, 0]) == 1"),
    ("x ~ student_t(5)", "E(exp(log(abs(x) + 1)) / (abs(x) + 1)) == 1"),
]


@pytest.mark.parametrize(("model", "claim"), IDENTITIES)
def test_the_shape_of_rounding_keeps_nothing_from_being_verified(model: str, claim: str) -> None:
    """As of what is constant, it takes the draws that bound a share of others by 1e-4."""
    found = judged(model, claim, most=MOST)
    assert found.verdict is VERIFIED
    assert 138_000 < found.draws < 300_000


@pytest.mark.parametrize(("model", "claim"), IDENTITIES[:4])
def test_of_few_draws_it_says_nothing(model: str, claim: str) -> None:
    assert judged(model, claim, most=100_000).verdict is OPEN


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        (f"{RECIPROCAL}; y = 1 + 1e-13 * x", "E(y) == 1"),  # seen beside the rounding
        (f"{STANDARDISED}; u ~ uniform(0, 1); y = z + 1e-13 * maximum(1 / u, 0)", "E(y) == 0"),
        (f"{STANDARDISED}; w = z + 0.1", "E(w) == 0"),
    ],
)
def test_what_is_more_than_rounding_is_not_taken_for_it(model: str, claim: str) -> None:
    assert VERIFIED not in verdicts(model, claim, SEEDS, 1e-6, MOST)


PLATEAUS = [
    ("z ~ normal(0, 1); x = -floor(abs(z) / 6) * 1e10", "minimum(E(x), 0) == 0"),
    ("z ~ normal(0, 1); x = floor(abs(z) / 6) * 1e10", "floor(E(x)) == 0"),
    ("z ~ normal(0, 1); x = floor(abs(z) / 6) * 1e10", "relu(E(x) - 5) == 0"),
    ("z ~ normal(0, 1); x = floor(abs(z) / 6) * 1e10; w = x + 1", "floor(2 * E(x) / E(w)) == 0"),
    (
        "z ~ normal(0, 1); x = floor(abs(z) / 6) * 1e10; w ~ normal(0, 1)",
        "floor(E(x)) + Std(w) / Std(w) == 1",
    ),
]


@pytest.mark.parametrize(("model", "claim"), PLATEAUS)
def test_a_plateau_is_no_reason_to_trust_draws_that_all_agree(model: str, claim: str) -> None:
    assert verdicts(model, claim, SEEDS, 1e-6, MOST) == [OPEN, OPEN]


@pytest.mark.parametrize(("model", "claim"), PLATEAUS)
def test_moved_by_little_it_would_be(
    model: str, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unseen, "MOVES", ())
    assert VERIFIED in verdicts(model, claim, SEEDS, 1e-6, MOST)


def test_what_the_model_bounds_is_decided_though_draws_agree() -> None:
    model = "m ~ bernoulli(0.3); y = where(m, 5, 1)"
    assert verdicts(model, "E(y, given=m == 1) == 5", [0], 1e-6) == [VERIFIED]
    assert verdicts(model, "E(y, given=m == 1) == 4", [0], 1e-6) == [REFUTED]


RARE_LAWS = [
    "x ~ binomial(1, 1e-7)",
    "x ~ poisson(1e-7)",
    "x ~ geometric(0.9999999)",
    "x ~ hypergeometric(1, 9999999, 1)",
    "x ~ negative_binomial(1e-7, 0.5)",
]


@pytest.mark.parametrize("law", RARE_LAWS)
def test_no_budget_is_too_small_to_wait_for_what_a_law_announces(law: str) -> None:
    result = judged(f"z ~ normal(0, 1); {law}", "E(z + 1e7 * x) == 0", most=MOST)
    if result.verdict is not REFUTED:  # it was met
        assert result.verdict is OPEN
    assert verdicts(f"z ~ normal(0, 1); {law}", "E(z + x) <= 5", [0], 1e-6, MOST) == [OPEN]


def test_without_the_wait_it_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "once_expected", lambda found, _: found)
    assert VERIFIED in verdicts(
        "z ~ normal(0, 1); x ~ poisson(1e-7)", "E(z + 1 + 1e7 * x) == 1", SEEDS, 1e-6, MOST
    )


ONE_OF_MANY = "E(z + 1 + 1e6 * x[0]) == 1"


@pytest.mark.parametrize("law", ["bernoulli(2e-6)", "binomial(1, 2e-6)"])
def test_other_elements_say_nothing_of_one(law: str) -> None:
    model = f"x ~ {law}[200]; z ~ normal(0, 1)"
    assert VERIFIED not in verdicts(model, ONE_OF_MANY, SEEDS, 1e-6, MOST)


def test_counted_together_they_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "picked_sources", lambda _: frozenset())
    model = "x ~ binomial(1, 2e-6)[200]; z ~ normal(0, 1)"
    assert VERIFIED in verdicts(model, ONE_OF_MANY, range(5), 1e-6, MOST)


MEETINGS = [
    ("b ~ bernoulli(0.001)[2]; z ~ normal(0, 1)", "E(z + 1 + 1e6 * b[0] * b[1]) == 1"),
    ("b ~ bernoulli(0.001)[2]; z ~ normal(0, 1)", "E(z + prod(2e3 * b)) <= 1"),
    ("x ~ normal(0, 1)[2]; z ~ normal(0, 1)", "E(z + 1e6 * prod(x > 3.0902)) <= 0.5"),
    (
        "m ~ bernoulli(3e-4); k ~ bernoulli(3e-4)[3]; z ~ normal(0, 1)",
        "E(z + 4e6 * m * sum(k)) <= 0.5",
    ),
]


@pytest.mark.parametrize(("model", "claim"), MEETINGS)
def test_elements_are_made_to_meet(model: str, claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert VERIFIED not in verdicts(model, claim, SEEDS, 1e-6, MOST)
    monkeypatch.setattr(unseen, "_hardly_met", lambda *_: [])
    assert VERIFIED in verdicts(model, claim, range(4), 1e-6, MOST)


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("b ~ bernoulli(0.5)[2]; z ~ normal(0, 1)", "E(z + b[0] * b[1]) == 0.25"),
        ("m ~ bernoulli(0.01)[64]; x ~ normal(0, 1)[64]", "Var(x * m / 0.01) == 100"),
        ("x ~ normal(0, 1)[8]", "E(mean(relu(x - 3))) <= 0.01"),
    ],
)
def test_arrays_are_decided_as_ever(model: str, claim: str) -> None:
    assert verdicts(model, claim, [0], 1e-6) == [VERIFIED]


@pytest.mark.parametrize("chance", [3e-7, 1e-6, 2e-6])
@pytest.mark.parametrize(
    "model",
    [
        "y ~ binomial(1, {chance})",  # the law says how rare the outcome is
        "u ~ uniform(0, 1); y = floor(u + {chance})",  # the bounds say how far it can be
        "m ~ bernoulli({chance})[2]; y = m[0]",  # the truth is watched
    ],
)
@pytest.mark.parametrize("most", [200_000, 500_000])
def test_a_spread_that_the_sample_does_not_show_is_left_open(
    model: str, chance: float, most: int
) -> None:
    variance = chance * (1 - chance)
    model = model.format(chance=chance)
    for quantity, true in (("Std(y)", math.sqrt(variance)), ("Var(y)", variance)):
        for seed in range(3):
            for claim, wrong in (
                (f"{quantity} == {true!r}", REFUTED),
                (f"{quantity} >= {0.7 * true!r}", REFUTED),
                (f"{quantity} <= {0.7 * true!r}", VERIFIED),
            ):
                assert judged(model, claim, seed=seed, most=most).verdict is not wrong


def test_what_every_draw_shows_decides_where_its_bounds_do() -> None:
    still = "u ~ uniform(0, 1); y = floor(u + 1e-9)"
    for claim in ("Var(y) == 0", "Std(y) <= 0", "Std(y) < 0.1", "Var(y) * Var(u) <= 0.001"):
        assert judged(still, claim).verdict is VERIFIED, claim
    for claim in ("Std(y) == 0.1", "Var(y) >= 0.5", "Std(y) > 0.2"):
        assert judged(still, claim).verdict is REFUTED, claim
    unseen = judged(still, "Std(y) == 0.0001", most=500_000)
    assert unseen.verdict is OPEN
    assert unseen.explanation is not None
    assert "too rare to be seen" in str(unseen.explanation)
    assert unseen.interval is not None
    low, high = unseen.interval
    assert low is not None
    assert high is not None
    assert low <= 0.0001 <= high
