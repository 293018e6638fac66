"""Errors planted in claims: where they are tried, and what becomes of them.

False alarms: at the default settings the chance that any verdict on a mutant of a registry is
wrong is 1e-6; with the fixed seed every run gives the same.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from mutation_cases import HALF, TOOTHLESS, claim_of, registry_of

from dropcheck.claims.reader import read_registry, read_text
from dropcheck.claims.registry import Registry
from dropcheck.language.compile import lower_case, parse_claim
from dropcheck.language.printing import unparse
from dropcheck.mutation.campaign import (
    MOST_MUTANTS,
    ClaimResult,
    Fate,
    MutantResult,
    facts_of,
    most_revealing_first,
    mutate_claims,
    probes,
    share_of_alpha,
    spread,
)
from dropcheck.mutation.mutators import MUTATORS, Readings, fixed_change, same_case
from dropcheck.results import Verdict
from dropcheck.settings import Settings

pytestmark = pytest.mark.usefixtures("draws_alone")

SHIPPED = read_registry(Path(__file__).parents[2] / "claims.yaml")


def mutated(registry: Registry, settings: Settings | None = None) -> dict[str, ClaimResult]:
    found = mutate_claims(tuple(registry.claims.values()), settings or Settings(), registry)
    return {result.claim.id: result for result in found}


def by_change(result: ClaimResult) -> dict[str, MutantResult]:
    return {mutant.mutant.changed: mutant for mutant in result.mutants}


# where it is tried


@pytest.mark.parametrize(
    ("grid", "first"),
    [
        ("{p: [0, 0.5, 0.25]}", {"p": 0.25}),
        ("{p: [0.9, 0.1]}", {"p": 0.1}),
        ("{dk: [1, 16, 512]}", {"dk": 16}),
        ('{law: ["rademacher()", "normal(0, 1)"]}', {"law": "normal(0, 1)"}),
    ],
)
def test_the_case_that_hides_least_comes_first(grid: str, first: dict[str, float | str]) -> None:
    claim = claim_of(f"parameters: {grid}\nclaim: 1 == 1")
    assert most_revealing_first(claim.expand())[0].parameters == first


def test_the_second_case_is_unlike_the_first() -> None:
    claim = claim_of("parameters: {p: [0.1, 0.2], n: [3, 4]}\nclaim: p + n == p + n")
    first, second, *_ = spread(claim.expand())
    assert not set(first.parameters.items()) & set(second.parameters.items())


def test_probes_change_one_number_and_the_dullest_first() -> None:
    claim = claim_of('parameters: {p: [0.25], mu: 0, law: "normal(0, 1)"}\nclaim: p == p')
    case = claim.expand()[0]
    found = {name: probe.parameters for name, probe in probes(case)}
    assert list(found) == ["mu", "p"]
    assert found["p"] == {**case.parameters, "p": 0.3}


def test_a_probe_is_no_case_of_the_claim_itself() -> None:
    claim = claim_of("parameters: {k: [0, 1, 2, 3]}\nclaim: k == k")
    tried = [dict(probes(case))["k"].parameters["k"] for case in claim.expand()]
    assert tried == [1.7, 5.0, 5.0, 5.0]
    both = claim_of("parameters: {k: [3, 5]}\nclaim: k == k")
    assert list(probes(both.expand()[0])) == []


@pytest.mark.parametrize(
    ("p", "model", "same"),
    [
        (0.5, "m ~ bernoulli(p)", True),
        (0.3, "m ~ bernoulli(p)", False),
        (0.3, "m ~ bernoulli(1 - (1 - p) * 1)", False),
        (0.3, "m ~ bernoulli(1 - p - 0)", True),
        (0.5, "m ~ binomial(1, p)", False),
    ],
)
def test_the_same_by_arithmetic(p: float, model: str, same: bool) -> None:
    lowered = []
    for text in ("m ~ bernoulli(1 - p)", model):
        claim = claim_of(f"parameters: {{p: {p}}}\nmodel: {text}\nclaim: E(m) == {1 - p}")
        lowered.append(lower_case(parse_claim(claim), claim.expand()[0].parameters))
    assert same_case(lowered[0], lowered[1]) is same


@pytest.mark.parametrize(
    ("statement", "change"),
    [("E(x) == 2.5", 0.25), ("E(x) == 4/2", None), ("E(x**2) == 2.5", None), ("E(x) < 2.5", None)],
)
def test_change_of_a_fixed_side(statement: str, change: float | None) -> None:
    lowered = []
    for text in ("E(x) == 2", statement):
        claim = claim_of(f"model: x ~ normal(2, 1)\nclaim: {text}")
        lowered.append(lower_case(parse_claim(claim), {}))
    assert fixed_change(lowered[0], lowered[1]) == change


# what becomes of it


def test_every_error_in_a_sharp_claim_is_refuted() -> None:
    registry = registry_of(c="model: x ~ normal(1, 2)\nclaim: E(x**2) == 5\nresolution: 0.02")
    result = mutated(registry)["c"]
    assert result.count(Fate.REFUTED) == len(result.mutants) >= 8
    assert not result.toothless
    assert not result.failed


def test_a_claim_that_cannot_fail_is_shown_up() -> None:
    registry = registry_of(c=TOOTHLESS, d=TOOTHLESS.replace("normal(0, 1)", "normal(1, 1)"))
    found = mutated(registry)
    assert found["c"].mutants
    assert all(mutant.fate in (Fate.TRUE, Fate.SAME) for mutant in found["c"].mutants)
    assert found["c"].toothless
    assert found["c"].failed
    assert not found["d"].toothless


def test_a_claim_true_of_any_model_is_shown_up() -> None:
    model = "model: |\n  x ~ normal(0, 1)\n  y = 3 * x\nclaim: "
    found = mutated(registry_of(c=f"{model}Var(y) == Var(y)", d=f"{model}Var(y) == 9"))
    assert found["c"].blind
    assert not found["c"].toothless
    assert not found["d"].blind


def test_p_of_a_half_hides_p_for_its_complement_and_a_value_is_named() -> None:
    found = by_change(mutated(registry_of(c=HALF))["c"])
    for changed in ("claim: E(m) == p", "model: m ~ bernoulli(p)"):
        assert found[changed].fate is Fate.SAME
        assert found[changed].shows_at == {"p": 0.3}
    third = mutated(registry_of(c=HALF.replace("0.5", "0.3")))["c"]
    assert by_change(third)["claim: E(m) == p"].fate is Fate.REFUTED


def test_a_second_value_of_the_claim_shows_what_the_first_hides() -> None:
    found = by_change(mutated(registry_of(c=HALF.replace("0.5", "[0.5, 0.9]")))["c"])
    assert found["claim: E(m) == p"].fate is Fate.REFUTED
    assert found["claim: E(m) == p"].parameters == {"p": 0.9}


def test_a_value_where_the_claim_itself_fails_shows_nothing() -> None:
    text = HALF.replace("E(m) == 1 - p", "E(m) == 0.5")
    mutant = by_change(mutated(registry_of(c=text))["c"])["model: m ~ bernoulli(p)"]
    assert mutant.fate is Fate.SAME
    assert mutant.shows_at is None
    assert mutant.reason == "it differs at p = 0.3, where the claim itself does not hold"


def test_a_value_where_the_claim_is_not_decided_is_not_called_a_failure() -> None:
    text = "parameters: {p: 0.5}\nmodel: x ~ normal(p, abs(p - 0.5) * 1e3 + 0.01)\nclaim: E(x) == p"
    mutant = by_change(mutated(registry_of(c=text))["c"])["claim: E(x) == 1 - p"]
    assert mutant.fate is Fate.SAME
    assert mutant.reason == "it differs at p = 0.3, where the claim itself is not decided"


def test_a_change_that_leaves_a_claim_true_counts_for_nothing() -> None:
    text = "model: |\n  x ~ normal(1, 1)\n  y = 3 * x\nclaim: E(y) == 3 * E(x)\nresolution: 0.05"
    found = by_change(mutated(registry_of(c=text))["c"])
    assert found["model: x ~ normal(1.15, 1)"].fate is Fate.TRUE
    assert found["model: y = 3.45 * x"].fate is Fate.REFUTED


def test_a_false_change_within_the_resolution_survives_as_such() -> None:
    # 1 is nothing to a claimed 200
    text = "parameters: {n: 200}\nmodel: x ~ normal(200, 100)\nclaim: E(x) == n\nresolution: 0.02"
    result = mutated(registry_of(c=text))["c"]
    mutant = by_change(result)["claim: E(x) == n + 1"]
    assert mutant.fate is Fate.BELOW
    assert result.failed
    assert "resolution is 0.02" in str(mutant.reason)


def test_a_small_change_is_judged_where_it_is_largest_before_it_survives() -> None:
    # 1 is nothing to the 9,980 and 9,970 of the first two cases, and a tenth of the last
    text = """parameters: {n: [20, 30, 9990]}
