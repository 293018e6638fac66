"""What a sample may not show: outcomes too rare to have been seen often, and their weight.

A sample says nothing of values that it does not hold. Where they depend on a truth of the model,
such as `u < 1e-6` or a Bernoulli draw, its rarer outcome can be forced: the averages that the
integrands have where it holds throughout say which way, and how far, it pulls. How often it may
happen is bounded by how often it did (Clopper and Pearson 1934). Two truths that were each seen
may hardly ever have come together: where they are independent, they are forced to.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dropcheck.inference.finite_sample import upper_bound
from dropcheck.inference.interval import RAREST_SEEN, Interval, Theta
from dropcheck.judging.case_run import PILOT_DRAWS, CaseRun, Floats
from dropcheck.reasons import Explanation, Reason
from dropcheck.simulation import (
    PILOT,
    Forced,
    Program,
    Tally,
    hangs_on_its_cause,
)

# Conditions of a model whose outcomes are counted, and their pairs: with more nothing is trusted.
MOST_CONDITIONS = 512
# An outcome seen so often shows in the sample's own spread and skewness.
RARE_SIGHTINGS = 64
# Draws that estimate the effect of two outcomes that happen together.
PAIR_DRAWS = 256
# Pairs that are looked at, those first that may have met most often: it takes time.
MOST_PAIRS = 256
# Share of a look's error that pays for the bounds on rare outcomes.
RARE_SHARE = 0.05
# How far averages are moved to see whether a quantity follows, in sizes of their own.
MOVES = (1e-3, 1.0, 1e3, 1e6, 1e12, 1e24, 1e48, 1e96)


def allowing_for_rare(
    run: CaseRun, tally: Tally, theta: Theta, interval: Interval, alpha: float
) -> Interval:
    """The interval, widened by what outcomes that were hardly seen could do to the quantity.

    All bounds together fail with chance `alpha` at most.
    """
    program, centres = tally.program, tally.centres
    if not program.watched or not math.isfinite(interval.half_width):
        return interval
    rare = _hardly_seen(tally)
    met = _hardly_met(program, tally)
    if not rare and not met:
        return interval
    for truths in (*((one,) for one in rare), *(m.truths for m in met)):
        outcomes = {one.truth: one.outcome for one in truths}
        if hangs_on_its_cause(program, outcomes):
            return replace(interval, unmet=_unpriced(program, truths))
    below = above = 0.0
    means = tally.sums.sum(axis=0) / tally.values
    share = alpha / max(1, len(rare) + len(met))

    def shift(outcomes: Mapping[int, Forced], more: float, draws: int) -> float:
        generator = run.generator(PILOT, 0)
        forced = program.forced(generator, min(program.span_draws, draws), centres, outcomes)
        moved = theta(np.stack([means, means + more * (forced - means)], axis=1))
        return float(moved[1] - moved[0])

    for one in rare:
        chance = upper_bound(math.ceil(one.sightings), math.floor(one.asked), share)
        more = min(1.0, (chance - one.sightings / one.asked) * one.asked / tally.drawn)
        by = shift({one.truth: Forced(one.outcome)}, more, PILOT_DRAWS)
        if math.isfinite(by):
            above, below = above + max(by, 0.0), below + max(-by, 0.0)
        elif tally.drawn < math.log(1 / alpha) / RAREST_SEEN:
            line = program.watched[one.truth].line or 0
            unmet = Reason.RARE_OUTCOME_HARDLY_SEEN.explain(line=line)
            return replace(interval, unmet=unmet)
    for meeting in met:
        more = min(1.0, _uncertain_share(meeting, tally.drawn, share))
        by = abs(shift(meeting.forced, more, PAIR_DRAWS))
        if math.isfinite(by):  # the sample may hold too many of them as well as too few
            above, below = above + by, below + by
    return replace(
        interval,
        low=interval.low - below,
        high=interval.high + above,
        second_order=interval.second_order + max(below, above),
    )


def _unpriced(program: Program, truths: tuple[_Rarer, ...]) -> Explanation:
    """Why draws that were hardly met cannot be made: what is needed of them."""
    lines = sorted({program.watched[one.truth].line or 0 for one in truths})
    return Reason.RARE_OUTCOME_UNPRICED.explain(
        lines=" and ".join(f"line {line}" for line in lines),
        seen=f"{truths[0].sightings:,.0f} times" if len(truths) == 1 else "too seldom",
        needed=RARE_SIGHTINGS,
    )


@dataclass(frozen=True, slots=True)
class _Rarer:
    """The rarer outcome of a watched truth: how often it was seen, of how many times."""

    truth: int  # its place among those watched
    outcome: bool
    sightings: float
    asked: float


def _rarer(tally: Tally) -> list[_Rarer]:
    """The rarer outcome of every truth that was asked; one that was not depends on others.

    Pairs of draws are no more independent than the draws, and count as those.
    """
    rarer: list[_Rarer] = []
    pairs = tally.looked_at / tally.drawn if tally.drawn else 1.0
    for truth, (watched, (held, asked)) in enumerate(
        zip(tally.program.watched, tally.seen, strict=True)
    ):
        if asked:
            shared = pairs if asked >= tally.looked_at else 1.0
            if watched.picked:  # what other elements show says nothing of one
                shared *= watched.elements
            outcome = bool(held < asked - held)
            rarer.append(_Rarer(truth, outcome, min(held, asked - held) / shared, asked / shared))
    return rarer


def _hardly_seen(tally: Tally) -> list[_Rarer]:
    """Truths with an outcome that was hardly seen."""
    return [one for one in _rarer(tally) if one.sightings < RARE_SIGHTINGS]


@dataclass(frozen=True, slots=True)
class _Meeting:
    """Two rarer outcomes in one draw: of two truths, or of two elements of one.

    `ways` are the pairs of elements of a draw in which they can meet; `elements` how many of each
    truth are made to hold for it, all of them where single ones are picked.
    """

    one: _Rarer
    other: _Rarer
    ways: int
    elements: int | None

    @property
    def truths(self) -> tuple[_Rarer, ...]:
        """The truths that meet."""
        return (self.one,) if self.one is self.other else (self.one, self.other)

    def share_draws(self, program: Program) -> bool:
        """Whether both hang on a draw, so that they are not independent."""
        first, second = (program.watched[one.truth] for one in (self.one, self.other))
        return bool(first.sources & second.sources)

    @property
    def forced(self) -> dict[int, Forced]:
        """What makes them meet."""
        return {one.truth: Forced(one.outcome, self.elements) for one in self.truths}


def _hardly_met(program: Program, tally: Tally) -> list[_Meeting]:
    """Independent truths whose rarer outcomes hardly ever came in the same draw."""
    seldom: list[tuple[float, _Meeting]] = []
    for one, other in itertools.combinations_with_replacement(_rarer(tally), 2):
        first, second = program.watched[one.truth], program.watched[other.truth]
        same = one is other
        ways = first.elements * (second.elements - same) // (1 + same)
        picked = first.picked or second.picked
        chance = (one.sightings / one.asked) * (other.sightings / other.asked)
        expected = tally.drawn * chance * (1 if picked else ways)
        if ways and expected < RARE_SIGHTINGS:
            seldom.append((expected, _Meeting(one, other, ways, None if picked else 1 + same)))
    seldom.sort(key=lambda entry: -entry[0])
    meetings: list[_Meeting] = []
    for _, meeting in seldom:
        if meeting.one is not meeting.other and meeting.share_draws(program):
            continue
        outcomes = {truth.truth: truth.outcome for truth in meeting.truths}
        if meeting.ways > 1 and hangs_on_its_cause(program, outcomes):
            continue  # of arrays there are too many pairs to wait for
        meetings.append(meeting)
        if len(meetings) == MOST_PAIRS:
            break
    return meetings


def _uncertain_share(meeting: _Meeting, draws: int, alpha: float) -> float:
    """By how much the share of draws in which two outcomes met may differ from its chance.

    The chance is at most the product of both bounds, as the outcomes are independent, times the
    ways in which they can meet; the count of n draws with chance p is within √(2 n p L) + L/3 of
    n p, L = ln(1/α), but with chance 2 α (Bernstein; Boucheron, Lugosi and Massart 2013,
    "Concentration Inequalities", eq. 2.10).
    """
    chance = float(meeting.ways)
    for one in (meeting.one, meeting.other):
        chance *= upper_bound(math.ceil(one.sightings), math.floor(one.asked), alpha / 4)
    chance = min(chance, 1.0)
    level = math.log(4 / alpha)
    return (math.sqrt(2 * draws * chance * level) + level / 3) / draws


def once_expected(interval: Interval, tally: Tally) -> Interval:
    """The interval, not to be used before rare outcomes that nobody watches are due to be seen."""
    wait = tally.program.unwatched
    if interval.unmet is not None or not wait or tally.draws >= RARE_SIGHTINGS * wait:
        return interval
    unmet = Reason.RARE_OUTCOME_EXPECTED.explain(
        expected=tally.draws / wait, draws=tally.draws, needed=RARE_SIGHTINGS
    )
    return replace(interval, unmet=unmet, settles=RARE_SIGHTINGS * wait)


def alike(interval: Interval) -> Explanation:
    """Why a point that draws without a difference make may not decide."""
    return Reason.ALL_ALIKE.explain(value=interval.estimate)


def moves(theta: Theta, means: Floats, which: npt.NDArray[np.bool_]) -> bool:
    """Whether a quantity changes where some averages are moved, each by an amount of its own.

    They are moved either way and by little and much, for there are plateaus: floor(E(x)),
    minimum(E(x), 0). Where the quantity is undefined nothing is told. Each place is asked for by
    itself, for a quotient is undefined at all of several that lie on both sides of its pole.
    """
    own = (1 + np.abs(means)) * (1.5 + np.sin(1 + np.arange(len(means)))) * which
    points = [means, *(means + sign * size * own for size in MOVES for sign in (1, -1))]
    here, *there = (float(theta(point[:, np.newaxis])[0]) for point in points)
    return any(
        math.isfinite(value) and abs(value - here) > 1e-12 * max(1.0, abs(here)) for value in there
    )
