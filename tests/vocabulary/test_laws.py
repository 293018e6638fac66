"""The facts of each law against scipy.stats and mpmath: draws, density, probabilities, quantiles.

False alarms, over fresh seeds: samples are compared with distribution functions by the inequality
of Dvoretzky, Kiefer and Wolfowitz with Massart's constant (1990), and counts by exact binomial
tests, each at 1e-9 (see `law_table`). There are about 300 of them: below 1e-6 together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from law_table import (
    CASES,
    as_arrays,
    cdf_of,
    distance_allowed,
    exact,
    gap,
    twin,
)
from numpy.typing import NDArray
from scipy import stats

from dropcheck.vocabulary.domains import argument_problem
from dropcheck.vocabulary.law import Law, Values
from dropcheck.vocabulary.laws import LAWS

Array = NDArray[Any]
Arguments = tuple[Any, ...]

DRAWS = 100_000
CLOSE = 1e-9  # relative, and absolute near a logarithm of 0
LEVELS = np.array([1e-300, 1e-100, 1e-20, 1e-9, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999])
OF_LAWS = pytest.mark.parametrize(("name", "arguments"), CASES)


def test_every_law_of_numbers_has_a_twin() -> None:
    numbers = {name for name, law in LAWS.items() if law.own_axes is None}
    assert {name for name, _ in CASES} == numbers, "its twin belongs in tests/helpers/law_table.py"


# ---- arguments and ends --------------------------------------------------------------------------

GOOD: list[tuple[str, Arguments]] = [
    ("normal", (0.0, 0.0)), ("normal", ((1.0, 2.0), ((1.0,), (0.0,)))), ("pareto", (1.0, 0.0)),
    ("multinomial", ((3.0, 4.0), (0.5, 0.5))), ("dirichlet", ((1e-3, 2.0),)),
    ("multivariate_normal", ((0.0, 0.0), ((1.0, 1.0), (1.0, 1.0)))),
    ("categorical", ((0.1,) * 10,)), ("uniform", ((0.0, 1.0), ((1.5,), (2.0,)))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments"), [*CASES, *GOOD])
def test_arguments_are_checked_alike_where_they_are_random(name: str, arguments: Arguments) -> None:
    """What is refused, and in which words, is in the contract."""
    good = as_arrays(arguments)
    assert argument_problem(LAWS[name].parameters, good) is None
    for index, value in enumerate(arguments):
        if isinstance(value, tuple):
            continue
        for other in (-1.0, 0.0, 0.5, 2.0, 1e17, math.nan, math.inf):
            bad = as_arrays((*arguments[:index], other, *arguments[index + 1 :]))
            random = [np.concatenate(pair, axis=-1) for pair in zip(good, bad, strict=True)]
            problem = argument_problem(LAWS[name].parameters, bad)
            if math.isnan(other) or (math.isinf(other) and name != "truncated_normal"):
                assert problem is not None
            if problem is not None and "begin within" in problem:
                problem = None  # few random intervals are so far out, and they may be drawn
            assert argument_problem(LAWS[name].parameters, random) == problem


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
        arguments = as_arrays(((0.0,) * int(size), cov))
        problem = argument_problem(LAWS["multivariate_normal"].parameters, arguments)
        assert (problem is None) == good
    assert seen == {True, False}


@OF_LAWS
def test_ends_and_constants_agree_with_scipy(name: str, arguments: Arguments) -> None:
    law, other = LAWS[name], twin(name, arguments)
    low, high = law.support(*arguments)
    if law.constant(*arguments) is not None:
        assert low == high == law.constant(*arguments)
        assert other.pmf(low) == 1.0
    elif name == "categorical":  # scipy counts outcomes of probability 0 in
        assert other.cdf(high) - other.cdf(low - 1) == pytest.approx(1.0)
    elif name == "von_mises":  # scipy's density goes round and round
        assert (low, high) == (-math.pi, math.pi)
    else:
        assert (low, high) == pytest.approx(other.support())
        assert not (law.discrete and other.pmf(low) == 1.0)
    assert float(law.quantile(0.0, *arguments)) == float(law.upper_quantile(1.0, *arguments)) == low
    upper = law.quantile(1.0, *arguments), law.upper_quantile(0.0, *arguments)
    assert [float(one) for one in upper] == [high, high]
    assert law.cdf(np.array([-math.inf, math.inf]), *arguments).tolist() == [0.0, 1.0]
    assert law.survival(np.array([-math.inf, math.inf]), *arguments).tolist() == [1.0, 0.0]
    assert np.isnan(law.cdf(math.nan, *arguments))
    assert np.isnan(law.quantile(np.array([-0.1, 1.1, math.nan]), *arguments)).all()


CONSTANTS: list[tuple[str, Arguments, float]] = [
    ("normal", (3.0, 0.0), 3.0), ("lognormal", (0.0, 0.0), 1.0),
    ("uniform", (2.0, 2.0), 2.0), ("exponential", (0.0,), 0.0),
    ("gamma", (1e-3, 0.0), 0.0), ("cauchy", (4.0, 0.0), 4.0), ("laplace", (4.0, 0.0), 4.0),
    ("logistic", (4.0, 0.0), 4.0), ("gumbel", (4.0, 0.0), 4.0), ("weibull", (1e-3, 0.0), 0.0),
    ("rayleigh", (0.0,), 0.0), ("pareto", (1e-3, 0.0), 0.0),
    ("triangular", (1.0, 1.0, 1.0), 1.0), ("truncated_normal", (0.5, 0.0, 0.0, 1.0), 0.5),
    ("truncated_normal", (0.5, 2.0, 1.0, 1.0), 1.0), ("bernoulli", (0.0,), 0.0),
    ("bernoulli", (1.0,), 1.0), ("binomial", (4.0, 1.0), 4.0), ("geometric", (1.0,), 1.0),
    ("negative_binomial", (0.0, 0.5), 0.0), ("negative_binomial", (2.0, 1.0), 0.0),
    ("poisson", (0.0,), 0.0), ("hypergeometric", (3.0, 4.0, 7.0), 3.0),
    ("discrete_uniform", (4.0, 4.0), 4.0), ("categorical", ((0.0, 1.0),), 1.0),
    ("choice", ((2.5, 2.5),), 2.5),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "value"), CONSTANTS)
def test_degenerate_laws_are_constants(name: str, arguments: Arguments, value: float) -> None:
    law, arrays = LAWS[name], as_arrays(arguments)
    assert law.constant(*arguments) == value
    assert law.support(*arguments) == (value, value)
    assert law.moment_order(*arguments) == math.inf
    assert float(law.moment(1, *arguments)[0]) == pytest.approx(value, rel=1e-15)
    assert {float(law.moment(k, *arguments)[0]) for k in range(2, 9)} == {0.0}
    norms = [float(law.norm(p, *arguments)) for p in (1, 1.5, 2, 7.3, 30)]
    assert norms == pytest.approx([value] * 5, rel=1e-12)
    draws = LAWS[name].sample(np.random.default_rng(0), arrays, (), 1000)
    assert (draws == value).all()
    # the same where the argument is an array
    wide = [np.broadcast_to(a, (*a.shape[:-1], 1000)) for a in arrays]
    assert (LAWS[name].sample(np.random.default_rng(0), wide, (), 1000) == value).all()
    if law.discrete:
        assert LAWS[name].density(arrays, np.array([value])) == pytest.approx([1.0], rel=1e-12)
    else:
        with pytest.raises(ValueError, match="is a constant, and has no density"):
            LAWS[name].log_density(arrays, np.array([1.0]))


def test_vectors_may_be_constants_and_have_no_chances() -> None:
    for name, arguments, shape in (
        ("multinomial", (0.0, (0.5, 0.5)), (2,)),
        ("dirichlet", ((2.0,),), (1,)),
        ("permutation", (1.0,), (1,)),
        ("multivariate_normal", ((2.0, 2.0), ((0.0, 0.0), (0.0, 0.0))), (2,)),
    ):
        law = LAWS[name]
        draws = LAWS[name].sample(np.random.default_rng(0), as_arrays(arguments), shape, 100)
        assert (draws == np.asarray(law.moment(1, *arguments)[0])[..., None]).all()
        assert law.cdf(0.5, *arguments) is None
        assert law.points(*arguments) is None
    with pytest.raises(ValueError, match="cov is singular"):
        LAWS["multivariate_normal"].log_density(
            [np.zeros((2, 1)), np.ones((2, 2, 1))], np.zeros((2, 1))
        )
    with pytest.raises(ValueError, match="one share"):
        LAWS["dirichlet"].log_density([np.ones((1, 1))], np.ones((1, 1)))


@pytest.mark.parametrize(
    ("name", "arguments", "order"),
    [
        ("student_t", (2.5,), 2.5), ("pareto", (1.5, 2.0), 1.5), ("cauchy", (0.0, 1.0), 1.0),
        ("f", (5.0, 7.0), 3.5), ("lognormal", (0.0, 1.0), math.inf),
        ("weibull", (0.1, 1.0), math.inf),
    ],
)  # fmt: skip
def test_moments_end_where_the_tail_says(name: str, arguments: Arguments, order: float) -> None:
    law = LAWS[name]
    assert law.moment_order(*arguments) == order
    assert math.isfinite(law.norm(min(order, 9), *arguments)) == (order == math.inf)
    assert order == 1 or math.isfinite(law.norm(min(order, 9) - 0.01, *arguments))
    for k in range(1, 9):
        assert math.isfinite(law.moment(k, *arguments)[0]) == (k < order)
        assert k == 1 or math.isfinite(law.cumulant(k, *arguments)[0]) == (k < order)


@OF_LAWS
def test_what_is_called_symmetric_lies_alike_on_both_sides(name: str, arguments: Arguments) -> None:
    law, levels = LAWS[name], np.array([1e-9, 0.01307, 0.1003, 0.2119, 0.3701, 0.4903])
    below, above = law.quantile(levels, *arguments), law.upper_quantile(levels, *arguments)
    if law.symmetric:
        middle = law.moment(1, *arguments)[0]
        middle = law.quantile(0.5, *arguments) if math.isnan(middle) else middle
        rounding = 1e-9 * np.maximum(np.abs(below), np.abs(above))
        assert (np.abs(below + above - 2 * middle) <= rounding).all()


# ---- draws ---------------------------------------------------------------------------------------


def draw(name: str, arguments: Arguments, seed: int = 0, draws: int = DRAWS) -> Array:
    generator = np.random.default_rng([seed, *name.encode()])
    return LAWS[name].sample(generator, as_arrays(arguments), (), draws).astype(np.float64)


@OF_LAWS
def test_draws_have_the_law_and_lie_at_no_end(name: str, arguments: Arguments) -> None:
    law = LAWS[name]
    draws = draw(name, arguments)
    with np.errstate(all="ignore"):  # scipy's formulas, at the ends of domains
        assert gap(draws, cdf_of(name, arguments)) <= distance_allowed(DRAWS)
    low, high = law.support(*arguments)
    assert ((draws >= low) & (draws <= high)).all()
    if law.discrete:
        assert (draws == np.floor(draws)).all()
    elif low < high:
        assert ((draws > low) & (draws < high)).all()
    if not law.of_lists:
        first, again = (
            LAWS[name].sample(np.random.default_rng(seed), as_arrays(arguments), (2, 3), 50)
            for seed in (7, 7)
        )
        assert first.shape == (2, 3, 50)
        assert first.dtype == (np.bool_ if law.values is Values.TRUTHS else np.float64)
        assert (first == again).all()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("uniform", (1.0, 1.0 + 2**-51)), ("uniform", (1e16, 1e16 + 8)), ("beta", (1e-3, 1e-3)),
        ("beta", (1e-200, 1.0)), ("gamma", (1e-3, 1.0)), ("f", (1e-3, 1e-3)),
        ("weibull", (1e-3, 1.0)), ("lognormal", (-1000.0, 1.0)), ("pareto", (1e17, 1.0)),
        ("triangular", (1.0, 1.0, 1.0 + 2**-51)), ("von_mises", (math.pi, 1e12)),
        ("truncated_normal", (0.0, 1.0, 1e4, math.inf)),
        ("truncated_normal", (0.0, 1.0, 0.0, 1e-300)),
        ("truncated_normal", (0.0, 1e-300, 1e-297, 2e10)),
    ],
)  # fmt: skip
def test_no_end_even_where_rounding_or_underflow_lead_there(
    name: str, arguments: Arguments
) -> None:
    low, high = LAWS[name].support(*arguments)
    draws = draw(name, arguments, draws=20_000)
    assert not np.isnan(draws).any()
    assert (draws > low).all()
    assert (draws < high).all() or high == math.inf


def test_rare_truths_and_signs_are_exact() -> None:
    trials = 2**23
    for p, wrong in ((1.9 / 2**16, 1 / 2**16), (0.3, 0.303), (1 - 2.5 / 2**16, 1 - 1 / 2**16)):
        generator = np.random.default_rng(5)
        counts = int(LAWS["bernoulli"].sample(generator, [np.array([p])], (), trials).sum())
        assert exact(counts, trials, p)
        assert not exact(counts, trials, wrong)
    flat = LAWS["rademacher"].sample(np.random.default_rng(6), [], (3,), 2**20 + 5).reshape(-1)
    assert set(np.unique(flat)) == {-1.0, 1.0}
    for lag in range(9):  # 0: the sign itself; others: neighbours within a byte and beyond
        product = flat if lag == 0 else flat[lag:] * flat[:-lag]
        assert exact(int((product > 0).sum()), product.size, 0.5)


# ---- random arguments, lists and vectors ---------------------------------------------------------

RANDOM_ARGUMENTS: dict[str, tuple[tuple[float, float], ...]] = {
    "normal": ((-3, 3), (0.1, 2)), "lognormal": ((-3, 3), (0.1, 2)), "uniform": ((-3, 3), (3, 5)),
    "exponential": ((0.1, 3),), "gamma": ((0.2, 3), (0.1, 4)), "chi_square": ((0.5, 9),),
    "beta": ((0.2, 5), (0.2, 5)), "student_t": ((0.5, 9),), "f": ((0.5, 9), (0.5, 9)),
    "cauchy": ((-3, 3), (0.1, 2)), "laplace": ((-3, 3), (0.1, 2)), "logistic": ((-3, 3), (0.1, 2)),
    "gumbel": ((-3, 3), (0.1, 2)), "weibull": ((0.5, 5), (0.1, 2)), "rayleigh": ((0.1, 3),),
    "pareto": ((0.5, 5), (0.1, 2)), "triangular": ((-2, 0), (0, 1), (1, 2)),
    "truncated_normal": ((-1, 1), (0.1, 2), (-40, 1), (1, 3)),
    "bernoulli": ((0, 1),), "binomial": ((0, 9), (0, 1)), "geometric": ((0.05, 1),),
    "negative_binomial": ((0.5, 9), (0.1, 1)), "poisson": ((0, 9),),
    "hypergeometric": ((2, 9), (2, 9), (0, 4)), "discrete_uniform": ((-9, 0), (0, 9)),
}  # fmt: skip
WHOLE = {("binomial", 0), ("discrete_uniform", 0), ("discrete_uniform", 1)} | {
    ("hypergeometric", index) for index in range(3)
}


@pytest.mark.parametrize("name", RANDOM_ARGUMENTS)
def test_random_arguments_are_met_draw_by_draw(name: str) -> None:
    """The probability integral transform is uniform, whatever the arguments (Rosenblatt 1952)."""
    generator = np.random.default_rng([9, *name.encode()])
    draws = 20_000
    arguments = []
    for index, (low, high) in enumerate(RANDOM_ARGUMENTS[name]):
        values = generator.uniform(low, high, size=draws)
        arguments.append(np.round(values) if (name, index) in WHOLE else values)
    x = LAWS[name].sample(generator, arguments, (), draws).astype(np.float64)
    law = twin(name, tuple(arguments))
    uniform = law.cdf(x)
    if LAWS[name].discrete:  # an atom is spread over its share
        uniform = uniform - generator.uniform(size=draws) * law.pmf(x)
    assert gap(uniform, stats.uniform.cdf) <= distance_allowed(draws)
    # and arguments met in another order would be seen, but where the law hardly depends on them
    if name not in ("student_t", "f"):
        shuffled = twin(name, tuple(np.roll(a, 1) for a in arguments))
        assert gap(shuffled.cdf(x), stats.uniform.cdf) > distance_allowed(draws)


def test_von_mises_with_random_arguments() -> None:
    odd = np.arange(20_000) % 2
    mu, kappa = np.where(odd, 1.0, -1.0), np.where(odd, 0.5, 20.0)
    x = LAWS["von_mises"].sample(np.random.default_rng(1), [mu, kappa], (), 20_000)
    for part, arguments in ((x[::2], (-1.0, 20.0)), (x[1::2], (1.0, 0.5))):
        assert gap(part, cdf_of("von_mises", arguments)) <= distance_allowed(part.size)


@pytest.mark.parametrize("name", ["uniform", "normal", "binomial", "categorical", "permutation"])
def test_arguments_stay_with_their_places_in_both_orders_of_memory(name: str) -> None:
    """Each element of each draw has arguments that leave it no more than one other value."""
    shape, draws = (3, 2), 5
    of_each = 10.0 * np.arange(30).reshape(*shape, draws)
    of_row, one = np.array([[100.0], [200.0]]), np.array([1e-3])
    arguments, low, high = {
        "uniform": ([of_each, of_each + 1.0], of_each, of_each + 1.0),
        "normal": ([of_row, one], of_row - 0.1, of_row + 0.1),  # 100 standard deviations
        "binomial": ([of_each, np.array([1.0])], of_each, of_each),
        "categorical": ([np.array([[0.0], [1.0]])], np.array([1.0]), np.array([1.0])),
        "permutation": ([np.array([2.0])], np.array([0.0]), np.array([1.0])),
    }[name]
    for draws_first in (False, True):
        rng = np.random.default_rng(0)
        found = LAWS[name].sample(rng, arguments, shape, draws, draws_first=draws_first)
        assert found.shape == (*shape, draws)
        assert ((low <= found) & (found <= high)).all()
        assert name != "uniform" or np.unique(found).size == found.size


def test_outcomes_of_random_lists() -> None:
    draws = 40_000
    p = np.tile([[0.1, 0.0], [0.0, 0.7], [0.9, 0.3], [0.0, 0.0]], draws // 2)
    x = LAWS["categorical"].sample(np.random.default_rng(3), [p], (2,), draws)
    for parity, outcomes in ((0, {0.0: 0.1, 2.0: 0.9}), (1, {1.0: 0.7, 2.0: 0.3})):
        part = x[:, parity::2]
        assert set(np.unique(part)) == set(outcomes)
        for value, share in outcomes.items():
            assert exact(int((part == value).sum()), part.size, share)
    found = LAWS["categorical"].density([p[:, :2]], np.array([[0.0, 0.0], [2.0, 1.0]]))
    np.testing.assert_allclose(found, [[0.1, 0.0], [0.9, 0.7]])
    values = np.stack([np.arange(draws), -1.0 - np.arange(draws)])
    x = LAWS["choice"].sample(np.random.default_rng(4), [values], (2,), draws)
    assert ((x == values[0]) | (x == values[1])).all()
    assert exact(int((x == values[0]).sum()), x.size, 0.5)


def test_permutations_are_equally_likely() -> None:
    draws = 48_000
    x = LAWS["permutation"].sample(np.random.default_rng(5), [np.array([4.0])], (4,), draws)
    codes = (x * (4.0 ** np.arange(4))[:, None]).sum(axis=0)
    for order in itertools.permutations(range(4)):
        code = sum(value * 4**place for place, value in enumerate(order))
        assert exact(int((codes == code).sum()), draws, 1 / 24)
    x = np.array([[2.0, 0.0, 0.0, math.nan], [0.0, 1.0, 0.0, 1.0], [1.0, 2.0, 2.0, 2.0]])
    found = LAWS["permutation"].density([np.array([3.0])], x)
    np.testing.assert_allclose(found, [1 / 6, 1 / 6, 0.0, math.nan])


@pytest.mark.parametrize("random", [False, True])
def test_multinomial_has_binomial_counts(random: bool) -> None:
    draws, p = 50_000, np.array([0.2, 0.5, 0.3])
    n = np.where(np.arange(draws) % 2, 6.0, 3.0) if random else np.array([6.0])
    x = LAWS["multinomial"].sample(np.random.default_rng(6), [n, p[:, None]], (2, 3), draws)
    assert (x.sum(axis=1) == n).all()
    for index, share in enumerate(p):
        part = x[:, index, 1::2].reshape(-1)
        assert gap(part, stats.binom(6, share).cdf) <= distance_allowed(part.size)
    few = x[0, :, 1:60:2]
    ours = LAWS["multinomial"].log_density([np.array([6.0]), p[:, None]], few)
    np.testing.assert_allclose(ours, stats.multinomial(6, p).logpmf(few.T), rtol=CLOSE)
    outside = np.array([[6.0, 5.5, -1.0], [1.0, 0.5, 7.0], [0.0, 0.0, 0.0]])
    assert (LAWS["multinomial"].density([np.array([6.0]), p[:, None]], outside) == 0).all()


@pytest.mark.parametrize("a", [(2.0, 3.0, 1.0), (0.01, 0.02, 0.5), (0.5, 0.5)])
@pytest.mark.parametrize("random", [False, True])
def test_dirichlet_has_beta_shares(a: tuple[float, ...], random: bool) -> None:
    draws, column = 20_000, np.array(a)[:, None]
    argument = np.repeat(column, draws, axis=1) if random else column
    x = LAWS["dirichlet"].sample(np.random.default_rng(7), [argument], (len(a),), draws)
    assert np.abs(x.sum(axis=0) - 1).max() < 1e-12
    assert ((x > 0) & (x < 1)).all()
    for share, own in zip(x, a, strict=True):
        # below 1e-300 draws underflow to the smallest number
        points = np.sort(share)
        kept = (points > 1e-300) & (points < 1 - 1e-15)
        upto = np.arange(1, draws + 1)[kept] / draws
        found = stats.beta(own, sum(a) - own).cdf(points[kept])
        assert np.abs(found - upto).max() <= distance_allowed(draws) + 1 / draws
    if min(a) >= 0.5:
        ours = LAWS["dirichlet"].log_density([column], x[:, :30])
        np.testing.assert_allclose(ours, stats.dirichlet.logpdf(x[:, :30], a), rtol=CLOSE)
        assert (LAWS["dirichlet"].density([column], x[:, :3] + 0.1) == 0).all()


COVARIANCES = {
    "full": np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]]),
    "singular": np.array([[1.0, 1.0, 2.0], [1.0, 1.0, 2.0], [2.0, 2.0, 4.0]]),
}


@pytest.mark.parametrize("kind", COVARIANCES)
@pytest.mark.parametrize("random", [False, True])
def test_multivariate_normal_is_normal_in_every_direction(kind: str, random: bool) -> None:
    """With a matrix of its own for each draw where it is random."""
    draws, cov, mean = 20_000, COVARIANCES[kind], np.array([1.0, -2.0, 0.0])
    sizes = np.linspace(0.5, 2.0, draws) if random else np.ones(1)
    arguments = [mean[:, None] * np.ones_like(sizes), cov[:, :, None] * sizes]
    x = LAWS["multivariate_normal"].sample(np.random.default_rng(8), arguments, (2, 3), draws)
    for direction in ((1.0, 0.0, 0.0), (0.0, 1.0, 1.0), (1.0, -1.0, 0.5), (1.0, 2.0, -1.0)):
        weights = np.array(direction)
        sd = np.sqrt(weights @ cov @ weights * sizes)
        projected = (np.einsum("i,sin->sn", weights, x) - weights @ mean) / sd
        assert gap(projected.reshape(-1), stats.norm.cdf) <= distance_allowed(2 * draws)
    if kind == "full":
        found = LAWS["multivariate_normal"].log_density(arguments, x)[0, :5]
        for n in range(5):
            law = stats.multivariate_normal(mean, cov * sizes[n if random else 0])
            assert found[n] == pytest.approx(law.logpdf(x[0, :, n]), rel=CLOSE)


# ---- densities -----------------------------------------------------------------------------------


@OF_LAWS
def test_log_density_agrees_with_scipy(name: str, arguments: Arguments) -> None:
    """At draws of the law, at points about them, and at points that most laws do not reach."""
    law = LAWS[name]
    around = [-1.0, 0.0, 1.0, 2.0, 3.0, 7.0, 0.5, 1e6]
    if not law.discrete:
        around = [-4.0, -1.0, 0.25, 0.75, 1.5, 4.0, 33.0]
    x = np.concatenate([draw(name, arguments, 1, 200), around])
    if name == "von_mises":  # scipy goes on round the circle
        x = x[np.abs(x) <= math.pi]
    ours = LAWS[name].log_density(as_arrays(arguments), x)
    with np.errstate(all="ignore"):
        other = twin(name, arguments)
        theirs = other.logpmf(x) if law.discrete else other.logpdf(x)
    assert np.isfinite(ours[:200]).all()
    np.testing.assert_allclose(ours, theirs, rtol=CLOSE, atol=CLOSE)
    np.testing.assert_allclose(
        LAWS[name].density(as_arrays(arguments), x), np.exp(ours), rtol=1e-15
    )
    assert np.isnan(LAWS[name].log_density(as_arrays(arguments), np.array([math.nan]))).all()


@pytest.mark.parametrize(
    ("name", "arguments", "outside"),
    [
        ("uniform", (0.0, 1.0), [-0.1, 1.1, math.inf]),
        ("exponential", (1.0,), [-1e-300, -5.0, math.inf, -math.inf]),
        ("lognormal", (0.0, 1.0), [0.0, -1.0]), ("beta", (2.0, 2.0), [0.0, 1.0, -0.5, 1.5]),
        ("pareto", (2.0, 3.0), [2.999, -4.0]), ("von_mises", (0.0, 1.0), [3.2, -3.2]),
        ("truncated_normal", (0.0, 1.0, -1.0, 2.0), [-1.1, 2.1]),
        ("triangular", (0.0, 1.0, 2.0), [-0.1, 2.1, 0.0, 2.0]),
        ("normal", (0.0, 1.0), [math.inf, -math.inf]), ("student_t", (1.0,), [math.inf]),
        ("bernoulli", (0.5,), [0.5, -1.0, 2.0]), ("bernoulli", (0.0,), [1.0]),
        ("rademacher", (), [0.0, 0.5, 2.0]), ("poisson", (3.0,), [-1.0, 0.5, math.inf]),
        ("geometric", (0.5,), [0.0]), ("categorical", ((0.5, 0.0, 0.5),), [1.0, 3.0, -1.0, 0.5]),
        ("choice", ((0.5, 2.5),), [0.0, 2.0]), ("hypergeometric", (2.0, 3.0, 4.0), [0.0, 3.0]),
        ("discrete_uniform", (1.0, 6.0), [0.0, 7.0, 1.5]),
    ],
)  # fmt: skip
def test_no_density_outside_the_support(
    name: str, arguments: Arguments, outside: list[float]
) -> None:
    assert (LAWS[name].density(as_arrays(arguments), np.array(outside)) == 0).all()
    assert (LAWS[name].log_density(as_arrays(arguments), np.array(outside)) == -math.inf).all()


# ---- probabilities and quantiles -----------------------------------------------------------------

# what scipy has of another law, or with fewer digits than asked for here
NOT_THEIRS = {"von_mises", "truncated_normal", "hypergeometric"}


@pytest.mark.parametrize(
    ("name", "arguments"), [case for case in CASES if case[0] not in NOT_THEIRS]
)
def test_distribution_functions_agree_with_scipy(name: str, arguments: Arguments) -> None:
    law, theirs = LAWS[name], twin(name, arguments)
    with np.errstate(all="ignore"):
        x = np.concatenate([theirs.ppf(LEVELS[3:]), [-1.5, 0.0, 0.25, 1.0, 2.0, 3.5, 40.0]])
        x = x[np.isfinite(x)]
        cdf, survival = theirs.cdf(x), theirs.sf(x)
    np.testing.assert_allclose(law.cdf(x, *arguments), cdf, rtol=1e-6, atol=1e-13)
    np.testing.assert_allclose(law.survival(x, *arguments), survival, rtol=1e-6, atol=1e-13)
    inside = (cdf > 1e-3) & (survival > 1e-3)
    np.testing.assert_allclose(law.cdf(x, *arguments)[inside], cdf[inside], rtol=CLOSE)


def beta_below(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def student_t_below(x: Any, df: float) -> Any:
    tail = beta_below(mp.mpf(df) / 2, 0.5, df / (df + mp.mpf(x) ** 2)) / 2
    return tail if x < 0 else 1 - tail


def truncated_below(x: Any, mean: float, sd: float, low: float, high: float) -> Any:
    a, z, b = ((mp.mpf(one) - mean) / sd for one in (low, x, high))
    with mp.extradps(60):
        return (mp.ncdf(-a) - mp.ncdf(-z)) / (mp.ncdf(-a) - mp.ncdf(-b))


BELOW: dict[str, Callable[..., Any]] = {
    "normal": lambda x, mean, sd: mp.ncdf((mp.mpf(x) - mean) / sd),
    "lognormal": lambda x, mean, sd: mp.ncdf((mp.log(x) - mean) / sd),
    "student_t": student_t_below,
    "gamma": lambda x, shape, scale: mp.gammainc(shape, 0, mp.mpf(x) / scale, regularized=True),
    "beta": lambda x, a, b: beta_below(a, b, mp.mpf(x)),
    "f": lambda x, d1, d2: beta_below(
        mp.mpf(d1) / 2, mp.mpf(d2) / 2, d1 * mp.mpf(x) / (d2 + d1 * mp.mpf(x))
    ),
    "cauchy": lambda x, loc, scale: mp.atan2(1, -(mp.mpf(x) - loc) / scale) / mp.pi,
    "logistic": lambda x, loc, scale: 1 / (1 + mp.exp(-(mp.mpf(x) - loc) / scale)),
    "weibull": lambda x, shape, scale: -mp.expm1(-((mp.mpf(x) / scale) ** shape)),
    "binomial": lambda x, n, p: beta_below(n - int(x), int(x) + 1, 1 - mp.mpf(p)),
    "truncated_normal": truncated_below,
}
FAR: list[tuple[str, tuple[float, ...]]] = [
    ("normal", (3.0, 2.0)), ("lognormal", (5.0, 0.1)), ("student_t", (0.5,)),
    ("student_t", (600.0,)), ("gamma", (1e-3, 1.0)), ("gamma", (30.0, 0.1)),
    ("beta", (0.5, 0.5)), ("beta", (300.0, 20.0)), ("beta", (1.0, 1e-7)), ("f", (0.5, 8.0)),
    ("f", (2000.0, 30.0)), ("cauchy", (0.0, 1.0)), ("logistic", (1.0, 4.0)),
    ("weibull", (0.5, 2.0)), ("binomial", (900, 0.4)),
    ("truncated_normal", (0.0, 1.0, 8.0, 9.0)), ("truncated_normal", (0.0, 1.0, -0.1, 0.2)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments"), FAR)
def test_lower_tails_keep_their_digits(name: str, arguments: tuple[float, ...]) -> None:
    law = LAWS[name]
    with mp.workdps(60):
        for level in LEVELS:
            x = float(law.quantile(level, *arguments))
            if math.isfinite(x) and x not in law.support(*arguments):
                truth = float(BELOW[name](x, *arguments))
                assert float(law.cdf(x, *arguments)) == pytest.approx(truth, rel=1e-11), level


@pytest.mark.parametrize(
    ("name", "arguments", "x", "truth"),
    [
        ("normal", (0.0, 1.0), 30.0, "4.906713927148187e-198"),
        ("poisson", (3.0,), 100.0, "8.41393906321354e-114"),
        ("gumbel", (0.0, 1.0), 600.0, "2.65039655300431e-261"),
        ("pareto", (2.0, 1.0), 1e100, "1e-200"),
        ("exponential", (1.0,), 690.0, "2.17173828138983e-300"),
        ("geometric", (0.5,), 900.0, "1.18305218616677e-271"),
        ("student_t", (3.0,), 1e5, "1.10265779044663e-15"),
        # P(X >= 5e8) of 1 bad one among 1e9 + 1, half of them drawn
        ("hypergeometric", (1e9, 1.0, 5e8), 5e8 - 1, "0.5000000004999999995"),
    ],
)
def test_upper_tails_keep_their_digits(
    name: str, arguments: tuple[float, ...], x: float, truth: str
) -> None:
    found = float(LAWS[name].survival(x, *arguments))
    assert found == pytest.approx(float(mp.mpf(truth)), rel=1e-12, abs=0)


def largest_of(law: Law, arguments: Arguments) -> float:
    """The largest number that values of a law between two ends are made of."""
    if law is LAWS["von_mises"]:
        return math.pi
    if law is not LAWS["truncated_normal"]:
        return 0.0
    return max(abs(float(one)) for one in arguments if math.isfinite(one))


def wrong_quantiles(law: Law, arguments: Arguments) -> list[tuple[str, float]]:
    """The levels at which a quantile is not the least value that reaches them."""
    wrong = []
    low, _ = law.support(*arguments)
    for name, inverse, function, sign in (
        ("quantile", law.quantile, law.cdf, 1.0),
        ("upper_quantile", law.upper_quantile, law.survival, -1.0),
    ):
        x = np.asarray(inverse(LEVELS, *arguments), dtype=float)
        # rounding is that of the value, or of the largest number that it is made of
        size = np.maximum(np.abs(x), largest_of(law, arguments))
        step = np.ones_like(x) if law.discrete else 4 * np.spacing(size)
        before = np.nextafter(x, -np.inf) if law.values is Values.LISTED else x - step
        after = x if law.discrete else np.maximum(x + step, 1e-307 if low == 0 else -np.inf)
        reached = sign * function(after, *arguments) >= sign * LEVELS * (1 - sign * CLOSE)
        short = sign * function(before, *arguments) <= sign * LEVELS * (1 + sign * CLOSE)
        # infinite only where the value is beyond the largest float64
        beyond = sign * (function(np.sign(x) * 1e307, *arguments) - LEVELS) * np.sign(x) <= 0
        good = np.where(np.isfinite(x), reached & (short | (x <= low)), np.isinf(x) & beyond)
        wrong += [(name, float(level)) for level in LEVELS[~good]]
    return wrong


@OF_LAWS
def test_a_quantile_is_the_least_value_that_reaches_its_level(
    name: str, arguments: Arguments
) -> None:
    assert wrong_quantiles(LAWS[name], arguments) == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("normal", (3.0, 2.0)), ("student_t", (0.5,)), ("gamma", (0.05, 2.0)),
        ("lognormal", (5.0, 0.1)), ("pareto", (0.5, 2.0)), ("uniform", (2.0, 2.5)),
        ("triangular", (0.0, 5.0, 5.0)), ("beta", (2.0, 5.0)), ("f", (0.5, 8.0)),
    ],
)  # fmt: skip
def test_a_law_needs_no_quantiles_and_no_sampler(name: str, arguments: Arguments) -> None:
    law, levels = LAWS[name], LEVELS[3:]
    plain = replace(law, quantiles=None, sampler=None)
    for at in ("quantile", "upper_quantile"):
        found, known = (getattr(one, at)(levels, *arguments) for one in (plain, law))
        np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-14)
    drawn = replace(law, sampler=None).sample(
        np.random.default_rng(0), as_arrays(arguments), (), 20_000
    )
    assert gap(drawn, lambda x: law.cdf(x, *arguments)) <= distance_allowed(20_000)
    if name in ("beta", "uniform"):  # a smooth density between two ends tells all
        by_density = replace(law, chances=None, quantiles=None)
        x = law.quantile(LEVELS, *arguments)
        known = law.cdf(x, *arguments)
        np.testing.assert_allclose(by_density.cdf(x, *arguments), known, rtol=1e-10)
        np.testing.assert_allclose(by_density.quantile(LEVELS, *arguments), x, rtol=1e-9)


@pytest.mark.parametrize(("name", "arguments"), [case for case in CASES if LAWS[case[0]].discrete])
def test_points_carry_all_probability(name: str, arguments: Arguments) -> None:
    points = LAWS[name].points(*arguments, at_most=10_000)
    assert points is not None
    values, chances, outside = points
    rest = sum(outside)
    assert (np.diff(values) > 0).all()
    assert (chances > 0).all()
    assert chances.sum() + rest == pytest.approx(1.0, rel=1e-13)
    assert rest <= 1e-30
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            chances, LAWS[name].density(as_arrays(arguments), values), rtol=1e-9
        )


@pytest.mark.parametrize(("name", "arguments"), [case for case in CASES if LAWS[case[0]].units])
def test_a_draw_is_a_line_of_a_standard_one(name: str, arguments: tuple[float, ...]) -> None:
    law = LAWS[name]
    line = law.as_line(*arguments)
    assert line is not None
    loc, scale, own = line
    alike = loc + scale * law.quantile(LEVELS[4:], *own)
    np.testing.assert_allclose(law.quantile(LEVELS[4:], *arguments), alike, 1e-12, 1e-14)
    # what is standard is so in its own terms
    assert law.as_line(*own) == (0.0, 1.0, own)
