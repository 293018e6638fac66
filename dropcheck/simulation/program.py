"""A compiled case: steps that draw and compute, and integrands that are summed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from dropcheck.array_types import Floats, Truths
from dropcheck.language.graph import number
from dropcheck.simulation.integrands import Moments, Term, filled, middle
from dropcheck.simulation.steps import (
    FEWEST_CALLS,
    CallsAsked,
    Clip,
    LawDraw,
    SpanCalls,
    Step,
    computed_by,
    freeing,
    with_clips,
)
from dropcheck.vocabulary.function import Array

# ---- cell counts ---------------------------------------------------------------------------------
#
# Counts draws in cells, in place of sums of integrands.
#
# A counter takes the values of some quantities, [..., draws] each; one that does not vary has one
# draw, which stands for all. A span is one block. Where infinity is `infinite`, a valid value, it
# is beyond every cut.


# If there are this many times more cuts than draws, it is faster not to sort the draws.
FEW = 2
# Nanoseconds to sort one number among others, and to find its cell.
SORTING = 25.0
FINDING = 12.0


Uses = tuple[tuple[int, int | None], ...]
"""The quantities that are counted, as places of values, each with the place of its condition."""


def entries_of(array: Array, draws: int) -> Floats:
    """The entries of a quantity: [entries, draws]."""
    flat = np.asarray(array, dtype=np.float64).reshape(-1, array.shape[-1])
    return np.broadcast_to(flat, (len(flat), draws))


@dataclass(frozen=True, slots=True, kw_only=True)
class AtCuts:
    """How many draws of each entry are at or below each of its cuts, and how many count.

    Draws in which the condition of a quantity fails do not count. The columns: by entry, one for
    each cut, and one for all draws.
    """

    cuts: tuple[Floats, ...]  # by entry of all quantities, in row-major order
    uses: Uses
    infinite: bool = False

    @property
    def columns(self) -> int:
        """How many counts a block has."""
        return sum(len(cuts) + 1 for cuts in self.cuts)

    @property
    def cost(self) -> float:
        """Rough nanoseconds for one draw."""
        return len(self.cuts) * SORTING

    def of_entries(self, totals: Floats) -> list[Floats]:
        """The counts of each entry: [columns] to [cuts + 1]."""
        return np.split(totals, np.cumsum([len(cuts) + 1 for cuts in self.cuts])[:-1])

    def counts(self, values: Sequence[Array], draws: int) -> Floats:
        """The counts of a span: [columns]."""
        parts: list[Floats] = []
        cuts = iter(self.cuts)
        for place, condition in self.uses:
            held = None if condition is None else entries_of(values[condition], draws)[0] != 0
            for row in entries_of(values[place], draws):
                kept = row if held is None else row[held]
                parts.append(at_most(kept, next(cuts)))
        return np.concatenate(parts).astype(np.float64)


def at_most(row: Floats, cuts: Floats) -> Floats:
    """How many numbers are at or below each cut, and how many there are: [cuts + 1]."""
    if len(row) * FEW < len(cuts):  # each number among the cuts, not each cut among the numbers
        places = np.searchsorted(cuts, row, side="left")
        return np.cumsum(np.bincount(places, minlength=len(cuts) + 1))
    return np.append(np.searchsorted(np.sort(row), cuts, side="right"), len(row))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """How many draws are in each cell of some tables, whose axes are the cells of entries.

    `cuts` are given by entry, for all quantities together, in row-major order. A table is a tuple
    of the entries that are its axes.
    """

    cuts: tuple[Floats, ...]
    tables: tuple[tuple[int, ...], ...]
    uses: Uses
    infinite: ClassVar[bool] = False

    def shape(self, table: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of a table."""
        return tuple(len(self.cuts[entry]) + 1 for entry in table)

    @property
    def columns(self) -> int:
        """How many counts a block has."""
        return sum(math.prod(self.shape(table)) for table in self.tables)

    @property
    def cost(self) -> float:
        """Rough nanoseconds for one draw."""
        return FINDING * (2 * len(self.cuts) + len(self.tables))

    def counts(self, values: Sequence[Array], draws: int) -> Floats:
        """The counts of a span: [columns]."""
        entries = np.concatenate([entries_of(values[at], draws) for at, _ in self.uses])
        pairs = zip(self.cuts, entries, strict=True)
        cells = [np.searchsorted(cuts, row, side="left") for cuts, row in pairs]
        parts = []
        for table in self.tables:
            shape = self.shape(table)
            flat = np.ravel_multi_index([cells[entry] for entry in table], shape)
            parts.append(np.bincount(flat, minlength=math.prod(shape)))
        return np.concatenate(parts).astype(np.float64)


