"""The HTML report as a document: whole, self-contained, and text wherever text was given."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from page import HOSTILE, Node, page, parse, registry, run_of_all_kinds
from picture_cases import EMPTY, OF_HOSTILE_TEXTS
from report_cases import FAILED, PASSED, UNDECIDED, run_of

from dropcheck.report import Report
from dropcheck.report.html import element, html_report, join, text
from dropcheck.report.screen import plain
from dropcheck.results import CaseResult, Region


@pytest.fixture(scope="module")
def source() -> str:
    return page()


@pytest.fixture(scope="module")
def document(source: str) -> Node:
    return parse(source)


def section(document: Node, claim: str) -> Node:
    return document.one("article", data_claim=claim)


# ---- one file, and safe ------------------------------------------------------------------------


def test_nothing_is_fetched(source: str, document: Node) -> None:
    assert source.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert not [node for node in document.all() if node.name in ("img", "iframe", "object", "base")]
    for node in document.all():
        for name in ("src", "srcset", "action", "poster", "style"):
            assert name not in node.attributes, node
    assert [node.attributes["href"] for node in document.all("link")] == ["data:,"]
    assert "@import" not in source
    assert "url(" not in source


def test_the_policy_names_the_one_style_and_the_one_script_by_their_hashes(
    document: Node,
) -> None:
    policy = document.one("meta", http_equiv="Content-Security-Policy").attributes["content"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; base-uri 'none'; form-action 'none'")
    assert "unsafe" not in policy
    for name in ("style", "script"):
        [content] = document.one(name).children
        assert isinstance(content, str)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy


def test_no_element_has_a_handler(document: Node) -> None:
    assert not [key for node in document.all() for key in node.attributes if key.startswith("on")]
    script = document.one("script").text
    for risky in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert risky not in script


def test_hostile_texts_stay_text(source: str, document: Node) -> None:
    assert len(list(document.all("script"))) == 1
    article = section(document, "hostile")
    shown = plain(HOSTILE)
    assert article.one("p", dir="auto").text == " ".join(shown.split())
    for fact in ("tags", "source"):
        assert "<script>alert('x')</script>" in facts(article)[fact].text
    for forbidden in ("\x1b", "\u202e", "\ud800", "<script>alert"):
        assert forbidden not in source
    assert source.encode("utf-8")


def test_a_link_is_never_a_program() -> None:
    found = parse(html_report(Report(run_of_all_kinds(), registry())))
    assert not list(section(found, "heavy-tail").all("a"))
    assert "javascript:alert(1)" in facts(section(found, "heavy-tail"))["source"].text
    link = facts(section(found, "qk-variance"))["source"].one("a")
    assert link.attributes["href"] == "https://example.org/scaling?a=1&b=2"
    assert link.text == 'Scaling <in> "attention"'


def test_a_title_of_a_hundred_kilobytes_is_whole() -> None:
    title = "<b>long & </b> " * 7000
    found = parse(html_report(Report(run_of(replace(PASSED, title=title)), EMPTY)))
    assert section(found, "qk-variance").one("p", dir="auto").text == " ".join(title.split())


def test_markup_escapes_all_but_markup() -> None:
    assert text("<&\"'>") == "&lt;&amp;&quot;&#x27;&gt;"
    assert element("p", "<", element("b", ">"), None, title='"', hidden=False) == (
        '<p title="&quot;">&lt;<b>&gt;</b></p>'
    )
    assert join(["<", element("br")], " & ") == "&lt; & <br>"


# ---- what is in it -----------------------------------------------------------------------------


def facts(article: Node) -> dict[str, Node]:
    """The labels of a claim's facts, and what stands beside them."""
    nodes = [node for node in article.one("dl").children if isinstance(node, Node)]
    return {name.text: value for name, value in zip(nodes[::2], nodes[1::2], strict=True)}


def test_the_summary_has_every_figure(document: Node) -> None:
    header = document.one("header")
    assert header.one("h1").text == "claims.yaml"
    assert header.one("p").text == "4 of 12 cases failed, 3 undecided"
    tiles = {tile.one("dt").text: tile.one("dd").text for tile in header.all("div")}
    assert tiles == {
        "cases": "12",
        "passed": "5",
        "failed": "4",
        "undecided": "3",
        "draws": "3.2M",
        "time": "0.9 s",
        "seed": "0",
        "error rate α": "1e-6",
    }


