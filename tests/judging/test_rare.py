"""Events too rare to have been seen: what the sample does not hold must not decide.

Each claim is tried with twenty seeds at α = 0.01 a case, so that chance alone makes more than five
wrong verdicts with probability below 1e-6 (binomial, n = 20, p = 0.01).
"""

from __future__ import annotations

import pytest
from trials import verdicts

from dropcheck.judging import block_means, look, unseen
from dropcheck.results import Verdict

SPIKE = "z ~ normal(0, 1); u ~ uniform(0, 1); x = z + where(u < {chance}, {height}, 0)"
SEEDS = range(20)
MOST = 2_000_000


def wrong(model: str, claim: str, verdict: Verdict) -> int:
    found = verdicts(model, claim, SEEDS, 0.01, MOST)
    return sum(one is verdict for one in found)


@pytest.mark.parametrize(
    ("chance", "height"), [("1e-4", "1e4"), ("1e-5", "1e5"), ("1e-6", "1e6"), ("1e-7", "1e7")]
)
def test_a_spike_that_was_hardly_seen_refutes_nothing_true(chance: str, height: str) -> None:
    model = SPIKE.format(chance=chance, height=height)
    assert wrong(model, "E(x) == 1", Verdict.REFUTED) <= 5


def test_without_the_allowance_the_same_claim_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def as_it_is(
        run: object, tally: object, theta: object, interval: object, *_: object, **__: object
    ) -> object:
        return interval  # that the sample alone gives

    monkeypatch.setattr(look, "allowing_for_rare", as_it_is)
    model = SPIKE.format(chance="1e-6", height="1e6")
    assert wrong(model, "E(x) == 1", Verdict.REFUTED) > 5


def test_a_variance_that_hangs_on_a_rare_event_is_not_verified() -> None:
    model = SPIKE.format(chance="1e-6", height="1e4")  # its variance is 1 + 100
    assert wrong(model, "Var(x) == 1", Verdict.VERIFIED) <= 5


def test_a_rare_count_is_waited_for() -> None:
    model = "z ~ normal(0, 1); n ~ poisson(1e-5); x = z + 1e5 * n"
    assert wrong(model, "E(x) == 1", Verdict.REFUTED) <= 5
    assert wrong(model, "E(x) == 0", Verdict.VERIFIED) <= 5


