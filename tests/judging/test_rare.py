"""Events too rare to have been seen: what the sample does not hold must not decide.

Most claims are tried with several seeds at α = 0.01 a case, so that chance alone makes more than
four wrong verdicts of ten with probability below 1e-6 (binomial, n = 10, p = 0.01).
"""

from __future__ import annotations

import numpy as np
import pytest
from trials import OPEN, REFUTED, VERIFIED, judged, verdicts

from dropcheck.inference.intervals import ClippedSpread, KnownSpread, Sample, catoni_interval
from dropcheck.results import Verdict

SPIKE = "z ~ normal(0, 1); u ~ uniform(0, 1); x = z + where(u < {chance}, {height}, 0)"
MOST = 100_000
SEEDS = range(10)


def wrong(model: str, claim: str, verdict: Verdict, most: int = MOST) -> int:
    return verdicts(model, claim, SEEDS, 0.01, most).count(verdict)


def as_the_sample_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals from the variance that the blocks themselves have, in place of the model's."""

    def interval(_: object, sample: Sample, alpha: float) -> tuple[float, float]:
        seen = max(float(np.var(sample.rows, ddof=1)), 1e-12)
        return catoni_interval(sample.rows, seen, alpha)

    monkeypatch.setattr(KnownSpread, "interval", interval)
    monkeypatch.setattr(ClippedSpread, "interval", interval)


@pytest.mark.parametrize(
    ("chance", "height"), [("1e-4", "1e4"), ("1e-5", "1e5"), ("1e-6", "1e6"), ("1e-7", "1e7")]
)
def test_a_spike_that_was_hardly_seen_refutes_nothing_true(chance: str, height: str) -> None:
    assert wrong(SPIKE.format(chance=chance, height=height), "E(x) == 1", REFUTED) <= 4


# The truth of these is known in closed form, and shows in no sample of so many draws.
HIDDEN = [
    (SPIKE.format(chance="1e-6", height="1e4"), "Var(x) == 1", VERIFIED),  # 1 + 100
    ("z ~ normal(0, 1); n ~ poisson(1e-5); x = z + 1e5 * n", "E(x) <= 0.5", VERIFIED),  # 1
    ("z ~ normal(0, 1); n ~ poisson(1e-5); x = z + 1e5 * n", "E(x) == 1", REFUTED),
    ("m ~ bernoulli(0.5)[30]", "E(prod(2 * m)) == 1", REFUTED),
    ("m ~ bernoulli(0.5)[30]", "E(cumprod(2 * m)[-1]) == 1", REFUTED),
    ("m ~ bernoulli(0.5)[30]; u ~ uniform(0, 1); y = prod(2 * m) + u", "E(y) <= 0.6", VERIFIED),
    # two events of one in a thousand, and a million where both hold: 1.5
    ("a, b ~ bernoulli(1e-3); u ~ uniform(0, 1); y = 1e6 * a * b + u", "E(y) <= 1", VERIFIED),
    ("a, b ~ bernoulli(1e-3); u ~ normal(0.5, 1); y = 1e6 * a * b + u", "E(y) <= 1", VERIFIED),
    ("a, b ~ bernoulli(1e-3); u ~ normal(0.5, 1); y = 1e6 * a * b + u", "E(y) == 1.5", REFUTED),
    ("b ~ bernoulli(0.001)[2]; z ~ normal(0, 1)", "E(z + 1 + 1e6 * b[0] * b[1]) <= 1.5", VERIFIED),
    ("b ~ bernoulli(0.001)[2]; z ~ normal(0, 1)", "E(z + prod(2e3 * b)) <= 1", VERIFIED),
    ("x ~ normal(0, 1)[2]; z ~ normal(0, 1)", "E(z + 1e6 * prod(x > 3.0902)) <= 0.5", VERIFIED),
    ("m ~ bernoulli(3e-4); k ~ bernoulli(3e-4)[3]; z ~ normal(0, 1)",
     "E(z + 4e6 * m * sum(k)) <= 0.5", VERIFIED),
    # three of them, and many pairs
    ("a, b, c ~ bernoulli(0.01); z ~ normal(0, 1)", "E(z + 1e6 * a * b * c) <= 0.5", VERIFIED),
    ("b ~ bernoulli(1e-4)[100]; z ~ normal(0, 1)", "E(z + 1e3 * (sum(b)**2 - sum(b))) <= 0.05",
     VERIFIED),
    # one of many elements, and a value among many
    ("x ~ binomial(1, 2e-6)[200]; z ~ normal(0, 1)", "E(z + 1e6 * x[0]) <= 1", VERIFIED),
    ("z ~ normal(0, 1); c ~ discrete_uniform(0, 999); y = z + 5e3 * one_hot(c, 1000)[7]",
     "E(y) <= 2", VERIFIED),  # 5
    # a rarity that is drawn itself
    ("z ~ normal(0, 1); u ~ uniform(0, 2); n ~ poisson(1e-6 * u)", "E(z + 1e6 * n) <= 0.5",
     VERIFIED),
    # the effect hangs on the same values that bring it about
    ("x ~ normal(0, 1); y = 1 + (exp(6 * x - 18) if x > 5 else 0)", "E(y) <= 1.2", VERIFIED),
    ("x ~ normal(0, 1); y = where(x > 10 and x < 40, exp(x), 0)", "E(y) == 0", VERIFIED),
    ("k ~ poisson(1); y = factorial(k) * (k > 9)", "E(y) <= 0.5", VERIFIED),  # infinite
    ("k ~ poisson(1); y = comb(k, 12) * factorial(12)", "E(y) <= 0.5", VERIFIED),  # 1
    ("x ~ normal(0, 1); y = maximum(exp(6 * x - 18) - exp(14), 0)", "E(y) <= 0.1", VERIFIED),
    ("x ~ normal(0, 1)[4]; y = 1 + where(max(x) > 9, exp(max(x)**2), 0)", "E(y) <= 2", VERIFIED),
    ("z ~ normal(0, 1); x = -floor(abs(z) / 6) * 1e10", "minimum(E(x), 0) == 0", VERIFIED),
    ("z ~ normal(0, 1); x = floor(abs(z) / 6) * 1e10", "floor(E(x)) == 0", VERIFIED),
    ("z ~ normal(0, 1); x = floor(abs(z) / 6) * 1e10; w = x + 1", "floor(2 * E(x) / E(w)) == 0",
     VERIFIED),
]  # fmt: skip


