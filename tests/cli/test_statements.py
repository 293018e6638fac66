"""Several statements of one claim on the command line: named together or one by one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

TEXT = """\
dropcheck: 1
documents: {post: {title: A post}, thread: {title: A thread}}
models:
  inverted: |
    x ~ normal(2, 1)
    m ~ bernoulli(1 - p)
    y = m * x / (1 - p)
claims:
  inverted-dropout:
    title: It keeps the mean
    sources: [{document: post, section: A}, {document: thread}]
    parameters: {p: [0.2, 0.5]}
    model: inverted
    claims:
      mean: E(y) == 2
      sd: {claim: Std(y) == Std(x), expect: refuted, truth: variance, says: It stays, note: No}
      variance: {claim: Var(y) == 1 + p / (1 - p) * 5, tags: [spread], title: The variance}
  other: {title: T, claim: 1 == 1}
"""


@pytest.fixture
def here(folder: Path) -> Path:
    (folder / "claims.yaml").write_text(TEXT)
    return folder


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    from dropcheck.cli import main

    code = main(list(arguments))
    done = capsys.readouterr()
    return code, done.out, done.err


def claims_of(out: str) -> list[str]:
    return list(dict.fromkeys(case["claim"] for case in json.loads(out)["cases"]))


EVERY = [f"inverted-dropout.{name}" for name in ("mean", "sd", "variance")]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["inverted-dropout"], EVERY),
        (["inverted-dropout.sd"], EVERY[1:2]),
        (["inverted-dropout.sd", "claims.yaml"], EVERY[1:2]),
        (["*.mean", "other"], [EVERY[0], "other"]),
        (["--tag", "spread"], EVERY[2:]),
        (["all"], [*EVERY, "other"]),
    ],
)
def test_what_is_named_is_run(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], expected: list[str]
) -> None:
    code, out, _ = called(capsys, "run", *words, "--format", "json")
    assert (code, claims_of(out)) == (0, expected)


def test_a_word_with_a_dot_is_a_file_where_there_is_one(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "notes.txt").write_text("dropcheck: 1\nclaims: {only: {title: T, claim: 1 == 1}}")
    assert claims_of(called(capsys, "run", "notes.txt", "--format", "json")[1]) == ["only"]
    code, _, err = called(capsys, "run", "inverted-dropout.sdd")
    assert code == 2
    assert "there is no claim 'inverted-dropout.sdd' in claims.yaml, and no such file" in err
    assert "did you mean 'inverted-dropout.sd'?" in err
    code, _, err = called(capsys, "run", "noted.yaml")
    assert (code, "there is no file 'noted.yaml'" in err) == (2, True)
