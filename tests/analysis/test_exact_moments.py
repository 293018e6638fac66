"""Exact moments before any draw: against closed forms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from lowered import expressed, lowered, lowering

from dropcheck.analysis import single_draw
from dropcheck.analysis.exact import ExactMoments, Integrand, exact_means, exact_moments
from dropcheck.analysis.ring import Space
from dropcheck.known.cells import Estimate
from dropcheck.language.graph import Value


def moments(
    model: str,
    *expressions: str,
    powers: Sequence[int] = (1, 2),
    groups: Mapping[str, int] | None = None,
) -> ExactMoments:
    scope = lowering(model)
    values = [expressed(scope, expression) for expression in expressions]
    integrands = [
        Integrand(factors=((value, power),), centres=(0.0,)) for value in values for power in powers
    ]
    found = exact_moments(integrands, groups)
    assert found is not None
    return found


@pytest.mark.parametrize("d", [1, 64, 1_000_000])
def test_scalar_product(d: int) -> None:
    """E(q·k)² = d and E(q·k)⁴ = 3 d² + 6 d, so that the square has variance 2 d² + 6 d."""
    found = moments(f"q ~ normal(0, 1)[{d}]; k ~ normal(0, 1)[{d}]", "q @ k")
    assert found.means == pytest.approx([0, d])
    assert found.covariance(1) == pytest.approx(np.diag([d, 2 * d**2 + 6 * d]))


def test_scalar_product_of_crossed_sides() -> None:
    """The part of (q·k)² that one side alone explains is 2 d, of each side."""
    model = "q ~ normal(0, 1)[64]; k ~ normal(0, 1)[64]"
    found = moments(model, "q @ k", groups={"q": 0, "k": 1})
    assert found.components[frozenset({0})][1, 1] == pytest.approx(2 * 64)
    assert found.components[frozenset({1})][1, 1] == pytest.approx(2 * 64)
    assert found.components[frozenset({0, 1})][0, 0] == pytest.approx(64)
    expected = 2 * 128 / 10 + (2 * 64**2 + 6 * 64 - 256) / 100
    assert found.covariance(10)[1, 1] == pytest.approx(expected)


def test_dropout() -> None:
    found = moments("x ~ normal(1, 1); m ~ bernoulli(0.9)", "m * x / 0.9")
    assert found.means == pytest.approx([1, 2 / 0.9])
    fourth = 10 / 0.9**3
    assert found.covariance(1).diagonal() == pytest.approx([2 / 0.9 - 1, fourth - (2 / 0.9) ** 2])


def test_sample_variance_is_unbiased() -> None:
    found = moments("x ~ normal(3, 2)[5]", "var(x, ddof=1)", powers=(1,))
    assert found.means == pytest.approx([4])
    assert found.covariance(1) == pytest.approx(np.array([[2 * 4**2 / 4]]))


def test_products_of_many_factors() -> None:
    found = moments("x ~ normal(1, 0.5); m ~ bernoulli(0.9)[24]", "prod(m / 0.9) * x")
    assert found.means == pytest.approx([1, 1.25 * 0.9**-24])


def has_mean(value: Value) -> bool:
    """Whether the mean of a quantity is known."""
    return exact_means([Integrand(factors=((value, 1),))]) is not None


def test_what_has_no_mean() -> None:
    assert not has_mean(lowered("x ~ cauchy(0, 1)", "x"))


def test_determinant() -> None:
    """A normal n by n matrix has a determinant of variance n!."""
    found = moments("A ~ normal(0, 1)[3, 3]", "det(A)")
    assert found.means == pytest.approx([0, 6])


KNOWN = [
    ("q ~ normal(0, 1)[16]; z ~ normal(0, 1)[16]", "q @ (0.6 * q + 0.8 * z)", 9.6, 16 * 1.36),
    ("Q ~ normal(0, 1)[16, 64]; K ~ normal(0, 1)[16, 64]", "Q @ K.T / 8", 0, 1 / 256),
    ("x ~ normal(1, 2)[1000000]", "mean(x)", 1, 4e-6),
    ("x ~ exponential(2)", "x**3", 48, 46080 - 48**2),
    ("x ~ laplace(0, 1)[3]", "sum(x**2)", 6, 60),
    ("s ~ exponential(2); x ~ normal(3, s)", "x", 3, 8),
    ("l ~ uniform(0, 1); x ~ exponential(l)", "x", 0.5, 2 / 3 - 1 / 4),
    ("m ~ normal([1, 2, 3], [1, 1, 2])", "sum(m)", 6, 6),
    ("m ~ bernoulli(0.25)[8]", "all(m)", 4**-8, 4**-8 * (1 - 4**-8)),
    ("m ~ bernoulli(0.25)[8]", "any(m)", 1 - 0.75**8, (1 - 0.75**8) * 0.75**8),
    ("m ~ bernoulli(0.5); x ~ normal(2, 1)", "x if m else 0", 1, 1.5),
    ("x ~ normal(0, 1)", "relu(x)", 1 / math.sqrt(2 * math.pi), 0.5 - 0.5 / math.pi),
    ("x ~ normal(0, 1); y ~ normal(0, 1)", "relu(x) * y", 0, 0.5),
    ("x ~ normal(0, 1)[4]", "norm(x)**2", 4, 8),
    ("x ~ normal(0, 1)[500]", "cumsum(x)[499]", 0, 500),
    ("A ~ rademacher()[3, 3]", "trace(A @ A)", 3, 12),
    # of orders above those that are listed of a law
    ("x ~ normal(0, 1)", "x**5", 0, 945),
    ("x ~ normal(0, 1)[3]", "sum((x**2 + 1)**4)", 3 * 188, 3 * (3460368 - 188**2)),
    ("x ~ exponential(2); y ~ poisson(3)", "y * x**6", 138240, 12 * 4096 * 479001600 - 138240**2),
]


@pytest.mark.parametrize(("model", "expression", "mean", "variance"), KNOWN)
def test_known_moments(model: str, expression: str, mean: float, variance: float) -> None:
    found = moments(model, expression, powers=(1,))
    assert found.means == pytest.approx([mean], abs=1e-9)
    assert found.covariance(1) == pytest.approx(np.array([[variance]]), rel=1e-9)
    assert found.error < 1e-7


def test_penalty_of_dropout() -> None:
    """E(t - w·y)² is (t - w·x)² + p/q Σ w² x², and w·y has three independent parts."""
    model = "m ~ bernoulli(0.8)[3]; w = [0.5, -1, 2]; x = [1, 2, -0.5]"
    found = moments(model, "(1 - w @ (m * x / 0.8))**2", powers=(1,))
    assert found.means == pytest.approx([(1 + 2.5) ** 2 + 0.25 * (0.25 + 4 + 1)])


def test_condition() -> None:
    scope = lowering("x ~ normal(1, 1); m ~ bernoulli(0.25)")
    x, m, event = (expressed(scope, text) for text in ("x", "m * x", "m == 1"))
    found = exact_moments(
        [
            Integrand(factors=(), given=event),
            Integrand(factors=((m, 1),), given=event, centres=(0.0,)),
            Integrand(factors=((x, 2),), given=event, centres=(1.0,)),
        ]
    )
    assert found is not None
    assert found.means == pytest.approx([0.25, 0.25, 0.25])
    assert found.covariance(1)[0, 0] == pytest.approx(3 / 16)


def test_variance_of_averages_of_combined_draws() -> None:
    """The sample variance of 20,000 block averages lies within 6 of its standard errors."""
    groups, draws, blocks = {"x": 0, "m": 1}, 5, 20_000
    found = moments("x ~ normal(1, 1); m ~ bernoulli(0.3)", "m * x", groups=groups)
    generator = np.random.default_rng(0)
    x = generator.normal(1, 1, (blocks, draws, 1))
    m = generator.random((blocks, 1, draws)) < 0.3
    for place, power in enumerate((1, 2)):
        average = ((m * x) ** power).mean(axis=(1, 2))
        off = (average - average.mean()) ** 2
        wrong = off.mean() - found.covariance(draws)[place, place]
        assert abs(wrong) < 6 * off.std() / math.sqrt(blocks)
    # the test sees the difference from draws that are not combined
    plain = moments("x ~ normal(1, 1); m ~ bernoulli(0.3)", "m * x")
    assert plain.covariance(draws)[0, 0] > 1.1 * found.covariance(draws)[0, 0]


def steps(model: str, expression: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many sums of terms an analysis takes."""
    count = 0
    collected = Space.collected

    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal count
        count += 1
        return collected(*arguments, **options)

    monkeypatch.setattr(Space, "collected", counted)
    moments(model, expression)
    monkeypatch.undo()
    return count


