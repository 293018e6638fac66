"""Streams of random numbers: each its own, the same whenever it is asked for.

The correlations below are of seeded samples; |r| √n < 5.5 fails with a chance of 4e-8 each.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt
import pytest
from trials import entry, registry_of, tried

from dropcheck.settings import Settings
from dropcheck.simulation.streams import MAIN, PILOT, stream

NAMES = [(0, "a", MAIN, 0), (1, "a", MAIN, 0), (0, "b", MAIN, 0), (0, "a", PILOT, 0)]
NAMES += [(0, "a", MAIN, 1), (0, "a;p=0x1p0", MAIN, 0), (10, "a", MAIN, 0), (0, "a", MAIN, 2**31)]


@pytest.mark.parametrize("name", NAMES)
def test_stream_is_a_function_of_its_name(name: tuple[int, str, int, int]) -> None:
    assert np.array_equal(stream(*name).random(100), stream(*name).random(100))


def test_streams_of_unlike_names_have_nothing_in_common() -> None:
    draws = np.array([stream(*name).standard_normal(20_000) for name in NAMES])
    between = np.corrcoef(draws)[np.triu_indices(len(NAMES), 1)]
    assert np.abs(between).max() * np.sqrt(20_000) < 5.5


def test_a_seed_and_a_name_do_not_run_together() -> None:
    assert stream(1, "2", MAIN, 0).random() != stream(12, "", MAIN, 0).random()
    assert stream(1, "2\n", MAIN, 0).random() != stream(1, "2", MAIN, 0).random()


@pytest.mark.parametrize("span", [0, 1, 12_345, 2**32 - 1, 2**32, 2**33 + 5])
@pytest.mark.parametrize(("seed", "key", "purpose"), [(0, "x", MAIN), (2**70, "y;p=1", PILOT)])
def test_the_span_is_the_spawn_key_of_a_seed_sequence(
    seed: int, key: str, purpose: int, span: int
) -> None:
    digest = hashlib.blake2b(f"{seed}\n{key}".encode(), digest_size=32).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    seeded = np.random.SeedSequence(words, spawn_key=(purpose, span))
    plain = np.random.Generator(np.random.SFC64(seeded))
    assert np.array_equal(stream(seed, key, purpose, span).random(3), plain.random(3))


def test_the_numbers_are_pinned() -> None:
    # the same file, the same version, the same verdict: another stream is another version
    assert stream(0, "x", MAIN, 0).integers(2**32) == 3_466_747_028


LINEAR = entry("linear", "x ~ normal(0, 1)", "E(x) == 0")
GROWING = entry("growing", "x ~ normal(0, 1)", "E(exp(x)) == sqrt(e)")


def estimates(seeds: int) -> npt.NDArray[np.float64]:
    registry = registry_of(LINEAR, GROWING)
    found = []
    for seed in range(seeds):
        results = tried(registry, Settings(seed=seed, max_draws=1000, threads=1))
        found.append([result.estimate for result in results])
    return np.array(found, dtype=np.float64)


def test_claims_do_not_share_their_draws() -> None:
    between = np.atleast_2d(np.corrcoef(estimates(80).T))
    assert abs(between[0, 1]) * np.sqrt(80) < 5.5


def test_one_stream_for_all_would_correlate_them() -> None:
    found = []
    for seed in range(80):
        x = np.random.default_rng(seed).normal(size=1000)
        found.append([x.mean(), np.exp(x).mean()])
    assert np.corrcoef(np.array(found).T)[0, 1] * np.sqrt(80) > 5.5
