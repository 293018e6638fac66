"""Bounds of E S^-r for a sum S of squares of independent numbers, from bounds of their densities.

With S = Σ w_j (x_j - c_j)², E S^-r is ∫ λ^(r - 1) E exp(-λ S) dλ / Γ(r). Let x_j have a density of
at most M given those before it, and let c_j depend only on those. Then E exp(-λ w (x - c)²) is
largest if all probability is as near to c as M allows, on an interval of length 1 / M (Lieb and
Loss, Analysis, 2001, theorem 1.14, the bathtub principle). With s = sqrt(λ w), it is at most
M sqrt(π) erf(s / (2 M)) / s. The product of these bounds falls in λ, so that its value at the lower
end of each cell of a grid bounds the integral; beyond the grid erf is at most 1. The weights here
are in units in which M is 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from dropcheck.vocabulary import special
from dropcheck.vocabulary.majorants.bounds_arithmetic import INF

# Points of the grid for each factor of 2, and its first and last λ times the largest weight.
_FINENESS = 16
_LOWEST, _HIGHEST = 2.0**-40, 2.0**20
MOST_WEIGHTS = 400  # if there are more weights, the least one stands for all
_ROUNDING = 1e-9


def weights_of_sample(count: int, density: float, *, centred: bool) -> list[float]:
    """The weights for `count` independent numbers whose densities are at most `density`.

    The squared distances from the mean add up to Σ_j (j - 1) / j (x_j - the mean of those before)²
    over j from 2 (Welford 1962), with each x_j independent of those before.
    """
    if not 0 < density < INF:
        return []
    if not centred:
        own = [1.0] * count
    elif count > MOST_WEIGHTS:
        own = [0.5] * (count - 1)
    else:
        own = [(j - 1) / j for j in range(2, count + 1)]
    return [one / density**2 for one in own]


def inverse_of_squares(weights: Sequence[float], r: float) -> float:
    """A bound of (E S^-r)^(1/r), where every density is at most 1.

    It is infinite if r is at least half the number of weights.

    >>> found = inverse_of_squares([2 * math.pi] * 10, 1.0)
    >>> 1 / 8 <= found < 0.22  # 1 / 8 for standard normal ones
    True
    """
    count = len(weights)
    least = min(weights, default=0.0)
    if not (least > 0 and 0 < r < count / 2):
        return INF
    unit = max(weights)
    different = Counter(one / unit for one in weights)
    if count > MOST_WEIGHTS:
        different = Counter({least / unit: count})
    steps = round(_FINENESS * math.log2(_HIGHEST / _LOWEST))
    grid = _LOWEST * 2.0 ** (np.arange(steps + 1) / _FINENESS)  # λ times the largest weight
    logs = np.zeros_like(grid)
    for weight, times in different.items():
        s = np.sqrt(grid * weight)
        logs += times * np.log(np.minimum(math.sqrt(math.pi) * special.erf(s / 2) / s, 1.0))
    powers = grid**r
    cells = float(np.sum(np.diff(powers) * np.exp(logs[:-1]))) / r
    # below the grid the product is at most 1; above the grid it falls as λ^(-count / 2)
    ends = float(powers[0]) / r + float(powers[-1] * math.exp(_of_tail(different, grid[-1]))) / (
        count / 2 - r
    )
    with np.errstate(all="ignore"):
        total = (cells + ends) * (1 + _ROUNDING)
        bound = (total / math.gamma(r)) ** (1 / r) / unit
    return float(bound) if math.isfinite(bound) else INF


def _of_tail(weights: Mapping[float, int], highest: float) -> float:
    """The logarithm of the product at the end of the grid, where erf is at most 1."""
    return math.fsum(
        times * 0.5 * math.log(math.pi / (highest * weight)) for weight, times in weights.items()
    )
