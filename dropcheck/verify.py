"""The program: for each case draw, estimate, decide, until decided.

A case is judged by the strongest means that its statement allows: arithmetic where nothing is
random, exact counts for a claim of certainty or one bare probability, block means otherwise.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dropcheck.claims.registry import Case, Registry
from dropcheck.claims.selection import repeat_command
from dropcheck.errors import DropcheckError, Problem
from dropcheck.inference import budget
from dropcheck.inference.binomial import clopper_pearson, upper_bound
from dropcheck.inference.comparison import Comparison, Reading, read_statement
from dropcheck.inference.interval import FEWEST_BLOCKS, RAREST_SEEN, Interval, estimate_interval
from dropcheck.inference.region import Region, decide, reach, widening
from dropcheck.language.cases import LoweredCase, lower_case, parameter_text, parse_claim
from dropcheck.language.graph import Kind, Value
from dropcheck.language.tails import moment_order
from dropcheck.results import CaseResult, Guarantee, Outcome, Settings, Verdict
from dropcheck.simulation.arrays import ArrayFolder
from dropcheck.simulation.blocks import Request, Tally
from dropcheck.simulation.compile import (
    Certainty,
    Compiled,
    Proportion,
    certainty,
    compile_case,
    proportion,
)
from dropcheck.simulation.functional import means_of
from dropcheck.simulation.program import Program, SpanSums
from dropcheck.simulation.schedule import Judge, default_threads, drive
from dropcheck.simulation.streams import MAIN, PILOT, stream

Floats = npt.NDArray[np.float64]

# Work that a case may cost by default, in rough nanoseconds on one core. In draws, not seconds, so
# that the same file has the same verdicts on any machine.
DEFAULT_WORK = 2e10
MOST_DRAWS_BY_DEFAULT = 1e9
# Spans asked for at a time: bounds what is held before it is tallied.
SPANS_AT_ONCE = 2048
PILOT_BLOCKS = 64
PILOT_DRAWS = 2048
FEWEST_DRAWS = 1024
# Sightings of a model's rarest known outcome that must be expected before a normal limit is used.
RARE_SIGHTINGS = 64
# Differences below this share of the largest magnitude met are rounding.
ROUNDING = 1e-12


def verify_cases(
    cases: Sequence[Case], settings: Settings, registry: Registry
) -> Iterator[CaseResult]:
    """Judge cases, each yielded as soon as all before it are done.

    An interruption yields what is finished before it goes on.

    Raises:
        DropcheckError: after the last case, with what only a run could find: a quantity that is
            undefined on every draw, an argument drawn out of its law's domain.
    """
    alpha = budget.case_alpha(settings.alpha, len(registry.expand()), len(cases))
    threads = settings.threads or default_threads()
    judges = [_starter(case, settings, alpha, registry) for case in cases]
    held: dict[int, CaseResult | DropcheckError] = {}
    problems: list[Problem] = []
    following = 0
    interrupted: KeyboardInterrupt | None = None
    try:
        for index, result in drive(judges, threads):
            held[index] = result
            while following in held:
                found = held.pop(following)
                following += 1
                if isinstance(found, DropcheckError):
                    problems.extend(found.problems)
                else:
                    yield found
    except KeyboardInterrupt as caught:
        interrupted = caught
    for index in sorted(held):
        found = held[index]
        if not isinstance(found, DropcheckError):
            yield found
    if interrupted is not None:
        raise interrupted
    if problems:
        raise DropcheckError(problems)


def _starter(
    case: Case, settings: Settings, alpha: float, registry: Registry
) -> Callable[[], Judge[CaseResult | DropcheckError]]:
    def start() -> Judge[CaseResult | DropcheckError]:
        try:
            return (yield from judge(case, settings, alpha, registry))
        except DropcheckError as error:
            return error

    return start


def judge(
    case: Case, settings: Settings, alpha: float, registry: Registry
) -> Generator[Request, SpanSums, CaseResult]:
    """One case, from its text to its result; asks for spans of draws as it goes."""
    started = time.perf_counter()
    folder = ArrayFolder()
    lowered = lower_case(parse_claim(case.claim), case.parameters, folder)
    trial = Trial(case, settings, alpha, registry, lowered, started)
    if not any(value.random for value in _quantities(lowered)):
        return _by_arithmetic(trial)
    missing = _missing_moment(lowered, folder)
    if missing is not None:
        return trial.result(Finding(Verdict.INCONCLUSIVE, reason=missing))
    certain = certainty(lowered)
    if certain is not None:
        return (yield from _by_counterexample(trial, certain))
    single = proportion(lowered)
    if single is not None:
        return (yield from _by_proportion(trial, single))
    return (yield from _by_block_means(trial, compile_case(lowered)))


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of a case, before it is dressed as a result."""

    verdict: Verdict
    estimate: float | None = None
    interval: tuple[float, float] | None = None
    standard_error: float | None = None
    region: Region | None = None
    scale: float | None = None
    draws: int = 0
    blocks: int = 0
    guarantee: Guarantee = Guarantee.ASYMPTOTIC
    reason: str | None = None
    more_draws: float | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """A case under trial, and what it is tried with."""

    case: Case
    settings: Settings
    alpha: float
    registry: Registry
    lowered: LoweredCase
    started: float

    @property
    def reading(self) -> Reading:
        """The statement as quantities and regions."""
        return read_statement(self.lowered, self.case.claim.tolerance)

    @property
    def resolution(self) -> float:
        """How sharply to look, relative to the scale."""
        asked = self.settings.resolution
        return self.case.claim.resolution if asked is None else asked

    def sharpness(self, scale: float) -> float:
        """How sharply to look, as a number."""
        within = self.case.claim.within
        if within is not None and self.settings.resolution is None:
            return within
        return self.resolution * scale

    def most_draws(self, program: Program) -> int:
        """The end of the case's budget."""
        if self.settings.max_draws is not None:
            return self.settings.max_draws
        return max(1, int(min(MOST_DRAWS_BY_DEFAULT, DEFAULT_WORK / program.cost)))

    def out_of_time(self) -> bool:
        """Whether the case has had the time that it may take."""
        limit = self.settings.time_limit
        return limit is not None and time.perf_counter() - self.started >= limit

    def spans(
        self, program: Program, purpose: int, centres: Floats, first: int, count: int
    ) -> Request:
        """A request for spans of this case's draws."""
        return Request(
            program, self.settings.seed, self.case.key, purpose, centres, first, count
        )

    def result(self, found: Finding) -> CaseResult:
        """The finding as the result that reports are made from."""
        claim = self.case.claim
        expected = Verdict(claim.expect)
        if found.verdict is Verdict.INCONCLUSIVE:
            outcome = Outcome.UNDECIDED
        else:
            outcome = Outcome.PASS if found.verdict is expected else Outcome.FAIL
        more = found.more_draws
        return CaseResult(
            claim=claim.id,
            parameters=dict(self.case.parameters),
            title=claim.title,
            statement=claim.statement.text.strip(),
            document=claim.document,
            section=claim.section,
            tags=claim.tags,
            claimed=_claimed(found.region),
            estimate=_finite(found.estimate),
            interval=None
            if found.interval is None
            else (_finite(found.interval[0]), _finite(found.interval[1])),
            standard_error=_finite(found.standard_error),
            confidence=1 - self.alpha,
            scale=_finite(found.scale),
            resolution=self.resolution,
            draws=found.draws,
            blocks=found.blocks,
            seconds=time.perf_counter() - self.started,
            guarantee=found.guarantee,
            sampling="plain",
            verdict=found.verdict,
            expect=expected,
            result=outcome,
            reason=found.reason,
            more_draws=None if more is None or not more < 1e18 else max(1, math.ceil(more)),
            warnings=found.warnings,
            location=claim.location,
            repeat=repeat_command(self.case, self.settings.seed, self.registry.name),
        )


