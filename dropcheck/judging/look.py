"""One look at the averages so far: every comparison of the statement judged."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from dropcheck.array_types import Floats
from dropcheck.inference import budget
from dropcheck.inference.intervals import Interval
from dropcheck.inference.region import (
    Comparison,
    Reading,
    claimed_about,
    constants_in,
    decide,
    grouped,
    may_be_off,
    reach,
    region_floor,
    scale_of_sides,
    widening,
)
from dropcheck.judging.case import (
    CaseRun,
    Finding,
    Judging,
    Outlook,
    of_calls,
    why_undefined,
)
from dropcheck.judging.rounding import (
    rounding_of,
    rounding_of_sides,
    theta_of,
    with_digits_left,
)
from dropcheck.reasons import Reason
from dropcheck.results import Guarantee, Method, Region, Verdict
from dropcheck.simulation import MAIN, Compiled, Tally, means_of

# More draws than any run can make: what is claimed lies where no interval can decide.
ENDLESS = 10**15


def until_decided(
    run: CaseRun,
    outlook: Outlook,
    method: Method,
    tally: Tally,
    judged: Callable[[float], Finding],
) -> Judging:
    """Draw and look until there is a verdict, or no more to be had.

    Args:
        run: the run of the case.
        outlook: what draws, and when a verdict is expected.
        method: the method of the judge.
        tally: takes the draws.
        judged: the finding on the draws so far, at the error rate of a look.

    Raises:
        DropcheckError: where not one draw is defined.
    """
    looks = run.looks(
        outlook.program,
        expected=outlook.expected,
        fewest=outlook.fewest,
        most=outlook.most,
    )
    for look in looks:
        yield from run.draw_until(tally, MAIN, look.draws)
        run.refuse_if_nowhere_defined(tally)
        broken = run.undefined(tally, method, outlook.guarantee)
        if broken is not None:
            return broken
        finding = judged(look.alpha)
        never = finding.reason in _WITHOUT_VALUE and run.seems_never(tally.drawn)
        over = finding.verdict is not Verdict.UNDECIDED or finding.reason in _FINAL
        if over or never or run.out_of_time():
            break
    return finding


# What more draws would not change, and where there is nothing to look at so far.
_FINAL = (Reason.LOST_DIGITS, Reason.UNCLEAR_EVENT, Reason.NOT_INDEPENDENT)
_WITHOUT_VALUE = (Reason.CONDITION_NEVER_TRUE, Reason.UNDEFINED_AT_AVERAGES, Reason.NO_SCALE)


def scales_of(
    run: CaseRun, compiled: Compiled, means: Floats, centres: Floats, off: float = 0.0
) -> tuple[float, ...]:
    """The scale of each comparison: the claim's, or that of its own entry of the arrays.

    It is that of a known side, or of the estimated sides. Where a side is compared with 0, and
    where both sides may well be 0, it is the size of what the sides measure. `off` bounds the
    errors of the sides: a side no larger than that may well be 0. A size that may not exist by the
    model is none: then it is the largest number in the sides, and infinite where there is none.
    """
    functional, reading = compiled.functional, run.reading
    sizes: list[float] = []
    if compiled.scaled:
        # of code the draws say all there is, and the watchers of the limit theorem look at them
        unbounded = () if compiled.program.tests_code else compiled.unbounded
        sizes = functional.sizes(means, centres, unbounded)
    operands = functional.at_averages(means, centres)[0] if reading.against_estimates else []

    def scale(part: Reading) -> float:
        if part.known_scale is not None:
            return part.known_scale
        if not compiled.scaled:
            return max(abs(float(functional.operands[end].constant[..., 0])) for end in part.ends)
        against = max(sizes[end] for end in part.ends)
        size = against if against > 0 else sizes[part.side]
        if size == math.inf:
            written = (constants_in(functional.operands[place]) for place in part.places)
            size = max(chain.from_iterable(written), default=0.0) or math.inf
        if not part.against_estimates:
            return size
        sized = not part.of_probabilities and math.isfinite(size)
        hidden = off + (run.resolution * size if sized else 0.0)
        return scale_of_sides(size, hidden, part.sides_at(operands))

    if not reading.entries:
        return (scale(reading),) * len(reading.comparisons)
    return tuple(map(scale, reading.of_each))


def settling(reading: Reading, verdicts: Sequence[Verdict], off: Sequence[float]) -> int:
    """The place of the comparison that settles a statement: a refuted, an open, or a verified one.

    Among several it is the first, or with entries of arrays the one that is farthest `off`.
    """
    order = (Verdict.REFUTED, Verdict.UNDECIDED, Verdict.VERIFIED)
    worst = min(verdicts, key=order.index)
    places = [place for place, verdict in enumerate(verdicts) if verdict is worst]
    if reading.shown in places:
        return reading.shown
    return max(places, key=lambda place: off[place]) if reading.entries else places[0]


def far_off(low: float, high: float, region: Region, allowed: float) -> float:
    """How far an interval reaches out of its region, in units of what is allowed.

    It is negative where the interval is well inside.
    """
    away = max(region.low - low, high - region.high)
    return away / allowed if allowed > 0 else away


def more_draws(needed: int, tally: Tally) -> float:
    """Draws that an undecided case is likely to need beyond those made; infinite where none do.

    Args:
        needed: the draws that decide.
        tally: those made. The number includes the way to the next look, and a span, because budgets
            often end before a look.
    """
    if needed >= ENDLESS:
        return math.inf
    return max(budget.GROWTH * needed, 1.5 * tally.drawn) - tally.drawn + tally.program.span_draws


def why_endless(interval: Interval, region: Region, widen: float) -> Reason:
    """Why no number of draws that a run can make would decide."""
    near = 2 * interval.standard_error
    edge = region.strict_end_within(interval.estimate, near)
    edge = edge or not reach(interval.estimate, near, region, widen)
    return Reason.AT_THE_EDGE if edge else Reason.TOO_FINE


Decide = Callable[[Comparison, float, float, float, float], tuple[Interval, Verdict]]
"""How one comparison is judged: its share of α, the widening of its region and the allowance for
rounding give an interval and a verdict; the last number is the unit of results."""


def by_calls(decided: Decide, compiled: Compiled, tally: Tally) -> Decide:
    """The same judgement; for code with draws that are declared independent, also by its calls.

    The declaration may be wrong. Calls are independent, as each has a seed of its own: the interval
    is widened to hold the one from the averages of calls.
    """
    if not tally.program.declared:
        return decided

    def wider(
        comparison: Comparison, alpha: float, widen: float, rounding: float, unit: float
    ) -> tuple[Interval, Verdict]:
        interval, verdict = decided(comparison, alpha, widen, rounding, unit)
        if verdict is Verdict.UNDECIDED or interval.unmet is not None:
            return interval, verdict
        theta = theta_of(compiled, comparison, tally.centres)
        interval = of_calls(interval, tally, theta, alpha)
        if interval.unmet is not None:
            return interval, Verdict.UNDECIDED
        region = comparison.region
        verdict = decide(interval.low, interval.high, region, widen, rounding, of_code=True)
        return interval, verdict

    return wider


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The comparison that settles a statement at one look, and how it was judged.

    Where the quantity is a relative difference, the interval and the region are in units of `unit`,
    by which results multiply them.
    """

    verdict: Verdict
    interval: Interval
    comparison: Comparison
    place: int  # of the comparison among those of the statement
    widen: float
    unit: float
    scale: float
    about: float | None  # the largest number that is compared; None where all may be 0
    sides: tuple[float, ...] | None  # of the statement, where a difference of two is judged

    @property
    def digits_lost(self) -> bool:
        """Whether rounding decides the comparison."""
        return self.interval.reason in (Reason.LOST_DIGITS, Reason.UNCLEAR_EVENT)

    @property
    def unscaled(self) -> bool:
        """Whether an equation has no scale, so that nothing verifies it."""
        return self.region.point and not (self.widen > 0 or math.isfinite(self.scale))

    @property
    def over(self) -> bool:
        """Whether no more draws can change it."""
        return self.digits_lost or self.verdict is not Verdict.UNDECIDED

    @property
    def region(self) -> Region:
        """Where the quantity may lie by what is claimed, with all that the claim allows."""
        return self.comparison.region

    def gives(self, claimed: Region) -> float:
        """How far the claim's text allows the quantity to lie from what is claimed."""
        ends = ((claimed.low, self.region.low), (claimed.high, self.region.high))
        return max((abs(a - b) for a, b in ends if math.isfinite(a)), default=0.0)


