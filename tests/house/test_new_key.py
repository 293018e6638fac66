"""A key that the claims file does not have is added by the one entry that CONTRIBUTING shows."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from claims_file_page import rows
from jsonschema import Draft7Validator

from dropcheck.claims import claimsfile as table
from dropcheck.claims.claimsfile import Field, Key, KeyTable
from dropcheck.claims.yaml_places import Problems, compose, decode

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"


def level_with_the_key() -> KeyTable:
    """The keys of a claim, and the one on the page."""
    text = CONTRIBUTING.read_text(encoding="utf-8")
    section = text.partition("## To add a key of the claims file")[2]
    (entry,) = re.findall(r"```python\n(.*?)```", section.partition("\n## ")[0], re.DOTALL)
    key: Key = eval(entry.strip().rstrip(","), vars(table))
    return replace(table.CLAIM, keys=(*table.CLAIM.keys, key))


LEVEL = level_with_the_key()


def read(more: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What a claim with one more key holds, and what is reported of it."""
    report = Problems(decode(f"{{title: T, claim: 1 == 1, {more}}}".encode(), "f.yaml"))
    node = compose(report)
    assert node is not None
    values = LEVEL.read(Field(node, "claim 'c'", report))
    lines = tuple(f"{one.message} | {one.hint}" for one in report.error().problems)
    return values, lines


def test_it_is_read() -> None:
    values, problems = read("author: A. N. Other")
    assert (values["author"], problems) == ("A. N. Other", ())


def test_what_is_wrong_with_it_is_reported() -> None:
    assert read("author: 3")[1] == ("'author' must be text, and is 3 | put it in quotes: '3'",)
    assert read("autor: A")[1] == ("claim 'c' has no key 'autor' | did you mean 'author'?",)


def test_the_schema_and_the_page_have_it() -> None:
    schema = {**LEVEL.definition, "definitions": table.claims_schema()["definitions"]}
    claim = {"title": "T", "claim": "1 == 1"}
    assert Draft7Validator(schema).is_valid({**claim, "author": "A"})
    assert not Draft7Validator(schema).is_valid({**claim, "author": 3})
    assert "| `author` | text |  | Who wrote the claim. |" in rows(LEVEL)
