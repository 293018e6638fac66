"""Three rules of the house: imports go down, a file runs nothing, libraries come when needed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "dropcheck"

# From the ground up: a room imports only from rooms that stand before it.
ORDER = (
    *("processors", "errors", "reasons", "interrupt", "array_types", "settings"),
    *("packs", "vocabulary", "known", "results", "claims", "options", "language"),
    *("analysis", "documents", "simulation", "code", "inference", "execution"),
    *("judging", "running", "planning", "mutation", "report", "api"),
    *("pyproject", "cli_output", "cli", "pytest_claims", "__main__", "pytest_plugin"),
)
# The package offers these names where they are first asked for.
LAZY = {"__init__"}

# A claims file is data. Nothing runs text, and nothing but these opens files or starts processes.
RUNS_TEXT = {"__import__", "compile", "eval", "exec", "import_module"}
OPENS = {"open", "read_bytes", "read_text", "write_bytes", "write_text", "NamedTemporaryFile"}
STARTS = {"ctypes", "marshal", "multiprocessing", "pickle", "socket", "subprocess", "urllib"}
ALLOWED: Mapping[str, set[str]] = {
    "claims.yaml_places": {"open"},  # a claims file, as bytes
    # what ships beside the package
    "claims.reader": {"read_bytes"},
    "cli": {"open", "read_text"},  # what it writes to begin with, and the schema beside it
    "pyproject": {"read_text"},  # the defaults of a project
    "documents": {"read_bytes"},
    "report.html": {"read_text"},
    "processors": {"read_text"},  # how many processors a container may use
    "cli_output": {"NamedTemporaryFile", "open"},  # reports
    "report.reference": {"read_text"},  # the claims of an example, which it makes
    # code under test, by the names that its user gives on the command line
    "code.slots": {"import_module"},
    "execution.pool": {"multiprocessing", "multiprocessing.reduction"},
}

# Libraries that are imported at the top of a module, and by whom; all others where they are used.
AT_THE_TOP: Mapping[str, tuple[str, ...]] = {
    "numpy": (
        *("array_types", "vocabulary", "known", "language", "analysis", "simulation", "execution"),
        *("inference", "judging", "code", "packs", "report.reference"),
    ),
    "yaml": ("claims.yaml_places",),
    "pydantic": ("claims.claimsfile",),
    "typer": ("cli",),
    "rich": (),
    "torch": ("code.adapters.torch_adapter", "packs.implementations"),
    "jax": ("code.adapters.jax_adapter", "packs.implementations"),
    "pytest": ("pytest_claims", "pytest_plugin"),
}


@cache
def trees() -> Mapping[str, ast.Module]:
    """Every module of the package, by its name within it."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        inner = parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts
        found[".".join(inner)] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The modules that are imported; `from a import b` may mean the module a.b."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}".removeprefix("dropcheck.")
                yield f"dropcheck.{inner}" if inner in trees() else node.module


def upward(by: str, tree: ast.Module) -> list[str]:
    """The imports of a module that lead up, wherever in it they stand."""
    room = by.split(".", maxsplit=1)[0]
    found = []
    for name in imported(ast.walk(tree)):
        library, _, inner = name.partition(".")
        target = inner.split(".")[0] or "__init__"
        if library != "dropcheck" or target in {room, "__init__", "__version__"} or by in LAZY:
            continue
        if ORDER.index(target) >= ORDER.index(room):
            found.append(f"dropcheck.{by} imports {name}, which stands above it")
    return found


def untrusted(by: str, tree: ast.Module) -> list[str]:
    """What a module does that no text of a claims file may reach."""
    found = {name for name in imported(ast.walk(tree)) if name.split(".")[0] in STARTS}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and called.id in RUNS_TEXT | OPENS:
                found.add(called.id)
            if (
                isinstance(called, ast.Attribute)
                and called.attr in (RUNS_TEXT - {"compile"}) | OPENS
            ):
                found.add(called.attr)
    return [f"dropcheck.{by}: {name}" for name in sorted(found - ALLOWED.get(by, set()))]


def at_the_top(by: str, tree: ast.Module) -> list[str]:
    """The libraries that a module imports before they are needed."""
    return [
        f"dropcheck.{by} imports {name} at its top"
        for name in imported(tree.body)
        if name.split(".")[0] in LIBRARIES
        if not any(
            by == one or by.startswith(f"{one}.") for one in AT_THE_TOP.get(name.split(".")[0], ())
        )
    ]


LIBRARIES = {
    *("numpy", "scipy", "threadpoolctl", "typer", "rich", "markdown_it", "yaml", "pydantic"),
    *("matplotlib", "distributed", "dask", "pytest", "torch", "jax", "ml_dtypes"),
}
Rule = Callable[[str, ast.Module], list[str]]


@pytest.mark.parametrize("rule", [upward, untrusted, at_the_top])
def test_rule_holds(rule: Rule) -> None:
    assert [line for by, tree in trees().items() for line in rule(by, tree)] == []


def test_no_modules_import_one_another() -> None:
    known = {
        by: [name.removeprefix("dropcheck.") for name in imported(ast.walk(tree))]
        for by, tree in trees().items()
        if by not in LAZY
    }
    graph = {
        by: [name for name in names if name in known and name != by] for by, names in known.items()
    }
    tuple(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize(
    ("rule", "by", "source"),
    [
        (upward, "errors", "from dropcheck.results import Verdict"),
        (upward, "claims.reader", "def late():\n    from dropcheck.language.parser import parse"),
        (upward, "language.parser", "from dropcheck import report"),
        (untrusted, "language.parser", "eval('1')"),
        (untrusted, "claims.values", "open('x')"),
        (untrusted, "report.words", "path.write_text('x')"),
        (untrusted, "claims.values", "import pickle"),
        (untrusted, "cli", "def late():\n    from subprocess import run"),
        (at_the_top, "results", "import numpy"),
        (at_the_top, "claims.reader", "from rich.table import Table"),
        (at_the_top, "judging.case", "from scipy import stats"),
    ],
)
def test_rule_raises_the_alarm(rule: Rule, by: str, source: str) -> None:
    assert rule(by, ast.parse(source))
