"""A page in a real browser, with the words for what the tests do to it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
DRIVER = shutil.which("chromedriver")
MISSING = "no Chromium with its driver here (Debian: apt install chromium chromium-driver)"


def headless(profile: Path) -> Any:
    """A Chromium without a window, in a profile of its own, that keeps what pages log."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = str(CHROMIUM)
    flags = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage"]
    flags += [f"--user-data-dir={profile}", "--no-first-run", "--lang=en"]
    flags.append("--no-sandbox")  # not to be had in every container; the page is our own
    for flag in flags:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    log = str(profile / "driver.log")
    driver = Chrome(options=options, service=Service(DRIVER, log_output=log))
    driver.set_script_timeout(20)
    return driver


class Page:
    """A page in the browser, with the words for what the tests do to it."""

    def __init__(self, driver: Any, path: Path) -> None:
        self.driver = driver
        self.path = path
        driver.get(path.as_uri())

    def script(self, text: str, *arguments: Any) -> Any:
        return self.driver.execute_script(text, *arguments)

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def cases(self) -> list[str]:
        """The claims and parameters of the cases in sight, in their order."""
        found: list[str] = self.script(
            "return Array.from(document.querySelectorAll('.case'))"
            # what is far from sight has no layout yet; what is hidden or folded never has
            ".filter((one) => !one.hidden && one.closest('.claim').open"
            " && !one.closest('.claim').hidden)"
            ".map((one) => one.closest('.claim').querySelector('h3').textContent + ' '"
            " + one.querySelector('span').textContent)"
        )
        return [case.strip() for case in found]

    def choose(self, name: str, label: str) -> None:
        from selenium.webdriver.support.ui import Select

        Select(self.find(f"select[name={name}]")).select_by_visible_text(label)

    def status(self) -> str:
        return str(self.find("#status").text)

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def focused(self) -> str:
        """What has the focus: its name and text."""
        return str(
            self.script("const e = document.activeElement; return e.tagName + ' ' + e.innerText")
        )


def shape(driver: Any, width: int, height: int = 900, *, dark: bool = False) -> None:
    """The window's size in CSS pixels, and whether the reader prefers the dark."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [theme]})


CONTRASTS = """
const channel = (value) => {
  const share = value / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
};
const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
const luminance = (colour) => {
  const [red, green, blue] = parts(colour).map(channel);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const ground = (one) => {
  for (let at = one; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    const alpha = parts(colour)[3];
    if (alpha === undefined || alpha > 0) return colour;
  }
  return "rgb(255, 255, 255)";
};
return Array.from(document.querySelectorAll("body *"))
  .filter((one) => one.offsetParent && !one.closest("svg, script")
    && Array.from(one.childNodes).some((child) => child.nodeType === 3 && child.data.trim()))
  .map((one) => {
    const [high, low] = [luminance(getComputedStyle(one).color), luminance(ground(one))]
      .sort((a, b) => b - a);
    return [one.tagName + " " + one.textContent.trim().slice(0, 30), (high + 0.05) / (low + 0.05)];
  });
"""
