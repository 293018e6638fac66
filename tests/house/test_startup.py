"""What only reads starts fast: nothing heavy is loaded for it, nor is scipy.stats ever."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("line", ["run banana", "run --what", "check none.yaml"])
def test_an_error_on_the_command_line_loads_nothing_heavy(tmp_path: Path, line: str) -> None:
    code, loaded = loaded_by(tmp_path, *line.split())
    assert code == 2
    assert {name.split(".")[0] for name in loaded} <= {"pydantic"}


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
