"""Densities against scipy.stats; nothing here is random but the points, which are seeded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from law_table import CASES, as_arrays, density, log_density, sample, twin
from numpy.typing import NDArray
from scipy import integrate, stats

from dropcheck.vocabulary.laws import LAWS

Array = NDArray[Any]

CLOSE = 1e-9  # relative, and absolute near a logarithm of 0


def points_of(name: str, arguments: tuple[Any, ...]) -> Array:
    """Draws of the law, points about them, and points that most laws do not reach."""
    generator = np.random.default_rng([1, *name.encode()])
    draws = sample(name, generator, as_arrays(arguments), (), 200).astype(np.float64)
    if LAWS[name].discrete:
        around = [-1.0, 0.0, 1.0, 2.0, 3.0, 7.0, 0.5, 1e6]
    else:
        around = [-4.0, -1.0, 0.25, 0.75, 1.5, 4.0, 33.0]
    return np.concatenate([draws, around])


def theirs_at(name: str, arguments: tuple[Any, ...], x: Array) -> Array:
    law = twin(name, arguments)
    with np.errstate(all="ignore"):
        return np.asarray(law.logpmf(x) if LAWS[name].discrete else law.logpdf(x))


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_log_density_agrees_with_scipy(name: str, arguments: tuple[Any, ...]) -> None:
    x = points_of(name, arguments)
    if name == "von_mises":  # scipy goes on round the circle
        x = x[np.abs(x) <= math.pi]
    ours = log_density(name, as_arrays(arguments), x)
    theirs = theirs_at(name, arguments, x)
    assert ours.shape == x.shape
    assert np.isfinite(ours[:200]).all()
    np.testing.assert_allclose(ours, theirs, rtol=CLOSE, atol=CLOSE)
    np.testing.assert_allclose(density(name, as_arrays(arguments), x), np.exp(ours), rtol=1e-15)


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_the_log_density_at_a_number_is_a_number(name: str, arguments: tuple[Any, ...]) -> None:
    law = LAWS[name]
    if law.own_axes is None and not any(parameter.axes for parameter in law.parameters):
        with np.errstate(all="ignore"):
            found = law.log_density_inside(np.float64(0.5), *map(np.float64, arguments))
        assert np.shape(found) == ()


@pytest.mark.parametrize(
    ("name", "arguments", "outside"),
    [
        ("uniform", (0.0, 1.0), [-0.1, 1.1, math.inf]),
        ("exponential", (1.0,), [-1e-300, -5.0, math.inf, -math.inf]),
        ("lognormal", (0.0, 1.0), [0.0, -1.0]), ("beta", (2.0, 2.0), [0.0, 1.0, -0.5, 1.5]),
        ("pareto", (2.0, 3.0), [2.999, -4.0]), ("von_mises", (0.0, 1.0), [3.2, -3.2]),
        ("truncated_normal", (0.0, 1.0, -1.0, 2.0), [-1.1, 2.1]),
        ("triangular", (0.0, 1.0, 2.0), [-0.1, 2.1, 0.0, 2.0]),
        ("normal", (0.0, 1.0), [math.inf, -math.inf]), ("student_t", (1.0,), [math.inf]),
        ("bernoulli", (0.5,), [0.5, -1.0, 2.0]), ("bernoulli", (0.0,), [1.0]),
        ("rademacher", (), [0.0, 0.5, 2.0]), ("poisson", (3.0,), [-1.0, 0.5, math.inf]),
        ("poisson", (0.0,), [1.0]), ("geometric", (0.5,), [0.0]),
        ("negative_binomial", (0.0, 0.5), [1.0]),
        ("categorical", ((0.5, 0.0, 0.5),), [1.0, 3.0, -1.0, 0.5]),
        ("choice", ((0.5, 2.5),), [0.0, 2.0]), ("hypergeometric", (2.0, 3.0, 4.0), [0.0, 3.0]),
        ("discrete_uniform", (1.0, 6.0), [0.0, 7.0, 1.5]),
    ],
)  # fmt: skip
def test_no_density_outside_the_support(
    name: str, arguments: tuple[Any, ...], outside: list[float]
) -> None:
    x = np.array(outside)
    assert (density(name, as_arrays(arguments), x) == 0).all()
    assert (log_density(name, as_arrays(arguments), x) == -math.inf).all()


@pytest.mark.parametrize(
    ("name", "arguments", "x"),
    [
        ("gamma", (2.0, 1e-3), 1.7e308),
        ("f", (3000.0, 4000.0), 1.7e308),
        ("weibull", (1.5, 1e-3), 1.7e308),
        ("rayleigh", (1e-3,), 1.7e308),
        ("gumbel", (0.0, 1e-3), -1.7e308),
    ],
)
def test_no_density_is_unknown_far_out(name: str, arguments: tuple[Any, ...], x: float) -> None:
    (value,) = log_density(name, as_arrays(arguments), np.array([x]))
    assert value < -700  # less than the logarithm of any float


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_nan_is_passed_on(name: str, arguments: tuple[Any, ...]) -> None:
    assert np.isnan(log_density(name, as_arrays(arguments), np.array([math.nan]))).all()


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("bernoulli", (1.0,), 1.0),
        ("binomial", (0.0, 0.5), 0.0),
        ("binomial", (4.0, 1.0), 4.0),
        ("geometric", (1.0,), 1.0),
        ("negative_binomial", (0.0, 0.5), 0.0),
        ("negative_binomial", (2.0, 1.0), 0.0),
        ("poisson", (0.0,), 0.0),
        ("hypergeometric", (3.0, 0.0, 2.0), 2.0),
        ("discrete_uniform", (4.0, 4.0), 4.0),
        ("categorical", ((0.0, 1.0),), 1.0),
        ("choice", ((2.5, 2.5),), 2.5),
    ],
)
def test_a_discrete_constant_has_mass_one(
    name: str, arguments: tuple[Any, ...], value: float
) -> None:
    found = density(name, as_arrays(arguments), np.array([value]))
    assert found == pytest.approx([1.0], rel=1e-12)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("normal", (0.0, 0.0)),
        ("uniform", (1.0, 1.0)),
        ("exponential", (0.0,)),
        ("gamma", (1.0, 0.0)),
        ("pareto", (1.0, 0.0)),
        ("triangular", (1.0, 1.0, 1.0)),
        ("truncated_normal", (0.5, 0.0, 0.0, 1.0)),
        ("truncated_normal", (0.5, 1.0, 1.0, 1.0)),
    ],
)
def test_a_continuous_constant_has_no_density(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="is a constant, and has no density"):
        log_density(name, as_arrays(arguments), np.array([1.0]))


def test_vector_constants_have_no_density() -> None:
    singular = [np.zeros((2, 1)), np.ones((2, 2, 1))]
    with pytest.raises(ValueError, match="cov is singular"):
        log_density("multivariate_normal", singular, np.zeros((2, 1)))
    with pytest.raises(ValueError, match="one share"):
        log_density("dirichlet", [np.ones((1, 1))], np.ones((1, 1)))


@pytest.mark.parametrize(
    "z", [(8.0, 9.0), (30.0, 31.0), (1e4, math.inf), (0.0, 1e-9), (-1.0, 1e-7)]
)
def test_truncated_normal_density_integrates_to_one(z: tuple[float, float]) -> None:
    low, high = z
    width = min(high - low, 50.0 / max(low, 1.0))
    mass, _ = integrate.quad(
        lambda t: density(
            "truncated_normal", as_arrays((0.0, 1.0, low, high)), np.array([low + t])
        )[0],
        0.0,
        width,
        epsabs=0.0,
    )
    assert mass == pytest.approx(1.0, rel=1e-6)


def test_arguments_and_points_broadcast() -> None:
    generator = np.random.default_rng(3)
    mean, sd = generator.normal(size=(3, 1)), generator.uniform(1, 2, size=50)
    x = generator.normal(size=(2, 3, 50))
    ours = log_density("normal", [mean, sd], x)
    assert ours.shape == (2, 3, 50)
    np.testing.assert_allclose(ours, stats.norm(mean, sd).logpdf(x), rtol=CLOSE)


def test_categorical_with_random_probabilities() -> None:
    p = np.array([[0.25, 0.5], [0.75, 0.5]])
    ours = density("categorical", [p], np.array([[0.0, 0.0], [1.0, 1.0]]))
    np.testing.assert_allclose(ours, [[0.25, 0.5], [0.75, 0.5]])
    fixed = density("categorical", [p[:, :1]], np.array([[0.0, 1.0, 1.0]]))
    np.testing.assert_allclose(fixed, [[0.25, 0.75, 0.75]])


@pytest.mark.parametrize("random", [False, True])
def test_multivariate_normal_agrees_with_scipy(random: bool) -> None:
    generator = np.random.default_rng(4)
    mean = np.array([1.0, -2.0, 0.0])
    cov = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])
    x = generator.normal(size=(2, 3, 40))
    arguments = [mean[:, None], cov[:, :, None]]
    if random:
        arguments = [np.repeat(a, 40, axis=-1) for a in arguments]
    ours = log_density("multivariate_normal", arguments, x)
    theirs = stats.multivariate_normal(mean, cov).logpdf(np.moveaxis(x, 1, -1))
    np.testing.assert_allclose(ours, theirs, rtol=CLOSE)


def test_multivariate_normal_with_an_own_matrix_a_draw() -> None:
    cov = np.stack([np.eye(2), np.array([[2.0, 0.5], [0.5, 1.0]])], axis=-1)
    x = np.array([[0.3, -1.0], [0.7, 2.0]])
    ours = log_density("multivariate_normal", [np.zeros((2, 1)), cov], x)
    for index in range(2):
        theirs = stats.multivariate_normal([0, 0], cov[..., index]).logpdf(x[:, index])
        assert ours[index] == pytest.approx(theirs, rel=CLOSE)


def test_dirichlet_agrees_with_scipy() -> None:
    a = np.array([0.5, 2.0, 3.0])
    x = np.random.default_rng(5).dirichlet([1.0, 1.0, 1.0], size=30).T
    ours = log_density("dirichlet", [a[:, None]], x)
    np.testing.assert_allclose(ours, stats.dirichlet.logpdf(x, a), rtol=CLOSE)
    outside = np.array([[0.5, -0.1], [0.6, 0.5], [0.1, 0.6]])
    assert (density("dirichlet", [a[:, None]], outside) == 0).all()


def test_multinomial_agrees_with_scipy() -> None:
    p = np.array([0.2, 0.5, 0.3])
    generator = np.random.default_rng(6)
    x = generator.multinomial(8, p, size=30)
    ours = log_density("multinomial", [np.array([8.0]), p[:, None]], x.T.astype(np.float64))
    np.testing.assert_allclose(ours, stats.multinomial(8, p).logpmf(x), rtol=CLOSE)
    outside = np.array([[8.0, 7.5, -1.0], [1.0, 0.5, 9.0], [0.0, 0.0, 0.0]])
    assert (density("multinomial", [np.array([8.0]), p[:, None]], outside) == 0).all()


def test_permutations_share_the_mass() -> None:
    x = np.array([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 2.0, 2.0]])
    found = density("permutation", [np.array([3.0])], x)
    np.testing.assert_allclose(found, [1 / 6, 1 / 6, 0.0])


def test_nan_in_a_vector_is_passed_on() -> None:
    x = np.array([[math.nan, 0.0], [1.0, 1.0]])
    found = density("permutation", [np.array([2.0])], x)
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(0.5)
