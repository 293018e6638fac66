"""A cache of parsed claims and lowered cases, so that each is parsed and lowered once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from dropcheck.claims.registry import Case, Claim
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.cases import (
    LoweredCase,
    ParsedClaim,
    context_of,
    define_parameters,
    lower_case,
    parse_claim,
)
from dropcheck.language.graph import Value
from dropcheck.language.lowering.loops import define_model
from dropcheck.language.lowering.statements.statement_checks import check_tolerance
from dropcheck.language.syntax import lines_of
from dropcheck.results import ParameterValue
from dropcheck.settings import DEFAULT_MEMORY

MOST_KEPT = 2**28  # bytes that the graphs of checked cases may hold until they are judged


class CaseGraphs:
    """Parses each claim once and lowers each case once: what is checked is what is judged.

    A graph is stored until it is taken. A graph that would bring the total above `keep` bytes is
    not stored, and is lowered again when it is needed.

    Args:
        memory: bytes that one draw may take, together with all fixed values.
        keep: bytes that all graphs may take together.
        forget: whether a graph is dropped once it is taken; not if cases are judged repeatedly.

    >>> from dropcheck.claims.reader import read_text
    >>> (case,) = read_text(
    ...     "{dropcheck: 1, claims: {c: {title: T, model: 'x ~ normal(0, 1)', claim: E(x) == 0}}}"
    ... ).expand()
    >>> graphs = CaseGraphs()
    >>> graphs.lowered(case) is graphs.taken(case), graphs.lowered(case) is graphs.taken(case)
    (True, True)
    """

    def __init__(
        self, memory: int = DEFAULT_MEMORY, keep: int = MOST_KEPT, *, forget: bool = True
    ) -> None:
        self.memory = memory
        self.keep = keep
        self.forget = forget
        self._parsed: dict[str, ParsedClaim] = {}
        self._families: dict[str, ParsedClaim] = {}  # by family, the statement parsed last
        self._lowered: dict[tuple[str, bool], LoweredCase] = {}
        self._kept = 0  # bytes

    def parsed(self, claim: Claim) -> ParsedClaim:
        """The claim's texts as nodes.

        Raises:
            DropcheckError: as `parse_claim`.
        """
        known = self._parsed.get(claim.id)
        if known is None or _texts(known.claim) != _texts(claim):
            known = parse_claim(claim, self._beside(claim))
        elif known.claim is not claim:  # the same texts, with other values for its parameters
            known = dataclasses.replace(known, claim=claim)
        self._parsed[claim.id] = known
        if claim.family is not None:
            self._families[claim.family.id] = known
        return known

    def _beside(self, claim: Claim) -> ParsedClaim | None:
        """Another statement of the same claim that is parsed already, if there is one."""
        if claim.family is None:
            return None
        other = self._families.get(claim.family.id)
        if other is None or _shared_texts(other.claim) != _shared_texts(claim):
            return None
        return other

    def sharing(self, case: Case) -> tuple[str, bool]:
        """The key of a case's graph: cases with equal keys share one graph and one set of draws.

        Raises:
            DropcheckError: as `parse_claim`.
        """
        return case.stream_key, self.parsed(case.claim).single

    def put(self, parsed: ParsedClaim) -> None:
        """Store a parsed claim."""
        self._parsed[parsed.claim.id] = parsed

    def lowered(self, case: Case, parsed: ParsedClaim | None = None) -> LoweredCase:
        """The graph of a case.

        Args:
            case: the case.
            parsed: its claim, if parameter values or their places differ from those in the file.

        Raises:
            DropcheckError: as `lower_case`.
        """
        parsed = parsed or self.parsed(case.claim)
        key = case.stream_key, parsed.single
        stored = self._lowered.get(key)
        own = None if stored is None else _of_statement(stored, parsed)
        if own is None:
            own = lower_case(parsed, case.parameters, self.memory)
            if stored is None and self._kept + own.size <= self.keep:
                self._lowered[key] = own
                self._kept += own.size
        return own

    def beside(self, case: Case, other: LoweredCase) -> LoweredCase:
        """The graph of a case, taken from that of another statement of the same claim.

        Raises:
            DropcheckError: as `lower_case`.
        """
        return _of_statement(other, self.parsed(case.claim)) or self.lowered(case)

    def checked(self, case: Case, parsed: ParsedClaim | None = None) -> LoweredCase:
        """Like `lowered`, but if no graphs are stored, large fixed arrays are not computed.

        Raises:
            DropcheckError: as `lower_case`.
        """
        if self.keep:
            return self.lowered(case, parsed)
        parsed = parsed or self.parsed(case.claim)
        return lower_case(parsed, case.parameters, self.memory, postpone=True)

    def keep_only(self, cases: Iterable[Case]) -> None:
        """Drop every graph except those of these cases."""
        keys = set(map(self.sharing, cases))
        self._lowered = {key: graph for key, graph in self._lowered.items() if key in keys}
        self._kept = sum(lowered.size for lowered in self._lowered.values())

    def taken(self, case: Case) -> LoweredCase:
        """The graph of a case. It is then dropped, so that its arrays can be freed.

        A graph that other statements share is not dropped.

        Raises:
            DropcheckError: as `lower_case`.
        """
        lowered = self.lowered(case)
        if not lowered.beside:
            self.let_go(case)
        return lowered

    def let_go(self, case: Case) -> None:
        """Drop the graph of a case that will not be judged."""
        dropped = self._lowered.pop(self.sharing(case), None) if self.forget else None
        self._kept -= 0 if dropped is None else dropped.size


def _of_statement(found: LoweredCase, parsed: ParsedClaim) -> LoweredCase | None:
    """The lowered case of one statement, from a graph of its claim; None if it has errors.

    Raises:
        DropcheckError: its tolerance is relative to 0.
    """
    if not (parsed.beside and found.beside):
        return None if parsed.beside or found.beside else found
    place = parsed.claim.place
    own = found.beside[place]
    if own is None:
        return None
    check_tolerance(parsed.claim, parsed.statement, own.operands)
    return dataclasses.replace(own, beside=found.beside, place=place, size=found.size)


def _texts(claim: Claim) -> tuple[object, ...]:
    return claim.statement, claim.tolerance, claim.sample, *_shared_texts(claim)


def _shared_texts(claim: Claim) -> tuple[object, ...]:
    return claim.model, claim.requires, claim.family, claim.slots, claim.column


def axes_in(parsed: ParsedClaim, parameters: Mapping[str, ParameterValue]) -> dict[str, int]:
    """The number of axes of each parameter and each name of the model.

    Raises:
        DropcheckError: with every problem of the model.
    """
    context = context_of(parsed, parameters, postpone=True)
    problems: list[Problem] = []
    define_parameters(parsed, context, parameters, problems)
    problems.extend(define_model(context, parsed.model))
    if problems:
        raise DropcheckError(problems)
    numbers = {name for name, value in parameters.items() if not isinstance(value, str)}
    names = [parsed.parameter(name) for name in numbers]
    names += [name for line in lines_of(parsed.model) for name in line.names]
    meanings = ((one.name, context.scope.look_up(one.name, one.at)) for one in names)
    return {name: len(value.shape) for name, value in meanings if isinstance(value, Value)}
