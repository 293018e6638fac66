"""Statements that are linear in expectations: one mean of one quantity a draw.

`E(y) - 2 * E(x) + 1` is the mean of `y - 2 * x + 1`. Where the model bounds that quantity, its
mean has an interval that needs no limit theorem.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dropcheck.analysis.bounds import support
from dropcheck.language.folding import fixed_array
from dropcheck.language.graph import Kind, Value, joined_sources
from dropcheck.language.syntax import Position
from dropcheck.records import dataclass
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions.elementwise import ADD, DIVIDE, MULTIPLY, NEGATIVE, SUBTRACT
from dropcheck.vocabulary.functions.reductions import MEAN
from dropcheck.vocabulary.hulls import Hull
from dropcheck.vocabulary.shapes import Shape

Plain = Callable[[Value], object]


_ARITHMETIC = (NEGATIVE, ADD, SUBTRACT, MULTIPLY, DIVIDE)


@dataclass(frozen=True, slots=True)
class Linear:
    """Σ factor · E(quantity) + constant."""

    terms: tuple[tuple[float, Value], ...]
    constant: float

    def scaled(self, factor: float) -> Linear:
        """The same, times a number."""
        return Linear(
            tuple((factor * own, value) for own, value in self.terms), factor * self.constant
        )

    def plus(self, other: Linear) -> Linear:
        """The sum of two; what stands in both is counted once."""
        factors: dict[int, tuple[float, Value]] = {}
        for factor, value in self.terms + other.terms:
            before, _ = factors.get(id(value), (0.0, value))
            factors[id(value)] = (before + factor, value)
        return Linear(tuple(factors.values()), self.constant + other.constant)


@dataclass(frozen=True, slots=True)
class Affine:
    """factor · operator + constant."""

    factor: float
    operator: Value
    constant: float


def linear(value: Value) -> Linear | None:
    """A side of a statement as a linear form, or None where it is none.

    Conditional expectations are ratios, and P of something that is not a truth is not a mean of it.
    """
    known = None if value.estimated else value.known
    if isinstance(known, float):
        return Linear((), known)
    if value.kind == Kind.OPERATOR:
        if not value.operator.is_mean or len(value.inputs) > 1:
            return None
        (quantity,) = value.inputs
        if value.operator.probability and not quantity.truth:
            return None
        if not quantity.random:
            found = _numbers(quantity.known)
            defined = found and all(map(math.isfinite, found))
            return Linear((), math.fsum(found) / len(found)) if defined else None
        return Linear(((1.0, quantity),), 0.0)
    if value.kind != Kind.COMPUTED:
        return None
    if value.function not in _ARITHMETIC:
        return None
    forms = [form for form in map(linear, value.inputs) if form is not None]
    if len(forms) < len(value.inputs):
        return None
    left, right = forms[0], forms[-1]
    match value.operation:
        case NEGATIVE.name:
            return left.scaled(-1.0)
        case ADD.name:
            return left.plus(right)
        case SUBTRACT.name:
            return left.plus(right.scaled(-1.0))
        case MULTIPLY.name if not left.terms:
            return right.scaled(left.constant)
        case MULTIPLY.name if not right.terms:
            return left.scaled(right.constant)
        case DIVIDE.name if not right.terms and right.constant != 0:
            return left.scaled(1 / right.constant)
        case _:
            return None


def affine(value: Value) -> Affine | None:
    """A side of a statement as an affine function of one operator, or None where it is none."""
    if value.kind == Kind.OPERATOR:
        return Affine(1.0, value, 0.0)
    if value.kind != Kind.COMPUTED or value.function not in _ARITHMETIC:
        return None
    if value.function is NEGATIVE:
        inner = affine(value.inputs[0])
        return inner and Affine(-inner.factor, inner.operator, -inner.constant)
    left, right = value.inputs
    if right.estimated:
        inner, known = affine(right), None if left.estimated else left.known
    else:
        inner, known = affine(left), right.known
    if inner is None or not isinstance(known, float):
        return None
    match value.operation:
        case ADD.name:
            return Affine(inner.factor, inner.operator, inner.constant + known)
        case SUBTRACT.name if right.estimated:
            return Affine(-inner.factor, inner.operator, known - inner.constant)
        case SUBTRACT.name:
            return Affine(inner.factor, inner.operator, inner.constant - known)
        case MULTIPLY.name:
            return Affine(inner.factor * known, inner.operator, inner.constant * known)
        case DIVIDE.name if not right.estimated and known != 0:
            return Affine(inner.factor / known, inner.operator, inner.constant / known)
        case _:
            return None


def _numbers(known: object) -> list[float]:
    """All numbers of a known value; none where it is not known."""
    if isinstance(known, tuple):
        return [number for entry in known for number in _numbers(entry)]
    return [known] if isinstance(known, float) else []


def combined(form: Linear) -> tuple[Value, Hull] | None:
    """One quantity a draw whose mean is the form without its constant, and where it can lie.

    Quantities with elements enter by their mean over the elements. None where the model does not
    bound it.

    Args:
        form: what to combine; it must have terms.
    """
    total: Value | None = None
    low = high = 0.0
    for factor, quantity in form.terms:
        hull = support(quantity)
        if not hull.bounded:
            return None
        ends = sorted((factor * hull.low, factor * hull.high))
        low, high = low + ends[0], high + ends[1]
        part = _a_draw(quantity)
        if factor != 1.0:
            number = _fixed(factor, quantity.at)
            part = _computed(MULTIPLY, (number, part))
        total = part if total is None else _computed(ADD, (total, part))
    return None if total is None else (total, Hull(low, high))


def _a_draw(quantity: Value) -> Value:
    """The mean over the elements of a draw."""
    while quantity.shape:
        quantity = _computed(MEAN, (quantity,), quantity.shape[:-1])
    return quantity


def _computed(function: Function, inputs: tuple[Value, ...], shape: Shape = ()) -> Value:
    return Value(
        Kind.COMPUTED,
        function.name,
        inputs,
        (),
        shape,
        inputs[0].at,
        random=any(value.random for value in inputs),
        sources=joined_sources(inputs),
    )


def _fixed(number: float, at: Position) -> Value:
    options = (("value", number.hex()),)
    return Value(Kind.CONSTANT, "number", (), options, (), at, constant=fixed_array(number))
