"""Which cases a command works on, and the command that runs one of them again."""

from __future__ import annotations

import re
import shlex

import pytest

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Case, Registry
from dropcheck.claims.select import repeat_command, select, select_claims
from dropcheck.claims.values import decimal_text
from dropcheck.errors import DropcheckError
from dropcheck.results import ParameterValue

REGISTRY = read_text(
    """\
dropcheck: 1
claims:
  qk-variance:
    title: T
    tags: [attention, scaling]
    parameters: {dk: [16, 64], mu: 0}
    claim: dk == dk
  dropout-mean:
    title: T
    tags: [dropout]
    parameters: {p: [0.1, 0.5], alpha: 1}
    claim: p == p
  dropout-pairs:
    title: T
    tags: [dropout, scaling]
    cases: [{p: 0.1, n: 10}, {p: 0.5, n: 10}, {p: 0.5, n: 40}]
    claim: p == p
  plain:
    title: T
    claim: 1 == 1
""",
    "claims.yaml",
)


def ids(cases: tuple[Case, ...]) -> list[str]:
    return list(dict.fromkeys(case.claim.id for case in cases))


def points(cases: tuple[Case, ...], claim: str) -> list[dict[str, ParameterValue]]:
    return [dict(case.parameters) for case in cases if case.claim.id == claim]


ALL = ["qk-variance", "dropout-mean", "dropout-pairs", "plain"]


@pytest.mark.parametrize(
    ("patterns", "tags", "selected"),
    [
        ([], [], ALL),
        (["all"], [], ALL),
        (["all", "plain"], [], ALL),
        (["plain"], [], ["plain"]),
        (["plain", "qk-variance"], [], ["qk-variance", "plain"]),  # the file's order
        (["plain", "plain"], [], ["plain"]),
        (["dropout-*"], [], ["dropout-mean", "dropout-pairs"]),
        (["*-[mv]*"], [], ["qk-variance", "dropout-mean"]),
        (["*"], ["dropout"], ["dropout-mean", "dropout-pairs"]),
        ([], ["attention", "dropout"], ["qk-variance", "dropout-mean", "dropout-pairs"]),
        (["dropout-*"], ["scaling"], ["dropout-pairs"]),
    ],
)
def test_patterns_and_tags(patterns: list[str], tags: list[str], selected: list[str]) -> None:
    assert ids(select(REGISTRY, patterns, tags, {})) == selected
    assert [claim.id for claim in select_claims(REGISTRY, patterns, tags)] == selected


# ---- overrides ----------------------------------------------------------------------------------


def test_an_override_replaces_the_grid() -> None:
    cases = select(REGISTRY, ["qk-variance"], [], {"dk": "512, 2**10,1e3"})
    assert points(cases, "qk-variance") == [
        {"dk": 512.0, "mu": 0.0},
        {"dk": 1024.0, "mu": 0.0},
        {"dk": 1000.0, "mu": 0.0},
    ]
    assert all(case.claim is REGISTRY.claims["qk-variance"] for case in cases)


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        # values that are listed: the cases that have them, in the file's order
        ({"p": "0.1"}, [(0.1, 10)]),
        ({"p": "1/2"}, [(0.5, 10), (0.5, 40)]),
        ({"n": "10"}, [(0.1, 10), (0.5, 10)]),
        ({"p": "0.5,0.1"}, [(0.1, 10), (0.5, 10), (0.5, 40)]),
        ({"p": "0.1,0.5", "n": "10,40"}, [(0.1, 10), (0.5, 10), (0.5, 40)]),
        # values that are not: joined to all that is listed of the other parameters
        ({"p": "0.2,0.3"}, [(0.2, 10), (0.3, 10), (0.2, 40), (0.3, 40)]),
        ({"n": "20"}, [(0.1, 20), (0.5, 20)]),
        ({"p": "0.2", "n": "5"}, [(0.2, 5)]),
        # both kinds
        ({"p": "0.1,0.2"}, [(0.1, 10), (0.2, 10), (0.2, 40)]),
        # each is listed, but not beside the other: the case that is named
        ({"p": "0.1", "n": "40"}, [(0.1, 40)]),
        ({"p": "0.1", "n": "10,40"}, [(0.1, 10), (0.1, 40)]),
        ({"p": "0.1,0.2", "n": "10,40"}, [(0.1, 10), (0.1, 40), (0.2, 10), (0.2, 40)]),
    ],
)
def test_an_override_of_listed_cases(
    overrides: dict[str, str], expected: list[tuple[float, float]]
) -> None:
    cases = select(REGISTRY, ["dropout-pairs"], [], overrides)
    found = [(point["p"], point["n"]) for point in points(cases, "dropout-pairs")]
    assert found == expected


CROSSED = read_text(
    """\
dropcheck: 1
claims:
  crossed:
    title: T
    parameters: {n: [1, 2]}
    cases: [{p: 0.1, low: 1, law: "normal(0,1)"}, {low: 2, p: 0.2, law: rademacher()}]
    claim: p == p
""",
    "claims.yaml",
)


def test_a_listed_case_keeps_its_other_values() -> None:
    cases = select(CROSSED, [], [], {"p": "0.2", "n": "3"})
    assert points(cases, "crossed") == [{"n": 3.0, "p": 0.2, "low": 2.0, "law": "rademacher()"}]


# ---- names and commands -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("registry", "overrides"),
    [
        (REGISTRY, {"p": "1/3, 1e-9, 0.5", "mu": "-2.5, normal(0, 1)"}),
        (CROSSED, {}),
        (CROSSED, {"p": "0.1, 0.3", "low": "1, 2"}),
        (REGISTRY, {"p": "0.50, 1.3e3, 0.30..0.50 by 0.05, 0.00"}),
    ],
)
def test_a_command_selects_the_case_that_it_came_from(
    registry: Registry, overrides: dict[str, str]
) -> None:
    for case in select(registry, [], [], overrides):
        _, _, pattern, *words = shlex.split(repeat_command(case, 0))
        assert not re.search(r"--\w+ -", " ".join(words))  # a minus would be taken for an option
        line = " ".join(words).replace("--set ", "--").replace(" --", "\n--")
        pairs = [re.split("[= ]", one, maxsplit=1) for one in line.split("\n")]
        overrides = {name.removeprefix("--"): text for name, text in pairs}
        assert overrides.pop("seed") == "0"
        (again,) = select(registry, [pattern], [], overrides)
        assert again.key == case.key
        for name, value in case.parameters.items():  # it claims the same digits
            assert decimal_text(again.parameters[name]) == decimal_text(value)


def test_a_sweep_of_listed_cases_is_counted_before_it_is_made() -> None:
    many = ",".join(str(n + 50) for n in range(9_000))
    with pytest.raises(DropcheckError, match="crossed would have 108,000 cases, and the most is"):
        select(CROSSED, [], [], {"p": many, "n": "1,2,3,4,5,6"})
    assert len(select(CROSSED, [], [], {"p": many, "n": "1,2,3,4,5"})) == 90_000
