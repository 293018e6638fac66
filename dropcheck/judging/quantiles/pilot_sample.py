"""The pilot of a claim about quantiles: a sample of each quantity, by which the looks are planned.

Its draws are not used again: the thresholds do not depend on what is counted.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from dropcheck.analysis.linear import of_operators
from dropcheck.analysis.strategy import Quantiles
from dropcheck.array_types import Floats
from dropcheck.inference import budget
from dropcheck.inference.comparison import Comparison
from dropcheck.inference.interval import FEWEST_BLOCKS
from dropcheck.inference.region import reach, widening
from dropcheck.judging.case_run import CaseRun, Finding
from dropcheck.judging.look import ENDLESS, sharpness_of
from dropcheck.judging.rounding.allowance import LOOK_ROUNDING
from dropcheck.records import record
from dropcheck.results import Guarantee, Method, Verdict
from dropcheck.simulation import PILOT, AtThresholds, Request, SpanSums, Tally
from dropcheck.vocabulary.majorants.bounds_arithmetic import summed

# Draws of the pilot: a level is then known to a few thousandths.
SAMPLED_DRAWS = 16_384
# The most draws of one that is made longer: it is, where the claim is far narrower than its error.
MOST_SAMPLED = 2**19
# The share of draws within the size of a quantity about 0: for a normal law, its deviation.
WITHIN_SIZE = 0.6827
# A share of a sample is practically never more standard errors than this away from its probability.
UNSURE = 5.0


class PilotSample(Tally):
    """A tally that keeps the sums of all blocks: the values, as a block is one draw."""

    def __init__(self, compiled: AtThresholds) -> None:
        super().__init__(compiled.program)
        self._spans: list[Floats] = []

    def add(self, spans: SpanSums) -> None:
        """Take in the next spans, in order."""
        self.spans += len(spans.sums) * self.program.block_draws // self.program.span_draws
        self.seconds += spans.seconds
        self.undefined += spans.undefined
        if self.first_undefined is None:
            self.first_undefined = spans.first_undefined
        self._spans.append(spans.sums)

    def column(self, column: int, given: int | None) -> Floats:
        """The sorted values of one column, in the draws in which its condition holds."""
        rows = np.concatenate(self._spans)
        kept = rows[:, column] if given is None else rows[rows[:, given] > 0, column]
        return np.sort(kept)


@record
class QuantileSum:
    """A comparison's quantity: a constant plus factors times the quantiles at their places."""

    terms: tuple[tuple[float, int], ...]
    constant: float

    def value(self, quantiles: Sequence[float]) -> float:
        """The value of the sum, from the quantiles by their places."""
        return summed([factor * quantiles[at] for factor, at in self.terms]) + self.constant

    def interval(self, ends: Sequence[tuple[float, float]]) -> tuple[float, float]:
        """An interval for the sum, from intervals for the quantiles."""
        low = [min(factor * ends[at][0], factor * ends[at][1]) for factor, at in self.terms]
        high = [max(factor * ends[at][0], factor * ends[at][1]) for factor, at in self.terms]
        return sum(low) + self.constant, sum(high) + self.constant


@record(kw_only=True)
class QuantileTarget:
    """One comparison of a claim about quantiles, and how sharply it is looked at."""

    comparison: Comparison
    form: QuantileSum
    sides: tuple[QuantileSum, ...]  # of the statement, where a difference of two is judged
    scale: float
    widen: float
    rounding: float

    def finding(
        self,
        run: CaseRun,
        method: Method,
        verdict: Verdict,
        value: float | None,
        interval: tuple[float, float],
    ) -> Finding:
        """The finding on this comparison, by draws or without."""
        return Finding(
            verdict=verdict,
            method=method,
            guarantee=Guarantee.EXACT,
            quantity=self.comparison.measures,
            region=self.comparison.region,
            entry=self.comparison.entry,
            estimate=value,
            interval=interval,
            scale=self.scale,
            sharpness=run.looked(self.scale, self.widen),
        )


