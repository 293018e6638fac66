"""Statements that are linear in expectations: one mean of one quantity a draw.

`E(y) - 2 * E(x) + 1` is the mean of `y - 2 * x + 1`. Where the model bounds that quantity, its
mean has an interval that needs no limit theorem.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dropcheck.analysis.bounds import support
from dropcheck.language.graph import Kind, Value, fixed_array, joined_sources
from dropcheck.language.syntax import Position
from dropcheck.records import dataclass
from dropcheck.vocabulary.function import Function
from dropcheck.vocabulary.functions.elementwise import ADD, DIVIDE, MULTIPLY, NEGATIVE, SUBTRACT
from dropcheck.vocabulary.functions.reductions import MEAN
from dropcheck.vocabulary.hulls import Hull
from dropcheck.vocabulary.shapes import Shape

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

    def divided(self, by: float) -> Linear:
        """The same, divided by a number."""
        return Linear(tuple((own / by, value) for own, value in self.terms), self.constant / by)


Form = Callable[[Value], Linear | None]
"""An operator as a linear form, where it is one."""


def linear(value: Value) -> Linear | None:
    """A side of a statement as a linear form in means, or None where it is none.

    Conditional expectations are ratios, and P of something that is not a truth is not a mean of it.
    """
    return _form(value, _mean)


def of_one_operator(value: Value) -> Linear | None:
    """A side as a linear form in the value of one operator, or None where it is none."""
    form = _form(value, lambda operator: Linear(((1.0, operator),), 0.0))
    return form if form is not None and len(form.terms) == 1 else None


def _form(value: Value, of_operator: Form) -> Linear | None:
    known = None if value.estimated else value.known
    if isinstance(known, float):
        return Linear((), known)
    if value.kind == Kind.OPERATOR:
        return of_operator(value)
    if value.kind != Kind.COMPUTED or value.function not in _ARITHMETIC:
        return None
    forms = [form for form in (_form(one, of_operator) for one in value.inputs) if form is not None]
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
            return left.divided(right.constant)
        case _:
            return None


def _mean(operator: Value) -> Linear | None:
    if not operator.operator.is_mean or len(operator.inputs) > 1:
        return None
    (quantity,) = operator.inputs
    if operator.operator.probability and not quantity.truth:
        return None
    if quantity.random:
        return Linear(((1.0, quantity),), 0.0)
    numbers = _numbers(quantity.known)
    defined = numbers and all(map(math.isfinite, numbers))
    return Linear((), math.fsum(numbers) / len(numbers)) if defined else None


def _numbers(known: object) -> list[float]:
    """All numbers of a known value; none where it is not known."""
    if isinstance(known, tuple):
        return [number for entry in known for number in _numbers(entry)]
    return [known] if isinstance(known, float) else []


def combined(form: Linear) -> tuple[Value, Hull] | None:
    """One quantity a draw whose mean is the form without its constant, and where it can lie.

    Quantities with elements enter by their mean over the elements. None where the model does not
    bound it, or the form has no terms.
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
        kind=Kind.COMPUTED,
        operation=function.name,
        inputs=inputs,
        options=(),
        shape=shape,
        at=inputs[0].at,
        random=any(value.random for value in inputs),
        sources=joined_sources(inputs),
    )


def _fixed(number: float, at: Position) -> Value:
    return Value(
        kind=Kind.CONSTANT,
        operation="number",
        inputs=(),
        options=(("value", number.hex()),),
        shape=(),
        at=at,
        constant=fixed_array(number),
    )
