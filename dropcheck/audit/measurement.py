"""An audit from its plan to its rows: the whole procedure is repeated with fresh streams.

A repetition does what `run` does: the same pilot, looks, intervals and decisions. But a case is
read and compiled only once, and spans are cut to the size of the task.
"""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from dropcheck.audit.audited_claims import OWN, Subject, own, twins, why_no_twin
from dropcheck.audit.error_rates import FALSE_ALARM, Audit, AuditRow, Truth, VerdictCounts
from dropcheck.claims.registry import Case
from dropcheck.claims.values import parameter_text
from dropcheck.execution.executors import shared
from dropcheck.execution.schedule import carried_out
from dropcheck.judging.judge import run_case
from dropcheck.judging.prepared import Prepared, prepare
from dropcheck.records import record
from dropcheck.results import CaseResult, Verdict
from dropcheck.settings import Settings

# Blocks of a span: the fewest that an interval is made from.
SPAN_BLOCKS = 64
# Repetitions of a task, which takes about a second.
CHUNK = 250


@record
class Task:
    """Repetitions `first` … `first + count − 1` of a subject at one α."""

    subject: int  # its place among the subjects
    alpha: float
    first: int
    count: int


@record
class AuditPlan:
    """What is repeated, and how often."""

    subjects: tuple[Subject, ...]
    alphas: tuple[float, ...]
    repetitions: int
    seed: int = 0
    max_draws: int = OWN.most_draws

    def tasks(self) -> Iterator[Task]:
        """Every repetition once, row after row."""
        for subject, alpha in itertools.product(range(len(self.subjects)), self.alphas):
            for first in range(0, self.repetitions, CHUNK):
                yield Task(subject, alpha, first, min(CHUNK, self.repetitions - first))

    @property
    def rows(self) -> list[tuple[int, float]]:
        """Subject and α of each row."""
        return list(itertools.product(range(len(self.subjects)), self.alphas))


def ready(subject: Subject) -> Prepared:
    """A subject prepared once for all its repetitions.

    Raises:
        DropcheckError: where the case cannot be judged at all.
    """
    prepared, block = prepare(subject.case), subject.block
    if block is None:
        return prepared
    return prepared.with_programs(lambda program: program.in_blocks_of(block, SPAN_BLOCKS * block))


def run_once(prepared: Prepared, settings: Settings, alpha: float) -> CaseResult:
    """One run of a case, from its first draw to its verdict, in this thread.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    return carried_out(run_case(prepared, settings, alpha))


@dataclass(slots=True)
class Repeater:
    """Carries out tasks of one plan; the last prepared case is kept, as tasks come row by row."""

    plan: AuditPlan
    held: tuple[int, Prepared] | None = None

    def __call__(self, task: Task) -> VerdictCounts:
        """The repetitions of a task, each with a seed of its own."""
        started = time.perf_counter()
        plan = self.plan
        if self.held is None or self.held[0] != task.subject:
            subject = plan.subjects[task.subject]
            self.held = (task.subject, ready(subject))
        settings = [
            # seeds are hashed with the case into streams: consecutive ones are unrelated
            Settings(
                seed=plan.seed * 2**32 + repetition,
                max_draws=plan.max_draws,
                require=plan.subjects[task.subject].require,
            )
            for repetition in range(task.first, task.first + task.count)
        ]
        verdicts: Counter[Verdict] = Counter()
        draws = 0
        for one in settings:
            result = run_once(self.held[1], one, task.alpha)
            verdicts[result.verdict] += 1
            draws += result.draws
        return VerdictCounts(
            verified=verdicts[Verdict.VERIFIED],
            refuted=verdicts[Verdict.REFUTED],
            inconclusive=verdicts[Verdict.INCONCLUSIVE],
            draws=draws,
            seconds=time.perf_counter() - started,
        )


def repeat(plan: AuditPlan, processes: int) -> Generator[tuple[Task, VerdictCounts], None, None]:
    """Carry out every task, and yield each as it is done.

    The counts do not depend on the number of processes; one is this process.

    Raises:
        DropcheckError: where a case cannot be judged at all.
    """
    return shared(Repeater(plan), plan.tasks(), processes)


def carry_out(plan: AuditPlan, processes: int, name: str, advance: Callable[[str], None]) -> Audit:
    """Every row of a plan; an interruption keeps the repetitions that were finished.

    Args:
        plan: what is repeated.
        processes: how many to work with; no count depends on it.
        name: the name of what is audited, for the report.
        advance: called with the claim of each task that is done.

    Raises:
        DropcheckError: where a case cannot be judged at all.
    """
    started = time.perf_counter()
    counts = dict.fromkeys(plan.rows, VerdictCounts())
    groups = len({subject.group for subject in plan.subjects} - {""})
    interrupted = False
    try:
        with closing(repeat(plan, processes)) as done:
            for task, more in done:
                counts[task.subject, task.alpha] += more
                advance(plan.subjects[task.subject].case.claim.id)
    except KeyboardInterrupt:
        interrupted = True
    return Audit(
        name=name,
        rows=tuple(
            _row(plan.subjects[place], alpha, own_counts, FALSE_ALARM / (len(counts) + groups))
            for (place, alpha), own_counts in counts.items()
            if own_counts.runs
        ),
        seed=plan.seed,
        seconds=time.perf_counter() - started,
        processes=processes,
        interrupted=interrupted,
    )


def _row(subject: Subject, alpha: float, counts: VerdictCounts, level: float) -> AuditRow:
    case = subject.case
    return AuditRow(
        claim=case.claim.id,
        parameters=dict(case.parameters),
        statement=case.claim.statement.text.strip(),
        truth=subject.truth,
        off=subject.off,
        promise=0.0 if subject.truth is Truth.UNDEFINED else alpha,  # no verdict is right
        counts=counts,
        alarm_level=level,
        group=subject.group,
    )


def own_subjects(
    cases: Sequence[Case], shift: float | None, resolution: float | None, settings: Settings
) -> tuple[tuple[Subject, ...], tuple[str, ...]]:
    """The cases, each followed by its shifted twins; and which have none, and why.

    Args:
        cases: they are taken to be as they are expected to be.
        shift: a share of each claim's scale; None for no twins.
        resolution: how sharply to look, instead of each claim's own.
        settings: seed and limits of one run of each case, which shows its scale.

    Raises:
        DropcheckError: where a shift is within the resolution of a claim.
    """
    subjects: list[Subject] = []
    left_out: list[str] = []
    for given in cases:
        case = given
        if resolution is not None:
            claim = dataclasses.replace(case.claim, resolution=resolution, within=None)
            case = Case(claim, case.parameters)
        subject = own(case)
        subjects.append(subject)
        if shift is None:
            continue
        reason = why_no_twin(case)
        scale = None if reason else run_once(ready(subject), settings, 0.05).scale
        if scale:
            subjects += twins(case, scale, shift)
            continue
        where = parameter_text(case.parameters)
        which = f"{case.claim.id}{f' ({where})' if where else ''}"
        why = reason or "its scale is not known"
        left_out.append(f"shifted twins of {which}: {why}")
    return tuple(subjects), tuple(left_out)
