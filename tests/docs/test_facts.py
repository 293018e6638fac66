"""What the pages say of options, formats, codes and limits is what the program has."""

from __future__ import annotations

import json
import re
import shlex
import stat
import subprocess
import sys
from typing import Any

import yaml
from readme_blocks import README, TOP, blocks, command
from report_cases import PASSED, run_of

from dropcheck.claims.registry import Registry
from dropcheck.cli_output import ExitCode
from dropcheck.judging.case import DEFAULT_WORK, MOST_DRAWS_BY_DEFAULT
from dropcheck.reasons import Reason
from dropcheck.report import Report
from dropcheck.report.formats import FORMATS, json_report
from dropcheck.results import Guarantee
from dropcheck.settings import DEFAULT_MEMORY

PAGES = {path.stem: path.read_text(encoding="utf-8") for path in (TOP / "docs").glob("*.md")}
TEXT = README.read_text(encoding="utf-8")
COMMANDS = ("run", "plan", "list", "show", "check", "mutate", "init", "schema")
# What a page names that is a parameter of a claim, or an option of another program.
OTHERS = {
    "--dk",
    "--p",
    "--n",
    "--from",
    "--lf",
    "--junitxml",
    "--install-completion",
    "--processes",
}


def helped(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "dropcheck", *words, "--help"],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    return done.stdout


def rows(text: str, header: str) -> list[str]:
    """The first cell of each row of the table that begins so."""
    table = text[text.index(header) :].split("\n\n", maxsplit=1)[0].splitlines()
    return [line.split("|")[1].strip().strip("`") for line in table[2:]]


def test_every_command_and_no_other_is_named() -> None:
    assert [
        name for name in COMMANDS if not re.search(rf"^\W*{name}\b", helped(), re.MULTILINE)
    ] == []
    named = {
        word
        for text in [TEXT, *PAGES.values()]
        for word in re.findall(r"`dropcheck ([a-z]+)", text)
    }
    assert named == set(COMMANDS)


def test_every_option_that_is_named_is_there() -> None:
    known = "".join(map(helped, COMMANDS))
    for name, text in [("README", TEXT), *PAGES.items()]:
        shown = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        named = set(re.findall(r"`(?:dropcheck [^`]*?)?(--[a-z][a-z-]+)", shown)) - OTHERS
        assert {one for one in named if one not in known} == set(), name


def test_every_exit_code_and_guarantee_has_its_row() -> None:
    assert rows(PAGES["run"], "| code |") == [str(int(code)) for code in ExitCode]
    assert rows(PAGES["statistics"], "| guarantee |") == [one.value for one in Guarantee]


def test_every_format_has_its_row() -> None:
    table = PAGES["reports"].partition("| `--format` |")[2].partition("\n\n")[0]
    for name, form in FORMATS.items():
        assert f"`{form.ending or name}`" in table, name


def test_the_page_names_every_key_of_a_case_in_json() -> None:
    section = PAGES["reports"].partition("## JSON")[2].partition("\n## ")[0]
    (case,) = json.loads(json_report(Report(run_of(PASSED), Registry("claims.yaml", {}, {}))))[
        "cases"
    ]
    assert [key for key in case if f"`{key}`" not in section] == []


def test_limits_are_those_of_the_program() -> None:
    assert "20 seconds of work and at most 10⁹ draws, and one draw may take 512 MiB" in TEXT
    assert (DEFAULT_WORK, MOST_DRAWS_BY_DEFAULT, DEFAULT_MEMORY) == (20e9, 1e9, 2**30)


def test_commands_to_install_are_one_line_and_the_ones_that_ci_runs() -> None:
    script = TOP / ".ci" / "run"
    assert script.stat().st_mode & stat.S_IXUSR
    for name, end in (("run", ".venv/bin/dropcheck run all"), ("test", "-m pytest -q -n auto")):
        line = command(TEXT, f"install and {name}")
        assert line.startswith("python3 -m venv .venv && .venv/bin/pip install -q ")
        assert line.endswith(end)
        assert f'"install and {name}"' in script.read_text(encoding="utf-8")


def test_the_workflow_runs_all_and_writes_a_report() -> None:
    [block] = [block for block in blocks(TEXT) if block.marker == "workflow"]
    [job] = yaml.safe_load(block.text)["jobs"].values()
    [line] = [one["run"] for one in job["steps"] if one.get("run", "").startswith("dropcheck")]
    assert shlex.split(line) == ["dropcheck", "run", "all", "--output", "report.json"]


def test_the_action_takes_what_its_example_gives() -> None:
    action: Any = yaml.safe_load((TOP / "action.yml").read_text(encoding="utf-8"))
    [text] = [
        one.text for one in blocks(PAGES["reports"]) if one.file == ".github/workflows/claims.yml"
    ]
    [job] = yaml.safe_load(text)["jobs"].values()
    [step] = [one for one in job["steps"] if one["uses"] == "./dropcheck"]
    assert set(step["with"]) <= set(action["inputs"])


def test_reasons_are_those_of_the_program() -> None:
    said = [one.sentence for one in Reason]
    told = rows(PAGES["statistics"], "| reason |")
    assert len(told) == 8
    assert [one for one in told if not any(one in sentence for sentence in said)] == []
