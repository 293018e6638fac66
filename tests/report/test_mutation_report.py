"""What is told of errors planted in claims: table, blocks, warnings and exit codes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from mutation_cases import TOOTHLESS

from dropcheck.cli import main

pytestmark = pytest.mark.usefixtures("draws_alone")

Called = Callable[..., tuple[int, str, str]]


@pytest.fixture
def called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Called:
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "DROPCHECK_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    def call(claims: str, *arguments: str) -> tuple[int, str, str]:
        indented = "\n".join(f"    {line}" for line in claims.split("\n"))
        text = f"dropcheck: 1\nclaims:\n  c:\n    title: t\n{indented}\n"
        (tmp_path / "claims.yaml").write_text(text, encoding="utf-8")
        code = main(["mutate", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


SHARP = "model: x ~ normal(1, 2)\nclaim: E(x**2) == 5\nresolution: 0.02"
BELOW = "parameters: {n: 200}\nmodel: x ~ normal(200, 100)\nclaim: E(x) == n\ntolerance: 0.02"
OPEN = "model: x, w ~ normal(0, 1)\nclaim: E(cos(x * w)) == 1 / sqrt(2)"


@pytest.mark.parametrize(
    ("claims", "arguments", "code"),
    [
        (SHARP, [], 0),
        (BELOW, [], 1),
        (OPEN, ["--max-draws", "2000"], 4),
        (SHARP, ["nothing-*"], 5),
        (SHARP, ["absent"], 2),
        (SHARP, ["--alpha", "2"], 2),
        (SHARP.replace("E(x", "E(z"), [], 2),
        (SHARP.replace("== 5", "== 6"), [], 1),
        (SHARP.replace("== 5", "== 6") + "\nexpect: refuted", [], 0),
    ],
)
def test_exit_codes(called: Called, claims: str, arguments: list[str], code: int) -> None:
    assert called(claims, *arguments)[0] == code


def test_a_claim_that_cannot_fail_is_a_warning_and_fails(called: Called) -> None:
    code, out, _ = called(TOOTHLESS)
    assert code == 1
    assert "warning: c: no planted error is refuted: as it is tried, it cannot fail" in out
    assert "cannot fail" not in called(SHARP)[1]


def test_a_refuted_claim_is_in_the_table_and_says_why_the_run_fails(called: Called) -> None:
    code, out, _ = called(SHARP.replace("== 5", "== 6"))
    assert code == 1
    assert "FAIL: refuted itself" in out.splitlines()[2]
    assert "1 claim, 0 mutants: " in out
    assert "· 1 refuted claim ·" in out
    assert "warning: c: the claim itself is refuted, and no error was planted" in out


def test_what_does_not_count_is_explained_where_there_is_some(
    called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    hides = "parameters: {p: 0.5}\nmodel: m ~ bernoulli(1 - p)\nclaim: E(m) == 1 - p"
    _, out, _ = called(hides)
    told = re.findall("^(.*): .* it does not count$", out, re.MULTILINE)
    assert told == ["verified too"]
    assert "neither" not in out.splitlines()[0]
    monkeypatch.setenv("COLUMNS", "40")  # a table too
    assert called(hides)[1].splitlines()[0].split() == ["claim", "refuted", "survived", "result"]
