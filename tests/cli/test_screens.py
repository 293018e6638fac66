"""Narrow and poor terminals: no screen loses a code, an id or a number."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from terminals import POSIX, PROGRAM, environment, run

pytestmark = POSIX

WORDY = """\
dropcheck: 1
documents: {notes: {title: 'Notes — “α ≤ β”, 日本語', date: 2024-02-13}}
claims:
  variance-of-a-scaled-product-of-two:
    title: 'The variance σ² is ≤ 1 — “exactly” 日本語, whatever the law'
    document: notes
    section: Größe
    tags: [größe, x]
    note: It is √n · σ, and a note goes on for longer than any narrow terminal is wide.
    parameters: {number_of_terms: [12345, 0.25], law: 'student_t(5)'}
    model: |
      x ~ law
      y = 12345678 + number_of_terms * x
    claim: E(y) == 12345678 * 1.0000001
    tolerance: 0.25
  refuted:
    title: Zero is 12345
    model: x ~ normal(0, 1)
    claim: E(x) == 12345
"""
COMMANDS = {
    "run": ["run", "--max-draws", "2e4"],
    "list": ["list"],
    "show": ["show", "*"],
    "check": ["check"],
    "plan": ["plan", "--max-draws", "2e4"],
    "mutate": ["mutate", "--max-draws", "2e4", "--verbose"],
}
SCREENS: dict[str, dict[str, str]] = {
    "40 columns": {"COLUMNS": "40"},
    "a dumb terminal": {"TERM": "dumb"},
    "no colour": {"NO_COLOR": "1"},
    "no colour where it is forced": {"NO_COLOR": "1", "FORCE_COLOR": "1"},
    "forced colour": {"FORCE_COLOR": "1", "COLUMNS": "60"},
    "ASCII": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "ASCII by name": {"PYTHONIOENCODING": "ascii", "COLUMNS": "40"},
    "Western Windows": {"PYTHONIOENCODING": "cp1252"},
    "an old console": {"PYTHONIOENCODING": "cp437", "COLUMNS": "80"},
}
# All commands in one process: its start takes longer than they do.
PROBE = """\
import json, sys
from dropcheck.cli import main
for arguments in json.loads(sys.argv[1]):
    code = main(arguments)
    print(f"<<exit {int(code)}>>", flush=True)
"""
HEADINGS = {"claim", "note"}  # small blocks have none where there is nothing to say
EXACT = {"12345678"}  # exact values are shown where there is room
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
TIMES = re.compile(r"\d[\d.]*\s+(?:ms|s|min)\b")  # differ from run to run
TOKENS = re.compile(r"[A-Za-z0-9][\w.+-]*[A-Za-z0-9]")


def screens(folder: Path, more: Mapping[str, str]) -> dict[str, tuple[int, str]]:
    """The exit code of each command, and what it prints, on such a screen."""
    (folder / "claims.yaml").write_text(WORDY, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(list(COMMANDS.values()))],
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        timeout=120,
        check=False,
    )
    told = done.stdout.decode(more.get("PYTHONIOENCODING", "utf-8"))
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert done.returncode == 0, done.stderr.decode()
    parts = re.split(r"<<exit (\d+)>>\s", told)
    texts, codes = parts[:-1:2], parts[1::2]
    found = zip(COMMANDS, codes, texts, strict=True)
    return {name: (int(code), text) for name, code, text in found}


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    return screens(tmp_path_factory.mktemp("wide"), {"COLUMNS": "400"})


def tokens(text: str) -> set[str]:
    """Ids, numbers and words: what must be found whole on any screen."""
    plain = TIMES.sub("", COLOURS.sub("", text))
    return {token for token in TOKENS.findall(plain) if token.isascii()}


@pytest.mark.parametrize("screen", SCREENS)
def test_no_screen_loses_a_code_an_id_or_a_number(
    screen: str, tmp_path: Path, wide: dict[str, tuple[int, str]]
) -> None:
    assert wide["run"][0] == 1
    for name, (code, text) in screens(tmp_path, SCREENS[screen]).items():
        expected_code, expected = wide[name]
        if name in ("run", "plan", "mutate"):
            # columns leave a narrow table, where long ids are folded; below it, what did not pass
            # stands in full
            assert "variance-of-a-" in text
            expected = expected.partition("\n\n")[2]
        assert code == expected_code, text
        assert "variance-of-a-scaled-product-of-two" in text or name not in ("list", "show")
        lost = tokens(expected) - tokens(text) - HEADINGS - EXACT
        assert lost == set(), (name, text)
        if screen.startswith("ASCII"):
            assert text.isascii()
        if screen != "forced colour":
            assert "\x1b" not in text
        else:
            assert name == "check" or "\x1b[" in text


@pytest.mark.parametrize("columns", [40, 80])
def test_the_command_that_repeats_a_case_is_on_one_line(columns: int, folder: Path) -> None:
    (folder / "claims.yaml").write_text(WORDY.replace("tolerance: 0.25", ""), encoding="utf-8")
    done = run(folder, "run", "--max-draws", "20000", COLUMNS=str(columns))
    lines = done.stdout.decode().splitlines()
    commands = [line.split("repeat", 1)[1].strip() for line in lines if "dropcheck run" in line]
    assert len(commands) >= 1
    for command in commands:
        assert "--seed 0" in command
        again = subprocess.run(
            ["sh", "-c", command.replace("dropcheck", " ".join(PROGRAM), 1)],
            cwd=folder,
            env=environment(),
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert again.returncode == done.returncode == 1
