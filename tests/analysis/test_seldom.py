"""What has no value with a chance of at most 1e-15 is read given that it has one."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from trials import OPEN, REFUTED, VERIFIED, judged, lowered

from dropcheck.analysis.seldom import with_values
from dropcheck.language import events
from dropcheck.language.graph import Value
from dropcheck.results import Verdict

ENDS, NOT_0 = "first(…) is finite", "is not 0"
FEW = "c ~ bernoulli(0.25)[20]; t = first(c) + 1"  # E(t | it ends) is 4 - 20 q^20 / (1 - q^20)
SHARE = "m ~ bernoulli(0.5)[3]; x ~ normal(2, 1)[3]; a = sum(m * x) / sum(m)"


@pytest.mark.parametrize(
    ("model", "claim", "verdict", "said"),
    [
        ("c ~ bernoulli(0.5)[200]; t = first(c) + 1", "E(t) == 2", VERIFIED, ENDS),
        ("c ~ bernoulli(0.5)[200]; t = first(c) + 1", "E(t) == 3", REFUTED, ENDS),
        ("d ~ discrete_uniform(1, 6)[400]; t = first(d == 6)", "E(t) == 5", VERIFIED, ENDS),
        ("d ~ discrete_uniform(1, 6)[400]; t = first(d == 6)", "Var(t) == 20", REFUTED, ENDS),
        # by sums over the law: 0.0100508, 0.0101020 and 0.0169542
        ("x ~ binomial(200, 0.5)", "E(1 / x) ~= 0.01005", VERIFIED, NOT_0),
        ("x ~ binomial(200, 0.5)", "E(1 / x) ~= 0.01006", REFUTED, NOT_0),
        ("x ~ poisson(100)", "E(1 / x) == 0.010102", VERIFIED, NOT_0),
        ("x ~ poisson(100)", "E(1 / x) == 0.01", REFUTED, NOT_0),  # 1 / E(x)
        ("x ~ poisson(100)", "E(log(x)) < log(100)", VERIFIED, NOT_0),
        ("x ~ poisson(3)[4, 5]", "E(1 / sum(x)) == 0.016954", VERIFIED, NOT_0),
        ("x ~ poisson(3)[4, 5]", "E(1 / sum(x)) <= 1 / 60", REFUTED, NOT_0),
        # the dividend is huge where the divisor is 0 and nowhere else
        ("x ~ poisson(100); y = 1e3 * (x == 0) + 1", "E(y / x) == 0.010102", VERIFIED, NOT_0),
    ],
)
def test_what_surely_has_a_value_has_a_mean(
    model: str, claim: str, verdict: Verdict, said: str
) -> None:
    found = judged(model, claim, draws_only=False)
    assert found.verdict is verdict
    read = f"{said}, which fails with a chance of"
    assert any("read given that" in text and read in text for text in found.warnings)


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("c ~ bernoulli(0.5)[20]; t = first(c) + 1", "E(t) == 2"),  # 1e-6 is no small chance
        ("c ~ bernoulli(0.5)[40]; t = first(c) + 1", "E(t) == 2"),  # nor is 1e-12
        (
            "z ~ normal(0, 1)[60]; t = first(cumsum(z) > 5) + 1",
            "E(t) == 2",
        ),  # its chance is not known
        ("x ~ binomial(20, 0.5)", "E(1 / x) <= 1"),  # 1e-6 is no small chance
        ("x ~ poisson(30)", "E(1 / x) <= 1"),  # nor is 1e-13
        ("u ~ normal(9, 1); x = floor(u)", "E(1 / x) <= 1"),  # may be below 0
    ],
)
def test_what_may_have_none_is_undecided(model: str, claim: str) -> None:
    found = judged(model, claim, draws_only=False)
    assert (found.verdict, found.warnings) == (OPEN, ())


@pytest.mark.parametrize(
    ("model", "claim", "verdict"),
    [
        (FEW, "E(t, given=t < inf) == 4 - 20 * 0.75**20 / (1 - 0.75**20)", VERIFIED),
        (FEW, "E(t, given=any(c)) == 4", REFUTED),
        (FEW, "E(t, given=isfinite(t) and c[0] == 0) == 4.927", VERIFIED),
        (SHARE, "E(a, given=sum(m) > 0) == 2", VERIFIED),
        (SHARE, "E(a, given=any(m)) == 1.75", REFUTED),
        ("n ~ poisson(3)", "E(1 / n, given=n > 0) == 0.43268", VERIFIED),
        ("n ~ poisson(5); x ~ binomial(n, 0.3)", "E(x / n, given=n >= 1) == 0.3", VERIFIED),
        ("n ~ poisson(5)", "E(log(n), given=n > 0) < 1.5", REFUTED),  # 1.504
        # a condition of something else, or one that does not exclude it, is no guard
        (FEW, "E(t, given=c[1] == 1) == 4", OPEN),
        (SHARE, "E(a, given=m[0] == m[1]) == 2", OPEN),
        ("n ~ poisson(3)", "E(1 / n, given=n >= 0) <= 9", OPEN),
    ],
)
def test_a_condition_guards_what_it_excludes(model: str, claim: str, verdict: Verdict) -> None:
    found = judged(model, claim, draws_only=False)
    assert (found.verdict, found.warnings) == (verdict, ())


@pytest.mark.parametrize(
    ("model", "claim", "verdict"),
    [
        ("x ~ normal(5000, 2)", "E(log(x)) ~= 8.5172", VERIFIED),
        ("x ~ normal(5000, 2)", "E(log(x)) ~= 8.5173", REFUTED),
        ("x ~ normal(5000, 2)", "E(sqrt(x)) ~= 70.7107", VERIFIED),
        ("x ~ normal(100, 10)[3]", "E(sum(log(x))) <= 3 * log(100)", VERIFIED),
        ("x ~ normal(7, 1)", "E(log(x)) < 2", OPEN),  # 1.3e-12
        ("x ~ normal(9, 1)", "E(log(log(x))) < 1", OPEN),  # below 1 with 6e-16
    ],
)
def test_a_function_of_a_draw_that_is_surely_in_its_domain_has_a_mean(
    model: str, claim: str, verdict: Verdict
) -> None:
    assert judged(model, claim, draws_only=False).verdict is verdict


def test_each_value_of_a_long_model_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its divisors holds all that came before it."""
    whole = events._whole_between
    looked: list[Value] = []

    def counted(value: Value, known: Mapping[int, events.Ends | None]) -> events.Ends | None:
        looked.append(value)
        return whole(value, known)

    def work(steps: int) -> int:
        lines = ["v0 = 1"]
        for t in range(steps):
            lines += [f"x{t} ~ normal(0, 1)", f"v{t + 1} = 0.9 * v{t} + x{t}**2"]
        quotients = " + ".join(f"x{t} / (1 + v{t + 1})" for t in range(steps))
        case = lowered("; ".join([*lines, f"w = {quotients}"]), "E(w, given=w > 0) <= 1")
        looked.clear()
        with_values(case)
        return len(looked)

    monkeypatch.setattr(events, "_whole_between", counted)
    assert 0 < work(80) < 3 * work(40)
