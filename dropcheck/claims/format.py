"""The format of claims files, version 1, as one table of keys.

Each row holds all facts about one key. The reader with its errors, the JSON Schema, and the page of
the documentation that lists the keys are made from this table.
"""

from __future__ import annotations

import re
from typing import Any

from dropcheck.claims import families, grids, models, slots
from dropcheck.claims.keys import ExclusiveKeys, Key, KeyTable
from dropcheck.claims.kinds import (
    Field,
    KeyKind,
    Names,
    Schema,
    date,
    expression,
    format_number,
    items,
    named,
    number,
    read,
    text,
    truth,
    word,
)
from dropcheck.claims.nodes import Tree
from dropcheck.claims.registry import MOST_CASES, Tolerance
from dropcheck.claims.source import Problems

FORMAT = 1
SCHEMA_FILE = "claims.schema.json"
"""The name of the schema file, which the first line of a claims file refers to."""
SCHEMA_TITLE = "A claims file of dropcheck"
MOST_CASES_IN_ALL = 1_000_000  # in a file: their names alone take a gigabyte


# ---- tolerances ----------------------------------------------------------------------------------

ABSOLUTE = "{absolute: 0.05}"
_ABOVE = f"a number of its own is 'tolerance: {ABSOLUTE}'"

_SHARE = number(
    f"a share greater than 0 and less than 1, or {ABSOLUTE}",
    below=1,
    if_larger=f"0.05 is 'within 5%'; {_ABOVE}",
)

TOLERANCE_LEVEL = KeyTable(
    "tolerance",
    description="A tolerance that is no share of what is claimed.",
    keys=(
        Key("absolute", number(), examples=(0.05,),
            description="Part of the claim: `L == R` give or take this number.",
            required=f"write 'tolerance: {ABSOLUTE}'"),
    ),
)  # fmt: skip


def _read_tolerance(field: Field) -> Tolerance:
    if isinstance(field.node, Tree):
        return Tolerance(TOLERANCE_LEVEL.kind.read(field).get("absolute"), absolute=True)
    return Tolerance(_SHARE.read(field))


TOLERANCE = KeyKind(
    _SHARE.holds, {"anyOf": [_SHARE.schema, TOLERANCE_LEVEL.kind.schema]}, _read_tolerance
)


# ---- checks of the whole file --------------------------------------------------------------------


def _check_file(root: Tree, report: Problems) -> None:
    """Report references to nothing, and more cases than a file may have."""
    claims = [entry.node for entry in grids.mapping_at(root, "claims").values()]
    families.check_documents(root, report)
    families.check_truths(root, report)
    counts = [
        grids.count_cases(node) * max(1, len(grids.mapping_at(node, "claims")))
        for node in claims
        if isinstance(node, Tree)
    ]
    count = sum(counts)
    if count > MOST_CASES_IN_ALL and max(counts) <= MOST_CASES:  # or it has been reported
        message = f"the file has {count:,} cases, and the most is {MOST_CASES_IN_ALL:,}"
        report.add(root.entries["claims"].key_start, message, "split it into several")


def _id_problem(name: str) -> tuple[str, str | None] | None:
    if name == "all":
        message = f"a claim cannot be called {name!r}: 'run {name}' means every claim"
        return message, "give it another id"
    return _part_problem(name)


def _part_problem(name: str) -> tuple[str, str | None] | None:
    if re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
        return None
    fixed = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    hint = f"call it {fixed!r}" if fixed not in ("", "all") else None
    return f"{name!r} is not a claim id: ids are lower-case letters, digits and hyphens", hint


_ID_SCHEMA = {
    "pattern": r"^[a-z0-9][a-z0-9-]*$",
    "not": {"const": "all"},  # `run all` means every claim
    "patternErrorMessage": "ids are lower-case letters, digits and hyphens",
}
_IDS = Names(_ID_SCHEMA, _id_problem)
_PARTS = Names({key: _ID_SCHEMA[key] for key in _ID_SCHEMA if key != "not"}, _part_problem)

