"""How near to 0 sums of squares and deviations come: against closed forms and against draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from lowered import lowered

from dropcheck.analysis.norms import Norms

INF = math.inf


def inverse(model: str, text: str, order: float) -> float:
    """The bound of E text^-order."""
    bound = Norms().norm(lowered(model, text), -order)
    return bound**order if bound < INF else INF


def of_chi_square(df: float, order: float) -> float:
    """E S^-order of a chi-square variable (Johnson, Kotz and Balakrishnan 1994, 18.8)."""
    return 2**-order * math.exp(math.lgamma(df / 2 - order) - math.lgamma(df / 2))


@pytest.mark.parametrize("count", [2, 3, 5, 10, 64])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.7, 0.97])
def test_of_normal_numbers_it_is_no_smaller_than_the_truth(count: int, share: float) -> None:
    order = share * count / 2
    truth = of_chi_square(count, order) ** (1 / order)
    known = Norms()
    if order > 60:
        return
    for text in ("sum(x**2)", "x @ x", "norm(x)**2"):
        bound = known.norm(lowered(f"x ~ normal(0, 1)[{count}]", text), -order)
        assert truth <= bound < (INF if share > 0.9 else 12 * truth)


@pytest.mark.parametrize("order", [1.0, 3.0, 4.4])
def test_deviations_of_normal_samples(order: float) -> None:
    truth = (9 / 4) ** (order / 2) * of_chi_square(9, order / 2)
    bound = inverse("x ~ normal(3, 2)[10]", "std(x, ddof=1)", order)
    assert truth <= bound <= 8**order * truth
    squared = inverse("x ~ normal(3, 2)[10]", "var(x, ddof=1)", order / 2)
    assert squared == pytest.approx(bound, rel=1e-6)


@pytest.mark.parametrize(
    ("model", "text", "order", "truth"),
    [
        ("x ~ normal(0, 1)[10]", "norm(x)", 2, 1 / 8),
        ("x ~ normal(0, 1)[10]", "x @ x", 1, 1 / 8),
        ("x ~ normal(0, 1)[10]", "dot(x, x)", 2, 1 / 48),
        ("x ~ normal(0, 3)[10]", "sum(x**2)", 1, 1 / 72),
        ("x ~ normal(0, 1)[10]", "mean(x * x)", 2, 100 / 48),
        ("x ~ normal(0, 1)[10]", "sqrt(mean(x**2))", 4, 100 / 48),
        ("x ~ normal(0, 1)[2, 5]", "sum(x**2, axis=[0, 1])", 1, 1 / 8),
        ("x ~ uniform(-1, 1)[7]", "norm(2 * x + 0.5)", 1, 0.0),
        ("x ~ exponential(1)[6]", "std(x)", 2, 0.0),
    ],
)
def test_sums_of_squares_in_a_model(model: str, text: str, order: float, truth: float) -> None:
    bound = inverse(model, text, order)
    assert truth <= bound < max(8 ** (order + 1) * truth, 100)
    if not truth:  # by draws: the mean, less six standard errors
        generator = np.random.default_rng(5)
        if "uniform" in model:
            draws = np.linalg.norm(2 * generator.uniform(-1, 1, (200_000, 7)) + 0.5, axis=1)
        else:
            draws = generator.exponential(1, (200_000, 6)).std(axis=1)
        values = draws**-order
        assert bound >= values.mean() - 6 * values.std() / math.sqrt(len(values))


@pytest.mark.parametrize(
    ("model", "text", "order"),
    [
        ("x ~ normal(0, 1)[4]", "std(x)", 3),
        ("x ~ normal(0, 1)[4]", "norm(x)", 4),
        ("x ~ normal(0, 1)[1]", "std(x)", 0.5),
        ("x ~ poisson(3)[9]", "std(x)", 1),
        ("x ~ normal(0, 1); y = [x, x, x, 2 * x]", "std(y)", 1),
        ("x ~ normal(0, 1)[3]; y = x[[0, 0, 1, 1, 2, 2]]", "std(y)", 2),
        ("x ~ normal(0, 1)[5]; y = relu(x)", "sum((y - mean(y))**2)", 1),
        ("x ~ normal(0, 1)[5]", "sum((x * x[0])**2)", 1),
        ("x ~ normal(0, 1)[5]; b ~ bernoulli(0.5)", "sum((x - b)**2)", 2.5),
        ("m ~ normal(0, 1); x ~ normal(m, 1)[6]", "std(x)", 1),
    ],
)
def test_what_may_come_too_near_has_no_bound(model: str, text: str, order: float) -> None:
    assert inverse(model, text, order) == INF


# ---- negative moments of sums of what comes near 0 -----------------------------------------------


@pytest.mark.parametrize("order", [1.0, 2.0, 4.0])
def test_registers_that_count_leading_zeros(order: float) -> None:
    """An estimate by 64 registers, each of which comes as near to 0 as an exponential draw."""
    model = "e ~ exponential(1)[64]; z = 2.0**(-maximum(0, ceil(log2(1000 / e))))"
    draws = np.random.default_rng(6).exponential(1, (100_000, 64))
    sums = (2.0 ** -np.maximum(0, np.ceil(np.log2(1000 / draws)))).sum(axis=1)
    bound, seen = inverse(model, "sum(z)", order), float((sums**-order).mean())
    assert seen <= bound <= 10**order * seen
    assert inverse(model, "z", 1.5) == INF


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("2.0**(0.25 * log2(8 / e))", 8**0.25 * math.gamma(0.75)),  # E e^-0.25
        ("exp(0.5 * log(w / e))", math.gamma(1.5) * math.gamma(0.5)),
        ("exp(log(w**2 / (3 * e)) / 4)", math.gamma(1.5) * math.gamma(0.75) / 3**0.25),
    ],
)
def test_a_power_below_1_of_a_product_that_has_no_mean(text: str, truth: float) -> None:
    value = lowered("e, w ~ exponential(1)", text)
    bound = Norms(integrate=False).norm(value, 1.0)
    assert truth <= bound <= 2 * truth
