"""Exact moments: against all outcomes of small laws, closed forms, and draws.

Every expression is made from seeded choices, so that nothing here is random from run to run.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from lowered import expressed, lowering
from trials import judged

from dropcheck.analysis.exact import ExactMoments, Integrand, exact_means, exact_moments
from dropcheck.array_types import Floats
from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError
from dropcheck.language.graph import Value, kernel_of, number, ordered
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.vocabulary.function import Array

LAWS: Mapping[str, tuple[Sequence[float], Sequence[float]]] = {
    "bernoulli(0.3)": ((0, 1), (0.7, 0.3)),
    "bernoulli(0.5)": ((0, 1), (0.5, 0.5)),
    "rademacher()": ((-1, 1), (0.5, 0.5)),
    "binomial(2, 0.3)": ((0, 1, 2), (0.49, 0.42, 0.09)),
}
GROUPS = {"a": 0, "b": 1, "v": 1, "w": 2, "M": 0}
SEEDS = range(30)


class Expressions:
    """Expressions of a wanted shape: (), (2,) or (2, 2)."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def leaf(self, shape: tuple[int, ...]) -> str:
        leaves = {
            (): ("a", "b", "v[0]", "v[1]", "M[0, 1]", "2", "0.5"),
            (2,): ("v", "w", "M[0]", "M[:, 1]", "[1, -2]", "[a, b]", "v[::-1]"),
            (2, 2): ("M", "M.T", "outer(v, w)", "[[1, 2], [0.5, -1]]"),
        }
        return self.random.choice(leaves[shape])

    def of(self, shape: tuple[int, ...], depth: int) -> str:
        if depth == 0 or self.random.random() < 0.15:
            return self.leaf(shape)

        def own() -> str:
            return f"({self.of(shape, depth - 1)})"

        def number() -> str:
            return f"({self.of((), depth - 1)})"

        def vector() -> str:
            return f"({self.of((2,), depth - 1)})"

        def matrix() -> str:
            return f"({self.of((2, 2), depth - 1)})"

        forms = {
            "sum": lambda: own() + self.random.choice("+-*") + own(),
            "scaled": lambda: own() + self.random.choice("+-*") + number(),
            "negative": lambda: "-" + own(),
            "power": lambda: own() + self.random.choice(("**2", "**3")),
            "quotient": lambda: own() + self.random.choice(("/2", "/-0.7")),
            "choice": lambda: f"where(a, {own()}, {own()})",
        }
        numbers = (
            lambda: "sum" + vector(),
            lambda: "mean" + vector(),
            lambda: vector() + "@" + vector(),
            lambda: "prod" + vector(),
            lambda: f"var({vector()}, ddof=1)",
            lambda: "trace" + matrix(),
            lambda: f"dot({vector()}, {vector()})",
            lambda: f"norm{vector()}**2",
            lambda: f"var({matrix()}, axis=[0, 1])",
            lambda: "det" + matrix(),
        )
        vectors = (
            lambda: matrix() + "@" + vector(), lambda: vector() + "@" + matrix(),
            lambda: "cumsum" + vector(), lambda: f"sum({matrix()}, axis=0)",
            lambda: f"[{number()}, {number()}]", lambda: "diag" + matrix(),
            lambda: f"[2, {number()}]", lambda: f"concat({number()}, 3)",
            lambda: f"take({vector()}, [1, 0])", lambda: f"concat({number()}, {number()})",
            lambda: f"roll({vector()}, 1)", lambda: f"solve([[2, 1], [1, 3]], {vector()})",
            lambda: vector() + "[::-1]", lambda: f"reshape({matrix()}, -1)[[2, 1]]",
            lambda: f"diag({matrix()})[[1, 1]]", lambda: f"kron({vector()}, {vector()})[1:3]",
        )  # fmt: skip
        matrices = (
            lambda: matrix() + "@" + matrix(), lambda: f"outer({vector()}, {vector()})",
            lambda: "diag" + vector(), lambda: matrix() + ".T",
            lambda: f"stack({vector()}, {vector()})", lambda: f"cumsum({matrix()}, axis=0)",
            lambda: f"[[1, {number()}], [0, 3]]", lambda: f"stack({vector()}, [1, 2])",
            lambda: f"tril({matrix()})", lambda: f"transpose({matrix()}, [1, 0])",
            lambda: f"({vector()}[:, None] * {vector()})",
            lambda: f"reshape(tile({vector()}, 2), [2, 2])",
            lambda: f"flip(repeat({vector()}[None], 2, axis=0), axis=0)",
            lambda: f"diag({number()}[None], k=1)",
            lambda: f"kron({vector()}[None], {vector()}[:, None])",
        )  # fmt: skip
        if self.random.random() < 0.6:
            form: Callable[[], str] = self.random.choice(list(forms.values()))
        else:
            form = self.random.choice({(): numbers, (2,): vectors, (2, 2): matrices}[shape])
        return form()


