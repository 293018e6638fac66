"""What a graph says by itself: entries of arrays that have one joint law, and events.

Places along an axis may be exchanged if the model stays the same: the draws along it are drawn
alike, and whatever is computed from them treats the places alike. Formally: permute, in all draws
at once, the places along axes that are tied to each other. If every draw then has the law that it
had, and every value is permuted in the same way or not at all, an entry of some values has the
joint law of the entry to which it is moved. Dependence between entries does not matter: those of a
permutation, or of a softmax, have one law each.

What a function does to a permutation is read off its kernel: it is computed from numbers made at
random, and once more from the same numbers permuted. Where nothing is known, all places of an axis
differ: two entries are never called alike without a reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dropcheck.language.graph import Kind, Value, in_order, kernel_of, number
from dropcheck.vocabulary.function import GRAD, Array
from dropcheck.vocabulary.functions.truths import AND, COMPARISONS, OR
from dropcheck.vocabulary.laws import LAWS
from dropcheck.vocabulary.shapes import Shape

Integers = NDArray[np.intp]

# Larger arrays are not looked into: their places differ.
LARGEST = 2**22
# As many numbers are made for a function that does more than move elements, but for one draw.
MOST_MADE, MOST_DRAWS = 2**18, 8
# Options that do not count places: with these alone, a function does to long arrays what it does to
# short ones.
_NOT_PLACES = {"axis", "keepdims", "ddof", "ord"}
_SHORT = 4


class Places:
    """The places along axes that are permuted together; they `differ` if they may not be."""

    def __init__(self, *, differ: bool = False) -> None:
        self.differ = differ
        self.tied_to: Places | None = None

    def found(self) -> Places:
        """The places that these have been tied to, or these themselves."""
        places = self
        while places.tied_to is not None:
            places = places.tied_to
        return places


Axes = list[Places | None]
"""The places along each axis of a value; None for an axis of length 1."""


def _tied(axes: Iterable[Places | None]) -> Places | None:
    """The places of axes that lie side by side, so that they are permuted together."""
    tied: Places | None = None
    for axis in axes:
        if axis is None:
            continue
        found = axis.found()
        if tied is None:
            tied = found
        elif tied is not found:
            found.tied_to = tied
            tied.differ |= found.differ
    return tied


def _split(axes: Iterable[Places | None]) -> None:
    for axis in axes:
        if axis is not None:
            axis.found().differ = True


def _new(shape: Shape, *, differ: bool) -> Axes:
    return [Places(differ=differ) if length > 1 else None for length in shape]


def entries_alike(values: Sequence[Value], shape: Shape, models: Mapping[int, Value]) -> Integers:
    """For each entry of a shape a number: entries of one number have one joint law of the values.

    Along an axis whose entries all have one law, the array has the stride 0.

    Args:
        values: the values; those of a smaller shape are broadcast.
        shape: their common shape.
        models: by id of a call of code, the value that stands for it in mathematics.
    """
    tracked = _Tracked(models)
    walked = in_order(values, tracked.below)
    for value in walked:
        tracked.axes[id(value)] = tracked.axes_of(value)
    axes = tracked.beside([tracked.axes[id(value)] for value in values], shape)
    return _numbered(axes, shape)


def _numbered(axes: Axes, shape: Shape) -> Integers:
    found = [None if one is None else one.found() for one in axes]
    code = np.zeros((1,) * len(shape), dtype=np.intp)
    for at, axis in enumerate(found):
        along = [1] * len(shape)
        along[at] = shape[at]
        if axis is not None and axis.differ:
            code = code * shape[at] + np.arange(shape[at]).reshape(along)
            continue
        for before, other in enumerate(found[:at]):
            if axis is not None and other is axis:  # the diagonal is not the rest
                along[before] = shape[before]
                code = 2 * code + np.eye(shape[at], dtype=np.intp).reshape(along)
                along[before] = 1
    numbers = np.unique(code, return_inverse=True)[1].reshape(code.shape)
    return np.broadcast_to(numbers, shape)


class _Tracked:
    """The axes of every value that some values are computed from."""

    def __init__(self, models: Mapping[int, Value]) -> None:
        self.models = models
        self.axes: dict[int, Axes] = {}
        self.exchanges: dict[tuple[object, ...], list[_Exchange] | None] = {}

    def below(self, value: Value) -> Sequence[Value]:
        """The values that the axes of a value follow from."""
        if value.call is not None:
            model = self.models.get(id(value.call))
            return value.inputs if model is None else (model, *value.inputs)
        return value.inputs if value.random else ()

    def axes_of(self, value: Value) -> Axes:
        """The axes of a value, from those of its inputs."""
        if not value.random:
            return _of_constant(value)
        if value.call is not None:
            return self._of_code(value)
        if value.kind == Kind.DRAW:
            return self._of_draw(value)
        if value.function.by_element or _of_numbers(value):
            return self.beside([self.axes[id(one)] for one in value.inputs], value.shape)
        return self._by_evaluation(value)

    def _differ(self, value: Value) -> Axes:
        """The axes where nothing is known: all places of the inputs, and of the result, differ."""
        for one in value.inputs:
            _split(self.axes[id(one)])
        return _new(value.shape, differ=True)

    def beside(self, inputs: Iterable[Axes], shape: Shape) -> Axes:
        """The axes of values that are broadcast to a shape and lie side by side."""
        from_right: list[list[Places | None]] = [[] for _ in shape]
        for axes in inputs:
            for at, axis in enumerate(reversed(axes)):
                from_right[at].append(axis)
        return [_tied(axes) for axes in reversed(from_right)]

    def _of_code(self, value: Value) -> Axes:
        """Those of the slot's own mathematics, or of its argument for a gradient of this shape."""
        model = self.models.get(id(value.call))
        if model is None or value.call is None:
            return self._differ(value)
        given = value.inputs[0] if value.call.mode == GRAD else model
        return self.axes[id(given)] if given.shape == value.shape else self._differ(value)

    def _of_draw(self, value: Value) -> Axes:
        law = value.law
        assert law is not None  # or it is a call of code
        batches: list[Axes] = []
        own: Axes = []
        for parameter, argument in zip(law.parameters, value.inputs, strict=True):
            axes, first = self.axes[id(argument)], len(argument.shape) - parameter.axes
            batches.append(axes[:first])
            own += axes[first:]
        rank = len(value.shape) if law.own_axes is None else len(value.shape) - 1
        made = self.beside(batches, value.shape[:rank])
        if law.own_axes is not None:
            made.append(_tied(own))
        else:
            _split(own)
        alike = _new(value.shape, differ=False)
        return [new if one is None else one for one, new in zip(made, alike, strict=True)]

    def _by_evaluation(self, value: Value) -> Axes:
        """The axes of a function's result, by what permutations of its arguments do to it."""
        drawn = [at for at, one in enumerate(value.inputs) if one.random]
        # the steps of a loop do the same to arguments of the same shapes
        given = ((one.shape, one.truth) if one.random else id(one) for one in value.inputs)
        key = value.operation, value.options, *given
        if key not in self.exchanges:
            self.exchanges[key] = _exchanges(value)
        found = self.exchanges[key]
        if found is None:
            return self._differ(value)
        made: Axes = _new(value.shape, differ=True)
        left = {(at, axis) for at in drawn for axis in range(len(value.inputs[at].shape))}
        for moved, to in found:
            tied = _tied(self.axes[id(value.inputs[at])][axis] for at, axis in moved)
            for axis in to:
                made[axis] = Places() if tied is None else tied
            left -= {*moved}
        _split(self.axes[id(value.inputs[at])][axis] for at, axis in left)
        return made


