"""Moments of a law, derived from its quantiles, or from the probabilities of its values.

With x = Q(u), E f(x) is the integral of f(Q(u)) over 0 < u < 1. It is cut at one level; on each
side u = level · exp(-w) with w = exp(t - exp(-t)), and the trapezoidal rule in t converges faster
than any power of its step, whatever Q does at its ends (Takahasi and Mori 1974, "Double exponential
formulas for numerical integration"). A sum consists of three, each of every third point. They
differ by more than the error of the whole, even where f has a kink, and this difference is the
bound of the error that is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dropcheck.vocabulary.special import gauss

Floats = NDArray[np.float64]

HIGHEST_ORDER = 8  # needed for the variance of a fourth power
LEAST = 1e-300  # quantiles are known down to about this level
# Points per unit of t: more than the fewest where three sums differ by more than a share CLOSE.
FEWEST, MOST = 20, 160
FIRST, LAST = -3.6, 6.538  # at the last one w is 690, and exp(-w) is LEAST
CLOSE, CLOSE_NORM = 1e-12, 1e-9
# The relative error of a quantile: some tens of units in the last place.
ROUNDING = 2.0**-47
SUM_ROUNDING = 2.0**-51  # the same of sums and differences of numbers


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """Points x and weights for the expectations of a draw; a row for each side of a level.

    Beyond the last points of both sides, `tips`, |x| is at most exp(end) · (level / u)^slope, and
    |x - tip| at most pace · log(level / u); `ends` and `levels` are logarithms.
    """

    x: Floats
    weights: Floats
    tips: Floats
    ends: Floats
    levels: Floats
    slopes: Floats
    paces: Floats
    parts: int = 3
    finer: Callable[[], Rule] | None = None
    rounding: float = ROUNDING  # the relative error of points
    off: float = 0.0  # the same of weights

    def total(self, terms: Floats) -> tuple[float, float]:
        """The sum of the terms of an expectation, and a bound of the error of the rule."""
        sums = np.stack([terms[:, part :: self.parts].sum(axis=1) for part in range(self.parts)])
        thirds = sums.sum(axis=1)
        return float(thirds.sum()), float(self.parts * np.ptp(thirds))

    def beyond(self, logarithms: Floats, slopes: Floats) -> float:
        """A bound of an expectation beyond the last points: twice the integral of powers of u."""
        rest = np.where(slopes < 1.0, np.exp(logarithms + self.levels) / (1.0 - slopes), math.inf)
        return 2.0 * float(rest[self.levels > -math.inf].sum())

    def power(self, p: float, centre: float, signed: bool = False) -> tuple[float, float, float]:
        """E|x - centre|^p, or E (x - centre)^p; bounds of the errors of the rule and of rounding.

        For p at which it exists.
        """
        deviations = self.x - centre
        roots = np.abs(deviations) ** (p / 2)  # its square may overflow where a term does not
        terms = roots * self.weights * roots
        value, off = self.total(terms * np.sign(deviations) if signed else terms)
        sizes = np.abs(deviations) ** ((p - 1) / 2)
        noise = float((sizes * self.weights * np.abs(self.x) * sizes).sum())
        ends = np.logaddexp(self.ends, math.log(abs(centre)) if centre else -math.inf)
        return value, off + self.beyond(p * ends, p * self.slopes), self.rounding * p * noise


@cache
def _grid(steps: int) -> tuple[Floats, Floats]:
    """The distances w of points, and their weights for a level of 1."""
    t = np.arange(FIRST, LAST, 1.0 / steps)
    w = np.exp(t - np.exp(-t))
    return w, w * (1.0 + np.exp(-t)) / steps * np.exp(-w)


def by_quantiles(
    quantile: Callable[[Floats], Any],
    upper_quantile: Callable[[Floats], Any],
    middle: float,
    steps: int = FEWEST,
) -> Rule:
    """The rule of a continuous law, cut at a level."""

    def finer() -> Rule:
        return by_quantiles(quantile, upper_quantile, middle, 2 * steps)

    w, weights = _grid(steps)
    shares = np.array([[middle], [1.0 - middle]])
    levels = shares * np.exp(-w)
    x = np.stack([quantile(levels[0]), upper_quantile(levels[1])])
    weights = shares * weights
    ends = np.log(np.abs(x[:, -1]))
    before = len(w) - 1 - steps // 4
    run = w[-1] - w[before]
    slopes = np.maximum((ends - np.log(np.abs(x[:, before]))) / run, 0.0)
    return Rule(
        x=x,
        weights=weights / weights.sum(),
        tips=x[:, -1],
        ends=ends,
        levels=np.log(shares[:, 0]) - w[-1],
        slopes=np.where(np.isfinite(slopes), slopes, 0.0),
        paces=np.abs(x[:, -1] - x[:, before]) / run,
        finer=cache(finer) if steps < MOST else None,
    )


def by_values(
    values: Floats,
    chances: Floats,
    outside: tuple[float, float] = (0.0, 0.0),
    rounding: float = SUM_ROUNDING,
    off: float = 0.0,
) -> Rule:
    """The rule of a discrete law with listed values, and the probabilities below and above them."""
    tips = values[[0, -1]]
    inner = [min(1, len(values) - 1), max(len(values) - 2, 0)]
    # chances fall from here on at least as fast as they do between the last two values
    falls = np.maximum(np.log(chances[inner] / chances[[0, -1]]), 0.0)
    steps = tips - values[inner]  # values beyond are at least one step further out
    paces = np.abs(steps) / falls
    return Rule(
        x=values[np.newaxis],
        weights=(chances / chances.sum())[np.newaxis],
        tips=tips + steps,
        ends=np.log(np.maximum(np.abs(tips), np.abs(tips + steps))),
        levels=np.log(np.array(outside)),
        slopes=np.where(tips * [-1.0, 1.0] > 0, paces / np.abs(tips), 0.0),
        paces=paces,
        parts=1,
        rounding=rounding,
        off=off,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """A law by its density, on pieces between two ends on which Gauss's rule is right.

    `sums`, [2, edges], are the probabilities below and above each edge; `x` and `weights`,
    [pieces, points], are a rule for expectations. By the density, all was off 1 by `off`.
    """

    log_density: Callable[[Floats], Any]
    edges: Floats
    sums: Floats
    x: Floats
    weights: Floats
    off: float

    def chance(self, side: int, x: Floats) -> Floats:
        """P(X <= x) or P(X > x), for the side 0 or 1: from the nearest edge on that side."""
        last = len(self.edges) - 2
        edge = np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, last) + side
        places, weights = gauss(_POINTS)
        steps = (x - self.edges[edge])[..., np.newaxis]
        density = np.exp(self.log_density(self.edges[edge][..., np.newaxis] + steps * places))
        return np.asarray(self.sums[side][edge] + np.abs(steps[..., 0]) * (density @ weights))


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """A law by its values and their probabilities, in rising order.

    `sums`, [2, values + 1], are the probabilities at most and above each value, and below all.
    """

    x: Floats
    weights: Floats
    sums: Floats

    def chance(self, side: int, x: Floats) -> Floats:
        """P(X <= x) or P(X > x), for the side 0 or 1."""
        return np.asarray(self.sums[side][np.searchsorted(self.x, x, side="right")])

    def quantile(self, side: int, level: Floats) -> Floats:
        """The least x with P(X <= x) >= level, or with P(X > x) <= level."""
        sign = 1.0 - 2.0 * side
        places = np.searchsorted(sign * self.sums[side][1:], sign * level)
        return np.asarray(self.x[np.minimum(places, len(self.x) - 1)])


def by_probabilities(log_mass: Callable[[Floats], Any], values: Floats) -> Listed:
    """The law of listed values with these logarithms of probabilities, but for a constant."""
    found = np.exp(log_mass(values))
    each = found / found.sum()
    sums = np.array([[0.0, *np.cumsum(each)], [*np.cumsum(each[::-1])[::-1], 0.0]])
    return Listed(values, each, np.minimum(sums, 1.0))


_POINTS = 16  # of Gauss's rules
MOST_PIECES = 4096


@cache
def _gram(count: float) -> tuple[Floats, Floats]:
    """The rule of 16 points, or fewer, for the sum over the numbers 0 to count - 1.

    It is that of Gauss, from the recurrence of the polynomials that are orthogonal on them
    (Gautschi 2004, "Orthogonal polynomials", section 1.5.2 and theorem 3.1).
    """
    k = np.arange(1.0, _POINTS)
    off = np.sqrt(np.maximum(k**2 * (count**2 - k**2) / (4.0 * (4.0 * k**2 - 1.0)), 0.0))
    places, vectors = np.linalg.eigh(np.diag(off, 1) + np.diag(off, -1))
    return (count - 1.0) / 2.0 + places, count * vectors[0] ** 2


def by_density(
    log_density: Callable[[Floats], Any], low: float, high: float, whole: bool = False
) -> Pieces | None:
    """The pieces of a law with a smooth density, or smooth probabilities, between two ends.

    They are halved where the density changes by more than a factor of e^2: the rule is then right
    to about 1e-14 (Davis and Rabinowitz 1984, section 2.7). Where nothing is drawn they stay.
    Pieces of whole numbers begin with an edge and end before the next. There are few more pieces
    than `MOST_PIECES`; of whole numbers None then: logarithms of probabilities of huge numbers are
    off by more than they change.
    """
    edges = np.clip([*np.linspace(low, high, 17), 0.0], low, high)
    edges = np.unique(np.floor(edges) if whole else edges)
    while True:
        width = np.diff(edges)[:, np.newaxis]
        if whole:
            rules = [_gram(count) for count in width[:, 0].tolist()]
            steps, weights = (np.stack([rule[i] for rule in rules]) for i in (0, 1))
        else:
            steps, weights = (width * one for one in gauss(_POINTS))
        ends = np.stack([0.0 * width, steps.max(axis=1, keepdims=True) if whole else width])
        x = edges[:-1, np.newaxis] + np.concatenate([steps, *ends], axis=1)
        logs = np.asarray(log_density(x))
        wide = np.ptp(logs, axis=1) > 2.0
        most = logs.max(axis=1)  # the top may be narrow
        wide &= (most + np.log(width[:, 0]) > math.log(LEAST)) | (most == most.max())
        wide &= width[:, 0] > (1.0 if whole else 1e-15 * (high - low))
        if not wide.any():
            break
        if len(edges) > MOST_PIECES:
            if whole:
                return None
            break
        middle = (edges[:-1] / 2 + edges[1:] / 2)[wide]
        edges = np.union1d(edges, np.floor(middle) if whole else middle)
    found = weights * np.exp(logs[:, :-2])
    each = found.sum(axis=1) / found.sum()
    sums = np.array([[0.0, *np.cumsum(each)], [*np.cumsum(each[::-1])[::-1], 0.0]])
    off = abs(float(found.sum()) - 1.0)
    if whole and high > 1.0:  # logarithms of probabilities cancel among terms of this size
        off = max(off, 2.0**-53 * high * math.log(high))
    return Pieces(log_density, edges, sums, x[:, :-2], found / found.sum(), off)


@dataclass(frozen=True, slots=True)
class Moments:
    """The mean, central moments and cumulants of a law, by their orders, with bounds of errors.

    Those that do not exist are NaN. What has at most 9 digits, to within its error, has no more.
    """

    mean: float
    central: Floats
    cumulants: Floats
    mean_off: float
    central_off: Floats
    cumulants_off: Floats


def moments_by(rule: Rule, order: float) -> tuple[Rule, Moments]:
    """The moments of orders below `order`, and up to 8; with the rule that was fine enough."""
    central, off = np.full((2, HIGHEST_ORDER + 1), math.nan)
    central[:2], off[:2] = (1.0, 0.0), 0.0
    mean, mean_off = math.nan, math.nan
    for k in range(1, HIGHEST_ORDER + 1):
        if not k < order:
            break
        value, by_rule, rounding = rule.power(k, mean if k > 1 else 0.0, signed=k % 2 == 1)
        size = rule.power(k, mean if k > 1 else value)[0] if k % 2 else value
        rounding += (ROUNDING + rule.off) * size
        if by_rule > max(CLOSE * size, rounding) and rule.finer is not None:
            return moments_by(rule.finer(), order)
        if k == 1:
            mean, mean_off = _short(value, by_rule + rounding)
            continue
        # the mean may be off: E (x - m)^k has the slope -k E (x - m)^(k - 1) in m
        moved = k * mean_off * rule.power(k - 1, mean)[0]
        central[k], off[k] = _short(value, by_rule + rounding + moved)
    cumulants, cumulants_off = _cumulants(mean, mean_off, central, off)
    return rule, Moments(mean, central, cumulants, mean_off, off, cumulants_off)


def in_powers(cumulants: Sequence[float]) -> Floats:
    """The coefficients of a^m in E x^k, where x has a times these cumulants, of orders 1 to k.

    By the recursion of Smith (1995), equation 3, for moments about 0.

    >>> in_powers([1.0, 1.0]).tolist()  # a Poisson variable: E x^2 = a + a^2
    [0.0, 1.0, 1.0]
    """
    powers = [np.array([1.0])]
    for k in range(1, len(cumulants) + 1):
        parts = np.zeros(k + 1)
        for j in range(1, k + 1):
            parts[1 : k - j + 2] += math.comb(k - 1, j - 1) * cumulants[j - 1] * powers[k - j]
        powers.append(parts)
    return powers[-1]


def _short(value: float, off: float) -> tuple[float, float]:
    nearest = 0.0 if abs(value) <= off else float(f"{value:.9g}")
    return (nearest, off) if abs(value - nearest) <= off < 0.1 else (value, off)


def _cumulants(mean: float, mean_off: float, central: Floats, off: Floats) -> tuple[Floats, Floats]:
    """By the recursion of Smith (1995), The American Statistician 49, equation 3."""
    found, errors = np.zeros((2, HIGHEST_ORDER + 1))
    found[1], errors[1] = mean, mean_off
    for k in range(2, HIGHEST_ORDER + 1):
        value, error = central[k], off[k]
        for part in range(2, k - 1):
            ways = math.comb(k - 1, part - 1)
            value -= ways * found[part] * central[k - part]
            error += ways * errors[part] * (abs(central[k - part]) + off[k - part])
            error += ways * abs(found[part]) * (off[k - part] + ROUNDING * abs(central[k - part]))
        found[k], errors[k] = _short(float(value), float(error))
    return found, errors


@lru_cache(maxsize=4096)
def norm_by(rule: Rule, p: float, move: float) -> float:
    """A bound of (E|x + move|^p)^(1/p), which is off by little."""
    step = 1 if move == 0 else 2  # a rule by points may be wrong where |x + move|^p has a kink
    below = step * math.floor(p / step)
    if rule.parts == 1 and rule.rounding >= ROUNDING and p > below:
        # log E|x|^p is convex in p (Lyapunov 1901), and 0 for p = 0
        above = below + step
        lower, upper = (q * math.log(norm_by(rule, q, move)) if q else 0.0 for q in (below, above))
        return math.exp((lower + (p - below) / step * (upper - lower)) / p)
    value, by_rule, rounding = rule.power(p, -move)
    rounding += (ROUNDING + rule.off) * value
    if by_rule > CLOSE_NORM * p * value and rule.finer is not None:
        return norm_by(rule.finer(), p, move)
    bound = (value + by_rule + rounding) ** (1.0 / p)
    return bound if math.isfinite(bound) else math.inf


def log_mgf_by(rule: Rule, t: float, rate: float) -> float:
    """A bound of log E exp(t x); `rate` is the |t| from which on it is infinite."""
    if not abs(t) < rate * (1.0 - 1e-9):
        return math.inf
    exponents = t * rule.x
    top = float((exponents + np.log(rule.weights)).max())
    terms = np.exp(exponents + np.log(rule.weights) - top)
    value, off = rule.total(terms)
    if off > CLOSE_NORM * value and rule.finer is not None:
        return log_mgf_by(rule.finer(), t, rate)
    noise = ROUNDING * float((terms * (1.0 + np.abs(exponents))).sum()) + rule.off * value
    outward = np.sign(rule.tips - np.mean(rule.tips))  # e^(t x) grows on one side
    paces = np.where(t * outward > 0, abs(t) * np.maximum(rule.paces, 1.0 / rate), 0.0)
    return top + math.log(value + off + noise + rule.beyond(t * rule.tips - top, paces))


@dataclass(frozen=True, slots=True)
class Line:
    """A draw loc + scale · z between two ends, with the rule and the moments of z if known."""

    loc: float
    scale: float
    order: float
    low: float
    high: float
    rate: float = 0.0  # the |t| from which on E exp(t x) is infinite
    few: bool = True  # whether there are few such draws, and a norm may take long
    rule: Rule | None = None
    known: Moments | None = None

    def moment(self, order: int) -> tuple[float, float]:
        """The mean, for order 1, or a central moment; and a bound of its error."""
        if self.low == self.high:
            return (self.low if order == 1 else float(order == 0)), 0.0
        if not order < self.order:
            both_sides = order % 2 and not math.isfinite(self.low)
            return (math.nan if both_sides else math.inf), 0.0
        if self.known is None:
            return math.nan, math.inf
        if order == 1:
            return self.loc + self.scale * self.known.mean, self.scale * self.known.mean_off
        unit = np.float64(self.scale) ** order
        return unit * self.known.central[order], unit * self.known.central_off[order]

    def cumulant(self, order: int) -> tuple[float, float]:
        """A cumulant of an order from 2 on, and a bound of its error."""
        if self.low == self.high:
            return 0.0, 0.0
        if self.known is None or not order < self.order:
            return math.nan, math.inf
        unit = np.float64(self.scale) ** order
        return unit * self.known.cumulants[order], unit * self.known.cumulants_off[order]

    def norm(self, p: float) -> float:
        """A bound of (E|x|^p)^(1/p)."""
        if self.low == self.high:
            return abs(self.low)
        if not p < self.order:
            return math.inf
        own = math.inf
        if self.rule is not None and self.few:
            own = self.scale * norm_by(self.rule, p, self.loc / self.scale)
        elif self.rule is not None:  # Minkowski's inequality, quick for many
            own = abs(self.loc) + self.scale * norm_by(self.rule, p, 0.0)
        return min(max(abs(self.low), abs(self.high)), own)

    def spread(self, p: float) -> float:
        """The same of x - E x."""
        if self.low == self.high:
            return 0.0
        if not p < self.order or self.known is None or self.rule is None:
            return self.high - self.low if p < self.order else math.inf
        own = norm_by(self.rule, p, -self.known.mean) + self.known.mean_off
        return min(self.high - self.low, self.scale * own)

    def log_mgf(self, t: float) -> float:
        """A bound of log E exp(t x)."""
        if t == 0 or self.low == self.high:
            return t * self.low if t else 0.0
        bound = t * (self.high if t > 0 else self.low)
        if self.rule is None:
            return bound
        own = log_mgf_by(self.rule, t * self.scale, self.rate * self.scale)
        return min(bound, t * self.loc + own)

    def rarest(self, listed: bool) -> float:
        """The least chance of a value of a list, or of all values but the commonest one."""
        if self.rule is None:
            return math.nan
        chances = np.sort(self.rule.weights[self.rule.weights > 0])
        return float(chances[0] if listed else chances[:-1].sum())
