"""Draws whose arguments are random or lists, and the check of such arguments.

False alarms, over fresh seeds: each comparison is made at 1e-9 (see `law_judges`), and there are
about 120 of them: below 1e-6 together.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from law_judges import distance_allowed, exact, gap, von_mises_cdf
from law_table import CASES, as_arrays, sample, twin
from numpy.typing import NDArray
from scipy import stats

from dropcheck.vocabulary.domains import argument_problem
from dropcheck.vocabulary.laws import LAWS

Array = NDArray[Any]

RANDOM_ARGUMENTS: dict[str, tuple[tuple[float, float], ...]] = {
    "normal": ((-3, 3), (0.1, 2)), "lognormal": ((-3, 3), (0.1, 2)), "uniform": ((-3, 3), (3, 5)),
    "exponential": ((0.1, 3),), "gamma": ((0.2, 3), (0.1, 4)), "chi_square": ((0.5, 9),),
    "beta": ((0.2, 5), (0.2, 5)), "student_t": ((0.5, 9),), "f": ((0.5, 9), (0.5, 9)),
    "cauchy": ((-3, 3), (0.1, 2)), "laplace": ((-3, 3), (0.1, 2)), "logistic": ((-3, 3), (0.1, 2)),
    "gumbel": ((-3, 3), (0.1, 2)), "weibull": ((0.5, 5), (0.1, 2)), "rayleigh": ((0.1, 3),),
    "pareto": ((0.5, 5), (0.1, 2)), "triangular": ((-2, 0), (0, 1), (1, 2)),
    "truncated_normal": ((-1, 1), (0.1, 2), (-40, 1), (1, 3)),
    "bernoulli": ((0, 1),), "binomial": ((0, 9), (0, 1)), "geometric": ((0.05, 1),),
    "negative_binomial": ((0.5, 9), (0.1, 1)), "poisson": ((0, 9),),
    "hypergeometric": ((2, 9), (2, 9), (0, 4)), "discrete_uniform": ((-9, 0), (0, 9)),
}  # fmt: skip
WHOLE = {("binomial", 0), ("discrete_uniform", 0), ("discrete_uniform", 1)} | {
    ("hypergeometric", index) for index in range(3)
}


def random_arguments(name: str, generator: np.random.Generator, draws: int) -> list[Array]:
    arrays = []
    for index, (low, high) in enumerate(RANDOM_ARGUMENTS[name]):
        values = generator.uniform(low, high, size=draws)
        arrays.append(np.round(values) if (name, index) in WHOLE else values)
    return arrays


@pytest.mark.parametrize("name", RANDOM_ARGUMENTS)
def test_random_arguments_are_met_draw_by_draw(name: str) -> None:
    """The probability integral transform is uniform, whatever the arguments (Rosenblatt 1952)."""
    generator = np.random.default_rng([9, *name.encode()])
    draws = 20_000
    arguments = random_arguments(name, generator, draws)
    assert argument_problem(LAWS[name].parameters, arguments) is None
    x = sample(name, generator, arguments, (), draws).astype(np.float64)
    law = twin(name, tuple(arguments))
    if LAWS[name].discrete:  # an atom is spread over its share
        uniform = law.cdf(x) - generator.uniform(size=draws) * law.pmf(x)
    else:
        uniform = law.cdf(x)
    assert gap(uniform, stats.uniform.cdf) <= distance_allowed(draws)
    # and arguments met in another order would be seen, but where the law hardly depends on them
    if name not in ("student_t", "f"):
        shuffled = twin(name, tuple(np.roll(a, 1) for a in arguments))
        assert gap(shuffled.cdf(x), stats.uniform.cdf) > distance_allowed(draws)


def test_von_mises_with_random_arguments() -> None:
    draws = 20_000
    mu = np.where(np.arange(draws) % 2, 1.0, -1.0)
    kappa = np.where(np.arange(draws) % 2, 0.5, 20.0)
    x = sample("von_mises", np.random.default_rng(1), [mu, kappa], (), draws)
    for start, location, concentration in ((0, -1.0, 20.0), (1, 1.0, 0.5)):
        part = x[start::2]
        assert gap(part, von_mises_cdf(concentration, location)) <= distance_allowed(part.size)


def test_arguments_broadcast_over_the_shape() -> None:
    mean = np.array([[0.0], [100.0]])  # fixed, of shape [2]
    sd = np.linspace(0.1, 1.0, 500)  # random, a number a draw
    x = sample("normal", np.random.default_rng(2), [mean, sd], (3, 2), 500)
    assert x.shape == (3, 2, 500)
    assert (np.abs(x[:, 0]) < 20).all()
    assert (np.abs(x[:, 1] - 100) < 20).all()
    assert np.unique(x).size == x.size


def test_categorical_with_random_probabilities() -> None:
    draws = 40_000
    p = np.tile([[0.1, 0.0], [0.0, 0.7], [0.9, 0.3], [0.0, 0.0]], draws // 2)
    x = sample("categorical", np.random.default_rng(3), [p], (2,), draws)
    for parity, outcomes in ((0, {0.0: 0.1, 2.0: 0.9}), (1, {1.0: 0.7, 2.0: 0.3})):
        part = x[:, parity::2]
        assert set(np.unique(part)) == set(outcomes)
        for value, share in outcomes.items():
            assert exact(int((part == value).sum()), part.size, share)


def test_choice_among_random_values() -> None:
    draws = 10_000
    values = np.stack([np.arange(draws), -1.0 - np.arange(draws)])
    x = sample("choice", np.random.default_rng(4), [values], (2,), draws)
    assert ((x == values[0]) | (x == values[1])).all()
    assert exact(int((x == values[0]).sum()), x.size, 0.5)


def test_permutations_are_equally_likely() -> None:
    draws = 48_000
    x = sample("permutation", np.random.default_rng(5), [np.array([4.0])], (4,), draws)
    codes = (x * (4.0 ** np.arange(4))[:, None]).sum(axis=0)
    for order in itertools.permutations(range(4)):
        code = sum(value * 4**place for place, value in enumerate(order))
        assert exact(int((codes == code).sum()), draws, 1 / 24)


@pytest.mark.parametrize("random", [False, True])
def test_multinomial_has_binomial_counts(random: bool) -> None:
    draws = 50_000
    p = np.array([0.2, 0.5, 0.3])
    n = np.where(np.arange(draws) % 2, 6.0, 3.0) if random else np.array([6.0])
    x = sample(
        "multinomial",
        np.random.default_rng(6),
        [n, p[:, None]],
        (
            2,
            3,
        ),
        draws,
    )
    assert x.shape == (2, 3, draws)
    assert (x.sum(axis=1) == n).all()
    for index, share in enumerate(p):
        part = x[:, index, 1::2].reshape(-1)
        assert gap(part, stats.binom(6, share).cdf) <= distance_allowed(part.size)


@pytest.mark.parametrize("a", [(2.0, 3.0, 1.0), (0.01, 0.02, 0.5), (0.5, 0.5)])
@pytest.mark.parametrize("random", [False, True])
def test_dirichlet_has_beta_shares(a: tuple[float, ...], random: bool) -> None:
    draws = 20_000
    column = np.array(a)[:, None]
    argument = np.repeat(column, draws, axis=1) if random else column
    x = sample("dirichlet", np.random.default_rng(7), [argument], (len(a),), draws)
    assert np.abs(x.sum(axis=0) - 1).max() < 1e-12
    assert ((x > 0) & (x < 1)).all()
    for share, own in zip(x, a, strict=True):
        # below 1e-300 draws underflow to the smallest number
        cdf = stats.beta(own, sum(a) - own).cdf
        points = np.sort(share)
        kept = (points > 1e-300) & (points < 1 - 1e-15)
        upto = np.arange(1, draws + 1)[kept] / draws
        assert np.abs(cdf(points[kept]) - upto).max() <= distance_allowed(draws) + 1 / draws


COVARIANCES = {
    "full": np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]]),
    "singular": np.array([[1.0, 1.0, 2.0], [1.0, 1.0, 2.0], [2.0, 2.0, 4.0]]),
}


@pytest.mark.parametrize("kind", COVARIANCES)
@pytest.mark.parametrize("random", [False, True])
def test_multivariate_normal_is_normal_in_every_direction(kind: str, random: bool) -> None:
    draws = 50_000
    cov, mean = COVARIANCES[kind], np.array([1.0, -2.0, 0.0])
    arguments = [mean[:, None], cov[:, :, None]]
    if random:
        arguments = [np.repeat(a, draws, axis=-1) for a in arguments]
    assert argument_problem(LAWS["multivariate_normal"].parameters, arguments) is None
    x = sample("multivariate_normal", np.random.default_rng(8), arguments, (2, 3), draws)
    assert x.shape == (2, 3, draws)
    for direction in ((1.0, 0.0, 0.0), (0.0, 1.0, 1.0), (1.0, -1.0, 0.5), (1.0, 2.0, -1.0)):
        weights = np.array(direction)
        projected = np.einsum("i,sin->sn", weights, x).reshape(-1)
        law = stats.norm(weights @ mean, math.sqrt(weights @ cov @ weights))
        assert gap(projected, law.cdf) <= distance_allowed(projected.size)


def test_multivariate_normal_with_an_own_matrix_a_draw() -> None:
    draws = 1000
    sizes = np.linspace(0.0, 1e6, draws)
    cov = np.array([[1.0, 1.0], [1.0, 1.0]])[:, :, None] * sizes
    x = sample(
        "multivariate_normal", np.random.default_rng(9), [np.zeros((2, 1)), cov], (2,), draws
    )
    assert (x[:, 0] == 0).all()
    assert np.abs(x[0] - x[1]).max() < 1e-3
    assert gap(x[0, 1:] / np.sqrt(sizes[1:]), stats.norm.cdf) <= distance_allowed(draws - 1)


BAD: list[tuple[str, list[Any], str]] = [
    ("bernoulli", [[0.2, 1.5, -1.0]], "p must satisfy 0 <= p <= 1, and is 1.5"),
    ("normal", [[0.0, math.inf], [1.0]], "mean must be finite, and is inf"),
    ("normal", [[0.0], [1.0, -2.0]], "sd must satisfy sd >= 0, and is -2"),
    ("binomial", [[1.0, 2.5], [0.5]], "n must be a whole number, and is 2.5"),
    (
        "uniform",
        [[0.0], [1.0, -1.0]],
        "low <= high is required, and it does not hold for low = 0, high = -1",
    ),
    (
        "uniform",
        [[[0.0, 0.0], [5.0, 0.0]], [1.0, 2.0]],
        "low <= high is required, and it does not hold for low = 5, high = 1",
    ),
    (
        "truncated_normal",
        [[0.0], [1.0, 0.0], [1.0], [2.0]],
        "where sd is 0, low <= mean <= high is required, and it does not hold for "
        "mean = 0, sd = 0, low = 1, high = 2",
    ),
    (
        "hypergeometric",
        [[2.0], [2.0], [4.0, 5.0]],
        "drawn <= good + bad is required, and it does not hold for good = 2, bad = 2, drawn = 5",
    ),
    (
        "categorical",
        [[[0.5, 0.5], [0.5, 0.25]]],
        "the probabilities p must sum to 1, and sum to 0.75",
    ),
    ("dirichlet", [[[0.5, 0.5], [0.5, 0.0]]], "a must satisfy a > 0, and holds 0"),
    (
        "multivariate_normal",
        [np.zeros((2, 1)), np.stack([np.eye(2), [[1.0, 2.0], [2.0, 1.0]]], axis=-1)],
        "cov must be positive semi-definite, and has the eigenvalue -1",
    ),
    (
        "multivariate_normal",
        [np.zeros((2, 1)), np.stack([np.eye(2), [[1.0, 0.5], [0.4, 1.0]]], axis=-1)],
        "cov must be symmetric, and holds 0.4 at [1, 0] but 0.5 at [0, 1]",
    ),
]


@pytest.mark.parametrize(("name", "arguments", "message"), BAD)
def test_random_arguments_outside_their_domain(
    name: str, arguments: list[Any], message: str
) -> None:
    arrays = [np.asarray(a, dtype=np.float64) for a in arguments]
    assert argument_problem(LAWS[name].parameters, arrays) == message


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_checks_of_fixed_and_of_random_arguments_agree(
    name: str, arguments: tuple[Any, ...]
) -> None:
    good = as_arrays(arguments)
    assert argument_problem(LAWS[name].parameters, good) is None
    for index, value in enumerate(arguments):
        if isinstance(value, tuple):
            continue
        for other in (-1.0, 0.0, 0.5, 2.0, 1e17, math.nan, math.inf):
            bad = as_arrays((*arguments[:index], other, *arguments[index + 1 :]))
            random = [np.concatenate(pair, axis=-1) for pair in zip(good, bad, strict=True)]
            problem = argument_problem(LAWS[name].parameters, bad)
            if problem is not None and "begin within" in problem:
                problem = None  # few random intervals are so far out, and they may be drawn
            assert argument_problem(LAWS[name].parameters, random) == problem
