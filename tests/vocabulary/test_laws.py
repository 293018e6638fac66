"""What is known of each law before any draw: names, domains, support, moments, constants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from law_table import CASES, argument_problem, twin

from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.shapes import ShapeError


def test_every_law_of_numbers_has_a_twin() -> None:
    numbers = {name for name, law in LAWS.items() if law.own_axes is None}
    assert {name for name, _ in CASES} == numbers, "its twin belongs in tests/helpers/law_table.py"


GOOD: list[tuple[str, tuple[Any, ...]]] = [
    *CASES, ("normal", (0.0, 0.0)), ("normal", ((1.0, 2.0), ((1.0,), (0.0,)))),
    ("exponential", (0.0,)), ("negative_binomial", (0.0, 0.5)), ("pareto", (1.0, 0.0)),
    ("truncated_normal", (0.0, 0.0, -1.0, 1.0)), ("multinomial", (0.0, (0.5, 0.5))),
    ("multinomial", ((3.0, 4.0), (0.5, 0.5))), ("dirichlet", ((1e-3, 2.0),)),
    ("permutation", (1.0,)),
    ("multivariate_normal", ((0.0, 0.0), ((1.0, 1.0), (1.0, 1.0)))),
    ("multivariate_normal", ((0.0, 0.0), ((0.0, 0.0), (0.0, 0.0)))),
    ("categorical", ((0.1,) * 10,)), ("uniform", ((0.0, 1.0), ((1.5,), (2.0,)))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "values"), GOOD)
def test_arguments_in_their_domain_pass(name: str, values: tuple[Any, ...]) -> None:
    assert argument_problem(name, values) is None


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_support_and_constant_agree_with_scipy(name: str, arguments: tuple[Any, ...]) -> None:
    law, other = LAWS[name], twin(name, arguments)
    low, high = law.support(*arguments)
    theirs = other.support()
    if law.constant(*arguments) is not None:
        assert low == high == law.constant(*arguments)
        assert other.pmf(low) == 1.0
    elif name == "categorical":  # scipy counts outcomes of probability 0 in
        assert theirs[0] <= low
        assert high <= theirs[1]
        assert other.cdf(high) - other.cdf(low - 1) == pytest.approx(1.0)
    elif name == "von_mises":  # scipy's density goes round and round
        assert (low, high) == (-math.pi, math.pi)
    else:
        assert (low, high) == pytest.approx(theirs)
        assert not (law.discrete and other.pmf(low) == 1.0)


CONSTANTS: list[tuple[str, tuple[Any, ...], float | None]] = [
    ("normal", (3.0, 0.0), 3.0), ("lognormal", (0.0, 0.0), 1.0),
    ("lognormal", (1000.0, 0.0), math.inf), ("uniform", (2.0, 2.0), 2.0),
    ("exponential", (0.0,), 0.0), ("gamma", (2.0, 0.0), 0.0), ("cauchy", (4.0, 0.0), 4.0),
    ("laplace", (4.0, 0.0), 4.0), ("weibull", (1.0, 0.0), 0.0), ("pareto", (1.0, 0.0), 0.0),
    ("triangular", (1.0, 1.0, 1.0), 1.0), ("truncated_normal", (0.5, 0.0, 0.0, 1.0), 0.5),
    ("truncated_normal", (0.5, 2.0, 1.0, 1.0), 1.0), ("von_mises", (0.0, 0.0), None),
    ("multinomial", (0.0, (0.5, 0.5)), 0.0), ("multinomial", (4.0, (1.0, 0.0)), None),
    ("permutation", (1.0,), 0.0), ("permutation", (2.0,), None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "value"), CONSTANTS)
def test_degenerate_laws_are_constants(
    name: str, arguments: tuple[Any, ...], value: float | None
) -> None:
    law = LAWS[name]
    assert law.constant(*arguments) == value
    if value is not None:
        assert law.support(*arguments) == (value, value)
        assert law.moment_order(*arguments) == math.inf


@pytest.mark.parametrize(
    ("name", "arguments", "order"),
    [
        ("student_t", (2.5,), 2.5),
        ("pareto", (1.5, 2.0), 1.5),
        ("pareto", (1.5, 0.0), math.inf),
        ("cauchy", (0.0, 1.0), 1.0),
        ("cauchy", (0.0, 0.0), math.inf),
        ("f", (3.0, 5.0), 2.5),
        ("lognormal", (0.0, 9.0), math.inf),
        ("weibull", (0.1, 1.0), math.inf),
    ],
)
def test_moments_end_where_the_tail_says(
    name: str, arguments: tuple[Any, ...], order: float
) -> None:
    assert LAWS[name].moment_order(*arguments) == order


def test_own_axes() -> None:
    axes = {name: law.own_axes for name, law in LAWS.items() if law.own_axes is not None}
    assert set(axes) == {"dirichlet", "multinomial", "permutation", "multivariate_normal"}
    assert axes["dirichlet"](((3,),), (None,)) == (3,)
    assert axes["multinomial"](((), (5, 4)), (2.0, None)) == (4,)
    assert axes["permutation"](((),), (6.0,)) == (6,)
    assert axes["multivariate_normal"](((2,), (2, 2)), (None, None)) == (2,)


@pytest.mark.parametrize(
    ("name", "shapes", "values", "part"),
    [
        ("dirichlet", ((),), (1.0,), "needs a list for a"),
        ("multinomial", ((), (0,)), (1.0, ()), "that is not empty"),
        ("permutation", ((),), (None,), "one fixed number"),
        ("permutation", ((2,),), ((1.0, 2.0),), "one fixed number"),
        ("multivariate_normal", ((2,), (3, 3)), (None, None), "2 by 2 matrix"),
        ("multivariate_normal", ((2,), (2,)), (None, None), "2 by 2 matrix"),
        ("multivariate_normal", ((2,), (1, 1)), (None, None), "2 by 2 matrix"),
    ],
)
def test_own_axes_that_cannot_be_told_are_errors(
    name: str, shapes: tuple[tuple[int, ...], ...], values: tuple[Any, ...], part: str
) -> None:
    own_axes = LAWS[name].own_axes
    assert own_axes is not None
    with pytest.raises(ShapeError, match=part):
        own_axes(shapes, values)


def test_semi_definiteness_agrees_with_eigenvalues() -> None:
    generator = np.random.default_rng(1)
    seen = set()
    for _ in range(200):
        size, rank = generator.integers(1, 6, size=2)
        factor = generator.standard_normal((size, rank))
        matrix = factor @ factor.T - generator.choice([0.0, 1e-3]) * np.eye(size)
        cov = tuple(map(tuple, ((matrix + matrix.T) / 2).tolist()))
        good = bool(np.linalg.eigvalsh(matrix)[0] > -1e-8 * np.abs(np.diag(matrix)).max())
        seen.add(good)
        problem = argument_problem("multivariate_normal", ((0.0,) * int(size), cov))
        assert (problem is None) == good
    assert seen == {True, False}


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_what_is_called_symmetric_lies_alike_on_both_sides(
    name: str, arguments: tuple[Any, ...]
) -> None:
    law, levels = LAWS[name], np.array([1e-9, 0.01307, 0.1003, 0.2119, 0.3701, 0.4903])
    below, above = law.quantile(levels, *arguments), law.upper_quantile(levels, *arguments)
    if below is not None and law.symmetric:
        middle = law.mean(*arguments)
        middle = law.quantile(0.5, *arguments) if math.isnan(middle) else middle
        rounding = 1e-9 * np.maximum(np.abs(below), np.abs(above))
        assert (np.abs(below + above - 2 * middle) <= rounding).all()
