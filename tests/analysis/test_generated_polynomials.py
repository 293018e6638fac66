"""Exact moments of generated expressions, against a sum over all outcomes of small laws.

Every expression is made from seeded choices, so that nothing here is random from run to run.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from lowered import expressed, lowering

from dropcheck.analysis.exact import ExactMoments, Integrand, exact_moments
from dropcheck.errors import DropcheckError
from dropcheck.language.graph import Value, kernel_of, number, ordered
from dropcheck.vocabulary.function import Array

Floats = npt.NDArray[np.float64]
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
            lambda: f"take({vector()}, [1, 0])", lambda: f"concat({number()}, {number()})",
            lambda: f"roll({vector()}, 1)", lambda: f"solve([[2, 1], [1, 3]], {vector()})",
            lambda: vector() + "[::-1]", lambda: f"reshape({matrix()}, -1)[[2, 1]]",
            lambda: f"diag({matrix()})[[1, 1]]", lambda: f"kron({vector()}, {vector()})[1:3]",
        )  # fmt: skip
        matrices = (
            lambda: matrix() + "@" + matrix(), lambda: f"outer({vector()}, {vector()})",
            lambda: "diag" + vector(), lambda: matrix() + ".T",
            lambda: f"stack({vector()}, {vector()})", lambda: f"cumsum({matrix()}, axis=0)",
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


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("groups", [GROUPS, ALL_IN_ONE], ids=["crossed", "plain"])
def test_terms(seed: int, groups: Mapping[str, int]) -> None:
    checked(seed, groups)


@pytest.mark.parametrize("seed", SEEDS)
def test_outcomes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dropcheck.analysis.exact.FEW_OUTCOMES", 20_000)
    checked(seed, None)


def test_most_are_known() -> None:
    assert sum(checked(seed, ALL_IN_ONE) is not None for seed in SEEDS) >= 25
