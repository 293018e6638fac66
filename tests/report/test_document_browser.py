"""The report that is the document in a real Chromium: by pointer, by keyboard, wide and narrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, CONTRASTS, DRIVER, MISSING, Page, headless, shape
from report_cases import run_of

from dropcheck.documents.any_file import read_any
from dropcheck.report import Report
from dropcheck.report.html.page import html_report
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=MISSING)

LONG = "many words that go on to the end of the line and over it " * 3
PAPER = rf"""# Of coins

A coin shows heads in **50%**<!-- dropcheck #half: ~= 1 / 2 --> of throws, not 0.6<!-- dropcheck #false: ~= 1 / 2 -->.
{LONG} and 3<!-- dropcheck #far: == 1 + 2 -->, as said.

| p | mean | {LONG} |
| - | ---: | --- |
| 1 | 0.25<!-- dropcheck #cell: == 1 / 4 --> | {LONG}{LONG} |

And $\frac{{1}}{{2}} + \frac{{1}}{{2}} = 1$<!-- dropcheck #sum: --> and 4<!-- dropcheck #last: == 5; expect: refuted -->.
<img src=x onerror="document.title = 'ran'"><script>document.title = 'ran'</script>
"""  # noqa: E501 - a paragraph of a paper
SHAPES = [(1280, False), (1280, True), (390, False), (390, True)]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    driver = headless(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("document") / "paper.md"
    path.write_text(PAPER, encoding="utf-8")
    registry = read_any(path, "paper.md")
    run = run_of(*verify_cases(registry.expand(), Settings(), registry))
    report = path.with_suffix(".html")
    report.write_text(html_report(Report(run, registry)), encoding="utf-8")
    return report


@pytest.fixture
def opened(browser: Any, file: Path) -> Iterator[Page]:
    """The report at a desk; nothing may have been written to the console in the end."""
    browser.get_log("browser")
    shape(browser, 1280)
    yield Page(browser, file)
    assert browser.get_log("browser") == []


def tips(page: Page) -> list[str]:
    """What is told just now, the spaces single."""
    found: list[str] = page.script(
        "return Array.from(document.querySelectorAll('.tip'))"
        ".filter((one) => getComputedStyle(one).display !== 'none').map((one) => one.innerText)"
    )
    return [" ".join(one.split()) for one in found]


def point(page: Page, selector: str) -> None:
    from selenium.webdriver import ActionChains

    page.script("arguments[0].scrollIntoView({block: 'center'})", page.find(selector))
    ActionChains(page.driver).move_to_element(page.find(selector)).perform()


def test_a_figure_tells_what_was_found_when_it_is_pointed_at(opened: Page) -> None:
    assert tips(opened) == []
    point(opened, "a[href='#claim-half'].figure")
    (tip,) = tips(opened)
    assert tip == "✓ verified claimed 0.50 ± 0.005, exactly 0.5 read as 0.495 <= 1 / 2 <= 0.505"
    point(opened, ".document .tip:not([hidden])")  # one may go into it, as to copy a number
    assert tips(opened) == [tip]
    point(opened, "h1")
    assert tips(opened) == []


def test_it_is_reached_by_the_tab_key_and_closed_by_escape(opened: Page) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    opened.press(Keys.TAB)  # the link to the cases
    opened.press(Keys.TAB)
    assert opened.focused().startswith("A 50%")
    assert len(tips(opened)) == 1
    opened.press(Keys.ESCAPE)
    assert tips(opened) == []
    opened.press(Keys.TAB)
    assert opened.focused().startswith("A 0.6")
    (tip,) = tips(opened)
    assert tip.startswith("✗ FAIL: refuted")
    # back to what was closed: it opens again
    ActionChains(opened.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(
        Keys.SHIFT
    ).perform()
    assert len(tips(opened)) == 1
    opened.press(Keys.ENTER)
    assert opened.script("return location.hash") == "#claim-half"
    assert opened.find("#claim-half").is_displayed()


def test_a_screen_reader_is_given_verdict_and_figures(opened: Page) -> None:
    tree = opened.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    links = {
        one["name"]["value"]: one.get("description", {}).get("value", "")
        for one in tree
        if one.get("role", {}).get("value") == "link"
    }
    name = next(one for one in links if one.startswith("0.6"))
    assert name == "0.6 (FAIL: refuted)"
    assert "claimed 0.6 ± 0.05" in links[name]
    assert any(one["role"]["value"] == "article" and one["name"]["value"] == "Of coins"
               for one in tree if one.get("role"))  # fmt: skip


@pytest.mark.parametrize(("width", "dark"), SHAPES)
def test_nothing_is_cut_off_or_too_pale(opened: Page, width: int, dark: bool) -> None:
    shape(opened.driver, width, dark=dark)
    assert opened.script("return document.documentElement.scrollWidth") <= width
    for name in ("half", "far", "cell", "sum", "last"):
        opened.script(f"document.querySelector(\"a[href='#claim-{name}'].figure\").focus()")
        left, right, top, bottom, clear = opened.script(
            "const tip = document.activeElement.nextElementSibling;"
            "tip.scrollIntoView({block: 'nearest'});"
            "const box = tip.getBoundingClientRect();"
            "const seen = document.elementFromPoint(box.left + 20, box.top + 12);"
            "return [box.left, box.right, box.top, box.bottom, tip.contains(seen)]"
        )
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= 900
        assert clear  # nothing lies over it
    pale = [one for one in opened.script(CONTRASTS) if one[1] < 4.5]
    assert pale == []


def test_a_figure_at_the_end_of_a_line_leaves_nothing_on_the_next(opened: Page) -> None:
    narrow = opened.script(
        "const found = [];"
        "const article = document.querySelector('.document');"
        "const figure = document.querySelector(\"a[href='#claim-half'].figure\");"
        "for (let width = 160; width < 420; width++) {"
        " article.style.width = width + 'px';"
        " const last = Array.from(figure.getClientRects()).at(-1);"
        " if (last.width < 5) found.push([width, last.width]); }"
        "article.style.width = '';"
        "return found"
    )
    assert [one for one in narrow if one[1] > 0] == []


@pytest.mark.parametrize(("width", "dark"), SHAPES)
def test_verdicts_differ_without_colour(opened: Page, width: int, dark: bool) -> None:
    shape(opened.driver, width, dark=dark)
    styles = opened.script(
        "return ['half', 'false'].map((name) => {"
        " const one = document.querySelector(`a[href='#claim-${name}'].figure`);"
        " return [one.querySelector('.sign').innerText, getComputedStyle(one).borderBottomStyle,"
        "  getComputedStyle(one).borderBottomColor]; })"
    )
    (sign, line, colour), (other_sign, other_line, other_colour) = styles
    assert (sign, other_sign) == ("✓", "✗")
    assert line != other_line
    assert colour != other_colour


def test_nothing_of_the_document_runs_or_is_fetched(opened: Page) -> None:
    assert opened.driver.title.startswith("claims.yaml")
    assert opened.script("return document.images.length") == 0
    assert opened.script("return performance.getEntriesByType('resource').length") == 0


def test_it_is_read_without_its_script(browser: Any, file: Path) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page = Page(browser, file)
        point_at = page.find("a[href='#claim-half'].figure")
        assert "50%" in point_at.text
        from selenium.webdriver.common.keys import Keys

        page.press(Keys.TAB)
        page.press(Keys.TAB)
        assert page.find("#tip-0").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
