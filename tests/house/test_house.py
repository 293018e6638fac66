"""The house stays one that can be seen at a glance: names, sizes and how data is built."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from sources import PACKAGE, trees

MODULES = sorted(PACKAGE.rglob("*.py"))

MOST_IN_A_FOLDER = 15
RECORDS = "record", "dataclass"  # what makes one
MOST_POSITIONAL = 4
TYPE_NAME = re.compile(r"_?[A-Z]+[a-z]\w*")
CONSTANT_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
# words that formulas in LaTeX are read by, and the functions that they stand for
WORDS = {"AND", "NOT", "OR"}
# each of these modules stands alone, as a user's own code would: it imports nothing of the package
ALONE = Path("packs/implementations")


def doubled(names: Iterable[str]) -> list[str]:
    """The names that stand for more than one module."""
    counted = Counter(name for name in names if name != "__init__")
    return sorted(name for name, count in counted.items() if count > 1)


def class_names(tree: ast.Module) -> Iterator[str]:
    """Every class of a module, and its own capitalised names for types; no type variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "TypeVar":
            continue
        named = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (
            one.id for one in named if isinstance(one, ast.Name) and TYPE_NAME.fullmatch(one.id)
        )


def constants_imported(trees: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """The modules that each constant is imported from by others, of those that define it."""
    defined = {
        (module, name.id)
        for module, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for name in ast.walk(target)
        if isinstance(name, ast.Name) and CONSTANT_NAME.fullmatch(name.id)
    }
    found: dict[str, set[str]] = {}
    for tree in trees.values():
        for node in ast.walk(tree):
            for one in node.names if isinstance(node, ast.ImportFrom) else ():
                module = str(node.module)  # type: ignore[attr-defined]  # an import has one
                if (module, one.name) in defined:
                    found.setdefault(one.name, set()).add(module)
    return found


def module_name(path: Path) -> str:
    """What a module of the package is imported by."""
    parts = ("dropcheck", *path.with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def crowded(paths: Iterable[Path], most: int = MOST_IN_A_FOLDER) -> dict[str, int]:
    """The folders with more than so many modules, `__init__` apart."""
    counted = Counter(str(path.parent) for path in paths if path.stem != "__init__")
    return {folder: count for folder, count in counted.items() if count > most}


def field_counts(trees: Iterable[ast.Module]) -> dict[str, int]:
    """How many fields each record or dataclass has, by its name."""
    found = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any(
                kind in ast.unparse(one) for one in node.decorator_list for kind in RECORDS
            ):
                found[node.name] = sum(isinstance(one, ast.AnnAssign) for one in node.body)
    return found


def positional(tree: ast.Module, fields: dict[str, int]) -> Iterator[str]:
    """Calls that build a record of many fields by position."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        name = node.func.id
        by_place = len(node.args) + 9 * any(isinstance(one, ast.Starred) for one in node.args)
        if fields.get(name, 0) > MOST_POSITIONAL < by_place:
            yield f"line {node.lineno}: {name} is built from {len(node.args)} values by position"


def test_no_two_modules_share_a_name() -> None:
    assert doubled(path.stem for path in MODULES) == []


def test_no_two_classes_share_a_name() -> None:
    """Nor two names of types: who searches for one finds no other."""
    names = (class_names(tree) for path, tree in trees().items() if not path.is_relative_to(ALONE))
    counted = Counter(name for own in names for name in own)
    assert len(counted) > 500
    assert {name: count for name, count in counted.items() if count > 1} == {}


def test_no_constant_is_imported_by_one_name_from_two_modules() -> None:
    modules = {module_name(path): tree for path, tree in trees().items()}
    found = constants_imported(modules)
    assert len(found) > 200
    assert {
        name: sorted(of) for name, of in found.items() if len(of) > 1 and name not in WORDS
    } == {}
    assert found.keys() >= WORDS


def test_no_folder_is_crowded() -> None:
    assert crowded(path.relative_to(PACKAGE) for path in MODULES) == {}


def test_records_of_many_fields_are_built_by_keyword() -> None:
    fields = field_counts(trees().values())
    assert len(fields) > 50
    told = {str(path): list(positional(tree, fields)) for path, tree in trees().items()}
    assert {path: lines for path, lines in told.items() if lines} == {}


# ---- the rules find what they are for -----------------------------------------------------------


def test_a_doubled_name_is_found() -> None:
    assert doubled(["a", "b", "a", "__init__", "__init__"]) == ["a"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("class Plan:\n    class Part: ...", ["Plan", "Part"]),
        ("def made():\n    class _Plan: ...", ["_Plan"]),
        ("Floats = NDArray[float]\nLevel: TypeAlias = int", ["Floats", "Level"]),
        ("Kept = TypeVar('Kept')\nMOST = 3\nE = 2\nplan = Plan()", []),
    ],
)
def test_names_of_classes_are_found(text: str, names: list[str]) -> None:
    assert list(class_names(ast.parse(text))) == names


def test_a_constant_of_two_modules_is_found() -> None:
    texts = {
        "a": "MOST = 3\nLEAST, OWN = 1, 2",
        "b": "MOST = 4\nfrom a import LEAST, MOST as FEW",
        "c": "from b import LEAST, MOST\nOWN = 5",
    }
    found = constants_imported({name: ast.parse(text) for name, text in texts.items()})
    assert found == {"MOST": {"a", "b"}, "LEAST": {"a"}}


def test_a_crowded_folder_is_found() -> None:
    paths = [Path("room") / f"m{number}.py" for number in range(4)]
    assert crowded(paths, most=3) == {"room": 4}
    assert crowded(paths, most=4) == {}


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        ("R(1, 2, 3, 4, 5)", True),
        ("R(*many)", True),
        ("R(1, 2, c=3, d=4, e=5)", False),
        ("S(1, 2)", False),
    ],
)
def test_a_record_built_by_position_is_found(call: str, wrong: bool) -> None:
    text = (
        "@record\nclass R:\n"
        "    a: int\n    b: int\n    c: int\n    d: int\n    e: int\n"
        f"@dataclass\nclass S:\n    a: int\n    b: int\n\n{call}\n"
    )
    tree = ast.parse(text)
    assert bool(list(positional(tree, field_counts([tree])))) == wrong
