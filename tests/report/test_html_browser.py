"""The HTML report in a real Chromium, as a person meets it: by mouse, by keyboard, on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, CONTRASTS, DRIVER, MISSING, Page, headless, shape
from page import page, registry, run_of_all_kinds
from picture_cases import HOSTILE
from report_cases import PASSED, run_of

from dropcheck.report import Report
from dropcheck.report.html import html_report

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=MISSING)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Chromium without a window, in a profile of its own."""
    driver = headless(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "run.html"
    path.write_text(page(), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser: Any, file: Path) -> Iterator[Page]:
    """The report, opened at a desk; nothing may have been written to the console in the end."""
    browser.get_log("browser")
    shape(browser, 1200)
    yield Page(browser, file)
    assert browser.get_log("browser") == []


def test_it_renders(opened: Page) -> None:
    assert opened.driver.title == "claims.yaml: 4 of 12 cases failed, 3 undecided"
    assert opened.status() == "12 of 12 cases shown"
    assert len(opened.rows()) == 12
    pictures = opened.script(
        "return Array.from(document.querySelectorAll('svg[role=img]'),"
        " (one) => [one.getBoundingClientRect().width, one.getBoundingClientRect().height])"
    )
    assert len(pictures) == 12
    assert all(width > 200 and height == 28 for width, height in pictures)


def test_the_policy_lets_its_own_style_and_script_run_and_no_other(opened: Page) -> None:
    assert opened.find("form").is_displayed()  # the script ran
    paper = opened.script("return getComputedStyle(document.body).getPropertyValue('--paper')")
    assert paper.strip() == "#ffffff"  # the style applies
    blocked = opened.script(
        "const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
        "document.body.append(s); return window.ran === undefined"
    )
    assert blocked
    [entry] = opened.driver.get_log("browser")  # and the console says why
    assert "Content Security Policy" in entry["message"]


def test_titles_stay_text(opened: Page) -> None:
    assert opened.script("return document.querySelectorAll('script').length") == 1
    article = opened.find("#claim-hostile")
    assert "<script>alert('x')</script> \"quoted\" &" in article.text
    assert HOSTILE not in article.text  # its controls are spelled out
    options = opened.find("select[name=document]").text
    assert 'Scaling <in> "attention"' in options


@pytest.mark.parametrize(
    ("name", "label", "left"),
    [
        ("verdict", "inconclusive", ["heavy-tail", "strict", "unknown"]),
        ("result", "fail", ["naive-dropout p=0.3", "true-after-all dk=512", "far-away p=0.3"]),
        ("document", "Not a link", ["heavy-tail"]),
        ("tag", "tails", ["heavy-tail"]),
    ],
)
def test_it_filters(opened: Page, name: str, label: str, left: list[str]) -> None:
    opened.choose(name, label)
    found = opened.rows()
    assert found[: len(left)] == left
    assert opened.status() == f"{len(found)} of 12 cases shown"
    shown = opened.script(
        "return Array.from(document.querySelectorAll('.claim')).filter((one) => one.offsetParent)"
        ".map((one) => one.dataset.claim)"
    )
    assert shown == list(dict.fromkeys(row.split(" ")[0] for row in found))
    opened.choose(name, "any")
    assert len(opened.rows()) == 12


def test_text_is_looked_for_in_every_word_of_a_claim(opened: Page) -> None:
    field = opened.find("input[name=text]")
    field.send_keys("QUERY variance 64")  # from the title and the parameters, in any case
    assert opened.rows() == ["qk-variance dk=64"]
    field.clear()
    field.send_keys("no such words")
    assert opened.rows() == []
    assert opened.status() == "No case fits. Change or reset the filters."
    opened.find("button[type=reset]").click()
    opened.script("return new Promise((done) => setTimeout(done))")
    assert len(opened.rows()) == 12
    assert opened.status() == "12 of 12 cases shown"


def test_filters_join(opened: Page) -> None:
    opened.choose("verdict", "verified")
    opened.choose("result", "fail")
    assert opened.rows() == ["true-after-all dk=512"]


def test_it_sorts_both_ways_with_what_is_unknown_last(opened: Page) -> None:
    head = opened.find("#cases thead th:nth-child(4)")  # estimated
    in_file_order = opened.rows()
    head.find_element("css selector", "button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    rising = opened.rows()
    assert (rising[0], rising[-2], rising[-1]) == ("heavy-tail", "far-away p=0.3", "unknown")
    head.find_element("css selector", "button").click()
    assert head.get_attribute("aria-sort") == "descending"
    falling = opened.rows()
    assert (falling[0], falling[-2], falling[-1]) == ("far-away p=0.3", "heavy-tail", "unknown")
    assert sorted(falling) == sorted(in_file_order) == sorted(rising)
    opened.find("#cases thead th:nth-child(1) button").click()
    assert head.get_attribute("aria-sort") is None
    claims = [row.split(" ")[0] for row in opened.rows()]
    assert claims == sorted(claims)


def test_numbers_within_parameters_sort_as_numbers(browser: Any, tmp_path: Path) -> None:
    cases = [replace(PASSED, parameters={"dk": dk}) for dk in (9.0, 128.0, 64.0)]
    path = tmp_path / "run.html"
    path.write_text(html_report(Report(run_of(*cases), registry())), encoding="utf-8")
    shape(browser, 1200)
    opened = Page(browser, path)
    opened.find("#cases thead th:nth-child(2) button").click()
    assert [row.split("=")[1] for row in opened.rows()] == ["9", "64", "128"]


def test_it_works_by_keyboard_alone(opened: Page) -> None:
    from selenium.webdriver import Keys

    opened.press(Keys.TAB)
    assert opened.focused() == "A Skip to the cases"
    assert opened.find(".skip").rect["x"] >= 0  # in sight once it has the focus
    opened.press(Keys.ENTER)
    assert opened.focused() == "H2 Cases"
    opened.press(Keys.TAB)
    opened.press("tail")
    assert "heavy-tail" in opened.rows()
    assert len(opened.rows()) < 12
    for _ in range(6):  # over four filters and the button that resets them
        opened.press(Keys.TAB)
    assert opened.focused() == "BUTTON claim"
    outline = opened.script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    opened.press(Keys.ENTER)
    assert opened.find("#cases thead th").get_attribute("aria-sort") == "ascending"
    assert opened.focused() == "BUTTON claim"  # sorting takes the focus nowhere


def test_a_row_leads_to_its_claim(opened: Page) -> None:
    opened.find("#cases tbody a[href='#claim-far-away']").click()
    top = opened.script("return document.querySelector(':target').getBoundingClientRect().top")
    assert -5 <= top <= 900
    assert opened.find(":target").get_attribute("data-claim") == "far-away"


def test_the_command_is_copied(opened: Page) -> None:
    origin = {"permission": {"name": "clipboard-write"}, "setting": "granted"}
    opened.driver.execute_cdp_cmd("Browser.setPermission", origin)
    button = opened.find("#claim-qk-variance .copy")
    opened.script("arguments[0].scrollIntoView({block: 'center'})", button)
    # what is copied is caught on its way: the clipboard itself is the whole machine's
    opened.script(
        "window.copied = [];"
        "navigator.clipboard.writeText = async (text) => { window.copied.push(text); };"
    )
    button.click()
    assert opened.script("return window.copied") == ["dropcheck run qk-variance --dk 64 --seed 0"]
    assert button.text == "Copied"
    assert opened.status() == "Command copied"


def test_where_the_clipboard_is_closed_the_old_way_or_a_selection_serves(opened: Page) -> None:
    opened.script(
        "navigator.clipboard.writeText = () => Promise.reject(new Error('no'));"
        "document.execCommand = () => false;"
    )
    button = opened.find("#claim-qk-variance .copy")
    opened.script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", button)
    opened.script("return new Promise((done) => setTimeout(done))")
    assert button.text == "Press Ctrl-C"
    chosen = opened.script("return getSelection().toString()")
    assert chosen == "dropcheck run qk-variance --dk 64 --seed 0"


@pytest.mark.parametrize("width", [320, 360, 768, 1060, 1200])
def test_nothing_runs_over_the_side(opened: Page, width: int) -> None:
    shape(opened.driver, width)
    opened.driver.get(opened.path.as_uri())
    over = opened.script(
        "return Array.from(document.querySelectorAll('body *')).filter((one) =>"
        " one.offsetParent && one.getBoundingClientRect().right > innerWidth + 1)"
        ".map((one) => one.tagName + ' ' + one.textContent.slice(0, 40))"
    )
    assert over == []
    assert opened.script("return document.documentElement.scrollWidth") <= width
    lines = opened.script(  # no word is broken: each stands on one line
        "return Array.from(document.querySelectorAll('#cases .word span'),"
        " (one) => one.getClientRects().length)"
    )
    assert set(lines) == {1}


def test_on_a_phone_rows_are_cards_that_sort_by_a_field_of_the_form(opened: Page) -> None:
    shape(opened.driver, 360, 740)
    opened.driver.get(opened.path.as_uri())
    assert not opened.find("#cases thead").is_displayed()
    label = opened.script(
        "return getComputedStyle(document.querySelector('#cases td'), '::before').content"
    )
    assert label == '"parameters"'
    opened.choose("sort", "estimated")
    assert opened.rows()[0] == "heavy-tail"
    opened.choose("order", "descending")
    assert opened.rows()[0] == "far-away p=0.3"
    targets = opened.script(
        "return Array.from(document.querySelectorAll('form input, form select, button'))"
        ".filter((one) => one.offsetParent).map((one) => one.getBoundingClientRect().height)"
    )
    assert min(targets) >= 40  # a fingertip


def test_the_dark_is_dark_and_all_text_can_be_read_in_both(opened: Page) -> None:
    for dark in (False, True):
        shape(opened.driver, 1200, dark=dark)
        opened.driver.get(opened.path.as_uri())
        found = opened.script(CONTRASTS)
        paper = opened.script("return getComputedStyle(document.body).backgroundColor")
        assert paper == ("rgb(15, 19, 24)" if dark else "rgb(255, 255, 255)")
        assert found
        assert [one for one in found if one[1] < 4.5] == []  # WCAG 2.2, level AA


def test_on_paper_it_is_black_on_white_without_what_paper_cannot_do(opened: Page) -> None:
    opened.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]},
    )
    assert not opened.find("form").is_displayed()
    assert opened.script("return getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    assert len(opened.rows()) == 12


def test_a_screen_reader_meets_a_table_also_where_it_looks_like_cards(opened: Page) -> None:
    for width in (1200, 360):
        shape(opened.driver, width)
        opened.driver.get(opened.path.as_uri())
        tree = opened.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        roles = [node.get("role", {}).get("value") for node in tree if not node.get("ignored")]
        assert roles.count("table") == 1
        assert roles.count("rowheader") == 12
        assert roles.count("cell") == 12 * 8
        assert "status" in roles
        assert "search" in roles
        names = [
            node["name"]["value"]
            for node in tree
            if node.get("role", {}).get("value") in ("image", "img") and node.get("name")
        ]
        assert "claimed 512; estimated 511.8, interval [509.1, 514.6]; verified" in names


def test_three_hundred_cases_are_no_strain(browser: Any, tmp_path: Path) -> None:
    one, *_ = run_of_all_kinds().cases
    cases = [replace(one, claim=f"claim-{n // 3}", parameters={"dk": float(n)}) for n in range(300)]
    path = tmp_path / "run.html"
    path.write_text(html_report(Report(run_of(*cases), registry())), encoding="utf-8")
    shape(browser, 1200)
    opened = Page(browser, path)
    milliseconds = opened.script(
        "const began = performance.now();"
        "document.querySelector('#cases thead th:nth-child(2) button').click();"
        "const field = document.querySelector('input[name=text]'); field.value = 'dk=29';"
        "field.dispatchEvent(new Event('input', {bubbles: true}));"
        "return performance.now() - began"
    )
    assert milliseconds < 1000
    assert len(opened.rows()) == 11  # 29, and 290 to 299
