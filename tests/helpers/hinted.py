"""What the check of a claim or of a file says, with its hint."""

from __future__ import annotations

import json

import pytest

from dropcheck.claims.reader import read_text
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.check import Checked, check_registry


def checked(model: str, claim: str = "1 == 1", more: str = "") -> Checked:
    """What is said of a claim; `;` stands between lines of its model."""
    text = "dropcheck: 1\nclaims:\n  c:\n    title: T\n" + more
    text += "    model: |\n" + "".join(f"      {line.strip()}\n" for line in model.split(";"))
    return check_registry(read_text(text + f"    claim: {json.dumps(claim)}\n", "claims.yaml"))


def told(model: str, claim: str = "1 == 1", more: str = "") -> Problem:
    (problem,) = checked(model, claim, more).problems
    return problem


def refused(text: str) -> Problem:
    with pytest.raises(DropcheckError) as caught:
        read_text(text, "claims.yaml")
    (problem,) = caught.value.problems
    return problem
