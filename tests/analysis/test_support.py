"""Where values can lie, and whether they are defined: against hand, kernels and all outcomes."""

from __future__ import annotations

import itertools
import math
import random
import time
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest
from lowered import expressed, lowered, lowering
from outcomes import outcomes_of
from scipy import stats
from trials import compiled

from dropcheck.analysis.support import (
    ANALYTIC,
    GENERIC,
    NEVER,
    SURE,
    Known,
    Support,
    ends_of,
    may_be_undefined,
    of_function,
    support,
)
from dropcheck.errors import DropcheckError
from dropcheck.language.graph import Kind, computed_from, number, ordered
from dropcheck.vocabulary.domains import Hull
from dropcheck.vocabulary.function import PAIR, Array, entry
from dropcheck.vocabulary.functions import FUNCTIONS_OF_NUMBERS, SIGNS
from dropcheck.vocabulary.laws import LAWS

MODEL = (
    "u ~ uniform(-1, 2); v ~ uniform(0, 3)[4]; m ~ bernoulli(0.3); r ~ rademacher()[5]; "
    "x ~ normal(0, 1); z ~ normal(0, 1)[6]; n ~ binomial(7, 0.4); b ~ beta(2, 3); "
    "w ~ uniform(0.5, 2)[3]; d ~ dirichlet(w); c ~ categorical([0.2, 0.5, 0.3]); "
    "rb ~ bernoulli(b); rs ~ beta(w[0], w[1]); rc ~ categorical(d)"
)
DRAWS = 4096


def drawn(quantity: str, model: str = MODEL) -> tuple[Hull, npt.NDArray[np.float64]]:
    """Where a quantity can lie, and its values in some draws."""
    found = compiled(model, f"E({quantity}) == 1")
    (register,) = found.program.targets
    with np.errstate(all="ignore"):
        held = found.program.registers(np.random.default_rng(1), DRAWS)
    values = np.asarray(held[register], dtype=np.float64)
    return support(found.values[register]), values[np.isfinite(values)]


# Quantities and the ends of what they can be, worked out by hand; None where they are not tight.
QUANTITIES: list[tuple[str, float | None, float | None]] = [
    ("u", -1, 2), ("u - 1", -2, 1), ("-u", -2, 1), ("2 * u + v[0]", -2, 7), ("u * v[0]", -3, 6),
    ("u * u", 0, 4), ("u ** 2", 0, 4), ("u ** 3", -1, 8), ("abs(u)", 0, 2),
    ("u / (v[0] + 1)", -1, 2), ("relu(u)", 0, 2), ("exp(u)", math.exp(-1), math.exp(2)),
    ("erfc(u)", math.erfc(2), math.erfc(-1)), ("sin(x)", -1, 1), ("tanh(x)", -1, 1),
    ("clip(x, -2, 3)", -2, 3), ("minimum(u, 1)", -1, 1), ("maximum(u, v[0])", 0, 3),
    ("where(m == 1, u, v[0])", -1, 3), ("m", 0, 1), ("n", 0, 7), ("b", 0, 1), ("x > 1", 0, 1),
    ("sum(v)", 0, 12), ("mean(v)", 0, 3), ("prod(v)", 0, 81), ("cumsum(v)[3]", 0, 12),
    ("r @ r", None, 5), ("dot(r, r)", None, 5), ("max(softmax(z))", 0, 1), ("softmax(z)[2]", 0, 1),
    ("-sum(xlogy(softmax(z), softmax(z)))", 0, 6 / math.e),
    ("xlogy(v[0], v[0])", -1 / math.e, 3 * math.log(3)),
    ("xlogy(b, b)", -1 / math.e, 0), ("m * x - m * x", 0, 0), ("median(v)", 0, 3), ("c", 0, 2),
    # of laws whose values are bounded whatever their arguments
    ("max(d)", 0, 1), ("rb", 0, 1), ("rs - 1", -1, 0),
]  # fmt: skip


