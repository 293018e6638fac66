"""Constants, and operators on the law: what each averages, and how it is made of the averages.

Every operator is arithmetic on averages of powers about a centre, so that one estimator and one
interval serve them all. The centre does not change the result; it only avoids cancellation, as
between a mean of 1e8 and a variance of 1.
"""

from __future__ import annotations

import copyreg
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dropcheck.array_types import Floats

# ---- constants -----------------------------------------------------------------------------------
#
# Every constant of the language by its name.


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A number with a name that a claim cannot use for anything else, unless it `yields`.

    Attributes:
        name: its name in claims.
        value: the nearest float64.
        latex: the command that is read as it.
        note: what to tell a user who may mean something else by the name.
        yields: whether a line of a model may give the name to something else, if no line above
            uses the number: papers write e for errors, and π for probabilities and policies.
    """

    name: str
    value: float
    latex: str
    note: str = ""
    yields: bool = False


_ALL = (
    Constant(name="pi", value=math.pi, latex=r"\pi",
        note="pi is 3.14159… here: choose another name, such as pi_",
        yields=True),
    Constant(name="e", value=math.e, latex=r"\mathrm{e}",
        note="e is Euler's number, 2.718…: choose another name, such as eps",
        yields=True),
    Constant(name="inf", value=math.inf, latex=r"\infty"),
    Constant(name="euler_gamma", value=0.57721566490153286060651209008240243,
        latex=r"\gamma_{\mathrm{E}}"),
)  # fmt: skip

CONSTANTS = {constant.name: constant for constant in _ALL}

PROBABILITY = "P"
"""The operator on events; a statement about every draw says that its value is 1."""


# An average of even powers below this has lost digits by underflow, or is 0.
UNDERFLOW = 1e-290


@dataclass(frozen=True, slots=True)
class Averages:
    """The averages of one operator, at a number of points.

    `of` returns an average by its name: "u", "uu", "uuu" and "uuuu" are the powers of the first
    operand about its centre, "v" and "vv" those of the second, "uv" is their product. Each has the
    shape [points], and is already divided by the share of the draws in which the condition holds.
    `centres` has the keys "u" and "v". Averages may be enclosures in place of arrays: numpy's
    functions take both.
    """

    of: Callable[[str], Any]
    centres: Mapping[str, float]

    def mean(self, name: str) -> Any:
        """The mean of an operand."""
        return self.of(name) + self.centres[name]

    def variance(self, name: str) -> Any:
        """The variance of an operand; an enclosure of it is cut at 0."""
        mean = self.of(name)
        variance = self.even(name * 2, mean) - mean**2
        return variance.at_least(0.0) if _is_enclosure(variance) else variance

    def even(self, name: str, below: Any) -> Any:
        """The average of an even power; NaN where it underflows.

        `below` is the average of half the power: if it is 0, so are all values.
        """
        average = self.of(name)
        if _is_enclosure(average):  # it is unknown where it underflows
            largest = np.maximum(np.abs(below.low), np.abs(below.high))
            lost = (average.high < UNDERFLOW) & (largest > 0)
            return average / 0 if lost.any() else average.at_least(0.0)
        if np.minimum.reduce(average, axis=None) >= UNDERFLOW:  # as nearly always
            return average
        return np.where((np.abs(average) < UNDERFLOW) & (below != 0), np.nan, average)

    def square(self, name: str) -> Any:
        """The mean square of an operand, about 0."""
        return np.maximum(self.variance(name), 0) + self.mean(name) ** 2


def _is_enclosure(average: Any) -> bool:
    return hasattr(average, "at_least")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operator:
    """One operator on the law.

    `averages` are the names of all averages that it needs; those in `for_size` are needed only for
    `size`, which is the size of what the operator measures, for the scale of a claim. A
    `probability` takes an event. A `quantile` uses no averages. All values lie between `ends`, for
    any law; a mean or a quantile lies where its operand lies. `of_elements` is the name of the
    function that does the same over the elements of one draw.
    """

    name: str
    summary: str
    operands: tuple[str, ...]
    averages: tuple[str, ...]
    for_size: tuple[str, ...] = ()
    value: Callable[[Averages], Any] = lambda _: np.full(1, np.nan)
    size: Callable[[Averages], Any] = lambda _: np.full(1, np.nan)
    ends: tuple[float, float] = (-math.inf, math.inf)
    quantile: bool = False  # its level is `level`, or else its last operand
    level: float | None = None
    probability: bool = False
    aliases: tuple[str, ...] = ()
    of_elements: str = ""
    of_pairs: bool = False  # with one vector: the matrix over all pairs of its elements

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The names of the averages from which the value is computed."""
        return tuple(name for name in self.averages if name not in self.for_size)

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean of its operand."""
        return self.looked_at == ("u",)

    @property
    def quantities(self) -> int:
        """The number of operands that are quantities, so without the level of a quantile."""
        return 1 if self.quantile else len(self.operands)

    @property
    def order(self) -> int:
        """The order of the moments that must exist; 0 if it has a value for every law."""
        if self.probability or self.quantile:
            return 0
        return max(name.count(letter) for name in self.looked_at for letter in "uv")

    @property
    def written(self) -> str:
        """How it is written: `Cov(u, v)`."""
        return f"{self.name}({', '.join(self.operands)})"

    @property
    def hint(self) -> str:
        """What to write in place of another name of it."""
        if not self.of_elements:
            return f"write {self.written}"
        kind = "quantile" if self.quantile else self.summary
        return (
            f"the {kind} of the law is {self.written}, that of the elements of one draw "
            f"{self.of_elements}(x)"
        )


def _root_mean_square(averages: Averages) -> Any:
    return np.sqrt(averages.square("u"))


def _covariance(averages: Averages) -> Any:
    return averages.of("uv") - averages.of("u") * averages.of("v")


def _correlation(averages: Averages) -> Any:
    both = averages.variance("u") * averages.variance("v")
    return _covariance(averages) / np.sqrt(both)


def _skewness(averages: Averages) -> Any:
    u = averages.of("u")
    third = averages.of("uuu") - 3 * u * averages.of("uu") + 2 * u**3
    return third / averages.variance("u") ** 1.5


def _kurtosis(averages: Averages) -> Any:
    u, uu = averages.of("u"), averages.of("uu")
    fourth = averages.even("uuuu", uu) - 4 * u * averages.of("uuu") + 6 * u**2 * uu - 3 * u**4
    return fourth / averages.variance("u") ** 2


def _unit(averages: Averages) -> Floats:
    return np.ones(averages.of("u").shape)


_ONE, _TWO = ("u",), ("u", "v")
_PAIRED = ("u", "uu", "v", "vv", "uv")

_ENTRIES = (
    Operator(
        name="E", summary="mean", operands=_ONE, averages=("u", "uu"), for_size=("uu",),
        value=lambda averages: averages.mean("u"), size=_root_mean_square, of_elements="mean",
        aliases=("average", "avg", "ev", "expect", "expectation", "expected", "mean"),
    ),
    Operator(
        name="Var", summary="variance", operands=_ONE, averages=("u", "uu"),
        value=lambda averages: averages.variance("u"), size=lambda averages: averages.square("u"),
        ends=(0.0, math.inf), of_elements="var", aliases=("V", "variance"),
    ),
    Operator(
        name="Std", summary="standard deviation", operands=_ONE, averages=("u", "uu"),
        value=lambda averages: np.sqrt(np.maximum(averages.variance("u"), 0)),
        size=_root_mean_square,
        ends=(0.0, math.inf), of_elements="std",
        aliases=("sd", "stddev", "stdev"),
    ),
    Operator(
        name="Cov", summary="covariance", operands=_TWO, averages=_PAIRED, for_size=("uu", "vv"),
        value=_covariance, aliases=("covariance",), of_pairs=True,
        size=lambda averages: np.sqrt(averages.square("u") * averages.square("v")),
    ),
    Operator(
        name="Corr", summary="correlation", operands=_TWO, averages=_PAIRED, value=_correlation,
        size=_unit, ends=(-1.0, 1.0), aliases=("correlation",), of_pairs=True,
    ),
    Operator(
        name=PROBABILITY, summary="probability", operands=("event",), averages=_ONE,
        probability=True,
        value=lambda averages: averages.mean("u"),  # the centre of a likely event is 1
        size=_unit, aliases=("pr", "prob", "probability"),
    ),
    Operator(
        name="Skew", summary="standardised third moment", operands=_ONE,
        averages=("u", "uu", "uuu"), value=_skewness, size=_unit, aliases=("skewness",),
    ),
    Operator(
        name="Kurt", summary="standardised fourth moment; a normal's is 3", operands=_ONE,
        averages=("u", "uu", "uuu", "uuuu"), aliases=("kurtosis",),
        ends=(1.0, math.inf),  # Jensen's inequality
        value=_kurtosis, size=lambda averages: np.abs(_kurtosis(averages)),
    ),
    Operator(
        name="Quantile", summary="any value q with P(u < q) ≤ p ≤ P(u ≤ q)",
        operands=("u", "p"), averages=(), quantile=True, of_elements="quantile",
        aliases=("percentile",),
    ),
    Operator(
        name="Median", summary="quantile of level 1/2", operands=_ONE, averages=(),
        quantile=True, level=0.5, of_elements="median", aliases=("Med", "med"),
    ),
)  # fmt: skip

OPERATORS = {operator.name: operator for operator in _ENTRIES}


def operator(name: str) -> Operator:
    """The operator of this name; an operator is sent to another process by its name."""
    return OPERATORS[name]


copyreg.pickle(Operator, lambda one: (operator, (one.name,)))


def operator_like(function: str) -> Operator | None:
    """The operator that does over the law what a function does over the elements of one draw.

    >>> operator_like("var").name
    'Var'
    """
    return next((one for one in OPERATORS.values() if one.of_elements == function), None)


# ---- relations -----------------------------------------------------------------------------------
#
# The words of statements about laws: `y ~ law`, `x ~ y`, `independent(x, y)`.


FOLLOWS = "~"
"""Between a quantity and its law, or between two quantities of one law."""

INDEPENDENT = "independent"
OVER_KEY = "over"
"""`independent(u, over=[0])`: entries of u that differ in their place along axis 0."""

SIGNATURE = f"{INDEPENDENT}(x, y)"
"""How independence is written, for messages."""
EXAMPLES = f"'y {FOLLOWS} normal(0, 1)', 'x {FOLLOWS} y' or '{SIGNATURE}'"
