"""The largest of some elements, their norms, products and order; matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dropcheck.vocabulary.hulls import EVERYWHERE, UNIT, Hull, union
from dropcheck.vocabulary.majorants.bounds_arithmetic import INF, ZERO, raised, size, times
from dropcheck.vocabulary.majorants.growing import about, slack
from dropcheck.vocabulary.majorants.rule import Applied, Came, Majorant, OverAxes, came
from dropcheck.vocabulary.majorants.sums import NormBound, inverse_of_sum, of_largest
from dropcheck.vocabulary.majorants.sums_of_squares import inverse_of_squares
from dropcheck.vocabulary.shapes import Options, Shape

AxesRule = Callable[[Shape, Options], Sequence[Came | None]]
"""Where each axis of a result comes from, by the shape of the argument and the options."""

# ---- the largest, the middle, in order ----------------------------------------------------------


class Rearranged(Majorant):
    """The same elements in another place; `gaps`: with 0 between them.

    `axes` says from which axes the axes came, where that is known.
    """

    def __init__(self, axes: AxesRule | None = None, *, gaps: bool = False) -> None:
        self._axes, self._gaps = axes, gaps

    def kept_axes(self, shape: Shape, options: Options) -> Sequence[Came | None]:
        """As it is known."""
        return () if self._axes is None else self._axes(shape, options)

    def norm(self, use: Applied, p: float) -> float:
        """The largest."""
        return max(one.norm(p) for one in use.arguments)

    def spread(self, use: Applied, p: float) -> float:
        """The largest."""
        return max(one.spread(p) for one in use.arguments)

    def log_moment(self, use: Applied, t: float) -> float:
        """The largest."""
        found = max(one.log_moment(t) for one in use.arguments)
        return max(found, 0.0) if self._gaps else found

    def inverse(self, use: Applied, r: float) -> float:
        """The largest."""
        return INF if self._gaps else max(one.inverse(r) for one in use.arguments)

    def mean(self, use: Applied) -> Hull:
        """All of them."""
        found = union([one.mean for one in use.arguments])
        return union([found, ZERO]) if self._gaps else found


class WithGaps(Rearranged):
    """Some elements in their places, and 0 in the others: a product with a fixed mask."""

    def __init__(self) -> None:
        super().__init__(lambda shape, _options: came(range(len(shape))), gaps=True)

    def linear_in(self, use: Applied) -> Sequence[int]:
        """The one argument."""
        return (0,)


class TakenAt(Majorant):
    """Elements of the first argument, by indices that may be random.

    An independent index makes a mixture of the elements, which is no larger than the largest of
    them; of any other, all are summed up.
    """

    def norm(self, use: Applied, p: float) -> float:
        """The largest, or that of the largest element."""
        x = use.arguments[0]
        return x.norm(p) if use.independent else of_largest(x.shape[0], x.norm, p)

    def spread(self, use: Applied, p: float) -> float:
        """The largest, if all elements have one mean or the index is fixed."""
        x, index = use.arguments
        still = index.fixed is not None or (use.independent and x.mean.low == x.mean.high)
        return x.spread(p) if still else INF

    def log_moment(self, use: Applied, t: float) -> float:
        """The largest, or the sum."""
        x = use.arguments[0]
        return x.log_moment(t) + (0.0 if use.independent else math.log(max(x.shape[0], 1)))

    def inverse(self, use: Applied, r: float) -> float:
        """The largest, or the sum."""
        x = use.arguments[0]
        return times(x.inverse(r), 1.0 if use.independent else max(x.shape[0], 1) ** (1 / r))

    def mean(self, use: Applied) -> Hull:
        """One of theirs, where the index is independent."""
        return use.arguments[0].mean if use.independent else EVERYWHERE


class OneOfMany(OverAxes):
    """One of the elements along some axes, or between two of them, such as the largest.

    It moves no further than the element that moves furthest. `between`: between two of them.
    """

    def __init__(self, between: bool = False) -> None:
        self._between = between

    def norm(self, use: Applied, p: float) -> float:
        """That of the largest size, or of the largest distance from the mean that all share."""
        x, count = use.arguments[0], use.length()
        found = of_largest(count, x.norm, p)
        if x.mean.low == x.mean.high:
            found = min(found, size(x.mean) + of_largest(count, x.spread, p))
        return found

    def spread(self, use: Applied, p: float) -> float:
        """As of a slope of 1, of the largest distance."""
        x = use.arguments[0]
        if p == 2:
            return min(
                times(math.sqrt(use.length()), x.spread(p)),
                2 * of_largest(use.length(), x.spread, p),
            )
        return 2 * of_largest(use.length(), x.spread, p)

    def log_moment(self, use: Applied, t: float) -> float:
        """E exp(t f) is at most the sum of those of all."""
        return math.log(max(use.length(), 1)) + use.arguments[0].log_moment(t)

    def inverse(self, use: Applied, r: float) -> float:
        """E|f|^-r is at most the sum of those of all."""
        if self._between:
            return INF
        return times(raised(float(use.length()), 1 / r), use.arguments[0].inverse(r))


# ---- norms, squares, products -------------------------------------------------------------------


class VectorNorm(OverAxes):
    """The vector norm of some order of the elements along some axes."""

    def norm(self, use: Applied, p: float) -> float:
        """(Σ|x|^o)^(1/o) has at most n^(1/o) times the norm of one, of order max(p, o)."""
        x, count, order = use.arguments[0], use.length(), float(use.options.get("ord", 2.0))
        if order == 0:
            return float(count)
        if order < 0:  # no larger than any of the sizes
            return x.norm(p) if count else INF
        if order == INF:
            return of_largest(count, x.norm, p)
        if order < 1:
            return times(raised(float(count), 1 / order), of_largest(count, x.norm, p))
        # no larger than the sum of the sizes, either
        root = times(raised(float(count), 1 / order), x.norm(max(p, order)))
        return min(root, times(count, x.norm(p)))

    def spread(self, use: Applied, p: float) -> float:
        """The norm moves no further than the norm of the difference is (order >= 1)."""
        x, count, order = use.arguments[0], use.length(), float(use.options.get("ord", 2.0))
        if order < 1:
            return INF
        if order == INF:
            return 2 * of_largest(count, x.spread, p)
        both = slack(p) if order == 2 else 2.0
        return times(both, raised(float(count), 1 / order), x.spread(max(p, order)))

    def inverse(self, use: Applied, r: float) -> float:
        """Of order 2, the root of a sum of squares."""
        if float(use.options.get("ord", 2.0)) != 2:
            return INF
        return raised(inverse_of_sum(use, r / 2, 2.0), 0.5)


class MeanSquare(OverAxes):
    """Σ (x - mean)² / (n - ddof), or its root: no larger about any other number than the mean."""

    def __init__(self, power: float) -> None:
        self._power = power

    def norm(self, use: Applied, p: float) -> float:
        """||Σ (x - c)²||_q is at most n ||x - c||_2q²; the order 2q is 2 at least."""
        count, ddof = use.length(), float(use.options.get("ddof", 0.0))
        if count - ddof <= 0:
            return INF
        order = max(2 * p * self._power, 2.0)
        square = times(count / (count - ddof), raised(about(use.arguments[0], order), 2.0))
        if self._power == 1:
            return square
        sizes = times(count / math.sqrt(count - ddof), about(use.arguments[0], p))
        return min(raised(square, self._power), sizes)  # no larger than the sum of the distances

    def inverse(self, use: Applied, r: float) -> float:
        """By how near the distances from the mean come to 0, one after the other."""
        x, count, ddof = use.arguments[0], use.length(), float(use.options.get("ddof", 0.0))
        if count - ddof <= 0:
            return INF
        near = inverse_of_squares(x.weights_of_squares(use.axes(), centred=True), self._power * r)
        return raised(times(count - ddof, near), self._power)


class AllProduct(OverAxes):
    """The product of the elements along some axes; `running`: of all up to each one."""

    def __init__(self, running: bool) -> None:
        self._running = running

    def norm(self, use: Applied, p: float) -> float:
        """Of independent ones the power, by Hölder's inequality otherwise."""
        return self._raised(use, p, use.arguments[0].norm)

    def inverse(self, use: Applied, r: float) -> float:
        """That of the reciprocals."""
        return self._raised(use, r, use.arguments[0].inverse)

    def _raised(self, use: Applied, p: float, each: NormBound) -> float:
        x, count = use.arguments[0], use.length()
        together = math.prod(x.shape[axis] for axis in use.axes() if axis not in x.apart)
        if not count:
            return 1.0
        one = each(p * together)
        found = raised(one, float(count))
        return max(found, one) if self._running else found

    def mean(self, use: Applied) -> Hull:
        """Of independent ones, of means between 0 and 1 or all the same, the power."""
        mean = use.arguments[0].mean
        apart = use.arguments[0].apart.issuperset(use.axes()) and not self._running
        if not apart or not mean.bounded:
            return EVERYWHERE
        if mean.low == mean.high:
            found = raised(abs(mean.low), float(use.length()))
            found *= -1.0 if mean.low < 0 and use.length() % 2 else 1.0
            return Hull(found, found)
        return UNIT if mean.low >= 0 and mean.high <= 1 else EVERYWHERE


