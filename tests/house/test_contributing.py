"""A law, a function and a report format are added by the entries that CONTRIBUTING shows."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import page_tables
import pytest
from law_table import distance_allowed, gap
from scipy import stats
from trials import OPEN, REFUTED, VERIFIED, judged

from dropcheck import cli, settings
from dropcheck.claims.reader import read_text
from dropcheck.language.check import check_registry
from dropcheck.vocabulary import functions
from dropcheck.vocabulary.functions import FUNCTIONS, elementwise
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws import LAWS, continuous

TOP = Path(__file__).parents[2]


def entries(heading: str) -> list[str]:
    """The Python blocks of a section of the page."""
    page = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [block.partition("```")[0] for block in section.split("```python\n")[1:]]


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Law:
    """The law and the function of the page, as if they stood in the files that it names."""
    names: dict[str, Any] = dict(vars(continuous))
    exec(entries("A law")[0], names)
    monkeypatch.setitem(LAWS, "lomax", names["LOMAX"])
    function = eval(entries("A function")[0], dict(vars(elementwise)))
    monkeypatch.setitem(FUNCTIONS, "logloss", function)
    monkeypatch.setitem(functions.FUNCTIONS_OF_NUMBERS, "logloss", function)
    monkeypatch.setitem(functions._ALL, "logloss", function)
    return LAWS["lomax"]


def told(model: str, claim: str) -> str:
    """What `check` says of a claim."""
    text = f"{{title: T, model: '{model}', claim: '{claim}'}}"
    checked = check_registry(read_text(f"dropcheck: 1\nclaims: {{c: {text}}}"))
    return "; ".join(f"{one.message} | {one.hint}" for one in checked.problems)


def test_they_are_not_of_the_package() -> None:
    assert "'lomax' is not a law" in told("x ~ lomax(3, 1)", "E(x) == 0.5")
    assert "'logloss' is not a function" in told("x = 1", "logloss(x) == 1")


def test_the_law_is_drawn_and_judged(added: Law) -> None:
    arguments = [np.full(1, 1.5), np.full(1, 2.0)]
    draws = added.sample(np.random.default_rng(1), arguments, (), 20_000)
    assert gap(draws, stats.lomax(1.5, scale=2.0).cdf) <= distance_allowed(20_000)
    assert judged("x ~ lomax(1.5, 2)", "P(x > 2) == 2**-1.5").verdict == VERIFIED
    assert judged("x ~ lomax(1.5, 2)", "P(x > 2) == 0.5").verdict == REFUTED
    assert judged("x ~ lomax(3, 1)", "E(1 / (1 + x)) == 0.75").verdict == VERIFIED
    assert judged("x ~ lomax(0.8, 1)", "E(x) == 1").verdict == OPEN
    assert added.moment(1, 9.0, 2.0)[0] == 0.25
    assert float(added.moment(2, 9.0, 2.0)[0]) == pytest.approx(4 * 9 / 64 / 7, rel=1e-13)


@pytest.mark.usefixtures("added")
def test_the_function_is_worked_out_and_bounded() -> None:
    mean = np.logaddexp(0, [-1, 1]).mean()
    assert judged("x ~ rademacher()", f"E(logloss(x)) == {mean}").verdict == VERIFIED
    assert judged("x ~ rademacher()", "E(logloss(x)) == 0.9").verdict == REFUTED
    highest = math.log1p(math.exp(1))
    within = f"P(logloss(x) <= {highest + 1e-9}) == 1"
    assert judged("x ~ uniform(-1, 2)", within).verdict == VERIFIED


@pytest.mark.usefixtures("added")
def test_hints_and_pages_know_them() -> None:
    assert "did you mean 'lomax'?" in told("x ~ lomxa(3, 1)", "E(x) == 0.5")
    assert "alpha must satisfy alpha > 0, and is 0" in told("x ~ lomax(0, 1)", "E(x) == 0.5")
    assert "write logloss(x)" in told("x = 1", "logistic_loss(x) == 1")
    assert "`lomax(alpha, scale)`" in page_tables.listed("distributions of numbers")
    assert "`logloss(x)`: log(1 + exp(−x))" in page_tables.listed("functions of numbers")


def test_help_has_the_option(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    option = eval(entries("An option")[0], dict(vars(settings)))
    monkeypatch.setattr(cli, "OPTIONS", (*settings.OPTIONS, option))
    cli.main(["run", "--help"])
    assert "--warm-up" in capsys.readouterr().out


def test_the_format_is_printed_written_and_known(tmp_path: Path) -> None:
    """In a copy of the package."""
    package = tmp_path / "dropcheck"
    shutil.copytree(TOP / "dropcheck", package, ignore=shutil.ignore_patterns("__pycache__"))
    [function] = entries("A report format")
    row = '"ltsv": Format(ltsv_report, ".ltsv")'
    assert f"`{row}`" in (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    formats = package / "report" / "formats.py"
    before, begins, rows = formats.read_text(encoding="utf-8").partition(
        "FORMATS: Mapping[str, Format] = {\n"
    )
    assert rows
    formats.write_text(f"{before}{function}\n\n{begins}{row},\n{rows}", encoding="utf-8")
    claims = "dropcheck: 1\nclaims: {two: {title: Two is two, model: x = 2, claim: E(x) == 2}}\n"
    (tmp_path / "claims.yaml").write_text(claims, encoding="utf-8")

    def said(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "dropcheck", "run", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return done.stdout + done.stderr

    line = said("--format", "ltsv", "-o", "run.ltsv")
    assert {"claim:two", "title:Two is two", "verdict:verified"} <= {*line.strip().split("\t")}
    assert (tmp_path / "run.ltsv").read_text(encoding="utf-8") == line
    assert ".ltsv" in said("--help")
    assert "ltsv" in said("--format", "ltsw")
