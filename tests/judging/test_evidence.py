"""Nothing is verified against the evidence of the draws, however much room bounds leave."""

from __future__ import annotations

import pytest
from trials import OPEN, REFUTED, VERIFIED, judged

from dropcheck.reasons import Reason

# the mean is 100.005, the deviation 1, and the root mean square, which is all that is known, 100
FAR = "u ~ normal(100, 1); v ~ normal(0, 1); r = sqrt(u**2 + v**2)"


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("E(r) == 100.5", REFUTED),
        ("E(r) == 100.3", REFUTED),
        ("E(r) == 100", VERIFIED),  # to within the resolution, which is all that bounds allow
        ("E(r) >= 100.3", REFUTED),
        ("E(r) <= 100.3", VERIFIED),
        ("99 <= E(r) <= 101", VERIFIED),
        ("E(r) == E(u) + 0.4", REFUTED),
    ],
)
def test_a_mean_far_from_0_is_judged_by_its_deviation_too(
    claim: str, verdict: object, seed: int
) -> None:
    more = "resolution: 0.05" if claim == "E(r) == 100" else ""
    assert judged(FAR, claim, more, seed=seed).verdict is verdict


def test_what_draws_speak_against_is_undecided_with_both_intervals() -> None:
    found = judged(FAR, "E(r) == 100.3", most=10_000)
    assert found.verdict is OPEN
    assert found.reason is Reason.AGAINST_EVIDENCE
    text = str(found.explanation)
    assert "[99." in text  # what the bounds leave room for
    assert "100.0" in text  # what the draws show
    assert found.interval is not None
    assert 99.3 < (found.interval[0] or 0) < 100.3 < (found.interval[1] or 0) < 101.3


def test_a_sample_without_a_deviation_speaks_against_nothing() -> None:
    # no draw is expected to be anything but 0: the interval of a large sample would be [0, 0]
    found = judged("b ~ bernoulli(1e-9); x ~ uniform(0, 1)", "E(b * x) == 0.001", "within: 0.0005")
    assert found.verdict is not VERIFIED
    found = judged("b ~ bernoulli(1e-9); x ~ uniform(0, 1)", "E(b * x) <= 0.001")
    assert found.verdict is VERIFIED
