"""The result of a run, as plain data: standard library only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from dropcheck.errors import Location
from dropcheck.reasons import Explanation, Reason
from dropcheck.settings import Settings

Vector = tuple["float | Vector", ...]
"""A vector, or a matrix as its rows."""

ParameterValue = float | str | Vector
"""A parameter's value: a number, a vector, or a law as text such as "normal(0, 1)"."""

NUMBER_FORMAT = "dtype"
"""The parameter that names the number format in which code computes."""


class Verdict(StrEnum):
    """What the interval says of the region that the claim names."""

    VERIFIED = "verified"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


class Outcome(StrEnum):
    """What the verdict means for the claim, given the verdict that it expects.

    An error is one of code under test, which prevents a verdict.
    """

    PASS = "pass"
    FAIL = "fail"
    UNDECIDED = "undecided"
    ERROR = "error"


_MILDEST_FIRST = (Outcome.PASS, Outcome.UNDECIDED, Outcome.FAIL, Outcome.ERROR)
SEVERITY = {outcome: place for place, outcome in enumerate(_MILDEST_FIRST)}
"""How bad an outcome is."""


class Guarantee(StrEnum):
    """What a verdict rests on, strongest first."""

    ARITHMETIC = "arithmetic"
    EXACT = "exact"
    FINITE_SAMPLE = "finite-sample"  # values that the model keeps between bounds
    MOMENTS = "moments"  # moments that the model keeps below a bound
    ASYMPTOTIC = "asymptotic"


class Method(StrEnum):
    """How a case was judged."""

    ARITHMETIC = "arithmetic"  # nothing is random: the quantity is known, not estimated
    CERTAINTY = "certainty"  # a claim that something always or never happens: one draw refutes it
    ORDER_STATISTICS = "order statistics"  # quantiles, from counts of the draws beside them
    BLOCK_MEANS = "block means"
    CELLS = "cells"  # a statement about laws: draws are counted in cells
    EXACT_VALUE = "exact value"  # the model gives the quantity, and nothing was drawn


class Quantity(StrEnum):
    """What the estimate and the interval of a case are estimates of."""

    LEFT = "left side"
    RIGHT = "right side"  # of `1 == E(x)`
    MIDDLE = "middle"
    LEFT_MINUS_RIGHT = "left side minus right side"
    MIDDLE_MINUS_LEFT = "middle minus left side"
    MIDDLE_MINUS_RIGHT = "middle minus right side"
    DISTANCE = "distance of the distribution functions"  # the largest difference anywhere
    DEPENDENCE = "distance of joint chances from products of chances"  # the largest on the cells

    @property
    def is_difference(self) -> bool:
        """Whether a difference of two sides was estimated, not one side."""
        return "minus" in self.value


@dataclass(frozen=True, slots=True)
class Region:
    """Where a claim says that a quantity lies; an open end is a strict inequality.

    >>> Region(0.0, 0.0).point, Region(high=2.0, high_open=True).relation
    (True, '<')
    """

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False

    @property
    def point(self) -> bool:
        """Whether the region is one number, as for `L == R`."""
        return self.low == self.high

    @property
    def half_width(self) -> float:
        """Half the width of a range; infinite for a half-line, 0 for a point."""
        return (self.high - self.low) / 2

    @property
    def relation(self) -> str | None:
        """The relation of the quantity to a single end: `==`, `<`, `<=`, `>`, `>=`; else None."""
        if self.point:
            return "=="
        if math.isinf(self.low):
            return "<" if self.high_open else "<="
        if math.isinf(self.high):
            return ">" if self.low_open else ">="
        return None

    def strict_end_within(self, value: float, distance: float) -> bool:
        """Whether an open end lies within this distance of a value.

        >>> Region(low=1.0, low_open=True).strict_end_within(1.1, 0.2)
        True
        """
        ends = ((self.low, self.low_open), (self.high, self.high_open))
        return any(is_open and abs(value - end) < distance for end, is_open in ends)


