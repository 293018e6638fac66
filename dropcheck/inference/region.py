"""The verdict: an interval against the region that a claim names."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any, cast

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.claims.registry import Tolerance
from dropcheck.known.enclosure import Enclosure
from dropcheck.language.compile import LoweredCase
from dropcheck.language.graph import Kind, LawClaim, Relation, Value, in_order, of_operators
from dropcheck.language.syntax import (
    ROUNDED,
    ArrayLiteral,
    Binary,
    Name,
    Negative,
    Node,
    Number,
    Statement,
    Subscript,
    unparse,
    unparse_statement,
    unsigned,
)
from dropcheck.results import Quantity, Region, Resolution, Verdict
from dropcheck.simulation.blocks import Tally
from dropcheck.simulation.compile import Compiled
from dropcheck.vocabulary.functions.elementwise import ADD, NEGATIVE, SUBTRACT


def widening(region: Region, asked: float) -> float:
    """How far outside the region a quantity may lie and still be verified.

    A range is widened by at most a tenth of its half-width, so that "within 0.1%" is not verified
    at 1%.
    """
    if region.point or math.isinf(region.half_width):
        return asked
    return min(asked, region.half_width / 10)


ROUNDED_SHARE = 0.25
"""Code rounds its results: no difference below this share of the resolution refutes it."""


def decide(
    low: float,
    high: float,
    region: Region,
    widen: float,
    rounding: float = 0.0,
    *,
    of_code: bool = False,
) -> Verdict:
    """Judge an interval [low, high] against a region.

    Refuted: the interval misses the region. Verified: it touches the region and lies within the
    widened region; a strict end is not widened. Differences below `rounding` are ignored. Code
    rounds its numbers, and so their mean: closed ends of the region are then moved outward by a
    share of `widen`, and the rest of it is the widening.

    >>> decide(0.99, 1.004, Region(1.0, 1.0), widen=0.02)
    <Verdict.VERIFIED: 'verified'>
    >>> decide(0.97, 1.004, Region(1.0, 1.0), widen=0.02)
    <Verdict.UNDECIDED: 'undecided'>
    >>> decide(1.01, 1.02, Region(1.0, 1.0), widen=0.05)
    <Verdict.REFUTED: 'refuted'>
    """
    if math.isnan(low) or math.isnan(high):
        return Verdict.UNDECIDED
    if of_code:
        share = ROUNDED_SHARE * widen
        low_end = region.low if region.low_open else region.low - share
        high_end = region.high if region.high_open else region.high + share
        region = replace(region, low=low_end, high=high_end)
        widen -= share
    below = high <= region.low + rounding if region.low_open else high < region.low - rounding
    above = low >= region.high - rounding if region.high_open else low > region.high + rounding
    if below or above:
        return Verdict.REFUTED
    if region.low_open:
        holds_low = low > region.low + rounding
    else:
        holds_low = low >= region.low - widen - rounding
    if region.high_open:
        holds_high = high < region.high - rounding
    else:
        holds_high = high <= region.high + widen + rounding
    return Verdict.VERIFIED if holds_low and holds_high else Verdict.UNDECIDED


def decide_exactly(value: float, error: float, region: Region, *, alike: bool = False) -> Verdict:
    """Judge a quantity that is known, up to an error, against the region that is allowed.

    Within the error of a closed end it is inside. On which side of an open end it lies nothing
    tells there, unless both sides of the statement are alike.

    >>> below = Region(high=1.0, high_open=True)
    >>> [str(decide_exactly(at, 1e-9, below)) for at in (0.9, 1.0, 1.1)]
    ['verified', 'undecided', 'refuted']
    >>> decide_exactly(1.0, 1e-9, below, alike=True), decide_exactly(1.0, 1e-9, Region(1.0, 1.0))
    (<Verdict.REFUTED: 'refuted'>, <Verdict.VERIFIED: 'verified'>)
    """
    verdict = Verdict.VERIFIED
    ends = ((region.low - value, region.low_open), (value - region.high, region.high_open))
    for beyond, is_open in ends:
        at_the_end = is_open and beyond >= -error
        if beyond > error or (at_the_end and alike):
            return Verdict.REFUTED
        if at_the_end:
            verdict = Verdict.UNDECIDED
    return verdict


def region_floor(region: Region, widen: float) -> float:
    """The error of a claim up to which it is verified, and so never refuted, by any draws.

    A claim that is false by less than its resolution is verified as soon as the interval lies
    within that; for a strict inequality the error is 0.
    """
    ends = ((region.low, region.low_open), (region.high, region.high_open))
    closed = any(math.isfinite(end) and not is_open for end, is_open in ends)
    return widen if closed else 0.0


def reach(estimate: float, error: float, region: Region, widen: float) -> float:
    """The half-width at which an interval about the estimate would decide; 0 where none would."""
    return max(*ways(estimate, error, region, widen), 0.0)


def ways(estimate: float, error: float, region: Region, widen: float) -> tuple[float, float]:
    """The half-widths at which an interval about the estimate would verify, and would refute.

    The estimate may be off by `error`; the value within that which lies nearest to the region is
    taken, so that chance alone does not promise an early refutation.
    """
    nearest = min(max(estimate, region.low), region.high)
    moved = estimate + math.copysign(min(abs(nearest - estimate), error), nearest - estimate)
    low_end = region.low if region.low_open else region.low - widen
    high_end = region.high if region.high_open else region.high + widen
    verify = min(moved - low_end, high_end - moved)
    return verify, max(moved - region.high, region.low - moved)


def promised(
    verdict: Verdict,
    region: Region | None,
    interval: tuple[float, float] | None,
    sharpness: Resolution | None,
    within: float | None,
) -> float | None:
    """How far from its region a verified quantity may lie; None where the verdict is another.

    It is `within` where the judge says so, else the widening of the region. It is 0 where the
    interval lies in the region itself.

    >>> promised(Verdict.VERIFIED, Region(low=0.0), (-0.01, 0.5), Resolution(0.02, 0.02), None)
    0.02
    >>> promised(Verdict.VERIFIED, Region(low=0.0), (0.1, 0.5), Resolution(0.02, 0.02), None)
    0.0
    """
    if verdict is not Verdict.VERIFIED or region is None:
        return None
    if interval is not None and region.low <= interval[0] and interval[1] <= region.high:
        return 0.0
    if within is not None or sharpness is None:
        return within
    return region_floor(region, sharpness.widening)


# A promise of more than this share of the largest number that is compared says little.
COARSE = 0.5


# ---- scale ---------------------------------------------------------------------------------------
#
# The scale of a claim: what its resolution is a share of.


@dataclass(frozen=True, slots=True)
class SideMagnitude:
    """The magnitude of a side of a statement, as a function of its value: the absolute value.

    A probability p says the same as 1 − p, that of the opposite event: its magnitude is the smaller
    of the two. This holds for a side that is `factor` times one probability, plus `constant`; for
    other sides the factor is 0.

    >>> SideMagnitude()(-2.0), SideMagnitude(1.0)(0.75), SideMagnitude(-2.0, 1.0)(-0.5)
    (2.0, 0.25, 0.5)
    >>> SideMagnitude(1.0)(1.5)  # no probability
    1.5
    """

    factor: float = 0.0
    constant: float = 0.0

    @classmethod
    def of(cls, side: Value) -> SideMagnitude:
        """The magnitude of this side."""
        form = of_operators(side)
        if form is None or len(form.terms) != 1:
            return cls()
        ((factor, operator),) = form.terms
        return cls(factor, form.constant) if operator.operator.probability else cls()

    @property
    def of_probability(self) -> bool:
        """Whether the side is made of one probability."""
        return self.factor != 0

    def is_certain(self, value: float) -> bool:
        """Whether the side says at this value that an event never happens, or always."""
        return self.of_probability and (value - self.constant) / self.factor in (0.0, 1.0)

    def __call__(self, value: float) -> float:
        """The magnitude at a value of the side."""
        if self.factor:
            probability = (value - self.constant) / self.factor
            if 0 < probability < 1:
                return abs(self.factor) * min(probability, 1 - probability)
        return abs(value)


def known_scale(side: SideMagnitude, ends: Sequence[float]) -> float | None:
    """The scale of a side that is compared with numbers; None where the side's size is needed.

    An end of 0 gives no scale, and neither does a probability of 0 or 1 if another end does.

    >>> known_scale(SideMagnitude(), [3.0]), known_scale(SideMagnitude(), [0.0])
    (3.0, None)
    >>> known_scale(SideMagnitude(1.0), [0.75, 1.0]), known_scale(SideMagnitude(1.0), [1.0])
    (0.25, 1.0)
    """
    if side.of_probability:
        within = [end for end in ends if 0 < (end - side.constant) / side.factor < 1]
        ends = within or ends
    return max(map(side, ends)) or None


def scale_of_sides(size: float, hidden: float, sides: Sequence[float]) -> float:
    """The scale of a statement that compares estimates, from the magnitudes of its sides.

    It is the magnitude of the largest side, and at most `size`, the size of what is estimated.
    Where no side is larger than `hidden`, all may well be 0, which is no scale: then it is `size`.

    >>> scale_of_sides(1.0, 0.01, [0.125, 0.25]), scale_of_sides(1.0, 0.01, [0.002, 0.001])
    (0.25, 1.0)
    """
    largest = max(sides)
    return min(largest, size) if largest > hidden else size


# ---- comparison ----------------------------------------------------------------------------------
#
# A statement as comparisons: quantities that are functions of its operands, and their regions.


# A probability is taken to be the claimed 1 or 0 where it is as near as this.
NEARLY = 1e-9


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as it is written: its digits, and one unit of the last of them.

    >>> Printed.of("0.410").ends
    (0.4095, 0.4105)
    """

    digits: Decimal
    unit: Decimal
    place: int = 1  # of the side that it stands on, alone
    decimal: bool = True  # it has a point, or its last digit is below 1; else `==` means all of it

    @classmethod
    def of(cls, text: str, sign: int = 1, place: int = 1) -> Printed:
        """The number that a text is, or its negative."""
        digits = Decimal(text).copy_sign(sign)
        exponent = digits.as_tuple().exponent
        unit = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
        return cls(digits, unit, place, decimal="." in text or unit < 1)

    @property
    def ends(self) -> tuple[float, float]:
        """The ends between which a number is printed with these digits."""
        return float(self.digits - self.unit / 2), float(self.digits + self.unit / 2)


