"""The judge of a statement about laws, by its relation."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.claims.registry import Sample
from dropcheck.inference import budget, cell_evidence
from dropcheck.inference.cell_evidence import (
    Distance,
    DistancePrecision,
    distance,
    empirical_bernstein,
    massart,
)
from dropcheck.inference.intervals import CountsByCall
from dropcheck.inference.region import decide
from dropcheck.judging.case import CaseRun, Finding, Judging, Outlook, Planned, calls_of, dependent
from dropcheck.judging.law_cells import (
    ONE_VALUE_SHARE,
    TIES,
    LawCells,
    SampleCells,
    law_cells,
    rounding_of,
    sample_cells,
)
from dropcheck.judging.law_evidence import EValue, apart, evidence
from dropcheck.judging.rounding import lost, share_lost
from dropcheck.language.graph import LawClaim, Relation, pairs
from dropcheck.language.printing import unparse
from dropcheck.language.syntax import Call, Name
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Guarantee, Method, Verdict
from dropcheck.simulation import (
    FEWEST_CALLS,
    MAIN,
    PILOT,
    AtCuts,
    Counter,
    CountTally,
    Program,
    Tables,
    TwoAtCuts,
    counting_in_cells,
    magnitude_of,
    values_of,
)
from dropcheck.vocabulary.functions.number_formats import DOUBLE, SINGLE, rounded

# ---- looks ---------------------------------------------------------------------------------------
#
# What the judges of statements about laws share: their looks, their pilots, their findings.


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """What is counted, and when a verdict is expected.

    The precision is that of the planned look. A law may seem off by less than `target` and be
    verified.
    """

    program: Program
    most: int
    planned: int
    precision: DistancePrecision
    target: float


def counting_of(
    run: CaseRun, program: Program, counter: Counter, target: float, precision: DistancePrecision
) -> Counting:
    """What is counted, in spans of a suitable length, and when a verdict is expected.

    Args:
        run: the case.
        program: what is drawn.
        counter: counts draws in cells.
        target: the resolution, less what cells leave open of the distance.
        precision: how well the distance is known at the planned look.
    """
    most = run.most_draws(replace(program, cost=program.cost + counter.cost))
    planned = int(min(precision.draws(max(target, run.sharpness(1.0) / 2)), most))
    return Counting(
        program=counting_in_cells(program, counter, span_draws(program, planned, most)),
        most=most,
        planned=planned,
        precision=precision,
        target=target,
    )


# Share of the error for the distance that early looks have.
ALONG = 0.1
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The shares of a case's error: of the distance, and of the evidence in cells."""

    distance: float
    evidence: float


def shares_of(alpha: float) -> Shares:
    """The shares of a case's error: half of it each."""
    return Shares(distance=alpha / 2, evidence=alpha / 2)


def looks(planned: int, fewest: int, most: int, alpha: float) -> Iterator[budget.Look]:
    """Looks in order: those that other claims have, and before each, early ones for gross errors.

    Evidence may be looked at any number of times. The distance has a share of the error at each
    look, and the early looks have little of it.

    >>> [look.draws for look in looks(8000, 500, 8000, 1e-6)]
    [500, 1000, 2000, 4000, 8000]
    """
    early, number = fewest, 1
    for look in budget.looks(planned, fewest, most, alpha * (1 - ALONG)):
        while early < look.draws:
            yield budget.Look(early, alpha * ALONG / (number * (number + 1)))
            early, number = 2 * early, number + 1
        yield look
        while early <= look.draws:
            early *= 2


