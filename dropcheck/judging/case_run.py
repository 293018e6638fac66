"""One run of a case: what it is run with, its draws, and its result."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import field, replace

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.claims.registry import Case
from dropcheck.claims.values import parameter_text
from dropcheck.execution.schedule import TURN_SECONDS, Deadline
from dropcheck.inference import budget
from dropcheck.inference.budget import Look
from dropcheck.inference.comparison import Reading, expression
from dropcheck.inference.printed_digits import edge_of
from dropcheck.inference.region import coarse, promised
from dropcheck.judging.case_of_code import calls_made, of_case
from dropcheck.judging.prepared import Prepared
from dropcheck.judging.witness import SELDOM, disagreement, fits, inside, with_digits
from dropcheck.judging.wrong_draws import not_numbers, undefined_draws
from dropcheck.processors import default_threads
from dropcheck.reasons import Explanation, Reason
from dropcheck.records import record
from dropcheck.results import (
    CaseResult,
    Exact,
    Guarantee,
    Method,
    Outcome,
    Quantity,
    Region,
    Resolution,
    Verdict,
)
from dropcheck.settings import Settings
from dropcheck.simulation import (
    MAIN,
    PILOT,
    Compiled,
    Program,
    Request,
    SpanSums,
    Tally,
    stream,
)

# Work that a case may cost by default, in rough nanoseconds on one core. In draws, not seconds, so
# that the same file has the same verdicts on any machine.
DEFAULT_WORK = 2e10
MOST_DRAWS_BY_DEFAULT = 1e9
# Where a time limit is the budget: more than any run can make.
UNLIMITED_DRAWS = 10**15
# The most spans for each thread, and numbers, that are asked for at a time: others wait for them,
# and memory holds them.
SPANS_AT_ONCE = 512
NUMBERS_AT_ONCE = 2**22
# Under a time limit, a request takes at most this fraction of the time that is left.
TURNS_LEFT = 1000
# The fewest draws that an interval is made from, and the draws in which ties are looked for.
FEWEST_DRAWS = 1024
PILOT_DRAWS = 2048
# After so many draws in which a condition was never true, the case is given up: a condition as rare
# as one in ten thousand would have been true with chance 1 - e^-64.
DRAWS_WITHOUT_CONDITION = 640_000
Judging = Generator[Request, SpanSums, "Finding"]
"""A judge of a case: it asks for draws, is sent their sums, and returns its finding."""


@record(kw_only=True)
class Finding:
    """What a judge says of a case; `quantity` and `region` are those that were judged."""

    verdict: Verdict
    method: Method | None
    guarantee: Guarantee | None = None
    quantity: Quantity | None = None
    region: Region | None = None
    entry: tuple[int, ...] | None = None  # of the arrays that the statement is about
    estimate: float | None = None
    interval: tuple[float, float] | None = None
    standard_error: float | None = None
    sides: tuple[float, ...] | None = None  # of the statement, where a difference is judged
    exact: Exact | None = None  # the quantity, by the model alone
    scale: float | None = None
    sharpness: Resolution | None = None
    within: float | None = None  # what is promised where verified, if that is not the widening
    about: float | None = None  # the largest of what is compared, where that is known
    draws: int = 0
    blocks: int = 0
    seconds: float = 0.0
    sampling: str = "plain"
    explanation: Explanation | None = None
    more_draws: float | None = None
    warnings: tuple[str, ...] = ()

    @property
    def reason(self) -> Reason | None:
        """Why, without the numbers."""
        return None if self.explanation is None else self.explanation.reason

    def left_open(self, why: Explanation) -> Finding:
        """The finding without a verdict, for a reason that more draws do not remove."""
        return replace(self, verdict=Verdict.INCONCLUSIVE, explanation=why, more_draws=None)


def not_drawn(why: Explanation) -> Finding:
    """The finding that nothing was drawn, and why."""
    return Finding(verdict=Verdict.INCONCLUSIVE, method=None, explanation=why)


@record(kw_only=True)
class CaseRun:
    """One run of a case: what it is run with, its draws, and its result."""

    prepared: Prepared
    settings: Settings
    alpha: float  # the case's own share of the error rate
    repeat: str = ""  # the command that repeats the run
    deadline: Deadline = field(default_factory=Deadline)  # never by default
    spans: dict[int, int] = field(default_factory=dict)  # how many were drawn, by purpose
    # how far rounding may move each average, by the kind of sampling and the centres
    roundings: dict[tuple[str, bytes], Floats] = field(default_factory=dict)

    @property
    def case(self) -> Case:
        """The case that is run."""
        return self.prepared.case

    @property
    def reading(self) -> Reading:
        """Its statement as quantities and regions."""
        return self.prepared.reading

    @property
    def resolution(self) -> float:
        """The resolution of the case, as a share of its scale."""
        asked = self.settings.resolution
        return self.case.claim.resolution if asked is None else asked

    @property
    def asymptotic(self) -> bool:
        """Whether the limit theorem judges what the model does not bound."""
        return self.settings.asymptotic or self.case.claim.asymptotic

    def sharpness(self, scale: float) -> float:
        """The resolution of the case, in the unit of the quantity."""
        within = self.case.claim.within
        if within is not None and self.settings.resolution is None:
            return within
        return self.resolution * scale

    def looked(self, scale: float, widening: float, unit: float = 1.0) -> Resolution | None:
        """How sharply a case of this scale was looked at; None where there is no scale.

        `widening` is that of its region, in units of `unit`; 0 in arithmetic.
        """
        absolute = self.case.claim.within is not None and self.settings.resolution is None
        asked = self.sharpness(scale)
        narrowed = 0 < widening < asked / unit
        return Resolution(asked, widening * unit, absolute, narrowed) if asked > 0 else None

    def most_draws(self, program: Program) -> int:
        """The budget in draws; a time limit takes its place, as code under test always has one."""
        if self.settings.max_draws is not None:
            return self.settings.max_draws
        if self.settings.time_limit is not None or self.case.claim.column is not None:
            return UNLIMITED_DRAWS
        return max(1, int(min(MOST_DRAWS_BY_DEFAULT, DEFAULT_WORK / program.cost)))

    def out_of_time(self) -> bool:
        """Whether the time of the whole run is up."""
        return self.deadline.passed()

    def seems_never(self, draws: int) -> bool:
        """Whether to give up after so many draws without a value, where no limit says to go on."""
        limited = self.settings.max_draws is not None or self.settings.time_limit is not None
        return not limited and draws >= DRAWS_WITHOUT_CONDITION

    @property
    def threads(self) -> int:
        """Threads that draw."""
        return self.settings.threads or default_threads()

    def generator(self, purpose: int, span: int) -> np.random.Generator:
        """A generator of random numbers: one of the case's own streams."""
        return stream(self.settings.seed, self.case.stream_key, purpose, span)

    def centres(self, program: Program, draws: int) -> Floats:
        """The centres about which integrands are summed, from the first draws: [registers]."""
        return program.centres(self.generator(PILOT, 0), draws)

    def looks(self, program: Program, *, expected: int, fewest: int, most: int) -> Iterator[Look]:
        """The looks at the draws of a program, from the first on.

        Args:
            program: the program that draws.
            expected: draws after which a verdict is expected.
            fewest: draws before which no look is worth its error.
            most: the budget that the looks are planned for.
        """
        fewest = min(max(fewest, program.fewest_planned), most)
        return budget.looks(expected, fewest, most, self.alpha)

    def draw_until(
        self, tally: Tally, purpose: int, draws: int
    ) -> Generator[Request, SpanSums, None]:
        """Draw whole spans until there are so many draws, or the budget or the time is spent.

        The pilot's first span is left to what looks at single draws.
        """
        program = tally.program
        allowed = max(1, self.most_draws(program) // program.span_draws)
        needed = min(-(-draws // program.span_draws), allowed)
        offset = 1 if purpose == PILOT else 0
        while tally.spans < needed:
            a_span = program.cost * program.span_draws * 1e-9
            if tally.spans:
                a_span = tally.seconds / tally.spans
            held = 1 + NUMBERS_AT_ONCE // (program.columns * program.span_blocks)
            count = min(SPANS_AT_ONCE * self.threads, held, needed - tally.spans)
            if self.deadline.limited:
                turn = self.threads * max(TURN_SECONDS, self.deadline.left() / TURNS_LEFT)
                count = min(count, max(1, int(turn / max(a_span, 1e-9))))
            spans = yield Request(
                program=program,
                seed=self.settings.seed,
                case_key=self.case.stream_key,
                purpose=purpose,
                centres=tally.centres,
                first=offset + tally.spans,
                count=count,
                wanted=a_span * (needed - tally.spans),
            )
            if offset and spans.first_undefined is not None:  # its number among the pilot's draws
                first = max(spans.first_undefined - program.span_values, 0)
                spans = replace(spans, first_undefined=first)
            tally.add(spans)  # fewer come back than were asked for where time is up
            self.spans[purpose] = tally.spans
            if self.out_of_time():
                return

    def refuse_if_nowhere_defined(self, pilot: Tally) -> None:
        """Refuse a case where not one draw is defined: then the model is wrong, not the claim.

        Where only the powers of finite draws overflow, the case is undecided instead.

        Raises:
            DropcheckError: with the parameters for which it is so.
        """
        if not pilot.nowhere_defined or pilot.program.tests_code or self._only_powers_overflow():
            return
        where = parameter_text(self.case.parameters)
        raise self.prepared.lowered.at.error(
            f"{self.case.claim.id}: what the claim looks at is NaN or infinite on every draw"
            + (f" where {where}" if where else ""),
            "look for a division by zero, a logarithm or a root of a negative number, or an "
            "overflow in the model",
        )

    def _only_powers_overflow(self) -> bool:
        """Whether the averaged quantities themselves are finite in some draws."""
        if not isinstance(self.prepared.compiled, Compiled):
            return False
        program = self.prepared.compiled.program
        return program.finite(self.generator(PILOT, 0), min(program.span_draws, PILOT_DRAWS))

    def undefined(
        self, tally: Tally, method: Method | None, guarantee: Guarantee, purpose: int = MAIN
    ) -> Finding | None:
        """The finding where some draw is NaN or infinite; None where none is."""
        why = undefined_draws(tally)
        if why is None:
            return None
        verdict = Verdict.INCONCLUSIVE
        if tally.program.tests_code:  # what may be NaN or infinite has no mean
            verdict = Verdict.REFUTED
            why = not_numbers(tally, self.generator, purpose)
        elif tally.nowhere_defined:
            why = Reason.POWERS_OVERFLOW.explain()
        return Finding(
            verdict=verdict,
            method=method,
            guarantee=guarantee,
            draws=tally.drawn,
            blocks=tally.drawn // tally.block_draws,
            seconds=tally.seconds,
            sampling=tally.program.sampling,
            explanation=why,
        )

    def result(self, finding: Finding) -> CaseResult:
        """The finding as the result that reports are made from.

        Raises:
            InternalError: the interval misses what the model gives exactly.
        """
        claim = self.case.claim
        lost = finding.reason is Reason.LOST_DIGITS
        if finding.interval is not None and not lost:  # cut to the values that some law allows
            hull = self.prepared.hull(finding.quantity, finding.entry)
            low, high = map(hull.nearest, finding.interval)
            estimate = None if finding.estimate is None else hull.nearest(finding.estimate)
            finding = replace(finding, estimate=estimate, interval=(low, high))
        finding = replace(finding, exact=with_digits(finding.exact, finding.sharpness))
        quantity, region = self._claimed(finding)
        edge = edge_of(claim.written, region, finding.verdict, finding.exact, finding.interval)
        confirmed, warnings = self._confirmed(finding, region), finding.warnings
        if confirmed is False:
            why = "the interval misses the exact value, which chance may do at this error rate"
            warnings = (*warnings, f"{claim.id}: {why}")
        within = promised(
            finding.verdict, region, finding.interval, finding.sharpness, finding.within
        )
        if finding.verdict is Verdict.INCONCLUSIVE:
            outcome = Outcome.UNDECIDED
        else:
            outcome = Outcome.PASS if finding.verdict is Verdict(self.case.expect) else Outcome.FAIL
        more = None
        if finding.more_draws is not None and finding.more_draws < 1e18:
            more = max(1, math.ceil(finding.more_draws))
        interval = finding.interval
        return CaseResult(
            **of_case(self.case, self.alpha, self.repeat),
            edge=edge,
            quantity=quantity,
            expression=expression(self.prepared.statement, quantity, finding.entry),
            entry=finding.entry,
            region=region,
            estimate=_finite(finding.estimate),
            interval=None if interval is None else (_finite(interval[0]), _finite(interval[1])),
            standard_error=_finite(finding.standard_error),
            sides=finding.sides,
            relations=self.prepared.lowered.operators if finding.sides else (),
            exact=finding.exact,
            confirmed=confirmed is True,
            scale=_finite(finding.scale),
            resolution=self.resolution,
            sharpness=finding.sharpness,
            within=within,
            coarse=coarse(within, finding.about, finding.sharpness, self.resolution),
            draws=finding.draws,
            blocks=finding.blocks,
            seconds=finding.seconds,
            method=finding.method,
            guarantee=finding.guarantee,
            sampling=finding.sampling,
            verdict=finding.verdict,
            result=outcome,
            explanation=finding.explanation,
            more_draws=more,
            timed_out=more is not None and self.out_of_time(),
            more_seconds=None
            if more is None or not finding.draws
            else more * finding.seconds / finding.draws / self.threads,
            warnings=warnings,
            calls=calls_made(self.prepared, self.spans.get(MAIN, 0), finding.draws),
        )

    def _confirmed(self, finding: Finding, region: Region | None) -> bool | None:
        """Whether draws and exact value agree; None where there is nothing to compare.

        An interval by the limit theorem that gave no verdict is not compared.

        Raises:
            InternalError: they do not, and chance does not explain it.
        """
        exact, interval, verdict = finding.exact, finding.interval, finding.verdict
        basis = finding.guarantee
        trusted = verdict is not Verdict.INCONCLUSIVE or (basis not in (None, Guarantee.ASYMPTOTIC))
        if exact is None or interval is None or region is None or not (trusted and finding.draws):
            return None
        if not inside(exact, interval, finding.scale):
            if self.alpha <= SELDOM:
                raise disagreement(self.case, exact, interval, self.repeat)
            return False
        widening = 0.0 if finding.sharpness is None else finding.sharpness.widening
        return fits(exact, verdict, region, widening) or None

    def _claimed(self, finding: Finding) -> tuple[Quantity | None, Region | None]:
        """The quantity that was judged, and the region that the statement gives it.

        Where none was judged, they are those of a statement with one comparison. Its region is left
        out if it is one of relative differences, which the claim does not name.
        """
        if finding.quantity is not None:
            return finding.quantity, finding.region
        comparisons = self.reading.comparisons
        if len(comparisons) > 1:
            return None, None
        return comparisons[0].measures, None if comparisons[0].share else comparisons[0].region


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
