"""The mathematics of a distribution: its support, its moments, its distribution function.

Arguments are fixed here. They are numbers, or arrays that broadcast, with one entry for each
element; lists and matrices are nested tuples, or arrays with their own axes last. Results broadcast
as the arguments do; the axis of a law of vectors is last. There is no axis of draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum
from functools import lru_cache, wraps
from typing import Any

import numpy as np

from dropcheck.records import record
from dropcheck.vocabulary.distributions.domains import LawParameter
from dropcheck.vocabulary.distributions.moment_lists import HIGHEST_ORDER
from dropcheck.vocabulary.distributions.standard import ArgumentHull, ArgumentNorm, Standard
from dropcheck.vocabulary.shapes import Shape


def remembered(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method with a cache for arguments that are numbers; for arrays it is computed each time."""
    cached = lru_cache(maxsize=4096)(method)

    @wraps(method)
    def cached_or_computed(*arguments: Any) -> Any:
        try:
            return cached(*arguments)
        except TypeError:  # arrays cannot be hashed
            return method(*arguments)

    return cached_or_computed


class Values(Enum):
    """What sort of numbers a law gives."""

    NUMBERS = "any number between two ends"
    WHOLE = "whole numbers"
    LISTED = "numbers of a list"
    TRUTHS = "1 or 0, kept as true or false"
    SIGNS = "1 or -1"


