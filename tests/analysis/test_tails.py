"""Which moments exist: what is settled before any draw must be so by theory."""

from __future__ import annotations

import math
import time

import pytest
from lowered import expressed, lowering
from trials import entry, registry_of

from dropcheck.analysis.undefined import missing_moment, missing_variance, moment_order
from dropcheck.language.compile import lower_case, parse_claim
from dropcheck.vocabulary.laws import LAWS

INF = math.inf

MODEL = (
    "n ~ normal(1, 2); u ~ uniform(1, 2); ex ~ exponential(1); b ~ bernoulli(0.5); "
    "ca ~ cauchy(0, 1); t3 ~ student_t(3); t5 ~ student_t(5); pa ~ pareto(1.5, 1); "
    "fr ~ f(3, 8); nv ~ normal(0, 1)[4]; tv ~ student_t(3)[4]; tm ~ student_t(3)[2, 2]; "
    "tt ~ student_t([2, 3]); h ~ normal(0, ex); ht ~ student_t(u); ra ~ rayleigh(1); "
    "un ~ uniform(-1, 1); half ~ uniform(0, 1); ga ~ gamma(2.5, 3); be ~ beta(0.5, 3); "
    "ch ~ chi_square(5); la ~ laplace(0, 2); lo ~ lognormal(0, 1); po ~ poisson(3); "
    "gu ~ gumbel(0, 0.5); tr ~ triangular(0, 0, 2); we ~ weibull(0.5, 1)"
)

# expression: the order from which on no moment exists, as far as it is known
ORDERS: dict[str, float] = {
    # laws
    "n": INF, "ex": INF, "ca": 1, "t3": 3, "pa": 1.5, "fr": 4, "tv": 3,
    "tt": INF,  # two laws in one array
    "h": INF,  # the law of the argument has a say
    "ht": INF,
    # changes that keep the tail
    "-t3": 3, "2 * t3 + 1": 3, "t3 / 2": 3, "abs(t3)": 3, "tv[0]": 3, "tm.T": 3, "0 * t3": INF,
    # sums: neither a lighter part nor an independent one can cancel the heavier
    "t3 + n": 3, "n - t3": 3, "t3 + t5": 3, "ca - pa": 1, "t3 - t3": INF, "t3 + tanh(t3)": 3,
    "sqrt(abs(pa)) - pa": 1.5, "t3 + (n - t3)": INF, "sum(tv)": 3, "mean(tv)": 3,
    "sum(t3 * [1, -1])": INF,
    # powers and products
    "t3**2": 1.5, "t3 * t3": 1.5, "abs(t3)**0.5": 6, "sqrt(abs(t3))": 6, "cbrt(t3)": 9,
    "t3**0": INF, "t3 * t5": 3, "t3 * n": 3,
    "t3 * relu(n)": INF,  # the other factor is not known to differ from 0
    "t3 * (t3 + n)": INF, "t5 * t3 * t5": INF, "n * n": INF, "tv @ nv": 3, "tv @ tv": 1.5,
    "dot(tv, tv)": 1.5, "(tm @ tm)[0, 1]": INF, "outer(tv, tv)[0, 1]": INF, "outer(tv, nv)": 3,
    "[t3, -t3] @ [1, 1]": INF,  # it is 0
    "tv @ ones(4)": 3, "tv @ [1, 0, 0, 0]": INF,
    # denominators
    "1 / n": 1, "n / un": 1, "1 / un**2": 0.5, "un**-2": 0.5, "1 / u": INF, "n / n": INF,
    "1 / half": 1, "1 / (n - n)": INF, "abs(n)**-0.5": 2, "1 / sqrt(half)": 2, "1 / cbrt(n)": 3,
    "1 / (2 * n - 7)": 1, "3 / (1 - half)": 1, "1 / (half + 0.1)": INF,
    "1 / (half + 0.1 + 0.2 - 0.3)": INF,  # rounding decides whether 0 is left out
    "1 / ex": 1, "1 / ra": 2, "1 / ga": 2.5, "ga**-2": 1.25, "1 / be": 0.5, "1 / (1 - be)": 3,
    "1 / ch": 2.5, "1 / we": 0.5, "1 / fr": 1.5, "1 / lo": INF, "1 / (pa - 1)": 1, "1 / tr": 1,
    "1 / (2 - tr)": 2,
    "1 / po": INF,  # it may be 0 itself
    "1 / (po + 1)": INF, "1 / nv": 1, "1 / nv[2]": 1, "1 / (nv @ nv)": 2, "1 / sqrt(nv @ nv)": 4,
    "nv / sqrt(nv @ nv)": INF, "1 / (tm @ tm)": INF, "1 / (n * half)": 1, "1 / (n * n)": 0.5,
    "1 / (n * 0)": INF, "1 / (nv * [1, 1, 1, 0])": INF, "1 / (nv * [1, 2, 3, 4])": 1,
    "1 / (t3 / ga)": 1, "1 / (ga / t3)": 2.5, "1 / h": INF,
    "1 / (n + ex)": 1,  # its density is above 0 around 0
    "1 / exp(n)": INF, "1 / (n > 0)": INF,
    # functions
    "relu(t3)": INF, "maximum(t3, n)": INF, "where(b, t3, n)": INF, "t3 if b else 0": INF,
    "clip(ca, -1, 1)": INF, "tanh(ca)": INF, "ca > 0": INF, "isfinite(ca)": INF, "softmax(tv)": INF,
    "leaky_relu(t3, 0.1)": INF, "leaky_relu(t3, t5)": INF, "var(tv)": 1.5,
    "var([t3, t3])": INF,  # it is 0
    "std(tv)": INF, "log(abs(t3))": INF, "gamma(n)": INF,
    # exponentials outgrow every power
    "exp(t3)": 0, "exp(-2 * t3 + 1)": 0, "sinh(t3)": 0, "cosh(-pa)": 0, "exp(-pa)": INF,
    "exp(pa)": 0, "exp(0 * t3)": INF, "exp(n)": INF, "exp(3 * ra)": INF,
    # of exponential tails the rate decides
    "exp(ex)": 1, "exp(2 * ex)": 0.5, "exp(-ex)": INF, "exp(5 - 2 * ex)": INF, "exp(ga / 2)": 2 / 3,
    "exp(ch / 3)": 1.5, "exp(la)": 0.5, "exp(-la)": 0.5, "sinh(la / 4)": 2, "exp(gu)": 2,
    "exp(-gu)": INF, "cosh(gu)": 2, "exp(lo)": 0, "exp(we)": INF, "exp(po)": INF, "exp(be)": INF,
    "exp(n * n)": INF, "exp(t3 * n)": INF,
}  # fmt: skip


