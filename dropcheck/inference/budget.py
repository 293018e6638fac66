"""The error budget over cases and looks, and the draws at which to look.

Each case has a share of the registry's α, and each look a share of the case's. A pilot plans the
looks of a case, and its draws are used for nothing else. So the looks do not depend on the draws
that they judge, and the shares add up (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

# Early looks catch claims that are grossly false, late ones those that the pilot misjudged; most
# of the error is spent where the verdict is expected. After the planned look the shares fall as
# 1/(k (k + 1)), which sums to 1 over all k.
EARLY = ((1 / 16, 0.04), (1 / 4, 0.06))
PLANNED = 0.6
GROWTH = 1.3
# Plans expect the estimate to be this many standard errors off: in two runs of three it is within.
CHANCE = 1.0


@dataclass(frozen=True, slots=True)
class Look:
    """One look: after how many draws, and the error it may make."""

    draws: int
    alpha: float


def case_alpha(alpha: float, registry_cases: int, selected_cases: int) -> float:
    """A case's share of the family-wise error rate.

    The share is that of the registry, so that a case run alone gives the numbers of a full run;
    only a sweep over more cases than the registry has is divided further.
    """
    return alpha / max(registry_cases, selected_cases, 1)


def looks(
    planned: int, fewest: int, most: int, alpha: float, *, span: int = 1, early: bool = True
) -> Iterator[Look]:
    """Looks in order, each after whole spans; the last is where the budget ends.

    Args:
        planned: draws after which the verdict is expected.
        fewest: draws before which no interval can be trusted.
        most: the end of the budget.
        alpha: the case's error; the shares of all looks sum to no more.
        span: draws that are made at a time.
        early: whether to look before the planned number.

    >>> [look.draws for look in looks(1600, 10, 4000, 1e-6)]
    [100, 400, 1600, 2080, 2704, 3516, 4000]
    >>> [look.draws for look in looks(1600, 10, 4000, 1e-6, span=1000)]
    [1000, 2000, 3000, 4000]
    """
    last, end, rest = 0, max(1, most // span), 1 - PLANNED
    expected = min(max(planned, fewest, 1) / span, end)
    fewest = -(-fewest // span)
    for fraction, share in EARLY if early else ():
        spans = math.ceil(expected * fraction)
        if max(fewest, last + 1) <= spans < expected:
            yield Look(spans * span, alpha * share)
            last, rest = spans, rest - share
    last = math.ceil(expected)
    yield Look(last * span, alpha * PLANNED)
    k = 1
    while last < end:
        last = min(math.ceil(last * GROWTH), end)
        yield Look(last * span, alpha * rest / (k * (k + 1)))
        k += 1
