"""The laws of whole numbers.

Probabilities are as in Johnson, Kemp and Kotz, Univariate Discrete Distributions (3rd edition,
2005).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np

from dropcheck.vocabulary import special
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
from dropcheck.vocabulary.law import Cumulants, Generator, Law, Size, Values, uniforms
from dropcheck.vocabulary.laws.sampling import (
    fixed,
    random_words,
    scalar_or_array,
    signs,
    whole,
)
from dropcheck.vocabulary.moments import HIGHEST_ORDER

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
    number = fixed(p)
    return generator.random(size) < p if number is None else _coins(generator, size, number)


def _of_factorial(cumulant: Callable[[int], Any]) -> list[Any]:
    """The cumulants of a law from its factorial cumulants (JKK 2005, section 1.2.8)."""
    found, ways = [0.0], [1]  # the Stirling numbers of the second kind (JKK 2005, 1.1.3)
    for _ in range(HIGHEST_ORDER):
        found.append(sum(way * cumulant(j) for j, way in enumerate(ways, start=1)))
        pairs = zip([*ways, 0], [0, *ways], strict=True)
        ways = [j * own + before for j, (own, before) in enumerate(pairs, start=1)]
    return found


def _binomial_cumulants(n: Any, p: Any) -> list[Any]:
    """Those of the rarer of success and failure, in which little cancels."""
    rare, side = (p, 1.0) if p <= 0.5 else (1.0 - p, -1.0)
    found = _of_factorial(lambda j: -n * math.factorial(j - 1) * (-rare) ** j)
    return [0.0, n * p, *(side**k * found[k] for k in range(2, HIGHEST_ORDER + 1))]


def _negative_binomial_cumulants(n: Any, p: Any) -> list[Any]:
    return _of_factorial(lambda j: n * math.factorial(j - 1) * ((1.0 - p) / p) ** j)


BERNOULLI = Law(
    names=("bernoulli", "ber", "bern"),
    summary="1 with probability p, otherwise 0",
    parameters=(P,),
    values=Values.TRUTHS,
    ends=(0.0, 1.0),
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
    ends=lambda n, p: (0.0, n),
    moments=Cumulants(_binomial_cumulants),
    sampler=lambda generator, size, n, p: generator.binomial(whole(n), scalar_or_array(p), size),
    log_density_inside=lambda x, n, p: (
        log_comb(n, x) + special.xlogy(x, p) + special.xlog1py(n - x, -p)
    ),
    chances=(
        lambda x, n, p: special.beta_survival(x + 1.0, np.maximum(n - x, 0.0), p),
        lambda x, n, p: special.beta_cdf(x + 1.0, np.maximum(n - x, 0.0), p),
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
    ends=(1.0, math.inf),
    moments=Cumulants(lambda p: [0.0, 1.0 / p, *_negative_binomial_cumulants(1.0, p)[2:]]),
    sampler=_geometric_draws,
    log_density_inside=lambda x, p: special.xlog1py(x - 1.0, -p) + np.log(p),
    chances=(
        lambda x, p: -np.expm1(special.xlog1py(x, -p)),
        lambda x, p: np.exp(special.xlog1py(x, -p)),
    ),
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
    moments=Cumulants(_negative_binomial_cumulants),
    sampler=_negative_binomial_draws,
    log_density_inside=_negative_binomial_log_mass,
    chances=(
        lambda x, n, p: special.beta_cdf(n, x + 1.0, p),
        lambda x, n, p: special.beta_survival(n, x + 1.0, p),
    ),
)

# numpy's generator counts in 64-bit integers
RATE = Domain(0.0, LARGEST_COUNT, low_open=False, high_open=False)

POISSON = _counts(
    names=("poisson", "poi", "pois"),
    summary="events of a steady stream, rate on average",
    parameters=(LawParameter("rate", RATE, adds=True),),
    moments=Cumulants(lambda rate: [rate] * (HIGHEST_ORDER + 1)),
    sampler=lambda generator, size, rate: generator.poisson(scalar_or_array(rate), size),
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
def _hypergeometric_sums(good: float, bad: float, drawn: float) -> tuple[float, Array, Array]:
    """The first value f that counts; P(X <= x) and P(X > x) for x = f - 1, f, f + 1, ….

    Probabilities follow from that of the mode by their ratios. Values further from the mode than 50
    standard deviations, and than 400, are left out: their probabilities underflow.
    """
    fewest, most = _good_ones(good, bad, drawn)
    total = max(good + bad, 1.0)
    spread = math.sqrt(drawn * (good / total) * (bad / total) * max(total - drawn, 0.0) / total)
    reach = math.ceil(max(50.0 * spread, 400.0))
    mode = min(max(math.floor((drawn + 1) * (good + 1) / (total + 2)), fewest), most)
    first, last = max(fewest, mode - reach), min(most, mode + reach)
    x = np.arange(first, last)
    steps = np.log((good - x) * (drawn - x)) - np.log((x + 1.0) * (bad - drawn + x + 1.0))
    logarithms = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.exp(logarithms - logarithms.max())
    chances /= chances.sum()
    below = np.concatenate([[0.0], np.cumsum(chances)])
    above = np.concatenate([np.cumsum(chances[::-1])[::-1], [0.0]])
    return float(first), np.minimum(below, 1.0), np.minimum(above, 1.0)


def _hypergeometric_sum(which: int, x: Any, *groups: Any) -> Any:
    """P(X <= x) if `which` is 0, P(X > x) if it is 1."""

    def of_row(x: Array, row: tuple[float, ...]) -> Array:
        first, *sums = _hypergeometric_sums(*row)
        places = np.clip(x - first + 1.0, 0, sums[which].size - 1)
        return sums[which][np.nan_to_num(places).astype(np.intp)]

    return special.by_rows(of_row, x, groups)


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
    sampler=lambda generator, size, *counts: generator.hypergeometric(*map(whole, counts), size),
    log_density_inside=_hypergeometric_log_mass,
    chances=(partial(_hypergeometric_sum, 0), partial(_hypergeometric_sum, 1)),
)


def below(generator: Generator, count: int, size: Size) -> Array:
    """Whole numbers from 0 to count - 1, in the narrowest type: it is drawn most quickly."""
    narrowest = np.uint16 if count <= 2**16 else np.uint32 if count <= 2**32 else np.uint64
    return generator.integers(0, count - 1, size=size, dtype=narrowest, endpoint=True)


def _discrete_uniform_draws(generator: Generator, size: Size, low: Array, high: Array) -> Array:
    first, last = fixed(low), fixed(high)
    if first is not None and last is not None:
        out = below(generator, int(last - first) + 1, size).astype(np.float64)
        out += first
        return out
    return generator.integers(whole(low), whole(high), size=size, endpoint=True)


def _equal_chances(low: Any, high: Any) -> list[Any]:
    """The cumulants, by Bernoulli's numbers: B_k (count^k - 1) / k (JKK 2005, section 6.10.1)."""
    numbers = {2: 1 / 6, 4: -1 / 30, 6: 1 / 42, 8: -1 / 30}
    count = high - low + 1.0
    of_orders = range(2, HIGHEST_ORDER + 1)
    return [0.0, (low + high) / 2, *(numbers.get(k, 0.0) * (count**k - 1) / k for k in of_orders)]


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
    moments=Cumulants(_equal_chances),
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


