"""The moments and the distribution function of a law in standard units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dropcheck.records import record
from dropcheck.vocabulary.distributions.moment_lists import (
    HIGHEST_ORDER,
    MomentList,
    central_from_cumulants,
    cumulants_from_central,
    norm_between,
    raw_from_central,
)
from dropcheck.vocabulary.hulls import Hull

ArgumentNorm = Callable[[int, float], float]
"""Takes the number of an argument and an order q, and returns a bound of (E|argument|^q)^(1/q),
which is infinite if none is known."""

ArgumentHull = Callable[[int], Hull]
"""Takes the number of an argument, and returns an interval that holds all its values."""


@record(kw_only=True)
class Standard:
    """What is known of the law of z, where a draw is loc + scale · z.

    The functions take the shapes of z: the arguments of its law besides loc and scale. These are
    numbers, or arrays that broadcast, and so are the results. `Law.line` computes loc, scale and
    the shapes from the arguments of a law; several laws may share one standard law.
    """

    mean: Callable[..., Any]
    # Lists of orders 0 to 8. At least one of the two is given: the one with a formula that does not
    # cancel. Entries of orders 0 and 1, and of moments that do not exist, are not read.
    central: Callable[..., MomentList] | None = None
    cumulants: Callable[..., MomentList] | None = None
    # (E|z|^p)^(1/p), or a bound of it: takes p >= 1 before the shapes, for p at which that moment
    # exists
    norm: Callable[..., Any] | None = None
    # log E exp(t z), or a bound of it, possibly infinite: takes t before the shapes
    log_mgf: Callable[..., Any] | None = None

    # P(z <= x), P(z > x), the least x with P(z <= x) >= u, and the least x with P(z > x) <= v: each
    # to its last digits, however small. They take x, u or v before the shapes.
    cdf: Callable[..., Any] | None = None
    survival: Callable[..., Any] | None = None
    quantile: Callable[..., Any] | None = None
    upper_quantile: Callable[..., Any] | None = None
    quantile_cost: float = 60.0  # rough nanoseconds of a quantile

    def central_moments(self, *shapes: Any) -> MomentList:
        """E(z - E z)^k of each order k from 0 to 8."""
        if self.central is not None:
            return [1.0, 0.0, *self.central(*shapes)[2:]]
        assert self.cumulants is not None
        return central_from_cumulants(self.cumulants(*shapes))

    def cumulant_list(self, *shapes: Any) -> MomentList:
        """The cumulants of each order from 0 to 8."""
        mean = self.mean(*shapes)
        if self.cumulants is not None:
            return [0.0, mean, *self.cumulants(*shapes)[2:]]
        return cumulants_from_central(mean, self.central_moments(*shapes))

    def norm_by_moments(self, p: float, move: Any, shapes: Any, one_signed: Any, below: Any) -> Any:
        """A bound of (E|move + z|^p)^(1/p) by moments of whole orders; infinite for p above 8.

        `one_signed` says where move + z has one sign, so that its odd moments are those of its
        size. Only moments of orders below `below` exist: results of formulas for others are wrong.
        """
        if p > HIGHEST_ORDER:
            return np.inf
        formulas = raw_from_central(move + self.mean(*shapes), self.central_moments(*shapes))
        raw = [np.where(order < below, one, np.inf) for order, one in enumerate(formulas)]
        by_all = np.where(one_signed, _between(p, raw, 1), np.inf)
        return np.fmin(by_all, _between(p, raw, 2))


def _between(p: float, raw: MomentList, step: int) -> Any:
    """A bound of (E|x|^p)^(1/p) by the moments beside p of the orders 0, step, 2 step, …."""
    below = int(p // step) * step
    if below == p:
        return np.abs(raw[below]) ** (1 / p)
    above = below + step
    lower, upper = (np.log(np.abs(np.asarray(raw[order], dtype=float))) for order in (below, above))
    return norm_between(p, (below, lower), (above, upper))
