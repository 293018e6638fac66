"""The reader: what it yields, and what it says of a file that it cannot read."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from dropcheck.claims import compose, reader
from dropcheck.claims.checks import MOST_CASES
from dropcheck.claims.compose import DEEPEST, MOST_PROBLEMS
from dropcheck.claims.reader import load_registry, read_registry, read_text
from dropcheck.claims.registry import Claim, SourceText
from dropcheck.claims.source import LARGEST_FILE
from dropcheck.errors import DropcheckError, Problem

WHOLE = """\
dropcheck: 1                       # the version

documents:
  post:
    title: Scaling in a block
    date: 2024-02-13
    url: https://example.org/scaling

defaults:
  resolution: 0.02
  tags: [shared]

claims:
  qk-variance:
    title: The dot product
      has variance d_k
    document: post
    section: Some Math
    tags: [attention, no]
    note: |
      A sum of d_k terms.
    parameters:
      dk: [16, 64, 2**8]
      law: ["normal( 0,1 )", "rademacher()"]
      scale: 1e-3
    requires: dk > 0
    model: |
      # a comment of the language
      q ~ law[dk]

      k ~ normal(0, 1)[dk]
    claim: Var(q @ k) == dk
  listed:
    title: "Cases: in a list"
    cases:
      - {p: 0.1, n: 10}
      - {p: 1/2, n: 4e1}
    requires: [0 <= p, p < 1]
    expect: refuted
    tolerance: 0.005
    within: 0.5
    tags: []
    claim: 'p * n == 1'
