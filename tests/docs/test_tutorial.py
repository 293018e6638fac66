"""The tutorial, carried out from its text alone: files written, commands run, the gate tried.

`PYTHONPATH=tests/helpers python tests/docs/test_tutorial.py` writes what the commands print
today into the page.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from readme_blocks import TOP, Block, blocks, matches, prepare, updated, walked

PAGE = TOP / "docs" / "tutorial.md"
TEXT = PAGE.read_text(encoding="utf-8")
pytestmark = pytest.mark.skipif(
    shutil.which("git") is None or os.name == "nt", reason="the tutorial is for git and a shell"
)


@dataclass(frozen=True)
class Reader:
    """The repository that one has after reading, and what the commands printed on the way."""

    repository: Path
    environment: dict[str, str]
    console: list[tuple[Block, list[list[str]]]]

    def told(self, command: str) -> list[str]:
        """What the one command that begins so printed."""
        [found] = [
            now
            for block, printed in self.console
            for (line, _), now in zip(block.commands, printed, strict=True)
            if line.startswith(command)
        ]
        return found

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.repository,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=True,
        )
        return done.stdout


def equipped(beside: Path) -> dict[str, str]:
    """The environment of a reader who installed what the page asks for, and has used git before."""
    beside.mkdir()
    found = prepare(beside)
    for name, module in (("pytest", "pytest"), ("pre-commit", "pre_commit")):
        program = beside / "bin" / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m {module} "$@"\n')
        program.chmod(0o755)
    git = {
        "user.name": "Reader",
        "user.email": "reader@example.org",
        "init.defaultBranch": "main",
    }
    numbered = dict(enumerate(git.items()))
    kept = {
        name: value
        for name, value in found.items()
        if not name.startswith(("PYTEST", "GIT_", "PRE_COMMIT"))
    }
    return {
        **kept,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_COUNT": str(len(git)),
        **{f"GIT_CONFIG_KEY_{number}": key for number, (key, _) in numbered.items()},
        **{f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in numbered.items()},
        "PRE_COMMIT_COLOR": "never",
        "PRE_COMMIT_HOME": str(beside / "pre-commit"),
        "PYTHONPYCACHEPREFIX": os.environ.get("PYTHONPYCACHEPREFIX", str(beside / "bytecode")),
    }


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    folder = tmp_path_factory.mktemp("tutorial")
    environment = equipped(folder / "beside")
    repository = folder / "paper"
    repository.mkdir()
    return Reader(repository, environment, walked(TEXT, repository, environment))


# ---- what the page shows is what happens --------------------------------------------------------


def test_everything_prints_what_is_shown(reader: Reader) -> None:
    different = [
        "\n".join([f"$ {line}", *now])
        for block, printed in reader.console
        for (line, shown), now in zip(block.commands, printed, strict=True)
        if not matches(shown, now)
    ]
    assert different == [], "python tests/docs/test_tutorial.py writes today's output into the page"


def test_every_step_tells_its_exit_code(reader: Reader) -> None:
    told = [
        int(code)
        for _, printed in reader.console
        for now in printed
        for code in re.findall(r"^exit code (\d+)$", "\n".join(now), re.MULTILINE)
    ]
    commits = 3
    assert len(told) == 9 + commits
    assert set(told) == {0, 1, 2, 5}


def test_only_the_installation_is_not_run() -> None:
    [block] = [block for block in blocks(TEXT) if block.kind != "console" and block.file is None]
    [line] = block.text.splitlines()
    assert line.startswith("pip install pytest pre-commit ")
    assert line.endswith('"./dropcheck[pytest]"')


# ---- the repository that is left ----------------------------------------------------------------


def test_repository_is_clean_and_its_history_is_the_page_s(reader: Reader) -> None:
    assert reader.run("git", "status", "--porcelain") == ""
    assert reader.run("git", "log", "--format=%s", "--reverse").splitlines() == [
        "Say how a mean spreads, and try it",
        "Try the claims at each push",
    ]
    assert set(reader.run("git", "ls-files").split()) == {
        ".github/workflows/gate.yml",
        ".pre-commit-config.yaml",
        "claims.schema.json",
        "claims.yaml",
        "pytest.ini",
    }


def test_the_hook_let_no_slip_in(reader: Reader) -> None:
    told = "\n".join(reader.told("git commit -q -a"))
    assert "dropcheck check" in told
    assert "did you mean 'normal'?" in told
    assert told.endswith("exit code 1")
    assert "normall" not in reader.run("git", "log", "--patch")


# ---- the gate -----------------------------------------------------------------------------------


@cache
def workflow() -> dict[Any, Any]:
    [text] = [block.text for block in blocks(TEXT) if block.file == ".github/workflows/gate.yml"]
    found = yaml.safe_load(text)
    assert isinstance(found, dict)
    return found


@dataclass(frozen=True)
class Gate:
    """How the workflow's last step ended."""

    code: int
    printed: str
    summary: str


def pushed(reader: Reader, folder: Path) -> Gate:
    """The workflow's steps on a clone, as far as they are dropcheck's."""
    work, beside = folder / "work", folder / "beside"
    beside.mkdir()
    shutil.copytree(reader.repository, work)
    [job] = workflow()["jobs"].values()
    checkout, python, install, step = job["steps"]
    assert checkout["uses"].startswith("actions/checkout@")
    assert python["uses"].startswith("actions/setup-python@")
    assert install["run"].startswith("pip install ")
    summary = beside / "summary"
    summary.touch()
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", step["run"]],
        cwd=work,
        env={
            **reader.environment,
            "GITHUB_ACTIONS": "true",
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_WORKSPACE": str(work),
        },
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    return Gate(done.returncode, done.stdout + done.stderr, summary.read_text(encoding="utf-8"))


def test_gate_opens(reader: Reader, tmp_path: Path) -> None:
    done = pushed(reader, tmp_path)
    assert done.code == 0, done.printed
    assert "5 cases: 5 passed" in done.printed
    assert "::error" not in done.printed
    assert "mean-spread" in done.summary


@pytest.mark.parametrize(
    ("old", "new", "code", "told"),
    [
        ("sd / sqrt(n)\n  mean", "sd / n\n  mean", 1, "::error file=claims.yaml,line=4,col=3"),
        ("normal(", "normall(", 2, "did you mean 'normal'?"),
        ("normal(10, sd)[n]\n    claim", "student_t(2)[n]\n    claim", 4, "undecided"),
    ],
    ids=["false", "slip", "undecided"],
)
def test_gate_stays_shut(
    reader: Reader, tmp_path: Path, old: str, new: str, code: int, told: str
) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(reader.repository, changed)
    text = (changed / "claims.yaml").read_text(encoding="utf-8")
    assert text.count(old) >= 1
    (changed / "claims.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    done = pushed(Reader(changed, reader.environment, []), tmp_path)
    assert done.code == code, done.printed
    assert told in done.printed


def test_gate_is_for_pushes_and_pull_requests() -> None:
    # `on` is a truth value by the rules of YAML 1.1, which this reader follows
    assert set(workflow()["on" if "on" in workflow() else True]) == {"push", "pull_request"}
    assert list(workflow()["jobs"]) == ["claims"]
    assert "require the check `claims`" in TEXT


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        paper = Path(name) / "paper"
        paper.mkdir()
        now = updated(TEXT, paper, equipped(Path(name) / "beside"))
    PAGE.write_text(now, encoding="utf-8")
