"""The HTML report as a document: whole, self-contained, and text wherever text was given."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from page import HOSTILE, Node, page, parse, run_of_all_kinds
from picture_cases import AS_EXPECTED, EMPTY
from report_cases import CONFIRMED, FAILED, PASSED, UNDECIDED, run_of

from dropcheck.report import Report
from dropcheck.report.facts import facts
from dropcheck.report.html import html_report
from dropcheck.report.screen import one_line
from dropcheck.results import CaseResult


@pytest.fixture(scope="module")
def source() -> str:
    return page()


@pytest.fixture(scope="module")
def document(source: str) -> Node:
    return parse(source)


def page_of(*cases: CaseResult, interrupted: bool = False) -> Node:
    return parse(html_report(Report(run_of(*cases, interrupted=interrupted), EMPTY)))


def body(document: Node, claim: str) -> Node:
    return document.one("div", id=f"claim-{claim}")


def pairs(node: Node) -> dict[str, str]:
    """The labels in a part of the page, and what stands beside them."""
    return {
        one.one("dt").text: one.one("dd").text for dl in node.all("dl") for one in dl.all("div")
    }


# ---- one file, and safe ------------------------------------------------------------------------


def test_nothing_is_fetched_and_nothing_is_handled(source: str, document: Node) -> None:
    assert source.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert not [node for node in document.all() if node.name in ("img", "iframe", "object", "base")]
    for node in document.all():
        for name in node.attributes:
            assert name not in ("src", "srcset", "action", "poster", "style"), node
            assert not name.startswith("on"), node
    assert [node.attributes["href"] for node in document.all("link")] == ["data:,"]
    for risky in ("@import", "url(", "innerHTML", "outerHTML", "insertAdjacentHTML", "eval("):
        assert risky not in source


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


def test_hostile_texts_stay_text(source: str, document: Node) -> None:
    shown = " ".join(one_line(HOSTILE).split())
    claim = next(one for one in document.all("details") if list(one.all(id="claim-hostile")))
    assert next(claim.all("span", class_="title")).text == shown
    said = pairs(claim)
    for fact in ("tags", "document", "section", "repeat"):
        assert said[fact] == shown
    for forbidden in ("\x1b", "\u202e", "\ud800", "<script>alert"):
        assert forbidden not in source
    assert source.encode("utf-8")


def test_a_link_is_never_a_program(document: Node) -> None:
    assert not list(body(document, "heavy-tail").all("a"))
    assert pairs(body(document, "heavy-tail"))["document"] == "Not a link"
    link = body(document, "qk-variance").one("a")
    assert link.attributes["href"] == "https://example.org/scaling?a=1&b=2"
    assert link.text == 'Scaling <in> "attention"'


# ---- what is in it -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cases", "interrupted", "standing", "text"),
    [
        ((PASSED, AS_EXPECTED), False, "pass", "All 2 cases passed"),
        ((PASSED,), False, "pass", "1 case passed"),
        ((UNDECIDED,), False, "undecided", "1 case: 0 passed, 0 failed, 1 undecided"),
        ((FAILED, UNDECIDED), False, "fail", "2 cases: 0 passed, 1 failed, 1 undecided"),
        ((), False, "undecided", "0 cases: 0 passed, 0 failed, 0 undecided"),
        ((PASSED,), True, "undecided", "1 case passed"),
    ],
)
def test_the_outcome_stands_at_the_top_in_its_colour(
    cases: tuple[CaseResult, ...], interrupted: bool, standing: str, text: str
) -> None:
    lead = next(page_of(*cases, interrupted=interrupted).one("header").all("p"))
    assert lead.attributes["class"] == f"lead {standing}"
    assert lead.text.endswith(text)
    assert lead.text.startswith("interrupted: ") is interrupted


def test_claims_that_did_not_pass_come_first_and_stand_open() -> None:
    passed = [replace(PASSED, claim=f"fine-{n}") for n in range(13)]
    claims = list(page_of(PASSED, *passed, UNDECIDED, FAILED).all("details", class_="claim"))
    assert [one.one("h3").text for one in claims[:3]] == [
        "naive-dropout",
        "heavy-tail",
        PASSED.claim,
    ]
    assert ["open" in one.attributes for one in claims[:3]] == [True, True, False]
    assert all("open" in one.attributes for one in page_of(PASSED).all("details", class_="claim"))


def test_a_claim_says_what_the_file_says_and_each_case_what_became_of_it(document: Node) -> None:
    said = pairs(body(document, "qk-variance"))
    assert {label: said[label] for label in list(said)[:4]} == {
        "statement": "Var(q @ k) == dk",
        "model": "q ~ normal(0, 1)[dk] k ~ normal(0, 1)[dk]",
        "requires": "dk >= 1",
        "note": "Each of the <dk> terms has variance 1 & no more.",
    }
    assert said["document"] == 'Scaling <in> "attention" , 2024-02-13'
    cases = list(body(document, "qk-variance").all("details"))
    assert [next(one.all("summary")).text for one in cases] == [
        f"dk={dk} verified claimed 512, estimated 511.8, interval [509.1, 514.6]"
        for dk in (64, 512)
    ]
    assert pairs(cases[1])["repeat"] == "dropcheck run qk-variance --dk 512 --seed 0"
    for claim, standing in (("false-on-purpose", "pass"), ("true-after-all", "fail")):
        [result] = body(document, claim).all("b")
        assert result.attributes["class"] == standing
        assert (
            result.text
            == facts(next(c for c in run_of_all_kinds().cases if c.claim == claim))["result"]
        )


def test_each_case_has_its_picture() -> None:
    picture = next(body(page_of(PASSED), PASSED.claim).all("svg"))
    share = [float(str(picture.one("line", y1="14").attributes[end])[:-1]) for end in ("x1", "x2")]
    # the axis of ±1.6 takes 94 of 100 parts
    assert share[0] == pytest.approx(50 + 94 / 3.2 * (509.11 - 512) / 5.12, abs=0.01)
    assert share[1] == pytest.approx(50 + 94 / 3.2 * (514.57 - 512) / 5.12, abs=0.01)
    assert float(str(picture.one("rect").attributes["width"])[:-1]) == pytest.approx(
        94 * 2 / 3.2, abs=0.02
    )
    marks = [
        next(body(page_of(case), case.claim).all(class_="mark"))
        for case in (PASSED, FAILED, UNDECIDED)
    ]
    assert len({(one.name, one.attributes.get("d")) for one in marks}) == 3
    assert list(page_of(CONFIRMED).all("path", class_="exact"))
    assert not list(page_of(PASSED).all("path", class_="exact"))


def test_warnings_and_notes_are_told(document: Node) -> None:
    warnings = next(one for one in document.all("ul"))
    shown = " ".join(one_line(HOSTILE).split())
    assert f"hostile: {shown}" in [one.text for one in warnings.all("li")]
    assert not list(page_of(PASSED).all("ul"))


# ---- for whoever reads it ----------------------------------------------------------------------


def test_ids_are_unique_and_every_reference_leads_somewhere(document: Node) -> None:
    ids = [str(node.attributes["id"]) for node in document.all() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    for node in document.all():
        href = node.attributes.get("href") or ""
        assert not href.startswith("#") or href[1:] in ids, href


def test_it_speaks_to_screen_readers(document: Node) -> None:
    labelled = {id(field) for label in document.all("label") for field in label.all()}
    for field in (*document.all("input"), *document.all("select")):
        assert id(field) in labelled
    for svg in document.all("svg"):
        assert svg.attributes.get("aria-hidden") == "true" or "overflow" in svg.attributes
    levels = [int(node.name[1]) for node in document.all() if re.fullmatch("h[1-6]", node.name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert document.one(None, id="status").attributes["role"] == "status"
    [viewport] = [one for one in document.all("meta") if one.attributes.get("name") == "viewport"]
    assert viewport.attributes["content"] == "width=device-width, initial-scale=1"


def test_without_its_script_the_page_offers_nothing_that_does_not_work(document: Node) -> None:
    assert "hidden" in document.one("form").attributes
    assert all(list(document.one("form").all()).count(one) for one in document.all("button"))
