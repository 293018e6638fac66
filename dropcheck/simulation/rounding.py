"""Computes the same draws again with perturbed results, to see how many digits rounding leaves.

Each result is moved up or down, at random, by as much as one rounding may have moved it. The change
of the averages then shows how far rounding may have moved them (the CESTAC method: Vignes 1993,
Mathematics and Computers in Simulation 35, 233-261; Monte Carlo arithmetic: Parker 1997).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dropcheck.analysis.enumeration import outcomes_of
from dropcheck.analysis.exact import MOST_OUTCOMES
from dropcheck.analysis.law_bounds import AffineDraw, line_of
from dropcheck.analysis.on_paper import EXACT, Rounded, alike, value_on_paper
from dropcheck.analysis.single_draw import SingleDraw, Steps, draw_below
from dropcheck.analysis.support import support, takes_all_numbers
from dropcheck.array_types import Floats
from dropcheck.errors import DropcheckError
from dropcheck.language.graph import Kind, Value, folded, in_order, kernel_of, number, thawed
from dropcheck.simulation.integrands import Term, filled
from dropcheck.simulation.program import NearJumps, Program, may_jump
from dropcheck.simulation.steps import LawDraw, Step
from dropcheck.simulation.steps import computed_registers as computed
from dropcheck.simulation.variants import step_by_step
from dropcheck.vocabulary import jumps
from dropcheck.vocabulary.function import LINEAR, Array, Function, KernelError, scales_together
from dropcheck.vocabulary.functions.elementwise import (
    ABS,
    ADD,
    ARITHMETIC_SIGNS,
    MODULO,
    POWER,
    SQRT,
    SUBTRACT,
)
from dropcheck.vocabulary.jumps import LARGEST_BOUND, AtZero
from dropcheck.vocabulary.law import Values

# ---- beyond float64 ------------------------------------------------------------------------------
#
# Substitutes for results that float64 cannot represent: too small, too large, or absorbed.
#
# The functions return other values that the exact result might have. `inputs` and `result` are as
# computed, `perturbed` are the inputs changed by rounding, and `other` is the result of these.


# The smallest positive number: 0 may stand for anything below it.
SMALLEST = 5e-324
LEAST_NORMAL = float(np.finfo(np.float64).smallest_normal)
# The largest number: infinity may stand for anything above it.
LARGEST = float(np.finfo(np.float64).max)
# How many steps, to the next number each, a substitute is away from a result without digits.
STEPS = 8
# A number that is so many times larger than its rounding is not itself a rounding error.
NO_ROUNDING = 1e3


def beyond_float64(drawn: Array, other: Array, generator: np.random.Generator) -> Array:
    """Substitutes for draws that are too small or too large for float64, as from gamma(0.001, 1).

    They may be any number from 0 to the smallest, or from the largest on. So that two draws are
    two numbers, half of those that are too small become 0, and others become larger ones.
    """
    small = np.abs(drawn) <= SMALLEST
    if small.any():
        multiples = np.maximum(generator.integers(-STEPS, STEPS, drawn.shape), 0)
        other = np.where(small, multiples * SMALLEST, other)
    return np.where(np.isinf(drawn), np.copysign(LARGEST, drawn), other)


def unless_absorbed(
    function: Function, inputs: Sequence[Array], perturbed: Sequence[Array], result: Array
) -> Array | None:
    """Substitutes for a sum that equals one of its parts, although the other is not 0 or rounding.

    In exact arithmetic 1 + 1e-20 * m is above 1, and 0.1 + 0.2 - 0.3 is 0. The result is NaN where
    no substitute is needed, and None if none is needed anywhere.
    """
    (a, b), (c, d) = map(number, inputs), map(number, perturbed)
    second = -1.0 if function is SUBTRACT else 1.0
    substitutes, any_lost = np.full(result.shape, np.nan), False
    for kept, added, moved, sign in ((a, b, d, second), (second * b, a, c, 1.0)):
        size = np.abs(added)  # compare the largest error of all draws: in some it is 0 by chance
        errors = np.where(size < LEAST_NORMAL, 0.0, np.abs(moved - added) / size)
        clear = (size > 0) & (errors.max(axis=-1, keepdims=True) < 1 / NO_ROUNDING)
        lost = clear & np.isfinite(result) & (result == kept)
        towards = np.copysign(np.inf, sign * added)
        substitutes = np.where(lost, _towards(towards, result, added), substitutes)
        any_lost |= bool(lost.any())
    return substitutes if any_lost else None


def unless_saturated(
    function: Function, work: Callable[[list[Array]], Array], argument: Array, result: Array
) -> Array | None:
    """Substitutes for a result that is the limit of a function, as tanh(40) is 1 in float64.

    A monotonic function without steps does not reach its limit: if it is analytic and has the same
    value at two places and between them, it is constant. NaN and None as in `unless_absorbed`.
    """
    if not function.by_element or function.jumps is not None:
        return None
    substitutes, any_lost = np.full(result.shape, np.nan), False
    for limit in work([np.array([-np.inf, np.inf])]):
        if limit == 0 or not np.isfinite(limit):
            continue  # too small and too large results have their own functions
        lost = (result == limit) & np.isfinite(number(argument))
        substitutes = np.where(
            lost, _towards(work([np.zeros(1)]), result, number(argument)), substitutes
        )
        any_lost |= bool(lost.any())
    return substitutes if any_lost else None


def _towards(end: Array, result: Array, of: Array) -> Array:
    """A number beside a result, towards `end`, and so far away that rounding does not undo it.

    Two different values of `of` mostly give different numbers, and equal values the same one.
    """
    digits = np.frexp(of)[0] * 2.0**40 % 1.0  # do not depend on its magnitude
    step = np.floor(STEPS * (1.0 + digits)) * np.abs(np.nextafter(result, end) - result)
    return np.asarray(result + np.sign(end - result) * step)


def unless_too_small(
    function: Function,
    inputs: Sequence[Array],
    perturbed: Sequence[Array],
    result: Array,
    other: Array,
) -> Array:
    """Substitutes for results of 0 from inputs that are not 0, as exp(-800) is 0 in float64.

    For sums, and functions such as relu, 0 is exact. It is also exact for an infinite input that is
    not an overflow, as in exp(-inf).
    """
    zero = (result == 0) & (np.abs(number(other)) < LEAST_NORMAL)
    if function.degree is LINEAR or scales_together(function) or not zero.any():
        return other
    for as_is, moved in zip(inputs, perturbed, strict=True):
        array = np.where(too_small(number(as_is), number(moved)), moved, as_is)
        same = array.shape == result.shape  # if not, a draw is looked at as a whole
        own = array if same else np.abs(array).reshape(-1, array.shape[-1]).min(axis=0)
        zero = zero & (own != 0)
        if same:
            zero &= ~np.isinf(moved)
    return np.where(zero, np.copysign(SMALLEST, result), other)


def too_small(as_is: Array, moved: Array) -> Array:
    """Where 0 stands for a number that is too small for float64."""
    lost: Array = (as_is == 0) & (moved != 0) & (np.abs(moved) < LEAST_NORMAL)
    return lost


def unless_too_large(
    function: Function,
    inputs: Sequence[Array],
    perturbed: Sequence[Array],
    result: Array,
    other: Array,
) -> Array:
    """Substitutes for infinite results from finite inputs, as exp(800) is inf in float64."""
    infinite = np.isinf(result)
    if not infinite.any():
        return other
    for array in perturbed:  # substitutes for overflows are finite; look at a draw as a whole
        infinite = infinite & np.isfinite(array).reshape(-1, array.shape[-1]).all(axis=0)
    infinite &= inputs[0] != 0 if function is POWER else takes_all_numbers(function)
    return np.where(infinite, np.copysign(LARGEST, result), other)


def any_remainder(
    inputs: list[Array], perturbed: list[Array], other: Array, generator: np.random.Generator
) -> Array:
    """Remainders, at random if rounding moves the dividend by a share of the divisor.

    Numbers beyond 2**53 are moved by whole periods of small divisors, and show no change.
    """
    (a, b), (c, d) = map(number, inputs), map(number, perturbed)
    vague = np.abs(c - a) + np.abs(a / b) * np.abs(d - b) >= LARGEST_BOUND * np.abs(b)
    return np.where(vague, b * generator.random(other.shape), other)


# ---- reference draws -----------------------------------------------------------------------------
#
# Reference draws show the result of a comparison where rounding does not decide it.
#
# Two values that are computed as equal may be exactly equal, like `x**3` and `x * x * x`. Or one of
# them has lost the difference, like `sigmoid(x)` and 1 for large x. If analytic functions are equal
# for all values near one point, they are equal for all values of the law (Mityagin 2015, "The zero
# set of a real analytic function"). So both are compared for values of moderate size: of the draws,
# of the linear functions of draws that are farthest from 0, such as `x + 40`, and of those that are
# smallest or steepest, such as `1e-20 * x` and `20 * x`. They are also compared for large draws, as
# far as the law has such, or as large as what is added to them.


# Up to this size, functions clearly differ from their limits: tanh(3) is 0.995.
MODERATE = 3.0
# The sizes of large draws, which show what products of them lose, as in 1 + 1e-20 * x * y.
LARGE = (1e5, 1e10)
# Linear functions with a smaller factor are also compared where they have moderate size.
SMALL = 1e-3
# A jump is spurious if reference draws are near it this much less often, and have the opposite
# result in at least this share.
SELDOM, OFTEN = 0.25, 0.1

Near = tuple[float, dict[float, float]]
"""The share of draws in which a function is near a jump; and for each result near the jump, the
share of draws in which it clearly has another result."""
LinesOfDraws = dict[int, AffineDraw]
"""Linear functions of one draw each, by the id of the draw's value."""
ReferencePlace = tuple[float, LinesOfDraws]
"""The largest size of draws, and the linear functions that have this size in place of draws."""


