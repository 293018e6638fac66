"""The pytest plugin: claims files as tests, with everything that pytest does with tests."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from plugin_sessions import IDS, INI, Pytester, properties, write

from dropcheck.cli import main

pytest_plugins = ["pytester"]

pytestmark = pytest.mark.usefixtures("sessions_of_their_own")


def collected(pytester: Pytester, *arguments: str) -> list[str]:
    printed = pytester.runpytest("--collect-only", "-q", *arguments).outlines
    return printed[: printed.index("")]


# ---- collecting ----------------------------------------------------------------------------------


def test_collects_a_test_a_case(claims: Pytester) -> None:
    assert collected(claims) == IDS


def test_collects_nothing_where_nothing_is_configured(pytester: Pytester) -> None:
    write(pytester, "[pytest]\n")
    assert pytester.runpytest().ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_collects_documents_by_their_endings(pytester: Pytester) -> None:
    mark = "It is 9<!-- dropcheck #{}: == 9 -->"
    cell = {"cell_type": "markdown", "source": mark.format("b")}
    texts = {
        "a.md": mark.format("a"),
        "b.ipynb": json.dumps({"nbformat": 4, "cells": [cell]}),
        "c.tex": "It is 9 % dropcheck #c: == 8",
    }
    ini = "[pytest]\ndropcheck_files = a.md *.ipynb c.tex\n"
    write(pytester, ini)
    for name, text in texts.items():
        (pytester.path / name).write_text(text, encoding="utf-8")
    result = pytester.runpytest_inprocess("-q")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["FAILED c.tex::c - refuted*"])


def test_file_outside_testpaths_is_run_where_nothing_is_named(pytester: Pytester) -> None:
    write(pytester, INI + "testpaths = tests\n")
    (pytester.path / "tests").mkdir()
    (pytester.path / "tests" / "test_one.py").write_text("def test(): pass\n", encoding="utf-8")
    assert collected(pytester) == ["tests/test_one.py::test", *IDS]
    assert collected(pytester, "tests") == ["tests/test_one.py::test"]


# ---- running -------------------------------------------------------------------------------------


def test_outcomes(claims: Pytester) -> None:
    found = claims.runpytest()
    found.assert_outcomes(passed=5, failed=2)
    assert found.ret == pytest.ExitCode.TESTS_FAILED
    found.stdout.fnmatch_lines(["dropcheck: claims.yaml, seed 0, alpha 1e-6"])
    found.stdout.fnmatch_lines(["claims.yaml ..FF...*"])


def test_failure_shows_the_block_of_the_table_and_no_traceback(claims: Pytester) -> None:
    found = claims.runpytest(IDS[2])
    found.stdout.fnmatch_lines(
        [
            "*_ sd-kept[[]p=0.5] _*",
            "FAIL: refuted  sd-kept  p=0.5",
            '  title       It keeps the <deviation> "too"',
            "  statement   Std(m / (1 - p)) == 0.5",
            "  claimed     0.5",
            "  estimated   1.0*",
            "  interval    *",
            "  exact       1",
            "  distance    0.5 above, 100% of the scale",
            "  resolution  0.01 of 0.5: ±0.005",
            "  confidence  *",
            "  guarantee   *, confirmed",
            "  draws       *",
            "  reading     false as stated: *",
            "  where       claims.yaml:11:3",
            "  repeat      dropcheck run sd-kept --file claims.yaml --p 0.5 --seed 0",
            "=*",
        ],
        consecutive=True,
    )
    found.stdout.no_fnmatch_line("*Traceback*")
    found.stdout.no_fnmatch_line("*DidNotPass*")


def test_k_selects_by_id_and_by_tag(claims: Pytester) -> None:
    assert collected(claims, "-k", "sd-kept or heavy") == IDS[2:4]
    assert collected(claims, "-k", "attention") == IDS[:2]
    assert collected(claims, "-k", "false-on-purpose") == IDS[4:5]


def test_error_rate_is_divided_over_the_file_whatever_is_selected(
    claims: Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """A case alone has the numbers of a full run."""
    assert main(["run", "all", "--file", "claims.yaml", "--format", "json"]) == 1
    whole = {case["claim"]: case for case in json.loads(capsys.readouterr().out)["cases"]}
    claims.runpytest(IDS[2], "--junitxml=alone.xml")
    alone = properties(claims.path / "alone.xml")["sd-kept[p=0.5]"]
    assert whole["sd-kept"]["confidence"] == 1 - 1e-6 / len(IDS)
    expected = whole["sd-kept"]["facts"]
    assert {*expected} <= {*alone}
    assert all(alone[name] == expected[name] for name in expected if name != "repeat")


def test_xdist_gives_the_same_numbers_on_any_number_of_workers(claims: Pytester) -> None:
    claims.runpytest("--junitxml=one.xml")
    found = claims.runpytest_subprocess("-n", "2", "--junitxml=two.xml")
    found.assert_outcomes(passed=5, failed=2)
    one, two = (properties(claims.path / name) for name in ("one.xml", "two.xml"))
    assert one == two
    assert len(one) == len(IDS)


# ---- undecided cases -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "outcomes"),
    [("fail", {"failed": 1}), ("skip", {"skipped": 1}), ("pass", {"passed": 1})],
)
def test_the_policy_says_what_an_undecided_case_is(
    claims: Pytester, policy: str, outcomes: dict[str, int]
) -> None:
    found = claims.runpytest(IDS[3], "-o", f"dropcheck_undecided={policy}")
    found.assert_outcomes(**outcomes)


# ---- other keys ----------------------------------------------------------------------------------


def test_keys_set_how_cases_are_tried_and_stand_in_the_command(pytester: Pytester) -> None:
    keys = "dropcheck_seed = 7\ndropcheck_alpha = 1e-3\ndropcheck_max_draws = 1e5\n"
    keys += "dropcheck_resolution = 0.2\ndropcheck_time_limit = 60s\n"
    write(pytester, INI + keys + "dropcheck_asymptotic = true\n")
    found = pytester.runpytest(IDS[2], "--junitxml=report.xml")
    found.stdout.fnmatch_lines(
        [
            "dropcheck: claims.yaml, seed 7, alpha 0.001",
            "  repeat      dropcheck run sd-kept --file claims.yaml --p 0.5 --seed 7 --alpha=1e-3 "
            "--resolution=0.2 --max-draws=1e5 --time-limit=60s --asymptotic",
        ]
    )
    held = properties(pytester.path / "report.xml")["sd-kept[p=0.5]"]
    assert (held["seed"], held["alpha"]) == ("7", "0.001")


@pytest.mark.parametrize(
    ("key", "value", "accepted"),
    [
        ("undecided", "maybe", "fail, skip or pass"),
        ("asymptotic", "anything", "true or false"),
        ("time_limit", "soon", "a time above 0, such as 10s, 500ms or 2m"),
    ],
)
def test_unknown_value_is_a_usage_error(
    claims: Pytester, key: str, value: str, accepted: str
) -> None:
    found = claims.runpytest("-o", f"dropcheck_{key}={value}")
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    found.stderr.fnmatch_lines(
        [f"ERROR: dropcheck_{key} cannot be '{value}': it must be {accepted}"]
    )


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [("clams.yaml", "; did you mean 'claims.yaml'[?]"), ("docs/*.toml", ""), (".", "")],
)
def test_pattern_that_fits_no_file_is_a_usage_error(
    claims: Pytester, pattern: str, hint: str
) -> None:
    found = claims.runpytest("-o", f"dropcheck_files={pattern}")
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    shown = pattern.replace("*", "[*]")
    found.stderr.fnmatch_lines([f"ERROR: dropcheck_files: no file fits '{shown}' in *{hint}"])


# ---- errors --------------------------------------------------------------------------------------


WRONG = """\
dropcheck: 1
claims:
  one:
    title: One
    model: m ~ bernouli(0.5)
    claim: E(m) == 0.5
  two:
    title: Two
    claim: E(x) == 0
