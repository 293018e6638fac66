"""Draws against scipy.stats, their formulas written by others.

False alarms, over fresh seeds: distribution functions are compared by the inequality of
Dvoretzky, Kiefer and Wolfowitz with Massart's constant (1990), which holds for every law and
sample size, at 1e-9 a comparison, about 200 of them. Counts are judged by exact binomial tests at
1e-9, about 60. Together below 1e-6.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from law_judges import cdf_of, distance_allowed, exact, gap
from law_table import CASES, argument_problem, as_arrays, sample
from numpy.typing import NDArray

from dropcheck.vocabulary.laws import LAWS

Array = NDArray[Any]

DRAWS = 100_000


def draw(name: str, arguments: tuple[Any, ...], seed: int = 0, draws: int = DRAWS) -> Array:
    generator = np.random.default_rng([seed, *name.encode()])
    return sample(name, generator, as_arrays(arguments), (), draws).astype(np.float64)


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_distribution_function(name: str, arguments: tuple[Any, ...]) -> None:
    with np.errstate(all="ignore"):  # scipy's formulas, at the ends of domains
        found = gap(draw(name, arguments), cdf_of(name, arguments))
    assert found <= distance_allowed(DRAWS)


@pytest.mark.parametrize(
    ("name", "arguments", "wrong"),
    [
        ("normal", (0.0, 2.5), (0.0, 2.5**2)),  # the variance taken for sd
        ("normal", (3.0, 1.0), (0.0, 1.0)),
        ("exponential", (0.02,), (1 / 0.02,)),  # the rate taken for the scale
        ("lognormal", (0.0, 1.0), (0.0, 1.1)),
        ("geometric", (0.5,), (0.52,)),
        ("gumbel", (0.0, 1.0), (0.06, 1.0)),
        ("truncated_normal", (0.0, 1.0, 8.0, 9.0), (0.0, 1.0, 8.0, 8.5)),
        ("bernoulli", (0.5,), (0.53,)),
        ("binomial", (10.0, 0.3), (10.0, 0.31)),
    ],
)
def test_distribution_function_can_fail(
    name: str, arguments: tuple[Any, ...], wrong: tuple[Any, ...]
) -> None:
    assert gap(draw(name, wrong), cdf_of(name, arguments)) > distance_allowed(DRAWS)


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_draws_lie_in_the_support_and_at_no_end(name: str, arguments: tuple[Any, ...]) -> None:
    law = LAWS[name]
    low, high = law.support(*arguments)
    draws = draw(name, arguments)
    assert ((draws >= low) & (draws <= high)).all()
    if law.discrete:
        assert (draws == np.floor(draws)).all()
    elif low < high:
        assert ((draws > low) & (draws < high)).all()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("uniform", (1.0, 1.0 + 2**-51)), ("uniform", (1e16, 1e16 + 8)), ("beta", (1e-3, 1e-3)),
        ("beta", (1e-200, 1.0)), ("gamma", (1e-3, 1.0)), ("chi_square", (1e-3,)),
        ("f", (1e-3, 1e-3)), ("weibull", (1e-3, 1.0)), ("lognormal", (-1000.0, 1.0)),
        ("pareto", (1e17, 1.0)), ("triangular", (1.0, 1.0, 1.0 + 2**-51)),
        ("von_mises", (math.pi, 1e12)), ("truncated_normal", (0.0, 1.0, 1e4, math.inf)),
        ("truncated_normal", (0.0, 1.0, 0.0, 1e-300)),
        ("truncated_normal", (0.0, 1e-300, 1e-297, 2e10)),
    ],
)  # fmt: skip
def test_no_end_even_where_rounding_or_underflow_lead_there(
    name: str, arguments: tuple[Any, ...]
) -> None:
    assert argument_problem(name, arguments) is None
    low, high = LAWS[name].support(*arguments)
    draws = draw(name, arguments)
    assert not np.isnan(draws).any()
    assert (draws > low).all()
    assert (draws < high).all() or high == math.inf


@pytest.mark.parametrize(
    ("low", "high"),
    [(8.0, 8.0 + 1e-7), (-1e-9, 2e-9), (2e6, math.inf), (-31.0, -30.5), (100.0, 101.0)],
)
def test_truncated_normal_far_out_and_narrow(low: float, high: float) -> None:
    """Against the exponential law that the tail nears, by numerical integration of the density."""
    draws = draw("truncated_normal", (0.0, 1.0, low, high))
    near, side = (low, 1.0) if low + high > 0 else (high, -1.0)
    width = min(high - low, 60.0 / max(abs(near), 1.0))
    grid = np.linspace(0.0, width, 20_001)
    mass = np.exp(-side * near * grid - grid * grid / 2.0)
    cumulative = np.concatenate([[0.0], np.cumsum((mass[1:] + mass[:-1]) / 2.0)])
    distances = side * (draws - near)
    # points are grid cells: left limits are not told apart
    points = np.sort(distances)
    ours = np.arange(1, DRAWS + 1) / DRAWS
    theirs = np.interp(points, grid, cumulative / cumulative[-1])
    assert np.abs(ours - theirs).max() <= distance_allowed(DRAWS) + 1e-4


CONSTANTS: list[tuple[str, tuple[Any, ...]]] = [
    ("normal", (3.0, 0.0)), ("lognormal", (0.0, 0.0)), ("uniform", (2.0, 2.0)),
    ("exponential", (0.0,)), ("gamma", (1e-3, 0.0)), ("cauchy", (4.0, 0.0)),
    ("laplace", (4.0, 0.0)), ("logistic", (4.0, 0.0)), ("gumbel", (4.0, 0.0)),
    ("weibull", (1e-3, 0.0)), ("rayleigh", (0.0,)), ("pareto", (1e-3, 0.0)),
    ("triangular", (1.0, 1.0, 1.0)), ("truncated_normal", (0.5, 0.0, 0.0, 1.0)),
    ("truncated_normal", (0.5, 2.0, 1.0, 1.0)), ("negative_binomial", (0.0, 0.5)),
    ("hypergeometric", (3.0, 4.0, 7.0)), ("multinomial", (0.0, (0.5, 0.5))),
    ("dirichlet", ((2.0,),)), ("permutation", (1.0,)),
    ("multivariate_normal", ((2.0, 2.0), ((0.0, 0.0), (0.0, 0.0)))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments"), CONSTANTS)
def test_degenerate_laws_give_their_constant(name: str, arguments: tuple[Any, ...]) -> None:
    law, arrays = LAWS[name], as_arrays(arguments)
    shape: tuple[int, ...] = ()
    if law.own_axes is not None:
        shape = law.own_axes(tuple(a.shape[:-1] for a in arrays), arguments)
    draws = sample(name, np.random.default_rng(0), arrays, shape, 1000)
    assert (draws == np.asarray(law.mean(*arguments))[..., None]).all()
    # the same where the argument is an array, half of it degenerate
    if law.own_axes is None:
        mixed = [np.broadcast_to(a, (1000,)) for a in arrays]
        assert (sample(name, np.random.default_rng(0), mixed, (), 1000) == draws).all()


@pytest.mark.parametrize("p", [1e-9, 1.9 / 2**16, 0.3, 1 - 2.5 / 2**16, 1 - 1e-9])
def test_bernoulli_is_exact_in_the_tails(p: float) -> None:
    trials = 2**24
    draws = sample("bernoulli", np.random.default_rng(5), [np.array([p])], (), trials)
    assert draws.dtype == np.bool_
    assert exact(int(draws.sum()), trials, p)


def test_bernoulli_without_the_last_step_is_caught() -> None:
    trials = 2**24
    draws = sample("bernoulli", np.random.default_rng(5), [np.array([1 / 2**16])], (), trials)
    assert not exact(int(draws.sum()), trials, 1.9 / 2**16)


def test_rademacher_bits_are_fair_and_independent() -> None:
    draws = sample("rademacher", np.random.default_rng(6), [], (3,), 2**20 + 5)
    assert set(np.unique(draws)) == {-1.0, 1.0}
    flat = draws.reshape(-1)
    for lag in range(9):  # 0: the sign itself; others: neighbours within a byte and beyond
        product = flat if lag == 0 else flat[lag:] * flat[:-lag]
        assert exact(int((product > 0).sum()), product.size, 0.5)


ONE_SHAPE = [case for case in CASES if case[0] not in ("categorical", "choice")]


@pytest.mark.parametrize(("name", "arguments"), ONE_SHAPE)
def test_shapes_and_repeatability(name: str, arguments: tuple[Any, ...]) -> None:
    arrays = as_arrays(arguments)
    first, second = (
        sample(name, np.random.default_rng(seed), arrays, (2, 3), 50) for seed in (7, 7)
    )
    assert first.shape == (2, 3, 50)
    assert first.dtype == (np.bool_ if name == "bernoulli" else np.float64)
    assert (first == second).all()
    other = sample(name, np.random.default_rng(8), arrays, (2, 3), 50)
    if LAWS[name].constant(*arguments) is None and name != "bernoulli":
        assert (first != other).any()


@pytest.mark.parametrize("name", sorted(LAWS))
def test_no_draws_and_no_elements(name: str) -> None:
    assert sample(name, np.random.default_rng(0), [], (2,), 0).shape == (2, 0)
    assert sample(name, np.random.default_rng(0), [], (0,), 5).shape == (0, 5)


def repeats(pairs: Array) -> int:
    """How many of the quotients of pairs, of shape [2, pairs], came before, or are 1 or -1."""
    first, second = pairs
    ties = np.count_nonzero(np.abs(first) == np.abs(second))
    return int(first.size - np.unique(first / second).size + ties)


@pytest.mark.parametrize("name", ["normal", "lognormal"])
def test_numbers_of_one_draw_neither_tie_nor_share_a_lattice(name: str) -> None:
    """That two of 50,000 quotients are one float64 has a chance below 5e-7."""
    x = sample(name, np.random.default_rng(7), as_arrays((0.0, 1.0)), (2,), 50_000)
    assert repeats(x) == 0


def test_pairs_from_angles_of_float32_are_told() -> None:
    """Box and Muller's pairs, their sines and cosines taken in float32."""
    u, turn = np.random.default_rng(7).random((2, 50_000))
    radius, angle = np.sqrt(-2 * np.log(1 - u)), (2 * math.pi * turn).astype(np.float32)
    assert repeats(np.stack([radius * np.sin(angle), radius * np.cos(angle)])) > 0


