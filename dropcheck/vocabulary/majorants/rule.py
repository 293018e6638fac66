"""Upper bounds of the norms of a function's result, from bounds of the norms of its arguments.

The norm of order p of a random number x is ||x||_p = (E|x|^p)^(1/p); the norm of an array is the
largest norm of its elements. A `Majorant` turns a fact about a function, such as |f(u)| <= |u| +
log 2, into rules for norms. Each rule is an inequality that holds for all laws, so that no bound is
below the truth; infinity means that no bound is known. Every bound is for the draws in which the
quantity is defined.

There are rules for the norm and for

* the spread: the norm of the distance from the element's own mean, ||x - E x||_p;
* the log-moment: log E exp(t · x), which the exponential function needs;
* the inverse: (E|x|^-r)^(1/r), which a division needs;
* the log-size: || log|x| ||_p, which a logarithm needs;
* the mean: where the means of all elements lie.

Sources: Hardy, Littlewood and Pólya, Inequalities (1952), for Hölder's (thm 189), Minkowski's (thm
198) and Lyapunov's (thm 192) inequality; those of sums are in `sums.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dropcheck.vocabulary.hulls import EVERYWHERE, Hull
from dropcheck.vocabulary.shapes import Options, Shape, flag, normalise_axes

# ---- bounds arithmetic ---------------------------------------------------------------------------
#
# Arithmetic of upper bounds: they may be infinite, and do not underflow to 0.


INF = math.inf
# stands for a bound that underflows
_TINY = 1e-300
# the rounding error of a sum of two means, as a share of them: a thousand times that of float64
_ROUNDING = 1e-13
ZERO = Hull(0.0, 0.0)


def times(*factors: float) -> float:
    """The product; 0 if a factor is 0, even if another is infinite."""
    if 0.0 in factors:
        return 0.0
    return max(math.prod(factors), _TINY)


def raised(base: float, exponent: float) -> float:
    """A base that is not negative, to an exponent above 0."""
    if base == 0:
        return 0.0
    try:
        return max(math.pow(base, exponent), _TINY)
    except OverflowError:
        return INF


def summed(numbers: Iterable[float]) -> float:
    """The sum, rounded once; infinite or NaN where math.fsum raises an error."""
    numbers = list(numbers)
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):
        return sum(numbers)


def exponential(x: float) -> float:
    """The exponential function."""
    if x == -INF:
        return 0.0
    return INF if x > 709 else max(math.exp(x), _TINY)


def logarithm(x: float) -> float:
    """The natural logarithm of a bound."""
    return math.log(x) if x > 0 else -INF


def log_sum(exponents: Iterable[float]) -> float:
    """The logarithm of a sum of exponentials."""
    exponents = list(exponents)
    largest = max(exponents)
    if not math.isfinite(largest):
        return largest
    return largest + math.log(math.fsum(math.exp(one - largest) for one in exponents))


def combined(sizes: Iterable[float], p: float) -> float:
    """(Σ size^p)^(1/p): a bound of the norm of the largest of quantities with these norms."""
    sizes = list(sizes)
    largest = max(sizes, default=0.0)
    if largest in (0.0, INF):
        return largest
    return times(largest, raised(math.fsum(raised(one / largest, p) for one in sizes), 1 / p))


def centring(p: float) -> float:
    """A factor c with ||x - E x||_p <= c ||x||_p.

    The map x ↦ x - E x has the norm 1 on L², and at most 2 on L¹ and L^∞. Between them, by the
    theorem of Riesz and Thorin (Thorin 1948), its norm is at most 2^|1 - 2/p|.
    """
    return float(2 ** abs(1 - 2 / p))


def normal_norm(p: float) -> float:
    """The norm of order p > -1 of a standard normal variable.

    >>> round(normal_norm(4) ** 4, 12)
    3.0
    """
    return math.sqrt(2.0) * math.exp((math.lgamma((p + 1) / 2) - math.lgamma(0.5)) / p)


def size(hull: Hull) -> float:
    """The largest size of a number in a hull."""
    return max(abs(hull.low), abs(hull.high))


def plus(first: Hull, second: Hull) -> Hull:
    """The hull of the sums, widened: where the parts cancel, their rounding errors remain."""
    if ZERO in (first, second):
        return second if first == ZERO else first
    rounding = _ROUNDING * (size(first) + size(second))
    if rounding == INF:
        rounding = 0.0  # an infinite end has no rounding error
    return Hull(first.low + second.low - rounding, first.high + second.high + rounding)


def away(hull: Hull, centre: float) -> float:
    """The largest distance of a number in a hull from the centre."""
    return max(abs(hull.low - centre), abs(hull.high - centre))


def spread_within(hull: Hull, p: float) -> float:
    """A bound of ||x - E x||_p for x in a hull.

    For p >= 2, E|x - E x|^p is at most width^(p - 2) times a variance of at most width² / 4
    (Popoviciu 1935).
    """
    return hull.width * float(0.25 ** (1 / max(p, 2.0)))


def highest(hull: Hull, t: float) -> float:
    """The largest of t times the numbers of a hull."""
    return max(0.0 if end == 0 else t * end for end in (hull.low, hull.high))


def nearest_zero(hull: Hull) -> float:
    """The least size of a number in a hull."""
    return max(hull.low, -hull.high, 0.0)


def log_of(fixed: Any) -> float:
    """The largest |log|x|| of the numbers of an array; infinite for 0, and if there is no array.

    >>> round(log_of(np.array([2.0, -0.25])), 4), log_of(np.zeros(1)), log_of(None)
    (1.3863, inf, inf)
    """
    if fixed is None:
        return INF
    with np.errstate(divide="ignore"):
        return float(np.abs(np.log(np.abs(fixed))).max(initial=0.0))


# ---- rule ----------------------------------------------------------------------------------------


class Argument(Protocol):
    """What a rule may know of one argument of a function."""

    @property
    def shape(self) -> Shape:
        """The shape of one draw."""

    @property
    def hull(self) -> Hull:
        """Where all its values lie."""

    @property
    def mean(self) -> Hull:
        """Where the means of all its elements lie."""

    @property
    def fixed(self) -> Any:
        """Its array, draws last, if it is fixed; else None."""

    @property
    def apart(self) -> frozenset[int]:
        """The axes along which the slices of a draw are independent of one another."""

    @property
    def centred(self) -> frozenset[int]:
        """The axes along which a slice has the mean 0 given all other slices."""

    @property
    def signed(self) -> frozenset[int]:
        """The axes along which changing the sign of single slices leaves the law unchanged."""

    @property
    def density(self) -> float:
        """A bound of the density of each element; infinite if none is known."""

    def norm(self, p: float) -> float:
        """A bound of the norm; for orders below 1, the bound of order 1."""

    def spread(self, p: float) -> float:
        """A bound of the norm of the distance from the mean."""

    def log_moment(self, t: float) -> float:
        """A bound of log E exp(t · x)."""

    def inverse(self, r: float, point: float = 0.0) -> float:
        """A bound of (E|x - point|^-r)^(1/r)."""

    def log_size(self, p: float) -> float:
        """A bound of the norm of log|x|."""

    @property
    def even_share(self) -> bool:
        """Whether it lies between 0 and 1, and the bound of its log-size holds for 1 - x too."""

    def weights_of_squares(self, axes: Sequence[int], *, centred: bool) -> Sequence[float]:
        """Weights w with Σ x² >= Σ w u² over some axes; none if none are known.

        Each u has a density of at most 1, given those before it. With `centred` the same for x
        minus its mean along these axes.
        """

    def parts(self) -> Sequence[Sequence[tuple[Argument, float]]]:
        """Its size as a product of powers of other quantities, in groups that share no draw."""

    @property
    def terms(self) -> Sequence[Argument]:
        """The two quantities of which it is the sum or the difference, or else itself."""

    def held_by(self, other: Argument) -> tuple[float, float] | None:
        """Numbers c and e with |x| <= c · other^e in every draw; None if none are known."""


ArgumentPower = tuple[Argument, float]
"""A quantity and its exponent."""


@dataclass(frozen=True, slots=True)
class Applied:
    """One use of a function: its arguments, its options, the shape of the result.

    `independent` says that no two arguments share a draw, `same` that the two arguments are one
    quantity. `parts` gives the result as a product of powers, in groups that share no draw.
    """

    arguments: Sequence[Argument]
    options: Mapping[str, Any]
    shape: Shape
    independent: bool
    same: bool
    parts: Callable[[], Sequence[Sequence[ArgumentPower]]]

    def axes(self) -> tuple[int, ...]:
        """The axes of the first argument that the function works along."""
        return normalise_axes(self.options.get("axis"), self.arguments[0].shape)

    def length(self) -> int:
        """The number of elements of the first argument along these axes."""
        shape = self.arguments[0].shape
        return math.prod(shape[axis] for axis in self.axes())


# ---- what an entry says -------------------------------------------------------------------------


class Majorant:
    """The rules of one function; this class has no bounds.

    Each rule takes the use of the function and an order. Bounds that follow for every function in
    the same way, such as the norm from the hull, are not computed here. `holds_back` says that the
    function keeps a growing quantity from passing some value, as a queue's length stays above 0.
    `even_share` is that of `Argument`.
    """

    holds_back = False
    even_share = False

    def norm(self, use: Applied, p: float) -> float:
        """A bound of ||f||_p."""
        return INF

    def spread(self, use: Applied, p: float) -> float:
        """A bound of ||f - E f||_p, if it is better than the one that follows from the norm."""
        return INF

    def log_moment(self, use: Applied, t: float) -> float:
        """A bound of log E exp(t · f)."""
        return INF

    def inverse(self, use: Applied, r: float) -> float:
        """A bound of (E|f|^-r)^(1/r)."""
        return INF

    def log_size(self, use: Applied, p: float) -> float:
        """A bound of || log|f| ||_p, if it is better than what follows from norm and inverse."""
        return INF

    def mean(self, use: Applied) -> Hull:
        """Where the means of all elements lie."""
        return EVERYWHERE

    def linear_in(self, use: Applied) -> Sequence[int]:
        """The places of arguments in which the result is linear, independent of the others."""
        return ()

    def kept_axes(self, shape: Shape, options: Options) -> Sequence[int | None]:
        """For each axis of the result, the axis of the first argument that it is; None: unknown.

        The other arguments are fixed. An empty list means that nothing is known.
        """
        return ()

    def powers(self, use: Applied) -> Sequence[tuple[int, float]]:
        """|f| as a product of powers: pairs of an argument's place and exponent; else nothing."""
        return ()


NONE = Majorant()


class OverAxes(Majorant):
    """The rules of a function that makes one number of the elements along some axes."""

    def kept_axes(self, shape: Shape, options: Options) -> Sequence[int | None]:
        """The other axes, in their order."""
        axes = normalise_axes(options.get("axis"), shape)
        kept = [None if axis in axes else axis for axis in range(len(shape))]
        if flag(options.get("keepdims", 0), "keepdims"):
            return kept
        return [one for one in kept if one is not None]


class NormAlone(Majorant):
    """The rules of a function with a bound of its norm, and no other bound."""

    def __init__(self, rule: Callable[[Applied, float], float]) -> None:
        self._rule = rule

    def norm(self, use: Applied, p: float) -> float:
        """By the given rule."""
        return self._rule(use, p)


class Bounded(Majorant):
    """The rules of a function whose size is at most a number."""

    def __init__(self, by: Callable[[Applied], float]) -> None:
        self._by = by

    def norm(self, use: Applied, p: float) -> float:
        """The number."""
        return self._by(use)

    def log_moment(self, use: Applied, t: float) -> float:
        """The largest of t · f."""
        return abs(t) * self._by(use)
