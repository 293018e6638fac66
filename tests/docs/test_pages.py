"""The README and the pages: what they show is what happens, and what they name is there.

Draws have fixed seeds, so that no false alarm is possible on the machine where the outputs were
made; elsewhere a last printed digit could differ only by arithmetic that differs.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from page_tables import filled
from readme_blocks import PAGES, README, TOP, Block, blocks, matches, prepare, walked

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.cli import main
from dropcheck.language.check import check_registry
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

CONTRIBUTING = TOP / "CONTRIBUTING.md"
ALL = [*PAGES, CONTRIBUTING]
TEXTS = {page.name: page.read_text(encoding="utf-8") for page in ALL}
BLOCKS = [(page.name, block) for page in ALL for block in blocks(TEXTS[page.name])]
pages = pytest.mark.parametrize("page", ALL, ids=lambda page: page.stem)


# ---- what is shown is what happens --------------------------------------------------------------


def differences(text: str, folder: Path) -> list[str]:
    """The commands of a page that print something else than it shows, with what they print."""
    reader = folder / "reader"
    reader.mkdir()
    return [
        "\n".join([f"$ {line}", *now])
        for block, printed in walked(text, reader, prepare(folder / "beside"))
        for (line, shown), now in zip(block.commands, printed, strict=True)
        if not matches(shown, now)
    ]


@pages
def test_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    hint = "python tests/helpers/readme_blocks.py writes today's output into the pages"
    assert differences(TEXTS[page.name], tmp_path) == [], hint


def written_in(picture: Path) -> list[str]:
    root = ElementTree.fromstring(picture.read_bytes())
    return ["".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")]


def test_pictures_are_those_that_commands_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["dropcheck run first.yaml -o first.svg"]
    for page, block in BLOCKS:
        if (page, block.file) == ("README.md", "first.yaml"):
            Path("first.yaml").write_text(block.text, encoding="utf-8")
        if block.kind == "console":
            lines += [line for line, _ in block.commands if line.endswith(".svg")]
    shown = [
        name for text in TEXTS.values() for name in re.findall(r"\]\((?:docs/)?(\w+\.svg)", text)
    ]
    assert sorted(shown) == ["cases.svg", "curve.svg", "first.svg"]
    for line in lines:
        main(shlex.split(line)[1:])
    for name in shown:  # other versions of matplotlib draw the same in other bytes
        assert written_in(Path(name)) == written_in(TOP / "docs" / name), name


def test_an_output_that_differs_is_seen(tmp_path: Path) -> None:
    page = "`x.yaml`:\n\n```yaml\n{}\n```\n\n```console\n$ cat x.yaml\n{}\n$ echo 1\n2\n```\n"
    assert differences(page, tmp_path) == ["$ echo 1\n1"]


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        (["x  verified"], ["x  refuted"]),
        (["x"], []),
        ([], ["x"]),
        (["…", "end"], ["begin", "other end"]),
        (["1 case · 2 s · seed 0"], ["1 case · 2 s · seed 1"]),
        (["a.b"], ["axb"]),
    ],
)
def test_comparison_sees_a_difference(shown: list[str], printed: list[str]) -> None:
    assert not matches(shown, printed)
    assert matches(["a", "…", "b · 12 s · c"], ["a", "x", "y", "b · 0.05 s · c"])


# ---- what is shown is sound ---------------------------------------------------------------------


def problem_of(block: Block) -> str:
    """What is wrong with a block, by its language: nothing where it is as it should be."""
    readers: dict[str, Callable[[str], object]] = {
        "json": json.loads,
        "toml": tomllib.loads,
        "yaml": yaml.safe_load,
    }
    try:
        if block.kind == "python":
            ast.parse(block.text)
        elif block.kind == "yaml" and re.search("^dropcheck: 1", block.text, re.MULTILINE):
            checked = check_registry(read_text(block.text))
            found = checked.problems + checked.notes
            return "" if bool(found) == ("with errors" in block.marker) else str(found)
        elif block.kind in readers:
            readers[block.kind](block.text)
    except (SyntaxError, ValueError, yaml.YAMLError) as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("page", "block"), [one for one in BLOCKS if not one[1].text.startswith("    ")]
)
def test_blocks_are_sound(page: str, block: Block) -> None:
    known = ("console", "yaml", "python", "sh", "json", "toml", "ini", "markdown", "latex", "text")
    assert block.kind in known, page
    assert problem_of(block) == ""


def test_a_block_with_an_error_is_seen() -> None:
    broken = {
        "json": "{,}",
        "python": "x =",
        "yaml": "dropcheck: 1\nclaims: {one: {title: One, claim: E(x) == 1}}\n",
    }
    assert all(problem_of(Block(kind, "", text, 0)) for kind, text in broken.items())


def verdicts_written(claims: Registry, text: str) -> dict[str, str]:
    """What the comment beside each statement of a file says, or else what it expects."""
    lines = text.splitlines()
    told = {}
    for claim in claims.claims.values():
        line, _ = claim.statement.locate(0, 0).position
        beside = re.search(r"# (verified|refuted)", lines[line])
        told[claim.id] = beside[1] if beside else claim.expect
    return told


@pytest.mark.parametrize("page", ["README.md", "language.md"])
def test_claims_have_the_verdict_that_is_written_beside_them(page: str) -> None:
    for name, block in BLOCKS:
        if name == page and block.text.startswith("dropcheck: 1"):
            registry = read_text(block.text)
            found: dict[str, set[str]] = {}
            for one in verify_cases(registry.expand(), Settings(), registry):
                found.setdefault(one.claim, set()).add(one.verdict)
            said = verdicts_written(registry, block.text)
            assert found == {name: {verdict} for name, verdict in said.items()}


# ---- what is named is there ---------------------------------------------------------------------


def prose(text: str) -> str:
    """A page without its blocks, and without what stands in code."""
    without = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", without)


def anchors(text: str) -> set[str]:
    """The headings of a page, as GitHub and the site link to them."""
    without = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", without, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", one).strip().lower().replace(" ", "-") for one in headings}


def leads_somewhere(page: Path, target: str) -> bool:
    """Whether the target of a link is elsewhere in the network, or a file or heading here."""
    if target.startswith("https://"):
        return True
    name, _, anchor = target.partition("#")
    path = page.parent / name if name else page
    return path.is_file() and (not anchor or anchor in anchors(path.read_text(encoding="utf-8")))


def broken_links(page: Path, text: str) -> list[str]:
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(text))
    return [target for target in targets if not leads_somewhere(page, target)]


@pages
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page, TEXTS[page.name]) == []


def test_a_link_that_leads_nowhere_is_seen() -> None:
    text = "[a](run.md) [b](run.md#exit-codes) [c](gone.md) [d](run.md#gone) `[f](gone.md)`"
    assert broken_links(TOP / "docs" / "code.md", text) == ["gone.md", "run.md#gone"]


def test_readme_links_to_every_page() -> None:
    named = [page.name for page in PAGES if page != README]
    assert [name for name in named if f"(docs/{name}" not in TEXTS["README.md"]] == []


@pages
def test_tables_are_what_the_program_says(page: Path) -> None:
    hint = "python tests/helpers/page_tables.py writes them"
    assert TEXTS[page.name] == filled(TEXTS[page.name]), hint


# ---- how long they are --------------------------------------------------------------------------


def test_pages_are_few_and_short() -> None:
    sizes = {name: len(text.encode()) for name, text in TEXTS.items()}
    assert len(sizes) <= 14  # the README, CONTRIBUTING and twelve pages
    assert sizes["README.md"] <= 6_000
    assert sizes["CONTRIBUTING.md"] <= 5_200
    assert sum(sizes.values()) <= 125_000, sizes
