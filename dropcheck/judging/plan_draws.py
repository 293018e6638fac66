"""The plan of a case's draws: by the model alone, or by a pilot and bounds from the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dropcheck.analysis.norms import raised
from dropcheck.array_types import Floats
from dropcheck.inference import budget
from dropcheck.inference.intervals import NetSpread, Spread, seen_variance
from dropcheck.inference.region import (
    SIGNIFICANT,
    Comparison,
    may_be_off,
    region_floor,
    ways,
    widening,
)
from dropcheck.judging.case import FEWEST_DRAWS, CaseRun
from dropcheck.judging.knowledge import (
    ExactAverages,
    Knowledge,
)
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
from dropcheck.known.enclosure import Enclosed, enclose, gradient, over
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
    can_be_in_nets,
    in_nets,
)
from dropcheck.vocabulary import special

# ---- draw plan -----------------------------------------------------------------------------------
#
# What is known of a case before the draws that it is judged by, and how many draws that takes.


# Share of a look's error that pays for the intervals of the single averages: these enter the
# quantity's own interval in second order alone.
BOX_SHARE = 0.1
# The most calls of code that are made for a verdict by calls.
MOST_CALLS = 40_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """The combination of averages along which one comparison's quantity changes.

    `weights` has a factor for each average, [terms]; `spread` is that of the combination. A
    quantity that is `linear` in the averages is this combination, up to a constant.
    """

    weights: Floats
    spread: Spread | NetSpread | LimitSpread
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
    spreads: Mapping[int, Spread | LimitSpread]
    guarantee: Guarantee
    most: int
    fewest: int
    expected: int
    exact_means: Floats | None = None  # the averages themselves, where the model says them
    scales: tuple[float, ...] | None = None  # of each comparison
    pilot: Tally | None = None
    endless: Reason | None = None  # why no number of draws would do, where none does
    # where the limit theorem judges: what the pilot lacks for each comparison, the draws in which
    # the rarest known outcome is expected once, and how far a share of the calls of code, where
    # these are the independent units, can move each comparison
    lacks: tuple[Shortfall, ...] = ()
    rarest: float = 0.0
    unseen: tuple[Callable[[float], float], ...] = ()

    @property
    def calls_enough(self) -> bool:
        """Whether few enough calls of code are expected, where calls are the independent units."""
        return not self.program.whole or self.expected <= MOST_CALLS * self.program.unit_draws

    @property
    def ends(self) -> int:
        """The draws after which a run ends: fewer than the budget where no number would decide."""
        given_up = self.endless is not None and self.exact_means is not None
        return min(self.expected, self.most) if given_up else self.most

    @property
    def scale(self) -> float | None:
        """The claim's scale; of a statement about arrays the largest of an entry."""
        return None if self.scales is None else max(self.scales)


def half_width(
    enclosed: Enclosed,
    plan: DrawPlan,
    direction: Direction,
    columns: Sequence[int],
    draws: int,
    alpha: float,
) -> float:
    """The half-width to be expected of a quantity's interval after so many draws."""
    rows, block = rows_of(plan.program, draws)
    if not rows:
        return math.inf
    if direction.linear:
        return direction.spread.half_width(rows, block, alpha)
    box = BOX_SHARE * alpha / len(columns)
    widths = np.zeros(len(plan.middle))
    for column in columns:
        widths[column] = plan.spreads[column].half_width(rows, block, box)
    along = direction.spread.half_width(rows, block, (1 - BOX_SHARE) * alpha)
    if not (math.isfinite(along) and np.isfinite(widths).all()):
        return math.inf
    low, high = enclose(enclosed, plan.middle, widths, direction.weights, (-along, along))
    return (high - low) / 2


def rows_of(program: Program, draws: int) -> tuple[int, int]:
    """How many rows a tally of so many draws has, and the independent units of each.

    Blocks are joined in pairs while there are too many. The draws of a net, or of a call, are one
    unit.
    """
    block = program.block_draws
    while draws // block > MOST_ROWS:
        block *= 2
    return draws // block, block // program.unit_draws


