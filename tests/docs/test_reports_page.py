"""The page on reports: every command on it is run, and prints what is shown."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from readme_blocks import TOP, blocks, matches, prepare, printed_by
from report_cases import PASSED, run_of

from dropcheck.report.formats import FORMATS
from dropcheck.report.json_report import run_json

TEXT = (TOP / "docs" / "reports.md").read_text(encoding="utf-8")


def test_the_page_s_commands_print_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    environment = prepare(tmp_path)
    tried = 0
    for block in blocks(TEXT):  # in one folder, in order: what one leaves the next one finds
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
            continue
        assert block.kind == "console"
        printed = printed_by(block, tmp_path, environment)
        for (line, shown), now in zip(block.commands, printed, strict=True):
            assert shown
            assert matches(shown, now), os.linesep.join([f"$ {line}", *now])
            tried += 1
    assert tried == 6


def test_the_page_has_a_row_for_every_format() -> None:
    for name, form in FORMATS.items():
        printed = f"`{name}`" if form.printed else ""
        written = f"`{form.ending}`" if form.ending else ""
        assert f"| {printed} | {written} | {form.purpose} |".replace("|  |", "| |") in TEXT


def test_the_page_names_every_key_of_a_case_in_json() -> None:
    section = TEXT.partition("## JSON")[2].partition("\n## ")[0]
    (case,) = json.loads(run_json(run_of(PASSED)))["cases"]
    assert [key for key in case if f"`{key}`" not in section] == []
