"""Code bound to slots: mistakes fail the line that anyone would write, and sound code passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from slots_made import OfFunctions

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.code.adapters.numpy_adapter import NumpyAdapter
from dropcheck.code.slots import with_columns
from dropcheck.errors import DropcheckError
from dropcheck.judging.case import CaseRun
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

CLAIMS = """\
dropcheck: 1
slots: {scaled: {takes: [x, c], gives: c * x, evaluation: x}}
claims:
  mean:
    title: The mean is scaled
    parameters: {c: 2}
    model: |
      x ~ uniform(1, 2)[4]
      y = scaled(x, c)
    claim: E(y) == 1.5 * c
    within: 0.05
"""


Functions = Mapping[str, Callable[..., Any]]


def columns_of(text: str, functions: Functions, dtypes: tuple[str, ...] = ()) -> Registry:
    own = OfFunctions(functions, dtypes=dtypes or NumpyAdapter.dtypes)
    return with_columns(read_text(text), [own])


def results(
    text: str, functions: Functions, dtypes: tuple[str, ...] = (), **more: Any
) -> list[CaseResult]:
    registry = columns_of(text, functions, dtypes)
    cases = [case for case in registry.expand() if case.claim.column is not None]
    return list(verify_cases(cases, Settings(), registry, **more))


def run(function: Callable[..., Any]) -> Verdict:
    [result] = results(CLAIMS, {"scaled": function})
    return result.verdict


def test_code_that_is_right_is_verified_and_what_is_wrong_refuted() -> None:
    assert run(lambda x, c: c * x) is Verdict.VERIFIED
    assert run(lambda x, c: c * x + 0.2) is Verdict.REFUTED


def test_an_argument_that_is_a_fraction_in_some_case_is_a_float_in_all() -> None:
    given: set[type] = set()

    def scaled(x: Any, c: Any) -> Any:
        given.add(type(c))
        return c * x

    results(CLAIMS.replace("c: 2", "c: [2, 2.5]"), {"scaled": scaled})
    assert given == {float}


@pytest.mark.parametrize(
    ("slot", "serves"),
    [
        ("takes: [x], gives: 2 * x, evaluation: 2 * x", True),
        ("takes: [x], gives: 2 * x, evaluation: x", False),
        ("takes: [x], model: m ~ rademacher(), gives: 2 * x, evaluation: 2 * x", False),
    ],
)
def test_code_without_modes_serves_in_evaluation_where_that_is_the_same(
    slot: str, serves: bool
) -> None:
    claim = "{title: T, model: 'x ~ uniform(1, 2)[4]', claim: 'twice.eval(x) in {2 * x}'}"
    text = f"dropcheck: 1\nslots: {{twice: {{{slot}}}}}\nclaims: {{c: {claim}}}\n"
    refused = pytest.raises(DropcheckError, match="has no mode of evaluation")
    with nullcontext() if serves else refused:
        [result] = results(text, {"twice": lambda x: 2 * x})
        assert result.verdict is Verdict.VERIFIED


@pytest.mark.parametrize(
    ("returned", "shown"),
    [
        (lambda x: x.mean(axis=1), "one number"),
        (lambda x: x[:, :1], r"\[1\]"),
        (lambda x: x[..., np.newaxis], r"\[4, 1\]"),
    ],
)
def test_a_shape_that_is_not_the_models_is_refused(
    returned: Callable[[Any], Any], shown: str
) -> None:
    message = rf"code for 'scaled' gives {shown} a draw, and by the slot's model \[4\]"
    with pytest.raises(DropcheckError, match=message):
        run(lambda x, c: returned(c * x))


def test_a_column_has_the_formats_that_its_code_takes() -> None:
    text = CLAIMS.replace("{c: 2}", "{c: 2, dtype: [float32, float16]}")
    found = results(text, {"scaled": lambda x, c: c * x}, ("float32",))
    assert [(one.verdict, one.dtype) for one in found] == [(Verdict.VERIFIED, "float32")]


class WordlessError(BaseException):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit(), WordlessError()])
def test_what_ends_a_program_ends_no_run(error: BaseException) -> None:
    def ends(x: Any, c: Any) -> Any:
        raise error

    with pytest.raises(DropcheckError, match=f"raised {type(error).__name__}"):
        run(ends)


def kept(x: Any, rng: Any) -> Any:
    return x * (rng.random(x.shape) < 0.5)


def one_mask(x: Any, rng: Any) -> Any:
    return x * (rng.random(x.shape[1:]) < 0.5)


MODES = """\
dropcheck: 1
slots:
  layer: {takes: [x], model: "m ~ bernoulli(0.5)[shape(x)]", gives: m * x, evaluation: x,
          elements: independent}
