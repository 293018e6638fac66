"""Intervals by the limit theorem: how often they miss, and what they notice."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from trials import alarm

from dropcheck import ClaimFailedError, verify
from dropcheck.array_types import Floats
from dropcheck.inference.intervals import Sample
from dropcheck.judging.limit_theorem import LimitSpread, Shortfall, shortfall

DRAWS, REPEATS = 64, 400
ONE = np.ones(1)
Rows = Callable[[np.random.Generator, int], Floats]


def of_draws(draw: Callable[[np.random.Generator, tuple[int, int]], Any]) -> Rows:
    """Averages of blocks of so many draws."""
    return lambda rng, blocks: np.asarray(draw(rng, (blocks, DRAWS)).mean(axis=1), np.float64)


def lacks(rows: Floats, alpha: float, draws: int = 4096) -> Shortfall:
    alike = bool((rows == rows[0]).all())
    return shortfall(rows[:, np.newaxis], ONE, [0], draws, alpha, alike=alike)


def misses(rows: Rows, truth: float, alpha: float, blocks: int = 64) -> int:
    """How many intervals that might be used to decide miss the truth."""
    rng = np.random.default_rng(13)
    missed = 0
    for _ in range(REPEATS):
        own = rows(rng, blocks)
        low, high = LimitSpread(guess=1.0).interval(Sample(own, DRAWS), alpha)
        missed += lacks(own, alpha).unmet is None and not low <= truth <= high
    return missed


LAWS: dict[str, tuple[Rows, float]] = {
    "normal": (of_draws(lambda r, s: r.normal(size=s)), 0.0),
    "exponential": (of_draws(lambda r, s: r.exponential(1, s)), 1.0),
    "its square": (of_draws(lambda r, s: r.exponential(1, s) ** 2), 2.0),
    "lognormal": (of_draws(lambda r, s: r.lognormal(0, 1, s)), math.exp(0.5)),
    "dropout": (of_draws(lambda r, s: (r.random(s) < 0.01) / 0.01), 1.0),
    "product": (of_draws(lambda r, s: r.normal(size=s) * r.normal(size=s)), 0.0),
    "rare and large": (of_draws(lambda r, s: 5e3 * (r.random(s) < 2e-4)), 1.0),
}


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("name", LAWS)
def test_the_interval_misses_no_more_often_than_it_says(name: str, alpha: float) -> None:
    rows, truth = LAWS[name]
    assert not alarm(misses(rows, truth, alpha), REPEATS, alpha)


def test_without_the_conditions_it_misses_more_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "lacks", lambda *_: Shortfall())
    rows, truth = LAWS["rare and large"]
    assert alarm(misses(rows, truth, 0.01), REPEATS, 0.01)


def test_a_mean_has_students_interval() -> None:
    half = np.random.default_rng(2).normal(size=100)
    rows = np.concatenate([half, -half]) + 3.0  # symmetric: no skewness to widen for
    low, high = LimitSpread(guess=1.0).interval(Sample(rows, DRAWS), 0.01)
    give = float(stats.t.isf(0.005, 199) * rows.std(ddof=1)) / math.sqrt(200)
    assert (low, high) == pytest.approx((3.0 - give, 3.0 + give), rel=1e-9)


def test_skewness_widens_on_its_own_side_and_never_narrows() -> None:
    rows = np.random.default_rng(3).exponential(size=400)
    low, high = LimitSpread(guess=1.0).interval(Sample(rows, DRAWS), 0.05)
    give = float(stats.t.isf(0.025, 399) * rows.std(ddof=1)) / 20
    assert rows.mean() - low == pytest.approx(give, rel=1e-9)
    assert high - rows.mean() > 1.05 * give


@pytest.mark.parametrize("unit", [1e-200, 1e-20, 1e20, 1e200])
def test_the_unit_of_measurement_changes_no_condition(unit: float) -> None:
    rng = np.random.default_rng(8)
    for rows in (rng.exponential(size=200), rng.standard_cauchy(size=200)):
        plain, found = lacks(rows, 0.01), lacks(unit * rows, 0.01)
        assert str(found.unmet) == str(plain.unmet)
        assert found.settles == pytest.approx(plain.settles)


@pytest.mark.parametrize("alpha", [1e-2, 1e-6])
def test_heavy_tails_are_noticed_and_light_ones_pass(alpha: float) -> None:
    rng = np.random.default_rng(11)
    for df in (1.0, 1.5, 2.0):
        for _ in range(10):
            assert (
                lacks((rng.standard_t(df, (256, 256)) ** 2).mean(axis=1), alpha).unmet is not None
            )
    for _ in range(10):
        assert lacks(rng.exponential(size=(256, 256)).mean(axis=1), alpha).unmet is None


def test_an_average_that_cancels_is_looked_at_too() -> None:
    rng = np.random.default_rng(5)
    heavy, light = 1 / rng.random((256, 64)), rng.normal(size=(256, 64))
    rows = np.stack([(heavy + light).mean(axis=1), heavy.mean(axis=1)], axis=1)
    found = shortfall(rows, np.array([1.0, -1.0]), [0, 1], 10**6, 1e-6)
    assert "a few draws carry an average" in str(found.unmet)


def test_few_blocks_and_constants_wait() -> None:
    assert str(lacks(np.ones(63), 0.01).unmet) == "63 of the 64 blocks that an interval takes"
    constant = np.ones((64, 1))
    for draws, enough in ((40_000, False), (50_000, True)):
        found = shortfall(constant, ONE, [0], draws, 0.01, alike=True)
        assert (found.unmet is None) is enough
        assert found.settles == (0.0 if enough else pytest.approx(math.log(100) / 1e-4))


@pytest.mark.parametrize("claim", ["Var(x) <= 1", "Std(x) / E(x) >= 1"])
def test_functions_of_averages_of_code_are_seldom_refuted_where_true(claim: str) -> None:
    """At the very edge of what is claimed, about which nothing is known but the draws."""

    def draw(generator: np.random.Generator, count: int) -> dict[str, Floats]:
        return {"x": generator.exponential(1.0, count)}

    wrong, seeds, alpha = 0, 60, 0.2
    for seed in range(seeds):
        try:
            verify(
                claim,
                sample=draw,
                seed=seed,
                alpha=alpha,
                resolution=0.1,
                undecided="pass",
                max_draws=100_000,
            )
        except ClaimFailedError:
            wrong += 1
    assert not alarm(wrong, seeds, alpha)
