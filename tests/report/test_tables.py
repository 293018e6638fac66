"""Tables, cards and problems for people: at every width, and on every terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from report_cases import FAILED, PASSED, UNDECIDED, run_of

from dropcheck.errors import Location, Problem
from dropcheck.report.screen import Terminal, problems_text, terminal_of
from dropcheck.report.table import conformance, run_report
from dropcheck.report.words import worst
from dropcheck.results import CaseResult, Outcome, Region, Verdict

# ---- a row a claim -------------------------------------------------------------------------------


STATEMENTS = (
    replace(PASSED, claim="two.mean"),
    replace(PASSED, claim="two.spread", parameters={"dk": 64.0}, interval=(507.5, 516.9)),
    replace(PASSED, claim="two.spread", parameters={"dk": 1.0}),
)


def test_a_row_is_a_claim_then_a_statement_then_a_case() -> None:
    run = run_of(*STATEMENTS, UNDECIDED)

    def firsts(verbose: int) -> list[str]:
        text = run_report(run, Terminal(200), verbose=verbose)
        return [line.split()[0] for line in text.split("\n\n")[0].splitlines()[2:]]

    assert firsts(0) == ["two", "heavy-tail"]
    assert firsts(1) == ["two.mean", "two.spread", "heavy-tail"]
    assert firsts(2) == ["two.mean", "two.spread", "two.spread", "heavy-tail"]
    row = run_report(run, Terminal(200)).splitlines()[2]
    assert "spread, dk=64" in row  # the worst
    assert "3/3" in row


def test_the_worst_is_the_failure_however_near_and_then_the_least_clear() -> None:
    clear = replace(PASSED, interval=(511.9, 512.1))
    assert worst([clear, PASSED]) is PASSED
    assert worst([PASSED, UNDECIDED, FAILED]) is FAILED
    assert worst([UNDECIDED, PASSED]) is UNDECIDED
    refuted = replace(FAILED, expect=Verdict.REFUTED, result=Outcome.PASS)
    closer = replace(refuted, interval=(0.87, 0.89))
    assert worst([refuted, closer]) is closer


LONG = replace(
    FAILED,
    claim="a-very-long-identifier-of-a-claim-that-goes-on-and-on",
    parameters={"keep_probability": 0.123456789, "law": "truncated_normal(0, 1, -2, 2)"},
)


@pytest.mark.parametrize("width", [None, 30, 40, 60, 80, 160])
@pytest.mark.parametrize("verbose", [0, 1, 2])
def test_nothing_that_matters_of_a_failure_is_cut(width: int | None, verbose: int) -> None:
    report = run_report(run_of(PASSED, LONG), Terminal(width), verbose=verbose)
    block = "".join(report.partition("\n\n")[2].split())
    for text in (
        LONG.claim,
        "keep_probability=0.123456789,law=truncated_normal(0,1,-2,2)",
        "A title with [/x], :smile: and Var[q.k]",
        "[0.691,0.710]",
        "262k",
        "FAIL: refuted",
        LONG.repeat,
    ):
        assert "".join(text.split()) in block
    for line in report.splitlines():
        assert len(line) <= (width or 999) or line.startswith("  repeat ")


# ---- terminals -----------------------------------------------------------------------------------


class _Stream(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize(
    ("tty", "environ", "colour"),
    [
        (True, {"TERM": "xterm"}, True),
        (False, {"TERM": "xterm"}, False),
        (True, {"TERM": "dumb"}, False),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (True, {"NO_COLOR": "", "TERM": "xterm"}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (True, {"FORCE_COLOR": "0", "TERM": "xterm"}, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(
    tty: bool, environ: dict[str, str], colour: bool
) -> None:
    terminal = terminal_of(_Stream(tty), environ)
    assert terminal.colour is colour
    assert ("\x1b[" in run_report(run_of(FAILED), terminal)) is colour


# ---- any table -----------------------------------------------------------------------------------


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


def signs(cases: Sequence[CaseResult], *, each: bool) -> Iterator[str]:
    for row in conformance(cases, each)[0]:
        cells = (cell if isinstance(cell, str) else cell[0] for cell in row.values())
        yield " ".join(cell.partition("\n")[0] for cell in cells)


def test_a_cell_is_the_worst_case_of_a_claim_in_a_column() -> None:
    low = of_code(LOW, "torch")
    cases = [at(MEAN, p) for p in (0.1, 0.2, 0.3)]
    cases += [at(low, 0.1), at(low, 0.2), at(of_code(MEAN, "torch"), 0.3)]
    assert [*signs(cases, each=False)] == ["mean  ✓ ✗"]
    assert [*signs(cases, each=True)] == ["mean p=0.1 ✓ ✗", "mean p=0.2 ✓ ✗", "mean p=0.3 ✓ ✓"]


@pytest.mark.parametrize("width", [24, 30, 40, 80, 160])
@pytest.mark.parametrize("verbose", [0, 1])
def test_every_column_is_shown_at_every_width(width: int, verbose: int) -> None:
    text = run_report(run_of(*CASES), Terminal(width), verbose=verbose)
    commands = ("dropcheck ", "repeat")
    lines = [one for one in text.splitlines() if not one.lstrip().startswith(commands)]
    assert max(map(len, lines)) <= width
    shown = text.split("FAIL: refuted")[0]
    for mark in "✓✗?-":
        assert mark in shown
    assert shown.count("bfloat16") >= 2
    assert ("0.99810" in shown) is bool(verbose)


# ---- problems ------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", [1, 5, 57, 250, 499, 500, 501, 900])
@pytest.mark.parametrize("width", [None, 40, 80])
def test_a_long_line_is_shown_around_its_column(column: int, width: int | None) -> None:
    text = "".join(chr(ord("a") + n % 26) for n in range(500))
    problem = Problem("wrong", Location("f", 1, column, text))
    _, shown, caret, _ = problems_text([problem], Terminal(width)).splitlines()
    assert max(len(shown), len(caret)) <= (width or 104) + 1
    assert caret.strip() == "^"
    at = caret.index("^")
    if column <= 500:
        assert shown[at] == text[column - 1]
    else:
        assert at == len(shown)
