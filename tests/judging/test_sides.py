"""At what scale a claim is judged, and whether what is verified says anything of it."""

from __future__ import annotations

import pytest
from trials import OPEN, REFUTED, VERIFIED, N, judged

from dropcheck.reasons import Reason
from dropcheck.vocabulary import special

TWO = "x, y ~ normal(0, 1)"
NEAR_ONE = float(special.ndtr(2.0))  # 0.97725
# y and w go with x by so much; the covariances are these numbers
PAIR = "x, e, f ~ normal(0, 1); y = {left} * x + e; w = {right} * x + f"
# no closed form: w makes both means 0, whatever the rest is
NO_MEAN = (
    "x, y, z, w ~ normal(0, 1); u = sin(exp(x + y * z)) * w + {mean}; "
    "v = cos(exp(x * y) + z) * w + {mean}"
)


@pytest.mark.parametrize(
    ("claim", "verdict", "scale"),
    [
        ("P(x <= 2) == 0.975", REFUTED, 0.025),  # 9% off in the tail
        ("P(x > 2) == 0.025", REFUTED, 0.025),  # the same claim
        ("1 - P(x > 2) == 0.975", REFUTED, 0.025),
        ("2 * P(x <= 2) - 1 == 0.95", REFUTED, 0.05),
        ("P(x <= 2) <= 0.975", REFUTED, 0.025),
        (f"P(x <= 2) == {NEAR_ONE}", VERIFIED, 1 - NEAR_ONE),
        ("0.97 <= P(x <= 2) <= 0.99", VERIFIED, 0.03),
        ("0.9 <= P(x <= 2) <= 1", VERIFIED, 0.1),
        ("P(x <= 2) < 1", VERIFIED, 1.0),
        ("P(x <= 0) - 0.5 == 0", VERIFIED, 0.5),
        ("P(x <= 2, given=y > 0) == 0.975", REFUTED, 0.025),
    ],
)
def test_a_probability_is_judged_by_the_smaller_of_it_and_its_opposite(
    claim: str, verdict: object, scale: float
) -> None:
    found = judged(TWO, claim)
    assert found.verdict is verdict
    assert found.scale == pytest.approx(scale)


def test_two_probabilities_near_1_are_told_apart() -> None:
    found = judged(TWO, "P(x <= 2) == P(y <= 2.02)")
    assert found.verdict is REFUTED
    assert found.scale == pytest.approx(1 - NEAR_ONE, rel=0.1)


@pytest.mark.parametrize(("right", "verdict"), [(0.3, VERIFIED), (0.315, REFUTED)])
def test_small_quantities_are_judged_at_their_own_scale(right: float, verdict: object) -> None:
    found = judged(PAIR.format(left=0.3, right=right), "Cov(x, y) == Cov(x, w)")
    assert found.verdict is verdict
    assert found.scale == pytest.approx(right, rel=0.05)
    assert found.sides == pytest.approx((0.3, right), abs=0.01)
    if verdict is VERIFIED:
        assert found.within == pytest.approx(0.003, rel=0.05)


def test_where_both_sides_may_be_0_the_size_of_what_is_estimated_is_the_scale() -> None:
    exactly = judged(TWO, "E(x) == E(y)")
    assert exactly.verdict is VERIFIED
    assert exactly.scale == pytest.approx(1.0, rel=0.05)
    by_draws = judged(NO_MEAN.format(mean=0), "E(u) == E(v)")
    assert by_draws.exact is None
    assert by_draws.verdict is VERIFIED
    assert by_draws.scale == pytest.approx(0.7, rel=0.05)
    assert by_draws.draws < 5e6


@pytest.mark.parametrize("model", ["x ~ normal(0.011, 1); y ~ normal(0.011, 1)"])
def test_what_draws_cannot_pay_for_is_undecided_with_its_price(model: str) -> None:
    found = judged(model, "E(x) == E(y)", most=1_000_000)
    assert found.verdict is OPEN
    assert found.scale == pytest.approx(0.011, rel=0.3)
    # two means of variance 1 to within 1.1e-4, at 1 - 1e-6: about 2 (5 / 1.1e-4)^2
    assert found.more_draws is not None
    assert 1e9 < found.more_draws < 1e11


PAY = "pay ~ bernoulli(1e-5)"


