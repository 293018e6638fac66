"""Shows a draw in which code under test is wrong: a counterexample, or a value that is NaN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dropcheck.array_types import Truths
from dropcheck.language.graph import number
from dropcheck.simulation.integrands import filled
from dropcheck.simulation.program import Program
from dropcheck.vocabulary.function import Array

# How many elements of an array are shown if its shape is not the event's.
FEW = 4


def example(program: Program, generator: np.random.Generator) -> str:
    """The inputs and results of code in the first wrong draw of a span, as text.

    Args:
        program: the program that drew it.
        generator: the stream of the span.

    Returns:
        Values with their names, `x[3] = 1.25, y[3] = 1.375`. For arrays of the event's shape, it is
        the wrong element; for others, the first few elements. Values that are the same in every
        draw are left out. Empty if no draw is wrong.
    """
    with np.errstate(all="ignore"):
        arrays = program.registers(generator, program.span_draws, keep=True)
    for register, wrong in _wrong(program, arrays):
        draws = np.flatnonzero(wrong.reshape(-1, wrong.shape[-1]).any(axis=0))
        if len(draws):
            own = (
                wrong[..., draws[0]]
                if wrong.ndim > 1
                else _inside(program, arrays, register, draws[0])
            )
            place = np.unravel_index(int(np.argmax(own)), own.shape)
            return ", ".join(_values(program, arrays, int(draws[0]), tuple(map(int, place))))
    return ""


def _inside(program: Program, arrays: Sequence[Array | None], register: int, draw: int) -> Truths:
    """The elements of a truth that decided the truth of all, or of any, of them."""
    made = {step.target: step for step in program.steps}
    while register in made and len(made[register].inputs) == 1:
        decided = filled(arrays[register])[..., draw]
        (register,) = made[register].inputs
        truths = filled(arrays[register])
        if truths.ndim > 1 and truths.dtype == np.bool_ and truths.shape[-1] > 1:
            alike: Truths = truths[..., draw] == decided
            return alike
    return np.ones((), dtype=bool)


def _wrong(program: Program, arrays: Sequence[Array | None]) -> Iterator[tuple[int, Truths]]:
    """Where values are wrong, [*shape, draws]: undefined ones, or else counterexamples."""
    for register in program.targets:
        yield register, ~np.isfinite(number(filled(arrays[register])))
    for register, _ in program.terms[0].factors:
        yield register, number(filled(arrays[register])) != 0


def _values(
    program: Program, arrays: Sequence[Array | None], draw: int, place: tuple[int, ...]
) -> Iterator[str]:
    """The inputs and results of each call on which something depends that is read."""
    needed = {*program.targets, *(term.given for term in program.terms)}
    for step in reversed(program.steps):
        needed |= set(step.inputs) if step.target in needed else set()
    shown: set[str] = set()
    for step in program.steps:
        call = step.value.call
        if call is None or step.target not in needed:
            continue
        names = [*call.slot.takes, step.value.name or f"{step.value.operation}(…)"]
        for name, register in zip(names, (*step.inputs, step.target), strict=True):
            array = number(filled(arrays[register]))
            if name not in shown and array.shape[-1] > 1:
                shown.add(name)
                yield from _shown(name, array[..., draw], place)


def _shown(name: str, values: Array, place: tuple[int, ...]) -> Iterator[str]:
    """One value, or the wrong element of an array."""
    if values.ndim == len(place) and all(
        at < length for at, length in zip(place, values.shape, strict=True)
    ):
        index = f"[{', '.join(map(str, place))}]" if place else ""
        yield f"{name}{index} = {values[place]:.6g}"
    else:
        first = [f"{one:.6g}" for one in values.ravel()[:FEW]]
        more = [f"… {values.size} in all"] if values.size > FEW else []
        yield f"{name} = [{', '.join([*first, *more])}]"