@record(kw_only=True)
class QuantilePilot:
    """What a pilot says: the sorted values of each operator's quantity, and the plan by them."""

    sample: PilotSample
    levels: tuple[float, ...]
    values: tuple[Floats, ...]
    targets: tuple[QuantileTarget, ...]
    expected: int
    most: int

    @property
    def has_gap(self) -> bool:
        """Whether a level may be passed in a wide gap between values: all numbers in it may do."""
        return any(
            abs(factor) * _widest_gap(self.values[at], self.levels[at]) > target.widen
            for target in self.targets
            for factor, at in target.form.terms
        )

    @property
    def empty(self) -> bool:
        """Whether some condition was true in no draw."""
        return not all(map(len, self.values))


def piloted(
    run: CaseRun, claim: Quantiles, compiled: AtThresholds
) -> Generator[Request, SpanSums, QuantilePilot]:
    """Draw the pilot, by which the looks and the thresholds are planned.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    most = run.most_draws(compiled.program)
    program = compiled.program.fitted(most, FEWEST_BLOCKS).in_blocks_of(1)
    sample = PilotSample(AtThresholds(program, compiled.columns, compiled.given))
    wanted = min(SAMPLED_DRAWS, most)
    while True:
        yield from run.draw_until(sample, PILOT, wanted)
        run.refuse_if_nowhere_defined(sample)
        pilot = _looked_at(run, claim, compiled, sample, most)
        if sample.undefined or pilot.empty or run.out_of_time():
            return pilot
        enough = min(pilot.expected // 64, MOST_SAMPLED, most // 16)
        if enough < 2 * sample.drawn:
            return pilot
        wanted = enough


def _looked_at(
    run: CaseRun, claim: Quantiles, compiled: AtThresholds, sample: PilotSample, most: int
) -> QuantilePilot:
    levels = tuple(operator.level for operator in claim.quantities)
    columns = zip(compiled.columns, compiled.given, strict=True)
    values = tuple(sample.column(own, given) for (own,), given in columns)
    pilot = QuantilePilot(
        sample=sample, levels=levels, values=values, targets=(), expected=1, most=most
    )
    if sample.undefined or pilot.empty:
        return pilot
    sizes = [_size(one) for one in values]
    estimates = [at_level(one, level) for one, level in zip(values, levels, strict=True)]
    pilot = replace(pilot, targets=targets_of(run, claim, sizes, estimates))
    needed = (draws_for(run, pilot, target) for target in pilot.targets)
    return replace(pilot, expected=max(needed, default=1))


def targets_of(
    run: CaseRun, claim: Quantiles, sizes: Sequence[float], estimates: Sequence[float]
) -> tuple[QuantileTarget, ...]:
    """Every comparison with its scale, which is known or follows from the sizes of the quantities.

    Args:
        run: the run of the case.
        claim: its operators.
        sizes: the size of each operator's quantity.
        estimates: an estimate of each quantile.
    """
    operands = run.prepared.lowered.operands
    places = {id(operator): place for place, operator in enumerate(claim.quantities)}
    forms: dict[int, QuantileSum] = {}
    for at, operand in enumerate(operands):
        linear = of_operators(operand)
        if linear is None:
            raise AssertionError("quantiles stand in no sum")
        terms = tuple((factor, places[id(value)]) for factor, value in linear.terms if factor)
        forms[at] = QuantileSum(terms, linear.constant)
    shown = [forms[at].value(estimates) for at in range(len(operands))]

    def size(at: int) -> float:
        form = forms[at]
        return sum(abs(factor) * sizes[place] for factor, place in form.terms) + abs(form.constant)

    targets: list[QuantileTarget] = []
    for comparison, part in zip(run.reading.comparisons, run.reading.of_each, strict=True):
        scale = part.known_scale or max(size(end) for end in part.ends) or size(part.side)
        widen = widening(comparison.region, sharpness_of(run, part, scale, shown))
        largest = max([scale, *map(abs, shown), *(size(at) for at in comparison.looked_at)])
        rounding = LOOK_ROUNDING * largest
        form = forms[comparison.side]
        sides = tuple(forms[at] for at in sorted((part.side, *part.ends)))
        if comparison.against is not None:
            form = _less(form, forms[comparison.against])
        targets.append(
            QuantileTarget(
                comparison=comparison,
                form=form,
                sides=() if comparison.against is None else sides,
                scale=scale,
                widen=widen,
                rounding=min(rounding, widen / 1000) if widen > 0 else rounding,
            )
        )
    return tuple(targets)


def _less(first: QuantileSum, second: QuantileSum) -> QuantileSum:
    factors: dict[int, float] = {}
    for sign, form in ((1.0, first), (-1.0, second)):
        for factor, place in form.terms:
            factors[place] = factors.get(place, 0.0) + sign * factor
    terms = tuple((factor, place) for place, factor in factors.items() if factor)
    return QuantileSum(terms, first.constant - second.constant)


def at_level(values: Floats, level: float) -> float:
    """The quantile of a sorted sample."""
    place = min(max(math.ceil(level * len(values)) - 1, 0), len(values) - 1)
    return float(values[place])


def _widest_gap(values: Floats, level: float) -> float:
    """The widest gap between sorted values whose levels the sample cannot tell from this one."""
    count = len(values)
    give = UNSURE * math.sqrt(level * (1 - level) / count)
    first, last = (round(count * (level + sign * give)) for sign in (-1, 1))
    near = values[max(first - 1, 0) : last + 2]
    return float(np.diff(near).max(initial=0.0))


def _size(values: Floats) -> float:
    sizes = np.sort(np.abs(values))
    return at_level(sizes, WITHIN_SIZE) or float(sizes[-1])


def draws_for(
    run: CaseRun, pilot: QuantilePilot, target: QuantileTarget, estimate: float | None = None
) -> int:
    """Draws after which one comparison is likely to be decided, as the pilot shows its quantities.

    `estimate` is that of its quantity, where more draws than the pilot's give one.
    """
    form, region = target.form, target.comparison.region
    quantiles = [at_level(pilot.values[k], level) for k, level in enumerate(pilot.levels)]
    shown = form.value(quantiles)
    near = 2 * sum(
        abs(factor) * _error(pilot.values[at], pilot.levels[at]) for factor, at in form.terms
    )
    near = near if estimate is None else 0.0
    estimate = shown if estimate is None else estimate
    if region.strict_end_within(estimate, near) and near > 0:
        return ENDLESS
    half = reach(estimate, near, region, target.widen)
    alpha = run.alpha * budget.PLANNED / len(run.reading.comparisons) / max(len(form.terms), 1)
    quantile = NormalDist().inv_cdf(1 - max(alpha / 2, 1e-15)) + budget.CHANCE
    needed = 1.0
    for factor, at in form.terms:
        values, level = pilot.values[at], pilot.levels[at]
        give = half / len(form.terms) / abs(factor)
        above = np.searchsorted(values, quantiles[at] + give, side="right") / len(values) - level
        under = level - np.searchsorted(values, quantiles[at] - give, side="left") / len(values)
        margin = min(above, under)
        if not margin > 0:
            return ENDLESS
        tails = math.log(2 / alpha) / -math.log1p(-min(level, 1 - level))
        kept = len(values) / pilot.sample.drawn  # where a condition holds
        spread = quantile**2 * (level / margin) * ((1 - level) / margin)
        needed = max(needed, max(spread, 1.2 * tails) / kept)
    return int(min(needed, ENDLESS))


def reach_of(pilot: QuantilePilot, target: QuantileTarget, draws: int, alpha: float) -> float:
    """The smallest error of a comparison's quantity that so many draws are almost sure to show."""
    terms = max(len(target.form.terms), 1)
    share = alpha / len(pilot.targets) / terms
    normal = NormalDist()
    errors = normal.inv_cdf(1 - max(share / 2, 1e-15)) + normal.inv_cdf(1 - max(alpha, 1e-15))
    seen = 0.0
    for factor, at in target.form.terms:
        values, level = pilot.values[at], pilot.levels[at]
        kept = draws * len(values) / pilot.sample.drawn
        give = errors * math.sqrt(level * (1 - level) / kept)
        middle = at_level(values, level)
        ends = at_level(values, level - give), at_level(values, level + give)
        seen += abs(factor) * max(middle - ends[0], ends[1] - middle)
    return seen


def _error(values: Floats, level: float) -> float:
    """The standard error of the quantile of a sorted sample, in the unit of its values."""
    error = math.sqrt(level * (1 - level) / len(values))
    low, high = (at_level(values, level + sign * error) for sign in (-1, 1))
    return (high - low) / 2
