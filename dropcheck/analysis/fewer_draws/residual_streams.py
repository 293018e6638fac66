"""Residual streams, `x = x + W @ x`, of which only the lengths are used.

Let h be a vector and T = ‖h‖ · v, where v is independent of h and its law is the same in all
directions. Rotating both until h points along e = (1, 0, …, 0) shows that ‖h + T‖ has the law of
‖h‖ · ‖e + v‖, whatever the direction of h (Muirhead 1982, theorem 1.5.4). So h · ‖e + v‖ can
replace h + T if only lengths are used, as by the next such product. The direction of one stream may
be used if the law of the first stream is the same in all directions: then its direction is
independent of all lengths.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from dropcheck.language.graph import Value
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions.elementwise import (
    ADD,
    DIVIDE,
    MULTIPLY,
    NEGATIVE,
    POWER,
    SUBTRACT,
)
from dropcheck.vocabulary.functions.linear_algebra import MATMUL
from dropcheck.vocabulary.functions.reductions import MEAN, NORM, SUM

ResidualSums = Mapping[int, tuple[Value, Value]]
"""A stream and the branch that is added to it, by the id of their sum."""
MatrixProducts = Mapping[int, tuple[Value, Value]]
"""A matrix and the vector that it is multiplied with, by the id of their product."""


def residual_sums(
    values: Sequence[Value], takers: Mapping[int, int], products: MatrixProducts
) -> dict[int, tuple[Value, Value]]:
    """The sums of a vector and a branch: a multiple of such a product, which has no other use."""
    sums: dict[int, tuple[Value, Value]] = {}
    for value in values:
        if not _is(value, ADD, SUBTRACT) or len(value.shape) != 1:
            continue
        for stream, branch in (value.inputs, value.inputs[::-1]):
            alike = stream.random and stream.shape == branch.shape
            if alike and _ends_in_product(branch, takers, products):
                sums[id(value)] = stream, branch
                break
    return sums


def _ends_in_product(
    branch: Value | None, takers: Mapping[int, int], products: MatrixProducts
) -> bool:
    while branch is not None and takers[id(branch)] == 1:
        if id(branch) in products:
            return True
        branch = scaled_vector(branch)
    return False


def scaled_vector(value: Value) -> Value | None:
    """The vector of which a value is a multiple; None if it is no multiple of a vector."""
    if _is(value, NEGATIVE):
        return value.inputs[0]
    if _is(value, MULTIPLY, DIVIDE):
        first, second = value.inputs
        if second.shape == ():
            return first
        if first.shape == () and value.function is MULTIPLY:
            return second
    return None


def only_lengths_matter(
    values: Sequence[Value],
    operands: Sequence[Value],
    products: MatrixProducts,
    sums: ResidualSums,
    is_isotropic: Callable[[Value], bool],
) -> bool:
    """Whether no stream's direction is used, or only that of one whose start is isotropic."""
    takers: dict[int, list[Value]] = defaultdict(list)
    for value in values:
        for below in value.inputs:
            takers[id(below)].append(value)
    uses = _Uses(takers, set(map(id, operands)), products, sums)
    by_first: dict[int, list[Value]] = defaultdict(list)
    for value in values:
        if id(value) in sums:
            first = _first_of(value, sums)
            by_first[id(first)] = by_first[id(first)] or [first]
            by_first[id(first)].append(value)
    for first, *others in by_first.values():
        used = sum(map(uses.of_direction, others))
        if used and not (used == 1 and is_isotropic(first) and not uses.of_direction(first)):
            return False
    return True


class _Uses:
    """The uses of vectors in a graph."""

    def __init__(
        self,
        takers: Mapping[int, Sequence[Value]],
        operands: Collection[int],
        products: MatrixProducts,
        sums: ResidualSums,
    ) -> None:
        self._takers, self._operands = takers, operands
        self._products, self._sums = products, sums

    def of_direction(self, vector: Value) -> bool:
        """Whether more of a vector is used than its length."""
        if id(vector) in self._operands:
            return True
        return any(self._uses_direction(taker, vector) for taker in self._takers[id(vector)])

    def _uses_direction(self, taker: Value, vector: Value) -> bool:
        if id(taker) in self._sums and self._sums[id(taker)][0] is vector:
            return False
        if self._meets_matrix(taker, vector) or _is_length(taker, vector):
            return False
        if _is_square(taker):
            return any(
                not (_is(one, SUM, MEAN) and one.shape == ()) for one in self._takers[id(taker)]
            )
        return scaled_vector(taker) is not vector or self.of_direction(taker)

    def _meets_matrix(self, taker: Value, vector: Value) -> bool:
        above = [taker] if id(taker) in self._products else self._takers[id(taker)]
        return bool(above) and all(
            id(one) in self._products and self._products[id(one)][1] is vector for one in above
        )


def _first_of(value: Value, sums: ResidualSums) -> Value:
    """The vector with which a stream begins."""
    while id(value) in sums:
        value = sums[id(value)][0]
        while id(value) not in sums and (below := scaled_vector(value)) is not None:
            value = below
    return value


def _is_length(value: Value, vector: Value) -> bool:
    if _is(value, MATMUL):
        return value.inputs[0] is value.inputs[1]
    plain = dict(value.options).get("ord", 2.0) == 2.0
    return _is(value, NORM) and value.shape == () and plain and value.inputs[0] is vector


def _is_square(value: Value) -> bool:
    if _is(value, MULTIPLY):
        return value.inputs[0] is value.inputs[1]
    return _is(value, POWER) and value.inputs[1].known == 2.0


def _is(value: Value, *functions: Function) -> bool:
    return value.random and value.computed_by(*functions)
