"""`run --fix`: stale figures are written anew, and not a byte beside them."""

from __future__ import annotations

import json
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from cli_stub import Cli

from dropcheck.cli.fix_figures import ROUNDS
from dropcheck.documents.marks import read_before
from dropcheck.documents.new_figures import (
    NewFigure,
    UnfitError,
    edited,
    new_figure,
    rounded,
    settled,
    stands,
)
from dropcheck.errors import Location, NotebookCell
from dropcheck.results import Written

BLOCK = """\
<!-- dropcheck
models:
  all: |
    x, z ~ normal(0, 1)
    u ~ uniform(0, 1)
    m ~ bernoulli(0.5)
    w = sin(x * z + u)
-->
"""
STALE = {  # the mark, what is printed, and what is to be printed
    "~= Std(2 * m * x) / Std(x) - 1": ("45%", "41%"),
    "~= E(abs(x))": ("**0.777**", "**0.798**"),
    "~= E(24000 * u)": ("1,234", "12,000"),
    "~= -3 * E(u**2)": ("−0.50", "−1.00"),
    "~= E(u) / 400": ("$1.20 \\times 10^{-3}$", "$1.25 \\times 10^{-3}$"),
    "~= Var(x)": ("| 0.90", "| 1.00"),
    "~= E(u) / 250": ("3e-3", "2e-3"),
    "~= P(abs(x) <= 1)": (".5", ".7"),
    "~= P(w > 0.5)": ("12 %", "46 %"),  # by draws alone
}
PAIR = "<!-- dropcheck: ~= 3 * E(u) -->{}<!-- /dropcheck -->"
WRONG = {
    "8<!-- dropcheck: == E(x**2) -->": "only a figure claimed by ~= is changed",
    "<!-- dropcheck: Std(2 * m * x) == Std(x) -->": "a statement is never changed",
    "$\\operatorname{Var}(x) = 2$<!-- dropcheck: -->": "a formula is never changed",
}
EDGES = {
    "0.20<!-- dropcheck: ~= E(x**2) / 8 -->": "0.125 is on the edge between two figures",
    "1.9<!-- dropcheck: ~= 2.5 * P(sin(x * z) > 0) -->": "draws do not settle its last digit",
}
FITTING = "1.0<!-- dropcheck: ~= Var(x) --> and 1.0 and 45%"


def document(which: int) -> str:
    """The document as it is printed (0), or is to be printed (1)."""
    lines = [f"It is {one[which]}<!-- dropcheck: {mark} -->." for mark, one in STALE.items()]
    lines[5] = f"| a | b |\n|---|---|\n{lines[5].removeprefix('It is ')} |\n"
    lines += [f"Then {PAIR.format(('2.5', '1.5')[which])}", *WRONG, *EDGES, FITTING]
    return f"# T\n\n{BLOCK}\n" + "\n\n".join(lines) + "\n"


@pytest.fixture
def cli(folder: Path, program: Cli) -> Cli:
    """The program itself."""
    assert folder.is_dir()
    return program


def test_ten_stale_figures_three_wrong_models_two_edges(cli: Cli) -> None:
    path = Path("paper.md")
    before, after = (f"\ufeff{document(which)}".replace("\n", "\r\n").encode() for which in (0, 1))
    path.write_bytes(before)
    path.chmod(0o640)
    shown = cli("run", "paper.md", "--fix", "--diff", "--max-draws", "4e6")
    assert path.read_bytes() == before
    assert "10 figures to fix, 5 left; nothing was written" in shown.out
    patch = shown.out[shown.out.index("--- paper.md") :].encode()
    fixed = cli("run", "paper.md", "--fix", "--max-draws", "4e6")
    assert path.read_bytes() == after
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(Path().iterdir()) == [path]
    assert fixed.code == 1  # of the run, which saw the old figures
    assert "10 figures fixed, 5 left\n" in fixed.out
    assert "either may be wrong" in fixed.out
    for _, (old, new) in list(STALE.items())[:3]:
        assert f"{old.strip('*')} → {new.strip('*')}" in fixed.out
    left = [line for line in fixed.out.splitlines() if line.startswith("left ")]
    assert len(left) == 5
    for reason in (*WRONG.values(), *EDGES.values()):
        assert any(reason in line for line in left)
    # what it showed is what it wrote
    path.write_bytes(before)
    subprocess.run(["patch", "--binary", "-s", "paper.md"], input=patch, check=True)
    assert path.read_bytes() == after
    # and what it wrote holds, by the model alone; what only draws can tell is undecided
    again = cli("run", "paper.md", "--fix", "--exact")
    assert "0 figures fixed, 6 left" in again.out
    assert path.read_bytes() == after


