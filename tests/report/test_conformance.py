"""The conformance table: rows and marks, in every format, and at every width."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from report_cases import PASSED, UNDECIDED, run_of

from dropcheck.claims.registry import Registry
from dropcheck.reasons import Reason
from dropcheck.report import Report
from dropcheck.report.conformance import conformance, sign
from dropcheck.report.formats import FORMATS
from dropcheck.report.screen import Terminal
from dropcheck.report.table import run_report
from dropcheck.results import CaseResult, Outcome, Region, Verdict

MEAN = replace(
    PASSED, claim="mean", parameters={"p": 0.1}, title="The mean is kept", statement="E(y) == 1",
    expression="E(y)", region=Region(1.0, 1.0), estimate=1.0002, interval=(0.9997, 1.0006),
    scale=1.0, repeat="dropcheck run mean --p 0.1",
)  # fmt: skip
LOW = replace(
    MEAN, estimate=0.9985, interval=(0.9981, 0.9988), verdict=Verdict.REFUTED, result=Outcome.FAIL
)


def of_code(case: CaseResult, name: str, dtype: str = "float32", **changes: Any) -> CaseResult:
    made = replace(
        case, claim=f"{case.claim}@{name}", of=case.claim, column=name, dtype=dtype,
        parameters={**case.parameters, "dtype": dtype}, repeat=f"{case.repeat} --with {name}",
    )  # fmt: skip
    return replace(made, **changes)


def at(case: CaseResult, p: float) -> CaseResult:
    return replace(case, parameters={**case.parameters, "p": p})


WIDE = replace(UNDECIDED, claim="spread")
CASES = (MEAN, WIDE, of_code(MEAN, "torch"), of_code(LOW, "torch", "bfloat16"),
         of_code(MEAN, "jax"), of_code(LOW, "jax", "bfloat16"), of_code(WIDE, "torch"))  # fmt: skip


def made(name: str, *cases: CaseResult) -> str:
    report = Report(run_of(*cases), Registry("claims.yaml", {}, {}), terminal=Terminal())
    text = FORMATS[name].make(report)
    assert isinstance(text, str)
    return text


def signs(*cases: CaseResult) -> Iterator[tuple[str, str, str]]:
    table = conformance(cases)
    assert table is not None
    for row in table.rows:
        yield row.claim, row.parameters, "".join(map(sign, row.cells))


def test_the_table_is_exactly_this() -> None:
    assert run_report(run_of(*CASES), Terminal(80)).split("\n\n")[:2] == [
        """\
               torch    torch     jax      jax
claim   model  float32  bfloat16  float32  bfloat16
───────────────────────────────────────────────────
mean    ✓      ✓        ✗         ✓        ✗
spread  ?      ?        -         -        -
? undecided · - says nothing of it""",
        """\
✗ mean@torch bfloat16, p=0.1: E(y) is 0.99850, claimed 1
  dropcheck run mean --p 0.1 --with torch
✗ mean@jax bfloat16, p=0.1: E(y) is 0.99850, claimed 1
  dropcheck run mean --p 0.1 --with jax
? spread: Std(y) is 0.410, claimed 0.405 … 0.415; the interval is still too
wide; needs about 1.3e6 more draws (--max-draws 1.5e6)
  dropcheck run heavy-tail --seed 0
? spread@torch float32: Std(y) is 0.410, claimed 0.405 … 0.415; the interval is
still too wide; needs about 1.3e6 more draws (--max-draws 1.5e6)
  dropcheck run heavy-tail --seed 0 --with torch""",
    ]


BROKEN = of_code(
    UNDECIDED, "torch", result=Outcome.ERROR, estimate=None, interval=None, region=None,
    more_draws=None, explanation=Reason.CODE_FAILED.explain(error="f raised E: no", hint="see f"),
)  # fmt: skip


def test_an_error_of_code_is_a_cell_and_is_said_in_every_format() -> None:
    text = run_report(run_of(MEAN, BROKEN), Terminal(80))
    assert "heavy-tail  -      error" in text
    assert "error could not be judged" in text
    assert "error heavy-tail@torch float32: f raised E: no; see f\n  dropcheck run heavy" in text
    assert "1 passed, 0 failed, 0 undecided, 1 error" in text
    assert "ERROR  heavy-tail@torch" in run_report(run_of(BROKEN), Terminal(80), verbose=1)
    assert "- error `heavy-tail@torch float32`: f raised E: no; see f" in made("markdown", BROKEN)
    assert "f raised E: no" in made("csv", BROKEN)
    assert "f raised E: no" in made("github", BROKEN)
    data = json.loads(made("json", MEAN, BROKEN))
    assert data["summary"]["errors"] == 1
    assert data["cases"][1]["result"] == "error"
    [suite] = ElementTree.fromstring(made("junit", MEAN, BROKEN))
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "2", "failures": "0", "errors": "1",
    }  # fmt: skip
    [error] = suite.iter("error")
    assert error.get("message") == "f raised E: no"


def test_parameter_values_share_a_row_where_all_columns_are_alike() -> None:
    low = of_code(LOW, "torch")
    cases = [at(MEAN, p) for p in (0.1, 0.2, 0.3)]
    cases += [at(low, 0.1), at(low, 0.2), at(of_code(MEAN, "torch"), 0.3)]
    assert list(signs(*cases)) == [("mean", "p=0.1, 0.2", "✓✗"), ("mean", "p=0.3", "✓✓")]
    alike = [*cases[:3], *(at(low, p) for p in (0.1, 0.2, 0.3))]
    assert list(signs(*alike)) == [("mean", "", "✓✗")]
    assert "p=0.1 and 2 more" in run_report(run_of(*alike), Terminal())
    each = conformance(cases, each=True)
    assert each is not None
    assert [row.parameters for row in each.rows] == ["p=0.1", "p=0.2", "p=0.3"]


@pytest.mark.parametrize("width", [24, 30, 40, 80, 160])
@pytest.mark.parametrize("verbose", [0, 1])
def test_every_column_is_shown_at_every_width(width: int, verbose: int) -> None:
    text = run_report(run_of(*CASES), Terminal(width), verbose=verbose)
    commands = ("dropcheck ", "repeat")
    lines = [one for one in text.splitlines() if not one.lstrip().startswith(commands)]
    assert max(map(len, lines)) <= width
    shown = text.split("✗ mean@torch")[0]
    for mark in "✓✗?-":
        assert mark in shown
    assert shown.count("bfloat16") >= 2
    assert ("0.99810" in text) is bool(verbose)
