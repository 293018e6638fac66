"""Statements about laws, judged: what is true is verified, and each kind of error is seen.

Each claim is run once with a fixed seed at the default α, so that a run gives the same verdicts
every time; the chance that any of them was wrong at the first run was 1e-6 each.
"""

from __future__ import annotations

import pytest

from dropcheck import verify
from dropcheck.reasons import Reason
from dropcheck.results import CaseResult, Guarantee, Method, Quantity, Verdict

X = "x ~ normal(0, 1)"
TRUE = {
    "sum": ("x ~ normal(0, 1)[16]", "sum(x) ~ normal(0, 4)"),
    "limit": ("x ~ uniform(-1, 1)[12]", "sum(x) / 2 ~ normal(0, 1)"),
    "counts": ("x ~ poisson(3)\nz ~ poisson(2)", "x + z ~ poisson(5)"),
    "many-counts": ("x ~ binomial(50000, 0.5)[2]", "sum(x) ~ binomial(100000, 0.5)"),
    "truths": ("x ~ uniform(0, 1)", "(x < 0.3) ~ bernoulli(0.3)"),
    "constant": ("x ~ uniform(0, 1)", "(x < 0) ~ bernoulli(0)"),
    "gamma": ("x ~ exponential(1)[3]", "sum(x) ~ gamma(3, 1)"),
    "no-mean": ("x ~ normal(0, 1)\nz ~ normal(0, 1)", "x / z ~ cauchy(0, 1)"),
    "listed": ("x ~ categorical([0.2, 0.3, 0.5])", "x ~ categorical([0.2, 0.3, 0.5])"),
    "every-entry": ("x ~ normal(0, 1)[4]", "2 * x ~ normal(0, 2)"),
    "alike": ("x ~ normal(0, 1)\nz ~ normal(0, 1)", "0.6 * x + 0.8 * z ~ x"),
    "alike-counts": ("x ~ poisson(3)\nz ~ poisson(2)\ny ~ poisson(5)", "x + z ~ y"),
    "independent": ("x ~ normal(0, 1)\ny ~ normal(0, 1)", "independent(x + y, x - y)"),
    "entries": ("x ~ normal(0, 1)[4]", "independent(x, over=[0])"),
    "any-two": (
        "x ~ bernoulli(0.5)\ny ~ bernoulli(0.5)\nz = (x + y) % 2",
        "independent(x, z)",
    ),
}
# Of each false claim the sentence that says what gave it away; None: the distance itself.
FALSE = {
    "sd": (X, "1.02 * x ~ normal(0, 1)", Reason.LAW_SHAPE),
    "mean": (X, "x + 0.02 ~ normal(0, 1)", Reason.LAW_SHAPE),
    "shape": ("x ~ laplace(0, sqrt(1/2))", "x ~ normal(0, 1)", Reason.LAW_SHAPE),
    "modulo": ("b ~ discrete_uniform(0, 255)", "b % 10 ~ discrete_uniform(0, 9)", Reason.LAW_SHAPE),
    "no-value": ("x ~ poisson(5)", "x + 0.5 ~ poisson(5)", Reason.LAW_IMPOSSIBLE),
    "beyond": ("x ~ uniform(0, 1.0001)", "x ~ uniform(0, 1)", Reason.LAW_IMPOSSIBLE),
    "one-entry": ("x ~ normal(0, 1)[4]", "x * [1, 1, 1.1, 1] ~ normal(0, 1)", Reason.LAW_SHAPE),
    "not-alike": ("x ~ normal(0, 1)\ny ~ normal(0, 1.02)", "x ~ y", Reason.LAWS_DIFFER),
    "dependent": (
        "x ~ uniform(-1, 1)\ny ~ uniform(-1, 1)",
        "independent(x + y, x - y)",
        Reason.DEPENDENT,
    ),
    "all-three": (
        "x ~ bernoulli(0.5)\ny ~ bernoulli(0.5)\nz = (x + y) % 2",
        "independent(x, y, z)",
        Reason.DEPENDENT,
    ),
    "centred": ("x ~ normal(0, 1)[6]", "independent(x - mean(x), over=[0])", Reason.DEPENDENT),
}


def judged(model: str, claim: str, **how: float) -> CaseResult:
    expect = "refuted" if how.pop("false", 0) else "verified"
    return verify(claim, model=model, expect=expect, undecided="pass", **how)  # type: ignore[arg-type]  # options


@pytest.mark.parametrize("name", TRUE)
def test_a_true_statement_is_verified(name: str) -> None:
    result = judged(*TRUE[name])
    assert result.verdict is Verdict.VERIFIED
    assert result.guarantee is Guarantee.FINITE_SAMPLE
    assert result.method is Method.CELLS
    assert result.interval is not None
    assert result.interval[1] is not None
    assert result.interval[1] <= 0.01
    assert result.reason in (Reason.LAW_HOLDS, Reason.ONE_LAW, Reason.INDEPENDENT_ON_CELLS)


@pytest.mark.parametrize("name", FALSE)
def test_a_false_statement_is_refuted_and_says_why(name: str) -> None:
    model, claim, reason = FALSE[name]
    result = judged(model, claim, false=1)
    assert result.verdict is Verdict.REFUTED
    assert result.reason is reason


@pytest.mark.parametrize(
    "value", ["y = floor(1e4 * x) / 1e4", "m ~ bernoulli(0.001)\ny = where(m, 0.5, x)"]
)
def test_a_law_that_is_nearer_than_the_resolution_is_verified_within_it(value: str) -> None:
    result = judged(f"{X}\n{value}", "y ~ normal(0, 1)")
    assert result.verdict is Verdict.VERIFIED
    assert result.reason is Reason.LAW_HOLDS


def test_a_gross_error_is_seen_by_the_distance_too() -> None:
    result = judged("x ~ normal(3, 1)", "x ~ normal(0, 1)", false=1)
    assert result.interval is not None
    assert result.interval[0] is not None
    assert result.interval[0] > 0.5


def test_the_entry_that_is_off_decides() -> None:
    result = judged("x ~ normal(0, 1)[3]", "x + [0, 0, 0.5] ~ normal(0, 1)", false=1)
    assert result.quantity is Quantity.DISTANCE
    assert result.estimate is not None
    assert result.estimate > 0.15


def test_rounding_is_no_other_law() -> None:
    cancelled = f"{X}\ny = (x + 1e6) - 1e6"
    assert judged(cancelled, "y ~ normal(0, 1)").verdict is Verdict.VERIFIED


def test_few_draws_leave_it_open_and_say_how_many_decide() -> None:
    result = judged(X, "x ~ normal(0, 1)", max_draws=10_000)
    assert result.verdict is Verdict.UNDECIDED
    assert result.more_draws is not None
    assert 1e5 < result.more_draws < 5e5


def test_values_that_floats_do_not_tell_apart_leave_it_open() -> None:
    result = judged("x ~ gamma(0.001, 1)", "x ~ gamma(0.001, 1)")
    assert result.reason is Reason.CELLS_TOO_WIDE


@pytest.mark.parametrize("claim", ["independent(x, y)", "independent(y, x - 1)"])
def test_what_never_varies_shows_no_independence(claim: str) -> None:
    result = judged(f"{X}\ny = x > 40", claim)
    assert result.reason is Reason.NEVER_VARIES
    assert str(result.explanation).startswith("y has the same value in each of 32,768 draws")


def test_an_undefined_draw_leaves_it_open() -> None:
    result = judged(f"{X}\ny = sqrt(x)", "y ~ normal(0, 1)")
    assert result.reason is Reason.UNDEFINED_DRAWS
