"""Computes the same draws again with perturbed results, to see how many digits rounding leaves.

Each result is moved up or down, at random, by as much as one rounding may have moved it. The change
of the averages then shows how far rounding may have moved them (the CESTAC method: Vignes 1993,
Mathematics and Computers in Simulation 35, 233-261; Monte Carlo arithmetic: Parker 1997).
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
    any_remainder,
    beyond_float64,
    too_small,
    unless_absorbed,
    unless_saturated,
    unless_too_large,
    unless_too_small,
)
from dropcheck.simulation.variants.reference_draws import OFTEN, Near, can_be_moved
from dropcheck.vocabulary import defined_where, jumps
from dropcheck.vocabulary.function import Array, Function, KernelError
from dropcheck.vocabulary.functions.elementwise import ADD, MODULO, POWER, SUBTRACT
from dropcheck.vocabulary.jumps import LARGEST_BOUND, AtZero

# The share by which a result is moved: the distance to the next number, at most two roundings.
MOVED_SHARE = 2.0**-52
# Replaces infinity as a perturbed argument of a law, so that its draws are finite.
FAR = 1e300
# How many times the observed change is allowed, since few draws are observed.
ALLOWED = 8.0
# Whole numbers up to this are exact if they are computed from whole numbers, or are counts.
EXACT_WHOLE = 2.0**51
# The domains of functions that return one of their arguments.
_COPIES = (defined_where.PICKED, defined_where.CHOSEN)
# Two sides are taken for copies if they change by the same amount in this many draws.
SURE = 32
# Larger fixed arrays are not perturbed.
MOST_FIXED = 2**14
# How many different results near a jump are recorded.
FEW = 8

Spurious = Mapping[int, Sequence[float]]
"""The results that rounding may cause, of comparisons and step functions, by register."""


class Perturbed:
    """Computes steps as they are and, in parallel, with perturbed values.

    `moved` holds the perturbed values by register; registers without one are unchanged. Truths are
    unchanged, unless `unclear` is given: the size from which on a rounding counts. Then truths that
    rounding may decide are reversed, and so are those in `spurious`, for any size of rounding.
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
        self._reference = reference  # makes reference draws, in place of draws from laws
        self.clear_share: dict[int, float] = {}  # the share of draws in which a step loses no part
        self._unclear_places = unclear_places  # comparisons that lose a part in most draws
        self._asked = asked  # the steps whose results are recorded; None: those near a jump here
        # registers that depend on continuous laws, or are not rational functions of draws
        self.dense: set[int] = set()
        # the draws in which a register depends on a sum such as 1 + 1e-20, or on tanh(40)
        self.lossy: dict[int, Array] = {}
        self._fixed: dict[int, Array] = {}

    def __call__(self, step: Step, inputs: list[Array]) -> Array:
        """The value of a step, without perturbation."""
        result = computed(step, inputs)
        each = zip(step.inputs, step.value.inputs, inputs, strict=True)
        perturbed = [self._perturbed_input(*one) for one in each]
        if not self.dense.isdisjoint(step.inputs) or _transcends_in(step.value):
            self.dense.add(step.target)
        lossy = [self.lossy[one] for one in step.inputs if one in self.lossy]
        if lossy:
            self.lossy[step.target] = np.asarray(sum(lossy)) != 0
        with suppress(DropcheckError):  # a perturbed value may be outside the domain
            work = partial(computed, step)
            other = self._perturbed_result(
                step.value.function, work, inputs, perturbed, result, step.target
            )
            if other is not result:
                self.moved[step.target] = other
        for register in step.frees:
            self.moved.pop(register, None)
        return result

    def drawn(self, step: Step, inputs: list[Array], draw: LawDraw) -> Array:
        """The draws without perturbation; in parallel, those for perturbed arguments."""
        if self._reference is not None and can_be_moved(step.value):
            result = other = self._reference(step)
        else:
            each = zip(step.inputs, step.value.inputs, inputs, strict=True)
            perturbed = [self._perturbed_input(*one) for one in each]
            differ = any(one is not array for one, array in zip(perturbed, inputs, strict=True))
            perturbed = [
                one if one.dtype == np.bool_ else np.clip(one, -FAR, FAR) for one in perturbed
            ]
            result, other = draw.twice(inputs, perturbed) if differ else (draw(inputs),) * 2
            if differ:
                other = np.where(np.abs(other) > FAR / 2, np.copysign(np.inf, other), other)
        if not (step.value.law is None or step.value.law.discrete):
            other = beyond_float64(result, self._perturbed(other, counted=False), self.generator)
            self.dense.add(step.target)
        if other is not result:
            self.moved[step.target] = other
        for register in step.frees:
            self.moved.pop(register, None)
        return result

    def fixed(self, value: Value) -> Array:
        """The perturbed array of a fixed value, from perturbed inputs."""
        small = in_order([value], lambda one: one.inputs if one.elements <= MOST_FIXED else ())
        for one in small:
            if id(one) in self._fixed:
                continue
            array = one.constant
            perturbed = [self._fixed[id(below)] for below in one.inputs if id(below) in self._fixed]
            if one.kind == Kind.COMPUTED and len(perturbed) == len(one.inputs):
                inputs = [below.constant for below in one.inputs]
                with suppress(KernelError):
                    array = self._perturbed_result(
                        one.function, partial(_worked_out, one), inputs, perturbed, array
                    )
            elif array.dtype != np.bool_:
                array = self._perturbed(array, counted=True)
            self._fixed[id(one)] = array
        return self._fixed[id(value)]

    def _perturbed_input(self, register: int, below: Value, array: Array) -> Array:
        fixed = register not in self.moved and below.constant is not None
        if fixed and self._is_perturbed(below):
            self.moved[register] = self.fixed(below)
        return self.moved.get(register, array)

    def _is_perturbed(self, fixed: Value) -> bool:
        """Whether a fixed value is perturbed; for events, only computed ones are: 0.1 is exact."""
        given = self.unclear is not None and fixed.kind != Kind.COMPUTED
        return not given and fixed.constant is not None and fixed.constant.dtype != np.bool_

    def _perturbed_result(
        self,
        function: Function,
        work: Callable[[list[Array]], Array],
        inputs: list[Array],
        perturbed: list[Array],
        result: Array,
        register: int | None = None,
    ) -> Array:
        """The perturbed result of perturbed inputs."""
        other = result
        moved = any(one is not array for one, array in zip(perturbed, inputs, strict=True))
        if result.dtype == np.bool_:
            if not moved or self.unclear is None or register is None:
                return result
            return self._reversed(function, work, inputs, perturbed, result, register)
        if moved:
            lost = register in self.lossy and register not in self.dense
            other = (
                work(perturbed) if lost else _unless_tied(function, work, inputs, perturbed, result)
            )
            if function is MODULO:
                other = any_remainder(inputs, perturbed, other, self.generator)
            if function.jumps is jumps.whole and len(inputs) == 1 and register in self.dense:
                other = self._across(work, inputs, perturbed, result, other, register)
        if function.rearranges or function.joins or function.defined in _COPIES:
            return other
        rational = not _transcends(function)
        whole = _counts(function) or (rational and all(map(_whole, inputs)))
        copied = rational and _is_copied(result, inputs)
        other = self._perturbed(other, counted=whole, copied=copied)
        if function in (ADD, SUBTRACT) and register is not None:
            other = self._substituted(
                register, other, unless_absorbed(function, inputs, perturbed, result)
            )
        if len(inputs) == 1 and not rational and register is not None:
            other = self._substituted(
                register, other, unless_saturated(function, work, inputs[0], result)
            )
        if not whole or register in self.lossy:  # then 0 may not be exact
            other = unless_too_small(function, inputs, perturbed, result, other)
        other = unless_too_large(function, inputs, perturbed, result, other)
        if register is not None:
            self._mark_lossy(
                register, too_small(result, other) | np.isinf(result) & np.isfinite(other)
            )
        return other

    def _reversed(
        self,
        function: Function,
        work: Callable[[list[Array]], Array],
        inputs: list[Array],
        perturbed: list[Array],
        result: Array,
        register: int,
    ) -> Array:
        """A truth, reversed where rounding may move the compared values past each other.

        For rational functions of discrete draws, only large errors count: ties of multiples are
        exact. Sides that are equal in many draws, and change by the same amount in all of these,
        are copies of each other.
        """
        assert self.unclear is not None
        if function.jumps is not jumps.equal:
            return work(perturbed) if all(one.dtype == np.bool_ for one in inputs) else result
        (a, b), (c, d) = map(number, inputs), map(number, perturbed)
        left, right, apart = c - a, d - b, np.abs(a - b)
        error = _error(left, right)
        equal = (apart == 0) & (error > 0)
        parted = (equal & (left != right)).any(-1, keepdims=True)
        copies = equal & ~parted & (equal.sum(-1, keepdims=True) >= SURE)
        lost = (np.isinf(left) | np.isinf(right)) & ~((a - b) * (c - d) > 0)
        near = (error > 0) & (apart <= error) & ~copies | lost
        dense = register in self.dense
        if dense:
            vague = (error > 0) & (error >= np.maximum(np.abs(a), np.abs(b)))
            self._note(register, near, result, apart, vague)
        doubtful = lost | near & (error >= (self.unclear if dense else LARGEST_BOUND))
        if dense:  # small numbers without any digit left; a 0 on one side may be a tie
            sizes = np.abs(a), np.abs(b)
            own = ALLOWED * (np.abs(left) + np.abs(right))  # not `error`: other draws may be larger
            no_digit = own >= LARGEST_BOUND * np.maximum(*sizes)
            both = np.minimum(*sizes) > SMALLEST
            doubtful |= near & no_digit & both & (work(perturbed) != result)
        gone = [too_small(one, other) for one, other in ((a, c), (b, d))]
        doubtful |= (gone[0] | gone[1]) & (work(perturbed) != result)
        if inputs[0] is not inputs[1]:
            doubtful |= gone[0] & gone[1]
        if not dense or register in self._unclear_places:
            doubtful |= near & self.lossy.get(register, False) & (work(perturbed) != result)
        for truth in self._spurious.get(register, ()):
            doubtful |= near & (result == truth)
        return np.where(doubtful, ~result, result)

    def _substituted(self, register: int, other: Array, beyond: Array | None) -> Array:
        """The perturbed result with substitutes where digits are lost; records these draws."""
        if beyond is None:
            return other
        self._mark_lossy(register, np.isfinite(beyond))
        return np.where(np.isfinite(beyond), beyond, other)

    def _mark_lossy(self, register: int, where: Array) -> None:
        if where.any():
            each = where.reshape(-1, where.shape[-1]).any(axis=0)
            self.lossy[register] = np.asarray(self.lossy.get(register, False) | each)

    def _note(self, register: int, near: Array, result: Array, of: Array, vague: Array) -> None:
        """Record how often a step is near a jump, and how often it clearly has other results.

        Of reference draws, only those count in which no part is lost and rounding is smaller than
        the value itself.
        """
        clear = ~near & np.isfinite(of)
        sound = ~(self.lossy.get(register, False) | vague.reshape(-1, vague.shape[-1]).any(axis=0))
        sound_share = self.clear_share[register] = float(sound.mean())
        share = 1.0
        if self._asked is not None:
            if sound_share <= OFTEN:
                return
            near, clear, share = near & sound, clear & sound, sound_share
            results = list(self._asked[register][1]) if register in self._asked else []
        else:
            results = np.unique(np.broadcast_to(result, near.shape)[near])[:FEW].tolist()
        if results:
            others = {one: float((clear & (result != one)).mean()) / share for one in results}
            self.near[register] = float(near.mean()) / share, others

    def _across(
        self,
        work: Callable[[list[Array]], Array],
        inputs: list[Array],
        perturbed: list[Array],
        result: Array,
        other: Array,
        register: int,
    ) -> Array:
        """The perturbed result of a step function; across a jump, if rounding may cause it."""
        (array,) = map(number, inputs)
        error = _error(number(perturbed[0]) - array)
        low, high = work([array - error]), work([array + error])
        near, vague = low != high, error >= LARGEST_BOUND
        self._note(register, near, result, array, vague)
        self._mark_lossy(register, vague)  # no digits are left after the decimal point
        over = np.where(low != result, low, high)
        for one in self._spurious.get(register, ()):
            other = np.where(near & (result == one), over, other)
        if register in self._unclear_places:
            other = np.where(near & self.lossy.get(register, False), over, other)
        return other

    def _perturbed(self, array: Array, counted: bool, copied: Array | bool = False) -> Array:
        """A perturbed array; copies and counts are exact, but 1 + 1e-20 is whole by rounding."""
        exact = (array == np.rint(array)) & (np.abs(array) <= EXACT_WHOLE) & counted | copied
        if exact.all():
            return array
        signs = self.generator.integers(0, 2, array.shape) * (2.0 * MOVED_SHARE) - MOVED_SHARE
        other = array * (1.0 + signs)
        small = (np.abs(array) < LEAST_NORMAL) & (array != 0)
        if small.any():  # these have fewer digits
            other = np.where(small, array + LEAST_NORMAL * signs, other)
        return np.where(exact, array, other)


