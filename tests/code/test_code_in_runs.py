"""Bound code in a run: what returns other shapes than the slot's model is never judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from slots_made import OfFunctions

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.code.adapters.numpy_adapter import NumpyAdapter
from dropcheck.code.columns import with_columns
from dropcheck.errors import DropcheckError
from dropcheck.language.check import check_registry
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
    return list(verify_cases(cases, Settings(), registry, str, **more))


def alone(text: str, functions: Functions) -> list[CaseResult]:
    """The same, each case by itself."""
    registry = columns_of(text, functions)
    cases = [case for case in registry.expand() if case.claim.column is not None]
    return [next(verify_cases([case], Settings(), registry, str)) for case in cases]


def run(function: Callable[..., Any]) -> Verdict:
    [result] = results(CLAIMS, {"scaled": function})
    return result.verdict


def test_code_that_is_right_is_verified_and_what_is_wrong_refuted() -> None:
    assert run(lambda x, c: c * x) is Verdict.VERIFIED
    assert run(lambda x, c: c * x + 0.2) is Verdict.REFUTED


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


class WordlessError(BaseException):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit(), WordlessError()])
def test_what_ends_a_program_ends_no_run(error: BaseException) -> None:
    def ends(x: Any, c: Any) -> Any:
        raise error

    with pytest.raises(DropcheckError, match=f"raised {type(error).__name__}"):
        run(ends)


TWO = """\
dropcheck: 1
slots:
  near: {takes: [x], model: "g ~ normal(0, 1)[shape(x)]", gives: x + g, elements: independent}
  kept: {takes: [x], model: "m ~ bernoulli(0.5)[shape(x)]", gives: m * x, elements: independent}
claims:
  mean:
    title: The mean is halved
    model: |
      u ~ uniform(1, 2)[4]
      x = near(u)
      y = kept(x)
    claim: E(mean(y)) == 0.75
    within: 0.01
"""


def near(x: Any, rng: Any) -> Any:
    return x + rng.normal(size=x.shape)


def kept(x: Any, rng: Any) -> Any:
    return x * (rng.random(x.shape) < 0.5)


def one_mask(x: Any, rng: Any) -> Any:
    return x * (rng.random(x.shape[1:]) < 0.5)


def test_each_slot_of_a_claim_is_looked_at_and_seeded() -> None:
    [found] = results(TWO, {"near": near, "kept": kept})
    assert found.verdict is Verdict.VERIFIED
    with pytest.raises(DropcheckError, match="draws that are all alike"):
        results(TWO, {"near": near, "kept": lambda x, rng: one_mask(np.ones_like(x), rng)})


ROUNDED = """\
dropcheck: 1
slots: {scaled: {takes: [x, w], gives: w * x}}
claims:
  values:
    title: Each is scaled
    parameters: {w: [[0.1, 0.3]]}
    model: |
      x ~ bernoulli(0.5)[2]
      y = scaled(x, w)
    claim: E(y) == w * E(x)
"""


PART = (
    ROUNDED.replace("[2]", "")
    .replace("scaled(x, w)", "scaled(x, w[1])")
    .replace("w * E(x)", "w[1] * E(x)")
)


@pytest.mark.parametrize(
    ("text", "function"),
    [
        (ROUNDED, lambda x, w: x * w),  # 0.3 itself is off by 2e-4 of it
        (PART, lambda x, w: x * np.asarray(w, x.dtype)),
    ],
)
def test_a_vector_and_an_entry_are_what_code_was_given(text: str, function: Any) -> None:
    [result] = results(text, {"scaled": function}, ("float16",))
    assert result.verdict is Verdict.VERIFIED


def test_a_condition_that_fails_by_rounding_says_so() -> None:
    text = CLAIMS.replace("{c: 2}", "{c: 0.1}").replace("within: 0.05", 'requires: "c >= 0.1"')
    with pytest.raises(DropcheckError) as caught:
        results(text, {"scaled": lambda x, c: c * x}, ("float16",))
    assert caught.value.problems[0].hint == (
        "choose values for which it holds once they are rounded to float16"
    )


WIDE = """\
dropcheck: 1
slots: {scaled: {takes: [x, c], gives: c * x}}
claims:
  wide:
    title: Something is said of all elements of a wide array
    parameters: {c: 2}
    model: |
      x ~ uniform(1, 2)[40]
      y = scaled(x, c)
    claim: %s