# -- by arithmetic -------------------------------------------------------------------------------


def _by_arithmetic(trial: Trial) -> CaseResult:
    """Nothing is random: the quantities are worked out once."""
    compiled = compile_case(trial.lowered)
    program = compiled.program
    centres = np.zeros(program.size)
    if program.terms:
        sums = program.span(np.random.default_rng(0), centres, 0).sums
        means = means_of(sums, program.span_draws)
    else:
        means = np.zeros(0)
    return trial.result(_at_a_point(trial, compiled, means, centres))


def _at_a_point(trial: Trial, compiled: Compiled, means: Floats, centres: Floats) -> Finding:
    found = compiled.functional.evaluate(means[:, np.newaxis], centres)
    scale = _scale(trial.reading, compiled, means, centres)
    rounding = ROUNDING * compiled.functional.largest(means, centres)
    verdicts = []
    for comparison in trial.reading.comparisons:
        value = float(comparison.quantity(found)[0])
        if not math.isfinite(value):
            return Finding(
                Verdict.INCONCLUSIVE,
                scale=scale,
                guarantee=Guarantee.ARITHMETIC,
                reason="the quantity is undefined (it works out as NaN or infinite)",
            )
        # arithmetic needs no resolution: what is not equal is different
        verdicts.append((decide(value, value, comparison.region, 0.0, rounding), value, comparison))
    verdict, value, comparison = _worst(verdicts)
    return Finding(
        verdict,
        value,
        (value, value),
        0.0,
        comparison.region,
        scale,
        guarantee=Guarantee.ARITHMETIC,
    )


