"""What a law says of a draw: its norm, its mean, lines in it; and which elements are apart.

A line a·x + b of a single draw x has the law of x, moved and scaled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from dropcheck.analysis.bounds import sum_of
from dropcheck.language.graph import Kind, Sources, Value
from dropcheck.vocabulary.function import EVERY_AXIS
from dropcheck.vocabulary.hulls import EVERYWHERE, Hull
from dropcheck.vocabulary.law import Law

# If 0 is nearer to an end of the support than this, rounding may decide on which side it lies.
_ROUNDING = 1e-9
# An error of a mean that is a smaller share of the spread counts as rounding.
_MEAN_ROUNDING = 1e-12

_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class AffineDraw:
    """The line factor · draw + shift of a draw with fixed arguments; the factor is not 0.

    `largest` is the largest shift in the computation, in the unit of the draw: rounding errors are
    relative to it.
    """

    law: Law
    arguments: tuple[float, ...]
    factor: float = 1.0
    shift: float = 0.0
    largest: float = 0.0


def line_of(value: Value, below: list[AffineDraw | None]) -> AffineDraw | None:
    """A random quantity as a line of one draw, from its inputs as lines; None if it is none."""
    if value.kind == Kind.DRAW:
        known = tuple(argument.known for argument in value.inputs)
        numbers = tuple(one for one in known if isinstance(one, float))
        if value.law is None or len(numbers) < len(known):
            return None
        return AffineDraw(law=value.law, arguments=numbers)
    if value.function.rearranges:  # elements of an array of draws have one law
        return below[0]
    parts, shift = sum_of(value)
    lines = {id(one): line for one, line in zip(value.inputs, below, strict=True)}
    return _moved(lines.get(id(parts[0][1])), parts[0][0], shift) if len(parts) == 1 else None


def _moved(line: AffineDraw | None, factor: float, shift: float) -> AffineDraw | None:
    if line is None:
        return None
    stretched, moved = line.factor * factor, line.shift * factor + shift
    if not (stretched and math.isfinite(stretched) and math.isfinite(moved)):
        return None
    largest = max(line.largest, abs(shift / stretched), abs(moved / stretched))
    return replace(line, factor=stretched, shift=moved, largest=largest)


# ---- bounds ----------------------------------------------------------------------------------


def fixed_arguments(value: Value) -> list[Any] | None:
    """The arguments of a draw as numbers and arrays without an axis of draws; None if not fixed."""
    if any(one.constant is None for one in value.inputs):
        return None
    arrays = (np.asarray(one.constant, dtype=np.float64)[..., 0] for one in value.inputs)
    return [float(one) if one.ndim == 0 else one for one in arrays]


def largest(bounds: Any) -> float:
    """The largest of some bounds; infinite if one of them is NaN."""
    array = np.asarray(bounds, dtype=np.float64)
    return math.inf if not array.size or np.isnan(array).any() else float(array.max())


class Bounded(Protocol):
    """A quantity with bounds: see `analysis.norms`."""

    @property
    def hull(self) -> Hull:
        """Where its values lie."""

    def size(self, p: float) -> float:
        """A bound of (E|x|^p)^(1/p)."""


def draw_norm(value: Value, below: Sequence[Bounded], p: float) -> float:
    """A bound of (E|x|^p)^(1/p) for p >= 1."""
    if value.law is None:
        return math.inf
    known = fixed_arguments(value)
    if known is not None:
        return largest(value.law.norm(p, *known))
    return largest(value.law.random_norm(p, lambda i, q: below[i].size(q), lambda i: below[i].hull))


def draw_spread(value: Value, p: float) -> float:
    """A bound of the norm of x - E x for a draw x with fixed arguments."""
    known = fixed_arguments(value)
    return math.inf if value.law is None or known is None else largest(value.law.spread(p, *known))


def draw_log_moment(value: Value, t: float) -> float:
    """A bound of log E exp(t · x) for a draw x with fixed arguments."""
    known = fixed_arguments(value)
    return math.inf if value.law is None or known is None else largest(value.law.log_mgf(t, *known))


def draw_mean(value: Value) -> Hull:
    """Where the means of all elements of a draw with fixed arguments lie."""
    law, known = value.law, fixed_arguments(value)
    if law is None or known is None:
        return EVERYWHERE
    means, errors = law.moment(1, *known)
    if not np.size(means) or np.isnan(means).any():
        return EVERYWHERE
    errors = np.where(errors <= _MEAN_ROUNDING * law.spread(1.0, *known), 0.0, errors)
    return Hull(float(np.min(means - errors)), float(np.max(means + errors)))


# ---- independence --------------------------------------------------------------------------------


def is_apart(value: Value, below: Sequence[bool]) -> bool:
    """Whether the elements of a random value are independent of one another, within one draw.

    So are those of an array of draws, and what is computed from such arrays element by element, or
    from other elements for each element.

    Args:
        value: the value.
        below: whether that is so of its inputs.
    """
    drawn = [(one, own) for one, own in zip(value.inputs, below, strict=True) if one.random]
    law = value.law
    if value.kind == Kind.DRAW:
        single = law is not None and value.name is not None and law.own_axes is None
        if not single or (drawn and law is not None and law.of_lists):
            return False
    elif value.kind != Kind.COMPUTED:
        return False
    elif not value.function.by_element:
        reduced = EVERY_AXIS in value.function.parameters and len(drawn) == 1
        levels = np.ndim(dict(value.options).get("u", 0.0))
        return reduced and drawn[0][1] and not levels and len(value.shape) < len(drawn[0][0].shape)
    return all(own and one.shape == value.shape for one, own in drawn)


def grouped(parts: Sequence[_Part], sources: Callable[[_Part], Sources]) -> list[list[_Part]]:
    """The parts in groups that share no draw."""
    groups: list[tuple[Sources, list[_Part]]] = []
    for part in parts:
        joined, members = sources(part), [part]
        apart: list[tuple[Sources, list[_Part]]] = []
        for group in groups:
            if group[0].isdisjoint(joined):
                apart.append(group)
            else:
                joined, members = joined | group[0], [*group[1], *members]
        groups = [*apart, (joined, members)]
    return [members for _, members in groups]


def disjoint(sources: Sequence[Sources]) -> bool:
    """Whether at most two quantities share no draw; False for more quantities."""
    return len(sources) < 2 or (len(sources) == 2 and sources[0].isdisjoint(sources[1]))


# ---- negative moments ----------------------------------------------------------------------------


# How many chances are looked at for each factor of 2, and down to which powers of it: further where
# much is left out.
_FINENESS, _OCTAVES, _MUCH = 4, (40, 990), 0.01
# A distance from a number that is a smaller share of it has lost half of its digits.
_DIGITS = 1e-8
# The largest power of 1 / p with which d^-r may grow, and by how much that may change.
_MOST_GROWTH, _STEADY = 0.98, 0.01
_FEWEST = 16  # the fewest chances


def inverse_of_line(line: AffineDraw, r: float) -> float:
    """A bound of (E|x|^-r)^(1/r) of a line x of one draw, for r > 0; infinite if none is known.

    On either side of the place where x is 0, let the draw be nearer than d(p) with the chance p. As
    d rises, ∫ d(p)^-r dp is at most a sum over cells of p, with d at the lower end of each. Where d
    has lost its digits the parts are continued as they fall, and twice that is used.
    """
    law, zero = line.law, -line.shift / line.factor
    low, high = law.support(*line.arguments)
    rounding = _ROUNDING * max(abs(zero), line.largest)
    beside = any(end != zero and abs(zero - end) <= rounding for end in (low, high))
    if law.discrete or beside or low == high or not low <= zero <= high:
        return math.inf
    if r >= 1 and low < zero < high:
        return math.inf
    with np.errstate(all="ignore"):
        chances = [float(one(zero, *line.arguments)) for one in (law.cdf, law.survival)]
        sides = zip(chances, (-1.0, 1.0), strict=True)
        total = math.fsum(_on_side(line, zero, chances, r, *side) for side in sides if side[0])
        bound = (total * (1 + _ROUNDING)) ** (1 / r) / abs(line.factor)
    return bound if math.isfinite(bound) and total > 0 else math.inf


def _on_side(
    line: AffineDraw, zero: float, chances: Sequence[float], r: float, chance: float, side: float
) -> float:
    """A bound of ∫ d(p)^-r dp on the side of higher draws if it is 1, of lower ones if -1."""
    law, arguments = line.law, line.arguments
    # what is computed from a loc, or from the other end, has no more digits than these
    line_of_law = law.as_line(*arguments)
    ends = [0.0 if line_of_law is None else line_of_law[0], *law.support(*arguments)]
    size = max(abs(one) for one in (zero, *ends) if math.isfinite(one))
    total = left = math.inf
    for octaves in _OCTAVES:
        p = chance * np.exp2(-np.arange(_FINENESS * octaves) / _FINENESS)
        below, above = chances[0] + side * p, chances[1] - side * p
        lower, places = below < 0.5, np.zeros(len(p))
        places[lower] = law.quantile(np.maximum(below[lower], 0.0), *arguments)
        places[~lower] = law.upper_quantile(np.maximum(above[~lower], 0.0), *arguments)
        distances = np.abs(places - zero)
        known = (distances > max(_DIGITS * size, 1e-280)) & (p > _DIGITS * min(chances))
        last = len(p) if known.all() else int(np.argmin(known))
        if last < _FEWEST:
            return math.inf
        sizes, p = distances[:last] ** -r, p[:last]
        growth = -np.diff(np.log(sizes[-3:])) / np.diff(np.log(p[-3:]))
        falls = growth[1] <= min(_MOST_GROWTH, growth[0] + _STEADY)
        total = float((-np.diff(p) * sizes[1:]).sum())
        left = 2 * float(p[-1] * sizes[-1]) / (1 - float(growth[1])) if falls else math.inf
        if left <= _MUCH * total or not known.all():
            break
    return total + left
