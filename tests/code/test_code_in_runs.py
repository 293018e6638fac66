"""Bound code in a run: what returns other shapes than the slot's model is never judged."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from slots_made import OfFunctions, asked, bound

from dropcheck.claims.reader import read_text
from dropcheck.code.adapters.numpy_adapter import NumpyAdapter
from dropcheck.code.columns import with_columns
from dropcheck.errors import DropcheckError
from dropcheck.language.check import check_registry
from dropcheck.language.graph import CodeCall
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings
from dropcheck.simulation.steps import CallsAsked, SpanCalls

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


def run_of(
    text: str, functions: dict[str, Callable[..., Any]], dtypes: tuple[str, ...] = ()
) -> CaseResult:
    own = OfFunctions(functions, dtypes=dtypes or NumpyAdapter.dtypes)
    registry = with_columns(read_text(text), [own])
    cases = [case for case in registry.expand() if case.claim.column is not None]
    [result] = verify_cases(cases, Settings(), registry, str)
    return result


def run(function: Callable[..., Any]) -> CaseResult:
    return run_of(CLAIMS, {"scaled": function})


def test_code_that_is_right_is_verified() -> None:
    assert run(lambda x, c: c * x).verdict is Verdict.VERIFIED


def evaluated(slot: str) -> CaseResult:
    """The result of a claim about the evaluation of code without modes."""
    claim = "{title: T, model: 'x ~ uniform(1, 2)[4]', claim: 'twice.eval(x) in {2 * x}'}"
    text = f"dropcheck: 1\nslots: {{twice: {{{slot}}}}}\nclaims: {{c: {claim}}}\n"
    return run_of(text, {"twice": lambda x: 2 * x})


def test_code_without_modes_serves_in_evaluation_where_that_is_the_same() -> None:
    result = evaluated("takes: [x], gives: 2 * x, evaluation: 2 * x")
    assert result.verdict is Verdict.VERIFIED


@pytest.mark.parametrize(
    "slot",
    [
        "takes: [x], gives: 2 * x, evaluation: x",
        "takes: [x], model: m ~ rademacher(), gives: 2 * x, evaluation: 2 * x",
    ],
)
def test_code_without_modes_is_refused_where_evaluation_may_differ(slot: str) -> None:
    with pytest.raises(DropcheckError, match="has no mode of evaluation"):
        evaluated(slot)


def test_code_that_is_wrong_is_refuted() -> None:
    assert run(lambda x, c: c * x + 0.2).verdict is Verdict.REFUTED


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


def test_each_slot_of_a_claim_is_looked_at() -> None:
    def shared(x: Any, rng: Any) -> Any:
        return np.ones_like(x) * (rng.random(x.shape[1:]) < 0.5)

    with pytest.raises(DropcheckError, match="draws that are all alike"):
        run_of(TWO, {"near": near, "kept": shared})


def test_what_is_looked_at_moves_no_draws() -> None:
    adapter = NumpyAdapter(False)
    codes = [bound(adapter, one, ("x",)) for one in (near, kept)]
    x = np.ones((3, 40))
    steps: Any = [
        SimpleNamespace(
            value=SimpleNamespace(
                call=CodeCall(
                    slot=code.slot, code=code, asked=asked(40, x), tag=tag, mode="train", draws=True
                ),
                shape=(3,),
            ),
            target=at,
            inputs=(),
        )
        for at, (code, tag) in enumerate(zip(codes, "ab", strict=True))
    ]

    def span() -> Any:
        calls = SpanCalls(CallsAsked.of(steps, [0, 1]), np.random.default_rng(1))
        return [calls.given(step.value, [x], 40) for step in steps]

    first, again = span(), span()  # the second time, all code was looked at before
    assert np.array_equal(first, again)


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


def test_a_vector_is_what_code_was_given() -> None:
    result = run_of(ROUNDED, {"scaled": lambda x, w: x * w}, ("float16",))
    assert result.verdict is Verdict.VERIFIED  # 0.3 itself is off by 2e-4 of it


PART = """\
dropcheck: 1
slots: {scaled: {takes: [x, w], gives: w * x}}
claims:
  values:
    title: One is scaled
    parameters: {w: [[0.1, 0.3]]}
    model: |
      x ~ bernoulli(0.5)
      y = scaled(x, w[1])
    claim: E(y) == w[1] * E(x)
