"""The error budget: shares never sum to more than there is; nothing here is random."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from dropcheck.inference.budget import case_alpha, looks

counts = st.integers(min_value=1, max_value=10**9)


@given(planned=counts, fewest=counts, most=counts, alpha=st.sampled_from([0.1, 1e-6]))
def test_looks_spend_no_more_than_the_case_has(
    planned: int, fewest: int, most: int, alpha: float
) -> None:
    plan = list(looks(planned, min(fewest, most), most, alpha))
    assert sum(look.alpha for look in plan) <= alpha * (1 + 1e-12)
    assert all(look.alpha > 0 for look in plan)


def test_nothing_planned_is_looked_at_too() -> None:
    assert [look.draws for look in looks(0, 0, 3, 0.01)] == [1, 2, 3]


@example(planned=2, fewest=1, most=2)  # both early looks would be at the first draw
@given(planned=counts, fewest=counts, most=counts)
def test_looks_go_on_to_the_end_of_the_budget(planned: int, fewest: int, most: int) -> None:
    fewest = min(fewest, most)
    draws = [look.draws for look in looks(planned, fewest, most, 0.01)]
    assert draws == sorted(set(draws))
    assert draws[-1] == most
    assert draws[0] >= min(fewest, most)


def test_most_is_spent_where_the_verdict_is_expected() -> None:
    plan = list(looks(16_000, 100, 10**6, 1.0))
    dearest = max(plan, key=lambda look: look.alpha)
    assert dearest.draws == 16_000
    assert dearest.alpha > 0.5


def test_equal_shares_without_end_would_spend_too_much() -> None:
    plan = list(looks(1600, 10, 10**9, 0.01))
    assert len(plan) * 0.6 * 0.01 > 0.01  # so the shares must fall, and they do
    shares = [look.alpha for look in plan[2:]]
    assert shares == sorted(shares, reverse=True)


def test_each_case_has_its_share_of_the_registry() -> None:
    assert case_alpha(1e-6, registry_cases=200, selected_cases=1) == 1e-6 / 200
    assert case_alpha(1e-6, registry_cases=200, selected_cases=200) == 1e-6 / 200


def test_a_sweep_wider_than_the_registry_is_divided_further() -> None:
    assert case_alpha(1e-6, registry_cases=3, selected_cases=1000) == 1e-6 / 1000


def test_an_empty_registry_divides_nothing() -> None:
    assert case_alpha(1e-6, 0, 0) == 1e-6


def test_what_seems_out_of_reach_is_looked_at_on_the_way() -> None:
    assert [look.draws for look in looks(10**15, 10, 1600, 0.01)] == [100, 400, 1600]
