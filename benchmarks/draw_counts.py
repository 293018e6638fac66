"""Part c: how many draws each method needs for dropout's mean, at one guarantee.

The statement is E(m/q) = 1 to within 0.01, with a chance of at most 1e-6 to fail a true claim and
of at most 1e-6 to pass one that is off by 0.01 or more. A method that controls the first alone
is given half the tolerance: its interval then tells a mean that is off by 0.01 from one that is
not, which is the second.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from benchmarks.environment import UnavailableError, python_with
from benchmarks.measure import Bar, Figure, Spread, run_process
from dropcheck.claims.reader import read_text
from dropcheck.results import Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation import blocks

PEERS = ("pytest-stochastic==0.1.0", "statsmodels==0.15.0")
ALPHA = 1e-6
WITHIN = 0.01

CLAIM = """
dropcheck: 1
claims:
  dropout-mean:
    title: Inverted dropout keeps the mean of a constant
    model: |
      m ~ bernoulli({keep!r})
      y = m / {keep!r}
    claim: E(y) == 1
    within: {within!r}
"""


def our_draws(p: float) -> tuple[int, str]:
    """Draws that dropcheck makes for the verdict, its pilot's included, and what it rests on."""
    registry = read_text(CLAIM.format(keep=1 - p, within=WITHIN))
    made = 0
    carry_out = blocks.Request.carry_out

    def counted(request: blocks.Request) -> object:
        nonlocal made
        made += request.count * request.program.span_draws
        return carry_out(request)

    with patch.object(blocks.Request, "carry_out", counted):
        (result,) = verify_cases(
            registry.expand(), Settings(alpha=ALPHA, threads=1, draws_only=True), registry
        )
    if result.verdict is not Verdict.VERIFIED:
        raise AssertionError(f"the claim is true and was {result.verdict}")
    assert result.guarantee is not None
    return made, result.guarantee.value


def dkw_draws(width: float, within: float, alpha: float) -> int:
    """Those of the mean test by Dvoretzky, Kiefer and Wolfowitz's band, both errors alpha.

    TensorFlow Probability, `min_num_samples_for_dkwm_mean_test`: n = 2 w² ln(2/α)/δ² for a law on
    an interval of width w, with Massart's constant (1990).

    >>> dkw_draws(1.0, 0.01, 1e-6)
    290174
    """
    return math.ceil(2 * (width / within) ** 2 * math.log(2 / alpha))


def peer_draws(p: float) -> dict[str, int]:
    """Those of the peers, by themselves, in an environment of their own.

    Raises:
        UnavailableError: they cannot be installed.
    """
    python = python_with(*PEERS)
    script = str(Path(__file__).with_name("peer_counts.py"))
    ran = run_process([str(python), script, repr(p), repr(WITHIN), repr(ALPHA)])
    found: dict[str, int] = json.loads(ran.output.strip().splitlines()[-1])
    return found


def measured(values: tuple[float, ...] = (0.1, 0.5, 0.9)) -> Iterator[Figure]:
    """The draws of the method that needs fewest among the peers, over ours, for each p."""
    for p in values:
        ours, guarantee = our_draws(p)
        counts = {"DKW mean test": dkw_draws(1 / (1 - p), WITHIN, ALPHA)}
        missing = ""
        try:
            counts |= peer_draws(p)
        except UnavailableError as reason:
            missing = f" · not measured: {reason}"
        for name, draws in counts.items():
            yield Figure(
                "c",
                f"dropout's mean at p = {p}: draws of {name} over ours",
                Spread.of([draws / ours]),
                bar=Bar(1.0, at_least=True),
                note=f"{draws:,} against {ours:,} ({guarantee}, pilot included){missing}",
            )