@pytest.mark.parametrize(("quantity", "low", "high"), QUANTITIES)
def test_values_lie_within_bounds_that_are_tight(
    quantity: str, low: float | None, high: float | None
) -> None:
    hull, values = drawn(quantity)
    assert values.min() >= hull.low
    assert values.max() <= hull.high
    if low is not None:
        assert hull.low == pytest.approx(low, rel=1e-9, abs=1e-9)
    if high is not None:
        assert hull.high == pytest.approx(high, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "quantity",
    [
        "x", "x - u", "x * m", "exp(x)", "1 / u", "log(v[0])", "xlogy(b, v[0])", "max(z)", "x ** 2",
        "rc",
    ],
)  # fmt: skip
def test_what_has_no_bounds_is_given_none(quantity: str) -> None:
    hull, _ = drawn(quantity)
    assert hull.width == math.inf


@pytest.mark.parametrize("quantity", ["1 / exp(x)", "2 / abs(x)", "0.3 * exp(x) + sigmoid(x)"])
def test_what_is_above_0_is_seen_to_be(quantity: str) -> None:
    hull, _ = drawn(quantity)
    assert (hull.low, hull.high) == (0.0, math.inf)


def test_the_place_of_the_largest_lies_on_its_axis() -> None:
    hull = support(lowered("x ~ normal(0, 1)[4, 3]", "max(argmax(x, axis=-1))"))
    assert (hull.low, hull.high) == pytest.approx((0, 2), abs=1e-9)


def test_the_first_true_element_has_a_place_or_none() -> None:
    """It is infinite where none is true, so that an end has to be put to it."""
    model = "x ~ discrete_uniform(0, 5)[9]"
    assert support(lowered(model, "first(x == 0)")) == Hull(0.0, math.inf)
    hull = support(lowered(model, "minimum(first(x == 0), 9)"))
    assert (hull.low, hull.high) == pytest.approx((0, 9), abs=1e-9)


# ---- quotients whose sides share what they are made of -------------------------------------------

# Tails so heavy that single elements stand out, and with them the ends of the quotients.
HEAVY = (
    "x ~ cauchy(0, 1)[6]; y ~ cauchy(0, 1)[6]; m ~ cauchy(0, 1)[4, 3]; k ~ cauchy(0, 1)[3, 3]; "
    "g ~ pareto(0.3, 1); h ~ pareto(0.3, 1); v ~ pareto(0.3, 1)[6]; s ~ cauchy(0, 1); "
    "t ~ cauchy(0, 1); w ~ pareto(0.3, 1)[4, 3]; c = [1, -2, 3, 0, 1, 1]"
)

BOUNDED: list[tuple[str, float, float]] = [
    # shares of sums
    ("g / (g + h)", 0, 1), ("h / (1 + (g + h))", 0, 1), ("v / sum(v)", 0, 1),
    ("v[2] / sum(v)", 0, 1), ("w / sum(w, axis=0, keepdims=1)", 0, 1),
    ("w / sum(w, axis=[0, 1])", 0, 1), ("exp(s) / (exp(s) + exp(t))", 0, 1),
    ("s**2 / (s**2 + t**2)", 0, 1),
    # lengths
    ("x / norm(x)", -1, 1), ("-2 * x[1] / norm(x)", -2, 2),
    ("x / sqrt(mean(x**2))", -math.sqrt(6), math.sqrt(6)),
    ("x / sqrt(sum(x * x) + 0.5)", -1, 1), ("x / (x @ x)**0.5", -1, 1),
    ("m / norm(m, axis=1, keepdims=1)", -1, 1),
    ("m / sqrt(mean(m**2, axis=0, keepdims=1) + 1e-5)", -2, 2),
    ("x / (norm(x) + 1e-8)", -1, 1),
    ("x / (2 * (1e-8 + norm(x, ord=1)) + g)", -0.5, 0.5),
    # products of two
    ("x @ y / (norm(x, ord=1) * norm(y))", -1, 1), ("x @ y / (norm(x) * norm(y))", -1, 1),
    ("dot(x, y) / (2 * norm(y) * sqrt(sum(x**2)))", -0.5, 0.5),
    # distances from the mean
    ("(x - mean(x)) / std(x)", -math.sqrt(5), math.sqrt(5)),
    ("(x - mean(x))[0] / std(x, ddof=1)", -5 / math.sqrt(6), 5 / math.sqrt(6)),
    ("(x - mean(x)) / sqrt(var(x) + 1e-5)", -math.sqrt(5), math.sqrt(5)),
    ("(m - mean(m, axis=0, keepdims=1)) / std(m, axis=0, keepdims=1)", -(3**0.5), 3**0.5),
]  # fmt: skip


