"""What is printed and written: reports in files, each whole or not at all, and what is said."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from cli_stub import CLAIMS, Cli, judged, parameters_of

from dropcheck.claims.registry import Case, Registry
from dropcheck.cli_output import emit, write_file
from dropcheck.results import CaseResult
from dropcheck.settings import Settings

ENDINGS = ("json", "xml", "md", "csv", "html", "svg", "png")


def names() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def reports() -> list[str]:
    return [word for ending in ENDINGS for word in ("-o", f"run.{ending}")]


@pytest.fixture
def never_run(verify: Any) -> None:
    def simulate(*arguments: object, **options: object) -> Iterator[CaseResult]:
        raise AssertionError("simulated before the options were sound")

    verify.verify_cases = simulate


@pytest.fixture
def interrupted(verify: Any) -> None:
    def simulate(
        cases: Sequence[Case], settings: Settings, registry: Registry, **options: object
    ) -> Iterator[CaseResult]:
        assert registry.claims
        yield judged(cases[0], settings)
        raise KeyboardInterrupt

    verify.verify_cases = simulate


@pytest.mark.usefixtures("never_run")
def test_the_claims_are_not_written_over(cli: Cli) -> None:
    Path("claims.json").write_text(CLAIMS)
    Path("link.json").symlink_to("claims.json")
    for name in ("claims.json", "link.json"):
        result = cli("run", "-f", "claims.json", "-o", name)
        assert result.code == 2
        assert f"option '--output': '{name}' is the claims file" in result.err
    assert Path("claims.json").read_text() == CLAIMS


# what cannot be written


@pytest.mark.parametrize("ending", ["json", "svg"])
def test_a_place_that_takes_no_file_loses_neither_table_nor_other_files(
    cli: Cli, ending: str
) -> None:
    result = cli("run", "kept-share", "-o", f"/proc/self/a.{ending}", "-o", "b.json")
    assert result.code == 2
    assert "FAIL: refuted  kept-share" in result.out
    assert f"error: the file '/proc/self/a.{ending}' could not be written: " in result.err
    assert names() == ["b.json", "claims.yaml"]


def test_an_interruption_within_the_writing_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(path: Path, mode: int) -> None:
        raise KeyboardInterrupt

    (tmp_path / "a.json").write_text("old")
    monkeypatch.setattr(Path, "chmod", stop)
    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path / "a.json", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "old"


# runs that are not whole


@pytest.mark.usefixtures("interrupted")
def test_the_files_of_an_interrupted_run_say_so_or_are_not_written(cli: Cli) -> None:
    Path("run.csv").write_text("old")
    result = cli("run", "product-variance", *reports())
    assert result.code == 130
    assert "interrupted" in result.out
    assert (
        "the file 'run.csv' was not written: the run was interrupted, and such a file cannot say "
        "so" in result.err
    )
    assert Path("run.csv").read_text() == "old"
    assert json.loads(Path("run.json").read_text())["interrupted"] is True
    for ending in ("xml", "md", "html", "svg"):
        assert "interrupted" in Path(f"run.{ending}").read_text().lower()


# small things about what is said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_what_cannot_be_printed_is_an_error() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dropcheck", "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 2
    assert "could not be written: no space left on device" in done.stderr


# what is printed


def test_a_failure_prints_the_command_that_repeats_it(cli: Cli) -> None:
    result = cli("run", "kept-share", "-f", "claims.yaml", "--max-draws", "1e6", "--mu", "-1")
    command = (
        "dropcheck run kept-share --file claims.yaml --keep_prob 0.5 --mu=-1 --seed 0 "
        "--max-draws=1e6"
    )
    assert command in result.out
    again = cli(*command.split()[1:], "--format", "json")
    assert parameters_of(again.out) == [{"keep_prob": 0.5, "mu": -1}]
    assert json.loads(again.out)["cases"][0]["repeat"] == command


def test_the_runner_s_older_commands_are_broken_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for commands in (False, True):
        emit("a ##[stop-commands]token\n", sys.stdout, commands=commands)
        assert "##[" not in capsys.readouterr().out
    monkeypatch.delenv("GITHUB_ACTIONS")
    emit("a ##[b]\n", sys.stdout)
    assert "##[b]" in capsys.readouterr().out
