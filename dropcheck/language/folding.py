"""Operations of the language on arrays, for draws and for what is fixed.

Arrays have the axis of draws last, of length 1 where nothing is random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dropcheck.language.graph import Plain, Value, thawed
from dropcheck.vocabulary.function import Array, Function, Kernel
from dropcheck.vocabulary.law import Law, argument_problem

# Numbers on one side of a batch from which on a call a batch costs less than a copy of the sides
# (measured: from 2,000 on; at 65,000 the product takes half of the time).
LARGE_SIDE = 4096


def crossed_product(left: Array, right: Array, batches: int) -> Array:
    """The product of every left side with every right side of the same batch.

    Args:
        left: [d, g·a] or [n, d, g·a]: g batches of a vectors, or of a matrices.
        right: [d, g·b] or [d, m, g·b].
        batches: g.

    Returns:
        [g·a·b], [n, g·a·b], [m, g·a·b] or [n, m, g·a·b]: batch after batch, in each pair (i, j) at
        i·b + j.
    """
    g = batches
    a, b = left.shape[-1] // g, right.shape[-1] // g
    d = left.shape[-2]
    rows, columns = left.shape[:-2], right.shape[1:-1]
    n, m = rows[0] if rows else 1, columns[0] if columns else 1
    if not rows and not columns and d * min(a, b) >= LARGE_SIDE:
        numbers = np.empty((g, a, b))
        for batch in range(g):  # both sides are read where they lie
            lower, upper = left[:, batch * a : (batch + 1) * a], right[:, batch * b :][:, :b]
            np.matmul(lower.T, upper, out=numbers[batch])
        return numbers.reshape(g * a * b)
    lefts = left.reshape(n, d, g, a).transpose(2, 0, 3, 1).reshape(g, n * a, d)
    rights = right.reshape(d, m, g, b).transpose(2, 0, 1, 3).reshape(g, d, m * b)
    # matrix products of views fall back on a loop that is fifty times slower
    lefts, rights = np.ascontiguousarray(lefts), np.ascontiguousarray(rights)
    products = np.matmul(lefts, rights).reshape(g, n, a, m, b)
    pairs: Array = products.transpose(1, 3, 0, 2, 4).reshape(*rows, *columns, g * a * b)
    return pairs


def kernel_of(value: Value) -> Kernel:
    """What computes a value from its inputs, with the options that it is written with."""
    kernel = value.function.kernel
    if not value.options:
        return kernel
    return partial(kernel, **{name: thawed(option) for name, option in value.options})


def number(array: Array) -> Array:
    """Truths as the numbers 1 and 0, everything else as it is."""
    return array.astype(np.float64) if array.dtype == np.bool_ else array


def fixed_array(value: Plain) -> Array:
    """A number or nested tuples as an array with an axis of draws."""
    return np.asarray(value, dtype=np.float64)[..., np.newaxis]


def folded(function: Function, constants: Sequence[Array], options: Mapping[str, Any]) -> Array:
    """The result of a function of fixed arrays, by the kernel that draws go through too.

    Raises:
        KernelError: of a value that the function cannot take.
    """
    values = constants if function.takes_truth else [number(value) for value in constants]
    with np.errstate(all="ignore"):
        return function.kernel(*values, **options)


def fixed_argument_problem(law: Law, arguments: Sequence[Value]) -> str | None:
    """What keeps fixed values from being the arguments of a law, or None."""
    return argument_problem(law, [number(argument.constant) for argument in arguments])
