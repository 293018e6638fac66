"""The published schema: it accepts what `check` accepts in structure, and rejects what it rejects.

What a JSON Schema cannot say is listed as such, so that the list is seen to be short.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from bad_inputs import CLAIMS as BAD_CLAIMS
from bad_inputs import FILES as BAD_FILES
from cli_stub import CLAIMS, Cli
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from dropcheck.claims.claimsfile import SCHEMA_FILE, claims_schema
from dropcheck.claims.reader import read_text
from dropcheck.claims.yaml_places import Listing, Problems, Scalar, Tree, YamlNode, compose, decode
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


def plain(node: YamlNode) -> Any:
    """What a node holds, as JSON does."""
    match node:
        case Listing():
            return [plain(item) for item in node.items]
        case Tree():
            return {key: plain(entry.node) for key, entry in node.entries.items()}
        case Scalar():
            return node.value
    raise AssertionError(node)


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

BAD = {
    "no format": claim().replace("dropcheck: 1\n", ""),
    "another format": claim().replace("dropcheck: 1", "dropcheck: 2"),
    "a format as text": claim().replace("dropcheck: 1", "dropcheck: '1'"),
    "no claims": "dropcheck: 1\nclaims: {}\n",
    "claims missing": "dropcheck: 1\n",
    "a list of claims": "dropcheck: 1\nclaims: [a]\n",
    "a file that is a list": "[1]",
    "a file that is text": "hello",
    "a key too many": top("more: 1"),
    "an id in capitals": claim().replace("  c:", "  C:"),
    "an id with a space": claim().replace("  c:", "  c d:"),
    "an id that means all": claim().replace("  c:", "  all:"),
    "a claim that is text": "dropcheck: 1\nclaims: {c: text}\n",
    "a claim without a value": "dropcheck: 1\nclaims:\n  c:\n",
    "no statements": several(""),
    "a statement and statements": claim("claims: {a: 1 == 1}"),
    "a tolerance of all statements": several("a: 1 == 1") + "    tolerance: 0.1\n",
    "a statement with a model": several("a: {claim: 1 == 1, model: y = 1}"),
    "a statement without one": several("a: {title: T}"),
    "a statement that is a number": several("a: 3"),
    "a name in capitals": several("A: 1 == 1"),
    "a passage without a document": claim("sources: [{section: S}]"),
    "passages and a section": top("documents: {d: {title: D}}")
    + "    sources: [{document: d}]\n    section: S\n",
    "a model that is a number": top("models: {one: 1}"),
    "a model's name with a dot": top("models: {one.b: y = 1}"),
    "no title": claim().replace("    title: T\n", ""),
    "no statement": claim().replace("    claim: 1 == 1\n", ""),
    "a title that is a number": claim(title="3"),
    "an empty title": claim(title="''"),
    "a blank title": claim(title="'  '"),
    "a statement that is a list": claim(statement="[1 == 1]"),
    "a statement without a value": claim(statement=""),
    "an unknown key": claim("notes: N"),
    "an empty model": claim("model: ''"),
    "a model without a value": claim("model:"),
    "parameters as a list": claim("parameters: [p]"),
    "a parameter without a value": claim("parameters: {p: }"),
    "an empty grid": claim("parameters: {p: []}"),
    "a vector of matrices": claim("parameters: {p: [[[[1]]]]}"),
    "an empty vector": claim("parameters: {p: [[]]}"),
    "a vector of words": claim("parameters: {p: [[banana]]}"),
    "a range without a step": claim("parameters: {p: 0..1}"),
    "a value twice": claim("parameters: {p: [1, 1.0]}"),
    "a truth": claim("parameters: {p: true}"),
    "neither number nor law": claim("parameters: {p: banana}"),
    "an infinite value": claim("parameters: {p: .inf}"),
    "a name with a hyphen": claim("parameters: {d-k: 1}"),
    "a name of the language": claim("parameters: {if: 1}"),
    "a name that begins with a digit": claim("parameters: {2p: 1}"),
    "no cases": claim("cases: []"),
    "a case that is empty": claim("cases: [{}]"),
    "a case that is a number": claim("cases: [1]"),
    "a case with a mapping": claim("cases: [{p: {}}]"),
    "a case twice": claim("cases: [{p: 1}, {p: 1}]"),
    "a case with a word for a name": claim("cases: [{lambda: 1}]"),
    "a condition that is a number": claim("requires: 1"),
    "an empty condition": claim("requires: ['']"),
    "another verdict": claim("expect: true"),
    "a verdict misspelt": claim("expect: verifed"),
    "a tolerance of 0": claim("tolerance: 0"),
    "a tolerance of 1": claim("tolerance: 1"),
    "a tolerance without a number": claim("tolerance: {}"),
    "an absolute tolerance of 0": claim("tolerance: {absolute: 0}"),
    "a tolerance misspelt": claim("tolerance: {absolut: 1}"),
    "a tolerance as text": claim("tolerance: '0.1'"),
    "a resolution of 0": claim("resolution: 0"),
    "an infinite resolution": claim("resolution: .inf"),
    "a negative width": claim("within: -1"),
    "both ways": claim("resolution: 0.1;within: 0.1"),
    "both ways for all": top("defaults: {resolution: 0.1, within: 0.1}"),
    "a statement for all": top("defaults: {claim: 1 == 1}"),
    "a tolerance for all": top("defaults: {tolerance: 0.1}"),
    "defaults without a value": top("defaults:"),
    "a document without a title": top("documents: {d: {date: '2024'}}"),
    "a document's unknown key": top("documents: {d: {title: D, author: A}}"),
    "a date that is no year": top("documents: {d: {title: D, date: 24}}"),
    "tags as text": claim("tags: a"),
    "an empty tag": claim("tags: ['']"),
    "a tag that is a number": claim("tags: [1]"),
    "a note that is a number": claim("note: 3"),
}

# Refused by `check`, and beyond what a JSON Schema can say.
UNSAID = {
    "an unknown document": claim("document: d"),
    "a name under both": claim("parameters: {p: 1};cases: [{p: 2}]"),
    "cases that are not alike": claim("cases: [{p: 1}, {n: 2}]"),
    "one number in two spellings": claim("parameters: {p: [1, '1']}"),
    "rows of different lengths": claim("parameters: {p: [[[1], [1, 2]]]}"),
    "a range that falls": claim("parameters: {p: 2..1 by 1}"),
    "a range in a case": claim("cases: [{p: 1..2 by 1}]"),
    "arithmetic that has no value": claim("parameters: {p: 1/0}"),
    "brackets that do not match": claim("parameters: {law: 'normal(0, [1)'}"),
    "1 written as a fraction": claim().replace("dropcheck: 1", "dropcheck: 1.0"),
    "not a number": claim("resolution: .nan"),
}


def test_the_schema_is_one() -> None:
    Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize("what", GOOD)
def test_what_check_accepts_is_valid(what: str) -> None:
    assert accepted(GOOD[what])
    assert valid(GOOD[what])


@pytest.mark.parametrize("what", BAD)
def test_what_check_rejects_is_invalid(what: str) -> None:
    assert not accepted(BAD[what])
    assert not valid(BAD[what])


@pytest.mark.parametrize("what", UNSAID)
def test_what_no_schema_can_say(what: str) -> None:
    assert not accepted(UNSAID[what])
    assert valid(UNSAID[what])


def test_the_files_that_ship_are_valid() -> None:
    shipped = [TOP / "claims.yaml", *sorted((TOP / "dropcheck").rglob("*.yaml"))]
    assert len(shipped) >= 3
    for path in shipped:
        assert valid(path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("what", BAD_CLAIMS)
def test_what_is_wrong_in_the_language_alone_is_valid(what: str) -> None:
    text = BAD_CLAIMS[what].text
    assert isinstance(text, str)
    assert valid(text) == accepted(text)


@pytest.mark.parametrize(
    "what",
    [
        "an unknown key",
        "a list for a statement",
        "text for a number",
        "no claims",
        "another version",
        "a truth for a parameter",
    ],
)
def test_bad_files_are_invalid(what: str) -> None:
    text = BAD_FILES[what].text
    assert isinstance(text, str)
    assert not valid(text)


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
            found = SCHEMA["definitions"][one["$ref"].rsplit("/", 1)[1]]
        yield Key(f"{path}{name}", found)
        yield from keys(found, f"{path}{name}.")


KEYS = [
    *keys(SCHEMA, ""),
    *(
        key
        for name in ("document", "claim")
        for key in keys(SCHEMA["definitions"][name], f"{name}.")
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
