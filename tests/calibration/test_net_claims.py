"""The claims of the benchmark of nets are what they are expected to be, by a second method."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from dropcheck.claims.reader import read_registry

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import nets  # noqa: E402 - found only now

CLAIMS = read_registry(nets.CLAIMS).claims
FALSE_BY = 1.001  # resolutions


def over(function: Callable[..., Any], law: Any = stats.uniform) -> float:
    """The mean of a function of one draw."""
    low, high = law.support()
    kinks = [point for point in (0.0, 1.0) if low < point < high]
    ends = [max(low, -40.0), *kinks, min(high, 60.0)]
    return sum(
        float(integrate.quad(lambda x: function(x) * law.pdf(x), a, b, epsabs=1e-13, limit=200)[0])
        for a, b in pairwise(ends)
    )


def normal(variance: float) -> Any:
    return stats.norm(0, math.sqrt(variance))


def share(numbers: int) -> float:
    """E exp(x₀)/Σ exp(x) = ∫ E[exp(x) exp(−t exp(x))] E[exp(−t exp(x))]^(n − 1) dt."""
    x, weights = np.polynomial.hermite_e.hermegauss(200)
    weights = weights / weights.sum()

    def at(log_t: float) -> float:
        t = math.exp(log_t)
        left = np.exp(-t * np.exp(x))
        return float(t * (weights @ (np.exp(x) * left)) * (weights @ left) ** (numbers - 1))

    return float(integrate.quad(at, -60, 30, epsabs=1e-13, limit=500)[0])


def half() -> float:
    """P(sum of eight > 4), by Irwin and Hall (1927)."""
    terms = ((-1) ** k * math.comb(8, k) * (4 - k) ** 8 for k in range(5))
    return float(1 - sum(terms) / math.factorial(8))


STANDARD, EXPONENTIAL = stats.norm(), stats.expon()
SECOND: dict[str, Callable[[], float]] = {
    "bump": lambda: over(lambda x: math.exp(-(x**2)), STANDARD),
    "wave": lambda: over(math.sin, stats.uniform(0, 3)),
    "hinge": lambda: over(lambda x: max(x, 0.0), STANDARD),
    "growth": lambda: over(lambda x: math.expm1(x) / x),
    "rational": lambda: over(lambda x: math.log1p(x) / x),
    "root": lambda: over(lambda x: 2 / 3 * ((1 + x) ** 1.5 - x**1.5)),
    "decay": lambda: over(lambda x: 1 / (1 + x), EXPONENTIAL),
    "distance": lambda: over(lambda x: (x**2 + (1 - x) ** 2) / 2),
    "length-2": lambda: over(lambda r: r, stats.chi(2)),
    "disc": lambda: over(lambda x: math.sqrt(1 - x**2)),
    "softmax-3": lambda: share(3),
    "phase": lambda: ((over(math.cos) + 1j * over(math.sin)) ** 3).imag,
    "largest-3": lambda: over(lambda x: 1 - x**3),
    "volume": lambda: integrate.quad(lambda x: 1 - (0.2 / x) * (1 - math.log(0.2 / x)), 0.2, 1)[0],
    "mean-4": lambda: over(lambda x: math.exp(x / 4)) ** 4,
    "odd": lambda: over(math.tanh, normal(4)),
    "smallest": lambda: over(lambda x: x, stats.expon(scale=1 / 4)),
    "cosine-5": lambda: over(math.cos, normal(5 / 4)),
    "logistic-5": lambda: over(lambda x: 1 / (1 + math.exp(-x)), normal(5)),
    "relu-5": lambda: over(lambda x: max(x, 0.0), normal(5)),
    "bell-6": lambda: over(lambda x: math.exp(-(x**2) / 6), STANDARD) ** 6,
    "cosines": lambda: over(math.cos) ** 6,
    "length-7": lambda: over(lambda r: r, stats.chi(7)),
    "mean-8": lambda: over(lambda x: math.exp(x / 8)) ** 8,
    "softmax-8": lambda: share(8),
    "half": half,
    "logistic-9": lambda: over(lambda x: 1 / (1 + math.exp(-x)), normal(1 / 9)),
    "cosine-10": lambda: over(math.cos, normal(0.9)),
    "factors": lambda: over(lambda x: 1 + (x - 0.5) / 2) ** 10,
    "largest-10": lambda: over(lambda x: 1 - x**10),
}


def test_there_are_thirty() -> None:
    assert len(CLAIMS) == len(SECOND) == 30


@pytest.mark.parametrize("name", CLAIMS)
def test_what_is_claimed_is_off_by_so_many_resolutions(name: str) -> None:
    claim = CLAIMS[name]
    assert claim.within is not None
    right = claim.statement.text.split(" == ")[1]
    claimed = eval(right, dict(vars(math)))  # of a file of our own
    off = (claimed - SECOND[name]()) / claim.within
    expected = FALSE_BY if claim.expect == "refuted" else 0.0
    assert off == pytest.approx(expected, abs=1e-6)


def test_a_part_is_run_at_a_tiny_size() -> None:
    ticks = iter(range(1000))
    found = list(nets.measured(lambda: next(ticks), quick=True))
    assert len(found) == 4
    assert (found[-1].name, found[-1].holds) == ("wrong verdicts", True)
    assert "plain: 99k draws, 1.00 s, undecided" in found[0].note