class Outcomes:
    """All outcomes of the model's draws, and what integrands are in them."""

    def __init__(self, draws: Sequence[tuple[Value, str, int]]) -> None:
        cells = [
            (LAWS[law], group) for value, law, group in draws for _ in range(math.prod(value.shape))
        ]
        self.groups = [group for _, group in cells]
        self.lengths = [len(values) for (values, _), _ in cells]
        self.chances = [np.asarray(chances) for (_, chances), _ in cells]
        grids = np.meshgrid(*map(np.arange, self.lengths), indexing="ij")
        places = [grid.ravel() for grid in grids]
        self.whole = np.prod(
            [own[at] for own, at in zip(self.chances, places, strict=True)], axis=0
        )
        self.held: dict[int, Array] = {}
        drawn = iter(
            np.asarray(values, dtype=float)[at]
            for ((values, _), _), at in zip(cells, places, strict=True)
        )
        for value, _, _ in draws:
            array = np.array([next(drawn) for _ in range(math.prod(value.shape))])
            array = array.reshape(*value.shape, -1)
            self.held[id(value)] = array != 0 if value.binary else array

    def values(self, value: Value) -> Floats:
        held = dict(self.held)
        for one in ordered([value]):
            if id(one) not in held:
                inputs = [held[id(i)] if i.random else i.constant for i in one.inputs]
                if not one.function.takes_truth:
                    inputs = [number(array) for array in inputs]
                held[id(one)] = kernel_of(one)(*inputs)
        return number(held[id(value)]) if value.random else number(value.constant)

    def integrand(self, integrand: Integrand) -> Floats:
        whole: Floats = np.ones(1)
        for (value, power), centre in zip(integrand.factors, integrand.centres, strict=True):
            whole = whole * (self.values(value) - centre) ** power
        means = whole.reshape(-1, whole.shape[-1]).mean(axis=0)
        return np.broadcast_to(means, self.whole.shape)

    def explained(self, rows: Floats, groups: tuple[int, ...]) -> Floats:
        """Covariances of the conditional means, given the draws of some groups."""
        table = rows.reshape(len(rows), *self.lengths)
        for axis, chances in enumerate(self.chances):
            if self.groups[axis] not in groups:
                table = np.expand_dims(np.tensordot(table, chances, ([axis + 1], [0])), axis + 1)
        table = np.broadcast_to(table, (len(rows), *self.lengths)).reshape(len(rows), -1)
        off = table - (rows @ self.whole)[:, None]
        found: Floats = (off * self.whole) @ off.T
        return found


def parts(outcomes: Outcomes, rows: Floats) -> dict[frozenset[int], Floats]:
    """What each set of groups adds to the covariance (Hoeffding 1948, equation 5.3)."""
    names = sorted(set(outcomes.groups))
    sets = [s for n in range(1, len(names) + 1) for s in itertools.combinations(names, n)]
    explained = {frozenset(one): outcomes.explained(rows, one) for one in sets}
    found: dict[frozenset[int], Floats] = {}
    for one, whole in explained.items():
        found[one] = whole - sum((found[part] for part in found if part < one), np.zeros(1))
    return found


