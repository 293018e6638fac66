"""Calls of slots: either the lines of the slot's own model, or a call of the code bound to it.

In a column of code, the values that code gets are first rounded to its number format, and the
statements are about the rounded values. Otherwise hardly any equation would hold in a format of
eight binary digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from dropcheck.claims.registry import BATCH, CALL, SEED, CodeRequest, Slot, SourceText
from dropcheck.errors import DropcheckError
from dropcheck.language.drawn_from import Sources
from dropcheck.language.graph import CodeCall, Kind, Value, joined_sources
from dropcheck.language.lowering.context import Context, Scope
from dropcheck.language.lowering.draws import draw
from dropcheck.language.lowering.loops import define_model
from dropcheck.language.lowering.named_axes import axis_names, rounded_for_code
from dropcheck.language.parser import parse_expression, parse_model
from dropcheck.language.syntax import (
    Call,
    Model,
    Name,
    Node,
    Number,
    Position,
    Statement,
    Subscript,
    bind,
    children,
    lines_of,
    walk,
)
from dropcheck.vocabulary.operators import OPERATORS
from dropcheck.vocabulary.shapes import Shape
from dropcheck.vocabulary.slot_calls import EVAL, GRAD, TRAIN, slot_and_mode

# The most calls of slots in the lines of one claim, calls within slots included.
MOST_CALLS = 1_000
SLOT_HOME = "in the slot's 'model', or list it under its 'takes'"
"""Where a name of a slot can be defined, as messages say it."""


def names_given(
    model: Model, statements: Sequence[Statement], slots: Mapping[str, Slot]
) -> set[str]:
    """All names in a claim that are arguments of slots, whole or in part (`x[0]`)."""
    names: set[str] = set()
    texts = [line.right for line in lines_of(model)]
    for node in walk(*texts, *(operand for one in statements for operand in one.operands)):
        if isinstance(node, Call) and slot_and_mode(node.name)[0] in slots:
            parts = [one.base if isinstance(one, Subscript) else one for one in children(node)]
            names |= {one.name for one in parts if isinstance(one, Name)}
    return names


def counts_draws(statement: Statement) -> bool:
    """Whether a statement is judged by counting draws: it is about laws or quantiles."""
    return statement.about_laws or any(
        isinstance(node, Call) and node.name in OPERATORS and OPERATORS[node.name].quantile
        for node in walk(*statement.operands)
    )


def define_call(context: Context, node: Call, size: Shape | None, names: tuple[str, ...]) -> Value:
    """The value of a call of a slot; with a `size`, a draw from a slot that is a sampler.

    `names` are the names of the axes of `size`, if they have any.

    Raises:
        DropcheckError: the slot does not take these arguments, or does not give what is asked.
    """
    name, mode = slot_and_mode(node.name)
    slot = context.slots.known[name]
    signature = f"{node.name}({', '.join(slot.takes)})"
    bound = bind(node, slot.takes, len(slot.takes), lambda: signature)
    _check_use(slot, node, mode, drawn=size is not None)
    if any(one.split("()")[0] == name for one in context.slots.within.split(": ")):
        raise node.at.error(
            f"the slot {name!r} is defined by itself",
            f"in its own model {name!r} means the slot: give the slot a name that is not a law or "
            "a function",
        )
    context.slots.calls += 1
    if context.slots.calls > MOST_CALLS:
        raise node.at.error(
            f"the slots of this claim are called more than {MOST_CALLS:,} times",
            "call them for arrays, not step by step",
        )
    values = [_argument(context, bound[one]) for one in slot.takes]
    code = context.slots.code(name)
    key = (name, size, *map(id, values))
    again = mode != TRAIN and key in context.slots.made
    if code is None or context.slots.within:
        if not again:
            context.slots.made[key] = _expanded(context, slot, values, node, size)
        return _part(context, slot, context.slots.made[key], mode, node)
    dry = context.apart()
    if not again:
        scope = _expanded(dry, slot, values, node, size)
        context.slots.made[key] = (f"{name}() {context.slots.calls}", scope)
    tag, scope = context.slots.made[key]
    given = _part(dry, slot, scope, TRAIN, node)  # the slot's own model shows the shape
    evaluated = mode == EVAL and slot.evaluation is not None
    like = _part(dry, slot, scope, EVAL, node) if evaluated else given
    asked = _asked(context, slot, values, [bound[one] for one in slot.takes], size, names)
    draws = not like.sources <= joined_sources(values)
    call = CodeCall(slot=slot, code=code, asked=asked, tag=tag, mode=mode, draws=draws)
    return _called(context, node, call, values, values[0].shape if mode == GRAD else given.shape)


def _check_use(slot: Slot, node: Call, mode: str, *, drawn: bool) -> None:
    if drawn and slot.law is None:
        raise node.at.error(
            f"the slot {slot.name!r} is a function", f"write y = {slot.name}(…), with '='"
        )
    if slot.law is not None and not drawn:
        raise node.at.error(
            f"the slot {slot.name!r} is a sampler",
            f"draw from it on a line of the model: y ~ {slot.name}(…)[n]",
        )
    if mode == GRAD and not slot.takes:
        raise node.at.error(f"{slot.name!r} takes nothing, and has no gradient")


def _argument(context: Context, node: Node) -> Value:
    value = context.lower(node)
    if value.estimated:
        raise node.at.error(
            "an operator on the law is given to a slot", "operators such as E(…) belong in 'claim'"
        )
    # a name is rounded where it is defined, and a number is passed as it is
    return value if isinstance(node, Name | Number) else rounded_for_code(context, value, node.at)


# ---- the mathematics -----------------------------------------------------------------------------


def _expanded(
    context: Context, slot: Slot, values: Sequence[Value], node: Call, size: Shape | None
) -> Scope:
    """The scope of a slot's model, for these values of its arguments.

    Raises:
        DropcheckError: its model has errors.
    """
    outer, within = context.scope, context.slots.within
    scope = Scope()
    scope.home = SLOT_HOME
    text = slot.gives or slot.law or SourceText.plain(slot.name, slot.location.file)
    at = Position(text, 0, 0)
    for name, value in zip(slot.takes, values, strict=True):
        scope.define(Name(at, name), value, parameter=True)
    context.scope = scope
    context.slots.within = f"{within}{slot.name}() {context.slots.calls}: "
    try:
        problems = define_model(context, () if slot.model is None else _model(slot.model))
        if problems:
            raise DropcheckError(problems)
        if size is not None and slot.law is not None:
            law = _expression(slot.law)
            shaped = law
            if size:
                shaped = Subscript(node.at, law, tuple(Number(node.at, float(n)) for n in size))
            drawn = context.draw_name(Name(node.at, slot.name))
            scope.define(Name(at, _GIVEN), draw(context, shaped, drawn))
    finally:
        context.scope, context.slots.within = outer, within
    return scope


_GIVEN = "what it gives"  # no name of a model


def _part(context: Context, slot: Slot, scope: Scope, mode: str, node: Call) -> Value:
    """The value, the evaluation or the gradient that a slot's model defines."""
    text = {TRAIN: slot.gives, EVAL: slot.evaluation, GRAD: slot.gradient}[mode]
    if slot.law is not None:
        drawn = scope.look_up(_GIVEN, node.at)
        assert isinstance(drawn, Value)
        return drawn
    if text is None:
        key = {EVAL: "evaluation", GRAD: "gradient"}[mode]
        raise node.at.error(
            f"the slot {slot.name!r} does not say what {node.name}(…) is",
            f"add '{key}: …' to the slot, or run the claim of code: --with NAME",
        )
    outer, context.scope = context.scope, scope
    try:
        return context.lower(_expression(text))
    finally:
        context.scope = outer


