"""Which moments a quantity has, as far as the laws in its expression settle it.

For a quantity u, E|u|^r is finite for all r below some order, and infinite above it. The laws are
known; an expression bounds the order from both sides: below `sure` every moment exists, from
`never` on none does. Where they agree the matter is settled before any draw. A normal has
inf and inf, Student's t with ν degrees of freedom ν and ν; nothing known is 0 and inf.
"""

from __future__ import annotations

import math

from dropcheck.analysis.behaviour import Line, line_of
from dropcheck.language.graph import Kind, Value, ordered
from dropcheck.records import dataclass
from dropcheck.vocabulary.function_table import called

_BOUNDED = frozenset(
    {
        *("sin", "cos", "arctan", "arctan2", "tanh", "sigmoid", "erf", "erfc", "Phi"),
        *("phi", "sign", "softmax", "one_hot", "argmax", "argmin", "argsort"),
    }
)
# No larger than the largest of their arguments, up to a factor and a summand that do not vary.
_NO_HEAVIER = frozenset(
    {
        *("abs", "negative", "floor", "ceil", "round", "relu", "leaky_relu", "elu", "selu"),
        *("gelu", "silu", "softplus", "minimum", "maximum", "where", "conditional", "sum"),
        *("mean", "max", "min", "sort", "cumsum", "cummax", "diff", "median", "quantile"),
        *("take", "concat", "stack", "array", "subscript", "transpose", "std", "norm"),
        *("logsumexp", "diag", "trace", "arcsinh", "clip"),
    }
)
_ROOTS = {"sqrt": 1 / 2, "cbrt": 1 / 3}
# Each value of these is one of the argument's, up to its sign.
_SAME = frozenset({"abs", "negative", "subscript", "transpose"})


@dataclass(frozen=True, slots=True)
class Order:
    """Bounds on the order of the moments that a quantity has."""

    sure: float  # E|u|^r is finite for every r below
    never: float  # E|u|^r is infinite for every r from here on


ALL = Order(math.inf, math.inf)
UNKNOWN = Order(0.0, math.inf)


def moment_order(value: Value) -> Order:
    """The order of a quantity.

    Args:
        value: the quantity.
    """
    known: dict[int, _Known] = {}
    for one in ordered([value]):
        below = [known.get(id(v), _FIXED) for v in one.inputs]
        line = line_of(one, [found.line for found in below])
        order = _order(one, below)
        known[id(one)] = _Known(order, _reciprocal(one, below, line), line)
    return known.get(id(value), _FIXED).order


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a quantity: its order, its reciprocal's, and the draw it is a line of."""

    order: Order
    reciprocal: Order
    line: Line | None


_FIXED = _Known(ALL, ALL, None)  # a division by a fixed 0 is told elsewhere


def _order(value: Value, below: list[_Known]) -> Order:
    """The order of a random quantity, from those of what it is made from."""
    if value.kind == Kind.DRAW:
        return _of_draw(value)
    orders = [found.order for found in below]
    name = called(value.operation)
    inputs = value.inputs
    if value.truth or name in _BOUNDED:
        return ALL
    if name in ("+", "-"):
        return _of_sum(value, orders)
    if name in ("*", "matmul", "dot", "outer"):
        return _of_product(name, inputs, orders)
    if name == "/":
        return _of_factors(inputs, orders[0], below[1].reciprocal)
    if name == "**":
        return _of_power(orders[0], below[0].reciprocal, inputs[1].known)
    if name in _ROOTS:
        return _scaled(orders[0], _ROOTS[name])
    if name == "var":
        squared = _scaled(orders[0], 2)
        spread = _independent(inputs[0]) and (inputs[0].shape or (1,))[-1] > 1
        return Order(squared.sure, squared.never if spread else math.inf)
    if name in ("exp", "expm1", "sinh", "cosh"):
        return _of_exponential(name, below[0].line)
    if name in _NO_HEAVIER and not (name == "leaky_relu" and inputs[1].random):
        # a sum of independent terms has no moment that one of them lacks
        same = name in _SAME or (name in ("sum", "mean") and _independent(inputs[0]))
        return Order(min(order.sure for order in orders), orders[0].never if same else math.inf)
    return UNKNOWN


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


def _of_sum(value: Value, orders: list[Order]) -> Order:
    sure = min(order.sure for order in orders)
    first, second = orders
    # the heavier part cannot be cancelled by a lighter one, nor by an independent one
    if first.never < second.sure:
        return Order(sure, first.never)
    if second.never < first.sure:
        return Order(sure, second.never)
    if not value.inputs[0].sources & value.inputs[1].sources:
        return Order(sure, min(first.never, second.never))
    return Order(sure, math.inf)


