"""A case made ready once, to be tried any number of times: with other seeds, or another α."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

import numpy as np

from dropcheck.analysis.strategy import (
    Arithmetic,
    BoundedMean,
    Certainty,
    Proportion,
    Strategy,
    Unanswerable,
    strategy_of,
)
from dropcheck.claims.registry import Case
from dropcheck.execution.schedule import Deadline
from dropcheck.inference.interval import FEWEST_BLOCKS
from dropcheck.inference.region import Reading, decide, read_statement
from dropcheck.judging.block_means import by_block_means
from dropcheck.judging.counting import by_counterexample, by_proportion
from dropcheck.judging.look import ROUNDING, scale_of, settling
from dropcheck.judging.trial import Finding, Floats, Trial
from dropcheck.language.cases import CaseGraphs, LoweredCase
from dropcheck.language.syntax import Statement
from dropcheck.reasons import Explanation, Reason
from dropcheck.results import CaseResult, Guarantee, Method, Settings, Verdict
from dropcheck.simulation import (
    Compiled,
    Counted,
    Program,
    Request,
    SpanSums,
    compile_strategy,
    means_of,
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A case read and compiled, with the strategy that its statement allows."""

    case: Case
    statement: Statement
    lowered: LoweredCase
    reading: Reading  # the statement as quantities and regions
    strategy: Strategy
    compiled: Compiled | Counted | None  # None where nothing is simulated

    @property
    def rests_on(self) -> str:
        """What a verdict would rest on, in words; or why there can be none."""
        match self.strategy:
            case Arithmetic():
                return "arithmetic: nothing is random"
            case Unanswerable(why):
                return str(why)
            case Certainty() | Proportion():
                return "exact: events are counted (Clopper and Pearson 1934)"
        if self.compiled is None:
            raise AssertionError("means of what is not simulated")
        program = self.compiled.program
        if program.paired:
            means = "asymptotic: means of independent batches"
            return f"{means}, with draws paired all with all in each"
        if isinstance(self.strategy, BoundedMean):
            return (
                "finite-sample: a bounded mean (Maurer and Pontil 2009), where that takes no more "
                "than twice the draws of the limit theorem"
            )
        means = "asymptotic: means of independent blocks"
        if program.sampling != "plain":
            means += ", over all combinations of each one's draws where that takes fewer"
        return means

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
            repeat=repeat,
            deadline=end,
        )

    def with_programs(self, change: Callable[[Program], Program]) -> Prepared:
        """The same case with what it simulates drawn otherwise, in other spans for example."""
        compiled = self.compiled
        if compiled is not None:
            compiled = replace(compiled, program=change(compiled.program))
        if isinstance(compiled, Counted) and compiled.exact is not None:
            compiled = replace(compiled, exact=change(compiled.exact))
        return replace(self, compiled=compiled)


def prepare(case: Case, graphs: CaseGraphs | None = None, *, crossing: bool = True) -> Prepared:
    """Compile a case from its graph.

    Args:
        case: the case.
        graphs: where its graph is taken from, which a check may have built already.
        crossing: whether draws may be crossed with one another, where the model allows it.

    Raises:
        DropcheckError: where the case cannot be judged at all.
    """
    graphs = graphs or CaseGraphs(keep=0)
    statement = graphs.parsed(case.claim).statement
    lowered = graphs.taken(case)
    reading = read_statement(lowered, case.claim.tolerance)
    strategy = strategy_of(lowered, case.claim.tolerance)
    compiled = compile_strategy(strategy, lowered.operands, crossing=crossing)
    return Prepared(
        case=case,
        statement=statement,
        lowered=lowered,
        reading=reading,
        strategy=strategy,
        compiled=compiled,
    )


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
    return trial.result((yield from judged(trial, prepared)))


def judged(trial: Trial, prepared: Prepared) -> Generator[Request, SpanSums, Finding]:
    """What is found of a case; asks for spans of draws as it goes.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    match prepared.strategy, prepared.compiled:
        case Arithmetic(), Compiled() as compiled:
            return by_arithmetic(trial, compiled)
        case _ if trial.out_of_time():
            return _unjudged(Reason.OUT_OF_TIME.explain())
        case Unanswerable(why), _:
            return _unjudged(why)
        case Certainty() as claim, Counted() as counted:
            return (yield from by_counterexample(trial, claim, counted))
        case Proportion() as claim, Counted() as counted:
            return (yield from by_proportion(trial, claim, counted))
        case _, Compiled() as compiled:
            return (yield from by_block_means(trial, compiled))
        case _:
            raise AssertionError("a strategy was compiled to what it is not judged by")


def _unjudged(why: Explanation) -> Finding:
    """A case of which no draw was made."""
    return Finding(verdict=Verdict.INCONCLUSIVE, method=None, explanation=why)


def by_arithmetic(trial: Trial, compiled: Compiled) -> Finding:
    """Nothing is random: the quantities are worked out once."""
    # one draw shows all that there is, and about its middle no digits cancel
    program, generator = compiled.program.fitted(1, FEWEST_BLOCKS), np.random.default_rng(0)
    ((centres, _),) = program.centres(generator, 1)
    means = means_of(program.span(generator, centres, 0).sums, 1)
    return _at_a_point(trial, compiled, means, centres)


def _at_a_point(trial: Trial, compiled: Compiled, means: Floats, centres: Floats) -> Finding:
    found = compiled.functional.evaluate(means[:, np.newaxis], centres)
    scale = scale_of(trial.reading, compiled, means, centres)
    _, largest = compiled.functional.at_averages(means, centres)
    rounding = ROUNDING * largest
    verdicts = []
    for comparison in trial.reading.comparisons:
        value = float(comparison.quantity(found)[0])
        if not math.isfinite(value):
            return Finding(
                verdict=Verdict.INCONCLUSIVE,
                method=Method.ARITHMETIC,
                guarantee=Guarantee.ARITHMETIC,
                scale=scale,
                explanation=Reason.UNDEFINED_ARITHMETIC.explain(),
            )
        # arithmetic needs no resolution: what is not equal is different
        verdicts.append((decide(value, value, comparison.region, 0.0, rounding), value, comparison))
    verdict, value, comparison = settling(verdicts)
    return Finding(
        verdict=verdict,
        method=Method.ARITHMETIC,
        guarantee=Guarantee.ARITHMETIC,
        quantity=comparison.measures,
        region=comparison.region,
        estimate=value,
        interval=(value, value),
        standard_error=0.0,
        scale=scale,
        sharpness=trial.looked(scale, widening=0.0),
    )