def generated(seed: int) -> tuple[list[Integrand], list[tuple[Value, str, int]]] | None:
    made = Expressions(seed)
    laws = {name: made.random.choice(list(LAWS)) for name in GROUPS}
    laws["a"] = made.random.choice(("bernoulli(0.3)", "bernoulli(0.5)"))
    shapes = {"v": "[2]", "w": "[2]", "M": "[2, 2]"}
    scope = lowering("; ".join(f"{n} ~ {law}{shapes.get(n, '')}" for n, law in laws.items()))
    shape = made.random.choice(((), (), (2,), (2, 2)))
    try:
        one, other = (expressed(scope, made.of(shape, 2)) for _ in range(2))
    except DropcheckError:  # a fixed number that is none, such as 0 / 0
        return None
    centre = made.random.choice((0.0, 1.0, -0.3))
    integrands = [
        Integrand(factors=((one, 1),), centres=(centre,)),
        Integrand(factors=((one, 1), (other, 1)), centres=(centre, 0.0)),
        Integrand(factors=((other, 2),), centres=(0.0,)),
    ]
    return integrands, [(expressed(scope, n), law, GROUPS[n]) for n, law in laws.items()]


def checked(seed: int, groups: Mapping[str, int] | None) -> ExactMoments | None:
    """The exact moments, held against all outcomes; None where they are not known."""
    case = generated(seed)
    if case is None:
        return None
    integrands, draws = case
    found = exact_moments(integrands, groups)
    if found is None:
        return None
    outcomes = Outcomes(draws)
    rows = np.array([outcomes.integrand(one) for one in integrands])
    scale = np.sqrt(rows**2 @ outcomes.whole)
    assert np.abs(found.means - rows @ outcomes.whole) == pytest.approx(
        0, abs=1e-9 * max(scale, default=1.0) + 1e-12
    )
    # what may have been lost to rounding in eighth powers stands for what is 0
    room = 1e-8 * np.outer(scale, scale) + 1e-12
    if groups is GROUPS:
        for linked, truth in parts(outcomes, rows).items():
            own = found.components.get(linked, np.zeros_like(truth))
            assert (np.abs(own - truth) <= room).all()
    else:
        assert (np.abs(found.covariance(1) - outcomes.explained(rows, (0, 1, 2))) <= room).all()
    return found


ALL_IN_ONE = dict.fromkeys(GROUPS, 0)


@pytest.mark.parametrize("groups", [GROUPS, ALL_IN_ONE], ids=["crossed", "plain"])
def test_moments_are_those_of_all_outcomes(groups: Mapping[str, int]) -> None:
    known = [checked(seed, groups) is not None for seed in SEEDS]
    assert groups is GROUPS or sum(known) >= 25


def test_moments_by_outcomes_are_those_of_all_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dropcheck.analysis.exact.FEW_OUTCOMES", 20_000)
    assert [seed for seed in SEEDS if checked(seed, None) is None] != [*SEEDS]


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


def test_either_of_independent_events() -> None:
    truth = 1 - (1 - math.exp(-1)) ** 3
    assert is_exactly("x, y, z ~ exponential(1)", "P(x > 1 or y > 1 or z > 1)", truth)


@pytest.mark.parametrize("size", [3, 64])
def test_gradient_descent_in_many_dimensions(size: int) -> None:
    """E|w'|² = (1 - 0.2 + 0.01 (n + 2)) E|w|² + 0.01 n (Isserlis 1918)."""
    square = float(size)
    for _ in range(4):
        square = (0.8 + 0.01 * (size + 2)) * square + 0.01 * size
    assert is_exactly(descent(4, f"[{size}]", "w @ x"), "E(sum(w**2))", square)


