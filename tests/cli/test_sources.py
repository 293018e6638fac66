"""Where claims and settings come from: folders, standard input, and a project's pyproject.toml."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from cli_stub import CLAIMS, Cli

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
    assert {"sums", "kept-share"} <= set(listed(cli, "docs"))
    Path("kept-share").mkdir()
    assert listed(cli, "kept-share") == ["kept-share"]  # an id of claims.yaml outranks a folder
    Path("kept").write_text(CLAIMS.replace("kept-share", "kept"), encoding="utf-8")
    assert listed(cli, "kept", "-f", "kept") == ["kept"]  # the id, and the file by its option


def test_what_begins_with_a_dash_after_two_is_a_file(cli: Cli) -> None:
    Path("-own.yaml").write_text(CLAIMS, encoding="utf-8")
    assert "kept-share" in cli("list", "--", "-own.yaml").out
    assert "there is no file './--seed'" in cli("run", "--", "--seed").err


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


def test_the_search_ends_at_the_root_of_a_repository(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    project("seed = 9")
    Path("repository/.git").mkdir(parents=True)
    Path("repository/claims.yaml").write_text(CLAIMS, encoding="utf-8")
    monkeypatch.chdir("repository")
    report = json.loads(cli("run", "kept-share", "--format", "json").out)
    assert report["seed"] == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("alhpa = 1", "pyproject.toml:2:1: [tool.dropcheck] has no key 'alhpa'"),
        ("seed = 1\nalpha = 2", "pyproject.toml:3:1: 'alpha' cannot be '2': it must be a number"),
        ("seed = true", "pyproject.toml:2:1: 'seed' cannot be 'True': it must be a whole number"),
        ("tags = 3", "pyproject.toml:2:1: 'tags' must be a text or a list of texts, and is 3"),
        ("seed = = 1", "pyproject.toml:2:8: it cannot be read: Invalid value"),
    ],
)
def test_what_is_wrong_in_it_is_told_with_its_place(cli: Cli, text: str, told: str) -> None:
    project(text)
    done = cli("run", "kept-share")
    assert done.code == 2
    assert done.err.startswith(told)


# ---- the options ---------------------------------------------------------------------------------
