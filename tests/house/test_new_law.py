"""A law that the package does not have is added by the one entry that CONTRIBUTING shows."""

from __future__ import annotations

import math
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import language_page
import numpy as np
import pytest
from law_judges import distance_allowed, gap
from lowered import expressed, lowering
from scipy import integrate, stats
from trials import OPEN, REFUTED, VERIFIED, judged

from dropcheck.analysis.bounds import support
from dropcheck.analysis.undefined import moment_order
from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError
from dropcheck.language.check import check_registry
from dropcheck.language.hints import function_hint, law_hint
from dropcheck.reasons import Reason
from dropcheck.results import Guarantee
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS, continuous

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"


@pytest.fixture
def lomax(monkeypatch: pytest.MonkeyPatch) -> Law:
    """The entry of the page, as if it stood in the file that the page names."""
    section = CONTRIBUTING.read_text(encoding="utf-8").partition("## To add a law")[2]
    entry = section.partition("```python\n")[2].partition("```")[0]
    names: dict[str, Any] = dict(vars(continuous))
    exec(entry, names)
    law = names["LOMAX"]
    assert isinstance(law, Law)
    monkeypatch.setitem(LAWS, law.name, law)
    return law


def problems_of(model: str, claim: str) -> list[tuple[str, str]]:
    text = f"{{title: T, model: '{model}', claim: '{claim}'}}"
    checked = check_registry(read_text(f"dropcheck: 1\nclaims: {{c: {text}}}"))
    return [(problem.message, problem.hint or "") for problem in checked.problems]


def test_it_is_not_a_law_of_the_package() -> None:
    assert "lomax" not in LAWS
    [(message, _)] = problems_of("x ~ lomax(3, 1)", "E(x) == 0.5")
    assert message == "'lomax' is not a law"


def test_draws_follow_it(lomax: Law) -> None:
    arguments = [np.full(1, 1.5), np.full(1, 2.0)]
    draws = lomax.sample(np.random.default_rng(1), arguments, (), 20_000)
    assert gap(draws, stats.lomax(1.5, scale=2.0).cdf) <= distance_allowed(20_000)


@pytest.mark.usefixtures("lomax")
def test_claims_on_it_are_judged() -> None:
    assert judged("x ~ lomax(1.5, 2)", "P(x > 2) == 2**-1.5").verdict == VERIFIED
    assert judged("x ~ lomax(1.5, 2)", "P(x > 2) == 0.5").verdict == REFUTED
    assert judged("a ~ uniform(5, 6); x ~ lomax(a, 1)", "P(x > 1) < 0.1").verdict == VERIFIED


@pytest.mark.usefixtures("lomax")
def test_moments_exist_as_far_as_the_entry_says() -> None:
    scope = lowering("x ~ lomax(1.5, 2); y ~ lomax(3, 0)")
    for expression, order in (("x", 1.5), ("x**2", 0.75), ("1 / x", 1.0), ("exp(x)", 0.0)):
        assert moment_order(expressed(scope, expression)) == order, expression
    assert moment_order(expressed(scope, "y")) == math.inf  # it is the constant 0


@pytest.mark.usefixtures("lomax")
def test_a_mean_that_does_not_exist_gets_no_verdict() -> None:
    result = judged("x ~ lomax(0.8, 1)", "E(x) == 1")
    assert result.verdict == OPEN
    assert result.explanation is not None
    assert result.explanation.reason is Reason.NO_MOMENT
    assert result.draws == 0


@pytest.mark.usefixtures("lomax")
def test_its_support_bounds_what_is_made_of_it() -> None:
    hull = support(expressed(lowering("x ~ lomax(3, 1)"), "1 / (1 + x)"))
    assert (hull.low, hull.high) == pytest.approx((0, 1))
    result = judged("x ~ lomax(3, 1)", "E(1 / (1 + x)) == 0.75")
    assert (result.verdict, result.guarantee) == (VERIFIED, Guarantee.FINITE_SAMPLE)


@pytest.mark.usefixtures("lomax")
def test_its_density_is_known() -> None:
    value = expressed(lowering(), "[density(lomax(3, 2), 0.7), logdensity(lomax(3, 2), -1)]").known
    assert isinstance(value, tuple)
    assert value[0] == pytest.approx(stats.lomax(3, scale=2).pdf(0.7), rel=1e-12)
    assert value[1] == -math.inf


