"""Imports only go down, and each outside library has its own place: read from the source itself."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from inspect import ismodule

import pytest
import typer
from sources import trees

FLOORS = {
    # ground: plain data that every floor may use
    "__init__": 0,
    "errors": 0,
    "interrupt": 0,
    "packs": 0,  # claims files that ship, and functions of frameworks that call nothing here
    "processors": 0,
    "reasons": 0,
    "records": 0,
    "results": 0,
    "settings": 0,
    # words and files
    "array_types": 1,
    "vocabulary": 1,
    "claims": 1,
    "options": 2,
    # text to graph, and what is known of a graph before any draw
    "language": 2,
    "documents": 3,
    "analysis": 3,
    # graph to program to block sums
    "simulation": 4,
    "execution": 5,
    # block sums to a verdict
    "inference": 5,
    "judging": 6,
    "running": 7,
    "planning": 7,
    # code under test, which frameworks and functions of the user are called by
    "code": 8,
    "mutation": 8,
    # results to text, and the ways in
    "report": 9,
    "cli": 10,
    "api": 10,
    "pytest_claims": 11,
    "pytest_functions": 11,
    "pytest_plugin": 11,
    "__main__": 11,
}
# Between parts of one floor nothing is imported but this; None stands for anything.
SIDEWAYS: dict[tuple[str, str], set[str] | None] = {
    # what is frozen is a record everywhere
    **{(part, "records"): None for part in ("errors", "reasons", "results", "settings")},
    # a result says where its claim stands
    ("results", "errors"): None,
    ("packs", "errors"): None,
    # and why it is undecided
    ("results", "reasons"): None,
    # rules of words are about arrays of numbers
    ("vocabulary", "array_types"): None,
    # a run keeps the settings that it was made with
    ("results", "settings"): None,
    ("settings", "processors"): None,
    # what the package itself offers is imported when it is first asked for
    ("__init__", "errors"): None,
    ("__init__", "results"): None,
    ("__init__", "api"): None,
    ("__init__", "code"): {"dropcheck.code.decorator"},
    # what pytest imports at every start calls for the rest where it is used
    ("pytest_plugin", "pytest_claims"): None,
    ("pytest_plugin", "pytest_functions"): None,
    # tests of functions are tests of claims
    ("pytest_functions", "pytest_claims"): None,
}
# Between these parts, whatever their floors, only what is named is imported: the door of a room.
DOORS: dict[tuple[str, str], set[str]] = {
    # texts in the language know where in the file they stood; names and values are as in the file,
    # and a parameter may be a slip of one of its keys
    ("language", "claims"): {
        "dropcheck.claims.claimsfile",
        "dropcheck.claims.registry",
        "dropcheck.claims.values",
    },
    # what judges, plans or repeats a case knows of a program what its room names for it
    **{
        (part, "simulation"): {"dropcheck.simulation"}
        for part in ("judging", "running", "planning", "mutation")
    },
}
# All that judging and planning read of a program: the door's own page lists it.
PROGRAM = {
    *("calls_own_code", "cost", "sampling", "combined", "rarest", "shared", "unit_draws", "clips"),
    *(
        "terms",
        "sums_about",
        "span_draws",
        "span_values",
        "span_blocks",
        "block_draws",
        "calls",
        "declared",
        "fewest_planned",
        "fitted",
        "in_blocks",
        "in_blocks_of",
    ),
    *("origin", "centres", "finite", "span"),
    *("columns", "tests_code", "whole"),
}
# Every library that is not Python's own, and the only parts of the package that import it.
LIBRARIES = {
    "numpy": (
        *("vocabulary", "language", "analysis", "simulation", "execution"),
        *("inference", "judging", "planning", "code"),
        *("array_types", "packs.implementations"),
    ),
    "torch": ("code.adapters.torch_adapter", "packs.implementations"),
    "jax": ("code.adapters.jax_adapter", "packs.implementations"),
    "ml_dtypes": ("code.adapters.numpy_adapter",),
    "scipy": ("vocabulary",),
    "threadpoolctl": ("execution.pool",),
    "distributed": ("execution.pool",),
    "yaml": ("claims.yaml_places",),
    "yamlcore": ("claims.yaml_places",),
    "typer": ("cli",),
    "rich": ("report",),
    "markdown_it": ("documents.markdown_source",),
    "_pytest": ("pytest_claims",),
    "pytest": ("pytest_claims", "pytest_functions", "pytest_plugin"),
    "matplotlib": ("report.pictures",),
}
# The one exception: pytest offers no other way to the lines of its summary.
PRIVATE = {"_pytest"}
# A claims file is data: nothing of these could run it, and nothing else is touched.
FORBIDDEN_MODULES = {
    "asyncio", "code", "codeop", "ctypes", "ftplib", "http", "marshal", "multiprocessing", "pickle",
    "pty", "runpy", "shelve", "smtplib", "socket", "ssl", "subprocess", "urllib",
}  # fmt: skip
FORBIDDEN_CALLS = {"__import__", "compile", "eval", "exec", "execfile", "globals", "setattr"}
# What may import by name, from its own table, and what may open a file, to read or to write.
BY_NAME = {"report.formats"}
# code under test is imported by the names that its user gives, and its framework with it
BY_NAME |= {"code.targets", "code.implementations"}
OPENERS = {"open", "read_bytes", "read_text", "write_bytes", "write_text", "NamedTemporaryFile"}
# and those that read what ships beside them
FILES = {"claims.yaml_places", "cli.output", "processors"}
FILES |= {"code.tables"}  # pyproject.toml
FILES |= {"cli.inspect_commands", "report.html"}
# What may start processes, for what the interpreter's lock would hold up.
PROCESSES = {"execution.pool"}
# Who works at the same time as whom is for `execution/` to know; Ctrl-C is the main thread's, and
# the program starts with it.
CONCURRENT = {"threading", "concurrent", "queue"}
MAY_BE_CONCURRENT = ("execution.", "interrupt", "api", "__main__")
# What makes generators of random numbers: the streams, and the one draw of what is not random.
GENERATORS = {"default_rng", "Generator", "SFC64"}
# the analysis makes one draw, to see what fails in every draw, and picks points to tell quotients
MAKES_GENERATORS = {"simulation.streams", "judging.judge", "analysis.undefined"}
MAKES_GENERATORS |= {"analysis.fewer_draws.normal_noise"}
# code under test has sources of its own, seeded from the streams
MAKES_GENERATORS |= {"code.adapters.numpy_adapter", "code.adapters.torch_adapter"}


@dataclass(frozen=True)
class Import:
    """One module that a module imports."""

    by: str  # within the package: "simulation.blocks"
    name: str  # in full: "numpy.typing", "dropcheck.results"
    line: int

    def __str__(self) -> str:
        return f"dropcheck.{self.by}, line {self.line}: imports {self.name}"


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the package by its name within it."""
    found = {}
    for path, tree in trees().items():
        parts = path.with_suffix("").parts
        inner = parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts
        found[".".join(inner)] = tree
    return found


