"""The report of a run for people: tables at every width, blocks, notes, terminals."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from report_cases import CONFIRMED, FAILED, PASSED, UNDECIDED, run_of

from dropcheck.claims.reader import read_registries
from dropcheck.claims.registry import Registry
from dropcheck.errors import Problem
from dropcheck.report import Report
from dropcheck.report.formats import PRINTED
from dropcheck.report.screen import Terminal, plain, render, styled, terminal_of
from dropcheck.report.table import MOST_BLOCKS, Columns, run_report, table
from dropcheck.report.words import worst
from dropcheck.results import Outcome, Quantity, Region, Verdict

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
        *("claim", "parameters", "claimed", "estimated", "interval", "result")
    ]
    assert heads(run_report(run, Terminal(30))) == ["claim", "result"]
    for width in range(30, 161):
        text = run_report(run, Terminal(width)).split("\n\n")[0].splitlines()
        assert max(map(len, text)) <= width
        assert len(text) == 4


def test_a_long_parameter_is_cut_in_its_own_column() -> None:
    long = replace(PASSED, parameters={"law": "truncated_normal(0, 1, -2, 2)", "dk": 512.0})
    row = run_report(run_of(long, FAILED), Terminal(75)).splitlines()[2]
    assert "law=truncated_normal(0,…" in row
    assert "verified" in row
    assert "dk=512" in run_report(run_of(long, FAILED), Terminal(75), verbose=1)


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


def test_what_is_alone_is_shown_in_its_parts() -> None:
    assert "two.mean " in run_report(run_of(*STATEMENTS), Terminal(200))
    report = run_report(run_of(*STATEMENTS[1:]), Terminal(200))
    assert "dk=64 " in report
    assert "dk=1 " in report


def test_the_claims_that_ship_take_one_screen() -> None:
    names = read_registries(["shipped"]).claims
    cases = [replace(PASSED, claim=name, parameters={"w": "x" * 60}) for name in names]
    lines = run_report(run_of(*cases), Terminal(120)).splitlines()
    assert len(cases) > 80 >= len(lines)
    assert max(map(len, lines)) <= 120


def test_verbose_says_who_drew() -> None:
    run = replace(run_of(PASSED, FAILED), drawn_by={"2 processes": 1, "1 thread": 1})
    said = "1 case drawn by 2 processes · 1 case drawn by 1 thread\n2 cases: "
    assert said in run_report(run, Terminal(200), verbose=True)
    assert "drawn by" not in run_report(run, Terminal(200))


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
@pytest.mark.parametrize("ascii_only", [False, True])
def test_nothing_that_matters_of_a_failure_is_cut(
    width: int | None, verbose: int, ascii_only: bool
) -> None:
    terminal = Terminal(width, ascii=ascii_only)
    report = run_report(run_of(PASSED, LONG), terminal, verbose=verbose)
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
    assert report.isascii() is ascii_only
    for line in report.splitlines():
        assert len(line) <= (width or 999) or line.startswith("  repeat ")


# ---- what did not pass ---------------------------------------------------------------------------


def test_a_failure_s_block_says_all_there_is_to_know() -> None:
    report = run_report(run_of(PASSED, FAILED), Terminal(), quiet=True)
    assert report == (
        "FAIL: refuted  naive-dropout  p=0.3\n"
        "  title       A title with [/x], :smile: and Var[q.k]\n"
        "  statement   P(x > 3) >= 0.9\n"
        "  claimed     >= 0.9\n"
        "  estimated   0.700\n"
        "  interval    [0.691, 0.710]\n"
        "  distance    200 standard errors below, 22.2% of the scale\n"
        "  resolution  0.01 of 0.9: ±0.009\n"
        "  confidence  1 - 9e-9\n"
        "  guarantee   moments\n"
        "  draws       262k\n"
        "  reading     false as stated: the interval misses what is claimed\n"
        "  where       claims.yaml:40\n"
        "  repeat      dropcheck run naive-dropout --p 0.3 --seed 0\n"
        "\n"
        "2 cases: 1 passed, 1 failed, 0 undecided · 524k draws · 0.9 s · seed 0 · α 1e-6"
        " · claims.yaml\n"
    )


def test_a_command_to_repeat_is_never_broken() -> None:
    long = replace(FAILED, repeat="dropcheck run naive-dropout " + "--p 0.3 " * 30)
    assert long.repeat.strip() in run_report(run_of(long), Terminal(40))


def test_a_difference_of_two_estimates_is_called_one() -> None:
    case = replace(
        FAILED,
        quantity=Quantity.LEFT_MINUS_RIGHT,
        region=Region(0.0, 0.0),
        estimate=0.3,
        interval=(0.29, 0.31),
        sides=(1.2, 0.9),
        relations=("==",),
    )
    report = run_report(run_of(case), Terminal())
    assert "  claimed     1.200 == 0.900\n  quantity    left side minus right side\n" in report
    assert " diff 0.300  [0.290, 0.310] " in report.splitlines()[2]
    assert "minus" not in run_report(run_of(replace(case, quantity=Quantity.LEFT)), Terminal())


@pytest.mark.parametrize(
    ("verbose", "quiet", "where"),
    [
        (0, False, "-vv shows a row for each"),
        (2, False, "each has a row above"),
        (0, True, "--format json shows each"),
    ],
)
def test_many_failures_are_counted_and_not_all_told(verbose: int, quiet: bool, where: str) -> None:
    many = [replace(FAILED, parameters={"p": n / 100}) for n in range(MOST_BLOCKS + 4)]
    many.append(replace(FAILED, claim="another"))
    report = run_report(run_of(*many), Terminal(), verbose=verbose, quiet=quiet)
    assert report.count("  repeat ") == MOST_BLOCKS
    assert f"\nand 5 more cases that did not pass ({where})\n" in report
    assert "more case" not in run_report(run_of(*many[:MOST_BLOCKS]), Terminal(), quiet=True)


def test_the_report_is_empty_where_errors_left_nothing() -> None:
    report = Report(run_of(), Registry("claims.yaml", {}, {}), (Problem("no"),))
    assert PRINTED["table"].make(report) == ""


def test_a_warning_is_told_once_with_its_claims() -> None:
    ties = ("draws tie to within 1e-12: see isclose",)
    cases = [replace(PASSED, warnings=ties), replace(PASSED, parameters={}, warnings=ties)]
    report = run_report(run_of(*cases), Terminal())
    assert report.count("draws tie") == 1
    assert "warning: qk-variance (2 cases): draws tie to within 1e-12: see isclose" in report


# ---- terminals -----------------------------------------------------------------------------------


class _Stream(io.StringIO):
    def __init__(self, terminal: bool, encoding: str = "utf-8") -> None:
        super().__init__()
        self._terminal = terminal
        self._encoding = encoding

    def isatty(self) -> bool:
        return self._terminal

    @property
    def encoding(self) -> str:  # type: ignore[override]  # read from a field in the standard library
        return self._encoding


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


@pytest.mark.parametrize(
    ("encoding", "ascii_only"),
    [("utf-8", False), ("ascii", True), ("cp1252", True), ("latin-1", True), ("nonsense", True)],
)
def test_an_encoding_that_falls_short_gets_ascii(encoding: str, ascii_only: bool) -> None:
    terminal = terminal_of(_Stream(False, encoding), {})
    assert terminal.ascii is ascii_only
    assert run_report(run_of(UNDECIDED), terminal).isascii() is ascii_only


def test_a_title_cannot_command_the_terminal() -> None:
    assert plain("\x1b[31mred\u202e") == r"\x1b[31mred\u202e"
    evil = replace(FAILED, title="\x1b]0;owned\x07 \x1b[31m")
    assert "\x1b" not in run_report(run_of(evil), Terminal())


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
        "longer\n"
        "  title  漢字 é\n"
        "  n      1,000\n"
    )
