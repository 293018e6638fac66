"""What is read without the schema is what the schema reads, and nothing else is."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from dropcheck.claims import quick
from dropcheck.claims.compose import compose
from dropcheck.claims.nodes import Tree, plain
from dropcheck.claims.quick import read_quickly
from dropcheck.claims.reader import read_text
from dropcheck.claims.schema import ClaimModel, DefaultsModel, DocumentModel, FileModel
from dropcheck.claims.source import decode

TOP = Path(__file__).parents[2]
SHIPPED = (TOP / "claims.yaml").read_bytes()


def data_of(text: bytes) -> dict[str, Any]:
    """The file as plain data, as the reader gives it to either."""
    root, problems = compose(decode(text, "claims.yaml"))
    assert isinstance(root, Tree)
    assert not problems
    found: dict[str, Any] = plain(root)
    return found


def fields(model: Any) -> dict[str, Any]:
    """What a model holds, or what stands for one, by name; a float is told from a whole number."""
    return {name: (type(value), value) for name, value in vars(model).items()}


def contents(file: Any) -> dict[str, Any]:
    """The whole file as either reads it."""
    return {
        "documents": {key: fields(one) for key, one in file.documents.items()},
        "defaults": fields(file.defaults),
        "claims": {key: fields(one) for key, one in file.claims.items()},
    }


def by_schema(data: dict[str, Any]) -> Any:
    """What the schema reads, None where it refuses."""
    try:
        return FileModel.model_validate(data)
    except ValidationError:
        return None


def assert_alike(data: dict[str, Any]) -> bool:
    """Both read the same, or both refuse; whether they read it."""
    fast, slow = read_quickly(copy.deepcopy(data)), by_schema(data)
    assert (fast is None) == (slow is None)
    if fast is None:
        return False
    assert contents(fast) == contents(slow)
    return True


WHOLE: dict[str, Any] = {
    "dropcheck": 1,
    "documents": {"post": {"title": " A  post ", "date": "2024", "url": "https://example.org"}},
    "defaults": {"within": 1, "expect": "refuted", "document": "post", "tags": ["a", "b "]},
    "claims": {
        "one": {
            "title": "One\nline",
            "claim": "E(x) == p",
            "model": "x ~ normal(p, 1)\n",
            "parameters": {"p": [1, 0.5, "1/3", "normal( 0,1 )"], "n": 4, "law": "normal(0, 1)"},
            "requires": "p > 0",
            "expect": "verified",
            "tolerance": 0.01,
            "resolution": 0.02,
            "within": 2,
            "document": "post",
            "section": "3",
            "note": " why\n",
            "tags": ["c"],
        },
        "two": {
            "title": "Two",
            "claim": "1 == 1",
            "cases": [{"p": 0.1, "n": 10}, {"p": -0.0, "n": "2**3"}],
            "requires": ["p > 0", "n > 1"],
        },
    },
}
# What might stand anywhere, right there or wrong.
ODD: list[Any] = [
    None, True, False, 0, 1, -1, 0.5, 1.0, 0.0, -0.0, 1.5, 1e308, 10**300, math.inf, -math.inf,
    math.nan, "", " ", "\n", "x", " x ", "1/2", "verified", "refuted", "verified ", "normal(0, 1)",
    "normal(", "9**9**9", "1/0", [], [[]], [1], [1, 1.0], [1, True], ["a"], ["a", 1], ["a", ""],
    [None], ["0.5", 0.5], {}, {"p": 1}, {"p": [1, 2]}, {"p": {}}, {"p": None}, [{}], [{"p": 1}],
    [{"p": 1}, {"p": 1.0}], [{"p": 1}, {"q": 1}], [{"p": [1]}], {"title": "T"},
    {"title": "T", "claim": "1 == 1"}, {"title": "T", "claim": "1 == 1", "colour": 1},
]  # fmt: skip


def places(data: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to each value in the data."""
    found = [way] if way else []
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(data, dict):
        items = data.items()
    elif isinstance(data, list):
        items = enumerate(data)
    for key, value in items:
        found += places(value, (*way, key))
    return found


def at(data: Any, way: tuple[Any, ...]) -> Any:
    for step in way:
        data = data[step]
    return data


def changed(data: dict[str, Any], way: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """A copy with another value at a place."""
    copied = copy.deepcopy(data)
    at(copied, way[:-1])[way[-1]] = copy.deepcopy(value)
    copied["dropcheck"] = 1  # which the reader looks at itself
    return copied


def test_the_shipped_claims_need_no_schema() -> None:
    assert assert_alike(data_of(SHIPPED))


def test_every_key_is_read() -> None:
    assert assert_alike(WHOLE)
    assert set(quick._CLAIM) == set(ClaimModel.model_fields)
    assert set(quick._DEFAULTS) == set(DefaultsModel.model_fields)
    assert set(quick._DOCUMENT) == set(DocumentModel.model_fields)
    assert set(quick._FILE) == set(FileModel.model_fields)


@pytest.mark.parametrize("way", places(WHOLE), ids=lambda way: ".".join(map(str, way)))
def test_whatever_stands_at_a_place_both_read_it_alike(way: tuple[Any, ...]) -> None:
    read = [assert_alike(changed(WHOLE, way, value)) for value in ODD]
    # something is right at most places, and something is wrong at each but the format's own
    assert way == ("dropcheck",) or not all(read)


def test_a_key_that_is_missing_or_unknown_is_left_to_the_schema() -> None:
    for way in places(WHOLE):
        without = copy.deepcopy(WHOLE)
        del at(without, way[:-1])[way[-1]]
        without["dropcheck"] = 1
        assert_alike(without)
        if isinstance(at(WHOLE, way), dict):
            assert_alike(changed(WHOLE, (*way, "colour"), "red"))
    assert read_quickly(changed(WHOLE, ("claims", "one", "colour"), "red")) is None
    assert read_quickly(changed(WHOLE, ("claims",), {})) is None


ANYTHING = st.recursive(
    st.sampled_from(ODD) | st.text(max_size=8) | st.floats() | st.integers(),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(["p", "title", "claim", "tags"]), below, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=400)
@given(st.lists(st.tuples(st.sampled_from(places(WHOLE)), ANYTHING), min_size=1, max_size=3))
def test_whatever_a_file_holds_both_read_it_alike(changes: list[tuple[Any, Any]]) -> None:
    data = WHOLE
    for way, value in changes:
        try:
            data = changed(data, way, value)
        except (KeyError, IndexError, TypeError):  # a change above has taken the place away
            continue
    assert_alike(data)


def test_what_is_read_is_the_same_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    text = SHIPPED.decode()
    fast = read_text(text)
    monkeypatch.setattr("dropcheck.claims.reader.read_quickly", lambda _: None)
    assert read_text(text) == fast