def imports_of(by: str, tree: ast.Module) -> Iterator[Import]:
    """What a module imports, wherever in it; `from a import b` may mean the module a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(by, alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"dropcheck.{by}, line {node.lineno}: imports are in full"
            module = node.module or ""
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                is_module = module == "dropcheck" or inner.removeprefix("dropcheck.") in modules()
                is_module |= inner == "scipy.special"
                yield Import(by, inner if is_module else module, node.lineno)


def upward(found: Import) -> str | None:
    """What is wrong with where an import within the package leads, if anything is."""
    if found.name.split(".")[0] != "dropcheck":
        return None
    target = found.name.removeprefix("dropcheck").lstrip(".")
    if target == "__version__" or not target:
        target = "__init__"
    source, part = found.by.split(".")[0], target.split(".")[0]
    door = DOORS.get((source, part))
    if door is not None and found.name not in door:
        return f"{found}, beside the door of {part}"
    if source == part or FLOORS[part] < FLOORS[source]:
        return None
    allowed = SIDEWAYS.get((source, part), set())
    if allowed is None or found.name in allowed:
        return None
    return f"{found}, from floor {FLOORS[source]} on floor {FLOORS[part]}"


def misplaced(found: Import) -> str | None:
    """What is wrong with the library that an import names, if anything is."""
    library = found.name.split(".")[0]
    if library == "dropcheck":
        return None
    if library in sys.stdlib_module_names:
        if library in CONCURRENT and not found.by.startswith(MAY_BE_CONCURRENT):
            return str(found)
        allowed = library == "multiprocessing" and found.by in PROCESSES
        return str(found) if library in FORBIDDEN_MODULES and not allowed else None
    if library == "scipy" and found.name != "scipy.special":
        return f"{found}, and of scipy only scipy.special is used"
    homes = LIBRARIES.get(library, ())
    at_home = any(found.by == home or found.by.startswith(f"{home}.") for home in homes)
    return None if at_home else str(found)


def dangerous(by: str, tree: ast.Module) -> Iterator[str]:
    """Calls that could run what a file says, or touch files where none should be."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.id if isinstance(called, ast.Name) else ""
        attribute = called.attr if isinstance(called, ast.Attribute) else ""
        bad = name in FORBIDDEN_CALLS
        bad |= attribute in GENERATORS and by not in MAKES_GENERATORS
        bad |= "import_module" in (name, attribute) and by not in BY_NAME
        bad |= bool({name, attribute} & OPENERS) and by not in FILES and not _is_ours(called)
        if bad:
            yield f"dropcheck.{by}, line {node.lineno}: calls {name or attribute}"


