"""The keys of a claims file: all are read, no error hides another, and the schema says the same."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import yaml
from cli_stub import Cli
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from dropcheck.claims.claimsfile import SCHEMA_FILE, ClaimKeys, claims_schema
from dropcheck.claims.reader import read_registries, read_registry, read_text
from dropcheck.claims.registry import MOST_CASES, Claim, SourceText
from dropcheck.claims.yaml_places import DEEPEST, LARGEST_FILE, Node, Problems, compose, decode
from dropcheck.errors import DropcheckError, Problem

GOOD = "dropcheck: 1\nclaims: {a: {title: T, claim: 1 == 1}}\n"


def claim_of(lines: str) -> Claim:
    """The one claim `a` of a file, with `lines` under its id."""
    (claim,) = read_text(file_with(lines), "f.yaml").claims.values()
    return claim


def file_with(lines: str) -> str:
    """A file of the one claim `a`, with `lines` under its id."""
    body = "".join(f"    {line}\n" if line else "\n" for line in lines.split("\n"))
    return f"dropcheck: 1\nclaims:\n  a:\n{body}"


def messages_of(text: str | bytes) -> tuple[Problem, ...]:
    """What the reader says of a file that it cannot read."""
    with pytest.raises(DropcheckError) as caught:
        read_text(text, "f.yaml")
    return caught.value.problems


def the_problem(text: str | bytes) -> Problem:
    """The only thing that the reader says of it."""
    found = messages_of(text)
    assert len(found) == 1, [problem.message for problem in found]
    return found[0]


def place(problem: Problem) -> tuple[int | None, int | None]:
    """Its line and column."""
    assert problem.location is not None
    return problem.location.line, problem.location.column


# ---- what is read --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "number"),
    [("010", 10), ("0o10", 8), ("0x10", 16), ("1e-3", 0.001), ("-0.0", 0), (".5", 0.5), ("+3", 3)],
)
def test_numbers_by_the_core_rules(written: str, number: float) -> None:
    claim = claim_of(f"title: T\nclaim: p == p\nparameters: {{p: {written}}}")
    assert claim.parameters["p"] == (number,)


# ---- files that cannot be read -------------------------------------------------------------------


def test_a_file_of_unbounded_size(tmp_path: Path) -> None:
    path = tmp_path / "claims.yaml"
    with path.open("wb") as stream:
        stream.truncate(LARGEST_FILE + 1)
    with pytest.raises(DropcheckError, match="larger than 16 MB"):
        read_registry(path)


# ---- several files -------------------------------------------------------------------------------


def written(folder: Path, name: str, identifier: str, more: str = "") -> str:
    """A file with one claim in the current folder; its name."""
    claim = f"claims: {{{identifier}: {{title: T, claim: 1 == 1, document: d}}}}"
    (folder / name).write_text(f"dropcheck: 1\ndocuments: {{d: {{title: D{more}}}}}\n{claim}\n")
    return name


def test_several_files_are_one_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("defaults.yaml").write_text(GOOD.replace("claims:", "defaults: {within: 2}\nclaims:"))
    first, second = written(tmp_path, "x.yaml", "b"), written(tmp_path, "y.yaml", "c")
    registry = read_registries(["defaults.yaml", first, second])
    assert registry.name == "defaults.yaml, x.yaml, y.yaml"
    assert [(one.id, one.location.file, one.within) for one in registry.claims.values()] == [
        ("a", "defaults.yaml", 2), ("b", "x.yaml", None), ("c", "y.yaml", None),
    ]  # fmt: skip
    assert list(registry.documents) == ["d"]


TOP = Path(__file__).parents[2]
SCHEMA = claims_schema()
VALIDATOR = Draft7Validator(SCHEMA)

WHOLE: dict[str, Any] = {
    "dropcheck": 1,
    "documents": {"post": {"title": "A post", "date": "2024", "url": "https://example.org"}},
    "models": {"line": "x ~ normal(0, 1)"},
    "defaults": {"within": 1, "expect": "refuted", "document": "post", "tags": ["a", "b"]},
    "claims": {
        "one": {
            "title": "One", "claim": "E(x) == p", "model": "x ~ normal(p, 1)",
            "parameters": {"p": [1, 0.5, "1/3"], "n": 4, "law": "normal(0, 1)"},
            "requires": "p > 0", "expect": "verified", "tolerance": 0.01, "resolution": 0.02,
            "document": "post", "section": "3", "note": "why", "tags": ["c"],
        },
        "two": {
            "title": "Two",
            "claim": "1 == 1",
            "cases": [{"p": 0.1, "n": 10}, {"p": 0.2, "n": "2**3"}],
            "requires": ["p > 0", "n > 1"],
            "section": "4",
        },
        "three": {
            "title": "Three",
            "model": "line",
            "sources": [{"document": "post", "section": "5"}, {"document": "post"}],
            "says": "what they say",
            "claims": {
                "mean": "E(x) == 0",
                "sd": {"claim": "Std(x) == 2", "expect": "refuted", "truth": "unit", "within": 1},
                "unit": {"claim": "Std(x) == 1", "expect": "verified", "title": "One", "note": "n"},
            },
        },
    },
}  # fmt: skip
Way = tuple[Any, ...]


def leaves(data: Any, way: Way = ()) -> list[Way]:
    """The way to each value that is no list and no mapping."""
    if isinstance(data, dict):
        return [one for key, value in data.items() for one in leaves(value, (*way, key))]
    if isinstance(data, list):
        return [one for key, value in enumerate(data) for one in leaves(value, (*way, key))]
    return [way]


def changed(data: dict[str, Any], way: Way, value: Any) -> dict[str, Any]:
    """A copy with another value at a place."""
    copied: Any = copy.deepcopy(data)
    inner = copied
    for step in way[:-1]:
        inner = inner[step]
    inner[way[-1]] = value
    return dict(copied)


def problems_of(data: dict[str, Any]) -> tuple[Problem, ...]:
    """What is reported of a file that holds the data; nothing of one that is read."""
    try:
        read_text(json.dumps(data, indent=1), "f.yaml")
    except DropcheckError as error:
        return error.problems
    return ()


LEAVES = [way for way in leaves(WHOLE) if way != ("dropcheck",)]
WRONG: list[Any] = [None, True, "", [[]], {"a": {}}]


def test_the_whole_file_is_read() -> None:
    assert problems_of(WHOLE) == ()
    given = {key for one in WHOLE["claims"].values() for key in one}
    given |= {"within", "truth", "asymptotic"}  # which go with other statements
    assert given == {*ClaimKeys.model_fields}


@pytest.mark.parametrize("way", LEAVES, ids=lambda way: ".".join(map(str, way)))
@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_a_wrong_value_is_reported_at_its_line(way: Way, value: Any) -> None:
    problem, *more = problems_of(changed(WHOLE, way, value))
    # a mapping of another key lacks its own too
    assert not more or way[-1] == "tolerance" or way[-2] == "claims"
    assert problem.location is not None
    assert problem.location.text is not None
    key = next(step for step in reversed(way) if isinstance(step, str))
    statement = isinstance(value, dict) and (way[-2] == "claims" or way[-1] == "tolerance")
    listed = isinstance(way[-1], int) or isinstance(value, list) or statement
    assert listed or f'"{key}"' in problem.location.text
    assert problem.message


ANYTHING = st.recursive(
    st.sampled_from([*WRONG, 0, 1, -1, 0.5, 1e308, 10**300, "x", "1/2", "normal(", "9**9**9"])
    | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(["p", "title", "claim", "tags", "a b"]), below)
    ),
    max_leaves=6,
)


@settings(max_examples=120)
@given(st.sampled_from([*LEAVES, *(way[:-1] for way in LEAVES if way[:-1])]), ANYTHING)
def test_whatever_a_file_holds_is_read_or_reported_with_its_place(way: Way, value: Any) -> None:
    data = changed(WHOLE, way, value)
    lines = json.dumps(data, indent=1).split("\n")
    for problem in problems_of(data):
        assert problem.location is not None
        assert problem.location.line is not None
        assert problem.location.text == lines[problem.location.line - 1]


# ---- the schema beside the reader ----


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


# What the reader refuses, by its words, and the schema does not say.
UNSAID = (
    *("write 0.05", "write 0.5", "divides by zero", "is too large", "must be a finite number"),
    *("rows of different lengths", "is a range, which", "its end is below", "needs a step above"),
    *("needs a start above", "holds one number alone", "values → write a larger", "the grid has"),
    *("and under 'parameters'", "gives no value for", "is .nan", "is 1.0", "there is no document"),
    *(
        "is '0%'",
        "'takes' holds",
        "there is no claim",
        "is false itself",
    ),
    *("'truth' belongs to", "there is no model", "stands below, or is this one"),
    *("a number, a vector or a law, and", "a vector holds numbers", "letters, digits and '_'"),
    *("is a word of the language", "'run all' means", "is not a model's name"),
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


# ---- what the schema says ------------------------------------------------------------------------


def test_the_published_file_is_what_the_command_prints(program: Cli) -> None:
    assert json.loads(program("schema").out) == SCHEMA
    assert (TOP / SCHEMA_FILE).read_text(encoding="utf-8") == program("schema").out


# ---- places and limits ----


def test_a_huge_grid_is_refused_before_it_is_expanded() -> None:
    values = list(range(40))
    grid = ", ".join(f"p{n}: {values}" for n in range(30))  # 40**30 cases
    start = time.process_time()
    problem = the_problem(file_with(f"title: T\nclaim: 1 == 1\nparameters: {{{grid}}}"))
    assert "cases (40 × 40 × " in problem.message
    assert f"the most is {MOST_CASES:,}" in problem.message
    assert place(problem) == (6, 5)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("data", "at", "message", "hint"),
    [
        (b"dropcheck: 1\n# caf\xe9\n", (2, 6), "not UTF-8: byte 0xe9 at offset 18", "UTF-8"),
        (b"a: 1\nb: \xc3", (2, 4), "not UTF-8: byte 0xc3 at offset 8", "UTF-8"),
        ("a: 1\nb: x\x00", (2, 5), "a NUL character", "delete it"),
        ("a: \x1b[31m", (1, 4), "the control character U+001B", "delete it"),
        ("a: x\u2028y", (1, 5), "U+2028", "delete it"),
        ("a: x\ufeffy", (1, 5), "byte order mark", "delete it"),
        ("{a: " * 1_000, (1, 4 * DEEPEST + 1), f"nested more than {DEEPEST} deep", "five levels"),
        ("- " * 1_000_000, (1, 2 * DEEPEST + 1), f"nested more than {DEEPEST} deep", "five levels"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_not_yaml(data: str | bytes, at: tuple[int, int], message: str, hint: str) -> None:
    start = time.process_time()
    problem = the_problem(data)
    assert message in problem.message
    assert place(problem) == at
    assert hint in (problem.hint or "")
    assert time.process_time() - start < 2  # each takes some 10 ms; following 10 MB takes minutes


LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)


def test_a_file_of_a_billion_laughs_is_only_reported() -> None:
    start = time.process_time()
    messages = [problem.message for problem in messages_of(LAUGHS)]
    assert sum("is an alias" in message for message in messages) == 81
    assert time.process_time() - start < 2


def assert_every_word_is_found(text: SourceText, file: str) -> None:
    lines = file.split("\n")
    for number, line in enumerate(text.text.split("\n")):
        for column, character in enumerate(line):
            if character == " ":
                continue
            at = text.locate(number, column)
            assert at.line is not None
            assert at.column is not None
            assert lines[at.line - 1][at.column - 1] == character, (number, column, at)
            assert at.text == lines[at.line - 1]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("E(x) == 0", "E(x) == 0"), ("   E(x) == 0   # note", "E(x) == 0"),
        ("'E(x) == 0'", "E(x) == 0"), ('"E(x) == 0"', "E(x) == 0"),
        ("E(x)\n    ==\n   0", "E(x) == 0"), ("'E(x)\n   ==\n   0'", "E(x) == 0"),
        ('"E(x)\n   ==\n\n   0"', "E(x) ==\n0"), ('"E(x) \\\n   == 0"', "E(x) == 0"),
        ("|\n  E(x) ==\n    0\n", "E(x) ==\n  0"), ("|2\n    E(x)\n   == 0", "  E(x)\n == 0"),
        ("|-\n\n  E(x)\n\n  == 0", "\nE(x)\n\n== 0"), (">\n  E(x)\n  ==\n\n  0\n", "E(x) ==\n0"),
        (">-  # folded\n  E(x) ==\n  0", "E(x) == 0"), ("E(σ·x) == σ", "E(σ·x) == σ"),
    ],
)  # fmt: skip
def test_each_character_of_a_text_leads_back_to_itself(written: str, text: str) -> None:
    file = file_with(f"title: T\nnote: é\nclaim: {written}\nmodel: x ~ normal(0, 1)")
    (claim,) = read_text(file).claims.values()
    assert claim.statement.text == text
    assert_every_word_is_found(claim.statement, file)
    assert claim.model is not None
    assert_every_word_is_found(claim.model, file)