"""


def test_errors_of_a_file_are_errors_of_collection_with_their_places(pytester: Pytester) -> None:
    write(pytester, INI, WRONG)
    found = pytester.runpytest()
    assert found.ret == pytest.ExitCode.INTERRUPTED
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines(
        [
            "*ERROR collecting claims.yaml*",
            "claims.yaml:5:16: 'bernouli' is not a law",
            "    model: m ~ bernouli(0.5)",
            "               ^",
            "    hint: did you mean 'bernoulli'?",
            "claims.yaml:9:14: 'x' is not defined",
        ]
    )
    found.stdout.no_fnmatch_line("*Traceback*")


def test_error_that_only_a_run_can_find_has_its_place(pytester: Pytester) -> None:
    nowhere = 'claims: {a: {title: A, model: "x ~ uniform(1, 2)", claim: E(log(-x)) == 0}}\n'
    write(pytester, INI, "dropcheck: 1\n" + nowhere)
    found = pytester.runpytest()
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["claims.yaml:2:*NaN or infinite on every draw*"])
    found.stdout.no_fnmatch_line("*Traceback*")


def test_hostile_title_stays_text(pytester: Pytester) -> None:
    title = r'"</failure> [bold]red \u202e"'
    write(pytester, INI, f"dropcheck: 1\nclaims: {{a: {{title: {title}, claim: 1 == 2}}}}\n")
    found = pytester.runpytest("--junitxml=report.xml")
    found.stdout.fnmatch_lines([r"  title       </failure> [[]bold]red \u202e"])
    assert "\u202e" not in found.stdout.str()
    assert len(list(ElementTree.parse(pytester.path / "report.xml").iter("failure"))) == 1


# ---- start-up ------------------------------------------------------------------------------------


PROBE = """
import sys, pytest
class Look:
    def pytest_sessionfinish(self):
        names = sorted(name for name in sys.modules if name.split(".")[0] in
                       ("dropcheck", "numpy", "scipy", "rich", "yaml", "pydantic", "typer"))
        print("\\nloaded", *names)
