"""Loops of a model: the lines of the body are lowered once for each step.

The result is a graph like that of lines written one below the other, so everything that works for a
model works for a loop. A name that is defined before the loop is carried from step to step. After
the loop, a name that is new in the body is the array of its values.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from functools import partial

from dropcheck.errors import DropcheckError, Problem
from dropcheck.language.graph import Value
from dropcheck.language.lowering.builder import Skipped
from dropcheck.language.lowering.context import Context, Later
from dropcheck.language.lowering.lower import define_line
from dropcheck.language.syntax import Call, Loop, Model, ModelLine, Name, Node, lines_of, walk
from dropcheck.vocabulary.functions.arrays import ARRAY
from dropcheck.vocabulary.shapes import describe

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
    """Carry out a loop.

    Raises:
        DropcheckError: the problems of the first step that has any.
        Skipped: the number of steps, or a carried name, depends on an error.
    """
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
    """The numbers that the loop's variable takes.

    Raises:
        DropcheckError: they are not fixed whole numbers.
    """
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
    """Refuse names that the loop's body cannot define.

    Raises:
        DropcheckError: at that name.
    """
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
    """The current value of a name.

    Raises:
        Skipped: it has none because of an error.
    """
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
    """Refuse a carried name that changes its shape; the first step may turn a number into an array.

    Raises:
        DropcheckError: at the line that changes it.
    """
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
    """The array of a name's values at all steps.

    Raises:
        DropcheckError: their shapes differ.
    """
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