claims:
  layer:
    title: Claims of which some evaluate
    resolution: 0.05
    model: "x ~ uniform(1, 2)[4]\\ny = layer(x)"
    claims:
      values: "y in {0, x}"
      mean: E(y) / E(x) == 1 / 2
      evaluated: "layer.eval(x) in {x}"
"""


def test_an_error_is_one_of_the_statements_that_ask_for_what_fails_alone() -> None:
    def found(function: Callable[..., Any]) -> dict[str, str]:
        each = results(MODES, {"layer": function}, errors_as_results=True)
        return {one.of or "": one.result.value for one in each}

    def in_training(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, rng, training: function(x, rng) if training else x

    whole = {"layer.values": "pass", "layer.mean": "pass", "layer.evaluated": "pass"}
    assert found(in_training(kept)) == whole
    assert found(kept) == {**whole, "layer.evaluated": "error"}
    failed = dict.fromkeys(("layer.values", "layer.mean"), "error")
    assert found(in_training(one_mask)) == {**whole, **failed}


def test_statements_about_laws_leave_long_calls_to_those_beside_them() -> None:
    """Draws of a call may depend on each other: a law takes one of each, an average all."""

    def layer(x: np.ndarray, rng: np.random.Generator) -> Any:
        return np.where(rng.random(x.shape) < 0.5, 2 * x, 0)

    text = """
dropcheck: 1
slots: {layer: {takes: [x], model: 'm ~ bernoulli(0.5)', gives: 2 * m * x}}
claims:
  both:
    title: Both
    model: "x ~ uniform(1, 2)\\ny = layer(x)"
    resolution: 0.2
    claims:
      law: (y > 0) + 0 ~ bernoulli(0.5)
      mean: E(y) == 1.5
"""
    found = results(text, {"layer": layer})
    assert [one.verdict for one in found] == [Verdict.VERIFIED] * 2
    draws_of_a_call = [one.draws / one.calls.count for one in found if one.calls is not None]
    assert draws_of_a_call[0] == 1
    assert draws_of_a_call[1] > 100


FIXED = """\
dropcheck: 1
slots: {{topk: {{takes: [k, w], gives: [k]{more}}}}}
claims:
  first:
    title: The first place is taken in proportion to w
    parameters: {{k: 2, w: [[1, 2, 5]]}}
    model: i = topk(k, w)
    claim: P(i[0] == arange(3)) == w / sum(w)
    resolution: 0.2
