"""Fixtures that several test files share."""

from __future__ import annotations

import gc
import importlib
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_stub import CLAIMS, Called, Cli, stub
from hypothesis import settings

from dropcheck.cli import main

# the same examples in every run, on a machine however slow
settings.register_profile("seeded", derandomize=True, database=None, deadline=None)
settings.load_profile("seeded")


def pytest_collection_finish() -> None:
    """Look for garbage no more in thousands of tests that stay to the end."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def no_traces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Runs remember nothing for the user, and tell GitHub nothing of a test."""
    # a shell gives what it starts in the background no interruptions, and processes inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
            patch.delenv(name, raising=False)
        # made only where something is remembered
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "user-cache"))
        yield


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a wide screen and no colours."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def sessions_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions of pytest within this one take nothing of it for their own."""
    for name in ("COLUMNS", "FORCE_COLOR", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def claims(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder of pytest's own with a claims file, configured."""
    from plugin_sessions import INI, write

    write(pytester, INI)
    return pytester


@pytest.fixture
def verify(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = importlib.import_module("dropcheck.running")
    monkeypatch.setattr(module, "verify_cases", stub)
    return module


@pytest.fixture
def program(capsys: pytest.CaptureFixture[str]) -> Cli:
    """The program itself, in this process."""

    def call(*arguments: str) -> Called:
        code = main(arguments)
        captured = capsys.readouterr()
        return Called(code, captured.out, captured.err)

    return call


@pytest.fixture
def cli(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    program: Cli,
    verify: Any,
) -> Cli:
    (tmp_path / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "DROPCHECK_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return program


@pytest.fixture
def draws_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge and plan by draws, as where the model says no value: these are tests of intervals."""
    import dropcheck.judging.judge

    monkeypatch.setattr(dropcheck.judging.judge, "by_model", lambda _run: None)
