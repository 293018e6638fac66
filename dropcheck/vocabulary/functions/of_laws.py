"""Functions of a law and a value: density, distribution function and quantile.

Each takes a law first, as it is written right of `~`, then the value or the level.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dropcheck.vocabulary.function import Array, Function, Kernel, monotone, of_arrays, values
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS

# A relative error that functions of laws may have: the ends of hulls are moved outward by it.
_ROUNDING = 1e-9

# ---- kernels ------------------------------------------------------------------------------------


def _asked(method: Callable[..., Any], *, of_levels: bool = False) -> Kernel:
    """The kernel for a method of `Distribution`, which takes lists on the last axis."""

    def kernel(*arrays: Array, law: str) -> Array:
        *given, x = arrays
        pairs = zip(given, LAWS[law].parameters, strict=True)
        arguments = [np.moveaxis(a, -2, -1) if one.axes else a for a, one in pairs]
        return np.asarray(method(LAWS[law], x, *arguments), dtype=np.float64)

    return monotone(kernel, _ROUNDING, (0.0, 1.0) if of_levels else (-math.inf, math.inf))


def _density_of(method: Callable[..., Any]) -> Kernel:
    """The kernel for `Law.density` or its logarithm; of an enclosure, inside the law's ends."""

    def kernel(*arrays: Any, law: str) -> Any:
        *given, x = arrays
        of = LAWS[law]
        if not hasattr(x, "by_ends"):
            return method(of, given, x)
        low, high = of.ends_at(given)
        if of.discrete or of.own_axes is not None or not np.all((x.low >= low) & (x.high <= high)):
            raise TypeError(f"nothing is known of the density of {of.name!r}")
        inside = of.log_density_inside(x, *given)
        return inside if method is Law.log_density else np.exp(inside)

    return kernel


# ---- the entries --------------------------------------------------------------------------------


def _of_law(name: str, kernel: Kernel, summary: str, **more: Any) -> Function:
    return of_arrays(name, kernel, summary, **{"parameters": values("law x"), **more})


DENSITY = _of_law("density", _density_of(Law.density),
                   "the density of a law at x, or the probability of x where the law is discrete",
                   aliases=("pmf",))  # fmt: skip
LOG_DENSITY = _of_law("logdensity", _density_of(Law.log_density),
                      "the natural logarithm of the density",
                      aliases=("logpdf", "logpmf"))  # fmt: skip

ALL = (
    DENSITY,
    LOG_DENSITY,
    _of_law("cdf", _asked(Law.cdf), "the probability of a value of at most x",
            aliases=("distribution_function",)),
    _of_law("survival", _asked(Law.survival),
            "the probability of a value above x, with its digits however small it is",
            aliases=("ccdf", "sf")),
    _of_law("quantile_of", _asked(Law.quantile, of_levels=True),
            "the least value with `cdf` at least u",
            parameters=values("law u"),
            aliases=("icdf", "inverse_cdf", "isf", "percentile", "ppf")),
)  # fmt: skip