def _is_ours(called: ast.expr) -> bool:
    """`read_bytes(…)` by its bare name is our own function, in the module that may open files."""
    return isinstance(called, ast.Name) and called.id in ("read_bytes", "read_text")


def private(by: str, tree: ast.Module) -> Iterator[str]:
    """Names of outside libraries that these keep to themselves, which may change at any time."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "typer":
            names = [f"typer.{node.attr}"]
        elif isinstance(node, ast.Attribute) and by.startswith("cli."):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            names = [] if own else [node.attr]
        for name in names:
            library, *_ = parts = name.split(".")
            hidden = any(part.startswith("_") and not part.endswith("__") for part in parts)
            # typer documents what it offers at its top, and none of its modules
            hidden |= library == "typer" and ismodule(getattr(typer, "".join(parts[1:2]), None))
            if hidden and library not in ("dropcheck", "__future__") and library not in PRIVATE:
                yield f"dropcheck.{by}: uses {name}"


def findings_in(by: str, source: str) -> list[str]:
    """What all three rules say of a module that has this source."""
    tree = ast.parse(source)
    found = list(imports_of(by, tree))
    told = [*map(upward, found), *map(misplaced, found), *dangerous(by, tree), *private(by, tree)]
    return [line for line in told if line is not None]


@cache
def all_imports() -> tuple[Import, ...]:
    """What all modules import."""
    return tuple(found for by, tree in modules().items() for found in imports_of(by, tree))


def test_every_part_of_the_package_has_its_floor() -> None:
    assert {name.split(".")[0] for name in modules()} - set(FLOORS) == set()


def test_imports_only_go_down() -> None:
    assert [line for line in map(upward, all_imports()) if line] == []


def program_members(tree: ast.Module) -> set[str]:
    """What a module reads of values that are called a program."""
    names = ("program", "whole", "strict")
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and (getattr(node.value, "id", None) in names or getattr(node.value, "attr", "") in names)
    }


def test_judging_and_planning_use_a_program_by_its_protocol_alone() -> None:
    read: set[str] = set()
    for by, tree in modules().items():
        if by.split(".")[0] in ("judging", "planning"):
            read |= program_members(tree)
    assert read == PROGRAM
    page = ast.get_docstring(modules()["simulation"]) or ""
    assert {name for name in PROGRAM if f"`{name}`" not in page} == set()


def test_a_member_beside_the_protocol_is_seen() -> None:
    tree = ast.parse("program.steps\ncounted.program.size\nprogramme.other")
    assert program_members(tree) == {"steps", "size"}


def circle(sources: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Modules that import one another in a ring; none where there is no ring.

    Args:
        sources: what each module imports, wherever in it.
    """
    try:
        tuple(TopologicalSorter(sources).static_order())
    except CycleError as error:
        ring: list[str] = error.args[1]
        return tuple(ring)
    return ()


def test_no_modules_import_one_another() -> None:
    known = {
        module: [
            name
            for found in imports_of(module, tree)
            if (name := found.name.removeprefix("dropcheck.")) in modules()
        ]
        for module, tree in modules().items()
        if module != "__init__"  # which offers names that are imported when they are asked for
    }
    assert not circle(known)


def test_a_ring_of_modules_is_found() -> None:
    assert set(circle({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]})) == {"a", "b", "c"}


