"""What a statement about laws says of a case, once its names are known."""

from __future__ import annotations

import math
from enum import StrEnum

import numpy as np

from dropcheck.language.graph import Plain, Value
from dropcheck.records import record
from dropcheck.vocabulary.law import Law


class Relation(StrEnum):
    """What is claimed of the laws of some quantities."""

    FOLLOWS = "follows a law"  # each entry of a quantity has a law that is named
    ALIKE = "have one law"  # each entry of one quantity has the law of the same entry of another
    INDEPENDENT = "are independent"


@record
class LawClaim:
    """A statement about laws.

    `quantities` are one for a law that is named, two that have one law, or those that are
    independent. `law` has the fixed `arguments`, in plain Python as `Law.cdf` takes them. `over`
    are the axes of a single quantity along which its entries are independent.
    """

    relation: Relation
    quantities: tuple[Value, ...]
    law: Law | None = None
    arguments: tuple[Plain | None, ...] = ()
    over: tuple[int, ...] = ()

    @property
    def entries(self) -> int:
        """Numbers in one draw of the largest of its quantities."""
        return max((math.prod(value.shape) for value in self.quantities), default=1)


def pairs(claim: LawClaim) -> tuple[tuple[int, int], ...]:
    """The pairs of entries that are claimed to be independent.

    Entries are numbered through all quantities, each in row-major order.
    """
    groups: list[int] = []
    for place, value in enumerate(claim.quantities):
        groups += [place] * math.prod(value.shape)
    if claim.over:
        (value,) = claim.quantities
        indices = [tuple(index[axis] for axis in claim.over) for index in np.ndindex(*value.shape)]
        names = {index: place for place, index in enumerate(dict.fromkeys(indices))}
        groups = [names[index] for index in indices]
    return tuple(
        (first, second)
        for first in range(len(groups))
        for second in range(first + 1, len(groups))
        if groups[first] != groups[second]
    )
