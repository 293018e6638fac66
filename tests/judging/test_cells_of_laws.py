"""Cells of laws and of samples, held to draws; evidence in cells, by going through all counts."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dropcheck.array_types import Floats
from dropcheck.judging.cells import (
    SHAPES,
    Cells,
    against_product,
    evidence,
    in_cells,
    law_cells,
    sample_cells,
)
from dropcheck.vocabulary.functions.number_formats import EPSILONS, below_numbers, rounded
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS

NAMES = {
    "normal": (1.0, 2.0), "uniform": (-1.0, 3.0), "gamma": (0.5, 2.0), "beta": (0.5, 0.5),
    "cauchy": (0.0, 1.0), "pareto": (0.5, 1.0), "exponential": (3.0,), "bernoulli": (0.3,),
    "poisson": (4.0,), "binomial": (100_000.0, 0.3), "geometric": (0.1,), "rademacher": (),
    "constant": (), "choice": ((0.2, 3.0, 0.1),), "discrete_uniform": (0.0, 9.0),
}  # fmt: skip


def cells_of(
    name: str, arguments: tuple[object, ...], number_format: str = "float64"
) -> tuple[Law, Cells]:
    law = LAWS[name]
    drawn = rounded(sampled(law, arguments, 4096), number_format)
    magnitude = float(np.median(np.abs(drawn)))
    return law, law_cells(
        law, arguments, resolution=0.01, magnitude=magnitude, number_format=number_format
    )


def sampled(law: Law, arguments: tuple[object, ...], draws: int) -> Floats:
    given = [np.array(one)[..., np.newaxis] for one in arguments]
    return law.sample(np.random.default_rng(7), given, (), draws).astype(float)


@pytest.mark.parametrize("number_format", EPSILONS)
@pytest.mark.parametrize("name", [name for name in NAMES if name in LAWS])
def test_draws_of_a_law_lie_in_its_cells_as_often_as_they_should(
    name: str, number_format: str
) -> None:
    law, cells = cells_of(name, NAMES[name], number_format)
    every, draws = np.arange(len(cells.cuts)), 200_000
    assert cells.chances(every).sum() == pytest.approx(1.0, abs=1e-9)
    assert (np.diff(cells.cuts) > 0).all()
    drawn = np.sort(rounded(sampled(law, NAMES[name], draws), number_format))
    at_most = np.append(np.searchsorted(drawn, cells.cuts, side="right"), draws)
    assert cells.impossible(in_cells(at_most, every)) == 0
    if number_format in ("float64", "float32"):  # others have few numbers where a law is dense
        assert cells.left_open < 0.002
    for size in SHAPES:
        places = cells.shape(size)
        if len(places):
            own = in_cells(at_most, places)
            assert stats.chisquare(own, draws * cells.chances(places)).pvalue > 1e-8


def test_values_that_a_law_does_not_have_are_told_apart() -> None:
    for name, wrong in (("poisson", 2.5), ("uniform", 3.001), ("exponential", -1.0)):
        _, cells = cells_of(name, NAMES[name])
        at_most = np.append(wrong <= cells.cuts, 1.0)
        assert cells.impossible(in_cells(at_most, np.arange(len(cells.cuts)))) == 1


@pytest.mark.parametrize("number_format", EPSILONS)
def test_what_lies_beyond_the_values_that_are_listed_is_rare_and_not_impossible(
    number_format: str,
) -> None:
    _, cells = cells_of("poisson", (1000.0,), number_format)
    assert cells.chances(np.arange(len(cells.cuts)))[-1] > 0


@pytest.mark.parametrize("number_format", [one for one in EPSILONS if one != "float64"])
def test_cuts_lie_halfway_between_the_numbers_of_a_format(number_format: str) -> None:
    x = np.random.default_rng(0).normal(size=4096) * 2.0 ** np.arange(-8, 8).repeat(256)
    x = np.concatenate([x, [0.0, 1.0, -1.0, 2.0**-14, -(2.0**-14)]])
    cuts, nearest = below_numbers(x, number_format), rounded(x, number_format)
    aside = np.maximum(np.abs(cuts) * 2.0**-45, 1e-300)
    above, below = rounded(cuts + aside, number_format), rounded(cuts - aside, number_format)
    np.testing.assert_array_equal(above, nearest)
    np.testing.assert_array_equal(0.5 * (above + below), cuts)
    assert (below < above).all()


def test_what_rounding_may_move_is_no_cut() -> None:
    law = LAWS["normal"]
    about = law_cells(law, (1e9, 1e-4), resolution=0.01, magnitude=1e9)
    assert len(about.cuts) == 0  # a float there has a step of 1e-7, and 45 of them are one value
    assert law_cells(law, (1e9, 1e4), resolution=0.01, magnitude=1e9).cuts.size


# ---- cells of samples ----------------------------------------------------------------------------


def test_values_that_come_again_have_cells_of_their_own() -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=3000), np.repeat([0.25, 1.5], 500)])
    cells = sample_cells(values, 0.01, 1.0)
    assert cells.points[np.searchsorted(cells.cuts, [0.25, 1.5])].all()
    assert cells.left_open < 0.01
    assert sample_cells(rng.poisson(3.0, 4000).astype(float), 0.01, 3.0).left_open < 0.001


@pytest.mark.parametrize("distinct", [500, 2000, 8000])
def test_no_cell_is_wide_however_many_values_come_again(distinct: int) -> None:
    values = np.random.default_rng(1).integers(0, distinct, 20 * distinct).astype(float)
    assert sample_cells(values, 0.01, 1.0).left_open < 0.002


def test_no_cut_parts_a_value_from_itself() -> None:
    """Of draws of one value, one may be rounded a little differently from another."""
    generator = np.random.default_rng(2)
    exact = 1.0 + generator.integers(0, 4096, 100_000)
    nearly = exact * (1 + 2e-16 * generator.integers(-1, 2, exact.size))
    cuts = sample_cells(nearly, 0.01, 1.0).cuts
    assert np.array_equal(np.searchsorted(cuts, exact), np.searchsorted(cuts, nearly))


def test_values_next_to_each_other_in_float32_leave_no_wide_cell() -> None:
    """Beta numbers with b = 0.5 crowd below 1, where float32 has few."""
    values = np.random.default_rng(4).beta(2, 0.5, 20_000).astype(np.float32).astype(float)
    assert sample_cells(values, 0.01, 1.0, "float32").left_open < 0.004


def test_digits_of_float32_that_are_lost_on_the_way_are_no_other_law() -> None:
    gamma = np.random.default_rng(3).gamma(100.0, size=(2, 100_000)).astype(np.float32)
    one, other = gamma[0].astype(float), np.exp(np.log(gamma[0])).astype(float)
    cells = sample_cells(gamma[1].astype(float), 0.01, 1.0, "float32")
    near = [np.searchsorted(np.sort(x), cells.cuts, side="right") for x in (one, other)]
    assert np.abs(near[0] - near[1]).max() < 10  # of 100,000


# ---- evidence ------------------------------------------------------------------------------------


def compositions(draws: int, cells: int) -> list[Floats]:
    """Every way for so many draws to lie in cells."""
    return [
        np.array(counts, dtype=float)
        for counts in itertools.product(range(draws + 1), repeat=cells)
        if sum(counts) == draws
    ]


def of_chances(counts: Floats, chances: Floats) -> float:
    return evidence(counts, chances, float(counts @ np.log(chances)))


@pytest.mark.parametrize("chances", [(0.5, 0.5), (0.2, 0.3, 0.5), (0.01, 0.09, 0.9)])
def test_evidence_of_chances_is_1_on_average(chances: tuple[float, ...]) -> None:
    expected = sum(
        stats.multinomial.pmf(counts, 7, chances) * math.exp(of_chances(counts, np.array(chances)))
        for counts in compositions(7, len(chances))
    )
    assert expected == pytest.approx(1.0, abs=1e-9)


def test_evidence_of_chances_is_more_than_1_on_average_where_they_are_others() -> None:
    expected = sum(
        stats.multinomial.pmf(counts, 7, (0.3, 0.3, 0.4))
        * math.exp(of_chances(counts, np.array([0.2, 0.3, 0.5])))
        for counts in compositions(7, 3)
    )
    assert expected > 1.01


@pytest.mark.parametrize("guess", [0.5, 0.3])
@pytest.mark.parametrize(("first", "second"), [(0.5, 0.5), (0.1, 0.7)])
def test_evidence_of_dependence_is_at_most_1_on_average(
    first: float, second: float, guess: float
) -> None:
    law = np.outer([first, 1 - first], [second, 1 - second]).ravel()
    table = np.outer([guess, 1 - guess], [0.6, 0.4])
    expected = sum(
        stats.multinomial.pmf(counts, 8, law)
        * math.exp(against_product(counts.reshape(2, 2), table))
        for counts in compositions(8, 4)
    )
    assert expected <= 1 + 1e-9


@pytest.mark.parametrize("law", [(0.5, 0.5), (0.1, 0.9), (0.2, 0.3, 0.5)])
def test_evidence_of_two_samples_of_one_law_is_at_most_1_on_average(law: tuple[float, ...]) -> None:
    """There are as many draws of each: what a draw is of is no chance, but fixed."""
    cells = len(law)
    guess = np.full((2, cells), 1 / (2 * cells))
    expected = sum(
        stats.multinomial.pmf(one, 4, law)
        * stats.multinomial.pmf(other, 4, law)
        * math.exp(against_product(np.array([one, other]), guess))
        for one in compositions(4, cells)
        for other in compositions(4, cells)
    )
    assert expected <= 1 + 1e-9


def test_evidence_of_dependence_grows_where_there_is_one() -> None:
    quarter = np.full((2, 2), 0.25)
    table = np.array([[300.0, 150.0], [150.0, 300.0]])
    assert against_product(table, quarter) > math.log(1e6)
    together = np.zeros((2, 2, 2))  # any two of three are independent, all three are not
    for one, other in itertools.product(range(2), repeat=2):
        together[one, other, (one + other) % 2] = 250
    assert against_product(together, np.full((2, 2, 2), 0.125)) > math.log(1e6)
    assert all(against_product(together.sum(axis=axis), quarter) < 0 for axis in range(3))