_model = lru_cache(maxsize=256)(parse_model)
_expression = lru_cache(maxsize=1024)(parse_expression)


# ---- the code ------------------------------------------------------------------------------------


def _called(
    context: Context, node: Call, call: CodeCall, values: Sequence[Value], shape: Shape
) -> Value:
    """A value that code gives; only its shape is known."""
    context.graph.spend_draw(None, shape, Name(node.at, node.name))
    return Value(
        kind=Kind.DRAW,
        operation=node.name,
        shape=shape,
        at=node.at,
        inputs=tuple(values),
        random=True,
        sources=Sources([call.tag]) | joined_sources(values),
        suspect=next((value.suspect for value in values if value.suspect), None),
        call=call,
    )


def _asked(
    context: Context,
    slot: Slot,
    values: Sequence[Value],
    nodes: Sequence[Node],
    size: Shape | None,
    names: tuple[str, ...],
) -> CodeRequest:
    """What a call asks of code, except its mode; leading axes say how often code is called."""
    lengths: Shape = size or ()
    for value, node in zip(values, nodes, strict=True):
        if value.random and not names:
            names, lengths = axis_names(context, node, len(value.shape)), value.shape
    length = dict(zip(names, lengths, strict=False))
    in_front = [name for name in names[:2] if name in (SEED, CALL)]
    one_call = bool(in_front) or names[:1] == (BATCH,)
    if size is None:
        one_call |= not any(value.random for value in values)
        one_call |= context.slots.single and not slot.independent
    return CodeRequest(
        draws=1,
        shapes=tuple(value.shape if value.random else None for value in values),
        dtype=context.slots.dtype,
        modes=frozenset(),
        size=size,
        seeds=length[SEED] if SEED in in_front else 1,
        calls=length[CALL] if CALL in in_front else 1,
        single=one_call,
    )
