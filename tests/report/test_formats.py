"""The formats as such: which there are, what each can say, and what is loaded for it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from report_cases import FAILED, PASSED, UNDECIDED, run_of

from dropcheck.claims.registry import Registry
from dropcheck.errors import DropcheckError, Location, Problem
from dropcheck.report import Report, formats, words
from dropcheck.report.formats import PRINTED, WRITTEN

REGISTRY = Registry("claims.yaml", {}, {})
REPORT = Report(run_of(PASSED, FAILED, UNDECIDED), REGISTRY)
PROBLEM = Problem("undefined on every draw", Location("claims.yaml", 7, 3))


@pytest.mark.parametrize("name", PRINTED)
def test_every_printed_format_is_text_that_ends_a_line(name: str) -> None:
    text = PRINTED[name].make(REPORT)
    assert isinstance(text, str)
    assert text.endswith("\n")
    assert "naive-dropout" in text


@pytest.mark.parametrize(("ending", "form"), WRITTEN.items())
def test_every_file_tells_of_every_case(ending: str, form: formats.Format) -> None:
    content = form.make(REPORT)
    if ending == ".png":
        assert isinstance(content, bytes)
        assert content.startswith(b"\x89PNG")
        return
    text = content.decode("utf-8") if isinstance(content, bytes) else content
    for case in REPORT.run.cases:
        assert case.claim in text


def test_the_table_is_exactly_this() -> None:
    assert PRINTED["table"].make(replace(REPORT, run=run_of(PASSED, UNDECIDED))) == (
        "claim        parameters        claimed  estimated  interval        within  draws  "
        "verdict       result\n" + "─" * 105 + "\n"
        "qk-variance  dk=512                512      511.8  [509.1, 514.6]   ±5.12   262k  "
        "verified      pass\n"
        "heavy-tail               0.405 … 0.415      0.410  [0.390, 0.430]       -   262k  "
        "inconclusive  undecided\n"
        "\n"
        "undecided  heavy-tail\n"
        "  title       The dot product of a query and a key has variance d_k\n"
        "  statement   0.405 <= Std(y) <= 0.415\n"
        "  claimed     0.405 … 0.415\n"
        "  estimated   0.410, interval [0.390, 0.430], confidence 1 - 9e-9, 262k draws\n"
        "  distance    none: the estimate is as claimed\n"
        "  resolution  0.01 of 0.415: ±0.0005, a tenth of the half-width\n"
        "  verdict     inconclusive, expected verified\n"
        "  reading     too few draws: needs about 1.3e6 more draws (--max-draws 1.5e6)\n"
        "  reason      the interval is still too wide\n"
        "  where       claims.yaml:18\n"
        "  repeat      dropcheck run heavy-tail --seed 0\n"
        "\n"
        "2 cases: 1 passed, 0 failed, 1 undecided · 524k draws · 0.9 s · seed 0 · α 1e-6 · "
        "claims.yaml\n"
    )


def test_json_brings_back_every_number() -> None:
    text = PRINTED["json"].make(REPORT)
    cases = json.loads(text)["cases"]
    assert json.dumps(json.loads(text), indent=2) + "\n" == text
    for told, case in zip(cases, REPORT.run.cases, strict=True):
        assert told["estimate"] == case.estimate
        assert told["interval"] == list(case.interval or ())
        assert told["confidence"] == case.confidence


@pytest.mark.parametrize(
    ("ending", "told"),
    [(".json", "errors"), (".xml", "<error message"), (".md", "**error**")],
)
def test_errors_are_told_where_there_are_words_for_them(ending: str, told: str) -> None:
    report = replace(REPORT, problems=(PROBLEM,))
    assert WRITTEN[ending].fits(report)
    content = WRITTEN[ending].make(report)
    assert isinstance(content, str)
    assert told in content
    assert PROBLEM.message in content


@pytest.mark.parametrize("ending", [".csv", ".html", ".svg", ".png"])
def test_a_format_without_words_for_errors_does_not_fit_them(ending: str) -> None:
    assert not WRITTEN[ending].fits(replace(REPORT, problems=(PROBLEM,)))
    assert WRITTEN[ending].fits(REPORT)


@pytest.mark.parametrize(("ending", "form"), WRITTEN.items())
def test_a_file_of_an_interrupted_run_says_so_or_does_not_fit(
    ending: str, form: formats.Format
) -> None:
    report = replace(REPORT, run=run_of(PASSED, interrupted=True))
    if form.fits(report) and ending != ".png":  # the same picture as the SVG
        content = form.make(report)
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        before = WRITTEN[ending].make(replace(report, run=run_of(PASSED)))
        assert "interrupted" in text.lower()
        assert content != before
    else:
        assert not form.shows_interruption or ending == ".png"


def test_what_a_picture_needs_is_seen_to_before_anything_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    formats.require_libraries([Path("a.svg")])
    monkeypatch.setattr(formats, "find_spec", lambda _: None)
    formats.require_libraries([Path("a.html"), Path("a.json")])
    with pytest.raises(DropcheckError, match="matplotlib"):
        formats.require_libraries([Path("a.json"), Path("a.PNG")])


# small things about what the table says


@pytest.mark.parametrize(
    ("estimate", "shown"),
    [
        (0.9 - 0.2, "200 standard errors below, 22.2% of the scale"),
        (0.9 - 0.9 * 9.9, "8910 standard errors below, 990% of the scale"),
        (0.9 - 0.9 * 30.14, "2.71e4 standard errors below, 30 times the scale"),
        (0.9 - 9e9, "9e12 standard errors below, 1e10 times the scale"),
        (0.9 - 9e-8, "9e-5 standard errors below, 1e-5% of the scale"),
    ],
)
def test_a_distance_is_told_in_plain_numbers(estimate: float, shown: str) -> None:
    assert words.distance(replace(FAILED, estimate=estimate)) == shown


@pytest.mark.parametrize(
    ("verbose", "quiet", "claims", "where"),
    [
        (False, False, 2, "--verbose shows a row for each"),
        (True, False, 2, "each has a row above"),
        (False, False, 1, "each has a row above"),
        (False, True, 1, "--format json shows each"),
        (True, True, 2, "--format json shows each"),
    ],
)
def test_what_is_not_told_of_one_by_one_is_where_it_says(
    verbose: bool, quiet: bool, claims: int, where: str
) -> None:
    cases = [replace(FAILED, parameters={"p": float(n)}) for n in range(25)]
    if claims == 2:
        cases.append(replace(FAILED, claim="another"))
    more = len(cases) - 20
    report = Report(run_of(*cases), REGISTRY, verbose=verbose, quiet=quiet)
    assert f"\nand {more} more cases that did not pass ({where})\n" in PRINTED["table"].make(report)


PROBE = """
import sys
sys.path.insert(0, {tests!r})
from report_cases import PASSED, run_of
from dropcheck.claims.registry import Registry
from dropcheck.report import Report
from dropcheck.report.formats import PRINTED
PRINTED[{name!r}].make(Report(run_of(PASSED), Registry("claims.yaml", {{}}, {{}})))
print(*(name for name in sys.modules if name.startswith("dropcheck.report.")))
print(*({{"rich", "matplotlib", "xml", "csv", "numpy"}} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("name", "absent"),
    [
        ("json", {"rich", "matplotlib", "xml", "csv", "numpy"}),
        ("csv", {"matplotlib", "xml", "numpy"}),
        ("table", {"matplotlib", "xml", "numpy", "csv"}),
    ],
)
def test_a_format_is_loaded_alone(name: str, absent: set[str]) -> None:
    script = PROBE.format(tests=str(Path(__file__).parents[1] / "helpers"), name=name)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    modules, libraries = done.stdout.splitlines()[-2:]
    assert not set(libraries.split()) & absent
    others = {"dropcheck.report.junit", "dropcheck.report.github", "dropcheck.report.html"}
    assert not others & set(modules.split())
