"""Evidence in cells is worth at most 1 on average where nothing is wrong: by going through all."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dropcheck.inference import cell_evidence


def compositions(draws: int, cells: int) -> list[np.ndarray]:
    """Every way for so many draws to lie in cells."""
    return [
        np.array(counts, dtype=float)
        for counts in itertools.product(range(draws + 1), repeat=cells)
        if sum(counts) == draws
    ]


@pytest.mark.parametrize("chances", [(0.5, 0.5), (0.2, 0.3, 0.5), (0.01, 0.09, 0.9)])
def test_evidence_of_chances_is_1_on_average(chances: tuple[float, ...]) -> None:
    expected = sum(
        stats.multinomial.pmf(counts, counts.sum(), chances)
        * math.exp(cell_evidence.of_chances(counts, np.array(chances)))
        for counts in compositions(7, len(chances))
    )
    assert expected == pytest.approx(1.0, abs=1e-9)


def test_evidence_of_chances_is_more_than_1_on_average_where_they_are_others() -> None:
    expected = sum(
        stats.multinomial.pmf(counts, 7, (0.3, 0.3, 0.4))
        * math.exp(cell_evidence.of_chances(counts, np.array([0.2, 0.3, 0.5])))
        for counts in compositions(7, 3)
    )
    assert expected > 1.01


def test_a_draw_in_a_cell_without_a_chance_is_a_proof() -> None:
    assert cell_evidence.of_chances(np.array([5.0, 1.0]), np.array([1.0, 0.0])) == math.inf
    assert cell_evidence.of_chances(np.array([5.0, 0.0]), np.array([1.0, 0.0])) == 0.0


@pytest.mark.parametrize("law", [(0.5, 0.5), (0.1, 0.9), (0.2, 0.3, 0.5)])
def test_evidence_of_two_samples_is_at_most_1_on_average(law: tuple[float, ...]) -> None:
    cells = len(law)
    rng = np.random.default_rng(1)
    guess = rng.dirichlet(np.ones(cells)), rng.dirichlet(np.ones(cells))
    expected = sum(
        stats.multinomial.pmf(one, 3, law)
        * stats.multinomial.pmf(other, 3, law)
        * math.exp(cell_evidence.of_two_samples(one, other, guess))
        for one in compositions(3, cells)
        for other in compositions(3, cells)
    )
    assert expected <= 1 + 1e-9


def test_evidence_of_two_samples_is_more_than_1_where_they_are_as_guessed() -> None:
    guess = np.array([0.8, 0.2]), np.array([0.3, 0.7])
    expected = sum(
        stats.multinomial.pmf(one, 3, guess[0])
        * stats.multinomial.pmf(other, 3, guess[1])
        * math.exp(cell_evidence.of_two_samples(one, other, guess))
        for one in compositions(3, 2)
        for other in compositions(3, 2)
    )
    assert expected > 1.5


@pytest.mark.parametrize(("first", "second"), [(0.5, 0.5), (0.1, 0.7)])
def test_evidence_of_dependence_is_at_most_1_on_average(first: float, second: float) -> None:
    law = np.outer([first, 1 - first], [second, 1 - second]).ravel()
    expected = sum(
        stats.multinomial.pmf(counts, 8, law)
        * math.exp(cell_evidence.of_product(counts.reshape(2, 2)))
        for counts in compositions(8, 4)
    )
    assert expected <= 1 + 1e-9


def test_evidence_of_dependence_grows_where_there_is_one() -> None:
    table = np.array([[300.0, 150.0], [150.0, 300.0]])
    assert cell_evidence.of_product(table) > math.log(1e6)
    together = np.zeros((2, 2, 2))  # any two of three are independent, all three are not
    for one, other in itertools.product(range(2), repeat=2):
        together[one, other, (one + other) % 2] = 250
    assert cell_evidence.of_product(together) > math.log(1e6)
    assert all(cell_evidence.of_product(together.sum(axis=axis)) < 0 for axis in range(3))
