"""The steps of the action for GitHub, run as its runner runs them.

What GitHub itself does (setting Python up, handing outputs on) is stood in for by the files and
variables that its runner gives to each step.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from warm_starts import program

TOP = Path(__file__).parents[2]
# How GitHub runs a step whose shell is `bash`.
SHELL = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"]


def action() -> dict[str, Any]:
    found = yaml.safe_load((TOP / "action.yml").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def steps() -> dict[str, dict[str, Any]]:
    return {step.get("name", step.get("uses")): step for step in action()["runs"]["steps"]}


@dataclass(frozen=True)
class Done:
    """What a step leaves behind."""

    code: int
    output: str
    outputs: dict[str, str]
    summary: str
    path: str


@dataclass(frozen=True)
class Runner:
    """A folder to work in, and beside it the files that the runner gives to a step."""

    work: Path
    beside: Path

    def step(self, name: str, inputs: Mapping[str, str], **more: str) -> Done:
        """Carry out a step with these inputs, the others by default."""
        step = steps()[name]
        given = {key: str(one.get("default", "")) for key, one in action()["inputs"].items()}
        given |= inputs
        for file in ("output", "path", "summary"):
            (self.beside / file).write_text("")
        script = self.beside / "step.sh"
        script.write_text(step["run"], encoding="utf-8")
        environment = {
            **os.environ,
            "NO_COLOR": "1",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(TOP),
            "GITHUB_OUTPUT": str(self.beside / "output"),
            "GITHUB_PATH": str(self.beside / "path"),
            "GITHUB_STEP_SUMMARY": str(self.beside / "summary"),
            "GITHUB_WORKSPACE": str(self.work),
            "RUNNER_TEMP": str(self.beside),
            **{key: self._filled(text, given) for key, text in step.get("env", {}).items()},
            **more,
        }
        done = subprocess.run(
            [*SHELL, str(script)],
            cwd=self.work / self._filled(step.get("working-directory", "."), given),
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return Done(
            done.returncode,
            done.stdout + done.stderr,
            dict(_outputs((self.beside / "output").read_text())),
            (self.beside / "summary").read_text(encoding="utf-8"),
            (self.beside / "path").read_text(),
        )

    def run(self, **inputs: str) -> Done:
        """The step that tries the claims, with this environment's dropcheck on the path."""
        (self.beside / "bin").mkdir(exist_ok=True)
        found = (program(self.beside / "bin").parent, Path(sys.executable).parent)
        here = os.pathsep.join([*map(str, found), os.environ["PATH"]])
        return self.step(
            "Try the claims", {key.replace("_", "-"): text for key, text in inputs.items()},
            PATH=here,
        )  # fmt: skip

    def _filled(self, text: str, inputs: Mapping[str, str]) -> str:
        """A text with its expressions filled in; what other steps give is empty."""
        known = {f"inputs.{key}": value for key, value in inputs.items()}
        known["runner.temp"] = str(self.beside)
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: known.get(found[1], ""), text)


def _outputs(text: str) -> Iterator[tuple[str, str]]:
    """Outputs as the runner reads them: `name=value`, or `name<<mark`, lines, `mark`."""
    lines = iter(text.splitlines())
    for line in lines:
        name, multiple, mark = line.partition("<<")
        if multiple:
            yield name, "\n".join(iter(lambda: next(lines), mark))
        else:
            name, _, value = line.partition("=")
            yield name, value
