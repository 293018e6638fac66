"""What a check finds without a draw: every error of every case, and notes that stop nothing.

The words of errors are in `contract/refused.yaml`.
"""

from __future__ import annotations

import json
import re
import time

import pytest
from lowered import lowered
from slots_made import DROPOUT

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.alike import has_no_chance, is_event
from dropcheck.language.check import check_registry, choose
from dropcheck.language.compile import CaseGraphs
from dropcheck.language.hints import _LAWS_ELSEWHERE, _OF_R, _WORDS_ELSEWHERE
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS


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


def notes(claim: str, model: str, **more: object) -> list[str]:
    found = check_registry(registry(claim, model, **more))
    assert found.problems == ()
    return [note.message for note in found.notes]


def test_what_is_not_used_is_noted() -> None:
    model = "x ~ normal(0, 1); y ~ normal(0, 1)"
    assert notes("E(x) == 0", model, parameters={"p": 1}) == [
        "the parameter 'p' of c is not used",
        "the model's 'y' is not used",
    ]
    parameters = {"s": 2, "law": ["normal(0, s)", "uniform(0, 1)"]}  # names in a law are used
    assert notes("E(x) == 0", "x ~ law", parameters=parameters) == []
    cases = [{"law": "normal(0, s)"}, {"law": "uniform(0, 1)"}]
    assert notes("E(x) == 0", "x ~ law", parameters={"s": 2}, cases=cases) == []


# ---- what a run looks at -------------------------------------------------------------------------

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


def test_a_claim_of_code_alone_is_not_blamed_for_the_code_that_is_not_bound() -> None:
    text = """dropcheck: 1
slots: {half: {takes: [x], gives: [shape(x)]}}
claims:
  unread: {title: T, model: "x ~ normal(0, 1)\\ny = half(x)", claim: "isclose(y, x)"}
  unknown: {title: T, model: "x ~ normal(0, 1)\\ny = half(x)\\nz = q", claim: E(y) == 0}
"""
    found = check_registry(read_text(text)).problems
    assert [place(one)[0] for one in found] == [4, 5]


def test_a_value_that_makes_an_error_names_its_option_and_the_files_own_do_not() -> None:
    text = _SEVERAL.replace("Vra(x) == p", "Var(x) == p").replace("P(x) ==}", "E(1 / (p - 1)) < 1}")
    with pytest.raises(DropcheckError, match="with --p 2"):
        choose(read_text(text), CaseGraphs(), ["right.mean"], overrides={"p": "2"})
    with pytest.raises(DropcheckError, match=r"'nrmal' is not a law$"):
        choose(read_text(text), CaseGraphs(), overrides={"p": "0.2"})


# ---- events --------------------------------------------------------------------------------------

MODEL = """
b, c ~ bernoulli(0.3)
d ~ discrete_uniform(1, 6)
e ~ discrete_uniform(0, 2)
f ~ binomial(1, 0.5)
z, w ~ normal(0, 1)
t ~ normal(1, [0, 0])
v ~ bernoulli(0.5)[3]
x ~ normal(0, 1)[3]
s ~ choice([0, 1, 1])
r ~ rademacher()
"""
EVENTS = [
    "b", "b * c", "1 - b", "b and c", "d == 1", "not b", "(z > 0) * b", "where(z > 0, b, c)",
    "b if z > 0 else 0", "v", "v[0]", "max(v)", "prod(v)", "maximum(b, c)", "abs(b - c)",
    "(b + c) % 2", "b**2", "v[0] * v[1]", "any(v)", "all(x > 0)", "z in {0}",
    "concat(v, b)", "1",
]  # fmt: skip
NUMBERS = [
    "e", "f", "s", "z", "d", "b + c", "2 * b", "b - c", "r", "d % 3", "sum(v)", "mean(v)",
    "z * b", "0.5", "x", "where(z > 0, b, 2)", "b / 2", "exp(b)",
]  # fmt: skip


@pytest.mark.parametrize("text", EVENTS)
def test_what_is_0_or_1_in_every_draw_is_an_event(text: str) -> None:
    assert is_event(lowered(MODEL, text))


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_is_no_event(text: str) -> None:
    assert not is_event(lowered(MODEL, text))


NO_CHANCE = [
    "z == 0", "z == w", "exp(z) == 1", "x[0] == 0", "b and z == 0", "2 * z == 0", "abs(z) == 1",
    "tanh(20 + z**2) == 1",
]  # fmt: skip
SOME_CHANCE = [
    "z > 0", "d == 1", "z - z == 0", "z * b == 0", "relu(z) == 0", "floor(z) == 0", "b or z == 0",
    "z / z == 1", "z * d - d * z == 0", "0 * z == 0", "t[0] == 1",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_CHANCE)