def test_size_of_arrays_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = (
        steps(f"Q ~ normal(1, 1)[4, {d}]; K ~ normal(0, 1)[4, {d}]", "Q @ K.T", monkeypatch)
        for d in (1_000, 1_000_000)
    )
    assert small == large < 200


def test_what_takes_too_long_is_unknown() -> None:
    value = lowered(
        "x ~ uniform(0, 1)[40]; y ~ exponential(1)[40]", "(sum(x * y) + sum(x) * sum(y))**3"
    )
    assert exact_moments([Integrand(factors=((value, 4),), centres=(0.0,))]) is None


@pytest.mark.parametrize(
    "drawn", ["discrete_uniform(4 * q, 3)", "bernoulli(2 * q)", "hypergeometric(5, 0, 3 + 9 * q)"]
)
def test_what_a_law_does_not_take_in_some_outcome_is_unknown(drawn: str) -> None:
    assert not has_mean(lowered(f"q ~ bernoulli(0.001); x ~ {drawn}", "x > 1"))


def test_error_is_small_and_grows_with_what_cancels() -> None:
    near = moments("x ~ normal(1, 1)", "x")
    far = moments("x ~ normal(1e6, 1)", "x")
    assert near.error < 1e-9
    assert math.isfinite(far.error)


def test_functions_of_draws_of_two_values() -> None:
    found = moments("r ~ rademacher()[3]; m ~ bernoulli(0.25)", "sum(exp(r)) * exp(m)")
    mean = 3 * math.cosh(1) * (0.75 + 0.25 * math.e)
    square = (3 * math.cosh(2) + 6 * math.cosh(1) ** 2) * (0.75 + 0.25 * math.e**2)
    assert found.means == pytest.approx([mean, square])


