"""A sweep's curves in the terminal: the exact characters, at every width, in colour and without."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from cli_stub import Cli
from picture_cases import HOSTILE, STRICT, swept
from report_cases import FAILED, PASSED, UNDECIDED, run_of
from rich.cells import cell_len

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Case
from dropcheck.errors import DropcheckError
from dropcheck.report.pictures import curve
from dropcheck.report.pictures.curve import Axis, axis_over, panels, require_sweep, unswept
from dropcheck.report.terminal.curve_plot import terminal_plot
from dropcheck.report.terminal.screen import Terminal
from dropcheck.results import CaseResult, Outcome, Region, Resolution, Verdict

PLOT = """\
dropout-variance
Var(y) against p, at x=2
   │                                 ⢠│
   │                                ⢠⠃●
   │                               ⢀⠇
30 ┤                               ⡎
   │                              ⡜
   │                             ⡸
20 ┤                            ⡰⠁
   │                           ⢠⠃
   │                          ⢀⠇
10 ┤                         ⢀⠎
   │                      ⢀⡠⠔●
   │                  ●⠤⠔⠊⠁
   │        ⣀⣀●⡠⠤⠤⠒⠒⠊⠉
 0 ┤ ⠐●⠒⠉⠉⠉⠉
distance from the claim, in units of the
resolution:
   │
 1 ┤⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠂
   │  │       │       │      │        │
 0 ┤⠤⠤●⠤⠤⠤⠤⠤⠤⠤●⠤⠤⠤⠤⠤⠤⠤●⠤⠤⠤⠤⠤⠤●⠤⠤⠤⠤⠤⠤⠤⠤●⠄
   │
-1 ┤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠄
   │
   └──┬───────┬───────┬──────┬────────┬─
     0.1     0.3     0.5    0.7      0.9
                     p
⠤⠤ claimed   ● verified   │ interval

