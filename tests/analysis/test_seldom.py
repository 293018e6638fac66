"""What has no value with a chance of at most 1e-15 is read given that it has one."""

from __future__ import annotations

import pytest
from trials import entry, registry_of

from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings


def result(model: str, claim: str) -> CaseResult:
    registry = registry_of(entry("c", model, claim))
    (found,) = verify_cases(registry.expand(), Settings(), registry)
    return found


@pytest.mark.parametrize(
    ("model", "claim", "verdict"),
    [
        ("c ~ bernoulli(0.5)[200]; t = first(c) + 1", "E(t) == 2", Verdict.VERIFIED),
        ("c ~ bernoulli(0.5)[200]; t = first(c) + 1", "E(t) == 3", Verdict.REFUTED),
        ("d ~ discrete_uniform(1, 6)[400]; t = first(d == 6)", "E(t) == 5", Verdict.VERIFIED),
        ("d ~ discrete_uniform(1, 6)[400]; t = first(d == 6)", "Var(t) == 20", Verdict.REFUTED),
    ],
)
def test_a_waiting_time_that_surely_ends_has_a_mean(
    model: str, claim: str, verdict: Verdict
) -> None:
    found = result(model, claim)
    assert found.verdict is verdict
    assert any("read given that first(…) is finite" in text for text in found.warnings)


@pytest.mark.parametrize(
    "model",
    [
        "c ~ bernoulli(0.5)[20]; t = first(c) + 1",  # 1e-6 is no small chance
        "c ~ bernoulli(0.5)[40]; t = first(c) + 1",  # nor is 1e-12
        "z ~ normal(0, 1)[60]; t = first(cumsum(z) > 5) + 1",  # its chance is not known
    ],
)
def test_one_that_may_not_end_is_undecided(model: str) -> None:
    found = result(model, "E(t) == 2")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("model", "claim", "verdict"),
    [
        # by sums over the law: 0.0100508, 0.0101020 and 0.0169542
        ("x ~ binomial(200, 0.5)", "E(1 / x) ~= 0.01005", Verdict.VERIFIED),
        ("x ~ binomial(200, 0.5)", "E(1 / x) ~= 0.01006", Verdict.REFUTED),
        ("x ~ poisson(100)", "E(1 / x) == 0.010102", Verdict.VERIFIED),
        ("x ~ poisson(100)", "E(1 / x) == 0.01", Verdict.REFUTED),  # 1 / E(x)
        ("x ~ poisson(100)", "E(log(x)) < log(100)", Verdict.VERIFIED),
        ("x ~ poisson(3)[4, 5]", "E(1 / sum(x)) == 0.016954", Verdict.VERIFIED),
        ("x ~ poisson(3)[4, 5]", "E(1 / sum(x)) <= 1 / 60", Verdict.REFUTED),
        # the dividend is huge where the divisor is 0 and nowhere else
        ("x ~ poisson(100); y = 1e3 * (x == 0) + 1", "E(y / x) == 0.010102", Verdict.VERIFIED),
    ],
)
def test_a_quotient_that_is_surely_defined_has_a_mean(
    model: str, claim: str, verdict: Verdict
) -> None:
    found = result(model, claim)
    assert found.verdict is verdict
    assert any("is not 0, which fails with a chance of" in text for text in found.warnings)


@pytest.mark.parametrize(
    "model",
    [
        "x ~ binomial(20, 0.5)",  # 1e-6 is no small chance
        "x ~ poisson(30)",  # nor is 1e-13
        "u ~ normal(9, 1); x = floor(u)",  # may be below 0
    ],
)
def test_one_that_may_be_undefined_is_undecided(model: str) -> None:
    found = result(model, "E(1 / x) <= 1")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.warnings == ()


FEW = "c ~ bernoulli(0.25)[20]; t = first(c) + 1"  # E(t | it ends) is 4 - 20 q^20 / (1 - q^20)
SHARE = "m ~ bernoulli(0.5)[3]; x ~ normal(2, 1)[3]; a = sum(m * x) / sum(m)"


@pytest.mark.parametrize(
    ("model", "claim", "verdict"),
    [
        (FEW, "E(t, given=t < inf) == 4 - 20 * 0.75**20 / (1 - 0.75**20)", Verdict.VERIFIED),
        (FEW, "E(t, given=any(c)) == 4", Verdict.REFUTED),
        (FEW, "E(t, given=isfinite(t) and c[0] == 0) == 4.927", Verdict.VERIFIED),
        (SHARE, "E(a, given=sum(m) > 0) == 2", Verdict.VERIFIED),
        (SHARE, "E(a, given=any(m)) == 1.75", Verdict.REFUTED),
        ("n ~ poisson(3)", "E(1 / n, given=n > 0) == 0.43268", Verdict.VERIFIED),
        ("n ~ poisson(5); x ~ binomial(n, 0.3)", "E(x / n, given=n >= 1) == 0.3", Verdict.VERIFIED),
        ("n ~ poisson(5)", "E(log(n), given=n > 0) < 1.5", Verdict.REFUTED),  # 1.504
        # a condition of something else, or one that does not exclude it, is no guard
        (FEW, "E(t, given=c[1] == 1) == 4", Verdict.INCONCLUSIVE),
        (SHARE, "E(a, given=m[0] == m[1]) == 2", Verdict.INCONCLUSIVE),
        ("n ~ poisson(3)", "E(1 / n, given=n >= 0) <= 9", Verdict.INCONCLUSIVE),
    ],
)
def test_a_condition_guards_what_it_excludes(model: str, claim: str, verdict: Verdict) -> None:
    found = result(model, claim)
    assert (found.verdict, found.warnings) == (verdict, ())


@pytest.mark.parametrize(
    ("model", "claim", "verdict"),
    [
        ("x ~ normal(5000, 2)", "E(log(x)) ~= 8.5172", Verdict.VERIFIED),
        ("x ~ normal(5000, 2)", "E(log(x)) ~= 8.5173", Verdict.REFUTED),
        ("x ~ normal(5000, 2)", "E(sqrt(x)) ~= 70.7107", Verdict.VERIFIED),
        ("x ~ normal(100, 10)[3]", "E(sum(log(x))) <= 3 * log(100)", Verdict.VERIFIED),
        ("x ~ normal(7, 1)", "E(log(x)) < 2", Verdict.INCONCLUSIVE),  # 1.3e-12
        ("x ~ normal(9, 1)", "E(log(log(x))) < 1", Verdict.INCONCLUSIVE),  # below 1 with 6e-16
    ],
)
def test_a_function_of_a_draw_that_is_surely_in_its_domain_has_a_mean(
    model: str, claim: str, verdict: Verdict
) -> None:
    assert result(model, claim).verdict is verdict
