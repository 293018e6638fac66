"""Faster powers than numpy's; the functions of scipy.special, with digits in far tails; searches.

scipy.special is imported when the first of its functions is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # the import system looks for such attributes
        raise AttributeError(name)
    return getattr(_scipy(), name)


def _scipy() -> Any:
    from scipy import special

    return special


@dataclass(frozen=True, slots=True)
class Special:
    """A function of scipy.special by its name; the library is loaded at the first call."""

    name: str

    def __call__(self, *arrays: Any) -> Any:
        """The function, applied to arrays."""
        return __getattr__(self.name)(*arrays)


# ---- tails ---------------------------------------------------------------------------------------
#
# What is lost in the far tails of scipy's functions (measured with scipy 1.17).


# Below this x the distribution function is a power of x: the next term of its series is smaller by
# a factor of about x.
_POWER_BELOW = 1e-100


# For larger shapes scipy's incomplete gamma function is wrong in the tails.
_LARGEST_SHAPE = 3e5


def gamma_quantile(shape: Any, u: Any) -> Any:
    """The x with γ(shape, x) / Γ(shape) = u, also where x is too small for scipy's function."""
    small = np.exp((np.log(u) + _scipy().gammaln(shape + 1.0)) / shape)
    x = np.where(small < _POWER_BELOW, small, _scipy().gammaincinv(shape, u))
    return np.where(shape > _LARGEST_SHAPE, _nearly_normal(shape, _scipy().ndtri(u)), x)


def _nearly_normal(shape: Any, z: Any) -> Any:
    """The quantile of a gamma law of a large shape from that of a normal one.

    It is the expansion of Cornish and Fisher (Goldberg and Levine 1946, Annals of Mathematical
    Statistics 17, for chi-square laws), to within 1e-10 standard deviations down to 1e-300.
    """
    root = np.sqrt(shape)
    terms = (
        shape,
        root * z,
        (z**2 - 1.0) / 3.0,
        (z**3 - 7.0 * z) / (36.0 * root),
        (6.0 * z**4 + 14.0 * z**2 - 32.0) / (-1620.0 * shape),
        (9.0 * z**5 + 256.0 * z**3 - 433.0 * z) / (38880.0 * shape * root),
        (12.0 * z**6 - 243.0 * z**4 - 923.0 * z**2 + 1472.0) / (204120.0 * shape**2),
    )
    return sum(terms[1:], terms[0])


def beta_cdf(a: Any, b: Any, x: Any) -> Any:
    """I_x(a, b), also where scipy's function returns 0 though the value is not too small."""
    value = np.asarray(_scipy().betainc(a, b, x))
    lost = (value == 0) & np.greater(x, 0) & np.greater(b, 0)
    return np.where(lost, np.exp(_log_beta_tail(a, b, x)), value) if lost.any() else value


def beta_survival(a: Any, b: Any, x: Any) -> Any:
    """1 - I_x(a, b), with the same care as `beta_cdf`."""
    value = np.asarray(_scipy().betaincc(a, b, x))
    lost = (value == 0) & np.less(x, 1) & np.greater(a, 0)
    return np.where(lost, np.exp(_log_beta_tail(b, a, 1.0 - x)), value) if lost.any() else value


_MOST_TERMS = 10_000  # enough for parameters up to 1e7; for larger ones the result is too small


def _log_beta_tail(a: Any, b: Any, x: Any) -> Any:
    """Log I_x(a, b) far out, by a series of falling terms (Abramowitz and Stegun 1964, 26.5.4)."""
    x = np.minimum(x, a / (a + b))
    total, term = np.zeros(np.shape(a + b + x)), np.ones(np.shape(a + b + x))
    for n in range(_MOST_TERMS):
        total = total + term
        term = term * (x * ((a + b + n) / (a + 1.0 + n)))
        if not (term > 1e-17 * total).any():
            break
    first = _scipy().xlogy(a, x) + _scipy().xlog1py(b, -x) - np.log(a) - _scipy().betaln(a, b)
    return first + np.log(total)


# for levels below it scipy's inverse of the incomplete beta function may be wrong
_DEEP = 1e-200


def gamma_upper_quantile(shape: Any, v: Any) -> Any:
    """The x with Γ(shape, x) / Γ(shape) = v, from the lower tail where v is near 1."""
    upper = _scipy().gammainccinv(shape, v)
    upper = np.where(shape > _LARGEST_SHAPE, _nearly_normal(shape, -_scipy().ndtri(v)), upper)
    return np.where(np.less(v, 0.5), upper, gamma_quantile(shape, 1.0 - v))


