"""Exact values: what the model says of a statement's quantity without a draw."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dropcheck.analysis.exact import Integrand, exact_means
from dropcheck.analysis.strategy import Certainty
from dropcheck.array_types import Floats
from dropcheck.inference.region import (
    NEARLY,
    Comparison,
    decide_exactly,
    widening,
)
from dropcheck.judging.case import WITNESS_ROUNDING, CaseRun, Finding, not_drawn
from dropcheck.judging.knowledge import ExactMeans, Knowledge
from dropcheck.judging.look import (
    far_off,
    scales_of,
    settling,
    sharpness_of,
    unit_of,
)
from dropcheck.judging.rounding import (
    LOOK_ROUNDING,
    SMALL_ROOM,
    SMALL_SHARE,
    enclosing,
    rounding_of_means,
    rounding_of_sides,
    theta_of,
    used,
)
from dropcheck.known.enclosure import enclose
from dropcheck.language.graph import Value
from dropcheck.reasons import Reason
from dropcheck.results import Exact, Guarantee, Method, Region, Verdict
from dropcheck.simulation import Compiled


def exact_quantity(
    compiled: Compiled, knowledge: Knowledge, comparison: Comparison, off: Floats | float = 0.0
) -> Exact | None:
    """The quantity of one comparison by the model; None where the model does not say it.

    `off` is how far rounding may move each average, [terms].
    """
    exact = knowledge.means
    if exact is None:
        return None
    theta = theta_of(compiled, comparison, exact.centres)
    value = float(theta(exact.means[:, np.newaxis])[0])
    if not math.isfinite(value):
        return None
    enclosed = enclosing(compiled, comparison, exact.centres)
    means, errors = (used(compiled, comparison, one) for one in (exact.means, exact.errors + off))
    low, high = enclose(enclosed, means, errors)
    error = max(high - value, value - low, 0.0)
    return Exact(value, error) if math.isfinite(error) else None


def exact_average(run: CaseRun, comparison: Comparison) -> Exact | None:
    """The quantity of one comparison of averages, by the analysis; None where that is unknown."""
    compiled, knowledge = run.prepared.compiled, run.prepared.knowledge
    if not isinstance(compiled, Compiled) or knowledge is None:
        return None
    return exact_quantity(compiled, knowledge, comparison)


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


@dataclass(frozen=True, slots=True)
class Known:
    """What the model says of a statement: a finding, and the value of each comparison's quantity.

    `place` is the comparison that settles the statement; the values are in the units of regions.
    """

    findings: tuple[Finding, ...]
    values: tuple[Exact, ...]
    place: int = 0

    @property
    def finding(self) -> Finding:
        """The finding on the statement."""
        return self.findings[self.place]

    def of(self, other: Finding) -> Finding | None:
        """The finding on the comparison that another finding is about."""
        asked = other.quantity, other.entry
        return next((one for one in self.findings if (one.quantity, one.entry) == asked), None)


def unknown_exactly() -> Finding:
    """The finding where the model does not give what is asked."""
    return not_drawn(Reason.NOT_KNOWN_EXACTLY.explain())


def known_exactly(run: CaseRun) -> Known | None:
    """What the model says; None where it says a quantity to no hundredth of what is allowed."""
    prepared = run.prepared
    match prepared.strategy, prepared.compiled, prepared.knowledge:
        case Certainty() as certainty, _, _:
            return _known_certainty(run, certainty)
        case _, Compiled() as compiled, Knowledge(means=averages) as knowledge if averages:
            return _known_averages(run, compiled, knowledge, averages)
    return None


def _known_averages(
    run: CaseRun, compiled: Compiled, knowledge: Knowledge, averages: ExactMeans
) -> Known | None:
    operands, _ = compiled.functional.at_averages(averages.means, averages.centres)
    if not all(map(math.isfinite, operands)):
        return None
    scales = scales_of(run, compiled, averages.means, averages.centres)
    findings: list[Finding] = []
    values: list[Exact] = []
    off: list[float] = []
    each = zip(run.reading.comparisons, run.reading.of_each, scales, strict=True)
    # no draw confirms an exact value, and it may be made of digits that are lost
    rounded = rounding_of_means(run, compiled.program, averages.centres)
    rounded = np.where(rounded > SMALL_SHARE * np.abs(averages.means), rounded, 0.0)
    for comparison, part, size in each:
        scale = size if math.isfinite(size) else 0.0  # there is no second moment
        about = scale or _first_moment(compiled, knowledge, averages, comparison)
        exact = exact_quantity(compiled, knowledge, comparison, rounded)
        if exact is None:
            return None
        unit = unit_of(comparison, operands)
        of_sides = rounding_of_sides(run, part) / unit
        if of_sides > SMALL_ROOM * abs(exact.value):
            exact = replace(exact, error=exact.error + of_sides)
        asked = sharpness_of(run, part, scale, operands, math.inf) / unit
        found = found_exactly(run, comparison, exact, scale, asked, unit, about)
        if found is None:
            return None
        sides = None if comparison.against is None else part.sides(operands)
        findings.append(replace(found, sides=sides))
        values.append(exact)
        widen = widening(comparison.region, asked)
        off.append(far_off(exact.value, exact.value, comparison.region, widen))
    place = settling(run.reading, [one.verdict for one in findings], off)
    return Known(tuple(findings), tuple(values), place)


def _first_moment(
    compiled: Compiled, knowledge: Knowledge, averages: ExactMeans, comparison: Comparison
) -> float:
    """A bound of E|u| of what a comparison averages; 0 where there is none."""
    columns = list(compiled.functional.columns(comparison.looked_at))
    sizes = knowledge.bounds(averages.centres).sizes(1.0)[columns]
    return float(sizes.max()) if len(sizes) and np.isfinite(sizes).all() else 0.0


def found_exactly(
    run: CaseRun,
    comparison: Comparison,
    exact: Exact,
    scale: float,
    asked: float,
    unit: float = 1.0,
    about: float | None = None,
) -> Finding | None:
    """The finding on a known quantity; None where its error leaves room for another.

    Args:
        run: the run of the case.
        comparison: the quantity and its region.
        exact: its value.
        scale: the scale of the claim.
        asked: the resolution, in the unit of the region.
        unit: the factor of the quantity in results.
        about: the size beside which rounding is nothing; by default the scale.
    """
    region, allowed = comparison.region, comparison.allowed(asked)
    rounding = LOOK_ROUNDING * max(abs(exact.value), (about or scale) / unit)
    if exact.error > max(widening(region, asked) / 100, rounding):
        return None
    sides = run.prepared.statement.operands
    alike = len(sides) == 2 and sides[0] == sides[1]
    alike |= not exact.error and exact.value in (region.low, region.high)
    verdict = decide_exactly(exact.value, exact.error + rounding, allowed, alike=alike)
    low, high = exact.value - exact.error, exact.value + exact.error
    beyond = max(region.low - low, high - region.high, 0.0)
    explanation = None
    if verdict is Verdict.UNDECIDED:
        explanation = Reason.AT_THE_EDGE.explain()
    elif verdict is Verdict.REFUTED and 0 < beyond <= asked and region.point and region.low:
        explanation = Reason.NEARLY_TRUE.explain(share=f"{100 * beyond / abs(region.low):.2g}")
    beyond *= unit
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
        sharpness=run.looked(scale, widening(region, asked), unit),
        within=0.0 if beyond <= WITNESS_ROUNDING * scale else beyond,
        exact=Exact(exact.value * unit, exact.error * unit),
        explanation=explanation,
    )


def _known_certainty(run: CaseRun, claim: Certainty) -> Known | None:
    """What the model says of a claim of certainty: an exception refutes, however rare it is."""
    exact = exact_probability(claim.event, claim.condition)
    if exact is None:
        return None
    comparison = replace(run.reading.comparisons[0], gives=NEARLY)
    # an exception is one however uncertain its chance is, as where a tie is a part of it
    if exact.error > NEARLY and abs(exact.value - claim.probability) <= NEARLY + exact.error:
        return None
    found = found_exactly(run, comparison, exact, 1.0, 1.0)
    if found is None:
        return None
    return Known((replace(found, sharpness=None, explanation=None),), (exact,))
