"""Part b: against what people would write instead, to the same interval width and confidence."""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import NormalDist

import numpy as np
from scipy import stats

from benchmarks.environment import UnavailableError, python_with
from benchmarks.measure import CLOCKS, Bar, Figure, Spread, paired, run_process
from dropcheck.array_types import Floats
from dropcheck.claims.reader import read_text
from dropcheck.results import CaseResult
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

# A build without the gigabytes that go with the plain name.
TORCH = "torch==2.13.0"
ALPHA = 1e-6

QK = """
dropcheck: 1
claims:
  qk-variance:
    title: The dot product of a query and a key has variance d_k
    parameters: {{dk: {dk}}}
    model: |
      q ~ normal(0, 1)[dk]
      k ~ normal(0, 1)[dk]
    claim: Var(q @ k) == dk
    resolution: {resolution}
"""

# From 10^5 draws, to 4 digits.
SOFTMAX = """
dropcheck: 1
claims:
  softmax-largest:
    title: The largest of 512 softmax weights of normal scores
    model: x ~ normal(0, 1)[512]
    claim: E(max(softmax(x))) == 0.02654
    resolution: {resolution}
"""

RISE = """
dropcheck: 1
claims:
  rise:
    title: At p = 0.5 dropout raises the standard deviation by sqrt(2) - 1
    model: |
      x ~ normal(0, 1)
      m ~ bernoulli(0.5)
      y = m * x / 0.5
    claim: Std(y) / Std(x) == sqrt(2)
    within: {within!r}
"""


def judged(text: str, settings: Settings) -> CaseResult:
    """The one case of a claims text."""
    registry = read_text(text)
    (result,) = verify_cases(registry.expand(), settings, registry)
    return result


def half_width(result: CaseResult) -> float:
    """Half of a result's interval."""
    low, high = result.interval or (None, None)
    return math.nan if low is None or high is None else (high - low) / 2


Values = Callable[[np.random.Generator, int], Floats]
"""So many draws of what a script averages: [rows]."""


def squared_products(rng: np.random.Generator, rows: int, dk: int = 512) -> Floats:
    """The squares of q·k: their mean is its variance."""
    products: Floats = (rng.normal(size=(rows, dk)) * rng.normal(size=(rows, dk))).sum(axis=1)
    return products**2


def largest_weights(rng: np.random.Generator, rows: int, keys: int = 512) -> Floats:
    """The largest of the softmax weights of normal scores."""
    exponentials = np.exp(rng.normal(size=(rows, keys)))
    largest: Floats = exponentials.max(axis=1) / exponentials.sum(axis=1)
    return largest


def plain_script(values: Values, half: float, alpha: float, rows: int = 10_000) -> int:
    """A mean by a plain vectorized script, until its interval is narrow enough.

    The normal interval: what one would write without a second thought.

    Returns:
        How many draws it took.
    """
    rng = np.random.default_rng(0)
    quantile = NormalDist().inv_cdf(1 - alpha / 2)
    draws, total, squares = 0, 0.0, 0.0
    while True:
        found = values(rng, rows)
        draws += rows
        total += float(found.sum())
        squares += float((found**2).sum())
        error = math.sqrt((squares / draws - (total / draws) ** 2) / draws)
        if quantile * error <= half:
            return draws


def against_script(
    repeats: int, dk: int = 512, resolution: float = 0.01, least: float = 30.0
) -> Iterator[Figure]:
    """`Var(q @ k) == dk` by the script and by dropcheck, to dropcheck's width and confidence."""
    text = QK.format(dk=dk, resolution=resolution)
    values = partial(squared_products, dk=dk)
    name, bar = f"a plain numpy script's time over ours, Var(q @ k), d_k = {dk}", Bar(least, True)
    times, note = _scripted(text, values, repeats)
    yield Figure("b", name, times, bar=bar, note=note)


def against_softmax(repeats: int, resolution: float = 0.01) -> Iterator[Figure]:
    """The mean of the largest of 512 softmax weights, by the script and by dropcheck."""
    times, note = _scripted(SOFTMAX.format(resolution=resolution), largest_weights, repeats)
    name = "our time over a plain numpy script's, E(max(softmax(x))), 512 scores"
    yield Figure("b", name, times.inverse(), bar=Bar(2.5), note=note)


def _scripted(text: str, values: Values, repeats: int) -> tuple[Spread, str]:
    """The script's time over ours, to the same interval, and what both drew."""
    settings = Settings(alpha=ALPHA, draws_only=True, threads=1)
    result = judged(text, settings)
    half = half_width(result)
    took: list[int] = []
    times = paired(
        lambda: took.append(plain_script(values, half, ALPHA)),
        lambda: judged(text, settings),
        repeats,
        CLOCKS["cpu"],
    )
    return times, f"±{half:.3g} at 1 − {ALPHA:g}: {took[-1]:,} draws against {result.draws:,}"


