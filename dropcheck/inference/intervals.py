"""Intervals for means, for probabilities and for shares, from independent draws.

Where the model says the variance of what is averaged, the interval is Catoni's (2012, "Challenging
the empirical mean and empirical variance: a deviation study", Annales de l'Institut Henri Poincaré
48, 1148-1185). It holds for every number of values and every law: what no value shows is in the
variance. Let ψ(x) = sign(x) log(1 + |x| + x²/2) (his eq. 2.1, the widest that it allows). Then
exp(±ψ(x)) ≤ 1 ± x + x²/2 for every x: for x ≥ 0 one is an equality, and the other says that
1 ≤ (1 + x + x²/2)(1 - x + x²/2) = 1 + x⁴/4. So for independent Y_i with mean μ and variance at most
v, and any a > 0 that is chosen without them, E exp(±Σ ψ(a(Y_i - μ))) ≤ (1 + a²v/2)^n. By Markov's
inequality, each with chance at least 1 - α/2,

    ± Σ ψ(a(Y_i - μ)) ≤ n log(1 + a²v/2) + log(2/α).

The sum falls where μ rises, so that the μ for which both hold are an interval. Its half-width is
about av/2 + log(2/α)/(na), which is least where a² = 2 log(2/α)/(vn).

Elsewhere the interval is of the empirical Bernstein kind: the values themselves show their
variance. For ξ ≥ -1 and 0 ≤ λ < 1, with ψ(λ) = -log(1 - λ) - λ,

    exp(λξ - ψ(λ)ξ²) ≤ 1 + λξ

(Fan, Grama and Liu 2015, "Exponential inequalities for martingales with applications", Electronic
Journal of Probability 20, lemma 4.1; Waudby-Smith and Ramdas 2024, "Estimating means of bounded
random variables by betting", J. Roy. Stat. Soc. B 86, section 3.2). So for independent values Z
of one law, Z ≥ -b, and λ chosen without them, ξ = Z/b gives with chance at least 1 - α/2 (Markov)

    E Z ≥ mean(Z) - b log(2/α)/(nλ) - ψ(λ)/(λb) mean(Z²),

and the same for -Z. What lies below or above by more than b is cut off: with D = Y - c,
E(|D| - b)₊ ≤ E|D|^p b^(1-p) (p-1)^(p-1)/p^p, the largest value of (x - b)/x^p being at
x = pb/(p-1). That needs a moment of some order p > 1, and no variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.reasons import Explanation, Reason
from dropcheck.vocabulary import special

# ---- the error budget ----------------------------------------------------------------------------
#
# Over cases and looks; and the draws at which to look.
#
# Each case has a share of the registry's α, and each look a share of the case's. A pilot plans the
# looks of a case, and its draws are used for nothing else. So the looks do not depend on the draws
# that they judge, and the shares add up (Bonferroni).


# Early looks catch claims that are grossly false, late ones those that the pilot misjudged; most
# of the error is spent where the verdict is expected. After the planned look the shares fall as
# 1/(k (k + 1)), which sums to 1 over all k.
EARLY = ((1 / 16, 0.04), (1 / 4, 0.06))
PLANNED = 0.6
GROWTH = 1.3
# Plans expect the estimate to be this many standard errors off: in two runs of three it is within.
CHANCE = 1.0


@dataclass(frozen=True, slots=True)
class Look:
    """One look: after how many draws, and the error it may make."""

    draws: int
    alpha: float


def case_alpha(alpha: float, registry_cases: int, selected_cases: int) -> float:
    """A case's share of the family-wise error rate.

    The share is that of the registry, so that a case run alone gives the numbers of a full run;
    only a sweep over more cases than the registry has is divided further.
    """
    return alpha / max(registry_cases, selected_cases, 1)


def looks(
    planned: int, fewest: int, most: int, alpha: float, *, span: int = 1, early: bool = True
) -> Iterator[Look]:
    """Looks in order, each after whole spans; the last is where the budget ends.

    Args:
        planned: draws after which the verdict is expected.
        fewest: draws before which no interval can be trusted.
        most: the end of the budget.
        alpha: the case's error; the shares of all looks sum to no more.
        span: draws that are made at a time.
        early: whether to look before the planned number.

    >>> [look.draws for look in looks(1600, 10, 4000, 1e-6)]
    [100, 400, 1600, 2080, 2704, 3516, 4000]
    >>> [look.draws for look in looks(1600, 10, 4000, 1e-6, span=1000)]
    [1000, 2000, 3000, 4000]
    """
    last, end, rest = 0, max(1, most // span), 1 - PLANNED
    expected = min(max(planned, fewest, 1) / span, end)
    fewest = -(-fewest // span)
    for fraction, share in EARLY if early else ():
        spans = math.ceil(expected * fraction)
        if max(fewest, last + 1) <= spans < expected:
            yield Look(spans * span, alpha * share)
            last, rest = spans, rest - share
    last = math.ceil(expected)
    yield Look(last * span, alpha * PLANNED)
    k = 1
    while last < end:
        last = min(math.ceil(last * GROWTH), end)
        yield Look(last * span, alpha * rest / (k * (k + 1)))
        k += 1


# ---- an interval ---------------------------------------------------------------------------------


Theta = Callable[[Floats], Floats]
"""The quantity as a function of averages: [terms, points] to [points]."""

# Blocks that an interval is made from: with n of them it is wider than for very many by the factor
# (1 − 2 log(2/α)/n)^(−1/2) (Catoni 2012, proposition 2.4).
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


@dataclass(frozen=True, slots=True)
class Sample:
    """What draws say of one average.

    `rows` are means of independent blocks of `units` draws each, [blocks]; what depends on each
    other, such as the draws of a call, is one unit. `clipped` has the averages
    of deviations that are cut off as a `ClippedSpread` says, and of their squares.
    """

    rows: Floats
    units: int
    clipped: tuple[float, float] | None = None


# ---- a known variance: Catoni's interval ---------------------------------------------------------


# Ends are searched for to this share of the half-width, and moved outward by it.
_PRECISION = 1e-9
# What rounding can do to a sum of ψ, as a share of the sum of magnitudes.
_ROUNDING = 1e-13
# Values further apart than so many of their scales would overflow when they are squared.
_FARTHEST = 1e100
# Nodes of the quadrature for a normal law: they give widths to six digits.
_NODES = 48


@dataclass(frozen=True, slots=True)
class KnownSpread:
    """The spread of an average whose variance the model says: that of the mean of a block.

    `variance` gives it from the number of draws of the block.
    """

    variance: Callable[[int], float]

    def interval(self, sample: Sample, alpha: float) -> tuple[float, float]:
        """An interval that holds the mean with probability 1 − alpha at least."""
        return catoni_interval(sample.rows, self.variance(sample.units), alpha)

    def half_width(self, rows: int, units: int, alpha: float) -> float:
        """The half-width to be expected from so many blocks of so many draws."""
        # plans ask for many numbers of rows: each is rounded down to one of few
        rows = int(2 ** (math.floor(32 * math.log2(rows)) / 32)) if rows > 64 else rows
        return half_width(rows, self.variance(units), alpha)

    def standard_error(self, units: int) -> float:
        """The standard error of the mean of so many draws."""
        return math.sqrt(self.variance(units))


def catoni_interval(values: Floats, variance: float, alpha: float) -> tuple[float, float]:
    """An interval that holds the mean with chance at least 1 - alpha: Catoni (2012).

    It is finite for every number of values; from few of them, less than log(2/alpha), it is very
    wide.

    Args:
        values: independent, of one mean: [n].
        variance: at least that of every value.
        alpha: the chance, in both tails together, with which the interval may miss.

    >>> values = np.random.default_rng(0).lognormal(size=1000)
    >>> low, high = catoni_interval(values, 4.6708, 1e-6)
    >>> round(low, 2), round(math.exp(1 / 2), 2), round(high, 2)
    (1.14, 1.65, 1.88)
    """
    rows = len(values)
    everywhere = (-math.inf, math.inf)
    if not rows or not 0 <= variance < math.inf or not np.isfinite(values).all():
        return everywhere
    if variance == 0:  # all of them are the mean
        return float(values.min()), float(values.max())
    allowed = math.log(2 / alpha)
    unit = math.sqrt(rows / (2 * allowed)) * math.sqrt(variance)  # 1/a
    centre = float(np.median(values))
    with np.errstate(all="ignore"):
        scaled = (values - centre) / unit if unit > 0 else values + math.inf
    if not float(np.abs(scaled).max()) < _FARTHEST:
        return everywhere
    ones, bound = np.ones(rows), rows * math.log1p(allowed / rows) + allowed
    low = centre + unit * _end_below(scaled, ones, bound)
    high = centre - unit * _end_below(-scaled, ones, bound)
    return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)


def half_width(rows: float, variance: float, alpha: float) -> float:
    """The half-width of `catoni_interval` to be expected.

    The values are taken to be normal with exactly this variance, as block means nearly are. For
    many rows it is sqrt(2 variance log(2/alpha) / rows). For few it is larger, by less than the
    factor 1 / sqrt(1 - 2 log(2/alpha) / rows) of Catoni's (2012) proposition 2.4.

    >>> round(half_width(1000, 1.0, 1e-9), 4), round(math.sqrt(2 * math.log(2e9) / 1000), 4)
    (0.2092, 0.207)
    """
    if not 0 <= variance < math.inf:
        return math.inf
    return math.sqrt(variance) * float(_standard_half_width(float(rows), alpha))


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
    return -unit * _end_below(nodes / unit, weights, bound)


def _influence(distances: Floats) -> tuple[Floats, Floats]:
    """ψ and its derivative."""
    sizes = np.abs(distances)
    within = sizes + 0.5 * (sizes * sizes)
    return np.copysign(np.log1p(within), distances), (1 + sizes) / (1 + within)


def _end_below(values: Floats, weights: Floats, bound: float) -> float:
    """The θ at which Σ w ψ(x - θ), which falls in θ, reaches the bound; or slightly less.

    Newton's method, kept between two points that are known to lie on either side.
    """

    def total(theta: float) -> tuple[float, float]:
        influence, slopes = _influence(values - theta)
        return float(weights @ influence) - bound, float(weights @ slopes)

    start, slopes = _influence(values)
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


# ---- the variance that values show: empirical Bernstein ------------------------------------------


# Cutting off may move the mean by one of these shares of the half-width that decides.
CUTS = (0.02, 0.05, 0.1, 0.2, 0.35)
# Beyond this the exponential function is infinite.
LARGEST_EXPONENT = 709.0
# λ = 1 would take no variance at all; with this it is 1/20 wider where there is none.
_MOST_RATE = 0.95
# Where all values seen lie at an end of their range, the centre is moved inside by this share of
# the range, or of the reach by moments: a reach of 0 would leave no room for deviations.
LEAST_REACH = 1e-3


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
class ClippedSpread:
    """What is known of an average that the model bounds: of draws, or of calls of code.

    Deviations from `centre` are cut off as `below` and `above` say. `guess` is the variance of one
    unit, as an independent pilot shows it.
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
        target: float,
    ) -> ClippedSpread:
        """The spread with deviations cut off where the fewest draws are to be expected.

        Args:
            centre: near the mean, chosen without the values that are judged.
            guess: of the variance.
            ends: the values lie between them.
            sizes: by order p, bounds of (E|Y - centre|^p)^(1/p).
            target: the half-width that decides.
        """

        def pace(reach: Reach) -> float:
            """Of how many draws the half-width is: at most √(2 · guess · x) + far · x + cut."""
            if not 0 < reach.far < math.inf:
                return 0.0
            left = 4 * reach.far * (target - reach.cut)
            return (math.sqrt(2 * guess + left) - math.sqrt(2 * guess)) / reach.far

        cuts = [Reach(far=_far_enough(sizes, cut * target), cut=cut * target) for cut in CUTS]
        by_moments = max(cuts, key=pace)
        width = ends[1] - ends[0]
        off = LEAST_REACH * min(width, by_moments.far)
        if 0 < off < math.inf and not ends[0] < centre < ends[1]:
            centre = ends[0] + off if centre <= ends[0] else ends[1] - off
            guess += off * off
        below, above = (
            Reach(far=most) if (most > 0 or not width) and most <= by_moments.far else by_moments
            for most in (centre - ends[0], ends[1] - centre)
        )
        return cls(centre=centre, below=below, above=above, guess=guess)

    def interval(self, sample: Sample, alpha: float) -> tuple[float, float]:
        """An interval that holds the mean with probability 1 − alpha at least."""
        assert sample.clipped is not None
        mean, mean_square = sample.clipped
        units = len(sample.rows) * sample.units
        low = self.centre + mean - self._width(self.below, mean_square, units, alpha)
        high = self.centre + mean + self._width(self.above, mean_square, units, alpha)
        return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)

    def half_width(self, rows: int, units: int, alpha: float) -> float:
        """The half-width to be expected from so many blocks of so many units."""
        sides = (self.below, self.above)
        return sum(self._width(side, self.guess, rows * units, alpha) for side in sides) / 2

    def standard_error(self, units: int) -> float:
        """The standard error of the mean of so many units, as it is guessed."""
        return math.sqrt(self.guess / units)

    def _width(self, side: Reach, mean_square: float, units: int, alpha: float) -> float:
        if not 0 < side.far < math.inf:
            return side.far
        if not self.guess + mean_square < math.inf:  # squares overflow
            return math.inf
        allowed = math.log(2 / alpha) / units
        rate = _best_rate(allowed, self.guess / side.far / side.far)
        psi = -math.log1p(-rate) - rate
        return (side.far * allowed + psi * mean_square / side.far) / rate + side.cut


