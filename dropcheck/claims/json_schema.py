"""The format of a claims file as a JSON Schema (draft-07), for editors and other tools.

Written out as data, for what an editor shows is prose: a description of each key and an example or
two. A test holds it to what `check` accepts. It says what a file looks like; what only reading the
language can tell (a name that is not defined, a law that is none) is left to `check`.
"""

from __future__ import annotations

import keyword
from typing import Any

FILE_NAME = "claims.schema.json"
"""Where a claims file's modeline looks for the schema: beside it."""
MODELINE = f"# yaml-language-server: $schema={FILE_NAME}"

TITLE = "A claims file of dropcheck"

Schema = dict[str, Any]

# At least one character that is no space.
_NOT_BLANK = r"\S"
_ID = r"^[a-z0-9][a-z0-9-]*$"
# A letter or '_', then digits too. Beyond ASCII any character: the dialects of regular expressions
# that editors use do not agree on what else is a letter.
_NAME = r"^[^\x00-@\[-^`{-\x7f][^\x00-/:-@\[-^`{-\x7f]*$"
# Arithmetic on literals, or a word and a bracket.
_NUMBER = r"(?=[^0-9]*[0-9])[0-9a-fA-FxXoO_.+\-*/%()\s]+"
_LAW = r"\s*[^\W\d]\w*\s*\([\s\S]*\)\s*"
_VALUE = f"^(?:{_NUMBER}|{_LAW})$"
_LARGEST = 1.7976931348623157e308  # of a float64; `.inf` is more
_LAW_OR_NUMBER = "a number such as 512, 1e6 or 1/3, or a law as text, such as normal(0, 1)"


def claims_schema() -> Schema:
    """The schema of a claims file, format 1.

    >>> claims_schema()["required"]
    ['dropcheck', 'claims']
    """
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"{TITLE}, format 1",
        "description": "Mathematical claims, each of which dropcheck tries by simulation.",
        **_mapping(
            {
                "dropcheck": {
                    "description": "The version of the format.",
                    "type": "integer",
                    "const": 1,
                    "examples": [1],
                },
                "documents": {
                    "description": "Where claims come from: a key for each document.",
                    "type": "object",
                    "additionalProperties": {"$ref": "#/definitions/document"},
                    "examples": [{"notes": {"title": "Notes on attention", "date": "2024-02-13"}}],
                },
                "defaults": {"$ref": "#/definitions/defaults"},
                "claims": {
                    "description": "The claims: a key for each, of lower-case letters, digits "
                    "and hyphens.",
                    "type": "object",
                    "minProperties": 1,
                    "propertyNames": {
                        "pattern": _ID,
                        "not": {"const": "all"},  # `run all` means every claim
                        "patternErrorMessage": "ids are lower-case letters, digits and hyphens",
                    },
                    "additionalProperties": {"$ref": "#/definitions/claim"},
                    "examples": [
                        {"mean-kept": {"title": "A fair coin", "claim": "P(x == 1) == 0.5"}}
                    ],
                },
            },
            required=("dropcheck", "claims"),
        ),
        "definitions": {
            "document": _document(),
            "defaults": _defaults(),
            "claim": _claim(),
            "value": _value(),
        },
    }


def _document() -> Schema:
    return {
        "description": "A document that claims come from.",
        **_mapping(
            {
                "title": _text("The title of the document.", "Notes on attention"),
                "date": _text("When it was written, in whatever form.", "2024-02-13"),
                "url": _text("Where it is found.", "https://example.org/notes"),
            },
            required=("title",),
        ),
    }


def _defaults() -> Schema:
    return {
        "description": "What holds for every claim that does not say otherwise.",
        **_mapping(_looked_at(), required=()),
        "not": {"required": ["resolution", "within"]},
        "examples": [{"resolution": 0.01}],
    }


