"""Bytes and YAML: what is not YAML, and what YAML allows and the format does not."""

from __future__ import annotations

import time

import pytest
from bad_inputs import DEEPEST_BRACKET
from claims_texts import GOOD, WHOLE, place, problems_of, the_problem

from dropcheck.claims import yaml_places
from dropcheck.claims.reader import read_text
from dropcheck.claims.values import DEEPEST


@pytest.mark.parametrize(
    ("data", "at", "message", "hint"),
    [
        (b"dropcheck: 1\n# caf\xe9\n", (2, 6), "not UTF-8: byte 0xe9 at offset 18", "UTF-8"),
        (b"\xff\xfed\x00", (1, 1), "not UTF-8: byte 0xff at offset 0", "UTF-8"),
        (b"a: 1\nb: \xc3", (2, 4), "not UTF-8: byte 0xc3 at offset 8", "UTF-8"),
        ("a: 1\nb: x\x00", (2, 5), "a NUL character", "delete it"),
        ("a: \x1b[31m", (1, 4), "the control character U+001B", "delete it"),
        ("a: x\u2028y", (1, 5), "U+2028", "delete it"),
        ("a: x\ufeffy", (1, 5), "byte order mark", "delete it"),
        ("", (1, 1), "the file is empty", "begins with 'dropcheck: 1'"),
        ("\n \n", (1, 1), "the file is empty", "begins with 'dropcheck: 1'"),
        ("---\n", (1, 1), "the file is empty", "begins with 'dropcheck: 1'"),
        ("# one\n# two\n", (1, 1), "only comments", "begins with 'dropcheck: 1'"),
        ("- a\n", (1, 1), "is a mapping of names to values, and this is a list", "begins with"),
        ("claims", (1, 1), "and this is 'claims'", "begins with"),
        ("a:\n\tb: 1", (2, 1), "there is a tab where YAML needs spaces", "indent with spaces"),
        ("a: 1\n \tb: 1", (2, 2), "there is a tab where YAML needs spaces", "indent with spaces"),
        ("a: 'x", (1, 4), "the quote ' that opens here is never closed", "close it with '"),
        ('a: 1\nb: "x\nc: d\n', (2, 4), 'the quote " that opens here is never', 'close it with "'),
        ("title: One: two", (1, 11), "a title that holds ': ' needs quotes", '"One: two"'),
        ("note: One: 2\nb: 1", (1, 10), "a text that holds ': ' needs quotes", '"One: 2"'),
        ("a: 1\n  b: 2", (2, 4), "a key cannot be here", "indent it like the keys"),
        ("a: [1, 2", (1, 4), "',' or ']' is expected by the end of the file", "close it with ']'"),
        ("a: [1\nb: 3", (1, 4), "',' or ']' is expected by line 2, column 2", "close it with ']'"),
        ("a: {b: s[1]}", (1, 4), "',' or '}' is expected by line 1", "brackets in quotes"),
        ("a: {b: 1", (1, 4), "',' or '}' is expected by the end of the file", "close it with '}'"),
        ("a: ]", (1, 4), "a value is expected here", "']' is not one"),
        ("a: 1\n}", (2, 1), "'}' closes no bracket", "take it out"),
        ("a: @x", (1, 4), "a text cannot begin with '@' unless it is quoted", "'@x'"),
        ("a: `x`", (1, 4), "a text cannot begin with '`' unless it is quoted", "'`x`'"),
        ("a: [*, b]", (1, 5), "a text cannot begin with '*' unless it is quoted", "quotes"),
        ("a: - b", (1, 4), "a list of '- …' cannot begin on this line", "[a, b]"),
        ("- a\nb: 1", (2, 1), "an item of the list", "in column 1"),
        (
            "a:\n    b: 1\n  c: 2",
            (3, 3),
            "the indentation matches no other key",
            "indent it like the keys",
        ),
        ("a: 'it's'", (1, 8), "a line break is expected here", "'it''s'"),
        ("a: b\nc", (2, 1), "a key with ': ' after it is expected here", "key: value"),
        ("a: > x", (1, 6), "there cannot be text on the line of '>'", "next line"),
        ('a: "\\q"', (1, 5), "escape after '\\'", "single quotes"),
        ("  a: 1\nb: 2", (2, 1), "has ended before this", "first column"),
        ("%NO\na: 1", (1, 4), "this is not YAML: found unknown directive name", ""),
        ("[" * 10_000_000, (1, DEEPEST_BRACKET), f"nested more than {DEEPEST} deep", "five levels"),
        ("{a: " * 1_000, (1, 4 * DEEPEST + 1), f"nested more than {DEEPEST} deep", "five levels"),
        ("- " * 1_000_000, (1, 2 * DEEPEST + 1), f"nested more than {DEEPEST} deep", "five levels"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_not_yaml(data: str | bytes, at: tuple[int, int], message: str, hint: str) -> None:
    start = time.process_time()
    problem = the_problem(data)
    assert message in problem.message
    assert place(problem) == at
    assert hint in (problem.hint or "")
    assert time.process_time() - start < 2  # each takes some 10 ms; following 10 MB takes minutes


def test_a_file_of_too_many_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_places, "MOST_NODES", 60)
    read_text(WHOLE.split("  listed:", maxsplit=1)[0])
    assert "more than 60 entries" in the_problem(WHOLE).message


LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "at", "message", "hint"),
    [
        (GOOD + "---\na: 1\n", (3, 1), "more than one YAML document", "split the file"),
        (GOOD.replace("1 ==", "&x 1 =="), (2, 31), "'&x' is an anchor", "take it out"),
        (GOOD.replace("1 == 1", "*x"), (2, 31), "'*x' is an alias", "write the value out"),
        (GOOD.replace("1 ==", "!!str 1 =="), (2, 31), "'!!str' is a tag", "in quotes"),
        (GOOD.replace("T,", "!!python/object/apply:os.system [ls],"), (2, 21), "is a tag", ""),
        (
            GOOD.replace("{title", "{<<: {note: N}, title"),
            (2, 14),
            "'<<' is a merge key",
            "merging",
        ),
        (
            GOOD.replace("T,", "T, title: U,"),
            (2, 24),
            "'title' is given twice: first on line 2",
            "one",
        ),
        (GOOD.replace("T,", '"\\e[2J",'), (2, 21), "the control character U+001B", "escape out"),
        (GOOD + "claims: {}\n", (3, 1), "'claims' is given twice: first on line 2", "rename"),
        (GOOD.replace("T,", "T, ? [b] : 1,"), (2, 26), "a key must be a name, and is a list", ""),
    ],
)
def test_what_yaml_allows_and_the_format_does_not(
    text: str, at: tuple[int, int], message: str, hint: str
) -> None:
    problem = problems_of(text)[0]
    assert message in problem.message
    assert place(problem) == at
    assert hint in (problem.hint or "")


def test_the_file_that_these_vary_is_good() -> None:
    assert list(read_text(GOOD).claims) == ["a"]


def test_a_file_of_a_billion_laughs_is_only_reported() -> None:
    start = time.process_time()
    messages = [problem.message for problem in problems_of(LAUGHS)]
    assert sum("is an alias" in message for message in messages) == 81
    assert time.process_time() - start < 2
