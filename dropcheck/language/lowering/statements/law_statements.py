"""Lowers statements about laws: `y ~ law`, `x ~ y`, `independent(x, y)`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dropcheck.errors import About
from dropcheck.language.graph import Value
from dropcheck.language.law_claims import LawClaim, Relation, pairs
from dropcheck.language.lowering.context import Context
from dropcheck.language.lowering.draws import check_values, own_axes, read_draw, unknown_law
from dropcheck.language.lowering.named_axes import axis_names, rounded_for_code
from dropcheck.language.printing import unparse
from dropcheck.language.suggestions import square_for_sd
from dropcheck.language.syntax import ArrayLiteral, Call, Name, Node, Statement, Subscript
from dropcheck.vocabulary.functions import FUNCTIONS, OF_LAWS
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.operators import OPERATORS
from dropcheck.vocabulary.relations import INDEPENDENT, OVER_KEY, SIGNATURE

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
    _refuse_size(node, value)
    if value.suspect is not None:
        raise value.suspect.at.error(value.suspect.message, about=About.TEXT)
    return value


def _refuse_size(node: Node, value: Value) -> None:
    size = math.prod(value.shape)
    if size == 0:
        raise node.at.error(f"this has no elements, its shape is {list(value.shape)}")
    if size > MOST_ENTRIES:
        raise node.at.error(
            f"a statement about laws speaks of every entry, at most {MOST_ENTRIES}, and this has "
            f"shape {list(value.shape)}",
            "draw a smaller shape, or pick entries: x[0], x[:8]",
        )


def _follows(context: Context, quantity: Value, node: Node) -> LawClaim:
    drawn = read_draw(context, node)
    law = drawn.law
    if drawn.shape is not None:
        raise node.at.error(
            "the law of a statement has no shape: each entry of the left side has it",
            f"write {unparse(node.base) if isinstance(node, Subscript) else law.signature}",
        )
    context.notes += square_for_sd(law, drawn.arguments)
    arguments = [
        context.lower_fixed(
            argument,
            f"an argument of {law.name} is random, and the law of a statement is fixed",
            "bring the quantity to a fixed law: (y - m) / s ~ normal(0, 1)",
        )
        for argument in drawn.arguments
    ]
    if own_axes(law, arguments, drawn) != () or law.own_axes is not None:
        raise drawn.at.error(
            f"{law.name} is a law of vectors, and a statement claims the law of numbers",
            "claim the law of its entries, or of a sum of them",
        )
    check_values(law, arguments, drawn)
    for parameter, value, argument in zip(law.parameters, arguments, drawn.arguments, strict=True):
        if len(value.shape) != parameter.axes:
            raise argument.at.error(
                f"{parameter.name!r} of {law.name} has shape {list(value.shape)}: the law of a "
                "statement is one law",
                "write a claim for each, or bring the entries to one law: x / s ~ normal(0, 1)",
            )
        if value.suspect is not None:
            raise value.suspect.at.error(value.suspect.message, about=About.TEXT)
    given = tuple(value.known for value in arguments)
    if None in given:
        raise drawn.at.error(f"{law.name} has too long a list for a statement about laws")
    if law.cdf(0.0, *given) is None:
        raise drawn.at.error(f"the distribution function of {law.name} is not known")
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
    written = node.items if isinstance(node, ArrayLiteral) else (node,)
    listed: list[object] = []
    for item in written:
        if isinstance(item, Name) and item.name in names:
            listed.append(float(names.index(item.name)))
            continue
        value = context.lower_fixed(item, "axes must be fixed", f"write {OVER_KEY}=[0]")
        known = value.known
        listed += known if isinstance(known, tuple) else (known,)
    axes: list[int] = []
    for one in listed:
        if not isinstance(one, float) or one != int(one) or not -len(shape) <= one < len(shape):
            raise node.at.error(
                f"{OVER_KEY!r} names axes of a quantity of shape {list(shape)}",
                _known_axes(shape, names),
            )
        axes.append(int(one) % len(shape))
    if math.prod(shape[axis] for axis in set(axes)) < 2:
        raise node.at.error(f"along these axes a quantity of shape {list(shape)} has one entry")
    return tuple(sorted(set(axes)))


def _known_axes(shape: Sequence[int], names: Sequence[str]) -> str:
    if not shape:
        return "a number has none"
    named = [name for name in names if name]
    beside = f", and by name {', '.join(named)}" if named else ""
    return f"its axes are {list(range(len(shape)))}{beside}"
