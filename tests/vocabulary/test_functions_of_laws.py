"""Functions of a law beside mpmath: their values, where these lie."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
from law_table import CASES, as_arrays, twin
from lowered import expressed, lowering
from numpy.typing import NDArray
from trials import VERIFIED, judged

from dropcheck.analysis.support import support
from dropcheck.known.enclosure import Enclosure, Near, applied
from dropcheck.vocabulary.function import Kernel
from dropcheck.vocabulary.functions import OF_LAWS
from dropcheck.vocabulary.hulls import Hull
from dropcheck.vocabulary.laws import LAWS

Array = NDArray[np.float64]
NUMBERS = [case for case in CASES if not any(np.ndim(one) for one in case[1])]
CONTINUOUS = [case for case in NUMBERS if not LAWS[case[0]].discrete]


def kernel(name: str, law: str) -> Kernel:
    return partial(OF_LAWS[name].kernel, law=law)


def known(text: str) -> Any:
    return expressed(lowering(), text).known


# ---- values -------------------------------------------------------------------------------------

VALUES = {
    "cdf(normal(1, 2), -40)": lambda: mpmath.ncdf(-20.5),
    "survival(normal(0, 1), 30)": lambda: mpmath.ncdf(-30),
    "cdf(exponential(3), 1e-9)": lambda: -mpmath.expm1(mpmath.mpf(-1e-9) / 3),
    "survival(exponential(2), 900)": lambda: mpmath.exp(-450),
    "survival(gamma(3, 1), 200)": lambda: mpmath.gammainc(3, 200, regularized=True),
    "cdf(beta(2, 5), 1e-30)": lambda: mpmath.betainc(2, 5, 0, mpmath.mpf(1e-30), regularized=True),
    "survival(student_t(3), 1e5)": lambda: (
        mpmath.betainc(1.5, 0.5, 0, mpmath.mpf(3) / (3 + mpmath.mpf(1e10)), regularized=True) / 2
    ),
    "cdf(cauchy(0, 1), -1e12)": lambda: mpmath.atan(mpmath.mpf(1e-12)) / mpmath.pi,
    "survival(poisson(3), 60)": lambda: mpmath.gammainc(61, 0, 3, regularized=True),
    "cdf(binomial(10, 0.3), 2)": lambda: sum(
        mpmath.binomial(10, k) * mpmath.mpf(0.3) ** k * mpmath.mpf(0.7) ** (10 - k)
        for k in range(3)
    ),
    "quantile_of(logistic(0, 1), 1e-200)": lambda: mpmath.log(mpmath.mpf(1e-200)),
    "quantile_of(weibull(2, 3), 0.25)": lambda: 3 * mpmath.sqrt(-mpmath.log(0.75)),
    "quantile_of(categorical([0.2, 0.3, 0.5]), 0.5)": lambda: mpmath.mpf(1),
    "cdf(choice([4, 1, 4]), 3.5)": lambda: mpmath.mpf(1) / 3,
}


@pytest.mark.parametrize("text", VALUES)
def test_values_far_out(text: str) -> None:
    with mpmath.workdps(30):
        wanted = float(VALUES[text]())
    found = known(text)
    assert found == pytest.approx(wanted, rel=1e-12, abs=0)


@pytest.mark.parametrize(("name", "arguments"), NUMBERS)
def test_kernels_are_those_of_the_law(name: str, arguments: tuple[Any, ...]) -> None:
    """The law's own functions are held to scipy's and mpmath's in test_law_probabilities."""
    law, given = LAWS[name], as_arrays(arguments)
    levels = np.array([0.01, 0.3, 0.5, 0.9])
    x = law.quantile(levels, *arguments)
    np.testing.assert_array_equal(kernel("quantile_of", name)(*given, levels), x)
    np.testing.assert_array_equal(kernel("cdf", name)(*given, x), law.cdf(x, *arguments))
    np.testing.assert_array_equal(kernel("survival", name)(*given, x), law.survival(x, *arguments))
    if name not in ("von_mises", "hypergeometric", "truncated_normal"):  # unlike scipy's: see there
        with np.errstate(all="ignore"):
            theirs = twin(name, arguments).cdf(x)
        np.testing.assert_allclose(kernel("cdf", name)(*given, x), theirs, rtol=1e-12)


def test_lists_may_be_random() -> None:
    p = np.array([[0.2, 0.1], [0.3, 0.1], [0.5, 0.8]])  # draws last
    np.testing.assert_allclose(kernel("cdf", "categorical")(p, np.array([1.0, 1.0])), [0.5, 0.2])
    np.testing.assert_allclose(
        kernel("quantile_of", "categorical")(p, np.array([0.5, 0.5])), [1.0, 2.0]
    )


