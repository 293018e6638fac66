"""The published schema: it accepts what `check` accepts in structure, and rejects what it rejects.

What a JSON Schema cannot say is listed as such, so that the list is seen to be short.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import yaml
from cli_stub import CLAIMS, Cli
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from dropcheck.claims.claimsfile import SCHEMA_FILE, Node, Problems, claims_schema, compose, decode
from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError

TOP = Path(__file__).parents[2]
SCHEMA = claims_schema()
VALIDATOR = Draft7Validator(SCHEMA)


def accepted(text: str) -> bool:
    """Whether the reader takes the file: `check` then goes on to the language."""
    try:
        read_text(text)
    except DropcheckError:
        return False
    return True


def valid(text: str) -> bool:
    """Whether the schema takes the file, as an editor would read it."""
    root = compose(Problems(decode(text.encode(), "claims.yaml")))
    assert root is not None
    return bool(VALIDATOR.is_valid(plain(root)))


def plain(node: Node) -> Any:
    """What a node holds, as JSON does."""
    if isinstance(node.value, dict):
        return {name: plain(one) for name, one in node.entries.items()}
    return [plain(one) for one in node.items] if isinstance(node.value, list) else node.value


def claim(more: str = "", *, title: str = "T", statement: str = "1 == 1") -> str:
    """A file with one claim, `more` being further keys of it."""
    keys = "".join(f"    {line}\n" for line in more.split(";") if line)
    return f"dropcheck: 1\nclaims:\n  c:\n    title: {title}\n    claim: {statement}\n{keys}"


SECOND = "  d:\n    title: T\n    claim: 2 == 2\n"


def several(statements: str) -> str:
    """A file with one claim of several statements."""
    lines = "".join(f"      {line}\n" for line in statements.split(";") if line)
    return f"dropcheck: 1\nclaims:\n  c:\n    title: T\n    claims:\n{lines or '      {}'}"


def top(more: str) -> str:
    """The same file with more at its top."""
    return more + "\n" + claim()


GOOD = {
    "the least": claim(),
    "every key of the file": top("documents: {d: {title: D}}\ndefaults: {}"),
    "a document in full": top("documents: {d: {title: D, date: 2024-02-13, url: 'https://x.y'}}"),
    "a year alone": top("documents: {d: {title: D, date: 2024}}"),
    "no documents": top("documents: {}"),
    "defaults in full": top(
        "documents: {d: {title: D}}\n"
        "defaults: {within: 0.1, expect: refuted, document: d, section: S, tags: [a]}"
    ),
    "a resolution for all": top("defaults: {resolution: 1e-3}"),
    "a model": claim("model: x ~ normal(0, 1)"),
    "one value": claim("parameters: {p: 0.5}"),
    "a grid": claim("parameters: {p: [0.1, 1e6, '2**20', '1/3', -3]}"),
    "a range": claim("parameters: {p: 0.1..0.9 by 0.1, n: 16..1024 by x2, m: [1, 2..4 by 1/2]}"),
    "a vector": claim("parameters: {w: [[0.5, -1, 1/3], [1, 2]], v: '[1, 2]'}"),
    "a matrix": claim("parameters: {a: [[[1, 0], [0, 1]]]}"),
    "a vector in a case": claim("cases: [{w: [1, 2]}, {w: [[1, 2]]}]"),
    "a law": claim("parameters: {law: ['normal(0, 1)', 'rademacher()']}"),
    "a Greek name": claim("parameters: {σ: 1, σ_2: 2}"),
    "no parameters": claim("parameters: {}"),
    "cases": claim("cases: [{p: 0.1, n: 10}, {p: 0.5, n: 40}]"),
    "a condition": claim("parameters: {p: 0.5};requires: p < 1"),
    "conditions": claim("parameters: {p: 0.5};requires: [p < 1, p > 0]"),
    "no conditions": claim("requires: []"),
    "a falsehood": claim("expect: refuted"),
    "a tolerance": claim("tolerance: 0.05"),
    "an absolute tolerance": claim("tolerance: {absolute: 5}"),
    "a resolution": claim("resolution: 1"),
    "an absolute one": claim("within: 0.1"),
    "a source": claim("section: S;note: N;tags: [a, b]"),
    "no tags": claim("tags: []"),
    "passages": top("documents: {d: {title: D}}")
    + "    sources: [{document: d}, {document: d, section: S}]\n",
    "what is said": claim("says: So"),
    "a falsehood with its truth": claim("expect: refuted;truth: d") + SECOND,
    "shared models": top("models: {one: y = 1, two-b: 'z = 2'}") + "    model: one\n",
    "statements": several("a: 1 == 1;b: {claim: 2 == 2, title: B, tolerance: 0.1, tags: [t]}"),
    "quoted numbers are text": claim("note: '3'"),
    "YAML 1.2's text": claim("note: no"),
    "a second claim": claim() + "  d-2:\n    title: T\n    claim: 2 == 2\n",
    "the claims of the tests": CLAIMS,
}

# What the reader refuses, by its words, and the schema does not say.
UNSAID = (
    *("write 0.05", "write 0.5", "divides by zero", "is too large", "must be a finite number"),
    *("rows of different lengths", "is a range, which", "its end is below", "needs a step above"),
    *("needs a start above", "holds one number alone", "values → write a larger", "the grid has"),
    *("and under 'parameters'", "gives no value for", "is .nan", "is 1.0", "there is no document"),
    *(
        "a slot says what",
        "is '0%'",
        "is taken twice",
        "has no 'gives'",
        "there is no claim",
        "is false itself",
    ),
    *("'truth' belongs to", "there is no model", "stands below, or is this one"),
)


def refused() -> Iterator[tuple[str, str]]:
    """The files of the contract that are YAML and refused, and what is said of each."""
    rows = yaml.safe_load((TOP / "tests/contract/refused.yaml").read_text(encoding="utf-8"))
    for row in rows:
        text = row.get(
            "file", "dropcheck: 1\nclaims:\n  c:\n" + indent(row.get("claim", ""), "    ")
        )
        with suppress(DropcheckError):
            problems = Problems(decode(text.encode(), "claims.yaml"))
            if ("file" in row or "claim" in row) and compose(problems) and not problems:
                yield text, row["says"]


def test_the_schema_is_one() -> None:
    Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize("what", GOOD)
def test_what_check_accepts_is_valid(what: str) -> None:
    assert accepted(GOOD[what])
    assert valid(GOOD[what])


def test_what_the_reader_refuses_is_invalid() -> None:
    """And what only the language refuses is valid."""
    found = [(accepted(text), valid(text), said) for text, said in refused()]
    assert sum(not took and not fits for took, fits, _ in found) > 80
    assert sum(took and fits for took, fits, _ in found) > 80
    unsaid = [said for took, fits, said in found if took != fits]
    assert [said for said in unsaid if not any(words in said for words in UNSAID)] == []
    assert [words for words in UNSAID if not any(words in said for said in unsaid)] == []


def test_the_files_that_ship_are_valid() -> None:
    shipped = [TOP / "claims.yaml", *sorted((TOP / "dropcheck").rglob("*.yaml"))]
    assert len(shipped) >= 3
    for path in shipped:
        assert valid(path.read_text(encoding="utf-8")), path


# ---- anything near the format --------------------------------------------------------------------

TEXTS = st.sampled_from(["T", "", " ", "a b", "3", "é\n"])
NUMBERS = st.sampled_from([0, 1, 2, 0.5, -1, 1e300])
ODD: st.SearchStrategy[Any] = st.sampled_from([None, True, [], {}, "x", 7, [1], {"a": 1}])
VALUES = st.sampled_from([1, 0.5, -2, "1/3", "normal(0, 1)", "banana", "", True, None])


def rarely(usual: st.SearchStrategy[Any], odd: st.SearchStrategy[Any] = ODD) -> Any:
    return st.integers(0, 9).flatmap(lambda n: odd if n == 0 else usual)


NAMES = st.sampled_from(["p", "n", "σ", "_x", "p2", "2p", "if", "d-k", ""])
CLAIM_KEYS: dict[str, Any] = {
    "model": rarely(TEXTS),
    "parameters": rarely(
        st.dictionaries(NAMES, rarely(st.one_of(VALUES, st.lists(VALUES, max_size=2))), max_size=2)
    ),
    "requires": rarely(st.one_of(TEXTS, st.lists(TEXTS, max_size=2))),
    "expect": rarely(st.sampled_from(["verified", "refuted", "no"])),
    "tolerance": rarely(NUMBERS),
    "resolution": rarely(NUMBERS),
    "within": rarely(NUMBERS),
    "section": rarely(TEXTS),
    "note": rarely(TEXTS),
    "tags": rarely(st.lists(TEXTS, max_size=2)),
    "other": TEXTS,
}
ONE_CLAIM = st.fixed_dictionaries(
    {"title": rarely(st.just("T")), "claim": rarely(st.just("1 == 1"))}, optional=CLAIM_KEYS
)
ONE_FILE = st.fixed_dictionaries(
    {
        "dropcheck": st.just(1),
        "claims": st.dictionaries(
            st.sampled_from(["a", "b-2", "B", "all", ""]), rarely(ONE_CLAIM), max_size=2
        ),
    },
    optional={
        "documents": rarely(
            st.dictionaries(
                st.sampled_from(["d", "D e"]),
                rarely(st.fixed_dictionaries({"title": rarely(TEXTS)}, optional={"url": TEXTS})),
                max_size=1,
            )
        ),
        "defaults": rarely(
            st.fixed_dictionaries(
                {},
                optional={key: CLAIM_KEYS[key] for key in ("expect", "resolution", "tags", "note")},
            )
        ),
    },
)


@given(ONE_FILE)
@settings(
    max_examples=250,
    suppress_health_check=[HealthCheck.too_slow],
)
def test_both_say_the_same_of_anything_near_the_format(data: dict[str, Any]) -> None:
    text = json.dumps(data, ensure_ascii=False)
    assert VALIDATOR.is_valid(data) == accepted(text)


# ---- what it says --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Key:
    """One key of the format, and what the schema says of it."""

    path: str
    schema: dict[str, Any]


def keys(schema: dict[str, Any], path: str) -> Iterator[Key]:
    for name, one in schema.get("properties", {}).items():
        found = one
        if "$ref" in one:
            found = {**SCHEMA["definitions"][one["$ref"].rsplit("/", 1)[1]], **one}
            del found["$ref"]
        yield Key(f"{path}{name}", found)
        yield from keys(found, f"{path}{name}.")


KEYS = [
    *keys(SCHEMA, ""),
    *(
        key
        for name in ("Document", "Claim")
        for key in keys(SCHEMA["definitions"][f"{name}Keys"], f"{name.lower()}.")
    ),
]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.path)
def test_each_key_has_a_description_and_examples_that_fit(key: Key) -> None:
    assert len(key.schema["description"]) > 10
    assert key.schema["examples"]
    part = Draft7Validator({**key.schema, "definitions": SCHEMA["definitions"]})
    for example in key.schema["examples"]:
        assert part.is_valid(example), example


def test_the_keys_are_those_that_are_read() -> None:
    """Each key by its absence from a message that lists the known ones."""
    for wrong, level in (("zzz: 1", ""), ("documents: {d: {title: T, zzz: 1}}", "document."),
                         ("defaults: {zzz: 1}", "defaults.")):  # fmt: skip
        with pytest.raises(DropcheckError) as refused:
            read_text(top(wrong))
        (problem,) = refused.value.problems
        assert problem.hint is not None
        told = set(problem.hint.removeprefix("the keys here are ").split(", "))
        assert told == {
            key.path.removeprefix(level)
            for key in KEYS
            if key.path.startswith(level) and "." not in key.path.removeprefix(level)
        }
    with pytest.raises(DropcheckError) as refused:
        read_text(claim("zzz: 1"))
    (problem,) = refused.value.problems
    assert problem.hint is not None
    told = set(problem.hint.removeprefix("the keys here are ").split(", "))
    assert told == {key.path.removeprefix("claim.") for key in KEYS if key.path[:6] == "claim."}


def test_the_patterns_are_read_alike_by_javascript() -> None:
    """Editors compile them by JavaScript's rules for Unicode, which allow less than Python's."""
    patterns = re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', json.dumps(SCHEMA))
    assert patterns
    for written in patterns:
        pattern = json.loads(written)
        # with the flag `u`, an escape is a class, a control, or of a sign of the syntax
        escapes = set(re.findall(r"\\(.)", pattern))
        assert escapes <= set(r"sSwWdDx.*+?^$/()[]{}|\-"), pattern
        assert "(?P" not in pattern


# ---- where it stands -----------------------------------------------------------------------------


def test_the_published_file_is_what_the_command_prints(cli: Cli) -> None:
    result = cli("schema")
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out) == SCHEMA
    assert (TOP / SCHEMA_FILE).read_text(encoding="utf-8") == result.out


def test_the_shipped_claims_name_the_schema() -> None:
    first = (TOP / "claims.yaml").read_text(encoding="utf-8").splitlines()[0]
    assert first == f"# yaml-language-server: $schema={SCHEMA_FILE}"
