"""Where independent draws meet in products alone, so that they may be paired all with all.

Averages over all combinations of independent draws are several-sample U-statistics (Hoeffding 1948,
"A class of statistics with asymptotically normal distribution"; Lehmann 1951): unbiased for the
same means, at the price of few random numbers. There are two ways to such combinations.

If everything that a statement looks at depends on its draws only through one matrix product
`left @ right`, and the two sides share no draw, then every pair of a batch of left sides with a
batch of right sides is a draw of the product. Pairs depend on each other; batches do not, and the
batch is the unit of replication.

If every quantity is a product of parts, element by element as in `m * x / (1 - p)`, and the parts
fall into groups that share no draw, then a sum over all combinations of the groups' draws is a
product of sums, one a group: Σ Σ aᵢ bⱼ = Σ aᵢ · Σ bⱼ. Its variance is no larger than that of the
same draws one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dropcheck.analysis.averaged_products import ValuePowers
from dropcheck.analysis.moments.independence import grouped
from dropcheck.language.graph import (
    Kind,
    Value,
    in_order,
    joined_sources,
    ordered,
    random_inputs,
)
from dropcheck.records import record
from dropcheck.vocabulary.functions.elementwise import DIVIDE, MULTIPLY, NEGATIVE, POWER
from dropcheck.vocabulary.functions.linear_algebra import MATMUL

# Parts of one quantity, and the largest power of a part: past that sums of powers cost more than
# they save.
MOST_PARTS = 8
LARGEST_POWER = 4


@record
class Separated:
    """A quantity as a product: sign · Π part^power.

    `groups` has the parts of each group of draws that it depends on, `fixed` those that depend on
    no draw.
    """

    sign: int
    fixed: ValuePowers
    groups: tuple[tuple[int, ValuePowers], ...]

    @property
    def mixed(self) -> bool:
        """Whether draws of several groups meet in it."""
        return len(self.groups) > 1


def separated(
    targets: Mapping[Value, int],
) -> tuple[dict[Value, Separated], dict[str, int]] | None:
    """Every target as a product over groups of draws, and the group of each draw.

    None where several groups meet in none. The targets are all random quantities that integrands
    look at, with the powers that they do.
    """
    products = [_parts(value) for value in targets]
    groups = _groups(part for _, parts in products for part, _ in parts)
    found: dict[Value, Separated] = {}
    for target, (sign, parts) in zip(targets, products, strict=True):
        fixed: list[tuple[Value, int]] = []
        by_group: dict[int, list[tuple[Value, int]]] = {}
        for part, power in parts:
            own = by_group.setdefault(groups[min(part.sources)], []) if part.random else fixed
            own.append((part, power))
        members = tuple((group, tuple(own)) for group, own in sorted(by_group.items()))
        found[target] = Separated(sign, tuple(fixed), members)
    return (found, groups) if any(one.mixed for one in found.values()) else None


def _groups(parts: Iterable[Value]) -> dict[str, int]:
    """The group of every draw: draws that meet within a part are in one."""
    random = [one for one in parts if one.random]
    groups = sorted(sorted(joined_sources(own)) for own in grouped(random, lambda one: one.sources))
    return {name: number for number, names in enumerate(groups) for name in names}


def _parts(value: Value) -> tuple[int, ValuePowers]:
    """A quantity as sign · Π part^power; itself where parts or powers are too many, or cancel.

    m / m is undefined where m is 0, which must not be lost.
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
    """The parts of a product, a quotient or a power, and whether the sign turns."""
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
    """The product through which alone the targets see their draws, the last of several, or None.

    The targets are every value that an integrand looks at, conditions included.
    """
    roots = [value for value in targets if value.random]
    return next((one for one in reversed(ordered(roots)) if _is_crossing(one, roots)), None)


def _is_crossing(value: Value, roots: Sequence[Value]) -> bool:
    """Whether it is a product of independent sides, and every way to a draw leads through it."""
    if value.operation != MATMUL.name:
        return False
    left, right = value.inputs
    flat = max(len(side.shape) for side in value.inputs) <= 2  # stacks pair otherwise
    if not (flat and left.random and right.random and left.sources.isdisjoint(right.sources)):
        return False
    above = in_order(roots, lambda one: () if one is value else random_inputs(one))
    return all(one.kind != Kind.DRAW for one in above)
