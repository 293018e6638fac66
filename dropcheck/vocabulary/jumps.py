"""Where functions jump, and which exact arguments rounding may have moved off a jump.

A rule takes the arguments of a function, and a bound of the rounding error of each. An argument
that is within its rounding error of a jump is moved to the jump. This is right where the exact
values are few and far apart, as the multiples of a tenth are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Arrays = list[NDArray[np.float64]]
JumpRule = Callable[[Arrays, Arrays], tuple[Arrays, Arrays]]
"""Takes arguments and bounds of their rounding errors; returns both, with arguments moved to jumps.
"""

# With an error bound this large an argument is not moved: another jump may be as near.
LARGEST_BOUND = 0.125


def _moved(values: Arrays, errors: Arrays, at: int, place: NDArray[np.float64]) -> bool:
    """Move the elements of argument `at` that are near a place to it; whether any moved."""
    value, error = values[at], errors[at]
    if value.dtype == np.bool_:
        return False
    near = (value != place) & (np.abs(value - place) <= error) & (error < LARGEST_BOUND)
    if not near.any():
        return False
    values[at], errors[at] = np.where(near, place, value), np.where(near, 0.0, error)
    return True


def whole(values: Arrays, errors: Arrays) -> tuple[Arrays, Arrays]:
    """The rule for jumps at whole numbers and at the halves between them."""
    values, errors = list(values), list(errors)
    for at, value in enumerate(values):
        _moved(values, errors, at, np.rint(2.0 * value) / 2.0)
    return values, errors


@dataclass(frozen=True, slots=True)
class AtZero:
    """The rule for a jump at 0 in the arguments at these places; in all if no place is named."""

    places: tuple[int, ...] = ()

    def __call__(self, values: Arrays, errors: Arrays) -> tuple[Arrays, Arrays]:
        """The rule itself."""
        values, errors = list(values), list(errors)
        for at in self.places or range(len(values)):
            _moved(values, errors, at, np.zeros(1))
        return values, errors


def equal(values: Arrays, errors: Arrays) -> tuple[Arrays, Arrays]:
    """The rule for a jump where two arguments are equal."""
    a, b = (value.astype(np.float64, copy=False) for value in values)
    apart = np.abs(a - b)
    near = (apart > 0) & (apart <= errors[0] + errors[1]) & np.isfinite(apart)
    if not near.any():
        return values, errors
    return [np.where(near, b, a), b], [np.where(near, 0.0, error) for error in errors]


def whole_quotient(values: Arrays, errors: Arrays) -> tuple[Arrays, Arrays]:
    """The rule for jumps where the first argument is a whole multiple of the second.

    There the arguments become the exact quotient and 1.
    """
    a, b = values
    times = np.rint(a / b)
    error = errors[0] + np.abs(times) * errors[1]
    near = (np.abs(a - times * b) <= error) & (error < LARGEST_BOUND * np.abs(b))
    if not near.any():
        return values, errors
    return [np.where(near, times, a), np.where(near, 1.0, b)], [
        np.where(near, 0.0, error) for error in errors
    ]


def nearer(values: Arrays, errors: Arrays) -> tuple[Arrays, Arrays]:
    """The rule for a jump at some distance of two arguments: they move nearer by their rounding."""
    a, b = values
    slack = errors[0] + errors[1] + 2.0**-50 * np.maximum(np.abs(a), np.abs(b))
    moved = a + np.clip(b - a, -slack, slack)
    return [np.where(np.isfinite(a) & np.isfinite(b), moved, a), b], errors  # infinity is exact


def ranks(values: Arrays, errors: Arrays) -> tuple[Arrays, Arrays]:
    """The rule for jumps where two elements are equal: each element becomes its rank.

    Elements that may be equal get the same rank.
    """
    (x,), (error,) = values, errors
    flat = x.reshape(-1, x.shape[-1])
    order = np.argsort(flat, axis=0, kind="stable")
    lines = np.take_along_axis(flat, order, axis=0)
    bounds = np.broadcast_to(error, x.shape).reshape(flat.shape)
    bounds = np.take_along_axis(bounds, order, axis=0)
    above = np.ones(flat.shape)
    above[1:] = (lines[1:] != lines[:-1]) & ~(lines[1:] - lines[:-1] <= bounds[1:] + bounds[:-1])
    numbers = np.empty(flat.shape)
    np.put_along_axis(numbers, order, np.cumsum(above, axis=0), axis=0)
    return [np.where(np.isnan(x), x, numbers.reshape(x.shape))], [np.zeros(1)]
