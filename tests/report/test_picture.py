"""Pictures of a run and of a sweep: what stands where, and always the same bytes."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from report_cases import ALL_KINDS, EMPTY, FAILED, ONE_SIDED, PASSED, STRICT, UNKNOWN, run_of, swept

from dropcheck.report import Report
from dropcheck.report.pictures import Placed, picture, placed
from dropcheck.results import CaseResult, Exact

# ---- where things stand -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (  # an equality, in units of its resolution
            PASSED,
            Placed(
                allowed=(0.0, 0.0),
                verified=(-1.0, 1.0),
                interval=((509.11 - 512) / 5.12, (514.57 - 512) / 5.12),
                estimate=(511.83 - 512) / 5.12,
            ),
        ),
        (  # far off, by the logarithm: 0.7 where at least 0.9 is claimed
            FAILED,
            Placed(
                allowed=(0.0, math.inf),
                verified=(-1.0, math.inf),
                interval=(-1 - math.log10(0.209 / 0.009), -1 - math.log10(0.1902 / 0.009)),
                estimate=-1 - math.log10(0.1996 / 0.009),
            ),
        ),
        (  # a strict end, which is not widened
            STRICT,
            Placed(
                allowed=(-math.inf, 0.0),
                verified=(-math.inf, 0.0),
                interval=(-1 - math.log10(1.5), 0.5),
                estimate=-0.5,
            ),
        ),
        (  # an end of the interval that is unknown
            ONE_SIDED,
            Placed(
                allowed=(0.0, math.inf),
                verified=(-1.0, math.inf),
                interval=(1 + math.log10(0.03 / 0.009), math.inf),
                estimate=1 + math.log10(0.05 / 0.009),
            ),
        ),
        (UNKNOWN, Placed(allowed=(-1.0, 1.0))),
        (  # decided by its exact value, without a band: in units of the resolution
            replace(PASSED, sharpness=None, exact=Exact(512.0)),
            replace(placed(PASSED), verified=(math.nan, math.nan), exact=0.0),
        ),
    ],
)
def test_a_case_stands_on_the_axis_that_all_claims_share(
    case: CaseResult, expected: Placed
) -> None:
    for name in ("allowed", "verified", "interval", "estimate", "exact"):
        found, wanted = getattr(placed(case), name), getattr(expected, name)
        assert found == pytest.approx(wanted, nan_ok=True), name


# ---- its bytes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "plot"), [("svg", True), ("png", False)])
def test_the_same_run_gives_the_same_bytes(kind: str, plot: bool) -> None:
    cases = swept() if plot else ALL_KINDS
    first, second = (picture(kind, Report(run_of(*cases), EMPTY, plot=plot)) for _ in range(2))
    assert first == second
    assert b"Matplotlib" not in first.replace(b"Created with matplotlib", b"")
    assert b"<dc:date>" not in first
