"""Expectations of functions of one draw: the truth is never further away than is said.

The truths are closed forms, or integrals over the levels of scipy's quantiles between all the
places where a function has a kink or a jump, which the code under test does not know.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
from law_table import CASES, twin
from lowered import expressed, lowered, lowering
from scipy import special

from dropcheck.analysis import single_draw
from dropcheck.analysis.norms import Norms
from dropcheck.analysis.single_draw import Integrals, Norm, draw_below
from dropcheck.known.cells import Estimate
from dropcheck.language.graph import Value

Number = Callable[[Any], Any]


def bounded_by(size: float) -> Callable[[Value, float], float]:
    """A bound of all norms, for the tails: true of every function that it is used with here."""
    return lambda _value, _p: size


loose = bounded_by(1e9)


def joint_moment(
    functions: Sequence[Value],
    powers: Sequence[float],
    centres: Sequence[float],
    norm: Norm | None = None,
) -> Estimate:
    """E Π (φ - c)^p over functions of one draw."""
    return Integrals(norm, most=1).moment(functions, powers, centres)


def expectation(value: Value, norm: Norm | None = None) -> Estimate:
    """The mean of a function of one draw."""
    return joint_moment([value], [1], [0.0], norm)


def holds(found: Estimate, truth: float, slack: float = 0.0) -> bool:
    return abs(found.value - truth) <= found.error + slack


# ---- generated functions -------------------------------------------------------------------------

# Functions of a line of the draw: how they are written, what they are, where they have kinks.
OUTER: tuple[tuple[str, Number, Sequence[float]], ...] = (
    ("sin({})", np.sin, ()), ("cos(3 * {})", lambda x: np.cos(3 * x), ()),
    ("tanh({})", np.tanh, ()), ("Phi({})", special.ndtr, ()),
    ("phi({})", lambda x: np.exp(-x * x / 2) / math.sqrt(2 * math.pi), ()),
    ("sigmoid(4 * {})", lambda x: special.expit(4 * x), ()),
    ("softplus({})", lambda x: np.logaddexp(x, 0), ()),
    ("gelu({})", lambda x: x * special.ndtr(x), ()),
    ("silu({})", lambda x: x * special.expit(x), ()),
    ("arctan({})", np.arctan, ()), ("arcsinh({})", np.arcsinh, ()), ("erf({})", special.erf, ()),
    ("exp(0.3 * {})", lambda x: np.exp(0.3 * x), ()),
    ("1 / (2 + sin({}))", lambda x: 1 / (2 + np.sin(x)), ()),
    ("log(1 + {} ** 2)", lambda x: np.log(1 + x * x), ()),
    ("sqrt(1 + {} ** 2)", lambda x: np.sqrt(1 + x * x), ()),
    ("({}) ** 3", lambda x: x**3, ()), ("abs({})", np.abs, (0,)),
    ("relu({})", lambda x: np.maximum(x, 0), (0,)),
    ("elu({})", lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), (0,)),
    ("leaky_relu({}, 0.1)", lambda x: np.where(x > 0, x, 0.1 * x), (0,)),
    ("sign({})", np.sign, (0,)), ("floor({})", np.floor, tuple(range(-60, 61))),
    ("round({})", np.rint, tuple(k + 0.5 for k in range(-60, 61))),
    ("({}) % 1", lambda x: x % 1, tuple(range(-60, 61))),
    ("clip({}, -0.5, 0.7)", lambda x: np.clip(x, -0.5, 0.7), (-0.5, 0.7)),
    ("maximum({0}, {0} ** 2)", lambda x: np.maximum(x, x * x), (0, 1)),
    ("minimum({}, 0.2)", lambda x: np.minimum(x, 0.2), (0.2,)),
    ("({} > 0.4)", lambda x: 1.0 * (x > 0.4), (0.4,)),
    ("(({0} > 0.1) * ({0} < 0.1001))", lambda x: 1.0 * (x > 0.1) * (x < 0.1001), (0.1, 0.1001)),
    ("(({0} < -0.3) or ({0} > 0.2))", lambda x: 1.0 * ((x < -0.3) | (x > 0.2)), (-0.3, 0.2)),
    ("where({0} > 0, sqrt({0}), -{0})", lambda x: np.where(x > 0, np.sqrt(np.abs(x)), -x), (0,)),
    ("cbrt({})", np.cbrt, (0,)),
    ("abs({}) ** 1.5", lambda x: np.abs(x) ** 1.5, (0,)),
    ("xlogy(abs({0}), abs({0}))", lambda x: special.xlogy(np.abs(x), np.abs(x)), (0,)),
)  # fmt: skip
LAWS: tuple[tuple[str, tuple[float, ...]], ...] = (
    ("normal", (0.0, 1.0)), ("normal", (2.0, 0.3)), ("uniform", (-1.0, 2.0)),
    ("exponential", (1.5,)), ("gamma", (2.5, 0.7)), ("gamma", (0.3, 1.0)), ("beta", (2.0, 5.0)),
    ("beta", (0.5, 0.5)), ("laplace", (0.3, 0.8)), ("logistic", (0.0, 0.5)), ("gumbel", (0.5, 0.6)),
    ("weibull", (1.7, 1.0)), ("rayleigh", (1.0,)), ("lognormal", (0.0, 0.3)),
    ("triangular", (-1.0, 0.3, 1.0)), ("truncated_normal", (0.0, 1.0, -0.5, 1.5)),
)  # fmt: skip


def integral(g: Number, law: str, arguments: tuple[float, ...], kinks: Sequence[float]) -> float:
    """E g(x), over the levels of the quantiles of either half, between the kinks."""
    frozen = twin(law, arguments)
    levels = (0.0, *(10.0 ** -np.arange(15, 1, -1)), 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
    parts = []
    for quantile, level_of in ((frozen.ppf, frozen.cdf), (frozen.isf, frozen.sf)):
        inside = {float(level_of(kink)) for kink in kinks}
        ends = sorted({*map(float, levels), *(end for end in inside if 0 < end < 0.5)})
        for low, high in itertools.pairwise(ends):
            points, weights = RULE
            levels_between = low + (high - low) * points
            parts.append((high - low) * float(weights @ g(quantile(levels_between))))
    return math.fsum(parts)


# Gauss-Legendre on (0, 1), of ever smaller parts towards both ends, where the quantile may be steep
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_PARTS = [0.0, *(0.5 * 0.25 ** np.arange(12, -1, -1.0))]
_PARTS = [*_PARTS, *(1 - part for part in _PARTS[-2::-1])]
RULE = (
    np.concatenate([a + (b - a) * (_PLACES + 1) / 2 for a, b in itertools.pairwise(_PARTS)]),
    np.concatenate([(b - a) * _WEIGHTS / 2 for a, b in itertools.pairwise(_PARTS)]),
)


def generated(number: int) -> tuple[str, str, float]:
    """The model, the function and the truth of a random function of one draw of a random law."""
    generator = np.random.default_rng([1914, number])
    law, arguments = LAWS[generator.integers(len(LAWS))]
    slope = float(np.round(generator.uniform(0.5, 2) * generator.choice([-1, 1]), 3))
    shift = float(np.round(generator.uniform(-1, 1), 3))
    chosen = [OUTER[k] for k in generator.choice(len(OUTER), size=generator.integers(1, 3))]
    line = f"({slope} * x + {shift})"
    text = " * ".join(f"({written.format(line)})" for written, _, _ in chosen)

    def value(x: Any) -> Any:
        result = 1.0
        for _, function, _ in chosen:
            result = result * function(slope * x + shift)
        return result

    kinks = [(kink - shift) / slope for _, _, places in chosen for kink in places]
    listed = ", ".join(map(repr, arguments))
    return f"x ~ {law}({listed})", text, integral(value, law, arguments, kinks)


@pytest.mark.parametrize("start", range(0, 100, 20))
def test_generated_functions(start: int) -> None:
    for number in range(start, start + 20):
        model, text, truth = generated(number)
        if "lognormal" in model and "exp(" in text:
            continue  # has no mean
        found = expectation(lowered(model, text), loose)
        # the truth has an error of its own
        assert holds(found, truth, 1e-9 * (1 + abs(truth))), (model, text, truth, found)
        assert found.error <= 1e-6 * (1 + abs(truth)), (model, text, truth, found)


# ---- what no sample shows ------------------------------------------------------------------------


def put(strike: float, sd: float) -> float:
    """E max(strike - 100 exp(sd z - sd²/2), 0), by Black and Scholes (1973, equation 13)."""
    with mpmath.workdps(30):
        k, s = mpmath.mpf(strike), mpmath.mpf(sd)
        d = (mpmath.log(100 / k) - s * s / 2) / s
        return float(k * mpmath.ncdf(-d) - 100 * mpmath.ncdf(-d - s))


SPIKES: list[tuple[str, str, float, float]] = [
    ("z ~ normal(0, 1)", "relu(35 - 100 * exp(0.2 * z - 0.02))", put(35, 0.2), 1e-9),
    ("z ~ normal(0, 1)", "1e6 * relu(30 - 100 * exp(0.2 * z - 0.02))", 1e6 * put(30, 0.2), 1e-9),
    ("u ~ uniform(0, 1)", "(u > 0.5) * (u < 0.5 + 1e-7)", 1e-7, 1e-7),
    ("u ~ uniform(0, 1)", "u ** 1e8", 1 / (1e8 + 1), 1e-6),
    ("u ~ uniform(0, 1)", "exp(-1e8 * u)", 1e-8, 1e-9),
    ("x ~ normal(0, 1)", "exp(10 * x - 50)", 1.0, 1e-9),
    ("x ~ normal(0, 1)", "x > 8", float(special.ndtr(-8)), 1e-9),
    ("x ~ normal(0, 1)", "x > 30", float(special.ndtr(-30)), 1e-9),
    ("x ~ normal(0, 1)", "maximum(x, 6) - 6",
     float(mpmath.npdf(6) - 6 * mpmath.ncdf(-6)), 1e-4),
    ("x ~ normal(0, 1)", "Phi(1e6 * (x - 5))",
     float(special.ndtr(-5 / math.sqrt(1 + 1e-12))), 1e-6),
    ("x ~ normal(0, 1)", "exp(-1e18 * (x - 0.3)**2)",
     math.sqrt(math.pi) * 1e-9 * math.exp(-0.045) / math.sqrt(2 * math.pi), 1e-5),
    ("x ~ normal(0, 1)", "sin(x) + 1e9 * ((x > 0.3) and (x < 0.3 + 1e-9))",
     math.exp(-0.045) / math.sqrt(2 * math.pi), 1e-5),
    ("u ~ uniform(0, 1)", "floor(u + 1e-9)", 1e-9, 1e-5),
    ("u ~ uniform(0, 1)", "sign(u - 1e-12)", 1 - 2e-12, 1e-11),
    ("u ~ uniform(0, 1)", "if_above", 1e-5, 1e-6),
    ("x ~ exponential(1)", "relu(x - 40)", math.exp(-40), 1e-9),
    ("x ~ exponential(1)", "exp(x / 2) * (x > 60)", 2 * math.exp(-30), 1e-9),
]  # fmt: skip


@pytest.mark.parametrize(("model", "text", "truth", "share"), SPIKES)
def test_spikes_that_a_sample_does_not_show(
    model: str, text: str, truth: float, share: float
) -> None:
    text = text.replace("if_above", "(1e4 if u < 1e-9 else 0)")
    found = expectation(lowered(model, text), loose)
    assert holds(found, truth, 1e-13 * truth), found
    assert found.error <= share * truth, found


# ---- all laws ------------------------------------------------------------------------------------


EXTREME: list[tuple[str, tuple[float, ...]]] = [
    ("gamma", (1e-3, 1.0)), ("gamma", (1e-7, 1e7)), ("beta", (1e-3, 1e-3)), ("beta", (1e-6, 1.0)),
    ("student_t", (2.1,)), ("pareto", (1.5, 1.0)), ("lognormal", (0.0, 3.0)), ("gamma", (1e5, 1.0)),
    ("poisson", (1e-7,)), ("binomial", (1e6, 1e-6)), ("geometric", (1e-2,)), ("geometric", (1e-5,)),
]  # fmt: skip
SLOW = ("von_mises",)  # in scipy
OF_NUMBERS = [
    (law, arguments)
    for law, arguments in CASES
    if law not in SLOW and not any(isinstance(one, tuple) for one in arguments)
]


@pytest.mark.parametrize(("law", "arguments"), [*OF_NUMBERS, *EXTREME])
def test_whatever_the_arguments_are_nothing_false_is_said(
    law: str, arguments: tuple[float, ...]
) -> None:
    if not np.isfinite(arguments).all():
        return
    scope = lowering(f"x ~ {law}({', '.join(repr(float(one)) for one in arguments)})")
    frozen = twin(law, arguments)
    norm = Norms(integrate=False).norm
    x = expressed(scope, "x")
    if not x.random:
        return
    for level in (0.5, 0.999):
        place = float(frozen.ppf(level))
        value = expressed(scope, f"x > {place!r}")
        with np.errstate(all="ignore"):
            truth = float(frozen.sf(place))
        found = expectation(value, norm)
        assert math.isinf(found.error) or holds(found, truth, 1e-9), (found, truth)
    with np.errstate(all="ignore"):
        mean, variance = float(frozen.mean()), float(frozen.var())
    for power, truth in ((1, mean), (2, variance + mean**2)):
        found = joint_moment([x], [power], [0.0], norm)
        if np.isfinite(truth):
            assert math.isinf(found.error) or holds(found, float(truth), 1e-9 * abs(truth)), found
        elif truth == math.inf:
            assert math.isinf(found.error)


POLES = [
    ("g ~ gamma(6, 1 / 3)", "1 / g", 0.6),
    ("g ~ gamma(6, 1 / 3)", "g**-2.5", 3**2.5 * math.gamma(3.5) / 120),
    ("g ~ gamma(6, 1 / 3)", "log(g)", float(special.digamma(6)) - math.log(3)),
    ("q ~ chi_square(3)", "1 / sqrt(q)", math.sqrt(2 / math.pi)),
    ("b ~ beta(3, 2)", "1 / b + 1 / (1 - b)", 6.0),
    ("u ~ uniform(0, 1)", "u**-0.5", 2.0),
    ("x ~ normal(0, 1)", "log(abs(x))", -(np.euler_gamma + math.log(2)) / 2),
    ("u ~ uniform(0, 1)", "-log(-log(u))", np.euler_gamma),  # Gumbel's law
    ("x ~ exponential(1)", "1 / x", math.inf),
    ("q ~ chi_square(3)", "q**-1.5", math.inf),
]


@pytest.mark.parametrize(("model", "text", "truth"), POLES)
def test_poles(model: str, text: str, truth: float) -> None:
    norms = Norms()
    value = lowered(model, text)
    found = expectation(value, lambda one, p: norms.ask(one, lambda of: of.size(p)))
    if truth == math.inf:
        assert found.error == math.inf
    else:
        assert holds(found, truth, 1e-13)
        assert found.error < 1e-8


def test_which_draw_a_value_is_a_function_of() -> None:
    model = "x, y ~ normal(0, 1); v ~ normal(0, 1)[3]; w ~ normal(x, 1); s ~ normal(0, [1, 2])"
    of = {"relu(x) + x ** 2": "x", "v[1] ** 2 + exp(v[1])": "v[1]", "max([x, x ** 2])": "x"}
    for text in ("x + y", "v[0] + v[1]", "v + v[0]", "v * arange(3)", "w", "s", "1"):
        of[text] = ""
    scope = lowering(model)
    for text, draw in of.items():
        assert draw_below(expressed(scope, text)) is (expressed(scope, draw) if draw else None)


@pytest.mark.parametrize(
    "text", ["tan(x)", "sqrt(x)", "exp(x ** 2)", "take([1, 2], x / 2)", "1 / x"]
)
def test_an_expectation_that_there_is_not_has_an_infinite_error(text: str) -> None:
    found = expectation(lowered("x ~ normal(0, 1)", text), bounded_by(math.inf))
    assert not math.isfinite(found.value + found.error)


def test_what_no_cell_holds_is_in_the_error() -> None:
    """Of an unbounded function by a bound of its norms: the chance of the tails is 1e-300 or so."""
    x = lowered("x ~ normal(0, 1)", "x")
    assert expectation(x).error == math.inf
    assert expectation(x, bounded_by(10.0)).error < 1e-9
    assert expectation(x, bounded_by(1e300)).error > 1e-9


def test_integrals_are_few_and_each_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[None] = []
    mean = single_draw.mean_over
    monkeypatch.setattr(single_draw, "mean_over", lambda *a: done.append(None) or mean(*a))  # type: ignore[func-returns-value]  # it counts
    scope = lowering("; ".join(f"x{k} ~ normal(0, 1)" for k in range(30)))
    known = Norms()
    assert len({known.norm(expressed(scope, f"relu(x{k} - 1)"), 2) for k in range(30)}) == 1
    assert len(done) == 1
    many = " + ".join(f"relu(x{k} - {k})" for k in range(30))
    Norms().norm(expressed(scope, many), 2)
    assert len(done) <= 1 + single_draw.MOST_INTEGRALS
