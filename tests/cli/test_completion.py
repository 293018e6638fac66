"""Completion in the shells that people use, driven as a person drives them: by the Tab key."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from cli_stub import Cli

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the shells are those of POSIX")

CLAIMS = """\
dropcheck: 1
claims:
  qk-mean:
    title: The dot product has mean 0
    tags: [attention]
    parameters: {dk: [16, 64]}
    model: |
      q ~ normal(0, 1)[dk]
      k ~ normal(0, 1)[dk]
    claim: E(q @ k) == 0
  qk-spread:
    title: $(touch hacked) `touch hacked` "; touch hacked; ' \\ [red]
    tags: [$(touch hacked)]
    cases: [{depth: 128, p_keep: 0.5}]
    claim: 1 == 1
  other:
    title: \\$(touch hacked) \\`touch hacked\\` \\\\$(touch hacked)
    parameters: {law: "normal(\\\\$(touch hacked), 1)"}
    claim: 1 == 1
"""
PROMPT = "READY> "
SHELLS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
# What each shell is told before anything else: a plain prompt, and the program's completion.
SETTING_UP = {
    "bash": [
        "bind 'set show-all-if-ambiguous on'",
        "bind 'set enable-bracketed-paste off'",
        "bind 'set completion-query-items 0'",
        "bind 'set page-completions off'",
        'eval "$(dropcheck --show-completion)"',
        f"PS1='{PROMPT}'",
    ],
    "zsh": [
        "unsetopt zle_bracketed_paste prompt_sp",
        "autoload -U compinit && compinit -u -D",
        "zstyle ':completion:*' list-prompt ''",
        'LISTMAX=1000; eval "$(dropcheck --show-completion)"',
        f"PS1='{PROMPT}'",
    ],
    "fish": [
        "dropcheck --show-completion | source",
        "function fish_prompt; echo -n 'READY> '; end",
    ],
}
ESCAPES = re.compile(
    r"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b[()][A-B0-2]|\x1b[=>]|\x1b\][^\x07]*\x07|[\r\x07]"
)


class Shell:
    """An interactive shell at a terminal."""

    def __init__(self, name: str, folder: Path) -> None:
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("_DROPCHECK", "_TYPER", "COMP_"))
        }
        environment |= {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "TERM": "xterm" if name == "fish" else "dumb",
            "HOME": str(folder),
            "SHELL": name,
        }
        self.name = name
        self.folder = folder
        command, *arguments = SHELLS[name]
        self.child = pexpect.spawn(
            command,
            arguments,
            cwd=str(folder),
            env=environment,
            encoding="utf-8",
            timeout=30,
            dimensions=(50, 200),
        )
        for line in SETTING_UP[name]:
            self.child.sendline(line)
        self.child.sendline("echo set''tled")
        self.child.expect("settled\r?\n")
        self.child.expect(PROMPT)

    def offered(self, typed: str, until: str) -> str:
        """What the screen shows after Tab is pressed on a line, once `until` is seen."""
        self.child.send("\x15")  # Ctrl-U takes back what stands there
        self.child.send(typed)
        time.sleep(0.05)
        self.child.send("\t")
        self.child.expect(until)
        shown = str(self.child.before) + str(self.child.after)
        while self.child.expect([pexpect.TIMEOUT, ".+"], timeout=0.2):  # until it is silent
            shown += str(self.child.after)
        return ESCAPES.sub("", shown)

    def close(self) -> None:
        self.child.close(force=True)


@pytest.fixture(params=SHELLS, scope="module")
def shell(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shell]:
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "claims.yaml").write_text(CLAIMS)
    opened = Shell(request.param, folder)
    yield opened
    opened.close()


def test_claims_with_their_titles(shell: Shell) -> None:
    shown = shell.offered("dropcheck run qk-", "qk-spread")
    assert "qk-mean" in shown
    assert "other" not in shown
    if shell.name != "bash":  # which shows words alone
        assert "The dot product has mean 0" in shown
        assert "$(touch hacked)" in shown


def test_a_parameter_of_the_claim(shell: Shell) -> None:
    shown = shell.offered("dropcheck run qk-mean --dk", "--dk")
    assert "--depth" not in shown


def test_the_values_of_a_parameter(shell: Shell) -> None:
    assert "16" in shell.offered("dropcheck run qk-mean --dk ", "64")


def test_choices(shell: Shell) -> None:
    assert "junit" in shell.offered("dropcheck run --format j", "json")


def test_commands(shell: Shell) -> None:
    assert "schema" in shell.offered("dropcheck s", "show")


def test_files(shell: Shell) -> None:
    shell.offered("dropcheck check cla", "claims.yaml")


def test_hostile_titles_tags_and_laws_are_text(shell: Shell) -> None:
    assert "touch" not in shell.offered("dropcheck run --tag ", "attention")
    shown = shell.offered("dropcheck show o", "other")
    shell.offered("dropcheck run other --", "--law")
    assert not (shell.folder / "hacked").exists(), shown


# ---- what the shells ask -------------------------------------------------------------------------


def asked(cli: Cli, monkeypatch: pytest.MonkeyPatch, words: str) -> list[str]:
    monkeypatch.setenv("_DROPCHECK_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"dropcheck {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(f"{words}|".split())))
    result = cli()
    assert (result.code, result.err) == (0, "")
    return result.out.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("run prod", ["product-variance"]), ("show prod", ["product-variance"]),
        ("run product-variance --dk", ["--dk"]), ("run product-variance --dk ", ["16", "64"]),
        ("run product-variance --dk 6", ["64"]),
        ("run kept-share --k", ["--keep_prob", "--keep-prob"]),
        ("run --tag f", ["fails"]), ("run --seed ", ["fresh"]), ("run --tag=f", ["fails"]),
        ("run --seed 1 --tag a --see", []), ("run --seed 1 --tag a --ta", ["--tag"]),
        ("run --seed 1 --tag a kept", ["kept-share"]), ("run nothing-", []),
    ],
)  # fmt: skip
def test_what_is_offered(
    words: str, offered: list[str], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(cli, monkeypatch, words) == offered


@pytest.mark.parametrize("text", ["", "dropcheck: 1\nclaims: [", "[" * 1000, "\x00"])
@pytest.mark.parametrize("words", ["run ", "run --tag ", "show x", "run x --dk"])
def test_a_broken_file_offers_nothing_and_says_nothing(
    text: str, words: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("claims.yaml").write_text(text)
    assert asked(cli, monkeypatch, words) == []
