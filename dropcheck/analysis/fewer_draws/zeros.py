"""Where a product is 0: where one of its factors is, less those that are 0 with probability 0.

`x * m == 0` of a normal x and a mask m is `m == 0`, whatever x and m have to do with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dropcheck.analysis.fewer_draws.sums import exchanged
from dropcheck.language.events import has_no_atoms
from dropcheck.language.graph import Value, computed, constant_beside
from dropcheck.vocabulary.functions.elementwise import DIVIDE, MULTIPLY, NEGATIVE
from dropcheck.vocabulary.functions.truths import AND, COMPARISONS, OR

_ZERO, _NOT_ZERO = COMPARISONS["=="], COMPARISONS["!="]


def with_zeros(
    values: Sequence[Value],
    operands: Sequence[Value],  # noqa: ARG001 - as the other rules take it
) -> Callable[[Value], Value] | None:
    """Replacements for comparisons of products with 0; None if there are none."""
    stands = {id(one): stand for one in values if (stand := _by_factors(one)) is not None}
    return exchanged(values, stands) if stands else None


def _by_factors(value: Value) -> Value | None:
    """A comparison of a product with 0, by those of its factors that may be 0."""
    if not value.computed_by(_ZERO, _NOT_ZERO) or value.inputs[1].known != 0:
        return None
    factors = _factors(value.inputs[0])
    if factors is None or len(factors) < 2:
        return None
    kept = [one for one in factors if not has_no_atoms(one)]
    if not 0 < len(kept) < len(factors):
        return None
    joined: Value | None = None
    for one in kept:
        zero = computed(value.function, one, constant_beside(one, 0.0), like=one)
        both = OR if value.function is _ZERO else AND
        joined = zero if joined is None else computed(both, joined, zero, like=value)
    return joined if joined is not None and joined.shape == value.shape else None


def _factors(value: Value) -> list[Value] | None:
    """The random factors of a product, each finite; None if a fixed one is 0 or not finite."""
    factors: list[Value] = []
    stack = [value]
    while stack:
        one = stack.pop()
        if one.constant is not None:
            if not np.isfinite(one.constant).all() or not one.constant.all():
                return None
        elif one.computed_by(MULTIPLY, NEGATIVE) or _is_share(one):
            stack += one.inputs
        else:
            factors.append(one)
    return factors


def _is_share(value: Value) -> bool:
    return value.computed_by(DIVIDE) and value.inputs[1].constant is not None
