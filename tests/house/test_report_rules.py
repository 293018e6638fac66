"""Reports show what was decided: they read it in results, not in statements or claims files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPORT = Path(__file__).parents[2] / "dropcheck" / "report"

# What every report may read: results, the ground, and how parameters are written in a claims file.
EVERYWHERE = (
    "report",
    "errors",
    "reasons",
    "records",
    "results",
    "claims.values",
    "__version__",
)
# What only these read, and why.
ELSEWHERE = {
    "__init__": {"claims.registry"},  # passed on to the reports below
    "github": {"claims.reader"},  # the name of the claims that ship, which are no file
    # a page quotes a claim in full: its model, its note, its document
    "html": {"claims.registry"},
    # `list`, `show` and `check` are about claims, before any result
    "terminal.claim_cards": {
        *("claims.registry", "judging", "language.compile", "planning"),
        "code.columns",  # which slots a claim calls
    },
    "pictures.curve": {"claims.registry"},  # whether a selection of cases makes a curve
    # reports of other commands, of their own results
    "command_json": {"claims.registry", "mutation", "planning"},
    "terminal.mutation_table": {"mutation"},
    "terminal.document_tables": {"documents.new_figures"},
    "terminal.plan_table": {"planning"},
}
# What takes texts apart: a statement must not be read by it. A name in HTML may.
TEXT_TOOLS = {
    "html": "an id from a claim's name",
    "junit": "characters that XML may not hold",
    "markdown": "characters that Markdown gives a meaning",
    "terminal.screen": "characters that command a terminal",
}


def modules() -> Iterator[tuple[str, str]]:
    for path in sorted(REPORT.rglob("*.py")):
        parts = path.relative_to(REPORT).with_suffix("").parts
        yield ".".join(parts), path.read_text(encoding="utf-8")


def breaches(by: str, source: str) -> list[str]:
    """What a report module imports, or takes apart, that it should read in results."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names]
        for name in names:
            if name == "re" and by not in TEXT_TOOLS:
                found.append(f"{by}: takes texts apart by {name}")
            if not name.startswith("dropcheck."):
                continue
            inner = name.removeprefix("dropcheck.")
            allowed = (*EVERYWHERE, *ELSEWHERE.get(by, ()))
            if not any(inner == one or inner.startswith(f"{one}.") for one in allowed):
                found.append(f"{by}: imports {name}")
    return found


def test_reports_read_what_was_decided_in_results() -> None:
    assert [line for by, source in modules() for line in breaches(by, source)] == []


def test_every_exception_is_of_use() -> None:
    sources = dict(modules())
    for by, names in ELSEWHERE.items():
        for name in names:
            assert f"from dropcheck.{name}" in sources[by], (by, name)
    for by in TEXT_TOOLS:
        assert "import re\n" in sources[by]


@pytest.mark.parametrize(
    ("by", "source"),
    [
        ("phrases", "from dropcheck.language.parser import parse_statement"),
        ("phrases", "from dropcheck.claims.registry import Claim"),
        ("phrases", "import re"),
        ("pictures.__init__", "from dropcheck.inference.region import widening"),
        ("pictures.__init__", "def f():\n    from dropcheck.judging import judge"),
        ("terminal.run_table", "import dropcheck.analysis.strategy"),
        ("csv_report", "from dropcheck import vocabulary"),
    ],
)
def test_the_rule_raises_the_alarm(by: str, source: str) -> None:
    assert breaches(by, source)


@pytest.mark.parametrize(
    ("by", "source"),
    [
        ("phrases", "from dropcheck.results import CaseResult"),
        ("phrases", "from dropcheck.claims import values"),
        ("junit", "import re\nfrom dropcheck import __version__"),
        ("terminal.claim_cards", "from dropcheck.judging.case import prepare"),
    ],
)
def test_the_rule_lets_pass_what_is_well(by: str, source: str) -> None:
    assert breaches(by, source) == []
