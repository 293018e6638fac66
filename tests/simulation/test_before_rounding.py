"""Steps that round what only code sees: left out, and nothing else changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from slots_made import OfFunctions

from dropcheck.claims.reader import read_text
from dropcheck.code.columns import with_columns
from dropcheck.judging.case import prepare
from dropcheck.simulation import MAIN, Program, stream
from dropcheck.simulation import compile as compiling

FILE = """
dropcheck: 1
slots:
  layer: {takes: [x], model: "m ~ bernoulli(0.5)[shape(x)]", gives: m * x, elements: independent}
claims:
  code:
    title: Code
    model: |
      x ~ uniform(1, 2)[3]
      y = layer(x)
    claim: %s
"""


def layer(x: Any, rng: Any) -> Any:
    return x * (rng.random(x.shape) < 0.5)


def program(statement: str, dtype: str) -> Program:
    own = OfFunctions({"layer": layer}, dtypes=(dtype,))
    registry = with_columns(read_text(FILE % statement), [own])
    (case,) = (one for one in registry.expand() if one.claim.column is not None)
    return prepare(case).compiled.program  # type: ignore[union-attr]  # averages are compiled


def rounds(made: Program) -> bool:
    return any(step.value.operation.startswith(("float", "bfloat")) for step in made.steps)


@pytest.mark.parametrize(
    ("statement", "dtype", "kept"),
    [
        ("E(y) == 0.75", "float32", False),
        ("E(y) == E(x) / 2", "float32", True),
        ("E(y) == 0.75", "float16", True),  # numbers go by way of float32 to it
    ],
)
def test_what_only_code_sees_is_rounded_once(
    statement: str, dtype: str, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = program(statement, dtype)
    assert rounds(own) == kept
    monkeypatch.setattr(compiling, "before_rounding", lambda steps, _keep: steps)
    whole = program(statement, dtype)
    assert rounds(whole)
    first, second = (one.span(stream(0, "a", MAIN, 0), one.origin, 0) for one in (own, whole))
    assert np.array_equal(first.sums, second.sums)
