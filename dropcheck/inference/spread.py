"""The spread of one average, as the model bounds it, and the interval that follows from it.

Where the variance of a block mean is known, Catoni's interval takes it as it is. Where the model
only bounds moments, the bound of the second one may be far above the truth. Then the blocks
themselves bound the variance from above, at a confidence of its own: that needs a bound of the
fourth moment alone, and with many draws it matters little how loose this bound is.

The means of nets vary by far less than their bounds allow. Their interval is of the empirical
Bernstein kind: it holds for every law and every number of values, and its width adapts to how
little they vary.

For ξ ≥ -1 and 0 ≤ λ < 1, with ψ(λ) = -log(1 - λ) - λ,

    exp(λξ - ψ(λ)ξ²) ≤ 1 + λξ

(Fan, Grama and Liu 2015, "Exponential inequalities for martingales with applications", Electronic
Journal of Probability 20, lemma 4.1; Waudby-Smith and Ramdas 2024, "Estimating means of bounded
random variables by betting", J. Roy. Stat. Soc. B 86, section 3.2). So for independent values Z of
one law, Z ≥ -b, and λ chosen without them, ξ = Z/b gives with chance at least 1 - α/2 (Markov)

    E Z ≥ mean(Z) - b log(2/α)/(nλ) - ψ(λ)/(λb) mean(Z²),

and the same for -Z. What lies below or above by more than b is cut off: with D = Y - c,
E(|D| - b)₊ ≤ E|D|^p b^(1-p) (p-1)^(p-1)/p^p, the largest value of (x - b)/x^p being at
x = pb/(p-1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.inference.catoni import (
    catoni_interval,
    half_width,
    moment_of_means,
    order_p_half_width,
    order_p_interval,
    variance_above,
    variance_expected,
)
from dropcheck.inference.interval import Theta
from dropcheck.records import record
from dropcheck.vocabulary import special

# Share of the error that pays for the bound of the variance, where that comes from the blocks.
VARIANCE_SHARE = 0.1
# Blocks of more draws than this share of a pilot's vary so little that the error of the pilot's
# mean matters: their own mean is then the centre.
CENTRED = 0.25
# Beyond this the exponential function is infinite.
LARGEST_EXPONENT = 709.0
# λ = 1 would take no variance at all; with this it is 1/20 wider where there is none.
_MOST_RATE = 0.95
# Where all values seen lie at an end of their range, the centre is moved inside by this share of
# the range: a reach of 0 would leave no room for deviations.
LEAST_REACH = 1e-3


@record(kw_only=True)
class Spread:
    """What is known of the spread of one average.

    `exact` gives the variance of the mean of a block, from its number of draws, where the model
    says it. Else `variance` and `fourth` bound the second and the fourth central moment of one
    draw, and `width` is the width of an interval that holds every draw; each is infinite where
    nothing is known. `centre` and `guess` are the mean and the variance of one draw as an
    independent pilot of `pilot` draws shows them.

    Where the variance is infinite, `order` p < 2 and `moment` say that E|X - EX|^p <= moment.

    `left_out` bounds the difference between the mean of what is drawn and the average asked for.
    """

    exact: Callable[[int], float] | None = None
    variance: float = math.inf
    fourth: float = math.inf
    width: float = math.inf
    centre: float = 0.0
    guess: float = 0.0
    pilot: float = math.inf
    order: float = 2.0
    moment: float = math.inf
    left_out: float = 0.0

    def of_block(self, draws: int) -> float:
        """An upper bound of the variance of the mean of so many draws."""
        return self.exact(draws) if self.exact is not None else self.variance / draws

    def interval(self, values: Floats, draws: int, alpha: float) -> tuple[float, float]:
        """An interval that holds the mean with probability 1 − alpha at least.

        Args:
            values: means of independent blocks, [blocks].
            draws: of each block.
            alpha: the chance, in both tails together, with which the interval may miss.
        """
        if self.exact is not None:
            variance = self.exact(draws)
            low, high = catoni_interval(values, variance, variance, alpha)
            return low - self.left_out, high + self.left_out
        if self.order < 2:
            moment = moment_of_means(self.order, self.moment, draws)
            return order_p_interval(values, self.order, moment, moment, alpha)
        share = VARIANCE_SHARE * alpha
        centre = self.centre if self._centred(draws) else None
        above = variance_above(values, draws, self.fourth, share, width=self.width, centre=centre)
        tuning = self._expected(len(values), draws, share)
        return catoni_interval(values, min(self.of_block(draws), above), tuning, alpha - share)

    def half_width(self, rows: int, draws: int, alpha: float) -> float:
        """The half-width to be expected of the interval from so many blocks of so many draws."""
        # plans ask for many numbers of rows: each is rounded down to one of few
        rows = int(2 ** (math.floor(32 * math.log2(rows)) / 32)) if rows > 64 else rows
        if self.exact is not None:
            return half_width(rows, self.exact(draws), alpha) + self.left_out
        if self.order < 2:
            moment = moment_of_means(self.order, self.moment, draws)
            return order_p_half_width(rows, self.order, moment, alpha)
        share = VARIANCE_SHARE * alpha
        return half_width(rows, self._expected(rows, draws, share), alpha - share)

    def standard_error(self, draws: int) -> float:
        """The standard error of the mean of so many draws, as far as it is known or guessed."""
        if self.exact is not None:
            return math.sqrt(self.exact(draws))
        return math.sqrt(min(self.variance, self.guess) / draws)

    def _expected(self, rows: int, draws: int, alpha: float) -> float:
        """The bound of a block mean's variance that so many blocks are expected to give."""
        centred = self._centred(draws)
        seen = variance_expected(
            self.guess / draws, rows, draws, self.fourth, alpha, width=self.width, centred=centred
        )
        return min(self.of_block(draws), seen)

    def _centred(self, draws: int) -> bool:
        return draws <= CENTRED * self.pilot


