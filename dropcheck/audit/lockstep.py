"""Many repetitions of one case side by side: those that ask for the same spans share a call.

Each repetition is the trial that `run` makes, and is told the sums of its own draws alone. Only who
draws them is another: one call for many repetitions, where each would have made its own.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from dropcheck.judging.prepared import Prepared, judged
from dropcheck.judging.trial import Finding
from dropcheck.results import Settings
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.program import SpanSums
from dropcheck.simulation.repetitions import Supply, spans_of_a_call

Judge = Generator[Request, SpanSums, Finding]


def in_lockstep(
    prepared: Prepared, settings: Sequence[Settings], alpha: float
) -> Iterator[Finding]:
    """A trial for each of the settings, in any order.

    What they draw depends on all of them, so that one alone is repeated with the others.

    Args:
        prepared: the case.
        settings: seed and limits of each trial.
        alpha: the error rate that each promises.

    Raises:
        DropcheckError: for what only a draw can show.
    """
    supply = Supply(settings[0].seed, prepared.case.key)
    waiting: list[tuple[Judge, Request]] = []

    def proceed(trial: Judge, found: SpanSums | None) -> Iterator[Finding]:
        try:
            waiting.append((trial, next(trial) if found is None else trial.send(found)))
        except StopIteration as stop:
            finding: Finding = stop.value
            yield finding

    for one in settings:
        begun = prepared.trial(one, alpha)
        if len(settings) > 1:
            begun = replace(begun, supply=supply)
        yield from proceed(judged(begun, prepared.means), None)
    while waiting:
        groups: dict[tuple[object, ...], list[tuple[Judge, Request]]] = {}
        for trial, request in waiting:
            program, centres = request.program, request.centres.tobytes()
            # a case has one list of steps, cut into spans as each trial's pilot asks for
            kept = () if program.separations is None else program.separations.kept
            alike = (id(program.steps), program.span_draws, program.span_blocks, kept, centres)
            groups.setdefault(alike, []).append((trial, request))
        waiting = []
        for group in groups.values():
            for trial, found in _carried_out(group, supply):
                yield from proceed(trial, found)


def _carried_out(
    group: list[tuple[Judge, Request]], supply: Supply
) -> Iterator[tuple[Judge, SpanSums]]:
    """Each trial with its sums, in order; the program and the centres are those of all."""
    _, first = group[0]
    if len(group) == 1 or spans_of_a_call(first.program) == 1:
        for trial, request in group:
            yield trial, request.carry_out()
        return
    counts = [request.count for _, request in group]
    shares = supply.shares(first.program, first.centres, counts)
    for (trial, _), found in zip(group, shares, strict=True):
        yield trial, found
