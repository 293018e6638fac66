"""Exact moments: against all outcomes of small laws, closed forms, and draws.

Every expression is made from seeded choices, so that nothing here is random from run to run.
"""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from lowered import expressed, lowering
from outcomes import Table, outcomes_of
from trials import judged

from dropcheck.analysis.bounds import drawn_apart
from dropcheck.analysis.exact import ExactMoments, Integrand, exact_means, exact_moments
from dropcheck.array_types import Floats
from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError
from dropcheck.language.graph import Value, number
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

LAWS = ("bernoulli(0.3)", "bernoulli(0.5)", "rademacher()", "binomial(2, 0.3)")
GROUPS = {"a": 0, "b": 1, "v": 1, "w": 2, "M": 0}
SEEDS = range(30)
Shape = tuple[int, ...]
NUMBER, VECTOR, MATRIX = (), (2,), (2, 2)
SHAPES: Mapping[str, Shape] = {"n": NUMBER, "v": VECTOR, "m": MATRIX}
LEAVES: Mapping[Shape, Sequence[str]] = {
    NUMBER: ("a", "b", "v[0]", "v[1]", "M[0, 1]", "2", "0.5"),
    VECTOR: ("v", "w", "M[0]", "M[:, 1]", "[1, -2]", "[a, b]", "v[::-1]"),
    MATRIX: ("M", "M.T", "outer(v, w)", "[[1, 2], [0.5, -1]]"),
}
# of any shape, by others of the same, {o}, and by numbers
OF_ANY = (
    "{o} + {o}", "{o} - {o}", "{o} * {o}", "{o} + {n}", "{o} - {n}", "{o} * {n}", "-{o}", "-{o}",
    "{o}**2", "{o}**3", "{o} / 2", "{o} / -0.7", "where(a, {o}, {o})", "where(a, {o}, {o})",
)  # fmt: skip
OF_SHAPE: Mapping[Shape, Sequence[str]] = {
    NUMBER: (
        "sum{v}", "mean{v}", "{v} @ {v}", "prod{v}", "var({v}, ddof=1)", "trace{m}",
        "dot({v}, {v})", "norm{v}**2", "var({m}, axis=[0, 1])", "det{m}",
    ),
    VECTOR: (
        "{m} @ {v}", "{v} @ {m}", "cumsum{v}", "sum({m}, axis=0)", "[{n}, {n}]", "diag{m}",
        "[2, {n}]", "concat({n}, 3)", "take({v}, [1, 0])", "concat({n}, {n})", "roll({v}, 1)",
        "solve([[2, 1], [1, 3]], {v})", "{v}[::-1]", "reshape({m}, -1)[[2, 1]]",
        "diag({m})[[1, 1]]", "kron({v}, {v})[1:3]", "diff({m}, axis=0)[0]",
        "diff(concat({v}, {n}))",
    ),
    MATRIX: (
        "{m} @ {m}", "outer({v}, {v})", "diag{v}", "{m}.T", "stack({v}, {v})",
        "cumsum({m}, axis=0)", "[[1, {n}], [0, 3]]", "stack({v}, [1, 2])", "tril({m})",
        "transpose({m}, [1, 0])", "{v}[:, None] * {v}", "reshape(tile({v}, 2), [2, 2])",
        "flip(repeat({v}[None], 2, axis=0), axis=0)", "diag({n}[None], k=1)",
        "kron({v}[None], {v}[:, None])",
    ),
}  # fmt: skip


def made(chance: random.Random, shape: Shape, depth: int) -> str:
    """An expression of a wanted shape, in brackets."""
    if depth == 0 or chance.random() < 0.15:
        return f"({chance.choice(LEAVES[shape])})"
    form = chance.choice(OF_ANY if chance.random() < 0.6 else OF_SHAPE[shape])
    shapes = {**SHAPES, "o": shape}
    return f"({re.sub('{(.)}', lambda one: made(chance, shapes[one[1]], depth - 1), form)})"


def integrand_of(table: Table, integrand: Integrand) -> Floats:
    """What an integrand is in each outcome: the mean over its elements."""
    whole: Floats = np.ones(1)
    for (value, power), centre in zip(integrand.factors, integrand.centres, strict=True):
        values = number(table.values[id(value)] if value.random else value.constant)
        whole = whole * (values - centre) ** power
    means = whole.reshape(-1, whole.shape[-1]).mean(axis=0)
    return np.broadcast_to(means, table.chances.shape)


