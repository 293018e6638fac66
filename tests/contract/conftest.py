"""The contract: what a user sees, in golden files that one option rewrites.

`pytest tests/contract --update-contract` (without `-n`) rewrites all golden files, so that a change
is a diff that a person reads. With `--full` the sets of known truth are judged at a million draws.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from dropcheck import cli

FOLDER = Path(__file__).parent
MOST_SHOWN = 60  # lines of a difference

Agreed = Callable[[str, str], None]
"""Compares a golden file, by its name, with the text that is found now."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The two options of the contract."""
    parser.addoption("--update-contract", action="store_true", help="rewrite the golden files")
    parser.addoption("--full", action="store_true", help="judge sets of known truth at 1e6 draws")


program_of = cache(cli.program_of)


@pytest.fixture(autouse=True)
def one_program_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typer makes the program of each command once, and not for each of a thousand inputs."""
    monkeypatch.setattr(cli, "program_of", program_of)


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--full", default=False))


@pytest.fixture
def agreed(request: pytest.FixtureRequest) -> Agreed:
    """Rewrites a golden file where that is asked for, and fails otherwise where it differs."""
    update = bool(request.config.getoption("--update-contract", default=False))

    def compare(name: str, found: str) -> None:
        path = FOLDER / name
        if update:
            path.write_text(found, encoding="utf-8")
        changed = difference(path.read_text(encoding="utf-8") if path.exists() else "", found)
        if changed:
            pytest.fail(f"{name} says otherwise; if that is meant, --update-contract\n{changed}")

    return compare


def difference(golden: str, found: str) -> str:
    """The lines that differ, with the line before each; empty where none does."""
    lines = difflib.unified_diff(golden.splitlines(), found.splitlines(), "golden", "now", n=2)
    return "\n".join([*lines][: MOST_SHOWN + 2])
