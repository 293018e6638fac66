"""What GitHub is told: annotations on lines, the step's summary, and nothing anywhere else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cli_stub import CLAIMS, Cli
from report_cases import FAILED, run_of

from dropcheck.claims.reader import SHIPPED_NAME
from dropcheck.claims.registry import Registry
from dropcheck.cli_output import summarise
from dropcheck.errors import Location, Problem
from dropcheck.report import Report
from dropcheck.report.formats import run_annotations
from dropcheck.results import CaseResult

REGISTRY = Registry("claims.yaml", {}, {})


def annotations_of(*cases: CaseResult, problems: tuple[Problem, ...] = ()) -> list[str]:
    report = Report(run_of(*cases), REGISTRY, problems)
    return run_annotations(report).splitlines()


@pytest.fixture
def on_github(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    return cli


@pytest.mark.parametrize(
    ("number", "last"),
    [
        (9, None),
        (10, "and 1 more"),
        (14, "and 5 more"),
    ],
)
def test_nine_are_shown_and_a_line_counts_the_rest(number: int, last: str | None) -> None:
    lines = annotations_of(
        *(replace(FAILED, parameters={"p": float(index)}) for index in range(number))
    )
    assert len(lines) == min(number, 10)
    assert sum("file=claims.yaml,line=40" in line for line in lines) == 9
    if last is not None:
        assert lines[-1] == f"::error title={last}::{last}: see the log"


def test_errors_are_annotated_with_their_columns_and_counted() -> None:
    where = Location("claims.yaml", 12, 9)
    lines = annotations_of(problems=(Problem("'b' is no law", where, "try 'a'"),) * 12)
    assert lines[0] == (
        "::error file=claims.yaml,line=12,col=9,title=dropcheck::'b' is no law%0Ahint: try 'a'"
    )
    assert lines[-1] == "::error title=and 3 more::and 3 more: see the log"
    assert len(lines) == 10


HOSTILE = "50% a:b,c\r\n::error::x\n::set-output name=a::b \x1b[31m"


def test_a_user_s_text_is_no_command() -> None:
    odd = replace(
        FAILED,
        title=HOSTILE,
        statement=HOSTILE,
        repeat=HOSTILE,
        parameters={"law": HOSTILE},
        location=Location(HOSTILE, 3),
    )
    text = run_annotations(Report(run_of(odd), REGISTRY, (Problem(HOSTILE, None, HOSTILE),)))
    assert len(text.splitlines()) == 2
    for line in text.splitlines():
        properties, _, message = line.removeprefix("::error ").partition("::")
        assert "%25" in properties + message
        assert "\x1b" not in line
        # no property but those that are ours
        names = [part.partition("=")[0] for part in properties.split(",")]
        assert set(names) <= {"file", "line", "title"}
        assert "::set-output" not in properties


def test_a_file_outside_the_repository_is_named_in_the_message_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "repository"
    (inside / "docs").mkdir(parents=True)
    monkeypatch.chdir(inside / "docs")

    def told(file: str) -> str:
        case = replace(FAILED, location=Location(file, 40))
        return run_annotations(Report(run_of(case), REGISTRY, workspace=inside))

    assert "::error file=docs/claims.yaml,line=40," in told("claims.yaml")
    assert "::error file=a b.yaml,line=40," in told(str(inside / "a b.yaml"))
    for file in ("/elsewhere/claims.yaml", "../../claims.yaml", SHIPPED_NAME, "a\x00b"):
        line = told(file)
        assert line.startswith("::error title=")
        assert "%0Awhere: " in line


def test_a_long_text_is_cut_in_an_annotation() -> None:
    case = replace(FAILED, title="x" * 100_000, parameters={"law": "y" * 100_000})
    assert len(annotations_of(case)[0]) < 5000


# through the command line


def test_under_actions_failures_stand_beside_the_table(on_github: Cli) -> None:
    result = on_github("run", "product-variance", "kept-share", "open-question")
    assert result.code == 1
    table, *commands = result.out.split("\n::")
    assert table.startswith("claim ")
    assert [command.split("::")[0].split(",title")[0] for command in commands] == [
        "error file=claims.yaml,line=11,col=3",
        "error file=claims.yaml,line=17,col=3",
    ]
    summary = Path("summary.md").read_text(encoding="utf-8")
    assert summary.startswith("### dropcheck\n\n| claim | statement |")
    assert "**FAIL: refuted** `kept-share[keep_prob=0.5,mu=0]`" in summary


def test_annotations_alone_are_a_format_under_actions_too(cli: Cli, on_github: Cli) -> None:
    result = on_github("run", "kept-share", "--format", "github")
    assert result.code == 1
    assert result.out.startswith("::error file=claims.yaml,line=11,col=3,title=")
    assert result.out.count("\n") == 1
    assert "kept-share" in Path("summary.md").read_text()
    assert cli("run", "product-variance", "--format", "github").out == ""


def test_a_summary_is_added_to_what_is_there(on_github: Cli) -> None:
    Path("summary.md").write_text("before\n")
    on_github("run", "kept-share")
    on_github("run", "product-variance")
    summary = Path("summary.md").read_text()
    assert summary.startswith("before\n### dropcheck")
    assert summary.count("### dropcheck") == 2


def test_a_summary_that_cannot_be_written_changes_no_verdict(
    on_github: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/such/folder.md")
    result = on_github("run", "product-variance")
    assert result.code == 0
    assert "note: the file 'no/such/folder.md' could not be added to: no such file" in result.err


def test_a_summary_stays_below_what_github_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    long = replace(FAILED, statement="E(x) == " + "1 + " * 200_000 + "1")
    assert summarise(Report(run_of(long), REGISTRY)) == []
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert len(text) < 1000
    assert "The table is too long" in text
    assert "1 case: 0 passed, 1 failed" in text


def test_errors_of_a_registry_are_annotated(on_github: Cli) -> None:
    Path("bad.yaml").write_text(CLAIMS.replace("normal(0, 1)[dk]", "nomal(0, 1)[dk]"))
    for command in (("run", "-f"), ("check",), ("list", "-f")):
        result = on_github(*command, "bad.yaml")
        if command[0] == "list":  # which reads no model
            assert result.code == 0
            continue
        assert result.code == 2
        commands = [line for line in result.out.splitlines() if line.startswith("::")]
        assert [line.split(",title")[0] for line in commands] == [
            "::error file=bad.yaml,line=8,col=11",
            "::error file=bad.yaml,line=9,col=11",
        ]
        assert "bad.yaml:8:11: 'nomal' is not a law" in result.err
    assert "2 errors · bad.yaml" in Path("summary.md").read_text(encoding="utf-8")


def test_an_error_under_json_leaves_standard_output_json(on_github: Cli) -> None:
    Path("bad.yaml").write_text("claims: [")
    for arguments in (["run", "-f", "bad.yaml"], ["check", "bad.yaml"]):
        result = on_github(*arguments, "--format", "json")
        assert json.loads(result.out)["errors"]
    assert "error" in Path("summary.md").read_text()


def test_no_line_of_a_claims_file_becomes_a_command(on_github: Cli) -> None:
    Path("bad.yaml").write_text(
        CLAIMS.replace("title: A share", "title: >-\n      ::warning::one\n\n      ::error::two")
        + "::set-output name=a::b\n"
    )
    for arguments in (["check", "bad.yaml"], ["run", "-f", "bad.yaml"]):
        result = on_github(*arguments)
        assert result.code == 2
        assert ": :set-output name=a::b" in result.err  # the line itself, shown
        for line in (result.out + result.err).splitlines():
            assert not line.lstrip().startswith(("::set-output", "::warning"))
    Path("odd.yaml").write_text(
        CLAIMS.replace("title: A share", "title: '::warning::one ::error::two'")
    )
    result = on_github("run", "kept-share", "-f", "odd.yaml")
    commands = [line for line in result.out.splitlines() if line.lstrip().startswith("::")]
    assert [line.split(",")[0] for line in commands] == ["::error file=odd.yaml"]