def _of_product(name: str, inputs: tuple[Value, ...], orders: list[Order]) -> Order:
    left, right = inputs
    if name == "*":
        return _scaled(orders[0], 2) if left is right else _of_factors(inputs, *orders)
    if left is right:
        # a sum of squares, or products of unlike elements beside them
        squares = name == "dot" or (name == "matmul" and len(left.shape or ()) == 1)
        squared = _scaled(orders[0], 2)
        return squared if squares else Order(squared.sure, math.inf)
    product = _of_factors(inputs, *orders)
    # in a sum of products heavy terms may cancel, unless they are independent
    heavy = [value for value, order in zip(inputs, orders, strict=True) if order.never < math.inf]
    kept = name == "outer" or all(_independent(value) for value in heavy)
    return product if kept else Order(product.sure, math.inf)


def _of_factors(inputs: tuple[Value, ...], first: Order, second: Order) -> Order:
    left, right = inputs
    if not left.random or not right.random:
        varied = first if left.random else second
        fixed = right if left.random else left
        never = varied.never if _nowhere_zero(fixed) else math.inf
        return Order(varied.sure, never)
    if not left.sources & right.sources:
        # a factor that is not always 0 cannot mend an independent one
        never = min(
            first.never if _not_always_zero(right, second) else math.inf,
            second.never if _not_always_zero(left, first) else math.inf,
        )
        return Order(min(first.sure, second.sure), never)
    if math.inf in (first.sure, second.sure):
        # Hölder: a factor with every moment costs nothing
        return Order(min(first.sure, second.sure), math.inf)
    if first.sure == 0 or second.sure == 0:
        return UNKNOWN
    return Order(1 / (1 / first.sure + 1 / second.sure), math.inf)


def _not_always_zero(value: Value, order: Order) -> bool:
    """Whether a random quantity is known to differ from 0 now and then."""
    return order.never < math.inf or _independent(value)


def _nowhere_zero(fixed: Value) -> bool:
    """Whether a fixed factor is known not to be 0 (its division by zero is told elsewhere)."""
    return fixed.constant is not None and bool((fixed.constant != 0).all())


def _reciprocal(value: Value, below: list[_Known], line: Line | None) -> Order:
    """The order of a random quantity's reciprocal: how its probability falls towards 0."""
    if line is not None:
        power = line.near_zero()
        return UNKNOWN if power is None else Order(power, power)
    if value.kind == Kind.DRAW:
        return UNKNOWN
    name, inputs = called(value.operation), value.inputs
    orders = [found.reciprocal for found in below]
    if name in _SAME:
        return orders[0]
    if name in _ROOTS:
        return _scaled(orders[0], _ROOTS[name])
    if name == "**":
        return _of_power(orders[0], below[0].order, inputs[1].known)
    if name in ("*", "/") and not all(one.random or _nowhere_zero(one) for one in inputs):
        return UNKNOWN
    if name == "*":
        same = inputs[0] is inputs[1]
        return _scaled(orders[0], 2) if same else _of_factors(inputs, *orders)
    if name == "/":
        return _of_factors(inputs, orders[0], below[1].order)
    if name in ("matmul", "dot") and inputs[0] is inputs[1] and _independent(inputs[0]):
        shape = inputs[0].shape or ()
        if len(shape) == 1 and shape[0]:  # a sum of squares, all of which are then near 0
            return _scaled(orders[0], 2 / shape[0])
    return UNKNOWN


def _of_power(order: Order, reciprocal: Order, exponent: object) -> Order:
    """The order of a power, of a quantity with these orders."""
    if not isinstance(exponent, float):
        return UNKNOWN
    if exponent == 0:
        return ALL
    return _scaled(order, exponent) if exponent > 0 else _scaled(reciprocal, -exponent)


def _of_exponential(name: str, argument: Line | None) -> Order:
    """E exp(r · x) is P(x > t) · r · exp(r · t) integrated: finite for r below the tail's rate."""
    if argument is None:
        return UNKNOWN
    down, up = argument.rates()
    if name in ("exp", "expm1"):
        down = math.inf  # where they do not grow
    if up is None or down is None:
        return UNKNOWN
    return Order(min(up, down), min(up, down))


def _scaled(order: Order, power: float) -> Order:
    return Order(order.sure / power, order.never / power)
