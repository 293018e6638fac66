"""The table of options: one entry is enough for the command line, for `verify` and for pytest."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path

import click
import pytest
from cli_stub import Cli

import dropcheck
from dropcheck import options
from dropcheck.cli.app import COMMANDS, program
from dropcheck.cli.command import Command
from dropcheck.cli.given import Given
from dropcheck.option_values import problem_with, read_value
from dropcheck.options import OPTIONS, RUN_OPTIONS, SHORT_OPTIONS
from dropcheck.pytest_plugin import KEYS
from dropcheck.settings import Kind, Option, Settings

ADDED = Option(
    name="warm_up",
    letter="w",
    commands=("run", "mutate"),
    kind=Kind.SECONDS,
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
    monkeypatch.setenv("_DROPCHECK_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "dropcheck run --war")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert cli().out == "plain,--warm-up\n"


def test_the_names_that_parameters_cannot_have_are_those_of_the_options_of_run() -> None:
    command = Command("run", COMMANDS["run"])
    written = [
        name for one in command.own_params if isinstance(one, click.Option) for name in one.opts
    ]
    assert {name[2:].replace("-", "_") for name in written if name[:2] == "--"} == RUN_OPTIONS
    assert {name[1:] for name in written if name[:2] != "--"} == SHORT_OPTIONS


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
    for option in KEYS.values():
        assert not option.ini_default or read_value(option, option.ini_default) is not None


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_has_a_help_text_and_says_what_it_accepts(name: str) -> None:
    for option in options.options_of(name):
        assert option.help_in.get(name, option.help).endswith(".")
        if option.kind not in (Kind.FLAG, Kind.TEXT, Kind.TAG, Kind.FILE, Kind.FORMAT, Kind.REPORT):
            assert problem_with(option, "?").message.partition("must be ")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_lists_a_command_in_one_line_that_is_not_cut(name: str, cli: Cli) -> None:
    first = COMMANDS[name].help.partition("\n")[0]
    assert f"  {name:<6}  {first}\n" in cli("--help").out


# ---- installing completion -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shell", "start"), [("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", None)]
)
def test_completion_is_installed_once(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str, start: str | None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    if start is not None:
        (tmp_path / start).write_text("alias ll='ls -l'")
    for _ in range(2):
        result = cli("--install-completion")
        assert (result.code, result.err) == (0, "")
    place = Path(result.out.partition(" in ")[2].partition(";")[0])
    assert place.read_text() == cli("--show-completion").out
    if start is not None:
        lines = (tmp_path / start).read_text().splitlines()
        assert lines[0] == "alias ll='ls -l'"
        assert lines.count(f"source '{place}'") == 1


@pytest.mark.parametrize("shell", ["", "/bin/tcsh"])
def test_a_shell_without_completion_is_an_error(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    monkeypatch.setenv("SHELL", shell)
    result = cli("--show-completion")
    assert result.code == 2
    assert result.err.endswith(
        "hint: name a shell that has it before the command: SHELL=bash, zsh or fish\n"
    )


def test_the_program_has_no_option_of_its_own_that_a_command_has() -> None:
    names = {name for one in program().params for name in one.opts}
    assert names == {"--version", "--install-completion", "--show-completion", "--help"}
