"""The claims that ship with the package: all there, all as expected, and a false twin of each.

False alarms: at the default settings the chance that any verdict of a whole run is wrong is 1e-6,
for the claims and for the twins; with the fixed seed a run gives the same verdicts every time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from dropcheck.claims.reader import read_registry
from dropcheck.claims.registry import Claim, Registry, SourceText
from dropcheck.results import Outcome, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

HERE = Path(__file__).parent
CLAIMS = read_registry(HERE.parents[1] / "claims.yaml")
TRUE = {claim.id: claim for claim in CLAIMS.claims.values() if claim.expect == Verdict.VERIFIED}
FALSE = {claim.id: claim for claim in CLAIMS.claims.values() if claim.expect == Verdict.REFUTED}
TWINS: dict[str, dict[str, Any]] = yaml.safe_load(
    (HERE.parent / "twins.yaml").read_text(encoding="utf-8")
)

# What the documents say, topic by topic, and the claims that say it here.
TOPICS: dict[str, tuple[str, ...]] = {
    "dropout puts out 0 and x/(1 - p) only": ("dropout-ones.values", "dropout-values.two"),
    "a share p of the outputs is zero": ("dropout-ones.zeros", "dropout-values.zeros"),
    "the printed tensor": ("dropout-ones-tensor",),
    "evaluation is the identity, training is not": (
        "dropout-evaluation.identity",
        "dropout-evaluation.mean",
        "dropout-evaluation.training",
    ),
    "unscaled, the mean shrinks": (
        "naive-mean",
        "naive-mean-smaller",
        "naive-mean-negative.smaller",
        "naive-mean-negative.size",
        "naive-mean-constant",
    ),
    "unscaled, evaluation is larger than training": (
        "naive-evaluation",
        "naive-label-one.training",
        "naive-label-one.evaluation",
    ),
    "unscaled, a stack shrinks exponentially": ("naive-stack.mean", "naive-stack.gradient"),
    "unscaled, the standard deviation shrinks": ("naive-sd",),
    "rescaled, the mean is kept": (
        "dropout-mean",
        "dropout-mean-extreme",
        "inverted-mean-constant",
    ),
    "rescaled, a stack keeps the mean but not the second moment": (
        "inverted-stack.mean",
        "inverted-stack.second-moment",
    ),
    "the dot product has mean 0": ("qk-mean.term", "qk-mean.sum"),
    "means of independent variables multiply": ("product-mean.means", "product-mean.squares"),
    "squares of independent variables": (
        "squares-independent",
        "misplaced-square.as-printed",
        "misplaced-square.as-meant",
        "squares-add",
    ),
    "variances of centred variables multiply, and of no others": (
        "product-variance",
        "product-variance-uncentred.formula",
        "product-variance-uncentred.step",
        "product-variance-uncentred.without-means",
    ),
    "means and variances of independent variables add": (
        "sum-variance.mean",
        "sum-variance.variance",
    ),
    "a step printed with the wrong sign": (
        "sum-variance-steps.minus",
        "sum-variance-steps.plus",
    ),
    "the dot product has variance d_k": ("qk-variance", "qk-size", "qk-unequal"),
    "the scaled dot product has variance 1": ("qk-scaled.variance", "qk-scaled.sd"),
    "a mask from uniform numbers": ("uniform-mask",),
    "an activation of 10": ("naive-ten.kept", "naive-ten.dropped", "naive-ten.mean"),
    "matching the expectation": (
        "layernorm.sensitive",
        "layernorm.invariant",
        "residual-share",
    ),
    "gradients": (
        "dropped-unit-update.remembered",
        "dropped-unit-update.drawn-anew",
        "inverted-gradient.dropped",
        "inverted-gradient.kept",
        "inverted-gradient.mean",
        "inverted-gradient.variance",
    ),
    "the values of inverted dropout": ("inverted-values.kept", "inverted-values.dropped"),
    "the variance of inverted dropout": (
        "dropout-variance",
        "inverted-second-moment",
        "dropout-variance-grows",
        "dropout-variance-unbounded.exceeds",
        "dropout-variance-unbounded.value",
        "inverted-variance",
    ),
    "noise regularises": ("noisy-unit.loss", "noisy-unit.variance", "leaning-on-one"),
    "the standard deviation rises": ("sd-rise-printed", "sd-kept", "sd-ratio"),
    "dividing by the root": (
        "root-scaled",
        "root-scaled-uncentred.sd-kept",
        "root-scaled-uncentred.variance",
        "root-scaled-uncentred.mean-kept",
        "root-scaled-uncentred.mean",
    ),
    "the factor as it is printed": (
        "factor-as-printed.read-literally",
        "factor-as-printed.as-meant",
    ),
    "a constant factor": ("constant-factor.mean", "constant-factor.sd"),
    "a hundred ones": (
        "hundred-ones.without",
        "hundred-ones.naive",
        "hundred-ones.seventy",
        "hundred-ones.rescaled",
        "hundred-ones.each-time",
        "hundred-ones.spread",
    ),
    "where to scale": ("scaling-places.down", "scaling-places.up"),
    "to drop and to keep": (
        "notations.same",
        "notations.zeros-drop",
        "notations.zeros-keep",
        "notations.mixed",
        "notations.divided",
    ),
    "every entry of the product, whatever the law": (
        "qk-entries.mean",
        "qk-entries.variance",
        "qk-entries-alike",
    ),
    "the sum as printed": ("printed-sum.as-printed", "printed-sum.counted"),
    "two by two": ("unit-product.unit", "unit-product.two"),
    "the root and no other number": ("other-divisors.one", "other-divisors.power-law"),
    "query and key correlated": (
        "correlated-qk.dk",
        "correlated-qk.variance",
        "correlated-qk.mean",
    ),
    "entries that share a part": ("shared-part.one", "shared-part.both", "shared-part.both-raise"),
    "a gentler softmax": ("softmax-gentler.peak", "softmax-gentler.entropy"),
    "the largest weight": ("softmax-peak.scaled", "softmax-peak.unscaled"),
    "weights and scores": ("softmax-weights-sd.weights", "softmax-weights-sd.scores"),
    "a sample variance of 1.6": ("two-by-two.unusual", "two-by-two.scaled", "two-by-two-mean"),
    "matrices of mean 0 and variance 1 exactly": (
        "matching-matrices.two",
        "matching-matrices.less",
    ),
    "the sample variance settles": ("sample-variance-falls", "sample-variance-settles"),
    "dot and matrix product": ("dot-is-matmul",),
}

SECTIONS = {
    "scaling-post": {
        "Intro",
        "Some Math",
        "Similar Scaling in the Attention block of Transformers",
    },
    "dropout-article": {
        "introduction",
        "Naive Dropout case",
        "Why do we care about matching the expectation?",
        "Inverted Dropout",
        "What's going on with Variance",
    },
    "rescaling-thread": {"Posts 1, 2 and 6", *(f"Post {number}" for number in range(1, 8))},
    "variance-question": {"question", "first answer", "comments", "second answer"},
}

each_claim = pytest.mark.parametrize("claim", CLAIMS.claims.values(), ids=lambda claim: claim.id)
each_true = pytest.mark.parametrize("claim", TRUE.values(), ids=lambda claim: claim.id)


def not_passed(claim: Claim, registry: Registry) -> list[str]:
    """One line for each case of a claim that does not pass, with what is needed to look into it."""
    results = list(verify_cases(claim.expand(), Settings(), registry))
    assert len(results) == len(claim.expand())
    return [
        f"{claim.id} {result.parameters}: {result.verdict}, estimate {result.estimate}"
        f" in {result.interval}, claimed {result.claimed}, {result.draws} draws: "
        f"{result.explanation}"
        for result in results
        if result.result is not Outcome.PASS
    ]


def twin_of(claim: Claim, how: Mapping[str, Any]) -> Claim:
    """The claim with its error planted."""
    assert set(how) <= {"note", "claim", "model", "only", "cases"}
    assert how["note"]
    statement, model, parameters, cases = (
        claim.statement,
        claim.model,
        claim.parameters,
        claim.cases,
    )
    if "claim" in how:
        assert how["claim"] != statement.text
        statement = SourceText.plain(how["claim"])
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
    assert (statement, model) != (claim.statement, claim.model)
    return replace(
        claim,
        statement=statement,
        model=model,
        parameters=parameters,
        cases=cases,
        expect=str(Verdict.REFUTED),
        family=None,
    )


# ---- what the registry holds --------------------------------------------------------------------


@each_claim
def test_claim_says_where_it_stands(claim: Claim) -> None:
    assert claim.title
    assert claim.tags
    assert claim.sources
    for source in claim.sources:
        assert source.document in CLAIMS.documents
        assert source.document is not None
        assert source.section in SECTIONS[source.document]


def test_every_topic_has_its_claims_and_every_claim_its_topic() -> None:
    listed = [name for names in TOPICS.values() for name in names]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(CLAIMS.claims)


def test_documents_carry_no_date_or_address_but_the_known_one() -> None:
    assert set(CLAIMS.documents) == set(SECTIONS)
    dates = {key: document.date for key, document in CLAIMS.documents.items() if document.date}
    assert dates == {"scaling-post": "2024-02-13"}
    assert not any(document.url for document in CLAIMS.documents.values())


@pytest.mark.parametrize("claim", FALSE.values(), ids=lambda claim: claim.id)
def test_a_false_claim_says_why_and_what_holds_in_its_place(claim: Claim) -> None:
    assert claim.note is not None
    assert claim.note.startswith("False")
    assert claim.truth in TRUE


@pytest.mark.parametrize(
    ("name", "parameter", "values"),
    [
        ("qk-variance", "dk", {1, 16, 64, 512}),
        ("qk-scaled.variance", "dk", {1, 4, 16, 64, 512}),
        ("dropout-values.two", "p", {0.1, 0.5, 0.9}),
        ("dropout-variance", "p", {round(0.1 * tenths, 1) for tenths in range(1, 10)}),
        ("dropout-variance-grows", "p", {round(0.1 * tenths, 1) for tenths in range(1, 9)}),
        ("inverted-stack.mean", "layers", {1, 4, 12}),
        ("naive-stack.mean", "layers", {1, 4, 12, 24}),
        ("softmax-gentler.peak", "dk", {16, 64, 256}),
        ("sd-rise-printed", "p", {0.1, 0.25, 0.5}),
    ],
)
def test_grid_covers_what_the_document_tries(name: str, parameter: str, values: set[float]) -> None:
    assert {case.parameters[parameter] for case in CLAIMS.claims[name].expand()} == values


@pytest.mark.parametrize("name", ["dropout-mean", "qk-mean.sum", "qk-entries.variance"])
def test_claim_about_any_law_is_tried_at_four(name: str) -> None:
    assert len({case.parameters["law"] for case in CLAIMS.claims[name].expand()}) == 4


# ---- the verdicts -------------------------------------------------------------------------------


@each_claim
def test_claim_passes(claim: Claim) -> None:
    assert not_passed(claim, CLAIMS) == []


def test_every_true_claim_has_a_twin() -> None:
    assert set(TWINS) == set(TRUE)


@each_true
def test_twin_is_refuted(claim: Claim) -> None:
    assert not_passed(twin_of(claim, TWINS[claim.id]), CLAIMS) == []
