"""Numbers, laws, vectors and ranges as people write them, and back."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dropcheck.claims.values import (
    count_values,
    format_value,
    parse_number,
    parse_value,
    read_values,
)
from dropcheck.results import ParameterValue


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("512", 512), (" 512 ", 512), ("010", 10), ("0x10", 16), ("1_000", 1000), ("1e6", 1e6),
        ("1E-3", 1e-3), (".5", 0.5), ("-1", -1), ("+1", 1), ("-0", 0), ("2**20", 2**20),
        ("2**-1", 0.5), ("5e-324", 5e-324), ("0e-400", 0), ("0.00E-999 + 0**3", 0), ("-2**2", -4),
        ("1/3", 1 / 3), ("(1 + 2) * 3", 9), ("7 // 2", 3), ("7 % 4", 3), ("1 - 0.1", 1 - 0.1),
    ],
)  # fmt: skip
def test_numbers(text: str, number: float) -> None:
    assert parse_number(text) == number


@pytest.mark.parametrize(
    "text",
    ["(" * 200, "1" * 201, "\u0661", "0." + "0" * 190 + "1e-200", "9**9**9**9**9", "(-8)**(1/3)"],
)
def test_what_is_not_a_number_is_refused_at_once(text: str) -> None:
    start = time.process_time()
    with pytest.raises(ValueError, match="is"):
        parse_number(text)
    assert time.process_time() - start < 1


@given(st.text(alphabet="0123456789.eExX_+-*/%() abf", max_size=30))
def test_any_text_is_a_finite_number_or_refused(text: str) -> None:
    try:
        number = parse_number(text)
    except ValueError:
        return
    assert abs(number) < float("inf")
    assert parse_number(format_value(number)) == number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.25", 0.25),
        ("normal(0, 1)", "normal(0, 1)"),
        ("normal( 0,1 )", "normal(0, 1)"),
        (" rademacher ( ) ", "rademacher()"),
        ("choice([1,2 , 3])", "choice([1, 2, 3])"),
        ("uniform(-sqrt(3), sqrt(3))", "uniform(-sqrt(3), sqrt(3))"),
        ("normal(0, 1 if a else  2)", "normal(0, 1 if a else 2)"),
        ("normal(mean=0,\n sd=1)", "normal(mean=0, sd=1)"),
        ("[0.5,-1, 3]", (0.5, -1.0, 3.0)),
        (" [ 1/4 ] ", (0.25,)),
        ("[[1, 0], [0, 2**2]]", ((1.0, 0.0), (0.0, 4.0))),
        ("[(1 + 2) * 3, 1]", (9.0, 1.0)),
    ],
)
def test_values(text: str, value: ParameterValue) -> None:
    assert parse_value(text) == value
    assert parse_value(format_value(value)) == value


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("[" + "1, " * 1000 + "1]", "more than 1,000 entries"),
        ("[[" + "], [".join(["1, 2"] * 501) + "]]", "more than 1,000 entries"),
        ("[" + "1, " * 20_000 + "1]", "longer than 30,000 characters"),
        ("[" * 10_000, "brackets that do not match"),
        ("choice([" + "1, " * 1_000 + "1])", "is longer than"),
    ],
)
def test_what_is_too_long_is_not_a_value(text: str, predicate: str) -> None:
    with pytest.raises(ValueError, match=predicate):
        parse_value(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_is_written_reads_back(number: float) -> None:
    text = format_value(number)
    assert parse_number(text) == number
    assert len(text) <= max(len(repr(number)), 2)


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
