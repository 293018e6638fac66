"""Enclosures of numbers known to within half-widths, and functions applied to enclosures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

import dropcheck.vocabulary.enclosures.curves  # noqa: F401 — which completes the rules
from dropcheck.array_types import Floats
from dropcheck.vocabulary.enclosures.affine import Affine, between, by_parts, enclosed, made
from dropcheck.vocabulary.function import Function, Kernel
from dropcheck.vocabulary.hulls import Hull, Use
from dropcheck.vocabulary.smoothness.ranges import Ranges

__all__ = ["Affine", "applied", "over"]


def over(centre: Floats, half_widths: Floats) -> Affine:
    """The enclosure of numbers that are known to within half-widths, [terms].

    >>> x, y = over(np.array([3.0, 2.0]), np.array([0.1, 0.1]))
    >>> low, high = (x * y - np.exp(np.log(x) + np.log(y))).within()
    >>> -0.05 < low <= 0 <= high < 0.05
    True
    """
    value = np.asarray(centre, np.float64)[:, np.newaxis]
    box = np.asarray(half_widths, np.float64)
    zero = np.zeros_like(value)
    return made(value, np.eye(len(box)), zero, zero, None, box)


def applied(function: Function, compute: Kernel, inputs: Sequence[Any]) -> Affine:
    """The enclosure of a function of enclosures and known arrays; at least one is an enclosure.

    A kernel that is made of numpy's functions works on enclosures as it is. A function that moves
    elements or adds them up is applied to every part of the enclosures. For all others, the rules
    for intervals of the function's entry give an interval of the values.

    Args:
        function: the entry.
        compute: its kernel with the options set.
        inputs: arrays of the shape [*shape, 1], and enclosures.
    """
    result: Any = None
    with suppress(TypeError, AttributeError):  # a numpy function in it has no rule for enclosures
        result = compute(*inputs)
    if isinstance(result, Affine):
        return result
    if function.of_shape:
        return enclosed(result, inputs[0].box)
    box = next(one.box for one in inputs if isinstance(one, Affine))
    operands = [enclosed(one, box) for one in inputs]
    if function.moves:
        return by_parts(compute, *operands)
    return _by_interval(function, compute, operands)


def _by_interval(function: Function, compute: Kernel, operands: Sequence[Affine]) -> Affine:
    """The interval of the values by the rules of the entry; unknown if an operand is unknown."""
    same = len(operands) == 2 and operands[0] is operands[1]
    value = np.asarray(compute(*(one.value for one in operands)), np.float64)
    if any(one.everything.any() for one in operands):
        low, high = -math.inf, math.inf
    elif function.ranges is not None and function.by_element:
        ranges = function.ranges([_cells(one, value.shape) for one in operands], compute, same)
        least, most = (end.reshape(value.shape) for end in (ranges.low, ranges.high))
        return between(value, least, most, operands[0].box)
    else:
        hulls = [Hull(float(one.low.min()), float(one.high.max())) for one in operands]
        shapes = tuple(one.shape[:-1] for one in operands)
        hull = function.bounds(hulls, Use(compute, value.shape[:-1], shapes, same))
        low, high = hull.low, hull.high
    return between(value, np.full_like(value, low), np.full_like(value, high), operands[0].box)


def _cells(one: Affine, shape: tuple[int, ...]) -> Ranges:
    """The interval of each element, as a `Ranges` without smoothness."""
    low, high = (np.broadcast_to(end, shape).ravel() for end in (one.low, one.high))
    return Ranges(low, high, np.zeros((2, len(low))))