model: x ~ normal(10000 - n, 50)
claim: E(x) == 10000 - n
resolution: 0.02"""
    mutant = by_change(mutated(registry_of(c=text))["c"])["claim: E(x) == 10000 - (n + 1)"]
    assert mutant.fate is Fate.REFUTED
    assert mutant.parameters == {"n": 9990}


@pytest.mark.parametrize(
    ("ten", "claim", "planted"),
    [
        # 3% of a factor is 3% of the side; of a divisor it is a little less
        ("10", "E(x) == 16 * n", {"16.48 * n"}),
        ("10", "E(x) == n / 16", {"n / 16.96"}),
        # 3% of the 1 in 11 is 0.3% of the side: it takes sixteen times that
        ("10", "E(x) == 1 / (n + 1)", {"1.03 / (n + 1)", "1 / (n + 1.48)"}),
        # sharper, and so by less; `within` is a number, and 0.15 is 1.5% of 10
        ("10", "E(x) == abs(1) / n\nresolution: 0.001", {"abs(1.003) / n"}),
        ("10", "E(x) == n * abs(1)\nwithin: 0.05", {"n * abs(1.015)"}),
        # a thousand times 3% of a millionth is nothing beside 10
        ("10", "E(x) == n + abs(1e-6)", set()),
        # where the first case hides a constant, the second asks; where all do, the trial says so
        ("[16, 17]", "E(x) == n + abs(0.1) * (n // 17)", {"n + abs(0.868) * (n // 17)"}),
        ("10", "E(x) == n + abs(0.1) * log(n / n)", {"n + abs(0.103) * log(n / n)"}),
        # a bound may have room to spare, and what is drawn is for draws to tell
        ("10", "E(x) < 1 / (n + 1)", {"1.03 / (n + 1)", "1 / (n + 1.03)"}),
        ("10", "E(x) == E(x + abs(1e-6))", {"E(x + abs(1.03e-6))"}),
    ],
)
def test_a_constant_is_changed_until_the_number_that_is_claimed_is(
    ten: str, claim: str, planted: set[str]
) -> None:
    own = claim_of(f"parameters: {{n: {ten}}}\nmodel: x ~ normal(n, 1)\nclaim: {claim}")
    parsed = parse_claim(own)
    facts = facts_of(parsed, 10.0, Readings(parsed, own.expand()))
    changed = MUTATORS["a constant changed"](parsed, facts)
    found = {one.statement.operands[1] for one in changed}
    assert {unparse(side) for side in found - {parsed.statement.operands[1]}} == planted


def test_a_constant_that_hardly_matters_is_no_survivor() -> None:
    text = "parameters: {n: 30}\nmodel: x ~ uniform(0, 2 * n / (n + 1))\nclaim: E(x) == n / (n + 1)"
    result = mutated(registry_of(c=text))["c"]
    assert by_change(result)["claim: E(x) == n / (n + 1.96)"].fate is Fate.REFUTED
    assert not result.count(Fate.BELOW)
    assert result.count(Fate.REFUTED)


def test_a_budget_too_small_leaves_mutants_undecided() -> None:
    text = "model: x ~ normal(1, 1)\nclaim: E(x) > 0.5"
    result = mutated(registry_of(c=text), Settings(max_draws=2000))["c"]
    mutant = by_change(result)["claim: E(x) > 2 * 0.5"]
    assert mutant.fate is Fate.UNDECIDED
    assert result.undecided
    assert not result.failed


def test_equal_sides_of_a_strict_inequality_are_on_the_border() -> None:
    text = "model: x, y ~ normal(1, 1)\nclaim: 2 * E(x) > E(y)\nresolution: 0.05"
    result = mutated(registry_of(c=text))["c"]
    assert by_change(result)["claim: E(x) > E(y)"].fate is Fate.BORDER
    assert by_change(result)["claim: 2 * E(x) < E(y)"].fate is Fate.REFUTED
    assert not result.undecided


def test_an_undefined_mutant_is_meaningless() -> None:
    text = "model: |\n  x ~ uniform(0, 1)\n  y = {}(x + 0.1)\nclaim: -1 < E(y) < 2"
    found = mutated(registry_of(log=text.format("log"), exp=text.format("exp")))
    assert by_change(found["log"])["model: y = log(x - 0.1)"].fate is Fate.MEANINGLESS
    assert not found["exp"].count(Fate.MEANINGLESS)


@pytest.mark.parametrize("n", ["4", "[4, 1]"])
def test_an_error_that_leaves_a_side_infinite_is_not_planted(n: str) -> None:
    # `arange(n)` has a 0 in it: the check refuses the claim, so nobody makes this error unnoticed
    text = f"""\