def test_a_shape_is_that_of_both() -> None:
    scope = lowering("v ~ normal(0, 1)[3]; s ~ normal(0, 1); m ~ normal(0, 1)[2, 3]")
    assert expressed(scope, "cdf(normal(v, 1), s)").shape == (3,)
    assert expressed(scope, "survival(normal(s, 1), m)").shape == (2, 3)
    assert expressed(scope, "quantile_of(categorical([0.5, 0.5]), Phi(v))").shape == (3,)


# ---- where the values lie -----------------------------------------------------------------------


@pytest.mark.parametrize(("name", "arguments"), NUMBERS)
@pytest.mark.parametrize("function", OF_LAWS)
def test_no_value_leaves_the_hull(function: str, name: str, arguments: tuple[Any, ...]) -> None:
    law, compute = LAWS[name], kernel(function, name)
    no_spread = law.constant(*arguments) is not None
    if "density" in function and (law.discrete or no_spread):  # of whole numbers alone, or none
        return
    generator = np.random.default_rng([3, *name.encode()])
    unknown = np.array([math.inf])
    for _ in range(2 if name == "von_mises" else 20):  # whose quantiles take long
        levels = np.sort(generator.random(2))
        ends = levels if function == "quantile_of" else law.quantile(levels, *arguments)
        with np.errstate(all="ignore"):
            x = Enclosure(ends[:1] * 1.0, ends[1:] * 1.0, Near(unknown, unknown * 0))
            found = applied(OF_LAWS[function], compute, [*as_arrays(arguments), x])
        points = generator.uniform(ends[0], ends[1], 200)
        if law.discrete and function != "quantile_of":
            points = np.round(points)
            points = points[(points >= ends[0]) & (points <= ends[1])]
        at = compute(*as_arrays(arguments), np.concatenate([points, ends]))
        give = 1e-12 * np.abs(at).max()  # the formula of a density rounds at several places
        assert found.low <= at.min() + give
        assert at.max() <= found.high + give


def test_a_density_is_bounded_by_its_formula() -> None:
    scope = lowering("x ~ cauchy(0, 1); s ~ gamma(2, 1)")
    assert support(expressed(scope, "density(normal(3, 2), x)")).high == pytest.approx(
        float(0.5 / np.sqrt(2 * np.pi)), rel=1e-8
    )
    far = support(expressed(scope, "logdensity(cauchy(0, 1), clip(x, 3, 4))"))
    wanted = LAWS["cauchy"].log_density(as_arrays((0.0, 1.0)), np.array([4.0, 3.0]))
    assert [far.low, far.high] == pytest.approx(list(wanted), rel=1e-8)
    assert support(expressed(scope, "density(poisson(3), s)")) == Hull(0.0, 1.0)
    assert support(expressed(scope, "density(beta(0.5, 0.5), s)")).high == math.inf
    assert support(expressed(scope, "cdf(normal(x, 1), s)")) == Hull(0.0, 1.0)


@pytest.mark.parametrize(("name", "arguments"), NUMBERS)
@pytest.mark.parametrize("function", ["cdf", "survival", "quantile_of"])
def test_no_value_leaves_its_cell(function: str, name: str, arguments: tuple[Any, ...]) -> None:
    law = LAWS[name]
    levels = np.linspace(0.001, 0.999, 4 if name == "von_mises" else 40)
    ends = levels if function == "quantile_of" else law.quantile(levels, *arguments)
    low, high = ends[:-1], ends[1:]
    zero = np.zeros(len(low))
    cells = Enclosure(low, high, Near(zero, zero))
    own = kernel(function, name)
    found = applied(OF_LAWS[function], own, [*as_arrays(arguments), cells])
    for share in (0.0, 0.3, 1.0):
        at = own(*as_arrays(arguments), low + share * (high - low))
        inside = (found.low <= at) & (at <= found.high)
        assert inside.all()


# ---- in claims -------------------------------------------------------------


def test_a_claim_of_the_probability_transform() -> None:
    model = "x ~ gamma(2, 3); u = cdf(gamma(2, 3), x)"
    assert judged(model, "E(u) == 1/2").verdict is VERIFIED
    assert judged(model, "P(survival(gamma(2, 3), x) <= 0.1) == 0.1").verdict is VERIFIED
    by_inverse = "u ~ uniform(0, 1); x = quantile_of(exponential(2), u)"
    assert judged(by_inverse, "P(x > 2) == exp(-1)").verdict is VERIFIED
