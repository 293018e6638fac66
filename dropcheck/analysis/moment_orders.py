"""Which moments a quantity has, as far as the laws in its expression settle it.

The laws are known; what each function makes of the moments of its arguments, its entry in the
vocabulary says. A normal has all moments, Student's t with ν degrees of freedom those of orders
below ν; where an expression settles nothing, some may or may not exist.
"""

from __future__ import annotations

import math

from dropcheck.analysis.behaviour import Line, line_of
from dropcheck.language.graph import Kind, Value, ordered
from dropcheck.vocabulary.growth import ALL, UNKNOWN, Operand, Order


def moment_order(value: Value) -> Order:
    """The order of a quantity: up to which moments it surely has, and from which it has none."""
    known: dict[int, tuple[Operand, Line | None]] = {}
    for one in ordered([value]):
        below = [known.get(id(v)) or (_fixed(v), None) for v in one.inputs]
        operands = [operand for operand, _ in below]
        line = line_of(one, [line for _, line in below])
        operand = Operand(
            quantity=one,
            shape=one.shape or (),
            order=_of_draw(one) if one.kind == Kind.DRAW else one.function.growth.order(operands),
            reciprocal=_reciprocal(one, operands, line),
            rates=None if line is None else line.rates(),
            random=True,
            sources=one.sources,
            independent=_independent(one),
        )
        known[id(one)] = (operand, line)
    return known[id(value)][0].order if value.random else ALL


def _fixed(value: Value) -> Operand:
    nonzero = value.constant is not None and bool((value.constant != 0).all())
    return Operand(value, value.shape or (), nonzero=nonzero, known=value.known)


def _independent(value: Value) -> bool:
    """Whether the elements of a quantity are independent draws from laws that are known."""
    if value.kind != Kind.DRAW or value.law is None or value.law.own_axes is not None:
        return False
    return not any(argument.random for argument in value.inputs)


def _of_draw(value: Value) -> Order:
    law = value.law
    known = [argument.known for argument in value.inputs]
    if law is None or any(argument.random for argument in value.inputs):
        return UNKNOWN  # the law of the arguments has a say
    if law.moments == math.inf:
        return ALL
    if not all(isinstance(argument, float) for argument in known):
        return UNKNOWN  # arrays of arguments: each element has an order of its own
    order = law.moment_order(*known)
    return Order(order, order)


def _reciprocal(value: Value, operands: list[Operand], line: Line | None) -> Order:
    """The order of a random quantity's reciprocal: how its probability falls towards 0."""
    if line is not None:
        power = line.near_zero()
        return UNKNOWN if power is None else Order(power, power)
    return UNKNOWN if value.kind == Kind.DRAW else value.function.growth.reciprocal(operands)
