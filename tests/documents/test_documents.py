"""A document is a registry: its marks, what they speak of, and where; and none where none is."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
from fuzzed_documents import CELLS, TEX, notebook

from dropcheck.claims.reader import read_registry
from dropcheck.claims.registry import Registry
from dropcheck.claims.select import select_claims
from dropcheck.cli import main
from dropcheck.documents import read_any
from dropcheck.errors import DropcheckError, NothingSelected
from dropcheck.language.check import check_registry
from dropcheck.language.compile import lower_case, parse_claim
from dropcheck.report.screen import place
from dropcheck.results import Outcome
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

PAPERS = {
    "paper.md": "\n".join(CELLS),
    "paper.tex": TEX,
    "paper.TEX": TEX,
    "paper.ipynb": notebook(*CELLS),
    "lines.ipynb": notebook(*(text.splitlines(keepends=True) for text in CELLS)),
}


def read(folder: Path, text: str, name: str = "paper.md") -> Registry:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_any(path, name)


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
    assert {one.sources[0].section for one in registry.claims.values()} == {"Scaling of dropout"}
    gain, variance = registry.claims["gain"], registry.claims["variance"]
    assert gain.title.startswith("It raises it by 41")
    # what is printed travels with the claim
    figure, formula = gain.written, variance.written
    assert figure is not None
    assert formula is not None
    printed = (figure.text.replace("\\", ""), figure.digits, figure.unit)
    assert printed == ("41%", Decimal("0.41"), Decimal("0.01"))
    assert (figure.percent, figure.rounded, formula.digits) == (True, True, None)
    for one in (figure, formula):
        assert one.start.text is not None
        assert one.start.column is not None
        assert one.start.text[one.start.column - 1 :].startswith(one.text[:10])
    # and everything has its place
    if name.endswith("ipynb"):
        assert place(gain.location) == f"{name}:cell 3:line 2:column 24"
        assert place(variance.statement.locate(0, 0)) == f"{name}:cell 3:line 5:column 2"
        assert place(variance.model.locate(0, 0) if variance.model else None) == (
            f"{name}:cell 2:line 9:column 12"
        )
        return
    lines = PAPERS[name].split("\n")
    for where in (one.location for one in registry.claims.values()):
        assert where.line is not None
        assert where.column is not None
        assert lines[where.line - 1][where.column - 1 :].lstrip("<!-%").startswith(" dropcheck #")


# ---- what marks claim ----------------------------------------------------------------------------


def block(text: str) -> str:
    return f"<!-- dropcheck\n{text}\n-->\n\n"


BOTH = "models: {m: y = p * q}\nparameters: {p: 1, q: 1}"
DEEP = (
    "models:\n  one: y = p\n  two: |\n    one\n    z = y\n  two-more: z = 2\n  three: |\n    two\n"
    "    w = z\nparameters: {p: 2}"
)
DEFINED = "models:\n  one: |\n    x, y ~ normal(a, 1)\n  two: z = x\nparameters: {x: 2, a: 1}"
TWO = 'models:\n  first: "x, e ~ normal(0, 1)"\n  last: "y ~ normal(0, p)"'
BELOW = (
    "models:\n  m: |\n    x ~ normal(0, 1)\n    d = [x, x + 1, x + 2]\n"
    'parameters: {{{}}}\nnotation: {{"\\\\sigma": s}}'
)
FENCES = (
    "8<!-- dropcheck #one: == y -->\n\n```yaml dropcheck\n"
    'models: {b: y = 9}\nparameters: {p: [1, 2]}\nnotation: {"\\\\text{D}(X)": y}\nclaims:\n'
    "  own: {title: T, model: b, claim: y == 9}\n```\n\n9<!-- dropcheck #two: == y --> and "
    "$p\\text{D}(X) = 9p$<!-- dropcheck #three: -->"
)
OF_TEX = (
    "It rises by 41\\%. % dropcheck #a: ~= sqrt(2) - 1\n\n"
    "It is \\textbf{1.41}, % dropcheck #b: ~= 1\n"
    "and $2^2 = 4$; % dropcheck #c:\nor 2.5 . % dropcheck #d: == 5 / 2\n"
)
CHAIN = "{} x &= 1 \\\\\n&\\quad + 0 \\\\ &\\le 2 \\\\ &= 3 {}"
CLAIMED: list[tuple[str, str, list[str]]] = [
    ("a.md", "12<!-- dropcheck #a: 1 <= _ <= E(13) -->", ["a: 1 <= 12 <= E(13)"]),
    ("a.md", "is -2<!-- dropcheck #a: _ < 3 -->", ["a: (-2) < 3"]),
    ("a.md", "$n = 2 \\cdot 3 = 6$<!-- dropcheck #a: n: 6 -->",
     ["a: n == 2 * 3 n=6", "a-2: 2 * 3 == 6 n=6"]),
    # a block serves from its place on
    ("a.md", block("models: {a: y = 8}") + FENCES,
     ["one: y == 8", "own: y == 9", "two: y == 9", "three: p * y == 9 * p p=1|2"]),
    ("a.md", block(BOTH) + "2<!-- dropcheck #k-one: == y; p: 2 -->, "
     "3<!-- dropcheck #k-two: == y; p: 3; expect: refuted; truth: k-one -->: "
     "$y = p = 2$<!-- dropcheck #k-both: p: 2; q: 1 -->.",
     ["k-one: y == 2 p=2 q=1", "k-two: y == 3 p=3 q=1",
      "k-both: y == p p=2 q=1", "k-both-2: p == 2 p=2 q=1"]),
    ("a.md", block(BOTH) + "6<!-- dropcheck #a: == y; cases: [{p: 2, q: 3}, {p: 1, q: 6}] -->\n"
     "2<!-- dropcheck #b: == y; cases: [{p: 2}] -->",
     ["a: y == 6", "b: y == 2 q=1"]),
    # parameters reach what uses them, through models of models, and leave alone what is defined
    ("a.md", block(DEEP) + "2<!-- dropcheck #a: == w; model: three --> "
     "2<!-- dropcheck #b: == z; model: two-more -->", ["a: w == 2 p=2", "b: z == 2"]),
    ("a.md", block(DEFINED) + "1<!-- dropcheck #a: == E(x); model: one --> "
     "2<!-- dropcheck #b: == z; model: two -->", ["a: E(x) == 1 a=1", "b: z == 2 x=2"]),
    *(
        ("a.md", block(BELOW.format(given)) + f"${formula}$<!-- dropcheck #a: note: n -->", [said])
        for given, formula, said in (
            ("k: 1", "E[d_k] = 0", "a: E(d[k - 1]) == 0 k=1"),
            ("k: 1, n_k: 4", "E[x] + n_k = 4", "a: E(x) + n_k == 4 n_k=4"),
            ("k: 1, nk: 4", "E[x] + n_k = 4", "a: E(x) + nk == 4 nk=4"),
            ("k: 1, s: 4", "E[x] + \\sigma = 4", "a: E(x) + s == 4 s=4"),
            ("k: 1", "E[d_i] = 1", "a: E(d) == 1"),
        )
    ),
    # a mark uses the last model above it, or says which
    ("a.md", block(TWO) + "0<!-- dropcheck #a: == E(x); model: first --> 0<!-- dropcheck #b: == "
     "E(y) * e; p: 1 --> 0<!-- dropcheck #c: == E(y) / x; p: 1; x: 2 -->",
     ["a: E(x) == 0", "b: E(y) * e == 0 p=1", "c: E(y) / x == 0 p=1 x=2"]),
    # what follows a mark is no part of its figure, and a parameter may be named almost as a key
    ("a.md", "41<!-- dropcheck #a: == 41 -->, 5% of it, 42<!-- dropcheck #b: == 42 -->. 5",
     ["a: 41 == 41", "b: 42 == 42"]),
    ("a.md", "41<!-- dropcheck #a: == 41 --> 5 of all, 42<!-- dropcheck #b: == 42 -->x.",
     ["a: 41 == 41", "b: 42 == 42"]),
    ("a.tex", "A 41 % dropcheck #a: == 41\n  5 of all.", ["a: 41 == 41"]),
    ("a.md", "8<!-- dropcheck #a: == modes; modes: 8 -->", ["a: modes == 8 modes=8"]),
    ("a.md", "8<!-- dropcheck #a: == 8; modes: 8; requires: modes > 1 -->",
     ["a: 8 == 8 modes=8"]),
    ("a.tex", OF_TEX,
     ["a: 0.41 ~= sqrt(2) - 1", "b: 1.41 ~= 1", "c: 2**2 == 4", "d: 5 / 2 == 2.5"]),
    ("a.md", "1/3<!-- dropcheck #a: == 1 / 3 --> so -1/3<!-- dropcheck #b: _ < 0 --> "
     "1/3<!-- dropcheck #c: 1 / _ > 2 -->",
     ["a: 1 / 3 == 1 / 3", "b: (-1 / 3) < 0", "c: 1 / (1 / 3) > 2"]),
    # rows: a chain claims its ends, each step, or the step at whose end the mark stands
    ("a.md", CHAIN.format("$$", "$$<!-- dropcheck #a: x: 1 -->"), ["a: x <= 3 x=1"]),
    ("a.md", CHAIN.format("$$", "$$<!-- dropcheck #a: steps: each; x: 1 -->"),
     ["a: x == 1 + 0 x=1", "a-2: 1 + 0 <= 2 x=1", "a-3: 2 == 3 x=1"]),
    ("a.tex", CHAIN.format("\\begin{align}", "\\end{align} % dropcheck #a: x: 1"),
     ["a: x <= 3 x=1"]),
    ("a.tex", CHAIN.replace("0", "0 % dropcheck #a: x: 1\n").format("\\begin{align}",
        "% dropcheck #b:\n\\end{align}"), ["a: x == 1 + 0 x=1", "b: 2 == 3"]),
    ("a.tex", "%%dropcheck\n% models:\n%   m: x = 8\n% Copyright: mine\n8 % dropcheck #a: == x",
     ["a: x == 8"]),
    *(
        ("a.tex", figure.format("dropcheck #a: == y; y: 8"), ["a: y == 8 y=8"])
        for figure in ("8 % {}", "\\emph{{8}}% {}", "$8$ % {}", "by~8 % {}", "&8% {}", "$x = 8$%{}")
    ),
]  # fmt: skip
FORMULAS = {
    "a.tex": [
        "\\[ 1 = x \\] % {}", "\\[\n1\n= x % {}\n\\]", "$1 = x$ % {}", "\\(1 = x\\)% {}",
        "$$1 = x$$ % {}",
        "\\begin{{equation*}}\n1 = x\\label{{a}}, % {}\n\\end{{equation*}}",
        "\\begin{{align}} 1 &= x \\end{{align}} % {}",
        "\\begin{{alignat}}{{2}} 1 &= x \\nonumber % {}\n\\end{{alignat}}",
        "\\begin{{align}}\\begin{{split}} 2 &= 3 \\\\ 1 &= x % {}\n\\end{{split}}\\end{{align}}",
    ],
    "a.md": [
        "$1 = x$<!-- {} -->", "$$\n1 = x\n$$<!-- {} -->", "$5 and $6, $1 = x$<!-- {} -->",
        "$$ \\label{{eq:a}} 1 = x \\; . $$<!-- {} -->", "$$1 = x \\tag{{2}}$$<!-- {} -->",
        "$$\\begin{{aligned}} 1 &= x \\end{{aligned}}$$<!-- {} -->",
        "\\begin{{equation}}\n1 = x\n\\end{{equation}}<!-- {} -->",
        "A `$`, US$ or $2<!-- a --> and $1 = x$<!-- {} -->",
    ],
}  # fmt: skip
CLAIMED += [
    (name, formula.format("dropcheck #a: x: 1"), ["a: 1 == x x=1"])
    for name, formulas in FORMULAS.items()
    for formula in formulas
]


@pytest.mark.parametrize(("name", "text", "claimed"), CLAIMED)
def test_what_marks_claim(tmp_path: Path, name: str, text: str, claimed: list[str]) -> None:
    found = []
    for one in read(tmp_path, text, name).claims.values():
        values = (f" {key}={'|'.join(map(str, given))}" for key, given in one.parameters.items())
        found.append(f"{one.id}: {one.statement.text}{''.join(values)}".replace(".0", ""))
        assert one.sources[0].document == "a"
    assert found == claimed


WHERE = {
    "table": "| a | b |\n|---|---|\n| 8{} | 2 |\n",
    "list": "- one\n- it is 8{}, as said\n",
    "quote": "> it is\n> 8{}.\n",
    "heading": "## It is 8{}\n",
    "emphasis": "It is **8**{}.\n",
    "several lines": "It is\nor so 8{} and\non.\n",
    "code beside": "Not `8<!-- dropcheck: == 9 -->` but 8{}.\n",
    "windows": "It is 8{}.\r\nThe end.\r\n",
    "accents": "Écrit « 8{} ».\n",
    "list in a quote": "> - 8{}\n",
}


@pytest.mark.parametrize("where", WHERE)
def test_marks_are_read_where_text_may_stand(tmp_path: Path, where: str) -> None:
    mark = "<!-- dropcheck: == E(10 * b); model: b ~ bernoulli(q); q: 0.8; qqqq: 1 -->"
    text = WHERE[where].format(mark)
    registry = read(tmp_path, text)
    (claim,) = registry.claims.values()
    assert claim.statement.text == "E(10 * b) == 8"
    (note,) = check_registry(registry).notes
    lines = text.split("\n")
    place = claim.statement.locate(0, 0)
    assert place.line is not None
    assert place.column is not None
    assert lines[place.line - 1][place.column - 1 :].startswith("E(10 * b)")
    assert note.location is not None
    assert note.location.line is not None
    assert note.location.column is not None
    assert lines[note.location.line - 1][note.location.column - 1 :].startswith("qqqq")


MARK = "dropcheck: == 9"
NO_MARKS = {
    "a.md": [
        f"```html\n8<!-- {MARK} -->\n```\n", f"    8<!-- {MARK} -->\n", f"`8<!-- {MARK} -->`\n",
        "<!-- a comment -->\n\n8<!-- another: == 9 -->\n", f"8 \\<!-- {MARK} -->\n",
        f"Of <code>8<!-- {MARK} --></code>\n", f"<pre>\n8<!-- {MARK} -->\n</pre>\n",
        f"<div>\n<code>8<!-- {MARK} --></code>\n</div>\n", "nothing at all\n", "",
    ],
    "a.tex": [
        f"\\verb|8 % {MARK}|",
        f"\\begin{{verbatim}}\n8 % {MARK}\n\\end{{verbatim}}",
        f"\\begin{{comment}}\n8 % {MARK}\n\\end{{comment}}", f"\\url{{a%{MARK}}}",
        f"\\end{{document}}\n8 % {MARK}", f"\\iffalse\n8 % {MARK}\n\\fi",
        f"\\lstinline[language=C]!8 % {MARK}!", f"8 % old: 7 % {MARK}", "", "%", "\\",
        f"\\lstnewenvironment{{py}}{{}}{{}}\n\\begin{{py}}\n8 % {MARK}\n\\end{{py}}",
        f"\\begin{{minted}}{{python}}\n8 % {MARK}\n\\end{{minted}}", "50\\% off, and 3\\%",
    ],
    "a.ipynb": [
        notebook(), notebook("", []), notebook(f"`8<!-- {MARK} -->`"),
        notebook(f"    8<!-- {MARK} -->"), notebook("8<!--", f" {MARK} -->"),
        notebook("```", f"8<!-- x {MARK} -->"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in NO_MARKS.items() for text in texts]
)
def test_what_only_looks_like_a_mark_is_none(tmp_path: Path, name: str, text: str) -> None:
    registry = read(tmp_path, text, name)
    assert registry.claims == {}
    with pytest.raises(NothingSelected, match=rf"{re.escape(name)} holds no claim"):
        select_claims(registry, [], [])


def test_documents_and_claims_files_are_one_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = ["It is\n", "9<!-- dropcheck #c: == 9 -->"]
    texts = {
        "a.tex": "\n\nIt is 8 % dropcheck #a: == 9\n",
        "c.ipynb": notebook(cell),
        "d.md": "It is 9<!-- dropcheck #d: == 9 -->\n",
        "claims.yaml": "dropcheck: 1\nclaims:\n  e: {title: Nine, claim: 9 == 9}\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    assert main(["run", *texts, "--format", "json"]) == 1
    run = json.loads(capsys.readouterr().out)
    assert {case["claim"]: case["location"] for case in run["cases"]} == {
        "a": {"file": "a.tex", "line": 3, "column": 9},
        "c": {"file": "c.ipynb", "cell": 2, "line": 2, "column": 2},
        "d": {"file": "d.md", "line": 1, "column": 8},
        "e": {"file": "claims.yaml", "line": 3, "column": 3},
    }
    # on GitHub, a line is one of the file: a place in a cell is said in words
    (folder / "c.ipynb").write_text(notebook([cell[0], cell[1].replace("9<", "8<")]))
    assert main(["run", "a.tex", "c.ipynb", "--format", "github"]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("::error file=a.tex,line=3,col=9,title=a%3A FAIL%3A refuted")
    assert second.startswith("::error file=c.ipynb,title=c%3A FAIL%3A refuted")
    assert second.endswith("where: c.ipynb:cell 2:line 2:column 2")


def test_an_id_that_is_not_given_stays_where_the_sentence_moves(tmp_path: Path) -> None:
    marks = [f"It is $x = {n}$<!-- dropcheck: model: 'x = 1' -->." for n in (1, 2)]
    before = read(tmp_path, "# T\n\n## Here\n{}\n{}\n".format(*marks)).claims
    after = read(tmp_path, "# T\n\n## Here\nMuch.\n\n{1}\nMore. {0}\n".format(*marks)).claims
    said = {name: claim.statement.text for name, claim in before.items()}
    assert said == {name: claim.statement.text for name, claim in after.items()}
    assert sorted(said.values()) == ["x == 1", "x == 2"]
    assert all(name.startswith("here-") for name in said)


def test_a_document_has_at_most_two_million_characters(tmp_path: Path) -> None:
    with pytest.raises(DropcheckError, match="2,000,000 characters"):
        read(tmp_path, "Half is 0.5. " * 160_000)


def test_of_two_numbers_the_figure_of_the_document_says_the_digits(tmp_path: Path) -> None:
    text = "1.34<!-- dropcheck #no: ~= 1.3 --> 1.30e3<!-- dropcheck #yes: ~= 1304 -->\n"
    text += "1.3<!-- dropcheck #given: ~= q; q: 1.34 -->\n"
    registry = read(tmp_path, text)
    judged = verify_cases(registry.expand(), Settings(), registry)
    found = {case.claim: str(case.verdict) for case in judged}
    assert found == {"no": "refuted", "yes": "verified", "given": "verified"}


@pytest.mark.parametrize(
    ("formula", "entries"),
    [
        ("E[d_i] = 1", [(0,), (1,), (2,)]),  # false, though the mean of all elements is 1
        (r"P(d_i > 0) \le 1", [(0,), (1,), (2,)]),
        (r"\operatorname{Cov}(d_i, x) = 1", [(0,), (1,), (2,)]),
        ("E[z_i^2] = 1", []),  # of one law, so that one picked at random stands for each
        ("E[d_2] = 1", []),
    ],
)
def test_a_formula_says_of_each_element_what_it_says_of_any(
    formula: str, entries: object, tmp_path: Path
) -> None:
    text = (
        "<!-- dropcheck\nmodels:\n  m: |\n    x ~ normal(0, 1)\n    d = [x, x + 1, x + 2]\n"
        f"    z ~ normal(0, 1)[3]\n-->\n\n${formula}$<!-- dropcheck #a: note: none -->"
    )
    lowered = lower_case(parse_claim(read(tmp_path, text).claims["a"]), {})
    assert list(lowered.entries) == entries


TOP = Path(__file__).parents[2]


# ---- a long page ---------------------------------------------------------------------------------


def test_a_page_of_every_claim_that_ships_holds() -> None:
    """By exact values alone; a formula or a figure that is misread is false."""
    page = read_any(Path(__file__).with_name("four-documents.md"))
    known = read_registry(TOP / "claims.yaml").claims
    assert {re.sub(r"-\d+\Z", "", name) for name in page.claims} >= {
        name.replace(".", "-") for name in known
    }
    judged = list(verify_cases(page.expand(), Settings(exact=True), page))
    assert [one.claim for one in judged if one.result is Outcome.FAIL] == []
    assert sum(one.result is Outcome.PASS for one in judged) > 0.8 * len(judged)
