"""Which claims a command speaks of that names no file, and where others may not stand in."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_stub import Cli

from dropcheck.cli import main

GATES = (("run",), ("check",), ("mutate",), ("plan",))
CLAIMS = "dropcheck: 1\nclaims: {one: {title: One, claim: 1 == 1}}\n"
SHIPPED = "claims.yaml (shipped with dropcheck)"
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


@pytest.fixture
def here(cli: Cli, tmp_path: Path) -> Cli:
    """The command in a folder with a claims file of its own."""
    (tmp_path / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
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


@pytest.mark.parametrize("gate", [("check", "--file"), ("check",), ("check", "-f")])
def test_under_ci_the_shipped_claims_can_be_named(
    elsewhere: Cli, monkeypatch: pytest.MonkeyPatch, gate: tuple[str, ...]
) -> None:
    monkeypatch.setenv("CI", "true")
    told = elsewhere(*gate, "shipped")
    assert (told.code, told.err) == (0, "")
    assert SHIPPED in told.out


def test_a_file_that_is_called_shipped_is_named_by_its_path(elsewhere: Cli) -> None:
    Path("shipped").write_text(CLAIMS, encoding="utf-8")
    assert elsewhere("check", "shipped").out.startswith(SHIPPED)
    assert elsewhere("check", "./shipped").out.startswith("./shipped")


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


def test_another_ending_beside_the_usual_one_or_named_is_no_error(here: Cli) -> None:
    Path("claims.yml").write_text(CLAIMS, encoding="utf-8")
    assert here("check").code == 0
    assert here("check", "claims.yml").out.startswith("claims.yml")


def test_an_unknown_id_without_a_usual_file_names_the_files_that_are_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.chdir(tmp_path)
    for name in ("another.yaml", "birthdays.yaml"):
        (tmp_path / name).write_text("")
    assert main(["run", "birthday"]) == 2
    hint = "there is no claims.yaml here; name a file: birthdays.yaml, another.yaml"
    assert hint in capsys.readouterr().err
