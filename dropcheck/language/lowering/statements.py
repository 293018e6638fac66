"""Lowers statements about laws: `y ~ law`, `x ~ y`, `independent(x, y)`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from dropcheck.claims.registry import Claim
from dropcheck.claims.values import format_value, parameter_text
from dropcheck.errors import About, DropcheckError, Problem
from dropcheck.language.graph import LawClaim, Relation, Value, of_operators, operators, pairs
from dropcheck.language.lowering.builder import Context, Skipped, axis_names, rounded_for_code
from dropcheck.language.lowering.lower import EntryIndex, entries_of_sides
from dropcheck.language.lowering.model import check_values, read_law, unknown_law
from dropcheck.language.syntax import (
    ArrayLiteral,
    Call,
    Name,
    Node,
    Statement,
    Subscript,
    unparse,
    walk,
)
from dropcheck.results import ParameterValue
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import (
    INDEPENDENT,
    OPERATORS,
    OVER_KEY,
    SIGNATURE,
    operator_like,
)

# The most entries of one draw in a statement about laws; each entry has histogram cells.
MOST_ENTRIES = 64
# The most pairs of entries that may be claimed to be independent.
MOST_PAIRS = 1024
_CALLED = frozenset({*FUNCTIONS, *OPERATORS, *OF_LAWS})
# The most arguments of `independent`.
MOST_QUANTITIES = 16


def law_claim(context: Context, statement: Statement) -> LawClaim:
    """A statement about laws, with its quantities and its law as values.

    Raises:
        DropcheckError: a quantity or a law cannot be claimed in this way.
        Skipped: a part of it has an error that is reported elsewhere.
    """
    if not statement.operators:
        (node,) = statement.operands
        assert isinstance(node, Call)
        return _independent(context, node)
    left, right = statement.operands
    if _names_law(context, left):
        raise left.at.error(
            "a law stands left of '~'",
            f"the quantity stands left, and its law right: {unparse(right)} ~ {unparse(left)}",
        )
    quantity = _quantity(context, left)
    if _names_law(context, right):
        return _follows(context, quantity, right)
    if isinstance(right, Call) and right.name not in _CALLED:
        raise unknown_law(right)
    other = _quantity(context, right)
    if not other.random:
        raise right.at.error(
            "this is a number, not a law",
            f"write a law such as normal(0, 1), or {unparse(left)} == {unparse(right)} within P(…)",
        )
    if quantity.shape != other.shape:
        raise statement.at.error(
            f"the sides of '~' have shapes {list(quantity.shape)} and {list(other.shape)}: each "
            "entry is claimed to have the law of the same entry on the other side",
            "pick the entries that are meant, such as x[0]",
        )
    if quantity is other:
        raise statement.at.error(
            "both sides of '~' are one and the same quantity", "compare it with another, or a law"
        )
    # a draw of the model has more digits than a value of code
    sides = ((quantity, left.at), (other, right.at))
    both = tuple(rounded_for_code(context, value, at) for value, at in sides)
    return LawClaim(relation=Relation.ALIKE, quantities=both)


def _names_law(context: Context, node: Node) -> bool:
    """Whether a node is a law: a call of one, or a parameter whose value is one."""
    base = node.base if isinstance(node, Subscript) else node
    if isinstance(base, Call):
        return base.name in LAWS
    if not isinstance(base, Name):
        return False
    if base.name not in context.scope:
        return base.name in LAWS
    return isinstance(context.scope.look_up(base.name, base.at), Call)


def _quantity(context: Context, node: Node) -> Value:
    value = context.lower(node)
    if value.estimated:
        raise node.at.error(
            "an operator on the law stands beside '~'",
            "'~' speaks of the law of a random quantity, and E(…) is a number: compare it by '=='",
        )
    shape = list(value.shape)
    if 0 in shape:
        raise node.at.error(f"this has no elements, its shape is {shape}")
    if math.prod(shape) > MOST_ENTRIES:
        raise node.at.error(
            f"a statement about laws speaks of every entry, at most {MOST_ENTRIES}, and this has "
            f"shape {shape}",
            "draw a smaller shape, or pick entries: x[0], x[:8]",
        )
    if value.suspect is not None:
        raise value.suspect.at.error(value.suspect.message, about=About.TEXT)
    return value


def _follows(context: Context, quantity: Value, node: Node) -> LawClaim:
    called = read_law(context, node)
    law = called.law
    if called.shape is not None:
        raise node.at.error(
            "the law of a statement has no shape: each entry of the left side has it",
            f"write {unparse(node.base) if isinstance(node, Subscript) else law.signature}",
        )
    if law.own_axes is not None:
        raise called.at.error(
            f"{law.name} is a law of vectors, and a statement claims the law of numbers",
            "claim the law of its entries, or of a sum of them",
        )
    for parameter, value, argument in zip(law.parameters, called.values, called.nodes, strict=True):
        if value.random:
            raise argument.at.error(
                f"an argument of {law.name} is random, and the law of a statement is fixed",
                "bring the quantity to a fixed law: (y - m) / s ~ normal(0, 1)",
            )
        if len(value.shape) != parameter.axes:
            raise argument.at.error(
                f"{parameter.name!r} of {law.name} has shape {list(value.shape)}: the law of a "
                "statement is one law",
                "write a claim for each, or bring the entries to one law: x / s ~ normal(0, 1)",
            )
        if value.suspect is not None:
            raise value.suspect.at.error(value.suspect.message, about=About.TEXT)
    check_values(called)
    given = tuple(value.known for value in called.values)
    if None in given:
        raise called.at.error(f"{law.name} has too long a list for a statement about laws")
    return LawClaim(relation=Relation.FOLLOWS, quantities=(quantity,), law=law, arguments=given)


def _independent(context: Context, node: Call) -> LawClaim:
    for name, value in node.keywords:
        if name != OVER_KEY:
            raise value.at.error(f"{INDEPENDENT} has no argument {name!r}", f"write {SIGNATURE}")
    axes = dict(node.keywords).get(OVER_KEY)
    quantities = [_quantity(context, argument) for argument in node.arguments]
    if len(quantities) > MOST_QUANTITIES:
        raise node.at.error(
            f"{INDEPENDENT} takes at most {MOST_QUANTITIES} quantities",
            f"put them into an array: {INDEPENDENT}(x, {OVER_KEY}=[0])",
        )
    if len({id(one) for one in quantities}) < len(quantities):
        raise node.at.error(
            "one quantity is named twice, and no quantity is independent of itself",
            "name each once",
        )
    if axes is None:
        if len(quantities) < 2:
            raise node.at.error(
                f"{INDEPENDENT} compares at least two quantities, and this has {len(quantities)}",
                f"write {SIGNATURE}, or {INDEPENDENT}(u, {OVER_KEY}=[0]) for the entries of one",
            )
        claim = LawClaim(relation=Relation.INDEPENDENT, quantities=tuple(quantities))
    else:
        if len(quantities) != 1:
            raise axes.at.error(
                f"{OVER_KEY!r} goes with one quantity", f"write {INDEPENDENT}(u, {OVER_KEY}=[0])"
            )
        names = axis_names(context, node.arguments[0], len(quantities[0].shape))
        over = _axes(context, axes, quantities[0].shape, names)
        claim = LawClaim(relation=Relation.INDEPENDENT, quantities=tuple(quantities), over=over)
    if len(pairs(claim)) > MOST_PAIRS:
        raise node.at.error(
            f"these are {len(pairs(claim)):,} pairs of entries, and at most {MOST_PAIRS:,} are "
            "looked at",
            "draw a smaller shape, or pick entries: x[:8]",
        )
    return claim


def _axes(
    context: Context, node: Node, shape: Sequence[int], names: Sequence[str]
) -> tuple[int, ...]:
    """The axes listed by `over`, by number or by name."""
    listed: list[object] = []
    for item in node.items if isinstance(node, ArrayLiteral) else (node,):
        if isinstance(item, Name) and item.name in names:
            listed.append(float(names.index(item.name)))
            continue
        known = context.lower_fixed(item, "axes must be fixed", f"write {OVER_KEY}=[0]").known
        listed += known if isinstance(known, tuple) else (known,)
    known_axes = range(-len(shape), len(shape))
    axes = {axis % len(shape) for axis in known_axes if axis in listed}
    if not all(one in known_axes for one in listed):
        beside = ", and by name ".join(["", ", ".join(filter(None, names))]) if any(names) else ""
        raise node.at.error(
            f"{OVER_KEY!r} names axes of a quantity of shape {list(shape)}",
            f"its axes are {list(range(len(shape)))}{beside}" if shape else "a number has none",
        )
    if math.prod(shape[axis] for axis in axes) < 2:
        raise node.at.error(f"along these axes a quantity of shape {list(shape)} has one entry")
    return tuple(sorted(axes))


# ---- statement checks ----------------------------------------------------------------------------
#
# Checks of a statement whose sides are values: its range and its tolerance.


def check_range(statement: Statement, operands: Sequence[Value]) -> None:
    """Refuse an empty range.

    Raises:
        DropcheckError: both ends are fixed, and the lower end is above the upper end.
    """
    if len(statement.operands) != 3:
        return
    for ends in zip(operands[::3], operands[2::3], strict=True):
        falling = statement.operators[0].startswith(">")
        low, high = (one.known for one in (ends[::-1] if falling else ends))
        if isinstance(low, float) and isinstance(high, float) and low > high:
            raise statement.at.error(
                f"this range is empty: its lower end {low:.12g} is above its upper end {high:.12g}",
                "write the smaller number on the side of the smaller end",
            )


def check_tolerance(claim: Claim, statement: Statement, operands: Sequence[Value]) -> None:
    """Refuse a tolerance relative to 0.

    Raises:
        DropcheckError: at the side that is 0.
    """
    if claim.tolerance is None or claim.tolerance.absolute or len(operands) != 2:
        return
    end = 0 if operands[1].estimated and not operands[0].estimated else 1
    if operands[end].known == 0:
        size = format_value(claim.tolerance.size)
        raise statement.operands[end].at.error(
            f"'tolerance: {size}' is a share of this side, which is 0: it allows nothing",
            f"write 'tolerance: {{absolute: {size}}}' for a number",
        )


# ---- statement sides -----------------------------------------------------------------------------
#
# The sides of a statement as values: numbers, or entries of arrays.


def statement_sides(
    context: Context, statement: Statement, parameters: Mapping[str, ParameterValue]
) -> tuple[tuple[Value, ...], tuple[EntryIndex, ...]]:
    """The sides of a statement as values, in order; of arrays, the sides of each entry.

    With the indices of these entries, if there are several.

    Raises:
        DropcheckError: the problems of all sides that are not numbers to compare.
        Skipped: a side depends on an error.
    """
    nodes = statement.operands
    values = _lowered_sides(context, nodes)
    shape = next((value.shape for value in values if value.shape), ())
    if shape:
        _check_shapes(nodes, values)
    for node, value in zip(nodes, values, strict=True):
        if 0 in value.shape:
            raise node.at.error("this side of the claim has no entries")
    entries, own = entries_of_sides(context, values, shape, statement.at)
    sides = list(zip(own, itertools.cycle(nodes), strict=False))
    _check_sides(parameters, sides)
    if any(value.operator.quantile for value in operators(own)):
        for value, node in sides:
            form = of_operators(value)
            if form is None or not all(one.operator.quantile for _, one in form.terms):
                raise node.at.error(
                    "quantiles are compared with numbers and with one another: sums and "
                    "differences of them, with fixed factors, and no other operator beside them",
                    "write their value as a number, and claim E(…) and the like separately",
                )
    return tuple(own), tuple(entries) if len(entries) > 1 else ()


def _check_shapes(nodes: Sequence[Node], values: Sequence[Value]) -> None:
    """Check that arrays on the sides have one shape, or that the other side is a number."""
    shaped = [one for one in values if one.shape]
    for node, value in zip(nodes, values, strict=True):
        if value.shape and value.shape != shaped[0].shape:
            raise node.at.error(
                "sides are compared entry by entry, and have shapes "
                f"{list(shaped[0].shape)} and {list(value.shape)}",
                "give both one shape, or compare with a number; of a vector Cov(x) and Corr(x) are "
                "matrices",
            )
    estimated = [one for one in values if one.estimated]
    if estimated and not any(one.shape for one in estimated):
        node = next(one for one, value in zip(nodes, values, strict=True) if value.shape)
        raise node.at.error(
            f"this side of the claim has shape {list(shaped[0].shape)}, and the other is a number",
            "pick an element, x[0], or reduce it: max(…), sum(…); of a vector Cov(x) and Corr(x) "
            "are matrices",
        )


def _lowered_sides(context: Context, nodes: Sequence[Node]) -> list[Value]:
    problems: list[Problem] = []
    values: list[Value] = []
    skipped = False
    for node in nodes:
        try:
            value = context.lower(node)
            if value.random:
                raise _outside_an_operator(context, node)
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


def _check_sides(
    parameters: Mapping[str, ParameterValue], sides: Iterable[tuple[Value, Node]]
) -> None:
    """Check that sides are numbers that can be compared."""
    problems: dict[Problem, None] = {}
    for value, node in sides:
        known, suspect = value.known, value.suspect
        infinite = isinstance(known, float) and not math.isfinite(known)
        if infinite and suspect is None:
            message = f"this side of the claim is {known}"
            error = node.at.error(message, "a claim compares finite numbers")
        elif suspect is not None:
            where = f" where {parameter_text(parameters)}" if parameters else ""
            error = suspect.at.error(
                f"{suspect.message}{where}",
                "choose another value, add a condition such as 'requires: p < 1', or guard the "
                "branch with where(…)",
                About.NAMED_VALUES if parameters else About.TEXT,
            )
        else:
            continue
        problems |= dict.fromkeys(error.problems)
    if problems:
        raise DropcheckError(problems)


def _outside_an_operator(context: Context, node: Node) -> DropcheckError:
    # Point at the random name, which is nearer to the mistake than the whole side.
    culprit: Node = node
    for below in walk(node, without=OPERATORS):
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
    hint = (
        "write what is claimed of it: E(…), Var(…), Std(…), P(…), …; what holds in every draw has "
        "probability 1: P(a <= b) == 1, P(isclose(a, b)) == 1"
    )
    meant = operator_like(node.name) if isinstance(node, Call) else None
    if isinstance(node, Call) and meant is not None:
        hint = (
            f"{node.name!r} is over the elements of one draw; did you mean {meant.name}(…), which "
            f"speaks of the law, or E({node.name}(…))?"
        )
    return culprit.at.error(message, hint)