"""


def plot(*cases: CaseResult, width: int | None = 40, **how: bool) -> str:
    return terminal_plot(run_of(*cases), Terminal(width, **how))


def grid(**changes: Any) -> tuple[CaseResult, ...]:
    return tuple(
        replace(PASSED, parameters={"a": a, "b": b}, **changes)
        for a in (1.0, 2.0, 3.0)
        for b in (10.0, 20.0)
    )


def test_the_plot_is_this() -> None:
    assert plot(*swept()) == PLOT


def test_a_long_sweep_measures_its_axis_once(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = []

    def is_geometric(places: Sequence[float]) -> bool:
        measured.append(len(places))
        return False

    monkeypatch.setattr(curve, "is_geometric", is_geometric)
    plot(*(replace(PASSED, parameters={"p": float(value)}) for value in range(50)))
    assert measured == [50]


def test_in_ascii_no_character_is_beyond_it_and_the_shapes_differ() -> None:
    outcomes = [
        (Verdict.VERIFIED, Outcome.PASS),
        (Verdict.REFUTED, Outcome.FAIL),
        (Verdict.INCONCLUSIVE, Outcome.UNDECIDED),
    ]
    cases = [
        replace(
            PASSED,
            claim="laws",
            expression="E(x)",
            region=Region(0.0, 0.0),
            sharpness=Resolution(0.01, 0.01),
            parameters={"law": law},
            estimate=0.0,
            interval=(-0.004, 0.004),
            verdict=verdict,
            result=result,
        )
        for law, (verdict, result) in zip(
            ("normal(0, 1)", "uniform(-1, 1)", "rademacher()"), outcomes, strict=True
        )
    ]
    found = plot(*cases, ascii=True)
    assert found.isascii()
    for mark in "ox?":
        assert sum(line.count(mark) for line in found.splitlines()[2:16]) == 1
    assert ". claimed   o verified   x refuted" in found
    for key in ("1  normal(0, 1)", "2  uniform(-1, 1)", "3  rademacher()"):
        assert key in found


@pytest.mark.parametrize("width", [40, 57, 80, 120, 160])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_every_width_is_kept_to_and_used(width: int, ascii_only: bool) -> None:
    wide = [
        replace(case, claim="a-claim-with-a-name-of-its-own", parameters=case.parameters)
        for case in swept()
    ]
    for cases in (swept(), wide, grid(), swept(result=Outcome.FAIL, verdict=Verdict.REFUTED)):
        lines = plot(*cases, width=width, ascii=ascii_only).splitlines()
        assert max(map(cell_len, lines)) <= width
        assert max(map(cell_len, lines)) >= width - 3


def test_no_label_is_cut() -> None:
    for width in (40, 80, 160):
        shown = plot(*swept(), width=width)
        for label in ("0.1", "0.9"):
            assert f" {label}" in shown


def test_without_colour_there_is_no_escape_and_with_it_there_is() -> None:
    assert "\x1b" not in plot(*swept())
    assert "\x1b[34m●" in plot(*swept(), colour=True)
    failed = plot(*swept(verdict=Verdict.REFUTED, result=Outcome.FAIL), colour=True)
    assert "\x1b[1;31m✕" in failed


def test_off_a_terminal_the_plot_is_as_wide_as_usual() -> None:
    assert 70 < max(map(cell_len, plot(*swept(), width=None).splitlines())) <= 80


def test_other_parameters_make_a_panel_for_each_of_their_values() -> None:
    found = panels(run_of(*grid()))
    assert [panel.heading for panel in found] == [
        "Var(q @ k) against a, at b=10",
        "Var(q @ k) against a, at b=20",
    ]
    assert [len(panel.points) for panel in found] == [3, 3]


def test_a_parameter_that_the_axis_determines_makes_none() -> None:
    cases = [replace(PASSED, parameters={"p": p, "low": 10 * p}) for p in (0.1, 0.2, 0.3)]
    [panel] = panels(run_of(*cases))
    assert panel.heading == "Var(q @ k) against p and low with it"


def test_numbers_come_before_laws_and_stand_in_order() -> None:
    cases = [
        replace(PASSED, parameters={"law": law, "p": p})
        for law in ("normal(0, 1)", "rademacher()", "uniform(0, 1)")
        for p in (0.9, 0.1)
    ]
    found = panels(run_of(*cases))
    assert [panel.parameter for panel in found] == ["p"] * 3
    assert [point.label for point in found[0].points] == ["0.1", "0.9"]


def test_many_curves_are_counted_rather_than_all_printed() -> None:
    cases = [
        replace(PASSED, claim=f"claim-{n}", parameters={"p": p})
        for n in range(15)
        for p in (0.1, 0.2)
    ]
    found = plot(*cases)
    assert "claim-11" in found
    assert "claim-12" not in found
    assert "and 3 more curves" in found


def test_claims_without_a_sweep_are_named() -> None:
    run = run_of(*swept(), UNDECIDED)
    assert unswept(run) == ["heavy-tail"]
    assert "no sweep, and so no curve: heavy-tail" in terminal_plot(run, Terminal(80))


def test_a_failure_is_never_covered() -> None:
    bad = replace(
        swept()[2], verdict=Verdict.REFUTED, result=Outcome.FAIL, parameters={"p": 0.5, "x": 2.0}
    )
    close = [
        replace(case, parameters={"p": 0.5 + n / 1e6, "x": 2.0}) for n, case in enumerate(swept())
    ]
    drawn, _, _legend = plot(bad, *close, swept()[0]).partition(" claimed ")
    assert drawn.count("✕") == 2  # on the curve and on the strip


def test_what_is_unknown_is_left_out_and_what_is_unbounded_is_an_arrow() -> None:
    cases = swept()
    unknown = replace(cases[2], estimate=None, interval=None)
    assert plot(*cases[:2], unknown, *cases[3:]).count("●") == 2 * 4 + 1
    assert cases[2].interval is not None
    unbounded = replace(cases[2], interval=(cases[2].interval[0], None))
    assert "↑" in plot(*cases[:2], unbounded, *cases[3:])
    assert "↑" not in plot(*cases)


def test_an_inequality_says_so_in_the_legend() -> None:
    cases = [replace(STRICT, parameters={"n": n}) for n in (1.0, 2.0)]
    assert "claimed: <" in plot(*cases, width=80)
    cases = [replace(FAILED, parameters={"n": n}) for n in (1.0, 2.0)]
    assert "claimed: >=" in plot(*cases, width=80)


def test_hostile_texts_are_shown_and_never_obeyed() -> None:
    cases = [replace(PASSED, parameters={"law": law}) for law in (HOSTILE, "normal(0, 1)")]
    found = plot(*cases, width=80)
    assert "\x1b" not in found
    assert "\u202e" not in found
    assert "<script>" in found


@pytest.mark.parametrize(
    "values", [(1e300, -1e300, 0.0), (math.inf, 1.0), (5e-324, 1e-323), (0.0,), (-7.0,)]
)
def test_no_value_breaks_an_axis(values: tuple[float, ...]) -> None:
    axis = axis_over(values)
    assert axis is not None
    assert all(0 <= axis.at(value) <= 1 for value in values if math.isfinite(value))
    assert len(axis.ticks(5)) <= 6
    assert all(axis.low <= value <= axis.high for value, _ in axis.ticks(5))


def test_an_axis_of_nothing_is_none() -> None:
    assert axis_over([math.nan, math.inf]) is None


def test_ticks_are_round_and_within() -> None:
    for low, high in ((0.0, 1.0), (-3.7, 12.9), (511.0, 512.0), (1e-9, 3e-9)):
        ticks = Axis(low, high).ticks(6)
        assert 2 <= len(ticks) <= 6
        assert all(low <= value <= high for value, _ in ticks)
        assert all(float(label) == value for value, label in ticks)


# ---- asked for on the command line --------------------------------------------------------------


def cases_of(parameters: str) -> tuple[Case, ...]:
    registry = read_text(
        "dropcheck: 1\nclaims:\n  one:\n    title: T\n"
        f"    parameters: {parameters}\n    model: x ~ normal(0, 1)\n    claim: E(x) == 0\n"
    )
    return registry.expand()


def test_a_sweep_is_required() -> None:
    require_sweep(cases_of("{p: [0.1, 0.2]}"))
    with pytest.raises(DropcheckError, match="needs a sweep") as caught:
        require_sweep(cases_of("{p: 0.1}"))
    assert "--p 0.1,0.2,0.5" in (caught.value.problems[0].hint or "")


def test_the_plot_stands_above_the_table(cli: Cli) -> None:
    called = cli("run", "product-variance", "--dk", "16,64,256", "--plot")
    assert called.code == 0
    assert called.out.startswith("product-variance\nVar(q @ k) against dk\n")
    assert called.out.index("against dk") < called.out.index("claimed  estimated")
    assert called.out.splitlines()[-1].startswith("3 cases: 3 passed")


def test_no_sweep_is_an_error_before_anything_is_drawn(cli: Cli) -> None:
    called = cli("run", "product-variance", "--dk", "16", "--plot")
    assert (called.code, called.out) == (2, "")
    assert "option '--plot' needs a sweep, and no parameter has several values" in called.err
    assert "--dk 0.1,0.2,0.5" in called.err


def test_a_plot_needs_a_table_or_a_picture_to_stand_in(cli: Cli) -> None:
    called = cli("run", "product-variance", "--plot", "--format", "csv")
    assert called.code == 2
    assert "add '-o FILE.svg'" in called.err
    assert cli("run", "product-variance", "--plot", "--format", "csv", "-o", "x.svg").code == 0


def test_the_picture_of_a_sweep_is_its_curve(cli: Cli, tmp_path: object) -> None:
    from pathlib import Path

    cli("run", "product-variance", "--plot", "-q", "-o", "curve.svg")
    cli("run", "product-variance", "-q", "-o", "cases.svg")
    here = Path(str(tmp_path))
    assert "Var(q @ k) against dk" in (here / "curve.svg").read_text(encoding="utf-8")
    assert "Var(q @ k) against dk" not in (here / "cases.svg").read_text(encoding="utf-8")
