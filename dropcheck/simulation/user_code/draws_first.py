"""From draws on the last axis, as programs have them, to draws on the first, as code has.

numpy copies a transpose number by number. Where the rows are a power of two apart, as spans of
draws are, all numbers of a column fall into the same few lines of the cache, and each costs ten
times what it would (Hill and Smith, Evaluating associativity in CPU caches, 1989). So blocks go
through a buffer whose rows are not.
"""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt

from dropcheck.vocabulary.function import Array

BLOCK = 256  # columns: with less, calls of numpy cost more; with more, a block leaves the cache
PADDING = 16  # numbers that a row of the buffer is longer than its block


def draws_first(values: Array, dtype: npt.DTypeLike) -> Array:
    """[*shape, draws] → [draws, *shape], contiguous, of another type.

    >>> draws_first(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "float32").tolist()
    [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    """
    first = values.transpose(-1, *range(values.ndim - 1))
    if first.flags.c_contiguous:  # they come first in memory
        return first.astype(dtype)
    *shape, draws = values.shape
    return _transposed(values.reshape(prod(shape), draws), dtype).reshape(draws, *shape)


def _transposed(values: Array, dtype: npt.DTypeLike) -> Array:
    """The transpose of a table, of another type."""
    rows, columns = values.shape
    result = np.empty((columns, rows), dtype)
    if rows >= columns:  # the longer side is cut into blocks
        buffer = np.empty((BLOCK, columns + PADDING), values.dtype)
        for start in range(0, rows, BLOCK):
            block = values[start : start + BLOCK]
            buffer[: len(block), :columns] = block
            result[:, start : start + BLOCK] = buffer[: len(block), :columns].T
        return result
    buffer = np.empty((rows, BLOCK + PADDING), dtype)
    for start in range(0, columns, BLOCK):
        block = values[:, start : start + BLOCK]
        buffer[:, : block.shape[1]] = block
        result[start : start + BLOCK] = buffer[:, : block.shape[1]].T
    return result