def _of_list(which: Callable[[Array], tuple[Array, Array]]) -> dict[str, Any]:
    """What is known of a law on a list of values with given probabilities.

    `which` makes both from the law's argument: the values, rising on the last axis, and weights,
    which may have any sum.
    """

    def sums(values: Array) -> tuple[Array, Array, Array]:
        points, weights = which(values)
        shares = weights / weights.sum(axis=-1, keepdims=True)
        none = np.zeros((*shares.shape[:-1], 1))
        below = np.concatenate([none, np.cumsum(shares, axis=-1)], axis=-1)
        above = np.concatenate([np.cumsum(shares[..., ::-1], axis=-1)[..., ::-1], none], axis=-1)
        return points, np.minimum(below, 1.0), np.minimum(above, 1.0)

    def taken(table: Array, counted: Array) -> Any:
        places = np.clip(counted, 0, table.shape[-1] - 1)
        if table.ndim == 1:
            return table[places]
        return np.take_along_axis(table, places[..., None], axis=-1)[..., 0]

    def counted(table: Array, x: Array, side: Literal["left", "right"]) -> Any:
        """How many entries of a rising table are below x, or with `right`, at most x."""
        if table.ndim == 1:
            return np.searchsorted(table, x, side=side)
        lower = table <= x[..., None] if side == "right" else table < x[..., None]
        return lower.sum(axis=-1)

    def cdf(x: Array, values: Array) -> Any:
        points, below, _ = sums(values)
        return taken(below, counted(points, x, "right"))

    def survival(x: Array, values: Array) -> Any:
        points, _, above = sums(values)
        return taken(above, counted(points, x, "right"))

    def quantile(u: Array, values: Array) -> Any:
        points, below, _ = sums(values)
        return taken(points, counted(below[..., 1:], u, "left"))

    def upper_quantile(v: Array, values: Array) -> Any:
        points, _, above = sums(values)
        # the least value with at most v above it; `above` falls, and -above rises
        return taken(points, counted(-above[..., 1:], -v, "left"))

    return {"chances": (cdf, survival), "quantiles": (quantile, upper_quantile)}


CATEGORICAL = Law(
    names=("categorical", "cat"),
    summary="index, from 0, of an outcome picked by its probability",
    parameters=(OUTCOMES,),
    values=Values.WHOLE,
    ends=_possible,
    sampler=_categorical_draws,
    log_density_inside=_categorical_log_mass,
    **_of_list(lambda p: (np.arange(p.shape[-1] + 0.0), p)),
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
    **_of_list(lambda v: (np.sort(v, axis=-1), np.ones_like(v))),
)
