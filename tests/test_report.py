"""Reports: what people read, what machines read, and that neither loses anything."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from dropcheck.claims.registry import Claim, Document, Registry, SourceText
from dropcheck.errors import Location, Problem
from dropcheck.report import numbers, words
from dropcheck.report.cards import claim_cards, resolution_text
from dropcheck.report.json_report import errors_json, run_json
from dropcheck.report.listing import CheckedFile, check_json, check_line, claims_table
from dropcheck.report.problems import problems_text
from dropcheck.report.statements import split_statement
from dropcheck.report.table import MOST_BLOCKS, run_report, worst
from dropcheck.report.terminal import Terminal, plain, render, styled, terminal_of
from dropcheck.results import CaseResult, Guarantee, Outcome, RunResult, Settings, Verdict

PASSED = CaseResult(
    claim="qk-variance",
    parameters={"dk": 512.0},
    title="The dot product of a query and a key has variance d_k",
    statement="Var(q @ k) == dk",
    document="scaling-post",
    section="Similar Scaling",
    tags=("attention",),
    claimed=512.0,
    estimate=511.83,
    interval=(509.11, 514.57),
    standard_error=0.45,
    confidence=0.999999991,
    scale=512.0,
    resolution=0.01,
    draws=262144,
    blocks=256,
    seconds=0.01,
    guarantee=Guarantee.ASYMPTOTIC,
    sampling="plain",
    verdict=Verdict.VERIFIED,
    expect=Verdict.VERIFIED,
    result=Outcome.PASS,
    reason=None,
    more_draws=None,
    warnings=(),
    location=Location("claims.yaml", 18),
    repeat="dropcheck run qk-variance --dk 512 --seed 0",
)
FAILED = replace(
    PASSED,
    claim="naive-dropout",
    parameters={"p": 0.3},
    title="A title with [/x], :smile: and Var[q.k]",
    statement="P(x > 3) >= 0.9",
    claimed=0.9,
    estimate=0.7004,
    interval=(0.691, 0.7098),
    standard_error=0.001,
    scale=0.9,
    verdict=Verdict.REFUTED,
    result=Outcome.FAIL,
    location=Location("claims.yaml", 40),
    repeat="dropcheck run naive-dropout --p 0.3 --seed 0",
)
UNDECIDED = replace(
    PASSED,
    claim="heavy-tail",
    parameters={},
    statement="0.405 <= Std(y) <= 0.415",
    claimed=(0.405, 0.415),
    estimate=0.41,
    interval=(0.39, 0.43),
    scale=0.415,
    verdict=Verdict.INCONCLUSIVE,
    result=Outcome.UNDECIDED,
    reason="the budget ended first",
    more_draws=1_230_000,
    repeat="dropcheck run heavy-tail --seed 0",
)


def run_of(*cases: CaseResult, interrupted: bool = False) -> RunResult:
    return RunResult("claims.yaml", Settings(), cases, 0.94, interrupted)


# numbers


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ((509.11, 514.57), "[509.1, 514.6]"),
        ((0.49996, 0.50009), "[0.49996, 0.50009]"),
        ((-2e-9, 3e-9), "[-2.0e-9, 3.0e-9]"),
        ((1.23456e9, 1.23466e9), "[1.23456e9, 1.23466e9]"),
        ((0.93, None), "[0.930, inf)"),
        ((None, 0.97), "(-inf, 0.970]"),
        ((4.0, 4.0), "[4, 4]"),
        (None, "-"),
    ],
)
def test_an_interval_has_the_digits_that_its_width_supports(
    ends: tuple[float | None, float | None] | None, shown: str
) -> None:
    known = [end for end in ends or () if end is not None]
    assert (
        numbers.interval(ends, sum(known) / len(known) + 0.01 if len(known) == 1 else None) == shown
    )


def test_the_digits_shown_tell_the_ends_of_any_interval_apart() -> None:
    rng = np.random.default_rng(1)  # no false alarm: a rule of arithmetic, not of chance
    for middle, asked in zip(
        rng.normal(size=2000) * 10.0 ** rng.integers(-12, 12, 2000),
        10.0 ** rng.uniform(-9, 3, 2000),
        strict=True,
    ):
        width = max(asked, abs(middle) * 1e-11)  # a float holds no more
        low, high = numbers.measured([middle - width / 2, middle + width / 2], width)
        assert float(low) < float(high)
        assert float(low) == pytest.approx(middle - width / 2, abs=0.051 * width)


def test_a_number_that_is_not_finite_never_stops_a_report() -> None:
    assert numbers.exact(math.nan) == numbers.exact(None) == "-"
    assert numbers.measured([math.inf, math.nan, 1.0], 0.1) == ("inf", "-", "1.00")


@pytest.mark.parametrize(
    ("statement", "claimed", "shown"),
    [
        ("Var(q @ k) == dk", 512.0, "512"),
        ("P(x > 3) > 0.9", 0.9, "> 0.9"),
        ("P(x > 3) > 0.9", (0.9, None), "> 0.9"),
        ("E(x) <= 2", (None, 2.0), "<= 2"),
        ("0.405 <= Std(y) <= 0.415", (0.405, 0.415), "0.405 … 0.415"),
        ("E(x) == 1/0", None, "-"),
    ],
)
def test_what_is_claimed_is_shown_with_its_relation(
    statement: str, claimed: float | tuple[float | None, float | None] | None, shown: str
) -> None:
    assert words.claimed(replace(PASSED, statement=statement, claimed=claimed)) == shown


def test_relations_inside_brackets_are_not_the_statement_s() -> None:
    assert split_statement("P(x[0] <= 1, given=y > 2) == 1 # <=") == (
        ("P(x[0] <= 1, given=y > 2)", "1"),
        ("==",),
    )


# the table


def test_the_table_at_160_columns() -> None:
    report = run_report(run_of(PASSED, FAILED, UNDECIDED), Terminal(160))
    assert report.split("\n\n")[0] == (
        "claim          parameters        claimed  estimated  interval        draws  "
        "verdict       result\n" + "─" * 99 + "\n"
        "qk-variance    dk=512                512      511.8  [509.1, 514.6]   262k  "
        "verified      pass\n"
        "naive-dropout  p=0.3              >= 0.9      0.700  [0.691, 0.710]   262k  "
        "refuted       FAIL\n"
        "heavy-tail                 0.405 … 0.415      0.410  [0.390, 0.430]   262k  "
        "inconclusive  undecided"
    )


def test_the_table_at_80_columns() -> None:
    report = run_report(run_of(PASSED, FAILED), Terminal(80))
    assert report.split("\n\n")[0] == (
        "claim\n"
        "parameters     claimed  estimated  interval        draws  verdict   result\n"
        + "─"
        * 74
        + "\n"
        "qk-variance        512      511.8  [509.1, 514.6]   262k  verified  pass\n"
        "dk=512\n"
        "naive-dropout   >= 0.9      0.700  [0.691, 0.710]   262k  refuted   FAIL\n"
        "p=0.3"
    )


def test_the_table_at_40_columns_is_a_block_a_row() -> None:
    report = run_report(run_of(PASSED), Terminal(40))
    assert report == (
        "qk-variance\n"
        "  parameters  dk=512\n"
        "  claimed     512\n"
        "  draws       262k\n"
        "  estimated   511.8\n"
        "  interval    [509.1, 514.6]\n"
        "  verdict     verified\n"
        "  result      pass\n"
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
    near = replace(PASSED, parameters={"dk": 64.0}, claimed=512.0, interval=(507.5, 516.9))
    report = run_report(run_of(PASSED, near, UNDECIDED), Terminal(160))
    assert "dk=64" in report
    assert "dk=512" not in report.split("\n\n")[0]
    assert "pass 2/2" in report


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
        "  title      A title with [/x], :smile: and Var[q.k]\n"
        "  statement  P(x > 3) >= 0.9\n"
        "  claimed    >= 0.9\n"
        "  estimated  0.700, interval [0.691, 0.710], confidence 1 - 9e-9, 262k draws\n"
        "  distance   200 standard errors below, 22.2% of the scale\n"
        "  verdict    refuted, expected verified\n"
        "  reading    false as stated: the interval misses what is claimed\n"
        "  where      claims.yaml:40\n"
        "  repeat     dropcheck run naive-dropout --p 0.3 --seed 0\n"
        "\n"
        "2 cases: 1 passed, 1 failed, 0 undecided · 524k draws · 0.9 s · seed 0 · α 1e-6"
        " · claims.yaml\n"
    )


@pytest.mark.parametrize(
    ("case", "reading"),
    [
        (FAILED, "false as stated"),
        (
            replace(PASSED, expect=Verdict.REFUTED, result=Outcome.FAIL),
            "true, although it is expected to be refuted",
        ),
        (UNDECIDED, "too few draws: about 1.2M more"),
        (replace(UNDECIDED, reason="a few draws carry the sum"), "heavy-tailed"),
        (replace(UNDECIDED, more_draws=None, reason="an event was never seen"), "cannot be told"),
    ],
)
def test_the_likely_reading(case: CaseResult, reading: str) -> None:
    assert words.reading(case).startswith(reading)


def test_a_difference_of_two_estimates_is_called_one() -> None:
    case = replace(FAILED, statement="E(y) == E(x)", claimed=0.0, estimate=0.3)
    report = run_report(run_of(case), Terminal())
    assert "0 for left side minus right side" in report
    assert "minus" not in run_report(run_of(replace(case, statement="E(y) == 0")), Terminal())


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
    end = table[0].index("claimed")
    first_column = "".join(line[:end].replace(" ", "") for line in table[3:])
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
    def encoding(self) -> str:  # type: ignore[override]
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


# JSON


def test_the_json_of_a_run_is_exactly_this() -> None:
    assert json.loads(run_json(run_of(PASSED))) == {
        "schema": 1,
        "version": "0.1.0",
        "registry": "claims.yaml",
        "seed": 0,
        "alpha": 1e-06,
        "seconds": 0.94,
        "interrupted": False,
        "summary": {"cases": 1, "passed": 1, "failed": 0, "undecided": 0, "draws": 262144},
        "cases": [
            {
                "claim": "qk-variance",
                "parameters": {"dk": 512},
                "title": "The dot product of a query and a key has variance d_k",
                "statement": "Var(q @ k) == dk",
                "document": "scaling-post",
                "section": "Similar Scaling",
                "tags": ["attention"],
                "claimed": 512.0,
                "estimate": 511.83,
                "interval": [509.11, 514.57],
                "confidence": 0.999999991,
                "scale": 512.0,
                "resolution": 0.01,
                "draws": 262144,
                "blocks": 256,
                "seconds": 0.01,
                "guarantee": "asymptotic",
                "verdict": "verified",
                "expect": "verified",
                "result": "pass",
                "reason": None,
                "location": {"file": "claims.yaml", "line": 18},
                "repeat": "dropcheck run qk-variance --dk 512 --seed 0",
                "standard_error": 0.45,
                "sampling": "plain",
                "more_draws": None,
                "warnings": [],
            }
        ],
        "warnings": [],
    }


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def test_json_holds_no_nan_no_infinity_and_no_numpy() -> None:
    odd = replace(
        PASSED,
        estimate=math.nan,
        interval=(-math.inf, np.float64(2.0)),
        claimed=(None, math.inf),
        scale=np.float64(math.nan),
        title="lone \ud800 and ünïcode",
    )
    text = run_json(run_of(odd))
    assert text.isascii()
    case = json.loads(text, parse_constant=_refuse)["cases"][0]
    assert case["estimate"] is None
    assert case["interval"] == [None, 2.0]
    assert case["claimed"] == [None, None]
    assert case["scale"] is None
    with pytest.raises(AssertionError):  # and the check itself can fail
        json.loads(json.dumps(math.nan), parse_constant=_refuse)


def test_the_json_of_errors() -> None:
    located = Problem("'b' is unknown", Location("claims.yaml", 12, 9, "b"), "did you mean 'a'?")
    assert json.loads(errors_json([located, Problem("no")])) == {
        "schema": 1,
        "errors": [
            {
                "file": "claims.yaml",
                "line": 12,
                "column": 9,
                "message": "'b' is unknown",
                "hint": "did you mean 'a'?",
            },
            {"file": None, "line": None, "column": None, "message": "no", "hint": None},
        ],
    }


# problems


def test_a_problem_shows_its_line_and_points_at_the_column() -> None:
    problem = Problem(
        "'bernouli' is no distribution",
        Location("claims.yaml", 12, 9, "    y ~ bernouli(p)"),
        "did you mean 'bernoulli'?",
    )
    assert problems_text([problem], Terminal()) == (
        "claims.yaml:12:9: 'bernouli' is no distribution\n"
        "    y ~ bernouli(p)\n"
        "        ^\n"
        "    hint: did you mean 'bernoulli'?\n"
        "1 error\n"
    )


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


def test_the_caret_stands_below_wide_characters_too() -> None:
    problem = Problem("wrong", Location("f", 1, 4, "维度 x"))
    _, _, caret, _ = problems_text([problem], Terminal()).splitlines()
    assert caret == "    " + " " * 5 + "^"


def test_problems_without_a_place_and_many_of_them() -> None:
    assert problems_text([Problem("no")], Terminal()) == "error: no\n"
    text = problems_text([Problem("no")] * 300, Terminal())
    assert text.endswith("and 100 more\n300 errors\n")


# registries


CLAIM = Claim(
    id="qk-variance",
    title="Variance of q·k [/x]",
    statement=SourceText.plain("Var(q @ k) == dk"),
    model=SourceText.plain("q ~ normal(0, 1)[dk]\nk ~ normal(0, 1)[dk]\n"),
    parameters={"dk": (16.0, 512.0), "law": ("normal(0, 1)",)},
    cases=None,
    requires=(SourceText.plain("dk >= 1"),),
    expect="verified",
    tolerance=None,
    resolution=0.01,
    within=None,
    document="post",
    section="Attention",
    note="a sum of dk products",
    tags=("attention", "scaling"),
    location=Location("claims.yaml", 18),
    parameter_locations={},
)
REGISTRY = Registry("claims.yaml", {"post": Document("post", "A post", "2024-02-13")}, {})


def test_a_card_shows_a_claim_in_full() -> None:
    card = claim_cards([CLAIM], REGISTRY, {"qk-variance": "dropcheck run qk"}, Terminal())
    assert card == (
        "qk-variance\n"
        "  title       Variance of q·k [/x]\n"
        "  claim       Var(q @ k) == dk\n"
        "  model       q ~ normal(0, 1)[dk]\n"
        "              k ~ normal(0, 1)[dk]\n"
        "  parameters  dk = 16, 512\n"
        "              law = normal(0, 1)\n"
        "  cases       2\n"
        "  requires    dk >= 1\n"
        "  expect      verified\n"
        "  resolution  0.01 of |dk|, or of the size of what is estimated where that is 0\n"
        "  document    A post, 2024-02-13 (post)\n"
        "  section     Attention\n"
        "  tags        attention, scaling\n"
        "  note        a sum of dk products\n"
        "  where       claims.yaml:18\n"
        "  example     dropcheck run qk\n"
    )


@pytest.mark.parametrize(
    ("statement", "within", "shown"),
    [
        ("E(x) == 0.5", None, "0.01 of 0.5"),
        ("E(x) == 0", None, "0.01 of the size of what is estimated"),
        ("E(x) == E(y)", None, "0.01 of the size of what is estimated"),
        ("1 <= E(x) <= 2", None, "0.01 of the larger of |1| and |2|"),
        ("E(x) == 0.5", 0.002, "0.002, absolute"),
    ],
)
def test_a_card_says_which_scale_is_used(statement: str, within: float | None, shown: str) -> None:
    claim = replace(CLAIM, statement=SourceText.plain(statement), within=within)
    assert resolution_text(claim) == shown


@pytest.mark.parametrize("width", [None, 30, 40, 80, 160])
def test_a_list_loses_no_id_and_no_title(width: int | None) -> None:
    long = replace(CLAIM, id="a-claim-with-an-id-of-some-length", title="Many words " * 12)
    text = claims_table([CLAIM, long], REGISTRY, Terminal(width))
    assert "".join(long.id.split()) in "".join(text.split())
    assert text.count("Many") == 12
    assert "[/x]" in text
    assert "2 claims, 4 cases, claims.yaml" in text


def test_a_check_in_a_line_and_as_data() -> None:
    bad = CheckedFile("b.yaml", None, None, (Problem("no"), Problem("nor that")), (Problem("n"),))
    assert check_line(bad) == "b.yaml: 2 errors, 1 note"
    assert check_line(CheckedFile("a.yaml", 1, 2, (), ())) == "a.yaml: 1 claim, 2 cases, no errors"
    data = json.loads(check_json([bad]))
    assert [one["message"] for one in data["errors"]] == ["no", "nor that"]
    assert data["files"] == [{"file": "b.yaml", "claims": None, "cases": None}]
