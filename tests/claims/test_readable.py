"""A file with errors: the claims that can be read all the same are checked too, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from dropcheck.claims.reader import read_registries, read_text
from dropcheck.cli import main
from dropcheck.documents.any_file import read_any
from dropcheck.errors import DropcheckError
from dropcheck.language.checks import problems_of

WRONG = """\
dropcheck: 1
docments: {}
claims:
  sound:
    title: It waits for no other claim
    model: x ~ nromal(0, 1)
    claim: E(x) == 0
"""
# each is one claim or more, and what is said of it: words of each message, in order
CLAIMS = {
    "a slip beside the texts": (
        "c: {titel: T, expect: maybe, model: x ~ foo(1), claim: E(x) == 0}",
        ["no key 'titel'", "'expect' must be", "'foo' is not a law"],
    ),
    "no title": ("c: {claim: E(q) == 0}", ["lacks 'title'", "'q' is not defined"]),
    "no statement": ("c: {title: T, model: x ~ foo(1)}", ["lacks 'claim'"]),
    "no model, by a slip": (
        "c: {title: T, modle: 'x ~ foo(1)', claim: E(x) == 0}",
        ["'modle'", "'foo' is not a law"],
    ),
    "a model, and a slip": (
        "c: {title: T, modle: 'x ~ foo(1)', model: 'x ~ bar(1)', claim: E(x) == 0}",
        ["'modle'"],
    ),
    "a slip for what cannot be read": (
        "c: {title: T, modle: 3, claim: E(x) == 0}",
        ["no key 'modle'", "'model' must"],
    ),
    "no parameter, by a slip": (
        "c: {title: T, parameter: {n: 3}, claim: n == m}",
        ["no key 'parameter'", "'m' is not defined"],
    ),
    "a key that is no slip": ("c: {title: T, let: 'x ~ foo(1)', claim: E(x) == 0}", ["'let'"]),
    "a model that cannot be read": ("c: {title: T, model: 3, claim: E(x) == 0}", ["'model' must"]),
    "a model twice": (
        "c:\n    title: T\n    model: x ~ foo(1)\n    model: y = 1\n    claim: E(y) == 0",
        ["'model' is given twice"],
    ),
    "a title twice": (
        "c:\n    title: T\n    claim: E(y) == 0\n    title: U",
        ["'y' is not defined", "'title' is given twice"],
    ),
    "an id twice": (
        "c: {title: T, claim: E(y) == 0}\n  c: {title: T, claim: E(z) == 0}",
        ["'y' is not defined", "'c' is given twice"],
    ),
    "a truth that is not there": (
        "c: {title: T, claim: E(y) == 0, expect: refuted, truth: d}",
        ["'y' is not defined", "no claim 'd'"],
    ),
    "statements": (
        "c: {title: T, claims: {a: E(y) == 0, b: 3, d: {clam: E(z) == 0}, "
        "e: {claim: E(u) == 0, within: no}}}",
        ["'y' is not", "'b' must", "no key 'clam'", "'z' is not", "'u' is not", "'within' must"],
    ),
    "what statements share": (
        "c: {title: T, model: 3, claims: {a: E(y) == 0, b: 3}}",
        ["'model' must", "'b' must"],
    ),
}


def said(text: str) -> list[str]:
    with pytest.raises(DropcheckError) as caught:
        read_text(text)
    return [problem.message for problem in problems_of(caught.value)]


@pytest.mark.parametrize("what", CLAIMS)
def test_a_claim_is_checked_where_nothing_follows_from_what_is_wrong(what: str) -> None:
    written, expected = CLAIMS[what]
    found = said(f"{WRONG}  {written}\n")
    assert len(found) == len(expected) + 2, found
    assert "docments" in found[0]
    assert "'nromal' is not a law" in found[1]
    for message, words in zip(found[2:], expected, strict=True):
        assert words in message


@pytest.mark.parametrize(
    ("models", "checked"),
    [
        ("models: {base: 'x ~ normal(0, 1)'}", ["foo", "'q'"]),
        ("models: {base: 3}", ["foo"]),
        ("models: {other: 3, base: other}", ["foo"]),
        ("models: {base: other, other: 3}", ["foo"]),
        ("models: 3", ["foo"]),
        ("modles: {base: 'x ~ normal(0, 1)'}", ["foo", "'q'"]),
        ("modles: {base: 3}", ["foo"]),
    ],
)
def test_a_shared_model_that_cannot_be_read(models: str, checked: list[str]) -> None:
    found = said(
        f"dropcheck: 1\n{models}\nclaims:\n"
        "  own: {title: T, model: x ~ foo(1), claim: E(x) == 0}\n"
        "  shared: {titel: T, model: base, claim: E(q) == 0}\n"
    )
    of_language = [one for one in found if "is not a" in one or "not defined" in one]
    assert len(of_language) == len(checked), found
    assert all(words in one for words, one in zip(checked, of_language, strict=True))
    assert not [one for one in found if "no model 'base'" in one]


@pytest.mark.parametrize(
    ("slots", "checked"),
    [
        ("slots: {drop: {takes: [x], gives: x}}", ["foo", "'q'"]),
        ("slots: {drop: {takes: [x], gives: 3}}", ["foo"]),
        ("slot: {drop: {takes: [x], gives: x}}", ["foo", "'q'"]),
        ("slot: {drop: {takes: [x], gives: 3}}", ["foo"]),
    ],
)
def test_a_slot_that_cannot_be_read(slots: str, checked: list[str]) -> None:
    found = said(
        f"dropcheck: 1\n{slots}\nclaims:\n"
        "  own: {titel: T, model: x ~ foo(1), claim: E(x) == 0}\n"
        "  other: {title: T, model: y = drop(1), claim: E(q) == 0}\n"
    )
    of_language = [one for one in found if "is not a" in one or "not defined" in one]
    assert len(of_language) == len(checked), found
    assert all(words in one for words, one in zip(checked, of_language, strict=True))


def test_every_command_reports_all_files_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(WRONG)
    (tmp_path / "b.yaml").write_text(WRONG.replace("docments", "documents").replace("sound", "b"))
    for command in ("run", "plan", "mutate"):
        assert main([command, "a.yaml", "b.yaml"]) == 2
        told = capsys.readouterr().err
        assert told.count("'nromal' is not a law") == 2
        assert told.index("docments") < told.index("nromal")
    with pytest.raises(DropcheckError) as caught:
        read_registries(["a.yaml", "b.yaml"])
    assert len(problems_of(caught.value)) == 3


def test_a_document_reports_all_at_once(tmp_path: Path) -> None:
    paper = tmp_path / "paper.md"
    paper.write_text(
        "It is 0.50<!-- dropcheck: ~= E(y); model: y = zz -->.\n\n"
        "It is 0.25<!-- dropcheck: ~= E(y); model: y = 1; expect: maybe -->.\n\n"
        "It is 0.50<!-- dropcheck: ~= E(y); model: 3; expect: maybe -->.\n"
    )
    with pytest.raises(DropcheckError) as caught:
        read_any(paper, "paper.md")
    found = [problem.message for problem in problems_of(caught.value)]
    assert sum("'zz' is not defined" in one for one in found) == 1
    assert len(found) == 4, found


# each stands behind a mark with an error of its own, and is an error of no other mark
BESIDE_A_MARK = {
    "a formula that is not read": "$x = \\foo{y}$<!-- dropcheck: -->",
    "a figure that is not read": "1/2<!-- dropcheck: == 0.5 -->",
    "an id twice": "0<!-- dropcheck #a: E(x) == 0; model: x = 0 -->",
    "no mark": "0<!-- dropchek: E(x) == 0 -->",
    "no key": "0<!-- dropcheck: 1 == 1; nothing -->",
    "no YAML": "0<!-- dropcheck: 1 == 1; tags: [a -->",
    "a block": "\n<!-- dropcheck\nmodel: {}\n-->\n",
}


@pytest.mark.parametrize("what", BESIDE_A_MARK)
def test_an_error_of_a_mark_hides_none_of_another(what: str, tmp_path: Path) -> None:
    paper = tmp_path / "paper.md"
    mark = "0<!-- dropcheck #{}: E({}) == 0; model: x = 0 -->"
    before, behind = mark.format("a", "q"), mark.format("b", "r")
    paper.write_text(f"It is {before} and {BESIDE_A_MARK[what]} and {behind}.\n")
    with pytest.raises(DropcheckError) as caught:
        read_any(paper, "paper.md")
    found = [problem.message for problem in problems_of(caught.value)]
    assert ["'q' is not defined" in found[0], "'r' is not defined" in found[-1]] == [True, True]
    assert len(found) == 3, found


@pytest.mark.parametrize(
    ("key", "named"),
    [("exspect: refuted", True), ("tags: [a", True), ("modle: x = 0", False), ("model: 3", False)],
)
def test_an_error_beside_the_statement_of_a_mark_does_not_hide_it(
    key: str, named: bool, tmp_path: Path
) -> None:
    paper = tmp_path / "paper.md"
    paper.write_text(f"It is 0<!-- dropcheck: E(q) == 0; {key} -->.\n")
    with pytest.raises(DropcheckError) as caught:
        read_any(paper, "paper.md")
    found = [problem.message for problem in problems_of(caught.value)]
    assert any("'q' is not defined" in one for one in found) is named
    assert len(found) == 1 + named, found