@pytest.mark.parametrize("name", ["uniform", "normal", "binomial", "categorical", "permutation"])
def test_draws_that_come_first_in_memory_have_the_arguments_of_their_places(name: str) -> None:
    """Each element of each draw has arguments that leave it no more than one other value."""
    shape, draws = (3, 2), 5
    of_each = 10.0 * np.arange(30).reshape(*shape, draws)
    of_row, one = np.array([[100.0], [200.0]]), np.array([1e-3])
    arguments, low, high = {
        "uniform": ([of_each, of_each + 1.0], of_each, of_each + 1.0),
        "normal": ([of_row, one], of_row - 0.1, of_row + 0.1),  # 100 standard deviations
        "binomial": ([of_each, np.array([1.0])], of_each, of_each),
        "categorical": ([np.array([[0.0], [1.0]])], np.array([1.0]), np.array([1.0])),
        "permutation": ([np.array([2.0])], np.array([0.0]), np.array([1.0])),
    }[name]
    law, rng = LAWS[name], np.random.default_rng(0)
    found = law.sample(rng, arguments, shape, draws, draws_first=True)
    assert found.shape == (*shape, draws)
    assert ((low <= found) & (found <= high)).all()
    listed = name in ("categorical", "permutation")  # whose draws are more than single numbers
    assert found.transpose(-1, 0, 1).flags.c_contiguous is not listed