_LINE = families.LINE
_MODEL = expression("lines of text",
    hint="write 'model: |', and below it, indented, a line a name: x ~ normal(0, 1)")  # fmt: skip
_WAYS = ExclusiveKeys("resolution", "within",
    "keep one: 'resolution' is relative to the claim's scale, 'within' is absolute")  # fmt: skip
_PLACES = tuple(
    ExclusiveKeys("sources", name, "list them all under 'sources'")
    for name in ("document", "section")
)
_EACH = tuple(
    ExclusiveKeys("claims", name, "give it to each of the 'claims' that it concerns")
    for name in ("claim", "tolerance", "truth")
)
_ID_HINT = "a claim has an id: write 'my-claim:', and indent 'title: …' and 'claim: …' under it"

# ---- the table -----------------------------------------------------------------------------------

# Keys that 'defaults' may have: how claims are judged, and where they come from.
_SHARED = (
    Key("expect", word("verified", "refuted"), default="verified", examples=("refuted",),
        description="The verdict with which the claim passes; a claim that is known to be false "
        "expects `refuted`."),
    Key("resolution", number(), default=0.01, examples=(0.01, 0.001),
        description="How small an error must be found, relative to the claim's scale; give this "
        "or `within`."),
    Key("within",
        number(of_percentage="it is absolute; for a share of the scale write 'resolution: {}'"),
        description="The same as an absolute number; give this or `resolution`.",
        examples=(0.005,)),
    Key("document", text(), examples=("notes",),
        description="Where the claim comes from: one of the keys under `documents`."),
    Key("section", _LINE, description="Where in the document it stands.", examples=("Scaling",)),
    Key("tags", items(_LINE, "a list", "A tag."), default=(), examples=(["attention", "scaling"],),
        description="Words that select claims: `dropcheck run --tag WORD`."),
)  # fmt: skip

# Keys that each statement of a claim may have; a claim with one statement has them too.
_STATED = (
    Key("tolerance", TOLERANCE,
        description="Part of the claim: in `L == R`, `L` may be off by this share of `R`, or, with "
        "`{absolute: 0.05}`, by this number.", examples=(0.005, {"absolute": 0.05})),
    Key("tails",
        number("a chance greater than 0 and less than 0.25", below=0.25,
               if_larger="1e-6 claims the law out to tails as rare as that"),
        description="Part of a claim `y ~ law`, which then includes the tails: every tail with at "
        "least this chance is verified to within a factor of 2.", examples=(1e-6,)),
    Key("asymptotic", truth(), default=False, examples=(True,),
        description="Whether the limit theorem judges the claim where the model does not bound "
        "what is averaged; otherwise it is then undecided."),
    Key("says", text(tidy=str.strip), description="What the document says, in its own words.",
        examples=("The variance grows with the number of terms.",)),
    Key("note", text(tidy=str.strip), description="Why the claim holds, or why it fails.",
        examples=("The mask is 0 or 1, so its square is itself.",)),
    Key("truth", text(),
        description="For a claim that expects `refuted`: the id of the claim that says what is "
        "true instead; for one of several statements, the name of that statement.",
        examples=("variance",)),
    Key("sources", items(families.PASSAGE.kind, "a list of mappings",
                         if_other=families.PASSAGE.hint), default=(),
        description="The passages that the claim comes from, in place of `document` and `section`, "
        "if there are several.", examples=([{"document": "notes", "section": "Scaling"}],)),
)  # fmt: skip
_CLAIM_TEXT = expression("a statement as text",
    hint="a claim states something, such as 'claim: E(x) == 3'; several statements of one model "
    "stand under 'claims', a name for each")  # fmt: skip

