"""Statements about laws and quantiles: draws are counted in cells that are fixed beforehand.

The cells follow from the law that is claimed, or from draws that are used for nothing else. A band
about distribution functions, which holds for any law, says how far they may be from each other: it
verifies within the resolution, and refutes outside. Where a law is named, counts in cells of equal
chance refute much that is nearer than that. Quantiles are read from counts as well: at a cut below
its quantile a quantity is too seldom, and at one above it too often.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from dropcheck.analysis.bounds import summed
from dropcheck.analysis.strategy import Laws, Quantiles
from dropcheck.array_types import Floats, Indices, Truths
from dropcheck.inference import intervals
from dropcheck.inference.region import Comparison, decide, reach, widening
from dropcheck.judging.averages import fewest_that
from dropcheck.judging.case import (
    FEWEST_DRAWS,
    CaseRun,
    Finding,
    Judging,
    dependent,
    drawn_so_far,
    effect_of,
    not_drawn,
)
from dropcheck.judging.look import (
    ENDLESS,
    LOOK_ROUNDING,
    draws_to_look_at,
    far_off,
    lost,
    more_draws,
    pilot_of,
    settling,
    share_lost,
    sharpness_of,
    until_decided,
)
from dropcheck.language.graph import LawClaim, Relation, Value, of_operators, pairs
from dropcheck.language.syntax import Call, Name, unparse
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Guarantee, Method, Verdict
from dropcheck.simulation.again import magnitude_of, rounding_of_values
from dropcheck.simulation.blocks import PILOT, CountTally
from dropcheck.simulation.compile import InCells
from dropcheck.simulation.program import FEWEST_CALLS, AtCuts, Counter, Program, Tables
from dropcheck.vocabulary import special
from dropcheck.vocabulary.functions.elementwise import (
    DOUBLE,
    EPSILONS,
    SINGLE,
    below_numbers,
    rounded,
)
from dropcheck.vocabulary.law import Law

# ---- pilot and looks -----------------------------------------------------------------------------


# Draws of a pilot: they show a value that comes again, even if it does so once in 10,000 draws.
FIRST_DRAWS = 2**15
FIRST_NUMBERS = 2**20
FIRST_SPANS = 4  # of code under test
# Draws that show how large numbers become in the model.
MAGNITUDE_DRAWS = 64
# Draws of the shortest span; a span is at most one of so many parts of the planned draws. Code
# whose draws are declared independent has more and shorter spans: its calls show whether they are.
SHORTEST_SPAN = 1024
PARTS = 16
SHORTEST_CALL = 64


def piloted(run: CaseRun, program: Program, wanted: int = 0) -> list[Floats]:
    """Draw a pilot of at least so many draws, or of what the budget has for it.

    Returns:
        The values of each target of the program: [entries, draws].

    Raises:
        DropcheckError: for what only a draw can show.
    """
    numbers = sum(math.prod(one.shape) for one in run.prepared.lowered.operands)
    usual = min(FIRST_DRAWS, FIRST_NUMBERS // max(numbers, 1))
    if program.tests_code:  # where each draw is a call, a span is short
        usual = min(usual, FIRST_SPANS * program.span_draws)
    draws = max(2, min(max(wanted, usual), run.most_draws(program) // 4))
    generator = run.generator(PILOT, 0)
    parts: list[list[Floats]] = []
    for start in range(0, draws, program.span_draws):
        count = min(program.span_draws, draws - start)
        own = program.values(generator, count).values()
        parts.append(
            [np.broadcast_to(one, (*one.shape[:-1], count)).reshape(-1, count) for one in own]
        )
    return [np.concatenate(one, axis=1) for one in zip(*parts, strict=True)]


def counted_in(run: CaseRun, program: Program, counter: Counter, planned: float) -> Program:
    """The program that counts, in spans of a length that suits so many draws.

    They are few draws where few are planned, an even number where there can be two.
    """
    most = run.most_draws(replace(program, cost=program.cost + counter.cost))
    draws, parts = (SHORTEST_CALL, FEWEST_CALLS) if program.declared else (SHORTEST_SPAN, PARTS)
    while 2 * draws <= min(min(planned, most) / parts, program.span_draws):
        draws *= 2
    draws = min(draws, max(program.span_draws, 2), max(most, 1))
    return program.counting(counter, max(draws // 2 * 2, 1))


# ---- the band, and the distance ------------------------------------------------------------------
#
# Arrays of distribution functions have an entry for each cut, in rising order: the chance, or the
# share of draws, at or below the cut. A cell is what lies above one cut and at or below the next;
# there is one more below all cuts and one above.


@dataclass(frozen=True, slots=True)
class Distance:
    """What counts at cuts say of the largest difference of two distribution functions.

    It is at least `seen`, its value at the cuts, and at most `most` anywhere between them.
    """

    seen: float
    most: float

    def interval(self, error: float) -> tuple[float, float]:
        """An interval for the distance of the laws, where both are known to within this error."""
        return max(0.0, self.seen - error), min(1.0, self.most + error)


def distance(first: Floats, second: Floats, points: Truths) -> Distance:
    """The distance (Kolmogorov's) of two distribution functions that are known at cuts.

    Within a cell both functions rise, so that neither is farther from the other than its value at
    one end is from the other's value at the other end. Where a cell holds one point alone, and
    nothing else, the ends say it all.

    `points`, [cuts + 1], says whether a cell holds a single point.

    >>> half = np.array([0.5])
    >>> distance(half, half, np.array([False, False]))
    Distance(seen=0.0, most=0.5)
    >>> distance(half, half, np.array([True, True]))
    Distance(seen=0.0, most=0.0)
    """
    one, other = (np.concatenate([[0.0], array, [1.0]]) for array in (first, second))
    seen = float(np.abs(one - other).max())
    across = np.maximum(one[1:] - other[:-1], other[1:] - one[:-1])[~points]
    return Distance(seen, max(seen, float(across.max(initial=0.0))))


def massart(draws: float, alpha: float) -> float:
    """A bound of |share of draws − probability| at or below any point; wrong with chance alpha.

    The Dvoretzky-Kiefer-Wolfowitz inequality with the constant of Massart (1990), "The tight
    constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Annals of Probability 18, corollary 1:
    P(sup |F_n - F| > e) <= 2 exp(-2 n e²), for any law. For a single event it is Hoeffding's
    inequality (1963).

    >>> round(massart(1000, 0.05), 6)
    0.042947
    """
    return math.sqrt(math.log(2.0 / alpha) / (2.0 * draws)) if draws else math.inf


def empirical_bernstein(draws: float, variance: Any, width: Any, alpha: float) -> Any:
    """A bound of |mean − expectation| of bounded draws; wrong with chance alpha.

    Maurer and Pontil (2009), "Empirical Bernstein bounds and sample-variance penalization",
    theorem 4: for each mean alone, and on one side of it.

    Args:
        draws: how many.
        variance: of the sample, with draws - 1 below.
        width: of an interval that holds every draw.
        alpha: the chance.

    >>> round(float(empirical_bernstein(1001, 0.09, 1.0, 0.05)), 6)
    0.034363
    """
    if draws < 2:
        return np.full(np.shape(width), math.inf)
    log = math.log(2.0 / alpha)
    return np.sqrt(2.0 * log * variance / draws) + 7.0 * log * width / (3 * (draws - 1))


# ---- evidence in cells ---------------------------------------------------------------------------
#
# An e-process is at most 1 on average, at any time, where what it is about is true; so the chance
# that it ever reaches 1/α is at most α (Ville 1939), however often it is looked at. An average of
# e-processes is one too.


# Numbers of cells of about equal chance: few for a large difference, many for a fine one.
SHAPES = (8, 128)
# How many Dirichlet laws about the chances are averaged. Their concentrations are powers of 4, from
# one draw in the rarest cell on: for an error of any size one of them is within a factor of 2 of
# the best.
SHARPEST = 12


@dataclass(frozen=True, slots=True)
class EValue:
    """The logarithm of an e-process, with the explanation for a refutation by it."""

    log: float
    why: Explanation


def evidence(counts: Floats, chances: Floats) -> float:
    """The logarithm of the evidence of counts in cells against the chances that are claimed.

    It is the chance of the counts under a mixture of Dirichlet laws about the chances, over the
    chance of them as claimed: equation (6) of Lindon and Malek, "Anytime-valid inference for
    multinomial count data" (NeurIPS 2022).

    No chance is 0.

    >>> half = np.array([0.5, 0.5])
    >>> evidence(np.array([50.0, 50.0]), half) < 0
    True
    >>> evidence(np.array([80.0, 20.0]), half) > math.log(1000.0)
    True
    """
    if len(counts) < 2:
        return 0.0
    sharp = 4.0 ** np.arange(SHARPEST)[:, np.newaxis] / chances.min()
    mixed = _log_rising(sharp * chances, counts).sum(axis=1)
    mixed -= _log_rising(sharp[:, 0], counts.sum())
    return average(mixed.tolist()) - float(counts @ np.log(chances))


def _log_rising(a: Any, h: Any) -> Any:
    """Log of Γ(a + h) / Γ(a), from Γ(h) / B(a, h): little cancels where a is large."""
    some = np.where(h > 0, h, 1.0)
    return np.where(h > 0, special.gammaln(some) - special.betaln(a, some), 0.0)


def average(logs: Iterable[float]) -> float:
    """The average of e-processes, given as logarithms.

    >>> round(average([0.0, math.log(3.0)]), 6) == round(math.log(2.0), 6)
    True
    """
    listed = [*logs]
    return float(np.logaddexp.reduce(listed)) - math.log(len(listed)) if listed else 0.0


def in_cells(at_most: Floats, places: Indices) -> Floats:
    """Counts in the cells between some cuts: [..., cuts + 1], with all draws last, to [..., cells].

    >>> in_cells(np.array([1.0, 4.0, 6.0]), np.array([1])).tolist()
    [4.0, 2.0]
    """
    return np.diff(at_most[..., [*places, -1]], prepend=0.0, axis=-1)


# ---- cells ---------------------------------------------------------------------------------------


# Values closer than this share of their size, or of the numbers of which they are the difference,
# may be one value: no model keeps more digits. For a law of single values this share is TIES.
ONE_VALUE_SHARE = 1e-14
TIES = 1e-12
SMALLEST = 1e-306  # numbers below have fewer digits
# The same share for the numbers of code, in epsilons of their format.
UNITS = 2.0
# Values down to this tail probability are checked for an overflow of the number format.
RAREST = 1e-12
# Cuts per resolution: the distance is then known up to a sixteenth of the resolution.
CUTS_PER_RESOLUTION = 16
FEWEST_CUTS, MOST_CUTS = 512, 2**14
# A cut is not used if rounding may move more than this probability to its other side.
MOVED = 1e-7
# Code that computes in float32 may lose some of its 24 binary digits, as exp of a logarithm up to
# 16 loses three. Values that agree in this many digits count as one value.
DIGITS = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Cells between neighbouring cuts, below the first cut, and above the last.

    `below` and `above`, [cuts], are the probabilities at or below each cut, and above it. `points`,
    [cuts + 1], says which cells have at most one value. `single` says that all values of the law
    are in such cells, or between two others of them. `infinite` says that the largest draws
    overflow the number format.
    """

    cuts: Floats
    below: Floats
    above: Floats
    points: Truths
    single: bool = False
    infinite: bool = False

    @property
    def left_open(self) -> float:
        """What the cells leave open of a distance."""
        return distance(self.below, self.below, self.points).most

    def chances(self, places: Indices) -> Floats:
        """The probabilities of the cells between some cuts, [places + 1], from the nearer tail."""
        below = np.concatenate([[0.0], self.below[places], [1.0]])
        above = np.concatenate([[1.0], self.above[places], [0.0]])
        return np.maximum(np.where(below[1:] < 0.5, np.diff(below), -np.diff(above)), 0.0)

    def shape(self, cells: int) -> Indices:
        """The indices of cuts that make about this many cells of about equal probability."""
        levels = np.arange(1, cells) / cells
        places = np.searchsorted(self.below, levels * (1 - 1e-9))
        places = np.unique(places[places < len(self.cuts)])
        rare = 0.25 / cells
        kept: Indices = places[(self.below[places] >= rare) & (self.above[places] >= rare)]
        return kept

    def impossible(self, counts: Floats) -> float:
        """How many draws have a value that the law does not have: [cells].

        Within a law of no single values, a chance of 0 may be one that is too small for a float.
        """
        never = self.chances(np.arange(len(self.cuts))) <= 0
        if not self.single:
            never[1:-1] = False
            if len(self.cuts):  # else floats do not separate the values of the law
                never[[0, -1]] &= [self.below[0] == 0, self.above[-1] == 0]
        return float(counts[never].sum())


def levels_for(resolution: float) -> Floats:
    """The levels, below one half, at which a law is cut from both of its ends."""
    count = int(min(max(CUTS_PER_RESOLUTION / resolution, FEWEST_CUTS), MOST_CUTS)) // 2
    levels: Floats = np.arange(1, count + 1) / (2 * count)
    return levels


def rounding_of(values: Floats, magnitude: float, share: float = ONE_VALUE_SHARE) -> Floats:
    """The largest distance of two values that may be the same value but for rounding."""
    distance: Floats = np.maximum(share * np.maximum(np.abs(values), magnitude), SMALLEST)
    return distance


def law_cells(
    law: Law,
    arguments: Sequence[Any],
    *,
    resolution: float,
    magnitude: float,
    number_format: str = DOUBLE,
) -> Cells:
    """The cells for a law, for draws that are rounded to a number format.

    Args:
        law: the law.
        arguments: its fixed arguments.
        resolution: the distance from the law that is to be detected.
        magnitude: the size of the numbers of which a draw is the sum or the difference.
        number_format: the format of code that computes the quantity, else float64.
    """
    constant, levels = law.constant(*arguments), levels_for(resolution)
    ends = np.array(law.support(*arguments))
    by_ends = law.quantile(levels, *arguments), law.upper_quantile(levels, *arguments)
    values = np.concatenate([*by_ends, ends] if constant is None else [np.array([constant])])
    values = np.unique(values[np.isfinite(values)])
    if constant is not None or law.discrete:
        return _of_single(law, arguments, values, magnitude, number_format)
    fine = ONE_VALUE_SHARE if number_format == DOUBLE else UNITS * EPSILONS[number_format]
    cuts = values
    if number_format != DOUBLE:  # so that rounding moves no value over a cut
        cuts = np.unique(below_numbers(values, number_format))
        cuts = cuts[np.isfinite(cuts)]
    away = rounding_of(cuts, magnitude)
    low, high = (_functions(law, arguments, at) for at in (cuts - away, cuts + away))
    moved = np.where(low[0] < 0.5, high[0] - low[0], low[1] - high[1])
    below, above = _functions(law, arguments, cuts)
    clear = moved <= np.minimum(MOVED, 1e-3 * np.minimum(below, above))
    # no draw is beyond the ends of the law, but for rounding
    outside = ends + [-1.0, 1.0] * rounding_of(ends, magnitude, fine)
    cuts = np.unique(np.concatenate([cuts[clear], outside[np.isfinite(outside)]]))
    below, above = _functions(law, arguments, cuts)
    rarest = [law.quantile(RAREST, *arguments), law.upper_quantile(RAREST, *arguments)]
    return Cells(
        cuts=cuts,
        below=below,
        above=above,
        points=np.zeros(len(cuts) + 1, dtype=bool),
        infinite=bool(np.isinf(rounded(np.array(rarest), number_format)).any()),
    )


def _of_single(
    law: Law, arguments: Sequence[Any], values: Floats, magnitude: float, number_format: str
) -> Cells:
    """A cell about each of some values of a law of single values, and one between any two.

    A value is counted where the format rounds it to.
    """
    near = np.unique(rounded(values, number_format))
    near = near[np.isfinite(near)]
    away = rounding_of(near, magnitude, TIES)
    if len(near) > 1:
        away = np.minimum(away, np.diff(near).min() / 4)
    cuts = np.stack([near - away, near + away], axis=1).ravel()
    reached = cuts  # the values up to here are counted at or below a cut
    if number_format != DOUBLE:
        halfway = below_numbers(near, number_format), -below_numbers(-near, number_format)
        up = rounded(halfway[0], number_format) >= near, rounded(halfway[1], number_format) > near
        at = np.array(halfway)
        reached = np.where(np.array(up), np.nextafter(at, -np.inf), at).T.ravel()
    below, above = _functions(law, arguments, reached)
    if law.constant(*arguments) is not None:
        below, above = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    points = np.arange(len(cuts) + 1) % 2 == 1
    return Cells(cuts=cuts, below=below, above=above, points=points, single=True)


def _functions(law: Law, arguments: Sequence[Any], x: Floats) -> tuple[Floats, Floats]:
    """The probabilities at or below each x, and above it."""
    return (
        np.asarray(law.cdf(x, *arguments), dtype=np.float64),
        np.asarray(law.survival(x, *arguments), dtype=np.float64),
    )


def sample_cells(
    values: Floats, resolution: float, magnitude: float, number_format: str = DOUBLE
) -> Cells:
    """Cells where no law is named, from some draws: a narrow one about each of their quantiles.

    So a value that is drawn again and again has a cell of its own.

    The `resolution` is the distance of laws that is to be detected, `magnitude` the size of the
    numbers of which a draw is the sum or the difference.

    >>> cells = sample_cells(np.array([0.0, 1.0] * 8), 0.1, 1.0)
    >>> len(cells.cuts), float(cells.left_open)
    (4, 0.0)
    """
    ordered, levels = np.sort(values), levels_for(resolution)
    near = np.unique(ordered[(np.concatenate([levels, 1 - levels]) * len(ordered)).astype(int)])
    away = 2 * rounding_of(near, magnitude, TIES)
    step = np.exp2(np.frexp(near)[1] - float(DIGITS))
    if number_format == SINGLE and (step > 2 * away)[near != 0].all():
        near, away = np.rint(near / step) * step, np.where(near == 0, away, step / 2)
    else:
        apart = np.diff(near, prepend=-np.inf) > 4 * away
        near, away = near[apart], away[apart]
    cuts = np.unique([near - away, near + away])
    below = np.searchsorted(ordered, cuts, side="right") / len(ordered)
    points = np.zeros(len(cuts) + 1, dtype=bool)
    points[np.searchsorted(cuts, near)] = True
    return Cells(cuts=cuts, below=below, above=1 - below, points=points)


# ---- statements about laws -----------------------------------------------------------------------


# The share of a case's error that the distance has, at all looks; the evidence has the rest.
DISTANCE_SHARE = 0.5
# Draws of one distribution function are farther from it than so many 1/√n in one run of 20
# (Kolmogorov's law).
NOISE = 1.3
# Pilot draws, times the resolution: the chance of a cell is then a small share of the resolution.
PILOT_PER_RESOLUTION = 128


@dataclass(frozen=True, slots=True)
class Seen:
    """What the counts of a look say: the claim's error, an interval for it, and evidence."""

    off: float
    interval: tuple[float, float]
    against: Sequence[EValue] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LawPlan:
    """What is counted, and what the counts say.

    `says` gives that from the counts, the number of draws, how many of these count as one, and the
    error rate of the distance. `error` is the half-width of an interval to be expected after so
    many draws, and `noise` over their root what a true claim seems to be off. The cells leave
    `left_open` of the distance open.
    """

    counter: Counter
    says: Callable[[Floats, int, float, float], Seen]
    error: Callable[[float, float], float]
    noise: float
    holds: Explanation
    left_open: float = 0.0
    never_varies: Explanation | None = None


def by_laws(run: CaseRun, claim: Laws, cells: InCells) -> Judging:
    """Judge a statement about laws; asks for spans of draws as it goes."""
    resolution = run.sharpness(1.0)
    relation = claim.claim.relation
    wanted = math.ceil(PILOT_PER_RESOLUTION / resolution) if relation is Relation.ALIKE else 0
    drawn = piloted(run, cells.program, wanted)
    values = np.concatenate([drawn[place] for place, _ in cells.uses])
    values = values[:, np.isfinite(values).all(axis=0)]
    if not values.shape[1]:  # nothing is finite, which the counts will report
        values = np.zeros((len(values), 2))
    few = min(values.shape[1], MAGNITUDE_DRAWS, cells.program.span_draws)
    size = magnitude_of(cells.program, pilot_of(run), few)
    plan_of = {
        Relation.FOLLOWS: one_law,
        Relation.ALIKE: two_laws,
        Relation.INDEPENDENT: independence,
    }[relation]
    plan = plan_of(run, claim.claim, cells, values, size)
    target = resolution - plan.left_open
    alpha = run.alpha * DISTANCE_SHARE * intervals.PLANNED
    most = run.most_draws(replace(cells.program, cost=cells.program.cost + plan.counter.cost))

    def draws_for(target: float) -> int:
        def decides(draws: int) -> bool:
            return plan.error(draws, alpha) + plan.noise / math.sqrt(draws) <= target

        return fewest_that(decides, SHORTEST_CALL, ENDLESS, share=0.01)

    planned = min(draws_for(max(target, resolution / 2)), most)
    program = counted_in(run, cells.program, plan.counter, planned)

    def judged(tally: CountTally, own: float) -> Finding:
        seen = plan.says(tally.totals, tally.drawn, effect_of(tally), own * DISTANCE_SHARE)
        verdict, more = decide(*seen.interval, run.reading.comparisons[0].region, resolution), None
        why = None if verdict is Verdict.REFUTED else plan.holds
        against = average(one.log for one in seen.against)
        if against >= math.log(1 / (run.alpha * (1 - DISTANCE_SHARE))):
            verdict, why = Verdict.REFUTED, max(seen.against, key=lambda one: one.log).why
        if verdict is Verdict.VERIFIED and plan.never_varies:
            verdict, why = Verdict.UNDECIDED, plan.never_varies
        elif verdict is Verdict.UNDECIDED:
            why = Reason.TOO_WIDE.explain()
            if dependent(tally):
                why = Reason.NOT_INDEPENDENT.explain()
            elif target <= 0:
                why = Reason.CELLS_TOO_WIDE.explain(chance=plan.left_open)
            if target > 0:
                # so much of the error is beyond what chance does to a true claim
                beyond = max(seen.off - plan.noise / math.sqrt(tally.drawn), 0.0)
                needed = draws_for(max(target - beyond, beyond))
                more = max(needed - tally.drawn, 1.0)
        finding = replace(
            drawn_so_far(tally, Method.CELLS, Guarantee.FINITE_SAMPLE),
            verdict=verdict,
            quantity=run.reading.comparisons[0].measures,
            region=run.reading.comparisons[0].region,
            estimate=seen.off,
            interval=seen.interval,
            scale=1.0,
            sharpness=run.looked(1.0, resolution),
            explanation=why,
            more_draws=more,
        )
        return _with_digits_left(run, cells.program, finding)

    tally = CountTally(program)
    finding = yield from until_decided(
        run,
        tally,
        partial(judged, tally),
        Method.CELLS,
        Guarantee.FINITE_SAMPLE,
        expected=planned,
        fewest=min(program.span_draws, most),
        most=most if target > 0 else planned,  # else there is no verdict to wait for
    )
    return finding


def _with_digits_left(run: CaseRun, program: Program, finding: Finding) -> Finding:
    """The finding on a law; left open where rounding may change it."""
    if finding.verdict is Verdict.UNDECIDED or not (finding.interval and finding.region):
        return finding
    resolution = run.sharpness(1.0)
    share = share_lost(run, program, resolution)
    low, high = finding.interval
    if share and decide(low - share, high + share, finding.region, resolution) is not (
        finding.verdict
    ):
        return finding.left_open(lost(share, 0.0))
    return finding


def one_law(run: CaseRun, claim: LawClaim, cells: InCells, values: Floats, size: float) -> LawPlan:
    """The plan for `y ~ law`, for each entry of y."""
    assert claim.law is not None
    sample, number_format = run.case.claim.sample, run.case.dtype or DOUBLE
    if sample is not None and sample.dtype is not None:
        number_format = sample.dtype
    elif cells.program.tests_code and run.case.dtype is None:
        number_format = SINGLE if (rounded(values, SINGLE) == values).all() else DOUBLE
    of_law = law_cells(
        claim.law,
        claim.arguments,
        resolution=run.sharpness(1.0),
        magnitude=size,
        number_format=number_format,
    )
    every = np.arange(len(of_law.cuts))
    counter = AtCuts(cuts=(of_law.cuts,) * claim.entries, uses=cells.uses, infinite=of_law.infinite)

    def of_entry(row: Floats, draws: int, effect: float) -> Iterator[EValue]:
        wrong = of_law.impossible(in_cells(row, every))
        if wrong:
            yield EValue(math.inf, Reason.LAW_IMPOSSIBLE.explain(count=int(wrong), draws=draws))
        for shape in map(of_law.shape, SHAPES):
            counts, chances = in_cells(row, shape) / effect, of_law.chances(shape)
            log = evidence(counts, chances)
            power = math.floor(log / math.log(10.0)) if math.isfinite(log) else 0.0
            yield EValue(log, Reason.LAW_SHAPE.explain(cells=len(counts), power=power))

    def says(totals: Floats, draws: int, effect: float, alpha: float) -> Seen:
        rows = counter.of_entries(totals)
        each = [distance(row[:-1] / draws, of_law.below, of_law.points) for row in rows]
        error = massart(draws / effect, alpha / claim.entries)
        against = [one for row in rows for one in of_entry(row, draws, effect)]
        return _farthest(each, error, against)

    return LawPlan(
        counter=counter,
        says=says,
        error=lambda draws, alpha: massart(draws, alpha / claim.entries),
        noise=NOISE,
        holds=Reason.LAW_HOLDS.explain(within=run.sharpness(1.0)),
        left_open=of_law.left_open,
    )


def _farthest(each: Sequence[Distance], error: float, against: Sequence[EValue] = ()) -> Seen:
    """What is seen of the entry that is farthest off."""
    whole = Distance(max(one.seen for one in each), max(one.most for one in each))
    return Seen(whole.seen, whole.interval(error), against)


def two_laws(run: CaseRun, claim: LawClaim, cells: InCells, values: Floats, size: float) -> LawPlan:
    """The plan for `x ~ y`, for each entry of x and the same entry of y."""
    resolution, entries = run.sharpness(1.0), claim.entries
    pooled = [np.concatenate([values[at], values[entries + at]]) for at in range(entries)]
    known = [sample_cells(one, resolution, size, run.case.dtype or DOUBLE) for one in pooled]
    counter = AtCuts(cuts=tuple(one.cuts for one in known) * 2, uses=cells.uses)

    def says(totals: Floats, draws: int, effect: float, alpha: float) -> Seen:
        rows = [row[:-1] / draws for row in counter.of_entries(totals)]
        both = zip(rows[:entries], rows[entries:], known, strict=True)
        each = [distance(one, other, own.points) for one, other, own in both]
        return _farthest(each, 2 * massart(draws / effect, alpha / (2 * entries)))

    return LawPlan(
        counter=counter,
        says=says,
        error=lambda draws, alpha: 2 * massart(draws, alpha / (2 * entries)),
        noise=NOISE * math.sqrt(2.0),
        holds=Reason.ONE_LAW.explain(within=resolution),
        left_open=max(one.left_open for one in known),
    )


# ---- independence --------------------------------------------------------------------------------


# How many cells each quantity has: where few quantities share one table, by their number; in tables
# of pairs, by the most pairs for which it holds.
TOGETHER = {2: 16, 3: 8, 4: 6}
IN_PAIRS = ((16, 16), (128, 8), (2**31, 4))
# Shares of a look's error: for the probabilities of single events, which enter in second order
# alone, and for the two ends of the interval.
MARGINS, ABOVE, BELOW = 0.1, 0.45, 0.45


def independence(
    run: CaseRun, claim: LawClaim, cells: InCells, values: Floats, size: float
) -> LawPlan:
    """The plan for `independent(x, y)`: tables of pairs, or of a few quantities together."""
    together, entries = pairs(claim), len(values)
    # where any two may depend on each other, a few quantities share one table
    tables: tuple[tuple[int, ...], ...] = together
    number = next(cells for most, cells in IN_PAIRS if len(together) <= most)
    if entries in TOGETHER and len(together) == entries * (entries - 1) // 2:
        number, tables = TOGETHER[entries], (tuple(range(entries)),)
    cuts = tuple(_cuts(row, number, size) for row in values)
    pilot = values.shape[1]
    levels = [
        np.searchsorted(np.sort(row), own, side="right") / pilot
        for row, own in zip(values, cuts, strict=True)
    ]
    counter = Tables(cuts=cuts, tables=tables, uses=cells.uses)
    shapes = [tuple(len(cuts[entry]) + 1 for entry in table) for table in tables]
    names = [*_names(run, claim)]
    corners = sum(math.prod(len(cuts[entry]) for entry in table) for table in tables)
    steps = max(map(len, tables), default=2) - 1

    def says(totals: Floats, draws: int, effect: float, alpha: float) -> Seen:
        parts = np.split(totals / effect, np.cumsum(list(map(math.prod, shapes)))[:-1])
        counted: list[Floats] = [one.reshape(own) for one, own in zip(parts, shapes, strict=True)]
        known = [[levels[entry] for entry in table] for table in tables]
        return Seen(*dependence(counted, known, draws / effect, alpha))

    def error(draws: float, alpha: float) -> float:
        return steps * float(empirical_bernstein(draws, 1 / 16, 1.0, ABOVE * alpha / steps))

    fixed = [
        name for name, own in zip(names, levels, strict=True) if not ((own > 0) & (own < 1)).any()
    ]
    within = run.sharpness(1.0)
    what = f"{len(tables):,} pairs of entries, each in {number}×{number} cells"
    if len(tables) == 1:
        sizes = "×".join(map(str, shapes[0]))
        *first, last = (names[entry] for entry in tables[0])
        what = f"{', '.join(first)} and {last} in {sizes} cells"
    return LawPlan(
        counter=counter,
        says=says,
        error=error,
        noise=math.sqrt(2.0 * math.log(20.0 * max(corners, 1))) / 4,
        holds=Reason.INDEPENDENT_ON_CELLS.explain(within=within, what=what),
        never_varies=Reason.NEVER_VARIES.explain(what=fixed[0], draws=pilot) if fixed else None,
    )


def _cuts(values: Floats, cells: int, size: float) -> Floats:
    """Cuts that divide values into cells of about equal probability; no cut is a value itself.

    Where most draws have the largest value, as most truths may be true, it has a cell of its own.
    """
    ordered = np.sort(values)
    places = np.arange(1, cells) * len(ordered) // cells
    cuts = np.unique(ordered[places])
    cuts = cuts[cuts < ordered[-1]]
    if not len(cuts):
        cuts = np.unique(ordered[ordered < ordered[-1]])[-1:]
    moved: Floats = cuts + rounding_of(cuts, size, TIES)
    return moved


def _names(run: CaseRun, claim: LawClaim) -> Iterator[str]:
    """Entries as they would be written: `u[0, 1]`."""
    (statement,) = run.prepared.statement.operands
    written = getattr(statement, "arguments", ())
    for node, value in zip(written, claim.quantities, strict=True):
        whole = unparse(node)
        whole = whole if isinstance(node, Name | Call) or not value.shape else f"({whole})"
        for index in np.ndindex(*value.shape):
            yield whole + (f"[{', '.join(map(str, index))}]" if index else "")


def dependence(
    tables: Sequence[Floats], levels: Sequence[Sequence[Floats]], draws: float, alpha: float
) -> tuple[float, tuple[float, float]]:
    """The largest difference D of a joint distribution function and the product of the single ones.

    With B that the first k quantities lie at or below their cuts, and A that the next one does,

        D(k + 1) = Cov(B, A) + D(k) P(A),  so that  |D| ≤ Σ |Cov|  and  |Cov| ≤ 2 max |D|,

    where the first covariance is D itself. With p and q near the chances of B and A, known from
    other draws, Cov(B, A) is the mean of (B - p)(A - q), which is bounded, less
    (P(B) - p)(P(A) - q), which is of second order.

    The upper end is wrong only if the choice of cuts with the largest covariance lies above its own
    upper end: so it takes the error of one choice. The lower end takes the errors of all.

    Args:
        tables: counts, with an axis for each quantity.
        levels: of each table and axis, the shares of other draws at or below each cut.
        draws: independent draws that the counts are worth.
        alpha: the error of both ends together.
    """
    corners = sum(math.prod(table.shape) for table in tables)
    band = massart(draws, MARGINS * alpha / (2 * corners))
    seen = low = high = 0.0
    for table, known in zip(tables, levels, strict=True):
        at_most, axes = table / draws, range(table.ndim)
        for axis in axes:
            at_most = np.cumsum(at_most, axis=axis)
        margins = [_reached(at_most, [axis]) for axis in axes]
        guesses = [
            np.append(own, 1.0).reshape([-1 if other == axis else 1 for other in axes])
            for axis, own in enumerate(known)
        ]
        product, p, upper = margins[0], guesses[0], 0.0
        for axis in axes[1:]:
            b, a, q = _reached(at_most, range(axis)), margins[axis], guesses[axis]
            both = _reached(at_most, range(axis + 1))
            apart = np.abs(both - b * a)
            rest = (np.abs(b - p) + np.abs(a - q) + band) * band
            values = (1 - p) * (1 - q), (p - 1) * q, p * (q - 1), p * q
            chances = both, b - both, a - both, 1 - a - b + both
            mean, square = (
                sum(chance * value**power for chance, value in zip(chances, values, strict=True))
                for power in (1, 2)
            )
            variance = np.maximum(square - mean**2, 0.0) * (draws / max(draws - 1, 1))
            width = np.maximum(values[0], values[3]) - np.minimum(values[1], values[2])
            # the lower end may be missed by a covariance of either sign, the upper end by one
            error = empirical_bernstein(draws, variance, width, BELOW * alpha / (2 * corners))
            low = max(low, float((apart - error - rest).max()) / (1 if axis == 1 else 2))
            each = ABOVE * alpha / (table.ndim - 1)
            error = empirical_bernstein(draws, variance, width, each)
            upper += float((apart + error + rest).max())
            product, p = product * a, p * q
        seen = max(seen, float(np.abs(at_most - product).max()))
        high = max(high, upper)
    return seen, (min(low, seen), min(high, 1.0))


def _reached(at_most: Floats, kept: Iterable[int]) -> Floats:
    """The chances that some quantities lie at or below their cuts; other axes have the length 1."""
    own = {*kept}
    return at_most[
        tuple(slice(None) if axis in own else slice(-1, None) for axis in range(at_most.ndim))
    ]


# ---- quantiles -----------------------------------------------------------------------------------


# The share of draws within the size of a quantity about 0: for a normal law, its deviation.
WITHIN_SIZE = 0.6827
# Cuts about the pilot's quantile, in its standard errors.
NEAR = np.arange(-32, 33) / 8
FARTHER = (6.0, 8.0, 12.0, 16.0, 24.0, 32.0)
# How many draws nearest to a quantile show what rounding does to it.
NEAREST = 16


@dataclass(frozen=True, slots=True)
class QuantileSum:
    """A comparison's quantity: a constant plus factors times the quantiles at their places."""

    terms: tuple[tuple[float, int], ...]
    constant: float

    @classmethod
    def of(cls, operands: Sequence[Value], places: Mapping[int, int]) -> QuantileSum:
        """The first operand, less the second if there is one; `places` are by operator."""
        factors: dict[int, float] = {}
        constant = 0.0
        for sign, operand in zip((1.0, -1.0), operands, strict=False):
            linear = of_operators(operand)
            if linear is None:
                raise AssertionError("quantiles stand in no sum")
            constant += sign * linear.constant
            for factor, operator in linear.terms:
                place = places[id(operator)]
                factors[place] = factors.get(place, 0.0) + sign * factor
        return cls(tuple((factor, at) for at, factor in factors.items() if factor), constant)

    def value(self, quantiles: Sequence[float]) -> float:
        """The value of the sum, from the quantiles by their places."""
        return summed([factor * quantiles[at] for factor, at in self.terms]) + self.constant

    def size(self, sizes: Sequence[float]) -> float:
        """The size of the sum, from those of the quantities."""
        return sum(abs(factor) * sizes[at] for factor, at in self.terms) + abs(self.constant)

    def interval(self, ends: Sequence[tuple[float, float]]) -> tuple[float, float]:
        """An interval for the sum, from intervals for the quantiles."""
        both = [sorted((factor * ends[at][0], factor * ends[at][1])) for factor, at in self.terms]
        return sum(low for low, _ in both) + self.constant, sum(high for _, high in both) + (
            self.constant
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileTarget:
    """One comparison of a claim about quantiles, and how sharply it is looked at."""

    claimed: Comparison
    comparison: Comparison  # the same, with all that the claim allows in its region
    form: QuantileSum
    sides: tuple[QuantileSum, ...]  # of the statement, where a difference of two is judged
    scale: float
    widen: float
    rounding: float


def quantile_targets(
    run: CaseRun,
    claim: Quantiles,
    sizes: Sequence[float],
    estimates: Sequence[float],
    operands: Sequence[Value],
) -> list[QuantileTarget]:
    """Every comparison with its scale, which is known or follows from the sizes of the quantities.

    `sizes` are those of each operator's quantity, `estimates` those of each quantile.
    """
    places = {id(operator): place for place, operator in enumerate(claim.quantities)}
    forms = [QuantileSum.of([operand], places) for operand in operands]
    shown = [form.value(estimates) for form in forms]
    targets: list[QuantileTarget] = []
    for comparison, part in zip(run.reading.comparisons, run.reading.of_each, strict=True):
        scale = part.known_scale or max(forms[end].size(sizes) for end in part.ends)
        scale = scale or forms[part.side].size(sizes)
        asked = sharpness_of(run, part, scale, shown)
        widen = widening(comparison.region, asked)
        looked_at = comparison.looked_at
        largest = max([scale, *map(abs, shown), *(forms[at].size(sizes) for at in looked_at)])
        rounding = LOOK_ROUNDING * largest
        sides = tuple(forms[at] for at in sorted((part.side, *part.ends)))
        targets.append(
            QuantileTarget(
                claimed=comparison,
                comparison=replace(comparison, region=comparison.allowed(asked)),
                form=QuantileSum.of([operands[at] for at in looked_at], places),
                sides=() if comparison.against is None else sides,
                scale=scale,
                widen=widen,
                rounding=min(rounding, widen / 1000) if widen > 0 else rounding,
            )
        )
    return targets


def at_level(values: Floats, level: float) -> float:
    """The quantile of a sorted sample."""
    place = min(max(math.ceil(level * len(values)) - 1, 0), len(values) - 1)
    return float(values[place])


@dataclass(frozen=True, slots=True)
class QuantilePilot:
    """What a pilot says: the level of each operator, and the sorted values of its quantity."""

    levels: tuple[float, ...]
    values: tuple[Floats, ...]
    drawn: int

    def draws_for(self, run: CaseRun, target: QuantileTarget, seen: float | None = None) -> int:
        """Draws after which one comparison is likely to be decided.

        `seen` is the estimate of its quantity, where more draws than the pilot's give one.
        """
        region, terms = target.comparison.region, target.form.terms
        error = sum(abs(factor) * _error(self.values[at], self.levels[at]) for factor, at in terms)
        near = 2 * error if seen is None else 0.0
        estimate = seen
        if estimate is None:
            each = zip(self.values, self.levels, strict=True)
            estimate = target.form.value([at_level(*one) for one in each])
        half = reach(estimate, near, region, target.widen)
        if (region.strict_end_within(estimate, near) and near > 0) or not half > 0:
            return ENDLESS
        alpha = run.alpha * intervals.PLANNED / len(run.reading.comparisons) / max(len(terms), 1)
        errors = NormalDist().inv_cdf(1 - max(alpha / 2, 1e-15)) + intervals.CHANCE
        needed = (errors * error / half) ** 2 * self.drawn
        for _, at in terms:
            rarer = min(self.levels[at], 1 - self.levels[at])
            tails = math.log(2 / alpha) / -math.log1p(-rarer)
            needed = max(needed, 1.2 * tails * self.drawn / len(self.values[at]))
        return int(min(max(needed, 1.0), ENDLESS))

    @property
    def cuts(self) -> tuple[Floats, ...]:
        """The cuts of each quantity, near its quantile; each value has one just below it too."""
        own: list[Floats] = []
        for values, level in zip(self.values, self.levels, strict=True):
            error = math.sqrt(level * (1 - level) / len(values))
            steps = (*NEAR.tolist(), *FARTHER, *(-far for far in FARTHER))
            near = np.array([at_level(values, level + step * error) for step in steps])
            own.append(np.unique([near, np.nextafter(near, -math.inf)]))
        return tuple(own)


def _error(values: Floats, level: float) -> float:
    """The standard error of the quantile of a sorted sample, in the unit of its values."""
    error = math.sqrt(level * (1 - level) / len(values))
    return (at_level(values, level + error) - at_level(values, level - error)) / 2


def by_quantiles(run: CaseRun, claim: Quantiles, cells: InCells) -> Judging:
    """Judge a claim about quantiles; asks for spans of draws as it goes."""
    program, drawn = cells.program, piloted(run, cells.program)
    values: list[Floats] = []
    for place, condition in cells.uses:
        held = drawn[place][0] if condition is None else drawn[place][0][drawn[condition][0] != 0]
        if not held.size:
            draws = drawn[place].shape[1]
            never = not_drawn(Reason.CONDITION_NEVER_TRUE.explain(draws=draws))
            return replace(
                never, method=Method.ORDER_STATISTICS, guarantee=Guarantee.EXACT, draws=draws
            )
        finite = held[np.isfinite(held)]  # where nothing is, the counts will report it
        values.append(np.sort(finite) if finite.size else np.zeros(1))
    levels = tuple(operator.level for operator in claim.quantities)
    pilot = QuantilePilot(levels, tuple(values), drawn[0].shape[1])
    sizes = [
        at_level(np.sort(np.abs(one)), WITHIN_SIZE) or float(np.abs(one).max()) for one in values
    ]
    estimates = [at_level(*one) for one in zip(values, levels, strict=True)]
    targets = quantile_targets(run, claim, sizes, estimates, run.prepared.lowered.operands)
    expected = max(pilot.draws_for(run, target) for target in targets)
    counter = AtCuts(cuts=pilot.cuts, uses=cells.uses)
    moved: dict[int, float] = {}

    def room(target: QuantileTarget) -> float:
        """How far rounding may move the quantity of a comparison; 0 for code, which is as it is."""
        if not moved and not program.tests_code:
            seen = rounding_of_values(program, pilot_of(run), draws_to_look_at(program))
            for at, (place, _) in enumerate(cells.uses):
                own, off = seen[program.targets[place]]
                nearest = np.argsort(np.abs(own - estimates[at]))[..., :NEAREST]
                moved[at] = float(np.take_along_axis(off, nearest, axis=-1).max())
        return sum(abs(factor) * moved.get(at, 0.0) for factor, at in target.form.terms)

    def judged(tally: CountTally, alpha: float) -> Finding:
        findings = _of_counts(run, pilot, targets, counter, tally, alpha)
        findings = [
            _with_room(one, target, partial(room, target))
            for one, target in zip(findings, targets, strict=True)
        ]
        off = [_off(*each) for each in zip(findings, targets, strict=True)]
        return findings[settling(run.reading, [one.verdict for one in findings], off)]

    counting = counted_in(run, program, counter, expected)
    tally = CountTally(counting)
    planned = {"expected": expected, "fewest": FEWEST_DRAWS, "most": run.most_draws(counting)}
    method, looked = Method.ORDER_STATISTICS, partial(judged, tally)
    return (yield from until_decided(run, tally, looked, method, Guarantee.EXACT, **planned))


def _with_room(finding: Finding, target: QuantileTarget, room: Callable[[], float]) -> Finding:
    """The finding, left open where rounding may change its verdict."""
    if finding.verdict is Verdict.UNDECIDED or not finding.interval:
        return finding
    region, (low, high), by = target.comparison.region, finding.interval, room()
    rounding = 0.0 if region.low_open or region.high_open else target.rounding
    if decide(low - by, high + by, region, target.widen, rounding) is finding.verdict:
        return finding
    middle = low / 2 + high / 2
    still = decide(middle - by, middle + by, region, target.widen, rounding)
    if still is Verdict.UNDECIDED:
        return finding.left_open(lost(by, 0.0))
    return finding.left_open(Reason.TOO_WIDE.explain())


def _of_counts(
    run: CaseRun,
    pilot: QuantilePilot,
    targets: Sequence[QuantileTarget],
    counter: AtCuts,
    tally: CountTally,
    alpha: float,
) -> list[Finding]:
    """Every comparison judged by the counts so far."""
    effect, counts = effect_of(tally), counter.of_entries(tally.totals)
    each = [*zip(counter.cuts, counts, pilot.levels, strict=True)]
    estimates = [estimate(cuts, row[:-1], row[-1], level) for cuts, row, level in each]
    findings: list[Finding] = []
    for target in targets:
        form, region = target.form, target.comparison.region
        share = alpha / len(targets) / max(len(form.terms), 1)
        ends = [
            bounds(cuts, row[:-1] / effect, row[-1] / effect, level, share)
            for cuts, row, level in each
        ]
        low, high = form.interval(ends)
        verdict = decide(low, high, region, target.widen, target.rounding)
        value = form.value(estimates)
        error = (high - low) / 2 / NormalDist().inv_cdf(1 - max(share / 2, 1e-15))
        shown = value if math.isfinite(value) else None
        if shown is None and math.isfinite(low) and math.isfinite(high):
            shown = (low + high) / 2  # no cut gives one
        why, more = None, None
        if verdict is Verdict.UNDECIDED:
            needed = pilot.draws_for(run, target, value if math.isfinite(value) else None)
            more = more_draws(needed, tally)
            reason = Reason.AT_THE_EDGE if more == math.inf else Reason.TOO_WIDE
            why = (Reason.NOT_INDEPENDENT if dependent(tally) else reason).explain()
        findings.append(
            replace(
                drawn_so_far(tally, Method.ORDER_STATISTICS, Guarantee.EXACT),
                verdict=verdict,
                quantity=target.comparison.measures,
                region=target.claimed.region,
                entry=target.comparison.entry,
                estimate=shown,
                interval=(low, high),
                standard_error=error if math.isfinite(error) else None,
                sides=tuple(side.value(estimates) for side in target.sides) or None,
                scale=target.scale,
                sharpness=run.looked(target.scale, target.widen),
                explanation=why,
                more_draws=more,
            )
        )
    return findings


def _off(finding: Finding, target: QuantileTarget) -> float:
    value = finding.estimate
    low, high = finding.interval or (value, value)
    if finding.verdict is Verdict.REFUTED:
        low, high = value, value
    if low is None or high is None:
        return 0.0
    return far_off(low, high, target.comparison.region, target.widen)


def bounds(
    cuts: Floats, counts: Floats, seen: float | Floats, level: float, alpha: float
) -> tuple[float, float]:
    """An interval that holds all quantiles of a level with probability at least 1 - alpha.

    A quantile of level p is any q with P(u < q) <= p <= P(u <= q). It is at most t only if
    P(u <= t) is at least p, and larger than t only if it is not. So inverting the sign test gives
    an interval between order statistics (David and Nagaraja 2003, "Order Statistics", 3rd edition,
    section 7.1; Conover 1999, "Practical Nonparametric Statistics", section 3.2), for any law, with
    atoms or without a density.

    The events at or below rising cuts contain one another, and so do their counts: an end is wrong
    only if the count at the one cut next to the quantile is. So each end costs one tail, for any
    number of cuts.

    Args:
        cuts: rising.
        counts: how many draws lie at or below each of them, [cuts].
        seen: the number of draws, one for all cuts or one for each.
        level: of the quantile, between 0 and 1.
        alpha: the error, half of it at each end.

    >>> bounds(np.arange(1.0, 101.0), np.arange(1.0, 101.0), 100, 0.5, 0.05)
    (39.00000000000001, 61.0)
    """
    low, high = -math.inf, math.inf
    if not np.all(seen) or not len(cuts):
        return low, high
    few, many = (np.flatnonzero(tail <= alpha / 2) for tail in _tails(counts, seen, level))
    if len(few):  # P(at or below) < level
        low = math.nextafter(float(cuts[few[-1]]), math.inf)
    if len(many):  # P(at or below) >= level
        high = float(cuts[many[0]])
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


def estimate(cuts: Floats, counts: Floats, seen: float, level: float) -> float:
    """A quantile between the cuts where its level is passed; NaN where none passes it.

    >>> cuts = np.array([1.0, math.nextafter(2.0, 0.0), 2.0])
    >>> estimate(cuts, np.array([10.0, 30.0, 70.0]), 100, 0.5)
    2.0
    >>> estimate(cuts, np.array([10.0, 30.0, 70.0]), 100, 0.2)
    1.5
    """
    shares = counts / seen if seen else counts
    if not seen or not len(cuts) or not shares[0] <= level <= shares[-1]:
        return math.nan
    place = int(np.searchsorted(shares, level))
    if math.nextafter(float(cuts[max(place - 1, 0)]), math.inf) >= cuts[place]:
        return float(cuts[place])
    return float(np.interp(level, shares, cuts))
