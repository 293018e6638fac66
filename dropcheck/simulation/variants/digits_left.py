"""How many digits rounding leaves of averages, values, events and sides, from perturbed draws."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from dropcheck.array_types import Floats
from dropcheck.errors import DropcheckError
from dropcheck.language.graph import Value, kernel_of, number
from dropcheck.simulation.integrands import Term, filled
from dropcheck.simulation.program import Program
from dropcheck.simulation.variants import step_by_step
from dropcheck.simulation.variants.beyond_float64 import LARGEST
from dropcheck.simulation.variants.perturbed import ALLOWED, MOVED_SHARE, Perturbed, Spurious
from dropcheck.simulation.variants.reference_draws import OFTEN, draws_of, not_believed, places_of
from dropcheck.vocabulary.function import Array
from dropcheck.vocabulary.jumps import LARGEST_BOUND

# How many times fixed values are perturbed; random ones are perturbed once in each draw.
TIMES = 4


def rounding_of_fixed(values: Sequence[Value], generator: np.random.Generator) -> Floats:
    """How far rounding may move each of some values, such as sides of a claim; 0 if not fixed."""
    errors = np.zeros(len(values))
    with np.errstate(all="ignore"):
        for _ in range(TIMES):
            watch = Perturbed(generator)
            for place, value in enumerate(values):
                if value.constant is not None:
                    change = np.abs(number(watch.fixed(value)) - number(value.constant))
                    errors[place] = max(errors[place], change[np.isfinite(change)].max(initial=0.0))
    return ALLOWED * errors


def _step_by_step(program: Program) -> Program:
    steps = tuple(
        replace(step, kernel=kernel_of(step.value), crossed=False) if step.crossed else step
        for step in program.steps
    )
    return replace(step_by_step(program), steps=steps, net=1, roundings=None)


def _watched(
    program: Program,
    generator: np.random.Generator,
    signs: np.random.Generator,
    draws: int,
    unclear: float = LARGEST_BOUND,
) -> tuple[list[Array | None], Perturbed]:
    """The registers as computed, and the perturbed ones, in which spurious truths are reversed."""
    program, state = _step_by_step(program), generator.bit_generator.state
    watch = Perturbed(signs, unclear)
    with np.errstate(all="ignore"):
        arrays = program.registers(generator, draws, watch, drawn=watch.drawn)
        if not watch.near:
            return arrays, watch
        spurious, unclear_places = _by_reference(program, signs, draws, watch)
        if spurious or unclear_places:
            generator.bit_generator.state = state
            watch = Perturbed(signs, unclear, spurious, unclear_places=unclear_places)
            arrays = program.registers(generator, draws, watch, drawn=watch.drawn)
    return arrays, watch


def _by_reference(
    program: Program, signs: np.random.Generator, draws: int, here: Perturbed
) -> tuple[Spurious, set[int]]:
    """The spurious results of comparisons and steps that are near a jump, by reference draws.

    Also the comparisons on which no reference draw is informative, since most lose a part.
    """
    spurious: dict[int, list[float]] = {}
    clear_share = dict(here.clear_share)
    for where in places_of(program):
        made = partial(draws_of, generator=signs, draws=draws, where=where)
        other = Perturbed(signs, LARGEST_BOUND, reference=made, asked=here.near)
        with suppress(DropcheckError):  # random arguments may take no such values
            program.registers(signs, draws, other, drawn=other.drawn)
        for register, found in other.near.items():
            spurious.setdefault(register, []).extend(not_believed(here.near[register], found))
        for register, share in other.clear_share.items():
            clear_share[register] = max(share, clear_share.get(register, 0.0))
    believed = {register: truths for register, truths in spurious.items() if truths}
    return believed, {register for register, share in clear_share.items() if share <= OFTEN}


def unclear_in(
    program: Program,
    generator: np.random.Generator,
    signs: np.random.Generator,
    draws: int,
    least: float = 0.0,
) -> tuple[Array, Array]:
    """Where the counted event fails, and where a rounding of `least` may decide it.

    Both are [elements, draws]; neither holds where the condition is not true.
    """
    arrays, watch = _watched(program, generator, signs, draws, least)
    term = program.terms[0]
    ((register, _),) = term.factors
    event = filled(arrays[register]) != 0
    other = watch.moved.get(register, event) != 0
    given = np.ones(1, dtype=np.bool_) if term.given is None else filled(arrays[term.given]) != 0
    shape = np.broadcast_shapes(event.shape, given.shape)
    return tuple(
        np.broadcast_to(one & given, shape).reshape(-1, shape[-1])
        for one in (~event, event != other)
    )  # type: ignore[return-value]  # a tuple of two


def rounding_in(
    program: Program, generator: np.random.Generator, centres: Floats, draws: int
) -> Floats:
    """How far rounding may move the average of each integrand, estimated from draws: [terms]."""
    arrays, watch = _watched(program, generator, generator, min(draws, program.span_draws))
    with np.errstate(all="ignore"):
        changes = [_moved_by(term, arrays, watch.moved, centres) for term in program.terms]
    return ALLOWED * np.array(changes)


def rounding_of_values(
    program: Program, generator: np.random.Generator, draws: int
) -> dict[int, tuple[Array, Array]]:
    """The values in integrands, by register, and how far rounding may move them: [..., draws] each.

    For rational functions of discrete draws, only large errors count: ties of multiples are exact.
    Values that are equal because a part is lost, as those of 1e17 + x, may be anywhere: infinite.
    """
    arrays, watch = _watched(program, generator, generator, min(draws, program.span_draws))
    by_register: dict[int, tuple[Array, Array]] = {}
    for register in program.targets:
        array = number(filled(arrays[register]))
        with np.errstate(all="ignore"):
            error = ALLOWED * np.abs(number(watch.moved.get(register, array)) - array)
        least = 0.0 if register in watch.dense else LARGEST_BOUND * np.abs(array).max()
        by_register[register] = array, np.where(error > least, error, 0.0)
        if register in watch.dense and register in watch.lossy:
            _, place, count = np.unique(array, return_inverse=True, return_counts=True)
            tied = (count > 1)[place].reshape(array.shape) & watch.lossy[register]
            by_register[register] = array, np.where(tied, np.inf, error)
    return by_register


def magnitude_of(program: Program, generator: np.random.Generator, draws: int) -> float:
    """The magnitude of numbers that have the same rounding errors as the values in integrands.

    A sum that is a thousandth of its parts has three digits fewer, like a number that is a thousand
    times as large.
    """
    seen = rounding_of_values(program, generator, draws).values()
    sizes = [
        (np.abs(array), np.where(np.isinf(off), 0.0, off) / (ALLOWED * MOVED_SHARE))
        for array, off in seen
    ]
    return max(float(np.median(one)) for pair in sizes for one in pair)


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
        change = change * given
        reversed_there = given != (number(moved.get(term.given, given)) != 0)
        change = np.where(reversed_there, np.abs(as_is), change)
    return float(change[np.isfinite(change)].sum() / max(change.size, 1))
