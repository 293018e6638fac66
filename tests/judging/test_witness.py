"""Two witnesses: the draws tell a fault of the analysis, or that chance may be its cause."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from trials import REFUTED, VERIFIED, N, judged

from dropcheck.analysis import exact as analysis
from dropcheck.analysis import single_draw
from dropcheck.errors import InternalError, Problem
from dropcheck.judging import averages, look
from dropcheck.known.cells import Estimate
from dropcheck.results import Exact, Method

Patch = pytest.MonkeyPatch


def off_by(resolutions: float) -> Callable[..., Exact | None]:
    """Exact values that are off by so many resolutions of 1%."""
    whole = look.exact_quantity

    def wrong(*asked: Any) -> Exact | None:
        found = whole(*asked)
        return None if found is None else Exact(found.value + 0.01 * resolutions, found.error)

    return wrong


def test_a_wrong_value_is_told_by_the_draws(monkeypatch: Patch) -> None:
    with monkeypatch.context() as far:
        for module in (averages, look):
            far.setattr(module, "exact_quantity", off_by(10))
        for claim in ("E(x**2) == 1", "E(x**2) == 1.1"):
            with pytest.raises(
                InternalError, match=r"by the model the exact value is 1\.1"
            ) as told:
                judged(N, claim, draws_only=False)
            assert "the claim and the seed, 0" in str(told.value)
    for module in (averages, look):
        monkeypatch.setattr(module, "exact_quantity", off_by(2))
    claim = "E(x**2) == 1 + 1 / 50"
    assert judged(N, claim, draws_only=False).verdict is VERIFIED  # draws alone tell so little
    with pytest.raises(InternalError, match=r"by the model the exact value is 1\.02"):
        judged(N, claim)
    # where the promise is no more than that, chance may be the cause
    seeds = (judged(N, claim, alpha=0.2, most=2000, seed=seed) for seed in range(40))
    warned = next(one for one in seeds if one.warnings)
    assert not warned.confirmed
    assert warned.warnings[0].endswith("which chance may do at this error rate")


def test_draws_confirm_to_five_resolutions() -> None:
    found = judged(N, "E(x**2) == 1", draws_only=False)
    low, high = found.interval or (None, None)
    assert found.confirmed
    assert 0.95 <= (low or 0) < 1 < (high or 2) <= 1.05
    assert found.draws * 10 < judged(N, "E(x**2) == 1").draws


@pytest.mark.parametrize("error", [1e-3, 0.1])
def test_an_exact_value_of_few_digits_decides_nothing(error: float, monkeypatch: Patch) -> None:
    """A hundredth of the resolution of 0.01 is what it may be off by."""
    monkeypatch.setattr(look, "exact_quantity", lambda *_: Exact(1.0, error))
    for claim, verdict in (("E(x**2) == 1", VERIFIED), ("E(x**2) == 1.02", REFUTED)):
        found = judged(N, claim, draws_only=False)
        assert (found.verdict, found.method) == (verdict, Method.BLOCK_MEANS)


@pytest.mark.parametrize(("claim", "value"), [("P(x < 2) == 1", 1.0), ("P(x > 2) == 0", 0.0)])
def test_a_wrong_probability_is_told_by_counts(
    claim: str, value: float, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(look, "exact_probability", lambda *_: Exact(value, 1e-12))
    with pytest.raises(InternalError, match=f"exact value is {value:g}"):
        judged("x ~ normal(0, 1)", claim, draws_only=False)


@pytest.mark.parametrize(
    ("module", "name", "model", "claim"),
    [
        # the ring: means of polynomials
        (analysis, "value_of", "x ~ exponential(1)[3]", "E(sum(x) ** 2) == 12"),
        # a letter: a function of one draw, by integration
        (single_draw, "mean_over", "x, w ~ normal(0, 1)", "E(exp(x) * (1 + w)) == exp(1/2)"),
        # all outcomes
        (analysis, "_summed", "x ~ bernoulli(0.3)[3]", "E(max(x)) == 1 - 0.7**3"),
    ],
)
def test_wrong_parts_of_the_analysis_are_told_by_the_draws(
    module: Any, name: str, model: str, claim: str, monkeypatch: Patch
) -> None:
    assert judged(model, claim, draws_only=False).confirmed
    whole = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *a, **b: scaled(whole(*a, **b), 1.1))
    with pytest.raises(InternalError):  # by ten resolutions
        judged(model, claim, draws_only=False)


def scaled(found: Any, factor: float) -> Any:
    if type(found) is tuple:
        return tuple(scaled(one, factor) for one in found)
    if isinstance(found, Estimate):
        return Estimate(factor * found.value, found.error)
    return factor * found if isinstance(found, float | np.ndarray) else found


def test_without_room_for_rounding_wrong_verdicts_come_back(monkeypatch: Patch) -> None:
    monkeypatch.setattr(look, "rounding_in", lambda program, *_: np.zeros(len(program.terms)))
    with pytest.raises(InternalError, match="the exact value"):
        judged("x ~ uniform(1.1, 1.9)", "E((1e16 + x) - 1e16) == 2", "within: 0.01")


def test_an_internal_error_comes_whole_from_another_process() -> None:
    error = InternalError(Problem("wrong", hint="send it"))
    assert pickle.loads(pickle.dumps(error)).problems == error.problems
