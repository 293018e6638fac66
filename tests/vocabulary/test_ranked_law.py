"""The law of an element by its rank, against the beta law of scipy and integrals of its own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.laws.derived import can_be_ranked, ranked

# laws, with their twins: of all moments and few, of tails on both sides and on one
TWINS = [
    ("normal", (1.0, 2.0), stats.norm(1, 2)),
    ("exponential", (2.0,), stats.expon(scale=2)),
    ("uniform", (-1.0, 2.0), stats.uniform(-1, 3)),
    ("cauchy", (0.0, 1.0), stats.cauchy()),
    ("student_t", (1.5,), stats.t(1.5)),
    ("pareto", (1.5, 1.0), stats.pareto(1.5)),
]
RANKS = [(0, 2), (2, 5), (19, 20)]
LOGS = np.linspace(math.log(2.0), 300.0, 20_001)  # minus logarithms of levels
LEVELS = np.array([1e-30, 1e-4, 0.3, 0.5, 0.999])


@pytest.mark.parametrize(("name", "arguments", "twin"), TWINS, ids=[one[0] for one in TWINS])
@pytest.mark.parametrize(("rank", "count"), RANKS)
def test_it_is_that_of_the_element(name, arguments, twin, rank: int, count: int) -> None:  # type: ignore[no-untyped-def]  # of the table
    law = ranked(LAWS[name], rank, count)
    of_rank = stats.beta(rank + 1, count - rank)
    values = twin.ppf([0.01, 0.4, 0.6, 0.99])
    assert law.cdf(values, *arguments) == pytest.approx(of_rank.cdf(twin.cdf(values)), rel=1e-9)
    assert law.survival(values, *arguments) == pytest.approx(of_rank.sf(twin.cdf(values)), rel=1e-6)
    density = of_rank.pdf(twin.cdf(values)) * twin.pdf(values)
    numbers = [np.array([one]) for one in arguments]
    assert law.density(numbers, values) == pytest.approx(density, rel=1e-9)
    for quantile, chance in ((law.quantile, law.cdf), (law.upper_quantile, law.survival)):
        found = chance(quantile(LEVELS, *arguments), *arguments)
        assert found == pytest.approx(LEVELS, rel=1e-7)


@pytest.mark.parametrize(("name", "arguments", "twin"), TWINS, ids=[one[0] for one in TWINS])
@pytest.mark.parametrize(("rank", "count"), RANKS)
def test_norms_are_not_below_the_truth(name, arguments, twin, rank: int, count: int) -> None:  # type: ignore[no-untyped-def]  # of the table
    law = ranked(LAWS[name], rank, count)
    order = law.moment_order(*arguments)
    of_rank = stats.beta(rank + 1, count - rank)
    for p in (1.0, 2.0, min(8.0, 0.9 * order)):
        bound = float(law.norm(p, *arguments))
        assert math.isinf(bound) == (p >= order)
        if math.isinf(bound):
            continue
        with np.errstate(all="ignore"):
            tails = [
                np.abs(at(np.exp(-LOGS))) ** p * of.pdf(np.exp(-LOGS)) * np.exp(-LOGS)
                for at, of in ((twin.ppf, of_rank), (twin.isf, stats.beta(count - rank, rank + 1)))
            ]
        moment = sum(integrate.trapezoid(np.nan_to_num(one, posinf=0.0), LOGS) for one in tails)
        assert bound >= moment ** (1 / p) * (1 - 1e-4)
        if order < math.inf:  # by its tails, and not by those of one draw
            assert bound <= 2.5 * moment ** (1 / p)


def test_a_tail_that_falls_as_a_power_falls_as_its_power() -> None:
    """Of n draws P(x > t) falls as that of one, to the power n - k (David and Nagaraja 2003)."""
    orders = [ranked(LAWS["pareto"], k, 4).moment_order(1.5, 1.0) for k in range(4)]
    assert orders == [6.0, 4.5, 3.0, 1.5]
    assert [ranked(LAWS["cauchy"], k, 5).moment_order(0.0, 1.0) for k in range(5)] == [
        1,
        2,
        3,
        2,
        1,
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "can"),
    [
        ("gamma", (2.0, 1.0), True),
        ("poisson", (3.0,), False),  # it is discrete
        ("normal", (1.0, 0.0), False),  # a constant
        ("dirichlet", ((1.0, 2.0),), False),  # vectors
    ],
)
def test_what_has_such_laws(name: str, arguments: tuple[float, ...], can: bool) -> None:
    assert can_be_ranked(LAWS[name], arguments) is can
