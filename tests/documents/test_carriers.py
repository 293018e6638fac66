"""Notebooks and LaTeX: the same marks, at their places, and none where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fuzzed_documents import CELLS, TEX, notebook

from dropcheck.claims.registry import Registry
from dropcheck.cli import main
from dropcheck.documents import read_any
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.check import check_registry
from dropcheck.report.screen import place

PAPERS = {
    "paper.tex": TEX,
    "paper.TEX": TEX,
    "paper.ipynb": notebook(*CELLS),
    "lines.ipynb": notebook(*(text.splitlines(keepends=True) for text in CELLS)),
}


def read(tmp_path: Path, text: str, name: str) -> Registry:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_any(path, name)


def problems(tmp_path: Path, text: str, name: str) -> list[Problem]:
    try:
        registry = read(tmp_path, text, name)
    except DropcheckError as error:
        return list(error.problems)
    return list(check_registry(registry).problems)


@pytest.mark.parametrize("name", PAPERS)
def test_a_paper(tmp_path: Path, name: str) -> None:
    registry = read(tmp_path, PAPERS[name], name)
    assert check_registry(registry).problems == ()
    assert {one.id: one.statement.text for one in registry.claims.values()} == {
        "gain": "0.41 ~= Std(y) / Std(x) - 1",
        "variance": "Var(q @ k) == d_k",
        "scaled": "Var(q @ k / sqrt(d_k)) == 1",
    }
    (document,) = registry.documents.values()
    assert document.title == "A paper"
    gain = registry.claims["gain"]
    assert {one.sources[0].section for one in registry.claims.values()} == {"Scaling of dropout"}
    assert gain.title == "It raises it by 41% and so on."


def test_a_sentence_of_latex_may_end_before_its_mark(tmp_path: Path) -> None:
    text = (
        "It rises by 41\\%. % dropcheck #a: ~= sqrt(2) - 1\n\n"
        "It is \\textbf{1.41}, % dropcheck #b: ~= sqrt(2)\n"
        "and $2^2 = 4$; % dropcheck #c:\n"
        "or 2.5 . % dropcheck #d: == 5 / 2\n"
    )
    registry = read(tmp_path, text, "paper.tex")
    assert check_registry(registry).problems == ()
    printed = {one.id: one.written and one.written.text for one in registry.claims.values()}
    assert printed == {"a": "41\\%", "b": "1.41", "c": "$2^2 = 4$", "d": "2.5"}


@pytest.mark.parametrize("name", PAPERS)
def test_places_are_those_of_the_text(tmp_path: Path, name: str) -> None:
    registry = read(tmp_path, PAPERS[name], name)
    if name.endswith("ipynb"):
        gain, variance = registry.claims["gain"], registry.claims["variance"]
        assert place(gain.location) == f"{name}:cell 3:line 2:column 24"
        assert place(variance.statement.locate(0, 0)) == f"{name}:cell 3:line 5:column 2"
        assert place(variance.model.locate(0, 0) if variance.model else None) == (
            f"{name}:cell 2:line 9:column 12"
        )
        return
    lines = PAPERS[name].split("\n")
    for claim in registry.claims.values():
        where = claim.location
        assert where.line is not None
        assert where.column is not None
        assert lines[where.line - 1][where.column - 1 :].lstrip("<!-%").startswith(" dropcheck #")


def test_a_place_in_a_cell_has_its_line_in_the_file(tmp_path: Path) -> None:
    text = notebook('A "quote" \\ é\n𝔼 and\ttab\r\nby 41%<!-- dropcheck: ~= 0.41 -->', "by 42%")
    (claim,) = read(tmp_path, text, "paper.ipynb").claims.values()
    assert claim.location.file_line == text[: text.index("41%")].count("\n") + 1


MARK = "dropcheck: == 9"
NO_MARKS = {
    "paper.tex": [
        f"8\\% {MARK}", f"\\verb|8 % {MARK}|",
        f"\\begin{{verbatim}}\n8 % {MARK}\n\\end{{verbatim}}",
        f"\\begin{{comment}}\n8 % {MARK}\n\\end{{comment}}", f"\\url{{a%{MARK}}}",
        f"\\end{{document}}\n8 % {MARK}", f"\\iffalse\n8 % {MARK}\n\\ifx a b\\fi 8 % {MARK}\n\\fi",
        f"\\lstinline[language=C]!8 % {MARK}!", f"8 % old: 7 % {MARK}", "", "%", "\\",
        f"\\lstnewenvironment{{py}}{{}}{{}}\n\\begin{{py}}\n8 % {MARK}\n\\end{{py}}",
        f"\\begin{{minted}}{{python}}\n8 % {MARK}\n\\end{{minted}}", "50\\% off, and 3\\%",
    ],
    "paper.ipynb": [
        notebook(), notebook("", []), notebook(f"`8<!-- {MARK} -->`"),
        notebook(f"    8<!-- {MARK} -->"), notebook("8<!--", f" {MARK} -->"),
        notebook("```", f"8<!-- x {MARK} -->"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in NO_MARKS.items() for text in texts]
)
def test_what_only_looks_like_a_mark_is_none(tmp_path: Path, name: str, text: str) -> None:
    assert read(tmp_path, text, name).claims == {}


BAD = {
    ("paper.ipynb", '{"nbformat": 4, "cells": ' + "[" * 5000): (
        "paper.ipynb:1:1: this notebook is nested too deep"
    ),
    ("paper.ipynb", notebook("so", "a\nb\x07")): (
        "paper.ipynb:cell 3:line 2:column 2: the cell contains the control character U+0007"
    ),
    ("paper.ipynb", notebook("8<!-- dropcheck #a: == 8 -->\n\n8<!-- dropcheck #a: == 8 -->")): (
        "paper.ipynb:cell 2:line 3:column 2: the id 'a' is given twice: first on line 1 of cell 2"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), BAD)
def test_what_is_wrong_is_said_at_its_place(tmp_path: Path, name: str, text: str) -> None:
    found = [f"{place(one.location)}: {one.message}" for one in problems(tmp_path, text, name)]
    assert any(one.startswith(BAD[name, text]) for one in found), found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("paper.tex", "A third is % dropcheck #third: ~= 1 / 3\n0.333 % /dropcheck\n, so.\n"),
        ("paper.tex", "% dropcheck #third: ~= 1 / 3\n0.333\n% /dropcheck\n, so.\n"),
        ("paper.ipynb", notebook("<!-- dropcheck #third: ~= 1 / 3 -->0.333<!-- /dropcheck -->")),
    ],
)
def test_pairs(tmp_path: Path, name: str, text: str) -> None:
    (claim,) = read(tmp_path, text, name).claims.values()
    assert claim.statement.text == "0.333 ~= 1 / 3"


COUNTED = {
    "c.ipynb": notebook("It is\n9<!-- dropcheck #c: == 9 -->"),
    "d.md": "It is 9<!-- dropcheck #d: == 9 -->\n",
    "claims.yaml": "dropcheck: 1\nclaims:\n  e: {title: Nine, claim: 9 == 9}\n",
}
FORMULAS = [
    "\\[ 1 = x \\] % {}",
    "\\[\n1\n= x % {}\n\\]",
    "\\begin{{equation*}}\n1 = x\\label{{a}}, % {}\n\\end{{equation*}}",
    "\\begin{{align}} 1 &= x \\end{{align}} % {}",
    "\\begin{{alignat}}{{2}} 1 &= x \\nonumber % {}\n\\end{{alignat}}",
    "\\begin{{equation}}\\begin{{split}} 2 &= 3 \\\\ 1 &= x % {}\n\\end{{split}}\\end{{equation}}",
    "$1 = x$ % {}",
    "\\(1 = x\\)% {}",
    "$$1 = x$$ % {}",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_of_latex(tmp_path: Path, formula: str) -> None:
    text = formula.format("dropcheck #one: model: x = 1")
    (claim,) = read(tmp_path, text, "paper.tex").claims.values()
    assert claim.statement.text == "1 == x"


FIGURES = ["8 % {}", "\\textbf{{8}}% {}", "$8$ % {}", "by~8 % {}", "a & 8 % {}", "$x = 8$%{}"]


@pytest.mark.parametrize("figure", FIGURES)
def test_figures_of_latex(tmp_path: Path, figure: str) -> None:
    text = figure.format("dropcheck #one: == y; model: y = 8")
    (claim,) = read(tmp_path, text, "paper.tex").claims.values()
    assert claim.statement.text == "y == 8"


def test_documents_and_claims_files_are_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"a.tex": "It is 8 % dropcheck #a: == 9\n", **COUNTED}.items():
        Path(name).write_text(text, encoding="utf-8")
    code = main(["run", "a.tex", *COUNTED, "--format", "json"])
    run = json.loads(capsys.readouterr().out)
    assert code == 1
    assert {case["claim"]: case["location"] for case in run["cases"]} == {
        "a": {"file": "a.tex", "line": 1, "column": 9},
        "c": {"file": "c.ipynb", "cell": 2, "line": 2, "column": 2},
        "d": {"file": "d.md", "line": 1, "column": 8},
        "e": {"file": "claims.yaml", "line": 3, "column": 3},
    }
    assert run["alpha"] == 1e-6


def test_a_failure_is_annotated_at_its_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.tex").write_text("\n\nIt is 8 % dropcheck #a: == 9\n", encoding="utf-8")
    cell = "It is\n8<!-- dropcheck #b: == 9 -->"
    Path("b.ipynb").write_text(notebook(cell.splitlines(keepends=True)), encoding="utf-8")
    assert main(["run", "a.tex", "b.ipynb", "--format", "github"]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("::error file=a.tex,line=3,col=9,title=a%3A FAIL%3A refuted")
    line = Path("b.ipynb").read_text(encoding="utf-8").splitlines().index
    number = 1 + line('    "8<!-- dropcheck #b: == 9 -->"')
    assert second.startswith(f"::error file=b.ipynb,line={number},title=b%3A FAIL%3A refuted")
