"""A search: values are tried until one is a counterexample, and that is made simple."""

from __future__ import annotations

from typing import Any

import pytest

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Case, Registry
from dropcheck.errors import DropcheckError
from dropcheck.execution.schedule import Deadline, carried_out
from dropcheck.language.case_graphs import CaseGraphs
from dropcheck.language.checks import check_registry
from dropcheck.language.search_points import SearchPoints, cases_to_check
from dropcheck.results import CaseResult, Guarantee, Method, Outcome, Verdict
from dropcheck.running import verify_cases
from dropcheck.searching import MOST_AGAIN, MOST_TRIED, search_case
from dropcheck.settings import Settings


def case_of(parameters: str, claim: str, model: str = "", more: str = "") -> Case:
    lines = f", model: '{model}'" if model else ""
    keys = f"title: T, parameters: {{{parameters}}}, claim: '{claim}'{lines}{more}"
    (case,) = read_text(f"{{dropcheck: 1, claims: {{c: {{{keys}}}}}}}").expand()
    return case


def searched(case: Case, deadline: Deadline | None = None, **options: Any) -> CaseResult:
    settings = Settings(**{"max_draws": 20_000, **options})
    end, graphs = deadline or Deadline(), CaseGraphs(keep=0)
    return carried_out(search_case(case, settings, settings.alpha, end, graphs))


COIN = ("P(m == 1) == p", "m ~ bernoulli(p)")


def test_a_sound_claim_is_tried_at_many_values_each_once() -> None:
    found = searched(case_of("p: any in 0..1", *COIN), resolution=0.3, max_draws=300_000)
    assert found.search is not None
    tried = [one.parameters["p"] for one in found.search.tried]
    assert tried[:2] == [0, 1]
    assert len(set(tried)) == len(tried) == found.search.most == MOST_TRIED
    assert all(0 <= value <= 1 for value in tried)
    assert min(tried[2:]) < 0.03
    assert max(tried[2:]) > 0.97
    assert {one.result for one in found.search.tried} <= {Outcome.PASS, Outcome.UNDECIDED}
    assert found.draws >= sum(one.draws for one in found.search.tried)
    assert found.parameters == {"p": "any in 0..1"}


def test_every_case_that_is_judged_has_its_share_of_the_error() -> None:
    found = searched(case_of("p: any in 0.2..0.8", *COIN), alpha=0.01)
    assert 1 - found.confidence == pytest.approx(0.01 / (MOST_TRIED + MOST_AGAIN), rel=1e-9)
    few = searched(case_of("n: any in 1..4", "E(sum(x)) == 0", "x ~ rademacher()[n]"), alpha=0.01)
    assert 1 - few.confidence == pytest.approx(0.01 / (4 + MOST_AGAIN), rel=1e-9)
    hard = searched(case_of("n: any in 1..10**9, m: any in 1..10**9", "0 == (n * m > 10**7)"))
    assert hard.search is not None
    assert len(hard.search.tried) <= MOST_TRIED
    assert len(hard.search.again) <= MOST_AGAIN


def test_few_values_are_all_tried() -> None:
    found = searched(case_of("n: any in 1..4, b: any in 0..1 by 0.5", "n + b >= 1"))
    assert found.search is not None
    assert (found.search.every, len(found.search.tried), found.search.most) == (False, 50, 50)
    found = searched(case_of("n: any in 1..4 by 1, b: any in 0..1 by 0.5", "n + b >= 1"))
    assert found.search is not None
    assert (found.search.every, len(found.search.tried), found.search.most) == (True, 12, 12)


SIMPLEST: dict[str, tuple[Any, ...]] = {
    "a threshold": ("n: any in 1..1000 by 1", "0 == (n >= 37)", {"n": 37}),
    "of a negative number": ("n: any in -1000..1000 by 1", "0 == (n <= -37)", {"n": -37}),
    "a share": ("p: any in 0..0.9", "0 == (p > 0.3)", {"p": 0.4}),
    "a whole number before a share": ("p: any in 0..5", "0 == (p > 0.3)", {"p": 1}),
    "two decimals where one will not do": ("p: any in 0..1", "0 == (0.3 < p < 0.4)", {"p": 0.31}),
    "0 where it fails": ("x: any in -3..3", "x != x", {"x": 0}),
    "a power of 2": ("n: any in 2..4096 by x2", "0 == (n > 100)", {"n": 128}),
    "each of two": ("a: any in 0..9, b: any in 0..9", "0 == (a >= 3 and b >= 2)", {"a": 3, "b": 2}),
    "as allowed": ("n: any in 1..1000 by 1", "0 == (n >= 37)", {"n": 40}, "n % 10 == 0"),
}


