"""Events too rare to have been seen often: what they could still do to a quantity.

A sample says nothing of values that it does not hold. Where they hang on a truth of the model,
such as `u < 1e-6` or a Bernoulli draw, its rarer outcome can be had by force: the averages that the
integrands have where it holds throughout say which way, and how far, it pulls. How often it may
happen is bounded by how often it did (Clopper and Pearson 1934). Two truths that were each seen
may hardly ever have met: where they are independent, they are forced to meet.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dropcheck.inference.binomial import upper_bound
from dropcheck.inference.interval import RAREST_SEEN, Interval, Theta
from dropcheck.judging.trial import PILOT_DRAWS, Floats, Trial
from dropcheck.simulation.blocks import Tally
from dropcheck.simulation.causes import hangs_on_its_cause
from dropcheck.simulation.program import Program
from dropcheck.simulation.streams import PILOT

# An outcome seen so often shows in the sample's own spread and skewness.
RARE_SIGHTINGS = 64
# Draws that tell what two outcomes that meet are worth.
PAIR_DRAWS = 256
# Pairs that are looked at, those first that may have met most often: it takes time.
MOST_PAIRS = 256
# Share of a look's error that pays for the bounds on rare outcomes.
RARE_SHARE = 0.05


def allowing_for_rare(
    trial: Trial,
    program: Program,
    tally: Tally,
    centres: Floats,
    theta: Theta,
    interval: Interval,
    alpha: float,
    *,
    bounded: bool,
) -> Interval:
    """The interval, widened by what outcomes that were hardly seen could do to the quantity.

    Args:
        trial: the case.
        program: what was drawn.
        tally: the sums, and how often each truth held.
        centres: those of the integrands.
        theta: the quantity as a function of the averages.
        interval: the interval that the sample alone gives.
        alpha: the chance with which all bounds together may fail.
        bounded: whether the bounds of the quantity hold what was not met.
    """
    if not math.isfinite(interval.half_width):
        return interval
    rare = _hardly_seen(tally)
    met = _hardly_met(program, tally)
    if not rare and not met:
        return interval
    for truths in () if bounded else (*((found,) for found in rare), *met):
        outcomes = {found.truth: found.outcome for found in truths}
        if hangs_on_its_cause(program, outcomes):
            return replace(interval, unmet=_unpriced(program, truths))
    below = above = 0.0
    means = tally.sums.sum(axis=0) / tally.values
    share = alpha / max(1, len(rare) + len(met))

    def shift(outcomes: Mapping[int, bool], more: float, draws: int) -> float:
        generator = trial.generator(PILOT, 0)
        forced = program.forced(generator, min(program.span_draws, draws), centres, outcomes)
        moved = theta(np.stack([means, means + more * (forced - means)], axis=1))
        return float(moved[1] - moved[0])

    for found in rare:
        chance = upper_bound(math.ceil(found.sightings), math.floor(found.asked), share)
        more = min(1.0, (chance - found.sightings / found.asked) * found.asked / tally.drawn)
        by = shift({found.truth: found.outcome}, more, PILOT_DRAWS)
        if math.isfinite(by):
            above, below = above + max(by, 0.0), below + max(-by, 0.0)
        elif tally.drawn < math.log(1 / alpha) / RAREST_SEEN:
            line = program_line(program, found.truth)
            return replace(interval, unmet=f"the rarer outcome in line {line} was hardly seen")
    for one, other in met:
        more = min(1.0, _uncertain_share(one, other, tally.drawn, share))
        by = abs(shift({one.truth: one.outcome, other.truth: other.outcome}, more, PAIR_DRAWS))
        if math.isfinite(by):  # the sample may hold too many of them as well as too few
            above, below = above + by, below + by
    return replace(
        interval,
        low=interval.low - below,
        high=interval.high + above,
        second_order=interval.second_order + max(below, above),
    )


def program_line(program: Program, truth: int) -> int | None:
    """The line of the claims file in which a watched truth stands."""
    register = program.watched[truth]
    values = {step.target: step.value for step in program.steps}
    return values[register].at.location.line


def _unpriced(program: Program, truths: tuple[_Rarer, ...]) -> str:
    """Why draws that were hardly met cannot be made: what is needed of them."""
    lines = sorted({program_line(program, found.truth) or 0 for found in truths})
    where = " and ".join(f"line {line}" for line in lines)
    seen = min(found.sightings for found in truths) if len(truths) == 1 else None
    times = "" if seen is None else f" {seen:,.0f} times"
    return (
        f"what happens in rare draws hangs on the values that make them rare: the rarer outcome in "
        f"{where} was seen{times or ' too seldom'}, and must be seen {RARE_SIGHTINGS} times"
    )


@dataclass(frozen=True, slots=True)
class _Rarer:
    """The rarer outcome of a watched truth: how often it was seen, of how many times."""

    truth: int  # its place among those watched
    outcome: bool
    sightings: float
    asked: float


def _rarer(tally: Tally) -> list[_Rarer]:
    """The rarer outcome of every truth that was asked; one that was not hangs on others.

    Pairs of draws are no more independent than the draws, and count as those.
    """
    found: list[_Rarer] = []
    pairs = tally.looked_at / tally.drawn if tally.drawn else 1.0
    for truth, (held, asked) in enumerate(tally.seen):
        if asked:
            shared = pairs if asked >= tally.looked_at else 1.0
            outcome = bool(held < asked - held)
            found.append(_Rarer(truth, outcome, min(held, asked - held) / shared, asked / shared))
    return found


def _hardly_seen(tally: Tally) -> list[_Rarer]:
    """Truths with an outcome that was hardly seen."""
    return [found for found in _rarer(tally) if found.sightings < RARE_SIGHTINGS]


def _hardly_met(program: Program, tally: Tally) -> list[tuple[_Rarer, _Rarer]]:
    """Independent truths whose rarer outcomes hardly ever came in the same draw.

    Of those that are one truth a draw: an array of them is not forced as a whole for a pair.
    """
    if len(program.watched) < 2:
        return []
    drawn = {step.target: step.value for step in program.steps}
    values = [drawn[register] for register in program.watched]
    alone = [found for found in _rarer(tally) if values[found.truth].shape == ()]
    found = [
        (one.sightings * other.sightings / one.asked, one, other)
        for one, other in itertools.combinations(alone, 2)
        if not values[one.truth].sources & values[other.truth].sources
    ]
    rare = [entry for entry in found if entry[0] < RARE_SIGHTINGS]
    rare.sort(key=lambda entry: -entry[0])
    return [(one, other) for _, one, other in rare[:MOST_PAIRS]]


def _uncertain_share(one: _Rarer, other: _Rarer, draws: int, alpha: float) -> float:
    """By how much the share of draws in which two outcomes met may differ from its chance.

    The chance is at most the product of both bounds, as the outcomes are independent; the count of
    n draws with chance p is within √(2 n p L) + L/3 of n p, L = ln(1/α), but with chance 2 α
    (Bernstein; Boucheron, Lugosi and Massart 2013, "Concentration Inequalities", eq. 2.10).
    """
    chance = 1.0
    for found in (one, other):
        chance *= upper_bound(math.ceil(found.sightings), math.floor(found.asked), alpha / 4)
    level = math.log(4 / alpha)
    return (math.sqrt(2 * draws * chance * level) + level / 3) / draws