def test_its_moments_and_probabilities_are_known(lomax: Law) -> None:
    theirs = stats.lomax(9.5, scale=2.0)
    assert float(lomax.mean(9.5, 2.0)) == pytest.approx(theirs.mean(), rel=1e-12)
    for order in (2, 4):
        assert float(lomax.central(order, 9.5, 2.0)) == pytest.approx(
            integrate.quad(
                lambda x, k=order: (x - theirs.mean()) ** k * theirs.pdf(x), 0, math.inf
            )[0]
        )
        assert float(lomax.norm(order, 9.5, 2.0)) ** order == pytest.approx(theirs.moment(order))
    assert lomax.norm(1.5, 1.5, 2.0) == math.inf
    x = np.array([1e-9, 0.5, 40.0])
    np.testing.assert_allclose(lomax.cdf(x, 9.5, 2.0), theirs.cdf(x), rtol=1e-12)
    np.testing.assert_allclose(lomax.upper_quantile(theirs.sf(x), 9.5, 2.0)[1:], x[1:], rtol=1e-12)
    assert lomax.as_line(9.5, 2.0) == (0.0, 2.0, (9.5, 1.0))


def test_what_is_known_of_it_may_be_left_out(lomax: Law) -> None:
    bare = replace(lomax, standard=None, line=None, standard_arguments=None)
    assert bare.norm(1.0, 9.5, 2.0) == math.inf
    assert bare.cdf(0.5, 9.5, 2.0) is None


@pytest.mark.usefixtures("lomax")
def test_arguments_outside_its_domain_are_refused() -> None:
    [(message, hint)] = problems_of("x ~ lomax(0, 1)", "E(x) == 0.5")
    assert message.startswith("lomax: alpha must satisfy alpha > 0, and is 0")
    assert hint.startswith("lomax(alpha, scale): P(x > t)")
    [(message, hint)] = problems_of("x ~ lomax(2)", "E(x) == 0.5")
    assert message == "lomax lacks 'scale'"
    assert hint == "write lomax(alpha, scale): it starts at 0; pareto starts at scale"
    with pytest.raises(DropcheckError, match=r"alpha > 0, and is -.*in some draw"):
        judged("a ~ uniform(-1, 1); x ~ lomax(a, 1)", "P(x > 1) < 0.1")


@pytest.mark.usefixtures("lomax")
def test_hints_know_it() -> None:
    assert law_hint("lomxa") == "did you mean 'lomax'?"
    called = "lomax(alpha, scale): it starts at 0; pareto starts at scale"
    assert law_hint("pareto2") == f"write {called}"
    assert function_hint("lomax") == f"draw on a line of the model, x ~ {called}"


def test_the_page_on_the_language_has_its_line(lomax: Law) -> None:
    lines = language_page.page().splitlines()
    line = f"- `lomax(alpha, scale)`: {lomax.summary}."
    assert line in lines
    first = lines.index("## Distributions of numbers")
    assert (
        first
        < lines.index(line)
        < lines.index("## Distributions of whole numbers and of given values")
    )


def test_its_draws_have_a_cost(lomax: Law) -> None:
    assert lomax.draw_cost((10, 10)) == 4000


FACTS = [one.name for one in fields(Law) if one.default is MISSING]


def test_what_the_analysis_asks_is_a_fact_that_every_law_must_state() -> None:
    needed = {"ends", "degenerate", "moments", "near_ends", "tails", "rare", "sampler"}
    assert needed <= set(FACTS)


@pytest.mark.parametrize("fact", FACTS)
def test_a_law_without_one_of_its_facts_cannot_be_built(lomax: Law, fact: str) -> None:
    known = {one.name: getattr(lomax, one.name) for one in fields(Law)}
    assert Law(**known).name == "lomax"
    del known[fact]
    with pytest.raises(TypeError, match=fact):
        Law(**known)


def test_moments_follow_the_entry_and_nothing_else(
    lomax: Law, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test of moments above can fail: with another fact another order is found."""
    monkeypatch.setitem(LAWS, "lomax", replace(lomax, moments=lambda alpha, _: alpha + 1))
    assert moment_order(expressed(lowering("x ~ lomax(1.5, 2)"), "x")) == 2.5
