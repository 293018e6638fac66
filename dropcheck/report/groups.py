"""Cases put together: those of a claim, those that did not pass, the worst of several."""

from __future__ import annotations

from collections.abc import Iterable

from dropcheck.report import phrases as words
from dropcheck.results import CaseResult, Outcome, Verdict

SEVERITY = {Outcome.PASS: 0, Outcome.UNDECIDED: 1, Outcome.FAIL: 2}


def by_claim(cases: Iterable[CaseResult]) -> dict[str, list[CaseResult]]:
    """The cases of each claim, in the order of their first."""
    groups: dict[str, list[CaseResult]] = {}
    for case in cases:
        groups.setdefault(case.claim, []).append(case)
    return groups


def not_passed(cases: Iterable[CaseResult]) -> list[CaseResult]:
    """The cases that did not pass, failures first."""
    bad = [case for case in cases if case.result is not Outcome.PASS]
    return sorted(bad, key=lambda case: -SEVERITY[case.result])


def worst(group: Iterable[CaseResult]) -> CaseResult:
    """The case nearest to failing: a failure before an undecided one, then the least clear."""

    def badness(case: CaseResult) -> tuple[int, float]:
        # a refuted case that is expected to be is the clearer, the further off it is
        sign = 1 if case.expect is Verdict.VERIFIED else -1
        return SEVERITY[case.result], sign * words.excess(case)

    return max(group, key=badness)


def passed_share(group: Iterable[CaseResult]) -> str:
    """How many cases of a claim passed, of several: ` 3/4`; nothing of one."""
    results = [case.result for case in group]
    return f" {results.count(Outcome.PASS)}/{len(results)}" if len(results) > 1 else ""
