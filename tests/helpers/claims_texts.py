"""Claims files as text, and what the reader makes of them or says of them."""

from __future__ import annotations

import pytest

from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Claim
from dropcheck.errors import DropcheckError, Problem

WHOLE = """\
dropcheck: 1                       # the version

documents:
  post:
    title: Scaling in a block
    date: 2024-02-13
    url: https://example.org/scaling

defaults:
  resolution: 0.02
  tags: [shared]

claims:
  qk-variance:
    title: The dot product
      has variance d_k
    document: post
    section: Some Math
    tags: [attention, no]
    note: |
      A sum of d_k terms.
    parameters:
      dk: [16, 64, 2**8]
      law: ["normal( 0,1 )", "rademacher()"]
      scale: 1e-3
    requires: dk > 0
    model: |
      # a comment of the language
      q ~ law[dk]

      k ~ normal(0, 1)[dk]
    claim: Var(q @ k) == dk
  listed:
    title: "Cases: in a list"
    cases:
      - {p: 0.1, n: 10}
      - {p: 1/2, n: 4e1}
    requires: [0 <= p, p < 1]
    expect: refuted
    tolerance: 0.005
    within: 0.5
    tags: []
    claim: 'p * n == 1'
"""

GOOD = "dropcheck: 1\nclaims: {a: {title: T, claim: 1 == 1}}\n"


def claim_of(lines: str) -> Claim:
    """The one claim `a` of a file, with `lines` under its id."""
    (claim,) = read_text(file_with(lines), "f.yaml").claims.values()
    return claim


def file_with(lines: str) -> str:
    """A file of the one claim `a`, with `lines` under its id."""
    body = "".join(f"    {line}\n" if line else "\n" for line in lines.split("\n"))
    return f"dropcheck: 1\nclaims:\n  a:\n{body}"


def problems_of(text: str | bytes) -> tuple[Problem, ...]:
    """What the reader says of a file that it cannot read."""
    with pytest.raises(DropcheckError) as caught:
        read_text(text, "f.yaml")
    return caught.value.problems


def the_problem(text: str | bytes) -> Problem:
    """The only thing that the reader says of it."""
    found = problems_of(text)
    assert len(found) == 1, [problem.message for problem in found]
    return found[0]


def place(problem: Problem) -> tuple[int | None, int | None]:
    """Its line and column."""
    assert problem.location is not None
    return problem.location.line, problem.location.column
