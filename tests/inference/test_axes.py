"""Principal axes of averages: against the covariance itself, and where squares tell nothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from dropcheck.inference.intervals import PrincipalAxes, principal_axes

Floats = npt.NDArray[np.float64]


def blocks(terms: int, seed: int = 1, count: int = 200) -> Floats:
    """Correlated deviations of different sizes."""
    rng = np.random.default_rng(seed)
    found = rng.normal(size=(count, terms)) @ rng.normal(size=(terms, terms))
    found *= 10.0 ** np.arange(terms)
    return np.asarray(found - found.mean(axis=0), np.float64)


def whitened(deviations: Floats, axes: PrincipalAxes) -> Floats:
    return np.asarray(deviations @ axes.whitening, np.float64)


@pytest.mark.parametrize("terms", [1, 2, 3, 6])
def test_axes_rebuild_the_covariance_of_the_averages(terms: int) -> None:
    deviations = blocks(terms)
    axes = principal_axes(deviations)
    covariance = np.cov(deviations.T).reshape(terms, terms) / len(deviations)
    spreads = np.sqrt(np.diag(covariance))
    rebuilt = axes.steps @ axes.steps.T
    assert axes.rank == terms
    scaled = (rebuilt - covariance) / np.multiply.outer(spreads, spreads)
    assert np.abs(scaled).max() < 1e-12


@pytest.mark.parametrize("unit", [1.0, 2.0**-700, 2.0**700])
@pytest.mark.parametrize("terms", [1, 2, 3, 6])
def test_blocks_are_uncorrelated_along_the_axes(terms: int, unit: float) -> None:
    deviations = unit * blocks(terms)
    found = whitened(deviations, principal_axes(deviations))
    assert np.cov(found.T).reshape(terms, terms) == pytest.approx(np.eye(terms), abs=1e-9)


@pytest.mark.parametrize("copies", [2, 3, 5])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_one_quantity_told_several_times_has_one_axis(copies: int, sign: float) -> None:
    one = blocks(1)
    factors = np.arange(1.0, copies + 1)
    factors[0] *= sign
    assert principal_axes(one * factors).rank == 1


@pytest.mark.parametrize("others", [0, 2])
@pytest.mark.parametrize("apart", [1e-4, 1e-7])
def test_what_two_almost_equal_averages_differ_by_is_an_axis(others: int, apart: float) -> None:
    deviations = blocks(2 + others)
    noise = blocks(1, seed=2)[:, 0]
    noise *= deviations[:, 0].std() / noise.std()
    deviations[:, 1] = deviations[:, 0] + apart * noise
    axes = principal_axes(deviations)
    assert axes.rank == 2 + others
    found = whitened(deviations, axes)
    assert np.cov(found.T) == pytest.approx(np.eye(2 + others), abs=1e-5)


def test_two_faint_directions_are_told_from_one_another() -> None:
    base, first, second = blocks(1)[:, 0], blocks(1, 2)[:, 0], blocks(1, 3)[:, 0]
    deviations = np.stack([base, base + 1e-8 * first, base + 1e-7 * second], axis=1)
    axes = principal_axes(deviations)
    assert axes.rank == 3
    assert np.cov(whitened(deviations, axes).T) == pytest.approx(np.eye(3), abs=1e-5)


def test_what_does_not_vary_has_no_axis() -> None:
    deviations = np.zeros((100, 3))
    assert principal_axes(deviations).rank == 0
    deviations[:, 1] = blocks(1, count=100)[:, 0]
    axes = principal_axes(deviations)
    assert axes.rank == 1
    assert np.count_nonzero(axes.steps) == 1


def test_an_axis_points_where_the_first_term_grows() -> None:
    for seed in range(20):
        assert (principal_axes(blocks(4, seed)).steps[0] >= 0).all()
