"""The report of a run for people: tables at every width, blocks, notes, terminals."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from report_cases import CONFIRMED, FAILED, PASSED, UNDECIDED, run_of

from dropcheck.report.screen import Terminal, render, styled, terminal_of
from dropcheck.report.table import MOST_BLOCKS, Columns, run_report, table
from dropcheck.report.words import worst
from dropcheck.results import Outcome, Verdict

# ---- a row a claim -------------------------------------------------------------------------------


def heads(report: str) -> list[str]:
    return report.splitlines()[0].split()


def test_a_table_leaves_out_columns_until_each_row_is_one_line() -> None:
    run = run_of(CONFIRMED, replace(FAILED, parameters={"law": "truncated_normal(0, 1, -2, 2)"}))
    assert heads(run_report(run, Terminal(160))) == [
        *("claim", "parameters", "claimed", "estimated", "exact", "interval", "within"),
        *("draws", "result"),
    ]
    assert heads(run_report(run, Terminal(90))) == [
        *("claim", "parameters", "claimed", "exact", "interval", "result")
    ]
    assert heads(run_report(run, Terminal(75))) == [
        *("claim", "claimed", "exact", "interval", "result")
    ]
    assert heads(run_report(run, Terminal(30))) == ["claim", "result"]
    for width in range(30, 161):
        text = run_report(run, Terminal(width)).split("\n\n")[0].splitlines()
        assert max(map(len, text)) <= width
        assert len(text) == 4


def test_a_long_parameter_is_cut_in_its_own_column() -> None:
    long = replace(PASSED, parameters={"law": "truncated_normal(0, 1, -2, 2)", "dk": 512.0})
    row = run_report(run_of(long, FAILED), Terminal(75)).splitlines()[2]
    assert "law=truncated_norma…" in row
    assert "verified" in row
    assert "dk=512" in run_report(run_of(long, FAILED), Terminal(75), verbose=1)


def test_a_name_stays_whole_beside_a_result_that_is_wrapped() -> None:
    long = replace(PASSED, claim="dropout-ones-tensor", confirmed=False)
    rows = run_report(run_of(long, FAILED), Terminal(34)).splitlines()[2:4]
    assert rows == ["dropout-ones-tensor  verified, not", "                     confirmed"]


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


# ---- what did not pass ---------------------------------------------------------------------------


def test_many_failures_are_counted_and_not_all_told() -> None:
    many = [replace(FAILED, parameters={"p": n / 100}) for n in range(MOST_BLOCKS + 4)]
    many[-1] = replace(many[-1], interval=(0.1, 0.2))  # the worst, which a row names
    many.append(replace(FAILED, claim="another"))
    report = run_report(run_of(*many), Terminal())
    assert report.count("  repeat ") == MOST_BLOCKS
    blocks = [line for line in report.splitlines() if line.startswith("FAIL: refuted  ")]
    assert [one.split()[2:] for one in blocks[:3]] == [
        [FAILED.claim, "p=0.23"], ["another", "p=0.3"], [FAILED.claim, "p=0"]
    ]  # fmt: skip
    assert "\nand 5 more cases that did not pass: --format json has each\n" in report
    assert "more case" not in run_report(run_of(*many[:MOST_BLOCKS]), Terminal(), quiet=True)


def test_a_warning_is_told_once_with_its_claims() -> None:
    ties = ("draws tie to within 1e-12: see isclose",)
    cases = [replace(PASSED, warnings=ties), replace(PASSED, parameters={}, warnings=ties)]
    report = run_report(run_of(*cases), Terminal())
    assert report.count("draws tie") == 1
    assert "warning: qk-variance (2 cases): draws tie to within 1e-12: see isclose" in report


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


def test_off_a_terminal_a_line_is_as_long_as_it_needs() -> None:
    assert terminal_of(_Stream(False), {}).width is None
    assert terminal_of(_Stream(False), {"COLUMNS": "40"}).width == 40
    assert terminal_of(_Stream(True), {"COLUMNS": "soup"}).width == 80


def test_user_text_is_no_markup() -> None:
    text = "Var[q.k] [/x] [bold]b[/bold] :smile: [link=http://x]"
    assert render([styled(text), text], Terminal()) == f"{text}\n{text}\n"


# ---- any table -----------------------------------------------------------------------------------

COLUMNS = Columns(
    names=("id", "title", "n", "never"), right=("n",), prose=("title",), headings={"id": "claim"}
)
ROWS: list[dict[str, str | tuple[str, str]]] = [
    {"id": ("a", "bold"), "title": "What it says, in more words than few", "n": "1"},
    {"id": ("longer", "bold"), "title": "漢字 é", "n": "1,000"},
    {"id": ("last", "bold"), "title": "[bold]x[/bold] …"},
]


def test_a_table_is_set_in_columns_and_wraps_its_prose() -> None:
    assert render(table(ROWS, COLUMNS, Terminal(40)), Terminal(40)) == (
        "claim   title                          n\n"
        "────────────────────────────────────────\n"
        "a       What it says, in more          1\n"
        "        words than few\n"
        "longer  漢字 é                     1,000\n"
        "last    [bold]x[/bold] …\n"
    )


def test_a_table_without_room_has_a_block_a_row() -> None:
    assert render(table(ROWS[:2], COLUMNS, Terminal(24)), Terminal(24)) == (
        "a\n"
        "  title  What it says,\n"
        "         in more words\n"
        "         than few\n"
        "  n      1\n"
        "\n"
        "longer\n"
        "  title  漢字 é\n"
        "  n      1,000\n"
    )
