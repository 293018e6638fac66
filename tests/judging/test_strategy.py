"""How a case is judged is decided once: `show` says what `run` does."""

from __future__ import annotations

from pathlib import Path

import pytest
from trials import entry, judged, registry_of

from dropcheck.claims.reader import read_registry
from dropcheck.judging.case import Prepared, prepare
from dropcheck.judging.judge import announced, judged_exactly
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

CLAIMS = read_registry(Path(__file__).parents[2] / "claims.yaml")


@pytest.mark.usefixtures("draws_alone")
def prepared(model: str, claim: str, keys: str = "") -> Prepared:
    (case,) = registry_of(entry("claim", model, claim, keys)).expand()
    return prepare(case)


def test_every_shipped_claim_is_judged_as_it_is_announced() -> None:
    cases = [claim.expand()[0] for claim in CLAIMS.claims.values()]
    settings = Settings(max_draws=50_000, threads=1)
    for case, result in zip(cases, verify_cases(cases, settings, CLAIMS), strict=True):
        one = prepare(case)
        said = announced(one, judged_exactly(one))
        assert said.startswith(f"{result.guarantee}:"), case.key
        assert not said.startswith("asymptotic"), case.key


BOUNDED = "moments: what is averaged has moments that the model bounds"


@pytest.mark.parametrize(
    ("model", "claim", "keys", "rests_on"),
    [
        ("x ~ normal(0, 1)", "E(x**2) == 1", "", BOUNDED),
        ("x ~ normal(0, 1)[2]", "E(max(x)) == 0.564", "", BOUNDED),
        ("x ~ pareto(1.5, 1)", "E(x) <= 9", "", BOUNDED),
        ("u, v ~ uniform(0, 1)", "E(u) == E(v)", "", "finite-sample: what is averaged is bounded"),
        ("u, v ~ uniform(0, 1)", "E(u) == E(v)", "tolerance: 0.1", "finite-sample: "),
        ("u ~ uniform(0, 1)", "Std(u) == sqrt(1 / 12)", "", "finite-sample: "),
        # of an exponential of a product whose factors share a draw no moment is known
        (
            "x, w ~ normal(0, 1)",
            "E(exp(x * (x + w) / 8)) == 1",
            "",
            "asymptotic: the limit theorem",
        ),
        ("x ~ normal(0, 1)", "P(x > 0) == 0.5", "", "exact: events are counted"),
        ("x ~ normal(0, 1)", "P(x > 0) == 1", "", "exact: events are counted"),
        ("x ~ cauchy(0, 1)", "E(x) == 0", "", "E does not exist"),
        ("x ~ normal(0, 1)", "1 == 2", "", "arithmetic: nothing is random"),
    ],
)
def test_what_is_announced_is_what_is_done(
    model: str, claim: str, keys: str, rests_on: str
) -> None:
    assert prepared(model, claim, keys).rests_on.startswith(rests_on)
    result = judged(model, claim, keys, most=100_000)
    if result.method is not None:
        assert str(result.guarantee) == rests_on.split(":", maxsplit=1)[0]
    else:
        assert result.draws == 0


@pytest.mark.parametrize(
    ("model", "claim", "sampling"),
    [
        # a product of so few numbers that its pairs would cost more than its draws
        ("a ~ normal(0, 1)[2, 1]; b ~ normal(0, 1)[1, 8]", "Var(a @ b) == 1", "plain"),
        ("a ~ normal(0, 1)[3, 32]; b ~ normal(0, 1)[32, 4]", "Var(a @ b) == 32", "crossed"),
        # what crossing would save is not known where the model does not say the covariances
        ("a ~ normal(0, 1)[3, 32]; b ~ normal(0, 1)[32, 4]", "E(abs(a @ b)) == 4.5", "plain"),
    ],
)
def test_draws_are_crossed_where_that_is_known_to_save_some(
    model: str, claim: str, sampling: str
) -> None:
    assert judged(model, claim, most=200_000).sampling.split()[0] == sampling
    assert judged(model, claim, most=200_000, plain=True).sampling == "plain"
