"""Recurrences that are linear in many draws, against closed forms and polynomials."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np
import pytest
from lowered import expressed, lowering

from dropcheck.analysis import linear_forms
from dropcheck.analysis.averaged_products import ExactMoments, Integrand
from dropcheck.analysis.exact import exact_means, exact_moments
from dropcheck.analysis.linear_forms import ProductMoments
from dropcheck.analysis.norms import Norms
from dropcheck.language.graph import Value
from dropcheck.vocabulary.functions.algebra import PolynomialError

AUTOREGRESSION = ("x0 = 0", "e{t} ~ normal(0, 1); x{s} = 0.9 * x{t} + e{t}")
DESCENT = ("x0 = 1", "e{t} ~ normal(0, 1); x{s} = x{t} - 0.1 * (x{t} + e{t})")
QUEUE = (
    "x0 = 2",
    "a{t} ~ exponential(1); b{t} ~ bernoulli(0.3); x{s} = 0.8 * x{t} + a{t} - 2 * b{t} / 4 - 1",
)

# the same law as DESCENT, as papers write it: what is drawn has the state as its mean
AT_THE_STATE = ("x0 = 1", "g{t} ~ normal(x{t}, 1); x{s} = x{t} - 0.1 * g{t}")
CHAIN = ("x0 = 2", "a{t} ~ gumbel(0.5 * x{t}, 2); x{s} ~ laplace(a{t} - 1, 0.3)")


def moments_of(products: Sequence[Sequence[tuple[Value, float]]]) -> ProductMoments:
    return linear_forms.moments_of(products, Norms(integrate=False).norm)


def unrolled(recurrence: tuple[str, str], steps: int) -> str:
    first, step = recurrence
    return "; ".join([first, *(step.format(t=t, s=t + 1) for t in range(steps))])


def moments(model: str, *expressions: tuple[str, int]) -> ExactMoments:
    scope = lowering(model)
    values = [(expressed(scope, text), power) for text, power in expressions]
    found = exact_moments([Integrand(factors=((value, power),)) for value, power in values])
    assert found is not None
    return found


@pytest.mark.parametrize("steps", [40, 1000])
def test_a_long_autoregression_has_the_moments_of_its_normal_law(steps: int) -> None:
    found = moments(unrolled(AUTOREGRESSION, steps), (f"x{steps}", 1), (f"x{steps}", 2))
    variance = (1 - 0.81**steps) / (1 - 0.81)
    assert found.means == pytest.approx([0, variance], abs=1e-12)
    assert found.covariance(1) == pytest.approx(np.diag([variance, 2 * variance**2]))


@pytest.mark.parametrize("descent", [DESCENT, AT_THE_STATE])
def test_what_cancels_step_by_step_keeps_its_digits(descent: tuple[str, str]) -> None:
    found = moments(unrolled(descent, 400), ("x400", 1), ("x400", 2))
    variance = 0.01 * (1 - 0.81**400) / (1 - 0.81)
    assert found.means == pytest.approx([0.9**400, variance + 0.81**400], rel=1e-9)
    assert found.error < 1e-10


@pytest.mark.parametrize("law", ["uniform(x, 9)", "normal(x, x**2)", "gamma(x, 1)", "cauchy(x, 1)"])
def test_a_draw_that_is_more_than_moved_is_no_linear_form(law: str) -> None:
    scope = lowering(f"x ~ uniform(1, 2); y ~ {law}")
    with pytest.raises(PolynomialError):
        moments_of([[(expressed(scope, "x + y"), 0.0)]])


@pytest.mark.parametrize("recurrence", [AUTOREGRESSION, DESCENT, QUEUE, AT_THE_STATE, CHAIN])
def test_they_are_what_polynomials_give(
    recurrence: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = lowering(unrolled(recurrence, 5))
    texts = [("x5", 1), ("x5", 2), ("x5 * x4", 1), ("3 - x3 / 2", 1)]
    values = [(expressed(scope, text), power) for text, power in texts]
    integrands = [Integrand(factors=(one,), centres=(0.0,)) for one in values]
    by_polynomials = exact_moments(integrands)
    products = [
        [(part, 0.0) for part in linear_forms.factors_of(value)] * power for value, power in values
    ]
    found = moments_of(products)
    assert by_polynomials is not None
    assert found.means == pytest.approx(by_polynomials.means, rel=1e-12, abs=1e-12)
    assert found.covariances == pytest.approx(by_polynomials.covariance(1), rel=1e-12, abs=1e-12)
    # a mistake is found: pairs alone, as of normal draws, and one partition of four left out
    whole = list(linear_forms._partitions([0, 1, 2, 3]))
    left = [one for one in whole if sorted(map(sorted, one)) != [[0, 2], [1, 3]]]
    assert len(whole) == 15
    monkeypatch.setattr(
        linear_forms,
        "_partitions",
        lambda places, known=linear_forms._partitions: (
            iter(left) if len(places) == 4 else known(places)
        ),
    )
    wrong = moments_of(products).covariances
    assert wrong != pytest.approx(by_polynomials.covariance(1), rel=1e-3)


def test_a_random_walk_of_signs_and_its_square() -> None:
    model = unrolled(("x0 = 0", "e{t} ~ rademacher(); x{s} = x{t} + e{t}"), 200)
    found = moments(model, ("x200 ** 2", 1), ("x200 * x100", 1))
    assert found.means == pytest.approx([200, 100])
    assert found.covariance(1)[0, 0] == pytest.approx(3 * 200**2 - 2 * 200 - 200**2)


@pytest.mark.parametrize(
    "step",
    [
        "e{t} ~ normal(0, 1); x{s} = maximum(x{t} + e{t}, 0)",
        "e{t} ~ normal(0, 1); x{s} = x{t} * (1 + e{t}) + e{t}",
        "e{t} ~ student_t(4); x{s} = x{t} + e{t}",
        "e{t} ~ uniform(x{t} - 1, x{t} + 1); x{s} = x{t} / 2 + e{t}",
        "e{t} ~ normal(0, 1); x{s} = x{t} + e{t} + exp(e{t})",  # a draw, and a function of it
        "e{t} ~ normal(0, 1); x{s} = x{t} + sin(e{t}) + exp(e{t})",
        "e{t} ~ pareto(3, 1); x{s} = x{t} + e{t}**2",  # of no variance
    ],
)
def test_of_what_is_no_such_form_nothing_is_said(step: str) -> None:
    scope = lowering(unrolled(("x0 = 1", step), 60))
    value = expressed(scope, "x60")
    assert exact_means([Integrand(factors=((value, 2),))]) is None
    with pytest.raises(PolynomialError):
        moments_of([[(value, 0.0), (value, 0.0)]])


def test_an_unstable_recurrence_is_given_its_error() -> None:
    """Of x − y, where both grow alike, all digits cancel: what is left is within the error."""
    step = "e{t} ~ normal(0, 1); x{s} = 1.3 * x{t} + e{t}; y{s} = y{t} * 0.1 * 13 + e{t}"
    step += "; d{t} = x{s} - y{s}"
    scope = lowering(unrolled(("x0 = 0.1; y0 = 0.1", step), 60))
    value = expressed(scope, "d59")
    found = moments_of([[(value, 0.0)]])
    assert abs(found.means[0]) <= found.means_off[0] + 1e-300
    assert found.covariances[0, 0] <= found.covariances_off[0, 0] + 1e-20


def test_time_grows_with_the_steps_alone() -> None:
    model = unrolled(AUTOREGRESSION, 2000)
    scope = lowering(model)
    value = expressed(scope, "x2000")
    start = time.process_time()
    assert exact_moments([Integrand(factors=((value, 1),)), Integrand(factors=((value, 2),))])
    assert time.process_time() - start < 5


# step, and of its summand: the mean, the variance, and E (f - E f)^4 - 3 Var(f)^2
FUNCTIONS = [
    ("e{t} ~ normal(0, 1); x{s} = x{t} + e{t}**2", 1.0, 2.0, 48.0),
    ("e{t} ~ normal(0, 1); x{s} = x{t} + e{t}**3", 0.0, 15.0, 10395.0 - 3 * 15.0**2),
    ("e{t} ~ exponential(1); x{s} = x{t} - log(e{t})", 0.5772156649015329, math.pi**2 / 6,
     math.pi**4 / 15),
    ("e{t} ~ uniform(0, 1); x{s} = x{t} + (e{t} < 0.25)", 0.25, 3 / 16, 3 / 16 * (1 - 18 / 16)),
]  # fmt: skip


@pytest.mark.parametrize(("step", "mean", "variance", "fourth"), FUNCTIONS)
def test_functions_of_draws_add_up(step: str, mean: float, variance: float, fourth: float) -> None:
    scope = lowering(unrolled(("x0 = 1", step), 60))
    value = expressed(scope, "x60")
    off = (value, 1.0 + 60 * mean)
    found = moments_of([[off], [off, off]])
    assert found.means[0] == pytest.approx(0.0, abs=1e-6)
    assert found.means[1] == pytest.approx(60 * variance, rel=1e-7)
    wanted = 60 * fourth + 2 * (60 * variance) ** 2
    assert found.covariances[1, 1] == pytest.approx(wanted, rel=1e-6)
    assert (found.covariances_off >= 1e-9 * np.abs(found.covariances)).all()
