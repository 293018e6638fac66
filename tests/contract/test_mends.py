"""What once was judged wrongly, crashed or was misread stays mended.

A row of `mends.yaml` says what once happened and gives the smallest input that showed it: `model`
and `claim`, or a document (`md`), and the `draws` that it takes. What `must` come of it is a
verdict, `not` a verdict, or words of the error. These are facts: no option rewrites them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from contract.conftest import FOLDER
from dropcheck.cli import main

OPEN = "undecided"
VERDICTS = {"verified", "refuted", OPEN}
OPTIONS = ("--format", "json", "--threads", "1")
FEW = 30_000  # draws, where a row has no `draws`
REFUSED = 2  # the exit code

Row = dict[str, Any]
Capsys = pytest.CaptureFixture[str]
ROWS: list[Row] = yaml.safe_load((FOLDER / "mends.yaml").read_text(encoding="utf-8"))


def came_of(row: Row, capsys: Capsys) -> set[str]:
    """The verdicts by exact values alone and with few draws, or the words of the errors."""
    claim: dict[str, Any] = {key: row[key] for key in ("model", "claim") if key in row}
    file = {"dropcheck": 1, "claims": {"c": {"title": "T", **claim}}}
    name = "paper.md" if "md" in row else "claims.yaml"
    Path(name).write_text(row.get("md") or json.dumps(file), encoding="utf-8")
    came = set()
    for more in (["--exact"], ["--max-draws", str(row.get("draws", FEW))]):
        code = main(["run", name, *OPTIONS, *more])
        told = json.loads(capsys.readouterr().out)
        if code == REFUSED:
            return {" ".join(f"{one['message']} {one['hint']}" for one in told["errors"])}
        came |= {str(case["verdict"]) for case in told["cases"]}
    return came


def is_as_it_must(came: set[str], must: str) -> bool:
    """Whether what came of an input is what must: of a verdict, not its opposite either.

    >>> is_as_it_must({"undecided"}, "not verified"), is_as_it_must({"refuted"}, "verified")
    (True, False)
    """
    if must.startswith("not ") and must.removeprefix("not ") in VERDICTS:
        return came <= VERDICTS - {must.removeprefix("not ")}
    if must in VERDICTS:
        return must in came and came <= {must, OPEN}
    return any(must in one for one in came - VERDICTS)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["once"][:60])
def test_what_was_mended_stays_so(row: Row, capsys: Capsys) -> None:
    came = came_of(row, capsys)
    assert is_as_it_must(came, row["must"]), came


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("model", "must"),
    [("x ~ normal(1, 1)", "verified"), ("x ~ normal(0, 1)", "refuted"), ("x ~ nrmal(0, 1)", "lqw")],
)
def test_another_outcome_is_noticed(model: str, must: str, capsys: Capsys) -> None:
    row = {"model": model, "claim": "E(x) == 0"}
    assert not is_as_it_must(came_of(row, capsys), must)
