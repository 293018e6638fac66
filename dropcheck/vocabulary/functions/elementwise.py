"""Arithmetic, and the functions of numbers, applied element by element."""

from __future__ import annotations

import math
import operator
from functools import reduce
from typing import Any

import numpy as np

from dropcheck.vocabulary import defined_where, growth, hulls, jumps, smoothness, special
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
from dropcheck.vocabulary.hulls import rising, unknown
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
    # with more than 1000 chosen it is at least 2002 over 1001, above 1e600, and overflows
    ways = np.where(fewer > 1000, np.inf, special.binom(n, fewer))
    ways = np.where(ways < 2.0**53, np.rint(ways), ways)
    return np.where(known, np.where((k < 0) | (k > n), 0.0, ways), np.nan)


# ---- the entries --------------------------------------------------------------------------------


def _sign(written: str, name: str, *facts: Any, **more: Any) -> Function:
    return entry(name, *facts, **{"written": written, "parameters": PAIR, "cost": cheap, **more})


ADD = _sign("a + b", "+", np.add, "sum", hulls.sum_of_two, sums.Sum(1.0),
            additive=True, commutes=True, carries_size=True, ranges=smoothness.add,
            polynomial=operator.add,
            defined=defined_where.SUM_OF_TWO)  # fmt: skip
SUBTRACT = _sign("a - b", "-", np.subtract, "difference", hulls.difference, sums.Sum(-1.0),
                 additive=True, ranges=smoothness.subtract, polynomial=operator.sub,
                 defined=defined_where.DIFFERENCE)  # fmt: skip
MULTIPLY = _sign("a * b", "*", np.multiply, "product", hulls.product, growth.PRODUCT, commutes=True,
                 bilinear=True, carries_size=True, ranges=smoothness.multiply,
                 polynomial=operator.mul, defined=defined_where.PRODUCT)  # fmt: skip
DIVIDE = _sign("a / b", "/", np.divide, "quotient", hulls.quotient, growth.QUOTIENT, divides=True,
               jumps=jumps.AtZero((1,)), ranges=smoothness.divide, polynomial=operator.truediv,
               defined=defined_where.QUOTIENT)  # fmt: skip
FLOOR_DIVIDE = _sign(
    "a // b", "//", np.floor_divide, "quotient, rounded down", unknown,
    growth.by_norm(powers.whole_quotient),
    cost=usual, divides=True, ranges=smoothness.floor_divide, jumps=jumps.whole_quotient,
    defined=defined_where.WHOLE_QUOTIENT,
)  # fmt: skip
MODULO = _sign(
    "a % b", "%", np.remainder, "remainder, of the divisor's sign", unknown,
    growth.by_norm(powers.remainder),
    cost=usual, divides=True, aliases=("mod", "remainder"), ranges=smoothness.modulo,
    jumps=jumps.whole_quotient,
    defined=defined_where.REMAINDER,
)  # fmt: skip
# as in float64: an overflow is infinite, a root of a negative number is NaN
POWER = _sign(
    "x**y", "**", power, "power", hulls.power, growth.POWER,
    cost=usual, aliases=("pow", "power"), ranges=smoothness.power, polynomial=operator.pow,
    defined=defined_where.POWER,
)  # fmt: skip
NEGATIVE = _sign(
    "-x", "negative", np.negative, "the number with the other sign", hulls.negated,
    powers.Negated(1.0),
    parameters=X, additive=True, ranges=smoothness.negate, polynomial=operator.neg,
    defined=defined_where.NEGATIVE,
)  # fmt: skip

ARITHMETIC_SIGNS = (ADD, SUBTRACT, MULTIPLY, DIVIDE, FLOOR_DIVIDE, MODULO, POWER, NEGATIVE)

# a bound of phi(t) / Phi(-t) - t for t >= 0: this ratio, the hazard of a normal law, rises from
# √(2/π) with a slope below 1 (Sampford 1953, Annals of Mathematical Statistics 24, 130-132)
_HAZARD = math.sqrt(2.0 / math.pi)
_BALL = hulls.within(-1.0, 1.0)
_EXP, _BOTH_WAYS = growth.EXPONENTIAL, growth.EXPONENTIAL_BOTH_WAYS
_linear = growth.linear


