"""Every character of a text leads back to its place in the file."""

from __future__ import annotations

from dataclasses import replace

import pytest
from claims_texts import file_with

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import SourceText


def assert_every_word_is_found(text: SourceText, file: str) -> None:
    lines = file.split("\n")
    for number, line in enumerate(text.text.split("\n")):
        for column, character in enumerate(line):
            if character == " ":
                continue
            at = text.locate(number, column)
            assert at.line is not None
            assert at.column is not None
            assert lines[at.line - 1][at.column - 1] == character, (number, column, at)
            assert at.text == lines[at.line - 1]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("E(x) == 0", "E(x) == 0"), ("   E(x) == 0   # note", "E(x) == 0"),
        ("'E(x) == 0'", "E(x) == 0"), ('"E(x) == 0"', "E(x) == 0"),
        ("E(x)\n    ==\n   0", "E(x) == 0"), ("'E(x)\n   ==\n   0'", "E(x) == 0"),
        ('"E(x)\n   ==\n\n   0"', "E(x) ==\n0"), ('"E(x) \\\n   == 0"', "E(x) == 0"),
        ("|\n  E(x) ==\n    0\n", "E(x) ==\n  0"), ("|2\n    E(x)\n   == 0", "  E(x)\n == 0"),
        ("|-\n\n  E(x)\n\n  == 0", "\nE(x)\n\n== 0"), (">\n  E(x)\n  ==\n\n  0\n", "E(x) ==\n0"),
        (">-  # folded\n  E(x) ==\n  0", "E(x) == 0"), ("E(σ·x) == σ", "E(σ·x) == σ"),
    ],
)  # fmt: skip
def test_each_character_of_a_text_leads_back_to_itself(written: str, text: str) -> None:
    file = file_with(f"title: T\nnote: é\nclaim: {written}\nmodel: x ~ normal(0, 1)")
    (claim,) = read_text(file).claims.values()
    assert claim.statement.text == text
    assert_every_word_is_found(claim.statement, file)
    assert claim.model is not None
    assert_every_word_is_found(claim.model, file)


def test_an_escape_leads_back_to_within_its_length() -> None:
    file = file_with('title: T\nclaim: "E(x) \\x3d= 0 + y"')
    (claim,) = read_text(file).claims.values()
    assert claim.statement.text == "E(x) == 0 + y"
    assert_every_word_is_found(replace(claim.statement, text="E(x)"), file)
    at = claim.statement.locate(0, 12)
    assert at.line == 5
    assert abs((at.column or 0) - (file.split("\n")[4].index("y") + 1)) <= len("\\x3d")


def test_the_texts_of_a_list_have_their_own_places() -> None:
    file = file_with("title: T\nclaim: p == p\nparameters: {p: 1}\nrequires: [0 <= p, 'p < 2']")
    (claim,) = read_text(file).claims.values()
    assert [text.text for text in claim.requires] == ["0 <= p", "p < 2"]
    for text in claim.requires:
        assert_every_word_is_found(text, file)


def test_a_wrong_origin_would_be_seen() -> None:
    file = file_with("title: T\nclaim: E(x) == 0")
    (claim,) = read_text(file).claims.values()
    line, column = claim.statement.origins[0]
    moved = replace(claim.statement, origins=((line, column + 1),))
    with pytest.raises(AssertionError):
        assert_every_word_is_found(moved, file)
