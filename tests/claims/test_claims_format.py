"""What is not a claims file: each key's type, range and place, and how much is too much."""

from __future__ import annotations

import time

import pytest
from claims_texts import WHOLE, claim_of, file_with, place, problems_of, the_problem

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import MOST_CASES
from dropcheck.errors import MOST_PROBLEMS


@pytest.mark.parametrize(
    ("old", "new", "at", "message", "hint"),
    [
        ("dropcheck: 1", "", (1, 1), "the file lacks 'dropcheck'", "its first line"),
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
        ("check: 1", "check:", (1, 1), "'dropcheck' has no value", "'dropcheck: 1'"),
        ("claims:", "claim:", (13, 1), "the file has no key 'claim'", "did you mean 'claims'?"),
        ("documents:", "extra: 1\ndocuments:", (3, 1), "no key 'extra'", "the keys here are"),
        ("documents:", "note: 1\ndocuments:", (3, 1), "no key 'note'", "under the claim's id"),
        ("    url:", "    urls:", (7, 5), "document 'post' has no key 'urls'", "'url'?"),
        (
            "date: 2024-02-13",
            "date: 20.24",
            (6, 11),
            "'date' must be text, and is 20.24",
            "'20.24'",
        ),
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
        ("[16, 64, 2**8]", "'normal(0, 1)[3]'", (23, 11), "continues after the law's", "(0, 1)"),
        ("[16, 64, 2**8]", "[16, [[[64]]]]", (23, 16), "nested more than two deep", ""),
        ("[16, 64, 2**8]", "[16, []]", (23, 16), "is an empty list", ""),
        ("[16, 64, 2**8]", "[16, [[1, 2], [3]]]", (23, 16), "rows of different lengths", ""),
        ("[16, 64, 2**8]", "[16, [1, [3]]]", (23, 16), "rows of different lengths", ""),
        ("[16, 64, 2**8]", "[16, [3, banana]]", (23, 20), "'banana' is neither", ""),
        ("[16, 64, 2**8]", "[16, [3, 'normal(0, 1)']]", (23, 20), "must be a number", "[0.5, -1"),
        ("[16, 64, 2**8]", "[16, [3, 1..2 by 1]]", (23, 20), "must be a number", "[0.5, -1"),
        ("[16, 64, 2**8]", "'[16, 64'", (23, 11), "brackets that do not match", ""),
        ("[16, 64, 2**8]", "1..8", (23, 11), "does not say its step", "write 1..8 by 1, or"),
        (
            "[16, 64, 2**8]",
            "[1, 8..1 by 1]",
            (23, 15),
            "its end is below its start",
            "write 1..8 by 1",
        ),
        ("[16, 64, 2**8]", "0..8 by x2", (23, 11), "needs a start above 0", "16..1024 by x2"),
        ("[16, 64, 2**8]", "1..8 by x1", (23, 11), "a factor above 1", "16..1024 by x2"),
        ("[16, 64, 2**8]", "1..8 by 0", (23, 11), "needs a step above 0", "0.1..0.9 by 0.1"),
        ("[16, 64, 2**8]", "1..8 by two", (23, 11), "'two' is not a number", "0.1..0.9 by 0.1"),
        ("[16, 64, 2**8]", "0..1 by 1e-9", (23, 11), "more than 100,000 values", "larger step"),
        ("[16, 64, 2**8]", "[2, 1..3 by 1]", (23, 7), "holds 2 twice", "take one out"),
        ("[16, 64, 2**8]", "9**9**9", (23, 11), "'9**9**9' is too large", "512"),
        ("[16, 64, 2**8]", "1/0", (23, 11), "'1/0' divides by zero", "512"),
        ("[16, 64, 2**8]", "1" + "0" * 400, (23, 11), "is too large a number", "1.8e308"),
        ("[16, 64, 2**8]", "1" + "0" * 9000, (23, 11), "is too large a number", "1.8e308"),
        ("[16, 64, 2**8]", "1e-999", (23, 11), "1e-999 is too small", "write 0"),
        ("[16, 64, 2**8]", "1e999", (23, 11), "1e999 is too large a number", "1.8e308"),
        ("scale: 1e-3", "d-k: 1", (25, 7), "'d-k' is not a name", "call it 'd_k'"),
        ("scale: 1e-3", "2x: 1", (25, 7), "'2x' is not a name", ""),
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
        ("claim: Var(q @ k) == dk", "1) == 2: 3", (32, 5), "has no key '1) == 2'", "in quotes"),
        ("claim: Var(q @ k) == dk", "", (14, 3), "claim 'qk-variance' lacks 'claim'", "Var(q"),
        ("  qk-variance:", "  QK_variance:", (14, 3), "is not a claim id", "call it 'qk-variance'"),
        ("  qk-variance:", "  -qk:", (14, 3), "'-qk' is not a claim id", "call it 'qk'"),
        ("  qk-variance:", "  all:", (14, 3), "cannot be called 'all'", "another id"),
        ("- {p: 0.1, n: 10}", "- {p: 0.1}", (36, 9), "no value for 'n', which another", "same"),
        ("- {p: 0.1, n: 10}", "- {p: 0.1, N: 10}", (36, 9), "no value for 'n'", "mean 'n'?"),
        ("- {p: 0.1, n: 10}", "- {p: 0.1, n: {}}", (36, 18), "'n' must be a number", ""),
        ("- {p: 0.1, n: 10}", "- {p: 0.1, n: 1..3 by 1}", (36, 21), "is a range", "'parameters'"),
        ("- {p: 0.1, n: 10}", "- 3", (36, 9), "an item of 'cases' must be a mapping", "- {p: 0.1"),
        ("- {p: 0.1, n: 10}", "- {}", (36, 9), "an item of 'cases' is empty", "leave it out"),
        ("- {p: 0.1, n: 10}", "- {p: 0.5, n: 40}", (35, 5), "items 1 and 2 are alike", "take one"),
        (
            "    cases:",
            "    parameters: {n: 1}\n    cases:",
            (37, 18),
            "'n' is given under 'cases'",
            "one",
        ),
        ("expect: refuted", "expect: refutes", (39, 13), "'verified' or 'refuted'", "'refuted'?"),
        ("expect: refuted", "expect: 3", (39, 13), "'verified' or 'refuted', and is 3", ""),
        ("tolerance: 0.005", "tolerance: -1", (40, 16), "greater than 0 and less than 1", ""),
        ("tolerance: 0.005", "tolerance: 5", (40, 16), "absolute: 0.05}, and is 5", "'within 5%'"),
        ("tolerance: 0.005", "tolerance: {}", (40, 5), "lacks 'absolute'", "{absolute: 0.05}"),
        (
            "tolerance: 0.005",
            "tolerance: {absolut: 5}",
            (40, 17),
            "no key 'absolut'",
            "'absolute'?",
        ),
        ("tolerance: 0.005", "tolerance: {absolute: 0}", (40, 27), "greater than 0", ""),
        ("tolerance: 0.005", "tolerance: {absolute: 5%}", (40, 27), "and is '5%'", "write 0.05"),
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
def test_what_is_not_a_claims_file(
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


def test_a_claim_without_an_id_is_explained() -> None:
    for claims in ("\n  title: T\n  claim: 1 == 1", "\n- title: T\n  claim: 1 == 1"):
        for problem in problems_of("dropcheck: 1\nclaims:" + claims):
            assert "must be a mapping" in problem.message
            assert "a claim has an id: write 'my-claim:'" in (problem.hint or "")


@pytest.mark.parametrize(
    ("claims", "at", "message"),
    [
        ("claims: {}", (2, 1), "'claims' is empty"),
        ("claims:", (2, 1), "'claims' has no value"),
        ("claims: [a]", (2, 1), "'claims' must be a mapping of names to values, and is a list"),
        ("claims:\n  a: 3", (3, 6), "claim 'a' must be a mapping of names to values, and is 3"),
        ("claims:\n  a:", (3, 3), "claim 'a' has no value"),
        # an id that is also a key
        (
            "claims:\n  model: 3",
            (3, 10),
            "claim 'model' must be a mapping of names to values, and is 3",
        ),
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


def test_what_is_broken_is_reported_once() -> None:
    text = file_with("title: T\nclaim: 1 == 1\nparameters: {p: 1e999, q: *x}")
    assert [problem.message[:20] for problem in problems_of(text)] == [
        "1e999 is too large a",
        "'*x' is an alias",
    ]


def test_a_text_that_a_comma_cuts_is_to_be_quoted() -> None:
    cut = the_problem(file_with("title: T\nclaim: n == 1\nparameters: {n: range(1, 10, 2), m: 1}"))
    assert (place(cut), cut.hint) == ((6, 30), "quote what holds the comma")
    assert cut.message.startswith("the comma before '10' ends a value")


@pytest.mark.parametrize(
    ("lines", "hint"),
    [
        ("claim: [1 == 1, 2 == 2]", "several statements of one model stand under 'claims'"),
        ("claim: 1 == 1\nmodel: [x ~ f(1)]", "write 'model: |', and below it"),
        ("claim: 1 == 1\nsources: notes", "write '- {document: …, section: …}'"),
    ],
)
def test_what_stands_in_place_of_another_kind_of_value(lines: str, hint: str) -> None:
    assert hint in (the_problem(file_with(f"title: T\n{lines}")).hint or "")


def test_a_huge_grid_is_refused_before_it_is_expanded() -> None:
    values = list(range(40))
    grid = ", ".join(f"p{n}: {values}" for n in range(30))  # 40**30 cases
    start = time.process_time()
    problem = the_problem(file_with(f"title: T\nclaim: 1 == 1\nparameters: {{{grid}}}"))
    assert "cases (40 × 40 × " in problem.message
    assert f"the most is {MOST_CASES:,}" in problem.message
    assert place(problem) == (6, 5)
    assert time.process_time() - start < 2


def test_the_largest_grid_is_accepted() -> None:
    values = list(range(MOST_CASES // 10))
    claim = claim_of(f"title: T\nclaim: 1 == 1\nparameters: {{a: {values}, b: {values[:10]}}}")
    assert len(claim.expand()) == MOST_CASES


def test_many_large_grids_are_refused_together() -> None:
    claims = "".join(
        f"  c{n}: {{title: T, claim: 1 == 1, parameters: {{a: &, b: &}}}}\n" for n in range(11)
    ).replace("&", str(list(range(316))))
    assert "the file has 1,098,416 cases" in the_problem("dropcheck: 1\nclaims:\n" + claims).message


def test_of_very_many_errors_the_first_are_reported() -> None:
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
    start = time.process_time()
    registry = read_text("dropcheck: 1\nclaims:\n" + claims)
    assert len(registry.claims) == 1_000
    assert time.process_time() - start < 2  # 0.1 s on a quiet machine
