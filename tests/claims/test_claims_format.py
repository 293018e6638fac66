"""What is not a claims file: all errors at once, and how much is too much."""

from __future__ import annotations

import time

from claims_texts import WHOLE, claim_of, file_with, place, problems_of, the_problem

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import MOST_CASES
from dropcheck.errors import MOST_PROBLEMS


def test_all_errors_at_once_in_file_order() -> None:
    text = (
        WHOLE.replace("expect: refuted", "expect: no")
        .replace("resolution: 0.02", "resolution: -1")
        .replace("document: post", "document: &x pots")
        .replace("section: Some", "section: !!str Some")
    )
    places = [place(problem) for problem in problems_of(text)]
    assert places == [(10, 15), (17, 15), (17, 15), (18, 14), (39, 13)]


def test_a_huge_grid_is_refused_before_it_is_expanded() -> None:
    values = list(range(40))
    grid = ", ".join(f"p{n}: {values}" for n in range(30))  # 40**30 cases
    start = time.process_time()
    problem = the_problem(file_with(f"title: T\nclaim: 1 == 1\nparameters: {{{grid}}}"))
    assert "cases (40 × 40 × " in problem.message
    assert f"the most is {MOST_CASES:,}" in problem.message
    assert place(problem) == (6, 5)
    assert time.process_time() - start < 2


def test_the_largest_grid_is_accepted() -> None:
    values = list(range(MOST_CASES // 10))
    claim = claim_of(f"title: T\nclaim: 1 == 1\nparameters: {{a: {values}, b: {values[:10]}}}")
    assert len(claim.expand()) == MOST_CASES


def test_many_large_grids_are_refused_together() -> None:
    claims = "".join(
        f"  c{n}: {{title: T, claim: 1 == 1, parameters: {{a: &, b: &}}}}\n" for n in range(11)
    ).replace("&", str(list(range(316))))
    assert "the file has 1,098,416 cases" in the_problem("dropcheck: 1\nclaims:\n" + claims).message


def test_of_very_many_errors_the_first_are_reported() -> None:
    text = file_with("title: T\nclaim: 1 == 1\n" + "\n".join(f"k{n}: 1" for n in range(3_000)))
    found = problems_of(text)
    assert len(found) == MOST_PROBLEMS + 1
    assert found[-1].message == "there are more problems"


def test_a_thousand_claims_are_read_quickly() -> None:
    claims = "".join(
        f"  c{n}:\n    title: Claim {n}\n    parameters: {{p: [0.1, 0.5]}}\n"
        f"    model: |\n      x ~ normal(0, 1)\n      y = x * p\n    claim: E(y) == 0\n"
        for n in range(1_000)
    )
    start = time.process_time()
    registry = read_text("dropcheck: 1\nclaims:\n" + claims)
    assert len(registry.claims) == 1_000
    assert time.process_time() - start < 2  # 0.1 s on a quiet machine
