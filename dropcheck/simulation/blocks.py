"""Requests for spans of draws, and the tally of the sums of their blocks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.processors import Stopwatch
from dropcheck.simulation.program import Program, SpanSums, broken_span
from dropcheck.simulation.steps import FEWEST_CALLS, Step, freeing
from dropcheck.simulation.streams import stream
from dropcheck.vocabulary.function import Array

# ---- joint program -------------------------------------------------------------------------------
#
# Programs that make the same draws are drawn once; each gets the sums it would have alone.


@dataclass(frozen=True, slots=True)
class Together:
    """Programs with the same registers and spans, and the centres of each: [registers].

    `drawn` has every step that one of them needs, once; it has no integrands.
    """

    programs: tuple[Program, ...]
    centres: tuple[Floats, ...]
    drawn: Program

    @classmethod
    def of(cls, programs: Sequence[Program], centres: Sequence[Floats]) -> Together:
        """Put programs together for which `may_join` is true.

        Raises:
            ValueError: a register has different values in two of them.
        """
        steps: dict[int, Step] = {}
        fixed: dict[int, Array] = {}
        keep: set[int] = set()
        for program in programs:
            own = {step.target: step for step in program.steps}
            for target, step in own.items():
                if steps.setdefault(target, step).value is not step.value:
                    raise ValueError("programs of other registers make other draws")
            fixed |= dict(program.fixed)
            freed = {register for step in own.values() for register in step.frees}
            keep |= own.keys() - freed
        inputs = {register for step in steps.values() for register in step.inputs}
        ordered = [steps[register] for register in sorted(steps)]
        drawn = replace(
            programs[0],
            size=max(program.size for program in programs),
            fixed=tuple(fixed.items()),
            steps=freeing(ordered, keep | (inputs & fixed.keys())),
            terms=(),
            targets=tuple({register for program in programs for register in _looked_at(program)}),
            cost=max(program.cost for program in programs),
            span_blocks=1,
            counter=None,
        )
        return cls(tuple(programs), tuple(centres), drawn)

    @property
    def cost(self) -> float:
        """Nanoseconds for each draw, roughly."""
        return self.drawn.cost

    @property
    def span_draws(self) -> int:
        """Draws of one span."""
        return self.drawn.span_draws

    @property
    def tests_code(self) -> bool:
        """Whether code is under test."""
        return self.drawn.tests_code

    @property
    def set_up(self) -> float:
        """The seconds that first calls of code took."""
        return self.drawn.set_up

    def held(self) -> AbstractContextManager[None]:
        """A context for consecutive spans."""
        return self.drawn.held()

    def span(self, generator: np.random.Generator, _: Floats, number_of_span: int) -> SpanSums:
        """The sums of one span for each program."""
        with np.errstate(all="ignore"):
            arrays = self.drawn.registers(generator, self.span_draws)
            each = zip(self.programs, self.centres, strict=True)
            summed = [program.sums_of(arrays, centres) for program, centres in each]
        members: list[SpanSums] = []
        for program, (sums, bad) in zip(self.programs, summed, strict=True):
            if bad is None:
                members.append(SpanSums(sums=sums))
            else:
                before = number_of_span * program.span_values
                members.append(broken_span(sums, bad, before))
        return SpanSums(sums=np.zeros((1, 0)), members=tuple(members))


def may_join(program: Program) -> bool:
    """Whether a program may be drawn together with others of the same registers."""
    return program.shared


def _looked_at(program: Program) -> set[int]:
    """The registers that a program reads when its steps are done."""
    given = {term.given for term in program.terms if term.given is not None}
    return {*program.targets, *given}


# ---- blocks --------------------------------------------------------------------------------------


# With more rows, neighbouring rows are added up: this limits the memory, and Student's quantile for
# this many blocks is within half a percent of the normal quantile.
MOST_ROWS = 2048
# Streams that are created at once: one at a time takes three times as long, because of the cache.
STREAMS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The spans from `first` to `first + count - 1` of one case's stream of draws.

    `wanted` is the time in seconds, on one thread, until the case looks at its sums again, and
    `planned` the draws.
    """

    program: Program | Together
    seed: int
    case_key: str
    purpose: int
    centres: Floats
    first: int
    count: int
    wanted: float = 0.0
    planned: int = 0

    @property
    def draws(self) -> int:
        """How many draws all spans have."""
        return self.count * self.program.span_draws

    def shared(self, workers: int, least: int, most: int) -> list[Request]:
        """The same spans in parts of `least` to `most`, in order; the last may be smaller.

        Each part is half of an even share of the rest: the first parts are large, since handing
        over costs time, and the last ones small, so that all workers finish at the same time
        (Polychronopoulos and Kuck 1987, "Guided self-scheduling").
        """
        parts: list[Request] = []
        first, left = self.first, self.count
        while left:
            count = min(left, max(least, left // (2 * workers)), most)
            parts.append(replace(self, first=first, count=count))
            first, left = first + count, left - count
        return parts

    def carry_out(self) -> SpanSums:
        """Draw all spans and return the sums of their blocks, in order.

        The seconds of code are those of the processor, without its first calls.
        """
        started, watch, set_up = time.perf_counter(), Stopwatch(), self.program.set_up
        parts: list[SpanSums] = []
        end = self.first + self.count
        with self.program.held():
            for start in range(self.first, end, STREAMS):
                spans = range(start, min(start + STREAMS, end))
                streams = [stream(self.seed, self.case_key, self.purpose, span) for span in spans]
                parts += [
                    self.program.span(own, self.centres, span)
                    for own, span in zip(streams, spans, strict=True)
                ]
        if not self.program.tests_code:
            return joined(parts, time.perf_counter() - started)
        return joined(parts, max(0.0, watch.seconds - (self.program.set_up - set_up)))


def joined(parts: list[SpanSums], seconds: float | None = None) -> SpanSums:
    """Consecutive spans as one; if no seconds are given, those of the parts are added up."""
    if seconds is None:
        seconds = sum(part.seconds for part in parts)
    if len(parts) == 1:
        return replace(parts[0], seconds=seconds)
    together = zip(*(part.members for part in parts), strict=True)
    firsts = [part.first_undefined for part in parts if part.first_undefined is not None]
    return SpanSums(
        sums=np.concatenate([part.sums for part in parts]),
        undefined=sum(part.undefined for part in parts),
        first_undefined=min(firsts, default=None),
        seconds=seconds,
        members=tuple(joined(list(own)) for own in together),
    )


class Tally:
    """The sums of all blocks so far; if there are many, they are added up in pairs.

    The result depends only on the blocks and their order, not on the portions in which they come.
    Integrands are summed about `centres`, [registers]; by default 0.
    """

    most_rows = MOST_ROWS

    def __init__(self, program: Program, centres: Floats | None = None) -> None:
        self.program = program
        self.centres = program.origin if centres is None else centres
        self._joined = 1  # blocks in each row
        self._rows: Floats = np.zeros((0, program.columns))
        self._waiting: Floats = np.zeros((0, program.columns))
        self.undefined = 0
        self.first_undefined: int | None = None
        self.spans = 0
        self.seconds = 0.0  # time spent on these spans, by all threads

    def add(self, spans: SpanSums) -> None:
        """Add the next spans, in order."""
        self._count(spans)
        waiting = _after(self._waiting, spans.sums)
        full = len(waiting) // self._joined * self._joined
        self._waiting = waiting[full:]
        self._rows = _after(self._rows, _join(waiting[:full], self._joined))
        self._bound_rows()

    def _count(self, spans: SpanSums) -> None:
        self.spans += len(spans.sums) // self.program.span_blocks
        self.seconds += spans.seconds
        self.undefined += spans.undefined
        if self.first_undefined is None:
            self.first_undefined = spans.first_undefined

    def _bound_rows(self) -> None:
        while len(self._rows) > self.most_rows:
            if len(self._rows) % 2:
                # an odd row waits for its neighbour again, padded to as many blocks
                self._rows, odd = self._rows[:-1], self._rows[-1:]
                padding = np.zeros((self._joined - 1, odd.shape[1]))
                self._waiting = np.concatenate([odd, padding, self._waiting])
            self._rows = _join(self._rows, 2)
            self._joined *= 2

    @property
    def sums(self) -> Floats:
        """Sums of blocks, [rows, terms], without the blocks that wait for their neighbours."""
        clips = 2 * len(self.program.clips)
        return self._rows[:, :-clips] if clips else self._rows

    @property
    def clipped(self) -> Floats:
        """Averages over units of clipped deviations, and of their squares: [clips, 2]."""
        clips = len(self.program.clips)
        totals = self._rows[:, self._rows.shape[1] - 2 * clips :].sum(axis=0)
        return np.reshape(totals / max(1, self.units), (clips, 2))

    @property
    def block_draws(self) -> int:
        """How many draws each row has."""
        return self.program.block_draws * self._joined

    @property
    def block_values(self) -> int:
        """How many values of each quantity each row has: more than draws, if they are paired."""
        return self.program.block_values * self._joined

    @property
    def block_units(self) -> int:
        """How many independent units each row has; a net or a call of code is one unit."""
        return self.block_draws // self.program.unit_draws

    @property
    def units(self) -> int:
        """How many independent units the sums contain."""
        return self.draws // self.program.unit_draws

    @property
    def by_call(self) -> tuple[Floats, Floats]:
        """Sums by span, or by row if rows are longer, [spans, terms]; the number of values of each.

        A row with parts of two spans counts for the first one.
        """
        place = np.arange(len(self._rows)) * self.block_draws // self.program.span_draws
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        sizes = np.diff(starts, append=len(place)) * self.block_values
        sums = np.add.reduceat(self.sums, starts) if len(starts) else self.sums
        return sums, sizes.astype(np.float64)

    @property
    def calls(self) -> int:
        """How many spans the sums contain; with code under test, each is a call."""
        return self.draws // self.program.span_draws

    @property
    def draws(self) -> int:
        """How many draws the sums contain."""
        return len(self._rows) * self.block_draws

    @property
    def values(self) -> int:
        """How many values of each quantity the sums contain."""
        return len(self._rows) * self.block_values

    @property
    def drawn(self) -> int:
        """How many draws were made, including those in blocks that wait for their neighbours."""
        return self.spans * self.program.span_draws

    @property
    def looked_at(self) -> int:
        """How many values were computed: one for each draw, or for each pair of draws."""
        return self.spans * self.program.span_values

    @property
    def nowhere_defined(self) -> bool:
        """Whether there are values, and all are NaN or infinite."""
        return 0 < self.looked_at <= self.undefined

    @property
    def totals(self) -> Floats:
        """Sums over all draws made, including blocks that wait for their neighbours: [terms]."""
        return np.asarray(self._rows.sum(axis=0) + self._waiting.sum(axis=0), dtype=np.float64)


class CountTally(Tally):
    """The counts of all blocks so far, added up.

    If each span is a call of code whose draws count one by one, spans are kept in a few rows.
    """

    most_rows = 2 * FEWEST_CALLS

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._total: Floats = np.zeros(program.columns)

    def add(self, spans: SpanSums) -> None:
        """Add the next spans, in order."""
        if self.program.declared:
            super().add(spans)
        else:  # the single spans are not needed
            self._count(spans)
        self._total += spans.sums.sum(axis=0)

    @property
    def draws(self) -> int:
        """How many draws were counted: all."""
        return self.drawn

    @property
    def totals(self) -> Floats:
        """Counts of all draws made: [columns]."""
        return self._total


def _after(rows: Floats, more: Floats) -> Floats:
    """Both arrays, one after the other; no copy is made if the first is empty, as it mostly is."""
    return np.concatenate([rows, more]) if len(rows) else more


def _join(rows: Floats, count: int) -> Floats:
    """Sums of `count` rows each, a power of two; by halves, so that the order is fixed."""
    while count > 1:
        rows = rows[0::2] + rows[1::2]
        count //= 2
    return rows