def explained(table: Table, rows: Floats, given: Sequence[Value]) -> Floats:
    """Covariances of the conditional means, given some draws."""
    drawn = [np.zeros((1, table.chances.size)), *map(table.of, given)]
    place = np.unique(np.concatenate(drawn), axis=1, return_inverse=True)[1].ravel()
    off = rows - (rows @ table.chances)[:, np.newaxis]
    shares = np.bincount(place, table.chances)
    means = np.array([np.bincount(place, table.chances * row) for row in off]) / shares
    found: Floats = (means * shares) @ means.T
    return found


def parts(table: Table, rows: Floats, draws: Mapping[Value, int]) -> dict[frozenset[int], Floats]:
    """What each set of groups adds to the covariance (Hoeffding 1948, equation 5.3)."""
    groups = sorted({*GROUPS.values()})
    found: dict[frozenset[int], Floats] = {}
    for one in (s for n in range(1, 4) for s in itertools.combinations(groups, n)):
        whole = explained(table, rows, [value for value, group in draws.items() if group in one])
        below = [found[part] for part in found if part < frozenset(one)]
        found[frozenset(one)] = whole - sum(below, np.zeros(1))
    return found


def checked(
    seed: int, groups: Mapping[str, int] | None, *, apart: bool = False
) -> ExactMoments | None:
    """The exact moments, held against all outcomes; None where they are not known."""
    chance = random.Random(seed)
    laws = {name: chance.choice(LAWS) for name in GROUPS} | {"a": chance.choice(LAWS[:2])}
    sizes = {"v": "[2]", "w": "[2]", "M": "[2, 2]"}
    scope = lowering("; ".join(f"{n} ~ {law}{sizes.get(n, '')}" for n, law in laws.items()))
    shape = chance.choice((NUMBER, NUMBER, VECTOR, MATRIX))
    try:
        one, other = (expressed(scope, made(chance, shape, 2)) for _ in range(2))
    except DropcheckError:  # a fixed number that is none, such as 0 / 0
        return None
    centre = chance.choice((0.0, 1.0, -0.3))

    def integrands_of(one: Value, other: Value) -> list[Integrand]:
        return [
            Integrand(factors=((one, 1),), centres=(centre,)),
            Integrand(factors=((one, 1), (other, 1)), centres=(centre, 0.0)),
            Integrand(factors=((other, 2),), centres=(0.0,)),
        ]

    integrands, table = integrands_of(one, other), outcomes_of([one, other])
    seen = drawn_apart({0: one, 1: other}) if apart else {0: one, 1: other}
    found = exact_moments(integrands_of(seen[0], seen[1]), groups)
    if found is None or table is None:
        return None
    rows = np.array([integrand_of(table, one) for one in integrands])
    scale = np.sqrt(rows**2 @ table.chances)
    assert np.abs(found.means - rows @ table.chances) == pytest.approx(
        0, abs=1e-9 * max(scale, default=1.0) + 1e-12
    )
    draws = {
        value: group
        for name, group in GROUPS.items()
        if id(value := expressed(scope, name)) in table.values
    }
    # what may have been lost to rounding in eighth powers stands for what is 0
    room = 1e-8 * np.outer(scale, scale) + 1e-12
    if groups is GROUPS:
        for linked, truth in parts(table, rows, draws).items():
            own = found.components.get(linked, np.zeros_like(truth))
            assert (np.abs(own - truth) <= room).all()
    else:
        assert (np.abs(found.covariance(1) - explained(table, rows, [*draws])) <= room).all()
    return found


ALL_IN_ONE = dict.fromkeys(GROUPS, 0)


@pytest.mark.parametrize("groups", [GROUPS, ALL_IN_ONE], ids=["crossed", "plain"])
def test_moments_are_those_of_all_outcomes(groups: Mapping[str, int]) -> None:
    known = [checked(seed, groups) is not None for seed in SEEDS]
    assert groups is GROUPS or sum(known) >= 25


def test_moments_by_outcomes_are_those_of_all_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dropcheck.analysis.exact.FEW_OUTCOMES", 20_000)
    assert [seed for seed in SEEDS if checked(seed, None) is None] != [*SEEDS]


