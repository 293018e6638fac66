"""The exact value decides, and draws confirm it: what a claim allows, and what a fault shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from trials import OPEN, REFUTED, VERIFIED, N, entry, judged, registry_of, tried

from dropcheck.analysis import exact as analysis
from dropcheck.analysis import single_draw
from dropcheck.analysis.rewriting import with_fewer_draws
from dropcheck.errors import InternalError
from dropcheck.judging import case as cases
from dropcheck.judging import exact
from dropcheck.judging.case import prepare
from dropcheck.known.cells import Estimate
from dropcheck.results import CaseResult, Exact, Guarantee, Method, Verdict
from dropcheck.settings import Settings

KELLY = "x ~ choice([1, 1, 1, -1, -1])"
TICKET = "pay ~ bernoulli(1e-5)"


def decided(model: str, claim: str, keys: str = "") -> CaseResult:
    return judged(model, claim, keys, draws_only=False)


@pytest.mark.parametrize(
    ("model", "claim", "keys", "verdict"),
    [
        # half a unit of the last digit, at most the resolution
        (KELLY, "E(log(1 + 0.2 * x)) == 0.0201", "resolution: 0.003", VERIFIED),
        (KELLY, "E(log(1 + 0.2 * x)) == 0.0202", "", REFUTED),
        (KELLY, "E(log(1 + 0.2 * x)) == 0.02010", "", REFUTED),
        (N, "E(x**2) == 1.009", "", REFUTED),
        (N, "E(x**2) == 1.0", "", VERIFIED),
        (N, "0.2 - 0.3 * E(x**2) == -0.1", "", VERIFIED),
        (N, "E(x**2) == 1.005", "resolution: 0.5", REFUTED),  # no allowance, however coarse
        (N, "E(x**2) == 1.05", "within: 0.5", REFUTED),
        # a tolerance, and nothing beyond it
        (N, "E(x**2) == 1.02", "tolerance: 0.02", VERIFIED),
        (N, "E(x**2) == 1.02", "tolerance: 0.019", REFUTED),
        # all else to a hundredth of the resolution
        (N, "E(x**2) == 1 + 1 / 20000", "", VERIFIED),
        (N, "E(x**2) == 1 + 1 / 2000", "", REFUTED),
        (N, "E(x**2) <= 0.999", "", REFUTED),
        # but no more than half a unit of a whole number
        ("x ~ normal(1e6, 1)", "E(x) == 1000002", "", REFUTED),
        ("x ~ normal(1e6, 1)", "1000002 == E(x)", "", REFUTED),
        ("x ~ normal(1e6 + 0.4, 1)", "E(x) == 1000000", "", VERIFIED),
        ("x ~ normal(1e6 + 2, 1)", "E(x) == 1e6", "", VERIFIED),
        # the digits that are written
        (N, "E(x**2) ~= 1.00", "", VERIFIED),
        (N, "E(x**2) ~= 1.01", "", REFUTED),
        (N, "1 ~= E(x**2)", "", VERIFIED),
        (N, "P(x > 1) ~= 0.159", "", VERIFIED),
        (N, "P(x > 1) ~= 0.158", "", REFUTED),
        ("", "comb(100, 50) / 2**100 ~= 0.0795892", "", VERIFIED),
        ("", "comb(100, 50) / 2**100 == 0.0795892", "", VERIFIED),
        ("", "comb(100, 50) / 2**100 == 0.0795893", "", REFUTED),
        # a decimal with a power of ten claims its digits too
        ("x ~ normal(1308.5, 1)", "E(x) ~= 1.3e3", "", VERIFIED),
        ("x ~ normal(1308.5, 1)", "E(x) == 1.31e3", "", VERIFIED),
        ("x ~ normal(1303, 1)", "E(x) == 1.31e3", "", REFUTED),
        # a certainty
        (N, "P(x > 7) == 0", "", VERIFIED),
        (N, "P(x > 5) == 0", "", REFUTED),
        (N, "P(x > 5) == 0", "within: 0.001", REFUTED),
        # a value that is seldom seen
        (TICKET, "E(1e5 * pay - 2) == 0", "", REFUTED),
        (TICKET, "E(1e5 * pay - 1) == 0", "", VERIFIED),
        # an end that is left out
        (N, "E(x**2) < 1", "", OPEN),
        (N, "E(x) < E(x)", "", REFUTED),
        (N, "Var(x - x) > 0", "", REFUTED),
        (N, "E(x) <= E(x)", "", VERIFIED),
        (N, "E(x**2) < 1.0001", "", VERIFIED),
    ],
)
def test_what_is_allowed_is_read_from_the_text(
    model: str, claim: str, keys: str, verdict: Verdict
) -> None:
    assert decided(model, claim, keys).verdict is verdict


def test_a_parameter_alone_has_the_digits_that_its_file_has() -> None:
    for written, verdict in (("0.16", VERIFIED), ("0.160", REFUTED)):
        keys = f"parameters: {{q: {written}}}\nresolution: 0.05"
        assert decided(N, "P(x > 1) == q", keys).verdict is verdict
    keys = "parameters: {q: 0.16}\nresolution: 0.05"
    used = decided("x ~ normal(0, 1); y = x + 0 * q", "P(y > 1) == q", keys)
    assert used.verdict is REFUTED  # the model uses it: it is no figure


def test_draws_confirm_to_five_resolutions() -> None:
    found = decided(N, "E(x**2) == 1")
    assert (found.verdict, found.guarantee, found.confirmed) == (VERIFIED, Guarantee.EXACT, True)
    assert found.method is Method.EXACT_VALUE
    assert found.exact is not None
    assert found.exact.value == pytest.approx(1, abs=1e-9)
    assert found.interval is not None
    low, high = found.interval
    assert None not in (low, high)
    assert 0.95 <= (low or 0.0) < 1 < (high or 0.0) <= 1.05
    assert found.draws * 10 < judged(N, "E(x**2) == 1").draws


def test_what_takes_too_many_draws_is_not_confirmed() -> None:
    found = decided(TICKET, "E(1e5 * pay - 1) == 0")
    assert (found.verdict, found.confirmed) == (VERIFIED, False)
    assert found.draws <= 2**20


def test_an_end_that_is_left_out_is_open_at_once() -> None:
    found = decided(N, "E(x**2) < 1")
    assert (found.verdict, found.draws, found.confirmed) == (OPEN, 0, None)


def test_a_claim_that_fails_is_drawn_to_its_resolution() -> None:
    found = decided(N, "E(x**2) == 1.1")
    assert (found.verdict, found.confirmed) == (REFUTED, True)
    assert found.interval is not None
    assert (found.interval[1] or 0.0) < 1.1


def test_a_claim_that_is_nearly_true_says_by_how_much() -> None:
    found = decided(N, "E(x**2) == 1 + 0.009")
    assert found.explanation is not None
    assert str(found.explanation) == "off by 0.89%"
    assert "'tolerance:' or '~='" in found.explanation.reading


def test_an_interval_within_what_is_claimed_confirms_it_however_wide() -> None:
    for claim, confirmed in (("E(x) < 0.05", True), ("E(x) == 0", True), ("E(x) < 1e-4", False)):
        assert decided(N, claim).confirmed is confirmed


def test_without_draws_nothing_is_confirmed() -> None:
    registry = registry_of(entry("c", N, "E(x**2) == 1"))
    (found,) = tried(registry, Settings(exact=True, threads=1))
    assert (found.verdict, found.draws, found.confirmed) == (VERIFIED, 0, None)


# ---- faults of the analysis ----------------------------------------------------------------------


def off_by(resolutions: float) -> Callable[[Any], Any]:
    """Exact values that are off by so many resolutions of 1%."""
    whole = exact.exact_quantity

    def wrong(*asked: Any) -> Exact | None:
        found = whole(*asked)
        return None if found is None else Exact(found.value + 0.01 * resolutions, found.error)

    return wrong


def test_a_value_that_is_far_off_is_told_by_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "exact_quantity", off_by(10))
    for claim in ("E(x**2) == 1", "E(x**2) == 1.1"):
        with pytest.raises(InternalError, match=r"by the model the exact value is 1\.1"):
            decided(N, claim)


def test_a_value_that_is_little_off_is_told_by_draws_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exact, "exact_quantity", off_by(2))
    assert decided(N, "E(x**2) == 1 + 1 / 50").verdict is VERIFIED  # of what is wrong
    with pytest.raises(InternalError, match=r"by the model the exact value is 1\.02"):
        judged(N, "E(x**2) == 1 + 1 / 50")


def test_a_wrong_probability_is_told_by_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "exact_probability", lambda *_: Exact(0.55, 1e-12))
    with pytest.raises(InternalError, match=r"exact value is 0\.55"):
        decided("x ~ normal(0, 1)", "P(x > 0) == 0.55")


def test_a_counterexample_of_what_is_certain_by_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "exact_probability", lambda *_: Exact(1.0, 1e-12))
    with pytest.raises(InternalError, match="exact value is 1"):
        decided("x ~ normal(0, 1)", "P(x < 2) == 1")


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
    module: Any, name: str, model: str, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert decided(model, claim).confirmed
    whole = getattr(module, name)

    def off(factor: float) -> None:
        def planted(*asked: Any, **more: Any) -> Any:
            return _scaled(whole(*asked, **more), factor)

        monkeypatch.setattr(module, name, planted)

    off(1.1)  # by ten resolutions
    with pytest.raises(InternalError):
        decided(model, claim)
    off(1.02)  # by two, which draws alone tell
    with pytest.raises(InternalError):
        judged(model, claim)


def _scaled(found: Any, factor: float) -> Any:
    if isinstance(found, tuple):
        return tuple(_scaled(one, factor) for one in found) if type(found) is tuple else found
    if isinstance(found, Estimate):
        return Estimate(factor * found.value, found.error)
    return factor * found if isinstance(found, float | np.ndarray) else found


def test_a_wrong_rewriting_is_told_by_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    model, claim = "x ~ uniform(0, 1)[5]", "E(max(x)) == 5/6"
    found = decided(model, claim)
    assert (found.verdict, found.confirmed) == (VERIFIED, True)

    def planted(model: str, claim: str) -> None:
        (changed,) = registry_of(entry("c", model, claim)).expand()
        with monkeypatch.context() as plain:
            plain.setattr(cases, "with_fewer_draws", with_fewer_draws)
            rewritten = prepare(changed).analysed.lowered
        monkeypatch.setattr(cases, "with_fewer_draws", lambda _: rewritten)

    planted("x ~ uniform(0, 1)[9]", claim)  # by eight resolutions
    with pytest.raises(InternalError, match=r"exact value is 0\.9"):
        decided(model, claim)
    planted(f"{model}; y = 1.02 * max(x)", "E(y) == 5/6")  # by two, which draws alone tell
    with pytest.raises(InternalError, match=r"exact value is 0\.85"):
        judged(model, claim)
