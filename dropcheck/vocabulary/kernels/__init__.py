"""What computes the functions and operators of the language, on whole blocks of draws.

Arrays have the per-draw shape first and the axis of draws last; `axis` and the like speak of one
draw. Kernels take the values in order, then the options by name. Inputs that `takes_truth` does
not cover are float64. The caller silences numpy's floating-point warnings.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from dropcheck.vocabulary.kernels import (
    array_kernels as arrays,
)
from dropcheck.vocabulary.kernels import (
    elementwise,
    linear_algebra,
    reductions,
    truths,
)
from dropcheck.vocabulary.kernels.array_kernels import array_of, subscript, transpose
from dropcheck.vocabulary.kernels.common import Array, KernelError
from dropcheck.vocabulary.kernels.elementwise import floor_divide, modulo, power
from dropcheck.vocabulary.kernels.linear_algebra import matmul
from dropcheck.vocabulary.kernels.truths import (
    compare,
    conditional,
    logical_and,
    logical_not,
    logical_or,
)

__all__ = [
    "Array",
    "KernelError",
    "array_of",
    "compare",
    "conditional",
    "floor_divide",
    "logical_and",
    "logical_not",
    "logical_or",
    "matmul",
    "modulo",
    "power",
    "resolve",
    "subscript",
    "transpose",
]

_FAMILIES = (elementwise, truths, reductions, arrays, linear_algebra)


@cache
def resolve(kernel: str) -> Callable[..., Any]:
    """What a kernel's name in the vocabulary stands for; scipy is imported here, when needed.

    Args:
        kernel: "numpy.sqrt", "scipy.special.erf" or, for our own, "kernels.softmax".

    Returns:
        A function of draws-last arrays.

    Raises:
        LookupError: no such kernel.

    >>> import numpy as np
    >>> resolve("kernels.relu")(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    module, _, name = kernel.rpartition(".")
    if module == "kernels":
        families = [family for family in _FAMILIES if hasattr(family, name)]
        places: list[Any] = families
    elif module in ("numpy", "scipy.special"):
        places = [import_module(module)]
    else:
        places = []
    for place in places:
        found = getattr(place, name, None)
        if callable(found):
            return found  # type: ignore[no-any-return]  # a kernel, by its name
    raise LookupError(f"there is no kernel {kernel!r}")
