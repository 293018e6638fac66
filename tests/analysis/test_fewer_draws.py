"""Quantities of the same law made of other draws: of elements by their rank, of normal vectors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fewer_draws_made import are_alike, exactly, numbers_a_draw, programs, text_of

from dropcheck.analysis import rewriting
from dropcheck.analysis.norms import Norms
from dropcheck.analysis.rewriting import with_fewer_draws
from dropcheck.claims.reader import read_text
from dropcheck.language.compile import lower_case, parse_claim
from dropcheck.results import Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.vocabulary.laws.derived import ranked

ONE_RANK = [
    ("x ~ normal(1, 2)[5]", "max(x)", 1),
    ("x ~ exponential(2)[4]", "min(x)**2", 1),
    ("x ~ uniform(-1, 2)[7]", "exp(median(x))", 1),
    ("x ~ gamma(0.5, 1)[9]", "quantile(x, 0.25)", 1),
    ("x ~ normal(0, 1)[6]", "sort(x)[-2]", 1),
    ("x ~ laplace(0, 1)[2, 3]", "max(x, axis=[0, 1])", 1),
    ("x ~ normal(0, 1)[2, 3]; u ~ uniform(0, 1)", "u * min(x, axis=[0, 1])", 2),
]


@pytest.mark.parametrize(("model", "quantity", "numbers"), ONE_RANK)
def test_the_law_is_the_same(model: str, quantity: str, numbers: int) -> None:
    fewer, plain = programs(model, f"E({quantity}) == 0")
    assert numbers_a_draw(fewer) == numbers < numbers_a_draw(plain)
    assert are_alike(fewer, plain)


def test_a_wrong_rank_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriting, "ranked", lambda law, rank, count: ranked(law, rank, count + 1))
    assert not any(are_alike(*programs(model, f"E({one}) == 0")) for model, one, _ in ONE_RANK[:2])


@pytest.mark.parametrize(
    "claim",
    [
        "E(max(x) - min(x)) == 0",  # of two ranks
        "E(max(x)) + E(x) == 0",  # claimed about itself
        "E(sort(x)[[0, 1]]) == 0",
        "E(median(x)) == 0",  # the mean of two elements
        "E(max(n)) == 0",  # there are ties
        "E(max(r)) == 0",  # its arguments are random
        "E(max(s)) == 0",  # no law of their own for each
        "E(max(exp(x))) == 0",
        "E(cummax(x)[1]) == 0",
        "E(sort(y)[0, [1, 1]]) == 0",  # one element twice
    ],
)
def test_others_stay(claim: str) -> None:
    model = "x ~ normal(0, 1)[4]; n ~ poisson(3)[4]; u ~ uniform(1, 2); r ~ normal(0, u)[4]"
    model += "; s ~ normal(0, [1, 2])[2]; y ~ normal(0, 1)[2, 3]"
    fewer, plain = programs(model, claim)
    assert numbers_a_draw(fewer) == numbers_a_draw(plain)


@pytest.mark.parametrize(
    ("law", "claim", "truth"),
    [
        # Σ 1/i and Σ 1/i² over the last n - k of i = 1 … n (David and Nagaraja 2003, section 2.7)
        ("exponential(2)[5]", "E(sort(x)[3])", 2 * (1 / 2 + 1 / 3 + 1 / 4 + 1 / 5)),
        ("exponential(1)[100]", "Var(max(x))", sum(1 / i**2 for i in range(1, 101))),
        ("uniform(0, 1)[20]", "E((21 / 20 * max(x) - 1)**2)", 1 / (20 * 22)),
        ("pareto(1.5, 1)[4]", "Var(min(x))", 6 / 4 - 36 / 25),  # a Pareto variable of index 6
        ("student_t(3)[9]", "E(median(x))", 0.0),
        ("normal(0, 1)[3]", "E(max(x))", 1.5 / math.sqrt(math.pi)),
    ],
)
def test_moments_are_exact(law: str, claim: str, truth: float) -> None:
    assert exactly(f"x ~ {law}", claim) == pytest.approx(truth, rel=1e-8, abs=1e-15)


# ---- normal vectors -----------------------------------------------------------------------------

VECTOR = "x ~ multivariate_normal([1, -2, 0.5], [[2, 1, 0.3], [1, 3, -1], [0.3, -1, 1]])"
MEAN = np.array([1.0, -2.0, 0.5])
COVARIANCES = np.array([[2.0, 1.0, 0.3], [1.0, 3.0, -1.0], [0.3, -1.0, 1.0]])


def test_moments_of_quadratic_forms_in_a_normal_vector_are_exact() -> None:
    """tr(A S) + m'A m, and 2 tr((A S)²) + 4 m'A S A m (Searle 1971, section 2.5)."""
    generator = np.random.default_rng(5)
    mean, covariances = MEAN, COVARIANCES
    for _ in range(3):
        matrix = generator.integers(-3, 4, (3, 3))
        matrix = matrix + matrix.T
        form = f"x @ {matrix.tolist()} @ x"
        both = matrix @ covariances
        expected = np.trace(both) + mean @ matrix @ mean
        assert exactly(VECTOR, f"E({form})") == pytest.approx(expected, rel=1e-9)
        variance = 2 * np.trace(both @ both) + 4 * mean @ both @ matrix @ mean
        assert exactly(VECTOR, f"Var({form})") == pytest.approx(variance, rel=1e-9)


@pytest.mark.parametrize(
    ("quantity", "mean", "variance"), [("x", 0.5, 1.1), ("x[3] + mean(x)", 1.0, 1.475)]
)
def test_log_moments_of_a_long_normal_vector(quantity: str, mean: float, variance: float) -> None:
    """Of 40 numbers of variance 1.1 and covariances 0.1, of which the mean has 0.125 with each."""
    text = text_of("x ~ multivariate_normal(full(40, 0.5), eye(40) + 0.1)", f"E({quantity}) == 0")
    lowered = lower_case(parse_claim(read_text(text).claims["c"]), {})
    (value,) = with_fewer_draws(lowered).operands[0].inputs
    for t in (-2.0, 1.0):
        found = Norms().ask(value, lambda one, t=t: one.log_moment(t))  # type: ignore[misc]  # of `t=t`
        assert found >= t * mean + t**2 * variance / 2 - 1e-9


# ---- sums ---------------------------------------------------------------------------------------

NORMALS = "x ~ normal(0.5, 2)[4]"
SUMS = [
    # of one family
    ("x ~ normal(1, 2)[5]", "sum(x)", 1),
    ("x ~ exponential(2)[4]", "1 / (1 + mean(x))", 1),
    ("x ~ gamma(0.5, 3)[4]", "log(1 + mean(2 - 3 * x / 4)**2)", 1),
    ("x ~ chi_square(3)[4]", "sqrt(sum(x))", 1), ("x ~ cauchy(1, 2)[4]", "arctan(mean(x))", 1),
    ("x ~ poisson(0.7)[4]", "exp(-sum(x))", 1), ("x ~ bernoulli(0.3)[4]", "sqrt(mean(x))", 1),
    ("x ~ binomial(3, 0.3)[4]", "sqrt(sum(x))", 1), ("x ~ geometric(0.3)[4]", "4 / sum(x)", 1),
    ("x ~ negative_binomial(2, 0.6)[4]", "sqrt(mean(x))", 1),
    ("x ~ rademacher()[4]", "abs(sum(x))", 1),
    ("x ~ poisson(2)[4]", "exp(-mean(x / 10))", 1),
    ("x ~ normal(0, 1)[2, 3, 4]", "exp(sum(sum(x, axis=[0, 2]))) + norm(x, axis=[0, 1, 2])", 2),
    # squares of normal draws
    ("x ~ normal(0, 2)[5]", "log(sum(x**2))", 1), ("x ~ normal(0, 2)[5]", "norm(-x / 3)", 1),
    ("x ~ normal(0, 2)[5]", "1 / (1 + x @ x)", 1),
    ("x ~ normal(1e4, 1)[3]", "mean(x**2) - mean(x)**2", 1),
    ("x ~ normal(1, 2)[3]", "exp(-mean((x - mean(x))**2) - sum(2 * x + 1)**2)", 2),
    (NORMALS, "std(x, ddof=1)", 1),
    (NORMALS, "mean(x) / std(3 * x + 1, ddof=1)", 2),
    (NORMALS, "norm(x) + sum((2 - x)**2)", 2), (NORMALS, "log(sum((x - mean(x))**2))", 1),
]  # fmt: skip


@pytest.mark.parametrize(("model", "quantity", "numbers"), SUMS)
def test_sums_have_the_same_law(model: str, quantity: str, numbers: int) -> None:
    fewer, plain = programs(model, f"E({quantity}) == 0")
    assert numbers_a_draw(fewer) == numbers < numbers_a_draw(plain)
    assert are_alike(fewer, plain)


def test_statements_beside_each_other_share_sums() -> None:
    """A mean and a variance of normal draws know nothing of each other."""
    fewer, plain = programs(NORMALS, "Cov(mean(x)**2, var(x)) + Cov(norm(x), mean(x)) == 0")
    assert numbers_a_draw(fewer) == 2
    assert are_alike(fewer, plain)


FEW = [SUMS[0], SUMS[1], SUMS[3], SUMS[13], SUMS[18]]


@pytest.mark.parametrize("wrong", [-1, 1])
def test_wrong_degrees_are_seen(monkeypatch: pytest.MonkeyPatch, wrong: int) -> None:
    drawn = rewriting._drawn

    def off(draw, law, arguments, name):  # type: ignore[no-untyped-def]  # as what it stands for
        return drawn(draw, law, [one + 0.5 * wrong for one in arguments], name)

    monkeypatch.setattr(rewriting, "_drawn", off)
    assert not any(are_alike(*programs(model, f"E({one}) == 0")) for model, one, _ in FEW)


@pytest.mark.parametrize(
    "claim",
    [
        "E(sum(x) + x[0]) == 0",  # an element by itself
        "E(mean(x)) + E(x) == 0", "E(sum(x), given=x[0] > 0) == 0", "E(sum(x) * max(x)) == 0",
        "E(sum(x**3)) == 0", "E(sum(x * [1, 2, 3, 4])) == 0",
        "E(sum(x * z)) == 0",  # of lines that differ by element
        "E(sum(x - mean(x))) == 0", "E(norm(x, ord=1)) == 0", "E(sum(exp(x))) == 0",
        "E(sum(2**x)) == 0",
        "E(var(x, ddof=4)) == 0",  # of no degrees
        "E(max(sum(y, axis=0))) == 0",  # of rows
        "E(sum(sum(y, axis=0)**2)) == 0",
        "E(mean(y - mean(y, axis=-1, keepdims=1))) == 0",
        "E(mean((y - mean(y, axis=-1, keepdims=1))**2)) == 0",  # less the means of other rows
        "E(sum(w)) == 0",  # elements of different spread
        "E(var(v)) == 0",  # of different means
        "E(std(e)) == 0",  # of no normal draws
        "E(sum(e**2)) == 0",
        "E(mean(n) - 0.3) == E(mean(n - 0.1))",  # of which rounding decides
        "E(sum(u)) == 0",  # of no such family
        "E(mean(one)) == 0",
        "E(sum(h)) == 0",  # an argument that may be wrong
        "E(sum(x / b)) == 0",  # numbers that may be infinite
        "E(sum(x * (1 / b))) == 0",
    ],
)  # fmt: skip
def test_other_sums_stay(claim: str) -> None:
    model = (
        "x ~ normal(0, 1)[4]; y ~ normal(0, 1)[3, 3]; z ~ uniform(0, 1)[4]; e ~ exponential(1)[4]"
    )
    model += "; w ~ normal(0, [1, 2, 3]); v ~ normal([1, 2, 3], 1); n ~ poisson(2)[4]"
    model += "; u ~ uniform(0, 1)[5]; one ~ normal(0, 1)[1]; g ~ normal(9, 1); h ~ normal(0, g)[3]"
    model += "; b ~ bernoulli(0.5)"
    fewer, plain = programs(model, claim)
    assert numbers_a_draw(fewer) == numbers_a_draw(plain)


@pytest.mark.parametrize(
    ("model", "claim", "truth"),
    [
        # 1 / g of a gamma variable g, by its moments (JKB 1994, chapter 17)
        ("x ~ exponential(2)[6]", "Var(1 / mean(x))", 9 / (25 * 4)),
        ("x ~ normal(0, 3)[7]", "E(1 / sum(x**2))", 1 / 45),
        ("x ~ normal(0, 1)[10]", "Var(norm(x))", 10 - 2 * math.exp(
            2 * (math.lgamma(5.5) - math.lgamma(5)))),
        ("x ~ normal(5, 2)[5]", "E(std(x, ddof=1))", 2 * math.sqrt(0.5) * math.gamma(2.5)),
        ("x ~ normal(5, 2)[5]", "Kurt(var(x))", 6.0),
        ("x ~ normal(1, 2)[6]", "Corr(mean(x), var(x))", 0.0),
    ],
)  # fmt: skip
def test_moments_of_sums_are_exact(model: str, claim: str, truth: float) -> None:
    assert exactly(model, claim) == pytest.approx(truth, rel=1e-8, abs=1e-12)


def test_a_statement_about_a_law_shares_sums() -> None:
    """Beside one, a variance is exact as it is alone, and both are judged."""
    of, is_ = "of: t * sqrt(8) ~ student_t(7)", "is: Var(t * sqrt(8)) == 7 / 5"
    text = text_of("x ~ normal(0, 1)[8]; t = mean(x) / std(x, ddof=1)", "{}")
    registry = read_text(text.replace("claim: {}", f"claims: {{{of}, {is_}}}"))
    law, variance = verify_cases(registry.expand(), Settings(threads=1), registry)
    assert (law.verdict, variance.verdict) == (Verdict.VERIFIED, Verdict.VERIFIED)
    assert variance.exact is not None
    assert variance.exact.value == pytest.approx(7 / 5, rel=1e-8)
