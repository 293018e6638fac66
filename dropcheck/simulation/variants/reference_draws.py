"""Reference draws show the result of a comparison where rounding does not decide it.

Two values that are computed as equal may be exactly equal, like `x**3` and `x * x * x`. Or one of
them has lost the difference, like `sigmoid(x)` and 1 for large x. If analytic functions are equal
for all values near one point, they are equal for all values of the law (Mityagin 2015, "The zero
set of a real analytic function"). So both are compared for values of moderate size: of the draws,
of the linear functions of draws that are farthest from 0, such as `x + 40`, and of those that are
smallest or steepest, such as `1e-20 * x` and `20 * x`. They are also compared for large draws, as
far as the law has such, or as large as what is added to them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dropcheck.analysis.bounds import support
from dropcheck.analysis.moments.law_bounds import AffineDraw, line_of
from dropcheck.language.graph import Kind, Value
from dropcheck.simulation.program import Program
from dropcheck.simulation.steps import Step
from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.function import Array

# Up to this size, functions clearly differ from their limits: tanh(3) is 0.995.
MODERATE = 3.0
# The sizes of large draws, which show what products of them lose, as in 1 + 1e-20 * x * y.
LARGE = (1e5, 1e10)
# Linear functions with a smaller factor are also compared where they have moderate size.
SMALL = 1e-3
# A jump is spurious if reference draws are near it this much less often, and have the opposite
# result in at least this share.
SELDOM, OFTEN = 0.25, 0.1

Near = tuple[float, dict[float, float]]
"""The share of draws in which a function is near a jump; and for each result near the jump, the
share of draws in which it clearly has another result."""
LinesOfDraws = dict[int, AffineDraw]
"""Linear functions of one draw each, by the id of the draw's value."""
ReferencePlace = tuple[float, LinesOfDraws]
"""The largest size of draws, and the linear functions that have this size in place of draws."""


def places_of(program: Program) -> Iterator[ReferencePlace]:
    """The sizes of a program's reference draws, and the linear functions that have these sizes."""
    far: LinesOfDraws = {}
    small: LinesOfDraws = {}
    steep: LinesOfDraws = {}
    known: dict[int, tuple[int, AffineDraw]] = {}  # by register
    for step in program.steps:
        below = [known.get(register) for register in step.inputs]
        line = line_of(step.value, [one and one[1] for one in below])
        known.pop(step.target, None)
        if line is None or (step.value.kind == Kind.DRAW and not can_be_moved(step.value)):
            continue
        draw = next((one[0] for one in below if one is not None), id(step.value))
        known[step.target] = draw, line
        if abs(line.shift) > max(MODERATE, abs(far[draw].shift) if draw in far else 0.0):
            far[draw] = line
        if abs(line.factor) < min(SMALL, abs(small[draw].factor) if draw in small else 1.0):
            small[draw] = line
        if abs(line.factor) > max(MODERATE, abs(steep[draw].factor) if draw in steep else 0.0):
            steep[draw] = line
    yield from ((MODERATE * size, {}) for size in (1.0, *LARGE))
    yield from ((MODERATE, lines) for lines in (far, small, steep) if lines)
    if far:  # as large as what is added, for example to x in 1e16 + x
        yield MODERATE * max(abs(line.shift) for line in far.values()), far


def draws_of(
    step: Step, generator: np.random.Generator, draws: int, where: ReferencePlace
) -> Array:
    """Values of moderate size that the law may have; if there are none, values from it to 0.

    For a draw with a linear function, values for which that has moderate size, and a possible sign,
    whether the law has them or not.
    """
    size, lines = where
    low, high = _support(step.value)
    if _far_out(low, high):
        low, high = min(low, 0.0), max(high, 0.0)
    low, high = max(low, -size), min(high, size)
    line = lines.get(id(step.value))
    if line is not None:
        ends = [line.factor * end + line.shift for end in _support(step.value)]
        sides = (-size if min(ends) < 0 else 0.0, size if max(ends) > 0 else 0.0)
        low, high = sorted((end - line.shift) / line.factor for end in sides)
    shape = (*step.value.shape, draws)
    if step.value.law is not None and step.value.law.discrete:
        return generator.integers(math.ceil(low), math.floor(high) + 1, shape).astype(float)
    return generator.uniform(low, high, shape)


def not_believed(near: Near, reference: Near) -> list[float]:
    """The results that are spurious when a function is near a jump.

    Reference draws are seldom near the jump, and often clearly have another result.
    """
    if reference[0] > SELDOM * near[0]:
        return []
    return [one for one, share in reference[1].items() if share > OFTEN]


def can_be_moved(value: Value) -> bool:
    """Whether reference draws may replace those of a value: of a fixed or a continuous law."""
    law = value.law
    if value.kind != Kind.DRAW or law is None or law.own_axes is not None:
        return False
    if any(one.random for one in value.inputs) and not law.discrete:
        return True
    of_lists = any(one.axes for one in law.parameters)
    if any(one.known is None or (of_lists and len(one.shape) > 1) for one in value.inputs):
        return False
    low, high = _support(value)
    listed = law.values in (Values.LISTED, Values.SIGNS)  # few values, so that many are equal
    return low < high and (not listed or _far_out(low, high))


def _support(value: Value) -> tuple[float, float]:
    """The ends of the law's support; for an array of arguments, of all of them together."""
    assert value.law is not None
    if any(one.random for one in value.inputs):
        hull = support(value)
        return hull.low, hull.high
    known = [one.known for one in value.inputs]
    listed = not known or any(one.axes for one in value.law.parameters)
    each = [known] if listed else np.broadcast(*map(np.asarray, known))
    ends = [value.law.support(*one) for one in each]
    return float(min(low for low, _ in ends)), float(max(high for _, high in ends))


def _far_out(low: float, high: float) -> bool:
    """Whether no number in an interval has moderate size."""
    return low >= MODERATE or high <= -MODERATE
