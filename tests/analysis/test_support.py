"""Where values can lie: every value drawn lies there, and tight bounds are as tight as they are."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from lowered import lowered as expression
from trials import compiled

from dropcheck.analysis.support import Support, support
from dropcheck.known.sure import SURE
from dropcheck.language.graph import Kind, computed_from, number, ordered
from dropcheck.vocabulary.hulls import Hull

MODEL = (
    "u ~ uniform(-1, 2); v ~ uniform(0, 3)[4]; m ~ bernoulli(0.3); r ~ rademacher()[5]; "
    "x ~ normal(0, 1); z ~ normal(0, 1)[6]; n ~ binomial(7, 0.4); b ~ beta(2, 3); "
    "w ~ uniform(0.5, 2)[3]; d ~ dirichlet(w); c ~ categorical([0.2, 0.5, 0.3]); "
    "rb ~ bernoulli(b); rs ~ beta(w[0], w[1]); rc ~ categorical(d)"
)
DRAWS = 4096


def drawn(quantity: str) -> tuple[Hull, npt.NDArray[np.float64]]:
    """Where a quantity can lie, and its values in some draws."""
    found = compiled(MODEL, f"E({quantity}) == 1")
    (register,) = found.program.targets
    held = found.program.registers(np.random.default_rng(1), DRAWS)
    return support(found.values[register]), np.asarray(held[register], dtype=np.float64)


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


def test_values_come_near_the_ends_that_are_given() -> None:
    """The test above can fail: a hull a tenth too small would not hold what is drawn."""
    hull, values = drawn("u")
    assert values.min() < hull.low + 0.1
    assert values.max() > hull.high - 0.1


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
    hull = support(expression("x ~ normal(0, 1)[4, 3]", "max(argmax(x, axis=-1))"))
    assert (hull.low, hull.high) == pytest.approx((0, 2), abs=1e-9)


def test_the_first_true_element_has_a_place_or_none() -> None:
    """It is infinite where none is true, so that an end has to be put to it."""
    model = "x ~ discrete_uniform(0, 5)[9]"
    assert support(expression(model, "first(x == 0)")) == Hull(0.0, math.inf)
    hull = support(expression(model, "minimum(first(x == 0), 9)"))
    assert (hull.low, hull.high) == pytest.approx((0, 9), abs=1e-9)


# ---- each function of arrays, against its kernel -------------------------------------------------

CALLS = [
    "sum(x)", "sum(m, axis=0)", "mean(m, axis=1)", "prod(x)", "prod(m)", "var(x)", "std(x, ddof=1)",
    "norm(x)", "norm(x, ord=1)", "norm(x, ord=3)", "norm(x, ord=inf)", "norm(x, ord=0)",
    "max(m)", "min(x)", "median(x)", "quantile(x, 0.3)", "sort(x)", "cummax(x)", "cumsum(x)",
    "cumprod(x)", "diff(x)", "argmax(m)", "argmin(x)", "argsort(x)", "softmax(x)", "logsumexp(x)",
    "x[:3] @ m", "x @ x", "m.T @ m", "dot(m, m)", "outer(x, x)", "kron(x, m)", "trace(k)", "det(k)",
    "inv(k)", "qr_q(m)", "eigvalsh(k)", "eigvecsh(k)", "svdvals(m)", "pinv(m)", "first(x > 0.5)",
    "take(x, argmax(x))", "one_hot(argmax(x), 4)", "bincount(argsort(x), 4)", "tril(k)", "diag(x)",
    "solve(k, x[:3])", "linspace(x[0], x[1], 3)", "reshape(m, [2, 3])", "concat(x, x[:2])",
]  # fmt: skip
ENDS = [(-2.0, 3.0), (0.0, 1.0), (0.5, 2.5), (-3.0, -1.0), (-1.0, 0.0), (0.0, 0.0)]


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("call", CALLS)
def test_functions_of_arrays_keep_to_what_is_known(call: str, ends: tuple[float, float]) -> None:
    low, high = ends
    model = "x ~ uniform({0}, {1})[4]; m ~ uniform({0}, {1})[3, 2]; k ~ uniform({0}, {1})[3, 3]"
    value = expression(model.format(low, high), call)
    if not value.random:
        return
    known, rng = Support().known(value), np.random.default_rng(4)
    for _ in range(40):
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
