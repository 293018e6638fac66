"""Markdown, and mathematics in it: exact text, and what a reader of Markdown makes of it."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from report_cases import FAILED, PASSED, UNDECIDED, run_of

from dropcheck.claims.reader import read_registry
from dropcheck.claims.registry import Registry
from dropcheck.errors import Location, Problem
from dropcheck.report import Report
from dropcheck.report.markdown import markdown_report
from dropcheck.results import CaseResult

REGISTRY = Registry("claims.yaml", {}, {})
SHIPPED = read_registry(Path(__file__).parents[2] / "claims.yaml")


def markdown_of(*cases: CaseResult, verbose: bool = False) -> str:
    return markdown_report(Report(run_of(*cases), REGISTRY, verbose=verbose))


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
