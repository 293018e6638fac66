"""The interval of one average by what is known of its spread, and how wide it is foretold to be.

The rates of misses are judged by the exact binomial test of `trials.alarm`, with a false alarm of
1e-6 each. Beside each promise stands what breaks it, at which the same alarm must ring.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from trials import alarm

from dropcheck.array_types import Floats
from dropcheck.inference.intervals import Spread, catoni_interval, seen_variance

REPEATS = 600
ALPHA = 0.05
BLOCK = 16


def missed(
    spread: Spread, blocks: Floats, mean: float, alpha: float = ALPHA, draws: int = BLOCK
) -> int:
    """How many intervals, each from a row of block means, do not hold the mean."""
    ends = [spread.interval(row, draws, alpha) for row in blocks]
    return sum(not low <= mean <= high for low, high in ends)


def block_means(
    draw: Callable[[np.random.Generator, tuple[int, ...]], Floats],
    rows: int,
    repeats: int = REPEATS,
) -> Floats:
    """Means of blocks of BLOCK draws, [repeats, rows]."""
    rng = np.random.default_rng(0)
    found = [draw(rng, (rows, BLOCK)).mean(axis=1) for _ in range(repeats)]
    return np.stack(found)


def spiked(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Noise with a deviation of 0.1, and 100 once in a thousand draws."""
    found: Floats = rng.normal(0, 0.1, shape) + 100 * (rng.random(shape) < 1e-3)
    return found


SPIKE_MEAN = 0.1
SPIKE_VARIANCE = 0.01 + 1e4 * 1e-3 * (1 - 1e-3)
SPIKE_FOURTH = 1e8 * 1e-3 + 6 * 0.01 * 1e4 * 1e-3 + 3e-4


def lognormal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.lognormal(size=shape)


