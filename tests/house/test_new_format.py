"""A report format is added by the one entry that CONTRIBUTING shows, in a copy of the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
CLAIMS = """dropcheck: 1
claims:
  two:
    title: Two is two
    model: x = 2
    claim: E(x) == 2
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package and the format that the page adds to it."""
    folder = tmp_path_factory.mktemp("copy")
    package = folder / "dropcheck"
    shutil.copytree(TOP / "dropcheck", package, ignore=shutil.ignore_patterns("__pycache__"))
    page = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = page.partition("## To add a report format")[2].split("```python\n")[1:3]
    module, entry = (block.partition("```")[0] for block in blocks)
    (package / "report" / "tsv.py").write_text(module, encoding="utf-8")
    formats = package / "report" / "formats.py"
    before, start, after = formats.read_text(encoding="utf-8").partition(
        "FORMATS: Mapping[str, Format] = {\n"
    )
    formats.write_text(before + start + entry + after, encoding="utf-8")
    (folder / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    return folder


def said(folder: Path, *arguments: str, **environ: str) -> str:
    """What the copy prints."""
    done = subprocess.run(
        [sys.executable, "-m", "dropcheck", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200", **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout + done.stderr


def test_it_is_printed_and_written(folder: Path) -> None:
    assert said(folder, "run", "--format", "tsv", "-o", "run.tsv") == "two\t2\tverified\t\n"
    assert (folder / "run.tsv").read_text(encoding="utf-8") == "two\t2\tverified\t\n"


def test_help_and_messages_know_it(folder: Path) -> None:
    shown = said(folder, "run", "--help")
    assert "tsv|" in shown
    assert ".tsv" in shown
    assert "must be tsv, table" in said(folder, "run", "--format", "tsw")


def test_a_file_that_has_no_place_for_errors_is_not_written(folder: Path) -> None:
    (folder / "broken.yaml").write_text(CLAIMS.replace("E(x) == 2", "E(y) == 2"), encoding="utf-8")
    assert "'y'" in said(folder, "run", "-f", "broken.yaml", "-o", "broken.tsv")
    assert not (folder / "broken.tsv").exists()