def test_a_run_that_passed_or_was_cut_short_says_so() -> None:
    def lead(*cases: CaseResult, interrupted: bool = False) -> str:
        made = html_report(Report(run_of(*cases, interrupted=interrupted), EMPTY))
        return parse(made).one("header").one("p").text

    assert lead(PASSED) == "All 1 case passed"
    assert lead(PASSED, interrupted=True) == "All 1 case passed, interrupted"
    assert lead(FAILED) == "1 of 1 case failed"
    assert lead() == "No case was finished"


def test_the_table_has_a_row_a_case_with_what_it_is_sorted_and_filtered_by(document: Node) -> None:
    table = document.one("table")
    assert [head.text for head in table.one("thead").all("th")] == [
        "claim", "parameters", "claimed", "estimated", "interval", "within", "draws", "verdict",
        "result",
    ]  # fmt: skip
    rows = list(table.one("tbody").all("tr"))
    assert len(rows) == 12
    assert [row.attributes["data-verdict"] for row in rows[:4]] == [
        "verified", "verified", "refuted", "inconclusive",
    ]  # fmt: skip
    cells = list(rows[1].all("td"))
    assert [cell.text for cell in cells] == [
        "dk=512", "512", "511.8", "[509.1, 514.6]", "±5.12", "512k", "verified", "pass",
    ]  # fmt: skip
    assert [cell.attributes["data-key"] for cell in cells] == [
        "dk=512", "512.0", "511.83", "509.11", "5.12", "512000.0", "verified", "pass",
    ]  # fmt: skip
    assert str(rows[3].attributes["data-tags"]).split() == ["2", "1"]


def test_every_filter_offers_what_there_is(document: Node) -> None:
    offered = {
        select.attributes["name"]: [option.text for option in select.all("option")]
        for select in document.one("form").all("select")
    }
    assert offered["verdict"] == ["any", "verified", "refuted", "inconclusive"]
    assert offered["result"] == ["any", "pass", "fail", "undecided"]
    assert offered["document"][:3] == ["any", 'Scaling <in> "attention"', "Not a link"]
    assert offered["tag"][2:] == ["attention", "tails"]


def test_each_claim_has_its_section_with_all_that_the_file_says(document: Node) -> None:
    found = {name: node.text for name, node in facts(section(document, "qk-variance")).items()}
    assert found == {
        "claim": "Var(q @ k) == dk",
        "model": "q ~ normal(0, 1)[dk] k ~ normal(0, 1)[dk]",
        "parameters": "dk = 64, 512",
        "requires": "dk >= 1",
        "note": "Each of the <dk> terms has variance 1 & no more.",
        "resolution": "0.01 of 512: ±5.12",
        "guarantee": "moments",
        "source": 'Scaling <in> "attention" , 2024-02-13 , Similar Scaling',
        "tags": "attention",
        "where": "claims.yaml:18",
    }


def test_each_case_has_its_picture_in_words_too(document: Node) -> None:
    pictures = [node for node in document.all("svg") if node.attributes.get("role") == "img"]
    assert len(pictures) == 12
    assert pictures[1].attributes["aria-label"] == (
        "claimed 512; estimated 511.8, interval [509.1, 514.6]; verified"
    )
    shapes = {
        verdict: [
            next(one.name for one in next(node.all("g")).children if isinstance(one, Node))
            for node in pictures
            if node.attributes["class"] == f"interval {verdict}" and list(node.all("g"))
        ]
        for verdict in ("verified", "refuted", "inconclusive")
    }
    assert set(shapes["verified"]) == {"circle"}
    assert set(shapes["refuted"]) == set(shapes["inconclusive"]) == {"path"}
    [unknown] = [node for node in pictures if "no interval" in str(node.attributes["aria-label"])]
    assert not list(unknown.all("g"))


def test_an_interval_stands_where_its_figures_say() -> None:
    found = parse(html_report(Report(run_of(PASSED), EMPTY)))
    [picture] = [node for node in found.all("svg") if node.attributes.get("role") == "img"]
    band, reach = picture.one("rect"), picture.one("line", class_="reach")
    share = [float(str(reach.attributes[end]).rstrip("%")) for end in ("x1", "x2")]
    # the axis of ±1.6 takes 94 of 100 parts
    assert share[0] == pytest.approx(50 + 94 / 3.2 * (509.11 - 512) / 5.12, abs=0.01)
    assert share[1] == pytest.approx(50 + 94 / 3.2 * (514.57 - 512) / 5.12, abs=0.01)
    assert float(str(band.attributes["width"]).rstrip("%")) == pytest.approx(94 * 2 / 3.2)


