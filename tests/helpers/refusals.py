"""What the command line says of a file that it refuses."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

import pytest
from bad_inputs import LAST, Bad

from dropcheck.cli import main

ERROR = 2  # the exit code of a bad option, or a registry with errors
SECONDS = 5.0  # each takes a tenth of one; what hangs takes for ever

Capsys = pytest.CaptureFixture[str]


@dataclass(frozen=True)
class Refusal:
    """What the command line said of a file."""

    code: int
    errors: list[dict[str, Any]]
    text: str


def run(capsys: Capsys, name: str, *arguments: str) -> Refusal:
    """What `run` says of a file, in good time."""
    started = time.process_time()
    code = main(["run", "all", "--file", name, "--format", "json", *arguments])
    assert time.process_time() - started < SECONDS
    captured = capsys.readouterr()
    errors = json.loads(captured.out).get("errors", [])
    return Refusal(code, errors, captured.err)


def check(capsys: Capsys, name: str) -> Refusal:
    """What `check` says of it."""
    started = time.process_time()
    code = main(["check", name])
    assert time.process_time() - started < SECONDS
    return Refusal(code, [], capsys.readouterr().err)


def assert_refused(ran: Refusal, checked: Refusal, name: str, bad: Bad) -> None:
    """`run` and `check` say the same of an input, at the same place."""
    assert ran.code == ERROR
    line = bad.line
    if line == LAST:
        assert isinstance(bad.text, str)
        line = bad.text.rstrip("\n").count("\n") + 1
    named = [error for error in ran.errors if bad.message in error["message"]]
    assert named, ran.errors
    (error, *_) = named
    assert error["file"] == name
    assert (error["line"], error["column"]) == (line, bad.column)
    assert bad.hint in (error["hint"] or "")
    place = ":".join(str(part) for part in (name, line, bad.column) if part is not None)
    assert checked.code == ERROR
    assert f"{place}: " in checked.text
    flat = " ".join(checked.text.split())
    assert " ".join(bad.message.split())[:60] in flat
    assert "Traceback" not in checked.text