def _worked_out(fixed: Value, inputs: list[Array]) -> Array:
    options = {name: thawed(option) for name, option in fixed.options}
    return folded(fixed.function, inputs, options)


def _error(*changes: Array) -> Array:
    """How far rounding may move the arguments of a function, from observed changes.

    If the change in one draw happens to be small, rounding may still do as much as in most draws.
    """
    error = ALLOWED * sum(map(np.abs, changes[1:]), np.abs(changes[0]))
    error = np.where(np.isfinite(error), error, 0.0)  # too large numbers are handled elsewhere
    usual = np.median(error, axis=-1, keepdims=True)
    return np.where(error > 0, np.maximum(error, usual), 0.0)


def _transcends(function: Function) -> bool:
    """Whether a function is neither rational nor a root."""
    rational = (function.polynomial, function.square, function.with_sizes, function.jumps)
    whole = function.rearranges or function.divides or function.truth
    return function.by_element and not whole and rational == (None,) * 4


def _transcends_in(value: Value) -> bool:
    """Whether a value is computed by such a function; 2**n with a random power counts too."""
    powered = value.function is POWER and value.inputs[1].random
    return powered or _transcends(value.function)


def _counts(function: Function) -> bool:
    """Whether a function returns whole numbers by jumps, as floor(x) does."""
    return not (function.jumps is None or isinstance(function.jumps, AtZero))


