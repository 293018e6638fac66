"""The plan of a case's draws: by the model alone, or by a pilot and bounds from the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.inference import budget
from dropcheck.inference.intervals import ClippedSpread, KnownSpread, seen_variance
from dropcheck.inference.region import (
    Comparison,
    may_be_off,
    ways,
    widening,
)
from dropcheck.judging.case import FEWEST_DRAWS, CaseRun
from dropcheck.judging.knowledge import ExactAverages, Knowledge
from dropcheck.judging.limit_theorem import (
    RARE_SIGHTINGS,
    LimitSpread,
    Shortfall,
    draws_to_see,
    shortfall,
)
from dropcheck.judging.look import (
    ENDLESS,
    scales_of,
    sharpness_of,
    unit_of,
)
from dropcheck.judging.rounding import LOOK_ROUNDING, enclosing, theta_of
from dropcheck.known.enclosure import enclose, gradient, over
from dropcheck.reasons import Reason
from dropcheck.results import Guarantee
from dropcheck.simulation import (
    MOST_ROWS,
    PILOT,
    Clip,
    Compiled,
    Program,
    Request,
    SpanSums,
    Tally,
)

Spread = KnownSpread | ClippedSpread | LimitSpread
"""What is known of an average: its variance, bounds of its moments, or nothing."""

# Blocks that an interval is made from: with n of them it is wider than for very many by the factor
# (1 − 2 log(2/α)/n)^(−1/2) (Catoni 2012, proposition 2.4).
FEWEST_BLOCKS = 64
PLANNED_BLOCKS = 1024
# Blocks of a pilot: they show the spread to about 6%. With half as many, or with shorter ones,
# claims of few draws would take fewer, but heavy tails would be missed more often.
PILOT_BLOCKS = 128
# The shortest blocks, and batches that are crossed.
SHORTEST_BLOCK = 32
SHORTEST_BATCH = 8
# The most draws for the centres: these then lie within a tenth of a deviation of the means.
CENTRE_DRAWS = 512
# Share of a look's error that pays for the intervals of the single averages: these enter the
# quantity's own interval in second order alone.
BOX_SHARE = 0.1
# A quantity whose remainder is no larger, as a share of its first order, is linear.
NO_REMAINDER = 1e-10
# Halvings of the half-widths of averages in the search for those that decide.
MOST_HALVINGS = 20
# A pilot that plans more than PILOT_SHARE times its own draws is made longer: by this factor each
# time, at most so often.
PILOT_GROWTH = 4
PILOT_STEPS = 3
PILOT_SHARE = 64
# The most draws of a case whose verdict would not be accepted: it shows an estimate, and no more.
UNCOUNTED = 2**22


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """The combination of averages along which one comparison's quantity changes.

    `weights` has a factor for each average, [terms]; `spread` is that of the combination. A
    quantity that is `linear` in the averages is this combination, up to a constant.
    """

    weights: Floats
    spread: Spread
    linear: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawPlan:
    """What is known of a case before the draws that it is judged by.

    `directions` has one for each comparison. `spreads` has the spread of each average that the
    statement is made of, by column. A verdict is expected after `expected` draws. `middle` are the
    expected averages, [terms], about `centres`, [registers].
    """

    program: Program
    centres: Floats
    middle: Floats
    directions: tuple[Direction, ...]
    spreads: Mapping[int, Spread]
    guarantee: Guarantee
    most: int
    fewest: int = FEWEST_DRAWS
    expected: int = FEWEST_DRAWS
    exact_means: Floats | None = None  # the averages themselves, where the model says them
    scales: tuple[float, ...] | None = None  # of each comparison
    pilot: Tally | None = None
    endless: Reason | None = None  # why no number of draws would do, where none does
    # where the limit theorem judges: what the pilot lacks for each comparison, and the draws in
    # which the rarest known outcome is expected once
    lacks: tuple[Shortfall, ...] = ()
    rarest: float = 0.0


# ---- the half-widths that decide -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Targets:
    """The half-width at which each comparison is likely to be decided, and its scale.

    A width of 0 cannot be reached: the quantity lies where no interval decides; `sharp` is the
    half-width at which a closed end would be decided there. `refuting` says which comparisons are
    likely to be refuted.
    """

    widths: tuple[float, ...]
    refuting: tuple[bool, ...]
    sharp: tuple[float, ...]
    scales: tuple[float, ...]

    def settled(self, needed: Callable[[int, float], int]) -> int:
        """Draws after which the statement is likely to be settled; one refutation settles it.

        `needed(place, width)` are the draws that one comparison takes to a half-width.
        """
        draws = [needed(*each) for each in enumerate(self.widths)]
        refuted = (own for own, refutes in zip(draws, self.refuting, strict=True) if refutes)
        return min(refuted, default=max(draws))


def targets_of(run: CaseRun, compiled: Compiled, plan: DrawPlan) -> Targets | None:
    """The half-widths that the intervals need; None where the quantity is undefined."""
    operands, _ = compiled.functional.at_averages(plan.middle, plan.centres)
    if not all(map(math.isfinite, operands)):
        return None
    off = 0.0 if plan.pilot is None else may_be_off(run.reading, compiled, plan.pilot)
    scales = scales_of(run, compiled, plan.middle, plan.centres, off)
    if not all(map(math.isfinite, scales)):
        return None
    each = zip(run.reading.comparisons, run.reading.of_each, scales, strict=True)
    widths: list[tuple[float, bool]] = []
    sharp: list[float] = []
    for place, (comparison, part, scale) in enumerate(each):
        unit = unit_of(comparison, operands)
        sharp.append(sharpness_of(run, part, scale, operands) / unit)
        near = LOOK_ROUNDING * scale / unit
        widths.append(target_of(compiled, plan, place, comparison, sharp[-1], near))
    targets, refuting = zip(*widths, strict=True)
    return Targets(targets, refuting, tuple(sharp), scales)


def target_of(
    compiled: Compiled,
    plan: DrawPlan,
    place: int,
    comparison: Comparison,
    sharpness: float,
    near: float = 0.0,
) -> tuple[float, bool]:
    """The half-width at which one comparison is likely to be decided, and whether that refutes it.

    `near` bounds what rounding alone may do to the quantity.
    """
    theta = theta_of(compiled, comparison, plan.centres)
    estimate = float(theta(plan.middle[:, np.newaxis])[0])
    if plan.pilot is not None:
        near = 2 * plan.directions[place].spread.standard_error(plan.pilot.units)
    if comparison.region.strict_end_within(estimate, near):
        return 0.0, False
    widen, region = widening(comparison.region, sharpness), comparison.allowed(sharpness)
    verify, refute = ways(estimate, near, region, widen)
    return max(verify, refute, 0.0), refute > max(verify, 0.0)


def expecting(
    run: CaseRun, compiled: Compiled, plan: DrawPlan, targets: Targets | None
) -> DrawPlan:
    """The plan with the draws after which the verdict is expected."""
    if targets is None:
        return plan
    needed, most = partial(draws_for, run, compiled, plan), plan.most
    expected, endless = targets.settled(needed), None
    if expected >= ENDLESS:
        endless = Reason.TOO_FINE if all(targets.widths) else Reason.AT_THE_EDGE
        if plan.exact_means is not None:  # fewer draws show how near the quantity is to the end
            most = min(most, max(needed(*each) for each in enumerate(targets.sharp)))
    expected = max(expected, plan.fewest)
    return replace(plan, scales=targets.scales, expected=expected, endless=endless, most=most)


def draws_for(run: CaseRun, compiled: Compiled, plan: DrawPlan, place: int, target: float) -> int:
    """Draws after which one comparison is likely to be decided.

    What its quantity adds to its first order falls about as one over the draws. Where the first
    order says nothing, the draws are those that show its averages.
    """
    direction = plan.directions[place]
    alpha = run.alpha * budget.PLANNED / len(run.reading.comparisons)

    def half_width(spread: Spread, draws: int, share: float = 1.0) -> float:
        rows, block = rows_of(plan.program, draws)
        return spread.half_width(rows, block, share * alpha) if rows else math.inf

    def draws_to(spread: Spread, target: float, beyond: float = 0.0) -> int:
        def decides(draws: int) -> bool:
            error = spread.standard_error(max(1, draws // plan.program.unit_draws))
            width = half_width(spread, draws) + budget.CHANCE * error
            return width + beyond / draws <= target

        return fewest_that(decides, plan.fewest, ENDLESS)

    def widths(draws: int, share: float = 1.0) -> Floats:
        found = np.zeros(len(plan.middle))
        for column, spread in plan.spreads.items():
            found[column] = half_width(spread, draws, share)
        return found

    if direction.linear or direction.spread.standard_error(1) > target:
        draws = draws_to(direction.spread, target)
        if direction.linear or draws >= ENDLESS:
            return draws
        along = half_width(direction.spread, draws, 1 - BOX_SHARE)
        box = widths(draws, BOX_SHARE / len(plan.spreads))
        beyond = reach_of(run, compiled, plan, place, box, along)
        beyond -= half_width(direction.spread, draws)
        return draws_to(direction.spread, target, beyond * draws) if beyond < math.inf else draws
    narrow = widths_that_decide(run, compiled, plan, place, target, widths(plan.fewest))
    wanted = [draws_to(spread, narrow[column]) for column, spread in plan.spreads.items()]
    return max(draws_to(direction.spread, target / 2), *wanted)


def reach_of(
    run: CaseRun, compiled: Compiled, plan: DrawPlan, place: int, widths: Floats, along: float
) -> float:
    """How far from its value at the expected averages the quantity of a comparison may lie.

    Args:
        run: the run of the case.
        compiled: what is simulated.
        plan: the expected averages, and the direction in which the quantity changes.
        place: the comparison.
        widths: half-widths of the averages, [terms].
        along: half-width of their combination along the direction.
    """
    comparison, weights = run.reading.comparisons[place], plan.directions[place].weights
    estimate = theta_of(compiled, comparison, plan.centres)(plan.middle[:, np.newaxis])[0]
    quantity = enclosing(compiled, comparison, plan.centres)
    low, high = enclose(quantity, plan.middle, widths, weights, (-along, along))
    return float(max(high - estimate, estimate - low))


def widths_that_decide(
    run: CaseRun, compiled: Compiled, plan: DrawPlan, place: int, target: float, widest: Floats
) -> Floats:
    """Half-widths of the averages, [terms], with which a quantity is likely to be decided.

    Where the first order tells, they are in proportion to the errors of one draw. Where it hardly
    moves the quantity, it is given half of the target, and they are at most the `widest`.
    """
    direction, errors = plan.directions[place], np.zeros(len(plan.middle))
    for column, spread in plan.spreads.items():
        errors[column] = spread.standard_error(1)
    first = direction.spread.standard_error(1)
    if first > target:
        return target / first * errors
    widths = np.where(widest < math.inf, widest, errors)
    for _ in range(MOST_HALVINGS):
        if reach_of(run, compiled, plan, place, widths, target / 2) <= target:
            break
        widths /= 2
    return widths


def rows_of(program: Program, draws: int) -> tuple[int, int]:
    """How many rows a tally of so many draws has, and the independent units of each.

    Blocks are joined in pairs while there are too many. The draws of a call are one unit.
    """
    block = program.block_draws
    while draws // block > MOST_ROWS:
        block *= 2
    return draws // block, block // program.unit_draws


def fewest_that(decides: Callable[[int], bool], fewest: int, most: int, share: float = 0.05) -> int:
    """About the fewest draws that decide, up to this share more; `most` where none do.

    >>> fewest_that(lambda draws: draws >= 1000, 64, 10**6) in range(1000, 1051)
    True
    """
    if decides(fewest):
        return fewest
    low = high = fewest
    while not decides(high):
        if high >= most:
            return most
        low, high = high, min(8 * high, most)
    while high > (1 + share) * low:
        between = round(math.sqrt(low * high))
        low, high = (low, between) if decides(between) else (between, high)
    return high


# ---- plan draws ----------------------------------------------------------------------------------


def accepted(run: CaseRun, compiled: Compiled) -> bool:
    """Whether the limit theorem is enough for a verdict.

    Where a model bounds no moment of what is averaged, values that no draw shows may carry it, or
    it may have no mean at all, and no sample tells. So a user has to accept that. No model says
    anything of a user's own code, for which the limit theorem is all that there is.
    """
    return compiled.program.tests_code or run.asymptotic


def plan_draws(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge | None
) -> Generator[Request, SpanSums, DrawPlan]:
    """Plan the draws that a case is judged by; asks for a pilot where one is needed.

    Without knowledge, it is judged by the limit theorem.
    """
    if knowledge is not None and knowledge.exact is not None:
        return _exactly(run, compiled, knowledge.exact, knowledge.guarantee)
    return (yield from _by_pilot(run, compiled, knowledge))


def _by_pilot(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge | None
) -> Generator[Request, SpanSums, DrawPlan]:
    """The plan by a pilot, which is made longer at most `PILOT_STEPS` times."""
    most = run.most_draws(compiled.program)
    if knowledge is None and not accepted(run, compiled):
        most = min(most, UNCOUNTED)
    blocked = _in_blocks if knowledge is not None else _in_long_blocks
    program = blocked(compiled.program.fitted(most, FEWEST_BLOCKS), 0)
    centres = run.centres(program, max(1, min(program.span_draws, CENTRE_DRAWS)))
    tally = Tally(program, centres)
    wanted = PILOT_BLOCKS * program.block_draws
    for step in range(PILOT_STEPS + 1):
        yield from run.draw_until(tally, PILOT, min(wanted, most))
        run.refuse_if_nowhere_defined(tally)
        plan = _piloted(run, compiled, knowledge, tally, most)
        if tally.undefined:
            return plan
        plan = expecting(run, compiled, plan, targets_of(run, compiled, plan))
        wanted = min(PILOT_GROWTH * tally.draws, plan.expected // PILOT_SHARE, most // 16)
        enough = wanted < tally.draws + program.span_draws
        if program.whole or enough or step == PILOT_STEPS or run.out_of_time():
            break
    if knowledge is None:
        plan = _watched(run, compiled, plan)
    return replace(plan, program=blocked(plan.program, plan.expected))


@np.errstate(all="ignore")  # what is too large for float64 is infinite
def _piloted(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge | None, pilot: Tally, most: int
) -> DrawPlan:
    """The plan from a pilot: the spread that it shows, and the bounds that the model gives."""
    rows = pilot.sums / pilot.block_values
    middle = rows.mean(axis=0)

    def as_seen(weights: Floats) -> LimitSpread:
        return LimitSpread(guess=seen_variance(rows @ weights, pilot.block_units))

    columns = compiled.functional.columns(range(len(compiled.functional.operands)))
    directions = tuple(
        Direction(weights=weights, linear=linear, spread=as_seen(weights))
        for weights, linear in _lines(run, compiled, middle, pilot.centres)
    )
    plan = DrawPlan(
        program=compiled.program.fitted(most, FEWEST_BLOCKS),
        centres=pilot.centres,
        middle=middle,
        directions=directions,
        spreads={column: as_seen(_unit(len(middle), column)) for column in columns},
        guarantee=Guarantee.ASYMPTOTIC if knowledge is None else knowledge.guarantee,
        most=most,
        pilot=pilot,
    )
    targets = None if knowledge is None or pilot.undefined else targets_of(run, compiled, plan)
    return plan if knowledge is None else _bounded(run, compiled, plan, knowledge, targets)


def _bounded(
    run: CaseRun,
    compiled: Compiled,
    plan: DrawPlan,
    knowledge: Knowledge,
    targets: Targets | None,
) -> DrawPlan:
    """The plan with what the model bounds: deviations are cut off far out, draw by draw."""
    assert plan.pilot is not None
    bounds, clips = knowledge.bounds(plan.centres), list[Clip]()

    def bounded(weights: Floats, seen: Spread, target: float) -> ClippedSpread:
        assert isinstance(seen, LimitSpread)
        spread = bounds.spread(weights, float(plan.middle @ weights), seen.guess, target)
        used = np.flatnonzero(weights)
        clip = Clip(
            columns=tuple(used.tolist()),
            weights=tuple(weights[used].tolist()),
            centre=spread.centre,
            below=spread.below.far,
            above=spread.above.far,
        )
        clips.append(clip)
        return spread

    directions: list[Direction] = []
    widths = np.zeros(len(plan.middle))  # of the averages, that decide
    for place, direction in enumerate(plan.directions):
        error = direction.spread.standard_error(1)
        near = targets.widths[place] or targets.sharp[place] if targets else error
        if not direction.linear:
            own = widths_that_decide(run, compiled, plan, place, near, bounds.sizes(2.0))
            widths = np.maximum(widths, own)
        spread = bounded(direction.weights, direction.spread, near or error)
        directions.append(replace(direction, spread=spread))
    spreads: dict[int, Spread] = {}
    if not all(direction.linear for direction in directions):
        for column, seen in plan.spreads.items():
            spreads[column] = bounded(_unit(len(plan.middle), column), seen, widths[column])
    program = replace(plan.program, clips=tuple(clips))
    return replace(plan, program=program, directions=tuple(directions), spreads=spreads)


def _watched(run: CaseRun, compiled: Compiled, plan: DrawPlan) -> DrawPlan:
    """The plan with the draws that the limit theorem takes, as far as a pilot shows them."""
    assert plan.pilot is not None
    rows, alpha = plan.pilot.sums / plan.pilot.block_values, run.alpha * budget.PLANNED
    lacks: list[Shortfall] = []
    for comparison, direction in zip(run.reading.comparisons, plan.directions, strict=True):
        values = theta_of(compiled, comparison, plan.centres)(rows.T)
        alike = bool(np.ptp(values) <= LOOK_ROUNDING * np.abs(values).max())
        columns = compiled.functional.columns(comparison.looked_at)
        weights, draws = direction.weights, plan.pilot.draws
        lacks.append(shortfall(rows, weights, columns, draws, alpha, alike=alike))
    rarest = draws_to_see(compiled)
    settles = min(max(one.settles for one in lacks), ENDLESS)
    blocks = FEWEST_BLOCKS * plan.pilot.program.block_draws
    fewest = max(plan.fewest, blocks, math.ceil(RARE_SIGHTINGS * rarest))
    expected = max(plan.expected, fewest, int(settles))
    return replace(plan, lacks=tuple(lacks), rarest=rarest, fewest=fewest, expected=expected)


def _exactly(
    run: CaseRun, compiled: Compiled, exact: ExactAverages, guarantee: Guarantee
) -> DrawPlan:
    """The plan where the model says the covariances of all that is averaged.

    Where draws may be crossed, the covariances also give the best length of a block, and say
    whether crossing saves draws at all.
    """
    most = run.most_draws(compiled.program)
    plain = compiled.program.fitted(most, FEWEST_BLOCKS)
    lines = _lines(run, compiled, exact.means, exact.centres)

    def known(program: Program) -> DrawPlan:
        directions = tuple(
            Direction(weights=weights, linear=linear, spread=exact.spread(weights, program))
            for weights, linear in lines
        )
        spreads = {
            column: exact.spread(_unit(len(exact.means), column), program) for column in exact.used
        }
        return DrawPlan(
            program=program,
            centres=exact.centres,
            middle=exact.means,
            exact_means=exact.means,
            directions=directions,
            spreads=spreads,
            guarantee=guarantee,
            most=most,
        )

    whole = known(_in_blocks(plain, 0))
    targets = targets_of(run, compiled, whole)
    if targets is None:
        few = min(whole.fewest, most)
        return replace(whole, endless=Reason.UNDEFINED_AT_AVERAGES, most=few)
    whole = expecting(run, compiled, whole, targets)
    draws = min(whole.expected, whole.most)
    programs = [_in_blocks(plain, draws)]
    if compiled.crossed is not None:
        crossed = compiled.crossed.program.fitted(most, FEWEST_BLOCKS)
        programs += _blockings(crossed)
    choices = [expecting(run, compiled, known(one), targets) for one in programs]
    return min(choices, key=lambda plan: min(plan.expected, plan.most) * plan.program.cost)


def _blockings(program: Program) -> list[Program]:
    """A crossed program in blocks of several lengths, each half the one before."""
    lengths = [program.block_draws]
    while lengths[-1] >= 2 * SHORTEST_BATCH:
        lengths.append(lengths[-1] // 2)
    return [program.in_blocks_of(length) for length in lengths]


def _in_blocks(program: Program, draws: int) -> Program:
    """The program in blocks, and in spans of them, whose lengths suit so many draws in all."""
    return program.in_blocks_of(max(SHORTEST_BLOCK, draws // PLANNED_BLOCKS), draws // 16)


def _in_long_blocks(program: Program, draws: int) -> Program:
    """The same for the limit theorem, whose blocks are long enough for the rarest known outcome."""
    return program.in_blocks(draws // PLANNED_BLOCKS)


def _unit(terms: int, column: int) -> Floats:
    weights = np.zeros(terms)
    weights[column] = 1.0
    return weights


@np.errstate(all="ignore")  # what is too large for float64 is infinite
def _lines(
    run: CaseRun, compiled: Compiled, means: Floats, centres: Floats
) -> list[tuple[Floats, bool]]:
    """The gradient of each comparison's quantity at some averages, and whether it is linear."""
    lines: list[tuple[Floats, bool]] = []
    for comparison in run.reading.comparisons:
        enclosed = enclosing(compiled, comparison, centres)(over(means, 1.0 + np.abs(means))).order
        remainder = 2 * float(enclosed.remainder.max())
        size = float(np.abs(enclosed.slopes).reshape(len(means)) @ enclosed.box)
        linear = remainder <= NO_REMAINDER * (size + float(np.abs(enclosed.value).max()))
        slopes = enclosed.slopes.reshape(len(means)) if linear else None
        if slopes is None:
            slopes = gradient(enclosing(compiled, comparison, centres), means)
        lines.append((slopes, linear))
    return lines
