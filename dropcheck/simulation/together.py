"""Spans of many repetitions drawn by one call, for where the same is tried again and again.

A call of numpy costs as much as a thousand draws, and a stream of its own for a short span as much
as the span. What a repetition is given is drawn as its own spans would be, but for the stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dropcheck.language.cost import elements
from dropcheck.simulation.moments import Sums
from dropcheck.simulation.program import Program, SpanSums, broken_span
from dropcheck.simulation.streams import TOGETHER, stream

# Numbers held by one call: with fewer the calls themselves cost more, with more the arrays leave
# the caches (measured: a quarter as many take 3% more time).
NUMBERS = 2**19


def spans_of_a_call(program: Program) -> int:
    """How many spans of a program are drawn by one call, at least 1."""
    held = 0
    paired: set[int] = set()  # registers with a number for every pair of draws
    for step in program.steps:
        if step.crossed or not paired.isdisjoint(step.inputs):
            paired.add(step.target)
        count = program.span_values if step.target in paired else program.span_draws
        held += elements(step.value.operation, step.value.shape or ()) * count
    return max(1, NUMBERS // max(1, held))


class Supply:
    """Spans from streams that all repetitions of a case share, drawn call by call."""

    def __init__(self, seed: int, case_key: str) -> None:
        self._seed = seed
        self._case_key = case_key
        self._calls = 0

    def spans(self, program: Program, centres: Sums, count: int) -> Iterator[SpanSums]:
        """So many spans; an undefined draw is numbered within its span."""
        most = min(count, spans_of_a_call(program))
        bulk = _of_spans(program, most)
        for first in range(0, count, most):
            parts = min(most, count - first)
            if parts < most:
                bulk = _of_spans(program, parts)
            yield from self._call(program, bulk, centres, parts)

    def _call(
        self, program: Program, bulk: Program, centres: Sums, parts: int
    ) -> Iterator[SpanSums]:
        generator = stream(self._seed, self._case_key, TOGETHER, self._calls)
        self._calls += 1
        blocks = program.span_blocks
        sums, seen, bad = bulk.drawn(generator, centres, parts)
        for part in range(parts):
            own = sums[part * blocks : (part + 1) * blocks]
            if bad is None:
                yield SpanSums(own, seen=seen[part])
            else:
                values = program.span_values
                yield broken_span(own, seen[part], bad[part * values : (part + 1) * values], 0)


def _of_spans(program: Program, parts: int) -> Program:
    """The program with so many of its spans in one."""
    draws, blocks = parts * program.span_draws, parts * program.span_blocks
    return replace(program, span_draws=draws, span_blocks=blocks)
