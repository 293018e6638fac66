"""Whether the elements of an array have one law; what an operator pools where they do not."""

from __future__ import annotations

import numpy as np

from dropcheck.errors import Problem
from dropcheck.language.graph import Kind, Value, in_order
from dropcheck.language.syntax import Call
from dropcheck.vocabulary.functions.arrays import ARRAY

# Means of so many elements are listed; of more the least and the greatest are named.
MOST_LISTED = 4


def note_on_pooling(node: Call, values: tuple[Value, ...]) -> list[Problem]:
    """A note where an operator is of what has a shape, and its elements plainly differ in law."""
    found = [value for value in values if value.random and value.shape and _unlike(value)]
    if not found:
        return []
    value = found[0]
    count = int(np.prod(value.shape))
    means = _means(value)
    return [
        Problem(
            f"{node.name!r} of a quantity of shape {list(value.shape)} is pooled over {count} "
            f"elements{means}: it is that of one picked at random",
            node.at.location,
            f"claim each, {node.name}(…) == [a, b], or pick one, x[0]",
        )
    ]


def _unlike(value: Value) -> bool:
    """Whether elements differ in law, as far as the lines of the model show it plainly."""
    known: dict[int, bool] = {}
    for one in in_order([value], lambda one: one.inputs if one.kind != Kind.OPERATOR else ()):
        known[id(one)] = _itself(one) or (
            bool(one.shape) and any(known[id(below)] and below.shape for below in one.inputs)
        )
    return known[id(value)]


def _itself(value: Value) -> bool:
    if value.constant is not None:
        numbers = np.asarray(value.constant, dtype=np.float64)
        return bool(value.shape) and numbers.size > 1 and bool(np.ptp(numbers) > 0)
    if value.kind == Kind.COMPUTED and value.function is ARRAY:
        return any(one is not value.inputs[0] for one in value.inputs)
    return False


def _means(value: Value) -> str:
    """The means of the elements, of a draw whose law gives them."""
    law = value.law
    if value.kind != Kind.DRAW or law is None or law.own_axes is not None:
        return ""
    known = [one.known for one in value.inputs]
    if any(one is None for one in known):
        return ""
    with np.errstate(all="ignore"):
        means = np.broadcast_to(np.asarray(law.mean(*known), dtype=np.float64), value.shape).ravel()
    if not np.isfinite(means).all() or np.ptp(means) == 0:
        return ""
    if len(means) > MOST_LISTED:
        return f" with means from {means.min():.6g} to {means.max():.6g}"
    *first, last = (f"{one:.6g}" for one in means)
    return f" with means {', '.join(first)} and {last}"
