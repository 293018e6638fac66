"""Rounding to bfloat16 by the bits of a number, held to its definition by arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dropcheck.vocabulary.functions.number_formats import rounded

LARGEST = (2 - 2.0**-7) * 2.0**127
with np.errstate(invalid="ignore"):
    EVERY = (np.arange(2**16, dtype=np.uint32) << 16).view(np.float32).astype(float)
FINITE = np.sort(EVERY[np.isfinite(EVERY)])
MIDDLES = (FINITE[1:] + FINITE[:-1]) / 2
NUMBERS = {
    "numbers of the format": EVERY,
    "middles between two": MIDDLES,
    "just above": np.nextafter(MIDDLES, np.inf),
    "just below": np.nextafter(MIDDLES, -np.inf),
    "any bits": np.random.default_rng(0).integers(0, 2**64, 100_000, dtype=np.uint64).view(float),
    "ends": np.array([0.0, -0.0, 5e-324, 2.0**-134, 1.5 * 2.0**-134, 3.3961775e38, 3.4e38, 1e308]),
    "a row of a table": np.random.default_rng(1).normal(size=(5, 3))[:, 1],
}


def by_arithmetic(x: Any) -> Any:
    """The nearest multiple of the last of eight binary digits, ties to even."""
    _, exponent = np.frexp(x)
    unit = np.ldexp(1.0, np.maximum(exponent - 8, -133))
    nearest = np.rint(x / unit) * unit
    too_large = np.abs(nearest) > LARGEST
    return np.where(np.isfinite(x), np.where(too_large, np.copysign(np.inf, x), nearest), x)


@pytest.mark.parametrize("name", NUMBERS)
def test_bits_are_rounded_as_numbers_are(name: str) -> None:
    x = NUMBERS[name]
    with np.errstate(all="ignore"):
        expected, found = by_arithmetic(x), rounded(x, "bfloat16")
    assert np.array_equal(found, expected, equal_nan=True)
    known = ~np.isnan(x)
    assert np.array_equal(np.signbit(found[known]), np.signbit(expected[known]))


def test_a_single_number_stays_one() -> None:
    assert rounded(np.array(0.1), "bfloat16").shape == ()