STATEMENT = KeyTable(
    "statement",
    description="One of several statements of the same model.",
    keys=(
        Key("claim", _CLAIM_TEXT, description="The statement, as in a claim that has one.",
            examples=("Std(y) == Std(x)",),
            required="write the statement, such as 'claim: E(y) == E(x)'"),
        Key("title", _LINE, description="What it says, in one sentence; if left out, the title "
            "of the whole claim, with the statement's name.",
            examples=("The deviation is kept too",)),
        *_STATED,
        *_SHARED,
    ),
    apart=(_WAYS, *_PLACES),
    misplaced=dict.fromkeys(
        ("model", "parameters", "cases", "requires"),
        "the statements of a claim share it: give it to the claim",
    ),
)  # fmt: skip


def _read_statement(field: Field) -> dict[str, Any] | None:
    if isinstance(field.node, Tree):
        return STATEMENT.read(field)
    return {"claim": read(_CLAIM_TEXT, field)}


_STATEMENT = KeyKind(
    "a statement as text, or a mapping",
    {"anyOf": [_CLAIM_TEXT.schema, STATEMENT.kind.schema]},
    _read_statement,
)

CLAIM = KeyTable(
    "claim",
    description="A claim: a title, a statement, and the model that the statement is about.",
    keys=(
        Key("title", _LINE, description="What the claim says, in one sentence.",
            examples=("The mean of dropout's output is its input's",),
            required="write what it says in one sentence, 'title: …'"),
        Key("claim", _CLAIM_TEXT,
            description="The statement: `L == R`, an inequality, a range `a <= L <= b`, or one "
            "about laws: `y ~ normal(0, 1)`, `x ~ y`, `independent(x, y)`. Elsewhere random names "
            "stand inside an operator, such as `E(…)`, `Var(…)` or `P(…)`.",
            examples=("Var(q @ k) == dk", "0.405 <= Std(y) / Std(x) - 1 <= 0.415",
                      "P(y == 0, given=x > 0) <= p"),
            required="write the statement, such as 'claim: Var(q @ k) == dk'", unless="claims"),
        Key("claims",
            named(_STATEMENT, _PARTS, what="statement ", if_empty="write at least one statement",
                  hint="write 'name: statement' on a line for each"),
            description="In place of `claim`, several statements that share their draws: a name "
            "for each, with its text or a mapping of its keys.",
            examples=({"mean": "E(y) == E(x)", "sd": {"claim": "Std(y) == Std(x)",
                                                     "expect": "refuted"}},)),
        Key("model", _MODEL,
            description="The draws and computations, line by line: `name ~ law` draws, "
            "`name = expression` computes, and brackets after a law are the shape of one draw; "
            "the name of a shared model stands for its lines. Needed if anything in the claim "
            "is random.",
            examples=("q ~ normal(0, 1)[dk]\nk ~ normal(0, 1)[dk]\n",)),
        Key("parameters",
            named(grids.GRID, grids.PARAMETERS, hint="write 'name: value'",
                  item_is="A value, or a list of values: one case for each."),
            description=f"A value for each name: {grids.VALUE_IN_FULL}. A list, or a range such as "
            "`0.1..0.9 by 0.1` or `16..1024 by x2`, makes one case for each value, and several are "
            "crossed. A list in a list is a vector: `[[0.5, -1, 3]]`.", default={},
            examples=({"dk": [16, 64, 256]}, {"p": 0.5, "law": ["normal(0, 1)", "rademacher()"]})),
        Key("cases", grids.CASES,
            description="The cases one by one, in place of crossed lists: each gives a value to "
            "the same parameters.",
            examples=([{"p": 0.1, "n": 10}, {"p": 0.5, "n": 40}],)),
        Key("requires",
            items(expression(), "a condition as text, or a list of conditions", "A condition.",
                  or_one=True),
            description="A condition on the parameters, or a list of conditions; a case that "
            "breaks one is an error.", default=(),
            examples=("0 <= p < 1", ["0 <= p < 1", "n >= 1"])),
        *_STATED,
        *_SHARED,
    ),
    apart=(_WAYS, *_PLACES, *_EACH), check=grids.check_claim, hint=_ID_HINT,
)  # fmt: skip
_CLAIM_KEYS = [key.name for key in CLAIM.keys if key.name != "claims"]

