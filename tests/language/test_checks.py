"""What a check finds without a draw: every error of every case, and notes that stop nothing."""

from __future__ import annotations

import json

import pytest

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.errors import Problem
from dropcheck.language.check import check_cases, check_registry, notes_on_resolutions, used_names
from dropcheck.language.compile import parse_claim


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

REFUSED = {
    # what stands outside an operator, or inside one, or in the model
    ("E(x) == x", NORMAL): ((7, 20), "'x' is random, and stands outside", "E(…), Var(…)"),
    ("x + 1 == 1", NORMAL): ((7, 13), "'x' is random, and stands outside", "E(…), Var(…)"),
    ("mean(y) == 0", "y ~ normal(0, 1)[3]"): ((7, 18), "'y' is random", "did you mean E(…)"),
    ("mean(x) == 0", NORMAL): ((7, 13), "'mean' is over the elements", "did you mean E(…)"),
    ("std(y) == 1", "y ~ normal(0, 1)[3]"): ((7, 17), "'y' is random", "did you mean Std(…)"),
    ("E(Var(x)) == 1", NORMAL): ((7, 15), "inside the operator E", "parameter m"),
    ("E(x + 2 * Var(x)) == 1", NORMAL): ((7, 23), "inside the operator E", "parameter m"),
    ("E(x, given=[1, sqrt(P(x > 0))][1] < x) == 1", NORMAL): ((7, 33), "inside the operator E", ""),
    ("P(x > 0, x < 1) == 0.3", NORMAL): ((7, 13), "P takes 1 argument by", "P(a and b)"),
    ("E(take(3, 0) + x) == 1", NORMAL): ((7, 15), "an array to take from", "take([2, 3, 5], i)"),
    ("E(y) == 0", "x ~ normal(0, 1); y = E(x)"): ((7, 11), "stands in the model", "'claim'"),
    # sides
    ("E(x) == [1, 2]", NORMAL): ((7, 21), "has shape [2]", "pick an element"),
    ("E(x) == 1 / 0", NORMAL): ((7, 25), "division by zero", "where(…)"),
    ("E(x) == 9**9**9", NORMAL): ((7, 21), "this side of the claim is inf", "finite"),
    ("log(-1) == 1", ""): ((5, 13), "this side of the claim is nan", "finite"),
    ("2 <= E(x) <= 1", NORMAL): ((7, 13), "its lower end 2 is above its upper end 1", "smaller"),
    ("1 >= E(x) >= 2", NORMAL): ((7, 13), "its lower end 2 is above its upper end 1", "smaller"),
    # shapes
    ("E(x + y) == 0", "x ~ normal(0, 1)[3]; y ~ normal(0, 1)[4]"): (
        (8, 15),
        "shapes [3] and [4] do not go together",
        "",
    ),
}


@pytest.mark.parametrize("case", REFUSED, ids=" / ".join)
def test_refuses(case: tuple[str, str]) -> None:
    (problem,) = problems(*case)
    where, message, hint = REFUSED[case]
    assert message in problem.message
    assert hint in (problem.hint or "")
    if place(problem) != where:  # columns count from the quote that JSON's text begins with
        assert place(problem) == (where[0], where[1] + 1)


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


def test_every_error_is_told_once_and_what_follows_from_one_is_not() -> None:
    found = problems("E(y) == q", "x ~ normal(0, -1); y = x + 1; z = w; v = z + y")
    assert [(place(problem)[0], problem.message) for problem in found] == [
        (6, "normal: sd must satisfy sd >= 0, and is -1 (c)"),
        (8, "'w' is not defined"),
        (10, "'q' is not defined"),
    ]


def test_a_line_that_cannot_be_read_hides_no_name_that_others_define() -> None:
    """Parameters and the names of other lines stay defined."""
    found = registry(
        "E(m @ nothing) == p",
        "v, w = ones(3); m ~ bernoulli(1 - p)[3]",
        parameters={"p": 0.3},
    )
    assert [problem.message for problem in check_registry(found).problems] == [
        "'=' names one expression, and this has several names",
        "'nothing' is not defined",
    ]


