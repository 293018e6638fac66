"""Which claims a command speaks of: files, folders, standard input, projects, and init."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from cli_stub import CLAIMS, Cli

OTHER = """\
dropcheck: 1
claims:
  other-claim:
    title: Another claim
    tags: [passes]
    parameters: {width: [3]}
    model: x ~ normal(0, width)
    claim: E(x) == 0
"""


@pytest.fixture
def files(cli: Cli) -> Cli:
    """The command in a folder with two more files."""
    Path("a.yaml").write_text(CLAIMS, encoding="utf-8")
    Path("folder").mkdir()
    Path("folder/other").write_text(OTHER, encoding="utf-8")
    return cli


def claims_of(out: str) -> list[str]:
    return list(dict.fromkeys(case["claim"] for case in json.loads(out)["cases"]))


@pytest.mark.parametrize(
    "arguments",
    [
        ["-f", "a.yaml", "-f", "folder/other"],
        ["a.yaml", "folder/other"],
        ["a.yaml", "-f", "folder/other"],
        ["./a.yaml", "folder/other", "a.yaml"],  # a file that is named twice is read once
    ],
)
def test_several_files_are_one_registry(files: Cli, arguments: list[str]) -> None:
    result = files("run", *arguments, "--tag", "passes", "--format", "json")
    assert (result.code, result.err) == (0, "")
    assert set(claims_of(result.out)) == {"product-variance", "other-claim"}
    assert all(name in json.loads(result.out)["registry"] for name in ("a.yaml", "folder/other"))


def test_the_command_that_repeats_a_case_names_every_file(files: Cli) -> None:
    # the error rate is divided over all of them
    named = ("a.yaml", "folder/other", "./a.yaml", "a.yaml")  # each once
    result = files("run", "kept-share", *named, "--format", "json")
    [case] = json.loads(result.out)["cases"]
    assert case["repeat"].startswith("dropcheck run kept-share --file a.yaml --file folder/other ")
    again = files(*case["repeat"].split()[1:], "--format", "json")
    assert json.loads(again.out)["cases"][0]["repeat"] == case["repeat"]


MARKED = "# Sums\n\nIt is 3<!-- dropcheck #sums: == 1 + 2 -->.\n"


def listed(cli: Cli, *arguments: str) -> list[str]:
    done = cli("list", *arguments, "--format", "json")
    assert done.code == 0, done.err
    return [claim["id"] for claim in json.loads(done.out)["claims"]]


# ---- folders -------------------------------------------------------------------------------------


def test_a_folder_stands_for_the_files_in_it_that_hold_claims(cli: Cli) -> None:
    for name, text in {
        "docs/sums.md": MARKED,
        "docs/plain.md": "Nothing of dropcheck is claimed.\n",
        "docs/more/own.yaml": CLAIMS,
        "docs/workflow.yml": "on: push\n",
        "docs/.hidden/other.yaml": CLAIMS,
    }.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    assert {"sums", "kept-share"} <= set(listed(cli, "docs/"))
    told = cli("check", "docs")
    assert told.code == 0
    assert "note: docs holds docs/sums.md, docs/more/own.yaml\n" in told.err
    run = cli("run", "docs/", "kept-share", "--format", "json")
    assert "--file docs/ " in json.loads(run.out)["cases"][0]["repeat"]
    assert "hint: write docs/ " in cli("list", "docs").err
    Path("kept").write_text(CLAIMS.replace("kept-share", "kept"), encoding="utf-8")
    assert listed(cli, "kept", "-f", "kept") == ["kept"]  # the id, and the file by its option


# ---- standard input ------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["run", "-"], ["check", "-"], ["list", "--file", "-"]])
def test_a_dash_is_standard_input(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    text = "dropcheck: 1\nclaims: {one: {title: T, tags: [passes], claim: 1 == 1}}\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    done = cli(*arguments)
    assert (done.code, done.err) == (0, "")
    assert "<stdin>" in done.out


# ---- pyproject.toml ------------------------------------------------------------------------------


def project(text: str) -> None:
    Path("pyproject.toml").write_text(f"[tool.dropcheck]\n{text}\n", encoding="utf-8")


def test_a_project_gives_defaults_and_the_line_outranks_them(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("own.yaml").write_text(CLAIMS, encoding="utf-8")
    project('file = "own.yaml"\ntags = ["fails"]\nalpha = 1e-3\nresolution = "5%"\nseed = 9')
    Path("deep/er").mkdir(parents=True)
    monkeypatch.chdir("deep/er")
    report = json.loads(cli("run", "--format", "json").out)
    assert [case["claim"] for case in report["cases"]] == ["kept-share"]
    assert (report["alpha"], report["seed"]) == (0.001, 9)
    repeat = report["cases"][0]["repeat"]
    assert "--file ../../own.yaml " in repeat
    assert repeat.endswith("--seed 9 --alpha=0.001 --resolution=5%")
    Path("open-question").mkdir()  # an id of the project's file outranks a folder
    line = ["run", "open-question", "--alpha", "0.01", "--seed", "1", "--format", "json"]
    report = json.loads(cli(*line).out)
    assert [case["claim"] for case in report["cases"]] == ["open-question"]  # whatever its tags
    assert (report["alpha"], report["seed"]) == (0.01, 1)
