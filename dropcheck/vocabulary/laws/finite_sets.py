"""The laws of whole numbers between two ends: hypergeometric and discrete uniform."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dropcheck.vocabulary.distributions.domains import COUNT, WHOLE, Domain, LawParameter
from dropcheck.vocabulary.distributions.moment_lists import HIGHEST_ORDER, MomentList, count_norm
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.law import Generator, Size
from dropcheck.vocabulary.laws.discrete import (
    binomial_log_mgf,
    counts,
    discrete,
    log_comb,
    not_the_mode,
)
from dropcheck.vocabulary.laws.formulas import log_rising
from dropcheck.vocabulary.laws.quadrature import weighted_moments
from dropcheck.vocabulary.laws.sampling import fixed, whole

DRAWN = LawParameter("drawn", COUNT)
# numpy's generator of hypergeometric numbers takes groups below 1e9
GROUP = Domain(0.0, 1e9, low_open=False, whole=True)


def _good_ones(good: Any, bad: Any, drawn: Any) -> tuple[Any, Any]:
    """The least and the greatest number of good ones among those drawn."""
    return np.maximum(0.0, drawn - bad), np.minimum(drawn, good)


def _hypergeometric_log_mass(x: Array, good: Array, bad: Array, drawn: Array) -> Any:
    return log_comb(good, x) + log_comb(bad, drawn - x) - log_comb(good + bad, drawn)


_FEW = 64  # for at most this many in all, moments are sums over all values


def _hypergeometric_central(good: Any, bad: Any, drawn: Any) -> MomentList:
    """E y^k by E(y g(x)) = E(τ(x) (g(x + 1) - g(x))), with y = x - E x and g = y^k.

    τ(x) = (drawn - x) (good - x) / total: the discrete Stein kernel, a quadratic (Afendras,
    Papadatos and Papathanasiou 2011, Bernoulli 17, theorem 2.2).
    """
    total = np.maximum(good + bad, _FEW + 1.0)
    left, missing = drawn * (bad / total), good * ((total - drawn) / total)
    product, both = left * missing / total, (left + missing) / total
    central: list[Any] = [1.0, 0.0]
    for k in range(1, HIGHEST_ORDER):
        known = k * (product * central[k - 1] - both * central[k])
        for j in range(k - 1):
            terms = product * central[j] - both * central[j + 1] + central[j + 2] / total
            known = known + math.comb(k, j) * terms
        central.append(known / (1.0 - k / total))
    few = good + bad <= _FEW
    if not np.any(few):
        return central
    counts = [np.where(few, one, 0.0)[..., None] for one in (good, bad, drawn)]
    values = np.arange(_FEW + 1.0)
    fewest, most = _good_ones(*counts)
    weights = np.exp(_hypergeometric_log_mass(np.clip(values, fewest, most), *counts))
    weights = np.where((values >= fewest) & (values <= most), weights, 0.0)
    by_sum = weighted_moments(values, weights)[1]
    return [np.where(few, a, b) for a, b in zip(by_sum, central, strict=True)]


def _hypergeometric_norm(p: float, good: Any, bad: Any, drawn: Any) -> Any:
    """By E x (x - 1) … (x - j + 1), a ratio of falling factorials (JKK 2005, equation 6.32)."""

    def log_falling(count: Any, j: int) -> Any:
        return np.where(count >= j, log_rising(np.maximum(count - j, 0.0) + 1.0, float(j)), -np.inf)

    def log_factorial_moment(j: int) -> Any:
        ways = log_falling(good, j) + log_falling(drawn, j)
        return np.where(np.isfinite(ways), ways - log_falling(good + bad, j), -np.inf)

    return count_norm(p, log_factorial_moment)


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
    arrays = np.broadcast_arrays(x, *groups)
    result = np.empty(arrays[0].shape)
    rows = np.stack([one.ravel() for one in arrays[1:]], axis=-1)
    kinds, kind_of = np.unique(rows, axis=0, return_inverse=True)
    for kind, row in enumerate(kinds.tolist()):
        here = (kind_of.reshape(-1) == kind).reshape(result.shape)
        first, *sums = _hypergeometric_sums(*row)
        places = np.clip(arrays[0][here] - first + 1.0, 0, sums[which].size - 1)
        result[here] = sums[which][np.nan_to_num(places).astype(np.intp)]
    return result


HYPERGEOMETRIC = discrete(
    name="hypergeometric",
    summary="good ones among `drawn` taken without replacement; good and bad below 1e9",
    parameters=(LawParameter("good", GROUP), LawParameter("bad", GROUP), DRAWN),
    conditions=(("drawn <= good + bad is required", lambda good, bad, drawn: drawn <= good + bad),),
    ends=_good_ones,
    degenerate=None,
    moments=math.inf,
    rare=not_the_mode(
        lambda good, bad, drawn: np.floor((drawn + 1) * (good + 1) / (good + bad + 2)),
        _hypergeometric_log_mass,
    ),
    sampler=lambda generator, size, *counts: generator.hypergeometric(*map(whole, counts), size),
    log_density_inside=_hypergeometric_log_mass,
    standard=counts(
        mean=lambda good, bad, drawn: drawn * (good / np.maximum(good + bad, 1.0)),
        central=_hypergeometric_central,
        norm=_hypergeometric_norm,
        # at most that of draws with replacement (Hoeffding 1963, theorem 4)
        log_mgf=lambda t, good, bad, drawn: binomial_log_mgf(
            t, drawn, good / np.maximum(good + bad, 1.0)
        ),
        cdf=partial(_hypergeometric_sum, 0),
        survival=partial(_hypergeometric_sum, 1),
        high=lambda good, bad, drawn: np.minimum(good, drawn),
    ),
    norm_of_random=lambda p, norm, hull: min(norm(0, p), norm(2, p)),
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


# Bernoulli's numbers B_2, B_4, B_6 and B_8
_BERNOULLI = {2: 1 / 6, 4: -1 / 30, 6: 1 / 42, 8: -1 / 30}

# Of 0, 1, …, last. With count = last + 1 the cumulants are B_k (count^k - 1) / k (JKK 2005, section
# 6.10.1).
STANDARD_EQUAL_CHANCES = counts(
    mean=lambda last: last / 2.0,
    cumulants=lambda last: [
        _BERNOULLI.get(k, 0.0) * ((last + 1.0) ** k - 1.0) / max(k, 1) for k in range(9)
    ],
    cdf=lambda x, last: (x + 1.0) / (last + 1.0),
    survival=lambda x, last: (last - x) / (last + 1.0),
    high=lambda last: last,
)

DISCRETE_UNIFORM = discrete(
    name="discrete_uniform",
    symmetric=True,
    summary="equally likely whole numbers from low to high, both included",
    parameters=(LawParameter("low", WHOLE), LawParameter("high", WHOLE)),
    conditions=(("low <= high is required", lambda low, high: low <= high),),
    ends=lambda low, high: (low, high),
    degenerate=None,
    moments=math.inf,
    rare=None,
    sampler=_discrete_uniform_draws,
    log_density_inside=lambda x, low, high: -np.log(high - low + 1.0),
    nanoseconds=5.0,
    aliases=("randint",),
    note="both ends are values of it",
    standard=STANDARD_EQUAL_CHANCES,
    line=lambda low, high: (low, 1.0, high - low),
    norm_of_random=lambda p, norm, hull: norm(0, p) + norm(1, p),
)