def test_figures_of_a_notebook(cli: Cli) -> None:
    cell = f"{BLOCK}\nIs “it” 45%<!-- dropcheck: ~= Std(2 * m * x) / Std(x) - 1 -->,\nor 0.9"
    cell += "<!-- dropcheck: ~= Var(x) --> or $3\\%$<!-- dropcheck: ~= E(u) --> é.\n"
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"odd": [1.0, 1e3, "45%"]},
        "cells": [
            {"cell_type": "code", "source": ["45%"], "metadata": {}, "outputs": []},
            {"cell_type": "markdown", "metadata": {}, "source": cell.splitlines(keepends=True)},
        ],
    }
    path = Path("a.ipynb")
    for ascii_only in (True, False):
        before = json.dumps(notebook, indent=3, ensure_ascii=ascii_only)
        path.write_text(before, encoding="utf-8")
        fixed = cli("run", "a.ipynb", "--fix")
        assert "3 figures fixed, 0 left" in fixed.out
        after = before.replace("45%<", "41%<").replace("0.9<", "1.0<").replace("$3\\", "$50\\")
        assert path.read_text(encoding="utf-8") == after


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.tex",
            "\\section{A} It is 45\\% % dropcheck: ~= Var(x); model: x ~ normal(0, 1)\nend\n",
        ),
        ("a.Rmd", "It is 45%<!-- dropcheck: ~= Var(x); model: x ~ normal(0, 1) -->."),
    ],
)
def test_figures_of_other_carriers(cli: Cli, name: str, text: str) -> None:
    Path(name).write_text(text)
    assert "1 figure fixed, 0 left" in cli("run", name, "--fix").out
    assert Path(name).read_text() == text.replace("45", "100")


def test_what_is_written_with_escapes_is_left(cli: Cli) -> None:
    source = "\\u002d0.5<!-- dropcheck: ~= -Var(x); model: x ~ normal(0, 1) -->"
    text = f'{{"nbformat": 4, "cells": [{{"cell_type": "markdown", "source": "{source}"}}]}}'
    Path("a.ipynb").write_text(text)
    assert "the file writes it with entities or escapes" in cli("run", "a.ipynb", "--fix").out
    assert Path("a.ipynb").read_text() == text


def test_a_figure_of_several_cases_is_left(cli: Cli) -> None:
    text = "45%<!-- dropcheck: ~= a * Var(x); a: [1, 2]; model: x ~ normal(0, 1) -->\n\n"
    text += "0.1<!-- dropcheck: ~= Var(x); expect: refuted; model: x ~ normal(0, 1) -->\n\n"
    text += "1.0<!-- dropcheck: ~= Var(x); expect: refuted; model: x ~ normal(0, 1) -->\n\n"
    text += "0.5<!-- dropcheck: ~= -Var(x); model: x ~ normal(0, 1) -->\n"
    Path("a.md").write_text(text)
    fixed = cli("run", "a.md", "--fix").out
    assert Path("a.md").read_text() == text
    for reason in ("several cases", "expected to be refuted", "its sign would change"):
        assert reason in fixed
    assert "0 figures fixed, 3 left" in fixed


def test_a_figure_that_is_worked_out_is_said_to_be(cli: Cli) -> None:
    text = "The first of 4 is 0.30<!-- dropcheck: ~= 1 / n; n: 4 -->.\n"
    Path("sum.md").write_text(text, encoding="utf-8")
    out = cli("run", "sum.md", "--fix", "--diff").out
    assert "0.30 → 0.25" in out
    assert "0.25 by arithmetic" in out


def test_nothing_to_fix(cli: Cli) -> None:
    text = "1.0<!-- dropcheck: ~= Var(x); model: x ~ normal(0, 1) -->\n"
    Path("a.md").write_text(text)
    fixed = cli("run", "a.md", "--fix")
    assert (fixed.code, Path("a.md").read_text()) == (0, text)
    assert "nothing to fix" in fixed.out


