"""What a sample does not show of a quantity of which the model bounds no moment.

Each claim here is false, or about what does not exist, and looks right in nearly every sample. The
limit theorem is accepted for all of them; by default the model alone leaves them undecided.
"""

from __future__ import annotations

import numpy as np
import pytest
from trials import OPEN, REFUTED, VERIFIED, entry, judged, registry_of, verdicts

from dropcheck import ClaimFailedError, verify
from dropcheck.inference import intervals
from dropcheck.judging import averages, plan_draws
from dropcheck.judging.case import prepare
from dropcheck.judging.limit_theorem import draws_to_see, shortfall
from dropcheck.results import CaseResult, Guarantee, Verdict
from dropcheck.simulation import Compiled

MOST = 400_000
SEEDS = range(2)


def by_limit(model: str, claim: str, seeds: range = SEEDS, most: int = MOST) -> list[Verdict]:
    """Verdicts where the limit theorem is accepted."""
    return verdicts(model, claim, seeds, 1e-6, most, asymptotic=True)


# a mean that does not exist is not seen in functions of several draws
RECIPROCAL = "u ~ uniform(0, 1); v ~ uniform(0, 1); x = 1 / minimum(u, v)"
HEAVY_PARTS = [
    (f"{RECIPROCAL}; y ~ normal(50, 1)", "maximum(E(x), E(y)) == 50"),
    ("w ~ exponential(0.99); x = maximum(exp(w), 0)", "maximum(E(x), 50) == 50"),
    (RECIPROCAL, "E(x + u) - E(x) == 0.5"),
    (RECIPROCAL, "E(x + u) == E(x) + 0.5"),
    (RECIPROCAL, "E(2 * x) == 2 * E(x)"),
]


@pytest.mark.parametrize(("model", "claim"), HEAVY_PARTS)
def test_parts_that_cancel_or_vanish_are_looked_at(model: str, claim: str) -> None:
    assert VERIFIED not in by_limit(model, claim)


@pytest.mark.parametrize(
    ("model", "claim"), [*HEAVY_PARTS, ("x ~ lognormal(0, 5)", "sign(E(x) - 200000) == -1")]
)
def test_by_default_they_are_not_verified_either(model: str, claim: str) -> None:
    assert VERIFIED not in verdicts(model, claim, SEEDS, 1e-6, MOST)


@pytest.mark.parametrize(("model", "claim"), [HEAVY_PARTS[0], *HEAVY_PARTS[2:4]])
def test_by_the_influence_alone_they_are_verified(
    model: str, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = shortfall
    alone = lambda rows, weights, _, *more, **how: own(rows, weights, (), *more, **how)  # noqa: E731 - short
    monkeypatch.setattr(averages, "shortfall", alone)
    monkeypatch.setattr(plan_draws, "shortfall", alone)
    assert VERIFIED in by_limit(model, claim, range(4))


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("x ~ normal(1, 1)", "maximum(E(x), 0) == 1"),
        ("x ~ exponential(1)", "E(2 * x) == 2 * E(x)"),
        ("x ~ exponential(1)", "Std(2 * x) == 2 * Std(x)"),
        ("x ~ lognormal(0, 1); z ~ normal(0, 1)", "E(x + z) - E(x) <= 0.1"),
        ("x ~ student_t(5); y ~ normal(0, 1)", "Corr(x, y) == 0"),
    ],
)
def test_parts_that_settle_keep_nothing_from_being_verified(model: str, claim: str) -> None:
    assert verdicts(model, claim, [0], 1e-6) == [VERIFIED]


# ---- identities ----------------------------------------------------------------------------------

STANDARDISED = "x ~ normal(0, 1)[5]; z = (x - mean(x)) / std(x)"
IDENTITIES = [
    (STANDARDISED, "Var(z) == 1"),
    ("x ~ normal(0, 1)[2]; z = (x - mean(x)) / std(x)", "E(z) == 0"),
    (STANDARDISED, "Std(3 * z) == 3"),
]


