"""Several statements of one claim, models that claims share, and what names other claims."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.errors import DropcheckError
from dropcheck.language.check import check_registry
from dropcheck.language.compile import parse_claim
from dropcheck.language.syntax import lines_of
from dropcheck.results import Passage

TEXT = """\
dropcheck: 1
documents: {notes: {title: Notes}, post: {title: Post}}
models:
  base: |
    x ~ normal(mu, 1)
  inverted: |
    # the mask (of
    base
    m ~ bernoulli(1 - p)
    y = m * x / (1 - p)
defaults: {document: notes, section: Start, tags: [usual], resolution: 0.02}
claims:
  inverted-dropout:
    title: Inverted dropout keeps the mean
    section: Scaling
    parameters: {p: [0.1, 0.5], mu: [0, 2]}
    requires: 0 <= p < 1
    model: inverted
    tags: [dropout]
    claims:
      mean: E(y) == E(x)
      variance:
        claim: Var(y) == (Var(x) + p * E(x)**2) / (1 - p)
        title: The variance grows
        within: 0.1
        tags: [variance]
        sources: [{document: notes, section: A}, {document: post}]
      sd: {claim: Std(y) == Std(x), expect: refuted, truth: variance, says: It is kept}
  sum:
    title: The sum
    document: post
    parameters: {p: 0.5, mu: 1}
    model: |
      inverted
      z = x + y
    claim: E(z) == 2
"""


def problems(text: str) -> list[str]:
    with pytest.raises(DropcheckError) as caught:
        read_text(text)
    return [f"{one.location} {one.message} | {one.hint}" for one in caught.value.problems]


# ---- statements ----------------------------------------------------------------------------------


def test_each_statement_is_a_claim_with_what_the_whole_one_has() -> None:
    claims = read_text(TEXT).claims
    assert list(claims) == [
        "inverted-dropout.mean", "inverted-dropout.variance", "inverted-dropout.sd", "sum"
    ]  # fmt: skip
    mean, variance, sd, other = claims.values()
    assert (mean.entry, other.entry, mean.case_count) == ("inverted-dropout", "sum", 4)
    assert [one.title for one in (mean, variance)] == [
        "Inverted dropout keeps the mean (mean)", "The variance grows"
    ]  # fmt: skip
    assert (mean.model, mean.requires) == (variance.model, variance.requires)
    assert (mean.resolution, mean.within, variance.within) == (0.02, None, 0.1)
    assert (mean.tags, variance.tags) == (("dropout",), ("dropout", "variance"))
    assert mean.sources == (Passage("notes", "Scaling"),)
    assert other.sources == (Passage("post", "Start"),)
    assert all(one.sharpness_given for one in claims.values())
    assert variance.sources == (Passage("notes", "A"), Passage("post", None))
    assert (sd.expect, sd.says, sd.truth) == ("refuted", "It is kept", "inverted-dropout.variance")
    assert mean.statement.locate(0, 0).line == 21
    assert (mean.location.line, sd.location.line) == (21, 28)


# ---- shared models -------------------------------------------------------------------------------


def test_a_bare_name_stands_for_the_lines_of_a_model() -> None:
    claims = read_text(TEXT).claims
    shared, longer = claims["inverted-dropout.mean"].model, claims["sum"].model
    assert shared is not None
    assert longer is not None
    lines = "# the mask (of\nx ~ normal(mu, 1)\nm ~ bernoulli(1 - p)\ny = m * x / (1 - p)"
    assert shared.text == lines
    assert longer.text == lines + "\nz = x + y"
    assert [longer.locate(line, 0).line for line in range(5)] == [7, 5, 9, 10, 35]
    assert longer.locate(3, 4).column == 9
    assert [line.names[0].name for line in lines_of(parse_claim(claims["sum"]).model)] == list(
        "xmyz"
    )


def test_models_that_name_one_another_cannot_grow_without_end() -> None:
    names = [f"m{n}" for n in range(40)]
    lines = ["dropcheck: 1", "models:", "  m0: |", *(f"    x{n} = {n}" for n in range(200))]
    for below, name in pairwise(names):
        lines += [f"  {name}: |", f"    {below}", f"    {below}"]
    found = problems("\n".join([*lines, "claims: {c: {title: T, claim: 1 == 1, model: m39}}"]))
    assert "longer than 16,777,216 characters" in found[0]


# ---- notes ---------------------------------------------------------------------------------------


def notes(registry: Registry) -> list[str]:
    return [one.message for one in check_registry(registry).notes]


def test_a_claim_with_very_many_statements_is_refused_and_many_cost_little() -> None:
    lines = "".join(f"      s{n}: E(x) <= {n + 1}\n" for n in range(1001))
    head = "dropcheck: 1\nclaims:\n  c:\n    title: T\n    model: x ~ normal(0, 1)\n"
    text = f"{head}    claims:\n{lines}"
    assert any("there are 1,001 statements" in line for line in problems(text))
    registry = read_text(text.replace("      s1000: E(x) <= 1001\n", ""))
    started = time.process_time()
    assert check_registry(registry).problems == ()
    assert time.process_time() - started < 5.0  # a hundredth of what each beside each would take