# -- by counting ---------------------------------------------------------------------------------


def _by_counterexample(
    trial: Trial, claim: Certainty
) -> Generator[Request, SpanSums, CaseResult]:
    """An event that is claimed to be certain: one counterexample refutes."""
    most = trial.most_draws(claim.program)
    program = _fitted(claim.program, most)
    bound = min(RAREST_SEEN, trial.case.claim.within or RAREST_SEEN)
    # no violation among n draws bounds their chance by ln(1/α)/n
    enough = math.ceil(math.log(1 / trial.alpha) / bound * 1.0001) + 1
    tally = Tally(program)
    centres = np.zeros(program.size)
    while True:
        yield from _draw_until(trial, tally, program, MAIN, centres, min(enough, most))
        violations = round(float(tally.totals[0])) if not tally.undefined else 0
        seen = round(float(tally.totals[1])) if claim.conditional else tally.draws
        if tally.undefined or violations or tally.draws >= most or trial.out_of_time():
            break
        if upper_bound(0, seen, trial.alpha) < bound:
            break
        # a condition is seen in some draws only: go on until it was seen often enough
        enough = min(most, max(2 * tally.draws, enough))
    undefined = _undefined(trial, tally)
    if undefined is not None:
        return trial.result(replace(undefined, guarantee=Guarantee.EXACT))
    low, high = clopper_pearson(violations, seen, trial.alpha)
    share = violations / seen if seen else 0.0
    if claim.probability == 1:
        low, high, share = 1 - high, 1 - low, 1 - share
    if violations:
        verdict, reason = Verdict.REFUTED, f"{violations:,} counterexamples in {seen:,} draws"
        if violations == 1:
            reason = f"1 counterexample in {seen:,} draws"
    elif upper_bound(0, seen, trial.alpha) < bound:
        verdict, reason = Verdict.VERIFIED, None
    else:
        verdict, reason = Verdict.INCONCLUSIVE, "too few draws to bound the violations"
        if claim.conditional and not seen:
            reason = f"the condition was never met in {tally.draws:,} draws"
    warnings = ()
    if verdict is Verdict.VERIFIED:
        exact = _fitted(claim.exact, most).span(
            stream(trial.settings.seed, trial.case.key, MAIN, 0), np.zeros(claim.exact.size), 0
        )
        if float(exact.sums[:, 0].sum()) > 0:
            warnings = (
                f"{trial.case.claim.id}: values that differ by rounding alone were taken for "
                "equal; isclose(a, b) says so",
            )
    return trial.result(
        Finding(
            verdict,
            share,
            (low, high),
            None,
            Region(claim.probability, claim.probability),
            1.0,
            tally.draws,
            len(tally.sums),
            Guarantee.EXACT,
            reason,
            None if verdict is not Verdict.INCONCLUSIVE else max(enough, 2 * tally.draws),
            warnings,
        )
    )


