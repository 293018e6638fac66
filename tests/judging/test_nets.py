"""Cases that are drawn from nets of points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from trials import entry, registry_of

from dropcheck.results import CaseResult, Guarantee, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

SQUARE = "x ~ uniform(0, 1); y ~ uniform(0, 1)"
TRUTH = 1.3179021514544038  # Σ 1/(n! (n + 1)²)
ALPHA = 1e-4
MOST = 30_000_000


def run(
    model: str, claim: str, within: float, settings: Settings | None = None, **changes: Any
) -> CaseResult:
    registry = registry_of(entry("net", model, claim, f"within: {within}"))
    usual = settings or Settings(alpha=ALPHA, threads=1, max_draws=MOST)
    (found,) = verify_cases(registry.expand(), replace(usual, **changes), registry)
    return found


def test_a_smooth_function_of_two_numbers_is_decided_where_plain_draws_leave_it_open() -> None:
    claim = f"E(exp(x * y)) == {TRUTH}"
    netted, plain = (run(SQUARE, claim, 8e-5, plain=plain) for plain in (False, True))
    assert netted.verdict is Verdict.VERIFIED
    assert netted.sampling.startswith("nets of ")
    assert netted.guarantee is Guarantee.FINITE_SAMPLE
    assert plain.verdict is Verdict.UNDECIDED
    assert plain.sampling == "plain"
    assert netted.draws < plain.draws


@pytest.mark.parametrize("off", [-1.001, 1.001])
def test_what_is_off_by_more_than_is_allowed_is_refuted(off: float) -> None:
    found = run(SQUARE, f"E(exp(x * y)) == {TRUTH + off * 2e-4}", 2e-4)
    assert found.verdict is Verdict.REFUTED
    assert found.sampling.startswith("nets of ")


def test_functions_of_several_averages_are_drawn_so_too() -> None:
    claim = "E(exp(x * y)) / E(1 / (1 + x * y)) == 1.3179021514544038 / (pi ** 2 / 12)"
    found = run(SQUARE, claim, 4e-4)
    assert found.verdict is Verdict.VERIFIED
    assert found.sampling.startswith("nets of ")


def test_moments_serve_where_values_have_no_bound() -> None:
    claim = "E(softplus(x + y)) == 0.9026619077200269"
    found = run("x ~ normal(0, 1); y ~ normal(0, 1)", claim, 4e-4)
    assert found.verdict is Verdict.VERIFIED
    assert found.guarantee is Guarantee.MOMENTS
    assert found.sampling.startswith("nets of ")


def test_the_result_does_not_depend_on_threads() -> None:
    claim = f"E(exp(x * y)) == {TRUTH}"
    one, two = (run(SQUARE, claim, 2e-4, threads=threads) for threads in (1, 2))
    assert one.sampling.startswith("nets of ")
    assert (one.interval, one.draws, one.estimate) == (two.interval, two.draws, two.estimate)


def test_another_seed_makes_other_nets() -> None:
    claim = f"E(exp(x * y)) == {TRUTH}"
    first, other = (run(SQUARE, claim, 2e-4, seed=seed) for seed in (1, 2))
    assert first.estimate != other.estimate
    assert first.verdict is other.verdict is Verdict.VERIFIED


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        (SQUARE, f"E(exp(x * y)) == {TRUTH + 0.2}"),  # far off: few draws refute it
        ("x ~ uniform(0, 1)[11]", "E(exp(mean(x))) == 1.655"),  # too many numbers
        ("x ~ gamma(2, 1); y ~ uniform(0, 1)", "E(tanh(x * y)) == 0.5"),  # slow quantiles
        ("x ~ cauchy(0, 1); y ~ uniform(0, 1)", "E(sqrt(abs(x * y))) == 0.9"),  # no variance
    ],
)
def test_where_they_would_save_nothing_draws_are_plain(model: str, claim: str) -> None:
    assert run(model, claim, 2e-4, max_draws=100_000).sampling == "plain"
