"""Arithmetic, and the functions of numbers, applied element by element."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from dropcheck.vocabulary import growth, hulls
from dropcheck.vocabulary.function import (
    MORE,
    PAIR,
    Array,
    Function,
    Kernel,
    Parameter,
    Special,
    X,
    cheap,
    usual,
    values,
)
from dropcheck.vocabulary.growth import Growth
from dropcheck.vocabulary.hulls import BoundsRule
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.shapes import Options, Shape, broadcast, elementwise

# ---- kernels that numpy and scipy.special do not have as they are -------------------------------

# each correctly rounded; from 171! on float64 has only infinity
_FACTORIALS = np.array([float(math.factorial(n)) for n in range(171)] + [math.inf])
_ROOT_2PI = math.sqrt(2.0 * math.pi)
# Klambauer et al., Self-Normalizing Neural Networks (2017), equation 14
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def _minimum(*arrays: Array) -> Array:
    return reduce(np.minimum, arrays)


def _maximum(*arrays: Array) -> Array:
    return reduce(np.maximum, arrays)


def _clip(x: Array, low: Array, high: Array) -> Array:
    return np.minimum(np.maximum(x, low), high)


def _relu(x: Array) -> Array:
    return np.maximum(x, 0.0)


def _leaky_relu(x: Array, slope: Array) -> Array:
    return np.where(x > 0, x, slope * x)


def _elu(x: Array) -> Array:
    """The exponential linear unit (Clevert et al., 2015, with α = 1)."""
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0.0)))


def _selu(x: Array) -> Array:
    """The self-normalising unit (Klambauer et al., 2017, equation 2)."""
    below = _SELU_ALPHA * np.expm1(np.minimum(x, 0.0))
    return _SELU_SCALE * np.where(x > 0, x, below)


def _gelu(x: Array) -> Array:
    """Product x Φ(x) (Hendrycks & Gimpel, 2016)."""
    from scipy.special import ndtr

    result: Array = np.multiply(x, ndtr(x))
    return result


def _silu(x: Array) -> Array:
    from scipy.special import expit

    result: Array = np.multiply(x, expit(x))
    return result


def _softplus(x: Array) -> Array:
    return np.logaddexp(x, 0.0)


def _normal_density(x: Array) -> Array:
    return np.exp(-0.5 * x * x) / _ROOT_2PI


def _factorial(n: Array) -> Array:
    known = (n >= 0) & (n == np.floor(n))
    index = np.where(known, np.minimum(n, 171.0), 0.0).astype(np.intp)
    return np.where(known, _FACTORIALS[index], np.nan)


def _comb(n: Array, k: Array) -> Array:
    """Ways to choose k of n ≥ 0; 0 for k outside 0 … n, NaN unless both are whole and finite."""
    from scipy.special import binom

    known = np.isfinite(n) & np.isfinite(k) & (n >= 0) & (n == np.floor(n)) & (k == np.floor(k))
    fewer = np.minimum(k, n - k)
    # over 1000 chosen is at least 2002 over 1001, above 1e600: infinite, whatever binom makes of it
    ways = np.where(fewer > 1000, np.inf, binom(n, fewer))
    ways = np.where(ways < 2.0**53, np.rint(ways), ways)
    return np.where(known, np.where((k < 0) | (k > n), 0.0, ways), np.nan)


def _density(*arrays: Array, law: str) -> Array:
    return LAWS[law].density(arrays[:-1], arrays[-1])


def _log_density(*arrays: Array, law: str) -> Array:
    return LAWS[law].log_density(arrays[:-1], arrays[-1])


# ---- the entries --------------------------------------------------------------------------------


def _sign(name: str, written: str, kernel: Kernel, summary: str, **facts: Any) -> Function:
    return Function(
        name=name,
        summary=summary,
        shape=elementwise,
        kernel=kernel,
        written=written,
        **{"parameters": PAIR, "cost": cheap, **facts},
    )


ADD = _sign(
    *("+", "a + b", np.add, "sum"),
    bounds=hulls.sum_of_two,
    growth=growth.SUM,
    additive=True,
    commutes=True,
)
SUBTRACT = _sign(
    *("-", "a - b", np.subtract, "difference"),
    bounds=hulls.difference,
    growth=growth.SUM,
    additive=True,
)
MULTIPLY = _sign(
    *("*", "a * b", np.multiply, "product"),
    bounds=hulls.product,
    growth=growth.PRODUCT,
    commutes=True,
)
DIVIDE = _sign(
    *("/", "a / b", np.divide, "quotient"),
    bounds=hulls.quotient,
    growth=growth.QUOTIENT,
    divides=True,
)
FLOOR_DIVIDE = _sign(
    *("//", "a // b", np.floor_divide, "quotient, rounded down"),
    bounds=hulls.unknown,
    growth=growth.ANY,
    cost=usual,
    divides=True,
)
MODULO = _sign(
    *("%", "a % b", np.remainder, "remainder, of the divisor's sign"),
    bounds=hulls.unknown,
    growth=growth.ANY,
    cost=usual,
    divides=True,
    elsewhere=("mod", "remainder"),
)
POWER = _sign(  # of float64: an overflow is infinite, a root of a negative number NaN
    *("**", "x**y", np.power, "power"),
    bounds=hulls.power,
    growth=growth.POWER,
    cost=usual,
    elsewhere=("pow", "power"),
)
NEGATIVE = _sign(
    *("negative", "-x", np.negative, "the number with the other sign"),
    parameters=X,
    bounds=hulls.negated,
    growth=growth.SAME_SIZE,
    additive=True,
)

SIGNS = (ADD, SUBTRACT, MULTIPLY, DIVIDE, FLOOR_DIVIDE, MODULO, POWER, NEGATIVE)


def _number(
    name: str,
    kernel: Kernel,
    summary: str,
    parameters: tuple[Parameter, ...] = X,
    *,
    bounds: BoundsRule = hulls.unknown,
    growth: Growth = growth.ANY,
    **more: Any,
) -> Function:
    return Function(
        name=name,
        parameters=parameters,
        summary=summary,
        shape=elementwise,
        kernel=kernel,
        bounds=bounds,
        growth=growth,
        cost=usual,
        **more,
    )


def _rising(
    name: str, kernel: Kernel, summary: str, *, growth: Growth = growth.ANY, **more: Any
) -> Function:
    bounds = hulls.monotone(kernel)
    return _number(name, kernel, summary, bounds=bounds, growth=growth, **more)


_LIKE_X: dict[str, Any] = {"growth": growth.NO_HEAVIER}
_CIRCULAR: dict[str, Any] = {"bounds": hulls.within(-1.0, 1.0), "growth": growth.BOUNDED}
_ERFC, _PHI, _EXPIT = Special("erfc"), Special("ndtr"), Special("expit")

NUMBERS = (
    _number(
        *("abs", np.absolute, "size without the sign"),
        bounds=hulls.magnitude,
        growth=growth.SAME_SIZE,
        carries_size=True,
        latex=(r"\lvert ", r" \rvert"),
        elsewhere=("absolute", "fabs"),
    ),
    _rising(
        *("sign", np.sign, "1, 0 or −1, as x is above, at or below 0"),
        growth=growth.BOUNDED,
        elsewhere=("sgn",),
    ),
    _rising(
        *("sqrt", np.sqrt, "square root"),
        growth=growth.root(2),
        carries_size=True,
        latex=(r"\sqrt{", "}"),
    ),
    _rising(
        *("cbrt", np.cbrt, "cube root"),
        growth=growth.root(3),
        carries_size=True,
        latex=(r"\sqrt[3]{", "}"),
    ),
    _rising("exp", np.exp, "e to the power x", growth=growth.EXPONENTIAL, latex=r"\exp"),
    _rising("expm1", np.expm1, "exp(x) − 1", growth=growth.EXPONENTIAL),
    _rising("log", np.log, "natural logarithm", latex=r"\log", elsewhere=("ln",)),
    _rising("log2", np.log2, "logarithm to base 2"),
    _rising("log10", np.log10, "logarithm to base 10"),
    _rising("log1p", np.log1p, "log(1 + x)"),
    _number(
        *("xlogy", Special("xlogy"), "x log(y), 0 where x is 0", values("x y")),
        bounds=hulls.entropy,
    ),
    _number("sin", np.sin, "sine", **_CIRCULAR, latex=r"\sin"),
    _number("cos", np.cos, "cosine", **_CIRCULAR, latex=r"\cos"),
    _number("tan", np.tan, "tangent", latex=r"\tan"),
    _rising("arcsin", np.arcsin, "inverse sine", latex=r"\arcsin", elsewhere=("asin",)),
    _number(
        *("arccos", np.arccos, "inverse cosine"),
        bounds=hulls.monotone(np.arccos, falling=True),
        latex=r"\arccos",
        elsewhere=("acos",),
    ),
    _rising(
        *("arctan", np.arctan, "inverse tangent"),
        growth=growth.BOUNDED,
        latex=r"\arctan",
        elsewhere=("atan",),
    ),
    _number(
        *("arctan2", np.arctan2, "angle of the point (x, y), from −pi to pi", values("y x")),
        growth=growth.BOUNDED,
        elsewhere=("atan2",),
    ),
    _rising(
        *("sinh", np.sinh, "hyperbolic sine"),
        growth=growth.EXPONENTIAL_BOTH_WAYS,
        latex=r"\sinh",
    ),
    _number(
        *("cosh", np.cosh, "hyperbolic cosine"),
        growth=growth.EXPONENTIAL_BOTH_WAYS,
        latex=r"\cosh",
    ),
    _rising("tanh", np.tanh, "hyperbolic tangent", growth=growth.BOUNDED, latex=r"\tanh"),
    _rising(
        *("arcsinh", np.arcsinh, "inverse hyperbolic sine"),
        growth=growth.NO_HEAVIER,
        elsewhere=("asinh",),
    ),
    _rising("arctanh", np.arctanh, "inverse hyperbolic tangent", elsewhere=("atanh",)),
    _rising(
        *("floor", np.floor, "rounded down"),
        growth=growth.NO_HEAVIER,
        latex=(r"\lfloor ", r" \rfloor"),
    ),
    _rising(
        *("ceil", np.ceil, "rounded up"),
        growth=growth.NO_HEAVIER,
        latex=(r"\lceil ", r" \rceil"),
        elsewhere=("ceiling",),
    ),
    _rising(
        *("round", np.rint, "the nearest whole number, halves to the even one: round(2.5) is 2"),
        growth=growth.NO_HEAVIER,
    ),
    _number(
        *("clip", _clip, "x held between low and high", values("x low high")),
        growth=growth.NO_HEAVIER,
        bounds=hulls.clipped,
        elsewhere=("clamp",),
    ),
    _number(
        *("minimum", _minimum, "the smaller, by element", (*PAIR, MORE)),
        growth=growth.NO_HEAVIER,
        bounds=hulls.smallest,
        carries_size=True,
    ),
    _number(
        *("maximum", _maximum, "the larger, by element", (*PAIR, MORE)),
        growth=growth.NO_HEAVIER,
        bounds=hulls.largest,
        carries_size=True,
    ),
    _rising("relu", _relu, "max(x, 0)", growth=growth.NO_HEAVIER),
    _number(
        *("leaky_relu", _leaky_relu, "x above 0, slope · x below", values("x slope")),
        growth=growth.NO_HEAVIER_BY_FIXED,
    ),
    _number("elu", _elu, "x above 0, exp(x) − 1 below: alpha is 1", **_LIKE_X),
    _number("selu", _selu, "1.0507 · x above 0, 1.7581 · (exp(x) − 1) below", **_LIKE_X),
    _number("gelu", _gelu, "x · Phi(x) itself, not its approximation by tanh", **_LIKE_X),
    _number("silu", _silu, "x · sigmoid(x)", **_LIKE_X, elsewhere=("swish",)),
    _rising("softplus", _softplus, "log(1 + exp(x))", growth=growth.NO_HEAVIER),
    _rising(*("sigmoid", _EXPIT, "1 / (1 + exp(−x))"), growth=growth.BOUNDED, elsewhere=("expit",)),
    _rising("logit", Special("logit"), "log(x / (1 − x))"),
    _rising(
        *("erf", Special("erf"), "error function: 2 · Phi(x · sqrt(2)) − 1"),
        growth=growth.BOUNDED,
    ),
    _number(
        *("erfc", _ERFC, "1 − erf(x)"),
        bounds=hulls.monotone(_ERFC, falling=True),
        growth=growth.BOUNDED,
    ),
    _rising(
        *("Phi", _PHI, "standard normal distribution function"),
        growth=growth.BOUNDED,
        latex=r"\Phi",
        elsewhere=("ndtr", "norm_cdf"),
    ),
    _number(
        *("phi", _normal_density, "standard normal density"),
        bounds=hulls.within(0.0, 1 / _ROOT_2PI),
        growth=growth.BOUNDED,
        latex=r"\varphi",
    ),
    _number("gamma", Special("gamma"), "gamma function"),
    _number("lgamma", Special("gammaln"), "log of |gamma(x)|"),
    _number("digamma", Special("psi"), "derivative of lgamma"),
    _number(
        *("comb", _comb, "ways to choose k of n whole ones; NaN where they are not whole"),
        values("n k"),
        latex=(r"\binom{", "}{", "}"),
        elsewhere=("binom", "choose"),
    ),
    _number(
        *("factorial", _factorial, "1 · 2 · … · n; NaN where n is not whole", values("n")),
        latex=("", "!"),
    ),
)


def _by_law(shapes: tuple[Shape, ...], _options: Options) -> Shape:
    """The shape of the density of a law of numbers; of others their own axes are taken away."""
    return broadcast(shapes)


def _of_law(name: str, kernel: Kernel, summary: str) -> Function:
    return replace(_number(name, kernel, summary, values("law x")), shape=_by_law)


DENSITIES = (
    _of_law("density", _density, "the density of a law at x, or the probability of x"),
    _of_law("logdensity", _log_density, "the natural logarithm of the density"),
)
