"""Pictures of a run and of a sweep: what stands where, for whom, and always the same bytes."""

from __future__ import annotations

import io
import math
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import pytest
from cli_stub import Cli
from picture_cases import (
    AGAINST_EXPECTATION,
    ALL_KINDS,
    AS_EXPECTED,
    FAR,
    LONG,
    ONE_SIDED,
    STRICT,
    UNKNOWN,
    swept,
)
from PIL import Image
from report_cases import FAILED, PASSED, UNDECIDED, claiming, run_of

from dropcheck.errors import DropcheckError
from dropcheck.report import formats, pictures
from dropcheck.report.pictures import MARKS, curve_picture, marker, picture, wrapped
from dropcheck.report.words import standing
from dropcheck.results import CaseResult, Region, Resolution, Verdict

SVG = "{http://www.w3.org/2000/svg}"


def svg(*cases: CaseResult, draw: Callable[..., bytes] = picture) -> ElementTree.Element:
    return ElementTree.fromstring(draw(run_of(*cases), "svg"))


def texts(root: ElementTree.Element) -> list[str]:
    """Everything that is written in a picture, a line each."""
    return ["".join(one.itertext()).strip() for one in root.iter(f"{SVG}text")]


def size(root: ElementTree.Element) -> tuple[float, float]:
    """Width and height in points."""
    width, height = (float(root.attrib[name].removesuffix("pt")) for name in ("width", "height"))
    return width, height


# ---- where things stand -------------------------------------------------------------------------


def test_an_equality_stands_in_units_of_its_resolution() -> None:
    row = pictures.placed(PASSED)
    assert row.allowed == (0.0, 0.0)
    assert row.verified == (-1.0, 1.0)
    assert row.estimate == pytest.approx((511.83 - 512) / 5.12)
    assert row.interval == pytest.approx(((509.11 - 512) / 5.12, (514.57 - 512) / 5.12))


def test_what_is_far_off_stands_by_the_logarithm() -> None:
    row = pictures.placed(FAILED)  # 0.7 where at least 0.9 is claimed: 22 units
    assert row.estimate == pytest.approx(-(1 + math.log10((0.9 - 0.7004) / 0.009)))
    assert row.allowed == (0.0, math.inf)
    assert row.verified == pytest.approx((-1.0, math.inf))


def test_a_range_ends_at_one_with_its_widening() -> None:
    row = pictures.placed(UNDECIDED)  # 0.405 to 0.415, by a tenth of its half-width
    assert row.verified == pytest.approx((-1.0, 1.0))
    assert row.allowed == pytest.approx((-10 / 11, 10 / 11))


def test_a_strict_end_is_not_widened() -> None:
    assert pictures.placed(STRICT).verified == (-math.inf, 0.0)
    loose = claiming(STRICT, Region(high=2.0))
    assert pictures.placed(loose).verified == pytest.approx((-math.inf, 1.0))


def test_a_strict_end_is_not_widened_on_either_side() -> None:
    above = claiming(STRICT, Region(low=1.9, low_open=True))
    assert pictures.placed(above).verified == (0.0, math.inf)
    between = claiming(UNDECIDED, Region(0.405, 0.415, low_open=True))
    low, high = pictures.placed(between).verified or (0.0, 0.0)
    assert high == pytest.approx(1.0)
    assert low == pytest.approx(-10 / 11)


def test_an_end_that_is_unknown_is_infinite_and_what_is_unknown_is_nowhere() -> None:
    row = pictures.placed(ONE_SIDED)
    assert row.interval is not None
    assert row.interval[1] == math.inf
    nothing = pictures.placed(UNKNOWN)
    assert (nothing.allowed, nothing.interval, nothing.estimate) == (None, None, None)


def test_an_absolute_resolution_is_the_unit() -> None:
    absolute = replace(PASSED, sharpness=Resolution(2.0, 2.0, absolute=True))
    assert pictures.placed(absolute).estimate == pytest.approx(-0.17 / 2)


def test_a_claim_of_certainty_has_the_band_of_rare_violations() -> None:
    sure = replace(
        PASSED,
        region=Region(1.0, 1.0),
        sharpness=Resolution(1e-4, 1e-4),
        estimate=1.0,
        interval=(0.99995, 1.0),
    )
    row = pictures.placed(sure)
    assert row.interval == pytest.approx((-0.5, 0.0))
    likely = claiming(sure, Region(0.99, 0.99), scale=1.0)
    assert pictures.placed(likely).interval == pytest.approx((0.995, 1.0))


