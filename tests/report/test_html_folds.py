"""The HTML report of many cases: whole without its script, and with it drawn as it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, DRIVER, MISSING, Page, headless, shape
from page import Node, parse, registry
from report_cases import FAILED, PASSED, UNDECIDED, run_of

from dropcheck.report import Report
from dropcheck.report.html import MANY, SHEAF, element, fold, html_report, lists

CLAIMS = 6 * SHEAF
ALONE = MANY + 1  # the cases of one claim


def many_cases() -> str:
    """A page of many claims of one case, and of one claim of many cases."""
    kinds = (PASSED, FAILED, UNDECIDED)
    cases = [
        replace(
            kinds[n % 3],
            claim=f"claim-{n}",
            title=f"Title </noscript> {n}",
            parameters={"dk": float(n)},
            repeat=f"dropcheck run claim-{n}",
            statement=f"E(x) == word{n}",
        )
        for n in range(CLAIMS)
    ]
    cases += [
        replace(FAILED, claim="alone", parameters={"p": float(n)}, repeat=f"dropcheck run --p {n}")
        for n in range(ALONE)
    ]
    return html_report(Report(run_of(*cases), registry()))


@pytest.fixture(scope="module")
def source() -> str:
    return many_cases()


@pytest.fixture(scope="module")
def document(source: str) -> Node:
    return parse(source)


def test_without_its_script_the_page_is_whole(document: Node) -> None:
    [table] = [one for one in document.all("table") if one.attributes.get("id") == "cases"]
    assert len(list(table.one("tbody").all("tr"))) == CLAIMS + ALONE
    assert len(list(document.all("article"))) == CLAIMS + 1
    pictures = [one for one in document.all("svg") if one.attributes.get("role") == "img"]
    assert len(pictures) == CLAIMS + ALONE
    codes = [one.text for commands in document.all("ul", class_="commands")
             for one in commands.all("code")]  # fmt: skip
    assert len(set(codes)) == CLAIMS + ALONE
    missed = document.one("section", aria_labelledby="attention-heading")
    assert len(list(missed.all("a"))) == CLAIMS * 2 // 3 + 1
    ids = [one.attributes["id"] for one in document.all() if "id" in one.attributes]
    assert len(ids) == len(set(ids))


def test_no_fold_ends_within_another_or_in_a_text(source: str) -> None:
    depth = 0
    for part in source.split("<")[1:]:
        depth += part.startswith("noscript") - part.startswith("/noscript")
        assert depth in (0, 1)
    assert depth == 0
    folded = fold(element("p", "a"), height=1)
    assert folded == '<noscript class="fold" data-height="1"><p>a</p></noscript>'
    assert fold(folded, height=2) == folded
    assert [str(one)[:9] for one in lists([element("li")] * (MANY + 1), height=1)] == (
        ["<noscript"] * (MANY // SHEAF + 1)
    )


def test_a_page_that_is_read_at_once_has_no_folds() -> None:
    cases = [replace(PASSED, parameters={"dk": float(n)}) for n in range(MANY)]
    few = html_report(Report(run_of(*cases), registry()))
    assert "<noscript" not in few
    more = html_report(Report(run_of(*cases, FAILED), registry()))
    assert "<noscript" in more


# ---- in a browser ------------------------------------------------------------------------------

in_browser = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=MISSING)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    driver = headless(tmp_path_factory.mktemp("profile"))
    # a page that is never idle: what is drawn was in sight or asked for
    driver.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument",
        {"source": "window.requestIdleCallback = (work) => { window.goOn = work; };"},
    )
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser: Any, source: str, tmp_path: Path) -> Iterator[Page]:
    path = tmp_path / "run.html"
    path.write_text(source, encoding="utf-8")
    shape(browser, 1280)
    yield Page(browser, path)
    assert browser.get_log("browser") == []


def rows_drawn(opened: Page) -> int:
    count: int = opened.script("return document.querySelectorAll('#cases tbody tr').length")
    return count


@in_browser
def test_what_is_out_of_sight_is_not_drawn_until_there_is_time(opened: Page) -> None:
    assert opened.status() == f"{CLAIMS + ALONE} of {CLAIMS + ALONE} cases shown"
    assert rows_drawn(opened) < CLAIMS
    opened.script("while (document.querySelector('.sheaf:empty')) goOn({timeRemaining: () => 50})")
    assert rows_drawn(opened) == CLAIMS + ALONE
    # what is never on the screen is found by the browser's own search
    assert opened.script("return window.find('word599')")
    assert not opened.script("return document.querySelector('.copy').hidden")


@in_browser
def test_a_link_leads_to_what_is_not_drawn_yet(opened: Page) -> None:
    target = f"claim-claim-{CLAIMS - 2}"
    assert opened.script("return document.getElementById(arguments[0])", target) is None
    where = (
        "const place = document.querySelector(':target').getBoundingClientRect();"
        "return [document.querySelector(':target').id, place.top]"
    )
    for hashed in (
        "location.hash = arguments[0]",  # as by hand, or by the way back
        "const link = document.createElement('a'); link.href = '#' + arguments[0];"
        "document.body.append(link); link.click()",
    ):
        opened.driver.get("about:blank")
        opened.driver.get(opened.path.as_uri())
        opened.script(hashed, target)
        opened.script("return new Promise((done) => setTimeout(done, 100))")
        found, top = opened.script(where)
        assert found == target
        assert -5 <= top <= 900
    opened.driver.get("about:blank")
    opened.driver.get(f"{opened.path.as_uri()}#{target}")
    assert opened.script(where)[0] == target


@in_browser
def test_an_address_that_leads_nowhere_stops_nothing(opened: Page) -> None:
    opened.driver.get("about:blank")
    opened.driver.get(f"{opened.path.as_uri()}#100%")
    assert opened.script("return typeof goOn") == "function"  # the last thing that the script does


@in_browser
def test_filters_and_order_are_over_all_cases(opened: Page) -> None:
    field = opened.find("input[name=text]")
    field.send_keys("word377")
    assert opened.rows() == ["claim-377 dk=377"]
    assert opened.status() == f"1 of {CLAIMS + ALONE} cases shown"
    assert opened.find("#claim-claim-377").is_displayed()
    assert opened.script("return document.body.scrollHeight") < 60_000  # no room for the others
    opened.find("button[type=reset]").click()
    opened.script("return new Promise((done) => setTimeout(done))")
    opened.choose("verdict", "verified")
    assert len(opened.rows()) == CLAIMS // 3
    opened.choose("verdict", "any")
    opened.script("document.querySelector('#cases thead th:nth-child(1) button').click()")
    rows = opened.rows()
    assert len(rows) == CLAIMS + ALONE
    assert [row.split(" ")[0] for row in rows[ALONE : ALONE + 3]] == [
        "claim-0", "claim-1", "claim-2",
    ]  # fmt: skip


@in_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_the_cells_of_a_long_table_stand_below_their_heads(opened: Page, width: int) -> None:
    shape(opened.driver, width)
    opened.driver.get(opened.path.as_uri())
    opened.script("document.getElementById('cases').scrollIntoView()")
    opened.script("return new Promise((done) => setTimeout(done, 200))")
    assert opened.script("return document.documentElement.scrollWidth") <= width
    heads, cells = (
        opened.script(
            "return Array.from(document.querySelectorAll(arguments[0]),"
            " (one) => Math.round(one.getBoundingClientRect().left))",
            selector,
        )
        for selector in ("#cases thead th", "#cases tbody tr:first-child > *")
    )
    if width == 1280:
        assert cells[:9] == heads
    else:
        assert len(set(cells[:9])) == 1  # cards


@in_browser
def test_all_of_it_is_printed(opened: Page) -> None:
    opened.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    opened.script("window.dispatchEvent(new Event('beforeprint'))")
    assert rows_drawn(opened) == CLAIMS + ALONE
    assert opened.script(
        "return Array.from(document.querySelectorAll('.sheaf')).every("
        "(one) => one.firstChild && getComputedStyle(one).contentVisibility === 'visible')"
    )


@in_browser
def test_a_screen_reader_has_one_table_of_all_rows(opened: Page) -> None:
    opened.script("while (document.querySelector('.sheaf:empty')) goOn({timeRemaining: () => 50})")
    roles = opened.script(
        "return ['table', 'rowgroup', 'row', 'rowheader', 'columnheader'].map((role) =>"
        " document.querySelectorAll(`[role=${role}]`).length)"
    )
    groups = -(-(CLAIMS + ALONE) // SHEAF) + 1
    assert roles == [1, groups, CLAIMS + ALONE + 1, CLAIMS + ALONE, 9]
