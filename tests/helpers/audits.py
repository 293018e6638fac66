"""What the tests of the audit share: claims taken for true or false, and their audits."""

from __future__ import annotations

from typing import Any

import numpy as np

from dropcheck.audit.audited_claims import Subject
from dropcheck.audit.error_rates import Audit, Truth
from dropcheck.audit.measurement import AuditPlan, carry_out
from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Case
from dropcheck.language.cases import LoweredCase, lower_case, parse_claim

ALPHA = 0.05

OWN = """\
dropcheck: 1
claims:
  mean:
    title: A mean, with a comment
    resolution: 0.1
    model: x ~ normal(2, 1)
    claim: |
      E(x) == 2  # as everybody knows
  kept-false:
    title: A false claim
    expect: refuted
    model: x ~ normal(2, 1)
    claim: E(x) == 1
  zero:
    title: A correlation of nothing
    within: 0.1
    model: |
      a ~ normal(0, 1)
      b ~ normal(0, 1)
    claim: Corr(a, b) == 0
  range:
    title: A range
    model: x ~ normal(2, 1)
    claim: 1 <= E(x) <= 3
"""


def number_at(subject: Subject, name: str) -> float:
    """A parameter of a subject's case that is a number."""
    value = subject.case.parameters[name]
    assert isinstance(value, float)
    return value


def quiet(_: str) -> None:
    """No progress."""


def audited(subjects: tuple[Subject, ...], repetitions: int, **how: Any) -> Audit:
    """Subjects tried so often, in this process."""
    return carry_out(AuditPlan(subjects, (ALPHA,), repetitions, **how), 1, "test", quiet)


def subject_of(model: str, claim: str, truth: Truth = Truth.TRUE, block: int = 32) -> Subject:
    """A claim of one line of a model, taken to be true, or as given."""
    (case,) = cases(f"title: T\n    model: |\n      {model}\n    claim: {claim}")
    return Subject(case, truth, "", block)


def cases(body: str) -> tuple[Case, ...]:
    """The cases of a claim, given as the keys under its id."""
    return read_text(f"dropcheck: 1\nclaims:\n  one:\n    {body}\n").expand()


def lowered(subject: Subject) -> LoweredCase:
    """A subject's case as a graph."""
    return lower_case(parse_claim(subject.case.claim), subject.case.parameters)


def claimed_value(subject: Subject) -> float:
    """The right side of a statement in which it is known."""
    value = lowered(subject).operands[1].constant
    assert value is not None
    return float(np.asarray(value).ravel()[0])
