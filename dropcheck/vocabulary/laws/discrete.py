"""The laws of whole numbers.

Probabilities are as in Johnson, Kemp and Kotz, Univariate Discrete Distributions (3rd edition,
2005).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.distributions.distribution import Values
from dropcheck.vocabulary.distributions.domains import (
    COUNT,
    LARGEST_COUNT,
    NOT_NEGATIVE,
    POSITIVE_PROBABILITY,
    PROBABILITIES,
    Domain,
    LawParameter,
)
from dropcheck.vocabulary.distributions.moment_lists import MomentList, count_norm, of_trials
from dropcheck.vocabulary.distributions.random_arguments import counted_at_most
from dropcheck.vocabulary.distributions.standard import ArgumentHull, ArgumentNorm, Standard
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import Generator, Law, Size
from dropcheck.vocabulary.laws.formulas import beta_cdf, beta_survival, least_whole, log_rising
from dropcheck.vocabulary.laws.sampling import (
    fixed,
    random_words,
    scalar_or_array,
    signs,
    whole,
)

P = LawParameter("p", PROBABILITIES)
SUCCESS = LawParameter("p", POSITIVE_PROBABILITY)
N = LawParameter("n", COUNT)
# numpy's Poisson generator counts in 64-bit integers
RATE = Domain(0.0, LARGEST_COUNT, low_open=False, high_open=False)

# The relative rounding error of a probability. A level within it counts as reached, so that
# quantiles at the probabilities of the law itself are found.
ROUNDING = 4 * float(np.finfo(np.float64).eps)

# the ends of a discrete law have a probability: near them nothing falls as a power
discrete = partial(Law, values=Values.WHOLE, near_ends=None, tails=None, nanoseconds=40.0)


def smaller(p: Array) -> Array:
    """The smaller of p and 1 - p."""
    return np.asarray(np.minimum(p, 1 - p))


def not_the_mode(mode: Callable[..., Any], log_mass: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the arguments: the probability of all values but the most common one."""
    return lambda *arguments: -np.expm1(log_mass(mode(*arguments), *arguments))


def log_comb(n: Array, k: Array) -> Any:
    """Log of n over k by the beta function: less cancels than with three gamma functions."""
    return -np.log1p(n) - special.betaln(n - k + 1.0, k + 1.0)


CELLS = 2**16  # values of 16 random bits


def _coins(generator: Generator, size: Size, p: float) -> Array:
    """True with probability p, from 16 random bits per draw.

    If the bits of a draw fall in the cell that contains p (one in 65,536), another uniform number
    decides: so the probability is p to within 2**-53 / 65536, however small p is.
    """
    count = math.prod(size)
    whole_cells, part = divmod(p * CELLS, 1.0)
    if whole_cells >= CELLS:
        return np.ones(size, dtype=bool)
    bits = random_words(generator, 2 * count).view("<u2")[:count]
    heads = bits < np.uint16(whole_cells)
    if part > 0:
        undecided = np.flatnonzero(bits == np.uint16(whole_cells))
        heads[undecided] = generator.random(undecided.size) < part
    return heads.reshape(size)


def _bernoulli_draws(generator: Generator, size: Size, p: Array) -> Array:
    """As bool: it takes an eighth of the memory of float64, and serves as a truth value."""
    number = fixed(p)
    return generator.random(size) < p if number is None else _coins(generator, size, number)


def counts(
    *,
    cdf: Callable[..., Any],
    survival: Callable[..., Any],
    high: Callable[..., Any],
    **moments: Callable[..., Any],
) -> Standard:
    """What is known of a law on the whole numbers from 0; quantiles are found by a search."""

    def size(level: Array, shapes: tuple[Array, ...]) -> Array:
        return np.zeros(np.broadcast_shapes(level.shape, *map(np.shape, shapes)))

    def quantile(u: Array, *shapes: Array) -> Any:
        least = np.where(u < 1, u * (1.0 - ROUNDING), u)
        return least_whole(lambda x: cdf(x, *shapes) >= least, size(u, shapes), high(*shapes))

    def upper_quantile(v: Array, *shapes: Array) -> Any:
        most = v * (1.0 + ROUNDING)
        return least_whole(lambda x: survival(x, *shapes) <= most, size(v, shapes), high(*shapes))

    return Standard(
        **moments,
        cdf=lambda x, *shapes: cdf(np.floor(x), *shapes),
        survival=lambda x, *shapes: survival(np.floor(x), *shapes),
        quantile=quantile,
        upper_quantile=upper_quantile,
        quantile_cost=5000.0,
    )


