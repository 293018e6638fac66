"""A run as a badge: what it says, in which colour, and that it can be read."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_stub import Cli
from report_cases import FAILED, PASSED, UNDECIDED, run_of

from dropcheck.claims.registry import Registry
from dropcheck.errors import Location, Problem
from dropcheck.report import Report
from dropcheck.report.badge import Colour, badge_json, badge_svg
from dropcheck.report.formats import FORMATS, WRITTEN, written_as
from dropcheck.results import Verdict
from dropcheck.results.coverage import Coverage, Printed, Unclaimed

REGISTRY = Registry("paper.md", {}, {})
PLACE = Location("paper.md", 3, 1)
LOOSE = Unclaimed(kind=Printed.FIGURE, text="0.5", location=PLACE, before="", after="")
DOCUMENT = Coverage(
    file="paper.md",
    claims=(PLACE,) * 3,
    claimed_figures=2,
    claimed_formulas=1,
    unclaimed=(LOOSE,) * 7,
    digest="",
)
AS_EXPECTED = replace(PASSED, claim="kept", expect=Verdict.REFUTED, verdict=Verdict.REFUTED)
OTHERS = [replace(PASSED, claim=f"other-{count}") for count in range(23)]


def report(*cases: Any, **changes: Any) -> Report:
    return Report(replace(run_of(*cases), **changes), REGISTRY)


BADGES = {
    "verified": (report(PASSED), "1 verified", "brightgreen", False),
    "documents": (
        report(PASSED, *OTHERS, coverage=(DOCUMENT,)), "24 verified, 7 unclaimed", "brightgreen",
        False,
    ),
    "all claimed": (
        report(PASSED, coverage=(replace(DOCUMENT, unclaimed=()),)), "1 verified", "brightgreen",
        False,
    ),
    "expected": (report(PASSED, AS_EXPECTED), "2 as claimed", "brightgreen", False),
    "a claim counts once": (
        report(PASSED, replace(FAILED, claim=PASSED.claim)), "1 failed", "red", True,
    ),
    "failed": (
        report(PASSED, FAILED, UNDECIDED, coverage=(DOCUMENT,)),
        "1 failed, 1 undecided, 1 verified, 7 unclaimed", "red", True,
    ),
    "undecided": (report(PASSED, UNDECIDED), "1 undecided, 1 verified", "yellow", False),
    "interrupted": (
        report(PASSED, interrupted=True), "interrupted, 1 verified", "lightgrey", True,
    ),
    "errors": (
        replace(report(), problems=(Problem("bad", PLACE), Problem("worse"))), "2 errors", "red",
        True,
    ),
    "empty": (report(), "no claims", "lightgrey", False),
}  # fmt: skip


@pytest.mark.parametrize("name", BADGES)
def test_what_it_says(name: str) -> None:
    made, message, colour, broken = BADGES[name]
    data = json.loads(badge_json(made))
    assert data == {
        "schemaVersion": 1,
        "label": "dropcheck",
        "message": message,
        "color": colour,
        "isError": broken,
    }
    picture = ET.fromstring(badge_svg(made))
    space = "{http://www.w3.org/2000/svg}"
    assert picture.get("role") == "img"
    assert picture.get("aria-label") == picture.findtext(f"{space}title") == f"dropcheck: {message}"
    assert [one.text for one in picture.iter(f"{space}text")] == ["dropcheck", message]
    drawn = next(one.value[1] for one in Colour if one.value[0] == colour)
    assert [one.get("fill") for one in picture.iter(f"{space}rect")][2] == drawn
    assert "script" not in badge_svg(made)


def test_texts_lie_within_their_boxes() -> None:
    for made, *_ in BADGES.values():
        picture = badge_svg(made)
        boxes = [int(one) for one in re.findall(r'<rect(?: x="\d+")? width="(\d+)"', picture)]
        whole, left, right = boxes
        assert left + right == whole
        (first, own), (second, other) = (
            (int(start), int(width))
            for start, width in re.findall(r'<text x="(\d+)" y="14" textLength="(\d+)"', picture)
        )
        assert first + own < left < second
        assert second + other < whole


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_white_reads_on_every_colour() -> None:
    drawn = {colour for made, *_ in BADGES.values()
             for colour in re.findall(r'fill="(#\w{6})"', badge_svg(made))}  # fmt: skip
    assert len(drawn) == 5
    for colour in drawn:
        assert 1.05 / (luminance(colour) + 0.05) >= 4.5, colour


def test_a_badge_is_chosen_by_its_name() -> None:
    assert written_as(Path("docs/badge.svg")) is FORMATS["badge.svg"]
    assert written_as(Path("Badge.JSON")) is FORMATS["badge.json"]
    assert written_as(Path("run.svg")) is WRITTEN[".svg"]
    assert written_as(Path("my-badge.json")) is WRITTEN[".json"]
    assert written_as(Path("badge.txt")) is None


def test_run_writes_it(cli: Cli) -> None:
    done = cli("run", "product-variance", "-o", "badge.json", "-o", "badge.svg", "-o", "run.json")
    assert done.code == 0
    assert json.loads(Path("badge.json").read_text())["message"] == "1 verified"
    assert "1 verified" in Path("badge.svg").read_text()
    assert json.loads(Path("run.json").read_text())["schema"] == 1
    cli("run", "product-variance", "kept-share", "-o", "badge.json")
    assert json.loads(Path("badge.json").read_text())["color"] == "red"
    Path("claims.yaml").write_text("dropcheck: 1\nclaims: {one: {claim: 1 ==}}\n")
    assert cli("run", "-o", "badge.json").code == 2  # what was green is so no longer
    assert json.loads(Path("badge.json").read_text())["isError"] is True
