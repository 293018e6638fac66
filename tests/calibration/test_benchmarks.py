"""The benchmarks: their arithmetic, their JSON, and that each part runs at a tiny size."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from dropcheck.claims.reader import read_text

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import __main__ as program  # noqa: E402 - found only now
from benchmarks import (  # noqa: E402 - as above
    code_calls,
    draw_counts,
    floor,
    growth,
    looks,
    measure,
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
    assert found.times(2) == measure.Spread(5.0, 4.0, 6.0, 2)


@pytest.mark.parametrize(
    ("bar", "value", "holds"),
    [
        (measure.Bar(2.0), 2.0, True),
        (measure.Bar(2.0), 2.1, False),
        (measure.Bar(2.0, at_least=True), 1.9, False),
        (measure.Bar(2.0, at_least=True), math.nan, False),
    ],
)
def test_bars_and_json(bar: measure.Bar, value: float, holds: bool) -> None:
    figure = measure.Figure("a", "x", measure.Spread.of([value]), bar=bar)
    assert figure.holds is holds
    [told] = json.loads(measure.report_json([figure], {"cores": 2}))["figures"]
    assert told["median"] == (None if math.isnan(value) else value)
    assert told["holds"] is holds


def test_a_process_is_measured_apart() -> None:
    ran = measure.run_process([sys.executable, "-c", "x = bytearray(80_000_000); print('done')"])
    assert (ran.output.strip(), ran.peak > 80_000_000, ran.cpu > 0) == ("done", True, True)
    with pytest.raises(RuntimeError, match="ended with 5"):
        measure.run_process([sys.executable, "-c", "raise SystemExit(5)"])


def test_the_floor_draws_the_same_laws() -> None:
    taken: list[np.ndarray] = []

    class Spy:
        def standard_normal(self, out: np.ndarray) -> None:
            np.random.default_rng(0).standard_normal(out=out)
            taken.append(out)

    # a stand-in whose method `_shifted` calls: the array keeps the shift and the scale
    draw = floor._shifted(np.empty(40_000), Spy.standard_normal, 2 * np.ones(1), 3 * np.ones(1))
    draw(cast("np.random.Generator", Spy()))
    # within 6 standard errors, 0.015 and 0.011: a false alarm in 10^8
    assert abs(taken[0].mean() - 2) < 0.09
    assert abs(taken[0].std() - 3) < 0.07


def test_counts_by_published_formulas() -> None:
    assert draw_counts.dkw_draws(1.0, 0.01, 1e-6) == 290_174
    total, usual = looks.measured(read_text(TINY))
    assert 1.0 < total.value.median < 1.5
    assert usual.value.runs == 2


def test_growth_is_told_from_what_is_linear() -> None:
    for large, holds in ((40.0, True), (160.0, False)):
        clock = clock_of(0, large, 0, 10.0)
        figure = growth.growth("size", lambda: None, lambda: 0, 4.0, 1, clock)
        assert figure.holds is holds
    assert len(growth.report_of(growth.many_cases(3)).run.cases) == 3


def test_every_part_runs_at_a_tiny_size() -> None:
    cpu = measure.CLOCKS["cpu"]
    figures = [
        *floor.measured(read_text(TINY), 1, 1, cpu, 5e3),
        *scripts.against_script(1, dk=4, resolution=0.2),
        *scripts.against_bootstrap(1, resamples=99),
        *code_calls.overhead("numpy", "layer", 64, 2, cpu, 1, 0.05),
    ]
    assert len(figures) >= 5
    assert all(math.isfinite(one.value.median) and one.value.median > 0 for one in figures)


@pytest.mark.parametrize(("quick", "code"), [(True, 0), (False, 1)])
def test_a_bar_is_missed_unless_it_was_quick(
    quick: bool, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missed = measure.Figure("d", "slow", measure.Spread.of([3.0]), bar=measure.Bar(2.0))
    monkeypatch.setattr(threads, "measured", lambda *_: iter([missed]))
    target = tmp_path / "figures.json"
    words = ["--only", "d", "--json", str(target)]
    assert program.main([*words, "--quick"] if quick else words) == code
    assert [one["part"] for one in json.loads(target.read_text())["figures"]] == ["d"]


def test_a_part_that_there_is_not_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        program.main(["--only", "z"])
    assert "there are a, b, c, d, e, f, g, h" in capsys.readouterr().err
