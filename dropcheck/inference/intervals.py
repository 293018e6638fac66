"""Intervals for a mean that need a bound of its variance and nothing else of the law.

Catoni (2012), "Challenging the empirical mean and empirical variance: a deviation study", Annales
de l'Institut Henri Poincaré 48, 1148-1185. They hold for every number of rows and every law: what
no row shows is in the bound of the variance.

The argument. Let ψ(x) = sign(x) log(1 + |x| + C|x|^p), with 1 < p ≤ 2 and
C = (p-1)^(p-1) p^(-p/2) (2-p)^((2-p)/2), which is 1/2 for p = 2 (Catoni's eq. 2.1, the widest ψ
that it allows). Then

    exp(ψ(x)) ≤ 1 + x + C|x|^p  and  exp(-ψ(x)) ≤ 1 - x + C|x|^p  for every x.

For x ≥ 0 the first is an equality; for x < 0 it says, with y = |x|, that
1 ≤ (1 + y + C y^p)(1 - y + C y^p) = (1 + C y^p)² - y², that is y² ≤ 2C y^p + C² y^(2p). With
λ = 2 - 2/p the weighted inequality of means, A + B ≥ (A/λ)^λ (B/(1-λ))^(1-λ), bounds the right
side below by (2C/λ)^λ (C²/(1-λ))^(1-λ) y², which is y² for this C, the smallest for which it holds
(Bhatt, Fang, Li and Samorodnitsky 2022, "Minimax M-estimation under adversarial contamination";
Chen, Jin, Li and Xu 2021, "A generalized Catoni's M-estimator under finite α-th moment assumption",
have the larger 1/p). The second is the first at -x.

So for independent Y_i with mean μ and E|Y_i - μ|^p ≤ M, and any a > 0 that is chosen without them,
E exp(Σ ψ(a(Y_i - μ))) ≤ Π (1 + C a^p E|Y_i - μ|^p) ≤ (1 + C a^p M)^n, and the same with -ψ. By
Markov's inequality, each with chance at least 1 - α/2,

    ± Σ ψ(a(Y_i - μ)) ≤ n log(1 + C a^p M) + log(2/α).

The sum falls where μ rises, so that the μ for which both hold are an interval. Its half-width is
about C a^(p-1) M + log(2/α)/(n a), which is least where a^p = log(2/α) / ((p-1) C M n).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.reasons import Explanation, Reason
from dropcheck.vocabulary import special

# Ends are searched for to this share of the half-width, and moved outward by it.
_PRECISION = 1e-9
# What rounding can do to a sum of ψ, as a share of the sum of magnitudes.
_ROUNDING = 1e-13
# Values further apart than so many of their scales would overflow when they are squared.
_FARTHEST = 1e100
# Nodes of the quadrature for a normal law: they give widths to six digits.
_NODES = 48


def catoni_interval(
    values: Floats, variance: float, tuning: float, alpha: float
) -> tuple[float, float]:
    """An interval that holds the mean with chance at least 1 - alpha: Catoni (2012).

    It is `order_p_interval` of order 2. It is finite for every number of values; from few of them,
    less than log(2/alpha), it is very wide.

    Args:
        values: independent, of one mean: [n].
        variance: at least that of every value.
        tuning: the variance for which the width is least, chosen without these values. The best
            choice is the variance that is expected; the interval holds for any.
        alpha: the chance, in both tails together, with which the interval may miss.

    >>> values = np.random.default_rng(0).lognormal(size=1000)
    >>> low, high = catoni_interval(values, 4.6708, 4.6708, 1e-6)
    >>> round(low, 2), round(math.exp(1 / 2), 2), round(high, 2)
    (1.14, 1.65, 1.88)
    """
    return order_p_interval(values, 2.0, variance, tuning, alpha)


def order_p_interval(
    values: Floats, p: float, moment: float, tuning: float, alpha: float
) -> tuple[float, float]:
    """An interval that holds the mean with chance at least 1 - alpha, by a moment of order p.

    Its half-width is of the order n^(1/p - 1), the best there is for such laws (Bubeck,
    Cesa-Bianchi and Lugosi 2013, "Bandits with heavy tail").

    Args:
        values: independent, of one mean: [n].
        p: the order, 1 < p ≤ 2.
        moment: at least E|Y - E Y|^p of every value.
        tuning: the moment for which the width is least, chosen without these values.
        alpha: the chance, in both tails together, with which the interval may miss.

    Raises:
        ValueError: the order is not one of these.
    """
    if not 1 < p <= 2:
        raise ValueError(f"the order must lie above 1 and up to 2, and is {p}")
    rows = len(values)
    everywhere = (-math.inf, math.inf)
    if not rows or not 0 <= moment < math.inf or not np.isfinite(values).all():
        return everywhere
    if moment == 0:  # all of them are the mean
        return float(values.min()), float(values.max())
    if not 0 < tuning < math.inf:
        tuning = moment
    constant = _constant(p)
    allowed = math.log(2 / alpha)
    # 1/a
    unit = ((p - 1) * constant * rows / allowed) ** (1 / p) * tuning ** (1 / p)
    bound = rows * math.log1p(allowed / ((p - 1) * rows) * (moment / tuning)) + allowed
    if not 0 < unit < math.inf:
        return everywhere
    centre = float(np.median(values))
    with np.errstate(all="ignore"):
        scaled = (values - centre) / unit
    if not float(np.abs(scaled).max()) < _FARTHEST or not bound < math.inf:
        return everywhere
    ones = np.ones(rows)
    low = centre + unit * _end_below(scaled, ones, p, bound)
    high = centre - unit * _end_below(-scaled, ones, p, bound)
    return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)


def moment_of_means(p: float, moment: float, draws: int) -> float:
    """A bound of E|Y - E Y|^p, Y the mean of so many independent draws of one mean, 1 ≤ p ≤ 2.

    von Bahr and Esseen (1965), "Inequalities for the r-th absolute moment of a sum of random
    variables", Annals of Mathematical Statistics 36, eq. 4: the moment of a sum is at most 2 - 1/n
    times the sum of the moments of its terms.

    >>> moment_of_means(2.0, 3.0, 100), moment_of_means(1.5, 3.0, 100)
    (0.03, 0.597)
    """
    factor = 1.0 if p == 2 else 2 - 1 / draws
    return factor * moment * math.pow(draws, 1 - p)


# ---- planning -----------------------------------------------------------------------------------


def half_width(rows: float, variance: float, alpha: float) -> float:
    """The half-width of `catoni_interval` where `tuning` is the variance.

    The values are taken to be normal with exactly this variance, as block means nearly are. For
    many rows it is sqrt(2 variance log(2/alpha) / rows). For few it is larger, by less than the
    factor 1 / sqrt(1 - 2 log(2/alpha) / rows) of Catoni's (2012) proposition 2.4.

    >>> round(half_width(1000, 1.0, 1e-9), 4), round(math.sqrt(2 * math.log(2e9) / 1000), 4)
    (0.2092, 0.207)
    """
    if not 0 <= variance < math.inf:
        return math.inf
    return math.sqrt(variance) * float(_standard_half_width(float(rows), alpha))


def order_p_half_width(rows: float, p: float, moment: float, alpha: float) -> float:
    """About the half-width of `order_p_interval`, by the formula at the top of this module.

    >>> round(order_p_half_width(1e6, 1.5, 2.0, 1e-6), 3)
    0.042
    """
    if moment == 0:
        return 0.0
    if not moment < math.inf:
        return math.inf
    allowed = math.log(2 / alpha) / rows
    rate = (allowed / ((p - 1) * _constant(p) * moment)) ** (1 / p)
    return float(p / (p - 1) * allowed / rate)


@lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    return nodes, weights


@lru_cache(maxsize=4096)
def _standard_half_width(rows: float, alpha: float) -> float:
    """The half-width where the values are standard normal, by Gauss and Hermite's quadrature."""
    nodes, weights = _nodes()
    allowed = math.log(2 / alpha)
    unit = math.sqrt(rows / (2 * allowed))
    bound = rows * math.log1p(allowed / rows) + allowed
    weights = weights * (rows / math.sqrt(2 * math.pi))
    return -unit * _end_below(nodes / unit, weights, 2.0, bound)


