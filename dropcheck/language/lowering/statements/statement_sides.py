"""The sides of a statement as values: numbers, or entries of arrays."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from dropcheck.claims.values import parameter_text
from dropcheck.errors import About, DropcheckError, Problem
from dropcheck.language.graph import Kind, Value, operators
from dropcheck.language.lowering.builder import Skipped
from dropcheck.language.lowering.context import Context
from dropcheck.language.lowering.entries import EntryIndex, entries_of_sides
from dropcheck.language.printing import unparse
from dropcheck.language.syntax import Call, Name, Node, Statement, children
from dropcheck.records import record
from dropcheck.results import ParameterValue
from dropcheck.vocabulary import shapes
from dropcheck.vocabulary.functions.elementwise import ADD, DIVIDE, MULTIPLY, NEGATIVE, SUBTRACT
from dropcheck.vocabulary.operators import OPERATORS, operator_like


@record
class Sides:
    """The sides of a statement in order; of a statement about arrays, the sides of each entry.

    `entries` are the indices of these entries; empty for a statement about numbers.
    """

    values: tuple[Value, ...]
    entries: tuple[EntryIndex, ...] = ()


def statement_sides(
    context: Context, statement: Statement, parameters: Mapping[str, ParameterValue]
) -> Sides:
    """The sides of a statement as values; if a side is an array, each entry is claimed.

    Raises:
        DropcheckError: the problems of all sides that are not numbers to compare.
        Skipped: a side depends on an error, or is postponed.
    """
    nodes, notes = statement.operands, len(context.notes)
    context.entrywise = context.pooled = False
    values = _lowered_sides(context, nodes)
    # a formula such as `E[d_i] = 1` is about each element; if all have one law, one is enough
    if any(value.shape for value in values) or (context.formula and context.pooled):
        del context.notes[notes:]
        context.entrywise = True  # also for the operators on the other side
        values = _lowered_sides(context, nodes)
    if not any(value.shape for value in values):
        _check_all(parameters, zip(values, nodes, strict=True))
        _check_quantiles(values, nodes)
        return Sides(tuple(values))
    _check_shapes(nodes, values)
    empty = next((node for node, one in zip(nodes, values, strict=True) if 0 in one.shape), None)
    if empty is not None:
        raise empty.at.error("this side of the claim has no entries")
    entries, own = entries_of_sides(context, values)
    _check_all(parameters, zip(own, itertools.cycle(nodes), strict=False))
    _check_quantiles(own, list(itertools.islice(itertools.cycle(nodes), len(own))))
    return Sides(tuple(own), tuple(entries))


def _check_quantiles(values: Sequence[Value], nodes: Sequence[Node]) -> None:
    """Check that quantiles are used in a way that can be judged.

    Raises:
        DropcheckError: a quantile is of an array, or it is multiplied or combined with another
            operator.
    """
    own = [value for value in operators(values) if value.operator.quantile]
    if not own:
        return
    for value in own:
        if any(one.shape for one in value.inputs):
            shape = shapes.broadcast([one.shape for one in value.inputs])
            raise value.at.error(
                f"{value.operation} is of one number a draw, and this has shape {list(shape)}",
                f"pick an element, x[0], or claim each: {value.operation}(…) == [a, b]",
            )
    for value, node in zip(values, nodes, strict=True):
        if value.estimated and not _adds_quantiles(value):
            raise node.at.error(
                "quantiles are compared with numbers and with one another: sums and differences "
                "of them, with fixed factors, and no other operator beside them",
                "write their value as a number, and claim E(…) and the like separately",
            )


def _adds_quantiles(value: Value) -> bool:
    if not value.estimated:
        return True
    if value.kind == Kind.OPERATOR:
        return value.operator.quantile
    if value.kind != Kind.COMPUTED:
        return False
    match value.operation:
        case ADD.name | SUBTRACT.name | NEGATIVE.name:
            return all(map(_adds_quantiles, value.inputs))
        case MULTIPLY.name | DIVIDE.name:
            first, second = value.inputs
            over = value.operation == DIVIDE.name
            if (first.estimated and second.estimated) or (over and second.estimated):
                return False
            return _adds_quantiles(first) and _adds_quantiles(second)
    return False


def _check_shapes(nodes: Sequence[Node], values: Sequence[Value]) -> None:
    """Check that arrays on the sides have one shape, or that the other side is a number.

    Raises:
        DropcheckError: at a side that does not fit.
    """
    shaped = [one for one in values if one.shape]
    for node, value in zip(nodes, values, strict=True):
        if value.shape and value.shape != shaped[0].shape:
            raise node.at.error(
                "sides are compared entry by entry, and have shapes "
                f"{list(shaped[0].shape)} and {list(value.shape)}",
                _of_a_matrix(nodes, values) or "give both one shape, or compare with a number",
            )
    estimated = [one for one in values if one.estimated]
    if estimated and not any(one.shape for one in estimated):
        node = next(one for one, value in zip(nodes, values, strict=True) if value.shape)
        raise node.at.error(
            f"this side of the claim has shape {list(shaped[0].shape)}, and the other is a number",
            _of_a_matrix(nodes, values) or "pick an element, x[0], or reduce it: max(…), sum(…)",
        )


def _of_a_matrix(nodes: Sequence[Node], values: Sequence[Value]) -> str | None:
    """A hint if a matrix is compared with an operator that gives no matrix."""
    if not any(len(one.shape) == 2 and one.shape[0] == one.shape[1] for one in values):
        return None
    pairs = zip(nodes, values, strict=True)
    calls = ((one, value.shape) for one, value in pairs if isinstance(one, Call))
    node, shape = next((one for one in calls if one[0].name in OPERATORS), (None, ()))
    if node is None or len(shape) > 1 or not node.arguments:
        return None
    name, operands = node.name, [unparse(one) for one in node.arguments]
    if OPERATORS[name].of_pairs:
        if len(set(operands)) == 1:
            return f"write {name}({operands[0]}) for the matrix of all pairs of elements"
        if not shape:
            pair = ", ".join(operands)
            return f"write {name}([{pair}]) for the matrix, or claim one entry: {name}({pair})"
        entry = f"{name}({operands[0]}[0], {operands[1]}[1])"
        return f"{name} of two vectors pairs element by element: claim one entry, such as {entry}"
    if not shape:
        return f"{name}({', '.join(operands)}) is one number: claim a number of it"
    matrices = " or ".join(f"{one}({operands[0]})" for one in OPERATORS if OPERATORS[one].of_pairs)
    return f"the matrix of all pairs of elements is {matrices}"


def _lowered_sides(context: Context, nodes: Sequence[Node]) -> list[Value]:
    problems: list[Problem] = []
    values: list[Value] = []
    skipped = False
    for node in nodes:
        try:
            value = context.lower(node)
            if value.random:
                raise _outside_an_operator(context, node)
            if value.postponed and value.shape:
                raise Skipped
            values.append(value)
        except Skipped:
            skipped = True
        except DropcheckError as error:
            problems.extend(error.problems)
    if problems:
        raise DropcheckError(problems)
    if skipped:
        raise Skipped
    return values


def _check_all(
    parameters: Mapping[str, ParameterValue], sides: Iterable[tuple[Value, Node]]
) -> None:
    problems: dict[Problem, None] = {}
    for value, node in sides:
        try:
            _check_side(value, node, parameters)
        except DropcheckError as error:
            problems |= dict.fromkeys(error.problems)
    if problems:
        raise DropcheckError(problems)


def _check_side(value: Value, node: Node, parameters: Mapping[str, ParameterValue]) -> None:
    """Check that a side is a number that can be compared.

    Raises:
        DropcheckError: it is not.
    """
    known, suspect = value.known, value.suspect
    if (
        isinstance(known, float)
        and not math.isfinite(known)
        and (suspect is None or suspect.cured_if_finite)
    ):
        raise node.at.error(f"this side of the claim is {known}", "a claim compares finite numbers")
    if suspect is not None:
        where = f" where {parameter_text(parameters)}" if parameters else ""
        raise suspect.at.error(
            f"{suspect.message}{where}",
            "choose another value, add a condition such as 'requires: p < 1', or guard the "
            f"branch with where(…){suspect.hint}",
            About.NAMED_VALUES if parameters else About.TEXT,
        )


def _outside_an_operator(context: Context, node: Node) -> DropcheckError:
    # Point at the random name, which is nearer to the mistake than the whole side.
    culprit: Node = node
    for below in _walk_outside_operators(node):
        if isinstance(below, Name):
            try:
                meaning = context.scope.look_up(below.name, below.at)
            except (DropcheckError, Skipped):
                continue
            if isinstance(meaning, Value) and meaning.random:
                culprit = below
                break
    if isinstance(culprit, Name):
        message = f"{culprit.name!r} is random, and stands outside an operator"
    else:
        message = "this is random, and stands outside an operator"
    hint = "write what is claimed of it: E(…), Var(…), Std(…), P(…), …"
    meant = operator_like(node.name) if isinstance(node, Call) else None
    if isinstance(node, Call) and meant is not None:
        hint = (
            f"{node.name!r} is over the elements of one draw; did you mean {meant.name}(…), which "
            f"speaks of the law, or E({node.name}(…))?"
        )
    return culprit.at.error(message, hint)


def _walk_outside_operators(node: Node) -> list[Node]:
    if isinstance(node, Call) and node.name in OPERATORS:
        return []
    nodes = [node]
    for below in children(node):
        nodes.extend(_walk_outside_operators(below))
    return nodes
