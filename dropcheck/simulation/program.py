"""A compiled case: steps that draw and compute, and integrands that are summed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import field, replace

import numpy as np

from dropcheck.array_types import Floats, Truths
from dropcheck.language.graph import number
from dropcheck.records import record
from dropcheck.simulation.cell_counts import Counter, counted
from dropcheck.simulation.code_calls import FEWEST_CALLS, CallsAsked, SpanCalls, held
from dropcheck.simulation.integrands import Moments, SpanRegisters, Term, filled, middle
from dropcheck.simulation.roundings import OnPaper
from dropcheck.simulation.shortcuts.combinations import GroupMeans, Separations
from dropcheck.simulation.sobol_nets import Clip, Points, laws_points, with_clips
from dropcheck.simulation.steps import Compute, DrawsMade, LawDraw, Step, as_drawn, computed
from dropcheck.vocabulary.function import Array

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


@record(kw_only=True)
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


@record
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
    # integrands as products over groups of draws, and the steps that these need
    separations: Separations | None = None
    apart: tuple[Step, ...] = ()
    stratified: str | None = None  # the draw that comes from strata of its values, with weights
    # how many draws are the points of one net: these depend on each other, and on no other draws
    net: int = 1
    clips: tuple[Clip, ...] = ()  # what is stored of each net, or of each call
    # whether others make the same draws; then spans have the same length, a power of two
    shared: bool = False
    # counts draws in cells, in place of integrands
    counter: Counter | None = None
    # for exact arithmetic: the rounding errors of fixed values, by register; None: in float64
    roundings: tuple[tuple[int, Array], ...] | None = None
    # whether each span is one call of code, whose draws may depend on each other, and one block
    whole: bool = False
    code: CallsAsked = field(init=False, repr=False, compare=False)  # what is asked of code

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", CallsAsked.of(self.steps, self.targets, self.terms))

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
        """How many draws depend on each other, and on no others: those of one net, or one call."""
        return self.span_draws if self.whole else self.net

    @property
    def sampling(self) -> str:
        """How values are drawn, in words: "plain", "stratified in x" or "nets of 64"."""
        if self.stratified is not None:
            return f"stratified in {self.stratified}"
        if self.net > 1:
            return f"nets of {self.net}"
        groups = self.separations.groups if self.separations is not None else 2 * self.paired
        return "crossed " + "×".join([str(self.block_draws)] * groups) if groups else "plain"

    @property
    def combined(self) -> bool:
        """Whether draws are combined with each other."""
        return self.paired or self.separations is not None

    def sums_about(self, centres: Floats) -> bool:
        """Whether the program can sum integrands about these centres, [registers]."""
        mixed = () if self.separations is None else self.separations.mixed
        return not any(centres[register] for register in mixed)

    @property
    def origin(self) -> Floats:
        """Centres that are all 0: [size]."""
        return np.zeros(self.size)

    def fitted(self, most: int, blocks: int) -> Program:
        """The program in shorter spans, so that `blocks` spans need at most `most` draws."""
        if self.whole or most >= max(blocks * self.block_draws, self.span_draws):
            return self
        draws = max(1, min(self.span_draws, most // blocks) // self.net) * self.net
        return replace(self, span_draws=draws, span_blocks=1, shared=False)

    def in_blocks(self, draws: int) -> Program:
        """The program in blocks of at most `draws` draws, so that easy claims need few draws.

        A block is long enough for its overhead, and to show the rarest known outcome of the model.
        In a crossed program, a block is a batch.
        """
        if self.whole:
            return self
        if self.paired:
            batch = min(max(SMALLEST_BATCH, draws), self.block_draws)
            return self._cut(batch, max(1, min(BLOCKS_OF_SPAN, self.span_values // batch**2)))
        cheapest = min(max(FEWEST_IN_BLOCK, int(SHORTEST_WORK / self.cost)), SHORTEST_BLOCK)
        block = max(cheapest, math.ceil(min(self.rarest, self.span_draws)))
        while 2 * block <= draws:
            block *= 2
        if self.shared:  # the span stays, and its blocks are powers of two
            block = 1 << (block - 1).bit_length()
        if block >= self.block_draws:
            return self
        blocks = self.span_draws // block
        return self._cut(block, blocks if self.shared else min(BLOCKS_OF_SPAN, blocks))

    def in_blocks_of(self, block: int, draws: int = 0) -> Program:
        """The program in blocks of at most `block` draws, and in spans of at least `draws`.

        In a crossed program, a block is a batch. A span is at least one block, and long enough for
        the cost of its stream.
        """
        if self.whole:
            return self
        block = min(max(SMALLEST_BATCH if self.paired else 1, block), self.block_draws)
        if self.paired:
            return self._cut(block, max(1, min(BLOCKS_OF_SPAN, self.span_values // block**2)))
        if self.shared:
            block = 1 << (block.bit_length() - 1)
            return self._cut(block, self.span_draws // block)
        block = max(1, block // self.net) * self.net
        draws = min(max(draws, BLOCKS_OF_SPAN * block, SHORTEST_SPAN), self.span_draws)
        return self._cut(block, max(1, draws // block))

    def _cut(self, block: int, blocks: int) -> Program:
        return replace(self, span_draws=blocks * block, span_blocks=blocks)

    @property
    def calls_own_code(self) -> bool:
        """Whether the user's function makes draws; it may store data in its thread."""
        return self.tests_code or any(step.value.sample for step in self.steps)

    def held(self) -> AbstractContextManager[None]:
        """A context for consecutive spans."""
        return held(self.steps)

    @property
    def tests_code(self) -> bool:
        """Whether code is under test; its values may be NaN."""
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
        compute: Compute | None = None,
        steps: tuple[Step, ...] | None = None,
        keep: bool = False,
        drawn: DrawsMade = as_drawn,
    ) -> list[Array | None]:
        """Run steps for `draws` draws; in a crossed program, for those of a span.

        By default, all steps. Targets stay filled; with `keep`, all registers do. `compute`
        replaces the computation of each step that is not a draw, and `drawn` that of each draw
        from a law.
        """
        arrays: list[Array | None] = [None] * self.size
        sampled: Mapping[str, Array] | None = None
        code, calls_code = SpanCalls(self.code, generator, keep), self.tests_code
        points: Mapping[int, Points] = {}
        if self.net > 1:
            shapes = {one.target: one.value.shape for one in self.steps if one.kernel is None}
            points = laws_points(generator, shapes, self.net, draws)
        for register, constant in self.fixed:
            arrays[register] = constant
        if self.roundings is not None:
            compute = OnPaper(dict(self.roundings))
        for step in self.steps if steps is None else steps:
            inputs = [filled(arrays[register]) for register in step.inputs]
            if step.kernel is None:
                count = self.span_draws if self.paired else draws
                if step.value.law is not None:
                    draw = LawDraw(
                        step=step,
                        generator=generator,
                        draws=count,
                        points=points.get(step.target),
                        draws_first=calls_code,
                    )
                    arrays[step.target] = drawn(step, inputs, draw)
                elif step.value.sample is not None:  # one call draws all names
                    if sampled is None:
                        sampled = step.value.sample.draw(generator, count)
                    arrays[step.target] = sampled[step.value.name or ""]
                elif step.value.call is not None:
                    arrays[step.target] = code.given(step.value, inputs, count)
            else:
                extra = {"batches": self.span_blocks} if step.crossed else {}
                arrays[step.target] = (
                    computed(step, inputs, **extra) if compute is None else compute(step, inputs)
                )
            for register in () if keep else step.frees:
                arrays[register] = None
        return arrays

    def centres(self, generator: np.random.Generator, draws: int) -> Floats:
        """The centres about which integrands are to be summed, from a few draws.

        Returns:
            A number near the middle of each target, [size]; 0 where none is needed.
        """
        centres = np.zeros(self.size)
        with np.errstate(all="ignore"):
            arrays = self.registers(generator, draws)
            for register in self.targets:
                centres[register] = middle(number(filled(arrays[register])))
        return centres

    def finite(self, generator: np.random.Generator, draws: int) -> bool:
        """Whether each quantity in an integrand is finite in at least one of the draws."""
        with np.errstate(all="ignore"):
            arrays = self.registers(generator, draws)
        return all(np.isfinite(number(filled(arrays[one]))).any() for one in self.targets)

    def span(
        self, generator: np.random.Generator, centres: Floats, number_of_span: int
    ) -> SpanSums:
        """The sums of every integrand in each block of one span: [span_blocks, terms]."""
        with np.errstate(all="ignore"):
            if self.quickest is not self.steps:
                state = generator.bit_generator.state
                arrays = self.registers(generator, self.span_draws, steps=self.quickest)
                by_groups = self._by_groups(arrays, centres)
                if np.isfinite(by_groups).all():
                    return SpanSums(sums=by_groups)
                generator.bit_generator.state = state  # make the same draws, and sum one by one
            arrays = self.registers(generator, self.span_draws)
            sums, bad = self._one_by_one(arrays, centres)
        before = number_of_span * self.span_values
        return SpanSums(sums=sums) if bad is None else broken_span(sums, bad, before)

    @property
    def quickest(self) -> tuple[Step, ...]:
        """The steps to sum from, if all integrands are defined."""
        return self.steps if self.separations is None else self.apart

    def summed(
        self, arrays: list[Array | None], centres: Floats
    ) -> tuple[Floats | None, Truths | None]:
        """The sums in each block after the quickest steps, and which draws are undefined.

        The sums are None if they need all steps.
        """
        if self.quickest is self.steps:
            return self._one_by_one(arrays, centres)
        sums = self._by_groups(arrays, centres)
        return (sums if np.isfinite(sums).all() else None), None

    def _one_by_one(
        self, arrays: list[Array | None], centres: Floats
    ) -> tuple[Floats, Truths | None]:
        if self.counter is not None:
            values = [number(filled(arrays[register])) for register in self.targets]
            return counted(self.counter, values, self.span_draws, self.span_blocks)
        blocks = self.span_draws // self.unit_draws if self.clips else self.span_blocks
        moments = Moments(SpanRegisters(arrays, centres, self.span_values, blocks))
        sums = np.empty((blocks, len(self.terms)))
        for index, term in enumerate(self.terms):
            sums[:, index] = moments.sums(term)
        bad = None if np.isfinite(sums).all() else moments.undefined(self.terms)
        if self.clips:
            sums = with_clips(sums, self.clips, self.unit_draws, self.span_blocks)
        return sums, bad

    def _by_groups(self, arrays: list[Array | None], centres: Floats) -> Floats:
        """The sums of products over groups of draws, averaged over all combinations."""
        assert self.separations is not None
        means = GroupMeans(SpanRegisters(arrays, centres, self.span_draws, self.span_blocks))
        return np.stack([means.sums(one) for one in self.separations.terms], axis=1)


def broken_span(sums: Floats, bad: Truths, before: int) -> SpanSums:
    """A span with undefined draws; `before` is the number of values in earlier spans."""
    places = np.flatnonzero(bad)
    first = before + int(places[0]) if len(places) else None
    return SpanSums(sums=sums, undefined=len(places), first_undefined=first)
