"""Products of factors that share no draw: against the sum over all outcomes, and closed forms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import numpy as np
import pytest
from lowered import expressed, lowering

from dropcheck.analysis import exact
from dropcheck.analysis.averaged_products import Integrand
from dropcheck.analysis.exact import exact_means, exact_moments
from dropcheck.vocabulary.functions.algebra import TooLargeError

MODEL = "; ".join(f"a{i} ~ discrete_uniform(-1, 2); b{i} ~ bernoulli(0.3)" for i in range(5))


def integrands(*expressions: str, centres: tuple[float, ...] = ()) -> list[Integrand]:
    scope = lowering(MODEL)
    values = [expressed(scope, one) for one in expressions]
    return [Integrand(factors=((value, 1),), centres=centres) for value in values]


def by_outcomes(expression: str) -> np.ndarray:
    """The values of an expression in all outcomes, with their chances below."""
    names = [f"{letter}{i}" for i in range(5) for letter in "ab" if f"{letter}{i}" in expression]
    outcomes = {"a": [(v, 0.25) for v in (-1, 0, 1, 2)], "b": [(0, 0.7), (1, 0.3)]}
    values = np.array([*itertools.product(*([v for v, _ in outcomes[name[0]]] for name in names))])
    chances = itertools.product(*([p for _, p in outcomes[name[0]]] for name in names))
    scope = dict(zip(names, values.T, strict=True))
    return np.array([eval(expression, {}, scope), [math.prod(one) for one in chances]])


FACTORS = [
    "(a0 - 2 * b0)",
    "(1 + a1)",
    "-(b2 + a2 * a2)",
    "(a3 + b3)**2",
    "(3 - b1) / 4",
    "(a4**2)**0.5",
]


def test_generated_products_are_those_of_all_outcomes() -> None:
    generator = np.random.default_rng(7)
    for _ in range(10):
        chosen = [*generator.permutation(FACTORS)[: generator.integers(4, 6)]]
        expression = " * ".join(chosen)
        values, chances = by_outcomes(expression)
        mean = float(values @ chances)
        found = exact._of_factors(integrands(expression), None, None, 2)
        assert found is not None
        assert found.means == pytest.approx([mean], abs=1e-12)
        variance = float((values - mean) ** 2 @ chances)
        assert found.covariance(1)[0, 0] == pytest.approx(variance, rel=1e-9)


def test_two_products_and_a_centre() -> None:
    first, second = "a0 * (1 + a1) * (3 - b2)", "(1 + a0) * b0 * (2 - a1)"
    found = exact._of_factors(integrands(first, second, centres=(0.5,)), None, None, 2)
    assert found is not None
    both, chances = by_outcomes(f"(({first}) - 0.5) * (({second}) - 0.5)")
    means = [float(np.prod(by_outcomes(one), axis=0).sum()) - 0.5 for one in (first, second)]
    assert found.means == pytest.approx(means)
    covariance = float(both @ chances) - means[0] * means[1]
    assert found.covariance(1)[0, 1] == pytest.approx(covariance)


def test_crossed_groups_have_the_parts_of_hoeffding() -> None:
    """Of x y z with means 1 and variances 1, 4 and 9: Π over those that are linked."""
    scope = lowering("x ~ normal(1, 1); y ~ normal(1, 2); z ~ normal(1, 3)")
    own = [Integrand(factors=((expressed(scope, "x * y * z"), 1),))]
    groups: Mapping[str, int] = {"x": 0, "y": 1, "z": 2}
    found = exact._of_factors(own, groups, None, 2)
    plain = exact._of_polynomials(own, groups, None)
    assert found is not None
    assert set(found.components) == set(plain.components)
    for linked, part in found.components.items():
        assert part == pytest.approx(plain.components[linked])
    assert found.covariance(10) == pytest.approx(plain.covariance(10))


def test_a_root_whose_mean_is_not_known_times_what_has_the_mean_0() -> None:
    scope = lowering("x ~ normal(0, 1)[5]; y ~ normal(0, 1)[3]; r = sum(x**2)")
    value = expressed(scope, "sqrt(r) * y")
    found = exact_moments([Integrand(factors=((value, power),)) for power in (1, 2)])
    assert found is not None
    assert found.means == pytest.approx([0, 5], abs=1e-9)
    # of the mean of three: 5 / 3 and 35 · (3 · 3 + 6) / 9 - 25
    assert found.covariance(1) == pytest.approx(np.diag([5 / 3, 35 * 15 / 9 - 25]), abs=1e-9)
    assert exact_means([Integrand(factors=((expressed(scope, "sqrt(r) * y**2"), 1),))]) is None


def test_means_of_long_products() -> None:
    scope = lowering("; ".join(["w0 = 1"] + [f"e{i} ~ normal(1, 2)" for i in range(60)]))
    text = " * ".join(f"e{i}" for i in range(60))
    found = exact_means([Integrand(factors=((expressed(scope, text), 2),))])
    assert found is not None
    assert found[0] == pytest.approx([5.0**60])
    assert found[1][0] < 1e-9 * found[0][0]


def test_what_was_too_large_is_not_tried_again_group_by_group(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only where a product has factors of several groups is anything gained by these."""

    def too_large(*_: object) -> None:
        raise TooLargeError

    monkeypatch.setattr(exact, "_of_polynomials", too_large)
    monkeypatch.setattr(exact, "_of_outcomes", lambda *_: None)
    asked = []
    monkeypatch.setattr(exact, "_mean_of_products", lambda *_: asked.append(1))
    for expressions, tried in ((("a0 + b0", "a1 * b1 + a1"), False), (("a0 * b0",), True)):
        asked.clear()
        assert exact_moments(integrands(*expressions)) is None
        assert bool(asked) is tried
