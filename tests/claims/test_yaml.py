"""Bytes and YAML: what is not YAML, and what YAML allows and the format does not."""

from __future__ import annotations

import time

import pytest
from claims_texts import WHOLE, place, problems_of, the_problem

from dropcheck.claims import claimsfile
from dropcheck.claims.claimsfile import DEEPEST
from dropcheck.claims.reader import read_text


@pytest.mark.parametrize(
    ("data", "at", "message", "hint"),
    [
        (b"dropcheck: 1\n# caf\xe9\n", (2, 6), "not UTF-8: byte 0xe9 at offset 18", "UTF-8"),
        (b"a: 1\nb: \xc3", (2, 4), "not UTF-8: byte 0xc3 at offset 8", "UTF-8"),
        ("a: 1\nb: x\x00", (2, 5), "a NUL character", "delete it"),
        ("a: \x1b[31m", (1, 4), "the control character U+001B", "delete it"),
        ("a: x\u2028y", (1, 5), "U+2028", "delete it"),
        ("a: x\ufeffy", (1, 5), "byte order mark", "delete it"),
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
    monkeypatch.setattr(claimsfile, "MOST_NODES", 60)
    read_text(WHOLE.split("  listed:", maxsplit=1)[0])
    assert "more than 60 entries" in the_problem(WHOLE).message


LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)


def test_a_file_of_a_billion_laughs_is_only_reported() -> None:
    start = time.process_time()
    messages = [problem.message for problem in problems_of(LAUGHS)]
    assert sum("is an alias" in message for message in messages) == 81
    assert time.process_time() - start < 2