def test_every_library_is_imported_at_its_place_only() -> None:
    assert [line for line in map(misplaced, all_imports()) if line] == []


def test_nothing_runs_text_and_few_modules_open_files() -> None:
    assert [line for by, tree in modules().items() for line in dangerous(by, tree)] == []


def test_outside_libraries_are_used_by_what_they_document() -> None:
    assert [line for by, tree in modules().items() for line in private(by, tree)] == []


def test_the_ground_floor_and_the_claims_need_no_numpy() -> None:
    places = {place for place, floor in FLOORS.items() if floor == 0} | {"claims"}
    checked = [found for found in all_imports() if found.by.split(".")[0] in places]
    checked = [one for one in checked if not one.by.startswith("packs.implementations")]
    assert {found.by.split(".")[0] for found in checked} >= {"errors", "claims"}
    for found in checked:
        assert found.name.split(".")[0] not in ("numpy", "scipy"), str(found)


# ---- the rules themselves find what they are for ------------------------------------------------


@pytest.mark.parametrize(
    ("by", "source"),
    [
        ("errors", "from dropcheck.results import Verdict\nfrom dropcheck import running"),
        ("claims.reader", "from dropcheck.language.parser import parse"),
        ("language.parser", "from dropcheck.claims.reader import read_registry"),
        ("language.parser", "from dropcheck.claims import reader"),
        ("inference.region", "def f():\n    import dropcheck.report.terminal.run_table"),
        ("judging.case", "from dropcheck.running import run_claim_case"),
        ("simulation.blocks", "from dropcheck.inference import interval"),
        ("judging.look", "from dropcheck.simulation.program import Step"),
        ("planning", "from dropcheck.simulation import blocks"),
        ("report.terminal.run_table", "from dropcheck.cli.output import emit"),
        ("errors", "import numpy"),
        ("claims.reader", "import numpy as np"),
        ("report.terminal.run_table", "from numpy import ndarray"),
        ("vocabulary.special", "from scipy import stats"),
        ("vocabulary.special", "from scipy.stats import norm"),
        ("vocabulary.special", "import scipy"),
        ("inference.intervals", "from scipy import special"),
        ("claims.reader", "import yaml"),
        ("claims.reader", "from pydantic import BaseModel"),
        ("report.terminal.run_table", "import typer"),
        ("cli.typer_app", "import click"),
        ("cli.inspect_commands", "from rich.console import Console"),
        ("cli.inspect_commands", "import pandas"),
        ("cli.typer_app", "from typer import _click"),
        ("cli.typer_app", "from typer._click.core import Command"),
        ("cli.typer_app", "import typer._completion_shared"),
        ("cli.typer_app", "from typer.core import TyperGroup"),
        ("cli.typer_app", "app._add_completion"),
        ("cli.typer_app", "typer.main.get_command(app)"),
        ("claims.yaml_places", "import pickle"),
        ("cli.run_command", "from subprocess import run"),
        ("judging.judge", "import threading"),
        ("running", "from concurrent.futures import ThreadPoolExecutor"),
        ("inference.intervals", "numbers = np.random.default_rng(0).normal(size=3)"),
        ("execution.schedule", "import multiprocessing"),
        ("language.parser", "eval('1')"),
        ("language.parser", "compile('1', '', 'eval')"),
        ("claims.values", "open('x')"),
        ("report.terminal.run_table", "path.write_text('x')"),
        ("simulation.blocks", "importlib.import_module('os')"),
    ],
)
def test_rule_raises_the_alarm(by: str, source: str) -> None:
    assert findings_in(by, source)


@pytest.mark.parametrize(
    ("by", "source"),
    [
        ("claims.reader", "from dropcheck.errors import Problem\nimport re"),
        ("language.syntax", "from dropcheck.claims.registry import SourceText"),
        ("running", "from dropcheck.judging.case import CaseRun"),
        ("vocabulary.special", "from scipy import special\nimport numpy as np"),
        (
            "report.terminal.run_table",
            "from dropcheck import __version__\nfrom rich.console import Console",
        ),
        ("claims.values", "import re\nre.compile('x')"),
        ("cli.typer_app", "import typer\nself._made = typer.Typer(add_completion=True)"),
    ],
)
def test_rule_lets_pass_what_is_well(by: str, source: str) -> None:
    assert findings_in(by, source) == []
