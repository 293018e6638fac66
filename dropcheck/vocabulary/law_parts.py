"""The values of a law cut into strata: the law within one stratum, and a mixture of all strata.

A stratum lies between two values of the law. Each is given by the probabilities below and above it,
so that values far out in either tail keep their digits.
"""

from __future__ import annotations

import copyreg
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.records import record
from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.distributions.standard import Standard
from dropcheck.vocabulary.law import Arguments, Generator, Law, Size, derived

# No stratum has a smaller probability.
FARTHEST = 1e-250
# The level at which a stratum of nearly all values is cut: not 0.5, where models have their kinks.
NEAR_MIDDLE = 0.47
# The additional cost of a draw from a mixture over one from its law, in rough nanoseconds.
MIXTURE_COST = 150.0


@record
class QuantileLevel:
    """A value of a continuous law, given by the probabilities below it and above it.

    They add up to 1, and the smaller of them has all its digits.
    """

    below: float
    above: float

    @classmethod
    def from_below(cls, chance: float) -> QuantileLevel:
        """The value with this probability below it."""
        return cls(chance, 1.0 - chance)

    @classmethod
    def from_above(cls, chance: float) -> QuantileLevel:
        """The value with this probability above it."""
        return cls(1.0 - chance, chance)

    def of(self, law: Law, arguments: Sequence[Any]) -> float:
        """The value, for a law with fixed arguments."""
        if self.below <= self.above:
            return float(law.quantile(self.below, *arguments))
        return float(law.upper_quantile(self.above, *arguments))


@record
class Stratum:
    """The values between two levels."""

    low: QuantileLevel
    high: QuantileLevel

    @property
    def chance(self) -> float:
        """The probability of the stratum, computed from the nearer tail.

        >>> ends = QuantileLevel.from_above(2**-64), QuantileLevel.from_above(2**-66)
        >>> Stratum(*ends).chance == 3 * 2**-66
        True
        """
        if self.high.below <= self.low.above:
            return self.high.below - self.low.below
        return self.low.above - self.high.above

    @property
    def lower(self) -> bool:
        """Whether the stratum is nearer to the lower tail."""
        return self.high.below <= self.low.above

    def halves(self) -> tuple[Stratum, Stratum] | None:
        """The stratum in two, far out cut at the geometric mean; None if it is cut no further."""
        if self.low.below < 0.2 and self.high.above < 0.2:
            middle = QuantileLevel.from_below(NEAR_MIDDLE)
        elif self.lower:
            middle = QuantileLevel.from_below(_between(self.low.below, self.high.below))
        else:
            middle = QuantileLevel.from_above(_between(self.high.above, self.low.above))
        first, last = Stratum(self.low, middle), Stratum(middle, self.high)
        return (first, last) if min(first.chance, last.chance) > FARTHEST else None


def _between(least: float, most: float) -> float:
    """A probability between two: the geometric mean; if one is 0, about the square of the other."""
    return math.sqrt(least * most) if least > 0 else min(most**2, most / 8)


@record(kw_only=True, eq=False)
class LawPart(Law):
    """A law with fixed arguments, given that its value lies in a stratum.

    `moment` gives E (x - E x)^order, of an order from 2 to 8.
    """

    whole: Law
    stratum: Stratum
    moment: Callable[[int], float]

    def central(self, order: int, *_: Any) -> float:
        """E (x - E x)^order; NaN if it is not known."""
        return self.moment(order) if order > 1 else 1.0 - order


def part_of(
    law: Law,
    arguments: Sequence[Any],
    stratum: Stratum,
    mean: Callable[[], float] = lambda: math.nan,
    moment: Callable[[int], float] = lambda _: math.nan,
) -> LawPart:
    """A law with fixed arguments within a stratum; to be used with these arguments only.

    Args:
        law: the law.
        arguments: its fixed arguments.
        stratum: the stratum in which its value lies.
        mean: gives E x there.
        moment: gives E (x - E x)^order there, for orders from 2 to 8; NaN if it is not known.
    """
    ends = (stratum.low.of(law, arguments), stratum.high.of(law, arguments))
    chance = stratum.chance
    return derived(
        LawPart,
        law,
        whole=law,
        stratum=stratum,
        moment=moment,
        ends=ends,
        degenerate=None,
        moments=math.inf if all(map(math.isfinite, ends)) else law.moments,
        line=None,
        standard_arguments=None,
        norm_of_random=None,
        standard=Standard(
            mean=lambda *_: mean(),
            central=lambda *_: [1.0, 0.0] + [math.nan] * 7,  # the method `central` replaces it
            # within a part of probability c, E|x|^p is at most E|x|^p of the whole law, over c
            norm=lambda p, *_: law.norm(p, *arguments) * chance ** (-1 / p),
        ),
    )


@record(kw_only=True, eq=False)
class Mixture(Law):
    """Draws pairs of a value and its weight: a stratum by its share, then a value of the stratum.

    The weight is the probability of the stratum under the law, over its share in the mixture. So
    the mean of weight times f(value) is the mean of f(value) under the law, if the strata hold all
    its values (Hesterberg 1995, "Weighted average importance sampling and defensive mixture
    distributions", Technometrics 37).
    """

    whole: Law
    strata: tuple[Stratum, ...]
    shares: tuple[float, ...]


def mixture_of(law: Law, strata: tuple[Stratum, ...], shares: tuple[float, ...]) -> Mixture:
    """The mixture of the strata of a law, with shares that add up to 1."""
    lower = np.array([one.lower for one in strata])
    start = np.array([one.low.below if one.lower else one.high.above for one in strata])
    chances = np.array([one.chance for one in strata])
    weights = chances / np.array(shares)
    # without the last edge, which rounding may put below 1
    edges = np.cumsum(shares)[:-1]

    def drawn(generator: Generator, size: Size, *arguments: Any) -> Floats:
        draws = size[-1]
        own = np.searchsorted(edges, generator.random(draws), side="right")
        # the probability below or above the value, in the nearer tail; never 0
        levels = start[own] + chances[own] * (1.0 - generator.random(draws))
        result = np.empty((2, draws))
        from_below = lower[own]
        numbers = [np.asarray(one)[..., 0] if np.ndim(one) else one for one in arguments]
        for side, quantile in ((from_below, law.quantile), (~from_below, law.upper_quantile)):
            result[0, side] = quantile(levels[side], *numbers)
        result[1] = weights[own]
        return result

    return derived(Mixture, law, whole=law, strata=strata, shares=shares, sampler=drawn)


def can_be_cut(law: Law, arguments: Arguments | Sequence[Any]) -> bool:
    """Whether a law with fixed arguments can be cut: it is continuous, and its quantiles known."""
    if law.values is not Values.NUMBERS or law.own_axes is not None:
        return False
    if any(parameter.axes for parameter in law.parameters) or law.constant(*arguments) is not None:
        return False
    middle = law.quantile(0.5, *arguments), law.upper_quantile(0.5, *arguments)
    return None not in middle and all(map(math.isfinite, middle))


copyreg.pickle(Mixture, lambda one: (mixture_of, (one.whole, one.strata, one.shares)))
