"""One claim's way from text to verdict: parsed once, and each of its cases lowered once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from trials import entry, registry_of

from dropcheck.language import cases
from dropcheck.language.cases import CaseGraphs
from dropcheck.language.checks import check_registry
from dropcheck.planning.plan import plan_cases
from dropcheck.results import Settings, Verdict
from dropcheck.running import verify_cases

REGISTRY = registry_of(
    entry("square", "x ~ normal(m, 1)", "E(x**2) == m**2 + 1", "parameters: {m: [0, 1, 2, 3]}"),
    entry("event", "x ~ normal(0, s)", "P(x > 0) == 1/2", "parameters: {s: [1, 2, 3]}"),
    entry("sum", "", "n + n == 2 * n", "parameters: {n: [1, 2]}"),
)
SETTINGS = Settings(max_draws=20_000, threads=1)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a claim was parsed and a case lowered."""
    counts: Counter[str] = Counter()

    def counted(name: str) -> None:
        function: Callable[..., object] = getattr(cases, name)

        def call(*arguments: object) -> object:
            counts[name] += 1
            return function(*arguments)

        monkeypatch.setattr(cases, name, call)

    counted("parse_claim")
    counted("lower_case")
    return counts


def test_what_is_checked_is_what_is_run(calls: Counter[str]) -> None:
    graphs = CaseGraphs()
    assert not check_registry(REGISTRY, graphs).problems
    results = list(verify_cases(REGISTRY.expand(), SETTINGS, REGISTRY, graphs=graphs))
    assert {result.verdict for result in results} <= {Verdict.VERIFIED, Verdict.INCONCLUSIVE}
    assert calls == {"parse_claim": 3, "lower_case": 9}


def test_what_is_checked_is_what_is_planned(calls: Counter[str]) -> None:
    graphs = CaseGraphs()
    check_registry(REGISTRY, graphs)
    assert len(plan_cases(REGISTRY.expand(), SETTINGS, REGISTRY, graphs=graphs).cases) == 9
    assert calls == {"parse_claim": 3, "lower_case": 9}


def test_graphs_that_fill_the_memory_are_built_again(calls: Counter[str]) -> None:
    graphs = CaseGraphs(keep=0)
    check_registry(REGISTRY, graphs)
    list(verify_cases(REGISTRY.expand(), SETTINGS, REGISTRY, graphs=graphs))
    assert calls == {"parse_claim": 3, "lower_case": 18}
