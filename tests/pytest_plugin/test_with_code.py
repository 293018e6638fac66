"""Implementations of pytest's ini file are columns of its tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin_sessions import Pytester  # which loads what sessions within would forget

pytest_plugins = ["pytester"]

pytestmark = pytest.mark.usefixtures("sessions_of_their_own")

CLAIMS = """\
dropcheck: 1
slots:
  scaled:
    title: A number times another
    takes: [x, c]
    gives: c * x
  noisy: {title: With noise, takes: [x], model: "e ~ normal(0, 1)", gives: x + e}
claims:
  values:
    title: Each number is scaled
    parameters: {c: [2, 3]}
    model: |
      x ~ uniform(1, 2)
      y = scaled(x, c)
    claim: P(y == c * x) == 1
  other:
    title: The noise has mean 0
    model: |
      x ~ uniform(1, 2)
      y = noisy(x)
    claim: E(y - x) == 0
    within: 0.1
"""


@pytest.fixture
def folder(pytester: Pytester) -> Path:
    (pytester.path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (pytester.path / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    return pytester.path


def collected(pytester: Pytester, *arguments: str) -> list[str]:
    printed = pytester.runpytest("--collect-only", "-q", *arguments).outlines
    return printed[: printed.index("")]


def test_implementations_of_the_ini_file_are_columns(folder: Path, pytester: Pytester) -> None:
    (folder / "ours.py").write_text("def scaled(x, c): return c * x\n", encoding="utf-8")
    (folder / "plain.yaml").write_text(
        "dropcheck: 1\nclaims: {one: {title: One, claim: 1 == 1}}\n", encoding="utf-8"
    )
    (folder / "pytest.ini").write_text(
        "[pytest]\ndropcheck_files = claims.yaml plain.yaml\n"
        "dropcheck_implementations = ours:scaled=ours:scaled\n",
        encoding="utf-8",
    )
    found = collected(pytester, "claims.yaml", "plain.yaml")
    assert [one for one in found if "@" in one] == [
        "claims.yaml::values@ours[c=2,dtype=float64]",
        "claims.yaml::values@ours[c=3,dtype=float64]",
    ]
    assert "plain.yaml::one" in found
    pytester.runpytest("claims.yaml", "-k", "ours").assert_outcomes(passed=2, deselected=3)


def test_an_unknown_implementation_of_the_ini_file_is_an_error(
    folder: Path, pytester: Pytester
) -> None:
    (folder / "pytest.ini").write_text(
        "[pytest]\ndropcheck_files = claims.yaml\ndropcheck_implementations = troch\n",
        encoding="utf-8",
    )
    done = pytester.runpytest("claims.yaml")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*did you mean 'torch'?*"])
