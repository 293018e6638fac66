"""The cells of a law: their chances, held to draws of every law and to closed forms."""

import numpy as np
import pytest
from scipy import stats

from dropcheck.judging.law_cells import ONE_VALUE_SHARE, law_cells, sample_cells
from dropcheck.vocabulary.functions.number_formats import EPSILONS, below_numbers, rounded
from dropcheck.vocabulary.laws import LAWS

NAMES = {
    "normal": (1.0, 2.0), "uniform": (-1.0, 3.0), "gamma": (0.5, 2.0), "beta": (0.5, 0.5),
    "cauchy": (0.0, 1.0), "pareto": (0.5, 1.0), "exponential": (3.0,), "bernoulli": (0.3,),
    "poisson": (4.0,), "binomial": (100_000.0, 0.3), "geometric": (0.1,), "rademacher": (),
    "constant": (),
}  # fmt: skip


def cells_of(  # type: ignore[no-untyped-def]  # a pair
    name: str, arguments: tuple[float, ...], seed: int = 0, number_format: str = "float64"
):
    law, given = LAWS[name], [np.array([value]) for value in arguments]
    rng = np.random.default_rng(seed)
    drawn = rounded(law.sample(rng, given, (), 4096).astype(float), number_format)
    return law, law_cells(
        law,
        arguments,
        resolution=0.01,
        magnitude=float(np.median(np.abs(drawn))),
        number_format=number_format,
    )


@pytest.mark.parametrize("number_format", EPSILONS)
@pytest.mark.parametrize("name", [name for name in NAMES if name in LAWS])
def test_draws_of_a_law_lie_in_its_cells_as_often_as_they_should(
    name: str, number_format: str
) -> None:
    law, cells = cells_of(name, NAMES[name], number_format=number_format)
    every = np.arange(len(cells.cuts))
    chances = cells.chances(every)
    assert chances.sum() == pytest.approx(1.0, abs=1e-9)
    assert (np.diff(cells.cuts) > 0).all()
    rng, draws = np.random.default_rng(7), 200_000
    given = [np.array([value]) for value in NAMES[name]]
    drawn = np.sort(rounded(law.sample(rng, given, (), draws).astype(float), number_format))
    at_most = np.searchsorted(drawn, cells.cuts, side="right")
    counts = np.diff(at_most, prepend=0, append=draws)
    assert counts[chances == 0].sum() == 0
    for size in (8, 32, 128):
        places = cells.shape(size)
        if len(places):
            own = np.diff(at_most[places], prepend=0, append=draws)
            assert stats.chisquare(own, draws * cells.chances(places)).pvalue > 1e-8


@pytest.mark.parametrize("number_format", EPSILONS)
def test_what_lies_beyond_the_values_that_are_listed_is_rare_and_not_impossible(
    number_format: str,
) -> None:
    _, cells = cells_of("poisson", (1000.0,), number_format=number_format)
    ends = cells.chances(np.arange(len(cells.cuts)))[[0, -1]]
    assert (ends > 0).all()
    assert (ends < 1e-25).all()


def test_the_lowest_whole_number_is_told_apart() -> None:
    _, cells = cells_of("geometric", (0.001,))
    assert cells.points[0]  # 1 alone
    _, counts = cells_of("binomial", (100_000.0, 0.5))
    assert not counts.points[[0, -1]].any()


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


def test_values_that_came_again_have_cells_of_their_own() -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=3000), np.repeat([0.25, 1.5], 500)])
    cells = sample_cells(values, 1.0)
    assert cells.points.sum() == 2
    assert cells.widest < 0.01
    at = np.searchsorted(cells.cuts, [0.25, 1.5])
    assert cells.points[at].all()
    whole = sample_cells(rng.poisson(3.0, 4000).astype(float), 3.0)
    assert whole.widest < 0.001
    assert ONE_VALUE_SHARE < 1e-12
