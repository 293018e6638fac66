"""Entries of independent draws are analysed as draws by themselves, where that changes no law."""

from __future__ import annotations

import math

import pytest
from scipy.stats import norm
from trials import VERIFIED, judged, lowered

from dropcheck.analysis.fewer_draws import with_fewer_draws
from dropcheck.analysis.fewer_draws.entries import MOST_ENTRIES
from dropcheck.language.graph import Kind, in_order

TWO = "x ~ normal([0, 1], 1)"


@pytest.mark.parametrize(
    ("model", "claim", "value"),
    [
        (TWO, "P(x > 0) == [0.5, 0.841345]", norm.cdf(1)),  # of the entry that is shown
        ("x ~ normal(0, 1)[2]", "P(x[0] > 1) ~= 0.1587", norm.sf(1)),
        (TWO, "E(exp(x)) == [exp(0.5), exp(1.5)]", None),
        ("m ~ exponential(1)[2]; y ~ normal(m, 1)", "Var(y[0]) == 2", 2.0),
        (
            "X ~ exponential(1)[2, 3]; b = [1, 2, 3]",
            "P((X * b)[1, -1] > 3) ~= 0.3679",
            math.exp(-1),
        ),
        ("x ~ normal(0, 1)[3]", "Cov(x[0], sum(x)) == 1", 1.0),  # the sum has them too
    ],
)
def test_what_is_known_of_one_draw_is_known_of_an_entry(
    model: str, claim: str, value: float | None
) -> None:
    found = judged(model, claim, draws_only=False)
    assert found.verdict is VERIFIED
    assert found.exact is not None
    assert value is None or found.exact.value == pytest.approx(value, abs=1e-7)


def drawn(model: str, claim: str) -> dict[str | None, tuple[int, ...]]:
    """The shapes of the draws that are analysed, by their names."""
    below = in_order(with_fewer_draws(lowered(model, claim)).operands, lambda one: one.inputs)
    return {one.name: one.shape for one in below if one.kind == Kind.DRAW}


def test_each_entry_is_one_draw_however_often_it_is_used() -> None:
    assert drawn(TWO, "E(x[0] * exp(x)[0] + x[1]) == 0") == {"x[0]": (), "x[1]": ()}
    assert drawn(TWO, "E((x + x[::-1])[0]) == 1") == {"x": (2,)}  # a slice is no entry


@pytest.mark.parametrize(
    "claim",
    [
        "E(x[0] * sum(x)) == 1",  # the sum is of the same draws
        "E(exp(x)[0] * max(x)) == 1",
        "E(x[0] + cumsum(x)[1]) == 0",
    ],
)
def test_draws_that_are_used_whole_stay_whole(claim: str) -> None:
    assert drawn("x ~ normal(0, 1)[3]", claim) == {"x": (3,)}


def test_vectors_whose_entries_depend_on_each_other_stay_whole() -> None:
    assert drawn("x ~ dirichlet([1, 2, 3])", "E(x[0]) == 1 / 6") == {"x": (3,)}
    many = " + ".join(f"x[{at}]" for at in range(MOST_ENTRIES + 1))
    assert drawn(f"x ~ normal(0, 1)[{MOST_ENTRIES + 1}]", f"E({many}) == 0") == {
        "x": (MOST_ENTRIES + 1,)
    }


# ---- where a product is 0 ------------------------------------------------------------------------

MASKED = "m ~ bernoulli(0.7); x ~ normal(0, 1); y = -x * m / 0.7"


@pytest.mark.parametrize(
    ("model", "claim", "value"),
    [
        (MASKED, "P(y == 0) == 0.3", 0.3),
        (MASKED, "P(y != 0) == 0.7", 0.7),
        (MASKED, "P(x * y == 0, given=m == 0) == 1", 1.0),
        ("m, k ~ bernoulli(0.7); x ~ normal(0, 1); y = x * m * k", "P(y == 0) == 0.51", 0.51),
        ("k ~ poisson(2); x ~ exponential(1)", "P(k * x == 0) == exp(-2)", math.exp(-2)),
        # atoms at 0, a fixed factor of 0, and a sum are left as they are
        ("m ~ bernoulli(0.7); x ~ normal(0, 1); y = relu(x) * m", "P(y == 0) == 0.65", None),
        (f"{MASKED}; z = y + 1", "P(z == 0) == 0", None),
        (f"{MASKED}; z = y * [0, 1]", "P(z[0] == 0) == 1", None),
    ],
)
def test_a_product_is_0_where_a_factor_is(model: str, claim: str, value: float | None) -> None:
    found = judged(model, claim, draws_only=False)
    assert found.verdict is VERIFIED
    assert value is None or (found.exact and found.exact.value == pytest.approx(value, abs=1e-11))