def _by_proportion(trial: Trial, claim: Proportion) -> Generator[Request, SpanSums, CaseResult]:
    """One bare probability of an event that is one truth a draw: exact binomial intervals."""
    most = trial.most_draws(claim.program)
    program = _fitted(claim.program, most)
    reading = trial.reading
    (comparison,) = reading.comparisons
    scale = 1.0 if reading.known_scale is None else reading.known_scale
    widen = widening(comparison.region, trial.sharpness(scale))
    centres = np.zeros(program.size)

    def interval(tally: Tally, alpha: float) -> Interval:
        seen = round(float(tally.totals[1])) if claim.conditional else tally.draws
        hits = round(float(tally.totals[0]))
        share = hits / seen if seen else math.nan
        error = math.sqrt(share * (1 - share) / seen) if seen else math.nan
        low, high = clopper_pearson(hits, seen, alpha)
        return Interval(share, low, high, error)

    pilot = Tally(program)
    yield from _draw_until(trial, pilot, program, PILOT, centres, 1, first=1)
    _everywhere_undefined(trial, pilot)
    found = interval(pilot, trial.alpha) if not pilot.undefined else None
    planned = 1
    if found is not None and math.isfinite(found.estimate):
        planned = _planned(pilot.draws, found, [(comparison.region, widen)])
    tally = Tally(program)
    verdict = Verdict.INCONCLUSIVE
    final = Interval(math.nan, 0.0, 1.0, math.nan)
    for look in budget.looks(planned, min(FEWEST_DRAWS, most), most, trial.alpha):
        yield from _draw_until(trial, tally, program, MAIN, centres, look.draws)
        undefined = _undefined(trial, tally)
        if undefined is not None:
            return trial.result(replace(undefined, guarantee=Guarantee.EXACT))
        final = interval(tally, look.alpha)
        verdict = decide(final.low, final.high, comparison.region, widen, ROUNDING)
        if verdict is not Verdict.INCONCLUSIVE or trial.out_of_time():
            break
    reason = None
    if math.isnan(final.estimate):
        reason = f"the condition was never met in {tally.draws:,} draws"
    elif verdict is Verdict.INCONCLUSIVE:
        reason = "the interval is still too wide"
    return trial.result(
        Finding(
            verdict,
            final.estimate,
            (final.low, final.high),
            final.standard_error,
            comparison.region,
            scale,
            tally.draws,
            len(tally.sums),
            Guarantee.EXACT,
            reason,
            _more(verdict, tally.draws, final, [(comparison.region, widen)]),
            _ties(trial, program),
        )
    )


# -- by block means ------------------------------------------------------------------------------


def _by_block_means(trial: Trial, compiled: Compiled) -> Generator[Request, SpanSums, CaseResult]:
    """A function of averages: block means, the limit theorem and the delta method."""
    most = trial.most_draws(compiled.program)
    program = _fitted(compiled.program, most)
    reading = trial.reading
    centres = program.centres(
        stream(trial.settings.seed, trial.case.key, PILOT, 0),
        max(1, min(program.span_draws, PILOT_DRAWS)),
    )
    pilot = Tally(program)
    wanted = min(PILOT_BLOCKS * program.block_draws, most)
    yield from _draw_until(trial, pilot, program, PILOT, centres, wanted, first=1)
    _everywhere_undefined(trial, pilot)
    fewest = max(
        FEWEST_DRAWS, PILOT_BLOCKS * program.block_draws, math.ceil(RARE_SIGHTINGS * program.rarest)
    )
    planned = fewest
    if not pilot.undefined:
        judged = _judged(trial, compiled, pilot, centres, trial.alpha)
        if judged is not None and judged.decisive is not None:
            planned = _planned(pilot.draws, judged.decisive, judged.regions)
    tally = Tally(program)
    judged = None
    for look in budget.looks(planned, min(fewest, most), most, trial.alpha):
        yield from _draw_until(trial, tally, program, MAIN, centres, look.draws)
        undefined = _undefined(trial, tally)
        if undefined is not None:
            return trial.result(undefined)
        judged = _judged(trial, compiled, tally, centres, look.alpha)
        decided = judged is not None and judged.finding.verdict is not Verdict.INCONCLUSIVE
        hopeless = judged is None and tally.draws >= RARE_SIGHTINGS / RAREST_SEEN
        if decided or hopeless or trial.out_of_time():
            break
    if judged is None:
        return trial.result(
            Finding(
                Verdict.INCONCLUSIVE,
                draws=tally.draws,
                blocks=len(tally.sums),
                reason=_why_undefined(compiled, tally),
            )
        )
    return trial.result(replace(judged.finding, warnings=_ties(trial, program)))


@dataclass(frozen=True, slots=True)
class _Judged:
    """One look: the finding, and what the plan of the next is made from."""

    finding: Finding
    decisive: Interval | None
    regions: list[tuple[Region, float]]