def printed_in(
    statement: Statement,
    parameters: Mapping[str, str],
    entry: tuple[int, ...] | None,
    *,
    left_first: bool = False,
) -> Printed | None:
    """The number that stands alone on a side, as it is written.

    Args:
        statement: the statement.
        parameters: those that stand for a number alone, with their values as they are written.
        entry: the entry of a list of numbers that is asked for.
        left_first: of two such numbers the left one is meant, as the figure of a document is.
    """
    places = range(len(statement.operands))
    for place in places if left_first else reversed(places):
        node = statement.operands[place]
        for at in entry or ():
            listed = isinstance(node, ArrayLiteral) and at < len(node.items)
            node = node.items[at] if isinstance(node, ArrayLiteral) and listed else node
        match unsigned(node):
            case Number(text=str(text)):
                pass
            case Name(name=name) if name in parameters:
                text = parameters[name]
            case _:
                continue
        sign = -1 if isinstance(node, Negative) ^ text.startswith("-") else 1
        return Printed.of(text, sign, place)
    return None


Operands = Mapping[int, Any]
"""Operands by their places: arrays [points], or enclosures; the quantity is of the same kind."""


@dataclass(frozen=True, slots=True)
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
    # what the claim's text allows beyond a closed end of the region, at most the resolution; None:
    # a hundredth of the resolution, but at most half a unit where a whole number is printed
    gives: float | None = None
    most: float = math.inf

    def allowed(self, asked: float) -> Region:
        """The region with all that the claim allows, at a resolution: an open end is as it is.

        >>> side = Comparison(lambda operands: operands[0], Quantity.LEFT, Region(3.0, 3.0), 0)
        >>> side.allowed(0.5)
        Region(low=2.995, high=3.005, low_open=False, high_open=False)
        """
        region = self.region
        share = min(widening(region, asked) / 100, self.most)
        give = share if self.gives is None else min(self.gives, asked)
        low = region.low if region.low_open else region.low - give
        high = region.high if region.high_open else region.high + give
        return replace(region, low=low, high=high)

    @property
    def looked_at(self) -> tuple[int, ...]:
        """The places of the operands that the quantity is a function of."""
        return (self.side,) if self.against is None else (self.side, self.against)

    def enclosed(self, operands: Mapping[int, Enclosure]) -> Enclosure:
        """The quantity where the operands are known as enclosures."""
        enclosure: Any = self.quantity(operands)
        return cast("Enclosure", enclosure)