# ---- the ends -----------------------------------------------------------------------------------


def _constant(p: float) -> float:
    """The constant C at the top of this module.

    >>> _constant(2.0), round(_constant(1.5), 6), round(_constant(1.0001), 3)
    (0.5, 0.438691, 0.999)
    """
    rest = 2 - p
    return float((p - 1) ** (p - 1) * p ** (-p / 2) * rest ** (rest / 2))


def _influence(distances: Floats, p: float) -> tuple[Floats, Floats]:
    """ψ and its derivative."""
    sizes = np.abs(distances)
    if p == 2:
        within = sizes + 0.5 * (sizes * sizes)
        slopes = 1 + sizes
    else:
        constant = _constant(p)
        within = sizes + constant * sizes**p
        slopes = 1 + constant * p * sizes ** (p - 1)
    return np.copysign(np.log1p(within), distances), slopes / (1 + within)


def _end_below(values: Floats, weights: Floats, p: float, bound: float) -> float:
    """The θ at which Σ w ψ(x - θ), which falls in θ, reaches the bound; or slightly less.

    Newton's method, kept between two points that are known to lie on either side.
    """

    def total(theta: float) -> tuple[float, float]:
        influence, slopes = _influence(values - theta, p)
        return float(weights @ influence) - bound, float(weights @ slopes)

    start, slopes = _influence(values, p)
    bound += _ROUNDING * (bound + float(weights @ np.abs(start)))
    step = bound / float(weights.sum())
    precision = _PRECISION * min(step, 1.0)
    inner = 0.0  # the sum is below the bound here, and not below it at `outer`
    excess, slope = float(weights @ start) - bound, float(weights @ slopes)
    reach = step
    while excess > 0:
        inner += reach
        reach *= 2
        excess, slope = total(inner)
    outer, reach = inner - step, step
    while total(outer)[0] < 0:
        reach *= 2
        outer -= reach
    theta = inner
    for _ in range(200):
        theta += excess / slope if slope > 0 else 0.0
        if not outer < theta < inner:
            theta = (outer + inner) / 2
        excess, slope = total(theta)
        if excess >= 0:
            outer = theta
        else:
            inner = theta
        if inner - outer <= precision or abs(excess) <= slope * precision / 4:
            break
    further = precision
    while excess < 0:
        theta -= further
        further *= 2
        excess, _ = total(theta)
    return theta