def _judged(
    trial: Trial, compiled: Compiled, tally: Tally, centres: Floats, alpha: float
) -> _Judged | None:
    """Judge every comparison of the statement at one look; None where it is undefined."""
    reading = trial.reading
    functional = compiled.functional
    means = means_of(tally.sums, tally.draws)
    operands = functional.evaluate(means[:, np.newaxis], centres)
    if not all(math.isfinite(float(operand[0])) for operand in operands):
        return None
    scale = _scale(reading, compiled, means, centres)
    sharpness = trial.sharpness(scale)
    share = alpha / len(reading.comparisons)
    found: list[tuple[Verdict, Interval, Comparison]] = []
    regions: list[tuple[Region, float]] = []
    for comparison in reading.comparisons:

        def theta(points: Floats, comparison: Comparison = comparison) -> Floats:
            return comparison.quantity(functional.evaluate(points, centres))

        interval = estimate_interval(tally.sums, tally.block_draws, theta, share)
        asked = trial.resolution if comparison.share else sharpness
        widen = widening(comparison.region, asked)
        rounding = ROUNDING * functional.largest(means, centres)
        if comparison.share and comparison.against is not None:
            rounding /= max(abs(float(operands[comparison.against][0])), 1e-300)
        if widen > 0:
            rounding = min(rounding, widen / 1000)  # rounding may never decide a claim
        verdict = Verdict.INCONCLUSIVE
        if interval.unmet is None:
            verdict = decide(interval.low, interval.high, comparison.region, widen, rounding)
        found.append((verdict, interval, comparison))
        regions.append((comparison.region, widen))
    verdict, interval, comparison = _worst(found)
    reason = None
    if verdict is Verdict.INCONCLUSIVE:
        reason = interval.unmet or "the interval is still too wide"
    unit = 1.0
    if comparison.share and comparison.against is not None:
        unit = abs(float(operands[comparison.against][0]))  # shown as a difference, not a share
    worst = [(region, widen) for region, widen in regions if region is comparison.region]
    finding = Finding(
        verdict,
        interval.estimate * unit,
        (interval.low * unit, interval.high * unit),
        interval.standard_error * unit,
        Region(
            comparison.region.low * unit,
            comparison.region.high * unit,
            comparison.region.low_open,
            comparison.region.high_open,
        ),
        scale,
        tally.draws,
        len(tally.sums),
        Guarantee.ASYMPTOTIC,
        reason,
        _more(verdict, tally.draws, interval, worst),
    )
    usable = math.isfinite(interval.half_width)
    return _Judged(finding, interval if usable else None, worst)


def _scale(reading: Reading, compiled: Compiled, means: Floats, centres: Floats) -> float:
    """The claim's scale: |R| where that is known, else the size of R, or of L where R is 0."""
    if reading.known_scale is not None:
        return reading.known_scale
    if not compiled.scaled:
        return max(
            abs(float(compiled.functional.operands[end].constant[..., 0])) for end in reading.ends
        )
    sizes = compiled.functional.sizes(means, centres)
    against = max(sizes[end] for end in reading.ends)
    return against if against > 0 else sizes[reading.side]


def _worst(found: list[tuple[Verdict, object, Comparison]] | list) -> tuple:  # type: ignore[type-arg]
    """The comparison that settles the statement: a refuted one, else an open one, else any."""
    order = {Verdict.REFUTED: 0, Verdict.INCONCLUSIVE: 1, Verdict.VERIFIED: 2}
    return min(found, key=lambda entry: order[entry[0]])


# -- drawing and planning ------------------------------------------------------------------------