def _claim() -> Schema:
    stated: Schema = {
        "title": _text(
            "What the claim says, in one sentence.", "The mean of dropout's output is its input's"
        ),
        "claim": _text(
            "The statement: L == R, an inequality, or a range a <= L <= b. Random names stand "
            "inside the operators E, Var, Std, Cov, Corr, P, Skew and Kurt.",
            "Var(q @ k) == dk",
            "0.405 <= Std(y) / Std(x) - 1 <= 0.415",
            "P(y == 0, given=x > 0) <= p",
        ),
        "model": _text(
            "What is drawn and what is worked out, line by line: `name ~ law` draws, "
            "`name = expression` computes, and brackets after a law are the shape of one draw.",
            "q ~ normal(0, 1)[dk]\nk ~ normal(0, 1)[dk]\n",
        ),
        "parameters": _parameters(),
        "cases": _cases(),
        "requires": {
            "description": "Conditions that the parameters must meet.",
            "anyOf": [
                _text("One condition.", "0 <= p < 1"),
                {"type": "array", "items": _text("A condition.", "n >= 1")},
            ],
            "examples": ["0 <= p < 1", ["0 <= p < 1", "n >= 1"]],
        },
        "tolerance": {
            "description": "Part of the claim: L == R give or take this share of R.",
            "type": "number",
            "exclusiveMinimum": 0,
            "exclusiveMaximum": 1,
            "examples": [0.005],
        },
        "note": _text(
            "Why the claim holds, or why it fails.", "The mask is 0 or 1, so its square is itself."
        ),
    }
    return {
        "description": "A claim: a title, a statement, and what the statement speaks of.",
        **_mapping(stated | _looked_at(), required=("title", "claim")),
        "not": {"required": ["resolution", "within"]},
    }


def _looked_at() -> Schema:
    """The keys that a claim and the defaults share: how to look, and where claims come from."""
    return {
        "expect": {
            "description": "The verdict with which the claim passes; a claim that is known to be "
            "false passes by being refuted.",
            "enum": ["verified", "refuted"],
            "default": "verified",
            "examples": ["refuted"],
        },
        "resolution": _positive(
            "How sharply to look, relative to the claim's scale; give this or 'within'.",
            examples=(0.01, 0.001),
            default=0.01,
        ),
        "within": _positive(
            "How sharply to look, as a number; give this or 'resolution'.", examples=(0.005,)
        ),
        "document": _text(
            "Where the claim comes from: one of the keys under 'documents'.", "notes"
        ),
        "section": _text("Where in the document it stands.", "Scaling"),
        "tags": {
            "description": "Words to select claims by: dropcheck run --tag WORD.",
            "type": "array",
            "items": _text("A tag.", "attention"),
            "examples": [["attention", "scaling"]],
        },
    }


def _parameters() -> Schema:
    return {
        "description": f"Names for {_LAW_OR_NUMBER}. A list is a grid: one case a value, crossed "
        "over the parameters.",
        "type": "object",
        "propertyNames": _name(),
        "additionalProperties": {
            "description": "A value, or a list of values: one case each.",
            "anyOf": [
                {"$ref": "#/definitions/value"},
                {
                    "type": "array",
                    "items": {"$ref": "#/definitions/value"},
                    "minItems": 1,
                    "uniqueItems": True,
                },
            ],
        },
        "examples": [{"dk": [16, 64, 256]}, {"p": 0.5, "law": ["normal(0, 1)", "rademacher()"]}],
    }


def _cases() -> Schema:
    return {
        "description": "The cases one by one, in place of a grid: each names the same parameters.",
        "type": "array",
        "minItems": 1,
        "uniqueItems": True,
        "items": {
            "description": "A case: a value for each parameter.",
            "type": "object",
            "minProperties": 1,
            "propertyNames": _name(),
            "additionalProperties": {"$ref": "#/definitions/value"},
        },
        "examples": [[{"p": 0.1, "n": 10}, {"p": 0.5, "n": 40}]],
    }


def _name() -> Schema:
    return {
        "pattern": _NAME,
        "not": {"enum": sorted(keyword.kwlist)},
        "patternErrorMessage": "names are letters, digits and '_', a letter first",
    }


def _value() -> Schema:
    return {
        "description": f"A parameter's value: {_LAW_OR_NUMBER}.",
        "type": ["number", "string"],
        "minimum": -_LARGEST,
        "maximum": _LARGEST,
        "pattern": _VALUE,
        "patternErrorMessage": f"write {_LAW_OR_NUMBER}",
        "examples": [512, "1/3", "normal(0, 1)"],
    }


def _mapping(properties: Schema, *, required: tuple[str, ...]) -> Schema:
    """A mapping of these keys and no others."""
    found: Schema = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    if required:
        found["required"] = list(required)
    return found


def _text(description: str, *examples: str) -> Schema:
    return {
        "description": description,
        "type": "string",
        "pattern": _NOT_BLANK,
        "patternErrorMessage": "this must not be empty",
        "examples": list(examples),
    }


def _positive(
    description: str, *, examples: tuple[float, ...], default: float | None = None
) -> Schema:
    found: Schema = {
        "description": description,
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": _LARGEST,
        "examples": list(examples),
    }
    if default is not None:
        found["default"] = default
    return found
