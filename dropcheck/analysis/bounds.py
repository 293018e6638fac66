"""Where the values of a quantity can lie, by interval arithmetic over its expression.

The hull is closed and never too small; it may be too large where a quantity stands in an
expression more than once (Moore 1966, "Interval Analysis", the dependency problem). Unbounded ends
are infinite.
"""

from __future__ import annotations

import math

import numpy as np

from dropcheck.language.graph import Kind, Value, ordered
from dropcheck.records import dataclass
from dropcheck.vocabulary import kernels
from dropcheck.vocabulary.function_table import FUNCTIONS, called
from dropcheck.vocabulary.shapes import broadcast

# Rounding in the arithmetic of the ends: they are moved outward by this share.
OUTWARD = 1e-12


@dataclass(frozen=True, slots=True)
class Hull:
    """A closed interval that holds every value."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """The distance between the ends."""
        return self.high - self.low

    @property
    def bounded(self) -> bool:
        """Whether both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)


EVERYWHERE = Hull(-math.inf, math.inf)
UNIT = Hull(0.0, 1.0)

_INCREASING = frozenset(
    {
        *("exp", "expm1", "sqrt", "cbrt", "log", "log2", "log10", "log1p", "arctan", "arcsin"),
        *("tanh", "sinh", "arcsinh", "arctanh", "floor", "ceil", "round", "relu", "sigmoid"),
        *("softplus", "logit", "erf", "Phi", "sign"),
    }
)
_DECREASING = frozenset({"erfc", "arccos"})
_FIXED = {
    "sin": Hull(-1.0, 1.0),
    "cos": Hull(-1.0, 1.0),
    "softmax": UNIT,
    "one_hot": UNIT,
    "phi": Hull(0.0, 1 / math.sqrt(2 * math.pi)),
}
# Each value of the result is a value of an argument.
_PICKING = frozenset(
    {
        *("max", "min", "sort", "median", "quantile", "subscript", "transpose", "take", "concat"),
        *("stack", "array", "minimum", "maximum", "cummax", "mean"),
    }
)


def support(value: Value) -> Hull:
    """The hull of a quantity's values, all its elements together.

    Args:
        value: the quantity.
    """
    supports = _Supports()
    with np.errstate(all="ignore"):
        for below in ordered([value]):  # inputs first: a model may be very deep
            supports.of(below)
        return supports.of(value)


