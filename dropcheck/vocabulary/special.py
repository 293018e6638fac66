"""Faster powers than numpy's; the functions of scipy.special; searches; rows of arguments.

scipy.special is imported when the first of its functions is used that is not defined here.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

from dropcheck.vocabulary.function import Array

LARGEST_PRODUCT = 8
"""The largest exponent of a power that is computed as a product."""


def power(base: Any, exponent: Any) -> Any:
    """A base to an exponent, elementwise; for one small whole exponent as a product.

    That is 100 times as fast, except for exponents below 3. A product of n numbers has at most
    n - 1 rounding errors (Higham 2002, section 3.1). If no number is negative, it is monotone in
    each even after rounding, so that ends of intervals become ends.

    >>> power(np.array([2.0, -3.0]), np.array([3.0]))
    array([  8., -27.])
    """
    given = (base, exponent)
    one = all(isinstance(array, np.ndarray) and array.dtype == np.float64 for array in given)
    if not one or exponent.size != 1 or exponent.ndim > base.ndim:
        return np.power(base, exponent)
    count = float(exponent.item())
    if not 3 <= count <= LARGEST_PRODUCT or not count.is_integer():
        return np.power(base, exponent)
    product = base
    for digit in f"{int(count):b}"[1:]:  # square for each digit, and multiply by base for a 1
        product = np.square(product, out=None if product is base else product)
        if digit == "1":
            product *= base
    return product


# ---- quantiles without scipy ---------------------------------------------------------------------

FEW = 512  # numbers of which scipy need not be loaded, which takes a tenth of a second
_NORMAL = NormalDist()


def ndtri(u: Any) -> Any:
    """Quantiles of a standard normal; few of them by Python's own (Wichura 1988, AS 241)."""
    if isinstance(u, float | np.ndarray) and np.size(u) <= FEW and np.all((u > 0) & (u < 1)):
        found = [_NORMAL.inv_cdf(level) for level in np.ravel(u).tolist()]
        return np.reshape(found, np.shape(u))[()]
    return loaded().ndtri(u)


@cache
def gauss(points: int) -> tuple[Array, Array]:
    """Gauss's rule of so many points on [0, 1]."""
    places, weights = np.polynomial.legendre.leggauss(points)
    return (places + 1.0) / 2.0, weights / 2.0


@lru_cache(maxsize=4096)
def student_quantile(df: int, alpha: float) -> float:
    """The t with P(|T| > t) = alpha of Student's law.

    With t = √df cot φ its tail is K ∫ sin^(df - 1) from 0 to φ, by Gauss's rule; it is solved by
    Newton's method in the logarithms of both. Of so many degrees of freedom as blocks are kept that
    has 11 digits; of more scipy is asked.

    >>> round(student_quantile(1, 0.5), 12), round(student_quantile(10, 0.05), 9)
    (1.0, 2.228138852)
    """
    if df > 2048:
        return -float(loaded().stdtrit(df, alpha / 2))
    places, weights = gauss(64)
    log_k = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(math.pi) / 2
    t = -_NORMAL.inv_cdf(alpha / 2)
    for _ in range(60):
        phi = math.atan2(math.sqrt(df), t)
        logs = (df - 1) * np.log(np.sin(phi * places))
        log_tail = log_k + math.log(phi) + np.log(weights @ np.exp(logs - logs[-1])) + logs[-1]
        log_slope = log_k - (math.log(df) + (df + 1) * math.log1p(t * t / df)) / 2 + math.log(t)
        step = float(log_tail - math.log(alpha / 2)) / math.exp(log_slope - log_tail)
        t *= math.exp(min(max(step, -1.0), 2.0))
        if abs(step) < 1e-12:
            break
    return t


# ---- scipy.special -------------------------------------------------------------------------------


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # the import system looks for such attributes
        raise AttributeError(name)
    return getattr(loaded(), name)


def loaded() -> Any:
    """The library itself."""
    from scipy import special

    return special


@dataclass(frozen=True, slots=True)
class Special:
    """A function of scipy.special by its name; the library is loaded at the first call."""

    name: str

    def __call__(self, *arrays: Any) -> Any:
        """The function, applied to arrays."""
        return getattr(sys.modules[__name__], self.name)(*arrays)


# ---- searches ------------------------------------------------------------------------------------


