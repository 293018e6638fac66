"""The wheel that is built from this tree: what it holds, and that it works on its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

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


def metadata(unpacked: Path) -> Message:
    [text] = unpacked.glob("*.dist-info/METADATA")
    return Parser().parsestr(text.read_text(encoding="utf-8"))


def run_from_wheel(unpacked: Path, folder: Path, *arguments: str) -> dict[str, object]:
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
    report = json.loads(done.stdout)
    assert isinstance(report, dict)
    return report


def test_wheel_serves_any_platform(wheel: Path) -> None:
    assert wheel.name == f"dropcheck-{dropcheck.__version__}-py3-none-any.whl"


def test_wheel_holds_the_registry_at_the_top(unpacked: Path) -> None:
    shipped = (unpacked / "dropcheck" / "claims.yaml").read_bytes()
    assert shipped == (TOP / "claims.yaml").read_bytes()
    assert len(shipped) > 1000


def test_wheel_holds_every_module_and_says_that_it_is_typed(unpacked: Path) -> None:
    held = {str(path.relative_to(unpacked)) for path in (unpacked / "dropcheck").rglob("*.py")}
    assert held == {str(path.relative_to(TOP)) for path in (TOP / "dropcheck").rglob("*.py")}
    assert (unpacked / "dropcheck" / "py.typed").is_file()


def test_wheel_holds_every_pack_and_finds_them_there(unpacked: Path, tmp_path: Path) -> None:
    packs = {path.name: path.read_bytes() for path in (TOP / "dropcheck" / "packs").glob("*.yaml")}
    held = {path.name: path.read_bytes() for path in (unpacked / "dropcheck/packs").glob("*.yaml")}
    assert held == packs
    assert len(packs) > 5
    report = run_from_wheel(unpacked, tmp_path, "list", "pack:dropout")
    assert report["claims"]


def test_wheel_holds_nothing_but_the_package(unpacked: Path) -> None:
    tops = {path.name for path in unpacked.iterdir()}
    assert tops == {"dropcheck", f"dropcheck-{dropcheck.__version__}.dist-info"}
    kinds = {path.suffix for path in (unpacked / "dropcheck").rglob("*") if path.is_file()}
    assert kinds == {".py", ".yaml", ".json", ".typed", ".css", ".js"}


def test_wheel_says_its_version_license_and_python(unpacked: Path) -> None:
    said = metadata(unpacked)
    assert said["Name"] == "dropcheck"
    assert said["Version"] == dropcheck.__version__
    assert said["License-Expression"] == "MIT"
    assert said["Requires-Python"] == ">=3.11"
    assert "# dropcheck" in said.get_payload()
    assert list(unpacked.glob("*.dist-info/licenses/LICENSE"))


def test_wheel_puts_the_command_on_the_path(unpacked: Path) -> None:
    [entries] = unpacked.glob("*.dist-info/entry_points.txt")
    assert (
        "dropcheck = dropcheck.__main__:program" in entries.read_text(encoding="utf-8").splitlines()
    )


def test_every_dependency_has_its_reason_beside_it() -> None:
    text = (TOP / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    needed = {name for each in lists for name in each} - {"dropcheck[test]"}
    assert len(needed) > 10
    for requirement in needed:
        [line] = [line for line in text.splitlines() if f'"{requirement}",' in line]
        assert line.partition(f'"{requirement}",')[2].strip().startswith("# "), requirement


def test_shipped_claims_run_from_an_empty_folder(unpacked: Path, tmp_path: Path) -> None:
    report = run_from_wheel(unpacked, tmp_path, "run", "qk-variance", "--dk", "16")
    assert report["registry"] == "claims.yaml (shipped with dropcheck)"
    summary = report["summary"]
    assert isinstance(summary, dict)
    assert (summary["cases"], summary["passed"]) == (1, 1)


def test_claims_of_the_folder_come_before_the_shipped_ones(unpacked: Path, tmp_path: Path) -> None:
    text = "dropcheck: 1\nclaims: {one: {title: One is one, claim: 1 == 1}}\n"
    (tmp_path / "claims.yaml").write_text(text, encoding="utf-8")
    report = run_from_wheel(unpacked, tmp_path, "run", "all")
    assert report["registry"] == "claims.yaml"
    cases = report["cases"]
    assert isinstance(cases, list)
    assert [case["claim"] for case in cases] == ["one"]
