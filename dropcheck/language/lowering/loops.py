"""Loops of a model: the lines of the body are lowered once for each step.

The result is a graph like that of lines written one below the other, so everything that works for a
model works for a loop. A name that is defined before the loop is carried from step to step. After
the loop, a name that is new in the body is the array of its values.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from dropcheck.claims.registry import BATCH, CALL, SEED, CodeRequest, Slot, SourceText
from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.graph import CodeCall, Value, joined_sources
from dropcheck.language.lowering.builder import (
    Context,
    Later,
    Scope,
    Skipped,
    axis_names,
    rounded_for_code,
)
from dropcheck.language.lowering.draws import draw, of_code
from dropcheck.language.lowering.lower import define_line
from dropcheck.language.parser import parse_expression, parse_model
from dropcheck.language.syntax import (
    Call,
    Loop,
    Model,
    ModelLine,
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
from dropcheck.vocabulary.function import EVAL, GRAD, TRAIN, slot_and_mode
from dropcheck.vocabulary.functions.arrays import ARRAY
from dropcheck.vocabulary.operators import OPERATORS
from dropcheck.vocabulary.shapes import Shape, describe

# The most names, numbers, signs and calls in the lines of all steps of a case. A step of a queue
# has 16; lowering, compiling and analysing this many takes about ten seconds.
MOST_LOOPED = 100_000
FARTHEST = 2**60  # a bound on the ends of a range


def define_model(context: Context, model: Model) -> list[Problem]:
    """Define the lines of a model or of a loop's body in order, and return the problems."""
    problems: list[Problem] = []
    context.scope.to_come |= {name.name for part in model for name in _names_of(part)}
    for part in model:
        try:
            if isinstance(part, Loop):
                _define_loop(context, part)
            else:
                define_line(context, part)
        except Skipped:
            context.scope.mark_broken(_names_of(part))
        except DropcheckError as error:
            problems.extend(error.problems)
            context.scope.mark_broken(_names_of(part))
    return problems


def _names_of(part: ModelLine | Loop) -> tuple[Name, ...]:
    if isinstance(part, ModelLine):
        return part.names
    return tuple(name for line in lines_of(part.body) for name in line.names)


def _define_loop(context: Context, loop: Loop) -> None:
    """Carry out a loop."""
    scope = context.scope
    steps = _steps(context, loop)
    names = {name.name: name for name in reversed(_names_of(loop))}
    carried = [at for name, at in names.items() if name in scope]
    new = [at for name, at in names.items() if name not in scope]
    _refuse_names(context, loop, names)
    lines = [part for part in loop.body if isinstance(part, ModelLine)]
    size = 1 + sum(1 for line in lines for _ in walk(line.right))
    if size * len(steps) > MOST_LOOPED - context.looped:
        raise loop.at.error(
            f"the loops of this claim come to {context.looped + size * len(steps):,} names, "
            f"numbers and signs by here, and {MOST_LOOPED:,} are allowed",
            "take fewer steps, or draw what does not depend on the last step as an array",
        )
    drawn = {name.name for line in lines if line.drawn for name in line.names}
    outer_carried, outer_missing = scope.carried, scope.missing
    kept: dict[str, list[Value | Later]] = {name.name: [] for name in new}
    for number in steps:
        before = {at: _standing(context, at) for at in carried}
        scope.carried = frozenset(name.name for name in carried)
        scope.missing = outer_missing | {name.name: _not_yet(name.name, drawn) for name in new}
        scope.define(loop.name, context.graph.number(float(number), loop.name.at))
        context.steps += (number,)
        context.looped += size
        problems = define_model(context, loop.body)
        context.steps = context.steps[:-1]
        if problems:
            scope.carried, scope.missing = outer_carried, outer_missing
            scope.forget([*kept, loop.name.name])
            raise DropcheckError(_at_step(problems, loop, number, steps))
        for name, value in before.items():
            _check_carried(name, value, _standing(context, name), loop, number, steps)
        for written, values in kept.items():
            meaning = scope.meaning(written)
            assert not isinstance(meaning, Call)  # only parameters are laws
            if meaning is not None:
                values.append(meaning)
        scope.forget([*kept, loop.name.name])
    scope.carried, scope.missing = outer_carried, dict(outer_missing)
    context.notes[:] = dict.fromkeys(context.notes)
    for name in new:
        values = kept[name.name]
        if values and len(values) == len(steps):
            scope.define(name, partial(_collected, context, name, values))
        else:
            scope.missing[name.name] = (
                f"{name.name!r} is made in a loop that takes no step",
                "let it take one at least, or give the name a value on a line above the loop",
            )


