"""Markdown, and mathematics in it: exact text, and what a reader of Markdown makes of it."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from report_cases import FAILED, PASSED, UNDECIDED, run_of

from dropcheck.claims.reader import read_registry, read_text
from dropcheck.claims.registry import Claim, Registry, SourceText
from dropcheck.errors import Location, Problem
from dropcheck.language.compile import parse_claim
from dropcheck.language.parser import parse_model, parse_statement
from dropcheck.language.printing import statement_latex, vectors
from dropcheck.report import Report
from dropcheck.report.markdown import markdown_report
from dropcheck.results import CaseResult

REGISTRY = Registry("claims.yaml", {}, {})
SHIPPED = read_registry(Path(__file__).parents[2] / "claims.yaml")


def markdown_of(*cases: CaseResult, verbose: bool = False) -> str:
    return markdown_report(Report(run_of(*cases), REGISTRY, verbose=verbose))


def latex_of(claim: Claim) -> str:
    parsed = parse_claim(claim)
    return statement_latex(parsed.statement, vectors(parsed.model))


def page_of(text: str) -> str:
    """The report as HTML, raw HTML in it left as it is: what a careless reader would show."""
    return str(MarkdownIt("commonmark").enable("table").render(text))


def seen(page: str) -> str:
    """What a person reads on the page."""
    return html.unescape(re.sub(r"<!--.*?-->|<[^>]*>", "", page))


def test_the_report_is_exactly_this() -> None:
    assert markdown_of(PASSED, FAILED, UNDECIDED) == (
        "| claim | statement | parameters | claimed | estimated | interval | within | draws | "
        "verdict | result |\n"
        "| --- | --- | --- | ---: | ---: | --- | ---: | ---: | --- | --- |\n"
        "| `qk-variance` | `Var(q @ k) == dk` | dk=512 | 512 | 511.8 | [509.1, 514.6] | ±5.12 | "
        "262k | verified | pass |\n"
        "| `naive-dropout` | `P(x > 3) >= 0.9` | p=0.3 | >= 0.9 | 0.700 | [0.691, 0.710] | - | "
        "262k | refuted | **FAIL** |\n"
        "| `heavy-tail` | `0.405 <= Std(y) <= 0.415` |  | 0.405 … 0.415 | 0.410 | [0.390, 0.430] "
        "| - | 262k | inconclusive | **undecided** |\n"
        "\n"
        "- **FAIL** `naive-dropout[p=0.3]`: A title with \\[/x\\], :<!-- -->smile: and Var\\[q.k\\]"
        "\n"
        "  - claimed >= 0.9, estimated 0.700, interval [0.691, 0.710]\n"
        "  - false as stated: the interval misses what is claimed\n"
        "  - `dropcheck run naive-dropout --p 0.3 --seed 0`\n"
        "- **undecided** `heavy-tail`: The dot product of a query and a key has variance d\\_k\n"
        "  - claimed 0.405 … 0.415, estimated 0.410, interval [0.390, 0.430]\n"
        "  - too few draws: needs about 1.3e6 more draws (--max-draws 1.5e6)\n"
        "  - the interval is still too wide\n"
        "  - `dropcheck run heavy-tail --seed 0`\n"
        "\n"
        "3 cases: 1 passed, 1 failed, 1 undecided · 786k draws · 0.9 s · seed 0 · α 1e-6 · "
        "claims.yaml\n"
    )


def test_a_grid_has_one_row_and_verbose_has_all() -> None:
    other = replace(PASSED, parameters={"dk": 64.0})
    rows = markdown_of(PASSED, other, FAILED).splitlines()[2:4]
    assert [row.split(" | ")[-1] for row in rows] == ["pass 2/2 |", "**FAIL** |"]
    assert markdown_of(PASSED, other, FAILED, verbose=True).count("| `qk-variance` |") == 2
    assert markdown_of(PASSED, other).count("| `qk-variance` |") == 2  # a single claim likewise


def test_many_failures_are_counted() -> None:
    cases = [replace(FAILED, parameters={"p": float(n)}) for n in range(25)]
    assert "\n- and 5 more cases that did not pass\n" in markdown_of(*cases)


def test_errors_stand_below_and_alone_where_nothing_was_tried() -> None:
    problem = Problem("'b|c' is no law", Location("claims.yaml", 12, 9), "did you mean 'a'?")
    report = Report(run_of(), REGISTRY, (problem,))
    assert markdown_report(report) == (
        "- **error** `claims.yaml:12:9` 'b\\|c' is no law (did you mean 'a'?)\n"
        "\n"
        "1 error · claims.yaml\n"
    )
    both = markdown_report(replace(report, run=run_of(PASSED)))
    assert "\n1 error · 1 case: 1 passed" in both


HOSTILE = [
    "<script>alert('x')</script> & <img src=x onerror=1> &lt;b&gt;",
    "a | b || c \\| d \\\\| e",
    "`code` ``more`` \\` ` |",
    "**bold** _em_ ~~gone~~ [link](javascript:1) ![i](x) <http://a.b> $x$",
    "\x1b[31m red \x00 \u202e back",
    "two\n\nparagraphs\n# heading\n| a | b |",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_user_s_text_is_read_as_it_was_written(text: str) -> None:
    odd = replace(FAILED, title=text, statement=text, parameters={"law": text}, repeat=text)
    page = page_of(markdown_of(odd))
    assert not re.search(r"<(script|img|a|em|s|h1|b)\b", page)
    shown = " ".join(text.split()).replace("\x1b", "\\x1b").replace("\x00", "\\x00")
    assert seen(page).count(shown.replace("\u202e", "\\u202e")) == 5
    assert page.count("<tr>") == 2
    # the cells of the row are those of the head
    assert page.count("<td") == page.count("<th") - page.count("<thead") == 10


def test_the_judge_of_hostile_text_would_see_a_tag() -> None:
    assert "<script>" in page_of("| a |\n| --- |\n| <script> |")


@pytest.mark.parametrize("text", ["thanks @you", "see #12", "an :emoji: here", "www.a.b http://c"])
def test_github_makes_no_links_of_a_user_s_text(text: str) -> None:
    title = markdown_of(replace(FAILED, title=text)).split("`: ")[1].split("\n")[0]
    assert "<!-- -->" in title
    assert title.replace("<!-- -->", "") == text


MATH = [
    ("Var(q @ k) == dk", r"\operatorname{Var}(q^{\top} k) = \mathit{dk}"),
    ("E(Q @ K.T) == 0", r"\operatorname{E}(Q \thinspace K^{\top}) = 0"),
    ("E(y) == x**2 * p / (1 - p)", r"\operatorname{E}(y) = \frac{x^{2} \cdot p}{1 - p}"),
    (
        "P(x > 3, given=m == 1) >= 0.9",
        r"\operatorname{P}(x > 3 \mid m = 1) \geq 0.9",
    ),
    ("0.4 <= Std(y) < 1e-9", r"0.4 \leq \operatorname{Std}(y) < 10^{-9}"),
    ("E(x) == -(a - b)**2", r"\operatorname{E}(x) = -(a - b)^{2}"),
    ("E(x) == (-a)**-b", r"\operatorname{E}(x) = (-a)^{-b}"),
    ("E(x) == a - (b - c)", r"\operatorname{E}(x) = a - (b - c)"),
    ("E(x) == a * (b / c)", r"\operatorname{E}(x) = a \cdot \frac{b}{c}"),
    ("E(x) == (a / b)**2", r"\operatorname{E}(x) = \left( \frac{a}{b} \right)^{2}"),
    ("E(x) == (a**b)**c", r"\operatorname{E}(x) = (a^{b})^{c}"),
    ("E(x) == 2 * sigma * 3", r"\operatorname{E}(x) = 2 \sigma \cdot 3"),
    ("E(x_1[0]) == keep_prob", r"\operatorname{E}({x_{1}}_{1}) = \mathit{keep}_{\mathit{prob}}"),
    ("E(z[1:3, 0]) == 1.5e-7", r"\operatorname{E}(z_{2:3, 1}) = 1.5 \times 10^{-7}"),
    (
        "P(not (a < b) or c != d and e2 > 1) == 1",
        r"\operatorname{P}(\lnot (a < b) \lor c \neq d \land e_{2} > 1) = 1",
    ),
    (
        "E(x if a > 0 else abs(y)) == sqrt(pi / 2)",
        r"\operatorname{E}(x \text{ if } a > 0 \text{ else } \lvert y \rvert)"
        r" = \sqrt{\frac{\pi}{2}}",
    ),
    (
        "E(max(x, axis=0) // 2 % 3) == comb(n, 2) * factorial(n)",
        r"\operatorname{E}\left( \left\lfloor \frac{\max(x, \mathit{axis} = 0)}{2} "
        r"\right\rfloor \bmod 3 \right) = \binom{n}{2} \cdot n!",
    ),
    (
        "E(Phi(x) + lgamma(y)) == euler_gamma",
        r"\operatorname{E}(\Phi(x) + \operatorname{lgamma}(y)) = \gamma_{\mathrm{E}}",
    ),
    ("E(x) == [a, b][0]", r"\operatorname{E}(x) = \lbrack a, b \rbrack_{1}"),
]


@pytest.mark.parametrize(("statement", "latex"), MATH)
def test_a_statement_as_latex(statement: str, latex: str) -> None:
    parsed = parse_statement(SourceText.plain(statement))
    assert statement_latex(parsed, {"q": 1, "k": 1}) == latex


def test_vectors_are_told_by_the_model() -> None:
    model = (
        "q ~ normal(0, 1)[n]\nQ ~ normal(0, 1)[n, n]\nw = [1, 2]\nA = [[1, 2], [3, 4]]\ny = w * 2"
    )
    assert vectors(parse_model(SourceText.plain(model))) == {"q": 1, "w": 1}


@pytest.mark.parametrize("claim", SHIPPED.claims.values(), ids=lambda claim: claim.id)
def test_latex_survives_markdown_and_its_brackets_match(claim: Claim) -> None:
    latex = latex_of(claim)
    assert not re.search(r"\\[^a-zA-Z]|[*|`$]|<\S|>\S", latex)
    depth = 0
    for character in latex:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    assert latex.count(r"\left") == latex.count(r"\right")


CLAIMS = """\
dropcheck: 1
claims:
  qk-variance:
    title: A variance
    parameters: {dk: 512}
    model: |
      q ~ normal(0, 1)[dk]
      k ~ normal(0, 1)[dk]
    claim: Var(q @ k) == dk
"""


def test_mathematics_takes_the_place_of_code_where_it_is_asked_for() -> None:
    latex = {of: latex_of(claim) for of, claim in read_text(CLAIMS).claims.items()}
    report = Report(run_of(PASSED, FAILED), REGISTRY, latex=latex)
    rows = markdown_report(report).splitlines()[2:4]
    assert rows[0].split(" | ")[1] == r"$\operatorname{Var}(q^{\top} k) = \mathit{dk}$"
    assert rows[1].split(" | ")[1] == "`P(x > 3) >= 0.9`"  # without LaTeX
    assert "$" not in markdown_report(replace(report, latex={}))
