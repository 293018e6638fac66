"""A sum whose parts share draws, rewritten with parts whose squares add up.

A step `x = x - lr * (x + g)` is (1 - lr) · x - lr · g, a sum of two independent parts. In a step
`x = x + W @ x` the second part changes its sign with W, of which x is independent. For such sums
the squares of bounds are added. For parts of any other kind the bounds themselves are added, which
is useless after a few steps of a loop.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from dropcheck.language.graph import Kind, Value
from dropcheck.records import record
from dropcheck.vocabulary.functions.elementwise import ADD, DIVIDE, MULTIPLY, NEGATIVE, SUBTRACT
from dropcheck.vocabulary.functions.reductions import MEAN, SUM
from dropcheck.vocabulary.majorants.bounds_arithmetic import summed

# The most sums that are opened, and pairs of parts that are compared, for all bounds of a case.
MOST_OPENED = 50_000
MOST_COMPARED = 500_000
# The most draws that are kept for a quantity that changes its sign with them.
MOST_TURNING = 8

WeightedValues = tuple[tuple[float, Value], ...]
"""Values, each with its factor in a sum."""


@record
class Dissected:
    """Σ factor · part + shift.

    No two of the `apart` parts share a draw. Each of the `turning` parts changes its sign with a
    draw that is symmetric about 0 and in no other part: so its mean is 0 given all other parts.
    """

    apart: WeightedValues
    turning: WeightedValues
    shift: float


class Dissection:
    """The sums of a case, taken apart.

    Args:
        depth: gives the depth of a value, which is above that of all its inputs.
        turns_with: gives the draws with whose sign a value changes its own.
    """

    def __init__(
        self, depth: Callable[[Value], int], turns_with: Callable[[Value], frozenset[str]]
    ) -> None:
        self._depth, self._turns_with = depth, turns_with
        self._opened = self._compared = 0

    def of(self, value: Value) -> Dissected | None:
        """A sum of parts that share draws, rewritten; None if that is not possible."""
        if len(sum_of(value)[0]) < 2:
            return None
        factors: dict[int, float] = {id(value): 1.0}
        values = {id(value): value}
        # the deepest first; of equally deep ones, the one that was found first
        heap = [(-self._depth(value), 0, id(value))]
        turning: list[int] = []
        apart: list[int] = []
        shift = 0.0

        def beside() -> Iterator[Value]:
            keys = chain((key for *_, key in heap), apart)
            return (values[key] for key in keys if factors[key])

        while heap:
            *_, key = heapq.heappop(heap)
            one, factor = values[key], factors[key]
            if not factor:  # it cancels
                continue
            if one is not value:
                if not self._meets(one, beside()):
                    apart.append(key)
                    continue
                if self._turns(one, chain(beside(), (values[other] for other in turning))):
                    turning.append(key)
                    continue
            parts, number = sum_of(one)
            self._opened += 1
            if self._opened > MOST_OPENED or self._compared > MOST_COMPARED:
                return None
            if not parts:  # parts that share a draw with it may still be turning, or be opened
                if self._meets(one, (values[other] for other in apart)):
                    return None
                apart.append(key)
            shift += factor * number
            for own, part in parts:
                if id(part) not in factors:
                    factors[id(part)] = 0.0
                    heapq.heappush(heap, (-self._depth(part), len(values), id(part)))
                    values[id(part)] = part
                factors[id(part)] += factor * own
        # a later part may contain the draw that an earlier one changes its sign with
        for key in turning:
            others = apart + [other for other in turning if other != key]
            if not self._turns(values[key], (values[other] for other in others)):
                return None
        found = Dissected(
            tuple((factors[key], values[key]) for key in apart),
            tuple((factors[key], values[key]) for key in turning),
            shift,
        )
        numbers = (shift, *(factor for factor, _ in (*found.apart, *found.turning)))
        return found if all(map(math.isfinite, numbers)) else None

    def _meets(self, one: Value, others: Iterable[Value]) -> bool:
        """Whether a value shares a draw with any of the others."""
        for other in others:
            self._compared += 1
            if not one.sources.isdisjoint(other.sources):
                return True
        return False

    def _turns(self, one: Value, others: Iterable[Value]) -> bool:
        """Whether a value changes its sign with a draw that is in none of the others."""
        names = self._turns_with(one)
        for other in others if names else ():
            self._compared += len(names)
            names = frozenset(name for name in names if name not in other.sources)
            if not names:
                break
        return bool(names)


def sum_of(value: Value) -> tuple[WeightedValues, float]:
    """A value as a sum of random values with factors, and a number; no parts if it is no sum."""
    if value.kind != Kind.COMPUTED:
        return (), 0.0
    function, inputs = value.function, value.inputs
    if function in (ADD, SUBTRACT):
        parts: list[tuple[float, Value]] = []
        shift = 0.0
        for one, sign in zip(inputs, (1.0, 1.0 if function is ADD else -1.0), strict=True):
            if one.random:
                parts.append((sign, one))
            elif isinstance(one.known, float):
                shift += sign * one.known
            else:
                return (), 0.0
        return tuple(parts), shift
    if function is NEGATIVE:
        return ((-1.0, inputs[0]),), 0.0
    if function in (MULTIPLY, DIVIDE):
        left, right = inputs
        known, one = (right.known, left) if left.random else (left.known, right)
        if not isinstance(known, float) or (function is DIVIDE and (not known or right.random)):
            return (), 0.0
        return ((1 / known if function is DIVIDE else known, one),), 0.0
    joined = inputs[0]
    adds_up = function in (SUM, MEAN) and value.shape == () and len(joined.shape) == 1
    of_parts = joined.kind == Kind.COMPUTED and joined.function.joins and len(joined.inputs) > 1
    if adds_up and of_parts:
        return _of_joined(joined, 1.0 if function is SUM else 1 / len(joined.inputs))
    return (), 0.0


def _of_joined(joined: Value, factor: float) -> tuple[WeightedValues, float]:
    """The sum of the numbers that an array is made of, each times a factor."""
    if any(one.shape != () for one in joined.inputs):
        return (), 0.0
    known = [0.0 if one.random else one.known for one in joined.inputs]
    if not all(isinstance(one, float) for one in known):
        return (), 0.0
    counted: dict[int, tuple[float, Value]] = {}
    for one in joined.inputs:
        if one.random:
            counted[id(one)] = (counted.get(id(one), (0.0, one))[0] + factor, one)
    return tuple(counted.values()), factor * summed(float(one) for one in known)  # type: ignore[arg-type]  # all are numbers: see above


def turns_with(value: Value, own: bool, below: Sequence[frozenset[str]]) -> frozenset[str]:
    """The draws with whose sign a random value changes its own, in all its elements.

    Args:
        value: the value.
        own: for a draw, whether it is symmetric about 0 given its arguments.
        below: the same draws for each of its inputs.
    """
    if value.kind == Kind.DRAW:
        return frozenset({value.name or ""}) if own else frozenset()
    if value.kind != Kind.COMPUTED:
        return frozenset()
    function, inputs = value.function, value.inputs
    found: frozenset[str]
    if function.bilinear:
        left, right = inputs
        found = _without(below[0], right) | _without(below[1], left)
    elif function is DIVIDE:
        found = _without(below[0], inputs[1])
    elif function.additive or function.moves or function.view:
        if any(one.truth or not one.random for one in inputs):
            return frozenset()  # a fixed number that is added does not change its sign
        found = frozenset.intersection(*below)
    else:
        return frozenset()
    return found if len(found) <= MOST_TURNING else frozenset(sorted(found)[:MOST_TURNING])


def _without(names: frozenset[str], other: Value) -> frozenset[str]:
    return frozenset(name for name in names if name not in other.sources)
