"""The pytest plugin: its keys, errors in files and in values, and what it loads."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

import pytest
from plugin_sessions import IDS, INI, Pytester, properties, write

pytest_plugins = ["pytester"]

pytestmark = pytest.mark.usefixtures("sessions_of_their_own")

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
        ("alpha", "2", "a number between 1e-30 and 1"),
        ("seed", "now", "a whole number from 0 on, or fresh"),
        ("resolution", "0", "a number between 0 and 1, or a share such as 1%"),
        ("asymptotic", "anything", "true or false"),
        ("max_draws", "many", "a whole number from 1 on"),
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


def test_file_that_is_no_claims_file_is_an_error_of_collection(pytester: Pytester) -> None:
    write(pytester, INI, "[1, 2")
    found = pytester.runpytest()
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines(["claims.yaml:1:*"])


def test_error_that_only_a_run_can_find_has_its_place(pytester: Pytester) -> None:
    nowhere = 'claims: {a: {title: A, model: "x ~ uniform(1, 2)", claim: E(log(-x)) == 0}}\n'
    write(pytester, INI, "dropcheck: 1\n" + nowhere)
    found = pytester.runpytest()
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["claims.yaml:2:*NaN or infinite on every draw*"])
    found.stdout.no_fnmatch_line("*Traceback*")


def test_note_on_a_file_is_a_warning(pytester: Pytester) -> None:
    text = "claims: {a: {title: A, parameters: {b: 1}, claim: 1 == 1}}\n"
    write(pytester, INI, "dropcheck: 1\n" + text)
    found = pytester.runpytest("-W", "default")
    found.assert_outcomes(passed=1, warnings=1)
    found.stdout.fnmatch_lines(["*dropcheck: the parameter 'b' of a is not used*"])


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


def loaded(pytester: Pytester, *arguments: str) -> set[str]:
    """What a session has imported of dropcheck, and of what it builds on."""
    done = pytester.run(sys.executable, "-c", PROBE, *arguments)
    [line] = [line for line in done.outlines if line.startswith("loaded ")]
    return set(line.split()[1:])


def test_unused_the_plugin_imports_nothing(pytester: Pytester) -> None:
    write(pytester, "[pytest]\n")
    pytester.makepyfile("def test(): pass\n")
    assert loaded(pytester) == {"dropcheck", "dropcheck.pytest_plugin"}


def test_collecting_reads_and_checks_and_imports_nothing_that_draws(claims: Pytester) -> None:
    found = loaded(claims, "--collect-only")
    assert "dropcheck.claims.reader" in found  # so the probe can see what it looks for
    assert not {"scipy", "dropcheck.running", "dropcheck.simulation"} & found
