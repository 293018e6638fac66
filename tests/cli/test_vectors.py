"""Vectors as values of parameters: from the file and the command line to every report."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from cli_stub import Cli

TEXT = """\
dropcheck: 1
claims:
  dot:
    title: The mean of a weighted sum is the weighted sum of means
    parameters: {w: [[0.5, -1, 3], [1, 1/2, 2]]}
    model: x ~ normal(2, 1)[3]
    claim: E(w @ x) == 2 * sum(w)
  listed:
    title: Independent coins
    cases: [{w: [1, 2], p: 0.5}, {w: [1, 3, 4], p: 0.1}]
    model: m ~ bernoulli(p)[size(w)]
    claim: E(w @ m) == p * sum(w)
  spread:
    title: A matrix scales what it multiplies
    parameters: {a: [[[1, 0], [0, 2]]]}
    model: x ~ normal(0, 1)[2]
    claim: Var((x @ a)[1]) == a[1, 1]**2
"""


@pytest.fixture
def cli(folder: Path, monkeypatch: pytest.MonkeyPatch, program: Cli) -> Cli:
    """The commands themselves, in a folder with these claims."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    Path("claims.yaml").write_text(TEXT)
    return program


NAMES = [
    "dot[w=[0.5, -1, 3]]",
    "dot[w=[1, 0.5, 2]]",
    "listed[w=[1, 2],p=0.5]",
    "listed[w=[1, 3, 4],p=0.1]",
    "spread[a=[[1, 0], [0, 2]]]",
]


def test_the_command_that_repeats_a_case_gives_the_same_draws(cli: Cli) -> None:
    cases = json.loads(cli("run", "--format", "json", "--max-draws", "5000").out)["cases"]
    assert len(cases) == len(NAMES)
    for case in cases:
        words = shlex.split(case["repeat"])[1:]
        (again,) = json.loads(cli(*words, "--format", "json").out)["cases"]
        assert (again["parameters"], again["estimate"]) == (case["parameters"], case["estimate"])


def test_a_vector_is_set_on_the_command_line(cli: Cli) -> None:
    result = cli("run", "dot", "--exact", "--w", "[1, 2, 3],[4, 5, 6]", "--format", "json")
    cases = json.loads(result.out)["cases"]
    assert [case["parameters"]["w"] for case in cases] == [[1, 2, 3], [4, 5, 6]]
    assert cases[1]["estimate"] == 30
    refused = cli("run", "dot", "--w", "[1, two]")
    assert "--w: '[1, two]' holds an entry that must be a number, and is 'two'" in refused.err
    wrong = cli("run", "dot", "--w", "[1, 2],[1, 2, 3]")
    assert (wrong.code, "(dot with w = [1, 2])" in wrong.err) == (2, True)
