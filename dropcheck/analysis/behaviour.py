"""How a quantity comes near 0, and how far out it goes: as told by the law of one draw.

What is a line a·x + b of a single draw x has the law of x, moved and stretched. Near 0 its
probability falls as a power of the distance, which says what moments its reciprocal has; and where
the law's tail is exponential, its rate says what moments the exponential function has.
"""

# ruff: noqa: ARG005 - each function of a law is given all of its parameters

from __future__ import annotations

import math
from collections.abc import Callable

from dropcheck.language.graph import Kind, Value
from dropcheck.records import dataclass
from dropcheck.vocabulary.function_table import called

Plain = Callable[[Value], object]

# The power with which P(|x - end| < ε) falls at both ends of a continuous law, by its arguments.
# Inside its support the density is positive, so that the power is 1.
_ENDS: dict[str, Callable[..., tuple[float, float]]] = {
    **dict.fromkeys(
        ("normal", "cauchy", "student_t", "laplace", "logistic", "gumbel"),
        lambda *_: (math.inf, math.inf),
    ),
    "lognormal": lambda mean, sd: (math.inf, math.inf),
    "uniform": lambda low, high: (1.0, 1.0),
    "truncated_normal": lambda mean, sd, low, high: (1.0, 1.0),
    "triangular": lambda low, mode, high: (2.0 - (mode == low), 2.0 - (mode == high)),
    "exponential": lambda scale: (1.0, math.inf),
    "rayleigh": lambda scale: (2.0, math.inf),
    "gamma": lambda shape, scale: (shape, math.inf),
    "weibull": lambda shape, scale: (shape, math.inf),
    "chi_square": lambda df: (df / 2, math.inf),
    "f": lambda d1, d2: (d1 / 2, math.inf),
    "pareto": lambda alpha, scale: (1.0, math.inf),
    "beta": lambda a, b: (a, b),
}
# The rates with which P(x < -t) and P(x > t) fall as an exponential of t, of laws without an end on
# that side: infinite where they fall faster, 0 where they do not fall as fast as any.
_RATES: dict[str, Callable[..., tuple[float, float]]] = {
    **dict.fromkeys(("cauchy", "student_t", "pareto", "f", "lognormal"), lambda *_: (0.0, 0.0)),
    **dict.fromkeys(
        ("normal", "truncated_normal", "rayleigh", "poisson"), lambda *_: (math.inf, math.inf)
    ),
    **dict.fromkeys(("laplace", "logistic"), lambda loc, scale: (1 / scale, 1 / scale)),
    "gumbel": lambda loc, scale: (math.inf, 1 / scale),
    "exponential": lambda scale: (math.inf, 1 / scale),
    "gamma": lambda shape, scale: (math.inf, 1 / scale),
    "chi_square": lambda df: (math.inf, 0.5),
}
# Nearer to an end of the support than this, rounding may have put 0 on either side of it.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Line:
    """factor · draw + shift, of a draw whose arguments are known numbers; the factor is not 0.

    `largest` is the largest shift on the way, in the draw's own unit: rounding is relative to it.
    """

    draw: Value
    arguments: tuple[float, ...]
    factor: float = 1.0
    shift: float = 0.0
    largest: float = 0.0

    @property
    def support(self) -> tuple[float, float]:
        """The ends of the draw."""
        law = self.draw.law
        return (-math.inf, math.inf) if law is None else law.support(*self.arguments)

    def near_zero(self) -> float | None:
        """The power with which P(|line| < ε) falls in ε, infinite where it is 0; None: unknown."""
        zero = -self.shift / self.factor
        if not math.isfinite(zero):
            return None
        low, high = self.support
        powers = _ENDS.get(self.draw.operation)
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
        found = _RATES.get(self.draw.operation)
        tails = (None, None) if found is None else found(*self.arguments)
        down, up = (
            math.inf if math.isfinite(end) else None if tail is None else tail / abs(self.factor)
            for end, tail in zip(self.support, tails, strict=True)
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
        return Line(value, numbers) if len(numbers) == len(known) else None
    name = called(value.operation)
    if name in ("subscript", "transpose"):  # elements of an array of draws have one law
        return below[0]
    if name == "negative":
        return _moved(below[0], -1.0, 0.0)
    if name not in ("+", "-", "*", "/"):
        return None
    left, right = value.inputs
    if left.random and right.random:
        return None
    line, known_side = (below[0], right.known) if left.random else (below[1], left.known)
    if not isinstance(known_side, float):
        return None
    match name:
        case "+":
            return _moved(line, 1.0, known_side)
        case "-":
            sign = 1.0 if left.random else -1.0
            return _moved(line, sign, -sign * known_side)
        case "*":
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
    return Line(line.draw, line.arguments, stretched, moved, largest)