def test_moments_of_parts_that_are_drawn_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {
        NUMBER: ("a", "b", "v[0]", "v[1]", "v[-1]", "w[0]", "w[1]", "0.5"),
        VECTOR: ("M[0]", "M[1]", "M[-1, :]", "[v[0], v[-2]]", "[w[1], a]", "[1, -2]"),
        MATRIX: ("outer(M[0], M[1])", "[[v[0], 1], [v[1], w[1]]]", "[M[1], M[-2]]"),
    }
    monkeypatch.setitem(globals(), "LEAVES", parts)
    assert sum(checked(seed, None, apart=True) is not None for seed in SEEDS) >= 20


# ---- closed forms --------------------------------------------------------------------------------


def is_exactly(model: str, quantity: str, truth: float) -> bool:
    """Whether the model says, without a draw, that a quantity is this."""
    text = "\n".join(f"      {line}" for line in model.split("; "))
    claim = f"title: T\n    model: |\n{text}\n    claim: {quantity} == {truth!r}\n"
    registry = read_text(f"dropcheck: 1\nclaims:\n  c:\n    {claim}")
    (found,) = verify_cases(registry.expand(), Settings(exact=True, threads=1), registry)
    return found.exact is not None and found.exact.value == pytest.approx(truth, 1e-8, 1e-9)


def descent(steps: int, size: str = "", product: str = "w * x") -> str:
    """Stochastic gradient descent on a line through the origin."""
    first = f"ones({size[1:-1]})" if size else "1"
    body = (
        f"    x ~ normal(0, 1){size};     e ~ normal(0, 1);     w = w - 0.1 * ({product} - e) * x"
    )
    return f"w = {first}; for t in range({steps}):; {body}"


def test_a_loop_over_an_array_is_known_as_one_that_draws() -> None:
    body = "    w = 0.9 * w + 0.1 * z[t]**2"
    model = f"z ~ normal(0, 1)[100]; w = 0; for t in range(100):; {body}"
    assert is_exactly(model, "E(w)", 1 - 0.9**100)


def test_stochastic_gradient_descent() -> None:
    """The moments of w' = (1 - 0.1 x²) w + 0.1 e x up to the fourth, by hand from those of w."""
    double = [1, 1, 3, 15, 105]  # E x^2k
    moments = [1.0] * 5
    for _ in range(8):
        factor = [
            sum(math.comb(j, i) * (-0.1) ** i * double[i + k] for i in range(j + 1))
            for j, k in ((4, 0), (2, 1), (0, 2), (2, 0), (0, 1))
        ]
        second = factor[3] * moments[2] + 0.01 * factor[4]
        fourth = factor[0] * moments[4] + 6 * 0.01 * factor[1] * moments[2] + 3e-4 * factor[2]
        moments = [1.0, 0.9 * moments[1], second, 0.0, fourth]
    assert is_exactly(descent(8), "E(w**2)", moments[2])
    assert is_exactly(descent(8), "E(w)", moments[1])
    assert is_exactly(descent(8), "Var(w * 1)", moments[2] - moments[1] ** 2)


@pytest.mark.parametrize("size", [3, 64])
def test_gradient_descent_in_many_dimensions(size: int) -> None:
    """E|w'|² = (1 - 0.2 + 0.01 (n + 2)) E|w|² + 0.01 n (Isserlis 1918)."""
    square = float(size)
    for _ in range(4):
        square = (0.8 + 0.01 * (size + 2)) * square + 0.01 * size
    assert is_exactly(descent(4, f"[{size}]", "w @ x"), "E(sum(w**2))", square)


def known(model: str, *expressions: str, power: int = 1) -> ExactMoments | None:
    scope = lowering(model)
    quantities = [((expressed(scope, one), power),) for one in expressions]
    return exact_moments([Integrand(factors=one) for one in quantities], None)


