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

from dropcheck.claims.claimsfile import ClaimKeys, DocumentKeys, FileKeys, Keys, SlotKeys, says_of
from dropcheck.claims.reader import read_registry
from dropcheck.mutation import MUTATORS
from dropcheck.report.reference import words
from dropcheck.results import Verdict

TOP = Path(__file__).parents[2]
LONG = 25  # what a key holds is said where it is said in fewer letters
REDUCTION = ", axis=…, keepdims=0)"  # what every reduction takes: the page says it once
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
        f"- `{one.written.replace(REDUCTION, ', …)')}`: {one.summary}."
        for one in words()[group]
        if one.name not in NUMPY
    )


def named(group: str) -> str:
    """Those that are numpy's own."""
    return ", ".join(f"`{one.written}`" for one in words()[group] if one.name in NUMPY) + "."


def keys(level: type[Keys]) -> str:
    """The keys of a level of the claims file."""
    rows = []
    schemas = level.model_json_schema()["properties"]
    kinds = {"boolean": "true or false", "number": "a number greater than 0", "array": "a list"}
    for name in level.names():
        field, schema = level.model_fields[name], schemas[name]
        says, default = says_of(field), field.default
        needed = "needed" if says.required else ""
        needed = "or `claims`" if name == "claim" and name in level.one_of else needed
        several = schema.get("enum", [schema.get("const")])
        words = " or ".join(f"`{word}`" for word in several if word and name != "dropcheck")
        holds = says.holds or words or kinds.get(schema.get("type", ""), "")
        holds = "" if "text" in holds or len(holds) >= LONG else holds
        default = default if default and isinstance(default, str | float) else ""
        default = f"`{default}` if left out" if default else ""
        said = "; ".join(one for one in (holds, needed, default) if one)
        rows.append(f"- `{name}` ({said}): {field.description}".replace(" ()", ""))
    return "\n".join(rows)


def statements(document: str) -> str:
    """What a document says, each with its claim in the registry: first what holds."""
    claims = read_registry(TOP / "claims.yaml").claims
    rows: dict[str, dict[str, None]] = {Verdict.VERIFIED: {}, Verdict.REFUTED: {}}
    for claim in claims.values():
        if claim.sources[0].document == document:
            family = claim.family
            alike = family and len({claims[one.id].expect for one in family.statements}) == 1
            said = family if family and alike else claim
            title = said.title.removesuffix(f" ({said.id.rpartition('.')[2]})")
            rows[claim.expect][f"- {title}: `{said.id}`"] = None
    true, false = ("\n".join(found) for found in rows.values())
    return f"Verified:\n\n{true}\n\nRefuted:\n\n{false}"


def action() -> str:
    """The names of the inputs and outputs of the action for GitHub."""
    found = yaml.safe_load((TOP / "action.yml").read_text(encoding="utf-8"))
    inputs, outputs = (
        ", ".join(f"`{one}`" for one in found[kind]) for kind in ("inputs", "outputs")
    )
    return f"Inputs: {inputs}.\n\nOutputs: {outputs}."


def mutators() -> str:
    """The errors that `mutate` plants: of many patterns, the first."""
    rows = ["| error | for example |", "| --- | --- |"]
    for name, rules in MUTATORS.items():
        examples = ", ".join(f"`{rule.replace(' -> ', ' → ')}`" for rule in rules[:2])
        rows.append(f"| {name} | {examples} |")
    return "\n".join(rows)


TABLES: Mapping[str, Callable[[], str]] = {
    **{group: partial(listed, group) for group in words()},
    "numpy's functions of numbers": partial(named, "functions of numbers"),
    "keys of the file": lambda: keys(FileKeys),
    "keys of a document": lambda: keys(DocumentKeys),
    "keys of a slot": lambda: keys(SlotKeys),
    "keys of a claim": lambda: keys(ClaimKeys),
    "action": action,
    "mutators": mutators,
    **{
        f"statements of {document}": partial(statements, document)
        for document in ("scaling-post", "dropout-article", "rescaling-thread", "variance-question")
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
