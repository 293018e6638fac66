"""Operations of the language on arrays, for draws and for what is fixed.

Arrays have the axis of draws last, of length 1 where nothing is random.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dropcheck.language.graph import Plain, Value, thawed
from dropcheck.vocabulary import kernels
from dropcheck.vocabulary.law import Law, argument_problem
from dropcheck.vocabulary.laws import LAWS

Array = npt.NDArray[Any]
Kernel = Callable[..., Array]


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


COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})

# Values nearer than this, relative to the larger, tie as far as rounding can tell.
TIE = 1e-12


def nearly_tied(a: Array, b: Array) -> Array:
    """Where two arrays differ, but by no more than rounding could have made them.

    An infinity is no rounding of anything, though any distance is a small share of it.
    """
    apart = np.abs(a - b)
    near = apart <= TIE * np.maximum(np.abs(a), np.abs(b))
    tied: Array = (apart > 0) & np.isfinite(apart) & near
    return tied


def _favoured(favour: str, sign: str, a: Array, b: Array) -> Array:
    """A comparison that takes near ties in favour of true ("near") or of false ("far")."""
    plain = kernels.compare(sign, a, b)
    wrong = plain == 0 if favour == "near" else plain == 1
    if not wrong.any():
        return plain
    tied = wrong & nearly_tied(a, b)
    return np.where(tied, favour == "near", plain) if tied.any() else plain


def _density(*values: Array, law: str) -> Array:
    return LAWS[law].density(values[:-1], values[-1])


def _log_density(*values: Array, law: str) -> Array:
    return LAWS[law].log_density(values[:-1], values[-1])


@cache
def kernel(operation: str) -> Kernel:
    """What computes an operation: an operator of the language or a kernel by its full name."""
    match operation:
        case "+":
            return np.add
        case "-":
            return np.subtract
        case "*":
            return np.multiply
        case "/":
            return np.divide
        case "negative":
            return np.negative
        case "==" | "!=" | "<" | "<=" | ">" | ">=":
            return partial(kernels.compare, operation)
        case _ if operation.startswith(("near ", "far ")):
            favour, sign = operation.split()
            return partial(_favoured, favour, sign)
        case "density":
            return _density
        case "logdensity":
            return _log_density
        case _:
            if operation in _OWN:
                return cast("Kernel", getattr(kernels, _OWN[operation]))
            return cast("Kernel", kernels.resolve(operation))


_OWN = {
    "//": "floor_divide",
    "%": "modulo",
    "**": "power",
    "and": "logical_and",
    "or": "logical_or",
    "not": "logical_not",
    "conditional": "conditional",
    "matmul": "matmul",
    "transpose": "transpose",
    "subscript": "subscript",
    "array": "array_of",
}


def kernel_of(value: Value) -> Kernel:
    """What computes a value from its inputs, with the options that it is written with."""
    plain = kernel(value.operation)
    if not value.options:
        return plain
    return partial(plain, **{name: thawed(option) for name, option in value.options})


def number(array: Array) -> Array:
    """Truths as the numbers 1 and 0, everything else as it is."""
    return array.astype(np.float64) if array.dtype == np.bool_ else array


def fixed_array(value: Plain) -> Array:
    """A number or nested tuples as an array with an axis of draws."""
    return np.asarray(value, dtype=np.float64)[..., np.newaxis]


def folded(
    operation: str, constants: Sequence[Array], options: Mapping[str, Any], *, takes_truth: bool
) -> Array:
    """The result of an operation on fixed arrays, by the kernel that draws go through too.

    Raises:
        KernelError: of a value that the operation cannot take.
    """
    values = constants if takes_truth else [number(value) for value in constants]
    with np.errstate(all="ignore"):
        return kernel(operation)(*values, **options)


def fixed_argument_problem(law: Law, arguments: Sequence[Value]) -> str | None:
    """What keeps fixed values from being the arguments of a law, or None."""
    return argument_problem(law, [number(argument.constant) for argument in arguments])
