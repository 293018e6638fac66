"""A claim read, and one of its cases as a typed graph."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from dropcheck.claims.registry import Claim, SourceText
from dropcheck.claims.registry import Value as ParameterValue
from dropcheck.errors import DropcheckError, Location, Problem
from dropcheck.language.graph import Folder, Value
from dropcheck.language.lower import Lowering
from dropcheck.language.parser import parse_expression, parse_model, parse_statement
from dropcheck.language.scope import LawParameterValue, Poisoned
from dropcheck.language.syntax import (
    Call,
    ModelLine,
    Name,
    Node,
    Position,
    Statement,
    children,
)


@dataclass(frozen=True, slots=True)
class ParsedClaim:
    """The texts of a claim as nodes; `laws` holds those of its parameters that are laws."""

    claim: Claim
    model: tuple[ModelLine, ...]
    statement: Statement
    requires: tuple[Node, ...]
    laws: Mapping[str, Call]


@dataclass(frozen=True, slots=True)
class LoweredCase:
    """One case: the operands of its statement as values, ready to compile."""

    operators: tuple[str, ...]
    operands: tuple[Value, ...]
    at: Position
    notes: tuple[Problem, ...]


def parse_claim(claim: Claim) -> ParsedClaim:
    """Read the texts of a claim.

    Raises:
        DropcheckError: with the problems of all its texts.
    """
    problems: list[Problem] = []
    model: tuple[ModelLine, ...] = ()
    statement: Statement | None = None
    requires: list[Node] = []
    try:
        model = parse_model(claim.model) if claim.model is not None else ()
    except DropcheckError as error:
        problems.extend(error.problems)
    try:
        statement = parse_statement(claim.statement)
    except DropcheckError as error:
        problems.extend(error.problems)
    for text in claim.requires:
        try:
            requires.append(parse_expression(text))
        except DropcheckError as error:
            problems.extend(error.problems)
    if problems or statement is None:
        raise DropcheckError(problems)
    return ParsedClaim(claim, model, statement, tuple(requires), {})


def parse_law(text: str, at: Location) -> Call:
    """A law given as a parameter's value.

    Raises:
        DropcheckError: where the text is no law, at the parameter's place.
    """
    source = SourceText(text, at.file, ((at.line or 1, at.column or 1),), (at.text or text,))
    try:
        node = parse_expression(source)
    except DropcheckError as error:
        raise DropcheckError(
            Problem(f"{text!r} is not a law: {p.message}", at, p.hint) for p in error.problems
        ) from None
    if not isinstance(node, Call):
        raise DropcheckError(
            Problem(f"{text!r} is not a law", at, "write for example normal(0, 1)")
        )
    return node


def lower_case(
    parsed: ParsedClaim, parameters: Mapping[str, ParameterValue], folder: Folder
) -> LoweredCase:
    """The typed graph of one case.

    Raises:
        DropcheckError: with every problem of the case.
    """
    claim = parsed.claim
    lowering = Lowering(folder)
    problems: list[Problem] = []
    for name, value in parameters.items():
        here = claim.parameter_locations.get(name, claim.location)
        node = Name(_position(here, name), name)
        try:
            if isinstance(value, str):
                lowering.define_parameter(node, LawParameterValue(parse_law(value, here)))
            else:
                lowering.define_parameter(node, float(value))
        except DropcheckError as error:
            problems.extend(error.problems)
            lowering.scope.poison([node])
    broken = _check_requires(parsed, lowering, parameters, problems)
    if broken:  # what a broken condition guards against would only be told a second time
        raise DropcheckError(problems)
    for line in parsed.model:
        try:
            lowering.define_line(line)
        except Poisoned:
            lowering.scope.poison(line.names)
        except DropcheckError as error:
            problems.extend(error.problems)
            lowering.scope.poison(line.names)
    operands: list[Value] = []
    for operand in parsed.statement.operands:
        try:
            operands.append(_operand(lowering, operand, parameters))
        except Poisoned:
            continue
        except DropcheckError as error:
            problems.extend(error.problems)
    if problems:
        raise DropcheckError(problems)
    _check_range(lowering, parsed, operands)
    return LoweredCase(
        parsed.statement.operators, tuple(operands), parsed.statement.at, tuple(lowering.notes)
    )


def _check_requires(
    parsed: ParsedClaim,
    lowering: Lowering,
    parameters: Mapping[str, ParameterValue],
    problems: list[Problem],
) -> bool:
    """Collect the conditions on parameters that do not hold; whether one is broken."""
    broken = False
    for node, text in zip(parsed.requires, parsed.claim.requires, strict=True):
        try:
            value = lowering.lower(node)
        except Poisoned:
            continue
        except DropcheckError as error:
            problems.extend(error.problems)
            continue
        known = lowering.plain(value)
        if known is not None and not (
            isinstance(known, float) and known != 0 and not math.isnan(known)
        ):
            used = {n: v for n, v in parameters.items() if n in _names(node)}
            problems.append(
                Problem(
                    f"{parsed.claim.id} requires {text.text.strip()}, and {parameter_text(used)}",
                    text.locate(0, 0),
                    "choose values for which it holds",
                )
            )
            broken = True
    return broken


def _operand(lowering: Lowering, node: Node, parameters: Mapping[str, ParameterValue]) -> Value:
    value = lowering.lower(node)
    if value.random:
        raise _outside_an_operator(node, value, lowering)
    if value.shape not in ((), None):
        shape = ", ".join(map(str, value.shape or ()))
        raise node.at.error(
            f"a side of a claim is one number, and this has shape [{shape}]",
            "pick an element, x[0], or reduce it: max(…), sum(…)",
        )
    if value.suspect is not None:
        at, what = value.suspect
        where = f" where {parameter_text(parameters)}" if parameters else ""
        raise at.error(
            f"{what}{where}",
            "choose another value, add a condition such as 'requires: p < 1', or guard the "
            "branch with where(…)",
        )
    known = lowering.plain(value)
    if isinstance(known, float) and not math.isfinite(known):
        raise node.at.error(f"this side of the claim is {known}", "a claim compares finite numbers")
    return value


def _outside_an_operator(node: Node, value: Value, lowering: Lowering) -> DropcheckError:
    # Point at the random name itself, which is nearer to the mistake than the whole side.
    culprit: Node = node
    for below in _walk_outside_operators(node):
        if isinstance(below, Name):
            try:
                found = lowering.scope.look_up(below.name, below.at)
            except (DropcheckError, Poisoned):
                continue
            if isinstance(found, Value) and found.random:
                culprit = below
                break
    del value
    if isinstance(culprit, Name):
        message = f"{culprit.name!r} is random, and stands outside an operator"
    else:
        message = "this is random, and stands outside an operator"
    hint = "write what is claimed of it: E(…), Var(…), Std(…), P(…), …"
    if isinstance(node, Call) and node.name in ("mean", "var", "std"):
        operator = {"mean": "E", "var": "Var", "std": "Std"}[node.name]
        hint = (
            f"{node.name!r} is over the elements of one draw; did you mean {operator}(…), which "
            f"speaks of the law, or E({node.name}(…))?"
        )
    return culprit.at.error(message, hint)


def _walk_outside_operators(node: Node) -> list[Node]:
    from dropcheck.language.scope import OPERATORS

    if isinstance(node, Call) and node.name in OPERATORS:
        return []
    found = [node]
    for below in children(node):
        found.extend(_walk_outside_operators(below))
    return found


def _check_range(lowering: Lowering, parsed: ParsedClaim, operands: list[Value]) -> None:
    if len(operands) != 3:
        return
    low, high = lowering.plain(operands[0]), lowering.plain(operands[2])
    if parsed.statement.operators[0].startswith(">"):
        low, high = high, low
    if isinstance(low, float) and isinstance(high, float) and low > high:
        raise parsed.statement.at.error(
            f"this range is empty: its lower end {low:.12g} is above its upper end {high:.12g}",
            "write the smaller number on the side of the smaller end",
        )


def _position(location: Location, text: str) -> Position:
    source = SourceText(
        text, location.file, ((location.line or 1, location.column or 1),), (location.text or text,)
    )
    return Position(source, 0, 0)


def parameter_text(parameters: Mapping[str, ParameterValue]) -> str:
    """Parameters as people write them: `p = 0.5, n = 10`."""
    return ", ".join(
        f"{name} = {value if isinstance(value, str) else f'{value:.12g}'}"
        for name, value in parameters.items()
    )


def _names(node: Node) -> set[str]:
    found = {node.name} if isinstance(node, Name) else set()
    for below in children(node):
        found |= _names(below)
    return found


def used_names(parsed: ParsedClaim) -> set[str]:
    """Every name that the claim's texts mention, laws of the parameters included."""
    found: set[str] = set()
    roots = [*parsed.statement.operands, *parsed.requires, *(line.right for line in parsed.model)]
    for root in roots:
        found |= _names(root)
    return found