def test_slots_are_known_beside_a_statement_that_cannot_be_read() -> None:
    text = """\
dropcheck: 1
slots:
  die: {takes: [n], law: "discrete_uniform(1, n)"}
  drop: {takes: [x], gives: x, evaluation: x}
claims:
  c:
    title: A claim
    model: |
      y ~ die(6)[3]
      z = drop(y) + drop.eval(y) + dorp.eval(y)
    claim: isclose(y, z)
"""
    assert [problem.message for problem in check_registry(read_text(text)).problems] == [
        "a claim compares two sides, and this is one side alone",
        "there is no slot 'dorp'",
    ]


def test_a_problem_of_some_cases_says_which() -> None:
    (problem,) = problems("E(x) == p", "x ~ bernoulli(p)", parameters={"p": [0.1, 1.2, 0.5]})
    assert problem.message == "bernoulli: p must satisfy 0 <= p <= 1, and is 1.2 (c with p = 1.2)"
    several = problems("E(x) == 0", "x ~ normal(0, 1)[n]", parameters={"n": [0, 2], "m": [1, 2, 3]})
    assert [problem.message for problem in several] == [
        "a shape needs whole numbers of at least 1, and this is 0 (c with n = 0, m = 1, and 2 more)"
    ]
    (all_of_them,) = problems("E(x) == p", "x ~ bernoulli(p)", parameters={"p": [1.2]})
    assert all_of_them.message.endswith("and is 1.2 (c with p = 1.2)")
    (shape,) = problems("E(x) == 0", "x ~ normal(0, 1)[0]", parameters={"n": [1, 2]})
    assert "(c" not in shape.message  # no case has a part in it


def test_a_division_by_zero_names_the_values() -> None:
    model = "x ~ bernoulli(1 - p); y = x / (1 - p)"
    (problem,) = problems("E(y) == 1", model, parameters={"p": [0.5, 1]})
    assert problem.message == "division by zero where p = 1"
    assert "requires: p < 1" in (problem.hint or "")
    assert place(problem) == (7, 16)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("x ~ normal(0, 1); y = x * 2**2**2**2**2**2", "this works out to inf"),
        ("x ~ normal(exp(1000), 1); y = x", "this works out to inf"),
        ("x ~ normal(0, 1)[2, 2]; y = sum(inv(x * exp(1000)))", "this works out to inf"),
        ("x ~ normal(0, 1); r = sqrt(-1); y = x + r", "this works out to nan"),
        ("x ~ normal(0, 1); y = x + prod(arange(200) + 1)", "this works out to inf"),
    ],
)
def test_a_fixed_part_that_works_out_to_no_number_is_an_error(model: str, message: str) -> None:
    (problem,) = problems("E(y) == 1", model)
    assert problem.message == message
    assert "where(…)" in (problem.hint or "")
    assert ("write inf" in (problem.hint or "")) == ("inf" in message)
    assert place(problem)[0] in (6, 7)


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


def test_a_number_named_like_a_law_is_no_law() -> None:
    (problem,) = problems("E(x) == 1", "beta = 2; x ~ beta")
    assert problem.message == "'beta' is a number, not a law"


# -- requires --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("requires", "message"),
    [
        ("p < 1", "c requires p < 1, and p = 1"),
        (["p > 0", "p < 1"], "c requires p < 1, and p = 1"),
        ("p - p", "c requires p - p, and p = 1"),
        ("0 / (p - 1)", "c requires 0 / (p - 1), and p = 1"),
        ("p <", "cannot be read"),
        ("q < 1", "'q' is not defined"),
        ("x < 1", "'x' is not defined"),
        ("[p, 2] > 0", "a condition is one truth, and this has shape [2]"),
    ],
)
def test_conditions_refused(requires: object, message: str) -> None:
    (problem,) = problems("E(x) == p", NORMAL, parameters={"p": 1}, requires=requires)
    assert message in problem.message