# ---- the variance -------------------------------------------------------------------------------


def variance_above(
    values: Floats,
    block_draws: float,
    fourth: float,
    alpha: float,
    *,
    width: float = math.inf,
    centre: float | None = None,
) -> float:
    """An upper bound of the variance of block means, from the means; wrong with chance alpha.

    For non-negative independent Z_i of mean w and second moment at most S, and any λ > 0,
    E exp(-λZ) ≤ 1 - λw + λ²S/2, for e^-y ≤ 1 - y + y²/2 where y ≥ 0; so the chance that their mean
    is at most m < w is at most min over λ of exp(n (λm + log(1 - λw + λ²S/2))) (Chernoff's method;
    with log(1 + x) ≤ x it is theorem 2.10 of Boucheron, Lugosi and Massart 2013 and Maurer's 2003
    inequality, exp(-n (w - m)² / (2S))). The answer is the largest w at which this is at least
    alpha.

    Z is half the squared difference of two rows: its mean is the variance v, and
    E Z² = (μ4(Y) + 3v²)/2. The average over all pairs, which is the sample variance, has the tail
    of the average over n/2 pairs (Hoeffding 1963, section 5). Where a centre c is known without
    these values, Z is (Y - c)² instead: its mean is w = v + (E Y - c)² ≥ v, and all n rows count,
    so that half as many give the same answer.

    A row is the mean of B independent draws with fourth central moment μ4 and variance σ² = B v:
    μ4(Y) = μ4/B³ + 3 (1 - 1/B) v². So a loose bound of μ4 costs little where B is large.

    Args:
        values: independent block means, all of one law: [n].
        block_draws: B, the independent draws in each.
        fourth: at least E(X - E X)⁴ of a draw; infinite where only `width` is known.
        alpha: the chance with which the answer may lie below the variance.
        width: of an interval that holds every draw: then μ4 ≤ width² σ².
        centre: near the mean, chosen without these values; far from it the answer is large.
    """
    rows, centred = len(values), centre is not None
    seen = math.inf  # says nothing, so that the answer is the bound that holds for all laws
    if rows >= 2 and alpha < 1 and np.isfinite(values).all():
        with np.errstate(over="ignore"):  # a square may be infinite
            if centre is None:
                seen = float(np.var(values, ddof=1))
            else:
                offsets = values - centre
                seen = float(offsets @ offsets) / rows
    return variance_expected(seen, rows, block_draws, fourth, alpha, width=width, centred=centred)