def uniform(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.random(shape)


def pareto(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    found: Floats = 1 + rng.pareto(1.5, shape)
    return found


PARETO_MOMENT = 4.82  # E|x - 3|^1.25
LOGNORMAL_VARIANCE = math.e * (math.e - 1)
LOGNORMAL_FOURTH = math.e**8 - 4 * math.e**5 + 6 * math.e**3 - 3 * math.e**2

KNOWN = [
    ("exact", lognormal, math.exp(0.5), Spread(exact=lambda n: LOGNORMAL_VARIANCE / n)),
    ("exact, of a spike", spiked, SPIKE_MEAN, Spread(exact=lambda n: SPIKE_VARIANCE / n)),
    (
        "bounds of a spike",
        spiked,
        SPIKE_MEAN,
        Spread(variance=2 * SPIKE_VARIANCE, fourth=2 * SPIKE_FOURTH, guess=0.01),
    ),
    (
        "loose bounds",
        lognormal,
        math.exp(0.5),
        Spread(variance=1e3, fourth=1e4 * LOGNORMAL_FOURTH, centre=1.65, guess=4.7),
    ),
    (
        "a centre that is off",
        lognormal,
        math.exp(0.5),
        Spread(variance=1e3, fourth=1e4 * LOGNORMAL_FOURTH, centre=1.9, guess=0.1),
    ),
    ("bounded", uniform, 0.5, Spread(variance=0.25, fourth=1.0, width=1.0, centre=0.5, guess=0.08)),
    ("without a variance", pareto, 3.0, Spread(order=1.25, moment=PARETO_MOMENT, guess=50.0)),
]


@pytest.mark.parametrize(("name", "draw", "mean", "spread"), KNOWN, ids=lambda one: str(one)[:20])
@pytest.mark.parametrize("rows", [64, 500])
def test_the_mean_is_missed_no_more_often_than_promised(
    name: str,
    draw: Callable[[np.random.Generator, tuple[int, ...]], Floats],
    mean: float,
    spread: Spread,
    rows: int,
) -> None:
    blocks = block_means(draw, rows, REPEATS if name != "loose bounds" or rows < 100 else 300)
    assert not alarm(missed(spread, blocks, mean), len(blocks), ALPHA)


def test_the_moment_of_paretos_law_is_as_stated() -> None:
    """By quadrature, and what lies beyond 10^4 by its leading term, 6 x^(-1/4)."""
    parts = [
        quad(lambda x: abs(x - 3) ** 1.25 * 1.5 * x**-2.5, low, high, limit=500)[0]
        for low, high in ((1, 3), (3, 100), (100, 1e4))
    ]
    assert sum(parts) + 0.6 == pytest.approx(PARETO_MOMENT, rel=0.002)


def test_an_exact_variance_too_small_by_half_is_noticed() -> None:
    """At α = 0.01 it leaves 2.3 standard errors on each side in place of 3.3: 2.1% miss, not 1%."""
    rng = np.random.default_rng(4)
    blocks, alpha = rng.normal(3, 2, (4000, 500)), 0.01
    assert not alarm(missed(Spread(exact=lambda n: 4.0 / n), blocks, 3.0, alpha, 1), 4000, alpha)
    assert alarm(missed(Spread(exact=lambda n: 2.0 / n), blocks, 3.0, alpha, 1), 4000, alpha)


def test_a_fourth_moment_that_leaves_out_the_spike_is_noticed() -> None:
    blocks = block_means(spiked, 64)
    spread = Spread(variance=2 * SPIKE_VARIANCE, fourth=3e-4, guess=0.01)
    assert alarm(missed(spread, blocks, SPIKE_MEAN), REPEATS, ALPHA)


def test_a_moment_too_small_is_noticed() -> None:
    blocks = block_means(pareto, 500)
    assert alarm(missed(Spread(order=1.25, moment=0.3), blocks, 3.0), REPEATS, ALPHA)


# ---- widths --------------------------------------------------------------------------------------


def test_loose_bounds_cost_little_once_there_are_many_draws() -> None:
    draws = 10_000
    values = np.random.default_rng(1).normal(0, 1 / math.sqrt(draws), 1000)
    tight, loose = (
        Spread(variance=k, fourth=3.0 * k**2, guess=1.0).interval(values, draws, 1e-9)
        for k in (1.0, 100.0)
    )
    exact = Spread(exact=lambda n: 1.0 / n).interval(values, draws, 1e-9)
    assert tight[1] - tight[0] < 1.25 * (exact[1] - exact[0])
    assert loose[1] - loose[0] < 1.5 * (exact[1] - exact[0])  # 10 without the blocks' own


@pytest.mark.parametrize("rows", [64, 1000])
@pytest.mark.parametrize(
    "spread",
    [
        Spread(exact=lambda n: 4.0 / n),
        Spread(variance=400.0, fourth=4.8e3, guess=4.0),
        Spread(variance=40.0, fourth=4.8e3, width=20.0, guess=4.0),
        Spread(order=1.5, moment=2.4),
    ],
)
def test_an_interval_is_as_wide_as_foretold(spread: Spread, rows: int) -> None:
    draws, alpha = 500, 1e-6
    rng = np.random.default_rng(3)
    found: list[float] = []
    for _ in range(20):
        low, high = spread.interval(rng.normal(0, 2 / math.sqrt(draws), rows), draws, alpha)
        found.append((high - low) / 2)
    foretold = spread.half_width(rows, draws, alpha)
    rough = 0.3 if spread.order < 2 else 0.1
    assert np.median(found) == pytest.approx(foretold, rel=rough)


def test_without_any_bound_the_interval_is_everything() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    assert Spread(guess=1.0).interval(values, 100, 0.01) == (-math.inf, math.inf)
    assert Spread(guess=1.0).half_width(1000, 100, 0.01) == math.inf


def test_an_exact_variance_is_that_of_catonis_interval() -> None:
    values = np.random.default_rng(0).normal(size=200)
    found = Spread(exact=lambda n: 3.0 / n).interval(values, 3, 1e-6)
    assert found == catoni_interval(values, 1.0, 1.0, 1e-6)


def test_standard_errors_are_those_known_or_guessed() -> None:
    assert Spread(exact=lambda n: 4.0 / n).standard_error(100) == 0.2
    assert Spread(variance=9.0, guess=4.0).standard_error(100) == 0.2
    assert Spread(variance=1.0, guess=4.0).standard_error(100) == 0.1


@pytest.mark.parametrize("values", [[1.0], [], [1e200, -1e200]])
def test_a_variance_that_nothing_shows_is_infinite(values: list[float]) -> None:
    assert seen_variance(np.array(values), 10) == math.inf


def test_a_pilot_that_missed_costs_nothing_once_blocks_are_long() -> None:
    """Its mean is a deviation of its own from the truth, and blocks are as long as it is."""
    draws, seen = 10_000, []
    values = np.random.default_rng(5).normal(0, 1 / math.sqrt(draws), 2000)
    for centre, pilot in ((0.0, math.inf), (5 / math.sqrt(draws), draws)):
        spread = Spread(variance=100.0, fourth=3e4, centre=centre, guess=1.0, pilot=pilot)
        low, high = spread.interval(values, draws, 1e-9)
        seen.append(high - low)
    assert seen[1] < 1.1 * seen[0]
