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
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from dropcheck.analysis.fewer_draws.sums import (
    MOST_ELEMENTS,
    exchanged,
    made_of,
    own_names,
    takers_of,
)
from dropcheck.analysis.law_bounds import fixed_arguments
from dropcheck.language.graph import (
    Kind,
    Sources,
    Value,
    computed,
    constant_beside,
    joined_sources,
    kernel_of,
    ordered,
)
from dropcheck.vocabulary.function import Function, degree_of, scales_together
from dropcheck.vocabulary.functions.arrays import SUBSCRIPT
from dropcheck.vocabulary.functions.elementwise import (
    ADD,
    DIVIDE,
    MULTIPLY,
    NEGATIVE,
    POWER,
    SQRT,
    SUBTRACT,
)
from dropcheck.vocabulary.functions.linear_algebra import MATMUL, TRANSPOSE
from dropcheck.vocabulary.functions.reductions import MEAN, NORM, SUM
from dropcheck.vocabulary.laws.continuous import NORMAL
from dropcheck.vocabulary.laws.vectors import MULTIVARIATE_NORMAL, square_root

# ---- residual streams ----------------------------------------------------------------------------
#
# Residual streams, `x = x + W @ x`, of which only the lengths are used.
#
# Let h be a vector and T = ‖h‖ · v, where v is independent of h and its law is the same in all
# directions. Rotating both until h points along e = (1, 0, …, 0) shows that ‖h + T‖ has the law of
# ‖h‖ · ‖e + v‖, whatever the direction of h (Muirhead 1982, theorem 1.5.4). So h · ‖e + v‖ can
# replace h + T if only lengths are used, as by the next such product. The direction of one stream
# may
# be used if the law of the first stream is the same in all directions: then its direction is
# independent of all lengths.


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


# ---- rotations -----------------------------------------------------------------------------------


# From this many such products on, a polynomial in the entries has too many terms.
MANY_LAYERS = 4

Lengths = Mapping[int, float]
"""A product of powers of squared lengths: the exponents by the ids of the squared lengths."""


def turned(values: Sequence[Value], operands: Sequence[Value]) -> Callable[[Value], Value] | None:
    """Replacements without such matrices; None if there are none."""
    replacements = _Turned(values, operands, streams=True)
    if not replacements.only_lengths_matter(values, operands):
        replacements = _Turned(values, operands, streams=False)
    return replacements.of if replacements.products else None


class _Turned:
    """The values of a graph, each as a product of powers of lengths and the rest of the value."""

    def __init__(
        self, values: Sequence[Value], operands: Sequence[Value], *, streams: bool
    ) -> None:
        self.products, self._sums = _products(values, operands, streams=streams)
        self._streams: dict[int, tuple[Value, Value]] = {}  # residual sums replaced by lengths
        self._lengths: dict[int, Value] = {}  # squared lengths, by their ids
        self._squares: dict[int, Value] = {}  # squared lengths of vectors, by the vectors' ids
        self._vectors: dict[int, Value] = {}  # vectors, by the ids of their squared lengths
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

    def only_lengths_matter(self, values: Sequence[Value], operands: Sequence[Value]) -> bool:
        """Whether only the lengths of residual streams are used."""
        return only_lengths_matter(values, operands, self.products, self._streams, _is_normal)

    def _turned(self, value: Value) -> tuple[Lengths, Value]:
        if not (value.random or value.estimated):
            return {}, value
        if id(value) in self.products:
            return self._product(value, *self.products[id(value)])
        if id(value) in self._sums:
            lengthened = self._lengthened(*self._sums[id(value)])
            if lengthened is not None:
                self._streams[id(value)] = self._sums[id(value)]
                return lengthened
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
        if self._sums:
            factor, rest = _without_factor(rest)
            spread = constant_beside(spread, spread.constant * abs(factor))
        squared = self._squared(rest)
        normal = dataclasses.replace(matrix, shape=value.shape, inputs=(mean, spread))
        return {**lengths, id(squared): 0.5}, normal

    def _lengthened(self, stream: Value, branch: Value) -> tuple[Lengths, Value] | None:
        """The sum of a stream and a branch as a multiple of the stream; None if there is none."""
        (own, rest), (added, direction) = self._parts[id(stream)], self._parts[id(branch)]
        factor, first = _without_factor(rest)
        left = Counter(added)
        left.subtract({**own, id(self._squared(first)): 0.5})
        if min(left.values()) < 0:
            return None
        squared = self._squared_sum(factor, +left, direction)
        self._lengths[id(squared)] = squared
        return {**own, id(squared): 0.5}, first

    def _squared_sum(self, factor: float, lengths: Lengths, direction: Value) -> Value:
        """‖a e + s g‖² as (a + s g₁)² + s² Σ g², with the sum over all of g but the first.

        If s is the length of one vector h, s g₁ is drawn as w · h, which avoids a root.
        """
        draw = direction
        while draw.kind != Kind.DRAW:
            draw = scaled_vector(draw) or draw
        name = f"{draw.name} along"
        inner = [self._vectors.get(key) for key in lengths]
        vector = inner[0] if list(lengths.values()) == [0.5] else None
        shape = () if vector is None else vector.shape
        row = dataclasses.replace(draw, shape=shape, name=name, sources=Sources([name]))
        if vector is None:
            along = self._times(lengths, row)
        else:
            along = computed(SUM, computed(MULTIPLY, row, vector, like=row), like=row, shape=())
        along = _scaled_as(direction, draw, along)
        along = computed(ADD, along, constant_beside(along, factor), like=along)
        along = computed(POWER, along, constant_beside(along, 2.0), like=along)
        (length,) = draw.shape
        if length == 1:
            return along
        others = dataclasses.replace(draw, shape=(length - 1,))
        across = self._squared(_scaled_as(direction, draw, others))
        across = self._times({key: 2 * power for key, power in lengths.items()}, across)
        return computed(ADD, along, across, like=along)

    def _squared(self, vector: Value) -> Value:
        """The squared length of a vector."""
        if id(vector) not in self._squares:
            square = computed(POWER, vector, constant_beside(vector, 2.0), like=vector)
            squared = computed(SUM, square, like=vector, shape=())
            self._squares[id(vector)] = self._lengths[id(squared)] = squared
            self._vectors[id(squared)] = vector
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


