"""The HTML report in a real Chromium, as a person meets it: by mouse, by keyboard, on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, CONTRASTS, DRIVER, MISSING, Page, headless, shape
from page import page, registry
from picture_cases import HOSTILE
from report_cases import FAILED, PASSED, UNDECIDED, run_of

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
    shape(browser, 1280)
    yield Page(browser, file)
    assert browser.get_log("browser") == []


def test_it_renders_and_titles_stay_text(opened: Page) -> None:
    assert opened.driver.title == "claims.yaml: 12 cases: 5 passed, 4 failed, 3 undecided"
    assert opened.status() == "12 of 12 cases shown"
    assert len(opened.cases()) == 12
    sizes = opened.script(
        "return Array.from(document.querySelectorAll('.case > svg, .case > summary > svg'),"
        " (one) => [one.getBoundingClientRect().width, one.getBoundingClientRect().height])"
    )
    assert len(sizes) == 12
    assert all(width > 200 and height == 28 for width, height in sizes)
    assert opened.script("return document.querySelectorAll('script').length") == 1
    shown = opened.find("#claim-hostile").text
    assert "<script>alert('x')</script> \"quoted\" &" in shown
    assert HOSTILE not in shown  # its controls are spelled out


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


def test_no_number_of_an_axis_is_cut(browser: Any, tmp_path: Path) -> None:
    (file := tmp_path / "far.html").write_text(
        html_report(Report(run_of(replace(FAILED, interval=(0.448, 0.71))), registry())),
        encoding="utf-8",
    )
    shape(browser, 1000)
    cut = Page(browser, file).script(
        "const out = (one, of) => one.left < of.left || one.right > of.right;"
        "return Array.from(document.querySelectorAll('.axis text')).filter((one) => {"
        "  const svg = one.closest('svg'), rect = one.getBoundingClientRect();"
        "  const clips = getComputedStyle(svg).overflow !== 'visible';"
        "  return out(rect, (clips ? svg : document.body).getBoundingClientRect());"
        "}).map((one) => one.textContent)"
    )
    assert cut == []


def test_it_filters_by_text_and_result(opened: Page) -> None:
    field = opened.find("input[name=text]")
    field.send_keys("QUERY variance 64")  # from the title and the parameters, in any case
    assert opened.cases() == ["qk-variance dk=64"]
    field.clear()
    field.send_keys("no such words")
    assert opened.cases() == []
    assert opened.status() == "No case fits. Change or reset the filters."
    opened.find("button[type=reset]").click()
    opened.script("return new Promise((done) => setTimeout(done))")
    assert opened.status() == "12 of 12 cases shown"
    opened.choose("result", "undecided")
    assert [case.split()[0] for case in opened.cases()] == ["heavy-tail", "strict", "unknown"]
    field.send_keys("strict")
    assert len(opened.cases()) == 1
    assert opened.status() == "1 of 12 cases shown"


def test_it_works_by_keyboard_alone(opened: Page) -> None:
    from selenium.webdriver import Keys

    opened.press(Keys.TAB)
    assert opened.focused() == "A Skip to the claims"
    assert opened.find(".skip").rect["x"] >= 0  # in sight once it has the focus
    opened.press(Keys.ENTER)
    assert opened.focused() == "H2 Claims"
    opened.press(Keys.TAB)
    opened.press("tail")
    assert [case.split()[0] for case in opened.cases()] == ["heavy-tail"]
    opened.press(Keys.TAB, Keys.TAB, Keys.TAB)  # over the result and the button that resets
    assert opened.focused().startswith("SUMMARY heavy-tail")
    outline = opened.script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    opened.press(Keys.ENTER)
    assert opened.cases() == []  # it is folded
    opened.press(Keys.ENTER)
    assert len(opened.cases()) == 1


def test_a_link_opens_the_claim_that_it_leads_to(opened: Page) -> None:
    opened.script("for (const one of document.querySelectorAll('details')) one.open = false")
    opened.script("location.hash = 'claim-far-away'")
    opened.script("return new Promise((done) => setTimeout(done, 200))")
    top = opened.script("return document.querySelector(':target').getBoundingClientRect().top")
    assert 0 <= top <= 900
    assert opened.cases() == ["far-away p=0.3"]


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_runs_over_the_side_and_fingers_hit_what_they_mean(
    opened: Page, width: int
) -> None:
    shape(opened.driver, width)
    opened.driver.get(opened.path.as_uri())
    over = opened.script(
        "return Array.from(document.querySelectorAll('body *')).filter((one) =>"
        " one.offsetParent && one.getBoundingClientRect().right > innerWidth + 1)"
        ".map((one) => one.tagName + ' ' + one.textContent.slice(0, 40))"
    )
    assert over == []
    assert opened.script("return document.documentElement.scrollWidth") <= width
    targets = opened.script(
        "return Array.from(document.querySelectorAll('input, select, button, summary'))"
        ".filter((one) => one.offsetParent).map((one) => one.getBoundingClientRect().height)"
    )
    assert min(targets) >= 40  # a fingertip


def test_the_dark_is_dark_and_all_text_can_be_read_in_both(opened: Page) -> None:
    for dark in (False, True):
        shape(opened.driver, 1280, dark=dark)
        opened.driver.get(opened.path.as_uri())
        found = opened.script(CONTRASTS)
        paper = opened.script("return getComputedStyle(document.body).backgroundColor")
        assert paper == ("rgb(15, 19, 24)" if dark else "rgb(255, 255, 255)")
        assert found
        assert [one for one in found if one[1] < 4.5] == []  # WCAG 2.2, level AA


def test_on_paper_all_is_open_and_what_paper_cannot_do_is_left_out(opened: Page) -> None:
    opened.script("for (const one of document.querySelectorAll('details')) one.open = false")
    opened.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    opened.script("window.dispatchEvent(new Event('beforeprint'))")
    assert not opened.find("form").is_displayed()
    assert len(opened.cases()) == 12


def test_ten_thousand_cases_are_read_and_filtered_in_seconds(browser: Any, tmp_path: Path) -> None:
    kinds = (PASSED, FAILED, UNDECIDED)
    cases = [
        replace(
            kinds[n % 3], claim=f"claim-{n // 7}", parameters={"dk": float(n)}, repeat=f"run {n}"
        )
        for n in range(10_000)
    ]
    path = tmp_path / "run.html"
    path.write_text(html_report(Report(run_of(*cases), registry())), encoding="utf-8")
    assert path.stat().st_size < 25e6
    shape(browser, 1280)
    opened = Page(browser, path)
    assert opened.status() == "10000 of 10000 cases shown"
    milliseconds = opened.script(
        "const began = performance.now();"
        "const field = document.querySelector('input[name=text]'); field.value = 'dk=999';"
        "field.dispatchEvent(new Event('input', {bubbles: true}));"
        "return performance.now() - began"
    )
    assert milliseconds < 10_000
    assert opened.status() == "11 of 10000 cases shown"  # 999, and 9990 to 9999
