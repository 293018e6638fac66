"""What is audited: claims whose truth is known, and twins of one's own that are shifted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.resources import files

from dropcheck.audit.error_rates import Truth
from dropcheck.claims.reader import read_text
from dropcheck.claims.registry import Case, SourceText
from dropcheck.claims.selection import select_claims
from dropcheck.code.columns import with_columns
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.cases import parse_claim
from dropcheck.records import record


@record(kw_only=True)
class BuiltIn:
    """A built-in set: the claims file that holds it, and what a repetition is, unless asked for.

    `short_blocks` are for cheap repetitions at a large error rate; otherwise blocks are as in
    `run`. `require` is what a verdict must rest on at least; None for what `run` asks. `by_class`
    asks for a report by class, which is the `section` of a claim. `of_code` has the claims
    judged in columns of code whose law is known.
    """

    file: str
    repetitions: int
    alpha: float
    most_draws: int
    short_blocks: bool = False
    require: str | None = None
    by_class: bool = False
    of_code: bool = False


# At the error rate of `run` nothing wrong is expected: the question is whether it is ever seen.
SETS = {
    "laws": BuiltIn(
        file="truths.yaml", repetitions=1000, alpha=0.05, most_draws=4_000_000, short_blocks=True
    ),
    "moments": BuiltIn(
        file="moments.yaml",
        repetitions=100,
        alpha=1e-6,
        most_draws=1_000_000,
        require="asymptotic",
    ),
    "distributions": BuiltIn(
        file="distributions.yaml", repetitions=200, alpha=0.05, most_draws=4_000_000
    ),
    "nets": BuiltIn(file="nets.yaml", repetitions=50, alpha=0.05, most_draws=100_000_000),
    "hostile": BuiltIn(
        file="hostile.yaml", repetitions=20, alpha=1e-6, most_draws=2_000_000, by_class=True
    ),
    "code": BuiltIn(
        file="code.yaml", repetitions=50, alpha=0.05, most_draws=4_000_000, of_code=True
    ),
}
OWN = SETS["laws"]  # claims of one's own are repeated as often

# Draws of a block of a built-in claim, and of one tagged "long", whose laws take many draws.
SHORT_BLOCK = 32
LONG_BLOCK = 256
OFF = "off"  # the parameter of a built-in claim that says how many resolutions it is off by


@record
class Subject:
    """One case to repeat, and what is known of it.

    `block` asks for blocks of at least so many draws rather than those of `run`: few, so that
    repetitions are cheap, and the limit theorem has less to go by. None leaves all as in `run`.
    `group` is the class that it is counted in, "" where there are none; `require` what a verdict
    must rest on.
    """

    case: Case
    truth: Truth
    off: str
    block: int | None = None
    group: str = ""
    require: str | None = None


def built_in(name: str, patterns: Sequence[str] = ()) -> tuple[Subject, ...]:
    """The subjects of a built-in set.

    >>> {subject.truth.name for subject in built_in("laws", ["normal-mean"])} == {"TRUE", "FALSE"}
    True
    """
    kept = SETS[name]
    text = files("dropcheck.audit").joinpath(kept.file).read_text(encoding="utf-8")
    registry = read_text(text, f"the built-in set '{name}'")
    if kept.of_code:
        from dropcheck.audit.audited_code import IMPLEMENTATIONS

        of_code = with_columns(registry, IMPLEMENTATIONS).claims.items()
        registry = replace(registry, claims={name: one for name, one in of_code if one.column})
    return tuple(
        _known(case, kept)
        for claim in select_claims(registry, patterns, ())
        for case in claim.expand()
    )


def _known(case: Case, kept: BuiltIn) -> Subject:
    claim = case.claim
    group = (claim.sources[0].section or "" if claim.sources else "") if kept.by_class else ""
    subject = partial(Subject, case, group=group, require=kept.require)
    if "undefined" in claim.tags:
        return subject(truth=Truth.UNDEFINED, off="no such moment")
    if case.expect == "refuted":
        return subject(truth=Truth.FALSE, off=case.xfail or "")
    off = case.parameters.get(OFF, 0.0)
    assert isinstance(off, float)
    block = None
    if kept.short_blocks:
        block = LONG_BLOCK if "long" in claim.tags else SHORT_BLOCK
    if off == 0:
        return subject(truth=Truth.TRUE, off="", block=block)
    if abs(off) <= 1:
        raise ValueError(f"{claim.id} is off by {off:g} resolutions: no verdict is wrong")
    return subject(truth=Truth.FALSE, off=f"{off:+.4g} resolutions", block=block)


def own(case: Case) -> Subject:
    """A claim of one's own, taken to be what it is expected to be.

    One that is expected to be refuted is taken to be off by more than its resolution.
    """
    return Subject(case, Truth.TRUE if case.claim.expect == "verified" else Truth.FALSE, "")


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
        moved = replace(claim, statement=statement, within=within)
        off = f"{amount / scale:+.3g} of the scale"
        return Subject(Case(moved, case.parameters), Truth.FALSE, off)

    return twin(by), twin(-by)
