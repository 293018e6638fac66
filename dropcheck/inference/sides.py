"""How large the sides of a statement and their summands are, compared with their errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.inference.comparison import Reading
from dropcheck.language.graph import Kind, Value, in_order
from dropcheck.records import record
from dropcheck.simulation import Compiled, Tally
from dropcheck.vocabulary.functions.elementwise import ADD, NEGATIVE, SUBTRACT

# Groups of blocks, whose averages show the error of a side; fewer blocks show nothing.
GROUPS = 16
# A value more standard errors than this away from 0 is not 0. With sixteen groups Student's t is
# wrong about that once in six thousand times; no verdict depends on it.
SIGNIFICANT = 5.0
# Below this share of the scale a number that is known exactly is rounding.
SIDE_ROUNDING = 1e-9


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


@record
class Looked:
    """The averages of a case: by draws, and exactly, [terms], where the model gives them."""

    tally: Tally
    exact_means: Floats | None


def claimed_about(
    reading: Reading, compiled: Compiled, looked: Looked, scale: float
) -> float | None:
    """The largest number that a statement compares; None where all of them may be 0.

    These are the summands of its sides: `E(2 * x - 1) == 0` is about 1 as much as `E(2 * x) == 1`.
    """
    functional = compiled.functional
    if reading.known_scale is not None:
        return reading.known_scale
    sides = reading.places if reading.against_estimates else (reading.side,)
    sizes: list[float] = []
    for side in sides:
        operand, formula = functional.operands[side], functional.formulas[side]
        points = looked.exact_means
        points = grouped(looked.tally) if points is None else points[:, np.newaxis]
        if points is None:
            return None
        with np.errstate(all="ignore"):
            values = formula.values(points, looked.tally.centres)
        for summand in summands(operand):
            if not summand.estimated:
                sizes.append(float(np.max(np.abs(summand.constant))))
                continue
            own = np.asarray(values[formula.places[id(summand)]], dtype=np.float64)
            sizes += [abs(float(own.mean()))] if _differs_from_zero(own, scale) else []
            sizes += constants_within(summand)
    known = [size for size in sizes if np.isfinite(size)]
    return max(known, default=0.0) or None


def _differs_from_zero(values: Floats, scale: float) -> bool:
    mean = abs(float(values.mean()))
    if values.shape[-1] == 1:
        return mean > SIDE_ROUNDING * scale
    return mean > SIGNIFICANT * _error(values)


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
