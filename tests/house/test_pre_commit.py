"""The hook for pre-commit: what files it is for, and how it does in a repository that uses it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

TOP = Path(__file__).parents[2]
# What pip says where it cannot reach an index: the hook then cannot be installed.
OFFLINE = ("No matching distribution", "Could not find a version", "Failed to establish", "resolve")


def hook() -> dict[str, Any]:
    [found] = yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("claims.yaml", True), ("claims.yml", True), ("docs/claims.yaml", True),
        ("attention.claims.yaml", True), ("papers/attention-claims.yml", True),
        ("claims/dropout.yaml", True), ("papers/claims/2024/dropout.yaml", True),
        ("claims.schema.json", False), ("disclaims.yaml", False),
        (".pre-commit-config.yaml", False), ("claims/readme.md", True), ("docs/paper.tex", True),
        ("paper.ipynb", True), ("paper.Rmd", True), ("index.html", False), ("paper.md.txt", False),
        ("myclaims/x.yaml", False),
    ],
)  # fmt: skip
def test_which_files_it_is_for(path: str, meant: bool) -> None:
    assert bool(re.search(hook()["files"], path)) == meant


GOOD = "dropcheck: 1\nclaims:\n  c:\n    title: T\n    claim: 1 == 1\n"


def repository(folder: Path) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    for words in (["init", "-q"], ["add", "--all"], [*identity, "commit", "-q", "-m", "All of it"]):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This checkout as a repository that pre-commit can clone."""
    folder = tmp_path_factory.mktemp("dropcheck")
    shutil.copytree(
        TOP / "dropcheck", folder / "dropcheck", ignore=shutil.ignore_patterns("__pycache__")
    )
    kept = "LICENSE README.md claims.schema.json claims.yaml pyproject.toml"
    for name in (".pre-commit-hooks.yaml", *kept.split()):
        shutil.copy(TOP / name, folder / name)
    repository(folder)
    return folder


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_in_a_repository_that_uses_it(ours: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    (theirs / "docs" / "claims").mkdir(parents=True)
    (theirs / "claims.yaml").write_text(GOOD)
    (theirs / "docs" / "claims" / "bad.yaml").write_text(GOOD.replace("claim:", "clam:"))
    (theirs / "other.yaml").write_text("clam: 1\n")
    (theirs / "paper.tex").write_text("It is 8 % dropchek: == 9\n")
    (theirs / "README.md").write_text("It is 9<!-- dropcheck: == 9 -->.\n")
    repository(theirs)
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "try-repo", str(ours), "dropcheck", "--all-files"],
        cwd=theirs,
        env={
            **os.environ,
            "PRE_COMMIT_HOME": str(tmp_path / "home"),
            "PRE_COMMIT_COLOR": "never",
            # the libraries are those of this environment, not fetched anew
            "PIP_NO_DEPS": "1",
            "PIP_NO_BUILD_ISOLATION": "0",
            "PYTHONPATH": str(Path(yaml.__file__).parents[1]),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    told = done.stdout + done.stderr
    if "CalledProcessError" in told and any(sign in told for sign in OFFLINE):
        pytest.skip("the hook is installed by pip, which reaches no index here")
    assert done.returncode == 1, told
    for words in (
        "dropcheck check...",
        "exit code: 2",
        "claims.yaml: 1 claim, 1 case, no errors",
        "docs/claims/bad.yaml:5:5: claim 'c' has no key 'clam'",
        "paper.tex:1:9: 'dropchek' is no mark",
        "README.md: 1 claim, 1 case, 1 of 1 figure claimed, no errors",
    ):
        assert words in told
    assert "other.yaml" not in told
