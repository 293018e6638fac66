"""How near to 0 sums of squares and deviations come: against closed forms and against draws."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from lowered import lowered

from dropcheck.analysis.moments.norms import Norms, Quantity
from dropcheck.vocabulary.majorants.sums_of_squares import MOST_WEIGHTS, inverse_of_squares

INF = math.inf
NORMAL = 1 / math.sqrt(2 * math.pi)


def inverse(model: str, text: str, order: float) -> float:
    """The bound of E text^-order."""
    bound = Norms().ask(lowered(model, text), partial(Quantity.inverse, r=order))
    return bound**order if bound < INF else INF


def of_chi_square(df: float, order: float) -> float:
    """E S^-order of a chi-square variable (Johnson, Kotz and Balakrishnan 1994, 18.8)."""
    return 2**-order * math.exp(math.lgamma(df / 2 - order) - math.lgamma(df / 2))


@pytest.mark.parametrize("count", [2, 3, 5, 10, 64, MOST_WEIGHTS + 1])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.7, 0.97])
def test_of_normal_numbers_it_is_no_smaller_than_the_truth_and_near_it(
    count: int, share: float
) -> None:
    order = share * count / 2
    if order > 60:
        return
    truth = of_chi_square(count, order) ** (1 / order)
    bound = inverse_of_squares(NORMAL, [1.0] * count, order)
    assert truth <= bound <= 2 * truth


@pytest.mark.parametrize("order", [0.5, 1.0, 2.0])
def test_of_numbers_as_near_as_their_density_allows_it_is_the_truth(order: float) -> None:
    """Of uniform ones about 0 nothing is lost: a bound 5% smaller would be below the truth."""
    draws = np.random.default_rng(3).uniform(-0.5, 0.5, (400_000, 8))
    weights = np.array([1.0, 1.0, 0.5, 0.5, 2.0, 2.0, 1.0, 1.0])
    values = (draws**2 @ weights) ** -order
    error = 6 * values.std() / math.sqrt(len(values))  # one chance in 1e9
    bound = inverse_of_squares(1.0, list(weights), order) ** order
    assert values.mean() - error <= bound <= 1.05 * values.mean() + error


def test_weights_beyond_what_is_looked_at_are_all_the_least() -> None:
    few = inverse_of_squares(1.0, [0.5] * MOST_WEIGHTS + [0.5], 2.0)
    assert inverse_of_squares(1.0, [0.5] + [1.0] * MOST_WEIGHTS, 2.0) == few


@pytest.mark.parametrize("order", [1.0, 3.0, 4.4])
def test_deviations_of_normal_samples(order: float) -> None:
    truth = (9 / 4) ** (order / 2) * of_chi_square(9, order / 2)
    bound = inverse("x ~ normal(3, 2)[10]", "std(x, ddof=1)", order)
    assert truth <= bound <= 2**order * truth
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
    assert truth <= bound < max(2 ** (order + 1) * truth, 100)
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
        ("x ~ normal(0, 1)[3]; y = x[[0, 0, 1, 1, 2, 2]]", "std(y)", 1),
        ("m ~ normal(0, 1); x ~ normal(m, 1)[6]", "std(x)", 1),
    ],
)
def test_what_may_come_too_near_has_no_bound(model: str, text: str, order: float) -> None:
    assert inverse(model, text, order) == INF
