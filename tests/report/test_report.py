"""The report of a run for people: nothing is lost, at any width, in any characters."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from report_cases import FAILED, PASSED, UNDECIDED, claiming, looked_at, run_of

from dropcheck.reasons import Explanation, Reason
from dropcheck.report import words
from dropcheck.report.screen import Terminal, plain, render, styled, terminal_of
from dropcheck.report.terminal.run_table import MOST_BLOCKS, case_block, run_report
from dropcheck.report.words import worst
from dropcheck.results import (
    CallCount,
    CaseResult,
    Method,
    Outcome,
    Quantity,
    Region,
    Resolution,
    Verdict,
)

# the table


def test_the_table_at_160_columns() -> None:
    report = run_report(run_of(PASSED, FAILED, UNDECIDED), Terminal(160))
    assert report.split("\n\n")[0] == (
        "claim          parameters        claimed  estimated  interval        within  draws  "
        "verdict       result\n" + "─" * 107 + "\n"
        "qk-variance    dk=512                512      511.8  [509.1, 514.6]   ±5.12   262k  "
        "verified      pass\n"
        "naive-dropout  p=0.3              >= 0.9      0.700  [0.691, 0.710]       -   262k  "
        "refuted       FAIL\n"
        "heavy-tail                 0.405 … 0.415      0.410  [0.390, 0.430]       -   262k  "
        "inconclusive  undecided"
    )


def test_the_table_at_80_columns() -> None:
    report = run_report(run_of(PASSED, FAILED), Terminal(80))
    assert report.split("\n\n")[0] == (
        "claim          claimed       estimated  within  verdict   result\n"
        "parameters                    interval   draws\n" + "─" * 64 + "\n"
        "qk-variance        512           511.8   ±5.12  verified  pass\n"
        "dk=512                  [509.1, 514.6]    262k\n"
        "naive-dropout   >= 0.9           0.700       -  refuted   FAIL\n"
        "p=0.3                   [0.691, 0.710]    262k"
    )


def test_the_table_at_40_columns_is_a_block_a_row() -> None:
    report = run_report(run_of(replace(PASSED, claim="qk-variance-of-scores")), Terminal(40))
    assert report == (
        "qk-variance-of-scores\n"
        "  parameters  dk=512\n"
        "  claimed     512\n"
        "  estimated   511.8\n"
        "  interval    [509.1, 514.6]\n"
        "  verdict     verified\n"
        "  result      pass\n"
        "  within      ±5.12\n"
        "  draws       262k\n"
        "\n"
        "1 case: 1 passed, 0 failed, 0 undecided\n"
        "262k draws · 0.9 s · seed 0 · α 1e-6\n"
        "claims.yaml\n"
    )


LONG = replace(
    FAILED,
    claim="a-very-long-identifier-of-a-claim-that-goes-on-and-on",
    parameters={"keep_probability": 0.123456789, "law": "truncated_normal(0, 1, -2, 2)"},
)


@pytest.mark.parametrize("width", [None, 30, 40, 60, 80, 160])
@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_nothing_that_matters_is_cut_at_any_width(
    width: int | None, verbose: bool, ascii_only: bool
) -> None:
    terminal = Terminal(width, ascii=ascii_only)
    report = run_report(run_of(PASSED, LONG), terminal, verbose=verbose)
    together = "".join(report.split())
    for text in (
        LONG.claim,
        "keep_probability=0.123456789,law=truncated_normal(0,1,-2,2)",
        "A title with [/x], :smile: and Var[q.k]",
        "[0.691,0.710]",
        "262k",
        "refuted",
        "FAIL",
        LONG.repeat,
    ):
        assert "".join(text.split()) in together
    assert "…" not in report
    if ascii_only:
        assert report.isascii()


@pytest.mark.parametrize("width", [30, 40, 60, 80, 160])
def test_no_line_but_a_command_is_wider_than_the_terminal(width: int) -> None:
    report = run_report(run_of(PASSED, LONG, UNDECIDED), Terminal(width))
    for line in report.splitlines():
        assert len(line) <= width or line.startswith("  repeat ")


def test_a_command_to_repeat_is_never_broken() -> None:
    long = replace(FAILED, repeat="dropcheck run naive-dropout " + "--p 0.3 " * 30)
    assert long.repeat.strip() in run_report(run_of(long), Terminal(40))


def test_several_claims_show_their_worst_cases() -> None:
    near = replace(PASSED, parameters={"dk": 64.0}, interval=(507.5, 516.9))
    report = run_report(run_of(PASSED, near, UNDECIDED), Terminal(160))
    assert "dk=64" in report
    assert "dk=512" not in report.split("\n\n")[0]
    assert "pass 2/2" in report


def test_verbose_says_who_drew() -> None:
    run = replace(run_of(PASSED, FAILED), drawn_by={"2 processes": 1, "1 thread": 1})
    said = "1 case drawn by 2 processes · 1 case drawn by 1 thread\n2 cases: "
    assert said in run_report(run, Terminal(200), verbose=True)
    assert "drawn by" not in run_report(run, Terminal(200))


def test_a_single_claim_and_verbose_show_each_case() -> None:
    other = replace(PASSED, parameters={"dk": 64.0})
    for report in (
        run_report(run_of(PASSED, other), Terminal(160)),
        run_report(run_of(PASSED, other, FAILED), Terminal(160), verbose=True),
    ):
        assert "dk=64" in report
        assert "dk=512" in report


def test_the_worst_is_the_failure_however_near_and_then_the_least_clear() -> None:
    clear = replace(PASSED, interval=(511.9, 512.1))
    assert worst([clear, PASSED]) is PASSED
    assert worst([PASSED, UNDECIDED, FAILED]) is FAILED
    assert worst([UNDECIDED, PASSED]) is UNDECIDED
    refuted = replace(FAILED, expect=Verdict.REFUTED, result=Outcome.PASS)
    closer = replace(refuted, interval=(0.87, 0.89))
    assert worst([refuted, closer]) is closer


# what did not pass


def test_a_failure_s_block_says_all_there_is_to_know() -> None:
    report = run_report(run_of(PASSED, FAILED), Terminal(), quiet=True)
    assert report == (
        "FAIL  naive-dropout  p=0.3\n"
        "  title       A title with [/x], :smile: and Var[q.k]\n"
        "  statement   P(x > 3) >= 0.9\n"
        "  claimed     >= 0.9\n"
        "  estimated   0.700, interval [0.691, 0.710], confidence 1 - 9e-9, 262k draws\n"
        "  distance    200 standard errors below, 22.2% of the scale\n"
        "  resolution  0.01 of 0.9: ±0.009\n"
        "  verdict     refuted, expected verified\n"
        "  reading     false as stated: the interval misses what is claimed\n"
        "  where       claims.yaml:40\n"
        "  repeat      dropcheck run naive-dropout --p 0.3 --seed 0\n"
        "\n"
        "2 cases: 1 passed, 1 failed, 0 undecided · 524k draws · 0.9 s · seed 0 · α 1e-6"
        " · claims.yaml\n"
    )


def because(explanation: Explanation) -> CaseResult:
    return replace(UNDECIDED, more_draws=None, explanation=explanation)


@pytest.mark.parametrize(
    ("case", "reading"),
    [
        (FAILED, "false as stated"),
        (
            replace(PASSED, expect=Verdict.REFUTED, result=Outcome.FAIL),
            "as claimed within ±5.12, although it is expected to be refuted",
        ),
        (UNDECIDED, "too few draws: needs about 1.3e6 more draws (--max-draws 1.5e6)"),
        (
            replace(UNDECIDED, more_draws=3_100_000, more_seconds=4.04),
            "too few draws: needs about 3.1e6 more draws, 4.0 s (--max-draws 3.4e6)",
        ),
        (
            replace(UNDECIDED, timed_out=True),
            "too few draws: needs about 1.3e6 more draws (--time-limit ended it: make it longer, "
            "or --max-draws 1.5e6)",
        ),
        (
            replace(UNDECIDED, timed_out=True, calls=CallCount(64, declared=True)),
            "too few draws: needs about 1.3e6 more draws (its seconds are up: --max-draws 1.5e6)",
        ),
        (because(Reason.HEAVY_SUM.explain()), "heavy-tailed"),
        (
            because(Reason.NO_MOMENT.explain(operator="E", order=1, moment="mean")),
            "no draw was made: by its law, the quantity has no mean",
        ),
        (because(Reason.TOO_WIDE.explain()), "not decided by these draws"),
    ],
)
def test_the_likely_reading(case: CaseResult, reading: str) -> None:
    assert words.reading(case).startswith(reading)


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
    assert "  claimed     1.200 == 0.900\n" in report
    assert "  estimated   left side minus right side 0.300, interval [0.290, 0.310]" in report
    assert " difference 0.300  [0.290, 0.310] " in report.splitlines()[2]
    assert "minus" not in run_report(run_of(replace(case, quantity=Quantity.LEFT)), Terminal())


def test_many_failures_are_counted_and_not_all_told() -> None:
    many = [replace(FAILED, parameters={"p": n / 100}) for n in range(MOST_BLOCKS + 5)]
    report = run_report(run_of(*many), Terminal(), quiet=True)
    assert report.count("  repeat ") == MOST_BLOCKS
    assert "and 5 more cases that did not pass" in report
    assert "more case" not in run_report(run_of(*many[:MOST_BLOCKS]), Terminal(), quiet=True)


def test_a_warning_is_told_once_with_its_claims() -> None:
    ties = ("draws tie to within 1e-12: see isclose",)
    cases = [replace(PASSED, warnings=ties), replace(PASSED, parameters={}, warnings=ties)]
    report = run_report(run_of(*cases), Terminal())
    assert report.count("draws tie") == 1
    assert "warning: qk-variance (2 cases): draws tie to within 1e-12: see isclose" in report


def test_the_summary_says_where_a_run_was_interrupted() -> None:
    report = run_report(run_of(PASSED, interrupted=True), Terminal(), quiet=True)
    assert report.startswith("interrupted · 1 case: 1 passed")
    assert "interrupted" not in run_report(run_of(PASSED), Terminal(), quiet=True)


def test_long_parameters_are_wrapped_before_a_table_is_given_up() -> None:
    long = replace(PASSED, parameters={"law": "truncated_normal(0, 1, -2, 2)", "dk": 512.0})
    table = run_report(run_of(long), Terminal(66)).split("\n\n")[0].splitlines()
    assert table[0].split() == ["claim", "claimed", "estimated", "verdict"]
    end = table[1].index("within") - 2
    first_column = "".join(line[:end].replace(" ", "") for line in table[4:])
    assert first_column == "qk-variancelaw=truncated_normal(0,1,-2,2),dk=512"


# terminals


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


# ---- digits --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claimed", "interval", "estimated", "shown"),
    [
        (0.0, (-0.0121, -0.0004), -0.0062, "[-0.0121, -0.0004]"),  # to three it would touch 0
        (0.0, (-0.0121, 0.0004), -0.0062, "[-0.012, 0.000]"),  # which this one does
        (0.0, (-0.0121, -0.00000004), -0.006, "[-0.01210000, -0.00000004]"),
        (0.0014, (0.0012, 0.0300), 0.015, "[0.001, 0.030]"),
        (0.10049, (0.1001, 0.1305), 0.115, "[0.100, 0.131]"),  # touches it either way
        (0.1007, (0.10065, 0.1305), 0.115, "[0.1007, 0.1305]"),  # 0.101 would miss it
        (2 / 3, (0.666672, 0.70), 0.68, "[0.667, 0.700]"),  # beside 0.6667
    ],
)
def test_an_interval_touches_what_is_claimed_in_print_where_it_does(
    claimed: float, interval: tuple[float, float], estimated: float, shown: str
) -> None:
    case = replace(PASSED, region=Region(claimed, claimed), interval=interval, estimate=estimated)
    assert words.interval(case) == shown
    low, high = (float(text) for text in shown.strip("[]").split(", "))
    touches = interval[0] <= claimed <= interval[1]
    assert (low <= float(words.claimed(case)) <= high) is touches
    # the estimate has the digits of its interval
    decimals = len(words.estimated(case).partition(".")[2])
    assert decimals == len(shown.partition(",")[0].partition(".")[2])


def test_a_tie_that_no_digits_tell_is_shown_as_usual() -> None:
    case = replace(PASSED, interval=(512.0 + 1e-10, 514.57), estimate=513.0)
    assert words.interval(case) == "[512.0, 514.6]"


def test_a_long_claimed_value_has_a_digit_more_than_its_interval() -> None:
    case = replace(PASSED, region=Region(2 / 3, 2 / 3), interval=(0.67, 0.70), estimate=0.682)
    assert words.claimed(case) == "0.6667"
    assert words.claimed(replace(case, region=Region(0.123456, 0.123456))) == "0.123456"
    ends = replace(case, region=Region(1 / 3, 2 / 3))
    assert words.claimed(ends) == "0.3333 … 0.6667"
    assert words.claimed(replace(case, draws=0, interval=None)) == "0.66666667"


def test_an_estimate_that_nothing_bounds_has_three_digits() -> None:
    case = replace(UNDECIDED, estimate=1.0192855, interval=(None, None))
    assert (words.estimated(case), words.interval(case)) == ("1.02", "(-inf, inf)")
    worked_out = replace(case, interval=(case.estimate, case.estimate), draws=0)
    assert words.estimated(worked_out) == "1.0192855"


def test_a_distance_without_an_error_is_short() -> None:
    case = replace(FAILED, estimate=0.9 - 0.017198947, standard_error=None, scale=None)
    assert words.distance(case) == "0.0172 below"


# ---- what the resolution comes to ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("region", "absolute", "shown"),
    [
        (Region(5.0, 5.0), None, "0.01 of 5: ±0.05"),
        (Region(5.0, 5.0), 0.3, "±0.3, absolute"),
        (Region(high=5.0), None, "0.01 of 5: ±0.05"),
        (Region(high=5.0, high_open=True), None, "±0: a strict inequality is not widened"),
        (Region(4.9, 5.0), None, "0.01 of 5: ±0.005, a tenth of the half-width"),
        (Region(4.9, 5.0), 0.3, "0.3, absolute: ±0.005, a tenth of the half-width"),
        # so little narrowed that it does not show in the digits
        (Region(4.0, 5.99999998), 0.1, "0.1, absolute: ±0.1, a tenth of the half-width"),
    ],
)
def test_what_the_resolution_comes_to(region: Region, absolute: float | None, shown: str) -> None:
    case = claiming(FAILED, region, scale=5.0)
    if absolute is not None:
        case = replace(case, sharpness=looked_at(region, absolute, absolute=True))
    assert f"  resolution  {shown}\n" in case_block(case)


def test_a_range_whose_ends_are_equal_is_not_called_strict() -> None:
    case = replace(claiming(FAILED, Region(low=0.0)), sharpness=Resolution(0.01, 0.0, False))
    shown = "±0: a range is widened by a tenth of its half-width at most"
    assert f"  resolution  {shown}\n" in case_block(case)


def test_certainty_is_looked_at_by_violations() -> None:
    sure = replace(
        FAILED,
        region=Region(1.0, 1.0),
        method=Method.CERTAINTY,
        sharpness=Resolution(1e-4, 1e-4, absolute=True),
    )
    block = case_block(sure)
    assert "  resolution  ±0.0001: violations rarer than that\n" in block


def test_a_resolution_of_no_known_scale_is_left_out() -> None:
    block = case_block(replace(UNDECIDED, sharpness=None))
    assert "resolution" not in block
    assert "  repeat     dropcheck" in block  # beneath the other values, either way
    assert "  repeat      dropcheck" in case_block(UNDECIDED)


# ---- a case in one line --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "line"),
    [
        (FAILED, "refuted: claimed >= 0.9, estimated 0.700"),
        (UNDECIDED, "undecided: claimed 0.405 … 0.415, estimated 0.410"),
        (replace(UNDECIDED, region=None, estimate=None, interval=None), "undecided"),
        (
            replace(PASSED, expect=Verdict.REFUTED, result=Outcome.FAIL),
            "verified, expected refuted: claimed 512, estimated 511.8",
        ),
    ],
)
def test_a_case_in_one_line(case: CaseResult, line: str) -> None:
    assert words.headline(case) == line