@pytest.mark.parametrize(("model", "claim"), IDENTITIES)
def test_the_shape_of_rounding_keeps_nothing_from_being_verified(model: str, claim: str) -> None:
    """As of what is constant, it takes the draws that bound a share of others by 1e-4."""
    found = judged(model, claim, most=MOST, asymptotic=True)
    assert found.verdict is VERIFIED
    if found.guarantee is Guarantee.ASYMPTOTIC:
        assert 138_000 < found.draws < 300_000
        few = judged(model, claim, most=100_000, asymptotic=True)
        assert few.verdict is OPEN


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        (f"{RECIPROCAL}; y = 1 + 1e-13 * x", "E(y) == 1"),  # seen beside the rounding
        (f"{STANDARDISED}; u ~ uniform(0, 1); y = z + 1e-13 * maximum(1 / u, 0)", "E(y) == 0"),
        (f"{STANDARDISED}; w = z + 0.1", "E(w) == 0"),
    ],
)
def test_what_is_more_than_rounding_is_not_taken_for_it(model: str, claim: str) -> None:
    assert VERIFIED not in by_limit(model, claim)


# ---- draws that agree ----------------------------------------------------------------------------

Drawn = dict[str, np.ndarray]


def never(_: np.random.Generator, count: int) -> Drawn:
    """Code whose rare values no draw shows."""
    return {"x": np.zeros(count)}


def own(claim: str, model: str = "", most: int = MOST) -> CaseResult:
    """A claim about code of one's own, whatever becomes of it."""
    return verify(
        claim, sample=never, model=model or None, max_draws=most, undecided="pass", threads=1
    )


PLATEAUS = [
    ("", "minimum(E(x), 0) == 0"),
    ("", "floor(E(x)) == 0"),
    ("", "relu(E(x) - 5) == 0"),
    ("w = x + 1", "floor(2 * E(x) / E(w)) == 0"),
    ("w ~ normal(0, 1)", "floor(E(x)) + Std(w) / Std(w) == 1"),
]


