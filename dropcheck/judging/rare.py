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
from dropcheck.reasons import Explanation, Reason
from dropcheck.simulation import PILOT, Forced, Program, Tally, hangs_on_its_cause

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
    if not program.watched or not math.isfinite(interval.half_width):
        return interval
    rare = _hardly_seen(tally)
    met = _hardly_met(program, tally)
    if not rare and not met:
        return interval
    for truths in () if bounded else (*((found,) for found in rare), *(m.truths for m in met)):
        outcomes = {found.truth: found.outcome for found in truths}
        if hangs_on_its_cause(program, outcomes):
            return replace(interval, unmet=_unpriced(program, truths))
    below = above = 0.0
    means = tally.sums.sum(axis=0) / tally.values
    share = alpha / max(1, len(rare) + len(met))

    def shift(outcomes: Mapping[int, Forced], more: float, draws: int) -> float:
        generator = trial.generator(PILOT, 0)
        forced = program.forced(generator, min(program.span_draws, draws), centres, outcomes)
        moved = theta(np.stack([means, means + more * (forced - means)], axis=1))
        return float(moved[1] - moved[0])

    for found in rare:
        chance = upper_bound(math.ceil(found.sightings), math.floor(found.asked), share)
        more = min(1.0, (chance - found.sightings / found.asked) * found.asked / tally.drawn)
        by = shift({found.truth: Forced(found.outcome)}, more, PILOT_DRAWS)
        if math.isfinite(by):
            above, below = above + max(by, 0.0), below + max(-by, 0.0)
        elif tally.drawn < math.log(1 / alpha) / RAREST_SEEN:
            line = program.watched[found.truth].line or 0
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
    lines = sorted({program.watched[found.truth].line or 0 for found in truths})
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
    """The rarer outcome of every truth that was asked; one that was not hangs on others.

    Pairs of draws are no more independent than the draws, and count as those.
    """
    found: list[_Rarer] = []
    pairs = tally.looked_at / tally.drawn if tally.drawn else 1.0
    for truth, (watched, (held, asked)) in enumerate(
        zip(tally.program.watched, tally.seen, strict=True)
    ):
        if asked:
            shared = pairs if asked >= tally.looked_at else 1.0
            if watched.picked:  # what other elements show says nothing of one
                shared *= watched.elements
            outcome = bool(held < asked - held)
            found.append(_Rarer(truth, outcome, min(held, asked - held) / shared, asked / shared))
    return found


def _hardly_seen(tally: Tally) -> list[_Rarer]:
    """Truths with an outcome that was hardly seen."""
    return [found for found in _rarer(tally) if found.sightings < RARE_SIGHTINGS]


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
        first, second = (program.watched[found.truth] for found in (self.one, self.other))
        return bool(first.sources & second.sources)

    @property
    def forced(self) -> dict[int, Forced]:
        """What makes them meet."""
        return {found.truth: Forced(found.outcome, self.elements) for found in self.truths}


def _hardly_met(program: Program, tally: Tally) -> list[_Meeting]:
    """Independent truths whose rarer outcomes hardly ever came in the same draw."""
    seldom: list[tuple[float, _Meeting]] = []
    for one, other in itertools.combinations_with_replacement(_rarer(tally), 2):
        first, second = program.watched[one.truth], program.watched[other.truth]
        same = one is other
        ways = (
            first.elements * (second.elements - 1) // 2
            if same
            else first.elements * second.elements
        )
        picked = first.picked or second.picked
        chance = (one.sightings / one.asked) * (other.sightings / other.asked)
        expected = tally.drawn * chance * (1 if picked else ways)
        if ways and expected < RARE_SIGHTINGS:
            seldom.append((expected, _Meeting(one, other, ways, None if picked else 1 + same)))
    seldom.sort(key=lambda entry: -entry[0])
    found: list[_Meeting] = []
    for _, meeting in seldom:
        if meeting.one is not meeting.other and meeting.share_draws(program):
            continue
        outcomes = {truth.truth: truth.outcome for truth in meeting.truths}
        if meeting.ways > 1 and hangs_on_its_cause(program, outcomes):
            continue  # of arrays there are too many pairs to wait for
        found.append(meeting)
        if len(found) == MOST_PAIRS:
            break
    return found


def _uncertain_share(meeting: _Meeting, draws: int, alpha: float) -> float:
    """By how much the share of draws in which two outcomes met may differ from its chance.

    The chance is at most the product of both bounds, as the outcomes are independent, times the
    ways in which they can meet; the count of n draws with chance p is within √(2 n p L) + L/3 of
    n p, L = ln(1/α), but with chance 2 α (Bernstein; Boucheron, Lugosi and Massart 2013,
    "Concentration Inequalities", eq. 2.10).
    """
    chance = float(meeting.ways)
    for found in (meeting.one, meeting.other):
        chance *= upper_bound(math.ceil(found.sightings), math.floor(found.asked), alpha / 4)
    chance = min(chance, 1.0)
    level = math.log(4 / alpha)
    return (math.sqrt(2 * draws * chance * level) + level / 3) / draws
