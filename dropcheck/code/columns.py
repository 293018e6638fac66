"""Columns: each claim once more for each implementation, with its code bound to the slots."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from dropcheck.claims.registry import (
    DTYPE,
    Claim,
    Code,
    Column,
    Registry,
    Slot,
    renamed,
)
from dropcheck.errors import DropcheckError, Problem, suggestion
from dropcheck.language.compile import CaseGraphs
from dropcheck.language.syntax import Call, Node, Subscript, children, lines_of
from dropcheck.packs.pack_files import PACK
from dropcheck.vocabulary.function import EVAL, GRAD, TRAIN, slot_and_mode

RESOLUTION = 0.001
"""The resolution of a column of code, where a claim does not give one."""
FINEST = ("float64", "float32")
"""The longest number formats first: each holds all numbers of the shorter ones."""


class ColumnCode(Protocol):
    """Code for slots, as a column of the results."""

    @property
    def name(self) -> str:
        """The name of its column."""

    @property
    def dtypes(self) -> Sequence[str]:
        """The number formats in which it computes, the usual one first."""

    @property
    def given(self) -> Collection[str]:
        """The slots for which the command line names code; a run must have each of them."""

    @property
    def lacking(self) -> Mapping[str, str]:
        """The libraries that are not installed, by the number formats that need them."""

    def bind(self, slots: Mapping[str, Slot]) -> Mapping[str, Code]:
        """Its code by slot; slots for which it has none are left out."""

    def rebuilder(self, slots: Mapping[str, Slot]) -> Callable[[], Column] | None:
        """A function that makes the column in another process; None where that cannot be."""


def with_columns(
    registry: Registry,
    implementations: Sequence[ColumnCode],
    formats: Sequence[str] = (),
    graphs: CaseGraphs | None = None,
) -> Registry:
    """The registry with a column for each implementation: copies of its claims with code bound.

    A claim about what the mathematics does not say, such as the gradient of a slot without one, has
    columns of code alone. Claims of packs without a column of code are left out: the tests of this
    package check their mathematics. Number formats that nobody asks for by name and whose library
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
    of_code: set[str] = set()
    problems: list[Problem] = []
    notes: dict[Problem, None] = {}
    known = {name for claim in registry.claims.values() for name in claim.slots}
    for one in implementations:
        for name in sorted(set(one.given) - known):
            hint = suggestion(name, known) or _list_of(known)
            problems.append(Problem(f"{one.name}: there is no slot {name!r}", hint=hint))
        bound: dict[int, Column] = {}
        no_gradient: set[str] = set()
        columns = 0
        for claim in registry.claims.values():
            if not claim.slots:
                continue
            if id(claim.slots) not in bound:
                code = one.bind(claim.slots)
                bound[id(claim.slots)] = Column(one.name, code, one.rebuilder(claim.slots))
            column = bound[id(claim.slots)]
            calls = calls_of_slots(claim, graphs)
            chosen = _formats(claim, one, formats)
            for name in [] if formats else sorted({*chosen} & {*one.lacking}):
                chosen = tuple(other for other in chosen if other != name)
                message = (
                    f"{one.name} is left out in {name}: {one.lacking[name]!r} is not installed"
                )
                notes[Problem(message, hint=f"pip install {one.lacking[name]}")] = None
            called = any(name in column.code for name, _ in calls)
            without = {
                name for name, mode in calls if mode == GRAD and name in column.code
                and not column.code[name].has_gradient
            }  # fmt: skip
            no_gradient |= without
            if called and not without and not _unanswered(claim, calls, column.code) and chosen:
                own = _in_column(claim, column, chosen, sharp=not _of_laws(claim, graphs))
                claims[own.id] = own
                of_code.add(claim.id)
                columns += 1
                if _unanswered(claim, calls, ()):
                    claims.pop(claim.id, None)
        if not columns and set(one.given) <= known:
            message = f"the implementation {one.name!r} has code for no slot that a claim calls"
            hint = _list_of(known)
            if no_gradient:
                message = f"the claims ask for gradients, and {one.name!r} gives none"
                hint = f"bind {' and '.join(sorted(no_gradient))} to code of torch or jax"
            problems.append(Problem(message, hint=hint))
    if problems:
        raise DropcheckError(problems)
    for claim in registry.claims.values() if implementations else ():
        if claim.slots and claim.location.file.startswith(PACK) and claim.id not in of_code:
            claims.pop(claim.id, None)
    return replace(registry, claims=claims, notes=(*registry.notes, *notes))


def _list_of(slots: Collection[str]) -> str:
    return f"the slots are {', '.join(sorted(slots))}" if slots else "no file here has slots"


def calls_of_slots(claim: Claim, graphs: CaseGraphs) -> set[tuple[str, str]]:
    """The slots that a claim's model and statement call, each with the mode of the call."""
    try:
        parsed = graphs.parsed(claim)
    except DropcheckError:  # it is reported where the claim is checked
        return {(name, TRAIN) for name in claim.slots}
    stack: list[Node] = [line.right for line in lines_of(parsed.model)]
    stack += parsed.statement.operands
    calls: set[tuple[str, str]] = set()
    while stack:
        node = stack.pop()
        stack.extend(children(node))
        base = node.base if isinstance(node, Subscript) else node
        if isinstance(base, Call):
            calls.add(slot_and_mode(base.name))
    return {call for call in calls if call[0] in claim.slots}


def _unanswered(claim: Claim, calls: Collection[tuple[str, str]], code: Container[str]) -> bool:
    """Whether a call needs what neither the code nor the slot's own text gives."""
    said = {EVAL: "evaluation", GRAD: "gradient"}
    return any(
        name not in code and mode in said and getattr(claim.slots[name], said[mode]) is None
        for name, mode in calls
    )


def _of_laws(claim: Claim, graphs: CaseGraphs) -> bool:
    try:
        return graphs.parsed(claim).statement.about_laws
    except DropcheckError:
        return False


def _formats(claim: Claim, one: ColumnCode, formats: Sequence[str]) -> tuple[str, ...]:
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


def _in_column(claim: Claim, column: Column, formats: Sequence[str], *, sharp: bool) -> Claim:
    """The copy of a claim for a column; with a finer resolution if `sharp` and none is given."""
    usual = sharp and not claim.sharpness_given
    return replace(
        renamed(claim, lambda name: f"{name}{column.suffix}"),
        parameters={**claim.parameters, DTYPE: tuple(formats)},
        resolution=RESOLUTION if usual else claim.resolution,
        column=column,
        truth=None,
    )
