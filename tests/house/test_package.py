"""The wheel, what a start loads, the rules of imports, and the hook for pre-commit."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from graphlib import TopologicalSorter
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


def test_shipped_claims_run_from_an_empty_folder(unpacked: Path, tmp_path: Path) -> None:
    report = run_from_wheel(unpacked, tmp_path, "run", "qk-variance", "--dk", "16")
    assert report["registry"] == "claims.yaml (shipped with dropcheck)"
    assert report["summary"]["passed"] == report["summary"]["cases"] == 1
    assert run_from_wheel(unpacked, tmp_path, "list", "pack:dropout")["claims"]


CLAIMS = """\
dropcheck: 1
claims:
  mean-square:
    title: The mean square of a standard normal is 1
    parameters: {sd: [1, 2]}
    model: x ~ normal(0, sd)
    claim: E(x**2) == sd**2
  bell:
    title: Half of a standard normal is below 0
    model: x ~ normal(0, 1)
    claim: E(Phi(x) + erf(x)) == 0.5
  counts:
    title: A sum of counts
    model: |
      n ~ poisson(3)
      k ~ binomial(4, 0.5)
    claim: E(n + k) == 5
"""

# Slow to import, each for a purpose of its own, which what only looks has not.
HEAVY = ("numpy", "scipy", "pydantic", "rich")
# Run the command line in an interpreter of its own, and print what that loaded after all else.
PROBE = f"""\
import sys
from dropcheck.cli import main
code = main(sys.argv[1:])
print("\\nexit", int(code))
print("loaded", *(name for name in sys.modules if name.split(".")[0] in {HEAVY}))
"""


def probed(
    folder: Path, environment: Mapping[str, str], *arguments: str
) -> tuple[int, set[str], list[str]]:
    """A command's exit code, the heavy modules that it loaded, and its output."""
    (folder / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    *printed, exit_line, loaded_line = done.stdout.splitlines()
    return int(exit_line.removeprefix("exit ")), set(loaded_line.split()[1:]), printed


def loaded_by(folder: Path, *arguments: str) -> tuple[int, set[str]]:
    """The exit code of a command, and the heavy modules that it loaded."""
    return probed(folder, {}, *arguments)[:2]


@pytest.mark.parametrize(
    ("line", "needed"),
    [
        ("--version", set()),
        ("--help", {"rich"}),
        ("run --help", {"pydantic", "rich"}),  # typer converts what stands before the command
        ("list", {"pydantic", "rich"}),
        ("list --format json", {"pydantic"}),
        ("check", {"numpy", "pydantic"}),
        ("run mean-square", {"numpy", "pydantic", "rich"}),
        (
            "show mean-square",
            {"numpy", "pydantic", "rich", "scipy"},
        ),  # scipy has the law's quantiles
    ],
)
def test_what_only_looks_loads_what_it_needs(tmp_path: Path, line: str, needed: set[str]) -> None:
    code, loaded = loaded_by(tmp_path, *line.split())
    assert code == 0
    assert {name.split(".")[0] for name in loaded} <= needed


def test_run_loads_numpy_and_never_scipy_stats(tmp_path: Path) -> None:
    code, loaded = loaded_by(tmp_path, "run", "all")
    assert code == 0
    assert {"numpy", "scipy.special"} <= loaded  # so the probe can see what it looks for
    assert not {name for name in loaded if name.startswith("scipy.stats")}


def test_an_error_in_a_file_loads_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text("dropcheck: 1\nclaims: {one: {title: One}}\n")
    for command in ("list", "check"):
        code, loaded = loaded_by(tmp_path, command, "--file", "wrong.yaml")
        assert code == 2
        assert {name.split(".")[0] for name in loaded} <= {"pydantic"}


PACKAGE = Path(__file__).parents[2] / "dropcheck"

# From the ground up: a room imports only from rooms that stand before it.
ORDER = (
    *("interrupt", "errors", "reasons", "array_types", "settings"),
    *("packs", "vocabulary", "known", "results", "claims", "options", "language"),
    *("analysis", "documents", "simulation", "code", "inference", "execution"),
    *("judging", "running", "planning", "mutation", "report", "api"),
    *("cli_output", "cli", "pytest_claims", "__main__", "pytest_plugin"),
)
# The package offers these names where they are first asked for.
LAZY = {"__init__"}

# A claims file is data. Nothing runs text, and nothing but these opens files or starts processes.
RUNS_TEXT = {"__import__", "compile", "eval", "exec", "import_module"}
OPENS = {"open", "read_bytes", "read_text", "write_bytes", "write_text", "NamedTemporaryFile"}
STARTS = {"ctypes", "marshal", "multiprocessing", "pickle", "socket", "subprocess", "urllib"}
ALLOWED: Mapping[str, set[str]] = {
    "claims.yaml_places": {"open"},  # a claims file, as bytes
    # what ships beside the package
    "claims.reader": {"read_bytes"},
    "cli": {"open", "read_text"},  # what it writes to begin with, and the schema beside it
    "documents": {"read_bytes"},
    "report.html": {"read_text"},
    "settings": {"read_text"},  # how many processors a container may use
    "cli_output": {"NamedTemporaryFile", "open"},  # reports
    # code under test, by the names that its user gives on the command line
    "code.slots": {"import_module"},
    "execution.pool": {"multiprocessing", "multiprocessing.context", "multiprocessing.reduction"},
}


@cache
def trees() -> Mapping[str, Sequence[ast.AST]]:
    """The imports and calls of every module of the package, by its name within it."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        inner = parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        told = ast.Import, ast.ImportFrom, ast.Call
        found[".".join(inner)] = [one for one in nodes if isinstance(one, told)]
    return found


def imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The modules that are imported; `from a import b` may mean the module a.b."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}".removeprefix("dropcheck.")
                yield f"dropcheck.{inner}" if inner in trees() else node.module


def upward(by: str, nodes: Sequence[ast.AST]) -> list[str]:
    """The imports of a module that lead up, wherever in it they stand."""
    room = by.split(".", maxsplit=1)[0]
    found = []
    for name in imported(nodes):
        library, _, inner = name.partition(".")
        target = inner.split(".")[0] or "__init__"
        if library != "dropcheck" or target in {room, "__init__", "__version__"} or by in LAZY:
            continue
        if ORDER.index(target) >= ORDER.index(room):
            found.append(f"dropcheck.{by} imports {name}, which stands above it")
    return found


def untrusted(by: str, nodes: Sequence[ast.AST]) -> list[str]:
    """What a module does that no text of a claims file may reach."""
    found = {name for name in imported(nodes) if name.split(".")[0] in STARTS}
    for node in nodes:
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and called.id in RUNS_TEXT | OPENS:
                found.add(called.id)
            if (
                isinstance(called, ast.Attribute)
                and called.attr in (RUNS_TEXT - {"compile"}) | OPENS
            ):
                found.add(called.attr)
    return [f"dropcheck.{by}: {name}" for name in sorted(found - ALLOWED.get(by, set()))]


def test_imports_lead_down_and_nothing_runs_text() -> None:
    told = [upward(by, nodes) + untrusted(by, nodes) for by, nodes in trees().items()]
    assert [*filter(None, told)] == []
    known = {
        by: [name.removeprefix("dropcheck.") for name in imported(nodes)]
        for by, nodes in trees().items()
        if by not in LAZY
    }
    graph = {
        by: [name for name in names if name in known and name != by] for by, names in known.items()
    }
    tuple(TopologicalSorter(graph).static_order())


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
