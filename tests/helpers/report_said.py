"""What is said of a case by a label, or `None` where nothing is."""

from __future__ import annotations

from dataclasses import replace

from report_cases import (
    AS_EXPECTED,
    CONFIRMED,
    FAILED,
    PASSED,
    PRINTED_IN_PAPER,
    UNDECIDED,
    claiming,
    looked_at,
)

from dropcheck.reasons import Reason
from dropcheck.results import (
    CallCount,
    CaseResult,
    Exact,
    Method,
    Outcome,
    Quantity,
    Region,
    Resolution,
    Verdict,
)

CLAIMS_TWO = replace(
    FAILED,
    quantity=Quantity.LEFT_MINUS_RIGHT,
    region=Region(0.0, 0.0),
    estimate=-0.005,
    interval=(-0.009, -0.001),
    sides=(0.1, 0.105),
    relations=("==",),
)
SEEMS_OFF = replace(
    PASSED,
    region=Region(0.0, 0.0),
    estimate=-2.0,
    interval=(-2.7, 0.8),
    standard_error=0.3,
    scale=316.0,
    sharpness=Resolution(3.16, 3.16),
    within=3.16,
)
BELOW_ITS_BOUND = replace(
    CONFIRMED,
    region=Region(high=0.8463, high_open=True),
    estimate=0.8,
    interval=(-1.1, 2.3),
    exact=Exact(0.84628437532, 1e-9),
)
UNEXPECTED = replace(PASSED, expect=Verdict.REFUTED, result=Outcome.FAIL)
OPEN = replace(UNDECIDED, exact=Exact(0.41), confirmed=False)
SURE = replace(
    FAILED,
    region=Region(1.0, 1.0),
    method=Method.CERTAINTY,
    sharpness=Resolution(1e-4, 1e-4, absolute=True),
)
CODE = replace(
    claiming(UNDECIDED, Region(512.0, 512.0), interval=(500.0, 520.0), scale=512.0),
    calls=CallCount(64, declared=True),
    sharpness=Resolution(5.12, 5.12),
    estimate=511.0,
    more_seconds=54_000.0,
)


def claim(region: Region | None) -> CaseResult:
    return replace(PASSED, region=region)


def beside(region: Region, low: float, high: float, estimate: float) -> CaseResult:
    return replace(PASSED, region=region, interval=(low, high), estimate=estimate)


def looked(region: Region, absolute: float | None = None) -> CaseResult:
    case = claiming(FAILED, region, scale=5.0)
    if absolute is None:
        return case
    return replace(case, sharpness=looked_at(region, absolute, absolute=True))


def priced(region: Region, low: float | None, high: float) -> CaseResult:
    return claiming(UNDECIDED, region, interval=(low, high), scale=1.0)


def off(estimate: float, exact: Exact | None = None) -> CaseResult:
    return replace(PASSED, estimate=estimate, exact=exact)


NEEDS = "too few draws: needs about 1.3e6 more draws (--max-draws 1.5e6)"
THIRDS = Region(2 / 3, 2 / 3)

