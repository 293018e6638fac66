"""Seven traps: in each the usual method, written out here, is wrong, and ours is right.

The rates of errors are judged by the exact binomial test of `trials.alarm` with a false alarm of
1e-6; where a verdict is compared, seeds are fixed.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from trials import alarm, judged, verdicts

from dropcheck.inference.budget import looks
from dropcheck.inference.intervals import Sample
from dropcheck.inference.region import decide
from dropcheck.judging.limit_theorem import LimitSpread, shortfall
from dropcheck.results import Region, Verdict

Floats = npt.NDArray[np.float64]
VERIFIED, REFUTED, OPEN = Verdict.VERIFIED, Verdict.REFUTED, Verdict.UNDECIDED

ALPHA = 0.01
REPEATS = 1000


def textbook(values: Floats) -> tuple[float, float]:
    """The mean of a sample give or take normal standard errors."""
    give = float(stats.norm.isf(ALPHA / 2)) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()) - give, float(values.mean()) + give


# ---- 1. the variance of a fair two-point variable -----------------------------------------------


def two_point_variance(values: Floats) -> tuple[float, float]:
    """The unbiased variance, give or take its first-order error √((m₄ − s⁴)/n)."""
    centred = values - values.mean()
    spread = float(values.var(ddof=1))
    error = math.sqrt(max(float((centred**4).mean()) - spread**2, 0.0) / len(values))
    give = float(stats.norm.isf(ALPHA / 2)) * error
    return spread - give, spread + give


def test_dropout_at_one_half_is_verified_and_its_twin_refuted() -> None:
    model = "b ~ bernoulli(0.5); y = 2 * b"
    assert set(verdicts(model, "Var(y) == 1", range(10))) == {VERIFIED}
    assert set(verdicts(model, "Var(y) == 1.02", range(10))) == {REFUTED}


# ---- 2. no variance at all ----------------------------------------------------------------------


def test_rounding_of_a_constant_does_not_refute() -> None:
    values = np.full(1000, 0.1 + 0.2)
    low, high = textbook(values)
    assert decide(low, high, Region(0.3, 0.3), widen=0.003) is REFUTED  # by 6e-17
    model = "u ~ uniform(0, 1); y = where(u >= 0, 0.1 + 0.2, 0)"
    assert judged(model, "E(y) == 0.3").verdict is VERIFIED
    assert judged(model, "E(y) == 0.31").verdict is REFUTED
    assert judged(model, "Var(y) == 0").verdict is VERIFIED


def test_dropout_of_nothing_is_a_point() -> None:
    model = "keep ~ bernoulli(1); x ~ normal(3, 1); y = keep * x / 1"
    assert judged(model, "E(y - x) == 0").verdict is VERIFIED
    assert judged(model, "Var(y) == Var(x)").verdict is VERIFIED


def test_a_sample_without_variation_proves_no_constant() -> None:
    rng = np.random.default_rng(2)
    naive = sum(float(rng.binomial(1, 0.001, 500).std()) == 0 for _ in range(200))
    assert naive > 80  # of 200 samples: "the variance is 0, the interval a point"
    found = verdicts("u ~ uniform(0, 1)", "Var(floor(u + 0.001)) == 0", range(20))
    assert VERIFIED not in found


# ---- 3. rare events and large skew --------------------------------------------------------------


@pytest.mark.parametrize("law", ["dropout at p = 0.999", "lognormal"])
def test_the_normal_limit_is_late_for_skewed_laws(law: str) -> None:
    rng = np.random.default_rng(3)
    naive = ours = 0
    for _ in range(REPEATS):
        if law == "lognormal":
            values, truth = rng.lognormal(0, 2, (64, 32)), math.exp(2)
        else:
            values = 1000 * rng.binomial(1, 0.001, (64, 32)).astype(np.float64)
            truth = 1.0
        low, high = textbook(values.ravel())
        naive += not low <= truth <= high
        rows = values.mean(axis=1)
        low, high = LimitSpread(guess=0.0).interval(Sample(rows, 32), ALPHA)
        alike = bool((rows == rows[0]).all())
        lacks = shortfall(rows[:, np.newaxis], np.ones(1), [0], values.size, ALPHA, alike=alike)
        ours += lacks.unmet is None and not low <= truth <= high
    assert alarm(naive, REPEATS, ALPHA)
    assert not alarm(ours, REPEATS, ALPHA)


def test_dropout_at_p_0_999_is_verified_once_it_is_seen_often_enough() -> None:
    model = "b ~ bernoulli(0.001); y = 1000 * b"
    assert REFUTED not in verdicts(model, "Var(y) == 999", range(10), most=2_000_000)
    keys = "resolution: 0.1"
    assert judged(model, "Var(y) == 999", keys, alpha=ALPHA, most=5_000_000).verdict is VERIFIED
    assert judged(model, "Var(y) == 1150", keys, alpha=ALPHA, most=5_000_000).verdict is REFUTED


# ---- 4. large means -----------------------------------------------------------------------------


def test_raw_moments_of_a_large_mean_cancel() -> None:
    x = np.random.default_rng(4).normal(1e8, 1, 100_000)
    naive = float((x**2).mean() - x.mean() ** 2)
    assert abs(naive - 1) > 0.5
    assert judged("x ~ normal(1e8, 1)", "Var(x) == 1").verdict is VERIFIED
    assert judged("x ~ normal(1e8, 1)", "Var(x) == 1.05").verdict is REFUTED
    assert judged("x ~ normal(1e8, 1)", "Kurt(x) == 3").verdict is VERIFIED


# ---- 5. infinite variance -----------------------------------------------------------------------

# x has the Pareto law with index 1.5, which the expression hides: mean 3, infinite variance
HIDDEN = "u ~ uniform(0, 1); x = exp(-log(u) / 1.5)"


def test_an_infinite_variance_makes_the_textbook_wrong() -> None:
    rng = np.random.default_rng(5)
    missed = 0
    for _ in range(REPEATS):
        low, high = textbook(rng.random(10_000) ** (-1 / 1.5))
        missed += not low <= 3 <= high
    assert alarm(missed, REPEATS, ALPHA)
    assert set(verdicts(HIDDEN, "E(x) == 3", range(20), most=400_000)) <= {VERIFIED, OPEN}
    assert VERIFIED not in verdicts(HIDDEN, "Var(x) <= 100", range(20), most=400_000)


@pytest.mark.parametrize(
    ("law", "mean"), [("student_t(2)", 0.0), ("student_t(1.5)", 0.0), ("pareto(1.5, 1)", 3.0)]
)
def test_the_mean_of_a_law_without_a_variance_is_decided_by_what_the_law_says(
    law: str, mean: float
) -> None:
    model = f"x ~ {law}"
    assert judged(model, f"E(x) <= {mean}", most=10**6, draws_only=False).verdict is VERIFIED
    false = f"E(x) == {mean + 0.003}"
    assert judged(model, false, most=10**6, draws_only=False).verdict is REFUTED
    assert set(verdicts(model, f"E(x) <= {mean + 3}", range(5), most=400_000)) == {VERIFIED}
    assert REFUTED not in verdicts(model, f"E(x) <= {mean}", range(3), most=100_000)
    assert VERIFIED not in verdicts(model, f"E(x) <= {mean - 0.1}", range(3), most=100_000)
    found = judged(model, f"Var(x) <= {mean + 1000}")
    assert (found.verdict, found.draws) == (OPEN, 0)
    assert "no finite moment of order" in str(found.explanation)


@pytest.mark.parametrize("model", ["x ~ cauchy(0, 1)", "u ~ uniform(0, 1); x = exp(-log(u))"])
def test_a_mean_that_does_not_exist_is_never_verified(model: str) -> None:
    rng = np.random.default_rng(6)
    naive = [textbook(1 / rng.random(10_000)) for _ in range(20)]
    assert sum(high <= 40 for _, high in naive) > 10  # "verified: E(x) <= 40"
    assert VERIFIED not in verdicts(model, "E(x) <= 40", range(20), most=400_000)


# ---- 6. peeking ---------------------------------------------------------------------------------


def test_looking_again_and_again_costs_the_promise_unless_it_is_paid_for() -> None:
    plan = list(looks(2000, 100, 4000, ALPHA))
    draws = np.array([look.draws for look in plan])
    steps = np.diff(draws, prepend=0)
    rng = np.random.default_rng(7)
    repeats = 20_000
    sums = np.cumsum(rng.normal(size=(repeats, len(steps))) * np.sqrt(steps), axis=1)
    scores = np.abs(sums) / np.sqrt(draws)  # of a mean that is 0, as claimed
    naive = int((scores > stats.norm.isf(ALPHA / 2)).any(axis=1).sum())
    paid = stats.norm.isf(np.array([look.alpha for look in plan]) / 2)
    ours = int((scores > paid).any(axis=1).sum())
    assert alarm(naive, repeats, ALPHA)
    assert naive > 2 * ALPHA * repeats
    assert not alarm(ours, repeats, ALPHA)


def stops_when_narrow(rng: np.random.Generator, share: float, width: float) -> tuple[float, float]:
    """Draw until the textbook's interval is narrow: where all is alike, at once."""
    values = rng.binomial(1, share, 20_000).astype(np.float64)
    for count in range(round(1 / width), 20_000):
        low, high = textbook(values[:count])
        if high - low <= 2 * width:
            return low, high
    raise AssertionError("never narrow")


