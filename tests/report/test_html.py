"""The HTML report: whole, self-contained, text wherever text was given; and in a real Chromium."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from report_cases import ALL_KINDS, AS_EXPECTED, EMPTY, FAILED, HOSTILE, PASSED, UNDECIDED, run_of

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.report import Report
from dropcheck.report.html import html_report
from dropcheck.report.screen import one_line
from dropcheck.results import CaseResult, Passage, RunResult

VOID = {"br", "hr", "input", "link", "meta"}

CLAIMS = """\
dropcheck: 1
documents:
  scaling-post:
    title: Scaling <in> "attention"
    date: 2024-02-13
    url: https://example.org/scaling?a=1&b=2
  sneaky: {title: Not a link, url: "javascript:alert(1)"}
claims:
  qk-variance:
    title: The dot product of a query and a key has variance d_k
    document: scaling-post
    note: Each of the <dk> terms has variance 1 & no more.
    parameters: {dk: [64, 512]}
    model: |
      q ~ normal(0, 1)[dk]
      k ~ normal(0, 1)[dk]
    requires: dk >= 1
    claim: Var(q @ k) == dk
  heavy-tail:
    title: A tail
    document: sneaky
    model: y ~ normal(0, 0.41)
    claim: 0.405 <= Std(y) <= 0.415
"""


def registry() -> Registry:
    return read_text(CLAIMS)


def run_of_all_kinds() -> RunResult:
    """Every kind of case; one claim has several, and one another document and tag."""
    first, *rest = ALL_KINDS
    several = [
        replace(
            first,
            parameters={"dk": dk},
            draws=int(1000 * dk),
            repeat=f"dropcheck run qk-variance --dk {dk:g} --seed 0",
        )
        for dk in (64.0, 512.0)
    ]
    rest[1] = replace(rest[1], sources=(Passage("sneaky"),), tags=("tails", "attention"))
    return run_of(*several, *rest)


def page() -> str:
    return html_report(Report(run_of_all_kinds(), registry()))


@dataclass
class Node:
    """An element with what is in it, in order."""

    name: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    def all(self, name: str | None = None, **attributes: str) -> Iterator[Node]:
        """Every element below with this name and these attributes, in order."""
        for child in self.children:
            if isinstance(child, Node):
                wanted = {key.rstrip("_").replace("_", "-"): one for key, one in attributes.items()}
                if name in (None, child.name) and all(
                    child.attributes.get(key) == one for key, one in wanted.items()
                ):
                    yield child
                yield from child.all(name, **attributes)

    def one(self, name: str | None = None, **attributes: str) -> Node:
        found = list(self.all(name, **attributes))
        assert len(found) == 1, (name, attributes, len(found))
        return found[0]

    @property
    def text(self) -> str:
        """All text in it, with single spaces."""
        parts = [child if isinstance(child, str) else child.text for child in self.children]
        return " ".join(" ".join(parts).split())


class _Builder(HTMLParser):
    """Builds the tree, and holds every tag to be closed in its turn."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Node("document")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"{tag} has an attribute twice: {names}"
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parse(text: str) -> Node:
    builder = _Builder()
    builder.feed(text)
    builder.close()
    assert len(builder.open) == 1, f"<{builder.open[-1].name}> is not closed"
    return builder.open[0]


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


# ---- for whoever reads it ----------------------------------------------------------------------


def test_ids_are_unique_and_every_reference_leads_somewhere(document: Node) -> None:
    ids = [str(node.attributes["id"]) for node in document.all() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    for node in document.all():
        href = node.attributes.get("href") or ""
        assert not href.startswith("#") or href[1:] in ids, href


def test_it_speaks_to_screen_readers(document: Node) -> None:
    labelled = {id(field) for label in document.all("label") for field in label.all()}
    for one in (*document.all("input"), *document.all("select")):
        assert id(one) in labelled
    for svg in document.all("svg"):
        assert svg.attributes.get("aria-hidden") == "true" or "overflow" in svg.attributes
    levels = [int(node.name[1]) for node in document.all() if re.fullmatch("h[1-6]", node.name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert document.one(None, id="status").attributes["role"] == "status"
    [viewport] = [one for one in document.all("meta") if one.attributes.get("name") == "viewport"]
    assert viewport.attributes["content"] == "width=device-width, initial-scale=1"


# ---- in a browser --------------------------------------------------------------------------------

DRIVER = shutil.which("chromedriver")
IN_SIGHT = """
return Array.from(document.querySelectorAll('.case'))
  .filter((one) => !one.hidden && one.closest('.claim').open && !one.closest('.claim').hidden)
  .map((one) => one.closest('.claim').querySelector('h3').textContent)
"""
OTHER_SCRIPT = """
const s = document.createElement('script'); s.textContent = 'window.ran = 1';
document.body.append(s); return window.ran === undefined
"""


@pytest.mark.skipif(DRIVER is None, reason="no Chromium with its driver here")
def test_it_filters_and_lets_no_other_script_run(tmp_path: Path) -> None:
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.support.ui import Select

    (file := tmp_path / "run.html").write_text(page(), encoding="utf-8")
    options = ChromeOptions()
    flags = ["--headless=new", "--no-sandbox", f"--user-data-dir={tmp_path / 'profile'}"]
    for flag in (*flags, "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver: Any = Chrome(options=options, service=Service(DRIVER))
    try:
        driver.get(file.as_uri())

        def find(selector: str) -> Any:
            return driver.find_element("css selector", selector)

        assert find("#status").text == "12 of 12 cases shown"
        assert "<script>alert('x')</script> \"quoted\" &" in find("#claim-hostile").text
        find("input[name=text]").send_keys("QUERY variance 64")  # in any case
        assert driver.execute_script(IN_SIGHT) == ["qk-variance"]
        find("input[name=text]").send_keys(" none")
        assert find("#status").text == "No case fits. Change or reset the filters."
        find("button[type=reset]").click()
        driver.execute_script("return new Promise((done) => setTimeout(done))")
        Select(find("select[name=result]")).select_by_visible_text("undecided")
        assert driver.execute_script(IN_SIGHT) == ["heavy-tail", "strict", "unknown"]
        assert driver.get_log("browser") == []
        assert driver.execute_script(OTHER_SCRIPT)
        [entry] = driver.get_log("browser")  # and the console says why
        assert "Content Security Policy" in entry["message"]
    finally:
        driver.quit()