# ---- matrices -----------------------------------------------------------------------------------


def determinant(use: Applied, p: float) -> float:
    """By its n rows, each of length at most √n times one element (Hadamard 1893; Hölder)."""
    x = use.arguments[0]
    count = x.shape[-1]
    if not count:
        return 1.0
    length = times(math.sqrt(count), x.norm(max(count * p, 2.0)))
    return raised(length, float(count))


def eigenvalues(use: Applied, p: float) -> float:
    """None, nor a singular value, is above the root of all elements' squares (Frobenius)."""
    x = use.arguments[0]
    return times(math.sqrt(x.shape[-1] * x.shape[-2]), x.norm(max(p, 2.0)))


class Solved(Majorant):
    """The x with A @ x == b, of a matrix that is fixed: linear in b."""

    def norm(self, use: Applied, p: float) -> float:
        """No larger than b, times the largest sum of the sizes in a row of the inverse."""
        return times(_largest_row(use), use.arguments[1].norm(p))

    def spread(self, use: Applied, p: float) -> float:
        """The same of the distances from the means."""
        return times(_largest_row(use), use.arguments[1].spread(p))


def _largest_row(use: Applied) -> float:
    fixed = use.arguments[0].fixed
    if fixed is None:
        return INF
    try:
        inverse = np.linalg.inv(np.moveaxis(np.asarray(fixed, dtype=np.float64), -1, 0))
    except np.linalg.LinAlgError:
        return INF
    found = float(np.abs(inverse).sum(axis=-1).max())
    return found * (1 + 1e-9 * float(np.linalg.cond(fixed[..., 0]).max())) if found < INF else INF


def cholesky_factor(use: Applied, p: float) -> float:
    """The squares of a row of it sum to an element of the diagonal."""
    return raised(use.arguments[0].norm(p / 2), 0.5)


class LogSumExp(OneOfMany):
    """Between the largest element and that plus log n."""

    def __init__(self) -> None:
        super().__init__(between=True)

    def norm(self, use: Applied, p: float) -> float:
        """That of the largest, and log n."""
        return super().norm(use, p) + math.log(max(use.length(), 1))

    def log_moment(self, use: Applied, t: float) -> float:
        """exp(t f) is (Σ exp x)^t: by Minkowski for t >= 1, subadditive below."""
        x, count = use.arguments[0], math.log(max(use.length(), 1))
        if t < 0:
            return x.log_moment(t)
        return max(t, 1.0) * count + x.log_moment(t)