def _fitted(program: Program, most: int) -> Program:
    """The program in spans that fit a budget of few draws."""
    if most >= PILOT_BLOCKS * program.block_draws and most >= program.span_draws:
        return program
    draws = max(1, min(program.span_draws, most // PILOT_BLOCKS))
    return replace(program, span_draws=draws, span_blocks=1)


def _draw_until(
    trial: Trial,
    tally: Tally,
    program: Program,
    purpose: int,
    centres: Floats,
    draws: int,
    first: int = 0,
) -> Generator[Request, SpanSums, None]:
    """Draw whole spans until there are as many draws, or time is up."""
    needed = -(-draws // program.span_draws)
    while tally.spans < needed:
        count = min(SPANS_AT_ONCE, needed - tally.spans)
        found = yield trial.spans(program, purpose, centres, first + tally.spans, count)
        tally.add(found, count)
        if purpose == MAIN and trial.out_of_time():
            return


def _planned(draws: int, interval: Interval, regions: list[tuple[Region, float]]) -> int:
    """Draws after which the verdict is expected, from a pilot's interval.

    The estimate will lie off by about a standard error; 1.3 of them hold it in nine runs of ten.
    """
    error = interval.standard_error
    width = interval.half_width + 1.3 * error
    needed = 1.0
    for region, widen in regions:
        target = reach(interval.estimate, 2 * error, region, widen)
        needed = max(needed, budget.draws_needed(draws, width, target))
    return int(min(needed, 1e15))


def _more(
    verdict: Verdict, draws: int, interval: Interval, regions: list[tuple[Region, float]]
) -> float | None:
    """Draws that an undecided case is likely to need beyond those made; None where unknown."""
    if verdict is not Verdict.INCONCLUSIVE or not math.isfinite(interval.half_width):
        return None
    needed = _planned(draws, interval, regions)
    return max(float(needed - draws), draws / 2) if needed < 1e15 else None


def _everywhere_undefined(trial: Trial, pilot: Tally) -> None:
    """An error where not one draw of the pilot is defined: the model is wrong, not the claim."""
    if pilot.undefined and pilot.undefined >= pilot.spans * pilot.draws / max(pilot.spans, 1):
        at = trial.lowered.at
        where = parameter_text(trial.case.parameters)
        raise at.error(
            f"{trial.case.claim.id}: what the claim looks at is NaN or infinite on every draw"
            + (f" where {where}" if where else ""),
            "look for a division by zero, a logarithm or a root of a negative number, or an "
            "overflow in the model",
        )


def _undefined(trial: Trial, tally: Tally) -> Finding | None:
    """The finding where some draw is NaN or infinite."""
    if not tally.undefined:
        return None
    drawn = tally.spans * (tally.draws // max(tally.spans, 1)) if tally.draws else tally.undefined
    return Finding(
        Verdict.INCONCLUSIVE,
        draws=drawn,
        blocks=len(tally.sums),
        reason=f"{tally.undefined:,} of {drawn:,} draws are NaN or infinite, the first of them "
        f"draw {(tally.first_undefined or 0) + 1:,}",
    )


def _why_undefined(compiled: Compiled, tally: Tally) -> str:
    for leaf in compiled.functional.leaves.values():
        column = leaf.columns.get("g")
        if column is not None and tally.totals[column] == 0:
            return f"the condition was never met in {tally.draws:,} draws"
    return "the quantity is undefined at the averages (a division by 0, or Corr of a constant)"


def _ties(trial: Trial, program: Program) -> tuple[str, ...]:
    """A warning where rounding may decide a comparison: values that differ by next to nothing."""
    generator = stream(trial.settings.seed, trial.case.key, PILOT, 0)
    near = program.near_ties(generator, min(program.span_draws, PILOT_DRAWS))
    if not near:
        return ()
    place = near[0].at.location
    return (
        f"{trial.case.claim.id}: in line {place.line}, values that '{near[0].operation}' compares "
        "tie to within rounding; isclose(a, b) tells ties apart",
    )


def _missing_moment(lowered: LoweredCase, folder: ArrayFolder) -> str | None:
    """Why a quantity cannot be judged, where the laws alone settle it."""
    orders = {"E": 1, "P": 0, "Var": 2, "Std": 2, "Cov": 1, "Corr": 2, "Skew": 3, "Kurt": 4}

    def plain(value: Value) -> object:
        return None if value.constant is None else folder.plain(value.constant)

    for value in _operators(lowered.operands):
        needed = orders[value.operation]
        if not needed:
            continue
        conditional = dict(value.options)["given"]
        if conditional:
            continue  # what the condition keeps may well be bounded
        for quantity in value.inputs:
            order = moment_order(quantity, plain)
            text = f"{value.operation} in column {value.at.column + 1}"
            if value.operation in ("Cov",):
                continue
            if order.never <= needed:
                return (
                    f"{text} does not exist: the law has no finite moment of order {order.never:g}"
                )
            if order.never <= 2 * needed:
                return (
                    f"{text} exists, but its estimate has no variance: the law has no finite "
                    f"moment of order {order.never:g}, and the limit theorem needs {2 * needed}"
                )
    return None


def _operators(values: Sequence[Value]) -> list[Value]:
    found: dict[int, Value] = {}
    stack = list(values)
    while stack:
        value = stack.pop()
        if value.kind == Kind.OPERATOR:
            found[id(value)] = value
        elif value.estimated:
            stack.extend(value.inputs)
    return list(found.values())


def _quantities(lowered: LoweredCase) -> list[Value]:
    return [below for value in _operators(lowered.operands) for below in value.inputs]


def _claimed(region: Region | None) -> float | tuple[float | None, float | None] | None:
    if region is None:
        return None
    if region.point:
        return region.low
    low, high = _finite(region.low), _finite(region.high)
    if low is None:
        return high
    return low if high is None else (low, high)


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


__all__ = ["FEWEST_BLOCKS", "judge", "verify_cases"]