def places_of(program: Program) -> Iterator[ReferencePlace]:
    """The sizes of a program's reference draws, and the linear functions that have these sizes."""
    far: LinesOfDraws = {}
    small: LinesOfDraws = {}
    steep: LinesOfDraws = {}
    known: dict[int, tuple[int, AffineDraw]] = {}  # by register
    for step in program.steps:
        below = [known.get(register) for register in step.inputs]
        line = line_of(step.value, [one and one[1] for one in below])
        known.pop(step.target, None)
        if line is None or (step.value.kind == Kind.DRAW and not can_be_moved(step.value)):
            continue
        draw = next((one[0] for one in below if one is not None), id(step.value))
        known[step.target] = draw, line
        if abs(line.shift) > max(MODERATE, abs(far[draw].shift) if draw in far else 0.0):
            far[draw] = line
        if abs(line.factor) < min(SMALL, abs(small[draw].factor) if draw in small else 1.0):
            small[draw] = line
        if abs(line.factor) > max(MODERATE, abs(steep[draw].factor) if draw in steep else 0.0):
            steep[draw] = line
    yield from ((MODERATE * size, {}) for size in (1.0, *LARGE))
    yield from ((MODERATE, lines) for lines in (far, small, steep) if lines)
    if far:  # as large as what is added, for example to x in 1e16 + x
        yield MODERATE * max(abs(line.shift) for line in far.values()), far


