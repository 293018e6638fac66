"""Claims about arrays: every entry is claimed, the worst is shown, and the error rate is shared.

Verdicts are of the default seeds, at α = 1e-6 or as stated: they are the same every time.
"""

from __future__ import annotations

import pytest
from scipy import stats
from trials import FALSE_ALARM, OPEN, REFUTED, VERIFIED, entry, judged, registry_of, repeated, tried

from dropcheck.errors import DropcheckError
from dropcheck.results import Guarantee, Method, Quantity
from dropcheck.settings import Settings

X3 = "x ~ normal(0, 1)[3]"


# ---- verdicts -----------------------------------------------------------------------------------

TRUE = {
    "Cov(x) == eye(3)": X3,
    "Corr(x) == eye(3)": X3,
    "E(x) == zeros(3)": X3,
    "E(x) == [0, 10]": "x ~ normal([0, 10], 1)",
    "Var(x) == [1, 4]": "x ~ normal(0, [1, 2])",
    "E(outer(x, x)) == eye(3)": X3,
    "2 * E(x) + 1 == [1, 21]": "x ~ normal([0, 10], 1)",
    "[0, 10] == E(x)": "x ~ normal([0, 10], 1)",
    "[-1, 9] <= E(x) <= [1, 11]": "x ~ normal([0, 10], 1)",
    "E(x) < [1, 11]": "x ~ normal([0, 10], 1)",
    "P(x > 0) == [0.5, Phi(1)]": "x ~ normal([0, 1], 1)",
    "Var(2 * x) == 4 * Var(x) * ones(3)": "x ~ exponential(1)[3]",
    "Cov(x) == Var(z) * eye(3)": "x ~ normal(0, 2)[3]; z ~ normal(0, 2)[3]",
    "Cov(x, given=s > 0) == [[1.5, 1], [1, 1.5]]": (
        "s ~ rademacher(); z ~ normal(0, 1); e ~ normal(0, sqrt(0.5))[2]; x = z + e"
    ),
    "E(x, given=x > 0) == sqrt(2 / pi) * ones(3)": X3,
    "Cov(x) == [[2, -1], [-1, 2]]": "z ~ normal(0, 1)[3]; x = [z[0] - z[1], z[1] - z[2]]",
    "cumsum([1, 2, 3]) == [1, 3, 6]": "",
}


@pytest.mark.parametrize("claim", TRUE)
def test_true_claims_are_verified(claim: str) -> None:
    assert judged(TRUE[claim], claim).verdict is VERIFIED


FALSE = {
    "Cov(x) == eye(3)": ("x ~ normal(0, [1, 1, 1.1])", (2, 2)),
    "E(x) == [0, 10.5]": ("x ~ normal([0, 10], 1)", (1,)),
    "E(x) == [0.1, 10]": ("x ~ normal([0, 10], 1)", (0,)),
    "Cov(y) == eye(2)": ("x ~ normal(0, 1)[2]; y = [x[0], 0.1 * x[0] + 0.995 * x[1]]", (0, 1)),
    "E(x) < [1, 10]": ("x ~ normal([0, 10.1], 1)", (1,)),
    "E(outer(x, x)) == [[1, 0, 0], [0, 1, 0.2], [0, 0.2, 1]]": (X3, (1, 2)),
    "cumsum([1, 2, 3]) == [1, 3, 7]": ("", (2,)),
}


@pytest.mark.parametrize("claim", FALSE)
def test_one_false_entry_refutes_and_is_named(claim: str) -> None:
    model, index = FALSE[claim]
    found = judged(model, claim)
    assert (found.verdict, found.entry) == (REFUTED, index)


def test_of_two_false_entries_the_worse_is_shown() -> None:
    for claimed, index in (("[5, 9]", (0,)), ("[1, -20]", (1,))):
        assert judged("x ~ normal([0, 10], 1)", f"E(x) == {claimed}").entry == index


def test_what_is_shown_is_that_of_the_entry() -> None:
    found = judged("x ~ normal([0, 10], 1)", "E(x) - 1 == [-1, 9.5]")
    assert (found.quantity, found.expression) == (Quantity.LEFT, "(E(x) - 1)[1]")
    assert (found.claimed, found.scale) == (9.5, 9.5)
    assert found.exact is not None
    assert found.exact.value == pytest.approx(9)
    both = judged("x ~ normal([0, 10], 1); y ~ normal(0, 1)[2]", "E(x) == E(y) * ones(2)")
    assert (both.entry, both.expression) == ((1,), "E(x)[1] - (E(y) * ones(2))[1]")
    assert both.sides == pytest.approx((10, 0), abs=0.5)


