"""Every function and sign of the language by its name, and what others call them.

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

import copyreg

from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions import (
    arrays,
    elementwise,
    linear_algebra,
    of_laws,
    rearranging,
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
    rearranging.ARRAYS,
    arrays.ARRAYS,
    arrays.FIXED,
)
FUNCTIONS = {**FUNCTIONS_OF_NUMBERS, **FUNCTIONS_OF_ARRAYS}
"""What is called by its name and takes quantities."""

OF_LAWS = _by_name(of_laws.ALL)
"""What is called by its name and takes a law first."""

SIGNS = _by_name(elementwise.SIGNS, truths.SIGNS, truths.TIED, linear_algebra.SIGNS, arrays.SIGNS)
"""What the language writes as a sign or in brackets."""


def operation(name: str) -> Function:
    """The function or sign of a name.

    Raises:
        KeyError: there is none.

    >>> operation("max").signature, operation("matmul").usage
    ('max(x, axis=-1, keepdims=0)', 'a @ b')
    """
    for table in (FUNCTIONS, SIGNS, OF_LAWS):
        if name in table:
            return table[name]
    raise KeyError(name)


copyreg.pickle(Function, lambda one: (operation, (one.name,)))  # it goes by its name


_NONE = "it is not in the vocabulary, and nothing there stands for it"
_SOFTMAX = "write z - logsumexp(z), with keepdims=1 where z has rows"
# Words of papers and libraries that no single word of the language stands for.
_OTHER_WORDS = {
    **dict.fromkeys(
        ("acosh", "arccosh", "cross_entropy", "entropy", "erfinv", "kl", "kl_div", "nll"),
        _NONE,
    ),
    **dict.fromkeys(("topk",), _NONE),
    **dict.fromkeys(("flatten", "ravel", "view"), "write reshape(x, -1), or the shape as a list"),
    "svd": "write svdvals(x) for the singular values; of x.T @ x, eigvecsh has the vectors",
    **dict.fromkeys(("ndtri", "phi_inv", "probit"), "write quantile_of(normal(0, 1), u)"),
    **dict.fromkeys(("log_softmax", "logsoftmax"), _SOFTMAX),
    "einsum": "write products as a @ b, a * b and sum(…, axis=…)",
    "exp2": "write 2**x",
    "fmod": "write a % b, which has the sign of b",
    "ifelse": "write where(c, a, b), or a if c else b",
    "indicator": "a comparison is 1 or 0 by itself: E(x > 0), P(x > 0)",
    "layernorm": "write (x - mean(x)) / std(x), with keepdims=1 where x has rows",
    "median": "of a law, m is the median where P(u <= m) == 0.5",
    "mse": "write mean((a - b)**2)",
    "pdf": "write density(law, x), or phi(x) of a standard normal",
    "quantile": "of a law, q is the quantile at level a where P(u <= q) == a",
    "rsqrt": "write 1 / sqrt(x)",
    "square": "write x**2",
}


def hint_for(name: str) -> str | None:
    """What to write in place of a name of papers and other libraries; None where none is known.

    >>> hint_for("swish"), hint_for("matmul"), hint_for("nothing")
    ('write silu(x)', 'write a @ b', None)
    """
    if name in _OTHER_WORDS:
        return _OTHER_WORDS[name]
    for function in (*FUNCTIONS.values(), *SIGNS.values(), *OF_LAWS.values()):
        if name in function.elsewhere or (name == function.name and name in SIGNS):
            return f"write {function.usage}"
    return None
