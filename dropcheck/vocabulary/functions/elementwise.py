"""Arithmetic, and functions of numbers, applied element by element; rounding to formats."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial, reduce
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.function import (
    MORE,
    PAIR,
    Array,
    Function,
    X,
    cheap,
    entry,
    monotone,
    usual,
    values,
)
from dropcheck.vocabulary.special import Special, power

# ---- number formats ------------------------------------------------------------------------------
#
# Rounding to the number formats that code computes in: to the nearest, ties to even (IEEE 754).
#
# A number above the largest of a format becomes infinite. Moments are not bounded through such a
# function; only the range of its values is known, from the ends of its argument.


DOUBLE, SINGLE = "float64", "float32"
"""The format of numbers in models, and the usual format of code."""
EPSILONS: Mapping[str, float] = {
    "float64": 2.0**-52,
    "float32": 2.0**-23,
    "bfloat16": 2.0**-7,
    "float16": 2.0**-10,
}
"""By format: the distance from 1 to the next larger number."""
SMALLEST_NORMAL: Mapping[str, float] = {
    "float64": 2.0**-1022,
    "float32": 2.0**-126,
    "bfloat16": 2.0**-126,
    "float16": 2.0**-14,
}
"""By format: the smallest number with full precision."""


_LOST = 52 - 7
"""The bits of a float64 that a bfloat16 does not have."""
_LARGEST_BFLOAT16 = 2.0**128 - 2.0**120


def rounded(x: Array, number_format: str) -> Array:
    """Numbers rounded to a format, as float64.

    >>> [float(rounded(np.array([0.1]), one)[0]) for one in ("bfloat16", "float16")]
    [0.10009765625, 0.0999755859375]
    """
    values = np.asarray(x, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if number_format == "bfloat16":  # numpy does not have it
            return _to_bfloat16(values)
        return values.astype(number_format, copy=False).astype(np.float64, copy=False)


def below_numbers(x: Array, number_format: str) -> Array:
    """The midpoint of two numbers of a format: the one nearest to x, and the next one below that.

    A number that is at or below this midpoint after rounding to the format was so before.

    >>> float(below_numbers(np.array([1.0]), "bfloat16")[0])
    0.998046875
    """
    nearest = rounded(x, number_format)
    share, exponent = np.frexp(nearest)
    epsilon, smallest = EPSILONS[number_format], SMALLEST_NORMAL[number_format]
    gap = np.ldexp(epsilon, np.where(nearest == 0, -1024, exponent - 1))
    gap = np.maximum(gap, epsilon * smallest)
    closer = (share == 0.5) & (nearest > smallest)  # below a power of two they are twice as dense
    found: Array = nearest - np.where(closer, 0.25, 0.5) * gap
    return found


def _to_bfloat16(x: Array) -> Array:
    """Numbers rounded to eight binary digits, or fewer at the smallest exponents; as float64.

    The bits of a float64, as a whole number, are in the order of the sizes (IEEE 754).
    """
    bits = x.view(np.int64)
    half = bits >> _LOST & 1  # of what is lost; one more rounds up, but for ties that are even
    half += 2 ** (_LOST - 1) - 1
    half += bits
    half &= -(2**_LOST)
    nearest = half.view(np.float64)
    size = np.abs(x)
    small = size < SMALLEST_NORMAL["bfloat16"]
    if small.any():
        nearest = np.where(small, np.rint(x * 2.0**133) * 2.0**-133, nearest)
    if not size.max(initial=0.0) < _LARGEST_BFLOAT16:  # also where there is a NaN
        large = np.abs(nearest) >= 2.0**128
        nearest = np.where(np.isnan(x), x, np.where(large, np.copysign(np.inf, x), nearest))
    return nearest


ROUNDED: Mapping[str, Function] = {
    name: entry(
        name,
        monotone(partial(rounded, number_format=name)),
        f"rounded to a number of the format {name}",
    )
    for name in EPSILONS
}
"""The function that rounds to a format, by the name of the format."""


# ---- kernels that numpy and scipy.special do not have -------------------------------------------

# each correctly rounded; from 171! on they overflow
_FACTORIALS = np.array([float(math.factorial(n)) for n in range(171)] + [math.inf])
_ROOT_2PI = math.sqrt(2.0 * math.pi)
# Klambauer et al., Self-Normalizing Neural Networks (2017), equation 14
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def _elu(x: Array) -> Array:
    """The exponential linear unit (Clevert et al., 2015, with α = 1)."""
    return np.maximum(x, 0.0) + np.expm1(np.minimum(x, 0.0))


def _selu(x: Array) -> Array:
    """The self-normalising unit (Klambauer et al., 2017, equation 2)."""
    below = _SELU_ALPHA * np.expm1(np.minimum(x, 0.0))
    return _SELU_SCALE * (np.maximum(x, 0.0) + below)


def _factorial(n: Array) -> Array:
    known = (n >= 0) & (n == np.floor(n))
    index = np.where(known, np.minimum(n, 171.0), 0.0).astype(np.intp)
    return np.where(known, _FACTORIALS[index], np.nan)


def _comb(n: Array, k: Array) -> Array:
    """The number of ways to choose k of n; 0 for k outside 0 … n, NaN unless both are whole.

    NaN for negative n, too.
    """
    known = np.isfinite(n) & np.isfinite(k) & (n >= 0) & (n == np.floor(n)) & (k == np.floor(k))
    fewer = np.minimum(k, n - k)
    if n.size == k.size == 1 and known.all() and 0 <= fewer.item() <= 1000 and n.item() < 2**53:
        count = math.comb(int(n.item()), int(fewer.item()))  # one number does not load scipy
        return np.full(known.shape, float(count) if count < 2**1024 - 2**970 else np.inf)
    # with more than 1000 chosen it is at least 2002 over 1001, above 1e600, and overflows
    ways = np.where(fewer > 1000, np.inf, special.binom(n, fewer))
    ways = np.where(ways < 2.0**53, np.rint(ways), ways)
    return np.where(known, np.where((k < 0) | (k > n), 0.0, ways), np.nan)


# ---- the entries --------------------------------------------------------------------------------


def _sign(written: str, name: str, *facts: Any, **more: Any) -> Function:
    return entry(name, *facts, **{"written": written, "parameters": PAIR, "cost": cheap, **more})


ADD = _sign("a + b", "+", np.add, "sum", does="adds")  # fmt: skip
SUBTRACT = _sign("a - b", "-", np.subtract, "difference", does="adds")  # fmt: skip
MULTIPLY = _sign("a * b", "*", np.multiply, "product", does="multiplies")  # fmt: skip
DIVIDE = _sign("a / b", "/", np.divide, "quotient", does="divides")  # fmt: skip
FLOOR_DIVIDE = _sign(
    "a // b", "//", np.floor_divide, "quotient, rounded down", cost=usual, does="divides",
)  # fmt: skip
MODULO = _sign(
    "a % b", "%", np.remainder, "remainder, of the divisor's sign",
    cost=usual, does="divides", aliases=("mod", "remainder"),
)  # fmt: skip
# as in float64: an overflow is infinite, a root of a negative number is NaN
POWER = _sign("x**y", "**", power, "power", cost=usual, aliases=("pow", "power"))
NEGATIVE = _sign(
    "-x", "negative", np.negative, "the number with the other sign",
    parameters=X, does="adds",
)  # fmt: skip

ARITHMETIC_SIGNS = (ADD, SUBTRACT, MULTIPLY, DIVIDE, FLOOR_DIVIDE, MODULO, POWER, NEGATIVE)


ROUND = entry(
    "round", np.rint,
    "the nearest whole number, halves to the even one: round(2.5) is 2; to a format of numbers: "
    "round(x, float32)",
)  # fmt: skip
SQRT = entry("sqrt", np.sqrt, "square root")

ABS = entry("abs", np.absolute, "size without the sign", aliases=("absolute", "fabs"))

EXP = entry("exp", np.exp, "e to the power x")

MINIMUM = entry(
    "minimum", lambda *x: reduce(np.minimum, x), "the smaller, by element",
    parameters=(*PAIR, MORE), does="selects",
)  # fmt: skip

NUMBERS = (
    ABS,
    entry("sign", np.sign, "1, 0 or −1, as x is above, at or below 0", aliases=("sgn",)),
    SQRT,
    entry("cbrt", np.cbrt, "cube root"),
    EXP,
    entry("expm1", np.expm1, "exp(x) − 1"),
    entry("log", np.log, "natural logarithm", aliases=("ln",)),
    entry("log2", np.log2, "logarithm to base 2"),
    entry("log10", np.log10, "logarithm to base 10"),
    entry("log1p", np.log1p, "log(1 + x)"),
    entry("xlogy", Special("xlogy"), "x log(y), 0 where x is 0", parameters=values("x y")),
    entry("sin", np.sin, "sine"),
    entry("cos", np.cos, "cosine"),
    entry("tan", np.tan, "tangent"),
    entry("arcsin", np.arcsin, "inverse sine", aliases=("asin",)),
    entry("arccos", np.arccos, "inverse cosine", aliases=("acos",)),
    entry("arctan", np.arctan, "inverse tangent", aliases=("atan",)),
    entry("arctan2", np.arctan2, "angle of the point (x, y), from −pi to pi",
          parameters=values("y x"), aliases=("atan2",)),
    entry("sinh", np.sinh, "hyperbolic sine"),
    entry("cosh", np.cosh, "hyperbolic cosine"),
    entry("tanh", np.tanh, "hyperbolic tangent"),
    entry("arcsinh", np.arcsinh, "inverse hyperbolic sine", aliases=("asinh",)),
    entry("arctanh", np.arctanh, "inverse hyperbolic tangent", aliases=("atanh",)),
    entry("floor", np.floor, "rounded down"),
    entry("ceil", np.ceil, "rounded up", aliases=("ceiling",)),
    ROUND,
    entry("clip", lambda x, low, high: np.minimum(np.maximum(x, low), high),
          "x held between low and high",
          parameters=values("x low high"), aliases=("clamp",)),
    MINIMUM,
    entry("maximum", lambda *x: reduce(np.maximum, x), "the larger, by element",
          parameters=(*PAIR, MORE), does="selects"),
    entry("relu", lambda x: np.maximum(x, 0.0), "max(x, 0)"),
    entry("leaky_relu", lambda x, slope: np.maximum(x, 0.0) + slope * np.minimum(x, 0.0),
          "x above 0, slope · x below",
          parameters=values("x slope")),
    entry("elu", _elu, "x above 0, exp(x) − 1 below: alpha is 1"),
    entry("selu", _selu, "1.0507 · x above 0, 1.7581 · (exp(x) − 1) below"),
    entry("gelu", lambda x: x * special.ndtr(x),  # Hendrycks & Gimpel, 2016
          "x · Phi(x) itself, not its approximation by tanh"),
    entry("silu", lambda x: x * special.expit(x), "x · sigmoid(x)", aliases=("swish",)),
    entry("softplus", lambda x: np.logaddexp(x, 0.0), "log(1 + exp(x))"),
    entry("sigmoid", Special("expit"), "1 / (1 + exp(−x))", aliases=("expit",)),
    entry("logit", Special("logit"), "log(x / (1 − x))"),
    entry("erf", Special("erf"), "error function: 2 · Phi(x · sqrt(2)) − 1"),
    entry("erfc", Special("erfc"), "1 − erf(x)"),
    entry("Phi", Special("ndtr"), "standard normal distribution function",
          aliases=("ndtr", "norm_cdf")),
    entry("phi", lambda x: np.exp(-0.5 * np.square(x)) / _ROOT_2PI, "standard normal density"),
    entry("gamma", Special("gamma"), "gamma function"),
    entry("lgamma", Special("gammaln"), "log of |gamma(x)|"),
    entry("digamma", Special("psi"), "derivative of lgamma"),
    entry("comb", _comb, "ways to choose k of n whole ones; NaN where they are not whole",
          parameters=values("n k"),
          aliases=("binom", "choose")),
    entry("factorial", _factorial, "1 · 2 · … · n; NaN where n is not whole",
          parameters=values("n")),
    *ROUNDED.values(),
)  # fmt: skip
