"""What the parser refuses in good time; `contract/refused.yaml` has what it says of slips."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dropcheck.claims.registry import SourceText
from dropcheck.claims.values import LONGEST_NAME
from dropcheck.errors import DropcheckError
from dropcheck.language.parser import (
    DEEPEST_BRACKETS,
    DEEPEST_NODES,
    LONGEST_EXPRESSION,
    parse_expression,
    parse_model,
    parse_statement,
)

TOO_MUCH = {
    "10,000 terms": "1" + " + 1" * 5_000,
    "a long chain of powers": "1" + "**1" * 5_000,
    "5,000 minus signs": "-" * 5_000 + "1",
    "3,000 denials": "not " * 3_000 + "1",
    "20,000 characters": "x" * (LONGEST_EXPRESSION + 1),
    "brackets": "(" * (DEEPEST_BRACKETS + 1) + "1" + ")" * (DEEPEST_BRACKETS + 1),
    "open brackets": "[" * 15_000,
    "transposes": "a" + ".T" * 5_000,
    "indices": "a" + "[0]" * 5_000,
    "branches": "1" + " if 1 else 1" * 1_500,
    "one level too many": "1" + " + 1" * DEEPEST_NODES,
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_refuses_what_could_overwhelm(what: str) -> None:
    started = time.process_time()
    with pytest.raises(DropcheckError) as caught:
        parse_expression(SourceText.plain(TOO_MUCH[what]))
    (problem,) = caught.value.problems
    assert any(word in problem.message for word in ("deep", "long"))
    assert problem.hint
    assert time.process_time() - started < 1  # each takes some 10 ms


@pytest.mark.parametrize(
    "text",
    [
        "1" + " + 1" * (DEEPEST_NODES - 2),
        "(" * DEEPEST_BRACKETS + "1" + ")" * DEEPEST_BRACKETS,
        "[" + "1, " * 6_000 + "1]",
        "x < " * 4_000 + "x",
        "x" * LONGEST_NAME + " " * (LONGEST_EXPRESSION - LONGEST_NAME),
    ],
    ids=lambda text: repr(text[:20]),
)
def test_reads_what_is_just_within_bounds(text: str) -> None:
    parse_expression(SourceText.plain(text))


PIECES = st.sampled_from(
    [
        *("x", "E", "1", "2.5", "(", ")", "[", "]", "{", "}", ",", ":", ".", ".T", " ", "\n", "#"),
        *("+", "-", "*", "**", "/", "//", "%", "@", "==", "=", "<", ">=", "!", "~", "&", "^", "\\"),
        *(" and ", " or ", " not ", " if ", " else ", " in ", "lambda ", "yield ", "await "),
        *("'", '"', "f'", "é", "²", "\t", "\r", "\x00", "\u2028", "\ud800", "1e9", "0", "_", "…"),
    ]
)


@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join)))
@settings(max_examples=250)
def test_any_text_is_read_or_refused_at_a_place(text: str) -> None:
    for parse in (parse_expression, parse_model, parse_statement):
        try:
            parse(SourceText.plain(text))
        except DropcheckError as error:
            for problem in error.problems:
                assert problem.location is not None
                lines = text.split("\n")
                assert problem.location.line is not None
                assert 1 <= problem.location.line <= len(lines)
                assert problem.location.column is not None
                assert 1 <= problem.location.column <= len(lines[problem.location.line - 1]) + 1
                assert problem.message
