"""One claim's way from text to verdict: parsed once, and each of its cases lowered once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from trials import entry, registry_of

from dropcheck.cli.app import main
from dropcheck.language import cases
from dropcheck.language.cases import CaseGraphs
from dropcheck.language.checks import check_registry
from dropcheck.planning.plan import plan_cases
from dropcheck.results import Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

ENTRIES = (
    entry("square", "x ~ normal(m, 1)", "E(x**2) == m**2 + 1", "parameters: {m: [0, 1, 2, 3]}"),
    entry("event", "x ~ normal(0, s)", "P(x > 0) == 1/2", "parameters: {s: [1, 2, 3]}"),
    entry("sum", "", "n + n == 2 * n", "parameters: {n: [1, 2]}"),
)
REGISTRY = registry_of(*ENTRIES)
SETTINGS = Settings(max_draws=20_000, threads=1)


class Calls:
    """How often a claim was parsed and a case lowered, in this process and in those forked."""

    def __init__(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.file = file
        file.touch()
        for name in ("parse_claim", "lower_case"):
            monkeypatch.setattr(cases, name, self._counted(name, getattr(cases, name)))

    def _counted(self, name: str, function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            with self.file.open("a") as out:
                out.write(f"{name}\n")
            return function(*arguments, **options)

        return call

    @property
    def counts(self) -> dict[str, int]:
        return Counter(self.file.read_text().split())


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    return Calls(tmp_path / "calls", monkeypatch)


def test_what_is_checked_is_what_is_run(calls: Calls) -> None:
    graphs = CaseGraphs()
    assert not check_registry(REGISTRY, graphs).problems
    results = list(verify_cases(REGISTRY.expand(), SETTINGS, REGISTRY, graphs=graphs))
    assert {result.verdict for result in results} <= {Verdict.VERIFIED, Verdict.INCONCLUSIVE}
    assert calls.counts == {"parse_claim": 3, "lower_case": 9}


def test_what_is_checked_is_what_is_planned(calls: Calls) -> None:
    graphs = CaseGraphs()
    check_registry(REGISTRY, graphs)
    assert len(plan_cases(REGISTRY.expand(), SETTINGS, REGISTRY, graphs=graphs).cases) == 9
    assert calls.counts == {"parse_claim": 3, "lower_case": 9}


def test_graphs_that_fill_the_memory_are_built_again(calls: Calls) -> None:
    graphs = CaseGraphs(keep=0)
    check_registry(REGISTRY, graphs)
    list(verify_cases(REGISTRY.expand(), SETTINGS, REGISTRY, graphs=graphs))
    assert calls.counts == {"parse_claim": 3, "lower_case": 18}


@pytest.mark.parametrize("threads", [1, 2])  # two share so many cases between two processes
@pytest.mark.parametrize(
    ("arguments", "lowered"),
    [
        ([], 9),
        # the whole file is checked, whatever is run of it; other values are lowered beside it
        (["event"], 9),
        (["event", "--set", "s=1,4,5"], 11),
    ],
)
def test_the_commands_parse_a_claim_once_and_lower_a_case_once(
    calls: Calls, tmp_path: Path, threads: int, arguments: list[str], lowered: int
) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text("dropcheck: 1\nclaims:\n" + "\n".join(ENTRIES) + "\n")
    given = [*arguments, "--file", str(path), "--max-draws", "20000", "--threads", str(threads)]
    main(["run", *given, "--quiet", "--exit-zero"])
    assert calls.counts == {"parse_claim": 3, "lower_case": lowered}