def against_bootstrap(repeats: int, resamples: int = 9999) -> Iterator[Figure]:
    """The variance of q·k at d_k = 16 by scipy.stats.bootstrap, at an α that it can reach."""
    alpha, dk = 1e-3, 16
    text = QK.format(dk=dk, resolution=0.05)
    settings = Settings(alpha=alpha, draws_only=True)
    result = judged(text, settings)
    half = half_width(result)
    quantile = NormalDist().inv_cdf(1 - alpha / 2)
    draws = math.ceil((2 + 6 / dk) * dk**2 * (quantile / half) ** 2)

    def bootstrap() -> None:
        rng = np.random.default_rng(0)
        s = (rng.normal(size=(draws, dk)) * rng.normal(size=(draws, dk))).sum(axis=1)
        stats.bootstrap(
            (s,), np.var, n_resamples=resamples, confidence_level=1 - alpha,
            method="percentile", batch=100, rng=rng,
        )  # fmt: skip

    times = paired(bootstrap, lambda: judged(text, settings), repeats, CLOCKS["wall"])
    note = f"±{half:.3g} at 1 − {alpha:g}, {resamples:,} resamples of {draws:,} draws"
    name = f"scipy.stats.bootstrap's time over ours, Var(q @ k), d_k = {dk}"
    yield Figure("b", name, times, note=note)


def rise_error(draws: int) -> float:
    """The standard error of Std(y)/Std(x), for inverted dropout of normals at p = 0.5.

    By the delta method: r = √(B/A) with A = mean x², B = mean y², y² = 4 m x², so that
    Var(B) = 20, Var(A) = 2, Cov(A, B) = 4 a draw, B = 2 and A = 1.

    >>> round(rise_error(10_000), 5)
    0.01225
    """
    relative = 20 / 4 + 2 - 2 * 4 / 2
    return math.sqrt(2) / 2 * math.sqrt(relative / draws)


def against_torch(repeats: int, side: int = 10_000) -> Iterator[Figure]:
    """The documents' torch experiment, as a process, and `dropcheck run` to the same width."""
    try:
        python = python_with(TORCH, "numpy")
    except UnavailableError as reason:
        yield Figure("b", "torch", Spread.of([math.nan]), note=f"not measured: {reason}")
        return
    script = str(Path(__file__).with_name("torch_experiment.py"))
    half = NormalDist().inv_cdf(1 - ALPHA / 2) * rise_error(side**2)
    with tempfile.TemporaryDirectory() as folder:
        claims = Path(folder) / "claims.yaml"
        # dropcheck ends once its interval lies within what is asked for: a tenth narrower or more
        claims.write_text(RISE.format(within=half * 1.1), encoding="utf-8")
        ours = [sys.executable, "-m", "dropcheck", "run", "-f", str(claims), "--format", "json"]
        ours += ["--no-progress"]
        ratios, memories, widths = [], [], []
        bare = run_process([sys.executable, "-c", "import numpy, scipy.special, typer, rich.table"])
        idle = run_process([str(python), script, "0"])
        for _ in range(repeats):
            theirs, mine = run_process([str(python), script, str(side)]), run_process(ours)
            ratios.append(theirs.wall / mine.wall)
            memories.append((mine.peak - bare.peak) / (theirs.peak - idle.peak))
            low, high = json.loads(mine.output)["cases"][0]["interval"]
            widths.append((high - low) / 2 / half)
    note = f"whole processes; our half-width is {widths[-1]:.2f} of theirs at 1 − {ALPHA:g}"
    name = f"the torch experiment's time over ours, {side:,} × {side:,} normals with a mask"
    yield Figure("b", name, Spread.of(ratios), bar=Bar(5.0, at_least=True), note=note)
    note = f"peak above what the imports take; theirs is {theirs.peak / 1e6:,.0f} MB in all"
    name = "our memory over the torch experiment's"
    yield Figure("b", name, Spread.of(memories), bar=Bar(0.01), note=note)


def measured(repeats: int, *, quick: bool) -> Iterator[Figure]:
    """All of part b."""
    started = time.perf_counter()
    yield from against_script(1 if quick else repeats)
    yield from against_script(1 if quick else repeats, dk=64, least=6.0)
    yield from against_softmax(1 if quick else repeats)
    yield from against_bootstrap(1 if quick else repeats, 999 if quick else 9999)
    yield from against_torch(1 if quick else repeats, 2000 if quick else 10_000)
    seconds = Spread.of([time.perf_counter() - started])
    yield Figure("b", "all of this part took", seconds, unit=" s")