@pytest.mark.parametrize(("model", "claim", "bad"), HIDDEN)
def test_what_no_draw_shows_brings_no_wrong_verdict(model: str, claim: str, bad: Verdict) -> None:
    assert bad not in verdicts(model, claim, [0], 1e-6, MOST)


@pytest.mark.parametrize(
    ("model", "claim", "bad"),
    [
        (SPIKE.format(chance="1e-6", height="1e6"), "E(x) <= 0.5", VERIFIED),
        (SPIKE.format(chance="1e-6", height="1e6"), "E(x) == 1", REFUTED),
        *HIDDEN[3:8],
        *HIDDEN[9:13],
    ],
)
def test_by_the_variance_of_the_sample_the_same_verdicts_are_wrong(
    model: str, claim: str, bad: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_the_sample_shows(monkeypatch)
    assert bad in {judged(model, claim, seed=seed, alpha=0.01, most=100_000).verdict
                   for seed in range(4)}  # fmt: skip


def test_a_product_of_narrow_bounds_is_still_judged() -> None:
    model = "m ~ bernoulli(0.5)[30]"  # at most 1, and all but surely 0
    assert verdicts(model, "E(prod(m)) == 0.5", [0], 1e-6, MOST) == [REFUTED]
    model = "m ~ rademacher()[2]; x = prod(m) ** 2"
    assert verdicts(model, "E(x) == 1", [0], 1e-6, MOST) == [VERIFIED]
    assert verdicts(model, "E(x) == 1.1", [0], 1e-6, MOST) == [REFUTED]


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("v ~ normal(0, 1); w = where(abs(v) > 8, 0, v)", "Var(w) == 1"),
        ("v ~ normal(0, 1); w = v if v < 9 else 9", "E(w**2) == 1"),
        ("x ~ normal(0, 1); z ~ normal(0, 1); y = where(z > 10, 5 * x, x)", "E(y) == 0"),
        ("x ~ normal(0, 1); y = x + 100 * (x > 7)", "E(y) == 0"),
        ("x ~ normal(0, 1); y = x if x < 9 else 9", "Var(y) == 1"),
        ("x ~ normal(0, 1); y = x * (abs(x) < 9)", "Var(y) == 1"),
        ("x ~ normal(0, 1); m ~ bernoulli(1e-9); y = where(m == 1, x, 2 * x)", "Var(y) == 4"),
        ("a, b ~ bernoulli(1e-3); u ~ normal(1, 1); y = u + a - b", "E(y) == 1"),
        ("m ~ bernoulli(0.01)[64]; x ~ normal(0, 1)[64]", "Var(x * m / 0.01) == 100"),
        ("x ~ normal(0, 1)[8]", "E(mean(relu(x - 3))) <= 0.01"),
        ("c ~ choice(arange(1000))", "E(c) == 499.5"),
    ],
)
def test_what_is_rare_and_matters_little_costs_little(model: str, claim: str) -> None:
    found = judged(model, claim)
    assert found.verdict is VERIFIED
    assert found.draws < 5e7


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("a, b ~ bernoulli(1e-3); u ~ normal(1, 1); y = u + a - b", "Var(y) == 1.02"),
        ("m ~ bernoulli(0.3); x ~ normal(0, 1); y = m * x - m * x", "E(y) == 1"),
        ("x ~ normal(0, 1)", "E(cos(x)**2 + sin(x)**2) == 1.1"),
        ("x ~ normal(0, 1)[5]", "E(max(softmax(x))) < E(max(softmax(x)))"),
        ("x ~ normal(0, 1)[5]; y = softmax(x); z = softmax(x)", "E(max(y)) > E(max(z))"),
        ("m ~ bernoulli(0.5)", "2 * P(m == 1, given=m == 1) == 1"),
    ],
)
def test_what_cancels_or_is_certain_is_refuted_where_it_is_claimed_not_to(
    model: str, claim: str
) -> None:
    assert verdicts(model, claim, [0], 1e-6) == [REFUTED]


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Std(y) / Std(x) - 1 == 0.05", REFUTED),
        ("0.045 <= Std(y) / Std(x) - 1 <= 0.055", REFUTED),
        ("Std(y) / Std(x) - 1 == 0", VERIFIED),
        ("Var(x) == Var(y)", VERIFIED),
    ],
)
def test_what_is_the_same_for_any_sample_is_decided(claim: str, verdict: Verdict) -> None:
    model = "x ~ normal(1, 1); y = x * 1"  # and so x itself
    assert verdicts(model, claim, [0], 1e-6, MOST) == [verdict]


