"""The rules of functions of arrays that are no sums: extremes, norms, products, order, matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dropcheck.vocabulary.hulls import EVERYWHERE, UNIT, Hull, union
from dropcheck.vocabulary.majorants.powers import about, slack
from dropcheck.vocabulary.majorants.rule import (
    INF,
    ZERO,
    Applied,
    Majorant,
    OverAxes,
    raised,
    size,
    times,
)
from dropcheck.vocabulary.majorants.sums import (
    NormBound,
    inverse_of_squares,
    inverse_of_sum,
    of_largest,
)
from dropcheck.vocabulary.shapes import Options, Shape

# ---- the largest, the middle, in order ----------------------------------------------------------


class Rearranged(Majorant):
    """The rules of a function that moves elements; with `gaps`, there may be zeros between them."""

    def __init__(self, *, gaps: bool = False) -> None:
        self._gaps = gaps

    def norm(self, use: Applied, p: float) -> float:
        """The largest of the arguments."""
        return max(one.norm(p) for one in use.arguments)

    def spread(self, use: Applied, p: float) -> float:
        """The largest of the arguments."""
        return max(one.spread(p) for one in use.arguments)

    def log_moment(self, use: Applied, t: float) -> float:
        """The largest of the arguments; of zeros it is 0."""
        largest = max(one.log_moment(t) for one in use.arguments)
        return max(largest, 0.0) if self._gaps else largest

    def inverse(self, use: Applied, r: float) -> float:
        """The largest of the arguments."""
        return INF if self._gaps else max(one.inverse(r) for one in use.arguments)

    def mean(self, use: Applied) -> Hull:
        """The union of the arguments, and of 0 for gaps."""
        whole = union([one.mean for one in use.arguments])
        return union([whole, ZERO]) if self._gaps else whole


class WithGaps(Rearranged):
    """The rules of a product with a fixed mask: elements in their places, and 0 in the others."""

    def __init__(self) -> None:
        super().__init__(gaps=True)

    def kept_axes(self, shape: Shape, options: Options) -> Sequence[int | None]:
        """All axes."""
        return range(len(shape))

    def linear_in(self, use: Applied) -> Sequence[int]:
        """The one argument."""
        return (0,)


class TakenAt(Majorant):
    """The rules of elements of the first argument, taken by indices that may be random.

    An independent index makes a mixture of the elements, whose moments are at most those of the
    largest; for any other index, the moments of all elements are added.
    """

    def norm(self, use: Applied, p: float) -> float:
        """The norm of any element, or of the largest one."""
        x = use.arguments[0]
        return x.norm(p) if use.independent else of_largest(x.shape[0], x.norm, p)

    def spread(self, use: Applied, p: float) -> float:
        """The spread of any element, if the index is fixed or all elements have one mean."""
        x, index = use.arguments
        still = index.fixed is not None or (use.independent and x.mean.low == x.mean.high)
        return x.spread(p) if still else INF

    def log_moment(self, use: Applied, t: float) -> float:
        """The bound of any element, or the sum over all."""
        x = use.arguments[0]
        return x.log_moment(t) + (0.0 if use.independent else math.log(max(x.shape[0], 1)))

    def inverse(self, use: Applied, r: float) -> float:
        """The bound of any element, or the sum over all."""
        x = use.arguments[0]
        return times(x.inverse(r), 1.0 if use.independent else max(x.shape[0], 1) ** (1 / r))

    def mean(self, use: Applied) -> Hull:
        """Among the means of the elements, if the index is independent."""
        return use.arguments[0].mean if use.independent else EVERYWHERE


class OneOfMany(OverAxes):
    """The rules of one of the elements along some axes, such as the largest.

    It changes by no more than the element that changes most. `between` says that the result may
    also lie between two elements.
    """

    def __init__(self, between: bool = False) -> None:
        self._between = between

    def norm(self, use: Applied, p: float) -> float:
        """The norm of the largest size, or of the largest distance from the common mean."""
        x, count = use.arguments[0], use.length()
        bound = of_largest(count, x.norm, p)
        if x.mean.low == x.mean.high:
            bound = min(bound, size(x.mean) + of_largest(count, x.spread, p))
        return bound

    def spread(self, use: Applied, p: float) -> float:
        """As for a slope of 1, from the largest distance of an element from its mean."""
        x = use.arguments[0]
        if p == 2:
            return min(
                times(math.sqrt(use.length()), x.spread(p)),
                2 * of_largest(use.length(), x.spread, p),
            )
        return 2 * of_largest(use.length(), x.spread, p)

    def log_moment(self, use: Applied, t: float) -> float:
        """E exp(t f) is at most the sum of E exp(t x) over the elements."""
        return math.log(max(use.length(), 1)) + use.arguments[0].log_moment(t)

    def inverse(self, use: Applied, r: float) -> float:
        """E|f|^-r is at most the sum of E|x|^-r over the elements."""
        if self._between:
            return INF
        return times(raised(float(use.length()), 1 / r), use.arguments[0].inverse(r))


# ---- norms, squares, products -------------------------------------------------------------------


class VectorNorm(OverAxes):
    """The rules of the vector norm, of any order, of the elements along some axes."""

    def norm(self, use: Applied, p: float) -> float:
        """For order o, at most n^(1/o) times the norm of one element of order max(p, o)."""
        x, count, order = use.arguments[0], use.length(), float(use.options.get("ord", 2.0))
        if order == 0:
            return float(count)
        if order < 0:  # at most the size of any element
            return x.norm(p) if count else INF
        if order == INF:
            return of_largest(count, x.norm, p)
        if order < 1:
            return times(raised(float(count), 1 / order), of_largest(count, x.norm, p))
        # it is at most the sum of the sizes, too
        root = times(raised(float(count), 1 / order), x.norm(max(p, order)))
        return min(root, times(count, x.norm(p)))

    def spread(self, use: Applied, p: float) -> float:
        """For orders >= 1, two norms differ by at most the norm of the difference."""
        x, count, order = use.arguments[0], use.length(), float(use.options.get("ord", 2.0))
        if order < 1:
            return INF
        if order == INF:
            return 2 * of_largest(count, x.spread, p)
        both = slack(p) if order == 2 else 2.0
        return times(both, raised(float(count), 1 / order), x.spread(max(p, order)))

    def inverse(self, use: Applied, r: float) -> float:
        """For order 2, as the root of a sum of squares."""
        if float(use.options.get("ord", 2.0)) != 2:
            return INF
        return raised(inverse_of_sum(use, r / 2, 2.0), 0.5)


class MeanSquare(OverAxes):
    """The rules of Σ (x - mean)² / (n - ddof) and its root: it is least about the mean."""

    def __init__(self, power: float) -> None:
        self._power = power

    def norm(self, use: Applied, p: float) -> float:
        """||Σ (x - c)²||_q is at most n ||x - c||_2q²; the order 2q is at least 2."""
        count, ddof = use.length(), float(use.options.get("ddof", 0.0))
        if count - ddof <= 0:
            return INF
        order = max(2 * p * self._power, 2.0)
        square = times(count / (count - ddof), raised(about(use.arguments[0], order), 2.0))
        if self._power == 1:
            return square
        sizes = times(count / math.sqrt(count - ddof), about(use.arguments[0], p))
        return min(raised(square, self._power), sizes)  # at most the sum of the distances, too

    def inverse(self, use: Applied, r: float) -> float:
        """By the densities of the distances from the mean, one after the other."""
        x, count, ddof = use.arguments[0], use.length(), float(use.options.get("ddof", 0.0))
        if count - ddof <= 0:
            return INF
        near = inverse_of_squares(x.weights_of_squares(use.axes(), centred=True), self._power * r)
        return raised(times(count - ddof, near), self._power)


class AllProduct(OverAxes):
    """The rules of the product of the elements along some axes; `running`: of running products."""

    def __init__(self, running: bool) -> None:
        self._running = running

    def norm(self, use: Applied, p: float) -> float:
        """The power of one norm for independent elements, otherwise by Hölder's inequality."""
        return self._raised(use, p, use.arguments[0].norm)

    def inverse(self, use: Applied, r: float) -> float:
        """As for the norm, for the product of the reciprocals."""
        return self._raised(use, r, use.arguments[0].inverse)

    def _raised(self, use: Applied, p: float, each: NormBound) -> float:
        x, count = use.arguments[0], use.length()
        together = math.prod(x.shape[axis] for axis in use.axes() if axis not in x.apart)
        if not count:
            return 1.0
        one = each(p * together)
        bound = raised(one, float(count))
        return max(bound, one) if self._running else bound

    def mean(self, use: Applied) -> Hull:
        """For independent elements, if their means are all the same or between 0 and 1."""
        mean = use.arguments[0].mean
        apart = use.arguments[0].apart.issuperset(use.axes()) and not self._running
        if not apart or not mean.bounded:
            return EVERYWHERE
        if mean.low == mean.high:
            product = raised(abs(mean.low), float(use.length()))
            product *= -1.0 if mean.low < 0 and use.length() % 2 else 1.0
            return Hull(product, product)
        return UNIT if mean.low >= 0 and mean.high <= 1 else EVERYWHERE


