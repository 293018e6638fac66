"""Models in which independent draws are only multiplied, so that all combinations can be averaged.

Averages over all combinations of independent draws are several-sample U-statistics (Hoeffding 1948,
"A class of statistics with asymptotically normal distribution"; Lehmann 1951). They are unbiased
for the same means, and need few random numbers. There are two kinds of such models.

In the first kind, all quantities of a statement depend on the draws only through one matrix product
`left @ right`, whose two sides share no draw. Then every pair of a left side of a batch and a right
side of the batch is a draw of the product. Pairs depend on each other, batches do not: the batch is
the unit of replication.

In the second kind, every quantity is a product of parts, element by element as in
`m * x / (1 - p)`, and the parts fall into groups that share no draw. Then the sum over all
combinations of the groups' draws is a product of one sum for each group: Σ Σ aᵢ bⱼ = Σ aᵢ · Σ bⱼ.
Its variance is at most that of the same draws used one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from dropcheck.analysis.averaged_products import ValuePowers
from dropcheck.analysis.law_bounds import grouped
from dropcheck.language.graph import (
    Kind,
    Value,
    in_order,
    joined_sources,
    ordered,
    random_inputs,
)
from dropcheck.vocabulary.functions.elementwise import DIVIDE, MULTIPLY, NEGATIVE, POWER
from dropcheck.vocabulary.functions.linear_algebra import MATMUL

# The most parts of one quantity, and the largest power of a part: for more, sums of powers cost
# more than they save.
MOST_PARTS = 8
LARGEST_POWER = 4


@dataclass(frozen=True, slots=True)
class Separated:
    """A quantity as a product: sign · Π part^power.

    `groups` has the numbers of the groups of draws that it depends on, each with its parts; `fixed`
    has the parts that depend on no draw.
    """

    sign: int
    fixed: ValuePowers
    groups: tuple[tuple[int, ValuePowers], ...]

    @property
    def mixed(self) -> bool:
        """Whether it depends on draws of several groups."""
        return len(self.groups) > 1


def separated(
    targets: Collection[Value],
) -> tuple[dict[Value, Separated], dict[str, int]] | None:
    """Every target as a product over groups of draws, and the group of each draw.

    None if no target depends on several groups. The targets are all random quantities in
    integrands.
    """
    products = [_parts(value) for value in targets]
    groups = _groups(part for _, parts in products for part, _ in parts)
    separate: dict[Value, Separated] = {}
    for target, (sign, parts) in zip(targets, products, strict=True):
        fixed: list[tuple[Value, int]] = []
        by_group: dict[int, list[tuple[Value, int]]] = {}
        for part, power in parts:
            own = by_group.setdefault(groups[min(part.sources)], []) if part.random else fixed
            own.append((part, power))
        members = tuple((group, tuple(own)) for group, own in sorted(by_group.items()))
        separate[target] = Separated(sign, tuple(fixed), members)
    return (separate, groups) if any(one.mixed for one in separate.values()) else None


def _groups(parts: Iterable[Value]) -> dict[str, int]:
    """The number of each draw's group: draws that occur in one part are in one group."""
    random = [one for one in parts if one.random]
    groups = sorted(sorted(joined_sources(own)) for own in grouped(random, lambda one: one.sources))
    return {name: number for number, names in enumerate(groups) for name in names}


def _parts(value: Value) -> tuple[int, ValuePowers]:
    """A quantity as sign · Π part^power; the quantity itself if that is too long.

    The same if powers of opposite signs meet: m / m is undefined where m is 0, and must stay so.
    """
    sign = 1
    found: dict[int, tuple[Value, int]] = {}
    stack = [(value, 1)]
    while stack:
        part, power = stack.pop()
        inner = _opened(part) if part.random else None
        if inner is None:
            before = found.get(id(part), (part, 0))[1]
            found[id(part)] = (part, before + power)
            if before * power < 0 or abs(before + power) > LARGEST_POWER or len(found) > MOST_PARTS:
                return 1, ((value, 1),)
            continue
        turned, below = inner
        if turned and power % 2:
            sign = -sign
        stack.extend((one, own * power) for one, own in below)
    return sign, tuple(found.values())


def _opened(value: Value) -> tuple[bool, list[tuple[Value, int]]] | None:
    """Whether the sign changes, and the parts of a product, a quotient or a power; else None."""
    if value.kind != Kind.COMPUTED:
        return None
    match value.operation, value.inputs:
        case MULTIPLY.name, (left, right):
            return False, [(left, 1), (right, 1)]
        case DIVIDE.name, (left, right):
            return False, [(left, 1), (right, -1)]
        case NEGATIVE.name, (inner,):
            return True, [(inner, 1)]
        case POWER.name, (base, exponent) if not exponent.random:
            power = exponent.known
            if isinstance(power, float) and power in range(1, LARGEST_POWER + 1):
                return False, [(base, int(power))]
    return None


def crossing(targets: Iterable[Value]) -> Value | None:
    """The matrix product through which alone the targets depend on draws, the last of several.

    None if there is none. The targets are all values in integrands, conditions included.
    """
    roots = [value for value in targets if value.random]
    return next((one for one in reversed(ordered(roots)) if _is_crossing(one, roots)), None)


def _is_crossing(value: Value, roots: Sequence[Value]) -> bool:
    """Whether it is a matrix product of independent sides on every path from a root to a draw."""
    if not value.computed_by(MATMUL):
        return False
    left, right = value.inputs
    flat = max(len(side.shape) for side in value.inputs) <= 2  # stacks of matrices pair differently
    if not (flat and left.random and right.random and left.sources.isdisjoint(right.sources)):
        return False
    above = in_order(roots, lambda one: () if one is value else random_inputs(one))
    return all(one.kind != Kind.DRAW for one in above)