@dataclass(frozen=True, slots=True)
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
    shown: int | None = None  # the comparison that is shown where others have the same verdict

    def confirming(self, values: Sequence[float], shown: int) -> Reading:
        """The statement that each quantity has this value, which draws confirm."""
        each = zip(self.comparisons, values, strict=True)
        comparisons = tuple(
            replace(one, region=Region(value, value), gives=0.0) for one, value in each
        )
        return replace(self, comparisons=comparisons, shown=shown)

    @property
    def scaled(self) -> bool:
        """Whether the scale of some comparison has to be computed."""
        return any(part.known_scale is None for part in self.entries or (self,))

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

    def sides_at(self, operands: Sequence[float]) -> list[float]:
        """The magnitudes of the sides; those of probabilities alone, where there are some."""
        sides = list(zip(self.magnitudes, self.sides(operands), strict=True))
        probabilities = [(one, value) for one, value in sides if one.of_probability]
        return [one(value) for one, value in probabilities or sides]


def read_statement(
    lowered: LoweredCase,
    tolerance: Tolerance | None,
    printed: Callable[[tuple[int, ...] | None], Printed | None] = lambda _: None,
    entry: tuple[int, ...] | None = None,
) -> Reading:
    """The comparisons of a statement; a range with an estimated end gives two.

    Args:
        lowered: the case.
        tolerance: the claim's own.
        printed: the decimal that stands alone on a side, of the whole statement or of an entry.
        entry: the entry that the case is.
    """
    if lowered.law is not None:
        return _distance(lowered.law)
    if lowered.entries:
        count = len(lowered.operators) + 1
        parts = tuple(
            _moved(
                read_statement(lowered.of_entry(place), tolerance, printed, entry),
                place * count,
                entry,
            )
            for place, entry in enumerate(lowered.entries)
        )
        whole = tuple(comparison for part in parts for comparison in part.comparisons)
        return replace(parts[0], comparisons=whole, known_scale=None, magnitudes=(), entries=parts)
    operands = lowered.operands
    magnitudes = tuple(map(SideMagnitude.of, operands))
    if len(operands) == 3:
        return _range(lowered, magnitudes)
    side, end, operator = 0, 1, lowered.operators[0]
    figure = printed(entry) if operator in ("==", ROUNDED) else None
    left = figure is not None and figure.place == 0 and not operands[1].estimated
    if not operands[0].estimated and (operands[1].estimated or left):  # `1 == E(x)`
        side, end, operator = 1, 0, _MIRRORED[operator]
    fixed = _fixed(operands[end])
    if fixed is None:
        region = _region(operator, 0.0)
        if tolerance is not None:
            region = Region(-tolerance.size, tolerance.size)
        comparison = _difference(side, end, Quantity.LEFT_MINUS_RIGHT, region)
        if tolerance is not None:
            comparison = replace(comparison, gives=0.0)
        if tolerance is not None and not tolerance.absolute:
            share = partial(_share_of, side, end)
            comparison = replace(comparison, quantity=share, share=True)
        return Reading((comparison,), side, (end,), None, magnitudes)
    region, gives = _region(operator, fixed), None
    most = float(figure.unit / 2) if figure is not None and operator == "==" else math.inf
    if tolerance is not None:
        give, gives = tolerance.around(fixed), 0.0
        region = Region(fixed - give, fixed + give)
    elif operator == ROUNDED and figure is not None:
        region, gives = Region(*figure.ends), 0.0
    elif magnitudes[side].is_certain(fixed) and operator == "==":
        gives = NEARLY
    elif figure is not None and figure.decimal:
        gives = float(figure.unit / 2)
    measures = Quantity.RIGHT if side else Quantity.LEFT
    comparison = Comparison(
        lambda operands: operands[side], measures, region, side, gives=gives, most=most
    )
    scale = known_scale(magnitudes[side], [fixed])
    return Reading((comparison,), side, (end,), scale, magnitudes)