def variance_expected(
    seen: float,
    rows: int,
    block_draws: float,
    fourth: float,
    alpha: float,
    *,
    width: float = math.inf,
    centred: bool = False,
) -> float:
    """The answer of `variance_above` where `rows` block means have the sample variance `seen`.

    >>> values = np.random.default_rng(0).normal(size=1000)
    >>> above = variance_above(values, 1, 3.0, 1e-9)
    >>> above == variance_expected(float(np.var(values, ddof=1)), 1000, 1, 3.0, 1e-9)
    True
    """
    cap = min(math.sqrt(fourth), width * width / 4) / block_draws  # σ⁴ ≤ μ4; Popoviciu (1935)
    if not seen < cap < math.inf or rows < 2:
        return cap
    count = rows if centred else rows // 2

    def second_moment(mean: float) -> float:
        own = min(fourth, width * width * block_draws * mean) / block_draws**3
        if not centred:
            return own / 2 + 3 * mean * mean * (1 - 1 / (2 * block_draws))
        # E(Y-c)⁴ = own + 3 (1-1/B) v² + 4δ E(Y-EY)³ + 6δ²v + δ⁴ with δ² = w - v. Of these the
        # second and the last two are at most 3w² together; E(Y-EY)³ is that of a draw over B², at
        # most sqrt(own v) in size, and δ²v at most w²/4.
        return own + 3 * mean * mean + 2 * mean * math.sqrt(own)

    return _largest_mean(seen, cap, second_moment, math.log(1 / alpha) / count)


def _largest_mean(
    seen: float, most: float, second_moment: Callable[[float], float], allowed: float
) -> float:
    """The largest mean, up to `most`, at which an average as small as `seen` is not excluded.

    It is excluded where -min over λ of λm + log(1 - λw + λ²S(w)/2) exceeds `allowed`: with
    x = λw, m/w and S(w)/w² fall in w, so that all that is larger is excluded too.
    """

    def excluded(mean: float) -> bool:
        second = second_moment(mean)
        gap = second - seen * mean
        # where the derivative vanishes: (mS/2)λ² + (S - mw)λ - (w - m) = 0
        root = math.sqrt(gap * gap + 2 * seen * second * (mean - seen))
        rate = 2 * (mean - seen) / (gap + root)
        return rate * seen + math.log1p(rate * (rate * second / 2 - mean)) < -allowed

    if not excluded(most):
        return most
    low, high = max(seen, most * 1e-30), most
    while high > low * (1 + _PRECISION):
        middle = math.sqrt(low * high)
        if not low < middle < high:
            break
        low, high = (low, middle) if excluded(middle) else (middle, high)
    return high


# ---- finite sample -------------------------------------------------------------------------------
#
# Intervals for a probability that hold for any number of draws.


