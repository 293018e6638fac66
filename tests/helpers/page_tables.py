"""The lists and tables of the pages that are made of what the program says of itself.

They stand between `<!-- table: NAME -->` and `<!-- /table -->`.
`python tests/helpers/page_tables.py` writes them; read the difference before you commit it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import yaml

from dropcheck.claims.claimsfile import CLAIM, DOCUMENT, FILE, SLOT, KeyTable
from dropcheck.claims.reader import read_registry
from dropcheck.report.reference import words

TOP = Path(__file__).parents[2]
# Functions that are numpy's of the same name, and need no word.
NUMPY = {
    one.name
    for one in words()["functions of numbers"]
    if isinstance(getattr(np, one.name, None), np.ufunc)
} - {"minimum", "maximum"}
_TABLE = re.compile(r"^<!-- table: ([^\n]*) -->\n.*?^<!-- /table -->$", re.MULTILINE | re.DOTALL)


def listed(group: str) -> str:
    """The words of the language of one kind, each with what it is."""
    return "\n".join(
        f"- `{one.written}`: {one.summary}." for one in words()[group] if one.name not in NUMPY
    )


def named(group: str) -> str:
    """Those that are numpy's own."""
    return ", ".join(f"`{one.written}`" for one in words()[group] if one.name in NUMPY) + "."


def keys(level: KeyTable) -> str:
    """The keys of a level of the claims file."""
    rows = ["| key | holds | if left out | meaning |", "| --- | --- | --- | --- |"]
    for key in level.keys:
        absent = "an error" if key.required else f"`{key.default}`" if key.default else ""
        absent += f" without `{key.unless}`" if key.unless else ""
        holds = key.kind.holds.replace("'", "`")
        rows.append(f"| `{key.name}` | {holds} | {absent} | {key.description} |")
    return "\n".join(rows)


def statements(document: str, verdict: str) -> str:
    """What a document says that has this verdict, each with its claim in the registry."""
    claims = read_registry(TOP / "claims.yaml").claims
    rows: dict[str, None] = {}
    for claim in claims.values():
        if claim.sources[0].document == document and claim.expect == verdict:
            family = claim.family
            shared = family and all(claims[one.id].expect == verdict for one in family.statements)
            said = family if family and shared else claim
            rows[f"- {said.title}: `{said.id}`"] = None
    return "\n".join(rows)


def action() -> str:
    """The inputs and outputs of the action for GitHub."""
    found = yaml.safe_load((TOP / "action.yml").read_text(encoding="utf-8"))
    rows = ["| input | default | |", "| --- | --- | --- |"]
    for name, one in found["inputs"].items():
        default = f"`{one['default']}`" if one.get("default") else ""
        rows.append(f"| `{name}` | {default} | {one['description']} |")
    rows += ["", "| output | |", "| --- | --- |"]
    rows += [f"| `{name}` | {one['description']} |" for name, one in found["outputs"].items()]
    return "\n".join(rows)


TABLES: Mapping[str, Callable[[], str]] = {
    **{group: partial(listed, group) for group in words()},
    "numpy's functions of numbers": partial(named, "functions of numbers"),
    "keys of the file": lambda: keys(FILE),
    "keys of a document": lambda: keys(DOCUMENT),
    "keys of a slot": lambda: keys(SLOT),
    "keys of a claim": lambda: keys(CLAIM),
    "action": action,
    **{
        f"{verdict}, {document}": partial(statements, document, verdict)
        for document in ("scaling-post", "dropout-article", "rescaling-thread", "variance-question")
        for verdict in ("verified", "refuted")
    },
}


def filled(text: str) -> str:
    """A page with its tables as they should be."""
    return _TABLE.sub(
        lambda found: f"<!-- table: {found[1]} -->\n\n{TABLES[found[1]]()}\n\n<!-- /table -->", text
    )


if __name__ == "__main__":
    for page in sorted((TOP / "docs").glob("*.md")):
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