ROUND = entry(
    "round", np.rint, "the nearest whole number, halves to the even one: round(2.5) is 2; to a "
    "format of numbers: round(x, float32)",
    rising, _linear(summand=0.5), jumps=jumps.whole, ranges=smoothness.steps(np.rint),
    defined=defined_where.WHOLE,
)  # fmt: skip
SQRT = entry(
    "sqrt", np.sqrt, "square root", rising, growth.root(2),
    carries_size=True, latex=(r"\sqrt{", "}"), ranges=smoothness.SQRT, square=lambda x: x,
    degree=scaling(1 / 2),
    defined=defined_where.ROOT,
)  # fmt: skip

ABS = entry(
    "abs", np.absolute, "size without the sign", hulls.magnitude,
    powers.AbsoluteValue(1.0),
    carries_size=True, latex=(r"\lvert ", r" \rvert"), aliases=("absolute", "fabs"),
    ranges=smoothness.absolute, square=lambda x: x * x,
    degree=LINEAR, defined=defined_where.SIZE,
)  # fmt: skip

EXP = entry(
    "exp", np.exp, "e to the power x", rising, _EXP, latex=r"\exp", ranges=smoothness.EXP_RANGES,
    defined=defined_where.ABOVE_ZERO,
)  # fmt: skip

MINIMUM = entry(
    "minimum", lambda *x: reduce(np.minimum, x), "the smaller, by element", hulls.smallest,
    growth.PICKED, parameters=(*PAIR, MORE), carries_size=True, ranges=smoothness.smallest,
    piecewise=True, homogeneous=True, defined=defined_where.PICKED,
)  # fmt: skip

