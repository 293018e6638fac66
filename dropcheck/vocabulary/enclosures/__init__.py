"""Functions of the language applied to enclosures, and the numbers with which all of them begin."""

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
    """Numbers that are known to within half-widths: one element for each, [terms].

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
    """A function of enclosures and known arrays, of which one at least is an enclosure.

    Its own kernel is asked first: what is made of numpy's functions works on enclosures too. What
    moves elements or adds them up does so with every part of them. Of all others the interval of
    the values is known by the rules that the entry has for intervals.

    Args:
        function: the entry.
        compute: its kernel with the options in place.
        inputs: arrays of the shape [*shape, 1], and enclosures.
    """
    found: Any = None
    with suppress(TypeError, AttributeError):  # where there is no rule for a part of it
        found = compute(*inputs)
    if isinstance(found, Affine):
        return found
    if function.of_shape:
        return enclosed(found, inputs[0].box)
    box = next(one.box for one in inputs if isinstance(one, Affine))
    operands = [enclosed(one, box) for one in inputs]
    if function.moves:
        return by_parts(compute, *operands)
    return _by_interval(function, compute, operands)


def _by_interval(function: Function, compute: Kernel, operands: Sequence[Affine]) -> Affine:
    """The interval of the values, by the rules of the entry; everything where one can be that."""
    same = len(operands) == 2 and operands[0] is operands[1]
    value = np.asarray(compute(*(one.value for one in operands)), np.float64)
    if any(one.everything.any() for one in operands):
        low, high = -math.inf, math.inf
    elif function.ranges is not None and function.by_element:
        found = function.ranges([_cells(one, value.shape) for one in operands], compute, same)
        return between(
            value, found.low.reshape(value.shape), found.high.reshape(value.shape), operands[0].box
        )
    else:
        hulls = [Hull(float(one.low.min()), float(one.high.max())) for one in operands]
        shapes = tuple(one.shape[:-1] for one in operands)
        hull = function.bounds(hulls, Use(compute, value.shape[:-1], shapes, same))
        low, high = hull.low, hull.high
    return between(value, np.full_like(value, low), np.full_like(value, high), operands[0].box)


def _cells(one: Affine, shape: tuple[int, ...]) -> Ranges:
    """The interval of each element, as the rules take it."""
    low, high = (np.broadcast_to(end, shape).ravel() for end in (one.low, one.high))
    return Ranges(low, high, np.zeros((2, len(low))))