def draws_of(
    step: Step, generator: np.random.Generator, draws: int, where: ReferencePlace
) -> Array:
    """Values of moderate size that the law may have; if there are none, values from it to 0.

    For a draw with a linear function, values for which that has moderate size, and a possible sign,
    whether the law has them or not.
    """
    size, lines = where
    low, high = _support(step.value)
    if _far_out(low, high):
        low, high = min(low, 0.0), max(high, 0.0)
    low, high = max(low, -size), min(high, size)
    line = lines.get(id(step.value))
    if line is not None:
        ends = [line.factor * end + line.shift for end in _support(step.value)]
        sides = (-size if min(ends) < 0 else 0.0, size if max(ends) > 0 else 0.0)
        low, high = sorted((end - line.shift) / line.factor for end in sides)
    shape = (*step.value.shape, draws)
    if step.value.law is not None and step.value.law.discrete:
        return generator.integers(math.ceil(low), math.floor(high) + 1, shape).astype(float)
    return generator.uniform(low, high, shape)


def not_believed(near: Near, reference: Near) -> list[float]:
    """The results that are spurious when a function is near a jump.

    Reference draws are seldom near the jump, and often clearly have another result.
    """
    if reference[0] > SELDOM * near[0]:
        return []
    return [one for one, share in reference[1].items() if share > OFTEN]


def can_be_moved(value: Value) -> bool:
    """Whether reference draws may replace those of a value: of a fixed or a continuous law."""
    law = value.law
    if value.kind != Kind.DRAW or law is None or law.own_axes is not None:
        return False
    if any(one.random for one in value.inputs) and not law.discrete:
        return True
    of_lists = any(one.axes for one in law.parameters)
    if any(one.known is None or (of_lists and len(one.shape) > 1) for one in value.inputs):
        return False
    low, high = _support(value)
    listed = law.values in (Values.LISTED, Values.SIGNS)  # few values, so that many are equal
    return low < high and (not listed or _far_out(low, high))


def _support(value: Value) -> tuple[float, float]:
    """The ends of the law's support; for an array of arguments, of all of them together."""
    assert value.law is not None
    if any(one.random for one in value.inputs):
        hull = support(value)
        return hull.low, hull.high
    known = [one.known for one in value.inputs]
    listed = not known or any(one.axes for one in value.law.parameters)
    each = [known] if listed else np.broadcast(*map(np.asarray, known))
    ends = [value.law.support(*one) for one in each]
    return float(min(low for low, _ in ends)), float(max(high for _, high in ends))


def _far_out(low: float, high: float) -> bool:
    """Whether no number in an interval has moderate size."""
    return low >= MODERATE or high <= -MODERATE