def _moved(reading: Reading, by: int, entry: tuple[int, ...]) -> Reading:
    """The reading of one entry, whose operands stand `by` places further on."""

    def moved(own: Comparison) -> Comparison:
        def quantity(operands: Operands) -> Floats:
            return own.quantity({place - by: value for place, value in operands.items()})

        against = None if own.against is None else own.against + by
        return replace(own, quantity=quantity, side=own.side + by, against=against, entry=entry)

    ends = tuple(end + by for end in reading.ends)
    comparisons = tuple(map(moved, reading.comparisons))
    return replace(reading, comparisons=comparisons, side=reading.side + by, ends=ends)


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


_MIRRORED = {"==": "==", ROUNDED: ROUNDED, "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _region(operator: str, end: float) -> Region:
    match operator:
        case "==" | "~=":
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
        return Reading((comparison,), 1, (low, high), scale, magnitudes)
    measures = {0: Quantity.MIDDLE_MINUS_LEFT, 2: Quantity.MIDDLE_MINUS_RIGHT}
    above = _difference(1, low, measures[low], Region(0.0, math.inf, low_open=low_open))
    below = _difference(1, high, measures[high], Region(-math.inf, 0.0, high_open=high_open))
    return Reading((above, below), 1, (low, high), None, magnitudes)


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


# ---- sides ---------------------------------------------------------------------------------------
#
# How large the sides of a statement and their summands are, compared with their errors.


# Groups of blocks, whose averages show the error of a side; fewer blocks show nothing.
GROUPS = 16
# A value more standard errors than this away from 0 is not 0. With sixteen groups Student's t is
# wrong about that once in six thousand times; no verdict depends on it.
SIGNIFICANT = 5.0


def grouped(tally: Tally) -> Floats | None:
    """The averages of groups of blocks, [terms, groups]; None where there are too few blocks."""
    if len(tally.sums) < GROUPS:
        return None
    groups = np.array_split(tally.sums / tally.block_values, GROUPS)
    return np.array([group.mean(axis=0) for group in groups]).T


def may_be_off(reading: Reading, compiled: Compiled, tally: Tally) -> float:
    """A bound of the errors of the compared sides; infinite where it is not known."""
    if not reading.against_estimates:
        return 0.0
    points = grouped(tally)
    if points is None:
        return np.inf
    values = compiled.functional.evaluate(points, tally.centres)
    return SIGNIFICANT * max(map(_error, values.values()))


def _error(values: Floats) -> float:
    error = float(np.std(values, ddof=1)) / np.sqrt(len(values))
    return error if np.isfinite(error) else np.inf


def claimed_about(
    reading: Reading, compiled: Compiled, points: Floats | None, centres: Floats
) -> float | None:
    """The largest number that a statement compares; None where all of them may be 0.

    These are the summands of its sides: `E(2 * x - 1) == 0` is about 1 as much as `E(2 * x) == 1`.
    Numbers that the draws do not tell from 0 do not count.

    Args:
        reading: the statement.
        compiled: its averages.
        points: those of groups of draws, [terms, groups].
        centres: what they are about, [registers].
    """
    functional = compiled.functional
    if reading.known_scale is not None:
        return reading.known_scale
    if points is None:
        return None
    sizes: list[float] = []
    for side in reading.places if reading.against_estimates else (reading.side,):
        operand = functional.operands[side]
        sizes += constants_in(operand)
        with np.errstate(all="ignore"):
            values = functional.values(side, points, centres)
        for summand in summands(operand):
            if summand.estimated:
                own = np.asarray(values[id(summand)], dtype=np.float64)
                mean = abs(float(own.mean()))
                sizes += [mean] if mean > SIGNIFICANT * _error(own) else []
    known = [size for size in sizes if np.isfinite(size)]
    return max(known, default=0.0) or None


def constants_in(side: Value) -> list[float]:
    """The magnitudes of the fixed numbers that a side adds, also within means.

    They are 2 and 1 for `E(x - 2) + 1`.
    """
    sizes: list[float] = []
    for summand in summands(side):
        if summand.estimated:
            sizes += constants_within(summand)
        else:
            sizes.append(float(np.max(np.abs(summand.constant))))
    return sizes


def summands(value: Value) -> list[Value]:
    """The summands of a value, added or subtracted, each once."""
    return [one for one in in_order([value], _added) if not _added(one)]


def _added(value: Value) -> Sequence[Value]:
    added = value.kind == Kind.COMPUTED and value.function in (ADD, SUBTRACT, NEGATIVE)
    return value.inputs if added else ()


def constants_within(mean: Value) -> Sequence[float]:
    """The magnitudes of the fixed summands inside a mean: 2 for `E(x - 2)`."""
    if mean.kind != Kind.OPERATOR or not mean.operator.is_mean or mean.operator.probability:
        return []
    fixed = (one for one in summands(mean.inputs[0]) if not one.random and one.constant is not None)
    return [float(np.max(np.abs(one.constant))) for one in fixed if one.constant.size]
