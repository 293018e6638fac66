"""Every format of a report, of results made by hand: their numbers stand in the golden files, too.

Of a page the style and the scripts are left out, of a picture the fonts, and places in it are
rounded to points.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import pytest
from report_cases import ALL_KINDS, CONFIRMED, EMPTY, SWEEPS, run_of
from report_said import SAID

import dropcheck
from contract.conftest import Agreed
from dropcheck.report import Report
from dropcheck.report.formats import FORMATS
from dropcheck.report.screen import Terminal

KINDS = (*ALL_KINDS, CONFIRMED)
# each once, also where several facts are told of it
EVERY = {id(case): case for case in (*KINDS, *(one for of in SAID.values() for one, _ in of))}
IN_FULL = ("csv.txt", "github.txt", "table.txt")  # the others say less, or the same
REPORTS: dict[str, tuple[str, dict[str, Any]]] = {
    **{f"{name}.txt": (name, {"verbose": 2}) for name in FORMATS if name != "png"},
    "curves.txt": ("svg", {"plot": True}),
    "narrow.txt": ("table", {"terminal": Terminal(62)}),  # which a line of it just fits
}
MATPLOTLIB = "3.11."  # of which the pictures are: others place texts a point elsewhere
# Styles and scripts; fonts; ids, which are made of what is drawn; the version.
UNSEEN = re.compile(
    r"<(style|script|metadata)\b.*?</\1>|sha256-[\w+/=]+|font:[^;\"]*|\b[mp][0-9a-f]{10}\b|"
    + re.escape(dropcheck.__version__),
    re.DOTALL,
)


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_says_the_same_of_the_same_results(name: str, agreed: Agreed) -> None:
    form, options = REPORTS[name]
    if form == "svg" and not version("matplotlib").startswith(MATPLOTLIB):
        pytest.skip("the golden pictures are of another matplotlib")
    cases = SWEEPS if options.get("plot") else EVERY.values() if name in IN_FULL else KINDS
    started = datetime(2024, 2, 13, 10, tzinfo=UTC)
    made = FORMATS[form].make(Report(run_of(*cases), EMPTY, started=started, **options))
    text = made if isinstance(made, str) else made.decode()
    text = text if form in ("csv", "table") else UNSEEN.sub("…", text)
    if form == "svg":
        text = re.sub(r"-?\d+\.\d+", lambda match: f"{float(match[0]):.0f}", text)
    agreed(f"reports/{name}", text.replace("><", ">\n<").replace("\r", ""))
