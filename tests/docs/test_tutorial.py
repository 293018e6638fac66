"""The repository that the tutorial makes, and its gate: the last step of its workflow."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from readme_blocks import TOP, blocks, prepare, walked

TEXT = (TOP / "docs" / "tutorial.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.skipif(
    shutil.which("git") is None or os.name == "nt", reason="the tutorial is for git and a shell"
)


@dataclass(frozen=True)
class Reader:
    """The repository that one has after reading, and what a reader's shell has."""

    repository: Path
    environment: dict[str, str]

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=self.repository,
            env={**self.environment, **more},
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    folder = tmp_path_factory.mktemp("tutorial")
    environment = prepare(folder / "beside")
    repository = folder / "paper"
    repository.mkdir()
    walked(TEXT, repository, environment)
    return Reader(repository, environment)


def test_repository_is_clean_and_the_hook_let_no_slip_in(reader: Reader) -> None:
    assert reader.run("git", "status", "--porcelain").stdout == ""
    assert len(reader.run("git", "log", "--format=%s").stdout.splitlines()) == 2
    assert "normall" not in reader.run("git", "log", "--patch").stdout
    assert set(reader.run("git", "ls-files").stdout.split()) == {
        ".github/workflows/gate.yml",
        ".pre-commit-config.yaml",
        "claims.schema.json",
        "claims.yaml",
        "pytest.ini",
    }


def last_step() -> str:
    """The command of the workflow's last step, behind those that set up the machine."""
    [text] = [block.text for block in blocks(TEXT) if block.file == ".github/workflows/gate.yml"]
    found = yaml.safe_load(text)
    # `on` is a truth value by the rules of YAML 1.1, which this reader follows
    assert set(found["on" if "on" in found else True]) == {"push", "pull_request"}
    *_, install, step = found["jobs"]["claims"]["steps"]
    assert install["run"].startswith("pip install ")
    return str(step["run"])


@pytest.mark.parametrize(
    ("old", "new", "code", "told"),
    [
        ("", "", 0, "5 cases: 5 passed"),
        ("sd / sqrt(n)\n  mean", "sd / n\n  mean", 1, "::error file=claims.yaml,line=4,col=3"),
        ("normal(", "normall(", 2, "did you mean 'normal'?"),
        ("normal(10, sd)[n]\n    claim", "student_t(2)[n]\n    claim", 4, "undecided"),
    ],
    ids=["true", "false", "slip", "undecided"],
)
def test_the_gate_opens_for_what_holds_alone(
    reader: Reader, tmp_path: Path, old: str, new: str, code: int, told: str
) -> None:
    work = tmp_path / "work"
    shutil.copytree(reader.repository, work)
    text = (work / "claims.yaml").read_text(encoding="utf-8")
    assert old in text
    (work / "claims.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    summary = tmp_path / "summary"
    done = Reader(work, reader.environment).run(
        *("bash", "-euo", "pipefail", "-c", last_step()),
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(summary),
        GITHUB_WORKSPACE=str(work),
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert told in done.stdout + done.stderr
    assert ("::error" in done.stdout + done.stderr) == (code != 0)
    assert code == 2 or "mean-spread" in summary.read_text(encoding="utf-8")
