"""A compiled case: steps that draw and compute, and the integrands whose sums are kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dropcheck.language.graph import Value, thawed
from dropcheck.simulation import samplers
from dropcheck.simulation.arrays import (
    COMPARISONS,
    Array,
    Kernel,
    nearly_tied,
    number,
)
from dropcheck.simulation.tables import Table, occurrences, weighted

Sums = npt.NDArray[np.float64]
Observer = Callable[[Value, list[Array]], None]


@dataclass(frozen=True, slots=True)
class Term:
    """One integrand: given · Π (value − centre)^power, by registers; no factor is 1."""

    factors: tuple[tuple[int, int], ...]
    given: int | None
    every: bool = False  # 1 where the factor holds for every element of the draw


@dataclass(frozen=True, slots=True)
class Step:
    """Fill one register from others."""

    target: int
    value: Value
    inputs: tuple[int, ...]
    kernel: Kernel | None  # None: draw
    frees: tuple[int, ...]
    # in a crossed program: drawn with the right side's batches, and the product of both sides
    right: bool = False
    crossed: bool = False


@dataclass(frozen=True, slots=True)
class SpanSums:
    """What a span leaves behind: sums a block, and the draws where a quantity was undefined.

    `sums` has shape [blocks, terms]. `undefined` counts draws with a NaN or an infinity that is
    looked at; `first_undefined` is the number of the first, within the case, or None. `seconds` is
    the time they took.
    """

    sums: Sums
    undefined: int = 0
    first_undefined: int | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Program:
    """Draws in spans, each with a stream of its own, summed in blocks.

    `size` registers, of which `fixed` hold what does not vary; `terms` are the integrands.
    """

    size: int
    fixed: tuple[tuple[int, Array], ...]
    steps: tuple[Step, ...]
    terms: tuple[Term, ...]
    targets: tuple[int, ...]  # registers that integrands look at
    span_draws: int
    span_blocks: int
    cost: float  # rough nanoseconds a draw
    # the elements drawn from each law that can be rare: draws needed to see it at all
    rarest: float
    # crossed: the sizes of the batches of which every pair is evaluated
    batches: tuple[int, int] | None = None
    # integrands that are counted, and the steps that the others and the counts need
    tables: tuple[Table, ...] = ()
    lean: tuple[Step, ...] = ()

    @property
    def block_draws(self) -> int:
        """Draws of one block."""
        return self.span_draws // self.span_blocks

    @property
    def span_values(self) -> int:
        """Values of each quantity in one span: one a draw, or one a pair of draws."""
        return (
            self.span_draws if self.batches is None else self.span_blocks * math.prod(self.batches)
        )

    @property
    def block_values(self) -> int:
        """Values of each quantity in one block."""
        return self.span_values // self.span_blocks

    @property
    def sampling(self) -> str:
        """How draws become values, in words: "plain" or "crossed 96×96"."""
        return "plain" if self.batches is None else "crossed {}×{}".format(*self.batches)

    @property
    def random(self) -> bool:
        """Whether anything is drawn at all."""
        return bool(self.steps)

    def registers(
        self,
        generator: np.random.Generator,
        draws: int,
        observe: Observer | None = None,
        steps: tuple[Step, ...] | None = None,
    ) -> list[Array | None]:
        """Carry out steps for so many draws, or for those of a span where the program is crossed.

        All steps unless some are named. Targets stay filled. `observe` is shown every computed
        value with its inputs.
        """
        held: list[Array | None] = [None] * self.size
        for register, constant in self.fixed:
            held[register] = constant
        for step in self.steps if steps is None else steps:
            inputs = [_filled(held[register]) for register in step.inputs]
            if step.kernel is None:
                count = draws
                if self.batches is not None:
                    count = self.span_blocks * self.batches[step.right]
                held[step.target] = _draw(step.value, generator, inputs, count)
            else:
                if observe is not None:
                    observe(step.value, [number(array) for array in inputs])
                extra = {"batches": self.span_blocks} if step.crossed else {}
                held[step.target] = computed(step, inputs, **extra)
            for register in step.frees:
                held[register] = None
        return held

    def centres(self, generator: np.random.Generator, draws: int) -> Sums:
        """A number near the middle of each target, [size]; 0 where nothing is finite."""
        with np.errstate(all="ignore"):
            held = self.registers(generator, draws)
            found = np.zeros(self.size)
            for register in self.targets:
                array = number(_filled(held[register]))
                finite = array[np.isfinite(array)]
                if finite.size:
                    found[register] = np.median(finite)
        return found

    def near_ties(self, generator: np.random.Generator, draws: int) -> list[Value]:
        """Comparisons in which some draws differ, but by no more than rounding could have made."""
        found: list[Value] = []
        if not any(step.value.operation in COMPARISONS for step in self.steps):
            return found

        def observe(value: Value, inputs: list[Array]) -> None:
            if value.operation in COMPARISONS and np.any(nearly_tied(*inputs)):
                found.append(value)

        with np.errstate(all="ignore"):
            self.registers(generator, draws, observe)
        return found

    def span(self, generator: np.random.Generator, centres: Sums, number_of_span: int) -> SpanSums:
        """Sums of every integrand in each block of one span: [span_blocks, terms]."""
        with np.errstate(all="ignore"):
            if self.tables:
                state = generator.bit_generator.state
                counted = self._counted(generator, centres)
                if counted is not None:
                    return SpanSums(counted)
                generator.bit_generator.state = state  # the same draws, one by one
            held = self.registers(generator, self.span_draws)
            moments = _Moments(held, centres, self.span_values)
            sums = np.empty((self.span_blocks, len(self.terms)))
            for index, term in enumerate(self.terms):
                sums[:, index] = self._block_sums(moments.a_draw(term))
            if np.isfinite(sums).all():
                return SpanSums(sums)
            bad = moments.undefined(self.terms)
        first = (
            int(np.flatnonzero(bad)[0]) + number_of_span * self.span_values if bad.any() else None
        )
        return SpanSums(sums, int(bad.sum()), first)

    def _block_sums(self, a_draw: Array) -> Sums:
        total: Sums = a_draw.reshape(self.span_blocks, -1).sum(axis=1)
        return total

    def _counted(self, generator: np.random.Generator, centres: Sums) -> Sums | None:
        """The same sums, with integrands of a few truths counted; None where some is undefined."""
        held = self.registers(generator, self.span_draws, steps=self.lean)
        sums = np.empty((self.span_blocks, len(self.terms)))
        left = set(range(len(self.terms)))
        for table in self.tables:
            truths = [_filled(held[source]) for source in table.sources]
            occurred = occurrences(truths, self.span_blocks)
            if occurred is None:
                return None
            at_each: list[Array | None] = [None] * self.size
            for register, array in table.held:
                at_each[register] = array
            moments = _Moments(at_each, centres, occurred.shape[1])
            for index in table.terms:
                values = moments.a_draw(self.terms[index])
                sums[:, index] = weighted(occurred, values, table.elements)
            left -= set(table.terms)
        moments = _Moments(held, centres, self.span_values)
        for index in left:
            sums[:, index] = self._block_sums(moments.a_draw(self.terms[index]))
        return sums if np.isfinite(sums).all() else None


class _Moments:
    """Integrands of one span, each power of each target computed once."""

    def __init__(self, held: Sequence[Array | None], centres: Sums, draws: int) -> None:
        self._held = held
        self._centres = centres
        self._draws = draws
        self._powers: dict[tuple[int, int, int | None], Array] = {}

    def a_draw(self, term: Term) -> Array:
        """The integrand's mean over the elements of each draw: [draws]."""
        if term.every:
            return np.broadcast_to(self._every(term), (self._draws,))
        product: Array | None = None
        for register, power in term.factors:
            factor = self._power(register, power, term.given)
            product = factor if product is None else product * factor
        if term.given is not None:
            given = self._given(term.given)
            if product is None:
                product = given
            elif product.ndim < given.ndim:  # the condition has elements, the quantity one number
                product = product * given
        if product is None:
            return np.ones(self._draws)
        if product.ndim > 1:
            product = product.reshape(-1, product.shape[-1]).mean(axis=0)
        if product.shape == (self._draws,):
            return product
        return np.broadcast_to(product, (self._draws,))

    def _every(self, term: Term) -> Array:
        """1 where the event fails for some element where it is looked at, [draws]."""
        (register, _), *_ = term.factors
        event = _filled(self._held[register])
        holds = event if event.dtype == np.bool_ else np.where(np.isnan(event), event, event != 0)
        if term.given is not None:
            given = self._given(term.given)
            holds = np.where(given == 0, 1.0, number(holds) + 0 * given)
        flat = np.atleast_2d(number(holds).reshape(-1, holds.shape[-1]))
        failed: Array = 1.0 - flat.min(axis=0)
        return failed

    def _given(self, register: int) -> Array:
        given = _filled(self._held[register])
        if given.dtype == np.bool_:
            return given.astype(np.float64)
        return np.where(np.isnan(given), given, (given != 0).astype(np.float64))

    def _power(self, register: int, power: int, given: int | None) -> Array:
        key = (register, power, given)
        found = self._powers.get(key)
        if found is None:
            if power == 1:
                found = number(_filled(self._held[register]))
                if self._centres[register]:
                    found = found - self._centres[register]
                if given is not None:
                    # not a product: where the condition fails the quantity may be NaN
                    condition = self._given(given)
                    found = np.where(condition == 0, 0.0, found + 0 * condition)
            else:
                found = self._power(register, power - 1, given) * self._power(register, 1, given)
            self._powers[key] = found
        return found

    def undefined(self, terms: Sequence[Term]) -> npt.NDArray[np.bool_]:
        """Draws in which some integrand is NaN or infinite, where it is looked at: [draws]."""
        bad = np.zeros(self._draws, dtype=np.bool_)
        for term in terms:
            bad |= ~np.isfinite(self.a_draw(term))
        return bad


