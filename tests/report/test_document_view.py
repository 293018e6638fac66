"""The report that is the document: its text, its figures with their signs, and nothing else."""

from __future__ import annotations

import html
import json
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from page import Node, parse
from report_cases import run_of

from dropcheck.claims.registry import Registry
from dropcheck.documents.any_file import read_any
from dropcheck.documents.html_source import paragraphs_of_html
from dropcheck.errors import DropcheckError
from dropcheck.report import Report
from dropcheck.report.html import document_view
from dropcheck.report.html.document_view import spots_of
from dropcheck.report.html.page import html_report
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

PAPER = r"""---
title: Of coins
---
# Of coins

<!-- dropcheck
models:
  coin: "b ~ bernoulli(1 / 2)"
-->

## What is said
A coin shows heads in **50%**<!-- dropcheck #half: ~= 1 / 2 --> of throws, not 0.6<!-- dropcheck #false: ~= 1 / 2 -->,
and $1 + 1 = 2$<!-- dropcheck #sum: --> all the same<!-- dropcheck #alone: 2 < 3 -->.

| p | mean |
| - | ---: |
| 1 | 0.25<!-- dropcheck #cell: == 1 / 4 --> |

> quoted $2 \cdot
> 2 = 4$<!-- dropcheck #lines: --> here

Free $a_1 * b * c_2$ and [a link to 3<!-- dropcheck #link: == 1 + 2 -->](https://example.org).
"""  # noqa: E501 - a paragraph of a paper


def report_of(tmp_path: Path, text: str, name: str = "paper.md", pattern: str = "") -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    registry = read_any(path, name)
    return of_registry(registry, pattern)


def of_registry(registry: Registry, pattern: str = "") -> str:
    cases = [case for case in registry.expand() if pattern in case.claim.id]
    run = run_of(*verify_cases(cases, Settings(), registry))
    return html_report(Report(run, registry))


def classes(node: Node) -> set[str]:
    return set(str(node.attributes.get("class") or "").split())


def article(page: str) -> Node:
    (found,) = (one for one in parse(page).all("article") if "document" in classes(one))
    return found


BLOCKS = {"p", "h2", "h3", "th", "td", "li"}


def shown(node: Node) -> Iterator[str]:
    """The text that a reader sees: without what is told on hover, and without signs."""
    for child in node.children:
        if isinstance(child, str):
            yield child
        elif not {"tip", "unseen", "sign"} & classes(child):
            yield from shown(child)
            yield " " if child.name in BLOCKS else ""


def plain_text(page: str) -> str:
    return " ".join("".join(shown(article(page))).split())


def figures(page: str) -> dict[str, Node]:
    """The figures by the claim that they lead to."""
    return {str(one.attributes["href"])[7:]: one for one in article(page).all("a")
            if "figure" in classes(one)}  # fmt: skip


def test_the_text_is_the_document_s(tmp_path: Path) -> None:
    page = report_of(tmp_path, PAPER)
    assert plain_text(page) == (
        "Of coins What is said A coin shows heads in 50% of throws, not 0.6, and 1 + 1 = 2 all the "
        "same. p mean 1 0.25 quoted 2 · 2 = 4 here Free a1 * b * c2 and a link to 3."
    )
    assert [one.name for one in article(page).all() if re.fullmatch(r"h\d", one.name)] == [
        "h2", "h3",
    ]  # fmt: skip


def test_each_figure_has_its_verdict_its_sign_and_what_was_found(tmp_path: Path) -> None:
    page = report_of(tmp_path, PAPER)
    found = figures(page)
    assert set(found) == {"half", "false", "sum", "alone", "cell", "lines", "link"}
    tips = {one.attributes["id"]: one for one in article(page).all("span", role="tooltip")}
    for name, one in found.items():
        refuted = name == "false"
        assert ("refuted" if refuted else "verified") in classes(one)
        assert ("fail" if refuted else "pass") in classes(one)
        assert ("✗" if refuted else "✓") in one.text
        tip = tips[one.attributes["aria-describedby"]].text
        assert ("FAIL: refuted" if refuted else "verified") in tip
        assert "read as" in tip
    assert (
        "claimed 0.50 ± 0.005, exactly 0.5"
        in tips[found["half"].attributes["aria-describedby"]].text
    )
    assert [one.name for one in article(page).all("strong")] == ["strong"]
    assert not [
        one for one in article(page).all("a") if "figure" not in classes(one)
    ]  # no link in one


