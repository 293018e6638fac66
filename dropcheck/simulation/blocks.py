"""Requests for spans of draws, and the tally of their block sums."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.records import record
from dropcheck.simulation.code_calls import FEWEST_CALLS
from dropcheck.simulation.joint_program import Together
from dropcheck.simulation.program import Program, SpanSums
from dropcheck.simulation.streams import stream

# Past so many rows neighbouring blocks are joined: memory stays bounded however many draws there
# are, and Student's quantile over so many blocks is within half a percent of the normal's.
MOST_ROWS = 2048
# Streams that are made at once: each takes three times as long between draws, which fill the cache.
STREAMS = 64


@record(kw_only=True)
class Request:
    """Spans `first` … `first + count − 1` of one case's stream of draws.

    `wanted` is the drawing, in seconds of one thread, until the case next looks at its sums.
    """

    program: Program | Together
    seed: int
    case_key: str
    purpose: int
    centres: Floats
    first: int
    count: int
    wanted: float = 0.0

    @property
    def draws(self) -> int:
        """How many draws the spans have."""
        return self.count * self.program.span_draws

    def shared(self, workers: int, least: int, most: int) -> list[Request]:
        """The same spans in parts of `least` to `most`, in order; the last may have fewer.

        Each is half of what an even share of the rest would be: the first are large, as handing
        over costs time, and the last small, so that all workers end together (Polychronopoulos and
        Kuck 1987, "Guided self-scheduling").
        """
        parts: list[Request] = []
        first, left = self.first, self.count
        while left:
            count = min(left, max(least, left // (2 * workers)), most)
            parts.append(replace(self, first=first, count=count))
            first, left = first + count, left - count
        return parts

    def carry_out(self) -> SpanSums:
        """Draw and sum: the blocks of all spans, in order."""
        started = time.perf_counter()
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
        return joined(parts, time.perf_counter() - started)


def joined(parts: list[SpanSums], seconds: float | None = None) -> SpanSums:
    """Consecutive spans as one; their seconds are added up where none are given."""
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
    """Sums of all blocks so far, joined in pairs as they become many.

    The result depends on the blocks and their order alone, not on how they came in. Integrands are
    summed about the centres, [registers]; by default 0.
    """

    most_rows = MOST_ROWS

    def __init__(self, program: Program, centres: Floats | None = None) -> None:
        self.program = program
        self.centres = program.origin if centres is None else centres
        self._joined = 1  # blocks in a row
        self._rows: Floats = np.zeros((0, program.columns))
        self._waiting: Floats = np.zeros((0, program.columns))
        self.undefined = 0
        self.first_undefined: int | None = None
        self.spans = 0
        self.seconds = 0.0  # spent on these spans, by all threads

    def add(self, spans: SpanSums) -> None:
        """Take in the next spans, in order."""
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

    @classmethod
    def of(cls, program: Program, centres: Floats | None, kept: SpanSums, joined: int) -> Tally:
        """A tally of spans whose blocks are joined already, so many in a row."""
        tally = cls(program, centres)
        tally._joined = joined
        tally._rows = kept.sums
        tally.spans = len(kept.sums) * joined // program.span_blocks
        tally.seconds = kept.seconds
        tally.undefined, tally.first_undefined = kept.undefined, kept.first_undefined
        tally._bound_rows()
        return tally

    def _bound_rows(self) -> None:
        while len(self._rows) > self.most_rows:
            if len(self._rows) % 2:
                # an odd row goes back to wait for its neighbour, as one sum at the base's place
                self._rows, odd = self._rows[:-1], self._rows[-1:]
                padding = np.zeros((self._joined - 1, odd.shape[1]))
                self._waiting = np.concatenate([odd, padding, self._waiting])
            self._rows = _join(self._rows, 2)
            self._joined *= 2

    @property
    def sums(self) -> Floats:
        """Block sums, [blocks, terms]; what waits for its neighbours is not among them."""
        clips = 2 * len(self.program.clips)
        return self._rows[:, :-clips] if clips else self._rows

    @property
    def clipped(self) -> Floats:
        """Of each direction that nets are looked at along, the averages over nets: [clips, 2]."""
        clips = len(self.program.clips)
        totals = self._rows[:, self._rows.shape[1] - 2 * clips :].sum(axis=0)
        return np.reshape(totals / max(1, self.units), (clips, 2))

    @property
    def block_draws(self) -> int:
        """Draws in each row."""
        return self.program.block_draws * self._joined

    @property
    def block_values(self) -> int:
        """Values of each quantity in each row: more than draws where pairs are crossed."""
        return self.program.block_values * self._joined

    @property
    def block_units(self) -> int:
        """Independent draws in each row: those of one net, or of one call, are one."""
        return self.block_draws // self.program.unit_draws

    @property
    def units(self) -> int:
        """Independent draws that the sums rest on."""
        return self.draws // self.program.unit_draws

    @property
    def by_call(self) -> tuple[Floats, Floats]:
        """Sums of each span, or of as many as a row has, [spans, terms]; how many values each has.

        Where a row has part of one span and part of the next, it counts for the first.
        """
        place = np.arange(len(self._rows)) * self.block_draws // self.program.span_draws
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        sizes = np.diff(starts, append=len(place)) * self.block_values
        sums = np.add.reduceat(self.sums, starts) if len(starts) else self.sums
        return sums, sizes.astype(np.float64)

    @property
    def calls(self) -> int:
        """Spans that the sums rest on; of code each is a call."""
        return self.draws // self.program.span_draws

    @property
    def draws(self) -> int:
        """Draws that the sums rest on."""
        return len(self._rows) * self.block_draws

    @property
    def values(self) -> int:
        """Values of each quantity that the sums rest on."""
        return len(self._rows) * self.block_values

    @property
    def drawn(self) -> int:
        """All draws made, those included that wait for their neighbours."""
        return self.spans * self.program.span_draws

    @property
    def looked_at(self) -> int:
        """All values looked at: one a draw, or one a pair of draws."""
        return self.spans * self.program.span_values

    @property
    def nowhere_defined(self) -> bool:
        """Whether some draws were looked at, and each is NaN or infinite."""
        return 0 < self.looked_at <= self.undefined

    @property
    def totals(self) -> Floats:
        """Sums over all draws made, those included that wait for their neighbours: [terms]."""
        return np.asarray(self._rows.sum(axis=0) + self._waiting.sum(axis=0), dtype=np.float64)


class Collected(Tally):
    """The sums of all blocks so far as they are, to be kept."""

    def __init__(self, program: Program, centres: Floats | None = None) -> None:
        super().__init__(program, centres)
        self._parts: list[SpanSums] = []

    def add(self, spans: SpanSums) -> None:
        """Take in the next spans, in order."""
        self.spans += len(spans.sums) // self.program.span_blocks
        self._parts.append(spans)

    def joined(self, count: int) -> SpanSums:
        """All of them, with so many blocks in a row: a power of two, or all of them."""
        whole = joined(self._parts)
        rows = whole.sums
        if count == len(rows):
            return replace(whole, sums=rows.sum(axis=0, keepdims=True))
        return replace(whole, sums=_join(rows, count))


class CountTally(Tally):
    """Counts of all blocks so far, added up; each span's are handed to `each`, in order.

    Where spans are calls whose draws count each by the word of a slot, they are kept in a few rows.
    """

    most_rows = 2 * FEWEST_CALLS

    def __init__(self, program: Program, each: Callable[[Floats], None] | None = None) -> None:
        super().__init__(program)
        self._each = each
        self._total: Floats = np.zeros(program.columns)

    def add(self, spans: SpanSums) -> None:
        """Take in the next spans, in order."""
        if self.program.declared:
            super().add(spans)
        else:  # nothing looks at spans
            self._count(spans)
        if self._each is not None:
            for row in spans.sums:
                self._each(row)
        self._total += spans.sums.sum(axis=0)

    @property
    def draws(self) -> int:
        """Draws that were counted: all."""
        return self.drawn

    @property
    def totals(self) -> Floats:
        """Counts of all draws made: [columns]."""
        return self._total


def _after(rows: Floats, more: Floats) -> Floats:
    """Rows and more rows; without a copy where there are none yet, as mostly."""
    return np.concatenate([rows, more]) if len(rows) else more


def _join(rows: Floats, count: int) -> Floats:
    """Sums of so many rows each, a power of two; by halves, so that the order of sums is one."""
    while count > 1:
        rows = rows[0::2] + rows[1::2]
        count //= 2
    return rows