# ---- spreads that a sample does not show ---------------------------------------------------------


@pytest.mark.parametrize(("chance", "quantity"), [(3e-7, "Std(y)"), (2e-6, "Var(y)")])
@pytest.mark.parametrize(
    "model",
    [
        "y ~ binomial(1, {chance})",
        "u ~ uniform(0, 1); y = floor(u + {chance})",
        "m ~ bernoulli({chance})[2]; y = m[0]",
    ],
)
def test_a_spread_that_the_sample_does_not_show_brings_no_wrong_verdict(
    model: str, chance: float, quantity: str
) -> None:
    variance = chance * (1 - chance)
    true = variance if quantity == "Var(y)" else variance**0.5
    for claim, bad in (
        (f"{quantity} == {true!r}", REFUTED),
        (f"{quantity} >= {0.7 * true!r}", REFUTED),
        (f"{quantity} <= {0.7 * true!r}", VERIFIED),
    ):
        assert bad not in verdicts(model.format(chance=chance), claim, [0], 1e-6, MOST)


def test_an_undecided_claim_says_what_unseen_values_could_do() -> None:
    found = judged("m ~ bernoulli(0.5)[30]", "E(prod(2 * m)) == 1", most=MOST)
    assert found.verdict is OPEN
    assert "the model leaves room for values that no draw showed" in str(found.explanation)
    assert found.interval is not None
    low, high = found.interval
    assert low is not None
    assert high is not None
    assert low <= 1 <= high
