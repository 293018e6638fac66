"""The benchmarks: their arithmetic, their JSON, and that each part runs at a tiny size."""

from __future__ import annotations

import itertools
import json
import math
import sys
from pathlib import Path
from statistics import NormalDist
from typing import cast

import numpy as np
import pytest

from dropcheck.claims.reader import read_text
from dropcheck.results import Outcome

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import __main__ as program  # noqa: E402 - found only now
from benchmarks import (  # noqa: E402 - as above
    code_calls,
    draw_counts,
    families,
    floor,
    growth,
    looks,
    measure,
    recurrences,
    scripts,
    threads,
)

TINY = """
dropcheck: 1
claims:
  scalars:
    title: The mean square of a normal
    parameters: {sd: [1, 2]}
    model: x ~ normal(0, sd)
    claim: E(x**2) == sd**2
  arithmetic:
    title: Nothing is drawn
    claim: 1 + 1 == 2
"""


def clock_of(*ticks: float) -> measure.Clock:
    left = iter(ticks)
    return lambda: next(left)


def test_paired_takes_the_ratio_of_each_pair_in_either_order() -> None:
    # first 3 then second 1; then, turned round, second 2 and first 4
    clock = clock_of(0, 3, 10, 11, 20, 22, 30, 34)
    found = measure.paired(lambda: None, lambda: 0, 2, clock)
    assert found == measure.Spread(2.5, 2.0, 3.0, 2)


def test_paired_runs_both_equally_often() -> None:
    seen: list[str] = []
    measure.paired(lambda: seen.append("a"), lambda: seen.append("b"), 3, measure.CLOCKS["wall"])
    assert seen.count("a") == seen.count("b") == 4


def test_a_spread_turned_over_or_scaled() -> None:
    spread = measure.Spread.of([2.0, 4.0, 8.0])
    assert spread.inverse() == measure.Spread(0.25, 0.125, 0.5, 3)
    assert spread.times(0.5) == measure.Spread(2.0, 1.0, 4.0, 3)


@pytest.mark.parametrize(
    ("bar", "value", "holds"),
    [
        (measure.Bar(2.0), 2.0, True),
        (measure.Bar(2.0), 2.1, False),
        (measure.Bar(2.0, at_least=True), 2.0, True),
        (measure.Bar(2.0, at_least=True), 1.9, False),
        (measure.Bar(2.0), math.nan, False),
        (measure.Bar(2.0, at_least=True), math.nan, False),
    ],
)
def test_bars(bar: measure.Bar, value: float, holds: bool) -> None:
    assert measure.Figure("a", "x", measure.Spread.of([value]), bar=bar).holds is holds


def test_json_is_valid_and_tells_what_is_unknown() -> None:
    figures = [
        measure.Figure("a", "known", measure.Spread.of([1.0, 2.0]), bar=measure.Bar(1.0)),
        measure.Figure("b", "unknown", measure.Spread.of([math.nan])),
    ]
    found = json.loads(measure.report_json(figures, {"cores": 2}))
    assert found["schema"] == 1
    assert found["cores"] == 2
    known, unknown = found["figures"]
    assert (known["median"], known["low"], known["high"], known["runs"]) == (1.5, 1.0, 2.0, 2)
    assert (known["bar"], known["holds"]) == ("at most 1", False)
    assert unknown["median"] is None
    assert "bar" not in unknown


def test_a_process_is_measured_apart() -> None:
    ran = measure.run_process([sys.executable, "-c", "x = bytearray(80_000_000); print('done')"])
    assert ran.output.strip() == "done"
    assert ran.peak > 80_000_000
    assert ran.cpu > 0
    small = measure.run_process([sys.executable, "-c", "pass"])
    assert small.peak < 60_000_000


def test_a_process_that_breaks_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="ended with 5"):
        measure.run_process([sys.executable, "-c", "raise SystemExit(5)"])


