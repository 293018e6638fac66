"""A figure near an edge of its rounding: a case that draws leave open says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dropcheck.cli import main

PAPER = """# Edges

The share is 94.6%<!-- dropcheck #share: ~= E(m); model: m ~ bernoulli(q); q: 0.94551 -->, and
that of 0.5<!-- dropcheck #fine: ~= E(m); model: m ~ bernoulli(q); q: 0.5 --> is far from one.
"""
WHERE = "within 0.01 of a unit of the edge of its rounding"
REMEDY = "print 95% or 94.55%"


@pytest.fixture
def paper(tmp_path: Path) -> str:
    path = tmp_path / "paper.md"
    path.write_text(PAPER, encoding="utf-8")
    return str(path)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(arguments)
    captured = capsys.readouterr()
    return " ".join((captured.out + captured.err).split())


def test_show_says_what_the_digits_claim(paper: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "show", "share", "-f", paper)
    assert "written 94.6% read 0.946 ~= E(m)" in text
    assert "rounding 0.946 ± 0.0005" in text


def test_an_undecided_case_says_so(paper: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "run", "-f", paper, "--draws-only", "--max-draws", "1e5")
    assert f"; {WHERE}: {REMEDY}" in text
    found = json.loads(
        printed(
            capsys, "run", "-f", paper, "--draws-only", "--max-draws", "1e5", "--format", "json"
        )
    )
    assert [case["edge"] is None for case in found["cases"]] == [False, True]


def test_what_is_decided_by_its_exact_value_needs_no_advice(
    paper: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(capsys, "run", "-f", paper, "--exact")
    assert "2 passed" in text
    assert WHERE not in text