parameters: {{n: {n}}}
model: x ~ normal(sum(1 / (arange(n) + 1)), 1)
claim: E(x) == sum(1 / (arange(n) + 1))"""
    found = by_change(mutated(registry_of(c=text))["c"])
    assert "claim: E(x) == sum(1 / arange(n))" not in found
    assert "claim: E(x) == sum(1 / (arange(n) + 1 + 1))" in found


def test_what_is_the_same_at_one_case_and_not_finite_at_another_is_not_the_same() -> None:
    # a large scale costs most, so that errors are tried at the other case first
    text = """\
cases: [{n: 1, mu: 1, s: 1}, {n: 3, mu: 1.3611, s: 1.0e+7}]
model: x ~ normal(mu, s)
claim: E(x) == sum(1 / (arange(n) + 1)**2)"""
    found = by_change(mutated(registry_of(c=text))["c"])
    mutant = found["claim: E(x) == sum(1 / (arange(n) - 1)**2)"]
    assert mutant.fate is Fate.MEANINGLESS
    assert mutant.parameters["n"] == 3
    assert mutant.reason == "this side of the claim is inf"


@pytest.mark.parametrize(
    ("statement", "expect", "verdict", "failed"),
    [
        ("E(x) == 3", "verified", Verdict.REFUTED, True),
        ("E(x) == 3", "refuted", None, False),
    ],
)
def test_what_is_not_tried(
    statement: str, expect: str, verdict: Verdict | None, failed: bool
) -> None:
    text = f"model: x ~ normal(1, 1)\nclaim: {statement}\nexpect: {expect}"
    result = mutated(registry_of(c=text))["c"]
    assert result.mutants == ()
    assert result.skipped
    assert result.verdict is verdict
    assert result.failed is failed


def test_claims_of_code_are_tried_on_the_mathematics_which_has_no_number_format() -> None:
    text = """\
