"""Where independent draws meet in one matrix product alone.

If everything that a statement looks at depends on its draws only through `left @ right`, and the
two sides share no draw, then every pair of a batch of left sides with a batch of right sides is a
draw of the product. Averages over all pairs are two-sample U-statistics (Hoeffding 1948, "A class
of statistics with asymptotically normal distribution"; Lehmann 1951): unbiased for the same means,
at the price of few random numbers. Pairs depend on each other; batches do not, and the batch is
the unit of replication.
"""

from __future__ import annotations

from collections.abc import Iterable

from dropcheck.language.graph import Kind, Value
from dropcheck.vocabulary.functions.linear_algebra import MATMUL


def crossing(targets: Iterable[Value]) -> Value | None:
    """The product through which alone the targets see their draws, or None.

    Args:
        targets: every value that an integrand looks at, conditions included.
    """
    roots = [value for value in targets if value.random]
    found = {id(value): value for root in roots for value in _products(root)}
    for product in found.values():
        if all(_only_through(root, product) for root in roots):
            return product
    return None


def _products(root: Value) -> list[Value]:
    """Products of two independent random sides below a value, outermost first."""
    seen: set[int] = set()
    found: list[Value] = []
    stack = [root]
    while stack:
        value = stack.pop()
        if id(value) in seen or not value.random:
            continue
        seen.add(id(value))
        if value.operation == MATMUL.name:
            left, right = value.inputs
            flat = max(len(side.shape or ()) for side in value.inputs) <= 2  # stacks pair otherwise
            if flat and left.random and right.random and not left.sources & right.sources:
                found.append(value)
        stack.extend(value.inputs)
    return found


def _only_through(root: Value, product: Value) -> bool:
    """Whether every way from a value down to a draw leads through the product."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        value = stack.pop()
        if value is product or id(value) in seen or not value.random:
            continue
        if value.kind == Kind.DRAW:
            return False
        seen.add(id(value))
        stack.extend(value.inputs)
    return True


def below(value: Value) -> set[int]:
    """The ids of a value and of everything random below it."""
    seen: set[int] = set()
    stack = [value]
    while stack:
        found = stack.pop()
        if id(found) not in seen and found.random:
            seen.add(id(found))
            stack.extend(found.inputs)
    return seen
