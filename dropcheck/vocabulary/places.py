"""Where the elements of a result come from, for functions that only move elements.

A function that moves elements is applied to arrays of places in place of numbers, one for each axis
of its argument: so what it does is read off its kernel, and needs no rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dropcheck.vocabulary.function import Array, Kernel
from dropcheck.vocabulary.shapes import Shape

LARGEST_MOVED = 4_000_000  # the most elements of a result


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """The elements of a result that come from one argument, and from where there.

    `axes` has for each axis of the argument the axes of the result that its places depend on, and
    these places, [length of each of these axes]. `kept` is 1 for elements of this argument and 0
    for others; it has length 1 along axes on which it does not vary.
    """

    shape: Shape
    axes: tuple[tuple[tuple[int, ...], NDArray[np.intp]], ...]
    kept: Array


def origin(kernel: Kernel, arguments: Sequence[Any], at: int) -> Origin:
    """Where the elements that a function takes from one argument stand in it.

    Args:
        kernel: moves elements, each to any number of places, or puts 0 where there is none.
        arguments: its arguments; arrays of the right shape will do for those that it moves.
        at: the place of the argument.

    Raises:
        ValueError: the result is too large, or the function does more than that.

    >>> found = origin(np.transpose, [np.zeros((2, 3))], 0)
    >>> found.shape, [(axes, places.tolist()) for axes, places in found.axes]
    ((3, 2), [((1,), [0, 1]), ((0,), [0, 1, 2])])
    """
    shape = arguments[at].shape
    others = list(arguments)
    others[at] = np.broadcast_to(0.0, shape)
    fixed = kernel(*others)  # the numbers of other arguments are no places

    def moved() -> Array:
        result = kernel(*others)
        return result - fixed if fixed.any() else result

    numbered = []
    for axis in range(len(shape)) if math.prod(shape) > 1 else ():
        places = np.arange(1.0, shape[axis] + 1.0).reshape(
            [-1 if one == axis else 1 for one in range(len(shape))]
        )
        others[at] = np.broadcast_to(places, shape)
        numbered.append(moved())
    if not numbered:
        others[at] = np.ones(shape)
        first = moved()
        return Origin(first.shape, ((((), np.zeros((), np.intp)),) * len(shape)), _narrow(first)[0])
    result = numbered[0].shape
    kept, _ = _narrow(np.asarray(numbered[0] != 0, dtype=np.float64))
    return Origin(result, tuple(map(_places, numbered, shape)), kept)


def _places(numbered: Array, most: int) -> tuple[tuple[int, ...], NDArray[np.intp]]:
    """The axes on which numbers 1 … `most` depend, and the numbers from 0 on; 0 may be any."""
    narrow, varying = _narrow(numbered)
    gaps = narrow == 0
    if gaps.any():  # what stands there does not matter: choose it so that fewer axes count
        for kept in ((), *((axis,) for axis in varying)):
            others = tuple(axis for axis in range(narrow.ndim) if axis not in kept)
            line = narrow.max(axis=others, keepdims=True)
            if (gaps | (narrow == line)).all():
                own = np.arange(1.0, line.size + 1.0).reshape(line.shape)
                narrow = np.where(line == 0, np.minimum(own, most), line)
                varying = kept
                break
        else:
            narrow = np.where(gaps, 1.0, narrow)
    if (narrow != np.clip(np.rint(narrow), 1, most)).any():
        raise ValueError  # these are no places
    places = narrow.reshape([narrow.shape[axis] for axis in varying])
    return varying, places.astype(np.intp) - 1


def _narrow(array: Array) -> tuple[Array, tuple[int, ...]]:
    """An array of length 1 along axes on which it does not vary, and the other axes."""
    still = tuple(slice(None) if step else slice(1) for step in array.strides)
    array = array[still] if array.size else array
    if array.size > LARGEST_MOVED:
        raise ValueError
    varying = []
    for axis, length in enumerate(array.shape):
        first = array.take([0], axis) if length else array
        if length > 1 and (array != first).any():
            varying.append(axis)
        else:
            array = first
    return array, tuple(varying)