@pytest.mark.parametrize("d", [1, 64, 1_000_000])
def test_scalar_product(d: int) -> None:
    """E(q·k)² = d and E(q·k)⁴ = 3 d² + 6 d, so that the square has variance 2 d² + 6 d."""
    model = f"q ~ normal(0, 1)[{d}]; k ~ normal(0, 1)[{d}]"
    assert is_exactly(model, "E((q @ k)**2)", d)
    assert is_exactly(model, "Var((q @ k)**2)", 2 * d**2 + 6 * d)


KNOWN = [
    ("q ~ normal(0, 1)[16]; z ~ normal(0, 1)[16]", "q @ (0.6 * q + 0.8 * z)", 9.6, 16 * 1.36),
    ("Q ~ normal(0, 1)[16, 64]; K ~ normal(0, 1)[16, 64]", "Q @ K.T / 8", 0, 1),
    ("x ~ normal(1, 2)[1000000]", "mean(x)", 1, 4e-6),
    ("x ~ exponential(2)", "x**3", 48, 46080 - 48**2),
    ("x ~ laplace(0, 1)[3]", "sum(x**2)", 6, 60),
    ("s ~ exponential(2); x ~ normal(3, s)", "x", 3, 8),
    ("l ~ uniform(0, 1); x ~ exponential(l)", "x", 0.5, 2 / 3 - 1 / 4),
    ("m ~ normal([1, 2, 3], [1, 1, 2])", "sum(m)", 6, 6),
    ("m ~ bernoulli(0.25)[8]", "all(m) + 0", 4**-8, 4**-8 * (1 - 4**-8)),
    ("m ~ bernoulli(0.25)[8]", "any(m) + 0", 1 - 0.75**8, (1 - 0.75**8) * 0.75**8),
    ("m ~ bernoulli(0.5); x ~ normal(2, 1)", "x if m else 0", 1, 1.5),
    ("x ~ normal(0, 1)", "relu(x)", 1 / math.sqrt(2 * math.pi), 0.5 - 0.5 / math.pi),
    ("x ~ normal(0, 1); y ~ normal(0, 1)", "relu(x) * y", 0, 0.5),
    ("x ~ normal(0, 1)[4]", "norm(x)**2", 4, 8),
    ("x ~ normal(0, 1)[500]", "cumsum(x)[499]", 0, 500),
    ("A ~ rademacher()[3, 3]", "trace(A @ A)", 3, 12),
    ("A ~ normal(0, 1)[3, 3]", "det(A)", 0, 6),  # n!
    ("x ~ normal(3, 2)[5]", "var(x, ddof=1)", 4, 2 * 4**2 / 4),
    ("x ~ normal(1, 0.5); m ~ bernoulli(0.9)[24]", "prod(m / 0.9) * x", 1, 1.25 * 0.9**-24 - 1),
    # of orders above those that are listed of a law
    ("x ~ normal(0, 1)", "x**5", 0, 945),
    ("x ~ normal(0, 1)[3]", "sum((x**2 + 1)**4)", 3 * 188, 3 * (3460368 - 188**2)),
    ("x ~ exponential(2); y ~ poisson(3)", "y * x**6", 138240, 12 * 4096 * 479001600 - 138240**2),
    # E(t - w·y)² is (t - w·x)² + p/q Σ w² x²
    ("m ~ bernoulli(0.8)[3]", "1 - [0.5, -1, 2] @ ([1, 2, -0.5] * m / 0.8)", 3.5, 0.25 * 5.25),
    ("r ~ rademacher()[3]; m ~ bernoulli(0.25)", "sum(exp(r)) * exp(m)",
     3 * math.cosh(1) * (0.75 + 0.25 * math.e), None),
    ("x ~ normal(0, 1)", "x * relu(x)", 0.5, 1.25),
]  # fmt: skip


@pytest.mark.parametrize(("model", "text", "mean", "variance"), KNOWN)
def test_known_moments(model: str, text: str, mean: float, variance: float | None) -> None:
    assert is_exactly(model, f"E({text})", mean)
    if variance is not None:
        assert is_exactly(model, f"Var({text})", variance)


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
