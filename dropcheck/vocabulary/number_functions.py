"""The functions of numbers, applied element by element."""

from __future__ import annotations

from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.entries import Function, Parameter
from dropcheck.vocabulary.kernels.elementwise import ATOL, RTOL
from dropcheck.vocabulary.signatures import MORE, PAIR, X, option, value


def _elementwise(
    name: str,
    kernel: str,
    summary: str,
    parameters: tuple[Parameter, ...] = X,
    *,
    truth: bool = False,
    takes_truth: bool = False,
) -> Function:
    return Function(name, parameters, shapes.elementwise, kernel, summary, truth, takes_truth)


_NUMBERS = (
    _elementwise("abs", "numpy.absolute", "size without the sign"),
    _elementwise("sign", "numpy.sign", "1, 0 or −1, as x is above, at or below 0"),
    _elementwise("sqrt", "numpy.sqrt", "square root"),
    _elementwise("cbrt", "numpy.cbrt", "cube root"),
    _elementwise("exp", "numpy.exp", "e to the power x"),
    _elementwise("expm1", "numpy.expm1", "exp(x) − 1"),
    _elementwise("log", "numpy.log", "natural logarithm"),
    _elementwise("log2", "numpy.log2", "logarithm to base 2"),
    _elementwise("log10", "numpy.log10", "logarithm to base 10"),
    _elementwise("log1p", "numpy.log1p", "log(1 + x)"),
    _elementwise(
        "xlogy",
        "scipy.special.xlogy",
        "x log(y), 0 where x is 0",
        (value("x"), value("y")),
    ),
    _elementwise("sin", "numpy.sin", "sine"),
    _elementwise("cos", "numpy.cos", "cosine"),
    _elementwise("tan", "numpy.tan", "tangent"),
    _elementwise("arcsin", "numpy.arcsin", "inverse sine"),
    _elementwise("arccos", "numpy.arccos", "inverse cosine"),
    _elementwise("arctan", "numpy.arctan", "inverse tangent"),
    _elementwise(
        "arctan2",
        "numpy.arctan2",
        "angle of the point (x, y), from −pi to pi",
        (value("y"), value("x")),
    ),
    _elementwise("sinh", "numpy.sinh", "hyperbolic sine"),
    _elementwise("cosh", "numpy.cosh", "hyperbolic cosine"),
    _elementwise("tanh", "numpy.tanh", "hyperbolic tangent"),
    _elementwise("arcsinh", "numpy.arcsinh", "inverse hyperbolic sine"),
    _elementwise("arctanh", "numpy.arctanh", "inverse hyperbolic tangent"),
    _elementwise("floor", "numpy.floor", "rounded down"),
    _elementwise("ceil", "numpy.ceil", "rounded up"),
    _elementwise(
        "round",
        "numpy.rint",
        "the nearest whole number, halves to the even one: round(2.5) is 2",
    ),
    _elementwise(
        "clip",
        "kernels.clip",
        "x held between low and high",
        (value("x"), value("low"), value("high")),
    ),
    _elementwise(
        "where",
        "kernels.conditional",
        "a where c holds, else b",
        (value("c"), *PAIR),
        takes_truth=True,
    ),
    _elementwise("minimum", "kernels.minimum", "the smaller, by element", (*PAIR, MORE)),
    _elementwise("maximum", "kernels.maximum", "the larger, by element", (*PAIR, MORE)),
    _elementwise(
        "isclose",
        "kernels.isclose",
        "whether |a − b| ≤ max(rtol · max(|a|, |b|), atol)",
        (*PAIR, option("rtol", RTOL), option("atol", ATOL)),
        truth=True,
    ),
    _elementwise("isfinite", "numpy.isfinite", "neither NaN nor infinite", truth=True),
)

_SPECIAL = (
    _elementwise("relu", "kernels.relu", "max(x, 0)"),
    _elementwise(
        "leaky_relu",
        "kernels.leaky_relu",
        "x above 0, slope · x below",
        (value("x"), value("slope")),
    ),
    _elementwise("elu", "kernels.elu", "x above 0, exp(x) − 1 below: alpha is 1"),
    _elementwise("selu", "kernels.selu", "1.0507 · x above 0, 1.7581 · (exp(x) − 1) below"),
    _elementwise("gelu", "kernels.gelu", "x · Phi(x) itself, not its approximation by tanh"),
    _elementwise("silu", "kernels.silu", "x · sigmoid(x)"),
    _elementwise("softplus", "kernels.softplus", "log(1 + exp(x))"),
    _elementwise("sigmoid", "scipy.special.expit", "1 / (1 + exp(−x))"),
    _elementwise("logit", "scipy.special.logit", "log(x / (1 − x))"),
    _elementwise("erf", "scipy.special.erf", "error function: 2 · Phi(x · sqrt(2)) − 1"),
    _elementwise("erfc", "scipy.special.erfc", "1 − erf(x)"),
    _elementwise(
        "Phi",
        "scipy.special.ndtr",
        "standard normal distribution function",
    ),
    _elementwise("phi", "kernels.normal_density", "standard normal density"),
    _elementwise("gamma", "scipy.special.gamma", "gamma function"),
    _elementwise("lgamma", "scipy.special.gammaln", "log of |gamma(x)|"),
    _elementwise("digamma", "scipy.special.psi", "derivative of lgamma"),
    _elementwise(
        "comb",
        "kernels.comb",
        "ways to choose k of n whole ones; NaN where they are not whole",
        (value("n"), value("k")),
    ),
    _elementwise(
        "factorial",
        "kernels.factorial",
        "1 · 2 · … · n; NaN where n is not whole",
        (value("n"),),
    ),
)

NUMBER_FUNCTIONS = (*_NUMBERS, *_SPECIAL)