@pytest.mark.parametrize(
    ("model", "claim", "keys", "verdict"),
    [
        (PAY, "E(1e5 * pay - 2) == 0", "", REFUTED),  # it is -1, and the size 316
        (PAY, "E(2e5 * pay - 2) == 0", "", VERIFIED),
        ("x ~ normal(3, 1); b ~ bernoulli(1e-6)", "E(x) - 2 * E(1e6 * b) == 0", "", REFUTED),
        (NO_MEAN.format(mean=3), "E(u) + E(v) - 12 == 0", "within: 20", REFUTED),
        (N, "E(x**2) == 1.6", "within: 1", REFUTED),
        (N, "E(x**2) == 1", "within: 1", VERIFIED),
    ],
)
def test_a_promise_is_no_more_than_half_of_what_is_compared(
    model: str, claim: str, keys: str, verdict: object
) -> None:
    found = judged(model, claim, keys, draws_only=True)
    assert found.verdict is verdict
    if verdict is VERIFIED:
        assert found.sharpness is not None
        assert found.sharpness.narrowed
        # a hundredth of the resolution is allowed by the text itself
        assert 0 < (found.within or 0) <= 1.02 * found.sharpness.widening <= 1.02


def test_what_draws_cannot_pay_for_is_not_verified_coarsely() -> None:
    found = judged(PAY, "E(2e5 * pay - 2) == 0", most=20_000, plain=True)
    assert found.verdict is OPEN
    assert found.more_draws is not None


HEAVY = "x ~ laplace(0, 1); z ~ normal(0, 1); y = z + exp(0.6 * abs(x))"


@pytest.mark.parametrize(
    ("claim", "keys", "verdict", "scale"),
    [
        ("E(y - 2.5) == 0", "within: 1", VERIFIED, 2.5),
        ("E(y) - 2.5 == 0", "within: 1", VERIFIED, 2.5),
        ("E(y - 3) == 0", "", REFUTED, 3.0),
        ("E(z * exp(0.6 * abs(x))) == 0", "", OPEN, None),
        ("E(y) >= 0", "", VERIFIED, None),
    ],
)
def test_a_size_without_a_second_moment_is_no_scale(
    claim: str, keys: str, verdict: object, scale: float | None
) -> None:
    found = judged(HEAVY, claim, keys)
    assert found.verdict is verdict
    assert found.scale == (None if scale is None else pytest.approx(scale))
    if verdict is OPEN:
        assert found.reason is Reason.NO_SCALE


PROMISES = [
    (N, "E(x**2) == {:.6f}", 1.0, 0.01),
    (N, "E(x**2) <= {:.6f}", 1.0, 0.01),
    (N, "E(x**2) >= {:.6f}", 1.0, 0.01),
    (N, "{:.6f} <= E(x**2) <= 1.2", 1.0, 0.01),
    (N, "P(x <= 2) == {:.6f}", NEAR_ONE, 2.3e-4),
    (TWO, "E(x**2) == E(y**2) + {:.6f}", 0.0, 0.01),
    (TWO, "E(x**2) <= E(y**2) + {:.6f}", 0.0, 0.01),
    (PAIR.format(left=0.5, right=0.5), "Cov(x, y) == Cov(x, w) + {:.6f}", 0.0, 0.005),
]


@pytest.mark.parametrize(("model", "claim", "truth", "resolution"), PROMISES)
def test_what_is_verified_is_no_farther_off_than_is_promised(
    model: str, claim: str, truth: float, resolution: float
) -> None:
    verified = 0  # the seed is fixed, and the error rate of each is 1e-6
    for share in (-1.5, -0.4, 0.0, 0.4, 1.5):
        found = judged(model, claim.format(truth + share * resolution))
        if found.verdict is not VERIFIED:
            continue
        verified += 1
        assert found.exact is not None
        assert found.region is not None
        assert found.within is not None
        away = max(found.region.low - found.exact.value, found.exact.value - found.region.high)
        assert away <= found.within + 1e-9
    assert verified >= 2


def test_two_small_probabilities_are_compared_at_their_own_scale() -> None:
    """P(x > 3) is 0.00135, and P(x < -4) a fortieth of it."""
    assert judged(N, "P(x > 3) == P(x < -4)", most=1_000_000).verdict == REFUTED
    assert judged(N, "P(x > 1) == P(x < -1)").verdict == VERIFIED


@pytest.mark.parametrize(
    ("model", "claim"),
    [
        ("x ~ uniform(0, 1)", "E(1e300 * x) / E(1e308 * x) == -1e308"),
        ("x ~ uniform(0, 1)", "E(x + 1e308) - E(x) == 0"),
        (N, "E(-1e308 * x) / E(1e154 * x) == 0"),
        ("x ~ bernoulli(0.5)", "E(x) * E(x**2) * 1e308 <= 1e154"),
        ("x ~ bernoulli(0.5)", "E(x + 1e300) - E(x) == -1e308"),
        ("x ~ exponential(1)", "E(x * 1e154) * 1e154 == 1e308"),
        ("x ~ student_t(3)", "E(x * -1e308) * 0 == 1"),
    ],
)
def test_numbers_too_large_to_be_told_are_no_trouble(model: str, claim: str) -> None:
    # a warning of numpy's is an error in these tests
    assert judged(model, claim, most=10_000).verdict is not VERIFIED
