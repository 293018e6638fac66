"""Every function of the language: its parameters, shape rule and kernel.

Where the text of a claim leaves a choice, this is the one made:

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

from dropcheck.vocabulary.array_functions import ARRAY_FUNCTIONS
from dropcheck.vocabulary.entries import Function
from dropcheck.vocabulary.number_functions import NUMBER_FUNCTIONS

FUNCTIONS: dict[str, Function] = {
    function.name: function for function in (*NUMBER_FUNCTIONS, *ARRAY_FUNCTIONS)
}
"""Every function by its name; `density` and `logdensity`, which take a law, are not among them."""

_BY_KERNEL = {function.kernel: name for name, function in FUNCTIONS.items()}


def called(operation: str) -> str:
    """What an operation is called in the language: the function of a kernel, else itself.

    >>> called("kernels.largest"), called("+")
    ('max', '+')
    """
    return _BY_KERNEL.get(operation, operation)
