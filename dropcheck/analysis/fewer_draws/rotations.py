"""Replace the product of a normal matrix and a vector by the vector's length times a normal vector.

Let W be a matrix of independent normal entries with mean 0 and one standard deviation, and h a
vector that is independent of W. Given h, the entries of W @ h are independent and normal, with ‖h‖²
times the variance of an entry of W, whatever the direction of h (Muirhead 1982, "Aspects of
Multivariate Statistical Theory", theorem 1.5.4). So h and W @ h have the same joint law as h and
‖h‖ · g, where g has as many normal entries as W has rows. If W has no other use, g is drawn in
place of W. The same holds for a single row w, and Σ w h.

Functions that scale with their argument, as relu(s · g) = s · relu(g), pass the factor ‖h‖ on. So
the layers of a network become independent factors: their moments are multiplied, however many
layers there are.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dropcheck.analysis.fewer_draws.sums import (
    exchanged,
    made_of,
    takers_of,
)
from dropcheck.analysis.ring import is_polynomial
from dropcheck.language.graph import (
    Kind,
    Sources,
    Value,
    computed,
    constant_beside,
    joined_sources,
    ordered,
)
from dropcheck.vocabulary.function import Function, degree_of, scales_together
from dropcheck.vocabulary.functions.elementwise import (
    ADD,
    DIVIDE,
    MULTIPLY,
    POWER,
    SQRT,
)
from dropcheck.vocabulary.functions.linear_algebra import MATMUL, TRANSPOSE
from dropcheck.vocabulary.functions.reductions import SUM
from dropcheck.vocabulary.laws.continuous import NORMAL
from dropcheck.vocabulary.laws.vectors import MULTIVARIATE_NORMAL, square_root

# ---- rotations -----------------------------------------------------------------------------------


# From this many such products on, a polynomial in the entries has too many terms.
MANY_LAYERS = 4

Lengths = Mapping[int, float]
"""A product of powers of squared lengths: the exponents by the ids of the squared lengths."""


def turned(values: Sequence[Value], operands: Sequence[Value]) -> Callable[[Value], Value] | None:
    """Replacements without such matrices; None if there are none."""
    replacements = _Turned(values, operands)
    return replacements.of if replacements.products else None


class _Turned:
    """The values of a graph, each as a product of powers of lengths and the rest of the value."""

    def __init__(self, values: Sequence[Value], operands: Sequence[Value]) -> None:
        self.products = _products(values, operands)
        self._lengths: dict[int, Value] = {}  # squared lengths, by their ids
        self._squares: dict[int, Value] = {}  # squared lengths of vectors, by the vectors' ids
        self._parts: dict[int, tuple[Lengths, Value]] = {}
        self._whole: dict[int, Value] = {}
        if self.products:
            for value in values:
                self._parts[id(value)] = self._turned(value)

    def of(self, value: Value) -> Value:
        """The value that replaces a value: its lengths times the rest."""
        if id(value) not in self._whole:
            lengths, rest = self._parts[id(value)]
            self._whole[id(value)] = self._times(lengths, rest)
        return self._whole[id(value)]

    def _turned(self, value: Value) -> tuple[Lengths, Value]:
        if not (value.random or value.estimated):
            return {}, value
        if id(value) in self.products:
            return self._product(value, *self.products[id(value)])
        below = [self._parts[id(one)] for one in value.inputs]
        if value.kind == Kind.COMPUTED and any(lengths for lengths, _ in below):
            function = value.function
            lengths = _factor(function, value, [one for one, _ in below])
            if lengths:
                return lengths, self._without(value, function, lengths, below)
        return {}, made_of(value, tuple(map(self.of, value.inputs)))

    def _without(
        self,
        value: Value,
        function: Function,
        lengths: Lengths,
        below: Sequence[tuple[Lengths, Value]],
    ) -> Value:
        """A value made of its arguments without some of their lengths."""
        if not scales_together(function):
            rests = [one for _, one in below] if function.bilinear else [below[0][1]]
            return made_of(value, (*rests, *map(self.of, value.inputs[len(rests) :])))
        rests = []
        for own, rest in below:
            left = {key: power - lengths.get(key, 0.0) for key, power in own.items()}
            rests.append(self._times(left, rest))
        return made_of(value, tuple(rests))

    def _product(self, value: Value, matrix: Value, vector: Value) -> tuple[Lengths, Value]:
        """‖h‖ and a normal draw of the product's shape; for a fixed h the length is in the draw."""
        mean, spread = matrix.inputs
        if not vector.random:
            length = math.sqrt(float(np.square(vector.constant).sum()))
            spread = constant_beside(spread, spread.constant * length)
            return {}, dataclasses.replace(matrix, shape=value.shape, inputs=(mean, spread))
        lengths, rest = self._parts[id(vector)]
        squared = self._squared(rest)
        normal = dataclasses.replace(matrix, shape=value.shape, inputs=(mean, spread))
        return {**lengths, id(squared): 0.5}, normal

    def _squared(self, vector: Value) -> Value:
        """The squared length of a vector."""
        if id(vector) not in self._squares:
            square = computed(POWER, vector, constant_beside(vector, 2.0), like=vector)
            squared = computed(SUM, square, like=vector, shape=())
            self._squares[id(vector)] = self._lengths[id(squared)] = squared
        return self._squares[id(vector)]

    def _times(self, lengths: Lengths, rest: Value) -> Value:
        """A value times powers of lengths."""
        for key, power in lengths.items():
            square = self._lengths[key]
            whole, half = divmod(power, 1.0)
            root = half == 0.5
            if root:
                rest = computed(MULTIPLY, computed(SQRT, square, like=square), rest, like=rest)
            left = whole if root else power
            if left == 1:
                rest = computed(MULTIPLY, square, rest, like=rest)
            elif left:
                raised = computed(POWER, square, constant_beside(rest, left), like=square)
                rest = computed(MULTIPLY, raised, rest, like=rest)
        return rest


