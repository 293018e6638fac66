"""The pages on pytest and on Python: their files are written, their commands run and compared.

`PYTHONPATH=tests/helpers python tests/docs/test_docs_python.py` writes what the commands print
today into the pages.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

import pytest
from readme_blocks import Block, blocks, matches, prepare, printed_by

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("pytest.md", "api.md", "isclose.md")
_TIME = re.compile(r"in \d[\d.]*s")


def environment(folder: Path) -> dict[str, str]:
    """What a reader has who installed the package with its extra: `pytest` and `dropcheck`."""
    found = prepare(folder)
    (folder / "claims.yaml").unlink()  # that of this repository
    program = folder / "bin" / "pytest"
    program.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m pytest -p no:cacheprovider "$@"\n'
    )
    program.chmod(0o755)
    kept = {name: value for name, value in found.items() if not name.startswith("PYTEST")}
    # nothing is compiled into the reader's folder, nor twice
    bytecode = os.environ.get("PYTHONPYCACHEPREFIX", str(folder / ".bytecode"))
    return {**kept, "PYTHONPYCACHEPREFIX": bytecode}


def timeless(lines: list[str]) -> list[str]:
    return [_TIME.sub("in #s", line) for line in lines]


def gone_through(page: str, folder: Path) -> list[tuple[Block, list[list[str]]]]:
    """The console blocks of a page with what their commands print, its files written in order."""
    found = []
    given = environment(folder)
    for block in blocks((DOCS / page).read_text(encoding="utf-8")):
        if block.file is not None:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.kind == "console":
            found.append((block, printed_by(block, folder, given)))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_page_shows_what_its_commands_print(page: str, tmp_path: Path) -> None:
    found = gone_through(page, tmp_path)
    assert found
    for block, printed in found:
        for (line, shown), now in zip(block.commands, printed, strict=True):
            assert shown, f"{page} shows nothing of {line}"
            told = f"{page} on {line}\n" + "\n".join(now)
            assert matches(timeless(shown), timeless(now)), told


def _updated(page: str) -> None:
    path = DOCS / page
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        found = gone_through(page, Path(name))
    for block, printed in reversed(found):
        new = ""
        for (line, shown), now in zip(block.commands, printed, strict=True):
            kept = shown if shown and matches(timeless(shown), timeless(now)) else now
            new += "".join(f"{one}\n" for one in [f"$ {line}", *kept])
        text = text[: block.start] + new + text[block.start + len(block.text) :]
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for one in PAGES:
        _updated(one)