def judge_look(
    run: CaseRun,
    compiled: Compiled,
    tally: Tally,
    alpha: float,
    decided: Decide,
    exact_means: Floats | None = None,
) -> Judged | None:
    """Judge every comparison of the statement; None where it is undefined.

    Args:
        run: the run of the case.
        compiled: what is simulated.
        tally: its sums so far.
        alpha: the error of this look, shared by the comparisons.
        decided: the interval of a comparison and its verdict.
        exact_means: the averages by the model, where it gives them: they bound the scale.
    """
    reading = run.reading
    functional, centres = compiled.functional, tally.centres
    means = means_of(tally.sums, tally.values)
    operands, largest = functional.at_averages(means, centres)
    if not all(map(math.isfinite, operands)):
        return None
    # exact averages know better what is 0
    error = 0.0 if exact_means is None else may_be_off(run.reading, compiled, tally)
    scales = scales_of(run, compiled, means, centres, error)
    if exact_means is not None:  # errors of the draws must not make a verdict less sharp
        scales = tuple(map(min, scales, scales_of(run, compiled, exact_means, centres)))
    if any(map(math.isnan, scales)):
        return None
    judged: list[Judged] = []
    off: list[float] = []
    each = zip(reading.comparisons, reading.of_each, scales, strict=True)
    for place, (claimed, part, scale) in enumerate(each):
        about = claimed_about(part, compiled, grouped(tally), tally.centres)
        unit = unit_of(claimed, operands)
        asked = sharpness_of(run, part, scale, operands, about or math.inf) / unit
        widen = widening(claimed.region, asked)
        comparison = replace(claimed, region=claimed.allowed(asked))
        size = scale if math.isfinite(scale) else 0.0
        most, sides = max(largest, size) / unit, max(map(abs, part.sides(operands))) / unit
        rounding = rounding_of(compiled, comparison, means, centres, most, sides)
        share = alpha / len(reading.comparisons)
        interval, verdict = decided(comparison, share, widen, rounding, unit)
        of_sides = rounding_of_sides(run, part) / unit
        interval, verdict = with_digits_left(
            run, compiled, tally, comparison, (interval, verdict), widen, rounding, of_sides
        )
        ends = interval.low, interval.high
        if verdict is Verdict.REFUTED:
            ends = interval.estimate, interval.estimate
        off.append(far_off(*ends, comparison.region, widen))
        judged.append(
            Judged(
                verdict=verdict,
                interval=interval,
                comparison=comparison,
                place=place,
                widen=widen,
                unit=unit,
                scale=scale,
                about=about,
                sides=None if comparison.against is None else part.sides(operands),
            )
        )
    return judged[settling(reading, [one.verdict for one in judged], off)]


