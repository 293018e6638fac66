"""What one draw of a quantity costs, from shapes alone: memory and rough nanoseconds on one core.

The figures are good to a factor of a few. They bound what a claim may ask for before anything is
drawn, and they plan spans and default budgets; no result depends on them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dropcheck.vocabulary.entries import Shape
from dropcheck.vocabulary.function_table import called
from dropcheck.vocabulary.law import Law

# One draw may take two seconds: then ten draws, of the thousands that a verdict takes, fill the
# budget that a case has by default. What is fixed is worked out once, and may take ten.
MOST_WORK = 2e9
MOST_FIXED_WORK = 1e10

# Code of one's own, a draw: a guess, so that the default budget depends on no machine.
_SAMPLE_COST = 1000.0
_SAMPLE_ELEMENT_COST = 40.0
_CHEAP = frozenset(
    {
        *("+", "-", "*", "/", "negative", "==", "!=", "<", "<=", ">", ">="),
        *("and", "or", "not", "conditional", "subscript"),
    }
)
# Only another way to look at what is there.
_VIEWS = frozenset({"subscript", "transpose"})
_SORTS = frozenset({"sort", "argsort", "median", "quantile"})
_LINEAR_ALGEBRA = frozenset({"inv", "solve", "det", "qr_q", "cholesky", "eigvalsh"})
# From this side on a product or a decomposition runs in blocks, at a fraction of the cost a step.
_BLOCKED = 64
_PRODUCT_SHARE = 0.1
_DECOMPOSITION_SHARE = 0.4


def most_elements(memory: int) -> int:
    """How many numbers of 8 bytes all quantities of one draw together may have.

    What is fixed may have as many again.

    >>> most_elements(2**30)
    67108864
    """
    return memory // 16


def elements(operation: str, shape: Shape) -> int:
    """How many numbers a quantity of this shape holds of its own."""
    return 0 if operation in _VIEWS else math.prod(shape)


def draw_cost(law: Law | None, shape: Shape) -> float:
    """Nanoseconds to draw an array of this shape, from a law or by code of one's own."""
    return (
        _SAMPLE_COST + _SAMPLE_ELEMENT_COST * math.prod(shape)
        if law is None
        else law.draw_cost(shape)
    )


def work(operation: str, shape: Shape, inputs: Sequence[Shape]) -> float:
    """Nanoseconds of one operation for one draw.

    Args:
        operation: an operator of the language, or the full name of a kernel.
        shape: that of the result.
        inputs: the shapes of what goes in.

    >>> work("+", (100,), [(100,), ()])
    100.0
    """
    count = float(math.prod(shape))
    if operation in _CHEAP:
        return count
    name = called(operation)
    read = float(sum(map(math.prod, inputs)))
    if name == "matmul":
        inner = (inputs[0] or (1,))[-1]
        sides = (inner, *(side[-2] if len(side) > 1 else 1 for side in (inputs[0], shape)))
        return count * inner * _share(min(sides), _PRODUCT_SHARE) + read
    if name in _LINEAR_ALGEBRA:
        side = (inputs[0] or (1,))[-1]
        return 500.0 + read * side * _share(side, _DECOMPOSITION_SHARE)
    if name in _SORTS:
        return 60.0 * read
    return 10.0 * count + 3.0 * read


def _share(side: int, blocked: float) -> float:
    return blocked if side >= _BLOCKED else 1.0