def _products(values: Sequence[Value], operands: Sequence[Value]) -> dict[int, tuple[Value, Value]]:
    """The products of such a matrix and a vector, by their ids, each with both.

    The matrix has no other use. Nothing is returned if
    all vectors are polynomials in a few draws, whose moments are known without replacements, unless
    all functions above the products that are no polynomials pass lengths on, as relu does, or
    something is divided. Nothing is returned either if a divisor depends on such a matrix: there
    are better bounds for such quotients.
    """
    factors = [(one, sides) for one in values if (sides := _factors(one)) is not None]
    takers = takers_of(values, operands) if factors else Counter()
    products: dict[int, tuple[Value, Value]] = {}
    for one, sides in factors:
        product = _product_of(one, sides, takers)
        if product is not None:
            products[id(one)] = product
    before = _not_polynomial(ordered([vector for _, vector in products.values()]))
    bent = before or _not_polynomial(values)
    passed = bent and all(degree_of(one.function, dict(one.options)) is not None for one in bent)
    divisors = [one.inputs[1] for one in values if one.computed_by(DIVIDE)]
    divisors = [one for one in divisors if one.random]
    matrices = joined_sources([matrix for matrix, _ in products.values()])
    own = any(not one.sources.isdisjoint(matrices) for one in divisors)
    many = len(products) >= MANY_LAYERS
    return products if before or many or ((passed or divisors) and not own) else {}


def _product_of(
    value: Value, factors: tuple[Value, Value], takers: Mapping[int, int]
) -> tuple[Value, Value] | None:
    """The matrix and the vector of such a product; None if it is no such product."""
    if not value.computed_by(MATMUL) and takers[id(value.inputs[0])] > 1:
        return None
    for first, vector in (factors, factors[::-1]):
        matrix, alone = first, takers[id(first)] == 1
        if matrix.computed_by(TRANSPOSE):
            matrix = matrix.inputs[0]
            alone = alone and takers[id(matrix)] == 1
        known = vector.random or (vector.constant is not None and len(matrix.shape) == 2)
        apart = matrix.sources.isdisjoint(vector.sources)
        if alone and known and apart and len(vector.shape) == 1 and _is_normal(matrix):
            return matrix, vector
    return None