def test_a_figure_that_was_not_run_says_so(tmp_path: Path) -> None:
    page = report_of(tmp_path, PAPER, pattern="half")
    assert set(figures(page)) == {"half"}
    quiet = [one.text for one in article(page).all("span") if "not-run" in classes(one)]
    assert quiet == ["0.6", "1 + 1 = 2", "", "0.25", "2 · 2 = 4", "3"]


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x)",
    "![x](javascript:alert(1))",
    "![x](https://example.org/pixel.png)",
    "<javascript:alert(1)>",
    "[x](https://e.org 'a\" onmouseover=\"alert(1)')",
    '[x](https://e.org/"onmouseover="alert(1))',
    '```x" onclick="alert(1)\ny\n```',
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<svg onload=alert(1)>",
    "<style>* { display: none }</style>",
    "<!-- --><script>alert(1)</script><!-- -->",
    "<!--><img src=x onerror=alert(1)>-->",
    "<math><mi//xlink:href='data:x,<script>alert(1)</script>'>",
    "<form action='https://e.org'><input name=x autofocus onfocus=alert(1)></form>",
    "<base href='https://e.org/'><link rel=stylesheet href='https://e.org/x.css'>",
    "<meta http-equiv=refresh content='0;url=https://e.org'>",
    "| <img src=x onerror=alert(1)> | b |\n| --- | --- |\n| c | `<b>` |",
    "\ue000\ue010\ue001 \ue000\ue019\ue019\ue001",
    "$</code><script>alert(1)</script>$",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<title>x</title></head><body onload=alert(1)>",
    "</article></section></main><h1>out</h1>",
    "# <script>alert(1)</script>",
    "[x]: javascript:alert(1)\n\n[x]",
    "<p hidden>a</p><div style='position:fixed;inset:0'>b</div>",
]
KNOWN = {
    *("i", "sub", "sup"),
    *("p", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "hr"),
    *("table", "thead", "tbody", "tr", "th", "td", "div", "em", "strong", "br", "a", "span"),
}
ATTRIBUTES = {
    "a": {"href", "rel", "class", "aria-describedby"},
    "ol": {"start"},
    "div": {"class", "tabindex"},
    "span": {"class", "id", "role", "aria-hidden", "title"},
}


def document(text: str, ending: str) -> str:
    """A document of each kind with a text, a figure that is claimed, and the text again."""
    whole = f"<p>8<!-- dropcheck: == 4 + 4 -->\n\n{text}\n"
    if ending == ".tex":
        return f"{text}\n\n8% dropcheck: == 4 + 4\n\n{text}\n"
    if ending == ".html":
        return whole
    whole = f"{text}\n\n{whole[3:]}"
    if ending == ".md":
        return whole
    cell = {"cell_type": "markdown", "metadata": {}, "source": whole}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})


@pytest.mark.parametrize("ending", [".md", ".html", ".ipynb", ".tex"])
@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_document_is_taken_for_markup(tmp_path: Path, text: str, ending: str) -> None:
    page = report_of(tmp_path, document(text, ending), f"a{ending}")
    for one in article(page).all():
        assert one.name in KNOWN
        assert set(one.attributes) <= ATTRIBUTES.get(one.name, {"class"})
        href = str(one.attributes.get("href") or "")
        assert re.match(r"#claim-|https?://|mailto:|\Z", href)
    whole = parse(page)
    assert len(list(whole.all("script"))) == len(list(whole.all("style"))) == 1
    assert [one.name for one in whole.all("main")] == ["main"]
    assert len(figures(page)) == 1
    for quiet in ("onerror", "onload", "onclick", "onfocus", "onmouseover"):
        assert not any(quiet in one.attributes for one in whole.all())


def test_an_attribute_that_is_passed_on_would_be_seen() -> None:
    bad = parse("<article class=document><p onclick=x>y</p></article>")
    assert any("onclick" in one.attributes for one in bad.all())


def test_a_table_that_claims_many_columns_stays_small(tmp_path: Path) -> None:
    columns = 300
    table = f"|{'a|' * columns}\n|{'-|' * columns}\n" + "|a|\n" * 300
    page = report_of(tmp_path, f"8<!-- dropcheck: == 4 + 4 -->\n\n{table}")
    assert len(page) < 700_000  # 90,000 cells, most of which the text does not have, would be more


def test_a_document_that_is_too_long_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_view, "LONGEST", 1_000)
    long = "8<!-- dropcheck: == 4 + 4 -->\n\n" + "word and word \n" * 100
    page = report_of(tmp_path, long)
    assert "too long to be shown" in page
    assert "word and word" not in page


