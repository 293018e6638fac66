"""The action for GitHub: its shell steps, taken from the file and run as written."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
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


GOOD = "dropcheck: 1\nclaims:\n  c:\n    title: T\n    tags: [fast]\n    claim: 1 == 1\n"
FALSE = GOOD.replace("1 == 1", "1 == 2")
OPEN = """\
dropcheck: 1
claims:
  c: {title: T, model: 'x ~ cauchy(0, 1)', claim: E(x) == 0}
"""
SLOT = """\
dropcheck: 1
slots:
  twice: {title: T, takes: [x], gives: 2 * x}
claims:
  c: {title: T, model: 'x ~ normal(1, 1)', claim: E(twice(x)) == 2}
"""
BROKEN = GOOD.replace("claim:", "clam:")

pytestmark = pytest.mark.skipif(
    shutil.which("bash") is None or os.name == "nt", reason="the steps are for a POSIX bash"
)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    (tmp_path / "work").mkdir()
    (tmp_path / "beside").mkdir()
    return Runner(tmp_path / "work", tmp_path / "beside")


def test_inputs_reach_the_shell_as_values_and_never_as_text() -> None:
    scripts = [step["run"] for step in action()["runs"]["steps"] if "run" in step]
    assert len(scripts) == 3
    assert not [script for script in scripts if "${{" in script]


@pytest.mark.parametrize(
    ("text", "code"),
    [(GOOD, 0), (FALSE, 1), (BROKEN, 2), (OPEN, 4)],
    ids=["good", "false", "broken", "open"],
)
def test_the_exit_code_is_that_of_the_run(text: str, code: int, runner: Runner) -> None:
    (runner.work / "claims.yaml").write_text(text)
    done = runner.run(args="--max-draws 1000")
    assert done.code == code, done.output
    assert done.outputs == {"exit-code": str(code), "reports": ""}


def test_one_run_takes_all_files(runner: Runner) -> None:
    (runner.work / "my claims.yaml").write_text(GOOD)
    for folder, text in (("a", FALSE), ("a/b", OPEN), ("c", GOOD)):
        (runner.work / folder).mkdir()
        (runner.work / folder / "[1].yaml").write_text(text.replace("c:", f"of-{folder[-1]}:"))
    done = runner.run(
        files="my claims.yaml\r\n\na/**/*.yaml\nc/[1].yaml\n",
        report="out.json\nout.md",
        args="--max-draws 1e3",
    )
    assert done.code == 1, done.output
    assert done.outputs["reports"].splitlines() == ["out.json", "out.md"]
    found = json.loads((runner.work / "out.json").read_text())
    assert [case["claim"] for case in found["cases"]] == ["c", "of-a", "of-b", "of-c"]
    assert runner.run(files="nothing/*.yaml").code == 2


def test_code_is_checked(runner: Runner) -> None:
    (runner.work / "claims.yaml").write_text(SLOT)
    (runner.work / "mine.py").write_text("def twice(x):\n    return 2 * x\n")
    assert runner.run(**{"with": "own:twice=mine:twice\n"}).code == 0
    (runner.work / "mine.py").write_text("def twice(x):\n    return 2.1 * x\n")
    assert runner.run(**{"with": "own:twice=mine:twice"}).code == 1


@pytest.mark.parametrize("field", ["files", "args", "report"])
@pytest.mark.parametrize("text", ["$(touch hacked)", "; touch hacked", "x' ; touch hacked; '"])
def test_nothing_given_is_run(field: str, text: str, runner: Runner) -> None:
    (runner.work / "claims.yaml").write_text(GOOD)
    done = runner.run(**{field: text})
    assert done.code != 0, done.output
    assert {path.name for path in runner.work.iterdir()} <= {"claims.yaml", ".dropcheck_cache"}


def test_an_output_cannot_be_forged(runner: Runner) -> None:
    (runner.work / "claims.yaml").write_text(GOOD)
    done = runner.run(report="a.json\nexit-code=99.json")
    assert done.outputs == {"exit-code": "0", "reports": "a.json\nexit-code=99.json"}