# ---- perturbed -----------------------------------------------------------------------------------


# The share by which a result is moved: the distance to the next number, at most two roundings.
MOVED_SHARE = 2.0**-52
# Replaces infinity as a perturbed argument of a law, so that its draws are finite.
FAR = 1e300
# How many times the observed change is allowed, since few draws are observed.
ALLOWED = 8.0
# Whole numbers up to this are exact if they are computed from whole numbers, or are counts.
EXACT_WHOLE = 2.0**51
# The domains of functions that return one of their arguments.
_COPIES = {"clip", "minimum", "maximum", "max", "min", "sort", "cummax", "where", "conditional"}
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
        if function.rearranges or function.joins or function.name in _COPIES:
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
    rational = function in (*ARITHMETIC_SIGNS, ABS, SQRT) or function.jumps is not None
    whole = function.rearranges or function.truth or function.piecewise
    return function.by_element and not (rational or whole)


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


# ---- digits left ---------------------------------------------------------------------------------
#
# How many digits rounding leaves of averages, values, events and sides, from perturbed draws.


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


# ---- tied ----------------------------------------------------------------------------------------
#
# Programs in exact arithmetic, and where rounding makes a difference.


# How many times longer a step takes in exact arithmetic (measured; 10 to 40 for array functions).
SLOWER = 20


@dataclass(frozen=True, slots=True)
class Tied:
    """A function that rounding keeps from a jump, and the program in exact arithmetic."""

    by: Value
    program: Program


def tied_in(
    program: Program,
    generator: Callable[[int], np.random.Generator],
    draws: int,
    spans: int,
    *,
    closely: bool = False,
) -> Tied | None:
    """Where rounding decides what is averaged, in some draws or for a value of a discrete draw.

    If numbers repeat near where functions jump, or tie there without a difference, rare ties are
    searched for in whole spans, at most `spans`; with `closely`, in any case. `generator` gives the
    stream of each span.
    """
    jumps = [step.value for step in program.steps if step.kernel is not None]
    jumps = [value for value in jumps if may_jump(value)]
    if not jumps:
        return None
    plain = step_by_step(program)
    near = NearJumps()
    tied = _tied(plain, near, lambda: generator(0), draws)
    if tied is None and (closely or near.again or near.found is not None):
        for span in range(spans):
            tied = tied or _tied(plain, NearJumps(), partial(generator, span), plain.span_draws)
    if tied is None:
        by = next(filter(_tied_somewhere, jumps), None)
        return None if by is None else Tied(by, on_paper(plain))
    return tied


def _tied(
    plain: Program, near: NearJumps, generator: Callable[[], np.random.Generator], draws: int
) -> Tied | None:
    with np.errstate(all="ignore"):
        arrays = plain.registers(generator(), draws, near)
        if near.found is None:
            return None
        other = on_paper(plain)
        again = other.registers(generator(), draws)
    factors = (register for term in plain.terms for register, _ in term.factors)
    given = (term.given for term in plain.terms if term.given is not None)
    same = all(
        alike(number(filled(arrays[one])), number(filled(again[one])))
        for one in {*plain.targets, *factors, *given}
    )
    return None if same else Tied(near.found, other)


def on_paper(program: Program) -> Program:
    """The program in exact arithmetic: values that rounding keeps from a jump are at the jump."""
    known: dict[int, Rounded] = {}
    fixed = {register: Rounded(array, EXACT) for register, array in program.fixed}
    cost = program.cost
    for step in program.steps:
        if step.kernel is not None:
            shapes = [below.shape for below in step.value.inputs]
            cost += SLOWER * step.value.function.cost(step.value.shape, shapes)
        for register, value in zip(step.inputs, step.value.inputs, strict=False):
            if register in fixed and value.constant is not None:
                fixed[register] = value_on_paper(value, known)
    return replace(
        program,
        fixed=tuple((register, one.value) for register, one in fixed.items()),
        roundings=tuple((register, one.error) for register, one in fixed.items()),
        cost=cost,
    )


def _tied_somewhere(value: Value) -> bool:
    """Whether rounding decides a quantity for some values of discrete draws, however rare.

    This is tested if the quantity depends on one draw, or if all draws have few outcomes.
    """
    draw = draw_below(value)
    with np.errstate(all="ignore"):
        points = None if draw is None else SingleDraw.of(draw).points
        if draw is not None and points is not None:
            found, paper = Steps.to([value], draw).listed(points[0])
            return not alike(found[0], paper[0])
        table = outcomes_of([value], MOST_OUTCOMES)
        other = None if table is None else table.on_paper([value])
        if table is None or other is None:
            return table is not None
        return not alike(table.values(value), other.values(value))
