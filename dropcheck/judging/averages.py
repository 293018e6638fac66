"""Functions of averages, judged by what the model says of their moments.

No limit theorem is asked for. Each average has an interval that holds for every law with the
moments that the model bounds (Catoni 2012); the quantity is enclosed over all averages that these
intervals allow, to first order along the direction in which it changes. Where the model says the
covariances of what is averaged, the looks are planned before any draw; else a pilot shows the
direction and the spread to be expected, and nothing of its draws is used again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dropcheck.inference import budget
from dropcheck.inference.comparison import Comparison
from dropcheck.inference.enclosure import Enclosed, enclose, gradient
from dropcheck.inference.interval import Interval, Theta
from dropcheck.inference.region import decide, reach, widening
from dropcheck.inference.spread import Spread
from dropcheck.judging.case_run import FEWEST_DRAWS, CaseRun, Finding, Floats, expression
from dropcheck.judging.exactly import exact_quantity
from dropcheck.judging.knowledge import ExactAverages, Knowledge
from dropcheck.judging.look import (
    ENDLESS,
    Decide,
    Judged,
    enclosing,
    judge_look,
    region_floor,
    scale_of,
    sharpness_of,
    shown,
    theta_of,
    unit_of,
    why_undefined,
)
from dropcheck.judging.rare_events import in_strata
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import Exact, Guarantee, Method, Verdict
from dropcheck.simulation import (
    MAIN,
    MOST_ROWS,
    PILOT,
    Compiled,
    Program,
    Request,
    SpanSums,
    Tally,
)
from dropcheck.vocabulary import special
from dropcheck.vocabulary.enclosures import over
from dropcheck.vocabulary.majorants.bounds_arithmetic import raised

# Blocks that an interval is made from: with n of them it is wider than for very many by the factor
# (1 − 2 log(2/α)/n)^(−1/2) (Catoni 2012, proposition 2.4).
FEWEST_BLOCKS = 64
PLANNED_BLOCKS = 1024
# Blocks of a pilot: its spread is then known to about 6%.
PILOT_BLOCKS = 128
# The shortest blocks, and batches that are crossed.
SHORTEST_BLOCK = 32
SHORTEST_BATCH = 8
# Draws from which the centres of a pilot are taken.
CENTRE_DRAWS = 512
# A quantity whose remainder is no larger, as a share of its first order, is linear.
NO_REMAINDER = 1e-10
# An interval so many times the variance that the draws show is wide for what they do not show.
UNSEEN = 4.0
# Share of a look's error that pays for the intervals of the single averages, which enter the
# quantity's own in second order alone.
BOX_SHARE = 0.1
# Work of a plain run, in rough nanoseconds, from which on strata are looked for, and where it is
# beyond the budget; they are used where they save as much as this.
WORTHWHILE, WORTHWHILE_BEYOND = 5e8, 5e7
SAVING = 4
# A pilot that plans many times its own draws is made longer: by so many times, so often at most.
PILOT_GROWTH = 4
PILOT_STEPS = 3
PILOT_SHARE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """The combination of averages along which one comparison's quantity changes.

    `weights` has a factor for each average, [terms]; `spread` is that of the combination. Where
    the quantity is `linear` in the averages there is nothing else to it.
    """

    weights: Floats
    spread: Spread
    linear: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What is known of a case before the draws that it is judged by.

    `directions` has one for each comparison, `spreads` that of each average that the statement's
    quantity is made of, by column. A verdict is expected after `expected` draws. `middle` are the
    averages to be expected, [terms], about `centres`, [registers].
    """

    program: Program
    centres: Floats
    middle: Floats
    directions: tuple[Direction, ...]
    spreads: Mapping[int, Spread]
    guarantee: Guarantee
    most: int
    fewest: int
    expected: int
    exact_means: Floats | None = None  # the averages themselves, where the model says them
    scale: float | None = None
    pilot: Tally | None = None
    endless: Reason = Reason.AT_THE_EDGE  # why no number of draws would do, where none does