def clopper_pearson(successes: int, trials: int, alpha: float) -> tuple[float, float]:
    """An interval that holds the probability with at least 1 − alpha, whatever it is.

    Clopper and Pearson (1934), "The use of confidence or fiducial limits illustrated in the case
    of the binomial", Biometrika 26: the tail probabilities alpha/2 are inverted through the beta
    distribution.

    >>> low, high = clopper_pearson(0, 100, 0.05)
    >>> low, round(high, 6)
    (0.0, 0.036217)
    """
    if trials <= 0:
        return 0.0, 1.0
    low, high = 0.0, 1.0
    if successes > 0:
        low = float(special.betaincinv(successes, trials - successes + 1, alpha / 2))
    if successes < trials:
        high = float(special.betainccinv(successes + 1, trials - successes, alpha / 2))
    return low, high


def upper_bound(successes: int, trials: int, alpha: float) -> float:
    """A bound that the probability lies below with at least 1 − alpha: one-sided."""
    return clopper_pearson(successes, trials, 2 * alpha)[1]


# ---- interval ------------------------------------------------------------------------------------


Theta = Callable[[Floats], Floats]
"""The quantity as a function of averages: [terms, points] to [points]."""

FEWEST_BLOCKS = 64
# A sample without any variation is taken for a constant once draws that differ are known to be
# rarer than this: the bound that claims of certainty use.
RAREST_SEEN = 1e-4


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with an interval that holds the truth at the confidence asked for.

    `unmet` says which condition of the limit theorem the sample does not meet yet: the interval
    must then not be used to decide. It is None where all are met. `settles` is how many draws a
    sample of this shape needs to meet them.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    unmet: Explanation | None = None
    settles: float = 0.0

    @property
    def reason(self) -> Reason | None:
        """Which condition is not met, without its numbers."""
        return None if self.unmet is None else self.unmet.reason

    @property
    def half_width(self) -> float:
        """The larger distance from the estimate to an end."""
        return max(self.high - self.estimate, self.estimate - self.low)


# ---- spread --------------------------------------------------------------------------------------
#
# The spread of one average, as the model bounds it, and the interval that follows from it.
#
# Where the variance of a block mean is known, Catoni's interval takes it as it is. Where the model
# only bounds moments, the bound of the second one may be far above the truth. Then the blocks
# themselves bound the variance from above, at a confidence of its own: that needs a bound of the
# fourth moment alone, and with many draws it matters little how loose this bound is.
#
# The means of nets vary by far less than their bounds allow. Their interval is of the empirical
# Bernstein kind: it holds for every law and every number of values, and its width adapts to how
# little they vary.
#
# For ξ ≥ -1 and 0 ≤ λ < 1, with ψ(λ) = -log(1 - λ) - λ,
#
#     exp(λξ - ψ(λ)ξ²) ≤ 1 + λξ
#
# (Fan, Grama and Liu 2015, "Exponential inequalities for martingales with applications", Electronic
# Journal of Probability 20, lemma 4.1; Waudby-Smith and Ramdas 2024, "Estimating means of bounded
# random variables by betting", J. Roy. Stat. Soc. B 86, section 3.2). So for independent values Z
# of one law, Z ≥ -b, and λ chosen without them, ξ = Z/b gives with chance at least 1 - α/2 (Markov)
#
#     E Z ≥ mean(Z) - b log(2/α)/(nλ) - ψ(λ)/(λb) mean(Z²),
#
# and the same for -Z. What lies below or above by more than b is cut off: with D = Y - c,
# E(|D| - b)₊ ≤ E|D|^p b^(1-p) (p-1)^(p-1)/p^p, the largest value of (x - b)/x^p being at
# x = pb/(p-1).


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """What is known of the spread of one average.

    `exact` gives the variance of the mean of a block, from its number of draws, where the model
    says it. Else `variance` and `fourth` bound the second and the fourth central moment of one
    draw, and `width` is the width of an interval that holds every draw; each is infinite where
    nothing is known. `centre` and `guess` are the mean and the variance of one draw as an
    independent pilot of `pilot` draws shows them.

    Where the variance is infinite, `order` p < 2 and `moment` say that E|X - EX|^p <= moment.
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
            return catoni_interval(values, variance, variance, alpha)
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
            return half_width(rows, self.exact(draws), alpha)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The largest deviation that counts on one side, and the average of what is cut off there."""

    far: float
    cut: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True)
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
