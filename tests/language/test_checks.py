"""What a check finds without a draw: every error of every case, and notes that stop nothing."""

from __future__ import annotations

import json

import pytest

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.check import check_cases, check_registry, choose, used_names
from dropcheck.language.compile import CaseGraphs, parse_claim


def registry(claim: str, model: str = "", **more: object) -> Registry:
    """A file of one claim; `;` stands between lines of its model."""
    text = "dropcheck: 1\nclaims:\n  c:\n    title: T\n"
    if model:
        text += "    model: |\n" + "".join(f"      {line.strip()}\n" for line in model.split(";"))
    text += f"    claim: {json.dumps(claim)}\n"
    text += "".join(f"    {key}: {json.dumps(value)}\n" for key, value in more.items())
    return read_text(text, "claims.yaml")


def problems(claim: str, model: str = "", **more: object) -> tuple[Problem, ...]:
    return check_registry(registry(claim, model, **more)).problems


def place(problem: Problem) -> tuple[int | None, int | None]:
    assert problem.location is not None
    return problem.location.line, problem.location.column


NORMAL = "x ~ normal(0, 1)"


@pytest.mark.parametrize(
    ("claim", "model"),
    [
        ("E(x) == 0", NORMAL),
        ("0 == E(x)", NORMAL),
        ("E(mean(y)) == 0", "y ~ normal(0, 1)[3]"),
        ("var(g) / 2 == Var(x) * var(g) / 2", "x ~ normal(0, 1); g = arange(4)"),
        ("1 <= Var(x) <= 1", NORMAL),
        ("E(1 / x if x > 0 else 0) > 0", "x ~ uniform(1, 2)"),
        ("1 == 1", ""),
        ("where(0, 1 / 0, 1) == 1", ""),
    ],
)
def test_finds_nothing_wrong(claim: str, model: str) -> None:
    assert problems(claim, model) == ()


@pytest.mark.parametrize(
    "model",
    [
        "x ~ normal(0, 1); y = minimum(x, inf)",  # infinity that the user writes
        "x ~ normal(0, 1); b = exp(inf) + 1; y = minimum(x, b)",
        "x ~ normal(0, 1); y = minimum(x, exp(1000)) + (x < exp(1000))",
        "x ~ normal(0, 1); y = x / (1 + exp(1000))",  # a number after all
        "x ~ normal(0, 1); y = x * isfinite(exp(1000))",
        "x ~ normal(0, 1); y = where(x > 0, x, exp(1000))",  # a branch that is not taken
        "x ~ normal(0, 1)[2]; y = max(x + log([0, 1]))",  # a mask, of which some counts
        "x ~ normal(0, 1)[2]; y = x[0] * exp([0, 1000])[0]",
        "x ~ normal(0, 1); y = minimum(x, first([0, 0]))",  # infinite on purpose
    ],
)
def test_infinities_that_are_meant_or_do_no_harm_are_no_errors(model: str) -> None:
    assert problems("E(y) == 1", model) == ()


# -- names of laws that are taken ------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        "beta ~ normal(0, 1)[3]; y = beta[2]",
        "gamma = [3, 4]; y ~ normal(gamma[0], gamma[1])",
        "f = [2, 3]; x ~ normal(0, 1)[f[0]]; y = x[1]",
        "beta = 2; x ~ beta(beta, beta)[beta]; y = x[1]",
    ],
)
def test_a_defined_name_wins_over_a_law_of_that_name(model: str) -> None:
    assert problems("E(y) == 1", model) == ()


@pytest.mark.parametrize("model", ["y ~ poisson", "x ~ poisson[4]; y = x[3]"])
def test_a_law_in_a_parameter_wins_over_the_law_of_that_name(model: str) -> None:
    parameters = {"poisson": ["normal(0, 1)", "uniform(0, 1)"]}
    assert problems("E(density(poisson, y)) == 1", model, parameters=parameters) == ()


# -- requires --------------------------------------------------------------------------------------


