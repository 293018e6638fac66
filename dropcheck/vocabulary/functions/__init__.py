"""Every function and sign of the language by its name, and their other names elsewhere.

Where other libraries differ, the language has these conventions:

* "over the elements of one draw" needs an array: `mean` of a single number is an error.
* `take(x, i)` picks along the first axis: elements of a vector, rows of a matrix. Negative
  indices count from the end.
* `stack` makes a new last axis unless `axis` says otherwise (a list literal makes a first one).
* `norm` is the vector norm of all elements along the axes, of a matrix (`axis=[0, 1]`) too.
* `qr_q` is the one Q whose R has a positive diagonal, so that a Gaussian matrix yields a
  uniformly distributed (Haar) one.
* `isclose` is symmetric, as `math.isclose` is: rtol 1e-9, atol 1e-12.
* `comb` and `factorial` of numbers that are not whole are NaN.
"""

from __future__ import annotations

import copyreg

from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions import (
    arrays,
    elementwise,
    linear_algebra,
    of_laws,
    reductions,
    truths,
)


def _by_name(*families: tuple[Function, ...]) -> dict[str, Function]:
    return {function.name: function for family in families for function in family}


FUNCTIONS_OF_NUMBERS = _by_name(elementwise.NUMBERS, truths.NUMBERS)
FUNCTIONS_OF_ARRAYS = _by_name(
    reductions.ARRAYS,
    truths.ARRAYS,
    linear_algebra.ARRAYS,
    arrays.REARRANGING,
    arrays.ARRAYS,
    arrays.FIXED,
)
FUNCTIONS = {**FUNCTIONS_OF_NUMBERS, **FUNCTIONS_OF_ARRAYS}
"""Functions that are called by their names and take quantities."""

OF_LAWS = _by_name(of_laws.ALL)
"""Functions that are called by their names and take a law first."""

SIGNS = _by_name(elementwise.ARITHMETIC_SIGNS, truths.SIGNS, linear_algebra.SIGNS, arrays.SIGNS)
"""Functions that are written as signs or with brackets."""


def operation(name: str) -> Function:
    """The function or sign of a name.

    Raises:
        KeyError: there is none.

    >>> operation("max").signature, operation("matmul").usage
    ('max(x, axis=…, keepdims=0)', 'a @ b')
    """
    return _ALL[name]


_ALL = {**OF_LAWS, **SIGNS, **FUNCTIONS}


copyreg.pickle(Function, lambda one: (operation, (one.name,)))  # it is sent as its name
