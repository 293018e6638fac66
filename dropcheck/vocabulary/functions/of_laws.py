"""Functions of a law and a value: density, distribution function and quantile.

Each takes a law first, as it is written right of `~`, then the value or the level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dropcheck.vocabulary.defined_where import DefinedWhere, Known
from dropcheck.vocabulary.function import Array, Function, Kernel, entry, monotone, values
from dropcheck.vocabulary.growth import BY_HULL
from dropcheck.vocabulary.hulls import BoundsRule, Hull, Use, within
from dropcheck.vocabulary.law import Law, arguments_fit, inside_support
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.shapes import broadcast

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


# ---- where the values lie -----------------------------------------------------------------------


def _law_of(kernel: Kernel) -> Law:
    # the law is an option, and the kernel of a use has the options as keywords
    return LAWS[kernel.keywords["law"]]  # type: ignore[attr-defined]  # a partial


def _plain_arguments(given: Sequence[Hull]) -> list[float] | None:
    """The arguments of a law if all are fixed numbers, else None."""
    known = all(one.low == one.high for one in given)
    return [one.low for one in given] if known else None


def _at(kernel: Kernel, arguments: Sequence[float], points: Sequence[float]) -> list[float]:
    """The values of the function at some points, for fixed arguments of the law."""
    numbers = [np.array([one]) for one in arguments]
    return [float(one) for one in kernel(*numbers, np.array(points))]


def _density_bounds(*, logarithm: bool) -> BoundsRule:
    """The rule of a density, which is greatest at the law's mode and falls on both sides."""
    least = -math.inf if logarithm else 0.0

    def rule(hulls: Sequence[Hull], use: Use) -> Hull:
        *given, x = hulls
        law, arguments = _law_of(use.kernel), _plain_arguments(given)
        if law.discrete and law.own_axes is None:
            return Hull(least, 0.0 if logarithm else 1.0)
        mode = math.nan if arguments is None else law.mode(*arguments)
        if arguments is None or math.isnan(mode):
            return Hull(least, math.inf)
        nearest = min(max(mode, x.low), x.high)
        low, high, most = _at(use.kernel, arguments, [x.low, x.high, nearest])
        if any(map(math.isnan, (low, high, most))):
            return Hull(least, math.inf)
        give = _ROUNDING * max(1.0, abs(most)) if logarithm else _ROUNDING * most
        bottom = min(low, high)
        return Hull(max(bottom - _ROUNDING * max(abs(bottom), 1.0), least), most + give)

    return rule


# ---- where there are values ---------------------------------------------------------------------


def _taken(arguments: Sequence[Known], use: Use) -> int:
    """How sure it is that the law takes its arguments."""
    return arguments_fit(_law_of(use.kernel), arguments[:-1], apart=True)


def _in_support(arguments: Sequence[Known], use: Use) -> int:
    """How sure it is that the logarithm of the density is finite."""
    *given, x = arguments
    return inside_support(_law_of(use.kernel), given, x)


def _level(arguments: Sequence[Known], use: Use) -> int:
    """How sure it is that the quantile is finite: at levels 0 and 1 only for laws with ends."""
    ends = _law_of(use.kernel).ends
    open_ends = callable(ends) or not Hull(*ends).bounded
    level = arguments[-1].inside(0.0, 1.0, open_ends=open_ends)
    return min(level, _taken(arguments, use))


# ---- the entries --------------------------------------------------------------------------------


def _of_law(name: str, kernel: Kernel, summary: str, **more: Any) -> Function:
    facts = {
        "parameters": values("law x"),
        # the shape for a law of numbers; for other laws their own axes are removed elsewhere
        "shape": lambda shapes, _options: broadcast(shapes),
        "defined": DefinedWhere(_taken),
        **more,
    }
    return entry(name, kernel, summary, BY_HULL, **facts)


def _density(name: str, method: Callable[..., Array], summary: str, **more: Any) -> Function:
    return _of_law(
        name,
        lambda *arrays, law: method(LAWS[law], arrays[:-1], arrays[-1]),
        summary,
        bounds=_density_bounds(logarithm=method is Law.log_density),
        **more,
    )


DENSITY = _density("density", Law.density,
                   "the density of a law at x, or the probability of x where the law is discrete",
                   aliases=("pmf",))  # fmt: skip
LOG_DENSITY = _density("logdensity", Law.log_density, "the natural logarithm of the density",
                       defined=DefinedWhere(_in_support),
                       aliases=("logpdf", "logpmf"))  # fmt: skip

ALL = (
    DENSITY,
    LOG_DENSITY,
    _of_law("cdf", _asked(Law.cdf), "the probability of a value of at most x",
            bounds=within(0.0, 1.0), aliases=("distribution_function",)),
    _of_law("survival", _asked(Law.survival),
            "the probability of a value above x, with its digits however small it is",
            bounds=within(0.0, 1.0), aliases=("ccdf", "sf")),
    _of_law("quantile_of", _asked(Law.quantile, of_levels=True),
            "the least value with `cdf` at least u", defined=DefinedWhere(_level),
            parameters=values("law u"),
            aliases=("icdf", "inverse_cdf", "isf", "percentile", "ppf")),
)  # fmt: skip
