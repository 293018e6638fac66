"""Bounds of norms are never below the truth, and close to it where they can be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from fresh_norms import centred_norm, norm
from lowered import expressed, lowered, lowering
from made_expressions import made
from outcomes import outcomes_of
from scipy.special import ndtr

from dropcheck.analysis.moments import norms as norms_module
from dropcheck.analysis.moments.dissection import Dissection
from dropcheck.analysis.moments.norms import Norms, Quantity
from dropcheck.analysis.moments.single_draw import expectation
from dropcheck.language.graph import Value, kernel_of, ordered
from dropcheck.vocabulary.function import Array, X
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS, SIGNS
from dropcheck.vocabulary.hulls import EVERYWHERE, Use
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.majorants.rule import NONE, Applied, Majorant

ORDERS = (1.0, 1.3, 2.0, 3.0, 4.0, 6.0)
INF = math.inf

# ---- small discrete models, all outcomes of which are known --------------------------------------


def below_the_truth(values: Sequence[Value], seed: int) -> list[str]:
    """The bounds of some quantities, and of all below them, that are below the truth.

    Of every other seed no hull is known, and of most nothing is integrated: so the rules have to
    stand by themselves.
    """
    table = outcomes_of(values)
    if table is None:
        return []
    live, known = table.chances > 0, Norms(integrate=seed % 3 == 0)
    chances = table.chances[live]
    with pytest.MonkeyPatch.context() as patch:
        if seed % 2:
            patch.setattr(norms_module, "hull_of", lambda *_: EVERYWHERE)
        for value in ordered(values):
            known.quantity(value)
    found: list[str] = []
    for value in ordered(values):
        array = table.of(value)[:, live]
        if array.size and not np.isinf(array).any():
            found += [f"{value.operation}: {one}" for one in _wrong(known, value, array, chances)]
    return found


def _wrong(known: Norms, value: Value, array: Array, chances: Array) -> Iterator[str]:
    defined = not np.isnan(array).any()
    array = np.nan_to_num(array)  # what is undefined counts as 0

    def largest(of: Array) -> float:
        return float((of @ chances).max())

    with np.errstate(all="ignore"):
        truths = {f"norm {p}": (largest(np.abs(array) ** p) ** (1 / p), p) for p in ORDERS}
        for name, (truth, p) in truths.items():
            if not known.norm(value, p) >= truth * (1 - 1e-9):
                yield name
            if not known.centred_norm(value, 0.7, p) >= (
                largest(np.abs(array - 0.7 * defined) ** p) ** (1 / p) * (1 - 1e-9) - 0.7
            ):
                yield f"centred {name}"
        if defined:
            yield from _wrong_of_defined(known, value, array, chances)
        for r in (0.5, 1.0, 2.0):
            truth = largest(np.abs(array) ** -r) ** (1 / r)
            bound = known.ask(value, partial(Quantity.inverse, r=r))
            if truth < INF and not bound >= truth * (1 - 1e-9):  # 0 may be an underflow
                yield f"inverse {r}"


def _wrong_of_defined(known: Norms, value: Value, array: Array, chances: Array) -> Iterator[str]:
    means = array @ chances
    for p in ORDERS:
        for centre in (means[:, np.newaxis], 0.7, -3.0):
            truth = float((np.abs(array - centre) ** p @ chances).max() ** (1 / p))
            if isinstance(centre, float):
                bound = known.centred_norm(value, centre, p)
            else:
                bound = known.ask(value, partial(Quantity.spread, p=p))
            if not bound >= truth * (1 - 1e-9) - 1e-13:
                yield f"about {centre}, {p}"
    for t in (0.5, -0.7, 2.0, -3.0):
        most = t * array.max() if t > 0 else t * array.min()
        truth = most + float(np.log((np.exp(t * array - most) @ chances).max()))
        bound = known.ask(value, partial(Quantity.log_moment, t=t))
        if not bound >= truth - 1e-9 * abs(truth) - 1e-13:
            yield f"log-moment {t}"
    quantity = known.quantity(value)
    for t in (0.03, 0.5, -0.7, 2.0, -3.0):
        about = t * (array - means[:, np.newaxis])
        most = float(about.max())
        truth = most + float(np.log((np.exp(about - most) @ chances).max()))
        if not quantity.variance_proxy * t * t / 2 >= truth * (1 - 1e-9) - 1e-13:
            yield f"variance proxy, {t}"
    if not quantity.mean.low - 1e-9 <= means.min() <= means.max() <= quantity.mean.high + 1e-9:
        yield "mean"
    yield from _dependent(quantity, array.reshape(*value.shape, -1), chances)


def _dependent(quantity: Quantity, array: Array, chances: Array) -> Iterator[str]:
    """Axes whose slices are not independent, or not of mean 0 given those before them."""
    draws = np.random.default_rng(0)
    for axis in quantity.apart | quantity.centred:
        slices = np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1, array.shape[-1])
        waves = [
            np.sin(np.einsum("iek,e->ik", slices, draws.normal(size=slices.shape[1])) + shift)
            for shift in (0.3, 1.1)
        ]
        for i, j in combinations(range(len(slices)), 2):
            if axis in quantity.apart:
                first, second = waves[0][i], waves[1][j]
                joint = (first * second) @ chances
                if abs(joint - (first @ chances) * (second @ chances)) > 1e-9:
                    yield f"apart {axis}"
            if (
                axis in quantity.centred
                and np.abs((slices[i] * waves[0][j]) @ chances).max() > 1e-9
            ):
                yield f"centred {axis}"


@pytest.mark.parametrize("first", range(0, 160, 20))
def test_no_bound_of_a_made_model_is_below_the_truth(first: int) -> None:
    values = {seed: made(seed) for seed in range(first, first + 20)}
    assert {
        seed: found for seed, of in values.items() if (found := below_the_truth(of, seed))
    } == {}


OF_WEIGHTS = (
    "w ~ rademacher()[4]; u ~ discrete_uniform(-1, 1)[3]; b ~ choice([-1, 0.5, 2])[3]; m ~ "
    "bernoulli(0.3)[4]; s ~ rademacher()[3]; l ~ choice([-1, 0, 5]); g ~ binomial(2, 0.2)"
)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "text",
    ["sum(w)", "w @ m", "w @ (m + 3)", "sum(w * m)", "mean(w * (m - 0.3))", "u @ b", "(u * s) @ b",
     "sum(u * b)", "sum(u)", "u @ [1, -2, 5]", "dot(w, arange(4))", "cumsum(w * l)", "(u * l) @ b",
     "sum(w * sum(m))", "w @ (m * sum(m))", "sum(u * g * b)", "sum(u + s)", "u @ (b * sum(b))",
     "outer(u, s) @ b", "sum(outer(u, b), axis=0)", "relu(u @ b)**2", "(2 * u - s) @ b"],
)  # fmt: skip
def test_no_bound_of_a_sum_with_weights_is_below_the_truth(text: str, seed: int) -> None:
    assert below_the_truth([lowered(OF_WEIGHTS, text)], seed) == []


MISTAKES: dict[str, Any] = {
    "what depends is taken for independent": (norms_module, "_disjoint", lambda _: True),
    "slices": (norms_module, "alignment_of", lambda one, _: (frozenset(),) * len(one.shape)),
    "orders": (norms_module, "grouped", lambda parts, _: [[part] for part in parts]),
    "signs": (norms_module, "signed_axes", lambda one: one.apart),
    "centring": (norms_module, "centring", lambda _: 0.5),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*MISTAKES[mistake])
    dependent = [lowered("x ~ binomial(2, 0.05)", "x * (x + 0.01)")]
    assert below_the_truth(dependent, 1) or any(
        below_the_truth(made(seed), seed) for seed in range(150)
    )


# ---- loops, whose sums meet a draw more than once ------------------------------------------------

# few outcomes, so that the truth is known: a body, what is asked after three steps
LOOPS = {
    "x = x - 0.3 * (x + g)": "x",
    "x = x - (x - g) / 4": "x**2",
    "v = 0.5 * v + g;x = x - 0.1 * v": "x",
    "v = 0.5 * v + x + g;x = x - 0.1 * v": "[x, v]",
    "x = x + x * w": "x",
    "x = x + 0.1 * x - x * w + g": "x",
    "x = x + w * (x + g)": "x * g[-1]",
    "x = x + abs(x) * w;p = x": "sum(p)",
    "x = x / 3 + g;p = x": "mean(p)",
    "v = b;x = v + b * (w + 2)": "x",
    "x = x / 2 + g;p = x": "p[-1] - p[-2] - g[-1]",
    "x = x + g - 0.5;p = -x": "sum(p) + x",
    "x = x + w * b;y = g * w": "x + y[-1]",
    "x = x + w;y = x * w": "x - y[-1]",
    "x = maximum(0, x + g)": "x",
    "x = relu(x - g)": "x",
    "x = minimum(0, x + g + w)": "x",
    "x = maximum(x, g)": "x - g[0]",
}


def of_loop(body: str, asked: str) -> Value:
    lines = "\n".join(f"  {line}" for line in body.split(";"))
    draws = "  g ~ choice([-1, 0.5, 2])\n  w ~ rademacher()\n"
    model = f"b ~ rademacher()\nx = 1 + b / 2\nv = 0\nfor t in range(3):\n{draws}{lines}"
    return expressed(lowering(model), asked)


@pytest.mark.parametrize("depth", [0, 64])
@pytest.mark.parametrize(("body", "asked"), LOOPS.items())
def test_no_bound_of_a_loop_is_below_the_truth(
    body: str, asked: str, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(norms_module, "MOST_DEPTH", depth)
    assert below_the_truth([of_loop(body, asked)], 1) == []


MISTAKES_IN_LOOPS: dict[str, Any] = {
    "what meets is taken apart": (Dissection, "_meets", lambda *_: False),
    "what does not turn": (Dissection, "_turns", lambda *_: True),
    "all turns": (norms_module, "turns_with", lambda one, *_: one.sources),
    "exponentials": (norms_module, "norm_by_exponentials", lambda *_: 0.01),
}


@pytest.mark.parametrize("mistake", MISTAKES_IN_LOOPS)
def test_a_mistake_in_loops_is_found(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(norms_module, "MOST_DEPTH", 0)
    monkeypatch.setattr(*MISTAKES_IN_LOOPS[mistake])
    assert any(below_the_truth([of_loop(*loop)], 1) for loop in LOOPS.items())


# after so many steps, and by what factor the bound of order 2 may be larger than the truth
LONG = [
    ("x = x - 0.1 * (x + z)", 200, 0.1 / math.sqrt(0.19), 1),
    ("v = 0.9 * v + z;x = x - 0.01 * v", 100, 0.92878, 1),
    ("x = x + W @ x / 4", 8, 16, 1),
    ("x = x + 0.02 * x * z", 250, 1.0004**125, 1),
    ("x = maximum(0, x + s - 2 * s1)", 300, 2, 4.5),
]


@pytest.mark.parametrize(("body", "steps", "truth", "factor"), LONG)
def test_bounds_do_not_grow_with_the_steps_where_the_truth_does_not(
    body: str, steps: int, truth: float, factor: float
) -> None:
    begins = "normal(0, 1)[16]" if "W" in body else "normal(0, 1)" if "* x *" in body else None
    first = f"x ~ {begins}" if begins else "x = 0"
    draws = "  z ~ normal(0, 1)\n  W ~ normal(0, 1)[16, 16]\n  s, s1 ~ exponential(1)\n"
    lines = "\n".join(f"  {line}" for line in body.split(";"))
    value = expressed(lowering(f"{first}\nv = 0\nfor t in range({steps}):\n{draws}{lines}"), "x")
    bound = norm(value, 2)
    assert truth * (1 - 1e-2) <= bound <= truth * factor * (1 + 1e-2)


def test_a_square_of_squares_is_not_opened_without_end() -> None:
    value = expressed(lowering("x ~ normal(0, 1)\nfor t in range(200):\n  x = x * x"), "x")
    assert norm(value, 2) == INF


# ---- functions of one draw, by quadrature --------------------------------------------------------

LAWS_OF_ONE = {
    "normal(0.3, 1.2)": ("normal", (0.3, 1.2)), "exponential(0.7)": ("exponential", (0.7,)),
    "uniform(-0.9, 0.8)": ("uniform", (-0.9, 0.8)), "gamma(2.5, 0.4)": ("gamma", (2.5, 0.4)),
    "laplace(0, 0.2)": ("laplace", (0.0, 0.2)), "student_t(9)": ("student_t", (9.0,)),
    "uniform(0.5, 3)": ("uniform", (0.5, 3.0)), "lognormal(0, 0.5)": ("lognormal", (0.0, 0.5)),
}  # fmt: skip
OF_ONE = sorted(
    name for name, function in FUNCTIONS.items() if function.parameters == X and function.by_element
)


@pytest.mark.parametrize("law", LAWS_OF_ONE)
@pytest.mark.parametrize("function", OF_ONE)
def test_functions_of_one_draw_are_no_larger_than_their_bounds(function: str, law: str) -> None:
    value = expressed(lowering(f"x ~ {law}"), f"{function}(x)")
    name, arguments = LAWS_OF_ONE[law]
    low, high = LAWS[name].support(*arguments)
    # cells whose middles are no point where a function jumps, and their exact probabilities
    edges = np.linspace(max(low, -60.0), min(high, 60.0), 48_001)
    points = (edges[1:] + edges[:-1]) / 2
    chances = np.diff(LAWS[name].cdf(edges, *arguments))
    with np.errstate(all="ignore"):
        sizes = np.abs(kernel_of(value)(points))
    sizes[~np.isfinite(sizes)] = 0.0
    known = Norms(integrate=False)
    for p in (1.0, 2.0, 3.0):
        assert known.norm(value, p) >= (sizes**p @ chances) ** (1 / p) * (1 - 2e-3)


# ---- what is known in closed form ----------------------------------------------------------------

MODEL = (
    "z ~ normal(0, 1); y ~ normal(0, 1); n ~ normal(3, 2); b ~ bernoulli(0.2); big ~ normal(1e8, 1)"
    "; v ~ normal(0, 1)[100]; w ~ normal(0, 1)[100]; m ~ bernoulli(0.2)[100]; f ~ rademacher()[30]"
    "; q ~ normal(0, 1)[7, 100]; k ~ normal(0, 1)[100, 5]; ex ~ exponential(2); t ~ student_t(3)"
    "; c ~ cauchy(0, 1); pa ~ pareto(1.5, 1); s ~ normal(0, ex); u ~ uniform(1, 2); p ~ poisson(3)"
    "; pe ~ poisson(ex); xs ~ normal(5, 1)[64]; lo ~ lognormal(0, 1); g ~ normal(5, 1)[100]"
)

# expression, order, the norm itself, and by what factor its bound may be larger
KNOWN: list[tuple[str, float, float, float]] = [
    ("z", 4, 3**0.25, 1), ("n - 3", 2, 2, 1), ("z * y", 4, 9**0.25, 1), ("z * z", 2, 3**0.5, 1),
    ("z**4", 2, 105**0.5, 1), ("b * z", 2, 0.2**0.5, 1), ("b * b * b", 2, 0.2**0.5, 1),
    ("z - z", 2, 0, 1), ("z + y", 2, 2**0.5, 1), ("z + y", 4, 12**0.25, 1.5),
    ("mean(v)", 2, 0.1, 1), ("sum(v)", 4, 10 * 3**0.25, 1), ("v @ w", 2, 10, 1),
    ("(q @ k)[0, 1]", 2, 10, 1), ("(q @ k)[0, 1]", 4, (3 * 100**2 + 6 * 100) ** 0.25, 1.11),
    ("sum(m * v)", 2, 20**0.5, 1), ("sum(v * z)", 2, 10, 1), ("v @ v", 2, 10200**0.5, 1.72),
    ("big - 1e8", 2, 1, 1.0001), ("mean(xs) - 5", 2, 0.125, 1.0001),
    ("mean(g)", 2, 25.01**0.5, 1.1),
    ("exp(z)", 2, math.exp(1), 1), ("exp(z + n)", 2, math.exp(3 + 5), 1),
    ("1 / exp(z)", 2, math.exp(1), 1),
    ("lo", 2, math.exp(1), 1), ("2**p", 1, math.exp(3), 1), ("prod(1 + f)", 2, 2.0**15, 1),
    ("prod(1 + f) + z", 2, (2.0**30 + 1) ** 0.5, 1), ("ex", 3, 2 * 6 ** (1 / 3), 1),
    ("s", 2, 8**0.5, 1), ("z / u", 2, 0.5**0.5, 1.5), ("max(v)", 2, 2.5, 1.5),
    ("norm(v)", 2, 10, 1), ("var(v)", 1, 0.99, 1.1), ("std(v)", 2, 0.99**0.5, 1.1),
    ("relu(z)", 2, 0.5**0.5, 1.5), ("tanh(z)", 2, 0.6279, 1.7), ("pe", 2, 10**0.5, 1.5),
    ("sum(f)", 6, 30**0.5 * 15 ** (1 / 6), 1.04), ("ones(30) @ f", 4, (2700 - 60) ** 0.25, 1.01),
    ("v @ arange(100)", 8, 328350**0.5 * 105**0.125, 1),
    ("sum(v * relu(k[:, 0]))", 2, 50**0.5, 1.5),
    ("g @ w", 4, (3 * (2600**2 + 100 * 102)) ** 0.25, 1.05),
]  # fmt: skip


@pytest.mark.parametrize(("text", "order", "truth", "factor"), KNOWN)
def test_bounds_are_close_where_they_can_be(
    text: str, order: float, truth: float, factor: float
) -> None:
    bound = norm(expressed(lowering(MODEL), text), order)
    assert truth * (1 - 1e-9) <= bound <= truth * factor * (1 + 1e-9)


# exponents in which all but a line cancels, with log E exp(p · exponent)
EXPONENTS: list[tuple[str, float, float]] = [
    ("z**2 / 2 - (z - 1)**2 / 2", 4, 6), ("z * y - y * z + n", 2, 14),
    ("(z + y) * (z - y) - z**2", 1, INF),
    ("logdensity(normal(0, 1), n) - logdensity(normal(3, 1), n)", 1, 13.5),
    ("logdensity(normal(1, 2), z) - logdensity(normal(0, 2), z) + y", 2, 1.875),
    ("(z - ex) * (z + ex) + ex**2 - z**2 + 0.1 * ex", 2, -math.log(0.6)), ("z * y", 1, INF),
]  # fmt: skip


@pytest.mark.parametrize(("exponent", "order", "log_moment"), EXPONENTS)
def test_what_cancels_in_an_exponent_does_not_count(
    exponent: str, order: float, log_moment: float
) -> None:
    value = expressed(lowering(MODEL), f"exp({exponent})")
    known = Norms(integrate=False)
    assert known.norm(value, order) == pytest.approx(math.exp(log_moment / order), rel=1e-6)


# exponents with squares and products of normal numbers, with E exp(exponent)
SQUARES: list[tuple[str, float, float]] = [
    ("0.3 * z**2", 0.4**-0.5, 1), ("-0.3 * (z + 2)**2", 1.6**-0.5 * math.exp(-1.2 / 1.6), 4),
    ("n**2 / 10", 0.2**-0.5 * math.exp(0.9 / 0.2), 1),
    ("0.1 * (z + y - 1)**2", 0.6**-0.5 * math.exp(0.1 / 0.6), 1),
    ("0.1 * sum(v[0:5]**2)", 0.8**-2.5, 1), ("0.1 * (v[0:5] @ v[0:5])", 0.8**-2.5, 1),
    ("z * y / 2", 0.75**-0.5, 1), ("n * y / 4", 0.75**-0.5 * math.exp(9 / 32 / 0.75), 1),
    ("(v @ w) / 4", (15 / 16) ** -50, 1), ("z * u", 1.85, 3), ("z * z / 4", 0.5**-0.5, 1),
    ("0.1 * (z + b)**2", 0.8**-0.5 * (0.8 + 0.2 * math.exp(0.125)), 1.2),
    # the rule has no bound where there is none, or where the products are no squares
    ("0.5 * z**2", INF, 1), ("z * y * 1.01", INF, 1), ("0.1 * t**2", INF, 1),
    ("0.001 * (h @ h)[0, 1]", 1, INF), ("0.1 * (z + y)**2 * y", INF, 1),
]  # fmt: skip


@pytest.mark.parametrize(("exponent", "truth", "factor"), SQUARES)
def test_exponentials_of_squares_are_bounded(exponent: str, truth: float, factor: float) -> None:
    value = expressed(lowering(f"{MODEL}; h ~ normal(0, 1)[3, 3]"), f"exp({exponent})")
    bound = Norms(integrate=False).norm(value, 1.0)
    assert truth * (1 - 1e-9) <= bound
    assert bound <= truth * factor * (1 + 1e-9)


def test_a_mean_by_importance_sampling_is_known() -> None:
    text = "exp(logdensity(normal(0, 1), w) - logdensity(normal(4, 1), w)) * (w > 4)"
    value = lowered("w ~ normal(4, 1)", text)
    found = expectation(value, Norms(integrate=False).norm)
    assert found.value == pytest.approx(float(LAWS["normal"].survival(4.0, 0.0, 1.0)), rel=1e-9)
    assert found.error <= 1e-9 * found.value
    assert norm(value, 2) == pytest.approx(math.sqrt(math.exp(16) * ndtr(-8.0)), rel=1e-6)


@pytest.mark.parametrize(
    ("text", "order"),
    [("c", 1), ("t", 3), ("t", 4), ("t * t", 1.5), ("pa", 1.5), ("exp(ex)", 1), ("1 / z", 1),
     ("exp(lo)", 1), ("inv([[z, y], [y, z]])", 1), ("tan(z)", 1), ("z * c", 1)],
)  # fmt: skip
def test_what_has_no_moment_has_no_bound(text: str, order: float) -> None:
    assert norm(expressed(lowering(MODEL), text), order) == INF


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("t", 2.9),
        ("pa", 1.4),
        ("t + z", 2.5),
        ("tanh(c)", 8),
        ("sqrt(abs(t))", 5.9),
        ("t * z", 2.9),
    ],
)
def test_what_has_a_moment_has_a_bound(text: str, order: float) -> None:
    assert norm(expressed(lowering(MODEL), text), order) < INF


def test_a_shift_does_not_widen_what_is_taken_about_it() -> None:
    scope = lowering(MODEL)
    assert centred_norm(expressed(scope, "big"), 1e8, 2) == pytest.approx(1, rel=1e-6)
    assert centred_norm(expressed(scope, "n"), 2.5, 2) == pytest.approx(2.5, rel=1e-6)
    assert centred_norm(expressed(scope, "mean(g)"), 5.0, 2) == pytest.approx(0.1, rel=1e-6)


# law, line, order, E|line|^-order: by Johnson, Kotz and Balakrishnan (1994), or by integration
NEAR_ZERO: list[tuple[str, str, float, float]] = [
    ("uniform(0, 2)", "x", 0.5, 2**0.5), ("exponential(3)", "x", 0.5, (math.pi / 3) ** 0.5),
    ("gamma(2.5, 2)", "x", 2, math.gamma(0.5) / math.gamma(2.5) / 4), ("beta(2, 3)", "x", 1, 4),
    ("gamma(0.3, 2)", "x", 0.2, math.gamma(0.1) / math.gamma(0.3) * 2**-0.2),
    ("normal(0, 1)", "x", 0.5, 2**-0.25 * math.gamma(0.25) / math.pi**0.5),
    ("normal(0, 1)", "5 * x", 0.9, 5**-0.9 * 2**-0.45 * math.gamma(0.05) / math.pi**0.5),
    ("beta(2, 3)", "1 - x", 2, 6), ("uniform(5, 6)", "x - 5", 0.5, 2), ("f(6, 4)", "x", 1, 1.5),
    ("uniform(5, 6)", "6 - x", 0.5, 2), ("laplace(0, 1)", "x", 0.5, math.pi**0.5),
    ("rayleigh(1)", "x", 1, (math.pi / 2) ** 0.5), ("chi_square(5)", "x", 1, 1 / 3),
    ("gamma(9, 1)", "x", 4, 1 / (8 * 7 * 6 * 5)), ("gamma(50, 2)", "x", 1, 1 / 98),
    ("lognormal(0, 1)", "x", 2, math.exp(2)), ("cauchy(0, 1)", "x", 0.5, 2**0.5),
]  # fmt: skip


@pytest.mark.parametrize(("law", "text", "order", "truth"), NEAR_ZERO)
def test_negative_moments_are_bounded(law: str, text: str, order: float, truth: float) -> None:
    known, value = Norms(), lowered(f"x ~ {law}", text)
    bound = known.ask(value, partial(Quantity.inverse, r=order)) ** order
    assert truth <= bound <= 1.5 * truth


@pytest.mark.parametrize(
    ("law", "text", "order"),
    [("normal(0, 1)", "x", 1), ("uniform(0, 1)", "x", 1), ("gamma(0.5, 1)", "x", 0.5),
     ("rayleigh(1)", "x", 2), ("poisson(3)", "x", 0.5), ("exponential(1)", "x - 1", 1)],
)  # fmt: skip
def test_a_negative_moment_that_is_infinite_has_no_bound(law: str, text: str, order: float) -> None:
    known, value = Norms(), lowered(f"x ~ {law}", text)
    assert known.ask(value, partial(Quantity.inverse, r=order)) == INF


# ---- large models --------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["{0} + x", "{0} * b", "maximum({0}, y)", "tanh({0}) + {0}"])
def test_the_work_grows_with_the_lines(step: str) -> None:
    lines = 2000
    model = [f"v{n} = {step.format(f'v{n - 1}')}" for n in range(1, lines)]
    start = "x ~ normal(0, 1); b ~ bernoulli(0.5); y ~ normal(0, 1); v0 = x"
    value = expressed(lowering("; ".join([start, *model])), f"v{lines - 1}")
    known = Norms()
    assert known.norm(value, 2) > 0
    assert known.bounds <= 3 * lines + 100


def test_large_arrays_cost_nothing() -> None:
    scope = lowering("v ~ normal(0, 1)[1000000]; q ~ normal(0, 1)[1000000]")
    known = Norms()
    assert known.norm(expressed(scope, "mean(v)"), 2) == pytest.approx(1e-3)
    assert known.norm(expressed(scope, "q @ v"), 2) == pytest.approx(1e3)


# ---- what the vocabulary says --------------------------------------------------------------------

# nothing bounds them but their hull, where there is one
WITHOUT = {
    "tan", "arctanh", "logit", "gamma", "lgamma", "digamma", "factorial", "inv", "pinv",
    "first", "density", "logdensity", "quantile_of", "size", "shape", "arange", "ones", "zeros",
    "eye", "float64", "float32", "bfloat16", "float16",
}  # fmt: skip


def test_every_function_has_a_majorant_or_is_known_to_have_none() -> None:
    tables: list[dict[str, Any]] = [FUNCTIONS, SIGNS, OF_LAWS]
    functions = {name: one for table in tables for name, one in table.items()}
    bounded = {name for name, one in functions.items() if _bounded(one)}
    without = {name for name, one in functions.items() if one.growth.majorant is NONE}
    assert without - bounded == WITHOUT


def _bounded(function: Any) -> bool:
    shapes = ((2, 2),) * len(function.parameters)
    of_law = function.name in OF_LAWS
    kernel = partial(function.kernel, law="cauchy") if of_law else function.kernel
    use = Use(kernel, (2, 2), shapes)
    with np.errstate(all="ignore"):
        try:
            return bool(function.bounds([EVERYWHERE] * len(shapes), use).bounded)
        except TypeError:  # a kernel of several arrays
            return False


def test_a_rule_that_is_not_stated_knows_nothing() -> None:
    use = Applied(
        arguments=(), options={}, shape=(), independent=True, same=False, parts=lambda: ()
    )
    majorant = Majorant()
    assert majorant.norm(use, 2) == majorant.spread(use, 2) == majorant.inverse(use, 2) == INF
