"""The table of options: one entry is enough for the command line, for `verify` and for pytest."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from cli_stub import Cli
from dropcheck.cli.app import COMMANDS
from dropcheck.cli.arguments import Given, read_arguments
from dropcheck.cli.option_table import OPTIONS, RUN_OPTIONS, options_of, problem_with

import dropcheck
from dropcheck.cli import option_table as options
from dropcheck.options import VALUES
from dropcheck.pytest_plugin import KEYS
from dropcheck.settings import Option, OptionKind, Settings

ADDED = Option(
    name="warm_up",
    letter="w",
    commands=("run", "mutate"),
    kind=OptionKind.SECONDS,
    accepts="a time above 0, such as 10s",
    help="Draw for this time before anything counts.",
)


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more entry in the table."""
    monkeypatch.setattr(options, "OPTIONS", (*OPTIONS, ADDED))


@pytest.mark.usefixtures("added")
def test_an_option_is_added_by_one_entry(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in ("run", "mutate"):
        assert "-w, --warm-up TIME" in cli(command, "--help").out
    assert "--warm-up" not in cli("plan", "--help").out
    assert "did you mean '--warm-up'?" in cli("run", "--warm-pu", "3s").err
    given = Given("run", {"warm_up": "500ms"})
    assert given.value("warm_up") == 0.5
    wrong = Given("run", {"warm_up": "long"})
    assert wrong.value("warm_up") is None
    [problem] = wrong.problems
    assert problem.message == (
        "option '--warm-up' cannot be 'long': it must be a time above 0, such as 10s"
    )
    monkeypatch.setenv("_DROPCHECK_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "dropcheck run --war")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert cli().out == "--warm-up\n"


def test_the_names_that_parameters_cannot_have_are_those_of_the_options_of_run() -> None:
    written = [
        name
        for one in read_arguments("run", COMMANDS["run"], ["--help"]).options
        for name in one.spellings
    ]
    assert {name[2:].replace("-", "_") for name in written if name[:2] == "--"} == RUN_OPTIONS
    letters = {option.letter for option in options_of("run") if option.letter}
    assert {name[1:] for name in written if name[:2] != "--"} == letters


def test_every_setting_has_its_option_and_the_other_way_round() -> None:
    assert {option.setting for option in OPTIONS if option.setting} == {
        field.name for field in fields(Settings)
    }


def test_verify_takes_the_options_that_the_table_gives_it() -> None:
    taken = {
        name
        for name, parameter in inspect.signature(dropcheck.verify).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    own = {option.name for option in OPTIONS if option.in_verify}
    assert taken - own == {"model", "sample", "parameters"}
    assert own <= taken


def test_every_key_of_the_plugin_accepts_its_default() -> None:
    for name, (_, default) in KEYS.items():
        assert not default or VALUES[name].read(default) is not None


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_has_a_help_text_and_says_what_it_accepts(name: str) -> None:
    for option in options.options_of(name):
        assert option.help_in.get(name, option.help).endswith(".")
        if option.kind not in (
            OptionKind.FLAG,
            OptionKind.TEXT,
            OptionKind.TAG,
            OptionKind.FILE,
            OptionKind.FORMAT,
            OptionKind.REPORT,
        ):
            assert problem_with(option, "?").message.partition("must be ")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_lists_a_command_in_one_line_that_is_not_cut(name: str, cli: Cli) -> None:
    first = COMMANDS[name].help.partition("\n")[0]
    assert f"  {name:<6}  {first}\n" in cli("--help").out


# ---- installing completion -----------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="the shells are those of POSIX")
@pytest.mark.parametrize(
    ("shell", "start"), [("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", None)]
)
def test_completion_is_installed_once(tmp_path: Path, shell: str, start: str | None) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    if start is not None:
        (tmp_path / start).write_text("alias ll='ls -l'\n")

    def run(option: str) -> str:
        line = f"'{sys.executable}' -m dropcheck {option}; true"  # or the shell is replaced by it
        environment = {**os.environ, "HOME": str(tmp_path)}
        return subprocess.run(
            [shell, "-c", line], env=environment, check=True, capture_output=True, text=True
        ).stdout

    for _ in range(2):
        assert f"{shell} completion installed in {tmp_path}" in run("--install-completion")
    [place] = (path for path in tmp_path.rglob("*dropcheck*") if path.is_file())
    assert place.read_text().strip() == run("--show-completion").strip()
    if start is not None:
        lines = (tmp_path / start).read_text().splitlines()
        assert lines[0] == "alias ll='ls -l'"
        written = [line for line in lines if line]
        assert len(written) == len(set(written)) > 1


def test_the_program_has_no_option_of_its_own_that_a_command_has(cli: Cli) -> None:
    names = set(re.findall(r"^  (--[a-z-]+)", cli("--help").out, re.MULTILINE))
    assert names == {"--version", "--install-completion", "--show-completion", "--help"}
    for name in names - {"--help"}:
        assert cli("run", name).err.startswith(f"error: there is no option '{name}'")
