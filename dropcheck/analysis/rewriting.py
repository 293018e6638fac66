"""Rewritings: quantities in place of others of the same law whose moments are known.

Only the analysis sees the rewritten case: what is drawn is what is written.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TypeVar

import numpy as np

from dropcheck.analysis.letters import Letters, NormalForms, is_polynomial
from dropcheck.analysis.ring import Polynomial, PolynomialError, Root, Space, lettered
from dropcheck.language.compile import LoweredCase
from dropcheck.language.graph import (
    Kind,
    Sources,
    Value,
    computed,
    constant_beside,
    in_order,
    joined_sources,
    kernel_of,
    ordered,
)
from dropcheck.vocabulary.domains import argument_problem
from dropcheck.vocabulary.function import Function, axes_of
from dropcheck.vocabulary.functions.elementwise import ADD, DIVIDE, MULTIPLY, POWER, SQRT
from dropcheck.vocabulary.functions.linear_algebra import MATMUL, TRANSPOSE
from dropcheck.vocabulary.functions.reductions import SUM
from dropcheck.vocabulary.law import Law
from dropcheck.vocabulary.laws.continuous import CHI_SQUARE, NORMAL
from dropcheck.vocabulary.laws.derived import SUMS, can_be_ranked, ranked

Form = TypeVar("Form")
Stands = Callable[[Value], Value]
"""What stands for each value."""


# ---- exchanges -----------------------------------------------------------------------------------


def varying(operands: Sequence[Value]) -> list[Value]:
    """All values below some operands, with inputs first; inputs of fixed values are left out."""
    return in_order(operands, lambda value: value.inputs if value.random or value.estimated else ())


def takers_of(values: Sequence[Value], operands: Sequence[Value]) -> Counter[int]:
    """How often each value is used, by its id."""
    takers = Counter(map(id, operands))
    for value in values:
        takers.update(map(id, value.inputs))
    return takers


def made_of(value: Value, inputs: tuple[Value, ...]) -> Value:
    """A value with other inputs, and the sources of these; an operator keeps its sources."""
    if all(one is other for one, other in zip(inputs, value.inputs, strict=False)):
        return value
    sources = value.sources
    if value.kind == Kind.COMPUTED:
        sources = joined_sources(inputs)
    elif value.kind == Kind.DRAW:
        sources = own_names(value) | joined_sources(inputs)
    return dataclasses.replace(value, inputs=inputs, sources=sources)


def own_names(draw: Value) -> Sources:
    """The names among the sources of a draw that do not come from its arguments."""
    given = joined_sources(draw.inputs)
    return Sources(name for name in draw.sources if name not in given)


def exchanged(
    values: Sequence[Value],
    stands: Mapping[int, Value],
    made: Callable[[Value, tuple[Value, ...]], Value] = made_of,
) -> Callable[[Value], Value]:
    """A function from each of some values to the value that replaces it.

    Args:
        values: the values, with inputs first.
        stands: replacements for a few values, by their ids. Values made of these are made again.
        made: makes a value with other inputs.
    """
    replaced: dict[int, Value] = {}

    def new_below(value: Value) -> Sequence[Value]:
        return () if id(value) in replaced else value.inputs

    for value in values:
        stand = stands.get(id(value), value)
        for one in [value] if stand is value else in_order([stand], new_below):
            if id(one) not in replaced:
                replaced[id(one)] = made(one, tuple(replaced.get(id(v), v) for v in one.inputs))
        replaced[id(value)] = replaced[id(stand)]
    return lambda value: replaced.get(id(value), value)


# ---- arrays of which only sums, or one element by its rank, are used -----------------------------
#
# The sum of n independent draws may have a known law (`SUMS`). For n standard normal draws z, their
# sum S and Q = Σz² - S²/n are independent; Q has the chi-square law with n - 1 degrees of freedom
# (Cochran 1934; Basu 1955, "On statistics independent of a complete sufficient statistic"); Σz² has
# it with n. The element with k of n draws below it has the law of an order statistic (`ranked`).
#
# So where every path from the operands to an array leads through numbers of the form
# c₀ + c₁ Σz + c₂ Σz² + c₃ (Σz)², or their roots, these are made of S and Q. That is read off the
# polynomials of these numbers. And where every path leads through one element by its rank, one
# number is drawn. To find the rank, the functions are applied to an array of ranks.


# The most elements of an array by rank.
MOST_ELEMENTS = 2**18
# A share of a difference of two coefficients that is only rounding.
_ROUNDING = 1e-14

_Sums = tuple[float, float, float, float]
"""The coefficients c₀ … c₃."""


def with_fewer_numbers(values: Sequence[Value], operands: Sequence[Value]) -> Stands | None:
    """Replacements for arrays of independent draws; None if there are none."""
    stands: dict[int, Value] = {}
    for draw in values:
        arguments = _fixed_numbers(draw)
        if arguments is not None:
            above = _above(draw, values)
            stands |= _by_rank(draw, arguments, above, operands)
            stands |= _by_sums(draw, arguments, above, operands)
    return exchanged(values, stands) if stands else None


def _fixed_numbers(draw: Value) -> list[float] | None:
    """The arguments of an array of independent draws of one law; None for all other values."""
    if draw.kind != Kind.DRAW or math.prod(draw.shape) < 2 or draw.law is None:
        return None
    known = [one.known for one in draw.inputs]
    numbers = [one for one in known if isinstance(one, float)]
    own = draw.law.own_axes is None and draw.call is None
    return numbers if own and len(numbers) == len(known) else None


def _above(draw: Value, values: Sequence[Value]) -> set[int]:
    """The ids of the values that are made of a draw, and its own."""
    above = {id(draw)}
    for one in values:
        if any(id(below) in above for below in one.inputs):
            above.add(id(one))
    return above


def _through(
    draw: Value, above: set[int], operands: Sequence[Value], form: Callable[[Value], Form | None]
) -> list[tuple[Value, Form]]:
    """The outermost numbers of a form through which alone a draw is used, each with its form.

    There are none if the draw is used in another way.
    """
    found: list[tuple[Value, Form]] = []
    seen: set[int] = set()
    left = [*operands]
    while left:
        value = left.pop()
        if id(value) in seen or id(value) not in above:
            continue
        seen.add(id(value))
        if value is draw:
            return []
        alone = value.kind == Kind.COMPUTED and value.random and value.sources == draw.sources
        own = form(value) if alone and not value.shape else None
        if own is None:
            left += value.inputs
        else:
            found.append((value, own))
    return found


def _by_rank(
    draw: Value, arguments: Sequence[float], above: set[int], operands: Sequence[Value]
) -> dict[int, Value]:
    """The one element by its rank as a draw of its own."""
    law, count = draw.law, math.prod(draw.shape)
    if law is None or count > MOST_ELEMENTS or not can_be_ranked(law, tuple(arguments)):
        return {}
    found = _through(draw, above, operands, lambda value: _rank(draw, value))
    if len(found) != 1:
        return {}
    ((value, rank),) = found
    return {id(value): dataclasses.replace(draw, shape=(), law=ranked(law, rank, count))}


def _rank(draw: Value, value: Value) -> int | None:
    """The rank of the element that a value is, among all elements of a draw."""
    held = {id(draw): np.arange(float(math.prod(draw.shape))).reshape(*draw.shape, 1)}
    for one in (each for each in ordered([value]) if each is not draw and each.random):
        (below, *others), function = one.inputs, one.function
        axes = axes_of(held[id(draw)], dict(one.options).get("axis"))
        first = function.does == "ranks" and below is draw and len(axes) == len(draw.shape)
        if others or not (first or (function.rearranges and below is not draw)):
            return None
        held[id(one)] = kernel_of(one)(held[id(below)])
    rank = float(held[id(value)].item())
    return int(rank) if rank.is_integer() else None


class _OneDraw(Letters):
    """The polynomials in one draw, whose letter is its standard form if it is normal."""

    def __init__(self, draw: Value, arguments: Sequence[float]) -> None:
        super().__init__(Space())
        self._draw, self._arguments = draw, arguments
        self._reading = NormalForms(self)

    def draw(self, value: Value) -> Polynomial:
        if value is not self._draw:
            raise PolynomialError
        letter = lettered(self.space, value.shape, 0)
        if value.law is not NORMAL:
            return letter
        mean, deviation = self._arguments
        return letter.times(deviation).plus(mean)

    def sums(self, value: Value) -> tuple[_Sums, bool] | None:
        """A number as such a form, and whether it is the root of that."""
        try:
            found = self._reading.read(value)
        except PolynomialError:
            return None
        root = isinstance(found, Root)
        base = found.base if isinstance(found, Root) and found.power == 1 else found
        form = _in_sums(base, self._draw) if isinstance(base, Polynomial) else None
        return (form, root) if form is not None and self._is_known(form, root) else None

    def _is_known(self, form: _Sums, root: bool) -> bool:
        """Whether the law of the sums of a form is known."""
        constant, linear, square, crossed = form
        law = self._draw.law
        if law is None or law is NORMAL:
            return bool(linear or square or crossed)
        rounded = law.discrete and constant  # rounding might decide what was exact
        return bool(linear) and not (square or crossed or root or rounded)


def _in_sums(found: Polynomial, draw: Value) -> _Sums | None:
    """The coefficients of a polynomial in the sums of a draw; None if it is none."""
    coefficients = dict.fromkeys(((), (1,), (2,), (1, 1)), 0.0)
    long = sum(length > 1 for length in draw.shape)
    for term in found.terms:
        labels = [label for atom in term.atoms for label in atom.indices if label >= 0]
        powers = tuple(power for atom in term.atoms for _, power in atom.powers)
        whole = len(set(labels)) == len(labels) == long * len(term.atoms)
        if term.tensors or not whole or powers not in coefficients:
            return None
        coefficients[powers] += term.coefficient
    one, two, three, four = coefficients.values()
    return one, two, three, four


def _by_sums(
    draw: Value, arguments: Sequence[float], above: set[int], operands: Sequence[Value]
) -> dict[int, Value]:
    """The numbers made of sums of a draw, each made of one or two draws."""
    if draw.law is None or draw.law not in SUMS:
        return {}
    found = _through(draw, above, operands, _OneDraw(draw, arguments).sums)
    forms = [form for _, (form, _) in found]
    parts = _normal_parts if draw.law is NORMAL else _other_parts
    made = parts(draw, arguments, forms) if found else None
    if made is None:
        return {}
    whole = [_sum(own, form[0]) for own, form in zip(made, forms, strict=True)]
    return {
        id(value): computed(SQRT, one, like=one) if root else one
        for (value, (_, root)), one in zip(found, whole, strict=True)
    }


def _normal_parts(
    draw: Value, _arguments: Sequence[float], forms: Sequence[_Sums]
) -> list[list[Value]]:
    """The random parts of numbers made of sums of a standard normal draw."""
    count = float(math.prod(draw.shape))
    if not any(linear or crossed for _, linear, _, crossed in forms):
        squares = _drawn(draw, CHI_SQUARE, [count], draw.name)
        return [[_scaled(squares, square)] for _, _, square, _ in forms]
    total = _drawn(draw, NORMAL, [0.0, math.sqrt(count)], draw.name)
    squares = _drawn(draw, CHI_SQUARE, [count - 1.0], f"deviations of {draw.name}")
    power = computed(POWER, total, constant_beside(total, 2.0), like=total)
    made = []
    for _, linear, square, crossed in forms:
        rest = crossed + square / count
        if abs(rest) <= _ROUNDING * abs(crossed):
            rest = 0.0
        pairs = (total, linear), (power, rest), (squares, square)
        made.append([_scaled(value, factor) for value, factor in pairs if factor])
    return made


def _other_parts(
    draw: Value, arguments: Sequence[float], forms: Sequence[_Sums]
) -> list[list[Value]] | None:
    """The random parts of numbers made of the sum of a draw; None if it has no such law."""
    assert draw.law is not None
    summed, count = SUMS[draw.law], float(math.prod(draw.shape))
    given = [one * by for one, by in summed.arguments(count, *arguments)]
    if argument_problem(summed.law.parameters, list(map(np.asarray, given))) is not None:
        return None
    total = _sum(
        [_scaled(_drawn(draw, summed.law, given, draw.name), summed.unit)], summed.start * count
    )
    return [[_scaled(total, linear)] for _, linear, _, _ in forms]


def _drawn(draw: Value, law: Law, arguments: Sequence[float], name: str | None) -> Value:
    """One number from a law, in place of a draw."""
    return dataclasses.replace(
        draw,
        operation=law.name,
        law=law,
        inputs=tuple(constant_beside(draw, one) for one in arguments),
        shape=(),
        name=name,
        sources=Sources([name or ""]),
    )


def _scaled(value: Value, by: float) -> Value:
    """A multiple of a value; for 1/n the quotient, which may be exact."""
    if by == 1:
        return value
    inverse = 1.0 / by
    whole = round(inverse) if abs(inverse) < 2.0**53 else 0
    if whole and 1.0 / whole == by:
        return computed(DIVIDE, value, constant_beside(value, float(whole)), like=value)
    return computed(MULTIPLY, value, constant_beside(value, by), like=value)


def _sum(parts: Sequence[Value], constant: float) -> Value:
    """The sum of values and of a number."""
    whole = reduce(lambda a, b: computed(ADD, a, b, like=a), parts)
    return computed(ADD, whole, constant_beside(whole, constant), like=whole) if constant else whole


# ---- rotations -----------------------------------------------------------------------------------
#
# Let W be a matrix of independent normal entries with mean 0 and one standard deviation, and h a
# vector that is independent of W. Given h, the entries of W @ h are independent and normal, with
# ‖h‖² times the variance of an entry of W, whatever the direction of h (Muirhead 1982, "Aspects of
# Multivariate Statistical Theory", theorem 1.5.4). So h and W @ h have the same joint law as h and
# ‖h‖ · g, where g has as many normal entries as W has rows. If W has no other use, g stands for it.
# The same holds for a single row w, and Σ w h.
#
# Functions that scale with their argument, as relu(s · g) = s · relu(g), pass the factor ‖h‖ on. So
# the layers of a network become independent factors: their moments are multiplied, however many
# layers there are.


# From this many such products on, a polynomial in the entries has too many terms.
MANY_LAYERS = 4

_Part = tuple[Value | None, float, Value]
"""A value as a power of a squared length, that length, its exponent and the rest; None for 1."""


def turned(values: Sequence[Value], operands: Sequence[Value]) -> Stands | None:
    """Replacements without such matrices; None if there are none."""
    products = _products(values, operands)
    if not products:
        return None
    parts: dict[int, _Part] = {}
    wholes: dict[int, Value] = {}
    known: dict[tuple[int, ...], Value] = {}  # squared lengths, and products of them

    def whole(value: Value) -> Value:
        if id(value) not in wholes:
            wholes[id(value)] = _times(*parts[id(value)])
        return wholes[id(value)]

    def product(one: Value, other: Value) -> Value:
        key = (id(one), id(other))
        if key not in known:
            known[key] = computed(MULTIPLY, one, other, like=one)
        return known[key]

    def squared(vector: Value) -> Value:
        if (id(vector),) not in known:
            square = computed(POWER, vector, constant_beside(vector, 2.0), like=vector)
            known[(id(vector),)] = computed(SUM, square, like=vector, shape=())
        return known[(id(vector),)]

    def of_product(value: Value, matrix: Value, vector: Value) -> _Part:
        mean, spread = matrix.inputs
        if not vector.random:  # the length is in the draw
            length = math.sqrt(float(np.square(vector.constant).sum()))
            spread = constant_beside(spread, spread.constant * length)
            return None, 0.0, dataclasses.replace(matrix, shape=value.shape, inputs=(mean, spread))
        normal = dataclasses.replace(matrix, shape=value.shape)
        before, exponent, rest = parts[id(vector)]
        if before is None or exponent != 0.5:
            return squared(whole(vector)), 0.5, normal
        return product(before, squared(rest)), 0.5, normal

    def part(value: Value) -> _Part:
        if not (value.random or value.estimated):
            return None, 0.0, value
        if id(value) in products:
            return of_product(value, *products[id(value)])
        below = [parts[id(one)] for one in value.inputs]
        length, power, scaled = None, 0.0, 0
        if value.kind == Kind.COMPUTED and any(own[0] is not None for own in below):
            length, power, scaled = _factor(value, below, product)
        rests = [own[2] for own in below[:scaled]]
        inputs = (*rests, *map(whole, value.inputs[scaled:]))
        return length, power, made_of(value, inputs)

    for value in values:
        parts[id(value)] = part(value)
    return whole


# Degrees of functions that do more than move, add or pick elements.
_DEGREES = {
    "abs": 1.0, "cbrt": 1 / 3, "cummax": 1.0, "eigvalsh": 1.0, "leaky_relu": 1.0, "norm": 1.0,
    "relu": 1.0, "sqrt": 0.5, "std": 1.0, "svdvals": 1.0, "trace": 1.0, "var": 2.0,
}  # fmt: skip


def degree_of(function: Function, options: Mapping[str, object]) -> float | None:
    """The d with f(s · x) = s^d · f(x) for every s >= 0 in the first argument alone.

    It is None where there is none, or none is known.
    """
    if function.name == "norm" and options.get("ord") == 0:  # it counts
        return None
    picks = function.rearranges or function.does in ("gaps", "ranks")
    return 1.0 if picks else _DEGREES.get(function.name)


def scales_together(function: Function) -> bool:
    """Whether a function is multiplied by s if all its arguments are."""
    return function.additive or function.does == "selects"


def _factor(
    value: Value, below: Sequence[_Part], product: Callable[[Value, Value], Value]
) -> tuple[Value | None, float, int]:
    """The factor that a function passes on, and of how many of its first arguments it takes it."""
    function = value.function
    (length, power, _), *others = below
    if function.does == "multiplies":
        other, second, _ = below[1]
        if length is None:
            return other, second, 2
        if other is None or other is length:
            return length, power + second, 2
        return (product(length, other), power, 2) if power == second else (length, power, 1)
    if function is DIVIDE:  # a length may be 0, so that lengths stay in the divisor
        return length, power, 1
    if scales_together(function):
        alike = all(own[:2] == (length, power) for own in others)
        return (length, power, len(below)) if alike else (None, 0.0, 0)
    degree = degree_of(function, dict(value.options))
    if function is POWER and isinstance(value.inputs[1].known, float):
        degree = value.inputs[1].known if value.inputs[1].known > 0 else None
    if length is None or degree is None or any(own[0] is not None for own in others):
        return None, 0.0, 0
    return length, power * degree, 1


def _times(length: Value | None, power: float, rest: Value) -> Value:
    """A value times a power of a squared length."""
    if length is None or not power:
        return rest
    left, half = divmod(power, 1.0)
    if half == 0.5:
        rest = computed(MULTIPLY, computed(SQRT, length, like=length), rest, like=rest)
    else:
        left = power
    if left:
        exponent = constant_beside(rest, left)
        raised = length if left == 1 else computed(POWER, length, exponent, like=length)
        rest = computed(MULTIPLY, raised, rest, like=rest)
    return rest


def _products(values: Sequence[Value], operands: Sequence[Value]) -> dict[int, tuple[Value, Value]]:
    """The products of such a matrix and a vector, by their ids, each with both.

    The matrix has no other use. Nothing is returned if all vectors are polynomials in a few draws,
    whose moments are known without replacements, unless all functions above the products that are
    no polynomials pass lengths on, as relu does, or something is divided. Nothing is returned
    either if a divisor depends on such a matrix: there are better bounds for such quotients.
    """
    factors = [(one, sides) for one in values if (sides := _factors(one)) is not None]
    takers = takers_of(values, operands) if factors else Counter()
    products: dict[int, tuple[Value, Value]] = {}
    for one, sides in factors:
        product = _product_of(one, sides, takers)
        if product is not None:
            products[id(one)] = product
    if not products:
        return products
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


# ---- all rewritings ------------------------------------------------------------------------------

REWRITINGS = {
    "a normal matrix times a vector: the vector's length times a normal vector": turned,
    "an array: one element by its rank, or its sum and sum of squares": with_fewer_numbers,
}


def with_fewer_draws(lowered: LoweredCase) -> LoweredCase:
    """The case, made of fewer draws, and by itself; the case itself if no rule applies."""
    values: list[Value] = []
    for rule in REWRITINGS.values():
        values = values or varying(lowered.operands)
        stands = rule(values, lowered.operands)
        if stands is not None:
            values = []
            operands = tuple(map(stands, lowered.operands))
            lowered = dataclasses.replace(lowered, operands=operands, beside=(), place=0)
    return lowered
