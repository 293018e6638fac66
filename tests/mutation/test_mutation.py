"""Errors planted in claims: which and where, where they are tried, and what becomes of them.

False alarms: at the default settings the chance that any verdict on a mutant of a registry is
wrong is 1e-6; with the fixed seed every run gives the same.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from dropcheck.claims.reader import read_registry, read_text
from dropcheck.claims.registry import Claim, Registry, SourceText
from dropcheck.language.compile import CaseGraphs, parse_claim
from dropcheck.language.parser import parse_model, parse_statement
from dropcheck.language.syntax import lines_of, unparse_model, unparse_statement
from dropcheck.mutation import (
    MOST_MUTANTS,
    MUTATORS,
    ClaimResult,
    Facts,
    Fate,
    Mutant,
    everywhere,
    mutate_claims,
    planted_in,
    tried_at,
)
from dropcheck.settings import Settings

pytestmark = pytest.mark.usefixtures("draws_alone")

SHIPPED = read_registry(Path(__file__).parents[2] / "claims.yaml")
FACTS = Facts(frozenset({"p"}), frozenset({"n"}), frozenset({"p", "n"}), step=0.03, zero=0.6)

TOOTHLESS = "model: x ~ normal(0, 1)\nclaim: 0 * E(x) == 0 * E(x)"
HALF = """\
parameters: {p: 0.5}
model: m ~ bernoulli(1 - p)
claim: E(m) == 1 - p
resolution: 0.05"""


def registry_of(**claims: str) -> Registry:
    """A registry of claims given as the keys of each in YAML."""
    lines = ["dropcheck: 1", "claims:"]
    for name, text in claims.items():
        lines += [f"  {name}:", "    title: t", *(f"    {line}" for line in text.split("\n"))]
    return read_text("\n".join(lines))


def claim_of(text: str) -> Claim:
    """One claim, by its keys in YAML."""
    return registry_of(c=text).claims["c"]


def mutated(registry: Registry, settings: Settings | None = None) -> dict[str, ClaimResult]:
    found = mutate_claims(tuple(registry.claims.values()), settings or Settings(), registry)
    return {result.claim.id: result for result in found}


@cache
def by_change(text: str) -> dict[str, Mutant]:
    return {mutant.changed: mutant for mutant in mutated(registry_of(c=text))["c"].mutants}


def planted(text: str, scale: float = 1.0) -> set[str]:
    claim = claim_of(text)
    found = planted_in(claim, CaseGraphs(), scale, tried_at(claim)[0])
    return {mutant.changed for mutant, _ in found}


# ---- which, and where ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "model", "statement", "planted"),
    [
        ("a factor dropped", "y = a * b", "E(y) == 1", {"y = b", "y = a"}),
        ("a factor dropped", "y = a / b", "E(y) == 1", {"y = a"}),
        ("a factor dropped", "y = a * 1 / 1", "E(y) == 1", set()),
        ("a factor 2 too many", "x ~ f(1)", "E(x) == 1", {"2 * E(x) == 1", "E(x) == 2 * 1"}),
        ("a factor 2 too many", "y = x", "0 == 0", {"y = 2 * x"}),
        ("a factor repeated", "y = a / b", "E(y) == 1", {"y = a / b / b"}),
        ("p for 1 - p", "q = 1 - p", "E(x) == p", {"q = p", "E(x) == 1 - p"}),
        ("p for 1 - p", "q = 1 - r", "E(x) == n", {"q = r"}),
        ("a square root", "", "Var(x) == n", {"sqrt(Var(x)) == n", "Var(x) == sqrt(n)"}),
        ("a square root", "", "Var(x) == 1", set()),
        ("a square root", "x ~ f(p)[n]", "0 == 1", {"x ~ f(sqrt(p))[n]"}),
        ("a square root", "y = x / sqrt(q)", "0 == 1", {"y = x / q"}),
        ("another power", "", "E(x**2) == 1", {"E(x**3) == 1", "E(x) == 1"}),
        ("one off", "x ~ f(0)[n]", "0 == 1", {"x ~ f(0)[n + 1]", "x ~ f(0)[n - 1]"}),
        ("one off", "y = x[3]", "0 == 1", {"y = x[4]", "y = x[2]"}),
        ("a term too many or dropped", "", "E(x) == a - b", {"E(x) == a - b - b", "E(x) == a"}),
        ("a sign", "", "E(x) == a + b", {"E(x) == a - b", "E(x) == -(a + b)"}),
        ("a sign", "", "E(-x) == 0", {"E(x) == 0"}),
        ("a constant changed", "", "E(x) == 2", {"E(x) == 2.06"}),
        ("a constant changed", "", "E(x) == 0", {"E(x) == 0.6"}),
        ("a constant changed", "", "E(x**2) == n / (m + 1)", {"E(x**2) == n / (m + 1.03)"}),
        ("a constant changed", "x ~ f(0, 1)", "E(x) == n", {"x ~ f(1, 1)", "x ~ f(0, 1.03)"}),
        ("Var for Std", "v = var(g)", "Std(x) == n", {"v = std(g)", "Var(x) == n"}),
        ("an inequality turned round", "", "E(x) < n", {"E(x) > n"}),
        ("an inequality turned round", "", "E(x) == n", set()),
        ("an inequality turned round", "", "P(x < 1) == p", {"P(x > 1) == p"}),
        ("an inequality turned round", "", "a < E(x) < b",
         {"b < E(x) < 2 * b - a", "2 * a - b < E(x) < a"}),
        ("another event", "", "P(a or b) == p", {"P(a) == p", "P(b) == p"}),
        ("another event", "", "P(a, given=c) == p", {"P(a) == p"}),
        ("branches exchanged", "y = a if c else b", "0 == 1", {"y = b if c else a"}),
    ],
)  # fmt: skip
def test_a_mutator_plants_its_error_and_nothing_else(
    kind: str, model: str, statement: str, planted: set[str]
) -> None:
    lines = parse_model(SourceText.plain(model))
    parsed = replace(
        parse_claim(claim_of("claim: 1 == 1")),
        model=lines,
        statement=parse_statement(SourceText.plain(statement)),
        requires=tuple(name for line in lines_of(lines) for name in line.names),
    )
    found = set()
    for changed in everywhere(parsed, kind, FACTS):
        assert (changed.model == parsed.model) != (changed.statement == parsed.statement)
        in_model = changed.model != parsed.model
        text = unparse_model(changed.model) if in_model else unparse_statement(changed.statement)
        found.add(text)
    assert found == planted


def test_nothing_is_planted_in_a_line_that_the_statement_does_not_rest_on() -> None:
    parsed = replace(
        parse_claim(claim_of("claim: 1 == 1")),
        model=parse_model(SourceText.plain("x ~ normal(0, 1)\ny = 2 * x\nz = 3 * x")),
        statement=parse_statement(SourceText.plain("E(y) == 0")),
    )
    texts = {
        unparse_model(one.model) for kind in MUTATORS for one in everywhere(parsed, kind, FACTS)
    }
    assert len(texts) > 4
    assert all(text.endswith("z = 3 * x") for text in texts)


def test_mutants_are_bounded_and_distinct_claims() -> None:
    registry = Registry("c", {}, {"c": SHIPPED.claims["noisy-unit.loss"]})
    first = mutated(registry)["noisy-unit.loss"].mutants
    assert len(first) == len({one.changed for one in first}) <= MOST_MUTANTS
    assert len({one.error for one in first}) >= 6


@pytest.mark.parametrize(
    ("text", "left_out", "is_planted"),
    [
        ("model: x ~ normal(0, 1)[3]\nclaim: E(x[2]) == 0", "E(x[3]) == 0", "E(x[1]) == 0"),
        # `arange(n)` has a 0 in it, so that a side would be infinite
        ("parameters: {n: [4, 1]}\nmodel: x ~ normal(sum(1 / (arange(n) + 1)), 1)\n"
         "claim: E(x) == sum(1 / (arange(n) + 1))", "E(x) == sum(1 / arange(n))",
         "E(x) == sum(1 / (arange(n) + 1 + 1))"),
    ],
)  # fmt: skip
def test_what_the_check_refuses_is_passed_over(text: str, left_out: str, is_planted: str) -> None:
    changed = planted(text)
    assert f"claim: {is_planted}" in changed
    assert f"claim: {left_out}" not in changed


# ---- where it is tried ---------------------------------------------------------------------------


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
    assert tried_at(claim_of(f"parameters: {grid}\nclaim: 1 == 1"))[0] == first


# ---- what becomes of it --------------------------------------------------------------------------

MODEL = "model: |\n  x ~ normal(0, 1)\n  y = 3 * x\nclaim: "


def test_what_a_claim_is_worth_is_told() -> None:
    found = mutated(
        registry_of(
            toothless=TOOTHLESS,
            sharp="model: x ~ normal(1, 2)\nclaim: E(x**2) == 5\nresolution: 0.02",
            false="model: x ~ normal(1, 1)\nclaim: E(x) == 3",
            known="model: x ~ normal(1, 1)\nclaim: E(x) == 3\nexpect: refuted",
        )
    )
    assert (found["toothless"].toothless, found["toothless"].failed) == (True, True)
    assert (found["sharp"].toothless, found["sharp"].failed) == (False, False)
    assert found["sharp"].count(Fate.REFUTED) == len(found["sharp"].mutants) >= 8
    for name, failed in (("false", True), ("known", False)):  # they are not tried
        assert (found[name].mutants, bool(found[name].skipped)) == ((), True)
        assert found[name].failed is failed
    text = "model: x, w ~ normal(0, 1)\nclaim: E(cos(x * w)) > 0.65\nresolution: 0.02"
    few = mutated(registry_of(c=text), Settings(max_draws=12_000))["c"]
    assert not few.failed
    assert few.count(Fate.REFUTED) < len(few.mutants)


@pytest.mark.parametrize(
    ("text", "changed", "fate", "says"),
    [
        (HALF, "claim: E(m) == p", Fate.VERIFIED, {"parameters": {"p": 0.5}}),
        (HALF, "model: m ~ bernoulli(p)", Fate.VERIFIED, {}),
        (HALF.replace("0.5", "0.3"), "claim: E(m) == p", Fate.REFUTED, {}),
        # a second value shows what the first hides
        (HALF.replace("0.5", "[0.5, 0.9]"), "claim: E(m) == p", Fate.REFUTED,
         {"parameters": {"p": 0.9}}),
        # x and y change together
        (MODEL.replace("0, 1", "1, 1") + "E(y) == 3 * E(x)\nresolution: 0.05",
         "model: x ~ normal(1.15, 1)", Fate.VERIFIED, {}),
        (MODEL.replace("0, 1", "1, 1") + "E(y) == 3 * E(x)\nresolution: 0.05",
         "model: y = 3.45 * x", Fate.REFUTED, {}),
        # 1 is nothing to a claimed 200
        ("parameters: {n: 200}\nmodel: x ~ normal(200, 100)\nclaim: E(x) == n\nresolution: 0.02",
         "claim: E(x) == n + 1", Fate.SURVIVED, {}),
        # nor to the 9,980 and 9,970 of the first two cases, but a tenth of the last
        ("parameters: {n: [20, 30, 9990]}\nmodel: x ~ normal(10000 - n, 50)\n"
         "claim: E(x) == 10000 - n\nresolution: 0.02",
         "claim: E(x) == 10000 - (n + 1)", Fate.REFUTED, {"parameters": {"n": 9990}}),
        ("model: x, y ~ normal(1, 1)\nclaim: 2 * E(x) > E(y)\nresolution: 0.05",
         "claim: E(x) > E(y)", Fate.NEITHER, {}),
        ("model: x, y ~ normal(1, 1)\nclaim: 2 * E(x) > E(y)\nresolution: 0.05",
         "claim: 2 * E(x) < E(y)", Fate.REFUTED, {}),
        ("model: |\n  x ~ uniform(0, 1)\n  y = log(x + 0.1)\nclaim: -1 < E(y) < 2",
         "model: y = log(x - 0.1)", Fate.NEITHER, {}),
    ],
)  # fmt: skip
def test_fates(text: str, changed: str, fate: Fate, says: dict[str, object]) -> None:
    mutant = by_change(text)[changed]
    assert mutant.fate is fate
    assert {name: getattr(mutant, name) for name in says} == says


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
    fates = [[(one.changed, one.fate) for one in each.mutants] for each in (alone, together["a"])]
    assert fates[0] == fates[1]
    assert mutated(registry, Settings(seed=1))["b"].draws != together["b"].draws


def test_what_stays_undecided_is_no_pass(tmp_path: Path) -> None:
    from dropcheck.cli import main
    from dropcheck.cli_output import ExitCode

    file = tmp_path / "claims.yaml"
    text = HALF.replace("\n", "\n    ")
    file.write_text(f"dropcheck: 1\nclaims:\n  c:\n    title: t\n    {text}\n", encoding="utf-8")
    assert main(["mutate", "-f", str(file), "-q"]) == ExitCode.PASSED
    assert main(["mutate", "-f", str(file), "-q", "--max-draws", "64"]) == ExitCode.UNDECIDED
