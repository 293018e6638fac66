"""Events too rare to have been seen often: what they could still do to a quantity.

A sample says nothing of values that it does not hold. Where they hang on a truth of the model,
such as `u < 1e-6` or a Bernoulli draw, its rarer outcome can be had by force: the averages that the
integrands have where it holds throughout say which way, and how far, it pulls. How often it may
happen is bounded by how often it did (Clopper and Pearson 1934).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dropcheck.inference.binomial import upper_bound
from dropcheck.inference.interval import RAREST_SEEN, Interval, Theta
from dropcheck.judging.trial import PILOT_DRAWS, Floats, Trial
from dropcheck.simulation.blocks import Tally
from dropcheck.simulation.program import Program
from dropcheck.simulation.streams import PILOT

# An outcome seen so often shows in the sample's own spread and skewness.
RARE_SIGHTINGS = 64
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
    """
    rare = _hardly_seen(tally)
    if not rare or not math.isfinite(interval.half_width):
        return interval
    means = tally.sums.sum(axis=0) / tally.values
    below = above = 0.0
    for truth, outcome, sightings, asked in rare:
        chance = upper_bound(math.ceil(sightings), math.floor(asked), alpha / len(rare))
        more = min(1.0, (chance - sightings / asked) * asked / tally.drawn)
        generator = trial.generator(PILOT, 0)
        draws = min(program.span_draws, PILOT_DRAWS)
        forced = program.forced(generator, draws, centres, truth, outcome)
        moved = theta(np.stack([means, means + more * (forced - means)], axis=1))
        shift = float(moved[1] - moved[0])
        if math.isfinite(shift):
            above, below = above + max(shift, 0.0), below + max(-shift, 0.0)
        elif tally.drawn < math.log(1 / alpha) / RAREST_SEEN:
            line = program_line(program, truth)
            return replace(interval, unmet=f"the rarer outcome in line {line} was hardly seen")
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


def _hardly_seen(tally: Tally) -> list[tuple[int, bool, float, float]]:
    """Truths with an outcome that was hardly seen: (place, outcome, sightings, times asked).

    Pairs of draws are no more independent than the draws, and count as those.
    """
    found: list[tuple[int, bool, float, float]] = []
    pairs = tally.looked_at / tally.drawn if tally.drawn else 1.0
    for truth, (held, asked) in enumerate(tally.seen):
        if not asked:
            continue  # it hangs on other truths, which were asked
        shared = pairs if asked >= tally.looked_at else 1.0
        rarer = min(held, asked - held) / shared
        if rarer < RARE_SIGHTINGS:
            found.append((truth, bool(held < asked - held), rarer, asked / shared))
    return found