def _without_factor(vector: Value) -> tuple[float, Value]:
    """A vector as a fixed number times another vector."""
    below = scaled_vector(vector)
    if below is None or vector.function not in (MULTIPLY, DIVIDE):
        return 1.0, vector
    (factor,) = [one.known for one in vector.inputs if one is not below]
    if not isinstance(factor, float) or not factor:
        return 1.0, vector
    return (factor if vector.function is MULTIPLY else 1 / factor), below


def _scaled_as(direction: Value, draw: Value, other: Value) -> Value:
    """Another value scaled in the same way as `direction` is a multiple of a draw."""
    if direction is draw:
        return other
    below = scaled_vector(direction)
    assert below is not None
    scaled = _scaled_as(below, draw, other)
    inputs = (scaled if one is below else one for one in direction.inputs)
    return computed(direction.function, *inputs, like=scaled)


def _products(
    values: Sequence[Value], operands: Sequence[Value], *, streams: bool
) -> tuple[MatrixProducts, ResidualSums]:
    """The products of such a matrix and a vector, each with both; and the residual sums.

    The matrix has no other use. Each residual sum counts as one more layer. Nothing is returned if
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
    sums = residual_sums(values, takers, products) if streams else {}
    many = len(products) + len(sums) >= MANY_LAYERS
    if before or many or ((passed or divisors) and not own):
        return products, sums
    return {}, {}


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
    return [one for one in made if one.function.polynomial is None]


def _is_normal(value: Value) -> bool:
    """Whether a value is a matrix or row of independent normal entries with mean 0 and one sd."""
    if value.kind != Kind.DRAW or value.law is not NORMAL or len(value.shape) not in (1, 2):
        return False
    if value.sample is not None or value.call is not None:
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


# ---- rows ----------------------------------------------------------------------------------------
#
# Replace an array of draws by a draw for each row, if only single rows are used: `z[t]` in loops.
#
# Rows of independent elements are independent. As draws with names of their own this is known
# everywhere: sums of rows, and states of loops that use one row after the other, get the bounds
# for
# independent draws.


# A draw with fewer rows is left as it is: bounds for few dependent parts are good enough.
FEWEST_ROWS = 8

_TakenRow = tuple[int, tuple[object, ...]]
"""The index of a row, and the indices of what is taken from the row."""


def with_rows(
    values: Sequence[Value], operands: Sequence[Value]
) -> Callable[[Value], Value] | None:
    """Replacements with rows as draws of their own; None if there are no such draws."""
    taken: dict[int, list[tuple[Value, _TakenRow]]] = {
        id(one): [] for one in values if _has_rows(one)
    }
    for one in operands:
        taken.pop(id(one), None)
    for value in values:
        for below in value.inputs:
            if id(below) not in taken:
                continue
            row = _row(value)
            if row is None:
                taken.pop(id(below))
            else:
                taken[id(below)].append((value, row))
    stands: dict[int, Value] = {}
    for uses in taken.values():
        rows: dict[int, Value] = {}
        for use, (at, others) in uses:
            if at not in rows:
                rows[at] = _drawn(use.inputs[0], at)
            stands[id(use)] = _within(use, rows[at], others) if others else rows[at]
    return exchanged(values, stands) if stands else None


def _has_rows(value: Value) -> bool:
    """Whether a value is a draw with many rows that are independent given the arguments."""
    law = value.law
    if value.kind != Kind.DRAW or law is None or law.own_axes is not None:
        return False
    if not value.shape or value.shape[0] < FEWEST_ROWS or len(own_names(value)) != 1:
        return False
    if any(one.axes for one in law.parameters):
        return False
    return all(one.constant is not None or not one.shape for one in value.inputs)


def _row(value: Value) -> _TakenRow | None:
    """The row that a value is or lies in; None if it is no row of an array."""
    if not value.computed_by(SUBSCRIPT):
        return None
    first, *others = dict(value.options)["index"]
    whole = isinstance(first, int) and not isinstance(first, bool)
    return (first % value.inputs[0].shape[0], tuple(others)) if whole else None


def _drawn(draw: Value, at: int) -> Value:
    """One row of a draw, as a draw of its own."""
    rank = len(draw.shape)
    inputs = tuple(
        constant_beside(one, one.constant[at % one.shape[0]]) if len(one.shape) == rank else one
        for one in draw.inputs
    )
    (name,) = own_names(draw)
    own = f"row {at} of {name}"  # the name x[0] is taken: the first step of a loop draws it
    return dataclasses.replace(
        draw,
        shape=draw.shape[1:],
        inputs=inputs,
        name=own,
        sources=Sources([own]) | joined_sources(inputs),
    )


def _within(use: Value, drawn: Value, others: tuple[object, ...]) -> Value:
    return dataclasses.replace(
        use,
        inputs=(drawn,),
        options=(("index", others),),
        sources=drawn.sources,
    )


# ---- vector draws --------------------------------------------------------------------------------
#
# Replace random vectors by one number, or by a linear map of independent numbers.
#
# If only one element of a vector is used, this element is drawn alone. An element of a Dirichlet
# vector is a beta variable, one of multinomial counts is binomial, one of a normal vector is
# normal
# (`Law.element`). Its moments, probabilities and quantiles are then known, as for any draw.
#
# A normal vector x with mean m and covariances S has the law of m + R z, where R R' = S and z has
# independent standard normal elements (Muirhead 1982, "Aspects of Multivariate Statistical
# Theory",
# theorem 1.2.9). The moments of products of such draws are known.


def with_marginals(
    values: Sequence[Value], operands: Sequence[Value]
) -> Callable[[Value], Value] | None:
    """Replacements of vectors by their only used element; None if there are none."""
    takers = {id(one): list[Value]() for one in values if one.law is not None and one.law.element}
    for value in values:
        for below in value.inputs:
            if id(below) in takers:
                takers[id(below)].append(value)
    stands: dict[int, Value] = {}
    for draw in values:
        element = _element(draw, takers[id(draw)]) if id(draw) in takers else None
        if element is not None and not any(one is draw for one in operands):
            stands.update({id(one): element for one in takers[id(draw)]})
    return exchanged(values, stands) if stands else None


def _element(draw: Value, takers: Sequence[Value]) -> Value | None:
    """The one element that all takers are, as a draw of its own; None if they use others."""
    arguments = fixed_arguments(draw)
    if not takers or arguments is None or draw.law is None or draw.law.element is None:
        return None
    if math.prod(draw.shape) > MOST_ELEMENTS:
        return None
    parameters = zip(draw.inputs, draw.law.parameters, strict=True)
    if any(len(one.shape) != parameter.axes for one, parameter in parameters):
        return None
    if draw.law.constant(*arguments) is not None:  # such as a single share, which is always 1
        return None
    numbers = np.arange(math.prod(draw.shape)).reshape(*draw.shape, 1)
    picked = []
    for one in takers:
        if one.kind != Kind.COMPUTED or not one.function.rearranges or len(one.inputs) != 1:
            return None
        picked.append(kernel_of(one)(numbers))
    rows, places = np.divmod(picked[0], draw.shape[-1])
    if not all(np.array_equal(one, picked[0]) for one in picked):
        return None
    if np.unique(places).size != 1 or np.unique(rows).size != rows.size:
        return None
    law, of_all = draw.law.element
    place = int(places.flat[0])
    own = [float(np.broadcast_to(one, draw.shape[-1:])[place]) for one in of_all(*arguments)]
    if law.constant(*own) is not None:
        return None
    name = f"element {place} of {draw.name}"
    return dataclasses.replace(
        draw,
        operation=law.name,
        law=law,
        shape=takers[0].shape,
        inputs=tuple(constant_beside(draw, one) for one in own),
        name=name,
        sources=Sources([name]),
    )


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
