"""Draws looked at once more: how far rounding may move them, and what code gave in a wrong one.

The rule of rounding itself is in `analysis.rounding`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from dropcheck.analysis.rounding import ALLOWED, LARGEST, Moved, computed_again, fixed_again
from dropcheck.array_types import Floats, Truths
from dropcheck.language.graph import Value, number
from dropcheck.simulation.program import Program, Term, filled
from dropcheck.vocabulary.function import Array

Streams = Callable[[], np.random.Generator]
"""Makes the generator of the draws that are looked at, from its start."""

# How many times fixed values are moved.
TIMES = 64
# A rounding from this share of a number on is more than its digits: the distance of two numbers.
MOVED_SHARE = 2.0**-52


def _twice(
    program: Program, streams: Streams, draws: int, seed: int
) -> tuple[list[Array | None], dict[int, Array]]:
    """The registers as computed, and those that are moved."""
    steps = tuple(replace(one, crossed=False) if one.crossed else one for one in program.steps)
    program, known = replace(program, steps=steps, paired=False), dict[int, int]()
    for step in steps:
        known |= {id(one): at for one, at in zip(step.value.inputs, step.inputs, strict=True)}
        known[id(step.value)] = step.target
    values = [step.value for step in steps]
    with np.errstate(all="ignore"):
        arrays = program.registers(streams(), draws, keep=True)
        held = {key: filled(arrays[register]) for key, register in known.items()}
        moved = computed_again(values, lambda one: held[id(one)], seed, draws)
    return arrays, {step.target: moved[id(step.value)] for step in steps}


def rounding_of_fixed(values: Sequence[Value]) -> Floats:
    """How far rounding may move each of some values, such as sides of a claim; 0 if not fixed."""
    errors, again, known = np.zeros(len(values)), Moved(1, TIMES, surely=False), dict[int, Array]()
    with np.errstate(all="ignore"):
        for place, value in enumerate(values):
            if value.constant is not None:
                moved = number(fixed_again(value, again, known))
                change = np.abs(moved - number(value.constant))
                errors[place] = change[np.isfinite(change)].max(initial=0.0)
    return ALLOWED * errors


def rounding_in(program: Program, streams: Streams, centres: Floats, draws: int) -> Floats:
    """How far rounding may move the average of each integrand, estimated from draws: [terms].

    Where truths are averaged, all that may turn are turned in another computation.
    """
    arrays, moved = _twice(program, streams, draws, 1)
    turns = [moved]
    read = {register for term in program.terms for register, _ in term.factors}
    if any(filled(arrays[register]).dtype == np.bool_ for register in read):
        turns.append(_twice(program, streams, draws, 0)[1])
    with np.errstate(all="ignore"):
        found = [[_moved_by(term, arrays, own, centres) for own in turns] for term in program.terms]
    largest: Floats = np.array(found).max(axis=1, initial=0.0)
    return ALLOWED * largest


def _moved_by(
    term: Term, arrays: list[Array | None], moved: dict[int, Array], centres: Floats
) -> float:
    """How far rounding moves one integrand, on average over draws and elements."""
    if not any(register in moved for register in (term.given, *(one for one, _ in term.factors))):
        return 0.0
    as_is = other = np.ones(1)
    for register, power in term.factors:
        array, centre = filled(arrays[register]), centres[register]
        as_is = as_is * (number(array) - centre) ** power
        other = other * (number(moved.get(register, array)) - centre) ** power
    change = np.abs(other - as_is)
    change[np.isfinite(as_is) & np.isinf(other)] = LARGEST  # for example log(x) where x may be 0
    if term.given is not None:
        given = number(filled(arrays[term.given])) != 0
        turned = given != (number(moved.get(term.given, given)) != 0)
        change = np.where(turned, np.abs(as_is), change * given)
    return float(change[np.isfinite(change)].sum() / max(change.size, 1))


def events_in(
    program: Program, streams: Streams, draws: int, seeds: Sequence[int]
) -> tuple[Truths, Truths]:
    """Where the counted event holds, and where rounding may decide it: both [elements, draws]."""
    ((register, _),) = program.terms[0].factors
    holds = unclear = np.zeros(1, dtype=np.bool_)
    for seed in seeds:
        arrays, moved = _twice(program, streams, draws, seed)
        event = number(filled(arrays[register]))
        holds, unclear = event != 0, unclear | (number(moved.get(register, event)) != event)
    shape = np.broadcast_shapes(holds.shape, unclear.shape)
    wrong, open_ones = (np.broadcast_to(one, shape) for one in (holds, unclear))
    return wrong.reshape(-1, shape[-1]), open_ones.reshape(-1, shape[-1])


def rounding_of_values(
    program: Program, streams: Streams, draws: int
) -> dict[int, tuple[Array, Array]]:
    """The values in integrands, by register, and how far rounding may move them: [..., draws]."""
    arrays, moved = _twice(program, streams, min(draws, program.span_draws), 0)
    found: dict[int, tuple[Array, Array]] = {}
    for register in program.targets:
        array = number(filled(arrays[register]))
        with np.errstate(all="ignore"):
            found[register] = (
                array,
                ALLOWED * np.abs(number(moved.get(register, array)) - array),
            )
    return found


def magnitude_of(program: Program, streams: Streams, draws: int) -> float:
    """The magnitude of numbers that have the same rounding errors as the values in integrands.

    A sum that is a thousandth of its parts has three digits fewer, like a number that is a thousand
    times as large.
    """
    seen = rounding_of_values(program, streams, draws).values()
    sizes = [
        (np.abs(array), np.where(np.isfinite(off), off, 0.0) / (ALLOWED * MOVED_SHARE))
        for array, off in seen
    ]
    return max(float(np.median(one)) for pair in sizes for one in pair)


# ---- an example of what is wrong -----------------------------------------------------------------


# How many elements of an array are shown if its shape is not the event's.
FEW = 4


def example(program: Program, generator: np.random.Generator) -> str:
    """The inputs and results of code in the first wrong draw of a span, as text.

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
