"""Statements in which nothing is random: worked out once, decided without an interval."""

from __future__ import annotations

import math

import numpy as np

from dropcheck.inference.interval import FEWEST_BLOCKS
from dropcheck.inference.region import decide
from dropcheck.judging.statement import ROUNDING, scale_of, settling
from dropcheck.judging.trial import Finding, Floats, Trial
from dropcheck.reasons import Reason
from dropcheck.results import Guarantee, Method, Verdict
from dropcheck.simulation import Compiled, means_of


def by_arithmetic(trial: Trial, compiled: Compiled) -> Finding:
    """Nothing is random: the quantities are worked out once."""
    # one draw shows all that there is, and about its middle no digits cancel
    program, generator = compiled.program.fitted(1, FEWEST_BLOCKS), np.random.default_rng(0)
    ((centres, _),) = program.centres(generator, 1)
    means = means_of(program.span(generator, centres, 0).sums, 1)
    return _at_a_point(trial, compiled, means, centres)


def _at_a_point(trial: Trial, compiled: Compiled, means: Floats, centres: Floats) -> Finding:
    found = compiled.functional.evaluate(means[:, np.newaxis], centres)
    scale = scale_of(trial.reading, compiled, means, centres)
    _, largest = compiled.functional.at_averages(means, centres)
    rounding = ROUNDING * largest
    verdicts = []
    for comparison in trial.reading.comparisons:
        value = float(comparison.quantity(found)[0])
        if not math.isfinite(value):
            return Finding(
                verdict=Verdict.INCONCLUSIVE,
                method=Method.ARITHMETIC,
                guarantee=Guarantee.ARITHMETIC,
                scale=scale,
                explanation=Reason.UNDEFINED_ARITHMETIC.explain(),
            )
        # arithmetic needs no resolution: what is not equal is different
        verdicts.append((decide(value, value, comparison.region, 0.0, rounding), value, comparison))
    verdict, value, comparison = settling(verdicts)
    return Finding(
        verdict=verdict,
        method=Method.ARITHMETIC,
        guarantee=Guarantee.ARITHMETIC,
        quantity=comparison.measures,
        region=comparison.region,
        estimate=value,
        interval=(value, value),
        standard_error=0.0,
        scale=scale,
        sharpness=trial.looked(scale, widening=0.0),
    )
