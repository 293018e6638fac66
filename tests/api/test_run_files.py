"""`dropcheck.run`: claims of files from Python, on any executor."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dropcheck
from dropcheck.errors import NothingSelected
from dropcheck.results import CaseResult

TEXT = """
dropcheck: 1
claims:
  one: {title: One, model: "x ~ normal(0, 1)", claim: E(x**2) == 1}
  two: {title: Two, model: "x ~ normal(0, 1)", claim: P(x > 0) == 0.6, expect: refuted}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def cases(result: Any) -> list[CaseResult]:
    return [replace(one, seconds=0, more_seconds=None) for one in result.cases]


def test_an_executor_changes_nothing(file: Path) -> None:
    alone = dropcheck.run(file, threads=1)
    assert [one.result.value for one in alone.cases] == ["pass", "pass"]
    with ThreadPoolExecutor(2) as executor:
        assert cases(dropcheck.run(file, executor=executor, workers=2)) == cases(alone)


def test_claims_are_chosen_by_id(file: Path) -> None:
    assert [one.claim for one in dropcheck.run(file, claims="t*").cases] == ["two"]
    with pytest.raises(NothingSelected):
        dropcheck.run(file, claims="q*")


def test_errors_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(TEXT.replace("normal(0, 1)", "nromal(0, 1)"), encoding="utf-8")
    with pytest.raises(dropcheck.DropcheckError) as raised:
        dropcheck.run(path)
    assert len(raised.value.problems) == 2


def test_wrong_limits(file: Path) -> None:
    with pytest.raises(dropcheck.DropcheckError, match="alpha"):
        dropcheck.run(file, alpha=2.0)
