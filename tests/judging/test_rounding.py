"""What rounding decides has no verdict, at any seed; what it does not decide has one.

Each claim is judged at several seeds, where a wrong verdict of a rule that moves results at random
would show sooner or later. The claims of the contract are all in the set `rounding` of known truth.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trials import entry, judged, registry_of, tried

from dropcheck.claims.reader import read_registries
from dropcheck.judging import rounding
from dropcheck.judging.case import prepare
from dropcheck.reasons import Reason
from dropcheck.results import Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation import Compiled, rounding_in

SEEDS = range(4)
CONTRACT = Path(__file__).resolve().parents[1] / "contract" / "claims" / "rounding.yaml"

# By model: what is true on paper, and mostly not in float64.
TRUE = {
    "x ~ choice([0.1, 0.2, 0.3])": [
        "P(x + 0.1 == 0.3) == 1/3",
    ],
    "k ~ discrete_uniform(1, 7)": [
        "P(k / 7 == 0.14285714285714285) == 0",
    ],
    "k ~ discrete_uniform(1, 9)": [
        "P(k / 3 * 3 == k) == 1",
    ],
    "k ~ discrete_uniform(0, 10)": [
        "P(k / 10 >= 0.3) == 8/11",
    ],
    "m ~ bernoulli(0.5)[10]": [
        "P(mean(m) >= 0.7) == 176 / 1024",
    ],
    "m ~ bernoulli(0.5)": [
        "P(sum([1e16, m, -1e16]) == 1) == 0.5",
        "E(sum([1e16, m, -1e16])) == 0.5",
        "P(exp(-800 - m) == exp(-801)) == 0.5",
        "P(comb(60 + m, 30) % 2 == 0) == 1",
        "P(3**(40 + m) % 2 == 1) == 1",
        "P(prod([123457, 123457, 123457, 1 + 2*m]) % 2 == 1) == 1",
    ],
    "m ~ bernoulli(0.5)[3, 3]": [
        "P(det(m) == 0) == 338/512",
    ],
    "x ~ normal(60, 1)[20]": [
        "P(all(tanh(x) < 1)) == 1",
        "P(any(tanh(x) < 1)) == 1",
    ],
    "u ~ uniform(0, 1)": [
        "P(u * 2**40 % 1 == 0) == 0",
    ],
    "k ~ poisson(1)": [
        "E(1e5 * (k / 10 - 0.5 >= 0.2)) == 8.3241149",
        "P(0.1 * k * 10 == k) == 1",
    ],
    "k ~ poisson(1);j ~ poisson(1)": [
        "P((k + j) / 10 - 0.5 >= 0.2) == 0.0045338",
    ],
    "k ~ poisson(10)": [
        "P(floor(0.1 * k * 10) == k) == 1",
    ],
    "k ~ discrete_uniform(1, 100)": [
        "P(k * 0.01 == k / 100) == 1",
        "P(1 / k * k == 1) == 1",
        "P(1 / k * k < 1) == 0",
        "P(sqrt(k)**2 == k) == 1",
        "P(log(exp(k)) == k) == 1",
        "E(sign(sqrt(k)**2 - k)) == 0",
        "P(sin(k)**2 + cos(k)**2 == 1) == 1",
    ],
    "x ~ normal(0, 1)": [
        "P(sin(x)**2 + cos(x)**2 > 1) == 0",
    ],
    "x, y ~ normal(0, 1)": [
        "P((x + y) - x == y) == 1",
        "E((x + y) - x == y) == 1",
    ],
    "x ~ normal(0, 1)[4]": [
        "P(norm(x / norm(x)) <= 1) == 1",
        "P(sum(x) == x[3] + x[2] + x[1] + x[0]) == 1",
        "P(sum(x - mean(x)) == 0) == 1",
        "P(var(x) >= 0) == 1",
    ],
    "z ~ normal(0, 1);m = (1e16 + z) - 1e16;x ~ normal(m, 1)": [
        "P(abs(x) < 0.5) == 0.27633",
    ],
    "p ~ uniform(0, 1);b ~ bernoulli((1e16 + p) - 1e16)": [
        "P(b == 1) == 0.5",
    ],
    "k ~ discrete_uniform(0, 99)": [
        "P(k / 100 + 0.01 == (k + 1) / 100) == 1",
    ],
    "x ~ exponential(1)": [
        "P(sin(x * 1e-10) < x * 1e-10) == 1",
    ],
    "x ~ exponential(1);y = x * 1e-200 * 1e-200": [
        "P(y > 0) == 1",
    ],
    "x ~ exponential(1);y = x * 1e200 * 1e200": [
        "P(isfinite(y)) == 1",
    ],
    "x ~ exponential(1);y = exp(-x * 1e4)": [
        "E(maximum(log(y), -1e9)) == -1e4",
    ],
    "x ~ exponential(1);y = exp(-x * 1e3)": [
        "E(y**0.001) == 0.5",
    ],
}
# By model: what is false on paper, and mostly true in float64.
FALSE = {
    "x ~ choice([0.1, 0.2, 0.3])": [
        "P(x + 0.1 == 0.3) == 0",
    ],
    "k ~ discrete_uniform(1, 7)": [
        "P(k / 7 == 0.14285714285714285) == 1/7",
    ],
    "k ~ discrete_uniform(0, 10)": [
        "P(k / 10 > 0.3) == 8/11",
    ],
    "m ~ bernoulli(0.5)": [
        "P(sum([1e16, m, -1e16]) == 0) == 1",
        "P(sum([1e16, m, -1e16]) < 0.5) == 1",
        "E(sum([1e16, m, -1e16])) == 0",
        "P(mean([1e16, m, -1e16]) > 0) == 0",
        "P(dot([1e8, m, 1e8], [1e8, 1, -1e8]) > 0) == 0",
        "P(exp(-800 - m) == exp(-801)) == 1",
        "P(tanh(40 + m) == tanh(41)) == 1",
        "P(2**(-2000 - m) == 0) == 1",
        "P(2**(2000 + m) == 2**2000) == 1",
        "P(2.0**-60 * m + 1 == 1) == 1",
        "P(2**53 + m == 2**53) == 1",
        "P(9007199254740993 - m == 9007199254740992) == 1",
        "P(factorial(20 + m) + 1 == factorial(20 + m)) > 0.1",
        "P(3**(40 + m) % 2 == 0) > 0.4",
        "P(prod([123457, 123457, 123457, 123457, 1 + 2*m]) % 2 == 0) > 0.4",
        "P(cumsum([1e16, m, -1e16])[2] == m) < 0.9",
    ],
    "m ~ bernoulli(0.5)[3, 3]": [
        "P(det(m) == 0) < 0.6",
    ],
    "x ~ normal(60, 1)[20]": [
        "P(max(tanh(x)) >= 1) == 1",
        "P(floor(min(tanh(x))) == 1) == 1",
        "E(floor(max(tanh(x)))) == 1",
    ],
    "u ~ uniform(0, 1)": [
        "P(floor(u * 2**53) == u * 2**53) == 1",
    ],
    "k ~ poisson(1)": [
        "E(1e5 * (k / 10 - 0.5 >= 0.2)) == 1.0249",
    ],
    "k ~ poisson(1);x ~ normal(0, 1)": [
        "E(1e5 * (k / 10 - 0.5 >= 0.2) * x**2) <= 2",
    ],
    "k ~ poisson(1);j ~ poisson(1)": [
        "P((k + j) / 10 - 0.5 >= 0.2) == 0.0010967",
    ],
    "k, j, i ~ poisson(1)": [
        "P((k + j + i) / 10 - 1.2 >= 0.2) <= 1e-6",
    ],
    "k ~ discrete_uniform(1, 100)": [
        "P(k * 0.01 == k / 100) < 0.95",
        "P(sqrt(k)**2 == k) < 0.8",
    ],
    "x ~ normal(0, 1)": [
        "P(sin(x)**2 + cos(x)**2 <= 1) < 0.9",
    ],
    "x, y ~ normal(0, 1)": [
        "P((x + y) - x == y) < 0.9",
        "E(((x + y) - x == y)) <= 0.9",
    ],
    "x ~ normal(0, 1)[4]": [
        "P(norm(x / norm(x)) == 1) < 0.9",
        "P(sum(x - mean(x)) > 0) > 0.1",
    ],
    "z ~ normal(0, 1);x ~ normal(z + 1e17, 1)": [
        "P(x - 1e17 == 0) > 0.1",
    ],
    "z ~ normal(0, 0.4);m = (1e16 + z) - 1e16;x ~ normal(m, 0.001)": [
        "P(abs(x) < 0.01) > 0.9",
    ],
    "p ~ uniform(0, 1);b ~ bernoulli((1e16 + p) - 1e16)": [
        "P(b == 1) < 0.01",
    ],
    "p ~ uniform(0, 1);q = minimum((1e16 + p) - 1e16, 1);b ~ bernoulli(q)": [
        "P(b == 1) < 0.01",
        "E(b) == 0",
    ],
    "x ~ exponential(1)": [
        "P(log1p(x * 1e-20) == 0) > 0.1",
        "P(log(1 + x * 1e-20) == 0) > 0.1",
        "P(sqrt(1 + x * 1e-20) == 1) > 0.1",
        "P(cos(x * 1e-10) == 1) > 0.1",
        "P(cosh(x * 1e-10) <= 1) > 0.1",
        "P(sin(x * 1e-10) == x * 1e-10) > 0.1",
        "P(softplus(-800 - x) == 0) > 0.1",
        "P(gelu(-50 - x) == 0) > 0.1",
        "P(logsumexp([0, -50 - x]) == 0) > 0.1",
        "P(softmax([0, -50 - x])[0] == 1) > 0.1",
        "E(floor(softmax([0, -50 - x])[0])) == 1",
        "P(round(0.5 + 1e-20 * x) == 0) > 0.1",
        "P(ceil(1e-20 * x + 2) == 2) > 0.1",
        "P((2 + 1e-20 * x) % 1 == 0) > 0.1",
        "P((2 - 1e-20 * x) // 1 == 2) > 0.1",
        "P(argmax([1, 1 + 1e-20 * x]) == 0) > 0.1",
        "P(argsort([1, 1 - 1e-20 * x])[0] == 0) > 0.1",
        "P(isclose(1, 1 + 1e-20 * x, rtol=0, atol=0)) > 0.1",
        "P(where(1 + 1e-20 * x - 1, 1, 0) == 0) > 0.1",
        "P(norm([1 + 1e-20 * x - 1, 0], ord=0) == 0) > 0.1",
        "P(first([1 + 1e-20 * x > 1, x > 0]) == 1) > 0.1",
        "P(max([1, 1 + 1e-20 * x]) == 1) > 0.1",
        "P(median([1, 1 + 1e-20 * x, 1 + 2e-20 * x]) == 1) > 0.1",
        "P(maximum(1, 1 + 1e-20 * x) == 1) > 0.1",
        "P(erfc(30 + x) == 0) > 0.1",
        "P(Phi(-40 - x) == 0) > 0.1",
        "P(cdf(normal(0, 1), 40 + x) == 1) > 0.1",
        "P(survival(normal(0, 1), -40 - x) == 1) > 0.1",
    ],
    "x ~ exponential(1);y = floor(tanh(20 + x))": [
        "y ~ bernoulli(1)",
    ],
    "x ~ exponential(1);y = tanh(20 + x) >= 1": [
        "y ~ bernoulli(1)",
    ],
    "x ~ exponential(1);y = x * 1e200 * 1e200": [
        "P(isinf(y)) > 0.1",
    ],
    "x ~ exponential(1);y = exp(-x * 1e4)": [
        "P(isinf(1 / y)) > 0.1",
        "P(isinf(log(y))) > 0.1",
        "E(maximum(log(y), -1e9)) < -1e6",
        "P(sqrt(y) == 0) > 0.1",
        "P(y**0.001 < 0.4) > 0.9",
    ],
    "x ~ exponential(1);y = exp(-x * 1e3)": [
        "E(y**0.001) == 0.275",
    ],
}


def _wrong(claims: dict[str, list[str]], truth: Verdict, seed: int) -> list[str]:
    """The claims that are judged wrongly; two seeds share them, by draws alone and by all."""
    every = [(model, claim) for model, each in claims.items() for claim in each]
    entries = [entry(f"c{at}", *one) for at, one in enumerate(every[seed % 2 :: 2])]
    settings = Settings(threads=1, seed=seed, max_draws=20_000, draws_only=seed < 2)
    found = tried(registry_of(*entries), settings)
    return [one.statement for one in found if one.verdict not in (truth, Verdict.UNDECIDED)]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_float64_alone_says_is_no_verdict(seed: int) -> None:
    assert _wrong(TRUE, Verdict.VERIFIED, seed) == []
    assert _wrong(FALSE, Verdict.REFUTED, seed) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_no_claim_of_the_contract_is_judged_wrongly(seed: int) -> None:
    registry = read_registries([CONTRACT])
    cases = registry.expand()[seed :: len(SEEDS)]
    found = [*verify_cases(cases, Settings(threads=1, seed=seed, max_draws=20_000), registry)]
    wrong = [one for one in found if one.verdict not in (one.expect, Verdict.UNDECIDED)]
    assert [one.claim for one in wrong] == []


# Ties of numbers that float64 has exactly, or that are copies of each other, are no rounding.
DECIDED = {
    "m ~ bernoulli(0.5)[10]": ["P(sum(m) >= 7) == 176/1024", "P(mean(m) >= 0.7) == 176/1024"],
    "k ~ discrete_uniform(0, 10)": ["P(k / 10 >= 0.3) == 8/11", "P(k / 4 - 1.25 == 0) == 1/11"],
    "x ~ choice([0.1, 0.3])": ["P(x <= 0.1) == 0.5", "P(x < 0.3) == 0.5"],
    "x ~ normal(0, 1)": ["P(relu(x) == 0) == 0.5", "P(exp(relu(x)) == 1) == 0.5"],
    "x ~ normal(0, 1)[3]": [
        "P(max(x) == x[0]) == 1/3",
        "P(abs(x[0] + x[1]) <= abs(x[0]) + abs(x[1])) == 1",
        "P(sort(x)[0] == min(x)) == 1",
    ],
    "x ~ normal(0, 1);m ~ bernoulli(0.3)": ["P(m * x / 0.7 == 0 or m * x / 0.7 == x / 0.7) == 1"],
    "x ~ normal(0, 1)[2];y = softmax(where([1, 0] == 1, x, -inf))": ["P(y[1] == 0) == 1"],
    "y ~ gamma(0.001, 1)": ["P(y >= 0) == 1"],
}


@pytest.mark.parametrize(
    ("model", "claim"), [(model, claim) for model, each in DECIDED.items() for claim in each]
)
def test_ties_that_are_none_of_rounding_are_decided(model: str, claim: str) -> None:
    assert judged(model, claim).verdict is Verdict.VERIFIED


@pytest.mark.parametrize(
    ("claim", "reason", "says"),
    [
        ("E(exp(x - 1)) == 1e16 * (1 - Phi(8.2))", Reason.LOST_DIGITS, "in what the claim says"),
        ("E((1e16 + x) - 1e16) == 1", Reason.LOST_DIGITS, "in the model"),
        ("P(x + 0.1 - 0.1 == x) == 1", Reason.UNCLEAR_EVENT, "than float64 may move it"),
    ],
)
def test_what_rounding_decides_is_said(claim: str, reason: Reason, says: str) -> None:
    found = judged("x ~ uniform(0.5, 1.5)", claim, "within: 0.01")
    assert found.reason is reason
    assert says in str(found.explanation)


def test_without_room_for_rounding_wrong_verdicts_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rounding, "rounding_in", lambda program, *_: np.zeros(len(program.terms)))
    with pytest.raises(Exception, match="the exact value"):
        judged("x ~ uniform(1.1, 1.9)", "E((1e16 + x) - 1e16) == 2", "within: 0.01")


@pytest.mark.parametrize("size", [1e8, 1e12, 3e15])
def test_the_rounding_that_is_looked_for_is_what_is_lost(size: float) -> None:
    claim = f"E(exp(({size:g} + x) - {size:g})) == 2.7"
    (case,) = registry_of(entry("claim", "x ~ uniform(0.5, 1.5)", claim)).expand()
    compiled = prepare(case).compiled
    assert isinstance(compiled, Compiled)
    x = np.random.default_rng(1).uniform(0.5, 1.5, 512)
    off = np.abs(np.exp((size + x) - size) - np.exp(x)).mean()
    program = compiled.program
    room = rounding_in(program, lambda: np.random.default_rng(2), program.origin, 64)
    assert off <= room[0] <= 100 * off
