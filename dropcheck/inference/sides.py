"""How large the sides of a statement are, and what they are sums of, beside their errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.inference.comparison import Reading
from dropcheck.language.graph import Kind, Value, in_order
from dropcheck.records import record
from dropcheck.simulation import Compiled, Tally
from dropcheck.vocabulary.functions.elementwise import ADD, NEGATIVE, SUBTRACT

# Groups of blocks whose averages show how far a side may be off; fewer blocks show nothing.
GROUPS = 16
# What is so many of its standard errors away from 0 is not 0. Of sixteen groups Student's t says
# so wrongly once in six thousand; no verdict depends on it.
SIGNIFICANT = 5.0
# Below this share of the scale a number that is known exactly is rounding.
SIDE_ROUNDING = 1e-9


def grouped(tally: Tally) -> Floats | None:
    """The averages of groups of blocks, [terms, groups]; None of too few blocks."""
    if len(tally.sums) < GROUPS:
        return None
    groups = np.array_split(tally.sums / tally.block_values, GROUPS)
    return np.array([group.mean(axis=0) for group in groups]).T


def may_be_off(reading: Reading, compiled: Compiled, tally: Tally) -> float:
    """How far the sides that are compared may be off; infinite where that is not known."""
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
    """Where the averages of a case stand: exactly, [terms], or by draws."""

    tally: Tally
    exact_means: Floats | None


def claimed_about(
    reading: Reading, compiled: Compiled, looked: Looked, scale: float
) -> float | None:
    """The largest of what a statement compares; None where all of it may be 0.

    These are the sides, and of a sum its summands: `E(2 * x - 1) == 0` is about 1 as much as
    `E(2 * x) == 1` is.
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
    """What a value is a sum or a difference of, each once."""
    return [one for one in in_order([value], _added) if not _added(one)]


def _added(value: Value) -> Sequence[Value]:
    added = value.kind == Kind.COMPUTED and value.function in (ADD, SUBTRACT, NEGATIVE)
    return value.inputs if added else ()


def constants_within(mean: Value) -> Sequence[float]:
    """The fixed summands of what is averaged, where a value is a mean: of `E(x - 2)` 2."""
    if mean.kind != Kind.OPERATOR or not mean.operator.is_mean or mean.operator.probability:
        return []
    found = (one for one in summands(mean.inputs[0]) if not one.random and one.constant is not None)
    return [float(np.max(np.abs(one.constant))) for one in found if one.constant.size]