"""


@pytest.mark.parametrize(
    ("claim", "shown"),
    [
        ("P(all(abs(y - c * x) < 0.1)) == 1", r"x\[7\] = 1\.\d+, y\[7\] = [34]\.\d+$"),
        ("P(any(abs(y - c * x) > 0.1)) == 0", r"x\[7\] = 1\.\d+, y\[7\] = [34]\.\d+$"),
        (
            "P(mean(y) <= c * mean(x) + 0.001) == 1",
            r"x = \[1.*, … 40 in all\], y = \[.*40 in all\]$",
        ),
    ],
)
def test_of_a_wide_array_the_element_that_is_wrong_is_shown(claim: str, shown: str) -> None:
    def wrong(x: Any, c: Any) -> Any:
        off = np.zeros(40)
        off[7] = 0.5
        return c * x + off

    [found] = results(WIDE % claim, {"scaled": wrong})
    assert found.verdict is Verdict.REFUTED
    assert re.search(shown, str(found.explanation))


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
        each = results(MODES, {"layer": function}, errors_of_code=True)
        return {one.of or "": one.result.value for one in each}

    def in_training(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, rng, training: function(x, rng) if training else x

    whole = {"layer.values": "pass", "layer.mean": "pass", "layer.evaluated": "pass"}
    assert found(in_training(kept)) == whole
    assert found(kept) == {**whole, "layer.evaluated": "error"}
    failed = dict.fromkeys(("layer.values", "layer.mean"), "error")
    assert found(in_training(one_mask)) == {**whole, **failed}


def test_a_mode_that_nothing_looks_at_is_not_called_and_moves_no_draws() -> None:
    trained: list[bool] = []

    def layer(x: Any, rng: Any, training: bool) -> Any:
        trained.append(training)
        drawn = kept(x, rng)  # in both modes, as no sound layer does
        return drawn if training else x

    both = {one.of: one for one in results(MODES, {"layer": layer})}
    assert {*trained} == {True, False}
    trained.clear()
    _, mean, _ = alone(MODES, {"layer": layer})
    assert mean.estimate == both["layer.mean"].estimate
    trained.clear()
    registry = columns_of(MODES, {"layer": layer})
    (case,) = (case for case in registry.expand() if case.claim.id == "layer.mean@numpy")
    next(verify_cases([case], Settings(), registry, str))
    assert all(trained)


CONDITIONED = """\
dropcheck: 1
slots: {scaled: {takes: [x, p], gives: x / (1 - p)}}
claims:
  kept:
    title: The values
    parameters: {p: [0.5, 0.999999], dtype: [float32, float16]}
    requires: p < 1
    model: |
      x ~ uniform(1, 2)[4]
      y = scaled(x, p)
    claim: "y in {round(x / (1 - p), dtype)}"
"""


def test_a_case_that_rounding_makes_none_is_left_out_and_the_others_are_judged() -> None:
    registry = columns_of(CONDITIONED, {"scaled": lambda x, p: x / (1 - p)})
    found = check_registry(registry)
    assert found.problems == ()
    [note] = found.notes
    assert "requires p < 1, and p = 0.999999 breaks it in float16" in note.message
    left = [case for case in registry.expand() if case.key not in found.unfit]
    columns = [(case.parameters["p"], case.dtype) for case in left if case.dtype is not None]
    assert columns == [(0.5, "float32"), (0.5, "float16"), (0.999999, "float32")]


def test_a_condition_that_values_break_as_they_are_is_an_error() -> None:
    text = CONDITIONED.replace("0.999999", "1.5")
    found = check_registry(columns_of(text, {"scaled": lambda x, p: x - p}))
    assert found.problems


@pytest.mark.parametrize(
    ("size", "least", "most"), [("", 2**14, 2**17), ("[64]", 2**8, 2**13), ("[4096]", 8, 2**7)]
)
def test_statements_of_one_sampler_ask_for_many_numbers_at_a_time(
    size: str, least: int, most: int
) -> None:
    """What a call costs by itself is then little beside its numbers, which stay in the caches."""
    asked_for: set[int] = set()

    def sampler(size: tuple[int, ...], rng: np.random.Generator) -> Any:
        asked_for.add(size[0])
        return rng.random(size)

    text = (
        "dropcheck: 1\nslots: {sampler: {takes: [], law: 'uniform(0, 1)'}}\n"
        f"claims: {{two: {{title: Two, model: 'y ~ sampler(){size}', claims: "
        "{mean: E(y) == 1/2, square: E(y**2) == 1/3}, resolution: 0.05}}\n"
    )
    found = results(text, {"sampler": sampler})
    assert [one.verdict for one in found] == [Verdict.VERIFIED] * 2
    assert least <= max(asked_for) <= most


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
      quarter: Quantile(y, 0.75) == 3
      mean: E(y) == 1.5
      square: E(y**2) / E(x**2) == 2
"""
    found = results(text, {"layer": layer})
    assert [one.verdict for one in found] == [Verdict.VERIFIED] * 4
    draws_of_a_call = [one.draws / one.calls.count for one in found if one.calls is not None]
    assert draws_of_a_call[:2] == [1, 1]
    assert min(draws_of_a_call[2:]) > 100
    apart = alone(text, {"layer": layer})
    assert [(one.estimate, one.draws) for one in apart] == [
        (one.estimate, one.draws) for one in found
    ]
