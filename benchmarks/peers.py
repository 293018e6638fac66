"""The same true and false claims about means, given to other methods: how often each is wrong.

    python benchmarks/peers.py --repetitions 500 --alpha 0.05

Each method is given a claim `E(x) == c`, an α and a resolution δ, and says verified, refuted or
undecided. Where the claim is true, refuted is wrong; where it is off by 1.001 δ, verified is.

* t, stopped when narrow: what a notebook does. Student's interval for a fixed n is looked at after
  every 64 draws; it refutes where it misses c and verifies where it lies within c ± δ.
* Hoeffding (1963, Theorem 2), for values in an interval of width w: n = 2 w² ln(2/α)/δ² draws, so
  that the half-width is δ/2, and one look.
* DKW-based mean test, as in TensorFlow Probability's `statistical_testing`: the band of Dvoretzky,
  Kiefer and Wolfowitz with Massart's constant (1990) about the empirical distribution function,
  turned into the least and greatest mean of a law on the interval within it; the same n.
* dropcheck: the trial that `dropcheck run` makes, in short blocks as in `calibration.py`.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import special

if __package__ in (None, ""):  # `python benchmarks/peers.py`: not the folder it lies in
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks.calibration import SHORT_BLOCK, UNSURE, ready, run_once
from dropcheck.claims.reader import read_text
from dropcheck.inference.intervals import upper_bound
from dropcheck.results import Verdict
from dropcheck.settings import Settings

Floats = npt.NDArray[np.float64]
MOST_DRAWS = 1_000_000
STEP = 64  # draws between looks of the method that stops when narrow


@dataclass(frozen=True, slots=True)
class Law:
    """A law: how it is drawn here and in the language, its mean, and where it lies."""

    name: str
    model: str
    draw: Callable[[np.random.Generator, int], Floats]
    mean: float
    resolution: float  # relative to the mean
    bounds: tuple[float, float] | None


def _dropout(p: float) -> Callable[[np.random.Generator, int], Floats]:
    return lambda rng, n: (rng.random(n) >= p) / (1 - p)


LAWS = (
    Law(
        "bernoulli 0.5",
        "x ~ bernoulli(0.5)",
        lambda rng, n: (rng.random(n) < 0.5).astype(float),
        0.5,
        0.1,
        (0.0, 1.0),
    ),
    Law(
        "bernoulli 0.01",
        "x ~ bernoulli(0.01)",
        lambda rng, n: (rng.random(n) < 0.01).astype(float),
        0.01,
        0.3,
        (0.0, 1.0),
    ),
    *(
        Law(
            f"dropout p = {p}",
            f"m ~ bernoulli({1 - p!r})\n      x = m / {1 - p!r}",
            _dropout(p),
            1.0,
            resolution,
            (0.0, 1 / (1 - p)),
        )
        for p, resolution in ((0.1, 0.05), (0.5, 0.1), (0.9, 0.2))
    ),
    Law(
        "exponential",
        "x ~ exponential(1)",
        lambda rng, n: rng.exponential(1.0, n),
        1.0,
        0.1,
        None,
    ),
    Law(
        "lognormal sd 1",
        "x ~ lognormal(0, 1)",
        lambda rng, n: rng.lognormal(0.0, 1.0, n),
        math.exp(0.5),
        0.1,
        None,
    ),
    Law(
        "student t 3",
        "t ~ student_t(3)\n      x = 1 + t",
        lambda rng, n: 1 + rng.standard_t(3, n),
        1.0,
        0.1,
        None,
    ),
)

Found = tuple[Verdict, int]
"""A verdict and the draws that it took."""


def judged(low: float, high: float, claimed: float, delta: float) -> Verdict:
    """The rule that all methods share."""
    if high < claimed or low > claimed:
        return Verdict.REFUTED
    inside = claimed - delta <= low and high <= claimed + delta
    return Verdict.VERIFIED if inside else Verdict.UNDECIDED


def stopped_when_narrow(
    law: Law, claimed: float, delta: float, alpha: float, rng: np.random.Generator
) -> Found:
    """Student's interval, looked at until it says something."""
    draws, total, squares = 0, 0.0, 0.0
    while draws < MOST_DRAWS:
        x = law.draw(rng, STEP)
        draws += STEP
        total += float(x.sum())
        squares += float((x**2).sum())
        mean = total / draws
        error = math.sqrt(max(squares / draws - mean**2, 0.0) / (draws - 1))
        half = -float(special.stdtrit(draws - 1, alpha / 2)) * error
        verdict = judged(mean - half, mean + half, claimed, delta)
        if verdict is not Verdict.UNDECIDED:
            return verdict, draws
    return Verdict.UNDECIDED, draws


