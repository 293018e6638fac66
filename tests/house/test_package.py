"""The wheel that is built from this tree: what it holds, and that it works on its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest
import yaml

import dropcheck

TOP = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by the backend that pip would call; nothing is fetched for it."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=TOP,
        check=True,
        capture_output=True,
        timeout=300,
    )
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files, as pip would lay them out."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run_from_wheel(unpacked: Path, folder: Path, *arguments: str) -> Any:
    """Run the wheel's own code in a folder, and nothing of this tree; the JSON that it prints."""
    probe = (
        "import sys, dropcheck.cli\n"
        f"assert dropcheck.cli.__file__.startswith({str(unpacked)!r})\n"
        "sys.exit(dropcheck.cli.main(sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", probe, *arguments, "--format", "json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(unpacked)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_wheel_holds_the_package_and_nothing_else(wheel: Path, unpacked: Path) -> None:
    assert wheel.name == f"dropcheck-{dropcheck.__version__}-py3-none-any.whl"
    tops = {path.name for path in unpacked.iterdir()}
    assert tops == {"dropcheck", f"dropcheck-{dropcheck.__version__}.dist-info"}
    held = {
        one.relative_to(unpacked): one.read_bytes() for one in unpacked.rglob("dropcheck/**/*.*")
    }
    ours = {
        one.relative_to(TOP): one.read_bytes()
        for one in (TOP / "dropcheck").rglob("*.*")
        if one.is_file() and one.suffix != ".pyc"
    }
    for name in ("claims.yaml", "claims.schema.json"):
        ours[Path("dropcheck") / name] = (TOP / name).read_bytes()
    assert held == ours


def test_wheel_says_what_it_is(unpacked: Path) -> None:
    [text] = unpacked.glob("*.dist-info/METADATA")
    said = Parser().parsestr(text.read_text(encoding="utf-8"))
    assert said["Name"] == "dropcheck"
    assert said["Version"] == dropcheck.__version__
    assert said["License-Expression"] == "MIT"
    assert said["Requires-Python"] == ">=3.11"
    assert "# dropcheck" in said.get_payload()
    assert list(unpacked.glob("*.dist-info/licenses/LICENSE"))
    [entries] = unpacked.glob("*.dist-info/entry_points.txt")
    assert "dropcheck = dropcheck.__main__:program" in entries.read_text().splitlines()


def test_every_dependency_has_its_reason_beside_it() -> None:
    text = (TOP / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    needed = {name for each in lists for name in each} - {"dropcheck[test]"}
    assert len(needed) > 10
    for requirement in needed:
        [line] = [line for line in text.splitlines() if f'"{requirement}",' in line]
        assert line.partition(f'"{requirement}",')[2].strip().startswith("# "), requirement


def test_the_lowest_python_and_libraries_are_tried_on_every_system() -> None:
    text = (TOP / ".github/workflows/test.yml").read_text(encoding="utf-8")
    matrix = yaml.safe_load(text)["jobs"]["tests"]["strategy"]["matrix"]
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {one.split("-")[0] for one in matrix["os"]} == {"ubuntu", "macos", "windows"}
    lowest = {"python-version": project["requires-python"].removeprefix(">=")}
    assert lowest | {"resolution": "lowest-direct"} in matrix["include"]


def test_shipped_claims_run_from_an_empty_folder(unpacked: Path, tmp_path: Path) -> None:
    report = run_from_wheel(unpacked, tmp_path, "run", "qk-variance", "--dk", "16")
    assert report["registry"] == "claims.yaml (shipped with dropcheck)"
    assert report["summary"]["passed"] == report["summary"]["cases"] == 1
    assert run_from_wheel(unpacked, tmp_path, "list", "pack:dropout")["claims"]
