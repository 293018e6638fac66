"""A search in every report: one row, the value that its figures are at, and what was tried."""

from __future__ import annotations

import csv
import io
import json
import shlex
from pathlib import Path

import pytest
from cli_stub import Cli

from dropcheck.api import ClaimFailedError, verify

TEXT = """\
dropcheck: 1
claims:
  coins:
    title: Half of all coins show heads
    parameters: {n: any in 1..100}
    model: x ~ bernoulli(0.5)[n]
    claim: E(sum(x)) == n / 2
    resolution: 0.1
  spread:
    title: A variance that is wrong but of one deviation
    parameters: {sd: any in 0..3}
    requires: sd > 0
    model: x ~ normal(0, sd)
    claim: Var(x) == sd
    resolution: 0.1
  open:
    title: No mean
    parameters: {mu: any in 0..1}
    model: x ~ cauchy(mu, 1)
    claim: E(x) == mu
"""


@pytest.fixture
def cli(folder: Path, monkeypatch: pytest.MonkeyPatch, program: Cli) -> Cli:
    """The commands themselves, in a folder with these claims."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    Path("claims.yaml").write_text(TEXT)
    return program


def test_every_report_shows_a_search_as_one_case(cli: Cli) -> None:
    outputs = ("-o", "run.xml", "-o", "run.csv", "-o", "run.md", "-o", "run.html", "-o", "run.json")
    result = cli("run", *outputs)
    assert result.code == 1
    assert "n=any in 1..100 (50 tried, worst at n=" in result.out
    assert "sd=any in 0..3 (fails at sd=2)" in result.out
    assert "(undecided at mu=0)" in result.out
    assert "tried 1 value of sd (any in 0..3): refuted at sd = 2, the simplest of " in result.out
    assert "tried 50 values of mu (any in 0..1): none refuted, 50 undecided" in result.out
    assert "3 cases: 1 passed, 1 failed, 1 undecided" in result.out
    junit = Path("run.xml").read_text()
    assert 'name="spread[sd=any in 0..3]"' in junit
    assert "refuted at sd = 2" in junit
    for report in ("run.md", "run.html"):
        assert "sd=any in 0..3 (fails at sd=2)" in Path(report).read_text(encoding="utf-8")
    rows = [*csv.DictReader(io.StringIO(Path("run.csv").read_text()))]
    assert [(row["parameters"], row["at"], row["tried"]) for row in rows][1:] == [
        ("sd=any in 0..3", "sd=2", "1"),
        ("mu=any in 0..1", "mu=0", "50"),
    ]
    cases = json.loads(Path("run.json").read_text())["cases"]
    assert [case["parameters"] for case in cases][1] == {"sd": "any in 0..3"}
    search = cases[0]["search"]
    assert search["says"] == "tried 50 values of n (any in 1..100): none refuted"
    assert (search["every"], search["most"], len(search["tried"]), search["again"]) == (
        False, 50, 50, [],
    )  # fmt: skip
    assert search["tried"][0] | {"draws": 0} == {
        "parameters": {"n": 1}, "verdict": "verified", "result": "pass", "draws": 0,
    }  # fmt: skip


def test_the_command_repeats_what_was_found(cli: Cli) -> None:
    cases = json.loads(cli("run", "--format", "json").out)["cases"]
    for case in cases:
        words = shlex.split(case["repeat"])[1:]
        (again,) = json.loads(cli(*words, "--format", "json").out)["cases"]
        assert again["result"] == case["result"]
        at_value = case["result"] != "pass"
        assert (again["search"] is None) == at_value
        assert "any in" not in case["repeat"] or not at_value


def test_a_search_is_set_on_the_command_line_and_replaced_there(cli: Cli) -> None:
    result = cli("run", "coins", "--n", "any in 1..3", "--format", "json")
    (case,) = json.loads(result.out)["cases"]
    assert case["search"]["says"] == "tried all 3 values of n (any in 1..3): none refuted"
    result = cli("run", "coins", "--n", "3,4", "--format", "json")
    assert [case["search"] for case in json.loads(result.out)["cases"]] == [None, None]
    refused = cli("run", "coins", "--n", "any in 3..1")
    assert "--n: 'any in 3..1' holds no number: its end is below its start" in refused.err


def test_what_failed_is_searched_again(cli: Cli) -> None:
    assert cli("run").code == 1
    again = json.loads(cli("run", "--last-failed", "--format", "json").out)["cases"]
    assert [case["claim"] for case in again] == ["spread", "open"]


def test_other_commands_look_at_some_values(cli: Cli) -> None:
    assert cli("check").out == "claims.yaml: 3 claims, 3 cases, no errors\n"
    shown = cli("show", "coins").out
    assert "n = any in 1..100" in shown
    assert "50 at n = 100" in shown
    planned = json.loads(cli("plan", "coins", "--format", "json").out)["cases"][0]
    one = json.loads(cli("plan", "coins", "--n", "38", "--format", "json").out)["cases"][0]
    assert planned["draws"] > 20 * one["draws"]
    mutated = json.loads(cli("mutate", "coins", "--format", "json").out)["claims"][0]
    assert mutated["parameters"]["n"] in (1, 38, 100)


def test_an_audit_repeats_the_values_that_a_check_looks_at(cli: Cli) -> None:
    audited = json.loads(
        cli("audit", "coins", "-f", "claims.yaml", "-n", "2", "--format", "json").out
    )
    assert sorted(row["parameters"]["n"] for row in audited["rows"]) == [1, 38, 100]


def test_a_search_in_python() -> None:
    result = verify("0 == (n > 36)", n="any in 1..30")
    assert result.search is not None
    with pytest.raises(ClaimFailedError, match="n = 37"):
        verify("0 == (n > 36)", n="any in 1..100 by 1")