def test_what_changed_since_it_was_read_is_not_written(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dropcheck.cli import fix_figures

    path = Path("a.md")
    path.write_text("45%<!-- dropcheck: ~= Var(x); model: x ~ normal(0, 1) -->\n")
    settle = fix_figures._settle

    def change(*given: Any) -> None:
        path.write_text(f"{path.read_text()}more\n")
        settle(*given)

    monkeypatch.setattr(fix_figures, "_settle", change)
    fixed = cli("run", "a.md", "--fix")
    assert fixed.code == 2
    assert "a.md has changed since it was read" in fixed.err
    assert path.read_text().startswith("45%")


def test_a_file_that_nobody_may_write_to_is_left(cli: Cli) -> None:
    text = "45%<!-- dropcheck: ~= Var(x); model: x ~ normal(0, 1) -->\n"
    path = Path("a.md")
    path.write_text(text)
    path.chmod(0o444)
    fixed = cli("run", "a.md", "--fix")
    assert (fixed.code, path.read_text()) == (2, text)
    assert "a.md is read-only" in fixed.err
    assert "45% → 100%" in cli("run", "a.md", "--fix", "--diff").out


@pytest.mark.parametrize("variable", ["CI", "GITHUB_ACTIONS"])
def test_never_under_ci(cli: Cli, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "true")
    text = "45%<!-- dropcheck: ~= Var(x); model: x ~ normal(0, 1) -->\n"
    Path("a.md").write_text(text)
    for more in ((), ("--diff",)):
        refused = cli("run", "a.md", "--fix", *more)
        assert refused.code == 2
        assert "not for CI" in refused.err
    assert Path("a.md").read_text() == text


def test_what_fix_has_no_use_for(cli: Cli) -> None:
    Path("claims.yaml").write_text("dropcheck: 1\nclaims: {one: {title: One, claim: 1 == 1}}\n")
    Path("a.md").write_text("4<!-- dropcheck: ~= a * 2; a: 1 -->\n")
    for arguments, message in (
        (("claims.yaml", "--fix"), "there is none in claims.yaml"),
        (("a.md", "--diff"), "shows what --fix would write"),
        (("a.md", "--fix", "--set", "a=2"), "needs the values that the document gives"),
        (("a.md", "--fix", "--diff", "--format", "json"), "prints below the table"),
    ):
        refused = cli("run", *arguments)
        assert refused.code == 2
        assert message in refused.err
    data = cli("run", "a.md", "--fix", "--format", "json")
    assert json.loads(data.out)["summary"]["failed"] == 1
    assert "1 figure fixed" in data.err
    assert Path("a.md").read_text().startswith("2<")


# ---- one figure ----------------------------------------------------------------------------------


def written(text: str, place: Location | None = None) -> Written:
    figure = read_before(text, len(text))
    assert figure is not None
    place = place or Location("a.md", 1, 1)
    return Written(
        text=text, start=place, end=place, digits=figure.digits, unit=figure.unit,
        percent=figure.percent, rounded=True,
    )  # fmt: skip


STYLES = {
    ("41%", "0.45"): "45%",
    ("41 %", "1.05"): "105 %",
    ("41\\%", "0.05"): "5\\%",
    ("0.900", "0.912"): "0.912",
    ("0.98", "1.00"): "1.00",
    ("1,234", "12345"): "12,345",
    ("12,345.6", "999.5"): "999.5",
    ("1234", "12345"): "12345",
    ("12\\,345", "1234567"): "1\\,234\\,567",
    ("1{,}000", "2000"): "2{,}000",
    ("1_000", "2000"): "2_000",
    ("−0.75", "-0.81"): "−0.81",
    ("-0.75", "-0.81"): "-0.81",
    (".5", "1.2"): "1.2",
    ("1.2e-03", "0.0099"): "9.9e-03",
    ("1.2×10⁻³", "0.0015"): "1.5×10⁻³",
    ("0.05", "0.00"): "0.00",
}
UNFIT = {
    ("-0.5", "0.5"): "sign",
    ("-0.5", "0.0"): "sign",
    ("0.5", "-0.5"): "sign",
    ("1.2e-3", "0.0131"): "another power of ten",
    ("9.9e-3", "0.0100"): "another power of ten",
    ("10^-3", "0.002"): "a power of ten alone",
}


@pytest.mark.parametrize(("text", "digits"), STYLES)
def test_a_figure_keeps_its_style(text: str, digits: str) -> None:
    old = written(text)
    figure = new_figure(old, Decimal(digits))
    assert figure.text == STYLES[text, digits]
    read = written(figure.text)  # and is read as what it is
    assert (read.digits, read.unit, read.percent) == (Decimal(digits), old.unit, old.percent)


@pytest.mark.parametrize(("text", "digits"), UNFIT)
def test_what_has_no_such_style_is_left(text: str, digits: str) -> None:
    with pytest.raises(UnfitError) as caught:
        new_figure(written(text), Decimal(digits))
    assert UNFIT[text, digits] in caught.value.why


def test_both_ends_of_an_interval_settle_a_figure() -> None:
    unit = Decimal("0.01")
    assert settled((0.4451, 0.4549), unit) == Decimal("0.45")
    assert settled((0.4449, 0.4549), unit) is None
    assert settled((0.4451, 0.4551), unit) is None
    assert settled((None, 0.4549), unit) is None
    for edge in (0.125, 0.445, -0.335, 2.675):  # whatever its float64 is
        assert settled((edge, edge), unit) is None
    assert settled((-1e300, -1e300), unit) == rounded(-1e300, unit)


def test_edits_stand_where_they_are_said_to_stand() -> None:
    data = "\ufeffa 1.5\r\nb\rc “1.5” 1.5\n".encode()
    second = written("1.5", Location("a.md", 3, 9))
    first = written("1.5", Location("a.md", 1, 3))
    assert stands(data, first)
    assert stands(data, second)
    assert not stands(data, written("1.5", Location("a.md", 2, 1)))
    figures = [NewFigure(second, Decimal("2.5"), "2.5"), NewFigure(first, Decimal("10.5"), "10.5")]
    assert edited(data, figures) == "\ufeffa 10.5\r\nb\rc “1.5” 2.5\n".encode()
    assert edited(data, []) == data
    nowhere = Location("a.ipynb", 1, 1, cell=NotebookCell(number=1, file_lines=(1,), first=0))
    assert not stands(b"{}", written("1.5", nowhere))
    assert ROUNDS > 1