def test_the_axis_holds_all_but_what_is_beyond_a_million_units() -> None:
    rows = [pictures.placed(case) for case in (PASSED, FAILED, FAR)]
    low, high = pictures.limits(rows)
    assert low < -(1 + math.log10(22))
    assert high == pictures.FARTHEST + 0.3
    assert pictures.limits(rows[:1]) == (-pictures.LEAST_SHOWN, pictures.LEAST_SHOWN)


# ---- what is written and drawn ------------------------------------------------------------------


def test_every_case_is_named_with_what_became_of_it() -> None:
    written = texts(svg(*ALL_KINDS))
    for case in ALL_KINDS[:9]:
        assert any(text.startswith(case.claim) for text in written), case.claim
    for text in ("verified", "FAIL: refuted", "undecided", "refuted, as expected"):
        assert text in written
    assert "FAIL: verified, expected refuted" in written
    assert "no interval" in written
    assert "11 cases: 4 passed, 4 failed, 3 undecided · seed 0 · α 1e-6" in written


def test_words_tell_a_failure_from_a_refutation_that_was_expected() -> None:
    assert standing(FAILED) == "FAIL: refuted"
    assert standing(AS_EXPECTED) == "refuted, as expected"
    assert standing(AGAINST_EXPECTATION) == "FAIL: verified, expected refuted"


def test_each_verdict_has_its_own_colour_and_its_own_shape() -> None:
    for field in ("colour", "shape"):
        assert len({getattr(mark, field) for mark in MARKS.values()}) == len(Verdict)
    assert marker(Verdict.INCONCLUSIVE)["markerfacecolor"] == "white"  # hollow, in grey print too
    for case in (PASSED, FAILED, UNDECIDED):
        drawn = ElementTree.tostring(svg(case), "unicode")
        used = {mark.colour for mark in MARKS.values() if mark.colour in drawn}
        assert used == {MARKS[case.verdict].colour}


def test_a_failure_has_a_shade_behind_it() -> None:
    assert "#fbe3d6" in ElementTree.tostring(svg(FAILED), "unicode")
    assert "#fbe3d6" not in ElementTree.tostring(svg(PASSED, AS_EXPECTED), "unicode")


def test_the_picture_grows_with_the_cases() -> None:
    heights = []
    for number in (1, 10, 300):
        cases = [replace(PASSED, parameters={"dk": float(n)}) for n in range(number)]
        root = svg(*cases)
        heights.append(size(root)[1])
        assert sum(text.startswith("qk-variance: dk=") for text in texts(root)) == number
    assert (heights[2] - heights[1]) / (heights[1] - heights[0]) == pytest.approx(290 / 9, 0.01)
    assert (heights[2] - heights[1]) / 290 > 14  # points: a line of text and air


def test_nothing_of_a_long_name_is_cut() -> None:
    root = svg(LONG, PASSED)
    whole = "".join("".join(texts(root)).split())
    assert LONG.claim in whole
    assert str(LONG.parameters["law"]).replace(" ", "") in whole
    width = size(root)[0]
    advance = 0.602 * 9  # points, of the font that is drawn with
    for one in root.iter(f"{SVG}text"):
        found = re.search(r"translate\(([-\d.]+)", one.attrib.get("transform", ""))
        if found and one.text and "middle" not in one.attrib.get("style", ""):
            assert float(found.group(1)) >= 0, one.text
            if "bold" not in one.attrib.get("style", ""):
                assert float(found.group(1)) + advance * len(one.text) <= width + 1, one.text


def test_a_dollar_sign_and_tags_are_text() -> None:
    registry = replace(run_of(PASSED), registry="<b>$x^2$ & claims.yaml")
    root = ElementTree.fromstring(picture(registry, "svg"))
    assert "<b>$x^2$ & claims.yaml" in texts(root)