def _of_numbers(value: Value) -> bool:
    """Whether it is a function of a law of numbers, such as a density."""
    law = LAWS.get(str(dict(value.options).get("law")))
    return (
        law is not None
        and law.own_axes is None
        and not any(parameter.axes for parameter in law.parameters)
    )


def _of_constant(value: Value) -> Axes:
    """Places of a fixed array may be exchanged if its slices there are equal."""
    array = value.constant
    if array is None or array.size > LARGEST:
        return _new(value.shape, differ=True)
    made = _new(value.shape, differ=False)
    _split(axis for at, axis in enumerate(made) if (array != array.take([0], at)).any())
    return made


# ---- permutations of the arguments of a function -------------------------------------------------


_At = tuple[int, int]
"""An axis of an argument: the number of the argument, and the axis."""
_Exchange = tuple[Sequence[_At], Sequence[int]]
"""Axes of arguments that are permuted together, and the axes along which the result is then."""


def _exchanges(value: Value) -> list[_Exchange] | None:
    """The permutations of random arguments that a function passes on, or takes no notice of.

    Those of no argument are those along which all entries of the result are equal. None if nothing
    is known. It is computed from a few random numbers; where these all go through a permutation
    unseen, all do but for a set of measure 0, as kernels are piecewise analytic.
    """
    shapes = [value.shape, *(one.shape for one in value.inputs)]
    lengths = sorted({n for shape in shapes for n in shape if n > _SHORT})
    short = {n: _SHORT + 1 + at for at, n in enumerate(lengths)}
    free = {name for name, _ in value.options} <= _NOT_PLACES
    if free and lengths and all(one.random for one in value.inputs if one.shape):
        found = _exchanges_of(value, [tuple(short.get(n, n) for n in one) for one in shapes])
        if found is not None:
            return found
    most = LARGEST if value.function.rearranges else MOST_MADE
    return None if max(map(math.prod, shapes)) > most else _exchanges_of(value, shapes)