def sharpness_of(
    run: CaseRun,
    reading: Reading,
    scale: float,
    operands: Sequence[float],
    about: float | None = None,
) -> float:
    """How sharply to look; a range between estimated ends is widened no more than a fixed one."""
    sharpness = run.sharpness(scale, about)
    if len(reading.comparisons) > 1:
        ends = [operands[end] for end in reading.ends]
        sharpness = min(sharpness, abs(ends[1] - ends[0]) / 20)
    return sharpness


def unit_of(comparison: Comparison, operands: Sequence[float]) -> float:
    """The factor of a quantity in results, which show a relative difference as a difference."""
    if comparison.share and comparison.against is not None:
        return max(abs(operands[comparison.against]), 1e-300)
    return 1.0


def shown(
    run: CaseRun,
    judged: Judged,
    tally: Tally,
    guarantee: Guarantee,
    needed: float | None = None,
) -> Finding:
    """The finding of a look, in the unit of the sides.

    `needed` are the draws that an undecided case is likely to need beyond those made.
    """
    interval, unit = judged.interval, judged.unit
    region = run.reading.comparisons[judged.place].region
    explanation = None
    if judged.verdict is Verdict.UNDECIDED:
        endless = needed == math.inf
        wide = why_endless(interval, judged.region, judged.widen) if endless else Reason.TOO_WIDE
        explanation = interval.unmet or wide.explain()
        if judged.unscaled:
            explanation = Reason.NO_SCALE.explain()
    return Finding(
        verdict=judged.verdict,
        method=Method.BLOCK_MEANS,
        guarantee=guarantee,
        quantity=judged.comparison.measures,
        region=Region(region.low * unit, region.high * unit, region.low_open, region.high_open),
        estimate=interval.estimate * unit,
        interval=(interval.low * unit, interval.high * unit),
        standard_error=interval.standard_error * unit,
        entry=judged.comparison.entry,
        sides=judged.sides,
        scale=judged.scale if math.isfinite(judged.scale) else None,
        sharpness=run.looked(judged.scale, judged.widen, unit),
        within=region_floor(region, judged.widen + judged.gives(region)) * unit,
        about=judged.about,
        draws=tally.draws,
        blocks=len(tally.sums),
        seconds=tally.seconds,
        sampling=tally.program.sampling,
        explanation=explanation,
        more_draws=needed,
    )


def undefined_at_averages(compiled: Compiled, tally: Tally, guarantee: Guarantee) -> Finding:
    """The finding that the quantity is undefined at the averages themselves, and why."""
    return Finding(
        verdict=Verdict.UNDECIDED,
        method=Method.BLOCK_MEANS,
        guarantee=guarantee,
        draws=tally.draws,
        blocks=len(tally.sums),
        seconds=tally.seconds,
        sampling=tally.program.sampling,
        explanation=why_undefined(compiled, tally),
    )