def span_draws(program: Program, planned: int, most: int) -> int:
    """Draws of a span: few where few are planned, an even number where there can be two."""
    draws, parts = (SHORTEST_CALL, FEWEST_CALLS) if program.declared else (SHORTEST_SPAN, PARTS)
    while 2 * draws <= min(planned // parts, program.span_draws):
        draws *= 2
    draws = min(draws, max(program.span_draws, 2), max(most, 1))
    return max(draws // 2 * 2, 1)


@dataclass(frozen=True, slots=True)
class PilotDraws:
    """Draws of a pilot: values, [entries of all quantities, draws], and their size."""

    values: Floats
    size: float

    @property
    def draws(self) -> int:
        """The number of draws of the pilot."""
        return int(self.values.shape[1])


def piloted(run: CaseRun, program: Program, wanted: int = 0) -> PilotDraws:
    """Draw a pilot of at least so many draws, or of what the budget has for it.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    numbers = sum(math.prod(one.shape) for one in run.prepared.lowered.operands)
    usual = min(FIRST_DRAWS, FIRST_NUMBERS // max(numbers, 1))
    if program.tests_code:  # where each draw is a call, a span is short
        usual = min(usual, FIRST_SPANS * program.span_draws)
    draws = max(2, min(max(wanted, usual), run.most_draws(program) // 4))
    generator, parts = run.generator(PILOT, 0), []
    for start in range(0, draws, program.span_draws):
        count = min(program.span_draws, draws - start)
        parts += [
            np.concatenate(
                [
                    np.broadcast_to(one, (*one.shape[:-1], count)).reshape(-1, count)
                    for one in values_of(program, generator, count)
                ]
            )
        ]
    every = np.concatenate(parts, axis=1)
    every = every[:, np.isfinite(every).all(axis=0)]
    if not every.shape[1]:  # nothing is finite, which the counts will report
        every = np.zeros((len(every), 2))
    few = min(draws, MAGNITUDE_DRAWS, program.span_draws)
    size = magnitude_of(program, run.generator(PILOT, 0), few)
    return PilotDraws(every, size)


@dataclass(frozen=True, slots=True)
class Seen:
    """What the counts of a look say: the claim's error, an interval for it, and evidence."""

    off: float
    interval: tuple[float, float]
    against: EValue


def until_decided(
    run: CaseRun,
    counting: Counting,
    tally: CountTally,
    shares: Shares,
    at_look: Callable[[float, CountsByCall], Seen],
    holds: Explanation,
    too_wide: Explanation | None = None,
) -> Judging:
    """Draw and look until the distance verifies or refutes, or the evidence refutes.

    Args:
        run: the case.
        counting: what is counted, and when a verdict is expected.
        tally: takes the counts.
        shares: how the case's error is shared.
        at_look: what the counts say, given the distance's share of the error and counts of calls.
        holds: the explanation of a verified verdict.
        too_wide: why nothing can be verified where cells leave open more than the resolution.

    Raises:
        DropcheckError: where not one draw is defined.
    """
    region, resolution = run.reading.comparisons[0].region, run.sharpness(1.0)
    hopeless = too_wide if counting.target <= 0 else None
    verdict = Verdict.UNDECIDED
    why: Explanation | None = None
    seen = Seen(0.0, (0.0, 1.0), EValue(0.0, holds))
    program = counting.program
    fewest = min(max(program.span_draws, program.fewest_planned), counting.most)
    if run.planning:
        raise Planned(_outlook(counting, tally, resolution))
    for look in looks(counting.planned, fewest, counting.most, shares.distance):
        yield from run.draw_until(tally, MAIN, look.draws)
        if tally.undefined:
            break
        seen = at_look(look.alpha, calls_of(tally))
        if seen.against.log >= math.log(1 / shares.evidence):
            verdict, why = Verdict.REFUTED, seen.against.why
        else:
            verdict = decide(*seen.interval, region, resolution)
        given_up = hopeless is not None and tally.drawn >= counting.planned
        given_up |= dependent(tally)
        if verdict is not Verdict.UNDECIDED or given_up or run.out_of_time():
            break
    if verdict is not Verdict.REFUTED:
        why = holds if verdict is Verdict.VERIFIED else hopeless
    finding = _finding_of(run, counting, tally, verdict, why, seen)
    if finding.verdict is Verdict.UNDECIDED:
        return finding
    share = share_lost(run, program, resolution)
    low, high = seen.interval
    if share and decide(low - share, high + share, region, resolution) is not verdict:
        return finding.left_open(lost(share, 0.0))
    return finding


def _outlook(counting: Counting, tally: CountTally, resolution: float) -> Outlook:
    def smallest(draws: int, _alpha: float) -> float | None:
        seen = counting.precision.smallest(draws)
        return None if seen is None else max(seen, resolution)  # nearer laws are verified

    return Outlook(
        program=counting.program,
        tally=tally,
        guarantee=Guarantee.FINITE_SAMPLE,
        most=counting.most,
        fewest=1,
        expected=counting.planned,
        scale=1.0,
        smallest=smallest,
    )


def _finding_of(
    run: CaseRun,
    counting: Counting,
    tally: CountTally,
    verdict: Verdict,
    why: Explanation | None,
    seen: Seen,
) -> Finding:
    """The finding; without a verdict, it has the reason and the draws that are likely to decide.

    Raises:
        DropcheckError: where not one draw is defined.
    """
    run.refuse_if_nowhere_defined(tally)
    broken = run.undefined(tally, Method.CELLS, Guarantee.FINITE_SAMPLE)
    if broken is not None:
        return broken
    resolution = run.sharpness(1.0)
    more = None
    if verdict is Verdict.UNDECIDED:
        if dependent(tally):
            why = Reason.NOT_INDEPENDENT.explain()
        why = why or Reason.TOO_WIDE.explain()
        if counting.target > 0:
            # so much of the error is beyond what chance does to a true claim
            beyond = max(seen.off - counting.precision.noise(tally.drawn), 0.0)
            near = max(counting.target - beyond, beyond)
            more = max(counting.precision.draws(near) - tally.drawn, 1.0)
    return Finding(
        verdict=verdict,
        method=Method.CELLS,
        guarantee=Guarantee.FINITE_SAMPLE,
        quantity=run.reading.comparisons[0].measures,
        region=run.reading.comparisons[0].region,
        estimate=seen.off,
        interval=seen.interval,
        scale=1.0,
        sharpness=run.looked(1.0, resolution),
        draws=tally.drawn,
        blocks=tally.spans,
        seconds=tally.seconds,
        explanation=why,
        more_draws=more,
    )


# ---- dependence ----------------------------------------------------------------------------------
#
# `independent(x, y)`: tables of counts, of pairs or of a few quantities together.


# How many cells each quantity has: where few quantities share one table, by their number; in tables
# of pairs, by the most pairs for which it holds.
TOGETHER = {2: 16, 3: 8, 4: 6}
IN_PAIRS = ((16, 16), (128, 8), (2**31, 4))
# Cells of each quantity in coarser tables, which show a weak dependence sooner.
COARSER = (2, 4, 8, 16)
# Shares of a look's error: for the probabilities of single quantities, which enter in second order
# alone, and for the two ends of the interval.
MARGINS, ABOVE, BELOW = 0.1, 0.45, 0.45


@dataclass(frozen=True, slots=True)
class DependencePlan:
    """The tables, the shares of pilot draws at or below each cut, and what is counted."""

    tables: Tables
    levels: tuple[Floats, ...]  # of each entry, [cuts]
    names: tuple[str, ...]  # of each entry
    counting: Counting
    pilot: int

    @property
    def fixed(self) -> list[str]:
        """The entries that had one value in all draws of the pilot, which show nothing of them."""
        each = zip(self.names, self.levels, strict=True)
        return [name for name, levels in each if not ((levels > 0) & (levels < 1)).any()]


def tables_plan(run: CaseRun, claim: LawClaim, program: Program) -> DependencePlan:
    """The tables, from draws that are used for nothing else.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    drawn = piloted(run, program)
    together = pairs(claim)
    entries = len(drawn.values)
    # where any two may depend on each other, a few quantities share one table
    tables: tuple[tuple[int, ...], ...]
    if entries in TOGETHER and len(together) == entries * (entries - 1) // 2:
        cells, tables = TOGETHER[entries], (tuple(range(entries)),)
    else:
        cells = next(cells for most, cells in IN_PAIRS if len(together) <= most)
        tables = together
    cuts = tuple(_cuts(row, cells, drawn.size) for row in drawn.values)
    levels = tuple(
        np.searchsorted(np.sort(row), own, side="right") / drawn.draws
        for row, own in zip(drawn.values, cuts, strict=True)
    )
    counter = Tables(cuts=cuts, tables=tables)
    alpha = shares_of(run.alpha).distance * budget.PLANNED * ABOVE
    precision = _precision(tables, levels, alpha)
    counting = counting_of(run, program, counter, run.sharpness(1.0), precision)
    return DependencePlan(counter, levels, tuple(_names(run, claim)), counting, drawn.draws)


def _precision(
    tables: Sequence[tuple[int, ...]], levels: Sequence[Floats], alpha: float
) -> DistancePrecision:
    """How well the largest dependence is known if there is none."""
    spread, width, corners = 0.0, 0.0, 0
    for table in tables:
        chances = _broadcast([levels[entry] for entry in table])
        p = _product(chances)
        if p.size:
            others = _others(chances)
            pairs = zip(others, chances, strict=True)
            variance = p * (1 - p) - _sum([c**2 * one * (1 - one) for c, one in pairs])
            spread = max(spread, math.sqrt(max(float(variance.max()), 0.0)))
            width = max(width, float(_width(others).max()))
            corners += p.size
    return DistancePrecision(alpha=alpha, spread=spread, width=width, corners=max(corners, 1))


def _others(factors: Sequence[Floats]) -> list[Floats]:
    """The product of the other factors, for each factor."""
    return [_product([*factors[:i], *factors[i + 1 :]]) for i in range(len(factors))]


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
    moved: Floats = cuts + rounding_of(cuts, size) * (TIES / ONE_VALUE_SHARE)
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


def by_tables(run: CaseRun, claim: LawClaim, program: Program) -> Judging:
    """Judge that quantities are independent."""
    plan = tables_plan(run, claim, program)
    tally = CountTally(plan.counting.program)

    def at_look(alpha: float, calls: CountsByCall) -> Seen:
        tables, worth = _tables(plan, tally.totals / calls.effect), tally.drawn / calls.effect
        against = evidence_of_tables(plan, _tables(plan, tally.totals / calls.together()))
        return Seen(*dependence(plan, tables, worth, alpha), against)

    within, shares = run.sharpness(1.0), shares_of(run.alpha)
    holds = Reason.INDEPENDENT_ON_CELLS.explain(within=within, what=_what(plan))
    finding = yield from until_decided(run, plan.counting, tally, shares, at_look, holds)
    if finding.verdict is not Verdict.VERIFIED or not plan.fixed:
        return finding
    return finding.left_open(Reason.NEVER_VARIES.explain(what=plan.fixed[0], draws=plan.pilot))


def _tables(plan: DependencePlan, totals: Floats) -> list[Floats]:
    tables, end = [], 0
    for table in plan.tables.tables:
        shape = plan.tables.shape(table)
        size = math.prod(shape)
        tables.append(totals[end : end + size].reshape(shape))
        end += size
    return tables


def _what(plan: DependencePlan) -> str:
    """What is looked at on which cells: `x and y in 16×16 cells`."""
    tables = plan.tables.tables
    if len(tables) == 1:
        sizes = "×".join(map(str, plan.tables.shape(tables[0])))
        return f"{_listed([plan.names[entry] for entry in tables[0]])} in {sizes} cells"
    most = max(len(cuts) for cuts in plan.tables.cuts) + 1
    return f"{len(tables):,} pairs of entries, each in {most}×{most} cells"


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def dependence(
    plan: DependencePlan, tables: Sequence[Floats], draws: float, alpha: float
) -> tuple[float, tuple[float, float]]:
    """The largest difference of a joint chance and the product of chances, and its interval.

    For each choice of cuts, one in every quantity of a table, the joint chance is that of lying at
    or below all of them. With A the product of the indicators A_i, P_i their chances, p_i any
    numbers, p their product and c_i = p / p_i,

        E(A) - Π P_i = E(A - Σ c_i (A_i - p_i)) - p - rest.

    The first term is the mean of a bounded quantity. The rest, the terms of Π P_i - p of second
    order in the P_i - p_i, changes little between the shares seen and the chances.

    The upper end is wrong only if the choice of cuts with the largest difference lies above its own
    upper end: so it takes the error of one choice. The lower end takes the errors of all.
    """
    corners = sum(math.prod(length - 1 for length in table.shape) for table in tables)
    if not corners:
        return 0.0, (0.0, 0.0)
    band = massart(draws, MARGINS * alpha / len(plan.levels))
    seen = low = high = 0.0
    for entries, table in zip(plan.tables.tables, tables, strict=True):
        at_most = table / draws
        for axis in range(table.ndim):
            at_most = np.cumsum(at_most, axis=axis)
        axes = range(table.ndim)
        joint = _margin(at_most, axes)
        if not joint.size:
            continue
        margins = [_margin(at_most, [axis]) for axis in axes]
        apart = np.abs(joint - _product(margins))
        guessed = _broadcast([plan.levels[entry] for entry in entries])
        others = _others(guessed)
        errors = [np.abs(margin - guess) for margin, guess in zip(margins, guessed, strict=True)]
        rest = _second_order(guessed, others, [error + band for error in errors])
        rest = rest - _second_order(guessed, others, errors)
        variance, width = _variance(at_most, others, draws), _width(others)
        # the lower end may be missed by a difference of either sign, the upper end by that of one
        error = empirical_bernstein(draws, variance, width, BELOW * alpha / (2 * corners))
        seen = max(seen, float(apart.max()))
        low = max(low, float((apart - error - rest).max()))
        error = empirical_bernstein(draws, variance, width, ABOVE * alpha)
        high = max(high, float((apart + error + rest).max()))
    return seen, (low, min(high, 1.0))


def _second_order(
    guessed: Sequence[Floats], others: Sequence[Floats], errors: Sequence[Floats]
) -> Floats:
    """The terms of second order and above of a product whose factors have these errors.

    No coefficient is negative: the sum grows with each error, and so does its change.
    """
    first = _sum([c * error for c, error in zip(others, errors, strict=True)])
    whole = _product([guess + error for guess, error in zip(guessed, errors, strict=True)])
    return whole - _product(guessed) - first


def _variance(at_most: Floats, factors: Sequence[Floats], draws: float) -> Floats:
    """The sample variance of the product of all indicators less the sum of their multiples."""
    axes = range(at_most.ndim)
    joint, total = _margin(at_most, axes), _sum(factors)
    mean = joint - _sum([factors[axis] * _margin(at_most, [axis]) for axis in axes])
    square = joint * (1 - 2 * total)
    for one in axes:
        for other in axes:
            square = square + factors[one] * factors[other] * _margin(at_most, {one, other})
    variance: Floats = np.maximum(square - mean**2, 0.0) * (draws / max(draws - 1, 1))
    return variance


def _width(factors: Sequence[Floats]) -> Floats:
    """The width of an interval for the product of all indicators less the sum of their multiples.

    The value is greatest where none or all of the indicators are 1, and least where all are 1, or
    all but the one with the smallest factor.
    """
    total = _sum(factors)
    least = reduce(np.minimum, factors)
    width: Floats = np.maximum(1 - total, 0.0) - np.minimum(1 - total, least - total)
    return width


def _sum(parts: Sequence[Floats]) -> Floats:
    return reduce(np.add, parts)


def _product(parts: Sequence[Floats]) -> Floats:
    return reduce(np.multiply, parts, np.ones(()))


def _broadcast(margins: Sequence[Floats]) -> list[Floats]:
    """The margins, each along an axis of its own."""
    return [
        margin.reshape([-1 if own == axis else 1 for own in range(len(margins))])
        for axis, margin in enumerate(margins)
    ]


def _margin(at_most: Floats, kept: Collection[int]) -> Floats:
    """The chances of some quantities, each at or below its cuts, along axes of their own."""
    others = tuple(slice(0, -1) if own in kept else slice(-1, None) for own in range(at_most.ndim))
    margin: Floats = at_most[others]
    return margin


def evidence_of_tables(plan: DependencePlan, tables: Sequence[Floats]) -> EValue:
    """The average evidence of all tables, with few cells and with many; it names the strongest."""
    each: list[tuple[float, int, tuple[int, ...]]] = []
    for entries, table in zip(plan.tables.tables, tables, strict=True):
        sizes = {tuple(min(size, length) for length in table.shape) for size in COARSER}
        for shape in sorted(sizes):
            coarse = _merged(table, shape)
            each.append((cell_evidence.of_product(coarse), coarse.size, entries))
    log = cell_evidence.average((1.0, one[0]) for one in each)
    strongest = max(each)
    why = Reason.DEPENDENT.explain(
        cells=strongest[1],
        power=math.floor(strongest[0] / math.log(10.0)),
        what=_listed([plan.names[entry] for entry in strongest[2]]),
    )
    return EValue(log, why)


def _merged(table: Floats, shape: Sequence[int]) -> Floats:
    """A table with neighbouring cells joined."""
    for axis, cells in enumerate(shape):
        starts = np.arange(cells) * table.shape[axis] // cells
        table = np.add.reduceat(table, starts, axis=axis)
    return table


# ---- one law -------------------------------------------------------------------------------------
#
# `y ~ law`: the distance of distribution functions verifies, and evidence in cells refutes.


@dataclass(frozen=True, slots=True, kw_only=True)
class OneLawPlan:
    """The cells of a law, what is counted in them, and what they leave open of the distance."""

    cells: LawCells
    counter: AtCuts
    counting: Counting
    left_open: float


def plan_of(run: CaseRun, claim: LawClaim, program: Program) -> OneLawPlan:
    """The plan, from the law and from draws that are used for nothing else.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    assert claim.law is not None
    resolution = run.sharpness(1.0)
    drawn = piloted(run, program)
    cells = law_cells(
        claim.law,
        claim.arguments,
        resolution=resolution,
        magnitude=drawn.size,
        number_format=run.case.dtype or _format_of(run.case.claim.sample, program, drawn.values),
    )
    counter = AtCuts(
        entries=claim.entries,
        cuts=cells.cuts,
        whole=cells.whole,
        rounding=cells.rounding,
        infinite=cells.infinite,
    )
    left_open = distance(cells.below, cells.below, cells.points).most
    alpha = shares_of(run.alpha).distance * budget.PLANNED / claim.entries
    precision = DistancePrecision(alpha=alpha)
    counting = counting_of(run, program, counter, resolution - left_open, precision)
    return OneLawPlan(cells=cells, counter=counter, counting=counting, left_open=left_open)


def _format_of(sample: Sample | None, program: Program, values: Floats) -> str:
    """The number format of what code gives: that of its arrays, or float32 where it is enough."""
    if sample is not None and sample.dtype is not None:
        return sample.dtype
    finite = values[np.isfinite(values)]
    short = program.tests_code and (rounded(finite, SINGLE) == finite).all()
    return SINGLE if short else DOUBLE


def by_law(run: CaseRun, claim: LawClaim, program: Program) -> Judging:
    """Judge `y ~ law`, for each entry of y."""
    plan = plan_of(run, claim, program)
    shares = shares_of(run.alpha)
    tally = CountTally(plan.counting.program)

    def at_look(alpha: float, calls: CountsByCall) -> Seen:
        counts = tally.totals.reshape(claim.entries, plan.counter.own)
        distance_of = apart(plan.cells, counts, tally.drawn)
        interval = distance_of.interval(massart(tally.drawn / calls.effect, alpha / claim.entries))
        against = evidence(plan.cells, counts, tally.drawn, calls.parts(claim.entries))
        return Seen(distance_of.seen, interval, against)

    holds = Reason.LAW_HOLDS.explain(within=run.sharpness(1.0))
    too_wide = Reason.CELLS_TOO_WIDE.explain(chance=plan.left_open)
    return (yield from until_decided(run, plan.counting, tally, shares, at_look, holds, too_wide))


# ---- two laws ------------------------------------------------------------------------------------
#
# `x ~ y`: the distance of two distribution functions verifies, and evidence in cells refutes.


# Pilot draws, times the resolution: the chance of a cell is then a small share of the resolution.
PILOT_PER_RESOLUTION = 128
# Shares of the difference in earlier draws that are guessed to be true: all, or little, as it may
# be chance.
TRUSTED = (1.0, 0.25)
QUANTITIES = 2


@dataclass(frozen=True, slots=True)
class TwoLawsPlan:
    """The cells of each entry, the pilot's counts at their cuts, and what is counted."""

    cells: tuple[SampleCells, ...]
    first: tuple[tuple[Floats, Floats], ...]  # of each entry: both counts at or below each cut
    pilot: int
    counting: Counting


def pair_plan(run: CaseRun, claim: LawClaim, program: Program) -> TwoLawsPlan:
    """The plan, from draws that are used for nothing else.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    resolution, entries = run.sharpness(1.0), claim.entries
    drawn = piloted(run, program, math.ceil(PILOT_PER_RESOLUTION / resolution))
    pairs = [(drawn.values[entry], drawn.values[entries + entry]) for entry in range(entries)]
    known = run.case.dtype or DOUBLE
    cells = tuple(sample_cells(np.concatenate(pair), drawn.size, known) for pair in pairs)
    first = tuple(
        (_at_most(pair[0], one.cuts), _at_most(pair[1], one.cuts))
        for pair, one in zip(pairs, cells, strict=True)
    )
    counter = TwoAtCuts(cuts=tuple(one.cuts for one in cells))
    alpha = shares_of(run.alpha).distance * budget.PLANNED / entries
    target = resolution - max(one.widest for one in cells)
    precision = DistancePrecision(alpha=alpha, bands=QUANTITIES)
    counting = counting_of(run, program, counter, target, precision)
    return TwoLawsPlan(cells, first, drawn.draws, counting)


def _at_most(values: Floats, cuts: Floats) -> Floats:
    return np.searchsorted(np.sort(values), cuts, side="right").astype(np.float64)


@dataclass(slots=True)
class Doubts:
    """Evidence that two laws differ, as it grows span by span.

    In every draw one quantity is looked at alone: even draws show the first and odd ones the
    second, so that both are independent though the quantities of one draw may not be. The same is
    done with even and odd exchanged, and the average taken.
    """

    plan: TwoLawsPlan
    logs: list[list[float]] = field(default_factory=list)  # of each family: of each guess, twice
    cells: list[int] = field(default_factory=list)
    before: list[tuple[Floats, Floats]] = field(default_factory=list)  # counts in a family's cells

    def __post_init__(self) -> None:
        draws = float(self.plan.pilot)
        for cells, first in zip(self.plan.cells, self.plan.first, strict=True):
            one, other = (_families(cells, counts, draws) for counts in first)
            self.before += zip(one, other, strict=True)
            self.cells += map(len, one)
        self.logs = [[0.0] * (2 * len(TRUSTED)) for _ in self.cells]

    def _effects(self, calls: CountsByCall) -> list[float]:
        """The design effect on the cells of each family, the larger one of both quantities."""
        effects: list[float] = []
        for cells, pair in zip(self.plan.cells, of_quantities(self.plan, calls), strict=True):
            both = [_families(cells, one.counts, one.sizes) for one in pair]
            least = max(one.effect for one in pair)
            effects += [
                max(calls.of(one).together(least) for one in family)
                for family in zip(*both, strict=True)
            ]
        return effects

    def add(self, row: Floats) -> None:
        """Take in the counts of one span."""
        place, end = 0, 0
        half = self.plan.counting.program.span_draws / 2
        for cells in self.plan.cells:
            size = len(cells.cuts)
            parts = row[end : end + 4 * size].reshape(4, size)
            end += 4 * size
            by_part = [_families(cells, part, half) for part in parts]
            for first_even, first_odd, second_even, second_odd in zip(*by_part, strict=True):
                before = self.before[place]
                logs = self.logs[place]
                for index, guess in enumerate(_guesses(*before)):
                    logs[2 * index] += cell_evidence.of_two_samples(first_even, second_odd, guess)
                    logs[2 * index + 1] += cell_evidence.of_two_samples(
                        first_odd, second_even, guess
                    )
                self.before[place] = (
                    before[0] + first_even + first_odd,
                    before[1] + second_even + second_odd,
                )
                place += 1

    def evidence(self, calls: CountsByCall) -> EValue:
        """The average evidence of all families, each over its design effect; it names the best."""
        effects = self._effects(calls)
        each = list(zip(self.logs, effects, strict=True))
        log = cell_evidence.average((1.0, log / effect) for logs, effect in each for log in logs)
        strongest = max(range(len(each)), key=lambda place: max(each[place][0]) / each[place][1])
        power = math.floor(max(self.logs[strongest]) / effects[strongest] / math.log(10.0))
        why = Reason.LAWS_DIFFER.explain(cells=self.cells[strongest], power=power)
        return EValue(log, why)


def _families(cells: SampleCells, at_most: Floats, draws: float | Floats) -> list[Floats]:
    """Counts in the cells of each family.

    Args:
        cells: of an entry.
        at_most: how many draws lie at or below each cut, [..., cuts].
        draws: how many there are, [...].
    """
    of_all = np.broadcast_to(np.asarray(draws)[..., np.newaxis], (*at_most.shape[:-1], 1))
    every = np.concatenate([at_most, of_all], axis=-1)
    return [np.diff(every[..., [*places, -1]], prepend=0.0) for places in cells.families]


def _guesses(first: Floats, second: Floats) -> list[tuple[Floats, Floats]]:
    """Guesses of the chances of cells in both laws by counts so far, one for each of `TRUSTED`."""
    cells = len(first)
    middle = (first + second + 1.0) / (first.sum() + second.sum() + cells)
    one, other = ((counts + cells * middle) / (counts.sum() + cells) for counts in (first, second))
    return [
        (middle + share * (one - middle), middle + share * (other - middle)) for share in TRUSTED
    ]


def by_two_laws(run: CaseRun, claim: LawClaim, program: Program) -> Judging:
    """Judge `x ~ y`, for each entry of x and the same entry of y."""
    plan = pair_plan(run, claim, program)
    doubts = Doubts(plan)
    tally = CountTally(plan.counting.program, doubts.add)

    def at_look(alpha: float, calls: CountsByCall) -> Seen:
        distance_of = apart_of_two(plan, tally.totals, tally.drawn)
        effect = max(one.effect for pair in of_quantities(plan, calls) for one in pair)
        # each of the two bands of an entry has half of its share
        error = massart(tally.drawn / effect, alpha / (QUANTITIES * claim.entries))
        interval = distance_of.interval(QUANTITIES * error)
        return Seen(distance_of.seen, interval, doubts.evidence(calls))

    holds = Reason.ONE_LAW.explain(within=run.sharpness(1.0))
    shares = shares_of(run.alpha)
    return (yield from until_decided(run, plan.counting, tally, shares, at_look, holds))


def of_quantities(plan: TwoLawsPlan, calls: CountsByCall) -> Iterator[list[CountsByCall]]:
    """For each entry, the counts of calls at or below its cuts, of both quantities in all draws."""
    end = 0
    for cells in plan.cells:
        size = len(cells.cuts)
        parts = calls.counts[:, end : end + 4 * size].reshape(-1, 2, 2, size).sum(axis=2)
        end += 4 * size
        yield [calls.of(parts[:, place]) for place in range(QUANTITIES)]


def apart_of_two(plan: TwoLawsPlan, totals: Floats, draws: int) -> Distance:
    """The distance of the entry of which the two laws are farthest apart."""
    each, end = [], 0
    for cells in plan.cells:
        size = len(cells.cuts)
        parts = totals[end : end + 4 * size].reshape(4, size)
        end += 4 * size
        one, other = (parts[0] + parts[1]) / draws, (parts[2] + parts[3]) / draws
        each.append(distance(one, other, cells.points))
    return Distance(max(one.seen for one in each), max(one.most for one in each))


# ---- by relation ---------------------------------------------------------------------------------


def by_laws(run: CaseRun, claim: LawClaim, program: Program) -> Judging:
    """Judge a statement about laws; asks for spans of draws as it goes."""
    match claim.relation:
        case Relation.FOLLOWS:
            return (yield from by_law(run, claim, program))
        case Relation.ALIKE:
            return (yield from by_two_laws(run, claim, program))
        case Relation.INDEPENDENT:
            return (yield from by_tables(run, claim, program))
