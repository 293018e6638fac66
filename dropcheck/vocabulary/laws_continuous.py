"""The continuous distributions of numbers: parameters, domains, support, moments."""

# ruff: noqa: ARG005 - each function of a law is given all of its parameters

from __future__ import annotations

import math
from typing import Any

from dropcheck.vocabulary.entries import Law, LawParameter
from dropcheck.vocabulary.law_parts import (
    ANY,
    FINITE,
    NOT_NEGATIVE,
    POSITIVE,
    Condition,
    at_zero,
    law,
    positive_half_line,
    unit_interval,
    whole_line,
)

LOC = LawParameter("loc", FINITE)
SCALE = LawParameter("scale", NOT_NEGATIVE)
MEAN = LawParameter("mean", FINITE)
SD = LawParameter("sd", NOT_NEGATIVE)
SHAPE = LawParameter("shape", POSITIVE)
LOW = LawParameter("low", FINITE)
HIGH = LawParameter("high", FINITE)


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _room(low: Any, high: Any) -> Any:
    """Whether a float64 lies strictly between two ends, which such a law never returns."""
    middle = low / 2 + high / 2
    endless = (high == math.inf) | (low == -math.inf)
    return (low == high) | endless | ((low < middle) & (middle < high))


def _collapsed(low: float, high: float) -> float | None:
    return float(low) if low == high else None


def _truncated_constant(mean: float, sd: float, low: float, high: float) -> float | None:
    return float(mean) if sd == 0 else _collapsed(low, high)


NO_ROOM = "a number must lie strictly between low and high"

CONTINUOUS: tuple[Law, ...] = (
    law(
        "normal",
        "the normal (Gaussian) law; sd is the standard deviation, not the variance",
        MEAN,
        SD,
        hull=whole_line,
        constant=at_zero(1, 0),
    ),
    law(
        "lognormal",
        "exp of a normal variable; mean and sd are those of the logarithm",
        MEAN,
        SD,
        hull=positive_half_line,
        constant=lambda mean, sd: _exp(mean) if sd == 0 else None,
    ),
    law(
        "uniform",
        "equally likely anywhere between low and high, never at either",
        LOW,
        HIGH,
        hull=lambda low, high: (float(low), float(high)),
        constant=_collapsed,
        conditions=(
            Condition("low <= high is required", "low", lambda low, high: low <= high),
            Condition(NO_ROOM, "low", _room),
        ),
    ),
    law(
        "exponential",
        "waiting time whose mean is scale, the inverse of its rate",
        SCALE,
        hull=positive_half_line,
        constant=at_zero(0),
    ),
    law(
        "gamma",
        "mean shape * scale; shape > 0",
        SHAPE,
        SCALE,
        hull=positive_half_line,
        constant=at_zero(1),
    ),
    law(
        "chi_square",
        "sum of the squares of df standard normal variables; df > 0, whole or not",
        LawParameter("df", POSITIVE),
        hull=positive_half_line,
    ),
    law(
        "beta",
        "a share between 0 and 1 whose mean is a / (a + b)",
        LawParameter("a", POSITIVE),
        LawParameter("b", POSITIVE),
        hull=unit_interval,
    ),
    law(
        "student_t",
        "Student's t; moments of order below df alone exist",
        LawParameter("df", POSITIVE),
        hull=whole_line,
        moments=float,
    ),
    law(
        "f",
        "Fisher's F, a ratio of mean squares; moments of order below d2 / 2 alone exist",
        LawParameter("d1", POSITIVE),
        LawParameter("d2", POSITIVE),
        hull=positive_half_line,
        moments=lambda d1, d2: d2 / 2,  # the numerator's degrees play no part
    ),
    law(
        "cauchy",
        "Cauchy's law; it has no mean",
        LOC,
        SCALE,
        hull=whole_line,
        constant=at_zero(1, 0),
        moments=lambda loc, scale: 1.0,  # the same for all arguments
    ),
    law(
        "laplace",
        "two-sided exponential; its variance is 2 * scale**2",
        LOC,
        SCALE,
        hull=whole_line,
        constant=at_zero(1, 0),
    ),
    law(
        "logistic",
        "its distribution function is the sigmoid of (x - loc) / scale",
        LOC,
        SCALE,
        hull=whole_line,
        constant=at_zero(1, 0),
    ),
    law(
        "gumbel",
        "the law of maxima: P(x <= t) = exp(-exp(-(t - loc) / scale))",
        LOC,
        SCALE,
        hull=whole_line,
        constant=at_zero(1, 0),
    ),
    law(
        "weibull",
        "P(x > t) = exp(-(t / scale)**shape); shape > 0",
        SHAPE,
        SCALE,
        hull=positive_half_line,
        constant=at_zero(1),
    ),
    law(
        "rayleigh",
        "length of a vector of two normal variables of sd scale",
        SCALE,
        hull=positive_half_line,
        constant=at_zero(0),
    ),
    law(
        "pareto",
        "P(x > t) = (scale / t)**alpha from scale on; moments of order below alpha alone exist",
        LawParameter("alpha", POSITIVE),
        SCALE,
        hull=lambda alpha, scale: (float(scale), math.inf),
        constant=at_zero(1),
        moments=lambda alpha, scale: float(alpha),
    ),
    law(
        "triangular",
        "density rising straight from low to mode and falling straight to high",
        LOW,
        LawParameter("mode", FINITE),
        HIGH,
        hull=lambda low, mode, high: (float(low), float(high)),
        constant=lambda low, mode, high: _collapsed(low, high),
        conditions=(
            Condition(
                "low <= mode <= high is required",
                "mode",
                lambda low, mode, high: (low <= mode) & (mode <= high),
            ),
            Condition(NO_ROOM, "low", lambda low, mode, high: _room(low, high)),
        ),
    ),
    law(
        "von_mises",
        "angle in (-pi, pi) about mu, the more concentrated the larger kappa; 0 is uniform",
        LawParameter("mu", FINITE),
        LawParameter("kappa", NOT_NEGATIVE),
        hull=lambda mu, kappa: (-math.pi, math.pi),
    ),
    law(
        "truncated_normal",
        "a normal variable given that it lies in (low, high); mean and sd before truncation",
        MEAN,
        SD,
        LawParameter("low", ANY),
        LawParameter("high", ANY),
        hull=lambda mean, sd, low, high: (float(low), float(high)),
        constant=_truncated_constant,
        conditions=(
            Condition(
                "low <= high is required, and not both the same infinity",
                "low",
                lambda mean, sd, low, high: (low <= high) & (low < math.inf) & (high > -math.inf),
            ),
            Condition(
                "where sd is 0, low <= mean <= high is required",
                "mean",
                lambda mean, sd, low, high: (sd > 0) | ((low <= mean) & (mean <= high)),
            ),
            Condition(NO_ROOM, "low", lambda mean, sd, low, high: _room(low, high)),
        ),
    ),
)
