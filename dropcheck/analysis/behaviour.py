"""How a quantity comes near 0, and how far out it goes: as told by the law of one draw.

What is a line a·x + b of a single draw x has the law of x, moved and stretched. Near 0 its
probability falls as a power of the distance, which says what moments its reciprocal has; and where
the law's tail is exponential, its rate says what moments the exponential function has.
"""

from __future__ import annotations

import math

from dropcheck.language.graph import Kind, Value
from dropcheck.records import dataclass
from dropcheck.vocabulary.functions.elementwise import ADD, DIVIDE, MULTIPLY, NEGATIVE, SUBTRACT
from dropcheck.vocabulary.law import Law

# Nearer to an end of the support than this, rounding may have put 0 on either side of it.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Line:
    """factor · draw + shift, of a draw whose arguments are known numbers; the factor is not 0.

    `largest` is the largest shift on the way, in the draw's own unit: rounding is relative to it.
    """

    law: Law
    arguments: tuple[float, ...]
    factor: float = 1.0
    shift: float = 0.0
    largest: float = 0.0

    def near_zero(self) -> float | None:
        """The power with which P(|line| < ε) falls in ε, infinite where it is 0; None: unknown."""
        zero = -self.shift / self.factor
        if not math.isfinite(zero):
            return None
        low, high = self.law.support(*self.arguments)
        powers = self.law.near_ends
        at_low, at_high = (None, None) if powers is None else powers(*self.arguments)
        for end, power in ((low, at_low), (high, at_high)):
            if zero == end:
                return power
            if abs(zero - end) <= _ROUNDING * max(abs(zero), self.largest):
                return None
        if zero < low or zero > high:
            return math.inf
        return None if powers is None else 1.0

    def rates(self) -> tuple[float | None, float | None]:
        """The rates of the tails towards -∞ and towards ∞; None where one is unknown."""
        rates = self.law.tails
        tails = (None, None) if rates is None else rates(*self.arguments)
        down, up = (
            math.inf if math.isfinite(end) else None if tail is None else tail / abs(self.factor)
            for end, tail in zip(self.law.support(*self.arguments), tails, strict=True)
        )
        return (down, up) if self.factor > 0 else (up, down)


def line_of(value: Value, below: list[Line | None]) -> Line | None:
    """A random quantity as a line of one draw; None where it is none.

    Args:
        value: the quantity.
        below: its inputs, as lines.
    """
    if value.kind == Kind.DRAW:
        known = tuple(argument.known for argument in value.inputs)
        numbers = tuple(one for one in known if isinstance(one, float))
        if value.law is None or len(numbers) < len(known):
            return None
        return Line(value.law, numbers)
    function = value.function
    if function.view:  # elements of an array of draws have one law
        return below[0]
    if function is NEGATIVE:
        return _moved(below[0], -1.0, 0.0)
    if function not in (ADD, SUBTRACT, MULTIPLY, DIVIDE):
        return None
    left, right = value.inputs
    if left.random and right.random:
        return None
    line, known_side = (below[0], right.known) if left.random else (below[1], left.known)
    if not isinstance(known_side, float):
        return None
    match function.name:
        case ADD.name:
            return _moved(line, 1.0, known_side)
        case SUBTRACT.name:
            sign = 1.0 if left.random else -1.0
            return _moved(line, sign, -sign * known_side)
        case MULTIPLY.name:
            return _moved(line, known_side, 0.0)
        case _:
            return _moved(line, 1 / known_side, 0.0) if left.random and known_side else None


def _moved(line: Line | None, factor: float, shift: float) -> Line | None:
    if line is None:
        return None
    stretched, moved = line.factor * factor, line.shift * factor + shift
    if not (stretched and math.isfinite(stretched) and math.isfinite(moved)):
        return None
    largest = max(line.largest, abs(shift / stretched), abs(moved / stretched))
    return Line(line.law, line.arguments, stretched, moved, largest)
