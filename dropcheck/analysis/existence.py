"""Which moments of a quantity do not exist, as far as the laws in its expression show it.

A normal variable has all moments, Student's t with ν degrees of freedom has those of orders below
ν. What a function does to the moments of its arguments is in its entry in the vocabulary. If
nothing follows from an expression, a moment may exist or not; the moments that surely exist are
those with bounds of norms (`moments/norms`).

For a·x + b with a single draw x, the law gives more. Near 0 its probability falls as a power of the
distance, which tells the moments of its reciprocal. Where the law's tail is exponential, its rate
tells the moments of the exponential function.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from dropcheck.analysis.moments.law_bounds import AffineDraw, line_of
from dropcheck.analysis.moments.norms import Norms
from dropcheck.language.cases import LoweredCase
from dropcheck.language.graph import Kind, Value, operators, ordered, random_inputs
from dropcheck.reasons import Explanation, Reason
from dropcheck.vocabulary.functions.elementwise import ADD, DIVIDE, MULTIPLY, NEGATIVE, SUBTRACT
from dropcheck.vocabulary.functions.reductions import MEAN, SUM
from dropcheck.vocabulary.growth import Operand


def moment_order(value: Value) -> float:
    """The order from which on a quantity has no moments; infinite if none is known."""
    norms = Norms(integrate=False)
    known: dict[int, tuple[Operand, AffineDraw | None]] = {}
    dense: dict[int, AffineDraw | None] = {}
    for one in ordered([value]):
        below = [known.get(id(v)) or (_fixed(v), None) for v in one.inputs]
        operands = [operand for operand, _ in below]
        line = line_of(one, [line for _, line in below])
        if _is_dense(one, line, dense):
            dense[id(one)] = line
        operand = Operand(
            quantity=one,
            shape=one.shape,
            order=_of_draw(one) if one.kind == Kind.DRAW else one.function.growth.order(operands),
            has_moment=lambda order, one=one: norms.norm(one, max(order, 1.0)) < math.inf,  # type: ignore[misc]  # mypy infers no type of `one=one`
            reciprocal=_reciprocal(one, operands, line, dense=id(one) in dense),
            rates=None if line is None else line.rates(),
            random=True,
            sources=one.sources,
            independent=_independent(one),
        )
        known[id(one)] = (operand, line)
    return known[id(value)][0].order if value.random else math.inf


def _fixed(value: Value) -> Operand:
    nonzero = value.constant is not None and bool((value.constant != 0).all())
    return Operand(value, value.shape, nonzero=nonzero, known=value.known)


def _independent(value: Value) -> bool:
    """Whether the elements of a quantity are independent draws from known laws."""
    if value.kind != Kind.DRAW or value.law is None or value.law.own_axes is not None:
        return False
    return not any(argument.random for argument in value.inputs)


def _of_draw(value: Value) -> float:
    law = value.law
    known = [argument.known for argument in value.inputs]
    if law is None or any(argument.random for argument in value.inputs):
        return math.inf  # it depends on the laws of the arguments too
    if not all(isinstance(argument, float) for argument in known):
        return math.inf  # arrays of arguments: each element has an order of its own
    return law.moment_order(*known)


def _is_dense(
    value: Value, line: AffineDraw | None, lines: Mapping[int, AffineDraw | None]
) -> bool:
    """Whether a quantity has a density that is bounded away from 0 around every point.

    A line a·x + b of one draw with such a law has such a density, and so has its sum with any
    independent quantity. If Y has the density f, and |Z| <= M with probability p > 0, then Y + Z
    has the density E f(t − Z) (Feller, An Introduction to Probability Theory II, 1971, section
    V.4). Around each t it is at least p times the minimum of f within M of t.

    Args:
        value: the quantity.
        line: the quantity as a line of one draw.
        lines: the dense quantities below it by identity, each as a line, or None if it is no line.
    """
    if line is not None:
        whole = line.law.support(*line.arguments) == (-math.inf, math.inf)
        return whole and line.near_zero() == 1.0
    if value.kind == Kind.DRAW:
        return False
    if value.function in (SUM, MEAN):  # a sum of independent elements, one of which is dense
        added = value.inputs[0]
        return lines.get(id(added)) is not None and _independent(_drawn(added))
    random = random_inputs(value)
    dense = any(id(one) in lines for one in random)
    if value.function in (ADD, SUBTRACT) and len(random) == 2:
        return dense and random[0].sources.isdisjoint(random[1].sources)
    others = [one.known for one in value.inputs if not one.random]
    usual = all(isinstance(one, float) and one and math.isfinite(one) for one in others)
    arithmetic = value.function in (ADD, SUBTRACT, MULTIPLY, NEGATIVE) or (
        value.function is DIVIDE and value.inputs[0].random
    )
    by_number = arithmetic and len(random) == 1 and usual
    return dense and (by_number or value.function.rearranges)


def _drawn(value: Value) -> Value:
    """The draw x of a quantity that is a line a·x + b, element by element."""
    while value.kind != Kind.DRAW:
        value = random_inputs(value)[0]
    return value


def _reciprocal(
    value: Value, operands: list[Operand], line: AffineDraw | None, *, dense: bool
) -> float:
    """The order of the moments of a random quantity's reciprocal, infinite if it is not known."""
    if line is not None:
        power = line.near_zero()
        return math.inf if power is None else power
    if dense:  # with a density of at least d around 0, E|1/u| >= ∫ d/|t| dt, which is infinite
        return 1.0
    return math.inf if value.kind == Kind.DRAW else value.function.growth.reciprocal(operands)


def missing_moment(lowered: LoweredCase) -> Explanation | None:
    """Why an operator of the statement has no value: its moment does not exist. None: unknown."""
    for operation, needed, never in _orders(lowered):
        if never <= needed:
            order = max(never, 1)
            moment = "mean" if order == 1 else "variance" if order <= 2 else "such moment"
            return Reason.NO_MOMENT.explain(operator=operation, order=order, moment=moment)
    return None


def missing_variance(lowered: LoweredCase) -> Explanation | None:
    """Why the limit theorem does not apply to a statement; None: unknown.

    An estimate of a moment of order k has a variance only if the moment of order 2k is finite.
    """
    for operation, needed, never in _orders(lowered):
        if never <= 2 * needed:
            return Reason.NO_VARIANCE_OF_ESTIMATE.explain(
                operator=operation, order=never, needed=2 * needed
            )
    return None


def _orders(lowered: LoweredCase) -> Iterator[tuple[str, int, float]]:
    """For each operand: the operator, the order of moments it needs, and the order without any."""
    for value in operators(lowered.operands):
        needed = value.operator.order
        if not needed or dict(value.options)["given"]:
            continue  # a probability always exists, and a condition may bound what it keeps
        for quantity in value.inputs:
            # a quick test first, as a recurrence has thousands of values
            if any(map(_may_lack_moments, ordered([quantity]))):
                yield value.operation, needed, moment_order(quantity)


def _may_lack_moments(value: Value) -> bool:
    """Whether a value can be the cause that a moment does not exist."""
    if value.kind == Kind.DRAW:
        return value.law is None or value.law.moments != math.inf
    return value.kind != Kind.COMPUTED or value.function.growth.heavier
