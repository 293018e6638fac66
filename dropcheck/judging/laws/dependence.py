"""`independent(x, y)`: tables of counts, of pairs or of a few quantities together."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from functools import reduce

import numpy as np

from dropcheck.analysis.law_cells import ONE_VALUE_SHARE, TIES, rounding_of
from dropcheck.array_types import Floats
from dropcheck.inference import budget, cell_evidence
from dropcheck.inference.distribution_distance import (
    DistancePrecision,
    empirical_bernstein,
    massart,
)
from dropcheck.inference.spread import CountsByCall
from dropcheck.judging.case_run import CaseRun, Judging
from dropcheck.judging.laws.law_evidence import EValue
from dropcheck.judging.laws.looks import (
    Counting,
    Seen,
    counting_of,
    piloted,
    shares_of,
    until_decided,
)
from dropcheck.language.law_claims import LawClaim, pairs
from dropcheck.language.printing import unparse
from dropcheck.language.syntax import Call, Name
from dropcheck.reasons import Reason
from dropcheck.records import record
from dropcheck.simulation import CountTally, Program, Tables

# How many cells each quantity has: where few quantities share one table, by their number; in tables
# of pairs, by the most pairs for which it holds.
TOGETHER = {2: 16, 3: 8, 4: 6}
IN_PAIRS = ((16, 16), (128, 8), (2**31, 4))
# Cells of each quantity in coarser tables, which show a weak dependence sooner.
COARSER = (2, 4, 8, 16)
# Shares of a look's error: for the probabilities of single quantities, which enter in second order
# alone, and for the two ends of the interval.
MARGINS, ABOVE, BELOW = 0.1, 0.45, 0.45


@record
class DependencePlan:
    """The tables, the shares of pilot draws at or below each cut, and what is counted."""

    tables: Tables
    levels: tuple[Floats, ...]  # of each entry, [cuts]
    names: tuple[str, ...]  # of each entry
    counting: Counting


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
    return DependencePlan(counter, levels, tuple(_names(run, claim)), counting)


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
        against = evidence(plan, _tables(plan, tally.totals / calls.together()))
        return Seen(*dependence(plan, tables, worth, alpha), against)

    within, shares = run.sharpness(1.0), shares_of(run.alpha)
    holds = Reason.INDEPENDENT_ON_CELLS.explain(within=within, what=_what(plan))
    return (yield from until_decided(run, plan.counting, tally, shares, at_look, holds))


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


def evidence(plan: DependencePlan, tables: Sequence[Floats]) -> EValue:
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
