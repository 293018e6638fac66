"""The README as blocks: its files, its commands with what they print, and its lists of names.

`python tests/readme_blocks.py` writes what the commands print today, and the vocabulary's names,
into the README; read the difference before you commit it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from dropcheck.language.functions import FUNCTIONS
from dropcheck.language.laws import LAWS

TOP = Path(__file__).parent.parent
README = TOP / "README.md"
ELISION = "…"  # a line of its own that stands for any lines
_FENCED = re.compile(
    r"^(?:<!-- (?P<marker>[^\n]*) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# how long it took, which is never the same twice
_SECONDS = re.compile(r"· [\d.]+ (?:ms|s|min) ·")


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
        found = re.match(r"file: ([\w.]+)", self.marker)
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
    """Every fenced block of the README, in order."""
    return [
        Block(found["kind"], found["marker"] or "", found["text"], found.start("text"))
        for found in _FENCED.finditer(text)
    ]


def command(text: str, name: str) -> str:
    """The one line of the block that is marked `command: name`."""
    [found] = [block for block in blocks(text) if block.marker == f"command: {name}"]
    [line] = found.text.splitlines()
    return line


def prepare(folder: Path) -> dict[str, str]:
    """What the README's reader has: a clone with its claims, and `dropcheck` on the path."""
    (folder / "claims.yaml").write_bytes((TOP / "claims.yaml").read_bytes())
    (folder / "bin").mkdir()
    program = folder / "bin" / "dropcheck"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m dropcheck "$@"\n')
    program.chmod(0o755)
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "CI")
    }
    return {
        **kept,
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(TOP),
        "PYTHONIOENCODING": "utf-8",
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


def function_names() -> list[str]:
    """Every function: by its name alone where it takes one value, else with what it takes."""
    names = []
    for name, function in FUNCTIONS.items():
        takes = [
            f"{one.name}, …" if one.variadic else one.name if one.required else f"{one.name}=…"
            for one in function.parameters
            if one.name not in ("axis", "keepdims")
        ]
        names.append(
            name if len(takes) == 1 and "…" not in takes[0] else f"{name}({', '.join(takes)})"
        )
    return names


def law_names() -> list[str]:
    """Every distribution, with its parameters."""
    return [
        f"{name}({', '.join(one.name for one in law.parameters)})" for name, law in LAWS.items()
    ]


LISTS = {"functions": function_names, "laws": law_names}


def _list(text: str, name: str) -> str:
    found = re.search(rf"^<!-- {name} -->\n((?:> .*\n)+)", text, re.MULTILINE)
    assert found is not None, f"the README has no list of {name}"
    return found[1]


def listed(text: str, name: str) -> list[str]:
    """The names in the quoted list that is marked with `name`."""
    return re.findall(r"`([^`]+)`", _list(text, name))


def _updated_lists(text: str) -> str:
    for name, names in LISTS.items():
        # no line is broken within a name
        quoted = " ".join(f"`{one}`".replace(" ", "~") for one in names())
        lines = textwrap.wrap(quoted, 116, break_on_hyphens=False)
        new = "".join(f"> {line}\n" for line in lines).replace("~", " ")
        text = text.replace(_list(text, name), new)
    return text


def _updated(text: str) -> str:
    text = _updated_lists(text)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = prepare(folder)
        replaced: list[tuple[Block, str]] = []
        for block in blocks(text):
            if block.file is not None:
                (folder / block.file).write_text(block.text, encoding="utf-8")
            if block.kind != "console":
                continue
            new = ""
            printed = printed_by(block, folder, environment)
            for (line, shown), now in zip(block.commands, printed, strict=True):
                kept = shown if matches(shown, now) else now
                new += "".join(f"{one}\n" for one in [f"$ {line}", *kept])
            replaced.append((block, new))
    for block, new in reversed(replaced):
        text = text[: block.start] + new + text[block.start + len(block.text) :]
    return text


if __name__ == "__main__":
    README.write_text(_updated(README.read_text(encoding="utf-8")), encoding="utf-8")
