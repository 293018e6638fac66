"""Integrands in one span of draws: their values in each draw, and their sums in each block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dropcheck.array_types import Floats, Truths
from dropcheck.language.graph import number
from dropcheck.records import record
from dropcheck.vocabulary.function import Array


@record
class Term:
    """One integrand: given · Π (value − centre)^power, by registers; without factors, it is 1."""

    factors: tuple[tuple[int, int], ...]
    given: int | None
    every: bool = False  # 1 in draws in which the factor fails for some element


def filled(array: Array | None) -> Array:
    """The array in a register, which an earlier step has filled."""
    assert array is not None
    return array


def counts(truths: Truths, blocks: int) -> Floats:
    """How many truths hold in each block, counting all elements: [blocks].

    >>> counts(np.arange(48) % 3 == 0, 2).tolist()
    [8.0, 8.0]
    """
    by_draw = truths.transpose(-1, *range(truths.ndim - 1))
    if truths.ndim > 1 and by_draw.flags.c_contiguous:  # blocks are contiguous
        truths = by_draw.reshape(-1)
    truths = np.ascontiguousarray(truths)
    # a truth is a byte that is 0 or 1: count the bits of eight bytes at once
    whole = truths.shape[-1] // blocks % 8 == 0
    held = np.bitwise_count(truths.view(np.uint64)) if whole else truths
    rows = held.reshape(-1, blocks, held.shape[-1] // blocks)
    return np.asarray(rows.sum(axis=(0, -1), dtype=np.float64))


def middle(array: Array) -> float:
    """A number near the middle of the finite values, or 0 if that is near enough.

    Centres are for averages far from 0, where powers would cancel. Within a few deviations of 0, at
    most two of sixteen digits are lost, and nothing needs to be subtracted from each draw.

    >>> middle(np.array([99.0, 100.0, 101.0])), middle(np.array([0.0, 2.0, 4.0]))
    (100.0, 0.0)
    """
    here = np.isfinite(array)
    finite = array.ravel() if here.all() else array[here]
    if not finite.size:
        return 0.0
    median = float(np.median(finite))
    return 0.0 if abs(median) <= 4 * float(np.median(np.abs(finite - median))) else median


@record(eq=False)
class SpanRegisters:
    """The registers after the draws of one span, which is divided into equal blocks.

    Powers are taken about `centres`, one number for each register.
    """

    registers: Sequence[Array | None]
    centres: Floats
    draws: int
    blocks: int = 1

    @property
    def block_draws(self) -> int:
        """How many draws a block has."""
        return self.draws // self.blocks

    def array(self, register: int) -> Array:
        """The array in a register."""
        return filled(self.registers[register])


class Moments:
    """Integrands in one span; each power of each quantity is computed once."""

    def __init__(self, span: SpanRegisters) -> None:
        self._span = span
        self._powers: dict[tuple[int, int, int | None], Array] = {}
        self._conditions: dict[int, Array] = {}

    def sums(self, term: Term) -> Floats:
        """The integrand's sum in each block: [blocks]."""
        truths = None if term.every else self._truths(term)
        if truths is not None:
            return counts(truths, self._span.blocks) * (self._span.draws / truths.size)
        if term.given is None and not term.every:
            product_sums = self._sums_of_product(*self._halves(term.factors))
            if product_sums is not None:
                return product_sums
        total: Floats = self.a_draw(term).reshape(self._span.blocks, -1).sum(axis=1)
        return total

    def _truths(self, term: Term) -> Array | None:
        """The integrand as an array of truths; None if it is not a product of truths."""
        if any(self._span.centres[register] for register, _ in term.factors):
            return None
        given = () if term.given is None else (term.given,)
        registers = {*given, *(register for register, _ in term.factors)}
        first, *others = (self._span.array(register) for register in registers)
        arrays = (first, *others)
        if any(one.dtype != np.bool_ or one.shape != first.shape for one in arrays):
            return None
        if first.shape[-1] != self._span.draws:
            return None
        return np.logical_and.reduce(arrays) if others else first

    def _halves(self, factors: tuple[tuple[int, int], ...]) -> list[Array]:
        """The integrand as one array, or as a product of two; empty if it has more factors."""
        match factors:
            case [(register, 1)]:
                return [self._power(register, 1, None)]
            case [(register, power)] if power <= 4:
                half = power // 2
                return [self._power(register, each, None) for each in (power - half, half)]
            case [(register, 1), (other, 1)]:
                return [self._power(register, 1, None), self._power(other, 1, None)]
        return []

    def _sums_of_product(self, *halves: Array) -> Floats | None:
        """Sums of products, without an array of the products; None if the shapes differ."""
        if not halves or halves[0].shape[-1] != self._span.draws:
            return None
        if any(half.shape != halves[0].shape for half in halves):
            return None
        elements = halves[0].size // self._span.draws
        by_draw = [half.transpose(-1, *range(half.ndim - 1)) for half in halves]
        if elements > 1 and all(half.flags.c_contiguous for half in by_draw):
            # draws come first in memory, as code returns them: a row is a whole block
            rows = [half.reshape(1, self._span.blocks, -1) for half in by_draw]
        else:  # a row is one element's draws in a block, or all its draws if there is one block
            length = self._span.block_draws if self._span.blocks > 1 else halves[0].size
            rows = [half.reshape(-1, self._span.blocks, length) for half in halves]
        by_row: Floats = np.vecdot(*rows) if len(rows) > 1 else np.add.reduce(rows[0], axis=-1)
        total: Floats = by_row[0] if len(by_row) == 1 else np.add.reduce(by_row, axis=0)
        return total if elements == 1 else total / elements

    def a_draw(self, term: Term) -> Array:
        """The integrand's mean over the elements of each draw: [draws]."""
        if term.every:
            return np.broadcast_to(self._every(term), (self._span.draws,))
        product: Array | None = None
        for register, power in term.factors:
            factor = self._power(register, power, term.given)
            product = factor if product is None else product * factor
        if term.given is not None:
            given = self._given(term.given)
            if product is None:
                product = given
            elif product.ndim < given.ndim:  # the condition has elements, and the quantity has none
                product = product * given
        if product is None:
            return np.ones(self._span.draws)
        if product.ndim > 1:
            product = product.reshape(-1, product.shape[-1]).mean(axis=0)
        if product.shape == (self._span.draws,):
            return product
        return np.broadcast_to(product, (self._span.draws,))

    def _every(self, term: Term) -> Array:
        """1 where the event fails for some element for which the condition holds, [draws]."""
        (register, _), *_ = term.factors
        event = self._span.array(register)
        if event.dtype == np.bool_ and term.given is None:
            each: Array = np.logical_and.reduce(event.reshape(-1, event.shape[-1]), axis=0)
            return number(~each)
        holds = event if event.dtype == np.bool_ else np.where(np.isnan(event), event, event != 0)
        if term.given is not None:
            given = self._given(term.given)
            holds = np.where(given == 0, 1.0, number(holds) + 0 * given)
        flat = np.atleast_2d(number(holds).reshape(-1, holds.shape[-1]))
        failed: Array = 1.0 - flat.min(axis=0)
        return failed

    def _given(self, register: int) -> Array:
        """1 where a condition holds, 0 where it fails, and NaN where it is NaN."""
        condition = self._conditions.get(register)
        if condition is None:
            given = self._span.array(register)
            condition = number(given != 0)
            lacking = np.isnan(given)
            if lacking.any():
                condition[lacking] = np.nan
            self._conditions[register] = condition
        return condition

    def _power(self, register: int, power: int, given: int | None) -> Array:
        key = (register, power, given)
        raised = self._powers.get(key)
        if raised is None:
            if power == 1:
                raised = number(self._span.array(register))
                if self._span.centres[register]:
                    raised = raised - self._span.centres[register]
                if given is not None:
                    condition = self._given(given)
                    if np.isfinite(raised).all():  # a product takes a fraction of the time
                        raised = raised * condition
                        raised += 0.0  # turns -0.0 into 0.0, as `where` below gives
                    else:
                        raised = np.where(condition == 0, 0.0, raised + 0 * condition)
            else:
                raised = self._power(register, power - 1, given) * self._power(register, 1, given)
            self._powers[key] = raised
        return raised

    def undefined(self, terms: Sequence[Term]) -> Truths:
        """Which draws have some integrand that is NaN or infinite, where its condition holds."""
        bad = np.zeros(self._span.draws, dtype=np.bool_)
        for term in terms:
            bad |= ~np.isfinite(self.a_draw(term))
        return bad
