"""The README and the pages: what they show is what happens, and what they name is there."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from page_tables import filled
from readme_blocks import PAGES, README, TOP, Block, blocks, command, matches, prepare, walked
from report_cases import PASSED, run_of

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Registry
from dropcheck.cli import main
from dropcheck.cli_output import ExitCode
from dropcheck.language.check import check_registry
from dropcheck.reasons import Reason
from dropcheck.report import Report
from dropcheck.report.formats import FORMATS, json_report
from dropcheck.results import Guarantee
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

CONTRIBUTING, TUTORIAL = TOP / "CONTRIBUTING.md", TOP / "docs" / "tutorial.md"
ALL = [*PAGES, CONTRIBUTING]
TEXTS = {page.name: page.read_text(encoding="utf-8") for page in ALL}
BLOCKS = [(page.name, block) for page in ALL for block in blocks(TEXTS[page.name])]
pages = pytest.mark.parametrize("page", ALL, ids=lambda page: page.stem)


# ---- what is shown is what happens --------------------------------------------------------------


def differences(steps: list[tuple[Block, list[list[str]]]]) -> list[str]:
    """The commands of a page that print something else than it shows, with what they print."""
    return [
        "\n".join([f"$ {line}", *now])
        for block, printed in steps
        for (line, shown), now in zip(block.commands, printed, strict=True)
        if not matches(shown, now)
    ]


HINT = "python tests/helpers/readme_blocks.py writes today's output into the pages"


@pytest.mark.parametrize(
    "page", [page for page in ALL if page != TUTORIAL], ids=lambda one: one.stem
)
def test_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    (folder := tmp_path / "reader").mkdir()
    steps = walked(TEXTS[page.name], folder, prepare(tmp_path / "beside"))
    assert differences(steps) == [], HINT


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


TUTORIAL_TEXT = TUTORIAL.read_text(encoding="utf-8")
WITH_GIT = pytest.mark.skipif(
    shutil.which("git") is None or os.name == "nt", reason="the tutorial is for git and a shell"
)


@dataclass(frozen=True)
class Reader:
    """The repository that one has after reading, and what a reader's shell has."""

    repository: Path
    environment: dict[str, str]
    differences: list[str]

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=self.repository,
            env={**self.environment, **more},
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    folder = tmp_path_factory.mktemp("tutorial")
    environment = prepare(folder / "beside")
    repository = folder / "paper"
    repository.mkdir()
    steps = walked(TUTORIAL_TEXT, repository, environment)
    return Reader(repository, environment, differences(steps))


@WITH_GIT
def test_the_tutorial_prints_what_is_shown(reader: Reader) -> None:
    assert reader.differences == [], HINT


@WITH_GIT
def test_repository_is_clean_and_the_hook_let_no_slip_in(reader: Reader) -> None:
    assert reader.run("git", "status", "--porcelain").stdout == ""
    assert len(reader.run("git", "log", "--format=%s").stdout.splitlines()) == 2
    assert "normall" not in reader.run("git", "log", "--patch").stdout
    assert set(reader.run("git", "ls-files").stdout.split()) == {
        ".github/workflows/gate.yml",
        ".pre-commit-config.yaml",
        "claims.schema.json",
        "claims.yaml",
        "pytest.ini",
    }


def last_step() -> str:
    """The command of the workflow's last step, behind those that set up the machine."""
    [text] = [
        block.text for block in blocks(TUTORIAL_TEXT) if block.file == ".github/workflows/gate.yml"
    ]
    found = yaml.safe_load(text)
    # `on` is a truth value by the rules of YAML 1.1, which this reader follows
    assert set(found["on" if "on" in found else True]) == {"push", "pull_request"}
    *_, install, step = found["jobs"]["claims"]["steps"]
    assert install["run"].startswith("pip install ")
    return str(step["run"])