NUMBERS = (
    ABS,
    entry("sign", np.sign, "1, 0 or −1, as x is above, at or below 0", rising, BY_HULL,
          aliases=("sgn",), jumps=jumps.whole, ranges=smoothness.steps(np.sign),
          defined=defined_where.SIZE),
    SQRT,
    entry("cbrt", np.cbrt, "cube root", rising, growth.root(3),
          carries_size=True, latex=(r"\sqrt[3]{", "}"), ranges=smoothness.CBRT,
          degree=scaling(1 / 3),
          defined=defined_where.CUBE_ROOT),
    EXP,
    entry("expm1", np.expm1, "exp(x) − 1", rising,
          growth.EXPONENTIAL_LESS_ONE, ranges=smoothness.EXP_RANGES,
          defined=defined_where.ENTIRE_THROUGH_ZERO),
    entry("log", np.log, "natural logarithm", rising, powers.Logarithm(1.0),
          latex=r"\log", aliases=("ln",),
          ranges=smoothness.LOG,
          jumps=jumps.AtZero((0,)), defined=defined_where.LOGARITHM),
    entry("log2", np.log2, "logarithm to base 2", rising, powers.Logarithm(1 / math.log(2.0)),
          ranges=smoothness.LOG2,
          jumps=jumps.AtZero((0,)), defined=defined_where.LOGARITHM),
    entry("log10", np.log10, "logarithm to base 10", rising, powers.Logarithm(1 / math.log(10.0)),
          ranges=smoothness.LOG10,
          jumps=jumps.AtZero((0,)), defined=defined_where.LOGARITHM),
    entry("log1p", np.log1p, "log(1 + x)", rising,
          powers.LogarithmOfOneMore(), ranges=smoothness.LOG1P,
          defined=defined_where.LOGARITHM_OF_ONE_MORE),
    entry("xlogy", Special("xlogy"), "x log(y), 0 where x is 0", hulls.entropy,
          growth.by_norm(powers.times_logarithm),
          parameters=values("x y"), ranges=smoothness.x_log_y,
          defined=defined_where.TIMES_LOGARITHM),
    entry("sin", np.sin, "sine", _BALL, BY_HULL, latex=r"\sin", ranges=smoothness.WAVE,
          defined=defined_where.ENTIRE),
    entry("cos", np.cos, "cosine", _BALL, BY_HULL, latex=r"\cos", ranges=smoothness.WAVE,
          defined=defined_where.ENTIRE),
    entry("tan", np.tan, "tangent", unknown, BY_HULL, latex=r"\tan",
          defined=defined_where.TANGENT),
    entry("arcsin", np.arcsin, "inverse sine", rising, growth.bounded(lambda _: math.pi / 2),
          latex=r"\arcsin", aliases=("asin",), ranges=smoothness.ARCSIN,
          defined=defined_where.ARC_SINE),
    entry("arccos", np.arccos, "inverse cosine", hulls.falling, growth.bounded(lambda _: math.pi),
          latex=r"\arccos", aliases=("acos",), ranges=smoothness.ARCCOS,
          defined=defined_where.ARC_COSINE),
    entry("arctan", np.arctan, "inverse tangent", rising, BY_HULL,
          latex=r"\arctan", aliases=("atan",), ranges=smoothness.ARCTAN,
          defined=defined_where.ENTIRE_THROUGH_ZERO),
    entry("arctan2", np.arctan2, "angle of the point (x, y), from −pi to pi", unknown,
          growth.bounded(lambda _: math.pi),
          parameters=values("y x"), aliases=("atan2",)),
    entry("sinh", np.sinh, "hyperbolic sine", rising, _BOTH_WAYS, latex=r"\sinh",
          ranges=smoothness.SINH,
          defined=defined_where.ENTIRE_THROUGH_ZERO),
    entry("cosh", np.cosh, "hyperbolic cosine", unknown, _BOTH_WAYS, latex=r"\cosh",
          ranges=smoothness.COSH,
          defined=defined_where.ABOVE_ZERO),
    entry("tanh", np.tanh, "hyperbolic tangent", rising, BY_HULL, latex=r"\tanh",
          ranges=smoothness.TANH,
          defined=defined_where.ENTIRE_THROUGH_ZERO),
    entry("arcsinh", np.arcsinh, "inverse hyperbolic sine", rising, _linear(slope=1.0),
          aliases=("asinh",), ranges=smoothness.ARCSINH,
          defined=defined_where.ENTIRE_THROUGH_ZERO),
    entry("arctanh", np.arctanh, "inverse hyperbolic tangent", rising, BY_HULL,
          aliases=("atanh",), ranges=smoothness.ARCTANH,
          defined=defined_where.ARC_TANGENT_HYPERBOLIC),
    entry("floor", np.floor, "rounded down", rising, _linear(summand=1.0),
          latex=(r"\lfloor ", r" \rfloor"), jumps=jumps.whole, ranges=smoothness.steps(np.floor),
          defined=defined_where.WHOLE),
    entry("ceil", np.ceil, "rounded up", rising, _linear(summand=1.0),
          latex=(r"\lceil ", r" \rceil"), aliases=("ceiling",), jumps=jumps.whole,
          ranges=smoothness.steps(np.ceil), defined=defined_where.WHOLE),
    ROUND,
    entry("clip", lambda x, low, high: np.minimum(np.maximum(x, low), high),
          "x held between low and high", hulls.clipped, growth.PICKED,
          parameters=values("x low high"), aliases=("clamp",), ranges=smoothness.clip,
          piecewise=True,
          defined=defined_where.PICKED),
    MINIMUM,
    entry("maximum", lambda *x: reduce(np.maximum, x), "the larger, by element", hulls.largest,
          growth.PICKED, parameters=(*PAIR, MORE), carries_size=True, ranges=smoothness.largest,
          piecewise=True, homogeneous=True,
          defined=defined_where.PICKED),
    entry("relu", lambda x: np.maximum(x, 0.0), "max(x, 0)", rising,
          _linear(above=True, slope=1.0), ranges=smoothness.positive_part,
          piecewise=True, degree=LINEAR, latex=r"\operatorname{ReLU}",
          defined=defined_where.POSITIVE_PART),
    entry("leaky_relu", lambda x, slope: np.where(x > 0, x, slope * x),
          "x above 0, slope · x below", unknown, growth.LEAKY,
          parameters=values("x slope"), ranges=smoothness.leaky,
          piecewise=True, degree=LINEAR),
    entry("elu", _elu, "x above 0, exp(x) − 1 below: alpha is 1", unknown,
          _linear(above=True, slope=1.0), ranges=smoothness.exponential_unit()),
    entry("selu", _selu, "1.0507 · x above 0, 1.7581 · (exp(x) − 1) below", unknown,
          _linear(_SELU_SCALE * _SELU_ALPHA, above=True, slope=_SELU_SCALE * _SELU_ALPHA),
          ranges=smoothness.exponential_unit(_SELU_SCALE, _SELU_ALPHA)),
    entry("gelu", lambda x: x * special.ndtr(x),  # Hendrycks & Gimpel, 2016
          "x · Phi(x) itself, not its approximation by tanh", unknown,
          _linear(above=True, slope=1.2), ranges=smoothness.GELU,
          defined=defined_where.ENTIRE),
    entry("silu", lambda x: x * special.expit(x), "x · sigmoid(x)", unknown,
          _linear(above=True, slope=1.2), aliases=("swish",), ranges=smoothness.SILU,
          defined=defined_where.ENTIRE),
    entry("softplus", lambda x: np.logaddexp(x, 0.0), "log(1 + exp(x))", rising,
          _linear(summand=math.log(2.0), above=True, slope=1.0), ranges=smoothness.SOFTPLUS,
          defined=defined_where.ABOVE_ZERO),
    entry("sigmoid", Special("expit"), "1 / (1 + exp(−x))", rising, growth.share(1.0),
          aliases=("expit",), ranges=smoothness.SIGMOID,
          defined=defined_where.ABOVE_ZERO),
    entry("logit", Special("logit"), "log(x / (1 − x))", rising, BY_HULL, ranges=smoothness.LOGIT,
          jumps=jumps.AtZero((0,)), defined=defined_where.LOGIT),
    entry("erf", Special("erf"), "error function: 2 · Phi(x · sqrt(2)) − 1", rising, BY_HULL,
          ranges=smoothness.ERF,
          defined=defined_where.ENTIRE_THROUGH_ZERO),
    entry("erfc", Special("erfc"), "1 − erf(x)", hulls.falling, BY_HULL, ranges=smoothness.ERFC,
          defined=defined_where.ABOVE_ZERO),
    entry("Phi", Special("ndtr"), "standard normal distribution function", rising,
          growth.share(_HAZARD, 0.5),
          latex=r"\Phi", aliases=("ndtr", "norm_cdf"), ranges=smoothness.NORMAL_DISTRIBUTION,
          defined=defined_where.ABOVE_ZERO),
    entry("phi", lambda x: np.exp(-0.5 * x * x) / _ROOT_2PI, "standard normal density",
          hulls.within(0.0, 1 / _ROOT_2PI), BY_HULL, latex=r"\varphi",
          ranges=smoothness.NORMAL_DENSITY,
          defined=defined_where.ABOVE_ZERO),
    entry("gamma", Special("gamma"), "gamma function", unknown, BY_HULL,
          jumps=jumps.whole, defined=defined_where.GAMMA),
    entry("lgamma", Special("gammaln"), "log of |gamma(x)|", unknown,
          growth.by_norm(powers.log_gamma),
          jumps=jumps.whole, defined=defined_where.LOG_GAMMA),
    entry("digamma", Special("psi"), "derivative of lgamma", unknown, BY_HULL,
          jumps=jumps.whole, defined=defined_where.LOG_GAMMA),
    entry("comb", _comb, "ways to choose k of n whole ones; NaN where they are not whole",
          unknown, growth.by_norm(powers.choose),
          parameters=values("n k"), latex=(r"\binom{", "}{", "}"),
          aliases=("binom", "choose"),
          jumps=jumps.whole, defined=defined_where.WAYS),
    entry("factorial", _factorial, "1 · 2 · … · n; NaN where n is not whole", unknown, BY_HULL,
          parameters=values("n"), latex=("", "!"),
          jumps=jumps.whole, defined=defined_where.WAYS),
)  # fmt: skip