@pytest.mark.parametrize("requires", ["p <= 1", ["p > 0", "p == 1"], "all([p, 2] > 0)"])
def test_conditions_that_hold(requires: object) -> None:
    assert problems("E(x) == p", NORMAL, parameters={"p": 1}, requires=requires) == ()


def test_a_broken_condition_is_told_before_what_it_guards_against() -> None:
    (problem,) = problems("E(x) == 1 / (1 - p)", NORMAL, parameters={"p": [0, 1]}, requires="p < 1")
    assert "requires p < 1" in problem.message


# -- tolerance -------------------------------------------------------------------------------------


@pytest.mark.parametrize("claim", ["E(x) <= 1", "0 < E(x) < 1"])
def test_a_tolerance_goes_with_an_equality(claim: str) -> None:
    (problem,) = problems(claim, NORMAL, tolerance=0.01)
    assert "'tolerance' needs a claim of the form 'L == R'" in problem.message
    assert "into the numbers" in (problem.hint or "")
    assert problems("E(x) == 1", NORMAL, tolerance=0.01) == ()


@pytest.mark.parametrize("claim", ["E(x) == 0", "0 == E(x)", "1 - 1 == E(x)", "E(x) == p - p"])
def test_a_share_of_nothing_is_no_tolerance(claim: str) -> None:
    (problem,) = problems(claim, NORMAL, tolerance=0.01, parameters={"p": 0.5})
    assert "'tolerance: 0.01' is a share of this side, which is 0" in problem.message
    assert problem.hint == "write 'tolerance: {absolute: 0.01}' for a number"
    assert problems(claim, NORMAL, tolerance={"absolute": 0.01}, parameters={"p": 0.5}) == ()


@pytest.mark.parametrize(
    ("claim", "more", "noted"),
    [
        ("E(x) == 2", {"within": 0.1}, True),
        ("E(x) == 2", {"within": 0.05}, False),
        ("E(x) == 0", {"within": 0.05}, True),
        ("E(x) == 0", {"within": 0.01}, False),
        ("P(x > 9) == 0", {"within": 0.05}, False),
        ("E(x) < 2", {"within": 0.5}, False),
        ("E(x) == E(x**2)", {"within": 0.5}, False),
        ("E(x) == 2", {"within": 0.1, "tolerance": {"absolute": 0.1}}, False),
        ("E(x) == 2", {"resolution": 0.1}, False),
    ],
)
def test_a_resolution_that_may_be_meant_as_a_tolerance_is_noted(
    claim: str, more: dict[str, object], noted: bool
) -> None:
    claims = registry(claim, "x ~ normal(2, 1)", **more)
    assert check_registry(claims).notes == ()  # they are for `check`, and no warnings of a run
    notes = [note.hint for note in notes_on_resolutions(claims)]
    assert len(notes) == noted
    assert all("write 'tolerance: {absolute: " in str(note) for note in notes)
    assert problems(claim, NORMAL) == ()


# -- laws as parameters ----------------------------------------------------------------------------


def test_a_law_in_a_parameter_is_checked_where_it_stands() -> None:
    laws = ["normal(0, 1)", "nrmal(0, 1)", "normal(0, -1)", "normal(0)"]
    found = problems("E(x) == 0", "x ~ law", parameters={"law": laws})
    assert [problem.message.split(" (c with")[0] for problem in found] == [
        "'nrmal' is not a law",
        "normal: sd must satisfy sd >= 0, and is -1",
        "normal lacks 'sd'",
    ]
    assert {place(problem)[0] for problem in found} == {8}


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


def test_a_parameter_without_use_is_noted_at_its_place_whatever_an_option_gives() -> None:
    found = registry("E(x) == 0", "x ~ normal(0, 1)", parameters={"p": 0.5})
    (note,) = check_registry(found).notes
    assert note.location is not None
    assert check_cases(found.expand(), options={"p": "--p"}).notes == (note,)