@WITH_GIT
@pytest.mark.parametrize(
    ("old", "new", "code", "told"),
    [
        ("", "", 0, "5 cases: 5 passed"),
        ("sd / sqrt(n)\n  mean", "sd / n\n  mean", 1, "::error file=claims.yaml,line=4,col=3"),
        ("normal(", "normall(", 2, "did you mean 'normal'?"),
        ("normal(10, sd)[n]\n    claim", "student_t(2)[n]\n    claim", 4, "undecided"),
    ],
    ids=["true", "false", "slip", "undecided"],
)
def test_the_gate_opens_for_what_holds_alone(
    reader: Reader, tmp_path: Path, old: str, new: str, code: int, told: str
) -> None:
    work = tmp_path / "work"
    shutil.copytree(reader.repository, work)
    text = (work / "claims.yaml").read_text(encoding="utf-8")
    assert old in text
    (work / "claims.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    summary = tmp_path / "summary"
    done = Reader(work, reader.environment, []).run(
        *("bash", "-euo", "pipefail", "-c", last_step()),
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(summary),
        GITHUB_WORKSPACE=str(work),
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert told in done.stdout + done.stderr
    assert ("::error" in done.stdout + done.stderr) == (code != 0)
    assert code == 2 or "mean-spread" in summary.read_text(encoding="utf-8")


PAGE_TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in (TOP / "docs").glob("*.md")}
README_TEXT = README.read_text(encoding="utf-8")
COMMANDS = ("run", "plan", "list", "show", "check", "mutate", "init", "schema")
# What a page names that is a parameter of a claim, or an option of another program.
OTHERS = {
    "--dk",
    "--p",
    "--n",
    "--from",
    "--lf",
    "--junitxml",
    "--install-completion",
    "--processes",
}


@cache
def helped(*words: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main([*words, "--help"]) == 0
    return printed.getvalue()


def rows(text: str, header: str) -> list[str]:
    """The first cell of each row of the table that begins so."""
    table = text[text.index(header) :].split("\n\n", maxsplit=1)[0].splitlines()
    return [line.split("|")[1].strip().strip("`") for line in table[2:]]


def test_every_command_and_no_other_is_named() -> None:
    assert [
        name for name in COMMANDS if not re.search(rf"^\W*{name}\b", helped(), re.MULTILINE)
    ] == []
    named = {
        word
        for text in [README_TEXT, *PAGE_TEXTS.values()]
        for word in re.findall(r"`dropcheck ([a-z]+)", text)
    }
    assert named == set(COMMANDS)


def test_every_option_that_is_named_is_there() -> None:
    known = "".join(map(helped, COMMANDS))
    for name, text in [("README", README_TEXT), *PAGE_TEXTS.items()]:
        shown = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        named = set(re.findall(r"`(?:dropcheck [^`]*?)?(--[a-z][a-z-]+)", shown)) - OTHERS
        assert {one for one in named if one not in known} == set(), name


def test_every_exit_code_and_guarantee_has_its_row() -> None:
    assert rows(PAGE_TEXTS["run"], "| code |") == [str(int(code)) for code in ExitCode]
    assert rows(PAGE_TEXTS["statistics"], "| guarantee |") == [one.value for one in Guarantee]


def test_every_format_has_its_row() -> None:
    table = PAGE_TEXTS["reports"].partition("| `--format` |")[2].partition("\n\n")[0]
    for name, form in FORMATS.items():
        assert f"`{form.ending or name}`" in table, name


def test_the_page_names_every_key_of_a_case_in_json() -> None:
    section = PAGE_TEXTS["reports"].partition("## JSON")[2].partition("\n## ")[0]
    (case,) = json.loads(json_report(Report(run_of(PASSED), Registry("claims.yaml", {}, {}))))[
        "cases"
    ]
    assert [key for key in case if f"`{key}`" not in section] == []


def test_commands_to_install_are_one_line_and_the_ones_that_ci_runs() -> None:
    script = TOP / ".ci" / "run"
    assert script.stat().st_mode & stat.S_IXUSR
    for name, end in (("run", ".venv/bin/dropcheck run all"), ("test", "-m pytest -q -n auto")):
        line = command(README_TEXT, f"install and {name}")
        assert line.startswith("python3 -m venv .venv && .venv/bin/pip install -q ")
        assert line.endswith(end)
        assert f'"install and {name}"' in script.read_text(encoding="utf-8")


def test_reasons_are_those_of_the_program() -> None:
    said = [one.sentence for one in Reason]
    told = rows(PAGE_TEXTS["statistics"], "| reason |")
    assert len(told) == 8
    assert [one for one in told if not any(one in sentence for sentence in said)] == []