@pytest.mark.parametrize(
    ("model", "expression"),
    [
        # no mean, or digits that float64 has not
        ("x ~ cauchy(0, 1)", "x"),
        ("x ~ normal(0, 1e200)", "x**2"),
        ("x ~ normal(0, 1e-300)", "x**2"),
        ("x, y ~ normal(0, 1)", "x + y - y == x"),
        ("x ~ bernoulli(1e-200)[2]", "x[0] * x[1]"),
        ("x ~ bernoulli(1e-200)[100]", "x @ x[::-1]"),
        ("x ~ bernoulli(1e-200)[30]; y ~ normal(0, 1)", "x[0] * x[1] * y * 1e300"),
        ("x ~ normal(0, 1); y ~ normal(0, 1e-120)", "y**4 * x"),
        ("x ~ bernoulli(1e-200)", "(x - 1e-250) * 1e-200"),
        # products that share draws
        ("x ~ uniform(0, 1)[6]", "prod(x) * prod(1 + x)"),
        ("x ~ uniform(0, 1)[6]", "prod(x) * x[0]"),
        # what a law does not take in some outcome
        ("q ~ bernoulli(0.001); x ~ discrete_uniform(4 * q, 3)", "x > 1"),
        ("q ~ bernoulli(0.001); x ~ hypergeometric(5, 0, 3 + 9 * q)", "x > 1"),
        # too much work
        ("x ~ uniform(0, 1)[40]; y ~ exponential(1)[40]", "(sum(x * y) + sum(x) * sum(y))**12"),
        ("x ~ uniform(-2, 3)[2]", "(x * where(round(x) > 0.5, maximum(x, 1), x @ x))**2"),
    ],
)
def test_what_is_not_known_is_not_made_up(model: str, expression: str) -> None:
    assert known(model, expression) is None


def test_what_shares_draws_has_no_covariance_of_0() -> None:
    model = "x, y ~ uniform(0, 1)[6]"
    assert known(model, "prod(x)", "x[0]") is None
    found = known(model, "prod(x)", "y[0]")
    assert found is not None
    assert found.covariance(1)[0, 1] == 0


@pytest.mark.parametrize("count", [4, 64])
def test_what_factors_are_off_by_is_in_their_product(count: int) -> None:
    """The chance of y <= 1 is known to 4e-8 alone, as the density is infinite at 1."""
    scope = lowering(f"y ~ beta(2, 0.5)[{count}]")
    found = exact_means([Integrand(factors=((expressed(scope, "all(y <= 1)"), 1),))])
    assert found is not None
    [mean], [error] = found
    assert abs(mean - 1) <= error < 1e-4


# ---- draws ---------------------------------------------------------------------------------------

DRAWN = (
    "normal({a}, {b})", "normal(0, {b})", "uniform({a}, {a} + {b})", "exponential({b})",
    "gamma({b}, {c})", "poisson({b})", "bernoulli(0.{c})", "chi_square({c})",
)  # fmt: skip
USES = (
    "sum(x)", "mean(x)**2", "mean(x) * sum(x)", "sum(x**2) / (1 + {b})", "var(x)", "max(x)",
    "sort(x)[1]", "min(x) + {a}", "x[0] * x[1]", "sum(x * w) / (1 + sum(w**2))", "norm(W @ x)",
    "sum(relu(W @ (W2 @ x)))", "sum((W @ x)**2) / (1 + sum(x**2))", "{a} * sum(x) + {b} * sum(w)",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(24))
def test_draws_of_what_is_written_confirm_the_exact_value(seed: int) -> None:
    """Of a made model: an internal error else, which chance makes once in 1e6."""
    chance = np.random.default_rng(seed)
    size = int(chance.integers(3, 7))

    def filled(texts: Sequence[str]) -> str:
        a, b, c = chance.uniform(-1, 1), chance.uniform(0.5, 2), chance.integers(2, 8)
        return str(chance.choice(texts)).format(a=f"{a:.2g}", b=f"{b:.2g}", c=c)

    joined = str(chance.choice(["{f}", "({f}) * ({g})", "({f}) + ({g})"]))
    model = (
        f"x ~ {filled(DRAWN)}[{size}]; w ~ normal(0, 1)[{size}]; W ~ normal(0, 1)[2, {size}]; "
        f"W2 ~ normal(0, 0.5)[{size}, {size}]; y = {joined.format(f=filled(USES), g=filled(USES))}"
    )
    quantity = chance.choice(["E(y)", "E(y**2)", "Var(y)", "Cov(y, 2 * y + sum(w))"])
    judged(model, f"{quantity} <= 1e9", draws_only=False, most=40_000)
