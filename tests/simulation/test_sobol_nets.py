"""Nets of points: Sobol's points, scrambled at random, as draws of a program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc
from trials import compiled

from dropcheck.simulation import Clip, stream
from dropcheck.simulation.steps import MOST_NUMBERS, at_points, direction_numbers, net_points
from dropcheck.vocabulary.laws import LAWS

UNIT = 2.0**-64


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


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


@pytest.mark.parametrize("size", [4, 32, 128])
def test_a_net_has_a_point_in_every_interval_and_in_every_rectangle_of_two(size: int) -> None:
    """Scrambling keeps them: the first two coordinates of Sobol's points are a (0, m, 2)-net."""
    points = net_points(generator(), MOST_NUMBERS, size, 50) * UNIT
    for net in np.split(points, 50, axis=1):
        assert all(len(set((own * size).astype(int))) == size for own in net)
        for first in range(size.bit_length()):
            across = 1 << first
            cells = (net[0] * across).astype(int) * size + (net[1] * (size // across)).astype(int)
            assert len(set(cells)) == size


def test_each_point_is_uniform_and_nets_are_independent() -> None:
    """Chi-square tests of the first digits, at a false-alarm rate of 1e-8 each."""
    nets, size = 20_000, 8
    points = net_points(generator(), 3, size, nets).reshape(3, nets, size)
    for coordinate in points:
        for place in range(size):
            counts = np.bincount((coordinate[:, place] >> np.uint64(58)).astype(int), minlength=64)
            assert stats.chisquare(counts).pvalue > 1e-8
        low = (coordinate[:, 0] >> np.uint64(60)).astype(int)
        pairs = np.bincount(low[::2] * 16 + low[1::2], minlength=256)
        assert stats.chisquare(pairs).pvalue > 1e-8
    together = (points[0, :, 0] >> np.uint64(60)).astype(int) * 16
    together += (points[1, :, 5] >> np.uint64(60)).astype(int)
    assert stats.chisquare(np.bincount(together, minlength=256)).pvalue > 1e-8


def test_digits_beyond_those_of_the_net_are_those_of_a_uniform_number() -> None:
    points = net_points(generator(), 2, 16, 5_000)
    for own in points:
        last = np.bincount((own & np.uint64(63)).astype(int), minlength=64)
        assert stats.chisquare(last).pvalue > 1e-8


def test_values_are_quantiles_from_the_nearer_end() -> None:
    points = np.array([0, 1 << 62, 3 << 62, 2**64 - 1], dtype=np.uint64)
    normal = at_points(LAWS["normal"], [np.array([1.0]), np.array([2.0])], points)
    far = stats.norm.isf(2.0**-65)
    expected = 1 + 2 * np.array([-far, stats.norm.ppf(0.25), stats.norm.ppf(0.75), far])
    assert normal == pytest.approx(expected, rel=1e-12)
    truths = at_points(LAWS["bernoulli"], [np.array([0.3])], points)
    assert truths.dtype == bool
    assert truths.tolist() == [False, False, True, True]


def test_random_arguments_go_with_their_points() -> None:
    points = net_points(generator(), 1, 64, 4)
    scales = generator(1).random((1, 256)) + 0.5
    drawn = at_points(LAWS["laplace"], [np.array([0.0]), scales], points)
    levels = (points + 0.5) * UNIT
    assert drawn == pytest.approx(stats.laplace.ppf(levels, scale=scales), rel=1e-6)


def test_a_program_in_nets_has_the_averages_of_the_model() -> None:
    """Mean, square and a random scale: within six standard errors of 2000 nets."""
    case = compiled("s ~ uniform(1, 2); x ~ normal(0, s)[2]; t = x[0] + x[1] ** 2", "E(t) == 0")
    program = case.program.in_nets(16).in_blocks_of(16, 16)
    sums = np.concatenate(
        [program.span(stream(0, "nets", 0, k), program.origin, k).sums for k in range(8)]
    )
    means = sums[:, 0] / 16
    truth = 7 / 3  # E s²
    assert len(means) == 8 * program.span_blocks
    error = means.std(ddof=1) / np.sqrt(len(means))
    assert abs(means.mean() - truth) < 6 * error


def test_what_is_kept_of_a_net_is_its_deviation_cut_off_and_its_square() -> None:
    case = compiled("x ~ uniform(0, 1); y ~ uniform(0, 1)", "E(exp(x * y)) == 1")
    program = case.program.in_nets(8)
    columns = tuple(range(len(program.terms)))
    clip = Clip(
        columns=columns,
        weights=(1.0,) * len(columns),
        centre=1.3,
        below=0.02,
        above=0.01,
    )
    single = program.in_blocks_of(8, 4096)
    nets = single.span(stream(0, "a", 0, 0), program.origin, 0).sums.sum(axis=1) / 8
    kept = replace(program.in_blocks_of(64, 4096), clips=(clip,))
    sums = kept.span(stream(0, "a", 0, 0), program.origin, 0).sums
    off = np.clip(nets - 1.3, -0.02, 0.01).reshape(-1, 8)
    assert all(some.any() for some in (off == -0.02, off == 0.01, abs(off) < 0.01))
    assert sums[:, -2] == pytest.approx(off.sum(axis=1))
    assert sums[:, -1] == pytest.approx((off**2).sum(axis=1))


@pytest.mark.parametrize(
    ("model", "possible"),
    [
        ("x ~ normal(0, 1)[10]", True),
        ("x ~ normal(0, 1)[11]", False),  # more numbers than there are coordinates
        ("x ~ categorical([0.5, 0.5])", False),  # an argument that is a list
        ("x ~ dirichlet([1, 2])", False),  # draws that are vectors
        ("y ~ gamma(2, 1); x ~ poisson(y)", True),
    ],
)
def test_which_programs_can_be_in_nets(model: str, possible: bool) -> None:
    whole = "normal" in model or "dirichlet" in model
    program = compiled(model, "E(mean(x)) == 0" if whole else "E(x) == 0").program
    assert program.can_be_in_nets is possible
