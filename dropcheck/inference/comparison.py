"""A statement as comparisons: quantities that are functions of its operands, and their regions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.claims.registry import Tolerance
from dropcheck.inference.scale import SideMagnitude, known_scale
from dropcheck.language.cases import LoweredCase
from dropcheck.language.graph import Value
from dropcheck.language.law_claims import LawClaim, Relation
from dropcheck.language.printing import unparse, unparse_statement
from dropcheck.language.syntax import Binary, Node, Number, Statement, Subscript
from dropcheck.records import record
from dropcheck.results import Quantity, Region
from dropcheck.vocabulary.enclosures.affine import Affine

Operands = Mapping[int, Any]
"""Operands by their places: arrays [points], or enclosures; the quantity is of the same kind."""


@record
class Comparison:
    """One quantity of a statement, as a function of its operands, and its region.

    The quantity compares the operand `side` with the operand `against`; without the latter it is
    the side itself, and the ends of the region are fixed. `share` says that it is the relative
    difference L/R − 1, for a relative tolerance about an estimated side.
    """

    quantity: Callable[[Operands], Floats]
    measures: Quantity
    region: Region
    side: int
    against: int | None = None
    share: bool = False
    entry: tuple[int, ...] | None = None  # of the arrays that the statement is about

    @property
    def looked_at(self) -> tuple[int, ...]:
        """The places of the operands that the quantity is a function of."""
        return (self.side,) if self.against is None else (self.side, self.against)

    def enclosed(self, operands: Mapping[int, Affine]) -> Affine:
        """The quantity where the operands are known as enclosures."""
        enclosure: Any = self.quantity(operands)
        return cast("Affine", enclosure)


@record
class Reading:
    """A statement as comparisons, and the operands that its scale is measured by."""

    comparisons: tuple[Comparison, ...]
    side: int
    ends: tuple[int, ...]
    # the claim's scale where that is known beforehand, else None: operands have to be estimated
    known_scale: float | None
    magnitudes: tuple[SideMagnitude, ...] = ()  # of its sides, in their order
    # the readings of the entries, of a statement about arrays, each with comparisons of its own
    entries: tuple[Reading, ...] = ()

    @property
    def of_each(self) -> list[Reading]:
        """The reading that each comparison is part of: its own entry's, or the whole."""
        parts = self.entries or (self,)
        return [part for part in parts for _ in part.comparisons]

    @property
    def places(self) -> tuple[int, ...]:
        """The operands that are its sides, in their order."""
        return tuple(sorted((self.side, *self.ends)))

    def sides(self, operands: Sequence[float]) -> tuple[float, ...]:
        """The values of its sides, in their order, from those of all operands."""
        return tuple(operands[place] for place in self.places)

    @property
    def against_estimates(self) -> bool:
        """Whether some comparison has estimates on both sides."""
        return any(comparison.against is not None for comparison in self.comparisons)

    @property
    def of_probabilities(self) -> bool:
        """Whether every side is made of one probability: counts tell a small one from 0."""
        return all(one.of_probability for one in self.magnitudes)

    def sides_at(self, operands: Sequence[float]) -> list[float]:
        """The magnitudes of the sides; those of probabilities alone, where there are some."""
        sides = list(zip(self.magnitudes, self.sides(operands), strict=True))
        probabilities = [(one, value) for one, value in sides if one.of_probability]
        return [one(value) for one, value in probabilities or sides]


def read_statement(lowered: LoweredCase, tolerance: Tolerance | None) -> Reading:
    """The comparisons of a statement; a range with an estimated end gives two."""
    if lowered.law is not None:
        return _distance(lowered.law)
    if lowered.entries:
        count = len(lowered.operators) + 1
        parts = tuple(
            _moved(read_statement(lowered.of_entry(place), tolerance), place * count, entry)
            for place, entry in enumerate(lowered.entries)
        )
        whole = tuple(comparison for part in parts for comparison in part.comparisons)
        return Reading(
            comparisons=whole,
            side=parts[0].side,
            ends=parts[0].ends,
            known_scale=None,
            entries=parts,
        )
    operands = lowered.operands
    magnitudes = tuple(map(SideMagnitude.of, operands))
    if len(operands) == 3:
        return _range(lowered, magnitudes)
    side, end, operator = 0, 1, lowered.operators[0]
    if operands[1].estimated and not operands[0].estimated:  # `1 == E(x)`
        side, end, operator = 1, 0, _MIRRORED[operator]
    fixed = _fixed(operands[end])
    if fixed is None:
        region = _region(operator, 0.0)
        if tolerance is not None:
            region = Region(-tolerance.size, tolerance.size)
        comparison = _difference(side, end, Quantity.LEFT_MINUS_RIGHT, region)
        if tolerance is not None and not tolerance.absolute:
            share = partial(_share_of, side, end)
            comparison = replace(comparison, quantity=share, share=True)
        return Reading(
            comparisons=(comparison,),
            side=side,
            ends=(end,),
            known_scale=None,
            magnitudes=magnitudes,
        )
    region = _region(operator, fixed)
    if tolerance is not None:
        give = tolerance.around(fixed)
        region = Region(fixed - give, fixed + give)
    measures = Quantity.RIGHT if side else Quantity.LEFT
    comparison = Comparison(lambda operands: operands[side], measures, region, side)
    scale = known_scale(magnitudes[side], [fixed])
    return Reading(
        comparisons=(comparison,), side=side, ends=(end,), known_scale=scale, magnitudes=magnitudes
    )


