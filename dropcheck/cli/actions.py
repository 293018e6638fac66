"""What GitHub's actions are told without being asked: annotations, and the step's summary."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dropcheck.cli.output import append_file
from dropcheck.errors import Problem

if TYPE_CHECKING:
    from dropcheck.report.contents import Report

LARGEST_SUMMARY = 2**20  # bytes; GitHub shows nothing at all of a step that adds more


def running() -> bool:
    """Whether this is a step of a workflow."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def workspace() -> Path | None:
    """The folder that holds the repository; None off GitHub."""
    named = os.environ.get("GITHUB_WORKSPACE", "") if running() else ""
    return Path(named) if named else None


def annotated(problems: Sequence[Problem]) -> str:
    """Errors as annotations."""
    from dropcheck.report.github import problem_annotations

    return problem_annotations(problems, workspace())


def summarise(report: Report) -> Sequence[Problem]:
    """Add the table to the step's summary; returns what kept it from that."""
    named = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if not named:
        return []
    from dropcheck.report.markdown import markdown_report, summary_line

    text = markdown_report(report)
    if len(text.encode("utf-8", "replace")) > LARGEST_SUMMARY // 2:  # others may add to it
        text = f"The table is too long for this place.\n\n{summary_line(report)}\n"
    problem = append_file(Path(named), f"### dropcheck\n\n{text}\n")
    return [] if problem is None else [problem]