def beta_quantile(a: Any, b: Any, u: Any) -> Any:
    """The x with I_x(a, b) = u, also where x or u is very small."""
    x_of_u = np.asarray(_scipy().betaincinv(a, b, u))
    small = np.exp((np.log(u) + np.log(a) + _scipy().betaln(a, b)) / a)
    unsure = np.isnan(x_of_u) & ~np.isnan(u)
    x_of_u = np.where(unsure | (small < _POWER_BELOW), small, x_of_u)
    deep = (unsure | np.less(u, _DEEP)) & (x_of_u >= _POWER_BELOW)
    if not deep.any():
        return x_of_u
    log_x = np.log(x_of_u)
    for _ in range(30):  # Newton's method for log u as a function of log x
        x = np.exp(log_x)
        log_tail = np.log(_scipy().betainc(a, b, x))
        if not np.isfinite(log_tail).all():
            log_tail = np.where(np.isfinite(log_tail), log_tail, _log_beta_tail(a, b, x))
        log_density = _scipy().xlogy(a, x) + _scipy().xlog1py(b - 1.0, -x) - _scipy().betaln(a, b)
        log_x = np.minimum(log_x + (np.log(u) - log_tail) * np.exp(log_tail - log_density), 0.0)
    return np.where(deep, np.exp(log_x), x_of_u)


def beta_upper_quantile(a: Any, b: Any, v: Any) -> Any:
    """The x with 1 - I_x(a, b) = v; by `beta_quantile` if scipy may be wrong, or v is near 1."""
    upper = np.asarray(_scipy().betainccinv(a, b, v))
    unsure = np.less(v, _DEEP) | np.isnan(upper)
    upper = np.where(unsure, 1.0 - beta_quantile(b, a, v), upper)
    return np.where(np.less(v, 0.5), upper, beta_quantile(a, b, 1.0 - v))


# ---- searches ------------------------------------------------------------------------------------


def least_whole(reached: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """The least whole number between two ends from which on a condition holds, by bisection.

    Args:
        reached: Takes an array of whole numbers, and returns where the condition holds. It is taken
            to hold at `high`.
        low: A whole number for each element.
        high: A whole number for each element, or infinity.
    """
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


_MATCHED = 2e-15  # a chance that is off by a smaller share has reached its level


def where_reached(
    chance: Callable[[Any], Any],
    density: Callable[[Any], Any],
    level: Any,
    low: Any,
    high: Any,
    falls: bool,
) -> Any:
    """The x between two ends at which a probability that rises or falls in x reaches a level.

    By Newton's method for the logarithm of the probability. A step that leaves the interval which
    is known to hold x halves this, in the number of floats: it then ends after 64 steps.
    """
    least, most = _places(low), _places(high)
    x = _at_place((least & most) + ((least ^ most) >> 1))
    for _ in range(120):
        found = np.asarray(chance(x))
        short = (found > level) if falls else (found < level)
        at = _places(x)
        least, most = np.where(short, at, least), np.where(short, most, at)
        step = np.log(level / found) * found / density(x)
        following = x - step if falls else x + step
        newton = (following > _at_place(least)) & (following < _at_place(most))
        settled = (np.abs(found - level) <= _MATCHED * level) | (most - least <= 1)
        settled |= np.abs(step) <= 2.0 * np.spacing(np.abs(x))
        if (settled | np.isnan(level) | np.isnan(found)).all():
            break
        middle = _at_place((least & most) + ((least ^ most) >> 1))
        following = np.where(newton, following, middle)
        x = np.where(settled, x, following)
    return x


def _places(x: Any) -> Any:
    """The places of floats in the order of all: neighbours differ by 1."""
    bits = np.asarray(x, dtype=np.float64).view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(2**63 - 1))


def _at_place(place: Any) -> Any:
    return (place ^ ((place >> 63) & np.int64(2**63 - 1))).view(np.float64)


def by_rows(
    function: Callable[..., Any], x: Any, numbers: Sequence[Any], results: int = 1
) -> Array:
    """A function of an array and of one tuple of numbers, for numbers that are arrays too.

    It is called once for each different tuple, and not for NaN, whose results are NaN. Several
    results lie on a first axis.
    """
    x, *numbers = np.broadcast_arrays(x, *numbers)
    if not numbers:
        return np.asarray(function(x, ()))
    rows, row_of = np.unique(
        np.stack([one.ravel() for one in numbers], axis=-1), axis=0, return_inverse=True
    )
    found = np.full((results, x.size), np.nan)
    for place, row in enumerate(rows.tolist()):
        here = row_of.ravel() == place
        if not np.isnan(row).any():
            found[:, here] = function(x.ravel()[here], tuple(row))
    return found.reshape(results, *x.shape) if results > 1 else found.reshape(x.shape)
