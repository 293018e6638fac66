"""How a verdict looks in every picture: by colour, by shape and in words.

The colours are those of Okabe and Ito, told apart by people who see few of them; the shape says
the same without any.
"""

from __future__ import annotations

from dataclasses import dataclass

from dropcheck.results import CaseResult, Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Mark:
    """A verdict's colour, and its shape by matplotlib's name, in a terminal and in plain ASCII."""

    colour: str
    shape: str
    character: str
    ascii: str


MARKS = {
    Verdict.VERIFIED: Mark("#0072b2", "o", "●", "o"),
    Verdict.REFUTED: Mark("#d55e00", "X", "✕", "x"),
    Verdict.INCONCLUSIVE: Mark("#6b6b6b", "s", "□", "?"),
}


def standing(case: CaseResult) -> str:
    """The verdict and what it means for the claim, in few words."""
    if case.result is Outcome.UNDECIDED:
        return "undecided"
    if case.result is Outcome.FAIL:
        expected = "" if case.verdict is Verdict.REFUTED else ", expected refuted"
        return f"FAIL: {case.verdict}{expected}"
    return str(case.verdict) if case.verdict is Verdict.VERIFIED else "refuted, as expected"
