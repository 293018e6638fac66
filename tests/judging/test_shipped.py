"""The claims that ship with the package: each says where it stands, and has a false twin.

That all end as expected is shown by the contract, and at their full budget by `.ci/run`. At the
default settings the chance that any verdict of the twins is wrong is 1e-6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from dropcheck.claims.reader import read_registry
from dropcheck.claims.registry import Claim, SourceText
from dropcheck.results import Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

TOP = Path(__file__).parents[2]
CLAIMS = read_registry(TOP / "claims.yaml")
TRUE = {claim.id: claim for claim in CLAIMS.claims.values() if claim.expect == Verdict.VERIFIED}
TWINS: dict[str, dict[str, Any]] = yaml.safe_load(
    (TOP / "tests" / "twins.yaml").read_text(encoding="utf-8")
)


def twin_of(claim: Claim, how: Mapping[str, Any]) -> Claim:
    """The claim with its error planted: another statement, model or parameters."""
    assert set(how) <= {"note", "claim", "model", "only", "cases"}
    model, parameters, cases = claim.model, claim.parameters, claim.cases
    for old, new in how.get("model", {}).items():
        assert model is not None
        assert old in model.text
        model = SourceText.plain(model.text.replace(old, new))
    for name, values in how.get("only", {}).items():
        kept = tuple(values) if isinstance(values, list) else (values,)
        assert set(kept) <= set(parameters[name])
        parameters = {**parameters, name: kept}
    if "cases" in how:
        assert cases is not None
        cases = tuple(cases[place] for place in how["cases"])
    statement = SourceText.plain(how.get("claim", claim.statement.text))
    assert (statement.text, model) != (claim.statement.text, claim.model)
    return replace(
        claim, statement=statement, model=model, parameters=parameters, cases=cases, family=None
    )


@pytest.mark.parametrize("claim", CLAIMS.claims.values(), ids=lambda claim: claim.id)
def test_a_claim_says_where_it_stands(claim: Claim) -> None:
    assert claim.title
    assert claim.tags
    assert claim.sources
    assert all(source.document in CLAIMS.documents and source.section for source in claim.sources)
    if claim.id not in TRUE:  # why it is false, and what holds in its place
        assert str(claim.note).startswith("False")
        assert claim.truth in TRUE


def test_every_true_claim_has_a_twin_that_is_refuted() -> None:
    assert set(TWINS) == set(TRUE)
    twins = [twin_of(claim, TWINS[claim.id]) for claim in TRUE.values()]
    cases = [one.expand()[0] for one in twins]
    for settings in (Settings(exact=True, threads=1), Settings(max_draws=30_000, threads=1)):
        found = [*verify_cases(cases, settings, CLAIMS)]
        cases = [
            case
            for case, one in zip(cases, found, strict=True)
            if one.verdict is not Verdict.REFUTED
        ]
    assert [case.key for case in cases] == []
