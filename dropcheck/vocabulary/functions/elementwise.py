"""Arithmetic, and the functions of numbers, applied element by element."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np

from dropcheck.vocabulary import growth, special
from dropcheck.vocabulary.function import (
    LINEAR,
    MORE,
    PAIR,
    Array,
    Function,
    X,
    cheap,
    entry,
    scaling,
    usual,
    values,
)
from dropcheck.vocabulary.growth import BY_HULL
from dropcheck.vocabulary.majorants import powers, sums
from dropcheck.vocabulary.special import Special, power

# ---- kernels that numpy and scipy.special do not have -------------------------------------------

# each correctly rounded; from 171! on they overflow
_FACTORIALS = np.array([float(math.factorial(n)) for n in range(171)] + [math.inf])
_ROOT_2PI = math.sqrt(2.0 * math.pi)
# Klambauer et al., Self-Normalizing Neural Networks (2017), equation 14
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def _elu(x: Array) -> Array:
    """The exponential linear unit (Clevert et al., 2015, with α = 1)."""
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0.0)))


def _selu(x: Array) -> Array:
    """The self-normalising unit (Klambauer et al., 2017, equation 2)."""
    below = _SELU_ALPHA * np.expm1(np.minimum(x, 0.0))
    return _SELU_SCALE * np.where(x > 0, x, below)


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


ADD = _sign("a + b", "+", np.add, "sum", sums.Sum(1.0), does="adds",
            carries_size=True)  # fmt: skip
SUBTRACT = _sign("a - b", "-", np.subtract, "difference", sums.Sum(-1.0), does="adds")  # fmt: skip
MULTIPLY = _sign("a * b", "*", np.multiply, "product", growth.PRODUCT, does="multiplies",
                 carries_size=True)  # fmt: skip
DIVIDE = _sign("a / b", "/", np.divide, "quotient", growth.QUOTIENT, does="divides")  # fmt: skip
FLOOR_DIVIDE = _sign(
    "a // b", "//", np.floor_divide, "quotient, rounded down",
    growth.by_norm(powers.whole_quotient), cost=usual, does="divides",
)  # fmt: skip
MODULO = _sign(
    "a % b", "%", np.remainder, "remainder, of the divisor's sign",
    growth.by_norm(powers.remainder), cost=usual, does="divides", aliases=("mod", "remainder"),
)  # fmt: skip
# as in float64: an overflow is infinite, a root of a negative number is NaN
POWER = _sign(
    "x**y", "**", power, "power", growth.POWER, cost=usual, aliases=("pow", "power"),
)  # fmt: skip
NEGATIVE = _sign(
    "-x", "negative", np.negative, "the number with the other sign", powers.Negated(1.0),
    parameters=X, does="adds",
)  # fmt: skip

ARITHMETIC_SIGNS = (ADD, SUBTRACT, MULTIPLY, DIVIDE, FLOOR_DIVIDE, MODULO, POWER, NEGATIVE)

# a bound of phi(t) / Phi(-t) - t for t >= 0: this ratio, the hazard of a normal law, rises from
# √(2/π) with a slope below 1 (Sampford 1953, Annals of Mathematical Statistics 24, 130-132)
_HAZARD = math.sqrt(2.0 / math.pi)
_EXP, _BOTH_WAYS = growth.EXPONENTIAL, growth.EXPONENTIAL_BOTH_WAYS
_linear = growth.linear


ROUND = entry(
    "round", np.rint,
    "the nearest whole number, halves to the even one: round(2.5) is 2; to a format of numbers: "
    "round(x, float32)",
    _linear(summand=0.5),
)  # fmt: skip
SQRT = entry(
    "sqrt", np.sqrt, "square root", growth.root(2), carries_size=True, latex=(r"\sqrt{", "}"),
    degree=scaling(1 / 2),
)  # fmt: skip

ABS = entry(
    "abs", np.absolute, "size without the sign", powers.AbsoluteValue(1.0), carries_size=True,
    latex=(r"\lvert ", r" \rvert"), aliases=("absolute", "fabs"),
    degree=LINEAR,
)  # fmt: skip

EXP = entry(
    "exp", np.exp, "e to the power x", _EXP, latex=r"\exp",
)  # fmt: skip

MINIMUM = entry(
    "minimum", lambda *x: reduce(np.minimum, x), "the smaller, by element", growth.PICKED,
    parameters=(*PAIR, MORE), carries_size=True, does="selects",
)  # fmt: skip

NUMBERS = (
    ABS,
    entry("sign", np.sign, "1, 0 or −1, as x is above, at or below 0", BY_HULL, aliases=("sgn",)),
    SQRT,
    entry("cbrt", np.cbrt, "cube root", growth.root(3), carries_size=True,
          latex=(r"\sqrt[3]{", "}"), degree=scaling(1 / 3)),
    EXP,
    entry("expm1", np.expm1, "exp(x) − 1", growth.EXPONENTIAL_LESS_ONE),
    entry("log", np.log, "natural logarithm", powers.Logarithm(1.0), latex=r"\log",
          aliases=("ln",)),
    entry("log2", np.log2, "logarithm to base 2", powers.Logarithm(1 / math.log(2.0))),
    entry("log10", np.log10, "logarithm to base 10", powers.Logarithm(1 / math.log(10.0))),
    entry("log1p", np.log1p, "log(1 + x)", powers.LogarithmOfOneMore()),
    entry("xlogy", Special("xlogy"), "x log(y), 0 where x is 0",
          growth.by_norm(powers.times_logarithm), parameters=values("x y")),
    entry("sin", np.sin, "sine", BY_HULL, latex=r"\sin"),
    entry("cos", np.cos, "cosine", BY_HULL, latex=r"\cos"),
    entry("tan", np.tan, "tangent", BY_HULL, latex=r"\tan"),
    entry("arcsin", np.arcsin, "inverse sine", growth.bounded(lambda _: math.pi / 2),
          latex=r"\arcsin", aliases=("asin",)),
    entry("arccos", np.arccos, "inverse cosine", growth.bounded(lambda _: math.pi),
          latex=r"\arccos", aliases=("acos",)),
    entry("arctan", np.arctan, "inverse tangent", BY_HULL, latex=r"\arctan", aliases=("atan",)),
    entry("arctan2", np.arctan2, "angle of the point (x, y), from −pi to pi",
          growth.bounded(lambda _: math.pi), parameters=values("y x"), aliases=("atan2",)),
    entry("sinh", np.sinh, "hyperbolic sine", _BOTH_WAYS, latex=r"\sinh"),
    entry("cosh", np.cosh, "hyperbolic cosine", _BOTH_WAYS, latex=r"\cosh"),
    entry("tanh", np.tanh, "hyperbolic tangent", BY_HULL, latex=r"\tanh"),
    entry("arcsinh", np.arcsinh, "inverse hyperbolic sine", _linear(slope=1.0), aliases=("asinh",)),
    entry("arctanh", np.arctanh, "inverse hyperbolic tangent", BY_HULL, aliases=("atanh",)),
    entry("floor", np.floor, "rounded down", _linear(summand=1.0),
          latex=(r"\lfloor ", r" \rfloor")),
    entry("ceil", np.ceil, "rounded up", _linear(summand=1.0), latex=(r"\lceil ", r" \rceil"),
          aliases=("ceiling",)),
    ROUND,
    entry("clip", lambda x, low, high: np.minimum(np.maximum(x, low), high),
          "x held between low and high", growth.PICKED,
          parameters=values("x low high"), aliases=("clamp",)),
    MINIMUM,
    entry("maximum", lambda *x: reduce(np.maximum, x), "the larger, by element", growth.PICKED,
          parameters=(*PAIR, MORE), carries_size=True, does="selects"),
    entry("relu", lambda x: np.maximum(x, 0.0), "max(x, 0)", _linear(above=True, slope=1.0),
          degree=LINEAR, latex=r"\operatorname{ReLU}"),
    entry("leaky_relu", lambda x, slope: np.where(x > 0, x, slope * x),
          "x above 0, slope · x below", growth.LEAKY,
          parameters=values("x slope"), degree=LINEAR),
    entry("elu", _elu, "x above 0, exp(x) − 1 below: alpha is 1", _linear(above=True, slope=1.0)),
    entry("selu", _selu, "1.0507 · x above 0, 1.7581 · (exp(x) − 1) below",
          _linear(_SELU_SCALE * _SELU_ALPHA, above=True, slope=_SELU_SCALE * _SELU_ALPHA)),
    entry("gelu", lambda x: x * special.ndtr(x),  # Hendrycks & Gimpel, 2016
          "x · Phi(x) itself, not its approximation by tanh",
          _linear(above=True, slope=1.2)),
    entry("silu", lambda x: x * special.expit(x), "x · sigmoid(x)", _linear(above=True, slope=1.2),
          aliases=("swish",)),
    entry("softplus", lambda x: np.logaddexp(x, 0.0), "log(1 + exp(x))",
          _linear(summand=math.log(2.0), above=True, slope=1.0)),
    entry("sigmoid", Special("expit"), "1 / (1 + exp(−x))", growth.share(1.0), aliases=("expit",)),
    entry("logit", Special("logit"), "log(x / (1 − x))", BY_HULL),
    entry("erf", Special("erf"), "error function: 2 · Phi(x · sqrt(2)) − 1", BY_HULL),
    entry("erfc", Special("erfc"), "1 − erf(x)", BY_HULL),
    entry("Phi", Special("ndtr"), "standard normal distribution function",
          growth.share(_HAZARD, 0.5), latex=r"\Phi", aliases=("ndtr", "norm_cdf")),
    entry("phi", lambda x: np.exp(-0.5 * np.square(x)) / _ROOT_2PI, "standard normal density",
          BY_HULL, latex=r"\varphi"),
    entry("gamma", Special("gamma"), "gamma function", BY_HULL),
    entry("lgamma", Special("gammaln"), "log of |gamma(x)|", growth.by_norm(powers.log_gamma)),
    entry("digamma", Special("psi"), "derivative of lgamma", BY_HULL),
    entry("comb", _comb, "ways to choose k of n whole ones; NaN where they are not whole",
          growth.by_norm(powers.choose), parameters=values("n k"), latex=(r"\binom{", "}{", "}"),
          aliases=("binom", "choose")),
    entry("factorial", _factorial, "1 · 2 · … · n; NaN where n is not whole", BY_HULL,
          parameters=values("n"), latex=("", "!")),
)  # fmt: skip
