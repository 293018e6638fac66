"""What the program prints and its exit codes: a transcript for each thing that a user does.

A file of `transcripts/` says in its first line what is shown, and has command lines that begin with
`$ `. They are typed in a folder that holds the files of `inputs/`. Below each stands what came: the
output by two spaces, the errors by `! `, and the exit code if it is not 0. To add one, write its
command lines alone and run `pytest tests/contract --update-contract`; then read what was written.

`dropcheck …` is called in this process; `python …` and `sh …` are processes. `NAME=value` before it
sets the environment. `cat FILE` shows a file that was written: of pages and pictures the texts.
Times, seeds, the version and the folders of the machine are masked. Where anything may be drawn, so
are numbers: no other random stream, and no other way to draw, changes a transcript. What a user
types, places in files and counts of cases stay.
"""

from __future__ import annotations

import html
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import dropcheck
from contract.conftest import FOLDER, Agreed, difference
from dropcheck.cli import main

TRANSCRIPTS = sorted((FOLDER / "transcripts").glob("*.txt"))
DRAWING = {"run", "plan", "mutate"}  # the commands that draw
WITHOUT_DRAWS = {"--exact", "--help"}
SEED = ("--seed", "7")  # other random numbers than those of a user change nothing
SITE = str(Path(dropcheck.__file__).parents[1])
EXIT = "[exit {}]"

MASKS = [
    (re.compile(r"\x1b\["), "ESC["),
    (re.compile(re.escape(dropcheck.__version__)), "VERSION"),
    (re.compile(r"(?<![\w.])\d[\d.]* (ms|s|min|h)\b"), "TIME"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"), "TIME"),
    (re.compile(r'("(?:\w+_)?seconds": )\d[^,\n]*'), r"\1TIME"),
    (re.compile(r'\b(time|timestamp|hostname)="[^"]*"'), r'\1="TIME"'),
    (re.compile(r"(\bseed\b(?:\W|value)*)\d+"), r"\1SEED"),
    (re.compile(r",\d+(,dropcheck run )"), r",SEED\1"),  # in CSV
]
# Numbers, but for those that a user typed, places in files and counts of cases; and what depends on
# them: a side, and the widths of columns.
COUNTED = "cases?|passed|failed|undecided|errors?|claims?|warnings?"
DRAWN = [
    (
        re.compile(
            r"(?<![\w.:=*])[-−±+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?[kMG]?\b"
            rf"(?![.,]?\d)(?! (?:{COUNTED})\b)"
        ),
        "#",
    ),
    (re.compile("(standard errors) (?:above|below)"), r"\1 off"),
    (re.compile(r"(?<=\S) {2,}"), "  "),
    (re.compile("─+"), "───"),
]
NOT_TEXT = re.compile(r"<(style|script)\b.*?</\1>|<[^>]*>", re.DOTALL)  # in a page or a picture

Capsys = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def played(golden: str, capsys: Capsys, patch: Patch, more: Sequence[str] = ()) -> str:
    """A transcript with what its commands print now; `more` is added to those that may draw."""
    lines = []
    for line in golden.splitlines():
        if line.startswith("# "):
            lines.append(line)
        elif line.startswith("$ "):
            lines += ["", line, *_came_of(line.removeprefix("$ "), capsys, patch, more)]
    return "\n".join(lines) + "\n"


def _came_of(line: str, capsys: Capsys, patch: Patch, more: Sequence[str]) -> list[str]:
    words = shlex.split(line)
    environment = {}
    while "=" in words[0]:
        name, _, environment[name] = words.pop(0).partition("=")
    may_draw = not DRAWING.isdisjoint(words) and WITHOUT_DRAWS.isdisjoint(words)
    if not DRAWING.isdisjoint(words) and "--seed" not in words:
        words += more
    code, out, err = _typed(words, environment, capsys, patch)
    told = [f"  {one}".rstrip() for one in _masked(out, drawn=may_draw).splitlines()]
    told += [f"! {one}".rstrip() for one in _masked(err, drawn=may_draw).splitlines()]
    return [*told, EXIT.format(code)] if code else told


def _typed(
    words: Sequence[str], environment: dict[str, str], capsys: Capsys, patch: Patch
) -> tuple[int, str, str]:
    """The exit code, the output and the errors of a command."""
    if words[0] == "cat":
        return 0, _text_of(Path(words[1])), ""
    with patch.context() as here:
        for name, value in environment.items():
            here.setenv(name, value)
        if words[0] == "dropcheck":
            code = main(words[1:])
            return code, *capsys.readouterr()
        assert words[0] in ("python", "sh"), words
        here.setenv("PYTHONPATH", SITE)
        here.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr


def _text_of(path: Path) -> str:
    if path.suffix == ".png":
        return f"{path.read_bytes()[:8]!r}\n"
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".html", ".svg"):
        return re.sub(r"\s*\n\s*", "\n", html.unescape(NOT_TEXT.sub("\n", text))).strip()
    return text


def _masked(text: str, *, drawn: bool) -> str:
    if text.startswith("<?xml"):  # one line, in which nobody would find a difference
        text = text.replace("><", ">\n<")
    for path, name in ((str(Path.cwd()), "FOLDER"), (SITE, "SITE")):
        text = text.replace(path, name)
    for pattern, mask in MASKS + (DRAWN if drawn else []):
        text = pattern.sub(mask, text)
    return text


@pytest.fixture
def inputs(folder: Path, monkeypatch: Patch) -> Iterator[Path]:
    """A folder that holds the files of `inputs/`, whose modules can be imported."""
    shutil.copytree(FOLDER / "inputs", folder, dirs_exist_ok=True)
    monkeypatch.delenv("DROPCHECK_DEBUG", raising=False)
    yield folder
    sys.modules.pop("layers", None)


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_user_sees_what_they_saw(
    path: Path, agreed: Agreed, capsys: Capsys, monkeypatch: Patch
) -> None:
    found = played(path.read_text(encoding="utf-8"), capsys, monkeypatch, SEED)
    agreed(f"transcripts/{path.name}", found)


def test_each_exit_code_is_shown() -> None:
    shown = "\n".join(path.read_text(encoding="utf-8") for path in TRANSCRIPTS)
    for code in (1, 2, 3, 4, 5, 130):
        assert EXIT.format(code) in shown, code


@pytest.mark.parametrize("options", ["--exact", ""])
def test_another_row_or_exit_code_is_noticed(
    options: str, folder: Path, capsys: Capsys, monkeypatch: Patch
) -> None:
    file = folder / "claims.yaml"
    claim = "title: T\n    model: x ~ normal(0, 1)\n    claim: E(x) == 0\n"
    text = f"dropcheck: 1\nclaims:\n  c:\n    {claim}  d:\n    {claim}"
    file.write_text(text, encoding="utf-8")
    golden = played(f"# Two claims\n$ dropcheck run {options}\n", capsys, monkeypatch)
    assert played(golden, capsys, monkeypatch) == golden
    for word in ("claimed", "verified", "2 passed"):  # as if another word stood there today
        assert word in golden
        assert difference(golden.replace(word, word.upper(), 1), golden)
    for one, told in (  # what else is said of a claim less, of a false one, and of an error
        (text[: text.index("  d:")], "1 passed"),
        (text.replace("== 0", "== 1"), "[exit 1]"),
        (text.replace("normal", "nrmal"), "'normal'"),
    ):
        file.write_text(one, encoding="utf-8")
        assert told in difference(golden, played(golden, capsys, monkeypatch))