def test_a_run_without_a_case_is_a_picture_too() -> None:
    assert any("0 cases" in text for text in texts(svg()))


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_same_run_gives_the_same_bytes(kind: Literal["svg", "png"]) -> None:
    for draw, cases in ((picture, ALL_KINDS), (curve_picture, swept())):
        first, second = (draw(run_of(*cases), kind) for _ in range(2))
        assert first == second
        assert b"Matplotlib" not in first.replace(b"Created with matplotlib", b"")
        assert b"<dc:date>" not in first


def test_a_png_is_one() -> None:
    with Image.open(io.BytesIO(picture(run_of(*ALL_KINDS), "png"))) as image:
        assert image.format == "PNG"
        colours = {pixel for _, pixel in image.convert("RGB").getcolors(10**6) or []}
    for mark in MARKS.values():
        assert tuple(bytes.fromhex(mark.colour[1:])) in colours


def test_too_many_cases_for_a_png_are_told_of() -> None:
    cases = [replace(PASSED, parameters={"dk": float(n)}) for n in range(2000)]
    with pytest.raises(DropcheckError, match="too large for a PNG") as caught:
        picture(run_of(*cases), "png")
    assert ".svg" in (caught.value.problems[0].hint or "")


def test_matplotlib_is_left_as_it_was() -> None:
    import matplotlib as mpl

    plain = picture(run_of(PASSED), "svg")
    ours = ("font.size", "svg.hashsalt", "svg.fonttype", "text.parse_math", "figure.facecolor")
    with mpl.rc_context({"font.size": 17.0}):  # what a program that calls us may have set
        settings: Any = mpl.rcParams
        before = [settings[name] for name in ours]
        assert picture(run_of(PASSED), "svg") == plain
        assert [settings[name] for name in ours] == before
    assert "matplotlib.pyplot" not in sys.modules


# ---- the curve of a sweep -----------------------------------------------------------------------


def test_the_curve_is_drawn_with_estimates_on_it_and_distances_below() -> None:
    written = texts(svg(*swept(), draw=curve_picture))
    assert "dropout-variance" in written
    assert "Var(y) against p, at x=2" in written
    assert "distance from the claim, in units of the resolution" in written
    assert {"claimed", "verified", "p", "0.2", "0.8"} <= set(written)


def test_laws_stand_in_their_order_with_their_names() -> None:
    laws = ["normal(0, 1)", "rademacher()", "uniform(-1, 1)", "laplace(0, 1)"]
    cases = [replace(PASSED, parameters={"law": law}) for law in laws]
    assert set(laws) <= set(texts(svg(*cases, draw=curve_picture)))


def test_a_sweep_without_a_finished_case_has_no_curve() -> None:
    with pytest.raises(DropcheckError, match="no curve to draw"):
        curve_picture(run_of(), "svg")


def test_a_picture_of_too_many_curves_is_refused() -> None:
    cases = [
        replace(PASSED, claim=f"claim-{n}", parameters={"p": p})
        for n in range(61)
        for p in (0.1, 0.2)
    ]
    with pytest.raises(DropcheckError, match="61 curves"):
        curve_picture(run_of(*cases), "svg")


# ---- without matplotlib, and from the command line ----------------------------------------------


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without matplotlib."""
    monkeypatch.setattr(formats, "find_spec", lambda name: None if name == "matplotlib" else name)


@pytest.mark.usefixtures("bare")
def test_without_matplotlib_the_message_says_what_to_install(cli: Cli, tmp_path: Path) -> None:
    called = cli("run", "all", "-o", "run.svg")
    assert called.code == 2
    assert called.out == ""  # before anything was drawn
    assert "pictures need matplotlib, which is not installed" in called.err
    assert "pip install matplotlib;" in called.err
    assert not (tmp_path / "run.svg").exists()


@pytest.mark.usefixtures("bare")
def test_without_matplotlib_the_page_and_the_terminal_plot_work(cli: Cli, tmp_path: Path) -> None:
    assert cli("run", "product-variance", "-o", "run.html").code == 0
    assert (tmp_path / "run.html").exists()


def test_a_file_of_each_kind_is_written(cli: Cli, tmp_path: Path) -> None:
    cli("run", "product-variance", "-o", "run.svg", "-o", "run.png")
    assert (tmp_path / "run.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG\r\n")


def test_wrapping_loses_nothing() -> None:
    text = "a-very-long-name, " * 5
    assert "".join(wrapped(text, 10)).replace(" ", "") == text.replace(" ", "")
    assert wrapped("", 10) == [""]