@record(kw_only=True, eq=False)
class Distribution:
    """What is known of a distribution before any draw."""

    parameters: tuple[LawParameter, ...]
    # of laws of vectors: takes the shapes of the arguments, and the values of fixed ones (else
    # None); returns the last axes of one value
    own_axes: Callable[[tuple[Shape, ...], tuple[Any, ...]], Shape] | None = None

    values: Values
    # The least interval that holds its values, ends included, where the law is no constant. One
    # pair if it is the same for all arguments; it then holds the constants too.
    ends: tuple[float, float] | Callable[..., tuple[Any, Any]]
    # where the law is a constant, and this constant; None: it is one where its two ends meet
    degenerate: Callable[..., tuple[Any, Any]] | None
    # E|x|^r is finite for r below this number, and infinite from it on, unless the law is a
    # constant; a single number if it is the same for all arguments
    moments: float | Callable[..., Any]

    # Its moments and its distribution function; None: not known, so that no quantity made of a draw
    # has a bound. A draw is loc + scale · z, with z of the standard law. `line` returns loc and
    # scale (made by + and - of arguments, and * with numbers only), then the shapes of z; None
    # stands for 0, 1 and all arguments. For laws of vectors, these are those of each element.
    standard: Standard | None = None
    line: Callable[..., tuple[Any, ...]] | None = None
    # The arguments for which x = loc + scale · z, where z has this law with these arguments; None
    # in place of an argument that is a shape.
    standard_arguments: tuple[float | None, ...] | None = None
    # a bound of (E|x|^p)^(1/p) for random arguments, from bounds of the arguments
    norm_of_random: Callable[[float, ArgumentNorm, ArgumentHull], float] | None = None
    # whether E|x|^p is monotone or convex in each argument: its maximum over arguments that vary
    # between bounds is then at a corner
    greatest_at_corners: bool = True
    # for laws of vectors: the covariances of the elements, on two axes
    covariances: Callable[..., Any] | None = None

    @property
    def discrete(self) -> bool:
        """Whether single values have a probability above 0."""
        return self.values is not Values.NUMBERS

    @remembered
    def constant(self, *values: Any) -> float | None:
        """The only value of the law with these arguments; None if it has several."""
        with np.errstate(all="ignore"):
            where, value = self._constants(self._arrays(values))
        return _number(value) if np.all(where) else None

    @remembered
    def support(self, *values: Any) -> tuple[float, float]:
        """The least interval, ends included, that holds all values of the law."""
        value = self.constant(*values)
        if value is not None:
            return (value, value)
        low, high = self._ends(self._arrays(values))
        return (_number(low), _number(high))

    def moment_order(self, *values: Any) -> float:
        """The order below which all moments exist, and from which on none exists."""
        if self.constant(*values) is not None:
            return math.inf
        return float(self._order(values))

    def as_line(self, *arguments: Any) -> tuple[Any, Any, tuple[Any, ...]] | None:
        """Loc, scale and the arguments of z, where a draw is loc + scale · z; None if it is not.

        z is a draw of the same law. Its arguments are fixed numbers, and those arguments of this
        draw that are shapes. So this also holds for random arguments, with z independent of them,
        if the shapes are fixed. Arguments may be of any type that has + and - with its own kind and
        with numbers, and * with numbers.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> LAWS["normal"].as_line(5.0, 2.0), LAWS["uniform"].as_line(-1.0, 3.0)
        ((5.0, 2.0, (0.0, 1.0)), (-1.0, 4.0, (0.0, 1.0)))
        >>> LAWS["gamma"].as_line(0.5, 2.0), LAWS["poisson"].as_line(3.0)
        ((0.0, 2.0, (0.5, 1.0)), None)
        """
        if self.standard_arguments is None or self.line is None:
            return None
        pairs = zip(arguments, self.standard_arguments, strict=True)
        own = tuple(given if unit is None else unit for given, unit in pairs)
        loc, scale, *_ = self.line(*arguments)
        own_loc, own_scale, *_ = self.line(*own)
        if own_scale != 1.0:
            scale = scale * (1.0 / own_scale)
        if own_loc != 0.0:
            loc = loc - scale * own_loc
        return loc, scale, own

    @remembered
    def mean(self, *arguments: Any) -> Any:
        """E x, which may be infinite; NaN if it does not exist or is not known.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["gamma"].mean(3.0, 0.5)), float(LAWS["pareto"].mean(0.8, 1.0))
        (1.5, inf)
        """
        if self.standard is None:
            return math.nan
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            mean = loc + scale * self.standard.mean(*shapes)
            mean = np.where(scale == 0, loc, self._existing(1, mean, scale, arguments))
            return _plain(mean + self._zeros(loc, scale, shapes))

    @remembered
    def central(self, order: int, *arguments: Any) -> Any:
        """E (x - E x)^order for orders 0 to 8; it may be infinite or NaN, as the mean.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["normal"].central(4, 1.0, 2.0)), float(LAWS["bernoulli"].central(2, 0.5))
        (48.0, 0.25)
        """
        if self.standard is None:
            return math.nan
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            moment = scale**order * self.standard.central_moments(*shapes)[order]
            existing = self._existing(order, moment, scale, arguments)
            existing = np.where(scale == 0, float(order == 0), existing)
            return _plain(existing + self._zeros(loc, scale, shapes))

    @remembered
    def cumulants(self, *arguments: Any) -> tuple[Any, ...]:
        """The cumulants of the orders 0 to 8; one that does not exist is not finite.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> [float(one) for one in LAWS["poisson"].cumulants(0.5)[:4]]
        [0.0, 0.5, 0.5, 0.5]
        """
        if self.standard is None:
            return (math.nan,) * (HIGHEST_ORDER + 1)
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            zeros = self._zeros(loc, scale, shapes)
            cumulants = [_plain(zeros), self.mean(*arguments)]
            for order, one in enumerate(self.standard.cumulant_list(*shapes)[2:], start=2):
                existing = self._existing(order, scale**order * one, scale, arguments)
                cumulants.append(_plain(np.where(scale == 0, 0.0, existing) + zeros))
            return tuple(cumulants)

    @remembered
    def norm(self, p: float, *arguments: Any) -> Any:
        """(E|x|^p)^(1/p) for real p >= 1, or an upper bound of it; both may be infinite.

        Exact if the law has a formula and loc is 0, and for p = 2, 4, 6 and 8.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["rademacher"].norm(1.5)), float(LAWS["cauchy"].norm(1, 0.0, 1.0))
        (1.0, inf)
        """
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            low, high = self._end_arrays(arguments)
            bound = np.maximum(np.abs(low), np.abs(high))
            order = self._order(arguments)
            if self.standard is not None:
                if self.standard.norm is not None:  # Minkowski's inequality
                    closed = np.abs(loc) + scale * self.standard.norm(p, *shapes)
                    bound = np.fmin(bound, closed)
                one_signed = (np.asarray(low) >= 0) | (np.asarray(high) <= 0)
                unit = np.where(scale > 0, scale, 1.0)
                by_moments = self.standard.norm_by_moments(p, loc / unit, shapes, one_signed, order)
                bound = np.fmin(bound, unit * by_moments)
            bound = np.where(p < order, bound, np.inf)
            bound = np.where(scale == 0, np.abs(loc), bound)
            return _plain(np.where(np.isnan(bound), np.inf, bound))

    @remembered
    def log_mgf(self, t: Any, *arguments: Any) -> Any:
        """Log E exp(t x), or an upper bound of it; both may be infinite.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["normal"].log_mgf(2.0, 0.0, 1.0)), float(LAWS["exponential"].log_mgf(2, 1))
        (2.0, inf)
        """
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            low, high = self._end_arrays(arguments)
            bound = np.maximum(_times(t, low), _times(t, high))
            if self.standard is not None:
                # the exponential lies below its chord (Hoeffding 1963, equation 4.1)
                share = (self.mean(*arguments) - low) / (high - low)
                chord = np.logaddexp(np.log1p(-share) + t * low, np.log(share) + t * high)
                bound = np.fmin(bound, chord)
                if self.standard.log_mgf is not None:
                    own = t * loc + self.standard.log_mgf(t * scale, *shapes)
                    bound = np.fmin(bound, np.where(np.isnan(own), np.inf, own))
            bound = np.where(scale == 0, _times(t, loc), bound)
            return _plain(np.where(np.equal(t, 0), 0.0, np.where(np.isnan(bound), np.inf, bound)))

    def cdf(self, x: Any, *arguments: Any) -> Any:
        """P(X <= x); None if it is not known, and for laws of vectors.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["normal"].cdf(3.0, 3.0, 2.0)), float(LAWS["bernoulli"].cdf(0.5, 0.25))
        (0.5, 0.75)
        """
        return self._tail(x, arguments, "cdf")

    def survival(self, x: Any, *arguments: Any) -> Any:
        """P(X > x) with all its digits, however small it is; None as for `cdf`.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> round(-math.log(LAWS["exponential"].survival(600.0, 1.0)), 9)
        600.0
        """
        return self._tail(x, arguments, "survival")

    def quantile(self, u: Any, *arguments: Any) -> Any:
        """The least x with P(X <= x) >= u; for u = 0 the low end of the law. None as for `cdf`.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["uniform"].quantile(0.25, 0, 4)), float(LAWS["poisson"].quantile(0.5, 3))
        (1.0, 3.0)
        """
        return self._inverse(u, arguments, "quantile")

    def upper_quantile(self, v: Any, *arguments: Any) -> Any:
        """The least x with P(X > x) <= v, for v down to 1e-300; None as for `cdf`.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> round(float(LAWS["normal"].upper_quantile(1e-300, 0.0, 1.0)), 6)
        37.047096
        """
        return self._inverse(v, arguments, "upper_quantile")

    @property
    def has_quantiles(self) -> bool:
        """Whether the quantiles are known for all arguments; False for laws of lists or vectors."""
        standard, axes = self.standard, any(parameter.axes for parameter in self.parameters)
        return (
            standard is not None
            and None not in (standard.quantile, standard.upper_quantile)
            and self.own_axes is None
            and not axes
        )

    def covariance(self, *arguments: Any) -> Any:
        """The covariances of the elements of a vector, on two axes; None if they are not known."""
        if self.covariances is None:
            return None
        with np.errstate(all="ignore"):
            return self.covariances(*self._flat(arguments))

    # ---- within ----------------------------------------------------------------------------------

    def _units(self, arguments: Sequence[Any]) -> tuple[Any, Any, Sequence[Any]]:
        """Loc, scale and the shapes of the standard law."""
        flat = self._flat(arguments)
        if self.line is None:
            return 0.0, 1.0, flat
        loc, scale, *shapes = self.line(*flat)
        return loc, scale, shapes

    def _zeros(self, loc: Any, scale: Any, shapes: Sequence[Any]) -> Any:
        """A 0 for each element: added to one number for all elements, it gives an array."""
        if self.line is None:  # the shapes are the arguments, which may be lists
            lists = zip(shapes, self.parameters, strict=True)
            shapes = [np.empty(np.shape(one)[: np.ndim(one) - own.axes]) for one, own in lists]
        return np.zeros(np.broadcast_shapes(np.shape(loc), np.shape(scale), *map(np.shape, shapes)))

    def _existing(self, order: int, moment: Any, scale: Any, arguments: Sequence[Any]) -> Any:
        """The moments where they exist; infinity or NaN elsewhere."""
        moment = np.where(np.isfinite(scale), moment, np.nan)
        if not callable(self.moments) and self.moments == math.inf:
            return moment
        exists = order < self._order(arguments)
        low, _ = self._end_arrays(arguments)
        missing = np.inf if order % 2 == 0 else np.where(np.isfinite(low), np.inf, np.nan)
        return np.where(exists, moment, missing)

    def _order(self, arguments: Sequence[Any]) -> Any:
        return self.moments(*self._flat(arguments)) if callable(self.moments) else self.moments

    def _tail(self, x: Any, arguments: Sequence[Any], name: str) -> Any:
        function = None if self.standard is None else getattr(self.standard, name)
        if self.own_axes is not None or function is None:
            return None
        below, above = (0.0, 1.0) if name == "cdf" else (1.0, 0.0)
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            low, high = self._end_arrays(arguments)
            x = np.asarray(x, dtype=np.float64)
            values = function((x - loc) / np.where(scale > 0, scale, 1.0), *shapes)
            values = np.where(scale == 0, np.where(x >= loc, above, below), values)
            values = np.where(x < low, below, np.where(x >= high, above, values))
            return _plain(np.where(np.isnan(x), np.nan, values))

    def _inverse(self, level: Any, arguments: Sequence[Any], name: str) -> Any:
        function = None if self.standard is None else getattr(self.standard, name)
        if self.own_axes is not None or function is None:
            return None
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            low, high = self._end_arrays(arguments)
            first, last = (low, high) if name == "quantile" else (high, low)
            level = np.asarray(level, dtype=np.float64)
            values = np.minimum(np.maximum(loc + scale * function(level, *shapes), low), high)
            values = np.where(scale == 0, loc, values)
            values = np.where(level == 0, first, np.where(level == 1, last, values))
            return _plain(np.where((level >= 0) & (level <= 1), values, np.nan))

    def _ends(self, arguments: Sequence[Any]) -> tuple[Any, Any]:
        return self.ends(*arguments) if callable(self.ends) else self.ends

    def _constants(self, arguments: Sequence[Any]) -> tuple[Any, Any]:
        if self.degenerate is not None:
            return self.degenerate(*arguments)
        low, high = self._ends(arguments)
        return np.equal(low, high), low

    def _end_arrays(self, arguments: Sequence[Any]) -> tuple[Any, Any]:
        """The two ends, without an axis of draws."""
        arrays = self._arrays(arguments)
        low, high = self._ends(arrays)
        if self.own_axes is not None:  # the same for all elements of a vector
            return np.asarray(low)[..., np.newaxis], np.asarray(high)[..., np.newaxis]
        still, value = self._constants(arrays)
        low, high = np.where(still, value, low), np.where(still, value, high)
        if any(parameter.axes for parameter in self.parameters):
            return low[..., 0], high[..., 0]
        return low, high

    def _flat(self, values: Sequence[Any]) -> list[Any]:
        """Fixed arguments as float64 numbers and arrays, whose arithmetic knows infinity."""
        return [np.asarray(value, dtype=np.float64)[()] for value in values]

    def _arrays(self, values: Sequence[Any]) -> list[Any]:
        """The same with an axis of draws behind lists and matrices."""
        return [
            value[..., np.newaxis] if parameter.axes else value
            for parameter, value in zip(self.parameters, self._flat(values), strict=True)
        ]


def _number(value: Any) -> float:
    return float(np.asarray(value).item())


def _plain(value: Any) -> Any:
    """An array without axes as a number."""
    return np.asarray(value)[()]


def _times(t: Any, end: Any) -> Any:
    """The product t · end of a number and an end that may be infinite; 0 where t is 0."""
    return np.where(np.equal(t, 0), 0.0, np.multiply(t, end))