def judge_averages(run: CaseRun, compiled: Compiled, knowledge: Knowledge) -> Judging:
    """Judge a function of averages; asks for spans of draws as it goes."""
    outlook = yield from foreseen(run, compiled, knowledge)
    if outlook.pilot is not None:
        broken = run.undefined(outlook.pilot, Method.BLOCK_MEANS, outlook.guarantee)
        if broken is not None:
            return broken
    tally = Tally(outlook.program, outlook.centres)
    most, judged = outlook.most, None
    for look in budget.looks(outlook.expected, min(outlook.fewest, most), most, run.alpha):
        yield from run.draw_until(tally, MAIN, look.draws)
        run.refuse_if_nowhere_defined(tally)
        broken = run.undefined(tally, Method.BLOCK_MEANS, outlook.guarantee)
        if broken is not None:
            return broken
        decided_by = _deciding(compiled, outlook, tally)
        judged = judge_look(run, compiled, tally, look.alpha, decided_by, outlook.exact_means)
        decided = judged is not None and judged.verdict is not Verdict.INCONCLUSIVE
        hopeless = judged is None and run.seems_never(tally.draws)
        if decided or hopeless or run.out_of_time():
            break
    if judged is None:
        return Finding(
            verdict=Verdict.INCONCLUSIVE,
            method=Method.BLOCK_MEANS,
            guarantee=outlook.guarantee,
            draws=tally.draws,
            blocks=len(tally.sums),
            seconds=tally.seconds,
            sampling=tally.program.sampling,
            explanation=why_undefined(compiled, tally),
        )
    needed = _more(run, compiled, outlook, judged, tally)
    finding = shown(run, judged, tally, outlook.guarantee, needed)
    exact = exact_quantity(compiled, knowledge, judged.comparison)
    if exact is not None:
        exact = Exact(exact.value * judged.unit, exact.error * judged.unit)
    hidden = _hidden(run, outlook, judged, tally) or finding.explanation
    return replace(finding, exact=exact, explanation=hidden)


Judging = Generator[Request, SpanSums, Finding]


def _deciding(compiled: Compiled, outlook: Outlook, tally: Tally) -> Decide:
    """How one comparison is judged at a look."""
    rows = tally.sums / tally.block_values
    comparisons: list[Comparison] = []

    def decided(
        comparison: Comparison, alpha: float, widen: float, rounding: float
    ) -> tuple[Interval, Verdict]:
        direction = outlook.directions[len(comparisons)]
        comparisons.append(comparison)
        theta = theta_of(compiled, comparison, outlook.centres)
        columns = compiled.functional.columns(comparison.looked_at)
        enclosed = enclosing(compiled, comparison, outlook.centres)
        interval = interval_of(
            theta, enclosed, rows, tally.block_draws, direction, outlook, columns, alpha
        )
        if widen > 0:
            rounding = min(rounding, widen / 1000)  # rounding may never decide a claim
        return interval, decide(interval.low, interval.high, comparison.region, widen, rounding)

    return decided


def interval_of(
    theta: Theta,
    enclosed: Enclosed,
    rows: Floats,
    block_draws: int,
    direction: Direction,
    outlook: Outlook,
    columns: Sequence[int],
    alpha: float,
) -> Interval:
    """The interval of a quantity at confidence 1 − alpha; `rows` are averages, [blocks, terms]."""
    means = rows.mean(axis=0)
    estimate = float(theta(means[:, np.newaxis])[0])
    error = direction.spread.standard_error(len(rows) * block_draws)
    if direction.linear:
        along = direction.spread.interval(rows @ direction.weights, block_draws, alpha)
        at = float(means @ direction.weights)
        low, high = estimate + (along[0] - at), estimate + (along[1] - at)
        return Interval(estimate, low, high, error)
    box = BOX_SHARE * alpha / len(columns)
    middle, widths = means.copy(), np.zeros(len(means))
    for column in columns:
        low, high = outlook.spreads[column].interval(rows[:, column], block_draws, box)
        if not (math.isfinite(low) and math.isfinite(high)):
            return Interval(estimate, -math.inf, math.inf, error)
        middle[column], widths[column] = (low + high) / 2, (high - low) / 2
    own = (1 - BOX_SHARE) * alpha
    along = direction.spread.interval(rows @ direction.weights, block_draws, own)
    at = float(middle @ direction.weights)
    ends = (along[0] - at, along[1] - at)
    low, high = enclose(enclosed, middle, widths, direction.weights, ends)
    second = max(high - low - (along[1] - along[0]), 0.0) / 2
    return Interval(estimate, low, high, error, second_order=second)


