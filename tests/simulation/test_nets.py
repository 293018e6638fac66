"""Nets of points: Sobol's points, scrambled at random, as draws of a program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc
from trials import compiled

from dropcheck.simulation import stream
from dropcheck.simulation.steps import MOST_NUMBERS, at_points, direction_numbers, net_points
from dropcheck.vocabulary.laws import LAWS

UNIT = 2.0**-64


def test_without_scrambling_they_are_the_points_of_scipy() -> None:
    """To the last bit, though in another order."""
    points = np.zeros((MOST_NUMBERS, 1024), dtype=np.uint64)
    for coordinate, own in enumerate(points):
        for level, number in enumerate(direction_numbers(coordinate, 10)):
            half = 1 << level
            own[half : 2 * half] = own[:half] ^ np.uint64(number << (63 - level))
    theirs = qmc.Sobol(MOST_NUMBERS, scramble=False).random_base2(10).T
    ours = points * UNIT
    assert np.array_equal(ours[:, np.lexsort(ours)], theirs[:, np.lexsort(theirs)])


@pytest.mark.parametrize("size", [4, 128])
def test_a_net_has_a_point_in_every_interval_and_in_every_rectangle_of_two(size: int) -> None:
    """Scrambling keeps them: the first two coordinates of Sobol's points are a (0, m, 2)-net."""
    points = net_points(np.random.default_rng(0), MOST_NUMBERS, size, 20) * UNIT
    for net in np.split(points, 20, axis=1):
        assert all(len(set((own * size).astype(int))) == size for own in net)
        for first in range(size.bit_length()):
            across = 1 << first
            cells = (net[0] * across).astype(int) * size + (net[1] * (size // across)).astype(int)
            assert len(set(cells)) == size


def test_each_point_is_uniform_and_nets_are_independent() -> None:
    """Chi-square tests of the first digits and the last, at a false-alarm rate of 1e-8 each."""
    nets, size = 20_000, 8
    points = net_points(np.random.default_rng(0), 3, size, nets).reshape(3, nets, size)
    first = (points >> np.uint64(60)).astype(int)
    tables = [np.bincount(own[:, place], minlength=16) for own in first for place in range(size)]
    tables += [np.bincount((own & np.uint64(63)).astype(int).ravel()) for own in points]
    tables += [np.bincount(own[::2, 0] * 16 + own[1::2, 0], minlength=256) for own in first]
    tables += [np.bincount(first[0, :, 0] * 16 + first[1, :, 5], minlength=256)]
    assert min(stats.chisquare(one).pvalue for one in tables) > 1e-8


def test_values_are_quantiles_from_the_nearer_end() -> None:
    points = np.array([0, 1 << 62, 3 << 62, 2**64 - 1], dtype=np.uint64)
    normal = at_points(LAWS["normal"], [np.array([1.0]), np.array([2.0])], points)
    far = stats.norm.isf(2.0**-65)
    expected = 1 + 2 * np.array([-far, stats.norm.ppf(0.25), stats.norm.ppf(0.75), far])
    assert normal == pytest.approx(expected, rel=1e-12)
    truths = at_points(LAWS["bernoulli"], [np.array([0.3])], points)
    assert truths.tolist() == [False, False, True, True]
    scales = np.random.default_rng(1).random(4) + 0.5  # random arguments go with their points
    drawn = at_points(LAWS["laplace"], [np.array([0.0]), scales], points[1:3].repeat(2))
    assert drawn == pytest.approx(stats.laplace.ppf([0.25, 0.25, 0.75, 0.75], scale=scales))


def test_a_program_in_nets_has_the_averages_of_the_model() -> None:
    """Mean, square and a random scale: within six standard errors of 2000 nets."""
    case = compiled("s ~ uniform(1, 2); x ~ normal(0, s)[2]; t = x[0] + x[1] ** 2", "E(t) == 0")
    program = case.program.in_nets(16).in_blocks_of(16, 16)
    spans = [program.span(stream(0, "nets", 0, k), program.origin, k).sums for k in range(8)]
    means = np.concatenate(spans)[:, 0] / 16
    error = means.std(ddof=1) / np.sqrt(len(means))
    assert abs(means.mean() - 7 / 3) < 6 * error  # E s²
    assert not compiled("x ~ dirichlet([1, 2])", "E(mean(x)) == 0").program.can_be_in_nets
