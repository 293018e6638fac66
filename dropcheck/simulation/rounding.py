"""How far rounding may move averages, values, events and sides: draws computed a second time.

The rule itself is in `analysis.rounding`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dropcheck.analysis.rounding import ALLOWED, LARGEST, Moved, fixed_again, worker
from dropcheck.array_types import Floats, Truths
from dropcheck.language.graph import Value, number
from dropcheck.simulation.integrands import Term, filled
from dropcheck.simulation.program import Program
from dropcheck.simulation.steps import LawDraw, Step, computed_by
from dropcheck.vocabulary.function import Array

Streams = Callable[[], np.random.Generator]
"""Makes the generator of the draws that are looked at, from its start."""

# Replaces infinity as a moved argument of a law, so that its draws are finite.
FAR = 1e300
# Work, in rough nanoseconds, that a search for rare ties takes, and the most draws of one.
SEARCH_WORK, MOST_SEARCHED = 2e7, 2**17
# How many times fixed values are moved.
TIMES = 64
# A rounding from this share of a number on is more than its digits: the distance of two numbers.
MOVED_SHARE = 2.0**-52


class Watch:
    """Computes steps as they are and, beside them, moved; `moved` has what differs, by register."""

    def __init__(self, seed: int, draws: int) -> None:
        self.moved: dict[int, Array] = {}
        self.rule = Moved(seed, draws, surely=seed % 2 == 0)
        self._fixed: dict[int, Array] = {}

    def __call__(self, step: Step, inputs: list[Array], draw: LawDraw | None) -> Array:
        """What a step makes, as it is."""
        if draw is not None:
            return self._drawn(step, inputs, draw)
        result = computed_by(step, inputs)
        moved = self._inputs(step, inputs)
        other = self.rule.result(step.value.function, worker(step.value), inputs, moved, result)
        return self._kept(step, result, other)

    def _drawn(self, step: Step, inputs: list[Array], draw: LawDraw) -> Array:
        """The draws as they are; beside them, those for moved arguments, moved."""
        moved = self._inputs(step, inputs)
        result = other = draw(inputs) if _same(inputs, moved) else None
        if result is None or other is None:
            held = [one if one.dtype == np.bool_ else np.clip(one, -FAR, FAR) for one in moved]
            result, other = draw.twice(inputs, held)
        far = np.abs(number(other)) > FAR / 2
        if step.value.law is None or step.value.law.discrete:
            other = self.rule.given(other)
        else:
            other = self.rule.drawn(other, step.target)
        if far.any():  # they may as well overflow
            infinite = far & np.isfinite(number(result))
            other = np.where(infinite, np.copysign(np.inf, number(other)), other)
        return self._kept(step, result, other)

    def _inputs(self, step: Step, inputs: list[Array]) -> list[Array]:
        moved = []
        for register, below, array in zip(step.inputs, step.value.inputs, inputs, strict=True):
            if register not in self.moved and below.constant is not None:
                self.moved[register] = fixed_again(below, self.rule, self._fixed)
            moved.append(self.moved.get(register, array))
        return moved

    def _kept(self, step: Step, result: Array, other: Array) -> Array:
        if other is not result:
            self.moved[step.target] = other
        for register in step.frees:
            self.moved.pop(register, None)
        return result


def _same(inputs: Sequence[Array], moved: Sequence[Array]) -> bool:
    return all(one is other for one, other in zip(inputs, moved, strict=True))


def _twice(
    program: Program, streams: Streams, draws: int, seed: int, *, search: bool = False
) -> tuple[list[Array | None], dict[int, Array]]:
    """The registers as computed, and those that are moved; of many draws, to `search` rare ties."""
    steps = tuple(replace(one, crossed=False) if one.crossed else one for one in program.steps)
    program, watch = replace(program, steps=steps, paired=False, net=1), Watch(seed, draws)
    with np.errstate(all="ignore"):
        arrays = program.registers(streams(), draws, watch)
    more = min(int(SEARCH_WORK / program.cost), MOST_SEARCHED)
    if search and watch.rule.again and more > draws:
        return _twice(program, streams, more, seed)
    return arrays, watch.moved


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
    """How far rounding may move the average of each integrand, estimated from draws: [terms]."""
    arrays, moved = _twice(program, streams, min(draws, program.span_draws), 1, search=True)
    with np.errstate(all="ignore"):
        return ALLOWED * np.array([_moved_by(one, arrays, moved, centres) for one in program.terms])


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
    program: Program, streams: Streams, draws: int, seeds: Sequence[int], *, search: bool = False
) -> tuple[Truths, Truths, Truths]:
    """Where the counted event holds, where rounding may decide it or its condition, and the latter.

    All are [elements, draws]; the event holds only where the condition does.
    """
    term = program.terms[0]
    ((register, _),) = term.factors
    holds = unclear = held = np.zeros(1, dtype=np.bool_)
    for seed in seeds:
        arrays, moved = _twice(program, streams, draws, seed, search=search)
        event, given = number(filled(arrays[register])), np.ones(1)
        turned = number(moved.get(register, event)) != event
        if term.given is not None:
            given = number(filled(arrays[term.given]))
            other = number(moved.get(term.given, given))
            turned = (turned & ((given != 0) | (other != 0))) | (other != given)
        holds, held = (event != 0) & (given != 0), given != 0
        alike = unclear.shape[-1] in (1, turned.shape[-1])  # else this one searched
        unclear = unclear | turned if alike else turned
    shape = np.broadcast_shapes(holds.shape, unclear.shape, held.shape)
    each = (np.broadcast_to(one, shape).reshape(-1, shape[-1]) for one in (holds, unclear, held))
    return tuple(each)  # type: ignore[return-value]  # a tuple of three


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