@dataclass(frozen=True, slots=True)
class Passage:
    """Where a claim stands: a document, by its key, and the section in it."""

    document: str | None = None
    section: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a document prints and a mark claims: a figure such as `41%`, or a formula.

    `text` is as the document has it, from `start` to before `end`. `digits` is the number that a
    figure stands for, and `unit` is one unit of its last digit: 0.41 and 0.01 for `41%`.
    """

    text: str
    start: Location
    end: Location
    digits: Decimal | None = None  # None for a formula
    unit: Decimal | None = None
    percent: bool = False
    rounded: bool = False  # whether its rounding is claimed, by `~=`


@dataclass(frozen=True, slots=True)
class Resolution:
    """How sharply a case was looked at, in the unit of its quantity.

    `asked` is what was asked for, and `absolute` says that it was a number, not a share of the
    scale. `widening` is how far beyond a closed end of the region a quantity is still verified. It
    is 0 in arithmetic. Where it is `narrowed`, it is less than was asked for: a tenth of the
    half-width of a narrow region, or half of the largest number that is compared.
    """

    asked: float
    widening: float
    absolute: bool = False
    narrowed: bool = False


@dataclass(frozen=True, slots=True)
class Exact:
    """A quantity that the model gives without any draw: at most `error` away from `value`."""

    value: float
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class CallCount:
    """How many calls of code the draws of a case come from.

    Where draws of a call are `declared` independent, each counts: the guarantee holds if they are.
    """

    count: int
    declared: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """The result of one case, with all that was decided. What is unknown is None."""

    claim: str
    parameters: dict[str, ParameterValue]
    title: str
    statement: str
    sources: tuple[Passage, ...]
    tags: tuple[str, ...]
    quantity: Quantity | None = None
    expression: str  # the quantity as it is written in the statement: `E(y) - E(x)`
    region: Region | None = None  # where the quantity is claimed to lie
    entry: tuple[int, ...] | None = None  # the worst entry, where the statement is about arrays
    estimate: float | None = None
    interval: tuple[float | None, float | None] | None = None  # None at an end: unbounded
    standard_error: float | None = None
    # the sides of the statement, where the quantity is a difference of two, in the order that they
    # are written in, and the operators between them
    sides: tuple[float, ...] | None = None
    relations: tuple[str, ...] = ()
    exact: Exact | None = None  # the same quantity, by the model alone
    # whether draws confirm the exact value: it is in the interval, and fits the verdict. None where
    # there is none, or nothing was drawn
    confirmed: bool | None = None
    confidence: float
    scale: float | None = None
    resolution: float  # relative to the scale, as it was asked for
    sharpness: Resolution | None = None  # in the unit of the quantity; None: no scale is known
    # what a verified verdict promises: the quantity is in the region, or no farther from it than
    # this. None where the verdict is another one
    within: float | None = None
    draws: int = 0
    blocks: int = 0
    seconds: float = 0.0
    method: Method | None = None  # None where no draw was made
    guarantee: Guarantee | None = None  # what the interval rests on; None where there is none
    sampling: str = "plain"
    verdict: Verdict
    expect: Verdict
    result: Outcome
    explanation: Explanation | None = None
    # of a refuted case: the laws of its model whose parameters are often taken for others, as in
    # `normal(mean, sd): sd is the standard deviation, not the variance`
    laws: tuple[str, ...] = ()
    # that an undecided case is likely to need beyond those made, or a case to be confirmed
    more_draws: int | None = None
    timed_out: bool = False  # whether the time limit ended the case, not the budget of draws
    more_seconds: float | None = None  # what they are likely to take, on the threads of this run
    warnings: tuple[str, ...] = ()
    location: Location
    repeat: str = ""  # the command that repeats it; who judges cases for a user writes it
    written: Written | None = None  # what a document prints, where the claim stands in one
    # of code under test: the implementation, the number format that it computed in, and the id of
    # the same claim of the mathematics
    column: str | None = None
    dtype: str | None = None
    of: str | None = None
    calls: CallCount | None = None

    @property
    def point(self) -> dict[str, ParameterValue]:
        """The parameters that code and mathematics share: all but the number format of code."""
        shared = self.column is None
        return {name: v for name, v in self.parameters.items() if shared or name != NUMBER_FORMAT}

    @property
    def claimed(self) -> float | tuple[float | None, float | None] | None:
        """The number that the quantity is compared with, or the two ends of a range."""
        if self.region is None:
            return None
        ends = (self.region.low, self.region.high)
        if self.region.point or math.isinf(ends[0]):
            return ends[1]
        return ends[0] if math.isinf(ends[1]) else ends

    @property
    def excess(self) -> float:
        """How far the interval reaches beyond the region, in units of the resolution.

        Below 1 the claim is verified; the greatest is the worst of a grid. Infinite where unknown.
        """
        if self.region is None or self.interval is None:
            return math.inf
        low, high = self.interval
        if self.method is Method.EXACT_VALUE and self.exact is not None:
            low = high = self.exact.value
        beyond = max(
            self.region.low - (-math.inf if low is None else low),
            (math.inf if high is None else high) - self.region.high,
        )
        if self.sharpness is None:  # there is no scale, as of 0 == 0
            return 0.0 if beyond <= 0 else math.inf
        return math.inf if math.isnan(beyond) else beyond / self.sharpness.asked

    @property
    def badness(self) -> tuple[int, float]:
        """A sort key: greater for a worse outcome, and then for a less clear one."""
        # where a refutation is expected, the case is clearer the further off it is
        severity = SEVERITY[self.result]
        return severity, self.excess if self.expect is Verdict.VERIFIED else -self.excess

    @property
    def reason(self) -> Reason | None:
        """The reason that the explanation gives."""
        return None if self.explanation is None else self.explanation.reason


# ---- how much of what a document prints is claimed -----------------------------------------------


class Printed(StrEnum):
    """What a document prints that a claim may be about."""

    FIGURE = "figure"
    FORMULA = "formula"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclaimed:
    """A figure or a formula that no mark claims, with the words around it."""

    kind: Printed
    text: str
    location: Location
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of a document is claimed."""

    file: str
    claimed_figures: int
    claimed_formulas: int
    unclaimed: tuple[Unclaimed, ...]  # in the order of the document

    @property
    def figures(self) -> int:
        """How many figures there are, claimed or not."""
        return self.claimed_figures + self._others(Printed.FIGURE)

    @property
    def formulas(self) -> int:
        """How many formulas with a statement there are, claimed or not."""
        return self.claimed_formulas + self._others(Printed.FORMULA)

    def _others(self, kind: Printed) -> int:
        return sum(one.kind is kind for one in self.unclaimed)


def claimed_counts(documents: Sequence[Coverage]) -> dict[str, int]:
    """How many figures and formulas documents have, and how many are claimed."""
    names = ("figures", "claimed_figures", "formulas", "claimed_formulas")
    return {name: sum(getattr(one, name) for one in documents) for name in names}


# ---- a run ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunResult:
    """All cases of one run, with what the summary line and the JSON report need."""

    registry: str
    settings: Settings
    cases: tuple[CaseResult, ...]
    seconds: float
    interrupted: bool = False
    warnings: tuple[str, ...] = field(default=())
    coverage: tuple[Coverage, ...] = ()  # of each document that was run
    planned: int = 0  # cases that the run began with

    def count(self, outcome: Outcome) -> int:
        """How many cases ended so."""
        return sum(case.result is outcome for case in self.cases)

    @property
    def asymptotic(self) -> int:
        """How many verdicts rest on the limit theorem, and on nothing that confirms them."""
        return sum(
            case.guarantee is Guarantee.ASYMPTOTIC
            and case.verdict is not Verdict.UNDECIDED
            and not case.confirmed
            for case in self.cases
        )

    @property
    def draws(self) -> int:
        """Draws made over all cases."""
        return sum(case.draws for case in self.cases)
