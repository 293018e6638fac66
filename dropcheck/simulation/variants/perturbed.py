"""The same draws once more, with each result a little off: how many digits are left.

A result is moved up or down, at random, by what one rounding may have moved it. How far that moves
what is averaged is how far rounding may have moved it (the CESTAC method: Vignes 1993, Mathematics
and Computers in Simulation 35, 233-261; Monte Carlo arithmetic: Parker 1997).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from dropcheck.errors import DropcheckError
from dropcheck.language.graph import Kind, Value, folded, in_order, number, thawed
from dropcheck.simulation.steps import LawDraw, Step, computed
from dropcheck.simulation.variants.beyond_float64 import (
    LEAST_NORMAL,
    SMALLEST,
    beyond_float64,
    too_small,
    unless_absorbed,
    unless_saturated,
    unless_too_large,
    unless_too_small,
)
from dropcheck.simulation.variants.reference_draws import OFTEN, Near, can_be_moved
from dropcheck.vocabulary import defined_where, jumps
from dropcheck.vocabulary.function import (
    Array,
    Function,
    KernelError,
)
from dropcheck.vocabulary.functions.elementwise import ADD, POWER, SUBTRACT
from dropcheck.vocabulary.jumps import LARGEST_BOUND, AtZero

# What a result is moved by: the distance to the next number, which is two roundings at most.
MOVED_SHARE = 2.0**-52
# What an infinite argument of a law may stand for, so that draws of it are finite.
FAR = 1e300
# How many times the change that is seen is allowed for: it is seen in few draws.
ALLOWED = 8.0
# Whole numbers up to here are exact where they come of whole numbers, or are counted.
EXACT_WHOLE = 2.0**51
# Where functions are defined whose results are numbers that they were given.
_COPIES = (defined_where.PICKED, defined_where.CHOSEN)
# Draws in which two sides move together, up or down at random, where one is a copy of the other.
SURE = 32
# Elements of a fixed array beyond which it is taken as it stands.
MOST_FIXED = 2**14
# Results near a jump that are looked at.
FEW = 8

Spurious = Mapping[int, Sequence[float]]
"""What rounding makes of comparisons and step functions, by their registers."""


class Perturbed:
    """Works out steps as they stand and, beside them, a little off.

    `moved` holds what is off, by register; other registers are as they stand, and so are truths,
    unless `unclear` says how large a rounding counts: then truths that it may decide are reversed,
    and those that are in `spurious`, whatever its size.
    """

    def __init__(
        self,
        generator: np.random.Generator,
        unclear: float | None = None,
        spurious: Spurious | None = None,
        reference: Callable[[Step], Array] | None = None,
        asked: Mapping[int, Near] | None = None,
        unclear_places: Collection[int] = (),
    ) -> None:
        self.generator = generator
        self.unclear = unclear
        self.moved: dict[int, Array] = {}
        self.near: dict[int, Near] = {}  # by register
        self._spurious = spurious or {}
        self._reference = reference  # makes draws in place of those of laws
        self.clear_share: dict[int, float] = {}  # of draws in which no part of a step is lost
        self._unclear_places = unclear_places  # comparisons that lose a part in most draws
        self._asked = asked  # whose results are looked for; None: of those near here
        # what is made of draws from continuous laws, or is no rational function of draws
        self.dense: set[int] = set()
        # in which draws registers are made of sums as 1 + 1e-20, and of results as tanh(40)
        self.lossy: dict[int, Array] = {}
        self._fixed: dict[int, Array] = {}

    def __call__(self, step: Step, inputs: list[Array]) -> Array:
        """The value of a step as it stands."""
        result = computed(step, inputs)
        each = zip(step.inputs, step.value.inputs, inputs, strict=True)
        given = [self._given(*one) for one in each]
        if not self.dense.isdisjoint(step.inputs) or _transcends_in(step.value):
            self.dense.add(step.target)
        lossy = [self.lossy[one] for one in step.inputs if one in self.lossy]
        if lossy:
            self.lossy[step.target] = np.asarray(sum(lossy)) != 0
        with suppress(DropcheckError):  # what it cannot take, it was not near
            work = partial(computed, step)
            other = self._beside(step.value.function, work, inputs, given, result, step.target)
            if other is not result:
                self.moved[step.target] = other
        for register in step.frees:
            self.moved.pop(register, None)
        return result

    def drawn(self, step: Step, inputs: list[Array], draw: LawDraw) -> Array:
        """Draws as they stand; beside them, those of arguments that are a little off."""
        if self._reference is not None and can_be_moved(step.value):
            result = other = self._reference(step)
        else:
            each = zip(step.inputs, step.value.inputs, inputs, strict=True)
            given = [self._given(*one) for one in each]
            off = any(one is not array for one, array in zip(given, inputs, strict=True))
            given = [one if one.dtype == np.bool_ else np.clip(one, -FAR, FAR) for one in given]
            result, other = draw.twice(inputs, given) if off else (draw(inputs),) * 2
            if off:
                other = np.where(np.abs(other) > FAR / 2, np.copysign(np.inf, other), other)
        if not (step.value.law is None or step.value.law.discrete):
            other = beyond_float64(result, self._off(other, counted=False), self.generator)
            self.dense.add(step.target)
        if other is not result:
            self.moved[step.target] = other
        for register in step.frees:
            self.moved.pop(register, None)
        return result

    def fixed(self, value: Value) -> Array:
        """What is fixed, a little off as what it is made of is."""
        small = in_order([value], lambda one: one.inputs if one.elements <= MOST_FIXED else ())
        for one in small:
            if id(one) in self._fixed:
                continue
            array = one.constant
            given = [self._fixed[id(below)] for below in one.inputs if id(below) in self._fixed]
            if one.kind == Kind.COMPUTED and len(given) == len(one.inputs):
                inputs = [below.constant for below in one.inputs]
                with suppress(KernelError):
                    array = self._beside(
                        one.function, partial(_worked_out, one), inputs, given, array
                    )
            elif array.dtype != np.bool_:
                array = self._off(array, counted=True)
            self._fixed[id(one)] = array
        return self._fixed[id(value)]

    def _given(self, register: int, below: Value, array: Array) -> Array:
        fixed = register not in self.moved and below.constant is not None
        if fixed and self._takes_off(below):
            self.moved[register] = self.fixed(below)
        return self.moved.get(register, array)

    def _takes_off(self, fixed: Value) -> bool:
        """Whether a fixed value is moved; of events, only what is worked out: 0.1 is a tenth."""
        given = self.unclear is not None and fixed.kind != Kind.COMPUTED
        return not given and fixed.constant is not None and fixed.constant.dtype != np.bool_

    def _beside(
        self,
        function: Function,
        work: Callable[[list[Array]], Array],
        inputs: list[Array],
        given: list[Array],
        result: Array,
        place: int | None = None,
    ) -> Array:
        """A result of inputs that are a little off, itself a little off."""
        other = result
        moved = any(one is not array for one, array in zip(given, inputs, strict=True))
        if result.dtype == np.bool_:
            if not moved or self.unclear is None or place is None:
                return result
            return self._reversed(function, work, inputs, given, result, place)
        if moved:
            lost = place in self.lossy and place not in self.dense
            other = work(given) if lost else _unless_tied(function, work, inputs, given, result)
            if function.jumps is jumps.whole and len(inputs) == 1 and place in self.dense:
                other = self._across(work, inputs, given, result, other, place)
        if function.rearranges or function.joins or function.defined in _COPIES:
            return other
        rational = not _transcends(function)
        whole = _counts(function) or (rational and all(map(_whole, inputs)))
        copied = rational and _is_copied(result, inputs)
        other = self._off(other, counted=whole, copied=copied)
        if function in (ADD, SUBTRACT) and place is not None:
            other = self._less(place, other, unless_absorbed(function, inputs, given, result))
        if len(inputs) == 1 and not rational and place is not None:
            other = self._less(place, other, unless_saturated(function, work, inputs[0], result))
        if not whole or place in self.lossy:  # where 0 is not whole on paper
            other = unless_too_small(function, inputs, given, result, other)
        other = unless_too_large(function, inputs, given, result, other)
        if place is not None:
            self._lose(place, too_small(result, other) | np.isinf(result) & np.isfinite(other))
        return other

    def _reversed(
        self,
        function: Function,
        work: Callable[[list[Array]], Array],
        inputs: list[Array],
        given: list[Array],
        result: Array,
        place: int,
    ) -> Array:
        """A truth, reversed where what is compared is no farther apart than rounding may move it.

        Multiples that tie are equal: of what is rational in discrete draws only large errors count.
        Sides that are equal in many draws, and move together in all of these, are copies there.
        """
        assert self.unclear is not None
        if function.jumps is not jumps.equal:
            return work(given) if all(one.dtype == np.bool_ for one in inputs) else result
        (a, b), (c, d) = map(number, inputs), map(number, given)
        left, right, apart = c - a, d - b, np.abs(a - b)
        error = _error(left, right)
        equal = (apart == 0) & (error > 0)
        parted = (equal & (left != right)).any(-1, keepdims=True)
        copies = equal & ~parted & (equal.sum(-1, keepdims=True) >= SURE)
        lost = (np.isinf(left) | np.isinf(right)) & ~((a - b) * (c - d) > 0)
        near = (error > 0) & (apart <= error) & ~copies | lost
        dense = place in self.dense
        if dense:
            vague = (error > 0) & (error >= np.maximum(np.abs(a), np.abs(b)))
            self._note(place, near, result, apart, vague)
        doubtful = lost | near & (error >= (self.unclear if dense else LARGEST_BOUND))
        if dense:  # of small numbers, that no digit is left; what is 0 on one side may be a tie
            sizes = np.abs(a), np.abs(b)
            own = ALLOWED * (np.abs(left) + np.abs(right))  # others may be far larger
            no_digit = own >= LARGEST_BOUND * np.maximum(*sizes)
            both = np.minimum(*sizes) > SMALLEST
            doubtful |= near & no_digit & both & (work(given) != result)
        gone = [too_small(one, other) for one, other in ((a, c), (b, d))]
        doubtful |= (gone[0] | gone[1]) & (work(given) != result)
        if inputs[0] is not inputs[1]:
            doubtful |= gone[0] & gone[1]
        if not dense or place in self._unclear_places:
            doubtful |= near & self.lossy.get(place, False) & (work(given) != result)
        for truth in self._spurious.get(place, ()):
            doubtful |= near & (result == truth)
        return np.where(doubtful, ~result, result)

    def _less(self, place: int, other: Array, beyond: Array | None) -> Array:
        """A result with what stands for it where digits are lost; it is kept in which draws."""
        if beyond is None:
            return other
        self._lose(place, np.isfinite(beyond))
        return np.where(np.isfinite(beyond), beyond, other)

    def _lose(self, place: int, where: Array) -> None:
        if where.any():
            each = where.reshape(-1, where.shape[-1]).any(axis=0)
            self.lossy[place] = np.asarray(self.lossy.get(place, False) | each)

    def _note(self, place: int, near: Array, result: Array, of: Array, vague: Array) -> None:
        """Keep how often a step is near a jump, and how often it is clearly of other results.

        Of reference draws, those count in which no part is lost, and rounding is smaller than what
        it moves.
        """
        clear = ~near & np.isfinite(of)  # what it is of may have no value there
        sound = ~(self.lossy.get(place, False) | vague.reshape(-1, vague.shape[-1]).any(axis=0))
        sound_share = self.clear_share[place] = float(sound.mean())
        share = 1.0
        if self._asked is not None:
            if sound_share <= OFTEN:
                return
            near, clear, share = near & sound, clear & sound, sound_share
            results = list(self._asked[place][1]) if place in self._asked else []
        else:
            results = np.unique(np.broadcast_to(result, near.shape)[near])[:FEW].tolist()
        if results:
            others = {one: float((clear & (result != one)).mean()) / share for one in results}
            self.near[place] = float(near.mean()) / share, others

    def _across(
        self,
        work: Callable[[list[Array]], Array],
        inputs: list[Array],
        given: list[Array],
        result: Array,
        other: Array,
        place: int,
    ) -> Array:
        """What a step function gives on the other side of a jump that rounding keeps it at."""
        (array,) = map(number, inputs)
        error = _error(number(given[0]) - array)
        low, high = work([array - error]), work([array + error])
        near, vague = low != high, error >= LARGEST_BOUND
        self._note(place, near, result, array, vague)
        self._lose(place, vague)  # no digit is left behind the point
        over = np.where(low != result, low, high)
        for one in self._spurious.get(place, ()):
            other = np.where(near & (result == one), over, other)
        if place in self._unclear_places:
            other = np.where(near & self.lossy.get(place, False), over, other)
        return other

    def _off(self, array: Array, counted: bool, copied: Array | bool = False) -> Array:
        """An array a little off, but for copies and counts: 1 + 1e-20 is whole by rounding."""
        exact = (array == np.rint(array)) & (np.abs(array) <= EXACT_WHOLE) & counted | copied
        if exact.all():
            return array
        signs = self.generator.integers(0, 2, array.shape) * (2.0 * MOVED_SHARE) - MOVED_SHARE
        other = array * (1.0 + signs)
        small = (np.abs(array) < LEAST_NORMAL) & (array != 0)
        if small.any():  # fewer digits are left of these
            other = np.where(small, array + LEAST_NORMAL * signs, other)
        return np.where(exact, array, other)


def _worked_out(fixed: Value, inputs: list[Array]) -> Array:
    options = {name: thawed(option) for name, option in fixed.options}
    return folded(fixed.function, inputs, options)


def _error(*changes: Array) -> Array:
    """How far rounding may move the arguments of a function, together, by how it moved them.

    Where it moves one draw by less than most, as it happens, it may do as much as in most.
    """
    error = ALLOWED * sum(map(np.abs, changes[1:]), np.abs(changes[0]))
    error = np.where(np.isfinite(error), error, 0.0)  # where numbers are too large: not here
    usual = np.median(error, axis=-1, keepdims=True)
    return np.where(error > 0, np.maximum(error, usual), 0.0)


def _transcends(function: Function) -> bool:
    """Whether a function is no rational one, nor a root."""
    rational = (function.polynomial, function.square, function.with_sizes, function.jumps)
    whole = function.rearranges or function.divides or function.truth
    return function.by_element and not whole and rational == (None,) * 4


def _transcends_in(value: Value) -> bool:
    """Whether what is computed is so: 2**n too, with a random power."""
    powered = value.function is POWER and value.inputs[1].random
    return powered or _transcends(value.function)


def _counts(function: Function) -> bool:
    """Whether whole numbers come out of it by a jump, as out of floor(x)."""
    return not (function.jumps is None or isinstance(function.jumps, AtZero))


def _whole(array: Array) -> bool:
    """Whether an array has whole numbers alone."""
    return array.dtype == np.bool_ or bool((array == np.rint(array)).all())


def _is_copied(result: Array, inputs: Sequence[Array]) -> Array | bool:
    """Whether each element is the one number that it is made of, or that with the other sign."""
    if len(inputs) != 1 or inputs[0].shape != result.shape:
        return False
    return np.asarray(np.abs(number(inputs[0])) == np.abs(result))


def _unless_tied(
    function: Function,
    work: Callable[[list[Array]], Array],
    inputs: list[Array],
    given: list[Array],
    result: Array,
) -> Array:
    """What a function makes of inputs that are a little off.

    What that keeps from a jump, or takes to it, is at the jump in both: ties are looked at by
    themselves.
    """
    jump = function.jumps
    if jump is None:
        return work(given)
    as_is, off = list(map(number, inputs)), list(map(number, given))
    errors = [2.0 * np.abs(other - one) for one, other in zip(as_is, off, strict=True)]
    paper, other = work(jump(as_is, errors)[0]), work(jump(off, errors)[0])
    plain = work(off)
    same = (other == paper) | (plain == result)
    off_jump = np.where(np.isfinite(result), result + (other - paper), other)
    found = np.where(same, result, off_jump)
    for one, beside in zip(as_is, off, strict=True):  # what is too small is not 0 on paper
        lost = (np.abs(one) <= SMALLEST) & (np.abs(beside) < LEAST_NORMAL) & (one != beside)
        if not function.by_element:  # a draw is looked at as a whole
            lost = lost.reshape(-1, lost.shape[-1]).any(axis=0)
        found = np.where(lost, plain, found)
    return found