def nothing_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals, and the plans made of them, without what draws that were not met could do."""
    for module in (look, block_means):
        monkeypatch.setattr(module, "allowing_for_unseen", lambda _m, interval, *_: interval)


@pytest.mark.parametrize("claim", ["E(prod(2 * m)) == 1", "E(cumprod(2 * m)[-1]) == 1"])
def test_a_product_that_was_always_zero_is_not_refuted(claim: str) -> None:
    model = "m ~ bernoulli(0.5)[30]"  # 2**30 once in 2**30 draws
    assert verdicts(model, claim, [0], 1e-6, MOST) == [Verdict.INCONCLUSIVE]


def test_without_bounds_on_what_was_not_met_it_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing_unseen(monkeypatch)
    model = "m ~ bernoulli(0.5)[30]"
    assert verdicts(model, "E(prod(2 * m)) == 1", [0], 1e-6, MOST) == [Verdict.REFUTED]


def test_a_product_of_narrow_bounds_is_still_told() -> None:
    model = "m ~ bernoulli(0.5)[30]"  # at most 1, and all but surely 0
    assert verdicts(model, "E(prod(m)) == 0.5", [0], 1e-6, MOST) == [Verdict.REFUTED]
    model = "m ~ rademacher()[2]; x = prod(m) ** 2"
    assert verdicts(model, "E(x) == 1", [0], 1e-6, MOST) == [Verdict.VERIFIED]
    assert verdicts(model, "E(x) == 1.1", [0], 1e-6, MOST) == [Verdict.REFUTED]


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("v ~ normal(0, 1)[3]; r = norm(v); w = where(r == 0, 0, v[0] / r)", "Var(w) == 1/3"),
        ("v ~ normal(0, 1); w = where(abs(v) > 8, 0, v)", "Var(w) == 1"),
        ("v ~ normal(0, 1); w = v if v < 9 else 9", "E(w**2) == 1"),
    ],
)
def test_a_guard_that_never_acts_costs_little(model: str, claim: str) -> None:
    assert set(verdicts(model, claim, SEEDS, 0.01, MOST)) == {Verdict.VERIFIED}


def test_draws_that_all_agree_refute_nothing_without_bounds() -> None:
    # E(relu(x - 7)) is about 1e-13, and no draw of a million is above 7
    found = verdicts("x ~ normal(0, 1)", "E(relu(x - 7)) >= 1e-14", range(3), 0.01, MOST)
    assert set(found) == {Verdict.INCONCLUSIVE}


def test_draws_that_all_agree_refute_what_has_bounds() -> None:
    found = verdicts("x ~ normal(0, 1)", "E(cos(x)**2 + sin(x)**2) == 1.1", range(3), 0.01, MOST)
    assert set(found) == {Verdict.REFUTED}


# Two events of one in a thousand, and a million where both hold: the mean is 1.5, and in most
# samples they never meet.
CONJUNCTION = "a ~ bernoulli(1e-3); b ~ bernoulli(1e-3); u ~ {law}; y = 1e6 * a * b + u"


@pytest.mark.parametrize("law", ["uniform(0, 1)", "normal(0.5, 1)"])
def test_events_that_never_met_verify_nothing(law: str) -> None:
    model = CONJUNCTION.format(law=law)
    assert wrong(model, "E(y) <= 1", Verdict.VERIFIED) <= 5
    assert wrong(model, "E(y) == 0.5", Verdict.VERIFIED) <= 5
    assert wrong(model, "E(y) == 1.5", Verdict.REFUTED) <= 5


def test_without_forcing_pairs_the_same_claim_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unseen, "_hardly_met", lambda *_: [])
    model = CONJUNCTION.format(law="normal(0.5, 1)")
    assert wrong(model, "E(y) <= 1", Verdict.VERIFIED) > 5


def test_without_bounds_on_the_unseen_noise_hides_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model = "m ~ bernoulli(0.5)[30]; u ~ uniform(0, 1); y = prod(2 * m) + u"
    assert wrong(model, "E(y) == 0.5", Verdict.VERIFIED) <= 5
    nothing_unseen(monkeypatch)
    assert wrong(model, "E(y) == 0.5", Verdict.VERIFIED) > 5


def test_events_that_meet_to_no_effect_cost_nothing() -> None:
    model = "a ~ bernoulli(1e-3); b ~ bernoulli(1e-3); u ~ normal(1, 1); y = u + a - b"
    assert verdicts(model, "E(y) == 1", [0], 1e-6, MOST) == [Verdict.VERIFIED]
    assert verdicts(model, "Var(y) == 1.02", [0], 1e-6, MOST) == [Verdict.REFUTED]


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("m ~ bernoulli(0.3); x ~ normal(0, 1); y = m * x - m * x", "E(y) == 1"),
        ("x ~ normal(0, 1)[5]", "E(max(softmax(x))) < E(max(softmax(x)))"),
        ("x ~ normal(0, 1)[5]; y = softmax(x); z = softmax(x)", "E(max(y)) > E(max(z))"),
        ("m ~ bernoulli(0.5)", "2 * P(m == 1, given=m == 1) == 1"),
    ],
)
def test_what_cancels_or_is_certain_is_refuted_where_it_is_claimed_not_to(
    model: str, claim: str
) -> None:
    assert verdicts(model, claim, [0], 1e-6, MOST) == [Verdict.REFUTED]


# The effect of the rare event depends on the same values that cause it: forcing the condition
# alone would price the branch at ordinary values.
@pytest.mark.parametrize(
    ("model", "claim", "bad"),
    [
        ("u ~ uniform(0, 1); y = where(u < 1e-7, u**-0.9, 0)", "E(y) == 10 * 1e-7**0.1",
         Verdict.REFUTED),
        ("x ~ normal(0, 1); y = 1 + (exp(6 * x - 18) if x > 5 else 0)", "E(y) == 1",
         Verdict.VERIFIED),
        ("x ~ normal(0, 1); y = (x >= 15) * exp(0.9 * x)", "E(y) == 0", Verdict.VERIFIED),
        ("x ~ normal(0, 1); y = where(x > 10 and x < 40, exp(x), 0)", "E(y) == 0",
         Verdict.VERIFIED),
        ("k ~ poisson(1); y = factorial(k) * (k > 9)", "E(y) == 0", Verdict.VERIFIED),
        ("x ~ normal(0, 1)[4]; y = 1 + where(max(x) > 9, exp(max(x)**2), 0)", "E(y) == 1",
         Verdict.VERIFIED),
        ("x ~ normal(0, 1); y = 1 + (exp(x * x) if not x < 7 else 0)", "E(y) == 1",
         Verdict.VERIFIED),
    ],
)  # fmt: skip
def test_a_branch_that_hangs_on_its_own_condition_is_waited_for(
    model: str, claim: str, bad: Verdict
) -> None:
    assert bad not in verdicts(model, claim, range(5), 1e-6, MOST)


def test_without_asking_what_a_branch_hangs_on_the_same_claim_is_verified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unseen, "hangs_on_its_cause", lambda *_: False)
    model = "x ~ normal(0, 1); y = 1 + (exp(6 * x - 18) if x > 5 else 0)"
    assert Verdict.VERIFIED in verdicts(model, "E(y) == 1", range(5), 1e-6, MOST)


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("x ~ normal(0, 1); z ~ normal(0, 1); y = where(z > 10, 5 * x, x)", "E(y) == 0"),
        ("x ~ normal(0, 1); y = x + 100 * (x > 7)", "E(y) == 0"),
        ("x ~ normal(0, 1); y = x if x < 9 else 9", "Var(y) == 1"),
        ("x ~ normal(0, 1); y = x * (abs(x) < 9)", "Var(y) == 1"),
        ("x ~ normal(0, 1); m ~ bernoulli(1e-9); y = where(m == 1, x, 2 * x)", "Var(y) == 4"),
    ],
)
def test_a_branch_that_hangs_on_other_things_is_priced(model: str, claim: str) -> None:
    assert verdicts(model, claim, [0], 1e-6, MOST) == [Verdict.VERIFIED]


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("k ~ poisson(1); y = comb(k, 12) * factorial(12)", "E(y) == 0"),
        ("x ~ normal(0, 1); y = maximum(exp(6 * x - 18) - exp(14), 0)", "E(y) == 0"),
    ],
)
def test_draws_that_all_agree_verify_nothing_without_bounds(model: str, claim: str) -> None:
    assert verdicts(model, claim, [0], 1e-6, MOST) == [Verdict.INCONCLUSIVE]


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Std(y) / Std(x) - 1 == 0.05", Verdict.REFUTED),
        ("0.045 <= Std(y) / Std(x) - 1 <= 0.055", Verdict.REFUTED),
        ("Std(y) / Std(x) - 1 == 0", Verdict.VERIFIED),
        ("Var(x) == Var(y)", Verdict.VERIFIED),
    ],
)
def test_what_is_the_same_for_any_sample_is_decided(claim: str, verdict: Verdict) -> None:
    model = "x ~ normal(1, 1); y = x * 1"  # and so x itself
    assert verdicts(model, claim, [0], 1e-6, MOST) == [verdict]
