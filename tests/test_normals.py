"""Standard normal numbers from pairs of uniform ones: how exact each is, and their law together.

False alarms, over fresh seeds: each comparison of random numbers is made at 1e-9, and there are
about thirty of them: below 1e-6 together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from law_judges import FALSE_ALARM, distance_allowed, gap
from numpy.typing import NDArray
from scipy import stats

from dropcheck.simulation import normals
from dropcheck.simulation.normals import CHUNK, FEWEST, make_normal, standard_normals
from dropcheck.simulation.streams import MAIN, stream

Floats = NDArray[np.float64]
# The least and the greatest that numpy draws, and what lies about the middle.
EDGES = np.array([0.0, 2.0**-53, 0.5 - 2.0**-53, 0.5, 0.5 + 2.0**-53, 1.0 - 2.0**-53])
DEVIATIONS = stats.norm.isf(FALSE_ALARM / 2)


def by_float64(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """The same pairs with every step in float64, by sine and cosine."""
    half = one - (0.5 - 2.0**-54)
    radius = np.sqrt(-2.0 * np.log(2.0 * np.abs(half)))
    angle = math.pi * (other - 0.5)
    return np.copysign(radius * np.cos(angle), half), radius * np.sin(angle)


def made(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    one, other = one.copy(), other.copy()
    make_normal(one, other)
    return one, other


def test_each_number_is_exact_but_for_float32s_sine() -> None:
    rng = np.random.default_rng(1)
    near = np.concatenate(
        [2.0 ** -rng.uniform(1, 52, 50_000), 1 - 2.0 ** -rng.uniform(1, 52, 50_000)]
    )
    angles = np.concatenate([rng.random(300_000), near, 1 - near, 0.5 + near / 2, 0.5 - near / 2])
    radii = rng.random(angles.size)
    for found, exact in zip(made(radii, angles), by_float64(radii, angles), strict=True):
        # float64's own cosine is off where the angle is rounded beside a right one
        resolved = np.abs(exact) > 1e-7
        assert np.abs(found / exact - 1)[resolved].max() < 2.0**-22
        assert np.abs(found - exact)[~resolved].max() < 1e-13


def test_numbers_are_finite_at_the_ends_of_what_is_drawn() -> None:
    one, other = (np.array(part) for part in zip(*product(EDGES, EDGES), strict=True))
    for found in made(one, other):
        assert np.isfinite(found).all()
        assert np.abs(found).max() < 8.6
    first, _ = made(EDGES, np.full(EDGES.size, 0.5))
    assert (np.sign(first) == [-1, -1, -1, 1, 1, 1]).all()  # as many on either side


def test_float32_leaves_no_bias_that_any_run_could_see() -> None:
    """Averages over the angle by the midpoint rule, exact but for the sines' own errors."""
    count = 2**22
    angles = (np.arange(count) + 0.5) / count
    radius_one = np.full(count, 0.25 * (1 + 1e-9))  # one radius for all of them
    cosine, sine = made(radius_one, angles)
    second = float(np.mean(sine**2 + cosine**2)) / 2
    for found in (cosine, sine):
        assert abs(np.mean(found**2) / second - 1) < 1e-8
        assert abs(np.mean(found**4) / second**2 - 1.5) < 3e-8
    assert abs(np.mean(sine)) < 1e-8
    assert abs(np.mean(sine * cosine)) < 1e-8
    assert abs(np.mean(sine**2 * cosine**2) / second**2 - 0.5) < 1e-8
    exact = -math.log(2 * abs(0.25 * (1 + 1e-9) - normals.MIDDLE))
    assert abs(second / exact - 1) < 1e-8


def alarms(draw: Callable[[np.random.Generator, tuple[int, ...]], Floats], seed: int) -> list[str]:
    """Which promises of a stream of normal numbers a sample breaks."""
    count = 16 * CHUNK
    x = draw(stream(seed, "normals", MAIN, 0), (count,))
    told = []
    if gap(x, stats.norm.cdf) > distance_allowed(count):
        told.append("law")
    if gap(x**2, stats.chi2(1).cdf) > distance_allowed(count):
        told.append("squares")
    # the two of a pair lie half a chunk apart
    pairs = x.reshape(-1, 2, CHUNK // 2)
    first, second = pairs[:, 0].ravel(), pairs[:, 1].ravel()
    products: dict[str, tuple[Floats, float]] = {
        "correlation": (first * second, 1.0),
        "correlation of squares": ((first**2 - 1) * (second**2 - 1), 2.0),
        "correlation with squares": (first * (second**2 - 1), math.sqrt(2.0)),
        "correlation of sizes": (
            (np.abs(first) - math.sqrt(2 / math.pi)) * (np.abs(second) - math.sqrt(2 / math.pi)),
            1 - 2 / math.pi,
        ),
        "neighbours": (x[1:] * x[:-1], 1.0),
    }
    for name, (values, deviation) in products.items():
        if abs(values.mean()) > DEVIATIONS * deviation / math.sqrt(values.size):
            told.append(name)
    if gap(first**2 + second**2, stats.chi2(2).cdf) > distance_allowed(first.size):
        told.append("radius")
    if gap(np.arctan2(second, first), stats.uniform(-math.pi, 2 * math.pi).cdf) > distance_allowed(
        first.size
    ):
        told.append("angle")
    return told


def test_many_numbers_are_normal_and_independent() -> None:
    assert alarms(standard_normals, 1) == []


def _without_the_other_half(generator: np.random.Generator, size: tuple[int, ...]) -> Floats:
    x = standard_normals(generator, size)
    pairs = x.reshape(-1, 2, CHUNK // 2)
    pairs[:, 0] = np.abs(pairs[:, 0])
    return x


def _with_one_sign_for_both(generator: np.random.Generator, size: tuple[int, ...]) -> Floats:
    x = standard_normals(generator, size)
    pairs = x.reshape(-1, 2, CHUNK // 2)
    pairs[:, 0] = np.copysign(pairs[:, 0], pairs[:, 1])
    return x


def _with_the_radius_of_a_neighbour(
    generator: np.random.Generator, size: tuple[int, ...]
) -> Floats:
    x = standard_normals(generator, size)
    x.reshape(-1, 2, CHUNK // 2)[:, 1] = x.reshape(-1, 2, CHUNK // 2)[:, 0]
    return x


def _a_trifle_wide(generator: np.random.Generator, size: tuple[int, ...]) -> Floats:
    return standard_normals(generator, size) * 1.02


@pytest.mark.parametrize(
    ("broken", "seen"),
    [
        (_without_the_other_half, "law"),
        (_with_one_sign_for_both, "correlation"),
        (_with_the_radius_of_a_neighbour, "correlation of squares"),
        (_a_trifle_wide, "radius"),
    ],
)
def test_numbers_that_are_not_are_told(
    broken: Callable[[np.random.Generator, tuple[int, ...]], Floats], seen: str
) -> None:
    assert seen in alarms(broken, 1)


@pytest.mark.parametrize(
    "size",
    [
        (0,),
        (3,),
        (FEWEST - 1,),
        (FEWEST,),
        (FEWEST + 1,),
        (CHUNK + 1,),
        (CHUNK + FEWEST + 1,),
        (5, 0),
    ],
)
def test_every_place_is_filled(size: tuple[int, ...]) -> None:
    found = standard_normals(stream(2, "normals", MAIN, 0), size)
    assert found.shape == size
    assert np.unique(found).size == found.size
    assert found.size < FEWEST or abs(found.var() - 1) < DEVIATIONS * math.sqrt(2 / found.size)
