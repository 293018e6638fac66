"""What the judges share: the scale of a claim, the part that settles it, the draws to plan for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TypeVar

from dropcheck.inference import budget
from dropcheck.inference.bounded import bernstein_quantile
from dropcheck.inference.comparison import Comparison, Reading
from dropcheck.inference.interval import Interval
from dropcheck.inference.region import reach
from dropcheck.judging.trial import Floats
from dropcheck.reasons import Reason
from dropcheck.results import Guarantee, Region, Verdict
from dropcheck.simulation import Compiled

# Differences below this share of the largest magnitude met are rounding.
ROUNDING = 1e-12

# More draws than any run can make: what is claimed lies where no interval can decide.
ENDLESS = 10**15
# Where a sample asks for so many times its own draws to settle, a few of them carry it: what shape
# a larger one has is not known, nor whether there is a mean at all.
UNTOLD = 32

Quantity = TypeVar("Quantity")


def scale_of(reading: Reading, compiled: Compiled, means: Floats, centres: Floats) -> float:
    """The claim's scale: |R| where that is known, else the size of R, or of L where R is 0."""
    if reading.known_scale is not None:
        return reading.known_scale
    if not compiled.scaled:
        return max(
            abs(float(compiled.functional.operands[end].constant[..., 0])) for end in reading.ends
        )
    sizes = compiled.functional.sizes(means, centres)
    against = max(sizes[end] for end in reading.ends)
    return against if against > 0 else sizes[reading.side]


def settling(
    found: Sequence[tuple[Verdict, Quantity, Comparison]],
) -> tuple[Verdict, Quantity, Comparison]:
    """The comparison that settles a statement: a refuted one, else an open one, else any."""
    order = (Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.VERIFIED)
    return min(found, key=lambda entry: order.index(entry[0]))


def planned(
    draws: int,
    interval: Interval,
    region: Region,
    widen: float,
    alpha: float,
    tier: Guarantee,
) -> int:
    """Draws after which the verdict is expected, from an interval so far."""
    if tier is Guarantee.FINITE_SAMPLE:
        quantile = bernstein_quantile(alpha)
    else:
        quantile = NormalDist().inv_cdf(1 - max(alpha / 2, 1e-15))
    if region.strict_end_within(interval.estimate, 2 * interval.standard_error):
        return ENDLESS  # on which side of it the quantity lies, these draws cannot tell
    target = reach(interval.estimate, 2 * interval.standard_error, region, widen)
    needed = budget.draws_needed(
        draws, interval.standard_error, interval.second_order, target, quantile
    )
    return int(min(max(needed, 1.0), ENDLESS))


def why_endless(interval: Interval, region: Region, widen: float) -> Reason:
    """Why no number of draws that a run can make would decide."""
    near = 2 * interval.standard_error
    edge = region.strict_end_within(interval.estimate, near)
    edge = edge or not reach(interval.estimate, near, region, widen)
    return Reason.AT_THE_EDGE if edge else Reason.TOO_FINE


def carried_by_few(interval: Interval, draws: int) -> bool:
    """Whether a few of so many draws carry an average: what more would do is then not known."""
    reason = None if interval.unmet is None else interval.unmet.reason
    if reason is Reason.TOO_SKEWED:
        return interval.settles > UNTOLD * draws
    return reason in (Reason.HEAVY_SUM, Reason.HEAVY_PART)


def more(
    verdict: Verdict,
    draws: int,
    interval: Interval,
    region: Region,
    widen: float,
    alpha: float,
    tier: Guarantee,
    span_draws: int,
) -> float | None:
    """Draws that an undecided case is likely to need beyond those made.

    None where that is unknown, infinity where no number of draws would do. With as many again as
    lie between one look and the next, and a span: budgets end before looks as often as not.
    """
    if verdict is not Verdict.INCONCLUSIVE or not math.isfinite(interval.half_width):
        return None
    if carried_by_few(interval, draws):
        return None
    needed = interval.settles if interval.settles > draws else 0.0
    if interval.low < interval.high:  # of draws that all agree more may agree too
        needed = max(needed, planned(draws, interval, region, widen, alpha * budget.PLANNED, tier))
        if needed >= ENDLESS:
            return math.inf
        needed = max(budget.GROWTH * needed, 1.5 * draws)
    return needed - draws + span_draws if needed else None
