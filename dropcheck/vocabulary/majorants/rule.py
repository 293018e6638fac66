"""What bounds a function's size: upper bounds on the norms of its result, from its arguments'.

The norm of order p of a random number x is ||x||_p = (E|x|^p)^(1/p); of an array it is that of
the element that has the largest. A `Majorant` is a fact about a function, such as |f(u)| <= |u| +
log 2, put as rules on norms; each rule is an inequality that holds for all laws, so that no bound
is ever below the truth, and infinity where nothing better is known. Draws in which a quantity is
undefined do not count: every bound is one on the draws in which it is defined.

Beside the norm there are, of the same shape,

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
from typing import Any, NamedTuple, Protocol

from dropcheck.records import record
from dropcheck.vocabulary.hulls import EVERYWHERE, Hull
from dropcheck.vocabulary.majorants.bounds_arithmetic import INF
from dropcheck.vocabulary.shapes import Options, Shape, flag, normalise_axes


class Argument(Protocol):
    """What a rule may ask of one argument of a function."""

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
        """Its array, draws last, where it does not vary; else None."""

    @property
    def apart(self) -> frozenset[int]:
        """The axes along which the slices of a draw are independent of one another."""

    @property
    def centred(self) -> frozenset[int]:
        """The axes along which a slice has the mean 0, whatever other slices are."""

    @property
    def signed(self) -> frozenset[int]:
        """The axes along which the sign of each slice may be turned by itself: the law stays."""

    @property
    def density(self) -> float:
        """What the density of each element is at most, infinite where that is not known."""

    @property
    def variance_proxy(self) -> float:
        """v, with log E exp(t (x - E x)) at most v t² / 2 for every t; infinite where unknown."""

    def norm(self, p: float) -> float:
        """A bound of the norm; of an order below 1 that of order 1."""

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
        """Whether it lies between 0 and 1, and 1 less it has the same log-size."""

    def weights_of_squares(self, axes: Sequence[int], *, centred: bool) -> Sequence[float]:
        """Weights w, with Σ x² >= Σ w u² over some axes; centred: of x less its mean along these.

        Each u has a density of at most 1, whatever those before it are; nothing where none are
        known.
        """

    def parts(self) -> Sequence[Sequence[tuple[Argument, float]]]:
        """Its size as a product of powers of others, in groups that share no draw."""

    @property
    def terms(self) -> Sequence[Argument]:
        """The two that it is the sum or the difference of; itself where it is neither."""

    def held_by(self, other: Argument) -> tuple[float, float] | None:
        """Numbers c and e, where its size is at most c times another to the power e."""


ArgumentPower = tuple[Argument, float]
"""A quantity and the power that it is raised to."""


class Came(NamedTuple):
    """The axes of an argument that an axis of the result is made of, and how; None: as it is.

    Each slice of the result is made of slices of the argument along these axes, which no other
    slice is made of. Of two axes that came from one in the same way, slice i is made of the same.
    """

    axes: tuple[int, ...]
    way: object


def came(axes: Iterable[int]) -> list[Came | None]:
    """Axes of the argument as they are, in their new order."""
    return [Came((axis,), None) for axis in axes]


@record
class Applied:
    """One use of a function: its arguments, its options, the shape of the result.

    `independent` says that no two arguments share a draw, `same` that both of two are one quantity.
    `parts` gives the result as a product of powers, opened as far as it is one, in groups that
    share no draw.
    """

    arguments: Sequence[Argument]
    options: Mapping[str, Any]
    shape: Shape
    independent: bool
    same: bool
    parts: Callable[[], Sequence[Sequence[ArgumentPower]]]

    def axes(self) -> tuple[int, ...]:
        """The axes of the first argument that are meant."""
        return normalise_axes(self.options.get("axis"), self.arguments[0].shape)

    def length(self) -> int:
        """How many elements of the first argument lie along these axes."""
        shape = self.arguments[0].shape
        return math.prod(shape[axis] for axis in self.axes())


# ---- what an entry says -------------------------------------------------------------------------


class Majorant:
    """The rules of one function; this one knows nothing.

    Each takes the use of the function and an order; what is derived for every function, such as
    the norm from the hull, is no business of these. `holds_back`: it keeps what grows from going
    below or above some value, as a queue's length stays above 0. `even_share`: it lies between 0
    and 1, and what bounds its logarithm bounds that of 1 less it.
    """

    holds_back = False
    even_share = False

    def norm(self, use: Applied, p: float) -> float:
        """A bound of ||f||_p."""
        return INF

    def spread(self, use: Applied, p: float) -> float:
        """A bound of ||f - E f||_p, where it is better than what follows from the norm."""
        return INF

    def log_moment(self, use: Applied, t: float) -> float:
        """A bound of log E exp(t · f)."""
        return INF

    def inverse(self, use: Applied, r: float) -> float:
        """A bound of (E|f|^-r)^(1/r)."""
        return INF

    def log_size(self, use: Applied, p: float) -> float:
        """A bound of || log|f| ||_p, where it is better than what follows from norm and inverse."""
        return INF

    def mean(self, use: Applied) -> Hull:
        """Where the means of all elements lie."""
        return EVERYWHERE

    def linear_in(self, use: Applied) -> Sequence[int]:
        """The places of arguments that the result is linear in, the others independent of each."""
        return ()

    def kept_axes(self, shape: Shape, options: Options) -> Sequence[Came | None]:
        """For each axis of the result the axes of the first argument that it came from.

        Its slices are then made of slices along these, and of what is fixed, alone.
        """
        return ()

    def powers(self, use: Applied) -> Sequence[tuple[int, float]]:
        """|f| as a product of powers of arguments, each by its place; nothing where it is none."""
        return ()


NONE = Majorant()


class OverAxes(Majorant):
    """One number of the elements along some axes of its argument."""

    def kept_axes(self, shape: Shape, options: Options) -> Sequence[Came | None]:
        """The other axes, in their order."""
        axes = normalise_axes(options.get("axis"), shape)
        kept = [None if axis in axes else Came((axis,), None) for axis in range(len(shape))]
        if flag(options.get("keepdims", 0), "keepdims"):
            return kept
        return [one for one in kept if one is not None]


class NormAlone(Majorant):
    """A function of which the norm alone is bounded."""

    def __init__(self, rule: Callable[[Applied, float], float]) -> None:
        self._rule = rule

    def norm(self, use: Applied, p: float) -> float:
        """By its rule."""
        return self._rule(use, p)


class Bounded(Majorant):
    """Never larger than a number, beside what its hull says."""

    def __init__(self, by: Callable[[Applied], float]) -> None:
        self._by = by

    def norm(self, use: Applied, p: float) -> float:
        """The number."""
        return self._by(use)

    def log_moment(self, use: Applied, t: float) -> float:
        """The largest of t · f."""
        return abs(t) * self._by(use)