@pytest.mark.parametrize(("quantity", "low", "high"), BOUNDED)
def test_a_share_is_bounded_and_the_bound_is_reached(
    quantity: str, low: float, high: float
) -> None:
    hull, values = drawn(quantity, HEAVY)
    assert (hull.low, hull.high) == pytest.approx((low, high), abs=1e-9)
    assert values.min() >= hull.low
    assert values.max() <= hull.high
    assert values.max() > 0.95 * high  # else the tails are not heavy enough to find a mistake


@pytest.mark.parametrize(
    "quantity",
    [
        "s / (s + t)",  # either may be negative
        "g / (g - h)", "g / (h + 1)", "x / sum(x)", "v / sum(w, axis=[0, 1])", "x / norm(y)",
        "x / norm(x, ord=1)**2",
        "x / norm(x, ord=0.5)",  # it is no larger than 1, but not by these rules
        "x @ y / (norm(x, ord=inf) * norm(y))", "x / (norm(x) - 1)", "x / (1 - norm(x))",
        "x / max(x)",
        "x / (norm(x) + s)", "k / norm(k, axis=0)",
        "x / sqrt(sum(x**2) - 0.5)", "x / sqrt(-(-(x @ x) + 9))",
        "x / sqrt(s + sum(x**2))", "(x - mean(y)) / std(x)", "(x - 1) / std(x)", "x / std(x)",
        "(k - mean(k, axis=0)) / std(k, axis=1, keepdims=1)",
        "x @ y / (norm(x) * norm(x))", "x @ y / (norm(x) + norm(y))", "x @ y / norm(x) / norm(x)",
        "x @ y / sqrt((x @ x) + (y @ y))",
        "mean((x - mean(x)) * (y - mean(x))) / (std(x) * std(y))",
        "mean((x - mean(x)) * y) / (std(x) * std(y))",  # it is: not by these rules
        "mean((x - mean(x)) * (y - mean(y))) / (norm(x) * std(y))",
        "x @ c / norm(x)",  # it is bounded, by norm(c): not by these rules
        "x * inf / norm(x)", "x / (0 * norm(x))", "mean(x) / std(x)",
    ],
)  # fmt: skip
def test_no_bound_is_made_up(quantity: str) -> None:
    hull, _ = drawn(quantity, HEAVY)
    assert hull.width == math.inf


# ---- each function of arrays, against its kernel -------------------------------------------------

CALLS = [
    "sum(x)", "sum(m, axis=0)", "mean(m, axis=1)", "prod(x)", "prod(m)", "var(x)", "std(x, ddof=1)",
    "norm(x)", "norm(x, ord=1)", "norm(x, ord=3)", "norm(x, ord=inf)", "norm(x, ord=0)",
    "max(m)", "min(x)", "median(x)", "quantile(x, 0.3)", "sort(x)", "cummax(x)", "cumsum(x)",
    "cumprod(x)", "diff(x)", "argmax(m)", "argmin(x)", "argsort(x)", "softmax(x)", "logsumexp(x)",
    "x[:3] @ m", "x @ x", "m.T @ m", "dot(m, m)", "outer(x, x)", "kron(x, m)", "trace(k)", "det(k)",
    "inv(k)", "qr_q(m)", "eigvalsh(k)", "eigvecsh(k)", "svdvals(m)", "pinv(m)", "first(x > 0.6)",
    "take(x, argmax(x))", "one_hot(argmax(x), 4)", "bincount(argsort(x), 4)", "tril(k)", "diag(x)",
    "solve(k, x[:3])", "linspace(x[0], x[1], 3)", "reshape(m, [2, 3])", "concat(x, x[:2])",
]  # fmt: skip
ENDS = [(-2.0, 3.0), (0.0, 1.0), (0.5, 2.5), (-3.0, -1.0), (-1.0, 0.0), (0.0, 0.0)]


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("call", CALLS)
def test_functions_of_arrays_keep_to_what_is_known(call: str, ends: tuple[float, float]) -> None:
    low, high = ends
    model = "x ~ uniform({0}, {1})[4]; m ~ uniform({0}, {1})[3, 2]; k ~ uniform({0}, {1})[3, 3]"
    value = lowered(model.format(low, high), call)
    if not value.random:
        return
    known, rng = Support().known(value), np.random.default_rng(4)
    for _ in range(20):
        places = rng.choice([low, high, 0.5 * low + 0.5 * high], 3)
        arrays: dict[int, npt.NDArray[np.float64]] = {}
        with np.errstate(all="ignore"):
            for one in ordered([value]):
                drawn = one.kind == Kind.DRAW
                made = rng.choice(places, (*one.shape, 1)) if drawn else computed_from(one, arrays)
                arrays[id(one)] = number(made)
        found = arrays[id(value)]
        if known.finite == SURE:
            assert not np.isinf(found).any()
        if known.number == SURE:
            assert not np.isnan(found).any()
        found = found[np.isfinite(found)]
        assert (found >= known.low - 1e-12 * abs(known.low)).all()
        assert (found <= known.high + 1e-12 * abs(known.high)).all()
        assert known.nonzero < SURE or found.all()
        assert not known.whole or (found == np.floor(found)).all()