def test_products_that_share_draws_are_not_taken_for_independent() -> None:
    value = lowered("x ~ uniform(0, 1)[6]", "prod(x) * prod(1 + x)")
    assert exact_moments([Integrand(factors=((value, 1),))]) is None
    beside = lowered("x ~ uniform(0, 1)[6]", "prod(x) * x[0]")
    assert exact_moments([Integrand(factors=((beside, 1),))]) is None


def test_what_shares_draws_has_no_covariance_of_0() -> None:
    scope = lowering("x, y ~ uniform(0, 1)[6]")
    quantities = [expressed(scope, one) for one in ("prod(x)", "x[0]", "y[0]")]
    product, beside, apart = (Integrand(factors=((one, 1),)) for one in quantities)
    assert exact_moments([product, beside], None) is None
    found = exact_moments([product, apart], None)
    assert found is not None
    assert found.covariance(1)[0, 1] == 0


def test_functions_of_one_draw_and_the_draw_itself() -> None:
    """Stein's lemma: E x tanh x = E (1 - tanh² x), and E x relu(x) is 1/2."""
    found = moments("x ~ normal(0, 1)", "x * relu(x)", "x * tanh(x)", "1 - tanh(x)**2", powers=(1,))
    assert found.means[0] == pytest.approx(0.5, rel=1e-8)
    assert found.means[1] == pytest.approx(found.means[2], rel=1e-8)
    assert found.covariance(1)[0, 0] == pytest.approx(1.5 - 0.25, rel=1e-7)


