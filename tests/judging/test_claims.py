"""The claims that ship with the package: all there, all as expected, and a false twin of each.

False alarms: at the default settings the chance that any verdict of a whole run is wrong is 1e-6,
for the claims and for the twins; with the fixed seed a run gives the same verdicts every time.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dropcheck.claims.reader import read_registry
from dropcheck.claims.registry import Claim, Registry
from dropcheck.results import Outcome, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

HERE = Path(__file__).parent
CLAIMS = read_registry(HERE.parents[1] / "claims.yaml")
TWINS = read_registry(HERE.parent / "twins.yaml")

# What the documents say, topic by topic, and the claims that say it here.
TOPICS: dict[str, tuple[str, ...]] = {
    "dropout puts out 0 and x/(1 - p) only": ("dropout-ones-values", "dropout-values"),
    "a share p of the outputs is zero": ("dropout-zero-share",),
    "unscaled, the mean shrinks": ("unscaled-mean",),
    "unscaled, evaluation is larger than training": ("eval-to-train-ratio",),
    "unscaled, a stack shrinks exponentially": ("unscaled-stack-mean",),
    "rescaled, the mean is kept": ("dropout-mean", "dropout-mean-extreme"),
    "rescaled, a stack keeps the mean": ("scaled-stack-mean",),
    "rescaled, a stack does not keep the second moment": ("scaled-stack-second-moment",),
    "the dot product has mean 0": ("qk-term-mean", "qk-mean"),
    "means of independent variables multiply": ("product-mean", "squares-product-mean"),
    "variances of centred variables multiply": ("product-variance-centred",),
    "not so without the means 0": ("product-variance-uncentred",),
    "variances of independent variables add": ("sum-variance",),
    "a step printed with the wrong sign": ("sum-variance-plus", "sum-variance-step"),
    "the dot product has variance d_k": ("qk-variance",),
    "the scaled dot product has variance 1": ("qk-scaled-variance",),
    "dropout does nothing in evaluation mode": ("evaluation-identity",),
    "a mask from uniform numbers": ("uniform-mask",),
    "ten at p = 0.2": ("naive-ten-kept", "naive-ten-dropped", "naive-ten-mean"),
    "naive dropout's mean": ("naive-mean",),
    "naive dropout at inference": ("naive-inference-gain",),
    "naive dropout in depth": ("naive-depth-mean",),
    "inverted dropout's values": ("inverted-kept-value", "inverted-dropped-value"),
    "inverted dropout's mean": ("inverted-mean-constant",),
    "inverted dropout's second moment": ("inverted-second-moment",),
    "inverted dropout's variance": ("dropout-variance",),
    "the variance grows with p": ("dropout-variance-grows",),
    "the variance grows without bound": ("dropout-variance-extreme",),
    "gradients of dropped and kept units": ("dropped-unit-gradient", "kept-unit-gradient"),
    "the gradient's mean and variance": ("gradient-mean", "gradient-variance"),
    "noise regularises": ("noisy-loss", "noisy-output-variance"),
    "the printed rise of the standard deviation": ("sd-rise-printed",),
    "the exact rise of the standard deviation": ("sd-ratio",),
    "the mean is kept all the same": ("rescaled-mean-kept",),
    "1/(1 - p) does not keep the standard deviation": ("sd-kept",),
    "1/sqrt(1 - p) does": ("root-scaled-sd",),
    "but for mean 0 only": ("root-scaled-sd-uncentred", "root-scaled-variance"),
    "and at the price of the mean": ("root-scaled-mean-kept", "root-scaled-mean"),
    "a hundred ones": ("hundred-ones-without", "hundred-ones-unscaled", "hundred-ones-scaled"),
    "scaling in training or at inference": ("inference-scaling-mean", "scaling-places-agree"),
    "p to drop or p to keep": ("keep-probability-convention",),
    "rules for sums and products": (
        "independent-sum-mean",
        "independent-sum-variance",
        "independent-product-mean",
    ),
    "the variance of a product": ("product-variance-formula",),
    "every entry of QK": ("qk-entries-mean", "qk-entries-variance"),
    "entries are alike": ("qk-entries-alike",),
    "a sum with one term too many": ("printed-sum-variance", "printed-sum-true-variance"),
    "no other number than the root": ("dk-scaled-variance-one", "dk-scaled-variance"),
    "the scaled standard deviation is 1": ("qk-scaled-sd",),
    "a gentler softmax": ("softmax-gentler-peak", "softmax-gentler-entropy"),
    "the largest weight as d_k grows": (
        "scaled-softmax-steady",
        "unscaled-softmax-peak",
        "unscaled-softmax-sharpens",
    ),
    "a sample variance of 1.6": ("two-by-two-sample-variance", "two-by-two-sample-variance-mean"),
    "the sample variance settles": ("sample-variance-settles",),
    "dot and matrix product": ("dot-is-matmul",),
    "query and key correlated": (
        "correlated-qk-variance-dk",
        "correlated-qk-variance",
        "correlated-qk-mean",
    ),
}

# What a document says or a reader may take from it, and is false.
FALSE = {
    "product-variance-uncentred",
    "sum-variance-plus",
    "sd-kept",
    "root-scaled-sd-uncentred",
    "root-scaled-mean-kept",
    "printed-sum-variance",
    "dk-scaled-variance-one",
    "correlated-qk-variance-dk",
}

SECTIONS = {
    "scaling-post": {
        "Intro",
        "Some Math",
        "Similar Scaling in the Attention block of Transformers",
        "Final thoughts",
    },
    "dropout-article": {
        "introduction",
        "Naive Dropout case",
        "Why do we care about matching the expectation?",
        "Inverted Dropout",
        "What's going on with Variance",
    },
    "rescaling-thread": {f"Post {number}" for number in range(1, 8)},
    "variance-question": {"question", "accepted answer", "comments", "second answer"},
}

each_claim = pytest.mark.parametrize("claim", CLAIMS.claims.values(), ids=lambda claim: claim.id)
each_twin = pytest.mark.parametrize("twin", TWINS.claims.values(), ids=lambda twin: twin.id)


def _not_passed(claim: Claim, registry: Registry) -> list[str]:
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


# ---- what the registry holds --------------------------------------------------------------------


@each_claim
def test_claim_says_where_it_stands_and_why(claim: Claim) -> None:
    assert claim.title
    assert claim.note
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


def test_size_of_the_registry() -> None:
    assert len(CLAIMS.claims) >= 60
    assert len(CLAIMS.expand()) >= 150


def test_titles_are_unlike_each_other() -> None:
    assert len({claim.title for claim in CLAIMS.claims.values()}) == len(CLAIMS.claims)


def test_documents_carry_no_date_or_address_but_the_known_one() -> None:
    assert set(CLAIMS.documents) == set(SECTIONS)
    dates = {key: document.date for key, document in CLAIMS.documents.items() if document.date}
    assert dates == {"scaling-post": "2024-02-13"}
    assert not any(document.url for document in CLAIMS.documents.values())


def test_false_claims_are_marked_and_no_others() -> None:
    marked = {claim.id for claim in CLAIMS.claims.values() if claim.expect == Verdict.REFUTED}
    assert marked == FALSE
    assert {claim.id for claim in CLAIMS.claims.values() if "false-claim" in claim.tags} == FALSE


@pytest.mark.parametrize(
    ("name", "parameter", "values"),
    [
        ("qk-variance", "dk", {1, 16, 64, 512}),
        ("qk-scaled-variance", "dk", {1, 16, 64, 512}),
        ("dropout-values", "p", {0.1, 0.5, 0.9}),
        ("dropout-variance", "p", {round(0.1 * tenths, 1) for tenths in range(1, 10)}),
        ("dropout-variance-grows", "p", {round(0.1 * tenths, 1) for tenths in range(1, 9)}),
        ("dropout-variance-extreme", "p", {0.99}),
        ("unscaled-stack-mean", "layers", {1, 4, 12}),
        ("scaled-stack-mean", "layers", {1, 4, 12}),
        ("naive-depth-mean", "layers", {1, 6, 24}),
        ("softmax-gentler-peak", "dk", {16, 64, 256}),
        ("sd-rise-printed", "p", {0.1, 0.25, 0.5}),
    ],
)
def test_grid_covers_what_the_document_tries(name: str, parameter: str, values: set[float]) -> None:
    assert {case.parameters[parameter] for case in CLAIMS.claims[name].expand()} == values


@pytest.mark.parametrize("name", ["dropout-mean", "qk-mean", "qk-entries-variance"])
def test_claim_about_any_law_is_tried_at_four(name: str) -> None:
    assert len({case.parameters["law"] for case in CLAIMS.claims[name].expand()}) == 4


# ---- what the twins are -------------------------------------------------------------------------


def test_every_claim_has_a_twin() -> None:
    assert set(TWINS.claims) == set(CLAIMS.claims)


@each_twin
def test_twin_is_false_by_a_named_error(twin: Claim) -> None:
    original = CLAIMS.claims[twin.id]
    assert twin.expect == Verdict.REFUTED
    assert twin.note
    assert twin.title != original.title
    texts = [
        (claim.statement.text, claim.model.text if claim.model else "", claim.parameters)
        for claim in (twin, original)
    ]
    # a law among the parameters is part of the model
    changed = twin.parameters.get("law") != original.parameters.get("law")
    assert texts[0][:2] != texts[1][:2] or changed


# ---- the verdicts -------------------------------------------------------------------------------


@each_claim
def test_claim_passes(claim: Claim) -> None:
    assert _not_passed(claim, CLAIMS) == []


@each_twin
def test_twin_is_refuted(twin: Claim) -> None:
    assert _not_passed(twin, TWINS) == []
