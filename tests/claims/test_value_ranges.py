"""Ranges: the values are the numbers that one would write, and no text makes too many."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dropcheck.claims.registry import MOST_CASES
from dropcheck.claims.values import (
    WrongValueError,
    count_values,
    format_value,
    read_range,
    read_values,
)

RANGES = {
    "0.1..0.9 by 0.1": "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9",
    "16..1024 by x2": "16 32 64 128 256 512 1024",
    " 16 .. 100  by  x 2 ": "16 32 64",
    "0..1 by 0.3": "0 0.3 0.6 0.9",
    "-1..1 by 1/2": "-1 -0.5 0 0.5 1",
    "0..1 by 1/3": "0 0.3333333333333333 0.6666666666666666 1",
    "1e-3..10 by x10": "0.001 0.01 0.1 1 10",
    "0.3..3 by x10": "0.3 3",
    "1.1..2 by .3": "1.1 1.4 1.7 2",
    "2**4..2**6 by 2**4": "16 32 48 64",
    "0x10..0x20 by 0x8": "16 24 32",
    "(1 + 1)..4 by 1": "2 3 4",
}


@pytest.mark.parametrize("text", RANGES)
def test_values_are_those_that_one_would_write(text: str) -> None:
    values = read_values(text)
    assert " ".join(map(format_value, values)) == RANGES[text]
    assert count_values(text) == len(values)


@given(
    low=st.decimals(-1000, 1000, places=3, allow_nan=False, allow_infinity=False),
    step=st.decimals("0.001", 10, places=3),
    count=st.integers(1, 300),
)
def test_the_end_is_hit_and_each_value_is_the_nearest_float(
    low: object, step: object, count: int
) -> None:
    start, stride = Fraction(str(low)), Fraction(str(step))
    high = start + count * stride
    values = read_values(f"{low}..{float(high)!r} by {step}")
    assert values == tuple(float(start + k * stride) for k in range(count + 1))


def test_no_range_is_longer_than_the_cases_of_a_claim() -> None:
    start = time.process_time()
    assert len(read_values(f"1..{MOST_CASES} by 1")) == MOST_CASES
    for text in (f"0..{MOST_CASES} by 1", "0..1e308 by 1e-300", "1..1e300 by x1.000001"):
        with pytest.raises(WrongValueError, match="has more than 100,000 values"):
            read_range(text)
    assert time.process_time() - start < 5
