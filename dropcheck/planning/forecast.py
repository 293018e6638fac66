"""What a pilot foretells of a case: draws to a verdict, and the discrepancy that a budget sees."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from dropcheck.analysis.strategy import Arithmetic, Certainty, Proportion, Unanswerable
from dropcheck.claims.registry import Case
from dropcheck.inference import budget, detectable
from dropcheck.inference.interval import FEWEST_BLOCKS, Interval
from dropcheck.judging import block_means, counting
from dropcheck.judging.look import ENDLESS, carried_by_few, judged_at, why_endless, why_undefined
from dropcheck.judging.prepared import Prepared
from dropcheck.judging.trial import FEWEST_DRAWS, NEVER, Trial, undefined_draws
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Guarantee, Region, Settings
from dropcheck.simulation import (
    MOST_ROWS,
    PILOT,
    Compiled,
    Counted,
    Program,
    Request,
    SpanSums,
    Tally,
)

Smallest = Callable[[int], float | None]
"""The smallest discrepancy that so many draws can see; None where they can see none."""


def _nothing(_: int) -> float | None:
    """No number of draws is known to see anything."""
    return None


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a pilot foretells of one case.

    `draws` are those after which the verdict is expected, None where that cannot be told, and the
    fewest that it may take where there is a reason for doubt; `most` is the budget in draws.
    `ends` are those after which a run gives the case up without a verdict, where that is before the
    budget's end. `smallest` is in the unit of the estimate, and `scale` the claim's.
    """

    case: Case
    guarantee: Guarantee
    resolution: float
    draws: int | None
    most: int = 0
    span_draws: int = 1
    seconds_a_draw: float = 0.0  # of one thread
    piloted: float = 0.0  # seconds of one thread that the pilot took
    scale: float | None = None
    smallest: Smallest = _nothing
    explanation: Explanation | None = None
    ends: int | None = None


def forecast(
    prepared: Prepared, settings: Settings, alpha: float
) -> Generator[Request, SpanSums, Forecast]:
    """Draw the pilot that a run of the case draws, and tell what follows from it.

    Args:
        prepared: the case.
        settings: seed and limits; without a time limit of its own, as a plan has none.
        alpha: the case's own share of the error rate.

    Raises:
        DropcheckError: where the case cannot be judged at all.
    """
    trial = prepared.trial(settings, alpha)
    match prepared.strategy, prepared.compiled:
        case Arithmetic(), _:
            why = Reason.NOTHING_RANDOM.explain()
            return Forecast(trial.case, Guarantee.ARITHMETIC, trial.resolution, 0, explanation=why)
        case Unanswerable(why), _:
            return Forecast(
                trial.case, Guarantee.ASYMPTOTIC, trial.resolution, None, explanation=why
            )
        case Certainty(), Counted() as counted:
            return (yield from _of_certainty(trial, counted))
        case Proportion() as claim, Counted() as counted:
            return (yield from _of_proportion(trial, claim, counted))
        case _, Compiled() as compiled:
            return (yield from _of_block_means(trial, compiled))
        case _:
            raise AssertionError("a strategy was compiled to what it is not judged by")


def _of_block_means(trial: Trial, compiled: Compiled) -> Generator[Request, SpanSums, Forecast]:
    pilot = yield from block_means.piloted(trial, compiled, sparing=False)
    tally = pilot.tally
    undefined = undefined_draws(tally)
    if undefined is not None:
        found = _of_pilot(trial, pilot.program, pilot.most, tally, pilot.tier, undefined)
        return replace(found, ends=pilot.fewest)  # the first look sees it
    judged = judged_at(trial, compiled, tally, trial.alpha, pilot.tier)
    if judged is None:
        why = why_undefined(compiled, tally)
        found = _of_pilot(trial, pilot.program, pilot.most, tally, pilot.tier, why)
        return replace(found, ends=_given_up(trial))
    interval = judged.decisive
    # other conditions are met after so many draws as they ask for, and these are planned
    doubtful = interval is None or carried_by_few(interval, tally.draws)
    smallest: Smallest = _nothing
    if interval is not None and not doubtful:
        smallest = _seen_by_average(
            interval,
            tally.draws,
            pilot,
            trial.alpha,
            len(trial.reading.comparisons),
            judged.unit,
            _floor(judged.region, judged.widen),
        )
    return _of_pilot(
        trial,
        pilot.program,
        pilot.most,
        tally,
        pilot.tier,
        judged.interval.unmet if doubtful else None,
        pilot.expected,
        judged.scale,
        smallest,
        why_endless(judged.interval, judged.region, judged.widen),
    )


