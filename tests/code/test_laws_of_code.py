"""Statements about laws of code whose numbers have few digits: they are of the rounded values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from slots_made import OfFunctions

from dropcheck import ClaimFailedError, verify
from dropcheck.claims.reader import read_text
from dropcheck.code.columns import with_columns
from dropcheck.results import Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

Draw = Callable[[np.random.Generator, Any], Any]
FORMATS = ("float32", "float16")
LIMITED = Settings(max_draws=2**22)
"""A limit of draws takes the place of one of seconds, which a busy machine would reach."""

SOUND: dict[str, Draw] = {
    "normal(0, 1)": lambda g, size: g.normal(size=size),
    "normal(10, 1)": lambda g, size: g.normal(10, 1, size),
    "uniform(0, 1)": lambda g, size: g.random(size),
    "gamma(0.5, 1)": lambda g, size: g.gamma(0.5, size=size),
    "student_t(3)": lambda g, size: g.standard_t(3, size),
    "cauchy(0, 1)": lambda g, size: g.standard_cauchy(size),  # beyond float16 in 1 of 100,000
    "poisson(3000)": lambda g, size: g.poisson(3000, size),
    "binomial(5000, 0.5)": lambda g, size: g.binomial(5000, 0.5, size),
    "choice([0.1, 0.2, 0.7])": lambda g, size: g.choice([0.1, 0.2, 0.7], size),
}
FALSE: list[tuple[str, Draw]] = [
    ("normal(0, 1)", lambda g, size: 1.03 * g.normal(size=size)),
    ("normal(0, 1)", lambda g, size: np.clip(g.normal(size=size), -2, 2)),
    ("normal(0, 1)", lambda g, size: np.where(g.random(size) < 3e-3, 0, g.normal(size=size))),
    ("uniform(0, 1)", lambda g, size: g.integers(256, size=size) / 256),
    ("cauchy(0, 1)", lambda g, size: g.standard_cauchy(size) / (g.random(size) > 0.03)),
    ("normal(0, 1)", lambda g, size: g.normal(size=size) / (g.random(size) > 1e-4)),
    ("poisson(3000)", lambda g, size: g.poisson(3010, size)),
    ("choice([0.1, 0.2, 0.7])", lambda g, size: g.choice([0.1, 0.2, 0.69], size)),
]


def verdicts(law: str, draw: Draw, model: str = "y ~ sampler()", claim: str = "") -> list[Verdict]:
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


@pytest.mark.parametrize("law", SOUND)
def test_numbers_that_are_rounded_to_the_nearest_have_their_law(law: str) -> None:
    assert verdicts(law, SOUND[law]) == [Verdict.VERIFIED] * len(FORMATS)


@pytest.mark.parametrize(("law", "draw"), FALSE)
def test_what_is_more_than_rounding_is_refuted(law: str, draw: Draw) -> None:
    assert verdicts(law, draw) == [Verdict.REFUTED] * len(FORMATS)


def test_what_the_model_draws_is_rounded_before_it_is_compared() -> None:
    def drawn(scale: float) -> list[Verdict]:
        return verdicts(
            "normal(0, 1)",
            lambda g, size: scale * g.normal(size=size),
            r"y ~ sampler()\nz ~ normal(0, 1)",
            "y ~ z",
        )

    assert drawn(1.0) == [Verdict.VERIFIED] * len(FORMATS)
    assert drawn(1.05) == [Verdict.REFUTED] * len(FORMATS)


@pytest.mark.parametrize("decimals", [None, 2])
def test_a_sample_of_float32_is_read_as_such(decimals: int | None) -> None:
    def sample(rng: np.random.Generator, count: int) -> dict[str, Any]:
        y = rng.standard_normal(count, dtype=np.float32)
        return {"y": y if decimals is None else np.round(y, decimals)}

    if decimals is None:
        assert verify("y ~ normal(0, 1)", sample=sample).verdict is Verdict.VERIFIED
        return
    with pytest.raises(ClaimFailedError, match="in 128 cells"):
        verify("y ~ normal(0, 1)", sample=sample)
