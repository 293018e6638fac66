"""How often intervals miss and verdicts err, and that no bound is below what draws show.

Rates are judged by the exact binomial test of `trials.alarm`, with a false alarm of 1e-6 each.
Beside them stands what breaks them, at which the same alarm must ring.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from trials import (
    REFUTED,
    VERIFIED,
    N,
    alarm,
    averaged,
    entry,
    judged,
    lowered,
    registry_of,
    repeated,
    tried,
)

from dropcheck.analysis.exact import ExactMoments
from dropcheck.array_types import Floats
from dropcheck.inference.intervals import KnownSpread, Sample, catoni_interval
from dropcheck.judging import averages
from dropcheck.judging.averages import LimitSpread, Shortfall, draws_to_see, shortfall
from dropcheck.judging.case import ExactAverages, Knowledge, knowledge_of, prepare
from dropcheck.results import Verdict
from dropcheck.settings import Settings
from dropcheck.simulation.again import rounding_in
from dropcheck.simulation.compile import Compiled

# ---- intervals of cases --------------------------------------------------------------------------

QUANTITIES = [
    # the first-order error of the variance of a fair coin is 0
    ("b ~ bernoulli(0.5)", "Var(b)", 0.25),
    ("x ~ exponential(1)", "Std(x) / E(x)", 1.0),
    ("x, w ~ normal(0, 1); y = 0.6 * x + 0.8 * w", "Corr(x, y)", 0.6),
    ("x ~ exponential(1)", "Skew(x)", 2.0),
    ("x ~ normal(0, 1)", "E(x)**2", 0.0),
    ("x ~ normal(0, 1)[2]", "E(max(x))", 0.5641895835477563),  # by bounds
    ("x ~ exponential(1)[2]", "Var(max(x))", 1.25),
    ("x ~ normal(1, 1); m ~ bernoulli(0.5)", "Var(m * x)", 0.75),  # crossed
    ("x ~ normal(0, 1)", "E(x, given=x > 1)", 1.525135276),
    ("x ~ normal(0, 1)", "P(x > 0.5)", 0.3085375387),
    ("x ~ normal(0, 1)", "P(x > 1, given=x > 0)", 0.3173105079),
    ("x ~ exponential(2)", "Quantile(x, 0.9)", 2 * math.log(10)),
]
SEEDS, ALPHA = 24, 0.05


def misses(model: str, quantity: str, truth: float) -> int:
    """How many of the runs end with an interval that misses the truth."""
    settings = Settings(threads=1, alpha=ALPHA, resolution=0.2, max_draws=30_000)
    missed = 0
    for result in repeated(model, f"{quantity} == {truth}", range(SEEDS), settings):
        low, high = result.interval or (None, None)
        missed += not (-math.inf if low is None else low) <= truth <= (high or math.inf)
    return missed


@pytest.mark.parametrize(("model", "quantity", "truth"), QUANTITIES)
def test_the_truth_is_missed_no_more_often_than_promised(
    model: str, quantity: str, truth: float
) -> None:
    assert not alarm(misses(model, quantity, truth), SEEDS, ALPHA)


def test_what_makes_an_interval_too_narrow_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, lines = ExactAverages._variance, averages._lines
    with monkeypatch.context() as far:
        far.setattr(ExactAverages, "_variance", lambda *asked: whole(*asked) / 10_000)
        assert alarm(misses(*QUANTITIES[1]), SEEDS, ALPHA)

    def linear(*asked: Any) -> list[tuple[np.ndarray, bool]]:
        return [(weights, True) for weights, _ in lines(*asked)]

    # the variance of a fair coin has no first order, and its estimate no error there
    monkeypatch.setattr(averages, "_lines", linear)
    assert alarm(misses(*QUANTITIES[0]), SEEDS, ALPHA)


@pytest.mark.parametrize(
    ("model", "claim", "keys", "wrong"),
    [
        # at the very edge of what is claimed
        ("x ~ uniform(0, [1, 2, 3, 4])", "E(x) == [1, 2, 3, 4] / 2", "", REFUTED),
        (N, "Median(x) <= 0", "resolution: 0.1", REFUTED),
        ("k ~ poisson(3)", "Quantile(k, 0.6) == 3", "resolution: 0.1", REFUTED),
        ("x ~ exponential(2)", "Quantile(x, 0.9) >= 2 * log(10)", "resolution: 0.1", REFUTED),
        ("x ~ exponential(1)", "Var(x) <= 1", "resolution: 0.1", REFUTED),
        ("x, z ~ normal(0, 1)", "x + z ~ normal(0, sqrt(2))", "resolution: 0.05", REFUTED),
        ("x, z ~ normal(0, 1)", "independent(x + z, x - z)", "resolution: 0.1", REFUTED),
        # false by more than the resolution
        ("x ~ normal(0.11, 1)", "Median(x) == 0", "within: 0.1", VERIFIED),
    ],
)
def test_verdicts_err_no_more_often_than_promised(
    model: str, claim: str, keys: str, wrong: Verdict
) -> None:
    seeds, alpha = 40, 0.2
    settings = Settings(alpha=alpha, threads=1, max_draws=100_000)
    found = repeated(model, claim, range(seeds), settings, keys)
    assert not alarm(sum(one.verdict is wrong for one in found), seeds, alpha)


def test_entries_share_the_error_rate() -> None:
    """An interval of one of k entries is that of one claim at a k-th of the error rate."""
    widths = []
    for claim, alpha in (("E(x) == [0, 1, 2]", 3e-3), ("E(x[0]) == 0", 1e-3)):
        found = judged("x ~ normal([0, 1, 2], 1)", claim, "within: 1e-9", alpha=alpha, most=4096)
        low, high = found.interval or (0.0, 0.0)
        widths.append((high or 0.0) - (low or 0.0))
    assert widths[0] == pytest.approx(widths[1], rel=0.02)


DRAWN = ["normal({m}, {s})", "exponential({s})", "bernoulli({p})", "permutation(3)"]
MADE = [
    "{a} * {b}", "{a} - {b}", "{a} - mean({a})", "[{a}[0], -{a}[1], {b}[2]]", "flip({a})",
    "cumsum({a})", "{a} * {a}[0]", "{a} + {b}[1]", "concat({a}[:2], {b}[2:])", "{a} + 1",
]  # fmt: skip
CLAIMED = [
    "E({a}) == E({b})", "E({a}) <= E({b})", "Var({a}) == Var({b})", "Cov({a}, {b}) == 0",
    "E({a}) + E({b}) == 2", "E({a}) - 1 <= E({b}) <= E({a}) + 1", "E({a} * {b}) == E({a}) * E({b})",
    "E({a}) == 1", "Cov({a}, {b}) == Var({a})",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_a_claim_of_arrays_is_the_claims_of_its_entries(seed: int) -> None:
    """By exact values: refuted only if one entry is, and verified only if all are."""
    rng = np.random.default_rng(seed)

    def three(*numbers: float) -> str:
        return str([float(one) for one in rng.choice(numbers, 3)])

    lines = [
        f"{name} ~ " + rng.choice(DRAWN).format(m=three(0, 1), s=three(1, 1, 2), p=three(0.25, 0.5))
        for name in "uv"
    ]
    lines += [f"{name} = " + rng.choice(MADE).format(a=a, b=b) for name, a, b in ("wuv", "zwv")]
    for claim in rng.choice(CLAIMED, 2, replace=False):
        a, b = rng.choice([*"uvwz"], 2, replace=False)
        texts = [claim.format(a=a, b=b)]
        texts += [claim.format(a=f"{a}[{at}]", b=f"{b}[{at}]") for at in range(3)]
        entries = [entry(f"c{at}", "; ".join(lines), text) for at, text in enumerate(texts)]
        whole, *each = tried(registry_of(*entries), Settings(exact=True, threads=1))
        verdicts = [one.verdict for one in each]
        expected = max(verdicts, key=[VERIFIED, Verdict.UNDECIDED, REFUTED].index)
        # of arrays an exact value may be unknown that is known of their entries
        assert whole.verdict in (expected, Verdict.UNDECIDED), (lines, texts)


# ---- the limit theorem ---------------------------------------------------------------------------

DRAWS, REPEATS = 64, 400
Rows = Callable[[np.random.Generator, tuple[int, int]], Any]
LAWS: dict[str, tuple[Rows, float]] = {
    "normal": (lambda r, s: r.normal(size=s), 0.0),
    "exponential": (lambda r, s: r.exponential(1, s), 1.0),
    "lognormal": (lambda r, s: r.lognormal(0, 1, s), math.exp(0.5)),
    "dropout": (lambda r, s: (r.random(s) < 0.01) / 0.01, 1.0),
    "product": (lambda r, s: r.normal(size=s) * r.normal(size=s), 0.0),
    "rare and large": (lambda r, s: 5e3 * (r.random(s) < 2e-4), 1.0),
    "very skewed": (lambda r, s: r.lognormal(0, 2, s), math.exp(2)),
}


def lacks(rows: Floats, alpha: float) -> Shortfall:
    alike = bool((rows == rows[0]).all())
    return shortfall(rows[:, np.newaxis], np.ones(1), [0], 4096, alpha, alike=alike)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("name", LAWS)
def test_the_limit_theorem_misses_no_more_often_than_it_says(name: str, alpha: float) -> None:
    """Of the intervals that might be used to decide; of all the rarest would be missed."""
    draw, truth = LAWS[name]
    rng, found = np.random.default_rng(13), [0, 0]
    for _ in range(REPEATS):
        rows = np.asarray(draw(rng, (64, DRAWS)).mean(axis=1), np.float64)
        low, high = LimitSpread(guess=1.0).interval(Sample(rows, DRAWS), alpha)
        outside = not low <= truth <= high
        found[0] += outside and lacks(rows, alpha).unmet is None
        found[1] += outside
    assert not alarm(found[0], REPEATS, alpha)
    assert name != "rare and large" or alarm(found[1], REPEATS, alpha)


def test_a_mean_has_students_interval_which_skewness_widens_on_its_own_side() -> None:
    half = np.random.default_rng(2).normal(size=100)
    rows = np.concatenate([half, -half]) + 3.0  # symmetric: no skewness to widen for
    give = float(stats.t.isf(0.005, 199) * rows.std(ddof=1)) / math.sqrt(200)
    found = LimitSpread(guess=1.0).interval(Sample(rows, DRAWS), 0.01)
    assert found == pytest.approx((3.0 - give, 3.0 + give), rel=1e-9)
    rows = np.random.default_rng(3).exponential(size=400)
    low, high = LimitSpread(guess=1.0).interval(Sample(rows, DRAWS), 0.05)
    give = float(stats.t.isf(0.025, 399) * rows.std(ddof=1)) / 20
    assert rows.mean() - low == pytest.approx(give, rel=1e-9)
    assert high - rows.mean() > 1.05 * give


@pytest.mark.parametrize("alpha", [1e-2, 1e-6])
def test_heavy_tails_are_noticed_and_light_ones_pass_in_any_unit(alpha: float) -> None:
    rng = np.random.default_rng(11)
    for _ in range(5):
        for df in (1.0, 2.0):
            heavy = (rng.standard_t(df, (256, 256)) ** 2).mean(axis=1)
            assert all(lacks(unit * heavy, alpha).unmet is not None for unit in (1, 1e-200, 1e200))
        assert lacks(rng.exponential(size=(256, 256)).mean(axis=1), alpha).unmet is None
    heavy, light = 1 / rng.random((256, 64)), rng.normal(size=(256, 64))  # an average that cancels
    rows = np.stack([(heavy + light).mean(axis=1), heavy.mean(axis=1)], axis=1)
    found = shortfall(rows, np.array([1.0, -1.0]), [0, 1], 10**6, 1e-6)
    assert "a few draws carry an average" in str(found.unmet)
    assert str(lacks(np.ones(63), 0.01).unmet) == "63 of the 64 blocks that an interval takes"
    for draws, enough in ((40_000, False), (50_000, True)):
        alike = shortfall(np.ones((64, 1)), np.ones(1), [0], draws, 0.01, alike=True)
        assert (alike.unmet is None) is enough


@pytest.mark.parametrize(
    ("model", "draws"),
    [
        ("u ~ uniform(0, 1); y = where(u > 1e-6, 1, 0)", 1e6),  # the rarer outcome
        ("b ~ bernoulli(0.01); y = 2 * b", 100),
        ("x ~ normal(0, 1); y = where(x > 3, x, 0)", 740.8),
        ("x ~ normal(0, 1); y = where(x >= x, x, 0)", 0),  # certain
    ],
)
def test_draws_to_see_the_rarest_outcome(model: str, draws: float) -> None:
    (case,) = registry_of(entry("claim", model, "E(y) == 1")).expand()
    compiled = prepare(case).compiled
    assert isinstance(compiled, Compiled)
    assert draws_to_see(compiled) == pytest.approx(draws, rel=1e-3)


# ---- what the model says of averages, against draws ----------------------------------------------

MODELS = [
    ("x ~ normal(1, 2)", "Kurt(x) == 3"),
    ("x ~ lognormal(0, 0.4)[3]; y = max(x)", "Std(y) / E(y) == 1"),
    ("x, w ~ normal(0, 1); y = abs(x - w**2) + relu(x * w)", "Var(y) == 1"),
    ("x ~ normal(0, 1); w ~ gamma(2, 1); y = softmax([x, w, x * w])[0]", "Var(y) == 1"),
    ("x ~ normal(0, 1)[4]; w ~ normal(0, 1)[4]", "Corr(sort(x)[0], x @ w) == 0"),
    ("p ~ uniform(0, 1); n ~ poisson(3 * p); y = sqrt(n + 1)", "E(y, given=n > 1) == 2"),
    ("x ~ normal(0, 1); w ~ laplace(0, 1); y = where(x > w, x, tanh(w) * w)", "Kurt(y) == 3"),
    ("m ~ bernoulli(0.1)[5]; x ~ normal(2, 1)[5]; y = norm(m * x)", "Std(y) == 1"),
    ("Q, K ~ rademacher()[2, 2]; v = var(Q @ K, axis=[0, 1])", "Var(v) == 1"),
    ("x ~ binomial(5, 0.5); y = tanh(x - 2)", "Skew(y) == 1"),
]
ERRORS = 6.0  # a mean of so many draws is off by more standard errors with a chance of 1e-9


def draw_by_draw(compiled: Compiled, centres: Floats, draws: int = 20_000) -> Floats:
    """Every integrand at each draw, averaged over its elements: [draws, terms]."""
    program = compiled.program.in_blocks_of(1, draws)
    rng, spans = np.random.default_rng(7), range(-(-draws // program.span_draws))
    sums = [program.span(rng, centres, place).sums for place in spans]
    return np.asarray(np.concatenate(sums) / program.block_values)


def known(model: str, claim: str, *, crossing: bool = False) -> tuple[Compiled, Knowledge]:
    compiled = averaged(lowered(model, claim), crossing=crossing)
    return compiled, knowledge_of(compiled)


@pytest.mark.parametrize(("model", "claim"), MODELS)
def test_no_bound_is_below_what_draws_show(model: str, claim: str) -> None:
    compiled, knowledge = known(model, claim)
    centres = compiled.program.centres(np.random.default_rng(0), 500)
    bounds, rows = knowledge.bounds(centres), draw_by_draw(compiled, centres)
    rng, count = np.random.default_rng(5), rows.shape[1]
    for weights in [*np.eye(count), *rng.normal(size=(4, count)), *-np.eye(count)]:
        values = rows @ weights
        low, high = bounds.ends_along(weights)
        assert low <= values.min() <= values.max() <= high
        for order in (1.1, 2.0, 4.0):
            powers = np.abs(values) ** order
            surely = powers.mean() - ERRORS * powers.std() / math.sqrt(len(powers))
            assert surely <= bounds.along(weights, order) ** order * (1 + 1e-9)


EXACT = [
    ("x ~ normal(1, 2)", "Kurt(x) == 3"),
    ("x ~ exponential(2); m ~ bernoulli(0.3)", "Var(m * x) == 1"),
    ("x, w ~ normal(0, 1)[4]", "Corr(x @ w, x[0] * w[0]) == 0.5"),
    ("u ~ uniform(0, 1); y = where(u < 0.2, 3, exp(u))", "Std(y) == 1"),
    ("x ~ normal(100, 1); w ~ gamma(2, 1)", "Cov(x * w, w) == 200"),  # about its mean
    ("x ~ normal(0, 1)[3]", "Var(x) == 1"),  # averages over elements
]


@pytest.mark.parametrize(("model", "claim"), EXACT)
def test_exact_means_and_variances_are_those_of_draws(model: str, claim: str) -> None:
    compiled, knowledge = known(model, claim)
    exact = knowledge.exact
    assert exact is not None
    rows = draw_by_draw(compiled, exact.centres)
    give = ERRORS * rows.std(axis=0) / math.sqrt(len(rows))
    assert (np.abs(rows.mean(axis=0) - exact.means) <= give + 1e-12).all()
    for column in exact.used:
        weights = np.eye(rows.shape[1])[column]
        spread = exact.spread(weights, compiled.program)
        off = (rows[:, column] - rows[:, column].mean()) ** 2
        error = ERRORS * off.std() / math.sqrt(len(off)) + 1e-9 * spread.variance(1)
        assert abs(off.mean() - spread.variance(1)) <= error
        assert spread.variance(20) == pytest.approx(spread.variance(1) / 20)


CROSSED = [
    ("a ~ normal(0, 1)[3, 32]; b ~ normal(0, 1)[32, 4]", "Var(a @ b) == 32", 12),
    ("a ~ exponential(1)[2, 40]; b ~ uniform(0, 1)[40, 3]", "Var(a @ b) == 10", 8),
]


@pytest.mark.parametrize(("model", "claim", "batch"), CROSSED)
def test_crossed_blocks_vary_as_the_model_says(
    model: str, claim: str, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled, knowledge = known(model, claim, crossing=True)
    exact = knowledge.exact
    assert exact is not None
    assert compiled.crossed is not None
    program, blocks = compiled.crossed.program.in_blocks_of(batch), 2000
    sums: list[Floats] = []
    rng = np.random.default_rng(3)
    while sum(len(one) for one in sums) < blocks:
        sums.append(program.span(rng, exact.centres, 0).sums / program.block_values)
    seen = np.concatenate(sums)[:blocks].var(axis=0, ddof=1)
    # beyond with a chance below 1e-9, were the means normal; a third is left for what they are not
    few, many = (float(stats.chi2.ppf(q, blocks - 1)) / (blocks - 1) for q in (1e-9, 1 - 1e-9))

    def ratios() -> list[float]:
        spreads = [exact.spread(np.eye(len(seen))[one], program) for one in exact.used]
        told = [one.variance(program.block_draws) for one in spreads]
        return [float(seen[one]) / own for one, own in zip(exact.used, told, strict=True)]

    assert all(few / 1.3 < one < many * 1.3 for one in ratios())
    whole = ExactMoments.covariance  # the variance of an average of b² pairs, were it of b² draws
    monkeypatch.setattr(ExactMoments, "covariance", lambda self, b: whole(self, 1) / b**2)
    assert max(ratios()) > 1.3 * many


@pytest.mark.parametrize("size", [1e8, 1e12, 3e15])
def test_the_rounding_that_is_looked_for_is_what_is_lost(size: float) -> None:
    claim = f"E(exp(({size:g} + x) - {size:g})) == 2.7"
    (case,) = registry_of(entry("claim", "x ~ uniform(0.5, 1.5)", claim)).expand()
    compiled = prepare(case).compiled
    assert isinstance(compiled, Compiled)
    x = np.random.default_rng(1).uniform(0.5, 1.5, 512)
    off = np.abs(np.exp((size + x) - size) - np.exp(x)).mean()
    program = compiled.program
    room = rounding_in(program, lambda: np.random.default_rng(2), program.origin, 64)
    assert off <= room[0] <= 100 * off


def test_the_intervals_of_a_look_share_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def counted(spread: KnownSpread, sample: Sample, alpha: float) -> tuple[float, float]:
        asked.append(alpha)
        return catoni_interval(sample.rows, spread.variance(sample.units), alpha)

    monkeypatch.setattr(KnownSpread, "interval", counted)
    ratio = registry_of(entry("ratio", "x, y ~ normal(2, 1)", "E(x) / E(y) == 1"))
    tried(ratio, Settings(draws_only=True))
    one, other, along = asked[:3]  # those of both means, and that of the quotient
    assert (one + other) / along == pytest.approx(1 / 9)
