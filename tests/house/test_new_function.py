"""A function and an operator are added by the one entry each that CONTRIBUTING shows."""

from __future__ import annotations

import math
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import language_page
import numpy as np
import pytest
from lowered import expressed, lowered, lowering, refusal
from trials import OPEN, REFUTED, VERIFIED, judged

from dropcheck.analysis.bounds import support
from dropcheck.analysis.norms import Norms
from dropcheck.language.hints import function_hint
from dropcheck.results import Guarantee
from dropcheck.vocabulary import functions, operators
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions import FUNCTIONS, elementwise
from dropcheck.vocabulary.operators import OPERATORS, Operator

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"


def on_the_page(heading: str, names: dict[str, Any]) -> Any:
    """The entry that a section of the page shows, as if it stood in the file that it names."""
    section = CONTRIBUTING.read_text(encoding="utf-8").partition(f"## {heading}\n")[2]
    entry = section.partition("```python\n")[2].partition("```")[0]
    return eval(entry, dict(names))


@pytest.fixture
def logloss(monkeypatch: pytest.MonkeyPatch) -> Function:
    function = on_the_page("To add a function", vars(elementwise))
    assert isinstance(function, Function)
    monkeypatch.setitem(FUNCTIONS, function.name, function)
    monkeypatch.setitem(functions.FUNCTIONS_OF_NUMBERS, function.name, function)
    return function


@pytest.fixture
def square(monkeypatch: pytest.MonkeyPatch) -> Operator:
    operator = on_the_page("To add an operator", vars(operators))
    assert isinstance(operator, Operator)
    monkeypatch.setitem(OPERATORS, operator.name, operator)
    return operator


# ---- the function --------------------------------------------------------------------------------


def test_they_are_not_of_the_package() -> None:
    assert "'logloss' is not a function of the language" in refusal("", "logloss(1)")[0]
    assert "'Square' is not a function of the language" in refusal("", "Square(1)")[0]


@pytest.mark.usefixtures("logloss")
def test_it_is_worked_out() -> None:
    assert lowered("", "logloss([0, 3])").known == pytest.approx(
        (math.log(2), math.log1p(math.exp(-3)))
    )
    mean = np.logaddexp(0, [-1, 1]).mean()
    assert judged("x ~ rademacher()", f"E(logloss(x)) == {mean}").verdict == VERIFIED
    assert judged("x ~ rademacher()", "E(logloss(x)) == 0.9").verdict == REFUTED


@pytest.mark.usefixtures("logloss")
def test_its_bounds_follow_from_those_of_its_argument() -> None:
    hull = support(lowered("x ~ uniform(-1, 2)", "logloss(x)"))
    assert hull.low == pytest.approx(math.log1p(math.exp(-2)), rel=1e-9)
    assert hull.high == pytest.approx(math.log1p(math.exp(1)), rel=1e-9)
    result = judged("x ~ uniform(-1, 2)", "E(logloss(x)) < 1")
    assert (result.verdict, result.guarantee) == (VERIFIED, Guarantee.FINITE_SAMPLE)


@pytest.mark.usefixtures("logloss")
def test_its_moments_follow_from_those_of_its_argument() -> None:
    scope = lowering("x ~ student_t(3); z ~ normal(0, 1)")
    norms = Norms(integrate=False)
    assert norms.norm(expressed(scope, "logloss(x)"), 2.9) < math.inf
    assert norms.norm(expressed(scope, "logloss(x)"), 3) == math.inf
    assert norms.norm(expressed(scope, "logloss(z)"), 60) < math.inf


def test_it_has_a_cost(logloss: Function) -> None:
    assert logloss.cost((100,), [(100,)]) == 1300


@pytest.mark.usefixtures("logloss")
def test_hints_and_pages_know_it() -> None:
    assert function_hint("logistic_loss") == "write logloss(x)"
    assert function_hint("loglos") == "did you mean 'logloss'?"
    assert "logloss lacks 'x'" in refusal("", "logloss()")[0]
    lines = language_page.page().splitlines()
    assert "- `logloss(x)`: log(1 + exp(−x))." in lines


FACTS = [one.name for one in fields(Function) if one.default is MISSING]


def test_what_the_analysis_asks_is_a_fact_that_every_function_must_state() -> None:
    assert set(FACTS) >= {"kernel", "shape", "bounds", "growth", "cost", "summary", "parameters"}


@pytest.mark.parametrize("fact", FACTS)
def test_a_function_without_one_of_its_facts_cannot_be_built(logloss: Function, fact: str) -> None:
    known = {one.name: getattr(logloss, one.name) for one in fields(Function)}
    assert Function(**known).name == "logloss"
    del known[fact]
    with pytest.raises(TypeError, match=fact):
        Function(**known)


# ---- the operator --------------------------------------------------------------------------------


@pytest.mark.usefixtures("square")
def test_it_is_judged() -> None:
    assert judged("x ~ normal(3, 2)", "Square(x) == 13").verdict == VERIFIED
    assert judged("x ~ normal(3, 2)", "Square(x) == 14").verdict == REFUTED
    assert judged("x ~ normal(0, 1)", "Square(x, given=x > 0) == 1").verdict == VERIFIED
    both = "x ~ normal(0, 1); y ~ normal(0, 1)"
    assert judged(both, "Square(x) == Square(y)").verdict == VERIFIED


@pytest.mark.usefixtures("square")
def test_it_needs_the_moments_that_it_averages() -> None:
    result = judged("x ~ student_t(2)", "Square(x) == 1")
    assert result.verdict == OPEN
    assert result.explanation is not None
    assert "Square does not exist" in str(result.explanation)
    assert result.draws == 0
    assert judged("x ~ student_t(6)", "Square(x) == 1.5").verdict == VERIFIED


@pytest.mark.usefixtures("square")
def test_it_takes_what_operators_take() -> None:
    assert "Square takes 1 argument by position" in refusal("x ~ normal(0, 1)", "Square(x, x)")[0]
    assert "stands inside the operator" in refusal("x ~ normal(0, 1)", "Square(E(x))")[0]
    assert "cannot be redefined" in refusal("Square ~ normal(0, 1)", "1")[0]


@pytest.mark.usefixtures("square")
def test_hints_and_pages_know_the_operator() -> None:
    assert function_hint("second_moment") == "write Square(u)"
    assert "- `Square(u)`: mean square." in language_page.page().splitlines()


OPERATOR_FACTS = [one.name for one in fields(Operator) if one.default is MISSING]


@pytest.mark.parametrize("fact", OPERATOR_FACTS)
def test_an_operator_without_one_of_its_facts_cannot_be_built(square: Operator, fact: str) -> None:
    known = {one.name: getattr(square, one.name) for one in fields(Operator)}
    assert Operator(**known).name == "Square"
    del known[fact]
    with pytest.raises(TypeError, match=fact):
        Operator(**known)
