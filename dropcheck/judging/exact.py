"""Exact values: what the model says of a statement's quantity without a draw."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dropcheck.analysis.averaged_products import Integrand
from dropcheck.analysis.exact import exact_means
from dropcheck.analysis.strategy import Certainty, Proportion
from dropcheck.inference.enclosure import enclose
from dropcheck.inference.region import Comparison, decide, widening
from dropcheck.judging.case import WITNESS_ROUNDING, CaseRun, Finding, not_drawn
from dropcheck.judging.knowledge import Knowledge
from dropcheck.judging.look import (
    far_off,
    scales_of,
    settling,
    sharpness_of,
    unit_of,
)
from dropcheck.judging.rounding import (
    enclosing,
    exact_with_digits_left,
    rounding_of_sides,
    theta_of,
)
from dropcheck.language.graph import Value
from dropcheck.reasons import Reason
from dropcheck.results import Exact, Guarantee, Method, Region, Verdict
from dropcheck.simulation import Compiled

# A probability is taken to be the claimed 1 or 0 where it is as near as this.
NEARLY = 1e-9


def exact_quantity(
    compiled: Compiled, knowledge: Knowledge, comparison: Comparison
) -> Exact | None:
    """The quantity of one comparison by the model; None where the model does not say it."""
    exact = knowledge.means
    if exact is None:
        return None
    theta = theta_of(compiled, comparison, exact.centres)
    value = float(theta(exact.means[:, np.newaxis])[0])
    if not math.isfinite(value):
        return None
    enclosed = enclosing(compiled, comparison, exact.centres)
    low, high = enclose(enclosed, exact.means, exact.errors)
    error = max(high - value, value - low, 0.0)
    return Exact(value, error) if math.isfinite(error) else None


def exact_probability(event: Value, condition: Value | None) -> Exact | None:
    """The probability of an event that is one truth a draw; None where it is not known."""
    if event.shape or not event.binary or (condition is not None and condition.shape):
        return None
    both = Integrand(factors=((event, 1),), given=condition)
    known = exact_means(
        [both] if condition is None else [both, Integrand(factors=(), given=condition)]
    )
    if known is None:
        return None
    means, errors = known
    if condition is None:
        return Exact(float(means[0]), float(errors[0]))
    if not means[1] > errors[1]:
        return None
    value = float(means[0] / means[1])
    return Exact(value, float((errors[0] + value * errors[1]) / (means[1] - errors[1])))


def of_proportion(claim: Proportion) -> Exact | None:
    """The exact value of a statement's side that is made of one probability; None if unknown."""
    exact = exact_probability(claim.event, claim.condition)
    if exact is None:
        return None
    return Exact(claim.factor * exact.value + claim.constant, abs(claim.factor) * exact.error)


def unknown_exactly() -> Finding:
    """The finding where the model does not give what is asked."""
    return not_drawn(Reason.NOT_KNOWN_EXACTLY.explain())


def by_exact_value(run: CaseRun) -> Finding:
    """Judge a case by what the model says alone; nothing is drawn."""
    unknown = unknown_exactly()
    match run.prepared.strategy, run.prepared.compiled, run.prepared.knowledge:
        case Certainty(event, condition, claimed), _, _:
            return known_exception(run, event, condition, claimed) or unknown
        case Proportion() as claim, _, _:
            exact = of_proportion(claim)
            if exact is None:
                return unknown
            scale = run.reading.known_scale or abs(claim.factor) + abs(claim.constant)
            comparison = run.reading.comparisons[0]
            widen = widening(comparison.region, run.sharpness(scale))
            return _found(run, comparison, exact, scale, widen, 1.0)
        case _, Compiled() as compiled, Knowledge(means=averages) as knowledge if averages:
            operands, _ = compiled.functional.at_averages(averages.means, averages.centres)
            scales = scales_of(run, compiled, averages.means, averages.centres)
            if not all(map(math.isfinite, (*operands, *scales))):
                return unknown
            findings: list[Finding] = []
            off: list[float] = []
            each = zip(run.reading.comparisons, run.reading.of_each, scales, strict=True)
            for comparison, part, scale in each:
                sharpness = sharpness_of(run, part, scale, operands)
                exact = exact_quantity(compiled, knowledge, comparison)
                if exact is None:
                    return unknown
                unit = unit_of(comparison, operands)
                of_sides = rounding_of_sides(run, part) / unit
                exact = exact_with_digits_left(run, compiled, comparison, averages, exact, of_sides)
                widen = widening(comparison.region, sharpness / unit)
                found = _found(run, comparison, exact, scale, widen, unit)
                sides = None if comparison.against is None else part.sides(operands)
                findings.append(replace(found, sides=sides))
                off.append(far_off(exact.value, comparison.region, widen))
            return findings[settling(run.reading, [one.verdict for one in findings], off)]
    return unknown


def _found(
    run: CaseRun, comparison: Comparison, exact: Exact, scale: float, widen: float, unit: float
) -> Finding:
    """The finding on a known quantity; one in the widened region is verified, as a run would."""
    region = comparison.region
    low, high = exact.value - exact.error, exact.value + exact.error
    verdict = decide(low, high, region, widen)
    edges = (region.low - widen, region.high + widen)
    strict = region.low_open or region.high_open
    if verdict is Verdict.REFUTED and not strict and edges[0] <= low and high <= edges[1]:
        verdict = Verdict.VERIFIED
    beyond = max(region.low - low, high - region.high, 0.0) * unit
    return Finding(
        verdict=verdict,
        method=Method.EXACT_VALUE,
        guarantee=Guarantee.EXACT,
        quantity=comparison.measures,
        region=Region(region.low * unit, region.high * unit, region.low_open, region.high_open),
        estimate=exact.value * unit,
        interval=(low * unit, high * unit),
        standard_error=0.0,
        entry=comparison.entry,
        scale=scale,
        sharpness=run.looked(scale, widen, unit),
        within=0.0 if beyond <= WITNESS_ROUNDING * scale else beyond,
        exact=Exact(exact.value * unit, exact.error * unit),
        explanation=Reason.AT_THE_EDGE.explain() if verdict is Verdict.INCONCLUSIVE else None,
    )


def known_exception(
    run: CaseRun, event: Value, condition: Value | None, claimed: float
) -> Finding | None:
    """The finding that the model itself refutes a claim of certainty; None where it does not.

    An exception with a known chance refutes, however rare it is: no draw has to show it.
    """
    exact = exact_probability(event, condition)
    if exact is None:
        return None
    allowed = run.case.claim.within or NEARLY
    if abs(exact.value - claimed) > allowed + exact.error:
        found = _found(run, run.reading.comparisons[0], exact, 1.0, 0.0, 1.0)
        return replace(found, sharpness=None)
    return None