class _Supports:
    """Hulls of one graph, each worked out once."""

    def __init__(self) -> None:
        self._known: dict[int, Hull] = {}

    def of(self, value: Value) -> Hull:
        found = self._known.get(id(value))
        if found is None:
            found = _outward(self._of(value))
            self._known[id(value)] = found
        return found

    def _of(self, value: Value) -> Hull:
        if not value.random:
            return _of_known(value.known)
        if value.kind == Kind.DRAW:
            return self._of_draw(value)
        name = called(value.operation)
        if value.truth:
            return UNIT
        if name in _FIXED:
            return _FIXED[name]
        hulls = [self.of(below) for below in value.inputs]
        match name:
            case "+":
                return Hull(hulls[0].low + hulls[1].low, hulls[0].high + hulls[1].high)
            case "-" if value.inputs[0] is value.inputs[1]:
                return Hull(0.0, 0.0)
            case "-":
                return Hull(hulls[0].low - hulls[1].high, hulls[0].high - hulls[1].low)
            case "negative":
                return Hull(-hulls[0].high, -hulls[0].low)
            case "*":
                if value.inputs[0] is value.inputs[1]:
                    return _power(hulls[0], 2.0)
                return _product(hulls[0], hulls[1])
            case "/":
                return _quotient(hulls[0], hulls[1])
            case "**":
                exponent = value.inputs[1].known
                return _power(hulls[0], exponent) if isinstance(exponent, float) else EVERYWHERE
            case "square":
                return _power(hulls[0], 2.0)
            case "abs":
                return _magnitude(hulls[0])
            case "xlogy" if value.inputs[0] is value.inputs[1]:
                return _entropy(hulls[0])
            case "where" | "conditional":
                return _union(hulls[1:])
            case "clip":
                return _clipped(hulls)
            case "sum":
                return _scaled(hulls[0], _count(value.inputs[0]) / max(_count(value), 1))
            case "cumsum":
                return _union([hulls[0], _scaled(hulls[0], float(_longest(value.inputs[0])))])
            case "prod":
                return _multiplied(hulls[0], _count(value.inputs[0]) // max(_count(value), 1))
            case "cumprod":
                last = max(value.inputs[0].shape or (1,))  # whatever axis is meant
                lengths = {1, min(2, last), max(last - 1, 1), last}
                return _union([_multiplied(hulls[0], length) for length in lengths])
            case "matmul":
                product = _product(hulls[0], hulls[1])
                return _scaled(product, float(_last(value.inputs[0])))
            case "dot":
                product = _product(hulls[0], hulls[1])
                both = broadcast([below.shape or () for below in value.inputs])
                return _scaled(product, math.prod(both) / max(_count(value), 1))
        if name == "minimum":
            return Hull(min(h.low for h in hulls), min(h.high for h in hulls))
        if name == "maximum":
            return Hull(max(h.low for h in hulls), max(h.high for h in hulls))
        if name in _PICKING:
            return _union(hulls[:1] if name in ("take", "quantile") else hulls)
        if name in _INCREASING | _DECREASING:
            return _monotone(name, hulls[0])
        return EVERYWHERE

    def _of_draw(self, value: Value) -> Hull:
        law = value.law
        if law is None:
            return EVERYWHERE
        if not callable(law.ends) and Hull(*law.ends).bounded:
            return Hull(*law.ends)
        known = [argument.known for argument in value.inputs]
        if any(argument is None for argument in known):
            return EVERYWHERE
        if any(
            isinstance(argument, tuple) and not parameter.axes
            for argument, parameter in zip(known, law.parameters, strict=True)
        ):
            return EVERYWHERE  # arrays of arguments: not worth a hull of their own
        low, high = law.support(*known)
        return Hull(float(low), float(high))


def _of_known(known: object) -> Hull:
    if isinstance(known, float):
        return Hull(known, known) if not math.isnan(known) else EVERYWHERE
    if isinstance(known, tuple) and known:
        return _union([_of_known(entry) for entry in known])
    return EVERYWHERE


def _outward(hull: Hull) -> Hull:
    if math.isnan(hull.low) or math.isnan(hull.high) or hull.low > hull.high:
        return EVERYWHERE
    give = OUTWARD * max(abs(hull.low), abs(hull.high))
    if not math.isfinite(give) or hull.low == hull.high or hull in (UNIT, Hull(-1.0, 1.0)):
        return hull
    return Hull(hull.low - give, hull.high + give)


def _union(hulls: list[Hull]) -> Hull:
    return Hull(min(hull.low for hull in hulls), max(hull.high for hull in hulls))


def _times(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b  # an end that is 0 is attained; 0 · ∞ is 0 here


def _product(first: Hull, second: Hull) -> Hull:
    ends = [_times(a, b) for a in (first.low, first.high) for b in (second.low, second.high)]
    return Hull(min(ends), max(ends))


def _scaled(hull: Hull, factor: float) -> Hull:
    return Hull(_times(hull.low, factor), _times(hull.high, factor))


def _multiplied(hull: Hull, count: int) -> Hull:
    # The extremes lie at corners low^j high^(count - j), whose size is monotone in j; its sign
    # alternates at most, so that two at either end are enough.
    corners = {0, min(1, count), max(count - 1, 0), count}
    ends = [
        _times(_raised(hull.low, float(j)), _raised(hull.high, float(count - j))) for j in corners
    ]
    return Hull(min(ends), max(ends))


def _raised(base: float, exponent: float) -> float:
    return float(np.power(base, exponent))


def _quotient(over: Hull, under: Hull) -> Hull:
    if under.low <= 0 <= under.high:
        return EVERYWHERE
    return _product(over, Hull(1.0 / under.high, 1.0 / under.low))


def _entropy(hull: Hull) -> Hull:
    """The hull of x log x: 0 at 0, least at 1/e, and not defined below 0."""
    if hull.high < 0 or not hull.bounded:
        return EVERYWHERE
    points = [max(hull.low, 0.0), hull.high]
    if points[0] < 1 / math.e < points[1]:
        points.append(1 / math.e)
    values = [x * math.log(x) if x > 0 else 0.0 for x in points]
    return Hull(min(values), max(values))


def _magnitude(hull: Hull) -> Hull:
    high = max(abs(hull.low), abs(hull.high))
    if hull.low <= 0 <= hull.high:
        return Hull(0.0, high)
    return Hull(min(abs(hull.low), abs(hull.high)), high)


def _power(base: Hull, exponent: float) -> Hull:
    if not math.isfinite(exponent):
        return EVERYWHERE
    if exponent < 0:
        return _quotient(Hull(1.0, 1.0), _power(base, -exponent))
    if exponent == math.floor(exponent):
        if exponent % 2 == 0:
            base = _magnitude(base)
        return Hull(_raised(base.low, exponent), _raised(base.high, exponent))
    if base.low < 0:
        return EVERYWHERE
    return Hull(_raised(base.low, exponent), _raised(base.high, exponent))


def _clipped(hulls: list[Hull]) -> Hull:
    x, low, high = hulls
    return Hull(min(max(x.low, low.low), high.low), min(max(x.high, low.high), high.high))


def _monotone(name: str, hull: Hull) -> Hull:
    function = kernels.resolve(FUNCTIONS[name].kernel)
    ends = [float(function(np.float64(end))) for end in (hull.low, hull.high)]
    if name in _DECREASING:
        ends.reverse()
    if any(math.isnan(end) for end in ends):
        return EVERYWHERE  # part of the domain is undefined
    return Hull(*ends)


def _count(value: Value) -> int:
    return math.prod(value.shape or ())


def _last(value: Value) -> int:
    return (value.shape or (1,))[-1]


def _longest(value: Value) -> int:
    return max(value.shape or (1,))  # whatever axis is meant
