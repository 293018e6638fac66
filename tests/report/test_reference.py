"""What `dropcheck show WORD` and the page on the language say of each word."""

from __future__ import annotations

import re

import pytest

import dropcheck
from dropcheck.report.reference import said_of, words, words_called
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS
from dropcheck.vocabulary.laws import LAWS


def test_every_word_is_found_by_its_name_and_says_what_it_is() -> None:
    for group in words().values():
        for word in group:
            assert word in words_called(word.name)
            assert said_of(word)["is"] == word.summary


def test_every_function_and_law_has_an_example() -> None:
    for name in (*FUNCTIONS, *OF_LAWS, *LAWS):
        assert all(said_of(word)["example"] for word in words_called(name)), name


@pytest.mark.parametrize("name", sorted(LAWS))
def test_what_is_said_of_a_law_holds(name: str) -> None:
    [word] = (one for one in words_called(name) if one.meaning is LAWS[name])
    said = said_of(word)
    for label, operator in (("mean", "E"), ("sd", "Std")):
        if said.get(label, "none") != "none":
            zero = float(said[label]) == 0
            near_by = {"absolute": 0.1} if zero else 0.05
            dropcheck.verify(
                f"{operator}(x) == {said[label]}", model=said["example"], tolerance=near_by
            )
    ends = re.fullmatch(r"\D+ from (\S+) to (\S+)", said.get("values", ""))
    if ends is not None:
        low, high = ends.groups()
        dropcheck.verify(f"P(x < {low} - 1e-4) == 0", model=said["example"])
        dropcheck.verify(f"P(x > {high} + 1e-4) == 0", model=said["example"])


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("gamma", ["gamma", "gamma"]),
        ("randint", ["discrete_uniform"]),
        ("N", ["normal"]),
        ("mean", ["mean"]),
        ("a @ b", ["matmul"]),
        ("xyzzy", []),
    ],
)
def test_words_are_found_by_their_names_here_and_elsewhere(name: str, found: list[str]) -> None:
    assert [word.name for word in words_called(name)] == found
