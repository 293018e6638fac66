"""The README holds what it says: its commands are run, its files tried, its lists compared.

The draws behind the outputs have fixed seeds, so that no false alarm is possible on the machine
where they were made; elsewhere a last printed digit could differ only by arithmetic that differs.
The command that installs and tests is run by `.ci/run`, for it would run this test again.
"""

from __future__ import annotations

import json
import re
import shlex
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from readme_blocks import (
    README,
    TOP,
    Block,
    blocks,
    command,
    matches,
    prepare,
    printed_by,
)

from dropcheck.claims.reader import read_text
from dropcheck.cli.output import ExitCode
from dropcheck.judging.case import DEFAULT_WORK, MOST_DRAWS_BY_DEFAULT
from dropcheck.language.check import check_registry
from dropcheck.results import Guarantee, Verdict
from dropcheck.settings import DEFAULT_MEMORY
from dropcheck.vocabulary.functions import FUNCTIONS
from dropcheck.vocabulary.laws import LAWS

TEXT = README.read_text(encoding="utf-8")
BLOCKS = blocks(TEXT)
FILES = [block for block in BLOCKS if block.file is not None]
CONSOLE = [block for block in BLOCKS if block.kind == "console"]
SOUND = [block for block in FILES if "with errors" not in block.marker]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the README's reader would have it, with every file that it tells to write."""
    made = tmp_path_factory.mktemp("reader")
    for block in FILES:
        assert block.file is not None
        (made / block.file).write_text(block.text, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def environment(folder: Path) -> dict[str, str]:
    return prepare(folder)


def run(folder: Path, environment: dict[str, str], *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        ["dropcheck", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout


def verdicts_written(block: Block) -> dict[str, str]:
    """What the comments beside the statements of a file say, claim by claim."""
    found = {}
    for claim in read_text(block.text).claims.values():
        line = block.text.splitlines()[claim.statement.origins[0][0] - 1]
        words = re.search(r"# (\w+)", line)
        assert words is not None, f"no verdict stands beside {line!r}"
        found[claim.id] = Verdict(words[1]).value
    return found


def workflow_steps() -> Any:
    [block] = [block for block in BLOCKS if block.marker == "workflow"]
    [job] = yaml.safe_load(block.text)["jobs"].values()
    return job["steps"]


def workflow_arguments() -> list[str]:
    """The arguments of the workflow's one dropcheck; the files above stand in for the registry."""
    commands = [step["run"] for step in workflow_steps() if "run" in step]
    [line] = [line for line in commands if line.startswith("dropcheck ")]
    return shlex.split(line)[1:]


# ---- what is shown is what happens --------------------------------------------------------------


def test_readme_shows_files_and_commands() -> None:
    assert len(SOUND) >= 2
    assert len(CONSOLE) >= 4
    known = {"console", "yaml", "sh"}
    assert {block.kind for block in BLOCKS} == known
    # every block is run in one way or the other
    assert all(
        block.kind == "console" or block.file or block.marker.startswith(("command: ", "workflow"))
        for block in BLOCKS
    )


@pytest.mark.parametrize("block", CONSOLE, ids=lambda block: block.commands[0][0])
def test_commands_print_what_is_shown(
    block: Block, folder: Path, environment: dict[str, str]
) -> None:
    printed = printed_by(block, folder, environment)
    for (line, shown), now in zip(block.commands, printed, strict=True):
        assert shown, f"{line}: no output is shown"
        told = "\n".join([f"$ {line}", *now])
        hint = "python tests/helpers/readme_blocks.py writes today's output into the README"
        assert matches(shown, now), f"{told}\n\n{hint}"


@pytest.mark.parametrize("block", SOUND, ids=lambda block: block.file)
def test_claims_shown_have_the_verdict_written_beside_them(
    block: Block, folder: Path, environment: dict[str, str]
) -> None:
    assert block.file is not None
    assert check_registry(read_text(block.text)).problems == ()
    code, _ = run(folder, environment, *workflow_arguments(), "--file", block.file)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    found: dict[str, set[str]] = {}
    for case in report["cases"]:
        found.setdefault(case["claim"], set()).add(case["verdict"])
    assert found == {name: {verdict} for name, verdict in verdicts_written(block).items()}
    passed = report["summary"]["passed"] == report["summary"]["cases"]
    assert code == (ExitCode.PASSED if passed else ExitCode.FAILED)


def test_file_shown_with_errors_has_them(folder: Path, environment: dict[str, str]) -> None:
    [wrong] = [block for block in FILES if block not in SOUND]
    assert wrong.file is not None
    assert run(folder, environment, "check", wrong.file)[0] == ExitCode.ERROR


# ---- the two commands, and what CI does ---------------------------------------------------------


def test_commands_to_install_are_one_line_and_the_ones_that_ci_runs() -> None:
    script = (TOP / ".ci" / "run").read_text(encoding="utf-8")
    for name, end in (("run", ".venv/bin/dropcheck run all"), ("test", "-m pytest -q -n auto")):
        line = command(TEXT, f"install and {name}")
        assert line.startswith("python3 -m venv .venv && .venv/bin/pip install -q ")
        assert line.endswith(end)
        assert f'"install and {name}"' in script


def test_ci_script_can_be_started() -> None:
    assert (TOP / ".ci" / "run").stat().st_mode & stat.S_IXUSR


def test_workflow_runs_all_and_keeps_the_report() -> None:
    assert workflow_arguments()[:2] == ["run", "all"]
    [upload] = [step for step in workflow_steps() if "upload" in step.get("uses", "")]
    assert upload["with"]["path"] == "report.json"
    assert "report.json" in workflow_arguments()


# ---- tables and numbers --------------------------------------------------------------------------


def rows(header: str) -> list[str]:
    """The first cell of each row of the table that begins so."""
    table = TEXT[TEXT.index(header) :].split("\n\n")[0].splitlines()
    return [line.split("|")[1].strip().strip("`") for line in table[2:]]


def test_every_exit_code_has_its_row() -> None:
    assert rows("| code |") == [str(int(code)) for code in ExitCode]


def test_every_guarantee_has_its_row() -> None:
    assert rows("| guarantee |") == [guarantee.value for guarantee in Guarantee]


def test_laws_and_functions_are_counted() -> None:
    assert f"{len(LAWS)} distributions, {len(FUNCTIONS)} functions" in TEXT


def test_limits_are_those_of_the_program() -> None:
    limits = TEXT[TEXT.index("## Limits") :]
    assert "about 20 seconds" in limits
    assert DEFAULT_WORK == 20e9
    assert "at most 10⁹ draws" in limits
    assert MOST_DRAWS_BY_DEFAULT == 1e9
    assert "may take 1 GiB of memory" in limits
    assert DEFAULT_MEMORY == 2**30


def test_every_option_named_is_there(folder: Path, environment: dict[str, str]) -> None:
    known = "".join(
        run(folder, environment, name, "--help")[1] for name in ("run", "check", "list", "show")
    )
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", TEXT)) - {"--dk", "--p"}
    assert len(named) >= 6
    assert {option for option in named if option not in known} == set()


def test_every_command_named_is_there(folder: Path, environment: dict[str, str]) -> None:
    known = re.findall(r"^  (\w+)  ", run(folder, environment, "--help")[1], re.MULTILINE)
    named = set(re.findall(r"`dropcheck (\w+)", TEXT))
    assert {"run", "list", "show", "check"} <= named
    assert named - set(known) == set()


def test_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert targets
    for target in targets:
        assert target.startswith("https://") or (TOP / target.partition("#")[0]).exists(), target


# ---- the checks can fail ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        (["x  verified"], ["x  refuted"]),
        (["x"], []),
        ([], ["x"]),
        (["…", "end"], ["begin", "other end"]),
        (["1 case · 2 s · seed 0"], ["1 case · 2 s · seed 1"]),
        (["a.b"], ["axb"]),
    ],
)
def test_comparison_sees_a_difference(shown: list[str], printed: list[str]) -> None:
    assert not matches(shown, printed)


def test_comparison_passes_over_time_and_what_is_left_out() -> None:
    assert matches(["a", "…", "b · 12 s · c"], ["a", "x", "y", "b · 0.05 s · c"])


def test_verdict_missing_beside_a_claim_is_seen() -> None:
    text = "dropcheck: 1\nclaims: {one: {title: One, claim: 1 == 1}}\n"
    with pytest.raises(AssertionError, match="no verdict"):
        verdicts_written(Block("yaml", "file: x.yaml", text, 0))