def _seen_by_average(
    interval: Interval,
    draws: int,
    pilot: block_means.Pilot,
    alpha: float,
    comparisons: int,
    unit: float,
    floor: float,
) -> Smallest:
    """By draws; `unit` and `floor` are those of the quantity that the interval is of."""
    fewest, tier, block_draws = pilot.fewest, pilot.tier, pilot.program.block_draws

    def smallest(most: int) -> float | None:
        blocks = most // block_draws
        share = _last_share(fewest, most, alpha) / comparisons
        if tier is Guarantee.FINITE_SAMPLE:
            quantile = detectable.bernstein(share)
        elif blocks < FEWEST_BLOCKS:
            return None
        else:
            quantile = detectable.student(share, min(blocks, MOST_ROWS // 2))
        seen = detectable.of_average(
            interval.standard_error, interval.second_order, quantile, alpha, most / draws
        )
        return max(seen, floor) * unit

    return smallest


def _of_proportion(
    trial: Trial, claim: Proportion, counted: Counted
) -> Generator[Request, SpanSums, Forecast]:
    pilot = yield from counting.piloted(trial, claim, counted)
    tally = pilot.tally
    undefined = why = undefined_draws(tally)
    share = counting.seen_in(counted, tally) / tally.drawn
    if not share:
        why = Reason.CONDITION_NEVER_TRUE.explain(draws=tally.drawn)
    if why is not None:
        found = _of_pilot(trial, pilot.program, pilot.most, tally, Guarantee.EXACT, why)
        ends = _given_up(trial) if undefined is None else FEWEST_DRAWS
        return replace(found, ends=ends)
    region, alpha = pilot.region, trial.alpha
    floor = _floor(region, pilot.widen)

    def smallest(most: int) -> float | None:
        last = _last_share(min(FEWEST_DRAWS, most), most, alpha)
        seen = detectable.of_probability(region.low, region.high, int(most * share), last, alpha)
        return None if seen is None else max(seen, floor)

    return _of_pilot(
        trial,
        pilot.program,
        pilot.most,
        tally,
        Guarantee.EXACT,
        None,
        max(pilot.expected, min(FEWEST_DRAWS, pilot.most)),
        pilot.scale,
        smallest,
    )


def _of_certainty(trial: Trial, counted: Counted) -> Generator[Request, SpanSums, Forecast]:
    most = trial.most_draws(counted.program)
    program = counted.program.fitted(most, FEWEST_BLOCKS)
    tally = Tally(program)
    yield from trial.draw_until(tally, PILOT, 1)
    undefined = undefined_draws(tally)
    share = counting.seen_in(counted, tally) / tally.drawn if undefined is None else 0.0
    if not share:
        why = undefined or Reason.CONDITION_NEVER_TRUE.explain(draws=tally.drawn)
        found = _of_pilot(trial, program, most, tally, Guarantee.EXACT, why)
        ends = _given_up(trial) if undefined is None else program.span_draws
        return replace(found, ends=ends)
    # where a condition holds in some draws only, their number is doubled until it is enough
    draws = counting.draws_that_bound(trial) * 2 ** math.ceil(math.log2(1 / share))
    alpha = trial.alpha

    def smallest(most: int) -> float | None:
        return detectable.of_certainty(int(min(most, draws) * share), alpha)

    return _of_pilot(trial, program, most, tally, Guarantee.EXACT, None, draws, 1.0, smallest)


def _given_up(trial: Trial) -> int | None:
    """Draws after which a run gives up what was never met."""
    return NEVER if trial.seems_never(NEVER) else None


def _of_pilot(
    trial: Trial,
    program: Program,
    most: int,
    tally: Tally,
    guarantee: Guarantee,
    explanation: Explanation | None,
    expected: int | None = None,
    scale: float | None = None,
    smallest: Smallest = _nothing,
    endless: Reason = Reason.AT_THE_EDGE,
) -> Forecast:
    """The forecast from a pilot's draws; whole spans are drawn, whatever is planned."""
    draws = None
    if expected is not None and expected < ENDLESS:
        draws = -(-expected // program.span_draws) * program.span_draws
    elif expected is not None:
        explanation = endless.explain()
    return Forecast(
        trial.case,
        guarantee,
        trial.resolution,
        draws,
        most,
        program.span_draws,
        tally.seconds / max(tally.drawn, 1),
        tally.seconds,
        scale,
        smallest,
        explanation,
    )


def _floor(region: Region, widen: float) -> float:
    """What is verified, and so never refuted, however many draws there are.

    A claim that is false by less than its resolution is verified as soon as the interval lies
    within that; only a strict inequality has none.
    """
    ends = ((region.low, region.low_open), (region.high, region.high_open))
    closed = any(math.isfinite(end) and not is_open for end, is_open in ends)
    return widen if closed else 0.0


def _last_share(fewest: int, most: int, alpha: float) -> float:
    """The error that the budget's last look may make, its plan being off by a factor of two."""
    looks = budget.looks(max(fewest, most // 2), min(fewest, most), most, alpha)
    return list(looks)[-1].alpha