# ---- whether a value is defined ------------------------------------------------------------------


def undefined(model: str, quantity: str, given: str | None = None) -> bool:
    scope = lowering(model)
    condition = None if given is None else expressed(scope, given)
    return may_be_undefined([(expressed(scope, quantity), condition)]) is not None


NORMAL = "x ~ normal(7, 1)"


@pytest.mark.parametrize(
    ("model", "quantity"),
    [
        (NORMAL, "sqrt(x)"), (NORMAL, "x**0.5"), (NORMAL, "x**-1.5"), (NORMAL, "log(x)"),
        ("x ~ normal(6, 1)", "log1p(x)"), (NORMAL, "arcsin(x / 14)"), (NORMAL, "arctanh(x / 14)"),
        (NORMAL, "logit(x / 14)"), (NORMAL, "clip(log(x), 0, 5)"), (NORMAL, "xlogy(x, x)"),
        (NORMAL, "clip(comb(x, 2), 0, 5)"), (NORMAL, "logdensity(exponential(1), x)"),
        (NORMAL, "clip(quantile_of(normal(0, 1), x / 14), 0, 5)"),
        ("x ~ normal(7, 1)[2]", "arctan(sqrt(max(x)))"),
        # 0 on one side alone, though each part is analytic on it
        (NORMAL, "clip(1 / (sqrt(x**2) + x), 0, 1)"), (NORMAL, "clip(1 / (abs(x) + x), 0, 1)"),
        (NORMAL, "clip(1 / (exp(log(x**2) / 2) + x), 0, 1)"),
        (NORMAL, "clip(1 / relu(x), 0, 1)"),
        (NORMAL, "clip(1 / (arctan(1 / x) + arctan(x) - pi / 2), 0, 1)"),
        ("s ~ normal(8, 1); x ~ normal(0, s)", "x"),
        ("a ~ normal(0, 1); b ~ normal(9, 1); x ~ uniform(a, b)", "tanh(x)"),
        ("n ~ poisson(30)", "clip(1 / n, 0, 1)"), ("n ~ poisson(30)", "clip(log(n), 0, 9)"),
        ("n ~ poisson(30)", "log(n - 0.5)"),
        ("m ~ bernoulli(0.9)[40]; x ~ normal(0, 1)[40]", "clip(sum(m * x) / sum(m), -1, 1)"),
        ("m ~ bernoulli(1e-9); x ~ normal(0, m)", "clip(x / x, 0, 2)"),
        ("n ~ poisson(20)", "take([1, 2, 3], minimum(n, 60) - 57)"),
        ("n ~ poisson(2)", "one_hot(minimum(n, 60), 50)[0]"),
        # hidden behind a guard that seldom opens
        ("n ~ poisson(2); x ~ normal(0, 1)", "where(n > 40, 1 / (x - x), 0)"),
        ("n ~ poisson(2)", "where(n > 40, inf, 0) - where(n > 40, inf, 0)"),
        ("m ~ bernoulli(0.5)[40]", "softmax(where(m, 1, -inf))[0]"),
        (NORMAL, "where(x > -1, sqrt(x), 0)"),
        ("x ~ normal(7, 1)[2]", "where(x > 0, sqrt(sum(x)), 0)"),
        ("x ~ normal(7, 1)[2]", "where(x > 0, sqrt(x[::-1]), 0)"),
        ("x ~ normal(7, 1)[2]", "where(max(x) > 0, sqrt(x), 0)"),  # of one element alone
        ("x ~ normal(7, 1)[2]", "where(max(x) != 0, 1 / x, 0) + where(x[0] > 2, 0, log(x[0]))"),
        ("n ~ poisson(1)", "comb(2.0 ** (1 - n), 1)"),  # a half is no whole number
        # guards that are of other elements
        ("x ~ normal(7, 1)[2, 2]", "where(all(x > 0, axis=-1), sqrt(x), 0)"),
        ("x ~ normal(7, 1)[2, 2]", "where(any(x < 0, axis=-1), 0, sqrt(x))"),
        ("x, y ~ normal(7, 1)", "where([x > 0, y > 0], sqrt(x), 0)"),
        ("n ~ poisson(9)", "first(n > [3, 40])"),
    ],
)  # fmt: skip
def test_what_may_be_undefined_is_seen(model: str, quantity: str) -> None:
    assert undefined(model, quantity)