"""


def claim_of(lines: str) -> Claim:
    """The one claim `a` of a file, with `lines` under its id."""
    (claim,) = read_text(file_with(lines), "f.yaml").claims.values()
    return claim


def file_with(lines: str) -> str:
    body = "".join(f"    {line}\n" if line else "\n" for line in lines.split("\n"))
    return f"dropcheck: 1\nclaims:\n  a:\n{body}"


def problems_of(text: str | bytes) -> tuple[Problem, ...]:
    with pytest.raises(DropcheckError) as caught:
        read_text(text, "f.yaml")
    return caught.value.problems


def the_problem(text: str | bytes) -> Problem:
    found = problems_of(text)
    assert len(found) == 1, [problem.message for problem in found]
    return found[0]


def place(problem: Problem) -> tuple[int | None, int | None]:
    assert problem.location is not None
    return problem.location.line, problem.location.column


# ---- what is read -------------------------------------------------------------------------------


def test_a_whole_file() -> None:
    registry = read_text(WHOLE, "claims.yaml")
    assert registry.name == "claims.yaml"
    assert registry.documents["post"].date == "2024-02-13"
    assert registry.documents["post"].url == "https://example.org/scaling"
    first, second = registry.claims.values()
    assert first.title == "The dot product has variance d_k"
    assert first.statement.text == "Var(q @ k) == dk"
    assert first.parameters == {
        "dk": (16.0, 64.0, 256.0),
        "law": ("normal(0, 1)", "rademacher()"),
        "scale": (0.001,),
    }
    assert first.cases is None
    assert [text.text for text in first.requires] == ["dk > 0"]
    assert (first.expect, first.tolerance, first.resolution) == ("verified", None, 0.02)
    assert first.own_resolution
    assert first.tags == ("attention", "no")
    assert first.note == "A sum of d_k terms."
    assert (first.location.line, first.location.column) == (14, 3)
    assert len(first.expand()) == 6
    assert second.cases == ({"p": 0.1, "n": 10.0}, {"p": 0.5, "n": 40.0})
    assert second.model is None
    assert (second.expect, second.tolerance, second.within) == ("refuted", 0.005, 0.5)
    assert not second.own_resolution  # its own `within` sets the defaults' resolution aside
    assert second.tags == ()  # its own, empty: the defaults' are not wanted
    place_of_n = second.parameter_locations["n"]
    assert (place_of_n.line, place_of_n.column) == (36, 18)


def test_defaults_stand_for_what_a_claim_leaves_out() -> None:
    defaults = "defaults: {within: 0.5, tags: [t], expect: refuted, section: S}\n"
    text = file_with("title: T\nclaim: 1 == 2").replace("claims:", defaults + "claims:")
    (claim,) = read_text(text).claims.values()
    assert (claim.within, claim.tags, claim.expect, claim.section) == (0.5, ("t",), "refuted", "S")
    own = text.replace("    title", "    resolution: 0.1\n    expect: verified\n    title")
    (claim,) = read_text(own).claims.values()
    assert (claim.within, claim.resolution, claim.expect) == (None, 0.1, "verified")


def test_nothing_set_is_the_format_s_own_default() -> None:
    claim = claim_of("title: T\nclaim: 1 == 1")
    assert (claim.resolution, claim.own_resolution, claim.expect) == (0.01, False, "verified")


@pytest.mark.parametrize(
    ("written", "number"),
    [("010", 10), ("0o10", 8), ("0x10", 16), ("1e-3", 0.001), ("-0.0", 0), (".5", 0.5), ("+3", 3)],
)
def test_numbers_by_the_core_rules(written: str, number: float) -> None:
    claim = claim_of(f"title: T\nclaim: p == p\nparameters: {{p: {written}}}")
    assert claim.parameters["p"] == (number,)


def test_a_negative_zero_is_the_same_case_as_zero() -> None:
    keys = {
        claim_of(f"title: T\nclaim: p == p\nparameters: {{p: {zero}}}").expand()[0].key
        for zero in ("0", "-0.0", "'-0'")
    }
    assert len(keys) == 1


@pytest.mark.parametrize("words", ["no", "on", "yes", "off", "2024-02-13", "1:30", "1_0"])
def test_what_only_yaml_1_1_takes_for_something_else_is_text(words: str) -> None:
    assert claim_of(f"title: {words}\nclaim: 1 == 1").title == words


def test_line_ends_and_a_byte_order_mark_make_no_difference() -> None:
    expected = read_text(WHOLE)
    for text in ("\ufeff" + WHOLE, WHOLE.replace("\n", "\r\n")):
        registry = read_text(text)
        assert registry.claims.keys() == expected.claims.keys()
        for name, claim in registry.claims.items():
            assert claim.statement.origins == expected.claims[name].statement.origins


# ---- where the texts stand ----------------------------------------------------------------------


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
        ("E(x) == 0", "E(x) == 0"),
        ("   E(x) == 0   # note", "E(x) == 0"),
        ("'E(x) == 0'", "E(x) == 0"),
        ('"E(x) == 0"', "E(x) == 0"),
        ("E(x)\n    ==\n   0", "E(x) == 0"),
        ("'E(x)\n   ==\n   0'", "E(x) == 0"),
        ('"E(x)\n   ==\n\n   0"', "E(x) ==\n0"),
        ('"E(x) \\\n   == 0"', "E(x) == 0"),
        ("|\n  E(x) ==\n    0\n", "E(x) ==\n  0"),
        ("|2\n    E(x)\n   == 0", "  E(x)\n == 0"),
        ("|-\n\n  E(x)\n\n  == 0", "\nE(x)\n\n== 0"),
        (">\n  E(x)\n  ==\n\n  0\n", "E(x) ==\n0"),
        (">-  # folded\n  E(x) ==\n  0", "E(x) == 0"),
        ("E(σ·x) == σ", "E(σ·x) == σ"),
    ],
)
def test_each_character_of_a_text_leads_back_to_itself(written: str, text: str) -> None:
    file = file_with(f"title: T\nnote: é\nclaim: {written}\nmodel: x ~ normal(0, 1)")
    (claim,) = read_text(file).claims.values()
    assert claim.statement.text == text
    assert_every_word_is_found(claim.statement, file)
    assert claim.model is not None
    assert_every_word_is_found(claim.model, file)


def test_an_escape_leads_back_to_within_its_length() -> None:
    file = file_with('title: T\nclaim: "E(x) \\x3d= 0 + y"')
    (claim,) = read_text(file).claims.values()
    assert claim.statement.text == "E(x) == 0 + y"
    assert_every_word_is_found(replace(claim.statement, text="E(x)"), file)
    at = claim.statement.locate(0, 12)
    assert at.line == 5
    assert abs((at.column or 0) - (file.split("\n")[4].index("y") + 1)) <= len("\\x3d")


def test_the_texts_of_a_list_have_their_own_places() -> None:
    file = file_with("title: T\nclaim: p == p\nparameters: {p: 1}\nrequires: [0 <= p, 'p < 2']")
    (claim,) = read_text(file).claims.values()
    assert [text.text for text in claim.requires] == ["0 <= p", "p < 2"]
    for text in claim.requires:
        assert_every_word_is_found(text, file)


def test_a_wrong_origin_would_be_seen() -> None:
    file = file_with("title: T\nclaim: E(x) == 0")
    (claim,) = read_text(file).claims.values()
    line, column = claim.statement.origins[0]
    moved = replace(claim.statement, origins=((line, column + 1),))
    with pytest.raises(AssertionError):
        assert_every_word_is_found(moved, file)


# ---- files that cannot be read ------------------------------------------------------------------


def file_problem(path: Path) -> Problem:
    with pytest.raises(DropcheckError) as caught:
        read_registry(path)
    (problem,) = caught.value.problems
    return problem


def test_a_missing_file_names_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "claims.yaml").write_text(WHOLE)
    problem = file_problem(tmp_path / "claim.yaml")
    assert "there is no file" in problem.message
    assert "claim.yaml" in problem.message
    assert problem.hint == "did you mean 'claims.yaml'?"
    assert problem.location is not None
    assert problem.location.line is None


def test_a_missing_folder(tmp_path: Path) -> None:
    assert "there is no folder" in (file_problem(tmp_path / "no" / "claims.yaml").hint or "")


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(WHOLE)
    problem = file_problem(tmp_path)
    assert "is a folder" in problem.message
    assert problem.hint == "name the file in it: mine.yaml"


def test_an_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(WHOLE)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # root may read everything
    assert "cannot be read: permission denied" in file_problem(path).message


def test_a_name_that_no_file_can_have() -> None:
    assert "there is no file" in file_problem(Path("a\0b")).message or "cannot be read" in (
        file_problem(Path("a\0b")).message
    )


def test_a_file_of_unbounded_size(tmp_path: Path) -> None:
    path = tmp_path / "claims.yaml"
    with path.open("wb") as stream:
        stream.truncate(LARGEST_FILE + 1)
    assert "larger than 16 MB" in file_problem(path).message


# ---- bytes and YAML -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "at", "message", "hint"),
    [
        (b"dropcheck: 1\n# caf\xe9\n", (2, 6), "not UTF-8: byte 0xe9 at offset 18", "UTF-8"),
        (b"\xff\xfed\x00", (1, 1), "not UTF-8: byte 0xff at offset 0", "UTF-8"),
        (b"a: 1\nb: \xc3", (2, 4), "not UTF-8: byte 0xc3 at offset 8", "UTF-8"),
        ("a: 1\nb: x\x00", (2, 5), "a NUL character", "delete it"),
        ("a: \x1b[31m", (1, 4), "the control character U+001B", "delete it"),
        ("a: x\u2028y", (1, 5), "U+2028", "delete it"),
        ("a: x\ufeffy", (1, 5), "byte order mark", "delete it"),
        ("", (1, 1), "the file is empty", "begins with 'dropcheck: 1'"),
        ("\n \n", (1, 1), "the file is empty", "begins with 'dropcheck: 1'"),
        ("---\n", (1, 1), "the file is empty", "begins with 'dropcheck: 1'"),
        ("# one\n# two\n", (1, 1), "only comments", "begins with 'dropcheck: 1'"),
        ("- a\n", (1, 1), "is a mapping of names to values, and this is a list", "begins with"),
        ("claims", (1, 1), "and this is 'claims'", "begins with"),
        ("a:\n\tb: 1", (2, 1), "a tab stands where YAML needs spaces", "indent with spaces"),
        ("a: 1\n \tb: 1", (2, 2), "a tab stands where YAML needs spaces", "indent with spaces"),
        ("a: 'x", (1, 4), "the quote ' that opens here is never closed", "close it with '"),
        ('a: 1\nb: "x\nc: d\n', (2, 4), 'the quote " that opens here is never', 'close it with "'),
        ("title: One: two", (1, 11), "a title that holds ': ' needs quotes", '"One: two"'),
        ("note: One: 2\nb: 1", (1, 10), "a text that holds ': ' needs quotes", '"One: 2"'),
        ("a: 1\n  b: 2", (2, 4), "a key cannot stand here", "indent it like the keys"),
        ("a: [1, 2", (1, 4), "',' or ']' is expected by the end of the file", "close it with ']'"),
        ("a: [1\nb: 3", (1, 4), "',' or ']' is expected by line 2, column 2", "close it with ']'"),
        ("a: {b: 1", (1, 4), "',' or '}' is expected by the end of the file", "close it with '}'"),
        ("a: ]", (1, 4), "a value is expected here", "']' is none"),
        ("a: 1\n}", (2, 1), "'}' closes no bracket", "take it out"),
        ("a: @x", (1, 4), "a text cannot begin with '@' unless it is quoted", "'@x'"),
        ("a: `x`", (1, 4), "a text cannot begin with '`' unless it is quoted", "'`x`'"),
        ("a: [*, b]", (1, 5), "a text cannot begin with '*' unless it is quoted", "quotes"),
        ("a: - b", (1, 4), "a list of '- …' cannot begin on this line", "[a, b]"),
        ("- a\nb: 1", (2, 1), "an item of the list", "in column 1"),
        ("a:\n    b: 1\n  c: 2", (3, 3), "the indentation fits none", "indent it like the keys"),
        ("a: 'it's'", (1, 8), "a line break is expected here", "'it''s'"),
        ("a: b\nc", (2, 1), "a key with ': ' after it is expected here", "key: value"),
        ("a: > x", (1, 6), "text cannot stand on the line of '>'", "next line"),
        ('a: "\\q"', (1, 5), "escape after '\\'", "single quotes"),
        ("  a: 1\nb: 2", (2, 1), "has ended before this", "first column"),
        ("%NO\na: 1", (1, 4), "this is not YAML: found unknown directive name", ""),
        ("[" * 10_000_000, (1, DEEPEST + 1), f"nested more than {DEEPEST} deep", "five levels"),
        ("{a: " * 1_000, (1, 4 * DEEPEST + 1), f"nested more than {DEEPEST} deep", "five levels"),
        ("- " * 1_000_000, (1, 2 * DEEPEST + 1), f"nested more than {DEEPEST} deep", "five levels"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_no_yaml(data: str | bytes, at: tuple[int, int], message: str, hint: str) -> None:
    start = time.perf_counter()
    problem = the_problem(data)
    assert message in problem.message
    assert place(problem) == at
    assert hint in (problem.hint or "")
    assert time.perf_counter() - start < 2  # each takes some 10 ms; following 10 MB takes minutes


def test_a_file_of_too_many_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compose, "MOST_NODES", 60)
    read_text(WHOLE.split("  listed:", maxsplit=1)[0])
    assert "more than 60 entries" in the_problem(WHOLE).message


GOOD = "dropcheck: 1\nclaims: {a: {title: T, claim: 1 == 1}}\n"
LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "at", "message", "hint"),
    [
        (GOOD + "---\na: 1\n", (3, 1), "more than one YAML document", "split the file"),
        (GOOD.replace("1 ==", "&x 1 =="), (2, 31), "'&x' is an anchor", "take it out"),
        (GOOD.replace("1 == 1", "*x"), (2, 31), "'*x' is an alias", "write the value out"),
        (GOOD.replace("1 ==", "!!str 1 =="), (2, 31), "'!!str' is a tag", "in quotes"),
        (GOOD.replace("T,", "!!python/object/apply:os.system [ls],"), (2, 21), "is a tag", ""),
        (
            GOOD.replace("{title", "{<<: {note: N}, title"),
            (2, 14),
            "'<<' is a merge key",
            "merging",
        ),
        (
            GOOD.replace("T,", "T, title: U,"),
            (2, 24),
            "'title' stands twice: first on line 2",
            "one",
        ),
        (GOOD.replace("T,", '"\\e[2J",'), (2, 21), "the control character U+001B", "escape out"),
        (GOOD + "claims: {}\n", (3, 1), "'claims' stands twice: first on line 2", "rename"),
        (GOOD.replace("T,", "T, ? [b] : 1,"), (2, 26), "a key must be a name, and is a list", ""),
    ],
)
def test_what_yaml_has_and_the_format_has_not(
    text: str, at: tuple[int, int], message: str, hint: str
) -> None:
    problem = problems_of(text)[0]
    assert message in problem.message
    assert place(problem) == at
    assert hint in (problem.hint or "")


def test_the_file_that_these_vary_is_good() -> None:
    assert list(read_text(GOOD).claims) == ["a"]


def test_a_file_of_a_billion_laughs_is_only_told_of() -> None:
    start = time.perf_counter()
    messages = [problem.message for problem in problems_of(LAUGHS)]
    assert sum("is an alias" in message for message in messages) == 81
    assert time.perf_counter() - start < 2


# ---- the schema ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "at", "message", "hint"),
    [
        ("dropcheck: 1", "", (1, 1), "'dropcheck: 1' is missing", "its first line"),
        ("dropcheck:", "dropchek:", (1, 1), "the file has no key 'dropchek'", "'dropcheck'?"),
        ("check: 1", "check: 2", (1, 12), "format 2 is not known: this version reads", "newer"),
        (
            "check: 1",
            "check: '1'",
            (1, 12),
            "the number of the format, 1, and is '1'",
            "dropcheck: 1",
        ),
        ("check: 1", "check: true", (1, 12), "the number of the format, 1, and is true", ""),
        ("check: 1", "check:", (1, 11), "the number of the format, 1, and is empty", ""),
        ("claims:", "claim:", (13, 1), "the file has no key 'claim'", "did you mean 'claims'?"),
        ("documents:", "extra: 1\ndocuments:", (3, 1), "no key 'extra'", "the keys here are"),
        ("documents:", "note: 1\ndocuments:", (3, 1), "no key 'note'", "under the claim's id"),
        ("    url:", "    urls:", (7, 5), "document 'post' has no key 'urls'", "'url'?"),
        ("date: 2024-02-13", "date: 2024", (6, 11), "'date' must be text, and is 2024", "'2024'"),
        ("  resolution: 0.02", "  tolerance: 0.02", (10, 3), "'defaults' has no key", "each claim"),
        ("    title: The", "    titel: The", (15, 5), "claim 'qk-variance' has no key", "'title'?"),
        ("document: post", "document: pots", (17, 15), "there is no document 'pots'", "'post'?"),
        ("section: Some Math", "section: 3.1", (18, 14), "'section' must be text", "quotes: '3.1'"),
        (
            "section: Some Math",
            "section:",
            (18, 5),
            "'section' has no value",
            "leave it",
        ),
        ("[attention, no]", "attention", (19, 11), "'tags' must be a list", "write [attention]"),
        ("[attention, no]", "[a, 3]", (19, 15), "an item of 'tags' must be text", "'3'"),
        ("[attention, no]", "{a: b}", (19, 5), "'tags' must be a list, and is a mapping", ""),
        ("[16, 64, 2**8]", "[]", (23, 7), "'dk' is empty", "leave it out"),
        ("[16, 64, 2**8]", "[16, 2**4]", (23, 7), "'dk' holds 16 twice", "take one out"),
        ("[16, 64, 2**8]", "[16, true]", (23, 16), "and is a truth value", "1 or 0"),
        ("[16, 64, 2**8]", "[16, .nan]", (23, 16), "must be a finite number", "512"),
        ("[16, 64, 2**8]", "-.inf", (23, 11), "'dk' must be a finite number", "512"),
        ("[16, 64, 2**8]", "[16, banana]", (23, 16), "'banana' is neither a number nor", "normal"),
        ("[16, 64, 2**8]", "normal", (23, 11), "'normal' is neither a number nor a law", "(0, 1)"),
        ("[16, 64, 2**8]", "'normal(0, 1'", (23, 11), "brackets that do not match", "(0, 1)"),
        ("[16, 64, 2**8]", "'normal(0, 1)[3]'", (23, 11), "goes on after the law's", "(0, 1)"),
        ("[16, 64, 2**8]", "[16, [64]]", (23, 16), "and is a list", "one level deep"),
        ("[16, 64, 2**8]", "9**9**9", (23, 11), "'9**9**9' is too large", "512"),
        ("[16, 64, 2**8]", "1/0", (23, 11), "'1/0' divides by zero", "512"),
        ("[16, 64, 2**8]", "1" + "0" * 400, (23, 11), "is too large a number", "1.8e308"),
        ("[16, 64, 2**8]", "1" + "0" * 9000, (23, 11), "is too large a number", "1.8e308"),
        ("[16, 64, 2**8]", "1e999", (23, 11), "1e999 is too large a number", "1.8e308"),
        ("scale: 1e-3", "d-k: 1", (25, 7), "'d-k' is no name", "call it 'd_k'"),
        ("scale: 1e-3", "2x: 1", (25, 7), "'2x' is no name", ""),
        ("scale: 1e-3", "lambda: 1", (25, 7), "is a word of the language", "'lambda_'"),
        ("scale: 1e-3", "not: 1", (25, 7), "is a word of the language", "'not_'"),
        ("requires: dk > 0", "requires: [dk > 0, 3]", (26, 24), "'requires' must be text", "'3'"),
        ("tags: []", "model: 3", (42, 12), "'model' must be lines of text, and is 3", ""),
        (
            "claim: Var(q @ k) == dk",
            "claim: 3",
            (32, 12),
            "'claim' must be a statement",
            "E(x) == 3",
        ),
        ("claim: Var(q @ k) == dk", "x-y: 3", (32, 5), "has no key 'x-y'", "the keys here are"),
        ("claim: Var(q @ k) == dk", "", (14, 3), "claim 'qk-variance' lacks 'claim'", "Var(q"),
        ("  qk-variance:", "  QK_variance:", (14, 3), "is no claim id", "call it 'qk-variance'"),
        ("  qk-variance:", "  -qk:", (14, 3), "'-qk' is no claim id", "call it 'qk'"),
        ("  qk-variance:", "  all:", (14, 3), "cannot be called 'all'", "another id"),
        ("- {p: 0.1, n: 10}", "- {p: 0.1}", (36, 9), "no value for 'n', which another", "same"),
        ("- {p: 0.1, n: 10}", "- {p: 0.1, N: 10}", (36, 9), "no value for 'n'", "mean 'n'?"),
        ("- {p: 0.1, n: 10}", "- {p: 0.1, n: [1]}", (36, 18), "'n' must be a number", "parameters"),
        ("- {p: 0.1, n: 10}", "- 3", (36, 9), "an item of 'cases' must be a mapping", "- {p: 0.1"),
        ("- {p: 0.1, n: 10}", "- {}", (36, 9), "an item of 'cases' is empty", "leave it out"),
        ("- {p: 0.1, n: 10}", "- {p: 0.5, n: 40}", (35, 5), "items 1 and 2 are alike", "take one"),
        (
            "    cases:",
            "    parameters: {n: 1}\n    cases:",
            (37, 18),
            "'n' stands under 'cases'",
            "one",
        ),
        ("expect: refuted", "expect: refutes", (39, 13), "'verified' or 'refuted'", "'refuted'?"),
        ("expect: refuted", "expect: 3", (39, 13), "'verified' or 'refuted', and is 3", ""),
        ("tolerance: 0.005", "tolerance: -1", (40, 16), "greater than 0 and less than 1", ""),
        ("tolerance: 0.005", "tolerance: 5", (40, 16), "less than 1, and is 5", "'within 5%'"),
        ("within: 0.5", "resolution: banana", (41, 17), "greater than 0, and is 'banana'", ""),
        ("within: 0.5", "resolution: 0", (41, 17), "a number greater than 0, and is 0", ""),
        ("within: 0.5", "resolution: .inf", (41, 17), "greater than 0, and is .inf", ""),
        ("within: 0.5", "resolution: .nan", (41, 17), "greater than 0, and is .nan", ""),
        ("within: 0.5", "resolution: true", (41, 17), "greater than 0, and is true", ""),
        ("within: 0.5", "resolution: 1/100", (41, 17), "and is '1/100'", "write 0.01"),
        (
            "within: 0.5",
            "within: 1\n    resolution: 1",
            (42, 5),
            "both 'resolution' and",
            "keep one",
        ),
        ("tags: []", "tags: ['']", (42, 12), "an item of 'tags' must not be empty", ""),
        ('title: "Cases: in a list"', "title: 3", (34, 12), "'title' must be text", "'3'"),
        ('title: "Cases: in a list"', "title: ' '", (34, 12), "'title' must not be empty", ""),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_no_claims_file(
    old: str, new: str, at: tuple[int, int], message: str, hint: str
) -> None:
    assert old in WHOLE
    found = problems_of(WHOLE.replace(old, new, 1))
    (problem,) = [one for one in found if message in one.message]
    assert place(problem) == at
    assert hint in (problem.hint or "")
    assert problem.location is not None
    assert problem.location.file == "f.yaml"
    assert problem.location.text == WHOLE.replace(old, new, 1).split("\n")[at[0] - 1]


@pytest.mark.parametrize(
    ("claims", "at", "message"),
    [
        ("claims: {}", (2, 1), "'claims' is empty"),
        ("claims:", (2, 1), "'claims' has no value"),
        ("claims: [a]", (2, 1), "'claims' must be a mapping of names to values, and is a list"),
        ("claims:\n  a: 3", (3, 6), "claim 'a' must be a mapping of names to values, and is 3"),
        ("claims:\n  a:", (3, 3), "claim 'a' has no value"),
        ("", (1, 1), "the file lacks 'claims'"),
    ],
)
def test_no_claims(claims: str, at: tuple[int, int], message: str) -> None:
    problem = the_problem("dropcheck: 1\n" + claims)
    assert problem.message == message
    assert place(problem) == at


def test_all_errors_at_once_in_file_order() -> None:
    text = (
        WHOLE.replace("expect: refuted", "expect: no")
        .replace("resolution: 0.02", "resolution: -1")
        .replace("document: post", "document: &x pots")
        .replace("section: Some", "section: !!str Some")
    )
    places = [place(problem) for problem in problems_of(text)]
    assert places == [(10, 15), (17, 15), (17, 15), (18, 14), (39, 13)]


def test_a_file_in_another_format_is_judged_by_its_version_alone() -> None:
    assert "format 7" in the_problem("dropcheck: 7\nfoo: 1\nclaims: 3").message


def test_what_is_broken_is_told_of_once() -> None:
    text = file_with("title: T\nclaim: 1 == 1\nparameters: {p: 1e999, q: *x}")
    assert [problem.message[:20] for problem in problems_of(text)] == [
        "1e999 is too large a",
        "'*x' is an alias",
    ]


def test_a_huge_grid_is_refused_before_it_is_expanded() -> None:
    values = list(range(40))
    grid = ", ".join(f"p{n}: {values}" for n in range(30))  # 40**30 cases
    start = time.perf_counter()
    problem = the_problem(file_with(f"title: T\nclaim: 1 == 1\nparameters: {{{grid}}}"))
    assert "cases (40 × 40 × " in problem.message
    assert f"the most is {MOST_CASES:,}" in problem.message
    assert place(problem) == (6, 5)
    assert time.perf_counter() - start < 2


def test_the_largest_grid_is_taken() -> None:
    values = list(range(MOST_CASES // 10))
    claim = claim_of(f"title: T\nclaim: 1 == 1\nparameters: {{a: {values}, b: {values[:10]}}}")
    assert len(claim.expand()) == MOST_CASES


def test_many_large_grids_are_refused_together() -> None:
    claims = "".join(
        f"  c{n}: {{title: T, claim: 1 == 1, parameters: {{a: &, b: &}}}}\n" for n in range(11)
    ).replace("&", str(list(range(316))))
    assert "the file has 1,098,416 cases" in the_problem("dropcheck: 1\nclaims:\n" + claims).message


def test_of_very_many_errors_the_first_are_told() -> None:
    text = file_with("title: T\nclaim: 1 == 1\n" + "\n".join(f"k{n}: 1" for n in range(3_000)))
    found = problems_of(text)
    assert len(found) == MOST_PROBLEMS + 1
    assert found[-1].message == "there are more problems"


def test_a_thousand_claims_are_read_quickly() -> None:
    claims = "".join(
        f"  c{n}:\n    title: Claim {n}\n    parameters: {{p: [0.1, 0.5]}}\n"
        f"    model: |\n      x ~ normal(0, 1)\n      y = x * p\n    claim: E(y) == 0\n"
        for n in range(1_000)
    )
    start = time.perf_counter()
    registry = read_text("dropcheck: 1\nclaims:\n" + claims)
    assert len(registry.claims) == 1_000
    assert time.perf_counter() - start < 2  # 0.1 s on a quiet machine


# ---- which registry -----------------------------------------------------------------------------


def test_the_registry_named_then_the_folder_s_then_the_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = tmp_path / "package" / "claims.yaml"
    shipped.parent.mkdir()
    shipped.write_text(GOOD)
    monkeypatch.setattr(reader, "_shipped", lambda: shipped)
    assert load_registry(None).name == "claims.yaml (shipped with dropcheck)"
    Path("claims.yaml").write_text(WHOLE)
    assert load_registry(None).name == "claims.yaml"
    assert "qk-variance" in load_registry(None).claims
    Path("other.yaml").write_text(GOOD)
    assert load_registry("other.yaml").name == "other.yaml"
    with pytest.raises(DropcheckError, match=r"there is no file 'absent\.yaml'"):
        load_registry("absent.yaml")


def test_the_shipped_registry_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_registry(None).name == reader.SHIPPED_NAME


def test_reading_imports_no_numpy() -> None:
    code = (
        "import sys; from dropcheck.claims import reader, selection;"
        f"reader.read_text({GOOD!r}); print({{'numpy', 'scipy'}} & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
