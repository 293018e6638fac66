"""The table of keys as a whole: every key is read, and no error hides another."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dropcheck.claims.claimsfile import ClaimKeys
from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError, Problem

WHOLE: dict[str, Any] = {
    "dropcheck": 1,
    "documents": {"post": {"title": "A post", "date": "2024", "url": "https://example.org"}},
    "models": {"line": "x ~ normal(0, 1)"},
    "defaults": {"within": 1, "expect": "refuted", "document": "post", "tags": ["a", "b"]},
    "claims": {
        "one": {
            "title": "One", "claim": "E(x) == p", "model": "x ~ normal(p, 1)",
            "parameters": {"p": [1, 0.5, "1/3"], "n": 4, "law": "normal(0, 1)"},
            "requires": "p > 0", "expect": "verified", "tolerance": 0.01, "resolution": 0.02,
            "document": "post", "section": "3", "note": "why", "tags": ["c"],
        },
        "two": {
            "title": "Two",
            "claim": "1 == 1",
            "cases": [{"p": 0.1, "n": 10}, {"p": 0.2, "n": "2**3"}],
            "requires": ["p > 0", "n > 1"],
            "section": "4",
        },
        "three": {
            "title": "Three",
            "model": "line",
            "sources": [{"document": "post", "section": "5"}, {"document": "post"}],
            "says": "what they say",
            "claims": {
                "mean": "E(x) == 0",
                "sd": {"claim": "Std(x) == 2", "expect": "refuted", "truth": "unit", "within": 1},
                "unit": {"claim": "Std(x) == 1", "expect": "verified", "title": "One", "note": "n"},
            },
        },
    },
}  # fmt: skip
Way = tuple[Any, ...]


def leaves(data: Any, way: Way = ()) -> list[Way]:
    """The way to each value that is no list and no mapping."""
    if isinstance(data, dict):
        return [one for key, value in data.items() for one in leaves(value, (*way, key))]
    if isinstance(data, list):
        return [one for key, value in enumerate(data) for one in leaves(value, (*way, key))]
    return [way]


def changed(data: dict[str, Any], way: Way, value: Any) -> dict[str, Any]:
    """A copy with another value at a place."""
    copied: Any = copy.deepcopy(data)
    inner = copied
    for step in way[:-1]:
        inner = inner[step]
    inner[way[-1]] = value
    return dict(copied)


def problems_of(data: dict[str, Any]) -> tuple[Problem, ...]:
    """What is reported of a file that holds the data; nothing of one that is read."""
    try:
        read_text(json.dumps(data, indent=1), "f.yaml")
    except DropcheckError as error:
        return error.problems
    return ()


LEAVES = [way for way in leaves(WHOLE) if way != ("dropcheck",)]
WRONG: list[Any] = [None, True, "", [[]], {"a": {}}]


def test_the_whole_file_is_read() -> None:
    assert problems_of(WHOLE) == ()
    given = {key for one in WHOLE["claims"].values() for key in one}
    given |= {"within", "truth", "asymptotic"}  # which go with other statements
    assert given == {*ClaimKeys.model_fields}


@pytest.mark.parametrize("way", LEAVES, ids=lambda way: ".".join(map(str, way)))
@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_a_wrong_value_is_reported_at_its_line(way: Way, value: Any) -> None:
    problem, *more = problems_of(changed(WHOLE, way, value))
    # a mapping of another key lacks its own too
    assert not more or way[-1] == "tolerance" or way[-2] == "claims"
    assert problem.location is not None
    assert problem.location.text is not None
    key = next(step for step in reversed(way) if isinstance(step, str))
    statement = isinstance(value, dict) and (way[-2] == "claims" or way[-1] == "tolerance")
    listed = isinstance(way[-1], int) or isinstance(value, list) or statement
    assert listed or f'"{key}"' in problem.location.text
    assert problem.message


@settings(max_examples=150)
@given(
    st.lists(st.sampled_from(LEAVES), min_size=2, max_size=4, unique=True),
    st.lists(st.sampled_from(WRONG), min_size=4, max_size=4),
)
def test_no_wrong_value_hides_another(ways: list[Way], values: list[Any]) -> None:
    everything, expected = WHOLE, set()
    for way, value in zip(ways, values, strict=False):
        everything = changed(everything, way, value)
        expected |= {one.message for one in problems_of(changed(WHOLE, way, value))}
    assert expected <= {one.message for one in problems_of(everything)}


ANYTHING = st.recursive(
    st.sampled_from([*WRONG, 0, 1, -1, 0.5, 1e308, 10**300, "x", "1/2", "normal(", "9**9**9"])
    | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(["p", "title", "claim", "tags", "a b"]), below)
    ),
    max_leaves=6,
)


@settings(max_examples=300)
@given(st.sampled_from([*LEAVES, *(way[:-1] for way in LEAVES if way[:-1])]), ANYTHING)
def test_whatever_a_file_holds_is_read_or_reported_with_its_place(way: Way, value: Any) -> None:
    data = changed(WHOLE, way, value)
    lines = json.dumps(data, indent=1).split("\n")
    for problem in problems_of(data):
        assert problem.location is not None
        assert problem.location.line is not None
        assert problem.location.text == lines[problem.location.line - 1]


@pytest.mark.parametrize(
    ("key", "example"),
    [
        (name, one)
        for name in ClaimKeys.names()
        for one in ClaimKeys.model_fields[name].examples or ()
    ],
)
def test_each_example_of_a_key_is_read(key: str, example: Any) -> None:
    claim = {"title": "T", "claim": "1 == 1", key: example}
    if key == "claims":
        del claim["claim"]
    if key == "truth":
        claim["expect"] = "refuted"
    documents = {"notes": {"title": "Notes"}}
    claims = {"c": claim, "variance": {"title": "T", "claim": "2 == 2"}}
    assert not problems_of({"dropcheck": 1, "documents": documents, "claims": claims})