@pytest.mark.parametrize(
    ("model", "quantity"),
    [
        ("x ~ exponential(1)", "sqrt(x)"), ("x ~ exponential(1)", "log(x)"),
        ("x ~ truncated_normal(7, 1, 0, inf)", "log(x)"),
        ("u ~ uniform(0, 1)", "sqrt(-2 * log(u)) * cos(pi * u)"),
        ("u ~ uniform(0, 1)", "-log(-log(u))"), ("u ~ uniform(0, 2)", "sqrt(4 - u**2)"),
        ("u ~ uniform(-1, 1)", "arcsin(u) + arccos(u) + arctanh(u) + log1p(u)"),
        ("u ~ uniform(0, 1)", "logit(u) + quantile_of(normal(0, 1), u)"),
        ("x ~ normal(0, 1)", "1 / x + 1 / (x**2 - 2) + x**-3 + tan(x) + x / sinh(x)"),
        ("x ~ normal(0, 1)[5]", "mean(x) / std(x) + 1 / norm(x) + 1 / max(x)"),
        ("x ~ normal(0, 1)[3, 3]", "solve(x, [1, 2, 3])[0] + inv(x)[0, 0] + qr_q(x)[0, 0]"),
        ("x ~ normal(0, 1)", "logdensity(normal(0, 1), x) + cdf(normal(0, 1), x)"),
        ("s ~ gamma(2, 1); x ~ normal(0, s)", "x + sqrt(s)"),
        ("n ~ poisson(4); k ~ binomial(n, 0.5)", "k + sqrt(n + k)"),
        ("u ~ uniform(0, 1); x ~ uniform(0, u)", "sqrt(x)"),
        ("x ~ normal(0, 1); y ~ uniform(x, x + 1)", "y"),
        ("n ~ poisson(4)", "log(n + 1) + comb(n, 2) + (-1)**n + 1 / (n + 0.5)"),
        ("n ~ geometric(0.5)", "1 / n + log(n)"), (NORMAL, "where(x > 0, sqrt(x), 0)"),
        (NORMAL, "sqrt(x) if not (x < 0) else 0"),
        (NORMAL, "where(x > 0 and x < 14, arcsin(x / 14), 0)"),
        (NORMAL, "where(x == 0, 1, sin(x) / x)"),
        ("n ~ poisson(4)", "where(n == 0, 1, 1 / n)"),
        ("n ~ poisson(4)", "where(n < 1, 0, where(n > 2, log(n - 1), 1 / n))"),
        ("x ~ normal(7, 1)[2]", "where(x > 0, sqrt(x), 0)"),
        ("x ~ normal(7, 1)[2]", "where(all(x > 0), sqrt(sum(x)), 0)"),
        ("x ~ normal(7, 1)[2, 2]", "where(all(x > 0, axis=[0, 1]), sqrt(x), 0)"),
        ("x ~ exponential(1)", "1 / 2.0 ** (-ceil(log2(3 / x)))"),
        ("n ~ poisson(9)", "minimum(first(n > [3, 40]), 2)"),
        ("x ~ normal(0, 1)[3]", "softmax([x[0], -inf, x[1]])[0]"),
        ("n ~ poisson(20)", "take([1, 2, 3], minimum(n, 2))"),
        (NORMAL, "sqrt(x) > 2"),  # a truth that cannot be told does not hold
    ],
)  # fmt: skip
def test_what_is_defined_with_chance_1_is_known_to_be(model: str, quantity: str) -> None:
    assert not undefined(model, quantity)