def _factors(value: Value) -> tuple[Value, Value] | None:
    """The two factors of a @ b, or of sum(a * b) for vectors; None for other values."""
    if not value.random:
        return None
    if value.computed_by(MATMUL):
        return value.inputs[0], value.inputs[1]
    if value.shape or not value.computed_by(SUM) or not value.inputs[0].computed_by(MULTIPLY):
        return None
    first, second = value.inputs[0].inputs
    return (first, second) if first.shape == second.shape and len(first.shape) == 1 else None


def _not_polynomial(values: Sequence[Value]) -> list[Value]:
    """The values that are computed by a function that is no polynomial."""
    made = [one for one in values if one.kind == Kind.COMPUTED and one.random]
    return [one for one in made if not (one.truth or is_polynomial(one))]


def _is_normal(value: Value) -> bool:
    """Whether a value is a matrix or row of independent normal entries with mean 0 and one sd."""
    if value.kind != Kind.DRAW or value.law is not NORMAL or len(value.shape) not in (1, 2):
        return False
    if value.call is not None:
        return False
    mean, spread = value.inputs
    fixed = all(one.constant is not None and one.shape == () for one in value.inputs)
    return fixed and mean.known == 0.0 and isinstance(spread.known, float) and spread.known >= 0


def _factor(function: Function, value: Value, below: Sequence[Lengths]) -> Lengths:
    """The factor of powers of lengths of a function's value, from the factors of its arguments."""
    if function.bilinear:
        first, second = below
        return {key: first.get(key, 0.0) + second.get(key, 0.0) for key in {**first, **second}}
    if function is DIVIDE:
        return below[0]  # a length may be 0, so that lengths stay in the divisor
    if function is POWER:
        power = value.inputs[1].known
        degree = power if isinstance(power, float) and power > 0 else None
    elif scales_together(function):
        shared = set(below[0]).intersection(*below[1:])
        return {key: min(one[key] for one in below) for key in shared}
    else:
        degree = degree_of(function, dict(value.options))
        if any(below[1:]):
            return {}
    return {} if degree is None else {key: degree * own for key, own in below[0].items()}


# ---- vector draws --------------------------------------------------------------------------------
#
# Replace random vectors by a linear map of independent numbers.
#
# A normal vector x with mean m and covariances S has the law of m + R z, where R R' = S and z has
# independent standard normal elements (Muirhead 1982, "Aspects of Multivariate Statistical Theory",
# theorem 1.2.9). The moments of products of such draws are known.


def with_roots(
    values: Sequence[Value], _operands: Sequence[Value]
) -> Callable[[Value], Value] | None:
    """Replacements of normal vectors by linear maps of normal numbers; None if there are none."""
    vectors = [one for one in values if one.kind == Kind.DRAW and one.law is MULTIVARIATE_NORMAL]
    pairs = ((one, one.inputs[1]) for one in vectors)
    one_matrix = [one for one, cov in pairs if cov.constant is not None and len(cov.shape) == 2]
    stands = {id(one): _opened(one) for one in one_matrix}
    return exchanged(values, stands) if stands else None


def _opened(value: Value) -> Value:
    """A normal vector as a linear map of independent standard normal numbers."""
    mean, covariances = value.inputs
    root = square_root(covariances.constant[..., 0])
    across = constant_beside(covariances, root.T[..., None])
    own = Sources([value.name]) & value.sources if value.name else value.sources
    standard = dataclasses.replace(
        value,
        operation=NORMAL.name,
        law=NORMAL,
        inputs=(constant_beside(value, 0.0), constant_beside(value, 1.0)),
        sources=own or value.sources,
    )
    return computed(ADD, computed(MATMUL, standard, across, like=value), mean, like=value)
