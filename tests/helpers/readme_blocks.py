"""The README and the pages of docs/ as blocks: files, commands and what they print, names.

A block is a file where the comment above it says so, or where the line above it ends with the
file's name and a colon: `first.yaml`:

`python tests/helpers/readme_blocks.py [PAGE…]` writes what the commands print today into the pages;
read the difference before you commit it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from warm_starts import program

TOP = Path(__file__).parents[2]
README = TOP / "README.md"
PAGES = (README, *sorted((TOP / "docs").glob("*.md")))
ELISION = "…"  # a line of its own that stands for any lines; alone, for what is to be written
_FENCED = re.compile(
    r"^(?:<!-- (?P<marker>[^\n]*) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# the line above a block, where it ends with a file's name
_NAMED = re.compile(r"`(?P<name>[\w./-]+)`:\n\n?\Z")
# how long it took, which is never the same twice: as dropcheck says it, and as pytest does
_SECONDS = re.compile(r"(?:· |\bin )[\d.]+ ?(?:ms|s|min(?: \d+ s)?)\b")


@dataclass(frozen=True)
class Block:
    """One fenced block, with the comment on the line above it that says what it is."""

    kind: str
    marker: str
    text: str
    start: int

    @property
    def file(self) -> str | None:
        """The name of the file that the block is, if it is one."""
        found = re.match(r"file: ([\w./-]+)", self.marker)
        return found[1] if found else None

    @property
    def commands(self) -> list[tuple[str, list[str]]]:
        """The commands of a console block, each with the lines that follow it."""
        lines = self.text.splitlines()
        assert lines[0].startswith("$ "), lines[0]
        return [
            (
                line[2:],
                list(takewhile(lambda after: not after.startswith("$ "), lines[index + 1 :])),
            )
            for index, line in enumerate(lines)
            if line.startswith("$ ")
        ]


def blocks(text: str) -> list[Block]:
    r"""Every fenced block of a page, in order.

    >>> [block.file for block in blocks("Write `a/b.yaml`:\n\n```yaml\nx: 1\n```\n")]
    ['a/b.yaml']
    """
    found = []
    for one in _FENCED.finditer(text):
        marker = one["marker"] or ""
        named = _NAMED.search(text, max(0, one.start() - 200), one.start())
        if not marker and named is not None and one["kind"] != "console":
            marker = f"file: {named['name']}"
        found.append(Block(one["kind"], marker, one["text"], one.start("text")))
    return found


def command(text: str, name: str) -> str:
    """The one line of the block that is marked `command: name`."""
    [found] = [block for block in blocks(text) if block.marker == f"command: {name}"]
    [line] = found.text.splitlines()
    return line


def prepare(beside: Path) -> dict[str, str]:
    """What a reader has: the programs on the path, in a folder made for them, and git as set up."""
    beside.mkdir()
    made = program(beside)
    for name, module in (("python", ""), ("pytest", "-m pytest"), ("pre-commit", "-m pre_commit")):
        script = beside / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {module} "$@"\n')
        script.chmod(0o755)
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "CI")
        and not name.startswith(("GIT_", "PRE_COMMIT", "PYTEST"))
    }
    git = {
        "user.name": "Reader",
        "user.email": "reader@example.org",
        "init.defaultBranch": "main",
    }
    numbered = dict(enumerate(git.items()))
    return {
        **kept,
        "PATH": f"{made.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(TOP),
        "PYTHONIOENCODING": "utf-8",
        "PYTHONPYCACHEPREFIX": os.environ.get("PYTHONPYCACHEPREFIX", str(beside / "bytecode")),
        "XDG_CACHE_HOME": str(beside / "cache"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_COUNT": str(len(git)),
        **{f"GIT_CONFIG_KEY_{number}": key for number, (key, _) in numbered.items()},
        **{f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in numbered.items()},
        "PRE_COMMIT_COLOR": "never",
        "PRE_COMMIT_HOME": str(beside / "hooks"),
    }


def printed_by(block: Block, folder: Path, environment: dict[str, str]) -> list[list[str]]:
    """What the commands of a console block print, run one after the other in one shell."""
    separator = "=== the next command ==="
    # `(exit …)` hands the exit code on, for a command such as `echo $?`
    script = "".join(
        f"{line}\ncode=$?; echo '{separator}'; (exit $code)\n" for line, _ in block.commands
    )
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    parts = done.stdout.split(f"{separator}\n")
    assert len(parts) == len(block.commands) + 1, done.stdout
    return [[line.rstrip() for line in part.splitlines()] for part in parts[:-1]]


def walked(
    text: str, folder: Path, environment: dict[str, str]
) -> list[tuple[Block, list[list[str]]]]:
    """The console blocks of a page with what they print, in one folder and in the page's order.

    What one block leaves behind, a file or a report, the next one finds.
    """
    found = []
    for block in blocks(text):
        if block.file is not None:
            path = folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.kind == "console":
            found.append((block, printed_by(block, folder, environment)))
    return found


def matches(shown: list[str], printed: list[str]) -> bool:
    """Whether the lines shown are those printed, seconds and elisions apart.

    >>> matches(["a", "…", "d · 2 s · e"], ["a", "b", "c", "d · 0.3 s · e"])
    True
    >>> matches(["a"], ["a", "b"])
    False
    """
    pattern = "".join(
        "(?:.*\n)*" if line == ELISION else re.escape(_SECONDS.sub("· # s ·", line)) + "\n"
        for line in shown
    )
    text = "".join(_SECONDS.sub("· # s ·", line) + "\n" for line in printed)
    return re.fullmatch(pattern, text) is not None


def updated(text: str, folder: Path, environment: dict[str, str]) -> str:
    """The page with what its commands print today, where that is not what it shows."""
    for block, printed in reversed(walked(text, folder, environment)):
        new = ""
        for (line, shown), now in zip(block.commands, printed, strict=True):
            kept = shown if shown != [ELISION] and matches(shown, now) else now
            new += "".join(f"{one}\n" for one in [f"$ {line}", *kept])
        text = text[: block.start] + new + text[block.start + len(block.text) :]
    return text


def _update(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "reader"
        folder.mkdir()
        page.write_text(updated(text, folder, prepare(Path(name) / "beside")), encoding="utf-8")


if __name__ == "__main__":
    for each in map(Path, sys.argv[1:]) if sys.argv[1:] else PAGES:
        _update(each)
