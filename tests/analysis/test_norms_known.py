"""Bounds of norms beside closed forms and quadrature: close to the truth where they can be."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from fresh_norms import centred_norm, norm
from integrals import expectation
from lowered import expressed, lowered, lowering
from scipy import integrate, special, stats
from scipy.special import digamma, ndtr, polygamma

from dropcheck.analysis.norms import Norms
from dropcheck.language.graph import kernel_of
from dropcheck.vocabulary.function import Array, X
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.laws import LAWS

INF = math.inf


# ---- functions of one draw, by quadrature --------------------------------------------------------

LAWS_OF_ONE = {
    "normal(0.3, 1.2)": ("normal", (0.3, 1.2)), "exponential(0.7)": ("exponential", (0.7,)),
    "uniform(-0.9, 0.8)": ("uniform", (-0.9, 0.8)), "gamma(2.5, 0.4)": ("gamma", (2.5, 0.4)),
    "laplace(0, 0.2)": ("laplace", (0.0, 0.2)), "student_t(9)": ("student_t", (9.0,)),
    "uniform(0.5, 3)": ("uniform", (0.5, 3.0)), "lognormal(0, 0.5)": ("lognormal", (0.0, 0.5)),
}  # fmt: skip
OF_ONE = sorted(
    name for name, function in FUNCTIONS.items() if function.parameters == X and function.by_element
)


@cache
def cells(law: str) -> tuple[Array, Array]:
    """Cells whose middles are no point where a function jumps, and their exact probabilities."""
    name, arguments = LAWS_OF_ONE[law]
    low, high = LAWS[name].support(*arguments)
    edges = np.linspace(max(low, -60.0), min(high, 60.0), 16_001)
    return (edges[1:] + edges[:-1]) / 2, np.diff(LAWS[name].cdf(edges, *arguments))


@pytest.mark.parametrize("law", LAWS_OF_ONE)
@pytest.mark.parametrize("function", OF_ONE)
def test_functions_of_one_draw_are_no_larger_than_their_bounds(function: str, law: str) -> None:
    value = expressed(lowering(f"x ~ {law}"), f"{function}(x)")
    points, chances = cells(law)
    with np.errstate(all="ignore"):
        sizes = np.abs(kernel_of(value)(points))
    sizes[~np.isfinite(sizes)] = 0.0
    known = Norms(integrate=False)
    for p in (1.0, 2.0, 3.0):
        assert known.norm(value, p) >= (sizes**p @ chances) ** (1 / p) * (1 - 2e-3)


# ---- what is known in closed form ----------------------------------------------------------------

MODEL = (
    "z ~ normal(0, 1); y ~ normal(0, 1); n ~ normal(3, 2); b ~ bernoulli(0.2); big ~ normal(1e8, 1)"
    "; v ~ normal(0, 1)[100]; w ~ normal(0, 1)[100]; m ~ bernoulli(0.2)[100]; f ~ rademacher()[30]"
    "; q ~ normal(0, 1)[7, 100]; k ~ normal(0, 1)[100, 5]; ex ~ exponential(2); t ~ student_t(3)"
    "; c ~ cauchy(0, 1); pa ~ pareto(1.5, 1); s ~ normal(0, ex); u ~ uniform(1, 2); p ~ poisson(3)"
    "; pe ~ poisson(ex); xs ~ normal(5, 1)[64]; lo ~ lognormal(0, 1); g ~ normal(5, 1)[100]"
)

# expression, order, the norm itself, and by what factor its bound may be larger
KNOWN: list[tuple[str, float, float, float]] = [
    ("z", 4, 3**0.25, 1), ("n - 3", 2, 2, 1), ("z * y", 4, 9**0.25, 1), ("z * z", 2, 3**0.5, 1),
    ("z**4", 2, 105**0.5, 1), ("b * z", 2, 0.2**0.5, 1), ("b * b * b", 2, 0.2**0.5, 1),
    ("z - z", 2, 0, 1), ("z + y", 2, 2**0.5, 1), ("z + y", 4, 12**0.25, 1.5),
    ("mean(v)", 2, 0.1, 1), ("sum(v)", 4, 10 * 3**0.25, 1.74), ("v @ w", 2, 10, 1),
    ("(q @ k)[0, 1]", 2, 10, 1), ("(q @ k)[0, 1]", 4, (3 * 100**2 + 6 * 100) ** 0.25, 2.3),
    ("sum(m * v)", 2, 20**0.5, 1), ("v @ v", 2, 10200**0.5, 1.72),
    ("big - 1e8", 2, 1, 1.0001), ("mean(xs) - 5", 2, 0.125, 1.0001),
    ("mean(g)", 2, 25.01**0.5, 1.1),
    ("exp(z)", 2, math.exp(1), 1), ("exp(z + n)", 2, math.exp(3 + 5), 1),
    ("1 / exp(z)", 2, math.exp(1), 1),
    ("lo", 2, math.exp(1), 1), ("2**p", 1, math.exp(3), 1), ("prod(1 + f)", 2, 2.0**15, 1),
    ("prod(1 + f) + z", 2, (2.0**30 + 1) ** 0.5, 1), ("ex", 3, 2 * 6 ** (1 / 3), 1),
    ("s", 2, 8**0.5, 1), ("z / u", 2, 0.5**0.5, 1.5), ("max(v)", 2, 2.5, 1.5),
    ("norm(v)", 2, 10, 1), ("var(v)", 1, 0.99, 1.1), ("std(v)", 2, 0.99**0.5, 1.1),
    ("relu(z)", 2, 0.5**0.5, 1.5), ("tanh(z)", 2, 0.6279, 1.7), ("pe", 2, 10**0.5, 1.5),
    ("ones(30) @ f", 4, (2700 - 60) ** 0.25, 1.35),
]  # fmt: skip


@pytest.mark.parametrize(("text", "order", "truth", "factor"), KNOWN)
def test_bounds_are_close_where_they_can_be(
    text: str, order: float, truth: float, factor: float
) -> None:
    bound = norm(expressed(lowering(MODEL), text), order)
    assert truth * (1 - 1e-9) <= bound <= truth * factor * (1 + 1e-9)


# exponents in which all but a line cancels, with log E exp(p · exponent)
EXPONENTS: list[tuple[str, float, float]] = [
    ("z**2 / 2 - (z - 1)**2 / 2", 4, 6), ("z * y - y * z + n", 2, INF),
    ("(z + y) * (z - y) - z**2", 1, INF),
    ("logdensity(normal(0, 1), n) - logdensity(normal(3, 1), n)", 1, 13.5),
    ("logdensity(normal(1, 2), z) - logdensity(normal(0, 2), z) + y", 2, 1.875),
    ("(z - ex) * (z + ex) + ex**2 - z**2 + 0.1 * ex", 2, -math.log(0.6)), ("z * y", 1, INF),
]  # fmt: skip


@pytest.mark.parametrize(("exponent", "order", "log_moment"), EXPONENTS)
def test_what_cancels_in_an_exponent_does_not_count(
    exponent: str, order: float, log_moment: float
) -> None:
    value = expressed(lowering(MODEL), f"exp({exponent})")
    known = Norms(integrate=False)
    assert known.norm(value, order) == pytest.approx(math.exp(log_moment / order), rel=1e-6)


def test_a_mean_by_importance_sampling_is_known() -> None:
    text = "exp(logdensity(normal(0, 1), w) - logdensity(normal(4, 1), w)) * (w > 4)"
    value = lowered("w ~ normal(4, 1)", text)
    found = expectation(value, Norms(integrate=False).norm)
    assert found.value == pytest.approx(float(LAWS["normal"].survival(4.0, 0.0, 1.0)), rel=1e-9)
    assert found.error <= 1e-9 * found.value
    assert norm(value, 2) == pytest.approx(math.sqrt(math.exp(16) * ndtr(-8.0)), rel=1e-6)


@pytest.mark.parametrize(
    ("text", "order"),
    [("c", 1), ("t", 3), ("t", 4), ("t * t", 1.5), ("pa", 1.5), ("exp(ex)", 1), ("1 / z", 1),
     ("exp(lo)", 1), ("inv([[z, y], [y, z]])", 1), ("tan(z)", 1), ("z * c", 1)],
)  # fmt: skip
def test_what_has_no_moment_has_no_bound(text: str, order: float) -> None:
    assert norm(expressed(lowering(MODEL), text), order) == INF


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("t", 2.9),
        ("pa", 1.4),
        ("t + z", 2.5),
        ("tanh(c)", 8),
        ("sqrt(abs(t))", 5.9),
        ("t * z", 2.9),
    ],
)
def test_what_has_a_moment_has_a_bound(text: str, order: float) -> None:
    assert norm(expressed(lowering(MODEL), text), order) < INF


@pytest.mark.parametrize("shape", [0.06, 0.1, 0.4])
def test_logarithms_of_what_is_mostly_next_to_0_have_a_bound(shape: float) -> None:
    value = expressed(lowering(f"x ~ gamma({shape}, 1)"), "log(x)")
    truth = math.sqrt(polygamma(1, shape) + digamma(shape) ** 2)
    assert truth <= norm(value, 2) <= 3 * truth


def test_a_shift_does_not_widen_what_is_taken_about_it() -> None:
    scope = lowering(MODEL)
    assert centred_norm(expressed(scope, "big"), 1e8, 2) == pytest.approx(1, rel=1e-6)
    assert centred_norm(expressed(scope, "n"), 2.5, 2) == pytest.approx(2.5, rel=1e-6)
    assert centred_norm(expressed(scope, "mean(g)"), 5.0, 2) == pytest.approx(0.1, rel=1e-6)


# law, line, order, E|line|^-order: by Johnson, Kotz and Balakrishnan (1994), or by integration
NEAR_ZERO: list[tuple[str, str, float, float]] = [
    ("uniform(0, 2)", "x", 0.5, 2**0.5), ("exponential(3)", "x", 0.5, (math.pi / 3) ** 0.5),
    ("gamma(2.5, 2)", "x", 2, math.gamma(0.5) / math.gamma(2.5) / 4), ("beta(2, 3)", "x", 1, 4),
    ("gamma(0.3, 2)", "x", 0.2, math.gamma(0.1) / math.gamma(0.3) * 2**-0.2),
    ("normal(0, 1)", "x", 0.5, 2**-0.25 * math.gamma(0.25) / math.pi**0.5),
    ("normal(0, 1)", "5 * x", 0.9, 5**-0.9 * 2**-0.45 * math.gamma(0.05) / math.pi**0.5),
    ("beta(2, 3)", "1 - x", 2, 6), ("uniform(5, 6)", "x - 5", 0.5, 2), ("f(6, 4)", "x", 1, 1.5),
    ("uniform(5, 6)", "6 - x", 0.5, 2), ("laplace(0, 1)", "x", 0.5, math.pi**0.5),
    ("rayleigh(1)", "x", 1, (math.pi / 2) ** 0.5), ("chi_square(5)", "x", 1, 1 / 3),
    ("gamma(9, 1)", "x", 4, 1 / (8 * 7 * 6 * 5)), ("gamma(50, 2)", "x", 1, 1 / 98),
    ("lognormal(0, 1)", "x", 2, math.exp(2)), ("cauchy(0, 1)", "x", 0.5, 2**0.5),
    # of -log(x), an exponential variable
    ("uniform(0, 1)", "log(x)", 0.5, math.pi**0.5),
    ("uniform(0, 1)", "2 * log2(x)", 0.4, math.gamma(0.6) * (math.log(2) / 2) ** 0.4),
]  # fmt: skip


@pytest.mark.parametrize(("law", "text", "order", "truth"), NEAR_ZERO)
def test_negative_moments_are_bounded(law: str, text: str, order: float, truth: float) -> None:
    known, value = Norms(), lowered(f"x ~ {law}", text)
    bound = known.norm(value, -order) ** order
    assert truth <= bound <= 1.5 * truth


@pytest.mark.parametrize(
    ("law", "text", "order"),
    [("normal(0, 1)", "x", 1), ("uniform(0, 1)", "x", 1), ("gamma(0.5, 1)", "x", 0.5),
     ("rayleigh(1)", "x", 2), ("poisson(3)", "x", 0.5), ("exponential(1)", "x - 1", 1),
     ("uniform(0, 1)", "log(x)", 1)],
)  # fmt: skip
def test_a_negative_moment_that_is_infinite_has_no_bound(law: str, text: str, order: float) -> None:
    known, value = Norms(), lowered(f"x ~ {law}", text)
    assert known.norm(value, -order) == INF


@pytest.mark.parametrize("low", [-8.0, 0.0, 1.0])
@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("1 / sigmoid({})", special.expit),
        ("1 / (1 - sigmoid({}))", lambda x: special.expit(-x)),
        ("1 / Phi({} / 2)", lambda x: special.ndtr(x / 2)),
        ("1 / (1 - Phi({} / 2))", lambda x: special.ndtr(-x / 2)),
    ],
)
def test_reciprocals_of_shares(text: str, share: Callable[[Array], Array], low: float) -> None:
    """Of a normal number, and of one that is held above an end."""
    law = stats.truncnorm(low, 8.0) if low > -8 else stats.norm
    model = f"x ~ truncated_normal(0, 1, {low}, 8)" if low > -8 else "x ~ normal(0, 1)"
    value = expressed(lowering(model), text.format("x"))
    for p in (1.0, 2.0):
        at = np.linspace(low, 8.0, 20_001)
        truth = integrate.trapezoid(law.pdf(at) * share(at) ** -p, at) ** (1 / p)
        bound = Norms(integrate=False).norm(value, p)
        assert truth * (1 - 1e-6) <= bound
        assert bound < math.inf or (low == -8 and "Phi" in text)