def half_width(
    enclosed: Enclosed,
    outlook: Outlook,
    direction: Direction,
    columns: Sequence[int],
    draws: int,
    alpha: float,
) -> float:
    """The half-width to be expected of a quantity's interval after so many draws."""
    rows, block = _rows(outlook.program, draws)
    if not rows:
        return math.inf
    if direction.linear:
        return direction.spread.half_width(rows, block, alpha)
    box = BOX_SHARE * alpha / len(columns)
    widths = np.zeros(len(outlook.middle))
    for column in columns:
        widths[column] = outlook.spreads[column].half_width(rows, block, box)
    along = direction.spread.half_width(rows, block, (1 - BOX_SHARE) * alpha)
    if not (math.isfinite(along) and np.isfinite(widths).all()):
        return math.inf
    low, high = enclose(enclosed, outlook.middle, widths, direction.weights, (-along, along))
    return (high - low) / 2


def _rows(program: Program, draws: int) -> tuple[int, int]:
    """Rows of a tally of so many draws, and the draws of each: of many blocks two are joined."""
    block = program.block_draws
    while draws // block > MOST_ROWS:
        block *= 2
    return draws // block, block


def foreseen(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge
) -> Generator[Request, SpanSums, Outlook]:
    """What is known before the draws that a case is judged by; a pilot where it takes one."""
    most = run.most_draws(compiled.program)
    if knowledge.exact is not None:
        outlook = _exactly(run, compiled, knowledge.exact, knowledge.guarantee, most)
        return outlook_in_strata(run, compiled, knowledge, outlook) or outlook
    if not knowledge.has_variance:
        in_strata_alone = outlook_in_strata(run, compiled, knowledge)
        if in_strata_alone is not None:
            return in_strata_alone
    program = _in_blocks(compiled.program.fitted(most, FEWEST_BLOCKS), 0)
    centres = run.centres(program, max(1, min(program.span_draws, CENTRE_DRAWS)))
    tally = Tally(program, centres)
    wanted = PILOT_BLOCKS * program.block_draws
    for step in range(PILOT_STEPS + 1):
        yield from run.draw_until(tally, PILOT, min(wanted, most))
        run.refuse_if_nowhere_defined(tally)
        outlook = _piloted(run, compiled, knowledge, tally, most)
        if tally.undefined:
            return outlook
        outlook = _expecting(run, compiled, outlook)
        wanted = min(PILOT_GROWTH * tally.draws, outlook.expected // PILOT_SHARE, most // 16)
        enough = wanted < tally.draws + program.span_draws
        if enough or step == PILOT_STEPS or run.out_of_time():
            break
    return replace(outlook, program=_in_blocks(outlook.program, outlook.expected))


def outlook_in_strata(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge, plain: Outlook | None = None
) -> Outlook | None:
    """The outlook with one draw from strata of its values; None where that saves little.

    Or, where there is no plain one to compare it with, where it does not decide.
    """
    if plain is not None:
        work = plain.expected * plain.program.cost
        beyond = plain.expected > plain.most and work > WORTHWHILE_BEYOND
        if not (beyond or work > WORTHWHILE) or plain.program.sampling != "plain":
            return None

    def lines(means: Floats, centres: Floats) -> Floats:
        return np.array([weights for weights, _ in _lines(run, compiled, means, centres)])

    found = in_strata(run.prepared, compiled, knowledge, lines)
    if found is None:
        return None
    most = run.most_draws(found.compiled.program)
    # weights are bounded: with them what is bounded stays so
    outlook = _exactly(run, found.compiled, found.exact, knowledge.guarantee, most)
    if plain is None:
        return outlook if outlook.expected < ENDLESS else None
    less = SAVING * outlook.expected * outlook.program.cost
    return outlook if less < work else None


def _exactly(
    run: CaseRun, compiled: Compiled, exact: ExactAverages, guarantee: Guarantee, most: int
) -> Outlook:
    """The outlook where the model says the covariances of all that is averaged.

    Where draws may be crossed, the covariances say at once how long a block is best, and whether
    crossing saves draws at all.
    """
    plain = compiled.program.fitted(most, FEWEST_BLOCKS)
    outlook = Outlook(
        program=plain,
        centres=exact.centres,
        middle=exact.means,
        exact_means=exact.means,
        directions=(),
        spreads={},
        guarantee=guarantee,
        most=most,
        fewest=FEWEST_DRAWS,
        expected=FEWEST_DRAWS,
    )
    lines = _lines(run, compiled, outlook.middle, outlook.centres)

    def known(program: Program) -> Outlook:
        directions = tuple(
            Direction(weights=weights, linear=linear, spread=exact.spread(weights, program))
            for weights, linear in lines
        )
        spreads = {
            column: exact.spread(_unit(len(exact.means), column), program) for column in exact.used
        }
        return replace(outlook, program=program, directions=directions, spreads=spreads)

    whole = known(_in_blocks(plain, 0))
    targets = _targets(run, compiled, whole)
    if targets is None:
        return whole
    draws = max(_first_order(run, whole, place, one) for place, one in enumerate(targets.widths))
    choices = [(draws * plain.cost, known(_in_blocks(plain, draws)))]
    if compiled.crossed is not None and compiled.crossed.program.sums_about(exact.centres):
        crossed = compiled.crossed.program.fitted(most, FEWEST_BLOCKS)
        for one in map(known, _blockings(crossed)):
            each = [
                _first_order(run, one, place, width) for place, width in enumerate(targets.widths)
            ]
            choices.append((max(each) * crossed.cost, one))
    _, found = min(choices, key=lambda choice: choice[0])
    return _expecting(run, compiled, found)


def _blockings(program: Program) -> list[Program]:
    """A crossed program in blocks of several lengths, by halves."""
    lengths = [program.block_draws]
    while lengths[-1] >= 2 * SHORTEST_BATCH:
        lengths.append(lengths[-1] // 2)
    return [program.in_blocks_of(length) for length in lengths]


def _in_blocks(program: Program, draws: int) -> Program:
    """The program in blocks, and in spans of them, that fit so many draws in all."""
    return program.in_blocks_of(max(SHORTEST_BLOCK, draws // PLANNED_BLOCKS), draws // 16)


def _unit(terms: int, column: int) -> Floats:
    weights = np.zeros(terms)
    weights[column] = 1.0
    return weights


def _lines(
    run: CaseRun, compiled: Compiled, means: Floats, centres: Floats
) -> list[tuple[Floats, bool]]:
    """The gradient of each comparison's quantity at some averages, and whether it is linear."""
    lines: list[tuple[Floats, bool]] = []
    for comparison in run.reading.comparisons:
        enclosed = enclosing(compiled, comparison, centres)(over(means, 1.0 + np.abs(means)))
        remainder = float((enclosed.above - enclosed.below).max())
        size = float(np.abs(enclosed.slopes).reshape(len(means)) @ enclosed.box)
        linear = remainder <= NO_REMAINDER * (size + float(np.abs(enclosed.value).max()))
        slopes = enclosed.slopes.reshape(len(means)) if linear else None
        if slopes is None:
            slopes = gradient(enclosing(compiled, comparison, centres), means)
        lines.append((slopes, linear))
    return lines


def _piloted(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge, pilot: Tally, most: int
) -> Outlook:
    """The outlook from a pilot: the spread that it shows, and the bounds that the model gives."""
    rows = pilot.sums / pilot.block_values
    middle = rows.mean(axis=0)
    bounds = knowledge.bounds(pilot.centres)
    whole = len(run.reading.comparisons) == 1

    def spread(weights: Floats, *, own: bool = False) -> Spread:
        values = rows @ weights
        guess = float(np.var(values, ddof=1)) * pilot.block_draws
        return bounds.spread(weights, float(values.mean()), guess, whole=own and whole)

    used = compiled.functional.columns(range(len(compiled.functional.operands)))
    return Outlook(
        program=compiled.program.fitted(most, FEWEST_BLOCKS),
        centres=pilot.centres,
        middle=middle,
        directions=tuple(
            Direction(weights=weights, linear=linear, spread=spread(weights, own=linear))
            for weights, linear in _lines(run, compiled, middle, pilot.centres)
        ),
        spreads={column: spread(_unit(len(middle), column)) for column in used},
        guarantee=knowledge.guarantee,
        most=most,
        fewest=FEWEST_DRAWS,
        expected=FEWEST_DRAWS,
        pilot=pilot,
    )


@dataclass(frozen=True, slots=True)
class Targets:
    """The half-width at which each comparison is likely to be decided, and the claim's scale."""

    widths: tuple[float, ...]
    scale: float


def _targets(run: CaseRun, compiled: Compiled, outlook: Outlook) -> Targets | None:
    """What the intervals must come down to; None where the quantity is undefined.

    A width of 0 cannot be reached: the quantity lies where no interval decides.
    """
    operands, _ = compiled.functional.at_averages(outlook.middle, outlook.centres)
    if not all(map(math.isfinite, operands)):
        return None
    scale = scale_of(run.reading, compiled, outlook.middle, outlook.centres)
    if not math.isfinite(scale):
        return None
    sharpness = sharpness_of(run, scale, operands)
    return Targets(
        tuple(
            _target(compiled, outlook, place, comparison, sharpness / unit_of(comparison, operands))
            for place, comparison in enumerate(run.reading.comparisons)
        ),
        scale,
    )


def _target(
    compiled: Compiled, outlook: Outlook, place: int, comparison: Comparison, sharpness: float
) -> float:
    """The half-width at which one comparison is likely to be decided."""
    theta = theta_of(compiled, comparison, outlook.centres)
    estimate = float(theta(outlook.middle[:, np.newaxis])[0])
    spread = outlook.directions[place].spread
    near = 0.0 if outlook.pilot is None else 2 * spread.standard_error(outlook.pilot.draws)
    if comparison.region.strict_end_within(estimate, near):
        return 0.0
    widen = widening(comparison.region, sharpness)
    return reach(estimate, near, comparison.region, widen)


def _expecting(run: CaseRun, compiled: Compiled, outlook: Outlook) -> Outlook:
    """The outlook with the draws after which the verdict is expected."""
    targets = _targets(run, compiled, outlook)
    if targets is None:
        return outlook
    needed = [_draws_for(run, compiled, outlook, *each) for each in enumerate(targets.widths)]
    return replace(
        outlook,
        scale=targets.scale,
        expected=max(*needed, outlook.fewest),
        endless=Reason.TOO_FINE if all(targets.widths) else Reason.AT_THE_EDGE,
    )


def _first_order(run: CaseRun, outlook: Outlook, place: int, target: float) -> int:
    """Draws after which one comparison is likely to be decided, were its quantity linear."""
    spread = outlook.directions[place].spread
    alpha = run.alpha * budget.PLANNED / len(run.reading.comparisons)

    def decides(draws: int) -> bool:
        rows, block = _rows(outlook.program, draws)
        width = spread.half_width(rows, block, alpha) if rows else math.inf
        return width + budget.CHANCE * spread.standard_error(draws) <= target

    return fewest_that(decides, outlook.fewest, ENDLESS)


def _draws_for(
    run: CaseRun, compiled: Compiled, outlook: Outlook, place: int, target: float
) -> int:
    """Draws after which one comparison is likely to be decided."""
    comparison, direction = run.reading.comparisons[place], outlook.directions[place]
    draws = _first_order(run, outlook, place, target)
    if direction.linear:
        return draws
    enclosed = enclosing(compiled, comparison, outlook.centres)
    columns = compiled.functional.columns(comparison.looked_at)
    alpha = run.alpha * budget.PLANNED / len(run.reading.comparisons)
    while draws < ENDLESS:
        width = half_width(enclosed, outlook, direction, columns, draws, alpha)
        width += budget.CHANCE * direction.spread.standard_error(draws)
        if width <= target:
            return draws
        more = raised(width / target, 2.0) if math.isfinite(width) and target > 0 else math.inf
        draws = int(min(ENDLESS, min(max(1.05, more), 16.0) * draws))
    return draws


def fewest_that(decides: Callable[[int], bool], fewest: int, most: int) -> int:
    """The fewest draws that decide, to 5%; `most` where none do.

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
    while high > 1.05 * low:
        between = round(math.sqrt(low * high))
        low, high = (low, between) if decides(between) else (between, high)
    return high


def _more(
    run: CaseRun, compiled: Compiled, outlook: Outlook, judged: Judged, tally: Tally
) -> float | None:
    """Draws that an undecided case is likely to need beyond those made; infinite where none do."""
    if judged.verdict is not Verdict.INCONCLUSIVE:
        return None
    rows = tally.sums / tally.block_values
    place = judged.place
    now = replace(outlook, middle=rows.mean(axis=0), pilot=tally)
    target = _target(compiled, now, place, judged.comparison, judged.widen)
    needed = _draws_for(run, compiled, now, place, target)
    if needed >= ENDLESS:
        return math.inf
    more = max(budget.GROWTH * needed, 1.5 * tally.draws)
    return more - tally.draws + tally.program.span_draws


def _hidden(run: CaseRun, outlook: Outlook, judged: Judged, tally: Tally) -> Explanation | None:
    """What unseen values could do to an undecided quantity; None where it is the seen that vary.

    An interval of half-width h from n draws is that of a variance h² n / (2 log(2/α)) a draw. Where
    the draws show far less, the rest may be carried by values that none of them showed: these have
    a chance of log(1/α)/n at most, and with that they have a size of the root of variance over
    chance.
    """
    interval, draws = judged.interval, tally.draws
    if judged.verdict is not Verdict.INCONCLUSIVE or not math.isfinite(interval.half_width):
        return None
    rows = tally.sums / tally.block_values @ outlook.directions[judged.place].weights
    seen = float(np.var(rows, ddof=1)) * tally.block_draws
    implied = raised(interval.half_width, 2.0) * draws / (2 * math.log(2 / run.alpha))
    if not implied > UNSEEN * seen:
        return None
    chance = math.log(1 / run.alpha) / draws
    unit = judged.unit
    return Reason.HIDDEN_VALUES.explain(
        value=math.sqrt(implied / chance) * unit,
        chance=chance,
        draws=draws,
        quantity=expression(run.prepared.statement, judged.comparison.measures),
        low=interval.low * unit,
        high=interval.high * unit,
    )


def smallest_seen(
    run: CaseRun, compiled: Compiled, outlook: Outlook, most: int, alpha: float
) -> float | None:
    """The smallest discrepancy that the last of so many draws see; None where they see none.

    A claim that is false by more is refuted, but with chance α: the estimate errs towards the
    claim by z(α) standard errors at most, and the interval must miss the claim even so.
    """
    operands, _ = compiled.functional.at_averages(outlook.middle, outlook.centres)
    sharpness = sharpness_of(run, outlook.scale or 0.0, operands)
    normal = -float(special.ndtri(run.alpha))
    seen: list[float] = []
    for place, comparison in enumerate(run.reading.comparisons):
        unit = unit_of(comparison, operands)
        direction = outlook.directions[place]
        enclosed = enclosing(compiled, comparison, outlook.centres)
        columns = compiled.functional.columns(comparison.looked_at)
        share = alpha / len(run.reading.comparisons)
        width = half_width(enclosed, outlook, direction, columns, most, share)
        if not math.isfinite(width):
            return None
        width += normal * direction.spread.standard_error(most)
        floor = region_floor(comparison.region, widening(comparison.region, sharpness / unit))
        seen.append(max(width, floor) * unit)
    return max(seen)
