"""What is known of a case before the draws that it is judged by, and how many draws that takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.inference import budget
from dropcheck.inference.comparison import Comparison
from dropcheck.inference.enclosure import Enclosed, enclose
from dropcheck.inference.region import region_floor, ways, widening
from dropcheck.inference.sides import SIGNIFICANT, may_be_off
from dropcheck.inference.spread import NetSpread, Spread
from dropcheck.judging.case_run import CaseRun
from dropcheck.judging.look import (
    ENDLESS,
    scales_of,
    sharpness_of,
    unit_of,
)
from dropcheck.judging.rounding.allowance import LOOK_ROUNDING, enclosing, theta_of
from dropcheck.reasons import Reason
from dropcheck.records import record
from dropcheck.results import Guarantee
from dropcheck.simulation import MOST_ROWS, Compiled, Program, Tally
from dropcheck.vocabulary import special
from dropcheck.vocabulary.majorants.bounds_arithmetic import raised

# Share of a look's error that pays for the intervals of the single averages: these enter the
# quantity's own interval in second order alone.
BOX_SHARE = 0.1
# The most calls of code that are made for a verdict by calls.
MOST_CALLS = 40_000


@record(kw_only=True)
class Direction:
    """The combination of averages along which one comparison's quantity changes.

    `weights` has a factor for each average, [terms]; `spread` is that of the combination. A
    quantity that is `linear` in the averages is this combination, up to a constant.
    """

    weights: Floats
    spread: Spread | NetSpread
    linear: bool


@record(kw_only=True)
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
    fewest: int
    expected: int
    exact_means: Floats | None = None  # the averages themselves, where the model says them
    scales: tuple[float, ...] | None = None  # of each comparison
    pilot: Tally | None = None
    endless: Reason | None = None  # why no number of draws would do, where none does

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


@record
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
    widen = widening(comparison.region, sharpness)
    verify, refute = ways(estimate, near, comparison.region, widen)
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
