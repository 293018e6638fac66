"""Judge claims about quantiles: counts at thresholds, turned into intervals by the sign test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from dropcheck.analysis.strategy import Quantiles
from dropcheck.array_types import Floats
from dropcheck.inference import budget
from dropcheck.inference.interval import FEWEST_BLOCKS
from dropcheck.inference.region import decide
from dropcheck.judging.case_of_code import calls_of, dependent
from dropcheck.judging.case_run import FEWEST_DRAWS, CaseRun, Finding, Judging
from dropcheck.judging.look import ENDLESS, far_off, settling
from dropcheck.judging.quantiles.exact_quantiles import (
    by_exact_quantiles,
    exact_value,
    quantile_of_law,
)
from dropcheck.judging.quantiles.pilot_sample import (
    QuantilePilot,
    QuantileTarget,
    at_level,
    draws_for,
    piloted,
)
from dropcheck.judging.rounding.lost_digits import draws_to_look_at, lost
from dropcheck.reasons import Reason
from dropcheck.results import Exact, Guarantee, Method, Verdict
from dropcheck.simulation import (
    MAIN,
    PILOT,
    AtThresholds,
    Tally,
    Threshold,
    compile_counts,
    rounding_of_values,
)
from dropcheck.vocabulary import special
from dropcheck.vocabulary.function import Array

# Thresholds about the pilot's quantile, in its standard errors: how far out, and at what distances.
FAR = 4.0
STEP, FINE_STEP = 0.5, 0.125
FARTHER = (6.0, 8.0, 12.0, 16.0, 24.0, 32.0)
# How many draws nearest to a quantile show what rounding does to it.
NEAREST = 16
# Blocks at the planned look: whole spans are drawn, of a few blocks each, and none in vain.
PLANNED_BLOCKS = 512


def by_order_statistics(run: CaseRun, claim: Quantiles, compiled: AtThresholds) -> Judging:
    """Judge a claim about quantiles; asks for spans of draws as it goes."""
    pilot = yield from piloted(run, claim, compiled)
    broken = run.undefined(pilot.sample, Method.ORDER_STATISTICS, Guarantee.EXACT)
    if broken is not None:
        return broken
    if pilot.empty:
        return _never(pilot.sample)
    if pilot.has_gap:  # counts may not tell on which side of it the level is passed
        known = by_exact_quantiles(run, claim, pilot.targets)
        if known is not None:
            return known
    thresholds = thresholds_of(pilot)
    counted = compile_counts(claim.quantities, thresholds)
    program = counted.program.fitted(pilot.most, FEWEST_BLOCKS)
    tally = Tally(program.in_blocks(pilot.expected // PLANNED_BLOCKS))
    findings: list[Finding] = []
    place, rounding = 0, _Rounding(run, pilot, compiled)
    fewest = min(max(FEWEST_DRAWS, tally.program.fewest_planned), pilot.most)
    for look in budget.looks(pilot.expected, fewest, pilot.most, run.alpha):
        yield from run.draw_until(tally, MAIN, look.draws)
        broken = run.undefined(tally, Method.ORDER_STATISTICS, Guarantee.EXACT)
        if broken is not None:
            return broken
        found = _look(run, claim, pilot, counted, thresholds, tally, look.alpha)
        findings = list(map(rounding.allowed_for, found, pilot.targets))
        off = list(map(_off, findings, pilot.targets))
        place = settling(run.reading, [one.verdict for one in findings], off)
        if (
            findings[place].verdict is not Verdict.INCONCLUSIVE
            or findings[place].reason is Reason.LOST_DIGITS
            or run.out_of_time()
            or dependent(tally)
        ):
            break
    return findings[place]


class _Rounding:
    """How far rounding may move the quantiles of a case: draws show it when it is first needed."""

    def __init__(self, run: CaseRun, pilot: QuantilePilot, compiled: AtThresholds) -> None:
        self._run, self._pilot, self._compiled = run, pilot, compiled
        self._seen: dict[int, tuple[Array, Array]] | None = None

    def _room(self, target: QuantileTarget) -> float:
        """How far rounding may move the quantity of a comparison; 0 for code, which is as it is."""
        program, pilot = self._compiled.program, self._pilot
        if program.calls_own_code:
            return 0.0
        if self._seen is None:
            generator, draws = self._run.generator(PILOT, 0), draws_to_look_at(program)
            self._seen = rounding_of_values(program, generator, draws)
        room = 0.0
        for factor, at in target.form.terms:
            ((register, _),) = program.terms[self._compiled.columns[at][0]].factors
            values, off = self._seen[register]
            away = np.abs(values - at_level(pilot.values[at], pilot.levels[at]))
            room += abs(factor) * float(off[np.argsort(away)[:NEAREST]].max())
        return room

    def allowed_for(self, finding: Finding, target: QuantileTarget) -> Finding:
        """The finding, left open where rounding may change its verdict."""
        if finding.verdict is Verdict.INCONCLUSIVE or not finding.interval:
            return finding
        region, (low, high), room = target.comparison.region, finding.interval, self._room(target)
        rounding = 0.0 if region.low_open or region.high_open else target.rounding
        if decide(low - room, high + room, region, target.widen, rounding) is finding.verdict:
            return finding
        middle = low / 2 + high / 2
        still = decide(middle - room, middle + room, region, target.widen, rounding)
        if still is Verdict.INCONCLUSIVE:
            return finding.left_open(lost(room, 0.0))
        return finding.left_open(Reason.TOO_WIDE.explain())


def thresholds_of(pilot: QuantilePilot) -> list[list[Threshold]]:
    """The thresholds of each quantity: where a claim about it is decided, and near its quantile."""
    own: list[set[Threshold]] = [set() for _ in pilot.levels]
    several = any(len(target.form.terms) > 1 for target in pilot.targets)
    for target in pilot.targets:
        if len(target.form.terms) == 1:
            ((factor, at),) = target.form.terms
            own[at] |= _deciding(target, factor)
    for at, (values, level) in enumerate(zip(pilot.values, pilot.levels, strict=True)):
        own[at] |= _beside(values, level, FINE_STEP if several else STEP)
    return list(map(sorted, own))


def _deciding(target: QuantileTarget, factor: float) -> set[Threshold]:
    """The thresholds at which a claim about one quantity is decided.

    Counts of u < t show that the quantile lies at or above t, counts of u <= t that it lies above.
    """
    region, widen, rounding = target.comparison.region, target.widen, target.rounding
    rising = factor > 0
    ends: set[tuple[float, bool]] = set()  # of the quantity itself, and whether they are closed
    if math.isfinite(region.low):
        if region.low_open:
            ends |= {(region.low + 2 * rounding, True), (region.low + rounding / 2, True)}
        else:
            ends |= {(region.low - widen, False), (region.low - 2 * rounding, False)}
    if math.isfinite(region.high):
        if region.high_open:
            ends |= {(region.high - 2 * rounding, False), (region.high - rounding / 2, False)}
        else:
            ends |= {(region.high + widen, True), (region.high + 2 * rounding, True)}
    return {
        Threshold((end - target.form.constant) / factor, closed is rising) for end, closed in ends
    }


def _beside(values: Floats, level: float, step: float) -> set[Threshold]:
    """Values of the pilot near its quantile; a repeated one is a threshold on both sides."""
    error = math.sqrt(level * (1 - level) / len(values))
    count = round(FAR / step)
    steps = [place * step for place in range(-count, count + 1)]
    thresholds: set[Threshold] = set()
    for place in (*steps, *FARTHER, *(-far for far in FARTHER)):
        value = at_level(values, level + place * error)
        first, last = np.searchsorted(values, [value, math.nextafter(value, math.inf)])
        thresholds.add(Threshold(value, closed=True))
        if last - first > 1:
            thresholds.add(Threshold(value, closed=False))
    return thresholds


def _look(
    run: CaseRun,
    claim: Quantiles,
    pilot: QuantilePilot,
    counted: AtThresholds,
    thresholds: Sequence[Sequence[Threshold]],
    tally: Tally,
    alpha: float,
) -> list[Finding]:
    """Every comparison judged by the counts so far."""
    totals = tally.totals
    counts = [totals[list(own)] for own in counted.columns]
    seen = [
        tally.drawn if given is None else round(float(totals[given])) for given in counted.given
    ]
    levels = pilot.levels
    estimates = [
        estimate(thresholds[at], counts[at], seen[at], level) for at, level in enumerate(levels)
    ]
    share, calls = alpha / len(pilot.targets), calls_of(tally)
    worth = [
        calls.of(calls.counts[:, own], None if given is None else calls.counts[:, given]).effects
        for own, given in zip(map(list, counted.columns), counted.given, strict=True)
    ]

    def ends(at: int, own: float) -> tuple[float, float]:
        drawn = seen[at] / worth[at]
        return bounds(thresholds[at], counts[at] / worth[at], drawn, levels[at], own)

    findings: list[Finding] = []
    for target in pilot.targets:
        form = target.form
        each = share / max(len(form.terms), 1)
        low, high = form.interval([ends(at, each) for at in range(len(levels))])
        region = target.comparison.region
        verdict = decide(low, high, region, target.widen, target.rounding)
        value = form.value(estimates)
        error = (high - low) / 2 / NormalDist().inv_cdf(1 - max(each / 2, 1e-15))
        shown = value if math.isfinite(value) else _middle(low, high)
        needed = _more(run, pilot, target, estimates, tally, verdict)
        why = None
        if verdict is Verdict.INCONCLUSIVE:
            reason = Reason.AT_THE_EDGE if needed == math.inf else Reason.TOO_WIDE
            why = (Reason.NOT_INDEPENDENT if dependent(tally) else reason).explain()
        findings.append(
            replace(
                target.finding(run, Method.ORDER_STATISTICS, verdict, shown, (low, high)),
                standard_error=error if math.isfinite(error) else None,
                sides=tuple(side.value(estimates) for side in target.sides) or None,
                exact=_exact(claim, target),
                draws=tally.drawn,
                blocks=tally.drawn // tally.block_draws,
                seconds=tally.seconds,
                explanation=why,
                more_draws=needed,
            )
        )
    return findings


def _more(
    run: CaseRun,
    pilot: QuantilePilot,
    target: QuantileTarget,
    estimates: Sequence[float],
    tally: Tally,
    verdict: Verdict,
) -> float | None:
    """Draws that an undecided comparison is likely to need beyond those made."""
    if verdict is not Verdict.INCONCLUSIVE:
        return None
    value = target.form.value(estimates)
    needed = draws_for(run, pilot, target, value if math.isfinite(value) else None)
    if needed >= ENDLESS:
        return math.inf
    return max(budget.GROWTH * needed, 1.5 * tally.drawn) - tally.drawn + tally.program.span_draws


def _exact(claim: Quantiles, target: QuantileTarget) -> Exact | None:
    """The exact value of the quantity, where it is made of single draws of laws."""
    return exact_value(
        target, {at: quantile_of_law(claim.quantities[at]) for _, at in target.form.terms}
    )


def _off(finding: Finding, target: QuantileTarget) -> float:
    value = finding.estimate
    return 0.0 if value is None else far_off(value, target.comparison.region, target.widen)


def _middle(low: float, high: float) -> float | None:
    """The estimate where no threshold gives one: the middle of a finite interval."""
    if math.isfinite(low) and math.isfinite(high):
        return (low + high) / 2
    return None


def _never(sample: Tally) -> Finding:
    return Finding(
        verdict=Verdict.INCONCLUSIVE,
        method=Method.ORDER_STATISTICS,
        guarantee=Guarantee.EXACT,
        draws=sample.drawn,
        blocks=0,
        seconds=sample.seconds,
        explanation=Reason.CONDITION_NEVER_TRUE.explain(draws=sample.drawn),
    )


# ---- intervals from counts -----------------------------------------------------------------------


def bounds(
    thresholds: Sequence[Threshold],
    counts: Floats,
    seen: float | Floats,
    level: float,
    alpha: float,
) -> tuple[float, float]:
    """An interval that holds all quantiles of a level with probability at least 1 - alpha.

    A quantile of level p is any q with P(u < q) <= p <= P(u <= q). It is at most t only if
    P(u <= t) is at least p, and larger than t only if it is not. So inverting the sign test gives
    an interval between order statistics (David and Nagaraja 2003, "Order Statistics", 3rd edition,
    section 7.1; Conover 1999, "Practical Nonparametric Statistics", section 3.2), for any law, with
    atoms or without a density.

    The events below rising thresholds contain one another, and so do their counts: an end is wrong
    only if the count at the one threshold next to the quantile is. So each end costs one tail,
    for any number of thresholds.

    Args:
        thresholds: rising.
        counts: in how many draws each event holds, [thresholds].
        seen: the number of draws, one for all thresholds or one for each.
        level: of the quantile, between 0 and 1.
        alpha: the error, half of it at each end.

    >>> ends = [Threshold(float(t), True) for t in range(1, 101)]
    >>> bounds(ends, np.arange(1.0, 101.0), 100, 0.5, 0.05)
    (39.00000000000001, 61.0)
    """
    low, high = -math.inf, math.inf
    if not np.all(seen) or not len(thresholds):
        return low, high
    tails = _tails(counts, seen, level)
    for place in np.flatnonzero(tails[0] <= alpha / 2).tolist():
        below = thresholds[place]  # P(at or below) < level
        low = math.nextafter(below.at, math.inf) if below.closed else below.at
    for place in np.flatnonzero(tails[1] <= alpha / 2)[::-1].tolist():
        above = thresholds[place]  # P(at or below) >= level
        high = above.at if above.closed else math.nextafter(above.at, -math.inf)
    return low, max(low, high)


def _tails(counts: Floats, seen: float | Floats, level: float) -> tuple[Floats, Floats]:
    """The chances of at most, and of at least, so many hits if their probability is the level."""
    hits = np.asarray(counts, dtype=np.float64)
    inside = (hits > 0) & (hits < seen)
    some = np.where(inside, hits, 1.0)
    rest = np.where(inside, seen - hits, np.maximum(seen - 1.0, 0.5))
    most = np.where(inside, special.betainc(rest, some + 1.0, 1.0 - level), 1.0)
    most = np.where(hits <= 0, np.exp(seen * math.log1p(-level)), most)
    least = np.where(inside, special.betainc(some, rest + 1.0, level), 1.0)
    least = np.where(hits >= seen, np.exp(seen * math.log(level)), least)
    return most, least


def estimate(thresholds: Sequence[Threshold], counts: Floats, seen: int, level: float) -> float:
    """A quantile between the thresholds where its level is passed; NaN where none passes it.

    Where the level is passed between below a number and at it, the quantile is that number.

    >>> ends = [Threshold(1.0, True), Threshold(2.0, False), Threshold(2.0, True)]
    >>> estimate(ends, np.array([10.0, 30.0, 70.0]), 100, 0.5)
    2.0
    >>> estimate(ends, np.array([10.0, 30.0, 70.0]), 100, 0.2)
    1.5
    """
    if not seen or not len(thresholds):
        return math.nan
    shares = np.maximum.accumulate(np.asarray(counts, dtype=np.float64)) / seen
    place = int(np.searchsorted(shares, level))
    if place == len(shares) or (place == 0 and shares[0] > level):
        return math.nan
    at, before = thresholds[place].at, thresholds[max(place - 1, 0)].at
    rise = shares[place] - shares[max(place - 1, 0)]
    if at == before or rise <= 0:
        return at
    return before + (at - before) * float((level - shares[max(place - 1, 0)]) / rise)
