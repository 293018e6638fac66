"""Inputs that are refused: each with the place, the words and the hint of every error in it.

A row of `refused.yaml` has an input and what is said of it. `claim` is the body of the one claim
of a file, from line 4 on; `model` is its model, from line 6 on; `statement` is what is claimed of
`MODEL`; `file` is a whole claims file; `formula` is claimed on line 8 of a document; `md`, `tex`
and `ipynb` are documents; `command` is typed in a folder that holds the claims file `FILE`. Add a
row without `says`, run `pytest tests/contract --update-contract`, and read what was written. What
`check` lets pass is marked `run`.
"""

from __future__ import annotations

import json
import shlex
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from contract.conftest import FOLDER, Agreed, difference
from dropcheck.cli import main

NAME = "refused.yaml"
REFUSED = 2  # the exit code
DOCUMENTS = {"md": "md", "tex": "tex", "ipynb": "ipynb", "formula": "md"}
LONGEST = 110  # characters of a message, and of a hint: enough for the words that matter
HEAD = "dropcheck: 1\nclaims:\n  c:\n"
FILE = f"""\
{HEAD}    title: T
    tags: [t]
    parameters: {{p: [0.1, 0.5]}}
    model: x ~ bernoulli(p)
    claim: E(x) == p
"""
MODEL = """\
x, s ~ normal(0, 1)
v ~ normal(0, 1)[3]
w ~ normal(0, 1)[4]
m ~ normal(0, 1)[2, 3]
k ~ normal(0, 1)[3, 3]
t ~ normal(0, 1)[5, 2, 3]
i ~ discrete_uniform(0, 2)[6]
f = arange(3)
g = ones(2, 3)
"""
FORMULA = """\
<!-- dropcheck
models:
  m: |
    x, y, X, Y, p, mu, sigma, Psi, rho, d_k, Xbar, mu_hat, beta_0, tau1 ~ normal(0, 1)
    q, k, w, wbar, scores ~ normal(0, 1)[3]
    Q, K, A ~ normal(0, 1)[3, 3]
-->
"""
OUTPUT = ("--format", "json", "--max-draws", "1000")

Row = dict[str, Any]
Capsys = pytest.CaptureFixture[str]


class _Dumper(yaml.CSafeDumper):
    """Writes texts of several lines as blocks."""


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def said(row: Row, capsys: Capsys) -> str:
    """What the program says of an input: a line for each error."""
    (kind, text), *_ = row.items()
    name = f"document.{DOCUMENTS[kind]}" if kind in DOCUMENTS else "claims.yaml"
    Path(name).write_text(FILE if kind == "command" else _file(kind, text), encoding="utf-8")
    if kind == "command":
        code = main(shlex.split(text))
        message, _, hint = capsys.readouterr().err.partition("hint: ")
        return _line({"message": message, "hint": hint}) if code == REFUSED else f"exit {code}\n"
    code = main(["check", name, "--format", "json"])
    errors = json.loads(capsys.readouterr().out)["errors"]
    if code == REFUSED:
        return "".join(map(_line, errors))
    code = main(["run", "all", "--file", name, *OUTPUT])
    judged = json.loads(capsys.readouterr().out).get("cases", [])
    unjudged = [_line(_as_error(case), "run ") for case in judged if case["result"] == "error"]
    return "".join(unjudged) if code == REFUSED else f"exit {code}\n"


def _as_error(case: dict[str, Any]) -> dict[str, Any]:
    """What is said of a case that could not be judged."""
    said = case["facts"]
    return {**case["location"], "message": said["reason"], "hint": said["reading"]}


def _file(kind: str, text: str) -> str:
    """The file of a row."""
    model, statement = (text, "1 == 1") if kind == "model" else (MODEL, text)
    if kind == "claim":
        return HEAD + textwrap.indent(text, "    ")
    if kind == "formula":
        return f"{FORMULA}${text}$<!-- dropcheck: n: 3 -->\n"
    if kind not in ("model", "statement"):
        return text
    lines, claimed = (textwrap.indent(one.rstrip("\n"), "      ") for one in (model, statement))
    return f"{HEAD}    title: T\n    model: |\n{lines}\n    claim: |\n{claimed}\n"


def _line(error: dict[str, Any], told_by: str = "") -> str:
    """An error as `line:column message → hint`; `run` before it where `check` does not tell it."""
    cell = f"cell {error['cell']} " if error.get("cell") else ""
    place = f"{error['line']}:{error['column']}" if error.get("line") else ""
    hint = f" → {_short(error['hint'])}" if error.get("hint") else ""
    return f"{told_by}{cell}{place} {_short(error['message'])}{hint}\n".lstrip()


def _short(text: str) -> str:
    return textwrap.shorten(text, LONGEST, placeholder=" …")


def written(rows: list[Row]) -> str:
    """The rows as the golden file has them."""
    head = "# Refused inputs, and what is said of them: tests/contract/test_refused.py says more.\n"
    parts = [
        yaml.dump([row], Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1_000)
        for row in rows
    ]
    return head + "".join(parts)


def rows() -> list[Row]:
    return list(yaml.load((FOLDER / NAME).read_text(encoding="utf-8"), yaml.CSafeLoader))


def told_now(of: list[Row], capsys: Capsys) -> str:
    return written([{**row, "says": said(row, capsys)} for row in of])


def test_each_is_refused_with_the_same_words_at_the_same_place(
    folder: Path, capsys: Capsys, agreed: Agreed
) -> None:
    assert folder == Path.cwd()
    agreed(NAME, told_now(rows(), capsys))


def test_nothing_that_is_accepted_stands_in_the_table() -> None:
    assert [row for row in rows() if row["says"].startswith("exit")] == []


@pytest.mark.usefixtures("folder")
def test_another_word_or_place_is_noticed(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"claim": "title: T\nmodel: x ~ nrmal(0, 1)\nclaim: E(x) == 0\n"}
    golden = told_now([row], capsys)
    assert "5:16 'nrmal' is not a law → did you mean 'normal'?" in golden
    moved = {"claim": row["claim"].replace("x ~", "x  ~")}
    assert "5:17 'nrmal'" in difference(golden, told_now([moved], capsys))
    accepted = {"claim": row["claim"].replace("nrmal", "normal")}
    assert "exit" in difference(golden, told_now([accepted], capsys))
    monkeypatch.setattr("dropcheck.language.lowering.model.law_hint", lambda _: "planted")
    assert "→ planted" in difference(golden, told_now([row], capsys))
