"""Bound code in a run: what returns other shapes than the slot's model is never judged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dropcheck.claims.reader import read_text
from dropcheck.code.binding import of_functions
from dropcheck.code.columns import with_columns
from dropcheck.errors import DropcheckError
from dropcheck.results import CaseResult, Verdict
from dropcheck.running import verify_cases
from dropcheck.settings import Settings

CLAIMS = """\
dropcheck: 1
slots: {scaled: {takes: [x, c], gives: c * x, evaluation: x}}
claims:
  mean:
    title: The mean is scaled
    parameters: {c: 2}
    model: |
      x ~ uniform(1, 2)[4]
      y = scaled(x, c)
    claim: E(y) == 1.5 * c
    within: 0.05
"""


def run(function: Callable[..., Any]) -> CaseResult:
    own = of_functions({"scaled": function}, name="numpy", dtypes=(), folder=Path())
    registry = with_columns(read_text(CLAIMS), [own])
    cases = [case for case in registry.expand() if case.claim.column is not None]
    [result] = verify_cases(cases, Settings(), registry, str)
    return result


def test_code_that_is_right_is_verified() -> None:
    assert run(lambda x, c: c * x).verdict is Verdict.VERIFIED


def test_code_that_is_wrong_is_refuted() -> None:
    assert run(lambda x, c: c * x + 0.2).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("returned", "shown"),
    [
        (lambda x: x.mean(axis=1), "one number"),
        (lambda x: x[:, :1], r"\[1\]"),
        (lambda x: x[..., np.newaxis], r"\[4, 1\]"),
    ],
)
def test_a_shape_that_is_not_the_models_is_refused(
    returned: Callable[[Any], Any], shown: str
) -> None:
    message = rf"code for 'scaled' gives {shown} a draw, and by the slot's model \[4\]"
    with pytest.raises(DropcheckError, match=message):
        run(lambda x, c: returned(c * x))
