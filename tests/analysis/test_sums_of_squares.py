"""How near to 0 sums of squares and deviations come: against closed forms and against draws."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from lowered import lowered

from dropcheck.analysis import law_bounds, norms
from dropcheck.analysis.norms import NormedValue, Norms
from dropcheck.vocabulary.majorants.sums import MOST_WEIGHTS, inverse_of_squares

INF = math.inf
NORMAL = 1 / math.sqrt(2 * math.pi)


def inverse(model: str, text: str, order: float) -> float:
    """The bound of E text^-order."""
    bound = Norms().ask(lowered(model, text), partial(NormedValue.inverse, r=order))
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
    bound = inverse_of_squares([NORMAL**-2] * count, order)
    assert truth <= bound <= 2 * truth


@pytest.mark.parametrize("order", [0.5, 1.0, 2.0])
def test_of_numbers_as_near_as_their_density_allows_it_is_the_truth(order: float) -> None:
    """Of uniform ones about 0 nothing is lost: a bound 5% smaller would be below the truth."""
    draws = np.random.default_rng(3).uniform(-0.5, 0.5, (400_000, 8))
    weights = np.array([1.0, 1.0, 0.5, 0.5, 2.0, 2.0, 1.0, 1.0])
    values = (draws**2 @ weights) ** -order
    error = 6 * values.std() / math.sqrt(len(values))  # one chance in 1e9
    bound = inverse_of_squares(list(weights), order) ** order
    assert values.mean() - error <= bound <= 1.05 * values.mean() + error


def test_weights_beyond_what_is_looked_at_are_all_the_least() -> None:
    few = inverse_of_squares([0.5] * MOST_WEIGHTS + [0.5], 2.0)
    assert inverse_of_squares([0.5] + [1.0] * MOST_WEIGHTS, 2.0) == few


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
        ("x ~ normal(0, 1)[3]; y = x[[0, 0, 1, 1, 2, 2]]", "std(y)", 2),
        ("x ~ normal(0, 1)[5]; y = relu(x)", "sum((y - mean(y))**2)", 1),
        ("x ~ normal(0, 1)[5]", "sum((x * x[0])**2)", 1),
        ("x ~ normal(0, 1)[5]; b ~ bernoulli(0.5)", "sum((x - b)**2)", 2.5),
        ("m ~ normal(0, 1); x ~ normal(m, 1)[6]", "std(x)", 1),
    ],
)
def test_what_may_come_too_near_has_no_bound(model: str, text: str, order: float) -> None:
    assert inverse(model, text, order) == INF


N = 8
EYE, PATH = np.eye(N), np.array([[0.5 ** (i - j) * (j <= i) for j in range(N)] for i in range(N)])
CENTRED = EYE - 1 / N
IMAGES = {
    "sum((x - mean(x))**2)": CENTRED,
    "(x - mean(x)) @ (x - mean(x))": CENTRED,
    "sum(diff(x)**2)": np.diff(EYE, axis=0),
    "norm(cumsum(x) / 3 + 1)**2": np.tri(N) / 3,
    "7 * var(x[1:] - 2 * x[:-1])": np.eye(N - 1) @ (EYE[1:] - 2 * EYE[:-1]) - np.mean(
        EYE[1:] - 2 * EYE[:-1], axis=0
    ),
    "sum((A @ x)**2)": np.outer(np.arange(N), np.ones(N)) + EYE,
    "sum(path**2)": PATH,
    "sum(stack(x, x)**2, axis=[0, 1])": math.sqrt(2) * EYE,
}  # fmt: skip


@pytest.mark.parametrize("text", IMAGES)
@pytest.mark.parametrize("order", [0.5, 1.0, 2.0])
def test_images_of_normal_numbers(text: str, order: float) -> None:
    """E S^-r is ∫ λ^(r - 1) Π (1 + 2 λ s²)^(-1/2) dλ / Γ(r), over the singular values s of L."""
    rates = np.exp(np.linspace(-30, 30, 20_001))
    sizes = np.linalg.svd(IMAGES[text], compute_uv=False) ** 2
    falls = np.prod((1 + 2 * np.outer(rates, sizes[sizes > 1e-12])) ** -0.5, axis=1)
    truth = float(np.trapezoid(rates**order * falls, np.log(rates))) / math.gamma(order)
    model = (
        f"x ~ normal(0, 1)[{N}]; A = outer(arange({N}), ones({N})) + eye({N}); s = 0\n"
        f"for t in range({N}):\n    w ~ normal(0, 1)\n    s = 0.5 * s + w\n    path = s"
    )
    bound = inverse(model, text, order)
    below = 0.0 if "+ 1" in text else truth  # a shift takes it away from 0
    assert below * (1 - 1e-9) <= bound <= 2.0 ** (order + 1) * truth


def test_weights_that_are_too_large_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    known = law_bounds.weights_of_squares
    monkeypatch.setattr(
        norms, "weights_of_squares", lambda *own, **more: [4 * w for w in known(*own, **more)]
    )
    with pytest.raises(AssertionError):
        test_images_of_normal_numbers("sum((x - mean(x))**2)", 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_images_of_uniform_numbers(seed: int) -> None:
    """By draws: the mean of S^-1 less six standard errors, one chance in 1e9."""
    generator = np.random.default_rng(seed)
    matrix = np.round(generator.normal(size=(7, 9)), 2)
    draws = generator.uniform(-0.5, 0.5, (100_000, 9)) @ matrix.T
    values = 1 / (draws**2).sum(axis=1)
    bound = inverse(f"x ~ uniform(-0.5, 0.5)[9]; A = {matrix.tolist()}", "sum((A @ x)**2)", 1.0)
    assert values.mean() - 6 * values.std() / math.sqrt(len(values)) <= bound <= 4 * values.mean()


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
