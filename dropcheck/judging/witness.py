"""The second witness of a verdict: the exact value by the model. And which guarantee is enough.

Draws and exact value are two ways to one number. Where they agree, the verdict is confirmed. Where
they do not, one of them is wrong, and no verdict of the run can be trusted.
"""

from __future__ import annotations

from dropcheck.claims.registry import Case
from dropcheck.claims.values import case_name
from dropcheck.errors import InternalError, Problem
from dropcheck.results import Exact, Region, Resolution, Verdict

SELDOM = 1e-6
"""The largest error rate of a case at which chance does not explain an interval that misses."""

WITNESS_ROUNDING = 1e-9
"""The relative difference of two ways to one number that rounding alone may make."""


def inside(exact: Exact, interval: tuple[float, float], scale: float | None) -> bool:
    """Whether an interval holds an exact value, give or take its error and rounding.

    >>> inside(Exact(512.0), (509.1, 514.6), 512.0), inside(Exact(500.0), (509.1, 514.6), 512.0)
    (True, False)
    >>> inside(Exact(1 / 3 + 1e-16), (1 / 3, 1 / 3), None)
    True
    """
    give = exact.error + WITNESS_ROUNDING * max(abs(exact.value), scale or 0.0)
    low, high = interval
    return low - give <= exact.value <= high + give


def with_digits(exact: Exact | None, resolution: Resolution | None) -> Exact | None:
    """An exact value that is known well enough to show; else None.

    It must be known to three digits, or to a hundredth of the resolution.

    >>> with_digits(Exact(1.6e-9, 1.4e-4), Resolution(5e-13, 5e-13))
    >>> with_digits(Exact(0.0, 1e-11), Resolution(0.01, 0.01))
    Exact(value=0.0, error=1e-11)
    """
    if exact is None or resolution is None:
        return exact
    return exact if exact.error <= max(abs(exact.value) / 1_000, resolution.asked / 100) else None


def fits(exact: Exact, verdict: Verdict, region: Region, widening: float) -> bool:
    """Whether an exact value allows a verdict.

    A claim may be verified if its value is in the region, or no farther from it than the widening.
    It may be refuted if its value is not in the region. Between the two, both verdicts are right.

    >>> region = Region(1.0, 1.0)
    >>> [fits(Exact(1.005), verdict, region, 0.01) for verdict in Verdict]
    [True, True, False]
    >>> [fits(Exact(1.0), verdict, region, 0.01) for verdict in Verdict]
    [True, False, False]
    """
    low, high = exact.value - exact.error, exact.value + exact.error
    give = WITNESS_ROUNDING * abs(exact.value)
    if verdict is Verdict.VERIFIED:
        return low >= region.low - widening - give and high <= region.high + widening + give
    if verdict is Verdict.REFUTED:
        below = high <= region.low if region.low_open else high < region.low
        above = low >= region.high if region.high_open else low > region.high
        return below or above
    return False


def disagreement(
    case: Case, exact: Exact, interval: tuple[float, float], repeat: str
) -> InternalError:
    """The error of an interval that misses the exact value where chance does not explain it."""
    ends = f"[{interval[0]:.10g}, {interval[1]:.10g}]"
    return InternalError(
        Problem(
            f"{case_name(case.claim.id, case.parameters)}: the draws say {ends}, and by the model "
            f"the exact value is {exact.value:.10g}",
            case.claim.location,
            hint="one of the two is wrong: this is a fault of dropcheck and not of your claims: "
            f"please report it, with the claims file and this command: {repeat}",
        )
    )
