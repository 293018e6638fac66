"""Rules for shapes: the shape of a result from the shapes of the arguments.

Every rule is a pure function of shapes and options, so that a claims file can be checked without
any draw. Shapes that do not fit raise `ShapeError` with one sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

Shape = tuple[int, ...]
"""The shape of one draw; `()` is a single number. The axis of draws is never in it."""
Options = Mapping[str, Any]
"""Options by name: a number, a tuple of these, or None."""
ShapeRule = Callable[[tuple[Shape, ...], Options], Shape]
Index = int | slice | tuple[Any, ...] | None
"""An entry of an index; a tuple has places, nested as the result is."""


class ShapeError(ValueError):
    """Shapes do not fit together; the message says which and why, without a place in the file."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def describe(shape: Shape) -> str:
    """A shape in words for messages.

    >>> describe((3, 4)), describe(())
    ('[3, 4]', 'a single number')
    """
    return str(list(shape)) if shape else "a single number"


def whole(value: Any, name: str) -> int:
    """A number as an integer; an error if it is not whole.

    >>> whole(-1.0, "axis")
    -1
    """
    if isinstance(value, int | float) and math.isfinite(value) and value == math.floor(value):
        return int(value)
    shown = f"{value:g}" if isinstance(value, int | float) else repr(value)
    raise ShapeError(f"'{name}' must be a whole number, and is {shown}")


def count(value: Any, name: str) -> int:
    """A number as an integer; an error if it is not whole, or negative."""
    number = whole(value, name)
    if number < 0:
        raise ShapeError(f"'{name}' must be 0 or more, and is {number}")
    return number


def flag(value: Any, name: str) -> bool:
    """An option as a bool; an error if it is not 1 or 0."""
    if value not in (0, 1):
        raise ShapeError(f"'{name}' must be 1 or 0, and is {value}")
    return bool(value)


def sizes(value: Any, name: str = "shape") -> Shape:
    """A shape given as one number, several, or a list of them.

    >>> sizes((2.0, 3.0)), sizes(((2, 3),)), sizes(4)
    ((2, 3), (2, 3), (4,))
    """
    if not isinstance(value, tuple | list):
        return (count(value, name),)
    if len(value) == 1 and isinstance(value[0], tuple | list):
        return sizes(value[0], name)
    return tuple(count(entry, name) for entry in value)


def normalise_axis(axis: Any, shape: Shape) -> int:
    """An axis counted from the left, from 0.

    >>> normalise_axis(-1.0, (2, 3))
    1
    """
    number = whole(axis, "axis")
    if not -len(shape) <= number < len(shape):
        message = f"axis {number} does not exist in {describe(shape)}"
        raise ShapeError(message, "axes are those of one draw, from 0; -1 is the last")
    return number % len(shape)


def normalise_axes(axis: Any, shape: Shape) -> tuple[int, ...]:
    """The axes that a number or a list names, counted from the left; the last one for None."""
    if not isinstance(axis, tuple | list):
        return (normalise_axis(-1 if axis is None else axis, shape),)
    axes = tuple(sorted(normalise_axis(entry, shape) for entry in axis))
    if not axes:
        raise ShapeError("'axis' is an empty list: name at least one axis")
    if len(set(axes)) < len(axes):
        raise ShapeError("'axis' names one axis twice")
    return axes


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """The common shape by numpy's rule: aligned at the right, and a length of 1 stretches.

    >>> broadcast([(3, 1), (4,)])
    (3, 4)
    """
    result: Shape = ()
    for shape in shapes:
        if shape in (result, ()):
            continue
        pairs = [*zip_longest(reversed(result), reversed(shape), fillvalue=1)]
        if any(a not in (1, b) and b != 1 for a, b in pairs):
            raise ShapeError(f"shapes {describe(result)} and {describe(shape)} do not go together")
        result = tuple(b if a == 1 else a for a, b in reversed(pairs))
    return result


def matmul(a: Shape, b: Shape) -> Shape:
    """The shape of `a @ b`: a vector is a row on the left and a column on the right.

    >>> matmul((2, 3), (3,)), matmul((3,), (3,))
    ((2,), ())
    """
    if not a or not b:
        side = "left" if not a else "right"
        raise ShapeError(f"'@' takes vectors and matrices, and its {side} side is a single number")
    if a[-1] != (b[0] if len(b) == 1 else b[-2]):
        hint = "turn one side, a @ b.T or a.T @ b" if {*a[-2:]} & {*b[-2:]} else None
        raise ShapeError(f"shapes {describe(a)} and {describe(b)} do not go together in '@'", hint)
    return broadcast([a[:-2], b[:-2]]) + a[-2:-1] + (b[-1:] if len(b) > 1 else ())


def transpose(a: Shape) -> Shape:
    """The shape of `a.T`, with the last two axes swapped."""
    if len(a) < 2:
        hint = "a vector needs none: x @ x is the sum of its squares, outer(x, x) has every product"
        raise ShapeError(f"'.T' swaps the last two axes, and here is {describe(a)}", hint)
    return (*a[:-2], a[-1], a[-2])


def permutation(axes: Any, shape: Shape) -> tuple[int, ...]:
    """The order of all axes that an option names; the reverse order for None.

    >>> permutation((1.0, 0.0, -1.0), (2, 3, 4)), permutation(None, (2, 3, 4))
    ((1, 0, 2), (2, 1, 0))
    """
    if axes is None:
        return tuple(range(len(shape)))[::-1]
    named = axes if isinstance(axes, tuple | list) else (axes,)
    order = tuple(normalise_axis(axis, shape) for axis in named)
    if sorted(order) != list(range(len(shape))):
        raise ShapeError(f"'axes' names each axis of {describe(shape)} once, such as [1, 0]")
    return order


def reshaped(shape: Shape, wanted: Any) -> Shape:
    """The wanted shape, in which one length may be −1: it is computed from the others.

    >>> reshaped((4, 3), (2, -1)), reshaped((4, 3), -1)
    ((2, 6), (12,))
    """
    asked = wanted if isinstance(wanted, tuple | list) else (wanted,)
    lengths = [whole(length, "shape") for length in asked]
    have, rest = math.prod(shape), math.prod(length for length in lengths if length != -1)
    if min(lengths, default=0) < -1 or lengths.count(-1) > 1:
        raise ShapeError(f"one length of a shape may be -1, and this is {lengths}")
    if -1 in lengths and rest and have % rest == 0:
        lengths[lengths.index(-1)] = have // rest
        rest = have
    if rest != have or -1 in lengths:
        text = f"{describe(shape)} has {have} elements, which do not fit into {list(asked)}"
        raise ShapeError(text.replace(".0", ""))
    return tuple(lengths)


def need(kind: str, shape: Shape, hint: str | None = None) -> ShapeError:
    """The error for a shape of the wrong kind.

    It does not name the function: the code that binds the arguments adds the name and the place.
    """
    return ShapeError(f"{kind} is needed, and this is {describe(shape)}", hint)