def _binomial_cumulants(n: Array, p: Array) -> MomentList:
    """Cumulants of a sum of n Bernoulli variables, from the rarer of success and failure."""
    rare = np.minimum(p, 1.0 - p)
    side = np.where(np.greater(p, 0.5), -1.0, 1.0)
    return [-n * side**k * one for k, one in enumerate(of_trials(-rare))]


def _binomial_norm(p: float, n: Array, chance: Array) -> Any:
    """By E x (x - 1) … (x - j + 1) = n (n - 1) … (n - j + 1) p^j."""

    def log_factorial_moment(j: int) -> Any:
        ways = np.where(n >= j, log_rising(np.maximum(n - j, 0.0) + 1.0, float(j)), -np.inf)
        return ways + j * np.log(chance)

    return count_norm(p, log_factorial_moment)


def binomial_log_mgf(t: Any, n: Any, p: Any) -> Any:
    """Log E exp(t x) of the number of successes in n trials."""
    return n * np.logaddexp(np.log1p(-p), np.log(p) + t)


STANDARD_BINOMIAL = counts(
    mean=lambda n, p: n * p,
    cumulants=_binomial_cumulants,
    norm=_binomial_norm,
    log_mgf=binomial_log_mgf,
    cdf=lambda x, n, p: beta_survival(x + 1.0, np.maximum(n - x, 0.0), p),
    survival=lambda x, n, p: beta_cdf(x + 1.0, np.maximum(n - x, 0.0), p),
    high=lambda n, p: n,
)


def binomial_of_random(p: float, norm: ArgumentNorm, hull: ArgumentHull) -> float:
    """A bound of (E x^p)^(1/p) for n trials, where n or the probability is random, or both."""
    trials, chance = hull(0).high, hull(1).high
    return counted_at_most(
        p, norm(0, p), lambda j: min(trials * norm(1, j), norm(0, j) * chance), trials
    )


BERNOULLI = discrete(
    name="bernoulli",
    summary="1 with probability p, otherwise 0",
    parameters=(P,),
    values=Values.TRUTHS,
    ends=(0.0, 1.0),
    degenerate=lambda p: ((p == 0) | (p == 1), p),
    moments=math.inf,
    rare=smaller,
    sampler=_bernoulli_draws,
    log_density_inside=lambda x, p: special.xlogy(x, p) + special.xlog1py(1.0 - x, -p),
    nanoseconds=1.0,
    aliases=("ber", "bern"),
    standard=STANDARD_BINOMIAL,
    line=lambda p: (0.0, 1.0, 1.0, p),
    norm_of_random=lambda p, norm, hull: norm(0, 1.0) ** (1.0 / p),
)

RADEMACHER = discrete(
    name="rademacher",
    symmetric=True,
    summary="1 or -1, equally likely",
    parameters=(),
    values=Values.SIGNS,
    ends=(-1.0, 1.0),
    degenerate=None,
    moments=math.inf,
    rare=None,
    sampler=signs,
    log_density_inside=lambda x: np.where(np.abs(x) == 1.0, -math.log(2.0), -np.inf),
    nanoseconds=1.0,
    standard=STANDARD_BINOMIAL,
    line=lambda: (-1.0, 2.0, 1.0, 0.5),
)


def _binomial_log_mass(x: Array, n: Array, p: Array) -> Any:
    return log_comb(n, x) + special.xlogy(x, p) + special.xlog1py(n - x, -p)


BINOMIAL = discrete(
    name="binomial",
    summary="successes among n trials of probability p",
    parameters=(N, P),
    ends=lambda n, p: (0.0, n),
    degenerate=lambda n, p: ((n == 0) | (p == 0) | (p == 1), n * p),
    moments=math.inf,
    rare=not_the_mode(lambda n, p: np.minimum(np.floor((n + 1) * p), n), _binomial_log_mass),
    sampler=lambda generator, size, n, p: generator.binomial(whole(n), scalar_or_array(p), size),
    log_density_inside=_binomial_log_mass,
    aliases=("bin", "binom"),
    standard=STANDARD_BINOMIAL,
    norm_of_random=binomial_of_random,
)


def _geometric_draws(generator: Generator, size: Size, p: Array) -> Array:
    """Exponential variables of rate -log(1 - p), rounded up (Devroye 1986, section X.2)."""
    out = generator.standard_exponential(size)
    out /= -np.log1p(-p)
    np.ceil(out, out=out)
    return np.maximum(out, 1.0, out=out)


def _geometric_log_mass(x: Array, p: Array) -> Any:
    return special.xlog1py(x - 1.0, -p) + np.log(p)


