"""What a sample may not show, where the model bounds no moment of what is averaged.

Values that no draw showed may carry an average, and no theorem makes that good. Two things can be
known all the same: how rare outcomes are whose chance the model says, which are waited for; and
whether a quantity on which all draws agree could be anything else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dropcheck.analysis.moments.exact import Integrand, exact_means
from dropcheck.inference.interval import Interval, Theta
from dropcheck.judging.case_run import Floats
from dropcheck.language.graph import Kind, Value, operators, ordered
from dropcheck.reasons import Explanation, Reason
from dropcheck.simulation import Program

# An outcome seen so often shows in the sample's own spread and skewness.
RARE_SIGHTINGS = 64
# Conditions whose chances are worked out: more take too long.
MOST_CONDITIONS = 512
# A chance below it is no more than the rounding of what it is worked out from.
IMPOSSIBLE = 1e-12
# How far averages are moved to see whether a quantity follows, in sizes of their own.
MOVES = (1e-3, 1.0, 1e3, 1e6, 1e12, 1e24, 1e48, 1e96)


def conditions_of(operands: Sequence[Value]) -> list[Value]:
    """The conditions, such as `u < 1e-6`, that the quantities of a statement are made with."""
    quantities = [below for one in operators(operands) for below in one.inputs]
    return [
        value
        for value in ordered(quantities)
        if value.random
        and value.kind == Kind.COMPUTED
        and (value.binary or value.function.indicator)
    ]


def draws_to_see(program: Program, conditions: Sequence[Value]) -> float:
    """Draws in which the rarest outcome is expected once, of those whose chance the model says.

    These are the outcomes of conditions and the values of laws that announce how rare they are.
    """
    rarest = program.rarest
    for condition in conditions:
        found = exact_means([Integrand(factors=((condition, 1),))])
        if found is not None:
            chance, error = float(found[0][0]), float(found[1][0])
            chance = min(chance, 1 - chance)
            if chance > max(error, IMPOSSIBLE):
                rarest = max(rarest, 1 / chance)
    return rarest


def once_expected(interval: Interval, draws: int, rarest: float) -> Interval:
    """The interval, not to be used before the rarest known outcome is due to be seen."""
    if interval.unmet is not None or not rarest or draws >= RARE_SIGHTINGS * rarest:
        return interval
    unmet = Reason.RARE_OUTCOME_EXPECTED.explain(
        expected=draws / rarest, draws=draws, needed=RARE_SIGHTINGS
    )
    return replace(interval, unmet=unmet, settles=RARE_SIGHTINGS * rarest)


def alike(interval: Interval) -> Explanation:
    """Why a point that draws without a difference make may not decide."""
    return Reason.ALL_ALIKE.explain(value=interval.estimate)


def moves(theta: Theta, means: Floats, which: npt.NDArray[np.bool_]) -> bool:
    """Whether a quantity changes where some averages are moved, each by an amount of its own.

    They are moved either way and by little and much, for there are plateaus: floor(E(x)),
    minimum(E(x), 0). Where the quantity is undefined nothing is told. Each place is asked for by
    itself, for a quotient is undefined at all of several that lie on both sides of its pole.
    """
    own = (1 + np.abs(means)) * (1.5 + np.sin(1 + np.arange(len(means)))) * which
    points = [means, *(means + sign * size * own for size in MOVES for sign in (1, -1))]
    here, *there = (float(theta(point[:, np.newaxis])[0]) for point in points)
    return any(
        math.isfinite(value) and abs(value - here) > 1e-12 * max(1.0, abs(here)) for value in there
    )
