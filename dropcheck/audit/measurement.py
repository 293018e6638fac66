"""An audit from its plan to its rows."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from contextlib import closing

from dropcheck.audit.audited_claims import Subject, own, twins, why_no_twin
from dropcheck.audit.error_rates import FALSE_ALARM, Audit, Counts, Row, Truth
from dropcheck.audit.repeat import Plan, ready, repeat, trial
from dropcheck.claims.registry import Case
from dropcheck.language.cases import parameter_text
from dropcheck.results import Settings

Advance = Callable[[str], None]
"""Told the claim of each task that is done."""


def carry_out(plan: Plan, processes: int, name: str, advance: Advance) -> Audit:
    """Every row of a plan.

    An interruption keeps the repetitions that were finished.

    Args:
        plan: what is repeated.
        processes: how many to work with; no count depends on it.
        name: of what is audited, for the report.
        advance: told of progress.

    Raises:
        DropcheckError: where a case cannot be judged at all.
    """
    started = time.perf_counter()
    counts = dict.fromkeys(plan.rows, Counts())
    interrupted = False
    try:
        with closing(repeat(plan, processes)) as done:
            for task, found in done:
                counts[task.subject, task.alpha] += found
                advance(plan.subjects[task.subject].case.claim.id)
    except KeyboardInterrupt:
        interrupted = True
    rows = tuple(
        _row(plan.subjects[place], alpha, found, FALSE_ALARM / len(counts))
        for (place, alpha), found in counts.items()
        if found.runs
    )
    seconds = time.perf_counter() - started
    return Audit(name, rows, plan.seed, seconds, processes, interrupted=interrupted)


def _row(subject: Subject, alpha: float, counts: Counts, level: float) -> Row:
    case = subject.case
    return Row(
        case.claim.id,
        dict(case.parameters),
        case.claim.statement.text.strip(),
        subject.truth,
        subject.off,
        0.0 if subject.truth is Truth.UNDEFINED else alpha,  # never verified, at any α
        counts,
        level,
    )


def own_subjects(
    cases: Sequence[Case], shift: float | None, resolution: float | None, settings: Settings
) -> tuple[tuple[Subject, ...], tuple[str, ...]]:
    """The cases, each followed by its shifted twins; and what has none, and why.

    Args:
        cases: taken to be what they are expected to be.
        shift: the share of a claim's scale; None for no twins.
        resolution: how sharply to look, in place of each claim's own.
        settings: seed and limits of the one trial of each case that finds its scale.

    Raises:
        DropcheckError: where a shift is within the resolution of a claim.
    """
    subjects: list[Subject] = []
    left_out: list[str] = []
    if resolution is not None:
        cases = [_looked_at(case, resolution) for case in cases]
    for case, subject in zip(cases, own(cases), strict=True):
        subjects.append(subject)
        if shift is None:
            continue
        reason = why_no_twin(case)
        scale = None
        if reason is None:
            scale = trial(ready(subject), settings, 0.05).scale
            if not scale:
                reason = "its scale could not be found"
        if reason is not None or scale is None:
            where = parameter_text(case.parameters)
            left_out.append(
                f"shifted twins of {case.claim.id}{f' ({where})' if where else ''}: {reason}"
            )
            continue
        subjects += twins(case, scale, shift)
    return tuple(subjects), tuple(left_out)


def _looked_at(case: Case, resolution: float) -> Case:
    claim = dataclasses.replace(case.claim, resolution=resolution, within=None)
    return Case(claim, case.parameters)
