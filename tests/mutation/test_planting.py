"""Errors planted in claims: which, and where."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from mutation_cases import claim_of

from dropcheck.claims.reader import read_registry
from dropcheck.claims.registry import SourceText
from dropcheck.language.compile import lower_case, parse_claim
from dropcheck.language.parser import parse_expression, parse_model, parse_statement
from dropcheck.language.printing import unparse_model, unparse_statement
from dropcheck.language.syntax import children, lines_of, rebuilt
from dropcheck.mutation.campaign import MOST_MUTANTS, facts_of, mutants_of
from dropcheck.mutation.mutators import MUTATORS, ClaimFacts, Readings

SHIPPED = read_registry(Path(__file__).parents[2] / "claims.yaml")
FACTS = ClaimFacts(frozenset({"p"}), frozenset({"n"}), frozenset({"p", "n"}), step=0.03, zero=0.6)


@pytest.mark.parametrize(
    ("kind", "model", "statement", "planted"),
    [
        ("a factor dropped", "y = a * b", "E(y) == 1", {"y = b", "y = a"}),
        ("a factor dropped", "y = a / b", "E(y) == 1", {"y = a"}),
        ("a factor dropped", "y = a * 1 / 1", "E(y) == 1", {"y = 1 / 1"}),
        ("a factor 2 too many", "x ~ f(1)", "E(x) == 1", {"2 * E(x) == 1", "E(x) == 2 * 1"}),
        ("a factor 2 too many", "y = x", "0 == 0", {"y = 2 * x"}),
        ("a factor repeated", "y = a / b", "E(y) == 1", {"y = a / b / b"}),
        ("p for 1 - p", "q = 1 - p", "E(x) == p", {"q = p", "E(x) == 1 - p"}),
        ("p for 1 - p", "q = 1 - r", "E(x) == n", {"q = r"}),
        ("a square root too many", "", "Var(x) == n", {"sqrt(Var(x)) == n", "Var(x) == sqrt(n)"}),
        ("a square root too many", "", "Var(x) == 1", set()),
        ("a square root too many", "x ~ f(p)[n]", "0 == 1", {"x ~ f(sqrt(p))[n]"}),
        ("a square root dropped", "y = x / sqrt(q)", "0 == 1", {"y = x / q"}),
        ("another power", "", "E(x**2) == 1", {"E(x**3) == 1", "E(x) == 1"}),
        ("one off", "x ~ f(0)[n]", "0 == 1", {"x ~ f(0)[n + 1]", "x ~ f(0)[n - 1]"}),
        ("one off", "x ~ f(0)[3]", "0 == 1", {"x ~ f(0)[4]", "x ~ f(0)[2]"}),
        ("one off", "y = x[0]", "0 == 1", {"y = x[1]"}),
        ("a term too many", "", "E(x) == a - b", {"E(x) == a - b - b"}),
        ("a term dropped", "", "E(x) == a + b", {"E(x) == a", "E(x) == b"}),
        ("a sign", "", "E(x) == a + b", {"E(x) == a - b", "E(x) == -(a + b)"}),
        ("a sign", "", "E(-x) == 0", {"E(x) == 0"}),
        ("a constant changed", "", "E(x) == 2", {"E(x) == 2.06"}),
        ("a constant changed", "", "E(x) == 0", {"E(x) == 0.6"}),
        ("a constant changed", "", "E(x) == n + 1", {"E(x) == n + 1.6"}),
        ("a constant changed", "", "E(x) == -(n - 1)", {"E(x) == -(n - 1.6)"}),
        ("a constant changed", "", "E(x) == n / (m + 1)", {"E(x) == n / (m + 1.03)"}),
        ("a constant changed", "", "2 * (E(x) + 1) == n",
         {"2.06 * (E(x) + 1) == n", "2 * (E(x) + 1.03) == n"}),
        ("a constant changed", "", "E(x + 1) == n", {"E(x + 1.03) == n"}),
        ("a constant changed", "y = x + 1", "E(y) == n", {"y = x + 1.03"}),
        ("a constant changed", "x ~ f(0, 1)", "E(x**2) == n", {"x ~ f(1, 1)", "x ~ f(0, 1.03)"}),
        ("Var for Std", "v = var(g)", "Std(x) == n", {"v = std(g)", "Var(x) == n"}),
        ("an inequality turned round", "", "E(x) < n", {"E(x) > n"}),
        ("an inequality turned round", "", "E(x) == n", set()),
        ("an inequality turned round", "", "a < E(x) < b",
         {"b < E(x) < 2 * b - a", "2 * a - b < E(x) < a"}),
        ("another event", "", "P(x < 1) == p", {"P(x > 1) == p"}),
        ("another event", "", "P(a or b) == p", {"P(a) == p", "P(b) == p"}),
        ("another event", "", "P(a, given=c) == p", {"P(a) == p"}),
        ("branches exchanged", "y = a if c else b", "0 == 1", {"y = b if c else a"}),
    ],
)  # fmt: skip
def test_mutator_plants_its_error_and_nothing_else(
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
    for changed in MUTATORS[kind](parsed, FACTS):
        assert (changed.model == parsed.model) != (changed.statement == parsed.statement)
        if changed.model != parsed.model:
            found.add(unparse_model(changed.model))
        else:
            found.add(unparse_statement(changed.statement))
    assert found == planted


def test_nothing_is_planted_in_a_line_that_the_statement_does_not_rest_on() -> None:
    model = "x ~ normal(0, 1)\ny = 2 * x\nz = 3 * x"
    parsed = replace(
        parse_claim(claim_of("claim: 1 == 1")),
        model=parse_model(SourceText.plain(model)),
        statement=parse_statement(SourceText.plain("E(y) == 0")),
    )
    texts = {
        unparse_model(changed.model)
        for plant in MUTATORS.values()
        for changed in plant(parsed, FACTS)
    }
    assert len(texts) > 4
    assert all(text.endswith("z = 3 * x") for text in texts)


def test_children_put_back_are_the_node() -> None:
    texts = [
        "-x",
        "not a",
        "a < b",
        "a and b",
        "a if b else c",
        "[a, b]",
        "x[1:2, ::3].T",
        "f(a, k=b)",
    ]
    for text in texts:
        node = parse_expression(SourceText.plain(text))
        assert rebuilt(node, children(node)) == node


def test_every_mutator_plants_something_in_the_shipped_claims() -> None:
    planted = set()
    for claim in SHIPPED.claims.values():
        parsed = parse_claim(claim)
        facts = facts_of(parsed, 1.0, Readings(parsed, claim.expand()))
        planted |= {kind for kind, plant in MUTATORS.items() if next(plant(parsed, facts), None)}
    assert planted == {*MUTATORS}


def test_mutants_are_bounded_distinct_claims_and_the_same_every_time() -> None:
    claim = SHIPPED.claims["noisy-unit.loss"]
    parsed = parse_claim(claim)
    readings = Readings(parsed, claim.expand())
    facts = facts_of(parsed, 1.0, readings)
    case = claim.expand()[0]
    mutants = mutants_of(readings, facts, case)
    assert len(mutants) == MOST_MUTANTS
    assert len({mutant.operator for mutant in mutants}) >= 8
    texts = {
        (one.claim.statement.text, one.claim.model and one.claim.model.text) for one in mutants
    }
    assert len(texts) == MOST_MUTANTS
    assert [one.changed for one in mutants] == [
        one.changed for one in mutants_of(readings, facts, case)
    ]
    for mutant in mutants:
        lower_case(parse_claim(mutant.claim), case.parameters)


def test_a_mutant_that_the_check_refuses_is_passed_over() -> None:
    # without its factor the sum of a vector and another of unlike length would be left
    claim = claim_of("model: x ~ normal(0, 1)[3]\nclaim: E(x[2]) == 0")
    parsed = parse_claim(claim)
    readings = Readings(parsed, claim.expand())
    facts = facts_of(parsed, 1.0, readings)
    changed = [one.changed for one in mutants_of(readings, facts, claim.expand()[0])]
    assert "claim: E(x[1]) == 0" in changed
    assert "claim: E(x[3]) == 0" not in changed