@pytest.mark.parametrize(
    ("given", "expected"), [("x > 0", False), ("x >= 0 and x < 9", False), ("x > -1", True)]
)
def test_a_condition_guards_what_is_averaged_under_it(given: str, expected: bool) -> None:
    assert undefined(NORMAL, "sqrt(x)", given) is expected


@pytest.mark.parametrize(
    ("model", "quantity", "chance"),
    [
        (NORMAL, "sqrt(x)", stats.norm.cdf(-7)),
        (NORMAL, "arcsin(x / 7 - 1)", 2 * stats.norm.cdf(-7)),
        (NORMAL, "log(3 - x / 4)", stats.norm.cdf(-5)),
        ("x ~ laplace(9, 1)[3]", "sum(sqrt(x))", 3 * stats.laplace.cdf(-9)),
    ],
)
def test_the_chance_is_that_of_the_law(model: str, quantity: str, chance: float) -> None:
    why = may_be_undefined([(expressed(lowering(model), quantity), None)])
    assert why is not None
    assert why.details["chance"] == pytest.approx(chance, rel=1e-9)


def test_many_guards_take_bounded_time() -> None:
    quantity = "x"
    for _ in range(40):
        quantity = f"where(x > 0, sqrt(x) + {quantity}, 0)"
    start = time.process_time()
    undefined(NORMAL, quantity)  # whichever way: guards too deep are given up
    assert time.process_time() - start < 5


# ---- each function, against its kernel ----------------------------------------------------------

PLACES = (-math.inf, -2.5, -1.0, -0.5, 0.0, 0.25, 1.0, 3.0, math.inf)
HULLS = [Hull(low, high) for low, high in itertools.combinations(PLACES, 2)]


def points(hull: Hull, rng: np.random.Generator) -> Array:
    """Numbers inside a hull, near its ends and far out."""
    low, high = max(hull.low, -20.0), min(hull.high, 20.0)
    inside = rng.uniform(low, high, 200)
    near = (high - low) * 10.0 ** -rng.uniform(1, 9, 100)
    return np.concatenate([inside, low + near, high - near])


@pytest.mark.parametrize("name", sorted([*FUNCTIONS_OF_NUMBERS, *"+-*/%", "//", "**", "negative"]))
def test_functions_are_defined_where_they_say(name: str) -> None:
    function = FUNCTIONS_OF_NUMBERS.get(name) or SIGNS[name]
    count = sum(not one.option and one.required for one in function.parameters)
    rng = np.random.default_rng(3)
    answers = 0
    for _ in range(200):
        hulls = [HULLS[rng.integers(len(HULLS))] for _ in range(count)]
        known = [Known(hull, nonzero=GENERIC, smooth=ANALYTIC) for hull in hulls]
        known = [one if one.never(0.0) < SURE else Known(one.hull, nonzero=SURE) for one in known]
        found = of_function(function, function.kernel, known)
        with np.errstate(all="ignore"):
            values = function.kernel(*(points(hull, rng) for hull in hulls))
        if found.defined > NEVER:
            answers += 1
            assert not np.isnan(values).any()
            assert np.isfinite(values).all() or name in ("exp", "expm1", "sinh", "cosh", "**")
        if found.nonzero == SURE:
            assert (values != 0).all()
    assert answers or name in ("comb", "factorial")


