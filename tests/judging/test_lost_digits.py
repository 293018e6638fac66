"""Where digits cancel in a model, what rounding leaves decides nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from trials import OPEN, REFUTED, VERIFIED, entry, judged, registry_of, tried

from dropcheck.judging import rounding
from dropcheck.judging.case import prepare
from dropcheck.reasons import Reason
from dropcheck.results import Verdict
from dropcheck.settings import Settings
from dropcheck.simulation import Compiled, rounding_in
from dropcheck.simulation import rounding as digits_left

# A model, a claim, what is true of it, and what the numbers of float64 say.
LOST = [
    ("x ~ uniform(1.1, 1.9)", "E((1e16 + x) - 1e16) == {}", "1.5", "2"),
    ("z ~ normal(0, 1);x = 1e16 + z", "Var(x) == {}", "1", "1.3"),
    ("x ~ normal(1e9, 1)[5]", "E(mean(x**2) - mean(x)**2) == {}", "0.8", "0"),
    ("x ~ normal(3, 1)", "E(((x * 1e-15 + 1) - 1) * 1e15) == {}", "3", "2.997"),
    # a sum that is rounded to a whole number, in each draw or before any
    ("x ~ exponential(1)", "E(((1 + 1e-20 * x) - 1) * 1e20) == {}", "1", "0"),
    ("x ~ exponential(1);c = (exp(1e-18) - 1) * 1e18", "E(c * x) == {}", "1", "0"),
    ("x ~ exponential(1)", "E(x) == 1 + {} + (exp(1e-18) - 1) * 1e18", "-1", "0"),
    # what is drawn is too small for float64
    ("x ~ gamma(0.001, 1)", "E(x**0.001) == {}", "0.5", "0.62"),
    # where rounding decides the condition
    # on both sides alike
    ("x, y ~ uniform(0, 1)", "E(((x + 1e17) - (y + 1e17))**2) == {}", "1 / 6", "0"),
    # whole numbers beyond 2**53, of which a remainder shows no digit
    ("n ~ binomial(5, 0.5)", "E((2**53 + n) % 2) == {}", "0.5", "0"),
    # in one draw of a thousand
]
KEPT = [
    ("s ~ discrete_uniform(0, 2**31 - 1)", "E(65539 * s % 2**31 % 2) == 0.5"),
    ("x ~ normal(1e4, 1)[5]", "E(mean(x**2) - mean(x)**2) == 0.8"),
    ("x ~ normal(0, 1)", "E((1e6 + x) - 1e6) == 0"),
    ("x ~ normal(1e9, 1)", "Var(x) == 1"),
    ("x ~ normal(1e11, 1)[5]", "E(mean((x - mean(x))**2)) == 0.8"),
    ("x ~ normal(0, 1)", "E(sign(x > 0)) == 0.5"),
    ("k ~ poisson(3)", "E(floor(0.1 * k / 0.1) + (0.1 * k + 0.2 >= 0.3) - k) == 0.9502"),
    ("x ~ uniform(0, 1)", "E(norm([x, 1]) + log(1 + x)) <= 3"),
    ("x ~ multivariate_normal([0, 0], [[2, 1], [1, 1]])", "Var(x[0] - x[1]) == 1"),
    # draws whose argument is off use up as many random numbers
    ("n ~ poisson(1000);y ~ multinomial(n, [1/8, 3/8, 1/2])", "E(y[1]) == 375"),
    ("r ~ gamma(0.001, 1000);n ~ poisson(r)", "P(n == 0) == 0.993116"),
    # binomial numbers of a half, and of a little more, are counted from the other end
    ("a ~ binomial(100, 0.5);b ~ binomial(100, a / 100);c ~ binomial(100, b / 100)", "E(c) == 50"),
]
WITHIN = "within: 0.01"


@pytest.mark.parametrize(("model", "claim", "true", "seen"), LOST)
def test_rounding_decides_no_average(model: str, claim: str, true: str, seen: str) -> None:
    for value in (true, seen):
        found = judged(model, claim.format(value), WITHIN)
        assert (found.verdict, found.reason) == (OPEN, Reason.LOST_DIGITS)
        assert found.draws < 300_000  # more draws have no more digits
    (exact,) = tried(
        registry_of(entry("claim", model, claim.format(seen), WITHIN)),
        Settings(threads=1, exact=True),
    )
    assert exact.verdict is not VERIFIED


# Nothing is random: what is true, and what is not
ARITHMETIC = [
    ("sin(pi) == 0", VERIFIED),
    ("[[1, 3], [2, 5]] @ inv([[1, 3], [2, 5]]) == eye(2)", VERIFIED),
    ("(1 + 1e-17)**1e17 == e", OPEN),
    ("(1 + 1e-17)**1e17 == 1", OPEN),
    ("1e16 + 1 - 1e16 == 1", OPEN),
    ("cos(pi / 2) * 1e20 == 0", OPEN),
    ("0.1 + 0.2 == 0.3", VERIFIED),
    ("(1 + 1e-10)**2 == 1", REFUTED),
]


@pytest.mark.parametrize(("claim", "verdict"), ARITHMETIC)
def test_rounding_decides_no_arithmetic(claim: str, verdict: Verdict) -> None:
    found = judged("", claim)
    assert found.verdict is verdict
    assert (found.reason is Reason.LOST_DIGITS) == (verdict is OPEN)


# Events that rounding decides, all of them true, and some that it does not
EVENTS = [
    # a generator whose products are beyond 2**53: its numbers are odd and even in turns
    (
        "s ~ discrete_uniform(0, 2**31 - 1)",
        "P((1103515245 * s + 12345) % 2**31 % 2 == 0) == 0.5",
        OPEN,
    ),
    ("x ~ normal(40, 1)", "P(sigmoid(x) < 1) == 1", OPEN),
    ("x ~ normal(0, 10)[3]", "P(max(softmax(x)) < 1) == 1", OPEN),
    ("x ~ normal(1e8, 1)[5]", "P(mean(x**2) - mean(x)**2 < 0) == 0", OPEN),
    ("x ~ exponential(1)", "P((1 + 1e-20 * x) - 1 > 0) == 1", OPEN),
    ("x ~ normal(0, 1)", "P((1e16 + x) - 1e16 > 0.5) == 0.3085", OPEN),
    ("m ~ bernoulli(0.5)", "P((1e20 + m) - 1e20 == 0) == 0.5", OPEN),
    # false ones, which hold where their digits are lost, and true ones, which do not
    ("x ~ normal(30, 1)", "P(tanh(x) >= 1) == 1", OPEN),
    ("x ~ normal(50, 1)", "P(sigmoid(x) < 1) > 0.5", OPEN),
    ("x ~ normal(0, 1e-17)", "P(1 + abs(x) <= 1) == 1", OPEN),
    ("x ~ normal(0, 1e-16)", "P(1 + x > 1) == 0.5", OPEN),
    ("n ~ poisson(50)", "P(sigmoid(n) < 1) == 1", OPEN),
    ("n ~ poisson(50)", "P(floor(sigmoid(n)) == 0) == 1", OPEN),
    # the same of few values, of shares, and of what has random parameters
    ("n ~ poisson(3)", "P(1 + 1e-20 * n == 1) == 1", OPEN),
    ("m ~ bernoulli(0.5)", "P(2 - 1e-20 * m >= 2) == 1", OPEN),
    ("m ~ bernoulli(0.5)", "P(floor(1 - 1e-20 * (1 + m)) == 1) == 1", OPEN),
    ("m ~ bernoulli(0.5)", "P(2 + 1e-20 * m >= 2) == 1", VERIFIED),
    ("m ~ bernoulli(0.5)", "P(0.1 * m + 0.2 * m - 0.3 * m + 1 == 1) == 1", VERIFIED),
    ("d ~ dirichlet([1, 1])", "P(2 * (1 + 1e-20 * d[0]) == 2) == 1", OPEN),
    ("s ~ uniform(1, 2);x ~ normal(0, s)", "P(1 + 1e-20 * x == 1) == 1", OPEN),
    # what is too small for float64
    ("u ~ uniform(0, 0.01)[200]", "P(prod(u) == 0) == 1", OPEN),
    ("x ~ normal(0, 0.001)[200]", "P(prod(x) >= 0) == 1", OPEN),
    ("u ~ uniform(0, 0.01)[200]", "P(prod(u) >= 0) == 1", VERIFIED),
    ("u ~ uniform(0, 1e-5)[99]", "P(prod(u) * u[0] == 0) == 1", OPEN),
    ("x ~ normal(800, 1)", "P(exp(-x) > 0) == 1", OPEN),
    ("x ~ normal(0, 400)[5]", "P(min(softmax(x)) > 0) == 1", OPEN),
    ("u ~ exponential(1e-4)[99]", "P(prod(u) > 0) == 1", OPEN),
    ("x ~ normal(800, 1)", "P(exp(-x) >= 0) == 1", VERIFIED),
    ("x ~ normal(-50, 1)", "P(relu(x + 45) > 0) < 1e-3", VERIFIED),
    ("x ~ normal(-50, 1)", "P(floor(x + 49.5) == 0) < 0.4", VERIFIED),
    ("x ~ normal(-50, 1);u ~ uniform(0, 1)", "P((x > -45) * u > 0) < 1e-3", VERIFIED),
    # what is too large
    ("x ~ pareto(3, 40)", "P(log(exp(x)) == x) == 1", OPEN),
    ("x ~ normal(0, 500)", "P(exp(x + 1) > exp(x)) == 1", OPEN),
    ("x ~ normal(0, 500)", "P(exp(x) > x) == 1", VERIFIED),
    # where the law has no number of moderate size, and where what is computed from it has none
    ("x ~ uniform(20, 30)", "P(tanh(x) == 1) == 1", OPEN),
    ("n ~ discrete_uniform(50, 60)", "P(Phi(n) >= 1) == 1", OPEN),
    ("x ~ choice([50, 60])", "P(sigmoid(x) == 1) == 1", OPEN),
    ("x ~ uniform([20, 30], 40)", "P(tanh(x) == 1) == 1", OPEN),
    ("x ~ choice([[1, 2], [3, 4]])", "P(tanh(x) < 1) == 1", VERIFIED),
    ("x ~ exponential(1)", "P(tanh(2 * x + 40) >= 1) == 1", OPEN),
    ("x ~ uniform(1, 2)", "P(tanh(20 * x) == 1) == 1", OPEN),
    ("x ~ uniform(1, 2)", "P(abs(20 * x) == 20 * x) == 1", VERIFIED),
    # wherever one looks
    ("x ~ uniform(1, 2)", "P(tanh(20 + x**2) == 1) == 1", OPEN),
    ("x ~ uniform(1, 2)[3]", "P(erf(3 * sum(x)) < 1) < 0.1", OPEN),
    ("m ~ bernoulli(0.5)[60]", "P(tanh(20 + sum(m)) == 1) == 1", OPEN),
    ("x, y ~ normal(0, 1)", "P(sigmoid(50 + abs(x) + y**2)**2 == 1) == 1", OPEN),
    ("x ~ normal(0, 1)", "P(floor(tanh(exp(4 + abs(x)))) == 1) == 1", OPEN),
    ("x ~ uniform(1, 2)", "P(1 - exp(-100 * x**2) == 1) == 1", OPEN),
    ("x ~ uniform(1, 2)", "P(exp(-900 * x)**2 == 0) == 1", OPEN),
    ("x ~ normal(0, 20)", "P(erf(x) + erfc(x) == 1) == 1", VERIFIED),
    ("x ~ normal(0, 20)", "P(x * sigmoid(x) <= relu(x)) == 1", VERIFIED),
    ("x ~ uniform(0, 1)", "P(abs(x + 40) == x + 40) == 1", VERIFIED),
    ("n ~ geometric(0.01)", "P(1 - 0.5**n < 1) == 1", OPEN),
    ("x ~ normal(0, 1)", "P((1e6 + x) - 1e6 > 0.5) == 0.3085", VERIFIED),
    # where what is drawn is multiplied by what is small
    ("x ~ uniform(1, 2)", "P((1 + 1e-16 * x) - 1 > 1.5e-16) == 0.5", OPEN),
    ("x ~ exponential(1)", "P(exp(1e-17 * x) - 1 == 0) == 1", OPEN),
    ("x ~ normal(0, 1)", "P((1 + 1e-17 * x**2) - 1 > 0) == 1", OPEN),
    ("x ~ normal(0, 1)", "P(1e-17 * x > 1e-17) < 0.2", VERIFIED),
    ("x ~ uniform(0, 1)", "P(clip(x + 0.1 - 0.1, 0, 1) == x) == 1", VERIFIED),
    # draws that are too small or too large for float64, or too near 1
    ("x ~ gamma(0.001, 1)", "P(log(x) > -800) == 1", OPEN),
    ("x ~ gamma(0.001, 1)", "P(x > 0) == 1", VERIFIED),
    ("x ~ pareto(0.001, 1)", "P(log(x) > 1000) == 0.3679", OPEN),
    ("x ~ beta(0.001, 0.001)", "P(logit(x) > 100) == 0.45", OPEN),
    ("x ~ normal(800, 1)", "P(log(exp(-x)) < -1000) == 0", OPEN),
    # what is equal on paper, or clear elsewhere to the same side
    ("x ~ normal(9, 1)", "P(x**3 == x * x * x) == 1", VERIFIED),
    ("x ~ normal(0, 1)", "P(x**5 == x * x * x**3) == 1", VERIFIED),
    ("x ~ normal(0, 20)[3]", "P(logsumexp(x) >= max(x)) == 1", VERIFIED),
    ("x ~ gamma(0.0001, 1)", "P(x**0.01 > 0.0005) == 1", OPEN),  # false
    ("x ~ gamma(0.001, 1);y ~ normal(log(x) / 1000, 0.01)", "P(y > -0.8) == 1", OPEN),  # false
    ("x ~ gamma(0.001, 1);y ~ normal(log(x) / 1000, 0.01)", "P(y > -0.5) == 0.3935", VERIFIED),
    ("x ~ uniform(0, 1)", "P(1e-3 * ((1e16 + x) - 1e16) <= 0) == 1", OPEN),  # false
    ("x ~ uniform(0, 1)", "P(x + 0.1 - x - 0.1 == 0) == 1", VERIFIED),
    ("x ~ normal(0, 20)", "P(1 - tanh(x)**2 >= 0) == 1", VERIFIED),
    ("x ~ normal(30, 1)", "P(sigmoid(x) <= 1) == 1", VERIFIED),
    ("x ~ normal(0, 1)[2];y = where([1, 0] == 1, x, -inf)", "P(softmax(y)[1] == 0) == 1", VERIFIED),
    ("x ~ normal(0, 1)", "P(1 / exp(exp(800 + x)) == 0) == 1", OPEN),  # false
    ("x ~ normal(5, 1)", "P(relu(x) == x) > 0.99", VERIFIED),
    ("x ~ uniform(20, 30)", "P(2 * x == x / 0.5) == 1", VERIFIED),
    ("x ~ uniform(20, 30)", "P(exp(log(x - 19)) == x - 19) == 1", VERIFIED),
    ("x ~ normal(-5, 1)", "P(maximum(x, -2.3) == -2.3) > 0.9", VERIFIED),
    ("n ~ poisson(100)", "P(0.1 * n >= 10) == 0.5133", VERIFIED),
    ("n ~ poisson(40)", "P(log2(2**n) == n) == 1", VERIFIED),
    ("n ~ poisson(40)", "P(floor(sqrt(n)**2) == n) == 1", VERIFIED),
    ("x ~ normal(0, 1)[2]", "P(abs(x[0] + x[1]) <= abs(x[0]) + abs(x[1])) == 1", VERIFIED),
    ("x ~ normal(0, 1)[3]", "P(sum(softmax(x)) == 1) == 1", VERIFIED),
    ("x ~ normal(0, 1)", "P(clip(x, 0, 1) < 1) == 1", REFUTED),
    ("x ~ normal(0, 1)", "P(relu(x) > 0) == 1", REFUTED),
    ("x ~ normal(0, 1)", "P(abs(x) != -x) == 1", REFUTED),
    ("x ~ normal(0, 1)", "P(where(x > 9, 2 * x, x) != x) == 1", REFUTED),
    ("m ~ bernoulli(0.5)", "P(0.1 * m < 0.1) == 1", REFUTED),
    ("x ~ normal(0, 1)[2]", "P(x[0] * x[1] >= (x[0]**2 + x[1]**2) / 2) == 1", REFUTED),
    # what is lost on both sides is not the same
    ("x, y ~ uniform(0, 1)", "P(x + 1e17 == y + 1e17) > 0.5", OPEN),  # false
    ("x ~ uniform(0, 1)", "P(x + 1e17 == 1e17 + x) == 1", VERIFIED),
    ("x, y ~ gamma(0.0005, 1)", "P(x == y) == 0", OPEN),  # true
    ("x ~ gamma(0.0003, 1)[3]", "P(argmin(x) == 0) > 0.5", OPEN),  # false
    ("a ~ normal(0, 1e-200)[3]", "P(sum(a**2) == 0) > 0.5", OPEN),  # false
    # no draw comes near enough to where it would be clear
    ("x ~ normal(0, 1)", "P(arctan(1e17 + x) == pi / 2) > 0.5", OPEN),  # false
    ("x ~ uniform(0, 1)", "P(floor(x + 1e17) == x + 1e17) == 1", OPEN),  # false
]


@pytest.mark.parametrize(("model", "claim", "verdict"), EVENTS)
def test_rounding_decides_no_event(model: str, claim: str, verdict: Verdict) -> None:
    found = judged(model, claim)
    assert found.verdict is verdict
    assert (found.reason is Reason.UNCLEAR_EVENT) == (verdict is OPEN)


# averages of what jumps where digits are lost, all true
OF_JUMPS = [
    ("x ~ normal(50, 1)", "E(where(sigmoid(x) < 1, 3, 0)) == 3"),
    ("x ~ normal(50, 1)", "E(sign(1 - sigmoid(x))) == 1"),
    ("n ~ poisson(50)", "E(floor(sigmoid(n))) == 0"),
    ("x ~ uniform(50, 60)", "E(tanh(x) < 1) == 1"),
]


@pytest.mark.parametrize(("model", "claim"), OF_JUMPS)
def test_rounding_decides_no_average_of_jumps(model: str, claim: str) -> None:
    found = judged(model, claim)
    assert (found.verdict, found.reason) == (OPEN, Reason.LOST_DIGITS)


# Quantiles and laws, and whether they have a verdict; what is true of them
QUANTILES = [
    ("x ~ normal(45, 1);y = sigmoid(x)", "Median(y) < 1", OPEN),  # true
    ("x ~ normal(45, 1);y = sigmoid(-x)", "Median(y) > 0", VERIFIED),
    ("x ~ normal(800, 1);y = exp(-x)", "Median(y) > 0", OPEN),  # true
    ("x ~ normal(0, 1);y = (1e16 + x) - 1e16", "Quantile(y, 0.8) == 0.84", OPEN),  # true
    ("x ~ normal(0, 1);y = (1e10 + x) - 1e10", "Quantile(y, 0.8) == 0.8416", VERIFIED),
    ("x ~ normal(0, 1);y = relu(x - 0.1)", "Median(y) < 0", REFUTED),
    ("x ~ gamma(0.001, 1);y = log(x)", "Quantile(y, 0.3) == -1204.5", OPEN),  # true
    ("x ~ normal(0, 1);y = 1e-300 * x * 1e-20 * 1e20 * 1e300", "y ~ normal(0, 1)", OPEN),
    ("k ~ binomial(6, 0.5);y = 0.1 * k", "Median(y) < 0.3", REFUTED),
    ("x ~ normal(0, 1);y = (1e16 + x) - 1e16", "y ~ normal(0, 1)", OPEN),  # true
    ("x ~ normal(0, 1);y = exp(log(1e-16 * exp(x) + 1)) - 1", "y ~ lognormal(-36.841, 1)", OPEN),
    ("e ~ exponential(1);y = exp(-500 * e)**0.002", "y ~ uniform(0, 1)", OPEN),  # true
    ("e ~ exponential(1);y = exp(-500 * e)**0.002", "y ~ uniform(0, 20)", REFUTED),
    ("x ~ normal(0, 1);y = (1e6 + x) - 1e6", "y ~ normal(0, 1)", VERIFIED),
    ("x ~ normal(0, 1);y = (1e6 + x) - 1e6", "y ~ normal(0, 1.1)", REFUTED),
    ("x ~ uniform(0, 1);y = x + 1e17", "independent(x, y)", OPEN),  # false
    ("x, u ~ uniform(0, 1);y = x + 1e17;z = 2 * u + 1e17", "y ~ z", OPEN),  # false
]


@pytest.mark.parametrize(("model", "claim", "verdict"), QUANTILES)
def test_rounding_decides_no_quantile_and_no_law(model: str, claim: str, verdict: Verdict) -> None:
    assert judged(model, claim).verdict is verdict


def test_without_room_for_rounding_a_true_quantile_is_refuted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(digits_left, "MOVED_SHARE", 0.0)
    monkeypatch.setattr(digits_left, "unless_saturated", lambda *_: None)
    model, claim, _ = QUANTILES[0]
    assert judged(model, claim).verdict is REFUTED


# at a strict end: true ones whose digits are lost, and false ones that lose none
STRICT = [
    ("x ~ uniform(20, 30)", "E(tanh(x)) < 1", OPEN),
    ("x ~ uniform(20, 30)", "Var(tanh(x)) > 0", OPEN),
    ("m ~ bernoulli(0.5)", "E(tanh(20 + m)) < 1", OPEN),
    ("x ~ choice([3, 3])", "Var(x) > 0", REFUTED),
    ("x ~ normal(0, 1)", "E(sign(x)**2) < 1", REFUTED),
]


@pytest.mark.parametrize(("model", "claim", "verdict"), STRICT)
def test_rounding_decides_no_strict_inequality(model: str, claim: str, verdict: Verdict) -> None:
    found = judged(model, claim)
    assert found.verdict is verdict
    assert (found.reason is Reason.LOST_DIGITS) == (verdict is OPEN)


def test_without_a_look_elsewhere_false_events_are_verified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(digits_left, "_by_reference", lambda *_: ({}, ()))
    assert judged("x ~ normal(30, 1)", "P(tanh(x) >= 1) == 1").verdict is VERIFIED


def test_without_room_for_rounding_wrong_verdicts_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rounding, "rounding_in", lambda program, *_: np.zeros(len(program.terms)))
    model, claim, _, seen = LOST[0]
    with pytest.raises(Exception, match="the exact value"):
        judged(model, claim.format(seen), WITHIN)


@pytest.mark.parametrize(
    ("claim", "where"),
    [
        ("E(exp(x - 1)) == 1e16 * (1 - Phi(8.2))", "in what the claim says"),
        ("E((1e16 + x) - 1e16) == 1", "in the model"),
    ],
)
def test_where_digits_cancel_is_said(claim: str, where: str) -> None:
    found = judged("x ~ uniform(0.5, 1.5)", claim, WITHIN)
    assert found.explanation is not None
    assert where in str(found.explanation)


@pytest.mark.parametrize(("model", "claim"), KEPT)
def test_what_keeps_its_digits_is_verified(model: str, claim: str) -> None:
    assert judged(model, claim).verdict is VERIFIED


@pytest.mark.parametrize("size", [1e8, 1e12, 3e15])
def test_the_rounding_that_is_looked_for_is_what_is_lost(size: float) -> None:
    claim = f"E(exp(({size:g} + x) - {size:g})) == 2.7"
    (case,) = registry_of(entry("claim", "x ~ uniform(0.5, 1.5)", claim)).expand()
    compiled = prepare(case).compiled
    assert isinstance(compiled, Compiled)
    x = np.random.default_rng(1).uniform(0.5, 1.5, 512)
    off = np.abs(np.exp((size + x) - size) - np.exp(x)).mean()
    program = replace(compiled.program, counter=None)
    room = rounding_in(program, np.random.default_rng(2), program.origin, 64)
    assert off <= room[0] <= 100 * off