DEFAULTS = KeyTable(
    "defaults",
    description="Values for every claim that does not have its own.",
    keys=_SHARED,
    apart=(_WAYS,),
    misplaced=dict.fromkeys(_CLAIM_KEYS, "it belongs to each claim: give it there"),
    examples=({"resolution": 0.01},),
)

DOCUMENT = KeyTable(
    "document",
    description="A document that claims come from.",
    keys=(
        Key("title", _LINE, description="The title of the document.",
            examples=("Notes on attention",), required="write its title, 'title: …'"),
        Key("date", date(), description="When it was written, in any form.",
            examples=("2024-02-13",)),
        Key("url", _LINE, description="Where it is found.",
            examples=("https://example.org/notes",)),
    ),
)  # fmt: skip

FILE = KeyTable(
    "file",
    description="Mathematical claims, each of which dropcheck checks by simulation.",
    keys=(
        Key("dropcheck", format_number(FORMAT), description="The version of the format.",
            examples=(FORMAT,),
            required=f"make 'dropcheck: {FORMAT}' its first line: the number of the format"),
        Key("documents",
            named(DOCUMENT.kind, what="document ",
                  hint="write 'key:', and indent its title under it"),
            description="The documents that claims come from, each with a key.",
            examples=({"notes": {"title": "Notes on attention", "date": "2024-02-13"}},)),
        Key("models",
            named(_MODEL, models.NAMES, hint="write 'name: |', and indent its lines under it"),
            description="Models that several claims share: a name, and lines as under `model`. "
            "A model may name those above it.",
            examples=({"dropout": "x ~ normal(0, 1)\nm ~ bernoulli(1 - p)\n"},)),
        Key("slots",
            named(slots.LEVEL.kind, grids.PARAMETERS, what="slot ",
                  hint="write 'name:', and indent its keys under it"),
            description="Names to which the person who runs the file may bind code, each with the "
            "mathematics that is used if no code is bound. The file itself names no code.",
            examples=({"scaled": {"takes": ["x", "c"], "gives": "c * x"}},)),
        Key("defaults", DEFAULTS.kind, description=DEFAULTS.description,
            examples=DEFAULTS.examples),
        Key("claims",
            named(CLAIM.kind, _IDS, what="claim ", if_empty="write at least one claim",
                  hint=_ID_HINT),
            description="The claims, each with a key of lower-case letters, digits and hyphens.",
            examples=({"mean-kept": {"title": "A fair coin", "claim": "P(x == 1) == 0.5"}},),
            required="begin a line with 'claims:', and indent the claims under it"),
    ),
    check=_check_file,
    misplaced=dict.fromkeys(_CLAIM_KEYS, "it is a key of a claim: indent it under the claim's id"),
)  # fmt: skip
LEVELS = (
    FILE, DOCUMENT, slots.LEVEL, DEFAULTS, CLAIM, STATEMENT, families.PASSAGE, TOLERANCE_LEVEL,
)  # fmt: skip


def claims_schema() -> Schema:
    """The JSON Schema (draft-07) of a claims file, for editors and other tools.

    It describes the form of a file. Errors that only the language knows (undefined names, unknown
    laws) are left to `check`.

    >>> claims_schema()["required"]
    ['dropcheck', 'claims']
    """
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"{SCHEMA_TITLE}, format {FORMAT}",
        **FILE.definition,
        "definitions": {
            **{one.name: one.definition for one in LEVELS[1:]},
            "value": grids.VALUE_DEFINITION,
            "vector": grids.VECTOR_DEFINITION,
        },
    }