def test_a_kernel_says_by_nan_where_it_has_no_value() -> None:
    """As one does that checks an argument: a negative width has no loss."""
    known = [Known(Hull(-5.0, 5.0), smooth=ANALYTIC), Known(Hull(-1e-9, 1.0), smooth=ANALYTIC)]
    for otherwise, defined in ((np.nan, False), (0.0, True)):
        kernel = partial(
            lambda x, d, other: np.where(d >= 0, np.abs(x) * d, other), other=otherwise
        )
        loss = entry("loss", kernel, "an absolute loss", parameters=PAIR)
        assert (of_function(loss, kernel, known).defined > NEVER) is defined


@pytest.mark.parametrize("name", sorted(name for name, law in LAWS.items() if callable(law.ends)))
def test_ends_of_laws_are_outermost_at_corners(name: str) -> None:
    law = LAWS[name]
    ends = law.ends
    if any(parameter.axes for parameter in law.parameters) or not callable(ends):
        return
    rng = np.random.default_rng(5)
    for _ in range(50):
        hulls = []
        for parameter in law.parameters:
            low = max(parameter.domain.low, -3.0)
            two = np.sort(rng.uniform(low, min(parameter.domain.high, 9.0), 2))
            hulls.append(Hull(*(np.ceil(two) if parameter.domain.whole else two)))
        found = ends_of(law, [Known(hull) for hull in hulls])
        for _ in range(20):
            inside = [rng.uniform(hull.low, hull.high) for hull in hulls]
            low, high = ends(*map(np.float64, inside))
            assert found.low <= low
            assert found.high >= high


# ---- made expressions, against all of their outcomes ---------------------------------------------

DISCRETE = "n ~ binomial(3, 0.3); k ~ discrete_uniform(-2, 2); m ~ bernoulli(0.5); r ~ rademacher()"
ONE = ("sqrt", "log", "log1p", "abs", "exp", "arcsin", "arctan", "logit", "relu", "floor", "cbrt",
       "-", "lgamma", "factorial", "sign", "arctanh")  # fmt: skip
TWO = (" + ", " - ", " * ", " / ", "**", " % ", " // ")
PAIRS = ("maximum", "minimum", "xlogy", "comb", "arctan2")


def made(rng: random.Random, depth: int) -> str:
    """An expression in discrete draws, with guards."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(["n", "k", "m", "r", "n", "k", "0.5", "1", "2", "(n + 1)", "(-1)"])
    one, two = (made(rng, depth - 1) for _ in range(2))
    kind = rng.random()
    if kind < 0.35:
        return f"{rng.choice(ONE)}({one})"
    if kind < 0.65:
        return f"({one}{rng.choice(TWO)}{two})"
    if kind < 0.8:
        return f"{rng.choice(PAIRS)}({one}, {two})"
    name, sign = rng.choice(["n", "k", "m", one]), rng.choice(["<", "<=", ">", ">=", "==", "!="])
    guard = f"{name} {sign} {rng.choice([0, 1, -1, 0.5])}"
    if rng.random() < 0.3:
        guard = f"({guard} {rng.choice(['and', 'or'])} {rng.choice(['n > 1', 'not (k < 0)'])})"
    if rng.random() < 0.1:
        guard = f"isfinite({one})"
    return f"where({guard}, {one}, {two})"


@pytest.mark.parametrize("first", range(0, 600, 300))
def test_no_outcome_is_undefined_where_none_is_said_to_be(first: int) -> None:
    defined = undefined_ones = 0
    for seed in range(first, first + 300):
        rng = random.Random(seed)
        try:
            value = lowered(DISCRETE, made(rng, 4))
            table = outcomes_of([value]) if value.random and not value.truth else None
        except DropcheckError:  # a fixed part that is undefined
            continue
        if table is None:
            continue
        outcomes = np.isfinite(table.of(value))
        if not outcomes.any():  # which the first draw shows
            continue
        finite = bool(outcomes.all())
        said = may_be_undefined([(value, None)]) is None
        assert finite or not said, made(random.Random(seed), 4)
        defined += finite and said
        undefined_ones += not finite
    assert defined > 20
    assert undefined_ones > 20