def test_what_loses_its_digits_is_unknown() -> None:
    """The 3000th square of a truth is the truth; rounding doubles with each of them."""
    lines = [f"x{i} = x{i - 1} * x{i - 1}" for i in range(1, 3000)]
    model = "; ".join(["x0 ~ bernoulli(0.3)", "y ~ normal(0, 1)", *lines])
    found = exact_moments([Integrand(factors=((lowered(model, "x2999 * y"), 2),))])
    assert found is None or found.means == pytest.approx([0.3])


def test_what_overflows_is_unknown() -> None:
    value = lowered("x ~ normal(0, 1e200)", "x")
    assert exact_moments([Integrand(factors=((value, 2),))]) is None


@pytest.mark.parametrize("power", [2, 4])
def test_variance_that_is_rounded_to_0_is_unknown(power: int) -> None:
    value = lowered("x ~ normal(0, 1e-300)", "x")
    assert exact_moments([Integrand(factors=((value, power),))]) is None


@pytest.mark.parametrize(
    ("model", "expression"),
    [
        ("x ~ bernoulli(1e-200)[2]", "x[0] * x[1]"),
        ("x ~ bernoulli(1e-200)[200]", "x[0] * x[1] + x[7] * x[6]"),
        ("x ~ bernoulli(1e-200)[100]", "x @ x[::-1]"),
        ("x ~ bernoulli(1e-200)[30]; y ~ normal(0, 1)", "x[0] * x[1] * y * 1e300"),
        ("x ~ bernoulli(1e-10)[40]", "prod(x)"),
        ("x ~ normal(0, 1); y ~ normal(0, 1e-120)", "y**4 * x"),
        ("x ~ bernoulli(1e-200)", "(x - 1e-250) * 1e-200"),
    ],
)
def test_products_too_small_for_float64_are_unknown_and_not_0(model: str, expression: str) -> None:
    integrand = Integrand(factors=((lowered(model, expression), 1),))
    assert exact_moments([integrand]) is None


def test_functions_of_a_draw_are_integrated_so_often_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the many monomials in functions of two elements each has integrals of its own."""
    worked_out: list[object] = []
    mean = single_draw.mean_over

    def counted(*arguments: Any) -> Estimate:
        worked_out.append(arguments)
        return mean(*arguments)

    monkeypatch.setattr(single_draw, "mean_over", counted)
    expression = "x * where(round(x) > 0.5, maximum(x, 1), x @ x)"
    value = lowered("x ~ uniform(-2, 3)[2]", expression)
    assert exact_moments([Integrand(factors=((value, power),)) for power in (1, 2)]) is None
    assert len(worked_out) <= single_draw.MOST_INTEGRALS


@pytest.mark.parametrize(
    ("expression", "mean"),
    [("x == x", 1), ("x < x", 0), ("x**2 >= x**2", 1)],
)
def test_certain_comparisons(expression: str, mean: float) -> None:
    found = moments("x ~ normal(0, 1); m ~ bernoulli(0.7)", expression, powers=(1,))
    assert found.means == pytest.approx([mean])
    assert found.covariance(1) == pytest.approx(0)


def test_rounding_may_tell_apart_what_is_alike() -> None:
    value = lowered("x ~ normal(0, 1); y ~ normal(0, 1)", "x + y - y == x")
    assert exact_moments([Integrand(factors=((value, 1),))]) is None


@pytest.mark.parametrize("count", [4, 16, 64])
def test_what_factors_are_off_by_is_in_their_product(count: int) -> None:
    """The chance of y <= 1 is known to 4e-8 alone, as the density is infinite at 1."""
    value = lowered(f"y ~ beta(2, 0.5)[{count}]", "all(y <= 1)")
    found = exact_means([Integrand(factors=((value, 1),))])
    assert found is not None
    [mean], [error] = found
    assert abs(mean - 1) <= error < 1e-4