def _steps(context: Context, loop: Loop) -> range:
    """The numbers that the loop's variable takes."""
    numbers = [_whole(context, node) for node in loop.over]
    if len(numbers) == 3 and numbers[2] == 0:
        raise loop.over[2].at.error("the step of a range cannot be 0", "write range(start, stop)")
    return range(*numbers)


def _whole(context: Context, node: Node) -> int:
    value = context.lower_fixed(
        node,
        "how often a loop runs must be fixed, and this is random",
        "let it run as often as it may need to, and freeze the state: s = where(t < n, next, s)",
    )
    known = value.known if value.shape == () else None
    if not isinstance(known, float):
        hint = "write range(size(x)); x[t] is element t of an array"
        raise node.at.error("range takes whole numbers, and this is an array", hint)
    if known != known // 1:
        raise node.at.error(
            f"range takes whole numbers, and this is {known:.12g}", "floor(x) rounds down"
        )
    return int(max(-FARTHEST, min(known, FARTHEST)))


def _refuse_names(context: Context, loop: Loop, names: dict[str, Name]) -> None:
    """Refuse names that the loop's body cannot define."""
    if loop.name.name in names:
        at = names[loop.name.name].at
        raise at.error(
            f"{loop.name.name!r} counts the steps of the loop, and cannot be given a value in it",
            "choose another name",
        )
    for name in names.values():
        if context.scope.is_parameter(name.name):
            raise name.at.error(
                f"{name.name!r} is a parameter, and a loop cannot change it",
                f"choose another name, and let it start above the loop: y = {name.name}",
            )


def _not_yet(name: str, drawn: Collection[str]) -> tuple[str, str]:
    """The error, and the hint, for a name that is used in a body before it has a value."""
    draw = "draw it on a line above this one, or " if name in drawn else ""
    return (
        f"{name!r} has no value at the first step",
        f"{draw}give it a value above the loop, such as {name} = 0: it is then carried from "
        "step to step",
    )


def _standing(context: Context, name: Name) -> Value:
    """The current value of a name."""
    meaning = context.scope.look_up(name.name, name.at)
    assert not isinstance(meaning, Call)  # only parameters are laws
    return meaning


def _at_step(problems: list[Problem], loop: Loop, number: int, steps: range) -> Iterator[Problem]:
    """The problems; their messages name the step, unless it is the first one."""
    for problem in problems:
        where = f" (at {loop.name.name} = {number})" if number != steps[0] else ""
        yield dataclasses.replace(problem, message=f"{problem.message}{where}")


def _check_carried(
    name: Name, before: Value, after: Value, loop: Loop, number: int, steps: range
) -> None:
    """Refuse a carried name that changes its shape, but of a number in the first step."""
    stretched = before.shape == () and number == steps[0]
    if before.shape == after.shape or stretched:
        return
    raise name.at.error(
        f"{name.name!r} is {describe(before.shape)} before the step {loop.name.name} = {number} "
        f"and {describe(after.shape)} after it",
        "what a loop carries keeps its shape; the values of all steps are an array after the loop "
        "where the name is new in its body",
    )


def _collected(context: Context, name: Name, kept: list[Value | Later]) -> Value:
    """The array of a name's values at all steps."""
    values = tuple(one if isinstance(one, Value) else one() for one in kept)
    for value in values:
        if value.shape != values[0].shape:
            raise name.at.error(
                f"{name.name!r} is {describe(values[0].shape)} at one step and "
                f"{describe(value.shape)} at another",
                "give it one shape at all steps: after the loop it is the array of its values",
            )
    collected = context.graph.operation(ARRAY, values, (len(values), *values[0].shape), name.at)
    context.collected.add(id(collected))
    return collected


# ---- slot lowering -------------------------------------------------------------------------------
#
# Calls of slots: either the lines of the slot's own model, or a call of the code bound to it.
#
# In a column of code, the values that code gets are first rounded to its number format, and the
# statements are about the rounded values. Otherwise hardly any equation would hold in a format of
# eight binary digits.


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
    shape = values[0].shape if mode == GRAD else given.shape
    value = of_code(context, call, values, shape, Name(node.at, node.name))
    context.slots.models[id(call)] = like
    return value


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
    """The scope of a slot's model, for these values of its arguments."""
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
        problems = define_model(context, () if slot.model is None else parse_model(slot.model))
        if problems:
            raise DropcheckError(problems)
        if size is not None and slot.law is not None:
            law = parse_expression(slot.law)
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
        return context.lower(parse_expression(text))
    finally:
        context.scope = outer


# ---- the code ------------------------------------------------------------------------------------


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
