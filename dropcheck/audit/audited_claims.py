"""What is audited: claims whose truth is known, and twins of one's own that are shifted."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from dropcheck.audit.error_rates import Truth
from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Case, SourceText
from dropcheck.claims.selection import select_claims
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.cases import parse_claim

SETS = {"laws": "truths.yaml", "moments": "moments.yaml"}
"""The built-in sets, and the claims files that hold them."""

# Draws of a block of a built-in claim, and of one tagged "long", whose laws take many draws.
SHORT_BLOCK = 32
LONG_BLOCK = 256
OFF = "off"  # the parameter of a built-in claim that says how many resolutions it is off by


@dataclass(frozen=True, slots=True)
class Subject:
    """One case to repeat, and what is known of it.

    `block` asks for blocks of at least so many draws rather than those of `run`: few, so that
    repetitions are cheap, and the limit theorem has less to go by. None leaves all as in `run`.
    """

    case: Case
    truth: Truth
    off: str
    block: int | None = None


def built_in(name: str, patterns: Sequence[str] = ()) -> tuple[Subject, ...]:
    """The subjects of a built-in set.

    >>> {subject.truth.name for subject in built_in("laws", ["normal-mean"])} == {"TRUE", "FALSE"}
    True
    """
    text = files("dropcheck.audit").joinpath(SETS[name]).read_text(encoding="utf-8")
    registry = read_text(text, f"the built-in set '{name}'")
    return tuple(
        _known(case) for claim in select_claims(registry, patterns, ()) for case in claim.expand()
    )


def _known(case: Case) -> Subject:
    if "undefined" in case.claim.tags:
        return Subject(case, Truth.UNDEFINED, "no such moment")
    off = float(case.parameters.get(OFF, 0.0))
    block = None
    if OFF in case.parameters:
        block = LONG_BLOCK if "long" in case.claim.tags else SHORT_BLOCK
    if off == 0:
        return Subject(case, Truth.TRUE, "", block)
    if abs(off) <= 1:
        raise ValueError(f"{case.claim.id} is off by {off:g} resolutions: no verdict is wrong")
    return Subject(case, Truth.FALSE, f"{off:+.4g} resolutions", block)


def own(cases: Iterable[Case]) -> tuple[Subject, ...]:
    """Claims of one's own, taken to be what they are expected to be.

    A claim that is expected to be refuted is taken to be off by more than its resolution.
    """
    return tuple(
        Subject(case, Truth.TRUE if case.claim.expect == "verified" else Truth.FALSE, "")
        for case in cases
    )


def why_no_twin(case: Case) -> str | None:
    """Why a case has no shifted twin; None where it has one."""
    claim = case.claim
    if claim.expect != "verified":
        return "it is expected to be refuted"
    if claim.tolerance is not None or parse_claim(claim).statement.operators != ("==",):
        return "the truth may lie anywhere in the region that it names"
    return None


def twins(case: Case, scale: float, shift: float) -> tuple[Subject, Subject]:
    """The case with its right side shifted up and down by a share of the claim's scale.

    The case is taken to be true; `scale` is what one run of it showed. The resolution of a twin is
    that of the case as an absolute number, because the scale changes with the shift.

    Raises:
        DropcheckError: where the shift is within the resolution, so that no verdict on the twin
            would be wrong.
    """
    claim = case.claim
    within = claim.within if claim.within is not None else claim.resolution * scale
    by = shift * scale
    if not (by > within and math.isfinite(by)):
        message = (
            f"a shift of {shift:g} is within the resolution of {claim.id}, "
            f"{within / scale if scale else math.inf:g}: no verdict would be wrong"
        )
        hint = "shift by more, or look more sharply (--resolution)"
        raise DropcheckError(Problem(message, claim.location, hint))
    # only a bracket lets a statement run over lines, so each line's comment can be dropped
    text = "\n".join(line.split("#", 1)[0] for line in claim.statement.text.splitlines()).rstrip()

    def twin(amount: float) -> Subject:
        # a side of a comparison binds no weaker than a sum
        statement = SourceText.plain(f"{text} + {amount!r}", claim.location.file)
        moved = dataclasses.replace(claim, statement=statement, within=within)
        off = f"{amount / scale:+.3g} of the scale"
        return Subject(Case(moved, case.parameters), Truth.FALSE, off)

    return twin(by), twin(-by)
