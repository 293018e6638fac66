"""Integrands that are products over independent groups of draws: averaged over all combinations.

A block of n draws has n of each group, and with two groups n² combinations of one's draw with the
other's. Their average is the product of the groups' own averages, so that it costs no more than the
n draws do; `dropcheck.language.separable` says when, and why it is right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dropcheck.simulation.arrays import Array, number
from dropcheck.simulation.moments import Sums, Term, filled
from dropcheck.simulation.tables import counts

# Share of the first order in the variance of an average over all combinations, from which on the
# average is near normal: what is left adds 6 · 0.05² to its kurtosis.
FIRST_ORDER = 0.95


@dataclass(frozen=True, slots=True)
class Power:
    """(register − centre)^exponent, or register^exponent where it is not centred."""

    register: int
    exponent: int
    centred: bool = False


@dataclass(frozen=True, slots=True)
class Separation:
    """One integrand as factor · Π power, those of each group of draws together.

    `factor` is what does not vary, [elements…, 1].
    """

    factor: Array
    groups: tuple[tuple[Power, ...], ...]


@dataclass(frozen=True, slots=True)
class Separations:
    """All integrands of a program; None for those that are averaged draw by draw.

    `mixed` are the registers in which groups of draws meet, `groups` counts the groups. With `lean`
    no mixed register is looked at.
    """

    terms: tuple[Separation | None, ...]
    mixed: frozenset[int]
    groups: int

    @property
    def lean(self) -> bool:
        """Whether every integrand is a product of the groups' averages."""
        return None not in self.terms

    def fitting(self, about: Sequence[Term], means: GroupMeans, block: int) -> Separations | None:
        """Those whose averages over all combinations of a block are near normal; None where none.

        Args:
            about: the integrands as terms.
            means: some draws.
            block: draws of a block.
        """

        def fits(term: Term, one: Separation) -> bool:
            if any(
                register in self.mixed and means.centred(register) for register, _ in term.factors
            ):
                return False  # no product about a centre
            return len(one.groups) < 2 or means.first_order(one, block) >= FIRST_ORDER

        kept = tuple(
            one if one is not None and fits(term, one) else None
            for term, one in zip(about, self.terms, strict=True)
        )
        mixed = any(one is not None and len(one.groups) > 1 for one in kept)
        return replace(self, terms=kept) if mixed else None


class GroupMeans:
    """Averages of the groups' parts in each block of one span, each worked out once."""

    def __init__(
        self, held: Sequence[Array | None], centres: Sums, draws: int, blocks: int = 1
    ) -> None:
        self._held = held
        self._centres = centres
        self._draws = draws
        self._blocks = blocks
        self._powers: dict[Power, Array] = {}
        self._means: dict[tuple[Power, ...], Array] = {}

    def sums(self, term: Separation) -> Sums:
        """The integrand's average over all combinations of a block, times its draws: [blocks]."""
        found = np.broadcast_to(term.factor, (*term.factor.shape[:-1], self._blocks))
        found = found * (self._draws // self._blocks)
        for group in term.groups:
            found = found * self._mean(group)
        if found.ndim > 1:  # over the elements of a draw
            found = found.reshape(-1, self._blocks).mean(axis=0)
        return found

    def centred(self, register: int) -> bool:
        """Whether a register's powers are about a centre."""
        return bool(self._centres[register])

    def first_order(self, term: Separation, block: int) -> float:
        """The first order's share in the variance of a block's average over all combinations.

        With μ and σ² of each group's part and n draws of each, the variance is
        Π (μ² + σ²/n) − Π μ², and the first order's Σ σ²/n Π' μ², the product over the other groups
        (Hoeffding 1948, eq. 5.13). What is left is not normal: of two groups without a mean it is a
        product of two normals, however long the block is.
        """
        squares = [np.square(self._mean(group)) for group in term.groups]
        spreads = [self._spread(group) / block for group in term.groups]
        both = [square + spread for square, spread in zip(squares, spreads, strict=True)]
        whole = float(np.sum(math.prod(both) - math.prod(squares)))
        first = 0.0
        for place, spread in enumerate(spreads):
            first += float(np.sum(spread * math.prod(squares[:place] + squares[place + 1 :])))
        return first / whole if whole > 0 else 1.0

    def _spread(self, group: tuple[Power, ...]) -> Array:
        """The variance of Π power: [elements…, blocks]."""
        square = tuple(replace(power, exponent=2 * power.exponent) for power in group)
        spread: Array = self._mean(square) - np.square(self._mean(group))
        return spread

    def _mean(self, group: tuple[Power, ...]) -> Array:
        """Averages of Π power over each block's draws: [elements…, blocks]."""
        found = self._means.get(group)
        if found is None:
            found = self._means[group] = self._sums(group) / (self._draws // self._blocks)
        return found

    def _sums(self, group: tuple[Power, ...]) -> Array:
        match group:
            case [Power(register, exponent, False)] if exponent > 0:
                truths = filled(self._held[register])
                if truths.dtype == np.bool_ and truths.ndim == 1:
                    return np.asarray(counts(truths, self._blocks), dtype=np.float64)
        *others, last = (half for power in group for half in self._halves(power))
        rows = [self._by_block(last)]
        if others:  # no array of the last product
            rows.append(self._by_block(math.prod(others[1:], start=others[0])))
            if rows[0].shape != rows[1].shape:
                rows = list(np.broadcast_arrays(*rows))
            return np.asarray(np.vecdot(*rows))
        return np.asarray(rows[0].sum(axis=-1))

    def _by_block(self, array: Array) -> Array:
        return array.reshape(*array.shape[:-1], self._blocks, self._draws // self._blocks)

    def _halves(self, power: Power) -> list[Array]:
        """A power as one array or as the product of two, so that a sum needs no array of it."""
        if abs(power.exponent) == 1:
            return [self._power(power)]
        half = int(power.exponent / 2)
        return [
            self._power(Power(power.register, exponent, power.centred))
            for exponent in (power.exponent - half, half)
        ]

    def _power(self, power: Power) -> Array:
        found = self._powers.get(power)
        if found is not None:
            return found
        if power.exponent == 1:
            found = number(filled(self._held[power.register]))
            if power.centred and self._centres[power.register]:
                found = found - self._centres[power.register]
        elif power.exponent < 0:
            found = 1.0 / self._power(Power(power.register, -power.exponent, power.centred))
        else:
            halves = self._halves(power)
            found = halves[0] * halves[1]
        self._powers[power] = found
        return found