def _draws_for(width: float, delta: float, alpha: float) -> int:
    return math.ceil(2 * width**2 * math.log(2 / alpha) / delta**2)


def by_hoeffding(
    law: Law, claimed: float, delta: float, alpha: float, rng: np.random.Generator
) -> Found | None:
    """One look, after the draws at which the half-width is δ/2; None where nothing is bounded."""
    if law.bounds is None:
        return None
    n = _draws_for(law.bounds[1] - law.bounds[0], delta, alpha)
    mean = float(law.draw(rng, n).mean())
    # the half-width is a hair under δ/2, for n is whole
    return judged(mean - delta / 2, mean + delta / 2, claimed, delta), n


def by_dkw(
    law: Law, claimed: float, delta: float, alpha: float, rng: np.random.Generator
) -> Found | None:
    """Least and greatest mean in the band about the empirical distribution function."""
    if law.bounds is None:
        return None
    low, high = law.bounds
    n = _draws_for(high - low, delta, alpha)
    x = np.sort(law.draw(rng, n))
    shift = math.sqrt(math.log(2 / alpha) / (2 * n))
    # mass `shift` is taken from one end of the sample and put at the other end of the support
    moved = shift * n
    whole = int(moved)
    part = moved - whole
    top = float(x[n - whole :].sum() + part * x[n - whole - 1])
    bottom = float(x[:whole].sum() + part * x[whole])
    total = float(x.sum())
    least = (total - top) / n + shift * low
    greatest = (total - bottom) / n + shift * high
    return judged(least, greatest, claimed, delta), n


METHODS = {
    "t, stopped when narrow": stopped_when_narrow,
    "Hoeffding": by_hoeffding,
    "DKW mean test": by_dkw,
}


def ours(law: Law, claimed: float, delta: float) -> Callable[[int, float], Found]:
    """The same claim for dropcheck, to be tried with a seed at an α."""
    text = (
        "dropcheck: 1\nclaims:\n  peer:\n    title: A mean\n"
        f"    within: {delta!r}\n    model: |\n      {law.model}\n    claim: E(x) == {claimed!r}\n"
    )
    (case,) = read_text(text).expand()
    prepared = ready(case, SHORT_BLOCK)

    def found(seed: int, alpha: float) -> Found:
        result = run_once(
            prepared, Settings(seed=seed, max_draws=MOST_DRAWS, draws_only=True), alpha
        )
        return result.verdict, result.draws

    return found


@dataclass(frozen=True, slots=True)
class Line:
    """One law, one side of the truth, one method."""

    law: str
    truth: str
    method: str
    rate: float
    at_most: float
    undecided: float
    draws: float


def compared(repetitions: int, alpha: float) -> Iterator[Line]:
    """Every law, true and false, by every method that can be asked."""
    for law in LAWS:
        delta = law.resolution * law.mean
        for truth, claimed in (("true", law.mean), ("false", law.mean - 1.001 * delta)):
            wrong = Verdict.REFUTED if truth == "true" else Verdict.VERIFIED
            by_us = ours(law, claimed, delta)
            found: dict[str, list[Found]] = {}
            for seed in range(repetitions):
                for place, (name, method) in enumerate(METHODS.items()):
                    rng = np.random.default_rng([seed, place, len(truth)])
                    one = method(law, claimed, delta, alpha, rng)
                    if one is not None:
                        found.setdefault(name, []).append(one)
                found.setdefault("dropcheck", []).append(by_us(seed, alpha))
            for name, results in found.items():
                errors = sum(verdict is wrong for verdict, _ in results)
                undecided = sum(verdict is Verdict.UNDECIDED for verdict, _ in results)
                yield Line(
                    law.name,
                    truth,
                    name,
                    errors / repetitions,
                    upper_bound(errors, repetitions, UNSURE),
                    undecided / repetitions,
                    sum(draws for _, draws in results) / repetitions,
                )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--alpha", type=float, default=0.05)
    given = parser.parse_args()
    head = ("law", "claim", "method", "wrong", "at most", "undecided", "draws")
    print("{:16} {:6} {:24} {:>7} {:>8} {:>10} {:>10}".format(*head))  # noqa: T201 - a script
    for line in compared(given.repetitions, given.alpha):
        note = "  above α" if line.rate > given.alpha else ""
        print(  # noqa: T201 - a script
            f"{line.law:16} {line.truth:6} {line.method:24} {line.rate:7.3f} {line.at_most:8.3f} "
            f"{line.undecided:10.3f} {line.draws:10,.0f}{note}",
            flush=True,
        )


if __name__ == "__main__":
    main()
