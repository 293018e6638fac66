"""Quantities that no sample can estimate, told before any draw."""

from __future__ import annotations

from collections.abc import Sequence

from dropcheck.analysis.moment_orders import moment_order
from dropcheck.language.cases import LoweredCase
from dropcheck.language.graph import Kind, Value
from dropcheck.reasons import Explanation, Reason


def missing_moment(lowered: LoweredCase) -> Explanation | None:
    """Why a quantity of the statement cannot be judged, where the laws alone settle it.

    A moment of order k that does not exist cannot be estimated at all. One that exists can have an
    interval from the limit theorem only if its estimate has a variance, which takes a finite
    moment of order 2k.
    """
    for value in operators(lowered.operands):
        needed = value.operator.order
        if not needed or dict(value.options)["given"]:
            continue  # a probability always exists, and a condition may bound what it keeps
        for quantity in value.inputs:
            never = moment_order(quantity).never
            if never <= needed:
                order = max(never, 1)
                moment = "mean" if order == 1 else "variance" if order <= 2 else "such moment"
                return Reason.NO_MOMENT.explain(
                    operator=value.operation, order=order, moment=moment
                )
            if never <= 2 * needed:
                return Reason.NO_VARIANCE_OF_ESTIMATE.explain(
                    operator=value.operation, order=never, needed=2 * needed
                )
    return None


def operators(values: Sequence[Value]) -> list[Value]:
    """Every operator on the law below some values, each once."""
    found: dict[int, Value] = {}
    stack = list(values)
    while stack:
        value = stack.pop()
        if value.kind == Kind.OPERATOR:
            found[id(value)] = value
        elif value.estimated:
            stack.extend(value.inputs)
    return list(found.values())
