"""Functions of a test file that implement slots, and implementations of pytest's ini file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plugin_sessions import Pytester  # which loads what sessions within would forget

import dropcheck
from dropcheck import DropcheckError
from dropcheck.code.decorator import MARK, adapter_of, slot_of
from dropcheck.pytest_plugin import IMPLEMENTS

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
TEST = """\
import dropcheck

@dropcheck.implements("claims.yaml", dtypes=["float32"])
def scaled(x, c):
    return c * x

@dropcheck.implements("claims.yaml", slot="scaled")
def broken(x, c):
    return c * x + (x > 1.9)

def test_by_itself():
    assert scaled(2, 3) == 6
"""


@pytest.fixture
def folder(pytester: Pytester) -> Path:
    (pytester.path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (pytester.path / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    (pytester.path / "test_layers.py").write_text(TEST, encoding="utf-8")
    return pytester.path


def collected(pytester: Pytester, *arguments: str) -> list[str]:
    printed = pytester.runpytest("--collect-only", "-q", *arguments).outlines
    return printed[: printed.index("")]


@pytest.mark.usefixtures("folder")
def test_a_function_is_a_test_a_claim(pytester: Pytester) -> None:
    assert collected(pytester) == [
        "test_layers.py::scaled::values@numpy[c=2,dtype=float32]",
        "test_layers.py::scaled::values@numpy[c=3,dtype=float32]",
        "test_layers.py::broken::values@numpy[c=2,dtype=float64]",
        "test_layers.py::broken::values@numpy[c=3,dtype=float64]",
        "test_layers.py::test_by_itself",
    ]


@pytest.mark.usefixtures("folder")
def test_what_fails_is_told_with_the_command_that_repeats_it(pytester: Pytester) -> None:
    done = pytester.runpytest("-q")
    done.assert_outcomes(passed=3, failed=2)
    again = "test_layers.py::broken::values@numpy[c=2,dtype=float64]"
    done.stdout.fnmatch_lines([f"*repeat*pytest '{again.replace('[', '[[]')}'"])
    pytester.runpytest(again).assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("claims.yaml", "claim.yaml", "claim.yaml"),
        ('slot="scaled"', 'slot="scald"', "claims.yaml has no slot 'scald'"),
        ('slot="scaled"', 'slot="scald"', "did you mean 'scaled'?"),
        ('slot="scaled"', 'adapter="troch"', "has no slot 'broken'"),
        ('slot="scaled"', 'slot="scaled", adapter="troch"', "there is no adapter 'troch'"),
        ('"float32"', '"float23"', "did you mean 'float32'?"),
        ('["float32"]', '"float32"', "'dtypes' of 'implements' is a list of names"),
    ],
)
def test_what_cannot_be_bound_is_an_error(
    old: str, new: str, said: str, folder: Path, pytester: Pytester
) -> None:
    (folder / "test_layers.py").write_text(TEST.replace(old, new), encoding="utf-8")
    done = pytester.runpytest("-q")
    assert done.ret in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.TESTS_FAILED)
    assert said in done.stdout.str()


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


def test_what_fails_as_expected_is_so_under_pytest(folder: Path, pytester: Pytester) -> None:
    (folder / "ours.py").write_text("def scaled(x, c): return c * x + x\n", encoding="utf-8")
    (folder / "pyproject.toml").write_text(
        '[tool.dropcheck.implementations.ours]\nscaled = "ours:scaled"\n'
        '[tool.dropcheck.implementations.ours.xfail]\nvalues = "it adds x"\n',
        encoding="utf-8",
    )
    (folder / "pytest.ini").write_text(
        "[pytest]\ndropcheck_files = claims.yaml\ndropcheck_implementations = ours\n",
        encoding="utf-8",
    )
    done = pytester.runpytest("claims.yaml", "-k", "values and ours", "-rx")
    done.assert_outcomes(xfailed=2, deselected=3)
    done.stdout.fnmatch_lines(["*it adds x*"])
    (folder / "ours.py").write_text("def scaled(x, c): return c * x\n", encoding="utf-8")
    done = pytester.runpytest_subprocess("claims.yaml", "-k", "values and ours")
    done.assert_outcomes(failed=2, deselected=3)
    done.stdout.fnmatch_lines(["*it holds, and is expected to fail: it adds x*"])


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


# ---- without pytest ------------------------------------------------------------------------------


def test_the_function_stays_as_it_is() -> None:
    def double(x: float) -> float:
        return 2 * x

    assert dropcheck.implements("a.yaml")(double) is double
    assert double(2) == 4
    dropcheck.implements("b.yaml", slot="double")(double)
    assert [one.file for one in vars(double)[MARK]] == ["a.yaml", "b.yaml"]
    assert MARK == IMPLEMENTS


def test_arguments_of_other_types_are_refused() -> None:
    wrong: Any = dropcheck.implements
    for arguments, named in [((len,), {}), ((3,), {}), (("a.yaml",), {"dtypes": [1]})]:
        with pytest.raises(DropcheckError):
            wrong(*arguments, **named)


def test_the_only_slot_needs_no_name() -> None:
    (asked,) = vars(dropcheck.implements("a.yaml")(lambda x: x))[MARK]
    assert slot_of(asked, lambda x: x, ["scaled"]) == "scaled"
    with pytest.raises(DropcheckError, match="has no slot '<lambda>'"):
        slot_of(asked, lambda x: x, ["scaled", "noisy"])


def test_the_framework_is_the_one_that_code_uses() -> None:
    def of_numpy(x: Any) -> Any:
        return np.tanh(x)

    def of_torch(x: Any) -> Any:
        import torch

        return torch.tanh(x)

    assert adapter_of(of_numpy) == "numpy"
    assert adapter_of(np.tanh) == "numpy"
    if "torch" in __import__("sys").modules:
        assert adapter_of(of_torch) == "torch"