dropcheck: 1
slots: {drop: {takes: [x, p], model: m ~ bernoulli(1 - p), gives: m * x / (1 - p)}}
claims:
  kept:
    title: The mean is kept
    parameters: {p: 0.3, dtype: [float32, float16]}
    model: y = drop(3, p)
    claim: E(y) == 3
    resolution: 0.05
"""
    result = mutated(read_text(text))["kept"]
    assert result.parameters == {"p": 0.3}
    assert Fate.REFUTED in {mutant.fate for mutant in result.mutants}


def test_threads_and_selection_change_nothing() -> None:
    # of b no variance is known exactly, so that its draws are planned from a pilot's
    text = "model: x, w ~ normal(0, 1)\nclaim: E(abs(x + w)) == 1.1284"
    registry = registry_of(a=HALF, b=text)
    together = mutated(registry, Settings(threads=2))
    (alone,) = mutate_claims([registry.claims["a"]], Settings(threads=1), registry)
    assert alone.mutants == together["a"].mutants
    fresh = mutated(registry, Settings(seed=1))
    assert fresh["b"].draws != together["b"].draws
    assert share_of_alpha(Settings(), registry) < 1e-6 / (2 * MOST_MUTANTS)


def test_shipped_claims_that_are_quick_have_a_full_score() -> None:
    names = (
        "dropout-values.zeros",
        "qk-variance",
        "naive-ten.mean",
        "noisy-unit.loss",
        "product-mean.means",
    )
    claims = [SHIPPED.claims[name] for name in names]
    results = list(mutate_claims(claims, Settings(), SHIPPED))
    assert [result.claim.id for result in results] == list(names)
    for result in results:
        assert result.count(Fate.REFUTED) > 0
        assert not result.failed
        assert not result.undecided