@pytest.mark.parametrize("requires", ["p <= 1", ["p > 0", "p == 1"], "all([p, 2] > 0)"])
def test_conditions_that_hold(requires: object) -> None:
    assert problems("E(x) == p", NORMAL, parameters={"p": 1}, requires=requires) == ()


# -- tolerance -------------------------------------------------------------------------------------


# -- laws as parameters ----------------------------------------------------------------------------


def test_names_in_a_law_are_used() -> None:
    parameters = {"s": 2, "law": ["normal(0, s)", "uniform(0, 1)"]}
    found = registry("E(x) == 0", "x ~ law", parameters=parameters)
    assert check_registry(found).notes == ()
    assert used_names(parse_claim(found.claims["c"])) == {"s", "law", "x"}


# -- notes -----------------------------------------------------------------------------------------


def test_what_is_not_used_is_noted() -> None:
    model = "x ~ normal(0, 1); y ~ normal(0, 1)"
    found = check_registry(registry("E(x) == 0", model, parameters={"p": 1}))
    assert found.problems == ()
    assert [note.message for note in found.notes] == [
        "the parameter 'p' of c is not used",
        "the model's 'y' is not used",
    ]
    assert [place(note)[0] for note in found.notes] == [9, 7]


# -- both ways -------------------------------------------------------------------------------------


def test_cases_that_no_file_holds_are_checked_too() -> None:
    from dropcheck.claims.registry import Case

    (claim,) = registry("E(x) == p", "x ~ bernoulli(p)", parameters={"p": 0.5}).claims.values()
    assert check_cases([Case(claim, {"p": 0.25})]).problems == ()
    assert len(check_cases([Case(claim, {"p": 2.0}), Case(claim, {"p": 0.25})]).problems) == 1


# -- what a run looks at ---------------------------------------------------------------------------

_SEVERAL = """\
dropcheck: 1
claims:
  right:
    title: T
    parameters: {p: 0.5}
    model: x ~ bernoulli(p)
    claims: {mean: E(x) == p, sd: Vra(x) == p, top: P(x) ==}
  wrong: {title: T, model: "x ~ nrmal(0, 1)\\ny = x", claim: E(x) == 0}
"""


def test_a_run_of_one_claim_takes_no_other_for_its_own() -> None:
    several = read_text(_SEVERAL, "claims.yaml")
    chosen = choose(several, CaseGraphs(), ["right.mean"])
    assert [case.claim.id for case in chosen.cases] == ["right.mean"]
    notes = [(place(one), one.message) for one in chosen.notes]
    assert notes == [
        ((7, 35), "'right.sd' has an error, and does not run"),
        ((7, 53), "'right.top' has an error, and does not run"),
    ]
    assert all("dropcheck check" in str(one.hint) for one in chosen.notes)


@pytest.mark.parametrize("patterns", [["wrong"], ["all"], [], ["right.*", "wrong"]])
def test_a_run_that_selects_a_wrong_claim_is_refused(patterns: list[str]) -> None:
    several = read_text(_SEVERAL, "claims.yaml")
    with pytest.raises(DropcheckError, match="'nrmal' is not a law"):
        choose(several, CaseGraphs(), patterns)


def test_a_check_tells_what_a_run_leaves_out() -> None:
    found = [place(one) for one in check_registry(read_text(_SEVERAL, "claims.yaml")).problems]
    assert found == [(7, 35), (7, 60), (8, 33)]


def test_a_value_that_makes_an_error_names_its_option_and_the_files_own_do_not() -> None:
    text = _SEVERAL.replace("Vra(x) == p", "Var(x) == p").replace("P(x) ==}", "E(1 / (p - 1)) < 1}")
    with pytest.raises(DropcheckError, match="with --p 2"):
        choose(read_text(text), CaseGraphs(), ["right.mean"], overrides={"p": "2"})
    with pytest.raises(DropcheckError, match=r"'nrmal' is not a law$"):
        choose(read_text(text), CaseGraphs(), overrides={"p": "0.2"})