@pytest.mark.parametrize("expression", ORDERS)
def test_orders(expression: str) -> None:
    scope = lowering(MODEL)
    assert moment_order(expressed(scope, expression)) == pytest.approx(ORDERS[expression])


def test_a_fixed_quantity_has_every_moment() -> None:
    scope = lowering("x ~ cauchy(0, 1)")
    assert moment_order(expressed(scope, "3")) == INF


def test_moments_exist_of_every_other_law() -> None:
    heavy = {"student_t", "f", "cauchy", "pareto"}
    with_orders = set()
    arguments = {0: 2.5, 1: (0.5, 0.5), 2: ((1.0, 0.0), (0.0, 1.0))}
    for name, law in LAWS.items():
        values = [arguments[parameter.axes] for parameter in law.parameters]
        if name == "bernoulli":
            values = [0.5]
        if law.moment_order(*values) < INF:
            with_orders.add(name)
    assert with_orders == heavy


def test_graphs_that_share_their_parts_take_no_time() -> None:
    model = "x0 ~ student_t(3);" + ";".join(
        f"x{i} = x{i - 1} / 2 + x{i - 1}" for i in range(1, 500)
    )
    scope = lowering(model)
    started = time.process_time()
    assert moment_order(expressed(scope, "x499")) == INF
    assert time.process_time() - started < 1


# -- statements ------------------------------------------------------------------------------------


def missing(model: str, claim: str) -> str | None:
    (case,) = registry_of(entry("c", model, claim)).expand()
    lowered = lower_case(parse_claim(case.claim), case.parameters)
    found = missing_moment(lowered) or missing_variance(lowered)
    return None if found is None else str(found)


NONE_EXISTS = "does not exist"
NO_INTERVAL = "no interval can be trusted"


