"""What of a document no mark speaks of; and documents spoilt at random, read in good time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fuzzed_documents import base_documents, hidden, notebook, read_text, spoilt

from dropcheck.documents import ENDINGS, read_any
from dropcheck.documents.marks import formulas_in
from dropcheck.results import Coverage, claimed_counts

MODEL = "model: b ~ bernoulli(0.8)"
MARK = f"<!-- dropcheck: == E(10 * b); {MODEL} -->"


def covered(tmp_path: Path, text: str, name: str = "paper.md") -> Coverage:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    (found,) = read_any(path, name).coverage
    for one in found.unclaimed:  # each stands where it is said to stand
        place = one.location
        assert place.line is not None
        assert place.column is not None
        if one.text in text:
            line = place.text if place.cell else text.split("\n")[place.line - 1]
            assert line is not None
            assert line[place.column - 1 :].startswith(one.text)
    return found


FIGURES = {
    "it is 0.41, or 41%": ["0.41", "41%"], "it is .41 or 41 %": [".41", "41 %"],
    "between 0.4 and 0.5": ["0.4", "0.5"],
    "from 3.4–5.6 or 0.1-0.2": ["3.4", "5.6", "0.1", "0.2"],
    "1,234 of 12,345.6": ["1,234", "12,345.6"],
    "−0.75 and -0.5 and minus 1e-6": ["−0.75", "-0.5", "1e-6"],
    "0.41 ± 0.005, and ±0.1": ["0.41", "0.005", "0.1"],
    "1.5× as fast, 1.5x, 16.5ms, 3.5B": ["1.5", "1.5", "16.5", "3.5"],
    "1.2×10⁻³ and 1.2 × 10^-3": ["1.2×10⁻³", "1.2 × 10^-3"],
    "**0.41** and _0.42_ and ~~0.43~~ and (0.44)": ["0.41", "0.42", "0.43", "0.44"],
    "p=0.05, p<0.01, ~0.3, $6.50": ["0.05", "0.01", "0.3", "6.50"],
    "at the end 0.41.": ["0.41"],
    "the figure 0.41 of what it claims, 0.5": ["0.41", "0.5"],
    "[a 0.5 link](http://x.y/1.5 'at 1.6')": ["0.5"],
    "[a 0.5 link][at 1.5]\n\n[at 1.5]: http://x.y/1.5": ["0.5"],
    "an <b title='1.5'>0.5</b>": ["0.5"],
    "is $0.41$ or $-1.20 \\times 10^{-3}$": ["0.41", "1.20 \\times 10^{-3}"],
    "costs $5.50 and $6.50": ["5.50", "6.50"], "a 50\\% share": ["50\\%"],
    "of 1/3, 13/27 and $\\frac{1}{5}$, $1/2$; 24/7, 12/05/2024": [
        "1/3", "13/27", "\\frac{1}{5}", "1/2",
    ],
    # no figures
    "arXiv: 2005.07180, (D2L 9.7), {{< since 2.0 >}}, CC BY-NC-SA 4.0, Attribution 4.0": [],
    "2 of 12 heads, 512 wide, in 2019, 3 times": [], "`0.41` and ``0.4 ` 1`` and <!-- 0.43 -->": [],
    "    0.41\n": [], "```\n0.41\n```": [],
    "version 1.0.68, v1.2, V2.0, Python 3.12, Python >=3.11, 3.12rc1": [],
    "12.05.2024, 2024.05.12 and 9.30 pm, 9.30 a.m., 10:30.5": [],
    "Section 3.2, §4.1, §§ 5.1 and 5.2, sections 6.1, 6.2–6.3 and Theorem 2.1": [],
    "Tables 1.1, 1.2 and 1.3; Fig. 2.1; (Eq. 3.1); Equation (3.2); Lemma~4.5": [],
    "Appendix A.1 and A1.5 and x_1.5": [],
    "arXiv:1706.03762 doi:10.1145/12.5 https://doi.org/10.1145/12.5 a1.5@b.com": [],
    "gpt-3.5, cuda-12.4, 192.168.0.1, #1.5": [],
    "<http://1.5.com> ![a 0.5 b](c.png){width=12.5%}": [],
    "[12], [3, 4] and [12, Section 3.2]": [], "# 3.2 Results": [], "3.2 Results\n===": [],
    "1. one\n2. two": [], "CC BY 4.0": [], "---\nversion: 1.5\n---\ntext": [],
    "<style>\np {width: 1.5em}\n</style>": [],
}  # fmt: skip


@pytest.mark.parametrize("text", FIGURES)
def test_figures(tmp_path: Path, text: str) -> None:
    found = [one.text for one in covered(tmp_path, text).unclaimed if one.kind == "figure"]
    assert found == FIGURES[text]


FORMULAS = {
    "is $a = b$, and \\(a < b\\)": ["$a = b$"],  # as Markdown, \( is a bracket
    "is $x^2$, $P(x > 0)$, $\\sum_{i=1}^n x_i$, $f: x \\to y$": [],
    "$$\n\\operatorname{Var}(x)\n= 1\n$$": ["$$ \\operatorname{Var}(x) = 1 $$"],
    "$X \\sim N(0, 4)$ and $y := x$ and $\\neg x$ and $[x \\geq 1]$": [],
    "${x = 1}$ and $x \\in [0, 1), y = 2$": ["${x = 1}$", "$x \\in [0, 1), y = 2$"],
    "$a \\leq b$ and $a \\left( b \\right) \\approx c$": [
        "$a \\leq b$", "$a \\left( b \\right) \\approx c$",
    ],
    "\\begin{align}\na &= b\n\\end{align}": ["\\begin{align} a &= b \\end{align}"],
    "$p = 0.5$": ["$p = 0.5$"],
    "$5 and $6 = 7": [],
    "`$a = b$`": [],
    "\\$a = b\\$": [],
    "$\\text{if } a = b$ and $\\{x = 1\\}$ and $\\mathbf{x = 1}$": [
        "$\\text{if } a = b$", "$\\mathbf{x = 1}$",
    ],
}  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas(tmp_path: Path, text: str) -> None:
    found = [one.text for one in covered(tmp_path, text).unclaimed if one.kind == "formula"]
    expected = FORMULAS[text]
    if "\\(" in text:
        expected = [*expected, "\\(a < b\\)"]
    assert found == expected


def test_what_marks_speak_of_is_claimed(tmp_path: Path) -> None:
    text = (
        f"It is 8{MARK}, or 8.0{MARK}, or 8.00{MARK} and $n = 8.0${MARK}\n"
        f"and $\\operatorname{{Var}}(b) = 0.16$<!-- dropcheck: {MODEL} -->, not "
        "$a = b$, $c = d$, 8.0 or 2.\n"
    )
    found = covered(tmp_path, text)
    assert [one.text for one in found.unclaimed] == ["$a = b$", "$c = d$", "8.0"]
    assert claimed_counts([found]) == {
        "figures": 5,
        "claimed_figures": 4,
        "formulas": 3,
        "claimed_formulas": 1,
    }
    (formula, *_) = found.unclaimed
    assert formula.before == "$\\operatorname{Var}(b) = 0.16$, not "
    assert formula.after == ", $c = d$, 8.0 or 2."


@pytest.mark.parametrize(
    "text", ["`" * 10_000, "$" * 10_000, "$1 " * 10_000, r"\( " * 10_000, "1.5 " * 10_000,
             "{a=" * 10_000, "](" * 10_000, "<!--" * 5_000, "1." * 10_000, "1,234" * 5_000,
             "§ " * 10_000 + "1.5", "a@" * 10_000, r"\begin{align}" * 3_000, "a{" * 10_000]
)  # fmt: skip
def test_hostile_text_takes_little_time(tmp_path: Path, text: str) -> None:
    path = tmp_path / "paper.md"
    path.write_text(text)
    started = time.process_time()
    read_any(path)
    assert time.process_time() - started < 3  # of which Markdown takes the most
    list(formulas_in(text))


OTHERS = {
    "a.tex": (
        "\\section{T} 8.0 % dropcheck: == E(10 * b); model: b ~ bernoulli(0.8)\nand 0.5 of "
        "\\vspace{1.5em}\\ref{a:1.5} \\cite{b2.5} \\verb|0.9| %1.5\n$a = b$\n"
        "\\renewcommand{\\arraystretch}{3.7} \n"
        "\\begin{tikzpicture}\\node[scale=1.3] at (4.5, 1.5) {$p$};\\end{tikzpicture}\n",
        ["0.5", "$a = b$"],
    ),
    "a.ipynb": (
        notebook(["# 1.1 T\n", "0.5 and\n", f"8.0{MARK}\n"]),
        ["0.5"],
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_every_format_counts(tmp_path: Path, name: str) -> None:
    text, expected = OTHERS[name]
    found = covered(tmp_path, text, name)
    assert [one.text for one in found.unclaimed] == expected
    assert found.claimed_figures == 1


READ = (".md", ".tex", ".ipynb")


@pytest.mark.parametrize("ending", READ)
def test_a_spoilt_document_is_read_or_refused(tmp_path: Path, ending: str) -> None:
    found = [read_text(tmp_path, text, ending) for text in spoilt(ending, 3, 40)]
    assert None in found
    assert any(found)


@pytest.mark.parametrize("ending", READ)
def test_no_mark_is_seen_in_code(tmp_path: Path, ending: str) -> None:
    for text in [*base_documents(ending)[-2:], *spoilt(ending, 4, 20)]:
        assert not read_text(tmp_path, hidden(ending, text), ending)


LONG = {
    ".md": ["<!-- x ", "<p ", "<p b='", "<p>&#", "<p><", "<script>", "<!a ", "</p ", "<p><code>",
            "<p>8<!-- dropcheck: == 9 -->"],
    ".tex": ["%", "\\section{", "\\\\[", "\\begin{align}", "\\url{", "\\verb|", "$", "\\cite[", "{",
             "\\iffalse ", "\\emph{", "8 % dropcheck: == 9\n", "\\[ x % a\n", "\\lstinline[", "~"],
    ".ipynb": ["[", "{", '"', '{"a":', '"a",', "\\"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("ending", "piece"), [(ending, piece) for ending, pieces in LONG.items() for piece in pieces]
)
def test_what_is_never_closed_takes_no_long_time(tmp_path: Path, ending: str, piece: str) -> None:
    """What takes time in the square of its length would take minutes here."""
    read_text(
        tmp_path, piece * min(200_000 // len(piece), 20_000 if len(piece) < 9 else 1_000), ending
    )
    assert ending in ENDINGS
