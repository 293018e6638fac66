"""What is audited: claims whose truth is known, and shifted twins of a user's claims."""

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
    """A built-in set: its claims file, and the defaults of its repetitions.

    `short_blocks` make repetitions cheap at a large error rate; otherwise blocks are as in `run`.
    `require` is what a verdict must rest on at least; None for the default of `run`. With
    `by_class` the report is by class, the `section` of a claim. With `of_code` the claims are
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


# At the error rate of `run` no wrong verdict is expected: the question is whether there is one.
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
OWN = SETS["laws"]  # its defaults hold for a user's claims too

# Draws of a block of a built-in claim, and of one tagged "long", whose laws take many draws.
SHORT_BLOCK = 32
LONG_BLOCK = 256
OFF = "off"  # the parameter of a built-in claim that says how many resolutions it is off by


@record
class Subject:
    """One case to repeat, and what is known of it.

    `block` is the least number of draws of a block; None for the blocks of `run`. A small one makes
    repetitions cheap, and the limit theorem is tested harder. `group` is the class in which the
    case is counted, "" where there are none; `require` is what a verdict must rest on.
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
    chosen = SETS[name]
    text = files("dropcheck.audit").joinpath(chosen.file).read_text(encoding="utf-8")
    registry = read_text(text, f"the built-in set '{name}'")
    if chosen.of_code:
        from dropcheck.audit.audited_code import IMPLEMENTATIONS

        of_code = with_columns(registry, IMPLEMENTATIONS).claims.items()
        registry = replace(registry, claims={name: one for name, one in of_code if one.column})
    return tuple(
        _known(case, chosen)
        for claim in select_claims(registry, patterns, ())
        for case in claim.expand()
    )


def _known(case: Case, chosen: BuiltIn) -> Subject:
    claim = case.claim
    group = (claim.sources[0].section or "" if claim.sources else "") if chosen.by_class else ""
    subject = partial(Subject, case, group=group, require=chosen.require)
    if "undefined" in claim.tags:
        return subject(truth=Truth.UNDEFINED, off="no such moment")
    if case.expect == "refuted":
        return subject(truth=Truth.FALSE, off=case.xfail or "")
    off = case.parameters.get(OFF, 0.0)
    assert isinstance(off, float)
    block = None
    if chosen.short_blocks:
        block = LONG_BLOCK if "long" in claim.tags else SHORT_BLOCK
    if off == 0:
        return subject(truth=Truth.TRUE, off="", block=block)
    if abs(off) <= 1:
        raise ValueError(f"{claim.id} is off by {off:g} resolutions: no verdict is wrong")
    return subject(truth=Truth.FALSE, off=f"{off:+.4g} resolutions", block=block)


def own(case: Case) -> Subject:
    """A case of a user's claim, which is taken to be as it is expected to be.

    If it is expected to be refuted, it is taken to be off by more than its resolution.
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

    The case is taken to be true; `scale` comes from one run of it. The resolution of a twin is that
    of the case as an absolute number, because the scale changes with the shift.

    Raises:
        DropcheckError: the shift is within the resolution, so that no verdict on the twin would be
            wrong.
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
    # a statement has several lines only within brackets: the comment of each can be dropped
    text = "\n".join(line.split("#", 1)[0] for line in claim.statement.text.splitlines()).rstrip()

    def twin(amount: float) -> Subject:
        # no operator in a side of a comparison binds weaker than a sum
        statement = SourceText.plain(f"{text} + {amount!r}", claim.location.file)
        moved = replace(claim, statement=statement, within=within)
        off = f"{amount / scale:+.3g} of the scale"
        return Subject(Case(moved, case.parameters), Truth.FALSE, off)

    return twin(by), twin(-by)
