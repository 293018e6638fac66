"""Reference draws: what a comparison says where rounding does not decide it.

Two quantities that come out equal may be equal on paper, as `x**3` and `x * x * x` are, or one of
them has lost what sets them apart, as `sigmoid(x)` and 1 have far out. What is equal on paper for
all values near one point is so for all values of the law, as far as the functions are analytic
(Mityagin 2015, "The zero set of a real analytic function"). So both are looked at for values of
moderate size: of the draws, of the lines in them that are farthest out, as `x + 40`, and of those
that are smallest or steepest, as `1e-20 * x` and `20 * x`; and for draws that are large, as far as
the law has such, or as large as what they are added to.
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

# Up to here functions that level off are clearly apart from their limits: tanh(3) is 0.995.
MODERATE = 3.0
# Draws as large show what is lost of products of them, as of 1 + 1e-20 * x * y.
LARGE = (1e5, 1e10)
# Lines of so small a factor are looked at where they are of moderate size.
SMALL = 1e-3
# Of reference draws: so much less often near, and in such a share of them the opposite.
SELDOM, OFTEN = 0.25, 0.1

Near = tuple[float, dict[float, float]]
"""In which share of draws a function is near a jump, and with which results; in which share it is
clear, and has another result than each of these."""
LinesOfDraws = dict[int, AffineDraw]
"""Lines, each of one draw, by the identity of the draw's value."""
ReferencePlace = tuple[float, LinesOfDraws]
"""Up to which size draws are, and lines that are of this size in place of their draws."""


def places_of(program: Program) -> Iterator[ReferencePlace]:
    """Where a program is looked at: how large its draws are, and which lines they are taken by."""
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
    if far:  # where as much is added as the line is away, as to x of 1e16 + x
        yield MODERATE * max(abs(line.shift) for line in far.values()), far


def draws_of(
    step: Step, generator: np.random.Generator, draws: int, where: ReferencePlace
) -> Array:
    """Values of moderate size that the law of a draw has; if none has, those between it and 0.

    Of a draw with a line, values of which the line is of moderate size, whether it has them or not,
    but for its sign.
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
    """The results of a function that are not to be believed where it is near a jump.

    In reference draws it is seldom near, and its result is often clearly another.
    """
    if reference[0] > SELDOM * near[0]:
        return []
    return [one for one, share in reference[1].items() if share > OFTEN]


def can_be_moved(value: Value) -> bool:
    """Whether reference draws may stand for those of a value: of a fixed or a continuous law."""
    law = value.law
    if value.kind != Kind.DRAW or law is None or law.own_axes is not None:
        return False
    if any(one.random for one in value.inputs) and not law.discrete:
        return True
    of_lists = any(one.axes for one in law.parameters)  # of numbers, and not an array of lists
    if any(one.known is None or (of_lists and len(one.shape) > 1) for one in value.inputs):
        return False
    low, high = _support(value)
    listed = law.values in (Values.LISTED, Values.SIGNS)  # few, at which much is equal
    return low < high and (not listed or _far_out(low, high))


def _support(value: Value) -> tuple[float, float]:
    """The ends of what the law can be; of an array of parameters, of all of them together."""
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
    """Whether numbers between these are none of moderate size."""
    return low >= MODERATE or high <= -MODERATE
