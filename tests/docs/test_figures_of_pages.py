"""The project run on itself: its pages hold no figure that nobody checks.

What a model can say is marked and judged; what is left is listed here, with what explains it.
"""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

import pytest
from readme_blocks import PAGES, TOP

from dropcheck.claims.reader import read_registry
from dropcheck.claims.registry import Claim, Registry
from dropcheck.documents import read_any
from dropcheck.language.check import check_registry
from dropcheck.results import Outcome
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

ALL = [*PAGES, TOP / "CONTRIBUTING.md"]
REGISTRY = read_registry(TOP / "claims.yaml")

SETTING = "what an option is by default, a limit of the program, or a constant of its method"
GIVEN = "what an example is given, or how a number is written"
OF_TITLES = "of a claim's title, which is held to its statement below"
LEFT = {
    "README.md": {SETTING: "1%"},
    "CONTRIBUTING.md": {SETTING: "1e-6"},
    "architecture.md": {SETTING: "1,200 1e-15"},
    "claims-file.md": {
        SETTING: "1e-9",
        GIVEN: "1e6 1/3 1.2 0.004 0.01 2% 0.41 0.405 0.415 0.5",
    },
    "code.md": {SETTING: "0.001 0.01 0.05"},
    "four-documents.md": {OF_TITLES: "0.1 0.2 0.25 0.3 0.5 0.7 0.75 5% 15% 41%"},
    "language.md": {
        SETTING: "0.01 1e9 1.0507 1.7581 3.14159265358979 2.71828182845905 0.577215664901533 "
        "100,000",
        GIVEN: "2.5 1/2",
    },
    "python.md": {SETTING: "0.01 0.05 1% 1e-6 8,192", GIVEN: "10,000 0.03 0.51"},
    "tutorial.md": {GIVEN: "2/5"},
    "statistics.md": {SETTING: "1% 10,000 1e-12 1e-15 4% 6% 60%", GIVEN: "1e-9"},
}
# From this heading on, the figures of a page are what was measured, and with what settings.
MEASURED_FROM = {
    "trust.md": "## How often verdicts are wrong",
    "code.md": "## What the packs found",
}


@cache
def read(page: Path) -> Registry:
    return read_any(page, page.name)


def unexplained(page: Path, registry: Registry) -> set[str]:
    """The figures and formulas of a page that neither a mark nor the list above speaks of."""
    lines = page.read_text(encoding="utf-8").splitlines()
    end = lines.index(MEASURED_FROM[page.name]) if page.name in MEASURED_FROM else len(lines)
    (coverage,) = registry.coverage
    left = {text for texts in LEFT.get(page.name, {}).values() for text in texts.split()}
    return {one.text for one in coverage.unclaimed if (one.location.line or 0) <= end} - left


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.stem)
def test_a_page_shows_no_figure_that_nobody_checks(page: Path) -> None:
    assert unexplained(page, read(page)) == set(), "mark them, or say in LEFT what they are"


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.stem)
def test_the_figures_of_a_page_hold(page: Path) -> None:
    registry = read(page)
    checked = check_registry(registry)
    assert (checked.problems, checked.notes) == ((), ())
    results = verify_cases(registry.expand(), Settings(), registry)
    assert [one.claim for one in results if one.result is not Outcome.PASS] == []


# ---- the notes of the registry ------------------------------------------------------------------


def figures(text: str) -> set[float]:
    """The decimals and percentages of a text, as numbers.

    >>> sorted(figures("0.8 of 10, or 95%"))
    [0.8, 0.95]
    """
    return {
        float(one[:-1]) / 100 if one.endswith("%") else float(one)
        for one in re.findall(r"\d+\.\d+%?|\d+%", text)
    }


def unclaimed_figures(claim: Claim) -> set[float]:
    """The figures of a title and a note that the claim does not have.

    It has a number of its statement, model and parameters, what that lacks to 1, and the width and
    the middle of a range between two of them.
    """
    said = [claim.statement.text, claim.model.text if claim.model else ""]
    had = figures(" ".join([*said, str(dict(claim.parameters)), str(claim.cases)])) | {1.0}
    known = [value for one in had for other in had for value in (one - other, (one + other) / 2)]
    texts = figures(f"{claim.title} {claim.note or ''} {claim.says or ''}")
    return {one for one in texts if not any(math.isclose(one, each) for each in known)}


def test_notes_of_the_registry_hold_no_figure_that_nobody_checks() -> None:
    found = {name: unclaimed_figures(claim) for name, claim in REGISTRY.claims.items()}
    assert {name: left for name, left in found.items() if left} == {}
