"""The laws of whole numbers.

Probabilities are as in Johnson, Kemp and Kotz, Univariate Discrete Distributions (3rd edition,
2005).
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dropcheck.vocabulary import moments, special
from dropcheck.vocabulary.domains import (
    COUNT,
    FINITE,
    LARGEST_COUNT,
    NOT_NEGATIVE,
    PROBABILITIES,
    WHOLE,
    Domain,
    LawParameter,
    plain,
)
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import (
    Generator,
    Law,
    Size,
    Values,
    plain_argument,
    random_words,
    signs,
    uniforms,
)

P = LawParameter("p", PROBABILITIES)
N = LawParameter("n", COUNT, adds=True)
_counts = partial(Law, values=Values.WHOLE, ends=(0.0, math.inf))


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
    return generator.random(size) < p if p.size > 1 else _coins(generator, size, p.item())


BERNOULLI = Law(
    names=("bernoulli", "ber", "bern"),
    summary="1 with probability p, otherwise 0",
    parameters=(P,),
    values=Values.TRUTHS,
    ends=lambda p: (np.equal(p, 1) + 0.0, np.greater(p, 0) + 0.0),
    sampler=_bernoulli_draws,
    log_density_inside=lambda x, p: special.xlogy(x, p) + special.xlog1py(1.0 - x, -p),
    # for 0 <= x < 1; 1 - p of the rarer failure has its digits where p has them
    chances=(lambda x, p: 1.0 - p + 0.0 * x, lambda x, p: p + 0.0 * x),
)

RADEMACHER = Law(
    names=("rademacher",),
    summary="1 or -1, equally likely",
    parameters=(),
    values=Values.SIGNS,
    ends=(-1.0, 1.0),
    sampler=signs,
    log_density_inside=lambda x: np.where(np.abs(x) == 1.0, -math.log(2.0), -np.inf),
    chances=lambda x: 0.5 + 0.0 * x,
)

BINOMIAL = _counts(
    names=("binomial", "bin", "binom"),
    summary="successes among n trials of probability p",
    parameters=(N, P),
    ends=lambda n, p: (np.where(np.equal(p, 1), n, 0.0), np.where(np.equal(p, 0), 0.0, n)),
    sampler="binomial",
    log_density_inside=lambda x, n, p: (
        log_comb(n, x) + special.xlogy(x, p) + special.xlog1py(n - x, -p)
    ),
    chances=(
        lambda x, n, p: special.betaincc(x + 1.0, np.maximum(n - x, 0.0), p),
        lambda x, n, p: special.betainc(x + 1.0, np.maximum(n - x, 0.0), p),
    ),
)


def _geometric_draws(generator: Generator, size: Size, p: Array) -> Array:
    """Exponential variables of rate -log(1 - p), rounded up (Devroye 1986, section X.2)."""
    out = generator.standard_exponential(size)
    out /= -np.log1p(-p)
    np.ceil(out, out=out)
    return np.maximum(out, 1.0, out=out)


GEOMETRIC = _counts(
    names=("geometric", "geom"),
    summary="trials up to and including the first success, from 1",
    # a draw is then below 2**53, up to which float64 has every whole number, but for a probability
    # below 1e-1000
    parameters=(LawParameter("p", Domain(1e-12, 1.0, low_open=False, high_open=False)),),
    ends=lambda p: (1.0, np.where(np.equal(p, 1), 1.0, math.inf)),
    sampler=_geometric_draws,
    log_density_inside=lambda x, p: special.xlog1py(x - 1.0, -p) + np.log(p),
    chances=(
        lambda x, p: -np.expm1(special.xlog1py(x, -p)),
        lambda x, p: np.exp(special.xlog1py(x, -p)),
    ),
)


def _negative_binomial_draws(generator: Generator, size: Size, n: Array, p: Array) -> Array:
    """Poisson variables whose rates are gamma variables (Greenwood and Yule 1920)."""
    rate = generator.standard_gamma(plain_argument(n), size)
    rate *= (1.0 - p) / p
    return generator.poisson(rate)


def _negative_binomial_log_mass(x: Array, n: Array, p: Array) -> Any:
    # gamma(x + n) / (gamma(n) x!) = 1 / (x B(n, x)) for x > 0, and 1 for x = 0
    many = np.where(x > 0, -np.log(x) - special.betaln(n, np.where(x > 0, x, 1.0)), 0.0)
    mass = many + special.xlogy(n, p) + special.xlog1py(x, -p)
    return np.where(n == 0, np.where(x == 0, 0.0, -np.inf), mass)


NEGATIVE_BINOMIAL = _counts(
    names=("negative_binomial", "nbinom", "negativebinomial"),
    summary="failures before the n-th success, where n may be any number from 0",
    parameters=(
        LawParameter("n", NOT_NEGATIVE, adds=True),
        LawParameter(
            "p",
            Domain(0.0, 1.0, high_open=False),
            conditions=(  # a draw is then below 2**53, but for a probability below 1e-1000
                (
                    "(n + 1) * (1 - p) / p <= 1e12 is required",
                    lambda n, p: (n + 1) * (1 - p) <= 1e12 * p,
                ),
            ),
        ),
    ),
    ends=lambda n, p: (0.0, np.where(np.equal(n, 0) | np.equal(p, 1), 0.0, math.inf)),
    sampler=_negative_binomial_draws,
    log_density_inside=_negative_binomial_log_mass,
    chances=(
        lambda x, n, p: special.betainc(n, x + 1.0, p),
        lambda x, n, p: special.betaincc(n, x + 1.0, p),
    ),
)

# numpy's generator counts in 64-bit integers
RATE = Domain(0.0, LARGEST_COUNT, low_open=False, high_open=False)

POISSON = _counts(
    names=("poisson", "poi", "pois"),
    summary="events of a steady stream, rate on average",
    parameters=(LawParameter("rate", RATE, adds=True),),
    ends=lambda rate: (0.0, np.where(np.equal(rate, 0), 0.0, math.inf)),
    sampler="poisson",
    log_density_inside=lambda x, rate: special.xlogy(x, rate) - rate - special.gammaln(x + 1.0),
    chances=(
        lambda x, rate: special.gammaincc(x + 1.0, rate),
        lambda x, rate: special.gammainc(x + 1.0, rate),
    ),
)


# ---- finite sets ---------------------------------------------------------------------------------
#
# The laws of whole numbers between two ends: hypergeometric and discrete uniform.


# numpy's generator of hypergeometric numbers takes groups below 1e9
GROUP = Domain(0.0, 1e9, low_open=False, whole=True)


def _good_ones(good: Any, bad: Any, drawn: Any) -> tuple[Any, Any]:
    """The least and the greatest number of good ones among those drawn."""
    return np.maximum(0.0, drawn - bad), np.minimum(drawn, good)


def _hypergeometric_log_mass(x: Array, good: Array, bad: Array, drawn: Array) -> Any:
    return log_comb(good, x) + log_comb(bad, drawn - x) - log_comb(good + bad, drawn)


@lru_cache(maxsize=8)
def _good_ones_drawn(good: float, bad: float, drawn: float) -> moments.Listed:
    """Probabilities follow from that of the mode by their ratios.

    Values further from the mode than 50 standard deviations, and than 400, are left out: their
    probabilities underflow.
    """
    fewest, most = _good_ones(good, bad, drawn)
    total = max(good + bad, 1.0)
    spread = math.sqrt(drawn * (good / total) * (bad / total) * max(total - drawn, 0.0) / total)
    reach = math.ceil(max(50.0 * spread, 400.0))
    mode = min(max(math.floor((drawn + 1) * (good + 1) / (total + 2)), fewest), most)
    x = np.arange(max(fewest, mode - reach), min(most, mode + reach) + 1.0)
    steps = np.log((good - x) * (drawn - x)) - np.log((x + 1.0) * (bad - drawn + x + 1.0))
    logs = np.concatenate([[0.0], np.cumsum(steps[:-1])])
    return moments.by_probabilities(lambda _: logs - logs.max(), x)


def _hypergeometric_chance(side: int, x: Any, *groups: Any) -> Any:
    return special.by_rows(
        lambda x, row: _good_ones_drawn(*row).chance(side, x), x, groups, (0, 0, 0)
    )


HYPERGEOMETRIC = _counts(
    names=("hypergeometric", "hypergeom"),
    summary="good ones among `drawn` taken without replacement; good and bad below 1e9",
    parameters=(
        LawParameter("good", GROUP),
        LawParameter("bad", GROUP),
        LawParameter(
            "drawn",
            COUNT,
            conditions=(
                (
                    "drawn <= good + bad is required",
                    lambda good, bad, drawn: drawn <= good + bad,
                ),
            ),
        ),
    ),
    ends=_good_ones,
    sampler="hypergeometric",
    log_density_inside=_hypergeometric_log_mass,
    chances=(partial(_hypergeometric_chance, 0), partial(_hypergeometric_chance, 1)),
)


def below(generator: Generator, count: int, size: Size) -> Array:
    """Whole numbers from 0 to count - 1, in the narrowest type: it is drawn most quickly."""
    narrowest = np.uint16 if count <= 2**16 else np.uint32 if count <= 2**32 else np.uint64
    return generator.integers(0, count - 1, size=size, dtype=narrowest, endpoint=True)


def _discrete_uniform_draws(generator: Generator, size: Size, low: Array, high: Array) -> Array:
    if low.size == high.size == 1:
        drawn: Array = below(generator, int(high.item() - low.item()) + 1, size) + low.item()
        return drawn
    first, last = plain_argument(low, whole=True), plain_argument(high, whole=True)
    return generator.integers(first, last, size=size, endpoint=True)


DISCRETE_UNIFORM = _counts(
    names=(
        *("discrete_uniform", "integer", "integers", "randi", "randint", "random_integers"),
        *("randrange", "discreteuniform", "unif_int", "uniform_int"),
    ),
    summary="equally likely whole numbers from low to high; both ends are values of it",
    parameters=(
        LawParameter("low", WHOLE),
        LawParameter(
            "high",
            WHOLE,
            conditions=(("low <= high is required", lambda low, high: low <= high),),
        ),
    ),
    ends=lambda low, high: (low, high),
    sampler=_discrete_uniform_draws,
    log_density_inside=lambda x, low, high: -np.log(high - low + 1.0),
    chances=(
        lambda x, low, high: (x - low + 1.0) / (high - low + 1.0),
        lambda x, low, high: (high - x) / (high - low + 1.0),
    ),
)


# ---- lists ---------------------------------------------------------------------------------------
#
# The laws whose argument is a list, on the axis just before the axis of draws.


PROBABILITY_SUM_TOLERANCE = 1e-9


def sum_problem(p: Array) -> str | None:
    """A sentence if the numbers on the axis before the axis of draws do not sum to 1, else None."""
    lists = np.moveaxis(p, -2, -1)
    # numpy's sum is not exact: a few units in the last place more than math.fsum may say
    wrong = lists[np.abs(lists.sum(axis=-1) - 1.0) > PROBABILITY_SUM_TOLERANCE + 1e-13]
    if not wrong.size:
        return None
    return f"the probabilities p must sum to 1, and sum to {plain(math.fsum(wrong[0]))}"


OUTCOMES = LawParameter(
    "p", PROBABILITIES, axes=1, conditions=(lambda *given: sum_problem(given[-1]),)
)

# up to this many outcomes, comparing with each is quicker than a binary search (measured: 2 ns per
# draw and outcome against 16 to 50 ns per draw)
FEW_OUTCOMES = 12


def _categorical_draws(generator: Generator, size: Size, p: Array) -> Array:
    """The inverse of the distribution function; an outcome of probability 0 never comes up."""
    ends = np.cumsum(p, axis=-2)
    ends /= ends[..., -1:, :]
    u = uniforms(generator, size)
    outcomes = p.shape[-2]
    if p.size == outcomes and outcomes > FEW_OUTCOMES:
        return np.searchsorted(ends.reshape(-1), u, side="right")
    out = np.zeros(size)
    for index in range(outcomes - 1):
        out += u >= ends[..., index, :]
    return out


def _categorical_log_mass(x: Array, p: Array) -> Any:
    lead, draws = np.broadcast_shapes(p.shape[:-2], x.shape[:-1]), max(p.shape[-1], x.shape[-1])
    table = np.broadcast_to(p, (*lead, p.shape[-2], draws))
    places = np.broadcast_to(x, (*lead, draws)).astype(np.intp)[..., None, :]
    return np.log(np.take_along_axis(table, places, axis=-2)[..., 0, :])


def _possible(p: Array) -> tuple[Any, Any]:
    """The first and the last outcome that can come up."""
    possible = p > 0
    last = p.shape[-2] - 1.0
    return possible.argmax(axis=-2) + 0.0, last - possible[..., ::-1, :].argmax(axis=-2)


CATEGORICAL = Law(
    names=("categorical", "cat"),
    summary="index, from 0, of an outcome picked by its probability",
    parameters=(OUTCOMES,),
    values=Values.WHOLE,
    ends=_possible,
    sampler=_categorical_draws,
    log_density_inside=_categorical_log_mass,
)


def _choice_draws(generator: Generator, size: Size, v: Array) -> Array:
    picks = below(generator, v.shape[-2], size)
    if v.size == v.shape[-2]:
        return v.reshape(-1).take(picks)
    places = picks.astype(np.intp)[..., None, :]
    # all elements of a draw that the list broadcasts to share its values
    table = np.broadcast_to(v, (*size[:-1], v.shape[-2], size[-1]))
    return np.take_along_axis(table, places, axis=-2)[..., 0, :]


CHOICE = Law(
    names=("choice",),
    summary=(
        "one of the values v; all are equally likely, of others draw i ~ categorical([p…]), and "
        "take([v…], i)"
    ),
    parameters=(LawParameter("v", FINITE, axes=1),),
    values=Values.LISTED,
    ends=lambda v: (v.min(axis=-2), v.max(axis=-2)),
    sampler=_choice_draws,
    log_density_inside=lambda x, v: np.log((v == x[..., None, :]).mean(axis=-2)),
)