def test_each_entry_has_a_scale_of_its_own() -> None:
    small = judged("x ~ normal([0.1, 1000], [1, 1])", "E(x) == [0, 1000]")
    assert (small.verdict, small.entry) == (REFUTED, (0,))
    assert small.scale == pytest.approx(1, abs=0.1)


def test_a_number_pools_as_before() -> None:
    found = judged("x ~ normal([0, 10], 1)", "E(x) == 5")
    assert (found.verdict, found.entry) == (VERIFIED, None)
    assert judged("x ~ normal([0, 10], 1)", "E(x) == 5 * ones(2)").verdict is REFUTED


def test_nothing_random_is_worked_out() -> None:
    found = judged("", "[1, 2] < [2, 2]")
    assert (found.verdict, found.method, found.entry) == (REFUTED, Method.ARITHMETIC, (1,))


def test_without_draws() -> None:
    registry = registry_of(entry("c", X3, "Cov(x) == eye(3)"), entry("d", X3, "E(x) == [0, 0, 1]"))
    true, false = tried(registry, Settings(exact=True, threads=1))
    assert (true.verdict, true.guarantee, true.draws) == (VERIFIED, Guarantee.EXACT, 0)
    assert (false.verdict, false.entry, false.claimed) == (REFUTED, (2,), 1)


# ---- what is spent ------------------------------------------------------------------------------


def test_entries_share_the_error_rate() -> None:
    """An interval of one of k entries is that of one claim at a k-th of the error rate."""
    keys = "within: 1e-9"
    whole = judged(X3, "E(x) == zeros(3)", keys, alpha=3e-3, most=4096)
    alone = judged(X3, "E(x[0]) == 0", keys, alpha=1e-3, most=4096)
    assert whole.verdict is alone.verdict is OPEN
    assert whole.interval is not None
    assert alone.interval is not None
    widths = [high - low for low, high in (whole.interval, alone.interval)]  # type: ignore[operator]  # both are there
    assert widths[0] == pytest.approx(widths[1], rel=0.02)


def test_the_entries_of_a_symmetric_matrix_are_counted_once() -> None:
    keys = "within: 1e-9"
    pairs = judged(X3, "E(outer(x, x)) == eye(3)", keys, alpha=0.09, most=4096)
    halves = judged(X3, "Cov(x) == eye(3)", keys, alpha=0.06, most=4096)
    assert pairs.verdict is halves.verdict is OPEN


def test_true_claims_are_seldom_refuted() -> None:
    """At α = 0.2 no more than a fifth of runs err, though four entries may."""
    seeds = 100
    settings = Settings(alpha=0.2, threads=1)
    found = repeated("x ~ uniform(0, 1)[4]", "E(x) == ones(4) / 2", range(seeds), settings)
    wrong = sum(one.verdict is REFUTED for one in found)
    assert stats.binom.sf(wrong - 1, seeds, 0.2) > FALSE_ALARM


# ---- what is refused ----------------------------------------------------------------------------

REFUSED = {
    "E(x) == [0, 0]": "sides are compared entry by entry, and have shapes [3] and [2]",
    "E(x[0]) == [0, 0]": "has shape [2], and the other is a number",
    "E(m) == [0, 0, 0]": "have shapes [2, 3] and [3]",
    "Cov(m) == 1": "Cov of one quantity is the matrix of all pairs of elements of a vector",
    "Cov(x[0]) == 1": "and this is one number",
    "Cov(x, given=x > 0) == eye(3)": "one truth a draw",
    "x == zeros(3)": "'x' is random, and stands outside an operator",
    "E(x) == [0, 0, 1 / 0]": "division by zero",
    "E(x) == [0, inf, 1]": "this side of the claim is inf",
    "[1, 1, 1] <= E(x) <= [2, 2, 0]": "this range is empty",
    "E(big) == zeros(2000)": "a claim of every entry has at most 1,024 entries, and this has 2,000",
    "E(x)[0] == 0": "1 index is too many for a single number",
}


@pytest.mark.parametrize("claim", REFUSED)
def test_refusals(claim: str) -> None:
    model = f"{X3}; m ~ normal(0, 1)[2, 3]; big ~ normal(0, 1)[2000]"
    with pytest.raises(DropcheckError) as caught:
        judged(model, claim)
    (problem,) = caught.value.problems
    assert REFUSED[claim] in problem.message