STANDARD_NEGATIVE_BINOMIAL = counts(
    mean=lambda n, p: n * ((1.0 - p) / p),
    cumulants=lambda n, p: [n * one for one in of_trials((1.0 - p) / np.asarray(p))],
    # E x (x - 1) … (x - j + 1) = n (n + 1) … (n + j - 1) ((1 - p) / p)^j
    norm=lambda order, n, p: count_norm(
        order, lambda j: log_rising(n, float(j)) + j * (np.log1p(-p) - np.log(p))
    ),
    log_mgf=lambda t, n, p: np.where(
        np.log1p(-p) + t < 0, n * (np.log(p) - np.log(-np.expm1(np.log1p(-p) + t))), np.inf
    ),
    cdf=lambda x, n, p: beta_cdf(n, x + 1.0, p),
    survival=lambda x, n, p: beta_survival(n, x + 1.0, p),
    high=lambda n, p: np.inf,
)

GEOMETRIC = discrete(
    name="geometric",
    summary="trials up to and including the first success, from 1; 0 < p <= 1",
    parameters=(SUCCESS,),
    # a draw is then below 2**53, up to which float64 has every whole number, but for a probability
    # below 1e-1000
    conditions=(("p >= 1e-12 is required", lambda p: p >= 1e-12),),
    ends=(1.0, math.inf),
    degenerate=lambda p: (p == 1, 1.0),
    moments=math.inf,
    rare=not_the_mode(np.ones_like, _geometric_log_mass),
    sampler=_geometric_draws,
    log_density_inside=_geometric_log_mass,
    aliases=("geom",),
    standard=STANDARD_NEGATIVE_BINOMIAL,
    line=lambda p: (1.0, 1.0, 1.0, p),
)


def _negative_binomial_draws(generator: Generator, size: Size, n: Array, p: Array) -> Array:
    """Poisson variables whose rates are gamma variables (Greenwood and Yule 1920)."""
    rate = generator.standard_gamma(scalar_or_array(n), size)
    rate *= (1.0 - p) / p
    return generator.poisson(rate)


def _negative_binomial_log_mass(x: Array, n: Array, p: Array) -> Any:
    # gamma(x + n) / (gamma(n) x!) = 1 / (x B(n, x)) for x > 0, and 1 for x = 0
    many = np.where(x > 0, -np.log(x) - special.betaln(n, np.where(x > 0, x, 1.0)), 0.0)
    mass = many + special.xlogy(n, p) + special.xlog1py(x, -p)
    return np.where(n == 0, np.where(x == 0, 0.0, -np.inf), mass)


NEGATIVE_BINOMIAL = discrete(
    name="negative_binomial",
    summary="failures before the n-th success; n may be any number from 0, 0 < p <= 1",
    parameters=(LawParameter("n", NOT_NEGATIVE), SUCCESS),
    # a draw is then below 2**53, but for a probability below 1e-1000
    conditions=(
        ("(n + 1) * (1 - p) / p <= 1e12 is required", lambda n, p: (n + 1) * (1 - p) <= 1e12 * p),
    ),
    ends=(0.0, math.inf),
    degenerate=lambda n, p: ((n == 0) | (p == 1), 0.0),
    moments=math.inf,
    rare=not_the_mode(
        lambda n, p: np.floor(np.maximum(n - 1, 0) * (1 - p) / p), _negative_binomial_log_mass
    ),
    sampler=_negative_binomial_draws,
    log_density_inside=_negative_binomial_log_mass,
    aliases=("nbinom",),
    standard=STANDARD_NEGATIVE_BINOMIAL,
)


def _poisson_log_mass(x: Array, rate: Array) -> Any:
    return special.xlogy(x, rate) - rate - special.gammaln(x + 1.0)


POISSON = discrete(
    name="poisson",
    summary="events of a steady stream, rate on average",
    parameters=(LawParameter("rate", RATE),),
    ends=(0.0, math.inf),
    degenerate=lambda rate: (rate == 0, 0.0),
    moments=math.inf,
    tails=lambda rate: (math.inf, math.inf),
    rare=not_the_mode(np.floor, _poisson_log_mass),
    sampler=lambda generator, size, rate: generator.poisson(scalar_or_array(rate), size),
    log_density_inside=_poisson_log_mass,
    aliases=("poi", "pois"),
    standard=counts(
        mean=lambda rate: rate,
        cumulants=lambda rate: [rate] * 9,
        norm=lambda p, rate: count_norm(p, lambda j: j * np.log(rate)),
        log_mgf=lambda t, rate: rate * np.expm1(t),
        cdf=lambda x, rate: special.gammaincc(x + 1.0, rate),
        survival=lambda x, rate: special.gammainc(x + 1.0, rate),
        high=lambda rate: np.inf,
    ),
    norm_of_random=lambda p, norm, hull: counted_at_most(p, math.inf, lambda j: norm(0, j)),
)
