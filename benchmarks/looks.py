"""Part h: the draws of a whole trial, over those of a test whose sample is fixed beforehand.

The fixed test knows the variance, looks once with all of the case's error, and is sized so that
nine in ten of its samples decide: n = ((z(1 - α/2) + z(0.9)) s/δ)², where s²/n is the variance of
the estimate and δ the half-width that decides (Lehmann and Romano 2005, "Testing Statistical
Hypotheses", section 3.3 on the power of one-sided tests of a mean). Ours has to find the variance
with a pilot, which is counted, and looks several times. Where the verdict rests on moments of the
model, √(2 log(2/α)) stands in place of the normal's quantile: what any interval that holds for all
laws of a variance needs (Catoni 2012). A claim of certainty takes the same draws in both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist

from benchmarks.measure import Bar, Figure, Spread
from dropcheck.analysis.strategy import Certainty
from dropcheck.claims.registry import Case, Registry
from dropcheck.inference.intervals import case_alpha
from dropcheck.inference.region import reach, widening
from dropcheck.judging.case import CaseRun, prepare
from dropcheck.judging.judge import run_case
from dropcheck.results import CaseResult, Guarantee, Verdict
from dropcheck.settings import Settings

DECIDES = 0.9
# Below so many draws no average is judged at all: a fixed test that needs fewer is left out.
FEWEST_COMPARED = 2048


def run_once(case: Case, alpha: float) -> tuple[CaseResult, int, CaseRun]:
    """One run, and all draws that it made, those of its pilot too."""
    prepared = prepare(case)
    settings = Settings(threads=1, draws_only=True)
    made = 0
    asked = run_case(prepared, settings, alpha)
    try:
        request = next(asked)
        while True:
            made += request.count * request.program.span_draws
            request = asked.send(request.carry_out())
    except StopIteration as stop:
        run = CaseRun(prepared=prepared, settings=settings, alpha=alpha)
        if isinstance(prepared.strategy, Certainty):
            made = 0  # no test has fewer than what bounds the violations
        return stop.value, made, run


def fixed_draws(found: CaseResult, run: CaseRun, alpha: float) -> float:
    """Draws of the fixed test; 0 where nothing varies."""
    if not found.standard_error or found.estimate is None or found.scale is None:
        return 0.0
    needed = 0.0
    for comparison in run.reading.comparisons:
        if comparison.share:
            return 0.0  # its interval is of a share, and what is shown is of a difference
        widen = widening(comparison.region, run.sharpness(found.scale))
        # a claimed equality that is verified is taken to hold
        point = comparison.region.point and found.verdict is Verdict.VERIFIED
        estimate = comparison.region.low if point else found.estimate
        target = reach(estimate, 0.0, comparison.region, widen)
        quantile = NormalDist().inv_cdf(1 - alpha / 2)
        if found.guarantee in (Guarantee.FINITE_SAMPLE, Guarantee.MOMENTS):
            quantile = math.sqrt(2 * math.log(2 / alpha))
        deviations = (quantile + NormalDist().inv_cdf(DECIDES)) * found.standard_error / target
        needed = max(needed, found.draws * deviations**2)
    return needed


def measured(registry: Registry) -> Iterator[Figure]:
    """All draws of the registry over those of fixed samples, and the ratio of the usual case."""
    cases = registry.expand()
    alpha = case_alpha(1e-6, len(cases), len(cases))
    ours = theirs = 0.0
    ratios: list[tuple[float, str]] = []
    for case in cases:
        found, made, trial = run_once(case, alpha)
        fixed = fixed_draws(found, trial, alpha)
        if made and fixed >= FEWEST_COMPARED:
            ours, theirs = ours + made, theirs + fixed
            ratios.append((made / fixed, case.claim.id))
    yield Figure(
        "h",
        "all draws over those of fixed samples",
        Spread.of([ours / theirs]),
        bar=Bar(1.3),
        note=f"{ours:,.0f} against {theirs:,.0f} in {len(ratios)} cases, pilots included",
    )
    yield Figure(
        "h",
        "the same, the median case",
        Spread.of([ratio for ratio, _ in ratios]),
        note="most: " + ", ".join(f"{name} {ratio:.3g}" for ratio, name in sorted(ratios)[:-4:-1]),
    )
