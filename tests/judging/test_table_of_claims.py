"""Claims as rows of a table, each with what must come of it.

A row of `table.yaml` says the verdict that a claim must have (`verified`, `refuted`, `open`, `any`)
or must not have (`not verified`, `not refuted`), its model with `;` between lines, and keys of the
claim. `how` are settings of the run, and how many `seeds` are tried; `is` is what the result says.
All are of fixed seeds: they are the same every time.
"""

from __future__ import annotations

import operator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from trials import entry, registry_of, tried

from dropcheck.results import CaseResult, Verdict
from dropcheck.settings import Settings

# as text, so that a claims file has every number in the digits in which it is written here
GROUPS = yaml.load(
    Path(__file__).with_name("table.yaml").read_text(encoding="utf-8"), yaml.CBaseLoader
)
ALL = {*map(str, Verdict)}
VERDICTS = {one: {one} for one in ALL} | {f"not {one}": ALL - {one} for one in ALL}
VERDICTS |= {"open": {"undecided"}, "any": ALL}
SIGNS = {"==": operator.eq, "<=": operator.le, ">=": operator.ge}
NEAR = {"scale": 0.1, "within": 0.05, "exact": 1e-8, "claimed": 1e-9, "widening": 1e-9}
NEAR |= {"excess": 1e-6, "badness": 1e-6}

Row = dict[str, Any]
ROWS = [
    pytest.param(row, {**group.get("how", {}), **row.get("how", {})}, id=f"{at}-{place}")
    for at, group in enumerate(GROUPS)
    for place, row in enumerate(group["rows"])
]


def flow(value: Any) -> str:
    """A value as YAML has it in one line.

    >>> flow({"p": ["0.160", "1/2"]})
    '{p: [0.160, 1/2]}'
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(one)}" for key, one in value.items()) + "}"
    return f"[{', '.join(map(flow, value))}]" if isinstance(value, list) else str(value)


def judged(row: Row, how: Row, seed: int) -> CaseResult:
    """What comes of a row at a seed."""
    (_, claim), *more = ((key, one) for key, one in row.items() if key not in ("how", "is"))
    keys = {key: flow(one) for key, one in more}
    model = keys.pop("model", "")
    lines = "\n".join(f"{key}: {one}" for key, one in keys.items())
    options = {key: yaml.safe_load(one) for key, one in how.items() if key != "seeds"}
    settings = Settings(threads=1, seed=seed, **options)
    (found,) = tried(registry_of(entry("claim", model, claim, lines)), settings)
    return found


def told(found: CaseResult) -> dict[str, Any]:
    """What a row may say of a result."""
    said = found.explanation
    return {
        **{one.name: getattr(found, one.name) for one in fields(found)},
        "says": str(said or ""),
        "claimed": found.claimed,
        "reads": "" if said is None else said.reading,
        "reason": said and said.reason.name,
        "exact": found.exact and found.exact.value,
        "widening": found.sharpness and found.sharpness.widening,
        "warns": found.warnings,
        "excess": found.excess,
        "badness": found.badness[1],
    }


def is_as_said(value: Any, wanted: Any, name: str) -> bool:
    """Whether what a result says is what a row says.

    >>> is_as_said(46_000, ">= 4e4", "draws"), is_as_said(0.97, "1", "exact")
    (True, False)
    """
    if name == "warns":
        return any(wanted in one for one in value) if wanted else value == ()
    if name in ("says", "reads"):
        return str(wanted) in value
    if name in NEAR and not isinstance(wanted, list):
        return value is not None and value == pytest.approx(float(wanted), NEAR[name], abs=1e-12)
    if isinstance(wanted, list):
        return bool(value == tuple(map(float, wanted)))
    sign, _, number = wanted.partition(" ")
    if sign in SIGNS:
        return value is not None and bool(SIGNS[sign](value, float(number)))
    return bool(str(value).lower() == wanted.lower())


@pytest.mark.parametrize(("row", "how"), ROWS)
def test_a_claim_ends_as_it_must(row: Row, how: Row) -> None:
    wanted = next(iter(row))
    for seed in range(int(how.get("seeds", "1"))):
        found = judged(row, how, seed)
        assert str(found.verdict) in VERDICTS[wanted], (row, seed, found.estimate, found.interval)
        said = told(found)
        for name, one in row.get("is", {}).items():
            assert is_as_said(said[name], one, name), (row, name, said[name])


def test_another_outcome_is_noticed() -> None:
    row = {"verified": "E(x) == 0.160", "model": "x ~ normal(0.16, 1)", "parameters": {"m": ["1"]}}
    found = told(judged({**row, "is": {"exact": "0.16"}}, {"exact": "true"}, 0))
    assert str(found["verdict"]) in VERDICTS["verified"] - VERDICTS["not verified"]
    assert is_as_said(found["exact"], "0.16", "exact")
    others = {"exact": "0.17", "draws": ">= 1", "reason": "TOO_WIDE", "warns": "x", "method": "x"}
    for name, other in others.items():
        assert not is_as_said(found[name], other, name)
