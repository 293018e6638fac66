"""A case made ready once, to be tried any number of times: with other seeds, or another α."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from dropcheck.analysis.existence import missing_moment, operators
from dropcheck.claims.registry import Case
from dropcheck.execution.deadline import Deadline
from dropcheck.inference.comparison import Reading, read_statement
from dropcheck.judging.arithmetic import by_arithmetic
from dropcheck.judging.block_means import by_block_means
from dropcheck.judging.counting import by_counterexample, by_proportion
from dropcheck.judging.rare import too_many_conditions
from dropcheck.judging.trial import Finding, Trial
from dropcheck.language.cases import LoweredCase, lower_case, parse_claim
from dropcheck.language.syntax import Statement
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import CaseResult, Settings, Verdict
from dropcheck.settings import DEFAULT_MEMORY
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.compile import (
    Certainty,
    Compiled,
    Proportion,
    certainty,
    compile_case,
    proportion,
)
from dropcheck.simulation.program import Program, SpanSums


@dataclass(frozen=True, slots=True)
class Unanswerable:
    """Why no sample can settle the case, whatever its size."""

    why: Explanation


Means = Certainty | Proportion | Compiled | Unanswerable | None
"""What a case is judged by; None where nothing in it is random."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A case read and compiled, with the strongest means that its statement allows."""

    case: Case
    statement: Statement
    lowered: LoweredCase
    reading: Reading  # the statement as quantities and regions
    key: str  # what the case's streams are named after
    means: Means

    def trial(
        self, settings: Settings, alpha: float, repeat: str = "", deadline: Deadline | None = None
    ) -> Trial:
        """The case under trial.

        Args:
            settings: seed and limits.
            alpha: the case's own share of the error rate.
            repeat: the command that repeats the trial.
            deadline: when to stop; never by default.
        """
        end = deadline or Deadline()
        return Trial(
            case=self.case,
            settings=settings,
            alpha=alpha,
            statement=self.statement,
            lowered=self.lowered,
            reading=self.reading,
            key=self.key,
            repeat=repeat,
            deadline=end,
        )

    def with_programs(self, change: Callable[[Program], Program]) -> Prepared:
        """The same case with what it simulates drawn otherwise, in other spans for example."""
        match self.means:
            case Certainty(program, exact):
                means: Means = replace(self.means, program=change(program), exact=change(exact))
            case Proportion(program) | Compiled(program):
                means = replace(self.means, program=change(program))
            case _:
                means = self.means
        return replace(self, means=means)


def prepare(case: Case, *, crossing: bool, memory: int = DEFAULT_MEMORY) -> Prepared:
    """Read and compile a case.

    Args:
        case: the case.
        crossing: whether draws may be crossed with one another, where the model allows it.
        memory: bytes that one draw may take, together with what is fixed.

    Raises:
        DropcheckError: where the case cannot be judged at all.
    """
    parsed = parse_claim(case.claim)
    lowered = lower_case(parsed, case.parameters, memory)
    reading = read_statement(lowered, case.claim.tolerance)
    means = _means(lowered, crossing=crossing)
    return Prepared(case, parsed.statement, lowered, reading, case.key, means)


def _means(lowered: LoweredCase, *, crossing: bool) -> Means:
    looked_at = [value for found in operators(lowered.operands) for value in found.inputs]
    if not any(value.random for value in looked_at):
        return None
    missing = missing_moment(lowered)
    if missing is not None:
        return Unanswerable(missing)
    counted = certainty(lowered) or proportion(lowered)
    if counted is not None:
        return counted
    compiled = compile_case(lowered, crossing=crossing)
    if compiled.mean is None and compiled.program.overlooked:
        return Unanswerable(too_many_conditions(compiled.program))
    return compiled


def try_prepared(
    prepared: Prepared,
    settings: Settings,
    alpha: float,
    repeat: str,
    deadline: Deadline | None = None,
) -> Generator[Request, SpanSums, CaseResult]:
    """One trial of a case; asks for spans of draws as it goes.

    Args:
        prepared: the case.
        settings: seed and limits.
        alpha: the case's own share of the error rate.
        repeat: the command that repeats the trial.
        deadline: when to stop; by default the settings' time limit from now.

    Raises:
        DropcheckError: for what only a draw can show: nothing defined, an argument out of its
            law's domain.
    """
    end = deadline or Deadline.after(settings.time_limit)
    trial = prepared.trial(settings, alpha, repeat, end)
    return trial.result((yield from judged(trial, prepared.means)))


def judged(trial: Trial, means: Means) -> Generator[Request, SpanSums, Finding]:
    """What is found of a case; asks for spans of draws as it goes.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    if trial.out_of_time() and means is not None:
        return _unjudged(Reason.OUT_OF_TIME.explain())
    match means:
        case None:
            return by_arithmetic(trial)
        case Unanswerable(why):
            return _unjudged(why)
        case Certainty() as claim:
            return (yield from by_counterexample(trial, claim))
        case Proportion() as claim:
            return (yield from by_proportion(trial, claim))
        case compiled:
            return (yield from by_block_means(trial, compiled))


def _unjudged(why: Explanation) -> Finding:
    """A case of which no draw was made."""
    return Finding(verdict=Verdict.INCONCLUSIVE, method=None, explanation=why)