def _moved(reading: Reading, by: int, entry: tuple[int, ...]) -> Reading:
    """The reading of one entry, whose operands stand `by` places further on."""

    def moved(own: Comparison) -> Comparison:
        def quantity(operands: Operands) -> Floats:
            return own.quantity({place - by: value for place, value in operands.items()})

        against = None if own.against is None else own.against + by
        return replace(own, quantity=quantity, side=own.side + by, against=against, entry=entry)

    ends = tuple(end + by for end in reading.ends)
    comparisons = tuple(map(moved, reading.comparisons))
    return Reading(
        comparisons=comparisons,
        side=reading.side + by,
        ends=ends,
        known_scale=reading.known_scale,
        magnitudes=reading.magnitudes,
    )


def _distance(law: LawClaim) -> Reading:
    """A statement about laws: it claims that a distance is 0, on the scale 1 of probabilities."""
    independent = law.relation is Relation.INDEPENDENT
    measures = Quantity.DEPENDENCE if independent else Quantity.DISTANCE
    comparison = Comparison(lambda operands: operands[0], measures, Region(0.0, 0.0), 0)
    return Reading((comparison,), 0, (), 1.0)


def _difference(side: int, end: int, measures: Quantity, region: Region) -> Comparison:
    return Comparison(
        quantity=lambda operands: operands[side] - operands[end],
        measures=measures,
        region=region,
        side=side,
        against=end,
    )


def _share_of(left: int, right: int, operands: Operands) -> Floats:
    """The relative difference of two sides; NaN where the right one may be 0."""
    side, end = operands[left], operands[right]
    if len(end) > 1 and end.min() <= 0 <= end.max():
        return np.full_like(end, np.nan)
    share: Floats = (side - end) / np.abs(end)
    return share


_MIRRORED = {"==": "==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _region(operator: str, end: float) -> Region:
    match operator:
        case "==":
            return Region(end, end)
        case "<" | "<=":
            return Region(-math.inf, end, high_open=operator == "<")
        case _:
            return Region(end, math.inf, low_open=operator == ">")


def _range(lowered: LoweredCase, magnitudes: tuple[SideMagnitude, ...]) -> Reading:
    rises = lowered.operators[0].startswith("<")
    low, high = (0, 2) if rises else (2, 0)
    strict = ["=" not in operator for operator in lowered.operators]
    low_open, high_open = strict if rises else reversed(strict)
    ends = (_fixed(lowered.operands[low]), _fixed(lowered.operands[high]))
    if ends[0] is not None and ends[1] is not None:
        region = Region(ends[0], ends[1], low_open, high_open)
        scale = known_scale(magnitudes[1], [ends[0], ends[1]])
        comparison = Comparison(lambda operands: operands[1], Quantity.MIDDLE, region, 1)
        return Reading(
            comparisons=(comparison,),
            side=1,
            ends=(low, high),
            known_scale=scale,
            magnitudes=magnitudes,
        )

    measures = {0: Quantity.MIDDLE_MINUS_LEFT, 2: Quantity.MIDDLE_MINUS_RIGHT}
    above = _difference(1, low, measures[low], Region(0.0, math.inf, low_open=low_open))
    below = _difference(1, high, measures[high], Region(-math.inf, 0.0, high_open=high_open))
    return Reading(
        comparisons=(above, below),
        side=1,
        ends=(low, high),
        known_scale=None,
        magnitudes=magnitudes,
    )


def _fixed(value: Value) -> float | None:
    return None if value.estimated else float(value.constant[..., 0])


# ---- a quantity, as it would be written ----------------------------------------------------------


def expression(
    statement: Statement, quantity: Quantity | None, entry: tuple[int, ...] | None = None
) -> str:
    """A quantity of a statement as it would be written in the language.

    Args:
        statement: the statement.
        quantity: which of its quantities; None for the side that is claimed about.
        entry: which of its entries, where it is an array.

    >>> from dropcheck.claims.registry import SourceText
    >>> from dropcheck.language.parser import parse_statement
    >>> read = parse_statement(SourceText.plain("E(y) == E(x) + 1"))
    >>> expression(read, Quantity.LEFT_MINUS_RIGHT)
    'E(y) - (E(x) + 1)'
    """
    at = statement.at
    operands = [one if entry is None else _entry(one, entry) for one in statement.operands]
    middle = operands[len(operands) // 2]
    match quantity:
        case Quantity.DISTANCE | Quantity.DEPENDENCE:
            return unparse_statement(statement)
        case Quantity.LEFT:
            return unparse(operands[0])
        case Quantity.LEFT_MINUS_RIGHT:
            return unparse(Binary(at, "-", operands[0], operands[1]))
        case Quantity.MIDDLE_MINUS_LEFT:
            return unparse(Binary(at, "-", middle, operands[0]))
        case Quantity.MIDDLE_MINUS_RIGHT:
            return unparse(Binary(at, "-", middle, operands[2]))
        case _:  # of two sides the second is the right one
            return unparse(middle)


def _entry(node: Node, entry: tuple[int, ...]) -> Node:
    """One entry of a side; a number is the same for all entries."""
    if isinstance(node, Number):
        return node
    return Subscript(node.at, node, tuple(Number(node.at, float(place)) for place in entry))
