"""Bounds of the norms of a draw whose arguments are random."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from dropcheck.vocabulary.distributions.distribution import Distribution
from dropcheck.vocabulary.distributions.moment_lists import count_norm
from dropcheck.vocabulary.distributions.standard import ArgumentHull, ArgumentNorm
from dropcheck.vocabulary.hulls import Hull


def norm_of_random_draw(
    law: Distribution, p: float, norm: ArgumentNorm, hull: ArgumentHull
) -> float:
    """The least of the bounds that `Law.random_norm` describes."""
    bounds = [math.inf if callable(law.ends) else max(map(abs, law.ends))]
    if law.norm_of_random is not None:
        bounds.append(float(law.norm_of_random(p, norm, hull)))
    if not any(parameter.axes for parameter in law.parameters):
        bounds.append(_of_line(law, p, norm, hull))
        if law.greatest_at_corners:
            bounds.append(_at_corners(law, p, [hull(i) for i in range(len(law.parameters))]))
    return min(bound for bound in bounds if not math.isnan(bound))


def _at_corners(law: Distribution, p: float, hulls: Sequence[Hull]) -> float:
    if not all(one.bounded for one in hulls):
        return math.inf
    # hulls are a little wider than the domains in which the formulas hold
    pairs = zip(law.parameters, hulls, strict=True)
    ends = [parameter.domain.within(one.low, one.high) for parameter, one in pairs]
    return max(float(law.norm(p, *corner)) for corner in itertools.product(*map(set, ends)))


def _of_line(law: Distribution, p: float, norm: ArgumentNorm, hull: ArgumentHull) -> float:
    """Of x = loc + scale · z, by Minkowski's inequality, as z is independent of loc and scale."""
    if law.standard_arguments is None:
        return math.inf
    units = law.standard_arguments
    of_z = _at_corners(
        law, p, [hull(i) if unit is None else Hull(unit, unit) for i, unit in enumerate(units)]
    )
    total = 0.0
    for i, unit in enumerate(units):
        # loc and scale are linear in the arguments: their factors are the values at unit vectors
        line = law.as_line(*(float(i == place) for place in range(len(units))))
        if unit is not None and line is not None:
            loc, scale, _ = line
            total += (abs(loc) + abs(scale) * of_z) * norm(i, p)
    return total


def counted_at_most(
    p: float, largest: float, norm_of_rate: Callable[[float], float], trials: float = math.inf
) -> float:
    """A bound of (E x^p)^(1/p) for a Poisson or binomial count x with a random rate.

    Given the arguments, E x (x - 1) … (x - j + 1) is rate^j for a Poisson law, at most that for a
    binomial law with the rate n p, and 0 for j above n.

    Args:
        p: At least 1.
        largest: A bound of x.
        norm_of_rate: Takes a whole j from 1 on, and returns (E rate^j)^(1/j) or a bound of it.
        trials: The largest number of trials.
    """

    def log_factorial_moment(j: int) -> float:
        rate = norm_of_rate(j)
        return -math.inf if rate == 0 or j > trials else j * math.log(rate)

    return min(largest, float(count_norm(p, log_factorial_moment)))
