"""One run of a case: what the model says of it, what it is run with, its draws, and its result."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np

from dropcheck.analysis.bounds import drawn_apart
from dropcheck.analysis.exact import ExactMoments, Integrand, exact_means, exact_moments
from dropcheck.analysis.norms import Norms, raised
from dropcheck.analysis.single_draw import Found
from dropcheck.analysis.strategy import BlockMeans, Strategy, strategy_of
from dropcheck.analysis.support import may_be_undefined, support
from dropcheck.array_types import Floats
from dropcheck.claims.registry import Case
from dropcheck.claims.values import case_name, decimal_text, parameter_text
from dropcheck.errors import TO_REPORT, DropcheckError, InternalError, Problem, as_own
from dropcheck.execution.schedule import Deadline
from dropcheck.inference import intervals
from dropcheck.inference.intervals import (
    RAREST_SEEN,
    ClippedSpread,
    Interval,
    KnownSpread,
    Look,
    Theta,
    between_parts,
    design_effect,
)
from dropcheck.inference.region import (
    COARSE,
    Reading,
    expression,
    printed_in,
    promised,
    read_statement,
)
from dropcheck.language.compile import CaseGraphs, LoweredCase, parse_claim
from dropcheck.language.graph import Value, in_order, operators
from dropcheck.language.lowering.model import counts_draws
from dropcheck.language.syntax import Statement
from dropcheck.reasons import LOOK_FOR, Explanation, Reason
from dropcheck.results import (
    CallCount,
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
from dropcheck.settings import Settings, default_threads
from dropcheck.simulation.again import example
from dropcheck.simulation.blocks import MAIN, PILOT, Request, Tally, stream
from dropcheck.simulation.compile import Compiled, Counted, InCells, Registers, compile_strategy
from dropcheck.simulation.program import FEWEST_CALLS, Program, SpanSums, Term
from dropcheck.vocabulary.domains import EVERYWHERE, Hull
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.operators import UNDERFLOW

# Relative error of exact values, which are sums of products of float64.
EXACT_ROUNDING = 1e-12
# A mean more standard deviations than this away from 0 is subtracted draw by draw.
FAR = 4.0
# Orders of moments that say where values are cut off, and those where the variance is infinite.
ORDERS = (2.0, 4.0, 8.0, 16.0, 32.0)
LOW_ORDERS = (1.9, 1.75, 1.5, 1.3, 1.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactMeans:
    """The means of a case's integrands about centres, by the model; NaN where it gives none.

    `centres` has the shape [registers]; `means`, and the bounds of their `errors`, [terms].
    """

    centres: Floats
    means: Floats
    errors: Floats


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ExactAverages(ExactMeans):
    """The means, and the covariances of the columns `used`, which the statement is made of."""

    used: tuple[int, ...]
    moments: ExactMoments

    def spread(self, weights: Floats, program: Program) -> KnownSpread:
        """The spread of a combination of the averages, with a factor for each, [terms]."""
        own = weights[list(self.used)]
        block = program.block_draws
        if program.paired:
            of_block = self._variance(own, self.moments.covariance(block))
            return KnownSpread(lambda draws: of_block * block / draws)
        of_draw = self._variance(own, self.moments.covariance(1))
        return KnownSpread(lambda draws: of_draw / draws)

    @np.errstate(all="ignore")  # what is too large for float64 is infinite
    def _variance(self, weights: Floats, covariance: Floats) -> float:
        deviations = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        rounding = (EXACT_ROUNDING + self.moments.error) * raised(
            float(np.abs(weights) @ deviations), 2.0
        )
        return max(float(weights @ covariance @ weights), 0.0) + rounding


@dataclass(frozen=True, slots=True, eq=False)
class BoundedAverages:
    """Bounds of a case's integrands about some centres, [registers]."""

    norms: Norms
    compiled: Compiled
    centres: Floats
    known: dict[float, Floats] = field(default_factory=dict)

    def sizes(self, order: float) -> Floats:
        """Bounds of the L^p norms, [terms]; those of order infinity bound the values themselves."""
        if order not in self.known:
            each = [self._size(term, order) for term in self.compiled.program.terms]
            self.known[order] = np.array(each)
        return self.known[order]

    def _size(self, term: Term, order: float) -> float:
        """By Hölder's inequality over the factors of an integrand.

        A condition only makes the norm smaller: where it fails, the integrand is 0.
        """
        degree = sum(power for _, power in term.factors)
        size = 1.0
        for register, power in term.factors:
            value, centre = self.compiled.values[register], float(self.centres[register])
            held = self._held(term, register)
            if math.isinf(order):
                hull = self.norms.support.hull(held)
                own = max(abs(hull.low - centre), abs(hull.high - centre))
            else:
                either = partial(self.norms.centred_norm, centre=centre, p=order * degree)
                own = min(map(either, (value, held)))
            size *= raised(own, power)
        return size

    def _held(self, term: Term, register: int) -> Value:
        """A factor of an integrand, or another that is the same where its condition holds."""
        value, given = self.compiled.values[register], term.given
        return value if given is None else self.norms.held(value, self.compiled.values[given], True)

    def _ends(self, term: Term) -> tuple[float, float]:
        """An interval that holds an integrand, and 0 where it has a condition."""
        size = self._size(term, math.inf)
        (register, power), *others = term.factors or ((0, 0),)
        if others or power != 1:
            signed = any(odd % 2 for _, odd in term.factors)
            return (-size if signed else 0.0), size
        hull = self.norms.support.hull(self._held(term, register))
        centre = float(self.centres[register])
        low, high = hull.low - centre, hull.high - centre
        return (low, high) if term.given is None else (min(low, 0.0), max(high, 0.0))

    @np.errstate(all="ignore")  # what is too large for float64 is infinite
    def along(self, weights: Floats, order: float) -> float:
        """A bound of the L^p norm of a combination of the integrands: Minkowski's inequality."""
        own = weights != 0
        return float(np.abs(weights[own]) @ self.sizes(order)[own])

    @np.errstate(all="ignore")  # what is too large for float64 is infinite
    def ends_along(self, weights: Floats) -> tuple[float, float]:
        """The ends between which the values of a combination of the integrands lie."""
        own = np.flatnonzero(weights)
        terms = self.compiled.program.terms
        each = weights[own] * np.reshape([self._ends(terms[column]) for column in own], (-1, 2)).T
        return float(each.min(axis=0).sum()), float(each.max(axis=0).sum())

    @np.errstate(all="ignore")  # what is too large for float64 is infinite
    def spread(self, weights: Floats, centre: float, guess: float, target: float) -> ClippedSpread:
        """The spread of a combination of the averages.

        Its mean is about `centre`, and the variance of a draw about `guess`, as a pilot shows; an
        interval of the half-width `target` decides.
        """
        orders = ORDERS if math.isfinite(self.along(weights, 2.0)) else LOW_ORDERS
        known = {order: self.along(weights, order) for order in orders}
        tiny = any(0 < size < UNDERFLOW ** (1 / 4) for size in known.values())  # 0 may stand for it
        ends = (-math.inf, math.inf) if tiny else self.ends_along(weights)
        sizes = {} if tiny else {order: size + abs(centre) for order, size in known.items()}
        return ClippedSpread.of(centre, guess, ends, sizes, target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What is known of a case's averages.

    `guarantee` is what an interval rests on: the limit theorem where the model bounds nothing.
    """

    bounds: Callable[[Floats], BoundedAverages]  # about centres, [registers]
    exact: ExactAverages | None = None
    means: ExactMeans | None = None  # also where there is no variance
    guarantee: Guarantee = Guarantee.ASYMPTOTIC
    undefined: Explanation | None = None  # why what is averaged may have no value
    unbounded: frozenset[int] = frozenset()  # columns for sizes that nothing bounds
    notes: tuple[str, ...] = ()  # what it takes for granted, as it fails too seldom to matter


def knowledge_of(compiled: Compiled) -> Knowledge:
    """What the model says of the averages of a program."""
    if compiled.crossed is None:  # which combines whole draws
        compiled = replace(compiled, values=drawn_apart(compiled.values))
    integrals: Found = {}
    norms = Norms(found=integrals)
    used = compiled.functional.columns(range(len(compiled.functional.operands)))
    about = partial(BoundedAverages, norms, compiled)
    values, terms = compiled.values, compiled.program.terms
    averaged = [  # each with its condition
        (values[register], None if term.given is None else values[term.given])
        for term in terms
        for register, _ in term.factors
    ]
    undefined = may_be_undefined(averaged, norms.support)
    if undefined is not None:  # draws without a value have no bounds
        return Knowledge(bounds=about, undefined=undefined)
    plain = about(compiled.program.origin)
    exact = None if compiled.program.whole else _exact(compiled, tuple(used), integrals)
    if exact is not None and _underflows(exact, plain):
        exact = None
    guarantee = Guarantee.ASYMPTOTIC
    if np.isfinite(plain.sizes(math.inf)[used]).all():
        guarantee = Guarantee.FINITE_SAMPLE
    elif exact is not None or any(
        np.isfinite(plain.sizes(order)[used]).all() for order in (2.0, LOW_ORDERS[-1])
    ):
        guarantee = Guarantee.MOMENTS
    unbounded: frozenset[int] = frozenset()
    if exact is None and not np.isfinite(plain.sizes(2.0)[used]).all():
        infinite = np.flatnonzero(~np.isfinite(plain.sizes(1.0)))
        unbounded = frozenset(infinite.tolist()).difference(used)
    return Knowledge(
        exact=exact,
        means=exact or _means_alone(compiled, used, integrals),
        bounds=about,
        guarantee=guarantee,
        unbounded=unbounded,
        notes=tuple(
            f"it is read given that {step} is defined, which fails with a chance of "
            f"{chance:.1g} a draw"
            for step, chance in norms.support.neglected.items()
            if chance > 0
        ),
    )


def _means_alone(compiled: Compiled, used: Sequence[int], integrals: Found) -> ExactMeans | None:
    """The means of averages without a variance, such as a power of a heavy tail."""
    centres = compiled.program.origin
    integrands = integrands_of(compiled, centres)
    known = exact_means([integrands[column] for column in used], integrals)
    if known is None or compiled.program.whole:
        return None
    means, errors = (np.full(len(integrands), math.nan) for _ in range(2))
    means[list(used)], errors[list(used)] = known
    return ExactMeans(centres=centres, means=means, errors=errors)


@np.errstate(all="ignore")  # what is too large for float64 is infinite
def _underflows(exact: ExactAverages, plain: BoundedAverages) -> bool:
    """Whether a variance is too small for a float64, so that 0 may stand for it."""
    small = exact.moments.covariance(1).diagonal() < UNDERFLOW
    if not small.any():  # as nearly always
        return False
    sizes = plain.sizes(2.0)[list(exact.used)][small]
    return bool(((sizes > 0) & (sizes**2 < UNDERFLOW)).any())


def integrands_of(compiled: Compiled, centres: Floats) -> list[Integrand]:
    """The integrands that a program averages, about the centres: [registers]."""
    return [_integrand(compiled, term, centres) for term in compiled.program.terms]


def _integrand(compiled: Compiled, term: Term, centres: Floats) -> Integrand:
    return Integrand(
        factors=tuple((compiled.values[register], power) for register, power in term.factors),
        given=None if term.given is None else compiled.values[term.given],
        centres=tuple(float(centres[register]) for register, _ in term.factors),
    )


def _exact(compiled: Compiled, used: tuple[int, ...], integrals: Found) -> ExactAverages | None:
    """The means and covariances; None where the model does not say those of all integrands."""
    centres = compiled.program.origin
    uncentred = _about(compiled, used, centres, integrals)
    if uncentred is None:
        return None
    factors = (factor for term in compiled.program.terms for factor in term.factors)
    registers = sorted({register for register, _ in factors})
    powers = [Term(((register, power),), None) for register in registers for power in (1, 2)]
    known = _means_of(compiled, powers, uncentred, integrals)
    if known is None:
        return None
    for place, register in enumerate(registers):
        mean, square = map(float, known[0][2 * place : 2 * place + 2])  # floats overflow quietly
        if mean * mean > FAR**2 * max(square - mean * mean, 0.0):
            centres[register] = mean
    return _about(compiled, used, centres, integrals) if centres.any() else uncentred


def _about(
    compiled: Compiled, used: tuple[int, ...], centres: Floats, integrals: Found
) -> ExactAverages | None:
    """The means and covariances about centres; None where the model does not say them."""
    integrands = integrands_of(compiled, centres)
    groups = None if compiled.crossed is None else compiled.crossed.groups
    moments = exact_moments([integrands[column] for column in used], groups, integrals)
    if moments is None:
        return None
    means, errors = (np.zeros(len(integrands)) for _ in range(2))
    means[list(used)] = moments.means
    errors[list(used)] = moments.mean_errors
    exact = ExactAverages(centres=centres, means=means, errors=errors, used=used, moments=moments)
    others = [column for column in range(len(integrands)) if column not in used]
    asked = [compiled.program.terms[column] for column in others]
    more = _means_of(compiled, asked, exact, integrals)
    if more is None:
        return None
    means[others], errors[others] = more
    return exact


def _means_of(
    compiled: Compiled, terms: Sequence[Term], known: ExactAverages, integrals: Found
) -> tuple[Floats, Floats] | None:
    """The means of terms about the centres of what is known, and the errors of these means.

    Where the mean and the variance of a number are known, they give the mean of its square.
    """
    own = {compiled.program.terms[column]: place for place, column in enumerate(known.used)}
    covariance = known.moments.covariance(1)
    means, errors = np.zeros(len(terms)), np.zeros(len(terms))
    asked: list[int] = []
    for place, term in enumerate(terms):
        if term in own:
            means[place] = known.means[known.used[own[term]]]
            errors[place] = known.errors[known.used[own[term]]]
            continue
        ((register, power), *others) = term.factors or ((0, 0),)
        column = own.get(Term(((register, 1),), None))
        square = term.given is None and not others and power == 2
        if column is None or not square or compiled.values[register].shape:
            asked.append(place)
            continue
        mean, variance = float(known.moments.means[column]), float(covariance[column, column])
        means[place] = variance + mean * mean
        errors[place] = known.moments.error * raised(abs(mean) + math.sqrt(variance), 2.0)
    integrands = [_integrand(compiled, terms[place], known.centres) for place in asked]
    exact = exact_means(integrands, integrals)
    if exact is None:
        return None
    means[asked], errors[asked] = exact
    return means, errors


# ---- prepared ------------------------------------------------------------------------------------
#
# A case made ready once, to be run any number of times: with other seeds, or another α.


# The bound for code of which each call counts as one draw: as many calls as take a few seconds.
RAREST_CALLS = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A case read and compiled, with the strategy that its statement allows."""

    case: Case
    statement: Statement
    lowered: LoweredCase
    reading: Reading  # the statement as quantities and regions
    strategy: Strategy
    compiled: Compiled | Counted | InCells
    knowledge: Knowledge | None  # of averages, from the model itself

    def hull(self, quantity: Quantity | None, entry: tuple[int, ...] | None) -> Hull:
        """Where a quantity of the statement lies, for any law."""
        asked = (quantity, entry)
        own = [one for one in self.reading.comparisons if (one.measures, one.entry) == asked]
        sides = [self.lowered.operands[place] for one in own[:1] for place in one.looked_at]
        if not sides or sides[0].random:  # a statement about draws
            return EVERYWHERE
        hull = support(sides[0])
        for end in map(support, sides[1:]):
            hull = Hull(hull.low - end.high, hull.high - end.low)
        return hull


def rarest_violations(prepared: Prepared) -> float:
    """How rare violations of a claim of certainty must be for it to be verified.

    A draw of code under test may be a call of its own, and slow: a claim about slots may set any
    bound, for the code and for the mathematics. Where draws of a call may depend on each other,
    calls are counted, of which there are few.
    """
    claim, counted = prepared.case.claim, prepared.compiled
    if claim.slots and claim.within is not None:
        return claim.within
    if isinstance(counted, Counted) and counted.program.whole:
        return RAREST_CALLS
    return min(RAREST_SEEN, claim.within or RAREST_SEEN)


def prepare(case: Case, graphs: CaseGraphs | None = None, *, crossing: bool = True) -> Prepared:
    """Compile a case from its graph.

    `graphs` hold its graph, if a check has built it already. With `crossing`, draws may be crossed
    with one another, where the model allows it.

    Raises:
        DropcheckError: where the case cannot be judged at all.
    """
    (made,) = prepare_together([case], graphs or CaseGraphs(keep=0), crossing=crossing)
    if isinstance(made, DropcheckError):
        raise made
    return made


def prepare_together(
    cases: Sequence[Case], graphs: CaseGraphs, *, crossing: bool = True
) -> list[Prepared | DropcheckError]:
    """The cases of one entry at the same parameters, compiled from one graph; or their errors."""
    made: list[Prepared | DropcheckError] = []
    first: LoweredCase | None = None
    registers: Registers | None = None
    for case in cases:
        try:
            if first is None:
                lowered = first = graphs.lowered(case)
                registers = _registers(first)
            else:
                lowered = graphs.beside(case, first)
            made.append(_prepared(case, lowered, registers, crossing=crossing))
        except Exception as error:
            made.append(as_own(error))
    return made


def _registers(lowered: LoweredCase) -> Registers | None:
    """The registers of all statements of an entry; None where there is only one statement."""
    values: list[Value] = []
    for one in lowered.beside:
        if one is not None:
            values += [value for value in one.operands if value.random]
            values += [value for each in operators(one.operands) for value in each.inputs]
    random = [value for value in values if value.random]
    return Registers(random) if random else None


def _prepared(
    case: Case,
    lowered: LoweredCase,
    registers: Registers | None,
    *,
    crossing: bool,
) -> Prepared:
    parsed = parse_claim(case.claim)
    alone = {
        name: text
        for name, value in case.parameters.items()
        if (text := decimal_text(value)) is not None and not parsed.uses(name)
    }
    figure = case.claim.written is not None and case.claim.written.rounded
    printed = partial(printed_in, parsed.statement, alone, left_first=figure)
    reading = read_statement(lowered, case.claim.tolerance, printed)
    strategy = strategy_of(lowered, case.claim.tolerance)
    compiled = compile_strategy(
        strategy,
        lowered.operands,
        scaled=reading.scaled,
        crossing=crossing,
        registers=registers,
    )
    knowledge = None
    if isinstance(strategy, BlockMeans) and isinstance(compiled, Compiled):
        knowledge = knowledge_of(compiled)
        if knowledge.exact is None and compiled.crossed is not None:
            # crossing needs the mean of each group, and only its square may be known
            compiled = replace(compiled, crossed=None)
            knowledge = knowledge_of(compiled)
        compiled = replace(compiled, unbounded=knowledge.unbounded)
    return Prepared(
        case=case,
        statement=parsed.statement,
        lowered=lowered,
        reading=reading,
        strategy=strategy,
        compiled=compiled,
        knowledge=knowledge,
    )


# ---- case of code --------------------------------------------------------------------------------
#
# Cases of code: their calls and what these show, and their result where the code fails.


# An interval from calls that is so many times as wide as the one from draws is no accident: for
# independent draws both are equally wide, but for a few standard errors of 9% each.
TOO_FAR = 2.0


def result_of_error(case: Case, error: DropcheckError, alpha: float) -> CaseResult:
    """The result of a case that could not be judged; the error is its explanation."""
    message = "; ".join(one.message for one in error.problems)
    hint = next((one.hint for one in error.problems if one.hint), "it has no result")
    reason = Reason.FAULT if isinstance(error, InternalError) else Reason.FAILED
    result = CaseResult(
        **of_case(case, alpha),
        expression=case.claim.statement.text.strip(),
        resolution=case.claim.resolution,
        verdict=Verdict.UNDECIDED,
        result=Outcome.ERROR,
        explanation=reason.explain(error=message, hint=hint),
    )
    return replace(result, location=error.problems[0].location or result.location)


def of_case(case: Case, alpha: float) -> dict[str, Any]:
    """The fields of a result that depend on the case alone, and on its own share of the error."""
    claim = case.claim
    return {
        "claim": claim.id,
        "parameters": dict(case.parameters),
        "title": claim.title,
        "statement": claim.statement.text.strip(),
        "sources": claim.sources,
        "written": claim.written,
        "tags": claim.tags,
        "confidence": 1 - alpha,
        "expect": Verdict(claim.expect),
        "location": claim.location,
        "column": None if claim.column is None else claim.column.name,
        "dtype": case.dtype,
        "of": None if claim.column is None else claim.of,
    }


def often_misread(lowered: LoweredCase) -> tuple[str, ...]:
    """The laws of a case whose parameters are often taken for others, with what they are."""
    values = in_order(lowered.operands, lambda value: value.inputs)
    laws = [(one.law, [argument.known for argument in one.inputs]) for one in values]
    if lowered.law is not None:
        laws.append((lowered.law.law, [*lowered.law.arguments]))
    return tuple(
        dict.fromkeys(
            f"{law.signature}: {law.note}"
            for law, arguments in laws
            if law is not None and law.note and not _read_alike(law, arguments)
        )
    )


def _read_alike(law: Law, arguments: Sequence[object]) -> bool:
    """Whether the argument that the note begins with is 1, its own square, root and inverse."""
    names = [one.name for one in law.parameters]
    noted = law.note.partition(" ")[0]
    return noted in names and arguments[names.index(noted)] == 1


def of_calls(interval: Interval, tally: Tally, theta: Theta, alpha: float) -> Interval:
    """An interval from draws, widened to hold the one from calls."""
    half = between_parts(*tally.by_call, theta, alpha)
    too_far = 2 * half > TOO_FAR * (interval.high - interval.low)
    unmet = too_far and tally.calls >= FEWEST_CALLS
    return replace(
        interval,
        low=min(interval.low, interval.estimate - half),
        high=max(interval.high, interval.estimate + half),
        unmet=Reason.NOT_INDEPENDENT.explain() if unmet else interval.unmet,
    )


def effect_of(tally: Tally) -> float:
    """How many draws count as one, where a slot declares the draws of a call independent."""
    return design_effect(*tally.by_call) if tally.program.declared else 1.0


def dependent(tally: Tally) -> bool:
    """Whether the counts of calls show that draws of a call depend on each other."""
    return tally.calls >= FEWEST_CALLS and effect_of(tally) > TOO_FAR**2


# ---- wrong draws ---------------------------------------------------------------------------------
#
# Draws that are undefined, or that show an error of code: how many there are, and one of them.


def first_wrong(
    tally: Tally, draw: int, streams: Callable[[int, int], np.random.Generator], purpose: int
) -> str:
    """A wrong draw of code, in words; its span is drawn once more.

    It is any draw of the span, of what the tally was drawn for.
    """
    # the pilot's first stream is left to what looks at single draws
    span = draw // tally.program.span_values + (purpose == PILOT)
    shown = example(tally.program, streams(purpose, span))
    return f", the first with {shown}" if shown else ""


# ---- witness -------------------------------------------------------------------------------------
#
# The second witness of a verdict: the exact value by the model. And which guarantee is enough.
#
# Draws and exact value are two ways to one number. Where they agree, the verdict is confirmed.
# Where they do not, one of them is wrong, and no verdict of the run can be trusted.


SELDOM = 1e-6
"""The largest error rate of a case at which chance does not explain an interval that misses."""

WITNESS_ROUNDING = 1e-9
"""The relative difference of two ways to one number that rounding alone may make."""


def inside(exact: Exact, interval: tuple[float, float], scale: float | None) -> bool:
    """Whether an interval holds an exact value, give or take its error and rounding.

    >>> inside(Exact(512.0), (509.1, 514.6), 512.0), inside(Exact(500.0), (509.1, 514.6), 512.0)
    (True, False)
    >>> inside(Exact(1 / 3 + 1e-16), (1 / 3, 1 / 3), None)
    True
    """
    give = exact.error + WITNESS_ROUNDING * max(abs(exact.value), scale or 0.0)
    low, high = interval
    return low - give <= exact.value <= high + give


def with_digits(exact: Exact | None, resolution: Resolution | None) -> Exact | None:
    """An exact value that is known well enough to show; else None.

    It must be known to three digits, or to a hundredth of the resolution.

    >>> with_digits(Exact(1.6e-9, 1.4e-4), Resolution(5e-13, 5e-13))
    >>> with_digits(Exact(0.0, 1e-11), Resolution(0.01, 0.01))
    Exact(value=0.0, error=1e-11)
    """
    if exact is None or resolution is None:
        return exact
    return exact if exact.error <= max(abs(exact.value) / 1_000, resolution.asked / 100) else None


def disagreement(
    case: Case, exact: Exact, interval: tuple[float, float], seed: int
) -> InternalError:
    """The error of an interval that misses the exact value where chance does not explain it."""
    ends = f"[{interval[0]:.10g}, {interval[1]:.10g}]"
    return InternalError(
        Problem(
            f"{case_name(case.claim.id, case.parameters)}: the draws say {ends}, and by the model "
            f"the exact value is {exact.value:.10g}",
            case.claim.location,
            hint=f"one of the two is wrong: {TO_REPORT}, with the claim and the seed, {seed}",
        )
    )


# ---- case run ------------------------------------------------------------------------------------


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
# Under a time limit, a request takes at most so many seconds of one thread, or this fraction of the
# time that is left.
TURN_SECONDS = 0.05
TURNS_LEFT = 1000
# The fewest draws that an interval is made from, and the draws in which ties are looked for.
FEWEST_DRAWS = 1024
PILOT_DRAWS = 2048
# Draws confirm an exact value to so many times the resolution, with at most so many draws, and this
# part of the work that a case may cost.
CONFIRMING = 5.0
MOST_TO_CONFIRM = 2**20
SHARE_TO_CONFIRM = 20
Judging = Generator[Request, SpanSums, "Finding"]
"""A judge of a case: it asks for draws, is sent their sums, and returns its finding."""


@dataclass(frozen=True, slots=True, kw_only=True)
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
    confirmed: bool | None = None  # whether draws confirm the exact value that gave the verdict
    warnings: tuple[str, ...] = ()

    @property
    def reason(self) -> Reason | None:
        """Why, without the numbers."""
        return None if self.explanation is None else self.explanation.reason

    def left_open(self, why: Explanation) -> Finding:
        """The finding without a verdict, for a reason that more draws do not remove."""
        return replace(self, verdict=Verdict.UNDECIDED, explanation=why, more_draws=None)


def not_drawn(why: Explanation) -> Finding:
    """The finding that nothing was drawn, and why."""
    return Finding(verdict=Verdict.UNDECIDED, method=None, explanation=why)


def drawn_so_far(tally: Tally, method: Method | None, guarantee: Guarantee) -> Finding:
    """The finding without a verdict, with what was drawn."""
    return Finding(
        verdict=Verdict.UNDECIDED,
        method=method,
        guarantee=guarantee,
        draws=tally.draws,
        blocks=tally.blocks,
        seconds=tally.seconds,
        sampling=tally.program.sampling,
    )


OF_SLOW_CODE = 0.05
"""The resolution of code that has used up its time, where neither claim nor run gives one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRun:
    """One run of a case: what it is run with, its draws, and its result."""

    prepared: Prepared
    settings: Settings
    alpha: float  # the case's own share of the error rate
    deadline: Deadline = field(default_factory=Deadline)  # never by default
    most_seconds: float = math.inf  # of the processor, that draws of code may take
    seconds: dict[int, float] = field(default_factory=dict)  # what draws took, by purpose
    # that each quantity has its exact value, which draws are to confirm; None: the claim is judged
    confirms: Reading | None = None
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
        return self.prepared.reading if self.confirms is None else self.confirms

    @property
    def resolution(self) -> float:
        """The resolution of the case, as a share of its scale.

        Where nobody asked for one, code that is too slow for the usual one is judged less sharply.
        """
        claim, asked = self.case.claim, self.settings.resolution
        if asked is not None:
            return asked
        late = claim.of_code and not claim.sharpness_given and self.out_of_time()
        if late and not counts_draws(self.prepared.statement):
            return max(claim.resolution, OF_SLOW_CODE)
        return claim.resolution

    @property
    def asymptotic(self) -> bool:
        """Whether the limit theorem judges what the model does not bound."""
        return self.settings.asymptotic or self.case.claim.asymptotic

    def asked(self, scale: float) -> float:
        """The resolution that is asked for, in the unit of the quantity; 0 without a scale."""
        within = self.case.claim.within
        absolute = within is not None and self.settings.resolution is None
        sharp = within if within is not None and absolute else self.resolution * scale
        return self.sharpest(sharp) if math.isfinite(sharp) else 0.0

    def sharpness(self, scale: float, about: float | None = None) -> float:
        """How sharply the case is looked at: as asked for, or finer.

        A promise of more than half of what is claimed says little of it.

        `about` is the largest number that it compares, where that is not the scale.
        """
        return min(self.asked(scale), COARSE * (scale if about is None else about))

    def sharpest(self, resolution: float) -> float:
        """The resolution that draws need: exact values are confirmed to several times that."""
        return resolution if self.confirms is None else CONFIRMING * resolution

    def looked(self, scale: float, widening: float, unit: float = 1.0) -> Resolution | None:
        """How sharply a case of this scale was looked at; None where there is no scale.

        `widening` is that of its region, in units of `unit`; 0 in arithmetic.
        """
        absolute = self.case.claim.within is not None and self.settings.resolution is None
        asked = self.asked(scale)
        narrowed = 0 < widening < asked / unit
        return Resolution(asked, widening * unit, absolute, narrowed) if asked > 0 else None

    def most_draws(self, program: Program) -> int:
        """The budget in draws; a time limit takes its place, as code under test always has one."""
        by_default = int(min(MOST_DRAWS_BY_DEFAULT, DEFAULT_WORK / program.cost))
        limited = self.settings.time_limit is not None or self.case.claim.of_code
        most = self.settings.max_draws or (UNLIMITED_DRAWS if limited else max(1, by_default))
        if self.confirms is None:
            return most
        return max(1, min(MOST_TO_CONFIRM, by_default // SHARE_TO_CONFIRM, most))

    def out_of_time(self) -> bool:
        """Whether the time is up: that of the whole run, or of the case's code."""
        return self.time_left() <= 0

    def time_left(self) -> float:
        """Seconds until the time is up."""
        return min(self.deadline.left(), self.most_seconds - sum(self.seconds.values()))

    @property
    def threads(self) -> int:
        """Threads that draw."""
        return self.settings.threads or default_threads()

    def generator(self, purpose: int, span: int) -> np.random.Generator:
        """A generator of random numbers: one of the case's own streams."""
        return stream(self.settings.seed, self.case.stream_key, purpose, span)

    def looks(self, program: Program, *, expected: int, fewest: int, most: int) -> Iterator[Look]:
        """The looks at the draws of a program, from the first on.

        Args:
            program: the program that draws.
            expected: draws after which a verdict is expected.
            fewest: draws before which no look is worth its error.
            most: the budget that the looks are planned for.
        """
        if self.confirms is not None and expected > self.most_draws(program):
            return iter([Look(program.span_draws, self.alpha)])  # it shows what is drawn
        fewest = min(max(fewest, program.fewest_planned), most)
        early = self.confirms is None  # an exact value that is grossly false is our own error
        return intervals.looks(
            expected, fewest, most, self.alpha, span=program.span_draws, early=early
        )

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
            left = self.time_left()
            if left < math.inf:
                turn = self.threads * max(TURN_SECONDS, left / TURNS_LEFT)
                count = min(count, max(1, int(turn / max(a_span, 1e-9))))
            if program.tests_code and not tally.spans:
                count = 1  # it shows how long a call takes
            spans = yield Request(
                program=program,
                seed=self.settings.seed,
                case_key=self.case.stream_key,
                purpose=purpose,
                centres=tally.centres,
                first=offset + tally.spans,
                count=count,
                planned=(needed - tally.spans) * program.span_draws,
            )
            if offset and spans.first_undefined is not None:  # its number among the pilot's draws
                first = max(spans.first_undefined - program.span_values, 0)
                spans = replace(spans, first_undefined=first)
            tally.add(spans)  # fewer come back than were asked for where time is up
            self.spans[purpose] = tally.spans
            self.seconds[purpose] = self.seconds.get(purpose, 0.0) + spans.seconds
            if self.out_of_time():
                return

    def refuse_if_nowhere_defined(self, pilot: Tally) -> None:
        """Refuse a case where not one draw is defined: then the model is wrong, not the claim.

        Where only the powers of finite draws overflow, the case is undecided instead.

        Raises:
            DropcheckError: with the parameters for which it is so.
        """
        if not pilot.nowhere_defined or pilot.program.tests_code:
            return
        if isinstance(self.prepared.compiled, Compiled):  # or only powers overflow
            program = self.prepared.compiled.program
            if program.finite(self.generator(PILOT, 0), min(program.span_draws, PILOT_DRAWS)):
                return
        where = parameter_text(self.case.parameters)
        raise self.prepared.lowered.at.error(
            f"{self.case.claim.id}: what the claim looks at is NaN or infinite on every draw"
            + (f" where {where}" if where else ""),
            LOOK_FOR,
        )

    def undefined(
        self, tally: Tally, method: Method | None, guarantee: Guarantee, purpose: int = MAIN
    ) -> Finding | None:
        """The finding where some draw is NaN or infinite; None where none is."""
        if not tally.undefined:
            return None
        first, drawn, undefined = tally.first_undefined or 0, tally.looked_at, tally.undefined
        found = replace(drawn_so_far(tally, method, guarantee), draws=tally.drawn)
        if tally.program.tests_code:  # what may be NaN or infinite has no mean
            shown = first_wrong(tally, first, self.generator, purpose)
            why = Reason.NOT_NUMBERS.explain(undefined=undefined, draws=drawn, first=shown)
            return replace(found, verdict=Verdict.REFUTED, explanation=why)
        if tally.nowhere_defined:
            return replace(found, explanation=Reason.POWERS_OVERFLOW.explain())
        percent = float(f"{100 * undefined / drawn:.2g}")
        why = Reason.UNDEFINED_DRAWS.explain(
            undefined=undefined, draws=drawn, percent=percent, first=first + 1
        )
        return replace(found, explanation=why)

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
        known = self.prepared.knowledge
        taken = (f"{claim.id}: {note}" for note in (known.notes if known else ()))
        confirmed, warnings = self._confirmed(finding, region), (*finding.warnings, *taken)
        if confirmed is False and finding.confirmed is None:
            why = "the interval misses the exact value, which chance may do at this error rate"
            warnings = (*warnings, f"{claim.id}: {why}")
        within = promised(
            finding.verdict, region, finding.interval, finding.sharpness, finding.within
        )
        if finding.verdict is Verdict.UNDECIDED:
            outcome = Outcome.UNDECIDED
        else:
            outcome = Outcome.PASS if finding.verdict is Verdict(claim.expect) else Outcome.FAIL
        calls, program, spans = None, self.prepared.compiled.program, self.spans.get(MAIN, 0)
        if spans and program.tests_code:
            calls = CallCount(program.calls(spans, finding.draws), program.declared)
        more = None
        if finding.more_draws is not None and finding.more_draws < 1e18:
            more = max(1, math.ceil(finding.more_draws))
        interval, refuted = finding.interval, finding.verdict is Verdict.REFUTED
        told: dict[str, Any] = {name: getattr(finding, name) for name in _TOLD}
        told |= {name: _finite(told[name]) for name in ("estimate", "standard_error", "scale")}
        told |= {
            "quantity": quantity,
            "region": region,
            "interval": None if interval is None else (_finite(interval[0]), _finite(interval[1])),
            "within": within,
            "confirmed": confirmed,
            "more_draws": more,
            "warnings": warnings,
        }
        return CaseResult(
            **of_case(self.case, self.alpha),
            **told,
            expression=expression(self.prepared.statement, quantity, finding.entry),
            relations=self.prepared.lowered.operators if finding.sides else (),
            resolution=self.resolution,
            result=outcome,
            laws=often_misread(self.prepared.lowered) if refuted else (),
            timed_out=more is not None and self.out_of_time(),
            more_seconds=None
            if more is None or not finding.draws
            else more * finding.seconds / finding.draws / self.threads,
            calls=calls,
        )

    def _confirmed(self, finding: Finding, region: Region | None) -> bool | None:
        """Whether draws and exact value agree; None where there is nothing to compare.

        An interval by the limit theorem that gave no verdict is not compared.

        Raises:
            InternalError: they do not, and chance does not explain it.
        """
        if finding.method is Method.EXACT_VALUE:
            return finding.confirmed
        exact, interval, verdict = finding.exact, finding.interval, finding.verdict
        basis = finding.guarantee
        trusted = verdict is not Verdict.UNDECIDED or (basis not in (None, Guarantee.ASYMPTOTIC))
        if exact is None or interval is None or region is None or not (trusted and finding.draws):
            return None
        if not inside(exact, interval, finding.scale):
            if self.alpha <= SELDOM:
                raise disagreement(self.case, exact, interval, self.settings.seed)
            return False
        return True if verdict is not Verdict.UNDECIDED else None

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


_TOLD = {one.name for one in fields(CaseResult)} & {one.name for one in fields(Finding)}
"""What a result tells of a finding."""


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