Counter = AtCuts | Tables
"""What counts draws in cells."""


def counted(counter: Counter, values: Sequence[Array], draws: int) -> tuple[Floats, Truths | None]:
    """The counts of a span, [1, columns], and which draws are undefined; None if no draw is.

    Where its condition fails, a quantity may have any value.
    """
    counts = counter.counts(values, draws)[np.newaxis]
    if all(np.isfinite(array).all() for array in values):
        return counts, None
    bad = np.zeros(draws, dtype=bool)
    for place, condition in counter.uses:
        array = values[place]
        there = ~np.isnan(array) if counter.infinite else np.isfinite(array)
        failed = False if condition is None else (values[condition] == 0).reshape(-1)
        bad |= ~(there.reshape(-1, array.shape[-1]).all(axis=0) | failed)
    return counts, bad if bad.any() else None


# ---- program -------------------------------------------------------------------------------------


BLOCKS_OF_SPAN = 16
# The shortest block: this many draws, or fewer if those take this long, in nanoseconds. Then the
# cost of numpy's calls is small.
SHORTEST_BLOCK = 512
SHORTEST_WORK = 1e5
FEWEST_IN_BLOCK = 8
# Pairing draws in smaller batches saves less than it costs.
SMALLEST_BATCH = 8
# In shorter spans, creating the stream costs more than the draws.
SHORTEST_SPAN = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanSums:
    """The sums of a span's blocks, and how many draws are undefined.

    `sums` has shape [blocks, terms]. `undefined` counts the draws in which a value in an integrand
    is NaN or infinite; `first_undefined` is the number of the first one within the case, or None.
    `seconds` is the time that the span took.
    """

    sums: Floats
    undefined: int = 0
    first_undefined: int | None = None
    seconds: float = 0.0
    # if several programs were drawn together, the sums of each
    members: tuple[SpanSums, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """Draws in spans, each from a stream of its own; integrands are summed in blocks.

    There are `size` registers; those in `fixed` do not vary. `terms` are the integrands.
    """

    size: int
    fixed: tuple[tuple[int, Array], ...]
    steps: tuple[Step, ...]
    terms: tuple[Term, ...]
    targets: tuple[int, ...]  # the registers in integrands
    span_draws: int
    span_blocks: int
    cost: float  # nanoseconds for each draw, roughly
    # how many draws it takes to see the rarest known outcome of the laws
    rarest: float
    # each block is a batch of left sides and one of right sides; every pair of them is evaluated
    paired: bool = False
    clips: tuple[Clip, ...] = ()  # what is stored of each unit: a draw, or a call
    # whether others make the same draws; then spans have the same length, a power of two
    shared: bool = False
    # counts draws in cells, in place of integrands
    counter: Counter | None = None
    # whether each span is one call of code, whose draws may depend on each other, and one block
    whole: bool = False
    # programs that make the same draws; each gets the sums that it would have alone
    members: tuple[Program, ...] = ()
    code: CallsAsked = field(init=False, repr=False, compare=False)  # what is asked of code

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", CallsAsked.of(self.steps, self.targets, self.terms))

    @classmethod
    def joined(cls, programs: Sequence[Program]) -> Program:
        """The program that makes the draws of several `shared` ones once, for all of them.

        Its centres are those of each: [programs, size].

        Raises:
            ValueError: a register has different values in two of them.
        """
        steps: dict[int, Step] = {}
        keep: set[int] = set()
        for program in programs:
            for step in program.steps:
                if steps.setdefault(step.target, step).value is not step.value:
                    raise ValueError("programs of other registers make other draws")
            freed = {register for step in program.steps for register in step.frees}
            keep |= {step.target for step in program.steps} - freed
        fixed = dict(one for program in programs for one in program.fixed)
        inputs = {register for step in steps.values() for register in step.inputs}
        return replace(
            programs[0],
            size=max(program.size for program in programs),
            fixed=tuple(fixed.items()),
            steps=freeing([steps[one] for one in sorted(steps)], keep | (inputs & fixed.keys())),
            terms=(),
            targets=tuple({register for program in programs for register in program.read}),
            cost=max(program.cost for program in programs),
            counter=None,
            members=tuple(programs),
        )

    @property
    def read(self) -> set[int]:
        """The registers that are read when its steps are done."""
        return {*self.targets, *(term.given for term in self.terms if term.given is not None)}

    @property
    def columns(self) -> int:
        """How many numbers are stored for each block."""
        terms = len(self.terms) + 2 * len(self.clips)
        return terms if self.counter is None else self.counter.columns

    @property
    def block_draws(self) -> int:
        """How many draws a block has."""
        return self.span_draws // self.span_blocks

    @property
    def span_values(self) -> int:
        """How many values of each quantity a span has: one for each draw, or for each pair."""
        return self.span_draws * (self.block_draws if self.paired else 1)

    @property
    def block_values(self) -> int:
        """How many values of each quantity a block has."""
        return self.span_values // self.span_blocks

    @property
    def unit_draws(self) -> int:
        """How many draws depend on each other, and on no others: those of one call of code."""
        return self.span_draws if self.whole else 1

    @property
    def sampling(self) -> str:
        """How values are drawn, in words: "plain" or "crossed 96×96"."""
        return f"crossed {self.block_draws}×{self.block_draws}" if self.paired else "plain"

    @property
    def origin(self) -> Floats:
        """Centres that are all 0: [size]."""
        return np.zeros(self.size)

    def fitted(self, most: int, blocks: int) -> Program:
        """The program in shorter spans, so that `blocks` spans need at most `most` draws."""
        if self.whole or most >= max(blocks * self.block_draws, self.span_draws):
            return self
        draws = max(1, min(self.span_draws, most // blocks))
        return replace(self, span_draws=draws, span_blocks=1, shared=False)

    def in_blocks(self, draws: int) -> Program:
        """The program in blocks of about `draws` draws, so that easy claims need few draws.

        A block is long enough for its overhead, and to show the rarest known outcome of the model.
        """
        cheapest = min(max(FEWEST_IN_BLOCK, int(SHORTEST_WORK / self.cost)), SHORTEST_BLOCK)
        block = max(cheapest, draws, math.ceil(min(self.rarest, self.span_draws)))
        return self.in_blocks_of(1 << (block - 1).bit_length() if self.shared else block)

    def in_blocks_of(self, block: int, draws: int = 0) -> Program:
        """The program in blocks of at most `block` draws, and in spans of at least `draws`.

        In a crossed program, a block is a batch. A span is at least one block, and long enough for
        the cost of its stream. Where others make the same draws, it stays as it is, and its blocks
        are powers of two.
        """
        if self.whole:
            return self
        block = min(max(SMALLEST_BATCH if self.paired else 1, block), self.block_draws)
        if self.paired:
            blocks = min(BLOCKS_OF_SPAN, self.span_values // block**2)
        elif self.shared:
            block = 1 << (block.bit_length() - 1)
            blocks = self.span_draws // block
        else:
            draws = min(max(draws, BLOCKS_OF_SPAN * block, SHORTEST_SPAN), self.span_draws)
            blocks = draws // block
        blocks = max(1, blocks)
        return replace(self, span_draws=blocks * block, span_blocks=blocks)

    def counting(self, counter: Counter, draws: int) -> Program:
        """The program with draws counted in cells; each span of `draws` draws is one block.

        If others make the same draws, the spans are as long as theirs.
        """
        return replace(
            self,
            counter=counter,
            span_draws=self.span_draws if self.shared else draws,
            span_blocks=1,
            cost=self.cost + counter.cost,
        )

    @property
    def tests_code(self) -> bool:
        """Whether code is under test: values may be NaN, and it may store data in its thread."""
        return bool(self.code.modes)

    @property
    def declared(self) -> bool:
        """Whether the draws of one call of code count one by one, as its slot declares."""
        return self.code.declared

    @property
    def fewest_planned(self) -> int:
        """The fewest draws that a plan may have: enough calls to show if draws are dependent."""
        return FEWEST_CALLS * self.span_draws if self.declared else 0

    def calls(self, spans: int, draws: int) -> int:
        """How many calls of code these draws in these spans come from."""
        return draws if self.code.single else spans

    def registers(
        self,
        generator: np.random.Generator,
        draws: int,
        keep: bool = False,
    ) -> list[Array | None]:
        """Run steps for `draws` draws; in a crossed program, for those of a span.

        Targets stay filled; with `keep`, all registers do.
        """
        arrays: list[Array | None] = [None] * self.size
        code, calls_code = SpanCalls(self.code, generator), self.tests_code
        for register, constant in self.fixed:
            arrays[register] = constant
        for step in self.steps:
            inputs = [filled(arrays[register]) for register in step.inputs]
            if step.kernel is None:
                count = self.span_draws if self.paired else draws
                if step.value.law is not None:
                    draw = LawDraw(
                        step=step,
                        generator=generator,
                        draws=count,
                        draws_first=calls_code,
                    )
                    arrays[step.target] = draw(inputs)
                elif step.value.call is not None:
                    arrays[step.target] = code.given(step.value, inputs, count)
            else:
                extra = {"batches": self.span_blocks} if step.crossed else {}
                arrays[step.target] = computed_by(step, inputs, **extra)
            for register in () if keep else step.frees:
                arrays[register] = None
        return arrays

    def values(self, generator: np.random.Generator, draws: int) -> dict[int, Array]:
        """Some draws of the quantities in integrands, [..., draws] each, or [..., 1] if fixed."""
        with np.errstate(all="ignore"):
            arrays = self.registers(generator, draws)
        return {register: number(filled(arrays[register])) for register in self.targets}

    def centres(self, generator: np.random.Generator, draws: int) -> Floats:
        """The centres about which integrands are to be summed, from a few draws.

        Returns:
            A number near the middle of each target, [size]; 0 where none is needed.
        """
        centres = np.zeros(self.size)
        for register, values in self.values(generator, draws).items():
            centres[register] = middle(values)
        return centres

    def finite(self, generator: np.random.Generator, draws: int) -> bool:
        """Whether each quantity in an integrand is finite in at least one of the draws."""
        return all(np.isfinite(one).any() for one in self.values(generator, draws).values())

    def span(
        self, generator: np.random.Generator, centres: Floats, number_of_span: int
    ) -> SpanSums:
        """The sums of every integrand in each block of one span: [span_blocks, terms]."""
        with np.errstate(all="ignore"):
            arrays = self.registers(generator, self.span_draws)
            if not self.members:
                return self._summed(arrays, centres, number_of_span)
            each = zip(self.members, centres, strict=True)
            members = [one._summed(arrays, about, number_of_span) for one, about in each]
        return SpanSums(sums=np.zeros((1, 0)), members=tuple(members))

    def _summed(self, arrays: list[Array | None], centres: Floats, number_of_span: int) -> SpanSums:
        sums, bad = self._sums_of(arrays, centres)
        if bad is None:
            return SpanSums(sums=sums)
        places = np.flatnonzero(bad)
        before = number_of_span * self.span_values
        first = before + int(places[0]) if len(places) else None
        return SpanSums(sums=sums, undefined=len(places), first_undefined=first)

    def _sums_of(self, arrays: list[Array | None], centres: Floats) -> tuple[Floats, Truths | None]:
        """The sums in each block, and which draws are undefined (None: none is)."""
        if self.counter is not None:
            values = [number(filled(arrays[register])) for register in self.targets]
            return counted(self.counter, values, self.span_draws)
        blocks = self.span_draws // self.unit_draws if self.clips else self.span_blocks
        moments = Moments(arrays, centres, self.span_values, blocks)
        sums = np.empty((len(self.terms), blocks))
        for index, term in enumerate(self.terms):
            single = blocks == self.span_values
            sums[index] = moments.a_draw(term) if single else moments.sums(term)
        bad = None if np.isfinite(sums).all() else moments.undefined(self.terms)
        if self.clips:
            return with_clips(sums, self.clips, self.unit_draws, self.span_blocks), bad
        return np.ascontiguousarray(sums.T), bad