def computed(step: Step, inputs: list[Array], **extra: int) -> Array:
    """The value that a step computes from its inputs.

    Raises:
        DropcheckError: for a value that its function cannot take, at its place in the text.
    """
    if step.kernel is None:
        raise AssertionError("a draw is not computed")
    if not step.value.takes_truth:
        inputs = [number(array) for array in inputs]
    options = {name: thawed(option) for name, option in step.value.options}
    try:
        return step.kernel(*inputs, **options, **extra)
    except ValueError as error:
        raise step.value.at.error(str(error)) from None


def _filled(array: Array | None) -> Array:
    if array is None:
        raise AssertionError("a register was read before it was filled")
    return array


def _draw(
    value: Value, generator: np.random.Generator, arguments: list[Array], draws: int
) -> Array:
    arguments = [number(argument) for argument in arguments]
    if any(found.random for found in value.inputs):
        bad = samplers.first_bad_argument(value.operation, arguments)
        if bad is not None:
            raise value.at.error(
                f"{value.operation}: {bad.message}, in some draw",
                "bound it on a line above, for example with clip(…) or abs(…)",
            )
    try:
        return samplers.sample(value.operation, generator, arguments, value.shape or (), draws)
    except ValueError as error:
        raise value.at.error(f"{value.operation} cannot be drawn: {error}") from None
