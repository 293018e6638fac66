"""Claims files among the arguments: as options or as words, several, mixed with ids."""

from __future__ import annotations

import json
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


def test_one_mark_in_two_documents_is_an_error_that_says_how_to_name_it(files: Cli) -> None:
    for name in ("one.md", "two.md"):
        Path(name).write_text("# Sums\n\nIt is 3<!-- dropcheck: == 1 + 2 -->.\n", encoding="utf-8")
    result = files("run", "one.md", "two.md")
    assert result.code == 2
    assert "is already used in one.md, line 3" in result.err
    assert "give one of the two a name, as in dropcheck #another: …" in result.err
