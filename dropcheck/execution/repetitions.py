"""Repetitions of one case, run together: those that ask for the same spans share a call.

A call of numpy costs as much as a thousand draws, and for a short span, creating a stream costs as
much as the span. So spans of many repetitions are drawn by one call. Each repetition gets the sums
of its own draws, which are made as its own spans would be, except that the stream is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from dropcheck.array_types import Floats, Truths
from dropcheck.execution.schedule import Done, Judge, advanced
from dropcheck.records import record
from dropcheck.simulation.blocks import Request, joined
from dropcheck.simulation.program import Program, SpanSums, broken_span
from dropcheck.simulation.streams import TOGETHER, stream

Result = TypeVar("Result")

# Numbers stored by one call. With fewer, calls cost more; with more, arrays leave the caches
# (measured: with a quarter of it, 3% more time).
NUMBERS = 2**19
# One call makes the first draws of at most this many repetitions, so that few are left over.
MOST_CENTRES = 64


def in_lockstep(starts: Sequence[Callable[[], Judge[Result]]], supply: Supply) -> Iterator[Result]:
    """The results of repetitions of one case, in any order.

    Their draws depend on all of them, so one repetition can only be repeated with the others.

    Raises:
        DropcheckError: an error that only a draw can show.
    """
    waiting: list[tuple[Judge[Result], Request]] = []

    def proceed(judge: Judge[Result], sums: SpanSums | None) -> Iterator[Result]:
        step = advanced(judge, sums)
        if isinstance(step, Done):
            yield step.result
        else:
            waiting.append((judge, step))

    for start in starts:
        yield from proceed(start(), None)
    while waiting:
        groups: dict[tuple[object, ...], list[tuple[Judge[Result], Request]]] = {}
        for judge, request in waiting:
            groups.setdefault(_likeness(request), []).append((judge, request))
        waiting = []
        for group in groups.values():
            drawn = _drawn_together([request for _, request in group], supply)
            for (judge, _), sums in zip(group, drawn, strict=True):
                yield from proceed(judge, sums)


def _likeness(request: Request) -> tuple[object, ...]:
    """A key that is equal for requests which one call can draw."""
    program, centres = _alone(request), request.centres.tobytes()
    # a case has one list of steps; each repetition's pilot decides how they are cut into spans
    cells = id(program.counter)  # each repetition has its own, from its first draws
    spans = (program.span_draws, program.span_blocks, program.net, program.clips)
    return id(program.steps), cells, *spans, centres


def _drawn_together(requests: Sequence[Request], supply: Supply) -> Iterator[SpanSums]:
    """The sums of each request, in order; all have the same program and centres."""
    first, program = requests[0], _alone(requests[0])
    if len(requests) == 1 or spans_of_a_call(program) == 1:
        yield from (request.carry_out() for request in requests)
        return
    yield from supply.shares(program, first.centres, [request.count for request in requests])


def _alone(request: Request) -> Program:
    """The program of a request; repetitions of one case are never joined with other cases."""
    assert isinstance(request.program, Program)
    return request.program


def spans_of_a_call(program: Program) -> int:
    """How many spans of a program one call draws, at least 1."""
    if program.whole:  # more draws in one call of code would depend on each other
        return 1
    return max(1, NUMBERS // max(1, _held(program, program.span_draws)))


def _held(program: Program, draws: int) -> int:
    """Numbers stored by these draws; in a crossed program, with the pairs of a span."""
    held = 0
    paired: set[int] = set()  # registers with a number for every pair of draws
    for step in program.steps:
        if step.crossed or not paired.isdisjoint(step.inputs):
            paired.add(step.target)
        count = program.span_values if step.target in paired else draws
        held += step.value.elements * count
    return held


class Supply:
    """Spans from streams that all repetitions of a case share, drawn call by call."""

    def __init__(self, seed: int, case_key: str) -> None:
        self._seed = seed
        self._case_key = case_key
        self._calls = 0
        self._centres: dict[tuple[int, ...], list[Floats]] = {}

    def centres(self, program: Program, draws: int) -> Floats:
        """The centres of one repetition, from its first draws, as in `Program.centres`."""
        alike = (id(program.steps), program.span_draws, program.span_blocks, program.net, draws)
        waiting = self._centres.setdefault(alike, [])
        if not waiting:
            held = _held(program, program.span_draws if program.paired else draws)
            parts = min(MOST_CENTRES, max(1, NUMBERS // max(1, held)))
            bulk = _of_spans(program, parts) if program.paired else program
            waiting += bulk.centres(self._stream(), draws, parts)
        return waiting.pop()

    def shares(
        self, program: Program, centres: Floats, counts: Sequence[int]
    ) -> Iterator[SpanSums]:
        """Spans for each of several repetitions, in order; `counts` has their numbers.

        An undefined draw is counted from the first span of its repetition in a call.
        """
        calls = self._calls_for(program, centres, sum(counts))
        call, taken = next(calls), 0
        for count in counts:
            pieces: list[SpanSums] = []
            left = count
            while left:
                if taken == call.spans:
                    call, taken = next(calls), 0
                own = min(left, call.spans - taken)
                pieces.append(call.part(taken, taken + own))
                taken, left = taken + own, left - own
            yield pieces[0] if len(pieces) == 1 else joined(pieces)

    def _calls_for(self, program: Program, centres: Floats, count: int) -> Iterator[_Call]:
        while count:
            spans = min(count, spans_of_a_call(program))
            bulk = _of_spans(program, spans)
            sums, bad = bulk.drawn(self._stream(), centres, spans)
            yield _Call(program=program, spans=spans, sums=sums, bad=bad)
            count -= spans

    def _stream(self) -> np.random.Generator:
        """The next of the streams that all repetitions share."""
        self._calls += 1
        return stream(self._seed, self._case_key, TOGETHER, self._calls - 1)


@record
class _Call:
    """Spans of a program that are drawn together, with their sums as in `Program.drawn`."""

    program: Program
    spans: int
    sums: Floats
    bad: Truths | None

    def part(self, first: int, end: int) -> SpanSums:
        """The sums of the spans from `first` to before `end`."""
        blocks, values = self.program.span_blocks, self.program.span_values
        sums = self.sums[first * blocks : end * blocks]
        if self.bad is None:
            return SpanSums(sums=sums)
        return broken_span(sums, self.bad[first * values : end * values], 0)


def _of_spans(program: Program, parts: int) -> Program:
    """The program with `parts` of its spans as one span."""
    draws, blocks = parts * program.span_draws, parts * program.span_blocks
    return replace(program, span_draws=draws, span_blocks=blocks)
