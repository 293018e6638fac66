"""How averages combine: the functional of a statement, over the averages of its integrands.

Every operator on the law is arithmetic on averages of powers about a centre, so that one estimator
and one interval serve them all. Centring does not change the mathematics; it keeps a mean of 1e8
from cancelling against a variance of 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product

import numpy as np
import numpy.typing as npt

from dropcheck.analysis.bounds import Hull
from dropcheck.analysis.existence import operators
from dropcheck.language.folding import Array, kernel_of
from dropcheck.language.graph import Kind, Value
from dropcheck.simulation.formula import Formula, laid_out
from dropcheck.vocabulary.function_table import called

Floats = npt.NDArray[np.float64]

# Functions that only carry a magnitude along: applied to the sizes of what they are given.
_CARRY = frozenset({"abs", "sqrt", "cbrt", "minimum", "maximum", "sum", "mean", "norm"})

# Below this the average of an even power has lost digits, or is 0 for want of smaller numbers.
UNDERFLOW = 1e-290


@dataclass(frozen=True, slots=True)
class Leaf:
    """One operator: the columns of the averages that it needs, and the registers' centres.

    `columns` maps a short name to a column: "g" the condition, "u" "uu" "uuu" "uuuu" the powers
    of the first quantity, "v" "vv" those of the second, "uv" their product.
    """

    operator: str
    columns: Mapping[str, int]
    first: int
    second: int | None

    @property
    def looked_at(self) -> tuple[int, ...]:
        """The columns that its value is made of; others are for its size alone."""
        for_size = {"E": ("uu",), "Cov": ("uu", "vv")}.get(self.operator, ())
        return tuple(column for name, column in self.columns.items() if name not in for_size)

    def magnitudes(self, means: Floats, centres: Floats) -> dict[int, float]:
        """How large is what each column is the average of, by the root mean squares."""

        def root(name: str, register: int) -> float:
            square = self.columns.get(name * 2)
            own = abs(means[self.columns[name]]) if square is None else math.sqrt(means[square])
            return float(own) + abs(float(centres[register]))

        sizes = {"u": root("u", self.first)}
        if "v" in self.columns and self.second is not None:
            sizes["v"] = root("v", self.second)
        return {
            column: math.prod(sizes[letter] for letter in name)
            for name, column in self.columns.items()
            if name != "g"
        }

    def with_unseen(
        self, hulls: Sequence[Hull], means: Floats, centres: Floats, share: float
    ) -> list[Floats]:
        """The averages [terms] if such a share of the draws lay at one corner of the hulls, each.

        Args:
            hulls: where the first quantity can lie, and the second where there is one.
            means: the averages.
            centres: what powers are taken about.
            share: that of the draws which were not met.
        """
        registers = [self.first] if self.second is None else [self.first, self.second]
        found = []
        for corner in product(*((hull.low, hull.high) for hull in hulls)):
            sides = dict(zip("uv", corner, strict=False))
            own = {
                letter: value - float(centres[register])
                for (letter, value), register in zip(sides.items(), registers, strict=True)
            }
            there = means.copy()
            for name, column in self.columns.items():
                value = 1.0 if name == "g" else math.prod(own[letter] for letter in name)
                there[column] += share * (value - means[column])
            found.append(there)
        return found

    def _average(self, name: str, means: Floats) -> Floats:
        found: Floats = means[self.columns[name]]
        if "g" in self.columns:
            found = found / means[self.columns["g"]]
        return found

    def _variance(self, name: str, means: Floats) -> Floats:
        mean = self._average(name, means)
        spread: Floats = self._power(name * 2, mean, means) - mean**2
        return spread

    def _power(self, name: str, below: Floats, means: Floats) -> Floats:
        """The average of an even power; NaN where the values are too small to be raised to it."""
        found = self._average(name, means)
        if np.minimum.reduce(found, axis=None) >= UNDERFLOW:  # as nearly always
            return found
        return np.where((np.abs(found) < UNDERFLOW) & (below != 0), np.nan, found)

    def value(self, means: Floats, centres: Floats) -> Floats:
        """The operator's value at averages of shape [terms, points]: [points]."""
        u = self._average("u", means)
        match self.operator:
            case "E" | "P":  # the middle of an event that is likely is 1
                mean: Floats = u + centres[self.first]
                return mean
            case "Var":
                return self._variance("u", means)
            case "Std":
                deviation: Floats = np.sqrt(np.maximum(self._variance("u", means), 0))
                return deviation
            case "Cov" | "Corr":
                covariance: Floats = self._average("uv", means) - u * self._average("v", means)
                if self.operator == "Cov":
                    return np.asarray(covariance, dtype=np.float64)
                both = self._variance("u", means) * self._variance("v", means)
                return np.asarray(covariance / np.sqrt(both), dtype=np.float64)
            case "Skew":
                third = self._average("uuu", means) - 3 * u * self._average("uu", means) + 2 * u**3
                return np.asarray(third / self._variance("u", means) ** 1.5, dtype=np.float64)
            case _:
                fourth = (
                    self._power("uuuu", self._average("uu", means), means)
                    - 4 * u * self._average("uuu", means)
                    + 6 * u**2 * self._average("uu", means)
                    - 3 * u**4
                )
                return np.asarray(fourth / self._variance("u", means) ** 2, dtype=np.float64)

    def size(self, means: Floats, centres: Floats) -> Floats:
        """The size of what the operator measures, for the scale of a claim: [points].

        Needs the second powers, which the compiler adds where a scale asks for them.
        """
        match self.operator:
            case "P" | "Corr" | "Skew":
                return np.ones(means.shape[1])
            case "Kurt":
                return np.abs(self.value(means, centres))
            case "E":
                return np.sqrt(self._square("u", self.first, means, centres))
            case "Var":
                return self._square("u", self.first, means, centres)
            case "Std":
                return np.sqrt(self._square("u", self.first, means, centres))
            case _:
                second = self.second if self.second is not None else self.first
                u = self._square("u", self.first, means, centres)
                v = self._square("v", second, means, centres)
                return np.asarray(np.sqrt(u * v), dtype=np.float64)

    def _square(self, name: str, register: int, means: Floats, centres: Floats) -> Floats:
        """E(u²) about 0."""
        mean = self._average(name, means) + centres[register]
        return np.asarray(np.maximum(self._variance(name, means), 0) + mean**2, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Functional:
    """The operands of a statement as functions of the averages."""

    operands: tuple[Value, ...]
    leaves: Mapping[int, Leaf]  # by id of the operator's value
    formulas: tuple[Formula, ...] = field(init=False, repr=False)  # of the operands

    def __post_init__(self) -> None:
        operators = {key: leaf.value for key, leaf in self.leaves.items()}
        formulas = tuple(laid_out(operand, operators) for operand in self.operands)
        object.__setattr__(self, "formulas", formulas)

    def evaluate(
        self, means: Floats, centres: Floats, wanted: Iterable[int] | None = None
    ) -> dict[int, Floats]:
        """Operands at averages of shape [terms, points], by place: each [points].

        All of them unless some are named.
        """
        points = means.shape[1]
        found: dict[int, Floats] = {}
        with np.errstate(all="ignore"):
            for place in range(len(self.operands)) if wanted is None else wanted:
                value = self.formulas[place].values(means, centres)[-1]
                if value.shape != (points,):
                    value = np.broadcast_to(value, (points,)).copy()
                found[place] = np.asarray(value, dtype=np.float64)
        return found

    def columns(self, operands: Iterable[int]) -> list[int]:
        """The averages that some operands are made of, by place."""
        leaves = self._leaves(operands)
        return sorted({column for leaf in leaves for column in leaf.looked_at})

    def _leaves(self, operands: Iterable[int]) -> list[Leaf]:
        found = operators([self.operands[operand] for operand in operands])
        return [self.leaves[id(leaf)] for leaf in found]

    def at_averages(self, means: Floats, centres: Floats) -> tuple[list[float], float]:
        """Every operand at the averages [terms] themselves, and the largest magnitude on the way.

        Rounding errors are measured by that.
        """
        column = means[:, np.newaxis]
        with np.errstate(all="ignore"):
            values = [formula.values(column, centres) for formula in self.formulas]
        met = [float(centres[leaf.first]) for leaf in self.leaves.values()]
        for array in chain.from_iterable(values):
            met += array.ravel().tolist()
        largest = max((abs(value) for value in met if math.isfinite(value)), default=0.0)
        return [float(found[-1][..., 0]) for found in values], largest

    def within_rounding(
        self, operands: Iterable[int], averages: Floats, centres: Floats, share: float
    ) -> bool:
        """Whether the averages that some operands are made of vary by rounding alone.

        Args:
            operands: by place.
            averages: of each block, [blocks, terms].
            centres: what powers are taken about.
            share: of a magnitude, below which a difference is rounding.
        """
        means = np.add.reduce(averages, axis=0) / len(averages)
        off = np.maximum.reduce(np.abs(averages - means), axis=0)
        leaves = self._leaves(operands)
        if any("g" in leaf.columns for leaf in leaves):
            return False
        return all(
            off[column] <= share * size
            for leaf in leaves
            for column, size in leaf.magnitudes(means, centres).items()
            if column in leaf.looked_at
        )

    def sizes(self, means: Floats, centres: Floats) -> list[float]:
        """The magnitude of each operand: operators by size, every sign plus.

        Denominators and functions keep their own values; functions that only carry a magnitude
        along (a root, a maximum) are applied to the sizes.
        """
        column = means.reshape(-1, 1)
        found: list[float] = []
        with np.errstate(all="ignore"):
            for operand, formula in zip(self.operands, self.formulas, strict=True):
                values = formula.values(column, centres)
                own = {key: np.abs(values[place]) for key, place in formula.places.items()}
                found.append(float(np.max(np.abs(self._size(operand, column, centres, own)))))
        return found

    def _size(
        self, value: Value, means: Floats, centres: Floats, own: Mapping[int, Array]
    ) -> Array:
        """The size of a value below an operand; `own` has the magnitudes of all of these, by id."""
        if value.kind == Kind.OPERATOR:
            return self.leaves[id(value)].size(means, centres)
        if not value.estimated:
            return own[id(value)]
        name = called(value.operation)
        inputs = value.inputs

        def size(place: int) -> Array:
            return self._size(inputs[place], means, centres, own)

        match value.operation:
            case "+" | "-":
                return size(0) + size(1)
            case "negative":
                return size(0)
            case "*":
                return size(0) * size(1)
            case "/":
                return np.asarray(size(0) / own[id(inputs[1])])
            case "**" if not inputs[1].estimated and float(np.min(inputs[1].constant)) > 0:
                return np.asarray(size(0) ** inputs[1].constant)
            case "array":
                sizes = [size(place) for place in range(len(inputs))]
                return np.stack(np.broadcast_arrays(*sizes))
        if name in _CARRY:
            return kernel_of(value)(*map(size, range(len(inputs))))
        return own[id(value)]


def means_of(sums: Floats, draws: int) -> Floats:
    """Averages over all blocks: [terms]."""
    means: Floats = np.add.reduce(sums, axis=0) / draws
    return means