@pytest.mark.parametrize("what", SIMPLEST)
def test_a_counterexample_is_made_as_simple_as_it_can_be(what: str) -> None:
    parameters, claim, simplest, *requires = SIMPLEST[what]
    more = f", requires: '{requires[0]}'" if requires else ""
    claim = claim.replace("x != x", "1 == 2 + 0 * x")
    found = searched(case_of(str(parameters), claim, more=more))
    assert (found.verdict, found.result) == (Verdict.REFUTED, Outcome.FAIL)
    assert found.search is not None
    assert found.search.at == simplest


def test_a_counterexample_is_found_by_draws_too() -> None:
    wrong = case_of(
        "n: any in 1..100, sd: any in 0..3", "Var(sum(x)) == n * sd", "x ~ normal(0, sd)[n]",
        ", requires: sd > 0",
    )  # fmt: skip
    found = searched(wrong, max_draws=200_000)
    assert found.search is not None
    assert (found.result, found.search.at) == (Outcome.FAIL, {"n": 1, "sd": 2})


def test_what_is_expected_to_be_false_is_to_be_false_at_every_value() -> None:
    false = case_of("mu: any in 1..5", "E(x) == mu + 1", "x ~ normal(mu, 1)", ", expect: refuted")
    found = searched(false, max_draws=200_000)
    assert (found.result, found.verdict) == (Outcome.PASS, Verdict.REFUTED)
    at_one = case_of("mu: any in 0..5", "E(x) == mu**2", "x ~ normal(mu, 1)", ", expect: refuted")
    found = searched(at_one, max_draws=2_000_000)
    assert found.search is not None
    assert (found.result, found.verdict) == (Outcome.FAIL, Verdict.VERIFIED)
    assert found.search.at == {"mu": 0}


def test_what_is_undecided_anywhere_is_undecided() -> None:
    found = searched(case_of("mu: any in -1..1", "E(x) == mu", "x ~ cauchy(mu, 1)"))
    assert found.result is Outcome.UNDECIDED
    assert found.explanation is not None


def test_the_same_seed_tries_the_same_values() -> None:
    case = case_of("p: any in 0..1", "p == p")
    tries = [searched(case, seed=seed).search for seed in (0, 0, 1)]
    assert tries[0] == tries[1]
    assert tries[0] is not None
    assert tries[2] is not None
    assert tries[0].tried[3:] != tries[2].tried[3:]


def test_the_end_of_the_time_ends_a_search() -> None:
    times = iter(range(10**6))
    end = Deadline.after(40.0, lambda: float(next(times)))
    found = searched(case_of("p: any in 0..1", *COIN), deadline=end)
    assert found.search is not None
    assert 1 <= len(found.search.tried) < MOST_TRIED


def test_conditions_are_kept() -> None:
    case = case_of("p: any in 0..1, n: any in 1..50", "p * n < 5", more=", requires: p * n < 5")
    found = searched(case)
    assert found.result is Outcome.PASS
    never = case_of("p: any in 0..1", "p == p", more=", requires: p > 2")
    (problem,) = check_registry(read_registry_of(never)).problems
    assert problem.message == "no value of p (any in 0..1) was found that c allows"
    with pytest.raises(DropcheckError, match="no value of p"):
        searched(never)


def read_registry_of(case: Case) -> Registry:
    """The registry of the one claim of a case."""
    return Registry("claims.yaml", {}, {case.claim.id: case.claim})


