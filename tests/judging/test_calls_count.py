"""Draws of one call of code that may depend on each other: verdicts rest on the number of calls.

What is sound is decided, and what is wrong in a few calls, or of all draws of a call at once, is
not verified. The chance of each assertion to fail on sound code is below 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from slots_made import OwnColumn

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Code, CodeRequest, Slot
from dropcheck.code.columns import with_columns
from dropcheck.inference.intervals import design_effect
from dropcheck.judging.case import prepare
from dropcheck.planning import plan_cases
from dropcheck.reasons import Reason
from dropcheck.report.words import basis, draws
from dropcheck.results import CaseResult, Guarantee
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

Array = npt.NDArray[np.float64]
Layer = Callable[[np.random.Generator, Array], Array]

FILE = """
dropcheck: 1
slots:
  noisy:
    takes: [x]
    model: "m ~ bernoulli(0.5)[shape(x)]\\ny = m * x"
    gives: y
    evaluation: x
  each:
    takes: [x]
    model: "m ~ bernoulli(0.5)[shape(x)]\\ny = m * x"
    gives: y
    elements: independent
claims:
  noisy:
    title: A slot that draws
    parameters: {dtype: float32}
    resolution: 0.02
    model: "x ~ uniform(1, 2)[4]\\ny = noisy(x)"
    claims:
      never-below: P(y >= 0) == 1
      seldom-below: P(y[0] < 0) <= 0.05
      half: P(y[0] > 0) == 0.5
      wrong: P(y[0] > 0) == 0.55
      evaluated: noisy.eval(x) == x
      seldom-all: P(all(y == 0)) <= 0.0655
  each:
    title: A slot whose elements are independent
    parameters: {dtype: float32}
    resolution: 0.003
    model: "x ~ uniform(1, 2)[8]\\ny = each(x)"
    claims: {share: E(mean(y == 0)) == 0.5}
  counted:
    title: Laws and quantiles of such a slot
    parameters: {dtype: float32}
    resolution: 0.02
    model: "x ~ uniform(1, 2)[2]\\ny = each(x)\\nm ~ bernoulli(0.5)"
    claims:
      law: (y[0] > 0) + 0 ~ bernoulli(0.5)
      pair: (y[0] > 0) + 0 ~ m
      apart: independent(y, over=[0])
      quarter: Quantile(y[0], 0.75) == 1.5
"""


class Own(OwnColumn):
    """A column of one function, for both slots."""

    has_gradient = False
    set_up = 0.0

    def __init__(self, layer: Layer) -> None:
        super().__init__("own", {"layer": layer})

    def bind(self, slots: Mapping[str, Slot]) -> Mapping[str, Code]:
        return dict.fromkeys(slots, self)

    def held(self) -> AbstractContextManager[None]:
        return nullcontext()

    def drawn(
        self, generator: np.random.Generator, asked: CodeRequest, inputs: Sequence[Any]
    ) -> Mapping[str, Array]:
        x = np.broadcast_to(inputs[0], (*(asked.shapes[0] or ()), asked.draws))
        return {"train": self.own["layer"](generator, x), "eval": x}


def judged(layer: Layer, claim: str, seed: int = 0, draws: int = 8_000_000) -> CaseResult:
    registry = with_columns(read_text(FILE), [Own(layer)])
    cases = [case for case in registry.expand() if case.claim.id == f"{claim}@own"]
    (found,) = verify_cases(cases, Settings(max_draws=draws, seed=seed), registry)
    return found


def sound(generator: np.random.Generator, x: Array) -> Array:
    return x * (generator.random(x.shape) < 0.5)


def all_alike(generator: np.random.Generator, x: Array) -> Array:
    """Each element is kept: every event comes out alike in all draws."""
    return x


def at_once(generator: np.random.Generator, x: Array) -> Array:
    """One mask for all draws of a call, with the right chance."""
    return x * (generator.random((len(x), 1)) < 0.5)


def in_few_calls(share: float) -> Layer:
    """All draws of such a share of the calls have the wrong sign."""

    def layer(generator: np.random.Generator, x: Array) -> Array:
        return sound(generator, x) * (-1.0 if generator.random() < share else 1.0)

    return layer


def blank_in_few_calls(generator: np.random.Generator, x: Array) -> Array:
    """All elements of 1 call in 200 are 0."""
    return sound(generator, x) * (generator.random() >= 0.005)


def in_few_draws(generator: np.random.Generator, x: Array) -> Array:
    return np.where(generator.random(x.shape) < 1e-4, -x, sound(generator, x))


def test_an_event_on_which_all_draws_agree_is_decided() -> None:
    """The limit theorem says nothing of what does not vary; a bound of its values does."""
    for claim, verdict in (("seldom-below", "verified"), ("wrong", "refuted")):
        found = judged(all_alike, f"noisy.{claim}")
        assert found.verdict.value == verdict
        assert found.guarantee is Guarantee.FINITE_SAMPLE


def test_a_share_of_code_is_told_from_another() -> None:
    assert judged(sound, "noisy.half").verdict.value == "verified"
    assert judged(sound, "noisy.wrong").verdict.value == "refuted"


def test_elements_that_are_not_independent_though_the_slot_says_so_are_seen() -> None:
    def kept_at_times(generator: np.random.Generator, x: Array) -> Array:
        return x if generator.random() < 0.05 else sound(generator, x)

    assert judged(sound, "each.share").verdict.value == "verified"
    found = [judged(kept_at_times, "each.share", seed, 1_000_000) for seed in range(4)]
    assert {one.verdict.value for one in found} <= {"undecided", "refuted"}
    assert Reason.NOT_INDEPENDENT in {one.reason for one in found}


def test_a_verdict_holds_though_draws_of_a_call_share_a_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By draws alone, of which each counts, what is true is refuted."""

    def a_little(generator: np.random.Generator, x: Array) -> Array:
        return x * (generator.random(x.shape) < 0.5 + generator.uniform(-0.2, 0.2))

    def verdicts() -> set[str]:
        return {judged(a_little, "each.share", seed, 200_000).verdict.value for seed in range(4)}

    assert "refuted" not in verdicts()
    monkeypatch.setattr("dropcheck.judging.look.of_calls", lambda interval, *_: interval)
    assert "refuted" in verdicts()


