"""Searches as text, the values that are tried, and which of two values is simpler."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dropcheck.claims.reader import read_text
from dropcheck.claims.several.searches import (
    Search,
    between,
    complexity,
    corners,
    every_point,
    one_spelling,
    read_search,
    read_values,
    simpler,
    spread,
)
from dropcheck.claims.several.value_ranges import RangeError
from dropcheck.errors import DropcheckError

SPELLINGS = {
    "any in 0..1": "any in 0..1",
    " any  in 0.1 .. 0.90 ": "any in 0.1..0.9",
    "any in -1/2..2**10": "any in -0.5..1024",
    "any in 1..100 by 1": "any in 1..100 by 1",
    "any in 16..1024 by x 2": "any in 16..1024 by x2",
}


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_search_has_one_spelling(text: str) -> None:
    assert read_values(text) == (SPELLINGS[text],)
    assert one_spelling(SPELLINGS[text]) == SPELLINGS[text]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("any", "is not a search"),
        ("any in", "is not a search"),
        ("any of 0..1", "is not a search"),
        ("any in 1", "is not a search"),
        ("any in 0..", "is not a range"),
        ("any in 1..0", "its end is below its start"),
        ("any in 0..p", "'p' is not a number"),
        ("any in 0..1 by 0", "needs a step above 0"),
        ("any in 0..1e9 by 1", "more than 100,000 values"),
        ("any in -1e308..1e308", "is wider than numbers are large"),
    ],
)
def test_what_is_no_search(text: str, says: str) -> None:
    with pytest.raises(RangeError, match=says):
        read_values(text)
    with pytest.raises(DropcheckError) as caught:
        read_text(
            "dropcheck: 1\nclaims:\n  c:\n    title: T\n    claim: 1 == 1\n"
            f"    parameters: {{p: '{text}'}}\n"
        )
    assert says in caught.value.problems[0].message
    assert "write " in str(caught.value.problems[0].hint)


ENDS = st.floats(-1e6, 1e6).map(lambda end: float(f"{end:.6g}"))
SHARES = st.floats(0, 1)


@given(low=ENDS, width=st.floats(1e-3, 1e6), place=SHARES, way=SHARES)
def test_what_is_drawn_lies_between_the_ends_and_has_few_digits(
    low: float, width: float, place: float, way: float
) -> None:
    search = Search(low, low + width)
    value = search.at(place, way)
    assert low <= value <= low + width
    assert value in (low, low + width) or float(f"{value:.4g}") == value
    whole = Search(math.floor(low), math.floor(low) + math.ceil(width)).in_whole_numbers()
    assert whole.at(place, way) % 1 == 0


@pytest.mark.parametrize(
    "text", ["any in 0..1e308", "any in 0..5e-324", "any in -1e-300..1e-300", "any in 1e300..1e301"]
)
def test_ends_may_be_as_large_and_as_small_as_numbers_are(text: str) -> None:
    search = read_search(text)
    for search_ in (search, search.in_whole_numbers()):
        values = {search_.at(place / 9, way / 9) for place in range(10) for way in range(10)}
        assert all(search.low <= value <= search.high for value in values)
        for value in values:
            assert len(simpler(search_, value)) < 2000
            assert between(search.low, value) != value


def test_both_ends_are_looked_at_closely() -> None:
    search = Search(0.0, 1.0)
    values = sorted(search.at(place / 100, way / 3) for place in range(100) for way in range(3))
    assert 0 in values
    assert sum(0 < value < 0.1 for value in values) > 40
    assert sum(0.9 < value < 1 for value in values) > 40
    assert sum(0.1 < value < 0.9 for value in values) > 100


def test_points_are_corners_and_then_even() -> None:
    searches = {"p": Search(0.0, 1.0), "n": Search(1.0, 9.0).in_whole_numbers()}
    assert [tuple(one.values()) for one in corners(searches)] == [(0, 1), (0, 9), (1, 1), (1, 9)]
    cells = {(int(4 * one["p"]), int(one["n"] - 1) // 3) for one in spread(searches, 60)}
    assert len(cells) == 12
    assert every_point(searches, 1000) is None
    few = every_point({"n": Search(1.0, 3.0).in_whole_numbers(), "b": Search(0, 1, (0.0, 1.0))}, 6)
    assert few is not None
    assert tuple(few[0].values()) == (1, 0)
    assert len({tuple(one.values()) for one in few}) == 6


NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6).map(float),
    st.decimals(-100, 100, places=3).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
)


@given(value=NUMBERS, low=NUMBERS, high=NUMBERS)
def test_what_is_simpler_is_of_the_search_and_comes_in_order(
    value: float, low: float, high: float
) -> None:
    search = Search(min(low, value), max(high, value))
    found = simpler(search, value)
    assert list(found) == sorted(found, key=complexity)
    assert all(complexity(one) < complexity(value) for one in found)
    assert all(search.low <= one <= search.high for one in found)
    assert value == 0 or search.low > 0 or search.high < 0 or 0.0 in found


@given(near=NUMBERS, far=NUMBERS)
def test_half_way_ends(near: float, far: float) -> None:
    near = min(near, far, key=complexity)
    far = far + 0.0
    steps = 0
    while (value := between(near, far)) is not None:
        assert min(near, far) <= value <= max(near, far)
        assert value not in (near, far)
        far, steps = value, steps + 1
        assert steps < 2200
