"""The pages of docs/: what they show is what happens, and what they name is there.

Those that need more than the program, `pytest.md` and the like, have tests of their own; the links
of all are followed here. The draws behind the outputs have fixed seeds, as the README's.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from readme_blocks import PAGES, README, TOP, blocks, matches, prepare, walked

from dropcheck.claims.reader import read_text
from dropcheck.language.check import check_registry

ALL = sorted((TOP / "docs").glob("*.md"))
COMMANDS = ("run", "plan", "list", "show", "check", "mutate", "init", "schema")
LIMITS = (TOP / "docs" / "limits.md").read_text(encoding="utf-8")
# A parameter of a claim, which is an option of `run`.
OTHERS = {"--dk"}
# Options that the table on the page of `run` leaves to the lines above it, or to `--help`.
UNTOLD = {"--file", "--help", "--no-progress", "--tag"}


def differences(text: str, folder: Path) -> list[str]:
    """The commands of a page that print something else than it shows, with what they print."""
    return [
        "\n".join([f"$ {line}", *now])
        for block, printed in walked(text, folder, prepare(folder))
        for (line, shown), now in zip(block.commands, printed, strict=True)
        if not matches(shown, now)
    ]


def helped(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "dropcheck", *command, "--help"],
        cwd=TOP,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    return done.stdout


def prose(text: str) -> str:
    """A page without its blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def options(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))


def anchors(text: str) -> set[str]:
    """The headings of a page, as GitHub links to them."""
    headings = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", one).strip().lower().replace(" ", "-") for one in headings}


def leads_somewhere(page: Path, target: str) -> bool:
    """Whether the target of a link is elsewhere in the network, or a file or heading here."""
    if target.startswith("https://"):
        return True
    name, _, anchor = target.partition("#")
    path = page.parent / name if name else page
    return path.is_file() and (not anchor or anchor in anchors(path.read_text(encoding="utf-8")))


def broken_links(page: Path, text: str) -> list[str]:
    """The links of a page that lead nowhere."""
    shown = re.sub(r"`[^`\n]*`", "", prose(text))  # what stands in code is no link
    targets = re.findall(r"\]\(([^)\s]+)\)", shown)
    return [target for target in targets if not leads_somewhere(page, target)]


# ---- what is shown is what happens --------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_shows_what_its_commands_print(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert any(block.kind == "console" for block in blocks(text))
    hint = "python tests/helpers/readme_blocks.py writes today's output into the pages"
    assert differences(text, tmp_path) == [], hint


def test_an_output_that_differs_is_seen(tmp_path: Path) -> None:
    page = "`x.yaml`:\n\n```yaml\n{}\n```\n\n```console\n$ cat x.yaml\n{}\n$ echo 1\n2\n```\n"
    assert differences(page, tmp_path) == ["$ echo 1\n1"]


@pytest.mark.parametrize(
    "block",
    [block for block in blocks(LIMITS) if block.file is not None],
    ids=lambda block: block.file,
)
def test_files_on_limits_are_sound(block: object) -> None:
    assert hasattr(block, "text")
    assert hasattr(block, "file")
    assert check_registry(read_text(block.text)).problems == ()


# ---- what is named is there ---------------------------------------------------------------------


def test_every_command_has_its_page() -> None:
    told = re.findall(r"^  (\w+)  ", helped().partition("Commands:")[2], re.MULTILINE)
    assert tuple(told) == COMMANDS
    for name in told:
        text = (TOP / "docs" / f"{name}.md").read_text(encoding="utf-8")
        assert f"dropcheck {name}" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_options_that_a_page_names_are_its_command_s(name: str) -> None:
    text = (TOP / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert options(prose(text)) - options(helped(name)) - OTHERS == set()


def test_every_option_of_run_is_told() -> None:
    text = (TOP / "docs" / "run.md").read_text(encoding="utf-8")
    table = text[text.index("| option |") :]
    known = set(re.findall(r"^ [^.]*?(--[a-z][a-z-]+)", helped("run"), re.MULTILINE))
    assert len(known) > 20
    short = {"--file": "-f", "--fail-fast": "-x", "--output": "-o", "--quiet": "-q"}
    short |= {"--verbose": "-v"}
    assert {one for one in known if f"`{short.get(one, one)}" not in table} == UNTOLD


@pytest.mark.parametrize("page", [README, *ALL], ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page, page.read_text(encoding="utf-8")) == []


def test_a_link_that_leads_nowhere_is_seen() -> None:
    text = "[a](plan.md) [b](plan.md#budgets) [c](gone.md) [d](plan.md#gone) [e](https://x.org)"
    text += " `[f](gone.md)`"
    assert broken_links(ALL[0], text) == ["gone.md", "plan.md#gone"]


def test_readme_links_to_every_page() -> None:
    text = README.read_text(encoding="utf-8")
    assert [page.name for page in ALL if f"(docs/{page.name})" not in text] == []