@pytest.mark.parametrize(
    ("claim", "often", "seed"),
    [("law", 400, 0), ("pair", 2000, 0), ("apart", 400, 0), ("quarter", 4000, 1)],
)
def test_counts_of_draws_that_share_numbers_are_worth_fewer(
    claim: str, often: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each mask is that of so many draws: were these independent, the truth would be refuted."""

    def each_often(generator: np.random.Generator, x: Array) -> Array:
        masks = generator.random((len(x), -(-x.shape[-1] // often))) < 0.5
        return x * np.repeat(masks, often, axis=1)[:, : x.shape[-1]]

    found = judged(each_often, f"counted.{claim}", seed, 600_000)
    assert (found.verdict.value, found.reason) == ("undecided", Reason.NOT_INDEPENDENT)
    for module in ("case", "cells"):  # as if all draws were independent
        monkeypatch.setattr(f"dropcheck.judging.{module}.effect_of", lambda _: 1.0)
    found = judged(each_often, f"counted.{claim}", seed, 600_000)
    assert found.verdict.value == "refuted"


def test_a_design_effect_is_that_of_what_varies_most_or_of_all() -> None:
    """Of 200 calls of 500 draws."""
    generator, sizes = np.random.default_rng(0), np.full(200, 500.0)
    cells = generator.multinomial(500, [0.5, 0.25, 0.2, 0.05], size=200).astype(float)
    assert design_effect(cells, sizes) == pytest.approx(1, abs=0.25)
    rare = np.repeat(generator.random((50, 4)) < 0.1, 50).reshape(200, 50)
    rare = rare * (generator.random((200, 50)) < 0.1)
    assert design_effect(np.column_stack([cells, rare.sum(axis=1)]), sizes) > 3
    shared = 10 * generator.binomial(50, 0.3, size=(200, 1)).astype(float)
    assert design_effect(shared, sizes) == pytest.approx(10, rel=0.3)
    assert design_effect(cells[:1], sizes[:1]) == 500
    assert design_effect(np.full((200, 2), [0.0, 500.0]), sizes) == 1


def test_a_result_says_of_how_many_calls_its_draws_are() -> None:
    found = judged(sound, "each.share")
    assert found.calls is not None
    assert found.calls.declared
    assert found.calls.count >= 64  # below which no verdict is planned
    assert basis(found) == f"{found.guarantee}, if elements are independent"
    assert draws(found).endswith(f" of {found.calls.count} calls")
    found = judged(sound, "noisy.half")
    assert found.calls is not None
    assert not found.calls.declared


def test_calls_too_few_to_show_what_is_wrong_verify_nothing() -> None:
    """The event has a chance of 0.0672; 1 in 2 runs of 128 calls shows no call that is wrong."""
    for seed in range(12):
        found = judged(blank_in_few_calls, "noisy.seldom-all", seed, draws=128 * 1024 + 100)
        assert found.verdict.value != "verified"


def test_draws_that_a_call_makes_at_once_are_no_more_than_one() -> None:
    """Of few calls the share is anything: 20 of them would refute what is true if draws counted."""
    for seed in range(5):
        assert judged(at_once, "noisy.half", seed, 400_000).verdict.value != "refuted"
        assert judged(at_once, "noisy.wrong", seed, 400_000).verdict.value != "verified"


@pytest.mark.parametrize("fault", [in_few_calls(0.01), in_few_calls(0.1), in_few_draws])
def test_what_is_wrong_in_few_calls_or_draws_is_not_certain(fault: Layer) -> None:
    """At one wrong call in a hundred 20 calls have none in four runs of five."""
    for seed in range(3):
        found = judged(fault, "noisy.never-below", seed)
        assert found.verdict.value == "refuted"
        assert found.interval is not None
        assert found.interval[1] != 1


def test_a_certainty_is_verified_by_calls_and_says_how_sharply() -> None:
    registry = with_columns(read_text(FILE), [Own(sound)])
    (case,) = (one for one in registry.expand() if one.claim.id == "noisy.never-below@own")
    assert prepare(case).exactness == "±0.005: violations rarer than that"
    found = judged(sound, "noisy.never-below")
    assert found.verdict.value == "verified"
    assert found.draws > 3000 * 1024


def test_a_plan_counts_calls_too() -> None:
    registry = with_columns(read_text(FILE), [Own(sound)])
    cases = [one for one in registry.expand() if one.claim.id == "noisy.never-below@own"]
    (planned,) = plan_cases(cases, Settings(), registry).cases
    assert planned.draws is not None
    found = judged(sound, "noisy.never-below")
    assert found.draws / 2 < planned.draws < 2 * found.draws


def test_what_draws_nothing_has_draws_that_count() -> None:
    """Neither an evaluation nor a slot without a random number shares any among its draws."""
    assert judged(sound, "noisy.evaluated", draws=400_000).verdict.value == "verified"
