"""The command line: what it prints, and where to: streams, files, shells, pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_stub import CLAIMS, Cli, parameters_of

from dropcheck.cli_output import emit, write_file

# what is printed where


def test_a_failure_prints_the_command_that_repeats_it(cli: Cli) -> None:
    result = cli("run", "kept-share", "-f", "claims.yaml", "--max-draws", "1e6", "--mu", "-1")
    command = (
        "dropcheck run kept-share --file claims.yaml --keep_prob 0.5 --mu=-1 --seed 0 "
        "--max-draws=1e6"
    )
    assert command in result.out
    again = cli(*command.split()[1:], "--format", "json")
    assert parameters_of(again.out) == [{"keep_prob": 0.5, "mu": -1}]
    assert json.loads(again.out)["cases"][0]["repeat"] == command


def test_what_the_clock_ended_is_repeated_by_its_draws(cli: Cli) -> None:
    limited = ("run", "open-question", "-f", "claims.yaml", "--time-limit", "9s")
    assert "--seed 0 --max-draws=1000\n" in cli(*limited).out
    given = cli(*limited, "--max-draws", "1e6").out
    assert "--seed 0 --max-draws=1e6 --time-limit=9s\n" in given


def test_a_registry_with_errors_is_told_as_such_and_not_as_an_unknown_option(cli: Cli) -> None:
    Path("bad.yaml").write_text(CLAIMS.replace("normal(0, 1)[dk]", "nomal(0, 1)[dk]"))
    result = cli("run", "product-variance", "--dk", "3", "-f", "bad.yaml")
    assert result.code == 2
    assert "bad.yaml:8:" in result.err
    assert "bad.yaml:9:" in result.err
    assert "did you mean 'normal'?" in result.err
    assert "2 errors" in result.err
    Path("bad.yaml").write_text("claims: [")
    broken = cli("run", "product-variance", "--dk", "3", "-f", "bad.yaml", "--format", "json")
    assert broken.code == 2
    assert json.loads(broken.out)["errors"][0]["file"] == "bad.yaml"
    assert cli("run", "-f", "bad.yaml", "--help").code == 0


def test_a_value_that_the_model_cannot_take_is_an_error(cli: Cli) -> None:
    result = cli("run", "product-variance", "--dk", "2.5")
    assert result.code == 2
    assert "claims.yaml:" in result.err


def test_where_errors_leave_no_case_no_totals_are_printed(cli: Cli) -> None:
    result = cli("run", "--tag", "errs")
    assert (result.code, result.out) == (2, "")
    assert "undefined on every draw" in result.err


@pytest.mark.parametrize("arguments", [["--bogus", "1"], ["nonesuch"], ["--alpha", "7"]])
def test_under_json_every_error_is_json(cli: Cli, arguments: list[str]) -> None:
    result = cli("run", *arguments, "--format", "json")
    assert result.code == 2
    report = json.loads(result.out)
    assert report["schema"] == 1
    assert report["errors"][0]["message"]


def test_an_output_file_is_written_beside_the_table(cli: Cli) -> None:
    result = cli("run", "kept-share", "-o", "a.json", "--output", "b.json")
    assert result.code == 1
    assert "FAIL" in result.out
    for name in ("a.json", "b.json"):
        assert json.loads(Path(name).read_text())["summary"]["failed"] == 1
    assert sorted(path.name for path in Path().iterdir()) == ["a.json", "b.json", "claims.yaml"]


def test_a_place_that_cannot_be_written_loses_nothing(cli: Cli) -> None:
    Path("folder.json").mkdir()
    result = cli("run", "kept-share", "-o", "a.json", "-o", "folder.json")
    assert result.code == 2
    assert "FAIL" in result.out
    assert Path("a.json").exists()
    assert "'folder.json' could not be written: is a directory" in result.err


def test_a_file_is_replaced_whole_and_keeps_its_mode_and_its_links(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "b.json"
    link.symlink_to(target)
    assert write_file(link, "new") == []
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_check_notes_a_parameter_named_like_an_option(cli: Cli) -> None:
    result = cli("check")
    assert result.out == "claims.yaml: 4 claims, 5 cases, no errors, 1 note\n"
    assert "note: the parameter 'alpha' is named like an option of run" in result.err
    assert "it is set by --set alpha=VALUE only" in result.err


# a process of its own: pipes, encodings, imports

STUBBED = """
import sys, types
sys.path.insert(0, {tests!r})
from cli_stub import stub
module = types.ModuleType("dropcheck.running")
module.verify_cases = stub
sys.modules["dropcheck.running"] = module
from dropcheck.cli import main
sys.exit(main(sys.argv[1:]))
"""


def process(
    folder: Path, *arguments: str, stubbed: bool = False, **options: Any
) -> subprocess.CompletedProcess[str]:
    (folder / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    root = str(Path(__file__).parents[2])
    script = (
        ["-c", STUBBED.format(tests=str(Path(__file__).parents[1] / "helpers"))]
        if stubbed
        else ["-m"]
    )
    command = [sys.executable, *script, *([] if stubbed else ["dropcheck"]), *arguments]
    environ = {**os.environ, "PYTHONPATH": root, **options.pop("env", {})}
    environ.pop("COLUMNS", None)
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run(
        command, cwd=folder, env=environ, stderr=subprocess.PIPE, text=True, check=False, **options
    )


@pytest.mark.parametrize(("claim", "code"), [("product-variance", 0), ("kept-share", 1)])
def test_a_reader_that_goes_away_leaves_the_exit_code(
    tmp_path: Path, claim: str, code: int
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = process(tmp_path, "run", claim, stubbed=True, stdout=writing)
    finally:
        os.close(writing)
    assert done.returncode == code
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = process(tmp_path, "run", "product-variance", stubbed=True, stdout=full)
    assert done.returncode == 2
    assert "could not be written" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-8"])
def test_no_encoding_stops_a_report(tmp_path: Path, encoding: str) -> None:
    done = process(
        tmp_path,
        *("run", "kept-share", "product-variance"),
        stubbed=True,
        env={"PYTHONIOENCODING": encoding},
        encoding=encoding,
    )
    assert done.returncode == 1
    assert ("─" in done.stdout) is (encoding == "utf-8")
    assert ("alpha 1e-6" in done.stdout) is (encoding != "utf-8")
    assert done.stderr == ""


def test_what_an_encoding_lacks_becomes_a_question_mark(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="ascii") as stream:
        assert emit("维度 d\n", stream) == []
    assert (tmp_path / "out").read_text() == "?? d\n"


@pytest.mark.parametrize(
    ("environ", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_colour_in_a_pipe_only_where_it_is_forced(
    tmp_path: Path, environ: dict[str, str], coloured: bool
) -> None:
    done = process(tmp_path, "run", "kept-share", stubbed=True, env=environ)
    assert ("\x1b[" in done.stdout) is coloured
