"""Vectors as values of parameters: from the file and the command line to every report."""

from __future__ import annotations

import csv
import io
import json
import shlex
from pathlib import Path

import pytest
from cli_stub import Cli

from dropcheck.api import verify
from dropcheck.claims.reader import read_text
from dropcheck.language.compile import CaseGraphs

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


def test_every_report_names_the_vector(cli: Cli) -> None:
    outputs = ("-o", "run.xml", "-o", "run.csv", "-o", "run.md", "-o", "run.html", "-o", "run.json")
    result = cli("run", "--exact", *outputs)
    assert (result.code, "w=[1, 3, 4], p=0.1" in result.out) == (0, True)
    assert all(f'name="{name}"' in Path("run.xml").read_text() for name in NAMES)
    rows = [*csv.DictReader(io.StringIO(Path("run.csv").read_text()))]
    assert rows[2]["parameters"] == "w=[1, 2], p=0.5"
    assert "a=[[1, 0], [0, 2]]" in Path("run.html").read_text()
    assert "[0.5, -1, 3]" in Path("run.md").read_text().replace("\\", "")
    cases = json.loads(Path("run.json").read_text())["cases"]
    assert [case["parameters"] for case in cases][1:3] == [
        {"w": [1, 0.5, 2]},
        {"w": [1, 2], "p": 0.5},
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
    assert "--w: '[1, two]' holds 'two', which is not a number" in refused.err
    wrong = cli("run", "dot", "--w", "[1, 2],[1, 2, 3]")
    assert (wrong.code, "(dot with w = [1, 2])" in wrong.err) == (2, True)


def test_commands_that_look_at_claims_show_vectors(cli: Cli) -> None:
    assert "w = [0.5, -1, 3], [1, 0.5, 2]" in cli("show", "dot").out
    assert "w=[0.5, -1, 3]" in cli("plan", "dot").out
    listed = json.loads(cli("list", "--format", "json").out)["claims"]
    assert listed[0]["parameters"] == {"w": [[0.5, -1, 3], [1, 0.5, 2]]}
    killed = json.loads(cli("mutate", "dot", "--format", "json").out)
    assert killed["claims"][0]["parameters"]["w"] in ([0.5, -1, 3], [1, 0.5, 2])


def test_a_vector_is_the_list_that_the_language_has() -> None:
    text = 'dropcheck: 1\nclaims: {{c: {{title: T, {}model: "{}", claim: E(w @ x) == 3}}}}'
    lines = "x ~ normal(1, 1)[2]"
    (given,) = read_text(text.format("parameters: {w: [[1, 2]]}, ", lines)).expand()
    (written,) = read_text(text.format("", f"w = [1, 2]\\n{lines}")).expand()
    values = [CaseGraphs().lowered(case).operands[0] for case in (given, written)]
    assert values[0].shape == values[1].shape == ()
    keys = [dict(case.parameters) for case in (given, written)]
    assert keys == [{"w": (1.0, 2.0)}, {}]


def test_vectors_are_given_in_python() -> None:
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    for w in ([1, 2], (1.0, 2.0), numpy.array([1, 2]), "[1, 2]"):
        result = verify(
            "E(w @ x) == 3", model="x ~ normal(1, 1)[2]", w=w, max_draws=5_000, undecided="pass"
        )
        assert result.parameters == {"w": (1.0, 2.0)}
        assert "w=[1, 2]" in result.repeat


def test_a_long_vector_is_short_in_tables_and_whole_in_data(cli: Cli) -> None:
    long = "[" + ", ".join(str(value) for value in range(60)) + "]"
    result = cli("run", "dot", "--exact", "--w", f"{long}", "-o", "run.csv")
    assert result.code == 2  # its x has 3 elements
    Path("claims.yaml").write_text(TEXT.replace("[3]\n", "[size(w)]\n"))
    result = cli("run", "dot", "--exact", "--w", f"{long}", "-o", "run.csv")
    assert "w=[0, 1, 2, 3, … 59, 60 entries]" in result.out
    (row,) = csv.DictReader(io.StringIO(Path("run.csv").read_text()))
    assert row["parameters"] == f"w={long}"
