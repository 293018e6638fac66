"""The page on pictures: every command on it is run, and the pictures that it shows are made so."""

from __future__ import annotations

import os
import re
from pathlib import Path
from xml.etree import ElementTree

from readme_blocks import TOP, blocks, matches, prepare, printed_by

PAGE = TOP / "docs" / "pictures.md"
TEXT = PAGE.read_text(encoding="utf-8")


def texts(svg: bytes) -> list[str]:
    """What is written in a picture."""
    root = ElementTree.fromstring(svg)
    return ["".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")]


def test_commands_print_what_is_shown_and_draw_the_pictures(tmp_path: Path) -> None:
    environment = prepare(tmp_path)
    tried = 0
    for block in blocks(TEXT):
        printed = printed_by(block, tmp_path, environment)
        for (line, shown), now in zip(block.commands, printed, strict=True):
            assert matches(shown, now), os.linesep.join([f"$ {line}", *now])
            tried += 1
    assert tried == 4
    assert (tmp_path / "run.html").exists()
    shown = re.findall(r"\]\((\w+\.svg)\)", TEXT)
    assert shown == ["cases.svg", "curve.svg"]
    for name in shown:
        # other versions of matplotlib draw the same in other bytes
        assert texts((tmp_path / name).read_bytes()) == texts((PAGE.parent / name).read_bytes())
