"""What a person is told who comes from papers, numpy or PyTorch: the hint names what to write."""

from __future__ import annotations

import json

import pytest

from dropcheck.claims.reader import read_text
from dropcheck.errors import Problem, suggestion
from dropcheck.language.checks import Checked, check_registry
from dropcheck.language.elsewhere import function_hint, law_hint
from dropcheck.language.functions import FUNCTIONS
from dropcheck.language.laws import LAWS
from dropcheck.language.scope import OPERATORS


def checked(model: str, claim: str = "1 == 1", more: str = "") -> Checked:
    """What is said of a claim; `;` stands between lines of its model."""
    text = "dropcheck: 1\nclaims:\n  c:\n    title: T\n" + more
    text += "    model: |\n" + "".join(f"      {line.strip()}\n" for line in model.split(";"))
    return check_registry(read_text(text + f"    claim: {json.dumps(claim)}\n", "claims.yaml"))


def told(model: str, claim: str = "1 == 1", more: str = "") -> Problem:
    (problem,) = checked(model, claim, more).problems
    return problem


# ---- names from elsewhere -----------------------------------------------------------------------

LAW_HINTS = {
    "N": "write normal(mean, sd): its second argument is the standard deviation, not the variance",
    "gaussian": "write normal(mean, sd): its second argument is the standard deviation",
    "Normal": "write normal(mean, sd): its second argument is the standard deviation",
    "norm": "write normal(mean, sd): its second argument is the standard deviation",
    "randn": "normal(0, 1)[n]",
    "halfnormal": "abs(z)",
    "HalfNormal": "abs(z)",
    "U": "write uniform(low, high)",
    "unif": "write uniform(low, high)",
    "Bernoulli": "write bernoulli(p)",
    "Ber": "write bernoulli(p)",
    "Exp": "write exponential(scale): scale is its mean, the inverse of a rate",
    "Poi": "write poisson(rate)",
    "chi2": "write chi_square(df)",
    "mvn": "write multivariate_normal([mean…], cov)",
    "MVN": "write multivariate_normal([mean…], cov)",
    "bernouli": "did you mean 'bernoulli'?",
    "sqrt": "write '=' in place of '~'",
    "zzz": "laws are bernoulli, beta",
}
FUNCTION_HINTS = {
    "swish": "write silu(x)",
    "matmul": "write a @ b",
    "Covariance": "write Cov(u, v)",
    "covariance": "write Cov(u, v)",
    "Mean": "the law is E(u), that of the elements of one draw mean(x)",
    "Expectation": "the law is E(u)",
    "avg": "the law is E(u)",
    "V": "is Var(u)",
    "variance": "is Var(u)",
    "pow": "write x**y",
    "transpose": "write A.T",
    "tr": "write trace(A)",
    "mod": "write a % b",
    "log_softmax": "write z - logsumexp(z)",
    "reshape": "draw the array in the shape",
    "halfnormal": "abs(z)",
    "N": "x ~ normal(mean, sd)",
    "Bernoulli": "x ~ bernoulli(p)",
    "asin": "write arcsin(x)",
    "ReLU": "did you mean 'relu'?",
    "Exp": "did you mean 'exp'?",
    "zzzz": "functions of your own",
}


@pytest.mark.parametrize("name", LAW_HINTS)
def test_a_law_of_another_name(name: str) -> None:
    problem = told(f"x ~ {name}(0, 1)")
    assert problem.message == f"{name!r} is not a law"
    assert LAW_HINTS[name] in (problem.hint or "")


@pytest.mark.parametrize("name", FUNCTION_HINTS)
def test_a_function_of_another_name(name: str) -> None:
    problem = told("x ~ normal(0, 1)", f"E({name}(x)) == 0")
    assert problem.message == f"{name!r} is not a function of the language"
    assert FUNCTION_HINTS[name] in (problem.hint or "")


@pytest.mark.parametrize("name", ["svd", "tril", "nll", "kl", "topk", "erfinv", "Phi_inv", "ppf"])
def test_what_is_not_there_is_not_guessed_at(name: str) -> None:
    hint = function_hint(name)
    assert hint == "it is not in the vocabulary, and nothing there stands for it"
    assert "did you mean" not in hint


def test_hints_name_what_is_there() -> None:
    from dropcheck.language import elsewhere

    assert set(elsewhere._LAWS.values()) <= set(LAWS)
    assert set(elsewhere._ABOUT) <= set(LAWS)
    assert not set(elsewhere._LAWS) & set(LAWS)
    assert not set(elsewhere._NO_LAWS) & (set(LAWS) | set(FUNCTIONS))


def test_the_nearest_spelling_would_mislead() -> None:
    known = [*FUNCTIONS, *OPERATORS]
    assert suggestion("asin", known) != "did you mean 'arcsin'?"
    assert suggestion("tril", known) is not None
    assert law_hint("nrmal") == "did you mean 'normal'?"


def test_a_function_of_elements_is_given_one_number() -> None:
    problem = told("x ~ normal(0, 1)", "E(sum(x)) == 0")
    assert problem.message == "sum: an array is needed, and this is a single number"
    assert "sum([a, b])" in (problem.hint or "")
    assert checked("x ~ normal(0, 1)[3]", "E(sum(x)) == 0").problems == ()
