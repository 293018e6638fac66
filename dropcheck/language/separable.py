"""Where independent draws meet in products alone, element by element: `m * x / (1 - p)`.

If every quantity that a statement looks at is a product of parts, and the parts fall into groups
that share no draw, then a sum over all combinations of the groups' draws is a product of sums,
one a group: Σ Σ aᵢ bⱼ = Σ aᵢ · Σ bⱼ. Averages over all combinations are several-sample U-statistics
(Hoeffding 1948, "A class of statistics with asymptotically normal distribution"; Lehmann 1951):
unbiased for the same means, of no larger variance, and they cost no more than the draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dropcheck.language.graph import Kind, Value
from dropcheck.records import dataclass

Plain = Callable[[Value], object]

# Parts of one quantity, and the largest power of a part: past that sums of powers cost more than
# they save.
MOST_PARTS = 8
LARGEST_POWER = 4


@dataclass(frozen=True, slots=True)
class Separated:
    """A quantity as a product: sign · Π part^power.

    `groups` has the parts of each group of draws that it depends on, `fixed` those that depend on
    no draw.
    """

    sign: int
    fixed: tuple[tuple[Value, int], ...]
    groups: tuple[tuple[int, tuple[tuple[Value, int], ...]], ...]

    @property
    def mixed(self) -> bool:
        """Whether draws of several groups meet in it."""
        return len(self.groups) > 1


def separated(targets: Sequence[Value], plain: Plain) -> tuple[Separated, ...] | None:
    """Every target as a product over groups of draws; None where that is of no use.

    It is of use where draws of several groups meet in some target.

    Args:
        targets: all random quantities that integrands look at.
        plain: what is known of a value before any draw, None where nothing is.
    """
    if any(value.shape is None for value in targets):
        return None
    groups = _groups(targets, plain)
    if groups is None:
        return None
    found = [_collected(value, groups, plain) for value in targets]
    return tuple(found) if any(one.mixed for one in found) else None


def _groups(targets: Iterable[Value], plain: Plain) -> dict[str, int] | None:
    """The group of every draw: draws that meet elsewhere than in a product are in one."""
    leader: dict[str, str] = {}

    def first(name: str) -> str:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    for value in targets:
        parts = _parts(value, plain, {})
        if parts is None:
            return None
        for part, _ in parts[1]:
            names = sorted(part.sources)
            for name in names:
                leader[first(name)] = first(names[0])
    numbers: dict[str, int] = {}
    return {name: numbers.setdefault(first(name), len(numbers)) for name in sorted(leader)}


def _collected(value: Value, groups: dict[str, int], plain: Plain) -> Separated:
    """A quantity with its parts by groups; what lies within one group is left whole."""
    parts = _parts(value, plain, groups)
    if parts is None:
        raise AssertionError("a quantity that was taken apart cannot be taken apart less")
    sign, factors = parts
    fixed: list[tuple[Value, int]] = []
    by_group: dict[int, list[tuple[Value, int]]] = {}
    for part, power in factors:
        if part.random:
            by_group.setdefault(groups[min(part.sources)], []).append((part, power))
        else:
            fixed.append((part, power))
    return Separated(
        sign,
        tuple(fixed),
        tuple((group, tuple(members)) for group, members in sorted(by_group.items())),
    )


def _parts(
    value: Value, plain: Plain, groups: dict[str, int]
) -> tuple[int, list[tuple[Value, int]]] | None:
    """A quantity as sign · Π part^power; None where parts or powers are too many, or cancel.

    m / m is undefined where m is 0, which must not be lost. What is known to lie within one group
    is one part.
    """
    sign = 1
    found: dict[int, tuple[Value, int]] = {}
    stack = [(value, 1)]
    while stack:
        part, power = stack.pop()
        whole = len({groups.get(name, name) for name in part.sources}) == 1 and bool(groups)
        inner = _opened(part, plain) if part.random and not whole else None
        if inner is None:
            before = found.get(id(part), (part, 0))[1]
            found[id(part)] = (part, before + power)
            if before * power < 0 or abs(before + power) > LARGEST_POWER or len(found) > MOST_PARTS:
                return None
            continue
        turned, below = inner
        if turned and power % 2:
            sign = -sign
        stack.extend((one, own * power) for one, own in below)
    return sign, list(found.values())


def _opened(value: Value, plain: Plain) -> tuple[bool, list[tuple[Value, int]]] | None:
    """The parts of a product, a quotient or a power, and whether the sign turns."""
    if value.kind != Kind.COMPUTED:
        return None
    match value.operation, value.inputs:
        case "*", (left, right):
            return False, [(left, 1), (right, 1)]
        case "/", (left, right):
            return False, [(left, 1), (right, -1)]
        case "negative", (inner,):
            return True, [(inner, 1)]
        case "**", (base, exponent) if not exponent.random:
            power = plain(exponent)
            if isinstance(power, float) and power in range(1, LARGEST_POWER + 1):
                return False, [(base, int(power))]
    return None
