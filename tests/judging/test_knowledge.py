"""What the model says of averages, against draws: bounds never below, covariances as they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from trials import averaged, lowered

from dropcheck.analysis.exact import ExactMoments
from dropcheck.analysis.norms import Norms
from dropcheck.judging.knowledge import BoundedAverages, ExactAverages, Knowledge, knowledge_of
from dropcheck.results import Guarantee
from dropcheck.simulation import Compiled, Program

Floats = npt.NDArray[np.float64]
DRAWS = 40_000
# A mean of so many draws is off by more standard errors with a chance of 1e-9.
ERRORS = 6.0


def draw_by_draw(compiled: Compiled, centres: Floats, draws: int = DRAWS) -> Floats:
    """Every integrand at each draw, averaged over its elements: [draws, terms]."""
    program = compiled.program.in_blocks_of(1, draws)
    rng = np.random.default_rng(7)
    spans = [
        program.span(rng, centres, place).sums for place in range(-(-draws // program.span_draws))
    ]
    rows: Floats = np.concatenate(spans) / program.block_values
    return rows


def surely(values: Floats) -> float:
    """What the mean of a law with these draws is not below, but with a chance of 1e-9."""
    return float(values.mean() - ERRORS * values.std() / math.sqrt(len(values)))


def known(model: str, claim: str, *, crossing: bool = False) -> tuple[Compiled, Knowledge]:
    compiled = averaged(lowered(model, claim), crossing=crossing)
    return compiled, knowledge_of(compiled)


MODELS = [
    ("x ~ normal(1, 2)", "Kurt(x) == 3"),
    ("x ~ exponential(1)", "Skew(x) == 2"),
    ("x ~ lognormal(0, 0.4)[3]; y = max(x)", "Std(y) / E(y) == 1"),
    ("x, w ~ normal(0, 1); y = abs(x - w**2) + relu(x * w)", "Var(y) == 1"),
    ("x ~ normal(0, 1); w ~ gamma(2, 1); y = softmax([x, w, x * w])[0]", "Var(y) == 1"),
    ("x ~ normal(0, 1)[4]; w ~ normal(0, 1)[4]", "Corr(sort(x)[0], x @ w) == 0"),
    ("x ~ normal(3, 0.2); w ~ uniform(1, 2); y = x * log(w + 1) / w", "Cov(y, x) == 1"),
    ("p ~ uniform(0, 1); n ~ poisson(3 * p); y = sqrt(n + 1)", "E(y, given=n > 1) == 2"),
    ("x ~ normal(0, 1); w ~ laplace(0, 1); y = where(x > w, x, tanh(w) * w)", "Kurt(y) == 3"),
    ("x ~ student_t(9); w ~ normal(0, 1); y = maximum(x, w) - minimum(x, w)**2", "Var(y) == 1"),
    ("m ~ bernoulli(0.1)[5]; x ~ normal(2, 1)[5]; y = norm(m * x)", "Std(y) == 1"),
    ("A ~ normal(0, 1)[3, 3]; y = A @ A.T", "Var(y) == 1"),
]


@pytest.mark.parametrize(("model", "claim"), MODELS)
@pytest.mark.parametrize("centred", [False, True])
def test_no_size_is_below_what_draws_show(model: str, claim: str, centred: bool) -> None:
    compiled, knowledge = known(model, claim)
    centres = compiled.program.origin
    if centred:
        centres = compiled.program.centres(np.random.default_rng(0), 500)
    bounds = knowledge.bounds(centres)
    rows = np.abs(draw_by_draw(compiled, centres))
    for order in (1.1, 1.5, 2.0, 4.0):
        sizes = bounds.sizes(order)
        for column, size in enumerate(sizes):
            assert surely(rows[:, column] ** order) <= size**order * (1 + 1e-9), (column, order)
    assert (rows.max(axis=0) <= bounds.sizes(math.inf) * (1 + 1e-9)).all()


def combinations(count: int) -> list[Floats]:
    rng = np.random.default_rng(5)
    return [*np.eye(count), *rng.normal(size=(4, count))]


@pytest.mark.parametrize(("model", "claim"), MODELS)
def test_no_spread_is_below_what_draws_show(model: str, claim: str) -> None:
    compiled, knowledge = known(model, claim)
    centres = compiled.program.centres(np.random.default_rng(0), 500)
    rows = draw_by_draw(compiled, centres)
    for weights in combinations(rows.shape[1]):
        bounds, values = knowledge.bounds(centres), rows @ weights
        for order in (2.0, 4.0):
            assert surely(np.abs(values) ** order) <= bounds.along(weights, order) ** order
        low, high = bounds.ends_along(weights)
        assert low <= values.min() <= values.max() <= high


# Of few outcomes, so that draws show the ends of what is averaged.
BOUNDED = [
    ("Q, K ~ rademacher()[2, 2]; v = var(Q @ K, axis=[0, 1])", "Var(v) == 1"),
    ("x, w ~ rademacher(); y = x + 2 * w * x", "E(y, given=x > w) == 2"),
    ("x ~ binomial(3, 0.5); w ~ bernoulli(0.5); y = abs(x - 2 * w)", "Cov(x, y) == 1"),
    ("x ~ binomial(5, 0.5); y = tanh(x - 2)", "Skew(y) == 1"),
    ("m ~ bernoulli(0.5)[3]", "P(all(m)) == 1 / 8"),
]


def widths(model: str, claim: str) -> list[tuple[float, float]]:
    """Of combinations of averages, how far draws lie apart and how far they can."""
    compiled, knowledge = known(model, claim)
    centres = compiled.program.centres(np.random.default_rng(0), 500)
    rows, bounds = draw_by_draw(compiled, centres), knowledge.bounds(centres)
    found = []
    for weights in [*combinations(rows.shape[1]), *-np.eye(rows.shape[1])]:
        values = rows @ weights
        low, high = bounds.ends_along(weights)
        found.append((float(values.max() - values.min()), (high - low) * (1 + 1e-9)))
    return found


@pytest.mark.parametrize(("model", "claim"), BOUNDED)
def test_no_width_is_below_that_of_the_outcomes(
    model: str, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert all(seen <= width for seen, width in widths(model, claim))
    monkeypatch.setattr("dropcheck.judging.knowledge._ends", lambda *_: (0.0, 0.4))
    assert any(seen > width for seen, width in widths(model, claim))


def test_the_square_of_a_number_has_the_width_of_its_values() -> None:
    """From 0 to the largest, not from minus the largest."""
    compiled, knowledge = known("x ~ uniform(-1, 3); y = x**3", "E(y**2) == 1")
    ends = knowledge.bounds(compiled.program.origin).ends_along(np.ones(1))
    assert ends == pytest.approx((0.0, 27.0**2))


def below(compiled: Compiled, bounds: BoundedAverages) -> bool:
    rows = draw_by_draw(compiled, compiled.program.origin)
    sizes = bounds.sizes(2.0)
    return any(surely(rows[:, place] ** 2) > size**2 for place, size in enumerate(sizes))


@pytest.mark.parametrize(("model", "claim"), [MODELS[0], MODELS[1]])
def test_a_size_too_small_by_half_is_noticed(
    model: str, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled, knowledge = known(model, claim)
    assert not below(compiled, knowledge.bounds(compiled.program.origin))
    whole = Norms.centred_norm
    monkeypatch.setattr(Norms, "centred_norm", lambda *asked: whole(*asked) * math.sqrt(0.5))
    compiled, knowledge = known(model, claim)
    assert below(compiled, knowledge.bounds(compiled.program.origin))


def test_without_a_variance_there_is_a_moment_of_lower_order() -> None:
    compiled, knowledge = known("x ~ pareto(1.5, 1); z ~ normal(0, 1); y = x + abs(z)", "E(y) == 4")
    assert knowledge.exact is None
    assert not knowledge.has_variance
    assert knowledge.guarantee is Guarantee.MOMENTS
    bounds, weights = knowledge.bounds(compiled.program.origin), np.array([2.0])
    rows = 2 * draw_by_draw(compiled, compiled.program.origin)[:, 0]
    assert bounds.along(weights, 1.9) == math.inf
    assert surely(np.abs(rows) ** 1.3) <= bounds.along(weights, 1.3) ** 1.3 < math.inf
    spread = bounds.spread(weights, 7.5, 10.0, 0.1)
    assert 0 < spread.above.far < math.inf
    assert 0 < spread.above.cut < 0.1


def test_the_width_is_that_of_the_values() -> None:
    compiled, knowledge = known("u ~ uniform(3, 4)", "E(u) + 1 == 4.5")
    spread = knowledge.bounds(compiled.program.origin).spread(np.array([1.0]), 3.5, 1.0, 0.1)
    assert (spread.below.far, spread.above.far) == pytest.approx((0.5, 0.5))


# ---- exact covariances ---------------------------------------------------------------------------

EXACT = [
    ("x ~ normal(1, 2)", "Kurt(x) == 3"),
    ("x ~ exponential(2); m ~ bernoulli(0.3)", "Var(m * x) == 1"),
    ("x, w ~ normal(0, 1)[4]", "Corr(x @ w, x[0] * w[0]) == 0.5"),
    ("u ~ uniform(0, 1); y = where(u < 0.2, 3, exp(u))", "Std(y) == 1"),
    ("x ~ normal(100, 1); w ~ gamma(2, 1)", "Cov(x * w, w) == 200"),  # about its mean
    ("x ~ normal(0, 1)[3]", "Var(x) == 1"),  # averages over elements
]


@pytest.mark.parametrize(("model", "claim"), EXACT)
def test_exact_means_and_spreads_are_those_of_draws(model: str, claim: str) -> None:
    compiled, knowledge = known(model, claim)
    exact = knowledge.exact
    assert exact is not None
    rows = draw_by_draw(compiled, exact.centres)
    give = ERRORS * rows.std(axis=0) / math.sqrt(len(rows))
    assert (np.abs(rows.mean(axis=0) - exact.means) <= give + 1e-12).all()
    program = compiled.program
    for weights in combinations(rows.shape[1]):
        weights[[column for column in range(len(weights)) if column not in exact.used]] = 0
        off = (rows @ weights - float((rows @ weights).mean())) ** 2
        spread = exact.spread(weights, program)
        error = off.std() / math.sqrt(len(off))
        assert abs(off.mean() - spread.variance(1)) <= ERRORS * error + 1e-9 * spread.variance(1)
        assert spread.variance(20) == pytest.approx(spread.variance(1) / 20)


def crossed_blocks(program: Program, centres: Floats, count: int) -> Floats:
    """Averages of so many blocks of a crossed program, [blocks, terms]."""
    rng = np.random.default_rng(3)
    found: list[Floats] = []
    while sum(len(rows) for rows in found) < count:
        found.append(program.span(rng, centres, 0).sums / program.block_values)
    blocks: Floats = np.concatenate(found)[:count]
    return blocks


CROSSED = [
    ("a ~ normal(0, 1)[3, 32]; b ~ normal(0, 1)[32, 4]", "Var(a @ b) == 32", 12),
    ("a ~ exponential(1)[2, 40]; b ~ uniform(0, 1)[40, 3]", "Var(a @ b) == 10", 8),
]


def ratios(
    exact: ExactAverages, compiled: Compiled, batch: int, moments: ExactMoments | None = None
) -> Sequence[float]:
    """Sample variances of block means as shares of what they are said to be."""
    assert compiled.crossed is not None
    program = compiled.crossed.program.in_blocks_of(batch)
    rows = crossed_blocks(program, exact.centres, BLOCKS)
    found: list[float] = []
    for column in exact.used:
        weights = np.zeros(rows.shape[1])
        weights[column] = 1.0
        spread = exact.spread(weights, program)
        found.append(float(np.var(rows[:, column], ddof=1)) / spread.variance(program.block_draws))
    return found


BLOCKS = 2000
# A chi square of so many degrees of freedom lies beyond with a chance below 1e-9, were the block
# means normal; they nearly are, and a third is left for what they are not.
FEW, MANY = (float(stats.chi2.ppf(q, BLOCKS - 1)) / (BLOCKS - 1) for q in (1e-9, 1 - 1e-9))


@pytest.mark.parametrize(("model", "claim", "batch"), CROSSED)
def test_crossed_blocks_vary_as_the_model_says(model: str, claim: str, batch: int) -> None:
    compiled, knowledge = known(model, claim, crossing=True)
    assert knowledge.exact is not None
    for ratio in ratios(knowledge.exact, compiled, batch):
        assert FEW / 1.3 < ratio < MANY * 1.3


@pytest.mark.parametrize(("model", "claim", "batch"), CROSSED)
def test_pairs_taken_for_independent_draws_are_noticed(
    model: str, claim: str, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variance of an average over b² pairs, were it that of b² draws."""
    compiled, knowledge = known(model, claim, crossing=True)
    assert knowledge.exact is not None
    whole = ExactMoments.covariance
    monkeypatch.setattr(ExactMoments, "covariance", lambda self, b: whole(self, 1) / b**2)
    assert max(ratios(knowledge.exact, compiled, batch)) > 1.3 * MANY


@pytest.mark.parametrize(
    ("model", "claim", "guarantee"),
    [
        ("u ~ uniform(0, 1)", "Std(u) == 0.2887", Guarantee.FINITE_SAMPLE),
        ("x ~ normal(0, 1)", "E(cos(x)) == 0.6", Guarantee.FINITE_SAMPLE),
        ("x ~ normal(0, 1)", "Std(x) == 1", Guarantee.MOMENTS),
        ("x ~ normal(0, 1)[2]", "E(max(x)) == 0.56", Guarantee.MOMENTS),
        ("x, w ~ normal(0, 1)", "E(exp(x * (x + w) / 8)) == 1", Guarantee.ASYMPTOTIC),
    ],
)
def test_what_an_interval_rests_on(model: str, claim: str, guarantee: Guarantee) -> None:
    assert known(model, claim)[1].guarantee is guarantee
