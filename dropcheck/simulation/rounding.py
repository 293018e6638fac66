"""How far rounding may move averages, values, events and sides: draws computed a second time.

The rule itself is in `analysis.rounding`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dropcheck.analysis.rounding import ALLOWED, LARGEST, Moved, computed_again, fixed_again
from dropcheck.array_types import Floats, Truths
from dropcheck.language.graph import Value, number
from dropcheck.simulation.integrands import Term, filled
from dropcheck.simulation.program import Program
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
