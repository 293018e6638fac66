"""Verdicts are wrong as seldom as is promised, and the script sees where they would not be.

A promise that is kept raises the alarm with a chance of at most 1e-6 in each test; seeds are fixed.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.calibration import (
    FALSE_ALARM,
    Row,
    by_class,
    main,
    measured,
)
from dropcheck.array_types import Floats
from dropcheck.inference import intervals
from dropcheck.results import Verdict

LAWS = (
    "dropout-variance-half",
    "lognormal-mean-1",
    "exponential-mean",
    "ratio-of-means",
    "pooled-variance",
    "shared-draws",
    "large-mean-variance",
)
DISTRIBUTIONS = (
    *("sum-of-poissons", "threshold", "log-of-uniform", "alike-counts", "any-two"),
    *("atom", "nine-decimals", "count-2-percent", "alike-but-wider", "uncorrelated"),
)


@pytest.mark.parametrize(
    ("name", "claims", "repetitions", "decided"),
    [
        ("laws", LAWS, 20, 0.9),
        ("distributions", DISTRIBUTIONS, 4, 0.9),
        ("code", ("die*", "masks*", "shared.always@*"), 4, 0.9),
    ],
)
def test_the_promise_is_kept(
    name: str, claims: tuple[str, ...], repetitions: int, decided: float
) -> None:
    rows = measured(name, claims, repetitions=repetitions, most=200_000 if not claims else None)
    runs = sum(row.runs for row in rows)
    assert all(row.runs == repetitions for row in rows)
    assert [row.name for row in (*rows, *by_class(rows)) if row.broken(FALSE_ALARM)] == []
    if max(row.promise for row in rows) == 0.05:  # nor are single errors many together
        assert sum(row.wrong for row in rows) <= stats.binom.isf(FALSE_ALARM, runs, 0.05)
    undecided = sum(row.verdicts[Verdict.UNDECIDED] for row in rows)
    assert runs - undecided > decided * runs  # it is no feat to be right by saying nothing


def test_a_broken_promise_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["normal-mean", "--repetitions", "30"]
    assert main(arguments) == 0
    assert "kept" in capsys.readouterr().out

    def narrow(values: Floats, variance: float, alpha: float) -> tuple[float, float]:
        """An interval that takes a hundredth of the variance."""
        return whole(values, variance / 100, alpha)

    whole = intervals.catoni_interval
    monkeypatch.setattr(intervals, "catoni_interval", narrow)
    assert main(arguments) == 1
    assert "ALARM" in capsys.readouterr().out


def test_counts_do_not_depend_on_the_processes() -> None:
    one, two = (measured("laws", ["normal-mean"], repetitions=4, processes=n) for n in (1, 2))
    assert one == two


def row(wrong: int, runs: int, promise: float) -> Row:
    verdicts = Counter({Verdict.REFUTED: wrong, Verdict.VERIFIED: runs - wrong})
    return Row("one", "true", promise, "a class", verdicts, wrong)


def test_an_alarm_is_more_than_chance_explains() -> None:
    assert not row(1_100, 20_000, 0.05).broken(FALSE_ALARM)  # above α, as chance allows
    assert row(1_200, 20_000, 0.05).broken(FALSE_ALARM)
    assert row(1, 100, 0.0).broken(FALSE_ALARM)  # of a moment that does not exist
    assert not row(0, 100, 0.0).broken(FALSE_ALARM)


def test_single_errors_of_a_class_add_up_to_an_alarm() -> None:
    rows = [row(1, 20, 1e-6) for _ in range(3)]
    assert not any(one.broken(FALSE_ALARM) for one in rows)
    (total,) = by_class(rows)
    assert (total.wrong, total.runs, total.broken(FALSE_ALARM)) == (3, 60, True)
