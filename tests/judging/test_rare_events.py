"""Averages that a few rare draws make: the exact value decides, and few draws decide nothing."""

from __future__ import annotations

from itertools import cycle

import pytest
from trials import judged

from dropcheck.results import Method, Verdict

PUTS = "h ~ normal(0, 0.1); z ~ normal(0, 1); ST = 100 * exp(0.2 * z - 0.02)"
NORMAL = "x ~ normal(0, 1)"

# Model, claim and truth of claims that no run decides by draws in its budget; the truths by closed
# forms: of the option by Black (1976), of the others as they stand in tables.
CARRIED_BY_FEW = [
    (PUTS, "E(1 + h - 1e6 * relu(35 - ST))", 0.83919664),
    (NORMAL, "P(x > 5)", 2.86651572e-7),
    (NORMAL, "E(relu(x - 6))", 1.56356980e-10),
    ("x ~ pareto(1.5, 1)", "E(x)", 3.0),
    ("u ~ uniform(0, 1)", "E(1e8 * exp(-1e8 * u))", 1.0),
    (f"{NORMAL}; y ~ normal(0, 1)", "P(x > 5 and y > 0)", 1.43325786e-7),
    (NORMAL, "E(x, given=x > 6)", 6.15847),
]


@pytest.mark.parametrize(("model", "quantity", "truth"), CARRIED_BY_FEW)
def test_the_exact_value_decides_and_few_draws_do_not(
    model: str, quantity: str, truth: float
) -> None:
    claim = f"{quantity} == {truth}"
    known = judged(model, claim, most=100_000, draws_only=False)
    assert (known.verdict, known.method) == (Verdict.VERIFIED, Method.EXACT_VALUE)
    drawn = judged(model, claim, most=100_000)
    assert drawn.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("model", "quantity", "truth", "share"),
    [(*one, share) for one, share in zip(CARRIED_BY_FEW, cycle([0.9, 1.1]), strict=False)],
)
def test_false_claims_are_refuted(model: str, quantity: str, truth: float, share: float) -> None:
    result = judged(model, f"{quantity} == {share * truth}", most=100_000, draws_only=False)
    assert result.verdict is Verdict.REFUTED