def seen_variance(values: Floats, draws: int) -> float:
    """The variance of one draw, from means of blocks of `draws` each.

    It is infinite where there are fewer than two blocks, or where a square overflows.

    >>> seen_variance(np.array([1.0, 3.0]), 10), seen_variance(np.array([1.0]), 10)
    (20.0, inf)
    """
    if len(values) < 2:
        return math.inf
    with np.errstate(over="ignore"):
        return float(np.var(values, ddof=1)) * draws


@record(kw_only=True)
class Reach:
    """The largest deviation that counts on one side, and the average of what is cut off there."""

    far: float
    cut: float = 0.0


@record(kw_only=True)
class NetSpread:
    """What is known of the mean of a net, along one direction.

    Its deviations from `centre` are cut off as `below` and `above` say. `guess` is the variance of
    the mean of a net, as an independent pilot shows it.
    """

    centre: float
    below: Reach
    above: Reach
    guess: float

    @classmethod
    def of(
        cls,
        centre: float,
        guess: float,
        ends: tuple[float, float],
        sizes: Mapping[float, float],
        most_cut: float,
    ) -> NetSpread | None:
        """The spread with deviations cut off where that changes the mean little; None if nowhere.

        Args:
            centre: near the mean, chosen without the values that are judged.
            guess: of the variance.
            ends: the values lie between them.
            sizes: by order p, bounds of (E|Y - centre|^p)^(1/p).
            most_cut: the most that cutting off may change the mean by.
        """
        by_moments = Reach(far=_far_enough(sizes, most_cut), cut=most_cut)
        off = LEAST_REACH * (ends[1] - ends[0])
        if 0 < off < math.inf and not ends[0] < centre < ends[1]:
            centre = ends[0] + off if centre <= ends[0] else ends[1] - off
            guess += off * off
        below, above = (
            Reach(far=most) if most <= by_moments.far else by_moments
            for most in (centre - ends[0], ends[1] - centre)
        )
        if not (0 < below.far < math.inf and 0 < above.far < math.inf):
            return None
        return cls(centre=centre, below=below, above=above, guess=guess)

    def interval(
        self, mean: float, mean_square: float, nets: int, alpha: float
    ) -> tuple[float, float]:
        """An interval that holds the mean with chance at least 1 - alpha.

        Args:
            mean: of the deviations of so many nets from the centre, each cut off at the reaches.
            mean_square: of the same deviations.
            nets: independent nets.
            alpha: the chance, in both tails together, with which the interval may miss.
        """
        middle = self.centre + mean
        low = middle - self._width(self.below, mean_square, nets, alpha)
        high = middle + self._width(self.above, mean_square, nets, alpha)
        return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)

    def half_width(self, rows: int, nets: int, alpha: float) -> float:
        """The half-width to be expected of the interval from so many rows of so many nets."""
        sides = (self.below, self.above)
        return sum(self._width(side, self.guess, rows * nets, alpha) for side in sides) / 2

    def standard_error(self, nets: int) -> float:
        """The standard error of the mean of so many nets, as far as it is guessed."""
        return math.sqrt(self.guess / nets)

    def _width(self, side: Reach, mean_square: float, nets: int, alpha: float) -> float:
        allowed = math.log(2 / alpha) / nets
        rate = _best_rate(allowed, self.guess / side.far / side.far)
        psi = -math.log1p(-rate) - rate
        return (side.far * allowed + psi * mean_square / side.far) / rate + side.cut