# ---- matrices -----------------------------------------------------------------------------------


def determinant(use: Applied, p: float) -> float:
    """At most the product of the lengths of its n rows, each √n times one element or less.

    The bound is Hadamard's (1893), with Hölder's inequality.
    """
    x = use.arguments[0]
    count = x.shape[-1]
    if not count:
        return 1.0
    length = times(math.sqrt(count), x.norm(max(count * p, 2.0)))
    return raised(length, float(count))


def eigenvalues(use: Applied, p: float) -> float:
    """No eigenvalue or singular value is above the root of the sum of all squares (Frobenius)."""
    x = use.arguments[0]
    return times(math.sqrt(x.shape[-1] * x.shape[-2]), x.norm(max(p, 2.0)))


class Solved(Majorant):
    """The rules of the x with A @ x == b for a fixed matrix A: it is linear in b."""

    def norm(self, use: Applied, p: float) -> float:
        """At most the norm of b times the largest sum of sizes in a row of the inverse."""
        return times(_largest_row(use), use.arguments[1].norm(p))

    def spread(self, use: Applied, p: float) -> float:
        """As for the norm, for the distances from the means."""
        return times(_largest_row(use), use.arguments[1].spread(p))


def _largest_row(use: Applied) -> float:
    fixed = use.arguments[0].fixed
    if fixed is None:
        return INF
    try:
        inverse = np.linalg.inv(np.moveaxis(np.asarray(fixed, dtype=np.float64), -1, 0))
    except np.linalg.LinAlgError:
        return INF
    row = float(np.abs(inverse).sum(axis=-1).max())
    return row * (1 + 1e-9 * float(np.linalg.cond(fixed[..., 0]).max())) if row < INF else INF


def cholesky_factor(use: Applied, p: float) -> float:
    """The squares of a row of the factor sum to an element of the matrix's diagonal."""
    return raised(use.arguments[0].norm(p / 2), 0.5)


class LogSumExp(OneOfMany):
    """The rules of the log of a sum of exponentials: the largest element, plus at most log n."""

    def __init__(self) -> None:
        super().__init__(between=True)

    def norm(self, use: Applied, p: float) -> float:
        """The norm of the largest element plus log n."""
        return super().norm(use, p) + math.log(max(use.length(), 1))

    def log_moment(self, use: Applied, t: float) -> float:
        """exp(t f) is (Σ exp x)^t: by Minkowski for t >= 1; for t < 1 the power is subadditive."""
        x, count = use.arguments[0], math.log(max(use.length(), 1))
        if t < 0:
            return x.log_moment(t)
        return max(t, 1.0) * count + x.log_moment(t)