def test_the_check_looks_at_the_ends() -> None:
    case = case_of("p: any in 0..1", "E(m / (1 - p)) == 1", "m ~ bernoulli(1 - p)")
    (problem,) = check_registry(read_registry_of(case)).problems
    assert "division by zero where p = 1" in problem.message
    case = case_of("p: any in 0..2", *COIN)
    problems = check_registry(read_registry_of(case)).problems
    assert any("2" in problem.message for problem in problems)


def test_an_error_at_a_value_that_is_tried_names_it() -> None:
    case = case_of("n: any in 0..60 by 1", "1 / (n - 30) < 9")
    with pytest.raises(DropcheckError, match="n = 30"):
        searched(case)


def test_numbers_are_whole_where_the_claim_takes_no_others() -> None:
    graphs = CaseGraphs()
    for parameters, claim, model, whole in (
        ("n: any in 1..100", "E(sum(x)) == 0", "x ~ normal(0, 1)[n]", {"n"}),
        ("n: any in 1..100", "E(x) == n", "x ~ normal(n, 1)", set()),
        ("n: any in 1..9, p: any in 0..1", "E(x) == n * p", "x ~ binomial(n, p)", {"n"}),
        ("n: any in 1..9, k: any in 0..2", "E(x[k]) == 0", "x ~ normal(0, 1)[n + 2]", {"n", "k"}),
        ("n: any in 0.5..9", "E(x) == n", "x ~ normal(n, 1)", set()),
    ):
        points = SearchPoints(case_of(parameters, claim, model), graphs)
        found = {name for name, one in points.searches.items() if one.count is not None}
        assert found == whole, parameters
        for point in [points.middle, *points.corners()]:
            assert all(point[name] % 1 == 0 for name in whole)


ENDS = (("mean", "pass"), ("variance", "pass"), ("wrong", "fail"))


def test_a_grid_is_crossed_with_a_search_and_statements_are_searched_apart() -> None:
    text = (
        "dropcheck: 1\nclaims:\n  c:\n    title: T\n"
        "    parameters: {law: [rademacher(), 'normal(0, 1)'], n: any in 1..9}\n"
        "    model: x ~ law[n]\n"
        "    claims: {mean: E(sum(x)) == 0, variance: Var(sum(x)) == n, wrong: Var(sum(x)) == 2}\n"
    )
    registry = read_text(text)
    assert registry.case_count == 6
    assert [len(cases_to_check(case, CaseGraphs())) for case in registry.expand()] == [3] * 6
    results = [*verify_cases(registry.expand(), Settings(resolution=0.1), registry)]
    ends = [(one.claim, one.result.value) for one in results]
    assert ends == [(f"c.{name}", end) for name, end in ENDS for _ in range(2)]
    assert [one.search.at for one in results[4:] if one.search] == [{"n": 1}] * 2
    assert all(one.repeat.count("--n") == 1 for one in results)


@pytest.mark.parametrize(
    "claim", ["abs(Median(x) - p) <= 0.1", "x == p", "x * (1 - x) == p * (1 - p)"]
)
def test_ends_at_which_nothing_is_random_hide_no_error(claim: str) -> None:
    """At p = 0 and p = 1 the draw is a number; whole numbers are meant only if some lie between."""
    with pytest.raises(DropcheckError):
        searched(case_of("p: any in 0..1", claim, "x ~ bernoulli(p)"))


@pytest.mark.parametrize(
    ("factor", "verdict"), [("1", Verdict.VERIFIED), ("1.02", Verdict.REFUTED)]
)
def test_what_few_draws_leave_open_is_decided_by_the_exact_value(
    factor: str, verdict: Verdict
) -> None:
    claim = f"Var(x) == 5 * p * (1 - p) * {factor}"
    found = searched(case_of("p: any in 0.001..0.999", claim, "x ~ binomial(5, p)"), max_draws=500)
    assert found.verdict is verdict
    assert (found.guarantee, found.method) == (Guarantee.EXACT, Method.EXACT_VALUE)
    assert found.draws > 0


def test_what_few_draws_leave_open_stays_open_without_an_exact_value() -> None:
    unknown = case_of("p: any in 0.1..0.9", "E(tanh(x * y * p)) == 0", "x, y ~ normal(0, 1)")
    assert searched(unknown, max_draws=500).verdict is Verdict.INCONCLUSIVE
