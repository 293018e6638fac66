"""How a case is judged is decided once: `show` says what `run` does."""

from __future__ import annotations

from pathlib import Path

import pytest
from trials import entry, judged, registry_of

from dropcheck.claims.reader import read_registry
from dropcheck.judging.prepared import Prepared, prepare
from dropcheck.results import Guarantee
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

CLAIMS = read_registry(Path(__file__).parents[2] / "claims.yaml")


def prepared(model: str, claim: str, keys: str = "") -> Prepared:
    (case,) = registry_of(entry("claim", model, claim, keys)).expand()
    return prepare(case)


def test_every_shipped_claim_is_judged_as_it_is_announced() -> None:
    cases = [claim.expand()[0] for claim in CLAIMS.claims.values()]
    settings = Settings(max_draws=50_000, threads=1)
    for case, result in zip(cases, verify_cases(cases, settings, CLAIMS), strict=True):
        said = prepare(case).rests_on
        if result.guarantee is Guarantee.FINITE_SAMPLE:
            assert said.startswith("finite-sample"), case.key
        elif result.draws and not said.startswith("finite-sample"):
            assert said.startswith(str(result.guarantee.value)), case.key
        assert ("paired all with all" in said) <= result.sampling.startswith("crossed"), case.key
        combined = "paired all with all" in said or "all combinations" in said
        assert combined >= result.sampling.startswith("crossed"), case.key


@pytest.mark.parametrize(
    ("model", "claim", "keys", "rests_on"),
    [
        # a product of so few numbers that its pairs would cost more than its draws
        (
            "a ~ normal(0, 1)[2, 1]; b ~ normal(0, 1)[1, 8]",
            "Var(a @ b) == 1",
            "",
            "independent blocks",
        ),
        ("a ~ normal(0, 1)[3, 32]; b ~ normal(0, 1)[32, 4]", "Var(a @ b) == 32", "", "paired all"),
        # a condition keeps products from being combined, and a certain condition too
        ("m, x ~ normal(1, 1)", "E(m * x, given=m > 0) == 1", "", "independent blocks"),
        ("m, x ~ normal(1, 1)", "Var(m * x) == 3", "", "all combinations"),
        # a share of an estimated side is no bounded mean
        ("u, v ~ uniform(0, 1)", "E(u) == E(v)", "", "finite-sample"),
        ("u, v ~ uniform(0, 1)", "E(u) == E(v)", "tolerance: 0.1", "independent blocks"),
        ("x ~ cauchy(0, 1)", "E(x) == 0", "", "E does not exist"),
        ("x ~ normal(0, 1)", "1 == 2", "", "arithmetic"),
    ],
)
def test_what_is_announced_is_what_is_done(
    model: str, claim: str, keys: str, rests_on: str
) -> None:
    assert rests_on in prepared(model, claim, keys).rests_on
    result = judged(model, claim, keys, most=200_000)
    assert result.sampling.startswith("crossed") is (rests_on in ("paired all", "all combinations"))
    assert (result.guarantee is Guarantee.FINITE_SAMPLE) is (rests_on == "finite-sample")
