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
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from dropcheck.array_types import Floats

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