"""


@pytest.mark.parametrize(("more", "axes"), [("", 1), (", elements: independent", 2)])
def test_a_fixed_array_has_the_axis_of_draws_where_these_are_independent(
    more: str, axes: int
) -> None:
    given = set()

    def topk(k: int, w: Any, rng: np.random.Generator) -> Any:
        given.add(w.ndim)
        return np.argsort(rng.exponential(size=w.shape) / w)[..., :k]

    [found] = results(FIXED.format(more=more), {"topk": topk})
    assert found.verdict is Verdict.VERIFIED
    assert given == {axes}


@pytest.mark.parametrize(
    ("more", "expected"), [("", Verdict.VERIFIED), (", resolution: 0.01", Verdict.UNDECIDED)]
)
def test_slow_code_is_judged_less_sharply_where_nobody_said_how_sharply(
    monkeypatch: pytest.MonkeyPatch, more: str, expected: Verdict
) -> None:
    monkeypatch.setattr(
        CaseRun, "time_left", lambda run: 0.0 if sum(run.spans.values()) > 120 else math.inf
    )
    text = (
        "dropcheck: 1\nslots: {weights: {takes: [n], gives: [n]}}\nclaims: {one: {title: T, "
        f'parameters: {{n: 3}}, model: w = weights(n), claim: "P(w[0] < 0) == 1 / 2"{more}}}}}\n'
    )
    [found] = results(text, {"weights": lambda n, rng: rng.random(n) - 0.5})
    assert found.verdict is expected


Draw = Callable[[np.random.Generator, Any], Any]
FORMATS = ("float32", "float16")
LIMITED = Settings(max_draws=2**22)
"""A limit of draws takes the place of one of seconds, which a busy machine would reach."""

ROUNDED_SOUND: dict[str, Draw] = {
    "normal(0, 1)": lambda g, size: g.normal(size=size),
    "uniform(0, 1)": lambda g, size: g.random(size),
    "cauchy(0, 1)": lambda g, size: g.standard_cauchy(size),  # beyond float16 in 1 of 100,000
    "poisson(3000)": lambda g, size: g.poisson(3000, size),
    "choice([0.1, 0.2, 0.7])": lambda g, size: g.choice([0.1, 0.2, 0.7], size),
}
ROUNDED_FALSE: list[tuple[str, Draw]] = [
    ("normal(0, 1)", lambda g, size: 1.03 * g.normal(size=size)),
    ("uniform(0, 1)", lambda g, size: g.integers(256, size=size) / 256),
    ("normal(0, 1)", lambda g, size: g.normal(size=size) / (g.random(size) > 1e-4)),
    ("poisson(3000)", lambda g, size: g.poisson(3010, size)),
    ("choice([0.1, 0.2, 0.7])", lambda g, size: g.choice([0.1, 0.2, 0.69], size)),
]


def by_format(law: str, draw: Draw, model: str = "y ~ sampler()", claim: str = "") -> list[Verdict]:
    """By format. Chance gives another verdict less than once in a million: α is 1e-6."""

    def sampler(size: Any, rng: np.random.Generator, dtype: Any) -> Any:
        return np.asarray(draw(rng, size)).astype(dtype)

    text = (
        f"dropcheck: 1\nslots: {{sampler: {{takes: [], law: '{law}', elements: independent}}}}\n"
        f"claims: {{one: {{title: One, parameters: {{dtype: [{', '.join(FORMATS)}]}}, "
        f"model: \"{model}\", claim: '{claim or f'y ~ {law}'}'}}}}\n"
    )
    own = OfFunctions({"sampler": sampler})
    registry = with_columns(read_text(text), [own])
    cases = [case for case in registry.expand() if case.claim.column is not None]
    assert [case.dtype for case in cases] == [*FORMATS]
    return [found.verdict for found in verify_cases(cases, LIMITED, registry)]


@pytest.mark.parametrize("law", ROUNDED_SOUND)
def test_numbers_that_are_rounded_to_the_nearest_have_their_law(law: str) -> None:
    assert by_format(law, ROUNDED_SOUND[law]) == [Verdict.VERIFIED] * len(FORMATS)


@pytest.mark.parametrize(("law", "draw"), ROUNDED_FALSE)
def test_what_is_more_than_rounding_is_refuted(law: str, draw: Draw) -> None:
    assert by_format(law, draw) == [Verdict.REFUTED] * len(FORMATS)


def test_what_the_model_draws_is_rounded_before_it_is_compared() -> None:
    def drawn(scale: float) -> list[Verdict]:
        return by_format(
            "normal(0, 1)",
            lambda g, size: scale * g.normal(size=size),
            r"y ~ sampler()\nz ~ normal(0, 1)",
            "y ~ z",
        )

    assert drawn(1.0) == [Verdict.VERIFIED] * len(FORMATS)
    assert drawn(1.05) == [Verdict.REFUTED] * len(FORMATS)
