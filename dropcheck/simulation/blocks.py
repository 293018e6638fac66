"""Requests for spans of draws, each from a stream of its own, and the tally of their sums."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, replace

import numpy as np
import numpy.random  # not when a thread first draws: its lock would be held while others fork

from dropcheck.array_types import Floats
from dropcheck.settings import Stopwatch
from dropcheck.simulation.program import FEWEST_CALLS, Program, SpanSums

PILOT = 1
MAIN = 0
# The numbers that SeedSequence takes as one word are below this.
WORD = 2**32


def stream(seed: int, case_key: str, purpose: int, span: int) -> np.random.Generator:
    """The generator of one span of draws of one case.

    It depends only on the run's seed, the case and the number of the span: not on other claims of
    the registry, nor on the number of threads. The seed and the case are hashed to 256 bits, which
    numpy's SeedSequence mixes with the span's number (O'Neill's seed_seq_fe, 2015). SFC64 is
    Doty-Humphrey's generator (PractRand, 2010), the fastest in numpy.

    >>> a, b = stream(0, "x", MAIN, 3).random(), stream(0, "x", MAIN, 3).random()
    >>> a == b, a == stream(0, "x", MAIN, 4).random()
    (True, False)
    """
    key = purpose.to_bytes(4, "little") + span.to_bytes(4 if span < WORD else 8, "little")
    digest = hashlib.blake2b(f"{seed}\n{case_key}".encode(), digest_size=32).digest()
    # the same words as with a spawn_key of SeedSequence, which converts numbers one by one
    words = np.frombuffer(digest + key, dtype="<u4")
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(words)))


# With more rows, neighbouring rows are added up: this limits the memory, and Student's quantile for
# this many blocks is within half a percent of the normal quantile.
MOST_ROWS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The spans from `first` to `first + count - 1` of one case's stream of draws.

    `planned` is how many draws are left until the case looks at its sums again.
    """

    program: Program
    seed: int
    case_key: str
    purpose: int
    centres: Floats
    first: int
    count: int
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
        started, watch, code = time.perf_counter(), Stopwatch(), self.program.code
        before = code.set_up
        parts = [
            self.program.span(
                stream(self.seed, self.case_key, self.purpose, span), self.centres, span
            )
            for span in range(self.first, self.first + self.count)
        ]
        if not self.program.tests_code:
            return joined(parts, time.perf_counter() - started)
        return joined(parts, max(0.0, watch.seconds - (code.set_up - before)))


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
        """How many independent units each row has; a call of code is one unit."""
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
    def blocks(self) -> int:
        """How many blocks the sums contain; joined ones count as one."""
        return self.draws // self.block_draws

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