def _far_enough(sizes: Mapping[float, float], most_cut: float) -> float:
    """The least b beyond which at most `most_cut` is cut off; infinite where none is known."""
    reaches = [math.inf]
    for order, size in sizes.items():
        if most_cut > 0 and 0 < size < math.inf:
            factor = (order - 1) * math.log(order - 1) - order * math.log(order)
            exponent = (order * math.log(size) + factor - math.log(most_cut)) / (order - 1)
            reaches.append(math.exp(exponent) if exponent < LARGEST_EXPONENT else math.inf)
    return min(reaches)


def _best_rate(allowed: float, variance: float) -> float:
    """The λ that makes (allowed + ψ(λ) · variance) / λ least, but for its upper bound.

    >>> round(_best_rate(1e-6, 1e-2), 6), _best_rate(1e-3, 0.0)  # near √(2 · allowed / variance)
    (0.01401, 0.95)
    """

    def excess(rate: float) -> float:  # the derivative's sign: λψ'(λ) - ψ(λ) - allowed/variance
        return (rate * rate / (1 - rate) + math.log1p(-rate) + rate) * variance - allowed

    low, high = 0.0, _MOST_RATE
    if excess(high) <= 0:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return high


def between_parts(sums: Floats, sizes: Floats, theta: Theta, alpha: float) -> float:
    """The half-width of an interval for a function of averages, from parts that are independent.

    Within a part, draws may depend on each other. The standard error is that of the jackknife over
    parts (Tukey 1958, "Bias and confidence in not quite large samples", Ann. Math. Stat. 29), times
    Student's quantile for the number of parts.

    Args:
        sums: of the averaged quantities in each part, [parts, terms].
        sizes: how many values each part has, [parts].
        theta: the function, of averages [terms, points].
        alpha: the error of both ends together.
    """
    parts = len(sums)
    if parts < 2:
        return math.inf
    left = (sums.sum(axis=0) - sums) / (sizes.sum() - sizes)[:, np.newaxis]
    values = theta(left.T)
    error = math.sqrt((parts - 1) * float(np.var(values)))
    return -float(special.stdtrit(parts - 1, alpha / 2)) * error if error > 0 else 0.0


@record
class CountsByCall:
    """Counts of calls, within which draws may depend on each other: [calls, columns].

    `sizes` is the number of draws of each call, [calls]. Without calls all draws are independent.
    The design effect (Kish 1965, "Survey Sampling", section 5.4) is the variance of counts between
    calls, divided by what it would be for independent draws: so many draws say as much as one
    independent draw. It is at least 1, and a single call counts as one draw. Where sizes vary, the
    variance is that of the residuals from each call's share of the counts, as for a ratio (Cochran
    1977, "Sampling Techniques", section 2.11).
    """

    counts: Floats
    sizes: Floats

    def of(self, counts: Floats, sizes: Floats | None = None) -> CountsByCall:
        """Other counts of the same calls; `sizes` where they are not of all draws."""
        return CountsByCall(counts, self.sizes if sizes is None else sizes)

    def parts(self, number: int) -> list[CountsByCall]:
        """The counts of each of `number` equally many columns, in order."""
        return [self.of(one) for one in np.split(self.counts, number, axis=1)]

    @property
    def effect(self) -> float:
        """The design effect on the largest deviation of any share: the one that varies most."""
        between, within = self._variances()
        return _ratio(between.max(initial=0.0), within.max(initial=0.0)).item()

    @property
    def effects(self) -> Floats:
        """The design effect on each share, [columns]; for rare events it may be far larger."""
        return _ratio(*self._variances())

    def together(self, least: float = 1.0) -> float:
        """The design effect on a statistic of all these cells, and at least `least`.

        It is the mean of the effects on single cells, weighted by themselves, as cells that vary
        more move the statistic more: δ(1 + a²), with δ the mean and a the coefficient of variation
        of the effects (Rao and Scott 1981, "The analysis of categorical data from complex sample
        surveys", J. Am. Stat. Assoc. 76, section 3, after Satterthwaite 1946).
        """
        effects = self.effects
        return max(least, float(effects @ effects / effects.sum())) if len(effects) else least

    def at_least(self, effect: float) -> Floats:
        """The design effect on each share, [columns], and at least this one."""
        return np.maximum(self.effects, effect)

    def _variances(self) -> tuple[Floats, Floats]:
        """The variances of a call's counts, and of as many independent draws: [columns]."""
        calls, draws = len(self.counts), self.sizes.sum()
        if calls < 2:
            return np.full(self.counts.shape[1], draws), np.ones(self.counts.shape[1])
        shares = self.counts.sum(axis=0) / max(draws, 1.0)
        residuals = self.counts - shares * self.sizes[:, np.newaxis]
        within = shares * (1.0 - shares) * draws / calls
        return np.square(residuals).sum(axis=0) / (calls - 1), within


def _ratio(between: Any, within: Any) -> Floats:
    apart: Floats = np.divide(between, within, out=np.ones_like(within), where=within > 0)
    return np.asarray(np.maximum(apart, 1.0))
