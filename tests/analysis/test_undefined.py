"""Quantities that have no value with some chance, however small: they are seen before any draw."""

from __future__ import annotations

import itertools
import math
import random
import time
from functools import partial

import numpy as np
import pytest
from lowered import expressed, lowered, lowering
from scipy import stats

from dropcheck.analysis.enumeration import outcomes_of
from dropcheck.analysis.support import ends_of, may_be_undefined, of_function, takes_all_numbers
from dropcheck.errors import DropcheckError
from dropcheck.known.sure import ANALYTIC, GENERIC, NEVER, SURE, Known
from dropcheck.vocabulary.function import PAIR, Array, entry
from dropcheck.vocabulary.functions import FUNCTIONS_OF_ARRAYS, FUNCTIONS_OF_NUMBERS, SIGNS
from dropcheck.vocabulary.hulls import Hull
from dropcheck.vocabulary.laws import LAWS


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


def test_no_chance_is_named_where_the_law_has_no_distribution_function() -> None:
    why = may_be_undefined([(lowered("p ~ permutation(3)", "log10(p)"), None)])
    assert why is not None
    assert "chance" not in why.details


def test_many_guards_take_bounded_time() -> None:
    quantity = "x"
    for _ in range(40):
        quantity = f"where(x > 0, sqrt(x) + {quantity}, 0)"
    start = time.process_time()
    undefined(NORMAL, quantity)  # whichever way: guards too deep are given up
    assert time.process_time() - start < 5


# ---- each function, against its kernel ----------------------------------------------------------

ENDS = (-math.inf, -2.5, -1.0, -0.5, 0.0, 0.25, 1.0, 3.0, math.inf)
HULLS = [Hull(low, high) for low, high in itertools.combinations(ENDS, 2)]


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


MATRICES = [
    np.random.default_rng(8).normal(0, 3, (3, 3, 40)),
    np.zeros((3, 3, 2)),
    np.ones((3, 3, 2)),
]


@pytest.mark.parametrize("name", sorted(FUNCTIONS_OF_ARRAYS))
def test_functions_of_arrays_that_ask_nothing_are_finite_everywhere(name: str) -> None:
    function = FUNCTIONS_OF_ARRAYS[name]
    needed = [one for one in function.parameters if one.required]
    if not takes_all_numbers(function) or any(one.option for one in needed) or not needed:
        return
    for matrix in MATRICES:
        with np.errstate(all="ignore"):
            found = function.kernel(*[matrix] * len(needed))
        assert np.isfinite(found).all()


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


@pytest.mark.parametrize("first", range(0, 1000, 500))
def test_no_outcome_is_undefined_where_none_is_said_to_be(first: int) -> None:
    defined = undefined_ones = 0
    for seed in range(first, first + 500):
        rng = random.Random(seed)
        try:
            value = lowered(DISCRETE, made(rng, 4))
            table = outcomes_of([value], 1000) if value.random and not value.truth else None
        except DropcheckError:  # a fixed part that is undefined
            continue
        if table is None:
            continue
        outcomes = np.isfinite(np.asarray(table.values(value), dtype=float))
        if not outcomes.any():  # which the first draw shows
            continue
        finite = bool(outcomes.all())
        said = may_be_undefined([(value, None)]) is None
        assert finite or not said, made(random.Random(seed), 4)
        defined += finite and said
        undefined_ones += not finite
    assert defined > 40
    assert undefined_ones > 40
