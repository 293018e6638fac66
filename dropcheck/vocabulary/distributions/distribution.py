"""A distribution as mathematics: where its values lie, its moments, its distribution function.

All is known before any draw. Arguments are fixed here: numbers, or arrays that broadcast, one for
each element; lists and matrices are nested tuples, or arrays with their own axes last. Results
broadcast like the arguments, the own axis of a law of vectors last. There is no axis of draws.
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
    """A method that is often asked of the same numbers; of arrays it is computed each time."""
    found = lru_cache(maxsize=4096)(method)

    @wraps(method)
    def asked(*arguments: Any) -> Any:
        try:
            return found(*arguments)
        except TypeError:  # arrays are not hashed
            return method(*arguments)

    return asked


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
    # the last axes of one value of a law of vectors, from the shapes of the arguments and from
    # their values where fixed (None where not)
    own_axes: Callable[[tuple[Shape, ...], tuple[Any, ...]], Shape] | None = None

    values: Values
    # the least interval, ends included, of its values where it is not degenerate: one pair where
    # that is the same for all arguments, which then holds the degenerate values too
    ends: tuple[float, float] | Callable[..., tuple[Any, Any]]
    # where the law is a constant, and which one; None: where its two ends meet
    degenerate: Callable[..., tuple[Any, Any]] | None
    # E|x|^r is finite for r below this, and infinite from here on: one number where it is the same
    # for all arguments; asked where the law is not degenerate
    moments: float | Callable[..., Any]

    # its moments and its distribution function; None: not known, and nothing made of it has a
    # bound. A draw is loc + scale · z with z of the standard law: `line` gives loc and scale (by
    # + and - of arguments and by * with numbers alone), and then the shapes of z; None: 0, 1 and
    # all arguments. Of vectors: of each element
    standard: Standard | None = None
    line: Callable[..., tuple[Any, ...]] | None = None
    # the arguments with which it is standard in its own terms, None for one that is a shape, where
    # x = loc + scale · z with z of this law with these arguments
    standard_arguments: tuple[float | None, ...] | None = None
    # a bound of (E|x|^p)^(1/p) where arguments are random, from bounds of theirs
    norm_of_random: Callable[[float, ArgumentNorm, ArgumentHull], float] | None = None
    # whether E|x|^p only grows, only falls, or is convex in each argument, so that it is greatest
    # at a corner where the arguments vary between bounds
    greatest_at_corners: bool = True
    # of vectors: the covariances of the elements, on two axes
    covariances: Callable[..., Any] | None = None

    @property
    def discrete(self) -> bool:
        """Whether single values have a probability."""
        return self.values is not Values.NUMBERS

    @remembered
    def constant(self, *values: Any) -> float | None:
        """The one value of the law with such fixed arguments; None where it is not degenerate."""
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
        """The order below which all moments exist, and from which on none does."""
        if self.constant(*values) is not None:
            return math.inf
        return float(self._order(values))

    def as_line(self, *arguments: Any) -> tuple[Any, Any, tuple[Any, ...]] | None:
        """Loc, scale and the arguments of z, where a draw is loc + scale · z; None where it is not.

        z is a draw of the same law with the arguments given: numbers, and those arguments of this
        draw that are shapes. So it holds for random arguments too, z independent of them, if the
        shapes are fixed. Arguments may be of any type that has + and - with its like and with
        numbers, and * with numbers.

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
        """E x; infinite where it is, NaN where it does not exist or is not known.

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
        """E (x - E x)^order, of orders 0 to 8; infinite or NaN as the mean is.

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

    def cumulants(self, *arguments: Any) -> list[Any]:
        """The cumulants of the orders 0 to 8; one that does not exist is not finite.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> [float(one) for one in LAWS["poisson"].cumulants(0.5)[:4]]
        [0.0, 0.5, 0.5, 0.5]
        """
        return list(self._cumulants(*arguments))

    @remembered
    def _cumulants(self, *arguments: Any) -> list[Any]:
        if self.standard is None:
            return [math.nan] * (HIGHEST_ORDER + 1)
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            zeros = self._zeros(loc, scale, shapes)
            found = [_plain(zeros), self.mean(*arguments)]
            for order, one in enumerate(self.standard.cumulant_list(*shapes)[2:], start=2):
                existing = self._existing(order, scale**order * one, scale, arguments)
                found.append(_plain(np.where(scale == 0, 0.0, existing) + zeros))
            return found

    @remembered
    def norm(self, p: float, *arguments: Any) -> Any:
        """(E|x|^p)^(1/p) of real p >= 1, or a bound of it from above; infinite where it is.

        Exact where the law has a formula and loc is 0, and of whole even p up to 8.

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
        """Log E exp(t x), or a bound of it from above; infinite where it is.

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
        """P(X <= x); None where it is not known, and of laws of vectors.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["normal"].cdf(3.0, 3.0, 2.0)), float(LAWS["bernoulli"].cdf(0.5, 0.25))
        (0.5, 0.75)
        """
        return self._tail(x, arguments, "cdf")

    def survival(self, x: Any, *arguments: Any) -> Any:
        """P(X > x), with its digits however small it is; None as for `cdf`.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> round(-math.log(LAWS["exponential"].survival(600.0, 1.0)), 9)
        600.0
        """
        return self._tail(x, arguments, "survival")

    def quantile(self, u: Any, *arguments: Any) -> Any:
        """The least x with P(X <= x) >= u, the low end of the law for u = 0; None as for `cdf`.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> float(LAWS["uniform"].quantile(0.25, 0, 4)), float(LAWS["poisson"].quantile(0.5, 3))
        (1.0, 3.0)
        """
        return self._inverse(u, arguments, "quantile")

    def upper_quantile(self, v: Any, *arguments: Any) -> Any:
        """The least x with P(X > x) <= v, for v as small as 1e-300; None as for `cdf`.

        >>> from dropcheck.vocabulary.laws import LAWS
        >>> round(float(LAWS["normal"].upper_quantile(1e-300, 0.0, 1.0)), 6)
        37.047096
        """
        return self._inverse(v, arguments, "upper_quantile")

    @property
    def has_quantiles(self) -> bool:
        """Whether the quantiles of single numbers are known, whatever the arguments are."""
        standard, axes = self.standard, any(parameter.axes for parameter in self.parameters)
        return (
            standard is not None
            and None not in (standard.quantile, standard.upper_quantile)
            and self.own_axes is None
            and not axes
        )

    def covariance(self, *arguments: Any) -> Any:
        """The covariances of the elements of a vector, on two axes; None where not known."""
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
        """A 0 for each element: a moment that is the same for all may be given as one number."""
        if self.line is None:  # the shapes are the arguments, lists among them
            lists = zip(shapes, self.parameters, strict=True)
            shapes = [np.empty(np.shape(one)[: np.ndim(one) - own.axes]) for one, own in lists]
        return np.zeros(np.broadcast_shapes(np.shape(loc), np.shape(scale), *map(np.shape, shapes)))

    def _existing(self, order: int, moment: Any, scale: Any, arguments: Sequence[Any]) -> Any:
        """The moments of an order, where they exist."""
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
            found = function((x - loc) / np.where(scale > 0, scale, 1.0), *shapes)
            found = np.where(scale == 0, np.where(x >= loc, above, below), found)
            found = np.where(x < low, below, np.where(x >= high, above, found))
            return _plain(np.where(np.isnan(x), np.nan, found))

    def _inverse(self, level: Any, arguments: Sequence[Any], name: str) -> Any:
        function = None if self.standard is None else getattr(self.standard, name)
        if self.own_axes is not None or function is None:
            return None
        with np.errstate(all="ignore"):
            loc, scale, shapes = self._units(arguments)
            low, high = self._end_arrays(arguments)
            first, last = (low, high) if name == "quantile" else (high, low)
            level = np.asarray(level, dtype=np.float64)
            found = np.minimum(np.maximum(loc + scale * function(level, *shapes), low), high)
            found = np.where(scale == 0, loc, found)
            found = np.where(level == 0, first, np.where(level == 1, last, found))
            return _plain(np.where((level >= 0) & (level <= 1), found, np.nan))

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
        """Fixed arguments as numpy's own numbers and arrays, which know infinity."""
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
    """A number where an array has no axis."""
    return np.asarray(value)[()]


def _times(t: Any, end: Any) -> Any:
    """T times an end that may be infinite, where t is 0 too."""
    return np.where(np.equal(t, 0), 0.0, np.multiply(t, end))