def test_marks_of_one_place_are_one_figure(tmp_path: Path) -> None:
    path = tmp_path / "paper.md"
    path.write_text("$1 + 1 = 2 = 4 - 2$<!-- dropcheck #chain: -->\n", encoding="utf-8")
    registry = read_any(path, "paper.md")
    (page,) = registry.pages
    (spot,) = spots_of(page, registry.claims.values())
    assert [claim.id for claim in spot.claims] == ["chain", "chain-2"]
    assert html.unescape(of_registry(registry)).count("read as") == 2


def test_several_documents_have_a_section_each(tmp_path: Path) -> None:
    from dropcheck.claims.reader import load_registry

    for name in ("one.md", "two.md"):
        text = f"# {name}\n\n8<!-- dropcheck: == 4 + 4 -->\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
    registry = load_registry([str(tmp_path / "one.md"), str(tmp_path / "two.md")], read_any)
    whole = parse(of_registry(registry))
    shown = [one for one in whole.all("article") if "document" in classes(one)]
    assert len(shown) == 2
    tips = [one.attributes["id"] for one in whole.all("span", role="tooltip")]
    assert len(set(tips)) == 2


def test_what_is_not_claimed_is_marked_faintly(tmp_path: Path) -> None:
    page = report_of(tmp_path, "8.0<!-- dropcheck: == 4 + 4 --> and 0.7, $a = b$, `0.9`.\n")
    faint = [one.text for one in article(page).all("span") if "unclaimed" in classes(one)]
    assert faint == ["0.7", "a = b"]
    assert plain_text(page) == "8.0 and 0.7, a = b, 0.9."
    assert "2 not claimed" in parse(page).text


def test_the_cells_of_a_notebook_are_shown_one_below_the_other(tmp_path: Path) -> None:
    half = "$\\frac{1}{2} = 0.5$<!-- dropcheck #half: -->"
    last = f"x\n{half} and 8<!-- dropcheck #eight: == 8 -->"
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# One\n", "* a\n", '* "b" 0.5']},
        {"cell_type": "code", "metadata": {}, "source": "hidden", "outputs": []},
        {"cell_type": "markdown", "metadata": {}, "source": last},
    ]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    page = report_of(tmp_path, json.dumps(notebook), "notes.ipynb")
    assert plain_text(page) == 'One a "b" 0.5 x 1/2 = 0.5 and 8'
    assert set(figures(page)) == {"half", "eight"}


def test_latex_is_shown_as_it_is_written(tmp_path: Path) -> None:
    text = "\\section{A}\nIt is 8% dropcheck #eight: == 8\n, and $1 = 1$% dropcheck #one:\n."
    page = report_of(tmp_path, text, "a.tex")
    assert plain_text(page) == "\\section{A} It is 8, and 1 = 1."
    assert set(figures(page)) == {"eight", "one"}


def test_html_is_shown_as_its_text(tmp_path: Path) -> None:
    text = "<title>T</title><h1>A</h1><p>It is <b>8</b><!-- dropcheck #eight: == 8 --> &lt; 9<td>x"
    page = report_of(tmp_path, text, "a.html")
    assert plain_text(page) == "A It is 8 < 9 x"
    assert set(figures(page)) == {"eight"}


@pytest.mark.parametrize("bit", ["<a ", "<a href='", "<!--", "<![CDATA[", "</", "<script>"])
def test_html_that_is_never_closed_is_gone_through_once(bit: str) -> None:
    started = time.perf_counter()
    assert paragraphs_of_html(f"<p>8<p>{bit * 50_000}") == [(0, "8")]
    assert time.perf_counter() - started < 5  # html.parser takes minutes


BITS = [
    *("**", "_", "`", "```\n", "$", "$$", "\n\n", "> ", "- ", "|", "<b>", "<!--", "-->", "["),
    *("](x)", "<script>", "\\", "# ", "\ue000", "\ue001", "    ", "<div>\n", "\n---\n"),
]


def test_whatever_is_put_into_a_document_each_claim_is_seen_once(tmp_path: Path) -> None:
    rng = random.Random(8)  # seeded: the same documents always
    path, seen = tmp_path / "paper.md", 0
    for _ in range(120):
        text = PAPER
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(BITS) + text[at + rng.choice((0, 0, 5)) :]
        path.write_text(text, encoding="utf-8")
        try:
            registry = read_any(path, "paper.md")
        except DropcheckError:
            continue  # it is refused, which is tested elsewhere
        page = html_report(Report(run_of(), registry))
        claims = sum(bool(one.claims) for document in registry.pages
                     for one in spots_of(document, registry.claims.values()))  # fmt: skip
        quiet = [one for one in parse(page).all("span") if "not-run" in classes(one)]
        assert len(quiet) == claims, text
        assert not re.search("[\ue000-\uf8ff]", page)
        seen += claims
    assert seen > 100
