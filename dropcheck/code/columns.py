"""Columns: each claim once more for each implementation, with its code bound to the slots."""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from dataclasses import replace

from dropcheck.claims.registry import (
    DTYPE,
    Claim,
    Column,
    Registry,
    renamed,
)
from dropcheck.code.slots import Implementation
from dropcheck.errors import DropcheckError, Problem, suggestion
from dropcheck.language.compile import CaseGraphs
from dropcheck.language.syntax import Call, lines_of, walk
from dropcheck.packs import PACK
from dropcheck.vocabulary.function import EVAL, GRAD, TRAIN, slot_and_mode

OF_PACKS = 0.001
"""The resolution of a pack's claim that does not give one."""
FINEST = ("float64", "float32")
"""The longest number formats first: each holds all numbers of the shorter ones."""


def with_columns(
    registry: Registry,
    implementations: Sequence[Implementation],
    formats: Sequence[str] = (),
    graphs: CaseGraphs | None = None,
) -> Registry:
    """The registry with a column for each implementation: copies of its claims with code bound.

    A claim about what the mathematics does not say, such as the gradient of a slot without one, has
    columns of code alone, and so have packs: tests of this package check their mathematics. Number
    formats that nobody asks for by name and whose library
    is not installed are left out, with a note.

    Args:
        registry: the claims.
        implementations: the code under test.
        formats: the number formats to test; by default those of each claim.
        graphs: keeps what is parsed here.

    Raises:
        DropcheckError: an implementation has code for no slot that a claim calls.
    """
    graphs = graphs or CaseGraphs(keep=0)
    claims = dict(registry.claims)
    with_slots = [claim for claim in registry.claims.values() if claim.slots]
    calls = {claim.id: calls_of_slots(claim, graphs) for claim in with_slots if implementations}
    known = {name for claim in with_slots for name in claim.slots}
    listed = f"the slots are {', '.join(sorted(known))}" if known else "no file here has slots"
    problems: list[Problem] = []
    notes: dict[Problem, None] = {}
    for one in implementations:
        unknown = sorted({*one.given} - known)
        for name in unknown:
            hint = suggestion(name, known) or listed
            problems.append(Problem(f"{one.name}: there is no slot {name!r}", hint=hint))
        bound: dict[int, Column] = {}
        columns, no_gradient = 0, False
        for claim in with_slots:
            if id(claim.slots) not in bound:
                code = one.bind(claim.slots)
                bound[id(claim.slots)] = Column(one.name, code, one.rebuilder(claim.slots))
            column = bound[id(claim.slots)]
            called = [call for call in calls[claim.id] if call[0] in column.code]
            without = any(
                mode == GRAD and not column.code[name].has_gradient for name, mode in called
            )
            no_gradient |= without
            chosen = _formats(claim, one, formats)
            for name in [] if formats else sorted({*chosen} & {*one.lacking}):
                chosen = tuple(other for other in chosen if other != name)
                needs = one.lacking[name]
                message = f"{one.name} is left out in {name}: {needs!r} is not installed"
                notes[Problem(message, hint=f"pip install {needs}")] = None
            unanswered = _unanswered(claim, calls[claim.id], column.code)
            if called and chosen and not (without or unanswered):
                own = _in_column(claim, column, chosen, graphs)
                claims[own.id] = own
                columns += 1
                if _unanswered(claim, calls[claim.id], ()):
                    claims.pop(claim.id, None)
        if not columns and not unknown:
            message = f"the implementation {one.name!r} has code for no slot that a claim calls"
            if no_gradient:
                message = f"the claims ask for gradients, and {one.name!r} gives none"
            hint = "bind code of torch or jax" if no_gradient else listed
            problems.append(Problem(message, hint=hint))
    if problems:
        raise DropcheckError(problems)
    for claim in with_slots if implementations else ():
        if claim.location.file.startswith(PACK):
            claims.pop(claim.id, None)
    return replace(registry, claims=claims, notes=(*registry.notes, *notes))


def calls_of_slots(claim: Claim, graphs: CaseGraphs) -> set[tuple[str, str]]:
    """The slots that a claim's model and statement call, each with the mode of the call."""
    try:
        parsed = graphs.parsed(claim)
    except DropcheckError:  # it is reported where the claim is checked
        return {(name, TRAIN) for name in claim.slots}
    texts = [line.right for line in lines_of(parsed.model)]
    nodes = walk(*texts, *parsed.statement.operands)
    calls = {slot_and_mode(node.name) for node in nodes if isinstance(node, Call)}
    return {call for call in calls if call[0] in claim.slots}


def _unanswered(claim: Claim, calls: Collection[tuple[str, str]], code: Container[str]) -> bool:
    """Whether a call needs what neither the code nor the slot's own text gives."""

    def silent(name: str, mode: str) -> bool:
        slot = claim.slots[name]
        return {
            TRAIN: slot.shape is not None,
            EVAL: slot.evaluation is None,
            GRAD: slot.gradient is None,
        }[mode]

    return any(name not in code and silent(name, mode) for name, mode in calls)


def _formats(claim: Claim, one: Implementation, formats: Sequence[str]) -> tuple[str, ...]:
    """The number formats of a claim in a column: those asked for in which the code computes.

    A claim that names one format is tested in that one and in longer ones: elsewhere it may be
    wrong.
    """
    own = claim.parameters.get(DTYPE, (one.dtypes[0],) if not formats else ())
    asked = list(formats) or [str(name) for name in own]
    if formats and len(own) == 1:
        place = FINEST.index(str(own[0])) if own[0] in FINEST else len(FINEST)
        finer = FINEST[:place]
        asked = [name for name in asked if name == own[0] or name in finer]
    return tuple(name for name in asked if name in one.dtypes)


def _in_column(claim: Claim, column: Column, formats: Sequence[str], graphs: CaseGraphs) -> Claim:
    """The copy of a claim for a column."""
    of_pack = claim.location.file.startswith(PACK)
    chosen = claim.sharpness_given or not of_pack or graphs.parsed(claim).statement.about_laws
    return replace(
        renamed(claim, lambda name: f"{name}{column.suffix}"),
        parameters={**claim.parameters, DTYPE: tuple(formats)},
        resolution=claim.resolution if chosen else OF_PACKS,
        sharpness_given=claim.sharpness_given or of_pack,
        column=column,
        truth=None,
    )