def _exchanges_of(value: Value, shapes: Sequence[Shape]) -> list[_Exchange] | None:
    """The same for arguments of other shapes: that of the result comes first."""
    shape, kernel = shapes[0], kernel_of(value)
    if any(0 in one for one in shapes):
        return None
    for whole in (False, True):  # indices are whole numbers
        arguments = _made(value, shapes, whole=whole)
        try:
            with np.errstate(all="ignore"):
                result = kernel(*arguments).astype(np.float64)
                break
        except (ValueError, IndexError):
            pass
    else:
        return None
    if result.shape[:-1] != shape or not np.isfinite(result).all():
        return None

    def passed_on(moved: Sequence[_At]) -> Sequence[int] | None:
        """The axes along which the result is permuted; None if it is anything else."""
        length = shapes[1 + moved[0][0]][moved[0][1]] if moved else 0
        orders = _orders(length)
        others = [
            kernel(*(_permuted(one, order, [axis for to, axis in moved if to == at])
                     for at, one in enumerate(arguments)))
            for order in orders
        ]  # fmt: skip
        axes = [axis for axis, n in enumerate(shape) if n == length]
        for to in ((), *((axis,) for axis in axes), *combinations(axes, 2)):
            if all(
                _near(_permuted(result, o, to), one) for o, one in zip(orders, others, strict=True)
            ):
                return to
        return None

    found: list[_Exchange] = []
    taken: set[_At | int] = set()
    for moved in _together(value, shapes):
        if taken.isdisjoint(moved):
            to = passed_on(moved)
            if to is not None and taken.isdisjoint(to):
                found.append((moved, to))
                taken |= {*moved, *to}
    for axis, length in enumerate(shape):
        if axis not in taken and all(
            _near(_permuted(result, o, [axis]), result) for o in _orders(length)
        ):
            found.append(((), (axis,)))
    return found