SAID: dict[str, list[tuple[CaseResult, str | None]]] = {
    "claimed": [
        (BELOW_ITS_BOUND, "< 0.8463"), (claim(Region(512.0, 512.0)), "512"),
        (claim(Region(low=0.9, low_open=True)), "> 0.9"), (claim(Region(low=0.9)), ">= 0.9"),
        (claim(Region(high=2.0)), "<= 2"), (claim(Region(0.405, 0.415)), "0.405 … 0.415"),
        (claim(None), None),
        # not as rough as a rough estimate, and a digit more than the interval
        (beside(Region(1 / 120, 1 / 119), -1e3, 1e3, 30.0), "0.008333 … 0.008403"),
        (beside(THIRDS, 0.67, 0.70, 0.682), "0.6667"),
        (replace(PASSED, region=THIRDS, draws=0, interval=None), "0.66666667"),
        # sides with their relations
        (replace(CLAIMS_TWO, sides=(3, 3), interval=(0, 0)), "3 == 3"),
        (replace(CLAIMS_TWO, sides=(0.1, 0.105, 0.2), relations=("<", "<=")),
            "0.1000 < 0.1050 <= 0.2000"),
        (replace(CLAIMS_TWO, region=Region(-0.001, 0.001)), "0.1000 == 0.1050 ±0.001"),
        # what a document prints
        (PRINTED_IN_PAPER, "0.41 ± 0.005"),
        (replace(PRINTED_IN_PAPER, region=Region(0.305, 0.415)), "0.305 … 0.415"),
    ],
    "estimated": [
        (CLAIMS_TWO, "diff -0.0050"),
        (replace(UNDECIDED, estimate=1.0192855, interval=(None, None)), "1.02"),
        (replace(UNDECIDED, estimate=1.0192855, interval=(1.0192855, 1.0192855), draws=0),
            "1.0192855"),
    ],
    "interval": [
        (replace(UNDECIDED, interval=(None, None)), "(-inf, inf)"),
        (replace(PASSED, interval=(509.11, 514.57)), "[509.1, 514.6]"),
        (replace(PASSED, interval=(0.93, None), estimate=0.94), "[0.930, inf)"),
        (replace(PASSED, interval=(-2e-9, 3e-9), estimate=0.0), "[-2.0e-9, 3.0e-9]"),
        (replace(PASSED, interval=(4.0, 4.0), estimate=4.0), "[4, 4]"),
        (replace(PASSED, interval=None), None),
        (replace(FAILED, interval=(None, 0.71)), "(-inf, 0.710]"),
    ],
    "exact": [
        (CONFIRMED, "512"), (replace(CONFIRMED, exact=Exact(511.123456)), "511.12"),
        (replace(CONFIRMED, exact=Exact(2 / 3)), "0.6667"), (BELOW_ITS_BOUND, "0.84628"),
        (replace(BELOW_ITS_BOUND, exact=Exact(0.8463 + 1e-12, 1e-11)), "0.8463"),  # no difference
        (replace(CONFIRMED, draws=0, method=Method.EXACT_VALUE), None),
    ],
    "write": [
        (replace(PRINTED_IN_PAPER, interval=(0.4226, 0.4236)), "42%"),
        (PRINTED_IN_PAPER, None),  # the interval has room for two
        (replace(PRINTED_IN_PAPER, exact=Exact(0.4305)), "43%"),
    ],
    "guarantee": [(CONFIRMED, "moments, confirmed")],
    "result": [
        (PASSED, "verified"), (replace(PASSED, confirmed=False), "verified, not confirmed"),
        (FAILED, "FAIL: refuted"), (UNEXPECTED, "FAIL: verified, expected refuted"),
        (AS_EXPECTED, "refuted, as expected"), (UNDECIDED, "undecided"),
        (replace(UNDECIDED, expect=Verdict.REFUTED), "undecided, expected refuted"),
        (replace(UNDECIDED, result=Outcome.ERROR), "ERROR"),
    ],
    "within": [(PASSED, "±5.12"), (FAILED, None), (replace(PASSED, within=0.0), "±0")],
    "resolution": [
        (looked(Region(5.0, 5.0)), "0.01 of 5: ±0.05"),
        (looked(Region(5.0, 5.0), 0.3), "±0.3, absolute"),
        (looked(Region(high=5.0, high_open=True)), "±0: a strict inequality is not widened"),
        (looked(Region(4.9, 5.0)), "0.01 of 5: ±0.005, a tenth of the half-width"),
        (looked(Region(4.0, 5.0, low_open=True)), "0.01 of 5: ±0.05"),
        (SURE, "±0.0001: violations rarer than that"), (replace(UNDECIDED, sharpness=None), None),
    ],
    "distance": [
        (replace(FAILED, estimate=0.9 - 0.0172, standard_error=None, scale=None), "0.0172 below"),
        (replace(FAILED, estimate=0.7), "200 standard errors below, 22.2% of the scale"),
        (replace(FAILED, estimate=0.9 - 0.9 * 30.14),
            "2.71e4 standard errors below, 30 times the scale"),
    ],
    "reading": [
        (FAILED, "false as stated: the interval misses what is claimed"),
        (UNEXPECTED, "as claimed within ±5.12, although it is expected to be refuted"),
        (replace(UNEXPECTED, estimate=515.0),
            "within the resolution, though 0.59% off (3), and it is expected to be refuted"),
        (UNDECIDED, NEEDS),
        (replace(UNDECIDED, more_draws=3_100_000, more_seconds=4e4),  # longer than anybody waits
            "too few draws: needs about 3.1e6 more draws, 11 h (--max-draws 3.4e6); else claim a "
            "ratio, a bound or a probability, or a coarser --resolution"),
        (replace(UNDECIDED, draws=10),
            "too few draws: how many more it needs cannot be told from so few"),
        (replace(FAILED, exact=Exact(0.7), interval=(0.1, 0.95), draws=10),
            "false as stated: the exact value misses what is claimed"),
        (replace(UNDECIDED, timed_out=True),
            "too few draws: needs about 1.3e6 more draws (--time-limit ended it: make it longer, "
            "or --max-draws 1.5e6)"),
        (replace(UNDECIDED, more_draws=None, explanation=Reason.HEAVY_SUM.explain()),
            Reason.HEAVY_SUM.reading),
        (OPEN, NEEDS),
        # the promise that would do
        (priced(Region(0.0, 0.0), -0.0331, 0.02), f"{NEEDS}; within: 0.034 would do with these"),
        (priced(Region(high=0.0), -0.5, 0.02), f"{NEEDS}; within: 0.02 would do with these"),
        (priced(Region(high=0.0, high_open=True), -0.5, 0.02), NEEDS),  # strict
        (priced(Region(-0.1, 0.1), -0.15, 0.02), NEEDS),  # a range is no wider for the asking
        (priced(Region(0.0, 0.0), 0.02, 0.03), NEEDS),  # refuted
        (CODE, "too few draws: resolution: 0.024 would do with these draws "
            "(or --max-draws 1.5e6)"),
    ],
    "note": [
        (PASSED, None), (FAILED, None),
        (replace(SEEMS_OFF, scale=31.6), "verified within ±3.16, though 6.3% off (2)"),
        (SEEMS_OFF, "verified within ±3.16, though 0.63% off (2)"),
        (replace(SEEMS_OFF, exact=Exact(-1.0)),
            "verified within ±3.16, though 0.32% off by the model (1)"),
        (off(512.5), None),  # 1.1 standard errors
        (off(509.0), "verified within ±5.12, though 0.59% off (3)"),  # 6.7 standard errors
        (off(515.0, Exact(512.0)), None),  # the model knows better
        (off(512.0, Exact(512.0 + 1e-8)), None),  # rounding
    ],
    "warnings": [  # of a claim twice, and of four claims, of which three are named
        (replace(one, warnings=("it is rounded",)), "it is rounded")
        for one in (PASSED, CONFIRMED, FAILED, UNDECIDED, AS_EXPECTED)
    ],
}  # fmt: skip