def _far_enough(sizes: Mapping[float, float], most_cut: float) -> float:
    """The least b beyond which at most `most_cut` is cut off; infinite where none is known."""
    reaches = [math.inf]
    if not most_cut < math.inf:
        return math.inf
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


# ---- a probability -------------------------------------------------------------------------------


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


# ---- calls of code -------------------------------------------------------------------------------


def between_parts(sums: Floats, sizes: Floats, theta: Theta, alpha: float) -> float:
    """The half-width of an interval for a function of averages, from parts that are independent.

    Within a part, draws may depend on each other. The standard error is that of the jackknife over
    parts (Tukey 1958, "Bias and confidence in not quite large samples", Ann. Math. Stat. 29), times
    Student's quantile for the number of parts. `sums`, [parts, terms], are those of the quantities,
    of as many values in each part as `sizes` says. Of one average it is Student's half-width:

    >>> sums = np.array([[1.0], [2.0], [4.0], [5.0]])
    >>> round(between_parts(sums, np.ones(4), lambda means: means[0], 0.05), 4)
    2.9052
    """
    parts = len(sums)
    if parts < 2:
        return math.inf
    left = (sums.sum(axis=0) - sums) / (sizes.sum() - sizes)[:, np.newaxis]
    values = theta(left.T)
    error = math.sqrt((parts - 1) * float(np.var(values)))
    return special.student_quantile(parts - 1, alpha) * error if error > 0 else 0.0


