"""Counts draws in cells, in place of sums of integrands.

A counter takes the values of some quantities, [..., draws] each, and returns counts for each block:
[blocks, columns]. A quantity that does not vary has one draw, which stands for all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Protocol

import numpy as np

from dropcheck.array_types import Floats, Truths
from dropcheck.records import record
from dropcheck.vocabulary.function import Array

# In each block, the places within fine cells are counted for so many draws, the first ones.
PLACED = 8192
# If there are this many times more cuts than draws, it is faster not to sort the draws.
FEW = 2
# Nanoseconds to sort one number among others, and to find its cell.
SORTING = 25.0
FINDING = 12.0


class Counter(Protocol):
    """Counts the draws of a block."""

    @property
    def columns(self) -> int:
        """How many counts a block has."""

    @property
    def cost(self) -> float:
        """Nanoseconds for each draw, roughly."""

    @property
    def infinite(self) -> bool:
        """Whether infinity is a valid value, which is beyond every cut."""

    def counts(self, values: Sequence[Array], draws: int, blocks: int) -> Floats:
        """The counts of each block: [blocks, columns]."""


def entries_of(array: Array, draws: int, blocks: int) -> Floats:
    """The entries of a quantity, divided into blocks: [entries, blocks, draws]."""
    entries = math.prod(array.shape[:-1])
    flat = np.asarray(array, dtype=np.float64).reshape(entries, array.shape[-1])
    if flat.shape[1] != draws:
        flat = np.broadcast_to(flat, (entries, draws))
    return flat.reshape(entries, blocks, draws // blocks)


def counted(
    counter: Counter, values: Sequence[Array], draws: int, blocks: int
) -> tuple[Floats, Truths | None]:
    """The counts of each block, and which draws are undefined; None if no draw is."""
    counts = counter.counts(values, draws, blocks)
    if all(np.isfinite(array).all() for array in values):
        return counts, None
    bad = np.zeros(draws, dtype=bool)
    for array in values:
        there = ~np.isnan(array) if counter.infinite else np.isfinite(array)
        bad |= ~there.reshape(-1, array.shape[-1]).all(axis=0)
    return counts, bad if bad.any() else None


@record(kw_only=True)
class AtCuts:
    """For each entry, how many draws are at or below each cut, and which its law does not allow.

    The columns of an entry: one for each cut; the number of draws that are not whole; then, for
    each lattice (step, low, high), how many of the first draws are at each position within a step,
    and how many of them are outside of its range.
    """

    entries: int
    cuts: Floats
    whole: bool = False
    rounding: float = 0.0
    lattices: tuple[tuple[float, float, float], ...] = ()
    positions: int = 1
    infinite: bool = False

    @property
    def own(self) -> int:
        """How many columns one entry has."""
        return len(self.cuts) + 1 + len(self.lattices) * (self.positions + 1)

    @property
    def columns(self) -> int:
        """How many counts a block has."""
        return self.entries * self.own

    @property
    def cost(self) -> float:
        """Rough nanoseconds for one draw."""
        return self.entries * SORTING

    def counts(self, values: Sequence[Array], draws: int, blocks: int) -> Floats:
        """The counts of each block: [blocks, columns]."""
        result = np.zeros((blocks, self.entries, self.own))
        for entry, rows in enumerate(entries_of(values[0], draws, blocks)):
            for block, row in enumerate(rows):
                self._count(row, result[block, entry])
        return result.reshape(blocks, self.columns)

    def _count(self, row: Floats, found: Floats) -> None:
        end = len(self.cuts)
        if len(row) * FEW < end:  # look up each draw among the cuts, not each cut among the draws
            places = np.bincount(np.searchsorted(self.cuts, row, side="left"), minlength=end + 1)
            found[:end] = np.cumsum(places[:end])
        else:
            found[:end] = np.searchsorted(np.sort(row), self.cuts, side="right")
        if self.whole:
            found[end] = np.count_nonzero(np.abs(row - np.rint(row)) > self.rounding)
        end += 1
        for step, low, high in self.lattices:
            first_draws = row[:PLACED]
            inside = first_draws[(first_draws >= low) & (first_draws <= high)]
            # multiples of the step are in the middle of the first position
            steps = inside / step + 0.5 / self.positions
            place = ((steps - np.floor(steps)) * self.positions).astype(np.intp)
            places = np.bincount(np.minimum(place, self.positions - 1), minlength=self.positions)
            found[end : end + self.positions] = places
            found[end + self.positions] = len(first_draws) - len(inside)
            end += self.positions + 1


@record(kw_only=True)
class TwoAtCuts:
    """For each entry of two quantities, how many draws are at or below each of its cuts.

    The columns of an entry: even draws of the first quantity, its odd draws, and the same for the
    second quantity.
    """

    cuts: tuple[Floats, ...]  # by entry
    infinite: ClassVar[bool] = False

    @property
    def columns(self) -> int:
        """How many counts a block has."""
        return 4 * sum(map(len, self.cuts))

    @property
    def cost(self) -> float:
        """Rough nanoseconds for one draw."""
        return 2 * len(self.cuts) * SORTING

    def counts(self, values: Sequence[Array], draws: int, blocks: int) -> Floats:
        """The counts of each block: [blocks, columns]."""
        first, second = (entries_of(array, draws, blocks) for array in values)
        return np.stack(
            [
                np.concatenate(
                    [
                        np.searchsorted(np.sort(rows[block, start::2]), cuts, side="right")
                        for entry, cuts in enumerate(self.cuts)
                        for rows in (first[entry], second[entry])
                        for start in (0, 1)
                    ]
                ).astype(np.float64)
                for block in range(blocks)
            ]
        )


@record(kw_only=True)
class Tables:
    """How many draws are in each cell of some tables, whose axes are the cells of entries.

    `cuts` are given by entry, for all quantities together, in row-major order. A table is a tuple
    of the entries that are its axes.
    """

    cuts: tuple[Floats, ...]
    tables: tuple[tuple[int, ...], ...]
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

    def counts(self, values: Sequence[Array], draws: int, blocks: int) -> Floats:
        """The counts of each block: [blocks, columns]."""
        entries = np.concatenate([entries_of(array, draws, blocks) for array in values])
        cells = [
            np.searchsorted(cuts, rows, side="left")
            for cuts, rows in zip(self.cuts, entries, strict=True)
        ]
        result = np.empty((blocks, self.columns))
        end = 0
        for table in self.tables:
            shape = self.shape(table)
            size = math.prod(shape)
            flat = cells[table[0]]
            for entry, length in zip(table[1:], shape[1:], strict=True):
                flat = flat * length + cells[entry]
            for block in range(blocks):
                result[block, end : end + size] = np.bincount(flat[block], minlength=size)
            end += size
        return result
