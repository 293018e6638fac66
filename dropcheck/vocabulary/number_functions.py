"""The functions of numbers, applied element by element, each with its twin in pure Python."""

from __future__ import annotations

import math
from collections.abc import Callable

from dropcheck.vocabulary import plain_functions as scalars
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.entries import Function, Parameter
from dropcheck.vocabulary.plain_functions import total
from dropcheck.vocabulary.signatures import MORE, PAIR, X, option, value

Scalar = Callable[..., float]


def _elementwise(
    name: str,
    kernel: str,
    summary: str,
    scalar: Scalar,
    parameters: tuple[Parameter, ...] = X,
    *,
    truth: bool = False,
    takes_truth: bool = False,
) -> Function:
    return Function(
        name, parameters, shapes.elementwise, kernel, summary, scalar, truth, takes_truth
    )


_NUMBERS = (
    _elementwise("abs", "numpy.absolute", "size without the sign", abs),
    _elementwise("sign", "numpy.sign", "1, 0 or −1, as x is above, at or below 0", scalars.sign),
    _elementwise("sqrt", "numpy.sqrt", "square root", total(math.sqrt)),
    _elementwise("cbrt", "numpy.cbrt", "cube root", math.cbrt),
    _elementwise("exp", "numpy.exp", "e to the power x", scalars.exp),
    _elementwise("expm1", "numpy.expm1", "exp(x) − 1", total(math.expm1)),
    _elementwise("log", "numpy.log", "natural logarithm", scalars.log),
    _elementwise("log2", "numpy.log2", "logarithm to base 2", scalars.log2),
    _elementwise("log10", "numpy.log10", "logarithm to base 10", scalars.log10),
    _elementwise("log1p", "numpy.log1p", "log(1 + x)", scalars.log1p),
    _elementwise(
        "xlogy",
        "scipy.special.xlogy",
        "x log(y), 0 where x is 0",
        scalars.xlogy,
        (value("x"), value("y")),
    ),
    _elementwise("sin", "numpy.sin", "sine", total(math.sin)),
    _elementwise("cos", "numpy.cos", "cosine", total(math.cos)),
    _elementwise("tan", "numpy.tan", "tangent", total(math.tan)),
    _elementwise("arcsin", "numpy.arcsin", "inverse sine", total(math.asin)),
    _elementwise("arccos", "numpy.arccos", "inverse cosine", total(math.acos)),
    _elementwise("arctan", "numpy.arctan", "inverse tangent", math.atan),
    _elementwise(
        "arctan2",
        "numpy.arctan2",
        "angle of the point (x, y), from −pi to pi",
        math.atan2,
        (value("y"), value("x")),
    ),
    _elementwise("sinh", "numpy.sinh", "hyperbolic sine", scalars.sinh),
    _elementwise("cosh", "numpy.cosh", "hyperbolic cosine", total(math.cosh)),
    _elementwise("tanh", "numpy.tanh", "hyperbolic tangent", math.tanh),
    _elementwise("arcsinh", "numpy.arcsinh", "inverse hyperbolic sine", math.asinh),
    _elementwise("arctanh", "numpy.arctanh", "inverse hyperbolic tangent", scalars.arctanh),
    _elementwise("floor", "numpy.floor", "rounded down", scalars.floor),
    _elementwise("ceil", "numpy.ceil", "rounded up", scalars.ceil),
    _elementwise(
        "round",
        "numpy.rint",
        "the nearest whole number, halves to the even one: round(2.5) is 2",
        scalars.round_half_even,
    ),
    _elementwise(
        "clip",
        "kernels.clip",
        "x held between low and high",
        scalars.clip,
        (value("x"), value("low"), value("high")),
    ),
    _elementwise(
        "where",
        "kernels.conditional",
        "a where c holds, else b",
        scalars.where,
        (value("c"), *PAIR),
        takes_truth=True,
    ),
    _elementwise(
        "minimum", "kernels.minimum", "the smaller, by element", scalars.minimum, (*PAIR, MORE)
    ),
    _elementwise(
        "maximum", "kernels.maximum", "the larger, by element", scalars.maximum, (*PAIR, MORE)
    ),
    _elementwise(
        "isclose",
        "kernels.isclose",
        "whether |a − b| ≤ max(rtol · max(|a|, |b|), atol)",
        scalars.isclose,
        (*PAIR, option("rtol", scalars.RTOL), option("atol", scalars.ATOL)),
        truth=True,
    ),
    _elementwise(
        "isfinite", "numpy.isfinite", "neither NaN nor infinite", scalars.isfinite, truth=True
    ),
)

_SPECIAL = (
    _elementwise("relu", "kernels.relu", "max(x, 0)", scalars.relu),
    _elementwise(
        "leaky_relu",
        "kernels.leaky_relu",
        "x above 0, slope · x below",
        scalars.leaky_relu,
        (value("x"), value("slope")),
    ),
    _elementwise("elu", "kernels.elu", "x above 0, exp(x) − 1 below: alpha is 1", scalars.elu),
    _elementwise(
        "selu", "kernels.selu", "1.0507 · x above 0, 1.7581 · (exp(x) − 1) below", scalars.selu
    ),
    _elementwise(
        "gelu", "kernels.gelu", "x · Phi(x) itself, not its approximation by tanh", scalars.gelu
    ),
    _elementwise("silu", "kernels.silu", "x · sigmoid(x)", scalars.silu),
    _elementwise("softplus", "kernels.softplus", "log(1 + exp(x))", scalars.softplus),
    _elementwise("sigmoid", "scipy.special.expit", "1 / (1 + exp(−x))", scalars.sigmoid),
    _elementwise("logit", "scipy.special.logit", "log(x / (1 − x))", scalars.logit),
    _elementwise("erf", "scipy.special.erf", "error function: 2 · Phi(x · sqrt(2)) − 1", math.erf),
    _elementwise("erfc", "scipy.special.erfc", "1 − erf(x)", math.erfc),
    _elementwise(
        "Phi",
        "scipy.special.ndtr",
        "standard normal distribution function",
        scalars.normal_distribution,
    ),
    _elementwise(
        "phi", "kernels.normal_density", "standard normal density", scalars.normal_density
    ),
    _elementwise("gamma", "scipy.special.gamma", "gamma function", scalars.gamma),
    _elementwise("lgamma", "scipy.special.gammaln", "log of |gamma(x)|", scalars.lgamma_or_inf),
    _elementwise("digamma", "scipy.special.psi", "derivative of lgamma", scalars.digamma),
    _elementwise(
        "comb",
        "kernels.comb",
        "ways to choose k of n whole ones; NaN where they are not whole",
        scalars.comb,
        (value("n"), value("k")),
    ),
    _elementwise(
        "factorial",
        "kernels.factorial",
        "1 · 2 · … · n; NaN where n is not whole",
        scalars.factorial,
        (value("n"),),
    ),
)

NUMBER_FUNCTIONS = (*_NUMBERS, *_SPECIAL)