@pytest.mark.parametrize(
    ("model", "claim", "reason"),
    [
        ("x ~ cauchy(0, 1)", "E(x) == 0", NONE_EXISTS),
        ("x ~ cauchy(0, 1)[8]", "E(mean(x)) == 0", NONE_EXISTS),
        ("x ~ student_t(1)", "E(x) == 0", NONE_EXISTS),
        ("x ~ student_t(2)", "Var(x) == 1", NONE_EXISTS),
        ("x ~ student_t(2)", "Std(x) == 1", NONE_EXISTS),
        ("x ~ student_t(3)", "Skew(x) == 0", NONE_EXISTS),
        ("x ~ student_t(4)", "Kurt(x) == 3", NONE_EXISTS),
        ("x ~ pareto(1, 1)", "E(x) < 100", NONE_EXISTS),
        ("x ~ pareto(1.5, 1)", "Var(x) < 100", NONE_EXISTS),
        ("x ~ f(2, 2)", "E(x) < 100", NONE_EXISTS), ("x ~ f(2, 4)", "Var(x) < 100", NONE_EXISTS),
        ("x ~ normal(0, 1)", "E(1 / x) == 0", NONE_EXISTS),
        ("x ~ student_t(30)", "E(exp(x)) == 2", NONE_EXISTS),
        ("x ~ cauchy(0, 1)", "E(exp(-x)) == 2", NONE_EXISTS),
        ("x ~ cauchy(0, 1); y ~ normal(0, 1)", "E(x * y) == 0", NONE_EXISTS),
        ("x ~ cauchy(0, 1); y ~ normal(0, 1)", "E(x + y) - E(y) == 0", NONE_EXISTS),
        ("x ~ student_t(2)", "Corr(x, x) == 1", NONE_EXISTS),
        ("x ~ student_t(2)", "E(x) == 0", NO_INTERVAL),
        ("x ~ student_t(3)", "Var(x) == 3", NO_INTERVAL),
        ("x ~ pareto(2, 1)", "E(x) == 2", NO_INTERVAL),
        # and where nothing is settled, or all is well
        ("x ~ student_t(3)", "E(x) == 0", None), ("x ~ student_t(5)", "Var(x) == 1", None),
        ("x ~ pareto(3, 1)", "E(x) == 1.5", None), ("x ~ normal(0, 1)", "E(exp(x)) == 2", None),
        ("x ~ exponential(1)", "E(exp(x)) == 2", NONE_EXISTS),
        ("x ~ exponential(0.8)", "E(exp(x)) == 5", NO_INTERVAL),
        ("x ~ exponential(0.4)", "E(exp(x)) == 5/3", None),
        ("x ~ uniform(0, 1)", "E(1 / x) == 9", NONE_EXISTS),
        ("x ~ normal(0, 1)", "E(abs(x)**-0.5) == 1.72", NO_INTERVAL),
        ("x ~ normal(0, 1)", "E(abs(x)**-0.4) == 1.5", None),
        ("x ~ normal(0, 1)[2]", "E(1 / (x @ x)) == 1", NONE_EXISTS),
        ("x ~ normal(0, 1)[4]", "E(1 / (x @ x)) == 1/2", NO_INTERVAL),
        ("x ~ normal(0, 1)[5]", "E(1 / (x @ x)) == 1/3", None),
        ("x ~ exponential(0)", "E(1 / (1 + x)) == 1", None),
        ("x ~ laplace(0, 0)", "E(exp(x)) == 1", None),
        ("x ~ cauchy(0, 1)", "P(x > 0) == 0.5", None),
        ("x ~ cauchy(0, 1)", "E(tanh(x)) == 0", None), ("x ~ cauchy(0, 1)", "E(x - x) == 0", None),
        ("x ~ cauchy(0, 0)", "E(x) == 0", None),
        ("x ~ cauchy(0, 1)", "E(x, given=abs(x) < 1) == 0", None),
        ("x ~ uniform(1, 2)", "E(1 / x) == 0", None),
        ("x ~ cauchy(0, 1); y = [x, -x] @ [1, 1]", "E(y) == 0", None),
    ],
)  # fmt: skip
def test_what_is_settled_before_any_draw(model: str, claim: str, reason: str | None) -> None:
    found = missing(model, claim)
    if reason is None:
        assert found is None
    else:
        assert found is not None
        assert reason in found