def least_whole(reached: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """The least whole number between two ends from which on a condition holds, by bisection.

    `reached` takes whole numbers, and is taken to hold at `high`, which may be infinite.

    >>> float(least_whole(lambda x: x >= 2, np.array([0.0]), np.array([3.7])).item())
    2.0
    """
    low, high = np.ceil(low), np.floor(high)
    last = np.minimum(high, low + 2.0**53)
    below, above = low - 1.0, np.minimum(low + 1.0, last)  # the condition holds at none below
    for _ in range(54):  # double until it holds
        short = ~np.asarray(reached(above)) & (above < last)
        if not short.any():
            break
        below = np.where(short, above, below)
        above = np.where(short, np.minimum(low + 2.0 * (above - low), last), above)
    while (above - below > 1).any():
        middle = np.floor((above + below) / 2)
        there = np.asarray(reached(middle)) | (middle >= last)
        there &= middle > below
        below, above = np.where(there, below, middle), np.where(there, middle, above)
        # where both are neighbours the middle is `below` itself, and nothing changes
    return above


_MATCHED = 1e-13  # a chance that is off by a smaller share has reached its level


def where_reached(
    chance: Callable[..., Any],
    density: Callable[..., Any],
    level: Array,
    ends: tuple[Array, Array],
    start: Array,
    falls: bool,
) -> Array:
    """The x between two ends at which a probability that rises or falls in x reaches a level.

    By Newton's method for the logarithm of the probability, in log x or else in x, from a start
    that may be NaN. A step that leaves the interval which is known to hold x halves this, in the
    number of floats, and so do all from the 30th step on: it ends after 64 more. All arrays have
    one axis; the functions take x and the places of its elements in these.
    """
    least, most = map(_places, ends)
    result = np.clip(start, _at_place(least + 1), _at_place(most - 1))
    result = np.where(np.isnan(result), _between(least, most), result)
    at, x = np.arange(level.size), result
    for count in range(100):
        found = np.asarray(chance(x, at))
        short = (found > level) if falls else (found < level)
        least, most = np.where(short, _places(x), least), np.where(short, most, _places(x))
        step = (-1.0 if falls else 1.0) * np.log(level / found) * found / density(x, at)
        met = (np.abs(found - level) <= _MATCHED * level) | np.isnan(level) | np.isnan(found)
        met |= np.abs(step) < 2.0 * np.spacing(np.abs(x))
        narrow = ~met & (least + 1 >= most)
        below = _at_place(least)  # a level that no float reaches is one of an end
        result[at[narrow]] = np.where(below == ends[0][at], below, _at_place(most))[narrow]
        left = ~met & ~narrow
        if not left.any():
            break
        at, x, least, most, level, step = (one[left] for one in (at, x, least, most, level, step))
        following = _between(least, most)
        for newton in (x + step, x * np.exp(step / x)) if count < 30 else ():
            within = (newton > _at_place(least)) & (newton < _at_place(most))
            following = np.where(within, newton, following)
        result[at] = x = following
    return result


def _between(least: Any, most: Any) -> Any:
    return _at_place((least & most) + ((least ^ most) >> 1))


def _places(x: Any) -> Any:
    """The places of floats in the order of all: neighbours differ by 1."""
    bits = np.asarray(x, dtype=np.float64).view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(2**63 - 1))


def _at_place(place: Any) -> Any:
    return (place ^ ((place >> 63) & np.int64(2**63 - 1))).view(np.float64)


Rows = tuple[tuple[int, ...], Sequence[tuple[Any, ...]], Array]
"""The shape that arguments broadcast to; the different tuples of them; and which of these stands
where, [elements]."""


def rows_of(arguments: Sequence[Any], axes: Sequence[int]) -> Rows:
    """The different tuples of arguments that broadcast; each has some axes of its own, the last.

    >>> rows_of([np.array([1.0, 2.0, 1.0]), np.array([[0.5, 0.5]])], [0, 1])[1]
    [(1.0, (0.5, 0.5)), (2.0, (0.5, 0.5))]
    """
    arrays = [np.asarray(one, dtype=np.float64) for one in arguments]
    leads = [one.shape[: one.ndim - many] for one, many in zip(arrays, axes, strict=True)]
    lead = np.broadcast_shapes(*leads)
    lists = [
        np.broadcast_to(one, lead + one.shape[len(first) :])
        .reshape(-1, *one.shape[len(first) :])
        .tolist()
        for one, first in zip(arrays, leads, strict=True)
    ]
    found: dict[str, int] = {}
    rows, places = list[tuple[Any, ...]](), []
    for row in zip(*lists, strict=True):
        place = found.setdefault(repr(row), len(rows))
        if place == len(rows):
            rows.append(tuple(tuple(one) if isinstance(one, list) else one for one in row))
        places.append(place)
    return lead, rows, np.array(places, dtype=np.intp)


def by_rows(
    function: Callable[..., Any], x: Any, arguments: Sequence[Any], axes: Sequence[int]
) -> Array:
    """A function of an array and of one tuple of arguments, for arguments that are arrays too.

    It is called once for each different tuple, and not for NaN, whose results are NaN.
    """
    if not arguments:
        return np.asarray(function(x, ()))
    lead, rows, places = rows_of(arguments, axes)
    shape = np.broadcast_shapes(np.shape(x), lead)
    places, x = np.broadcast_to(places.reshape(lead), shape), np.broadcast_to(x, shape)
    found = np.full(shape, np.nan)
    for place, row in enumerate(rows):
        here = places == place
        if here.any() and not any(np.isnan(one).any() for one in row):
            found[here] = function(x[here], row)
    return found
