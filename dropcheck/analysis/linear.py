"""Sides of statements that are linear in operators, as `E(y) - 2 * E(x) + 1` is."""

from __future__ import annotations

from dropcheck.language.graph import Kind, Value
from dropcheck.records import record
from dropcheck.vocabulary.functions.elementwise import ADD, DIVIDE, MULTIPLY, NEGATIVE, SUBTRACT

_ARITHMETIC = (NEGATIVE, ADD, SUBTRACT, MULTIPLY, DIVIDE)


@record
class LinearCombination:
    """Σ factor · operator + constant; `terms` are the pairs of a factor and an operator."""

    terms: tuple[tuple[float, Value], ...]
    constant: float

    def scaled(self, factor: float) -> LinearCombination:
        """The combination times a number."""
        return LinearCombination(
            tuple((factor * own, value) for own, value in self.terms), factor * self.constant
        )

    def plus(self, other: LinearCombination) -> LinearCombination:
        """The sum of two combinations; an operator in both becomes one term."""
        factors: dict[int, tuple[float, Value]] = {}
        for factor, value in self.terms + other.terms:
            before, _ = factors.get(id(value), (0.0, value))
            factors[id(value)] = (before + factor, value)
        return LinearCombination(tuple(factors.values()), self.constant + other.constant)

    def divided(self, by: float) -> LinearCombination:
        """The combination divided by a number."""
        return LinearCombination(
            tuple((own / by, value) for own, value in self.terms), self.constant / by
        )


def of_one_operator(value: Value) -> LinearCombination | None:
    """A side as a linear combination with one operator; None if it is none."""
    form = of_operators(value)
    return form if form is not None and len(form.terms) == 1 else None


def of_operators(value: Value) -> LinearCombination | None:
    """A side as a linear combination of operators; None if it is none."""
    known = None if value.estimated else value.known
    if isinstance(known, float):
        return LinearCombination((), known)
    if value.kind == Kind.OPERATOR:
        return LinearCombination(((1.0, value),), 0.0)
    if not value.computed_by(*_ARITHMETIC):
        return None
    forms = [form for form in map(of_operators, value.inputs) if form is not None]
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