def _made(value: Value, shapes: Sequence[Shape], *, whole: bool) -> list[Array]:
    """Arguments for a function: numbers made at random for those that are."""
    rng = np.random.default_rng(0)
    draws = max(1, min(MOST_DRAWS, MOST_MADE // max(map(math.prod, shapes))))
    arguments = []
    for one, shape in zip(value.inputs, shapes[1:], strict=True):
        size = *shape, draws
        if not one.random:
            array = one.constant
        elif one.truth or value.function.takes_truth:
            array = rng.random(size) < 0.5
            array = array if one.truth else array * rng.random(size)
        else:
            array = rng.integers(0, 2, size) * 1.0 if whole else rng.random(size)
        arguments.append(array)
    return arguments


def _together(value: Value, shapes: Sequence[Shape]) -> Iterator[Sequence[_At]]:
    """Axes of random arguments that may have to be permuted together: fewer come first."""
    axes = [
        (at, axis)
        for at, one in enumerate(value.inputs)
        for axis, length in enumerate(shapes[1 + at])
        if one.random and length > 1
    ]
    yield from ([one] for one in axes)
    beside: dict[tuple[int, int], list[_At]] = {}
    for at, axis in axes:
        shape = shapes[1 + at]
        beside.setdefault((len(shape) - axis, shape[axis]), []).append((at, axis))
    yield from (group for group in beside.values() if len(group) > 1)
    for one, other in combinations(axes, 2):
        if shapes[1 + one[0]][one[1]] == shapes[1 + other[0]][other[1]]:
            yield one, other


def _orders(length: int) -> list[Integers]:
    """Two orders of places that make up all others: all move on by one, and the first two swap."""
    places = np.arange(length)
    return [np.roll(places, 1), np.concatenate([places[1::-1], places[2:]])]


def _permuted(array: Array, order: Integers, axes: Sequence[int]) -> Array:
    for axis in axes:
        array = array.take(order, axis)
    return array


def _near(one: Array, other: Array) -> bool:
    scale = float(np.abs(one).max(initial=0.0))
    return one.shape == other.shape and bool((np.abs(one - other) <= 1e-9 * scale).all())


# ---- events --------------------------------------------------------------------------------------
#
# Which quantities are events, 0 or 1 in every draw, and which events have probability 0.
#
# An event is what the model knows to be 0 or 1: a comparison, a Bernoulli draw, a product of
# events. A number is none, and `P(x)` of it is an error: it would count every value but 0 as true.


FewValues = frozenset[float]

MOST_VALUES = 8  # of a quantity, if those of a function of it are to be worked out
TRUTHS = frozenset((0.0, 1.0))
# Functions of several elements whose value is one of them; and those of which that is so of truths.
_ONE_OF, _ONE_OF_TRUTHS = {"max", "min", "sort", "cummax"}, {"prod", "cumprod"}

# Functions that take no value on more than countably many points; and those beside fixed numbers
# that are not 0.
_STRICT = {
    *("exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "abs", "sin", "cos", "tan"),
    *("sinh", "cosh", "tanh", "arctan", "sigmoid", "softplus", "logit", "erf", "erfc", "Phi"),
    *("+", "-", "negative"),
}
_STRICT_BESIDE = {"*", "/", "**"}


def is_event(value: Value) -> bool:
    """Whether the model knows that a value is 0 or 1 in every draw."""
    known: dict[int, FewValues | None] = {}
    for one in in_order([value], _inputs):
        known[id(one)] = _few_values(one, [known.get(id(below)) for below in one.inputs])
    found = known[id(value)]
    return found is not None and found <= TRUTHS


def _inputs(value: Value) -> tuple[Value, ...]:
    return value.inputs if value.kind == Kind.COMPUTED and not value.truth else ()


def _few_values(value: Value, below: list[FewValues | None]) -> FewValues | None:
    """All values that a quantity takes, from those of its inputs; None for many, or unknown ones.

    Those of code are seen in its draws.
    """
    if value.binary or value.call is not None or value.operation == "one_hot":
        return TRUTHS
    if value.constant is not None:
        return _listed(value.constant.ravel())
    function = value.function if value.kind == Kind.COMPUTED else None
    if function is None:
        return None
    read = below[:1] if function.picks and function.does != "joins" else below
    known = [one for one in read if one is not None]
    if not known or len(known) < len(read):
        return None
    if function.by_element and not function.view:
        with np.errstate(all="ignore"):
            sides = np.meshgrid(*(np.array(sorted(one)) for one in known))
            return _listed(number(kernel_of(value)(*(side.ravel() for side in sides))))
    found = frozenset[float]().union(*known)
    moves = function.rearranges or function.picks or function.view or function.does == "joins"
    truths = function.name in _ONE_OF_TRUTHS and found <= TRUTHS
    return found if moves or truths or function.name in _ONE_OF else None


def _listed(values: Iterable[float]) -> FewValues | None:
    found = np.unique(np.asarray(values, dtype=np.float64))
    return frozenset(found.tolist()) if len(found) <= MOST_VALUES else None


def has_no_chance(event: Value) -> bool:
    """Whether an event has probability 0, as a continuous draw at a point has."""
    known: dict[int, bool] = {}
    for one in in_order([event], lambda v: v.inputs if v.computed_by(AND, OR) else ()):
        parts = [known[id(part)] for part in one.inputs if id(part) in known]
        if one.computed_by(AND, OR) and not one.shape:
            known[id(one)] = any(parts) if one.function is AND else all(parts)
        else:
            known[id(one)] = not one.shape and _meets_a_point(one)
    return known[id(event)]


def _meets_a_point(event: Value) -> bool:
    """Whether an event is that a continuous draw equals what it has nothing to do with."""
    if not event.computed_by(COMPARISONS["=="]):
        return False
    left, right = event.inputs
    return left.sources.isdisjoint(right.sources) and any(map(_is_continuous, (left, right)))


def _is_continuous(value: Value) -> bool:
    """Whether a value is a draw of a law with a density, an element of one, or strict in that."""
    while value.kind == Kind.COMPUTED:
        random = [one for one in value.inputs if one.random]
        fixed = [number(one.constant) for one in value.inputs if not one.random]
        function = value.function
        strict = function.rearranges or function.name in _STRICT
        strict |= function.name in _STRICT_BESIDE and all(np.all(one != 0) for one in fixed)
        if len(random) != 1 or not strict:
            return False
        (value,) = random
    law, arguments = value.law, [one.constant for one in value.inputs]
    if law is None or law.discrete or law.own_axes or any(one is None for one in arguments):
        return False
    return not np.any(np.equal(*law.ends_at(arguments)))