def _whole(array: Array) -> bool:
    """Whether an array has only whole numbers."""
    return array.dtype == np.bool_ or bool((array == np.rint(array)).all())


def _is_copied(result: Array, inputs: Sequence[Array]) -> Array | bool:
    """Where the result is the single input, up to its sign."""
    if len(inputs) != 1 or inputs[0].shape != result.shape:
        return False
    return np.asarray(np.abs(number(inputs[0])) == np.abs(result))


def _unless_tied(
    function: Function,
    work: Callable[[list[Array]], Array],
    inputs: list[Array],
    perturbed: list[Array],
    result: Array,
) -> Array:
    """The result of perturbed inputs.

    If the perturbation moves an input from a jump or onto one, both results are taken at the jump,
    since ties are handled elsewhere.
    """
    jump = function.jumps
    if jump is None:
        return work(perturbed)
    as_is, moved = list(map(number, inputs)), list(map(number, perturbed))
    errors = [2.0 * np.abs(other - one) for one, other in zip(as_is, moved, strict=True)]
    paper, other = work(jump(as_is, errors)[0]), work(jump(moved, errors)[0])
    plain = work(moved)
    same = (other == paper) | (plain == result)
    off_jump = np.where(np.isfinite(result), result + (other - paper), other)
    results = np.where(same, result, off_jump)
    for one, beside in zip(as_is, moved, strict=True):  # too small numbers are not exactly 0
        lost = (np.abs(one) <= SMALLEST) & (np.abs(beside) < LEAST_NORMAL) & (one != beside)
        if not function.by_element:  # a draw is looked at as a whole
            lost = lost.reshape(-1, lost.shape[-1]).any(axis=0)
        results = np.where(lost, plain, results)
    return results
