"""Integrands that are products over independent groups of draws, averaged over all combinations.

A block of n draws has n draws of each group; with two groups, these make n² combinations. Their
average is the product of the groups' averages, so it costs no more than n draws.
`dropcheck.analysis.products` says when this is right, and why.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dropcheck.analysis.products import Separated, separated
from dropcheck.array_types import Floats
from dropcheck.language.graph import Value, number
from dropcheck.simulation.integrands import SpanRegisters, Term, counts
from dropcheck.vocabulary.function import Array

# Factors outside of this range may have lost digits or overflowed.
SMALLEST, LARGEST = 1e-250, 1e250


@dataclass(frozen=True, slots=True)
class Power:
    """(register − centre)^exponent, or register^exponent if it is not centred."""

    register: int
    exponent: int
    centred: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class GroupPart:
    """The factor of an integrand from one group of draws: Π power. Equal ones are shared.

    `plain` is the same factor about centres of 0; None if it is that itself.
    """

    powers: tuple[Power, ...]
    plain: GroupPart | None


@dataclass(frozen=True, slots=True, eq=False)
class Separation:
    """One integrand as factor · Π part, with one part for each group of draws that it depends on.

    `factor` does not vary, [elements…, 1]; `mixed` are registers that are not computed.
    """

    factor: Array
    parts: tuple[GroupPart, ...]
    mixed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Separations:
    """All integrands of a program, each a product over groups of draws.

    `judged` are the columns of the statement's quantity; others are for sizes. `members` has the
    group of each draw, by name.
    """

    terms: tuple[Separation, ...]
    judged: frozenset[int]
    members: Mapping[str, int]

    @property
    def groups(self) -> int:
        """How many groups of draws occur together in what is judged."""
        judged = (one for index, one in enumerate(self.terms) if index in self.judged)
        return max((len(one.parts) for one in judged), default=0)

    @property
    def registers(self) -> set[int]:
        """The registers of which averages are computed."""
        every = (part for one in self.terms for part in one.parts)
        return {power.register for part in every for power in part.powers}

    @property
    def mixed(self) -> frozenset[int]:
        """Registers that depend on several groups; they can be separated about 0 only."""
        return frozenset(register for one in self.terms for register in one.mixed)


def separations(
    terms: Sequence[Term],
    values: Sequence[Value],
    registers: Mapping[int, int],
    judged: frozenset[int],
) -> Separations | None:
    """Every integrand as a product over groups of draws; None if one of them is not a product.

    `registers` has the register of each value, by id; `judged` are the columns of the statement's
    quantity.
    """
    if any(term.given is not None or term.every for term in terms):
        return None
    powers: dict[int, int] = {}
    for register, power in (factor for term in terms for factor in term.factors):
        powers[register] = max(power, powers.get(register, 0))
    if not all(values[register].random for register in powers):
        return None
    separate = separated([values[register] for register in powers])
    if separate is None:
        return None
    targets, members = separate
    products = {register: targets[values[register]] for register in powers}
    parts: dict[tuple[Power, ...], GroupPart] = {}
    with np.errstate(all="ignore"):
        each = [_separation(term, products, registers, parts) for term in terms]
    kept = [one for one in each if one is not None]
    if len(kept) < len(each):
        return None
    made = Separations(tuple(kept), judged, members)
    return made if made.groups > 1 else None


def _separation(
    term: Term,
    products: Mapping[int, Separated],
    registers: Mapping[int, int],
    parts: dict[tuple[Power, ...], GroupPart],
) -> Separation | None:
    """One integrand as a product over groups of draws; None if its fixed factor overflows.

    `parts` has the parts of other integrands, by their powers; those of this one are added.
    """
    factor: Array = np.ones(1)
    groups: dict[int, list[Power]] = {}
    mixed = []
    for register, power in term.factors:
        product = products[register]
        if not product.mixed:  # within one group: centred as a whole
            ((group, _),) = product.groups
            groups.setdefault(group, []).append(Power(register, power, centred=True))
            continue
        mixed.append(register)
        factor = factor * product.sign**power
        for value, own in product.fixed:
            factor = factor * number(value.constant) ** float(own * power)
        for group, members in product.groups:
            for value, own in members:
                exponent = own * power
                if exponent > 0 and value.binary:
                    exponent = 1  # 0 and 1 are their own powers
                groups.setdefault(group, []).append(Power(registers[id(value)], exponent))
    sizes = np.abs(factor[factor != 0])
    if not np.all((sizes > SMALLEST) & (sizes < LARGEST)):
        return None
    own_parts = tuple(_part(tuple(powers), parts) for powers in groups.values())
    return Separation(factor, own_parts, tuple(mixed))


def _part(powers: tuple[Power, ...], parts: dict[tuple[Power, ...], GroupPart]) -> GroupPart:
    """The part with these powers; equal ones are made once."""
    part = parts.get(powers)
    if part is None:
        plain = None
        if any(power.centred for power in powers):
            plain = _part(tuple(replace(power, centred=False) for power in powers), parts)
        part = parts[powers] = GroupPart(powers, plain)
    return part


class GroupMeans:
    """Averages of the groups' parts in each block of one span; each is computed once."""

    def __init__(self, span: SpanRegisters) -> None:
        self._span = span
        self._powers: dict[Power, Array] = {}
        self._means: dict[GroupPart, Array] = {}

    def sums(self, term: Separation) -> Floats:
        """The integrand's average over all combinations in a block, times its draws: [blocks]."""
        product = term.factor * self._span.block_draws
        for part in term.parts:
            product = product * self._mean(part)
        if product.ndim == 1:
            return product
        return np.asarray(product.reshape(-1, product.shape[-1]).mean(axis=0))

    def _mean(self, part: GroupPart) -> Array:
        """The averages of a part over the draws of each block: [elements…, blocks]."""
        mean = self._means.get(part)
        if mean is None:
            plain = part.plain
            if plain is not None and not any(self._span.centres[p.register] for p in part.powers):
                mean = self._mean(plain)
            else:
                mean = self._sums(part.powers) / self._span.block_draws
            self._means[part] = mean
        return mean

    def _sums(self, powers: tuple[Power, ...]) -> Array:
        match powers:
            case [Power(register, 1, False)]:
                truths = self._span.array(register)
                if truths.dtype == np.bool_ and truths.ndim == 1:
                    return counts(truths, self._span.blocks)
        *others, last = (half for power in powers for half in self._halves(power))
        rows = self._by_block(last)
        if not others:
            return np.asarray(np.add.reduce(rows, axis=-1))
        product = self._by_block(math.prod(others[1:], start=others[0]))
        if rows.shape != product.shape:
            rows, product = np.broadcast_arrays(rows, product)
        return np.asarray(np.vecdot(rows, product))  # no array of the last product

    def _by_block(self, array: Array) -> Array:
        return array.reshape(*array.shape[:-1], self._span.blocks, self._span.block_draws)

    def _halves(self, power: Power) -> list[Array]:
        """A power as one array or as the product of two, whose sum needs no array of products."""
        if abs(power.exponent) == 1:
            return [self._power(power)]
        half = int(power.exponent / 2)
        return [
            self._power(Power(power.register, exponent, power.centred))
            for exponent in (power.exponent - half, half)
        ]

    def _power(self, power: Power) -> Array:
        about = self._span.centres[power.register] if power.centred else 0.0
        if power.exponent == 1 and not about:
            return number(self._span.array(power.register))
        raised = self._powers.get(power)
        if raised is not None:
            return raised
        if power.exponent == 1:
            raised = number(self._span.array(power.register)) - about
        elif power.exponent < 0:
            raised = 1.0 / self._power(Power(power.register, -power.exponent, power.centred))
        else:
            halves = self._halves(power)
            raised = halves[0] * halves[1]
        self._powers[power] = raised
        return raised