def test_a_continuous_quantity_takes_no_value(text: str) -> None:
    assert has_no_chance(lowered(MODEL, text))


@pytest.mark.parametrize("text", SOME_CHANCE)
def test_what_may_happen_has_a_chance(text: str) -> None:
    assert not has_no_chance(lowered(MODEL, text))


# ---- what is too large, and what is large --------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "expression", "shape"),
    [
        ("x ~ normal(0, 1)[6e7]", "x", (60_000_000,)),
        ("x ~ normal(0, 1)[2000, 2000]", "x @ x", (2000, 2000)),
        ("x ~ normal(0, 1)[1e7]", "cumsum(x)", (10_000_000,)),
        ("x ~ normal(0, 1)[1e7]", "sort(x)", (10_000_000,)),
        ("x ~ normal(0, 1)[1000, 1000]", "eigvalsh(x)", (1000,)),
        ("i ~ discrete_uniform(0, 9)", "one_hot(i, 1e7)", (10_000_000,)),
    ],
)
def test_what_is_large_is_not_refused(model: str, expression: str, shape: tuple[int, ...]) -> None:
    assert lowered(model, expression).shape == shape


def test_a_deep_and_a_wide_model_are_worked_out_at_once() -> None:
    deep = "x0 ~ normal(0, 1);" + ";".join(f"x{i} = x{i - 1} + x{i - 1}" for i in range(1, 2000))
    wide = ";".join(f"x{i} ~ normal(0, 1)" for i in range(2000))
    chain = "; ".join(f"c{t + 1} = c{t} and x > {t}" for t in range(1500))
    started = time.process_time()
    assert {*lowered(deep, "x1999 * 2").sources} == {"x0"}
    assert {*lowered(wide, "x1999").sources} == {"x1999"}
    assert is_event(lowered(f"x ~ normal(0, 1); c0 = 1; {chain}", "c1500"))
    assert time.process_time() - started < 5


# ---- words of others -----------------------------------------------------------------------------


def test_words_of_others_are_none_of_ours_and_hints_name_what_is_there() -> None:
    ours = {*FUNCTIONS, *OPERATORS, *OF_LAWS}
    over_the_law = {"median", "quantile"}  # asked of operators, where a draw is one number
    assert set(_WORDS_ELSEWHERE) & ours <= over_the_law
    assert not set(_WORDS_ELSEWHERE) & {name for one in FUNCTIONS.values() for name in one.aliases}
    words = ours | set(LAWS) | {"e", "pi", "range", "verify", "g"}
    hints = [*_WORDS_ELSEWHERE.values(), *_LAWS_ELSEWHERE.values()]
    assert {w for hint in hints for w in re.findall(r"([A-Za-z_]\w*)\(", hint)} <= words
    others = [name for law in LAWS.values() for name in law.aliases]
    assert len(others) == len({*others})
    assert not set(others) & (set(LAWS) | set(_LAWS_ELSEWHERE))
    assert set(_OF_R.values()) <= set(LAWS)


# ---- slots ---------------------------------------------------------------------------------------

SLOTS = f"""
dropcheck: 1
slots:
{DROPOUT}    gradient: m / (1 - p)
    evaluation: x
  die: {{takes: [n], law: "discrete_uniform(1, n)"}}
claims:
  c:
    title: T
    parameters: {{p: 0.5}}
    model: |
      x ~ uniform(1, 2)[3]
      y = dropout(x, p)
    claims:
      # E y² = E x² / (1 - p) and E y = E x, by hand, p = 1/2
      variance: Var(y) == 2 * (2.25 + 1 / 12) - 2.25
      gradient: P(isclose(grad(dropout)(x, p), y / x)) == 1
      evaluation: P(dropout.eval(x, p) == x) == 1
  apart:
    title: T
    model: |
      y = dropout(1, 0.5)
      z = dropout(1, 0.5)
    claim: Cov(y, z) == 0
  sampler: {{title: T, model: "y ~ die(6)[4]", claim: "y ~ discrete_uniform(1, 6)"}}
"""


def test_a_slot_stands_for_its_lines() -> None:
    """Two calls draw apart, and a gradient belongs to its call."""
    slots = read_text(SLOTS)
    assert check_registry(slots).problems == ()
    found = {one.claim: one for one in verify_cases(slots.expand(), Settings(), slots)}
    assert {str(one.verdict) for one in found.values()} == {"verified"}
    exact = found["c.variance"].exact
    assert exact is not None
    assert exact.value == pytest.approx(2 * (2.25 + 1 / 12) - 2.25, rel=1e-12)
