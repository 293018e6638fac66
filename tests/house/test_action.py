"""The action for GitHub: its shell steps, taken from the file and run as written."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from action_steps import TOP, Runner, action

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


def test_every_input_and_output_is_described_and_used() -> None:
    found = action()
    text = json.dumps(found["runs"])
    for name, one in found["inputs"].items():
        assert one["description"]
        assert f"inputs.{name}" in text
    for name, one in found["outputs"].items():
        assert one["description"]
        assert f"steps.run.outputs.{name}" in one["value"]
    assert all(step.get("shell") == "bash" for step in found["runs"]["steps"] if "run" in step)


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


def test_a_failure_is_annotated_and_summarised(runner: Runner) -> None:
    (runner.work / "claims.yaml").write_text(FALSE)
    done = runner.run()
    assert re.search(r"^::error .*file=claims\.yaml,.*line=3", done.output, re.MULTILINE), (
        done.output
    )
    assert "|" in done.summary


def test_reports_are_written_and_named(runner: Runner) -> None:
    (runner.work / "claims.yaml").write_text(GOOD)
    done = runner.run(report="out.json")
    assert done.outputs == {"exit-code": "0", "reports": "out.json"}
    assert json.loads((runner.work / "out.json").read_text())["summary"]["passed"] == 1


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


def test_a_check_simulates_nothing(runner: Runner) -> None:
    (runner.work / "claims.yaml").write_text(FALSE)
    done = runner.run(command="check", report="out.json")
    assert done.code == 0
    assert "claims.yaml: 1 claim, 1 case, no errors" in done.output
    assert done.outputs["reports"] == ""


def test_a_folder_of_its_own(runner: Runner) -> None:
    (runner.work / "paper").mkdir()
    (runner.work / "paper" / "claims.yaml").write_text(GOOD)
    assert runner.run(working_directory="paper").code == 0
    assert runner.run(files="claims.yaml").code == 2


def test_options_are_read_as_a_shell_reads_them(runner: Runner) -> None:
    (runner.work / "claims.yaml").write_text(GOOD)
    assert runner.run(args="--tag fast 'c' --max-draws \"1e3\"").code == 0
    assert runner.run(args="--tag slow").code == 5
    done = runner.run(args="--tag 'fast")
    assert done.code == 2
    assert "quote that is never closed" in done.output


@pytest.mark.parametrize("field", ["files", "args", "report", "command"])
@pytest.mark.parametrize(
    "text", ["$(touch hacked)", "`touch hacked`", "; touch hacked", "x' ; touch hacked; '", "$?*"]
)
def test_nothing_given_is_run(field: str, text: str, runner: Runner) -> None:
    (runner.work / "claims.yaml").write_text(GOOD)
    done = runner.run(**{field: text})
    assert done.code != 0, done.output
    assert {path.name for path in runner.work.iterdir()} <= {"claims.yaml", ".dropcheck_cache"}


def test_an_output_cannot_be_forged(runner: Runner) -> None:
    (runner.work / "claims.yaml").write_text(GOOD)
    done = runner.run(report="a.json\nexit-code=99.json")
    assert done.outputs == {"exit-code": "0", "reports": "a.json\nexit-code=99.json"}


def test_it_installs_itself_where_the_next_step_finds_it(runner: Runner, tmp_path: Path) -> None:
    """As written, but for the libraries: they are those of this environment, not fetched anew."""
    import numpy

    libraries = str(Path(numpy.__file__).parent.parent)
    source = tmp_path / "source"
    source.mkdir()
    shutil.copytree(
        TOP / "dropcheck", source / "dropcheck", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("LICENSE", "README.md", "claims.schema.json", "claims.yaml", "pyproject.toml"):
        shutil.copy(TOP / name, source / name)
    python = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    offline = {"PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PYTHONPATH": libraries}
    done = runner.step(
        "Install dropcheck",
        {"with": "torch"},
        GITHUB_ACTION_PATH=str(source),
        PATH=python,
        **offline,
    )
    assert done.code == 0, done.output
    (added,) = done.path.splitlines()
    (found_too,) = runner.beside.glob("dropcheck/lib/*/site-packages/job.pth")
    assert libraries in found_too.read_text().splitlines()
    assert [one.name for one in Path(added).iterdir()] == ["dropcheck"]  # and no other Python
    (runner.work / "claims.yaml").write_text(GOOD)
    ran = runner.step(
        "Try the claims", {}, PATH=f"{added}{os.pathsep}{python}", PYTHONPATH=libraries
    )
    assert ran.code == 0, ran.output