pytest.main(["-q", *sys.argv[1:]], plugins=[Look()])
"""


def imported_by(pytester: Pytester, *arguments: str) -> set[str]:
    """What a session has imported of dropcheck, and of what it builds on."""
    done = pytester.run(sys.executable, "-c", PROBE, *arguments)
    [line] = [line for line in done.outlines if line.startswith("loaded ")]
    return set(line.split()[1:])


def test_unused_the_plugin_imports_nothing(pytester: Pytester) -> None:
    write(pytester, "[pytest]\n")
    pytester.makepyfile("def test(): pass\n")
    assert imported_by(pytester) == {"dropcheck", "dropcheck.pytest_plugin"}


def test_collecting_reads_and_checks_and_imports_nothing_that_draws(claims: Pytester) -> None:
    found = imported_by(claims, "--collect-only")
    assert "dropcheck.claims.reader" in found  # so the probe can see what it looks for
    assert not {"scipy", "dropcheck.running", "dropcheck.simulation"} & found


SLOT_CLAIMS = """\
dropcheck: 1
slots:
  scaled:
    title: A number times another
    takes: [x, c]
    gives: c * x
  noisy: {title: With noise, takes: [x], model: "e ~ normal(0, 1)", gives: x + e}
claims:
  values:
    title: Each number is scaled
    parameters: {c: [2, 3]}
    model: |
      x ~ uniform(1, 2)
      y = scaled(x, c)
    claim: P(y == c * x) == 1
  other:
    title: The noise has mean 0
    model: |
      x ~ uniform(1, 2)
      y = noisy(x)
    claim: E(y - x) == 0
    within: 0.1
"""


@pytest.fixture
def with_slots(pytester: Pytester) -> Path:
    (pytester.path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (pytester.path / "claims.yaml").write_text(SLOT_CLAIMS, encoding="utf-8")
    return pytester.path


def test_implementations_of_the_ini_file_are_columns(with_slots: Path, pytester: Pytester) -> None:
    (with_slots / "ours.py").write_text("def scaled(x, c): return c * x\n", encoding="utf-8")
    (with_slots / "plain.yaml").write_text(
        "dropcheck: 1\nclaims: {one: {title: One, claim: 1 == 1}}\n", encoding="utf-8"
    )
    (with_slots / "pytest.ini").write_text(
        "[pytest]\ndropcheck_files = claims.yaml plain.yaml\n"
        "dropcheck_implementations = ours:scaled=ours:scaled\n",
        encoding="utf-8",
    )
    found = collected(pytester, "claims.yaml", "plain.yaml")
    assert [one for one in found if "@" in one] == [
        "claims.yaml::values@ours[c=2,dtype=float64]",
        "claims.yaml::values@ours[c=3,dtype=float64]",
    ]
    assert "plain.yaml::one" in found
    pytester.runpytest("claims.yaml", "-k", "ours").assert_outcomes(passed=2, deselected=3)