@dataclass(frozen=True, slots=True)
class Targets:
    """The half-width at which each comparison is likely to be decided, and its scale.

    Where `widths` has 0, `sharp` is the half-width at which a closed end would be decided.
    `refuting` says which comparisons are likely to be refuted.
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

    def ends(
        self, needed: Callable[[int, float], int], *, known: bool
    ) -> tuple[int, Reason | None]:
        """Draws after which the statement is likely to be settled, and why no number would do.

        Where none would and the averages are `known`, they are the draws that show how near the
        quantity is to the end.
        """
        draws = self.settled(needed)
        if draws < ENDLESS:
            return draws, None
        if all(self.widths):
            return draws, Reason.TOO_FINE
        if known:
            draws = max(needed(*each) for each in enumerate(self.sharp))
        return draws, Reason.AT_THE_EDGE


def targets_of(
    run: CaseRun, compiled: Compiled, plan: DrawPlan, *, if_true: bool = False
) -> Targets | None:
    """The half-widths that the intervals need; None where the quantity is undefined.

    A width of 0 cannot be reached: the quantity lies where no interval decides. With `if_true` the
    claim is taken to be true, where the pilot leaves room for that.
    """
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
        widths.append(
            target_of(compiled, plan, place, comparison, sharp[-1], near, if_true=if_true)
        )
    targets, refuting = zip(*widths, strict=True)
    return Targets(targets, refuting, tuple(sharp), scales)


def target_of(
    compiled: Compiled,
    plan: DrawPlan,
    place: int,
    comparison: Comparison,
    sharpness: float,
    near: float = 0.0,
    *,
    if_true: bool = False,
) -> tuple[float, bool]:
    """The half-width at which one comparison is likely to be decided, and whether that refutes it.

    `near` bounds what rounding alone may do to the quantity.
    """
    theta = theta_of(compiled, comparison, plan.centres)
    estimate = float(theta(plan.middle[:, np.newaxis])[0])
    spread = plan.directions[place].spread
    if plan.pilot is not None:
        near = 2 * spread.standard_error(plan.pilot.units)
    if if_true:
        nearest = min(max(estimate, comparison.region.low), comparison.region.high)
        if abs(estimate - nearest) <= SIGNIFICANT * near / 2:
            estimate = nearest
    if comparison.region.strict_end_within(estimate, near):
        return 0.0, False
    widen, region = widening(comparison.region, sharpness), comparison.allowed(sharpness)
    verify, refute = ways(estimate, near, region, widen)
    return max(verify, refute, 0.0), refute > max(verify, 0.0)


def expecting(run: CaseRun, compiled: Compiled, plan: DrawPlan) -> DrawPlan:
    """The plan with the draws after which the verdict is expected."""
    targets = targets_of(run, compiled, plan)
    if targets is None:
        return plan
    known = plan.exact_means is not None
    expected, endless = targets.ends(partial(draws_for, run, compiled, plan), known=known)
    expected = max(expected, plan.fewest)
    return replace(plan, scales=targets.scales, expected=expected, endless=endless)


def first_order(run: CaseRun, plan: DrawPlan, place: int, target: float) -> int:
    """Draws after which one comparison is likely to be decided if its quantity is linear."""
    spread = plan.directions[place].spread
    alpha = run.alpha * budget.PLANNED / len(run.reading.comparisons)

    def decides(draws: int) -> bool:
        rows, block = rows_of(plan.program, draws)
        width = spread.half_width(rows, block, alpha) if rows else math.inf
        error = spread.standard_error(max(1, draws // plan.program.unit_draws))
        return width + budget.CHANCE * error <= target

    return fewest_that(decides, plan.fewest, ENDLESS)


def draws_for(run: CaseRun, compiled: Compiled, plan: DrawPlan, place: int, target: float) -> int:
    """Draws after which one comparison is likely to be decided."""
    comparison, direction = run.reading.comparisons[place], plan.directions[place]
    draws = first_order(run, plan, place, target)
    if direction.linear:
        return draws
    enclosed = enclosing(compiled, comparison, plan.centres)
    columns = compiled.functional.columns(comparison.looked_at)
    alpha = run.alpha * budget.PLANNED / len(run.reading.comparisons)
    while draws < ENDLESS:
        width = half_width(enclosed, plan, direction, columns, draws, alpha)
        units = draws // plan.program.unit_draws
        width += budget.CHANCE * direction.spread.standard_error(units)
        if width <= target:
            return draws
        more = raised(width / target, 2.0) if math.isfinite(width) and target > 0 else math.inf
        draws = int(min(ENDLESS, min(max(1.05, more), 16.0) * draws))
    return draws


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


def smallest_seen(
    run: CaseRun, compiled: Compiled, plan: DrawPlan, most: int, alpha: float
) -> float | None:
    """The smallest discrepancy that the last look, at `most` draws, sees; None where it sees none.

    A claim that is false by more is refuted with probability at least 1 − α: the estimate errs
    towards the claim by z(α) standard errors at most, and the interval must miss the claim even so.
    """
    operands, _ = compiled.functional.at_averages(plan.middle, plan.centres)
    scales = plan.scales or (0.0,) * len(run.reading.comparisons)
    normal = -float(special.ndtri(run.alpha))
    seen: list[float] = []
    each = zip(run.reading.comparisons, run.reading.of_each, scales, strict=True)
    for place, (comparison, part, scale) in enumerate(each):
        sharpness = sharpness_of(run, part, scale, operands)
        unit = unit_of(comparison, operands)
        direction = plan.directions[place]
        enclosed = enclosing(compiled, comparison, plan.centres)
        columns = compiled.functional.columns(comparison.looked_at)
        share = alpha / len(run.reading.comparisons)
        width = half_width(enclosed, plan, direction, columns, most, share)
        if not math.isfinite(width):
            return None
        width += normal * direction.spread.standard_error(max(1, most // plan.program.unit_draws))
        floor = region_floor(comparison.region, widening(comparison.region, sharpness / unit))
        seen.append(max(width, floor) * unit)
    return max(seen)


# ---- plan draws ----------------------------------------------------------------------------------


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
# A quantity whose remainder is no larger, as a share of its first order, is linear.
NO_REMAINDER = 1e-10
# Nets are tried where a plain run takes more work than this, in rough nanoseconds; the second
# number is for runs beyond the budget. They are used where they save this factor of work.
WORTHWHILE, WORTHWHILE_BEYOND = 5e8, 5e7
SAVING = 4
# A pilot that plans more than PILOT_SHARE times its own draws is made longer: by this factor each
# time, at most so often.
PILOT_GROWTH = 4
PILOT_STEPS = 3
PILOT_SHARE = 64
# Sizes of nets that are tried: a larger net varies less, but there are fewer of them.
NET_SIZES = (4, 8, 16, 32, 64, 128)
# Orders of the moments that say where means of nets are cut off. Cutting may move the mean by this
# share of the half-width that decides.
NET_ORDERS = (4.0, 6.0, 8.0, 11.0, 16.0, 22.0, 32.0, 45.0, 64.0)
CUT = 0.02
# Comparisons of a statement beyond which it is not drawn in nets.
MOST_COMPARISONS = 8
# The most draws of a case whose verdict would not be accepted: it shows an estimate, and no more.
UNCOUNTED = 2**22


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
    most = run.most_draws(compiled.program)
    if knowledge is None:
        return (yield from _by_pilot(run, compiled, None))
    if knowledge.exact is not None:
        plan = _exactly(run, compiled, knowledge.exact, knowledge.guarantee, most)
    elif compiled.program.whole:
        plan = yield from _by_pilot(run, compiled, knowledge, 0)
        plan = _of_calls(run, compiled, knowledge, plan)
        if plan.calls_enough:
            return plan
        bounds = knowledge.bounds(plan.centres)
        unseen = tuple(partial(bounds.moved_by, one.weights) for one in plan.directions)
        plan = yield from _by_pilot(run, compiled, None)
        return replace(plan, unseen=unseen)
    else:
        plan = yield from _by_pilot(run, compiled, knowledge)
    in_nets = yield from _plan_in_nets(run, compiled, knowledge, plan)
    return in_nets or plan


def _by_pilot(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge | None, steps: int = PILOT_STEPS
) -> Generator[Request, SpanSums, DrawPlan]:
    """The plan by a pilot, which is made longer at most `steps` times."""
    most = run.most_draws(compiled.program)
    if knowledge is None and not accepted(run, compiled):
        most = min(most, UNCOUNTED)
    blocked = _in_blocks if knowledge is not None else _in_long_blocks
    program = blocked(compiled.program.fitted(most, FEWEST_BLOCKS), 0)
    centres = run.centres(program, max(1, min(program.span_draws, CENTRE_DRAWS)))
    tally = Tally(program, centres)
    wanted = PILOT_BLOCKS * program.block_draws
    for step in range(steps + 1):
        yield from run.draw_until(tally, PILOT, min(wanted, most))
        run.refuse_if_nowhere_defined(tally)
        plan = _piloted(run, compiled, knowledge, tally, most)
        if tally.undefined:
            return plan
        plan = expecting(run, compiled, plan)
        wanted = min(PILOT_GROWTH * tally.draws, plan.expected // PILOT_SHARE, most // 16)
        enough = wanted < tally.draws + program.span_draws
        if enough or step == steps or run.out_of_time():
            break
    if knowledge is None:
        plan = _watched(run, compiled, plan)
    return replace(plan, program=blocked(plan.program, plan.expected))


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


def _plan_in_nets(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge, plain: DrawPlan
) -> Generator[Request, SpanSums, DrawPlan | None]:
    """The plan with draws from nets of the best size; None where that saves little.

    Pilots choose the size, and their draws are not used again.
    """
    few = len(run.reading.comparisons) <= MOST_COMPARISONS
    if run.settings.plain or run.confirms is not None or not (few and knowledge.has_variance):
        return None
    if plain.program.sampling != "plain" or not can_be_in_nets(compiled.program):
        return None
    targets = targets_of(run, compiled, plain, if_true=True)
    if targets is None or not _worthwhile(
        plain, max(_needed(run, compiled, plain, targets), plain.expected)
    ):
        return None
    seen: list[tuple[Compiled, DrawPlan]] = []
    for size in NET_SIZES:
        own = replace(compiled, program=in_nets(compiled.program, size), crossed=None)
        seen.append((own, (yield from _by_pilot(run, own, knowledge, 0))))
    # the largest nets know best where the quantities lie
    targets = targets_of(run, compiled, seen[-1][1], if_true=True)
    if targets is None:
        return None
    choices: list[tuple[float, Compiled, bool]] = []
    for own, plan in seen:
        netted = _of_net_means(knowledge, plan, targets)
        if netted is None:
            return None
        needed = _needed(run, own, netted, targets)
        choices.append((needed * own.program.cost, own, needed <= netted.most))
    least, best, decides = min(choices, key=lambda choice: choice[0])
    needed = _needed(run, compiled, plain, targets)
    saves = SAVING * least <= needed * plain.program.cost
    if not (decides and (saves or needed > plain.most)):  # plain draws refute more of what is false
        return None
    plan = yield from _by_pilot(run, best, knowledge)
    targets = targets_of(run, best, plan)
    netted = None if targets is None else _of_net_means(knowledge, plan, targets)
    if netted is None:
        return None
    netted = expecting(run, best, netted)
    return replace(netted, program=_in_blocks(netted.program, netted.expected))


def _of_calls(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge, piloted: DrawPlan
) -> DrawPlan:
    """The plan by means of calls, each of which counts as a net: its draws may be dependent."""
    targets = targets_of(run, compiled, piloted)
    plan = None if targets is None else _of_net_means(knowledge, piloted, targets)
    return piloted if plan is None else expecting(run, compiled, plan)


def _needed(run: CaseRun, compiled: Compiled, plan: DrawPlan, targets: Targets) -> int:
    """Draws after which the statement is likely to be settled."""
    return targets.settled(partial(draws_for, run, compiled, plan))


@np.errstate(all="ignore")  # what is too large for float64 is infinite
def _of_net_means(knowledge: Knowledge, piloted: DrawPlan, targets: Targets) -> DrawPlan | None:
    """The plan by the means of nets, which are cut off far out; None where these have no bounds."""
    pilot = piloted.pilot
    if pilot is None or pilot.undefined:
        return None
    rows, bounds = pilot.sums / pilot.block_values, knowledge.bounds(pilot.centres)
    directions: list[Direction] = []
    clips: list[Clip] = []
    for direction, width in zip(piloted.directions, targets.widths, strict=True):
        values = rows @ direction.weights
        centre = float(values.mean())
        sizes = {p: bounds.along(direction.weights, p) + abs(centre) for p in NET_ORDERS}
        guess = seen_variance(values, pilot.block_units)
        ends = bounds.ends_along(direction.weights)
        spread = NetSpread.of(centre, guess, ends, sizes, CUT * width)
        if spread is None:
            return None
        directions.append(replace(direction, spread=spread))
        clips.append(
            Clip(
                weights=tuple(map(float, direction.weights)),
                centre=centre,
                below=spread.below.far,
                above=spread.above.far,
            )
        )
    program = replace(piloted.program, clips=tuple(clips))
    return replace(piloted, program=program, directions=tuple(directions))


def _worthwhile(plain: DrawPlan, draws: int) -> bool:
    """Whether so many plain draws are worth looking for another way."""
    work = draws * plain.program.cost
    return work > WORTHWHILE or (draws > plain.most and work > WORTHWHILE_BEYOND)


def _exactly(
    run: CaseRun, compiled: Compiled, exact: ExactAverages, guarantee: Guarantee, most: int
) -> DrawPlan:
    """The plan where the model says the covariances of all that is averaged.

    Where draws may be crossed, the covariances also give the best length of a block, and say
    whether crossing saves draws at all.
    """
    plain = compiled.program.fitted(most, FEWEST_BLOCKS)
    plan = DrawPlan(
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
    lines = _lines(run, compiled, plan.middle, plan.centres)

    def known(program: Program) -> DrawPlan:
        directions = tuple(
            Direction(weights=weights, linear=linear, spread=exact.spread(weights, program))
            for weights, linear in lines
        )
        spreads = {
            column: exact.spread(_unit(len(exact.means), column), program) for column in exact.used
        }
        return replace(plan, program=program, directions=directions, spreads=spreads)

    whole = known(_in_blocks(plain, 0))
    targets = targets_of(run, compiled, whole)
    if targets is None:
        return replace(whole, endless=Reason.UNDEFINED_AT_AVERAGES)
    draws, _ = targets.ends(partial(first_order, run, whole), known=True)
    choices = [(draws * plain.cost, known(_in_blocks(plain, draws)))]
    if compiled.crossed is not None:
        crossed = compiled.crossed.program.fitted(most, FEWEST_BLOCKS)
        for one in map(known, _blockings(crossed)):
            needed, _ = targets.ends(partial(first_order, run, one), known=True)
            choices.append((needed * crossed.cost, one))
    _, best = min(choices, key=lambda choice: choice[0])
    return expecting(run, compiled, best)


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
        remainder = float((enclosed.above - enclosed.below).max())
        size = float(np.abs(enclosed.slopes).reshape(len(means)) @ enclosed.box)
        linear = remainder <= NO_REMAINDER * (size + float(np.abs(enclosed.value).max()))
        slopes = enclosed.slopes.reshape(len(means)) if linear else None
        if slopes is None:
            slopes = gradient(enclosing(compiled, comparison, centres), means)
        lines.append((slopes, linear))
    return lines


def _piloted(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge | None, pilot: Tally, most: int
) -> DrawPlan:
    """The plan from a pilot: the spread that it shows, and the bounds that the model gives."""
    rows = pilot.sums / pilot.block_values
    middle = rows.mean(axis=0)
    bounds = None if knowledge is None else knowledge.bounds(pilot.centres)

    @np.errstate(all="ignore")  # what is too large for float64 is infinite
    def spread(weights: Floats) -> Spread | LimitSpread:
        values = rows @ weights
        guess = seen_variance(values, pilot.block_units)
        if bounds is None:
            return LimitSpread(guess=guess)
        known = bounds.spread(weights, float(values.mean()), guess)
        return replace(known, pilot=pilot.block_units * len(rows))

    used = compiled.functional.columns(range(len(compiled.functional.operands)))
    return DrawPlan(
        program=compiled.program.fitted(most, FEWEST_BLOCKS),
        centres=pilot.centres,
        middle=middle,
        directions=tuple(
            Direction(weights=weights, linear=linear, spread=spread(weights))
            for weights, linear in _lines(run, compiled, middle, pilot.centres)
        ),
        spreads={column: spread(_unit(len(middle), column)) for column in used},
        guarantee=Guarantee.ASYMPTOTIC if knowledge is None else knowledge.guarantee,
        most=most,
        fewest=FEWEST_DRAWS,
        expected=FEWEST_DRAWS,
        pilot=pilot,
    )