def test_the_floor_draws_the_same_laws() -> None:
    generator = np.random.default_rng(0)
    one = np.ones(1)
    taken: list[np.ndarray] = []

    class Spy:
        def standard_normal(self, out: np.ndarray) -> None:
            generator.standard_normal(out=out)
            taken.append(out)

    draw = floor.plain_draw("normal", [2 * one, 3 * one], (40_000,))
    # a stand-in whose method `_shifted` calls: the array keeps the shift and the scale
    draw_direct = floor._shifted(np.empty(40_000), Spy.standard_normal, 2 * one, 3 * one)
    draw(np.random.Generator(np.random.SFC64(0)))
    draw_direct(cast("np.random.Generator", Spy()))
    # within 6 standard errors, 0.015 and 0.011: a false alarm in 10^8
    assert abs(taken[0].mean() - 2) < 0.09
    assert abs(taken[0].std() - 3) < 0.07


def test_part_a_leaves_out_what_draws_nothing() -> None:
    lines = list(floor.measured(read_text(TINY), 1, 1, measure.CLOCKS["cpu"], 5e3))
    assert [line.name for line in lines] == [
        "scalars, over its numbers alone",
        "median over claims",
        "worst claim",
    ]
    assert "2 cases" in lines[0].note
    assert lines[1].note.startswith("1 claim on 1 thread,")
    assert lines[0].value.median > 0.3  # simulating includes drawing


def test_part_b_script_stops_at_the_width() -> None:
    wide = scripts.plain_script(4, 0.5, 1e-3, rows=200)
    narrow = scripts.plain_script(4, 0.25, 1e-3, rows=200)
    assert 2.5 < narrow / wide < 6.5  # four times the draws, and a few batches


def test_part_b_runs() -> None:
    (figure,) = scripts.against_script(1, dk=4, resolution=0.2)
    assert figure.value.median > 0
    (figure,) = scripts.against_bootstrap(1, resamples=99)
    assert figure.value.median > 0


def test_the_error_of_the_rise_agrees_with_a_simulation() -> None:
    rng = np.random.default_rng(1)
    rises = []
    for _ in range(400):
        x = rng.standard_normal(2000)
        y = x * (rng.random(2000) < 0.5) / 0.5
        rises.append(y.std() / x.std())
    # 400 repetitions know a deviation to 3.5%; six of that
    assert np.std(rises) == pytest.approx(scripts.rise_error(2000), rel=0.22)


def test_part_c_counts_by_the_published_formula() -> None:
    assert draw_counts.dkw_draws(1.0, 0.01, 1e-6) == 290_174
    assert draw_counts.dkw_draws(2.0, 0.01, 1e-6) == 1_160_693


def test_part_c_counts_the_pilot_too() -> None:
    ours, guarantee = draw_counts.our_draws(0.1)
    assert 20_000 < ours < draw_counts.dkw_draws(1 / 0.9, 0.01, 1e-6)
    assert guarantee == "finite-sample"


def test_part_d_runs() -> None:
    registry = read_text((ROOT / "claims.yaml").read_text(encoding="utf-8"))
    figures = list(threads.measured(registry, 1, 1e4))
    assert all(figure.value.median > 0 for figure in figures)
    assert [str(figure.bar) for figure in figures] == ["at least 1.7"]


def test_a_run_is_held_against_all_of_its_numbers_alone() -> None:
    """By a clock that ticks when it is read: a run lasts a tick, and so does each program alone."""
    registry = read_text(
        "dropcheck: 1\nclaims:\n  range:\n    title: of four\n    parameters: {mean: [0, 1]}\n"
        "    model: x, y ~ normal(mean, 1)[4]\n"
        "    claim: E(max(x) - min(x)) == E(max(y) - min(y))\n"
    )
    ticks = itertools.count()
    (figure,) = floor.whole(registry, lambda: float(next(ticks)), quick=True)
    assert figure.value.median == 1 / 2  # a pilot's numbers, and those of the main draws
    assert figure.note.startswith("2 cases")


def test_part_e_tells_linear_growth_from_quadratic() -> None:
    ticks: list[float] = []

    def clock_for(small: float, large: float) -> measure.Clock:
        ticks[:] = [0, large, 0, small]
        return lambda: ticks.pop(0)

    for large, holds in ((40.0, True), (160.0, False)):
        figure = growth.growth(
            "size", lambda: None, lambda: 0, 4.0, 1, clock_for(10.0, large)
        )  # fmt: skip
        assert figure.holds is holds


