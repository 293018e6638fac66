"""Residual streams, `x = x + W @ x`: where their lengths say all that is looked at.

A vector h and T = ‖h‖ · v, of a v whose law is the same in all directions and that knows nothing of
h, may be turned together until h points along e = (1, 0, …, 0): ‖h + T‖ = ‖h‖ · ‖e + v‖ in law,
whatever direction h has (Muirhead 1982, theorem 1.5.4). So h times ‖e + v‖ stands for h + T where
only lengths are looked at, as by the next such product, or the last stream alone where the first
one has the same law in all directions, so that its direction knows nothing of any length.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from dropcheck.language.graph import Kind, Value
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
"""A stream and what is added to it, by the id of their sum."""
MatrixProducts = Mapping[int, tuple[Value, Value]]
"""A matrix and the vector that it meets, by the id of their product."""


def residual_sums(
    values: Sequence[Value], takers: Mapping[int, int], products: MatrixProducts
) -> dict[int, tuple[Value, Value]]:
    """The sums of a vector and such a product, or numbers times one, that nothing else looks at."""
    found: dict[int, tuple[Value, Value]] = {}
    for value in values:
        if not _is(value, ADD, SUBTRACT) or len(value.shape) != 1:
            continue
        for stream, branch in (value.inputs, value.inputs[::-1]):
            alike = stream.random and stream.shape == branch.shape
            if alike and _ends_in_product(branch, takers, products):
                found[id(value)] = stream, branch
                break
    return found


def _ends_in_product(
    branch: Value | None, takers: Mapping[int, int], products: MatrixProducts
) -> bool:
    while branch is not None and takers[id(branch)] == 1:
        if id(branch) in products:
            return True
        branch = scaled_vector(branch)
    return False


def scaled_vector(value: Value) -> Value | None:
    """The vector of which a value is a multiple by one number; None of other values."""
    if _is(value, NEGATIVE):
        return value.inputs[0]
    if _is(value, MULTIPLY, DIVIDE):
        first, second = value.inputs
        if second.shape == ():
            return first
        if first.shape == () and value.function is MULTIPLY:
            return second
    return None


def lengths_say_all(
    values: Sequence[Value],
    operands: Sequence[Value],
    products: MatrixProducts,
    sums: ResidualSums,
    is_isotropic: Callable[[Value], bool],
) -> bool:
    """Whether a stream's direction is looked at nowhere, or of one stream that has any alike."""
    takers: dict[int, list[Value]] = defaultdict(list)
    for value in values:
        for below in value.inputs:
            takers[id(below)].append(value)
    known = _Takers(takers, set(map(id, operands)), products, sums)
    by_first: dict[int, list[Value]] = defaultdict(list)
    for value in values:
        if id(value) in sums:
            first = _first_of(value, sums)
            by_first[id(first)] = by_first[id(first)] or [first]
            by_first[id(first)].append(value)
    for first, *others in by_first.values():
        seen = sum(map(known.see_direction, others))
        if seen and not (seen == 1 and is_isotropic(first) and not known.see_direction(first)):
            return False
    return True


class _Takers:
    """What looks at values, and at what of them."""

    def __init__(
        self,
        takers: Mapping[int, Sequence[Value]],
        operands: Collection[int],
        products: MatrixProducts,
        sums: ResidualSums,
    ) -> None:
        self._takers, self._operands = takers, operands
        self._products, self._sums = products, sums

    def see_direction(self, vector: Value) -> bool:
        """Whether anything looks at more of a vector than its length."""
        if id(vector) in self._operands:
            return True
        return any(self._sees(taker, vector) for taker in self._takers[id(vector)])

    def _sees(self, taker: Value, vector: Value) -> bool:
        if id(taker) in self._sums and self._sums[id(taker)][0] is vector:
            return False
        if self._meets_matrix(taker, vector) or _is_length(taker, vector):
            return False
        if _is_square(taker):
            return any(
                not (_is(one, SUM, MEAN) and one.shape == ()) for one in self._takers[id(taker)]
            )
        return scaled_vector(taker) is not vector or self.see_direction(taker)

    def _meets_matrix(self, taker: Value, vector: Value) -> bool:
        above = [taker] if id(taker) in self._products else self._takers[id(taker)]
        return bool(above) and all(
            id(one) in self._products and self._products[id(one)][1] is vector for one in above
        )


def _first_of(value: Value, sums: ResidualSums) -> Value:
    """The vector that a stream begins with."""
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


def _is(value: Value, *functions: object) -> bool:
    return value.random and value.kind == Kind.COMPUTED and value.function in functions