def design_effect(counts: Floats, sizes: Floats) -> float:
    """How many draws say as much as one independent draw, by counts of calls: [calls, columns].

    Within a call, of which `sizes` has the number of draws, these may depend on each other. The
    design effect (Kish 1965, "Survey Sampling", section 5.4) is the variance of counts between
    calls, divided by what it would be for independent draws. It is at least 1, and a single call
    counts as one draw. Where sizes vary, the variance is that of the residuals from each call's
    share of the counts, as for a ratio (Cochran 1977, "Sampling Techniques", section 2.11).

    Of several columns it is the effect on the one that varies most, or, where that is more, the one
    on a statistic of all: the mean of their effects, weighted by themselves (Rao and Scott 1981,
    "The analysis of categorical data from complex sample surveys", J. Am. Stat. Assoc. 76, section
    3, after Satterthwaite 1946).
    """
    calls, draws = len(counts), float(sizes.sum())
    if calls < 2:
        return max(draws, 1.0)
    shares = counts.sum(axis=0) / draws
    between = np.square(counts - shares * sizes[:, np.newaxis]).sum(axis=0) / (calls - 1)
    within = shares * (1.0 - shares) * draws / calls
    varies = within > 0
    if not varies.any():
        return 1.0
    effects = np.maximum(between[varies] / within[varies], 1.0)
    most = float(between.max() / within.max())
    return max(most, float(effects @ effects / effects.sum()))
