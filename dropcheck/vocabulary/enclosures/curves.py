"""Enclosures of functions of one number: a tangent, and bounds of the distance from it.

On an interval, the distance of a curve from its tangent at c is extreme at an end, or where the
curve has the same slope as at c. For a convex or concave function that is only c itself. If the
slope rises up to a point of symmetry and falls behind it (tanh, an odd power), it is also the
mirror image of c. So each such function is given by three facts: its derivative, its point of
symmetry, and the place of its minimum or maximum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.vocabulary import special
from dropcheck.vocabulary.enclosures import affine
from dropcheck.vocabulary.enclosures.affine import RULES, STEP_ROUNDING, Affine, made
from dropcheck.vocabulary.special import Special

Curve = Callable[[Floats], Any]

# How far beyond the domain an argument may be by rounding, as a share of its size.
_BEYOND = 100 * STEP_ROUNDING


def _smooth(
    function: Curve,
    derivative: Curve,
    *,
    mirror: float | None = None,
    bottom: float | None = None,
    domain: tuple[float, float] = (-math.inf, math.inf),
    never_0: bool = False,
) -> Callable[[Affine], Affine]:
    """The rule of a function that is convex, concave, or symmetric about a point of inflection.

    Args:
        function: takes an array.
        derivative: takes an array; where it is not finite, only the values enclose the function.
        mirror: the point about which the slope is symmetric, falling or rising away from it.
        bottom: the place of the minimum or maximum, if it is not at an end of the domain.
        domain: the interval in which the function is defined.
        never_0: whether the function is 0 at most at 0.
    """
    bounded = domain != (-math.inf, math.inf)

    def rule(x: Affine) -> Affine:
        # an argument that is beyond the domain only by rounding is moved to its end
        size = np.maximum(np.abs(x.low), np.abs(x.high))
        inside = np.isfinite(size)
        low, high = x.low, x.high
        if bounded:
            give = _BEYOND * size
            inside &= (low >= domain[0] - give) & (high <= domain[1] + give)
            low, high = np.clip(low, *domain), np.clip(high, *domain)
        at = np.minimum(np.maximum(x.value, low), high)
        points = [at, low, high]
        if mirror is not None:
            points.append(np.minimum(np.maximum(2 * mirror - at, low), high))
        if bottom is not None:
            points.append(np.minimum(np.maximum(bottom, low), high))
        places = np.stack(points)
        values = np.asarray(function(places), np.float64)
        slope = np.asarray(derivative(at), np.float64)
        slope = np.where(np.isfinite(slope), slope, 0.0)
        strays = values - values[0] - slope * (places - at)
        first, second = slope * x.below, slope * x.above
        value = values[0] + slope * (x.value - at)
        on_the_way = np.abs(slope) * size
        if never_0:
            on_the_way = affine.not_nothing(on_the_way, size)
        return made(
            value if inside.all() else np.where(inside, value, np.nan),
            slope * x.slopes,
            np.minimum.reduce(strays) + np.minimum(first, second),
            np.maximum.reduce(strays) + np.maximum(first, second),
            (np.minimum.reduce(values), np.maximum.reduce(values)),
            x.box,
            on_the_way,
        )

    return rule


def _wave(function: Curve, derivative: Curve) -> Callable[..., Affine]:
    """The rule of a function with |f''| ≤ 1 and |f| ≤ 1 (Taylor's theorem)."""

    def rule(x: Affine) -> Affine:
        slope, value = derivative(x.value), function(x.value)
        off = np.maximum(np.abs(x.low - x.value), np.abs(x.high - x.value))
        stray = off**2 / 2
        most = np.ones_like(value)
        return made(
            np.where(x.everything, np.nan, value),
            slope * x.slopes,
            np.minimum(slope * x.below, slope * x.above) - stray,
            np.maximum(slope * x.below, slope * x.above) + stray,
            (-most, most),
            x.box,
        )

    return rule


def _steps(function: Curve) -> Callable[[Affine], Affine]:
    """The rule of a step function, which rises."""
    return _smooth(function, lambda x: np.full_like(x, np.nan))


def _tangent(x: Affine) -> Affine:
    """The enclosure of tan(x); unknown where a pole may lie between the ends."""
    branch = np.round(x.value / math.pi)
    turned = affine.subtract(x, affine.enclosed(branch * math.pi, x.box))
    return _smooth(
        np.tan, lambda t: 1 + np.tan(t) ** 2, mirror=0.0, domain=(-math.pi / 2, math.pi / 2)
    )(turned)


def _power(base: Affine, exponent: Affine) -> Affine:
    """The enclosure of a power: by its curve for one known exponent, else as exp(y log(x))."""
    n = float(exponent.value.ravel()[0]) if exponent.value.size else 1.0
    if not (np.all(exponent.low == n) and np.all(exponent.high == n)):
        return RULES["exp"](affine.multiply(exponent, RULES["log"](base)))
    if n == 1:
        return base
    if n == 0:
        return affine.add(affine.enclosed(1.0, base.box), affine.subtract(base, base))
    if n < 0:
        positive = _power(base, affine.enclosed(np.full_like(exponent.value, -n), base.box))
        return _inverse_power(base, n) if n % 1 == 0 else _reciprocal(positive)
    domain = (-math.inf if n % 1 == 0 else 0.0, math.inf)
    even = n % 2 == 0
    rule = _smooth(
        lambda x: np.power(x, n),
        lambda x: n * np.power(x, n - 1),
        mirror=0.0 if n % 2 == 1 else None,
        bottom=0.0 if even else None,
        domain=domain,
        never_0=True,
    )
    return rule(base)


def _inverse_power(base: Affine, n: float) -> Affine:
    """The enclosure of a whole power below 0, which is convex or concave beside its pole at 0."""
    away = (base.low > 0) | (base.high < 0)
    side = _smooth(lambda x: np.power(x, n), lambda x: n * np.power(x, n - 1), never_0=True)(base)
    at_pole = np.where(away, 0.0, np.inf)
    return made(
        side.value, side.slopes, side.below - at_pole, side.above + at_pole,
        (side.low - at_pole, side.high + at_pole), side.box,
    )  # fmt: skip


def _reciprocal(x: Affine) -> Affine:
    return affine.divide(affine.enclosed(1.0, x.box), x)


def _maximum(a: Affine, b: Affine) -> Affine:
    """The enclosure of the larger: b + max(a - b, 0)."""
    larger = affine.add(b, RULES["positive part"](affine.subtract(a, b)))
    ends = (np.maximum(a.low, b.low), np.maximum(a.high, b.high))
    return made(larger.value, larger.slopes, larger.below, larger.above, ends, a.box)


def _bell(x: Floats) -> Floats:
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


_AT_LEAST_0 = (0.0, math.inf)
_UNIT = (-1.0, 1.0)
_SOFTPLUS = _smooth(lambda x: np.logaddexp(x, 0.0), Special("expit"))
_ENTROPY = _smooth(
    lambda x: special.xlogy(x, x), lambda x: 1 + np.log(x), bottom=1 / math.e, domain=_AT_LEAST_0
)
# where the gamma function is least above 0 (Abramowitz and Stegun 1964, 6.1.32, continued)
_LEAST_GAMMA = 1.4616321449683623

_CURVES: dict[str, Callable[..., Affine]] = {
    "reciprocal": _reciprocal,
    "power": _power,
    "sqrt": _smooth(np.sqrt, lambda x: 0.5 / np.sqrt(x), domain=_AT_LEAST_0),
    "cbrt": _smooth(np.cbrt, lambda x: np.cbrt(x) ** -2.0 / 3, mirror=0.0),
    "absolute": _smooth(np.absolute, np.sign, bottom=0.0),
    "positive part": _smooth(lambda x: np.maximum(x, 0.0), lambda x: (x > 0) * 1.0),
    "maximum": _maximum,
    "minimum": lambda a, b: affine.negative(_maximum(affine.negative(a), affine.negative(b))),
    "sign": _steps(np.sign),
    "floor": _steps(np.floor),
    "ceil": _steps(np.ceil),
    "rint": _steps(np.rint),
    "floor_divide": lambda a, b: RULES["floor"](affine.divide(a, b)),
    "remainder": lambda a, b: affine.subtract(
        a, affine.multiply(b, RULES["floor_divide"](a, b))
    ),
    "exp": _smooth(np.exp, np.exp, never_0=True),
    "expm1": _smooth(np.expm1, np.exp),
    "log": _smooth(np.log, lambda x: 1 / x, domain=_AT_LEAST_0),
    "log2": _smooth(np.log2, lambda x: 1 / (x * math.log(2)), domain=_AT_LEAST_0),
    "log10": _smooth(np.log10, lambda x: 1 / (x * math.log(10)), domain=_AT_LEAST_0),
    "log1p": _smooth(np.log1p, lambda x: 1 / (1 + x), domain=(-1.0, math.inf)),
    "logaddexp": lambda a, b: affine.add(b, _SOFTPLUS(affine.subtract(a, b))),
    "hypot": lambda a, b: RULES["sqrt"](
        affine.add(affine.multiply(a, a), affine.multiply(b, b)).at_least(0.0)
    ),
    "sin": _wave(np.sin, np.cos),
    "cos": _wave(np.cos, lambda x: -np.sin(x)),
    "tan": _tangent,
    "arcsin": _smooth(np.arcsin, lambda x: 1 / np.sqrt(1 - x * x), mirror=0.0, domain=_UNIT),
    "arccos": _smooth(np.arccos, lambda x: -1 / np.sqrt(1 - x * x), mirror=0.0, domain=_UNIT),
    "arctan": _smooth(np.arctan, lambda x: 1 / (1 + x * x), mirror=0.0),
    "sinh": _smooth(np.sinh, np.cosh, mirror=0.0),
    "cosh": _smooth(np.cosh, np.sinh, bottom=0.0),
    "tanh": _smooth(np.tanh, lambda x: np.cosh(x) ** -2.0, mirror=0.0),
    "arcsinh": _smooth(np.arcsinh, lambda x: 1 / np.hypot(1, x), mirror=0.0),
    "arctanh": _smooth(np.arctanh, lambda x: 1 / (1 - x * x), mirror=0.0, domain=_UNIT),
    "expit": _smooth(
        Special("expit"), lambda x: special.expit(x) * special.expit(-x), mirror=0.0,
        never_0=True,
    ),
    "logit": _smooth(
        Special("logit"), lambda x: 1 / (x * (1 - x)), mirror=0.5, domain=(0.0, 1.0)
    ),
    "ndtr": _smooth(Special("ndtr"), _bell, mirror=0.0, never_0=True),
    "erf": _smooth(
        Special("erf"), lambda x: 2 * math.sqrt(2) * _bell(math.sqrt(2) * x), mirror=0.0
    ),
    "erfc": _smooth(
        Special("erfc"), lambda x: -2 * math.sqrt(2) * _bell(math.sqrt(2) * x), mirror=0.0,
        never_0=True,
    ),
    "gammaln": _smooth(
        Special("gammaln"), Special("psi"), bottom=_LEAST_GAMMA,
        domain=_AT_LEAST_0,
    ),
    "gamma": _smooth(
        Special("gamma"), lambda x: special.gamma(x) * special.psi(x),
        bottom=_LEAST_GAMMA, domain=_AT_LEAST_0,
    ),
    "psi": _smooth(
        Special("psi"), lambda x: special.polygamma(1, x), domain=_AT_LEAST_0
    ),
    "xlogy": lambda x, y: _ENTROPY(x) if x is y else affine.multiply(x, RULES["log"](y)),
}  # fmt: skip

RULES.update(_CURVES)