"""


def test_an_entry_is_what_code_was_given() -> None:
    result = run_of(PART, {"scaled": lambda x, w: x * np.asarray(w, x.dtype)}, ("float16",))
    assert result.verdict is Verdict.VERIFIED


def test_a_condition_that_fails_by_rounding_says_so() -> None:
    text = CLAIMS.replace("{c: 2}", "{c: 0.1}").replace("within: 0.05", 'requires: "c >= 0.1"')
    with pytest.raises(DropcheckError) as caught:
        run_of(text, {"scaled": lambda x, c: c * x}, ("float16",))
    assert caught.value.problems[0].hint == (
        "choose values for which it holds once they are rounded to float16"
    )


class WordlessError(BaseException):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit(), WordlessError()])
def test_what_ends_a_program_ends_no_run(error: BaseException) -> None:
    def ends(x: Any, c: Any) -> Any:
        raise error

    with pytest.raises(DropcheckError, match=f"raised {type(error).__name__}"):
        run(ends)


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

    found = run_of(WIDE % claim, {"scaled": wrong})
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


def results_of(text: str, function: Callable[..., Any]) -> dict[str, str]:
    own = OfFunctions({"layer": function})
    registry = with_columns(read_text(text), [own])
    cases = [case for case in registry.expand() if case.claim.column is not None]
    found = verify_cases(cases, Settings(), registry, str, errors_of_code=True)
    return {one.of or "": one.result.value for one in found}


def test_an_error_is_one_of_the_statements_that_ask_for_what_fails_alone() -> None:
    """Beside each other, and each by itself: all draws of a claim are made for each statement."""
    whole = {"layer.values": "pass", "layer.mean": "pass", "layer.evaluated": "pass"}

    def without_modes(x: Any, rng: Any) -> Any:
        return kept(x, rng)

    def one_mask(x: Any, rng: Any, training: bool) -> Any:
        return x * (rng.random(x.shape[1:]) < 0.5) if training else x

    def sound(x: Any, rng: Any, training: bool) -> Any:
        return kept(x, rng) if training else x

    assert results_of(MODES, sound) == whole
    assert results_of(MODES, without_modes) == {**whole, "layer.evaluated": "error"}
    failed = dict.fromkeys(("layer.values", "layer.mean"), "error")
    assert results_of(MODES, one_mask) == {**whole, **failed}


def test_an_evaluation_that_nothing_looks_at_is_not_called_and_moves_no_draws() -> None:
    trained: list[bool] = []

    def layer(x: Any, rng: Any, training: bool) -> Any:
        trained.append(training)
        drawn = kept(x, rng)  # in both modes, as no sound layer does
        return drawn if training else x

    own = OfFunctions({"layer": layer})
    registry = with_columns(read_text(MODES), [own])
    cases = [case for case in registry.expand() if case.claim.column is not None]
    (mean,) = (case for case in cases if case.claim.of == "layer.mean")
    both = {one.of: one for one in verify_cases(cases, Settings(threads=1), registry, str)}
    assert not all(trained)
    trained.clear()
    (alone,) = verify_cases([mean], Settings(threads=1), registry, str)
    assert all(trained)
    assert alone.estimate == both["layer.mean"].estimate


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
    own = OfFunctions({"scaled": lambda x, p: x / (1 - p)})
    registry = with_columns(read_text(CONDITIONED), [own])
    found = check_registry(registry)
    assert found.problems == ()
    [note] = found.notes
    assert "requires p < 1, and p = 0.999999, which float16 does not tell" in note.message
    left = [case for case in registry.expand() if case.key not in found.unfit]
    columns = [(case.parameters["p"], case.dtype) for case in left if case.dtype is not None]
    assert columns == [(0.5, "float32"), (0.5, "float16"), (0.999999, "float32")]


def test_a_condition_that_values_break_as_they_are_is_an_error() -> None:
    own = OfFunctions({"scaled": lambda x, p: x - p})
    registry = with_columns(read_text(CONDITIONED.replace("0.999999", "1.5")), [own])
    found = check_registry(registry)
    assert found.problems
    assert not found.unfit


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
    own = OfFunctions({"sampler": sampler})
    registry = with_columns(read_text(text), [own])
    cases = [case for case in registry.expand() if case.claim.column is not None]
    found = verify_cases(cases, Settings(), registry, str)
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
    own = OfFunctions({"layer": layer})
    registry = with_columns(read_text(text), [own])
    cases = [case for case in registry.expand() if case.claim.column is not None]
    found = list(verify_cases(cases, Settings(), registry, str))
    assert [one.verdict for one in found] == [Verdict.VERIFIED] * 4
    draws_of_a_call = [one.draws / one.calls.count for one in found if one.calls is not None]
    assert draws_of_a_call[:2] == [1, 1]
    assert min(draws_of_a_call[2:]) > 100
    alone = [next(verify_cases([case], Settings(), registry, str)) for case in cases]
    assert [(one.estimate, one.draws) for one in alone] == [
        (one.estimate, one.draws) for one in found
    ]