def test_stopping_when_narrow_stops_where_nothing_was_seen() -> None:
    rng = np.random.default_rng(8)
    missed = 0
    for _ in range(100):
        low, high = stops_when_narrow(rng, 0.08, 0.05)
        missed += not low <= 0.08 <= high
    assert alarm(missed, 100, ALPHA)
    found = verdicts("b ~ bernoulli(0.08)", "P(b) <= 0.02", range(20))
    assert set(found) == {REFUTED}
    assert set(verdicts("b ~ bernoulli(0.08)", "P(b) <= 0.09", range(20))) == {VERIFIED}


# ---- 7. elements of one draw --------------------------------------------------------------------


def test_elements_of_one_draw_are_not_draws() -> None:
    rng = np.random.default_rng(9)
    missed = 0
    for _ in range(REPEATS):
        elements = 3 * rng.normal(size=(100, 1)) + rng.normal(size=(100, 16))
        low, high = textbook(elements.ravel())
        missed += not low <= 0 <= high
    assert alarm(missed, REPEATS, ALPHA)
    model = "z ~ normal(0, 1); x ~ normal(0, 1)[16]; y = 3 * z + x"
    assert REFUTED not in verdicts(model, "E(y) == 0", range(10), most=100_000)
    assert REFUTED not in verdicts(model, "P(y > 0) == 0.5", range(10), most=100_000)
    assert judged(model, "Var(y) == 10").verdict is VERIFIED
    assert judged(model, "Var(mean(y)) == 9 + 1 / 16").verdict is VERIFIED
