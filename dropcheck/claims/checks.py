"""What the keys of a claims file must be together: ids, names, grids, and what they refer to.

Reads the nodes, not the validated models, so that one wrong value hides no other problem.
"""

from __future__ import annotations

import keyword
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice

from dropcheck.claims.nodes import Entry, Listing, Node, Scalar, Tree
from dropcheck.claims.source import Source
from dropcheck.errors import Problem, nearest

MOST_CASES = 100_000  # of one claim: a day's run at a second a case
MOST_CASES_IN_ALL = 1_000_000  # of a file: their names alone take a gigabyte
_ID = re.compile(r"[a-z0-9][a-z0-9-]*")
_RESERVED_IDS = frozenset({"all"})  # what `run all` means
# `and`, `or`, `not`, `if`, `else` are among Python's; a Python without one of them changes nothing
_KEYWORDS = frozenset(keyword.kwlist) | {"and", "or", "not", "if", "else"}


def check(root: Tree, source: Source) -> Iterator[Problem]:
    """Everything that is wrong between the keys of a file."""
    documents = _mapping(root, "documents")
    defaults = root.entries.get("defaults")
    if defaults is not None and isinstance(defaults.node, Tree):
        yield from _check_either(defaults.node, "'defaults'", source)
        yield from _check_document(defaults.node, documents, source)
    for name, entry in _mapping(root, "claims").items():
        yield from _check_id(name, entry, source)
        if isinstance(entry.node, Tree):
            yield from _check_either(entry.node, f"claim {name!r}", source)
            yield from _check_document(entry.node, documents, source)
            yield from _check_parameters(entry.node, source)
    yield from _check_total(root, source)


def _mapping(tree: Tree, key: str) -> Mapping[str, Entry]:
    entry = tree.entries.get(key)
    return entry.node.entries if entry is not None and isinstance(entry.node, Tree) else {}


def _check_id(name: str, entry: Entry, source: Source) -> Iterator[Problem]:
    if name in _RESERVED_IDS:
        message = f"a claim cannot be called {name!r}: 'run {name}' means every claim"
        yield source.problem(entry.key_start, message, "give it another id")
    elif not _ID.fullmatch(name):
        message = f"{name!r} is no claim id: ids are lower-case letters, digits and hyphens"
        fixed = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        usable = _ID.fullmatch(fixed) and fixed not in _RESERVED_IDS
        hint = f"call it {fixed!r}" if usable else None
        yield source.problem(entry.key_start, message, hint)


def _check_either(tree: Tree, where: str, source: Source) -> Iterator[Problem]:
    if "resolution" in tree.entries and "within" in tree.entries:
        later = max(tree.entries[key].key_start for key in ("resolution", "within"))
        message = f"{where} gives both 'resolution' and 'within'"
        hint = "keep one: 'resolution' is relative to the claim's scale, 'within' is absolute"
        yield source.problem(later, message, hint)


def _check_document(
    tree: Tree, documents: Mapping[str, Entry], source: Source
) -> Iterator[Problem]:
    entry = tree.entries.get("document")
    if entry is None or not isinstance(entry.node, Scalar):
        return
    name = entry.node.value
    if not isinstance(name, str) or not name.strip() or name in documents:
        return
    near = nearest(name, documents)
    if near is not None:
        hint = f"did you mean {near!r}?"
    elif documents:
        hint = "the documents are " + ", ".join(list(documents)[:10])
    else:
        hint = "list it under 'documents', with its title"
    yield source.problem(entry.node.start, f"there is no document {name!r}", hint)


def _check_parameters(tree: Tree, source: Source) -> Iterator[Problem]:
    grid = _mapping(tree, "parameters")
    rows = _rows(tree)
    for name, entry in grid.items():
        yield from _check_name(name, entry, source)
    named = dict(grid)
    told: set[str] = set()
    for row in rows:
        for name, entry in row.entries.items():
            if name not in named:
                yield from _check_name(name, entry, source)
                named[name] = entry
            elif name in grid and name not in told:
                told.add(name)
                line = grid[name].key_start[0] + 1
                message = f"{name!r} stands under 'cases' and under 'parameters' (line {line})"
                yield source.problem(entry.key_start, message, "keep one of the two")
    yield from _check_alike(rows, source)
    count = _count(tree)
    if count > MOST_CASES:
        sizes = [len(rows), *(_length(entry.node) for entry in grid.values())]
        factors = " × ".join(str(size) for size in sizes if size > 1)
        message = f"the grid has {count:,} cases ({factors}), and the most is {MOST_CASES:,}"
        hint = "try fewer values of each, or list the points that matter under 'cases'"
        at = tree.entries["parameters" if grid else "cases"].key_start
        yield source.problem(at, message, hint)


def _rows(tree: Tree) -> list[Tree]:
    entry = tree.entries.get("cases")
    if entry is None or not isinstance(entry.node, Listing):
        return []
    return [item for item in entry.node.items if isinstance(item, Tree)]


def _check_name(name: str, entry: Entry, source: Source) -> Iterator[Problem]:
    normal = unicodedata.normalize("NFKC", name)  # as Python's grammar reads names
    if name in _KEYWORDS:
        message = f"a parameter cannot be called {name!r}: it is a word of the language"
        yield source.problem(entry.key_start, message, f"call it '{name}_'")
    elif not name.isidentifier() or normal != name:
        message = f"{name!r} is no name: names are letters, digits and '_', a letter first"
        fixed = re.sub(r"\W+", "_", normal).strip("_")
        usable = fixed.isidentifier() and fixed not in _KEYWORDS
        yield source.problem(entry.key_start, message, f"call it {fixed!r}" if usable else None)


def _check_alike(rows: list[Tree], source: Source) -> Iterator[Problem]:
    counts = Counter(name for row in rows for name in row.entries)
    for row in rows:
        if len(row.entries) in (0, len(counts)):  # an empty one is the schema's to report
            continue
        lacking = list(islice((name for name in counts if name not in row.entries), 6))
        given = ", ".join(repr(name) for name in lacking[:5]) + (", …" if len(lacking) > 5 else "")
        message = f"this case gives no value for {given}, which another case has"
        slips = (nearest(name, lacking) for name in row.entries if counts[name] == 1)
        near = next((name for name in slips if name is not None), None)
        hint = f"did you mean {near!r}?" if near else "every case names the same parameters"
        yield source.problem(row.start, message, hint)


def _check_total(root: Tree, source: Source) -> Iterator[Problem]:
    trees = [entry.node for entry in _mapping(root, "claims").values()]
    counts = [_count(tree) for tree in trees if isinstance(tree, Tree)]
    count = sum(counts)
    if count > MOST_CASES_IN_ALL and max(counts) <= MOST_CASES:  # else that has been told
        message = f"the file has {count:,} cases, and the most is {MOST_CASES_IN_ALL:,}"
        yield source.problem(root.entries["claims"].key_start, message, "split it into several")


def _count(tree: Tree) -> int:
    """How many cases a claim has, without making any."""
    sizes = (_length(entry.node) for entry in _mapping(tree, "parameters").values())
    return math.prod(sizes) * max(len(_rows(tree)), 1)


def _length(node: Node) -> int:
    return max(1, len(node.items)) if isinstance(node, Listing) else 1
