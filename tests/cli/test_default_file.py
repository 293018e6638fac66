"""Which claims a command speaks of that names no file, and where others may not stand in."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_stub import Cli

GATES = (("run",), ("check",), ("mutate",), ("plan",))
CLAIMS = "dropcheck: 1\nclaims: {one: {title: One, claim: 1 == 1}}\n"
NOTE = "note: no claims.yaml here: these are the claims that ship with dropcheck\n"
REFUSED = (
    "error: there is no claims.yaml here\n"
    "hint: name a file: --file FILE; the claims that ship with dropcheck: --file shipped\n"
)


@pytest.fixture
def verify() -> None:
    """Claims are really tried."""


@pytest.fixture
def elsewhere(cli: Cli, tmp_path: Path) -> Cli:
    """The command in a folder without a claims file."""
    (tmp_path / "claims.yaml").unlink()
    return cli


@pytest.mark.parametrize(("variable", "value"), [("CI", "1"), ("GITHUB_ACTIONS", "true")])
def test_under_ci_no_other_claims_stand_in(
    elsewhere: Cli, monkeypatch: pytest.MonkeyPatch, value: str, variable: str
) -> None:
    monkeypatch.setenv(variable, value)
    told = elsewhere("check")  # nor does one where nothing is named
    assert (told.code, told.err) == (2, REFUSED)
    for gate in ("run", "mutate", "plan"):
        told = elsewhere(gate, "qk-variance")
        assert (told.code, told.err) == (2, REFUSED)
    monkeypatch.setenv(variable, "false")
    assert elsewhere("run", "qk-variance", "--exact").code == 0


def test_a_run_says_whose_claims_it_tries(elsewhere: Cli) -> None:
    assert elsewhere("run", "qk-variance", "--seed", "0").err == NOTE
    assert elsewhere("run", "qk-variance", "--file", "shipped").err == ""


@pytest.mark.parametrize("gate", [*GATES, ("list",)])
@pytest.mark.parametrize("ci", ["", "true"])
def test_another_ending_is_not_passed_over(
    elsewhere: Cli, monkeypatch: pytest.MonkeyPatch, gate: tuple[str], ci: str
) -> None:
    monkeypatch.setenv("CI", ci)
    Path("claims.yml").write_text(CLAIMS, encoding="utf-8")
    told = elsewhere(*gate)
    assert told.code == 2
    assert told.err == (
        "error: claims.yml is not read\n"
        "hint: rename it to claims.yaml, or name it: --file claims.yml\n"
    )
