"""Claims about quantiles: by the law's own, and by counts at thresholds, with the sign test."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from dropcheck.analysis.bounds import of_operators
from dropcheck.analysis.strategy import Quantiles
from dropcheck.array_types import Floats
from dropcheck.inference import budget
from dropcheck.inference.intervals import FEWEST_BLOCKS
from dropcheck.inference.region import Comparison, decide, reach, region_floor, widening
from dropcheck.judging.case import (
    FEWEST_DRAWS,
    CaseRun,
    Finding,
    Judging,
    Outlook,
    Planned,
    calls_of,
    dependent,
)
from dropcheck.judging.exact import Known, found_exactly
from dropcheck.judging.look import ENDLESS, far_off, settling, sharpness_of
from dropcheck.judging.rounding import LOOK_ROUNDING, draws_to_look_at, lost
from dropcheck.language.graph import Kind, Value
from dropcheck.reasons import Reason
from dropcheck.results import Exact, Guarantee, Method, Verdict
from dropcheck.simulation import (
    MAIN,
    PILOT,
    AtThresholds,
    Program,
    Request,
    SpanSums,
    Tally,
    Threshold,
    compile_counts,
    rounding_of_values,
)
from dropcheck.vocabulary import special
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.majorants.rule import summed

# ---- pilot sample --------------------------------------------------------------------------------
#
# The pilot of a claim about quantiles: a sample of each quantity, by which the looks are planned.
#
# Its draws are not used again: the thresholds do not depend on what is counted.


# Draws of the pilot: a level is then known to a few thousandths.
SAMPLED_DRAWS = 16_384
# The most draws of one that is made longer: it is, where the claim is far narrower than its error.
MOST_SAMPLED = 2**19
# The share of draws within the size of a quantity about 0: for a normal law, its deviation.
WITHIN_SIZE = 0.6827


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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileTarget:
    """One comparison of a claim about quantiles, and how sharply it is looked at."""

    claimed: Comparison
    comparison: Comparison  # the same, with all that the claim allows in its region
    form: QuantileSum
    sides: tuple[QuantileSum, ...]  # of the statement, where a difference of two is judged
    scale: float
    asked: float
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
            region=self.claimed.region,
            entry=self.comparison.entry,
            estimate=value,
            interval=interval,
            scale=self.scale,
            sharpness=run.looked(self.scale, self.widen),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantilePilot:
    """What a pilot says: the sorted values of each operator's quantity, and the plan by them."""

    sample: PilotSample
    levels: tuple[float, ...]
    values: tuple[Floats, ...]
    targets: tuple[QuantileTarget, ...]
    expected: int
    most: int

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
    run: CaseRun,
    claim: Quantiles,
    sizes: Sequence[float],
    estimates: Sequence[float],
    operands: Sequence[Value] = (),
) -> tuple[QuantileTarget, ...]:
    """Every comparison with its scale, which is known or follows from the sizes of the quantities.

    Args:
        run: the run of the case.
        claim: its operators.
        sizes: the size of each operator's quantity.
        estimates: an estimate of each quantile.
        operands: those of the statement, where they are not as written.
    """
    operands = operands or run.prepared.lowered.operands
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
        asked = sharpness_of(run, part, scale, shown)
        widen = widening(comparison.region, asked)
        largest = max([scale, *map(abs, shown), *(size(at) for at in comparison.looked_at)])
        rounding = LOOK_ROUNDING * largest
        form = forms[comparison.side]
        sides = tuple(forms[at] for at in sorted((part.side, *part.ends)))
        if comparison.against is not None:
            form = _less(form, forms[comparison.against])
        targets.append(
            QuantileTarget(
                claimed=comparison,
                comparison=replace(comparison, region=comparison.allowed(asked)),
                form=form,
                sides=() if comparison.against is None else sides,
                scale=scale,
                asked=asked,
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


# ---- exact quantiles -----------------------------------------------------------------------------


# About two thirds of a quantity lie between these levels: its size where nothing is drawn.
SIZE_LEVELS = (0.16, 0.84)


def quantile_of_law(operator: Value, level: float | None = None) -> Exact | None:
    """The quantile of one draw of a law with fixed arguments; None for anything else.

    None too where the law of a whole number passes the level between two values: every number
    between them is a quantile.
    """
    quantity, *condition = operator.inputs
    law = quantity.law
    if condition or quantity.kind != Kind.DRAW or law is None or law.own_axes is not None:
        return None
    known = [one.known for one in quantity.inputs]
    if not all(isinstance(one, float) for one in known) and any(one is None for one in known):
        return None
    level = operator.level if level is None else level
    value = float(law.quantile(level, *known))
    # a level that equals a probability, but for rounding, has more than one quantile
    reached = [float(law.cdf(at, *known)) for at in (value, math.nextafter(value, -math.inf))]
    nearest = min(abs(one - level) for one in reached)
    if not math.isfinite(value) or (nearest < 1e-9 and law.discrete):
        return None
    return Exact(value, 0.0 if law.discrete else 1e-9 * abs(value))


def known_quantiles(run: CaseRun) -> Known | None:
    """What the model says of a claim about quantiles; None where it does not say enough."""
    claim, operands = run.prepared.analysed.strategy, run.prepared.analysed.lowered.operands
    assert isinstance(claim, Quantiles)
    known: dict[int, Exact | None] = {}
    sizes: list[float] = []
    for at, operator in enumerate(claim.quantities):
        own = quantile_of_law(operator)
        ends = [quantile_of_law(operator, level) for level in SIZE_LEVELS]
        if own is None:
            return None
        known[at] = own
        sizes.append(max(abs(one.value) for one in (own, *ends) if one is not None))
    estimates = [0.0 if one is None else one.value for one in known.values()]
    findings: list[Finding] = []
    values: list[Exact] = []
    off: list[float] = []
    for target in targets_of(run, claim, sizes, estimates, operands):
        exact = exact_value(target, known)
        if exact is None:
            return None
        found = found_exactly(run, target.claimed, exact, target.scale, target.asked)
        if found is None:
            return None
        findings.append(found)
        values.append(exact)
        off.append(far_off(exact.value, exact.value, target.claimed.region, target.widen))
    place = settling(run.reading, [one.verdict for one in findings], off)
    return Known(tuple(findings), tuple(values), place)


def exact_value(target: QuantileTarget, known: Mapping[int, Exact | None]) -> Exact | None:
    """The comparison's quantity, by the quantiles; None where one of them is not known."""
    value, error = target.form.constant, 0.0
    for factor, at in target.form.terms:
        own = known.get(at)
        if own is None:
            return None
        value, error = value + factor * own.value, error + abs(factor) * own.error
    return Exact(value, error)


# ---- order statistics ----------------------------------------------------------------------------
#
# Judge claims about quantiles: counts at thresholds, turned into intervals by the sign test.


# Thresholds about the pilot's quantile, in its standard errors: how far out, and at what distances.
FAR = 4.0
STEP, FINE_STEP = 0.5, 0.125
FARTHER = (6.0, 8.0, 12.0, 16.0, 24.0, 32.0)
# How many draws nearest to a quantile show what rounding does to it.
NEAREST = 16
# Blocks at the planned look: whole spans are drawn, of a few blocks each, and none in vain.
PLANNED_BLOCKS = 512


def by_order_statistics(run: CaseRun, claim: Quantiles, compiled: AtThresholds) -> Judging:
    """Judge a claim about quantiles; asks for spans of draws as it goes."""
    pilot = yield from piloted(run, claim, compiled)
    broken = run.undefined(pilot.sample, Method.ORDER_STATISTICS, Guarantee.EXACT)
    if broken is not None:
        return broken
    if pilot.empty:
        return _never(pilot.sample)
    if run.planning:
        raise Planned(_outlook(pilot, compiled.program))
    thresholds = thresholds_of(pilot)
    counted = compile_counts(claim.quantities, thresholds)
    program = counted.program.fitted(pilot.most, FEWEST_BLOCKS)
    tally = Tally(program.in_blocks(pilot.expected // PLANNED_BLOCKS))
    findings: list[Finding] = []
    place, rounding = 0, _Rounding(run, pilot, compiled)
    looks = run.looks(tally.program, expected=pilot.expected, fewest=FEWEST_DRAWS, most=pilot.most)
    for look in looks:
        yield from run.draw_until(tally, MAIN, look.draws)
        broken = run.undefined(tally, Method.ORDER_STATISTICS, Guarantee.EXACT)
        if broken is not None:
            return broken
        found = _look(run, claim, pilot, counted, thresholds, tally, look.alpha)
        findings = list(map(rounding.allowed_for, found, pilot.targets))
        off = list(map(_off, findings, pilot.targets))
        place = settling(run.reading, [one.verdict for one in findings], off)
        if (
            findings[place].verdict is not Verdict.UNDECIDED
            or findings[place].reason is Reason.LOST_DIGITS
            or run.out_of_time()
            or dependent(tally)
        ):
            break
    return findings[place]


def _outlook(pilot: QuantilePilot, program: Program) -> Outlook:
    def smallest(draws: int, alpha: float) -> float:
        return max(
            max(reach_of(pilot, one, draws, alpha), region_floor(one.comparison.region, one.widen))
            for one in pilot.targets
        )

    return Outlook(
        program=program,
        tally=pilot.sample,
        guarantee=Guarantee.EXACT,
        most=pilot.most,
        fewest=FEWEST_DRAWS,
        expected=pilot.expected,
        scale=max(one.scale for one in pilot.targets),
        smallest=smallest,
    )


class _Rounding:
    """How far rounding may move the quantiles of a case: draws show it when it is first needed."""

    def __init__(self, run: CaseRun, pilot: QuantilePilot, compiled: AtThresholds) -> None:
        self._run, self._pilot, self._compiled = run, pilot, compiled
        self._seen: dict[int, tuple[Array, Array]] | None = None

    def _room(self, target: QuantileTarget) -> float:
        """How far rounding may move the quantity of a comparison; 0 for code, which is as it is."""
        program, pilot = self._compiled.program, self._pilot
        if program.tests_code:
            return 0.0
        if self._seen is None:
            generator, draws = self._run.generator(PILOT, 0), draws_to_look_at(program)
            self._seen = rounding_of_values(program, generator, draws)
        room = 0.0
        for factor, at in target.form.terms:
            ((register, _),) = program.terms[self._compiled.columns[at][0]].factors
            values, off = self._seen[register]
            away = np.abs(values - at_level(pilot.values[at], pilot.levels[at]))
            room += abs(factor) * float(off[np.argsort(away)[:NEAREST]].max())
        return room

    def allowed_for(self, finding: Finding, target: QuantileTarget) -> Finding:
        """The finding, left open where rounding may change its verdict."""
        if finding.verdict is Verdict.UNDECIDED or not finding.interval:
            return finding
        region, (low, high), room = target.comparison.region, finding.interval, self._room(target)
        rounding = 0.0 if region.low_open or region.high_open else target.rounding
        if decide(low - room, high + room, region, target.widen, rounding) is finding.verdict:
            return finding
        middle = low / 2 + high / 2
        still = decide(middle - room, middle + room, region, target.widen, rounding)
        if still is Verdict.UNDECIDED:
            return finding.left_open(lost(room, 0.0))
        return finding.left_open(Reason.TOO_WIDE.explain())


def thresholds_of(pilot: QuantilePilot) -> list[list[Threshold]]:
    """The thresholds of each quantity: where a claim about it is decided, and near its quantile."""
    own: list[set[Threshold]] = [set() for _ in pilot.levels]
    several = any(len(target.form.terms) > 1 for target in pilot.targets)
    for target in pilot.targets:
        if len(target.form.terms) == 1:
            ((factor, at),) = target.form.terms
            own[at] |= _deciding(target, factor)
    for at, (values, level) in enumerate(zip(pilot.values, pilot.levels, strict=True)):
        own[at] |= _beside(values, level, FINE_STEP if several else STEP)
    return list(map(sorted, own))


def _deciding(target: QuantileTarget, factor: float) -> set[Threshold]:
    """The thresholds at which a claim about one quantity is decided.

    Counts of u < t show that the quantile lies at or above t, counts of u <= t that it lies above.
    """
    region, widen, rounding = target.comparison.region, target.widen, target.rounding
    rising = factor > 0
    ends: set[tuple[float, bool]] = set()  # of the quantity itself, and whether they are closed
    if math.isfinite(region.low):
        if region.low_open:
            ends |= {(region.low + 2 * rounding, True), (region.low + rounding / 2, True)}
        else:
            ends |= {(region.low - widen, False), (region.low - 2 * rounding, False)}
    if math.isfinite(region.high):
        if region.high_open:
            ends |= {(region.high - 2 * rounding, False), (region.high - rounding / 2, False)}
        else:
            ends |= {(region.high + widen, True), (region.high + 2 * rounding, True)}
    return {
        Threshold((end - target.form.constant) / factor, closed is rising) for end, closed in ends
    }


def _beside(values: Floats, level: float, step: float) -> set[Threshold]:
    """Values of the pilot near its quantile; a repeated one is a threshold on both sides."""
    error = math.sqrt(level * (1 - level) / len(values))
    count = round(FAR / step)
    steps = [place * step for place in range(-count, count + 1)]
    thresholds: set[Threshold] = set()
    for place in (*steps, *FARTHER, *(-far for far in FARTHER)):
        value = at_level(values, level + place * error)
        first, last = np.searchsorted(values, [value, math.nextafter(value, math.inf)])
        thresholds.add(Threshold(value, closed=True))
        if last - first > 1:
            thresholds.add(Threshold(value, closed=False))
    return thresholds


def _look(
    run: CaseRun,
    claim: Quantiles,
    pilot: QuantilePilot,
    counted: AtThresholds,
    thresholds: Sequence[Sequence[Threshold]],
    tally: Tally,
    alpha: float,
) -> list[Finding]:
    """Every comparison judged by the counts so far."""
    totals = tally.totals
    counts = [totals[list(own)] for own in counted.columns]
    seen = [
        tally.drawn if given is None else round(float(totals[given])) for given in counted.given
    ]
    levels = pilot.levels
    estimates = [
        estimate(thresholds[at], counts[at], seen[at], level) for at, level in enumerate(levels)
    ]
    share, calls = alpha / len(pilot.targets), calls_of(tally)
    worth = [
        calls.of(calls.counts[:, own], None if given is None else calls.counts[:, given]).effects
        for own, given in zip(map(list, counted.columns), counted.given, strict=True)
    ]

    def ends(at: int, own: float) -> tuple[float, float]:
        drawn = seen[at] / worth[at]
        return bounds(thresholds[at], counts[at] / worth[at], drawn, levels[at], own)

    findings: list[Finding] = []
    for target in pilot.targets:
        form = target.form
        each = share / max(len(form.terms), 1)
        low, high = form.interval([ends(at, each) for at in range(len(levels))])
        region = target.comparison.region
        verdict = decide(low, high, region, target.widen, target.rounding)
        value = form.value(estimates)
        error = (high - low) / 2 / NormalDist().inv_cdf(1 - max(each / 2, 1e-15))
        shown = value if math.isfinite(value) else _middle(low, high)
        needed = _more(run, pilot, target, estimates, tally, verdict)
        why = None
        if verdict is Verdict.UNDECIDED:
            reason = Reason.AT_THE_EDGE if needed == math.inf else Reason.TOO_WIDE
            why = (Reason.NOT_INDEPENDENT if dependent(tally) else reason).explain()
        findings.append(
            replace(
                target.finding(run, Method.ORDER_STATISTICS, verdict, shown, (low, high)),
                standard_error=error if math.isfinite(error) else None,
                sides=tuple(side.value(estimates) for side in target.sides) or None,
                exact=_exact(claim, target),
                draws=tally.drawn,
                blocks=tally.drawn // tally.block_draws,
                seconds=tally.seconds,
                explanation=why,
                more_draws=needed,
            )
        )
    return findings


def _more(
    run: CaseRun,
    pilot: QuantilePilot,
    target: QuantileTarget,
    estimates: Sequence[float],
    tally: Tally,
    verdict: Verdict,
) -> float | None:
    """Draws that an undecided comparison is likely to need beyond those made."""
    if verdict is not Verdict.UNDECIDED:
        return None
    value = target.form.value(estimates)
    needed = draws_for(run, pilot, target, value if math.isfinite(value) else None)
    if needed >= ENDLESS:
        return math.inf
    return max(budget.GROWTH * needed, 1.5 * tally.drawn) - tally.drawn + tally.program.span_draws


def _exact(claim: Quantiles, target: QuantileTarget) -> Exact | None:
    """The exact value of the quantity, where it is made of single draws of laws."""
    return exact_value(
        target, {at: quantile_of_law(claim.quantities[at]) for _, at in target.form.terms}
    )


def _off(finding: Finding, target: QuantileTarget) -> float:
    value = finding.estimate
    low, high = finding.interval or (value, value)
    if finding.verdict is Verdict.REFUTED:
        low, high = value, value
    if low is None or high is None:
        return 0.0
    return far_off(low, high, target.comparison.region, target.widen)


def _middle(low: float, high: float) -> float | None:
    """The estimate where no threshold gives one: the middle of a finite interval."""
    if math.isfinite(low) and math.isfinite(high):
        return (low + high) / 2
    return None


def _never(sample: Tally) -> Finding:
    return Finding(
        verdict=Verdict.UNDECIDED,
        method=Method.ORDER_STATISTICS,
        guarantee=Guarantee.EXACT,
        draws=sample.drawn,
        blocks=0,
        seconds=sample.seconds,
        explanation=Reason.CONDITION_NEVER_TRUE.explain(draws=sample.drawn),
    )


# ---- intervals from counts -----------------------------------------------------------------------


def bounds(
    thresholds: Sequence[Threshold],
    counts: Floats,
    seen: float | Floats,
    level: float,
    alpha: float,
) -> tuple[float, float]:
    """An interval that holds all quantiles of a level with probability at least 1 - alpha.

    A quantile of level p is any q with P(u < q) <= p <= P(u <= q). It is at most t only if
    P(u <= t) is at least p, and larger than t only if it is not. So inverting the sign test gives
    an interval between order statistics (David and Nagaraja 2003, "Order Statistics", 3rd edition,
    section 7.1; Conover 1999, "Practical Nonparametric Statistics", section 3.2), for any law, with
    atoms or without a density.

    The events below rising thresholds contain one another, and so do their counts: an end is wrong
    only if the count at the one threshold next to the quantile is. So each end costs one tail,
    for any number of thresholds.

    Args:
        thresholds: rising.
        counts: in how many draws each event holds, [thresholds].
        seen: the number of draws, one for all thresholds or one for each.
        level: of the quantile, between 0 and 1.
        alpha: the error, half of it at each end.

    >>> ends = [Threshold(float(t), True) for t in range(1, 101)]
    >>> bounds(ends, np.arange(1.0, 101.0), 100, 0.5, 0.05)
    (39.00000000000001, 61.0)
    """
    low, high = -math.inf, math.inf
    if not np.all(seen) or not len(thresholds):
        return low, high
    tails = _tails(counts, seen, level)
    for place in np.flatnonzero(tails[0] <= alpha / 2).tolist():
        below = thresholds[place]  # P(at or below) < level
        low = math.nextafter(below.at, math.inf) if below.closed else below.at
    for place in np.flatnonzero(tails[1] <= alpha / 2)[::-1].tolist():
        above = thresholds[place]  # P(at or below) >= level
        high = above.at if above.closed else math.nextafter(above.at, -math.inf)
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


def estimate(thresholds: Sequence[Threshold], counts: Floats, seen: int, level: float) -> float:
    """A quantile between the thresholds where its level is passed; NaN where none passes it.

    Where the level is passed between below a number and at it, the quantile is that number.

    >>> ends = [Threshold(1.0, True), Threshold(2.0, False), Threshold(2.0, True)]
    >>> estimate(ends, np.array([10.0, 30.0, 70.0]), 100, 0.5)
    2.0
    >>> estimate(ends, np.array([10.0, 30.0, 70.0]), 100, 0.2)
    1.5
    """
    if not seen or not len(thresholds):
        return math.nan
    shares = np.maximum.accumulate(np.asarray(counts, dtype=np.float64)) / seen
    place = int(np.searchsorted(shares, level))
    if place == len(shares) or (place == 0 and shares[0] > level):
        return math.nan
    at, before = thresholds[place].at, thresholds[max(place - 1, 0)].at
    rise = shares[place] - shares[max(place - 1, 0)]
    if at == before or rise <= 0:
        return at
    return before + (at - before) * float((level - shares[max(place - 1, 0)]) / rise)
