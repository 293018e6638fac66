"""One claim's way from text to verdict: parsed once, and each of its cases lowered once.

A mutant is a claim of its own, and is so too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from trials import entry, registry_of

from dropcheck import pytest_plugin
from dropcheck.claims.registry import Claim
from dropcheck.cli import main
from dropcheck.language import compile as compiling
from dropcheck.language.check import check_registry
from dropcheck.language.compile import CaseGraphs, ParsedClaim
from dropcheck.language.printing import unparse_model, unparse_statement
from dropcheck.planning import plan_cases
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
        parse = self._counted("parse_claim", compiling.parse_claim, what_is_parsed)
        monkeypatch.setattr(compiling, "parse_claim", parse)
        lower = self._counted("lower_case", compiling.lower_case, what_is_lowered)
        monkeypatch.setattr(compiling, "lower_case", lower)

    def _counted(
        self, name: str, function: Callable[..., object], what: Callable[..., str]
    ) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            with self.file.open("a") as out:
                out.write(f"{name} {what(*arguments)!r}\n")
            return function(*arguments, **options)

        return call

    @property
    def lines(self) -> list[str]:
        return self.file.read_text().splitlines()

    @property
    def counts(self) -> dict[str, int]:
        return Counter(line.split()[0] for line in self.lines)


def what_is_parsed(claim: Claim, *_: object) -> str:
    return f"{claim.id}: {claim.model and claim.model.text} {claim.statement.text}"


def what_is_lowered(parsed: ParsedClaim, parameters: dict[str, object], *_: object) -> str:
    written = unparse_model(parsed.model), unparse_statement(parsed.statement)
    return f"{parsed.claim.id}: {written} {sorted(parameters.items())}"


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    return Calls(tmp_path / "calls", monkeypatch)


def test_what_is_checked_is_what_is_run(calls: Calls) -> None:
    graphs = CaseGraphs()
    assert not check_registry(REGISTRY, graphs).problems
    results = list(verify_cases(REGISTRY.expand(), SETTINGS, REGISTRY, graphs=graphs))
    assert {result.verdict for result in results} <= {Verdict.VERIFIED, Verdict.UNDECIDED}
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


def claims_file(folder: Path) -> Path:
    path = folder / "claims.yaml"
    path.write_text("dropcheck: 1\nclaims:\n" + "\n".join(ENTRIES) + "\n")
    return path


@pytest.mark.parametrize("threads", [1, 2])  # two share so many cases between two processes
@pytest.mark.parametrize(
    ("arguments", "parsed", "lowered"),
    [
        ([], 3, 9),
        (["event"], 1, 3),  # what is not run is not checked
        (["event", "--set", "s=1,4,5"], 1, 3),
    ],
)
def test_the_commands_parse_a_claim_once_and_lower_a_case_once(
    calls: Calls, tmp_path: Path, threads: int, arguments: list[str], parsed: int, lowered: int
) -> None:
    path = str(claims_file(tmp_path))
    given = [*arguments, "--file", path, "--max-draws", "20000", "--threads", str(threads)]
    main(["run", *given, "--quiet", "--exit-zero"])
    assert calls.counts == {"parse_claim": parsed, "lower_case": lowered}


def test_show_reads_a_claim_once(calls: Calls, tmp_path: Path) -> None:
    main(["show", "all", "--file", str(claims_file(tmp_path))])
    assert calls.counts == {"parse_claim": 3, "lower_case": 9}


def test_what_pytest_collects_is_what_it_runs(
    calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims_file(tmp_path)
    settings = "dropcheck_files = claims.yaml\ndropcheck_max_draws = 20000\n"
    (tmp_path / "pytest.ini").write_text(f"[pytest]\n{settings}dropcheck_undecided = pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    assert pytest.main(["-q", "-p", "no:cacheprovider"], plugins=[pytest_plugin]) == 0
    assert calls.counts == {"parse_claim": 3, "lower_case": 9}


@pytest.mark.parametrize("threads", [1, 2])
def test_a_claim_and_each_of_its_mutants_are_read_once(
    calls: Calls, tmp_path: Path, threads: int
) -> None:
    given = ["--file", str(claims_file(tmp_path)), "--max-draws", "20000"]
    main(["mutate", *given, "--threads", str(threads), "--quiet"])
    assert calls.counts["parse_claim"] > 3
    # an error that comes in sizes is lowered to find its size, and again where it is judged
    again = {line: times for line, times in Counter(calls.lines).items() if times > 1}
    assert {line.split()[0] for line in again} <= {"lower_case"}
    assert {*again.values()} <= {2}


def test_a_law_given_on_the_command_line_is_read_once(calls: Calls, tmp_path: Path) -> None:
    path = tmp_path / "claims.yaml"
    given = entry("mean", "x ~ law", "E(x) == 0", "parameters: {law: 'normal(0, 1)'}")
    path.write_text(f"dropcheck: 1\nclaims:\n{given}\n")
    laws = "uniform(-1, 1), normal(0, 2)"
    main(["run", "--file", str(path), "--law", laws, "--quiet", "--exit-zero"])
    assert calls.counts == {"parse_claim": 1, "lower_case": 2}
