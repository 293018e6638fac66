"""The pytest plugin: claims files as tests, with everything that pytest does with tests."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from xml.etree import ElementTree

import pytest
from plugin_sessions import CLAIMS, IDS, INI, Pytester, properties, write

from dropcheck.cli import main

pytest_plugins = ["pytester"]

pytestmark = pytest.mark.usefixtures("sessions_of_their_own")


def collected(pytester: Pytester, *arguments: str) -> list[str]:
    printed = pytester.runpytest("--collect-only", "-q", *arguments).outlines
    return printed[: printed.index("")]


# ---- collecting ----------------------------------------------------------------------------------


def test_plugin_is_an_entry_point() -> None:
    [found] = [one for one in entry_points(group="pytest11") if one.name == "dropcheck"]
    assert found.value == "dropcheck.pytest_plugin"


def test_collects_a_test_a_case(claims: Pytester) -> None:
    assert collected(claims) == IDS


def test_collects_nothing_where_nothing_is_configured(pytester: Pytester) -> None:
    write(pytester, "[pytest]\n")
    assert pytester.runpytest().ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_file_that_is_not_configured_is_left_alone(claims: Pytester) -> None:
    (claims.path / "other.yaml").write_text(CLAIMS, encoding="utf-8")
    assert collected(claims) == IDS


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


def test_collects_several_files_by_name_and_glob(pytester: Pytester) -> None:
    (pytester.path / "docs" / "deep").mkdir(parents=True)
    write(pytester, "[pytest]\ndropcheck_files = claims.yaml docs/**/*.yaml\n")
    write(pytester, (pytester.path / "pytest.ini").read_text(), CLAIMS, "docs/deep/more.yaml")
    deep = [one.replace("claims.yaml", "docs/deep/more.yaml") for one in IDS]
    assert sorted(collected(pytester)) == sorted([*IDS, *deep])


def test_files_may_be_listed_in_toml(pytester: Pytester) -> None:
    write(pytester, "")
    (pytester.path / "pytest.ini").unlink()
    text = '[tool.pytest.ini_options]\ndropcheck_files = ["claims.yaml"]\n'
    (pytester.path / "pyproject.toml").write_text(text, encoding="utf-8")
    assert collected(pytester) == IDS


def test_file_outside_testpaths_is_run_where_nothing_is_named(pytester: Pytester) -> None:
    write(pytester, INI + "testpaths = tests\n")
    (pytester.path / "tests").mkdir()
    (pytester.path / "tests" / "test_one.py").write_text("def test(): pass\n", encoding="utf-8")
    assert collected(pytester) == ["tests/test_one.py::test", *IDS]
    assert collected(pytester, "tests") == ["tests/test_one.py::test"]


def test_file_within_testpaths_is_run_once(pytester: Pytester) -> None:
    (pytester.path / "tests").mkdir()
    write(
        pytester,
        "[pytest]\ntestpaths = tests\ndropcheck_files = tests/claims.yaml\n",
        name="tests/claims.yaml",
    )
    assert collected(pytester) == [f"tests/{one}" for one in IDS]


# ---- running -------------------------------------------------------------------------------------


def test_outcomes(claims: Pytester) -> None:
    found = claims.runpytest()
    found.assert_outcomes(passed=5, failed=2)
    assert found.ret == pytest.ExitCode.TESTS_FAILED
    found.stdout.fnmatch_lines(["dropcheck: claims.yaml, seed 0, alpha 1e-6"])
    found.stdout.fnmatch_lines(["claims.yaml ..FU...*"])


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
            "  distance    * standard errors above*",
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


@pytest.mark.parametrize("one", IDS)
def test_one_is_run_by_its_id(claims: Pytester, one: str) -> None:
    found = claims.runpytest(one, "-v", "-o", "dropcheck_undecided=pass")
    failed = "sd-kept" in one
    found.assert_outcomes(passed=int(not failed and "heavy" not in one), failed=int(failed))
    assert len([line for line in found.outlines if line.startswith(one)]) == 1


def test_claim_is_run_by_its_id(claims: Pytester) -> None:
    assert collected(claims, "claims.yaml::mean-kept") == IDS[:2]


def test_unknown_id_is_an_error(claims: Pytester) -> None:
    found = claims.runpytest("claims.yaml::mean-kept[p=0.2,scale=1]")
    assert found.ret == pytest.ExitCode.USAGE_ERROR


def test_k_selects_by_id_and_by_tag(claims: Pytester) -> None:
    assert collected(claims, "-k", "sd-kept or heavy") == IDS[2:4]
    assert collected(claims, "-k", "attention") == IDS[:2]
    assert collected(claims, "-k", "false-on-purpose") == IDS[4:5]


def test_x_stops_at_the_first_failure(claims: Pytester) -> None:
    claims.runpytest("-x").assert_outcomes(passed=2, failed=1)


def test_lf_runs_what_failed(claims: Pytester) -> None:
    claims.runpytest().assert_outcomes(passed=5, failed=2)
    claims.runpytest("--lf").assert_outcomes(failed=2)


def test_error_rate_is_divided_over_the_file_whatever_is_selected(
    claims: Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """A case alone has the numbers of a full run."""
    assert main(["run", "all", "--file", "claims.yaml", "--format", "json"]) == 1
    whole = {case["claim"]: case for case in json.loads(capsys.readouterr().out)["cases"]}
    claims.runpytest(IDS[2], "--junitxml=alone.xml")
    alone = properties(claims.path / "alone.xml")["sd-kept[p=0.5]"]
    expected = whole["sd-kept"]
    assert float(alone["confidence"]) == expected["confidence"] == 1 - 1e-6 / len(IDS)
    assert float(alone["estimate"]) == expected["estimate"]
    assert json.loads(alone["interval"]) == expected["interval"]
    assert int(alone["draws"]) == expected["draws"]


def test_junit_report_holds_what_was_found(claims: Pytester) -> None:
    claims.runpytest("--junitxml=report.xml")
    cases = list(ElementTree.parse(claims.path / "report.xml").iter("testcase"))
    assert [f"{case.attrib['classname']}::{case.attrib['name']}" for case in cases] == IDS
    failed = cases[2].find("failure")
    assert failed is not None
    assert failed.text is not None
    assert failed.text.startswith("FAIL: refuted  sd-kept  p=0.5\n")
    found = properties(claims.path / "report.xml")
    assert found["sd-kept[p=0.5]"]["verdict"] == "refuted"
    assert float(found["sd-kept[p=0.5]"]["estimate"]) == pytest.approx(1, abs=0.1)
    low, high = json.loads(found["sd-kept[p=0.5]"]["interval"])
    assert 0.5 < low < 1 < high
    assert found["sd-kept[p=0.5]"]["seed"] == "0"
    assert int(found["sd-kept[p=0.5]"]["draws"]) > 1000
    assert "estimate" not in found["heavy"]  # what is unknown is left out


def test_xdist_gives_the_same_numbers_on_any_number_of_workers(claims: Pytester) -> None:
    claims.runpytest("--junitxml=one.xml")
    found = claims.runpytest_subprocess("-n", "2", "--junitxml=two.xml")
    found.assert_outcomes(passed=5, failed=2)
    found.stdout.fnmatch_lines(["UNDECIDED claims.yaml::heavy*"])
    one, two = (properties(claims.path / name) for name in ("one.xml", "two.xml"))
    assert one == two
    assert len(one) == len(IDS)


def test_fresh_seed_is_one_for_all_workers_and_is_told(claims: Pytester) -> None:
    found = claims.runpytest_subprocess(
        "-n", "2", "-k", "laws", "-o", "dropcheck_seed=fresh", "--junitxml=two.xml"
    )
    seeds = {one["seed"] for one in properties(claims.path / "two.xml").values()}
    assert len(seeds) == 1
    assert seeds != {"0"}
    found.stdout.fnmatch_lines([f"dropcheck: claims.yaml, seed {seeds.pop()}, *"])


# ---- undecided cases -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "outcomes", "code", "letter"),
    [
        ("fail", {"failed": 1}, pytest.ExitCode.TESTS_FAILED, "U"),
        ("skip", {"skipped": 1}, pytest.ExitCode.OK, "u"),
        ("pass", {}, pytest.ExitCode.OK, "u"),
    ],
)
def test_undecided_case_is_its_own_outcome(
    claims: Pytester, policy: str, outcomes: dict[str, int], code: int, letter: str
) -> None:
    option = f"dropcheck_undecided={policy}"
    found = claims.runpytest(IDS[3], "-o", option)
    found.assert_outcomes(**outcomes)
    assert found.ret == code
    found.stdout.fnmatch_lines([f"claims.yaml {letter} *"])
    claims.runpytest(IDS[3], "-v", "-o", option).stdout.fnmatch_lines([f"{IDS[3]} UNDECIDED *"])


def test_undecided_case_fails_unless_told_otherwise(claims: Pytester) -> None:
    found = claims.runpytest(IDS[3])
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["undecided  heavy", "  reason      Var does not exist*"])


def test_undecided_case_that_passes_is_counted_apart(claims: Pytester) -> None:
    found = claims.runpytest("-k", "heavy or mean", "-o", "dropcheck_undecided=pass")
    found.stdout.fnmatch_lines(["*2 passed*1 undecided*"])


def test_undecided_case_that_is_skipped_says_why_and_where(claims: Pytester) -> None:
    found = claims.runpytest(IDS[3], "-rs", "-o", "dropcheck_undecided=skip")
    found.stdout.fnmatch_lines(["*claims.yaml:16: undecided: Var does not exist*"])


@pytest.mark.parametrize("policy", ["skip", "pass"])
def test_failed_case_fails_whatever_undecided_ones_do(claims: Pytester, policy: str) -> None:
    found = claims.runpytest(IDS[2], "-o", f"dropcheck_undecided={policy}")
    found.assert_outcomes(failed=1)


def test_each_of_several_statements_is_a_test(claims: pytest.Pytester) -> None:
    text = "{title: T, model: 'x ~ normal(0, 1)', claims: {mean: E(x) == 0, sd: Std(x) == 1}}"
    (claims.path / "claims.yaml").write_text(f"dropcheck: 1\nclaims: {{both: {text}}}")
    result = claims.runpytest("-v")
    result.assert_outcomes(passed=2)
    assert "claims.yaml::both.mean PASSED" in result.stdout.str()
    claims.runpytest("claims.yaml::both.sd").assert_outcomes(passed=1)
