"""The plan of a case's draws: by the model alone, or by a pilot and bounds from the model."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import partial

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.inference.enclosure import gradient
from dropcheck.inference.spread import NetSpread, Spread, seen_variance
from dropcheck.judging.case_run import FEWEST_DRAWS, CaseRun
from dropcheck.judging.draw_plan import (
    Direction,
    DrawPlan,
    Targets,
    draws_for,
    expecting,
    first_order,
    targets_of,
)
from dropcheck.judging.knowledge import ExactAverages, Knowledge
from dropcheck.judging.rare_events import in_strata
from dropcheck.judging.rounding.allowance import enclosing
from dropcheck.reasons import Reason
from dropcheck.results import Guarantee
from dropcheck.simulation import (
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
from dropcheck.vocabulary.enclosures import over

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
# Strata and nets are tried where a plain run takes more work than this, in rough nanoseconds; the
# second number is for runs beyond the budget. They are used where they save this factor of work.
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


def plan_draws(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge
) -> Generator[Request, SpanSums, DrawPlan]:
    """Plan the draws that a case is judged by; asks for a pilot where one is needed."""
    most = run.most_draws(compiled.program)
    if knowledge.exact is not None:
        plan = _exactly(run, compiled, knowledge.exact, knowledge.guarantee, most)
        in_strata = plan_in_strata(run, compiled, knowledge, plan)
        if in_strata is not None:
            return in_strata
    else:
        if not knowledge.has_variance:
            in_strata_alone = plan_in_strata(run, compiled, knowledge)
            if in_strata_alone is not None:
                return in_strata_alone
        if compiled.program.whole:
            plan = yield from _by_pilot(run, compiled, knowledge, 0)
            return _of_calls(run, compiled, knowledge, plan)
        plan = yield from _by_pilot(run, compiled, knowledge)
    in_nets = yield from _plan_in_nets(run, compiled, knowledge, plan)
    return in_nets or plan


def _by_pilot(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge, steps: int = PILOT_STEPS
) -> Generator[Request, SpanSums, DrawPlan]:
    """The plan by a pilot, which is made longer at most `steps` times."""
    most = run.most_draws(compiled.program)
    program = _in_blocks(compiled.program.fitted(most, FEWEST_BLOCKS), 0)
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
    return replace(plan, program=_in_blocks(plan.program, plan.expected))


def _plan_in_nets(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge, plain: DrawPlan
) -> Generator[Request, SpanSums, DrawPlan | None]:
    """The plan with draws from nets of the best size; None where that saves little.

    Pilots choose the size, and their draws are not used again.
    """
    few = len(run.reading.comparisons) <= MOST_COMPARISONS
    if run.settings.plain or not (few and knowledge.has_variance):
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


def plan_in_strata(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge, plain: DrawPlan | None = None
) -> DrawPlan | None:
    """The plan with one draw from strata of its values; None where that saves little.

    Without a plain plan to compare it with, it is None where it would not decide.
    """
    if plain is not None and not (
        plain.program.sampling == "plain" and _worthwhile(plain, plain.expected)
    ):
        return None

    def lines(means: Floats, centres: Floats) -> Floats:
        return np.array([weights for weights, _ in _lines(run, compiled, means, centres)])

    strata = in_strata(run.prepared, compiled, knowledge, lines)
    if strata is None:
        return None
    most = run.most_draws(strata.compiled.program)
    # the weights are bounded: what is bounded stays so
    plan = _exactly(run, strata.compiled, strata.exact, knowledge.guarantee, most)
    if plain is None:
        return plan if plan.endless is None else None
    less = SAVING * plan.expected * plan.program.cost
    return plan if less < plain.expected * plain.program.cost else None


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
    if compiled.crossed is not None and compiled.crossed.program.sums_about(exact.centres):
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
) -> DrawPlan:
    """The plan from a pilot: the spread that it shows, and the bounds that the model gives."""
    rows = pilot.sums / pilot.block_values
    middle = rows.mean(axis=0)
    bounds = knowledge.bounds(pilot.centres)

    @np.errstate(all="ignore")  # what is too large for float64 is infinite
    def spread(weights: Floats) -> Spread:
        values = rows @ weights
        guess = seen_variance(values, pilot.block_units)
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
        guarantee=knowledge.guarantee,
        most=most,
        fewest=FEWEST_DRAWS,
        expected=FEWEST_DRAWS,
        pilot=pilot,
    )
