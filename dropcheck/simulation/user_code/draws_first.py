"""Moves the axis of draws from the last place, as in programs, to the first, as in code.

numpy copies a transpose number by number. If the rows are a power of two apart, as in spans of
draws, all numbers of a column share a few lines of the cache, and copying each takes ten times as
long (Hill and Smith, Evaluating associativity in CPU caches, 1989). So blocks are copied through a
buffer whose rows have another length.
"""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt

from dropcheck.vocabulary.function import Array

BLOCK = 256  # columns: in smaller blocks, numpy's calls cost more; larger ones leave the cache
PADDING = 16  # numbers by which a row of the buffer is longer than a block


def draws_first(values: Array, dtype: npt.DTypeLike) -> Array:
    """From [*shape, draws] to [draws, *shape], contiguous and of another type.

    >>> draws_first(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "float32").tolist()
    [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    """
    first = values.transpose(-1, *range(values.ndim - 1))
    if first.flags.c_contiguous:  # draws come first in memory already
        return first.astype(dtype)
    *shape, draws = values.shape
    return _transposed(values.reshape(prod(shape), draws), dtype).reshape(draws, *shape)


def _transposed(values: Array, dtype: npt.DTypeLike) -> Array:
    """The transpose of a table, in another type."""
    rows, columns = values.shape
    result = np.empty((columns, rows), dtype)
    if rows >= columns:  # cut the longer side into blocks
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