def test_each_case_has_the_command_that_repeats_it_and_a_button_to_copy_it(document: Node) -> None:
    article = section(document, "qk-variance")
    commands = article.one("ul", class_="commands")
    assert [code.text for code in commands.all("code")] == [
        "dropcheck run qk-variance --dk 64 --seed 0",
        "dropcheck run qk-variance --dk 512 --seed 0",
    ]
    labels = [button.attributes["aria-label"] for button in commands.all("button")]
    assert labels == [
        "Copy the command for qk-variance dk=64",
        "Copy the command for qk-variance dk=512",
    ]


def test_what_did_not_pass_comes_first_with_links(document: Node) -> None:
    [listed] = [
        one for one in document.all("section") if "attention-heading" in str(one.attributes)
    ]
    links = [link.attributes["href"] for link in listed.all("a")]
    assert links[0] == "#claim-naive-dropout"
    ids = {node.attributes.get("id") for node in document.all()}
    assert all(str(link)[1:] in ids for link in links)
    assert "What did not pass" not in html_report(Report(run_of(PASSED), EMPTY))


def test_what_did_not_pass_is_told_claim_by_claim_with_what_was_found() -> None:
    other = replace(FAILED, parameters={"p": 0.5}, region=Region(low=0.8))
    source = html_report(Report(run_of(FAILED, PASSED, UNDECIDED, other), EMPTY))
    section = parse(source).one("section", aria_labelledby="attention-heading")
    assert [link.text for link in section.all("a")] == ["naive-dropout", "heavy-tail"]
    figures = [figure.text for figure in section.all("span", class_="figures")]
    assert figures == [">= 0.9", "0.700", ">= 0.8", "0.700", "0.405 … 0.415", "0.410"]
    unknown = replace(UNDECIDED, region=None, estimate=None, interval=None)
    section = parse(html_report(Report(run_of(unknown), EMPTY))).one(
        "section", aria_labelledby="attention-heading"
    )
    assert not list(section.all("span", class_="figures"))


def test_where_the_table_has_no_head_nothing_speaks_of_it(document: Node) -> None:
    told = document.one("caption").one("span", class_="wide")
    assert "head" in told.text
    assert "head" not in document.one("caption").text.replace(told.text, "")


def test_warnings_are_told() -> None:
    found = parse(html_report(Report(run_of(OF_HOSTILE_TEXTS), EMPTY)))
    listed = found.one("section", aria_labelledby="warnings-heading")
    assert listed.one("li").text == " ".join(plain(HOSTILE).split())


def test_the_same_run_gives_the_same_page(source: str) -> None:
    assert page() == source


# ---- for whoever reads it ----------------------------------------------------------------------


def test_ids_are_unique_and_every_reference_leads_somewhere(document: Node) -> None:
    ids = [str(node.attributes["id"]) for node in document.all() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    for node in document.all():
        for name in ("aria-labelledby", "aria-describedby", "for"):
            if name in node.attributes:
                assert node.attributes[name] in ids
        href = node.attributes.get("href") or ""
        if href.startswith("#"):
            assert href[1:] in ids, href


def test_every_field_and_button_has_a_name(document: Node) -> None:
    labelled = {id(field) for label in document.all("label") for field in label.all()}
    fields = [*document.all("input"), *document.all("select")]
    buttons, pictures = list(document.all("button")), list(document.all("svg"))
    assert fields
    assert buttons
    assert pictures
    assert all(id(field) in labelled for field in fields)
    for button in buttons:
        assert button.text or button.attributes.get("aria-label")
    for svg in pictures:
        hidden = svg.attributes.get("aria-hidden") == "true"
        nested = "overflow" in svg.attributes
        assert hidden or nested or svg.attributes.get("aria-label"), svg


def test_headings_go_down_by_one(document: Node) -> None:
    levels = [int(node.name[1]) for node in document.all() if re.fullmatch("h[1-6]", node.name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_counts_are_announced_and_the_table_has_a_caption(document: Node) -> None:
    status = document.one(None, id="status")
    assert (status.attributes["role"], status.attributes["aria-live"]) == ("status", "polite")
    assert document.one("caption").text
    assert all(head.attributes["scope"] == "col" for head in document.one("thead").all("th"))
    assert document.one("html").attributes["lang"] == "en"
    [viewport] = [one for one in document.all("meta") if one.attributes.get("name") == "viewport"]
    assert viewport.attributes["content"] == "width=device-width, initial-scale=1"


def test_without_its_script_the_page_offers_nothing_that_does_not_work(document: Node) -> None:
    assert "hidden" in document.one("form").attributes
    copies = [one for one in document.all("button") if one.attributes.get("class") == "copy"]
    assert copies
    assert all("hidden" in one.attributes for one in copies)