def test_part_e_registries_have_the_sizes_asked_for() -> None:
    assert len(read_text(growth.many_claims(5)).claims) == 5
    assert len(read_text(growth.many_cases(7)).expand()) == 7


def test_part_e_makes_the_reports_of_what_was_run() -> None:
    report = growth.report_of(growth.many_cases(3))
    assert [case.parameters["sd"] for case in report.run.cases] == pytest.approx([1, 4 / 3, 5 / 3])
    assert {case.result for case in report.run.cases} == {Outcome.PASS}


def test_part_h_counts_pilots_and_knows_what_a_fixed_sample_takes() -> None:
    """E(x²) of a normal has variance 2 σ⁴ a draw: n = ((√(2 log(2/α)) + z(0.9)) √2 / 0.01)²."""
    total, usual = looks.measured(read_text(TINY))
    assert total.bar is not None
    assert 1.0 < total.value.median < 1.5
    assert usual.value.runs == 2
    quantile = math.sqrt(2 * math.log(2 / (1e-6 / 3)))
    fixed = 2 * ((quantile + NormalDist().inv_cdf(0.9)) / 0.01) ** 2
    against = float(total.note.split(" against ")[1].split()[0].replace(",", ""))
    assert against == pytest.approx(2 * fixed, rel=0.02)


def test_the_command_takes_parts_and_writes_json(tmp_path: Path) -> None:
    given = program._parsed(["--only", "d,a", "--quick"])
    assert given.only == ["a", "d"]
    target = tmp_path / "figures.json"
    assert program.main(["--only", "i", "--quick", "--repeats", "1", "--json", str(target)]) == 0
    found = json.loads(target.read_text(encoding="utf-8"))
    assert [figure["part"] for figure in found["figures"]] == ["i"]
    assert found["quick"] is True
    assert "bar" not in found["figures"][0]


@pytest.mark.parametrize(("quick", "code"), [(True, 0), (False, 1)])
def test_a_bar_is_missed_unless_it_was_quick(
    quick: bool,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    missed = measure.Figure("d", "slow", measure.Spread.of([3.0]), bar=measure.Bar(2.0))
    monkeypatch.setattr(threads, "measured", lambda *_: iter([missed]))
    arguments = ["--only", "d", "--json", str(tmp_path / "figures.json")]
    assert program.main([*arguments, "--quick"] if quick else arguments) == code
    told = capsys.readouterr().out
    assert ("MISSED" in told) is not quick
    assert ("no bars" if quick else "bars that hold: 0 of 1") in told


@pytest.mark.parametrize("only", ["z", "a,z", "ad", ""])
def test_a_part_that_there_is_not_is_an_error(
    only: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main(["--only", only])
    assert ended.value.code == 2
    assert "there are a, b, c, d, e, f, g, h" in capsys.readouterr().err


def test_statements_of_one_model_are_measured_over_the_costliest() -> None:
    (figure,) = families.measured(1, measure.CLOCKS["cpu"], quick=True)
    assert (figure.part, figure.bar) == ("i", measure.Bar(1.3))
    assert math.isfinite(figure.value.median)


def test_a_loop_over_numpy_at_a_tiny_size() -> None:
    figures = list(recurrences.measured(1, measure.CLOCKS["cpu"], quick=True))
    assert [(figure.part, figure.bar) for figure in figures] == [
        ("j", measure.Bar(1.5)),
        ("j", measure.Bar(1.25)),
    ]
    assert all(math.isfinite(figure.value.median) for figure in figures)


def test_part_l_counts_the_inputs_drawing_apart() -> None:
    of_layer = list(code_calls.overhead("numpy", "layer", 64, 2, measure.CLOCKS["cpu"], 1, 0.05))
    assert [figure.bar for figure in of_layer] == [None, measure.Bar(1.3)]
    assert of_layer[0].value.median > of_layer[1].value.median > 1
