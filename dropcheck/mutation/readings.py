"""A claim and its mutants at the claim's cases, as far as arithmetic compares them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field

from dropcheck.claims.registry import Case, Claim
from dropcheck.errors import DropcheckError
from dropcheck.language.case_graphs import CaseGraphs
from dropcheck.language.cases import LoweredCase, ParsedClaim, parse_claim
from dropcheck.language.graph import Kind, Plain, Value
from dropcheck.language.law_claims import LawClaim
from dropcheck.language.syntax import Model, Statement
from dropcheck.records import record
from dropcheck.results import ParameterValue

# The relative rounding of a change that has exactly the size that is needed.
ROUNDED_CHANGE = 1e-9
# Two known numbers are the same to within this share of the larger: rounding in another order.
READING_ROUNDING = 1e-12
# Bytes that the graphs of one mutant may hold: there may be a hundred mutants at a time.
MOST_KEPT_OF_A_MUTANT = 2**22


_Text = tuple[Model, Statement]
"""The parts in which a claim and its mutants differ."""


@record
class Readings:
    """The graphs of one claim and of its mutants: each is parsed once, and each case lowered once.

    Attributes:
        parsed: the claim.
        cases: the cases at which a mutant is compared with it, in order.
        graphs: the graphs of the claim itself, which are kept.
    """

    parsed: ParsedClaim
    cases: tuple[Case, ...]
    graphs: CaseGraphs = field(default_factory=lambda: CaseGraphs(forget=False))
    _mutants: dict[_Text, CaseGraphs] = field(default_factory=dict)
    _parsed: dict[str, ParsedClaim] = field(default_factory=dict)  # mutants by their texts
    _refused: dict[tuple[_Text, str], DropcheckError] = field(default_factory=dict)

    def mutant(self, claim: Claim) -> ParsedClaim:
        """A mutant, parsed.

        Raises:
            DropcheckError: its texts cannot be read.
        """
        key = f"{claim.statement.text}\0{'' if claim.model is None else claim.model.text}"
        if key not in self._parsed:
            self._parsed[key] = parse_claim(claim)
            self.graphs_of(self._parsed[key]).put(self._parsed[key])
        return self._parsed[key]

    def graphs_of(self, parsed: ParsedClaim) -> CaseGraphs:
        """The graphs of the claim itself, or of one of its mutants."""
        text = _text(parsed)
        if text == _text(self.parsed):
            return self.graphs
        if text not in self._mutants:
            keep = min(self.graphs.keep, MOST_KEPT_OF_A_MUTANT)
            self._mutants[text] = CaseGraphs(self.graphs.memory, keep, forget=False)
            self._mutants[text].put(parsed)
        return self._mutants[text]

    def forget(self, mutated: ParsedClaim) -> None:
        """Free the graphs of a mutant."""
        self._mutants.pop(_text(mutated), None)

    def lowered(self, parsed: ParsedClaim, parameters: Mapping[str, ParameterValue]) -> LoweredCase:
        """The graph of the claim or of a mutant.

        Raises:
            DropcheckError: it is no claim at these parameters; the same error each time.
        """
        graphs = self.graphs_of(parsed)
        case = Case(parsed.claim, parameters)
        key = (_text(parsed), case.key)
        if key in self._refused:
            raise self._refused[key]
        try:
            return graphs.lowered(case)
        except DropcheckError as error:
            self._refused[key] = error
            raise

    def own(self, parameters: Mapping[str, ParameterValue]) -> LoweredCase | None:
        """The graph of the claim itself; None where it is no claim at these parameters."""
        return self._read(self.parsed, parameters)

    def _read(
        self, parsed: ParsedClaim, parameters: Mapping[str, ParameterValue]
    ) -> LoweredCase | None:
        try:
            return self.lowered(parsed, parameters)
        except DropcheckError:
            return None

    def differs(self, mutated: ParsedClaim, parameters: Mapping[str, ParameterValue]) -> bool:
        """Whether a mutant is a claim at these parameters, and another one than its claim."""
        own, other = self.own(parameters), self._read(mutated, parameters)
        return own is not None and other is not None and not same_case(own, other)

    def refused(self, mutated: ParsedClaim) -> tuple[Case, str] | None:
        """The first case at which a mutant is no claim although its claim is one, and why not."""
        for case in self.cases:
            if self.own(case.parameters) is not None:
                try:
                    self.lowered(mutated, case.parameters)
                except DropcheckError as error:
                    return case, error.problems[0].message
        return None

    def change(
        self, mutated: ParsedClaim, parameters: Mapping[str, ParameterValue]
    ) -> float | None:
        """The relative change of the claimed number; None where it is not fixed, or 0."""
        own, other = self.own(parameters), self._read(mutated, parameters)
        if own is None or other is None:
            return None
        change = fixed_change(own, other)
        return change if change is not None and math.isfinite(change) else None

    def far_enough(self, mutated: ParsedClaim, share: float, least: float) -> bool:
        """Whether an error moves a fixed claimed number so far that it can be seen.

        It has to move it by a share of it, or by the number `least` where that is 0. A constant may
        hardly matter, as the 1 of `n / (n + 1)` where n is 1000: a small change of it is less than
        any verdict can see. The first case counts at which the two differ, where the mutant is
        judged. Errors that only draws can show are always far enough.
        """
        if "==" not in self.parsed.statement.operators:
            return True  # a bound may have any room to spare
        for case in self.cases:
            own, other = self.own(case.parameters), self._read(mutated, case.parameters)
            if own is None or other is None or same_case(own, other):
                continue
            sides = fixed_sides(own, other)
            if sides is None:
                return True
            old, new = sides
            return abs(new - old) >= (1 - ROUNDED_CHANGE) * (share * abs(old) or least)
        return True


def _text(parsed: ParsedClaim) -> _Text:
    return parsed.model, parsed.statement


def same_case(first: LoweredCase, second: LoweredCase) -> bool:
    """Whether two cases have the same graph, after all known numbers are computed.

    Equal graphs are the same claim. Different ones may be so too, which only draws can show.
    """
    return _comparable(first, second) and all(
        same_value(a, b) for a, b in zip(first.operands, second.operands, strict=True)
    )


def _comparable(first: LoweredCase, second: LoweredCase) -> bool:
    """Whether two cases have as many sides, the same operators and entries, and the same law."""
    return (
        (first.operators, first.entries) == (second.operators, second.entries)
        and _same_law(first.law, second.law)
        and len(first.operands) == len(second.operands)
    )


def _same_law(first: LawClaim | None, second: LawClaim | None) -> bool:
    """Whether two statements on laws claim the same, apart from their quantities."""
    if first is None or second is None:
        return first is second
    return (first.relation, first.law, first.arguments, first.over) == (
        second.relation,
        second.law,
        second.arguments,
        second.over,
    )


def same_value(first: Value, second: Value) -> bool:
    """Whether two quantities are computed in the same way from the same draws."""
    known: dict[tuple[int, int], bool] = {}
    stack = [(first, second)]
    while stack:  # a model may be too deep for recursion
        outcome = _compared(*stack[-1], known)
        if isinstance(outcome, bool):
            one, other = stack.pop()
            known[id(one), id(other)] = outcome
        else:
            stack.extend(outcome)
    return known[id(first), id(second)]


def _compared(
    first: Value, second: Value, known: Mapping[tuple[int, int], bool]
) -> bool | list[tuple[Value, Value]]:
    """Whether two quantities are computed in the same way, or the pairs to compare first."""
    one, other = first.known, second.known
    if one is not None and other is not None:
        return first.shape == second.shape and _close(one, other)
    # two draws from one law are two quantities, which their names tell apart
    draw = first.kind == Kind.DRAW
    if _head(first, named=draw) != _head(second, named=draw):
        return False
    orders = [second.inputs]
    if first.kind == Kind.COMPUTED and first.function.commutes:
        orders.append(second.inputs[::-1])
    for inputs in orders:
        pairs = list(zip(first.inputs, inputs, strict=True))
        unknown = [pair for pair in pairs if (id(pair[0]), id(pair[1])) not in known]
        if unknown:
            return unknown
        if all(known[id(a), id(b)] for a, b in pairs):
            return True
    return False


def _head(value: Value, *, named: bool) -> tuple[object, ...]:
    """The description of a quantity without its inputs, to compare two quantities by."""
    name = value.name if named else None
    return value.kind, value.operation, value.options, value.shape, name, len(value.inputs)


def fixed_change(first: LoweredCase, second: LoweredCase) -> float | None:
    r"""The relative change of the one fixed side in which two cases differ; None without one.

    >>> from dropcheck.claims.reader import read_text
    >>> from dropcheck.language.cases import lower_case, parse_claim
    >>> def read(claim):
    ...     text = f"dropcheck: 1\nclaims: {{c: {{title: t, model: 'x ~ normal(0, 1)', {claim}}}}}"
    ...     case = read_text(text).expand()[0]
    ...     return lower_case(parse_claim(case.claim), case.parameters)
    >>> fixed_change(read("claim: Var(x) == 1"), read("claim: Var(x) == 5/4"))
    0.25
    """
    numbers = fixed_sides(first, second)
    if numbers is None:
        return None
    old, new = numbers
    return abs(new - old) / abs(old) if old else math.inf


def fixed_sides(first: LoweredCase, second: LoweredCase) -> tuple[float, float] | None:
    """The one fixed side in which two cases differ, in each of them; None without one.

    For arrays it is the side of the entry that changes most.
    """
    if not _comparable(first, second) or first.law is not None:
        return None
    changes = [
        (a, b) for a, b in zip(first.operands, second.operands, strict=True) if not same_value(a, b)
    ]
    if not changes or (len(changes) > 1 and not first.entries):
        return None
    known = [(old.known, new.known) for old, new in changes]
    sides = [(old, new) for old, new in known if isinstance(old, float) and isinstance(new, float)]
    if len(sides) < len(changes):
        return None
    return max(sides, key=lambda side: abs(side[1] - side[0]) / (abs(side[0]) or 1.0))


def _close(first: Plain, second: Plain) -> bool:
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(_close, first, second))
    if isinstance(first, float) and isinstance(second, float):
        both_nan = math.isnan(first) and math.isnan(second)
        return both_nan or first == second or math.isclose(first, second, rel_tol=READING_ROUNDING)
    return False
