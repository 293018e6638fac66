"""What all kernels share: the type of arrays, axes, and NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dropcheck.vocabulary.shapes import normalise_axes

Array = NDArray[Any]
"""Per-draw shape first, the axis of draws last (length 1 where nothing is random)."""


class KernelError(ValueError):
    """A value that a function cannot take, such as an index that is not whole; one sentence."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def floats(x: Array) -> Array:
    """The array as float64, truths as 1 and 0."""
    return x if x.dtype == np.float64 else x.astype(np.float64)


def axes_of(x: Array, axis: Any) -> tuple[int, ...]:
    """Which axes of the array are meant: per-draw axes count from the left as they stand."""
    return normalise_axes(axis, x.shape[:-1])


def has_nan(x: Array) -> bool:
    """Whether any element is NaN; the minimum tells in one quick pass, with no temporary."""
    return x.dtype != np.bool_ and x.size > 0 and bool(np.isnan(x.min()))


def single_axis(x: Array, axis: Any) -> tuple[Array, int]:
    """The array with its chosen axes made into one, and where that one stands."""
    axes = axes_of(x, axis)
    if len(axes) == 1:
        return x, axes[0]
    kept = [at for at in range(x.ndim - 1) if at not in axes]
    moved = x.transpose(*kept, *axes, x.ndim - 1)
    merged = moved.reshape(*(x.shape[at] for at in kept), -1, x.shape[-1])
    return merged, len(kept)


def spoil(result: Array, x: Array, axis: int, keepdims: bool = True) -> Array:
    """The result as float64, NaN along every line of x that holds one."""
    result = floats(result)
    if has_nan(x):
        unknown = np.isnan(x).any(axis=axis, keepdims=keepdims)
        result = np.where(unknown, np.nan, result)
    return result
