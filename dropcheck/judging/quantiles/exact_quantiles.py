"""Quantiles as the model gives them: by a law's own, or by the probabilities of events.

This decides what no number of draws decides: where the level is exactly the probability to lie at
or below a value, as 1/2 is for a fair coin, every number up to the next value is a quantile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from dropcheck.analysis.bounds import support
from dropcheck.analysis.strategy import Quantiles
from dropcheck.judging.case_run import CaseRun, Finding
from dropcheck.judging.exactly import exact_probability
from dropcheck.judging.look import far_off, settling
from dropcheck.judging.quantiles.pilot_sample import QuantileTarget, targets_of
from dropcheck.language.graph import Kind, Value
from dropcheck.reasons import Reason
from dropcheck.records import record
from dropcheck.results import Exact, Method, Verdict
from dropcheck.simulation import Threshold, below

# A known probability that is nearer to a level than this equals it, but for rounding.
NEARLY = 1e-12
# A probability with a larger error than this says nothing.
MOST_ERROR = 1e-6
# The most halvings of an interval that holds a quantile, and how far out one is looked for.
HALVINGS = 200
FARTHEST = 1e150
SHORT = 1e-11  # the relative width of an interval at which halving is done
NARROW = 1e-6  # the relative width of one that is a single quantile, as probabilities have errors
# About two thirds of a quantity lie between these levels: its size where nothing is drawn.
SIZE_LEVELS = (0.16, 0.84)


@record
class Between:
    """All quantiles of a level: the least and the greatest, each to within an error."""

    least: float
    greatest: float
    error: float

    def nearest(self, low: float, high: float) -> tuple[float, float]:
        """The quantile nearest to an interval, and its error."""
        if self.greatest < low:
            return self.greatest, self.error
        if self.least > high:
            return self.least, self.error
        value = max(self.least, low)
        inside = self.least + self.error <= value <= self.greatest - self.error
        return value, 0.0 if inside else self.error

    @property
    def flat(self) -> bool:
        """Whether there is more than one."""
        return self.greatest - self.least > self.error


def quantile_of_law(operator: Value) -> Between | None:
    """The quantiles of one draw of a law with fixed arguments; None for anything else."""
    quantity, *condition = operator.inputs
    law = quantity.law
    if condition or quantity.kind != Kind.DRAW or law is None or law.own_axes is not None:
        return None
    known = [one.known for one in quantity.inputs]
    if not all(isinstance(one, float) for one in known) and any(one is None for one in known):
        return None
    least = float(law.quantile(operator.level, *known))
    # a level that equals a probability, but for rounding, has more than one quantile
    reached = [float(law.cdf(at, *known)) for at in (least, math.nextafter(least, -math.inf))]
    nearest = min(abs(one - operator.level) for one in reached)
    if not math.isfinite(least) or (nearest < 1e-9 and law.discrete):
        return None
    return Between(least, least, 0.0 if law.discrete else 1e-9 * abs(least))


def quantiles_between(operator: Value) -> Between | None:
    """The quantiles by the law, or by probabilities of events; None where these are not known."""
    by_law = quantile_of_law(operator)
    if by_law is not None:
        return by_law
    quantity, *condition = operator.inputs
    level, given = operator.level, condition[0] if condition else None

    def reached(at: float) -> bool | None:
        exact = _known(quantity, Threshold(at, True), given)
        return None if exact is None else exact.value + exact.error + NEARLY >= level

    def passed(at: float) -> bool | None:
        exact = _known(quantity, Threshold(at, False), given)
        return None if exact is None else exact.value - exact.error - NEARLY > level

    hull = support(quantity)
    ends = [_turned(test, hull.low, hull.high) for test in (reached, passed)]
    first, last = ends
    if first is None or last is None:
        return None
    error = max(first[1] - first[0], last[1] - last[0])
    least, greatest = _plain(*first), _plain(*last)
    size = max(abs(least), abs(greatest))
    if error <= SHORT * size and least == float(f"{least:.9g}"):
        error = 0.0  # a value with a probability of its own, at a number with few digits
    if error < greatest - least <= NARROW * size:  # as far as the probabilities are known
        width, middle = last[1] - first[0], first[0] / 2 + last[1] / 2
        value = _plain(middle - width, middle)
        return Between(value, value, width)
    return Between(least, max(least, greatest), error)


def _known(quantity: Value, at: Threshold, given: Value | None) -> Exact | None:
    """The probability to lie below a threshold; None where it is not known well enough."""
    exact = exact_probability(below(quantity, at), given)
    return None if exact is None or exact.error > MOST_ERROR else exact


def _plain(low: float, high: float) -> float:
    """A number with few digits in or near an interval, where there is one; else the higher end."""
    plain = float(f"{high:.9g}")
    width = high - low
    return plain if low - width <= plain <= high + width else high


def _turned(
    test: Callable[[float], bool | None], low: float, high: float
) -> tuple[float, float] | None:
    """Two neighbouring numbers between which a test begins to hold; None where it is not known."""
    inside = 1.0
    while not math.isfinite(low) or not math.isfinite(high):
        known = test(-inside), test(inside)
        if None in known or inside > FARTHEST:
            return None
        if math.isinf(low) and not known[0]:
            low = -inside
        if math.isinf(high) and known[1]:
            high = inside
        inside *= 16.0
    if test(low):  # at the end of the support, which no halving reaches
        return low, low
    for _ in range(HALVINGS):
        middle = low / 2 + high / 2
        if not low < middle < high or high - low <= 1e-12 * max(abs(low), abs(high)):
            break
        holds = test(middle)
        if holds is None:
            return None
        low, high = (low, middle) if holds else (middle, high)
    return low, high


def without_draws(run: CaseRun, claim: Quantiles) -> Finding | None:
    """Judge a claim about quantiles by the model alone; None where it does not say enough."""
    sizes: list[float] = []
    estimates: list[float] = []
    for operator in claim.quantities:
        between = quantiles_between(operator)
        ends = [quantiles_between(at_another(operator, level)) for level in SIZE_LEVELS]
        if between is None or None in ends:
            return None
        estimates.append(between.least)
        sizes.append(max(abs(one.least) for one in ends if one is not None))
    return by_exact_quantiles(run, claim, targets_of(run, claim, sizes, estimates))


def at_another(operator: Value, level: float) -> Value:
    """The quantile of the same quantity at another level."""
    options = tuple((name, level if name == "level" else value) for name, value in operator.options)
    return replace(operator, options=options)


def by_exact_quantiles(
    run: CaseRun, claim: Quantiles, targets: tuple[QuantileTarget, ...]
) -> Finding | None:
    """Judge a claim with these targets by the model; None where it does not give the quantiles."""
    known: dict[int, Between | None] = {}
    findings: list[Finding] = []
    off: list[float] = []
    for target in targets:
        for _, at in target.form.terms:
            if at not in known:
                known[at] = quantiles_between(claim.quantities[at])
        exact = exact_value(target, known)
        if exact is None:
            return None
        findings.append(_judged(run, target, exact))
        off.append(far_off(exact.value, target.comparison.region, target.widen))
    return findings[settling(run.reading, [one.verdict for one in findings], off)]


def exact_value(target: QuantileTarget, known: Mapping[int, Between | None]) -> Exact | None:
    """The comparison's quantity, by the quantile nearest to what is claimed.

    None where a quantile is not known, or where one of several is any number of an interval.
    """
    region, form = target.comparison.region, target.form
    if len(form.terms) == 1:
        ((factor, at),) = form.terms
        between = known.get(at)
        if between is None:
            return None
        ends = sorted((end - form.constant) / factor for end in (region.low, region.high))
        value, error = between.nearest(*ends)
        return Exact(factor * value + form.constant, abs(factor) * error)
    value, error = form.constant, 0.0
    for factor, at in form.terms:
        between = known.get(at)
        if between is None or between.flat:
            return None
        value, error = value + factor * between.least, error + abs(factor) * between.error
    return Exact(value, error)


def _judged(run: CaseRun, target: QuantileTarget, exact: Exact) -> Finding:
    region, widen, rounding = target.comparison.region, target.widen, target.rounding
    give = exact.error + rounding
    inside = region.low - widen - give <= exact.value <= region.high + widen + give
    strict = region.strict_end_within(exact.value, give)
    beyond = (region.low_open and exact.value <= region.low) or (
        region.high_open and exact.value >= region.high
    )
    if strict:
        verdict = Verdict.INCONCLUSIVE
    else:
        verdict = Verdict.VERIFIED if inside and not beyond else Verdict.REFUTED
    ends = exact.value - exact.error, exact.value + exact.error
    return replace(
        target.finding(run, Method.EXACT_VALUE, verdict, exact.value, ends),
        standard_error=0.0,
        exact=exact,
        explanation=Reason.AT_THE_EDGE.explain() if strict else None,
    )
