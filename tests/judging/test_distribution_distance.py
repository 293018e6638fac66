"""The distance of distribution functions from counts at cuts, held to scipy's from all draws."""

import numpy as np
import pytest
from scipy import stats

from dropcheck.judging.cells import distance, empirical_bernstein, massart


@pytest.mark.parametrize("seed", range(20))
def test_counts_at_cuts_enclose_the_statistic_of_all_draws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    draws = np.sort(rng.normal(0.1 * (seed % 3), 1, 500))
    cuts = stats.norm.ppf(np.arange(1, 40) / 40)
    shares = np.searchsorted(draws, cuts, side="right") / len(draws)
    found = distance(shares, stats.norm.cdf(cuts), np.zeros(40, dtype=bool))
    statistic = stats.kstest(draws, "norm").statistic
    assert found.seen - 1e-12 <= statistic <= found.most + 1e-12 <= statistic + 2 / 40


@pytest.mark.parametrize("seed", range(20))
def test_two_samples_likewise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = np.sort(rng.normal(size=300)), np.sort(rng.standard_t(3, size=300))
    cuts = np.linspace(-2, 2, 30)
    shares = [np.searchsorted(x, cuts, side="right") / 300 for x in (one, other)]
    found = distance(shares[0], shares[1], np.zeros(31, dtype=bool))
    statistic = stats.ks_2samp(one, other).statistic
    assert found.seen - 1e-12 <= statistic <= found.most + 1e-12


def test_a_cell_with_one_point_leaves_nothing_open() -> None:
    shares, chances = np.array([0.0, 0.48, 0.48, 1.0]), np.array([0.0, 0.5, 0.5, 1.0])
    assert distance(shares, chances, np.ones(5, dtype=bool)).most == pytest.approx(0.02)
    assert distance(shares, chances, np.zeros(5, dtype=bool)).most == pytest.approx(0.52)


def test_massart_bounds_the_distance_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    draws, repetitions, alpha = 200, 4000, 0.05
    uniform = np.sort(rng.random((repetitions, draws)), axis=1)
    places = np.arange(1, draws + 1) / draws
    apart = np.maximum(places - uniform, uniform - places + 1 / draws).max(axis=1)
    beyond = int((apart > massart(draws, alpha)).sum())
    assert stats.binom.sf(beyond - 1, repetitions, alpha) > 1e-6
    assert beyond > repetitions * alpha / 4  # and is nearly the best that there is


@pytest.mark.parametrize("chance", [0.01, 0.1, 0.5])
def test_the_error_of_a_mean_is_exceeded_no_more_often_than_it_says(chance: float) -> None:
    rng = np.random.default_rng(0)
    draws, repetitions, alpha = 400, 20_000, 0.05
    share = rng.binomial(draws, chance, repetitions) / draws
    variance = share * (1 - share) * draws / (draws - 1)
    error = empirical_bernstein(draws, variance, np.array(1.0), alpha)
    for beyond in ((share - chance > error).sum(), (chance - share > error).sum()):
        assert stats.binom.sf(int(beyond) - 1, repetitions, alpha) > 1e-6
    third = (np.abs(share - chance) > error / 3).mean()
    assert third > alpha / 2  # a third of it would not do