@pytest.mark.parametrize(("model", "claim"), PLATEAUS)
def test_a_plateau_is_no_reason_to_trust_draws_that_all_agree(
    model: str, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = own(claim, model)
    assert (found.verdict, found.guarantee) == (OPEN, Guarantee.ASYMPTOTIC)
    assert "too rare to be seen" in str(found.explanation)
    monkeypatch.setattr(averages, "of_alike", lambda interval, verdict, *_: (interval, verdict))
    assert own(claim, model).verdict is VERIFIED


# ---- outcomes that the model says to be rare -----------------------------------------------------

RARE = [
    "b ~ bernoulli(1e-7)",
    "b ~ binomial(1, 1e-7)",
    "b ~ poisson(1e-7)",
    "g ~ geometric(0.9999999); b = g - 1",
    "b ~ hypergeometric(1, 9999999, 1)",
    "b ~ negative_binomial(1e-7, 0.5)",
    "c ~ choice(concat(zeros(999999), ones(1))); b = c",
    "u ~ uniform(0, 1); b = (u < 1e-7)",
    "u ~ uniform(0, 1); b = where(u > 0.5 and u < 0.5 + 1e-7, 1, 0)",
    "s, t ~ bernoulli(0.001); b = (s + t == 2)",
]


def noise(generator: np.random.Generator, count: int) -> Drawn:
    return {"x": generator.normal(1, 1, count)}


@pytest.mark.parametrize("line", RARE)
def test_no_budget_is_too_small_to_wait_for_what_the_model_says_to_be_rare(line: str) -> None:
    model = "\n".join(part.strip() for part in f"{line}; y = x + 1e7 * b".split(";"))
    few = MOST // 10  # of which, with this seed, none is the rare one
    found = verify("E(y) == 1", sample=noise, model=model, max_draws=few, undecided="pass", seed=1)
    assert found.verdict is OPEN
    assert "the rarest outcome of the model is expected" in str(found.explanation)


def test_without_the_wait_it_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(averages, "once_expected", lambda found, *_: found)
    model = "u ~ uniform(0, 1)\ny = x + 1e7 * (u < 1e-7)"
    assert (
        verify("E(y) == 1", sample=noise, model=model, within=0.02, max_draws=MOST).verdict
        is VERIFIED
    )


@pytest.mark.parametrize(
    ("model", "claim", "draws"),
    [
        ("u ~ uniform(0, 1); y = where(u < 1e-6, 1, 0)", "E(y) == 1", 1e6),
        ("u ~ uniform(0, 1); y = where(u > 1e-6, 1, 0)", "E(y) == 1", 1e6),  # the rarer outcome
        ("b ~ bernoulli(0.01); y = 2 * b", "E(y) == 1", 100),
        ("x ~ normal(0, 1); y = x if x < 9 else 9", "E(y) == 1", 0),  # rarer than numbers tell
        ("x ~ normal(0, 1); y = where(x > 3, x, 0)", "E(y) == 1", 740.8),
        ("x ~ normal(0, 1); y = where(x >= x, x, 0)", "E(y) == 1", 0),  # certain
        ("x ~ normal(0, 1)", "E(x) == 1", 0),
    ],
)
def test_draws_to_see_the_rarest_outcome(model: str, claim: str, draws: float) -> None:
    (case,) = registry_of(entry("claim", model, claim)).expand()
    compiled = prepare(case).compiled
    assert isinstance(compiled, Compiled)
    assert draws_to_see(compiled) == pytest.approx(draws, rel=1e-3)


def test_a_model_with_more_conditions_than_are_looked_into_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(averages, "MOST_CONDITIONS", 16)
    lines = ["w ~ uniform(0, 1)", "s0 = x"]
    lines += [f"s{i + 1} = s{i} + where(w < {i / 20!r}, 1, 0)" for i in range(17)]
    claim = "E(s17) <= 1000"
    found = verify(claim, sample=noise, model="\n".join(lines), undecided="pass", max_draws=MOST)
    assert (found.verdict, found.draws) == (OPEN, 0)
    assert "the model has 17 conditions" in str(found.explanation)


def test_what_the_model_bounds_is_decided_though_draws_agree() -> None:
    model = "m ~ bernoulli(0.3); y = where(m, 5, 1)"
    assert verdicts(model, "E(y, given=m == 1) == 5", [0], 1e-6) == [VERIFIED]
    assert verdicts(model, "E(y, given=m == 1) == 4", [0], 1e-6) == [REFUTED]


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Corr(y, x) == 1", VERIFIED),
        ("Corr(y, x) == 0.95", REFUTED),
        ("Corr(y, x) <= 0.5", REFUTED),
        ("Corr(y, x) < 1", OPEN),
        ("E(y) / E(x) == 0.999", OPEN),  # y may differ once in 100,000 draws
    ],
)
def test_two_arrays_that_are_one_are_decided_where_little_cannot_change_it(
    claim: str, expected: Verdict
) -> None:
    def draw(generator: np.random.Generator, count: int) -> dict[str, object]:
        x = generator.exponential(1, count)
        return {"x": x, "y": x.copy()}

    try:
        found = verify(claim, sample=draw, seed=0, max_draws=MOST, resolution=1e-4)
    except ClaimFailedError as error:
        found = error.result
    assert found.verdict is expected


def test_a_constant_is_looked_at_where_it_is_known_to_be_one() -> None:
    model = "m ~ bernoulli(0); x, w ~ normal(0, 1); y = log(20 + x * w)"
    found = judged(model, "E((1 - m) * y) == E(y)", asymptotic=True)
    needed = np.log(1e6) / intervals.RAREST_SEEN
    assert needed <= found.draws < 1.2 * needed
    assert (found.guarantee, found.verdict) == (Guarantee.ASYMPTOTIC, VERIFIED)
